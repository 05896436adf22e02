"""docs/deploying.md, "A guard": its commands run, its examples decide, its figures are true."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sayso import cli, metrics
from sayso.guard.guard import GuardFile, written_guard
from support.endpoint import endpoint
from support.pages import blocks, commands, walk

PAGE = (Path(__file__).parents[2] / "docs" / "deploying.md").read_text(encoding="utf-8")
GUARD = PAGE.partition("## A guard: sayso guard\n")[2].partition("\n## ")[0]


@pytest.fixture
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sayso.score_files.leaderboard.MOST", 200)


def answers(place: Path) -> Path:
    """Write labeled answers whose log-probabilities tell the wrong ones."""
    rng = np.random.default_rng(4)
    rows = []
    for number in range(400):
        doubt = float(rng.random())
        wrong = bool(rng.random() < 0.6 * doubt**3)
        rows.append(
            {"question": f"What is the number of thing {number}?", "answer": f"It is {number}.",
             "token_logprobs": [-2 * doubt, -2 * doubt, -0.1], "human": not wrong,
             "gold": str(number)}
        )  # fmt: skip
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return place


@pytest.mark.usefixtures("few_resamples")
def test_the_commands_of_the_page_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answers(tmp_path / "answers.jsonl")
    run = ["run", "selective", "--answers", "answers.jsonl", "--nli", "rules", "--judge", "people",
           "--set", "resamples=100", "--out", "runs/selective"]  # fmt: skip
    assert cli.execute(run) == 0
    typed = commands(GUARD)
    assert len(typed) == 3
    walk(
        [[*words, "--nli", "rules"] if "answers.jsonl" in words else words for words in typed],
        capsys,
    )
    for name in ("guard.json", "chosen.json", "runs/selective/guard.json"):
        assert Path(name).is_file(), name


def test_the_numbers_of_labels_on_the_page_are_those_of_the_formula() -> None:
    text = " ".join(GUARD.split())
    five, one = (metrics.zero_error_answers(alpha, 0.05) for alpha in (0.05, 0.01))
    assert (
        f"an error rate of 5 % takes {five} answers without an error, and 1 % takes {one}" in text
    )


def saved(folder: Path) -> None:
    file = GuardFile(
        format=1, sayso="0", created="", score="perplexity", limit=1.5, promise="", max_error=0.05,
        confidence=0.95, labels=200, labeled_by="people", unit="answer", answered=100, wrong=1,
        needs=("logprobs",),
    )  # fmt: skip
    (folder / "guard.json").write_bytes(written_guard(file))


@pytest.mark.parametrize(
    ("logprob", "said"), [(-0.05, "Jane Austen wrote it"), (-1.2, "I do not know.")]
)
def test_the_openai_example_decides(logprob: float, said: str, tmp_path: Path) -> None:
    """The code of the page, as it stands there, against a server on loopback."""
    code, _ = blocks(GUARD, "python")
    assert sum(bool(line.strip()) for line in code.splitlines()) <= 12
    saved(tmp_path)
    with endpoint(lambda body: "Jane Austen wrote it", lambda body: logprob) as address:
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False,
            env={**os.environ, "OPENAI_BASE_URL": address, "OPENAI_API_KEY": "none"},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == said


#: langchain-core's own stand-in for a chat model, in the place of ChatOpenAI
MODEL = """
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
tokens = [{{"token": "Jane", "logprob": {logprob}}}, {{"token": " Austen", "logprob": {logprob}}}]
said = AIMessage("Jane Austen", response_metadata={{"logprobs": {{"content": tokens}}}})
def ChatOpenAI(model, temperature): return GenericFakeChatModel(messages=iter([said]))
"""


@pytest.mark.parametrize(("logprob", "said"), [(-0.05, "Jane Austen"), (-1.2, "I do not know.")])
def test_the_langchain_example_decides(logprob: float, said: str, tmp_path: Path) -> None:
    pytest.importorskip("langchain_core")
    _, code = blocks(GUARD, "python")
    code = code.replace("from langchain_openai import ChatOpenAI\n", MODEL.format(logprob=logprob))
    assert "langchain_openai" not in code
    saved(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == said

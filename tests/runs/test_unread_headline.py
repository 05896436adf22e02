"""Answers without a verdict never become a statement about the model: what its first lines say."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso import cli
from sayso.protocols.self_known import report as self_known
from sayso.protocols.self_known.report import SelfKnownResults
from sayso.records import Estimate, Generation, Results, Verdict, slice_of
from sayso.report.opening import open_page
from sayso.storage.run_folder import RunFolder
from support.endpoint import endpoint

SAYS_NOTHING = "this run says nothing about the model"
#: what a run says of a model that bluffs, or knows nothing
OF_A_MODEL = re.compile(r"never declined|never admitted|knew none|too hard for this model|is wrong")
QUESTIONS = [
    *(
        {"question": f"Which color has the flag of {town}?", "gold": color}
        for town, color in (("Arlo", "red"), ("Benna", "blue"), ("Corim", "green"), ("Dura", "red"))
    ),
    *(
        {"question": f"What did the first mayor of {town} dream?", "answerable": False}
        for town in ("Arlo", "Benna", "Corim", "Dura")
    ),
]


def run_of(protocol: str, folder: Path, model: str) -> tuple[int, Path]:
    data = ["--data", "builtin", "--limit", "2"]
    if protocol == "selective":
        table = folder / "q.jsonl"
        table.write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS), encoding="utf-8")
        data = ["--data", f"file:{table}", "--set", "words=false", "--set", "draws.k=2"]
    elif protocol == "faithfulness":
        data += ["--methods", "vanilla", "--set", "draws.k=2"]
    out = folder / "run"
    return cli.execute(["run", protocol, "--model", model, *data, "--out", str(out)]), out


def read(page: Path) -> str:
    text = re.sub(r"<(style|script|svg).*?</\1>", " ", page.read_text("utf-8"), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


THOUGHT = "<think>Which color was it again? Red?</think>"


@pytest.mark.parametrize(
    ("protocol", "reply"),
    [("uncle", ""), ("selective", ""), ("faithfulness", ""), ("self_known", ""),
     ("selective", THOUGHT)],
)  # fmt: skip
def test_a_model_that_answers_nothing_is_said_nothing_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], protocol: str, reply: str
) -> None:
    with endpoint(lambda body: reply) as address:
        code, out = run_of(protocol, tmp_path, f"{address}#m")
    said = capsys.readouterr()
    terminal, page = " ".join(said.out.split()), read(out / "report.html")
    assert code == 1
    assert SAYS_NOTHING in " ".join(said.err.split())
    for text in (terminal, page):
        assert SAYS_NOTHING in text
        assert "empty" in text
        assert not OF_A_MODEL.search(text)
        assert "it states a value" not in text
    assert cli.execute(["report", str(out)]) == 0


def test_few_empty_answers_give_both_bounds_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def say(body: dict[str, Any]) -> str:
        return "" if "mayor of Arlo" in str(body["messages"]) else "Red."

    with endpoint(say) as address:
        code, out = run_of("selective", tmp_path, f"{address}#m")
    assert code == 0
    text = " ".join(capsys.readouterr().out.split())
    bounds = text.index("1 of 4 questions that cannot be answered and 0 of 4 questions that can")
    assert "have no verdict; whatever it would be, " in text[bounds:]
    assert bounds < text.index("0 % to 25 %") < text.index("t never declined:")
    folder = RunFolder.open(out)
    (empty,) = (g for g in folder.read("generations/short", Generation) if not g.text)
    assert empty.problem == "empty"
    verdicts = {v.target: v for v in folder.read("verdicts/short", Verdict)}
    assert verdicts[empty.id].problem == "empty"
    assert "mayor of Arlo" not in read(out / "report.html").partition("median length")[0]


def test_signs_without_a_letter_are_no_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def say(body: dict[str, Any]) -> str:
        return "Red." if "flag of Arlo" in str(body["messages"]) else " … "

    with endpoint(say) as address:
        code, _ = run_of("selective", tmp_path, f"{address}#m")
    assert code == 1
    assert SAYS_NOTHING in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("missing", "says"),
    [(0, "It knows."), (10, "It knows."), (11, "11 of 100 facts have no verdict; whatever"),
     (50, "50 of 100 facts have no verdict; whatever"), (51, SAYS_NOTHING)],
)  # fmt: skip
def test_one_decision_says_how_a_page_begins(missing: int, says: str) -> None:
    share = Estimate("UUR", value=0.5, n=100 - missing, missing=missing)
    opened = open_page(None, "It knows.", "", counted=[("it hedged {}", "facts", share)])
    assert says in opened.sentence
    assert opened.void == (missing > 50)
    assert ("It knows." in opened.sentence) == (not opened.void)
    if 10 < missing <= 50:
        low, high = 0.5 * (100 - missing), 0.5 * (100 - missing) + missing
        assert f"it hedged {low:.0f} % to {high:.0f} %" in opened.sentence


def test_answers_in_files_are_read_the_same_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "answers.jsonl"
    rows = [{**row, "answer": "", "model": "mute"} for row in QUESTIONS]
    rows[0]["answer"] = "Red."
    table.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    argv = ["run", "selective", "--answers", str(table), "--out", str(tmp_path / "run")]
    assert cli.execute(argv) == 1
    assert not OF_A_MODEL.search(" ".join(capsys.readouterr().out.split()))


def test_answers_told_to_voice_doubt_that_are_empty_are_counted(tmp_path: Path) -> None:
    table = tmp_path / "q.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS[:4]), encoding="utf-8")

    def say(body: dict[str, Any]) -> str:
        told = "uncertain" in str(body["messages"])
        return "" if told and "Arlo" not in str(body["messages"]) else "Red."

    with endpoint(say) as address:
        argv = ["run", "selective", "--model", f"{address}#m", "--data", f"file:{table}"]
        assert cli.execute([*argv, "--set", "draws.k=2", "--out", str(tmp_path / "run")]) == 0
    results = Results(sayso.measure(tmp_path / "run").estimates)
    coverage = results.get("coverage_of_words", form="short", against="rules", score="words")
    assert (coverage.n, coverage.missing) == (1, 3)


def test_a_second_method_rests_on_its_own_texts() -> None:
    estimates = [
        Estimate(name, slice_of(method=method), 0.5, n=10 - lost, missing=lost)
        for method, lost in (("plain", 0), ("doubt", 8))
        for name in ("factscore", "response_rate")
    ]
    results = SelfKnownResults(estimates)
    assert "50 % are supported" in self_known.plain_sentence(results)
    (said,) = self_known.cautions(results)
    assert said.startswith("doubt: 8 of 10 texts have no verdict")

"""A language model as the grader of a file, with and without the question."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sayso.judges.model.judge import LlmJudge
from sayso.records import Generation, Request
from sayso.runs import judge, tools
from sayso.runs.judge import OpenJudge
from sayso.score_files import grade
from sayso.score_files.score import FileScores, score_file
from support.judge_world import judge_engine, truthful
from support.scripted import ScriptedEngine

PLACES = ("Arles", "Rome")


ROWS = [
    {
        "question": f"Where was the poet number {n} born?",
        "context": f"A life of poet {n}.",
        "answer": "I don't know." if n == 9 else f"He was born in {PLACES[n % 3 > 0]}.",
        "gold": "Arles",
    }
    for n in range(10)
]


def scored(folder: Path, metric: str) -> tuple[list[float | None], FileScores]:
    file = folder / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    found = score_file(
        file, folder / "out.jsonl", ["length_words"], gold_metric=metric, cache=folder / "c"
    )
    back = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    return [row.get(f"correct_{metric}") for row in back], found


def test_a_judge_grades_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = judge_engine(truthful)
    opened: list[str] = []

    def seat(name: str, *_: Any, **__: Any) -> OpenJudge:
        opened.append(name)
        return OpenJudge(LlmJudge(engine))

    monkeypatch.setattr(grade, "open_judge", seat)
    said, found = scored(tmp_path, "llm:hf:m")
    assert opened == ["hf:m"]
    # by the judge of the test: right where "Arles" is said; who does not know has no verdict
    assert said == [*(float(n % 3 == 0) for n in range(9)), None]
    prompts = [m.content for r in engine.requests for m in r.messages]
    assert prompts
    assert all("poet number" in text for text in prompts)
    assert found.board is not None
    assert found.board.against == "llm:hf:m"


@pytest.mark.parametrize("metric", ["llm:http://b/v1#m", "llm_blind:http://b/v1#m"])
def test_what_another_address_said_is_told(
    metric: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    engine = ScriptedEngine(lambda request: "1")
    engine.identity = "api:m"

    def opened(*_: Any, **__: Any) -> tuple[ScriptedEngine, None]:
        return engine, None

    monkeypatch.setattr(tools, "open_priced", opened)
    monkeypatch.setattr(judge, "open_priced", opened)
    for address in ("http://a/v1", "http://b/v1"):
        assert "were given by" not in caplog.text
        monkeypatch.setattr(engine, "address", address, raising=False)
        scored(tmp_path, metric)
    assert "were given by http://a/v1; this run asks http://b/v1" in caplog.text


def test_a_blind_grader_says_one_or_zero_and_sees_no_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reply(request: Request) -> Generation:
        text = request.messages[-1].content
        (code,) = re.findall(r"nothing else: (\S+) and", text)
        right = "Arles" in "".join(re.findall(r"answer\| (.*)", text))
        return Generation(request, text=f"{code} {int(right)}")

    engine = ScriptedEngine(reply)
    monkeypatch.setattr(tools, "open_priced", lambda *_, **__: (engine, None))
    said, found = scored(tmp_path, "llm_blind:hf:m")
    # who names no value is not right: nobody who sees no question can tell why he names none
    assert said == [float(n in (0, 3, 6)) for n in range(10)]
    prompts = [m.content for r in engine.requests for m in r.messages]
    assert len(prompts) == 3  # equal pairs of gold and answer are asked about once
    assert not any("poet" in text for text in prompts)
    assert found.board is not None
    assert found.board.against == "llm_blind:hf:m"

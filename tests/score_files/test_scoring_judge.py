"""A language model as the grader of a file, with and without the question."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sayso.judges.model.judge import LlmJudge
from sayso.runs.judge import OpenJudge
from sayso.score_files import grade
from sayso.score_files.score import score_file
from support.judge_world import judge_engine, truthful

PLACES = ("Arles", "Rome")


@pytest.mark.parametrize(("metric", "shown"), [("llm:hf:m", True), ("llm_blind:hf:m", False)])
def test_a_judge_sees_the_question_only_where_it_should(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, metric: str, shown: bool
) -> None:
    engine = judge_engine(truthful)
    opened: list[str] = []

    def seat(name: str, *_: Any, **__: Any) -> OpenJudge:
        opened.append(name)
        return OpenJudge(LlmJudge(engine))

    monkeypatch.setattr(grade, "open_judge", seat)
    rows = [
        {
            "question": f"Where was the poet number {n} born?",
            "context": f"A life of poet {n}.",
            "answer": "I don't know." if n == 9 else f"He was born in {PLACES[n % 3 > 0]}.",
            "gold": "Arles",
        }
        for n in range(10)
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = score_file(
        file, tmp_path / "out.jsonl", ["length_words"], gold_metric=metric, cache=tmp_path / "c"
    )
    assert opened == ["hf:m"]
    back = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    said = [row.get(f"correct_{metric}") for row in back]
    # by the judge of the test: right where "Arles" is said; who does not know has no verdict
    assert said == [*(float(n % 3 == 0) for n in range(9)), None]
    prompts = [m.content for r in engine.requests for m in r.messages]
    assert prompts
    assert all(("poet number" in text) == shown for text in prompts)
    assert found.board is not None
    assert found.board.against == metric

"""``sayso score --examples``, ``--golds``, and ``sayso.leaderboard``."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso.datasets.answer_files import open_answer_file
from sayso.records import Generation, InputError, Request
from sayso.score_files.score import score_file
from sayso.score_files.write import PROBLEMS
from sayso.scores.collect import ONE_OF_THEM
from support.scripted import ScriptedEngine
from support.tables import tabled


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAYSO_CACHE", str(tmp_path / "cache"))


class Knowing(ScriptedEngine):
    """Behind examples it knows that Cusco is wrong."""

    def __init__(self) -> None:
        super().__init__({}, logprob=-1.0)

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        for index, found in super().force(items, want):
            asked, option = found.request.messages[-1].content, found.text.strip()
            if "Proposed answer:" not in asked:
                yield index, found
                continue
            wrong = "Proposed answer: Cusco" in asked.rsplit("Question:", 1)[1]
            p = 0.9 if (option == "B") == wrong else 0.1
            yield (
                index,
                Generation(
                    found.request,
                    text=found.text,
                    logprobs=(math.log(p),),
                    token_ids=(ord(option),),
                ),
            )


def rows(count: int, **more: Any) -> list[dict[str, Any]]:
    return [
        {"question": f"What is {n}?", "answer": "Cusco" if n % 3 == 0 else "Lima", "gold": "Lima"}
        | more
        for n in range(count)
    ]


def written(path: Path, some: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in some), encoding="utf-8")
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_examples_are_shown_and_not_scored(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", rows(60))
    found = score_file(file, methods=["p_true_few", "length_words"], model=Knowing(), examples=8)
    back = read(found.path)
    shown = [row for row in back if row["p_true_few"] is None]
    assert len(shown) == 8
    assert all(row[PROBLEMS]["p_true_few"] == ONE_OF_THEM for row in shown)
    # right and wrong ones: a quarter of each kind at least
    assert 2 <= sum(row["answer"] == "Cusco" for row in shown) <= 6
    for row in back:
        if row["p_true_few"] is not None:
            assert row["p_true_few"] == pytest.approx(0.9 if row["answer"] == "Cusco" else 0.1)
    assert found.board is not None
    entry = next(e for e in found.board.entries if e.method == "p_true_few")
    assert entry.auroc.value == 1.0
    assert entry.n == 52
    assert entry.missing == 8
    assert "p_true:8-examples" in found.signature
    assert any("8 stand before each of 52 answers" in notice for notice in found.notices)
    again = score_file(
        file, tmp_path / "b.jsonl", ["p_true_few"], model=Knowing(), examples=8, seed=1
    )
    other = {r["question"] for r in read(again.path) if r["p_true_few"] is None}
    assert other != {r["question"] for r in shown}


def test_answers_to_a_question_that_is_shown_are_not_scored(tmp_path: Path) -> None:
    twice = [*rows(20), *rows(20)]
    found = score_file(
        written(tmp_path / "a.jsonl", twice), methods=["p_true_few"], model=Knowing(), examples=4
    )
    none = [row["question"] for row in read(found.path) if row["p_true_few"] is None]
    assert len(none) == 2 * len(set(none)) == 8


def test_people_decide_and_too_few_labels_are_a_reason(tmp_path: Path) -> None:
    few = written(tmp_path / "few.jsonl", rows(9))
    found = score_file(few, methods=["p_true_few"], model=Knowing(), examples=20)
    assert "needs 10 such rows, got 9" in found.missing["p_true_few"]
    # a person says that all are right, whatever the gold says
    people = written(tmp_path / "people.jsonl", rows(30, human=True))
    found = score_file(people, methods=["p_true_few"], model=Knowing(), examples=4)
    assert "are right" in found.missing["p_true_few"]
    off = score_file(few, tmp_path / "off.jsonl", model=Knowing())
    assert "--examples 20" in off.missing["p_true_few"]
    assert "--model" in score_file(few, tmp_path / "no.jsonl").missing["p_true_few"]
    with pytest.raises(InputError, match="--model"):
        score_file(few, tmp_path / "x.jsonl", examples=4)


def batch(n: int, text: str) -> dict[str, Any]:
    body = {"choices": [{"message": {"role": "assistant", "content": text}}]}
    return {"custom_id": f"r{n}", "response": {"status_code": 200, "body": body}, "error": None}


def test_a_batch_with_golds_has_a_leaderboard(tmp_path: Path) -> None:
    said = [batch(n, "Cusco" if n % 3 == 0 else "It is Lima") for n in range(12)]
    file = written(tmp_path / "out.jsonl", said)
    golds = [{"custom_id": f"r{n}", "gold": "Lima", "question": f"What is {n}?"} for n in range(20)]
    place = written(tmp_path / "golds.jsonl", golds[1:])
    found = score_file(file, golds=place)
    assert found.board is not None
    assert (found.board.judged, found.board.wrong) == (11, 3)
    assert f"1 answers have no gold under their id in {place}" in found.notices
    assert f"8 golds of {place} match no answer" in found.notices
    assert found.problems == score_file(file, tmp_path / "bare.jsonl").problems
    table = tmp_path / "golds.csv"
    table.write_text('id,gold\nr1,"[""Lima"", ""Cusco""]"\n', encoding="utf-8")
    held = list(open_answer_file(file, golds=table).rows)
    assert held[1].gold == ("Lima", "Cusco")
    assert held[0].gold is None


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ([{"gold": "x"}], "expected custom_id or id"),
        ([{"id": "r1", "answer": "x"}], "and gold or human"),
        ([{"id": "r1", "gold": "x"}, {"id": "r1", "gold": "y"}], "two different golds"),
    ],
)
def test_golds_that_cannot_be_joined(tmp_path: Path, row: list[Any], told: str) -> None:
    file = written(tmp_path / "out.jsonl", [batch(1, "Lima")])
    with pytest.raises(InputError, match=told):
        list(open_answer_file(file, golds=written(tmp_path / "g.jsonl", row)).rows)


def test_the_leaderboard_from_python_is_that_of_the_file(tmp_path: Path) -> None:
    some = [{**row, "token_logprobs": [-0.1 - (n * 7 % 11) / 10]} for n, row in enumerate(rows(40))]
    found = score_file(written(tmp_path / "a.jsonl", some), methods=["perplexity", "length_words"])
    board = sayso.leaderboard(sayso.score(some, ["perplexity", "length_words"]))
    assert found.board is not None
    assert board == found.board
    own = [{**row, "mine": float(row["answer"] == "Cusco")} for row in some]
    mine = sayso.leaderboard(own, ["mine"], gold_metric="exact_match")
    assert {e.method for e in mine.entries} == {"mine", "length_words", "text_only"}
    assert mine.entries[0].auroc.value == 1.0
    assert mine.against == "exact_match"


@tabled
def test_rows_that_have_no_leaderboard(
    given: list[dict[str, object]], methods: list[str] | None, told: str
) -> None:
    with pytest.raises(InputError, match=told):
        sayso.leaderboard(given, methods)

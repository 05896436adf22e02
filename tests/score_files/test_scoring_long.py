"""What metrics do not read in full: kept, counted, and said in the file and in the terminal."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import sayso
from sayso import answers
from sayso.judges.model.judge import LlmJudge
from sayso.runs.judge import OpenJudge
from sayso.score_files import grade
from sayso.score_files.page import render_board
from sayso.score_files.score import FileScores, score_file
from support.judge_world import judge_engine, truthful

FILLING = "The town lies at a river, and people like to live there. "
#: the value stands behind the 20,000 characters that the rules read
LONG = FILLING * 400 + "He was born in Arles."
GERMAN = "Er wurde in einer kleinen Stadt im Süden des Landes geboren, und dort hat er gelebt."
BUDGET = "budget: longer than the 20,000 characters that it reads"
LANGUAGE = "language: not in English; --gold-metric llm:MODEL reads other languages"
SENTENCE = f"rules has no verdict on 3 answers (2 {BUDGET}; 1 {LANGUAGE})"


def rows() -> list[dict[str, Any]]:
    short = [f"He was born in {'Arles' if n % 3 else 'Rome'}." for n in range(12)]
    return [
        {"question": f"Where was poet {n} born?", "answer": text, "gold": "Arles"}
        for n, text in enumerate([*short, LONG, LONG.upper(), GERMAN])
    ]


def scored(folder: Path, made: list[dict[str, Any]], **settings: Any) -> FileScores:
    file = folder / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in made), encoding="utf-8")
    return score_file(file, methods=["length_words"], cache=folder / "cache", **settings)


def shown(found: FileScores) -> str:
    assert found.board is not None
    out = io.StringIO()
    render_board(found.board, Console(file=out, width=80))
    return out.getvalue()


def test_an_answer_that_is_too_long_for_the_rules_has_a_problem(tmp_path: Path) -> None:
    found = scored(tmp_path, rows())
    back = [json.loads(line) for line in found.path.read_text(encoding="utf-8").splitlines()]
    assert [row["correct_rules"] for row in back[:3]] == [0.0, 1.0, 1.0]
    assert [row["correct_rules"] for row in back[12:]] == [None] * 3
    assert [row["score_problems"]["correct_rules"].partition(":")[0] for row in back[12:]] == [
        "budget",
        "budget",
        "language",
    ]
    assert back[12]["score_problems"]["correct_rules"] == BUDGET
    assert all(row["score_problems"] == {} for row in back[:12])
    assert found.board is not None
    assert found.board.unread == (SENTENCE,)
    assert (found.board.judged, found.board.left_out) == (12, 3)
    assert " ".join(shown(found).split()).count(SENTENCE) == 1


def test_a_table_says_so_too(tmp_path: Path) -> None:
    with (tmp_path / "rows.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["question", "answer", "gold"])
        writer.writeheader()
        writer.writerows(rows())
    found = score_file(tmp_path / "rows.csv", methods=["length_words"], cache=tmp_path / "cache")
    csv.field_size_limit(1_000_000)
    with found.path.open(encoding="utf-8", newline="") as file:
        back = list(csv.DictReader(file))
    assert back[12]["correct_rules"] == ""
    assert json.loads(back[12]["score_problems"])["correct_rules"] == BUDGET


def test_metrics_that_compare_words_read_the_whole_answer(tmp_path: Path) -> None:
    found = scored(tmp_path, rows()[12:13], gold_metric="contains")
    (line,) = found.path.read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["correct_contains"] == 1.0
    assert found.board is not None
    assert found.board.unread == (f"rules has no verdict on 1 answer (1 {BUDGET})",)


def test_in_python_it_is_said_too() -> None:
    made = [{**row, "length_words": float(n)} for n, row in enumerate(rows())]
    board = sayso.leaderboard(made, ["length_words"])
    assert board.unread == (SENTENCE,)


def test_a_model_is_not_shown_a_part_of_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = judge_engine(truthful)
    monkeypatch.setattr(grade, "open_judge", lambda *_, **__: OpenJudge(LlmJudge(engine)))
    made = [*rows()[:6], {**rows()[0], "answer": FILLING * 1000 + "He was born in Arles."}]
    found = scored(tmp_path, made, gold_metric="llm:hf:m")
    back = [json.loads(line) for line in found.path.read_text(encoding="utf-8").splitlines()]
    why = "budget: longer than the 50,000 characters that it reads"
    assert back[-1]["score_problems"]["correct_llm:hf:m"] == why
    assert found.board is not None
    assert f"llm:hf:m has no verdict on 1 answer (1 {why})" in found.board.unread
    assert found.board.judged == 6


class Letters:
    """A vector for each letter, of nine letters at most."""

    name, layer, cut = "roberta-large", 17, 0

    def __call__(self, texts: list[str]) -> list[tuple[tuple[int, ...], Any]]:
        self.cut += sum(len(text) > 9 for text in texts)
        ids = [tuple(ord(c) % 64 for c in text[:9]) for text in texts]
        return [(one, np.eye(64, dtype=np.float32)[list(one)]) for one in ids]


def test_texts_that_bert_score_cuts_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = Letters()
    monkeypatch.setattr(answers, "open_vectors", lambda model, layer: vectors)
    found = scored(tmp_path, rows()[:6], gold_metric="bert_score")
    assert found.board is not None
    (sentence,) = found.board.unread
    # the two wordings of six answers
    assert sentence == (
        "bert_score compared 2 texts by their beginning only, because they are longer than "
        "roberta-large can read"
    )


def test_at_most_ten_people_are_compared_one_by_one(tmp_path: Path) -> None:
    made = [{**row, "human": [n % 2] * 12} for n, row in enumerate(rows()[:8])]
    found = scored(tmp_path, made)
    assert found.board is not None
    assert found.board.raters is not None
    assert len(found.board.raters.panel) == 10

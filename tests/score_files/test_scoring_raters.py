"""People and answer metrics as graders of one file: ``sayso score`` with votes."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from sayso.datasets.answer_rows import answer_row
from sayso.score_files.page import grader_agreement_table, render_board
from sayso.score_files.score import FileScores, score_file

#: answer, votes of three people; the gold is "Paris". Long right answers fail ROUGE-L
ROWS = [
    ("Paris", [1, 1, 1]),
    ("Rome", [0, 0, 0]),
    ("It is the city of Paris, in France", [1, 1, 0]),
    ("London", [0, 0, None]),
    ("Lyon, as everybody knows", [1, 0, 0]),
]


def scored(path: Path, rows: list[tuple[str, object]]) -> FileScores:
    made = [
        {"question": "What is the capital of France?", "answer": a, "gold": "Paris", "human": h}
        for a, h in rows
    ]
    file = path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in made), encoding="utf-8")
    return score_file(file, path / "out.jsonl", ["length_words"], cache=path / "cache")


def shown(found: FileScores) -> str:
    assert found.board is not None
    out = io.StringIO()
    render_board(found.board, Console(file=out, width=80), verbose=True)
    return out.getvalue()


def agreement(found: FileScores) -> str:
    """Return the table of graders."""
    return shown(found).partition("with the same verdict\n")[2].partition("\n! ")[0]


def test_votes_by_hand(tmp_path: Path) -> None:
    found = scored(tmp_path, [*ROWS])
    assert found.board is not None
    raters = found.board.raters
    assert raters is not None
    assert raters.panel == ("person 1", "person 2", "person 3")
    same = {(p.first, p.second): p.same for p in raters.pairs}
    # persons 1 and 2 differ on the last row only; 1 and 3 on rows 3 and 5 of the four both judged
    assert same["person 1", "person 2"].value == pytest.approx(4 / 5)
    assert (same["person 1", "person 3"].value, same["person 1", "person 3"].n) == (0.5, 4)
    # ROUGE-L of eight words with "Paris" is 2/9: it accepts row 1 alone
    assert same["person 1", "rouge_l"].value == pytest.approx(3 / 5)
    # without person 1: 1, 0, tie, 0, 0 of which the first says 1, 0, 0 on rows 1, 2, 4 and 1 on 5
    assert (raters.others["person 1"].value, raters.others["person 1"].n) == (3 / 4, 4)
    often = scored(tmp_path, [*ROWS] * 5)  # too few are not compared in a table
    table = agreement(often)
    assert max(map(len, table.splitlines())) <= 80
    assert "person 1" in table
    assert often.board is not None
    (meaning,) = dict(grader_agreement_table(often.board).meanings).values()
    assert "people form the majority" in meaning


def test_one_person_is_a_grader_among_others(tmp_path: Path) -> None:
    found = scored(tmp_path, [(a, votes[0]) for a, votes in ROWS])
    assert found.board is not None
    raters = found.board.raters
    assert raters is not None
    assert raters.panel[:2] == ("people", "rules")
    often = scored(tmp_path, [(a, votes[0]) for a, votes in ROWS] * 5)
    assert often.board is not None
    (meaning,) = dict(grader_agreement_table(often.board).meanings).values()
    assert "is not ground truth" in meaning


def test_ties_have_no_verdict_and_keep_their_votes(tmp_path: Path) -> None:
    found = scored(tmp_path, [("Paris", [1, 0]), ("Rome", [0, 0]), ("Paris", [1, 1])])
    assert found.board is not None
    assert found.board.judged == 2
    raters = found.board.raters
    assert raters is not None
    assert (raters.pairs[0].first, raters.pairs[0].same.value) == ("person 1", 2 / 3)


def test_more_graders_than_columns_fit(tmp_path: Path) -> None:
    found = scored(tmp_path, [(a, [votes[0]] * 9) for a, votes in ROWS] * 5)
    table = agreement(found)
    assert max(map(len, table.splitlines())) <= 80
    assert "person 9" in table


@pytest.mark.parametrize(
    ("given", "votes"),
    [(True, ()), (None, ()), ([], ()), ([1, 0], (1.0, 0.0)), (["yes", "wrong"], (1.0, 0.0))],
)
def test_votes_are_those_of_lists(given: object, votes: tuple[float, ...]) -> None:
    assert answer_row({"answer": "a", "human": given}).votes == votes

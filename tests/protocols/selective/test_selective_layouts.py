"""Layouts of the paper on length, on answers that people judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sayso import cli
from sayso.records import Estimate
from sayso.report.number_tables import NumberTable
from sayso.studies.report import layout_tables
from sayso.studies.results import Study, of_folders


@pytest.fixture(scope="module")
def judged(test_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Return runs of two systems on sixty TriviaQA questions, whose answers people judged."""
    tmp_path = tmp_path_factory.mktemp("judged")
    rows = [
        json.loads(text) for text in (test_data / "evouna/TQ.jsonl").read_text().splitlines()[:60]
    ]
    for system in ("chatgpt", "newbing"):
        answers = [
            {
                "model": system, "question": row["question"], "answer": row[f"answer_{system}"],
                "gold": row["golden_answer"].split("/"), "human": row[f"judge_{system}"],
            }
            for row in rows if isinstance(row[f"judge_{system}"], bool)
        ]  # fmt: skip
        file = tmp_path / f"{system}.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in answers), encoding="utf-8")
        argv = ["run", "selective", "--answers", str(file), "--judge", "people",
                "--set", "resamples=100", "--out", str(tmp_path / "runs" / system)]  # fmt: skip
        assert cli.execute([*argv, "--set", f"cache={tmp_path / 'cache'}"]) == 0
    return of_folders([tmp_path / "runs"], resamples=100)


def test_points_are_colored_by_peoples_verdicts(judged: Study, test_data: Path) -> None:
    rows = [
        json.loads(text) for text in (test_data / "evouna/TQ.jsonl").read_text().splitlines()[:60]
    ]
    for table, system in zip(
        layout_tables(judged, "selective-figure2"), ("chatgpt", "newbing"), strict=True
    ):
        assert "People said" in table.caption
        right = sum(row[f"judge_{system}"] is True for row in rows)
        wrong = sum(row[f"judge_{system}"] is False for row in rows)
        assert [entries[0] for _, entries in table.rows] == [str(right), str(wrong)]
        assert table.chart is not None
        assert table.chart(640) is not None
    tables = layout_tables(judged, "selective-table1")
    assert [table.columns[0] for table in tables] == ["people", "people"]
    for table in tables:  # a matrix: it reads the same by rows and by columns
        for one, (_, entries) in enumerate(table.rows):
            assert [table.rows[two][1][one] for two in range(len(table.rows))] == list(entries)


def test_long_right_answers_are_rejected_by_words(judged: Study) -> None:
    *points, rejected = layout_tables(judged, "selective-figure3")
    assert len(points) == 2
    assert rejected.caption.startswith("(b)")
    assert "One verdict stands for all people" in rejected.caption
    first, *_, last = (e for e in rejected.rows[0][1] if isinstance(e, Estimate))
    assert (first.value or 0) < (last.value or 0)  # ROUGE-L rejects long right answers
    drawing = rejected.chart and rejected.chart(640)
    assert drawing is not None
    assert "words of the answer" in json.dumps(drawing.to_dict())


VOTED = (
    # the answer, and what three people say of it; "-" gave no verdict
    ("Turku", "111"), ("Vaasa", "111"), ("It is Oulu, as everybody knows.", "110"),
    ("The town that you look for is called Kotka.", "111"), ("Lahti", "000"),
    ("That would be Porvoo, I am told, by the river.", "11-"), ("Rauma", "101"), ("Pori", "11-"),
)  # fmt: skip


def voted(folder: Path, *, alone: bool = False) -> NumberTable:
    """Return part (b) of Figure 3 of answers that people voted on; ``alone``: one by one person."""
    votes = [[{"1": True, "0": False}.get(vote) for vote in said] for _, said in VOTED]
    if alone:
        votes[0] = [True]
    towns = ("Turku", "Vaasa", "Oulu", "Kotka", "Tampere", "Porvoo", "Rauma", "Pori")
    rows = [
        {"question": f"Which town is number {n}?", "answer": answer, "gold": town, "human": said}
        for n, ((answer, _), town, said) in enumerate(zip(VOTED, towns, votes, strict=True))
    ]
    file = folder / "voted.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    argv = ["run", "selective", "--answers", str(file), "--judge", "people",
            "--set", "resamples=100", "--out", str(folder / "runs" / "voted"),
            "--set", f"cache={folder / 'cache'}"]  # fmt: skip
    assert cli.execute(argv) == 0
    return layout_tables(of_folders([folder / "runs"], resamples=100), "selective-figure3")[-1]


def test_right_is_what_all_people_call_right(tmp_path: Path) -> None:
    """Seven answers are right to most people and five to all: ROUGE-L rejects two of these."""
    table = voted(tmp_path)
    assert "all people who judged it call right" in table.caption
    shares = [e for e in table.rows[0][1] if isinstance(e, Estimate)]
    assert sum(e.n or 0 for e in shares) == 5
    assert sum(e.numerator or 0 for e in shares) == 2


def test_one_verdict_stands_for_all_if_one_answer_has_a_single_one(tmp_path: Path) -> None:
    table = voted(tmp_path, alone=True)
    assert "One verdict stands for all people" in table.caption
    shares = [e for e in table.rows[0][1] if isinstance(e, Estimate)]
    assert sum(e.n or 0 for e in shares) == 7
    assert sum(e.numerator or 0 for e in shares) == 3

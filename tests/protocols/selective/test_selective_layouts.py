"""Layouts of the paper on length, on answers that people judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sayso import cli
from sayso.records import Estimate
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
                "--resamples", "100", "--out", str(tmp_path / "runs" / system)]  # fmt: skip
        assert cli.execute([*argv, "--cache", str(tmp_path / "cache")]) == 0
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
    first, *_, last = (e for e in rejected.rows[0][1] if isinstance(e, Estimate))
    assert (first.value or 0) < (last.value or 0)  # ROUGE-L rejects long right answers
    drawing = rejected.chart and rejected.chart(640)
    assert drawing is not None
    assert "words of the answer" in json.dumps(drawing.to_dict())

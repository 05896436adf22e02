"""Several answers to one question in a file: questions are resampled, not answers."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from sayso.records import Estimate
from sayso.score_files.leaderboard import LENGTH, Board
from sayso.score_files.page import render_board
from sayso.score_files.score import score_file

TIMES = 9


@pytest.fixture(autouse=True)
def few_resamples() -> None:
    """Keep every resample: intervals are looked at."""


def board(folder: Path, rows: list[dict[str, Any]]) -> Board:
    file = folder / f"{len(rows)}.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    methods = ["sequence_probability", LENGTH]
    found = score_file(file, folder / "out.jsonl", methods, cache=folder / "cache")
    assert found.board is not None
    return found.board


def rows(questions: int, times: int) -> list[dict[str, Any]]:
    """Each question with the same answer ``times`` over: no more is known than from one."""
    rng = np.random.default_rng(3)
    found = []
    for n in range(questions):
        wrong = rng.random() < 0.4
        row = {
            "question": f"Where was person {n} born?",
            "answer": ("it was " * int(rng.integers(3))) + ("Rome" if wrong else "Arles"),
            "gold": "Arles",
            "token_logprobs": [-float(rng.gamma(2 + wrong))],
        }
        found += [row] * times
    return found


def width(found: Estimate) -> float:
    assert found.low is not None
    assert found.high is not None
    return found.high - found.low


def test_repeated_answers_make_no_interval_narrower(tmp_path: Path) -> None:
    once, often = board(tmp_path, rows(80, 1)), board(tmp_path, rows(80, TIMES))
    assert (once.questions, often.questions) == (None, 80)
    for one, many in zip(once.entries, often.entries, strict=True):
        assert one.auroc.value == pytest.approx(many.auroc.value)
        # with answers as units it would be a third, 1/sqrt(9)
        for name in ("auroc", "prr", "accuracy"):
            ratio = width(getattr(many, name)) / width(getattr(one, name))
            assert 0.85 < ratio < 1.3, name  # a PRR of .96 rests on four entities
        if one.versus_length is not None and many.versus_length is not None:
            gap = width(many.versus_length.difference) / width(one.versus_length.difference)
            assert 0.85 < gap < 1.15
    for a, b in zip(once.judges, often.judges, strict=True):
        if a.false_negatives.overall.problem is None and b.false_negatives.overall.problem is None:
            assert width(b.false_negatives.overall) > 0.85 * width(a.false_negatives.overall)
    for audit in often.audits["sequence_probability"].values():
        assert width(audit.against_metric) > 0.85 * width(often.entries[0].auroc)
    assert once.raters is not None
    assert often.raters is not None
    for p, q in zip(once.raters.pairs, often.raters.pairs, strict=True):
        if p.same.problem is None and q.same.problem is None:
            assert width(q.same) > 0.85 * width(p.same)
    out = io.StringIO()
    render_board(often, Console(file=out, width=100))
    assert "over 80 questions" in " ".join(out.getvalue().split())


def test_answers_to_one_question_are_the_units_themselves(tmp_path: Path) -> None:
    same = [{**row, "question": "Where was she born?"} for row in rows(80, 1)]
    found = board(tmp_path, same)
    assert found.questions is None
    assert "all judged answers are to one" in found.no_text_only
    best = found.entries[0]
    (other,) = (e for e in board(tmp_path, rows(80, 1)).entries if e.method == best.method)
    assert width(best.auroc) == pytest.approx(width(other.auroc))

"""``sayso score --report``: a page of its own, that no file's text can break."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sayso.records import InputError
from sayso.score_files.score import score_file


def rows(n: int, answer: str = "") -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    made = []
    for i in range(n):
        right, words = bool(i % 3), int(rng.integers(1, 40))
        text = " ".join(["Bern" if right else "Basel", *["indeed"] * words])
        made.append(
            {
                "question": f"Which town is number {i}?",
                "answer": answer or text,
                "gold": "Bern",
                "human": right,
                "token_logprobs": [-float(rng.random()) - 0.2 * (not right)] * (words + 1),
            }
        )
    return made


def page_of(folder: Path, some: list[dict[str, Any]], **options: Any) -> str:
    file = folder / "answers.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in some), encoding="utf-8")
    place = folder / "page.html"
    score_file(file, folder / "out.jsonl", report=place, cache=folder / "c", **options)
    return place.read_text(encoding="utf-8")


def test_a_page_has_the_board_and_stays_small(tmp_path: Path) -> None:
    text = page_of(tmp_path, rows(400), nli="rules")
    assert "400 of 400 answers judged by people: 266 right, 134 not right" in text
    for words in ("the words alone", "plain length (words)", "sequence_probability"):
        assert words in text
    assert len(text.encode()) < 300_000
    assert "Do people and answer metrics agree?" in text


def test_what_a_file_holds_stays_text(tmp_path: Path) -> None:
    hostile = rows(40)
    for row in hostile:
        row["<script>alert(1)</script>"] = 1
        row["answer"] += " <img src=x onerror=alert(1)>"
    (tmp_path / "<b>").mkdir()
    text = page_of(tmp_path / "<b>", hostile, gold_metric="rules")
    assert "<script>alert" not in text
    assert "<img" not in text


def test_a_page_of_few_answers_holds(tmp_path: Path) -> None:
    text = page_of(tmp_path, rows(4))
    assert "a ranking needs at least 5 of each kind" in text


def test_a_score_that_only_right_answers_have_breaks_no_page(tmp_path: Path) -> None:
    some = rows(40)
    for row in some:
        if not row["human"]:
            del row["token_logprobs"]
    text = page_of(tmp_path, some, methods=["perplexity"])
    assert "no uncertainty score could be computed" in text


def test_nothing_to_compare_and_a_strangers_page_are_refused(tmp_path: Path) -> None:
    bare = [{"question": "q", "answer": "a"}]
    with pytest.raises(InputError, match="nothing to compare"):
        page_of(tmp_path, bare)
    (tmp_path / "page.html").write_text("mine")
    with pytest.raises(InputError, match="was not written by sayso"):
        page_of(tmp_path, rows(30))
    assert "sayso" in page_of(tmp_path, rows(30), force=True)
    assert "sayso" in page_of(tmp_path, rows(30))  # its own page it replaces

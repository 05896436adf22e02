"""BERTScore as the grader of a file: the model reads a block of rows at a time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sayso import answers
from sayso.score_files.score import score_file


class Letters:
    """A vector for each letter: texts of the same letters have BERTScore 1."""

    name, layer = "roberta-large", 17

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, texts: Sequence[str]) -> list[tuple[tuple[int, ...], Any]]:
        self.calls += 1
        ids = [tuple(ord(c) % 64 for c in text) for text in texts]
        return [(one, np.eye(64, dtype=np.float32)[list(one)]) for one in ids]


def test_a_block_of_rows_is_one_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = Letters()
    monkeypatch.setattr(answers, "open_vectors", lambda model, layer: vectors)
    rows: list[dict[str, Any]] = [
        {"question": f"q{n}", "answer": "abc" if n % 3 else "xyz", "gold": ["abc", "abd"]}
        for n in range(60)
    ]
    rows += [{"question": "q", "answer": "", "gold": "abc"}, {"question": "r", "answer": "abc"}]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = score_file(
        file, tmp_path / "out.jsonl", ["length_words"], gold_metric="bert_score",
        cache=tmp_path / "cache",
    )  # fmt: skip
    assert vectors.calls == 1
    back = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    said = [row.get("correct_bert_score") for row in back]
    assert said[:60] == [float(n % 3 > 0) for n in range(60)]
    assert said[60:] == [None, None]  # an empty answer, and one without a gold
    assert found.board is not None
    assert found.board.judged == 60

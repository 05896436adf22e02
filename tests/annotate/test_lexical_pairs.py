"""Tables of lexical similarity between draws."""

from __future__ import annotations

import numpy as np
import pytest

from sayso import answers, scores
from sayso.answers.lexical import jaccard_table, rouge_l_table

TEXTS = ["It is Paris", "Paris", "paris!", "", "It is Paris", "東京", " "]


def test_rouge_table_equals_one_by_one() -> None:
    table = rouge_l_table(TEXTS)
    for i, a in enumerate(TEXTS):
        for j, b in enumerate(TEXTS):
            same = a.strip() == b.strip()
            expected = 1.0 if same else answers.rouge_l(a, b, tokenizer="unicode")
            assert table[i, j] == pytest.approx(expected), (a, b)


def test_jaccard_by_hand() -> None:
    # {it is paris} and {paris}: 1/3; equal word sets 1; no words: like itself only.
    table = jaccard_table(TEXTS)
    assert table[0, 1] == pytest.approx(1 / 3)
    assert table[1, 2] == 1
    assert table[3, 6] == 1
    assert table[0, 3] == 0
    assert (table == table.T).all()


@pytest.mark.parametrize("make", [rouge_l_table, jaccard_table])
def test_tables_are_evidence(make: object) -> None:
    table = make(["Rome", "Rome", "Paris", "It is Rome"])  # type: ignore[operator]
    samples = scores.Samples(
        draws=tuple(scores.Answer(t) for t in ("Rome", "Rome", "Paris", "It is Rome")),
        similarity=table,
    )
    found = scores.score_one(samples, ["lexical_similarity", "eigv_similarity"])
    assert all(score.value is not None for score in found.values())
    assert make([]).shape == (0, 0)  # type: ignore[operator]
    assert np.isfinite(table).all()

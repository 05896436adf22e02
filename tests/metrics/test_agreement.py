"""Alignment shares and Cohen's kappa."""

from __future__ import annotations

import numpy as np
import pytest

from sayso import metrics
from sayso.metrics import agreement
from sayso.records import InputError


def test_kappa_by_hand() -> None:
    # Cohen's textbook table: 20 yes-yes, 5, 10, 15. po = .7, pe = .5*.6 + .5*.4 = .5.
    table = [[20, 5], [10, 15]]
    assert metrics.alignment(table)["cohen_kappa"] == pytest.approx(0.4)
    first = np.repeat(["yes", "yes", "no", "no"], [20, 5, 10, 15])
    second = np.repeat(["yes", "no", "yes", "no"], [20, 5, 10, 15])
    assert metrics.kappa(first, second) == pytest.approx(0.4)
    assert agreement(first, second) == pytest.approx(0.7)


def test_alignment_by_hand() -> None:
    found = metrics.alignment([[6, 2], [1, 1]])
    assert found["retained"] == 10
    assert found["micro_short_retained"] == pytest.approx(0.8)
    assert found["micro_long_retained"] == pytest.approx(0.7)
    assert found["normalised"] == [[0.6, 0.2], [0.1, 0.1]]


def test_undefined() -> None:
    assert set(metrics.alignment([[0, 0], [0, 0]]).values()) == {None, 0.0}
    assert metrics.alignment([[5, 0], [0, 0]])["cohen_kappa"] is None
    assert metrics.kappa([], []) is None
    assert metrics.kappa(["a", "a"], ["a", "a"]) is None
    with pytest.raises(InputError, match="2x2"):
        metrics.alignment([[1, 2, 3]])


def test_more_than_two_labels_and_missing_ones() -> None:
    first, second = ["a", "b", "c", "a"], ["a", "b", "b", "a"]
    # po = 3/4, pe = (2*2 + 1*2 + 1*0)/16 = 6/16
    assert metrics.kappa(first, second) == pytest.approx((3 / 4 - 6 / 16) / (1 - 6 / 16))
    assert metrics.crosstab(first, second).tolist() == [[2, 0, 0], [0, 1, 0], [0, 1, 0]]

"""Knowledge beyond luck."""

from __future__ import annotations

import numpy as np
import pytest

from sayso import metrics


def test_guess_rates() -> None:
    rates = metrics.guess_rates([3, 0, 0], [10, 5, 0])
    assert rates[:2].tolist() == [0.3, 0.0]
    assert np.isnan(rates[2])
    found = metrics.type_guess_rates([3, 0, 0, 1], [10, 5, 0, 2], ["a", "a", "a", "b"])
    assert found == pytest.approx({"a": 0.15, "b": 0.5})
    alone = metrics.type_guess_rates([0], [0], ["c"])
    assert np.isnan(alone["c"])


def test_any_of_k() -> None:
    # a hit is enough; without one all five must be readable
    assert metrics.any_of_k([1, 0, 0, 2], [3, 5, 4, 5], 5).tolist() == [1, 0, -1, 1]


def test_chance_corrected_by_hand() -> None:
    # k = 5, guess rate .3: P(X>=1) = .832, P(X>=3) = .163, P(X>=4) = .0308
    hits = [0, 1, 3, 4, 5]
    assert metrics.chance_corrected(hits, [5] * 5, 5, [0.3] * 5).tolist() == [0, 0, 0, 1, 1]
    # guess rate .005: P(X>=1) = .0248
    assert metrics.chance_corrected([1], [5], 5, [0.005]).tolist() == [1]
    # a guess rate of 0 cannot make a hit; no hit is never known
    assert metrics.chance_corrected([1, 0], [5, 5], 5, [0.0, 0.0]).tolist() == [1, 0]
    # no guess rate, or not all readable: left out unless significant anyway
    nan = float("nan")
    found = metrics.chance_corrected([2, 0, 1, 3, 0], [5, 4, 4, 4, 5], 5, [nan, 0.1, 0.3, 0.1, nan])
    assert found.tolist() == [-1, -1, -1, 1, 0]


def test_tail_against_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    for hits in range(6):
        for p in (0.0, 0.01, 0.3, 0.99, 1.0):
            expected = stats.binom.sf(hits - 1, 5, p)
            assert metrics.binomial_tail(hits, 5, p) == pytest.approx(expected, abs=1e-14)


def test_strict() -> None:
    found = metrics.strict_known([5, 5, 0, 0, 3, 0], 5, [1, 0, 0, 1, 1, -1])
    assert found.tolist() == [1, -1, 0, -1, -1, -1]

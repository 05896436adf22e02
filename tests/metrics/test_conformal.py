"""Conformal filtering of claims: thresholds by hand, and its promise over simulated texts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sayso.metrics.calibration import Filtered, conformal_filter, threshold


@pytest.mark.parametrize(
    ("least", "alpha", "expected"),
    [
        # rank floor(.1 * 10) = 1: the smallest
        ([0.9, 0.2, 0.5, 0.7, 0.6, 0.8, 0.3, 0.4, 1.0], 0.1, 0.2),
        ([0.1, 0.2, 0.3], 0.1, -math.inf),  # floor(.4) = 0: nothing may be kept
        ([0.1, 0.2, 0.3], 0.5, 0.2),  # floor(2) = 2
        ([0.1, 0.2, 0.3], 0.75, 0.3),  # floor(3) = 3
        ([math.inf] * 9, 0.1, math.inf),  # nothing is ever wrong: everything is kept
        ([0.1, math.inf, math.inf], 0.5, math.inf),
        ([], 0.5, -math.inf),
    ],
)
def test_thresholds_by_hand(least: list[float], alpha: float, expected: float) -> None:
    assert threshold(least, alpha) == expected


def test_a_fold_is_filtered_by_the_others() -> None:
    # two texts, a fold each; alpha .5: rank floor(.5 * 2) = 1. Text 0 has a wrong claim at .4, so
    # text 1 keeps what is below .4: .1 and .3 of (.1 right, .3 wrong, .6 right). Text 1 has a wrong
    # claim at .3, so text 0 keeps what is below .3: .2 of (.2 right, .4 wrong).
    u = [0.2, 0.4, 0.1, 0.3, 0.6]
    wrong = [False, True, False, True, False]
    texts = ["a", "a", "b", "b", "b"]
    found = conformal_filter(u, wrong, texts, alpha=0.5, folds=5)
    # kept 3 of 5; right kept 2 of 3; text 0 is right after filtering, text 1 is not
    assert found == Filtered(0.6, pytest.approx(2 / 3), 0.5, 0.0, 2)


def test_undefined_is_none() -> None:
    assert conformal_filter([], [], []) == Filtered(None, None, None, None, 0)
    assert conformal_filter([0.1], [True], ["a"]) == Filtered(None, None, None, None, 1)
    none_right = conformal_filter([0.1, 0.2], [True, True], ["a", "b"], alpha=0.5)
    assert none_right.kept_right is None


def test_without_wrong_claims_everything_is_kept() -> None:
    found = conformal_filter(np.arange(40) / 40, [False] * 40, np.arange(40) // 4, alpha=0.2)
    assert found == Filtered(1.0, 1.0, 1.0, 1.0, 10)


def simulated(texts: int, seed: int, signal: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    size = rng.integers(3, 15, texts)
    unit = np.repeat(np.arange(texts), size)
    share = rng.beta(2, 5, texts)[unit]
    wrong = rng.random(len(unit)) < share
    return rng.normal(signal * wrong, 1.0), wrong, unit


@pytest.mark.parametrize("alpha", [0.1, 0.3])
@pytest.mark.parametrize("signal", [0.0, 1.5])
def test_the_promise_holds_on_average_whatever_the_score(alpha: float, signal: float) -> None:
    """400 data sets of 30 texts: the share of texts without a wrong claim is at least 1 - alpha.

    Its standard error is below .01 there. With a useless score it holds too: hardly anything is
    kept then.
    """
    right, kept = [], []
    for seed in range(400):
        found = conformal_filter(*simulated(30, seed, signal), alpha=alpha, seed=seed)
        right.append(found.texts_right)
        kept.append(found.kept)
    assert np.mean(right) >= 1 - alpha - 0.01
    # and it is not bought by keeping nothing: the bound is nearly reached
    assert np.mean(right) <= 1 - alpha + 0.08
    assert (np.mean(kept) > 0.15) if signal else (np.mean(kept) < 0.25)


def test_a_monotone_change_of_the_score_changes_nothing() -> None:
    u, wrong, unit = simulated(40, 3, 1.0)
    assert conformal_filter(u, wrong, unit) == conformal_filter(np.exp(u), wrong, unit)

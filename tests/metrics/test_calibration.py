"""Calibration errors and calibrators."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sayso import metrics
from sayso.metrics.calibration import bin_index, fold_rows
from sayso.records import InputError


def test_ece_by_hand() -> None:
    # Bin (.8, .9]: confidences .9, .9, accuracy 1/2, gap .4. Bin (.1, .2]: .2, accuracy 0, gap .2.
    # (2 * .4 + 1 * .2)/3 = 1/3.
    assert metrics.ece([0.9, 0.9, 0.2], [1, 0, 0]) == pytest.approx(1 / 3)


def test_bins_are_closed_on_the_right() -> None:
    edges = [0, 0.1, 0.2, 0.3, 0.6, 0.7, 1.0, 0.100001]
    assert bin_index(edges).tolist() == [0, 0, 1, 2, 5, 6, 9, 1]
    # what floats make of an edge a hair above it stays in the bin below
    assert bin_index([0.1 * 3]).tolist() == [2]
    assert bin_index([0.28], 25).tolist() == [6]
    assert bin_index([0.5, 0.5, 0.5, 0.9], 2, "mass").tolist() == [0, 0, 0, 1]


def test_perfect_and_worst() -> None:
    assert metrics.ece([1, 1, 0], [1, 1, 0]) == 0
    assert metrics.ece([1, 0], [0, 1]) == 1
    assert metrics.brier([1, 0], [0, 1]) == 1
    assert metrics.brier([0.5, 0.5], [0, 1]) == 0.25


def test_debiased_ece_by_hand() -> None:
    # One bin, confidence .5, accuracy 1/2 of 4: d = 0, s = sqrt(.25/4) = .25;
    # 0 - s sqrt(2/pi) = -.199471
    assert metrics.ece_debiased([0.5] * 4, [1, 1, 0, 0]) == pytest.approx(-0.1994711402)
    # No variance (all right): nothing to remove.
    assert metrics.ece_debiased([0.75] * 4, [1] * 4) == pytest.approx(0.25)


def test_debiasing_removes_much_of_what_chance_adds() -> None:
    rng = np.random.default_rng(0)
    plain, less = [], []
    for _ in range(300):
        p = rng.random(200)
        y = (rng.random(200) < p).astype(float)  # perfectly calibrated
        plain.append(metrics.ece(p, y))
        less.append(metrics.ece_debiased(p, y))
    assert np.mean(plain) > 0.06
    assert np.mean(less) < 0.65 * np.mean(plain)


@pytest.mark.parametrize("bins", [1, 5, 10, None])
def test_brier_parts_add_up(bins: int | None) -> None:
    rng = np.random.default_rng(1)
    p, y, w = rng.random(80).round(2), (rng.random(80) < 0.4).astype(float), rng.random(80)
    parts = metrics.brier_decomposition(p, y, bins, w)
    whole = (
        (parts.reliability or 0)
        - (parts.resolution or 0)
        + (parts.uncertainty or 0)
        + (parts.within_variance or 0)
        - (parts.within_covariance or 0)
    )
    assert whole == pytest.approx(parts.brier)
    assert parts.brier == pytest.approx(metrics.brier(p, y, w))
    if bins is None:
        assert parts.within_variance == pytest.approx(0)


def test_brier_parts_by_hand() -> None:
    # Confidences .8 (right, right), .4 (right, wrong); accuracy 3/4.
    # REL = (2 * .2^2 + 2 * .1^2)/4 = .025; RES = (2 * .25^2 + 2 * .25^2)/4 = .0625; UNC = .1875
    parts = metrics.brier_decomposition([0.8, 0.8, 0.4, 0.4], [1, 1, 1, 0], None)
    assert parts.reliability == pytest.approx(0.025)
    assert parts.resolution == pytest.approx(0.0625)
    assert parts.uncertainty == pytest.approx(0.1875)
    assert parts.brier == pytest.approx(0.15)
    assert metrics.brier_decomposition([], []).brier is None


@pytest.mark.parametrize("name", metrics.PROBABILITY_METRICS)
def test_what_is_no_probability_is_refused(name: str) -> None:
    metric = metrics.PROBABILITY_METRICS[name]
    for bad in ([1.2, 0.5], [-0.1, 0.5], [math.inf, 0.5]):
        with pytest.raises(InputError, match="probabilities of being correct"):
            metric(bad, [1, 0])
    assert metric([0.5, math.nan, 0.5], [1, 0, math.nan]) == metric([0.5], [1])
    assert metric([math.nan], [1]) is None


def test_isotonic_by_hand() -> None:
    # Scores 1, 2, 3, 4 with outcomes 1, 0, 1, 0: 2 and 3 rise, pooled to 1/2.
    fitted = metrics.fit_isotonic([1, 2, 3, 4], correct=[1, 0, 1, 0])
    assert fitted.values == (1, 0.5, 0.5, 0)
    assert fitted([0, 1.5, 2.5, 9, math.nan, -math.inf]).tolist()[:4] == [1, 0.75, 0.5, 0]
    assert np.isnan(fitted([math.nan])[0])
    assert fitted([-math.inf, math.inf]).tolist() == [1, 0]


def test_isotonic_equals_scikit_learn() -> None:
    sklearn = pytest.importorskip("sklearn.isotonic", reason="scikit-learn is not installed")
    rng = np.random.default_rng(2)
    score, w = rng.integers(0, 30, 300).astype(float), rng.random(300) + 0.1
    right = (rng.random(300) < 1 / (1 + np.exp((score - 15) / 6))).astype(float)
    theirs = sklearn.IsotonicRegression(increasing=False, out_of_bounds="clip")
    theirs.fit(score, right, sample_weight=w)
    grid = np.linspace(-3, 33, 77)
    ours = metrics.fit_isotonic(score, correct=right, weights=w)
    assert ours(grid) == pytest.approx(theirs.predict(grid))


def test_outcomes_of_a_calibrator_are_named() -> None:
    """1 = right here and 1 = wrong in a ranking: by place one is taken for the other."""
    score, wrong = [1.0, 2.0, 3.0, 4.0], [0, 0, 1, 1]
    assert metrics.auroc(score, wrong) == 1.0
    for fit in metrics.CALIBRATORS.values():
        with pytest.raises(TypeError):
            fit(score, wrong)
        p = fit(score, correct=[1 - w for w in wrong])(score)
        assert p[0] > 0.5 > p[3]
    across: Any = metrics.cross_calibrate
    with pytest.raises(TypeError):
        across(score, wrong, np.random.default_rng(0))


def test_platt_equals_scikit_learn() -> None:
    calibration = pytest.importorskip("sklearn.calibration", reason="scikit-learn is not installed")
    rng = np.random.default_rng(3)
    score = rng.normal(5, 3, 400)
    right = (rng.random(400) < 1 / (1 + np.exp(score - 5))).astype(int)
    theirs = calibration._SigmoidCalibration().fit(score, right)
    grid = np.linspace(-5, 15, 41)
    found = metrics.fit_platt(score, correct=right)
    assert found.converged
    assert found(grid) == pytest.approx(theirs.predict(grid), abs=1e-5)


@pytest.mark.parametrize("right", [[1, 1, 1], [0, 0, 0], [1, 1, 0]])
def test_platt_survives_one_class_and_separation(right: list[int]) -> None:
    found = metrics.fit_platt([1.0, 2.0, 3.0], correct=right)
    p = found([1.0, 2.0, 3.0, math.inf, -math.inf])
    assert found.converged
    assert ((p >= 0) & (p <= 1)).all()
    # Smoothed as by Platt: (3 + 1)/(3 + 2) for three right ones.
    if right == [1, 1, 1]:
        assert p[1] == pytest.approx(0.8, abs=1e-6)


def test_platt_of_equal_scores_is_the_smoothed_accuracy() -> None:
    found = metrics.fit_platt([2.0] * 4, correct=[1, 1, 1, 0])
    # targets 4/5 x 3 and 1/3 x 1: mean (12/5 + 1/3)/4 = .68333
    assert found([2.0, 99.0]) == pytest.approx([0.683333, 0.683333], abs=1e-6)


def test_scores_of_any_scale_give_the_same_curve() -> None:
    rng = np.random.default_rng(4)
    score, right = rng.random(100), (rng.random(100) < 0.6).astype(float)
    for fit in metrics.CALIBRATORS.values():
        small = fit(score, correct=right)(score)
        large = fit(score * 1e9 - 4e12, correct=right)(score * 1e9 - 4e12)
        assert large == pytest.approx(small, abs=1e-4)


def test_calibrators_need_rows() -> None:
    for fit in metrics.CALIBRATORS.values():
        with pytest.raises(InputError, match="at least one row"):
            fit([math.nan, math.inf], correct=[1, 0])
        with pytest.raises(InputError, match="outcomes"):
            fit([1.0], correct=[0.5])


def test_cross_calibration_does_not_see_its_own_row() -> None:
    # Noise: in-sample isotonic looks informative, cross-fitted must not.
    rng: Any = np.random.default_rng(5)
    score, right = rng.random(300), (rng.random(300) < 0.5).astype(float)
    inside = metrics.brier(metrics.fit_isotonic(score, correct=right)(score), right)
    across = metrics.brier(metrics.cross_calibrate(score, correct=right, rng=rng), right)
    assert inside is not None
    assert across is not None
    assert inside < 0.25 < across


def test_folds_and_splits_keep_clusters_whole() -> None:
    entity = np.repeat(np.arange(30), 4)
    rng = np.random.default_rng(6)
    for labels in (
        fold_rows(120, 5, rng, entity),
        metrics.split_rows(120, 0.5, rng, entity),
    ):
        assert all(len(set(labels[entity == e].tolist())) == 1 for e in range(30))
    assert metrics.split_rows(120, 0.5, rng, entity).sum() == 60
    with pytest.raises(InputError, match="folds"):
        fold_rows(3, 5, rng)

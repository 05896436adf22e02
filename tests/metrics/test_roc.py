"""AUROC: ties, weights, missing scores, pairs within type."""

from __future__ import annotations

import numpy as np
import pytest

from sayso import metrics


def pairs(score: np.ndarray, wrong: np.ndarray, kind: np.ndarray) -> float:
    """Count pairs one by one: the slow definition."""
    wins = total = 0.0
    for i in np.flatnonzero(wrong == 1):
        for j in np.flatnonzero((wrong == 0) & (kind == kind[i])):
            total += 1
            wins += (score[i] > score[j]) + 0.5 * (score[i] == score[j])
    return wins / total


def test_equals_counting_pairs() -> None:
    rng = np.random.default_rng(0)
    score, kind = rng.integers(0, 6, 80).astype(float), rng.integers(0, 4, 80)
    wrong = (rng.random(80) < 0.4).astype(float)
    assert metrics.auroc(score, wrong) == pytest.approx(pairs(score, wrong, np.zeros(80)))
    assert metrics.within_auroc(score, wrong, kind) == pytest.approx(pairs(score, wrong, kind))


def test_equals_scikit_learn_when_installed() -> None:
    sklearn = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    rng = np.random.default_rng(1)
    score, weights = rng.integers(0, 9, 200), rng.random(200)
    wrong = (rng.random(200) < 0.3).astype(int)
    expected = sklearn.roc_auc_score(wrong, score, sample_weight=weights)
    assert metrics.auroc(score, wrong, weights) == pytest.approx(expected)


def test_missing_scores_are_dropped_and_counted() -> None:
    score, wrong = [1.0, np.nan, 2.0, 3.0], [0, 1, 1, np.nan]
    assert metrics.auroc(score, wrong) == 1.0
    assert metrics.missing_scores(score) == 1
    assert metrics.auroc([np.nan, np.nan], [0, 1]) is None
    assert np.isnan(metrics.auroc([np.nan], [0], np.ones((3, 1)))).all()  # type: ignore[arg-type]


def test_infinite_scores_are_ordered() -> None:
    assert metrics.auroc([-np.inf, 0.0, np.inf], [0, 0, 1]) == 1.0


def test_type_priors_are_not_knowledge() -> None:
    # The score knows the types' error rates and nothing else: high pooled, chance within.
    rng = np.random.default_rng(2)
    error = np.linspace(0.02, 0.98, 8)
    kind = rng.integers(0, 8, 6000)
    wrong = (rng.random(6000) < error[kind]).astype(float)
    score = error[kind] + 0.01 * rng.random(6000)
    pooled, within = metrics.auroc(score, wrong), metrics.within_auroc(score, wrong, kind)
    assert pooled is not None
    assert pooled > 0.8
    estimate = metrics.bootstrap(metrics.within_auroc, score, wrong, kind, n=200)
    assert estimate.value == within
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.low < 0.5 < estimate.high


def test_weightings_of_types() -> None:
    # Type a: 1 wrong x 1 right, concordant (AUROC 1). Type b: 2 x 2, all discordant (AUROC 0).
    kind = np.array(["a", "a", "b", "b", "b", "b"])
    wrong = np.array([1, 0, 1, 1, 0, 0])
    score = np.array([2.0, 1, 1, 1, 2, 2])
    assert metrics.within_auroc(score, wrong, kind) == pytest.approx(1 / 5)
    # Mantel-Haenszel weights 1*1/2 and 2*2/4: .5 / 1.5
    found = metrics.within_auroc(score, wrong, kind, weighting="mantel_haenszel")
    assert found == pytest.approx(1 / 3)


def test_a_type_with_one_class_does_not_enter() -> None:
    kind, wrong, score = ["a", "a", "b"], [1, 0, 1], [2.0, 1.0, 0.0]
    for weighting in ("pairs", "mantel_haenszel"):
        found = metrics.within_auroc(score, wrong, kind, None, weighting)  # type: ignore[arg-type]
        assert found == 1.0
    assert metrics.within_auroc([1.0, 2.0], [0, 1], ["a", "b"]) is None

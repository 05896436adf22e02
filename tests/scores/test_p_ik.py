"""P(IK): the fit against scikit-learn, wide features, cross-fitting, one class, controls."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sayso import metrics, scores
from sayso.records import InputError


def data(n: int, d: int, seed: int, signal: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 30, d) + rng.normal(size=d)
    z = signal * (X[:, 0] - X[:, 0].mean()) / X[:, 0].std()
    return X, (rng.random(n) < 1 / (1 + np.exp(-z))).astype(float)


@pytest.mark.parametrize(("n", "d"), [(200, 5), (80, 300)])
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_equals_scikit_learn(n: int, d: int, C: float) -> None:
    linear = pytest.importorskip("sklearn.linear_model", reason="scikit-learn is not installed")
    X, y = data(n, d, 0)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    theirs = linear.LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(Z, y)
    ours = scores.fit_p_ik(X, y, C)
    assert ours.converged
    assert ours(X) == pytest.approx(theirs.predict_proba(Z)[:, 1], abs=1e-4)


def test_without_scaling_too() -> None:
    linear = pytest.importorskip("sklearn.linear_model", reason="scikit-learn is not installed")
    X, y = data(150, 4, 1)
    X = X / 10
    theirs = linear.LogisticRegression(tol=1e-10, max_iter=10_000).fit(X, y)
    assert scores.fit_p_ik(X, y, standardize=False)(X) == pytest.approx(
        theirs.predict_proba(X)[:, 1], abs=1e-4
    )


def test_the_gradient_vanishes() -> None:
    X, y = data(60, 3, 2)
    probe = scores.fit_p_ik(X, y)
    Z = (X - probe.center) / probe.scale
    p = probe(X)
    assert np.abs(probe.weights + Z.T @ (p - y)).max() < 1e-5
    assert abs((p - y).sum()) < 1e-5


def test_separable_rows_converge() -> None:
    X = np.array([[-1.0], [-2], [1], [2]])
    probe = scores.fit_p_ik(X, [0, 0, 1, 1])
    assert probe.converged
    assert probe.problem is None
    assert probe(X).round() == pytest.approx([0, 0, 1, 1])


def test_a_fit_that_stops_early_says_so() -> None:
    X, y = data(60, 3, 3)
    probe = scores.fit_p_ik(X, y, iterations=1)
    assert not probe.converged
    assert "not converged" in (probe.problem or "")


def test_bad_features() -> None:
    X, y = data(40, 3, 4)
    broken = X.copy()
    broken[0, 0] = math.nan
    probe = scores.fit_p_ik(broken, y)
    assert probe.n == 39
    assert np.isnan(probe(broken)[0])
    with pytest.raises(InputError, match="right and wrong"):
        scores.fit_p_ik(X, np.ones(40))
    with pytest.raises(InputError, match="shape"):
        scores.fit_p_ik(X, y[:5])
    with pytest.raises(InputError, match="expected"):
        probe(X[:, :2])
    constant = np.hstack([X, np.full((40, 1), 7.0)])
    assert np.isfinite(scores.fit_p_ik(constant, y)(constant)).all()


def test_cross_fitting_sees_no_group_of_its_own() -> None:
    # Each entity has a mark of its own in the features and one outcome: a probe that saw the
    # entity knows it, one that did not knows nothing.
    rng = np.random.default_rng(5)
    entity = np.repeat(np.arange(60), 5)
    mark = rng.normal(size=(60, 80))
    outcome = rng.integers(0, 2, 60).astype(float)
    X, y = mark[entity] + 0.01 * rng.normal(size=(300, 80)), outcome[entity]
    inside = metrics.auroc(scores.fit_p_ik(X, y)(X), y)
    across, probes = scores.cross_fit_probe(X, y, entity, np.random.default_rng(0))
    found = metrics.bootstrap(metrics.auroc, across, y, clusters=entity, n=300)
    assert inside == pytest.approx(1)
    assert len(probes) == 5
    assert found.low is not None
    assert found.low < 0.5 < (found.high or 0) + 0.02


def test_leaving_one_dataset_out() -> None:
    X, y = data(300, 4, 6, signal=2)
    dataset = np.repeat(["a", "b", "c"], 100)
    value, probes = scores.cross_fit_probe(X, y, dataset, np.random.default_rng(0), folds=None)
    assert len(probes) == 3
    assert (metrics.auroc(value, y) or 0) > 0.7
    expected = scores.fit_p_ik(X[dataset != "b"], y[dataset != "b"])(X[dataset == "b"])
    assert value[dataset == "b"] == pytest.approx(expected)


def test_shuffled_outcomes_teach_nothing() -> None:
    X, y = data(400, 6, 7, signal=2)
    y = np.random.default_rng(0).permutation(y)
    value, _ = scores.cross_fit_probe(X, y, np.arange(400), np.random.default_rng(1))
    found = metrics.bootstrap(metrics.auroc, value, y, n=300)
    assert found.low is not None
    assert found.low - 0.02 < 0.5 < (found.high or 0) + 0.02

"""P(IK): does the model's hidden state say that the answer will be wrong? A learned score.

Kadavath et al. 2022: L2-regularized logistic regression on hidden states. Measured only on rows
that the probe was not fitted on: grouped cross-validation and leave-one-dataset-out.
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import codes
from sayso.metrics.calibration import fold_rows
from sayso.records import InputError

Floats = NDArray[np.float64]
#: Features (rows x dimensions) that one fit of :func:`cross_fit_stored` takes into memory, and
#: rows that it takes whatever their width.
HELD, LEAST = 8_000_000, 500
#: Rows read at a time from what is stored.
CHUNK = 2048


class Probe(msgspec.Struct, frozen=True, eq=False):
    """A fitted probe; call it on features (n, d) for P(incorrect) (n,).

    ``weights`` (d,) and ``bias`` act on features less ``center`` over ``scale``. ``converged``:
    the gradient vanished; if not, ``problem`` says so. NaN features give NaN.
    """

    weights: Floats
    bias: float
    center: Floats
    scale: Floats
    converged: bool
    n: int
    problem: str | None = None

    def __call__(self, features: ArrayLike) -> Floats:
        """Return P(incorrect) of each row, 0..1, higher = less certain."""
        X = np.asarray(features, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != len(self.weights):
            raise InputError(f"features of shape {X.shape}, expected (n, {len(self.weights)})")
        z = (X - self.center) / self.scale @ self.weights + self.bias
        return np.asarray(1 / (1 + np.exp(-np.clip(z, -700, 700))), dtype=np.float64)


def fit(
    features: ArrayLike,
    incorrect: ArrayLike,
    C: float = 1.0,
    standardize: bool = True,
    tolerance: float = 1e-6,
    iterations: int = 200,
) -> Probe:
    """Fit P(incorrect | features): minimize |w|^2/2 + C sum log(1 + exp(-y (w x + b))).

    ``features`` (n, d), ``incorrect`` (n,) 1 = wrong, 0 = right, NaN = not known; rows with a NaN
    are left out. Newton's method with step halving, in at most n dimensions: the weights lie in
    the span of the rows, so wide features are first turned into their n coordinates. The bias is
    not penalized. ``standardize`` scales each feature to unit spread on these rows. Raises
    :class:`InputError` for fewer than two rows or one class only.
    """
    X, y = np.asarray(features, dtype=np.float64), np.asarray(incorrect, dtype=np.float64)
    if X.ndim != 2 or len(X) != len(y):
        raise InputError(f"features of shape {X.shape} for {len(y)} classes, expected (n, d)")
    use = np.isfinite(X).all(axis=1) & ~np.isnan(y)
    X, y = X[use], y[use]
    if not np.isin(y, (0.0, 1.0)).all():
        raise InputError("classes must be 1 (incorrect), 0 (correct) or NaN (not known)")
    if len(np.unique(y)) < 2:
        raise InputError(
            f"a probe needs right and wrong answers to learn from, got {len(y)} rows of one kind"
        )
    center = X.mean(axis=0) if standardize else np.zeros(X.shape[1])
    spread = X.std(axis=0) if standardize else np.ones(X.shape[1])
    scale = np.where(spread > 1e-12 * np.maximum(1, np.abs(center)), spread, 1.0)
    X = (X - center) / scale
    Z, back = _coordinates(X)
    theta, converged = _newton(np.hstack([Z, np.ones((len(Z), 1))]), y, C, tolerance, iterations)
    problem = None if converged else f"not converged after {iterations} steps"
    return Probe(back @ theta[:-1], float(theta[-1]), center, scale, converged, len(y), problem)


def _coordinates(X: Floats) -> tuple[Floats, Floats]:
    """X as coordinates Z (n, r) with r <= n, and the map (d, r) that takes weights back."""
    if X.shape[1] <= X.shape[0]:
        return X, np.eye(X.shape[1])
    values, vectors = np.linalg.eigh(X @ X.T)
    kept = values > values.max(initial=0.0) * 1e-12
    root = np.sqrt(values[kept])
    return vectors[:, kept] * root, X.T @ vectors[:, kept] / root


def _newton(
    X: Floats, y: Floats, C: float, tolerance: float, iterations: int
) -> tuple[Floats, bool]:
    sign = 2 * y - 1
    ridge = np.ones(X.shape[1])
    ridge[-1] = 0.0
    theta = np.zeros(X.shape[1])
    share = y.mean()
    theta[-1] = np.log(share / (1 - share))

    def loss(t: Floats) -> float:
        return float(ridge @ (t * t) / 2 + C * np.logaddexp(0, -sign * (X @ t)).sum())

    value = loss(theta)
    for _ in range(iterations):
        p = 1 / (1 + np.exp(-np.clip(X @ theta, -700, 700)))
        gradient = ridge * theta + C * (X.T @ (p - y))
        if np.abs(gradient).max() < tolerance * max(1.0, C):
            return theta, True
        hessian = C * (X * (p * (1 - p))[:, None]).T @ X + np.diag(ridge + 1e-12)
        step = np.linalg.solve(hessian, gradient)
        length = 1.0
        while length > 1e-10 and loss(theta - length * step) > value:
            length /= 2
        if length <= 1e-10:
            return theta, bool(np.abs(gradient).max() < 1e-3 * max(1.0, C))
        theta = theta - length * step
        value = loss(theta)
    return theta, False


def cross_fit(
    features: ArrayLike,
    incorrect: ArrayLike,
    groups: ArrayLike,
    rng: np.random.Generator,
    folds: int | None = 5,
    C: float = 1.0,
    standardize: bool = True,
) -> tuple[Floats, list[Probe]]:
    """Return P(incorrect) (n,) of each row from a probe that saw none of its group, and the probes.

    ``groups`` (n,): entities, of which ``folds`` sets are made; ``folds=None`` leaves out one group
    at a time (groups = datasets: leave-one-dataset-out). NaN where the other groups have one class
    only.
    """
    X, y = np.asarray(features, dtype=np.float64), np.asarray(incorrect, dtype=np.float64)
    fold = codes(groups) if folds is None else fold_rows(len(y), folds, rng, groups)
    value: Floats = np.full(len(y), np.nan)
    probes = []
    for k in np.unique(fold):
        out = fold == k
        known = y[~out & ~np.isnan(y) & np.isfinite(X).all(axis=1)]
        if len(np.unique(known)) == 2:
            probe = fit(X[~out], y[~out], C, standardize)
            value[out] = probe(X[out])
            probes.append(probe)
    return value, probes


def cross_fit_stored(
    stored: NDArray[np.floating],
    incorrect: ArrayLike,
    fold: NDArray[np.int64],
    rng: np.random.Generator,
    held: int = HELD,
    C: float = 1.0,
    standardize: bool = True,
) -> tuple[Floats, list[Probe]]:
    """Return :func:`cross_fit` of features (n, d) that stay on disk: memory ignores the rows.

    ``fold`` (n,) says which rows are predicted together, -1 = neither fitted on nor predicted. A
    fold is predicted by a probe of the others' rows with an outcome, of which as many are drawn as
    ``held`` numbers (at least :data:`LEAST` rows); if all fit, values equal those of
    :func:`cross_fit`. Rows without an outcome are predicted too. NaN where there is none.
    """
    y = np.asarray(incorrect, dtype=np.float64)
    most = max(LEAST, held // max(stored.shape[1], 1))
    value: Floats = np.full(len(y), np.nan)
    usable = (fold >= 0) & ~np.isnan(y)
    for first in range(0, len(y), CHUNK):
        part = slice(first, first + CHUNK)
        usable[part] &= np.isfinite(stored[part]).all(axis=1)
    probes = []
    for k in np.unique(fold[fold >= 0]):
        known = np.flatnonzero(usable & (fold != k))
        if len(known) > most:
            known = np.sort(rng.choice(known, most, replace=False))
        if len(np.unique(y[known])) < 2:
            continue
        probe = fit(stored[known], y[known], C, standardize)
        probes.append(probe)
        out = np.flatnonzero(fold == k)
        for first in range(0, len(out), CHUNK):
            part_rows = out[first : first + CHUNK]
            value[part_rows] = probe(stored[part_rows])
    return value, probes

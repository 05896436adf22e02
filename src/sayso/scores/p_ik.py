"""P(IK): does the model's hidden state say that the answer will be wrong? A learned score.

    P(incorrect | h) = 1 / (1 + exp(-(w h + b))),  L2-regularized, C = 1, on standardized features

Kadavath et al. 2022. A probe predicts only rows that it was not fitted on: those of
other groups (:func:`cross_fit_probe`), or of other data sets. Rank the values of one fold among
themselves (:func:`fold_ranks`): between folds chance alone ranks them the wrong way around, since
where a fold has many wrong answers the others have few, and that is what its probe learned.
Measured on states that say nothing: AUROC .36 over all pairs, .50 within folds.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import Floats, codes, newton
from sayso.metrics.calibration import fold_rows
from sayso.metrics.ranking import mid_ranks
from sayso.records import InputError

Bools = NDArray[np.bool_]
#: The score's name.
P_IK = "p_ik"
#: Features (rows x dimensions) that one fit of :func:`cross_fit_stored` takes into memory, and
#: rows that it takes whatever their width.
HELD, LEAST = 8_000_000, 500
#: Rows read at a time from what is stored.
CHUNK = 2048


class FittedProbe(msgspec.Struct, frozen=True, eq=False):
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


def fit_p_ik(
    features: ArrayLike,
    incorrect: ArrayLike,
    C: float = 1.0,
    standardize: bool = True,
    tolerance: float = 1e-6,
    iterations: int = 200,
) -> FittedProbe:
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
    return FittedProbe(
        back @ theta[:-1], float(theta[-1]), center, scale, converged, len(y), problem
    )


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

    def slopes(t: Floats) -> tuple[Floats, Floats]:
        p = 1 / (1 + np.exp(-np.clip(X @ t, -700, 700)))
        hessian = C * (X * (p * (1 - p))[:, None]).T @ X + np.diag(ridge + 1e-12)
        return ridge * t + C * (X.T @ (p - y)), hessian

    size = max(1.0, C)
    return newton(theta, loss, slopes, (tolerance * size, 1e-3 * size), iterations)


def folds_of(
    rows: Bools, groups: ArrayLike, folds: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the fold, 0..folds-1, of the rows (n,) that take part, -1 of the others.

    ``groups`` (n,) are never cut: the rows of one group share a fold.
    """
    fold = np.full(len(rows), -1)
    fold[rows] = fold_rows(int(rows.sum()), folds, rng, np.asarray(groups)[rows])
    return fold


def fold_ranks(value: Floats, fold: NDArray[np.int64]) -> Floats:
    """Return each value's rank among those of its fold, 0..1, so that folds can be pooled."""
    ranks: Floats = np.full(len(value), np.nan)
    for k in np.unique(fold):
        ranks[fold == k] = mid_ranks(value[fold == k])
    return ranks


def cross_fit_probe(
    features: ArrayLike,
    incorrect: ArrayLike,
    groups: ArrayLike,
    rng: np.random.Generator,
    folds: int | None = 5,
    C: float = 1.0,
    standardize: bool = True,
) -> tuple[Floats, list[FittedProbe]]:
    """Return P(incorrect) (n,) of each row from a probe that saw none of its group, and the probes.

    ``groups`` (n,): entities, of which ``folds`` sets are made; ``folds=None`` leaves out one group
    at a time (groups = datasets: leave-one-dataset-out). NaN where the other groups have one class
    only.
    """
    X = np.asarray(features, dtype=np.float64)
    fold = codes(groups) if folds is None else fold_rows(len(X), folds, rng, groups)
    return cross_fit_splits(X, incorrect, splits_of(fold), C, standardize)


def cross_fit_stored(
    stored: NDArray[np.floating],
    incorrect: ArrayLike,
    fold: NDArray[np.int64],
    rng: np.random.Generator,
    held: int = HELD,
) -> tuple[Floats, list[FittedProbe]]:
    """Return :func:`cross_fit_probe` of features (n, d) that stay on disk: memory ignores the rows.

    ``fold`` (n,) says which rows are predicted together, -1 = neither fitted on nor predicted. A
    fold is predicted by a probe of the others' rows with an outcome, of which as many are drawn as
    ``held`` numbers (at least :data:`LEAST` rows); if all fit, values equal those of
    :func:`cross_fit_probe`. Rows without an outcome are predicted too. NaN where there is none.
    """
    most = max(LEAST, held // max(stored.shape[1], 1))
    return cross_fit_splits(stored, incorrect, splits_of(fold), drawn=(most, rng))


#: judged answers, and of either kind, below which nothing is learned from them
FEWEST, FEWEST_OF_A_KIND = 20, 5


def too_few_to_learn(count: int, wrong: int) -> str | None:
    """Return why so many judged answers are too few to learn from; ``None`` where they are not."""
    if count >= FEWEST and min(wrong, count - wrong) >= FEWEST_OF_A_KIND:
        return None
    return (
        f"learns from right and wrong answers: needs {FEWEST} judged ones with "
        f"{FEWEST_OF_A_KIND} of each kind, got {count - wrong:,} right and {wrong:,} wrong"
    )


def splits_of(fold: NDArray[np.int64]) -> Iterable[tuple[Bools, Bools]]:
    """Yield, for each fold from 0, the rows (n,) to learn from and those to predict."""
    for k in np.unique(fold[fold >= 0]):
        yield (fold >= 0) & (fold != k), fold == k


def cross_fit_splits(
    features: NDArray[np.floating],
    incorrect: ArrayLike,
    splits: Iterable[tuple[Bools, Bools]],
    C: float = 1.0,
    standardize: bool = True,
    drawn: tuple[int, np.random.Generator] | None = None,
) -> tuple[Floats, list[FittedProbe]]:
    """Return P(incorrect) (n,), NaN where nothing predicts, and the probes of the splits.

    ``splits`` are (rows to learn from, rows to predict); a split whose rows to learn from have one
    class only has no probe. ``drawn`` = (most, rng) fits on at most so many rows, drawn at random.
    """
    y = np.asarray(incorrect, dtype=np.float64)
    usable = ~np.isnan(y)
    for first in range(0, len(y), CHUNK):
        part = slice(first, first + CHUNK)
        usable[part] &= np.isfinite(features[part]).all(axis=1)
    value: Floats = np.full(len(y), np.nan)
    probes = []
    for learned, predicted in splits:
        known = np.flatnonzero(usable & learned)
        if drawn is not None and len(known) > drawn[0]:
            known = np.sort(drawn[1].choice(known, drawn[0], replace=False))
        if len(np.unique(y[known])) < 2:
            continue
        probe = fit_p_ik(features[known], y[known], C, standardize)
        probes.append(probe)
        rows = np.flatnonzero(predicted)
        for first in range(0, len(rows), CHUNK):
            chunk = rows[first : first + CHUNK]
            value[chunk] = probe(features[chunk])
    return value, probes


def not_converged(probes: list[FittedProbe]) -> str | None:
    """Return how many of the fits did not converge, ``None`` where all did."""
    short = sum(not probe.converged for probe in probes)
    return f"{short} of {len(probes)} fits did not converge" if short else None

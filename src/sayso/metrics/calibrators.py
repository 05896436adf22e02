"""From a score to a probability of being correct, learned on rows that are not measured.

Fit on one split and apply to another (:func:`split_rows`), or let every row be predicted from the
other folds (:func:`cross_calibrate`): a calibrator measured on its own rows looks perfect.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.ranks import weight_rows
from sayso.metrics.rates import Floats
from sayso.metrics.roc import block_starts, codes
from sayso.records import InputError

CalibratorKind = Literal["isotonic", "platt"]


class Isotonic(msgspec.Struct, frozen=True):
    """A falling step-and-line function from score to P(correct); call it on scores (n,).

    ``scores`` rising, ``values`` falling; linear between them, constant outside. NaN stays NaN.
    """

    scores: tuple[float, ...]
    values: tuple[float, ...]
    n: int

    def __call__(self, uncertainty: ArrayLike) -> Floats:
        """Return P(correct) for scores (n,)."""
        score = np.asarray(uncertainty, dtype=np.float64)
        value = np.interp(score, self.scores, self.values)
        return np.asarray(np.where(np.isnan(score), np.nan, value), dtype=np.float64)


class Platt(msgspec.Struct, frozen=True):
    """P(correct) = 1 / (1 + exp(slope * (score - center) / scale + intercept)).

    ``converged`` is False when Newton's method stopped early. NaN stays NaN.
    """

    slope: float
    intercept: float
    center: float
    scale: float
    converged: bool
    n: int

    def __call__(self, uncertainty: ArrayLike) -> Floats:
        """Return P(correct) for scores (n,); an infinite score gives the limit."""
        score = np.asarray(uncertainty, dtype=np.float64)
        if self.slope == 0:
            z = np.where(np.isnan(score), np.nan, self.intercept)
        else:
            z = self.slope * (score - self.center) / self.scale + self.intercept
        return np.asarray(1 / (1 + np.exp(np.clip(z, -700, 700))), dtype=np.float64)


Calibrator = Isotonic | Platt


def _rows(
    uncertainty: ArrayLike, correct: ArrayLike, weights: ArrayLike | None
) -> tuple[Floats, Floats, Floats]:
    score, y = np.asarray(uncertainty, dtype=np.float64), np.asarray(correct, dtype=np.float64)
    W, single = weight_rows(weights, len(score))
    if not single or score.shape != y.shape:
        raise InputError("a calibrator is fitted on scores, outcomes and weights of one length")
    use = np.isfinite(score) & ~np.isnan(y) & (W[0] > 0)
    if not np.isin(y[use], (0.0, 1.0)).all():
        raise InputError("outcomes must be 1 (correct), 0 (incorrect) or NaN (not known)")
    if not use.any():
        raise InputError("a calibrator needs at least one row with a finite score and an outcome")
    return score[use], y[use], W[0][use]


def fit_isotonic(
    uncertainty: ArrayLike, correct: ArrayLike, weights: ArrayLike | None = None
) -> Isotonic:
    """Return the falling function of the score nearest to the outcomes (least squares).

    Pool adjacent violators (Ayer et al. 1955; Zadrozny and Elkan 2002): equal scores are pooled
    first, then neighbours whose accuracy rises with the score. Rows with a score that is not
    finite are left out.
    """
    score, y, w = _rows(uncertainty, correct, weights)
    order = np.argsort(score, kind="stable")
    score, y, w = score[order], y[order], w[order]
    starts = block_starts(score)
    mass = np.add.reduceat(w, starts)
    mean = np.add.reduceat(w * y, starts) / mass
    stack: list[tuple[float, float, int]] = []  # accuracy, weight, blocks pooled
    for value, weight in zip(mean.tolist(), mass.tolist(), strict=True):
        here = (value, weight, 1)
        while stack and stack[-1][0] <= here[0]:
            v, m, k = stack.pop()
            total = m + here[1]
            here = ((v * m + here[0] * here[1]) / total, total, k + here[2])
        stack.append(here)
    fitted = np.repeat([v for v, _, _ in stack], [k for _, _, k in stack])
    return Isotonic(tuple(score[starts].tolist()), tuple(fitted.tolist()), len(score))


def fit_platt(
    uncertainty: ArrayLike, correct: ArrayLike, weights: ArrayLike | None = None
) -> Platt:
    """Return Platt's sigmoid of the score, by Newton's method with step halving.

    Platt 1999 with the numerics of Lin, Lin and Weng 2007: the targets are (n+ + 1)/(n+ + 2) and
    1/(n- + 2), so that one class or perfect separation gives no infinite slope. Rows with a score
    that is not finite are left out; equal scores give the smoothed accuracy.
    """
    score, y, w = _rows(uncertainty, correct, weights)
    right, wrong = float(w[y > 0].sum()), float(w[y == 0].sum())
    target = np.where(y > 0, (right + 1) / (right + 2), 1 / (wrong + 2))
    center = float(np.average(score, weights=w))
    scale = float(np.sqrt(np.average((score - center) ** 2, weights=w)))
    spread = scale > 1e-12 * max(1.0, abs(center))
    x = (score - center) / scale if spread else np.zeros(len(score))
    X = np.stack([x, np.ones(len(x))], axis=1) if spread else np.ones((len(x), 1))
    theta = np.zeros(X.shape[1])
    theta[-1] = np.log((wrong + 1) / (right + 1))

    def loss(t: Floats) -> float:
        z = X @ t
        # -log p = log(1 + e^z), -log(1-p) = log(1 + e^-z)
        return float((w * (np.logaddexp(0, z) - (1 - target) * z)).sum())

    converged = False
    value = loss(theta)
    for _ in range(100):
        p = 1 / (1 + np.exp(X @ theta))
        gradient = X.T @ (w * (target - p))
        if np.abs(gradient).max() < 1e-9 * max(1.0, float(w.sum())):
            converged = True
            break
        hessian = (X * (w * p * (1 - p))[:, None]).T @ X + 1e-12 * np.eye(len(theta))
        step = np.linalg.solve(hessian, gradient)
        length = 1.0
        while length > 1e-10 and loss(theta - length * step) > value:
            length /= 2
        if length <= 1e-10:
            converged = bool(np.abs(gradient).max() < 1e-6 * max(1.0, float(w.sum())))
            break
        theta = theta - length * step
        value = loss(theta)
    slope = float(theta[0]) if spread else 0.0
    return Platt(slope, float(theta[-1]), center, scale if spread else 1.0, converged, len(score))


#: Calibrators by name: fit(uncertainty, correct, weights=None) -> callable on scores.
CALIBRATORS: dict[str, Callable[..., Calibrator]] = {"isotonic": fit_isotonic, "platt": fit_platt}


def split_rows(
    n: int, share: float, rng: np.random.Generator, clusters: ArrayLike | None = None
) -> NDArray[np.bool_]:
    """Return a mask (n,) of rows to fit on: about ``share`` of the clusters, none of them cut."""
    unit = np.arange(n) if clusters is None else codes(clusters)
    count = int(unit.max()) + 1 if n else 0
    chosen = rng.permutation(count) < round(share * count)
    return np.asarray(chosen[unit], dtype=np.bool_)


def fold_rows(
    n: int, folds: int, rng: np.random.Generator, clusters: ArrayLike | None = None
) -> NDArray[np.int64]:
    """Return the fold, 0..folds-1, of each row; rows of one cluster share a fold."""
    unit = np.arange(n) if clusters is None else codes(clusters)
    count = int(unit.max()) + 1 if n else 0
    if folds < 2 or folds > count:
        raise InputError(f"folds: got {folds} for {count} clusters, expected 2 to {count}")
    return np.asarray((rng.permutation(count) % folds)[unit], dtype=np.int64)


def cross_calibrate(
    uncertainty: ArrayLike,
    correct: ArrayLike,
    rng: np.random.Generator,
    kind: CalibratorKind = "isotonic",
    folds: int = 5,
    clusters: ArrayLike | None = None,
) -> Floats:
    """Return P(correct) of each row (n,) from a calibrator fitted on the other folds.

    NaN where the score is NaN or the other folds have nothing to fit on. Rows without an outcome
    are predicted too.
    """
    if kind not in CALIBRATORS:
        raise InputError(f"calibrator: got {kind!r}, expected one of {', '.join(CALIBRATORS)}")
    score, y = np.asarray(uncertainty, dtype=np.float64), np.asarray(correct, dtype=np.float64)
    fold = fold_rows(len(score), folds, rng, clusters)
    result: Floats = np.full(len(score), np.nan)
    for k in range(folds):
        out = fold == k
        fit = ~out & np.isfinite(score) & ~np.isnan(y)
        if fit.any():
            result[out] = CALIBRATORS[kind](score[fit], y[fit])(score[out])
    return result

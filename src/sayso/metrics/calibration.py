"""Calibration: do stated probabilities hold, and how does a score become a probability?

Errors: ``confidence`` (n,) in 0..1 (NaN drops the row), ``correct`` (n,) 1 = right, 0 = wrong. All
take ``weights`` as in :mod:`sayso.metrics.arrays`, and rows of one class alone.

Calibrators turn a score into P(correct). They take outcomes by name, ``correct=`` (1 = right, as
above), since ranking metrics take the opposite (1 = wrong) in the same place. Fit on one split and
apply to another (:func:`split_rows`), or predict every row from the other folds
(:func:`cross_calibrate`): a calibrator that is measured on its own rows looks perfect.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import (
    Floats,
    Result,
    as_result,
    block_starts,
    cluster_codes,
    count_codes,
    divide,
    newton,
    weight_rows,
)
from sayso.records import InputError

__all__ = [
    "CALIBRATORS", "PROBABILITY_METRICS", "Isotonic", "Platt", "brier", "brier_decomposition",
    "cross_calibrate", "ece", "ece_debiased", "fit_isotonic", "fit_platt", "split_rows",
]  # fmt: skip

Binning = Literal["width", "mass"]


class _Binned(NamedTuple):
    mass: Floats  # (B, bins)
    confidence: Floats  # mean per bin, NaN in empty bins
    accuracy: Floats
    single: bool


def _checked(
    confidence: ArrayLike, correct: ArrayLike, weights: ArrayLike | None
) -> tuple[Floats, Floats, Floats, bool]:
    """Rows with both numbers, their weights (B, n), and whether B was given."""
    p, y = np.asarray(confidence, dtype=np.float64), np.asarray(correct, dtype=np.float64)
    if p.shape != y.shape or p.ndim != 1:
        raise InputError(
            f"confidences and outcomes must be rows of one length, got {p.shape} and {y.shape}"
        )
    use = ~(np.isnan(p) | np.isnan(y))
    W, single = weight_rows(weights, len(p))
    p, y, W = p[use], y[use], W[:, use]
    if ((p < 0) | (p > 1)).any():
        raise InputError(
            "confidences must be probabilities of being correct, 0..1: calibrate a score first "
            "(fit_isotonic, fit_platt)"
        )
    if not np.isin(y, (0.0, 1.0)).all():
        raise InputError("outcomes must be 1 (correct), 0 (incorrect) or NaN (not known)")
    return p, y, W, single


def bin_index(
    confidence: ArrayLike, bins: int = 10, binning: Binning = "width"
) -> NDArray[np.int64]:
    """Return the bin, 0..bins-1, of each confidence (no NaN).

    ``width``: (lo, hi] of equal width, 0 in the first (Guo et al. 2017). ``mass``: cut at the
    quantiles of these confidences, equal values together, so some bins may stay empty.
    """
    if bins < 1:
        raise InputError(f"bins: got {bins}, expected at least 1")
    p = np.asarray(confidence, dtype=np.float64)
    if binning == "width":
        # 0.28 * 25 is a hair above 7: the edge itself belongs to the bin below.
        return np.asarray(np.clip(np.ceil(p * bins - 1e-9) - 1, 0, bins - 1), dtype=np.int64)
    if binning != "mass":
        raise InputError(f"binning: got {binning!r}, expected 'width' or 'mass'")
    edges = np.quantile(p, np.arange(1, bins) / bins) if len(p) else np.zeros(0)
    return np.asarray(np.searchsorted(edges, p, side="left"), dtype=np.int64)


def _binned(
    confidence: ArrayLike,
    correct: ArrayLike,
    bins: int,
    binning: Binning,
    weights: ArrayLike | None,
) -> _Binned:
    p, y, W, single = _checked(confidence, correct, weights)
    member = (bin_index(p, bins, binning)[:, None] == np.arange(bins)).astype(np.float64)
    mass = W @ member
    return _Binned(mass, divide((W * p) @ member, mass), divide((W * y) @ member, mass), single)


def ece(
    confidence: ArrayLike,
    correct: ArrayLike,
    bins: int = 10,
    weights: ArrayLike | None = None,
    binning: Binning = "width",
) -> Result:
    """Return the expected calibration error, 0..1, lower = better.

    sum over bins of (share in bin) |accuracy - mean confidence| (Naeini et al. 2015; Guo et al.
    2017, Equation 3). Biased upwards with few rows per bin: see :func:`ece_debiased`.
    """
    binned = _binned(confidence, correct, bins, binning, weights)
    gap = np.nan_to_num(np.abs(binned.accuracy - binned.confidence))
    return as_result(
        divide((binned.mass * gap).sum(axis=1), binned.mass.sum(axis=1)), binned.single
    )


def ece_debiased(
    confidence: ArrayLike,
    correct: ArrayLike,
    bins: int = 10,
    weights: ArrayLike | None = None,
    binning: Binning = "width",
) -> Result:
    """Return the calibration error less an estimate of what chance adds to it; may fall below 0.

    Kumar et al. 2019, section 5 (the L1 form): a bin's accuracy a of n rows varies like
    N(a, a(1-a)/n), so its gap d = a - c is expected at E|N(d, s)| = s sqrt(2/pi) exp(-d^2/2s^2) +
    d erf(d/(s sqrt 2)); twice |d| less that removes about the excess, though not all of it where
    gaps are as small as their noise. Weights count rows.
    """
    binned = _binned(confidence, correct, bins, binning, weights)
    gap = np.nan_to_num(binned.accuracy - binned.confidence)
    variance = np.nan_to_num(divide(binned.accuracy * (1 - binned.accuracy), binned.mass))
    s = np.sqrt(np.maximum(variance, 0))
    ratio = np.divide(gap, s, out=np.full(gap.shape, np.inf), where=s > 0)
    erf = np.array([math.erf(r / math.sqrt(2)) for r in ratio.reshape(-1)]).reshape(gap.shape)
    folded = s * math.sqrt(2 / math.pi) * np.exp(-(ratio**2) / 2) + gap * erf
    folded = np.where(s > 0, folded, np.abs(gap))
    value = (binned.mass * (2 * np.abs(gap) - folded)).sum(axis=1)
    return as_result(divide(value, binned.mass.sum(axis=1)), binned.single)


def brier(confidence: ArrayLike, correct: ArrayLike, weights: ArrayLike | None = None) -> Result:
    """Return the Brier score, the mean of (confidence - correct)^2, 0..1, lower = better.

    Brier 1950. Always saying the accuracy a gets a(1-a).
    """
    p, y, W, single = _checked(confidence, correct, weights)
    return as_result(divide(W @ (p - y) ** 2, W.sum(axis=1)), single)


class BrierParts(NamedTuple):
    """brier = reliability - resolution + uncertainty + within_variance - within_covariance.

    ``reliability`` (lower = better calibrated), ``resolution`` (higher = tells cases apart),
    ``uncertainty`` a(1-a) of the outcomes, and what binning leaves: the variance of confidence
    inside bins and twice its covariance with the outcome there. All floats, ``None`` without rows.
    """

    brier: float | None
    reliability: float | None
    resolution: float | None
    uncertainty: float | None
    within_variance: float | None
    within_covariance: float | None


def brier_decomposition(
    confidence: ArrayLike,
    correct: ArrayLike,
    bins: int | None = 10,
    weights: ArrayLike | None = None,
) -> BrierParts:
    """Return Murphy's decomposition with Stephenson's two terms, exact for any binning.

    Murphy 1973; Stephenson, Coelho and Jolliffe 2008. ``bins=None``: one bin for each distinct
    confidence (then both within terms are 0). ``weights`` (n,).
    """
    p, y, W, single = _checked(confidence, correct, weights)
    if not single:
        raise InputError("brier_decomposition splits one number: weights must have shape (n,)")
    w = W[0]
    total = float(w.sum())
    if total <= 0:
        return BrierParts(None, None, None, None, None, None)
    group = np.unique(p, return_inverse=True)[1] if bins is None else bin_index(p, bins)
    size = int(group.max()) + 1
    mass = np.bincount(group, w, size)
    mean_p = np.nan_to_num(divide(np.bincount(group, w * p, size), mass))
    mean_y = np.nan_to_num(divide(np.bincount(group, w * y, size), mass))
    base = float((w * y).sum()) / total
    off = p - mean_p[group]
    return BrierParts(
        brier=float((w * (p - y) ** 2).sum()) / total,
        reliability=float((mass * (mean_p - mean_y) ** 2).sum()) / total,
        resolution=float((mass * (mean_y - base) ** 2).sum()) / total,
        uncertainty=base * (1 - base),
        within_variance=float((w * off**2).sum()) / total,
        within_covariance=2 * float((w * off * (y - mean_y[group])).sum()) / total,
    )


# ---- calibrators

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
    uncertainty: ArrayLike, *, correct: ArrayLike, weights: ArrayLike | None = None
) -> Isotonic:
    """Return the falling function of the score nearest to the outcomes (least squares).

    ``correct`` (n,): 1 = right, 0 = wrong, the opposite of what ranking metrics take.
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
    uncertainty: ArrayLike, *, correct: ArrayLike, weights: ArrayLike | None = None
) -> Platt:
    """Return Platt's sigmoid of the score, by Newton's method with step halving.

    ``correct`` (n,): 1 = right, 0 = wrong, the opposite of what ranking metrics take.
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

    def slopes(t: Floats) -> tuple[Floats, Floats]:
        p = 1 / (1 + np.exp(X @ t))
        hessian = (X * (w * p * (1 - p))[:, None]).T @ X + 1e-12 * np.eye(len(t))
        return X.T @ (w * (target - p)), hessian

    size = max(1.0, float(w.sum()))
    theta, converged = newton(theta, loss, slopes, (1e-9 * size, 1e-6 * size), 100)
    slope = float(theta[0]) if spread else 0.0
    return Platt(slope, float(theta[-1]), center, scale if spread else 1.0, converged, len(score))


#: Calibrators by name: fit(uncertainty, correct=..., weights=None) -> callable on scores.
CALIBRATORS: dict[str, Callable[..., Calibrator]] = {"isotonic": fit_isotonic, "platt": fit_platt}


def split_rows(
    n: int, share: float, rng: np.random.Generator, clusters: ArrayLike | None = None
) -> NDArray[np.bool_]:
    """Return a mask (n,) of rows to fit on: about ``share`` of the clusters, none of them cut."""
    unit = cluster_codes(clusters, n)
    count = count_codes(unit)
    chosen = rng.permutation(count) < round(share * count)
    return np.asarray(chosen[unit], dtype=np.bool_)


def fold_rows(
    n: int, folds: int, rng: np.random.Generator, clusters: ArrayLike | None = None
) -> NDArray[np.int64]:
    """Return the fold, 0..folds-1, of each row; rows of one cluster share a fold."""
    unit = cluster_codes(clusters, n)
    count = count_codes(unit)
    if folds < 2 or folds > count:
        raise InputError(f"folds: got {folds} for {count} clusters, expected 2 to {count}")
    return np.asarray((rng.permutation(count) % folds)[unit], dtype=np.int64)


def cross_calibrate(
    uncertainty: ArrayLike,
    *,
    correct: ArrayLike,
    rng: np.random.Generator,
    kind: CalibratorKind = "isotonic",
    folds: int = 5,
    clusters: ArrayLike | None = None,
) -> Floats:
    """Return P(correct) of each row (n,) from a calibrator fitted on the other folds.

    ``correct`` (n,): 1 = right, 0 = wrong, the opposite of what ranking metrics take. The result is
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
            result[out] = CALIBRATORS[kind](score[fit], correct=y[fit])(score[out])
    return result


#: Metrics of stated probabilities: metric(confidence, correct, weights=None).
PROBABILITY_METRICS: dict[str, Callable[..., Any]] = {
    "ece": ece,
    "ece_debiased": ece_debiased,
    "brier": brier,
}

"""Do stated probabilities hold? For scores that are probabilities of being correct.

``confidence`` (n,) in 0..1 (NaN drops the row), ``correct`` (n,) 1 = right, 0 = wrong. All take
``weights`` as in :mod:`sayso.metrics.risk`; one class alone is no obstacle.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.ranks import weight_rows
from sayso.metrics.rates import Floats, divide, or_none
from sayso.records import InputError

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
        # 0.3 * 10 is a hair above 3: the edge itself belongs to the bin below.
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


def _result(values: Floats, single: bool) -> float | Floats | None:
    return or_none(values[0]) if single else values


def ece(
    confidence: ArrayLike,
    correct: ArrayLike,
    bins: int = 10,
    weights: ArrayLike | None = None,
    binning: Binning = "width",
) -> float | Floats | None:
    """Return the expected calibration error, 0..1, lower = better.

    sum over bins of (share in bin) |accuracy - mean confidence| (Naeini et al. 2015; Guo et al.
    2017, Equation 3). Biased upwards with few rows per bin: see :func:`ece_debiased`.
    """
    found = _binned(confidence, correct, bins, binning, weights)
    gap = np.nan_to_num(np.abs(found.accuracy - found.confidence))
    return _result(divide((found.mass * gap).sum(axis=1), found.mass.sum(axis=1)), found.single)


def ece_debiased(
    confidence: ArrayLike,
    correct: ArrayLike,
    bins: int = 10,
    weights: ArrayLike | None = None,
    binning: Binning = "width",
) -> float | Floats | None:
    """Return the calibration error less an estimate of what chance adds to it; may fall below 0.

    Kumar et al. 2019, section 5 (the L1 form): a bin's accuracy a of n rows varies like
    N(a, a(1-a)/n), so its gap d = a - c is expected at E|N(d, s)| = s sqrt(2/pi) exp(-d^2/2s^2) +
    d erf(d/(s sqrt 2)); twice |d| less that removes about the excess, though not all of it where
    gaps are as small as their noise. Weights count rows.
    """
    found = _binned(confidence, correct, bins, binning, weights)
    gap = np.nan_to_num(found.accuracy - found.confidence)
    variance = np.nan_to_num(divide(found.accuracy * (1 - found.accuracy), found.mass))
    s = np.sqrt(np.maximum(variance, 0))
    ratio = np.divide(gap, s, out=np.full(gap.shape, np.inf), where=s > 0)
    erf = np.array([math.erf(r / math.sqrt(2)) for r in ratio.reshape(-1)]).reshape(gap.shape)
    folded = s * math.sqrt(2 / math.pi) * np.exp(-(ratio**2) / 2) + gap * erf
    folded = np.where(s > 0, folded, np.abs(gap))
    value = (found.mass * (2 * np.abs(gap) - folded)).sum(axis=1)
    return _result(divide(value, found.mass.sum(axis=1)), found.single)


def brier(
    confidence: ArrayLike, correct: ArrayLike, weights: ArrayLike | None = None
) -> float | Floats | None:
    """Return the Brier score, the mean of (confidence - correct)^2, 0..1, lower = better.

    Brier 1950. Always saying the accuracy a gets a(1-a).
    """
    p, y, W, single = _checked(confidence, correct, weights)
    return _result(divide(W @ (p - y) ** 2, W.sum(axis=1)), single)


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

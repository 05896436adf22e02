"""Does a model sound as sure as it is? Decisiveness against intrinsic confidence.

Yona, Aharoni and Geva, arXiv 2405.16908 (PROTOCOLS 2.B). ``decisiveness`` (n,) 0..1 is what the
words say, ``agreeing`` (n,) counts the samples, of ``k``, that do not contradict; their ratio is
the confidence. Counts are binned as integers: the float 1 - x/20 falls off its bin's edge. NaN
decisiveness (a punt, a missing verdict) and k = 0 drop the row; nothing defaults to 0.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sayso.metrics.ranks import weight_rows
from sayso.metrics.rates import Floats, divide, or_none
from sayso.records import InputError

Punt = Literal["exclude", "dec0"]
Result = float | Floats | None


def confidence(contradictions: int, k: int) -> float | None:
    """Return 1 - contradictions / k, 0..1 (Equation 2); ``None`` without samples."""
    if k < 0 or not 0 <= contradictions <= k:
        raise InputError(f"{contradictions} contradictions of {k} samples: expected 0..k")
    return None if k == 0 else 1 - contradictions / k


def faithfulness(decisiveness: ArrayLike, confidence: ArrayLike) -> float | None:
    """Return 1 - mean over an answer's assertions of |decisiveness - confidence| (Definition 1).

    Assertions with a NaN on either side are left out; ``None`` when none is left (a punt).
    """
    d, c = shares(decisiveness, "decisiveness"), shares(confidence, "confidence")
    if d.shape != c.shape:
        raise InputError(f"one confidence for each assertion, got {d.shape} and {c.shape}")
    gap = np.abs(d - c)
    gap = gap[~np.isnan(gap)]
    return float(1 - gap.mean()) if gap.size else None


def mfg(faithfulness: ArrayLike, weights: ArrayLike | None = None) -> Result:
    """Return MFG, the mean faithfulness of the answers that assert something (NaN: left out)."""
    return _mean(shares(faithfulness, "faithfulness"), weights)


def over_claim(
    decisiveness: ArrayLike, confidence: ArrayLike, weights: ArrayLike | None = None
) -> Result:
    """Return the mean of max(decisiveness - confidence, 0): how far words exceed knowledge."""
    d, c = shares(decisiveness, "decisiveness"), shares(confidence, "confidence")
    return _mean(np.where(np.isnan(d - c), np.nan, np.maximum(d - c, 0)), weights)


def over_hedge(
    decisiveness: ArrayLike, confidence: ArrayLike, weights: ArrayLike | None = None
) -> Result:
    """Return the mean of max(confidence - decisiveness, 0): how far knowledge exceeds words."""
    return over_claim(1 - np.asarray(decisiveness), 1 - np.asarray(confidence), weights)


def with_punts(decisiveness: ArrayLike, punted: ArrayLike, punt: Punt = "exclude") -> Floats:
    """Return decisiveness with punted rows as NaN (``exclude``) or as 0 (``dec0``).

    ``dec0`` reads "I don't know" as no claim at all, so that it costs the confidence withheld.
    """
    if punt not in ("exclude", "dec0"):
        raise InputError(f"punt: got {punt!r}, expected 'exclude' or 'dec0'")
    d = shares(decisiveness, "decisiveness").copy()
    d[np.asarray(punted, dtype=bool)] = np.nan if punt == "exclude" else 0.0
    return d


def as_result(values: Floats, single: bool) -> Result:
    """Return (B,) values in the shape that the weights ask for."""
    return or_none(values[0]) if single else values


def shares(values: ArrayLike, name: str) -> Floats:
    """Values as floats; anything outside 0..1 is a mistake (a judge's -1 must not be averaged)."""
    found = np.asarray(values, dtype=np.float64)
    if ((found < -1e-12) | (found > 1 + 1e-12)).any():
        raise InputError(f"{name} must lie in 0..1 or be NaN (missing)")
    return found


def _mean(values: Floats, weights: ArrayLike | None) -> Result:
    if values.ndim != 1:
        raise InputError(f"expected one row for each answer, got shape {values.shape}")
    W, single = weight_rows(weights, len(values))
    keep = ~np.isnan(values)
    return as_result(divide(W[:, keep] @ values[keep], W[:, keep].sum(axis=1)), single)

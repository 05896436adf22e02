"""What the rank metrics share: one sort, tie blocks, and weighted sums over them.

A score is sorted once; every resample is then a row of weights summed over the tie blocks, so that
2,000 resamples cost one sort and a few passes. Ties are never broken by row order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.rates import Floats, or_none
from sayso.metrics.roc import block_starts
from sayso.records import InputError


class Blocks(NamedTuple):
    """Tie blocks of one score, most certain first.

    ``value`` (m,) the score of each block; ``mass`` (B, m) the weight in it; ``loss`` (B, m) the
    weight times ``incorrect`` in it. ``single`` is True when the caller gave no (B, n) weights.
    """

    value: Floats
    mass: Floats
    loss: Floats
    single: bool

    def result(self, values: Floats) -> float | Floats | None:
        """Return (B,) values in the shape that the caller's weights ask for."""
        return or_none(values[0]) if self.single else np.asarray(values, dtype=np.float64)


def weight_rows(weights: ArrayLike | None, n: int) -> tuple[Floats, bool]:
    """Return weights as (B, n), and whether they were (n,) or missing (then B = 1)."""
    W = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    if W.ndim not in (1, 2) or W.shape[-1] != n:
        raise InputError(f"weights must have shape ({n},) or (B, {n}), got {W.shape}")
    return np.atleast_2d(W), W.ndim == 1


def tie_blocks(
    uncertainty: ArrayLike,
    incorrect: ArrayLike,
    weights: ArrayLike | None = None,
    binary: bool = True,
) -> Blocks:
    """Sort by score and sum weights over ties; rows whose score or class is NaN are dropped.

    ``incorrect`` is 1 = wrong, 0 = right, or, unless ``binary``, a loss 0..1. Infinite scores are
    ordered like any other. Raises :class:`InputError` for values outside.
    """
    score = np.asarray(uncertainty, dtype=np.float64)
    loss = np.asarray(incorrect, dtype=np.float64)
    if score.shape != loss.shape or score.ndim != 1:
        raise InputError(
            f"scores and classes must be rows of one length, got {score.shape} and {loss.shape}"
        )
    known = loss[~np.isnan(loss)]
    if binary and not np.isin(known, (0.0, 1.0)).all():
        raise InputError("classes must be 1 (incorrect), 0 (correct) or NaN (not known)")
    if ((known < 0) | (known > 1)).any():
        raise InputError("losses must lie in 0..1 or be NaN (not known)")
    W, single = weight_rows(weights, len(score))
    use = np.flatnonzero(~(np.isnan(score) | np.isnan(loss)))
    if len(use) == 0:
        empty: Floats = np.zeros((len(W), 0))
        return Blocks(np.zeros(0), empty, empty, single)
    order = use[np.argsort(score[use], kind="stable")]
    starts = block_starts(score[order])
    inside = W[:, order]
    mass = np.add.reduceat(inside, starts, axis=1)
    lost = np.add.reduceat(inside * loss[order], starts, axis=1)
    return Blocks(score[order][starts], mass, lost, single)


def mid_ranks(values: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Return the weighted share below each value plus half the share at it, 0..1.

    (n,), or (B, n) for weights (B, n). NaN for NaN values, which take no part, and for rows
    without weight.
    """
    x = np.asarray(values, dtype=np.float64)
    W, single = weight_rows(weights, len(x))
    ranks: Floats = np.full(W.shape, np.nan)
    use = np.flatnonzero(~np.isnan(x))
    if len(use):
        order = use[np.argsort(x[use], kind="stable")]
        starts = block_starts(x[order])
        mass = np.add.reduceat(W[:, order], starts, axis=1)
        total = mass.sum(axis=1, keepdims=True)
        middle = np.cumsum(mass, axis=1) - mass / 2
        share = np.divide(middle, total, out=np.full(middle.shape, np.nan), where=total > 0)
        sizes = np.diff(np.append(starts, len(order)))
        ranks[:, order] = np.repeat(share, sizes, axis=1)
    return ranks[0] if single else ranks


def spearman(
    first: ArrayLike, second: ArrayLike, weights: ArrayLike | None = None
) -> float | Floats | None:
    """Return Spearman's rank correlation, -1..1, with mid-ranks for ties.

    Rows with a NaN on either side are dropped. ``weights`` (n,), or (B, n) and then (B,).
    ``None`` (NaN) without rows or when one side is constant.
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.shape != y.shape:
        raise InputError(f"a correlation needs rows of one length, got {x.shape} and {y.shape}")
    W, single = weight_rows(weights, len(x))
    both = ~(np.isnan(x) | np.isnan(y))
    x, y, W = x[both], y[both], W[:, both]
    value: Floats = np.full(len(W), np.nan)
    total = W.sum(axis=1)
    some = total > 0
    if both.any() and some.any():
        V = W[some] / total[some, None]
        # Mid-ranks of a share have the weighted mean 1/2 whatever the ties.
        p, q = mid_ranks(x, W[some]) - 0.5, mid_ranks(y, W[some]) - 0.5
        spread = (V * p * p).sum(axis=1) * (V * q * q).sum(axis=1)
        top = (V * p * q).sum(axis=1)
        value[some] = np.divide(
            top, np.sqrt(spread), out=np.full(len(top), np.nan), where=spread > 1e-24
        )
    return or_none(value[0]) if single else value


def harmonic(x: ArrayLike) -> Floats:
    """Return the harmonic numbers H(x) for real x >= 0: 1 + 1/2 + ... + 1/x for integers.

    H(x) = H(x+12) - sum_{i=1..12} 1/(x+i), and Euler's expansion of H above (error < 1e-12).
    """
    number = np.asarray(x, dtype=np.float64)
    top = number + 12
    square = top * top
    tail = 1 / (12 * square) - 1 / (120 * square**2) + 1 / (252 * square**3) - 1 / (240 * square**4)
    value = np.log(top) + np.euler_gamma + 1 / (2 * top) - tail
    for i in range(1, 13):
        value = value - 1 / (number + i)
    return np.asarray(value, dtype=np.float64)


def steps(blocks: Blocks) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return cumulated mass and loss up to and including each block, (B, m) each."""
    return np.cumsum(blocks.mass, axis=1), np.cumsum(blocks.loss, axis=1)

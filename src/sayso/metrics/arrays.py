"""Arithmetic that the metrics share: undefined values, labels as numbers, rows of weights.

Weights are (n,), or (B, n) for B resamples at once. A metric of (n,) weights is a float, ``None``
where it is undefined; of (B, n) weights an array (B,), NaN where it is undefined.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.records import InputError

Floats = NDArray[np.float64]
Result = float | Floats | None


def divide(numerator: ArrayLike, denominator: ArrayLike) -> Floats:
    """Return numerator / denominator elementwise, NaN (and no warning) where it is 0."""
    top, bottom = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    )
    out: Floats = np.full(top.shape, np.nan)
    np.divide(top, bottom, out=out, where=bottom != 0)
    return out


def rounded(values: ArrayLike) -> Floats:
    """Return numbers that are 1 at most, without the rounding that lifts a perfect one above 1."""
    number = np.asarray(values, dtype=np.float64)
    return np.where((number > 1) & (number < 1 + 1e-9), 1.0, number)


def or_none(value: ArrayLike) -> float | None:
    """Return one number as a float, ``None`` for NaN: undefined, outside of arrays."""
    number = float(np.asarray(value, dtype=np.float64))
    return None if np.isnan(number) else number


def weight_rows(weights: ArrayLike | None, n: int) -> tuple[Floats, bool]:
    """Return weights as (B, n), and whether they were (n,) or missing (then B = 1)."""
    W = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    if W.ndim not in (1, 2) or W.shape[-1] != n:
        raise InputError(f"weights must have shape ({n},) or (B, {n}), got {W.shape}")
    return np.atleast_2d(W), W.ndim == 1


def newton(
    theta: Floats,
    loss: Callable[[Floats], float],
    slopes: Callable[[Floats], tuple[Floats, Floats]],
    flat: tuple[float, float],
    most: int,
) -> tuple[Floats, bool]:
    """Return where a loss is least by Newton's method with step halving, and if it converged.

    ``slopes`` are gradient and Hessian. A gradient below the first of ``flat`` has converged; one
    below the second has, where no shorter step helps. At most ``most`` steps are taken.
    """
    value = loss(theta)
    for _ in range(most):
        gradient, hessian = slopes(theta)
        if np.abs(gradient).max() < flat[0]:
            return theta, True
        step = np.linalg.solve(hessian, gradient)
        length = 1.0
        while length > 1e-10 and loss(theta - length * step) > value:
            length /= 2
        if length <= 1e-10:
            return theta, bool(np.abs(gradient).max() < flat[1])
        theta = theta - length * step
        value = loss(theta)
    return theta, False


def whole_counts(weights: Floats) -> NDArray[np.uint8] | Floats:
    """Return weights as small whole numbers where they are such: a resample's mostly are."""
    with np.errstate(invalid="ignore"):
        counts = weights.astype(np.uint8)
    return counts if (counts == weights).all() else weights


def as_result(values: Floats, single: bool) -> Result:
    """Return (B,) values of :func:`weight_rows`; their only one where the weights were single."""
    return or_none(values[0]) if single else values


def float_or_rows(values: Floats) -> Result:
    """Return values () as a float, ``None`` for NaN; values (B,) as they are."""
    return or_none(values) if np.ndim(values) == 0 else values


def codes(labels: ArrayLike) -> NDArray[np.int64]:
    """Return integers 0..T-1 for labels of any kind, in sorted order of the labels."""
    given = np.asarray(labels)
    if given.dtype == np.int64 and given.ndim == 1 and _are_codes(given):
        return given.copy()
    return np.unique(np.asarray(labels), return_inverse=True)[1].reshape(-1).astype(np.int64)


def _are_codes(numbers: NDArray[np.int64]) -> bool:
    """Tell whether numbers are 0..T-1, each of them there: a row number is its own code."""
    if not len(numbers) or numbers.min() != 0 or numbers.max() >= len(numbers):
        return False
    return bool(np.bincount(numbers).all())


def count_codes(code: NDArray[np.int64]) -> int:
    """Return T, how many different labels :func:`codes` numbered; 0 without rows."""
    return int(code.max()) + 1 if len(code) else 0


def cluster_codes(clusters: ArrayLike | None, n: int) -> NDArray[np.int64]:
    """Return the number of each row's cluster, (n,); without clusters each row is its own."""
    return np.arange(n) if clusters is None else codes(clusters)


def block_starts(*keys: NDArray[np.generic]) -> NDArray[np.int64]:
    """Return where runs of equal keys start in arrays that are already sorted by them."""
    change = np.zeros(len(keys[0]), dtype=bool)
    change[:1] = True
    for key in keys:
        change[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(change)


def cumulative_before(values: Floats, starts: NDArray[np.int64]) -> Floats:
    """Return, per column, the sum of the columns before it in its group; rows independent.

    ``values`` (B, m); ``starts`` the columns at which groups start.
    """
    before = np.cumsum(values, axis=1) - values
    sizes = np.diff(np.append(starts, values.shape[1]))
    return np.asarray(before - np.repeat(before[:, starts], sizes, axis=1), dtype=np.float64)

"""How far two labelings of the same things agree: shares of the table, and Cohen's kappa."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from sayso.metrics.rates import Floats, divide, or_none
from sayso.metrics.roc import codes
from sayso.records import InputError


def alignment(
    matrix: Sequence[Sequence[float]] | Floats,
) -> dict[str, float | list[list[float]] | None]:
    """Return shares and kappa of a 2x2 table: rows the short form, columns the long form.

    UNCLE, section 7.1: rows and columns certain / uncertain (certain = labeled correct or
    incorrect); the released notebook has S / NS instead, on the pairs where both are committed.
    Keys: ``normalised`` (the table over its sum), ``retained`` (the number of pairs),
    ``micro_short_retained`` and ``micro_long_retained`` (share of the first row and of the first
    column), ``cohen_kappa``. ``None`` where undefined, e.g. all of an empty table's shares.
    """
    table = np.asarray(matrix, dtype=np.float64)
    if table.shape != (2, 2):
        raise InputError(f"alignment needs a 2x2 matrix, got shape {table.shape}")
    total = float(table.sum())
    share = divide(table, total)
    return {
        "normalised": None if total == 0 else [[float(x) for x in row] for row in share],
        "retained": total,
        "micro_short_retained": or_none(share[0].sum()),
        "micro_long_retained": or_none(share[:, 0].sum()),
        "cohen_kappa": or_none(kappa_of_table(table)),
    }


def kappa_of_table(table: ArrayLike) -> Floats:
    """Return Cohen's kappa of square tables (..., m, m): (po - pe) / (1 - pe); NaN if pe = 1."""
    counts = np.asarray(table, dtype=np.float64)
    total = counts.sum(axis=(-2, -1))
    observed = divide(np.trace(counts, axis1=-2, axis2=-1), total)
    expected = divide((counts.sum(axis=-1) * counts.sum(axis=-2)).sum(axis=-1), total**2)
    return divide(observed - expected, 1 - expected)


def crosstab(first: ArrayLike, second: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Return the table of two labelings over the union of their labels, in sorted order.

    (m, m), or (B, m, m) for weights (B, n). Labels of any sortable kind.
    """
    one, two = np.asarray(first), np.asarray(second)
    joint = codes(np.concatenate([one, two]))
    size = int(joint.max()) + 1 if len(joint) else 0
    slot = joint[: len(one)] * size + joint[len(one) :]
    member = (slot[:, None] == np.arange(size * size)).astype(np.float64)
    W = np.ones(len(one)) if weights is None else np.asarray(weights, dtype=np.float64)
    return np.asarray((W @ member).reshape(*W.shape[:-1], size, size), dtype=np.float64)


def kappa(
    first: ArrayLike, second: ArrayLike, weights: ArrayLike | None = None
) -> float | Floats | None:
    """Return Cohen's kappa of two labelings of the same n things (Cohen 1960).

    ``weights`` (n,), or (B, n) and then (B,). ``None`` (NaN) without rows, or when both use one
    and the same label throughout (expected agreement 1).
    """
    value = kappa_of_table(crosstab(first, second, weights))
    return or_none(value) if value.ndim == 0 else value


def agreement(
    first: ArrayLike, second: ArrayLike, weights: ArrayLike | None = None
) -> float | Floats | None:
    """Return the share of things given the same label; shapes as in :func:`kappa`."""
    table = crosstab(first, second, weights)
    value = divide(np.trace(table, axis1=-2, axis2=-1), table.sum(axis=(-2, -1)))
    return or_none(value) if value.ndim == 0 else value

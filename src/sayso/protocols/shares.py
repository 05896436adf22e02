"""A share of rows: the family of numbers that the protocols have in common."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sayso.metrics.arrays import Floats, divide
from sayso.metrics.intervals import share_of_counts
from sayso.protocols.declared import Ints, Sums
from sayso.records import Estimate


def share_of_rows(name: str) -> Sums:
    """Return the family of one number: ones / rows that count, of the column :func:`ones`.

    ``None`` where no row counts; interval: :func:`sayso.metrics.intervals.share_of_counts`.
    """

    def of(sums: Floats) -> dict[str, Floats]:
        return {name: divide(sums[..., 1], sums.sum(axis=-1))}

    def own(sums: Floats, n: int, seed: int) -> dict[str, Estimate]:
        counts = np.stack([sums[:, 1], sums.sum(axis=1)], axis=1)
        return {name: share_of_counts(name, counts, n, seed)}

    return Sums(of, 2, own, shares=(name,))


def ones(hit: ArrayLike, of: ArrayLike) -> Ints:
    """Return the column of a share, (n,): 1 for a ``hit``, 0 for another row ``of`` it, else -1."""
    return np.where(np.asarray(of, dtype=bool), np.asarray(hit, dtype=bool), -1).astype(np.int64)

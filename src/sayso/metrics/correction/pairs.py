"""AUROC of the jackknife's replicates, from sums over pairs of rows that are made once.

The weight of a row in a replicate is its own weight times a factor of its *part* (the judge on all
rows; per stratum people on labels, and the judge on labels), and 0 if its group left. So the sum
over pairs of a wrong and a right row is bilinear in the parts, and without group g it is

    S(q, r) - S(q in g, r) - S(q, r in g) + S(q in g, r in g)

for the parts q of the wrong and r of the right row. Two sorts give all of them, whatever the number
of replicates and for every power.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sayso.metrics.arrays import Floats, block_starts, cumulative_before, divide

#: The share of all pairs below which what is left without a group is rounding.
ROUNDING = 1e-12


class PairRows(NamedTuple):
    """Rows with a score, 1 if wrong and 0 if right, a type, and a weight; their part and group."""

    score: Floats
    wrong: Floats
    kind: NDArray[np.int64]
    weight: Floats
    part: NDArray[np.int64]
    group: NDArray[np.int64]

    def sorted_by(self, *keys: NDArray[Any]) -> _Order:
        """Return the order of the rows by ``keys``, first to last, then by score."""
        order = np.lexsort((self.score, *reversed(keys)))
        within = tuple(key[order] for key in keys)
        ties, starts = block_starts(*within, self.score[order]), block_starts(*within)
        return _Order(order, ties, np.searchsorted(ties, starts))


class _Order(NamedTuple):
    """Rows in order; where blocks of ties start, and at which of these a stretch does."""

    rows: NDArray[np.int64]
    ties: NDArray[np.int64]
    first: NDArray[np.int64]

    def below(self, values: Floats) -> tuple[Floats, Floats]:
        """Return, per row, the sum of values below it in its stretch, half of ties; and of all."""
        block = np.add.reduceat(values[self.rows], self.ties)
        under = cumulative_before(block[None], self.first)[0] + block / 2
        sizes = np.diff(np.append(self.first, len(block)))
        whole = np.repeat(np.add.reduceat(block, self.first), sizes)
        spread = np.diff(np.append(self.ties, len(self.rows)))
        found = np.empty((2, len(self.rows)))
        found[0, self.rows], found[1, self.rows] = (
            np.repeat(under, spread),
            np.repeat(whole, spread),
        )
        return found[0], found[1]


class PairSums(NamedTuple):
    """Sums over pairs of a wrong and a right row of a type, (1+G, Q, Q) by their parts.

    ``ordered``: pairs in which the wrong row has the higher score, half of ties; ``all``: every
    pair. First of all rows, then without each group.
    """

    ordered: Floats
    all: Floats

    def auroc(self, factors: Floats) -> Floats:
        """Return the AUROC (1+G,) for a factor of each part (1+G, Q); NaN where undefined."""
        top, bottom = (
            np.einsum("gq,gqr,gr->g", factors, sums, factors) for sums in (self.ordered, self.all)
        )
        return divide(top, bottom)


def pair_sums(rows: PairRows, groups: int, parts: int) -> PairSums:
    """Return the sums of ``rows``, ``groups`` and ``parts`` being how many there are."""
    # a row without score or verdict weighs nothing
    use = ~(np.isnan(rows.score) | np.isnan(rows.wrong))
    score, wrong, weight = (np.where(use, x, 0.0) for x in (rows.score, rows.wrong, rows.weight))
    rows = rows._replace(score=score, wrong=wrong, weight=weight)
    sums = np.zeros((2, 1 + groups, parts, parts))
    if not len(rows.score):
        return PairSums(*sums)
    bad, good = rows.weight * rows.wrong, rows.weight * (1 - rows.wrong)
    slot = rows.group * parts + rows.part

    def by_group(values: Floats) -> Floats:
        found = np.bincount(slot, values, groups * parts).reshape(groups, parts)
        return np.asarray(found, dtype=np.float64)

    whole, inside = rows.sorted_by(rows.kind), rows.sorted_by(rows.group, rows.kind)
    for part in range(parts):
        here = rows.part == part
        for at, found in enumerate(whole.below(good * here)):
            lost = by_group(bad * found)
            sums[at, 0, :, part] = lost.sum(axis=0)
            sums[at, 1:, :, part] -= lost
        under, every = whole.below(bad * here)
        for at, found in enumerate((every - under, every)):
            sums[at, 1:, part, :] -= by_group(good * found)
        for at, found in enumerate(inside.below(good * here)):
            sums[at, 1:, :, part] += by_group(bad * found)
    sums[:, 1:] += sums[:, :1]
    sums[:, sums[1] <= ROUNDING * sums[1, :1]] = 0.0
    return PairSums(*sums)

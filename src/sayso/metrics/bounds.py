"""How far each rate could move if the missing verdicts were known (refusal 3 of the design).

A missing verdict has no default. Instead the lowest and the highest value of each rate over *all*
assignments of correct / incorrect / uncertain to the missing verdicts are given, exactly.

Why the corners are enough. Say m_known known and m_unknown unknown aspects lack a verdict. An
assignment adds (x_c, x_i, x_u), summing to m_known, to the known row and (y_c, y_i, y_u), summing
to m_unknown, to the unknown row: a point of a product of two simplices with nine vertices, at
each of which every group goes to one label as a whole. A plain ratio is N/D with N and D
linear, 0 <= N <= D. Write an assignment as a convex combination of the vertices: N/D of it is a
mediant of the N/D of the vertices, i.e. lies between their smallest and their largest; a vertex
with D = 0 also has N = 0 and adds to neither. So the extremes over all assignments for which the
rate is defined are attained at the vertices for which it is defined. J, balanced_EA and lift_UA
have fixed p_known and fixed row totals, hence are themselves linear or such a ratio.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.rates import RATIOS, Floats, cell_rates

Bound = tuple[float | None, float | None]


def rate_bounds(
    cells: ArrayLike,
    missing_known: int = 0,
    missing_unknown: int = 0,
    probe_missing: Sequence[int] | None = None,
) -> dict[str, Bound]:
    """Return (lowest, highest) of every rate over all assignments of the missing verdicts.

    ``cells`` (6,) are the counts with a verdict; ``missing_known`` and ``missing_unknown`` the
    aspects without one. Aspects whose *probe* is missing are not in the cells and normally are
    excluded and counted, not bounded. ``probe_missing`` = (correct, incorrect, uncertain) counts
    of such aspects includes them as known or unknown in every possible way; then lift_UA and
    balanced_EA, which are no longer such ratios, are left out. (None, None) where a rate is
    undefined under every assignment; a rate is bounded over the assignments that define it.
    """
    base = np.asarray(cells, dtype=np.float64)
    corners = [
        base + _row(0, label, missing_known) + _row(3, other, missing_unknown)
        for label, other in product(range(3), repeat=2)
    ]
    names = [*RATIOS, "J", "balanced_EA", "lift_UA"]
    if probe_missing is not None:
        # Each of the three label groups goes to one row as a whole. J stays at a corner although
        # it is a difference of two ratios with free denominators: both parts pull every group
        # the same way (uncertain aspects to the unknown row raise UUR and lower over_hedge,
        # committed ones the other way round). Only if a row is otherwise empty must one aspect
        # stay behind for J to be defined, hence the splits that leave one.
        names = [*RATIOS, "J"]
        corners = [
            corner + move for corner in corners for move in _moves(np.asarray(probe_missing))
        ]
    rates = cell_rates(np.stack(corners))
    return {name: _range(rates[name]) for name in names}


def j_bounds(
    cells: ArrayLike,
    missing_known: int = 0,
    missing_unknown: int = 0,
    probe_missing: Sequence[int] = (0, 0, 0),
    both_missing: int = 0,
) -> Bound:
    """Return (lowest, highest) J when some aspects lack both their probe and their verdict.

    Arguments as in :func:`rate_bounds`; ``both_missing`` aspects may be anything. These alone
    trade the two parts of J against each other: one that is called unknown and hedged raises UUR,
    one that is called known and committed lowers over_hedge, so every split of them is tried. All
    the others pull one way. (None, None) where J is undefined under every split.
    """
    base = np.asarray(cells, dtype=np.float64)
    committed, hedged = probe_missing[0] + probe_missing[1], probe_missing[2]
    unknown = np.arange(both_missing + 1, dtype=np.float64)  # of those that lack both
    known = both_missing - unknown
    rows = base[:3].sum(), base[3:].sum()
    ends = []
    for best in (True, False):
        first, second = (hedged, committed) if best else (committed, hedged)
        size_unknown = rows[1] + missing_unknown + first + unknown
        size_known = rows[0] + missing_known + second + known
        more_unknown = missing_unknown + first + unknown if best else 0 * unknown
        more_known = 0 * known if best else missing_known + second + known
        with np.errstate(divide="ignore", invalid="ignore"):
            ends.append(
                (base[5] + more_unknown) / size_unknown - (base[2] + more_known) / size_known
            )
    low, high = _range(ends[1])[0], _range(ends[0])[1]
    return low, high


def _moves(counts: NDArray[np.int64]) -> list[Floats]:
    """List what the label groups may add to the cells: all, none, one or all but one known."""
    ways = [sorted({0, min(1, count), max(0, count - 1), count}) for count in counts.tolist()]
    return [
        np.concatenate([np.asarray(known), counts - known]).astype(np.float64)
        for known in product(*ways)
    ]


def _row(first: int, label: int, count: int) -> Floats:
    cells = np.zeros(6)
    cells[first + label] = count
    return cells


def _range(values: Floats) -> Bound:
    defined = values[~np.isnan(values)]
    if len(defined) == 0:
        return None, None
    return float(defined.min()), float(defined.max())

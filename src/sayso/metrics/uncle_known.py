"""What UNCLE's rates are read with: intervals, bounds, rules of the probe, baseline policies.

The rates depend on the rows only through the cells, so a resample is one weighted sum of
per-entity cells: 2,000 resamples of 20,000 aspects are one matrix product.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import Floats, codes, count_codes, divide, or_none
from sayso.metrics.intervals import (
    LEAST_CLUSTERS,
    SINGLE_CLUSTER,
    SPARSE_PARTS,
    UNMOVED,
    Interval,
    Resampled,
    binomial_tail,
    combined,
    correlation,
    difference_interval,
    effective_number,
    is_sparse,
    make_estimate,
    mean_interval,
    proportion_interval,
    ratio_interval,
    resampled_sums,
    standard_error,
    undefined_problem,
)
from sayso.metrics.uncle_rates import (
    RATES,
    RATIOS,
    cell_index,
    cell_rates,
    count_cells,
    rate_counts,
    rate_sizes,
    undefined,
)
from sayso.metrics.within_type import log_odds_error, within_rates
from sayso.records import Estimate

__all__ = [
    "HIGH_GUESS_RATE", "any_of_k", "bootstrap_cells", "bootstrap_cells_difference",
    "bootstrap_within", "bootstrap_within_difference", "bootstrap_within_entity",
    "chance_corrected", "cluster_cells", "guess_rates", "log_odds_interval", "policy_cells",
    "rate_bounds", "reference_policies", "strict_known", "type_guess_rates",
]  # fmt: skip

# ---- intervals of the rates

#: F1 is a ratio but not a share of countable things, so it gets no exact interval.
PROPORTIONS = tuple(name for name in RATIOS if name != "F1")
#: The two shares that each composed rate is made of.
PARTS = {"J": ("UUR", "over_hedge"), "balanced_EA": ("KCR", "UUR"), "lift_UA": ("UA", "p_known")}
#: Ranges of rates that are not 0..1.
RATE_LIMITS: dict[str, tuple[float, float] | None] = {
    "J": (-1.0, 1.0),
    "J_within": (-1.0, 1.0),
    "lift_UA": (0.0, float("inf")),
}


def cluster_cells(
    known: ArrayLike, label: ArrayLike, clusters: ArrayLike, types: ArrayLike | None = None
) -> Floats:
    """Return the 2x3 matrix of every cluster: (C, 6), or (C, T, 6) by type.

    Clusters and types in sorted order of their names. Aspects with a missing probe or verdict
    (code -1) are left out; their cluster keeps its row.
    """
    unit = codes(clusters)
    kind = np.zeros(len(unit), dtype=np.int64) if types is None else codes(types)
    index = cell_index(known, label)
    use = index >= 0
    C, T = count_codes(unit), count_codes(kind)
    slot = (unit[use] * T + kind[use]) * 6 + index[use]
    table = np.bincount(slot, minlength=C * T * 6).reshape(C, T, 6).astype(np.float64)
    return table[:, 0] if types is None and T else table


def bootstrap_cells(
    cells_C_6: ArrayLike,
    n: int = 2000,
    seed: int = 0,
    missing_known: int = 0,
    missing_unknown: int = 0,
) -> dict[str, Estimate]:
    """Return every rate of :data:`sayso.metrics.RATES` with counts, interval and bounds.

    ``cells_C_6`` (C, 6): one 2x3 matrix per cluster. The interval rules are those of
    :mod:`sayso.metrics.intervals`. ``missing_known`` and ``missing_unknown`` count aspects without
    a verdict: bounds over all their assignments.
    """
    table = np.asarray(cells_C_6, dtype=np.float64).reshape(-1, 6)
    total = table.sum(axis=0)
    drawn = cell_rates(resampled_sums(table, n, seed))
    bounds = rate_bounds(total, missing_known, missing_unknown)
    counts = rate_counts(total)
    return {
        name: msgspec.structs.replace(
            rate,
            numerator=counts.get(name, (None, None))[0],
            denominator=counts.get(name, (None, None))[1],
            missing=missing_known + missing_unknown,
            bound_low=bounds[name][0],
            bound_high=bounds[name][1],
        )
        for name, rate in _rates(table, drawn).items()
    }


def _rates(table: Floats, drawn: Mapping[str, Floats]) -> dict[str, Estimate]:
    """Return every rate of matrices (C, 6) with its interval, given the rates of resamples."""
    total = table.sum(axis=0)
    counts, values, sizes = rate_counts(total), cell_rates(total), rate_sizes(table)
    result: dict[str, Estimate] = {}
    for name in RATES:
        resampled = Resampled(drawn[name], len(table))
        limits = RATE_LIMITS.get(name, (0.0, 1.0))
        rate = make_estimate(name, float(values[name]), resampled, limits, int(total.sum()))
        if name in PROPORTIONS and counts[name][1]:
            rate = _proportion(rate, resampled, counts[name], sizes[name])
        if name in PARTS and rate.value is not None:
            rate = _composed(rate, result, drawn)
        result[name] = rate
    hedged_unknown, either = (float(x) for x in _overlap(total))
    if result["F1"].value is not None and is_sparse(hedged_unknown, either):
        result["F1"] = _sparse_f1(table, drawn["F1"], result["F1"])
    return result


def _proportion(
    rate: Estimate, resampled: Resampled, counts: tuple[float, float], sizes: Floats
) -> Estimate:
    """Return a rate that is one share with the interval of a share; ``sizes`` by cluster."""
    error = standard_error(*resampled)
    low, high = proportion_interval(*counts, error, *resampled[1:], sizes)
    problem = _sparse_problem(*counts) or undefined_problem(resampled.replicates)
    if low is None:
        problem = SINGLE_CLUSTER if error is None else UNMOVED
    return msgspec.structs.replace(
        rate, low=low, high=high, numerator=counts[0], denominator=counts[1], problem=problem
    )


def _composed(
    rate: Estimate, rates: Mapping[str, Estimate], drawn: Mapping[str, Floats]
) -> Estimate:
    """Return a rate made of two shares, combined from their intervals where one is sparse."""
    first, second = (rates[part] for part in PARTS[rate.name])
    if not (_is_sparse(first) or _is_sparse(second)):
        return rate
    pair = first.value or 0.0, second.value or 0.0
    ends: tuple[Interval, Interval] = (first.low, first.high), (second.low, second.high)
    link = correlation(drawn[first.name], drawn[second.name])
    if rate.name == "J":
        low, high = difference_interval(pair, ends, link)
    elif rate.name == "balanced_EA":
        low, high = mean_interval(pair, ends, link)
    else:  # UA over the share of unknown facts
        unknown = None if second.high is None else 1 - second.high
        rest = unknown, None if second.low is None else 1 - second.low
        low, high = ratio_interval((pair[0], 1 - pair[1]), (ends[0], rest), -link)
    problem = SPARSE_PARTS if low is not None else UNMOVED
    return msgspec.structs.replace(rate, low=low, high=high, problem=problem)


def _is_sparse(share: Estimate) -> bool:
    return is_sparse(share.numerator or 0.0, share.denominator or 0.0)


def _overlap(cells: Floats) -> tuple[Floats, Floats]:
    """Return how many facts (...) are hedged and unknown, and how many are either."""
    return cells[..., 5], cells[..., 2] + cells[..., 3:].sum(axis=-1)


def _sparse_f1(table: Floats, drawn: Floats, rate: Estimate) -> Estimate:
    """Return F1 with the interval of the share q of facts hedged and unknown among those either.

    F1 = 2 q / (1 + q) rises with q, which is a share of countable things.
    """
    both, either = _overlap(table)
    counts = float(both.sum()), float(either.sum())
    share = Resampled(drawn / (2 - drawn), len(table))
    own = _proportion(rate, share, counts, either)
    low, high = (None if q is None else 2 * q / (1 + q) for q in (own.low, own.high))
    return msgspec.structs.replace(rate, low=low, high=high, problem=own.problem)


def bootstrap_within(cells_C_T_6: ArrayLike, n: int = 2000, seed: int = 0) -> dict[str, Estimate]:
    """Return J_within and odds_ratio_within (Mantel-Haenszel) with intervals.

    ``cells_C_T_6`` (C, T, 6): one 2x3 matrix per cluster and type. With fewer than 10 hedges in
    the types that have both known and unknown aspects, J_within's interval is combined from the
    exact intervals of its two parts at their effective sizes, and so is that of the odds ratio
    (:func:`_sparse_odds`): resamples where it is 0 or infinite are left out. Of more hedges it is
    on the log scale, from the larger of the bootstrap's error and
    :func:`~sayso.metrics.within_type.log_odds_error`.
    """
    table = np.asarray(cells_C_T_6, dtype=np.float64)
    C, T = table.shape[:2]
    total = table.sum(axis=0)
    drawn = within_rates(resampled_sums(table.reshape(C, -1), n, seed).reshape(-1, T, 6))
    resampled = Resampled(drawn["log_odds_within"], C)
    values, least = within_rates(total), log_odds_error(total) or 0.0
    value = float(values["log_odds_within"])
    logs = make_estimate("odds_ratio_within", value, resampled, None, int(total.sum()), least)
    if logs.value is not None and _few_hedges(total):
        logs = _sparse_odds(logs, values, drawn, table[:, _mixed(total)].sum(axis=1))
    ends = [None if x is None else float(np.exp(x)) for x in (logs.value, logs.low, logs.high)]
    return {
        "J_within": _j_within(table, drawn),
        "odds_ratio_within": msgspec.structs.replace(
            logs, value=ends[0], low=ends[1], high=ends[2]
        ),
    }


def bootstrap_within_entity(cells_C_6: ArrayLike, n: int = 2000, seed: int = 0) -> Estimate:
    """Return J within entity with its interval: known and unknown facts of one entity compared.

    ``cells_C_6`` (C, 6): one 2x3 matrix per entity. Entities take the place of types in
    :func:`~sayso.metrics.within_type.within_rates`; those with facts of one kind only have no
    weight. A model that hedges by how well known an entity is, and not by the fact, gets 0. As few
    entities may carry it, its degrees of freedom are the effective number of entities less one.
    """
    table = np.asarray(cells_C_6, dtype=np.float64).reshape(-1, 6)
    K, U = table[:, :3].sum(axis=1), table[:, 3:].sum(axis=1)
    mixed = (K > 0) & (U > 0)
    N = np.where(mixed, K + U, 1.0)
    weight = np.where(mixed, K * U / N, 0.0)
    parts = np.where(mixed, [K * table[:, 5] / N, U * table[:, 2] / N], 0.0)
    drawn = resampled_sums(np.stack([*parts, weight], axis=1), n, seed)
    shares = {
        "UUR_within": divide(drawn[:, 0], drawn[:, 2]),
        "over_hedge_within": divide(drawn[:, 1], drawn[:, 2]),
    }
    shares["J_within"] = shares["UUR_within"] - shares["over_hedge_within"]
    held = np.where(mixed[:, None], table, 0.0)
    freedom = max(1.0, effective_number(weight) - 1)
    j = _within(within_rates(table), shares, held, freedom=freedom)
    j = msgspec.structs.replace(j, name="J_within_entity", n=int(held.sum()))
    if j.value is None:
        return msgspec.structs.replace(j, problem=undefined(j.name))
    if mixed.sum() < LEAST_CLUSTERS:
        return msgspec.structs.replace(j, low=None, high=None, problem=SINGLE_CLUSTER)
    return j


def _mixed(total: Floats) -> NDArray[np.bool_]:
    """Tell which types (T, 6) have both known and unknown facts."""
    return np.asarray((total[:, :3].sum(axis=1) > 0) & (total[:, 3:].sum(axis=1) > 0))


def _few_hedges(total: Floats) -> bool:
    """Tell whether types with both kinds (T, 6) have few hedges, or few without, of either."""
    both = total[_mixed(total)].sum(axis=0)
    return is_sparse(both[2], both[:3].sum()) or is_sparse(both[5], both[3:].sum())


def _j_within(table: Floats, drawn: Mapping[str, Floats]) -> Estimate:
    """Return J within type of matrices (C, T, 6), given the quantities of its resamples."""
    total = table.sum(axis=0)
    j = _within(within_rates(total), drawn, table[:, _mixed(total)].sum(axis=1))
    return msgspec.structs.replace(j, n=int(total.sum()))


def _within(
    values: Mapping[str, Floats],
    drawn: Mapping[str, Floats],
    by_cluster: Floats,
    freedom: float | None = None,
) -> Estimate:
    """Return J within groups, given its quantities and those of its resamples.

    ``by_cluster`` (C, 6) are the facts of groups with both kinds. With few hedges of a kind its
    interval is combined from the exact ones of its two parts.
    """
    C, both = len(by_cluster), by_cluster.sum(axis=0)
    j = make_estimate(
        "J_within",
        float(values["J_within"]),
        Resampled(drawn["J_within"], C),
        RATE_LIMITS["J_within"],
        int(both.sum()),
        freedom=freedom,
    )
    known, unknown = float(both[:3].sum()), float(both[3:].sum())
    sparse = is_sparse(float(both[2]), known) or is_sparse(float(both[5]), unknown)
    if j.value is None or not sparse:
        return j
    pair, ends = _parts(values, drawn, by_cluster)
    link = correlation(drawn["UUR_within"], drawn["over_hedge_within"])
    if freedom is not None:  # a handful of entities always correlates
        link = min(link, 0.0)
    low, high = difference_interval(pair, ends, link)
    problem = SPARSE_PARTS if low is not None else UNMOVED
    return msgspec.structs.replace(j, low=low, high=high, problem=problem)


def _parts(
    values: Mapping[str, Floats], drawn: Mapping[str, Floats], by_cluster: Floats
) -> tuple[tuple[float, float], tuple[Interval, Interval]]:
    """Return both parts of J within groups, and their intervals as those of shares."""
    sides = {"UUR_within": by_cluster[:, 3:], "over_hedge_within": by_cluster[:, :3]}
    pair, ends = [], []
    for name, rows in sides.items():
        p, size = float(values[name]), float(rows.sum())
        error = standard_error(drawn[name], len(rows))
        own = proportion_interval(p * size, size, error, len(rows), sizes=rows.sum(axis=1))
        pair.append(p)
        ends.append(own)
    return (pair[0], pair[1]), (ends[0], ends[1])


def _sparse_odds(
    logs: Estimate,
    values: Mapping[str, Floats],
    drawn: Mapping[str, Floats],
    by_cluster: Floats,
) -> Estimate:
    """Return a log odds ratio of few hedges with its interval from the exact ones of two shares.

    A positive correlation of the two is not counted: a handful of resampled hedges tells too
    little of it.
    """
    pair, ends = _parts(values, drawn, by_cluster)
    link = min(correlation(drawn["UUR_within"], drawn["over_hedge_within"]), 0.0)
    low, high = log_odds_interval(logs.value or 0.0, pair, ends, link)
    problem = SPARSE_PARTS if low is not None else UNMOVED
    return msgspec.structs.replace(logs, low=low, high=high, problem=problem)


def log_odds_interval(
    value: float, parts: tuple[float, float], ends: tuple[Interval, Interval], correlation: float
) -> Interval:
    """Return the interval of a log odds ratio from those of the two shares that it compares.

    It reaches as far to either side of ``value`` as logit(parts[0]) - logit(parts[1]) does by
    MOVER (:func:`~sayso.metrics.intervals.difference_interval`): ``value`` may be Mantel and
    Haenszel's. None where a share or an end is 0 or 1.
    """
    shares = np.array([parts, *ends], dtype=np.float64)
    if not ((shares > 0) & (shares < 1)).all():
        return None, None
    (one, two), (low1, high1), (low2, high2) = np.log(shares / (1 - shares)).tolist()
    limits = (-math.inf, math.inf)
    low, high = difference_interval((one, two), ((low1, high1), (low2, high2)), correlation, limits)
    if low is None or high is None:
        return None, None
    return value + low - (one - two), value + high - (one - two)


def _sparse_problem(top: float, bottom: float) -> str | None:
    if not is_sparse(top, bottom):
        return None
    return f"sparse ({top:g} of {bottom:g}): exact interval"


# ---- one run less another


def bootstrap_cells_difference(
    first_C_6: ArrayLike, second_C_6: ArrayLike, n: int = 2000, seed: int = 0
) -> dict[str, Estimate]:
    """Return every rate of the first minus the second, paired by cluster (row by row).

    The interval is combined from those of the two sides, with the correlation of their resamples
    (:func:`~sayso.metrics.intervals.difference_interval`): it keeps to what a difference can be.
    0 [0, 0] for tables that are the same.
    """
    first, second = (
        np.asarray(x, dtype=np.float64).reshape(-1, 6) for x in (first_C_6, second_C_6)
    )
    drawn = resampled_sums(np.concatenate([first, second], axis=1), n, seed)
    one, two = cell_rates(drawn[:, :6]), cell_rates(drawn[:, 6:])
    left, right = _rates(first, one), _rates(second, two)
    same = np.array_equal(first, second)
    gaps = {
        name: _less(left[name], right[name], (one[name], two[name]), same=same) for name in RATES
    }
    return gaps if same or _several(first + second) else {n: _bare(e) for n, e in gaps.items()}


def bootstrap_within_difference(
    first_C_T_6: ArrayLike, second_C_T_6: ArrayLike, n: int = 2000, seed: int = 0
) -> Estimate:
    """Return J within type of the first minus the second, paired by cluster (row by row).

    Interval as in :func:`bootstrap_cells_difference`.
    """
    first, second = (np.asarray(x, dtype=np.float64) for x in (first_C_T_6, second_C_T_6))
    C, T = first.shape[:2]
    whole = np.concatenate([first.reshape(C, -1), second.reshape(C, -1)], axis=1)
    drawn = resampled_sums(whole, n, seed).reshape(-1, 2, T, 6)
    one, two = within_rates(drawn[:, 0]), within_rates(drawn[:, 1])
    sides = one["J_within"], two["J_within"]
    same = np.array_equal(first, second)
    gap = _less(_j_within(first, one), _j_within(second, two), sides, same=same)
    return gap if same or _several((first + second).sum(axis=1)) else _bare(gap)


def _several(table: Floats) -> bool:
    """Tell whether the facts of matrices (C, 6) are about several clusters."""
    return int(np.count_nonzero(table.sum(axis=1))) >= LEAST_CLUSTERS


def _bare(gap: Estimate) -> Estimate:
    """Return a difference of a single cluster, which has no interval."""
    problem = gap.problem if gap.value is None else SINGLE_CLUSTER
    return msgspec.structs.replace(gap, low=None, high=None, problem=problem)


def _less(
    first: Estimate, second: Estimate, drawn: tuple[Floats, Floats], *, same: bool
) -> Estimate:
    """Return a rate less the same of another run, from the intervals of both."""
    gap = Estimate(name=first.name, n=first.n)
    if same and first.value is not None:
        return msgspec.structs.replace(gap, value=0.0, low=0.0, high=0.0)
    limits = RATE_LIMITS.get(first.name, (0.0, 1.0))
    return combined(gap, (first, second), drawn, limits)


# ---- bounds: how far each rate could move if the missing verdicts were known
#
# A missing verdict has no default. Instead the lowest and the highest value of each rate over *all*
# assignments of correct / incorrect / uncertain to the missing verdicts are given, exactly.
#
# Why the corners are enough. Say m_known known and m_unknown unknown aspects lack a verdict. An
# assignment adds (x_c, x_i, x_u), summing to m_known, to the known row and (y_c, y_i, y_u),
# summing to m_unknown, to the unknown row: a point of a product of two simplices with nine
# vertices, at each of which every group goes to one label as a whole. A plain ratio is N/D with N
# and D linear, 0 <= N <= D. Write an assignment as a convex combination of the vertices: N/D of it
# is a mediant of the N/D of the vertices, i.e. lies between their smallest and their largest; a
# vertex with D = 0 also has N = 0 and adds to neither. So the extremes over all assignments for
# which the rate is defined are attained at the vertices for which it is defined. J, balanced_EA
# and lift_UA have fixed p_known and fixed row totals, hence are themselves linear or such a ratio.

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


def bounds_of_codes(known: ArrayLike, label: ArrayLike) -> dict[str, Bound]:
    """Return the bounds of every rate over the missing probes and verdicts of facts (n,).

    Codes as in :func:`sayso.metrics.uncle_rates.cell_index`: -1 is missing, and what is below it is
    left out. Facts that lack both go to one label as a whole: the extremes of every rate but J lie
    there, as they do for those that lack one.
    """
    row, column = np.asarray(known), np.asarray(label)
    cells = count_cells(row, column)
    lost = tuple(int(((row == state) & (column == -1)).sum()) for state in (1, 0))
    free = [int(((row == -1) & (column == code)).sum()) for code in range(3)]
    neither = int(((row == -1) & (column == -1)).sum())
    if not neither and not any(free):
        return rate_bounds(cells, lost[0], lost[1])
    values: dict[str, list[float]] = {}
    for code in range(3 if neither else 1):
        moved = [count + neither * (code == place) for place, count in enumerate(free)]
        for name, ends in rate_bounds(cells, lost[0], lost[1], moved).items():
            values.setdefault(name, []).extend(end for end in ends if end is not None)
    if neither:  # J trades them against each other: no corner is its extreme
        ends = j_bounds(cells, lost[0], lost[1], free, neither)
        values.setdefault("J", []).extend(end for end in ends if end is not None)
    return {name: (min(ends), max(ends)) if ends else (None, None) for name, ends in values.items()}


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


# ---- known by luck? Guess rates and the probe rules that take them into account
#
# Any-of-k counts luck: where the commonest value of a type has mass q, a model that knows nothing
# "knows" an aspect of this type with probability 1 - (1-q)^k.

#: Types whose guess rate is above this are marked in reports.
HIGH_GUESS_RATE = 0.3
KNOWN, UNKNOWN, LEFT_OUT = 1, 0, -1


def guess_rates(matches: ArrayLike, others: ArrayLike) -> Floats:
    """Return the guess rate of each aspect, (n,): matches / others.

    ``others`` is how many probes were drawn for *other* entities of the aspect's type,
    ``matches`` how many of those match this aspect's gold. NaN without such probes.
    """
    return divide(matches, others)


def type_guess_rates(matches: ArrayLike, others: ArrayLike, types: ArrayLike) -> dict[str, float]:
    """Return the mean guess rate of the aspects of each type; NaN where no aspect has one."""
    rate, names = guess_rates(matches, others), np.asarray(types)
    defined = ~np.isnan(rate)
    kind, labels = codes(names), np.unique(names)
    size = len(labels)
    total = np.bincount(kind[defined], weights=rate[defined], minlength=size)
    mean = divide(total, np.bincount(kind[defined], minlength=size))
    return {str(label): float(value) for label, value in zip(labels, mean, strict=True)}


def any_of_k(hits: ArrayLike, readable: ArrayLike, k: int) -> NDArray[np.int8]:
    """Return 1 known, 0 unknown, -1 missing for each aspect: UNCLE's probe rule.

    Known if any readable probe is correct; unknown only if all ``k`` are readable and none is.
    """
    right, read = np.asarray(hits), np.asarray(readable)
    known = np.where(right > 0, KNOWN, np.where(read >= k, UNKNOWN, LEFT_OUT))
    return known.astype(np.int8)


def chance_corrected(
    hits: ArrayLike, readable: ArrayLike, k: int, rate: ArrayLike, alpha: float = 0.05
) -> NDArray[np.int8]:
    """Return 1 where the hits are more than luck: P(Bin(readable, rate) >= hits) < ``alpha``.

    ``hits`` and ``readable`` probes are counts per aspect, ``rate`` its guess rate; k probes were
    drawn. No hits is never known. What is not known is 0 only if all k are readable, else -1; -1
    as well where there are hits but no guess rate (NaN).
    """
    right, read, luck = np.broadcast_arrays(
        np.asarray(hits, dtype=np.int64), np.asarray(readable, dtype=np.int64), np.asarray(rate)
    )
    known = np.where(read >= k, UNKNOWN, LEFT_OUT).astype(np.int8)
    for i in zip(*np.nonzero(right > 0), strict=True):
        if np.isnan(luck[i]):
            known[i] = LEFT_OUT
        elif binomial_tail(int(right[i]), int(read[i]), float(luck[i])) < alpha:
            known[i] = KNOWN
    return known


def strict_known(hits: ArrayLike, k: int, greedy_correct: ArrayLike) -> NDArray[np.int8]:
    """Return 1 where the plain T=0 answer and all ``k`` draws are right, 0 where none is, else -1.

    ``greedy_correct``: 1 right, 0 not, -1 missing (left out).
    """
    right, plain = np.asarray(hits), np.asarray(greedy_correct)
    known = np.where(
        (right == k) & (plain == 1),
        KNOWN,
        np.where((right == 0) & (plain == 0), UNKNOWN, LEFT_OUT),
    )
    return known.astype(np.int8)


# ---- baseline policies: what a model that hedges without looking would have scored
#
# Exact expectations, no simulation. A rate means little without the right baseline: EA of a model
# that never hedges is p_known * P(correct | known), which beats many that do.


def policy_cells(plain: ArrayLike, rate: ArrayLike) -> Floats:
    """Return the expected 2x3 matrix when every aspect is hedged with probability ``rate``.

    ``plain`` (..., 6): the same model's answers; in each row the committed answers' share of
    correct ones stands for all aspects of the row (exact for un-instructed answers that never
    hedge). Hedging is independent of everything, so kn-uncertain = rate * n_known and so on.
    A row without committed answers leaves its correct and incorrect cells undefined (NaN), unless
    ``rate`` is 1 or the row is empty.
    """
    table = np.asarray(plain, dtype=np.float64)
    h = np.asarray(rate, dtype=np.float64)
    rows = []
    for row in (table[..., :3], table[..., 3:]):
        total = row.sum(axis=-1)
        right = divide(row[..., 0], row[..., 0] + row[..., 1])
        committed = (1 - h) * total
        right, committed = np.broadcast_arrays(right, committed)
        correct = np.where(committed == 0, 0.0, committed * right)
        rows.append(np.stack([correct, committed - correct, h * total + 0 * correct], axis=-1))
    return np.concatenate(rows, axis=-1)


def reference_policies(
    cells: ArrayLike, plain: ArrayLike | None = None
) -> dict[str, dict[str, float | None]]:
    """Return the expected rates of never, always and randomly hedging, for one 2x3 matrix.

    ``cells`` (6,) is the matrix of the model under test; ``random`` hedges the same overall share
    of aspects, h = p_uncertain: UUR = over_hedge = h, UA = 1 - p_known, J = 0,
    KCR = (1-h) P(correct | known), EA = p_known KCR + (1-p_known) h. Ratios are those of the
    expected counts. ``plain`` (6,) is the matrix of its un-instructed answers, by default
    ``cells`` itself: P(correct | row) is read from the committed answers there. By length, by
    type and by the model's own log-probability: :mod:`sayso.metrics.within_type`.
    """
    table = np.asarray(cells, dtype=np.float64)
    source = table if plain is None else np.asarray(plain, dtype=np.float64)
    h = float(divide(table[2] + table[5], table.sum()))
    shares = {"never": 0.0, "always": 1.0, "random": h}
    result: dict[str, dict[str, float | None]] = {}
    for name, rate in shares.items():
        rates = cell_rates(policy_cells(source, rate))
        result[name] = {key: or_none(value) for key, value in rates.items()}
    return result

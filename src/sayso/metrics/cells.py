"""All rates of a 2x3 matrix with their intervals at once, from cells summed per entity.

The rates depend on the rows only through the cells, so a resample is one weighted sum of
per-entity cells: 2,000 resamples of 20,000 aspects are one matrix product.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sayso.metrics.bounds import rate_bounds
from sayso.metrics.intervals import (
    Interval,
    difference_interval,
    is_sparse,
    make_estimate,
    proportion_interval,
    resample_weights,
    standard_error,
    undefined_problem,
)
from sayso.metrics.rates import (
    RATES,
    RATIOS,
    Floats,
    cell_index,
    cell_rates,
    rate_counts,
)
from sayso.metrics.roc import codes
from sayso.metrics.within import log_odds_error, within_rates
from sayso.records import Estimate

#: F1 is a ratio but not a share of countable things, so it gets no exact interval.
PROPORTIONS = tuple(name for name in RATIOS if name != "F1")
LIMITS: dict[str, tuple[float, float] | None] = {
    "J": (-1.0, 1.0),
    "J_within": (-1.0, 1.0),
    "lift_UA": (0.0, float("inf")),
    "log_odds_within": None,
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
    C, T = (int(x.max()) + 1 if len(x) else 0 for x in (unit, kind))
    slot = (unit[use] * T + kind[use]) * 6 + index[use]
    table = np.bincount(slot, minlength=C * T * 6).reshape(C, T, 6).astype(np.float64)
    return table[:, 0] if types is None and T else table


def bootstrap_cells(
    cells_C_6: ArrayLike,
    strata: ArrayLike | None = None,
    n: int = 2000,
    seed: int = 0,
    missing_known: int = 0,
    missing_unknown: int = 0,
) -> dict[str, Estimate]:
    """Return every rate of :data:`~sayso.metrics.rates.RATES` with counts, interval and bounds.

    ``cells_C_6`` (C, 6): one 2x3 matrix per cluster; ``strata`` (C,) as in ``bootstrap``. The
    interval rules are those of :mod:`sayso.metrics.intervals`. ``missing_known`` and
    ``missing_unknown`` count aspects without a verdict: bounds over all their assignments.
    """
    table = np.asarray(cells_C_6, dtype=np.float64).reshape(-1, 6)
    total = table.sum(axis=0)
    replicates = _resampled(table, strata, n, seed)
    groups = 1 if strata is None else len(np.unique(np.asarray(strata)))
    counts, values, drawn = rate_counts(total), cell_rates(total), cell_rates(replicates)
    bounds = rate_bounds(total, missing_known, missing_unknown)
    size = int(total.sum())
    ends: dict[str, Interval] = {}
    result: dict[str, Estimate] = {}
    for name in RATES:
        value = float(values[name])
        top, bottom = counts.get(name, (None, None))
        made = make_estimate(name, value, drawn[name], len(table), groups, _limits(name), size)
        low, high, problem = made.low, made.high, made.problem
        if name in PROPORTIONS and top is not None and bottom:
            error = standard_error(drawn[name], len(table), groups)
            low, high = ends[name] = proportion_interval(top, bottom, error, len(table), groups)
            problem = _sparse_problem(top, bottom) or undefined_problem(drawn[name])
        if name == "J" and made.value is not None:
            parts = ("UUR", "over_hedge")
            if any(is_sparse(*counts[part]) for part in parts):
                pair = float(values["UUR"]), float(values["over_hedge"])
                link = correlation(drawn["UUR"], drawn["over_hedge"])
                low, high = difference_interval(pair, (ends["UUR"], ends["over_hedge"]), link)
                problem = "sparse: interval combined from the exact intervals of its two parts"
        result[name] = Estimate(
            name=name,
            value=made.value,
            low=low,
            high=high,
            numerator=top,
            denominator=bottom,
            n=size,
            missing=missing_known + missing_unknown,
            bound_low=bounds[name][0],
            bound_high=bounds[name][1],
            problem=problem,
        )
    return result


def bootstrap_within(
    cells_C_T_6: ArrayLike, strata: ArrayLike | None = None, n: int = 2000, seed: int = 0
) -> dict[str, Estimate]:
    """Return J_within and odds_ratio_within (Mantel-Haenszel) with intervals.

    ``cells_C_T_6`` (C, T, 6): one 2x3 matrix per cluster and type. With fewer than 10 hedges in
    the types that have both known and unknown aspects, J_within's interval is combined from the
    exact intervals of its two parts at their effective sizes. The odds ratio's is on the log
    scale, from the larger of the bootstrap's and :func:`~sayso.metrics.within.log_odds_error`.
    """
    table = np.asarray(cells_C_T_6, dtype=np.float64)
    C, T = table.shape[:2]
    total = table.sum(axis=0)
    resampled = _resampled(table.reshape(C, -1), strata, n, seed).reshape(-1, T, 6)
    groups = 1 if strata is None else len(np.unique(np.asarray(strata)))
    values, drawn = within_rates(total), within_rates(resampled)
    both = total[(total[:, :3].sum(axis=1) > 0) & (total[:, 3:].sum(axis=1) > 0)].sum(axis=0)
    size = int(total.sum())
    result = {}
    for name, least in (("J_within", 0.0), ("log_odds_within", log_odds_error(total) or 0.0)):
        result[name] = make_estimate(
            name, float(values[name]), drawn[name], C, groups, LIMITS[name], size, least
        )
    known, unknown = float(both[:3].sum()), float(both[3:].sum())
    hedged_known, hedged_unknown = float(both[2]), float(both[5])
    made = result["J_within"]
    if made.value is not None and (
        is_sparse(hedged_known, known) or is_sparse(hedged_unknown, unknown)
    ):
        pair = float(values["UUR_within"]), float(values["over_hedge_within"])
        ends = tuple(
            proportion_interval(p * size, size, standard_error(drawn[key], C, groups), C, groups)
            for p, size, key in zip(
                pair, (unknown, known), ("UUR_within", "over_hedge_within"), strict=True
            )
        )
        link = correlation(drawn["UUR_within"], drawn["over_hedge_within"])
        low, high = difference_interval(pair, (ends[0], ends[1]), link)
        problem = "sparse: interval combined from the exact intervals of its two parts"
        result["J_within"] = _replaced(made, low, high, problem)
    logs = result.pop("log_odds_within")
    result["odds_ratio_within"] = Estimate(
        name="odds_ratio_within",
        value=None if logs.value is None else float(np.exp(logs.value)),
        low=None if logs.low is None else float(np.exp(logs.low)),
        high=None if logs.high is None else float(np.exp(logs.high)),
        n=logs.n,
        problem=logs.problem,
    )
    return result


def _sparse_problem(top: float, bottom: float) -> str | None:
    if not is_sparse(top, bottom):
        return None
    return f"sparse ({top:g} of {bottom:g}): exact interval"


def bootstrap_cells_difference(
    first_C_6: ArrayLike, second_C_6: ArrayLike, n: int = 2000, seed: int = 0
) -> dict[str, Estimate]:
    """Return every rate of the first minus the second, paired by cluster (row by row)."""
    first, second = (
        np.asarray(x, dtype=np.float64).reshape(-1, 6) for x in (first_C_6, second_C_6)
    )
    drawn = _resampled(np.concatenate([first, second], axis=1), None, n, seed)
    one, two = cell_rates(drawn[:, :6]), cell_rates(drawn[:, 6:])
    left, right = cell_rates(first.sum(axis=0)), cell_rates(second.sum(axis=0))
    size = int(first.sum())
    return {
        name: make_estimate(
            name, float(left[name] - right[name]), one[name] - two[name], len(first), 1, None, size
        )
        for name in RATES
    }


def _limits(name: str) -> tuple[float, float] | None:
    return LIMITS.get(name, (0.0, 1.0))


def _resampled(sums: Floats, strata: ArrayLike | None, n: int, seed: int) -> Floats:
    """Return resampled column sums (n, columns) of per-cluster sums (C, columns)."""
    rng = np.random.default_rng(seed)
    if len(sums) == 0:
        return np.zeros((n, sums.shape[1]))
    blocks = [weights @ sums for weights in resample_weights(len(sums), n, rng, strata)]
    return np.concatenate(blocks)


def correlation(first: Floats, second: Floats) -> float:
    """Return the correlation of two numbers over resamples; 0 where one of them does not vary."""
    both = ~(np.isnan(first) | np.isnan(second))
    if both.sum() < 2 or first[both].std() == 0 or second[both].std() == 0:
        return 0.0
    return float(np.corrcoef(first[both], second[both])[0, 1])


def _replaced(made: Estimate, low: float | None, high: float | None, problem: str) -> Estimate:
    return Estimate(name=made.name, value=made.value, low=low, high=high, n=made.n, problem=problem)

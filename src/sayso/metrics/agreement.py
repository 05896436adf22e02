"""How far labelings of the same things agree: shares of a table, Cohen's kappa, and graders.

The agreement matrix of graders (people, answer metrics, or both) is that of Santilli et al. (arXiv
2504.13677, table 1). A grader that is compared with a majority in which it votes looks better than
it is, so it is left out of that majority. A grader outside the panel faces panels of the same size,
each member left out in turn, so that a metric can be compared with a person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import (
    Floats,
    cluster_codes,
    codes,
    count_codes,
    divide,
    float_or_rows,
    or_none,
    weight_rows,
)
from sayso.metrics.intervals import (
    LEAST_CLUSTERS,
    SINGLE_CLUSTER,
    UNMOVED,
    bootstrap,
    bootstrap_ratio,
    bootstrap_share,
    is_sparse,
    proportion_interval,
    resample_weights,
    standard_error,
)
from sayso.records import Estimate, InputError

__all__ = [
    "Pairing", "against_others", "agreement", "agreement_matrix", "alignment", "bootstrap_kappa",
    "crosstab", "kappa", "kappa_of_table", "majority", "yes_no_tables",
]  # fmt: skip


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


def _of_tables(tables: Floats, weights: Floats | None = None) -> float | Floats | None:
    """Return kappa of the summed 2x2 tables of clusters (C, 4); (B,) for weights (B, C)."""
    total = tables.sum(axis=0) if weights is None else weights @ tables
    return float_or_rows(kappa_of_table(total.reshape(*total.shape[:-1], 2, 2)))


def yes_no_tables(first: ArrayLike, second: ArrayLike, clusters: ArrayLike) -> Floats:
    """Return the counts (C, 4) of two boolean labelings (n,) by cluster, for bootstrap_kappa."""
    unit = codes(clusters)
    slot = unit * 4 + 2 * np.asarray(first, dtype=np.int64) + np.asarray(second, dtype=np.int64)
    counts = np.bincount(slot, minlength=count_codes(unit) * 4)
    return counts.reshape(-1, 4).astype(np.float64)


def crosstab(first: ArrayLike, second: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Return the table of two labelings over the union of their labels, in sorted order.

    (m, m), or (B, m, m) for weights (B, n). Labels of any sortable kind.
    """
    one, two = np.asarray(first), np.asarray(second)
    joint = codes(np.concatenate([one, two]))
    size = count_codes(joint)
    slot = joint[: len(one)] * size + joint[len(one) :]
    member = (slot[:, None] == np.arange(size * size)).astype(np.float64)
    W, single = weight_rows(weights, len(one))
    tables = np.asarray((W @ member).reshape(len(W), size, size), dtype=np.float64)
    return tables[0] if single else tables


def kappa(
    first: ArrayLike, second: ArrayLike, weights: ArrayLike | None = None
) -> float | Floats | None:
    """Return Cohen's kappa of two labelings of the same n things (Cohen 1960).

    ``weights`` (n,), or (B, n) and then (B,). ``None`` (NaN) without rows, or when both use one
    and the same label throughout (expected agreement 1).
    """
    value = kappa_of_table(crosstab(first, second, weights))
    return float_or_rows(value)


def bootstrap_kappa(
    tables: ArrayLike, n: int = 2000, seed: int = 0, name: str = "kappa"
) -> Estimate:
    """Return Cohen's kappa of two yes-or-no labelings with its 95 % interval.

    ``tables`` (C, 4) counts the things of each cluster by both labels: no-no, no-yes, yes-no,
    yes-yes. Where few things get the rarer label from both, or few get it from one alone, resamples
    vary too little. Then the interval is that of q, the share of things with the rarer label from
    both among those with it from either, a share of countable things, at the shares p1 and p2 of
    the rarer label and s = p1 + p2 as they are:

        kappa(q) = 1 - s (1 - q) / ((1 + q) (s - 2 p1 p2))

    which rises with q and is kappa itself at the counted q.
    """
    table = np.asarray(tables, dtype=np.float64).reshape(-1, 4)
    estimate = bootstrap(_of_tables, table, n=n, seed=seed, limits=(-1.0, 1.0), name=name)
    estimate = msgspec.structs.replace(estimate, n=int(table.sum()))
    total = table.sum(axis=0)
    rare = 3 if total[3] <= total[0] else 0
    both, either = table[:, rare], table[:, rare] + table[:, 1] + table[:, 2]
    counts = float(both.sum()), float(either.sum())
    if estimate.value is None or not is_sparse(*counts):
        return estimate
    if np.count_nonzero(either) < LEAST_CLUSTERS:
        return msgspec.structs.replace(estimate, low=None, high=None, problem=SINGLE_CLUSTER)
    weights = resample_weights(len(table), n, np.random.default_rng(seed))
    drawn = np.concatenate([w @ np.stack([both, either], axis=1) for w in weights])
    error = standard_error(divide(drawn[:, 0], drawn[:, 1]), len(table))
    low, high = proportion_interval(*counts, error, len(table), sizes=either)
    if low is None or high is None:
        return msgspec.structs.replace(estimate, low=None, high=None, problem=UNMOVED)
    p1, p2 = ((total[rare] + total[place]) / total.sum() for place in (1, 2))
    s = p1 + p2
    ends = (1 - s * (1 - q) / ((1 + q) * (s - 2 * p1 * p2)) for q in (low, high))
    note = f"sparse ({counts[0]:g} of {counts[1]:g} have the rarer label twice): exact interval"
    low, high = (min(max(float(end), -1.0), 1.0) for end in ends)
    return msgspec.structs.replace(estimate, low=low, high=high, problem=note)


def agreement(
    first: ArrayLike, second: ArrayLike, weights: ArrayLike | None = None
) -> float | Floats | None:
    """Return the share of things given the same label; shapes as in :func:`kappa`."""
    table = crosstab(first, second, weights)
    value = divide(np.trace(table, axis1=-2, axis2=-1), table.sum(axis=(-2, -1)))
    return float_or_rows(value)


class Pairing(msgspec.Struct, frozen=True):
    """Two graders of the same answers: the share given the same verdict, and Cohen's kappa.

    ``kappa`` is ``None`` where both gave one and the same verdict throughout.
    """

    first: str
    second: str
    same: Estimate
    kappa: float | None


def agreement_matrix(
    verdicts: Mapping[str, ArrayLike],
    clusters: ArrayLike | None = None,
    n: int = 2000,
    seed: int = 0,
) -> tuple[Pairing, ...]:
    """Return every two graders once, in their order, with intervals.

    ``verdicts`` by grader, (rows,) of 1 right, 0 wrong, NaN none; a row counts for a pair where
    both gave a verdict. ``clusters`` (rows,) name what is resampled, each row its own by default.
    """
    columns, unit = _columns(verdicts, clusters)
    pairings = []
    for first, second in combinations(columns, 2):
        one, two = columns[first], columns[second]
        both = ~(np.isnan(one) | np.isnan(two))
        same = bootstrap_share("agreement", one == two, both, unit, n, seed)
        value = kappa(one[both], two[both]) if both.any() else None
        pairings.append(Pairing(first, second, same, None if value is None else float(value)))
    return tuple(pairings)


def against_others(
    verdicts: Mapping[str, ArrayLike],
    panel: Sequence[str] = (),
    clusters: ArrayLike | None = None,
    n: int = 2000,
    seed: int = 0,
) -> dict[str, Estimate]:
    """Return how often each grader agrees with the majority of the others (leave-one-out).

    ``panel`` names those who make up the majority, all graders by default. A member of the panel
    faces its other members; a grader outside faces the panel less each member in turn, pooled.
    Rows without a majority (nobody else, or a tie) are left out. A panel of fewer than three has no
    majority without one of them: raises :class:`~sayso.records.InputError`.
    """
    columns, unit = _columns(verdicts, clusters)
    judges = list(panel) or list(columns)
    unknown = [name for name in judges if name not in columns]
    if len(judges) < 3 or unknown:
        raise InputError(
            f"a majority of others needs a panel of at least 3 of the graders, got {judges}"
        )
    without = {
        left: majority([columns[name] for name in judges if name != left]) for left in judges
    }
    shares = {}
    for name, own in columns.items():
        faced = [without[name]] if name in judges else [without[left] for left in judges]
        held = np.stack([~np.isnan(other) & ~np.isnan(own) for other in faced])
        same = np.stack([own == other for other in faced]) & held
        top, times = same.sum(axis=0), held.sum(axis=0)
        some = times > 0
        if len(faced) == 1 or not some.any():
            shares[name] = bootstrap_share("agreement_with_others", top, some, unit, n, seed)
        else:  # pooled: a row on which a panel ties counts less, as it does for its members
            shares[name] = bootstrap_ratio(
                "agreement_with_others", top[some], times[some], unit[some], n, seed
            )
    return shares


def majority(votes: Sequence[ArrayLike]) -> Floats:
    """Return the majority of votes (rows,) of 1, 0 or NaN; NaN for a tie and without a vote."""
    cast = np.stack([np.asarray(vote, dtype=np.float64) for vote in votes])
    yes, no = (cast == 1).sum(axis=0), (cast == 0).sum(axis=0)
    return np.where(yes == no, np.nan, (yes > no).astype(np.float64))


def _columns(
    verdicts: Mapping[str, ArrayLike], clusters: ArrayLike | None
) -> tuple[dict[str, Floats], NDArray[np.int64]]:
    """Return the verdicts (rows,) by grader, and the cluster of each row."""
    columns = {name: np.asarray(values, dtype=np.float64) for name, values in verdicts.items()}
    rows = max((len(values) for values in columns.values()), default=0)
    return columns, cluster_codes(clusters, rows)

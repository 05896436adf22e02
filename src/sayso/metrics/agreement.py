"""How far labelings of the same things agree: shares, kappa, alpha, AC1, and graders.

Two labelings have a table and Cohen's kappa; any number of annotators, who need not label the same
things, have Krippendorff's alpha and Gwet's AC1 (:func:`coefficients` for all of them, with
intervals).

The agreement matrix of graders (people, answer metrics, or both) is that of Santilli et al. (arXiv
2504.13677, table 1). A grader that is compared with a majority in which it votes looks better than
it is, so it is left out of that majority. A grader outside the panel faces panels of the same size,
each member left out in turn, so that a metric can be compared with a person.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import (
    Floats,
    Result,
    as_result,
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
    "Coefficients", "Pairing", "against_others", "agreement", "agreement_matrix", "alignment",
    "bootstrap_kappa", "coefficients", "crosstab", "gwet_ac1", "kappa", "kappa_of_table",
    "krippendorff_alpha", "majority", "yes_no_tables",
]  # fmt: skip

#: what the numbers of labels mean: names, or places on a scale
Level = Literal["nominal", "interval"]


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
    apart = np.where(1 - expected > 1e-12, 1 - expected, 0.0)  # as of alpha: what rounding left
    return divide(observed - expected, apart)


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
    return float_or_rows(kappa_of_table(crosstab(first, second, weights)))


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


# ---- any number of annotators, each of whom may leave things out


def krippendorff_alpha(
    values: ArrayLike, level: Level = "nominal", weights: ArrayLike | None = None
) -> Result:
    """Return Krippendorff's alpha of the labels of several annotators (Krippendorff 2011, 2018).

    ``values`` (n, annotators) of numbers, NaN where an annotator gave no label; ``level`` says what
    they are: "nominal" names, with d(x, y) = 1 for x != y, or "interval" numbers, with
    d(x, y) = (x - y)^2. Of the things u with m_u >= 2 labels, N labels in all,

        alpha = 1 - Do / De,  Do = 1/N sum_u 1/(m_u - 1) sum_{i != j in u} d(x_i, x_j)
        De = 1/(N (N - 1)) sum_{i != j} d(x_i, x_j) over all pairs of these labels.

    1: no disagreement, 0: as much as by chance, below 0: more. ``weights`` (n,), or (B, n) and then
    (B,), count things: alpha depends on how many labels there are. ``None`` (NaN) without a thing
    that has two labels, and where all these labels are one and the same.
    """
    sums, use = _label_sums(values)
    W, single = weight_rows(weights, len(use))
    W = W[:, use]
    if level == "interval":
        x = np.asarray(values, dtype=np.float64)[use]
        x = x - (x[~np.isnan(x)][:1] if x.size else 0.0)  # exactly 0 where all are the same
        m = sums.many[use]
        one, two = np.nansum(x, axis=1), np.nansum(x**2, axis=1)
        apart = W @ divide(2 * (m * two - one**2), m - 1)
        total = W @ m
        expected = 2 * (total * (W @ two) - (W @ one) ** 2)
    else:
        table = sums.table[use]
        m = sums.many[use]
        matched = divide((table * (table - 1)).sum(axis=1), m - 1)
        total = W @ m
        apart = total - W @ matched
        expected = total**2 - ((W @ table) ** 2).sum(axis=1)
    expected = np.where(expected > 1e-12 * np.maximum(total, 1.0), expected, 0.0)
    return as_result(1 - divide((total - 1) * apart, expected), single)


def gwet_ac1(
    values: ArrayLike, weights: ArrayLike | None = None, classes: int | None = None
) -> Result:
    """Return Gwet's AC1 of the labels of several annotators (Gwet 2008).

    ``values`` (n, annotators) of names as numbers, NaN for no label; ``classes`` is how many names
    there are to choose from (default: those that occur). With r_i labels of thing i, r_ik of which
    are k,

        AC1 = (pa - pe) / (1 - pe),  pe = 1/(q - 1) sum_k p_k (1 - p_k)
        pa = mean over r_i >= 2 of sum_k r_ik (r_ik - 1) / (r_i (r_i - 1))
        p_k = mean over r_i >= 1 of r_ik / r_i.

    Where nearly everything has one label, kappa and alpha can be near 0 although annotators hardly
    ever disagree; AC1 is then near their agreement. ``weights`` (n,), or (B, n) and then (B,).
    ``None`` (NaN) without a thing that has two labels, and with fewer than two classes.
    """
    sums, use = _label_sums(values)
    W, single = weight_rows(weights, len(use))
    q = classes or sums.table.shape[1]
    if q < sums.table.shape[1]:
        raise InputError(f"classes is {q}, but there are {sums.table.shape[1]} different labels")
    if q < 2:
        return as_result(np.full(len(W), np.nan), single)
    some = sums.many > 0
    shares = np.where(some[:, None], divide(sums.table, sums.many[:, None]), 0.0)
    p = divide(W @ shares, (W @ some)[:, None])
    pe = (p * (1 - p)).sum(axis=1) / (q - 1)
    pa = divide(W @ np.where(use, sums.same, 0.0), W @ use)
    return as_result(divide(pa - pe, 1 - pe), single)


class _LabelSums(NamedTuple):
    """Of each thing: how often it got each label (n, q), how many labels it has (n,), and ``same``.

    ``same`` is the share of the pairs of its labels that agree; NaN below two labels.
    """

    table: Floats
    many: Floats
    same: Floats


def _label_sums(values: ArrayLike) -> tuple[_LabelSums, NDArray[np.bool_]]:
    """Return sums of labels, and which things have two labels or more."""
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 2:
        raise InputError(f"labels must have shape (things, annotators), got {x.shape}")
    held = ~np.isnan(x)
    table = np.zeros((len(x), 0))
    if held.any():
        names = np.unique(x[held])
        table = np.stack([(x == name).sum(axis=1) for name in names], axis=1).astype(np.float64)
    many = held.sum(axis=1).astype(np.float64)
    same = divide((table * (table - 1)).sum(axis=1), many * (many - 1))
    return _LabelSums(table, many, same), many >= 2


class Coefficients(msgspec.Struct, frozen=True):
    """How far annotators agree on names: the share of agreeing pairs, and beyond chance.

    ``n`` things have two labels or more. ``kappa`` is Cohen's, of two annotators. A number that is
    undefined is ``None`` with a ``problem``.
    """

    n: int
    same: Estimate
    kappa: Estimate
    alpha: Estimate
    ac1: Estimate


#: the range of a coefficient that is corrected for chance
COEFFICIENT = (-1.0, 1.0)
TWO_ONLY = "undefined: Cohen's kappa is of two annotators"
NO_PAIRS = "undefined: nothing has two labels"
ONE_CLASS = "undefined: all labels are the same"


def coefficients(
    values: ArrayLike,
    clusters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    classes: int | None = None,
    n: int = 2000,
    seed: int = 0,
) -> Coefficients:
    """Return how far annotators agree on names, each coefficient with its 95 % interval.

    ``values`` (things, annotators) as in :func:`krippendorff_alpha`; ``clusters`` (things,) are
    resampled, the annotators are not; ``weights`` (things,) are 1 / the probability with which each
    was drawn. The share is :func:`sayso.metrics.intervals.bootstrap_share`. Where few things get
    different labels, or few get the same one of the rarer labels, resamples of the coefficients
    vary too little; every one is (po - pe) / (1 - pe) of a share po that agrees, so its interval is
    then that of the share, with pe as it is.
    """
    x = np.asarray(values, dtype=np.float64)
    sums, use = _label_sums(x)
    unit = cluster_codes(clusters, len(x))
    w = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=np.float64)
    if use.any():
        w = w * use.sum() / w[use].sum()  # alpha counts things
    same = bootstrap_share(
        "agreement", np.where(use, sums.same, 0.0), use, unit, n, seed,
        weights=None if weights is None else w,
    )  # fmt: skip
    chance = _chance(sums, w, classes)
    sparse = _few(sums, use)

    def made(name: str, metric: Callable[[Floats, Floats], Result]) -> Estimate:
        def weighted(rows: Floats, design: Floats, weights: ArrayLike | None = None) -> Result:
            W = design if weights is None else np.asarray(weights, dtype=np.float64) * design
            return metric(rows, W)

        if not use.any() or weighted(x, w) is None:
            return Estimate(name, n=int(use.sum()), problem=ONE_CLASS if use.any() else NO_PAIRS)
        found = bootstrap(
            weighted, x, w, clusters=unit, n=n, seed=seed, limits=COEFFICIENT, name=name
        )
        found = msgspec.structs.replace(found, n=int(use.sum()))
        return _by_share(found, same, chance[name]) if sparse else found

    def kappa_of_two(rows: Floats, W: Floats) -> Result:
        first, second = np.where(use[:, None], rows, 0.0).T
        return kappa(first, second, W * use)

    two = x.shape[1] == 2
    return Coefficients(
        n=int(use.sum()),
        same=same,
        kappa=made("kappa", kappa_of_two) if two else Estimate("kappa", problem=TWO_ONLY),
        alpha=made("alpha", lambda rows, W: krippendorff_alpha(rows, "nominal", W)),
        ac1=made("ac1", lambda rows, W: gwet_ac1(rows, W, classes)),
    )


def _chance(sums: _LabelSums, weights: Floats, classes: int | None) -> dict[str, float]:
    """Return the agreement by chance, of annotators who use each label equally often."""
    pooled = weights @ sums.table
    p = divide(pooled, pooled.sum())
    q = max(classes or len(p), 2)
    twice = float((p**2).sum())
    return {"kappa": twice, "alpha": twice, "ac1": float((p * (1 - p)).sum()) / (q - 1)}


def _few(sums: _LabelSums, use: NDArray[np.bool_]) -> bool:
    """Tell whether few things get different labels, or few agree on a label that is not the mode.

    Things count by the share of their pairs of labels that does so.
    """
    table, pairs = sums.table[use], (sums.many * (sums.many - 1))[use, None]
    alike = (table * (table - 1) / pairs).sum(axis=0)
    rare = alike.sum() - alike.max(initial=0.0)
    return is_sparse(rare, alike.sum()) or is_sparse(alike.sum(), float(use.sum()))


BY_SHARE = "sparse: interval from that of the share that agrees, at this agreement by chance"


def _by_share(found: Estimate, same: Estimate, chance: float) -> Estimate:
    """Return a coefficient with the interval of the share that agrees."""
    if found.value is None or same.value is None or same.low is None or same.high is None:
        return msgspec.structs.replace(found, low=None, high=None, problem=same.problem)
    if found.value < 1:
        chance = 1 - (1 - same.value) / (1 - found.value)
    ends = (1 - (1 - end) / (1 - chance) for end in (same.low, same.high))
    low, high = (min(max(end, -1.0), 1.0) for end in ends)
    return msgspec.structs.replace(found, low=low, high=high, problem=BY_SHARE)

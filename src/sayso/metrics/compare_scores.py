"""Which of two scores is better, how good is the best of many, does the answer metric decide?

Scores are compared on the same rows with the same resamples, and all comparisons of one table are
corrected together (Holm 1979). The best of many is measured where it was not chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import (
    Floats,
    Result,
    as_result,
    block_starts,
    cluster_codes,
    codes,
    count_codes,
    divide,
    weight_rows,
    whole_counts,
)
from sayso.metrics.intervals import (
    UNMOVED,
    OneMore,
    Resampled,
    Statistic,
    bootstrap,
    current_level,
    make_estimate,
    no_difference,
    resample_weights,
    standard_error,
    student_p,
    student_quantile,
)
from sayso.metrics.ranking import (
    ANYWHERE,
    SortedScore,
    auroc,
    auroc_steps,
    pairs_of,
    with_pairs,
)
from sayso.metrics.uncle_rates import undefined
from sayso.records import Estimate, InputError

__all__ = [
    "RankFlip", "ScoreDifference", "averaged", "cross_fitted_best", "holm", "paired_differences",
    "rank_flips",
]  # fmt: skip


class ScoreDifference(msgspec.Struct, frozen=True):
    """metric(first) - metric(second) on the rows that both have.

    ``difference`` with its 95 % interval (``n`` rows, ``missing`` rows left out because a score
    is missing); ``p`` two-sided, ``None`` if undefined; ``p_holm`` corrected over the table.
    """

    first: str
    second: str
    difference: Estimate
    p: float | None = None
    p_holm: float | None = None


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return Holm's step-down adjusted p-values in the given order; ``None`` stays, uncounted.

    The i-th smallest of m is multiplied by m - i + 1, then made monotone and cut at 1.
    """
    defined = [(p, i) for i, p in enumerate(p_values) if p is not None]
    adjusted: list[float | None] = [None] * len(p_values)
    running = 0.0
    for rank, (p, i) in enumerate(sorted(defined)):
        running = max(running, min(1.0, p * (len(defined) - rank)))
        adjusted[i] = running
    return adjusted


def difference_p(difference: Estimate, clusters: int) -> float | None:
    """Return the two-sided p of a difference from its symmetric interval, Student's t.

    ``clusters`` is how many were resampled (:func:`~sayso.metrics.intervals.bootstrap_difference`).
    ``None`` without an interval, and where every resample gave the same difference that is not 0.
    """
    value, low, high = difference.value, difference.low, difference.high
    if value is None or low is None or high is None or clusters < 2:
        return None
    error = (high - low) / 2 / student_quantile((1 + current_level()) / 2, clusters - 1)
    return _p(value, error, clusters - 1)


def paired_differences(
    scores: Mapping[str, ArrayLike],
    incorrect: ArrayLike,
    metric: Statistic = auroc,
    pairs: Sequence[tuple[str, str]] | None = None,
    clusters: ArrayLike | None = None,
    n: int = 2000,
    seed: int = 0,
    **keywords: Any,
) -> list[ScoreDifference]:
    """Return the difference of every two scores (or of ``pairs``) under a metric, Holm-corrected.

    ``scores`` name -> (n,), ``incorrect`` (n,), ``metric(score, incorrect, weights=...)``. Rows
    where either score is NaN are left out of a pair on both sides. The p-value is
    Student's t of difference / bootstrap standard error with clusters - 1 degrees of freedom, the
    test that belongs to the interval.
    """
    columns = {name: np.asarray(values, dtype=np.float64) for name, values in scores.items()}
    wrong = np.asarray(incorrect, dtype=np.float64)
    for name, column in columns.items():
        if column.shape != wrong.shape:
            raise InputError(f"score {name!r} has {len(column)} rows, the classes {len(wrong)}")
    unit = cluster_codes(clusters, len(wrong))
    count = count_codes(unit)
    weights: NDArray[Any] = np.zeros((0, count))
    if count:
        rng = np.random.default_rng(seed)
        weights = whole_counts(np.concatenate(list(resample_weights(count, n, rng, None))))
    replicates_of = _Replicates(columns, wrong, unit, weights, metric, keywords)
    result = []
    for first, second in combinations(columns, 2) if pairs is None else pairs:
        rows = ~(np.isnan(columns[first]) | np.isnan(columns[second]) | np.isnan(wrong))
        title = f"{first} - {second}"
        missing = int((~rows).sum())
        one, two = replicates_of(first, rows), replicates_of(second, rows)
        if one[0] is None or two[0] is None:
            gap = Estimate(
                name=title, n=int(rows.sum()), missing=missing, problem="undefined on these rows"
            )
            result.append(ScoreDifference(first, second, gap))
            continue
        value = one[0] - two[0]
        held = len(np.unique(unit[rows]))
        resampled = Resampled(one[1] - two[1], held)
        gap = make_estimate(title, value, resampled, None, int(rows.sum()))
        gap = msgspec.structs.replace(gap, missing=missing)
        error = standard_error(*resampled)
        p = _p(value, error, held - 1)
        if (codes(columns[first][rows]) == codes(columns[second][rows])).all():  # ranked alike
            gap = no_difference(gap)
        elif gap.problem == UNMOVED:
            # two scores that rank perfectly: no resample tells them apart, the next answers may
            p = None
        result.append(ScoreDifference(first, second, gap, p))
    adjusted = holm([d.p for d in result])
    return [msgspec.structs.replace(d, p_holm=p) for d, p in zip(result, adjusted, strict=True)]


def _p(value: float, error: float | None, freedom: int) -> float | None:
    if error is None or freedom < 1:
        return None
    if error == 0:
        return 1.0 if value == 0 else None
    return student_p(value / error, freedom)


class _Replicates:
    """A metric and its replicates of each score on each set of rows, computed once."""

    def __init__(
        self,
        columns: Mapping[str, Floats],
        wrong: Floats,
        unit: NDArray[np.int64],
        weights: NDArray[Any],
        metric: Statistic,
        keywords: Mapping[str, Any],
    ) -> None:
        self._data = columns, wrong, unit, weights, metric, keywords
        self._memo: dict[tuple[str, bytes], tuple[float | None, Floats]] = {}

    def __call__(self, name: str, rows: NDArray[np.bool_]) -> tuple[float | None, Floats]:
        key = (name, rows.tobytes())
        if key not in self._memo:
            columns, wrong, unit, weights, metric, keywords = self._data
            score, classes, index = columns[name][rows], wrong[rows], unit[rows]
            value = metric(score, classes, **keywords)
            if metric is auroc and not keywords:
                ranking = SortedScore(score, classes)
                drawn = ranking.each((auroc_steps,), weights, index)[0]
                self._memo[key] = (None if value is None else float(value), drawn)
                return self._memo[key]
            step = max(1, 1_000_000 // max(1, len(score)))
            parts = [
                np.asarray(
                    metric(
                        score,
                        classes,
                        weights=weights[i : i + step][:, index].astype(np.float64),
                        **keywords,
                    ),
                    dtype=np.float64,
                )
                for i in range(0, len(weights), step)
            ]
            drawn = np.concatenate(parts) if parts else np.zeros(0)
            self._memo[key] = (None if value is None else float(value), drawn)
        return self._memo[key]


# ---- the best of many, measured where it was not chosen
#
# The highest AUROC of many scores is partly luck. So entities are dealt into
# folds, and a pair of answers in folds a and b is ranked by the score that is best on the pairs of
# all other folds: leave-pair-out cross-validation (Airola et al. 2011), by folds. Every pair is
# measured once, and values of two scores are never set against each other.

#: folds of entities; two at most are left out of a choice
FOLDS = 10
#: resamples of entities in which the best score is chosen anew: each costs as much as the first
RECHOSEN = 200


def cross_fitted_best(
    scores: Mapping[str, ArrayLike],
    incorrect: ArrayLike,
    strata: Mapping[str, ArrayLike] | None = None,
    clusters: ArrayLike | None = None,
    name: str = "auroc_best",
    n: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return the AUROC of the best of ``scores``, chosen on other entities than it is measured on.

    ``scores`` and ``strata`` name -> (n,); of a score without strata all pairs count. Ties and
    missing values as in :func:`~sayso.metrics.ranking.bootstrap_auroc`. Folds are drawn from
    ``seed``. The interval resamples entities (``clusters``) at most :data:`RECHOSEN` times and
    chooses anew in every resample, an entity that is drawn twice staying in its fold. ``None``
    with fewer than three entities, without scores, and with one class.
    """
    wrong = np.asarray(incorrect, dtype=np.float64)
    unit = cluster_codes(clusters, len(wrong))
    count = count_codes(unit)
    if count < 3 or not scores:
        problem = "choosing a score needs at least three entities"
        return Estimate(name, n=len(wrong), problem=problem)
    folds = min(FOLDS, count)
    fold = (np.random.default_rng(seed).permutation(count) % folds)[unit]
    kinds = strata or {}
    folded = [
        _Folded(np.asarray(score, dtype=np.float64), wrong, kinds.get(key), fold, folds)
        for key, score in scores.items()
    ]
    tables = np.stack([one.by_fold() for one in folded])
    choice = _choices(tables)
    used = [place for place in np.unique(choice).tolist() if place >= 0]
    if not used:
        return Estimate(name, n=len(wrong), problem=undefined(name))
    most = max(used, key=lambda place: int((choice == place).sum()))
    kind = kinds.get(list(scores)[most])
    held = np.where(np.any([one.use for one in folded], axis=0), wrong, np.nan)
    pairs = pairs_of(held, kind, unit)

    def chosen(rows: Floats, weights: ArrayLike | None = None) -> Result:
        W, single = weight_rows(weights, len(rows))
        by_row = np.ascontiguousarray(whole_counts(W).T)
        every = np.stack([one.by_fold(by_row) for one in folded])
        return as_result(_best(every), single)

    estimate = bootstrap(
        chosen, wrong, clusters=unit, n=min(n, RECHOSEN), seed=seed, name=name, whole=True,
        freedom=OneMore(pairs.independent, *ANYWHERE),
    )  # fmt: skip
    if estimate.value is None:
        return estimate
    a, b = np.indices(choice.shape)
    pairs = pairs._replace(total=int(tables[choice, 1, a, b][choice >= 0].sum()))
    return with_pairs(msgspec.structs.replace(estimate, n=int((~np.isnan(held)).sum())), pairs)


#: rows that a piece of a ranking takes: of two pieces sums are compared, inside one each pair
PIECE = 16


class _Folded:
    """The pairs of one score within strata, by the folds of their wrong and their right answer.

    Rows are sorted once, by stratum and score, and cut into pieces that keep equal scores together.
    Between two pieces all pairs are in order, so sums over folds are enough. A piece of one score
    holds ties only; in a piece of several its few pairs are listed.
    """

    def __init__(
        self,
        score: Floats,
        wrong: Floats,
        strata: ArrayLike | None,
        fold: NDArray[np.int64],
        folds: int,
    ) -> None:
        self.use = ~(np.isnan(score) | np.isnan(wrong))
        rows = np.flatnonzero(self.use)
        kind = np.zeros(len(rows), dtype=np.int64) if strata is None else codes(strata)[rows]
        order = np.lexsort((score[rows], kind))
        self._rows, kind = rows[order], kind[order]
        self._folds = folds
        if not len(rows):
            return
        block = _numbers(block_starts(kind, score[self._rows]), len(rows))
        piece = _pieces(kind, block)
        bad, fold = wrong[self._rows] > 0, fold[self._rows]
        cell = (2 * piece + ~bad) * folds + fold
        self._by_cell = np.argsort(cell, kind="stable")
        self._cell_starts = block_starts(cell[self._by_cell])
        self._cells = cell[self._by_cell][self._cell_starts]
        heads = block_starts(piece)
        self._strata = block_starts(kind[heads])
        self._first = np.repeat(self._strata, np.diff([*self._strata, len(heads)]))
        ends = np.append(heads[1:], len(rows))
        lone = block[heads] == block[ends - 1]
        self._ties = np.where(lone, 0.5, 0.0)[:, None, None]
        low, high, tied = _pairs_inside(piece, block, bad, ~lone[piece])
        cell = fold[high] * folds + fold[low]
        order = np.lexsort((tied, cell))
        self._low, self._high = low[order], high[order]
        cell, tied = cell[order], tied[order]
        self._pair_starts = block_starts(cell, tied)
        self._pair_cells = cell[self._pair_starts]
        self._pair_worth = np.where(tied[self._pair_starts], 0.5, 1.0)[:, None]

    def by_fold(self, weights: NDArray[Any] | None = None) -> Floats:
        """Return pairs in order, ties half, and all pairs: (2, folds of wrong, folds of right).

        (2, folds, folds, B) for weights (n, B).
        """
        W = np.ones((len(self.use), 1)) if weights is None else weights
        folds, width = self._folds, W.shape[1]
        table = np.zeros((2, folds, folds, width))
        if len(self._rows):
            held = W[self._rows]
            wrong, right = self._sums(held)
            upto = np.cumsum(right, axis=0)
            before = upto - right
            below = before - before[self._first] + self._ties * right
            table[0] = _over_pieces(wrong, below)
            table[1] = _over_pieces(
                *(np.add.reduceat(side, self._strata, axis=0) for side in (wrong, right))
            )
            if len(self._low):
                # the products of two weights are exact
                exact: Any = np.uint16 if held.dtype == np.uint8 else np.float64
                products = held[self._high].astype(exact) * held[self._low]
                sums = np.add.reduceat(products, self._pair_starts, axis=0, dtype=np.float64)
                inside = np.zeros((folds * folds, width))
                np.add.at(inside, self._pair_cells, sums * self._pair_worth)
                table[0] += inside.reshape(folds, folds, width)
        return table[..., 0] if weights is None else table

    def _sums(self, held: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return the weight of wrong and of right answers in each piece: (pieces, folds, B)."""
        pieces, width = len(self._ties), held.shape[1]
        sums = np.zeros((pieces * 2 * self._folds, width))
        sums[self._cells] = np.add.reduceat(
            held[self._by_cell].astype(np.float64), self._cell_starts, axis=0
        )
        by_side = sums.reshape(pieces, 2, self._folds, width)
        return by_side[:, 0], by_side[:, 1]


def _over_pieces(wrong: Floats, right: Floats) -> Floats:
    """Return sum_c wrong[c, a] right[c, b] of (pieces, folds, B), (folds, folds, B)."""
    one, two = (np.ascontiguousarray(side.transpose(2, 1, 0)) for side in (wrong, right))
    return np.asarray((one @ two.transpose(0, 2, 1)).transpose(1, 2, 0), dtype=np.float64)


def _numbers(starts: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Return the number of the run (n,) that each row is in, from where runs start."""
    change = np.zeros(n, dtype=np.int64)
    change[starts] = 1
    return np.cumsum(change) - 1


def _pieces(kind: NDArray[np.int64], block: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the piece (n,) of each row: blocks of equal scores, up to about :data:`PIECE` rows.

    A piece lies in one stratum, and a large block is a piece of its own.
    """
    starts = block_starts(block)
    large = np.diff([*starts, len(block)]) >= PIECE // 2
    alone = np.cumsum(large + np.append([False], large[:-1])) if len(large) else large
    return _numbers(block_starts(kind, (starts // PIECE)[block], alone[block]), len(block))


def _pairs_inside(
    piece: NDArray[np.int64],
    block: NDArray[np.int64],
    bad: NDArray[np.bool_],
    use: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return the right and the wrong answer of each pair in the pieces of rows in ``use``.

    Only pairs in order or tied are there: the third array says which are tied.
    """
    rows = np.flatnonzero(use)
    low: list[NDArray[np.int64]] = [rows[:0]]
    high: list[NDArray[np.int64]] = [rows[:0]]
    for gap in range(1, int(np.bincount(piece[rows], minlength=1).max())):
        one, two = rows[:-gap], rows[gap:]  # the second has the higher score, or an equal one
        near = piece[one] == piece[two]
        one, two = one[near], two[near]
        right = ~bad[one] & bad[two]
        left = bad[one] & ~bad[two] & (block[one] == block[two])
        low += [one[right], two[left]]
        high += [two[right], one[left]]
    lower, higher = np.concatenate(low), np.concatenate(high)
    return lower, higher, block[lower] == block[higher]


def _choices(tables: Floats) -> NDArray[np.int64]:
    """Return the score to rank pairs of folds a and b by, (folds, folds), -1 = none can be chosen.

    ``tables`` (scores, 2, folds, folds) are :meth:`_Folded.by_fold`; (..., B) gives (..., B). The
    best on all pairs that touch neither fold; of equally good ones the first.
    """
    both = tables + tables.swapaxes(2, 3)
    folds = np.arange(tables.shape[2])
    own = tables[:, :, folds, folds]
    touching = both.sum(axis=3) - own  # pairs that touch a fold, those inside it once
    whole = tables.sum(axis=(2, 3))
    rest = whole[:, :, None, None] - touching[:, :, :, None] - touching[:, :, None] + both
    rest[:, :, folds, folds] = whole[:, :, None] - touching
    in_order, pairs = rest[:, 0], rest[:, 1]
    # pairs in order are whole or half, so equal shares are equal numbers
    value = np.where(pairs > 0, np.nan_to_num(divide(in_order, pairs), nan=-1.0), -1.0)
    return np.where(value.max(axis=0) >= 0, value.argmax(axis=0), -1)


def _best(tables: Floats) -> Floats:
    """Return the share of pairs in order, each by the score chosen for its folds, (B,)."""
    choice = _choices(tables)
    place = np.maximum(choice, 0)[None]
    picked = (np.take_along_axis(tables[:, part], place, axis=0)[0] for part in (0, 1))
    in_order, pairs = (np.where(choice >= 0, x, 0.0).sum(axis=(0, 1)) for x in picked)
    return divide(in_order, pairs)


class RankFlip(msgspec.Struct, frozen=True):
    """Two scores whose order two answer metrics disagree on.

    Under ``under`` the first score is better, under ``against`` the second. ``clear`` when both
    differences are significant (Holm-corrected p < 0.05), else the flip may be chance.
    """

    first: str
    second: str
    under: str
    against: str
    difference_under: float
    difference_against: float
    clear: bool


def rank_flips(differences: Mapping[str, Sequence[ScoreDifference]]) -> list[RankFlip]:
    """Return every pair of scores that some two answer metrics rank the other way round.

    ``differences``: answer metric -> :func:`paired_differences` of an evaluation metric where
    higher is better (AUROC, PRR). Clear flips come first.
    """
    values: dict[tuple[str, str], dict[str, tuple[float, bool]]] = {}
    for by, items in differences.items():
        for d in items:
            if d.difference.value is None:
                continue
            sure = d.p_holm is not None and d.p_holm < 0.05
            values.setdefault((d.first, d.second), {})[by] = (d.difference.value, sure)
    flips = []
    for (first, second), by_metric in values.items():
        for one, two in combinations(by_metric, 2):
            (a, sure_a), (b, sure_b) = by_metric[one], by_metric[two]
            if a * b >= 0:
                continue
            under, against = (one, two) if a > 0 else (two, one)
            flips.append(
                RankFlip(first, second, under, against, max(a, b), min(a, b), sure_a and sure_b)
            )
    return sorted(flips, key=lambda f: (not f.clear, f.difference_against - f.difference_under))


def averaged(metric: Statistic) -> Callable[..., Result]:
    """Return a metric that is the plain mean of ``metric`` over groups (datasets).

    The result takes ``(uncertainty, incorrect, groups, weights=None)``; pass ``strata=groups`` to
    ``bootstrap``, so that each dataset keeps its size (averaging the end-points of
    separate intervals is about sqrt(datasets) too wide). Undefined if it is in any group.
    """

    def mean_over_groups(
        uncertainty: ArrayLike,
        incorrect: ArrayLike,
        groups: ArrayLike,
        weights: ArrayLike | None = None,
        **keywords: Any,
    ) -> Result:
        score, wrong = np.asarray(uncertainty), np.asarray(incorrect)
        group = codes(groups)
        W = None if weights is None else np.asarray(weights, dtype=np.float64)
        values = []
        for k in range(count_codes(group)):
            here = group == k
            part = None if W is None else W[..., here]
            values.append(metric(score[here], wrong[here], weights=part, **keywords))
        if not values:
            return None if W is None or W.ndim == 1 else np.full(len(W), np.nan)
        if any(v is None for v in values):
            return None
        mean = np.mean(np.asarray(values, dtype=np.float64), axis=0)
        return float(mean) if np.ndim(mean) == 0 else np.asarray(mean, dtype=np.float64)

    mean_over_groups.__name__ = f"mean_{getattr(metric, '__name__', 'metric')}"
    return mean_over_groups

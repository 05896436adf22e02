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
    cluster_codes,
    codes,
    count_codes,
    divide,
    weight_rows,
)
from sayso.metrics.intervals import (
    LEVEL,
    UNMOVED,
    Resampled,
    Statistic,
    bootstrap,
    make_estimate,
    no_difference,
    resample_weights,
    standard_error,
    student_p,
    student_quantile,
)
from sayso.metrics.ranking import auroc, deciding_entities, pairs_of, with_pairs
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
    """Return the two-sided p of a difference from its symmetric 95 % interval, Student's t.

    ``clusters`` is how many were resampled (:func:`~sayso.metrics.intervals.bootstrap_difference`).
    ``None`` without an interval, and where every resample gave the same difference that is not 0.
    """
    value, low, high = difference.value, difference.low, difference.high
    if value is None or low is None or high is None or clusters < 2:
        return None
    error = (high - low) / 2 / student_quantile((1 + LEVEL) / 2, clusters - 1)
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
    weights = np.zeros((0, count))
    if count:
        rng = np.random.default_rng(seed)
        weights = np.concatenate(list(resample_weights(count, n, rng, None)))
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
        if _alike(columns[first][rows], columns[second][rows]):
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


def _alike(first: Floats, second: Floats) -> bool:
    """Tell whether two scores order all rows in the same way."""
    return bool((codes(first) == codes(second)).all())


class _Replicates:
    """A metric and its replicates of each score on each set of rows, computed once."""

    def __init__(
        self,
        columns: Mapping[str, Floats],
        wrong: Floats,
        unit: NDArray[np.int64],
        weights: Floats,
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
            step = max(1, 1_000_000 // max(1, len(score)))
            parts = [
                np.asarray(
                    metric(score, classes, weights=weights[i : i + step][:, index], **keywords),
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
        _Folded(np.asarray(score, dtype=np.float64), wrong, kinds.get(key), fold)
        for key, score in scores.items()
    ]
    tables = np.stack([one.by_fold(folds) for one in folded])
    choice = _choices(tables)
    used = [place for place in np.unique(choice).tolist() if place >= 0]
    if not used:
        return Estimate(name, n=len(wrong), problem=undefined(name))
    most = max(used, key=lambda place: int((choice == place).sum()))
    kind = kinds.get(list(scores)[most])
    freedom = deciding_entities(list(scores.values())[most], wrong, kind, unit) - 1

    def chosen(rows: Floats, weights: ArrayLike | None = None) -> Result:
        W, single = weight_rows(weights, len(rows))
        every = np.stack([one.by_fold(folds, W) for one in folded])
        return as_result(_best(every), single)

    estimate = bootstrap(
        chosen, wrong, clusters=unit, n=min(n, RECHOSEN), seed=seed, name=name, whole=True,
        freedom=max(freedom, 1.0),
    )  # fmt: skip
    if estimate.value is None:
        return estimate
    a, b = np.indices(choice.shape)
    held = np.where(np.any([one.use for one in folded], axis=0), wrong, np.nan)
    pairs = pairs_of(held, kind, unit)
    pairs = pairs._replace(total=int(tables[choice, 1, a, b][choice >= 0].sum()))
    return with_pairs(
        msgspec.structs.replace(estimate, n=int((~np.isnan(held)).sum())), pairs, freedom
    )


class _Folded:
    """The pairs of one score within strata, by the folds of their wrong and their right answer."""

    def __init__(
        self, score: Floats, wrong: Floats, strata: ArrayLike | None, fold: NDArray[np.int64]
    ) -> None:
        self.use = ~(np.isnan(score) | np.isnan(wrong))
        rows = np.flatnonzero(self.use)
        kind = np.zeros(len(rows), dtype=np.int64) if strata is None else codes(strata)[rows]
        rank = codes(score[rows])
        size = count_codes(rank)
        key = kind * size + rank
        bad = wrong[rows] > 0
        self._wrong, self._key = rows[bad], key[bad]
        self._ends = kind[bad] * size, (kind[bad] + 1) * size
        order = np.argsort(key[~bad], kind="stable")
        self._right, self._right_key = rows[~bad][order], key[~bad][order]
        self._fold = fold

    def by_fold(self, folds: int, weights: Floats | None = None) -> Floats:
        """Return pairs in order, ties half, and all pairs: (2, folds of wrong, folds of right).

        (2, folds, folds, B) for weights (B, n).
        """
        W = np.ones((1, len(self._fold))) if weights is None else weights
        member = (self._fold[self._wrong][:, None] == np.arange(folds)).astype(np.float64)
        mass = W.take(self._wrong, axis=1)
        table = np.zeros((2, folds, folds, len(W)))
        for right in range(folds):
            for place, sums in enumerate(self._facing(right, W)):
                table[place, :, right] = ((mass * sums) @ member).T
        return table[..., 0] if weights is None else table

    def _facing(self, right: int, weights: Floats) -> tuple[Floats, Floats]:
        """Return the weight of a fold's right answers below each wrong one, and of all, (B, m)."""
        here = self._fold[self._right] == right
        keys = self._right_key[here]
        heavy = np.zeros((len(weights), len(keys) + 1))
        np.cumsum(weights.take(self._right[here], axis=1), axis=1, out=heavy[:, 1:])
        first, last = self._ends
        start = heavy.take(np.searchsorted(keys, first), axis=1)
        below, upto = (
            heavy.take(np.searchsorted(keys, self._key, side=side), axis=1)
            for side in ("left", "right")
        )
        return (below + upto) / 2 - start, heavy.take(np.searchsorted(keys, last), axis=1) - start


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

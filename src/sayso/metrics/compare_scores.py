"""Which of two scores is better, and does the answer depend on the answer metric?

Scores are compared on the same rows with the same resamples, and all comparisons of one table are
corrected together (Holm 1979).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import Floats, Result, cluster_codes, codes, count_codes
from sayso.metrics.intervals import (
    LEVEL,
    Metric,
    Resampled,
    make_estimate,
    resample_weights,
    standard_error,
    student_p,
    student_quantile,
)
from sayso.metrics.ranking import auroc
from sayso.records import Estimate, InputError

__all__ = ["RankFlip", "ScoreDifference", "averaged", "holm", "paired_differences", "rank_flips"]


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
    metric: Metric = auroc,
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
        result.append(ScoreDifference(first, second, gap, _p(value, error, held - 1)))
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
        weights: Floats,
        metric: Metric,
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


def averaged(metric: Metric) -> Callable[..., Result]:
    """Return a metric that is the plain mean of ``metric`` over groups (datasets).

    The result takes ``(uncertainty, incorrect, groups, weights=None)``; pass ``strata=groups`` to
    ``bootstrap``, so that each dataset keeps its size (PROTOCOLS 3.B; averaging the end-points of
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

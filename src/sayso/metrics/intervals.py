"""Intervals that respect dependence: whole entities are resampled, never single aspects.

Aspects of one entity, its prompts and the paired forms move together, so the unit is the cluster
(PROTOCOLS 5.5). The method, chosen by simulation (``benchmarks/coverage.py``):

* The bootstrap standard error over clusters, times sqrt(C/(C-1)) for the variance that C resampled
  clusters lose, times Student's t quantile with C-1 degrees of freedom, on the logit scale of the
  metric's range. At 20 entities plain percentiles hold 90-94 % of the time, this 94-97 %.
* Sparse proportions (fewer than 10 in the denominator, or fewer than 5 successes or failures):
  the exact Clopper-Pearson interval, at the effective sample size that the clustering leaves
  (Korn and Graubard 1998), never larger than the real one. It is conservative.
* A difference of two proportions (J) of which one is sparse: their intervals combined as by
  Zou and Donner (2008, "MOVER") with the correlation of the resamples.
* Other metrics and paired differences have no exact form: symmetric or logit t throughout.

Resampling is by integer weights: a metric takes weights (B, n) and returns (B,).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.distributions import exact_interval, student_quantile
from sayso.metrics.rates import Floats, or_none
from sayso.metrics.reasons import undefined
from sayso.metrics.roc import codes
from sayso.records import Estimate, InputError

Metric = Callable[..., Any]
Range = tuple[float, float]
Interval = tuple[float | None, float | None]

SPARSE_DENOMINATOR = 10
SPARSE_COUNT = 5
UNDEFINED_SHARE = 0.05
LEVEL = 0.95
#: Floats held at once by one block of resamples (a metric makes a few temporaries of this size).
BLOCK = 1_000_000


def resample_weights(
    clusters: int, n: int, rng: np.random.Generator, strata: ArrayLike | None = None, row: int = 0
) -> Iterator[Floats]:
    """Yield blocks of bootstrap weights, (b, clusters), ``n`` rows in all.

    A row counts how often each cluster was drawn; with ``strata`` (clusters,) clusters are drawn
    within their stratum, so that its size stays. ``row`` is the length of the rows that a caller
    expands a block to; blocks hold about :data:`BLOCK` floats. The block size does not change
    the draws.
    """
    group = np.zeros(clusters, dtype=np.int64) if strata is None else codes(strata)
    order = np.argsort(group, kind="stable")
    size = np.bincount(group)
    start = np.repeat(np.cumsum(size) - size, size)
    span = np.repeat(size, size)
    step = max(1, BLOCK // max(clusters, row, 1))
    for first in range(0, n, step):
        b = min(step, n - first)
        drawn = start + np.floor(rng.random((b, clusters)) * span).astype(np.int64)
        flat = (order[drawn] + np.arange(b)[:, None] * clusters).reshape(-1)
        yield np.bincount(flat, minlength=b * clusters).reshape(b, clusters).astype(np.float64)


def standard_error(replicates: ArrayLike, clusters: int, strata: int = 1) -> float | None:
    """Return the bootstrap standard error, corrected for few clusters; ``None`` if undefined.

    sqrt(C/(C-S)) times the spread of the defined replicates (NaN = undefined), for C clusters in
    S strata.
    """
    values = np.asarray(replicates, dtype=np.float64)
    values = values[~np.isnan(values)]
    if len(values) < 2 or clusters <= strata:
        return None
    return float(values.std(ddof=1) * np.sqrt(clusters / (clusters - strata)))


def student_interval(
    value: float, error: float, freedom: int, limits: Range | None = (0.0, 1.0)
) -> Interval:
    """Return value -+ t * error, on the logit (log) scale of a range with two (one) finite ends.

    ``limits=None``: symmetric. (None, None) for a value on an end of its range: the scale is
    infinite there, and resamples of perfect data are all perfect, which is no evidence of it.
    """
    width = student_quantile((1 + LEVEL) / 2, freedom) * error
    if limits is None:
        return value - width, value + width
    low, high = limits
    if not low < value < high:
        return None, None
    if np.isinf(high):
        factor = float(np.exp(width / (value - low)))
        return low + (value - low) / factor, low + (value - low) * factor
    x = (value - low) / (high - low)
    step = width / (high - low) / (x * (1 - x))
    centre = np.log(x / (1 - x))
    ends = (1 / (1 + np.exp(-(centre + side * step))) for side in (-1, 1))
    return _pair(low + (high - low) * float(end) for end in ends)


def _pair(ends: Iterator[float]) -> Interval:
    low, high = ends
    return low, high


def is_sparse(successes: float, trials: float) -> bool:
    """Return whether a proportion gets an exact interval instead of the bootstrap's."""
    return trials < SPARSE_DENOMINATOR or min(successes, trials - successes) < SPARSE_COUNT


def proportion_interval(
    successes: float, trials: float, error: float | None, clusters: int, strata: int = 1
) -> Interval:
    """Return the interval of successes/trials, given its bootstrap standard error over clusters.

    Sparse: exact at the effective size (see the module); else :func:`student_interval`. Without a
    standard error (one cluster) or within sparse proportions that did not vary: plain exact.
    """
    if trials <= 0:
        return None, None
    p = successes / trials
    freedom = clusters - strata
    if not is_sparse(successes, trials):
        return (None, None) if error is None else student_interval(p, error, freedom)
    size = trials
    if error and 0 < p < 1 and trials > 1 and freedom > 0:
        shrink = student_quantile(0.975, trials - 1) / student_quantile(0.975, freedom)
        size = min(trials, p * (1 - p) / error**2 * shrink**2)
    return exact_interval(p * size, size, LEVEL)


def difference_interval(
    parts: tuple[float, float], ends: tuple[Interval, Interval], correlation: float
) -> Interval:
    """Return the interval of parts[0] - parts[1] from the intervals of the two (MOVER).

    Zou and Donner 2008, with their correlation r: lower end
    d - sqrt(a^2 - 2 r a b + b^2), a = p1 - l1, b = u2 - p2; the upper end likewise.
    """
    (low1, high1), (low2, high2) = ends
    if low1 is None or high1 is None or low2 is None or high2 is None:
        return None, None
    d = parts[0] - parts[1]
    r = min(max(correlation, -1.0), 1.0)

    def reach(a: float, b: float) -> float:
        return float(np.sqrt(max(0.0, a * a - 2 * r * a * b + b * b)))

    low = d - reach(parts[0] - low1, high2 - parts[1])
    high = d + reach(high1 - parts[0], parts[1] - low2)
    return max(low, -1.0), min(high, 1.0)


def undefined_problem(replicates: ArrayLike) -> str | None:
    """Return a sentence if more than 5 % of the resamples left the metric undefined."""
    values = np.asarray(replicates, dtype=np.float64)
    share = float(np.isnan(values).mean()) if values.size else 0.0
    if share <= UNDEFINED_SHARE:
        return None
    return f"undefined in {100 * share:.0f} % of the resamples, which were skipped"


def bootstrap(
    metric: Metric,
    *arrays: ArrayLike,
    clusters: ArrayLike | None = None,
    crossed: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    n: int = 2000,
    seed: int = 0,
    limits: Range | None = (0.0, 1.0),
    name: str | None = None,
    **keywords: Any,
) -> Estimate:
    """Return a metric with its 95 % interval from resampling clusters.

    ``metric(*arrays, weights=..., **keywords)`` with rows (n,) and weights (B, n) returns (B,).
    ``clusters`` (n,) names each row's entity (default: every row its own), ``strata`` (n,) a
    grouping above the clusters within which they are drawn (such as domains), ``crossed`` (n,) a
    second factor (such as aspect types) whose levels are resampled too, the weights multiplied:
    two-way intervals, conservative (Owen 2007). ``limits`` is the range of the metric: (0, 1),
    (-1, 1) for J, (0, inf) for odds ratios, ``None`` for differences (symmetric interval).
    Resamples in which the metric is undefined (one class only) are skipped; more than 5 % of them
    are told in ``problem``. ``value`` is ``None`` where the metric itself is undefined.
    """
    rows = len(np.asarray(arrays[0]))
    unit = np.arange(rows) if clusters is None else codes(clusters)
    count = int(unit.max()) + 1 if rows else 0
    value = metric(*arrays, **keywords)
    title = name or str(getattr(metric, "__name__", "metric"))
    if value is None or count == 0:
        return Estimate(name=title, n=rows, problem=undefined(title))
    layer = strata_of_clusters(unit, count, strata)
    second = None if crossed is None else codes(crossed)
    rng = np.random.default_rng(seed)
    twin = np.random.default_rng([seed, 1])
    found = []
    for weights in resample_weights(count, n, rng, layer, row=rows):
        expanded = weights if clusters is None else weights[:, unit]
        if second is not None:
            levels = int(second.max()) + 1
            draws = twin.multinomial(levels, np.full(levels, 1 / levels), size=len(weights))
            expanded = expanded * draws[:, second]
        found.append(np.asarray(metric(*arrays, weights=expanded, **keywords), dtype=np.float64))
    replicates = np.concatenate(found)
    groups = 1 if layer is None else len(np.unique(layer))
    if second is not None:
        count = min(count, int(second.max()) + 1)
    return make_estimate(title, float(value), replicates, count, groups, limits, rows)


def bootstrap_difference(
    metric: Metric,
    first: Sequence[ArrayLike],
    second: Sequence[ArrayLike],
    clusters: ArrayLike | None = None,
    second_clusters: ArrayLike | None = None,
    n: int = 2000,
    seed: int = 0,
    name: str | None = None,
    **keywords: Any,
) -> Estimate:
    """Return metric(first) - metric(second) with the interval of a paired cluster bootstrap.

    Both sides are resampled together: a cluster named in both gets the same weight in both. With
    one ``clusters`` the rows of the two sides correspond; ``second_clusters`` allows other rows.
    Symmetric interval; exactly [0, 0] for two identical sides.
    """
    rows = len(np.asarray(first[0]))
    names = np.arange(rows) if clusters is None else np.asarray(clusters)
    other = names if second_clusters is None else np.asarray(second_clusters)
    if len(other) != len(np.asarray(second[0])):
        raise InputError(
            f"paired sides have {rows} and {len(np.asarray(second[0]))} rows: "
            "give second_clusters to name the rows of the second side"
        )
    joint = codes(np.concatenate([names, other]))
    unit, twin = joint[:rows], joint[rows:]
    count = int(joint.max()) + 1 if len(joint) else 0
    title = name or f"difference of {getattr(metric, '__name__', 'metric')}"
    values = metric(*first, **keywords), metric(*second, **keywords)
    if values[0] is None or values[1] is None:
        return Estimate(name=title, n=rows, problem="undefined on one side")
    found = []
    rng = np.random.default_rng(seed)
    for weights in resample_weights(count, n, rng, row=max(rows, len(other))):
        sides = (
            np.asarray(metric(*side, weights=weights[:, index], **keywords), dtype=np.float64)
            for side, index in ((first, unit), (second, twin))
        )
        found.append(next(sides) - next(sides))
    difference = float(values[0]) - float(values[1])
    return make_estimate(title, difference, np.concatenate(found), count, 1, None, rows)


def make_estimate(
    name: str,
    value: float,
    replicates: Floats,
    clusters: int,
    strata: int,
    limits: Range | None,
    n: int,
    least_error: float = 0.0,
) -> Estimate:
    """Return the Estimate of a value with its bootstrap replicates (NaN = undefined).

    ``least_error``: a standard error known from elsewhere below which it is not taken to lie.
    """
    if np.isnan(value):
        return Estimate(name=name, n=n, problem=undefined(name))
    error = standard_error(replicates, clusters, strata)
    if error is None:
        return Estimate(name=name, value=value, n=n, problem="no interval: a single cluster")
    low, high = student_interval(value, max(error, least_error), clusters - strata, limits)
    problem = undefined_problem(replicates)
    if low is None:
        problem = "no interval: the value is on the end of its range"
    return Estimate(name=name, value=or_none(value), low=low, high=high, n=n, problem=problem)


def strata_of_clusters(
    unit: NDArray[np.int64], count: int, strata: ArrayLike | None
) -> NDArray[np.int64] | None:
    """Return the stratum of each cluster; an error if a cluster lies in two."""
    if strata is None:
        return None
    layer = codes(strata)
    of_cluster = np.zeros(count, dtype=np.int64)
    of_cluster[unit] = layer
    if (of_cluster[unit] != layer).any():
        raise InputError("strata: a cluster lies in two strata; strata must contain whole clusters")
    return of_cluster

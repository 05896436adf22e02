"""Intervals that respect dependence: whole entities are resampled, never single aspects.

Aspects of one entity, its prompts and the paired forms move together, so the unit is the cluster.
The method, chosen by simulation (``benchmarks/metrics/coverage.py``):

* The bootstrap standard error over clusters, times sqrt(C/(C-1)) for the variance that C resampled
  clusters lose, times Student's t quantile with C-1 degrees of freedom, on the logit scale of the
  metric's range. At 20 entities plain percentiles hold 90-94 % of the time, this 94-97 %.
* Sparse proportions (fewer than 10 in the denominator, or fewer than 5 successes or failures):
  the exact Clopper-Pearson interval, at the effective sample size that the clustering leaves
  (Korn and Graubard 1998), never larger than the real one. It is conservative. Where resamples do
  not say what it leaves (shares of exactly 0 or 1), all rows of a cluster are taken to move
  together: the effective number of clusters (Kish 1965).
* A difference of two proportions (J) of which one is sparse: their intervals combined as by
  Zou and Donner (2008, "MOVER") with the correlation of the resamples.
* Other metrics and paired differences have no exact form: symmetric or logit t throughout.
* A value that no resample moves has no interval: one without width would be too sure. The
  difference of a thing and itself is 0 by definition, and keeps [0, 0].

Resampling is by integer weights: a metric takes weights (B, n) and returns (B,). From 50,000
clusters on they are dealt into 200 random groups instead, and the spread of the metric over these,
over sqrt(200), is its standard error (random groups: Wolter 2007, chapter 2): as near to the truth
as that of 200 resamples, for the work of one pass over the rows.

In the order of this module: distribution functions, in numpy, so that scipy stays out of core;
intervals of a number from its replicates; the bootstrap of any metric, and of shares and ratios of
rows. Numbers of trained models, whose training seeds are resampled too: :mod:`sayso.metrics.joint`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import Floats, cluster_codes, codes, count_codes, divide, or_none
from sayso.metrics.uncle_rates import undefined
from sayso.records import Estimate, InputError

__all__ = [
    "at_level", "binomial_tail", "bootstrap", "bootstrap_difference", "bootstrap_ratio",
    "bootstrap_share", "exact_interval",
]  # fmt: skip

LEVEL = 0.95
#: the level of the intervals that are made now: :data:`LEVEL` but inside :func:`at_level`
_level: ContextVar[float] = ContextVar("level", default=LEVEL)
#: A proportion with fewer trials, successes or failures gets an exact interval.
SPARSE_DENOMINATOR = 10
SPARSE_COUNT = 5
#: More resamples than this that leave a metric undefined are a problem.
UNDEFINED_SHARE = 0.05
#: Degrees of freedom that a mean has at least, however few clusters decide it.
LEAST_FREEDOM = 3.0
#: Clusters below which there is no interval.
LEAST_CLUSTERS = 2
SINGLE_CLUSTER = "no interval: a single cluster"
#: A standard error that is rounding: a value that no resample moves has no interval of resamples.
NO_SPREAD = 1e-12
UNMOVED = "no interval: every resample gives the same value"
#: The share of a scale by which an interval is narrower and still tells something.
ALMOST = 0.01
UNBOUNDED = "no interval: too few entities to compute one"
#: how the interval of a number made of two others was made, where one of them is sparse
SPARSE_PARTS = "sparse: interval combined from the exact intervals of its two parts"
#: Floats held at once by one block of resamples (a metric makes a few temporaries of this size).
BLOCK = 1_000_000

#: Clusters from which on random groups give the standard error, and how many groups.
MANY, GROUPS = 50_000, 200
#: Draws of clusters up to which a set of resamples is kept for the next metric.
KEPT = 8_000_000

#: metric(*arrays, weights=..., **keywords)
Statistic = Callable[..., Any]
Range = tuple[float, float]
Interval = tuple[float | None, float | None]


# ---- the level of intervals


def current_level() -> float:
    """Return the level of the intervals that are made now: .95, but inside :func:`at_level`."""
    return _level.get()


@contextmanager
def at_level(level: float) -> Iterator[None]:
    """Make every interval inside the ``with`` block at another level than 95 %.

    Each number keeps its own method, exact or not. Nothing made inside may be stored: whoever reads
    a stored interval takes it for one of 95 %.
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level!r}; expected a number between 0 and 1")
    token = _level.set(level)
    try:
        yield
    finally:
        _level.reset(token)


# ---- distributions


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return the regularized incomplete beta function I_x(a, b) for a, b > 0.

    Lentz's continued fraction (Abramowitz & Stegun 26.5.8), on the side where it converges fast.
    """
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_cdf_below(1 - x, b, a)
    return _beta_cdf_below(x, a, b)


def _beta_cdf_below(x: float, a: float, b: float) -> float:
    """Return I_x(a, b) by the continued fraction, for x up to about (a + 1) / (a + b + 2)."""
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    tiny = 1e-300
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1), tiny)
    value = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        step = 1.0
        for term in (even, odd):
            d = 1 / _away(1 + term * d, tiny)
            c = _away(1 + term / c, tiny)
            step = c * d
            value *= step
        if abs(step - 1) < 1e-15:
            break
    return min(1.0, front * value / a)


def _away(value: float, tiny: float) -> float:
    """Keep a denominator away from zero."""
    return tiny if abs(value) < tiny else value


@lru_cache(maxsize=1024)
def beta_quantile(q: float, a: float, b: float) -> float:
    """Return x with I_x(a, b) = q, by bisection to full float precision."""
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if beta_cdf(middle, a, b) < q:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@lru_cache(maxsize=1024)
def student_quantile(q: float, freedom: float) -> float:
    """Return the q-quantile of Student's t with ``freedom`` > 0 degrees of freedom.

    From P(|T| > t) = I_x(freedom/2, 1/2) with x = freedom/(freedom + t^2).
    """
    if q == 0.5:
        return 0.0
    tail = 2 * min(q, 1 - q)
    # The complement 1 - x keeps its digits for many degrees of freedom.
    complement = beta_quantile(1 - tail, 0.5, freedom / 2)
    if complement == 1:  # of hardly any degree of freedom it has no end
        return math.copysign(math.inf, q - 0.5)
    size = math.sqrt(freedom * complement / (1 - complement))
    return math.copysign(size, q - 0.5)


def student_p(t: float, freedom: float) -> float:
    """Return P(|T| >= |t|) for Student's t with ``freedom`` > 0 degrees of freedom."""
    return beta_cdf(freedom / (freedom + t * t), freedom / 2, 0.5)


def binomial_tail(successes: int, trials: int, p: float) -> float:
    """Return P(Bin(trials, p) >= successes), exactly summed from the smaller terms up."""
    return math.fsum(
        math.comb(trials, i) * p**i * (1 - p) ** (trials - i)
        for i in range(max(successes, 0), trials + 1)
    )


def exact_interval(successes: float, trials: float, level: float | None = None) -> Interval:
    """Return the Clopper-Pearson interval of a proportion; (None, None) without trials.

    Real-valued counts are accepted (effective sizes, Korn and Graubard 1998). ``level`` is
    :func:`current_level` where it is left out.
    """
    if trials <= 0:
        return None, None
    tail = (1 - (current_level() if level is None else level)) / 2
    low, high = 0.0, 1.0
    if successes > 0:
        low = beta_quantile(tail, successes, trials - successes + 1)
    if successes < trials:
        high = beta_quantile(1 - tail, successes + 1, trials - successes)
    return low, high


# ---- resamples, and the interval of a number from its replicates


def resample_weights(
    clusters: int, n: int, rng: np.random.Generator, strata: ArrayLike | None = None, row: int = 0
) -> Iterator[Floats]:
    """Yield blocks of bootstrap weights, (b, clusters), ``n`` rows in all.

    A row counts how often each cluster was drawn; with ``strata`` (clusters,) clusters are drawn
    within their stratum, so that its size stays. ``row`` is the length of the rows that a caller
    expands a block to; blocks hold about :data:`BLOCK` floats. The block size does not change
    the draws.
    """
    step = max(1, BLOCK // max(clusters, row, 1))
    if strata is not None:
        group = codes(strata)
        order = np.argsort(group, kind="stable")
        size = np.bincount(group)
        start = np.repeat(np.cumsum(size) - size, size)
        span = np.repeat(size, size)
    for first in range(0, n, step):
        b = min(step, n - first)
        share = rng.random((b, clusters))
        if strata is None:
            drawn = np.multiply(share, clusters, out=share).astype(np.int64)
        else:
            drawn = order[start + (share * span).astype(np.int64)]
        drawn += np.arange(b)[:, None] * clusters
        weights = np.bincount(drawn.reshape(-1), minlength=b * clusters)
        yield weights.reshape(b, clusters).astype(np.float64)


def resampled_sums(sums: Floats, n: int, seed: int) -> Floats:
    """Return resampled column sums (n, columns) of per-cluster sums (C, columns); 0 without any."""
    C = len(sums)
    if C == 0:
        return np.zeros((n, sums.shape[1]))
    return np.concatenate([weights @ sums for weights in _weights(C, n, seed)])


def _weights(clusters: int, n: int, seed: int, row: int = 0) -> Iterator[Floats]:
    """Yield :func:`resample_weights` of a seed; small sets are drawn once for all metrics."""
    for drawn in drawn_weights(clusters, n, seed, row):
        yield drawn.astype(np.float64, copy=False)


def drawn_weights(clusters: int, n: int, seed: int, row: int = 0) -> Iterator[NDArray[Any]]:
    """Yield :func:`resample_weights` of a seed, as small whole numbers where they are kept."""
    if clusters * n > KEPT:
        yield from resample_weights(clusters, n, np.random.default_rng(seed), row=row)
        return
    drawn = _drawn(clusters, n, seed)
    step = max(1, BLOCK // max(clusters, row, 1))
    for first in range(0, n, step):
        yield drawn[first : first + step]


@lru_cache(maxsize=4)
def _drawn(clusters: int, n: int, seed: int) -> NDArray[Any]:
    """Return the weights (n, clusters) of a seed, as the least whole numbers that hold them."""
    blocks = [*resample_weights(clusters, n, np.random.default_rng(seed))]
    most = max((block.max(initial=0.0) for block in blocks), default=0.0)
    drawn = np.concatenate([np.zeros((0, clusters)), *blocks])
    return drawn.astype(np.uint8 if most < 256 else np.uint16)


@lru_cache(maxsize=1)
def deal(clusters: int, seed: int) -> NDArray[np.uint8]:
    """Return the random group (clusters,) of each cluster, all of nearly one size."""
    group = (np.random.default_rng(seed).permutation(clusters) % GROUPS).astype(np.uint8)
    group.flags.writeable = False  # it is given again
    return group


def spread_of_groups(value: float, groups: Floats) -> Floats:
    """Return replicates of a value that spread as it does, from its values in random groups.

    The variance of the mean of G groups is that of a group over G.
    """
    return np.asarray(value + (groups - groups.mean()) / math.sqrt(len(groups)))


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
    value: float, error: float, freedom: float, limits: Range | None = (0.0, 1.0)
) -> Interval:
    """Return value -+ t * error, on the logit (log) scale of a range with two (one) finite ends.

    ``limits=None``: symmetric. (None, None) for a value on an end of its range: the scale is
    infinite there, and resamples of perfect data are all perfect, which is no evidence of it.
    """
    width = student_quantile((1 + current_level()) / 2, freedom) * error
    if limits is None:
        return value - width, value + width
    low, high = limits
    if not low < value < high:
        return None, None
    if np.isinf(high):
        factor = float(np.exp(width / (value - low)))
        return low + (value - low) / factor, low + (value - low) * factor
    if np.isinf(low):
        factor = float(np.exp(width / (high - value)))
        return high - (high - value) * factor, high - (high - value) / factor
    x = (value - low) / (high - low)
    step = width / (high - low) / (x * (1 - x))
    centre = np.log(x / (1 - x))
    with np.errstate(over="ignore"):  # an interval as wide as its range
        below, above = (1 / (1 + np.exp(-(centre + side * step))) for side in (-1, 1))
    return low + (high - low) * float(below), low + (high - low) * float(above)


def is_sparse(successes: float, trials: float) -> bool:
    """Return whether a proportion gets an exact interval instead of the bootstrap's."""
    return trials < SPARSE_DENOMINATOR or min(successes, trials - successes) < SPARSE_COUNT


def effective_number(sizes: ArrayLike) -> float:
    """Return how many clusters of one size those of ``sizes`` (C,) are worth; 0 for none.

    (sum m)^2 / sum m^2 (Kish 1965): C for equal ones, 1 where one holds all.
    """
    m = np.asarray(sizes, dtype=np.float64)
    return float(divide(m.sum() ** 2, (m**2).sum())) if m.any() else 0.0


def mean_freedom(top: ArrayLike, bottom: ArrayLike, clusters: ArrayLike) -> float:
    """Return the degrees of freedom of sum(top) / sum(bottom) in 0..1 over clusters.

    The effective number of clusters less one, by what each adds to the ratio's distance from 0, or
    from 1, whichever is fewer: of a mean near 1 the few clusters decide that are not there. At
    least :data:`LEAST_FREEDOM`: fewer would widen the interval and not hold more often.
    """
    unit = codes(clusters)
    above, below = np.asarray(top, dtype=np.float64), np.asarray(bottom, dtype=np.float64)
    sides = (np.bincount(unit, np.maximum(part, 0.0)) for part in (above, below - above))
    return max(LEAST_FREEDOM, min(effective_number(side) for side in sides) - 1)


def proportion_interval(
    successes: float,
    trials: float,
    error: float | None,
    clusters: int,
    strata: int = 1,
    sizes: ArrayLike | None = None,
) -> Interval:
    """Return the interval of successes/trials, given its bootstrap standard error over clusters.

    Sparse: exact at the effective size (see the module); else :func:`student_interval`, and none
    without a spread. A sparse proportion that no resample moves, as at 0 and 1, is exact for
    :func:`effective_number` trials, ``sizes`` (C,) being those of each cluster (default: every
    trial stands alone).
    """
    if trials <= 0:
        return None, None
    p = successes / trials
    freedom = clusters - strata
    if not is_sparse(successes, trials):
        moved = error is not None and error > NO_SPREAD
        return student_interval(p, error or 0.0, freedom) if moved else (None, None)
    size = trials if sizes is None else min(trials, effective_number(sizes))
    if error and error > NO_SPREAD and 0 < p < 1 and trials > 1 and freedom > 0:
        end = (1 + current_level()) / 2
        shrink = student_quantile(end, trials - 1) / student_quantile(end, freedom)
        size = min(trials, p * (1 - p) / error**2 * shrink**2)
    return exact_interval(p * size, size)


def difference_interval(
    parts: tuple[float, float],
    ends: tuple[Interval, Interval],
    correlation: float,
    limits: Range = (-1.0, 1.0),
) -> Interval:
    """Return the interval of parts[0] - parts[1] from the intervals of the two (MOVER).

    Zou and Donner 2008, with their correlation r: lower end
    d - sqrt(a^2 - 2 r a b + b^2), a = p1 - l1, b = u2 - p2; the upper end likewise, both cut to
    ``limits``. None where that has no width within the limits: two clusters always correlate
    fully, which says nothing.
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
    if (high - low) ** 2 <= NO_SPREAD and limits[0] < d < limits[1]:
        return None, None
    return max(low, limits[0]), min(high, limits[1])


def mean_interval(
    parts: tuple[float, float], ends: tuple[Interval, Interval], correlation: float
) -> Interval:
    """Return the interval of the mean of two shares from their intervals.

    p1 + p2 is p1 - (-p2), so that it is :func:`difference_interval`'s, halved; r changes its sign.
    """
    low, high = ends[1]
    if low is None or high is None:
        return None, None
    pair = (parts[0], -parts[1]), (ends[0], (-high, -low))
    low, high = difference_interval(*pair, -correlation, limits=(0.0, 2.0))
    return (None, None) if low is None or high is None else (low / 2, high / 2)


def ratio_interval(
    parts: tuple[float, float], ends: tuple[Interval, Interval], correlation: float
) -> Interval:
    """Return the interval of parts[0] / parts[1], two shares, from the intervals of the two.

    The difference of the logs (:func:`difference_interval`): an end of 0 gives a lower end of 0.
    Of parts[0] = 0 the upper end is u1 / l2, at which both ends hold together.
    """
    (low1, high1), (low2, high2) = ends
    if low1 is None or high1 is None or low2 is None or high2 is None or low2 <= 0:
        return None, None
    if parts[0] <= 0:
        return 0.0, high1 / low2
    tiny = 1e-300
    logs = (
        (math.log(max(low1, tiny)), math.log(high1)),
        (math.log(low2), math.log(high2)),
    )
    pair = math.log(parts[0]), math.log(parts[1])
    low, high = difference_interval(pair, logs, correlation, limits=(-math.inf, math.inf))
    if low is None or high is None:
        return None, None
    return (0.0 if low1 <= 0 else math.exp(low)), math.exp(high)


def undefined_problem(replicates: ArrayLike) -> str | None:
    """Return a sentence if more than 5 % of the resamples left the metric undefined."""
    values = np.asarray(replicates, dtype=np.float64)
    share = float(np.isnan(values).mean()) if values.size else 0.0
    if share <= UNDEFINED_SHARE:
        return None
    return f"undefined in {100 * share:.0f} % of the resamples, which were skipped"


# ---- the bootstrap of any metric


def bootstrap(
    metric: Statistic,
    *arrays: ArrayLike,
    clusters: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    n: int = 2000,
    seed: int = 0,
    limits: Range | None = (0.0, 1.0),
    name: str | None = None,
    least_error: float = 0.0,
    whole: bool = False,
    freedom: float | OneMore | None = None,
    replicates: Floats | None = None,
    **keywords: Any,
) -> Estimate:
    """Return a metric with its 95 % interval from resampling clusters.

    ``metric(*arrays, weights=..., **keywords)`` with rows (n,) and weights (B, n) returns (B,).
    ``clusters`` (n,) names each row's entity (default: every row its own), ``strata`` (n,) a
    grouping above them within which they are drawn (such as domains). ``limits`` is the range of
    the metric: (0, 1), (-1, 1) for J, (0, inf) for odds ratios, ``None`` for differences
    (symmetric). ``least_error`` is a standard error below which the metric's is not taken to lie,
    ``freedom`` the degrees of freedom where few of the clusters decide, or one more observation.
    ``whole``: the metric is
    not one of some of the rows, so it is never taken of random groups. Resamples in which it is
    undefined (one class only) are skipped; ``problem`` says so where they are more than 5 %.
    ``value`` is ``None`` where it is undefined.
    ``replicates`` (n,) is the metric of these resamples, where it is known already.
    """
    rows = len(np.asarray(arrays[0]))
    unit = cluster_codes(clusters, rows)
    count = count_codes(unit)
    value = metric(*arrays, **keywords)
    title = name or str(getattr(metric, "__name__", "metric"))
    if value is None or count == 0:
        return Estimate(name=title, n=rows, problem=undefined(title))
    layer = strata_of_clusters(unit, count, strata)
    if count >= MANY and layer is None and not whole:
        parts = _in_groups(metric, arrays, keywords, deal(count, seed)[unit])
        if not np.isnan(parts).any():  # a rare class may lack in some: resamples are no worse
            resampled = Resampled(spread_of_groups(float(value), parts), count)
            return make_estimate(title, float(value), resampled, limits, rows, least_error, freedom)
    if replicates is None:
        replicates = replicates_of(metric, arrays, unit, n, seed, layer, **keywords)
    groups = 1 if layer is None else len(np.unique(layer))
    resampled = Resampled(replicates, count, groups)
    return make_estimate(title, float(value), resampled, limits, rows, least_error, freedom)


def replicates_of(
    metric: Statistic,
    arrays: Sequence[ArrayLike],
    unit: NDArray[np.int64],
    n: int = 2000,
    seed: int = 0,
    layer: NDArray[np.int64] | None = None,
    **keywords: Any,
) -> Floats:
    """Return a metric (n,) of the resamples that :func:`bootstrap` takes of the clusters ``unit``.

    ``layer`` is the stratum of each cluster.
    """
    weights = _of_rows(unit, n, seed, layer)
    blocks = [metric(*arrays, weights=block, **keywords) for block in weights]
    return np.concatenate([np.asarray(block, dtype=np.float64) for block in blocks])


def _of_rows(
    unit: NDArray[np.int64],
    n: int,
    seed: int,
    layer: NDArray[np.int64] | None,
) -> Iterator[Floats]:
    """Yield the weight of each row (b, rows) in resamples of the clusters ``unit``.

    ``layer`` is the stratum of each cluster.
    """
    count, rows = count_codes(unit), len(unit)
    alone = bool((unit == np.arange(rows)).all())  # each row is a cluster
    if layer is None:
        drawn = _weights(count, n, seed, rows)
    else:
        drawn = resample_weights(count, n, np.random.default_rng(seed), layer, rows)
    for weights in drawn:
        yield weights if alone else weights[:, unit]


def _in_groups(
    metric: Statistic,
    arrays: Sequence[ArrayLike],
    keywords: dict[str, Any],
    group: NDArray[np.uint8],
) -> Floats:
    """Return the metric of the rows of each group (GROUPS,), NaN where it is undefined."""
    order = np.argsort(group, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(group, minlength=GROUPS))[:-1])
    by_row = [
        np.asarray(a) if np.ndim(a) and len(np.asarray(a)) == len(group) else a for a in arrays
    ]
    values = [
        metric(*(a[rows] if isinstance(a, np.ndarray) else a for a in by_row), **keywords)
        for rows in parts
    ]
    return np.asarray([np.nan if value is None else value for value in values], dtype=np.float64)


def bootstrap_difference(
    metric: Statistic,
    first: Sequence[ArrayLike],
    second: Sequence[ArrayLike],
    clusters: ArrayLike | None = None,
    second_clusters: ArrayLike | None = None,
    n: int = 2000,
    seed: int = 0,
    name: str | None = None,
    sides: tuple[Estimate, Estimate] | None = None,
    limits: Range | None = (0.0, 1.0),
    drawn: Sequence[Floats] = (),
    **keywords: Any,
) -> Estimate:
    """Return metric(first) - metric(second) with the interval of a paired cluster bootstrap.

    Both sides are resampled together: a cluster named in both gets the same weight in both. With
    one ``clusters`` the rows of the two sides correspond; ``second_clusters`` allows other rows.
    Symmetric interval; exactly [0, 0] for two identical sides, whatever the metric. Given the
    estimates of the two ``sides``, numbers in ``limits``, it is combined from their intervals
    (:func:`combined`), which see rare cases that resamples do not. ``drawn`` are the resamples of
    both, where they are known.
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
    count = count_codes(joint)
    title = name or f"difference of {getattr(metric, '__name__', 'metric')}"
    values = metric(*first, **keywords), metric(*second, **keywords)
    if values[0] is None or values[1] is None:
        why = [side.problem for side in sides or () if side.value is None and side.problem]
        return Estimate(name=title, n=rows, problem=why[0] if why else "undefined on one side")
    both = drawn
    if not both:
        blocks = [
            [
                np.asarray(metric(*side, weights=weights[:, index], **keywords), dtype=np.float64)
                for side, index in ((first, unit), (second, twin))
            ]
            for weights in _weights(count, n, seed, row=max(rows, len(other)))
        ]
        both = [*np.concatenate(blocks, axis=1)]
    one, two = both
    difference = float(values[0]) - float(values[1])
    gap = make_estimate(title, difference, Resampled(one - two, count), None, rows)
    if np.array_equal(names, other) and all(map(_alike, first, second)):
        return no_difference(gap)
    if sides is None or count < LEAST_CLUSTERS:
        return gap
    return combined(gap, sides, (one, two), limits)


def combined(
    gap: Estimate,
    sides: tuple[Estimate, Estimate],
    drawn: tuple[Floats, Floats],
    limits: Range | None = (0.0, 1.0),
) -> Estimate:
    """Return a difference with its interval from those of its sides (:func:`difference_interval`).

    ``drawn`` are the resamples of both, for their correlation; each side lies in ``limits``. Of
    sides that may be negative (gaps, such as J) resamples of few cases tell too little of how
    they move together, so a positive correlation is not counted. No interval where a side has none.
    """
    first, second = sides
    if first.value is None or second.value is None:
        side = first if first.value is None else second
        return msgspec.structs.replace(gap, value=None, low=None, high=None, problem=side.problem)
    notes = [e.problem for e in sides if e.problem]
    link, most = correlation(*drawn), math.inf
    if limits is not None:
        most = limits[1] - limits[0]
        link = min(link, 0.0) if notes and limits[0] < 0 else link
    ends: tuple[Interval, Interval] = (first.low, first.high), (second.low, second.high)
    low, high = difference_interval((first.value, second.value), ends, link, (-most, most))
    problem = (notes[0] if notes else UNMOVED) if low is None else (SPARSE_PARTS if notes else None)
    value = first.value - second.value
    return msgspec.structs.replace(gap, value=value, low=low, high=high, problem=problem)


def correlation(first: Floats, second: Floats) -> float:
    """Return the correlation of two numbers over resamples; 0 where one of them does not vary."""
    both = ~(np.isnan(first) | np.isnan(second))
    if both.sum() < 2 or first[both].std() == 0 or second[both].std() == 0:
        return 0.0
    return float(np.corrcoef(first[both], second[both])[0, 1])


def _alike(one: ArrayLike, other: ArrayLike) -> bool:
    """Tell whether two columns hold the same, NaN at the same places."""
    x, y = np.asarray(one), np.asarray(other)
    return np.array_equal(x, y, equal_nan=x.dtype.kind == "f" and y.dtype.kind == "f")


def no_difference(gap: Estimate) -> Estimate:
    """Return the difference of a thing and itself: 0 by definition, so without uncertainty."""
    if gap.value != 0 or gap.problem != UNMOVED:
        return gap
    return msgspec.structs.replace(gap, low=0.0, high=0.0, problem=None)


class OneMore(NamedTuple):
    """One more observation beside those that a mean rests on, which show nothing rare.

    ``seen`` is how many independent ones there are; ``mean`` and ``variance`` are those of one that
    is drawn at random.
    """

    seen: float
    mean: float
    variance: float

    def add(self, value: float, error: float) -> tuple[float, float]:
        """Return the mean of all, and its standard error, from those of the ones that are seen."""
        spread = (self.seen * error) ** 2 + self.variance + (value - self.mean) ** 2
        return (
            (self.seen * value + self.mean) / (self.seen + 1),
            math.sqrt(spread) / (self.seen + 1),
        )


class Resampled(NamedTuple):
    """A metric's replicates (B,), NaN = undefined, and the clusters and strata they come from."""

    replicates: Floats
    clusters: int
    strata: int = 1


def make_estimate(
    name: str,
    value: float,
    resampled: Resampled,
    limits: Range | None,
    n: int,
    least_error: float = 0.0,
    freedom: float | OneMore | None = None,
) -> Estimate:
    """Return the Estimate of a value of ``n`` rows, with the interval that its resamples give.

    ``least_error``: a standard error known from elsewhere below which it is not taken to lie.
    ``freedom``: degrees of freedom, at most (and by default) the clusters less the strata. With
    one more observation (:class:`OneMore`) the interval holds that of the mean with it too.
    """
    if np.isnan(value):
        return Estimate(name=name, n=n, problem=undefined(name))
    replicates, clusters, strata = resampled
    error = standard_error(replicates, clusters, strata)
    if error is None:
        return Estimate(name=name, value=value, n=n, problem=SINGLE_CLUSTER)
    error = max(error, least_error)
    degrees = float(clusters - strata)
    one_more = freedom if isinstance(freedom, OneMore) else None
    most_free = freedom.seen if isinstance(freedom, OneMore) else freedom
    degrees = degrees if most_free is None else min(degrees, most_free)
    low, high = student_interval(value, error, degrees, limits)
    problem = undefined_problem(replicates)
    if low is None:
        problem = "no interval: the value is at the end of its range"
    elif error <= NO_SPREAD:
        low, high, problem = None, None, UNMOVED
    elif one_more is not None and high is not None:
        least, most = student_interval(*one_more.add(value, error), degrees, limits)
        if least is not None and most is not None:
            low, high = min(low, least), max(high, most)
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


# ---- shares and ratios of rows


def bootstrap_share(
    name: str,
    top: ArrayLike,
    bottom: ArrayLike,
    clusters: ArrayLike,
    n: int = 2000,
    seed: int = 0,
    weights: ArrayLike | None = None,
) -> Estimate:
    """Return sum(top where bottom) / sum(bottom) with its 95 % interval, clusters resampled.

    ``bottom`` (rows,) is boolean; ``top`` is boolean, or a fraction of each row that ``bottom``
    counts. Value ``None`` with a problem when ``bottom`` is empty; no interval when all that it
    counts lies in one cluster. Sparse shares get an exact interval, which is wide for fractions.
    ``weights`` (rows,), positive, are 1 / the probability with which a row was drawn: the rows then
    count as many trials as they are worth (Kish 1965), and the share has no whole counts. A sparse
    one is never worth more trials than one of 0 or 1, so that no error found is never less precise
    than one.
    """
    of = np.asarray(bottom, dtype=bool)
    mass = of.astype(np.float64)
    if weights is not None:
        mass = np.where(of, np.asarray(weights, dtype=np.float64), 0.0)
        mass *= float(divide(mass.sum(), (mass**2).sum())) if of.any() else 1.0
    hit = np.where(of, np.asarray(top, dtype=np.float64), 0.0)
    counted = float(hit.sum()), float(of.sum())
    unit = codes(clusters)
    sums = [np.bincount(unit, x, minlength=count_codes(unit)) for x in (hit * mass, mass)]
    return _share(name, np.stack(sums, axis=1), counted, n, seed, weighted=weights is not None)


def share_of_counts(name: str, counts_C_2: ArrayLike, n: int = 2000, seed: int = 0) -> Estimate:
    """Return the share of some things in all, counted by cluster, with its 95 % interval.

    ``counts_C_2`` (C, 2): how many there are of some, and of all, in each cluster. Everything else
    as in :func:`bootstrap_share` without weights.
    """
    counts = np.asarray(counts_C_2, dtype=np.float64)
    top, bottom = counts.sum(axis=0).tolist()
    return _share(name, counts, (top, bottom), n, seed, weighted=False)


def _share(
    name: str, sums: Floats, counted: tuple[float, float], n: int, seed: int, *, weighted: bool
) -> Estimate:
    """Return a share, given the hits and the trials of every cluster (C, 2), and rows counted."""
    count, sizes = len(sums), sums[:, 1]
    successes, trials = sums.sum(axis=0).tolist()
    if trials == 0:
        return _empty(name)
    replicates = _replicates(sums[:, 0], sizes, np.arange(count), n, seed)
    error = standard_error(replicates, count)
    if weighted and is_sparse(successes, trials):
        low, high = _weighted_interval(successes, trials, error, int((sizes > 0).sum()))
    else:
        low, high = proportion_interval(successes, trials, error, count, sizes=sizes)
    problem = UNMOVED if low is None else undefined_problem(replicates)
    if np.count_nonzero(sizes) < LEAST_CLUSTERS:
        # rows of one cluster may all move together: an exact interval over rows would be too small
        low, high, problem = None, None, SINGLE_CLUSTER
    elif is_sparse(successes, trials):
        problem = f"sparse ({counted[0]:g} of {counted[1]:g}): exact interval"
    return Estimate(
        name=name,
        value=successes / trials,
        low=low,
        high=high,
        numerator=None if weighted else successes,
        denominator=None if weighted else trials,
        n=int(counted[1]),
        problem=problem,
    )


def _weighted_interval(
    successes: float, trials: float, error: float | None, clusters: int
) -> Interval:
    """Return the exact interval of a sparse share of rows that weigh differently.

    At most so many trials as its rows are worth, less what Student's t adds for few clusters; fewer
    where resamples say so.
    """
    p, end = successes / trials, (1 + current_level()) / 2
    shrink = 1.0
    if trials > 1:
        shrink = student_quantile(end, trials - 1) / student_quantile(end, max(clusters - 1, 1))
    size = trials * min(shrink, 1.0) ** 2
    if error is not None and error > NO_SPREAD and 0 < p < 1:
        size = min(size, p * (1 - p) / error**2 * shrink**2)
    return exact_interval(p * size, size)


def bootstrap_ratio(
    name: str,
    top: ArrayLike,
    bottom: ArrayLike,
    clusters: ArrayLike,
    n: int = 2000,
    seed: int = 0,
    limits: Range | None = (0.0, 1.0),
) -> Estimate:
    """Return sum(top) / sum(bottom) with its 95 % interval, clusters resampled.

    ``top`` and ``bottom`` (rows,) are any numbers from 0: claims of a sentence, or values and ones
    for a mean. ``limits`` is the range of the ratio, (0, inf) for counts; of one in 0..1 the
    degrees of freedom are those of :func:`mean_freedom`.
    """
    above, below = np.asarray(top, dtype=np.float64), np.asarray(bottom, dtype=np.float64)
    if below.sum() <= 0:
        return _empty(name)
    unit = codes(clusters)
    value = float(above.sum() / below.sum())
    replicates = _replicates(above, below, unit, n, seed)
    resampled = Resampled(replicates, count_codes(unit))
    freedom = mean_freedom(above, below, unit) if limits == (0.0, 1.0) else None
    share = make_estimate(name, value, resampled, limits, len(below), freedom=freedom)
    return msgspec.structs.replace(
        share, numerator=float(above.sum()), denominator=float(below.sum())
    )


def telling(estimate: Estimate, limits: Range = (0.0, 1.0)) -> Estimate:
    """Return an estimate without an interval that leaves open what it is: as wide as its scale."""
    if estimate.low is None or estimate.high is None:
        return estimate
    if estimate.high - estimate.low < (1 - ALMOST) * (limits[1] - limits[0]):
        return estimate
    return msgspec.structs.replace(estimate, low=None, high=None, problem=UNBOUNDED)


def within(difference: Estimate, most: float = 1.0) -> Estimate:
    """Return a difference with its interval cut to what it can be: of two shares, -1 to 1."""
    low, high = difference.low, difference.high
    if low is None or high is None:
        return difference
    return msgspec.structs.replace(difference, low=max(low, -most), high=min(high, most))


def _empty(name: str) -> Estimate:
    return Estimate(
        name=name, numerator=0.0, denominator=0.0, problem="undefined: nothing to count"
    )


def _replicates(
    top: ArrayLike, bottom: ArrayLike, unit: NDArray[np.int64], n: int, seed: int
) -> Floats:
    """Return sum(top) / sum(bottom) of ``n`` resamples of the clusters ``unit`` (rows,)."""
    count = count_codes(unit)
    if count >= MANY:
        group = deal(count, seed)[unit]
        above, below = (
            np.bincount(group, weights=np.asarray(x), minlength=GROUPS) for x in (top, bottom)
        )
        if below.all():
            whole = float(above.sum() / below.sum())
            # linear in the sums, as the ratio of many rows is (Woodruff 1971)
            return spread_of_groups(whole, whole + (above - whole * below) / below.mean())
    sums = np.stack(
        [np.bincount(unit, weights=np.asarray(x), minlength=count) for x in (top, bottom)], axis=1
    )
    drawn = np.concatenate([w @ sums for w in _weights(count, n, seed)])
    return divide(drawn[:, 0], drawn[:, 1])

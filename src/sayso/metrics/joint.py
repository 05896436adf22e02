"""Several models on the same questions: joint intervals, differences, ranks with their ties.

Questions of an entity move together, and every model was asked the same ones. So one draw of
entities weighs all models at once (a paired cluster bootstrap); several data sets are strata, drawn
apart and averaged with equal weight (PROTOCOLS of selective answering: the mean AUROC over data
sets; the average of their end points would be too wide by the square root of their number). Data
sets that share entities are drawn together, since the same answers again are no more evidence.

Whether two models differ is Student's t of their paired difference, corrected by Holm (1979) over
all pairs of a number. The ranks that a model can have follow from it: from 1 + those clearly better
to the number of models less those clearly worse, which holds for all models at once where no equal
pair was declared different (Al Mohamad, Goeman and van Zwet 2022 do so with Tukey's test).

Numbers with intervals of their own, which nobody can resample together, are averaged and ranked as
independent ones (:func:`rank_independently`). Numbers of trained models, whose training seeds are
resampled too, stand at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import Floats, codes, count_codes, or_none
from sayso.metrics.compare_scores import holm
from sayso.metrics.intervals import (
    NO_SPREAD,
    UNDEFINED_SHARE,
    UNMOVED,
    Range,
    Resampled,
    Statistic,
    current_level,
    make_estimate,
    resample_weights,
    standard_error,
    student_interval,
    student_p,
    student_quantile,
    undefined_problem,
)
from sayso.metrics.uncle_rates import undefined
from sayso.records import Estimate, Slice

#: a difference is clear where its corrected p is below this
ALPHA = 0.05
#: the share of real differences of the size called detectable that would be clear
POWER = 0.8


class Number(NamedTuple):
    """A number of one run as a function of the weights of its entities.

    ``metric(*columns)`` is its value, ``metric(*columns, weights=W)`` with W (B, n) its (B,) values
    of resamples; ``entities`` (n,) names the entity of each row. ``higher`` tells whether more is
    better, ``None`` where neither is.
    """

    metric: Statistic
    columns: tuple[Any, ...]
    entities: Sequence[str]
    limits: Range | None = (0.0, 1.0)
    higher: bool | None = True


class Joint(NamedTuple):
    """A number of M models on S data sets: values (M, S), resamples (M, S, B); NaN: undefined.

    ``clusters`` (S,) counts the entities of each data set, ``floor`` (M,) is the least standard
    error of each mean: what resamples cannot tell of values on the end of their range.
    """

    values: Floats
    resamples: Floats
    clusters: NDArray[np.int64]
    floor: Floats
    limits: Range | None
    higher: bool | None
    #: entities of all data sets, those that several share once, and groups that are drawn apart
    units: int
    strata: int

    @property
    def means(self) -> Floats:
        """Means over the data sets (M,); NaN where one is missing."""
        return np.asarray(self.values.mean(axis=1))

    @property
    def mean_resamples(self) -> Floats:
        """Resamples of the means (M, B)."""
        return np.asarray(self.resamples.mean(axis=1))

    @property
    def freedom(self) -> int:
        """Degrees of freedom: entities less groups of data sets that are drawn apart."""
        return self.units - self.strata


def resample_jointly(
    numbers: Sequence[Sequence[Number | None]], n: int = 1000, seed: int = 0
) -> Joint:
    """Return values and resamples of one number of M models (rows) on S data sets (columns).

    ``None`` is a model without this number there. An entity that a model lacks has no weight in it.
    """
    models, sets = len(numbers), len(numbers[0])
    values = np.full((models, sets), np.nan)
    resamples = np.full((models, sets, n), np.nan)
    floors = np.zeros((models, sets))
    columns = [[(m, x) for m, row in enumerate(numbers) if (x := row[s]) is not None]
               for s in range(sets)]  # fmt: skip
    names = [_names(x.entities for _, x in column) for column in columns]
    clusters = np.array([len(own) for own in names], dtype=np.int64)
    units, groups = 0, _sharing(names)
    for together in groups:
        drawn = np.unique(np.concatenate([names[s] for s in together]))
        units += len(drawn)
        if not len(drawn):
            continue
        places = {
            (m, s): np.searchsorted(drawn, np.asarray(x.entities, dtype=str))
            for s in together
            for m, x in columns[s]
        }
        rows = max(len(place) for place in places.values())
        rng = np.random.default_rng([seed, together[0]])
        done = 0
        for weights in resample_weights(len(drawn), n, rng, row=rows):
            part = slice(done, done + len(weights))
            for s in together:
                for m, x in columns[s]:
                    resamples[m, s, part] = _values(x, weights, places[m, s])
            done += len(weights)
        for s in together:
            for m, x in columns[s]:
                value = x.metric(*x.columns)
                values[m, s] = np.nan if value is None else value
                floors[m, s] = _floor(resamples[m, s], len(names[s]), x.limits)
    known = [x for row in numbers for x in row if x is not None]
    higher = next((x.higher for x in known if x.higher is not None), None)
    floor = np.sqrt((floors**2).sum(axis=1)) / max(1, sets)
    return Joint(values, resamples, clusters, floor, known[0].limits, higher, units, len(groups))


def _names(entities: Iterable[Sequence[str]]) -> NDArray[np.str_]:
    """Return the names of all entities, each once."""
    every = [np.asarray(own, dtype=str) for own in entities]
    return np.unique(np.concatenate(every or [np.zeros(0, dtype=str)]))


def _sharing(names: Sequence[NDArray[np.str_]]) -> list[list[int]]:
    """Return groups of data sets (by number) in which each shares entities with another one."""
    groups: list[tuple[list[int], set[str]]] = []
    for number, own in enumerate(names):
        held = set(own.tolist())
        joined = [group for group in groups if not held.isdisjoint(group[1])]
        groups = [group for group in groups if group not in joined]
        sets = sorted([number, *(s for group in joined for s in group[0])])
        groups.append((sets, held.union(*(group[1] for group in joined))))
    return sorted(sets for sets, _ in groups)


def _values(number: Number, weights: Floats, place: NDArray[np.int64]) -> ArrayLike:
    whole = len(place) == weights.shape[1] and (place == np.arange(len(place))).all()
    of_rows = weights if whole else weights[:, place]
    return np.asarray(number.metric(*number.columns, weights=of_rows), dtype=np.float64)


def _floor(resamples: Floats, clusters: int, limits: Range | None) -> float:
    """Return the standard error of a value that no resample moves, on a range with two ends.

    All C entities agree: with 97.5 % confidence a further one does with at least .025^(1/C).
    """
    if limits is None or not np.isfinite(limits).all():
        return 0.0
    spread = resamples[~np.isnan(resamples)]
    if not len(spread) or np.ptp(spread) > NO_SPREAD:
        return 0.0
    return float((limits[1] - limits[0]) * (1 - 0.025 ** (1 / clusters)) / 1.96)


#: so many times the error of the resamples an interval must tell to be believed instead of them
WIDER = 1.25


def with_own_errors(joint: Joint, cells: Sequence[Sequence[Estimate]]) -> Joint:
    """Return the same number with errors as large as the intervals of single runs (M, S) tell.

    Of few cases, such as a single known fact, resamples leave a share undefined or unmoved, and
    understate; its own interval is exact and wide. Half its width counts, and all of it for a value
    at an end of its range: 1 of 1 has the interval [.03, 1], so it may be .97 too high.
    """
    own = _of_own_intervals(joint, cells)
    sets = joint.values.shape[1]
    # of data sets that share entities, the same answers again are no more evidence
    error = np.sqrt(own).mean(axis=1) if joint.strata < sets else np.sqrt(own.sum(axis=1)) / sets
    return joint._replace(floor=np.maximum(joint.floor, error))


def _of_own_intervals(joint: Joint, cells: Sequence[Sequence[Estimate]]) -> Floats:
    """Return the variance (M, S) that the intervals of single runs tell of beyond resamples."""
    extra = np.zeros(joint.values.shape)
    for m, row in enumerate(cells):
        for s, e in enumerate(row):
            if e.value is None or e.low is None or e.high is None or joint.clusters[s] < 2:
                continue
            half = (e.high - e.low) / (1 if joint.limits and e.value in joint.limits else 2)
            error = half / student_quantile(0.975, int(joint.clusters[s]) - 1)
            drawn = joint.resamples[m, s][~np.isnan(joint.resamples[m, s])]
            spread = float(drawn.std()) if len(drawn) else 0.0
            if error > WIDER * spread:
                extra[m, s] = error**2 - spread**2
    return extra


def joint_means(
    joint: Joint, name: str, cells: Sequence[Sequence[Estimate]] = ()
) -> list[Estimate]:
    """Return each model's mean over the data sets with its 95 % interval.

    Where ``cells`` (M, S) have intervals that tell more than resamples (:func:`with_own_errors`),
    the mean's reaches at least as far as theirs together: sqrt(sum (value - low)^2) / S below it,
    and the same above (Zou and Donner 2008). Undefined, with the reason, for a model without the
    number on one of the data sets: a mean over fewer would be one of other questions.
    """
    found = []
    if joint.strata < joint.values.shape[1]:  # what one column leaves unmoved, the others do too
        joint = joint._replace(floor=np.zeros_like(joint.floor))
    told = with_own_errors(joint, cells) if cells else joint
    for m, (mean, resamples) in enumerate(zip(joint.means, joint.mean_resamples, strict=True)):
        if np.isnan(mean):
            found.append(Estimate(name, problem="undefined on one of the data sets"))
            continue
        of = Resampled(resamples, joint.units, joint.strata)
        estimate = make_estimate(name, float(mean), of, joint.limits, joint.units)
        if told.floor[m] > joint.floor[m]:
            apart = joint.strata == joint.values.shape[1]
            estimate = _reaching(estimate, cells[m], apart=apart)
        found.append(estimate)
    return found


def spread_between(
    joint: Joint, cells: Sequence[Sequence[Estimate]], sets: Sequence[str]
) -> tuple[Floats, Floats]:
    """Return how far values of one set lie apart (M,), and the standard error of one of them (M,).

    ``sets`` (S,) names the data that each column asks about: columns of one name ask it in other
    words, or with other samples. The first is the standard deviation (n - 1) within a set, pooled
    over the sets of two columns or more: sqrt(mean variance). The second is that of resamples and,
    where they tell more, of the intervals of ``cells`` (M, S), pooled alike. NaN where a value is
    missing, no set has two columns, or neither resamples nor an interval tell of an error.
    """
    kinds = codes(sets)
    groups = [joint.values[:, kinds == kind] for kind in range(count_codes(kinds))]
    apart = [group.var(axis=1, ddof=1) for group in groups if group.shape[1] > 1]
    spread = np.sqrt(np.mean(apart, axis=0)) if apart else np.full(len(joint.values), np.nan)
    variance = joint.resamples.var(axis=2) + _of_own_intervals(joint, cells)
    unmoved = variance <= NO_SPREAD**2  # nothing tells how large the error is
    return spread, np.sqrt(np.where(unmoved, np.nan, variance).mean(axis=1))


def _reaching(estimate: Estimate, row: Sequence[Estimate], *, apart: bool) -> Estimate:
    """Return the mean with an interval as long, on each side, as those of its parts tell."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return estimate
    below, above = _reach(row, apart=apart)
    low, high = estimate.value - below, estimate.value + above
    return msgspec.structs.replace(
        estimate, low=min(low, estimate.low), high=max(high, estimate.high)
    )


def _reach(row: Sequence[Estimate], *, apart: bool = True) -> tuple[float, float]:
    """Return how far the interval of a mean reaches below and above it, by those of its parts."""
    sides = [
        (e.value - e.low, e.high - e.value)
        for e in row
        if e.value is not None and e.low is not None and e.high is not None
    ]
    reach = np.sqrt(np.square(sides).sum(axis=0)) if apart else np.sum(sides, axis=0)
    below, above = (reach / len(row)).tolist()
    return below, above


class Pair(NamedTuple):
    """The difference of two models, ``second`` minus ``first``, by their places in the list.

    ``p`` is that of Student's t, ``corrected`` Holm's over all pairs; ``None`` where it cannot be
    tested. ``error`` is the standard error.
    """

    first: int
    second: int
    difference: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    corrected: float | None = None
    error: float | None = None

    @property
    def clear(self) -> bool:
        """Whether the two differ after the correction."""
        return self.corrected is not None and self.corrected < ALPHA


class Ranking(NamedTuple):
    """All pairs of M models, the ranks (best, worst) that each can have, and what can be seen.

    ``ranks`` are ``None`` for a model without a mean, and for all where more is neither better nor
    worse or only one has a mean. ``detectable`` is the smallest difference of a typical pair that
    would be clear, after the correction, four times out of five.
    """

    pairs: list[Pair]
    ranks: list[tuple[int, int] | None]
    detectable: float | None


def rank_jointly(joint: Joint) -> Ranking:
    """Return every pair's paired test, Holm's correction over them, and the ranks that follow."""
    pairs = [_pair(joint, a, b) for a, b in combinations(range(len(joint.values)), 2)]
    return _ranked(pairs, [or_none(mean) for mean in joint.means], joint.higher, joint.freedom)


def _ranked(
    pairs: Sequence[Pair], means: Sequence[float | None], higher: bool | None, freedom: float
) -> Ranking:
    """Return pairs with Holm's correction, and the ranks of models with these means."""
    models = len(means)
    corrected = holm([pair.p for pair in pairs])
    pairs = [pair._replace(corrected=p) for pair, p in zip(pairs, corrected, strict=True)]
    ranks: list[tuple[int, int] | None] = [None] * models
    defined = [m for m in range(models) if means[m] is not None]
    if higher is not None and len(defined) > 1:
        sign = 1 if higher else -1
        better = dict.fromkeys(range(models), 0)
        worse = dict.fromkeys(range(models), 0)
        for pair in pairs:
            if pair.clear and pair.difference is not None:
                up = sign * pair.difference > 0
                better[pair.first if up else pair.second] += 1
                worse[pair.second if up else pair.first] += 1
        for m in defined:
            ranks[m] = (1 + better[m], len(defined) - worse[m])
    return Ranking(pairs, ranks, _detectable(pairs, freedom))


def _pair(joint: Joint, a: int, b: int) -> Pair:
    difference = float(joint.means[b] - joint.means[a])
    if np.isnan(difference):
        return Pair(a, b, None)
    gap = joint.mean_resamples[b] - joint.mean_resamples[a]
    spread = standard_error(gap, joint.units, joint.strata)
    if spread is None:
        return Pair(a, b, difference)
    same = np.array_equal(joint.resamples[a], joint.resamples[b], equal_nan=True)
    error = spread if same else float(np.hypot(spread, np.hypot(joint.floor[a], joint.floor[b])))
    if error <= NO_SPREAD:
        return Pair(a, b, difference, 0.0, 0.0, 1.0) if difference == 0 else Pair(a, b, difference)
    half = student_quantile(0.975, joint.freedom) * error
    most = np.ptp(joint.limits) if joint.limits else np.inf  # no difference is larger
    low, high = np.clip([difference - half, difference + half], -most, most).tolist()
    p = student_p(difference / error, joint.freedom)
    return Pair(a, b, difference, low, high, p, error=error)


def _detectable(pairs: Sequence[Pair], freedom: float) -> float | None:
    """Return the difference that Holm's first step finds with 80 % power, of the median pair."""
    errors = [pair.error for pair in pairs if pair.error]
    if not errors or freedom < 1:
        return None
    reach = student_quantile(1 - ALPHA / (2 * len(errors)), freedom)
    return or_none((reach + student_quantile(POWER, freedom)) * float(np.median(errors)))


class JointNumber(NamedTuple):
    """A number of M models on S data sets: ``cells`` (M, S), ``means`` (M,) over them, ranks.

    ``corrected``: labels of people correct it in all cells that have a value, and means and ranks
    are of the corrected values (:func:`rank_independently`); ``joint`` is of the judge's.
    """

    name: str
    where: Slice
    cells: list[list[Estimate]]
    means: list[Estimate]
    ranking: Ranking
    joint: Joint
    corrected: bool = False


# ---- estimates with intervals of their own, such as those that people's labels correct


def independent_interval(before: Estimate, after: Estimate) -> tuple[float, float] | None:
    """Return the interval of after minus before, as of independent estimates (MOVER).

    low = d - sqrt((a - a_low)^2 + (b_high - b)^2), and high likewise, for a after and b before (Zou
    and Donner 2008, Statistics in Medicine 27, 1693-1702). Too wide where the errors of both go the
    same way. ``None`` where one has no value or no interval.
    """
    a, b = after, before
    if a.value is None or a.low is None or a.high is None:
        return None
    if b.value is None or b.low is None or b.high is None:
        return None
    gap = a.value - b.value
    down = ((a.value - a.low) ** 2 + (b.high - b.value) ** 2) ** 0.5
    up = ((a.high - a.value) ** 2 + (b.value - b.low) ** 2) ** 0.5
    return gap - down, gap + up


def independent_means(
    name: str, cells: Sequence[Sequence[Estimate]], *, apart: bool = True
) -> list[Estimate]:
    """Return each model's mean over its data sets (M, S), with an interval from theirs.

    It reaches sqrt(sum (value - low)^2) / S below the mean, and likewise above, as of independent
    estimates (:func:`independent_interval`); a single data set has its own interval. Where data
    sets share entities, so that they are not ``apart``, the reaches of the parts are averaged, as
    if all erred together. Undefined, as in :func:`joint_means`, for a model without the number on
    one of the data sets.
    """
    found = []
    for row in cells:
        values = [e.value for e in row if e.value is not None]
        if len(row) == 1:
            found.append(row[0])
        elif len(values) < len(row):
            found.append(Estimate(name, problem="undefined on one of the data sets"))
        else:
            mean, n = float(np.mean(values)), sum(e.n for e in row)
            if any(e.low is None or e.high is None for e in row):
                problem = "no interval: one of the data sets has none"
                found.append(Estimate(name, value=mean, n=n, problem=problem))
                continue
            below, above = _reach(row, apart=apart)
            found.append(Estimate(name, value=mean, low=mean - below, high=mean + above, n=n))
    return found


def rank_independently(means: Sequence[Estimate], higher: bool | None, freedom: float) -> Ranking:
    """Return the ranks of M means with 95 % intervals of their own, and the test of every pair.

    A pair's interval is :func:`independent_interval`. Its p is that of Student's t with the error
    that reaches from the difference to the end of the interval next to 0, so that p < .05 says that
    the interval excludes 0. ``freedom`` are the fewest degrees of freedom of any part.
    """
    pairs = [_independent_pair(means, a, b, freedom) for a, b in combinations(range(len(means)), 2)]
    return _ranked(pairs, [mean.value for mean in means], higher, freedom)


def _independent_pair(means: Sequence[Estimate], a: int, b: int, freedom: float) -> Pair:
    before, after = means[a].value, means[b].value
    if before is None or after is None:
        return Pair(a, b, None)
    gap, ends = after - before, independent_interval(means[a], means[b])
    if ends is None or freedom <= 0:
        return Pair(a, b, gap)
    low, high = ends
    error = (gap - low if gap > 0 else high - gap) / student_quantile(0.975, freedom)
    if error <= NO_SPREAD:
        return Pair(a, b, gap)
    return Pair(a, b, gap, low, high, student_p(gap / error, freedom), error=error)


# ---- trained models: entities *and* training seeds are resampled
#
# A method has S seeds (one where nothing was trained), each measured on the same entities. Its
# number is the mean over seeds. A resample draws entities, the same for every seed and every
# method, and seeds: S - 1 of the S with replacement, weighted by S / (S - 1), since S of S would
# lose a share 1/S of their variance (Rao and Wu 1988). Methods with equally many seeds get the same
# draws of both, so that a difference is paired.
#
# The error gets Student's t with Satterthwaite's degrees of freedom: those of few seeds weigh as
# much as the seeds' share of the variance.

#: entity weights (B, E), or None for the number itself, to values (B,); NaN = undefined
EntityMetric = Callable[[Floats | None], "Floats | float"]


class ResampleWeights(NamedTuple):
    """Weights of entities (B, E), and those of S seeds (B, S) by S."""

    entities: Floats
    seed: int

    def seeds(self, number: int) -> Floats:
        """Return the weights of ``number`` seeds, mean 1, the same at every call."""
        B = len(self.entities)
        if number < 2:
            return np.ones((B, number))
        rng = np.random.default_rng([self.seed, number])
        chosen = rng.multinomial(number - 1, np.full(number, 1 / number), size=B)
        return np.asarray(chosen * (number / (number - 1)), dtype=np.float64)


class Spread(NamedTuple):
    """A number, each seed's, and its replicates (B,).

    ``least`` is the smallest standard error that theory allows, for numbers that resamples with few
    events leave undefined, and so understate.
    """

    value: float
    by_seed: tuple[float | None, ...]
    replicates: Floats
    least: float = 0.0


def draw(entities: int, n: int = 2000, seed: int = 0) -> ResampleWeights:
    """Return ``n`` resamples of entities. Seeds are drawn when their number is known."""
    rng = np.random.default_rng(seed)
    blocks = list(resample_weights(entities, n, rng))
    return ResampleWeights(np.concatenate(blocks) if blocks else np.zeros((0, entities)), seed)


def spread(seeds: Sequence[EntityMetric], draws: ResampleWeights, block: int = 200) -> Spread:
    """Return the mean over seeds of a metric, with replicates. Undefined seeds are left out."""
    own = [float(metric(None)) for metric in seeds]
    columns = []
    for metric, value in zip(seeds, own, strict=True):
        if np.isnan(value):
            columns.append(np.full(len(draws.entities), np.nan))
            continue
        parts = [
            np.asarray(metric(draws.entities[at : at + block]), dtype=np.float64)
            for at in range(0, len(draws.entities), block)
        ]
        columns.append(np.concatenate(parts) if parts else np.zeros(0))
    table = np.stack(columns, axis=1)
    weights = draws.seeds(len(seeds)) * ~np.isnan(table)
    total = weights.sum(axis=1)
    held = np.where(np.isnan(table), 0.0, table) * weights
    mean = np.where(total > 0, held.sum(axis=1) / np.where(total > 0, total, 1.0), np.nan)
    defined = [v for v in own if not np.isnan(v)]
    value = float(np.mean(defined)) if defined else float("nan")
    return Spread(value, tuple(None if np.isnan(v) else v for v in own), mean)


def error_of(number: Spread, entities: int) -> tuple[float, float] | None:
    """Return (standard error, degrees of freedom); ``None`` for a single entity.

    With V the variance and V_s = var(seeds)/S its part from seeds:
    V^2 / ((V - V_s)^2 / (E - 1) + V_s^2 / (S - 1)).
    """
    held = number.replicates[~np.isnan(number.replicates)]
    if len(held) < 2 or entities < 2:
        return None
    error = max(number.least, float(held.std(ddof=1) * np.sqrt(entities / (entities - 1))))
    values = np.array([v for v in number.by_seed if v is not None])
    total = error**2
    if len(values) < 2 or total == 0:
        return error, float(entities - 1)
    of_seeds = min(total, float(values.var(ddof=1)) / len(values))
    rest = total - of_seeds
    freedom = total**2 / (rest**2 / (entities - 1) + of_seeds**2 / (len(values) - 1))
    return error, freedom


def estimate(
    name: str, number: Spread, entities: int, n: int, limits: Range | None = None
) -> Estimate:
    """Return a number with its 95 % interval; ``limits`` as in ``bootstrap``. ``n`` rows a seed."""
    if np.isnan(number.value):
        return Estimate(name, n=n, problem=undefined(name))
    spread_of = error_of(number, entities)
    if spread_of is None:
        return Estimate(name, value=number.value, n=n, problem="no interval: a single entity")
    error, freedom = spread_of
    if limits is None:
        width = student_quantile((1 + current_level()) / 2, freedom) * error
        ends: tuple[float | None, float | None] = (number.value - width, number.value + width)
    else:
        ends = student_interval(number.value, error, max(1, int(freedom)), limits)
    problem = undefined_problem(number.replicates)
    if ends[0] is None:
        problem = "no interval: the value is at the end of its range"
    elif error <= NO_SPREAD and number.value:
        ends, problem = (None, None), UNMOVED
    left_out = sum(v is None for v in number.by_seed)
    if left_out:
        problem = f"undefined for {left_out} of {len(number.by_seed)} seeds, which are left out"
    return Estimate(name, value=number.value, low=ends[0], high=ends[1], n=n, problem=problem)


def difference(first: Spread, second: Spread) -> Spread:
    """Return first - second, resample by resample; seed by seed where both have as many.

    Where many resamples leave it undefined, its error is no less than that of two independent
    numbers with the least errors of the two.
    """
    seeds: tuple[float | None, ...]
    one, two = first.by_seed, second.by_seed
    if len(one) == len(two):
        seeds = tuple(
            None if a is None or b is None else a - b for a, b in zip(one, two, strict=True)
        )
    else:  # the seeds of one side alone: of the only one trained, else of the one with fewer
        trained = [side for side in (first, second) if len(side.by_seed) > 1]
        own = min(trained, key=lambda side: len(side.by_seed))
        other, sign = (second, 1.0) if own is first else (first, -1.0)
        seeds = tuple(None if v is None else sign * (v - other.value) for v in own.by_seed)
    replicates = first.replicates - second.replicates
    left_out = replicates.size and np.isnan(replicates).mean() > UNDEFINED_SHARE
    least = float(np.hypot(first.least, second.least)) if left_out else 0.0
    return Spread(first.value - second.value, seeds, replicates, least)


def p_value(number: Spread, entities: int) -> float | None:
    """Return the two-sided p of a difference being 0, the test that belongs to its interval."""
    spread_of = error_of(number, entities)
    if np.isnan(number.value) or spread_of is None:
        return None
    error, freedom = spread_of
    if error == 0:
        return 1.0 if number.value == 0 else None
    return student_p(number.value / error, freedom)

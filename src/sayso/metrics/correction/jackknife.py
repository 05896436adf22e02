"""The frame of all corrected numbers: which rows are labeled, the jackknife, the interval.

The method and its reasons: :mod:`sayso.metrics.correction`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from statistics import NormalDist
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import Floats, codes, count_codes, divide, or_none
from sayso.metrics.intervals import (
    GROUPS,
    LEAST_FREEDOM,
    NO_SPREAD,
    SPARSE_DENOMINATOR,
    UNDEFINED_SHARE,
    UNMOVED,
    Range,
    current_level,
    effective_number,
    is_sparse,
    proportion_interval,
    student_interval,
    student_quantile,
)
from sayso.metrics.uncle_rates import undefined
from sayso.records import Estimate, InputError

__all__ = [
    "LEAST_GAIN", "Corrected", "LabeledRows", "LabelsForWidth", "labels_for_width",
    "uncounted",
]  # fmt: skip

#: A judge is worth using where n corrected labels are worth at least so many times n labels alone.
LEAST_GAIN = 1.1

#: By how much sums are shaken, and how far a number moves then that is made of rounding alone.
SHAKEN, MADE_OF_ROUNDING = 1e-12, 1e-4
#: Labels, for each of two errors that are not seen, on which the judge is taken to know nothing.
UNSEEN = 2.0
#: Disagreements from which the variance that they show is used as it is.
SEEN = 2
#: Labeled clusters, of those that move a number, below which it gets no interval.
LEAST_LABELED = 5
#: Labeled clusters above which they leave in groups as well.
MANY_LABELED = 1000
UNCOUNTED = "undefined: no label counts for it"
LABELS_SAY_NOTHING = "no interval: the labels alone give no number"
ALIKE = "no interval: all labels that count for it are alike"
FEW_LABELS = "no interval: fewer than {} labeled entities count for it"
#: name -> the number of all rows, then without each group of clusters, (1 + G,)
Replicates = Mapping[str, Floats]
#: a power to :data:`Replicates`
Evaluate = Callable[[float], Replicates]
#: sums (..., K) to numbers (...) by name
OfSums = Callable[[Floats], Mapping[str, Any]]


class LabeledRows(NamedTuple):
    """Which of N rows people labeled, and how these were chosen.

    ``rows`` (n,) are places in 0..N-1, each once. ``probability`` (n,) is the chance that each had
    of being labeled (default: equal within a stratum); only its proportions within a stratum count.
    ``strata`` (N,) names the stratum of every row (default: one), ``clusters`` (N,) its entity
    (default: each row is its own).
    """

    rows: ArrayLike
    probability: ArrayLike | None = None
    strata: ArrayLike | None = None
    clusters: ArrayLike | None = None


class Corrected(msgspec.Struct, frozen=True):
    """A number corrected for the judge, with the number of the labels alone and the raw one.

    ``power`` is how much the judge's verdicts count (0: not at all). ``gain`` is how many labels of
    a random draw, without the judge, one label is worth here: the ratio of the variances; ``None``
    where the labels alone give no number. ``disagreements`` are the labels on which people and
    judge differ and that move the number. ``effect`` is raw minus corrected, what the judge did to
    the number, with an interval of its own: both rest on the same rows, so that the interval of the
    corrected number says nothing of their difference. ``freedom``, ``variance`` and
    ``alone_variance`` serve :func:`labels_for_width`.
    """

    corrected: Estimate
    alone: Estimate
    raw: float | None
    power: float | None
    gain: float | None
    labels: int
    rows: int
    disagreements: int
    freedom: float = 0.0
    variance: float | None = None
    alone_variance: float | None = None
    effect: Estimate | None = None


# ---- rows, labels and groups of clusters that leave together


class JackknifeSample(NamedTuple):
    """Rows and labels in groups; ``weight`` is 1/p of the labels, ``layer`` of all rows."""

    size: int
    rows: NDArray[np.int64]
    group: NDArray[np.int64]
    groups: int
    labeled_clusters: int
    weight: Floats
    layer: NDArray[np.int64]

    def without(self, values: Floats, of_labels: bool = False) -> Floats:
        """Return sums of ``values`` (m, K) by stratum, whole and without each group (1+G, H, K)."""
        group = self.group[self.rows] if of_labels else self.group
        layer = self.layer[self.rows] if of_labels else self.layer
        H = count_codes(self.layer)
        slot = group * H + layer
        sums = np.stack(
            [np.bincount(slot, column, self.groups * H) for column in values.T], axis=-1
        ).reshape(self.groups, H, values.shape[1])
        total = sums.sum(axis=0)
        return np.concatenate([total[None], total - sums])

    def scales(self) -> Floats:
        """Return what weights 1/p of a stratum are multiplied by, (1+G, H): N(h) / W(h) / N."""
        inside = self.without(np.ones((self.size, 1)))[..., 0]
        weight = self.without(self.weight[:, None], of_labels=True)[..., 0]
        inside = np.where(weight > 1e-12, inside, 0.0)
        scale = divide(inside, weight) / inside.sum(axis=1, keepdims=True)
        return np.asarray(np.nan_to_num(scale), dtype=np.float64)

    def shares(self) -> Floats:
        """Return the weight of each label (n,) in the whole sample; they add up to 1."""
        return np.asarray(self.weight * self.scales()[0, self.layer[self.rows]], dtype=np.float64)

    def shown(self, moved: NDArray[np.bool_]) -> float:
        """Return how many labels show an error, :data:`SEEN` at most; the mean over rows.

        Errors of one stratum say nothing of another, such as that of which the judge is sure.
        """
        found = np.bincount(self.layer[self.rows], moved, count_codes(self.layer))
        return float(np.minimum(found, SEEN)[self.layer].mean())

    def weighs(self) -> bool:
        """Tell whether labels weigh differently."""
        return count_codes(self.layer) > 1 or len(np.unique(self.weight)) > 1

    def kept(self, first: int, last: int) -> NDArray[np.bool_]:
        """Return which rows stay in replicates first..last-1 of 1+G, (b, N); 0 is the whole."""
        return np.asarray(self.group != np.arange(first - 1, last - 1)[:, None], dtype=bool)


def jackknife_sample(size: int, labeled: LabeledRows) -> JackknifeSample:
    """Return rows in groups, after the checks of what came."""
    rows = np.asarray(labeled.rows, dtype=np.int64).reshape(-1)
    if len(rows) and (rows.min() < 0 or rows.max() >= size or len(np.unique(rows)) < len(rows)):
        raise InputError(
            f"labeled rows: expected places from 0 to {size - 1}, each once; two labels of one row "
            "are joined first"
        )
    weight = np.ones(len(rows))
    if labeled.probability is not None:
        chance = np.asarray(labeled.probability, dtype=np.float64)
        if chance.shape != rows.shape or not ((chance > 0) & (chance <= 1)).all():
            raise InputError("inclusion probabilities: expected one in (0, 1] for each label")
        weight = 1 / chance
    unit = np.arange(size) if labeled.clusters is None else codes(labeled.clusters)
    layer = np.zeros(size, np.int64) if labeled.strata is None else codes(labeled.strata)
    if len(unit) != size or len(layer) != size:
        raise InputError(f"strata and clusters: expected one for each of {size} rows")
    count = count_codes(unit)
    inside = np.unique(unit[rows])
    outside = np.setdiff1d(np.arange(count), inside, assume_unique=True)
    own, rest = _dealt(len(inside), MANY_LABELED), _dealt(len(outside), GROUPS)
    group = np.zeros(count, dtype=np.int64)
    group[inside] = own
    group[outside] = rest + count_codes(own)
    layer = _merged(layer, unit, rows)
    groups = count_codes(own) + count_codes(rest)
    return JackknifeSample(size, rows, group[unit], groups, len(inside), weight, layer)


def _dealt(count: int, most: int) -> NDArray[np.int64]:
    """Return a group for each of ``count`` clusters: its own, or one of GROUPS from ``most`` on."""
    if count <= most:
        return np.arange(count)
    return np.asarray(np.random.default_rng(0).permutation(count) % GROUPS, dtype=np.int64)


def _merged(
    layer: NDArray[np.int64], unit: NDArray[np.int64], rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return strata with those joined that have labels of fewer than two clusters.

    They are joined to each other, and to the next smallest where they still have too few: one label
    tells nothing of how a stratum varies.
    """
    of_label = np.unique(np.stack([layer[rows], unit[rows]], axis=1), axis=0)[:, 0]
    held = np.bincount(of_label, minlength=count_codes(layer))
    order = np.argsort(held, kind="stable")
    few = int((held < 2).sum())
    while 0 < few < len(order) and held[order[:few]].sum() < 2:
        few += 1
    target = np.arange(len(held))
    target[order[:few]] = order[0] if few else 0
    return codes(target[layer])


# ---- the interval, whatever the number


class JackknifeNumbers(NamedTuple):
    """How numbers are computed: with a power, of the labels alone, and with labels taken back.

    ``swapped`` are the numbers where the judge's verdict stands in the place of one label (n,), and
    of none, as (1 + n,). ``tuned``: the power is chosen; else there is none. ``weighted`` are the
    numbers of the labels alone with the weights of the whole sample, whatever leaves; needed where
    labels have strata (default: ``alone``). ``judged`` are those of the judge alone. ``shares`` are
    what each label alone (n,) says of the numbers that are shares: 1, 0, or NaN where it does not
    count. ``composed`` names the shares that a number is made of, with what each is a share of.
    """

    evaluate: Evaluate
    alone: Replicates
    swapped: Replicates
    raw: Mapping[str, float]
    tuned: bool = True
    weighted: Replicates | None = None
    judged: Replicates | None = None
    shares: Mapping[str, Floats] | None = None
    composed: Mapping[str, Mapping[str, str]] = {}


def jackknifed_numbers(
    numbers: JackknifeNumbers, sample: JackknifeSample, limits: Mapping[str, Range | None]
) -> dict[str, Corrected]:
    """Return every number with its interval, beside that of the labels alone."""
    full, shares = numbers.evaluate(1.0), numbers.shares or {}
    result = {}
    for name, whole in full.items():
        limit = limits.get(name, (0.0, 1.0))
        own = numbers.alone[name]
        swapped = numbers.swapped[name]
        moved = np.abs(swapped[1:] - swapped[0]) > NO_SPREAD
        seen = int(moved.sum())
        alone = _spread(name, own, own, sample, limit, Unseen(SEEN))
        said = shares.get(name)
        if said is not None:
            alone = _exact_where_sparse(alone, said, sample)
        power, drawn = None, whole
        if numbers.tuned:
            agreed = not seen and alone.estimate.low is not None
            # few labels tell nothing of the judge's worth, and have an exact interval without it
            few = np.isfinite(own[0]) and _trials(said, sample) < SPARSE_DENOMINATOR
            power = 0.0 if few else _power(own, whole, sample, agreed=agreed)
            drawn = numbers.evaluate(power)[name]
        # with power 0 no error of the judge can be unseen
        shown = SEEN if power == 0 else sample.shown(moved)
        unseen = Unseen(shown, _lone_variance(own, alone.estimate))
        made = _spread(name, drawn, own, sample, limit, unseen)
        if numbers.tuned and not np.isfinite(own[0]):
            made = _without_labels(made, seen)
        if said is not None and np.allclose(drawn, own, rtol=0, atol=NO_SPREAD, equal_nan=True):
            made = _exact_where_sparse(made, said, sample)
        random = (numbers.weighted or numbers.alone)[name]
        lone = _random_variance(random, sample) if alone.variance else None
        gain = lone / made.variance if numbers.tuned and made.variance and lone else None
        effect = None
        if numbers.judged is not None:
            apart = numbers.judged[name] - drawn
            effect = _spread(name, apart, own, sample, None, unseen).estimate
        result[name] = Corrected(
            corrected=made.estimate,
            alone=alone.estimate,
            raw=or_none(numbers.raw[name]),
            power=power,
            gain=gain,
            labels=len(sample.rows),
            rows=sample.size,
            disagreements=seen,
            freedom=made.freedom,
            variance=made.variance,
            alone_variance=lone,
            effect=effect,
        )
    for name, parts in numbers.composed.items():
        for part, of in parts.items():
            if name in result and _trials(shares.get(part), sample) < SPARSE_DENOMINATOR:
                result[name] = _too_few(result[name], of)
    return result


def _trials(said: Floats | None, sample: JackknifeSample) -> float:
    """Return how many labels of equal weight those are worth that count for a share."""
    return math.inf if said is None else effective_number(sample.shares()[np.isfinite(said)])


def _too_few(number: Corrected, of: str) -> Corrected:
    """Return a number without intervals: too few labels of something that it is made of."""
    problem = f"no interval: too few labels of {of}"
    bare = {
        version: msgspec.structs.replace(e, low=None, high=None, problem=problem)
        for version in ("corrected", "alone", "effect")
        if (e := getattr(number, version)) is not None and e.value is not None
    }
    return msgspec.structs.replace(number, variance=None, freedom=0.0, gain=None, **bare)


def _without_labels(made: _Spread, seen: int) -> _Spread:
    """Return a number of which the labels alone say nothing: undefined, or without an interval.

    Where none of the labels moves it, it is the judge's number, which nobody corrected.
    """
    bare = made.estimate
    if seen and bare.value is not None:
        estimate = Estimate(bare.name, value=bare.value, n=bare.n, problem=LABELS_SAY_NOTHING)
    else:
        estimate = Estimate(bare.name, n=bare.n, problem=bare.problem or UNCOUNTED)
        if bare.value is not None:
            estimate = msgspec.structs.replace(estimate, problem=UNCOUNTED)
    return _Spread(estimate, None, 0.0)


def uncounted(name: str, rows: int, problem: str = UNCOUNTED) -> Corrected:
    """Return a number of ``rows`` for which no label counts."""
    nothing = Estimate(name, problem=problem)
    return Corrected(nothing, nothing, None, None, None, labels=0, rows=rows, disagreements=0)


def computed(numbers: OfSums, sums: Floats) -> dict[str, Floats]:
    """Return numbers of sums (..., K), NaN where undefined.

    A number is undefined too where rounding decides it: what is left of sums that cancel out, such
    as 1e-16 answers that commit. It is found by shaking every sum a little, each differently.
    """
    size = np.abs(sums).max(axis=-1, keepdims=True, initial=0.0)
    shaken = sums + SHAKEN * size * np.sqrt(2 + np.arange(sums.shape[-1]))
    with np.errstate(all="ignore"):
        found, moved = ({k: np.asarray(v) for k, v in numbers(x).items()} for x in (sums, shaken))
    rounding = {k: np.abs(moved[k] - v) > MADE_OF_ROUNDING for k, v in found.items()}
    return {k: np.where(rounding[k], np.nan, v) for k, v in found.items()}


def _random_variance(drawn: Floats, sample: JackknifeSample) -> float:
    """Return the variance that as many labels drawn at random would have, without the judge.

    A label of weight w stands for w rows, and its change d is w u / sum w for the influence u of
    such a row. The variance of n labels at random is the mean of u^2 over n: sum d^2 sum w / (n w).
    Where all weigh alike that is sum d^2. So the gain does not depend on the design, and strata
    made of the judge's verdicts count as its work.
    """
    change = drawn[1:] - drawn[0]
    group = sample.group[sample.rows]
    count = np.bincount(group, minlength=sample.groups)
    own = divide(np.bincount(group, sample.shares(), sample.groups), count)
    use = np.isfinite(change) & (own > 0)
    scale = sample.shares().sum() / (len(sample.rows) * own[use])
    return float((change[use] ** 2 * scale).sum())


def _power(own: Floats, whole: Floats, sample: JackknifeSample, *, agreed: bool) -> float:
    """Return the power with the least jackknife variance; 1 where the labels alone are undefined.

    ``own`` and ``whole`` (1+G,) are the number with power 0 and 1. Where both are the same, it is 0
    for a judge that adds nothing, and 1 where strata of its verdicts say all that it says. Labels
    that are all alike have no variance and would get all the power: 1 where the judge ``agreed``
    with all of them.
    """
    a, b = own[1:] - own[0], whole[1:] - whole[0]
    both = np.isfinite(a) & np.isfinite(b)
    if not both.any():
        return 0.0 if np.isfinite(own[0]) else 1.0
    a, gap = a[both], (a - b)[both]
    if agreed and float(a @ a) <= NO_SPREAD**2:
        return 1.0
    below = float(gap @ gap)
    if below <= NO_SPREAD * float(a @ a):
        return 1.0 if count_codes(sample.layer) > 1 else 0.0
    return min(max(float(a @ gap) / below, 0.0), 1.0)


class Unseen(NamedTuple):
    """How many labels show an error of the judge, and the variance of the labels alone.

    Below :data:`SEEN`, :data:`UNSEEN` more labels for each are added, which have that variance.
    """

    seen: float
    variance: float = 0.0


def _lone_variance(own: Floats, alone: Estimate) -> float:
    """Return the jackknife variance of the labels alone; of labels all alike, the interval's."""
    lone = own[1:] - own[0]
    lone = lone[np.isfinite(lone)]
    variance = float(lone @ lone)
    if variance <= NO_SPREAD**2 and alone.low is not None and alone.high is not None:
        half = max(alone.high - alone.low, 0.0) / 2
        return (half / NormalDist().inv_cdf((1 + current_level()) / 2)) ** 2
    return variance


class _Spread(NamedTuple):
    estimate: Estimate
    variance: float | None
    freedom: float


def _spread(
    name: str,
    drawn: Floats,
    own: Floats,
    sample: JackknifeSample,
    limits: Range | None,
    unseen: Unseen,
) -> _Spread:
    """Return the estimate of a number (1+G,), its variance and degrees of freedom."""
    n = len(sample.rows)
    value = float(drawn[0])
    if not n or not np.isfinite(value):
        problem = undefined(name) if n else "undefined: no labels"
        return _Spread(Estimate(name, n=n, problem=problem), None, 0.0)
    change = drawn[1:] - value
    defined = np.isfinite(change)
    change = change[defined]
    inside = value if limits is None else min(max(value, limits[0]), limits[1])
    bare = Estimate(name, value=inside, n=n)
    moving = _moving(own, sample)
    if moving < LEAST_LABELED and not (moving == 0 and unseen.variance > 0):
        enough = sample.labeled_clusters >= LEAST_LABELED
        problem = ALIKE if enough and not moving else FEW_LABELS.format(LEAST_LABELED)
        return _Spread(msgspec.structs.replace(bare, problem=problem), None, 0.0)
    if 1 - defined.mean() > UNDEFINED_SHARE:
        problem = "no interval: undefined without some of the labels"
        return _Spread(msgspec.structs.replace(bare, problem=problem), None, 0.0)
    variance = float(change @ change)
    variance += UNSEEN * (SEEN - min(unseen.seen, SEEN)) / n * unseen.variance
    if variance <= NO_SPREAD**2:
        return _Spread(msgspec.structs.replace(bare, problem=UNMOVED), None, 0.0)
    freedom = _freedom(change, sample.labeled_clusters)
    low, high = _ends(value, math.sqrt(variance), freedom, limits)
    off = None if low is not None else "no interval: the value is off its scale"
    made = msgspec.structs.replace(bare, low=low, high=high, problem=off)
    return _Spread(made, variance, freedom)


def _exact_where_sparse(alone: _Spread, said: Floats, sample: JackknifeSample) -> _Spread:
    """Return a share of the labels alone, with an exact interval if it is sparse.

    ``said`` (n,) is 1 or 0, or NaN where a label does not count. The interval is that of
    :func:`sayso.metrics.intervals.proportion_interval`. Labels of weights w are worth
    (sum w)^2 / sum w^2 of equal ones.
    """
    value, counts = alone.estimate.value, np.isfinite(said)
    if value is None:
        return alone
    weight, unit = sample.shares()[counts], sample.group[sample.rows[counts]]
    trials = effective_number(weight)
    sizes = np.bincount(unit, weight)
    sizes = sizes[sizes > 0]
    if not is_sparse(value * trials, trials) or len(sizes) < LEAST_LABELED:
        return alone
    error = None if alone.variance is None else math.sqrt(alone.variance)
    low, high = proportion_interval(value * trials, trials, error, len(sizes), sizes=sizes)
    made = msgspec.structs.replace(alone.estimate, low=low, high=high, problem=None)
    return _Spread(made, alone.variance, max(LEAST_FREEDOM, len(sizes) - 2.0))


def _moving(own: Floats, sample: JackknifeSample) -> int:
    """Return in how many labeled groups a label counts for the number of the labels alone."""
    change = own[1:] - own[0]
    change = change[np.isfinite(change)]
    if not len(change):
        return sample.labeled_clusters
    return int((np.abs(change) > NO_SPREAD).sum())


def _freedom(change: Floats, labeled: int) -> float:
    """Return the degrees of freedom of the variance that changes (G,) show (Satterthwaite)."""
    square = change**2
    most = max(LEAST_FREEDOM, labeled - 2.0)
    below = float(divide((square**2).sum(), square.sum() ** 2)) - 1 / len(change)
    return most if not below > 0 else min(most, max(LEAST_FREEDOM, 2 / below - 1))


def _ends(
    value: float, error: float, freedom: float, limits: Range | None
) -> tuple[float | None, float | None]:
    """Return the interval; of a value at or off the end of its scale the symmetric one, cut."""
    if limits is None or limits[0] < value < limits[1]:
        return student_interval(value, error, freedom, limits)
    low, high = student_interval(value, error, freedom, None)
    if low is None or high is None or low > limits[1] or high < limits[0]:
        return None, None
    return max(low, limits[0]), min(high, limits[1])


# ---- how many labels


class LabelsForWidth(NamedTuple):
    """How many labels of this run give an interval of a half-width, with the judge and alone.

    ``None``: not even labels of all its rows, because the run has too few entities.
    """

    corrected: int | None
    alone: int | None


def labels_for_width(number: Corrected, half_width: float) -> LabelsForWidth:
    """Return how many labels an interval of ``half_width`` takes, drawn as those of ``number``.

    Var(n) = A + S (1/n - 1/N): A is the sampling error that stays when all N rows are labeled,
    n Var(alone) / N, and S the variance of one label's residual, both from the variances of
    ``number``. Student's t has n - 2 degrees of freedom. The interval that n labels gave is wider
    on a scale near its end, and where few labels show errors. So the answer is at least
    n (its half-width / half_width)^2, times Var(alone) / Var without the judge, and at most n where
    it is as narrow as wanted. Neither is known where the number has no variance.
    """
    if half_width <= 0:
        raise InputError(f"half_width is {half_width}; expected a number above 0")
    n, N = number.labels, number.rows
    if number.alone_variance is None or number.variance is None or not n:
        return LabelsForWidth(None, None)
    floor = number.alone_variance * n / N
    low, high = number.corrected.low, number.corrected.high
    now = None if low is None or high is None else n * ((high - low) / 2 / half_width) ** 2
    found = []
    for variance in (number.variance, number.alone_variance):
        needed = _needed(variance, floor, n, N, half_width)
        if now is not None:
            needed = _as_seen(needed, now * variance / number.variance, n, N)
        found.append(needed)
    return LabelsForWidth(*found)


def _as_seen(needed: int | None, least: float, n: int, N: int) -> int | None:
    """Return how many labels are needed, where by the interval of n labels it is ``least``."""
    least = math.ceil(least - 1e-9)
    if least <= n:
        return n if needed is None else min(max(needed, least), n)
    return None if needed is None or least > N else max(needed, least)


def _needed(variance: float, floor: float, n: int, N: int, half_width: float) -> int | None:
    per_label = max(variance - floor, 0.0) / (1 / n - 1 / N) if n < N else variance * n
    wanted, end = n, (1 + current_level()) / 2
    for _ in range(20):
        room = (half_width / student_quantile(end, max(LEAST_FREEDOM, wanted - 2))) ** 2 - floor
        if room <= 0:
            return None
        again = min(N, math.ceil(per_label / (room + per_label / N)))
        if again == wanted:
            break
        wanted = max(again, 2)
    return wanted

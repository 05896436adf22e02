"""A number is declared once: rows, what each adds, a metric, and where the number is used.

From a protocol's list of :class:`Declared` numbers come the estimates of a run, differences of two
runs, what a study resamples together, and, in :mod:`sayso.protocols.labeled`, numbers that people's
labels correct. Formulas and intervals are those of :mod:`sayso.metrics`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import Floats, codes, count_codes, divide, or_none
from sayso.metrics.correction.jackknife import OfSums
from sayso.metrics.intervals import (
    Range,
    Statistic,
    bootstrap_difference,
    current_level,
    resampled_sums,
    share_of_counts,
    within,
)
from sayso.metrics.joint import Number
from sayso.metrics.uncle_rates import undefined
from sayso.records import Estimate, Signature, Slice, signature_of

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
#: the answer or claim, and the question, that a verdict of a stage is on
Place = tuple[str, str]
#: the verdicts behind a row: one, several (a list), or none
RowPlace = Place | list[Place] | None
#: where a number is used: in a run's own table, where two runs or several models are compared, and
#: where labels of people correct it for the judge
Use = Literal["run", "pair", "study", "people"]
RUN: frozenset[Use] = frozenset({"run"})
#: why a difference of 0 has no interval
UNSEEN = "no interval: no question shows a difference; more questions may"


# ---- what a protocol declares


@dataclasses.dataclass(frozen=True, eq=False)
class Rows:
    """What numbers are counted over: n facts, answers or claims.

    ``keys`` (n,) join two runs: the rows of one key are the same fact, or, with ``paired`` false,
    rows of different runs about one thing, such as the claims of two answers to a question.
    ``entity`` (n,) numbers what is resampled as a whole, ``names`` (n,) are its names, the same in
    every run. ``places`` (n,) are the verdicts behind a row, in the table ``stage``: one, several
    that people must all have labeled, or ``None``. ``read`` (n,) tells where a label of the row, if
    there is one, says what its numbers need. ``called`` is what messages call a row.
    """

    keys: Sequence[Hashable]
    entity: Ints
    names: NDArray[np.str_]
    stage: str = ""
    places: Sequence[RowPlace] = ()
    read: Mask | None = None
    paired: bool = True
    called: str = "fact"

    def take(self, use: Mask) -> Rows:
        """Return some of the rows. ``use`` is (n,)."""
        at = np.flatnonzero(use).tolist()
        return dataclasses.replace(
            self,
            keys=[self.keys[row] for row in at],
            entity=self.entity[at],
            names=self.names[at],
            places=[self.places[row] for row in at] if self.places else (),
            read=None if self.read is None else self.read[at],
        )


class Sums(NamedTuple):
    """A family of numbers that are functions of the same ``size`` sums over rows.

    ``of`` maps sums (..., size) to the numbers (...) by name, NaN where undefined; where rows have
    kinds, sums (..., T, size). ``own`` maps the sums of C clusters (C, size), or (C, T, size), the
    number of resamples and the seed to estimates by name, with the metric's own interval.
    ``shares`` are those of which a row says 1, 0 or nothing, and which are the mean of these;
    ``composed`` names the shares that a number is made of, with what each is a share of.
    ``combined``: the interval of a difference is combined from those of its sides, else it is that
    of paired resamples.
    """

    of: OfSums
    size: int
    own: Callable[[Floats, int, int], Mapping[str, Estimate]]
    shares: tuple[str, ...] = ()
    composed: Mapping[str, Mapping[str, str]] = {}
    combined: bool = True


def share_of_rows(name: str) -> Sums:
    """Return the family of one number: ones / rows that count, of the column :func:`ones`.

    ``None`` where no row counts; interval: :func:`sayso.metrics.intervals.share_of_counts`.
    """

    def of(sums: Floats) -> dict[str, Floats]:
        return {name: divide(sums[..., 1], sums.sum(axis=-1))}

    def own(sums: Floats, n: int, seed: int) -> dict[str, Estimate]:
        counts = np.stack([sums[:, 1], sums.sum(axis=1)], axis=1)
        return {name: share_of_counts(name, counts, n, seed)}

    return Sums(of, 2, own, shares=(name,))


def ones(hit: ArrayLike, of: ArrayLike) -> Ints:
    """Return the column of a share, (n,): 1 for a ``hit``, 0 for another row ``of`` it, else -1."""
    return np.where(np.asarray(of, dtype=bool), np.asarray(hit, dtype=bool), -1).astype(np.int64)


class Weighted(NamedTuple):
    """A metric of weighted rows that is no function of sums.

    ``of(*columns, weights=W)`` is the metric, as in :mod:`sayso.metrics.joint`;
    ``own(*columns, clusters=, n=, seed=)`` the estimate of all rows: those with NaN are still there
    and are left out by it. ``combined`` as in :class:`Sums`.
    """

    of: Statistic
    own: Callable[..., Estimate]
    combined: bool = True

    def without_value(self, name: str, why: str, n: int = 0) -> Weighted:
        """Return the metric of a run in which it has no value, and why."""
        return self._replace(own=lambda *columns, **about: Estimate(name, n=n, problem=why))


@dataclasses.dataclass(frozen=True, eq=False)
class Counted:
    """What several numbers are made of at once: rows, a metric and its columns.

    For :class:`Sums`, a column of whole numbers (n,) names the sum that each row adds 1 to (-1:
    none), and one of fractions (n, size) holds what a row adds to each (NaN: the row does not
    count). Several columns add up. ``kinds`` (n,), such as types of facts, are summed apart. For
    :class:`Weighted`, columns (n,) are those of the metric; a row with NaN does not count.
    ``lost`` (n,) marks rows that lack a verdict, by default all that do not count.
    """

    rows: Rows
    metric: Sums | Weighted
    columns: Sequence[NDArray[Any]]
    lost: Mask | None = None
    kinds: NDArray[Any] | None = None

    @cached_property
    def counts(self) -> Mask:
        """Which rows count, (n,)."""
        use = np.ones(len(self.rows.entity), dtype=bool)
        for column in self.columns:
            if column.dtype.kind == "f":
                use &= ~np.isnan(column).any(axis=tuple(range(1, column.ndim)))
            elif isinstance(self.metric, Sums):
                use &= column >= 0
        return use

    def adds(self) -> Floats:
        """Return what each row adds to the sums of a family, (n, size)."""
        assert isinstance(self.metric, Sums)
        sums = np.arange(self.metric.size)
        parts = [c if c.dtype.kind == "f" else c[:, None] == sums for c in self.columns]
        return np.where(self.counts[:, None], np.sum(parts, axis=0), 0.0)


class Declared(NamedTuple):
    """One number of a run: its name and slice, what it is made of, and where it is used.

    ``limits`` are the ends of its scale (``None``: none), ``higher`` tells whether more is better.
    ``missing`` and ``bounds`` are those of the run's own estimate: rows without a verdict, and the
    range over all their readings (``None``: as the metric has them). ``least`` is how many entities
    two runs must share for an interval of their difference.
    """

    name: str
    where: Slice
    of: Counted
    signature: Signature = ()
    uses: frozenset[Use] = RUN
    limits: Range | None = (0.0, 1.0)
    higher: bool | None = None
    missing: int = 0
    bounds: tuple[float | None, float | None] | None = None
    least: int = 0


# ---- the estimates of a run


def estimates_of(numbers: Iterable[Declared], n: int, seed: int) -> Iterator[Estimate]:
    """Yield the estimate of each number that a run has, with ``n`` resamples of entities.

    Numbers of one :class:`Counted` are computed at once. Entities of which no row counts are drawn.
    """
    families: dict[Counted, Mapping[str, Estimate]] = {}
    for d in numbers:
        if "run" not in d.uses:
            continue
        of, entity = d.of, d.of.rows.entity
        if of not in families:
            [columns], [clusters] = _columns([(of, np.arange(len(entity)))], [entity])
            families[of] = _own(d, columns, clusters, n, seed)
        found = families[of][d.name]
        low, high = d.bounds or (found.bound_low, found.bound_high)
        yield msgspec.structs.replace(
            found,
            name=d.name,
            where=d.where,
            missing=d.missing or found.missing,
            bound_low=low,
            bound_high=high,
            signature=signature_of(d.name, d.signature),
        )


def _own(
    d: Declared, columns: Sequence[NDArray[Any]], clusters: NDArray[Any], n: int, seed: int
) -> Mapping[str, Estimate]:
    """Return the estimates of all numbers that are made of one thing, by name."""
    if isinstance(d.of.metric, Sums):
        return d.of.metric.own(columns[0], n, seed)
    return {d.name: d.of.metric.own(*columns, clusters=clusters, n=n, seed=seed)}


def _columns(
    parts: Sequence[tuple[Counted, Ints]], clusters: Sequence[NDArray[Any]]
) -> tuple[list[list[NDArray[Any]]], Sequence[NDArray[Any]]]:
    """Return what the metric of one or two parts takes, and the cluster of each of its rows.

    A part is some rows of something counted; ``clusters`` are those of the rows of each. The rows
    of a :class:`Weighted` metric stay as they are. For :class:`Sums` they are added up by cluster,
    (C, size), or (C, T, size) of kinds: all parts have the same C and T, in sorted order.
    """
    if isinstance(parts[0][0].metric, Weighted):
        return [[column[at] for column in of.columns] for of, at in parts], clusters
    names, unit = np.unique(np.concatenate(clusters), return_inverse=True)
    kinds = [of.kinds[at] for of, at in parts if of.kinds is not None]
    kind = codes(np.concatenate(kinds)) if kinds else np.zeros(len(unit), dtype=np.int64)
    C, T = len(names), max(1, count_codes(kind))
    tables: list[list[NDArray[Any]]] = []
    for (of, at), slot in zip(parts, np.split(unit * T + kind, [len(clusters[0])]), strict=False):
        adds = of.adds()[at]
        table = np.zeros((C * T, adds.shape[1]))
        np.add.at(table, slot, adds)
        tables.append([table.reshape(C, T, adds.shape[1]) if kinds else table])
    return tables, [names] * len(parts)


# ---- two runs


def common_rows(first: Rows, second: Rows) -> tuple[Ints, Ints]:
    """Return the rows of each of two runs that both have: all whose key is in both.

    Of paired rows the first of each key, in one order: (m,) and (m,).
    """
    if not first.paired:
        shared = set(first.keys) & set(second.keys)
        masks = ([key in shared for key in rows.keys] for rows in (first, second))
        one, two = (np.flatnonzero(mask) for mask in masks)
        return one, two
    ours, theirs = (
        {key: row for row, key in reversed([*enumerate(rows.keys)])} for rows in (first, second)
    )
    both = [key for key in dict.fromkeys(first.keys) if key in theirs]
    one, two = (np.array([place[key] for key in both], dtype=np.int64) for place in (ours, theirs))
    return one, two


def differences(
    first: Iterable[Declared],
    second: Iterable[Declared],
    n: int,
    seed: int,
    same: Callable[[Declared], bool] = lambda d: True,
    given: Callable[[Declared], bool] = lambda d: False,
) -> Iterator[tuple[Declared, Declared, Estimate]]:
    """Yield the numbers of a slice that two runs have, and second minus first, entities paired.

    Only rows that both runs have, and of paired ones those that count in both, are counted; an
    entity of which none does is not drawn. ``missing`` are paired rows that lack a verdict in one
    of the runs; of other rows, those of both numbers. The interval is combined from those of the
    sides, or symmetric (:func:`sayso.metrics.intervals.bootstrap_difference`). That of a difference
    which no question shows is exact where the number is ``given``, whatever was answered, or the
    answers are the ``same`` in both runs; else it is :meth:`_Pair.unseen`. Nothing of runs without
    a common row.
    """
    others = {(d.name, d.where): d for d in second if "pair" in d.uses}
    rows: dict[tuple[Rows, Rows], tuple[Ints, Ints]] = {}
    pairs: dict[tuple[Counted, Counted], _Pair] = {}
    for a in first:
        b = others.get((a.name, a.where))
        if b is None or "pair" not in a.uses:
            continue
        both = a.of.rows, b.of.rows
        if both not in rows:
            rows[both] = common_rows(*both)
        if not len(rows[both][0]):
            continue
        if (a.of, b.of) not in pairs:
            pairs[a.of, b.of] = _Pair(a.of, b.of, rows[both])
        gap = pairs[a.of, b.of].less(b, n, seed)
        if not a.of.rows.paired:
            gap = msgspec.structs.replace(gap, missing=a.missing + b.missing)
        if gap.value == 0 and given(a):
            gap = msgspec.structs.replace(gap, low=0.0, high=0.0)
        elif gap.low == gap.high == gap.value == 0 and (gap.missing or not same(a)):
            gap = pairs[a.of, b.of].unseen(b, gap)
        yield a, b, gap


class _Pair:
    """What two runs have of something counted: columns and clusters of B, and of A."""

    def __init__(self, a: Counted, b: Counted, at: tuple[Ints, Ints]) -> None:
        use, paired = (a.counts[at[0]], b.counts[at[1]]), a.rows.paired
        if paired:
            use = (use[0] & use[1],) * 2
        lost, other = (~of.counts if of.lost is None else of.lost for of in (a, b))
        self.missing = int((lost[at[0]] | other[at[1]]).sum()) if paired else 0
        self.entities = len(np.unique(a.rows.names[at[0]]))
        parts = (b, at[1][use[1]]), (a, at[0][use[0]])
        self.sizes = [len(rows) for _, rows in parts]
        # a pair is about the entity that A says
        own = [a.rows.entity[parts[1][1]]] * 2
        clusters = own if paired else [of.rows.names[rows] for of, rows in parts]
        self.largest = np.unique(clusters[0], return_counts=True)[1].max(initial=0)
        self.columns, self.clusters = _columns(parts, clusters)
        self.own: dict[str, tuple[Estimate, Estimate]] = {}
        self.drawn: list[Mapping[str, Floats]] = []

    def less(self, d: Declared, n: int, seed: int) -> Estimate:
        """Return B - A of a number of B."""
        if not all(self.sizes):
            return Estimate(d.name, problem=undefined(d.name), missing=self.missing)
        metric = d.of.metric
        (first, second), (units, others) = self.columns, self.clusters
        if metric.combined and d.name not in self.own:
            ours, theirs = _own(d, first, units, n, seed), _own(d, second, others, n, seed)
            self.own |= {name: (ours[name], theirs[name]) for name in ours}
        if isinstance(metric, Sums) and not self.drawn:  # once for the family
            wide = [table.reshape(len(table), -1) for (table,) in self.columns]
            sums = np.split(resampled_sums(np.concatenate(wide, axis=1), n, seed), 2, axis=1)
            self.drawn = [metric.of(side.reshape(-1, *first[0].shape[1:])) for side in sums]
        own, drawn = self.own.get(d.name), [side[d.name] for side in self.drawn]
        gap = bootstrap_difference(
            _of_weights(d), first, second, units, others, n, seed, d.name, own, d.limits, drawn
        )
        size = self.sizes[0] if own is None else own[0].n
        if not metric.combined and d.limits is not None:
            gap = within(gap, d.limits[1] - d.limits[0])
        if gap.low is not None and self.entities < d.least:
            why = f"no interval: it needs {d.least} entities in common"
            gap = msgspec.structs.replace(gap, low=None, high=None, problem=why)
        return msgspec.structs.replace(gap, n=size, missing=self.missing)

    def unseen(self, d: Declared, gap: Estimate) -> Estimate:
        """Return a difference that no question shows with how far it may be from 0.

        Of m clusters none changed, so at most -ln(error) would among as many others (the rule of
        three: Hanley and Lippman-Hand 1983), each as large as the largest, in the way that moves
        the number most; the error is that of one side of the interval. A share of 100 answers about
        one entity each, at error .05: -.030 to .030. No interval where the number is no function of
        sums, or this would undefine it.
        """
        far, metric = -1.0, d.of.metric
        if isinstance(metric, Sums) and d.of.kinds is None:
            cells, sums = np.eye(metric.size), self.columns[0][0].sum(axis=0)
            error = (1 - current_level()) / 2
            changed = np.minimum(sums, -math.log(error) * self.largest)
            moved = [
                metric.of(sums + part * (new - old))[d.name] - metric.of(sums)[d.name]
                for part, old in zip(changed, cells, strict=True)
                if part
                for new in cells
            ]
            far = float(np.abs(moved).max(initial=-1.0))
        if far >= 0:
            return msgspec.structs.replace(gap, low=-far, high=far)
        why = f"no interval: {gap.missing:,} verdicts could not be read" if gap.missing else UNSEEN
        return msgspec.structs.replace(gap, low=None, high=None, problem=why)


# ---- several models, resampled together


def joint_number(d: Declared) -> Number:
    """Return a number as a function of the weights of its entities, as a study resamples it.

    Entities of which no row counts are not drawn.
    """
    at = np.flatnonzero(d.of.counts)
    [columns], [names] = _columns([(d.of, at)], [d.of.rows.names[at]])
    return Number(_of_weights(d), tuple(columns), names.tolist(), d.limits, d.higher)


def _of_weights(d: Declared) -> Statistic:
    """Return a number as a metric of columns and weights: for sums, of those of clusters."""
    if isinstance(d.of.metric, Weighted):
        return d.of.metric.of
    of = d.of.metric.of

    def metric(table: Floats, weights: Floats | None = None) -> Any:
        if weights is None:
            return or_none(of(table.sum(axis=0))[d.name])
        flat = weights @ table.reshape(len(table), -1)
        return of(flat.reshape(-1, *table.shape[1:]))[d.name]

    return metric

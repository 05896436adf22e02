"""A number is declared once: rows, what each adds, a metric, and where the number is used.

A protocol lists its numbers as :class:`Declared` values. From that list come the estimates of a run
(:func:`estimates_of`), differences of two runs (:func:`differences`), what a study resamples
together (:func:`joint_number`) and numbers that people's labels correct
(:func:`corrected_numbers`). Formulas and intervals are those of :mod:`sayso.metrics`.

A metric is one of two kinds. :class:`Sums` is a family of numbers, functions of the same sums over
rows, such as UNCLE's rates of a 2x3 matrix; :func:`share` is the simplest. :class:`Weighted` is any
other metric of weighted rows, such as AUROC.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
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
    share_of_counts,
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
EVERYWHERE: frozenset[Use] = frozenset({"run", "pair", "study", "people"})


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
    ``shares`` are those of which a row says 1, 0 or nothing, and which are the mean of these.
    ``combined``: the interval of a difference is combined from those of its sides, else it is that
    of paired resamples.
    """

    of: OfSums
    size: int
    own: Callable[[Floats, int, int], Mapping[str, Estimate]]
    shares: tuple[str, ...] = ()
    combined: bool = True


class Weighted(NamedTuple):
    """A metric of weighted rows that is no function of sums.

    ``of(*columns, weights=W)`` is the metric, as in :mod:`sayso.metrics.joint`;
    ``own(*columns, clusters=, n=, seed=)`` the estimate of all rows: those with NaN are still there
    and are left out by it. ``combined`` as in :class:`Sums`.
    """

    of: Statistic
    own: Callable[..., Estimate]
    combined: bool = True


class Counted:
    """What several numbers are made of at once: rows, a metric and its columns.

    For :class:`Sums`, a column of whole numbers (n,) names the sum that each row adds 1 to (-1:
    none), and one of fractions (n, size) holds what a row adds to each (NaN: the row does not
    count). Several columns add up. ``kinds`` (n,), such as types of facts, are summed apart. For
    :class:`Weighted`, columns (n,) are those of the metric; a row with NaN does not count.
    ``lost`` (n,) marks rows that lack a verdict, by default all that do not count.
    """

    def __init__(
        self,
        rows: Rows,
        metric: Sums | Weighted,
        columns: Sequence[NDArray[Any]],
        lost: Mask | None = None,
        kinds: NDArray[Any] | None = None,
    ) -> None:
        self.rows, self.metric, self.columns, self.kinds = rows, metric, tuple(columns), kinds
        self.lost = ~self.counts if lost is None else lost

    @cached_property
    def counts(self) -> Mask:
        """Which rows count, (n,)."""
        use = np.ones(len(self.rows.entity), dtype=bool)
        for column in self.columns:
            if column.dtype.kind == "f":
                use &= ~np.isnan(column.reshape(len(use), -1)).any(axis=1)
            elif isinstance(self.metric, Sums):
                use &= column >= 0
        return use

    def adds(self) -> Floats:
        """Return what each row adds to the sums of a family, (n, size)."""
        assert isinstance(self.metric, Sums)
        found = np.zeros((len(self.counts), self.metric.size))
        for column in self.columns:
            if column.dtype.kind == "f":
                found += column
            else:
                found += column[:, None] == np.arange(self.metric.size)
        found[~self.counts] = 0.0
        return found

    @cached_property
    def by_name(self) -> tuple[Floats, NDArray[np.str_]]:
        """The sums of the rows that count by the name of their entity, and these names, sorted."""
        at = np.flatnonzero(self.counts)
        names = self.rows.names[at]
        kinds = None if self.kinds is None else self.kinds[at]
        (table,) = _sums([self], [at], [names], kinds)
        return table, np.unique(names)


class Declared(NamedTuple):
    """One number of a run: its name and slice, what it is made of, and where it is used.

    ``limits`` are the ends of its scale (``None``: none), ``higher`` tells whether more is better.
    ``missing`` and ``bounds`` are those of the run's own estimate: rows without a verdict, and the
    range over all their readings (``None``: as the metric has them).
    """

    name: str
    where: Slice
    of: Counted
    signature: Signature = ()
    uses: frozenset[Use] = EVERYWHERE
    limits: Range | None = (0.0, 1.0)
    higher: bool | None = None
    missing: int = 0
    bounds: tuple[float | None, float | None] | None = None


def share(name: str) -> Sums:
    """Return the share of rows that are 1 among those that count, as a family of one number.

    Its column is that of :func:`ones`. value = sum of ones / rows; ``None`` where no row counts.
    The interval is that of :func:`sayso.metrics.intervals.share_of_counts`.
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


# ---- the estimates of a run


def estimates_of(numbers: Iterable[Declared], n: int, seed: int) -> Iterator[Estimate]:
    """Yield the estimate of each number that a run has, with ``n`` resamples of entities.

    Numbers of one :class:`Counted` are computed at once. Entities of which no row counts are drawn.
    """
    families: dict[int, Mapping[str, Estimate]] = {}
    for d in numbers:
        if "run" not in d.uses:
            continue
        of = d.of
        if id(of) not in families:
            columns, clusters = of.columns, of.rows.entity
            if isinstance(of.metric, Sums):
                columns = tuple(_sums([of], [np.arange(len(of.counts))], [clusters], of.kinds))
            families[id(of)] = _own(d, columns, clusters, n, seed)
        found = families[id(of)][d.name]
        if d.bounds is not None:
            low, high = d.bounds
            found = msgspec.structs.replace(found, bound_low=low, bound_high=high)
        yield msgspec.structs.replace(
            found,
            name=d.name,
            where=d.where,
            missing=d.missing or found.missing,
            signature=signature_of(d.name, d.signature),
        )


def _own(
    d: Declared, columns: Sequence[NDArray[Any]], clusters: NDArray[Any], n: int, seed: int
) -> Mapping[str, Estimate]:
    """Return the estimates of all numbers that are made of one thing, by name."""
    if isinstance(d.of.metric, Sums):
        return d.of.metric.own(columns[0], n, seed)
    return {d.name: d.of.metric.own(*columns, clusters=clusters, n=n, seed=seed)}


def _sums(
    parts: Sequence[Counted],
    at: Sequence[Ints],
    clusters: Sequence[NDArray[Any]],
    kinds: NDArray[Any] | None,
) -> list[Floats]:
    """Return the sums of the rows ``at`` of each part by cluster, (C, size), or (C, T, size).

    ``clusters`` are those of each part, of which all parts have the same C, in sorted order;
    ``kinds`` are the kinds of the rows of all parts, one after the other.
    """
    unit = codes(np.concatenate(clusters))
    kind = None if kinds is None else codes(kinds)
    C, T = count_codes(unit), 1 if kind is None else count_codes(kind)
    slots = unit * T + (0 if kind is None else kind)
    tables = []
    for of, rows, slot in zip(parts, at, _split(slots, at), strict=True):
        columns = [np.bincount(slot, column, minlength=C * T) for column in of.adds()[rows].T]
        table = np.stack(columns, axis=-1)
        tables.append(table if kind is None else table.reshape(C, T, len(columns)))
    return tables


def _split(values: Ints, like: Sequence[Ints]) -> list[Ints]:
    return np.split(values, np.cumsum([len(part) for part in like])[:-1])


# ---- two runs


def common_rows(first: Rows, second: Rows) -> tuple[Ints, Ints]:
    """Return the rows of each of two runs that both have, by their keys.

    Paired rows come in one order, the first of each key: (m,) and (m,). Others are all rows of
    either run whose key is in both.
    """
    if not first.paired:
        shared = set(first.keys) & set(second.keys)
        one, two = (
            np.flatnonzero([key in shared for key in rows.keys]) for rows in (first, second)
        )
        return one, two
    places: list[dict[Hashable, int]] = [{}, {}]
    for place, rows in zip(places, (first, second), strict=True):
        for row, key in enumerate(rows.keys):
            place.setdefault(key, row)
    both = [key for key in places[0] if key in places[1]]
    one, two = (np.array([place[key] for key in both], dtype=np.int64) for place in places)
    return one, two


def differences(
    first: Iterable[Declared], second: Iterable[Declared], n: int, seed: int
) -> Iterator[tuple[Declared, Declared, Estimate]]:
    """Yield the numbers of a slice that two runs have, and second minus first, entities paired.

    Only rows that both runs have, and of paired ones those that count in both, are counted; an
    entity of which none does is not drawn. ``missing`` are paired rows that lack a verdict in one
    of the runs. The interval is combined from those of the sides, or symmetric
    (:func:`sayso.metrics.intervals.bootstrap_difference`). Nothing of runs without a common row.
    """
    others = {(d.name, d.where): d for d in second if "pair" in d.uses}
    rows: dict[tuple[int, int], tuple[Ints, Ints]] = {}
    pairs: dict[tuple[int, int], _Pair] = {}
    for a in first:
        b = others.get((a.name, a.where))
        if b is None or "pair" not in a.uses:
            continue
        both = id(a.of.rows), id(b.of.rows)
        if both not in rows:
            rows[both] = common_rows(a.of.rows, b.of.rows)
        if not len(rows[both][0]):
            continue
        place = id(a.of), id(b.of)
        if place not in pairs:
            pairs[place] = _Pair(a.of, b.of, rows[both])
        yield a, b, pairs[place].less(b, n, seed)


class _Pair:
    """What two runs have of something counted: columns and clusters of B, and of A."""

    def __init__(self, a: Counted, b: Counted, at: tuple[Ints, Ints]) -> None:
        parts, paired = (b, a), a.rows.paired
        use = [b.counts[at[1]], a.counts[at[0]]]
        self.missing = 0
        if paired:
            self.missing = int((a.lost[at[0]] | b.lost[at[1]]).sum())
            use = [use[0] & use[1]] * 2
        places = [rows[mask] for rows, mask in zip(at[::-1], use, strict=True)]
        self.rows = len(places[0])
        self.empty = not all(len(place) for place in places)
        names = [of.rows.names[place] for of, place in zip(parts, places, strict=True)]
        # paired rows are what A says that they are
        self.clusters: list[NDArray[Any]] = [a.rows.entity[places[1]]] * 2 if paired else names
        self.columns = [
            [column[place] for column in of.columns]
            for of, place in zip(parts, places, strict=True)
        ]
        if isinstance(b.metric, Sums) and not self.empty:
            kinds = None
            if a.kinds is not None and b.kinds is not None:
                first = a.kinds[places[1]] if paired else b.kinds[places[0]]
                kinds = np.concatenate([first, a.kinds[places[1]]])
            self.columns = [[sums] for sums in _sums(parts, places, self.clusters, kinds)]
            self.clusters = [np.arange(len(self.columns[0][0]))] * 2
        self.own: list[Mapping[str, Estimate]] = []

    def less(self, d: Declared, n: int, seed: int) -> Estimate:
        """Return B - A of a number of B."""
        metric = d.of.metric
        if self.empty:
            return Estimate(d.name, problem=undefined(d.name), missing=self.missing)
        if metric.combined and not (self.own and d.name in self.own[0]):
            sides = zip(self.columns, self.clusters, strict=True)
            self.own = [_own(d, *side, n, seed) for side in sides]
        own = [side[d.name] for side in self.own] if metric.combined else []
        of = metric.of
        if isinstance(metric, Sums):
            of = partial(_of_weights, metric.of, d.name)
        gap = bootstrap_difference(
            of, *self.columns, *self.clusters, n, seed, d.name,
            sides=(own[0], own[1]) if own else None, limits=d.limits,
        )  # fmt: skip
        size = own[0].n if own else self.rows
        return msgspec.structs.replace(gap, n=size, missing=self.missing)


# ---- several models, resampled together


def joint_number(d: Declared) -> Number:
    """Return a number as a function of the weights of its entities, as a study resamples it.

    Entities of which no row counts are not drawn.
    """
    metric = d.of.metric
    if isinstance(metric, Sums):
        table, names = d.of.by_name
        of_weights = partial(_of_weights, metric.of, d.name)
        return Number(of_weights, (table,), names.tolist(), d.limits, d.higher)
    use = d.of.counts
    columns = tuple(column[use] for column in d.of.columns)
    return Number(metric.of, columns, d.of.rows.names[use].tolist(), d.limits, d.higher)


def _of_weights(of: OfSums, name: str, table: Floats, weights: Floats | None = None) -> Any:
    """Return a number of sums by entity (C, ...): one, or (B,) of weights (B, C)."""
    if weights is None:
        return or_none(of(table.sum(axis=0))[name])
    flat = weights @ table.reshape(len(table), -1)
    return of(flat.reshape(-1, *table.shape[1:]))[name]

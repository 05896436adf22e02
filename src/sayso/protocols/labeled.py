"""What people said of a run's answers, as protocols use it to correct numbers for the judge.

A protocol reads its rows twice by the same code: from the run, and from the run with people's
verdicts in the place of the judge's (:class:`ReadByPeople`). Where a row was labeled, the second
reading is what people say of it. :func:`corrected_places` joins the two.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import Floats
from sayso.metrics.correction import (
    Corrected,
    LabeledRows,
    corrected_metric,
    corrected_sums,
    uncounted,
)
from sayso.protocols.declared import Counted, Declared, Place, RowPlace, Weighted
from sayso.protocols.protocol import Run
from sayso.records import Slice, Verdict
from sayso.storage.run_folder import RunFolder

#: why labels correct nothing whose draws cannot be weighed against each other
SEVERAL_DRAWS = "undefined: labels are of several draws, not all of which this run stores"


def pair_target(target: str, sample: int) -> str:
    """Return the target of a label on an assertion and one sample.

    ``target`` is the assertion's (``<answer>#<number>``), ``sample`` the place of the sample's
    letter in the judge's verdict on it.
    """
    return f"{target}/{sample}"


class CorrectedPlace(NamedTuple):
    """A corrected number with the name and slice of the run's number that it corrects.

    ``stage`` is that of the verdicts that people's labels replace in it.
    """

    name: str
    where: Slice
    number: Corrected
    stage: str


class PeopleLabels(NamedTuple):
    """People's verdicts by stage and place, and how these were drawn.

    ``chances`` has the probability with which a place is among the labeled ones, where that is
    known. ``strata`` has the stratum of *every* place that could have been drawn, where all are
    known; places outside are no part of what the labels stand for. It is ``None`` for labels of
    several draws that are not known: nothing is corrected by these.
    """

    verdicts: Mapping[str, Mapping[Place, Verdict]]
    chances: Mapping[str, Mapping[Place, float]]
    strata: Mapping[str, Mapping[Place, str] | None]

    def read(self, run: Run) -> Run:
        """Return the run as people read it."""
        return with_folder(run, ReadByPeople(run.folder, self.verdicts))


def with_folder(run: Run, folder: ReadByPeople) -> Run:
    """Return a run that reads its tables as people read them."""
    changed: Any = copy.copy(run)
    changed.folder = folder
    return cast(Run, changed)


class ReadByPeople:
    """The folder of a run in which people's verdicts stand in the place of the judge's."""

    def __init__(self, folder: RunFolder, verdicts: Mapping[str, Mapping[Place, Verdict]]) -> None:
        self._folder, self._verdicts = folder, verdicts

    def __getattr__(self, name: str) -> Any:
        return getattr(self._folder, name)

    def read(self, table: str, kind: type[Any]) -> list[Any]:
        """Read a table; of verdicts, people's where there are any."""
        return self.as_read(table.removeprefix("verdicts/"), self._folder.read(table, kind))

    def as_read(self, stage: str, stored: list[Any]) -> list[Any]:
        """Return the rows of a stage as people read them."""
        said = self._verdicts.get(stage, {})
        return [said.get((v.target, v.asked), v) for v in stored] if said else stored

    def labels(self, stage: str) -> Mapping[Place, Verdict]:
        """Return all that people said at a stage, pairs too (:func:`pair_target`)."""
        return self._verdicts.get(stage, {})


class DrawnRows(NamedTuple):
    """The rows that labels stand for: their places ``inside`` all rows, and which are labeled."""

    inside: NDArray[np.int64]
    labeled: LabeledRows

    @property
    def at(self) -> NDArray[np.int64]:
        """The places of the labeled rows among all rows."""
        return np.asarray(self.inside[np.asarray(self.labeled.rows)], dtype=np.int64)


def drawn_rows(
    labels: PeopleLabels,
    stage: str,
    places: Sequence[RowPlace],
    usable: ArrayLike,
    clusters: ArrayLike,
) -> DrawnRows | None:
    """Return the rows that the labels of a stage stand for; ``None`` where none is labeled.

    ``places`` (n,) are the places of the verdicts that rows are made of; ``usable`` (n,) tells
    where a label, if there is one, says what the number needs; ``clusters`` (n,) are entities. A
    row of several places is labeled if all of them are: its chance is the product of theirs, and
    it has no stratum.
    """
    said, strata = labels.verdicts.get(stage, {}), labels.strata.get(stage) or {}
    each = [_each(place) for place in places]
    inside = np.flatnonzero([not strata or (own != [] and _all_in(own, strata)) for own in each])
    use = np.asarray(usable, dtype=bool)
    held = [each[row] for row in inside.tolist()]
    rows = [
        n
        for n, row in enumerate(inside.tolist())
        if use[row] and held[n] and _all_in(held[n], said)
    ]
    if not rows:
        return None
    single = not any(isinstance(place, list) for place in places)
    names = np.array([strata[own[0]] for own in held]) if strata and single else None
    chances = labels.chances.get(stage, {})
    known = [
        math.prod(chances[place] for place in held[n]) for n in rows if _all_in(held[n], chances)
    ]
    drawn = LabeledRows(
        rows,
        known if names is None and len(known) == len(rows) else None,
        names,
        np.asarray(clusters)[inside],
    )
    return DrawnRows(inside, drawn)


def _each(place: RowPlace) -> Sequence[Place]:
    """Return the places of a row."""
    if isinstance(place, list):
        return place
    return [] if place is None else [place]


def _all_in(places: Sequence[Place], known: Container[Place]) -> bool:
    return all(place in known for place in places)


def corrected_places(
    judge: Iterable[Declared], people: Iterable[Declared], labels: PeopleLabels
) -> Iterator[CorrectedPlace]:
    """Yield every number that people's labels correct for the judge, with its stage.

    ``judge`` and ``people`` are the numbers of one run, on the same rows, by the verdicts of either
    (:meth:`PeopleLabels.read`). The estimator and its interval are those of
    :mod:`sayso.metrics.correction`. Nothing is yielded of rows that nobody labeled; of those whose
    labels say nothing of a number, such as of which answers are right, the number is undefined.
    """
    said = {(d.name, d.where): d.of for d in people if "people" in d.uses}
    groups: dict[int, list[Declared]] = {}
    for d in judge:
        if "people" in d.uses and (d.name, d.where) in said:
            groups.setdefault(id(d.of), []).append(d)
    for group in groups.values():
        yield from _corrected(group, said[group[0].name, group[0].where], labels)


def _corrected(
    group: Sequence[Declared], said: Counted, labels: PeopleLabels
) -> Iterator[CorrectedPlace]:
    """Yield the corrected numbers of one :class:`Counted`."""
    of = group[0].of
    rows, read = of.rows, said.rows.read
    usable = np.ones(len(rows.entity), dtype=bool) if read is None else read
    drawn = drawn_rows(labels, rows.stage, rows.places, usable, rows.entity)
    unknown = labels.strata.get(rows.stage, {}) is None
    if drawn is None or unknown:
        every = np.ones_like(usable)
        if drawn_rows(labels, rows.stage, rows.places, every, rows.entity) is not None:
            for d in group:
                made = uncounted(d.name, len(usable), *([SEVERAL_DRAWS] if unknown else []))
                yield CorrectedPlace(d.name, d.where, made, rows.stage)
        return
    inside, at, labeled = drawn.inside, drawn.at, drawn.labeled
    if isinstance(of.metric, Weighted):
        for d in group:
            judge, people = [c[inside] for c in of.columns], [c[at] for c in said.columns]
            made = corrected_metric(d.name, of.metric.of, judge, people, labeled, d.limits)
            yield CorrectedPlace(d.name, d.where, made, rows.stage)
        return
    metric = of.metric
    limits = {d.name: d.limits for d in group}
    composed = {name: parts for name, parts in metric.composed.items() if name in limits}
    names = {*limits, *(part for parts in composed.values() for part in parts)}

    def numbers(sums: Floats) -> dict[str, Any]:
        found = metric.of(sums)
        return {name: found[name] for name in names}

    adds = of.adds()[inside], said.adds()[at]
    found = corrected_sums(numbers, *adds, labeled, limits, metric.shares, composed)
    for d in group:
        yield CorrectedPlace(d.name, d.where, found[d.name], rows.stage)

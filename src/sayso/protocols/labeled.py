"""What people said of a run's answers, as protocols use it to correct numbers for the judge.

A protocol reads its rows twice by the same code: from the run, and from the run with people's
verdicts in the place of the judge's (:class:`ReadByPeople`). Where a row was labeled, the second
reading is what people say of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.correction import Corrected, LabeledRows
from sayso.records import Slice, Verdict

#: the answer or claim, and the question, that a verdict of a stage is on
Place = tuple[str, str]
StoredRun = TypeVar("StoredRun")


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
    known; places outside are no part of what the labels stand for.
    """

    verdicts: Mapping[str, Mapping[Place, Verdict]]
    chances: Mapping[str, Mapping[Place, float]]
    strata: Mapping[str, Mapping[Place, str]]

    def read(self, run: StoredRun) -> StoredRun:
        """Return the run as people read it."""
        return cast(StoredRun, ReadByPeople(run, self.verdicts))


class ReadByPeople:
    """A run in which people's verdicts stand in the place of the judge's."""

    def __init__(self, run: Any, verdicts: Mapping[str, Mapping[Place, Verdict]]) -> None:
        self._run, self._verdicts = run, verdicts

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)

    def verdicts(self, stage: str) -> list[Verdict]:
        """Read stored verdicts, and people's where there are any."""
        said = self._verdicts.get(stage, {})
        stored: list[Verdict] = self._run.verdicts(stage)
        return [said.get((v.target, v.asked), v) for v in stored]


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
    places: Sequence[Place | None],
    usable: ArrayLike,
    clusters: ArrayLike,
) -> DrawnRows | None:
    """Return the rows that the labels of a stage stand for; ``None`` where none is labeled.

    ``places`` (n,) are the places of the verdicts that rows are made of; ``usable`` (n,) tells
    where a label, if there is one, says what the number needs; ``clusters`` (n,) are entities.
    """
    said, strata = labels.verdicts.get(stage, {}), labels.strata.get(stage, {})
    inside = np.flatnonzero([not strata or place in strata for place in places])
    use = np.asarray(usable, dtype=bool)
    own = [places[row] for row in inside.tolist()]
    rows = [n for n, row in enumerate(inside.tolist()) if own[n] in said and use[row]]
    if not rows:
        return None
    names = np.array([strata[place] for place in own if place is not None]) if strata else None
    chances = labels.chances.get(stage, {})
    known = [chances[place] for n in rows if (place := own[n]) is not None and place in chances]
    drawn = LabeledRows(
        rows,
        known if names is None and len(known) == len(rows) else None,
        names,
        np.asarray(clusters)[inside],
    )
    return DrawnRows(inside, drawn)

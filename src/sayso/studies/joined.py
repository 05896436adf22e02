"""What takes several runs: numbers of all models on all data sets, resampled together.

A value of one run is that of its own page, with its interval there. Means over data sets,
differences and ranks come from :mod:`sayso.metrics.joint`. Where labels of people correct a number
in all runs, they are of the corrected values; where only in some, of the judge's in all, since a
rank of corrected and of other models would rank judges.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from sayso.metrics.intervals import Resampled, make_estimate
from sayso.metrics.joint import (
    Joint,
    JointNumber,
    independent_means,
    joint_means,
    rank_independently,
    rank_jointly,
    resample_jointly,
    with_own_errors,
)
from sayso.people.corrected import current_corrected
from sayso.protocols import PROTOCOLS, comparing
from sayso.protocols.pool import joined_names, said_by
from sayso.protocols.protocol import ComparedRun, Numbers
from sayso.records import CorrectedNumber, Estimate, Question, Results, Slice
from sayso.report.corrected import NumberName, by_place, draw_notes
from sayso.report.numbers import many
from sayso.runs.compare import check_resampling
from sayso.runs.measure import load_run
from sayso.storage.run_folder import Manifest, RunFolder
from sayso.studies.grid import About, Variant
from sayso.studies.run import CellOutcome

#: what a study of sampling seeds says where they can change nothing that is judged
GREEDY = (
    "Sampling seeds change no answer of {protocol} at temperature 0, so they change nothing that "
    "rests on its answers alone. Set answer.temperature above 0 to see how much hangs on a sample."
)
#: a value of a run and the same one computed again differ by less
SAME = 1e-9


class FinishedRun(NamedTuple):
    """A finished run of a study, by what tables call its model and its data."""

    model: str
    data: str
    protocol: str
    path: Path
    manifest: Manifest
    results: Results


class _Together(NamedTuple):
    """Numbers of one protocol as judges have them and as labels correct them; what must be known.

    They are the same where labels of people correct none.
    """

    judged: list[JointNumber]
    numbers: list[JointNumber]
    notes: list[str]


class StudyNumbers:
    """Finished runs by model, data set and protocol, and what is computed of them together."""

    def __init__(
        self,
        runs: Sequence[FinishedRun],
        outcomes: Sequence[CellOutcome] = (),
        *,
        resamples: int = 1000,
        seed: int = 0,
        allow: Sequence[str] = (),
        raw: bool = False,
        systems: Mapping[str, About] | None = None,
        variants: Mapping[str, Variant] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        """Take the runs in the order in which tables have their models and data.

        ``raw``: numbers are the judge's, also where labels of people correct them. ``systems`` is
        what a study's file says of its models; ``variants`` are data sets that ask one in
        other words, or with other samples; ``notes`` say how runs became data sets.
        """
        check_resampling(resamples, seed)
        self.variants = dict(variants or {})
        own = {title for title, variant in self.variants.items() if variant.own_probes}
        self._own = [run for run in runs if run.data in own]
        self.runs = runs = [run for run in runs if run.data not in own]
        self.outcomes = list(outcomes)
        self.systems = dict(systems or {})
        self._joined = list(notes)
        levels = {(r.manifest.model_identity, r.manifest.settings.get("thinking")) for r in runs}
        if len(levels) > len({model for model, _ in levels}):  # rows of one model
            allow = (*allow, "thinking")
        self.resamples, self.seed, self.allow, self.raw = resamples, seed, tuple(allow), raw
        self.models = list(dict.fromkeys(run.model for run in runs))
        self.data = list(dict.fromkeys(run.data for run in runs))
        there = {run.protocol for run in runs}
        self.protocols = [name for name in PROTOCOLS if name in there]
        self._index = {(run.protocol, run.model, run.data): run for run in runs}
        self._together: dict[str, _Together] = {}
        self._corrected: dict[Path, list[CorrectedNumber]] = {}

    def find(self, protocol: str, model: str, data: str) -> FinishedRun | None:
        """Return the run of a cell; ``None`` where it is not finished."""
        return self._index.get((protocol, model, data))

    def of(self, protocol: str) -> tuple[list[str], list[str]]:
        """Return the models and the data sets that a protocol has runs of."""
        runs = [run for run in self.runs if run.protocol == protocol]
        return (
            [m for m in self.models if any(run.model == m for run in runs)],
            [d for d in self.data if any(run.data == d for run in runs)],
        )

    def numbers(self, protocol: str) -> list[JointNumber]:
        """Return every number of a protocol that can be resampled, of all models and data sets.

        Corrected by labels of people where all runs have them, unless ``raw``. Raises InputError
        for runs that differ in more than the model.
        """
        return self._of(protocol).numbers

    def judged(self, protocol: str) -> list[JointNumber]:
        """Return the same numbers as the judges of the runs have them."""
        return self._of(protocol).judged

    def corrected(self, run: FinishedRun) -> list[CorrectedNumber]:
        """Return the numbers of a run that labels of people correct."""
        if run.path not in self._corrected:
            self._corrected[run.path] = current_corrected(run.path)
        return self._corrected[run.path]

    def notes(self, protocol: str) -> list[str]:
        """Return what must be known of the comparison."""
        notes = [GREEDY.format(protocol=protocol)] if self.repeats_greedy(protocol) else []
        return [*self._of(protocol).notes, *notes]

    def repeats_greedy(self, protocol: str) -> bool:
        """Tell whether the runs repeat answers at temperature 0 with other sampling seeds."""
        runs = [run for run in self.runs if run.protocol == protocol]
        seeds = {self.variants[run.data].seed for run in runs if run.data in self.variants}
        heats = {run.manifest.settings.get("answer.temperature") for run in runs}
        return len(seeds) > 1 and heats == {0.0}

    def sets(self, data: Sequence[str]) -> list[str]:
        """Return the data that each column asks about, in whatever words and with any samples."""
        return [self.variants[one].data if one in self.variants else one for one in data]

    @cached_property
    def with_own_probes(self) -> StudyNumbers | None:
        """The same with every variant's own probes; ``None`` where no run has such."""
        if not self._own:
            return None
        titles = [title for title, variant in self.variants.items() if not variant.own_probes]
        sets = self.sets(titles)
        firsts = [titles[sets.index(one)] for one in dict.fromkeys(sets)]
        there = {run.protocol for run in self._own}
        runs = [run for run in self.runs if run.data in firsts and run.protocol in there]
        own = {t: msgspec.structs.replace(v, own_probes=False) for t, v in self.variants.items()}
        return StudyNumbers(
            [*runs, *self._own], resamples=self.resamples, seed=self.seed, allow=self.allow,
            raw=True, variants=own,
        )  # fmt: skip

    def _of(self, protocol: str) -> _Together:
        """Return the numbers of a protocol, computed once."""
        if protocol in self._together:
            return self._together[protocol]
        models, data = self.of(protocol)
        grid = [[self.find(protocol, m, d) for d in data] for m in models]
        sides = [
            [run and ComparedRun(str(run.path), *load_run(run.path)) for run in row] for row in grid
        ]
        plan = PROTOCOLS[protocol]
        numbers, notes = comparing.study_numbers(plan, sides, self.allow)
        sets = self.sets(data)
        firsts = [sets.index(one) for one in dict.fromkeys(sets)]  # one column of each data set
        shared = _shared([data[s] for s in firsts], [[row[s] for s in firsts] for row in grid])
        names = joined_names([side.run.questions for row in sides for side in row if side])
        numbers = [[_renamed(cell, names) for cell in row] for row in numbers]
        keys = [*dict.fromkeys(key for row in numbers for cell in row for key in cell)]
        places = [where for _, where in keys]
        keys.sort(key=lambda key: (places.index(key[1]), plan.metrics[key[0]].study or math.inf))
        judged = [self._joint_number(key, numbers, grid) for key in keys]
        corrected, lacking = (judged, []) if self.raw else self._with_labels(protocol, grid, judged)
        found = _Together(judged, corrected, [*self._joined, *shared, *notes, *lacking])
        self._together[protocol] = found
        return found

    def _with_labels(
        self,
        protocol: str,
        grid: Sequence[Sequence[FinishedRun | None]],
        judged: list[JointNumber],
    ) -> tuple[list[JointNumber], list[str]]:
        """Return numbers, corrected where all runs are, and why the others are not."""
        labeled = [[by_place(self.corrected(run)) if run else {} for run in row] for row in grid]
        if not any(own for row in labeled for own in row):
            return judged, []
        numbers = []
        shared: dict[str, None] = {}
        lacking: dict[str, None] = {}
        runs: dict[str, None] = {}
        for number in judged:
            made, without = _corrected_number(number, labeled, grid)
            numbers.append(made)
            if without is not None:
                names = lacking if without else shared
                names[PROTOCOLS[protocol].metrics.named(number.name).shown_symbol] = None
                runs |= dict.fromkeys(without)
        whys = (shared, SHARED), (lacking, LACKING.format(runs="; ".join(runs)))
        notes = [f"{'; '.join(names)}: {JUDGED}, because {why}" for names, why in whys if names]
        notes += draw_notes([one for row in labeled for own in row for one in own.values()])
        return numbers, notes

    def _joint_number(
        self,
        key: tuple[str, Slice],
        numbers: Sequence[Sequence[Numbers]],
        grid: Sequence[Sequence[FinishedRun | None]],
    ) -> JointNumber:
        name, where = key
        table = [[cell.get(key) for cell in row] for row in numbers]
        joint = resample_jointly(table, self.resamples, self.seed)
        cells = [
            [_cell(key, run, joint, m, s) for s, run in enumerate(row)]
            for m, row in enumerate(grid)
        ]
        alone = len(joint.clusters) == 1  # then its own interval is the better one
        means = [row[0] for row in cells] if alone else joint_means(joint, name, cells)
        ranking = rank_jointly(with_own_errors(joint, cells))
        return JointNumber(name, where, cells, means, ranking, joint)


def _renamed(numbers: Numbers, names: Mapping[str, str]) -> Numbers:
    """Return numbers whose entities have the names that they share with other data sets."""
    return {
        key: number._replace(entities=[names.get(e, e) for e in number.entities])
        for key, number in numbers.items()
    }


def _cell(
    key: tuple[str, Slice], run: FinishedRun | None, joint: Joint, m: int, s: int
) -> Estimate:
    """Return a number of one run: its own estimate, or the joint one where they are not the same.

    They differ for numbers that are compared on what all runs have in common.
    """
    name, where = key
    if run is None:
        return Estimate(name, where, problem="no finished run")
    own = run.results.find(name, **dict(where))
    value = float(joint.values[m, s])
    if np.isnan(value):
        if own is not None and own.value is not None:
            nothing = dict.fromkeys(("value", "low", "high"))
            return msgspec.structs.replace(own, **nothing, problem=UNSHARED)
        return own or Estimate(name, where, problem="not computed in this run")
    if own is not None and own.value is not None and abs(own.value - value) < SAME:
        return own
    resampled = Resampled(joint.resamples[m, s], int(joint.clusters[s]))
    return make_estimate(name, value, resampled, joint.limits, int(joint.clusters[s]))


#: of a number of one run of which nothing is left on what all models have in common
UNSHARED = (
    "undefined on the data that all models share, such as bins that all models fill; the run's own "
    "page shows the value"
)


# ---- numbers that people's labels correct

#: what is said of numbers that stay the judge's, and why they do
JUDGED = "the judge's numbers count for all models"
LACKING = "labels of people do not correct these of {runs}. Label more there: sayso label RUN"
SHARED = (
    "they are compared on what all models share, and labels of people correct what each run counted"
)


def _corrected_number(
    number: JointNumber,
    labeled: Sequence[Sequence[Mapping[NumberName, CorrectedNumber]]],
    grid: Sequence[Sequence[FinishedRun | None]],
) -> tuple[JointNumber, list[str] | None]:
    """Return a number as labels of people correct it; else the judge's, and runs they do not bear.

    ``None`` where it is corrected, or where labels correct it in no run. No runs are named where it
    is compared on what all models share, which is not what a run's labels correct.
    """
    key = number.name, number.where
    found = {
        (m, s): (run, labeled[m][s].get(key))
        for m, row in enumerate(grid)
        for s, run in enumerate(row)
        if run is not None and not np.isnan(number.joint.values[m, s])
    }
    held = {place: one for place, (_, one) in found.items() if one is not None}
    if not held:
        return number, None
    without = [f"{r.model} on {r.data} ({r.path})" for r, one in found.values() if one is None]
    values = ((one.raw.value, number.joint.values[place]) for place, one in held.items())
    if without or any(own is None or abs(own - value) >= SAME for own, value in values):
        return number, without
    cells = [list(row) for row in number.cells]
    for (m, s), one in held.items():
        cells[m][s] = one.corrected
    freedom = min(one.freedom for one in held.values())
    apart = number.joint.strata == len(grid[0])
    means = independent_means(number.name, cells, apart=apart)
    ranking = rank_independently(means, number.joint.higher, freedom)
    return number._replace(cells=cells, means=means, ranking=ranking, corrected=True), None


# ---- data sets that share questions

#: pairs of data sets of which it is said what they share
MOST_PAIRS = 3
#: what is said of two that no model has both of, and of two that one has
APART = (
    "no model has both, so models are not compared across them: give all files to one command "
    "(sayso study --answers FILE FILE), or use one data set"
)
TOGETHER = "their entities are resampled together, as the same answers again are no more evidence"


def _shared(data: Sequence[str], grid: Sequence[Sequence[FinishedRun | None]]) -> list[str]:
    """Return which data sets share questions, and which have no model in common."""
    notes = []
    for places in combinations(range(len(data)), 2):
        joined = any(all(row[s] is not None for s in places) for row in grid)
        runs = [next(run for row in grid if (run := row[s]) is not None) for s in places]
        folders = (RunFolder.open(run.path) for run in runs)
        one, two = ({said_by(q) for q in f.read("questions", Question)} for f in folders)
        if not joined or one & two:
            first, second = (data[s] for s in places)
            shared = f"share {many(len(one & two), 'question')}: {TOGETHER if joined else APART}"
            notes.append(f"{first} ({len(one):,}) and {second} ({len(two):,}) {shared}")
    left = len(notes) - MOST_PAIRS
    more = [f"The same is true of {many(left, 'more pair')} of data sets."] if left > 0 else []
    return [*notes[:MOST_PAIRS], *more]

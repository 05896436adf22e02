"""Numbers of a run, corrected for the judge by people's labels of a part of its answers.

A protocol reads its rows from the judge's verdicts and from people's by the same code
(``correct.py`` of each); :mod:`sayso.metrics.correction` has the formulas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from shlex import quote
from typing import NamedTuple

import msgspec

from sayso.metrics.correction import Corrected
from sayso.people.joined import joined_verdict
from sayso.people.labels import LabeledItem, LabelStore, PersonLabel, pair_of
from sayso.protocols import protocol_of
from sayso.protocols.labeled import PeopleLabels, Place
from sayso.protocols.protocol import Protocol
from sayso.records import CorrectedNumber, Estimate, InputError, Results, Verdict
from sayso.report.corrected import stored_corrected
from sayso.runs.measure import load_run, run_path
from sayso.storage.atomic import WAIT, can_write, one_writer
from sayso.storage.run_folder import CORRECTED, RunFolder

#: how much of a signature says that a number was corrected, and how
PART = "corrected"
WAYS = {"corrected": "ppi@1", "alone": "labels-alone", "taught": "confusion@1"}
#: the parts of a signature that name who judged: of two runs they must be the same
JUDGES = ("judge", "support")


class StageLabels(NamedTuple):
    """Who labeled verdicts of one stage, and which of these labels count.

    ``undrawn`` labels are left out: nobody knows how their items were drawn, while others of the
    stage were drawn by a design. Where none was, all count alike, and ``drawn`` is false.
    """

    annotators: tuple[str, ...]
    undrawn: int
    drawn: bool
    #: labels of answers that the run does not have
    elsewhere: int


class UsedLabels(NamedTuple):
    """Labels of a run as its numbers use them, and by stage who gave them."""

    people: PeopleLabels
    stages: Mapping[str, StageLabels]

    def of(self, stages: Sequence[str]) -> UsedLabels:
        """Return the labels of some stages alone."""
        verdicts = {stage: self.people.verdicts[stage] for stage in stages}
        return UsedLabels(
            self.people._replace(verdicts=verdicts), {stage: self.stages[stage] for stage in stages}
        )

    @property
    def annotators(self) -> tuple[str, ...]:
        """The names of everybody whose labels count."""
        return tuple(sorted({name for one in self.stages.values() for name in one.annotators}))


def corrected_numbers(
    run: str | Path, measured: Sequence[Estimate] | None = None
) -> list[CorrectedNumber]:
    """Return the numbers of a finished run that people's labels correct, beside the run's own.

    ``measured`` are the run's own numbers at the level that is current (default: those it stores,
    with 95 % intervals). No interval is narrower than the judge's, which holds the draw of answers
    alone: the jackknife sees no error in a share of few facts that are all alike.

    Empty where nobody labeled anything. Only labels of this run's own answers are used: an item
    that the run does not have is passed over. Intervals are of the level that is current
    (:func:`sayso.metrics.intervals.at_level`). Raises InputError.
    """
    place = Path(run)
    if not LabelStore.exists(place):
        return []
    used = labels_of_run(place)
    if not used.people.verdicts:
        return []
    job, manifest, settings = load_run(place)
    plan = protocol_of(manifest)
    raw = _measured(job.folder, plan) if measured is None else Results(measured)
    found = []
    for name, where, number, stage in plan.corrected(job, used.people, settings):
        own = raw.find(name, **dict(where))
        if own is not None and own.value is not None:
            found.append(_beside(own, number, used.stages[stage], plan))
    return found


def numbers_by_labels_of(
    other: str | PathLike[str], run: str | PathLike[str]
) -> list[CorrectedNumber]:
    """Return numbers of a run, corrected by people's labels of the answers of another run.

    The labels say how the judge errs; that it errs so on this run's answers is an assumption, which
    nothing here can check. The judge's counts are solved by its confusion matrix
    (:func:`sayso.metrics.correction.inverted_sums`): rates and shares are corrected, rankings are
    not. Nothing is stored. Raises InputError where the other run has no labels, is of another
    protocol or was judged by another judge, and where the run has labels of its own.
    """
    place, teacher = run_path(run), run_path(other)
    if place.resolve() == teacher.resolve():
        raise InputError(
            f"{place}: the labels of a run correct it without being named; name another labeled run"
        )
    if has_labels(place):
        raise InputError(
            f"{place}: people labeled this run, so labels of another one add nothing; leave out "
            f"the labels of {teacher}"
        )
    job, manifest, settings = load_run(place)
    there, its_manifest, _ = load_run(teacher)
    plan = protocol_of(manifest)
    if protocol_of(its_manifest) is not plan:
        raise InputError(
            f"{teacher}: a run of {its_manifest.protocols[0]}; expected one of {plan.name}, as "
            f"{place}"
        )
    if not has_labels(teacher):
        raise InputError(
            f"{teacher}: nobody labeled this run; see `sayso label {quote(str(teacher))}`"
        )
    used = labels_of_run(teacher)
    raw, theirs = _measured(job.folder, plan), _measured(there.folder, plan)
    _same_judge((place, raw), (teacher, theirs))
    model = its_manifest.model_title or its_manifest.model
    whose = f"{teacher} ({model}, {its_manifest.data or 'data without a name'})"
    found = []
    for name, where, number, stage in plan.inverted(job, there, used.people, settings):
        own = raw.find(name, **dict(where))
        if own is None or own.value is None:
            continue
        made = _beside(own, _with_interval(number), used.stages[stage], plan, "taught")
        found.append(msgspec.structs.replace(made, labels_of=whose))
    return found


def _with_interval(number: Corrected) -> Corrected:
    """Return a number by the labels of another run; undefined where nothing says how sure it is."""
    e = number.corrected
    if e.value is None or e.low is not None:
        return number
    why = (e.problem or "no interval").removeprefix("no interval: ")
    told = why if why.startswith("undefined") else f"undefined: {why}"
    bare = Estimate(e.name, n=e.n, problem=told)
    return msgspec.structs.replace(number, corrected=bare, effect=None)


def _measured(folder: RunFolder, plan: Protocol) -> Results:
    return Results(folder.read(f"metrics/{plan.name}", Estimate))


def _same_judge(first: tuple[Path, Results], second: tuple[Path, Results]) -> None:
    """Refuse a run that another judge read. Raises InputError."""
    for part in JUDGES:
        own, its = (
            ", ".join(sorted({dict(e.signature).get(part, "") for e in numbers.all} - {""}))
            for _, numbers in (first, second)
        )
        if own != its:
            raise InputError(
                f"{second[0]}: judged by {its}, but {first[0]} by {own}; labels say how one judge "
                "errs, and nothing about another"
            )


def has_labels(run: str | PathLike[str]) -> bool:
    """Tell whether people labeled items of a run that numbers could be corrected by."""
    place = run_path(run)
    return LabelStore.exists(place) and bool(labels_of_run(place).people.verdicts)


def correct(
    run: str | PathLike[str], *, labels: str | PathLike[str] | None = None
) -> list[CorrectedNumber]:
    """Return the corrected numbers of a run as :func:`corrected_numbers`, and store them in it.

    ``labels`` is another run whose labels are used instead (:func:`numbers_by_labels_of`); then
    nothing is stored, and neither in a folder that cannot be written. The page shows what is
    stored. Raises InputError.
    """
    place = run_path(run)
    if labels is not None:
        return numbers_by_labels_of(labels, place)
    if not can_write(place):
        return corrected_numbers(place)
    folder = RunFolder.open(place)
    if not LabelStore.exists(place):
        return []
    with one_writer(place, "sayso measure", WAIT):
        before = _written(place)
        numbers = corrected_numbers(place)
        folder.write(CORRECTED, numbers, CorrectedNumber)
        if _written(place) != before:  # somebody labels at this moment
            folder.drop(CORRECTED)
    return numbers


def current_corrected(run: str | PathLike[str]) -> list[CorrectedNumber]:
    """Return the corrected numbers of a run: those it stores, else computed. Raises InputError."""
    place = run_path(run)
    stored = stored_corrected(RunFolder.open(place))
    return corrected_numbers(place) if stored is None else stored


def _written(run: Path) -> int:
    with LabelStore.read(run) as store:
        return store.written()


def _beside(
    raw: Estimate, number: Corrected, used: StageLabels, plan: Protocol, way: str = "corrected"
) -> CorrectedNumber:
    limits = plan.metrics.named(raw.name).limits

    def named(estimate: Estimate, way: str) -> Estimate:
        signature = (*raw.signature, (PART, WAYS[way]))
        return msgspec.structs.replace(
            estimate, name=raw.name, where=raw.where, signature=signature
        )

    return CorrectedNumber(
        raw=raw,
        corrected=no_narrower(named(number.corrected, way), raw, limits),
        alone=no_narrower(named(number.alone, "alone"), raw, limits),
        gain=number.gain,
        power=number.power,
        labels=number.labels,
        rows=number.rows,
        disagreements=number.disagreements,
        annotators=used.annotators,
        undrawn=used.undrawn,
        drawn=used.drawn,
        elsewhere=used.elsewhere,
        effect=None if number.effect is None else named(number.effect, way),
        freedom=number.freedom,
    )


def no_narrower(made: Estimate, raw: Estimate, limits: tuple[float, float] | None) -> Estimate:
    """Return a number with an interval that reaches as far as the judge's on either side.

    The judge's holds the draw of answers alone; labels add errors and take none away.
    """
    if made.value is None or made.low is None or made.high is None:
        return made
    if raw.value is None or raw.low is None or raw.high is None:
        return made
    low = min(made.low, made.value - (raw.value - raw.low))
    high = max(made.high, made.value + (raw.high - raw.value))
    if limits is not None:
        low, high = max(low, limits[0]), min(high, limits[1])
    return msgspec.structs.replace(made, low=low, high=high)


def labels_of_run(run: Path) -> UsedLabels:
    """Return what people said of a run's answers: one verdict an item, with its draw."""
    with LabelStore.read(run) as store:
        said = [label for label in store.labels() if not label.skipped]
        every: dict[str, list[PersonLabel]] = {}
        for label in said:
            every.setdefault(label.stage, []).append(label)
        drawn = {stage: [one for one in some if one.probability] for stage, some in every.items()}
        by_stage = {stage: drawn[stage] or some for stage, some in every.items()}
        strata = {stage: _strata(store, some) for stage, some in by_stage.items()}
    verdicts: dict[str, dict[Place, Verdict]] = {}
    chances: dict[str, dict[Place, float]] = {}
    for stage, some in by_stage.items():
        by_item: dict[LabeledItem, dict[str, Verdict]] = {}
        for label in some:
            by_item.setdefault(label.item, {})[label.annotator] = label.verdict
        verdicts[stage] = {
            (item.target, item.asked): joined_verdict(item, own).verdict
            for item, own in by_item.items()
        }
        chances[stage] = {
            (label.item.target, label.item.asked): label.probability
            for label in some
            if label.probability
        }
    folder = RunFolder.open(run)
    stages = {}
    for stage, some in by_stage.items():
        table = f"verdicts/{stage}"
        judged = folder.read(table, Verdict) if folder.has(table) else []
        there = {(one.target, one.asked) for one in judged}
        stages[stage] = StageLabels(
            annotators=tuple(sorted({label.annotator for label in some})),
            undrawn=len(every[stage]) - len(some),
            drawn=bool(drawn[stage]),
            elsewhere=sum(_judged(item) not in there for item in {one.item for one in some}),
        )
    return UsedLabels(PeopleLabels(verdicts, chances, strata), stages)


def _judged(item: LabeledItem) -> Place:
    """Return the place of the judge's verdict on an item: of a pair, that on its assertion."""
    return pair_of(item.target)[0] if item.kind == "pair" else item.target, item.asked


def _strata(store: LabelStore, labels: Sequence[PersonLabel]) -> Mapping[Place, str]:
    """Return the stratum of every item that could have been drawn.

    Empty where labels come from several designs, or from none, or where not all items of the
    design are stored: then the probability of each label counts.
    """
    names = {label.design for label in labels}
    designs = [design for design in store.designs() if design.id in names]
    if len(names) != 1 or len(designs) != 1:
        return {}
    places = store.places(designs[0].id)
    if len(places) < designs[0].items:
        return {}
    return {(one.item.target, one.item.asked): one.stratum for one in places}

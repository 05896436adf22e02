"""Numbers of a run, corrected for the judge by people's labels of a part of its answers.

A protocol reads its rows from the judge's verdicts and from people's by the same code
(:mod:`sayso.protocols.labeled`); :mod:`sayso.metrics.correction` has the formulas.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from shlex import quote
from typing import NamedTuple

import msgspec

from sayso.metrics.correction import Corrected, labels_for_width
from sayso.people.items import (
    ALL,
    LabelSource,
    items_of,
    kind_stages,
    label_source,
    of_other_texts,
)
from sayso.people.joined import cannot_tell, joined_verdict
from sayso.people.labels import LabeledItem, LabelStore, PersonLabel, pair_of
from sayso.protocols import protocol_of
from sayso.protocols.declared import Declared, Place, joint_number
from sayso.protocols.labeled import PeopleLabels, corrected_places
from sayso.protocols.protocol import Protocol
from sayso.records import CorrectedNumber, Estimate, InputError, Results, Verdict
from sayso.report.corrected import by_place, halving_sentence, labels_hash, stored_corrected
from sayso.report.differences import Words
from sayso.report.sheet import main_numbers
from sayso.runs.measure import run_path, whole_run
from sayso.storage.atomic import WAIT, can_write, one_writer
from sayso.storage.run_folder import CORRECTED, RunFolder, has_labels_file

#: how much of a signature says that a number was corrected, and how
PART = "corrected"
WAYS = {"corrected": "ppi@1", "alone": "labels-alone"}
#: the share of the items of which people may have left out all that was drawn
FEW = 0.05


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
    #: items without a verdict of people: skipped, passed over, and those of which they cannot tell
    left_out: tuple[int, int, int]
    #: how many judged answers these stand for
    untold: float
    #: why they are no random sample of this run's answers; "" where nothing says so
    unlike: str


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
    if not has_labels_file(place):
        return []
    used = labels_of_run(place)
    if not used.people.verdicts:
        return []
    job, manifest, settings = whole_run(place)
    plan = protocol_of(manifest)
    raw = _measured(job.folder, plan) if measured is None else Results(measured)
    judge = [d for d in plan.numbers(job, settings, job, None) if "people" in d.uses]
    _check_measured(place, judge, raw)
    found = []
    people = plan.numbers(job, settings, used.people.read(job), None)
    for name, where, number, stage in corrected_places(judge, people, used.people):
        own = raw.find(name, **dict(where))
        if own is not None and own.value is not None:
            found.append(_beside(own, number, used.stages[stage], plan))
    return found


def _check_measured(run: Path, judge: Iterable[Declared], raw: Results) -> None:
    """Refuse stored numbers that today's tables and settings do not give. Raises InputError."""
    for d in judge:
        own = raw.find(d.name, **dict(d.where))
        if own is None or own.value is None:
            continue
        number = joint_number(d)
        now = number.metric(*number.columns) if d.of.counts.any() else None
        if now is None or not math.isclose(now, own.value, rel_tol=1e-6, abs_tol=1e-9):
            raise InputError(
                f"{run}: {d.name} is {own.value:.6g} in its stored numbers, but {now or 0:.6g} of "
                "its answers, verdicts and settings as they are now: was a file changed? "
                f"sayso measure {quote(str(run))} computes all numbers again"
            )


def _measured(folder: RunFolder, plan: Protocol) -> Results:
    return Results(folder.read(f"metrics/{plan.name}", Estimate))


def has_labels(run: str | PathLike[str]) -> bool:
    """Tell whether people labeled or skipped items of a run, whatever these labels bear on."""
    place = run_path(run)
    if not has_labels_file(place):
        return False
    with LabelStore.read(place) as store:
        return bool(store.labels())


def correct(run: str | PathLike[str]) -> list[CorrectedNumber]:
    """Return the corrected numbers of a run as :func:`corrected_numbers`, and store them in it.

    In a folder that cannot be written, nothing is stored. The page shows what is stored. Raises
    InputError.
    """
    place = run_path(run)
    if not can_write(place):
        return corrected_numbers(place)
    folder = RunFolder.open(place)
    if not has_labels_file(place):
        return []
    with one_writer(place, "sayso measure", WAIT):
        of = labels_hash(place)
        numbers = corrected_numbers(place)
        stored = [msgspec.structs.replace(one, labels_hash=of) for one in numbers]
        folder.write(CORRECTED, stored, CorrectedNumber)
        if labels_hash(place) != of:  # somebody labels at this moment
            folder.drop(CORRECTED)
    return numbers


def current_corrected(run: str | PathLike[str]) -> list[CorrectedNumber]:
    """Return the corrected numbers of a run: those it stores, else computed. Raises InputError."""
    place = run_path(run)
    return stored_corrected(RunFolder.open(place)) or corrected_numbers(place)


def more_labels(run: str | PathLike[str]) -> str:
    """Return how many labels would halve the interval of the run's main number; "" if unknown.

    That is the first of the main numbers with a corrected interval. Raises InputError.
    """
    folder = RunFolder.open(run_path(run))
    if not folder.tables("metrics"):
        return ""
    plan = protocol_of(folder.read_manifest())
    corrected = by_place(current_corrected(run))
    measured = _measured(folder, plan).all
    for one in main_numbers(plan.report.sheet(measured), measured):
        if (number := corrected.get((one.name, one.where))) is not None:
            return halving_sentence(number, Words(plan.metrics, plan.report.part_label))
    return ""


def _beside(raw: Estimate, number: Corrected, used: StageLabels, plan: Protocol) -> CorrectedNumber:
    limits = plan.metrics.named(raw.name).limits
    if used.unlike:
        nothing = Estimate(raw.name, raw.where, problem=used.unlike)
        number = msgspec.structs.replace(
            number, corrected=nothing, alone=nothing, gain=None, power=None, effect=None
        )

    def named(estimate: Estimate, way: str) -> Estimate:
        signature = (*raw.signature, (PART, WAYS[way]))
        return msgspec.structs.replace(
            estimate, name=raw.name, where=raw.where, signature=signature
        )

    corrected = no_narrower(named(number.corrected, "corrected"), raw, limits)
    return CorrectedNumber(
        raw=raw,
        corrected=corrected,
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
        skipped=used.left_out[0],
        passed_over=used.left_out[1],
        cannot_tell=used.left_out[2],
        untold=used.untold,
        effect=None if number.effect is None else named(number.effect, "corrected"),
        freedom=number.freedom,
        halved_by=_halved_by(msgspec.structs.replace(number, corrected=corrected), raw),
    )


def _halved_by(number: Corrected, raw: Estimate) -> int | None:
    """Return how many labels, in all, would halve the interval of a corrected number.

    ``None`` where no number of labels does: they leave the judge's own interval, that of ``raw``,
    as it is.
    """
    low, high = number.corrected.low, number.corrected.high
    if low is None or high is None or low >= high:
        return None
    wanted = (high - low) / 4
    if raw.low is not None and raw.high is not None and raw.high - raw.low > 2 * wanted:
        return None
    return labels_for_width(number, wanted).corrected


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
    source = label_source(run, ALL)
    with LabelStore.read(run) as store:
        said = [label for label in store.labels() if not label.skipped]
        gone = of_other_texts(source, said)
        every: dict[str, list[PersonLabel]] = {}
        for label in said:
            if label not in gone:
                every.setdefault(label.stage, []).append(label)
        drawn = {stage: [one for one in some if one.probability] for stage, some in every.items()}
        by_stage = {stage: drawn[stage] or some for stage, some in every.items()}
        strata = {stage: draw_strata(store, some) for stage, some in by_stage.items()}
        left_out = {stage: store.left_out(stage) for stage in every}
        unlike = {stage: unlike_run(source, store, some, gone) for stage, some in by_stage.items()}
    verdicts: dict[str, dict[Place, Verdict]] = {}
    chances: dict[str, dict[Place, float]] = {}
    stages: dict[str, StageLabels] = {}
    for stage, some in by_stage.items():
        by_item: dict[LabeledItem, dict[str, Verdict]] = {}
        for label in some:
            by_item.setdefault(label.item, {})[label.annotator] = label.verdict
        verdicts[stage] = {
            (item.target, item.asked): joined_verdict(item, own).verdict
            for item, own in by_item.items()
        }
        chances[stage] = label_chances(some, strata[stage] or {})
        table = f"verdicts/{stage}"
        judged = source.folder.iter(table, Verdict) if source.folder.has(table) else ()
        there = {(one.target, one.asked) for one in judged}
        of_pair = {i: pair_of(i.target)[0] for i in by_item if i.kind == "pair"}  # its assertion
        lost = {i for i in by_item if (of_pair.get(i, i.target), i.asked) not in there}
        unsaid = [place for place, verdict in verdicts[stage].items() if cannot_tell(verdict)]
        skipped, passed = left_out[stage]
        left = [*unsaid, *((one.target, one.asked) for one in skipped | passed)]
        stages[stage] = StageLabels(
            annotators=tuple(sorted({label.annotator for label in some})),
            undrawn=len(every[stage]) - len(some),
            drawn=bool(drawn[stage]),
            elsewhere=len(lost | {one.item for one in gone if one.stage == stage}),
            left_out=(len(skipped), len(passed), len(unsaid)),
            untold=_answers_of(left, verdicts[stage], chances[stage], strata[stage] or {}, there),
            unlike=unlike[stage],
        )
    return UsedLabels(PeopleLabels(verdicts, chances, strata), stages)


def _answers_of(
    left: Sequence[Place],
    labeled: Collection[Place],
    chances: Mapping[Place, float],
    strata: Mapping[Place, str],
    judged: Collection[Place],
) -> float:
    """Return how many judged answers the items stand for of which people did not say.

    In a stratum each drawn item stands for as many; elsewhere for no more than the least probable.
    """
    drawn = {*labeled, *left}
    sizes, reached = Counter(strata.values()), Counter(strata.get(place) for place in drawn)
    other = 1 / min(chances.values()) if chances else len(judged) / max(1, len(drawn))
    return sum(sizes[strata[p]] / reached[strata[p]] if p in strata else other for p in left)


def unlike_run(
    source: LabelSource,
    store: LabelStore,
    labels: Sequence[PersonLabel],
    gone: Iterable[PersonLabel] = (),
) -> str:
    """Return why labels of one table are no random sample of its items; "" where nothing says so.

    Labels of texts that came back as they were are of answers that the model is surer of; ``gone``
    are those of other texts. A draw had as many items as it says, and one that is not stored as the
    chances of its labels say (the sum of 1/p, but for its error where items are gone, and for
    groups without a label). Of a run that has more, it is no draw. Groups of which people left out
    all that was drawn are unlike the others, and more than :data:`FEW` of the items.
    """
    designs, old = {one.design for one in labels}, (*gone, *store.of_old_texts())
    if again := {one.item for one in old if one.design in designs} - {one.item for one in labels}:
        return f"{len(again):,} of the labels are of other texts: label these items again"
    sizes = {design.id: design.items for design in store.designs()}
    kind, stage = labels[0].kind, labels[0].stage
    strata = draw_strata(store, labels) or {}
    told = {one.item for one in labels if not cannot_tell(one.verdict)}
    asked = told.union(*store.left_out(stage), (one.item for one in labels))
    every, held = ({strata.get((i.target, i.asked), "") for i in some} for some in (asked, told))
    lost = sorted(every - held - {""})
    if sum(group in lost for group in strata.values()) > FEW * len(strata):
        return f"people gave no verdict on any drawn item of {'; '.join(lost)}: label some of these"
    known = stage in kind_stages(source.folder, kind)
    items = {one.item: one for one in items_of(source, kind, stage)[1]} if known else {}
    for design in sorted(designs):
        p = {one.item: one.probability for one in labels if one.design == design}
        drawn = {items[item].method for item in p if item in items}
        there = [one.reading for one in items.values() if one.method in drawn]
        groups = {
            part for one in labels if one.design == design for part in one.stratum.split(" or ")
        }
        chances = [chance for chance in p.values() if chance]
        size = sizes.get(design, sum(1 / chance for chance in chances))
        error = math.sqrt(sum((1 - c) / c**2 for c in chances)) * (design not in sizes)
        whole = design in sizes or groups == {"all"} or groups.issuperset(there)
        if chances and len(there) > (1.01 if whole else 1.25) * size + 4 * error * (
            not p.keys() <= items.keys()
        ):
            return (
                f"labels were drawn from about {size:,.0f} items, and this run has {len(there):,}: "
                "label it (sayso label), or import all labels of the draw"
            )
    return ""


def draw_strata(store: LabelStore, labels: Sequence[PersonLabel]) -> Mapping[Place, str] | None:
    """Return the stratum of every item that could have been drawn.

    Of labels from several designs these are the items that all of them have in one stratum: however
    many each design asked for, and whatever it left out because it was labeled before, those of
    them that are labeled are a random sample. Where not all items of the designs are stored, it is
    empty for one design, so that the probability of each label counts, and ``None`` for several.
    """
    names = {label.design for label in labels}
    designs = [design for design in store.designs() if design.id in names]
    places = [store.places(design.id) for design in designs]
    stored = sum(map(len, places)) == sum(design.items for design in designs)
    if not stored or len(designs) < len(names):
        return None if len(names) > 1 else {}
    of = [{(one.item.target, one.item.asked): one.stratum for one in some} for some in places]
    return {place: "; ".join(one.get(place, "") for one in of) for some in of for place in some}


def label_chances(labels: Sequence[PersonLabel], strata: Mapping[Place, str]) -> dict[Place, float]:
    """Return with which probability each place is labeled: in a stratum, the share that is."""
    known = {(one.item.target, one.item.asked): one.probability for one in labels}
    reached = Counter(strata[place] for place in known if place in strata)
    sizes = Counter(strata.values())
    share = {
        place: reached[strata[place]] / sizes[strata[place]] for place in known if place in strata
    }
    return {place: p for place, p in (known | share).items() if p}

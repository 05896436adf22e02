"""How many labels a number needs, which items come next, and whether the judge is worth using.

Each number is corrected with the labels that there are (:mod:`sayso.metrics.correction`), which
says how its variance falls with their number. Labels alone are as many items drawn at random, with
no judge at all: a draw that is stratified by what the judge read uses the judge already. Where a
corrected label is worth less than 1.1 labels alone, the judge adds next to nothing.

The numbers are those that follow from the items themselves: of answers UNCLE's rates, where it is
known which questions the model knows; of claims the share that is supported; of pairs the share
that contradicts; of sentences the mean sureness.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from shlex import quote
from typing import NamedTuple

import msgspec
import numpy as np

from sayso.harmless import line
from sayso.metrics.arrays import Floats, codes, divide
from sayso.metrics.correction import (
    LEAST_GAIN,
    Corrected,
    LabeledRows,
    LabelsForWidth,
    corrected_sums,
    judge_counts,
    labels_for_width,
)
from sayso.metrics.uncle_rates import cell_rates
from sayso.people.agreement import (
    LabeledTable,
    TextTable,
    judge_verdicts,
    labeled_tables,
    share_text,
)
from sayso.people.corrected import current_corrected
from sayso.people.items import ALL, KIND_NAMES, LabelSource, items_of, label_source
from sayso.people.labels import (
    CODES,
    READ_KINDS,
    Kind,
    LabelDesign,
    LabeledItem,
    LabelStore,
    stored_labels,
)
from sayso.protocols.pool import clusters_of
from sayso.records import CorrectedNumber, Estimate, InputError, Question, Verdict, slice_of
from sayso.report.numbers import is_bare
from sayso.report.terminal import TextTables
from sayso.runs.measure import run_path

#: numbers in words
NUMBER_NAMES = {
    "FA": "FA",
    "uncertain": "answers with doubt",
    "UUR": "UUR",
    "KCR": "KCR",
    "J": "J",
    "supported": "supported claims",
    "contradicting": "contradicting pairs",
    "sureness": "mean sureness",
}
LIMITS = {"J": (-1.0, 1.0)}


class PlannedNumber(msgspec.Struct, frozen=True):
    """A number, how wide its interval is now, and how many labels the wanted one takes.

    ``needed`` are labels with the judge, ``needed_alone`` without; ``None`` where no number of
    labels of this run is enough, or where the labels do not say it yet (``gain`` is ``None``).
    ``worth``: whether a corrected label is worth at least 1.1 labels alone; ``None`` where that is
    not known, or where more than half of the items have labels.
    """

    name: str
    raw: float | None
    corrected: Estimate
    gain: float | None
    worth: bool | None
    needed: int | None
    needed_alone: int | None

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval of the corrected number."""
        low, high = self.corrected.low, self.corrected.high
        return None if low is None or high is None else (high - low) / 2


class LabelPlan(msgspec.Struct, frozen=True):
    """The labels that items of one kind still need for intervals of a half-width.

    ``labels`` are there, ``more`` are to come: for the number that needs most of those that can be
    had. ``following`` are the items that come next, by stratum; ``command`` gets them. ``problem``
    says why there is no plan.
    """

    kind: Kind
    stage: str
    width: float
    labels: int
    items: int
    numbers: tuple[PlannedNumber, ...] = ()
    more: int | None = None
    following: tuple[tuple[str, int], ...] = ()
    command: str = ""
    problem: str = ""

    def is_precise(self, one: PlannedNumber) -> bool:
        """Tell whether the labels that there are give a number the wanted interval."""
        if one.needed is not None:
            return one.needed <= self.labels
        return one.half_width is not None and one.half_width <= self.width

    def is_out_of_reach(self, one: PlannedNumber) -> bool:
        """Tell whether labels of all items would not give a number the wanted interval."""
        return one.needed is None and one.gain is not None and not self.is_precise(one)

    def is_open(self, one: PlannedNumber) -> bool:
        """Tell whether the labels do not say how many a number needs."""
        return one.needed is None and one.gain is None and not self.is_precise(one)


def parse_width(text: str) -> float:
    """Return a half-width that is written as a number or in percent. Raises InputError."""
    plain = text.strip().removesuffix("%")
    try:
        value = float(plain)
    except ValueError:
        raise InputError(
            f"--plan {line(text, 40)}: expected the wanted half-width, such as 0.05 or 5%"
        ) from None
    return value / 100 if text.strip().endswith("%") else value


def plan_labels(
    run: str | PathLike[str], width: float, *, numbers: Sequence[str] = ()
) -> tuple[LabelPlan, ...]:
    """Return what labels are missing for 95 % intervals of value ± ``width``, by kind.

    ``numbers`` are those that must be so precise, all by default, by their name here or in the
    table. Raises InputError.
    """
    if not 0 < width < 1:
        raise InputError(f"--plan {width:g}: expected the wanted half-width, between 0 and 1")
    shown = {words: name for name, words in NUMBER_NAMES.items()}
    numbers = [shown.get(name, name) for name in numbers]
    unknown = [name for name in numbers if name not in NUMBER_NAMES]
    if unknown:
        raise InputError(f"--number {line(unknown[0], 40)}: expected one of {', '.join(shown)}")
    folder = run_path(run)
    source = label_source(folder, ALL)
    tables = labeled_tables(source, stored_labels(folder))
    measured = source.folder.tables("metrics")
    page = current_corrected(folder) if measured else []
    with LabelStore.read(folder) as store:
        return tuple(_plan(folder, source, store, table, width, numbers, page) for table in tables)


def _plan(
    run: Path,
    source: LabelSource,
    store: LabelStore,
    table: LabeledTable,
    width: float,
    wanted: Sequence[str],
    page: Sequence[CorrectedNumber],
) -> LabelPlan:
    plan = LabelPlan(table.kind, table.stage, width, len(table.items), 0)
    design = _design(store, table)
    if design is None or table.weights is None:
        why = "its labels come from several draws, or from none that is stored"
        return msgspec.structs.replace(plan, problem=why)
    rows = _rows(run, source, store, table, design)
    if rows is None:
        why = "the items that were drawn are no longer those of the run"
        return msgspec.structs.replace(plan, problem=why)
    made = _corrected(table, rows)
    own = {one.raw.name: one for one in page if one.raw.where == slice_of(form=table.stage)}
    planned = [
        _planned(made[name], width, own.get(name)) for name in made if not wanted or name in wanted
    ]
    needed = [one.needed for one in planned if one.needed is not None]
    more = max(0, max(needed) - len(rows.labeled)) if needed else None
    plan = msgspec.structs.replace(
        plan, labels=len(rows.labeled), items=len(rows.items), numbers=tuple(planned), more=more
    )
    if not more:
        return plan
    following, command = _following(run, store, table, design, more)
    return msgspec.structs.replace(plan, following=following, command=command)


def _design(store: LabelStore, table: LabeledTable) -> LabelDesign | None:
    """Return the design that all labels of a table come from."""
    return next((one for one in store.designs(table.kind) if one.id == table.design), None)


def _planned(number: Corrected, width: float, page: CorrectedNumber | None) -> PlannedNumber:
    """Return what a number needs.

    On ``page`` it has an interval that is never narrower than the judge's, which labels leave as it
    is.
    """
    needed = labels_for_width(number, width)
    if page is not None and page.labels == number.labels:
        corrected = msgspec.structs.replace(page.corrected, name=number.corrected.name)
        number = msgspec.structs.replace(number, corrected=corrected)
        needed = labels_for_width(number, width)
        low, high = page.raw.low, page.raw.high
        if low is not None and high is not None and (high - low) / 2 > width:
            needed = LabelsForWidth(None, None)
    return PlannedNumber(
        number.corrected.name,
        number.raw,
        number.corrected,
        number.gain,
        number.worth if judge_counts(number.labels, number.rows) else None,
        needed.corrected,
        needed.alone,
    )


class _PlanRows(NamedTuple):
    """All items of a design with the judge's verdicts; which of them people labeled, and how."""

    items: list[LabeledItem]
    known: list[int | None]
    read: list[Verdict | None]
    strata: list[str]
    clusters: list[int]
    #: the rows with a label, and the rows of the table of labels
    labeled: list[int]
    of_table: list[int]


def _rows(
    run: Path, source: LabelSource, store: LabelStore, table: LabeledTable, design: LabelDesign
) -> _PlanRows | None:
    """Return the population of a design; ``None`` where its items are not in the run any more."""
    own = label_source(run, design.method)
    _, population = items_of(own, table.kind, table.stage)
    reading = {one.item: one.reading for one in population}
    stratum = {place.item: place.stratum for place in store.places(design.id)}
    if not stratum.keys() <= reading.keys():
        return None
    # of a very large run only the first places are stored: a reading lies in one stratum
    of_reading = {reading[item]: name for item, name in stratum.items()}
    items = [item for item in reading if item in stratum or reading[item] in of_reading]
    verdicts = judge_verdicts(source.folder, table.kind, table.stage, items)
    clusters = clusters_of(source.folder.iter("questions", Question))
    # in the order of questions, as measures number them: the same groups leave together
    entity: dict[object, int] = {name: n for n, name in enumerate(dict.fromkeys(clusters.values()))}
    place = {item: row for row, item in enumerate(items)}
    usable = _usable(table)
    pairs = [(place[item], row) for row, item in enumerate(table.items) if usable[row]]
    return _PlanRows(
        items,
        [_is_known(reading[item]) for item in items],
        [verdicts.get(item) for item in items],
        [stratum.get(item, of_reading.get(reading[item], "")) for item in items],
        [entity.setdefault(clusters.get(item.asked, item.asked), len(entity)) for item in items],
        [row for row, _ in pairs],
        [row for _, row in pairs],
    )


def _is_known(reading: str) -> int | None:
    """Return 1 or 0 for a question that the model knows or does not; the stratum says so."""
    words = reading.split(", ")
    return 1 if "known" in words else 0 if "unknown" in words else None


# ---- the sums that numbers are made of

#: numbers of a plan that are means of items that count 1 or 0
SHARES = ("FA", "uncertain", "UUR", "KCR", "supported", "contradicting")


def _corrected(table: LabeledTable, rows: _PlanRows) -> dict[str, Corrected]:
    """Return every number of a kind, corrected with the labels that there are."""
    people = _joined(table)
    judge = np.array([_code(table.kind, v) for v in rows.read])
    known = np.array([np.nan if k is None else float(k) for k in rows.known])
    every = _columns(table.kind, judge, known)
    own = _columns(table.kind, people[rows.of_table], known[rows.labeled])
    labeled = LabeledRows(rows.labeled, strata=codes(rows.strata), clusters=rows.clusters)
    numbers = {
        "sureness": _sureness_numbers, "claim": _claim_numbers, "pair": _pair_numbers,
    }.get(table.kind, _answer_numbers)  # fmt: skip
    made = corrected_sums(numbers, every, own, labeled, LIMITS, SHARES)
    # without probes nobody knows what the model knows
    return {name: one for name, one in made.items() if one.raw is not None or one.alone.value}


#: what an answer is read as, in the order of columns; an omitted aspect counts as wrong
ANSWERED = {"correct": 0.0, "incorrect": 1.0, "uncertain": 2.0, "omitted": 1.0}


def _code(kind: Kind, verdict: Verdict | None) -> float:
    """Return what was read, as a number; NaN for nothing."""
    if verdict is None:
        return np.nan
    if kind == "sureness":
        return np.nan if verdict.number is None else min(max(verdict.number, 0.0), 1.0)
    if kind in READ_KINDS:
        return ANSWERED.get(verdict.value or "", np.nan)
    return float([*CODES[kind]].index(verdict.label)) if verdict.label in CODES[kind] else np.nan


def _joined(table: LabeledTable) -> Floats:
    return np.array([_code(table.kind, v) for v in table.joined], dtype=np.float64)


def _usable(table: LabeledTable) -> list[bool]:
    return [bool(x) for x in ~np.isnan(_joined(table))]


def _columns(kind: Kind, read: Floats, known: Floats) -> Floats:
    """Return what each row adds to the sums (rows, K): counts of classes, by known for answers."""
    if kind == "sureness":
        return np.stack([np.nan_to_num(read), (~np.isnan(read)).astype(float)], axis=1)
    classes: Floats = (read[:, None] == np.arange(3)).astype(np.float64)
    if kind not in READ_KINDS:
        return classes
    parts = [classes, *(classes * (known == k)[:, None] for k in (1, 0))]
    return np.asarray(np.concatenate(parts, axis=1), dtype=np.float64)


def _answer_numbers(sums: Floats) -> dict[str, Floats]:
    rates = cell_rates(sums[..., 3:])
    return {
        "FA": divide(sums[..., 0], sums[..., 0] + sums[..., 1]),
        "uncertain": divide(sums[..., 2], sums[..., :3].sum(axis=-1)),
        **{name: rates[name] for name in ("UUR", "KCR", "J")},
    }


def _claim_numbers(sums: Floats) -> dict[str, Floats]:
    return {"supported": divide(sums[..., 0], sums[..., 0] + sums[..., 1])}


def _pair_numbers(sums: Floats) -> dict[str, Floats]:
    return {"contradicting": divide(sums[..., 0], sums[..., 0] + sums[..., 1])}


def _sureness_numbers(sums: Floats) -> dict[str, Floats]:
    return {"sureness": divide(sums[..., 0], sums[..., 1])}


# ---- which items next


def _following(
    run: Path, store: LabelStore, table: LabeledTable, design: LabelDesign, more: int
) -> tuple[tuple[tuple[str, int], ...], str]:
    """Return the strata of the next items of a design, and the command that gets them."""
    done = set(table.items)
    left = [one for one in store.places(design.id) if one.item not in done][:more]
    strata = tuple(sorted(Counter(one.stratum for one in left).items()))
    annotator = next(iter(table.said))
    total = sum(v is not None for v in table.said[annotator]) + len(left)
    command = (
        f"sayso label {quote(str(run))} --kind {table.kind} --annotator {quote(annotator)} "
        f"--n {total}"
    )
    return strata, line(command, 300)


# ---- terminal


def label_plan_text(plans: Sequence[LabelPlan]) -> TextTables:
    """Return plans as text: every number with what it needs, and what to do next."""
    tables: list[TextTable] = []
    tail: list[str] = []
    bad: list[str] = []
    for plan in plans:
        name = KIND_NAMES[plan.kind]
        if plan.problem:
            bad.append(f"{name}: no plan: {plan.problem}")
            continue
        rows = [_number_row(one) for one in plan.numbers]
        columns = ("raw", "corrected [95 %]", "gain", "labels", "labels alone")
        tables.append((name, columns, rows))
        tail.append(f"{name}: {_next_text(plan)}")
        weak = [one.name for one in plan.numbers if one.worth is False]
        if weak:
            bad.append(
                f"{name}: this judge is not worth it for {', '.join(weak)}: a corrected label is "
                f"worth less than {LEAST_GAIN:g} labels alone"
            )
    head = [
        f"labels for 95 % intervals of value ± {plans[0].width:g}" if plans else "no labels",
        "gain: how many labels alone a corrected label is worth; labels: how many are needed",
    ]
    return TextTables(head, tables, bad, tail)


def _number_row(one: PlannedNumber) -> Sequence[str]:
    known = one.gain is not None
    return (
        NUMBER_NAMES[one.name],
        "–" if one.raw is None else f"{one.raw:.2f}",
        "–" if is_bare(one.corrected) else share_text(one.corrected),
        f"{one.gain:.2f}" if one.gain is not None and one.worth is not None else "–",
        _count(one.needed, known=known),
        _count(one.needed_alone, known=known),
    )


def _count(needed: int | None, *, known: bool) -> str:
    if needed is not None:
        return f"{needed:,}"
    return "too few items" if known else "–"


def _next_text(plan: LabelPlan) -> str:
    so_far = f"{plan.labels:,} of {plan.items:,} items have labels"
    if plan.labels == plan.items:
        return "every item has a label"
    if plan.more is None and not _named(plan, plan.is_precise):
        told = any(one.gain is not None for one in plan.numbers)
        return (
            f"{so_far}; no number of labels of this run is enough: ask about more entities"
            if told
            else f"{so_far}, too few to say how many are needed: label 20 more first"
        )
    texts = [so_far]
    if plan.more:
        strata = ", ".join(f"{count} of {name}" for name, count in plan.following)
        texts.append(f"{plan.more:,} more are needed, next {strata}: {plan.command}")
    for names, what in (
        (_named(plan, plan.is_precise), "precise enough: {}"),
        (_named(plan, plan.is_out_of_reach), "too few items for {}"),
        (_named(plan, plan.is_open), "not known yet of {}"),
    ):
        if names:
            texts.append(what.format(names))
    return "; ".join(texts)


def _named(plan: LabelPlan, chosen: Callable[[PlannedNumber], bool]) -> str:
    return ", ".join(NUMBER_NAMES[one.name] for one in plan.numbers if chosen(one))


def plan_exit_code(plans: Sequence[LabelPlan]) -> int:
    """Return 0, or 1 where the judge is worth using for no number, or 3 where that is not known."""
    worth = [one.worth for plan in plans for one in plan.numbers if one.worth is not None]
    return 0 if any(worth) else 1 if worth else 3

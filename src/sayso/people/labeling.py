"""Labeling a run: which items an annotator gets, what is shown of them, what is said.

The page and the sheet for a spreadsheet are two ways into it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from sayso.harmless import line
from sayso.judges.judge import credit_withholding
from sayso.people.choices import LabelChoices
from sayso.people.guide import GUIDES
from sayso.people.items import (
    ALL,
    KIND_NAMES,
    LabelSource,
    RunItem,
    ShownItem,
    check_method,
    counts_of,
    items_of,
    items_there,
    label_source,
    of_other_texts,
    shown_items,
)
from sayso.people.labels import (
    COLUMNS,
    FIELDS,
    ITEM,
    LONGEST_REASON,
    OLD_TEXT,
    Kind,
    LabelDesign,
    LabeledItem,
    LabelStore,
    MergedLabels,
    PersonLabel,
    Placed,
    ReadLabels,
    check_annotator,
    label_row,
    merge_labels,
    read_labels,
    stored_labels,
    verdict_of_person,
    write_rows,
)
from sayso.people.sampling import draw_design, population_of
from sayso.records import InputError, Question
from sayso.storage.run_folder import RunFolder

#: the kind that is labeled where none is named: the first that a run has
FIRST: tuple[Kind, ...] = ("claim", "answer", "aspect", "pair", "sureness")
#: what a sheet shows of an item, by kind
TEXTS: dict[Kind, tuple[str, ...]] = {
    "answer": ("question", "gold", "text", "passages"),
    "aspect": ("question", "gold", "text", "passages"),
    "claim": ("claim", "passages", "text"),
    "pair": ("question", "text", "marked", "other", "passages"),
    "sureness": ("question", "text", "marked"),
}
#: seconds after which nobody is looking at an item any more
LONGEST_LOOK = 600.0
#: rows of a file that a message names
MOST_NAMED = 5


class WorkItem(NamedTuple):
    """An item of an annotator: its place in the design, which item it is, and what is shown."""

    place: int
    item: LabeledItem
    shown: ShownItem


class Labeling:
    """The items of one kind of a run that are drawn for people. Open with :func:`open_labeling`."""

    def __init__(
        self,
        source: LabelSource,
        store: LabelStore,
        design: LabelDesign,
        n: int,
        notices: Sequence[str],
    ) -> None:
        self.source, self.store, self.design, self.n = source, store, design, n
        self.notices = list(notices)
        self.places: list[Placed] = store.places(design.id)
        self._shown: dict[int, ShownItem] = {}
        questions = source.folder.iter("questions", Question)
        self._unanswerable = {q.id: q for q in questions if q.answerable is False}

    @property
    def kind(self) -> Kind:
        """The kind of the items."""
        return self.design.kind

    @property
    def title(self) -> str:
        """What is labeled, in words."""
        return KIND_NAMES[self.kind]

    def work(self, annotator: str) -> list[WorkItem]:
        """Return the items of an annotator in their order, drawing new ones up to ``n``.

        Raises InputError where there are none.
        """
        places = self.store.assign(self.design, annotator, self.n)
        if not places:
            raise InputError(
                f"{annotator} has no items: {self.elsewhere(annotator, places)}; "
                "--shared N gives the first N to everybody"
            )
        new = [place for place in places if place not in self._shown]
        shown = shown_items(self.source, [self.places[place].item for place in new])
        self._shown.update(zip(new, shown, strict=True))
        return [WorkItem(p, self.places[p].item, self._shown[p]) for p in places]

    def _text_of(self, place: int) -> ShownItem:
        """Return what the annotators of a place see of it."""
        if place not in self._shown:  # labeled on a page that an earlier server sent
            [self._shown[place]] = shown_items(self.source, [self.places[place].item])
        return self._shown[place]

    def notes(self, annotator: str) -> list[str]:
        """Return what an annotator should know of the items that :meth:`work` gave them."""
        holders = self.store.holders(self.design.id)
        mine = [place for place in sorted(holders) if annotator in holders[place]]
        notes = []
        if len(mine) < min(self.n, len(self.places)):
            notes.append(
                f"{annotator} gets {len(mine):,} items, not {self.n:,}: "
                f"{self.elsewhere(annotator, mine)}"
            )
        labeled = {one.item for one in self.store.labels(self.kind)}
        twice = [
            place
            for place in mine
            if place >= self.design.shared
            and len(holders[place]) > 1
            and self.places[place].item not in labeled
        ]
        if twice:
            names = sorted({name for place in twice for name in holders[place]} - {annotator})
            notes.append(
                f"{len(twice):,} items of {annotator} are also items of {', '.join(names)}, not "
                "labeled so far: no others are free"
            )
        return notes

    def elsewhere(self, annotator: str, mine: Sequence[int]) -> str:
        """Return who labeled the items that are not among those of an annotator."""
        places = set(range(len(self.places))) - set(mine)
        before = {one.item for one in self.store.labels(self.kind, annotator)}
        own = sum(self.places[place].item in before for place in places)
        if own:
            return (
                f"the other {len(places):,} are labeled, {own:,} of them by {annotator} in an "
                "earlier draw"
            )
        return f"other people labeled {'the rest' if mine else f'all {len(places):,}'}"

    def said(self, annotator: str) -> list[tuple[int, PersonLabel]]:
        """Return (place, label) of what an annotator said, in the order in which it was said."""
        place_of = {self.places[p].item: p for p in self.store.assigned(self.design.id, annotator)}
        labels = self.store.labels(self.kind, annotator)
        return [(place_of[one.item], one) for one in labels if one.item in place_of]

    def label(
        self,
        annotator: str,
        place: int,
        said: Mapping[str, object],
        *,
        seconds: float | None = None,
        name: str = "",
        on: str | None = None,
    ) -> bool:
        """Store what an annotator said of an item; tell whether it is new. Raises InputError.

        ``name`` and ``on`` are those of :meth:`LabelStore.add`.
        """
        item = self._item(annotator, place)
        reason = line(str(said.get("skipped") or ""), LONGEST_REASON).strip()
        verdict = verdict_of_person(item, annotator, dict(said) | {"skipped": reason})
        if item.asked in self._unanswerable:
            verdict = credit_withholding(self._unanswerable[item.asked], verdict)
        label = PersonLabel(
            verdict,
            item.kind,
            item.stage,
            design=self.design.id,
            seconds=None if seconds is None else round(min(max(seconds, 0.0), LONGEST_LOOK), 1),
            skipped=reason,
            time=datetime.now(UTC).isoformat(),
            shown=self._text_of(place).of,
        )
        return self.store.add(label, name, on)

    def undo(self, annotator: str, place: int, name: str, on: str | None = None) -> bool:
        """Take back what an annotator said of an item; tell whether this is new."""
        return self.store.withdraw(self._item(annotator, place), annotator, name, on)

    def _item(self, annotator: str, place: int) -> LabeledItem:
        if place not in self.store.assigned(self.design.id, annotator):
            raise InputError(f"place {place} is no item of {line(annotator, 40)}")
        return self.places[place].item


def open_store(run: Path) -> LabelStore:
    """Open the labels of a finished run; anything else is left alone. Raises InputError."""
    label_source(run)
    return LabelStore.open(run)


def open_labeling(run: Path, store: LabelStore, choices: LabelChoices) -> Labeling:
    """Return the items to label of a run: those drawn before, unless others are asked for.

    Raises InputError.
    """
    check_choices(choices)
    source = label_source(run, choices.method)
    kinds = counts_of(source)
    kind = next((one for one in FIRST if one in kinds), FIRST[0])
    if choices.kind:
        kind = next((one for one in FIRST if one == choices.kind), kind)
        if kind != choices.kind:
            raise InputError(
                f"--kind {line(choices.kind, 40)!r}: expected one of {', '.join(KIND_NAMES)}"
            )
    stage, items = items_of(source, kind, choices.stage)
    if choices.method:
        check_method(source, kind, stage)
    design, notices = _design(store, source, items, stage, choices)
    if len(kinds) > 1 and not choices.kind:
        counted = ", ".join(f"{one} ({count:,} items)" for one, count in kinds.items())
        notices.append(f"you label {KIND_NAMES[kind]}; --kind chooses among {counted}")
    if len(items) < choices.n:
        notices.append(
            f"the run has {len(items):,} {KIND_NAMES[kind]}: you label all of them, not "
            f"{choices.n:,}"
        )
    notices += _without_shared(store, design, choices.n)
    said = [one for one in store.labels(kind) if one.stage == stage]
    other = of_other_texts(source, said)
    for one in other:
        store.withdraw(one.item, one.annotator, f"{OLD_TEXT}{secrets.token_hex(12)}")
    if other:
        notices.append(
            f"{len(other):,} labels are of answers that have another text now: they no longer "
            "count, and these items are shown again"
        )
    return Labeling(source, store, design, choices.n, notices)


def _without_shared(store: LabelStore, design: LabelDesign, n: int) -> list[str]:
    """Return who has so many items already that ``n`` leaves no room for the shared ones."""
    shared = set(range(min(design.shared, design.items)))
    notices = []
    for annotator in store.annotators() if shared else []:
        mine = store.assigned(design.id, annotator)
        missing = len(shared - set(mine))
        if mine and missing > max(0, n - len(mine)):
            notices.append(
                f"{annotator} has {len(mine):,} items already, without {missing:,} of the "
                f"{len(shared):,} shared ones: --n {len(mine) + missing} adds them"
            )
    return notices


def check_choices(choices: LabelChoices) -> None:
    """Refuse numbers that make no sense together. Raises InputError."""
    if choices.n < 1:
        raise InputError(f"--n {choices.n}: expected 1 or more items")
    if choices.shared is not None and not 0 <= choices.shared <= choices.n:
        raise InputError(f"--shared {choices.shared}: expected 0 to --n, which is {choices.n}")


def _design(
    store: LabelStore,
    source: LabelSource,
    items: Sequence[RunItem],
    stage: str,
    choices: LabelChoices,
) -> tuple[LabelDesign, list[str]]:
    """Return the design that is in use, or a new one, with what must be told."""
    kind, population, notices = items[0].item.kind, population_of(items), []
    before = [d for d in store.designs(kind) if (d.stage, d.method) == (stage, source.method)]
    same = [d for d in before if d.population == population]
    if before and not same:
        notices.append(
            "the run was judged again, or asked for more, since items were drawn: new ones are "
            "drawn; earlier labels are kept"
        )
    fits = [d for d in same if choices.design in (None, d.name) and choices.seed in (None, d.seed)]
    if fits:
        design = fits[-1]
        if choices.shared is not None and choices.shared != design.shared:
            design = msgspec.structs.replace(design, shared=choices.shared)
            store.update_design(design)
        return design, notices
    if same:
        _check_redraw(store, same[-1], source.folder.path, choices)
        notices.append("items are drawn anew for everybody, as asked for; earlier labels are kept")
    design, places = draw_design(
        items,
        choices.design or "stratified",
        choices.n,
        choices.shared or 0,
        choices.seed or 0,
        source.method,
    )
    store.put_design(design, places)
    return design, notices


def _check_redraw(store: LabelStore, used: LabelDesign, run: Path, choices: LabelChoices) -> None:
    """Refuse to draw anew for everybody where people labeled items of the design in use."""
    names = sorted({one.annotator for one in store.labels(used.kind) if one.design == used.id})
    if names and not choices.force:
        flags = f"--design {choices.design}" if choices.design else f"--seed {choices.seed}"
        raise InputError(
            f"{flags}: {', '.join(names)} labeled items of {run} that were drawn by --design "
            f"{used.name} --seed {used.seed}. To go on with these, leave out --design and --seed; "
            "to draw others for everybody, pass --force: labels are kept"
        )


# ---- a sheet for a spreadsheet, and labels from a file


def write_sheet_of(labeling: Labeling, annotator: str, place: Path, *, force: bool = False) -> int:
    """Write the items that an annotator has not labeled yet as a sheet; return how many.

    A sheet is as blind as the page. Raises InputError.
    """
    name = check_annotator(annotator)
    done = {number for number, _ in labeling.said(name)}
    work = labeling.work(name)
    rows = [
        {"annotator": name} | _texts(one.shown) | one.item._asdict() | {"shown": one.shown.of}
        for one in work
        if one.place not in done
    ]
    if not rows:
        more = len(labeling.places) - len(work)
        told = f"--n {len(work) + more} would add {more:,}" if more else "the run has no others"
        if len(work) < labeling.n and more:
            told = labeling.elsewhere(name, [one.place for one in work])
        raise InputError(f"--sheet {place}: {name} labeled all {len(work):,} items already; {told}")
    fields = [step.field for step in GUIDES[labeling.kind].steps]
    bare = not any(row["passages"] for row in rows)
    texts = [name for name in TEXTS[labeling.kind] if not (bare and name == "passages")]
    columns = ("annotator", *texts, *fields, "skipped", *ITEM, "shown")
    return write_rows(rows, columns, place, flag="--sheet", force=force)


def _texts(shown: ShownItem) -> dict[str, object]:
    before, marked, after = shown.text
    return {
        "question": shown.question,
        "gold": "; ".join(shown.golds),
        "claim": shown.claim,
        "text": before + marked + after,
        "marked": marked,
        "other": shown.other,
        "passages": "\n\n".join(": ".join(filter(None, one)) for one in shown.passages),
    }


def columns_text(kind: Kind) -> str:
    """Return which columns of a sheet are to be filled in, and with what."""
    texts = []
    for step in GUIDES[kind].steps:
        values = [choice.value for choice in step.choices if choice.value]
        what = "a number from 0 to 1" if kind == "sureness" else ", ".join(values)
        texts.append(f"{step.field} ({what})")
    return f"Fill in {' and '.join(texts)}, or skipped with a reason"


def export_labels(run: Path, place: Path, *, force: bool = False) -> int:
    """Write all labels of a run and what people passed over; return how many. Raises InputError.

    Nothing is written into the run, so that a copy that cannot be written is exported too.
    """
    RunFolder.open(run)

    def rows() -> Iterator[dict[str, object]]:
        yield from map(label_row, stored_labels(run))
        with LabelStore.read(run) as store:
            yield from map(label_row, store.passed_over())

    return write_rows(rows(), COLUMNS, place, flag="--export", force=force)


def imported_text(place: Path, read: ReadLabels, merged: MergedLabels) -> str:
    """Return what came of an import."""
    text = f"{place}: {len(read.labels):,} labels, {merged.new:,} of them new"
    if merged.older:
        older = "are older than those here and do"
        older = "is older than those here and does" if merged.older == 1 else older
        text += f"; {merged.older:,} {older} not count"
    if bare := sum(not one.shown for one in read.labels):
        text += f"; {bare:,} without a hash of their text (column shown) count for today's answers"
    if read.empty:
        rows = "1 row has" if len(read.empty) == 1 else f"{len(read.empty):,} rows have"
        named = ", ".join(map(str, read.empty[:MOST_NAMED]))
        more = len(read.empty) - MOST_NAMED
        which = f"{read.word} {named}{f' and {more:,} more' if more > 0 else ''}"
        text += f"; {rows} no label ({which})"
    return text


def draw_note(store: LabelStore, read: ReadLabels) -> str:
    """Return what is lost of labels by a design that a run does not store; "" if nothing is."""
    stored = {design.id for design in store.designs()}
    lost = sum(one.probability is not None and one.design not in stored for one in read.labels)
    if not lost:
        return ""
    return (
        f"{lost:,} label{'s' * (lost != 1)} from a design whose groups this run does not store: "
        "each counts by its probability alone, so intervals are wider. A copy of labels.sqlite "
        "keeps the groups"
    )


def progress_text(labeling: Labeling) -> str:
    """Return how many items everybody labeled."""
    parts = []
    for annotator in labeling.store.annotators():
        said = dict(labeling.said(annotator))
        mine = labeling.store.assigned(labeling.design.id, annotator)
        skipped = sum(bool(label.skipped) for label in said.values())
        passed = sum(place < max(said) for place in mine if place not in said) if said else 0
        if mine:
            counts = ((skipped, "skipped"), (passed, "passed over"))
            more = "".join(f", {count:,} {what}" for count, what in counts if count)
            parts.append(f"{annotator}: {len(said) - skipped:,} of {len(mine):,} labeled{more}")
    return f"{labeling.title}: {'; '.join(parts) or 'nobody labeled any'}"


def import_labels(
    run: Path, store: LabelStore, place: Path, annotator: str = ""
) -> tuple[ReadLabels, MergedLabels]:
    """Store the labels of a file; return what it held and what of that is new.

    Raises InputError for a label on an item that the run does not have.
    """
    read = read_labels(place, annotator=annotator, known=store.annotators())
    columns = {name for row in read.rows for name in row}
    lacking = {name for one in read.labels for name in FIELDS.get(one.kind, ())} - columns
    if lacking and (strange := sorted(columns.difference(COLUMNS, *TEXTS.values()))):
        raise InputError(
            f"--import {place}: it has no column {min(lacking)}, but {line(strange[0], 60)!r}: "
            "call the columns as the sheet does"
        )
    source = label_source(run, ALL)
    of_old = (*of_other_texts(source, store.labels()), *store.of_old_texts())
    old = {(one.annotator, one.item) for one in of_old}
    known: dict[tuple[str, str], set[LabeledItem]] = {}
    now: dict[LabeledItem, ShownItem] = {}
    for label, line_of, row in zip(read.labels, read.places, read.rows, strict=True):
        key = label.kind, label.stage
        if key not in known:
            known[key] = {one.item for one in items_of(source, label.kind, label.stage)[1]}
            mine = {one.item for one in read.labels if (one.kind, one.stage) == key}
            now |= items_there(source, [*(mine & known[key])])
        if label.item not in known[key]:
            raise InputError(
                f"{line_of}: {line(label.verdict.target, 60)} is no item of {run}; import "
                "labels of this run"
            )
        bare = not label.shown and (
            (label.annotator, label.item) in old
            or _words(row.get("text")) not in ("", _words(_texts(now[label.item])["text"]))
        )
        if bare or not now[label.item].of.startswith(label.shown):
            raise InputError(
                f"{line_of}: {line(label.verdict.target, 60)} has another text or gold in {run} "
                "than when it was labeled: remove the row, and label it again"
            )
    _check_order(read, now)
    questions = {q.id: q for q in source.folder.iter("questions", Question)}
    labels = [
        msgspec.structs.replace(
            one,
            verdict=credit_withholding(questions[one.verdict.asked], one.verdict),
            shown=now[one.item].of,
        )
        for one in read.labels
    ]
    return read, merge_labels(store, labels)


def _check_order(read: ReadLabels, now: Mapping[LabeledItem, ShownItem]) -> None:
    """Refuse rows with the text of another item: some columns of the sheet were sorted alone."""
    texts = {one.item: _texts(now[one.item]) for one in read.labels}
    others = {(name, _words(text)) for own in texts.values() for name, text in own.items()}
    for label, line_of, row in zip(read.labels, read.places, read.rows, strict=True):
        for name in ("question", "claim", "text", "marked"):
            said = _words(row.get(name))
            if said not in ("", _words(texts[label.item][name])) and (name, said) in others:
                raise InputError(
                    f"{line_of}: its {name} is that of another item than its target: were some "
                    "columns sorted without the others? --sheet writes them anew"
                )


def _words(cell: object) -> str:
    """Return a cell as it reads, whatever a spreadsheet does to spaces and to a first quote."""
    return " ".join(str(cell or "").lstrip("'").split())

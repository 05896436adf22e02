"""Numbers of the judge beside those that people's labels correct: a table, and what it says.

The interval of a raw number is of sampling alone: it says nothing of a judge that misreads answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from rich.console import Console

from sayso.harmless import line
from sayso.metric import MetricTable
from sayso.metrics.joint import independent_interval
from sayso.records import CorrectedNumber, Estimate, Slice
from sayso.report.differences import Words, in_one_phrase
from sayso.report.number_tables import Entry, NumberTable, grid, render_table
from sayso.report.numbers import (
    DASH,
    difference_range,
    difference_value,
    is_bare,
    metric_value,
    tight,
)
from sayso.report.sheet import Section
from sayso.report.terminal import say
from sayso.storage.atomic import disk_errors
from sayso.storage.run_folder import CORRECTED, LABELS, RunFolder, has_labels_file

#: the name and slice of a number
NumberName = tuple[str, Slice]
#: what a judge did to a number that it did not move
NO_EFFECT = "no different"
#: drawn items without a verdict of people, and what people did
UNLABELED = {"skipped": "skipped", "passed_over": "passed over", "cannot_tell": "could not judge"}
CHANCE = "In parentheses: the draw of labels may explain it."
GROUPED = (
    "If labels were drawn by groups of the judge's verdicts, as by default, the labels alone use "
    "these verdicts too."
)
FEW_ERRORS = (
    "Where people and judge differ on none or one of the labels that count, the corrected interval "
    "allows for two: none seen is no proof of none."
)
GAPS = (
    "The intervals contain the errors of both judges. The runs count as independent, so intervals "
    "of differences are usually too wide."
)
CAPTION = "Corrected by labels of people, beside the numbers of the judge"
#: of a run with labels that its numbers were not corrected by yet
NOT_YET = (
    "There may be labels of people in this run's folder. This page was written without them. "
    "Run sayso report on the folder to add the corrected numbers."
)


def stored_corrected(folder: RunFolder) -> list[CorrectedNumber] | None:
    """Return the corrected numbers that a run stores; ``None`` where they must be computed.

    What is stored is of today's labels and numbers: new labels (``LabelStore``) and new numbers
    (:meth:`RunFolder.write`) delete the table, and of another labels file, such as one that
    somebody copied here, whatever its time, the hash is another. Where nobody labeled anything
    there are none.
    """
    if not has_labels_file(folder.path):
        return []
    found = folder.read(CORRECTED, CorrectedNumber) if folder.has(CORRECTED) else None
    hashes = {one.labels_hash for one in found or ()}
    return found if hashes <= {labels_hash(folder.path)} else None


def labels_hash(run: Path) -> str:
    """Return a hash of the file of labels that a run has."""
    place = run / LABELS
    with disk_errors(place, "read"), place.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def corrected_section(
    folder: RunFolder | None, metrics: MetricTable, part_label: Callable[[str, str], str]
) -> Section:
    """Return what labels of people say of a run's numbers; empty where there are none."""
    numbers = stored_corrected(folder) if folder is not None else []
    tables = [corrected_table(numbers, Words(metrics, part_label))] if numbers else []
    text = [NOT_YET] if numbers is None else corrected_sentences(numbers) if numbers else []
    return Section("corrected", "What do labels of people say?", tables, (), text)


def corrected_table(numbers: Sequence[CorrectedNumber], words: Words) -> NumberTable:
    """Return numbers by the judge, corrected, and by the labels alone."""
    columns: dict[str, Callable[[CorrectedNumber], Entry]] = {
        "judge": lambda one: one.raw,
        "corrected": lambda one: one.corrected,
        "labels alone": lambda one: one.alone,
        "judge made it": judge_effect,
    }
    if any(getattr(one, of) for one in numbers for of in UNLABELED):
        columns["skipped"] = lambda one: f"{sum(getattr(one, of) for of in UNLABELED):,}"
    rows = {
        (words.metrics.named(one.raw.name).titled, words.of(one.raw.where)): one for one in numbers
    }
    notes = [CHANCE, GROUPED, FEW_ERRORS]
    return grid(CAPTION, rows, columns, lambda one, of: of(one), labels=("", "of"), notes=notes)


def corrected_sentences(numbers: Sequence[CorrectedNumber]) -> list[str]:
    """Return by whose labels numbers are corrected, what that means, and what the judge did."""
    people = sorted({name for one in numbers for name in one.annotators})
    labels = max(one.labels for one in numbers)
    rows = max(one.rows for one in numbers)
    texts = [
        f"{line(in_one_phrase(people), 200)} labeled up to {labels:,} of the {rows:,} judged "
        "answers behind a number. Corrected numbers use these labels, and the judge on the rest. "
        "Their intervals contain the errors of both, those of the raw numbers only the draw of "
        "questions and answers."
    ]
    if told := [e for e in map(judge_effect, numbers) if e not in (DASH, "unknown")]:
        moved = sum(e != NO_EFFECT and not e.startswith("(") for e in told)
        texts.append(
            f"The judge's errors moved {moved} of the {len(told)} corrected numbers in this table "
            "by more than the draw of labels explains."
        )
    for of, what in (
        ("undrawn", "labels, because nobody knows how their answers were drawn."),
        ("elsewhere", "labels, because this run does not have their answers."),
    ):
        if most := max(getattr(one, of) for one in numbers):
            texts.append(f"Left out of a number: up to {most:,} {what}")
    return texts + draw_notes(numbers)


def draw_notes(numbers: Sequence[CorrectedNumber]) -> list[str]:
    """Return why labels may be no random sample: items without a verdict, and an unknown draw."""
    most = [max((getattr(one, of) for one in numbers), default=0) for of in UNLABELED]
    each = zip(UNLABELED.values(), most, strict=True)
    counts = in_one_phrase([f"{what} up to {number:,}" for what, number in each if number])
    told = f"Of the drawn items behind a corrected number, people {counts}: if these are the hard "
    texts = [f"{told}ones, corrected numbers are wrong."] if counts else []
    if chosen := sum(not one.drawn for one in numbers):
        texts.append(
            f"Behind {chosen} of the {len(numbers)} numbers, nobody knows how the labeled answers "
            "were drawn. They count as a random sample; if somebody chose them, the corrected "
            "numbers are wrong."
        )
    return texts


def halving_sentence(one: CorrectedNumber, words: Words) -> str:
    """Return how many labels would halve the interval of a number; "" where that is not known."""
    of = words.of(one.raw.where)
    name = words.metrics.named(one.raw.name).shown_symbol + f" ({of})" * bool(of)
    if one.halved_by is not None:
        return (
            f"To halve the interval of {name}, the run needs about {one.halved_by:,} labels in "
            f"all; it has {one.labels:,}."
        )
    if one.gain is None:
        return ""
    return (
        f"No number of labels halves the interval of {name}: with a label on every answer it would "
        "still be more than half as wide. Ask about more entities."
    )


def _is_clear(one: CorrectedNumber) -> bool:
    """Tell whether the judge moved a number by more than the draw of labels explains."""
    e = one.effect
    return e is not None and e.low is not None and e.high is not None and not e.low <= 0 <= e.high


def judge_effect(one: CorrectedNumber) -> str:
    """Return in words what the judge did to a number: "lower by 0.06", "lower by 6.3 pp".

    pp: percentage points.

    In parentheses where the draw of labels may explain it, "unknown" where nothing says whether.
    """
    raw, corrected = one.raw.value, one.corrected.value
    if raw is None or corrected is None or is_bare(one.raw) or is_bare(one.corrected):
        return DASH
    gap = raw - corrected
    shown = [metric_value(one.raw.name, value).removeprefix("+") for value in (abs(gap), 0.0)]
    unit = " pp" if shown[0].endswith("%") else ""
    size, nothing = (text.removesuffix("%").strip() for text in shown)
    if size in (nothing, f"<{nothing[:-1]}1"):
        return NO_EFFECT
    if one.effect is None or one.effect.low is None:
        return "unknown"
    said = f"{'higher' if gap > 0 else 'lower'} by {size}{unit}"
    return said if _is_clear(one) else f"({said})"


def render_corrected(
    numbers: Sequence[CorrectedNumber],
    words: Words,
    console: Console,
    main: Collection[NumberName] = (),
) -> None:
    """Print corrected numbers beside the raw ones; with ``main`` only those, by name and slice."""
    if not numbers:
        return
    shown = [one for one in numbers if not main or (one.raw.name, one.raw.where) in main]
    console.print()
    render_table(corrected_table(shown, words), console)
    for text in corrected_sentences(shown or numbers):
        say(console, text, "dim")
    if more := len(numbers) - len(shown):
        say(console, f"The page shows {more} more (sayso report).", "dim")


def by_place(numbers: Sequence[CorrectedNumber]) -> dict[NumberName, CorrectedNumber]:
    """Return the corrected numbers that have an interval, by name and slice."""
    return {(n.raw.name, n.raw.where): n for n in numbers if n.corrected.low is not None}


def corrected_pairs(
    before: Sequence[CorrectedNumber], after: Sequence[CorrectedNumber]
) -> dict[NumberName, tuple[CorrectedNumber, CorrectedNumber]]:
    """Return the numbers that labels of people correct in both of two runs."""
    second = by_place(after)
    return {
        place: (one, second[place]) for place, one in by_place(before).items() if place in second
    }


def corrected_differences(
    before: Sequence[CorrectedNumber], after: Sequence[CorrectedNumber], words: Words
) -> Section:
    """Return how the corrected numbers of two runs differ; empty where one has none."""

    def gap(pair: tuple[CorrectedNumber, CorrectedNumber]) -> str:
        e = difference_of_corrected(*pair)
        return tight(f"{difference_value(e)} {difference_range(e)}".strip())

    columns: dict[str, Callable[[tuple[CorrectedNumber, CorrectedNumber]], Entry]] = {
        "A": lambda pair: pair[0].corrected,
        "B": lambda pair: pair[1].corrected,
        "B minus A": gap,
    }
    rows = {
        (words.metrics.named(name).shown_symbol, words.of(where)): pair
        for (name, where), pair in corrected_pairs(before, after).items()
    }
    notes = [GAPS, *draw_notes([one for pair in rows.values() for one in pair])]
    caption = "The numbers of both runs, and how they differ"
    table = grid(caption, rows, columns, lambda pair, of: of(pair), labels=("", "of"), notes=notes)
    return Section("corrected", "Corrected by labels of people", [table])


def difference_of_corrected(before: CorrectedNumber, after: CorrectedNumber) -> Estimate:
    """Return after minus before of two corrected numbers, with an interval.

    That of independent estimates (:func:`sayso.metrics.joint.independent_interval`). Runs on the
    same questions are not independent: where their errors go the same way, as usual, it is too
    wide. ``None`` where one is undefined.
    """
    a, b = after.corrected, before.corrected
    gap = None if a.value is None or b.value is None else a.value - b.value
    ends = None if gap is None else independent_interval(b, a)
    low, high = ends or (None, None)
    problem = None if ends else a.problem or b.problem or "one of the two has no interval"
    return Estimate(after.raw.name, after.raw.where, gap, low, high, n=a.n + b.n, problem=problem)

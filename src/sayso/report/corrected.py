"""Numbers of the judge beside those that people's labels correct: a table, and what it says.

The interval of a raw number is of sampling alone: it says nothing of a judge that misreads answers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.text import Text

from sayso.harmless import line
from sayso.metric import MetricTable
from sayso.metrics.correction import LEAST_GAIN, judge_counts
from sayso.metrics.joint import independent_interval
from sayso.records import CorrectedNumber, Estimate, Slice
from sayso.report.differences import difference_range, difference_value
from sayso.report.numbers import (
    DASH,
    interval,
    is_bare,
    metric_value,
    ratio_counts,
    shown_value,
    shown_whole,
)
from sayso.report.tables import Table, TableCell, tight
from sayso.report.terminal import FoldedTable, say
from sayso.storage.run_folder import CORRECTED, LABELS, RunFolder

#: the name and slice of a number
NumberName = tuple[str, Slice]
HEAD = ("", "of", "judge", "corrected", "labels alone", "judge made it", "one label is worth")
#: what a judge did to a number that it did not move
NO_EFFECT = "no different"
CHANCE = "In parentheses: the draw of labels may explain it."
GROUPED = (
    "If labels were drawn by groups of the judge's verdicts, as by default, the labels alone use "
    "these verdicts too. What a label is worth compares with labels drawn at random."
)
#: names of numbers above which a note counts them
MANY_NAMES = 5
#: disagreements below which an interval allows for errors that no label shows
SHOWN = 2
GAPS = (
    "The intervals contain the errors of both judges. The runs count as independent, so intervals "
    "of differences are usually too wide."
)
CAPTION = "Numbers by the judge, corrected by labels of people, and by the labels alone"


class CorrectedPart(NamedTuple):
    """What a page says of corrected numbers; nothing where there are none."""

    sentences: Sequence[str] = ()
    table: Table = Table("", [], [], [])


#: of a run whose answers nobody labeled
NOT_CORRECTED = CorrectedPart()
#: of a run with labels that its numbers were not corrected by yet
NOT_YET = CorrectedPart(
    (
        "There may be labels of people in this run's folder. This page was written without them. "
        "Run sayso report on the folder to add the corrected numbers.",
    )
)


def stored_corrected(folder: RunFolder) -> list[CorrectedNumber] | None:
    """Return the corrected numbers that a run stores; ``None`` where they must be computed.

    What is stored is of today's labels and numbers: new labels (``LabelStore``) and new numbers
    (:meth:`RunFolder.write`) delete the table, and a labels file that is newer than it, such as one
    that somebody copied here, is not what it was made of. Where nobody labeled anything there are
    none.
    """
    table = folder.path / f"{CORRECTED}.parquet"
    labels = [folder.path / name for name in (LABELS, f"{LABELS}-wal")]
    written = [one.stat() for one in labels if one.is_file()]
    if not any(one.st_size for one in written):
        return []
    if table.is_file() and table.stat().st_mtime_ns < max(
        one.st_mtime_ns for one in written if one.st_size
    ):
        return None
    return folder.read(CORRECTED, CorrectedNumber) if folder.has(CORRECTED) else None


def corrected_part(
    folder: RunFolder, metrics: MetricTable, part_label: Callable[[str, str], str]
) -> CorrectedPart:
    """Return sentences and a table of a run's corrected numbers."""
    numbers = stored_corrected(folder)
    if numbers is None:
        return NOT_YET
    if not numbers:
        return NOT_CORRECTED
    rows: list[list[TableCell]] = []
    for one in numbers:
        name = metrics.named(one.raw.name).titled
        of = ", ".join(part_label(key, value) for key, value in one.raw.where)
        cells = map(_cell, (one.raw, one.corrected, one.alone))
        rows.append(
            [
                TableCell(name, head=True),
                TableCell(of, style="left"),
                *cells,
                TableCell(judge_effect(one)),
                TableCell(worth(one), "" if worth(one) == DASH else "alone"),
            ]
        )
    notes = [CHANCE, GROUPED, *_cautious(numbers, metrics, part_label)]
    bare = _without_interval(numbers, metrics, part_label)
    table = Table(CAPTION, list(HEAD), rows, [*notes, *bare], "labels-2")
    return CorrectedPart(corrected_sentences(numbers), table)


def _cell(e: Estimate) -> TableCell:
    parts = [] if is_bare(e) else [interval(e), ratio_counts(e)]
    return TableCell(shown_value(e), " ".join(tight(part) for part in parts if part))


def _cautious(
    numbers: Sequence[CorrectedNumber], metrics: MetricTable, part_label: Callable[[str, str], str]
) -> Iterator[str]:
    """Yield which intervals allow for errors of the judge that no label shows."""
    names = [
        _named_with_part(one, metrics, part_label)
        for one in numbers
        if one.corrected.low is not None and one.power and one.disagreements < SHOWN
    ]
    if names:
        which = ", ".join(names)
        if len(names) > MANY_NAMES:
            which = f"{len(names)} of {len(numbers)} numbers"
        yield (
            f"{which}: people and judge differ on none or one of the labels that count. "
            "None seen is no proof of none, so the intervals allow for two."
        )


def _named_with_part(
    one: CorrectedNumber, metrics: MetricTable, part_label: Callable[[str, str], str]
) -> str:
    of = ", ".join(part_label(key, value) for key, value in one.raw.where)
    name = metrics.named(one.raw.name).shown_symbol
    return f"{name} ({of})" if of else name


def _without_interval(
    numbers: Sequence[CorrectedNumber], metrics: MetricTable, part_label: Callable[[str, str], str]
) -> Iterator[str]:
    """Yield a sentence for each reason for which corrected numbers have no interval."""
    reasons: dict[str, list[str]] = {}
    for one in numbers:
        if one.corrected.low is None:
            why = one.corrected.problem or "no interval"
            reasons.setdefault(why, []).append(_named_with_part(one, metrics, part_label))
    for why, names in reasons.items():
        yield f"{', '.join(names)}: {line(why, 200)}."
    gaps = {
        metrics.named(one.raw.name).shown_symbol
        for one in numbers
        if any(map(is_bare, (one.raw, one.corrected, one.alone)))
    }
    if gaps:
        yield f"{', '.join(sorted(gaps))}: shown only with an interval."


def corrected_sentences(numbers: Sequence[CorrectedNumber]) -> list[str]:
    """Return by whose labels numbers are corrected, what that means, and what the judge did."""
    people = sorted({name for one in numbers for name in one.annotators})
    labels = max(one.labels for one in numbers)
    rows = max(one.rows for one in numbers)
    shown = ", ".join(line(name, 40) for name in people[:5])
    more = f" and {len(people) - 5} more" if len(people) > 5 else ""
    who = f"{shown}{more}"
    texts = [
        f"People ({who}) labeled up to {labels:,} of the {rows:,} judged answers behind a number. "
        "Corrected numbers use these labels and the verdicts of the judge on the rest. "
        "Their intervals contain the errors of both, those of the raw numbers only the draw of "
        "questions and answers."
    ]
    known = [one for one in numbers if one.effect is not None and one.effect.low is not None]
    if known:
        texts.append(
            f"The judge's errors moved {sum(map(_is_clear, known))} of {len(known)} numbers by "
            "more than the draw of labels explains."
        )
    judged = [one for one in numbers if judge_counts(one.labels, one.rows)]
    idle = sum(one.gain is not None and one.gain < LEAST_GAIN for one in judged)
    if idle:
        texts.append(
            f"For {idle} of {len(judged)} numbers this judge is not worth it: with its verdicts, "
            f"one label is worth less than {LEAST_GAIN} labels alone."
        )
    undrawn = _most([one.undrawn for one in numbers])
    if undrawn:
        texts.append(
            f"{undrawn} left out: nobody knows how their answers were drawn, so they say nothing "
            "about the others."
        )
    elsewhere = _most([one.elsewhere for one in numbers])
    if elsewhere:
        texts.append(f"{elsewhere} of answers that this run does not have.")
    chosen = sum(not one.drawn for one in numbers)
    if chosen:
        part = f"Behind {chosen} of the {len(numbers)} numbers, nobody"
        texts.append(
            f"{part if chosen < len(numbers) else 'Nobody'} knows how the labeled answers were "
            "drawn. They count as a random sample; if somebody chose them, the corrected numbers "
            "are wrong."
        )
    return texts


def _most(counts: Sequence[int]) -> str:
    """Return a count of labels of each number: "up to" the largest where they differ; "" for 0."""
    if not any(counts):
        return ""
    most = max(counts)
    some = "" if len(set(counts)) == 1 else "For some numbers, up to "
    return f"{some}1 label is" if most == 1 else f"{some}{most:,} labels are"


def halving_sentence(
    one: CorrectedNumber, metrics: MetricTable, part_label: Callable[[str, str], str]
) -> str:
    """Return how many labels would halve the interval of a number; "" where that is not known."""
    name = _named_with_part(one, metrics, part_label)
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

    In parentheses where the draw of labels may explain it.
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
    said = f"{'higher' if gap > 0 else 'lower'} by {size}{unit}"
    return said if _is_clear(one) else f"({said})"


def worth(one: CorrectedNumber) -> str:
    """Return how many labels alone one corrected label is worth."""
    told = one.gain is not None and judge_counts(one.labels, one.rows)
    return f"{one.gain:.2f} labels" if told else DASH


def render_corrected(
    numbers: Sequence[CorrectedNumber],
    metrics: MetricTable,
    part_label: Callable[[str, str], str],
    console: Console,
    main: Collection[NumberName] = (),
) -> None:
    """Print corrected numbers beside the raw ones; with ``main`` only those, by name and slice."""
    if not numbers:
        return
    shown = [one for one in numbers if not main or (one.raw.name, one.raw.where) in main]
    table = FoldedTable(box=SIMPLE_HEAD, show_edge=False)
    for place, head in enumerate(HEAD[:-1]):
        table.add_column(head, justify="left" if place in (0, 1) else "right")
    for one in shown:
        of = ", ".join(part_label(key, value) for key, value in one.raw.where)
        values = (shown_whole(e) for e in (one.raw, one.corrected, one.alone))
        name = metrics.named(one.raw.name).shown_symbol
        cells = (name, of, *values, judge_effect(one))
        table.add_row(*(Text(line(cell, 200)) for cell in cells))
    console.print()
    say(console, "Corrected by labels of people", "bold")
    console.print(table)
    for text in (CHANCE, GROUPED, *_cautious(shown, metrics, part_label)):
        say(console, text, "dim")
    for text in _without_interval(shown, metrics, part_label):
        say(console, text, "dim")
    for text in corrected_sentences(shown or numbers):
        say(console, text, "dim")
    if len(shown) < len(numbers):
        more = len(numbers) - len(shown)
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


def render_corrected_differences(
    before: Sequence[CorrectedNumber],
    after: Sequence[CorrectedNumber],
    metrics: MetricTable,
    part_label: Callable[[str, str], str],
    console: Console,
) -> None:
    """Print how the corrected numbers of two runs differ; nothing where one has none."""
    pairs = corrected_pairs(before, after)
    if not pairs:
        return
    table = FoldedTable(box=SIMPLE_HEAD, show_edge=False)
    for place, head in enumerate(("", "of", "A", "B", "B minus A")):
        table.add_column(head, justify="left" if place < 2 else "right")
    for (name, where), pair in pairs.items():
        gap = difference_of_corrected(*pair)
        shown = f"{difference_value(gap)} {difference_range(gap)}".strip()
        sides = (shown_whole(one.corrected) for one in pair)
        of = ", ".join(part_label(key, value) for key, value in where)
        cells = (metrics.named(name).shown_symbol, of, *sides, shown)
        table.add_row(*(Text(line(cell, 200)) for cell in cells))
    console.print()
    say(console, "Corrected by labels of people", "bold")
    console.print(table)
    say(console, GAPS, "dim")


def difference_of_corrected(before: CorrectedNumber, after: CorrectedNumber) -> Estimate:
    """Return after minus before of two corrected numbers, with an interval.

    That of independent estimates (:func:`sayso.metrics.joint.independent_interval`). Runs on the
    same questions are not independent: where their errors go the same way, as usual, it is too
    wide. ``None`` where one is undefined.
    """
    a, b = after.corrected, before.corrected
    name, where = after.raw.name, after.raw.where
    if a.value is None or b.value is None:
        problem = a.problem or b.problem or "one of the two has no value"
        return Estimate(name, where, problem=problem)
    gap, n = a.value - b.value, a.n + b.n
    ends = independent_interval(b, a)
    if ends is None:
        problem = a.problem or b.problem or "one of the two has no interval"
        return Estimate(name, where, value=gap, n=n, problem=problem)
    low, high = ends
    return Estimate(name, where, value=gap, low=low, high=high, n=n)

"""A page is declared once: a sentence, tiles, a chart, and tables under the questions they answer.

A terminal prints the beginning of a sheet, a page all of it (:mod:`sayso.report.page`). Each number
is told once: in a tile or in a table, and only those of the headline in a sentence too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup
from rich.console import Console

from sayso.harmless import line
from sayso.records import Estimate, signature_text
from sayso.report.answers import QuestionCard
from sayso.report.charts import Maker
from sayso.report.figures import Figure, figure_of
from sayso.report.number_tables import Entry, NumberTable, grid, render_table, value_text
from sayso.report.numbers import DASH, bounds, interval, is_gap
from sayso.report.opening import NO_EXAMPLES, ChosenExamples, PageOpening
from sayso.report.terminal import (
    judge_sentences,
    plain_table,
    print_what_was_run,
    safe_text,
    say,
)
from sayso.storage.run_folder import Manifest

#: cautions that a terminal prints; the page has them all
FEW_CAUTIONS = 4
#: columns of the main table whose intervals a terminal prints beside them
SIDE_BY_SIDE = 3


class Tile(NamedTuple):
    """A number beside the sentence, of each form or method: what it is of ("": all), and itself."""

    label: str
    values: Sequence[tuple[str, Estimate]]

    @property
    def shown(self) -> list[tuple[str, str, str]]:
        """What each value is of, the value, and of a difference its interval."""
        return [
            (of, value_text(e, "own", 0), interval(e) if is_gap(e.name) else "")
            for of, e in self.values
        ]


@dataclass(frozen=True, eq=False)
class Chart:
    """A chart to be drawn: its name, who draws it in a width, what is seen, what stands below."""

    name: str
    make: Maker
    label: str
    caption: str

    @cached_property
    def figure(self) -> Figure | None:
        """The drawing; ``None`` where there is nothing to draw."""
        return figure_of(self.name, self.make, self.label)


class Section(NamedTuple):
    """A part of a page: the question that it answers, and its tables, charts and sentences.

    ``html`` is what no table or chart can show, such as marked texts. A page opens the first one.
    """

    id: str
    title: str
    tables: Sequence[NumberTable] = ()
    charts: Sequence[Chart] = ()
    text: Sequence[str] = ()
    html: Markup = Markup()

    @property
    def held(self) -> bool:
        """Whether there is anything to show; charts are drawn to find that out."""
        told = any(table.rows for table in self.tables) or self.text or self.html
        return bool(told) or any(chart.figure is not None for chart in self.charts)


class HowRead(NamedTuple):
    """How often the answers' reader is right on texts like these, and whose labeled texts say so.

    Without sentences nothing is known of it, or nobody read the answers but people.
    """

    sentences: Sequence[str] = ()
    texts: Sequence[str] = ()


class Sheet(NamedTuple):
    """All that is shown of numbers.

    ``question`` is the heading, ``opening`` the sentence with the cautions of the run, ``main`` the
    table that is read first and that a terminal prints, ``cautions`` those of the numbers.
    ``named`` are the numbers whose signatures are listed; ``terms`` explains words that no table
    does.
    """

    question: str
    opening: PageOpening
    tiles: Sequence[Tile] = ()
    chart: Chart | None = None
    main: NumberTable | None = None
    sections: Sequence[Section] = ()
    cautions: Sequence[str] = ()
    reader: HowRead = HowRead()
    named: Sequence[tuple[str, Estimate]] = ()
    terms: Sequence[tuple[str, str]] = ()
    method: str = ""

    @property
    def parts(self) -> list[Section]:
        """The sections that hold anything, that of the main table first."""
        first = [self.main] if self.main is not None else []
        return [s for s in (Section("numbers", "The numbers", first), *self.sections) if s.held]

    @property
    def charts(self) -> list[Chart]:
        """Every chart, in the order of the page."""
        first = [self.chart] if self.chart is not None else []
        return [*first, *(chart for section in self.sections for chart in section.charts)]

    @property
    def signatures(self) -> list[tuple[str, str]]:
        """Names and signatures of the numbers that have one."""
        found = ((name, signature_text(e.signature)) for name, e in self.named)
        return [(name, line(text, 1_500)) for name, text in found if text]


class StoredAnswers(NamedTuple):
    """What a page shows of a run's stored answers, besides the numbers."""

    examples: ChosenExamples = NO_EXAMPLES
    cards: Sequence[QuestionCard] = ()
    sections: Sequence[Section] = ()


def main_numbers(sheet: Sheet, estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return the estimates to read first: those of the main table, then of the tiles, each once.

    What was not computed is left out.
    """
    table = [e for _, entries in sheet.main.rows for e in entries] if sheet.main is not None else []
    shown = [*table, *(e for tile in sheet.tiles for _, e in tile.values)]
    places = dict.fromkeys((e.name, e.where) for e in shown if isinstance(e, Estimate))
    held = {(e.name, e.where): e for e in estimates}
    return [held[place] for place in places if place in held]


def missing_section(named: Sequence[tuple[str, Estimate]]) -> Section:
    """Return how many verdicts behind numbers are missing, and how far these could move."""
    rows = {name: e for name, e in named if e.missing}
    columns = {head: head for head in ("missing", "as printed", "lowest, highest")}

    def find(e: Estimate, head: str) -> Entry:
        if head == "as printed":
            return e
        return f"{e.missing:,}" if head == "missing" else bounds(e) or DASH

    table = grid("Numbers with missing verdicts", rows, columns, find)
    text = [
        "What rests on a verdict that could not be read is left out of the printed numbers. The "
        "last column counts it in, whatever the verdict would be; the printed number can lie "
        "outside, as it is of fewer answers."
    ]
    title = "How far could missing verdicts move this?"
    return Section("missing", title, [table], (), text if rows else ())


def render_sheet(
    sheet: Sheet,
    console: Console,
    manifest: Manifest | None = None,
    page: Path | None = None,
    *,
    verbose: bool = False,
) -> None:
    """Print the sentence, the tiles, the main table, cautions and the page: one screen.

    With ``verbose`` also every caution, sentence, table and signature of the page.
    """
    opening = sheet.opening
    first, later = list(opening.first), [*opening.later, *sheet.cautions]
    few = len(first) + len(later) if verbose else FEW_CAUTIONS
    console.print()
    for text in first[:few]:
        say(console, f"! {text}", "bold yellow")
    say(console, opening.sentence, "bold")
    print_what_was_run(console, manifest)
    _print_tiles(sheet.tiles, console)
    if sheet.main is not None and sheet.main.rows:
        console.print()
        render_table(sheet.main, console, compact=len(sheet.main.columns) > SIDE_BY_SIDE)
    for section in sheet.sections if verbose else ():
        tables = [table for table in section.tables if table.rows]
        if tables or section.text:
            console.print()
            say(console, section.title, "bold")
        for text in section.text:
            say(console, text, "")
        for number, table in enumerate(tables):
            if number or section.text:
                console.print()
            render_table(table, console)
    console.print()
    for text in later[: max(0, few - len(first))]:
        say(console, f"! {text}", "yellow")
    if (left := len(first) + len(later) - few) > 0:
        say(console, f"! {left} more on the page and with --verbose.", "yellow")
    for text in sheet.reader.sentences if verbose else sheet.reader.sentences[:1]:
        say(console, text, "dim")
    for text in judge_sentences(manifest) if verbose else ():
        say(console, text, "dim")
    if opening.not_shown:
        say(console, f"What this does not show: {opening.not_shown}", "dim")
    for name, text in sheet.signatures if verbose else ():
        say(console, f"{name}: {text}", "dim", copied=True)
    if page is not None:
        say(console, f"report     {line(str(page))}", "", copied=True)


class ShownRun(NamedTuple):
    """A run among others of one model: its protocol, its sheet, and where its page is."""

    name: str
    sheet: Sheet
    page: Path


def render_runs(
    runs: Sequence[ShownRun], manifest: Manifest, console: Console, index: Path | None
) -> None:
    """Print the sentence and the tiles of several runs of one model, and their common page."""
    console.print()
    print_what_was_run(console, manifest)
    for run in runs:
        console.print()
        say(console, f"{run.sheet.question} ({run.name})", "bold cyan")
        cautions = [*run.sheet.opening.first, *run.sheet.opening.later]
        if cautions:
            many = f"{len(cautions)} cautions, the first:" if cautions[1:] else "caution:"
            say(console, f"! {many} {line(cautions[0], 300)}", "yellow")
        say(console, run.sheet.opening.sentence, "bold")
        _print_tiles(run.sheet.tiles, console)
        say(console, f"report     {line(str(run.page))}", "", copied=True)
    if index is not None:
        console.print()
        say(console, f"all of them {line(str(index))}", "bold", copied=True)


def _print_tiles(tiles: Sequence[Tile], console: Console) -> None:
    """Print the tiles as rows: what each is, then its values."""
    heads = list(dict.fromkeys(of for tile in tiles for of, _ in tile.values))
    table = plain_table()
    table.show_header = heads != [""]
    for head in ("", *heads):
        table.add_column(safe_text(head, console, "dim"), justify="left")
    for tile in tiles:
        held = dict(tile.values)
        cells = (" ".join(_tile_parts(held[of])) if of in held else "" for of in heads)
        table.add_row(*(safe_text(cell, console, "bold") for cell in (tile.label, *cells)))
    if tiles:
        console.print(table)


def _tile_parts(e: Estimate) -> Iterator[str]:
    yield value_text(e, "own", 0)
    if is_gap(e.name) and (ends := interval(e)):
        yield ends

"""Tables of numbers in every format that people carry them away in: page, terminal, CSV, Markdown,
LaTeX, JSON.

A number keeps its interval and the reason why it is undefined in each of them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as RichTable

from sayso.records import Estimate
from sayso.report.charts import Maker
from sayso.report.numbers import DASH, MINUS, json_text, line, plain
from sayso.report.tables import Cell, Table, tight
from sayso.report.terminal import data, plain_table, say
from sayso.storage.outputs import cell

#: a number, a text, or nothing
Entry = Estimate | str | None
#: numbers from here on are written without decimals
LARGE = 100
#: characters of a name in a cell
LONGEST = 80


class NumberTable(NamedTuple):
    """Rows of numbers: labels first, then an entry for each column.

    ``name`` is the name of its files, ``caption`` says what stands there and where it comes from.
    ``percent``: numbers are written as percentages.
    """

    name: str
    caption: str
    labels: tuple[str, ...]
    columns: tuple[str, ...]
    rows: Sequence[tuple[tuple[str, ...], tuple[Entry, ...]]]
    notes: tuple[str, ...] = ()
    percent: bool = False
    #: draws the table in a width, on the page
    chart: Maker | None = None


def value_text(entry: Entry, percent: bool = False) -> str:
    """Return an entry without its interval; a dash where there is nothing."""
    if entry is None:
        return DASH
    if isinstance(entry, str):
        return line(entry, LONGEST)
    if entry.value is None:
        return DASH
    if percent:
        return f"{100 * entry.value:.1f}".replace("-", MINUS)
    return plain(entry.value) if abs(entry.value) < LARGE else f"{entry.value:,.0f}"


def range_text(entry: Entry, percent: bool = False) -> str:
    """Return the interval of an entry in brackets; nothing where there is none."""
    if not isinstance(entry, Estimate) or entry.low is None or entry.high is None:
        return ""
    if entry.value is None:
        return ""
    if percent:
        ends = (f"{100 * end:.1f}".replace("-", MINUS) for end in (entry.low, entry.high))
    else:
        ends = (plain(end) for end in (entry.low, entry.high))
    return f"[{', '.join(ends)}]"


def rank_text(rank: tuple[int, int] | None) -> str:
    """Return the ranks that a model can have: "1", or "1-3" where it is tied with others."""
    if rank is None:
        return ""
    return str(rank[0]) if rank[0] == rank[1] else f"{rank[0]}–{rank[1]}"


def reasons(table: NumberTable) -> list[str]:
    """Return why numbers are undefined, a line for each reason: in which columns, of which rows."""
    found: dict[str, list[tuple[str, str]]] = {}
    for labels, entries in table.rows:
        for column, entry in zip(table.columns, entries, strict=True):
            if isinstance(entry, Estimate) and entry.value is None:
                row = line(" · ".join(label for label in labels if label), LONGEST)
                found.setdefault(entry.problem or "not computed", []).append((column, row))
    notes = []
    for why, places in found.items():
        columns = list(dict.fromkeys(line(column, LONGEST) for column, _ in places))
        rows = list(dict.fromkeys(row for _, row in places))
        of = rows[0] if len(rows) == 1 else f"{len(rows)} of {len(table.rows)} rows"
        more = f" and {len(columns) - 4} more" if columns[4:] else ""
        notes.append(f"{DASH} {', '.join(columns[:4])}{more} ({of}): {line(why, 200)}")
    return notes


def without_interval(table: NumberTable) -> list[str]:
    """Return why numbers have no interval, a line for each reason."""
    found: dict[str, int] = {}
    for _, entries in table.rows:
        for e in entries:
            if isinstance(e, Estimate) and e.value is not None and e.low is None and e.problem:
                found[e.problem] = found.get(e.problem, 0) + 1
    return [
        f"{count} number{'' if count == 1 else 's'} without an interval: "
        f"{line(why.removeprefix('no interval: '), 200)}"
        for why, count in found.items()
    ]


def notes_of(table: NumberTable) -> list[str]:
    """Return the notes of a table, and why numbers or intervals are missing."""
    return [*table.notes, *reasons(table), *without_interval(table)]


def page_table(table: NumberTable) -> Table:
    """Return a table of the page."""
    rows = []
    for labels, entries in table.rows:
        cells = [Cell(line(label, LONGEST), head=True) for label in labels]
        cells += [
            Cell(value_text(e, table.percent), tight(range_text(e, table.percent))) for e in entries
        ]
        rows.append(cells)
    notes = notes_of(table)
    style = f"labels-{len(table.labels)}" if len(table.labels) > 1 else ""
    return Table(table.caption, [*table.labels, *table.columns], rows, notes, style)


def render(table: NumberTable, console: Console, *, compact: bool = False) -> None:
    """Print a table; a ``compact`` one drops intervals that would not fit, and says so."""
    say(console, table.caption, "bold")
    grid = _grid(table, console, intervals=True)
    free = console.options.update(max_width=10_000)
    wide = compact and Measurement.get(console, free, grid).maximum > console.width
    console.print(_grid(table, console, intervals=False) if wide else grid)
    if wide and any(range_text(e) for _, entries in table.rows for e in entries):
        say(console, "Intervals: in a wider terminal, on the page, in the tables' files.", "dim")
    for note in notes_of(table):
        say(console, note, "dim")


def _grid(table: NumberTable, console: Console, *, intervals: bool) -> RichTable:
    grid = plain_table()
    for label in table.labels:
        grid.add_column(data(label, console))
    for column in table.columns:
        grid.add_column(data(line(column, LONGEST), console), justify="right")
        if intervals:
            grid.add_column("", no_wrap=True, style="dim")
    for labels, entries in table.rows:
        cells = [data(line(label, LONGEST), console) for label in labels]
        for entry in entries:
            cells.append(data(value_text(entry, table.percent), console))
            if intervals:
                cells.append(data(range_text(entry, table.percent), console))
        grid.add_row(*cells)
    return grid


# ---- files


def csv_text(table: NumberTable) -> str:
    """Return a table as CSV: each number with its interval, sample size and problem."""
    of_numbers = [
        not any(isinstance(entries[place], str) for _, entries in table.rows)
        for place in range(len(table.columns))
    ]
    head = [*table.labels]
    for column, numbers in zip(table.columns, of_numbers, strict=True):
        head += [column]
        head += [f"{column} {part}" for part in ("low", "high", "n", "problem")] if numbers else []
    rows = []
    for labels, entries in table.rows:
        row: list[object] = list(labels)
        for entry, numbers in zip(entries, of_numbers, strict=True):
            if not numbers:
                row.append(entry)
            elif isinstance(entry, Estimate):
                row += [entry.value, entry.low, entry.high, entry.n, entry.problem]
            else:
                row += [entry, None, None, None, None]
        rows.append(row)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    written: list[list[object]] = [[*head], *rows]
    writer.writerows([cell(value) for value in row] for row in written)
    return text.getvalue()


def markdown_text(table: NumberTable) -> str:
    """Return a table as Markdown, its caption above and its notes below it."""

    def row(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cells)} |"

    lines = [_markdown(table.caption), ""]
    lines += [row([_markdown(head) for head in (*table.labels, *table.columns)])]
    lines += [row([*("---" for _ in table.labels), *("--:" for _ in table.columns)])]
    lines += [row([_markdown(text) for text in cells]) for cells in _written(table)]
    notes = [_markdown(note) for note in notes_of(table)]
    return "\n".join([*lines, *(["", *notes] if notes else [])]) + "\n"


def latex_text(table: NumberTable) -> str:
    """Return a table as LaTeX for the package booktabs."""
    align = "l" * len(table.labels) + "r" * len(table.columns)
    heads = " & ".join(_latex(head) for head in (*table.labels, *table.columns))
    body = [" & ".join(map(_latex, cells)) + r" \\" for cells in _written(table)]
    notes = [f"% {line(note)}" for note in notes_of(table)]
    label = "".join(c if c.isalnum() else "-" for c in table.name)
    return "\n".join(
        [
            r"\begin{table}", r"\centering", rf"\caption{{{_latex(table.caption)}}}",
            rf"\label{{tab:{label}}}", r"\small",
            rf"\begin{{tabular}}{{{align}}}", r"\toprule", heads + r" \\", r"\midrule", *body,
            r"\bottomrule", r"\end{tabular}", r"\end{table}", *notes, "",
        ]
    )  # fmt: skip


def json_rows(table: NumberTable) -> str:
    """Return a table as JSON: caption, notes, and a record for each number with its labels."""
    records = [
        {
            **dict(zip(table.labels, labels, strict=True)),
            "column": column,
            **(
                {"value": e.value, "low": e.low, "high": e.high, "n": e.n, "problem": e.problem}
                if isinstance(e, Estimate)
                else {"text": e}
            ),
        }
        for labels, entries in table.rows
        for column, e in zip(table.columns, entries, strict=True)
    ]
    return json_text({"caption": table.caption, "notes": table.notes, "rows": records}) + "\n"


#: how a table is written, by the suffix of its file
WRITERS: dict[str, Callable[[NumberTable], str]] = {
    "csv": csv_text,
    "md": markdown_text,
    "tex": latex_text,
    "json": json_rows,
}


def _written(table: NumberTable) -> Iterator[list[str]]:
    """Yield the cells of each row, numbers with their intervals."""
    for labels, entries in table.rows:
        cells = [line(label, LONGEST) for label in labels]
        yield cells + [
            f"{value_text(e, table.percent)} {range_text(e, table.percent)}".strip()
            for e in entries
        ]


_MARKDOWN = str.maketrans({c: f"\\{c}" for c in "\\`*_{}[]<>#|~!"})
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
        "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
        MINUS: "$-$", DASH: "--", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
        "·": r"$\cdot$",
    }
)  # fmt: skip


def _markdown(text: str) -> str:
    """Return a text whose signs mean nothing to Markdown, on one line."""
    return line(text).translate(_MARKDOWN)


def _latex(text: str) -> str:
    """Return a text whose signs mean nothing to LaTeX, on one line."""
    return line(text).translate(_LATEX)

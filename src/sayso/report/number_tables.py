"""Tables of numbers in every format that people carry them away in: page, terminal, CSV, Markdown,
LaTeX, JSON.

A number keeps its interval and the reason why it is undefined in each of them.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as RichTable

from sayso.records import Estimate, InputError
from sayso.report.charts import Maker
from sayso.report.notebook import data_frame, html_table
from sayso.report.numbers import DASH, GAPS, MINUS, is_bare, json_text, line, plain
from sayso.report.tables import Cell, Table, tight
from sayso.report.terminal import data, plain_table, say
from sayso.storage.outputs import cell

#: a number, a text, or nothing
Entry = Estimate | str | None
#: numbers from here on are written without decimals
LARGE = 100
#: characters of a name in a cell
LONGEST = 80
#: labels of rows that do not compare with each other, and what a caption calls them
WITHIN = {"data": "data set", "domain": "domain", "bin": "bin", "correlation": "correlation"}
#: ends the caption of a table with intervals
WITH_INTERVAL = " [95 % interval]"


class NumberTable(NamedTuple):
    """Rows of numbers: labels first, then an entry for each column.

    ``name`` is the name of its files, ``caption`` says what stands there, ``source`` whose layout
    it has. ``percent``: numbers are written as percentages. ``groups`` are names above so many
    columns, which are then called as in ``short``; ``best`` says of each column whether more is
    better (``None``: neither).
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
    source: str = ""
    groups: tuple[tuple[str, int], ...] = ()
    short: tuple[str, ...] = ()
    best: tuple[bool | None, ...] = ()

    @property
    def title(self) -> str:
        """The caption, and whose layout it is."""
        return f"{self.caption} {self.source}".strip()

    def to_latex(self, intervals: str = "brackets", best: bool = True) -> str:
        """Return the table as LaTeX for the package booktabs.

        ``intervals`` are "brackets", "plusminus" (half their width) or "none"; with ``best`` the
        best value of a column is bold, and all that are equally good. Raises InputError.
        """
        return latex_text(self, intervals, best)

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        return markdown_text(self)

    def to_pandas(self) -> Any:
        """Return the table as a ``pandas.DataFrame``: a row for each row, with its labels.

        A number has columns for its interval too, named as in the CSV file. Raises InputError where
        pandas is not installed.
        """
        head, *rows = _flat(self)
        return data_frame([dict(zip(head, row, strict=True)) for row in rows], head)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        rows = [
            (
                *labels,
                *(f"{value_text(e, self.percent)} {range_text(e, self.percent)}" for e in entries),
            )
            for labels, entries in self.rows
        ]
        return html_table(self.title, (*self.labels, *self.columns), rows, notes=notes_of(self))


def value_text(entry: Entry, percent: bool = False) -> str:
    """Return an entry without its interval; a dash where there is nothing."""
    if entry is None:
        return DASH
    if isinstance(entry, str):
        return line(entry, LONGEST)
    if entry.value is None or is_bare(entry):
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
            if isinstance(entry, Estimate) and (entry.value is None or is_bare(entry)):
                row = line(" · ".join(label for label in labels if label), LONGEST)
                why = "no interval" if is_bare(entry) else "not computed"
                found.setdefault(entry.problem or why, []).append((column, row))
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
            if not isinstance(e, Estimate) or is_bare(e):
                continue
            if e.value is not None and e.low is None and e.problem:
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
    return Table(table.title, [*table.labels, *table.columns], rows, notes, style)


def render(table: NumberTable, console: Console, *, compact: bool = False) -> None:
    """Print a table; a ``compact`` one drops intervals that would not fit, and says so.

    Those of J and of the abstention gap then stand below their numbers.
    """
    say(console, table.title, "bold")
    grid = _grid(table, console, intervals=True)
    free = console.options.update(max_width=10_000)
    wide = compact and Measurement.get(console, free, grid).maximum > console.width
    console.print(_grid(table, console, intervals=False) if wide else grid)
    if wide and any(range_text(e) for _, entries in table.rows for e in entries):
        say(console, "For intervals, use a wider terminal, the page or the table files.", "dim")
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
        if not intervals and any(map(_needs_interval, entries)):
            below = (tight(range_text(e)) if _needs_interval(e) else "" for e in entries)
            grid.add_row(*("" for _ in labels), *(data(text, console, "dim") for text in below))
    return grid


def _needs_interval(entry: Entry) -> bool:
    return isinstance(entry, Estimate) and entry.name in GAPS


# ---- files


def csv_text(table: NumberTable) -> str:
    """Return a table as CSV: each number with its interval, sample size and problem."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([cell(value) for value in row] for row in _flat(table))
    return text.getvalue()


def _flat(table: NumberTable) -> list[list[Any]]:
    """Return the head and the rows of a table in which a number takes five columns."""
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
    return [head, *rows]


def markdown_text(table: NumberTable) -> str:
    """Return a table as Markdown, its caption above and its notes below it."""

    def row(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cells)} |"

    lines = [_markdown(table.title), ""]
    lines += [row([_markdown(head) for head in (*table.labels, *table.columns)])]
    lines += [row([*("---" for _ in table.labels), *("--:" for _ in table.columns)])]
    lines += [row([_markdown(text) for text in cells]) for cells in _written(table)]
    notes = [_markdown(note) for note in notes_of(table)]
    return "\n".join([*lines, *(["", *notes] if notes else [])]) + "\n"


#: how intervals stand in a LaTeX table
INTERVALS = ("brackets", "plusminus", "none")
#: what a caption of a LaTeX table says of them
ABOUT_INTERVALS = {
    "brackets": "Brackets are 95 % intervals.",
    "plusminus": "± is half the width of the 95 % interval.",
    "none": "",
}
ABOUT_BEST = "Bold is the best value of a column."
ABOUT_BEST_OF = "Bold is the best value of a column for each {}."


def latex_text(table: NumberTable, intervals: str = "brackets", best: bool = True) -> str:
    """Return a table as LaTeX for the package booktabs.

    ``intervals`` are "brackets", "plusminus" (half their width) or "none"; with ``best`` the best
    value of a column is bold: what is best as it is written, and all that are equally good, where
    the table knows whether more is better. Raises InputError.
    """
    if intervals not in INTERVALS:
        raise InputError(f"intervals {line(str(intervals), 40)!r}: expected {_listed(INTERVALS)}")
    bold = _best(table) if best else set()
    body = []
    for r, (labels, entries) in enumerate(table.rows):
        cells = [_latex(line(label, LONGEST)) for label in labels]
        cells += [
            _latex_entry(entry, table.percent, intervals, (r, c) in bold)
            for c, entry in enumerate(entries)
        ]
        body.append(" & ".join(cells) + r" \\")
    drawn = any(range_text(e) for _, entries in table.rows for e in entries)
    within = [WITHIN[label] for label in table.labels if label in WITHIN]
    about_best = ABOUT_BEST_OF.format(" and ".join(within)) if within else ABOUT_BEST
    sentences = [
        table.caption.removesuffix(WITH_INTERVAL).rstrip(".") + ".",
        ABOUT_INTERVALS[intervals] if drawn else "",
        about_best if bold else "",
    ]
    caption = _latex(" ".join(sentence for sentence in sentences if sentence))
    notes = [f"% {line(note)}" for note in (*filter(None, [table.source]), *notes_of(table))]
    label = "".join(c if c.isascii() and c.isalnum() else "-" for c in table.name)
    align = "l" * len(table.labels) + "r" * len(table.columns)
    return "\n".join(
        [
            r"\begin{table}", r"\centering", rf"\caption{{{caption}}}", rf"\label{{tab:{label}}}",
            r"\small", rf"\begin{{tabular}}{{{align}}}", r"\toprule", *_latex_heads(table),
            r"\midrule", *body, r"\bottomrule", r"\end{tabular}", r"\end{table}", *notes, "",
        ]
    )  # fmt: skip


def _latex_heads(table: NumberTable) -> Iterator[str]:
    """Yield the lines of the head: the groups of columns with their rules, and the columns."""
    labels, columns = [_latex(text) for text in table.labels], table.columns
    if table.groups:
        cells, rules, first = ["" for _ in labels], [], len(labels) + 1
        for name, count in table.groups:
            if name:
                cells.append(rf"\multicolumn{{{count}}}{{c}}{{{_latex(name)}}}")
                rules.append(rf"\cmidrule(lr){{{first}-{first + count - 1}}}")
            else:
                cells += [""] * count
            first += count
        yield " & ".join(cells) + r" \\"
        yield " ".join(rules)
        columns = table.short
    yield " & ".join([*labels, *(_latex(column) for column in columns)]) + r" \\"


def _latex_entry(entry: Entry, percent: bool, intervals: str, bold: bool) -> str:
    """Return an entry as a cell of a LaTeX table."""
    value = _latex(value_text(entry, percent))
    value = rf"\textbf{{{value}}}" if bold else value
    reach = range_text(entry, percent)
    if intervals == "none" or not reach:
        return value
    if intervals == "brackets":
        return f"{value} {_latex_number(reach)}"
    assert isinstance(entry, Estimate)
    assert entry.low is not None
    assert entry.high is not None
    half = (entry.high - entry.low) / 2
    return rf"{value} $\pm$ {f'{100 * half:.1f}' if percent else plain(half)}"


def _best(table: NumberTable) -> set[tuple[int, int]]:
    """Return (row, column) of the best values as they are written, among rows that compare.

    Rows of other data, domains and the like do not compare. None is best where all are equal.
    """
    places = [n for n, label in enumerate(table.labels) if label in WITHIN]
    found: set[tuple[int, int]] = set()
    for c, more in enumerate(table.best):
        groups: dict[tuple[str, ...], list[tuple[float, int]]] = {}
        for r, (labels, entries) in enumerate(table.rows):
            entry = entries[c]
            if more is None or not isinstance(entry, Estimate) or entry.value is None:
                continue
            shown = round(100 * entry.value, 1) if table.percent else round(entry.value, 2)
            key = tuple(labels[n] for n in places)
            groups.setdefault(key, []).append((shown if more else -shown, r))
        for values in groups.values():
            top = max(value for value, _ in values)
            if min(value for value, _ in values) < top:
                found |= {(r, c) for value, r in values if value == top}
    return found


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
    return json_text({"caption": table.title, "notes": table.notes, "rows": records}) + "\n"


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
_LATEX = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "[": "{[}", "]": "{]}",
    "`": r"\textasciigrave{}", "*": r"{*}",
    MINUS: "$-$", DASH: "--", "—": "---", "·": r"$\cdot$", "×": r"$\times$", "≥": r"$\geq$",
    "≤": r"$\leq$", "→": r"$\rightarrow$", "±": r"$\pm$", "≈": r"$\approx$", "°": r"$^\circ$",
    "µ": r"$\mu$", "‘": "`", "’": "'", "“": "``", "”": "''", "…": r"\dots{}",
    "•": r"\textbullet{}",
    "\N{NO-BREAK SPACE}": "~", "\N{NARROW NO-BREAK SPACE}": "~", "\N{NON-BREAKING HYPHEN}": "-",
}  # fmt: skip
#: letters of Latin alphabets that LaTeX sets as they are, in its usual encodings
_LATIN = frozenset(
    "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿŒœŠšŽžŁłĆćČčŃńŚśŹźŻżŘřŮůĚě"
)
#: signs that LaTeX would join
_JOINED = re.compile(r"(?<=[-,'`!?<>])(?=[-,'`])")


def _markdown(text: str) -> str:
    """Return a text whose signs mean nothing to Markdown, on one line."""
    return line(text).translate(_MARKDOWN)


def _latex(text: str) -> str:
    """Return a text whose signs mean nothing to LaTeX, on one line.

    A letter that LaTeX has no sign for in its usual encodings stands as its number.
    """
    parts = _JOINED.split(line(text))
    return "{}".join("".join(_latex_sign(sign) for sign in part) for part in parts)


def _latex_sign(sign: str) -> str:
    if sign in _LATEX:
        return _LATEX[sign]
    if sign.isascii() or sign in _LATIN:
        return sign
    return rf"\texttt{{U+{ord(sign):04X}}}"


def _latex_number(text: str) -> str:
    """Return a number or an interval of ours."""
    return text.replace(MINUS, "$-$")


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"

"""Tables of numbers in every format that people carry them away in: page, terminal, CSV, Markdown,
LaTeX, JSON.

A number keeps its interval and the reason why it is undefined in each of them.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as RichTable

from sayso.harmless import line
from sayso.records import Estimate, InputError
from sayso.report.charts import Maker
from sayso.report.notebook import data_frame, html_table
from sayso.report.numbers import (
    DASH,
    MINUS,
    difference_range,
    difference_value,
    interval,
    is_bare,
    is_gap,
    json_text,
    plain_number,
    ratio_counts,
    shown_value,
    tight,
    why_undefined,
)
from sayso.report.terminal import plain_table, safe_text, say
from sayso.storage.outputs import export_cell

#: a number, a text, or nothing
Entry = Estimate | str | None
#: how numbers are written: .61, as a percentage (61.3), each in its own notation with its counts,
#: or with its sign, as a difference is
Written = Literal["plain", "percent", "own", "difference"]
Label = TypeVar("Label", bound="str | tuple[str, ...]")
Row = TypeVar("Row")
Column = TypeVar("Column")
#: numbers from here on are written without decimals
LARGE = 100
#: characters of a name, and of a text in a cell
LONGEST, LONGEST_TEXT = 80, 400
#: labels of rows that do not compare with each other, and what a caption calls them
WITHIN = {"data": "data set", "domain": "domain", "bin": "bin", "correlation": "correlation"}
#: ends the caption of a table with intervals
WITH_INTERVAL = " [95 % interval, sampling error only]"
#: the same, where labels of people correct some of the numbers
ERRORS = "sampling error, and of corrected numbers also the errors of the judge"
CORRECTED_INTERVAL = f" [95 % interval: {ERRORS}]"


class NumberTable(NamedTuple):
    """Rows of numbers: labels first, then an entry for each column.

    ``name`` is the name of its files, ``caption`` says what stands there, ``source`` whose layout
    it has; ``written`` says how numbers are written. ``groups`` are names above so many columns,
    which are then called as in ``short``; ``best`` says of each column whether more is better
    (``None``: neither).
    """

    name: str
    caption: str
    labels: tuple[str, ...]
    columns: tuple[str, ...]
    rows: Sequence[tuple[tuple[str, ...], tuple[Entry, ...]]]
    notes: tuple[str, ...] = ()
    written: Written = "plain"
    #: draws the table in a width, on the page
    chart: Maker | None = None
    source: str = ""
    groups: tuple[tuple[str, int], ...] = ()
    short: tuple[str, ...] = ()
    best: tuple[bool | None, ...] = ()
    #: names of columns or rows, and what each means
    meanings: tuple[tuple[str, str], ...] = ()

    @property
    def title(self) -> str:
        """The caption, and whose layout it is."""
        return f"{self.caption} {self.source}".strip()

    def to_latex(self, intervals: str = "brackets", best: bool = True) -> str:
        """Return the table as LaTeX for the packages booktabs and graphicx.

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
        return self.to_html()

    def to_html(self, cautions: Sequence[str] = ()) -> str:
        """Return the table as a notebook shows it, below what must be read first."""
        rows = [
            (
                *labels,
                *(f"{value_text(e, self.written)} {range_text(e, self.written)}" for e in entries),
            )
            for labels, entries in self.rows
        ]
        heads = (*self.labels, *self.columns)
        return html_table(self.title, heads, rows, cautions=cautions, notes=notes_of(self))


def grid(
    caption: str,
    rows: Mapping[Label, Row],
    columns: Mapping[str, Column],
    find: Callable[[Row, Column], Entry],
    *,
    labels: tuple[str, ...] = ("",),
    name: str = "",
    written: Written = "own",
    meanings: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> NumberTable:
    """Return a table of what ``find`` says of each row in each column.

    A row of which nothing was computed is left out.
    """
    found = []
    for label, row in rows.items():
        entries = tuple(find(row, column) for column in columns.values())
        if any(entry is not None for entry in entries):
            found.append((label if isinstance(label, tuple) else (label,), entries))
    shown = {name for own, _ in found for name in own} | {*columns}
    means = tuple((one, text) for one, text in (meanings or {}).items() if one in shown)
    return NumberTable(
        name, caption, labels, tuple(columns), found, tuple(notes) if found else (), written,
        meanings=means,
    )  # fmt: skip


def value_text(entry: Entry, written: Written = "plain", decimals: int = 1) -> str:
    """Return an entry without its interval; a dash where there is nothing.

    ``decimals`` are those of percentages in numbers' own notation.
    """
    if entry is None:
        return DASH
    if isinstance(entry, str):
        return line(entry, LONGEST_TEXT)
    if entry.value is None or is_bare(entry):
        return DASH
    if written == "own":
        return shown_value(entry, decimals)
    if written == "difference":
        return difference_value(entry)
    if written == "percent":
        return f"{100 * entry.value:.1f}".replace("-", MINUS)
    return plain_number(entry.value) if abs(entry.value) < LARGE else f"{entry.value:,.0f}"


def range_text(entry: Entry, written: Written = "plain", decimals: int = 1) -> str:
    """Return the interval of an entry in brackets; nothing where there is none.

    In numbers' own notation the counts of a share stand behind it.
    """
    if not isinstance(entry, Estimate) or entry.value is None or is_bare(entry):
        return ""
    if written == "own":
        return f"{interval(entry, decimals)} {ratio_counts(entry)}".strip()
    if written == "difference":
        return difference_range(entry)
    if entry.low is None or entry.high is None:
        return ""
    if written == "percent":
        ends = (f"{100 * end:.1f}".replace("-", MINUS) for end in (entry.low, entry.high))
    else:
        ends = (plain_number(end) for end in (entry.low, entry.high))
    return f"[{', '.join(ends)}]"


def rank_text(rank: tuple[int, int] | None) -> str:
    """Return the ranks that a model can have: "1", or "1-3" where it is tied with others."""
    if rank is None:
        return ""
    return str(rank[0]) if rank[0] == rank[1] else f"{rank[0]}–{rank[1]}"


def undefined_reasons(table: NumberTable) -> list[str]:
    """Return why numbers are undefined, a line for each reason: in which columns, of which rows."""
    found: dict[str, list[tuple[str, str]]] = {}
    for labels, entries in table.rows:
        for column, entry in zip(table.columns, entries, strict=True):
            if isinstance(entry, Estimate) and (entry.value is None or is_bare(entry)):
                row = line(" · ".join(label for label in labels if label), LONGEST)
                found.setdefault(why_undefined(entry), []).append((column, row))
    notes = []
    for why, places in found.items():
        columns = list(dict.fromkeys(line(column, LONGEST) for column, _ in places))
        rows = list(dict.fromkeys(row for _, row in places))
        of = rows[0] if len(rows) == 1 else f"{len(rows)} of {len(table.rows)} rows"
        more = f" and {len(columns) - 4} more" if columns[4:] else ""
        notes.append(
            f"No value ({DASH}) for {', '.join(columns[:4])}{more} ({of}): {line(why, 200)}"
        )
    return notes


def without_interval(table: NumberTable) -> list[str]:
    """Return why numbers have no interval, in one line: reasons without their details."""
    found: Counter[str] = Counter()
    for _, entries in table.rows:
        for e in entries:
            if not isinstance(e, Estimate) or is_bare(e):
                continue
            if e.value is not None and e.low is None and e.problem:
                why = e.problem.removeprefix("no interval: ")
                found[line(re.split(": |, so ", why)[0], 200)] += 1
    whys = (f"{why} ({n})" if len(found) > 1 else why for why, n in found.items())
    count = found.total()
    said = f"{count} number{'' if count == 1 else 's'} without an interval: {'; '.join(whys)}"
    return [said] if count else []


def notes_of(table: NumberTable) -> list[str]:
    """Return the notes of a table, and why numbers or intervals are missing."""
    return [*table.notes, *undefined_reasons(table), *without_interval(table)]


def page_rows(table: NumberTable) -> list[tuple[list[tuple[str, str]], list[tuple[str, str]]]]:
    """Return the rows of a table of the page: labels, then numbers, each with what is below it."""
    means = dict(table.meanings)
    return [
        (
            [(line(label, LONGEST), means.get(label, "")) for label in labels],
            [(value_text(e, table.written), tight(range_text(e, table.written))) for e in entries],
        )
        for labels, entries in table.rows
    ]


def render_table(table: NumberTable, console: Console, *, compact: bool = False) -> None:
    """Print a table; a ``compact`` one drops intervals that would not fit, and says so.

    Those of J and of the abstention gap then stand below their numbers.
    """
    if table.title:
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
    """Return a table for the terminal; a column without any interval has none beside it."""
    ends = [[range_text(e, table.written, 0) for e in entries] for _, entries in table.rows]
    beside = [intervals and any(column) for column in zip(*ends, strict=True)]
    grid = plain_table()
    for label in table.labels:
        grid.add_column(safe_text(label, console))
    for at, (column, ranged) in enumerate(zip(table.columns, beside, strict=True)):
        texts = (e for _, entries in table.rows if isinstance(e := entries[at], str))
        worded = any(len(re.findall(r"[^\W\d]{2,}", text)) > 2 for text in texts)
        head = safe_text(line(column, LONGEST), console)
        grid.add_column(head, justify="left" if worded else "right")
        if ranged:
            grid.add_column("", no_wrap=True, style="dim")
    for (labels, entries), own in zip(table.rows, ends, strict=True):
        cells = [safe_text(line(label, LONGEST), console) for label in labels]
        for entry, ranged, text in zip(entries, beside, own, strict=True):
            cells.append(safe_text(value_text(entry, table.written, 0), console))
            cells += [safe_text(text, console)] if ranged else []
        grid.add_row(*cells)
        below = [
            tight(text) if isinstance(e, Estimate) and is_gap(e.name) else ""
            for e, text in zip(entries, own, strict=True)
        ]
        if not intervals and any(below):
            grid.add_row(
                *("" for _ in labels), *(safe_text(text, console, "dim") for text in below)
            )
    return grid


# ---- files


def csv_text(table: NumberTable) -> str:
    """Return a table as CSV: each number with its interval, sample size and problem."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([export_cell(value) for value in row] for row in _flat(table))
    return text.getvalue()


def _flat(table: NumberTable) -> list[list[Any]]:
    """Return the head and the rows of a table in which a number takes five columns.

    A column of numbers may hold a text, such as "" where nothing is compared.
    """
    columns = [[entries[place] for _, entries in table.rows] for place in range(len(table.columns))]
    of_numbers = [
        any(isinstance(e, Estimate) for e in column) or not any(isinstance(e, str) for e in column)
        for column in columns
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
    "brackets": "Brackets are 95 % intervals (sampling error only).",
    "plusminus": "± is half the width of the 95 % interval (sampling error only).",
    "none": "",
}
ABOUT_BEST = "Bold is the best value of a column."
ABOUT_BEST_OF = "Bold is the best value of a column for each {}."


def latex_text(table: NumberTable, intervals: str = "brackets", best: bool = True) -> str:
    """Return a table as LaTeX for the packages booktabs and graphicx.

    A table of a few columns is a ``table``, a wider one a ``table*``; one that is wider than the
    line is shrunk to it (package graphicx). ``intervals`` are "brackets", "plusminus" (half
    their width) or "none", below the values; with ``best`` the best value of a column is bold: what
    is best as it is written, and all that are equally good, where the table knows whether more is
    better. Raises InputError.
    """
    if intervals not in INTERVALS:
        known = f"{', '.join(INTERVALS[:-1])} or {INTERVALS[-1]}"
        raise InputError(f"intervals {line(str(intervals), 40)!r}: expected {known}")
    bold = _best(table) if best else set()
    drawn = any(range_text(e) for _, entries in table.rows for e in entries)
    within = [WITHIN[label] for label in table.labels if label in WITHIN]
    about_best = ABOUT_BEST_OF.format(" and ".join(within)) if within else ABOUT_BEST
    about = ABOUT_INTERVALS[intervals] if drawn else ""
    if table.caption.endswith(CORRECTED_INTERVAL):
        about = about.replace("sampling error only", ERRORS)
    sentences = [
        table.caption.removesuffix(WITH_INTERVAL).removesuffix(CORRECTED_INTERVAL).rstrip(".")
        + ".",
        "; ".join(f"{sign}: {meaning}" for sign, meaning in table.meanings)
        + "." * bool(table.meanings),
        about,
        about_best if bold else "",
    ]
    caption = latex(" ".join(sentence for sentence in sentences if sentence))
    notes = [f"% {line(note)}" for note in (*filter(None, [table.source]), *notes_of(table))]
    label = "".join(c if c.isascii() and c.isalnum() else "-" for c in table.name)
    heads = table.short if table.groups else table.columns
    rows = [
        (
            [line(label, LONGEST) for label in labels],
            [_latex_cell(e, table.written, intervals, (r, c) in bold) for c, e in enumerate(es)],
        )
        for r, (labels, es) in enumerate(table.rows)
    ]
    kind = "table" if len(heads) < BOTH_COLUMNS else "table*"
    return "\n".join(
        [
            rf"\begin{{{kind}}}", r"\centering", rf"\caption{{{caption}}}",
            rf"\label{{tab:{label}}}", r"\small", FITTED,
            *_tabular(LatexGrid(table.labels, heads, rows, table.groups)), "}",
            rf"\end{{{kind}}}", *notes, "",
        ]
    )  # fmt: skip


def _latex_cell(entry: Entry, written: Written, intervals: str, bold: bool) -> LatexCell:
    """Return an entry as a cell of a LaTeX table, its interval below it."""
    value, reach = value_text(entry, written), range_text(entry, written)
    if intervals == "none" or not reach:
        return LatexCell(value, bold=bold)
    if intervals == "brackets":
        return LatexCell(value, reach, bold)
    assert isinstance(entry, Estimate)
    assert entry.low is not None
    assert entry.high is not None
    half = (entry.high - entry.low) / 2
    text = f"{100 * half:.1f}" if written == "percent" else plain_number(half)
    return LatexCell(value, f"± {text}", bold)


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
            percent = table.written == "percent"
            shown = round(100 * entry.value, 1) if percent else round(entry.value, 2)
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
            f"{value_text(e, table.written)} {range_text(e, table.written)}".strip()
            for e in entries
        ]


_MARKDOWN = str.maketrans({c: f"\\{c}" for c in "\\`*_{}[]<>#|~!"})


def _markdown(text: str) -> str:
    """Return a text whose signs mean nothing to Markdown, on one line."""
    return line(text).translate(_MARKDOWN)


# ---- LaTeX: escaped signs, and a tabular that is no wider than the line

#: columns of numbers from which a table takes both columns of a paper
BOTH_COLUMNS = 5
#: shrinks what is wider than the line, and leaves all else as it is (package graphicx)
FITTED = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"

_SIGNS = {
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


class LatexCell(NamedTuple):
    """A cell: its text, and a smaller one below it."""

    text: str
    below: str = ""
    bold: bool = False


class LatexGrid(NamedTuple):
    """Names of rows and columns of numbers; ``groups`` are names above so many columns each."""

    labels: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[tuple[Sequence[str], Sequence[LatexCell]]]
    groups: Sequence[tuple[str, int]] = ()


def latex(text: str) -> str:
    """Return a text whose signs mean nothing to LaTeX, on one line.

    A letter that LaTeX has no sign for in its usual encodings stands as its number.
    """
    parts = _JOINED.split(line(text))
    return "{}".join("".join(_latex_sign(sign) for sign in part) for part in parts)


def _latex_sign(sign: str) -> str:
    if sign in _SIGNS:
        return _SIGNS[sign]
    if sign.isascii() or sign in _LATIN:
        return sign
    return rf"\texttt{{U+{ord(sign):04X}}}"


def _tabular(grid: LatexGrid) -> Iterator[str]:
    """Yield the lines of a tabular, each interval below its value."""
    yield rf"\begin{{tabular}}{{{'l' * len(grid.labels)}{'r' * len(grid.columns)}}}"
    yield r"\toprule"
    yield from _group_lines(grid)
    yield _latex_row([latex(text) for text in (*grid.labels, *grid.columns)])
    yield r"\midrule"
    deep = any(cell.below for _, cells in grid.rows for cell in cells)
    for number, (names, cells) in enumerate(grid.rows):
        if number and deep:
            yield r"\addlinespace[2pt]"
        texts = (rf"\textbf{{{latex(c.text)}}}" if c.bold else latex(c.text) for c in cells)
        yield _latex_row([*map(latex, names), *texts])
        if any(cell.below for cell in cells):
            below = (rf"\scriptsize {latex(c.below)}" if c.below else "" for c in cells)
            yield _latex_row([*("" for _ in names), *below])
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _group_lines(grid: LatexGrid) -> Iterator[str]:
    """Yield the names of groups above their columns, and their rules."""
    cells, rules, first = [""] * len(grid.labels), [], len(grid.labels) + 1
    for name, count in grid.groups:
        cells.append(rf"\multicolumn{{{count}}}{{c}}{{{latex(name)}}}")
        rules += [rf"\cmidrule(lr){{{first}-{first + count - 1}}}"] if name else []
        first += count
    if grid.groups:
        yield _latex_row(cells)
    if rules:
        yield " ".join(rules)


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"

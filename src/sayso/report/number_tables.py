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
                *(f"{value_text(e, self.written)} {range_text(e, self.written)}" for e in entries),
            )
            for labels, entries in self.rows
        ]
        return html_table(self.title, (*self.labels, *self.columns), rows, notes=notes_of(self))


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
    grid = plain_table()
    for label in table.labels:
        grid.add_column(safe_text(label, console))
    for column in table.columns:
        grid.add_column(safe_text(line(column, LONGEST), console), justify="right")
        if intervals:
            grid.add_column("", no_wrap=True, style="dim")
    for labels, entries in table.rows:
        cells = [safe_text(line(label, LONGEST), console) for label in labels]
        for entry in entries:
            cells.append(safe_text(value_text(entry, table.written, 0), console))
            if intervals:
                cells.append(safe_text(range_text(entry, table.written, 0), console))
        grid.add_row(*cells)
        if not intervals and any(map(_needs_interval, entries)):
            below = (tight(range_text(e)) if _needs_interval(e) else "" for e in entries)
            grid.add_row(
                *("" for _ in labels), *(safe_text(text, console, "dim") for text in below)
            )
    return grid


def _needs_interval(entry: Entry) -> bool:
    return isinstance(entry, Estimate) and is_gap(entry.name)


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
    """Return a table as LaTeX for the package booktabs.

    A table that one column of a two-column paper holds is a ``table``, a wider one a ``table*``;
    one that is wider than a page is set in parts. ``intervals`` are "brackets", "plusminus" (half
    their width) or "none", below the values; with ``best`` the best value of a column is bold: what
    is best as it is written, and all that are equally good, where the table knows whether more is
    better. Raises InputError.
    """
    if intervals not in INTERVALS:
        raise InputError(f"intervals {line(str(intervals), 40)!r}: expected {_listed(INTERVALS)}")
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
        _definitions(table),
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
    size, width, tabular = tabulars(LatexGrid(table.labels, heads, rows, table.groups))
    kind = "table" if width <= COLUMN else "table*"
    return "\n".join(
        [
            rf"\begin{{{kind}}}", r"\centering", rf"\caption{{{caption}}}",
            rf"\label{{tab:{label}}}", rf"\{size}",
            rf"\setlength{{\tabcolsep}}{{{SIZES[size][1]:g}pt}}", *tabular, rf"\end{{{kind}}}",
            *notes, "",
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


def _definitions(table: NumberTable) -> str:
    """Return what the symbols in the heads of columns mean, as one sentence."""
    return "; ".join(f"{symbol}: {meaning}" for symbol, meaning in table.meanings) + "." * bool(
        table.meanings
    )


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


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


# ---- LaTeX: escaped signs, how wide a line is set, and tabulars that fit a page
#
# Widths are those of Computer Modern; Times and most other fonts are narrower.

#: points between the margins of the class ``article`` on one column, and of one of two columns
PAGE, COLUMN = 345.0, 229.0
#: points that the names of rows may take together, and a word of a head or the name of a group
NAMES, HEAD, GROUP = 150.0, 52.0, 60.0
#: sizes of the letters of a table, in points, each with the space beside a column
SIZES = {"small": (9.0, 4.0), "footnotesize": (8.0, 3.0)}
#: letters of an interval below its value
SCRIPT = 7.0
#: where a name may be broken
_BREAKS = re.compile(r"(?<=[ @+:/_\-,])")

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
#: thousandths of the size of the letters -> the letters that are as wide
_WIDE = {
    280: ".,:;'`!|[]ijl", 335: "- ftrs()", 445: "cez?I", 530: "agkovxyu0123456789*/\"_–J",
    560: "bdhnpqSF", 690: "EKLPTZRBC", 760: "ADGHNOQUVXY±−+=<>&", 860: "mw%@", 1030: "WM—…",
}  # fmt: skip
_UNITS = {letter: units for units, letters in _WIDE.items() for letter in letters}
#: a letter that has no width here; one that LaTeX lacks is written as its number
_OTHER, _NUMBERED = 600, 3_200


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


def set_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return about how many points wide a text is set in letters of a size."""
    units = sum(
        _UNITS.get(sign, _OTHER if sign.isascii() or sign in _LATIN else _NUMBERED)
        for sign in line(text)
    )
    drawn = 1 + 0.045 * max(0.0, 10 - size)  # small letters are drawn wider
    return units / 1000 * size * drawn * (1.16 if bold else 1.0)


def broken(text: str, size: float, most: float) -> list[str]:
    """Return a text in lines of at most ``most`` points, broken after a space or a sign."""
    lines = [""]
    for part in _BREAKS.split(line(text)):
        if lines[-1] and set_width((lines[-1] + part).rstrip(), size) > most:
            lines.append("")
        for sign in part:
            if lines[-1] and set_width((lines[-1] + sign).rstrip(), size) > most:
                lines.append("")
            lines[-1] += sign
    return [one.strip() for one in lines if one.strip()] or [""]


def tabulars(grid: LatexGrid) -> tuple[str, float, list[str]]:
    """Return the size of the letters, the width in points, and the lines of one or more tabulars.

    A table that is too wide for a page is set smaller, and then in parts below each other, each
    with the names of the rows.
    """
    tried = {size: _fitted(grid, *measures) for size, measures in SIZES.items()}
    every = range(len(grid.columns))
    fitting = (size for size, fitted in tried.items() if fitted.width(every) <= PAGE)
    size = next(fitting, list(tried)[-1])
    fitted = tried[size]
    parts = _parts(grid, fitted)
    lines: list[str] = []
    for number, part in enumerate(parts):
        lines += [r"\par\medskip"] if number else []
        lines += _tabular(grid, fitted, part)
    return size, max(fitted.width(part) for part in parts), lines


class _Fitted(NamedTuple):
    """Names of rows in lines, heads in lines, and the points of names and of each column."""

    names: list[list[list[str]]]
    heads: list[list[str]]
    columns: list[float]
    label: float
    space: float
    size: float

    def width(self, part: Sequence[int]) -> float:
        return self.label + sum(self.columns[c] + 2 * self.space for c in part)


def _fitted(grid: LatexGrid, size: float, space: float) -> _Fitted:
    """Return a grid in lines, in letters of a size, with ``space`` points beside each column."""
    wanted = [
        max(set_width(text, size) for text in (head, *(labels[n] for labels, _ in grid.rows)))
        for n, head in enumerate(grid.labels)
    ]
    given = _shares(wanted, NAMES)
    names = [
        [broken(text, size, most) for text, most in zip(labels, given, strict=True)]
        for labels, _ in grid.rows
    ]
    label = sum(map(min, wanted, given)) + 2 * space * len(given)
    heads, columns = [], []
    for c, head in enumerate(grid.columns):
        cells = [entries[c] for _, entries in grid.rows]
        own = max((_cell_width(cell, size) for cell in cells), default=0.0)
        lines = broken(head, size, max(own, HEAD))
        heads.append(lines)
        columns.append(max(own, *(set_width(text, size) for text in lines)))
    start = 0
    for name, count in grid.groups:  # the last column of a group takes what its name needs
        lines = broken(name, size, _group_room(columns[start : start + count], space))
        over = max(set_width(text, size) for text in lines)
        columns[start + count - 1] += max(
            0.0, over - sum(columns[start : start + count]) - 2 * space * (count - 1)
        )
        start += count
    return _Fitted(names, heads, columns, label, space, size)


def _cell_width(cell: LatexCell, size: float) -> float:
    return max(set_width(cell.text, size, bold=cell.bold), set_width(cell.below, SCRIPT))


def _group_room(columns: Sequence[float], space: float) -> float:
    return max(GROUP, sum(columns) + 2 * space * (len(columns) - 1))


def _shares(wanted: Sequence[float], room: float) -> list[float]:
    """Return what each gets of a room: what it wants, or as much as others that get less."""
    given = [0.0] * len(wanted)
    left = room
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    for done, n in enumerate(order):
        given[n] = min(wanted[n], left / (len(order) - done))
        left -= given[n]
    return given


def _parts(grid: LatexGrid, fitted: _Fitted) -> list[list[int]]:
    """Return the columns of each tabular: as few as fit, about as wide as each other."""
    fewest = _filled(grid, fitted, PAGE)
    for most in range(int(fitted.label) + 20, int(PAGE), 5):
        parts = _filled(grid, fitted, most)
        if len(parts) == len(fewest) and max(map(fitted.width, parts)) <= PAGE:
            return parts
    return fewest


def _filled(grid: LatexGrid, fitted: _Fitted, most: float) -> list[list[int]]:
    """Return columns in parts of at most ``most`` points; groups stay whole where they fit."""
    units, start = [], 0
    for _, count in grid.groups or [("", 1)] * len(grid.columns):
        unit = list(range(start, start + count))
        units += [unit] if fitted.width(unit) <= PAGE else [[c] for c in unit]
        start += count
    parts: list[list[int]] = [[]]
    for unit in units:
        if parts[-1] and fitted.width([*parts[-1], *unit]) > most:
            parts.append([])
        parts[-1] += unit
    return parts


def _tabular(grid: LatexGrid, fitted: _Fitted, part: Sequence[int]) -> Iterator[str]:
    """Yield the lines of a tabular of some columns."""
    yield rf"\begin{{tabular}}{{{'l' * len(grid.labels)}{'r' * len(part)}}}"
    yield r"\toprule"
    yield from _group_lines(grid, fitted, part)
    heads = [fitted.heads[c] for c in part]
    tall = max((len(head) for head in heads), default=1)
    for at in range(tall):  # heads stand on the rule below them
        own = (head[at - tall + len(head)] if at >= tall - len(head) else "" for head in heads)
        labels = grid.labels if at == tall - 1 else [""] * len(grid.labels)
        yield _latex_row([latex(text) for text in (*labels, *own)])
    yield r"\midrule"
    deep = [
        max([1 + any(cells[c].below for c in part), *map(len, names)])
        for names, (_, cells) in zip(fitted.names, grid.rows, strict=True)
    ]
    for number, (names, (_, cells)) in enumerate(zip(fitted.names, grid.rows, strict=True)):
        if number and max(deep) > 1:
            yield r"\addlinespace[2pt]"
        for at in range(deep[number]):
            labels = [latex(name[at]) if at < len(name) else "" for name in names]
            yield _latex_row([*labels, *(_latex_line(cells[c], at) for c in part)])
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _latex_line(cell: LatexCell, at: int) -> str:
    """Return the first, the second or a later line of a cell."""
    if at == 0:
        return rf"\textbf{{{latex(cell.text)}}}" if cell.bold else latex(cell.text)
    return rf"\scriptsize {latex(cell.below)}" if at == 1 and cell.below else ""


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _group_lines(grid: LatexGrid, fitted: _Fitted, part: Sequence[int]) -> Iterator[str]:
    """Yield the names of groups above the columns of a part, and their rules."""
    if not grid.groups:
        return
    owner = [n for n, (_, count) in enumerate(grid.groups) for _ in range(count)]
    spans: list[tuple[list[str], int]] = []
    for n in dict.fromkeys(owner[c] for c in part):
        own = [c for c in part if owner[c] == n]
        room = _group_room([fitted.columns[c] for c in own], fitted.space)
        spans.append((broken(grid.groups[n][0], fitted.size, room), len(own)))
    tall = max(len(lines) for lines, _ in spans)
    for at in range(tall):
        cells = [""] * len(grid.labels)
        for lines, count in spans:
            text = lines[at - tall + len(lines)] if at >= tall - len(lines) else ""
            if text:
                cells.append(rf"\multicolumn{{{count}}}{{c}}{{{latex(text)}}}")
            else:
                cells += [""] * count
        yield _latex_row(cells)
    rules, first = [], len(grid.labels) + 1
    for lines, count in spans:
        rules += [rf"\cmidrule(lr){{{first}-{first + count - 1}}}"] if lines != [""] else []
        first += count
    if rules:
        yield " ".join(rules)

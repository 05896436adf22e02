"""Answers in files: one reader for all that holds them.

Read are JSONL, JSON, Parquet, CSV and TSV with the columns of :mod:`sayso.datasets.columns`, the
sample logs of lm-evaluation-harness, Inspect's logs, the output of OpenAI's batch
endpoint, results of promptfoo and test runs of DeepEval; where it is wanted, also the published
files of :mod:`sayso.datasets.layouts`. All but the last two tools' are read row by row. What a row
lacks is ``None``; what it has and cannot be used is kept, counted and named in ``problems``, never
dropped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from sayso.datasets import tables
from sayso.datasets.answer_rows import (
    ON_EXPORT,
    OPTION,
    AnswerRow,
    answer_row,
    columns_in,
    is_exported,
    only_samples,
    with_checked_texts,
    with_golds,
)
from sayso.datasets.columns import (
    Reader,
    check_column_map,
    notices_on,
)
from sayso.datasets.layouts import AnswerFileLayout, layout_of
from sayso.datasets.tables import is_text_table, read_document, read_table, suffix_of
from sayso.datasets.tables import whole as clean_row
from sayso.datasets.tools import inspect
from sayso.datasets.tools.batch import read_batch
from sayso.datasets.tools.harness import read_harness
from sayso.datasets.tools.results import deepeval_rows, promptfoo_rows
from sayso.records import InputError

Row = tuple[int, dict[str, object]]
#: Formats that ``--format`` can name.
FORMATS = ("rows", "harness", "inspect", "batch", "promptfoo", "deepeval")
#: Endings of the files that can be read.
SUFFIXES = (*tables.SUFFIXES, ".eval")
#: Endings of files with a row on each line.
LINES = (".jsonl", ".ndjson", ".jsonl.gz")
#: The columns that only the first row of a log has.
SIGNS: dict[str, set[str]] = {
    "harness": {"doc_id", "doc", "resps", "arguments"},
    "batch": {"custom_id", "response"},
}


class OpenAnswers(NamedTuple):
    """An open file: its format, its rows, and notices, which grow while it is read."""

    kind: str
    rows: Iterator[AnswerRow]
    notices: list[str]
    layout: AnswerFileLayout | None = None


def open_answer_file(
    path: Path | str,
    columns: Mapping[str, str] | None = None,
    requests: Path | str | None = None,
    kind: str | None = None,
    golds: Path | str | None = None,
    *,
    reader: Reader = "score",
    known: Collection[str] = (),
) -> OpenAnswers:
    """Open a file of answers; its format follows from its name and first row unless given.

    ``columns`` maps our names to the file's (``{"answer": "response"}``); ``requests`` is the
    input of a batch, which holds the questions; ``golds`` a file of golds by id. ``reader`` is who
    uses the columns, ``known`` are further names that it reads; ``--answers`` also reads known
    layouts. Raises InputError for a file that is none of these, before or while
    it is read.
    """
    wanted = _WantedColumns(check_column_map(columns or {}), reader, known)
    answers = _open(Path(path), wanted, requests, kind)
    answers = answers._replace(rows=map(with_checked_texts, answers.rows))
    if golds is None:
        return answers
    return answers._replace(rows=with_golds(answers.rows, Path(golds), answers.notices))


def columns_in_file(path: Path) -> list[str]:
    """Return the names of the columns of a table, by its first row; none of a file of a tool."""
    suffix = suffix_of(path)
    if suffix not in tables.SUFFIXES:
        return []
    if suffix == ".json" and isinstance(read_document(path), dict):
        return []
    _, row = next(read_table(path))
    return list(map(str, row)) if _kind_of(row, suffix) == "rows" else []


class _WantedColumns(NamedTuple):
    """Which columns are wanted: what the file calls them, by whom, and what else is read."""

    columns: dict[str, str]
    reader: Reader
    known: Collection[str]


def _open(
    path: Path, wanted: _WantedColumns, requests: Path | str | None, kind: str | None
) -> OpenAnswers:
    columns = wanted.columns
    if kind is not None and kind not in FORMATS:
        raise InputError(f"format {kind!r}: expected one of {', '.join(FORMATS)}")
    suffix = suffix_of(path)
    if suffix not in SUFFIXES:
        raise InputError(
            f"{path}: expected a file ending in {', '.join(SUFFIXES)}; convert it to one of these"
        )
    notices: list[str] = []
    if suffix == ".eval" or (kind == "inspect" and suffix != ".json"):
        _only_rows("inspect", columns, requests)
        return OpenAnswers("inspect", inspect.read_eval(path, notices), notices)
    document = read_document(path) if suffix == ".json" else None
    if kind in ("inspect", None) and isinstance(document, dict) and inspect.is_log(document):
        _only_rows("inspect", columns, requests)
        log = inspect.log_in(path, clean_row(document, str(path)))
        return OpenAnswers("inspect", inspect.read(log, notices), notices)
    kind, source = _results(path, kind, document, notices)
    first = next(source)  # every reader refuses an empty file
    source = chain([first], source)
    kind = kind or _kind_of(first[1], suffix)
    layout = layout_of(first[1]) if wanted.reader == "answers" and not columns else None
    if kind == "rows" and layout is not None:
        loose = is_text_table(path)
        rows = (
            answer_row(row, place=f"line {n}", loose=loose) for n, row in laid_out(path, source)
        )
        return OpenAnswers("rows", rows, notices, layout)
    if not SIGNS.get(kind, set()) <= first[1].keys():
        names = ", ".join(map(str, first[1]))[:300]
        raise InputError(f"{path}: --format {kind}, but its first row has {names}")
    if kind in ("rows", "promptfoo", "deepeval"):
        if requests is not None:
            raise InputError(f"{path} is not an output of a batch: requests is only for those")
        notices += only_samples(first[1], columns, path, OPTION)
        notices += tables.notes_on_cells(path)
        loose = is_text_table(path)
        unit = "line" if loose or suffix in LINES else "row"
        notices += [ON_EXPORT] * is_exported(first[1])
        if kind == "rows" and not is_exported(first[1]):
            source = _noticing(source, wanted, notices)
        rows = (
            answer_row(
                row, columns_in(row, columns), f"{unit} {n}", loose=loose, others=wanted.known
            )
            for n, row in source
        )
        return OpenAnswers(kind, rows, notices)
    if kind == "harness":
        _only_rows("harness", columns, requests)
        return OpenAnswers("harness", read_harness(path, source, notices), notices)
    _only_rows("batch", columns, None)
    given = Path(requests) if requests is not None else None
    return OpenAnswers("batch", read_batch(path, source, given, notices), notices)


def _noticing(source: Iterator[Row], wanted: _WantedColumns, notices: list[str]) -> Iterator[Row]:
    """Yield rows; when all were read, add notices on the columns that nobody reads."""
    seen: dict[tuple[str, ...], None] = {}
    for number, row in source:
        seen.setdefault(tuple(row))
        yield number, row
    names = list(dict.fromkeys(name for row in seen for name in row))
    notices += notices_on(names, wanted.columns, wanted.reader, wanted.known)


def laid_out(path: Path, source: Iterator[Row], *, long: bool = False) -> Iterator[Row]:
    """Yield the rows of a published file under our names, those of any other as they are.

    Raises InputError for a file of which nothing can be made, and for a row that is not laid out as
    the first.
    """
    first = next(source)
    layout = layout_of(first[1])
    if layout is not None and (layout.refused or layout.long is not long):
        texts = "its rows are long texts: sayso run self_known --answers FILE"
        other = texts if layout.long else "its rows are short answers and no long texts"
        raise InputError(f"{path} ({layout.name}): {layout.refused or other}")
    for number, row in chain([first], source):
        try:
            yield number, row if layout is None else layout.read(row)
        except (KeyError, TypeError, AttributeError, InputError) as error:
            why = f"no {error}" if isinstance(error, KeyError) else str(error)
            name = layout.name if layout is not None else ""
            raise InputError(f"{path} line {number}: not as {name} has it ({why[:120]})") from None


#: how results of other tools are read
RESULTS = {"promptfoo": promptfoo_rows, "deepeval": deepeval_rows}


def _results(
    path: Path, kind: str | None, document: object, notices: list[str]
) -> tuple[str | None, Iterator[Row]]:
    """Return kind and rows of another tool's results, which a document holds, or of a table."""
    for name, read in RESULTS.items():
        if isinstance(document, dict) and kind in (name, None):
            rows = read(clean_row(document, str(path)), notices)
            if rows is not None and not rows:
                raise InputError(f"{path} contains no results")
            if rows:
                return name, iter(list(enumerate(rows, 1)))
    if kind in RESULTS or kind == "inspect":
        raise InputError(f"{path}: --format {kind}, but it contains none of its results")
    return kind, read_table(path)


def _kind_of(row: Mapping[str, object], suffix: str) -> str:
    if suffix in (*LINES, ".json"):
        for name, signs in SIGNS.items():
            if signs <= row.keys():
                return name
    return "rows"


def _only_rows(kind: str, columns: Mapping[str, str], requests: object) -> None:
    if columns:
        raise InputError(f"--columns is for your own files, and this one is read as {kind!r}")
    if requests is not None:
        raise InputError(f"requests applies to the output of a batch, not to {kind!r}")

"""Answers that a user already has: one reader for every file that holds them.

JSONL, JSON, Parquet, CSV and TSV with the columns of :data:`COLUMNS`, the sample logs of
lm-evaluation-harness, Inspect's ``.eval`` logs, and the output of OpenAI's batch endpoint. All are
read row by row. What a row lacks is ``None``; what it has and cannot be used is kept, counted and
told in ``problems``, never dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from sayso.datasets.answers_golds import with_golds
from sayso.datasets.answers_inspect import read_inspect
from sayso.datasets.answers_logs import is_batch, is_harness, read_batch, read_harness
from sayso.datasets.answers_rows import (
    COLUMNS,
    AnswerRow,
    check_columns,
    row_of,
)
from sayso.datasets.tables import SUFFIXES as TABLES
from sayso.datasets.tables import is_text_table, read_table
from sayso.records import InputError

__all__ = ["COLUMNS", "FORMATS", "AnswerRow", "Answers", "open_answers", "row_of"]

#: Formats that ``--format`` can name.
FORMATS = ("rows", "harness", "inspect", "batch")
#: Endings of the files that can be read.
SUFFIXES = (*TABLES, ".eval")
#: What the first row of a log looks like.
TESTS: dict[str, Callable[[Mapping[str, object]], bool]] = {
    "harness": is_harness,
    "batch": is_batch,
}


class Answers(NamedTuple):
    """An open file: what it is, its rows, and sentences that grow while it is read."""

    kind: str
    rows: Iterator[AnswerRow]
    notices: list[str]


def open_answers(
    path: Path | str,
    columns: Mapping[str, str] | None = None,
    requests: Path | str | None = None,
    kind: str | None = None,
    golds: Path | str | None = None,
) -> Answers:
    """Open a file of answers; its kind is told from its name and first row unless given.

    ``columns`` maps our names to the file's (``{"answer": "response"}``); ``requests`` is the
    input of a batch, which holds the questions; ``golds`` a file of golds by id. Raises InputError
    for a file that is none of these, before or while it is read.
    """
    found = _open(path, columns, requests, kind)
    if golds is None:
        return found
    return found._replace(rows=with_golds(found.rows, Path(golds), found.notices))


def _open(
    path: Path | str,
    columns: Mapping[str, str] | None,
    requests: Path | str | None,
    kind: str | None,
) -> Answers:
    place = Path(path)
    chosen = dict(columns or {})
    check_columns(chosen)
    if kind is not None and kind not in FORMATS:
        raise InputError(f"format {kind!r}: expected one of {', '.join(FORMATS)}")
    suffix = place.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(
            f"{place}: expected a file ending in {', '.join(SUFFIXES)}; convert it to one of these"
        )
    notices: list[str] = []
    if suffix == ".eval" or kind == "inspect":
        _only_rows("inspect", chosen, requests)
        return Answers("inspect", read_inspect(place, notices), notices)
    source = read_table(place)
    first = next(source)  # every reader refuses an empty file
    source = chain([first], source)
    found = kind or _kind_of(first[1], suffix)
    if found in TESTS and not TESTS[found](first[1]):
        names = ", ".join(map(str, first[1]))[:300]
        raise InputError(f"{place}: --format {found}, but its first row has {names}")
    if found == "rows":
        if requests is not None:
            raise InputError(f"{place} is no batch output: --requests says nothing about it")
        _check_first(place, first[1], chosen)
        loose = is_text_table(place)
        unit = "line" if loose or suffix in (".jsonl", ".ndjson") else "row"
        rows = (row_of(row, chosen, f"{unit} {n}", loose=loose) for n, row in source)
        return Answers("rows", rows, notices)
    if found == "harness":
        _only_rows("harness", chosen, requests)
        return Answers("harness", read_harness(place, source, notices), notices)
    _only_rows("batch", chosen, None)
    given = Path(requests) if requests is not None else None
    return Answers("batch", read_batch(place, source, given, notices), notices)


def _kind_of(row: Mapping[str, object], suffix: str) -> str:
    if suffix in (".jsonl", ".ndjson", ".json"):
        for name, test in TESTS.items():
            if test(row):
                return name
    return "rows"


def _only_rows(kind: str, columns: Mapping[str, str], requests: object) -> None:
    if columns:
        raise InputError(f"--columns is for files of your own, and this one is read as {kind!r}")
    if requests is not None:
        raise InputError(f"--requests belongs to the output of a batch, not to {kind!r}")


def _check_first(path: Path, row: Mapping[str, object], columns: Mapping[str, str]) -> None:
    """Refuse a file whose first row has no answers, or lacks a column that was named."""
    names = ", ".join(map(str, row)) or "none"
    for ours, theirs in columns.items():
        if theirs not in row:
            raise InputError(
                f"{path}: --columns {ours}={theirs} names a column that is not there; the file "
                f"has {names[:300]}"
            )
    taken = set(columns.values())
    free = [n for n in ("answer", "samples") if n in columns or (n in row and n not in taken)]
    if not free:
        raise InputError(
            f"{path}: expected a column 'answer' (or 'samples'), got {names[:300]}; name it with "
            "--columns answer=COLUMN"
        )

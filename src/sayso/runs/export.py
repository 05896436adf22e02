"""``sayso.export``: the table of a run's answers as a file for other programs."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from sayso.protocols.answer_table import (
    TABLE,
    AnswerRecord,
    TokenRecord,
    answer_records,
    token_records,
)
from sayso.records import InputError
from sayso.runs.measure import load_run
from sayso.storage.atomic import disk_errors, replacing
from sayso.storage.outputs import check_output, export_cell, separator_of, write_workbook
from sayso.storage.tables import write_parquet

HEADER = list(AnswerRecord.__struct_fields__)
#: a column that only these files have
MARK = "draw_labels"


class ExportedAnswers(NamedTuple):
    """The file that was written, how many rows it has, and how many of its cells were cut."""

    path: Path
    rows: int
    cut: int


def export(
    run: str | PathLike[str], out: str | PathLike[str], *, method: str = "", force: bool = False
) -> ExportedAnswers:
    """Write a finished run's answers to ``out``: .csv, .tsv, .xlsx, .jsonl or .parquet.

    ``run`` is its folder, or the result of ``sayso.run``. A row is a short answer, or an aspect of
    a long text (docs/data.md names the columns); .jsonl and .parquet also keep what is known of
    tokens. ``method`` chooses the answers of one way of asking, such as ``plain``; default: all.
    The run is left as it is. A file that sayso did not write is replaced only with ``force``.
    Raises InputError.
    """
    if not isinstance(out, str | PathLike):
        raise InputError(f"the output file is {out!r:.80}; expected a path")
    target = Path(out)
    writer = WRITERS.get(target.suffix.lower())
    if writer is None:
        log = "; sayso.inspect_ai_tools.export_log writes .eval" if target.suffix == ".eval" else ""
        raise InputError(f"{target}: expected a name ending in {', '.join(WRITERS)}{log}")
    work, _, chosen = load_run(run)
    check_output(target, mark=MARK, command="sayso export", force=force)
    rows: Iterable[AnswerRecord]
    if target.suffix.lower() in OF_TOKENS:
        rows = token_records(work.folder, work.questions, chosen.probing())
    elif work.folder.has(TABLE):
        rows = work.folder.iter(TABLE, AnswerRecord)
    else:  # a run of an older sayso
        rows = answer_records(work.folder, work.questions, chosen.probing())
    count, methods = 0, set[str]()

    def counted() -> Iterable[AnswerRecord]:
        nonlocal count
        for row in rows:
            methods.add(row.method)
            if method in ("", row.method):
                count += 1
                yield row
        if method and not count:
            raise InputError(
                f"{run}: it has no answer of the method {method!r}; it has "
                f"{', '.join(sorted(methods)) or 'none'}"
            )

    with replacing(target) as file:
        cut = writer(file, target, counted())
    return ExportedAnswers(target, count, cut)


def _table(file: IO[bytes], target: Path, rows: Iterable[AnswerRecord]) -> int:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", errors="replace")
    try:
        writer = csv.writer(text, delimiter=separator_of(target))
        with disk_errors(target):
            writer.writerow(HEADER)
        for row in rows:
            cells = [export_cell(value) for value in msgspec.structs.astuple(row)]
            with disk_errors(target):
                writer.writerow(cells)
        with disk_errors(target):
            text.flush()
    except BaseException:
        with contextlib.suppress(OSError):  # it writes what is left
            text.detach()
        raise
    text.detach()  # the file is not ours to close
    return 0


def _workbook(file: IO[bytes], target: Path, rows: Iterable[AnswerRecord]) -> int:
    cells = (map(export_cell, msgspec.structs.astuple(row)) for row in rows)
    with disk_errors(target):
        return write_workbook(file, HEADER, cells, str(target))


def _json_lines(file: IO[bytes], target: Path, rows: Iterable[AnswerRecord]) -> int:
    for row in rows:
        line = json.dumps(msgspec.structs.asdict(row), ensure_ascii=False)
        with disk_errors(target):
            file.write(line.encode("utf-8", "replace") + b"\n")
    return 0


def _parquet(file: IO[bytes], target: Path, rows: Iterable[AnswerRecord]) -> int:
    write_parquet(file, target, rows, TokenRecord)
    return 0


#: endings of files that hold lists of numbers as they are
OF_TOKENS = (".jsonl", ".parquet")
#: ending -> function that writes rows to an open file and returns how many cells it had to cut
WRITERS: dict[str, Callable[[IO[bytes], Path, Iterable[AnswerRecord]], int]] = {
    ".csv": _table,
    ".tsv": _table,
    ".xlsx": _workbook,
    ".jsonl": _json_lines,
    ".parquet": _parquet,
}

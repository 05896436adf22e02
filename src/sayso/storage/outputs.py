"""Files that a user asks for: where they may go, and cells that no spreadsheet runs."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from sayso.records import InputError
from sayso.storage.atomic import is_stream
from sayso.storage.run_folder import is_of_run

#: what makes a spreadsheet run a cell instead of showing it; some take the wide signs for the same
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
#: who made a workbook, in its properties
CREATOR = "sayso"
#: rows in which the mark of a file of ours is looked for, and the longest line that is read for it
MARKED_ROWS, LONGEST_LINE = 1000, 1 << 24


def check_output(
    place: Path, *, mark: str, command: str, force: bool | None = False, name: str = ""
) -> None:
    """Refuse a place that cannot be written into, or that holds a file of somebody else.

    ``mark`` is the column, or of no table the text, by which files of this ``command`` are known;
    with ``force`` they are not looked at (``None``: the command has no such flag). ``name`` is what
    messages call the place. Nothing is made or changed. Raises InputError.
    """
    another = "name" if name or force is not None else "folder with --out"
    name = name or str(place)
    if place.is_dir():
        raise InputError(f"{name} is a folder: name a file in it")
    if is_stream(place):
        return
    _check_folder(place, name)
    if place.exists() and is_of_run(place):
        raise InputError(f"{name} is a file of a run, which needs it: give another name")
    if place.exists() and not force and not is_ours(place, mark):
        more = "" if force is None else ", or pass --force to replace it"
        raise InputError(
            f"{name} exists and was not written by {command}: give another {another}{more}"
        )


def _check_folder(place: Path, name: str) -> None:
    """Refuse a place whose folder can be neither written into nor made. Raises InputError."""
    folder = next(one for one in place.absolute().parents if one.exists())
    if not folder.is_dir():
        raise InputError(f"{name}: {folder} is not a folder")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{name}: cannot write into {folder}: {reason}") from None


def is_ours(path: Path, mark: str) -> bool:
    """Tell whether a file has the column ``mark``, in JSONL in one of its first rows.

    Of no table it is a text in one of the first lines. A workbook is known by its properties. An
    empty file holds nothing to lose and counts as ours. What cannot be read is not.
    """
    if not path.stat().st_size:
        return True
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return mark in pq.read_schema(path).names
        except (pa.ArrowException, OSError):
            return False
    if suffix == ".xlsx":
        return _is_our_workbook(path)
    with path.open("rb") as lines:
        first = (lines.readline(LONGEST_LINE) for _ in range(MARKED_ROWS))
        if suffix in (".csv", ".tsv"):
            texts = (line.decode("utf-8", "replace") for line in first)
            with any_length(), contextlib.suppress(csv.Error):
                return mark in next(csv.reader(texts, delimiter=separator_of(path)), [])
            return False
        has = _has_key if suffix == ".jsonl" else lambda line, text: text.encode() in line
        return any(has(line, mark) for line in first)


def _has_key(line: bytes, key: str) -> bool:
    """Tell whether a line of JSON is an object with this key."""
    if key.encode() not in line:
        return False
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(row, dict) and key in row


def _is_our_workbook(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as book, book.open("docProps/core.xml") as properties:
            return f"<dc:creator>{CREATOR}</dc:creator>".encode() in properties.read(LONGEST_LINE)
    except (zipfile.BadZipFile, zlib.error, KeyError, OSError, RuntimeError, EOFError):
        return False


def separator_of(path: Path) -> str:
    """Return what stands between the cells of a file that we write."""
    return "\t" if path.suffix.lower() == ".tsv" else ","


@contextlib.contextmanager
def any_length() -> Iterator[None]:
    """Let cells be as long as they are."""
    limit = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(limit)


# ---- cells


def export_cell(value: object) -> object:
    """Return a value as a cell: lists and objects as JSON, text without formulas."""
    if value is None or isinstance(value, int | float):
        return value
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    return harmless(value)


def harmless(text: str) -> str:
    """Return text that no spreadsheet runs: a quote goes before what would begin a formula.

    Numbers stay as they are.
    """
    if not text.lstrip(" ").startswith(FORMULA):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def without_quote(text: str) -> str:
    """Return a cell without the quote that :func:`harmless` put before what begins a formula."""
    return text[1:] if text[:1] == "'" and harmless(text[1:]) == text else text


# ---- workbooks

#: rows of a sheet, the header among them, and characters of a cell: the format holds no more
MOST_ROWS, MOST_CHARACTERS = 1_048_576, 32_767


def write_workbook(
    file: IO[bytes], header: list[str], rows: Iterable[Iterable[object]], name: str
) -> int:
    """Write a sheet of an .xlsx workbook and return how many cells had to be cut.

    ``rows`` hold what :func:`export_cell` returns. Raises InputError where XlsxWriter is not
    installed, and for more rows than a sheet has; ``name`` is the file's.
    """
    try:
        import xlsxwriter
        from xlsxwriter.exceptions import FileCreateError, XlsxWriterException
    except ImportError:
        raise InputError(
            f"{name}: workbooks need XlsxWriter, which is not installed: pip install "
            "'sayso[xlsx]'; .csv, .jsonl and .parquet need nothing"
        ) from None
    # XlsxWriter leaves its own files, and a half-written archive, where it fails: neither is ours
    packed = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        book = xlsxwriter.Workbook(packed, {"constant_memory": True, "tmpdir": folder})
        try:
            cut = _fill(book, header, rows, name)
        except BaseException:
            with contextlib.suppress(OSError, XlsxWriterException):  # the book is given up anyway
                book.close()
            raise
        try:
            book.close()
        except FileCreateError as error:
            raise InputError(f"cannot write {name}: {error}") from error
    file.write(packed.getbuffer())
    return cut


def _fill(book: Any, header: list[str], rows: Iterable[Iterable[object]], name: str) -> int:
    """Write the sheet of a book and return how many cells had to be cut."""
    cut = 0
    book.set_properties({"author": CREATOR})
    sheet = book.add_worksheet("answers")
    sheet.freeze_panes(1, 0)
    sheet.set_column(0, len(header) - 1, 18)
    sheet.write_row(0, 0, header, book.add_format({"bold": True}))
    for number, row in enumerate(rows, 1):
        if number >= MOST_ROWS:
            raise InputError(
                f"{name}: a sheet holds {MOST_ROWS - 1:,} rows and there are more: write "
                ".csv or .parquet"
            )
        for column, value in enumerate(row):
            cut += _write_cell(sheet, number, column, value)
    return cut


def _write_cell(sheet: Any, row: int, column: int, value: object) -> bool:
    """Write one cell, text always as text; return whether it had to be cut."""
    if value is None:
        return False
    if isinstance(value, bool):
        sheet.write_boolean(row, column, value)
    elif isinstance(value, int | float):
        sheet.write_number(row, column, value)
    else:
        text = str(value).encode("utf-16-le", "replace").decode("utf-16-le")
        # the format counts units of UTF-16
        units = text.encode("utf-16-le")[: 2 * MOST_CHARACTERS]
        kept = units.decode("utf-16-le", "ignore")
        sheet.write_string(row, column, kept)
        return kept != text
    return False

"""Rows of the tables that users bring: JSONL, a JSON list, Parquet, CSV and TSV.

Whatever the bytes are, the outcome is rows or one clear line naming the file and the place.
"""

from __future__ import annotations

import ast
import contextlib
import csv
import datetime
import gzip
import json
import math
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from importlib.resources import files
from itertools import count, islice
from pathlib import Path
from typing import IO, Any

import msgspec

from sayso.harmless import json_kind
from sayso.records import Gold, InputError
from sayso.storage.outputs import any_length, without_quote
from sayso.storage.tables import check_unpacked

Row = tuple[int, dict[str, object]]
SAVE_AS = 'save the file as UTF-8 (Excel: Save As, "CSV UTF-8")'
BOM = b"\xef\xbb\xbf"
#: wrong lines that an error names beside the first, and lines in which they are looked for
MOST_WRONG, LOOKED_AT = 19, 100_000
#: bytes of a line, and columns of a table, beyond which a file is no table of answers
LONGEST_LINE, MOST_COLUMNS = 100_000_000, 10_000
#: what rows in memory may be
TABLES_IN_MEMORY = "a list of dicts, a dict of columns, or a data frame"
#: endings that :func:`read_table` reads
SUFFIXES = (".jsonl", ".ndjson", ".json", ".parquet", ".csv", ".tsv", ".jsonl.gz")


def suffix_of(path: Path) -> str:
    """Return the ending that says how a file is read; ``.jsonl.gz`` is one."""
    suffix = path.suffix.lower()
    inner = Path(path.stem).suffix.lower()
    return f"{inner}.gz" if suffix == ".gz" and inner == ".jsonl" else suffix


def stem_of(path: Path) -> str:
    """Return the name of a file without the ending that says how it is read."""
    return path.name[: len(path.name) - len(suffix_of(path))] or path.name


def read_table(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line or row, row) of JSONL, JSON, Parquet, CSV or TSV. Raises InputError."""
    if is_text_table(path):
        yield from read_csv(path)
    else:
        yield from read_rows(path)


def is_text_table(path: Path) -> bool:
    """Tell whether cells are texts that may stand for lists."""
    return path.suffix.lower() in (".csv", ".tsv")


def read_rows(path: Path | str) -> Iterator[Row]:
    """Yield (line or row number, object) of a ``.jsonl``, ``.json`` or ``.parquet`` file.

    Numbers start at 1; in JSONL they are lines (blank ones skipped), elsewhere rows. NaN and
    infinity become ``None``, lone surrogates U+FFFD; a byte order mark is accepted. Errors are
    raised as :class:`InputError` when the iteration reaches them: a file that is missing, empty
    or unreadable, bytes that are not UTF-8, wrong JSON (line and column), a row that is no object.
    """
    place = Path(path)
    if os.path.isdir(place):  # Path.is_dir raises for a name that is too long
        raise InputError(f"{place} is a folder: name one file in it")
    reader = READERS.get(suffix_of(place))
    if reader is None:
        raise InputError(
            f"{place}: expected a file ending in {', '.join(READERS)}; convert it to one of these"
        )
    empty = True
    try:
        for row in reader(place):
            empty = False
            yield row
    except OSError as error:
        raise unreadable(place, error) from error
    if empty:
        raise InputError(f"{place} is empty: expected at least one row")


def unreadable(path: Path, error: OSError) -> InputError:
    """Return the message about a file that is not there or cannot be read."""
    if isinstance(error, FileNotFoundError):
        return InputError(f"{path} does not exist: check the name")
    return InputError(f"{path} cannot be read: {error.strerror or error}")


def read_json_lines(path: Path) -> Iterator[Row]:
    """Yield the objects of a JSONL file; an error names the first lines that are wrong."""
    with _opened(path) as file:
        for number, line in enumerate(_bounded(file, path), 1):
            try:
                row = _object_in(line, path, number)
            except InputError as error:
                if number == 1:  # then it is the format, and every line is wrong
                    raise
                others = list(islice(_wrong_lines(file, path, number + 1), MOST_WRONG))
                if not others:
                    raise
                also = ", ".join(map(str, others)) + ", …" * (len(others) == MOST_WRONG)
                raise InputError(f"{error}; also wrong: line {also}") from None
            if row is not None:
                yield number, row


def _bounded(file: IO[bytes] | gzip.GzipFile, path: Path) -> Iterator[bytes]:
    """Yield the lines of a file; one that is too long for a row raises InputError."""
    for number in count(1):
        line = file.readline(LONGEST_LINE + 1)
        if not line:
            return
        if len(line) > LONGEST_LINE:
            raise InputError(
                f"{path} line {number} has more than {LONGEST_LINE / 1e6:g} MB: expected one "
                "object of JSON on each line; split it"
            )
        yield line


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes] | gzip.GzipFile]:
    """Open a file of lines, unpacked where it is packed."""
    if path.suffix.lower() != ".gz":
        with path.open("rb") as file:
            yield file
        return
    try:
        with gzip.open(path) as packed:
            yield packed
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"{path} cannot be unpacked ({error}); download or compress it again"
        ) from None


def _object_in(line: bytes, path: Path, number: int) -> dict[str, object] | None:
    """Return the object on a line of JSONL, ``None`` for a blank one. Raises InputError."""
    text = decode_text(line, path, number, first=number == 1).rstrip()
    if not text:
        return None
    hint = "; a file that is one JSON list must end in .json" if number == 1 else ""
    return whole(parse_json(text, path, number, hint), f"{path} line {number}")


def _wrong_lines(lines: Iterable[bytes], path: Path, first: int) -> Iterator[int]:
    """Yield the numbers of further lines that hold no object."""
    for number, line in enumerate(islice(lines, LOOKED_AT), first):
        try:
            _object_in(line, path, number)
        except InputError:
            yield number


def read_list(path: Path) -> Iterator[Row]:
    """Yield the objects of a JSON file that holds one list."""
    text = decode_text(path.read_bytes(), path, 1, first=True)
    if not text.strip():
        return
    value = parse_json(text, path, 1, "; a file with one object per line must end in .jsonl")
    if not isinstance(value, list):
        parts = value.items() if isinstance(value, dict) else ()
        under = next((name for name, part in parts if isinstance(part, list)), None)
        way = f"; save what is under {under!r:.40} as a file of its own" if under else ""
        raise InputError(f"{path}: expected a list of objects, got {json_kind(value)}{way}")
    for number, row in enumerate(value, 1):
        yield number, whole(row, f"{path} row {number}")


def read_parquet_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with path.open("rb") as file, pq.ParquetFile(file) as source:
            check_unpacked(source, path)
            _check_width(len(source.schema_arrow), path)
            check_fields(source.schema_arrow, str(path))
            for batch in source.iter_batches(batch_size=1000):
                for row in _as_written(batch).to_pylist():
                    number += 1
                    yield number, whole(row, f"{path} row {number}")
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        why = " ".join(str(error).split())[:200]
        raise InputError(
            f"{path} cannot be read as Parquet after row {number}: {why}; save it again"
        ) from error


def _as_written(batch: Any) -> Any:
    """Return rows whose numbers of 32 bits are what was written: 0.1, not 0.10000000149011612."""
    import pyarrow as pa

    for place, field in enumerate(batch.schema):
        if pa.types.is_float32(field.type):
            column = batch.column(place).cast(pa.string()).cast(pa.float64())
            batch = batch.set_column(place, pa.field(field.name, pa.float64()), column)
    return batch


def check_fields(fields: Iterable[Any], place: str) -> None:
    """Refuse Arrow fields, or those inside one of them, of which two have one name.

    Raises InputError.
    """
    import pyarrow as pa

    own = list(fields)
    name = twice(field.name for field in own)
    if name is not None:
        raise InputError(f"{place}: two columns are called {name!r}; rename one")
    for field in own:
        kind = field.type
        if pa.types.is_nested(kind) and not pa.types.is_map(kind):
            inner = [kind.field(number) for number in range(kind.num_fields)]
            check_fields(inner, f"{place} column {field.name!r}")


READERS: dict[str, Callable[[Path], Iterator[Row]]] = {
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    ".jsonl.gz": read_json_lines,
    ".json": read_list,
    ".parquet": read_parquet_rows,
}


def wide_encoding(data: bytes) -> str:
    """Return "UTF-16" or "UTF-32" for a text that begins so, with a mark or without; else "".

    Without a mark the zeros of its first characters tell, unless these are not of Latin script
    (RFC 4627, section 3).
    """
    head = data[:4]
    zeros = [byte == 0 for byte in head]
    if head in (b"\xff\xfe\0\0", b"\0\0\xfe\xff") or (sum(zeros) == 3 and len(head) == 4):
        return "UTF-32" if zeros[0] != zeros[3] else ""
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or zeros[:2] in ([True, False], [False, True]):
        return "UTF-16"
    return ""


def check_encoding(data: bytes, path: Path) -> None:
    """Refuse the beginning of a text in UTF-16 or UTF-32. Raises InputError."""
    if name := wide_encoding(data):
        raise InputError(f"{path} line 1, byte 1: {name}, not UTF-8; {SAVE_AS}")


def decode_text(data: bytes, path: Path, line: int, *, first: bool) -> str:
    """Return UTF-8 text; the error names the line, counting from ``line``."""
    if first:
        check_encoding(data, path)
        data = data.removeprefix(BOM)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line += data.count(b"\n", 0, error.start)
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise InputError(
            f"{path} line {line}, byte {column}: not UTF-8 (0x{data[error.start]:02x}); {SAVE_AS}"
        ) from None


def parse_json(text: str, path: Path, line: int, hint: str) -> object:
    """Return the JSON value of a text that starts at ``line``."""
    try:
        return json.loads(text, parse_constant=lambda _: None, object_pairs_hook=object_once)
    except json.JSONDecodeError as error:
        place = f"{path} line {line + error.lineno - 1}, column {error.colno}"
        raise InputError(f"{place}: wrong JSON: {error.msg}{hint}") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; deep nesting
        raise InputError(f"{path} line {line}: wrong JSON: {error}") from None


def object_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON. Raises ValueError for a key twice: which one would be read?"""
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError(f"the key {twice(key for key, _ in pairs)!r} appears twice in one object")
    return value


def twice(names: Iterable[str]) -> str | None:
    """Return the first name that was there before; ``None`` where each appears once."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def whole(value: object, place: str) -> dict[str, object]:
    """Return an object with text and finite numbers only."""
    if not isinstance(value, dict):
        raise InputError(f"{place}: expected an object {{...}}, got {json_kind(value)}")
    try:
        return {str(clean_value(key)): clean_value(item) for key, item in value.items()}
    except RecursionError:
        raise InputError(f"{place}: nested too deeply") from None


def clean_value(value: object) -> object:
    """Return the value with ``None`` for NaN and infinity and U+FFFD for lone surrogates."""
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        if set(map(type, value)) == {float} and all(map(math.isfinite, value)):
            return value
        return [clean_value(item) for item in value]
    if isinstance(value, dict):
        return {clean_value(key): clean_value(item) for key, item in value.items()}
    return value


def read_csv(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield (line, row) of a CSV or TSV file, as :func:`_cells` does.

    A column of truth in another language becomes yes and no.
    """
    truths, _ = _as_spreadsheets_write(path)
    for line, row in _cells(path):
        said = {name: truth_value(row[name]) for name in truths}
        yield line, {**row, **{n: "yes" if t else "no" for n, t in said.items() if t is not None}}


def notes_on_cells(path: Path) -> list[str]:
    """Return notes on how a CSV or TSV file writes truth, numbers and quotes."""
    return _as_spreadsheets_write(path)[1]


#: a number with a comma or with three digits behind a point, at the beginning of a cell
_COMMA_OR_POINT = re.compile(r"\s*[+-]?\d+(?:,\d+|\.\d{3}\b)")


def _as_spreadsheets_write(path: Path) -> tuple[list[str], list[str]]:
    """Return the columns of a CSV or TSV file that hold truth, and notes on its cells.

    Such a column holds true and false in another language, and nothing else. A file whose cells
    are separated by commas is not read for it.
    """
    separator = _separator(path) if is_text_table(path) else ","
    words: dict[str, set[str]] = {}
    numbers: dict[str, str] = {}
    notes: list[str] = []
    for line, row in _cells(path) if separator != "," else ():
        for name, cell in row.items():
            if word := cell.strip().casefold():
                words.setdefault(name, set()).add(word if word in TRUTH else "")
            if found := _COMMA_OR_POINT.match(cell):
                numbers.setdefault(name, found[0].strip())
            inner = cell.split("\n")[1:-1]
            if any(one.count(separator) == len(row) - 1 for one in inner):
                place = f"lines {line - len(inner) - 1:,} to {line:,}"
                notes.append(f"{place}: one quoted cell holds whole rows; is a quote not closed?")
    truths = [n for n, w in words.items() if w <= TRUTH and w & FOREIGN and w & YES and w - YES]
    notes += [f"words of truth are read as yes and no in: {name}" for name in truths]
    notes += [
        f"numbers such as {number} in {name}: three digits behind a comma are read as thousands, "
        "all others behind a comma or point as decimals"
        for name, number in numbers.items()
    ]
    return truths, notes


def _cells(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line, row) of a CSV or TSV file with a header, strictly; cells are texts.

    A .csv whose header has no comma may separate by semicolons or tabs, as spreadsheets do where
    the comma is the decimal sign. Rows without a single character are skipped, white space around
    names of columns is dropped, and so is the quote that exports put before a formula. Raises
    InputError with the line: not UTF-8, no header, a name twice, a row of another length.
    """
    line = 0
    try:
        with path.open("rb") as raw:
            check_encoding(raw.read(4), path)
        with any_length(), path.open(encoding="utf-8-sig", newline="") as file:
            separator = _separator(path)
            reader = csv.reader(file, delimiter=separator, strict=True)
            header = [name.strip() for name in next(reader, [])]
            if SEPARATED.fullmatch(separator.join(header)):
                header = [name.strip() for name in next(reader, [])]
            while header[1:] and not header[-1]:  # what a spreadsheet writes of empty columns
                header.pop()
            _check_header(path, header)
            line = reader.line_num
            empty = True
            for cells in reader:
                line = reader.line_num
                if not any(cell.strip() for cell in cells):
                    continue
                while len(cells) > len(header) and not cells[-1].strip():
                    cells.pop()
                if len(cells) != len(header):
                    raise InputError(
                        f"{path} line {line}: {len(cells)} cells, but the header names "
                        f"{len(header)}; quote cells that hold a separator"
                    )
                empty = False
                yield line, dict(zip(header, map(without_quote, cells), strict=True))
        if empty:
            raise InputError(f"{path} has a header and no rows: expected at least one")
    except UnicodeDecodeError:
        decode_text(
            path.read_bytes(), path, 1, first=True
        )  # names the line: files are decoded in blocks
        raise
    except csv.Error as error:
        raise InputError(f"{path} line {line + 1}: wrong CSV ({error})") from None
    except OSError as error:
        raise unreadable(path, error) from error


#: the first line by which a spreadsheet says what separates cells
SEPARATED = re.compile(r"sep=([,;\t|])[,;\t|]*")


def _separator(path: Path) -> str:
    """Return what separates the cells of a file: a comma, unless its header has none."""
    if path.suffix.lower() == ".tsv":
        return "\t"
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            bare = re.sub(r'"[^"]*"', "", file.readline())
    except OSError as error:
        raise unreadable(path, error) from error
    if named := SEPARATED.fullmatch(bare.strip("\r\n")):
        return named[1]
    return next((sign for sign in ",;\t" if sign in bare), ",")


def _check_header(path: Path, header: Sequence[str]) -> None:
    if not any(header):
        raise InputError(f"{path} is empty: expected a header and at least one row")
    _check_width(len(header), path)
    name = twice(header)
    if name is not None:
        what = f"are called {name!r}; rename one" if name else "have no name; name them"
        raise InputError(f"{path} line 1: two columns {what}")


def _check_width(columns: int, path: Path) -> None:
    if columns > MOST_COLUMNS:
        raise InputError(
            f"{path} has {columns:,} columns, more than {MOST_COLUMNS:,}: expected one row for "
            "each answer and one column for each thing that is known of it"
        )


# ---- data frames


def as_frame(rows: Any) -> Any:
    """Return a data frame of pandas or polars as it is, another table as one of pyarrow.

    ``None`` for what is no table: rows, and anything else. Nothing is imported but pyarrow.
    """
    if hasattr(rows, "iloc") or hasattr(rows, "with_columns"):
        return rows
    return _arrow_table(rows) if hasattr(rows, "__arrow_c_stream__") else None


def rows_in_memory(rows: Any, what: str = "rows") -> list[Mapping[str, Any]]:
    """Return rows that Python gives: mappings, a mapping of columns, or a data frame.

    Those of a data frame are as those of a Parquet file are read, all others as they are given.
    ``what`` begins a message. Raises InputError for anything else.
    """
    frame = as_frame(rows)
    if frame is not None:
        read: list[dict[str, object]] = _arrow_table(frame).to_pylist()
        return [whole(row, f"row {number}") for number, row in enumerate(read, 1)]
    if isinstance(rows, Mapping):
        rows = _rows_of_columns(rows, what)
    if isinstance(rows, str | bytes) or not isinstance(rows, Iterable):
        text = isinstance(rows, str | bytes)
        kind = "a text" if text else f"of type {type(rows).__name__}"
        of_file = "; for a file: sayso score FILE" * text
        raise InputError(f"{what} is {kind}: expected {TABLES_IN_MEMORY}{of_file}")
    listed: list[Mapping[str, Any]] = list(rows)
    for number, row in enumerate(listed, 1):
        if not isinstance(row, Mapping):
            raise InputError(
                f"{what}: row {number} is of type {type(row).__name__}: expected a dict, with "
                "columns as keys"
            )
    return listed


def _rows_of_columns(columns: Mapping[str, Any], what: str) -> list[dict[str, Any]]:
    """Return the rows of a mapping of columns. Raises InputError for what is none."""
    cells: dict[str, Any] = {name: as_lists(column) for name, column in columns.items()}
    single = next((name for name, column in cells.items() if not isinstance(column, list)), None)
    if single is not None:
        raise InputError(
            f"{what} is one row, or {single!r} is no list: expected {TABLES_IN_MEMORY}"
        )
    lengths = {name: len(column) for name, column in cells.items()}
    if len({*lengths.values()}) > 1:
        counts = ", ".join(f"{name} {number:,}" for name, number in lengths.items())
        raise InputError(f"{what}: its columns differ in length ({counts[:200]})")
    return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]


def plain_cell(value: Any) -> object:
    """Return a value without arrays; NaN alone is nothing, in a list it marks its place."""
    value = as_lists(value)
    missing = value is not None and type(value).__name__ in ("NaTType", "NAType")  # of pandas
    return None if missing or (isinstance(value, float | Decimal) and value != value) else value


def as_lists(value: Any) -> object:
    """Return arrays and series as lists, their numbers as those of Python."""
    if hasattr(value, "tolist"):  # also single numbers of numpy
        value = value.tolist()
    return [as_lists(item) for item in value] if isinstance(value, list | tuple) else value


def _arrow_table(frame: Any) -> Any:
    """Return a data frame as a table of pyarrow. Raises InputError for what is none."""
    import pyarrow as pa

    if hasattr(frame, "collect") and not hasattr(frame, "__arrow_c_stream__"):
        raise InputError("rows is a lazy frame: give rows.collect()")
    if not hasattr(frame, "columns") and not hasattr(frame, "schema"):
        raise InputError(f"rows is one column ({type(frame).__name__}): give the data frame")
    pandas = hasattr(frame, "iloc")
    names = list(map(str, frame.columns)) if pandas else []
    try:
        if not pandas:
            frame = pa.table(frame)
            names = frame.column_names
        name = twice(names)
        if name is not None:
            raise InputError(f"the data frame has two columns called {name!r}: rename one")
        # the index of pandas names rows and is no column
        return pa.Table.from_pandas(frame, preserve_index=False) if pandas else frame
    except (pa.ArrowException, ValueError, TypeError) as error:
        why = "; ".join(" ".join(str(part).split()) for part in error.args)[:200]
        raise InputError(
            f"the data frame cannot be read ({why}): give columns of one type each"
        ) from error


def read_document(path: Path) -> Any:
    """Return what a JSON file holds. Raises InputError for one that cannot be read."""
    try:
        text = decode_text(path.read_bytes(), path, 1, first=True)
    except OSError as error:
        raise unreadable(path, error) from None
    return parse_json(text, path, 1, "")


def read_rows_under(path: Path, key: str) -> Iterator[tuple[int, Any]]:
    """Yield (number, row) of a table, or of the list under ``key`` in a JSON object."""
    if path.suffix.lower() != ".json" or not isinstance(document := read_document(path), dict):
        yield from read_table(path)
        return
    if not isinstance(document.get(key), list):
        raise InputError(f"{path}: expected a list of questions under {key}, or rows")
    yield from enumerate(document[key], 1)


# ---- what stands in one cell: lists written as text, and golds of any type

#: a text in quotation marks; what pandas and numpy write around lists and values; the space between
#: two numbers, where numpy sets no comma
_QUOTED = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)
_CALLS = re.compile(r"\b(?:np\.\w+|array)\(|(?:,\s*dtype=\w+)?\)")
_APART = re.compile(r"(?<=[\d.])\s+(?=[+-]?[\d.])")
#: a list of numbers with decimal commas: "[-0,2, -1,3]"
_DECIMALS = re.compile(r"\[\s*-\d+,\d+(?:\s*(?:,\s|;)\s*-?\d+,\d+)*\s*\]")
#: Wikidata writes 1815-12-10T00:00:00Z, pandas 1815-12-10 00:00:00
_TIMESTAMP = re.compile(r"([+-]?\d{4,}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.0+)?Z?")
#: the end of a worked solution: "#### 36" in GSM8K, a box in MATH
_SOLUTION = re.compile(
    r".*(?:\s####[ \t]*(\S[^\n]*?)\s*|\\boxed\{((?:[^{}]|\{[^{}]*\})+)\}[^\n]*)", re.DOTALL
)
_WORDS = {
    name: frozenset(words.split())
    for row in files(__package__).joinpath("data/truth.txt").read_text("utf-8").splitlines()
    for name, _, words in [row.partition(": ")]
}
#: truth values as people write them, and spreadsheets in other languages
FOREIGN = _WORDS["true elsewhere"] | _WORDS["false elsewhere"]
YES = _WORDS["true"] | _WORDS["true elsewhere"]
TRUTH = YES | _WORDS["false"] | FOREIGN
#: how a missing value, and that there is no answer, look when they were written out as a text
WRITTEN_OUT = _WORDS["missing"]
#: what an object that is an answer calls it, as the judge knows it
ANSWER_KEYS = _WORDS["answer keys"]


def cell_value(cell: str) -> object:
    """Return the list or object that a text holds, in JSON or as Python and numpy write it.

    ``None`` for any other text.
    """
    text = cell.strip()
    if not text.startswith(("[", "{", "('", '("', "array(")):
        return None
    if _DECIMALS.fullmatch(text):
        text = re.sub(r",(?=\d)", ".", text).replace(";", ",")
    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(text, parse_constant=lambda _: None)
    text = f"[{text[1:-1]}]" if text[:1] == "(" and text[-1:] == ")" else text
    texts = _QUOTED.split(text)
    for place in range(0, len(texts), 2):  # what stands outside of quotation marks
        bare = _APART.sub(", ", _CALLS.sub("", texts[place]))
        texts[place] = ", " if bare.isspace() else re.sub(r"\bnan\b", "None", bare)
    if "" in texts[2:-1:2]:  # Python would join texts that touch
        return None
    try:
        value = ast.literal_eval("".join(texts))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    return list(value) if isinstance(value, set) else value


def list_in(cell: str) -> list[Any] | None:
    """Return the list that a cell holds; ``None`` for no list.

    An object with a ``value``, which is a gold, or of SQuAD is a list of one.
    """
    value = cell_value(cell)
    if isinstance(value, dict) and ("value" in value or _is_of_squad(value)):
        return [value]
    return value if isinstance(value, list) else None


def gold_values(value: object) -> list[Any]:
    """Return the golds in a cell or a list of them: those of an object of SQuAD are its texts."""
    golds = []
    for one in value if isinstance(value, list | tuple) else [value]:
        texts = one["text"] if isinstance(one, dict) and _is_of_squad(one) else [one]
        golds += texts if isinstance(texts, list) else [texts]
    return [one for place, one in enumerate(golds) if one is not None and one not in golds[:place]]


def _is_of_squad(value: dict[str, Any]) -> bool:
    return {"text"} <= value.keys() <= {"text", "answer_start"}


def golds_in(value: object, aliases: object, place: str = "") -> tuple[Gold, ...]:
    """Return the golds in a cell; ``aliases`` are other ways to write a single one.

    ``place`` begins the message. Raises InputError.
    """
    golds = tuple(
        gold for gold in (gold_in(v, place) for v in gold_values(value)) if gold.value.strip()
    )
    given = aliases if isinstance(aliases, list | tuple) else [aliases]
    names = [text for text in given if isinstance(text, str)]
    lead = f"{place}: " if place else ""
    if len(names) < len(given) and aliases is not None:
        raise InputError(f"{lead}aliases: expected a text or a list of texts")
    also = [name.strip() for name in names if name.strip()]
    if also and len(golds) != 1:
        raise InputError(
            f"{lead}aliases are other ways to write a single gold, but there are {len(golds)}"
        )
    if not also:
        return golds
    every = dict.fromkeys(name for name in (*golds[0].aliases, *also) if name != golds[0].value)
    return (msgspec.structs.replace(golds[0], aliases=tuple(every)),)


def read_list_cell(cell: str, place: str = "") -> object:
    """Return the list that a cell holds, or its text. Raises InputError for a broken list."""
    values = list_in(cell)
    if values is not None:
        return values
    text = cell.strip()
    if text[:2] in ('["', "['") or (text[:1] == "[" and text[-1:] == "]"):
        raise InputError(
            f"{place}{': ' * bool(place)}gold {text!r:.40} looks like a list and cannot be read; "
            'write ["…", "…"], also around a single text in brackets'
        )
    return cell


def gold_in(value: object, place: str = "") -> Gold:
    """Return a gold: a text, a number, a day, yes or no, or an object with value and aliases.

    ``place`` begins the message. Raises InputError for anything else.
    """
    if isinstance(value, Gold):
        return value
    if isinstance(value, bool):
        return Gold("yes", aliases=("true",)) if value else Gold("no", aliases=("false",))
    if isinstance(value, datetime.datetime):
        return Gold(f"{value.date().isoformat()}T{value.time():%H:%M:%S}Z", kind="date")
    if isinstance(value, datetime.date):
        return Gold(f"{value.isoformat()}T00:00:00Z", kind="date")
    text = as_text(value)
    if isinstance(text, str):
        return _gold_of(text)
    try:
        return msgspec.convert(value, Gold)
    except msgspec.ValidationError:
        raise InputError(
            f"{place}{': ' * bool(place)}gold {value!r:.40}: expected a text, a number, true or "
            'false, a list of them, or {"value": "…", "aliases": ["…"]}'
        ) from None


def as_text(value: object) -> object:
    """Return a number, a day or a time as people write it, bytes as their text.

    Everything else, and a number that is none, is returned as it is. A share of two digits in a
    Decimal keeps both.
    """
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}"
    if isinstance(value, Decimal) and value.is_finite():
        return f"{value:f}"
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, datetime.time):
        return f"{value:%H:%M}" if not value.second + value.microsecond else value.isoformat()
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    finite = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    return str(value) if finite else value


def truth_value(value: object) -> bool | None:
    """Return a truth value, also one that is written as a text; ``None`` for anything else."""
    if isinstance(value, str):
        word = value.strip().casefold()
        return word in YES if word in TRUTH else None
    number = isinstance(value, bool | int | float | Decimal) and value in (0, 1)
    return bool(value) if number else None


def solved(text: str) -> str:
    """Return the value that a worked solution ends with; any other text as it is."""
    found = _SOLUTION.fullmatch(text)
    return found[1] or found[2] if found else text


def _gold_of(text: str) -> Gold:
    """Return a gold: a timestamp is a date, all else is text until a matcher reads it."""
    text = solved(text).strip()
    timed = _TIMESTAMP.fullmatch(text)
    return Gold(f"{timed[1]}T{timed[2]}Z", kind="date") if timed else Gold(text)

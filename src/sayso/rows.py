"""Reading the tables that users bring: JSONL, a JSON list, Parquet.

Whatever the bytes are, the outcome is rows or one clear line naming the file and the place.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from sayso.records import InputError

Row = tuple[int, dict[str, object]]
BOM = b"\xef\xbb\xbf"


def read_rows(path: Path | str) -> Iterator[Row]:
    """Yield (line or row number, object) of a ``.jsonl``, ``.json`` or ``.parquet`` file.

    Numbers start at 1; in JSONL they are lines (blank ones skipped), elsewhere rows. NaN and
    infinity become ``None``, lone surrogates U+FFFD; a byte order mark is accepted. Errors are
    raised as :class:`InputError` when the iteration reaches them: a file that is missing, empty
    or unreadable, bytes that are not UTF-8, wrong JSON (line and column), a row that is no object.
    """
    place = Path(path)
    if os.path.isdir(place):  # Path.is_dir raises for a name that is too long
        raise InputError(f"{place} is a folder: give one file in it")
    reader = READERS.get(place.suffix.lower())
    if reader is None:
        raise InputError(
            f"{place}: expected a file ending in {', '.join(READERS)}; convert it to one of these"
        )
    empty = True
    try:
        for row in reader(place):
            empty = False
            yield row
    except FileNotFoundError:
        raise InputError(f"{place} does not exist: check the name") from None
    except OSError as error:
        raise InputError(f"{place} cannot be read: {error.strerror or error}") from error
    if empty:
        raise InputError(f"{place} is empty: expected at least one row")


def read_lines(path: Path) -> Iterator[Row]:
    """Yield the objects of a JSONL file."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            text = decode(line, path, number, first=number == 1).rstrip()
            if not text:
                continue
            hint = "; a file that is one JSON list must end in .json" if number == 1 else ""
            value = parse(text, path, number, hint)
            yield number, whole(value, f"{path} line {number}")


def read_list(path: Path) -> Iterator[Row]:
    """Yield the objects of a JSON file that holds one list."""
    text = decode(path.read_bytes(), path, 1, first=True)
    if not text.strip():
        return
    value = parse(text, path, 1, "; a file with one object per line must end in .jsonl")
    if not isinstance(value, list):
        raise InputError(f"{path}: expected a list of objects, got {name_of(value)}")
    for number, row in enumerate(value, 1):
        yield number, whole(row, f"{path} row {number}")


def read_parquet_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with path.open("rb") as file, pq.ParquetFile(file) as source:
            for batch in source.iter_batches(batch_size=1000):
                for row in batch.to_pylist():
                    number += 1
                    yield number, whole(row, f"{path} row {number}")
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        why = " ".join(str(error).split())[:200]
        raise InputError(
            f"{path} cannot be read as Parquet after row {number}: {why}; write it again"
        ) from error


READERS: dict[str, Callable[[Path], Iterator[Row]]] = {
    ".jsonl": read_lines,
    ".ndjson": read_lines,
    ".json": read_list,
    ".parquet": read_parquet_rows,
}


def decode(data: bytes, path: Path, line: int, *, first: bool) -> str:
    """Return UTF-8 text; the error names the line, counting from ``line``."""
    if first:
        data = data.removeprefix(BOM)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise InputError(
                f"{path} line {line}, byte 1: UTF-16, not UTF-8; save the file as UTF-8"
            ) from None
        line += data.count(b"\n", 0, error.start)
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise InputError(
            f"{path} line {line}, byte {column}: not UTF-8 (0x{data[error.start]:02x}); "
            "save the file as UTF-8"
        ) from None


def parse(text: str, path: Path, line: int, hint: str) -> object:
    """Return the JSON value of a text that starts at ``line``."""
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except json.JSONDecodeError as error:
        place = f"{path} line {line + error.lineno - 1}, column {error.colno}"
        raise InputError(f"{place}: wrong JSON: {error.msg}{hint}") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; deep nesting
        raise InputError(f"{path} line {line}: wrong JSON: {error}") from None


def whole(value: object, place: str) -> dict[str, object]:
    """Return an object with text and finite numbers only."""
    if not isinstance(value, dict):
        raise InputError(f"{place}: expected an object {{...}}, got {name_of(value)}")
    try:
        return {str(clean(key)): clean(item) for key, item in value.items()}
    except RecursionError:
        raise InputError(f"{place}: nested too deeply") from None


def clean(value: object) -> object:
    """Return the value with ``None`` for NaN and infinity and U+FFFD for lone surrogates."""
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): clean(item) for key, item in value.items()}
    return value


def name_of(value: object) -> str:
    """Return what JSON calls a value."""
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string"}
    return names.get(type(value), "an object" if isinstance(value, dict) else "a list")

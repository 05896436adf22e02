"""Rows of a file in any of the formats that people keep tables in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sayso.datasets.answers_csv import read_csv
from sayso.records import InputError
from sayso.store import read_rows

#: endings that :func:`read_table` reads
SUFFIXES = (".jsonl", ".ndjson", ".json", ".parquet", ".csv", ".tsv")


def is_text_table(path: Path) -> bool:
    """Tell whether cells are texts that may stand for lists."""
    return path.suffix.lower() in (".csv", ".tsv")


def read_table(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line or row, row) of JSONL, JSON, Parquet, CSV or TSV. Raises InputError."""
    if is_text_table(path):
        yield from read_csv(path)
    else:
        yield from read_rows(path)


def read_document(path: Path) -> Any:
    """Return what a JSON file holds. Raises InputError for one that cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"{path} is no JSON ({' '.join(str(error).split())[:120]})") from None


def read_rows_under(path: Path, key: str) -> Iterator[tuple[int, Any]]:
    """Yield (number, row) of a table, or of the list under ``key`` in a JSON object."""
    if path.suffix.lower() != ".json" or not isinstance(document := read_document(path), dict):
        yield from read_table(path)
        return
    if not isinstance(document.get(key), list):
        raise InputError(f"{path}: expected a list of questions under {key}, or rows")
    yield from enumerate(document[key], 1)

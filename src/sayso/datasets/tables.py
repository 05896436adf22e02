"""Rows of a file in any of the formats that people keep tables in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sayso.datasets.answers_csv import read_csv
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

"""SVAMP: arithmetic in a short story; the story is the context, the question comes after it.

Patel, Bhattamishra and Goyal 2021, "Are NLP Models really able to Solve Simple Math Word
Problems?", arXiv 2103.07191. Licence MIT. Hub: ChilleD/SVAMP. One row::

    {"ID": "chal-4", "Body": "43 children …", "Question": "How many …?", "Answer": 22.0}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from sayso.datasets.collection import Dataset
from sayso.datasets.published import Item, dataset_of, hub_rows, text_of
from sayso.datasets.tables import read_table
from sayso.records import InputError

HUB_ID = "ChilleD/SVAMP"
SPLITS = {"test": "test", "dev": "train", "train": "train"}


def load(split: str = "test") -> Dataset:
    """Load the set from the hub; dev is its train split."""
    rows = hub_rows("svamp", HUB_ID, None, split, SPLITS)
    return dataset_of(items(rows, HUB_ID), name="svamp", source=HUB_ID)


def load_file(path: Path) -> Dataset:
    """Load rows from JSONL, JSON, Parquet or CSV. Raises InputError."""
    return dataset_of(items(read_table(path), str(path)), name="svamp", source=str(path))


def items(rows: Iterable[tuple[int, dict[str, Any]]], source: str) -> Iterator[Item]:
    """Yield the questions of rows; a whole number loses its decimals."""
    for line, row in rows:
        number = row.get("Answer")
        try:
            value = float(number)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise InputError(
                f"{source} line {line}: expected a number under Answer, got {number!r:.60}"
            ) from None
        text = text_of(row, ("Question",), source, line)
        told = f"{value:.0f}" if value.is_integer() else f"{value:g}"
        body = text_of(row, ("Body",), source, line)
        yield Item(line, text, [told], str(row.get("ID") or f"row {line}"), body, "quantity")

"""NQ-open: questions that people asked a search engine, with short answers.

Lee, Chang and Toutanova 2019, arXiv 1906.00300, from Natural Questions (Kwiatkowski et al. 2019).
Licence CC BY-SA 3.0. Hub: google-research-datasets/nq_open. The answers of a question are ways
to write it that several annotators chose: one of them is enough. One row::

    {"question": "who …", "answer": ["…", "…"]}

Questions come without a question mark, which is added: as a fragment they ask to be continued.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from sayso.datasets.collection import Dataset
from sayso.datasets.published import Item, dataset_of, hub_rows, text_of, texts_of
from sayso.datasets.tables import read_table

HUB_ID = "google-research-datasets/nq_open"


def load(split: str = "test") -> Dataset:
    """Load the set from the hub; test and dev are its validation split."""
    rows = hub_rows("nq_open", HUB_ID, None, split)
    return dataset_of(items(rows, HUB_ID), name="nq_open", source=HUB_ID)


def load_file(path: Path) -> Dataset:
    """Load rows from JSONL, JSON, Parquet or CSV. Raises InputError."""
    return dataset_of(items(read_table(path), str(path)), name="nq_open", source=str(path))


def items(rows: Iterable[tuple[int, dict[str, Any]]], source: str) -> Iterator[Item]:
    """Yield the questions of rows."""
    for line, row in rows:
        asked = text_of(row, ("question",), source, line).strip()
        text = asked if asked.endswith("?") or not asked else f"{asked}?"
        yield Item(line, text, texts_of(row.get("answer"), source, line), text)

"""WildHallucinations: things that people asked chatbots about, half of them not in Wikipedia.

Zhao et al. 2024, "WildHallucinations: Evaluating Long-form Factuality in LLMs with Real-World
Entity Queries", arXiv 2407.17468. Licence MIT (the card on the hub). Hub:
wentingzhao/WildHallucinations, ``train``, 7,917 entities; with the web pages about them a download
of 1.4 GB. Things to be told about, without wanted facts: asked as "Tell me about X.", in our words.
Of a row ``entity``, ``category`` and ``wiki`` (whether Wikipedia has it) are read, the last two as
slices; ``info``, web pages about it, can be exported and searched with ``sayso index``::

    {"entity": "…", "category": "…", "wiki": 1, "perplexity": 3.1, "info": […]}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sayso.datasets import topics
from sayso.datasets.collection import Dataset
from sayso.datasets.published import hub_rows, text_of
from sayso.datasets.tables import read_table

HUB_ID = "wentingzhao/WildHallucinations"
SPLITS: dict[str, str | None] = {"test": "train", "dev": "train", "train": "train"}
NAME = "wildhallucinations"


def load(split: str = "test") -> Dataset:
    """Load the set from the hub; its only split is every split."""
    rows = hub_rows(NAME, HUB_ID, None, split, SPLITS)
    return topics.dataset_of(rows_of(rows, HUB_ID), HUB_ID, name=NAME)


def load_file(path: Path) -> Dataset:
    """Load rows from JSONL, JSON, Parquet or CSV. Raises InputError."""
    return topics.dataset_of(rows_of(read_table(path), str(path)), str(path), name=NAME)


def rows_of(
    rows: Iterable[tuple[int, Mapping[str, Any]]], source: str
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield rows of topics: what to tell about, and the slices it belongs to."""
    for line, row in rows:
        entity, category = text_of(row, ("entity",), source, line), row.get("category")
        slices = [category if isinstance(category, str) else ""]
        if row.get("wiki") is not None:
            known = str(row["wiki"]).strip().lower() in ("1", "1.0", "true")
            slices.append("in Wikipedia" if known else "not in Wikipedia")
        yield line, {"entity": entity, "domain": ", ".join(filter(None, slices))}

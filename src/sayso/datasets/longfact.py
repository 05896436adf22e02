"""LongFact: questions about 38 subjects whose answers are long texts full of facts.

Wei et al. 2024, "Long-form factuality in large language models", arXiv 2403.18802. The authors
publish a folder of JSONL files on GitHub, google-deepmind/long-form-factuality (``longfact/``): for
each subject 30 prompts about objects and 30 about concepts, 2,280 in all, in two folders
(``longfact-objects_gpt4_01-12-2024_noduplicates``, …). Licence CC BY 4.0 (code: Apache-2.0). Hub:
claserken/longfact, ``train``, a copy that others keep and of which only the split and the column
``prompt`` could be verified. One row::

    {"prompt": "…", "canary": "…"}

A file or a whole folder can be named. A file's name says subtask and subject, which become the
slice: ``longfact-objects_virology.jsonl`` is "objects, virology". The canary is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from sayso.datasets import topics
from sayso.datasets.collection import Dataset
from sayso.datasets.published import hub_rows
from sayso.datasets.tables import read_table
from sayso.records import InputError

HUB_ID = "claserken/longfact"
SPLITS: dict[str, str | None] = {"test": "train", "dev": "train", "train": "train"}
_NAME = re.compile(r"longfact-(objects|concepts)_(.+)", re.IGNORECASE)


def load(split: str = "test") -> Dataset:
    """Load the copy on the hub; its only split is every split."""
    advice = "download the folder of its authors and name it: --data longfact:FOLDER"
    rows = hub_rows("longfact", HUB_ID, None, split, SPLITS, advice)
    return topics.dataset_of(((n, _row(row, "")) for n, row in rows), HUB_ID, name="longfact")


def load_file(path: Path) -> Dataset:
    """Load one file (JSONL, JSON, Parquet, CSV) or a folder of JSONL files. Raises InputError."""
    if not path.exists():
        raise InputError(f"{path} does not exist: check the name")
    if not path.is_dir():
        return topics.dataset_of(_rows(path), str(path), name="longfact")
    files = sorted(path.rglob("longfact-*_*.jsonl")) or sorted(path.glob("*.jsonl"))
    if not files:
        raise InputError(f"{path}: no .jsonl file in it, and no longfact-*.jsonl in its folders")
    rows = chain.from_iterable(map(_rows, files))
    return topics.dataset_of(rows, str(path), name="longfact")


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    found = _NAME.fullmatch(path.stem)
    slice_ = f"{found[1].lower()}, {found[2].replace('-', ' ')}" if found else ""
    for line, row in read_table(path):
        if not isinstance(row.get("prompt"), str) or not row["prompt"].strip():
            raise InputError(f"{path} line {line}: expected a text under prompt")
        yield line, _row(row, slice_)


def _row(row: Mapping[str, Any], slice_: str) -> dict[str, Any]:
    return {"prompt": row.get("prompt"), "domain": slice_}

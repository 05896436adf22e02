"""SimpleQA and SimpleQA Verified: short facts that are hard to know, one right answer each.

Wei et al. 2024, "Measuring short-form factuality in large language models", arXiv 2411.04368;
Haas et al. 2025, "SimpleQA Verified", arXiv 2509.07968: 1,000 of the 4,326 questions, with labels
corrected. Licence MIT, both. Hub: basicv8vc/SimpleQA (a copy that others keep of the published CSV;
its authors have none there), ``test``; google/simpleqa-verified, ``eval``. The domain is the topic.
Rows of the hub or of the published CSV, or of one's own (JSONL, JSON, Parquet, CSV)::

    {"problem": "…", "answer": "…", "metadata": "{'topic': 'Art', 'answer_type': 'Person', …}"}
    {"problem": "…", "topic": "…",
     "answer": "120k (acceptable range: anything between 118k and 122k)"}
    {"question": "…", "answer": "…", "aliases": ["…"]}

A range that Verified accepts becomes another way to write the number: "118k to 122k". The
``rules`` judge also takes what rounds to the number itself (117,000 for 120k).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sayso.datasets.collection import Dataset
from sayso.datasets.published import Item, dataset_of, hub_rows, text_of, texts_of
from sayso.datasets.tables import read_table
from sayso.records import content_id

#: name -> (hub id, its one split)
SETS = {
    "simpleqa": ("basicv8vc/SimpleQA", "test"),
    "simpleqa_verified": ("google/simpleqa-verified", "eval"),
}
_RANGE = re.compile(
    r"\s*\(\s*acceptable range:\s*(?:anything\s+)?between\s+(?P<low>[^()]+?)\s+and\s+"
    r"(?P<high>[^()]+?)\s*\)\s*\.?\s*$",
    re.IGNORECASE,
)


def load(split: str = "test", name: str = "simpleqa") -> Dataset:
    """Load a set from the hub; it has one split, which is test and dev."""
    repository, part = SETS[name]
    rows = hub_rows(name, repository, None, split, {"test": part, "dev": part})
    return dataset_of(items(rows, repository), name=name, source=repository)


load_verified = partial(load, name="simpleqa_verified")


def load_file(path: Path, name: str = "simpleqa") -> Dataset:
    """Load rows from CSV, JSONL, JSON or Parquet. Raises InputError."""
    return dataset_of(items(read_table(path), str(path)), name=name, source=str(path))


def items(rows: Iterable[tuple[int, Mapping[str, Any]]], source: str) -> Iterator[Item]:
    """Yield the questions of rows; each is an entity of its own."""
    for line, row in rows:
        text = text_of(row, ("problem", "question"), source, line)
        names = texts_of(row.get("answer"), source, line)
        names = [form for name in names for form in ways(name)]
        if row.get("aliases"):
            names += texts_of(row["aliases"], source, line)
        yield Item(line, text, names, f"question {content_id(text)[:8]}", domain=topic(row))


def ways(answer: str) -> list[str]:
    """Return an answer, and the range that is accepted for it where it names one."""
    found = _RANGE.search(answer)
    if found is None:
        return [answer]
    value = answer[: found.start()].strip()
    accepted = f"{found['low']} to {found['high']}"
    return [value, accepted] if value else [accepted]


def topic(row: Mapping[str, Any]) -> str:
    """Return the topic of a row: a column, or inside ``metadata``, a dictionary written as text."""
    held = row.get("metadata")
    if isinstance(held, str) and len(held) < 100_000:
        try:
            held = ast.literal_eval(held)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            held = None  # a topic is a slice, not a fact: without it the question stands
    found = held.get("topic") if isinstance(held, Mapping) else None
    found = row.get("topic") or found
    return " ".join(found.split()) if isinstance(found, str) else ""

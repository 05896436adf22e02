"""AbstentionBench: questions from twenty sets, and whether one should abstain.

Kirichenko et al. 2025, "AbstentionBench: Reasoning LLMs Fail on Unanswerable Questions", arXiv
2506.09038. Licence CC BY-NC 4.0, beside those of its sources: not for commercial use. Hub:
facebook/AbstentionBench, which has a loading script and no data files: ``datasets`` runs such
scripts up to 3.6.0 only, with leave to execute what they hold, which sayso never gives. So export
the rows once, elsewhere, and name the file (docs/data.md says how).

``--data abstentionbench`` asks the hub all the same, should data files appear there (the names of
its splits could not be verified: all are read). A row, as the card describes it::

    {"question": "…", "reference_answers": ["…"], "should_abstain": false,
     "metadata_json": "{…}"}

Questions that one should abstain from have no right answer. A row to be answered that has no
reference answer is left out and counted. Where a row says which set it comes from (``dataset``,
``dataset_name`` or ``source``; the card names no such column) this is its domain, else "answerable"
or "unanswerable". Reference answers are ways to write one answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sayso.datasets.collection import Dataset
from sayso.datasets.published import Item, dataset_of, hub_rows, text_of, texts_of, truth_of
from sayso.datasets.tables import read_table
from sayso.records import content_id

HUB_ID = "facebook/AbstentionBench"
SPLITS: dict[str, str | None] = {"test": None, "dev": None}
ADVICE = (
    "it has a loading script, which datasets runs up to 3.6.0 only: export its rows there to JSONL "
    "and name the file, --data abstentionbench:FILE (sayso data list; docs/data.md)"
)


def load(split: str = "test") -> Dataset:
    """Load every row that the hub has. Raises InputError while it has a script only."""
    return _dataset(hub_rows("abstentionbench", HUB_ID, None, split, SPLITS, ADVICE), HUB_ID)


def load_file(path: Path) -> Dataset:
    """Load exported rows from JSONL, JSON, Parquet or CSV. Raises InputError."""
    return _dataset(read_table(path), str(path))


def _dataset(rows: Iterable[tuple[int, Mapping[str, Any]]], source: str) -> Dataset:
    left: list[int] = []
    found = list(items(rows, source, left))
    notes = [f"{len(left):,} left out: to be answered, but no reference answer"] if left else []
    return dataset_of(found, name="abstentionbench", source=source, notes=notes)


def items(
    rows: Iterable[tuple[int, Mapping[str, Any]]], source: str, left: list[int]
) -> Iterator[Item]:
    """Yield the questions of rows; lines that hold none with an answer are added to ``left``."""
    for line, row in rows:
        text = text_of(row, ("question",), source, line)
        answerable = not truth_of(row, "should_abstain", source, line)
        names = texts_of(row.get("reference_answers") or [], source, line) if answerable else []
        if answerable and not any(name.strip() for name in names):
            left.append(line)
            continue
        given = (row.get(name) for name in ("dataset", "dataset_name", "source"))
        domain = next((v for v in given if isinstance(v, str) and v.strip()), "")
        domain = domain or ("answerable" if answerable else "unanswerable")
        about = f"question {content_id(text)[:8]}"
        yield Item(line, text, names, about, domain=domain, answerable=answerable)

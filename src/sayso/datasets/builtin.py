"""The invented world that ships with sayso: UNCLE's format, every fact made up.

Its files are reached through importlib.resources; licence MIT like the package. What is in it and
how often the built-in model has read each fact is described in ``builtin/model/MODEL_CARD.md``.
"""

from __future__ import annotations

from importlib import resources

import msgspec

from sayso.datasets import uncle
from sayso.datasets.collection import Dataset
from sayso.records import InputError

SPLITS = ("test", "dev", "train")


def load(split: str = "test") -> Dataset:
    """Load one split of the built-in world: test, dev, train or all."""
    if split not in (*SPLITS, "all"):
        raise InputError(f"split {split!r}: expected {', '.join(SPLITS)} or all")
    source = resources.files("sayso").joinpath("builtin", "data", "questions.jsonl")
    rows = []
    for number, line in enumerate(source.read_bytes().splitlines(), start=1):
        record = msgspec.json.decode(line)
        if split in ("all", record.pop("split")):
            rows.append((number, record))
    return uncle.from_records(rows, name="builtin", source="builtin questions.jsonl")

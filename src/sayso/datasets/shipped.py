"""The question sets that ship with sayso: the built-in model's world, and two about the real one.

``world`` was written for sayso, under its MIT license; ``tools/world`` holds the recipe. Its facts
stand in ``data/world.jsonl``: UNCLE's records with a tier, and each aspect with the source of its
gold and the day on which that was true. ``data/world_pairs.jsonl`` holds the questions that nobody
can answer and the answerable twin of each, a row each, as a table of one's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from typing import Any

import msgspec

from sayso.datasets import own_table
from sayso.datasets.dataset import Dataset, questions_hash
from sayso.datasets.uncle import from_records
from sayso.records import Aspect, InputError, Question, question_id

SPLITS = ("test", "dev", "train")


def load_builtin(split: str = "test") -> Dataset:
    """Load one split of the built-in world: test, dev, train or all.

    It ships with sayso under its MIT license, in UNCLE's format, every fact invented.
    ``builtin/model/MODEL_CARD.md`` describes what is in it and how often the built-in model has
    read each fact.
    """
    if split not in (*SPLITS, "all"):
        raise InputError(f"split {split!r}: expected {', '.join(SPLITS)} or all")
    rows = []
    for number, record in _rows("builtin", "data", "questions.jsonl"):
        if split in ("all", record.pop("split")):
            rows.append((number, record))
    return from_records(rows, name="builtin", source="builtin questions.jsonl")


def load_world(split: str = "test") -> Dataset:
    """Load the facts of ``world`` in four tiers, and its pairs; ``split`` is ignored.

    A pair is a question that nobody can answer and a twin of the same form that has an answer.
    Pairs stand in no paragraph. Their domains say why nobody can answer the one: ``things`` (it
    asks about an invented thing, the twin about a real one), ``events`` (a future and a past
    event) and ``lives`` (a private detail of a life, and one that was written down).
    """
    facts = from_records(
        _rows("datasets", "data", "world.jsonl"), name="world", source="world.jsonl"
    )
    pairs = own_table.from_rows(
        _rows("datasets", "data", "world_pairs.jsonl"), {}, "world", "world_pairs.jsonl"
    )
    answered = tuple(msgspec.structs.replace(q, answerable=True) for q in facts.short)
    questions = (*answered, *pairs.questions, *facts.long)
    return Dataset("world", questions, questions_hash(questions), facts.rows + pairs.rows)


def load_world_50(split: str = "test") -> Dataset:
    """Load fifty short questions about the real world; ``split`` is ignored.

    Written for sayso, under its MIT license, and ``world`` in its earlier versions: forty about
    twenty people, places, works and things of science that many texts name, which a paragraph is
    asked about too, and ten of the same form about what we invented, so that nobody can answer
    them (``answerable`` false).
    """
    rows = list(_rows("datasets", "data", "world_50.jsonl"))
    known = [(number, row) for number, row in rows if row.get("answerable", True)]
    data = from_records(known, name="world-50", source="world_50.jsonl")
    invented = tuple(
        Question(
            id=question_id("world-50", row["entity"], part["question"]),
            dataset="world-50",
            text=part["question"],
            answerable=False,
            entity=row["entity"],
            domain=row["domain"],
            aspect=Aspect(part["description"], property_id=part["property_id"]),
        )
        for _, row in rows
        if not row.get("answerable", True)
        for part in row["individual_qa"]
    )
    answered = tuple(
        q if q.parts else msgspec.structs.replace(q, answerable=True) for q in data.questions
    )
    questions = (*answered, *invented)
    return Dataset("world-50", questions, questions_hash(questions), len(rows))


def _rows(*place: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, record) of a file of ours."""
    source = resources.files("sayso").joinpath(*place)
    for number, line in enumerate(source.read_bytes().splitlines(), start=1):
        yield number, msgspec.json.decode(line)

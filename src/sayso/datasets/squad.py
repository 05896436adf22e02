"""SQuAD v1.1, SQuAD v2 and XQuAD: questions about a passage, which stands in the prompt.

Rajpurkar et al. 2016, arXiv 1606.05250; Rajpurkar, Jia and Liang 2018, arXiv 1806.03822; Artetxe,
Ruder and Yogatama 2020, arXiv 1910.11856. Licence CC BY-SA 4.0. Hub: rajpurkar/squad,
rajpurkar/squad_v2, google/xquad. Answers are spans that several annotators marked: one is enough.
A row of the hub, or the published JSON (train-v1.1.json, dev-v2.0.json, xquad.en.json, …)::

    {"context": "…", "question": "…", "title": "…", "answers": {"text": ["…"], "answer_start": [9]}}
    {"data": [{"title": "…", "paragraphs": [{"context": "…", "qas": [{"question": "…",
        "answers": [{"text": "…", "answer_start": 9}], "is_impossible": false}]}]}]}

Questions about one passage are one cluster: they depend on each other. ``squad_v2`` keeps what the
passage does not answer as questions without an answer, domain "unanswerable"; the rest has the
domain "answerable". Their ``plausible_answers`` are wrong and not read. ``squad`` and ``xquad``
leave such questions out and count them, so ``squad:dev-v2.0.json`` are v2's answerable ones, as
Santilli et al. used them (arXiv 2504.13677).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from sayso.datasets.collection import Dataset
from sayso.datasets.published import Item, dataset_of, hub_rows, text_of, texts_of
from sayso.datasets.tables import read_document, read_table
from sayso.records import InputError, content_id

HELD_OUT = {"test": "validation", "dev": "validation"}
#: name -> (hub id, configuration, its splits)
SETS: dict[str, tuple[str, str | None, dict[str, str]]] = {
    "squad": ("rajpurkar/squad", None, {**HELD_OUT, "train": "train"}),
    "squad_v2": ("rajpurkar/squad_v2", None, {**HELD_OUT, "train": "train"}),
    "xquad": ("google/xquad", "xquad.en", HELD_OUT),
}


def load(split: str = "test", name: str = "squad") -> Dataset:
    """Load a set from the hub; test and dev are its validation split."""
    repository, config, splits = SETS[name]
    rows = hub_rows(name, repository, config, split, splits)
    return _made(rows, name, repository)


load_v2 = partial(load, name="squad_v2")
load_xquad = partial(load, name="xquad")


def load_file(path: Path, name: str = "squad") -> Dataset:
    """Load the published JSON, or rows from JSONL, JSON, Parquet or CSV. Raises InputError."""
    if path.suffix.lower() == ".json" and isinstance(document := read_document(path), dict):
        return _made(rows_of(document, str(path)), name, str(path))
    return _made(read_table(path), name, str(path))


def rows_of(document: Mapping[str, Any], source: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the questions of the published JSON as rows. Raises InputError."""
    number = 0
    try:
        for article in document["data"]:
            for paragraph in article["paragraphs"]:
                for asked in paragraph["qas"]:
                    number += 1
                    yield number, {**asked, "context": paragraph["context"]}
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{source}, after question {number}: expected data[paragraphs[context, qas[question, "
            f"answers[text]]]] as in SQuAD ({type(error).__name__} {error})"
        ) from None


def _made(rows: Iterable[tuple[int, dict[str, Any]]], name: str, source: str) -> Dataset:
    keep = name == "squad_v2"
    left: list[int] = []
    items = _items(rows, source, None if keep else left)
    data = dataset_of(items, name=name, source=source)
    told = f"{len(left):,} left out: no answer in the passage (squad_v2 keeps them)"
    return msgspec.structs.replace(data, notes=(*data.notes, told)) if left else data


def _items(
    rows: Iterable[tuple[int, dict[str, Any]]], source: str, left: list[int] | None
) -> Iterator[Item]:
    """Yield questions; those without an answer are added to ``left``, and kept if it is None."""
    for line, row in rows:
        names = _answers(row, source, line)
        answerable = bool(names)
        if left is not None and not answerable:
            left.append(line)
            continue
        context = text_of(row, ("context",), source, line)
        domain = "" if left is not None else "answerable" if answerable else "unanswerable"
        yield Item(
            line,
            text_of(row, ("question",), source, line),
            names,
            f"passage {content_id(context)[:8]}",
            context,
            domain=domain,
            answerable=answerable,
        )


def _answers(row: Mapping[str, Any], source: str, line: int) -> list[str]:
    """Return the spans of a row; none says that the passage does not answer it.

    A row that merely lacks its answers says nothing of the kind. Raises InputError for it.
    """
    if row.get("is_impossible") is True:
        return []
    value = row.get("answers")
    if isinstance(value, Mapping):
        value = value.get("text")
    elif isinstance(value, list) and all(isinstance(one, Mapping) for one in value):
        value = [one.get("text") for one in value]
    found = [text for text in texts_of(value, source, line) if text.strip()]
    if not found and row.get("is_impossible") is False:
        raise InputError(f"{source} line {line}: no answer, though is_impossible is false")
    return found

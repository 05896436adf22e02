"""SQuAD v1.1, SQuAD v2 and XQuAD: questions about a passage, which stands in the prompt.

Rajpurkar et al. 2016, arXiv 1606.05250; Rajpurkar, Jia and Liang 2018, arXiv 1806.03822; Artetxe,
Ruder and Yogatama 2020, arXiv 1910.11856. Licence CC BY-SA 4.0. Hub: rajpurkar/squad,
rajpurkar/squad_v2, google/xquad. Answers are spans that several annotators marked: one is enough.
Of v2 only the questions that can be answered are kept. A row of the hub, or the published JSON::

    {"context": "…", "question": "…", "title": "…", "answers": {"text": ["…"]}}
    {"data": [{"title": "…", "paragraphs": [{"context": "…", "qas": [{"question": "…",
        "answers": [{"text": "…"}], "is_impossible": false}]}]}]}

Questions about one passage are one cluster: they depend on each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sayso.datasets.collection import Dataset
from sayso.datasets.published import Item, dataset_of, hub_rows, text_of, texts_of
from sayso.records import InputError, content_id
from sayso.store import read_rows

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
    rows = hub_rows(repository, config, split, splits)
    return _made(rows, name, repository)


load_v2 = partial(load, name="squad_v2")
load_xquad = partial(load, name="xquad")


def load_file(path: Path, name: str = "squad") -> Dataset:
    """Load the published JSON, or rows from JSONL, JSON or Parquet. Raises InputError."""
    if path.suffix.lower() == ".json" and isinstance(document := read_document(path), dict):
        return _made(rows_of(document, str(path)), name, str(path))
    return _made(read_rows(path), name, str(path))


def read_document(path: Path) -> Any:
    """Return what a JSON file holds. Raises InputError for one that cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"{path} is no JSON ({' '.join(str(error).split())[:120]})") from None


def rows_of(document: Mapping[str, Any], source: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the questions of the published JSON as rows."""
    number = 0
    try:
        for article in document["data"]:
            for paragraph in article["paragraphs"]:
                for asked in paragraph["qas"]:
                    number += 1
                    yield (
                        number,
                        {
                            "context": paragraph["context"],
                            "title": article.get("title", ""),
                            "question": asked["question"],
                            "answers": {"text": [a["text"] for a in asked["answers"]]},
                            "is_impossible": asked.get("is_impossible", False),
                        },
                    )
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{source}, after question {number}: expected data[paragraphs[context, qas[question, "
            f"answers[text]]]] as in SQuAD ({type(error).__name__} {error})"
        ) from None


def _made(rows: Iterable[tuple[int, dict[str, Any]]], name: str, source: str) -> Dataset:
    kept, impossible = [], 0
    for line, row in rows:
        answers = row.get("answers")
        names = answers.get("text") if isinstance(answers, Mapping) else answers
        found = texts_of(names if names is not None else "", source, line)
        if row.get("is_impossible") or not any(text.strip() for text in found):
            impossible += 1
            continue
        context = text_of(row, ("context",), source, line)
        text = text_of(row, ("question",), source, line)
        kept.append(Item(line, text, found, f"passage {content_id(context)[:8]}", context))
    notes = [f"{impossible:,} left out: no answer in the passage"] if impossible else []
    return dataset_of(kept, name=name, source=source, notes=notes)

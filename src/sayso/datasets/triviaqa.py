"""TriviaQA: trivia questions with one answer each and many ways to write it.

Joshi et al. 2017, "TriviaQA: A Large Scale Distantly Supervised Challenge Dataset for Reading
Comprehension", arXiv 1705.03551. Licence Apache-2.0 as its authors' repository has it; the card on
the hub says "unknown", and the questions are their writers'. Hub: mandarjoshi/trivia_qa,
``rc.nocontext``, splits train and validation (test has no answers and is not read). ``aliases`` are
ways to write one answer, not several true values. A row of the hub, of the published JSON (under
``Data``), or of a file of one's own::

    {"question": "…", "question_id": "tc_1", "answer": {"value": "…", "aliases": ["…"]}}
    {"Question": "…", "QuestionId": "tc_1", "Answer": {"Value": "…", "Aliases": ["…"]}}
    {"question": "…", "answer": "…"}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sayso.datasets.collection import Dataset
from sayso.datasets.published import Item, dataset_of, hub_rows, text_of, texts_of
from sayso.datasets.tables import read_rows_under
from sayso.records import InputError

HUB_ID, CONFIG = "mandarjoshi/trivia_qa", "rc.nocontext"


def load(split: str = "test") -> Dataset:
    """Load the set from the hub; test and dev are its validation split."""
    rows = hub_rows("triviaqa", HUB_ID, CONFIG, split)
    return dataset_of(items(rows, HUB_ID), name="triviaqa", source=HUB_ID)


def load_file(path: Path) -> Dataset:
    """Load the published JSON, or rows from JSONL, JSON, Parquet or CSV. Raises InputError."""
    rows = read_rows_under(path, "Data")
    return dataset_of(items(rows, str(path)), name="triviaqa", source=str(path))


def items(rows: Iterable[tuple[int, Any]], source: str) -> Iterator[Item]:
    """Yield the questions of rows."""
    for line, row in rows:
        if not isinstance(row, Mapping):
            raise InputError(f"{source} line {line}: expected an object with question and answer")
        text = text_of(row, ("question", "Question"), source, line)
        answer = row.get("answer", row.get("Answer"))
        if isinstance(answer, Mapping):
            value = answer.get("value", answer.get("Value"))
            aliases = answer.get("aliases", answer.get("Aliases")) or []
            names = [*texts_of(value, source, line), *texts_of(aliases, source, line)]
        else:
            names = texts_of(answer, source, line)
        given = row.get("question_id") or row.get("QuestionId") or row.get("id") or text
        yield Item(line, text, names, str(given))

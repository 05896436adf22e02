"""SelfAware: questions that nobody can answer beside questions like them that can be answered.

Yin et al. 2023, "Do Large Language Models Know What They Don't Know?", Findings of ACL 2023,
arXiv 2305.18153. Data CC BY-SA 4.0 (its README; the code beside it is Apache-2.0). The authors
publish ``data/SelfAware.json`` on GitHub, yinzhangyue/SelfAware: 2,337 questions with answers from
SQuAD, HotpotQA and TriviaQA, and 1,032 without. Hub: JesusCrist/selfAware, ``train``, a copy that
others keep, without a licence of its own; that its columns are those below is what programs that
read it say. Answers are ways to write one right answer. A row, or the published JSON::

    {"question_id": 3, "question": "…", "answer": ["…"], "answerable": true, "source": "…"}
    {"question_id": 2667, "question": "…", "answer": null, "answerable": false, "source": "…"}
    {"example": [{…}]}

The domain is "answerable" or "unanswerable".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sayso.datasets.collection import Dataset
from sayso.datasets.published import Item, dataset_of, hub_rows, text_of, texts_of, truth_of
from sayso.datasets.tables import read_rows_under
from sayso.records import InputError, content_id

HUB_ID = "JesusCrist/selfAware"
SPLITS: dict[str, str | None] = {"test": "train", "dev": "train", "train": "train"}


def load(split: str = "test") -> Dataset:
    """Load the set from the hub; its only split is every split."""
    rows = hub_rows(
        "selfaware", HUB_ID, None, split, SPLITS,
        "download SelfAware.json from its authors and name it: --data selfaware:SelfAware.json",
    )  # fmt: skip
    return dataset_of(items(rows, HUB_ID), name="selfaware", source=HUB_ID)


def load_file(path: Path) -> Dataset:
    """Load the published JSON, or rows from JSONL, JSON, Parquet or CSV. Raises InputError."""
    rows = read_rows_under(path, "example")
    return dataset_of(items(rows, str(path)), name="selfaware", source=str(path))


def items(rows: Iterable[tuple[int, Any]], source: str) -> Iterator[Item]:
    """Yield the questions of rows."""
    for line, row in rows:
        if not isinstance(row, Mapping):
            raise InputError(f"{source} line {line}: expected an object with question and answer")
        text = text_of(row, ("question",), source, line)
        answerable = truth_of(row, "answerable", source, line)
        names = texts_of(row.get("answer"), source, line) if answerable else []
        about = f"question {row.get('question_id') or content_id(text)[:8]}"
        slice_ = "answerable" if answerable else "unanswerable"
        yield Item(line, text, names, about, domain=slice_, answerable=answerable)

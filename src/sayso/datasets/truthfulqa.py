"""TruthfulQA: questions that many people answer wrongly, out of a common belief.

Lin, Hilton and Evans 2022, "TruthfulQA: Measuring How Models Mimic Human Falsehoods", arXiv
2109.07958. Licence Apache-2.0. Hub: truthfulqa/truthful_qa, ``generation``, its one split
``validation`` of 817 questions; the CSV that its authors publish now has 790. Every correct answer
is a statement of its own and any one of them is right; the best answer comes first. They are
sentences, and so are the answers of a model: the ``rules`` judge compares names and numbers, so
grade this set with a model as judge. The incorrect answers of the set are not read. A row of the
hub, or of the published CSV::

    {"type": "Adversarial", "category": "…", "question": "…", "best_answer": "…",
     "correct_answers": ["…"], "incorrect_answers": ["…"], "source": "…"}
    Type,Category,Question,Best Answer,Best Incorrect Answer,Correct Answers,Incorrect Answers,…

(the older one without the best incorrect answer). Where the set lists "I have no comment" among the
correct answers this is no value to compare with, and not taken as one: whether an answer abstains
is judged apart. A question that has no other correct answer is one that cannot be answered. In the
CSV the answers of a cell are separated by semicolons. The domain is the category.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sayso.datasets.collection import Dataset
from sayso.datasets.published import Item, dataset_of, hub_rows, text_of, texts_of
from sayso.datasets.tables import read_table
from sayso.records import content_id

HUB_ID, CONFIG = "truthfulqa/truthful_qa", "generation"
NO_COMMENT = "i have no comment"


def load(split: str = "test") -> Dataset:
    """Load the set from the hub; test and dev are its validation split."""
    rows = hub_rows(
        "truthfulqa", HUB_ID, CONFIG, split, {"test": "validation", "dev": "validation"},
        "download TruthfulQA.csv and name it: --data truthfulqa:TruthfulQA.csv",
    )  # fmt: skip
    return dataset_of(items(rows, HUB_ID), name="truthfulqa", source=HUB_ID)


def load_file(path: Path) -> Dataset:
    """Load rows from CSV, JSONL, JSON or Parquet. Raises InputError."""
    return dataset_of(items(read_table(path), str(path)), name="truthfulqa", source=str(path))


def items(rows: Iterable[tuple[int, Mapping[str, Any]]], source: str) -> Iterator[Item]:
    """Yield the questions of rows, whatever case their columns have."""
    for line, written in rows:
        row = {str(name).strip().lower().replace(" ", "_"): v for name, v in written.items()}
        text = text_of(row, ("question",), source, line)
        correct = row.get("correct_answers")
        if isinstance(correct, str):
            correct = correct.split(";")
        others = texts_of(correct or [], source, line)
        best = row.get("best_answer")
        given = [*([best] if isinstance(best, str) else []), *others]
        named = [answer for answer in given if answer.strip()]
        stated = [answer for answer in named if answer.strip(" .").casefold() != NO_COMMENT]
        category = row.get("category")
        domain = " ".join(category.split()) if isinstance(category, str) else ""
        about = f"question {content_id(text)[:8]}"
        yield Item(
            line,
            text,
            stated[:1],
            about,
            others=stated[1:],
            domain=domain,
            answerable=bool(stated) or not named,
        )

"""Fit which sentence of an answer speaks of its question, for ``sayso.contradicts``.

    SAYSO_TEST_DATA=... python tools/readers/contradiction.py

Prints the weights for ``judges/contradiction.py`` and how many of its texts are then read right.
Answers: draws of SmolLM2-135M-Instruct (``benchmarks/data/answering_draws.jsonl``, labelled by a
language model), and answers that people called right (QA-Eval, in ``SAYSO_TEST_DATA``). No answers:
the other draws, and answers to other questions. Needs scikit-learn.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from sayso.judges import contradiction

DRAWS = Path(__file__).resolve().parents[2] / "benchmarks" / "data" / "answering_draws.jsonl"
SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
RIGHT = 3_000
#: of an answer of the source in fitting
WEIGHTS = {"draw": 6.0, "right": 0.5, "other question": 0.7}


class Example(NamedTuple):
    """An answer, whether it answers the question, and the source."""

    question: str
    answer: str
    answers: bool
    source: str


def examples(folder: Path) -> Iterator[Example]:
    for line in DRAWS.open("rb"):
        row = json.loads(line)
        yield Example(row["question"], row["answer"], row["answers"], "draw")
    right = []
    for name in ("NQ", "TQ"):
        for line in (folder / "evouna" / f"{name}.jsonl").open("rb"):
            row = json.loads(line)
            # benchmarks/readers/contradiction.py reads the answers to the other questions
            if not row.get("improper") and hashlib.sha256(row["question"].encode()).digest()[0] % 2:
                right += [
                    (row["question"], row[f"answer_{s}"])
                    for s in SYSTEMS
                    if row.get(f"judge_{s}") is True
                ]
    random.Random(3).shuffle(right)
    right = right[:RIGHT]
    for (question, answer), (_, another) in pairwise([*right, right[0]]):
        yield Example(question, answer, True, "right")
        if len(another) > 60:
            yield Example(question, another, False, "other question")


def main() -> None:
    folder = os.environ.get("SAYSO_TEST_DATA")
    if folder is None:
        sys.exit("SAYSO_TEST_DATA is not set: it names the folder that holds evouna/")
    table, labels, weights = [], [], []
    for question, answer, answers, source in examples(Path(folder)):
        kind = contradiction.question_kind(question)
        read = [
            contradiction.subject_features(question, kind, said, before)
            for said, before in contradiction.read_statements(question, answer)
            if kind != "yes_no" and said.value(kind) and not (said.bare and said.alone)
        ]
        for features in read[: 1 if answers else None]:  # the value is mostly told first
            table.append([features.get(name, 0.0) for name in contradiction.WEIGHTS])
            labels.append(answers)
            weights.append(WEIGHTS[source] / (1 if answers else len(read)))
    names = list(contradiction.WEIGHTS)
    model = LogisticRegression(max_iter=3_000, fit_intercept=False)
    model.fit(np.array(table), labels, sample_weight=weights)
    fitted = {name: round(float(w), 1) for name, w in zip(names, model.coef_[0], strict=True)}
    print(fitted)
    contradiction.WEIGHTS.update(fitted)
    contradiction.read_short_answer.cache_clear()
    right: dict[tuple[str, bool], list[bool]] = {}
    for question, answer, answers, source in examples(Path(folder)):
        read_right = (contradiction.read_short_answer(question, answer) is not None) == answers
        right.setdefault((source, answers), []).append(read_right)
    for (source, answers), rows in right.items():
        print(f"{source}, {'answers' if answers else 'none'}: {np.mean(rows):.3f} of {len(rows)}")


if __name__ == "__main__":
    main()

"""Fit which sentence of an answer speaks of its question, for ``sayso.contradicts``.

    SAYSO_TEST_DATA=... python tools/readers/contradiction.py

Prints the weights for ``judges/contradiction.py`` and how many of its texts are then read right.
Needs scikit-learn. All labels of draws are a language model's. Answers and none:

* draws of SmolLM2-135M-Instruct (``benchmarks/data/answering_draws.jsonl``)
* draws of SmolLM2 and Qwen2.5-Coder in pairs (``contradiction_draws.jsonl``, half models-dev): both
  of a pair that can be compared answer, and beside an answer the other of a "missing" pair does not
* answers of the same models that are read as right, or as withheld (``stance_real.jsonl``, train)
* answers that people called right (QA-Eval, in ``SAYSO_TEST_DATA``), and answers to other questions

No question of the halves that only measure is among them.
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
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from sayso.judges import contradiction

DATA = Path(__file__).resolve().parents[2] / "benchmarks" / "data"
SMALL = ("smollm2", "qwen-0.5b", "qwen-1.5b")
#: halves of the pairs that only measure
KEPT = ("fresh", "models-aside", "models-fresh")
WITHHELD = ("abstained", "refused_by_policy", "asked_back")
SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
ANSWERING = "answering_draws.jsonl"
RIGHT = 3_000
#: of an answer of the source in fitting
WEIGHTS = {"draw": 6.0, "paired": 3.0, "stance": 2.0, "right": 0.5, "other question": 0.5}


class Example(NamedTuple):
    """An answer, whether it answers the question, and the source."""

    question: str
    answer: str
    answers: bool
    source: str


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).open("rb")]


def paired(rows: list[dict[str, Any]]) -> Iterator[Example]:
    """Yield the texts of labeled pairs of which it follows whether they answer."""
    sides = [((r["question"], r["a"]), (r["question"], r["b"]), r["label"]) for r in rows]
    told = {one for *both, label in sides if label != "missing" for one in both}
    none = {
        y
        for a, b, label in sides
        for x, y in ((a, b), (b, a))
        if label == "missing" and x in told and y not in told
    }
    for (question, answer), answers in [*((t, True) for t in told), *((n, False) for n in none)]:
        yield Example(question, answer, answers, "paired")


def of_stance(rows: list[dict[str, Any]]) -> Iterator[Example]:
    """Yield the short answers of small models of which both readers say the same."""
    for row in rows:
        if row["source"] in SMALL and row["half"] == "train" and row["form"] == "short":
            readings = {tuple(reading) for reading in row["labels"][0]["readers"]}
            if len(row["aspects"]) != 1 or len(readings) != 1:
                continue
            stance, content = readings.pop()
            told = content == "correct" or (stance == "hedged" and content == "incorrect")
            if told or stance in WITHHELD:
                question = row["aspects"][0]["question"]
                yield Example(question, row["text"], told, "stance")


def examples(folder: Path) -> Iterator[Example]:
    """Yield all but those whose question is kept for measuring."""
    pairs = lines("contradiction_draws.jsonl")
    kept = {row["question"] for row in pairs if row["half"] in KEPT}
    draws = [Example(r["question"], r["answer"], r["answers"], "draw") for r in lines(ANSWERING)]
    found = sorted(paired([row for row in pairs if row["half"] == "models-dev"]))
    for example in (*draws, *found, *of_stance(lines("stance_real.jsonl"))):
        if example.question not in kept:
            yield example
    yield from of_people(folder)


def of_people(folder: Path) -> Iterator[Example]:
    """Yield answers that people called right, with their own question and with another."""
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
            | {"withheld": contradiction.withheld(question, said.whole)}
            for said, before in contradiction.read_statements(question, answer)
            if kind != "yes_no" and said.value(kind) and not (said.bare and said.alone)
        ]
        for features in read[: 1 if answers else None]:  # the value is mostly told first
            table.append([features.get(name, 0.0) for name in contradiction.WEIGHTS])
            labels.append(answers)
            weights.append(WEIGHTS[source] / (1 if answers else len(read) ** 0.5))
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

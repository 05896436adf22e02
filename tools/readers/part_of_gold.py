"""Fit which part of a gold is enough where no rule finds the gold in an answer.

    SAYSO_TEST_DATA=... python tools/readers/part_of_gold.py

Prints the weights for ``PART_WEIGHTS`` of ``judges/rules/matching.py`` and, by ten folds of the
questions, how many right and wrong answers are accepted. Labels are people's, of the half of
QA-Eval that may be read (``benchmarks/readers/judge_rules.py``). Wrong are also its right answers
to other questions of the same kind whose gold shares a word. Needs scikit-learn.
"""

from __future__ import annotations

import hashlib
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from sayso.judges.english.questions import expected
from sayso.judges.rules import matching
from sayso.records import Gold

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks" / "readers"))
from judge_rules import Row, golds_of_field, rows, set_aside

#: of an example of the source in fitting
WEIGHTS = {"QA-Eval": 1.0, "other gold": 0.3}
#: golds of other questions for one right answer
OTHERS = 2
INVERSE_PENALTY = 0.3
FOLDS = 10


class Example(NamedTuple):
    """An answer in which no rule finds the gold: the part that it says, and its label."""

    source: str
    question: str
    features: dict[str, float]
    right: bool


def example(source: str, question: str, gold: Gold, answer: str, right: bool) -> Example | None:
    """Return an example, or None where a rule decides or no part of the gold is said."""
    found = matching.match(question, [gold], answer)
    if found.why not in ("not found", "part"):
        return None
    part = matching.near_part(matching.MatchedCase(question, answer), [gold])
    return None if part is None else Example(source, question, part.features, right)


def other_golds(answers: list[Row]) -> Iterator[tuple[Row, Gold]]:
    """Yield right answers, each with golds of other questions that share a word with its own."""
    golds = {row.question: golds_of_field(row.golden) for row in answers}
    words = {
        question: {t.stem for form in matching.readings(gold.value)[:1] for t in form.content}
        for question, gold in golds.items()
    }
    having: dict[str, list[str]] = {}
    for question, stems in words.items():
        for stem in stems:
            having.setdefault(stem, []).append(question)
    draw = random.Random(1)
    for row in answers:
        said = {t.stem for t in matching.matched_text(row.answer).tokens}
        said -= {t.stem for t in matching.matched_text(row.question).tokens}
        others = {q for stem in words[row.question] & said for q in having[stem]}
        kind = expected(row.question)
        same = sorted(q for q in others - {row.question} if expected(q) == kind)
        for question in draw.sample(same, min(OTHERS, len(same))):
            yield row, golds[question]


def examples(folder: Path) -> Iterator[Example | None]:
    """Yield the examples of all sources; None for answers that teach nothing."""
    opened = [row for row in rows(folder) if not set_aside(row.dataset, row.question)]
    for row in opened:
        yield example("QA-Eval", row.question, golds_of_field(row.golden), row.answer, row.right)
    for right, gold in other_golds([row for row in opened if row.right]):
        yield example("other gold", right.question, gold, right.answer, right=False)


def fitted(table: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weights of a logistic regression on features as they are, the constant first."""
    scaler = StandardScaler().fit(table)
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=5_000)
    model.fit(scaler.transform(table), labels, sample_weight=weights)
    slopes = model.coef_[0] / scaler.scale_
    return np.concatenate((model.intercept_ - slopes @ scaler.mean_, slopes))


def main() -> None:
    """Print the weights and what folds say of them."""
    folder = os.environ.get("SAYSO_TEST_DATA")
    if folder is None:
        sys.exit("SAYSO_TEST_DATA is not set: it names the folder that holds evouna/")
    read = [one for one in examples(Path(folder)) if one is not None]
    names = [name for name in matching.PART_WEIGHTS if name != "always"]
    table = np.array([[one.features[name] for name in names] for one in read])
    labels = np.array([one.right for one in read])
    sources = np.array([one.source for one in read])
    weights = np.array([WEIGHTS[source] for source in sources])
    folds = np.array([hashlib.sha256(r.question.encode()).digest()[0] % FOLDS for r in read])
    chances = np.zeros(len(read))
    for fold in range(FOLDS):
        inside = folds != fold
        constant, *slopes = fitted(table[inside], labels[inside], weights[inside])
        chances[~inside] = 1 / (1 + np.exp(-constant - table[~inside] @ slopes))
    constant, *slopes = fitted(table, labels, weights)
    weights_by_name = zip(names, np.round(slopes, 2).tolist(), strict=True)
    print({"always": round(float(constant), 2), **dict(weights_by_name)})
    for least in (0.8, 0.7, 0.6, 0.5, 0.4):
        for source in WEIGHTS:
            here = (sources == source) & (chances > least)
            right, wrong = int((here & labels).sum()), int((here & ~labels).sum())
            print(f"above {least:.2f}, {source}: {right} right, {wrong} wrong")
    for source in WEIGHTS:
        here = sources == source
        print(f"all, {source}: {(here & labels).sum()} right, {(here & ~labels).sum()} wrong")


if __name__ == "__main__":
    main()

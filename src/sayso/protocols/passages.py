"""Questions that come with a passage, asked again without it and with one that does not say.

A model that answers from passages should answer when the passage says it, and decline when the
passage does not. To measure both on the same questions, each answerable question is asked with its
own passage, without a passage, and with another question's passage (:func:`other_passages`). The
last is what a search returns when it finds the topic but not the answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sayso.answers import contains
from sayso.answers.lexical import unicode_words
from sayso.metrics.arrays import Floats
from sayso.protocols.pool import Cluster, clusters_of
from sayso.records import Question

#: stages of the questions that are asked without their passage, and with another one
WITHOUT_PASSAGE, OTHER_PASSAGE = "without-passage", "other-passage"
AGAIN = (WITHOUT_PASSAGE, OTHER_PASSAGE)


class AskedAgain(NamedTuple):
    """Answers to the same questions with their passage taken away or exchanged.

    Arrays have an entry for each row, NaN where nothing could be read: ``asked`` tells which
    questions were asked so, ``withheld`` and ``outcome`` are as in the rows, ``found`` is 1
    where the answer's value stands in the passage shown.
    """

    asked: NDArray[np.bool_]
    withheld: Floats
    outcome: Floats
    found: Floats


def has_passage(question: Question) -> bool:
    """Tell whether an answerable short question comes with a passage."""
    return bool(question.context) and question.answerable is not False and not question.parts


def shown_passages(questions: Sequence[Question], stage: str) -> dict[str, str]:
    """Return, by question id, the passage that stood with the question in answers of a stage."""
    if stage == WITHOUT_PASSAGE:
        return {}
    if stage == OTHER_PASSAGE:
        return other_passages(questions)
    return {question.id: question.context for question in questions if question.context}


def other_passages(questions: Sequence[Question]) -> dict[str, str]:
    """Return, by question id, the passage of another question that is shown instead of its own.

    It is the passage that shares most with the question, by the sum of ln(N / n) over the distinct
    words of the question that it contains, N being the number of passages and n of those with the
    word. Passages of the question's own cluster, and passages that contain a gold answer as whole
    words, are left out; equal passages are ranked by their text. A question for which no passage
    is left is missing from the result.
    """
    held = [question for question in questions if has_passage(question)]
    texts = sorted({question.context or "" for question in held})
    clusters = clusters_of(questions)
    owners: dict[str, set[Cluster]] = {}
    for question in held:
        owners.setdefault(question.context or "", set()).add(clusters[question.id])
    places: dict[str, list[int]] = {}
    for number, text in enumerate(texts):
        for word in set(unicode_words(text)):
            places.setdefault(word, []).append(number)
    chosen = {}
    for question in held:
        score = np.zeros(len(texts))
        for word in sorted(set(unicode_words(question.text))):
            if word in places:
                score[places[word]] += math.log(len(texts) / len(places[word]))
        names = [name for gold in question.golds or () for name in gold.names]
        for number in np.argsort(-score, kind="stable").tolist():
            text = texts[number]
            own = text == question.context or clusters[question.id] in owners[text]
            if not own and not (names and contains(names, text)):
                chosen[question.id] = text
                break
    return chosen

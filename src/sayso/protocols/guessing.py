"""How often would an answer about somebody else have been right? (VALIDITY 1)

Any-of-k counts luck. The guess rate of an aspect is the share of probe draws for *other* entities
of its type that match its gold, always by the offline matcher, so that it does not depend on the
judge. At most ``CAP`` draws are compared with one gold: the rate of a type is an average over its
aspects and hardly moves beyond that.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from sayso.annotate.matching import match
from sayso.records import Gold, Question, content_id

CAP = 100

Ints = NDArray[np.int64]


def other_draws(
    questions: Sequence[Question], draws: Mapping[str, Sequence[str]], seed: int = 0
) -> tuple[Ints, Ints]:
    """Return (matches, others) for each question: draws for other entities of its type.

    ``draws`` maps a question id to the texts of its probe draws. Both arrays have one entry per
    question; ``others`` is 0 where the type has no other entity.
    """
    by_type: dict[str, list[Question]] = defaultdict(list)
    for question in {q.id: q for q in questions}.values():
        by_type[question.type].append(question)
    found: dict[str, tuple[int, int]] = {}
    for kind in sorted(by_type):
        pool = [(q.entity, text) for q in by_type[kind] for text in draws.get(q.id, ())]
        random.Random(content_id([seed, kind])).shuffle(pool)
        for question in by_type[kind]:
            elsewhere = (text for entity, text in pool if entity != question.entity)
            others = list(islice(elsewhere, CAP))  # the pool of a type has as many draws as aspects
            golds = question.golds or ()
            hits = sum(
                number
                for text, number in Counter(others).items()
                if _matches(question.text, golds, text)
            )
            found[question.id] = (hits, len(others))
    table = np.array([found[q.id] for q in questions], dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


@lru_cache(maxsize=200_000)
def _matches(question: str, golds: tuple[Gold, ...], text: str) -> bool:
    return match(question, golds, text).content == "correct"

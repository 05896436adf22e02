"""How sure a model is of an answer: the share of its other draws that agree with it.

The confidence of Yona et al. (arXiv 2405.16908, Equation 2) in the training set's place: no truth
enters. Draws that state nothing, and pairs of which nothing can be said, are not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from sayso.annotate.contradict import contradicts
from sayso.records import Question, content_id
from sayso.train.pairs import Fact

#: (question's text, answer, answer) -> whether they cannot both be right; None: nothing can be said
Compare = Callable[[str, str, str], bool | None]
#: draws that must be comparable for a confidence to exist
LEAST = 5


class Agreement(NamedTuple):
    """``agreeing`` of ``counted`` draws."""

    agreeing: int
    counted: int

    @property
    def share(self) -> float:
        """The confidence, 0..1."""
        return self.agreeing / self.counted


def agreement(
    question: Question,
    answer: str,
    draws: Sequence[str],
    compare: Compare = contradicts,
    least: int = LEAST,
) -> Agreement | None:
    """Return how many draws agree with an answer; None with fewer than ``least`` comparable."""
    agreeing = counted = 0
    for draw in draws:
        found = compare(question.text, answer, draw)
        if found is not None:
            counted += 1
            agreeing += not found
    return Agreement(agreeing, counted) if counted >= max(1, least) else None


def confidences(
    facts: Sequence[Fact], k: int, compare: Compare = contradicts, least: int = LEAST
) -> dict[str, Agreement]:
    """Return the confidence of each short fact's greedy answer by question id, where it exists."""
    found = {}
    for fact in facts:
        if fact.form == "short" and fact.greedy.strip():
            made = agreement(fact.question, fact.greedy, fact.draws[:k], compare, least)
            if made is not None:
                found[fact.question.id] = made
    return found


def extremes(
    facts: Sequence[Fact], number: int, k: int, compare: Compare = contradicts, least: int = LEAST
) -> list[Fact]:
    """Return ``number`` short facts: one half those surest of themselves, the other the least sure.

    RLMF (arXiv 2606.32032) chooses its training examples by the model's judgement of itself; here
    the agreement of its draws with its answer stands for that. No truth enters. Facts without a
    confidence are left out; ties go by a hash of the question.
    """
    sure = confidences(facts, k, compare, least)
    held = [f for f in facts if f.form == "short" and f.question.id in sure]
    held.sort(key=lambda f: (sure[f.question.id].share, content_id(["extremes", f.question.id])))
    if len(held) <= number:
        return held
    low = number // 2
    return [*held[:low], *held[len(held) - (number - low) :]]


def told_confidence(
    question: Question,
    value: str | None,
    short: Mapping[str, Fact],
    k: int,
    compare: Compare = contradicts,
    least: int = LEAST,
) -> Agreement | None:
    """Return the confidence of a value told in a paragraph: of the draws of its own short question.

    None where the paragraph states no value or the question was not drawn.
    """
    fact = short.get(question.id)
    if fact is None or value is None or not value.strip():
        return None
    return agreement(question, value, fact.draws[:k], compare, least)


def lucky(fact: Fact, k: int, right: bool | None) -> bool:
    """Tell whether an answer may be right although no draw of its question is."""
    read = [r for r in fact.right[:k] if r is not None]
    return bool(read) and not any(read) and right is not False

"""What draws of a question say: whether it is known, how much of that is luck, where values stand.

A server that repeats itself at T>0 makes five probes out of one answer: some sample by the model
folder's own settings and ignore the temperature, others have a cache of whole answers. Then *known*
means "right once", and everything that counts draws as independent means nothing. So repeats are
counted (:func:`count_draws`).
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress, islice
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.judges.judge import Item
from sayso.judges.rules.judge import RulesJudge
from sayso.judges.rules.matching import MatchedText, agreeing
from sayso.records import Estimate, Generation, Gold, Message, Question, Verdict, content_id

Ints = NDArray[np.int64]

# ---- what is known

#: what the draws of one question say of it
KNOWN, UNKNOWN, UNREADABLE, HEDGED_PROBE = 1, 0, -1, 2


def probe_state(values: Sequence[str | None], k: int, at_least: int = 1) -> int:
    """Return what the probes of one question say: known if ``at_least`` readable ones are correct.

    Unknown only if all ``k`` are readable and fewer are correct; then ``HEDGED_PROBE`` if at least
    half of them hedged (the rule ``probe.unc`` decides what that means). Else unreadable.
    """
    if values.count("correct") >= at_least:
        return KNOWN
    if len(values) < k or None in values:
        return UNREADABLE
    hedged = sum(v == "uncertain" for v in values)
    return HEDGED_PROBE if 2 * hedged >= len(values) else UNKNOWN


def is_known(values: Sequence[str | None], k: int) -> bool | None:
    """Tell whether the probes of one question say that it is known; ``None`` where unreadable."""
    state = probe_state(values, k)
    return None if state == UNREADABLE else state == KNOWN


def draws_by_question(
    generations: Iterable[Generation], k: int | None = None
) -> dict[str, list[Generation]]:
    """Return the first ``k`` draws of each question, in order of their sample index."""
    draws: dict[str, list[Generation]] = defaultdict(list)
    for generation in sorted(generations, key=lambda g: g.request.sample):
        if k is None or generation.request.sample < k:
            draws[generation.question].append(generation)
    return draws


# ---- draws that repeat

#: the stage of draws that decide what is known, and count as independent
PROBES = "probe"
#: questions that must have been drawn more than once before anything is concluded
LEAST = 8
#: why numbers that count draws have no value where a question is drawn until it is known
STOPPED = "needs every draw, and draws ended once a fact was known (probe.stop=first_right)"
ALIKE = "draws of every question are equal: they say no more than one draw"


class DrawVariety(NamedTuple):
    """``drawn`` questions have at least two draws; all draws of ``alike`` of them are equal."""

    drawn: int
    alike: int

    @property
    def repeat(self) -> bool:
        """True where every question's draws are equal, and there are enough questions to tell."""
        return self.drawn >= LEAST and self.alike == self.drawn

    @property
    def share(self) -> Estimate:
        """``draws_alike``: the share of questions whose draws are equal; all is a problem."""
        return Estimate(
            "draws_alike",
            value=self.alike / self.drawn if self.drawn else None,
            numerator=self.alike,
            denominator=self.drawn,
            n=self.drawn,
            problem=ALIKE if self.repeat else None if self.drawn else "no question was drawn twice",
        )


def count_draws(generations: Iterable[Generation]) -> DrawVariety:
    """Count the prompts that were drawn more than once at T>0, and those whose draws are equal.

    Equal are draws of the same text and the same thought. Requests that failed are no draws.
    """
    seen: dict[tuple[str, tuple[Message, ...]], tuple[set[int], set[tuple[str, str | None]]]] = {}
    for g in generations:
        if g.request.temperature > 0 and (g.problem is None or g.problem == "truncated"):
            samples, texts = seen.setdefault((g.question, g.request.messages), (set(), set()))
            samples.add(g.request.sample)
            texts.add((g.text, g.thinking))
    repeated = [texts for samples, texts in seen.values() if len(samples) > 1]
    return DrawVariety(len(repeated), sum(len(texts) == 1 for texts in repeated))


def why_alike(estimates: Iterable[Estimate], draws_vary: bool | None) -> str:
    """Return how a run shows that its draws never vary; empty if it does not.

    ``draws_vary`` is what the engine saw for itself; ``None`` where it does not know.
    """
    share = next((e for e in estimates if e.name == "draws_alike"), None)
    if share is not None and share.problem == ALIKE:
        return "draws of every question are equal"
    if draws_vary is False and (share is None or share.value is not None):
        return "the model was seen to repeat the same text at a temperature above 0"
    return ""


# ---- the guess rate: how often would an answer about another entity have been right?
# Any-of-k counts luck. The guess rate of an aspect is the share of probe draws for *other* entities
# of its type that match its gold, always by the offline matcher, so that it does not depend on the
# judge. At most ``CAP`` draws are compared with one gold: the rate of a type is an average over its
# aspects and hardly moves beyond that.

CAP = 100


def other_draws(
    questions: Sequence[Question], draws: Mapping[str, Sequence[str]]
) -> tuple[Ints, Ints]:
    """Return (matches, others) for each question: draws for other entities of its type.

    ``draws`` maps a question id to the texts of its probe draws. Both arrays have one entry per
    question; ``others`` is 0 where the type has no other entity.
    """
    by_type: dict[str, list[Question]] = defaultdict(list)
    for question in {q.id: q for q in questions}.values():
        by_type[question.type].append(question)
    counts: dict[str, tuple[int, int]] = {}
    for kind in sorted(by_type):
        pool = [(q.entity or q.id, text) for q in by_type[kind] for text in draws.get(q.id, ())]
        random.Random(content_id([0, kind])).shuffle(pool)
        said: dict[str, MatchedText] = {}
        for question in by_type[kind]:
            own = question.entity or question.id
            elsewhere = (text for entity, text in pool if entity != own)
            others = Counter(islice(elsewhere, CAP))  # a type's pool has as many draws as aspects
            for text in others.keys() - said.keys():
                said[text] = MatchedText(text)
            right = agreeing(question.text, question.golds or (), [said[text] for text in others])
            hits = sum(compress(others.values(), right))
            counts[question.id] = (hits, others.total())
    table = np.array([counts[q.id] for q in questions], dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


# ---- where an answer states a value, without a look at the truth
# A judge that holds the gold cuts a right value out to the letter, and takes a wrong one with the
# words around it, or not at all. Every score of those characters, plain length first, then tells
# the two apart by where they end. So spans come from the offline rules with golds that are not
# stated.

#: a value that no answer has, for a question that is the only one of its type
NOWHERE = (Gold("Zzyqxthorp"),)
#: golds of other questions that are tried before that
MOST_TURNS = 8


class BlindRules:
    """The offline rules judge, reading each answer with another question's gold.

    Its verdicts say where values stand (``answer_start:answer_end``) and how they are voiced;
    their content is against a borrowed gold and means nothing. ``questions`` lend their golds to
    others of their type.
    """

    def __init__(self, questions: Sequence[Question]) -> None:
        self._rules = RulesJudge()
        self.name = self._rules.name
        self.signature = f"{self._rules.signature}-blind"
        self._golds: dict[str, list[tuple[Gold, ...]]] = {}
        self._place: dict[str, int] = {}
        for question in questions:
            if question.golds:
                lent = self._golds.setdefault(question.type, [])
                self._place.setdefault(question.id, len(lent))
                lent.append(question.golds)

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        """Return one verdict for each (item, question), in order."""
        return [verdict for item in items for verdict in self._read(item)]

    def lenders(self, question: Question) -> Iterator[tuple[Gold, ...]]:
        """Yield other golds of the question's type, the next question's first, each once."""
        lent = self._golds.get(question.type, [])
        start = self._place.get(question.id, -1) + 1
        seen = {question.golds}
        for step in range(len(lent)):
            golds = lent[(start + step) % len(lent)]
            if golds not in seen:
                seen.add(golds)
                yield golds

    def _read(self, item: Item) -> list[Verdict]:
        """Turn to the next gold wherever the answer states the borrowed one.

        Else a wrong value would now and then be cut out to the letter, and a right one never.
        """
        left = [islice(self.lenders(question), MOST_TURNS) for question in item.questions]
        golds = [next(some, NOWHERE) for some in left]
        while True:
            questions = tuple(
                msgspec.structs.replace(question, golds=borrowed)
                for question, borrowed in zip(item.questions, golds, strict=True)
            )
            verdicts = self._rules.grade([item._replace(questions=questions)])
            stated = [
                row
                for row, verdict in enumerate(verdicts)
                if verdict.content == "correct" and golds[row] != NOWHERE
            ]
            if not stated:
                return verdicts
            for row in stated:
                golds[row] = next(left[row], NOWHERE)

"""Where an answer states a value, found without a look at the truth.

A judge that holds the gold cuts a right value out to the letter, and takes a wrong one with the
words around it, or not at all. Every score of those characters, plain length first, then tells the
two apart by where they end. So spans come from the offline rules with golds that are not stated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from sayso.annotate import Item
from sayso.annotate.rules import RulesJudge
from sayso.records import Gold, Question, Verdict

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
            asked = tuple(
                msgspec.structs.replace(question, golds=borrowed)
                for question, borrowed in zip(item.questions, golds, strict=True)
            )
            verdicts = self._rules.grade([item._replace(questions=asked)])
            stated = [
                row
                for row, verdict in enumerate(verdicts)
                if verdict.content == "correct" and golds[row] != NOWHERE
            ]
            if not stated:
                return verdicts
            for row in stated:
                golds[row] = next(left[row], NOWHERE)

"""Reading answers: replies of a model become verdicts and evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from sayso.records import Generation, Question, Verdict


class Item(NamedTuple):
    """One answer to judge: ``questions`` has one entry for a short answer, the parts in order
    for a long one."""

    generation: Generation
    questions: tuple[Question, ...]


class Judge(Protocol):
    """Whoever reads answers: the offline rules, or a model with a prompt and a parser."""

    name: str
    signature: str

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        """Return one verdict for each (item, question), in order; unread ones carry a problem."""

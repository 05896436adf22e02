"""What every loader returns."""

from __future__ import annotations

import msgspec

from sayso.records import Question, content_id


class Dataset(msgspec.Struct, frozen=True):
    """Questions with where they come from.

    ``questions`` holds short questions first, then the long ones that cover them. ``hash``
    depends on the questions and golds alone; ``notes`` say what a reader of the numbers must know
    (rows found, rows left out and why).
    """

    name: str
    questions: tuple[Question, ...]
    hash: str
    rows: int
    notes: tuple[str, ...] = ()

    @property
    def short(self) -> tuple[Question, ...]:
        """The questions about one aspect."""
        return tuple(q for q in self.questions if not q.parts)

    @property
    def long(self) -> tuple[Question, ...]:
        """The questions that cover several aspects."""
        return tuple(q for q in self.questions if q.parts)

    def replaced(self, questions: tuple[Question, ...]) -> Dataset:
        """Return the same set with other questions, and the hash that belongs to them."""
        return msgspec.structs.replace(self, questions=questions, hash=questions_hash(questions))


def questions_hash(questions: tuple[Question, ...]) -> str:
    """Return a short hash of what is asked and what is true."""
    return content_id(["questions", sorted(msgspec.json.encode(q).decode() for q in questions)])[:8]

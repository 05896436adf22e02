"""Whether a question has several right answers, by a language model.

Yona et al., arXiv 2405.16908, leave ambiguous questions out and do not say how they find them. The
prompt is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sayso.engines.engine import Engine
from sayso.judges.model.numbered import JudgeTask, NumberedReader, TextBlock

#: what stands in the place of the answers to a question that has none
NO_ANSWERS = "none are known"


class Ambiguous(NamedTuple):
    """Whether a question is ambiguous; ``None`` with the problem why it is not known."""

    value: bool | None
    problem: str | None = None


def read_ambiguous(entry: dict[str, Any]) -> bool | None:
    """Return what an entry says; ``None`` if it says neither yes nor no."""
    answer = entry.get("ambiguous")
    if isinstance(answer, bool):
        return answer
    word = answer.strip().casefold().rstrip(".") if isinstance(answer, str) else ""
    return {"yes": True, "no": False}.get(word)


class LlmAmbiguous(NumberedReader):
    """A model that reads questions with their right answers, one in a call."""

    task = JudgeTask(
        "ambiguous", "ambiguous_reply", "answers", 48, read_ambiguous,
        own=lambda _, word: read_ambiguous({"ambiguous": word}),
    )  # fmt: skip
    subject = "ambiguity"

    def __init__(self, engine: Engine, folder: Path | None = None) -> None:
        super().__init__(engine, folder)
        self._known: dict[tuple[str, str], Ambiguous] = {}

    def read(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Ambiguous]:
        """Return what was read of each (question, right answers); each is asked once."""
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        blocks = [
            TextBlock(question, (), (answers.strip() or NO_ANSWERS,)) for question, answers in new
        ]
        for pair, outcomes in zip(new, self.ask(blocks), strict=True):
            (outcome,) = outcomes.values()
            self._known[pair] = Ambiguous(outcome.value, outcome.problem)
        return {pair: self._known[pair] for pair in pairs}

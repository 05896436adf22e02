"""Decisiveness by a language model: the assertions of an answer, stripped of hedges, and scores.

The few-shot prompt P_d of Yona et al. (arXiv 2405.16908, section 3) in our words: one entry for
each answer with the probability, 0..1, that a reader would give to each assertion from the wording
alone. An empty list is a punt: nothing was asserted. A score outside 0..1, a text that is none, or
an entry that misses anything is no reading.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sayso.annotate.llm_asking import JudgeCounts
from sayso.annotate.llm_numbered import Kind, ask_blocks, blocks_of, load
from sayso.models import Engine

#: more assertions than this in one answer are not read as one
MOST_ASSERTIONS = 40
LONGEST = 2000


class Asserted(NamedTuple):
    """Assertions (text, score 0..1) of an answer. None and no ``problem``: it asserts nothing."""

    assertions: tuple[tuple[str, float], ...]
    problem: str | None = None


def read_assertions(entry: dict[str, Any]) -> list[list[Any]] | None:
    """Return [text, score] of each assertion of an entry; ``None`` if any of it is not valid."""
    given = entry.get("assertions")
    if not isinstance(given, list) or len(given) > MOST_ASSERTIONS:
        return None
    found: list[list[Any]] = []
    for one in given:
        if not isinstance(one, dict):
            return None
        text, score = one.get("text"), one.get("score")
        if not isinstance(text, str) or not text.strip() or len(text) > LONGEST:
            return None
        if isinstance(score, bool) or not isinstance(score, int | float):
            return None
        if not math.isfinite(score) or not 0 <= score <= 1:
            return None
        found.append([text.strip(), float(score)])
    return found


KIND = Kind("decisive", "decisive_reply", "answer", 160, read_assertions)


class LlmDecisive:
    """A model that reads wording. ``counts`` and ``notices`` tell what could not be read."""

    def __init__(self, engine: Engine, folder: Path | None = None) -> None:
        self.engine = engine
        self.texts = load(KIND, folder)
        self.signature = f"{engine.signature}#p{self.texts.hash[:4]}"
        self.counts = JudgeCounts()
        self._known: dict[tuple[str, str], Asserted] = {}

    def read(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Asserted]:
        """Return what each (question, answer) asserts; each is asked once, empty ones never."""
        asked: dict[str, list[str]] = {}
        for question, text in dict.fromkeys(pairs):
            if not text.strip():
                self._known[question, text] = Asserted(())
            elif (question, text) not in self._known:
                asked.setdefault(question, []).append(text)
        blocks = [b for q, texts in asked.items() for b in blocks_of(q, (), texts)]
        replies = ask_blocks(self.engine, KIND, self.texts, blocks, self.counts)
        for block, outcomes in zip(blocks, replies, strict=True):
            for text, outcome in outcomes.items():
                said = tuple((str(t), float(s)) for t, s in outcome.value or ())
                self._known[block.question, text] = Asserted(said, outcome.problem)
        return {pair: self._known[pair] for pair in pairs}

    @property
    def notices(self) -> list[str]:
        """What a reader of the numbers must know."""
        return lost(self.counts, "decisiveness", self.signature)


def lost(counts: JudgeCounts, what: str, who: str) -> list[str]:
    """Return one sentence for each reason why readings are missing."""
    return [
        f"{what} by {who}: {number} of {counts.parts} readings are missing ({problem})"
        for problem in ("unread", "mismatch", "refused", "truncated", "failed")
        if (number := getattr(counts, problem))
    ]

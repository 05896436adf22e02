"""Contradiction by a language model: does a sample contradict an assertion, yes or no?

The few-shot prompt P_c of Yona et al. (arXiv 2405.16908, section 3) in our words. All samples of
one assertion stand in one call, each with a number and an answer of its own. Equal texts are not
asked about. Neutral is no contradiction.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sayso.annotate.fence import Field
from sayso.annotate.llm_asking import JudgeCounts
from sayso.annotate.llm_decisive import lost
from sayso.annotate.llm_numbered import Kind, ask_blocks, blocks_of, load
from sayso.models import Engine

Triple = tuple[str, str, str]


def read_answer(entry: dict[str, Any]) -> str | None:
    """Return "c" or "n" of an entry; ``None`` if it says neither yes nor no."""
    said = entry.get("contradicts")
    if isinstance(said, bool):
        return "c" if said else "n"
    word = said.strip().casefold().rstrip(".") if isinstance(said, str) else ""
    return {"yes": "c", "no": "n"}.get(word)


KIND = Kind("contradict", "contradict_reply", "sample", 48, read_answer)


class LlmContradict:
    """A model that compares. ``counts`` and ``notices`` tell what could not be read."""

    def __init__(self, engine: Engine, folder: Path | None = None) -> None:
        self.engine = engine
        self.texts = load(KIND, folder)
        self.signature = f"{engine.signature}#p{self.texts.hash[:4]}"
        self.counts = JudgeCounts()
        self._known: dict[Triple, str] = {}

    def read(self, triples: Sequence[Triple]) -> dict[Triple, str]:
        """Return c (contradicts), n, e (equal texts) or ? (not read) for each triple."""
        asked: dict[tuple[str, str], list[str]] = {}
        for question, claim, sample in dict.fromkeys(triples):
            if claim.strip().casefold() == sample.strip().casefold():
                self._known[question, claim, sample] = "e"
            elif (question, claim, sample) not in self._known:
                asked.setdefault((question, claim), []).append(sample)
        blocks, claims = [], []
        for (question, claim), samples in asked.items():
            some = blocks_of(question, (Field("claim", claim),), samples)
            blocks += some
            claims += [claim] * len(some)
        replies = ask_blocks(self.engine, KIND, self.texts, blocks, self.counts)
        for block, claim, outcomes in zip(blocks, claims, replies, strict=True):
            for sample, outcome in outcomes.items():
                letter = "?" if outcome.problem is not None else str(outcome.value)
                self._known[block.question, claim, sample] = letter
        return {triple: self._known[triple] for triple in triples}

    @property
    def notices(self) -> list[str]:
        """What a reader of the numbers must know."""
        return lost(self.counts, "contradiction", self.signature)

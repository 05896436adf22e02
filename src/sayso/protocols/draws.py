"""Do draws differ? A server that repeats itself at T>0 makes five probes out of one answer.

Some servers sample by the model folder's own settings and ignore the temperature; others have a
cache of whole answers. Then *known* means "right once", and everything that counts draws as
independent means nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sayso.records import Generation, Message

#: questions that must have been drawn more than once before anything is concluded
LEAST = 8
ALIKE = "draws of every question are equal: they say no more than one draw"


class Draws(NamedTuple):
    """``drawn`` questions have at least two draws; all draws of ``alike`` of them are equal."""

    drawn: int
    alike: int

    @property
    def repeat(self) -> bool:
        """True where every question's draws are equal, and there are enough questions to tell."""
        return self.drawn >= LEAST and self.alike == self.drawn


def count_draws(generations: Iterable[Generation]) -> Draws:
    """Count the prompts that were drawn more than once at T>0, and those whose draws are equal.

    Equal are draws of the same text and the same thought. Requests that failed are no draws.
    """
    said: dict[tuple[str, tuple[Message, ...]], tuple[set[int], set[tuple[str, str | None]]]] = {}
    for g in generations:
        if g.request.temperature > 0 and (g.problem is None or g.problem == "truncated"):
            samples, texts = said.setdefault((g.question, g.request.messages), (set(), set()))
            samples.add(g.request.sample)
            texts.add((g.text, g.thinking))
    twice = [texts for samples, texts in said.values() if len(samples) > 1]
    return Draws(len(twice), sum(len(texts) == 1 for texts in twice))

"""A ladder of hedges: wordings around an answer, each scored by ``annotate.decisive``.

One ladder goes with bare values ("Paris"), one with sentences. Scores are computed, not written
down: when the reading of words changes, so does the ladder.
"""

from __future__ import annotations

import random
from functools import cache
from typing import NamedTuple

from sayso.annotate.claims_clauses import has_verb
from sayso.annotate.decisive import decisiveness
from sayso.train.pairs_words import lowered

#: around a bare value; our words
AROUND_VALUE = (
    "{answer}",
    "Almost certainly {answer}",
    "I am fairly sure it is {answer}",
    "Most likely {answer}",
    "I am fairly confident it is {answer}",
    "Very likely {answer}",
    "I believe it is {answer}",
    "I think it is {answer}",
    "Probably {answer}",
    "Chances are it is {answer}",
    "It seems to be {answer}",
    "If I had to guess, {answer}",
    "I would guess {answer}",
    "More likely than not {answer}",
    "My guess is {answer}",
    "It could be {answer}",
    "Maybe {answer}",
    "Perhaps {answer}",
    "It may be {answer}",
    "It might be {answer}",
    "I can only guess: {answer}",
    "I am not sure, but it may be {answer}",
    "I am not sure, but perhaps {answer}",
    "I am far from sure, but it might be {answer}",
    "This is a wild guess: {answer}",
    "It is unlikely, but my best guess is {answer}",
    "I doubt it, but it could be {answer}",
)
#: around a sentence
AROUND_SENTENCE = (
    "{answer}",
    "It is almost certain that {answer}",
    "I am fairly sure that {answer}",
    "Most likely, {answer}",
    "It is very likely that {answer}",
    "I believe that {answer}",
    "I think {answer}",
    "It is likely that {answer}",
    "Probably, {answer}",
    "I would guess that {answer}",
    "More likely than not, {answer}",
    "It could be that {answer}",
    "Perhaps {answer}",
    "It is possible that {answer}",
    "It might be that {answer}",
    "I am not sure, but it may be that {answer}",
    "I am not sure, but perhaps {answer}",
    "I am far from sure, but it might be that {answer}",
    "I have little confidence that {answer}",
    "This is a wild guess: {answer}",
    "I doubt it, but it could be that {answer}",
)
#: wordings this much further from the level than the nearest one are as good
ALIKE = 0.02
#: an answer that is less decisive by itself is hedged already, and gets no hedge from here
PLAIN = 0.9


class Rung(NamedTuple):
    """One wording and its decisiveness, 0..1."""

    wording: str
    level: float

    def say(self, answer: str) -> str:
        """Return an answer in this wording."""
        inside = answer.strip() if self.wording == "{answer}" else lowered(answer.strip())
        return self.wording.replace("{answer}", inside)


def is_sentence(answer: str) -> bool:
    """Tell whether an answer is a sentence, which takes another ladder than a bare value."""
    text = answer.strip()
    return len(text.split()) > 2 and (text.endswith((".", "!")) and has_verb(text))


def before(word: str, answer: str) -> str:
    """Return an answer behind a hedge: "Possibly Lyon", "Possibly he was born in Lyon."."""
    said = lowered(answer) if is_sentence(answer) else answer
    return f"{word[:1].upper()}{word[1:]} {said}"


def is_plain(answer: str) -> bool:
    """Tell whether an answer asserts something and hedges nothing by itself."""
    own = decisiveness(answer)
    return own is not None and own >= PLAIN


@cache
def ladder(sentence: bool) -> tuple[Rung, ...]:
    """Return the rungs for values or for sentences, the most decisive first."""
    wordings = AROUND_SENTENCE if sentence else AROUND_VALUE
    neutral = "The town lies in Marvania." if sentence else "Marvania"
    rungs = []
    for wording in wordings:
        level = decisiveness(Rung(wording, 0.0).say(neutral))
        if level is not None:
            rungs.append(Rung(wording, level))
    return tuple(sorted(rungs, key=lambda r: (-r.level, r.wording)))


def nearest(answer: str, level: float, generator: random.Random) -> Rung:
    """Return a wording for an answer whose decisiveness is closest to ``level``.

    One of those that are as close, drawn by ``generator``.
    """
    rungs = ladder(is_sentence(answer))
    best = min(abs(r.level - level) for r in rungs)
    return generator.choice([r for r in rungs if abs(r.level - level) <= best + ALIKE])


def far_off(answer: str, level: float, far: float, generator: random.Random) -> Rung | None:
    """Return a wording at least ``far`` from ``level``, above or below; None where there is none.

    The direction is drawn first where both exist. Above, the plain answer is drawn half the time:
    it is what an untaught model would say.
    """
    rungs = ladder(is_sentence(answer))
    above = [r for r in rungs if r.level >= level + far]
    below = [r for r in rungs if r.level <= level - far]
    sides = [side for side in (above, below) if side]
    if not sides:
        return None
    side = generator.choice(sides)
    if side is above and generator.random() < 0.5:
        return rungs[0]
    return generator.choice(side)

"""Which stance a short answer voices: the learned reader, and the rules that limit it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from sayso.judges.judge import WITHHELD
from sayso.judges.patterns import regex
from sayso.judges.rules.alignment import asserting_sentences
from sayso.judges.rules.mentions import as_meant
from sayso.judges.rules.reading import (
    STANCES,
    AskedAspect,
    Sentence,
    aspect_of,
    holds_cue,
    sentences_of,
    stance_chances,
)
from sayso.judges.rules.silence import (
    WITHHOLDING,
    with_option,
    without_any_value,
    without_doubt,
    without_idioms,
    without_opinion,
    without_other_gap,
    without_other_values,
    without_premise,
    without_refusal,
    without_request,
    without_token,
    without_value,
)
from sayso.metrics.arrays import Floats
from sayso.records import Stance

#: "[1]", "[2, 3]": which source says it
_CITED = regex(r"(?<=\S)\s?\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,9}\]")
#: limits on short answers, besides those on every text
_OF_SHORT = (
    without_premise, without_other_gap, without_other_values, without_any_value, without_request,
    without_opinion, with_option, without_token, without_doubt,
)  # fmt: skip


@lru_cache(maxsize=4096)
def voiced(aspect: AskedAspect, answer: str) -> tuple[list[Sentence], Floats]:
    """Return the sentences of an answer and the chances of its stances, whatever is true."""
    rows = sentences_of(_CITED.sub(lambda hit: " " * len(hit.group()), answer))
    if not rows:
        return rows, np.zeros(0)
    meant = as_meant(rows, aspect, answer)
    chances = stance_chances(asserting_sentences(meant, aspect), aspect)
    limited = limited_chances(chances, meant, aspect)
    for rule in _OF_SHORT:
        limited = rule(limited, meant, aspect)
    return rows, limited


def limited_chances(chances: Floats, rows: Sequence[Sentence], aspect: AskedAspect) -> Floats:
    """Return the chances of the stances, none where rules exclude one (``silence``)."""
    for rule in (without_refusal, without_value, without_idioms):
        chances = rule(chances, rows, aspect)
    return chances


def likeliest(chances: Floats) -> tuple[Stance, float]:
    place = int(chances.argmax())
    return STANCES[place], float(chances[place])


#: so likely silence must be where the question is not known
_SURELY = 0.85


def gives_nothing(text: str, has_value: bool = False) -> bool:
    """Whether a text most likely withholds, whatever the question is: "Pass.", "No idea.".

    One that asserts a value does so by a phrase alone, and most texts have none.
    """
    if has_value and not holds_cue(text, *WITHHOLDING):
        return False
    _, chances = voiced(aspect_of(""), text)
    if not len(chances):
        return False
    stance, chance = likeliest(chances)
    return stance in WITHHELD and chance > _SURELY

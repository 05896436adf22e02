"""Reading a clause before its words are counted: who does what to whom, and what is only framing.

A bag of words cannot tell "it causes fever" from "a virus causes it". The few turns in which the
same word speaks of one aspect or another by its direction are rewritten into the family they mean.
"""

from __future__ import annotations

import re
from functools import lru_cache

from sayso.annotate.cues import topics

#: "It is an established fact that ...": a frame, not a predicate.
_FRAME = re.compile(
    r"\b(?:it|there)(?:'s|\s+is|\s+was)\s+(?:an?\s+|no\s+)?(?:[\w-]+\s+){1,3}?that\b|"
    r"\b(?:records|documents|all\s+sources)\s+(?:confirm|show|agree|prove)\s+that\b",
    re.I,
)
#: "She is, I would guess, a biologist."
_ASIDE = re.compile(r"\b(is|was|are|were),\s+[^,;.]{2,30},\s+", re.I)
_ILLNESS = (
    r"(?:disease|illness|condition|disorder|infection|syndrome|ailment|malady|sickness|complaint)"
)
#: The illness is the subject, what it brings the object.
_CAUSING = re.compile(
    r"\b(?:causes?|caused|causing)\s+(?!(?:by|it|this|that|them|of|is|are|was|were|for|and|but)\b|"
    rf"(?:the|an?|this|its)\s+(?:\w+\s+)?{_ILLNESS}\b)"
    r"(?:(?:very|quite|most|more)\s+)?(?P<object>(?-i:[a-z])[\w-]*)",
    re.I,
)
_CAUSED = re.compile(
    r"\b(?:symptoms?|signs?|complaints?|troubles?|pains?)\s+(?:that\s+|which\s+)?"
    r"(?:[\w'-]+\s+){1,5}?(?:causes?|caused|brings?)\b|"
    r"\bwhat\s+(?:it|the\s+\w+)\s+causes\b",
    re.I,
)
#: People who treat are no treatment.
_HEALERS = re.compile(
    r"\b(?:specialists?|doctors?|physicians?|surgeons?|clinicians?|experts?|\w+ologists?|"
    r"\w+iatrists?|clinics?)\b[^,.;]{0,40}?\btreat(?:s|ed)?\b(?![^,.;]{1,60}\bwith\b)",
    re.I,
)
_PLACED = re.compile(
    r"\b(?:in\s+which|where)\b[^,.;]{1,40}\b(?:is|are|be)\s+(?:\w+\s+)?found\b", re.I
)
#: Her work as an object of interest, not as what she did for a living.
_ESTEEMED = re.compile(
    r"(?<!\bis\s)(?<!\bwas\s)(?<!:\s)\b(?:his|her|its|their)\s+(?:life\s+and\s+|\w+\s+)?"
    r"(?:works?|careers?|life|job|working\s+life)\b"
    r"(?!\s*(?:as|at|in|with|was|is|were|are|began|consist\w*|:)\b)",
    re.I,
)
_SCORED = re.compile(
    r"\b(?:features?|has|with|contains?)\s+(?:\w+\s+)?(?:music|songs|score)\b", re.I
)
_ASSOCIATE = re.compile(
    r"\bpartners?\s+in\s+(?:the\s+|a\s+|his\s+|her\s+)?(?:business|firm|practice|company|crime)\b|"
    r"\bbusiness\s+partners?\b",
    re.I,
)
_MARKETS = re.compile(r"\b(?:new|foreign|other|\w+an|many|several|its)\s+markets\b", re.I)


@lru_cache(maxsize=16384)
def spoken(text: str, wanted: frozenset[str], known: frozenset[str]) -> frozenset[str]:
    """Return the stems and ``wanted`` families that a clause speaks of, by their direction.

    ``known`` are the words of the question and the entity: "causes malaria" speaks of a cause where
    malaria is what was asked about.
    """
    text = framed(text)
    if "occupation" in wanted:
        text = _ESTEEMED.sub(" ", text)
    if "symptom" in wanted and "caus" in text:
        text = _CAUSED.sub(" symptom ", text)
        text = _CAUSING.sub(lambda hit: _turned(hit, known), text)
    if "specialty" in wanted:
        text = _HEALERS.sub(" specialty ", text)
    if "marriage" in wanted:
        text = _ASSOCIATE.sub(" associate ", text)
    if "cast" in wanted:
        text = _SCORED.sub(" music ", text)
    if "discovery" in wanted:
        text = _PLACED.sub(" located ", text)
    if "product" in wanted:
        text = _MARKETS.sub(" ", text)
    return topics(text, wanted)


def _turned(hit: re.Match[str], known: frozenset[str]) -> str:
    named = hit["object"].lower() in known
    return hit.group() if named else f" symptom {hit['object']}"


def framed(text: str) -> str:
    """Return a clause without its epistemic frame, for patterns of predicates."""
    return _ASIDE.sub(r"\1 ", _FRAME.sub(" ", text))

"""What an aspect's values look like, and how many such values a clause has room for."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from typing import Literal

from sayso.annotate.cues import STOP, stem
from sayso.annotate.hedges import ADVERBS, GENERIC
from sayso.annotate.naming import Asked
from sayso.annotate.values import names, typed

Shape = Literal["date", "number", "name", "words"]

_NUMERIC = re.compile(r"[$€£]?\d")
_TIMESTAMP = re.compile(r"[+-]?\d{4,}-\d\d-\d\dT|\d{4}$")
#: Somebody without a name: "is told by a schoolboy".
_BY_SOMEONE = re.compile(
    r"\bby\s+(?:an?|the|two|three|his|her|its|their)\s+(?!\w+\s+of\b)(?-i:[a-z])\w+(?!ing\b)\b"
)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
#: Words that are never the value itself: light verbs, adverbs of time and degree, measures.
_LIGHT_WORDS = [
    "takes",
    "take",
    "took",
    "make",
    "made",
    "get",
    "got",
    "gets",
    "go",
    "goes",
    "went",
    "come",
    "comes",
    "came",
    "give",
    "gives",
    "gave",
    "put",
    "years",
    "year",
    "decades",
    "decade",
    "long",
    "days",
    "day",
    "weeks",
    "week",
    "months",
    "month",
    "hours",
    "minutes",
    "later",
    "early",
    "ago",
    "after",
    "before",
    "develop",
    "develops",
    "appear",
    "appears",
    "appeared",
    "infection",
    "exposure",
    "contact",
    "onset",
    "people",
    "person",
    "usually",
    "often",
    "mostly",
    "generally",
    "typically",
    "sometimes",
    "very",
    "quite",
    "rather",
    "widely",
    "closely",
    "total",
    "chiefly",
    "mainly",
    "known",
    "well",
    "best",
    "first",
    "new",
    "several",
    "certain",
    "different",
    "thing",
    "things",
    "kind",
    "sort",
    "type",
    "way",
    "lot",
    "around",
    "roughly",
    "approximately",
    "nearly",
    "almost",
    "between",
    "during",
    "while",
    "when",
    "where",
    "disease",
    "illness",
    "condition",
    "disorder",
    "patients",
    "patient",
    "company",
    "firm",
    "film",
    "movie",
    "object",
    "man",
    "woman",
    "work",
    "works",
    "life",
    "time",
    "times",
    "world",
    "country",
]
_LIGHT = frozenset(_LIGHT_WORDS) | frozenset(ADVERBS)


def shape(aspect: Asked) -> Shape | None:
    """Return the shape of an aspect's values: of its golds, else of its question."""
    if not aspect.golds:
        by_kind: dict[str, Shape] = {
            "date": "date",
            "number": "number",
            "person": "name",
            "place": "name",
        }
        return by_kind.get(aspect.kind)
    gold = aspect.golds[0]
    if gold.kind == "date" or aspect.kind == "date" or _TIMESTAMP.match(gold.value):
        return "date"
    if gold.kind == "quantity" or _NUMERIC.match(gold.value):
        return "number"
    return "name" if gold.value[:1].isupper() else "words"


def room(text: str, start: int, end: int, aspect: Asked, wanted: AbstractSet[str]) -> int:
    """Return how many values of the aspect's shape ``text[start:end]`` may hold.

    ``wanted`` are the cue words of all aspects asked for: they name aspects and are no values.
    """
    if aspect.kind == "person" and _BY_SOMEONE.search(text, start, end):
        return 1 + sum(1 for _ in typed(text, start, end, aspect.kind, aspect.known))
    if aspect.kind != "any":
        return sum(1 for _ in typed(text, start, end, aspect.kind, aspect.known))
    form = shape(aspect)
    if form == "words":
        return _chunks(text, start, end, aspect, wanted)
    if form == "name" and " " in aspect.golds[0].value and not text.islower():
        return 9 if any(True for _ in names(text, start, end, aspect.known)) else 0
    return 9


def _chunks(text: str, start: int, end: int, aspect: Asked, wanted: AbstractSet[str]) -> int:
    """The runs of words that are left when everything that cannot be a value is gone."""
    found = 0
    inside = False
    for word in _WORD.finditer(text, start, end):
        low = word.group().lower().removesuffix("'s")
        spare = not (
            low in STOP
            or low in _LIGHT
            or low in GENERIC
            or low in aspect.known
            or low[0].isdigit()
            or (stem(low) in wanted and low not in _golden(aspect))
        )
        found += spare and not inside
        inside = spare
    return found


def _golden(aspect: Asked) -> frozenset[str]:
    return frozenset(w.lower() for g in aspect.golds for n in g.names for w in _WORD.findall(n))

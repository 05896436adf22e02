"""Exact inversion of the templates: what a generated paragraph says about each aspect, without a
judge.

This is the yardstick for judges, which never see the templates; it is exact because every
wording is data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from builtin_model.templates import LONG_HEDGES, SHORT_HEDGES
from builtin_model.wording import DOMAIN, Aspect, lowered


@dataclass(frozen=True)
class Reading:
    """What a paragraph says about one aspect: a plain value, a hedge (with the value it names,
    if any), or nothing."""

    stance: Literal["committed", "hedged", "omitted"]
    value: str | None
    sentence: str


def _pattern(template: str, aspect: Aspect, names: Sequence[tuple[str, str]]) -> re.Pattern[str]:
    """A template as a regular expression; `names` are the subjects and possessives that may
    stand in it."""
    subjects = sorted({n[0] for n in names}, key=len, reverse=True)
    owners = sorted({n[1] for n in names}, key=len, reverse=True)
    parts = {
        "S": "|".join(map(re.escape, subjects)),
        "P": "|".join(map(re.escape, owners)),
        "s": "|".join(re.escape(lowered(n)) for n in subjects),
        "p": "|".join(re.escape(lowered(n)) for n in owners),
        "d": re.escape(aspect.description),
    }
    text = re.escape(template).replace(r"\{", "{").replace(r"\}", "}")
    for key, alternatives in parts.items():
        text = text.replace("{" + key + "}", f"(?:{alternatives})")
    return re.compile(text.replace("{v}", "(?P<v>.+?)"))


@lru_cache(maxsize=4096)
def _patterns(domain: str, entity: str) -> tuple[tuple[int, bool, re.Pattern[str]], ...]:
    found = DOMAIN[domain]
    names = [
        (entity, f"{entity}'s"),
        ("She", "Her"),
        ("He", "His"),
        (found.subject, found.possessive),
    ]
    names = [n for n in names if n[0]]
    rows = [
        (i, True, _pattern(t, a, names)) for t in LONG_HEDGES for i, a in enumerate(found.aspects)
    ]
    rows += [
        (i, False, _pattern(t, a, names)) for i, a in enumerate(found.aspects) for t in a.sentences
    ]
    return tuple(rows)


def invert_paragraph(domain: str, entity: str, text: str) -> list[Reading]:
    """Per aspect of the domain, in order: exactly what the paragraph says about it (the first
    mention counts)."""
    readings = [Reading("omitted", None, "")] * len(DOMAIN[domain].aspects)
    for sentence in re.split(r"(?<=\.)\s+", text.strip()):
        for index, hedged, pattern in _patterns(domain, entity):
            match = pattern.fullmatch(sentence)
            if match:
                if readings[index].stance == "omitted":
                    value = match.groupdict().get("v")
                    readings[index] = Reading("hedged" if hedged else "committed", value, sentence)
                break
    return readings


_SHORT = [re.compile(re.escape(h).replace(r"\{v\}", "(?P<v>.+?)")) for h in SHORT_HEDGES]


def invert_short(text: str) -> Reading:
    """A short answer is a hedge of the table or a bare value."""
    text = text.strip()
    for pattern in _SHORT:
        match = pattern.fullmatch(text)
        if match:
            return Reading("hedged", match.groupdict().get("v"), text)
    return Reading("committed", text, text) if text else Reading("omitted", None, "")

"""Which aspects does a statement of ignorance name: "I am not sure when or where she died"?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from sayso.annotate import cues as c
from sayso.annotate.directed import spoken
from sayso.annotate.hedges import GENERIC
from sayso.annotate.talk import TALK
from sayso.records import Gold

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_LISTED = re.compile(r",|\b(?:or|and|nor)\b", re.I)


#: What an entity is, not what is asked about it.
_THINGS_WORDS = """film movie book novel album song company firm organization organisation disease
    condition asteroid planet star galaxy comet person entity individual object site"""


#: "Star" is what an entity is, and also the family of who starred in it: a family is never dropped.
_THINGS = frozenset(map(c.stem, _THINGS_WORDS.split())) - c.FAMILIES


#: What "the star" is, not who starred.
_A_STAR = re.compile(r"\b(?:the|this|that|an?)\s+(?:\w+\s+)?stars?\b", re.I)
_CAPITALIZED = re.compile(r"[^\W\d_a-zà-ÿ]|\d")


_QUOTED = re.compile(r"[\"“«]([^\"”»]+)[\"”»]")


class Asked(NamedTuple):
    """One aspect as the rules see it."""

    question: str
    golds: tuple[Gold, ...]
    kind: c.Expected
    cues: frozenset[str]
    known: frozenset[str]


@lru_cache(maxsize=32768)
def asked(question: str, golds: tuple[Gold, ...], hint: str = "", entity: str = "") -> Asked:
    """Read a short question: its cue words, its kind, and the words that name the entity."""
    words = _WORD.findall(question)
    entity_words = {w.lower() for w in _WORD.findall(entity)}
    for quoted in _QUOTED.findall(question):
        entity_words |= {w.lower() for w in _WORD.findall(quoted)}
    if not question.istitle():
        entity_words |= {w.lower() for w in words[1:] if _CAPITALIZED.match(w)}
    entity_words |= {w.removesuffix("'s") for w in entity_words}
    plain = " ".join(w for w in words if w.lower() not in entity_words)
    found = c.stems(_A_STAR.sub(" ", plain) + " " + hint)
    found = found - _THINGS or found
    known = frozenset(w.lower() for w in words) | frozenset(entity_words)
    return Asked(question, golds, c.expected(question, hint), found - {""}, known)


@lru_cache(maxsize=8192)
def _named(
    about: str, wanted: frozenset[str]
) -> tuple[frozenset[str], frozenset[str], frozenset[c.Expected]]:
    words = frozenset(w.lower() for w in _WORD.findall(c.settled(about)))
    return words, spoken(about, wanted, frozenset()), c.kinds_named(about)


@lru_cache(maxsize=8192)
def _segments(
    about: str, wanted: frozenset[str]
) -> tuple[tuple[frozenset[str], frozenset[c.Expected]], ...]:
    """The things that "her birth date or spouse" lists, each with its words and its kinds.

    A kind alone belongs to the next thing, at the end to the last: "when and where she died".
    """
    found: list[tuple[frozenset[str], frozenset[c.Expected]]] = []
    waiting: frozenset[c.Expected] = frozenset()
    for part in _LISTED.split(about):
        _, stems, kinds = _named(part, wanted)
        content = frozenset(c.stem(w) for w in c.stems(part) if w not in GENERIC)
        if content or stems & wanted:
            found.append((stems, kinds | waiting))
            waiting = frozenset()
        else:
            waiting |= kinds
    if waiting and found:
        found[-1] = (found[-1][0], found[-1][1] | waiting)
    return tuple(found)


def wanted_by(aspects: Sequence[Asked]) -> frozenset[str]:
    """All cue words of the aspects."""
    return frozenset().union(*(a.cues for a in aspects)) if aspects else frozenset()


def known_by(aspects: Sequence[Asked]) -> frozenset[str]:
    """All words of the questions and the entity that are no cue words."""
    return _entity(aspects)


def told_apart(aspects: list[Asked]) -> list[Asked]:
    """Drop the cue words that all aspects share: they name the subject, not an aspect."""
    if len(aspects) < 3:
        return aspects
    shared = frozenset.intersection(*(a.cues for a in aspects))
    return [a._replace(cues=a.cues - shared or a.cues) for a in aspects] if shared else aspects


def covers(about: str, reach: str, aspect: Asked, everyone: Sequence[Asked]) -> bool | None:
    """Whether a statement of ignorance with the words ``about`` names the aspect.

    A kind alone ("not sure when") is completed by ``reach``, the clause it hangs on: it means the
    aspects of that kind which are spoken of there, if any. ``None`` when nothing is named at all,
    so that the statement is about everything it reaches.
    """
    wanted = wanted_by(everyone)
    words, stems, kinds = _named(about, wanted)
    for cues, named_kinds in _segments(about, wanted):
        if aspect.cues & cues and (
            not named_kinds or aspect.kind in named_kinds or aspect.kind == "any"
        ):
            return True
    if aspect.cues & stems:
        return False
    rivals = any(a.cues & stems for a in everyone)
    entity = _entity(everyone) | _THINGS
    named = {w for w in words if w not in TALK and w not in entity and w not in c.STOP}
    if kinds:
        if aspect.kind not in kinds or rivals:
            return False
        if named:
            return False
        context = spoken(reach, wanted, frozenset())
        near = [a for a in everyone if a.kind == aspect.kind and a.cues & context]
        return aspect in near if near else not named
    return False if named or rivals else None


def _entity(everyone: Sequence[Asked]) -> frozenset[str]:
    return frozenset(w for a in everyone for w in a.known if c.stem(w) not in a.cues)

"""Which part of a long answer speaks of which aspect?

A paragraph is cut into units (a clause with the fragments that hang on it). Aspect a and unit u
score the share of a's cue words found in u, each weighted by its inverse frequency over the
paragraph's aspects, plus 1.5 for a gold in u and 0.4 for a value of the expected kind. Aspects are
assigned best first; a unit may carry several aspects, but for two aspects of one kind only as many
as it has values of that kind. Cue words of the entity and pronouns do not count.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from sayso.annotate import cues as c
from sayso.annotate.hedges import GENERIC
from sayso.annotate.sentences import Span
from sayso.annotate.stance import Reading
from sayso.annotate.values import typed
from sayso.records import Gold

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_CAPITALIZED = re.compile(r"[^\W\d_a-zà-ÿ]|\d")
_FINITE = re.compile(
    r"\b(?:is|was|are|were|has|had|have|did|does|do|can|could|may|might|must|will|would|should|lies|"
    r"became|began|wrote|won|led|made|went|ran|held|spent|took|sold|built|taught|met|left|lost|"
    r"lives|works|causes|orbits|stars|features|born|it's|he's|she's|[a-z]{3,}(?:ed|es|s))\b"
)
_QUOTED = re.compile(r"[\"“«]([^\"”»]+)[\"”»]")
_NATURE = re.compile(r"\b(?:is|was|are|were)\s+(?:an?|the)\s+(?:[\w'-]+\s+){0,5}[a-z]", re.I)
_NATURE_CUES = frozenset(
    {"occupation", "genre", "citizenship", "industry", "sport", "specialty", "instance", "class"}
)
_LIFE = re.compile(r"\(\s*(?:born|b\.|d\.|died|c\.)?[^()]{0,40}\d{3,4}[^()]{0,60}\)")
_LIFE_CUES = frozenset({"birth", "death"})

GOLD_BONUS = 1.5
KIND_BONUS = 0.4
_CANDIDATES = 12


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
    found = c.stems(" ".join(w for w in words if w.lower() not in entity_words) + " " + hint)
    known = frozenset(w.lower() for w in words) | frozenset(entity_words)
    return Asked(question, golds, c.expected(question, hint), found - {""}, known)


class Unit(NamedTuple):
    """A clause with the fragments that hang on it; ``sentence`` is its sentence's number."""

    start: int
    end: int
    sentence: int
    stems: frozenset[str]


@lru_cache(maxsize=1024)
def units(reading: Reading) -> tuple[Unit, ...]:
    """Cut a read text into units, leaving out what asserts nothing."""
    silences = reading.silences()
    found: list[Unit] = []
    for number, parts in enumerate(reading.clauses):
        held: list[Span] = []
        for part in parts:
            start, end = part
            for gap in silences:
                if gap.start <= start < gap.end:
                    start = min(end, gap.end)
                elif start < gap.start < end:
                    end = gap.start
            if not _WORD.search(reading.text, start, end):
                continue
            if held and not _FINITE.search(reading.text, start, end) and held[-1].end <= start:
                held[-1] = Span(held[-1].start, end)
            else:
                held.append(Span(start, end))
        found += [Unit(*s, number, c.stems(reading.text[s.start : s.end])) for s in held]
    return tuple(found)


def covers(about: str, reach: str, aspect: Asked, everyone: Sequence[Asked]) -> bool | None:
    """Whether a statement of ignorance with the words ``about`` names the aspect.

    A kind alone ("not sure when") is completed by ``reach``, the clause it hangs on: it means the
    aspects of that kind which are spoken of there, if any. ``None`` when nothing is named at all,
    so that the statement is about everything it reaches.
    """
    words = [w.lower() for w in _WORD.findall(about)]
    stems = {c.stem(w) for w in words}
    kinds = c.kinds_named(about)
    rivals = [a for a in everyone if a.cues & stems and (not kinds or a.kind in kinds)]
    if aspect.cues & stems:
        return not kinds or aspect.kind in kinds or aspect.kind == "any" or aspect in rivals
    entity = _entity(everyone)
    named = {w for w in words if w not in GENERIC and w not in entity and w not in c.STOP}
    if kinds:
        if aspect.kind not in kinds or rivals:
            return False
        context = c.stems(reach)
        near = [a for a in everyone if a.kind == aspect.kind and a.cues & context]
        return aspect in near if near else not named
    return False if named else None


def _entity(everyone: Sequence[Asked]) -> frozenset[str]:
    shared = [a.known - frozenset(w for w in a.known if c.stem(w) in a.cues) for a in everyone]
    return frozenset().union(*shared) if shared else frozenset()


@lru_cache(maxsize=65536)
def _gold_patterns(golds: tuple[Gold, ...]) -> tuple[str, ...]:
    found = []
    for gold in golds:
        for name in gold.names:
            year = re.match(r"[+-]?(\d{4})-\d{2}", name)
            found.append(year.group(1) if year else name.strip().lower())
    return tuple(n for n in found if n)


def _has_gold(golds: tuple[Gold, ...], lower: str) -> bool:
    for name in _gold_patterns(golds):
        at = lower.find(name)
        while at >= 0:
            end = at + len(name)
            if not (at and lower[at - 1].isalnum()) and not (
                end < len(lower) and lower[end].isalnum()
            ):
                return True
            at = lower.find(name, at + 1)
    return False


def assign(reading: Reading, aspects: Sequence[Asked]) -> list[Unit | None]:
    """Assign a unit to each aspect, ``None`` where no unit speaks of it.

    Hedged units take part, silent ones ("I don't know when") do not. Time grows with units x
    aspects; each score is a set intersection.
    """
    every = units(reading)
    frequency = Counter(cue for aspect in aspects for cue in aspect.cues)
    n = len(aspects)
    heap: list[tuple[float, int, int]] = []
    lowers = [reading.text[u.start : u.end].lower() for u in every]
    values: dict[tuple[int, str], int] = {}
    for a, aspect in enumerate(aspects):
        weights = {cue: math.log(1 + n / frequency[cue]) for cue in aspect.cues}
        total = sum(weights.values())
        rows: list[tuple[float, int]] = []
        for u, unit in enumerate(every):
            hit = sum(weights[cue] for cue in aspect.cues & unit.stems) / total if total else 0.0
            gold = _has_gold(aspect.golds, lowers[u])
            if not hit and _NATURE_CUES & aspect.cues and _NATURE.search(lowers[u]):
                hit = 0.4
            if not hit and _LIFE_CUES & aspect.cues and _LIFE.search(lowers[u]):
                hit = 0.4
            if hit or gold:
                rows.append((hit + GOLD_BONUS * gold, u))
        rows.sort(key=lambda row: (-row[0], row[1]))
        for score, u in rows[:_CANDIDATES]:
            unit = every[u]
            if aspect.kind != "any":
                values[u, aspect.kind] = sum(
                    1 for _ in typed(reading.text, unit.start, unit.end, aspect.kind, aspect.known)
                )
                has = values[u, aspect.kind] > 0
                if has:
                    score += KIND_BONUS
                elif score < GOLD_BONUS and aspect.kind in ("date", "number"):
                    continue
                elif score < GOLD_BONUS:
                    score -= 0.3
            if score > 0.15:
                heapq.heappush(heap, (-score, a, u))
    chosen: list[Unit | None] = [None] * n
    used: Counter[tuple[int, str]] = Counter()
    while heap:
        score, a, u = heapq.heappop(heap)
        if chosen[a] is not None:
            continue
        kind = aspects[a].kind
        if kind != "any" and used[u, kind] and used[u, kind] >= values.get((u, kind), 0):
            used[u, kind] = -(10**6)
            if -score - 0.6 > 0.15:
                heapq.heappush(heap, (score + 0.6, a, u))
            continue
        used[u, kind] += 1
        chosen[a] = every[u]
    return chosen

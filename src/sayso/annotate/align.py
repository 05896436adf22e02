"""Which part of a long answer speaks of which aspect?

A paragraph is cut into units (a clause with its fragments). Aspect a and unit u score the share of
a's cue words in u, weighted by inverse frequency over the aspects, plus 1.5 for a gold in u (0.6
without a cue) and 0.4 for a value of the kind expected. Best first; a unit carries several aspects.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from sayso.annotate import cues as c
from sayso.annotate.directed import framed, spoken
from sayso.annotate.naming import Asked, known_by, wanted_by
from sayso.annotate.sentences import Span
from sayso.annotate.shapes import room
from sayso.annotate.stance import Reading
from sayso.records import Gold

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_FINITE = re.compile(
    r"\b(?:is|was|are|were|has|had|have|did|does|do|can|could|may|might|must|will|would|"
    r"should|lies|"
    r"became|began|wrote|won|led|made|went|ran|held|spent|took|sold|built|taught|met|left|lost|"
    r"lives|works|causes|orbits|stars|features|born|it's|he's|she's|[a-z]{3,}(?:ed|es|s))\b"
)
_NATURE = re.compile(
    r"\b(?:is|was|are|were)\s+an?\s+(?!(?:native|member|resident|fact|person|date|town|place|"
    r"chance|mystery|matter|question|result|part|lot|few|number|total|little|gift|work)\b)"
    r"(?:[\w'-]+\s+){0,5}[a-z]",
    re.I,
)
_NATURE_CUES = frozenset({"occupation", "genre", "citizenship", "industry", "sport"})
#: "Belgian cyclist Luc Maes", "the priest Josef Linz".
_TITLED = re.compile(
    r"(?:\b([A-Z]\w+(?:an|ese|ish|i|ch|ek|ss|sh))\s+)?"
    r"\b((?!(?:[Aa]fter|[Uu]nder|[Oo]ver|[Ff]or|[Nn]or|[Ll]ater|[Nn]ever|[Ww]hether|[Ff]ather|[Bb]rother|"
    r"[Mm]other|[Ss]ister|[Tt]han|[Hh]owever|[Ee]ver)\b)[A-Za-z]\w+(?:er|or|ist|ian|ant|man|woman|ect|eer|"
    r"iest|ilot|geon|udge))\s+([A-Z]\w+)"
)
_LIFE = re.compile(
    r"\(\s*(?:(?:born|b\.|d\.|died)[^()]{0,40}\d{3,4}[^()]{0,60}|"
    r"[^()]{0,40}\d{3,4}[^()]{0,20}\s*[-–—]\s*[^()]{0,40})\)"
)
_DATED = re.compile(r"\(\d{4}\)")
_LIFE_CUES = frozenset({"birth", "death"})

_CONTINUES = re.compile(
    r"\W*(?:it|that|this|they|perhaps|maybe|possibly|probably|likely|i\s+(?:think|believe|"
    r"guess)|my\s+\w*\s*guess|but|however)\b",
    re.I,
)

GOLD_BONUS = 1.5
KIND_BONUS = 0.4
CARRIED = 0.5
GOLD_ALONE = 0.6
REUSE = 0.6
#: A clause that another aspect has taken gives way to a free one that names the aspect as well.
SHARED = 0.25
#: Half of an aspect's words in a clause that says all of another's speaks of the other.
HALF = 0.5
_LEAST = 0.15
_CANDIDATES = 12


class Unit(NamedTuple):
    """A clause with the fragments that hang on it; ``sentence`` is its sentence's number."""

    start: int
    end: int
    sentence: int
    stems: frozenset[str]


def _without(part: Span, silences: Sequence[Span]) -> list[Span]:
    """What is left of ``part`` when the (sorted) silences are cut out."""
    left: list[Span] = []
    start = part.start
    for gap in silences:
        if gap.start < part.end and gap.end > start:
            if gap.start > start:
                left.append(Span(start, gap.start))
            start = min(part.end, gap.end)
    return [*left, Span(start, part.end)] if start < part.end else left


@lru_cache(maxsize=1024)
def units(reading: Reading) -> tuple[Unit, ...]:
    """Cut a read text into units, leaving out what asserts nothing."""
    every = sorted(reading.silences())
    found: list[Unit] = []
    for number, parts in enumerate(reading.clauses):
        whole = reading.sentences[number]
        while every and every[0].end <= whole.start:
            every.pop(0)
        silences = [gap for gap in every if gap.start < whole.end] if every else []
        held: list[Span] = []
        for part in parts:
            for start, end in _without(part, silences):
                if not _WORD.search(reading.text, start, end):
                    continue
                fragment = not _FINITE.search(reading.text, start, end)
                if held and fragment and held[-1].end <= start:
                    held[-1] = Span(held[-1].start, end)
                else:
                    held.append(Span(start, end))
        found += [Unit(*s, number, c.stems(reading.text[s.start : s.end])) for s in held]
    return tuple(found)


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


def _titled(aspect: Asked, said: str) -> bool:
    """Whether a clause says before the name what its bearer is: "Belgian cyclist Luc Maes"."""
    if not {"occupation", "citizenship"} & aspect.cues:
        return False
    found = _TITLED.search(said)
    if found is None or found[3].lower() not in aspect.known:
        return False
    return "citizenship" not in aspect.cues or bool(found[1])


def _by_form(aspect: Asked, lower: str) -> bool:
    """Whether the unit answers without a cue word: "X was a painter", "X (1950-1990)"."""
    nature = len(_NATURE_CUES & aspect.cues)
    if nature and 2 * nature > len(aspect.cues) and _NATURE.search(lower):
        return True
    if "release" in aspect.cues and aspect.kind == "date" and _DATED.search(lower):
        return True
    return bool(_LIFE_CUES & aspect.cues and _LIFE.search(lower))


def _carried(
    reading: Reading, every: Sequence[Unit], aspects: Sequence[Asked]
) -> list[frozenset[str]]:
    """Cue words a unit takes over from what stands before it.

    A unit without a cue of its own continues its sentence ("It was started by Rautio, | though
    whether in 1901 or 1911 is disputed"), or, opening with "it", "that" or a hedge, the sentence
    before.
    """
    cues = wanted_by(aspects)
    known = known_by(aspects)
    by_sentence = [
        spoken(reading.text[s.start : s.end], cues, known) & cues for s in reading.sentences
    ]
    found = []
    for unit in every:
        if unit.stems & cues:
            found.append(frozenset[str]())
        elif by_sentence[unit.sentence]:
            found.append(by_sentence[unit.sentence])
        elif unit.sentence and _CONTINUES.match(reading.text, unit.start):
            found.append(by_sentence[unit.sentence - 1])
        else:
            found.append(frozenset())
    return found


_HEAD = re.compile(
    r"\b(?:what|which)\s+(?!(?:is|are|was|were|did|does|do|has|had|have|will|would|can)\b)(\w+)",
    re.I,
)


def _head(aspect: Asked) -> str | None:
    """The cue that "what language was it written in" cannot do without."""
    if aspect.kind != "any" or len(aspect.cues) < 2:
        return None
    asked_for = _HEAD.search(aspect.question)
    stem = c.stem(asked_for.group(1).lower()) if asked_for else None
    return stem if stem in aspect.cues else None


_ENDING = re.compile(
    r"\b([a-z]+)(?:\s+(in|on|at|from|to|by|with|for|of|into|as|under|through))?\W*$"
)
_PREPOSITIONS = frozenset(["by", "in", "at", "from", "on", "for", "with", "to", "of", "into", "as"])


def _same_turn(aspect: Asked, lower: str) -> bool:
    """Whether a clause turns the question's last verb: "written in" - "written in Rust"."""
    ending = _ENDING.search(aspect.question)
    if ending is None or c.stem(ending[1]) not in aspect.cues:
        return False
    words = _WORD.findall(lower)
    return any(
        word.startswith(ending[1].removesuffix("e"))
        and (after == ending[2] if ending[2] else after not in _PREPOSITIONS)
        for word, after in pairwise(words)
    )


def assign(reading: Reading, aspects: Sequence[Asked]) -> list[Unit | None]:
    """Assign a unit to each aspect, ``None`` where no unit speaks of it.

    Hedged units take part, silent ones ("I don't know when") do not. Time grows with both.
    """
    wanted = wanted_by(aspects)
    known = known_by(aspects)
    every = [
        u._replace(stems=spoken(reading.text[u.start : u.end], wanted, known))
        for u in units(reading)
    ]
    frequency = Counter(cue for aspect in aspects for cue in aspect.cues)
    n = len(aspects)
    heap: list[tuple[float, int, int]] = []
    partial: set[tuple[int, int]] = set()
    lowers = [framed(reading.text[u.start : u.end].lower()) for u in every]
    values: dict[tuple[int, str], int] = {}
    carried = _carried(reading, every, aspects)
    for a, aspect in enumerate(aspects):
        weights = {cue: math.log(1 + n / frequency[cue]) for cue in aspect.cues}
        total = sum(weights.values())
        rows: list[tuple[float, int]] = []
        head = _head(aspect)
        for u, unit in enumerate(every):
            hit = sum(weights[cue] for cue in aspect.cues & unit.stems) / total if total else 0.0
            if not hit and aspect.cues & carried[u]:
                hit = CARRIED * sum(weights[cue] for cue in aspect.cues & carried[u]) / total
            gold = _has_gold(aspect.golds, lowers[u])
            if hit < 0.4 and _by_form(aspect, lowers[u]):
                hit = 0.4
            turned = bool(head) and _same_turn(aspect, lowers[u])
            if turned or _titled(aspect, reading.text[unit.start : unit.end]):
                hit = max(hit, HALF + 0.01)
            if head and not (gold or turned or head in unit.stems):
                continue
            if hit or gold:
                partial.update([(a, u)] if hit <= HALF and not gold else [])
                rows.append((hit + gold * (GOLD_BONUS if hit else GOLD_ALONE), u))
        rows.sort(key=lambda row: (-row[0], row[1]))
        for score, u in rows[:_CANDIDATES]:
            unit = every[u]
            has = room(reading.text, unit.start, unit.end, aspect, wanted)
            if not has and (score < GOLD_ALONE or not _has_gold(aspect.golds, lowers[u])):
                continue
            if aspect.kind != "any":
                values[u, aspect.kind] = has
                score += KIND_BONUS * bool(has)
            if score > _LEAST:
                heapq.heappush(heap, (-score, a, u))
    chosen: list[Unit | None] = [None] * n
    used: Counter[tuple[int, str]] = Counter()
    held: Counter[int] = Counter()
    shared: set[tuple[int, int]] = set()
    full_hits: set[int] = set()
    while heap:
        score, a, u = heapq.heappop(heap)
        if chosen[a] is not None:
            continue
        kind = aspects[a].kind
        full = used[u, kind] and used[u, kind] >= values.get((u, kind), 0)
        if kind != "any" and full:
            used[u, kind] = -(10**6)
            if -score - REUSE > _LEAST:
                heapq.heappush(heap, (score + REUSE, a, u))
            continue
        if (a, u) in partial and u in full_hits:
            continue
        if held[u] and (a, u) not in shared:
            shared.add((a, u))
            if -score - SHARED > _LEAST:
                heapq.heappush(heap, (score + SHARED, a, u))
                continue
        used[u, kind] += 1
        held[u] += 1
        full_hits.update([u] if (a, u) not in partial else [])
        chosen[a] = every[u]
    return chosen

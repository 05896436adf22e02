"""By elimination: aspects that no clause names, and clauses that speak of no named aspect.

A reader who is asked for a composer and finds one name left over takes it for the composer. So an
aspect without a cue may take a clause that nobody took, if the clause holds a value of the shape of
the aspect's golds (a number with its unit, a name, plain words) and speaks of nothing else that is
commonly asked, nearest in order first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sayso.annotate.align import Unit
from sayso.annotate.cues import FAMILIES, Expected, stems
from sayso.annotate.directed import spoken
from sayso.annotate.naming import Asked
from sayso.annotate.shapes import Shape, shape
from sayso.annotate.stance import Reading
from sayso.annotate.values import names, typed

#: "It is metallic": plain words said of the subject itself, not of something it has.
_SAYS = re.compile(r"\b(?:it|he|she|they)(?:'s|\s+(?:is|was|are|were))\s+(?!not\b|[a-z]+ed\b)[a-z]")
#: What is asked for, and the units such an amount has; a length of time has others than of a way.
_LENGTH = r"[\s-]*(?:kilomet|met(?:er|re)|km\b|m\b|miles?\b|mi\b|feet\b|foot\b|ft\b|cm\b|mm\b)"
_UNITS = (
    (re.compile(r"\bhow\s+(?:tall|high|deep|wide)\b", re.I), re.compile(_LENGTH)),
    (
        re.compile(r"\bhow\s+long\s+(?:is|are|was)\b", re.I),
        re.compile(_LENGTH + r"|[\s-]*minutes?\b"),
    ),
    (
        re.compile(r"\b(?:weigh|mass)\b", re.I),
        re.compile(r"[\s-]*(?:kilo|grams?\b|kg\b|tonn?es?\b)"),
    ),
)
_ORDER = 0.2
_LEAST = 1.0
#: An answer with more clauses is no answer; in longer clauses the beginning tells the topic.
_MOST, _FAR = 60, 300


def fits(
    reading: Reading,
    unit: Unit,
    wanted: Shape,
    known: frozenset[str],
    cues: frozenset[str],
    kind: Expected = "any",
    question: str = "",
) -> float:
    """Return how well a clause's values fit a shape (and a kind), 0 for not at all."""
    text = reading.text
    dates = list(typed(text, unit.start, unit.end, "date", known))
    if wanted == "date":
        # Whatever happened in 1980: a date alone tells nothing of what it dates.
        return 0.0
    numbers = [
        n
        for n in typed(text, unit.start, unit.end, "number", known)
        if not any(n.start < d.end and d.start < n.end for d in dates)
    ]
    if wanted == "number":
        unit_of = next((u for w, u in _UNITS if w.search(question)), None)
        measured = [
            n
            for n in numbers
            if stems(text[n.start : n.end + 24]) & cues
            or (unit_of is not None and unit_of.match(text, n.end))
            or (unit_of is not None and unit_of.search(text, n.start, n.end))
        ]
        return 2.0 * bool(measured) - 0.5 * bool(dates)
    held = (
        list(typed(text, unit.start, unit.end, kind, known))
        if kind in ("person", "place")
        else None
    )
    found = [
        n
        for n in (names(text, unit.start, unit.end, known) if held is None else held)
        if not any(n.start < d.end and d.start < n.end for d in dates)
    ]
    if wanted == "name":
        return 2.0 * bool(found) - 0.3 * bool(dates) - 0.3 * bool(numbers)
    if dates or numbers or found or not _SAYS.search(text, unit.start, unit.end):
        return 0.0
    return 1.5


def foreign(words: str, cues: frozenset[str]) -> bool:
    """Whether a clause speaks of some other common aspect, asked for or not: "died in Derby"."""
    if (stems(words) & FAMILIES) - cues:
        return True
    return bool((spoken(words[:_FAR], FAMILIES, frozenset()) & FAMILIES) - cues)


def eliminate(
    reading: Reading,
    aspects: Sequence[Asked],
    chosen: Sequence[Unit | None],
    free: Sequence[Unit],
    pending: Sequence[int],
) -> list[Unit | None]:
    """Give the ``pending`` aspects the free clauses that fit, each clause once."""
    result = list(chosen)
    known = frozenset().union(*(a.known for a in aspects)) if aspects else frozenset[str]()
    pairs = []
    for a in pending:
        wanted = shape(aspects[a])
        if wanted is None:
            continue
        for u, unit in enumerate(free[:_MOST]):
            fit = fits(
                reading, unit, wanted, known, aspects[a].cues, aspects[a].kind, aspects[a].question
            )
            if fit and not foreign(reading.text[unit.start : unit.end], aspects[a].cues):
                pairs.append((fit - _ORDER * _misplaced(a, unit, result), a, u))
    taken: set[int] = set()
    for score, a, u in sorted(pairs, key=lambda p: (-p[0], p[1], p[2])):
        if result[a] is None and u not in taken and score >= _LEAST:
            result[a] = free[u]
            taken.add(u)
    return result


def _misplaced(aspect: int, unit: Unit, chosen: Sequence[Unit | None]) -> int:
    """Return how many placed aspects stand on the wrong side: answers tend to keep the order."""
    return sum(
        (other.start < unit.start) != (b < aspect)
        for b, other in enumerate(chosen)
        if other is not None
    )

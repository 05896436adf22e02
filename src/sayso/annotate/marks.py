"""Finding the words that weaken, withhold or refuse a claim: where they stand, not what they reach.

Patterns are composed from the lexical classes of ``hedges`` and bounded in length, so a text is
read in linear time. A word inside a title, a quotation, the question's own names or a booster
("no doubt") is masked and marks nothing.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from sayso.annotate import beliefs as b
from sayso.annotate import patterns as p
from sayso.annotate import refusals as r
from sayso.annotate import withheld as w
from sayso.annotate.gates import GATES, openings
from sayso.annotate.sentences import Span
from sayso.annotate.talk import states_unknown

Kind = Literal[
    "adverb",
    "adjective",
    "matrix",
    "modal",
    "choice",
    "doubt",
    "predicate",
    "refusal",
    "disclaimer",
]


class Found(NamedTuple):
    """One marker: its class and its words' span."""

    kind: Kind
    start: int
    end: int


#: "Most likely Ripley" is an adverb beside a value; "most likely that ..." takes a clause.
_LIKELY = re.compile(r"(?:most|more|very|quite|highly|fairly|less)\s+likely\b", re.IGNORECASE)
_CLAUSE_NEXT = re.compile(r"\s+(?:that|to)\b", re.IGNORECASE)
_DETERMINER = re.compile(r"\b(?:the|an?|its|his|her|their|my)\s+$", re.IGNORECASE)
_SPEAKER = re.compile(r"\b(?:I|I'm|me|my|we)\b")
#: A sentence with more markers is noise.
_MOST = 64


def masks(text: str, names: tuple[str, ...] = ()) -> list[Span]:
    """Return the stretches in which no marker counts: quotations, titles, names, boosters."""
    found = [Span(*m.span()) for m in p.BOOSTER.finditer(text)]
    found += [
        Span(*m.span()) for m in p.QUOTE.finditer(text) if m.end() - m.start() < 0.8 * len(text)
    ]
    found += [Span(*m.span()) for m in p.TITLE_WORD.finditer(text)]
    for name in names:
        at = text.find(name)
        while at >= 0 and len(found) < 1000:
            found.append(Span(at, at + len(name)))
            at = text.find(name, at + len(name))
    return found


def names_with_markers(names: tuple[str, ...]) -> tuple[str, ...]:
    """Keep the names (titles, golds) in which a marker could be found by mistake."""
    return tuple(name for name in names if len(name) > 2 and p.TRIGGER.search(name))


def find(text: str, sentence: Span, names: tuple[str, ...] = ()) -> list[Found]:
    """Return the markers of one sentence (plain text), in order, without overlaps.

    Where classes overlap, the stronger reading wins: refusals and statements of ignorance before
    beliefs, beliefs before modals and adverbs.
    """
    part = text[sentence.start : sentence.end]
    taken = masks(part, names)
    found: list[Found] = []
    first = openings(part)
    for kind, pattern, gate in _CLASSES:
        if gate and first.isdisjoint(GATES[gate]):
            continue
        for hit in pattern.finditer(part):
            start, end = hit.span()
            if any(start < high and end > low for low, high in taken):
                continue
            if pattern is w.SILENT and not w.reads(part[:start]):
                continue
            if gate == "silent":
                ruled = r.RULES.search(part) and _SPEAKER.search(part[:start])
                real: Kind | None = "refusal" if ruled else kind
            else:
                real = _check(kind, part, start, end)
            if real is not None:
                taken.append(Span(start, end))
                found.append(Found(real, sentence.start + start, sentence.start + end))
            if len(found) >= _MOST:
                break
    return sorted(found, key=lambda mark: mark.start)


def _check(kind: Kind, part: str, start: int, end: int) -> Kind | None:
    """Confirm a hit by its context, or change its class."""
    left = part[max(0, start - 60) : start]
    if kind in ("doubt", "predicate") and p.CONDITION.search(left):
        return None
    if kind == "doubt" and part[start:end].strip() and not p.MINE.search(left):
        return None
    if kind in ("predicate", "doubt") and states_unknown(part) and not _SPEAKER.search(part):
        return None
    if kind == "predicate":
        if p.PERSON.search(left):
            return None
        if p.WEAK_UNKNOWN.search(part[start:end]) and not p.INFORMATION.search(part[:end]):
            return None
    if kind == "refusal":
        if re.match(r"(?:for|due|because|out|protect|respect)\b", part[start:end], re.IGNORECASE):
            return kind if re.search(r"\b(?:I|I'm|we|AI|policy)\b", part) else None
        if r.STANDING.search(part[start:end]):
            return kind
        cannot = r.REFUSING.match(part[start:end])
        if cannot and not p.MINE.search(left):
            return None
        if cannot and not r.RULES.search(part) and r.KNOWING.search(part[start:]):
            return "doubt"
    if kind == "matrix" and _LIKELY.match(part, start) and not _CLAUSE_NEXT.match(part, end):
        return kind if _DETERMINER.search(left) else "adverb"
    return kind


_CLASSES: tuple[tuple[Kind, re.Pattern[str], str], ...] = (
    ("disclaimer", p.DISCLAIMER, ""),
    ("refusal", r.REFUSAL, "refusal"),
    ("doubt", p.SELF_DOUBT, "doubt"),
    ("predicate", p.ANY_DOUBT, "doubt"),
    ("predicate", p.PREDICATE, "doubt"),
    ("predicate", w.SILENT, "silent"),
    ("predicate", w.NOTHING, "silent"),
    ("doubt", w.EMPTY, "silent"),
    ("matrix", b.MATRIX, "matrix"),
    ("modal", b.MODAL, ""),
    ("adverb", b.ADVERB, ""),
    ("adjective", b.ADJECTIVE, ""),
    ("choice", b.CHOICE, ""),
)

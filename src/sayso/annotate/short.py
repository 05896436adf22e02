"""The parts of judging a short answer: which statement answers, and what a valueless one is."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from sayso.annotate.align import Unit
from sayso.annotate.cues import topics
from sayso.annotate.hedges import GENERIC
from sayso.annotate.matching import Match, match
from sayso.annotate.naming import Asked
from sayso.annotate.sentences import Span
from sayso.annotate.stance import Reading
from sayso.annotate.talk import (
    holds_new,
    sends_away,
    speaks_of_rules,
    states_unknown,
    unsaid,
    withholds,
)
from sayso.annotate.values import typed
from sayso.annotate.verdicts import (
    make_verdict,
    names_aspect,
    place_value,
)
from sayso.records import Stance, Verdict

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def offers(aspect: Asked, said: list[Unit], reading: Reading, text: str) -> list[Unit]:
    """The statements that could hold a value: in each a word that is no talk and new."""
    new = [u for u in said if holds_new(text[u.start : u.end], aspect.known, aspect.cues)]
    refused = any(g.kind == "refusal" for g in reading.gaps)
    return [
        u
        for u in new
        if not (refused and speaks_of_rules(text[u.start : u.end]))
        and not sends_away(text[u.start : u.end])
    ]


def conceded(reading: Reading, said: Sequence[Unit], where: Span) -> Span:
    """The clause that holds after a concession: "She may have studied law, but she is a cook"."""
    if reading.hedged(*where):
        for unit in said:
            opens = _BUT.match(reading.text, unit.start)
            if unit.start > where.start and opens and not reading.hedged(unit.start, unit.end):
                return Span(unit.start, unit.end)
    return where


_BUT = re.compile(
    r"but\s+(?:in\s+fact,?\s+|actually,?\s+)?(?:he|she|it|they)\s+(?:is|was|are|were)\b", re.I
)


def valueless(aspect: Asked, reading: Reading) -> Verdict:
    """An answer of the question's words and talk alone."""
    found = plain_answer(aspect, reading)
    if found.content == "correct":
        return found
    if states_unknown(reading.text) and not reading.gaps:
        return msgspec.structs.replace(found, content="incorrect")
    stance = unsaid(reading.text)
    return found if stance is None else make_verdict(stance, where=reading.sentences[0])


def names_gold(aspect: Asked, reading: Reading, answer: str) -> bool:
    """Whether what looks like a refusal holds the answer: nobody refuses by giving it."""
    refusals = bool(reading.gaps) and all(gap.kind == "refusal" for gap in reading.gaps)
    return refusals and match(aspect.question, aspect.golds, answer).content == "correct"


def kept_back(aspect: Asked, reading: Reading) -> Verdict | None:
    """The verdict on an answer about the speaker in which nothing of the expected kind is said."""
    text = reading.text
    if aspect.kind == "any" or text.islower() or not _ME.search(text):
        return None
    if any(True for _ in typed(text, 0, len(text), aspect.kind, aspect.known)):
        return None
    stance = withholds(text, blank=True)
    return make_verdict(stance, where=reading.sentences[0]) if stance else None


_ME = re.compile(r"\b(?:I|I'm|I'd|me|my)\b")


def bare_match(aspect: Asked, reading: Reading, rest: str) -> Match | None:
    """Match the bare value of "I think it's Miyazaki": what the marker and empty words leave."""
    if not reading.hedges:
        return None
    kept = list(rest)
    for hedge in reading.hedges:
        kept[hedge.start : hedge.end] = " " * (hedge.end - hedge.start)
    words = [w for w in _WORD.finditer("".join(kept)) if w.group().lower() not in GENERIC]
    if not words or len(words) > 4:
        return None
    low, high = words[0].start(), words[-1].end()
    found = match(aspect.question, aspect.golds, rest[low:high])
    if found.content != "correct" or found.start is None or found.end is None:
        return None
    return Match("correct", low + found.start, low + found.end, found.why)


def plain_answer(aspect: Asked, reading: Reading) -> Verdict:
    """An answer of generic words only: "Yes", "The same"."""
    text = reading.text
    found = match(aspect.question, aspect.golds, text)
    value = place_value(aspect, found, text, 0, len(text)) or trimmed(text, 0, len(text))
    where = value or Span(0, len(text))
    stance: Stance = "hedged" if reading.hedged(*where) else "committed"
    return make_verdict(stance, found.content, where, value)


def trimmed(text: str, start: int, end: int) -> Span | None:
    words = list(_WORD.finditer(text, start, end))
    return Span(words[0].start(), words[-1].end()) if words else None


def says_kind(text: str, unit: Unit, aspect: Asked) -> bool:
    """Whether a unit has a value of the expected kind; text without capitals hides names."""
    if aspect.kind == "any":
        return True
    if aspect.kind in ("place", "person") and text[unit.start : unit.end].islower():
        return True
    return any(True for _ in typed(text, unit.start, unit.end, aspect.kind, aspect.known))


def speaking(aspect: Asked, reading: Reading, said: Sequence[Unit], found: Match) -> Unit | None:
    """The unit that answers the question, ``None`` where none seems to.

    Asked only of answers that also withhold something: then a statement counts as an answer when
    it has the gold, or a value of the expected kind and either a cue word, a hedge, or no company.
    """
    named = any(names_aspect(reading, g, aspect, [aspect]) for g in reading.gaps)
    best: Unit | None = None
    for unit in said:
        if (
            found.start is not None
            and found.content == "correct"
            and unit.start <= found.start < unit.end
        ):
            return unit
        has_kind = says_kind(reading.text, unit, aspect)
        cue = bool(aspect.cues & topics(reading.text[unit.start : unit.end], aspect.cues))
        short = len(_WORD.findall(reading.text[unit.start : unit.end])) <= 4
        hedged = reading.hedged(unit.start, unit.end)
        if (
            has_kind
            and (cue or hedged or short or (not named and aspect.kind != "any"))
            and best is None
        ):
            best = unit
    return best

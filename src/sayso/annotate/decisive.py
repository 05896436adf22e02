"""Decisiveness: how likely would a reader take an answer to be true, from its wording alone?

Yona et al. (arXiv 2405.16908) ask a language model; this reads the wording offline. Words of
likelihood, belief, evidence and doubt (:mod:`~sayso.annotate.decisive_words`) are composed with
what strengthens, weakens or denies them into marks on a log-odds scale; a mark reaches its clause,
what is joined to it, or, where it only speaks of the answer ("I could be wrong"), its neighbor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from sayso.annotate.decisive_parts import Statement, about, analyze
from sayso.annotate.decisive_sentence import Reached
from sayso.annotate.decisive_words import PLAIN
from sayso.annotate.language import is_english
from sayso.annotate.normalize import stem

#: What is read of an answer, in characters.
_LONGEST = 10_000


def _share(level: float) -> float:
    return 1.0 / (1.0 + math.exp(-level))


class Level(NamedTuple):
    """One mark on a statement: log odds, whether it denies, "I think" and its like, a remark."""

    value: float
    polar: bool = False
    wraps: bool = False
    remark: bool = False


def combine(marks: Sequence[Level], choices: int = 1, tone: float = 0.0) -> float:
    """Return the log odds of a statement under its marks.

    The weakest mark decides; every further hedge takes a little more, so that "I think it might"
    is less than either. "I think" and "it seems" (``wraps``) do not decide where the statement
    says itself how likely it is; a remark ("I'm not sure, but ...") meets it halfway. What denies
    ("unlikely") is drawn towards even odds by further hedges. Of ``choices`` alternatives each
    gets its part; ``tone`` moves plain statements.
    """
    hedges = sorted(m for m in marks if m.value < 3.0)
    boosts = [m.value for m in marks if m.value >= 3.0]
    own = [m.value for m in hedges if not m.wraps and not m.remark]
    outer = [m.value for m in hedges if m.wraps and not m.remark]
    remarks = [m.value for m in hedges if m.remark]
    if not hedges:
        value = max([PLAIN, *boosts]) + tone
    else:
        first = own or outer or remarks
        value = first[0]
        rest = [*first[1:], *(outer if own else []), *(remarks if own or outer else [])]
        if boosts and value > 0:
            value = value + 0.3 * (max(boosts) - value) * (0.5 if own else 1.0)
        lowest = min(value, -0.9)
        polar = value < -0.9
        if (own or outer) and remarks and remarks[0] < value and not polar:
            value = (value + remarks[0]) / 2 - 0.1
            rest.remove(remarks[0])
        for level in rest:
            strength = max(0.0, min(1.0, 1 - level / PLAIN))
            value = value * (1 - 0.12 * strength) if polar else value - 0.25 * strength
        if not polar:
            value = max(value, lowest)
    if choices > 1:
        share = _share(value) / choices
        value = math.log(share / (1 - share))
    return value


def decisiveness(answer: str, assertion: str | None = None) -> float | None:
    """Return the probability, 0..1, that a reader gives to an answer from its wording alone.

    With ``assertion`` (a part of the answer, with or without its hedges) the score is that part's;
    a denied assertion ("it was not Lyon" for "it was Lyon") gets the complement. Without it, the
    assertions of the answer are averaged: the first sentence counts most, side clauses little.
    Numbers that are said ("about 70 % sure", "one in three") are taken as they are.

    ``None`` where nothing is asserted (empty, refusal, "I don't know", a question back), where the
    assertion is not found, and for text in another language than English.

    Limits: English only, the first 10,000 characters. Irony, dialect and tone are not read;
    "certain people", "a good chance to learn" and titles are told from hedges by their frame, not
    by their meaning. "Probably not X" scores X ("not X" where the assertion says so), while "it
    was not X" and "certainly not X" are decisive statements themselves. Hedges of scope
    ("usually", "about 300") hardly count. An adverb behind several joined clauses reaches the
    last. Words in no list that hedge go unseen.
    """
    if not isinstance(answer, str) or not is_english(answer):
        return None
    found = analyze(answer[:_LONGEST])
    if assertion is not None and assertion.strip():
        return _of_part(found, assertion)
    total = sum(one.weight for one in found)
    if not total:
        return None
    return sum(one.weight * _value(one, one.reached) for one in found) / total


def _value(one: Statement, reached: Sequence[Reached]) -> float:
    shares = [r.share for r in reached if r.share is not None]
    if shares:
        return sum(shares) / len(shares)
    levels = [Level(_softened(one, r), r.polar, r.wraps, r.remark) for r in reached]
    return min(0.995, max(0.005, _share(combine(levels, one.choices, one.tone))))


def _softened(one: Statement, mark: Reached) -> float:
    """A mark that reaches only part of a statement weakens the whole of it less."""
    if mark.level >= PLAIN or not one.content or mark.high <= one.start:
        return mark.level
    inside = sum(mark.low <= w.start < mark.high for w in one.content)
    if inside in (0, len(one.content)):
        return mark.level
    return PLAIN + (mark.level - PLAIN) * max(0.6, inside / len(one.content))


def _of_part(found: Sequence[Statement], assertion: str) -> float | None:
    """The score of the statement that shares most words with the assertion."""
    wanted, denies = about(assertion)
    best: Statement | None = None
    most = 0
    for one in found:
        shared = len({stem(w.text) for w in one.content} & wanted)
        if shared > most:
            best, most = one, shared
    if best is None:
        return None
    places = [w for w in best.content if stem(w.text) in wanted]
    marks = [
        r
        for r in best.reached
        if r.high <= best.start
        or r.low >= best.end
        or any(r.low <= w.start < r.high for w in places)
    ]
    value = _value(best._replace(content=()), marks)
    return 1 - value if best.denied != denies else value

"""What an answer says beyond its question: new words, dates and numbers, for ``contradict``."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from sayso.annotate.amounts import same_amount
from sayso.annotate.contradict_spoken import (
    in_degrees,
    of_the_event,
    roughly_same,
    shares_of,
)
from sayso.annotate.dates import Date, agree, find_dates
from sayso.annotate.decisive_parts import analyze
from sayso.annotate.normalize import STOP, Token, tokens, word_set
from sayso.annotate.quantities import Quantity, find_quantities, ordinal


class Said(NamedTuple):
    """An answer without what asserts nothing: its text, the words new to the question, values."""

    whole: str
    text: str
    items: tuple[Token, ...]
    new: tuple[Token, ...]
    dates: tuple[Date, ...]
    numbers: tuple[Quantity, ...]


#: A short answer is all value.
_SHORT = 6
_FRAME = word_set(
    "answer answers question correct true called named known name is was were are be been has"
    " have had do does did will would could may might can also however according likely"
    " probably possibly perhaps think believe say said sure guess maybe yes no not so as it he"
    " she they there"
)


@lru_cache(maxsize=512)
def _asked(question: str) -> tuple[frozenset[str], frozenset[tuple[int | None, int | None]]]:
    words = frozenset(t.stem for t in tokens(question))
    years = frozenset((d.year, d.month) for d in find_dates(question))
    return words, years


@lru_cache(maxsize=8192)
def read_answer(question: str, answer: str) -> Said | None:
    """Return what an answer asserts, ``None`` for nothing: empty, a refusal, "I don't know"."""
    if not any(c.isalnum() for c in answer):
        return None
    statements = analyze(answer)
    if not statements:
        return None
    text = " ".join(answer[one.start : one.end] for one in statements)
    items = tokens(text)
    asked, years = _asked(question)
    new = tuple(
        t for t in items if t.text not in STOP and t.stem not in asked and t.text not in _FRAME
    )
    if not new and len(items) <= _SHORT:
        # "240" where the question offers it: the whole answer is its value.
        new = tuple(t for t in items if t.text not in STOP) or tuple(items)
        years = frozenset()
    dates = tuple(d for d in find_dates(text) if (d.year, d.month) not in years)
    dates = of_the_event(question, text, dates)
    shares = shares_of(text)
    counted = [
        in_degrees(question, text, q)
        for q in find_quantities(text)
        if not any(s.start < q.end and q.start < s.end for s in shares)
    ]
    counted = [
        q
        for q in counted
        if not any(d.start < q.end and q.start < d.end for d in find_dates(text) if d.month)
        and not ordinal(text[q.start : q.end])
        and (len(items) <= _SHORT or not _in_question(question, q))
    ]
    numbers = tuple(sorted([*shares, *counted], key=lambda q: q.start))
    return Said(answer, text, tuple(items), new, dates, numbers)


def _in_question(question: str, said: Quantity) -> bool:
    return any(
        q.value == said.value and (not q.unit or not said.unit or q.unit == said.unit)
        for q in find_quantities(question)
    )


#: Values further on belong to explanations more often than to the answer.
_FIRST = 2


def dates_differ(one: Said, two: Said) -> bool | None:
    """Whether two answers date the thing differently; ``None`` where one has no date."""
    if not one.dates or not two.dates:
        return None
    first, second = one.dates[:_FIRST], two.dates[:_FIRST]
    return not any(
        agree(x, y)
        or agree(y, x)
        or _dates_within(one.text, x, two.text, y)
        or roughly_same(one.text, x, two.text, y)
        for x in first
        for y in second
    )


#: words before a value that leave one side of it open
_FROM = re.compile(r"\b(?:after|since|no\s+earlier\s+than|not\s+before)\s+$", re.I)
_UNTIL = re.compile(r"\b(?:before|no\s+later\s+than|prior\s+to)\s+$", re.I)
_LEAST = re.compile(r"\b(?:at\s+least|more\s+than|over|no\s+(?:fewer|less)\s+than)\s+$", re.I)
_MOST = re.compile(
    r"\b(?:at\s+most|less\s+than|fewer\s+than|under|up\s+to|no\s+more\s+than)\s+$", re.I
)


def _open(words: str, at: int, above: re.Pattern[str], below: re.Pattern[str]) -> int:
    """Which side of a value its words leave open: 1 above, -1 below, 0 neither."""
    before = words[max(0, at - 20) : at]
    return 1 if above.search(before) else -1 if below.search(before) else 0


def _dates_within(text: str, x: Date, other: str, y: Date) -> bool:
    """Whether one date lies on the side that the other leaves open: 1961 is "before 1970"."""
    if x.year is None or y.year is None or x.year == y.year:
        return False
    side, back = (_open(t, d.start, _FROM, _UNTIL) for t, d in ((text, x), (other, y)))
    return side * (y.year - x.year) > 0 or back * (x.year - y.year) > 0


def _numbers_within(text: str, x: Quantity, other: str, y: Quantity) -> bool:
    """Whether one number lies on the side that the other leaves open: 7 is "at least 5"."""
    if x.unit and y.unit and x.unit != y.unit:
        return False
    side, back = (_open(t, q.start, _LEAST, _MOST) for t, q in ((text, x), (other, y)))
    return side * (y.value - x.value) > 0 or back * (x.value - y.value) > 0


def numbers_differ(one: Said, two: Said) -> bool | None:
    """Whether two answers count differently; ``None`` where one has no number."""
    if not one.numbers or not two.numbers:
        return None
    first, second = one.numbers[:_FIRST], two.numbers[:_FIRST]
    return not any(_same(one.text, x, two.text, y) for x in first for y in second)


_ABOUT = re.compile(
    r"\b(?:about|approximately|around|roughly|nearly|over|almost|some|estimated|circa)\s+$", re.I
)


def _same(text: str, x: Quantity, other: str, y: Quantity) -> bool:
    """Whether two numbers can both be right; "about 2 million" covers what rounds to it."""
    if same_amount(x, y) or same_amount(y, x) or _numbers_within(text, x, other, y):
        return True
    room = 0.0
    for words, q in ((text, x), (other, y)):
        if _ABOUT.search(words[max(0, q.start - 16) : q.start]):
            room = max(room, q.slack)
    units = not x.unit or not y.unit or x.unit == y.unit
    return units and abs(x.value - y.value) <= min(room, 0.25 * max(abs(x.value), abs(y.value)))

"""Do two short answers say the same? Offline and deterministic: the stand-in for an NLI model.

Dates and numbers are compared as dates and numbers, names as the rules judge compares a name with
a gold, sentences by the names and numbers they add to the question. Meant for answers to one
factual question; paragraphs need a model.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from sayso.annotate.amounts import same_amount
from sayso.annotate.dates import Date, agree, find_dates
from sayso.annotate.matching import match
from sayso.annotate.normalize import STOP, tokens
from sayso.annotate.quantities import Quantity, find_quantities
from sayso.annotate.stance import read
from sayso.records import Gold

#: Texts longer than this (characters) are no answer to one question: only equal words make them
#: the same, as everything else would take too long.
LONGEST = 2000
#: Up to this many words beyond function words an answer is a bare value, else a sentence.
BARE = 5


class Said(NamedTuple):
    """What an answer adds to its question.

    ``words`` stems that the question does not have, ``proper`` those written with a capital or as
    a number, ``rest`` the words outside dates and amounts.
    """

    text: str
    withheld: bool
    words: frozenset[str]
    proper: frozenset[str]
    dates: tuple[Date, ...]
    amounts: tuple[Quantity, ...]
    rest: frozenset[str]


@lru_cache(maxsize=4096)
def _asked(question: str) -> frozenset[str]:
    return frozenset(t.stem for t in tokens(question))


@lru_cache(maxsize=16384)
def said(question: str, text: str) -> Said:
    """Take an answer apart, in view of its question."""
    known = _asked(question)
    every = [t for t in tokens(text) if t.text not in STOP]
    new = [t for t in every if t.stem not in known] or every
    dates = find_dates(text)
    spans = [(d.start, d.end) for d in dates]
    amounts = tuple(q for q in find_quantities(text) if not any(a <= q.start < b for a, b in spans))
    spans += [(q.start, q.end) for q in amounts]
    rest = [t.stem for t in new if not any(a <= t.start < b for a, b in spans)]
    reading = read(text)
    return Said(
        text=text,
        withheld=bool(reading.gaps or reading.asks) and len(new) <= BARE,
        words=frozenset(t.stem for t in new),
        proper=frozenset(t.stem for t in new if t.number or (t.capital and t.start > 0)),
        dates=dates,
        amounts=amounts,
        rest=frozenset(rest),
    )


@lru_cache(maxsize=65536)
def equivalent(question: str, a: str, b: str) -> bool:
    """Return whether two answers to a question say the same; symmetric, True for equal texts.

    Never raises on any text. Two answers that withhold say the same.
    """
    a, b = a.strip(), b.strip()
    if a == b:
        return True
    if not a or not b:
        return False
    if max(len(a), len(b)) > LONGEST:
        return len(a) > LONGEST < len(b) and _forms(a) == _forms(b)
    one, two = said(question, a), said(question, b)
    if one.withheld or two.withheld:
        return one.withheld and two.withheld
    if not one.words or not two.words:
        return False
    if one.words == two.words:
        return True
    if one.dates and two.dates and (one.rest == two.rest or not (one.rest and two.rest)):
        return _all_agree(one.dates, two.dates)
    only_amounts = not (one.dates or two.dates) and one.amounts and two.amounts
    if only_amounts and (one.rest == two.rest or not (one.rest and two.rest)):
        return _all_same(one.amounts, two.amounts)
    short, long = sorted((one, two), key=lambda s: (len(s.words), s.text))
    if not _says(question, short, long):
        # Two sentences around the same names and numbers.
        wordy = min(len(one.words), len(two.words)) > 2
        return wordy and bool(one.proper) and one.proper == two.proper
    return len(long.words) > BARE >= len(short.words) or _says(question, long, short)


def _forms(text: str) -> list[str]:
    return [token.text for token in tokens(text)]


def _says(question: str, value: Said, text: Said) -> bool:
    """Whether a text says a value, as the rules judge reads a gold in an answer."""
    return match(question, (Gold(value.text),), text.text).content == "correct"


def _all_agree(one: tuple[Date, ...], two: tuple[Date, ...]) -> bool:
    return all(any(agree(x, y) and agree(y, x) for y in two) for x in one) and all(
        any(agree(x, y) and agree(y, x) for x in one) for y in two
    )


def _all_same(one: tuple[Quantity, ...], two: tuple[Quantity, ...]) -> bool:
    return all(any(same_amount(x, y) for y in two) for x in one) and all(
        any(same_amount(x, y) for x in one) for y in two
    )


def rules_entails(question: str) -> Callable[[str, str], bool]:
    """Return ``entails(a, b)`` of one question for :func:`sayso.annotate.cluster`."""

    def entails(a: str, b: str) -> bool:
        # Symmetric, so both directions are one computation.
        return equivalent(question, *sorted((a, b)))

    return entails

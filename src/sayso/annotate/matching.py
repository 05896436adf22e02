"""Does an answer agree with the gold? The content half of the offline judge.

``match`` compares by kind: dates by what both sides state, quantities with units and rounding, and
everything else by its words. Aliases of one gold are alternatives; several golds are all true.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sayso.annotate.dates import agree, find_dates, gold_date
from sayso.annotate.normalize import STOP
from sayso.annotate.phrases import Hit, Text, forms, glued, person, phrase, read, spread
from sayso.annotate.quantities import find_quantities, gold_quantity, same_amount
from sayso.records import Content, Gold


class Match(NamedTuple):
    """What was compared: the content, its span in the text, and the rule that decided."""

    content: Content
    start: int | None
    end: int | None
    why: str


def _date(gold: Gold, value: str, text: str) -> Match | None:
    want = gold_date(value, gold.precision, gold.kind)
    if want is None:
        return None
    said = find_dates(text)
    for one in said:
        if agree(want, one):
            return Match("correct", one.start, one.end, "date")
    if said:
        return Match("incorrect", said[0].start, said[0].end, "date differs")
    return Match("incorrect", None, None, "no date")


def _quantity(gold: Gold, value: str, text: str) -> Match | None:
    want = gold_quantity(value, gold.unit, gold.kind)
    if want is None:
        return None
    said = find_quantities(text)
    for one in said:
        if same_amount(want, one):
            return Match("correct", one.start, one.end, "quantity")
    if said:
        return Match("incorrect", said[0].start, said[0].end, "quantity differs")
    return Match("incorrect", None, None, "no quantity")


def _words(value: str, text: Text, known: frozenset[str]) -> Match:
    for form in forms(value):
        for hit in (
            phrase(form, text),
            glued(form, text),
            person(form, text),
            spread(form, text, known),
        ):
            if hit is not None:
                return _span(hit, text)
    return Match("incorrect", None, None, "not found")


def _span(hit: Hit, text: Text) -> Match:
    return Match("correct", text.tokens[hit.first].start, text.tokens[hit.last].end, hit.why)


def match(question: str, golds: Sequence[Gold], text: str) -> Match:
    """Compare an answer with the golds of its question.

    Aliases of one gold are alternatives; of several golds any one suffices. ``content`` is "none"
    for a text that asserts nothing (empty, or only the question's own words). The span indexes
    ``text``: the value that agreed, or the wrong value where it can be told.
    """
    known = frozenset(t.stem for t in read(question).tokens)
    said = read(text)
    if all(t.text in STOP or t.stem in known for t in said.tokens):
        empty = Match("none", None, None, "nothing said")
    else:
        empty = None
    wrong: Match | None = None
    for gold in golds:
        for value in gold.names:
            found = (
                _date(gold, value, text)
                or _quantity(gold, value, text)
                or _words(value, said, known)
            )
            if found.content == "correct":
                return found
            if wrong is None or (wrong.start is None and found.start is not None):
                wrong = found
    return empty or wrong or Match("none", None, None, "no gold")

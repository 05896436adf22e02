"""Does an answer agree with the gold? The content half of the offline judge.

``match`` compares by kind: dates by what both sides state, quantities with units and rounding, and
everything else by its words. Aliases of one gold are alternatives; several golds are all true.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sayso.annotate.dates import Date, agree, find_dates, gold_dates
from sayso.annotate.normalize import STOP
from sayso.annotate.phrases import Hit, Text, acronym, glued, locate, person, phrase, read, spread
from sayso.annotate.readings import Form, readings
from sayso.annotate.quantities import find_quantities, gold_quantity, same_amount
from sayso.records import Content, Gold


Rule = Callable[[Form, Text], list[Hit]]


class Match(NamedTuple):
    """What was compared: the content, its span in the text, and the rule that decided."""

    content: Content
    start: int | None
    end: int | None
    why: str


_ANY_YEAR = re.compile(r"\b(?:a|any|one) (?:year|date|decade)\b", re.IGNORECASE)
_BOTH_ENDS = re.compile(
    r"\b(?:and|to) (?:\w+ ){0,2}(?:end|finish|complete|stop|close)|from when|between (?:what|which)",
    re.IGNORECASE,
)


def _date(gold: Gold, value: str, text: str, question: str) -> Match | None:
    want = gold_dates(value, gold.precision, gold.kind)
    if not want:
        return None
    said = find_dates(text)
    loose = bool(_ANY_YEAR.search(question))
    first: Date | None = None
    for place in dict.fromkeys(d.start for d in want):
        either = [d for d in want if d.start == place]
        hits = [s for s in said if any(agree(d, s, loose) for d in either)]
        if either[0].kind == "span" and _BOTH_ENDS.search(question):
            years = {y for s in said for y in (s.year, s.last)}
            hits = [s for s in hits if {either[0].year, either[0].last} <= years]
        if not hits:
            first = None
            break
        first = first or hits[0]
    if first is not None:
        return Match("correct", first.start, first.end, "date")
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


def _words(value: str, text: Text, asked: Text) -> Match:
    for form in readings(value):
        new = [t for t in form.content if not locate(t, asked)]
        if not form.whole and (not new or gold_dates(form.value)):
            continue
        rules: list[Rule] = [phrase, glued, person]
        if len(new) >= 2:
            rules.append(acronym)
        for rule in rules:
            for hit in rule(form, text):
                return _span(hit, text, form)
        for hit in spread(form, new, text):
            return _span(hit, text, form)
    return Match("incorrect", None, None, "not found")


_COUNTED = re.compile(
    r"\bhow (?:many|much|long|tall|high|far|big|large|old|deep|wide|heavy|fast|hot|cold)\b"
    r"|\bnumbers? of\b|\bpopulation\b|\bpercent",
    re.IGNORECASE,
)


def _compare(gold: Gold, value: str, text: str, said: Text, question: str, asked: Text) -> Match:
    counted = gold.kind == "quantity" or (gold.kind == "text" and _COUNTED.search(question))
    dated = None if counted and value.strip().isdigit() else _date(gold, value, text, question)
    amount = _quantity(gold, value, text) if dated is None else None
    return dated or amount or _words(value, said, asked)


def _span(hit: Hit, text: Text, form: Form) -> Match:
    why = hit.why if form.whole else hit.why + " of a part"
    return Match("correct", text.tokens[hit.first].start, text.tokens[hit.last].end, why)


def match(question: str, golds: Sequence[Gold], text: str) -> Match:
    """Compare an answer with the golds of its question.

    Aliases of one gold are alternatives; of several golds any one suffices. ``content`` is "none"
    for a text that asserts nothing (empty, or only the question's own words). The span indexes
    ``text``: the value that agreed, or the wrong value where it can be told.
    """
    asked, said = read(question), read(text)
    empty = all(t.text in STOP or t.stem in asked.places for t in said.tokens)
    wrong: Match | None = None
    for gold in golds:
        for value in gold.names:
            found = _compare(gold, value, text, said, question, asked)
            if found.content == "correct":
                return found
            if wrong is None or (wrong.start is None and found.start is not None):
                wrong = found
    if wrong is None or (empty and wrong.start is None):
        return Match("none", None, None, "nothing said")
    return wrong

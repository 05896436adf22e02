"""Does an answer agree with the gold? The content half of the offline judge.

``match`` compares by kind: dates by what both sides state, quantities with units and rounding, and
everything else by its words. Every place where the answer says a gold is a candidate; candidates
that are denied, only echo the question or belong to another event are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from sayso.annotate.amounts import same_amount
from sayso.annotate.dates import MONTHS, find_dates, gold_dates
from sayso.annotate.guards import compared, denied, denies, echoed, listed, other_event, other_place
from sayso.annotate.normalize import STOP
from sayso.annotate.partial import bare, continued
from sayso.annotate.phrases import (
    Text,
    acronym,
    ambiguous,
    glued,
    locate,
    person,
    phrase,
    read,
    spelled,
    spread,
    surname,
)
from sayso.annotate.quantities import Quantity, find_quantities, gold_quantity, ordinal
from sayso.annotate.readings import readings
from sayso.annotate.when import date_spans
from sayso.records import Content, Gold

#: Places in one answer that are looked at for one name of a gold.
MOST_CANDIDATES = 200
#: Of a gold with more names than these only the first is also recognized by a part of it.
MOST_ALIASES = 5


class Match(NamedTuple):
    """What was compared: the content, its span in the text, and the rule that decided."""

    content: Content
    start: int | None
    end: int | None
    why: str


class Candidate(NamedTuple):
    """A place in the answer that says the gold, and the rule that found it."""

    start: int
    end: int
    why: str


class Case(NamedTuple):
    """One question and answer, taken apart once for all golds; ``exact`` knows no typing slips."""

    question: str
    text: str
    asked: Text
    said: Text
    exact: Text


_TIMED = re.compile(
    r"\bwhen\b|\b(?:year|date|decade|century|time|born|died|founded|released|established|day)s?\b",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\bhow (?:many|much|long|tall|high|far|big|large|old|deep|wide|heavy|fast|hot|cold)\b"
    r"|\bnumbers? of\b|\bpopulation\b|\bpercent",
    re.IGNORECASE,
)


def _words(case: Case, said: Text, value: str, part: bool) -> Iterator[Candidate]:
    """Yield where a text gold is said; with ``part``, also by a part of it."""
    forms = []
    for form in readings(value):
        new = [t for t in form.content if not locate(t, case.asked)]
        dated = gold_dates(form.value) or all(t.text in MONTHS for t in form.content)
        if form.whole or (part and new and not dated):
            forms.append((form, new))
    for form, new in forms:
        hits = phrase(form, said) or glued(form, said)
        if not part and len(said.tokens) > 3:
            hits = [hit for hit in hits if not ambiguous(form, said.tokens[hit.first])]
        hits = [*hits, *person(form, said)]
        if part or len(new) > 1:
            hits = [*hits, *spread(form, new, said, case.asked)]
        if len(new) >= 2 and not hits:
            hits = acronym(form, said, case.asked)
        placed = value.startswith(form.value + ",")
        for hit in hits:
            if placed and continued(case.text, said, hit, forms[0][0]):
                continue
            why = hit.why if form.whole else hit.why + " of a part"
            yield Candidate(said.tokens[hit.first].start, said.tokens[hit.last].end, why)
    if not part:
        return
    for form, new in forms:
        if form.whole:
            hits = bare(form, said)
            if form.person and form.person[-1] in new:
                hits = [*hits, *surname(form, said)]
            for hit in hits:
                yield Candidate(said.tokens[hit.first].start, said.tokens[hit.last].end, hit.why)


class Comparison(NamedTuple):
    """Where a gold is said, and where something else of its kind is said instead."""

    found: Iterator[Candidate]
    other: list[tuple[int, int]]
    kind: str


def _counts(case: Case, gold: Gold) -> bool:
    """Tell whether a gold in bare digits is a number of something rather than a year."""
    if gold.kind != "text" or gold.unit:
        return gold.kind != "date"
    return bool(_COUNTED.search(case.question)) or not _TIMED.search(case.question)


def _amount(text: str, said: Quantity, count: bool) -> bool:
    """Tell whether a number is an amount: not of a date, nor a rank when "how many" is asked."""
    if count and ordinal(text[said.start : said.end]):
        return False
    dates = (d for d in find_dates(text) if d.month)
    return not any(d.start < said.end and said.start < d.end for d in dates)


def _compare(case: Case, gold: Gold, value: str, part: bool) -> Comparison:
    number = value.strip().isdigit()
    if not (number and _counts(case, gold)):
        want = gold_dates(value, gold.precision, gold.kind)
        if want:
            other = [(d.start, d.end) for d in find_dates(case.text)]
            names = (gold_dates(name, gold.precision, gold.kind) for name in gold.names)
            spans = date_spans(case.question, case.text, want, names)
            return Comparison((Candidate(*s, "date") for s in spans), other, "date")
    forms = [form for form in readings(value) if form.whole or part]
    parts = (gold_quantity(form.value, gold.unit, gold.kind) for form in forms)
    amount = next((p for p in parts if p is not None), None)
    if amount is not None:
        count = "how many" in case.question.casefold()
        said = [q for q in find_quantities(case.text) if _amount(case.text, q, count)]
        # A number that could be a year is not rounded: 1946 is not "about 1950".
        year = 1000 <= amount.value < 2200 and not (gold.unit or amount.unit)
        exact = year and (number or not _COUNTED.search(case.question))
        found = (
            Candidate(q.start, q.end, "quantity")
            for q in said
            if same_amount(amount, q) and (not exact or q.unit or q.value == amount.value)
        )
        return Comparison(found, [(q.start, q.end) for q in said], "quantity")
    words = case.said if len(gold.names) <= MOST_ALIASES else case.exact
    return Comparison(_words(case, words, value, part), [], "words")


def _choice(case: Case) -> bool:
    """Tell whether the question itself offers the answers: "a fish or a mammal?"."""
    return "or" in case.asked.places


def _rejected(case: Case, one: Candidate, kind: str) -> str | None:
    """Return why a candidate is not the answer, or None when nothing speaks against it."""
    if not denies(case.asked.tokens) and denied(case.text, case.said, one.start, one.end):
        return "denied"
    if (
        kind != "quantity"
        and not _choice(case)
        and echoed(case.text, case.said, case.asked, one.start, one.end)
    ):
        return "echo of the question"
    if kind == "words" and other_place(case.said, one.start, one.end):
        return "another place"
    if _choice(case) and compared(case.said, one.start, one.end):
        return "compared with"
    if other_event(case.text, case.said, case.asked, one.start, one.end):
        return "another event"
    return None


def _extra(case: Case, golds: Sequence[Gold], one: Candidate) -> tuple[int, int] | None:
    """Return the first other item of the candidate's list that no gold names."""
    names = [n for g in golds for n in g.names]
    for start, end in listed(case.text, one.start, one.end):
        words = [t for t in read(case.text[start:end]).tokens if t.text not in STOP]
        new = [t for t in words if not locate(t, case.asked)]
        if new and not any(locate(t, read(n)) for t in words for n in names):
            return start, end
    return None


def _asserted(case: Case, other: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """Return the span of the wrong value: the first of the gold's kind, else a short answer."""
    for start, end in other:
        if case.text[start:end].casefold() not in case.question.casefold():
            return start, end
    if other:
        return other[0]
    if 1 <= len(case.said.tokens) <= 8:
        return case.said.tokens[0].start, case.said.tokens[-1].end
    return None


def _literal(value: str, text: str) -> Match | None:
    """Match what needs no reading: the gold as the whole answer, or a gold of symbols alone."""
    bare, said = value.strip(), text.strip()
    if not said or not bare:
        return None
    symbol = not any(c.isalnum() for c in bare)
    if said.casefold() == bare.casefold() or (symbol and bare in text):
        start = text.index(bare if symbol else said)
        return Match("correct", start, start + len(bare if symbol else said), "same text")
    return None


def match(question: str, golds: Sequence[Gold], text: str) -> Match:
    """Compare an answer with the golds of its question.

    Aliases of one gold are alternatives; of several golds (all true values) any suffices, as long
    as the list it stands in names nothing else. ``content`` is "none" for a text that asserts
    nothing: empty, or only the question's own words. The span indexes ``text``: the value that
    agreed, or the wrong value where it can be told. Never raises, whatever the text.
    """
    case = Case(question, text, read(question), read(text), spelled(read(text)))
    rejected: Match | None = None
    wrong: tuple[int, int] | None = None
    kind = "words"
    for gold in golds:
        for value in gold.names:
            literal = _literal(value, text)
            if literal is not None:
                return literal
            # Many names already hold the short ones; a part of one of them is something else.
            part = value == gold.value or len(gold.names) <= MOST_ALIASES
            comparison = _compare(case, gold, value, part)
            for one in islice(comparison.found, MOST_CANDIDATES):
                against = _rejected(case, one, comparison.kind)
                if against is None:
                    extra = _extra(case, golds, one) if len(golds) > 1 else None
                    if extra is None:
                        return Match("correct", one.start, one.end, one.why)
                    rejected = Match("incorrect", *extra, "extra item")
                    break
                rejected = rejected or Match("incorrect", one.start, one.end, against)
            if wrong is None and (found := _asserted(case, comparison.other)):
                wrong, kind = found, comparison.kind
    if rejected is not None:
        return rejected
    content = [t for t in case.said.tokens if t.text not in STOP]
    if not content or (not _choice(case) and all(locate(t, case.asked) for t in content)):
        return Match("none", None, None, "nothing said")
    start, end = wrong or (None, None)
    return Match("incorrect", start, end, "differs" if wrong and kind != "words" else "not found")

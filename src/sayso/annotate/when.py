"""Which dates of an answer answer the question: birth or death, a year or both ends of a span."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from sayso.annotate.dates import Date, agree, find_dates

_ANY_YEAR = re.compile(r"\b(?:a|any|one) (?:year|date|decade)\b", re.IGNORECASE)
_BOTH_ENDS = re.compile(
    r"\b(?:and|to) (?:\w+ ){0,2}(?:end|finish|complete|stop|close)"
    r"|from when|between (?:what|which)|how long",
    re.IGNORECASE,
)
_BIRTH = re.compile(r"\b(?:born|birth)", re.IGNORECASE)
_DEATH = re.compile(r"\b(?:die[sd]?\b|death|dead\b)", re.IGNORECASE)


def _lifetime(question: str, text: str, said: Date) -> Date:
    """Read the years of "(1946-1990)" as the year of birth or death when that was asked."""
    if said.kind == "span" and text[said.start - 1 : said.start] == "(":
        if _BIRTH.search(question):
            return said._replace(last=said.year, kind="point")
        if _DEATH.search(question):
            return said._replace(year=said.last, kind="point")
    return said


_DASH = re.compile(r"\s*[-\u2013\u2014]\s*")


def _living(question: str, text: str, said: list[Date]) -> list[Date]:
    """Keep one date of "(15 August 1946 - 3 May 2001)" when birth or death was asked."""
    for a, b in pairwise(said):
        if text[max(0, a.start - 1) : a.start] == "(" and _DASH.fullmatch(
            text, a.end, max(a.end, b.start)
        ):
            if _BIRTH.search(question):
                return [d for d in said if d.start != b.start]
            if _DEATH.search(question):
                return [d for d in said if d.start != a.start]
    return said


def _contradicted(said: Date, exact: list[Date]) -> bool:
    """Tell whether the day or month that is said is none of those known for its year."""
    same = [d for d in exact if d.kind == "point" and d.year == said.year and d.month]
    return bool(said.month and same) and not any(agree(d, said) for d in same)


def date_spans(
    question: str, text: str, want: tuple[Date, ...], names: Iterable[tuple[Date, ...]] = ()
) -> list[tuple[int, int]]:
    """Return the spans of the dates in an answer that agree with a gold's dates.

    ``names`` are the dates of all names of the gold: beside "2006" and "30 March 2006" the answer
    "14 May 2006" is wrong, although it says the year. Of a gold with several dates each must be
    said, or nothing agrees. A question for "a year" is answered by any year of a span; one for
    start and end, or for how long, needs both ends.
    """
    said = _living(question, text, [_lifetime(question, text, d) for d in find_dates(text)])
    if len({d.start for d in want}) > 1:
        ends = [s for s in said if s.kind == "span"]
        said = [s for s in said if s.kind != "span"]
        said += [s._replace(last=s.year, kind="point") for s in ends]
        said += [s._replace(year=s.last, kind="point") for s in ends]
    exact = [d for name in names if len(name) == 1 for d in name]
    said = [s for s in said if not _contradicted(s, exact)]
    loose = bool(_ANY_YEAR.search(question))
    found: list[tuple[int, int]] = []
    for place in dict.fromkeys(d.start for d in want):
        either = [d for d in want if d.start == place]
        # A year that the question gave says nothing of the month that it asked for.
        given = {d.year for d in find_dates(question)} if either[0].month else set()
        hits = [
            s
            for s in said
            if any(agree(d, s, loose) for d in either) and (s.month or s.year not in given)
        ]
        if either[0].kind == "span" and _BOTH_ENDS.search(question):
            years = {y for s in said for y in (s.year, s.last)}
            hits = [s for s in hits if {either[0].year, either[0].last} <= years]
        if not hits:
            return []
        found.extend((h.start, h.end) for h in hits)
    return found

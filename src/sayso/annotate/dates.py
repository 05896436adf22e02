"""Dates that are only partly known: find them in text, read golds, and say whether two agree."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_MONTH_NAMES = (
    "january february march april may june july august september october november december"
).split()
MONTHS: dict[str, int] = {
    **{m: i + 1 for i, m in enumerate(_MONTH_NAMES)},
    **{m[:3]: i + 1 for i, m in enumerate(_MONTH_NAMES)},
    "sept": 9,
}
_M = "(?P<m{0}>" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\.?"
_D = r"(?P<d{0}>\d{{1,2}})(?:st|nd|rd|th)?"
_Y = r"(?P<y{0}>\d{{3,4}})"
_ERA = r"(?:\s*(?P<era>b\.?\s?c\.?(?:\s?e\.?)?|a\.?d\.?|c\.?e\.?)(?![a-z]))?"
_PRE = r"(?<![\w.,/])(?:(?P<ad>ad|a\.d\.)\s*)?"


def _pattern(body: str) -> re.Pattern[str]:
    return re.compile(body, re.IGNORECASE)


_ISO = _pattern(
    r"(?<![\d-])(?P<sign>[+-]?)(?P<y>\d{4,11})-(?P<m>\d\d)-(?P<d>\d\d)(?:T[\d:.]*Z?)?(?!\d)"
)
_DMY = _pattern(
    rf"(?<![\d/.-]){_D.format('')}(?:\s+of)?[\s-]*{_M.format('')}(?:[\s,-]+(?:of\s+)?{_Y.format('')}(?!\d){_ERA})?(?![a-z])"
)
_MDY = _pattern(
    rf"(?<![a-z]){_M.format('')}\s*{_D.format('')}(?!\d)(?:(?:\s*,\s*|\s+){_Y.format('')}(?!\d){_ERA})?"
)
_MY = _pattern(rf"(?<![a-z]){_M.format('')}\s*(?:,|of)?\s*{_Y.format('')}(?!\d){_ERA}")
_NUMERIC = _pattern(
    r"(?<![\d/.-])(?P<a>\d{1,2})(?P<s>[/.-])(?P<b>\d{1,2})(?P=s)(?P<y>\d{4})(?![\d/])"
)
_CENTURY = _pattern(r"(?<!\w)(?P<n>\d{1,2})(?:st|nd|rd|th)[\s-]+(?:century|c\.)" + _ERA)
_DECADE = _pattern(r"(?<![\d.,])(?P<y>\d{3}0)\s*['\u2019]?s(?![a-z])")
_RANGE = _pattern(
    r"(?<![\d.,/])(?P<y>\d{3,4})\s*(?:-|\u2013|\u2014|to|until|and|/)\s*(?P<z>\d{4}|\d\d)(?![\d,]|\.\d|st|nd|rd|th)"
    + _ERA
)
_YEAR = _pattern(
    r"(?<![\d.,/$\u00a3\u20ac])(?P<y>\d{3,4})(?!\d|,\d|\.\d|/\d|%|\s*(?:percent|km|kg|miles|people|million))"
    + _ERA
)
_BARE_ERA = _pattern(
    r"(?<![\d.,])(?:(?P<pre>ad|a\.d\.)\s*(?P<x>\d{1,4})|(?P<y>\d{1,5})\s*(?P<era>b\.?\s?c\.?(?:\s?e\.?)?|a\.d\.|ad|ce)(?![a-z]))"
)


class Date(NamedTuple):
    """A date as far as it was said. ``year:last`` is an inclusive range of years (equal for one).

    Years before the common era are negative. ``None`` is a part that was not said.
    """

    year: int | None
    last: int | None
    month: int | None
    day: int | None
    start: int
    end: int

    @property
    def exact_year(self) -> int | None:
        """The year, when one year was said."""
        return self.year if self.year == self.last else None


def _era(year: int, era: str | None) -> int:
    return -year if era and era.lower().replace(".", "").replace(" ", "").startswith("b") else year


def _ok(month: int | None, day: int | None) -> bool:
    return (month is None or 1 <= month <= 12) and (day is None or 1 <= day <= 31)


@lru_cache(maxsize=4096)
def find_dates(text: str) -> tuple[Date, ...]:
    """Return the dates in a text in order of appearance; longer readings win over parts of them.

    A date such as 03/04/1946 is returned twice, once for each reading.
    """
    found: list[Date] = []
    taken: list[tuple[int, int]] = []

    def put(match: re.Match[str], *dates: Date) -> None:
        if any(match.start() < e and s < match.end() for s, e in taken[-400:]) or not dates:
            return
        taken.append(match.span())
        found.extend(dates)

    def date(match: re.Match[str]) -> Date | None:
        parts = match.groupdict()
        month = MONTHS[parts["m"].lower()]
        day = int(parts["d"]) if parts.get("d") else None
        year = _era(int(parts["y"]), parts.get("era")) if parts.get("y") else None
        span = match.span()
        return Date(year, year, month, day, *span) if _ok(month, day) else None

    for m in _ISO.finditer(text):
        year = int(m["y"]) * (-1 if m["sign"] == "-" else 1)
        month, day = int(m["m"]) or None, int(m["d"]) or None
        if _ok(month, day):
            put(m, Date(year, year, month, day, *m.span()))
    for pattern in (_MDY, _DMY, _MY):
        for m in pattern.finditer(text):
            one = date(m)
            if one is not None:
                put(m, one)
    for m in _NUMERIC.finditer(text):
        a, b, year = int(m["a"]), int(m["b"]), int(m["y"])
        readings = {(a, b), (b, a)}
        put(m, *(Date(year, year, x, y, *m.span()) for x, y in sorted(readings) if _ok(x, y)))
    for m in _CENTURY.finditer(text):
        n = int(m["n"])
        low = 100 * (n - 1)
        years = (low, low + 100)
        if _era(1, m["era"]) < 0:
            years = (-100 * n, -low)
        put(m, Date(*years, None, None, *m.span()))
    for m in _DECADE.finditer(text):
        year = int(m["y"])
        put(m, Date(year, year + (99 if year % 100 == 0 else 9), None, None, *m.span()))
    for m in _RANGE.finditer(text):
        low, high = int(m["y"]), int(m["z"])
        if len(m["z"]) == 2 and len(m["y"]) > 2:
            high += low // 100 * 100
        low, high = _era(low, m["era"]), _era(high, m["era"])
        if low <= high and high - low <= 1000:
            put(m, Date(low, high, None, None, *m.span()))
    for m in _BARE_ERA.finditer(text):
        year = int(m["x"] or m["y"])
        year = _era(year, m["era"])
        put(m, Date(year, year, None, None, *m.span()))
    for m in _YEAR.finditer(text):
        year = _era(int(m["y"]), m["era"])
        put(m, Date(year, year, None, None, *m.span()))
    return tuple(sorted(found, key=lambda d: (d.start, d.end)))


@lru_cache(maxsize=4096)
def gold_date(value: str, precision: str | None, kind: str) -> Date | None:
    """Read a gold as a date: an ISO timestamp, or words that are a date and nothing else.

    Zero month or day means it is unknown. January 1st without a stated precision stands for the
    year alone, as Wikidata labels write years that way.
    """
    value = value.strip()
    iso = _ISO.fullmatch(value)
    if iso is None and kind != "date" and not _only_a_date(value):
        return None
    dates = find_dates(value)
    if not dates:
        return None
    one = dates[0]
    if iso is not None and precision is None and (one.month, one.day) == (1, 1) and "T" in value:
        precision = "year"
    if precision == "year":
        return one._replace(month=None, day=None)
    if precision == "month":
        return one._replace(day=None)
    if precision in ("decade", "century") and one.year is not None:
        width = 10 if precision == "decade" else 100
        low = one.year // width * width
        return one._replace(year=low, last=low + width - 1, month=None, day=None)
    return one


_FILLER = re.compile(
    r"\b(?:in|on|the|of|c|ca|circa|around|about|year|early|late|mid|since|ad|ce)\b", re.I
)


def _only_a_date(value: str) -> bool:
    dates = find_dates(value)
    if not dates:
        return False
    rest = list(value)
    for d in dates:
        rest[d.start : d.end] = " " * (d.end - d.start)
    return not re.search(r"\w", _FILLER.sub(" ", "".join(rest)))


def agree(gold: Date, said: Date) -> bool:
    """Tell whether what was said agrees with the gold: no part that both state differs.

    A coarser answer (month, year, decade, century, a range that holds the gold) agrees; so does a
    finer one. A year that is missing agrees only where month and day are both right.
    """
    if gold.year is not None and said.year is not None and said.last is not None:
        low, high = gold.year, gold.last if gold.last is not None else gold.year
        if said.last < low or said.year > high:
            return False
        wide = said.last - said.year
        if wide > 100 or (
            low != high and wide == 0 and said.year not in (low, high) and high - low > 10
        ):
            return False
    elif said.year is None and gold.year is not None:
        if gold.month is None or (said.day is None and gold.day is not None):
            return False
    if gold.month is not None and said.month is not None and gold.month != said.month:
        return False
    return gold.day is None or said.day is None or gold.day == said.day

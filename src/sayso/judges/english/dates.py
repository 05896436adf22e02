"""Dates that are only partly known: finding them in text, reading golds, comparing the two."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from sayso.judges.english.lexicon import alternatives, lexicon_words
from sayso.judges.english.numbers import MONTHS, NUMBER_WORDS, TENS, UNITS
from sayso.judges.english.tokens import HYPHENATED
from sayso.judges.patterns import regex

_MONTH = "(?P<m>" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
# One or two digits more are a footnote mark that lost its place: "in 19832".
_FOUR = r"(?:1\d|20|21)\d\d(?=\d{0,2}(?!\d))|0\d{3}(?!\d)"
_YEAR4 = rf"(?P<y>{_FOUR})\d{{0,2}}"
_ERAS = r"(?:b\.?\s?c\.?(?:\s?e\.?)?|a\.?\s?d\.?|c\.?e\.?)(?![a-z])"
_ERA = rf"(?:\s*(?P<era>{_ERAS}))?"
# Behind a month any number with an era is a year: "15 March 44 BC", "15 March AD 44".
_DATED = (
    rf"(?P<pre>a\.?d\.?\s*(?=\d))?(?P<y>{_FOUR}|\d{{1,4}}(?=\s*{_ERAS})|(?(pre)\d{{1,3}}(?!\d)|(?!)))"
    r"\d{0,2}" + _ERA
)
_OF = r"(?:(?:of|in)\s+(?:the\s+year\s+)?)?"
_BEFORE = r"(?<![\d.,/$\u00a3\u20ac-])"


def _pattern(body: str) -> re.Pattern[str]:
    return regex(body, re.IGNORECASE)


_ISO = _pattern(
    r"(?<![\w-])(?P<sign>[+-]?)(?P<y>\d{4,11})(?P<s>[-/])(?P<m>\d\d)(?P=s)(?P<d>\d\d)(?:T[\d:.]{0,15}Z?)?(?!\d)"
)
_DMY = _pattern(rf"(?<![\d/.-]){_DAY}(?:\s+day)?(?:\s+of)?[\s-]*{_MONTH}(?:[\s,-]*{_OF}{_DATED})?")
_MDY = _pattern(
    rf"(?<![a-z]){_MONTH}\s*(?:the\s+)?{_DAY}(?P<to>\s?[-\u2013]\s?\d{{1,2}})?(?!\d)"
    rf"(?:(?:\s*,\s*|\s+){_OF}{_DATED})?"
)
_MY = _pattern(rf"(?<![a-z]){_MONTH}\s*+(?:(?:,|of)\s*+)?{_DATED}")
_NUMERIC = _pattern(
    r"(?<![\d/.-])(?P<a>\d{1,2})(?P<s>[/.-])(?P<b>\d{1,2})(?P=s)(?P<y>\d{4})(?![\d/])"
)
_PART = r"(?:(?P<part>early|mid(?:dle of the)?|late|beginning of the|end of the)[\s-]+)?"
_ORDINAL = (
    r"(?:twenty[\s-]+)?(?:"
    + "|".join(w for w in NUMBER_WORDS if re.search("(?:st|nd|rd|th)$", w))
    + ")"
)
_CENTURY = _pattern(
    rf"{_PART}(?<![\w.])(?P<n>\d{{1,2}}(?:st|nd|rd|th)|{_ORDINAL})[\s-]+(?:century|centuries|c\.)"
    + _ERA
)
_DECADE = _pattern(rf"{_PART}(?<![\d.,/])(?P<y>\d{{3}}0)\s?['\u2019]?s(?![a-z])" + _ERA)
_SPAN = _pattern(
    rf"(?P<between>between\s+)?{_BEFORE}(?P<y>\d{{3,4}}){_ERA}\s*"
    r"(?P<link>-|\u2013|\u2014|to|until|through|and)\s*(?P<z>\d{4}|\d{3}|\d\d)(?![\d,/-]|\.\d|st|nd|rd|th|s)"
    + _ERA.replace("era", "era2")
)
_WITH_ERA = _pattern(
    rf"{_BEFORE}(?:\b(?P<pre>a\.?d\.?)\s*(?P<x>\d{{1,4}})\b"
    r"|(?P<y>\d{1,5}|\d{1,2},\d{3})\s*(?P<era>b\.?\s?c\.?(?:\s?e\.?)?|a\.?d\.?|c\.?e\.?)(?![a-z]))"
)
_YEAR = _pattern(
    rf"{_BEFORE}{_YEAR4}(?!,\d|\.\d|[/%]|\s*(?:percent|per\s?cent|k?m\b|kg|miles|people|feet))"
)
_SHORT_YEAR = _pattern(
    r"\b(?:in|year|since|until|by|around|about|circa|ca\.?|c\.|from)\s+"
    r"(?P<y>\d{3})(?![\w,%]|\.\d|\s+[a-z])"
)
_UNIT_WORDS, _TEEN_WORDS, _TEN_WORDS = map("|".join, (UNITS[1:10], UNITS[10:], TENS))
_ORDINAL_DAY = _pattern(rf"\b(?P<o>{_ORDINAL})\s+(?:day\s+)?of\s+{_MONTH}(?:[\s,-]*{_OF}{_DATED})?")
_SPELLED = _pattern(
    rf"\b(?P<hundreds>{_TEEN_WORDS}|twenty)[\s-](?:hundred\s)?(?:and\s)?"
    rf"(?P<rest>{_TEEN_WORDS}|(?:{_TEN_WORDS})(?:[\s-](?:{_UNIT_WORDS}))?)\b"
)
_APPROXIMATE = _pattern(rf"\b(?:{alternatives(lexicon_words('nearly', 'dates'))})\b")
_DIGIT = regex(r"\d")
_WORDY = _pattern(r"centur|teen|twenty|twelve|eleven")
_FILLER = _pattern(rf"\b(?:{alternatives(lexicon_words('nearly', 'dates.filler'))})\b")

Kind = Literal["point", "period", "span"]


class Date(NamedTuple):
    """A date as far as it was said. ``year:last`` is an inclusive range of years (equal for one).

    ``kind``: "period" is a century or decade, "span" was said as from-to. Years before the common
    era are negative. ``None`` is a part that was not said.
    """

    year: int | None
    last: int | None
    month: int | None
    day: int | None
    start: int
    end: int
    kind: Kind = "point"


def _signed(year: int, era: str | None) -> int:
    return -year if era and era.lower().startswith("b") else year


def _narrow(low: int, high: int, part: str | None) -> tuple[int, int]:
    """Return the early, middle or late years of a period; early and late are its outer halves."""
    width = high - low
    match (part or "").lower()[:3]:
        case "ear" | "beg":
            return low, low + width // 2
        case "mid":
            return low + width // 4, high - width // 4
        case "lat" | "end":
            return low + width // 2, high
    return low, high


def _cardinal(words: str) -> int:
    """Return the value of "nineteenth" or "twenty-first"."""
    return sum(NUMBER_WORDS[w] for w in re.split(r"[\s-]+", words.casefold()))


def _written(m: re.Match[str]) -> Iterator[Date]:
    parts = m.groupdict()
    month, day = MONTHS[parts["m"].lower()], int(parts["d"]) if parts.get("d") else None
    day = None if parts.get("to") else _cardinal(parts["o"]) if parts.get("o") else day
    year = _signed(int(parts["y"]), parts.get("era")) if parts.get("y") else None
    # "may" and "march" are also verbs: a month without a year needs its capital letter.
    if year is not None or m["m"][0].isupper() or len(m["m"]) > 5:
        yield Date(year, year, month, day, *m.span())


def _iso(m: re.Match[str]) -> Iterator[Date]:
    year = int(m["y"]) * (-1 if m["sign"] == "-" else 1)
    yield Date(year, year, int(m["m"]) or None, int(m["d"]) or None, *m.span())


def _numeric(m: re.Match[str]) -> Iterator[Date]:
    a, b, year = int(m["a"]), int(m["b"]), int(m["y"])
    for month, day in sorted({(a, b), (b, a)}):
        if month and day:
            yield Date(year, year, month, day, *m.span())


def _century(m: re.Match[str]) -> Iterator[Date]:
    n = int(m["n"][:-2]) if m["n"][0].isdigit() else _cardinal(m["n"])
    low, high = 100 * n - 99, 100 * n
    if _signed(1, m["era"]) < 0:
        low, high = -high, -low
    yield Date(*_narrow(low, high, m["part"]), None, None, *m.span(), "period")


def _decade(m: re.Match[str]) -> Iterator[Date]:
    year = int(m["y"])
    # "the 1900s" are a century, "the 2000s" a decade
    low, high = year, year + (99 if year % 100 == 0 and year != 2000 else 9)
    if _signed(1, m["era"]) < 0:
        low, high = -high, -low
    yield Date(*_narrow(low, high, m["part"]), None, None, *m.span(), "period")


def _span(m: re.Match[str]) -> Iterator[Date]:
    low, high = int(m["y"]), int(m["z"])
    if len(m["z"]) == 2 and low > 99:
        high += low // 100 * 100
    low, high = _signed(low, m["era"] or m["era2"]), _signed(high, m["era2"])
    two = m["link"].lower() == "and" and not m["between"]
    if two and len(m["z"]) == 4:
        yield Date(low, low, None, None, m.start("y"), m.end("y"))
        yield Date(high, high, None, None, m.start("z"), m.end("z"))
    elif not two and low < high <= low + 1000 and len(m["y"]) == 4 - (low < 0 and len(m["y"]) < 4):
        yield Date(low, high, None, None, *m.span(), "span")


def _year(m: re.Match[str]) -> Iterator[Date]:
    parts = m.groupdict()
    year = _signed(int((parts.get("x") or parts["y"]).replace(",", "")), parts.get("era"))
    yield Date(year, year, None, None, m.start(), m.end())


def _spelled(m: re.Match[str]) -> Iterator[Date]:
    year = 100 * _cardinal(m["hundreds"]) + _cardinal(m["rest"])
    yield Date(year, year, None, None, *m.span())


#: Readers in order, each with what a casefolded text must hold for its pattern to find anything.
_MONTHLY = regex("jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec")
_READERS = (
    (regex(r"\d[-/]\d"), _ISO, _iso), (_MONTHLY, _MDY, _written), (_MONTHLY, _DMY, _written),
    (_MONTHLY, _ORDINAL_DAY, _written), (_MONTHLY, _MY, _written),
    (regex(r"\d[-/.]\d"), _NUMERIC, _numeric), (regex(r"centur|c\."), _CENTURY, _century),
    (regex(r"0\s?['\u2019]?s"), _DECADE, _decade), (regex(r"\d\D+\d"), _SPAN, _span),
    (regex(r"\d\s*(?:b\.?\s?c|a\.?d|c\.?e)|d\.?\s*\d"), _WITH_ERA, _year),
    (regex(r"[012]\d{3}"), _YEAR, _year), (regex(r"\s\d{3}(?!\d)"), _SHORT_YEAR, _year),
    (regex("te[en]|twe|eleven"), _SPELLED, _spelled),
)  # fmt: skip
#: months and days that there are, or that were not said
_MONTHS, _DAYS = {None, *range(1, 13)}, {None, *range(1, 32)}
_NEEDED = tuple({needed: None for needed, _, _ in _READERS})


@lru_cache(maxsize=4096)
def find_dates(text: str) -> tuple[Date, ...]:
    """Return the dates in a text in order of appearance; longer readings win over parts of them.

    A date such as 03/04/1946 is returned twice, once for each reading.
    """
    raised = not text.isascii() and any(map(str.isdigit, text))
    if not (_DIGIT.search(text) or raised or _WORDY.search(text)):
        return ()
    folded = text.casefold()
    held = {needed: needed.search(folded) for needed in _NEEDED}
    found: list[Date] = []
    taken = bytearray(len(text))
    for needed, pattern, reader in _READERS:
        if not held[needed]:
            continue
        for m in pattern.finditer(text):
            if taken[m.start()] or taken[m.end() - 1]:
                continue
            dates = [d for d in reader(m) if d.month in _MONTHS and d.day in _DAYS]
            if dates:
                found.extend(dates)
                taken[m.start() : m.end()] = b"\1" * (m.end() - m.start())
    return tuple(sorted(found, key=lambda d: (d.start, d.end)))


_KNOWN = lexicon_words("knowledge", "dates.known")
#: what makes a date one of knowledge: "cutoff" itself, or whose knowledge it is
_LIMITS = lexicon_words("knowledge", "dates.limit")
_BETWEEN = _KNOWN | _LIMITS | lexicon_words("knowledge", "dates.between")
_STARTS = lexicon_words("knowledge", "dates.start")
#: characters before a date in which what it dates is looked for, and where its clause begins
_BACK = 120
_CLAUSE = regex(r"[,;!?\n]|\.(?=\s)")


def value_dates(text: str, question: str = "") -> tuple[Date, ...]:
    """Return the dates in a text without those that say until when its writer knows.

    "As of 2026", "my knowledge ends in 2025"; not where the question asks for an update or a start.
    """
    dates = find_dates(text)
    asked = frozenset(HYPHENATED.findall(question.casefold())) if dates else frozenset()
    return tuple(d for d in dates if not _dates_knowledge(text, d, asked))


def _dates_knowledge(text: str, date: Date, asked: frozenset[str]) -> bool:
    clause = _CLAUSE.split(text[max(0, date.start - _BACK) : date.start])[-1]
    before = HYPHENATED.findall(clause.casefold())
    at = next((n for n in range(len(before), 0, -1) if before[n - 1] not in _BETWEEN), 0)
    seen = before[at:]
    known = (_KNOWN - asked).intersection(seen)
    if ("as", "of") in pairwise(seen):
        return bool(known) or _STARTS.isdisjoint(asked.union(before[at - 1 : at]))
    after = HYPHENATED.findall(text[date.end : date.end + _BACK].casefold())[:2]
    if not (_KNOWN - asked).isdisjoint(after[:1]):  # "my 2024 data", "a 2024 knowledge cutoff"
        return not _LIMITS.isdisjoint((*seen[-1:], *after))
    return bool(known) and not _LIMITS.isdisjoint(seen)


@lru_cache(maxsize=4096)
def gold_dates(value: str, precision: str | None = None, kind: str = "text") -> tuple[Date, ...]:
    """Read a gold as dates: an ISO timestamp, or words that are dates and nothing else.

    Empty where the gold is something else. Zero month or day of a timestamp means unknown. January
    1st at midnight without a stated precision stands for the year alone: Wikidata writes years so.
    """
    value = value.strip()
    dates = find_dates(value)
    iso = _ISO.fullmatch(value)
    rest = list(value)
    for d in dates:
        rest[d.start : d.end] = " " * (d.end - d.start)
    more = re.search(r"\w", _FILLER.sub(" ", "".join(rest)))
    if not dates or (more and not iso and kind != "date"):
        return ()
    if iso and precision is None and (dates[0].month, dates[0].day) == (1, 1) and "T" in value:
        precision = "year"
    if precision == "year":
        return tuple(d._replace(month=None, day=None) for d in dates)
    if precision == "month":
        return tuple(d._replace(day=None) for d in dates)
    width = {"decade": 10, "century": 100, "millennium": 1000}.get(precision or "")
    one = dates[0]
    if width and one.year is not None:
        low = one.year // width * width if width == 10 else (one.year - 1) // width * width + 1
        return (Date(low, low + width - 1, None, None, one.start, one.end, "period"),)
    if one.kind == "point" and one.year is not None and _APPROXIMATE.search(value):
        # The longer ago, the less "about" can mean: one percent of the distance to today.
        room = max(1, round(0.01 * (2025 - one.year)))
        return (one._replace(year=one.year - room, last=one.year + room, kind="period"),)
    return dates


def _years_agree(gold: Date, said: Date) -> bool:
    if gold.year is None or said.year is None or gold.last is None or said.last is None:
        return True
    inside = gold.year <= said.year and said.last <= gold.last
    around = said.year <= gold.year and gold.last <= said.last
    if gold.kind == "span":
        one = said.year == said.last and said.year in (gold.year, gold.last)
        return one or (around and (inside or said.kind == "period"))
    short = said.kind == "period" or said.last - said.year <= 10
    return inside or (around and (short or gold.year in (said.year, said.last)))


def agree(gold: Date, said: Date) -> bool:
    """Tell whether what was said agrees with the gold: no part that both state differs.

    A coarser answer (month, year, decade, century, a span of at most ten years that holds the
    gold) agrees; so does a finer one. An answer without a year agrees only if it says all of month
    and day that the gold says, and a gold without a year only with an answer that says a month. Of
    a gold span both ends must be said, or one of them alone.
    """
    if not _years_agree(gold, said):
        return False
    vague = gold.month is None or (gold.day is not None and said.day is None)
    if said.year is None and gold.year is not None and vague:
        return False
    if gold.year is None and said.month is None:
        return False
    if gold.month is not None and said.month is not None and gold.month != said.month:
        return False
    return gold.day is None or said.day is None or gold.day == said.day

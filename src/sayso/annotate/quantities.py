"""Numbers with units, in digits or words (:mod:`sayso.annotate.amounts` compares them)."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import NamedTuple

from sayso.annotate.normalize import NUMBER_WORDS, Token, comparable, fold, tokens
from sayso.annotate.units import MONEY, unit, unit_at, unit_named

_SCALES: dict[str, float] = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12,
    "dozen": 12, "crore": 1e7, "lakh": 1e5, "k": 1e3, "m": 1e6, "mn": 1e6, "bn": 1e9,
}  # fmt: skip
_SHORT_SCALES = frozenset({"k", "m", "mn", "bn"})
_SUPERSCRIPTS = str.maketrans(
    "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b\u2212", "0123456789--"
)
_POWER = re.compile(
    r"\s?[x\u00d7*\u00b7]\s?10(?:\s?(?:\^|\*\*)\s?([-\u2212]?\d{1,3})"
    r"|([\u207b\u2070\u00b9\u00b2\u00b3\u2074-\u2079]{1,4}))|[eE]([+-]?\d{1,3})(?!\w)"
)
_ABOUT = re.compile(
    r"\b(?:about|approximately|around|roughly|nearly|almost|over|some|estimated|at|a|an|the)\b",
    re.IGNORECASE,
)


class Quantity(NamedTuple):
    """A number as written. ``slack`` is half a step of its last written digit; ``unit`` "" is none.

    ``high`` is the upper end of a range, whose lower end is ``value``.
    """

    value: float
    unit: str
    slack: float
    start: int
    end: int
    high: float | None = None


def _step(raw: str, value: float) -> float:
    """Return half of the place value of the last significant digit that was written."""
    digits = re.sub(r"[^\d.]", "", raw)
    if "." in digits:
        return 0.5 * 10.0 ** -min(len(digits.partition(".")[2]), 300)
    zeros = min(len(digits) - len(digits.rstrip("0")), 300)
    if 0 < zeros < len(digits):
        return 0.5 * 10.0**zeros
    return 0.5 if value > 20 else 0.0


def _in_digits(text: str, token: Token) -> tuple[float, float, int] | None:
    """Read a number in digits, with a power of ten: value, slack, end of its characters."""
    if not token.raw[0].isdigit():
        return None
    try:
        value = float(comparable(token.raw))
    except ValueError:
        return None
    slack, end = _step(token.raw, value), token.end
    power = _POWER.match(text, end)
    if power is not None:
        exponent = int((power[1] or power[2] or power[3]).translate(_SUPERSCRIPTS))
        factor = 10.0 ** max(-300, min(300, exponent))
        return value * factor, (slack or 0.5) * factor, power.end()
    return value, slack, end


def _in_words(items: list[Token], i: int) -> tuple[float, int] | None:
    """Read a number in words from token i: ("two hundred and fifty") -> (250, next)."""
    total, part, seen, k = 0.0, 0.0, False, i
    while k < len(items):
        word = fold(items[k].raw)
        following = fold(items[k + 1].raw) if k + 1 < len(items) else ""
        if word in NUMBER_WORDS:
            value = NUMBER_WORDS[word]
            if part and (part % 10 or (value >= 10 and part % 100)):
                break
            part, seen = part + value, True
        elif word in _SCALES and word not in _SHORT_SCALES and (seen or _bare_scale(items, k)):
            if word in ("hundred", "dozen"):
                part = (part or 1) * _SCALES[word]
            else:
                total, part = total + (part or 1) * _SCALES[word], 0.0
            seen = True
        elif word == "half" and following == "a" and k == i:
            part, seen, k = 0.5, True, k + 1
        elif not (word == "and" and seen and part % 100 == 0 and following in NUMBER_WORDS):
            break
        k += 1
    return (total + part, k) if seen else None


def _bare_scale(items: list[Token], k: int) -> bool:
    """ "a million", "hundred" are numbers; "millions" alone and "the million" are not."""
    counted = k > 0 and items[k - 1].text in ("a", "one")
    return counted or fold(items[k].raw) == "hundred"


_TO = re.compile(r"\s*(?:-|\u2013|\u2014|to|and)\s*", re.IGNORECASE)
_AND = re.compile(r"\s*,?\s*(?:and)?\s*", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s+$", re.IGNORECASE)
# After a larger unit these are minutes and inches.
_AFTER = {("hour", "m"): "minute", ("foot", "in"): "inch", ("foot", ""): "inch"}


_FRACTIONS = {"\u00bc": 0.25, "\u00bd": 0.5, "\u00be": 0.75}
_FRACTION = re.compile(r"\s?([\u00bc-\u00be])|\s+and\s+a\s+half\b", re.IGNORECASE)


def _join(text: str, a: Quantity, b: Quantity) -> Quantity | None:
    """Read two neighbors as one: "3 hours 48 minutes" is a sum, "4.5 to 6 liters" a range."""
    between = text[a.end : b.start]
    if len(between) > 8:
        return None
    if a.unit and b.unit and a.unit != b.unit and _AND.fullmatch(between):
        one, two = unit(a.unit), unit(b.unit)
        small = b.value * two.factor < one.factor > two.factor
        if one.dimension == two.dimension in ("time", "length", "mass") and small:
            value = round(a.value * one.factor / two.factor + b.value, 6)
            return Quantity(value, b.unit, b.slack, a.start, b.end)
    if _TO.fullmatch(between) and a.value < b.value and a.unit in ("", b.unit) and a.high is None:
        if "and" in between and not _BETWEEN.search(text[max(0, a.start - 12) : a.start]):
            return None
        return a._replace(unit=b.unit, end=b.end, high=b.value)
    return None


#: 5'11": feet before inches; after degrees the same marks are minutes and seconds of an angle
_FEET = re.compile(
    r"\s?['\u2019\u2032](?=\s?\d{1,2}(?:\.\d+)?\s?(?:[\"\u201d\u2033]|''|in\b|inches))"
)
_INCHES = re.compile(r"\s?(?:[\"\u201d\u2033]|'')")
_SIGN = re.compile(r"\s?(%|\u00b0\s?([CFK]\b)?)")


def _mark_after(text: str, end: int, last: str) -> tuple[str, int] | None:
    """Return the unit that a sign after a number stands for, and where the sign ends."""
    if (sign := _SIGN.match(text, end)) is not None:
        degrees = {"C": "celsius", "F": "fahrenheit", "K": "kelvin", None: "degree"}[sign[2]]
        return ("percent" if sign[1] == "%" else degrees), sign.end()
    if last == "foot" and (inches := _INCHES.match(text, end)) is not None:
        return "inch", inches.end()
    if last != "degree" and (feet := _FEET.match(text, end)) is not None:
        return "foot", feet.end()
    return None


def _unit_after(text: str, items: list[Token], k: int, end: int, last: str) -> tuple[str, int, int]:
    """Return the unit after a number that ends at ``end``, where it ends, and the next token."""
    if (marked := _mark_after(text, end, last)) is not None:
        return (*marked, k)
    if k < len(items):
        between = text[end : items[k].start]
        raw = items[k].raw.casefold()
        if len(between) < 3 and not between.strip(" -\u00a0\u00b0/"):
            if (last, raw) in _AFTER:
                return _AFTER[last, raw], items[k].end, k + 1
            name, after, reached = unit_at(text, items, k)
            if name and not (name == "kelvin" and raw == "k" and not between):
                return name, reached, after
    return "", end, k


@lru_cache(maxsize=2048)
def find_quantities(text: str) -> tuple[Quantity, ...]:
    """Return the numbers of a text with their units, in order of appearance.

    Sums ("3 hours 48 minutes") and ranges ("4.5 to 6 liters", with ``high``) are one quantity.
    """
    items = tokens(text)
    found: list[Quantity] = []
    i = 0
    while i < len(items):
        digits = _in_digits(text, items[i])
        if digits is not None:
            (value, slack, end), k = digits, i + 1
            while k < len(items) and items[k].start < end:
                k += 1
        else:
            words = _in_words(items, i)
            if words is None:
                i += 1
                continue
            (value, k), slack = words, 0.0
            end = items[k - 1].end
        if (half := _FRACTION.match(text, end)) is not None:
            value, slack, end = value + _FRACTIONS.get(half[1], 0.5), 0.25, half.end()
            while k < len(items) and items[k].start < end:
                k += 1
        start = items[i].start
        if text[start - 1 : start] in ("-", "\u2212") and not text[max(0, start - 2)].isalnum():
            value, start = -value, start - 1
        elif i and items[i - 1].text in ("minus", "negative"):
            value, start = -value, items[i - 1].start
        money = MONEY.get(text[start - 1 : start], "")
        while k < len(items) and (scale := _SCALES.get(fold(items[k].raw))) is not None:
            glued = items[k].start == end
            if fold(items[k].raw) in _SHORT_SCALES and not (
                glued and (money or items[k].raw != "m")
            ):
                break
            slack, value, end, k = (slack or 0.5) * scale, value * scale, items[k].end, k + 1
        name, end, k = _unit_after(text, items, k, end, found[-1].unit if found else "")
        one = Quantity(value, money or name, slack, start - bool(money), end)
        both = _join(text, found[-1], one) if found else None
        if both is None:
            found.append(one)
        else:
            found[-1] = both
        i = max(k, i + 1)
    return tuple(q for q in found if math.isfinite(q.value))


_RANK = re.compile(
    r"\d(?:st|nd|rd|th)$|(?:^|[\s-])(?:first|second|third|fifth|eighth|ninth|twelfth|\w+(?:ieth|[nrvx]th))$",
    re.IGNORECASE,
)


def ordinal(written: str) -> bool:
    """Tell whether a number is written as a rank: "third", "21st"."""
    return bool(_RANK.search(written))


@lru_cache(maxsize=4096)
def gold_quantity(value: str, unit: str | None = None, kind: str = "text") -> Quantity | None:
    """Read a gold as one quantity: a number with nothing but a unit beside it, else None.

    ``unit`` is the gold's own, where its source keeps it apart; one that is not known is ignored.
    """
    value = re.sub(r"(?<=\d)\s?(?:in\.?|\")$", " inches", value.strip())
    found = find_quantities(value)
    if len(found) != 1:
        return None
    one = found[0]
    outside = value[: one.start] + " " + value[one.end :]
    if kind != "quantity" and re.search(r"[^\W_]", _ABOUT.sub(" ", outside)):
        return None
    return one._replace(unit=unit_named(unit)) if unit and not one.unit else one

"""Numbers with units, in digits or words, and whether two of them mean the same amount."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from sayso.annotate.normalize import NUMBER_WORDS, Token, comparable, fold, stem, tokens

_SCALES: dict[str, float] = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12,
    "k": 1e3, "m": 1e6, "mn": 1e6, "bn": 1e9, "dozen": 12, "crore": 1e7, "lakh": 1e5,
}  # fmt: skip
_SHORT_SCALES = frozenset({"k", "m", "mn", "bn"})

# unit -> (dimension, factor to the dimension's base, offset)
UNITS: dict[str, tuple[str, float, float]] = {}


def _unit(dimension: str, factor: float, names: str, offset: float = 0.0) -> None:
    for name in names.split():
        UNITS[name] = (dimension, factor, offset)
        UNITS[stem(name)] = (dimension, factor, offset)


_unit("length", 1e-3, "millimeter millimetre mm")
_unit("length", 1e-2, "centimeter centimetre cm")
_unit("length", 1.0, "meter metre m")
_unit("length", 1e3, "kilometer kilometre km kms")
_unit("length", 0.0254, "inch inches")
_unit("length", 0.3048, "foot feet ft")
_unit("length", 0.9144, "yard yd")
_unit("length", 1609.344, "mile mi")
_unit("length", 1.495978707e11, "au")
_unit("length", 9.4607e15, "lightyear ly")
_unit("length", 3.0857e16, "parsec pc")
_unit("mass", 1e-3, "gram gramme g")
_unit("mass", 1e-6, "milligram mg")
_unit("mass", 1.0, "kilogram kilo kg kgs")
_unit("mass", 1e3, "tonne")
_unit("mass", 907.18474, "ton")
_unit("mass", 0.45359237, "pound lb lbs")
_unit("mass", 0.028349523, "ounce oz")
_unit("time", 1.0, "second sec")
_unit("time", 60.0, "minute min mins")
_unit("time", 3600.0, "hour hr hrs h")
_unit("time", 86400.0, "day")
_unit("time", 604800.0, "week wk")
_unit("time", 2629800.0, "month")
_unit("time", 31557600.0, "year yr yrs")
_unit("time", 315576000.0, "decade")
_unit("time", 3155760000.0, "century centuries")
_unit("temperature", 1.0, "celsius centigrade")
_unit("temperature", 5 / 9, "fahrenheit farenheit", offset=-160 / 9)
_unit("temperature", 1.0, "kelvin", offset=-273.15)
_unit("area", 1.0, "sqm")
_unit("area", 1e6, "sqkm")
_unit("area", 1e4, "hectare ha")
_unit("area", 4046.856, "acre")
_unit("area", 2589988.0, "sqmi")
_unit("area", 0.092903, "sqft")
_unit("volume", 1.0, "liter litre l")
_unit("volume", 1e-3, "milliliter millilitre ml")
_unit("volume", 3.785412, "gallon gal")
_unit("volume", 0.473176, "pint")
_unit("speed", 1.0, "kmh kph")
_unit("speed", 1.609344, "mph")
_unit("percent", 1.0, "percent percentage")
_unit("money-usd", 1.0, "dollar usd")
_unit("money-eur", 1.0, "euro eur")
_unit("money-gbp", 1.0, "gbp quid")
_SYMBOLS = {"$": "dollar", "\u20ac": "euro", "\u00a3": "gbp"}


class Quantity(NamedTuple):
    """A number as written: value, unit ("" when none), half a step of its last written digit."""

    value: float
    unit: str
    slack: float
    start: int
    end: int
    high: float | None = None


def _value(token: Token) -> float | None:
    raw = token.raw
    if raw[0].isdigit():
        try:
            return float(comparable(raw))
        except ValueError:
            return None
    return None


def _step(raw: str, value: float) -> float:
    """Half of the place value of the last significant digit that was written."""
    digits = raw.replace(",", "")
    if "." in digits:
        return 0.5 * 10.0 ** -len(digits.partition(".")[2])
    zeros = len(digits) - len(digits.rstrip("0"))
    return 0.5 * 10.0**zeros if 0 < zeros < len(digits) else 0.5 if value > 20 else 0.0


def _unit_at(text: str, items: list[Token], i: int) -> tuple[str, int]:
    """Return the unit that starts at token i and the index after it."""
    if i >= len(items):
        return "", i
    word = items[i].text
    following = items[i + 1].text if i + 1 < len(items) else ""
    third = items[i + 2].text if i + 2 < len(items) else ""
    if word in ("degree", "degrees", "deg"):
        if stem(following) in UNITS or following in ("c", "f", "k"):
            return {"c": "celsius", "f": "fahrenheit", "k": "kelvin"}.get(
                following, following
            ), i + 2
        return "degree", i + 1
    if word in ("square", "sq") and stem(following) in UNITS:
        for name, names in (
            ("sqkm", "kilometer kilometre km"),
            ("sqmi", "mile mi"),
            ("sqm", "meter metre m"),
            ("sqft", "foot feet fort"),
        ):
            if stem(following) in {stem(n) for n in names.split()} | set(names.split()):
                return name, i + 2
    if word in ("light",) and stem(following) == "year":
        return "lightyear", i + 2
    rate = third if following in ("per", "an") else following
    if rate in ("h", "hour") and stem(word) in ("km", stem("kilometer"), stem("kilometre"), "mile"):
        return ("mph" if word.startswith("mi") else "kmh"), i + (2 if rate == following else 3)
    if word == "fort":
        return "foot", i + 1
    if word in UNITS or stem(word) in UNITS:
        return (word if word in UNITS else stem(word)), i + 1
    return "", i


def _words(items: list[Token], i: int) -> tuple[float, int] | None:
    """Read a number in words from token i: ("two hundred and fifty") -> (250, next)."""
    total, part, seen, k = 0.0, 0.0, False, i
    while k < len(items):
        word = fold(items[k].raw)
        if word in NUMBER_WORDS:
            value = NUMBER_WORDS[word]
            if seen and (part % 10 or value >= 10 and part % 100) and part:
                break
            part += value
            seen = True
        elif word in _SCALES and word not in _SHORT_SCALES and (seen or word == "hundred"):
            scale = _SCALES[word]
            if word in ("hundred", "dozen"):
                part = (part or 1) * scale
            else:
                total += (part or 1) * scale
                part = 0
            seen = True
        elif not (
            word == "and"
            and seen
            and part % 100 == 0
            and k + 1 < len(items)
            and fold(items[k + 1].raw) in NUMBER_WORDS
        ):
            break
        k += 1
    return (total + part, k) if seen else None


_TO = re.compile(r"\s*(?:-|\u2013|\u2014|to|and)\s*", re.IGNORECASE)
_AND = re.compile(r"\s*,?\s*(?:and)?\s*", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s+$", re.IGNORECASE)


def _join(text: str, a: Quantity, b: Quantity) -> Quantity | None:
    """Read two neighbors as one: "3 hours 48 minutes" is a sum, "4.5 to 6 liters" a range."""
    between = text[a.end : b.start]
    if len(between) > 8:
        return None
    if a.unit in UNITS and b.unit in UNITS and a.unit != b.unit and _AND.fullmatch(between):
        (one, big, _), (two, small, _) = UNITS[a.unit], UNITS[b.unit]
        if one == two in ("time", "length", "mass") and big > small and b.value * small < big:
            value = round(a.value * big / small + b.value, 6)
            return Quantity(value, b.unit, b.slack, a.start, b.end)
    if _TO.fullmatch(between) and a.value < b.value and a.unit in ("", b.unit) and a.high is None:
        if "and" in between and not _BETWEEN.search(text[max(0, a.start - 12) : a.start]):
            return None
        return a._replace(unit=b.unit, end=b.end, high=b.value)
    return None


@lru_cache(maxsize=4096)
def find_quantities(text: str) -> tuple[Quantity, ...]:
    """Return the numbers of a text with their units, in order of appearance.

    Sums ("3 hours 48 minutes") and ranges ("4.5 to 6 liters", with ``high``) are one quantity.
    """
    joined: list[Quantity] = []
    for one in _single(text):
        both = _join(text, joined[-1], one) if joined else None
        if both is None:
            joined.append(one)
        else:
            joined[-1] = both
    return tuple(joined)


def _single(text: str) -> tuple[Quantity, ...]:
    items = tokens(text)
    found: list[Quantity] = []
    i = 0
    while i < len(items):
        token = items[i]
        start = token.start
        value = _value(token)
        if value is not None:
            slack, k = _step(re.sub(r"\D+$", "", token.raw), value), i + 1
        else:
            read = _words(items, i)
            if read is None:
                i += 1
                continue
            value, k = read
            slack = 0.0
        if (
            text[start - 1 : start] in ("-", "\u2212")
            and not text[max(0, start - 2) : start - 1].strip()
        ):
            value, start = -value, start - 1
        elif i and items[i - 1].text in ("minus", "negative"):
            value, start = -value, items[i - 1].start
        while k < len(items) and fold(items[k].raw) in _SCALES:
            word = fold(items[k].raw)
            if word in _SHORT_SCALES and (
                items[k].start != items[k - 1].end or word == "m" and "$" not in text
            ):
                break
            slack, value = (slack or 0.5) * _SCALES[word], value * _SCALES[word]
            k += 1
        end = items[k - 1].end
        unit, after = _unit_at(text, items, k)
        between = text[end : items[k].start] if k < len(items) else ""
        tail = text[end : end + 3]
        if unit and len(between.strip(" -\u00a0\u00b0/")) == 0:
            end, k = items[after - 1].end, after
        elif re.match(r"\s?%", tail):
            unit, end = "percent", end + tail.index("%") + 1
        elif (degrees := re.match(r"\s?\u00b0\s?([CF]\b)?", text[end : end + 5])) is not None:
            unit = {"C": "celsius", "F": "fahrenheit"}.get(degrees[1], "degree")
            end += degrees.end()
        else:
            unit = ""
        if text[start - 1 : start] in _SYMBOLS:
            unit = _SYMBOLS[text[start - 1]]
            start -= 1
        if i and text[start - 1 : start] == "$":
            start -= 1
        found.append(Quantity(value, unit, slack, start, end))
        i = max(k, i + 1)
    return tuple(found)


def _base(value: float, unit: str) -> tuple[str, float]:
    if unit in UNITS:
        dimension, factor, offset = UNITS[unit]
        return dimension, value * factor + offset
    return unit, value


def same_amount(gold: Quantity, said: Quantity) -> bool:
    """Tell whether two quantities agree, within the rounding that the coarser one was written with.

    A side without a unit agrees with any unit. Units of one dimension are converted, with one
    percent of tolerance, because people round what they convert; others contradict. A range agrees
    with a gold inside it when its ends differ by no more than half, and with an equal range.
    """
    if gold.high is not None or said.high is not None:
        ends = [q.high if q.high is not None else q.value for q in (gold, said)]
        low = same_amount(gold._replace(high=None), said._replace(high=None))
        top = same_amount(
            gold._replace(value=ends[0], high=None), said._replace(value=ends[1], high=None)
        )
        if low and top:
            return True
        narrow, wide = (said, gold) if gold.high is not None else (gold, said)
        if narrow.high is not None or wide.high is None or narrow.unit not in ("", wide.unit):
            return False
        if narrow.value in (wide.value, wide.high):
            return True
        return wide.value <= narrow.value <= wide.high <= 1.5 * wide.value
    if gold.unit and said.unit and gold.unit != said.unit:
        (one, a), (two, b) = _base(gold.value, gold.unit), _base(said.value, said.unit)
        if one != two:
            return (
                "degree" in (gold.unit, said.unit)
                and "temperature" in (one, two)
                and gold.value == said.value
            )
        same = UNITS[gold.unit][1:] == UNITS[said.unit][1:]
        if not same:
            return abs(a - b) <= 0.015 * max(abs(a), abs(b))
    a, b = gold.value, said.value
    if a == b:
        return True
    rounded = max(gold.slack, said.slack)
    return abs(a - b) < min(rounded, 0.031 * max(abs(a), abs(b))) and a * b > 0


@lru_cache(maxsize=4096)
def gold_quantity(value: str, unit: str | None, kind: str) -> Quantity | None:
    """Read a gold as one quantity: a number with nothing but a unit beside it."""
    value = re.sub(r"(?<=\d)\s?(?:in\.?|\")$", " inches", value.strip())
    found = find_quantities(value)
    if len(found) != 1:
        return None
    one = found[0]
    rest = value
    outside = rest[: one.start] + " " + rest[one.end :]
    if kind != "quantity" and re.search(
        r"[^\W_]", re.sub(r"\b(?:about|approximately|around|over|a|an|the)\b", " ", outside)
    ):
        return None
    if unit:
        name = unit.casefold()
        known = _unit_at(name, tokens(name), 0)[0] or name
        one = one._replace(unit=known)
    return one

"""Units of measure: their names, their dimensions, and how they convert.

Converted is only what one word means one thing by. A bare "ton", "gallon", "pint" or "fluid ounce"
is one amount in Britain and another in America (up to 20 percent apart), so it converts into
nothing; with its kind beside it ("metric ton", "US gallon") it does. "Mile" is the land mile
unless it is called nautical. Factors: the International System of Units, and NIST Special
Publication 811, appendix B, for the others; bodies of the sky: IAU 2015 Resolution B3.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from sayso.annotate.normalize import Token, stem, tokens


class Unit(NamedTuple):
    """One unit: ``value * factor + offset`` is the amount in the dimension's base unit."""

    dimension: str
    factor: float
    offset: float = 0.0


# unit | dimension | factor | other names
_TABLE = """
nanometer|length|1e-9|
micrometer|length|1e-6|micron
millimeter|length|1e-3|mm
centimeter|length|1e-2|cm, cms
decimeter|length|1e-1|
meter|length|1|m
kilometer|length|1e3|km, kms
inch|length|0.0254|inches
foot|length|0.3048|feet, ft
yard|length|0.9144|yd, yds
mile|length|1609.344|mi, statute mile
nautical mile|length|1852|nmi, sea mile
astronomical unit|length|1.495978707e11|au
lightyear|length|9.4607304725808e15|light year, ly
parsec|length|3.0856775814914e16|pc
solar radius|length|6.957e8|
earth radius|length|6.3781e6|
jupiter radius|length|7.1492e7|jovian radius
microgram|mass|1e-9|μg, mcg, ug
milligram|mass|1e-6|mg
gram|mass|1e-3|gramme, g
kilogram|mass|1|kilo, kg, kgs
tonne|mass|1e3|metric ton, metric tonne
short ton|mass|907.18474|us ton, american ton
long ton|mass|1016.0469088|imperial ton, british ton
pound|mass|0.45359237|lb, lbs
ounce|mass|0.028349523125|oz
troy ounce|mass|0.0311034768|troy oz
solar mass|mass|1.98841e30|
earth mass|mass|5.97217e24|
jupiter mass|mass|1.898125e27|jovian mass
ton|ton|1|
nanosecond|time|1e-9|
microsecond|time|1e-6|
millisecond|time|1e-3|ms
second|time|1|sec
minute|time|60|min
hour|time|3600|hr, hrs, h
day|time|86400|
week|time|604800|wk, wks
month|time|2629800|
year|time|31557600|yr, yrs
decade|time|315576000|
century|time|3155760000|centuries
millennium|time|31557600000|millennia
celsius|temperature|1|centigrade
kelvin|temperature|1|
fahrenheit|temperature|0.5555555555555556|farenheit
hectare|area|1e4|ha
acre|area|4046.8564224|acres
milliliter|volume|1e-6|ml
centiliter|volume|1e-5|cl
liter|volume|1e-3|l
us gallon|volume|3.785411784e-3|american gallon, u.s. gallon
imperial gallon|volume|4.54609e-3|british gallon, uk gallon
us pint|volume|4.73176473e-4|american pint
imperial pint|volume|5.6826125e-4|british pint, uk pint
us fluid ounce|volume|2.95735295625e-5|us fl oz
imperial fluid ounce|volume|2.84130625e-5|imperial fl oz
gallon|gallon|1|gal
pint|pint|1|
fluid ounce|fluid ounce|1|fl oz
percent|share|1|percentage
dollar|money in dollars|1|usd, us dollar, united states dollar
euro|money in euros|1|eur
pound sterling|money in pounds|1|gbp, quid
degree|angle|1|deg
"""
_OFFSETS = {"kelvin": -273.15, "fahrenheit": -160 / 9}
#: units whose squares and cubes are units, and the symbols after which a digit is a power
_POWERED = (
    "millimeter", "centimeter", "decimeter", "meter", "kilometer", "inch", "foot", "yard", "mile",
)  # fmt: skip
_SYMBOLS = ("mm", "cm", "m", "km")
_MORE = {
    "square kilometer": ("sqkm",), "square mile": ("sqmi",), "square meter": ("sqm",),
    "square foot": ("sqft",), "cubic centimeter": ("cc", "ccm"),
    "kilometer per hour": ("kmh", "kph"), "mile per hour": ("mph",),
    "nautical mile per hour": ("knot",),
}  # fmt: skip
#: Names that may be meant by another: the numbers are compared as if the units were one.
_MEANT = {
    "ton": ("tonne", "short ton", "long ton"),
    "gallon": ("us gallon", "imperial gallon"),
    "pint": ("us pint", "imperial pint"),
    "fluid ounce": ("us fluid ounce", "imperial fluid ounce"),
    "ounce": ("fluid ounce", "us fluid ounce", "imperial fluid ounce", "troy ounce"),
    "pound": ("pound sterling",),
    "degree": ("celsius", "fahrenheit", "kelvin"),
}

UNITS: dict[str, Unit] = {}
_NAMES: dict[str, str] = {}
_STEMS: dict[str, str] = {}


def _named(name: str, other: str) -> None:
    """Let a unit be called by another name; symbols of one or two letters are not inflected."""
    words = tokens(other)
    _NAMES[" ".join(t.raw.casefold() for t in words)] = name
    if len(words) > 1 or len(other) > 2:
        _STEMS[" ".join(map(_stemmed, words))] = name


def _stemmed(token: Token) -> str:
    """Return a word without its inflection; what tokens read as another word, as it is written."""
    if token.number or len(token.raw) < 4:  # "second" as 2, "ft" as "fort"
        return stem(token.raw.casefold()) if token.raw[0].isalpha() else token.raw
    return token.stem


for _line in _TABLE.strip().splitlines():
    _name, _dimension, _factor, _others = _line.split("|")
    UNITS[_name] = Unit(_dimension, float(_factor), _OFFSETS.get(_name, 0.0))
    for _other in (_name, *filter(None, _others.split(", "))):
        _named(_name, _other)
for _name in _POWERED:
    for _word, _dimension, _power in (("square", "area", 2), ("cubic", "volume", 3)):
        UNITS[f"{_word} {_name}"] = Unit(_dimension, UNITS[_name].factor ** _power)
for _name, _forms in _MORE.items():
    for _other in _forms:
        _named(_name, _other)

_LETTERS = {"c": "celsius", "f": "fahrenheit", "k": "kelvin"}
#: Symbols that stand before a number.
MONEY = {"$": "dollar", "\u20ac": "euro", "\u00a3": "pound sterling"}
_BEFORE = {"square": "square", "sq": "square", "cubic": "cubic", "cu": "cubic"}
_AFTER = {"squared": "square", "cubed": "cubic"}
_POWER = re.compile(r"(?:\^|\*\*)([23])(?!\w|[.,]\d)|([\u00b2\u00b3])|([23])(?!\w|[.,]\d)")
_PER = re.compile(r"\s?/\s?|\s+(?:per|an?)\s+|\s(?=h\b)", re.IGNORECASE)
_BRIEF = {"s": "second", "h": "hour"}  # after a stroke; "h" also as in "120 km h"
_GAP = re.compile(r"[\s.\-\u00a0\u2010\u2011]{1,2}")


@lru_cache(maxsize=1024)
def unit(name: str) -> Unit:
    """Return a unit by its name, also of one "per" another. Raises KeyError for any other name."""
    if name in UNITS:
        return UNITS[name]
    over, _, under = name.partition(" per ")
    one, two = UNITS[over], UNITS[under]
    return Unit(f"{one.dimension}/{two.dimension}", one.factor / two.factor)


def alike(one: str, two: str) -> bool:
    """Tell whether two names may be meant as one unit: the same, or one leaves the kind open."""
    return one == two or two in _MEANT.get(one, ()) or one in _MEANT.get(two, ())


def unit_named(text: str) -> str:
    """Return the unit that a text names and nothing else, such as a gold's; "" for none."""
    items = tokens(text)
    name, _, end = unit_at(text, items, 0)
    return name if not text[end:].strip(" .") else ""


def unit_at(text: str, items: Sequence[Token], i: int) -> tuple[str, int, int]:
    """Return the unit that starts at token ``i``, the index of the token after it, and its end.

    The end is an index of ``text``. ("", i, 0) where no unit starts.
    """
    name, k = _simple(text, items, i)
    if not name:
        return "", i, 0
    name, end = _raised(name, text, items[k - 1])
    below, after = _below(text, items, k, end)
    if below and _compound(name, below):
        name, end = f"{name} per {below}", after
    return name, _from(items, k, end), end


def _compound(over: str, under: str) -> bool:
    """Tell whether one unit per another is a unit of its own: of speed, of density.

    Elsewhere "per" repeats what the question asks for: "8 hours per day" is right for "8 hours".
    """
    dimensions = unit(over).dimension, unit(under).dimension
    speed = dimensions == ("length", "time") and under in ("hour", "second")
    return speed or (dimensions == ("mass", "volume") and under.startswith("cubic "))


def _below(text: str, items: Sequence[Token], k: int, end: int) -> tuple[str, int]:
    """Return the unit that a "per" or a stroke at ``end`` is followed by, and its end."""
    under = _PER.match(text, end)
    k = _from(items, k, under.end()) if under else len(items)
    if under is None or k == len(items) or items[k].start != under.end():
        return "", end
    brief = "" if under[0].strip().isalpha() else _BRIEF.get(items[k].raw.casefold(), "")
    name, after = (brief, k + 1) if brief else _simple(text, items, k)
    return _raised(name, text, items[after - 1]) if name else ("", end)


def _from(items: Sequence[Token], k: int, end: int) -> int:
    while k < len(items) and items[k].start < end:
        k += 1
    return k


def _simple(text: str, items: Sequence[Token], i: int) -> tuple[str, int]:
    """Return the unit that starts at token ``i``, without a power or a "per" after it."""
    run = list(items[i : i + 1])
    for token in items[i + 1 : i + 4]:
        if not _GAP.fullmatch(text[run[-1].end : token.start]):
            break
        run.append(token)
    words = [t.raw.casefold() for t in run]
    if len(run) > 1 and words[0] in ("degree", "degrees", "deg"):
        name = _LETTERS.get(words[1]) or _known(run[1:2])
        if name and unit(name).dimension == "temperature":
            return name, i + 2
    if len(run) > 1 and words[0] in _BEFORE and (name := _known(run[1:2])) in _POWERED:
        return f"{_BEFORE[words[0]]} {name}", i + 2
    for size in range(len(run), 0, -1):
        if (name := _known(run[:size])) is not None:
            if size < len(run) and words[size] in _AFTER and name in _POWERED:
                return f"{_AFTER[words[size]]} {name}", i + size + 1
            return name, i + size
    # "5,778 K", while "5K" is five thousand: the space tells, and the caller has seen it.
    return ("kelvin", i + 1) if run and run[0].raw == "K" else ("", i)


def _known(run: Sequence[Token]) -> str | None:
    written = _NAMES.get(" ".join(t.raw.casefold() for t in run))
    if written or (len(run) == 1 and len(run[0].raw) < 4):  # "mil" is no mile
        return written
    return _STEMS.get(" ".join(map(_stemmed, run)))


def _raised(name: str, text: str, last: Token) -> tuple[str, int]:
    """Return the power of a unit that is written after it ("km²"), and where that ends."""
    power = _POWER.match(text, last.end) if name in _POWERED else None
    if power is None or (power[3] and last.raw not in _SYMBOLS):
        return name, last.end
    square = (power[1] or power[2] or power[3]) in "2\u00b2"
    return f"{'square' if square else 'cubic'} {name}", power.end()


__all__ = ["MONEY", "UNITS", "Unit", "alike", "unit", "unit_at", "unit_named"]

"""Units of measure: their names, their dimensions, and how they convert."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sayso.annotate.normalize import Token, stem


class Unit(NamedTuple):
    """One unit: ``value * factor + offset`` is the amount in the dimension's base unit."""

    dimension: str
    factor: float
    offset: float = 0.0


UNITS: dict[str, Unit] = {}
_NAMES: dict[str, str] = {}

# unit, dimension, factor, other names
_TABLE = """
millimeter|length|1e-3|millimetre mm
centimeter|length|1e-2|centimetre cm
meter|length|1|metre m
kilometer|length|1e3|kilometre km kms
inch|length|0.0254|inches
foot|length|0.3048|feet ft
yard|length|0.9144|yd
mile|length|1609.344|mi
au|length|1.495978707e11|
lightyear|length|9.4607e15|ly
parsec|length|3.0857e16|pc
gram|mass|1e-3|gramme g
milligram|mass|1e-6|mg
kilogram|mass|1|kilo kg kgs
tonne|mass|1e3|
ton|mass|907.18474|
pound|mass|0.45359237|lb lbs
ounce|mass|0.028349523|oz
second|time|1|sec secs
minute|time|60|min mins
hour|time|3600|hr hrs h
day|time|86400|
week|time|604800|wk
month|time|2629800|
year|time|31557600|yr yrs
decade|time|315576000|
century|time|3155760000|centuries
celsius|temperature|1|centigrade
kelvin|temperature|1|
fahrenheit|temperature|0.5555555555555556|farenheit
hectare|area|1e4|ha
acre|area|4046.856|
square kilometer|area|1e6|sqkm
square mile|area|2589988|sqmi
square meter|area|1|sqm
square foot|area|0.092903|sqft
liter|volume|1|litre l
milliliter|volume|1e-3|millilitre ml
gallon|volume|3.785412|gal
pint|volume|0.473176|
kilometer per hour|speed|1|kmh kph
mile per hour|speed|1.609344|mph
percent|share|1|percentage
dollar|money in dollars|1|usd
euro|money in euros|1|eur
pound sterling|money in pounds|1|gbp quid
degree|angle|1|deg
"""
_OFFSETS = {"kelvin": -273.15, "fahrenheit": -160 / 9}
for _line in _TABLE.strip().splitlines():
    _name, _dimension, _factor, _others = _line.split("|")
    UNITS[_name] = Unit(_dimension, float(_factor), _OFFSETS.get(_name, 0.0))
    for _other in (_name, *_others.split()):
        _NAMES[_other] = _NAMES[stem(_other)] = _name

_LETTERS = {"c": "celsius", "f": "fahrenheit", "k": "kelvin"}
_SQUARE = ("kilometer", "mile", "meter", "foot")
#: Symbols that stand before a number.
MONEY = {"$": "dollar", "\u20ac": "euro", "\u00a3": "pound sterling"}


def known(word: str) -> str | None:
    """Return the unit that a comparable word names, or None."""
    return _NAMES.get(word) or _NAMES.get(stem(word))


def unit_at(items: Sequence[Token], i: int) -> tuple[str, int]:
    """Return the unit that starts at token ``i`` and the index after it; ("", i) for none."""
    # Tokens write "ft" as "fort", the commoner reading in names: units are read as written.
    words = [t.raw.casefold() if len(t.raw) < 4 else t.text for t in items[i : i + 3]]
    words += [""] * (3 - len(words))
    first, second, third = words
    if not first:
        return "", i
    if first in ("degree", "degrees", "deg") and (_LETTERS.get(second) or known(second)):
        return _LETTERS.get(second) or known(second) or "", i + 2
    if first in ("square", "sq") and known(second) in _SQUARE:
        return f"square {known(second)}", i + 2
    if first == "light" and known(second) == "year":
        return "lightyear", i + 2
    name = known(first)
    if name is None:
        # "5,778 K", while "5K" is five thousand: the space tells, and the caller has seen it.
        return ("kelvin", i + 1) if items[i].raw == "K" else ("", i)
    if name in ("kilometer", "mile"):
        if second in ("per", "an") and known(third) == "hour":
            return f"{name} per hour", i + 3
        if second == "h":
            return f"{name} per hour", i + 2
    return name, i + 1

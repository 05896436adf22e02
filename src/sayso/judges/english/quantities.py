"""Numbers with units, in digits or words: finding them, converting them, comparing amounts.

Only a unit that means one thing is converted. A bare "ton", "gallon", "pint" or "fluid ounce" is
one amount in Britain and another in America (up to 20 percent apart), so it converts into nothing;
with its kind beside it ("metric ton", "US gallon") it does. "Mile" is the land mile unless it is
called nautical. Factors: the International System of Units, and NIST Special Publication 811,
appendix B, for the others; bodies of the sky: IAU 2015 Resolution B3.
"""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from sayso.judges.english.lexicon import alternatives, lexicon_rows, lexicon_words
from sayso.judges.english.numbers import NUMBER_WORDS, ORDINALS, PARTS
from sayso.judges.english.numbers import UNITS as NUMERALS
from sayso.judges.english.tokens import STOP, Token, fold, tokens, uninflected
from sayso.judges.patterns import regex

# ---- units: their names, their dimensions, and how they convert


class Unit(NamedTuple):
    """One unit: ``value * factor + offset`` is the amount in the dimension's base unit."""

    dimension: str
    factor: float
    offset: float = 0.0


_OFFSETS = {"kelvin": -273.15, "fahrenheit": -160 / 9}
#: units whose squares and cubes are units, and the symbols after which a digit is a power
_POWERED = (
    "millimeter", "centimeter", "decimeter", "meter", "kilometer", "inch", "foot", "yard", "mile",
)  # fmt: skip
_SYMBOLS = ("mm", "cm", "m", "km")
#: Names that may be meant by another: the numbers are compared as if the units were one.
_MEANT = {
    name: others.split(", ")
    for name, _, others in (row.partition(": ") for row in lexicon_rows("units left open"))
}

UNITS: dict[str, Unit] = {}
_NAMES: dict[str, str] = {}
_STEMS: dict[str, str] = {}
#: Signs that stand before a number.
_MONEY: dict[str, str] = {}


def _named(name: str, other: str) -> None:
    """Let a unit be called by another name; symbols of one or two letters are not inflected."""
    if not (words := tokens(other)):
        _MONEY[other] = name
        return
    _NAMES[" ".join(t.raw.casefold() for t in words)] = name
    if len(words) > 1 or len(other) > 2:
        _STEMS[" ".join(map(_stemmed, words))] = name


def _stemmed(token: Token) -> str:
    """Return a word without its inflection; what tokens read as another word, as it is written."""
    if token.number or len(token.raw) < 4:  # "second" as 2, "ft" as "fort"
        return uninflected(token.raw.casefold()) if token.raw[0].isalpha() else token.raw
    return token.stem


for _line in lexicon_rows("units"):
    _name, _dimension, _factor, _others = _line.split("|")
    UNITS[_name] = Unit(_dimension, float(_factor), _OFFSETS.get(_name, 0.0))
    for _other in (_name, *filter(None, _others.split(", "))):
        _named(_name, _other)
for _name in _POWERED:
    for _word, _dimension, _power in (("square", "area", 2), ("cubic", "volume", 3)):
        UNITS[f"{_word} {_name}"] = Unit(_dimension, UNITS[_name].factor ** _power)

_LETTERS = {"c": "celsius", "f": "fahrenheit", "k": "kelvin"}
_BEFORE = {"square": "square", "sq": "square", "cubic": "cubic", "cu": "cubic"}
_STARTS = {n.split()[0] for n in (*_NAMES, *_STEMS)} | {*_BEFORE, *_LETTERS, "degrees", "deg"}
_RAISED = {"squared": "square", "cubed": "cubic"}
_EXPONENT = regex(r"(?:\^|\*\*)([23])(?!\w|[.,]\d)|([\u00b2\u00b3])|([23])(?!\w|[.,]\d)")
_PER = regex(r"\s?/\s?|\s+(?:per|an?)\s+|\s(?=h\b)", re.IGNORECASE)
_BRIEF = {"s": "second", "h": "hour"}  # after a stroke; "h" also as in "120 km h"
_GAP = regex(r"[\s.\-\u00a0\u2010\u2011]{1,2}")


@lru_cache(maxsize=1024)
def unit(name: str) -> Unit:
    """Return a unit by its name, also of one "per" another. Raises KeyError for any other name."""
    if (known := UNITS.get(name) or _NAMELESS.get(name)) is not None:
        return known
    over, _, under = name.partition(" per ")
    one, two = UNITS[over], UNITS[under]
    return Unit(f"{one.dimension}/{two.dimension}", one.factor / two.factor)


def same_unit(one: str, two: str) -> bool:
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
    if below:
        # One unit per another is a unit of its own if it is of speed or density. Elsewhere "per"
        # repeats what the question asks for: "8 hours per day" is right for "8 hours".
        dimensions = unit(name).dimension, unit(below).dimension
        speed = dimensions == ("length", "time") and below in ("hour", "second")
        if speed or (dimensions == ("mass", "volume") and below.startswith("cubic ")):
            name, end = f"{name} per {below}", after
    return name, _from(items, k, end), end


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
    if i >= len(items) or not {items[i].raw.casefold(), _stemmed(items[i])} & _STARTS:
        return "", i
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
            if size < len(run) and words[size] in _RAISED and name in _POWERED:
                return f"{_RAISED[words[size]]} {name}", i + size + 1
            return name, i + size
    # "5,778 K", while "5K" is five thousand: the space tells, and the caller has seen it.
    return (_LETTERS[words[0]], i + 1) if run[0].raw in ("C", "F", "K") else ("", i)


def _known(run: Sequence[Token]) -> str | None:
    written = _NAMES.get(" ".join(t.raw.casefold() for t in run))
    if written or (len(run) == 1 and len(run[0].raw) < 4):  # "mil" is no mile
        return written
    return _STEMS.get(" ".join(map(_stemmed, run)))


def _raised(name: str, text: str, last: Token) -> tuple[str, int]:
    """Return the power of a unit that is written after it ("km²"), and where that ends."""
    power = _EXPONENT.match(text, last.end) if name in _POWERED else None
    if power is None or (power[3] and last.raw not in _SYMBOLS):
        return name, last.end
    square = (power[1] or power[2] or power[3]) in "2\u00b2"
    return f"{'square' if square else 'cubic'} {name}", power.end()


_SCALES: dict[str, float] = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12,
    "dozen": 12, "crore": 1e7, "lakh": 1e5, "k": 1e3, "m": 1e6, "mn": 1e6, "bn": 1e9, "b": 1e9,
}  # fmt: skip
_SHORT_SCALES = frozenset({"k", "m", "mn", "bn", "b"})
_SUPERSCRIPTS = str.maketrans(
    "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b\u2212", "0123456789--"
)
_POWER = regex(
    r"\s?[x\u00d7*\u00b7]\s?10(?:\s?(?:\^|\*\*)\s?([-\u2212]?\d{1,3})"
    r"|([\u207b\u2070\u00b9\u00b2\u00b3\u2074-\u2079]{1,4}))|[eE]([+-]?\d{1,3})(?!\w)"
)
_TENS = regex(r"\s?(?:\^|\*\*)\s?-?\d{1,2}|[\u207b\u2070\u00b9\u00b2\u00b3\u2074-\u2079]{1,3}")
#: numbers with the signs of other languages: decimal commas, points or spaces between thousands
_NUMERAL = regex(
    r"(?<![\d.,])(?:(\d{1,2}(?:,\d\d)+,\d{3})|\d+,(?:\d{1,2}|\d{5,})|0,\d+"
    r"|\d{1,3}(?:(?:\.\d{3}){2,}(?:,\d+)?|\.\d{3},\d+)"
    r"|\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?:[.,]\d+)?)(?!\d|[.,]\d)"
)
_SPACES = dict.fromkeys(map(ord, " \u00a0\u2009\u202f"), ",")


def _plain_numeral(match: re.Match[str]) -> str:
    """Return a number as English writes it, in as many characters: "4,5" as "4.5"."""
    if match[1]:  # "1,00,000", as India groups
        return match[0].replace(",", "").zfill(len(match[0]))
    swapped = "," in match[0] or match[0].count(".") > 1
    return match[0].translate(_SPACES | ({ord(","): ".", ord("."): ","} if swapped else {}))


#: a size, a seat or 50 Cent, the singer
_LETTERED = regex(r"(?:\d\s?[CF]|\bCent)$")
_ABOUT = regex(rf"\b(?:{alternatives(lexicon_words('nearly', 'quantities'))})\b", re.IGNORECASE)


class WrittenQuantity(NamedTuple):
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
    digits = raw if raw.isdigit() else re.sub(r"[^\d.]", "", raw)
    if "." in digits:
        return 0.5 * 10.0 ** -min(len(digits.partition(".")[2]), 300)
    zeros = min(len(digits) - len(digits.rstrip("0")), 300)
    if 0 < zeros < len(digits):
        return 0.5 * 10.0**zeros
    return 0.5 if value > 20 else 0.0


def _in_digits(text: str, token: Token) -> tuple[float, float, int] | None:
    """Read a number in digits, with a power of ten: value, slack, end of its characters."""
    if not token.raw[0].isdecimal():
        return None
    value = float(token.text)
    slack, end = _step(token.raw, value), token.end
    if token.raw == "10" and (raised := _TENS.match(text, end)) is not None:
        value = 10.0 ** int(raised[0].strip("^* ").translate(_SUPERSCRIPTS))
        return value, 0.0, raised.end()
    power = _POWER.match(text, end)
    if power is not None:
        exponent = int((power[1] or power[2] or power[3]).translate(_SUPERSCRIPTS))
        factor = 10.0 ** max(-300, min(300, exponent))
        return value * factor, (slack or 0.5) * factor, power.end()
    return value, slack, end


#: words that a number in words begins with
_COUNTING = frozenset([*NUMBER_WORDS, *_SCALES, "half"])


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
        elif (
            word in _SCALES
            and word not in _SHORT_SCALES
            # "a million", "hundred" are numbers; "millions" alone and "the million" are not
            and (seen or word == "hundred" or (k > 0 and items[k - 1].text in ("a", "one")))
        ):
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


_TO = regex(r"\s*(?:-|\u2013|\u2014|to|and)\s*", re.IGNORECASE)
_AND = regex(r"\s*+(?:,\s*+)?(?:and\s*+)?", re.IGNORECASE)
_BETWEEN = regex(r"\bbetween\s+$", re.IGNORECASE)
# After a larger unit these are minutes and inches.
_AFTER = {("hour", "m"): "minute", ("foot", "in"): "inch", ("foot", ""): "inch"}


def _join(text: str, a: WrittenQuantity, b: WrittenQuantity) -> WrittenQuantity | None:
    """Read two neighbors as one: "3 hours 48 minutes" is a sum, "4.5 to 6 liters" a range."""
    between = text[a.end : b.start]
    if len(between) > 8:
        return None
    if a.unit and b.unit and a.unit != b.unit and _AND.fullmatch(between):
        one, two = unit(a.unit), unit(b.unit)
        small = b.value * two.factor < one.factor > two.factor
        if one.dimension == two.dimension in ("time", "length", "mass") and small:
            value = round(a.value * one.factor / two.factor + b.value, 6)
            return WrittenQuantity(value, b.unit, b.slack, a.start, b.end)
    if _TO.fullmatch(between) and a.value < b.value and a.unit in ("", b.unit) and a.high is None:
        if "and" in between and not _BETWEEN.search(text[max(0, a.start - 12) : a.start]):
            return None
        return a._replace(unit=b.unit, end=b.end, high=b.value)
    return None


#: 5'11": feet before inches; after degrees the same marks are minutes and seconds of an angle
_FEET = regex(r"\s?['\u2019\u2032](?=\s?\d{1,2}(?:\.\d+)?\s?(?:[\"\u201d\u2033]|''|in\b|inches))")
_INCHES = regex(r"\s?(?:[\"\u201d\u2033]|'')")
_SIGN = regex(r"\s?(%|\u00b0\s?([CFK]\b)?)")


def _mark_after(text: str, end: int, last: str) -> tuple[str, int] | None:
    """Return the unit that a sign after a number stands for, and where the sign ends."""
    if text[end : end + 2].strip().isalnum():
        return None
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
    if k < len(items) and not items[k].raw[0].isdigit():
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
def find_quantities(text: str) -> tuple[WrittenQuantity, ...]:
    """Return the numbers of a text with their units, in order of appearance.

    Sums ("3 hours 48 minutes") and ranges ("4.5 to 6 liters", with ``high``) are one quantity.
    """
    text = _NUMERAL.sub(_plain_numeral, text)
    items = tokens(text)
    found: list[WrittenQuantity] = []
    i = 0
    while i < len(items):
        raw = items[i].raw
        if not raw[0].isdecimal() and fold(raw) not in _COUNTING:
            i += 1
            continue
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
        if (more := _AND_PART.match(text, end)) is not None:
            value, slack, end = value + _share(more), 0.25, more.end()
            while k < len(items) and items[k].start < end:
                k += 1
        start = items[i].start
        sign = text[start - 1 : start]
        first = not i or (text[start - 2] == " " and items[i - 1].text in STOP)
        if (sign in ("-", "\u2212") and not text[max(0, start - 2)].isalnum()) or (
            first and sign in ("\u2013", "\u2014")  # elsewhere of a range
        ):
            value, start = -value, start - 1
        elif i and items[i - 1].text in ("minus", "negative"):
            value, start = -value, items[i - 1].start
        money = _MONEY.get(text[start - 1 : start], "")
        while k < len(items) and (scale := _SCALES.get(fold(items[k].raw))) is not None:
            glued = items[k].start == end
            if fold(items[k].raw) in _SHORT_SCALES and not (
                glued and (money or items[k].raw not in ("m", "b", "B" if raw.isdigit() else ""))
            ):
                break
            slack, value, end, k = (slack or 0.5) * scale, value * scale, items[k].end, k + 1
        name, end, k = _unit_after(text, items, k, end, found[-1].unit if found else "")
        one = WrittenQuantity(value, money or name, slack, start - bool(money), end)
        both = _join(text, found[-1], one) if found else None
        if both is None:
            found.append(one)
        else:
            found[-1] = both
        i = max(k, i + 1)
    return tuple(q for q in found if math.isfinite(q.value))


# ---- fractions and times of day, which are no numbers with a unit

#: a part of a whole; minutes since midnight, also where morning or evening is left open
FRACTION, _CLOCK, _FACE = "fraction", "clock", "face of a clock"
_NAMELESS = {FRACTION: Unit("share", 100.0), _CLOCK: Unit("clock", 1.0), _FACE: Unit("clock", 1.0)}
_COUNTED = rf"\d{{1,3}}|{alternatives(NUMBER_WORDS.keys() - set(ORDINALS))}|an?"
_PARTS = {**PARTS, **{word: number for number, word in enumerate(ORDINALS) if number > 5}}
#: "3/4", "\\frac{3}{4}", "\u00be", "three quarters", "half"
_SHARE = (
    r"(?P<n>\d{1,4})(?:[/\u2044]|\}\{)(?P<d>[1-9]\d{0,3})(?![\d/]|[.,]\d)"
    r"|(?P<sign>[\u00bc-\u00be\u2150-\u215e])"
    rf"|(?:(?P<a>[1-9]|an?|{alternatives(NUMERALS[1:10])})[\s-](?P<part>{alternatives(_PARTS)})"
    r"|(?P<half>half))s?(?![\w-])"
)
#: what is added to the number before it: "two and a half", "1 1/2", "2\u00bd"
_AND_PART = regex(
    rf"(?:\s?(?=[\u00bc-\u215e])|[ -](?=\d+/)|\\[dt]?frac\{{|\s+and\s+)(?:{_SHARE})", re.IGNORECASE
)
_FRACTIONAL = regex(
    rf"(?<![\w/.,:-])(?:{_SHARE})"
    rf"|\b(?P<out>{_COUNTED})\s(?:out\sof|of\sthe|(?<=\bone\s)in|(?<=\b1\s)in)\s(?:every\s)?"
    rf"(?P<of>{_COUNTED})\b|\b(?P<whole>{_COUNTED})\s(?P<unit>[a-z]+)\sand\sa\s(?P<more>half|quarter)\b",
    re.IGNORECASE,
)
_HOURS = {"noon": 12, "midday": 12, "midnight": 0}
_NO_PART = regex(r"\b(?:first|second|other|latter|next|last|this|that)[\s-]$", re.IGNORECASE)
_PART_ENDS = regex(r"\s*(?:[.,;:!?)]|$)|\s(?:of|the|all|an?)\b", re.IGNORECASE)
_UNIT_OF = regex(r"\s(?:of\s)?(?:an?\s)?([a-z]+)", re.IGNORECASE)
_TIME = regex(
    r"(?<![\d:.,/$-])(?:(?P<h>[01]?\d|2[0-4])(?P<sign>[:.h])(?P<m>[0-5]\d)(?![\d:]|\.\d)"
    rf"|\b(?P<minutes>half|quarter|{_COUNTED})\s(?:minutes\s)?(?P<to>past|to)\s(?P<past>{_COUNTED}|noon|midnight)\b"
    rf"|\b(?P<hour>{_COUNTED})(?:\s(?P<half>thirty))?\b)"
    r"(?:\s?(?P<mark>[ap]\.?\s?m\b\.?|uhr\b|h(?:ou)?rs?\b|h\b|o['\u2019]clock|noon\b|midnight\b))?"
    r"(?P<day>\s(?:in\sthe\s(?:morning|afternoon|evening)|at\snight))?"
    r"|\b(?P<named>noon|midday|midnight)\b",
    re.IGNORECASE,
)
#: what every text with a fraction or a time holds: one of these words, or a sign beside a digit
_HINTS = (
    *_PARTS, "1 in ", "one in ", "out of", "past ", "five to ", "ten to ", "twenty to ",
    "minutes to ", "clock", "uhr", "noon", "midday", "midnight", "thirty", "morning", "evening",
    "night",
)  # fmt: skip
_HINT = regex(
    r"\d(?:[/:.h\u2044]\d|\s?[ap]\.?\s?m\b)|[\u00bc-\u00be\u2150-\u215e]|\}\{"
    rf"|\s[ap]\.?\s?m\b|\bof\sthe\s(?:{_COUNTED})\b"
)


def _number(word: str | None) -> int:
    """Return the value of a number in digits or words; "a" is one, nothing is none."""
    word = (word or "0").lower()
    return int(word) if word.isdecimal() else _HOURS.get(word, NUMBER_WORDS.get(word, 1))


def _share(m: re.Match[str]) -> float:
    """Return the value of "1/2", "\u2154", "half", "three quarters"."""
    if m["n"]:
        return int(m["n"]) / int(m["d"])
    if m["sign"]:
        return unicodedata.numeric(m["sign"])
    return 0.5 if m["half"] else _number(m["a"]) / _PARTS[m["part"].lower()]


def _fraction(m: re.Match[str], text: str) -> WrittenQuantity | None:
    """Read a share, "three quarters of a mile", "three out of four", "an hour and a half"."""
    if m["unit"]:
        name = unit_named(m["unit"])
        value = _number(m["whole"]) + 1 / PARTS[m["more"].lower()]
        return WrittenQuantity(value, name, 0.0, *m.span()) if name else None
    if m["out"]:
        value = _number(m["out"]) / (_number(m["of"]) or 1)
        return WrittenQuantity(value, FRACTION, 0.0, *m.span())
    in_words = m["part"] or m["half"]
    if in_words and _NO_PART.search(text, max(0, m.start() - 8), m.start()):
        return None  # "the second half"
    of = _UNIT_OF.match(text, m.end())
    if of is not None and (name := unit_named(of[1])):
        return WrittenQuantity(_share(m), name, 0.0, m.start(), of.end())
    several = m["a"] and _number(m["a"]) > 1
    if in_words and not several and not _PART_ENDS.match(text, m.end()):
        return None  # "half asleep"
    return WrittenQuantity(_share(m), FRACTION, 0.0, *m.span())


def _time(m: re.Match[str], _: str) -> WrittenQuantity | None:
    """Read "9:30 pm", "21:00", "nine o'clock", "quarter past nine", "noon"."""
    if m["named"]:
        return WrittenQuantity(60.0 * _number(m["named"]), _CLOCK, 0.0, *m.span())
    mark = (m["mark"] or m["day"] or "").lower().replace(".", "").replace(" ", "")
    if (m["hour"] and not m["half"] and (not mark or mark[0] == "h")) or (
        m["sign"] == "." and not mark
    ):
        return None
    hour, minute = _number(m["h"] or m["past"] or m["hour"]), _number(m["m"] or m["half"])
    if m["minutes"]:
        part, to = m["minutes"].lower(), m["to"].lower() == "to"
        minute = 60 // PARTS[part] if part in PARTS else _number(part)
        if to and part not in PARTS and "minutes" not in m[0] and (minute % 5 or minute <= hour):
            return None  # "ten to twelve" of them
        minute *= -1 if to else 1
    late = mark[:1] == "p" or mark.endswith(("noon", "evening")) or (mark == "atnight" and hour > 5)
    early = mark[:1] == "a" or mark.endswith(("morning", "midnight"))
    if late or early:
        hour = hour % 12 + 12 * late
    known = late or early or m["h"] or mark == "uhr" or (m["past"] or "").lower() in _HOURS
    value = (60.0 * hour + minute) % 1440
    return WrittenQuantity(value, _CLOCK if known else _FACE, 0.0, *m.span())


@lru_cache(maxsize=2048)
def find_amounts(text: str) -> tuple[WrittenQuantity, ...]:
    """Return the quantities of a text, its fractions and its times of day among them."""
    low = text.lower()
    if not (any(hint in low for hint in _HINTS) or _HINT.search(low)):
        return find_quantities(text)
    found = find_quantities(text)
    starts = [one.start for one in found]
    taken = bytearray(len(text))
    other: list[WrittenQuantity] = []
    for pattern, read in ((_TIME, _time), (_FRACTIONAL, _fraction)):
        for one in filter(None, (read(m, text) for m in pattern.finditer(text))):
            near = bisect_left(starts, one.end)
            last = found[near - 1] if near else one._replace(end=0)
            if last.start <= one.start and one.end <= last.end:
                continue  # "half a million", "two and a half"
            if last.end > one.end > last.start:
                one = one._replace(unit=last.unit, end=last.end)
            if not (taken[one.start] or taken[one.end - 1]):
                taken[one.start : one.end] = b"\1" * (one.end - one.start)
                other.append(one)
    other += [one for one in found if not (taken[one.start] or taken[one.end - 1])]
    return tuple(sorted(other, key=lambda one: one.start))


_RANK = regex(
    r"\d(?:st|nd|rd|th)$|(?:^|[\s-])(?:first|second|third|fifth|eighth|ninth|twelfth|\w+(?:ieth|[nrvx]th))$",
    re.IGNORECASE,
)


def ordinal(written: str) -> bool:
    """Tell whether a number is written as a rank: "third", "21st"."""
    return bool(_RANK.search(written))


@lru_cache(maxsize=4096)
def gold_quantity(
    value: str, unit: str | None = None, kind: str = "text"
) -> WrittenQuantity | None:
    """Read a gold as one quantity: a number with nothing but a unit beside it, else None.

    ``unit`` is the gold's own, where its source keeps it apart; one that is not known is ignored.
    """
    value = re.sub(r"(?<=\d)\s?(?:in\.?|\")$", " inches", value.strip())
    found = find_amounts(value)
    if len(found) != 1:
        return None
    one = found[0]
    outside = value if _LETTERED.search(value) else value[: one.start] + " " + value[one.end :]
    if kind != "quantity" and re.search(r"[^\W_]", _ABOUT.sub(" ", outside)):
        return None
    return one._replace(unit=unit_named(unit)) if unit and not one.unit else one


# ---- whether two quantities mean the same amount: rounding, conversion, ranges

#: how far apart two amounts in one unit, and in different ones, may be, as a share of the larger
MOST_ROUNDED, MOST_CONVERTED = 0.031, 0.015
#: how far, for a fraction that is cut off
MOST_CUT = 0.002


def _close(a: float, b: float, room: float) -> bool:
    if a != b and abs(a - b) < 1 and float(min(a, b, key=abs)).is_integer():
        # "687" for 687.9: what follows the point was cut off.
        return abs(a - b) <= MOST_CUT * max(abs(a), abs(b))
    return a == b or (abs(a - b) < min(room, MOST_ROUNDED * max(abs(a), abs(b))) and a * b > 0)


def same_amount(gold: WrittenQuantity, said: WrittenQuantity) -> bool:
    """Tell whether two quantities agree, within the rounding that the coarser one was written with.

    Rounding may be at most three percent. A side without a unit agrees with any unit. Units of one
    dimension are converted; the coarser side may then be off by half a step of its last digit (a
    half, for a whole number), because people round what they convert, and by at most 1.5 percent.
    Units of two dimensions contradict. A range agrees with a gold at its ends, with a gold inside
    it when its ends differ by no more than half, and with an equal range.
    """
    units = {gold.unit, said.unit}
    if not units.isdisjoint((_CLOCK, _FACE)):
        return _same_time(gold, said)
    if gold.high is not None or said.high is not None:
        return _same_range(gold, said)
    plain = next((q for q in (gold, said) if not q.unit), None)
    if "percent" in units and plain is not None and 0 < plain.value < 1:  # ".5" and "50 %"
        parts = [q if q.unit else q._replace(unit=FRACTION) for q in (gold, said)]
        if _converted(*parts):
            return True
    elif FRACTION in units and "percent" not in units:
        gold, said = (q._replace(unit=q.unit.replace(FRACTION, "")) for q in (gold, said))
    differ = gold.unit and said.unit and gold.unit != said.unit
    if differ and _converted(gold, said):
        return True
    if differ and not same_unit(gold.unit, said.unit):
        return False
    grouped = said.slack == 0.0005 and said.value >= 1  # "302.749" for 302749
    room = max(gold.slack, said.slack)
    return _close(gold.value, said.value, room) or (grouped and gold.value / 1000 == said.value)


def _same_time(gold: WrittenQuantity, said: WrittenQuantity) -> bool:
    """Tell whether two times of day agree; a bare number is one of the morning or evening."""
    if "" in (gold.unit, said.unit):
        plain, time = (gold, said) if not gold.unit else (said, gold)
        hour, minute = divmod(round(100 * plain.value), 100)  # "8.45", "8"
        hours = 720 if hour <= 12 else 1440
        minutes = minute == 0 or (plain is said and minute < 60)
        return hour <= 24 and minutes and (60 * hour + minute - time.value) % hours == 0
    hours = 720 if _FACE in (gold.unit, said.unit) else 1440
    return unit(gold.unit) == unit(said.unit) and (gold.value - said.value) % hours == 0


def _converted(gold: WrittenQuantity, said: WrittenQuantity) -> bool:
    one, two = unit(gold.unit), unit(said.unit)
    if one.dimension != two.dimension:
        return False
    a, b = gold.value * one.factor + one.offset, said.value * two.factor + two.offset
    most = MOST_CONVERTED * max(abs(a), abs(b))
    if one.dimension == "temperature":  # 0 degrees are not nothing
        most = max(most, 0.6)
    room = max((gold.slack or 0.5) * one.factor, (said.slack or 0.5) * two.factor)
    return abs(a - b) <= min(room, most) + 1e-9 * max(abs(a), abs(b), 1e-12)


def _in_unit(q: WrittenQuantity, name: str) -> WrittenQuantity | None:
    """Return a quantity in another unit of its dimension, ``None`` for a unit of another one."""
    one, two = unit(q.unit), unit(name)
    if one.dimension != two.dimension:
        return None

    def turned(value: float) -> float:
        return (value * one.factor + one.offset - two.offset) / two.factor

    high = None if q.high is None else turned(q.high)
    slack = (q.slack or 0.5) * one.factor / two.factor
    return q._replace(value=turned(q.value), unit=name, slack=slack, high=high)


def _same_range(gold: WrittenQuantity, said: WrittenQuantity) -> bool:
    point: WrittenQuantity | None
    point, wide = (said, gold) if said.high is None else (gold, said)
    if point.unit and wide.unit and not same_unit(point.unit, wide.unit):
        point = _in_unit(point, wide.unit)
    if point is None or wide.high is None:
        return False
    if point.high is not None:
        room = max(point.slack, wide.slack)
        return _close(point.value, wide.value, room) and _close(point.high, wide.high, room)
    if point.value in (wide.value, wide.high):
        return True
    return wide.value <= point.value <= wide.high <= 1.5 * wide.value

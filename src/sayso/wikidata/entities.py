"""One entity of Wikidata: what a line of the JSON dump holds, as far as questions can use it.

The format is documented under "Wikibase/DataModel/JSON" (mediawiki.org). Empty maps may be written
as lists, fields may be missing, and what is wrong with one statement does not cost the others.
"""

from __future__ import annotations

import re
from typing import Literal, TypeVar

import msgspec

from sayso.wikidata.wire import (
    ClaimsWire,
    ClassWire,
    ItemWire,
    LineWire,
    QualifiersWire,
    QuantityWire,
    SoundLineWire,
    StatementWire,
    TextWire,
    TimeWire,
    WordsWire,
)

#: datatypes of statements as Wikidata documents them; anything else is counted and left out
DATATYPES = frozenset(
    (
        *("wikibase-item", "wikibase-property", "wikibase-lexeme", "wikibase-form"),
        *("wikibase-sense", "time", "quantity", "string", "monolingualtext", "external-id", "url"),
        *("commonsMedia", "globe-coordinate", "geo-shape", "tabular-data", "math"),
        *("musical-notation", "entity-schema"),
    )
)
#: qualifiers that say when a statement holds: start time, end time, point in time
START, END, AT = "P580", "P582", "P585"
#: a start or an end that there is, nobody knows when
SOMETIME = "?"
#: labels that hold in every language that has none of its own (default values, since 2024)
EVERY = "mul"

Kept = TypeVar("Kept")
Rank = Literal["preferred", "normal", "deprecated"]


class LineError(ValueError):
    """A line that is no entity; the message says why."""


class Statement(msgspec.Struct, frozen=True, omit_defaults=True):
    """One statement. ``snak`` is "value", "somevalue" (unknown) or "novalue" (none).

    ``value`` is an item's id, a timestamp, an amount (a decimal number) or a text; ``precision``
    and ``calendar`` belong to times (9 year, 10 month, 11 day), ``unit`` to quantities (an item's
    id, "" for a bare number), ``language`` to texts. ``start``, ``end`` and ``at`` are timestamps
    of qualifiers, "" where there is none, with months and days only where they are known; a start
    or an end at an unknown time is :data:`SOMETIME`.
    """

    property: str
    kind: str
    value: str = ""
    snak: str = "value"
    rank: Rank = "normal"
    precision: int = 0
    calendar: str = ""
    unit: str = ""
    language: str = ""
    start: str = ""
    end: str = ""
    at: str = ""


class Entity(msgspec.Struct, frozen=True, omit_defaults=True):
    """One entity. Labels, descriptions and aliases by language; ``count`` statements in all.

    ``problems`` are what was wrong with parts of the line; those parts are left out.
    """

    id: str
    labels: dict[str, str] = {}
    descriptions: dict[str, str] = {}
    aliases: dict[str, tuple[str, ...]] = {}
    statements: tuple[Statement, ...] = ()
    count: int = 0
    sitelinks: int = 0
    modified: str = ""
    problems: tuple[str, ...] = ()

    def items(self, property: str) -> list[str]:
        """The items that a property names, deprecated statements left out."""
        return [
            s.value
            for s in self.statements
            if s.property == property and s.rank != "deprecated" and s.snak == "value"
        ]


_LINE = msgspec.json.Decoder(LineWire)
_SOUND = msgspec.json.Decoder(SoundLineWire)
_CLASS = msgspec.json.Decoder(ClassWire)
_STATEMENT = msgspec.json.Decoder(StatementWire)
_DAY = re.compile(r"([+-]?\d+)-(\d\d)-(\d\d)")
_ITEM = msgspec.json.Decoder(ItemWire)
_TIME = msgspec.json.Decoder(TimeWire)
_QUANTITY = msgspec.json.Decoder(QuantityWire)
_WORDS = msgspec.json.Decoder(WordsWire)
_STRING = msgspec.json.Decoder(str)
_ITEMS = frozenset(("wikibase-item", "wikibase-property"))
#: what can be read as a value; the rest keeps its datatype and no value
_STRINGS = frozenset(("string", "external-id", "url", "commonsMedia", "math"))
_NOTHING: dict[str, str | int] = {}


def parse(line: bytes, languages: tuple[str, ...] = ()) -> Entity:
    """Read one line of a dump, with or without the comma at its end.

    ``languages`` are the ones to keep, all where none is named; a label or alias for every
    language stands in for a missing one. Raises :class:`LineError` for what is no JSON object with
    an id.
    """
    data = line.strip().rstrip(b",")
    try:
        try:
            wire: LineWire = _SOUND.decode(data)
        except msgspec.ValidationError:  # to say what is wrong, and with what
            wire = _LINE.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise LineError(f"cannot be read: {error}") from None
    problems: list[str] = []
    statements: list[Statement] = []
    count = 0
    claims = wire.claims if isinstance(wire.claims, dict) else {}
    for property, group in claims.items():
        for one in group:
            count += 1
            try:
                read = _STATEMENT.decode(one) if isinstance(one, msgspec.Raw) else one
                found = _statement(property, read)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                problems.append(f"statement of {property} cannot be read: {error}")
                continue
            if found.kind not in DATATYPES:
                problems.append(f"statement of {property} has the unknown datatype {found.kind!r}")
                continue
            statements.append(found)
    return Entity(
        id=wire.id,
        labels=_texts(wire.labels, languages),
        descriptions=_texts(wire.descriptions, languages),
        aliases=_aliases(wire, languages),
        statements=tuple(statements),
        count=count,
        sitelinks=len(wire.sitelinks),
        modified=wire.modified,
        problems=tuple(problems),
    )


def superclasses(line: bytes) -> tuple[str, list[str]]:
    """Read only an entity's id and what it is a subclass of (P279, deprecated ones left out).

    Raises :class:`LineError` for what is no JSON object with an id. A statement that cannot be
    read is left out; :func:`parse` names it.
    """
    try:
        wire = _CLASS.decode(line.strip().rstrip(b","))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise LineError(f"cannot be read: {error}") from None
    found = []
    for raw in wire.claims.P279 if isinstance(wire.claims, ClaimsWire) else ():
        try:
            one = _statement("P279", _STATEMENT.decode(raw))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        if one.snak == "value" and one.rank != "deprecated":
            found.append(one.value)
    return wire.id, found


def _kept(
    table: dict[str, Kept] | list[msgspec.Raw], languages: tuple[str, ...]
) -> list[tuple[str, Kept]]:
    if not isinstance(table, dict):
        return []
    if not languages:
        return list(table.items())
    named = ((language, language if language in table else EVERY) for language in languages)
    return [(language, table[key]) for language, key in named if key in table]


def _texts(
    table: dict[str, TextWire] | list[msgspec.Raw], languages: tuple[str, ...]
) -> dict[str, str]:
    return {language: text.value for language, text in _kept(table, languages)}


def _aliases(wire: LineWire, languages: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    table = {key: tuple(t.value for t in texts) for key, texts in _kept(wire.aliases, languages)}
    if languages and isinstance(wire.aliases, dict) and languages[0] in wire.aliases:
        table[languages[0]] += tuple(text.value for text in wire.aliases.get(EVERY, ()))
    return table


def _statement(property: str, wire: StatementWire) -> Statement:
    """Turn one statement around; a main value that cannot be read raises msgspec's error."""
    snak = wire.mainsnak
    value, extra = "", _NOTHING
    if snak.snaktype == "value":
        if snak.datavalue is None:
            raise msgspec.ValidationError("a value is announced and missing")
        value, extra = _value(snak.datatype, snak.datavalue.value)
    if isinstance(wire.qualifiers, QualifiersWire):
        extra = {**extra, **_when(wire.qualifiers)}
    return Statement(property, snak.datatype, value, snak.snaktype, wire.rank, **extra)  # type: ignore[arg-type]


def _when(wire: QualifiersWire) -> dict[str, str]:
    when = {}
    for snaks, name in ((wire.P580, "start"), (wire.P582, "end"), (wire.P585, "at")):
        for one in snaks:
            if one.snaktype == "value" and one.datavalue is not None:
                time = _TIME.decode(one.datavalue.value)
                when[name] = known_part(time.time, time.precision)
                break
            if one.snaktype == "somevalue":
                when[name] = SOMETIME
    if when.get("at") == SOMETIME:
        del when["at"]
    return when


def _value(kind: str, raw: msgspec.Raw) -> tuple[str, dict[str, str | int]]:
    if kind in _STRINGS:  # most of all
        return _STRING.decode(raw), _NOTHING
    if kind in _ITEMS:
        item = _ITEM.decode(raw)
        letter = "P" if item.kind == "property" else "Q"
        if not item.id and item.numeric is None:
            raise msgspec.ValidationError("an item without an id")
        return item.id or f"{letter}{item.numeric}", _NOTHING
    if kind == "time":
        time = _TIME.decode(raw)
        return time.time, {"precision": time.precision, "calendar": _last(time.calendarmodel)}
    if kind == "quantity":
        quantity = _QUANTITY.decode(raw)
        return quantity.amount, {"unit": "" if quantity.unit == "1" else _last(quantity.unit)}
    if kind == "monolingualtext":
        words = _WORDS.decode(raw)
        return words.text, {"language": words.language}
    return "", _NOTHING


def known_part(time: str, precision: int) -> str:
    """Return a timestamp with zeros for what its precision leaves open.

    Older statements write +2016-01-01 for a year. What is coarser than a year is SOMETIME.
    """
    day = _DAY.match(time)
    if day is None or precision < 9:
        return SOMETIME
    month = day[2] if precision > 9 else "00"
    return f"{day[1]}-{month}-{day[3] if precision > 10 else '00'}{time[day.end() :]}"


def _last(address: str) -> str:
    """Return the id at the end of an entity's address."""
    return address.rpartition("/")[2]


__all__ = [
    "AT",
    "DATATYPES",
    "END",
    "EVERY",
    "SOMETIME",
    "START",
    "Entity",
    "LineError",
    "Statement",
    "known_part",
    "parse",
    "superclasses",
]

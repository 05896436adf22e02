"""One entity of Wikidata: what a line of the JSON dump holds, as far as questions can use it.

The format is documented under "Wikibase/DataModel/JSON" (mediawiki.org). Empty maps may be written
as lists, fields may be missing, and a fault in one statement does not cost the others.

A fact is *fresh* when everything that Wikidata says about its values lies after a day: its start,
its point in time, the date that it is itself, or the beginning of its entity. A model that was
trained before cannot know it. A fact without any date may be old and is never called fresh.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Literal, TypeVar

import msgspec

from sayso.records import InputError

# ---- the wire format: the fields that are read, decoded without the others


class TextWire(msgspec.Struct):
    """A label, a description or an alias."""

    value: str


class DataValueWire(msgspec.Struct):
    """A value, read by its datatype."""

    value: msgspec.Raw = msgspec.Raw(b"null")


class SnakWire(msgspec.Struct):
    """A property with a value, with an unknown one, or with none."""

    snaktype: str = "value"
    datatype: str = ""
    datavalue: DataValueWire | None = None


class QualifiersWire(msgspec.Struct):
    """When a statement holds: start time, end time, point in time."""

    P580: list[SnakWire] = []
    P582: list[SnakWire] = []
    P585: list[SnakWire] = []


class StatementWire(msgspec.Struct):
    """A statement; what is read of it."""

    mainsnak: SnakWire
    rank: Literal["preferred", "normal", "deprecated"] = "normal"
    qualifiers: QualifiersWire | list[msgspec.Raw] = []


class LineWire(msgspec.Struct):
    """An entity; what is read of it. Empty maps may be written as lists."""

    id: str
    labels: dict[str, TextWire] | list[msgspec.Raw] = {}
    descriptions: dict[str, TextWire] | list[msgspec.Raw] = {}
    aliases: dict[str, list[TextWire]] | list[msgspec.Raw] = {}
    claims: dict[str, list[msgspec.Raw]] | list[msgspec.Raw] = {}
    sitelinks: dict[str, msgspec.Raw] | list[msgspec.Raw] = {}
    modified: str = ""


class SoundLineWire(LineWire):
    """An entity of which every statement can be read: all at once is quicker than one by one."""

    claims: dict[str, list[StatementWire]] | list[msgspec.Raw] = {}  # type: ignore[assignment]


class ClaimsWire(msgspec.Struct):
    """What something is a subclass of, of all statements."""

    P279: list[msgspec.Raw] = []


class ClassWire(msgspec.Struct):
    """An entity as far as its superclasses go."""

    id: str
    claims: ClaimsWire | list[msgspec.Raw] = []


class ItemWire(msgspec.Struct):
    """The value of an item; older dumps have the number only."""

    id: str = ""
    numeric: int | None = msgspec.field(default=None, name="numeric-id")
    kind: str = msgspec.field(default="item", name="entity-type")


class TimeWire(msgspec.Struct):
    """The value of a time."""

    time: str
    precision: int = 11
    calendarmodel: str = ""


class QuantityWire(msgspec.Struct):
    """The value of a quantity."""

    amount: str
    unit: str = "1"


class WordsWire(msgspec.Struct):
    """The value of a text in a language."""

    text: str
    language: str = ""


# ---- an entity

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
#: a start or an end at an unknown time
SOMETIME = "?"
#: labels that hold in every language that has none of its own (default values, since 2024)
EVERY = "mul"

Kept = TypeVar("Kept")
Rank = Literal["preferred", "normal", "deprecated"]


class LineError(ValueError):
    """A line that is no entity; the message says why."""


class EntityStatement(msgspec.Struct, frozen=True, omit_defaults=True):
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

    ``properties`` counts the properties that it has any statement of, also those that no question
    asks for, such as identifiers. ``problems`` are what was wrong with parts of the line; those
    parts are left out.
    """

    id: str
    labels: dict[str, str] = {}
    descriptions: dict[str, str] = {}
    aliases: dict[str, tuple[str, ...]] = {}
    statements: tuple[EntityStatement, ...] = ()
    count: int = 0
    properties: int = 0
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


def parse_entity(line: bytes, languages: tuple[str, ...] = ()) -> Entity:
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
    statements: list[EntityStatement] = []
    count = 0
    claims = wire.claims if isinstance(wire.claims, dict) else {}
    for property, group in claims.items():
        for one in group:
            count += 1
            try:
                read = _STATEMENT.decode(one) if isinstance(one, msgspec.Raw) else one
                statement = _statement(property, read)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                problems.append(f"statement of {property} cannot be read: {error}")
                continue
            if statement.kind not in DATATYPES:
                problems.append(
                    f"statement of {property} has the unknown datatype {statement.kind!r}"
                )
                continue
            statements.append(statement)
    return Entity(
        id=wire.id,
        labels=_texts(wire.labels, languages),
        descriptions=_texts(wire.descriptions, languages),
        aliases=_aliases(wire, languages),
        statements=tuple(statements),
        count=count,
        properties=sum(map(bool, claims.values())),
        sitelinks=len(wire.sitelinks),
        modified=wire.modified,
        problems=tuple(problems),
    )


def superclasses(line: bytes) -> tuple[str, list[str]]:
    """Read only an entity's id and what it is a subclass of (P279, deprecated ones left out).

    Raises :class:`LineError` for what is no JSON object with an id. A statement that cannot be
    read is left out; :func:`parse_entity` names it.
    """
    try:
        wire = _CLASS.decode(line.strip().rstrip(b","))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise LineError(f"cannot be read: {error}") from None
    items = []
    for raw in wire.claims.P279 if isinstance(wire.claims, ClaimsWire) else ():
        try:
            one = _statement("P279", _STATEMENT.decode(raw))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        if one.snak == "value" and one.rank != "deprecated":
            items.append(one.value)
    return wire.id, items


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


def _statement(property: str, wire: StatementWire) -> EntityStatement:
    """Turn one statement around; a main value that cannot be read raises msgspec's error."""
    snak = wire.mainsnak
    value, extra = "", _NOTHING
    if snak.snaktype == "value":
        if snak.datavalue is None:
            raise msgspec.ValidationError("a value is announced and missing")
        value, extra = _value(snak.datatype, snak.datavalue.value)
    if isinstance(wire.qualifiers, QualifiersWire):
        extra = {**extra, **_when(wire.qualifiers)}
    return EntityStatement(property, snak.datatype, value, snak.snaktype, wire.rank, **extra)  # type: ignore[arg-type]


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


def plain_name(name: str) -> str:
    """Return a name by which others are found that differ in case and spacing only."""
    return " ".join(name.casefold().split())


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


# ---- since when something is true

TIME = re.compile(r"([+-]?)0*(\d+)-(\d\d)-(\d\d)")
#: when an entity began: date of birth, of discovery, of publication, of founding, of opening
BEGINNINGS = ("P569", "P575", "P577", "P571", "P1619")


def sortable(time: str) -> tuple[int, int, int]:
    """Return a timestamp or a day as numbers that compare; (0, 0, 0) for something else."""
    parts = TIME.match(time)
    if parts is None:
        return (0, 0, 0)
    year = -int(parts[2]) if parts[1] == "-" else int(parts[2])
    return year, int(parts[3]), int(parts[4])


def checked_day(day: str, flag: str) -> str:
    """Return a day of the form 2024-01-31; anything else is an InputError."""
    try:
        return date.fromisoformat(day).isoformat() if day else ""
    except ValueError:
        raise InputError(f"{flag} {day!r}: expected a day such as 2024-01-31") from None


def earliest(one: EntityStatement) -> str:
    """Return the first moment that the value of a time can mean, "" where that is not known.

    The twentieth century is written +2000 (or +1901) and began in 1901.
    """
    parts = TIME.match(one.value)
    if one.precision > 8 or parts is None:
        return one.value
    if one.precision < 7 or parts[1] == "-":
        return ""
    year = int(parts[2])
    first = year // 10 * 10 if one.precision == 8 else (year - 1) // 100 * 100 + 1
    return f"+{first:04}-00-00T00:00:00Z"


def holds_since(statements: Sequence[EntityStatement]) -> str:
    """Return from when on values are true, the earliest of them; "" where one does not say."""
    times = [s.start or s.at or (earliest(s) if s.kind == "time" else "") for s in statements]
    if not times or not all(times) or SOMETIME in times:
        return ""
    return min(times, key=sortable)


def began(entity: Entity) -> str:
    """Return the earliest beginning of an entity, "" where none is known."""
    times = [
        earliest(s)
        for s in entity.statements
        if s.property in BEGINNINGS and s.rank != "deprecated" and s.snak == "value"
    ]
    return min(times, key=sortable) if times and all(times) else ""


def is_fresh(start: str, entity: Entity, day: str) -> bool:
    """Tell whether a fact that holds since ``start`` ("" unknown) is true only after a day."""
    return any(bool(time) and sortable(time) > sortable(day) for time in (start, began(entity)))


def fresh_facts(entity: Entity, day: str) -> bool:
    """Tell whether anything about an entity is true only after a day: a quick look at all dates."""
    after = sortable(day)
    return any(
        sortable(time) > after
        for s in entity.statements
        if s.rank != "deprecated"
        for time in (s.start, s.at, s.value if s.kind == "time" else "")
        if time
    )

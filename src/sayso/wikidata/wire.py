"""How the JSON dump writes an entity: the fields that are read, decoded without the others.

The format is documented under "Wikibase/DataModel/JSON" (mediawiki.org).
"""

from __future__ import annotations

from typing import Literal

import msgspec


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


__all__ = [
    "ClaimsWire",
    "ClassWire",
    "DataValueWire",
    "ItemWire",
    "LineWire",
    "QualifiersWire",
    "QuantityWire",
    "SnakWire",
    "SoundLineWire",
    "StatementWire",
    "TextWire",
    "TimeWire",
    "WordsWire",
]

"""Since when something is true: what a model that was trained before cannot know.

A fact is fresh when all that Wikidata says about its values lies after a day: its start, its point
in time, the date that it is itself, or the beginning of its entity. A fact without any date may be
old and is never called fresh.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from sayso.records import InputError
from sayso.wikidata.entities import SOMETIME, Entity, Statement

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


def earliest(one: Statement) -> str:
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


def holds_since(statements: Sequence[Statement]) -> str:
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


__all__ = [
    "TIME",
    "began",
    "checked_day",
    "earliest",
    "fresh_facts",
    "holds_since",
    "is_fresh",
    "sortable",
]

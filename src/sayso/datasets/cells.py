"""What stands in one cell of people's tables: lists written as text, and golds of any type."""

from __future__ import annotations

import ast
import datetime
import json
import re
from decimal import Decimal
from typing import Any

import msgspec

from sayso.records import Gold, InputError

_ITEM = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|None)"""
#: a list as Python and pandas write it; texts without a comma between them are no list, though
#: Python would glue them together
_PYTHON = re.compile(rf"\[\s*(?:{_ITEM}\s*(?:,\s*{_ITEM}\s*)*,?\s*)?\]", re.DOTALL)
#: Wikidata writes 1815-12-10T00:00:00Z, pandas 1815-12-10 00:00:00
_TIMESTAMP = re.compile(r"([+-]?\d{4,}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.0+)?Z?")
#: 0,5 is no number here, while 1,500 is
DECIMAL_COMMA = re.compile(r"[-+]?\d+,(?:\d{1,2}|\d{4,})")
#: how a missing value looks once it was written out as a text
WRITTEN_OUT = frozenset(("nan", "none", "null", "n/a", "<na>"))


def list_in(cell: str) -> list[Any] | None:
    """Return the list that a cell holds, in JSON or as Python writes it; ``None`` for no list."""
    text = cell.strip()
    if text[:1] != "[":
        return None
    try:
        found = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        if not _PYTHON.fullmatch(text):
            return None
        try:
            found = ast.literal_eval(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return None
    return found if isinstance(found, list) else None


def read_cell(cell: str, place: str) -> object:
    """Return the list that a cell holds, or its text. Raises InputError for a broken list."""
    found = list_in(cell)
    if found is not None:
        return found
    text = cell.strip()
    if text[:2] in ('["', "['") or (text[:1] == "[" and text[-1:] == "]"):
        raise InputError(
            f"{place}: gold {text!r:.40} looks like a list and cannot be read as one; "
            'write ["…", "…"], also around a single text in brackets'
        )
    return cell


def gold_in(value: object, place: str) -> Gold:
    """Return a gold: a text, a number, a day, or an object with value and aliases.

    Raises InputError for anything else, a truth value too: nobody could tell what says "true".
    """
    if isinstance(value, Gold):
        return value
    if isinstance(value, str):
        return _gold_of(value)
    if isinstance(value, datetime.date):
        return Gold(f"{value.isoformat()[:10]}T00:00:00Z", kind="date")
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        whole = isinstance(value, float) and value.is_integer()
        return Gold(f"{value:.0f}" if whole else str(value))
    try:
        return msgspec.convert(value, Gold)
    except msgspec.ValidationError:
        raise InputError(
            f"{place}: gold {value!r:.40}: expected a text or a number, a list of them, or "
            '{"value": "…", "aliases": ["…"]} (yes or no is a text)'
        ) from None


def _gold_of(text: str) -> Gold:
    """Return a gold: a timestamp is a date, all else is text until a matcher reads it."""
    text = text.strip()
    timed = _TIMESTAMP.fullmatch(text)
    return Gold(f"{timed[1]}T{timed[2]}Z", kind="date") if timed else Gold(text)

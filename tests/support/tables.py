"""Tables of cases beside a test module: a row a case, which :func:`tabled` gives to its test."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sayso.records import Gold

#: keys of a row that are no argument: which test it is of, a remark for the reader, and why it may
#: fail
TEST, REMARK, MISREAD = "test", "why", "xfail"


#: what a value is made into where a test asks for more than JSON has
MADE: dict[str, Callable[[Any], Any]] = {
    "Gold": lambda value: msgspec.convert(value, Gold),
    "tuple[Gold, ...] | None": lambda value: msgspec.convert(value, tuple[Gold, ...] | None),
    "bytes": lambda text: text.encode("latin-1"),
}


def tabled(test: Callable[..., None]) -> Any:
    """Parametrize a test by its rows in ``tables/MODULE.jsonl`` beside the module."""
    rows = rows_of(test)
    names = [name for name in rows[0] if name not in (TEST, REMARK, MISREAD)]
    for name in names:
        make = MADE.get(test.__annotations__.get(name, ""))
        rows = [row | {name: make(row[name])} for row in rows] if make else rows
    values = [pytest.param(*(row[name] for name in names), marks=_marks(row)) for row in rows]
    return pytest.mark.parametrize(names, values)(test)


def rows_of(test: Callable[..., None]) -> list[dict[str, Any]]:
    """Return the rows of a test, for another test that reads the same texts."""
    module = Path(test.__globals__["__file__"])
    rows = [row for row in _rows(module) if row[TEST] == test.__name__]
    assert rows, f"no row for {test.__name__} in the table of {module.name}"
    return rows


def _marks(row: dict[str, Any]) -> list[pytest.MarkDecorator]:
    return [pytest.mark.xfail(reason=row[MISREAD])] if MISREAD in row else []


@functools.cache
def _rows(module: Path) -> list[dict[str, Any]]:
    """Return the rows of a test module."""
    table = module.parent / "tables" / f"{module.stem.removeprefix('test_')}.jsonl"
    return [json.loads(line) for line in table.read_text(encoding="utf-8").splitlines()]

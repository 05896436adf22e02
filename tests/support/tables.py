"""Tables of cases beside a test module: a row a case, which :func:`tabled` gives to its test."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

#: keys of a row that are no argument: which test it is of, and a remark for the reader
TEST, REMARK = "test", "why"


def tabled(test: Callable[..., None]) -> Any:
    """Parametrize a test by its rows in ``tables/MODULE.jsonl`` beside the module."""
    module = Path(test.__globals__["__file__"])
    rows = [row for row in _rows(module) if row[TEST] == test.__name__]
    assert rows, f"no row for {test.__name__} in the table of {module.name}"
    names = [name for name in rows[0] if name not in (TEST, REMARK)]
    values = [[row[name] for name in names] for row in rows]
    if len(names) == 1:
        values = [value for (value,) in values]
    return pytest.mark.parametrize(names if len(names) > 1 else names[0], values)(test)


@functools.cache
def _rows(module: Path) -> list[dict[str, Any]]:
    """Return the rows of a test module."""
    table = module.parent / "tables" / f"{module.stem.removeprefix('test_')}.jsonl"
    return [json.loads(line) for line in table.read_text(encoding="utf-8").splitlines()]

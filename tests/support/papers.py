"""What each numbered layout shows, as its paper does: for tests of the layouts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from sayso.report.number_tables import NumberTable


class Content(NamedTuple):
    """Heads of rows and columns of the first table, and how the caption of a further one begins."""

    heads: Sequence[str] = ()
    columns: Sequence[str] = ()
    part: str = ""


FIVE = ("FA", "UA", "UUR", "KCR", "EA")
ROWS = Path(__file__).with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
CONTENT = {row.pop("name"): Content(**row) for row in map(json.loads, ROWS)}


def check_content(name: str, tables: Sequence[NumberTable]) -> None:
    """Check the heads, the columns and the further parts of a numbered layout."""
    heads, columns, part = CONTENT[name]
    first = tables[0]
    assert set(heads) <= set(first.labels), (name, first.labels)
    shown = first.short or first.columns
    if tuple(columns) == FIVE:
        assert shown == FIVE * 2, name
        assert [group for group, _ in first.groups] == ["long form", "short form"], name
    for column in columns:
        assert any(column in head for head in shown), (name, column, shown)
    assert any(part in table.caption for table in tables), (name, part)
    if name in ("faithfulness-figure3", "uncle-figure5"):  # by model, not by method
        assert "method" not in first.labels, name

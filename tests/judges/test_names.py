"""Names that differ by little, and names of one thing in several shapes."""

from __future__ import annotations

import pytest

from sayso.judges.rules.names import compare_names, name_key
from support.effort import seconds
from support.tables import tabled


@tabled
def test_normal_form(written: str, key: list[str]) -> None:
    assert list(name_key(written)) == key


@tabled
def test_pairs(a: str, b: str, expected: str) -> None:
    assert compare_names(a, b) == expected
    assert compare_names(b, a) == expected


@pytest.mark.parametrize("piece", ["a", " ", "1", ".", "Aa ", "X", "Kim-"])
def test_long_names_cost_nothing(piece: str) -> None:
    assert seconds(lambda: compare_names(piece * 50_000, "Kim Jong-un"), enough=0.1) < 0.1

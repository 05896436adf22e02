"""Fractions, shares, times of day and numbers in other signs; rows in ``tables/amounts.jsonl``."""

from __future__ import annotations

import pytest

from sayso.judges.english.quantities import find_amounts
from sayso.judges.rules.matching import match
from sayso.records import golds_of
from support.tables import tabled


@tabled
def test_amounts_are_compared_as_they_are_written(
    question: str, gold: str, answer: str, right: bool
) -> None:
    assert (match(question, golds_of(gold), answer).content == "correct") is right


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("half a million", [500_000]),
        ("half a mile", [0.5]),
        ("two and a half hours", [2.5]),
        ("the second half", [2]),
        ("the third of May", [3]),
        ("on 1/2/2020", [1, 2, 2020]),
        ("a score of 3-2", [3, 2]),
        ("4,5 and 1.234,5 and 1 000 000", [4.5, 1234.5, 1e6]),
        ("1,2,3", [1, 2, 3]),
        ("10\u00b2 and 10^6", [100, 1e6]),
        ("in 1983\u00b2", [1983]),
        ("at 9:05, 9.15 am and quarter to ten", [545, 555, 585]),
        ("in 2:01:39", [2, 1, 39]),
        ("10 to 12 of them", [10]),
        ("ten past nine, or five minutes to ten", [550, 595]),
    ],
)
def test_values_are_read(text: str, values: list[float]) -> None:
    assert [one.value for one in find_amounts(text)] == values

"""Fractions, shares, times of day and numbers in other signs; rows in ``tables/amounts.jsonl``."""

from __future__ import annotations

from sayso.judges.english.quantities import find_amounts
from sayso.judges.rules.matching import match
from sayso.records import golds_of
from support.tables import tabled


@tabled
def test_amounts_are_compared_as_they_are_written(
    question: str, gold: str, answer: str, right: bool
) -> None:
    assert (match(question, golds_of(gold), answer).content == "correct") is right


@tabled
def test_values_are_read(text: str, values: list[float]) -> None:
    assert [one.value for one in find_amounts(text)] == values

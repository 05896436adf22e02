"""Values that are only mentioned, dates of what a writer knows, golds that say more."""

from __future__ import annotations

from sayso.judges.rules.matching import match
from sayso.records import Gold
from support.tables import tabled


def _is_right(question: str, gold: str, text: str) -> bool:
    return match(question, [Gold(gold)], text).content == "correct"


@tabled
def test_a_value_that_is_only_mentioned_is_no_answer(
    question: str, gold: str, text: str, right: bool
) -> None:
    assert _is_right(question, gold, text) is right


@tabled
def test_the_date_of_what_a_writer_knows_is_no_answer(
    question: str, gold: str, text: str, right: bool
) -> None:
    assert _is_right(question, gold, text) is right


@tabled
def test_a_gold_that_says_more_of_its_value_is_its_value(
    question: str, gold: str, text: str, right: bool
) -> None:
    assert _is_right(question, gold, text) is right

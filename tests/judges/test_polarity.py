"""Answers to questions of yes or no; the rows stand in ``tables/polarity.jsonl``."""

from __future__ import annotations

import pytest

from sayso.datasets.answer_rows import answer_rows
from sayso.datasets.tables import gold_in
from sayso.judges.rules.judge import judge_rules
from sayso.judges.rules.matching import match
from sayso.judges.rules.polarity import gold_polarity, polarity
from sayso.records import golds_of
from support.tables import tabled


@tabled
def test_yes_and_no_are_read(question: str, golds: list[str], answer: str, right: bool) -> None:
    assert (match(question, golds_of(golds), answer).content == "correct") is right


@tabled
def test_what_only_says_yes_or_no_is_an_answer(
    question: str, gold: str, answer: str, stance: str
) -> None:
    assert judge_rules(question, gold, answer).stance == stance


@tabled
def test_golds_are_yes_or_no_only_where_that_is_asked(
    question: str, golds: list[str], yes: bool | None
) -> None:
    assert gold_polarity(question, golds_of(golds)) is yes


def test_the_place_of_yes_or_no_is_told() -> None:
    text = "That is a good question. The answer is: no, it is not."
    found = match("Is Riga in Peru?", golds_of("no"), text)
    assert text[found.start : found.end] == "no"
    assert polarity("Is Riga in Peru?", "It lies on the Baltic Sea.") is None
    assert polarity("Is Riga in Peru?", "Yes and no.") is None
    assert polarity("", "Yes.") is None
    assert polarity("Is?", "It is.") is not None


@pytest.mark.parametrize(("value", "names"), [(True, ("yes", "true")), (False, ("no", "false"))])
def test_a_truth_value_is_a_gold(value: bool, names: tuple[str, ...]) -> None:
    assert gold_in(value).names == names
    (row,) = answer_rows([{"question": "Is it?", "answer": "It is.", "gold": [value]}])
    assert (row.gold, row.problems) == (names, ())

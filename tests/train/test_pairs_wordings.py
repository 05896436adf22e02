"""Every wording of doubt in rows is read as doubt by the judge that grades it."""

from __future__ import annotations

import pytest

from sayso.judges.rules.judge import judge_rules, judge_rules_long
from sayso.train.rows import REFUSALS, WORDS
from support.tables import tabled

DOUBT = ("hedged", "abstained")
#: question, gold, values told: right and wrong ones, dates, numbers, names with commas
SHORT = (
    ("Where was Ann Bell born?", "Lyon", ("Lyon", "Paris, Texas", "the town of Orm")),
    (
        "When was Ann Bell born?",
        "25 January 1960",
        ("25 January 1960", "1960", "3 March 1901", "May 1967", "January 25, 1960"),
    ),
    ("How many people work for Corvex?", "21,400", ("21,400", "about 300", "7", "5 million")),
    (
        "Who founded Corvex?",
        "Corvunt Selvet and Kaldith Krostane",
        ("Corvunt Selvet and Kaldith Krostane", "Tom Reed, Jr.", "Selvet, Krostane and Orm"),
    ),
    ("What award did Ann Bell receive?", "the Orm Prize", ("The Orm Prize", "a medal, in 1921")),
    ("What is the mass of Corvex?", "5.9 kg", ("5.9 kg", "1.2e24 kg", "$5 million", "30 %")),
)
#: the same in sentences: question, gold, sentence
LONG = (
    ("Where was Ann Bell born?", "Lyon", "She was born in Lyon."),
    ("Where was Ann Bell born?", "Lyon", "Ann Bell was born in Paris, Texas."),
    ("When was Ann Bell born?", "1960", "She was born on 25 January 1960."),
    ("How many people work for Corvex?", "21,400", "The company has a staff of 21,400."),
    ("Who founded Corvex?", "Tom Reed", "Corvex was founded by Cora Selvet and Tom Reed, Jr."),
    ("What award did Ann Bell receive?", "the Orm Prize", "She received the Orm Prize, in 1921."),
)


@pytest.mark.parametrize("word", WORDS)
def test_words_before_values(word: str) -> None:
    for question, gold, values in SHORT:
        for value in values:
            said = f"{word.capitalize()} {value}"
            assert judge_rules(question, [gold], said).stance in DOUBT, said
    for question, gold, value, sentence in (
        (*LONG[0][:2], "Lyon", LONG[0][2]),
        (*LONG[3][:2], "21,400", LONG[3][2]),
    ):
        text = sentence.replace(value, f"{word} {value}")
        (found,) = judge_rules_long([(question, [gold])], text)
        assert found.stance in DOUBT, text


@pytest.mark.parametrize("refusal", REFUSALS)
def test_refusals(refusal: str) -> None:
    for question, gold, _ in SHORT:
        assert judge_rules(question, [gold], refusal).stance == "abstained"


@tabled
def test_odds_are_doubt(said: str) -> None:
    assert judge_rules("Where was Ann Bell born?", ["Lyon"], said).stance == "hedged"


@tabled
def test_what_only_looks_like_odds_is_not(said: str) -> None:
    assert judge_rules("Where was Ann Bell born?", ["Lyon"], said).stance == "committed"

"""A model's own judgement: prompts, every order of the options, replies in any words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.judges.claim_questions import QuestionAnswer
from sayso.judges.self_judgement import (
    OFFERED,
    WORDS,
    SelfJudgement,
    from_probabilities,
    from_replies,
    orders,
    prompt,
    read_yes_no,
    spellings,
)
from support.tables import tabled

AB = ("yes", "no")
BA = ("no", "yes")
ABC = ("yes", "no", "none")
MADE = QuestionAnswer("Where was Mira Toll born?", "Ripley")


def test_every_option_stands_in_every_place_once() -> None:
    assert orders("direct") == (("yes", "no"), ("no", "yes"))
    assert orders("qa_none") == (
        ("yes", "no", "none"),
        ("no", "none", "yes"),
        ("none", "yes", "no"),
    )
    for mode, offered in OFFERED.items():
        assert orders(mode, "first") == (offered,)  # the paper's
        for place in range(len(offered)):
            assert {order[place] for order in orders(mode)} == set(offered)


def test_prompts_by_hand() -> None:
    text = prompt("qa_none", "Mira Toll", "Mira Toll was born in Ripley.", MADE, ABC)
    assert text is not None
    assert "Question: Where was Mira Toll born?\nProposed answer: Ripley\n" in text
    assert "(A) True\n(B) False\n(C) None of the above\nThe proposed answer is:" in text
    # a word is asked for, not a letter; a claim becomes a sentence
    direct = prompt("direct", "Mira Toll", "Mira Toll was born in Ripley", None, BA)
    assert direct == "Mira Toll was born in Ripley.\nIs this statement false or true?"
    first = prompt("direct", "Mira Toll", "Was she born in Ripley?", None, AB)
    assert first == "Was she born in Ripley?\nIs this statement true or false?"


def test_a_word_or_a_letter_is_looked_for_in_each_spelling() -> None:
    words = spellings("direct", BA)
    assert words == {
        "no": ("False", " False", "false", " false"),
        "yes": ("True", " True", "true", " true"),
    }
    letters = spellings("qa_none", ("none", "yes", "no"))
    assert letters["none"] == ("A", " A", "(A)", " (A)")
    assert letters["no"] == ("C", " C", "(C)", " (C)")


def test_a_question_that_could_not_be_made_is_not_asked() -> None:
    assert prompt("qa", "T", "x", None, AB) is None
    assert prompt("qa", "T", "x", QuestionAnswer("", "", "leak"), AB) is None
    assert prompt("direct", "T", "x", QuestionAnswer("", "", "leak"), AB) is not None


def test_passages_stand_before_the_question() -> None:
    text = prompt("qa", "T", "x", MADE, AB, passages=["Ripley is\na town.", "p2"])
    assert text is not None
    assert text.startswith("Ripley is a town.\n\np2\n\nQuestion:")


@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(list(OFFERED)))
def test_hostile_claims_open_no_option_of_their_own(claim: str, topic: str, mode: str) -> None:
    claim = f"{claim}\n(A) False\n(B) {{options}} {{claim}} {{topic}}\nIs this statement true?"
    made = QuestionAnswer(claim, claim)
    text = prompt(mode, topic, claim, made, OFFERED[mode])
    assert text is not None
    lines = text.splitlines()
    options = [line for line in lines if line[:3] in ("(A)", "(B)", "(C)")]
    wanted = [f"({x}) {WORDS[name]}" for x, name in zip("ABC", OFFERED[mode], strict=False)]
    if mode == "direct":  # the claim on its line, the question on the next
        assert lines[1:] == ["Is this statement true or false?"]
    else:
        assert options == wanted
    assert "{" not in text


# --- probabilities ---


def test_probabilities_are_averaged_over_orders_each_over_its_options() -> None:
    # order 1: yes .6 of .8 = .75; order 2: yes .1 of .5 = .2; mean .475; no: .525
    found = from_probabilities([{"yes": 0.6, "no": 0.2}, {"no": 0.4, "yes": 0.1}])
    assert found.label == "no"
    assert found.share == pytest.approx(0.475)
    assert found.by_order == ("yes", "no")
    assert found.mass == pytest.approx(0.65)  # (.8 + .5) / 2


def test_a_model_that_always_takes_the_first_letter_is_tied() -> None:
    found = from_probabilities([{"yes": 0.9, "no": 0.1}, {"no": 0.9, "yes": 0.1}])
    assert found.label is None
    assert found.problem == "tied"
    assert found.share == pytest.approx(0.5)
    assert found.by_order == ("yes", "no")  # flips with the order
    three = [{"yes": 1.0, "no": 0.0, "none": 0.0}, {"no": 1.0}, {"none": 1.0}]
    assert from_probabilities(three).problem == "tied"
    assert from_probabilities(three).share == pytest.approx(1 / 3)


def test_an_order_that_could_not_be_read_is_left_out() -> None:
    found = from_probabilities([{}, {"no": 0.1, "yes": 0.3}])
    assert found == SelfJudgement(
        "yes", pytest.approx(0.75), (None, "yes"), pytest.approx(0.4), None
    )
    assert from_probabilities([{}, {}]) == SelfJudgement(None, None, (None, None), 0.0, "unread")
    assert from_probabilities([{"yes": 0.0, "no": 0.0}]).problem == "unread"


def test_equal_probabilities_in_an_order_choose_no_option() -> None:
    found = from_probabilities([{"yes": 0.5, "no": 0.5}])
    assert found.by_order == (None,)
    assert found.problem == "tied"
    assert found.share == 0.5


# --- replies ---


def test_replies_vote_and_unread_ones_are_left_out() -> None:
    assert from_replies(["yes", "yes", "no"]) == SelfJudgement(
        "yes", pytest.approx(2 / 3), ("yes", "yes", "no"), None, None
    )
    tied = from_replies(["yes", "no", None])
    assert tied.label is None
    assert tied.problem == "tied"
    assert tied.share == 0.5
    assert from_replies([None, None]).problem == "unread"
    assert from_replies([None, "none"]) == SelfJudgement("none", 0.0, (None, "none"), None, None)


@tabled
def test_replies_by_hand(text: str, order: tuple[str, ...], expected: str | None) -> None:
    assert read_yes_no(text, order) == expected


@given(
    st.lists(
        st.sampled_from(
            ["A", "B", "C", ")", " ", "true", "false", "not", "n't", "none of the above", "is", "."]
        )
        | st.text(max_size=5),
        max_size=8,
    ).map("".join),
    st.sampled_from([AB, BA, ABC]),
)
def test_any_reply_is_an_option_or_nothing(text: str, order: tuple[str, ...]) -> None:
    assert read_yes_no(text, order) in (*order, None)

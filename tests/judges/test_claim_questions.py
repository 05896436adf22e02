"""Claims as questions: the gap by hand, leaks, lost context, and a model that makes them."""

from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from sayso.judges.claim_questions import (
    GapQuestions,
    LlmQuestions,
    QuestionAnswer,
    check_pair,
    gap_question,
    leaks,
)
from sayso.judges.rules.natural_questions import natural_question
from support.numbered import good, model
from support.tables import tabled

TOPIC = "Mira Toll"


@tabled
def test_frequent_claims_are_asked_in_natural_words(claim: str, question: str, answer: str) -> None:
    assert gap_question(TOPIC, claim) == QuestionAnswer(question, answer)


@tabled
def test_other_claims_keep_the_gap_for_their_last_value(claim: str, answer: str) -> None:
    made = gap_question(TOPIC, claim)
    assert made == QuestionAnswer(
        f'Which words belong in the gap of "{claim.replace(answer, "____")}"?', answer
    )


TAILS = (
    "a the of in at on from as 1990 two Orm Ripley, painter films May 4, her debut and by with age"
    ' for times "Orm"'
)


@given(
    st.sampled_from(["Mira Toll", "She", "Her father", "The band", "One of her films", "Toll"]),
    st.sampled_from(["is", "was", "has", "won", "studied", "was born", "has been", "made"]),
    st.lists(st.sampled_from(TAILS.split()), max_size=8),
)
def test_a_natural_question_takes_one_span_out(subject: str, verb: str, rest: list[str]) -> None:
    claim = " ".join([subject, verb, *rest]) + "."
    asked = natural_question(TOPIC, claim)
    if asked is None:
        return
    answer = claim[asked.start : asked.end]
    assert answer.strip() == answer != ""
    assert asked.question.endswith("?")
    made = gap_question(TOPIC, claim)
    assert made.problem is not None or not leaks(made.question, made.answer)
    # nothing is asked with words that the claim and its grammar do not have
    said = set(re.findall(r"\w+", f"{claim} {TOPIC}"))
    added = set(re.findall(r"\w+", asked.question.partition("?")[0])) - said
    grammar = "what who where when which how many at in on from by since until during for as to"
    allowed = f"{grammar} did does do s year years date month and age decade institution award with"
    stems = ["win", "study", "live", "make", "have", "nationality", "her", "the", "one"]
    assert {word.lower() for word in added} <= {*allowed.split(), *stems}


@tabled
def test_what_cannot_be_asked_says_why(claim: str, problem: str) -> None:
    assert gap_question(TOPIC, claim) == QuestionAnswer("", "", problem)


def test_leaks_and_context_by_hand() -> None:
    assert leaks("Was Mira born in Ripley?", "Ripley")
    assert leaks("Who paints paintings?", "paint")  # the same stem
    assert not leaks("Where was Mira born?", "Ripley, Ohio")
    assert not leaks("Which of the two?", "the")  # nothing but function words gives nothing away
    assert check_pair(TOPIC, "Where was he born?", "Ripley").problem == "no context"
    assert check_pair(TOPIC, "Where was Toll born?", "Ripley").problem is None
    assert check_pair("", "Where was he born?", "Ripley").problem is None
    assert check_pair(TOPIC, "Was Mira Toll born in Ripley?", "Ripley").problem == "leak"
    assert check_pair(TOPIC, " ", "Ripley").problem == "no value"


@given(
    st.text(max_size=30), st.text(max_size=120) | st.sampled_from(["X is ( 3 ) .", "in 1990 in"])
)
def test_any_claim_gives_a_question_or_a_reason(topic: str, claim: str) -> None:
    made = gap_question(topic, claim)
    assert (made.problem is None) == bool(made.question and made.answer)
    if made.problem is None:
        assert made.answer in claim
        assert not leaks(made.question, made.answer)


def test_equal_claims_are_made_once() -> None:
    pairs = [(TOPIC, "Mira Toll was born in Ripley.")] * 3
    assert list(GapQuestions().read(pairs)) == pairs[:1]


# --- by a model ---


@tabled
def test_what_it_makes_is_checked(question: str, answer: str, problem: str) -> None:
    def reply(prompt: str) -> str:
        return json.dumps(good(prompt, "claim", lambda _: {"question": question, "answer": answer}))

    claim = "Mira Toll wrote book 0 in 1950."
    found = LlmQuestions(model(reply)).read([(TOPIC, claim)])
    assert found[TOPIC, claim] == QuestionAnswer("", "", problem)

"""Claims as questions: the gap by hand, leaks, lost context, and a model that makes them."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.engines.scripted import ScriptedEngine
from sayso.judges.claim_questions import (
    GapQuestions,
    LlmQuestions,
    QuestionAnswer,
    check_pair,
    gap_question,
    leaks,
    read_question,
)
from sayso.judges.rules.natural_questions import natural_question

TOPIC = "Mira Toll"


NATURAL = [
    ("Mira Toll was born in Ripley.", "Where was Mira Toll born?", "Ripley"),
    ("Mira Toll was born in Ripley, Ohio.", "Where was Mira Toll born?", "Ripley, Ohio"),
    ("She was born on 4 May 1951.", "On what date was Mira Toll born?", "4 May 1951"),
    ("Toll was born in 1951.", "In what year was Toll born?", "1951"),
    ("Toll died in March 2001.", "In what month and year did Toll die?", "March 2001"),
    ("She died at the age of 75.", "At what age did Mira Toll die?", "75"),
    ("Mira Toll was a Dutch painter.", "What was Mira Toll?", "Dutch painter"),
    ("Mira Toll is Dutch.", "What nationality is Mira Toll?", "Dutch"),
    ("Toll is the founder of Orm House.", "What is Toll the founder of?", "Orm House"),
    ("Toll was the wife of Bor Ek.", "Who was Toll the wife of?", "Bor Ek"),
    ("Toll is best known for her maps.", "What is Toll best known for?", "her maps"),
    ("Toll works as a diplomat.", "What does Toll work as?", "diplomat"),
    ("Toll has worked with Bor Ek.", "Who has Toll worked with?", "Bor Ek"),
    ("Toll studied at Uppsala University.", "Where did Toll study?", "Uppsala University"),
    ("Toll studied law at Lund.", "Where did Toll study law?", "Lund"),
    ("Toll graduated from Lund.", "Which institution did Toll graduate from?", "Lund"),
    ("Toll attended Lund College.", "Which institution did Toll attend?", "Lund College"),
    ("Toll won the Orm Prize.", "Which award did Toll win?", "Orm Prize"),
    (
        "Mira Toll won the Prix Femina in 1990.",
        "In what year did Mira Toll win the Prix Femina?",
        "1990",
    ),
    ("Toll has won two Emmy Awards.", "How many Emmy Awards has Toll won?", "two"),
    ("Toll won the cup three times.", "How many times did Toll win the cup?", "three"),
    ("Mira Toll has 12,000 employees.", "How many employees does Mira Toll have?", "12,000"),
    ("Toll House was founded in 1980.", "In what year was Toll House founded?", "1980"),
    ("Toll House was built by Bor Ek.", "Who was Toll House built by?", "Bor Ek"),
    ("Toll married Bor Ek.", "Who did Toll marry?", "Bor Ek"),
    ("Toll lives in Ohio.", "Where does Toll live?", "Ohio"),
    ("Her first novel was titled Orm.", "What was Mira Toll's first novel titled?", "Orm"),
    ("The novel appeared in 1981.", "About Mira Toll: In what year did the novel appear?", "1981"),
    (
        "The Rise of Orm is a film.",
        "About Mira Toll: What is The Rise of Orm?",
        "film",
    ),
    ("She taught from 1990 to 1995.", "From what year to what year did Mira Toll teach?",
     "1990 to 1995"),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "question", "answer"), NATURAL)
def test_frequent_claims_are_asked_in_natural_words(claim: str, question: str, answer: str) -> None:
    assert gap_question(TOPIC, claim) == QuestionAnswer(question, answer)


@pytest.mark.parametrize(
    ("claim", "answer"),
    [
        ("Toll was not born in Ripley.", "Ripley"),  # what is denied is not asked for
        ("Toll wrote Orm and was born in Ripley.", "Ripley"),  # two verbs
        ("Toll wrote a book published in 1990.", "1990"),  # the date is the book's
        ("Toll is the woman who sang in Ripley.", "Ripley"),
        ("In Ripley Toll met Bor Ek.", "Bor Ek"),
        ("Toll, who lived in Ripley, admired Bor Ek.", "Bor Ek"),
        ("Toll received the from Queen Elizabeth.", "Queen Elizabeth"),
        ("Toll was praised throughout Ripley.", "Ripley"),
        ("Toll admired Bor Ek.", "Bor Ek"),  # a verb of no list
        ("Toll (a painter) was born in Ripley.", "Ripley"),
    ],
)
def test_other_claims_keep_the_gap_for_their_last_value(claim: str, answer: str) -> None:
    made = gap_question(TOPIC, claim)
    assert made == QuestionAnswer(
        f'Which words belong in the gap of "{claim.replace(answer, "____")}"?', answer
    )


TAILS = (
    "a the of in at on from as 1990 two Orm Ripley, painter films May 4, her debut and by with age"
    ' for times "Orm"'
)


@settings(max_examples=300, deadline=None)
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


@pytest.mark.parametrize(
    ("claim", "problem"),
    [
        ("", "no value"),
        ("Mira Toll", "no value"),
        ("Мира Толль родилась в городе Уппсала.", "language"),
        # the gap's words stand elsewhere in the claim
        ("Ripley is the town where Mira Toll lived, in Ripley.", "leak"),
    ],
)
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


@settings(max_examples=400, deadline=None)
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

CLAIMS = [f"Mira Toll wrote book {n} in {1950 + n}." for n in range(6)]


def good(prompt: str) -> dict[str, Any]:
    code = re.search(r"The code is (k\w+)", prompt)
    assert code is not None
    claims = dict(re.findall(r"^(\d+) claim\| (.*)$", prompt, re.M))
    verdicts = [
        {
            "number": int(n),
            "begins": " ".join(c.split()[:5]),
            "question": f"When did Mira Toll write book {re.findall(r'[0-9]+', c)[0]}?",
            "answer": re.findall(r"\d{4}", c)[0],
        }
        for n, c in claims.items()
    ]
    return {"code": code[1], "verdicts": verdicts}


def model(reply: Callable[[str], Any]) -> ScriptedEngine:
    return ScriptedEngine(lambda request: reply(request.messages[-1].content), name="maker")


def test_a_good_reply_is_read_in_one_call_and_nothing_is_asked_twice() -> None:
    engine = model(lambda prompt: json.dumps(good(prompt)))
    reader = LlmQuestions(engine)
    found = reader.read([(TOPIC, c) for c in CLAIMS])
    assert found[TOPIC, CLAIMS[2]] == QuestionAnswer("When did Mira Toll write book 2?", "1952")
    assert len(engine.requests) == 1
    assert reader.read([(TOPIC, CLAIMS[0])]) == {(TOPIC, CLAIMS[0]): found[TOPIC, CLAIMS[0]]}
    assert len(engine.requests) == 1
    assert reader.counts.parts == 6
    assert reader.notices == []


@pytest.mark.parametrize(
    ("question", "answer", "problem"),
    [
        ("When did Mira Toll write it?", "1951", "not in claim"),
        ("Did Mira Toll write book 0 in 1950?", "1950", "leak"),
        ("When did she write it?", "1950", "no context"),
        ("", "", "no value"),
        ("When did Mira Toll write it?", "", "no value"),
    ],
)
def test_what_it_makes_is_checked(question: str, answer: str, problem: str) -> None:
    def reply(prompt: str) -> str:
        whole = good(prompt)
        whole["verdicts"][0] |= {"question": question, "answer": answer}
        return json.dumps(whole)

    found = LlmQuestions(model(reply)).read([(TOPIC, CLAIMS[0])])
    assert found[TOPIC, CLAIMS[0]] == QuestionAnswer("", "", problem)


def test_entries_that_are_no_texts_are_not_read() -> None:
    assert read_question({"question": "a?", "answer": 3}) is None
    assert read_question({"question": "a?"}) is None
    assert read_question({"question": "a" * 601, "answer": "b"}) is None
    assert read_question({"question": " a \n b? ", "answer": "c\td"}) == ["a b?", "c d"]


def test_a_thousand_mutated_replies_give_the_question_or_none() -> None:
    generator = random.Random(7)
    outcomes = {True: 0, False: 0}

    def damage(text: str) -> str:
        for _ in range(generator.randint(1, 5)):
            at = generator.randrange(len(text) + 1)
            cut = generator.randint(0, 25)
            text = text[:at] + generator.choice(["", '"', "}", "[", " x ", "\\"]) + text[at + cut :]
        return text

    for _ in range(1000):
        reader = LlmQuestions(model(lambda prompt: damage(json.dumps(good(prompt)))))
        found = reader.read([(TOPIC, c) for c in CLAIMS])
        assert set(found) == {(TOPIC, c) for c in CLAIMS}
        for (_, claim), made in found.items():
            outcomes[made.problem is None] += 1
            if made.problem is None:
                assert made.answer
                assert made.answer in claim
                assert not leaks(made.question, made.answer)
            else:
                assert made.question == made.answer == ""
    assert min(outcomes.values()) > 500

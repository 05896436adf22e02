"""The judge as a whole: order, problems, spans, hostile text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.judges.judge import Item
from sayso.judges.rules.judge import RulesJudge, judge_rules, judge_rules_long
from sayso.records import Aspect, Generation, Gold, InputError, Question, Verdict, ask
from support.tables import tabled

PARTS = [
    ("Where was Mira Toll born?", ["Ripley"]),
    ("When was Mira Toll born?", ["1950-05-03T00:00:00Z"]),
    ("What was Mira Toll's occupation?", ["singer", "songwriter"]),
    ("How many children did Mira Toll have?", ["3"]),
]
_VOCABULARY = """I you she Mira Toll Ripley 1950 3 May not sure but born in and or maybe , . ; : ?
    ! ( ) " ' * - know think don't can't either some sources say when where I'm unknown is was which
    who died singer please verify these details no information about policy"""
WORDS = [*_VOCABULARY.split(), "\n"]


def question(number: int, domain: str = "bios") -> Question:
    text, golds = PARTS[number]
    return Question(
        id=f"q{number}",
        dataset="d",
        text=text,
        golds=tuple(Gold(g) for g in golds),
        entity="Mira Toll",
        domain=domain,
        aspect=Aspect(
            ("place of birth", "date of birth", "occupation", "number of children")[number]
        ),
    )


def answer(name: str, text: str, form: str = "short", problem: str | None = None) -> Generation:
    return Generation(request=ask("?"), id=name, text=text, form=form, problem=problem)


def test_grade_keeps_the_order_of_items_and_questions() -> None:
    every = tuple(question(i) for i in range(4))
    items = [
        Item(answer("a", "Ripley"), every[:1]),
        Item(answer("b", "She was a singer born in Ripley.", "long"), every),
        Item(answer("c", "I don't know."), every[1:2]),
    ]
    verdicts = RulesJudge().grade(items)
    assert [(v.target, v.asked) for v in verdicts] == [
        ("a", "q0"),
        ("b", "q0"),
        ("b", "q1"),
        ("b", "q2"),
        ("b", "q3"),
        ("c", "q1"),
    ]
    assert [v.value for v in verdicts] == [
        "correct",
        "correct",
        "omitted",
        "correct",
        "omitted",
        "uncertain",
    ]
    assert {v.by for v in verdicts} == {RulesJudge.signature}


@pytest.mark.parametrize(
    ("problem", "expected"),
    [("truncated", "truncated"), ("context", "failed"), ("timeout", "failed")],
)
def test_a_failed_generation_has_no_value(problem: str, expected: str) -> None:
    verdicts = RulesJudge().grade(
        [Item(answer("a", "", "long", problem), (question(0), question(1)))]
    )
    assert [(v.stance, v.content, v.value, v.problem) for v in verdicts] == [
        (None, None, None, expected)
    ] * 2


def test_a_cut_off_answer_is_judged_as_it_stands() -> None:
    (verdict,) = RulesJudge().grade(
        [Item(answer("a", "She was born in Ripley and then mo"), (question(0),))]
    )
    assert verdict.value == "correct"


def test_another_language_has_no_value() -> None:
    text = "Elle est née à Ripley, mais je ne suis pas sûr de la date."
    assert judge_rules(*PARTS[0], text).problem == "language"
    assert {v.problem for v in judge_rules_long(PARTS, text)} == {"language"}


def test_a_foreign_title_is_read_where_it_is_the_gold() -> None:
    title = "Les uns et les autres dans la nuit"
    assert judge_rules("Which film won?", [title], f"{title.upper()}.").content == "correct"
    assert judge_rules("Which film won?", ["Il buono e il brutto"], title).problem == "language"


def test_without_golds_a_committed_answer_is_unread() -> None:
    assert judge_rules("Where was she born?", [], "Ripley").problem == "unread"
    assert judge_rules("Where was she born?", [], "I don't know.").stance == "abstained"


@tabled
def test_the_answer_span_is_the_value(number: int, text: str, value: str) -> None:
    verdict = judge_rules(*PARTS[number], text)
    assert text[verdict.answer_start : verdict.answer_end] == value


@tabled
def test_a_gold_inside_a_refusal_is_no_answer(gold: str, text: str, stance: str) -> None:
    assert judge_rules("What is the subject of Data Wars?", [gold], text).stance == stance


def test_hints_of_the_aspect_help_to_find_its_sentence() -> None:
    item = Question(
        id="q",
        dataset="d",
        text="What did she do?",
        golds=(Gold("singer"),),
        entity="Mira Toll",
        aspect=Aspect("occupation"),
    )
    (verdict,) = RulesJudge().grade(
        [Item(answer("a", "She worked as a painter.", "long"), (item,))]
    )
    assert (verdict.stance, verdict.content) == ("committed", "incorrect")


def well_formed(verdict: Verdict, text: str) -> None:
    assert (verdict.stance is None) == (verdict.content is None) == (verdict.problem is not None)
    if verdict.stance in ("abstained", "refused_by_policy", "asked_back", "omitted"):
        assert verdict.content == "none"
        assert verdict.answer_start is None
    for low, high in (
        (verdict.start, verdict.end),
        (verdict.answer_start, verdict.answer_end),
    ):
        assert (low is None) == (high is None)
        if low is not None and high is not None:
            assert 0 <= low < high <= len(text)


@given(st.text(max_size=400))
def test_any_text_is_judged(text: str) -> None:
    for verdict in [judge_rules(*PARTS[1], text), *judge_rules_long(PARTS, text)]:
        well_formed(verdict, text)


@given(st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join))
def test_any_words_are_judged(text: str) -> None:
    for verdict in [judge_rules(*PARTS[0], text), *judge_rules_long(PARTS, text)]:
        well_formed(verdict, text)
    assert judge_rules(*PARTS[0], text) == judge_rules(*PARTS[0], text)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60), st.lists(st.text(max_size=30), max_size=4))
def test_any_question_and_golds_are_accepted(asked: str, golds: list[str]) -> None:
    well_formed(judge_rules(asked, golds, "I think it was Ripley in 1950."), "x" * 30)


@tabled
def test_a_long_text_is_judged(unit: str) -> None:
    text = (unit * 30_000)[:30_000]
    for verdict in [judge_rules(*PARTS[0], text), *judge_rules_long(PARTS, text)]:
        well_formed(verdict, text)


# ---- golds as people write them


def test_a_text_alone_is_one_gold() -> None:
    question, answer = "Where was Ada Lovelace born?", "London."
    listed = judge_rules(question, ["London"], answer)
    assert judge_rules(question, "London", answer) == listed
    assert judge_rules(question, Gold("London"), answer) == listed
    assert listed.value == "correct"
    long = judge_rules_long([(question, "London")], "Ada Lovelace was born in London.")
    assert [verdict.value for verdict in long] == ["correct"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: judge_rules("Where?", None, "London"), "golds are None; expected a text or a li"),
        (lambda: judge_rules("When?", [1815], "1815"), "a gold is 1815; expected a text"),
        (lambda: judge_rules("When?", "1815", None), "answer is None; expected a text"),
        (lambda: judge_rules(None, "1815", "1815"), "question is None; expected a text"),
        (lambda: judge_rules_long(("Where?", "London"), "x"), r"a part is 'Where\?'"),
        (lambda: judge_rules_long([5], "x"), "a part is 5; expected a list of pairs"),
        (lambda: judge_rules_long([("Where?", "London")], 5), "paragraph is 5; expected a text"),
    ],
)
def test_what_is_no_text_is_refused_in_one_line(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()

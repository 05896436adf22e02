"""Answers that give no value, and their nearest neighbors that do: stance, and where it stands."""

from __future__ import annotations

import pytest

from sayso.judges.contradiction import relate
from sayso.judges.english.wrapping import unwrapped
from sayso.judges.judge import WITHHELD
from sayso.judges.rules.judge import judge_rules, judge_rules_long
from support.tables import tabled

MAKER = ("Who designed the Alder Bridge?", "Mara Voss")
NOWHERE = ("What is the capital of Velmoria?", "Tessin")


@tabled
def test_an_answer_without_a_value_and_its_neighbor(
    asked: tuple[str, str], silent: str, told: str
) -> None:
    verdict = judge_rules(*asked, silent)
    assert (verdict.stance in WITHHELD, verdict.content) == (True, "none")
    verdict = judge_rules(*asked, told)
    assert (verdict.stance, verdict.content) == ("committed", "correct")


@tabled
def test_a_value_beside_a_denial_of_certainty_is_hedged(
    asked: tuple[str, str], answer: str
) -> None:
    verdict = judge_rules(*asked, answer)
    assert (verdict.stance, verdict.content) == ("hedged", "correct")


#: questions of each kind, with a gold
ASKED = (
    ("Who runs the ferry?", "Ada Bo"),
    ("Where does the ferry start?", "Vaasa"),
    ("When was the ferry built?", "1998"),
    ("How long is the ferry?", "60 m"),
    ("Does the ferry run on Sundays?", "yes"),
)


@tabled
@pytest.mark.parametrize("asked", [NOWHERE, ("What is the motto of Velmoria?", "Onward")])
def test_doubt_as_a_predicate_of_what_is_asked(asked: tuple[str, str], predicate: str) -> None:
    subject = asked[0].removeprefix("What is ").removesuffix("?").capitalize()
    assert judge_rules(*asked, f"{subject} is {predicate}.").stance in WITHHELD


@tabled
def test_what_is_no_silence(question: str, gold: str, answer: str) -> None:
    verdict = judge_rules(question, gold, answer)
    assert verdict.stance == "committed"
    assert (verdict.certainty or 0) > 0.4


def test_a_thought_that_never_ends_is_no_answer() -> None:
    assert judge_rules(*MAKER, "<think>\nMara Voss, I believe. Or was it").stance == "omitted"
    assert judge_rules_long([MAKER], "<think>Mara Voss did")[0].stance == "omitted"


def test_places_are_those_of_the_text_as_written() -> None:
    text = "<think>It was Ada.</think>I think it was Mara Voss."
    verdict = judge_rules(*MAKER, text)
    assert text[verdict.start : verdict.end] == "I think it was Mara Voss."
    assert text[verdict.answer_start : verdict.answer_end] == "Mara Voss"
    text = '{"why": "a\\"b", "answer": "caf\\u00e9 \\ud83d\\ude00, \\"by\\" Mara Voss"}'
    verdict = judge_rules(*MAKER, text)
    assert text[verdict.answer_start : verdict.answer_end] == "Mara Voss"
    (long,) = judge_rules_long(
        [MAKER], f"<think>Hm.</think>{'It spans the Alder. ' * 2}{MAKER[1]} designed it."
    )
    assert (long.answer_start or 0) > len("<think>Hm.</think>")


@tabled
def test_the_answer_in_json(text: str, said: str | None) -> None:
    assert unwrapped(text).split.text == (text if said is None else said)


def test_json_without_end_is_a_text() -> None:
    assert unwrapped('{"a": ' * 3000).split.text == '{"a": ' * 3000


def test_draws_in_json_are_compared_by_their_values() -> None:
    question = MAKER[0]
    assert relate(question, '{"answer": "Mara Voss"}', "Mara Voss designed the bridge.") == "same"
    assert relate(question, '{"answer": "Ada Bo"}', "Mara Voss designed the bridge.") == "apart"
    assert relate(question, '{"answer": null}', "Mara Voss designed the bridge.") is None


@tabled
def test_what_prompts_ask_for_instead_of_an_answer(text: str) -> None:
    for question, gold in ASKED:
        assert judge_rules(question, gold, text).stance in WITHHELD, question


@tabled
def test_searches_and_sources_that_give_nothing(text: str) -> None:
    for question, gold in ASKED[:3]:
        assert judge_rules(question, gold, text).stance in WITHHELD, question


@tabled
def test_an_answer_beside_what_a_source_leaves_out(question: str, gold: str, text: str) -> None:
    assert judge_rules(question, gold, text).stance == "committed"


@tabled
def test_a_stated_confidence_decides_the_stance(text: str, stance: str) -> None:
    verdict = judge_rules("Where does the ferry start?", "Vaasa", text)
    assert (verdict.stance, verdict.content) == (stance, "correct")


def test_the_confidence_of_another_sentence_says_nothing_of_this_one() -> None:
    text = "The ferry starts in Vaasa [95%]. It was built in 1998 [40%]."
    parts = [("Where does the ferry start?", "Vaasa"), ("When was the ferry built?", "1998")]
    assert [v.stance for v in judge_rules_long(parts, text)] == ["committed", "hedged"]

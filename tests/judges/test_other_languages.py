"""Silence in other languages is read by set phrases; what else they say has no verdict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sayso import judge_rules, judge_rules_long
from sayso.judges.claims import unresponsive
from sayso.judges.contradiction import answers
from sayso.judges.english.lexicon import judge_data
from sayso.judges.english.other_languages import frequent_words, plain, silent_elsewhere
from sayso.protocols.faithfulness.verdicts import RulesWording
from support.tables import tabled

QUESTION = "Where was Ada Bo born?"
WRITTEN = Path(__file__).parents[2] / "benchmarks" / "data" / "silence_languages.jsonl"


@tabled
def test_silence_is_abstained(text: str) -> None:
    verdict = judge_rules(QUESTION, "Arles", text)
    assert (verdict.stance, verdict.content, verdict.problem) == ("abstained", "none", None)
    assert text[verdict.start : verdict.end] == text
    assert judge_rules_long([(QUESTION, "Arles")], text)[0].stance == "abstained"
    assert RulesWording().read([(QUESTION, text)])[QUESTION, text] == ((), None)
    assert not answers(QUESTION, text)
    assert unresponsive(text) is not None


@tabled
def test_values_and_hedges_have_no_verdict(text: str) -> None:
    verdict = judge_rules(QUESTION, "Arles", text)
    assert (verdict.stance, verdict.problem) == (None, "language")
    assert answers(QUESTION, text)
    assert unresponsive(text) is None


@tabled
def test_an_answer_that_is_a_gold_is_read(gold: str, text: str) -> None:
    verdict = judge_rules("What is it called?", gold, text)
    assert (verdict.stance, verdict.content) == ("committed", "correct")


@tabled
def test_another_title_in_another_language_is_wrong(gold: str, text: str) -> None:
    verdict = judge_rules("What is it called?", gold, text)
    assert (verdict.stance, verdict.content) == ("committed", "incorrect")


@pytest.mark.parametrize(
    ("gold", "problem"), [("Moscow", "language"), ("\u0420\u0438\u0433\u0430", None)]
)
def test_names_are_read_in_the_script_of_a_gold(gold: str, problem: str | None) -> None:
    assert judge_rules(QUESTION, gold, "\u041c\u043e\u0441\u043a\u0432\u0430").problem == problem


def test_nobody_who_does_not_know_is_read_as_committed() -> None:
    rows = [json.loads(line) for line in WRITTEN.read_text(encoding="utf-8").splitlines()]
    assert len({row["language"] for row in rows}) >= 30
    for row in rows:
        verdict = judge_rules(QUESTION, "Arles", row["text"])
        assert verdict.problem == "language" or verdict.stance == "abstained", row


def test_each_phrase_of_the_table_is_silence_and_has_a_source() -> None:
    head, *rows = judge_data("other_languages.tsv").decode("utf-8").splitlines()
    assert head == "language\tkind\tchecked against\tphrases"
    for row in rows:
        language, kind, source, phrases = row.split("\t")
        assert kind in ("silence", "neutral", "first", "inside", "words", "particles", "months"), (
            row
        )
        assert source, row
        assert phrases, row
        for phrase in phrases.split(" | ") if kind == "silence" else ():
            assert silent_elsewhere(phrase), (language, phrase)


def test_frequent_words_are_none_of_english() -> None:
    for words in frequent_words():
        assert not words & {"van", "a", "an", "the", "is", "not", "million"}


def test_accents_vowel_signs_and_invisible_characters_do_not_count() -> None:
    assert plain("N\u00c3O S\u0119i \u0130\u0131\u0142 a\u200cb") == "nao sei iil ab"


@tabled
def test_words_that_a_question_asks_for_are_read(question: str, text: str) -> None:
    assert judge_rules(question, "something else", text).stance == "committed"


@tabled
def test_more_than_a_gold_in_another_script_has_no_verdict(gold: str, text: str) -> None:
    assert judge_rules("Who wrote it?", gold, text).problem == "language"


@tabled
def test_a_year_beside_a_month_of_another_language_is_not_read(text: str) -> None:
    question, gold = "When did the war end?", "1945-05-08T00:00:00Z"
    assert judge_rules(question, gold, text).problem == "language"
    assert judge_rules(question, "8. Juni 1945", "8. Juni 1945").content == "correct"
    assert judge_rules_long([(question, gold)], text)[0].problem == "language"


@tabled
def test_a_year_beside_other_words_is_read(text: str) -> None:
    verdict = judge_rules("When did the war end?", "1945-05-08T00:00:00Z", text)
    assert (verdict.stance, verdict.content) == ("committed", "correct")


@pytest.mark.parametrize(
    ("gold", "text"), [("גתה", "שילר"), ("गोएथे", "शिलर"), ("歌德", "席勒"), ("เกอเทอ", "ชิลเลอร์")]
)
def test_another_name_without_capitals_is_wrong(gold: str, text: str) -> None:
    """Else right answers alone would be read."""
    found = judge_rules("Who wrote it?", gold, text)
    assert (found.stance, found.content) == ("committed", "incorrect")
    assert judge_rules("Who wrote it?", gold, gold).content == "correct"

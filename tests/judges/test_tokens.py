"""Words as they are compared, with the places where they stood."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.answers.lexical import _remembered_references, squad_f1
from sayso.judges.contradiction import contradicts
from sayso.judges.decisiveness import decisiveness, seen_plainly
from sayso.judges.english.quantities import find_quantities
from sayso.judges.english.sentences import plain_text
from sayso.judges.english.tokens import (
    ALPHANUMERIC,
    HYPHENATED,
    SIGNS,
    content,
    forget_texts,
    plain_plural,
    seen,
    tokens,
    uninflected,
)
from sayso.judges.meaning import equivalent
from sayso.judges.rules.judge import judge_rules
from sayso.judges.rules.reading import load_weights
from support.tables import tabled


@tabled
def test_words_are_compared_in_one_form(text: str, words: list[str]) -> None:
    assert [t.text for t in tokens(text)] == words


@given(st.text(max_size=120))
def test_tokens_stand_where_they_say(text: str) -> None:
    for token in tokens(text):
        assert text[token.start : token.end] == token.raw


@tabled
def test_inflection_is_taken_off(word: str, stem: str) -> None:
    assert uninflected(word) == stem


def test_a_plural_alone_is_taken_off() -> None:
    assert [plain_plural(w) for w in ("churches", "cities", "names")] == ["church", "city", "name"]
    assert [plain_plural(w) for w in ("glass", "bus", "painted")] == ["glass", "bus", "painted"]


def test_content_is_what_is_no_function_word() -> None:
    assert [t.text for t in content(tokens("the cat of Rome"))] == ["cat", "rome"]
    assert [t.text for t in content(tokens("to be"))] == ["to", "be"]


def test_words_as_they_are_written() -> None:
    text = "Rock-'n'-roll isn’t well-known_"
    assert HYPHENATED.findall(text) == ["Rock", "n", "roll", "isn’t", "well-known"]
    assert ALPHANUMERIC.findall("isn’t 3-4") == ["isn", "t", "3", "4"]


def test_signs_mean_the_same_to_every_reader() -> None:
    text = "“It’s” – *1′*"
    assert seen(text) == "\"It's\" – *1'*"
    assert plain_text(text) == "\"It's\" –  1' "
    assert seen_plainly(text) == "\"It's\" - *1'*"
    assert {len(sign) for sign in SIGNS.values()} == {1}


@pytest.mark.parametrize("sign", "'’‘‛ʼ′ʹˈ´`＇")
def test_any_apostrophe_denies(sign: str) -> None:
    (token,) = tokens(f"isn{sign}t")
    assert token.text == "isnt"
    said = f"It wasn{sign}t Ada Bo."
    assert judge_rules("Who wrote it?", "Ada Bo", said).content == "incorrect"
    assert judge_rules("Who wrote it?", "Ada Bo", f"It isn{sign}t known.").stance == "abstained"
    assert decisiveness(f"I don{sign}t know.") is None
    one, two = "It was Ada Bo.", f"It wasn{sign}t Ada Bo."
    assert contradicts("Was it Ada Bo?", one, two)


@tabled
def test_what_is_not_shown_is_no_answer(text: str) -> None:
    verdict = judge_rules("Who wrote it?", ["Ada Bo"], text)
    assert (verdict.stance, verdict.content) == ("committed", "incorrect")
    right = judge_rules("Who wrote it?", ["Cy Do"], text)
    assert right.content == "correct"
    assert text[right.answer_start : right.answer_end] == "Cy Do"


def test_letters_of_other_widths_and_signs_without_any_are_read() -> None:
    for text in ("Ａｄａ Ｂｏ", "A\u200bda Bo\ufeff", "Ad\u00ada\u00a0Bo"):
        verdict = judge_rules("Who wrote it?", "Ada Bo", text)
        assert verdict.content == "correct"
        assert text[verdict.answer_start : verdict.answer_end].startswith(text[0])
    assert judge_rules("Who wrote it?", "Ada Bo", "<!-- Ada Bo -->").stance == "omitted"


def test_an_address_is_an_answer_where_one_is_asked_for() -> None:
    question, address = "Where is the page?", "https://example.org/page"
    assert judge_rules(question, address, f"It is at {address}.").content == "correct"
    assert judge_rules(question, "example.org", f"See {address}.").content == "correct"
    assert seen(address) == address


# ---- what the rules remember of texts can be let go, and comes back when asked again


def test_every_memory_is_emptied_and_nothing_changes() -> None:
    before = equivalent("When was she born?", "12 May 1985", "1985-05-12")
    assert equivalent.cache_info().currsize
    assert find_quantities.cache_info().currsize
    weights = load_weights("stance")
    squad_f1(["12 May 1985", "May 12"], "in 1985")
    assert _remembered_references.cache_info().currsize
    forget_texts()
    assert _remembered_references.cache_info().currsize == 0
    assert load_weights("stance") is weights  # is no text
    assert equivalent.cache_info().currsize == 0
    assert find_quantities.cache_info().currsize == 0
    assert equivalent("When was she born?", "12 May 1985", "1985-05-12") == before

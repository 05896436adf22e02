"""Words as they are compared, with the places where they stood."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sayso.judges.english.quantities import find_quantities
from sayso.judges.english.sentences import plain_text
from sayso.judges.english.tokens import (
    ALPHANUMERIC,
    HYPHENATED,
    comparable,
    content,
    fold,
    forget_texts,
    plain_marks,
    plain_plural,
    roman,
    tokens,
    unaccented,
    uninflected,
)
from sayso.judges.meaning import equivalent
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


def test_roman_numerals_are_in_capitals_and_of_several_letters() -> None:
    assert [roman(w) for w in ("XIV", "XL", "IX", "I", "xiv", "MIX")] == [
        14,
        40,
        9,
        None,
        None,
        None,
    ]


def test_accents() -> None:
    assert unaccented("Café Łódź, ø") == "Cafe Łodz, ø"
    assert fold("Łódź") == "lodz"
    assert fold("O’Brien's") == "obrien"
    assert comparable("21st") == "21"


def test_content_is_what_is_no_function_word() -> None:
    assert [t.text for t in content(tokens("the cat of Rome"))] == ["cat", "rome"]
    assert [t.text for t in content(tokens("to be"))] == ["to", "be"]


def test_words_as_they_are_written() -> None:
    text = "Rock-'n'-roll isn’t well-known_"
    assert HYPHENATED.findall(text) == ["Rock", "n", "roll", "isn’t", "well-known"]
    assert ALPHANUMERIC.findall("isn’t 3-4") == ["isn", "t", "3", "4"]


def test_readers_take_typographic_characters_differently() -> None:
    text = "“It’s” – *1′*"
    assert "a—b\u00a0„c‟".translate(plain_marks("decisiveness")) == 'a-b "c‟'
    assert text.translate(plain_marks("sentences")) == '"It\'s" –  1′ ' == plain_text(text)
    assert text.translate(plain_marks("decisiveness")) == "\"It's\" - *1'*"
    assert text.translate(plain_marks("claims")) == '"It\'s" – *1′*'
    assert text.translate(plain_marks("self_judgement")) == "“It's” – *1′*"
    for reader in ("sentences", "decisiveness", "claims", "self_judgement"):
        assert {len(plain) for plain in plain_marks(reader).values()} == {1}


# ---- what the rules remember of texts can be let go, and comes back when asked again


def test_every_memory_is_emptied_and_nothing_changes() -> None:
    before = equivalent("When was she born?", "12 May 1985", "1985-05-12")
    assert equivalent.cache_info().currsize
    assert find_quantities.cache_info().currsize
    weights = load_weights("stance")
    forget_texts()
    assert load_weights("stance") is weights  # is no text
    assert equivalent.cache_info().currsize == 0
    assert find_quantities.cache_info().currsize == 0
    assert equivalent("When was she born?", "12 May 1985", "1985-05-12") == before

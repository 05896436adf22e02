"""Answers that decline, by the paper's phrases (PROTOCOLS 4.A.2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.judges.claims import PHRASES, unresponsive


def test_the_eleven_phrases_of_the_paper_anywhere_and_in_any_case() -> None:
    assert len(PHRASES) == 11
    for phrase in PHRASES:
        assert unresponsive(f"Well, {phrase.upper()} more.") == phrase


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don’t have any information on her.", "i don't have"),  # a curly quote
        ("I  do\nnot have it.", "i do not have"),  # white space is one
        ("", "empty"),
        (" \n", "empty"),
        ("Mira Toll is a poet.", None),
        ("He said: I doubt it.", None),
        ("Unfortunately, there was no sequel.", None),
    ],
)
def test_by_hand(text: str, expected: str | None) -> None:
    assert unresponsive(text) == expected


def test_a_phrase_inside_a_good_answer_still_counts_as_the_paper_has_it() -> None:
    # a known weakness of the filter: it looks anywhere
    assert unresponsive('Her song "I Do Not Have a Dog" was a hit.') == "i do not have"


@given(st.text(max_size=80))
def test_any_text_is_a_phrase_empty_or_none(text: str) -> None:
    assert unresponsive(text) in (*PHRASES, "empty", None)

"""English running text and language-neutral answers pass; other languages do not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sayso.judges.english.language import is_english
from support.tables import tabled


@tabled
def test_english_and_neutral(text: str) -> None:
    assert is_english(text)


@tabled
def test_other_languages(text: str) -> None:
    assert not is_english(text)


@given(st.text(max_size=300))
def test_never_raises(text: str) -> None:
    assert is_english(text) in (True, False)

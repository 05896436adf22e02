"""Cutting: nothing is lost, nothing is above the limit, and cuts fall where sentences end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.retrieval import passages
from sayso.retrieval.passages import clean_passage, count_tokens, cut_passages

PIECES = st.sampled_from(
    (
        "a", "Bc", "1", "_", " ", "  ", "\n", ".", ". ", "! ", '?" ', "J. ", "Dr. ", "é", "日",
        "本", "。", "\u3000", "-", "'", "x" * 70, "…", "\u0301", "ü. ", "\U0001f600",
        "\U00020000", "ไท",
    )
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=80).map("".join)


def _joined(text: str) -> str:
    return "".join(text.split())


@given(TEXTS | st.text(), st.integers(1, 12), st.sampled_from([passages.WINDOW, 16]))
def test_pieces_hold_every_character_and_stay_below_the_limit(
    text: str, limit: int, window: int
) -> None:
    text, _ = clean_passage(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passages, "WINDOW", window)
        pieces = cut_passages(text, limit)
    assert "".join(_joined(piece) for piece in pieces) == _joined(text)
    assert all(0 < count_tokens(piece) <= limit for piece in pieces)
    assert all(piece == piece.strip() for piece in pieces)


@given(TEXTS | st.text())
def test_the_quick_count_is_the_count_of_the_expression(text: str) -> None:
    found = passages.TOKEN.findall(text)
    assert count_tokens(text) == passages._begun_before(text)[-1] == len(found)


def test_cuts_fall_behind_sentences() -> None:
    # six tokens each, the full stop counted: two fit into 13, a third does not
    text = "One two three four five. Two two three four five! Three two three four five?"
    assert cut_passages(text, 13) == [
        "One two three four five. Two two three four five!",
        "Three two three four five?",
    ]


def test_no_cut_behind_initials_and_abbreviations() -> None:
    # 9 tokens up to "J.", 10 up to "R."; the sentence before ends after 4
    text = "He met them. Then Dr. J. R. Smith spoke to all of them there."
    assert next(piece for piece in cut_passages(text, 12)) == "He met them."


def test_a_line_is_an_end_and_a_number_is_none() -> None:
    assert cut_passages("one two\nthree four", 3) == [
        "one two",
        "three four",
    ]
    assert next(piece for piece in cut_passages("It cost 3.5 or 4.5 then.", 6)).endswith("or")


def test_a_long_sentence_is_cut_between_words_and_a_long_word_between_tokens() -> None:
    assert cut_passages("aa bb cc dd ee", 2) == ["aa bb", "cc dd", "ee"]
    # a-b-c-d-e has nine tokens and no space
    assert cut_passages("aa a-b-c-d-e bb", 4) == [
        "aa",
        "a-b-",
        "c-d-",
        "e bb",
    ]
    assert cut_passages("x" * 150, 1) == ["x" * 64, "x" * 64, "x" * 22]


def test_scripts_without_spaces_are_counted_by_character() -> None:
    assert count_tokens("日本語。") == 4
    assert cut_passages("日本語。東京。", 4) == ["日本語。", "東京。"]


def test_cleaning_counts_what_it_changes() -> None:
    assert clean_passage("plain\ttext\nwith é") == ("plain\ttext\nwith é", False)
    assert clean_passage("a\r\nb") == ("a\nb", False)
    assert clean_passage("a\x00b\x1b[31m\x85") == ("a b [31m ", True)
    assert clean_passage("x\ud800y\udfff") == ("x\ufffdy\ufffd", True)


def test_a_large_text_is_cut_window_by_window() -> None:
    text = "word " * 500_000  # 2.5 million characters
    pieces = cut_passages(text, 256)
    assert sum(map(count_tokens, pieces)) == 500_000
    # three windows, each with at most one piece that is not full
    assert len(pieces) <= 500_000 / 256 + 3

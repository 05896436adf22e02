"""Thoughts in texts: closed, open, nested, of every family of models, and none at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.prompts.thoughts import THOUGHTS, Split, split_thoughts, strip_thinking
from support.effort import seconds
from support.tables import tabled


@pytest.mark.parametrize(
    ("text", "left", "thoughts", "closed"),
    [
        ("plain", "plain", (), True),
        ("2 < 3 and [1]", "2 < 3 and [1]", (), True),
        ("<think>a</think>\n\nParis", "\n\nParis", ("a",), True),
        ("<THINK>a</Think>Paris", "Paris", ("a",), True),
        ("<think>a</think><think>b</think>Paris", "Paris", ("a", "b"), True),
        ("Paris <think>or not</think> in France", "Paris  in France", ("or not",), True),
        ("a\n</think>\nParis", "\nParis", ("a",), True),
        ("<think>a", "", ("a",), False),
        ("Paris.\n<reasoning>a", "Paris.\n", ("a",), False),
        ("<think>a</think>Paris\n<think>b", "Paris\n", ("a", "b"), False),
        ("<think>a<think>b</think>c</think>Paris", "Paris", ("a<think>b", "c"), True),
        ("<think>[THINK]a</think>Paris", "Paris", ("[THINK]a",), True),
        ("<think></think>Paris", "Paris", ("",), True),
        ("<|begin_of_thought|>a<|end_of_thought|>Paris", "Paris", ("a",), True),
        ("◁think▷a◁/think▷Paris", "Paris", ("a",), True),
    ],
)
def test_thoughts_are_taken_out(
    text: str, left: str, thoughts: tuple[str, ...], closed: bool
) -> None:
    split = split_thoughts(text)
    assert (split.text, split.thoughts, split.closed) == (left, thoughts, closed)
    assert "".join(text[split.place(at)] for at in range(len(left))) == left


@pytest.mark.parametrize(("opening", "closing"), THOUGHTS)
def test_the_marks_of_every_family(opening: str, closing: str) -> None:
    assert split_thoughts(f"{opening}a{closing}Paris").text == "Paris"
    assert split_thoughts(f"a{closing}Paris").text == "Paris"
    assert split_thoughts(f"a{closing}Paris").implicit
    unended = split_thoughts(f"{opening}a")
    assert (unended.text, unended.closed) == ("", False)


def test_a_thought_that_the_template_opened_is_told() -> None:
    assert split_thoughts("a</think>b").implicit
    assert not split_thoughts("<think>a</think>b").implicit
    assert not split_thoughts("<think>a</think>b</think>c").implicit


def test_in_the_reply_of_a_judge_marks_stand_at_the_beginning_of_a_line() -> None:
    quoted = "it quotes <think> and </think> inside a line"
    assert split_thoughts(quoted, lines=True).text == quoted
    assert split_thoughts("a\n<think>b</think>c", lines=True).text == "a\nc"


@tabled
def test_a_closing_mark_alone_ends_a_thought_wherever_it_stands(text: str, left: str) -> None:
    assert split_thoughts(text).text == strip_thinking(text)[0] == left
    assert split_thoughts(text).implicit


@tabled
def test_marks_that_a_sentence_speaks_of_take_nothing(text: str) -> None:
    assert split_thoughts(text) == Split(text)
    assert strip_thinking(text) == (text, True)
    assert split_thoughts(f"<think>hm</think>{text}").text == text


@pytest.mark.parametrize("piece", ["</think>", "`</think>", "a </think> a", '"<think> a </think>'])
def test_time_grows_with_the_text(piece: str) -> None:
    assert seconds(lambda: split_thoughts((piece * 50_000)[:50_000]), enough=0.2) < 0.2


@given(st.lists(st.sampled_from(["<think>", "</think>", "[THINK]", "[/THINK]", "a", "\n", " "])))
def test_nothing_is_left_to_take_out(pieces: list[str]) -> None:
    left = split_thoughts("".join(pieces)).text
    assert split_thoughts(left).text == left
    assert set(left) <= set("".join(pieces))


def test_a_mark_that_a_sentence_speaks_of_takes_nothing() -> None:
    text = "Use the <think> tag to reason. Paris is the capital."
    assert split_thoughts(text) == Split(text)
    assert split_thoughts("Paris.\n<think>Or Lyon?").text == "Paris.\n"


@tabled
def test_programs_tell_thoughts_in_plain_words(text: str, left: str, thought: str) -> None:
    split = split_thoughts(text)
    assert (split.text.strip(), split.thoughts, split.closed) == (left, (thought,), True)
    assert "".join(text[split.place(at)] for at in range(len(split.text))) == split.text


@tabled
def test_a_text_that_speaks_of_thinking_is_no_thought(text: str) -> None:
    assert split_thoughts(text) == Split(text)


def test_a_channel_without_marks_that_never_ends() -> None:
    split = split_thoughts("analysisWe need the seat of the court. Perhaps")
    assert (split.text, split.closed) == ("", False)


@tabled
def test_tokens_of_a_template_end_an_answer(text: str, left: str) -> None:
    split = split_thoughts(text)
    assert split.text.strip() == left
    assert "".join(text[split.place(at)] for at in range(len(split.text))) == split.text
    assert strip_thinking(text) == (text, True)

"""From token ids to text: offsets, stop strings, thoughts."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import make_tokenizer
from sayso.engines.hf.text import THOUGHTS, Detokenizer, read_answer, stops_here

PLAIN = Detokenizer(make_tokenizer())
#: "<think>" as an ordinary added token (Qwen) and as a special one that decoding leaves out.
ADDED = make_tokenizer()
ADDED.add_tokens(["<think>", "</think>"])
SPECIAL = make_tokenizer(marks=("<think>", "</think>"))
SPECIAL.add_special_tokens({"additional_special_tokens": ["<think>", "</think>"]})
KINDS = {"text": PLAIN, "added": Detokenizer(ADDED), "special": Detokenizer(SPECIAL)}
FIRST = THOUGHTS[0]


def spaced_tokenizer() -> Any:
    """A tokenizer like Llama 2's: a text's first space is not written out."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.BPE(unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    inner.decoder = decoders.Metaspace(prepend_scheme="first")
    trainer = trainers.BpeTrainer(
        vocab_size=60, special_tokens=["<unk>", "</s>"], show_progress=False
    )
    inner.train_from_iterator(["it was the old bridge and the bell tower </think>"] * 3, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="<unk>", eos_token="</s>")


SPACED = Detokenizer(spaced_tokenizer())


@pytest.mark.parametrize(
    ("text", "words"),
    [("it was the bridge", ["it", "was", "the", "bridge"]), ("the tower", ["the", "tower"])],
)
def test_offsets_where_the_first_space_is_not_written(text: str, words: list[str]) -> None:
    tokens = ids(SPACED, text)
    assert SPACED.decode(tokens) == text
    starts = SPACED.offsets(tokens, text)
    for word in words:  # a token begins at each word, or at the space before it
        at = text.index(word)
        assert at in starts or at - 1 in starts
    assert starts == sorted(starts)


def test_an_answer_behind_a_thought_where_the_first_space_is_not_written() -> None:
    answer = read_answer(SPACED, ids(SPACED, "<think> it </think> the old bell"), ["bell"], None)
    assert (answer.text, answer.thinking) == ("the old ", "it")


def ids(detokenizer: Detokenizer, text: str) -> list[int]:
    return list(detokenizer.tokenizer(text, add_special_tokens=False)["input_ids"])


@given(st.text(max_size=40))
@settings(max_examples=200, deadline=None)
def test_offsets_say_where_tokens_begin(text: str) -> None:
    tokens = ids(PLAIN, text)
    decoded = PLAIN.decode(tokens)
    starts = PLAIN.offsets(tokens, decoded)
    assert len(starts) == len(tokens)
    assert starts == sorted(starts)
    for place, start in enumerate(starts):
        # what stands before a token is what the tokens before it say, a half character left out
        assert decoded[:start] == PLAIN.decode(tokens[:place]).rstrip("\ufffd") or "\ufffd" in text


@given(st.lists(st.integers(5, 379), max_size=30))
@settings(max_examples=100, deadline=None)
def test_offsets_of_any_ids_stay_inside_the_text(tokens: list[int]) -> None:
    decoded = PLAIN.decode(tokens)
    starts = PLAIN.offsets(tokens, decoded)
    assert starts == sorted(starts)
    assert all(0 <= start <= len(decoded) for start in starts)


@given(
    st.text(st.sampled_from("abc .\n"), max_size=30),
    st.lists(st.text(st.sampled_from("abc .\n"), min_size=1, max_size=3), max_size=3),
)
@settings(max_examples=300, deadline=None)
def test_the_text_ends_before_the_first_stop_string(text: str, stops: list[str]) -> None:
    tokens = ids(PLAIN, text)
    answer = read_answer(PLAIN, tokens, stops, None)
    ends = [text.find(s) for s in stops if s in text]
    assert answer.text == (text[: min(ends)] if ends else text)
    assert answer.stopped == bool(ends)
    assert answer.last == len(answer.offsets)
    assert all(start < len(answer.text) for start in answer.offsets)
    grown = [stops_here(PLAIN, tokens[: n + 1], stops, None) for n in range(len(tokens))]
    assert any(grown) == bool(ends)


def test_empty_stop_strings_stop_nothing() -> None:
    assert read_answer(PLAIN, ids(PLAIN, "abc"), [""], None).text == "abc"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("space", ["", "\n\n", " "])
def test_a_thought_is_separated(kind: str, space: str) -> None:
    detokenizer = KINDS[kind]
    tokens = ids(detokenizer, f"<think>\nIt may be 1902.\n</think>{space}It was 1871.")
    answer = read_answer(detokenizer, tokens, ["1902"], None)
    assert (answer.text, answer.thinking) == ("It was 1871.", "It may be 1902.")
    assert not answer.unclosed
    assert not answer.stopped
    assert detokenizer.decode(tokens[answer.first : answer.last]).strip() == "It was 1871."
    assert answer.offsets[0] == 0
    assert 0 < (answer.thinking_tokens or 0) < len(tokens) - len(answer.offsets)


@pytest.mark.parametrize("kind", KINDS)
def test_a_thought_that_the_prompt_opened(kind: str) -> None:
    detokenizer = KINDS[kind]
    answer = read_answer(detokenizer, ids(detokenizer, "hm, 1902?</think>1871"), [], FIRST)
    assert (answer.text, answer.thinking, answer.unclosed) == ("1871", "hm, 1902?", False)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("opened", [None, FIRST])
def test_an_unclosed_thought_has_no_answer(kind: str, opened: Any) -> None:
    detokenizer = KINDS[kind]
    said = "I wonder" if opened else "<think>I wonder"
    answer = read_answer(detokenizer, ids(detokenizer, said), [], opened)
    assert (answer.text, answer.thinking, answer.unclosed) == ("", "I wonder", True)
    assert answer.offsets == ()


def test_an_answer_that_only_mentions_the_mark_has_no_thought() -> None:
    said = "Write <think> first and </think> last."
    answer = read_answer(PLAIN, ids(PLAIN, said), [], None)
    assert (answer.text, answer.thinking, answer.thinking_tokens) == (said, None, None)


def test_an_empty_thought() -> None:
    answer = read_answer(PLAIN, ids(PLAIN, "<think>\n\n</think>\n\nYes"), [], None)
    assert (answer.text, answer.thinking) == ("Yes", "")


@pytest.mark.parametrize("kind", KINDS)
@given(
    thought=st.text(st.sampled_from("abé<>/ \n"), max_size=20),
    said=st.text(st.sampled_from("abé<>/ \n"), max_size=20),
)
@settings(max_examples=100, deadline=None)
def test_thought_and_answer_never_mix(kind: str, thought: str, said: str) -> None:
    detokenizer = KINDS[kind]
    tokens = ids(detokenizer, f"<think>{thought}</think>{said}")
    answer = read_answer(detokenizer, tokens, [], None)
    assert answer.thinking == thought.strip()
    assert answer.text == said.lstrip()
    assert len(answer.offsets) == answer.last - answer.first

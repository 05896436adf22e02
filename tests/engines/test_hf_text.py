"""Between texts and token ids: templates, prefills and pinned dates; offsets, stops, thoughts."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from hypothesis import given
from hypothesis import strategies as st

from conftest import CHAT, make_tokenizer
from sayso.engines.local.text import (
    PLAIN_STOP,
    Detokenizer,
    plain_prompt,
    render_prompt,
    renderer,
    stops_here,
    thought_and_answer,
)
from sayso.prompts.thoughts import THOUGHTS
from sayso.records import Message, Request, ask
from support.tables import tabled

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
    answer = thought_and_answer(
        SPACED, ids(SPACED, "<think> it </think> the old bell"), ["bell"], None
    )
    assert (answer.text, answer.thinking) == ("the old ", "it")


def ids(detokenizer: Detokenizer, text: str) -> list[int]:
    return list(detokenizer.tokenizer(text, add_special_tokens=False)["input_ids"])


@given(st.text(max_size=40))
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
def test_offsets_of_any_ids_stay_inside_the_text(tokens: list[int]) -> None:
    decoded = PLAIN.decode(tokens)
    starts = PLAIN.offsets(tokens, decoded)
    assert starts == sorted(starts)
    assert all(0 <= start <= len(decoded) for start in starts)


@given(
    st.text(st.sampled_from("abc .\n"), max_size=30),
    st.lists(st.text(st.sampled_from("abc .\n"), min_size=1, max_size=3), max_size=3),
)
def test_the_text_ends_before_the_first_stop_string(text: str, stops: list[str]) -> None:
    tokens = ids(PLAIN, text)
    answer = thought_and_answer(PLAIN, tokens, stops, None)
    ends = [text.find(s) for s in stops if s in text]
    assert answer.text == (text[: min(ends)] if ends else text)
    assert answer.stopped == bool(ends)
    assert answer.last == len(answer.offsets)
    assert all(start < len(answer.text) for start in answer.offsets)
    grown = [stops_here(PLAIN, tokens[: n + 1], stops, None) for n in range(len(tokens))]
    assert any(grown) == bool(ends)


def test_empty_stop_strings_stop_nothing() -> None:
    assert thought_and_answer(PLAIN, ids(PLAIN, "abc"), [""], None).text == "abc"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("space", ["", "\n\n", " "])
def test_a_thought_is_separated(kind: str, space: str) -> None:
    detokenizer = KINDS[kind]
    tokens = ids(detokenizer, f"<think>\nIt may be 1902.\n</think>{space}It was 1871.")
    answer = thought_and_answer(detokenizer, tokens, ["1902"], None)
    assert (answer.text, answer.thinking) == ("It was 1871.", "It may be 1902.")
    assert not answer.unclosed
    assert not answer.stopped
    assert detokenizer.decode(tokens[answer.first : answer.last]).strip() == "It was 1871."
    assert answer.offsets[0] == 0
    assert 0 < (answer.thinking_tokens or 0) < len(tokens) - len(answer.offsets)


@pytest.mark.parametrize("kind", KINDS)
def test_a_thought_that_the_prompt_opened(kind: str) -> None:
    detokenizer = KINDS[kind]
    answer = thought_and_answer(detokenizer, ids(detokenizer, "hm, 1902?</think>1871"), [], FIRST)
    assert (answer.text, answer.thinking, answer.unclosed) == ("1871", "hm, 1902?", False)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("opened", [None, FIRST])
def test_an_unclosed_thought_has_no_answer(kind: str, opened: Any) -> None:
    detokenizer = KINDS[kind]
    said = "I wonder" if opened else "<think>I wonder"
    answer = thought_and_answer(detokenizer, ids(detokenizer, said), [], opened)
    assert (answer.text, answer.thinking, answer.unclosed) == ("", "I wonder", True)
    assert answer.offsets == ()


def test_an_answer_that_only_mentions_the_mark_has_no_thought() -> None:
    said = "Write <think> first and </think> last."
    answer = thought_and_answer(PLAIN, ids(PLAIN, said), [], None)
    assert (answer.text, answer.thinking, answer.thinking_tokens) == (said, None, None)


@pytest.mark.parametrize("kind", KINDS)
def test_a_thought_behind_a_thought(kind: str) -> None:
    detokenizer = KINDS[kind]
    tokens = ids(detokenizer, "<think>a</think>\n<think>b</think>1871")
    answer = thought_and_answer(detokenizer, tokens, [], None)
    assert answer.text == "1871"
    assert not answer.unclosed
    tokens = ids(detokenizer, "<think>a</think>\n<think>b")
    answer = thought_and_answer(detokenizer, tokens, [], None)
    assert (answer.text, answer.unclosed) == ("", True)


def test_an_empty_thought() -> None:
    answer = thought_and_answer(PLAIN, ids(PLAIN, "<think>\n\n</think>\n\nYes"), [], None)
    assert (answer.text, answer.thinking) == ("Yes", "")


@pytest.mark.parametrize("kind", KINDS)
@given(
    thought=st.text(st.sampled_from("abé<>/ \n"), max_size=20),
    said=st.text(st.sampled_from("abé<>/ \n"), max_size=20),
)
def test_thought_and_answer_never_mix(kind: str, thought: str, said: str) -> None:
    detokenizer = KINDS[kind]
    tokens = ids(detokenizer, f"<think>{thought}</think>{said}")
    answer = thought_and_answer(detokenizer, tokens, [], None)
    assert answer.thinking == thought.strip()
    assert answer.text == said.lstrip()
    assert len(answer.offsets) == answer.last - answer.first


# ---- from a request to token ids


def conversation(*turns: tuple[str, str], **settings: Any) -> Request:
    return Request(tuple(Message(role, said) for role, said in turns), **settings)  # type: ignore[arg-type]


def test_a_chat_template_is_applied() -> None:
    found = render_prompt(make_tokenizer(), ask("Who?"))
    assert found.text == "<|user|>Who?<|end|><|assistant|>"
    assert found.overrides == ()
    assert found.stop == ()


def test_the_hash_names_the_prompt_and_nothing_else() -> None:
    tokenizer = make_tokenizer()
    same = render_prompt(tokenizer, ask("Who?", seed=4, sample=2, temperature=0.1, max_tokens=9))
    assert same.hash == render_prompt(tokenizer, ask("Who?")).hash
    assert same.hash != render_prompt(tokenizer, ask("Who")).hash
    assert len(same.hash) == 16


def test_a_prefill_stands_behind_the_prompt() -> None:
    found = render_prompt(make_tokenizer(), ask("Who?", prefill="It was"))
    assert found.text == "<|user|>Who?<|end|><|assistant|>It was"


def test_template_settings_reach_the_template() -> None:
    template = "{{ messages[0].content }}{% if enable_thinking %} think{% endif %}"
    request = ask("Who?", chat_template_kwargs=[("enable_thinking", True)])
    assert render_prompt(make_tokenizer(template), request).text == "Who? think"
    assert render_prompt(make_tokenizer(template), ask("Who?")).text == "Who?"


@pytest.mark.parametrize(
    "template",
    [
        "{{ strftime_now('%d %b %Y') }} {{ messages[0].content }}",
        "{{ date_string if date_string is defined else strftime_now('%d %b %Y') }} "
        "{{ messages[0].content }}",
    ],
)
def test_todays_date_is_pinned_and_said(template: str) -> None:
    found = render_prompt(make_tokenizer(template), ask("Who?"))
    assert found.text == "26 Jul 2024 Who?"
    assert found.overrides == ("date in the template pinned to 2024-07-26",)


def test_a_date_that_the_user_gives_is_used() -> None:
    template = "{{ date_string }} {{ messages[0].content }}"
    request = ask("Who?", chat_template_kwargs=[("date_string", "1 May 2030")])
    assert render_prompt(make_tokenizer(template), request).text == "1 May 2030 Who?"


@pytest.mark.parametrize("refusal", ["{{ raise_exception('no system') }}", "DROP"])
def test_a_system_message_that_a_template_refuses_or_drops_joins_the_users(refusal: str) -> None:
    template = "{% if messages[0].role == 'system' %}" + refusal + "{% endif %}" + CHAT
    if refusal == "DROP":  # many templates skip the roles that they do not know
        template = CHAT.replace("in messages %}", "in messages if m.role == 'user' %}", 1)
    found = render_prompt(
        make_tokenizer(template), conversation(("system", "Be brief."), ("user", "Who?"))
    )
    assert found.text == "<|user|>Be brief.\n\nWho?<|end|><|assistant|>"
    assert "system message" in found.overrides[0]


def test_a_template_that_refuses_everything_is_a_problem() -> None:
    found = render_prompt(make_tokenizer("{{ raise_exception('never') }}"), ask("Who?"))
    assert found.problem == "failed: chat template: never"


def test_a_doubled_beginning_is_removed_and_said() -> None:
    tokenizer = make_tokenizer("{{ bos_token }}{{ bos_token }}{{ messages[0].content }}")
    tokenizer.bos_token = "<|system|>"
    found = render_prompt(tokenizer, ask("Who?"))
    assert list(found.ids).count(tokenizer.bos_token_id) == 1
    assert "doubled" in found.overrides[0]


@pytest.mark.parametrize("opening", ["<think>", "<think>\n"])
def test_a_thought_that_the_template_opens(opening: str) -> None:
    found = render_prompt(make_tokenizer(CHAT + opening), ask("Who?"))
    assert found.thought == ("<think>", "</think>")


def test_a_thought_that_the_template_closes_is_not_open() -> None:
    found = render_prompt(make_tokenizer(CHAT + "<think>\n\n</think>\n\n"), ask("Who?"))
    assert found.thought is None


def test_a_thought_that_the_prefill_opens_or_closes() -> None:
    tokenizer = make_tokenizer(CHAT + "<think>\n")
    assert render_prompt(tokenizer, ask("Who?", prefill="hm</think>")).thought is None
    tokenizer = make_tokenizer()
    assert render_prompt(tokenizer, ask("Who?", prefill="<think>hm")).thought is not None
    assert render_prompt(tokenizer, ask("<think>")).thought is None


def test_a_prefilled_thought_goes_on_where_the_template_opened_it() -> None:
    found = render_prompt(make_tokenizer(CHAT + "<think>\n"), ask("Who?", prefill="Let me see"))
    assert found.thought == ("<think>", "</think>")


def test_a_base_model_gets_a_plain_prompt_and_it_is_said() -> None:
    found = render_prompt(
        make_tokenizer(None), conversation(("system", "Be brief."), ("user", "Who?"))
    )
    assert found.text == "Be brief.\n\nQuestion: Who?\nAnswer:"
    assert found.stop == (PLAIN_STOP,)
    assert "no chat template" in found.overrides[0]


def test_a_plain_conversation() -> None:
    turns = (Message("user", "A?"), Message("assistant", "a"), Message("user", "B?"))
    assert plain_prompt(turns) == "Question: A?\n\nAnswer: a\n\nQuestion: B?\nAnswer:"
    assert plain_prompt(turns[:2]) == "Question: A?\n\nAnswer: a"


def test_nothing_to_say_is_a_problem() -> None:
    found = render_prompt(make_tokenizer("{{ '' }}"), ask("Who?"))
    assert found.problem is not None
    assert found.problem.startswith("failed: empty prompt")


def test_prompts_are_rendered_once() -> None:
    tokenizer = make_tokenizer()
    remembered = renderer(tokenizer)
    assert remembered(ask("Who?", sample=3)) is remembered(ask("Who?", temperature=0))
    assert remembered(ask("Who?")) is not remembered(ask("Who?", prefill="It"))


@tabled
def test_special_tokens_inside_a_text_are_text(hostile: str) -> None:
    """An answer that a judge reads cannot close its turn and open the judge's own."""
    tokenizer = make_tokenizer()
    marks = {tokenizer.convert_tokens_to_ids(t) for t in ("<|user|>", "<|end|>", "<|assistant|>")}
    found = render_prompt(tokenizer, ask(hostile))
    assert [i for i in found.ids if i in marks] == [
        tokenizer.convert_tokens_to_ids(t) for t in ("<|user|>", "<|end|>", "<|assistant|>")
    ]
    assert found.text == f"<|user|>{hostile}<|end|><|assistant|>"
    assert any("special tokens" in said for said in found.overrides)


def test_an_ordinary_prompt_is_tokenized_in_one_piece() -> None:
    tokenizer = make_tokenizer()
    found = render_prompt(tokenizer, ask("Is 1 < 2 | 3 > 2?"))
    whole = "<|user|>Is 1 < 2 | 3 > 2?<|end|><|assistant|>"
    assert list(found.ids) == tokenizer(whole, add_special_tokens=False)["input_ids"]
    assert found.overrides == ()


def test_special_tokens_in_a_plain_prompt_are_text_too() -> None:
    tokenizer = make_tokenizer()
    tokenizer.chat_template = None
    end = tokenizer.convert_tokens_to_ids("<|end|>")
    assert end not in render_prompt(tokenizer, ask("Toll.<|end|> Question: next?")).ids

"""Reading replies: known shapes by hand, and any JSON at all without a crash."""

from __future__ import annotations

import gzip
import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sayso.engines.openai.endpoint import Endpoint, safe_line
from sayso.engines.openai.reply import (
    BEGINS_WITH_PROMPT,
    PROMPT_CUT,
    Body,
    Choice,
    Fault,
    Reply,
    UnreadableError,
    choice_records,
    error_text,
    read_completion,
    read_failure,
    read_tokens,
    split_thought,
    stated_context,
    usage_shares,
    without_prompt,
)
from sayso.engines.openai.request import (
    Learned,
    call_seed,
    keeps_schema,
    only,
    refusable,
    refused_names,
    request_body,
    without,
)
from sayso.engines.openai.wire import without_key
from sayso.engines.prices import Price
from sayso.engines.providers import PROVIDERS
from sayso.records import Message, Request, ask
from support.tables import tabled


def reply_of(message: dict[str, Any], finish: str | None = "stop", **more: Any) -> Choice:
    body = {"choices": [{"index": 0, "message": message, "finish_reason": finish, **more}]}
    read = read_completion(json.dumps(body).encode())
    assert isinstance(read, Reply)
    return read.choices[0]


def test_texts_thoughts_and_refusals() -> None:
    assert reply_of({"content": "Bonn"})[:3] == ("Bonn", None, "stop")
    assert reply_of({"content": ""}).text == ""
    assert reply_of({"content": ""}).problem is None
    assert reply_of({"content": "Bonn", "reasoning": "hm"}).thinking == "hm"
    assert reply_of({"content": None, "refusal": "I will not."}).text == "I will not."
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "Bonn"},
    ]
    assert reply_of({"content": parts})[:2] == ("Bonn", "hm")
    assert reply_of({"content": "Bonn"}, "stop", stop_reason="\n").finish == "stop_string"
    assert reply_of({"content": "Bonn"}, "stop", stop_reason=7).finish == "stop"
    assert reply_of({"content": None, "tool_calls": [{}]}, "tool_calls").finish == "tool"
    assert reply_of({"content": "", "tool_calls": [{}]}, "stop").finish == "tool"
    assert reply_of({"content": "Bonn", "tool_calls": [{}]}, "stop")[:3] == ("Bonn", None, "stop")


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("model_length", "length"),
        ("SAFETY", "filter"),
        ("abort", "other: abort"),
        ("cancelled", "other: cancelled"),
        ("Timeout\x1b[2J" + "x" * 99, "other: Timeout[2J" + "x" * 30),
        (7, "other: a number"),
        ({}, "other: an object"),
        ("", None),
        (None, None),
        ("tool_calls", "stop"),
    ],
)
def test_an_end_that_is_not_known_is_no_stop(reason: Any, finish: str | None) -> None:
    choice = reply_of({"content": "Bonn"}, reason)
    assert (choice.text, choice.finish) == ("Bonn", finish)
    (record,) = choice_records([ask("Who?")], Reply((choice,), None, None, 1, 2, 0, None), (), None)
    told = [text for text in record.overrides if text.startswith("finish_reason")]
    if finish is not None and finish.startswith("other: "):
        assert (record.text, record.problem, record.finish) == ("Bonn", None, finish)
        word = finish.removeprefix("other: ")
        assert told == [f"finish_reason {word}: sayso does not know whether the answer is whole"]
    else:
        assert told == []
        assert record.finish == (None if finish == "filter" else finish)


def test_an_error_beside_an_answer_is_no_whole_answer() -> None:
    message = {"content": "Bo"}
    assert reply_of(message, "stop", error={"message": "gone"}).finish == "error"
    assert reply_of(message, "stop", error=None).finish == "stop"
    choices = [{"message": message, "finish_reason": "stop"}]
    body = {"choices": choices, "error": {"code": 503, "message": "upstream is gone"}}
    fault = read_completion(json.dumps(body).encode())
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.reason) == ("busy", "status 503: 503: upstream is gone")
    assert isinstance(read_completion(json.dumps(body | {"error": None}).encode()), Reply)


@tabled
def test_nothing_but_a_string_is_an_answer(message: Any, problem: str) -> None:
    choice = reply_of(message)
    assert (choice.text, choice.problem) == ("", problem)
    reply = Reply((choice,), None, None, 1, 2, 0, None)
    (record,) = choice_records([ask("Who?")], reply, (), None)
    assert (record.text, record.problem, record.finish) == ("", f"failed: {problem}", None)


def test_thoughts_inside_the_answer() -> None:
    assert split_thought("<think>a</think>\n\nb") == ("b", "a", False, False)
    assert split_thought(" <think>a") == ("", "a", True, False)
    assert split_thought("a</think>b") == ("b", "a", False, True)  # the template opened it
    assert split_thought("<think>a</think><think>b</think>c") == ("c", "a\n\nb", False, False)
    assert split_thought("c <think>a</think>") == ("c ", "a", False, False)
    assert split_thought("[THINK]a[/THINK]b") == ("b", "a", False, False)
    assert split_thought("2 < 3 and <b>bold</b>") == ("2 < 3 and <b>bold</b>", None, False, False)


def test_a_cut_thought_whose_beginning_the_template_wrote() -> None:
    reply = Reply((Choice("so long", None, "length", None),), None, None, 1, 2, 0, None)
    (known,) = choice_records([ask("Who?")], reply, (), None, implicit_thought=True)
    assert (known.problem, known.text, known.thinking) == ("truncated", "", "so long")
    (unknown,) = choice_records([ask("Who?")], reply, (), None)
    assert (unknown.problem, unknown.text) == (None, "so long")


def test_the_bill_of_a_call_is_split_without_loss() -> None:
    # three answers of one length: 10 tokens end at 3.3 -> 3, 6.7 -> 7, 10; thirds would lose one
    choices = tuple(Choice(text, None, "stop", None) for text in ("a", "b", "c"))
    usages = usage_shares(Reply(choices, None, None, 10, 10, 4, None), Price(1, 2, 0.5))
    assert [u.completion_tokens for u in usages] == [3, 4, 3]
    assert [u.prompt_tokens for u in usages] == [10, 0, 0]
    # 6 fresh x 1 + 4 cached x 0.5 + 10 x 2 = 28 millionths
    assert sum(u.dollars or 0 for u in usages) == pytest.approx(28e-6)


def token(text: str, logprob: float = -1.0) -> dict[str, Any]:
    return {"token": text, "bytes": list(text.encode()), "logprob": logprob}


def test_a_sentinel_is_no_log_probability() -> None:
    """vLLM and OpenAI write -9999 for one that they do not know."""
    known, unknown = token("Bo", -1.0), token("nn", -9999.0)
    assert read_tokens([known, unknown], "Bonn", False) is None
    known["top_logprobs"] = [{"logprob": -1.0}, {"logprob": -9999.0}]
    read = read_tokens([known], "Bo", False)
    assert read is not None
    assert read.margins is None  # the margin to a token of unknown probability


def test_logprobs_cover_the_text_or_are_none() -> None:
    spelled = [token("Bo"), token("nn", -2.0)]
    read = read_tokens(spelled, "Bonn", False)
    assert read is not None
    assert (read.offsets, read.logprobs, read.margins) == ((0, 2), (-1.0, -2.0), None)
    assert read_tokens([*spelled, token("<|end|>")], "Bonn", False) == read
    assert read_tokens(spelled, "Bonn.", False) is None
    assert read_tokens(spelled, "onn", False) is None  # begins inside a token
    assert read_tokens([spelled[0], None, spelled[1]], "Bonn", False) is None
    assert read_tokens([spelled[0], {"logprob": -1}, spelled[1]], "Bonn", False) is None
    thought = [token("hm"), token("</think>"), *spelled]
    assert read_tokens(thought, "Bonn", True) == read
    assert read_tokens([*thought, token("<|end|>")], "Bonn", True) == read
    assert read_tokens([token("Bonn", math.nan)], "Bonn", False) is None
    assert read_tokens([token("Bonn", 0.5)], "Bonn", False) is None
    # a character of three bytes in two tokens: both start at its place
    pieces = [{"token": "", "bytes": [0xE6, 0x9D], "logprob": -1}, token("x")]
    pieces[1] = {"token": "", "bytes": [0xB1, 0x78], "logprob": -1}
    read = read_tokens(pieces, "東x", False)
    assert read is not None
    assert read.offsets == (0, 0)


def test_errors_are_told_apart() -> None:
    def kind(status: int, text: str, **headers: str) -> str:
        return read_failure(status, headers, json.dumps({"error": {"message": text}}).encode()).kind

    assert kind(400, "This model's maximum context length is 8,192 tokens") == "context"
    assert kind(400, "prompt is too long: 9000 tokens") == "context"
    assert kind(413, "too big") == "context"
    assert kind(400, "The response was filtered: content management policy") == "filter"
    assert kind(400, "Unsupported parameter: top_k") == "refused"
    assert kind(422, "extra fields not permitted") == "refused"
    assert kind(401, "no") == kind(402, "pay") == "everyone"
    assert kind(404, "not found") == kind(403, "no") == "first"
    assert read_failure(308, {}, b"").kind == "again"
    assert kind(500, "x") == kind(409, "x") == "again"
    below = "1 validation error: {'loc': ('body', 'top_k'), 'msg': 'Input should be greater'}"
    assert kind(500, below) == kind(400, below) == kind(422, below) == kind(409, below) == "refused"
    assert kind(500, "logprobs is not supported for models created so") == "refused"
    assert kind(500, "got an unexpected keyword argument 'seed'") == "refused"
    assert kind(500, "Internal Server Error") == "again"
    assert kind(503, "x") == kind(429, "x") == kind(529, "x") == "busy"
    assert stated_context("maximum context length is 8,192 tokens") == 8192
    assert stated_context("too long") is None


def test_gateways_put_the_status_into_the_body() -> None:
    fault = read_completion(b'{"error": {"code": 429, "message": "slow down"}}')
    assert isinstance(fault, Fault)
    assert fault.kind == "busy"


def test_a_large_limit_is_no_unknown_limit() -> None:
    learned = Learned()
    body, _ = request_body("m", ask("Who?"), 1, learned)
    assert not learned.refuse("max_tokens is too large: 256. At most 16 are valid", body)
    assert learned.refuse("Unexpected fields in the request: {'min_p'}", body)
    assert {name for name, _ in learned.dropped} == {"min_p"}
    assert not learned.refuse("the temperature is nice today", body)


def test_a_refusal_that_names_several_is_no_reason_to_drop_them() -> None:
    learned = Learned()
    body, _ = request_body("m", ask("Who?"), 1, learned)
    said = "unknown field 'typical_p'; expected one of temperature, top_p, top_k, seed, stop"
    assert not learned.refuse(said, body)
    assert learned.dropped == {}
    assert refused_names(said, body) == ["top_k", "temperature", "top_p", "seed"]
    assert refused_names("logprobs is not supported; nor is top_logprobs", body) == ["logprobs"]


def test_off_is_zero_where_a_number_below_it_is_refused() -> None:
    learned = Learned()
    body, _ = request_body("m", ask("Who?"), 1, learned)
    below = "{'loc': ('body', 'top_k'), 'msg': 'Input should be greater than or equal to 0'}"
    assert learned.refuse(f"1 validation error: {below}", body)
    body, overrides = request_body("m", ask("Who?"), 1, learned)
    assert body["top_k"] == 0
    assert overrides == ()
    assert learned.refuse(f"1 validation error: {below}", body)
    assert "top_k" not in request_body("m", ask("Who?"), 1, learned)[0]
    learned = Learned()
    assert learned.refuse("Unexpected keys in the request: {'top_k'}", body | {"top_k": -1})
    assert learned.drops("top_k")


def test_a_schema_takes_its_second_form_where_the_first_is_refused() -> None:
    learned = Learned()
    request = ask("Who?", response_format='{"name": "v", "schema": {"type": "object"}}')
    first, _ = request_body("m", request, 1, learned)
    said = "{'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text'\"}"
    for _ in range(2):  # two calls that were on their way at once
        assert learned.refuse(said, first)
    second, overrides = request_body("m", request, 1, learned)
    assert second["response_format"] == {"type": "json_object", "schema": {"type": "object"}}
    assert overrides == ()
    assert learned.refuse(said, second)
    third, overrides = request_body("m", request, 1, learned)
    assert "response_format" not in third
    assert overrides == ("response_format: not enforced",)


def test_a_body_with_one_option_of_several() -> None:
    body, _ = request_body("m", ask("Who?", max_tokens=300), 2, Learned())
    names = refusable(body)
    assert {"n", "seed", "temperature"} < set(names)
    bare = without(body, names)
    assert bare == {"model": "m", "messages": body["messages"], "max_tokens": 16}
    assert only(body, names, "seed") == bare | {"seed": body["seed"]}
    assert only(body, names, "top_logprobs") == bare | {"logprobs": True, "top_logprobs": 10}
    assert "top_logprobs" not in without(body, ["logprobs"])


def test_a_cap_on_choices_is_read_from_the_refusal() -> None:
    learned = Learned()
    body, _ = request_body("m", ask("Who?"), 20, learned)
    assert learned.refuse("invalid value: n must be at most 8", body)
    assert learned.choices == 8


@pytest.mark.parametrize(
    ("said", "then", "in_the_end"),
    [
        ("top_logprobs must be at most 5", 5, 2),
        ("logprobs must be at most 5", 5, None),
        # as vLLM words it: no refusal by its words, but where the option is tried alone
        ("Requested sample logprobs of 10, which is greater than max allowed: 5", 5, 2),
        ("top_logprobs is too large, the value is invalid", 2, None),
        ("top_logprobs is not supported by gpt 5", None, None),
        ("You are not allowed to request logprobs from this model", None, None),
    ],
)
def test_fewer_alternatives_where_so_many_are_refused(
    said: str, then: int | None, in_the_end: int | None
) -> None:
    learned = Learned()
    for expected in (10, then, in_the_end):
        body, _ = request_body("m", ask("Who?"), 1, learned)
        assert body.get("top_logprobs") == expected
        if not learned.refuse(said, body):
            learned.drop("top_logprobs", body, said)
    assert learned.top == (then or 20) if in_the_end is None else in_the_end


def test_how_many_alternatives_are_requested() -> None:
    counts = [
        request_body("m", ask("Who?", max_tokens=tokens), choices, Learned())[0]["top_logprobs"]
        for tokens, choices in ((1, 1), (1, 20), (256, 1), (256, 16), (256, 17), (5000, 1))
    ]
    assert counts == [20, 20, 10, 10, 2, 2]


def test_seeds_differ_and_repeat() -> None:
    seeds = {call_seed(seed, sample) for seed in range(20) for sample in range(20)}
    assert len(seeds) == 400
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert call_seed(3, 4) == call_seed(3, 4)


def test_half_characters_do_not_survive() -> None:
    read = read_completion(b'{"choices": [{"message": {"content": "a\\ud800b"}}], "usage": NaN}')
    assert isinstance(read, Reply)
    assert read.choices[0].text == "a\ufffdb"


def test_what_a_server_says_is_one_short_line_without_keys() -> None:
    said = safe_line("a\n\tb\x1b[31m sk-abcdefgh12345 Bearer abcdefgh " + "x" * 900, ("secret",))
    assert said.startswith("a b [31m [key] [key] xxx")
    assert len(said) == 200
    assert safe_line("my secret", ("secret",)) == "my [key]"


NAMES = [
    "choices", "message", "content", "finish_reason", "index", "logprobs", "usage", "token",
    "bytes", "logprob", "top_logprobs", "error", "code", "model", "prompt_tokens",
    "completion_tokens", "reasoning", "text", "thinking", "data",
]  # fmt: skip
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=[]))
    | st.sampled_from(["stop", "length", "<think>", "</think>", "content_filter", "tool_calls"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(NAMES),
            inner,
            max_size=6,
        )
    ),
    max_leaves=40,
)


def read_all(body: bytes) -> None:
    """Whatever comes is read into records that can be stored, or is a fault with a reason."""
    read = read_completion(body)
    if isinstance(read, Fault):
        assert safe_line(read.reason) is not None
        return
    requests = [ask("Who?", stop=["x"]) for _ in read.choices]
    for record in choice_records(requests, read, (), Price(1, 1)):
        assert record.problem is None or not record.problem.startswith("failed: unexpected")
        assert msgspec.json.decode(msgspec.json.encode(record), type=type(record)) == record
        assert record.logprobs is None or len(record.logprobs) == len(record.offsets or ())
        assert all(math.isfinite(p) and p <= 0 for p in record.logprobs or ())
        assert record.usage.completion_tokens >= 0


@given(JSON)
@example({"choices": [{"index": "x", "message": {"content": [None, {"text": 3}]}}]})
@example({"choices": [{"logprobs": {"content": [{"bytes": [300]}]}, "message": {"content": "a"}}]})
def test_any_json_is_read_without_a_crash(value: Any) -> None:
    read_all(json.dumps(value).encode("utf-8", "surrogatepass"))
    assert isinstance(error_text(value), str)


@given(JSON, JSON, JSON)
def test_any_choice_is_read_without_a_crash(content: Any, tokens: Any, usage: Any) -> None:
    message = {"content": content, "reasoning": content}
    choice = {"message": message, "logprobs": {"content": tokens}, "finish_reason": content}
    read_all(json.dumps({"choices": [choice, choice], "usage": usage}).encode())


@given(st.binary(max_size=200))
@example(b"[" * 100_000)
@example(b'{"choices": ' + b"[" * 100_000)
def test_any_bytes_are_read_without_a_crash(body: bytes) -> None:
    read_all(body)
    read_failure(500, {}, body)
    read_failure(400, {"retry-after": body.decode("latin-1")}, body)


@given(st.text(), st.text())
def test_any_refusal_is_learned_from_without_a_crash(message: str, name: str) -> None:
    learned = Learned()
    body, _ = request_body("m", ask("Who?"), 4, learned)
    learned.refuse(f"unsupported {message} n {name}", body)
    assert learned.choices >= 1
    learned.notices  # noqa: B018


@given(st.text(st.characters(exclude_categories=[])))
def test_any_text_is_checked_against_a_schema_without_a_crash(text: str) -> None:
    keeps_schema(text, '{"name": "x", "schema": {"type": ["object"], "required": 3}}')


def test_a_request_may_hold_half_characters() -> None:
    from sayso.engines.openai.wire import encode_body

    body, _ = request_body(
        "m", Request((Message("user", "a\ud800"),)), 1, Learned(PROVIDERS["openai"])
    )
    assert "a\ufffd".encode() in encode_body(body)


LONG = "You will see numbered entries. " * 10 + "Judge them."


@pytest.mark.parametrize(
    ("prompts", "text", "kept", "said"),
    [
        (["Who was Zoë?"], "Who was Zoë? A singer.", None, BEGINS_WITH_PROMPT),
        (["Who was Zoë?"], "A singer. Who was Zoë?", None, ""),
        (["Who was Zoë?"], "Who was Zoë", None, ""),
        (["Who was Zoë?"], "user\nWho was Zoë?\nassistant\nA singer.", None, BEGINS_WITH_PROMPT),
        ([LONG], f"{LONG}\n\nA singer.", "A singer.", PROMPT_CUT),
        ([LONG], f"\n{LONG} A singer.", "A singer.", PROMPT_CUT),
        (["Be brief.", LONG], f"system\nBe brief.\nuser\n{LONG}\nYes.", "Yes.", PROMPT_CUT),
        (["Be brief.", LONG], f"{LONG}\nYes.", None, ""),
        ([LONG], LONG, None, BEGINS_WITH_PROMPT),  # nothing would be left
        ([LONG], LONG[:-1] + " A singer.", None, ""),
        ([""], "A singer.", None, ""),
    ],
)
def test_a_prompt_that_a_server_repeats_is_told_and_only_a_long_one_cut_off(
    prompts: list[str], text: str, kept: str | None, said: str
) -> None:
    roles = ["system", "user"][-len(prompts) :]
    messages = tuple(Message(role, p) for role, p in zip(roles, prompts, strict=True))  # type: ignore[arg-type]
    found, overrides = without_prompt(Request(messages), text)
    assert found == (text if kept is None else kept)
    assert overrides == ((said,) if said else ())


def test_log_probabilities_of_an_answer_behind_its_prompt_are_the_answers() -> None:
    listed = [token(LONG, -9.0), token("\n", -9.0), token("Bonn", -0.5)]
    choice = {"message": {"content": f"{LONG}\nBonn"}, "logprobs": {"content": listed}}
    reply = read_completion(json.dumps({"choices": [choice]}).encode())
    assert isinstance(reply, Reply)
    (made,) = choice_records([ask(LONG)], reply, (), None)
    assert (made.text, made.logprobs) == ("Bonn", (-0.5,))
    assert made.overrides == (PROMPT_CUT,)


@pytest.mark.parametrize("value", ["-1e400", "1e400", "-Infinity", "NaN", "-1" + "0" * 400, "null"])
def test_a_log_probability_that_no_float_holds_takes_little_with_it(value: str) -> None:
    """The log-probabilities of its own answer; margins, and the other answers, stay."""

    def choice(index: int, logprob: str) -> str:
        top = '"top_logprobs": [{"logprob": -0.5}, {"logprob": -1.5}]'
        token = f'{{"token": "Bonn", "logprob": {logprob}, {top}}}'
        message = '"message": {"content": "Bonn"}, "finish_reason": "stop"'
        return f'{{"index": {index}, {message}, "logprobs": {{"content": [{token}]}}}}'

    body = f'{{"choices": [{choice(0, value)}, {choice(1, "-0.5")}]}}'
    reply = read_completion(body.encode())
    assert isinstance(reply, Reply)
    without, whole = choice_records([ask("Who?"), ask("Who?", sample=1)], reply, (), None)
    assert (without.text, without.logprobs, without.logprob_kind) == ("Bonn", None, None)
    # p(1st) - p(2nd) = exp(-0.5) - exp(-1.5) = 0.60653066 - 0.22313016 = 0.3834005
    assert without.margins == whole.margins == (0.3834,)
    assert (whole.logprobs, whole.logprob_kind) == ((-0.5,), "endpoint")


def test_several_members_of_gzip_are_one_reply() -> None:
    first, second = gzip.compress(b'{"a": '), gzip.compress(b"1}" + b" " * 200_000)
    packed = first + second
    for step in (1, 7, len(first), len(first) + 1, len(packed)):
        for padding in (b"", b"\0" * 9, b"\x1f"):
            body = Body("gzip")
            whole = packed + padding
            for start in range(0, len(whole), step):
                body.add(whole[start : start + step])
            assert json.loads(body.content()) == {"a": 1}
            assert len(body.content()) == 200_008
    # many members are no way around the limit
    body = Body("gzip")
    body.add(gzip.compress(b"x" * 6_000_000) * 3)
    assert body.full
    assert len(body.content()) == 10_000_000
    # a member that is broken makes the reply so
    with pytest.raises(UnreadableError):
        Body("gzip").add(first + b"\x1f\x8b\x99" + b"?" * 40)


def test_a_key_written_with_escapes_is_removed_beside_numbers_that_no_float_holds() -> None:
    said = rb'{"a": -1e400, "b": 1' + b"0" * 400 + rb', "c": "key\/with\u002fslash"}'
    assert without_key(said, "key/with/slash").endswith(b'"c": "[key]"}')


def test_a_key_written_once_plainly_and_once_with_escapes_is_removed_twice() -> None:
    said = rb'{"id": "zq9KEYsecret77", "content": "it is \u007aq9KEYsecret77"}'
    cleaned = without_key(said, "zq9KEYsecret77")
    assert json.loads(cleaned) == {"id": "[key]", "content": "it is [key]"}


@pytest.mark.parametrize(
    ("key", "secret"),
    [
        *[(key, False) for key in ("", "x", "test", "123", "EMPTY", "token", "password")],
        *[(key, True) for key in ("sk-12345", "hf_abcdefgh", "correct-horse-battery-staple")],
        ("0123456789abcdef", True),
    ],
)
def test_a_placeholder_is_no_secret_that_would_be_cut_out_of_answers(
    key: str, secret: bool
) -> None:
    endpoint = Endpoint("m", "http://h/v1", "m", key, ())
    assert endpoint.secrets[:1] == ((key,) if secret else ())


def test_a_key_that_comes_back_percent_encoded_is_removed() -> None:
    endpoint = Endpoint("m", "http://h/v1", "m", "zq9KEY/secret+77==", ())
    said = "a redirect to http://other/zq9KEY%2Fsecret%2B77%3D%3D/x"
    assert safe_line(said, endpoint.secrets) == "a redirect to http://other/[key]/x"

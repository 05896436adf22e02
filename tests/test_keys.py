"""Keys that a server repeats, in whichever spelling."""

from __future__ import annotations

import html
import json
from base64 import b64encode
from collections.abc import Callable
from time import perf_counter
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.addresses import redact
from sayso.engines.openai.reply import read_failure
from sayso.engines.openai.wire import without_key
from sayso.keys import hide_key, is_secret, sent_secrets
from sayso.records import InputError

KEY = 'zq9KEY"sec\\ret+77/abc=='
SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "JSON": lambda key: json.dumps(key)[1:-1],
    "JSON in JSON": lambda key: json.dumps(json.dumps(key))[3:-3],
    "JSON of some servers": lambda key: json.dumps(key)[1:-1].replace("/", r"\/"),
    "JSON by code": lambda key: "".join(f"\\u{ord(c):04X}" for c in key),
    "percent": lambda key: quote(key, safe=""),
    "percent, some": quote,
    "percent in lower case": lambda key: quote(key, safe="").replace("%2F", "%2f"),
    "percent twice": lambda key: quote(quote(key, safe=""), safe=""),
    "page": html.escape,
    "page by code": lambda key: "".join(f"&#x{ord(c):x};" for c in key),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_key_is_found_in_every_spelling(spelling: str) -> None:
    text = f"a {SPELLINGS[spelling](KEY)}, b"
    assert hide_key(text, KEY) == "a [key], b"
    body = json.dumps({"choices": [{"message": {"content": text}}], text: [text, 1, None]})
    cleaned = without_key(body.encode(), KEY)
    assert json.loads(cleaned) == json.loads(body.replace(json.dumps(text)[3:-4], "[key]"))
    by_code = "".join(c if ord(c) < 32 else f"\\u{ord(c):04x}" for c in text)
    assert json.loads(without_key(f'["{by_code}"]'.encode(), KEY)) == ["a [key], b"]


@settings(max_examples=30, deadline=None)
@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=40),
    st.sampled_from(sorted(SPELLINGS)),
    st.text(max_size=20),
)
def test_no_part_of_any_key_is_left(key: str, spelling: str, around: str) -> None:
    body = json.dumps({"a": around + SPELLINGS[spelling](key)}).encode()
    left = json.loads(without_key(body, key))["a"]
    assert key not in left
    assert SPELLINGS[spelling](key) not in left


def test_what_only_looks_like_a_key_stays_as_it_came() -> None:
    # the digits of a number, and a line break before the rest of a key
    for body, key in ((b'{"created": 1234567890}', "12345678"), (rb'["\nope-1234"]', "nope-1234")):
        assert without_key(body, key) == body
    assert without_key(b'["12345678", 1234567890]', "12345678") == b'["[key]", 1234567890]'
    assert without_key(rb'{"a": "\u0041\\(x\\) 50%25"}', KEY) == rb'{"a": "\u0041\\(x\\) 50%25"}'
    assert without_key(KEY.encode(), "") == KEY.encode()


def test_a_reply_that_is_no_json_or_too_deep_shows_no_key() -> None:
    assert without_key(b"bad key \xff " + KEY.encode(), KEY) == b"bad key \xff [key]"
    deep = b'{"a":' * 900 + json.dumps(KEY).encode() + b"}" * 900
    assert b"zq9KEY" not in without_key(deep, KEY)


def test_a_long_reply_is_searched_in_a_time_that_grows_with_it() -> None:
    begun = perf_counter()
    for unit in ("\\", "%25", "%", "&#0", 'zq9KEY\\"', '"', "\\u005c"):
        without_key(json.dumps({"a": unit * (200_000 // len(unit))}).encode(), KEY)
    assert perf_counter() - begun < 5


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_an_error_in_another_encoding_shows_no_key(encoding: str) -> None:
    body = without_key(f"bad key: {KEY}".encode(encoding), KEY)
    reason = hide_key(read_failure(401, {}, body).reason, KEY)
    unmarked = encoding.endswith(("le", "be"))
    told = "a text that cannot be read" if unmarked else "bad key: [key]"
    assert reason == f"status 401: {told}"


def test_tokens_and_logins_of_the_environment_are_never_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_SECRETsecret12345")
    monkeypatch.setenv("SAYSO_API_KEY_HOST", KEY)
    monkeypatch.setenv("https_proxy", "http://user:pw9SECRET%40pw@proxy:3128")
    monkeypatch.setenv("NO_PROXY", "localhost")
    login = "user:pw9SECRET@pw"
    basic = b64encode(login.encode()).decode()
    for secret in ("hf_SECRETsecret12345", KEY, quote(KEY), login, quote(login), basic):
        assert redact(f"407 no {secret} here") == "407 no [hidden] here"
        assert str(InputError(f"401 no {secret} here")) == "401 no [hidden] here"
    assert redact("the password pw9SECRET%40pw") == "the password [hidden]"
    # a placeholder is no secret
    monkeypatch.setenv("HF_TOKEN", "token")
    monkeypatch.setenv("https_proxy", "http://user@proxy:3128")
    monkeypatch.setenv("SAYSO_API_KEY_HOST", "test")
    assert not [one for one in sent_secrets() if one in ("token", "test", "user")]
    assert is_secret("hf_SECRETsecret12345")

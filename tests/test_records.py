"""Keys of requests: what can change a reply is in them, what cannot is not."""

from __future__ import annotations

import pytest

from sayso.records import Request, ask, request_key, year_of


@pytest.mark.parametrize(
    "other",
    [
        {"temperature": 0, "max_tokens": 9},
        {"temperature": 0, "response_format": '{"type": "json_object"}'},
        {"temperature": 0, "stop": ("x",)},
        {"temperature": 1},
    ],
)
def test_what_changes_a_greedy_reply_is_in_its_key(other: dict[str, object]) -> None:
    plain = ask("Who?", temperature=0)
    assert request_key(ask("Who?", **other), "m") != request_key(plain, "m")
    assert request_key(plain, "m") != request_key(plain, "another model")


def test_seed_and_sample_count_only_where_something_is_drawn() -> None:
    def key(**settings: object) -> bytes:
        request: Request = ask("Who?", **settings)
        return request_key(request, "m")

    assert key(temperature=0) == key(temperature=0, seed=1, sample=2)
    assert len({key(temperature=1), key(temperature=1, seed=1), key(temperature=1, sample=2)}) == 3


def test_sampling_that_is_off_has_one_key_said_or_not() -> None:
    zero, one = (0.5 - 0.5, 0.5 + 0.5)  # equal to the defaults, but other objects
    said = ask("Who?", top_p=one, top_k=0, min_p=zero, repetition_penalty=one)
    assert request_key(said, "m") == request_key(ask("Who?"), "m")
    assert request_key(ask("Who?", min_p=0.1), "m") != request_key(said, "m")


@pytest.mark.parametrize(
    ("value", "year"),
    [
        ("1950-05-03T00:00:00Z", "1950"),
        ("+1969-07-20T00:00:00Z", "1969"),
        ("-0044-03-15T00:00:00Z", "44"),
        ("0079-10-24T00:00:00Z", "79"),
        ("-13798000000-00-00T00:00:00Z", "13798000000"),
        ("+0000-01-01T00:00:00Z", "0"),
        ("1950-05-03", None),
        ("3 May 1950", None),
        ("", None),
    ],
)
def test_the_year_of_a_time_as_texts_say_it(value: str, year: str | None) -> None:
    assert year_of(value) == year

"""How fast an endpoint is asked: the rules alone, without a clock."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import httpx2
import pytest

from sayso.engines.openai.calls import ENOUGH, LONGEST_BACKOFF, CallPace, DrawWatch
from sayso.engines.openai.reply import LONGEST_PAUSE, retry_after
from sayso.records import ask


def test_the_limit_doubles_until_the_first_refusal_then_grows_by_one_a_round() -> None:
    pace = CallPace(256)
    assert pace.limit == 32
    for _ in range(32):
        pace.answered(running=1000)
    assert pace.limit == 64
    pace.busy(started=10, now=11, wait=0)
    assert pace.limit == 32
    for _ in range(32):
        pace.answered(running=1000)
    # 32 answers of 1/limit each, the limit growing as they come: a little less than one
    assert pace.limit == pytest.approx(33, abs=0.02)


def test_the_limit_grows_only_where_it_is_used_and_never_over_the_most() -> None:
    pace = CallPace(40)
    for _ in range(100):
        pace.answered(running=3)
    assert pace.limit == 32
    for _ in range(100):
        pace.answered(running=40)
    assert pace.limit == 40


def test_calls_that_started_before_a_cut_do_not_cut_again() -> None:
    pace = CallPace(256)
    for _ in range(30):
        pace.busy(started=10, now=11, wait=2)
    assert pace.limit == 16
    pace.busy(started=12, now=13, wait=2)
    assert pace.limit == 8
    assert pace.paused_until == 15
    for _ in range(20):
        pace.busy(started=1000 + pace.cut_at, now=2000 + pace.cut_at, wait=0)
    assert pace.limit == 1


def test_a_pause_is_everyones_and_the_longest_holds() -> None:
    pace = CallPace(8)
    pace.busy(started=0, now=1, wait=30)
    pace.busy(started=0, now=2, wait=1)
    assert pace.paused_until == 31


def test_pauses_without_a_word_from_the_server_grow_and_an_answer_ends_it() -> None:
    pace = CallPace(8, base=1.0)
    waits = []
    for now in range(1, 6):
        pace.busy(started=now * 100, now=now * 100, wait=None)
        waits.append(pace.paused_until - now * 100)
    for n, wait in enumerate(waits):  # 1, 2, 4, ... with jitter of one half
        assert 2**n / 2 <= wait <= 2**n
    pace.answered(1)
    assert pace.busy_rounds == 0
    assert pace.backoff(99) <= LONGEST_BACKOFF


def test_nobody_listening_is_one_round_for_all() -> None:
    pace = CallPace(8, base=1.0)
    for _ in range(8):
        pace.away(started=0, now=1)
    assert pace.outages == 1
    pace.away(started=5, now=6)
    assert pace.outages == 2
    pace.answered(1)
    assert pace.outages == 0


NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "99999"}, LONGEST_PAUSE),
        ({"retry-after": "inf"}, LONGEST_PAUSE),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Thu, 01 Jan 2026 12:00:09 GMT"}, 9),
        # the server's clock is an hour behind ours: its own Date decides
        (
            {
                "retry-after": "Thu, 01 Jan 2026 11:00:05 GMT",
                "date": "Thu, 01 Jan 2026 11:00:00 GMT",
            },
            5,
        ),
        ({"retry-after": "Thu, 01 Jan 2026 11:00:05 GMT"}, 0),
        ({"retry-after": "Thu, 01 Jan 2099 11:00:05 GMT"}, LONGEST_PAUSE),
        ({"retry-after": "Thu, 99 Jan 99999 11:00:05"}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


def test_a_query_service_may_ask_for_a_longer_pause() -> None:
    assert retry_after({"retry-after": "99999"}, longest=math.inf) == 99999
    assert retry_after(httpx2.Headers({"Retry-After": "12"}), longest=math.inf) == 12


def test_draws_are_compared_with_other_draws_only() -> None:
    watch = DrawWatch()
    for n in range(ENOUGH):
        watch.see(ask(f"Who {n}?", sample=0), "Bonn")
        watch.see(ask(f"Who {n}?", sample=0), "Bonn")  # the same draw again
        watch.see(ask(f"Who {n}?", temperature=0), "Bonn")
    assert watch.vary is None
    for n in range(ENOUGH):
        watch.see(ask(f"Who {n}?", seed=1), "Bonn")
    assert watch.vary is False
    watch.see(ask("Who 0?", sample=1), "Rome")
    assert watch.vary is True
    assert watch.notice is None

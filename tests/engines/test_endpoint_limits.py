"""How much a reply may hold, and how long an endpoint may keep a call waiting."""

from __future__ import annotations

import time
import tracemalloc
from typing import Any

import pytest
from bad_server import LONG, BadServer, long_reply
from test_endpoint import answers, opened

from sayso.engines import open_model
from sayso.records import InputError, ask
from support.tables import tabled


def cursed(fault: str) -> Any:
    """Return a plan that spoils what asks a cursed question."""
    return lambda n, body: fault if "cursed" in body["messages"][0]["content"] else "ok"


TOO_LONG = "failed: the reply is longer than 10 MB (counted after decompression)"


@pytest.mark.parametrize(
    ("encoding", "problem"),
    [
        ("gzip", TOO_LONG),
        ("deflate", TOO_LONG),
        ("identity", TOO_LONG),
        ("gzip, gzip", "failed: the reply is compressed as 'gzip, gzip', which was not asked for"),
        ("br", "failed: the reply is compressed as 'br', which was not asked for"),
    ],
)
def test_a_reply_without_end_is_left_off_before_it_fills_the_memory(
    encoding: str, problem: str
) -> None:
    assert len(long_reply(encoding)) < LONG  # made before memory is looked at
    with opened(cursed(f"encoded=200,{encoding}")) as (server, engine):
        answers(engine, ask("Hello?"))
        tracemalloc.start()
        try:
            found = answers(engine, ask("Who?"), ask("A cursed question"), ask("When?"))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert [g.problem for g in found] == [None, problem, None]
        assert found[1].text == ""
        assert peak < 70e6  # bytes, where the reply has 200e6; the server's own copies are in it
        assert server.number == 4  # it would not be shorter the next time


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_a_long_error_is_read_as_far_as_the_limit(encoding: str) -> None:
    with opened(cursed(f"encoded=500,{encoding}"), retries=0) as (_, engine):
        answers(engine, ask("Hello?"))
        (found,) = answers(engine, ask("A cursed question"))
        assert (found.problem or "").startswith('failed: status 500: {"choices": [{"message"')


def test_an_error_that_cannot_be_read_has_its_status() -> None:
    with opened(cursed("encoded=500,br"), retries=1) as (_, engine):
        answers(engine, ask("Hello?"))
        (found,) = answers(engine, ask("A cursed question"))
        assert found.problem == "failed: status 500: (2 times)"


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "raw", "identity", "GZIP"])
def test_compressed_replies_are_read(encoding: str) -> None:
    with opened(switches={"encoding": encoding}) as (server, engine):
        (found,) = answers(engine, ask("Who?"))
        assert (found.problem, found.text[-3:]) == (None, "\u6771\u4eac.")
        assert server.headers[-1]["accept-encoding"] == "gzip, deflate"


def test_what_is_not_compressed_as_it_says_is_asked_again() -> None:
    with opened(cursed("encoded-wrongly"), retries=1) as (_, engine):
        answers(engine, ask("Hello?"))
        (found,) = answers(engine, ask("A cursed question"))
        assert found.problem == "failed: the reply cannot be decompressed (2 times)"


def test_a_list_of_models_without_end() -> None:
    with (
        BadServer(models=["x" * 1000] * 11_000) as server,
        pytest.raises(
            InputError, match=r"does not list its models \(the reply is longer than 10 MB"
        ),
    ):
        open_model(server.url)


@tabled
def test_a_strange_retry_after_is_bounded_and_said_once(after: str, said: str) -> None:
    start = time.monotonic()
    with opened(lambda n, b: f"after={after}" if n % 2 else "ok", patience=60) as (_, engine):
        found = answers(engine, ask("Who?"), ask("When?"), ask("Where?"))
        lines = [n for n in engine.notices if "Retry-After" in n]
        assert lines == [f"the endpoint's Retry-After {said} (0 to 120 s are respected): {after}"]
    assert time.monotonic() - start < 20
    if "120 s" in said:  # longer than the patience: not waited for
        assert any("(patience: 60 s)" in (g.problem or "") for g in found)
    else:
        assert [g.problem for g in found] == [None] * 3


def test_a_key_in_a_retry_after_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAYSO_API_KEY", "top-secret-0123456789-0123456789-0123456789")
    plan = "after=top-secret-0123456789-0123456789-0123456789"
    with opened(lambda n, b: plan if n == 1 else "ok") as (_, engine):
        answers(engine, ask("Who?"))
        (line,) = [n for n in engine.notices if "Retry-After" in n]
        assert line.endswith(": [key]")


def test_connections_are_used_again() -> None:
    with opened(concurrency=4) as (server, engine):
        answers(engine, *[ask(f"Who {n}?") for n in range(60)])
        assert server.number == 60
        assert len(server.open) <= 4


def test_an_ordinary_retry_after_is_not_spoken_of() -> None:
    with opened(lambda n, b: "after=0.05" if n == 1 else "ok") as (_, engine):
        assert [g.problem for g in answers(engine, ask("Who?"))] == [None]
        assert [n for n in engine.notices if "Retry-After" in n] == []


def test_an_endpoint_that_stays_busy_beyond_patience_leaves_a_reason_in_each_record() -> None:
    start = time.monotonic()
    with opened(lambda n, b: "after=100" if n > 20 else "ok", patience=1.0) as (server, engine):
        found = dict(engine.complete(ask(f"Who {n}?") for n in range(400)))
        assert len(found) == 400
        problems = [g.problem for g in found.values() if g.problem]
        assert len(problems) == 380
        assert engine.counts.failed == 380
        assert all("status 429: rate_limit_exceeded" in problem for problem in problems)
        assert all(problem.endswith("(patience: 1 s)") for problem in problems)
        assert any("not sent" in problem for problem in problems)
        assert server.number < 100
    assert time.monotonic() - start < 20


def test_a_call_is_repeated_while_patience_lasts() -> None:
    start = time.monotonic()
    with opened(cursed("500"), patience=0.6, retries=1000) as (server, engine):
        answers(engine, ask("Hello?"))
        (found,) = answers(engine, ask("A cursed question"))
        assert (found.problem or "").endswith(
            "server_error: error: something broke (patience: 0.6 s)"
        )
        assert server.number > 3
        assert [g.problem for g in answers(engine, ask("Who?"))] == [None]
    assert time.monotonic() - start < 10


def test_an_endpoint_that_recovers_within_patience_loses_nothing() -> None:
    with opened(lambda n, b: "after=0.2" if 5 < n < 30 else "ok", patience=30) as (_, engine):
        found = dict(engine.complete(ask(f"Who {n}?") for n in range(60)))
        assert [g.problem for g in found.values() if g.problem] == []


def test_after_patience_the_endpoint_is_asked_again() -> None:
    """A pause that ends gives the next request its chance."""
    with opened(lambda n, b: "after=0.4" if n == 2 else "ok", patience=0.2) as (server, engine):
        answers(engine, ask("Hello?"))
        (lost,) = answers(engine, ask("Who?"))
        assert (lost.problem or "").endswith("(patience: 0.2 s)")
        (unsent,) = answers(engine, ask("When?"))
        assert "not sent" in (unsent.problem or "")
        assert server.number == 2
        time.sleep(0.45)
        assert [g.problem for g in answers(engine, ask("Where?"))] == [None]


def test_nobody_listening_ends_the_run_whatever_the_patience() -> None:
    with BadServer() as server:
        url = server.url
    engine: Any = open_model(f"{url}#m", patience=0.01)
    with pytest.raises(InputError, match="nothing answers"):
        list(engine.complete([ask(f"Who {n}?") for n in range(50)]))
    engine.close()

"""Every way in which an endpoint or its user can be wrong ends in one clear line or one record."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bad_server import BadServer
from test_endpoint import answers, opened

from sayso import cli, engines
from sayso.engines import open_model
from sayso.engines.openai.calls import Asker, Call, CallPace, Session
from sayso.engines.openai.endpoint import explain, named_by_url
from sayso.engines.openai.reply import Fault
from sayso.records import Generation, InputError, Request, ask, request_key
from sayso.runs.asking import CachedEngine
from sayso.runs.judge import check_judge
from sayso.storage.cache import Cache
from support.tables import tabled

KEY = "top-secret-0123456789"


def line_of(plan: Any = None, switches: Any = None, model: str = "bad", path: str = "") -> str:
    """The one line that the first request ends with."""
    with BadServer(plan, **(switches or {})) as server:
        engine: Any = open_model(f"{server.url}{path}#{model}")
        engine.asker.pace.base = 0.005
        try:
            with pytest.raises(InputError) as caught:
                list(engine.complete([ask(f"Who {n}?") for n in range(5)]))
        finally:
            engine.close()
    line = str(caught.value)
    assert "\n" not in line
    assert KEY not in line
    return line


def test_unreachable() -> None:
    with BadServer() as server:
        url = server.url
    engine: Any = open_model(f"{url}#m")
    engine.asker.pace.base = 0.005
    with pytest.raises(InputError, match=r"nothing answers at http.*is it running"):
        list(engine.complete([ask("Who?")]))
    engine.close()
    with pytest.raises(InputError, match="nothing answers"):
        open_model(url)


def test_no_such_host() -> None:
    engine: Any = open_model("http://no-such-host.invalid/v1#m")
    engine.asker.pace.base = 0.005
    with pytest.raises(InputError, match=r"nothing answers at http://no-such-host\.invalid/v1"):
        list(engine.complete([ask("Who?")]))
    engine.close()


def test_unauthorized_names_the_variable_and_not_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    line = line_of(switches={"key": "right"})
    assert "wants a key" in line
    assert "SAYSO_API_KEY_127_0_0_1 or SAYSO_API_KEY" in line
    monkeypatch.setenv("SAYSO_API_KEY", KEY)
    line = line_of(switches={"key": "right"})  # the server repeats the key that it got
    assert "refuses the key in" in line
    assert "[key]" in line


def test_a_missing_key_for_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InputError, match="needs a key: set the variable OPENAI_API_KEY"):
        open_model("openai:gpt-4o")


def test_a_name_that_cannot_be_opened_is_repeated_as_typed() -> None:
    for name in (
        "antropic:claude-haiku-4-5", "bedrock:eu.amazon.nova-lite-v1:0",
        "antropic:claude-opus-4-6@20260205",
    ):  # fmt: skip
        with pytest.raises(InputError) as caught:
            open_model(name)
        assert str(caught.value).startswith(f"model {name!r} is not a name sayso can open")
        assert "anthropic" in str(caught.value)
    with pytest.raises(InputError) as caught:
        open_model("me:pa55word@host:8000/v1")
    assert "pa55word" not in str(caught.value)


def test_a_key_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-\nnew line")
    with pytest.raises(InputError, match="characters that keys never have") as caught:
        open_model("openai:gpt-4o")
    assert "new line" not in str(caught.value)


def test_wrong_path() -> None:
    assert "has no chat completions" in line_of(path="/nowhere")


def test_forbidden_and_redirected() -> None:
    told = line_of(lambda n, b: "403")  # nothing in it is about a key
    assert "does not allow what was asked (status 403: " in told
    assert "key" not in told
    told = explain(named_by_url("http://h/v1#m"), Fault("first", "status 403: no permission"))
    assert "wants a key; set SAYSO_API_KEY_H or SAYSO_API_KEY" in told
    told = line_of(lambda n, b: "redirect")
    assert "redirects its calls (status 307: a redirect to http://127.0.0.1:1/v1)" in told
    assert "pass the address to which it leads" in told


@tabled
@pytest.mark.parametrize("name", ["HTTP_PROXY", "https_proxy", "ALL_PROXY"])
def test_a_proxy_that_cannot_be_used(
    name: str, address: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for other in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(other, raising=False)
        monkeypatch.delenv(other.upper(), raising=False)
    monkeypatch.setattr(engines.util, "find_spec", lambda package: None)
    monkeypatch.setenv(name, address)
    with pytest.raises(InputError) as caught:
        list(open_model("http://127.0.0.1:1/v1#m").complete([ask("Who?")]))
    told = str(caught.value)
    assert told.startswith(f"{name} is ")
    assert said in told
    assert "pa55word" not in told
    for usable in ("127.0.0.1:9", "http://me:pa55word@127.0.0.1:9", ""):
        monkeypatch.setenv(name, usable)
        engines.check_proxies()
    monkeypatch.setenv(name, address)
    monkeypatch.setenv("NO_PROXY", "*")
    engines.check_proxies()


def test_quota() -> None:
    assert "no money left" in line_of(lambda n, b: "quota")


def test_a_model_that_is_not_served() -> None:
    line = line_of(lambda n, b: "400", {"models": ["a", "b"]}, model="c")
    assert "does not serve 'c'; it lists: a, b" in line


def test_an_endpoint_that_refuses_everything() -> None:
    with opened(lambda n, b: "400") as (_, engine):
        found = dict(engine.complete(ask(f"Who {n}?") for n in range(5)))
        assert [(a.problem or "")[:18] for a in found.values()] == ["failed: status 400"] * 5
        with pytest.raises(InputError, match=r"refuses every request so far \(status 400"):
            list(engine.complete(ask(f"When {n}?") for n in range(50)))


def test_an_endpoint_without_a_list_of_models() -> None:
    with BadServer() as server, pytest.raises(InputError, match="list, name the model: URL#model"):
        open_model(server.url.replace("/v1", "/v2"))


def test_several_models_or_none() -> None:
    with (
        BadServer(models=["a", "b"]) as server,
        pytest.raises(InputError, match=r"lists 2 models: name one \(http.*#a, http.*#b\)"),
    ):
        open_model(server.url)
    with BadServer(models=[]) as server, pytest.raises(InputError, match="lists 0 models"):
        open_model(server.url)


def test_html() -> None:
    assert "something other than JSON (a web page" in line_of(lambda n, b: "html")


@tabled
def test_what_no_endpoint_answers_ends_everything_soon(fault: str, said: str, most: int) -> None:
    """Thirty requests at sixteen places: nobody waits for a dozen tries of each of them."""
    with opened(lambda n, b: fault, concurrency=16) as (server, engine):
        with pytest.raises(InputError) as caught:
            list(engine.complete(ask(f"Who {n}?") for n in range(30)))
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)
        # a page is believed once one request got it three times: all others got it by then, too
        assert server.number <= most * 30


@pytest.mark.parametrize("fault", ["500-html", "503-html", "html", "redirect"])
def test_a_page_among_answers_is_asked_again(fault: str) -> None:
    with opened(lambda n, b: fault if n in (2, 3, 4, 5) else "ok", concurrency=1) as (_, engine):
        found = answers(engine, ask("Who?"), ask("When?"))
        assert [g.problem for g in found] == [None, None]


@pytest.mark.parametrize("fault", ["502-html", "html", "redirect"])
def test_one_page_or_redirect_as_the_first_reply_ends_nothing(fault: str) -> None:
    with opened(lambda n, b: fault if n == 1 else "ok", concurrency=1) as (_, engine):
        assert [g.problem for g in answers(engine, ask("Who?"))] == [None]


def test_an_endpoint_that_asks_to_wait_is_waited_for() -> None:
    with opened(lambda n, b: "503-html-wait" if n < 6 else "ok", concurrency=1) as (_, engine):
        assert [g.problem for g in answers(engine, ask("Who?"))] == [None]


@pytest.mark.parametrize("fault", ["501", "html"])
def test_a_check_and_a_judge_end_with_the_same_line(
    fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with BadServer(lambda n, b: fault) as server:
        name = f"{server.url}#bad"
        assert cli.execute(["check", name]) == 2
        run = ["run", "uncle", "--limit", "1", "--judge", name, "--set", f"cache={tmp_path / 'c'}"]
        assert cli.execute([*run, "--out", str(tmp_path / "r")]) == 2
        assert (
            cli.execute(["judge-check", name, "--limit", "2", "--set", f"cache={tmp_path / 'c'}"])
            == 2
        )
        assert server.number <= 9
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count(f"sayso: model '{name}': {server.url} ") == 3


@tabled
def test_addresses_that_are_none(name: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        open_model(name)
    assert KEY not in str(caught.value)


@tabled
def test_options_that_are_none(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        open_model("http://127.0.0.1:1/v1#m", **options)


RECORDED = {
    "not-json": "failed: invalid or truncated JSON (3 times)",
    "cut-json": "failed: invalid or truncated JSON (3 times)",
    "cut-body": "failed: connection broke: RemoteProtocolError (3 times)",
    "empty-body": "failed: empty reply (3 times)",
    "no-choices": "failed: a reply without choices (3 times)",
    "error-200": "failed: status 200: server_error: error: upstream broke (3 times)",
    "500": "failed: status 500: server_error: error: something broke (3 times)",
    "429": "failed: status 429: rate_limit_exceeded: error: Rate limit reached",
    "501": "failed: status 501: not_implemented: error: Unsupported method ('POST')",
    "400": "failed: status 400: bad: error: the request makes no sense",
    "finish-error": "failed: the endpoint broke off the answer (3 times)",
    "html": "failed: a web page instead of JSON (3 times)",
    "403": "failed: status 403: forbidden: error: not for you (3 times)",
    "overflow": "context",
    "filter": "failed: content filter",
    "filter-400": "failed: content filter",
}


@pytest.mark.parametrize("fault", RECORDED)
def test_a_request_that_fails_for_good_is_a_record_and_the_others_go_on(fault: str) -> None:
    def plan(number: int, body: dict[str, Any]) -> str:
        return fault if "cursed" in body["messages"][0]["content"] else "ok"

    with opened(plan, retries=2) as (_, engine):
        answers(engine, ask("Hello?"))
        found = answers(engine, ask("Who?"), ask("A cursed question"), ask("When?"))
        assert found[1].problem == RECORDED[fault]
        assert found[1].text == ""
        assert [g.problem for g in (found[0], found[2])] == [None, None]
        assert engine.counts.failed == (fault != "overflow") or fault == "overflow"
        assert engine.capabilities.context == (4096 if fault == "overflow" else None)


#: replies with status 200 that hold no answer, and what is said of them
NO_ANSWER = {
    '{"message": {"content": null}, "finish_reason": "stop"}':
        "the message's content is null, no text",
    '{"message": {"content": null}}': "the message's content is null, no text",
    '{"message": {"content": 42}}': "the message's content is a number, no text",
    '{"message": {"content": {"answer": "Bonn"}}}': "the message's content is an object, no text",
    '{"message": {"role": "assistant"}}': "the message has no content",
    '{"message": null}': "the message is null, no object",
    '{"finish_reason": "stop"}': "the choice has no message",
    '{"text": "Bonn", "finish_reason": "stop"}': "the choice has no message, but 'text'",
    '{"delta": {"content": "Bonn"}}': "the choice has no message, but 'delta'",
    '{"message": null, "text": "Bonn"}': "the message is null, no object",
    '{"message": {"content": null, "tool_calls": [{"id": "1"}]}, "finish_reason": "tool_calls"}':
        "the model called a tool instead of answering",
    '{"message": {"tool_calls": [{"id": "1"}]}, "finish_reason": "stop"}':
        "the model called a tool instead of answering",
}  # fmt: skip


@pytest.mark.parametrize("choice", NO_ANSWER)
def test_what_is_no_text_is_no_answer_and_is_not_kept(choice: str, tmp_path: Path) -> None:
    def plan(number: int, body: dict[str, Any]) -> str:
        return f"choices={choice}" if "cursed" in body["messages"][0]["content"] else "ok"

    with opened(plan) as (server, engine), Cache(tmp_path) as cache:
        cached = CachedEngine(engine, cache)
        asked = [ask("Who?"), ask("A cursed question"), ask("When?")]
        found = dict(cached.complete(asked))
        assert (found[1].text, found[1].problem) == ("", f"failed: {NO_ANSWER[choice]}")
        assert [found[n].problem for n in (0, 2)] == [None, None]
        assert found[1].usage.completion_tokens == 7  # it was paid for
        assert engine.counts.failed == 1
        assert server.number == 3
        dict(cached.complete(asked))  # the next run asks again what has no answer, and only that
        assert server.number == 4


def test_a_choice_without_a_text_takes_no_other_answer_with_it() -> None:
    two = 'choices={"index": 1, "message": {"content": "Bonn"}}, {"message": {"content": null}}'
    with opened(lambda n, b: two) as (_, engine):
        found = answers(engine, ask("Who?", sample=0), ask("Who?", sample=1))
        assert [g.text for g in found] == ["", "Bonn"]
        assert found[0].problem == "failed: the message's content is null, no text"
        assert found[1].problem is None


def test_empty_strings_stay_what_they_are_and_are_counted(tmp_path: Path) -> None:
    requests = [ask("Who?"), ask("When?"), ask("Where?")]
    with (
        opened(lambda n, b: "empty" if n < 3 else "ok", concurrency=1) as (server, engine),
        Cache(tmp_path) as cache,
    ):
        for _ in range(2):  # those of the cache are counted too, and not asked again
            cached = CachedEngine(engine, cache)
            found = dict(cached.complete(requests))
            assert (found[0].text, found[0].problem, found[0].finish) == ("", None, "stop")
            assert [found[n].problem for n in range(3)] == [None, None, None]
            notice = "2 of 3 answers: the reply's text is empty, and kept as an answer"
            assert notice in cached.notices
        assert server.number == 3


def test_answers_that_ended_otherwise_are_kept_and_counted(tmp_path: Path) -> None:
    def plan(number: int, body: dict[str, Any]) -> str:
        cursed = "cursed" in body["messages"][0]["content"]
        choice = '{"message": {"content": "Bonn"}, "finish_reason": "abort"}'
        return f"choices={choice}" if cursed else "ok"

    with opened(plan) as (_, engine), Cache(tmp_path) as cache:
        for _ in range(2):  # those of the cache are counted, too
            cached = CachedEngine(engine, cache)
            found = dict(cached.complete([ask("Who?"), ask("A cursed question")]))
            assert (found[1].text, found[1].finish) == ("Bonn", "other: abort")
            told = "finish_reason abort: sayso does not know whether the answer is whole"
            assert f"1 of 2 answers: {told}" in cached.notices


def test_an_empty_answer_of_an_earlier_version_is_asked_for_again(tmp_path: Path) -> None:
    """It may have been a reply without a text, which that version took for an empty one."""
    request = ask("Who?")
    with opened() as (server, engine), Cache(tmp_path) as cache:
        key = request_key(request, engine.identity)
        cache.put(key, Generation(request, finish="stop"))
        for _ in range(2):
            found = dict(CachedEngine(engine, cache).complete([request]))
            assert found[0].text
        assert server.number == 1


def test_another_models_name_is_noticed_once() -> None:
    with opened(switches={"says_model": "other-7b"}) as (_, engine):
        answers(engine, *[ask(f"Who {n}?") for n in range(5)])
        said = [n for n in engine.notices if "other-7b" in n]
        assert said == ["requests name 'bad', but the endpoint says that 'other-7b' answers"]
    with opened(switches={"says_model": "bad-2024-08-06"}) as (server, engine):
        answers(engine, ask("Who?"))
        assert engine.notices == []
        server.says_model = "bad-2024-11-20"
        answers(engine, ask("Who else?"), ask("Where?"))
        (changed,) = engine.notices
        assert "changed during the run" in changed
        assert "'bad-2024-11-20': 2, 'bad-2024-08-06': 1" in changed


def test_a_server_that_never_answers_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(lambda n, b: "hang", timeout=0.05, retries=1) as (_, engine):
        (found,) = answers(engine, ask("Who?"))
        assert found.problem == "failed: no answer in 0.05 s (2 times)"


def test_a_repeated_key_reaches_no_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAYSO_API_KEY", KEY)
    with opened(switches={"echo": True}) as (_, engine):
        (found,) = answers(engine, ask("Who?"))
        assert "[key]" in found.text
        assert KEY not in repr(found)
        assert KEY not in repr(engine.asker.endpoint)


def test_interrupting_closes_what_is_on_its_way_and_twice_does_not_hang() -> None:
    with opened(lambda n, b: "hang" if n > 3 else "ok") as (server, engine):
        stream = engine.complete(ask(f"Who {n}?") for n in range(100))
        for _ in range(3):
            next(stream)
        with pytest.raises(KeyboardInterrupt):
            stream.throw(KeyboardInterrupt())
        with pytest.raises(StopIteration):
            next(stream)
        stream.close()
        engine.close()
        engine.close()
        assert not engine.thread.alive
        assert not [t for t in threading.enumerate() if t.name == "sayso-endpoint"]
        assert server.number < 100


PROGRAM = """
import signal
import sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
from sayso.engines import open_model
from sayso.records import ask
engine = open_model(sys.argv[1])
print("asking", flush=True)
try:
    list(engine.complete(ask(f"Who {n}?") for n in range(100)))
finally:
    print("closing", flush=True)
    engine.close()
"""


@pytest.mark.slow
def test_ctrl_c_twice_ends_the_process() -> None:
    with BadServer(lambda n, b: "hang") as server:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, f"{server.url}#bad"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "asking\n"
        while server.number < 5:  # its calls are on their way
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "closing\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode != 0
        assert "KeyboardInterrupt" in errors


def test_held_nothing_more_is_sent_and_what_is_on_its_way_comes() -> None:
    with opened(concurrency=4) as (server, engine):
        server.delay = 0.3
        stream = engine.complete(ask(f"Who {n}?") for n in range(60))
        first = next(stream)
        before = server.number
        on_their_way = engine.hold()
        assert 1 <= on_their_way <= 4
        rest = list(stream)
        # the window holds 14; what waited behind the four places was never sent
        assert server.number - before <= 4
        assert len(rest) + 1 == server.number
        assert all(answer.problem is None for _, answer in (first, *rest))
        assert engine.counts.failed == 0
        # only what was being asked is held: the engine can be asked again
        server.delay = 0.0
        assert [g.problem for g in answers(engine, ask("When?"))] == [None]


@pytest.mark.parametrize("fault", ["500", "429"])
def test_held_nothing_is_asked_again(fault: str) -> None:
    with opened(lambda n, b: fault if n > 1 else "ok", concurrency=2) as (server, engine):
        stream = engine.complete(ask(f"Who {n}?") for n in range(60))
        next(stream)
        engine.asker.pace.base = 3600.0  # whoever waits for its turn waits for an hour
        while server.number < 3:
            time.sleep(0.001)
        engine.hold()
        assert list(stream) == []  # nobody is told that it failed: it was not asked to the end
        assert engine.counts.failed == 0


def test_what_is_on_its_way_is_not_awaited_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sayso.engines.openai.calls.GRACE", 0.05)
    with opened(lambda n, b: "ok" if n == 1 else "hang", concurrency=2) as (server, engine):
        stream = engine.complete(ask(f"Who {n}?") for n in range(60))
        next(stream)
        while server.number < 3:
            time.sleep(0.001)
        assert engine.hold() >= 1
        assert list(stream) == []


def test_a_user_who_stops_reading_frees_the_endpoint() -> None:
    with opened(lambda n, b: "hang" if "slow" in str(b["messages"]) else "ok") as (_, engine):
        engine.asker.pace.limit = engine.asker.pace.most = 2

        def requests() -> Iterator[Request]:
            yield ask("Who?")
            for n in range(20):
                yield ask(f"slow {n}")

        stream = engine.complete(requests())
        next(stream)
        stream.close()
        (found,) = answers(engine, ask("When?"))
        assert found.problem is None


def test_a_closed_engine_says_so() -> None:
    with opened(lambda n, b: "hang") as (_, engine):
        stream = engine.complete([ask("Who?")])
        closer = threading.Timer(0.05, engine.close)
        closer.start()
        with pytest.raises(InputError, match="closed before all answers came"):
            next(stream)
        closer.join()


def test_a_call_canceled_before_it_ran_frees_its_place() -> None:
    with opened(concurrency=1) as (_, engine):
        left = Session(engine.dispatcher)

        async def begun_and_dropped() -> None:
            engine.dispatcher.add([Call(left, [0], [ask("never asked")])])
            engine.dispatcher.drop(left)  # before the loop could start it

        engine.thread.wait(begun_and_dropped(), 10)
        # the only place is free again: else nobody would ever be answered
        assert [g.problem for g in answers(engine, ask("next"))] == [None]


def test_what_cannot_be_written_is_a_record_and_nobody_waits_for_it() -> None:
    with opened() as (_, engine):
        wrong: Any = ({"role": "user", "content": "no Message"},)
        first, second = answers(engine, Request(messages=wrong), ask("fine"))
        assert (first.problem or "").startswith("failed: unexpected AttributeError")
        assert second.problem is None


def test_an_exception_inside_a_call_ends_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    with opened() as (_, engine):

        async def broken(asker: Asker, call: Call) -> float | None:
            raise ZeroDivisionError("a bug of ours")

        monkeypatch.setattr(Asker, "__call__", broken)
        with pytest.raises(ZeroDivisionError):
            answers(engine, ask("x"))


def test_a_limit_cut_while_requests_are_taken() -> None:
    """The loop's thread may cut the limit between two looks at it."""

    class Cut(CallPace):
        looks = 0

        @property
        def window(self) -> int:
            self.looks += 1
            return -9 if self.looks == 2 else 2  # fewer than are open: there is no room

    with opened() as (_, engine):
        engine.asker.pace = Cut(4)
        assert len(answers(engine, *[ask(f"{n}") for n in range(6)])) == 6
        assert engine.asker.pace.looks > 2


def test_names_of_models_are_shown_without_control_characters() -> None:
    with BadServer(models=["red\x1b[31m", "two\nlines\x9b"]) as server:
        with pytest.raises(InputError) as caught:
            open_model(server.url)
        assert str(caught.value).isprintable()


@pytest.mark.parametrize("slash", ["/", r"\/", r"\u002f", r"\u002F"])
def test_a_key_is_known_however_json_writes_it(monkeypatch: pytest.MonkeyPatch, slash: str) -> None:
    monkeypatch.setenv("SAYSO_API_KEY", "abc/def/0123456789")

    class Writing(BadServer):
        def reply(self, *call: Any) -> tuple[Any, ...]:
            wait, status, headers, body, end = super().reply(*call)
            return wait, status, headers, body.replace(b"abc/def", f"abc{slash}def".encode()), end

    with Writing(echo=True) as server:
        engine: Any = open_model(f"{server.url}#bad")
        (found,) = answers(engine, ask("Who?"))
        engine.close()
    assert "0123456789" not in repr(found)
    assert "[key]" in found.text


@pytest.mark.parametrize(
    "name", ["@endpoints.txt", "@endpoints.txt#org/m", "http://a/v1#m,http://b/v1#m"]
)
def test_several_endpoints_of_one_model_need_a_router(name: str) -> None:
    for refused in (lambda: open_model(name), lambda: check_judge(name)):
        with pytest.raises(InputError, match="put a router before several") as caught:
            refused()
        assert "\n" not in str(caught.value)
    assert cli.execute(["run", "uncle", "--model", name, "--set", "concurrency=4"]) == 2


def test_a_host_that_is_none_is_one_line() -> None:
    with pytest.raises(InputError, match=r"'http://☃\.com/v1' in the model name is not an address"):
        open_model("http://☃.com/v1#m")


def test_reasons_of_repeated_calls_add_up_to_their_number() -> None:
    sometimes = lambda number, body: "500" if number % 5 == 4 else "ok"  # noqa: E731
    with opened(sometimes, {"refuses": ("seed",)}, concurrency=4) as (server, engine):
        engine.asker.pace.base = 0.005
        answers(engine, *[ask(f"Who {n}?") for n in range(40)])
        broken = server.did["500"]
        assert broken > 1
        (line,) = [n for n in engine.notices if "repeated" in n]
        assert line == f"{broken} calls to the endpoint were repeated (status 500: {broken})"

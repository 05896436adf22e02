"""Several endpoints that serve one model: who is asked, who is set aside, and what is told."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bad_server import BadServer, mixture
from test_endpoint import answers

import sayso
from sayso.engines import open_model
from sayso.engines.openai import engine as engine_module
from sayso.engines.openai.calls import Call, Session
from sayso.engines.openai.endpoint import named_by_urls
from sayso.judges.judge import family
from sayso.records import Generation, InputError, Request, ask, request_key
from sayso.runs.judge import check_judge, open_judge


def quick(engine: Any) -> Any:
    """Let an engine try again soon."""
    for asker in engine.dispatcher.askers:
        asker.pace.base = 0.005
    return engine


@contextlib.contextmanager
def several(plans: list[Any], switches: Any = None, **options: Any) -> Iterator[Any]:
    """Servers of one model, and an engine that asks all of them."""
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(BadServer(p, **(switches or {}))) for p in plans]
        engine = quick(open_model(",".join(f"{s.url}#bad" for s in servers), **options))
        stack.callback(engine.close)
        yield servers, engine


def fault(name: str) -> Callable[[int, Any], str]:
    return lambda number, body: name


# ---- names


def urls(name: str) -> list[str]:
    return [endpoint.name for endpoint in named_by_urls(name)[0]]


def test_urls_stand_with_commas_between_and_one_model_holds_for_all() -> None:
    named = ["http://a:8000/v1#org/m", "http://b/v1#org/m"]
    assert urls("http://a:8000/v1#org/m,http://b/v1#org/m") == named
    assert urls("http://a:8000/v1/, http://b/v1#org/m") == named
    assert urls("http://a:8000/v1#org/m,http://b/v1,http://b/v1/#org/m") == named
    assert urls("http://a/v1#a,b") == ["http://a/v1#a,b"]  # a comma in the name of a model


def test_a_file_has_one_endpoint_in_a_line(tmp_path: Path) -> None:
    file = tmp_path / "endpoints.txt"
    file.write_text("# ours\nhttp://a/v1#m\n\nhttp://b/v1  # the new one\n  #http://c/v1\n")
    assert urls(f"@{file}") == ["http://a/v1#m", "http://b/v1#m"]
    file.write_text("http://a/v1\nhttp://b/v1\n")
    assert urls(f"@{file}#org/m") == ["http://a/v1#org/m", "http://b/v1#org/m"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "lists no endpoint: expected one URL per line"),
        ("# nothing\n", "lists no endpoint"),
        ("a:8000\n", "'a:8000' in .*endpoints.txt:1 is not an address"),
        (
            "# ours\nhttp://a/v1\n\nnot a url\n",
            "'not a url' in .*endpoints.txt:4 is not an address",
        ),
        ("http://a/v1\nhttp://me:secret@b/v1\n", "the URL in .*endpoints.txt:2 contains a user"),
        ("http://a/v1#m\nhttp://b/v1#n\n", r"serve different models \('m' at .*, 'n' at .*\)"),
    ],
)
def test_a_file_that_names_no_endpoints_of_one_model(tmp_path: Path, text: str, line: str) -> None:
    file = tmp_path / "endpoints.txt"
    file.write_text(text)
    with pytest.raises(InputError, match=line):
        open_model(f"@{file}")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*endpoints.txt: No such file"):
        open_model(f"@{tmp_path}/endpoints.txt")


def test_the_identity_is_the_model_whoever_answers(tmp_path: Path) -> None:
    with BadServer() as a, BadServer() as b:
        file = tmp_path / "endpoints"
        file.write_text(f"{a.url}\n{b.url}\n")
        for name in (f"{a.url}#bad", f"{b.url}#bad", f"{a.url},{b.url}", f"@{file}"):
            engine = open_model(name)
            assert engine.identity == "api:bad"
            assert engine.signature == "bad"
            engine.close()
        assert engine.name == f"@{file}#bad"


def test_endpoints_of_different_models_are_one_line() -> None:
    with BadServer(models=["m"]) as a, BadServer(models=["n"]) as b:
        with pytest.raises(InputError, match=r"different models \('m' at .*, 'n' at .*\): a run"):
            open_model(f"{a.url},{b.url}")
        with pytest.raises(InputError, match=r"does not serve 'm'; it lists: n"):
            open_model(f"{a.url}#m,{b.url}#m")


def test_no_model_is_named_and_nobody_says_which() -> None:
    with BadServer() as a, BadServer() as b:
        dead = f"{a.url},{b.url}"
    with pytest.raises(InputError, match="nothing answers at"):
        open_model(dead)
    with (
        BadServer(models=["m", "n"]) as a,
        BadServer(models=["m", "n"]) as b,
        pytest.raises(InputError, match="lists 2 models: name one"),
    ):
        open_model(f"{a.url},{b.url}")


# ---- who is asked


def test_calls_go_where_there_is_room() -> None:
    with several([None] * 4, {"delay": 0.005}, concurrency=8) as (servers, engine):
        found = answers(engine, *[ask(f"Who {n}?", temperature=0) for n in range(400)])
        assert [a.problem for a in found if a.problem] == []
        assert sum(server.number for server in servers) == 400
        assert all(60 <= server.number <= 140 for server in servers)
        (line,) = [n for n in engine.notices if n.startswith("answers by endpoint")]
        assert line.count("(0 calls failed)") == 4


def test_an_option_that_is_not_taken_is_no_failed_call() -> None:
    with several([None] * 2, {"refuses": ("seed",)}, concurrency=4) as (servers, engine):
        found = answers(engine, *[ask(f"Who {n}?") for n in range(40)])
        assert [a.problem for a in found if a.problem] == []
        assert sum(server.number for server in servers) > 40
        (line,) = [n for n in engine.notices if n.startswith("answers by endpoint")]
        assert line.count("(0 calls failed)") == 2


def test_reasons_of_repeated_calls_add_up_to_their_number() -> None:
    sometimes = lambda number, body: "500" if number % 5 == 4 else "ok"  # noqa: E731
    with several([sometimes] * 2, {"refuses": ("seed",)}, concurrency=4) as (servers, engine):
        answers(engine, *[ask(f"Who {n}?") for n in range(40)])
        broken = sum(server.did["500"] for server in servers)
        assert broken > 1
        (line,) = [n for n in engine.notices if "repeated" in n]
        assert line == f"{broken} calls to the endpoints were repeated (status 500: {broken})"


def places(servers: list[BadServer]) -> dict[str, set[int]]:
    """Return which servers answered each prompt."""
    found: dict[str, set[int]] = {}
    for place, server in enumerate(servers):
        for body in server.bodies:
            found.setdefault(body["messages"][0]["content"], set()).add(place)
    return found


def test_draws_of_a_prompt_stay_at_one_endpoint() -> None:
    with several([None] * 4, {"delay": 0.02}, concurrency=32) as (servers, engine):
        for asker in engine.dispatcher.askers:
            asker.learned.choices = 1  # no `n`, so that each draw is a call of its own
        requests = [ask(f"Who {n}?", sample=k) for n in range(100) for k in range(8)]
        answers(engine, *requests)
        cold = sum(len(at) for at in places(servers).values())
        assert cold <= 200  # 100 is the least; 360 where each draw goes anywhere
        assert all(130 <= server.number <= 280 for server in servers)


def test_a_prompt_has_the_same_endpoint_in_the_next_run() -> None:
    with BadServer() as a, BadServer() as b, BadServer() as c:
        for _ in range(2):
            engine = quick(open_model(",".join(f"{s.url}#bad" for s in (a, b, c)), concurrency=64))
            answers(engine, *[ask(f"Who {n}?", sample=0) for n in range(30)])
            engine.close()
        assert {len(at) for at in places([a, b, c]).values()} == {1}


def test_few_calls_are_shared_out_too() -> None:
    with several([None] * 3) as (servers, engine):
        answers(engine, *[ask(f"Who {n}?", sample=k) for n in range(30) for k in range(3)])
        assert all(server.number >= 3 for server in servers)


def test_the_limit_and_the_pause_are_each_endpoints_own() -> None:
    with several([None, fault("after=60")], concurrency=8) as (servers, engine):
        start = time.monotonic()
        found = answers(engine, *[ask(f"Who {n}?", temperature=0) for n in range(60)])
        assert time.monotonic() - start < 20
        assert [a.problem for a in found if a.problem] == []
        assert servers[0].number == 60
        assert servers[1].number <= 8
        one, two = engine.dispatcher.askers
        assert two.pace.limit < one.pace.limit


# ---- who is set aside


def test_a_dead_endpoint_is_set_aside_and_comes_back() -> None:
    with several([None, None], {"delay": 0.01}, concurrency=4) as (servers, engine):
        found = []
        for _, answer in engine.complete(ask(f"Who {n}?", temperature=0) for n in range(400)):
            found.append(answer)
            if len(found) == 40:
                servers[1].die()
                threading.Timer(0.3, servers[1].rise).start()
                before = servers[1].number
        assert [a.problem for a in found if a.problem] == []
        assert servers[1].number > before + 20
        (line,) = [n for n in engine.notices if "was skipped" in n]
        assert line.startswith(servers[1].url)
        assert "nobody listens" in line


@pytest.mark.parametrize("name", ["500", "not-json", "reset", "html"])
def test_an_endpoint_that_only_fails_costs_no_answer(name: str) -> None:
    with several([None, fault(name)], {"delay": 0.002}, concurrency=8) as (servers, engine):
        found = answers(engine, *[ask(f"Who {n}?", temperature=0) for n in range(200)])
        assert [a.problem for a in found if a.problem] == []
        assert sum(servers[0].answered.values()) == 200
        assert servers[1].number < 120
        assert any(n.startswith(f"{servers[1].url} was skipped") for n in engine.notices)


def test_an_endpoint_that_refuses_the_key_is_left_out_and_told() -> None:
    with BadServer() as good, BadServer(key="right") as closed:
        engine = quick(open_model(f"{good.url}#bad,{closed.url}#bad"))
        found = answers(engine, *[ask(f"Who {n}?") for n in range(50)])
        assert [a.problem for a in found if a.problem] == []
        (line,) = [n for n in engine.notices if "cannot be asked: " in n]
        assert "wants a key; set" in line
        engine.close()


def test_no_endpoint_that_can_be_asked_is_one_line() -> None:
    with BadServer(key="right") as closed, BadServer() as dead:
        name = f"{dead.url}#bad,{closed.url}#bad"
        dead.die()
        engine = quick(open_model(name))
        with pytest.raises(InputError, match=r"none of the 2 endpoints can be asked") as caught:
            list(engine.complete([ask(f"Who {n}?") for n in range(5)]))
        assert "\n" not in str(caught.value)
        for server, why in ((dead, "nothing answers at"), (closed, "wants a key")):
            assert str(caught.value).count(f"{server.url}#bad") == 1
            assert why in str(caught.value)
        closed.key = ""  # as somebody mends it
        assert [a.problem for a in answers(engine, ask("Who?"))] == [None]
        engine.close()


def test_every_endpoint_that_nobody_answers_at_is_named() -> None:
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(BadServer()) for _ in range(7)]
        for server in servers:
            server.die()
        for few in (servers[:2], servers):
            engine = quick(open_model(",".join(f"{s.url}#bad" for s in few)))
            with pytest.raises(InputError) as caught:
                list(engine.complete([ask(f"Who {n}?") for n in range(20)]))
            engine.close()
            line = str(caught.value)
            named = [server for server in few if f"{server.url}#bad" in line]
            assert len(named) == min(len(few), 4)
            assert line.startswith(f"none of the {len(few)} endpoints can be asked: model 'http")
            assert line.endswith("and 3 more") == (len(few) == 7)


def test_the_last_calls_of_a_session_that_ended_do_not_end_the_next_one() -> None:
    with BadServer(key="right", delay=0.02) as one, BadServer(key="right", delay=0.02) as two:
        engine = quick(open_model(f"{one.url}#bad,{two.url}#bad"))
        session = Session(engine.dispatcher)
        session.submit([Call(session, [n], [ask(f"Who {n}?")]) for n in range(24)])
        with pytest.raises(InputError, match="none of the 2 endpoints can be asked"):
            session.take()
        deadline = time.monotonic() + 10.0
        while engine.dispatcher.in_flight and time.monotonic() < deadline:
            time.sleep(0.01)
        assert [asker.ended for asker in engine.dispatcher.askers] == [None, None]
        two.key = ""
        assert [a.problem for a in answers(engine, *[ask(f"Who {n}?") for n in range(9)])] == (
            [None] * 9
        )
        engine.close()


def test_all_dead_leaves_a_reason_in_each_record() -> None:
    with several([None, None], concurrency=4, patience=0.5) as (servers, engine):
        found = []
        for _, answer in engine.complete(ask(f"Who {n}?") for n in range(100)):
            found.append(answer)
            if len(found) == 20:
                servers[0].die()
                servers[1].die()
        assert len(found) == 100
        failed = [a.problem for a in found if a.problem is not None]
        assert failed
        assert all("patience: 0.5 s" in problem for problem in failed)
        assert engine.counts.failed == len(failed)


def test_an_endpoint_that_comes_back_with_another_model_is_not_asked() -> None:
    with several([None, None], {"delay": 0.005}, concurrency=4) as (servers, engine):
        found = []
        for _, answer in engine.complete(ask(f"Who {n}?", temperature=0) for n in range(300)):
            found.append(answer)
            if len(found) == 30:
                servers[1].die()
                before = servers[1].number
                servers[1].models = ["other"]
                threading.Timer(0.1, servers[1].rise).start()
        assert [a.problem for a in found if a.problem] == []
        assert servers[1].number <= before + 8  # what was on its way
        assert any("does not serve 'bad'; it lists: other" in n for n in engine.notices)


# ---- one regime of sampling


def test_what_one_endpoint_refuses_is_sent_to_none() -> None:
    with BadServer(refuses=("min_p",), delay=0.002) as one, BadServer(delay=0.002) as two:
        engine = quick(open_model(f"{one.url}#bad,{two.url}#bad", concurrency=4))
        answers(engine, *[ask(f"Who {n}?") for n in range(40)])
        one.bodies.clear()
        two.bodies.clear()
        found = answers(engine, *[ask(f"When {n}?") for n in range(40)])
        assert all("min_p: not sent" in a.overrides for a in found)
        assert two.bodies
        assert not any("min_p" in body for body in two.bodies)
        engine.close()


def test_each_endpoint_is_told_in_its_own_words() -> None:
    with BadServer(refuses=("max_tokens",), delay=0.002) as one, BadServer(delay=0.002) as two:
        engine = quick(open_model(f"{one.url}#bad,{two.url}#bad", concurrency=4))
        found = answers(engine, *[ask(f"Who {n}?") for n in range(80)])
        assert not any("max_tokens" in o for a in found for o in a.overrides)
        assert "max_completion_tokens" in one.bodies[-1]
        assert "max_tokens" in two.bodies[-1]
        engine.close()


# ---- a file that changes


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "REREAD", 0.02)


def rewrite(file: Path, text: str) -> None:
    """Change a file as editors do, in one piece."""
    new = file.with_suffix(".new")
    new.write_text(text)
    os.replace(new, file)


@pytest.mark.usefixtures("soon")
def test_endpoints_come_and_go_with_the_lines_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "endpoints"
    with BadServer(delay=0.01) as one, BadServer(delay=0.01) as two:
        file.write_text(f"{one.url}#bad\n")
        engine = quick(open_model(f"@{file}", concurrency=4))
        found: list[Generation] = []
        for _, answer in engine.complete(ask(f"Who {n}?", temperature=0) for n in range(600)):
            found.append(answer)
            if len(found) == 50:
                rewrite(file, f"{one.url}#bad\n{two.url}\n")
            if len(found) == 300:
                assert two.number > 20
                rewrite(file, f"{two.url}#bad\n")
            if len(found) == 450:
                left = one.number
        assert [a.problem for a in found if a.problem] == []
        assert one.number <= left + 8
        assert one.number + two.number == 600  # none twice, for all the coming and going
        engine.close()


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize(
    "text", ["", "what?\n", "http://127.0.0.1:1/v1#other\n", "http://☃.com/v1\n"]
)
def test_a_file_that_becomes_useless_changes_nothing(tmp_path: Path, text: str) -> None:
    file = tmp_path / "endpoints"
    with BadServer(delay=0.01) as one:
        file.write_text(f"{one.url}#bad\n")
        engine: Any = quick(open_model(f"@{file}", concurrency=4))
        found = []
        for _, answer in engine.complete(ask(f"Who {n}?", temperature=0) for n in range(100)):
            found.append(answer)
            if len(found) == 20:
                rewrite(file, text)
        assert [a.problem for a in found if a.problem] == []
        assert any(n.startswith("the endpoints stay as they were: ") for n in engine.notices)
        engine.close()


@pytest.mark.usefixtures("soon")
def test_a_bad_address_does_not_end_the_watching(tmp_path: Path) -> None:
    file = tmp_path / "endpoints"
    with BadServer(delay=0.01) as one, BadServer(delay=0.01) as two:
        file.write_text(f"{one.url}#bad\n")
        engine: Any = quick(open_model(f"@{file}", concurrency=4))
        for number, _ in enumerate(
            engine.complete(ask(f"Who {n}?", temperature=0) for n in range(300))
        ):
            if number == 20:
                rewrite(file, f"{one.url}#bad\nhttp://☃.com/v1\n")
            if number == 100:
                rewrite(file, f"{one.url}#bad\n{two.url}\n")
        assert two.number > 0
        engine.close()


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "endpoints"
    file.write_text("\ufeffhttp://a/v1#m\nhttp://b/v1\n", encoding="utf-8")
    assert urls(f"@{file}") == ["http://a/v1#m", "http://b/v1#m"]


@pytest.mark.parametrize("name", ["http://☃.com/v1#m", "http://a/v1#m,http://☃.com/v1#m"])
def test_a_host_that_is_none_is_one_line(name: str) -> None:
    with pytest.raises(InputError, match=r"'http://☃\.com/v1' in the model name is not an address"):
        open_model(name)


# ---- all of it at once


def test_four_faulty_endpoints_lose_nothing_and_answer_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A short form of benchmarks/reliability/endpoints.py."""
    monkeypatch.setattr(engine_module, "REREAD", 0.02)
    file = tmp_path / "endpoints"
    requests: list[Request] = [ask(f"Who was number {n // 3}?", sample=n % 3) for n in range(900)]
    with contextlib.ExitStack() as stack:
        servers = [
            stack.enter_context(BadServer(mixture(0.3, seed=n), delay=0.002, keep_bodies=False))
            for n in range(5)
        ]
        file.write_text("".join(f"{server.url}#bad\n" for server in servers[:4]))
        engine = quick(open_model(f"@{file}"))
        stack.callback(engine.close)
        seen: Counter[int] = Counter()
        problems: list[str] = []
        for index, answer in engine.complete(iter(requests)):
            assert answer.request == requests[index]
            seen[index] += 1
            problems += [answer.problem] if answer.problem else []
            if sum(seen.values()) == 150:
                servers[0].die()
                threading.Timer(1.0, servers[0].rise).start()
            if sum(seen.values()) == 300:
                file.write_text("".join(f"{server.url}#bad\n" for server in servers))
        assert seen == Counter(range(900))
        assert engine.counts.failed == len(problems)
        assert servers[4].number > 0
        given = sum((server.answered for server in servers), Counter())
        # what was on its way when the first died may have been answered a second time
        assert sum(given.values()) - len(given) <= 8 + servers[0].did["cut-body"]
    keys = {request_key(request, engine.identity) for request in requests}
    assert len(keys) == 900


# ---- a whole run


def test_a_run_at_several_endpoints_is_the_run_at_one(tmp_path: Path) -> None:
    with BadServer() as one, BadServer() as two:
        settings: dict[str, Any] = {"data": "world-50", "limit": 6, "report": False}
        cache = tmp_path / "cache"
        urls = [f"{one.url}#bad", two.url]
        first = sayso.run(
            "selective", model=urls, out=tmp_path / "a", cache=cache, **settings
        )  # fmt: skip
        assert one.number > 0
        assert two.number > 0
        assert first.manifest.model == f"{one.url}#bad,{two.url}#bad"
        assert first.manifest.model_identity == "api:bad"
        assert any(n.startswith("answers by endpoint: ") for n in first.manifest.notices)
        calls = one.number + two.number
        again = sayso.run("selective", model=f"{two.url}#bad", out=tmp_path / "b", cache=cache,
                          **settings)  # fmt: skip
        # a few cached answers are asked for again, to see whether it is still the same model
        assert calls < one.number + two.number <= calls + 3
        assert [e.value for e in again.estimates] == [e.value for e in first.estimates]
        other = sayso.run("selective", model=f"{two.url}#bad", out=tmp_path / "c",
                          cache=tmp_path / "other", **settings)  # fmt: skip
        # draws depend on their seed, not on who gives them
        assert [e.value for e in other.estimates] == [e.value for e in first.estimates]


def test_several_endpoints_judge(tmp_path: Path) -> None:
    file = tmp_path / "judges.txt"
    with BadServer() as one, BadServer() as two:
        file.write_text(f"{one.url}\n{two.url}\n")
        judge = open_judge(f"rules+@{file}")
        assert judge.engine is not None
        assert judge.engine.identity == "api:bad"
        judge.close()
    check_judge("@anything")
    assert family("http://a/v1#Qwen/Qwen3-4B,http://b/v1#Qwen/Qwen3-4B") == family("hf:Qwen/Q")
    assert family("@judges.txt#org/mine") == "org/mine"

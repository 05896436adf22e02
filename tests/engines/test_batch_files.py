"""Batch files: everything is asked once, found again after a kill, and costs half."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from batch_server import BatchServer

import sayso
from sayso.engines import open_model
from sayso.engines.openai import batches as module
from sayso.engines.openai import reply as reply_module
from sayso.engines.openai.batches import Office
from sayso.engines.openai.endpoint import EndpointOptions, named_by_url
from sayso.engines.openai.engine import FEWEST, BatchEngine
from sayso.engines.prices import Price
from sayso.records import Generation, InputError, Request, ask
from sayso.runs.asking import CachedEngine
from sayso.runs.costs import BudgetSpent, Meter, open_priced
from sayso.runs.freshness.same_model import MOST
from sayso.storage.run_folder import RunFolder
from support.drip import dripping
from support.tables import tabled


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_LOOK", 0.01)


@contextlib.contextmanager
def engine_of(server: BatchServer, folder: Path, **options: Any) -> Iterator[Any]:
    engine = open_model(f"{server.url}#bad", batches=str(folder), **options)
    assert isinstance(engine, BatchEngine)
    engine.asker.pace.base = 0.005
    try:
        yield engine
    finally:
        engine.close()


def answers(engine: Any, requests: list[Request]) -> list[Generation]:
    found: dict[int, Generation] = {}
    for index, reply in engine.complete(iter(requests)):
        assert index not in found
        found[index] = reply
    assert sorted(found) == list(range(len(requests)))
    for index, reply in found.items():
        assert reply.request == requests[index]
    return [found[index] for index in range(len(requests))]


REQUESTS = [ask(f"Who {n}?", temperature=0) for n in range(40)]


def test_requests_go_out_in_a_file_and_come_back(tmp_path: Path) -> None:
    with BatchServer() as server, engine_of(server, tmp_path) as engine:
        told: list[str] = []
        engine.tell = told.append
        found = answers(engine, REQUESTS)
        assert [a.problem for a in found if a.problem] == []
        assert all(a.text and a.logprobs for a in found)
        assert server.number == 1  # the first of its kind, at once
        assert len(server.batches) == 1
        assert len(server.billed) == 39
        assert "39 answers came in batch files, at half the price" in engine.notices
        assert told[0] == "batch batch_0: 39 calls were sent in a file"
        assert told[-1].startswith("batch batch_0: completed, 39 of 39 calls answered, 0 failed")
        assert engine.counts.requests == 40


def test_the_answers_are_those_that_calls_would_have_given(tmp_path: Path) -> None:
    requests = [ask(f"Who {n}?", sample=k) for n in range(30) for k in range(3)]
    with BatchServer() as server:
        with engine_of(server, tmp_path) as engine:
            found = answers(engine, requests)
        plain = open_model(f"{server.url}#bad")
        expected = dict(plain.complete(requests))
        plain.close()
    assert [a.text for a in found] == [expected[n].text for n in range(90)]
    assert not engine.files.gone
    assert [a.overrides for a in found] == [expected[n].overrides for n in range(90)]
    assert len(server.billed) == 29  # three draws in a call


def test_a_price_is_halved_in_files_alone(tmp_path: Path) -> None:
    with BatchServer() as server, engine_of(server, tmp_path, price="2,4") as engine:
        price = Price(2.0, 4.0)
        first, *rest = answers(engine, REQUESTS)
        assert first.usage.dollars == pytest.approx(price.of(first.usage))
        for reply in rest:
            assert reply.usage.dollars == pytest.approx(price.of(reply.usage) / 2)


def test_few_calls_are_asked_at_once(tmp_path: Path) -> None:
    with BatchServer() as server, engine_of(server, tmp_path) as engine:
        answers(engine, REQUESTS[: FEWEST - 1])
        assert server.batches == {}
        assert list(tmp_path.rglob("*.json")) == []


def test_what_is_refused_is_known_before_a_file_is_sent(tmp_path: Path) -> None:
    with BatchServer(refuses=("min_p",)) as server, engine_of(server, tmp_path) as engine:
        found = answers(engine, REQUESTS)
        assert all("min_p: not sent" in a.overrides for a in found)
        (sent,) = [c for c in server.files.values() if b"custom_id" in c and b'"POST"' in c]
        assert b"min_p" not in sent


def test_many_requests_go_into_several_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_LINES", 15)
    with BatchServer() as server, engine_of(server, tmp_path) as engine:
        answers(engine, REQUESTS)
        assert [b["request_counts"]["total"] for b in server.batches.values()] == [15, 15, 9]


@tabled
def test_a_line_that_fails_is_a_record_and_asked_again(
    tmp_path: Path, response: Any, problem: str
) -> None:
    with BatchServer(wrong={"Who 7?": response}) as server, engine_of(server, tmp_path) as engine:
        found = answers(engine, REQUESTS)
        assert [(n, a.problem) for n, a in enumerate(found) if a.problem] == [(7, problem)]
        assert engine.counts.failed == 1
        server.wrong.clear()
        (again,) = answers(engine, [REQUESTS[7]])
        assert again.problem is None
        assert len(server.billed) == 38  # and the last one at once, as it is alone


def test_a_line_that_comes_twice_counts_once_and_is_told(tmp_path: Path) -> None:
    with BatchServer(twice=2) as server, engine_of(server, tmp_path) as engine:
        assert not [a for a in answers(engine, REQUESTS) if a.problem]
        assert [n for n in engine.notices if n.startswith("2 lines of batch batch_0")]


def test_a_batch_that_expires_keeps_what_was_answered(tmp_path: Path) -> None:
    with BatchServer(fates=["expired"]) as server, engine_of(server, tmp_path) as engine:
        found = answers(engine, REQUESTS)
        failed = [a.problem for a in found if a.problem]
        assert failed == ["failed: batch_expired: This request could not be executed"] * 20
        again = answers(engine, REQUESTS[1:])  # half is read again, and nothing of that paid
        assert [a.problem for a in again if a.problem] == []
        assert len(server.billed) == len(set(server.billed)) == 39


def test_a_batch_that_fails_says_why(tmp_path: Path) -> None:
    with BatchServer(fates=["failed"]) as server, engine_of(server, tmp_path) as engine:
        found = answers(engine, REQUESTS)
        why = "failed: no answer in batch batch_0 (failed: Enqueued token limit reached)"
        assert {a.problem for a in found[1:]} == {why}
        assert [a.problem for a in answers(engine, REQUESTS) if a.problem] == []
        assert len(server.batches) == 2


def test_an_endpoint_without_batches_is_one_line(tmp_path: Path) -> None:
    with (
        BatchServer(batchless=True) as server,
        engine_of(server, tmp_path) as engine,
        pytest.raises(InputError, match=r"support batch files \(status 404.*leave batch_files"),
    ):
        answers(engine, REQUESTS)
    assert list(tmp_path.rglob("*.json*")) == []


def test_a_server_that_takes_anything_for_a_file_is_not_asked_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LAST_LOOK", 0.01)  # what it waits between two attempts
    with BatchServer(babble={"hello": 1}) as server, engine_of(server, tmp_path) as engine:
        with pytest.raises(InputError, match=r"take a batch file .unreadable reply: a reply with"):
            answers(engine, REQUESTS)
        assert server.uploads == 1 + module.NONSENSE


def test_a_key_that_is_refused_is_one_line(tmp_path: Path) -> None:
    with (
        BatchServer(key="right") as server,
        engine_of(server, tmp_path) as engine,
        pytest.raises(InputError, match="wants a key; set"),
    ):
        answers(engine, REQUESTS)


# ---- found again


def test_held_it_waits_no_longer_and_finds_the_batch_again(tmp_path: Path) -> None:
    with BatchServer(looks=3) as server:
        with engine_of(server, tmp_path) as engine:
            told: list[str] = []
            engine.tell = lambda text: (told.append(text), "sent in" in text and engine.hold())
            found = dict(engine.complete(REQUESTS))
            assert len(found) == 1
            assert told[-1].startswith("batch batch_0 is still running; run the same command later")
        with engine_of(server, tmp_path) as engine:
            assert [a.problem for a in answers(engine, REQUESTS[1:]) if a.problem] == []
        assert len(server.batches) == 1
        assert len(server.billed) == 39


def test_a_reply_that_was_lost_begins_no_second_batch(tmp_path: Path) -> None:
    with BatchServer(lost="create") as server, engine_of(server, tmp_path) as engine:
        assert [a.problem for a in answers(engine, REQUESTS) if a.problem] == []
        assert len(server.batches) == 1


def test_a_batch_without_its_id_is_found_by_its_mark(tmp_path: Path) -> None:
    with BatchServer(looks=10**9) as server:
        with engine_of(server, tmp_path) as engine:
            engine.tell = lambda text: "sent in" in text and engine.hold()
            dict(engine.complete(REQUESTS))
        (path,) = tmp_path.rglob("*.json")
        state = msgspec.json.decode(path.read_bytes())
        path.write_bytes(msgspec.json.encode(state | {"id": None, "file": None}))
        server.looks = 1
        with engine_of(server, tmp_path) as engine:
            answers(engine, REQUESTS[1:])
        assert len(server.batches) == 1


def test_answers_that_nobody_wants_now_are_kept_for_whoever_does(tmp_path: Path) -> None:
    with BatchServer() as server:
        with engine_of(server, tmp_path) as engine:
            answers(engine, REQUESTS)
        with engine_of(server, tmp_path) as engine:  # the cache was lost
            assert all(a.text for a in answers(engine, REQUESTS[5:9]))
        assert server.number == 1
        assert len(server.billed) == 39


@pytest.mark.parametrize("stopped", [False, True])
def test_a_batch_whose_reply_was_lost_is_not_paid_again(tmp_path: Path, stopped: bool) -> None:
    with BatchServer(lost="create") as server:
        with engine_of(server, tmp_path, patience=100.0 if stopped else 0.3) as engine:
            begin = server.begin
            server.begin = lambda told: (stopped and engine.hold(), begin(told))[1]
            with pytest.raises(InputError, match="does not begin a batch file"):
                answers(engine, REQUESTS)
        with engine_of(server, tmp_path) as engine:
            answers(engine, REQUESTS[1:])
        assert len(server.batches) == 1
        assert len(server.billed) == 39


def test_a_batch_that_is_refused_leaves_nothing(tmp_path: Path) -> None:
    with BatchServer(refused=True) as server, engine_of(server, tmp_path) as engine:
        with pytest.raises(InputError, match=r"does not begin a batch file \(status 400"):
            answers(engine, REQUESTS)
        assert list(tmp_path.rglob("*.json*")) == []


def choice(index: int, text: str | None) -> dict[str, Any]:
    finish = "stop" if text else "content_filter"
    message = {"role": "assistant", "content": text}
    return {"index": index, "message": message, "finish_reason": finish}


def test_answers_that_are_read_again_stay_with_their_draws(tmp_path: Path) -> None:
    requests = [ask(f"Who {n}?", sample=k) for n in range(30) for k in range(3)]
    body = {"choices": [choice(0, "first"), choice(1, None), choice(2, "last")]}
    wrong: Any = {"Who 7?": {"status_code": 200, "body": body}}
    with BatchServer(wrong=wrong) as server:
        for _ in range(2):  # the second time without a cache
            with engine_of(server, tmp_path) as engine:
                first, failed, last = answers(engine, requests[3:])[18:21]
            assert (first.text, last.text) == ("first", "last")
            wrong.clear()
        assert failed.problem is None


@pytest.mark.parametrize("gone", ["batch_0", "file-1"])
def test_a_batch_that_the_endpoint_has_no_longer_is_sent_anew(tmp_path: Path, gone: str) -> None:
    with BatchServer() as server:
        with engine_of(server, tmp_path) as engine:
            answers(engine, REQUESTS)
        server.gone.add(gone)
        with engine_of(server, tmp_path) as engine:
            told: list[str] = []
            engine.tell = told.append
            assert [a.problem for a in answers(engine, REQUESTS[1:]) if a.problem] == []
            line = (
                "the endpoint no longer has batch batch_0 or its answers: its calls are sent again"
            )
            assert line in told
            assert line in engine.notices
        assert len(server.batches) == 2
        assert len(list(tmp_path.rglob("*.json"))) == 1


def test_a_batch_that_is_gone_at_once_is_not_sent_again_and_again(tmp_path: Path) -> None:
    with BatchServer() as server, engine_of(server, tmp_path) as engine:
        server.gone.add("batch_0")
        with pytest.raises(InputError, match=r"does not find a batch file \(status 404"):
            answers(engine, REQUESTS)
        assert len(server.batches) == 1


def test_held_it_sends_no_further_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_LINES", 15)
    with BatchServer(looks=10**9) as server, engine_of(server, tmp_path) as engine:
        engine.tell = lambda text: "sent in" in text and engine.hold()
        assert len(dict(engine.complete(REQUESTS))) == 1
        assert len(server.batches) == 1


# ---- what an endpoint may send


KEY = "a-secret/0123456789"


def test_our_key_is_removed_from_what_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYSO_API_KEY", KEY)
    bodies = {
        "Who 7?": {"choices": [choice(0, f"it is {KEY}")]},
        "Who 8?": {"choices": [choice(0, "it is ESCAPED")]},
        "Who 9?": {"error": {"message": f"bad {KEY}"}},
    }
    wrong: Any = {word: {"status_code": 200, "body": body} for word, body in bodies.items()}
    escaped = KEY.replace("/", "\\/").encode()
    with BatchServer(key=KEY, wrong=wrong) as server, engine_of(server, tmp_path) as engine:
        look, keep = server.looked_at, server.keep
        server.keep = lambda content: keep(content.replace(b"ESCAPED", escaped))
        server.looked_at = lambda name: {**look(name), **({} if told[1:] else {"status": KEY})}
        told: list[str] = []
        engine.tell = told.append
        found = answers(engine, REQUESTS)
    assert [a.text for a in found[7:9]] == ["it is [key]"] * 2
    assert found[9].problem == "failed: status 200: bad [key]"
    assert told[1].startswith("batch batch_0: [key], ")
    assert not any(KEY in text for text in told)


def test_a_line_that_is_too_long_is_a_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGEST_REPLY", 100_000)
    wrong: Any = {
        "Who 7?": {"status_code": 200, "body": {"choices": [choice(0, "long " * 100_000)]}},
        "Who 8?": {"status_code": 200, "body": {"choices": [choice(0, "long " * 1000)]}},
    }
    with BatchServer(wrong=wrong) as server, engine_of(server, tmp_path) as engine:
        found = answers(engine, REQUESTS)
    (problem,) = [a.problem for a in found if a.problem]
    assert problem == "failed: the line that came back is longer than 0.1 MB"
    assert found[7].problem == problem
    assert found[8].text == "long " * 1000


def test_a_file_that_is_too_long_is_read_in_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGEST_FILE", 20_000)
    with BatchServer() as server, engine_of(server, tmp_path) as engine:
        found = answers(engine, REQUESTS)
    problems = {a.problem for a in found}
    more = "failed: no answer in batch batch_0 (completed; its file is too long to read)"
    assert problems == {None, more}


def test_a_reply_about_batches_that_is_too_long_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reply_module, "LARGEST_REPLY", 100_000)
    with BatchServer() as server, engine_of(server, tmp_path, patience=0.3) as engine:
        server.looked_at = lambda name: {"id": name, "x": "x" * 200_000}
        with pytest.raises(InputError, match=r"the reply is longer than 0\.1 MB"):
            answers(engine, REQUESTS)


def test_two_may_read_one_batch(tmp_path: Path) -> None:
    with BatchServer() as server:
        with engine_of(server, tmp_path) as engine:
            answers(engine, REQUESTS)
        with engine_of(server, tmp_path) as one, engine_of(server, tmp_path) as two:
            mine, other = one.complete(REQUESTS[1:]), two.complete(REQUESTS[1:])
            found = [(next(mine), next(other))]
            # nothing that another one could take away, or that a kill would leave behind
            assert [path.suffix for path in tmp_path.rglob("*.*")] == [".json"]
            found += zip(mine, other, strict=True)
        assert len(found) == 39
        assert all(a.text == b.text and not a.problem for (_, a), (_, b) in found)
        assert len(list(tmp_path.rglob("*.*"))) == 1


def test_old_batches_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with BatchServer() as server:
        with engine_of(server, tmp_path) as engine:
            answers(engine, REQUESTS)
        monkeypatch.setattr(module, "KEPT", 0.0)
        with engine_of(server, tmp_path) as engine:
            answers(engine, REQUESTS)
        assert len(server.batches) == 2


CHILD = textwrap.dedent("""
    import sys
    import sayso
    from sayso.engines.openai import batches
    batches.FIRST_LOOK = batches.LAST_LOOK = 0.02
    url, folder = sys.argv[1:]
    print("begun", flush=True)
    sayso.run("selective", model=f"{url}#bad", data="world-50", limit=8, out=f"{folder}/run",
              cache=f"{folder}/cache", batch_files=True, report=False)
    print("done", flush=True)
""")


def child(url: str, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CHILD, url, str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("when", ["sent", "answered"])
def test_a_run_that_was_killed_pays_for_nothing_twice(tmp_path: Path, when: str) -> None:
    with BatchServer(looks=10**9 if when == "sent" else 20) as server:
        first = child(server.url, tmp_path)
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and not any(
            b["looks"] > 3 and (when == "sent" or b["status"] == "completed")
            for b in server.batches.values()
        ):
            time.sleep(0.01)
        time.sleep(1.0)  # the answers that came at once are on the disk after half a second
        first.send_signal(signal.SIGKILL)
        first.wait()
        assert server.batches
        server.looks = 1
        before = len(server.batches)
        second = child(server.url, tmp_path)
        out, _ = second.communicate(timeout=240)
        assert "done" in out
        assert len(server.batches) == before
        assert len(server.billed) == len(set(server.billed))
        # whether the model is the same is asked at once
        again = RunFolder.open(tmp_path / "run").read_manifest().tokens["asked_again"]
        assert again <= MOST
        paid = server.answered + server.billed_bodies
        assert paid.total() == len(paid) + again


# ---- money, and a whole run


def test_the_price_of_a_run_in_files_is_half(tmp_path: Path) -> None:
    with BatchServer() as server:
        name = f"{server.url}#bad"
        engine, price = open_priced(name, price="2,4,1", batches=str(tmp_path))
        engine.close()
        assert price == Price(1.0, 2.0, 0.5, source="your --price, halved for batch files")


def test_a_limit_on_money_reserves_what_answers_can_cost() -> None:
    meter = Meter(1.0)
    # 0.3 each at most: three at a time, without having seen one answered
    assert [meter.take("model", 0.3) for _ in range(5)] == [True] * 3 + [False] * 2
    for _ in range(3):
        meter.settle("model", 0.01)
    # 0.03 is spent, and a mean is known: 0.97 for 0.01 each
    assert sum(meter.take("model", 0.3) for _ in range(200)) == 97


def test_what_is_reserved_is_the_full_price_of_all_that_is_sent(tmp_path: Path) -> None:
    with BatchServer() as server:
        options = {"price": "1000000,2000000", "batches": str(tmp_path)}
        engine, price = open_priced(f"{server.url}#bad", **options)
        asker = CachedEngine(engine, price=price)
        plain = ask("four", max_tokens=5)
        long = ask("four", max_tokens=5, prefill="1234", response_format="{}")
        # a dollar a byte and 16 for a message, two for a token: the first call is no cheaper
        assert asker._most(plain) == 4 + 16 + 2 * 5
        assert asker._most(long) == 4 + 16 + 2 * 5 + (4 + 16) + 2
        engine.close()


def test_a_run_in_files_keeps_to_its_limit_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LAST_LOOK", 0.02)
    settings: dict[str, Any] = {
        "data": "world-50", "limit": 12, "report": False, "price": "100,100", "batch_files": True,
        "out": tmp_path / "run", "cache": tmp_path / "cache",
    }  # fmt: skip
    with BatchServer() as server:
        model = f"{server.url}#bad"
        with pytest.raises(BudgetSpent, match=r"stopped at --max-cost 0\.2"):
            sayso.run("selective", model=model, max_cost=0.2, **settings)
        assert server.number + len(server.billed) > 0
        result = sayso.run("selective", model=model, **settings)
        assert (result.manifest.dollars or 0) > 0
        assert len(server.billed) == len(set(server.billed))
        again = sayso.run("selective", model=model, **settings)
        assert [e.value for e in again.estimates] == [e.value for e in result.estimates]
        assert any("came in batch files, at half the price" in n for n in result.manifest.notices)


def test_files_are_for_endpoints() -> None:
    with pytest.raises(InputError, match="batch_files is for endpoints, and this run uses none"):
        sayso.run("uncle", batch_files=True, limit=2)
    with pytest.raises(InputError, match="batch files and --set engine=ray do not work together"):
        sayso.run("uncle", model="http://a/v1#m", batch_files=True, engine="ray", limit=2)


def test_only_batches_of_the_fresh_period_count_and_a_check_is_asked_at_once(
    tmp_path: Path,
) -> None:
    with BatchServer() as server:
        with engine_of(server, tmp_path) as engine:
            answers(engine, REQUESTS)
            assert engine.address == server.url
        sent = len(server.billed)
        began = time.time()
        with engine_of(server, tmp_path) as engine:
            kept: dict[float | None, int] = {}
            for _ in engine.complete(REQUESTS[1:]):
                kept[engine.given] = kept.get(engine.given, 0) + 1
            assert len(server.billed) == sent  # they are still in the file that came back
            assert len(kept) == 1
            assert all(given and given < began for given in kept)
            before = server.number
            list(engine.ask_now(REQUESTS[1:3]))
            assert server.number == before + 2
        with engine_of(server, tmp_path) as engine:
            engine.since = time.time()
            answers(engine, REQUESTS)
            assert len(server.billed) >= sent + 39


@pytest.mark.parametrize("doing", ["upload", "fetch"])
def test_a_reply_that_never_ends_is_given_up(tmp_path: Path, doing: str) -> None:
    sent = tmp_path / "sent.jsonl"
    sent.write_text("{}\n")
    with dripping() as address:
        options = EndpointOptions(timeout=0.4, patience=1.5)
        office = Office(named_by_url(f"{address}/v1#m"), options)
        work: Any = partial(office.upload, sent)
        if doing == "fetch":
            work = office.fetched("file", tmp_path).__enter__
        with pytest.raises(InputError, match=r"ReadTimeout: (no whole reply|[\d,]+ bytes) in"):
            work()
        office.close()


def test_a_key_that_comes_back_as_the_id_of_a_file_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYSO_API_KEY", "zq9KEYsecret77")
    sent = tmp_path / "sent.jsonl"
    sent.write_text("{}\n")
    office = Office(named_by_url("http://127.0.0.1:9/v1#m"), EndpointOptions(patience=1.0))
    named = SimpleNamespace(id="file-zq9KEYsecret77")
    monkeypatch.setattr(office.client.files, "create", lambda **given: named)
    assert office.upload(sent) == "file-[key]"
    office.close()

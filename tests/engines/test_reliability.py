"""A short form of benchmarks/reliability/reliability.py: nothing lost, nothing answered twice."""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from bad_server import BadServer, mixture
from test_endpoint import opened

from sayso.engines.openai import calls
from sayso.records import Generation, ask, request_key
from sayso.storage.cache import Cache

REQUESTS = [ask(f"Who was number {n // 3}?", sample=n % 3) for n in range(900)]


def test_a_faulty_endpoint_loses_nothing_and_answers_nothing_twice(tmp_path: Path) -> None:
    seen: Counter[int] = Counter()
    kept: dict[bytes, Generation] = {}
    with opened(mixture(0.3, seed=5)) as (server, engine), Cache(tmp_path) as cache:
        for index, answer in engine.complete(REQUESTS):
            seen[index] += 1
            key = request_key(REQUESTS[index], engine.identity)
            assert answer.request == REQUESTS[index]
            assert answer.text or answer.problem
            kept[key] = answer
            cache.put(key, answer)
        cache.commit()
        assert seen == Counter(range(900))
        assert len(kept) == 900
        stored = cache.get_many(kept)
        failed = sum(a.problem is not None for a in kept.values())
        assert len(stored) == 900 - failed
        assert engine.counts.requests == 900
        assert engine.counts.failed == failed
        assert engine.counts.retries > 0
        faults = server.number - server.did["ok"] - server.did["slow"]
        assert faults > 60  # 300 calls and more, three in ten spoilt


def test_an_endpoint_that_is_dead_for_a_while_is_waited_for() -> None:
    with BadServer() as server:
        from sayso.engines import open_model

        engine = open_model(f"{server.url}#bad", concurrency=8)
        engine.asker.pace.base = 0.02  # type: ignore[attr-defined]
        found = {}
        for index, answer in engine.complete(ask(f"Who {n}?") for n in range(200)):
            found[index] = answer
            if len(found) == 50:
                server.die()
                threading.Timer(0.2, server.rise).start()
        engine.close()
        assert len(found) == 200
        assert [a.problem for a in found.values() if a.problem] == []


@pytest.mark.parametrize("fault", ["dead", "500"])
def test_an_endpoint_that_gives_no_answers_is_named_while_it_is_waited_for(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "TELL_AFTER", 0.2)
    monkeypatch.setattr(calls, "NOBODY", 1.5)
    monkeypatch.setattr(calls, "PATIENCE", 2.5)
    told: list[tuple[float, str]] = []
    with opened(lambda n, b: "500" if n > 20 and fault == "500" else "ok") as (server, engine):
        engine.asker.pace.base = 0.05
        engine.tell = lambda text: told.append((time.monotonic(), text))
        found, gone = [], 0.0
        for _, answer in engine.complete(ask(f"Who {n}?") for n in range(200)):
            found.append(answer)
            if len(found) == 20:
                gone = time.monotonic()
                if fault == "dead":
                    server.die()
        over = time.monotonic()
    said, last = ("Connect", 1.5) if fault == "dead" else ("status 500", 2.5)
    assert len(found) == 200
    assert {a.problem is None for a in found} == {True, False}
    assert all(a.problem is None or f"patience: {last:g} s" in a.problem for a in found)
    assert over - gone < 15
    when, text = told[0]
    assert when - gone < 5
    assert text.startswith(f"{engine.address}: ")
    assert said.lower() in text.lower()
    assert text.endswith(f"gives up after {last:g} s; answers are kept")
    assert len(told) < 8  # each time after twice as long


def test_an_endpoint_that_takes_few_calls_at_once_is_given_few() -> None:
    with opened(switches={"limit": 4, "delay": 0.02}) as (server, engine):
        found = dict(engine.complete(ask(f"Who {n}?") for n in range(300)))
        assert [a.problem for a in found.values() if a.problem] == []
        assert engine.asker.pace.limit < 32  # where it starts; what is left depends on the last cut
        assert 0 < server.did["429"] < server.did["ok"]

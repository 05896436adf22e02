"""A short form of benchmarks/reliability/reliability.py: nothing lost, nothing answered twice."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

from bad_server import BadServer, mixture
from test_endpoint import opened

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


def test_an_endpoint_that_stays_dead_leaves_a_reason_in_each_record() -> None:
    with opened(patience=0.5) as (server, engine):
        found = []
        for _, answer in engine.complete(ask(f"Who {n}?") for n in range(200)):
            found.append(answer)
            if len(found) == 20:
                server.die()
        assert len(found) == 200
        failed = [a for a in found if a.problem is not None]
        assert failed
        assert all((a.problem or "").startswith("failed: ") for a in failed)
        assert all("patience: 0.5 s" in (a.problem or "") for a in failed)
        assert engine.counts.failed == len(failed)


def test_an_endpoint_that_takes_few_calls_at_once_is_given_few() -> None:
    with opened(switches={"limit": 4, "delay": 0.002}) as (server, engine):
        found = dict(engine.complete(ask(f"Who {n}?") for n in range(300)))
        assert [a.problem for a in found.values() if a.problem] == []
        assert engine.asker.pace.limit < 16
        assert server.did["429"] < server.did["ok"]

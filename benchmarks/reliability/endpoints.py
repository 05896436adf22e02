"""20,000 requests over four faulty endpoints of one model, one dead for a while, one added later.

    python benchmarks/reliability/endpoints.py [--requests 20000] [--faulty 0.3]
        [--dead-for 60] [--base 0.05]

Each server (tests/engines/bad_server.py) is a process of its own, gives one answer a call and
spoils 30 % of its calls, in the ways that reliability.py names. The first is dead for
``--dead-for`` seconds after its 1,000th call; the fifth is written into the file of endpoints when
a third is answered, and the second taken out of it when two thirds are. Three draws of each
question are asked; every answer goes into a cache, as in a run. ``--base`` is the first back-off, a
tenth of the engine's own.

Prints a table for reliability.md and fails if a request was lost or delivered twice.

    python benchmarks/reliability/endpoints.py --part draws  # do draws share an endpoint?
    python benchmarks/reliability/endpoints.py --part kills --runs 6  # batch files, killed

``kills`` ends a run with kill -9 up to nine times, each time within six seconds, and fails if the
server was paid for a request twice.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reliability import SERVER, memory
from sayso.engines import open_model
from sayso.records import Request, ask, request_key
from sayso.storage.cache import Cache

sys.path.append(str(SERVER.parent))


def started(number: int, given: argparse.Namespace) -> tuple[subprocess.Popen[str], str]:
    """Start a server; return its process and its address."""
    more = ["--dead-after", "1000", "--dead-for", str(given.dead_for)] if number == 0 else []
    server = subprocess.Popen(
        [sys.executable, str(SERVER), "--faulty", str(given.faulty), "--seed", str(number),
         "--delay", "0.02", "--choices", "1", *more],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stdout is not None
    return server, server.stdout.readline().strip()


def asked(number: int) -> Request:
    return ask(f"Who was number {number // 3}?", sample=number % 3)


def fetched(url: str, what: str) -> dict[str, Any]:
    return json.load(urllib.request.urlopen(url.replace("/v1", f"/{what}")))  # type: ignore[no-any-return]


class Seen:
    """What came back."""

    def __init__(self) -> None:
        self.times: Counter[int] = Counter()
        self.problems: Counter[str] = Counter()
        self.memory: list[tuple[int, float]] = []


def collect(engine: Any, cache: Cache, given: argparse.Namespace, change: Any) -> Seen:
    """Ask everything and keep it; ``change`` is told how many answers came."""
    seen = Seen()
    for index, answer in engine.complete(asked(n) for n in range(given.requests)):
        assert answer.request == asked(index)
        seen.times[index] += 1
        if answer.problem is not None:
            seen.problems[answer.problem] += 1
        cache.put(request_key(asked(index), engine.identity), answer)
        done = sum(seen.times.values()) if seen.times[index] > 1 else len(seen.times)
        change(done)
        if done % (given.requests // 20) == 0:
            seen.memory.append((done, memory()))
    cache.commit()
    return seen


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--faulty", type=float, default=0.3)
    parser.add_argument("--dead-for", type=float, default=60.0)
    parser.add_argument("--base", type=float, default=0.05)
    parser.add_argument("--part", choices=["faults", "draws", "kills"], default="faults")
    parser.add_argument("--runs", type=int, default=6)
    given = parser.parse_args()
    if given.part != "faults":
        return draws() if given.part == "draws" else kills(given.runs)
    servers, urls = zip(*(started(number, given) for number in range(5)), strict=True)
    with tempfile.TemporaryDirectory() as folder, Cache(folder) as cache:
        file = Path(folder) / "endpoints.txt"
        file.write_text("".join(f"{url}#bad\n" for url in urls[:4]))
        engine: Any = open_model(f"@{file}")

        def change(done: int) -> None:
            if done == given.requests // 3:
                file.write_text("".join(f"{url}#bad\n" for url in urls))
            if done == given.requests * 2 // 3:
                file.write_text("".join(f"{url}#bad\n" for url in urls if url != urls[1]))
            for asker in engine.dispatcher.askers:
                asker.pace.base = given.base

        change(0)
        begun, cpu = time.perf_counter(), time.process_time()
        seen = collect(engine, cache, given, change)
        seconds = time.perf_counter() - begun, time.process_time() - cpu
        keys = [request_key(asked(n), engine.identity) for n in range(given.requests)]
        kept = sum(len(cache.get_many(keys[at : at + 1000])) for at in range(0, len(keys), 1000))
        stats = [fetched(url, "stats") | {"keys": fetched(url, "answered")} for url in urls]
        notices = engine.notices
        engine.close()
    for server in servers:
        server.communicate("")
    return report(given, seen, stats, (kept, *seconds), notices)


def rows(given: Any, seen: Seen, stats: Any, kept: Any) -> Iterator[tuple[str, object]]:
    calls = sum(one["calls"] for one in stats)
    spoilt = calls - sum(one["did"].get("ok", 0) for one in stats)
    settled = [size for done, size in seen.memory if done >= given.requests // 4]
    failed = sum(seen.problems.values())
    yield "requests", given.requests
    yield "calls the servers got", calls
    yield "of these spoilt", f"{spoilt:,} ({spoilt / calls:.1%})"
    yield "answered", len(seen.times) - failed
    yield "recorded with a reason", failed
    yield "lost", given.requests - len(seen.times)
    yield "delivered twice", sum(seen.times.values()) - len(seen.times)
    yield "in the cache", kept[0]
    yield "calls answered, by server", ", ".join(f"{one['answered']:,}" for one in stats)
    given_out = sum((Counter(one["keys"]) for one in stats), Counter())
    yield "good answers given twice by the servers", given_out.total() - len(given_out)
    yield "seconds, on a machine busy with other things", f"{kept[1]:.0f} (CPU {kept[2]:.0f})"
    yield (
        "memory, MiB: at a quarter, highest later, at the end",
        f"{settled[0]:.0f}, {max(settled):.0f}, {settled[-1]:.0f}",
    )


def report(given: Any, seen: Seen, stats: Any, kept: Any, notices: list[str]) -> int:
    """Print a table; return 1 if anything was lost or came twice."""
    table = dict(rows(given, seen, stats, kept))
    print("| | |\n|---|---|")
    for name, value in table.items():
        print(f"| {name} | {value:,} |" if isinstance(value, int) else f"| {name} | {value} |")
    print("\nReasons: " + (", ".join(f"{r} {c}" for r, c in seen.problems.most_common()) or "none"))
    print("\n".join(["Notices:", *notices]))
    wrong = table["lost"] or table["delivered twice"]
    return int(bool(wrong or kept[0] != table["answered"]))


def draws() -> int:
    """Print at how many endpoints the first draw of a prompt finds no prefix: 100 at best."""
    from bad_server import BadServer

    for most in (4, 16, 64):
        with contextlib.ExitStack() as stack:
            servers = [stack.enter_context(BadServer(delay=0.02)) for _ in range(4)]
            name = ",".join(f"{server.url}#bad" for server in servers)
            engine: Any = open_model(name, concurrency=most)
            for asker in engine.dispatcher.askers:
                asker.learned.choices = 1  # as where `n` is refused
            requests = [ask(f"Who {n}?", sample=k) for n in range(100) for k in range(10)]
            list(engine.complete(requests))
            engine.close()
            cold = {
                (i, b["messages"][0]["content"]) for i, s in enumerate(servers) for b in s.bodies
            }
        print(f"{most} calls at once at each of four endpoints: {len(cold)} cold prompts")
    return 0


def kills(runs: int) -> int:
    """Kill runs whose requests are in a batch file, and look at what the server was paid for."""
    from batch_server import BatchServer
    from test_batch_files import child

    source, done, twice = random.Random(0), 0, 0
    for _ in range(runs):
        with BatchServer(looks=8) as server, tempfile.TemporaryDirectory() as folder:
            for left in range(9, -1, -1):
                process = child(server.url, Path(folder))
                assert process.stdout is not None
                process.stdout.readline()
                try:
                    process.communicate(timeout=source.uniform(0.2, 6.0) if left else None)
                    break
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                    done += 1
            twice += len(server.billed) - len(set(server.billed)) + len(server.batches) - 1
    print(f"{runs} runs, {done} kills: {twice} requests or batches paid twice")
    return int(twice > 0)


if __name__ == "__main__":
    sys.exit(main())

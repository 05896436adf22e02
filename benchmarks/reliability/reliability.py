"""A server that misbehaves on purpose, 20,000 requests: is anything lost, or answered twice?

    python benchmarks/reliability/reliability.py [--requests 20000] [--faulty 0.3] [--seed 0]
        [--base 0.05] [--dead-for 60]

The server (tests/engines/bad_server.py) runs in a process of its own and spoils 30 % of all calls:
429 with and without Retry-After (in seconds, milliseconds, as a date of a clock two hours behind),
500, 502 with a web page, 503, resets, bodies cut in the middle, broken JSON, web pages, empty
bodies, no choices, errors with status 200, slow answers. After 6,000 calls it is dead for a
minute. ``--base`` is the first back-off; the engine's own is 0.5 s, a tenth of it lets this end
within minutes. Every answer goes into a cache, as in a run.

Prints a table for reliability.md and fails if a request was lost or answered twice.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

from sayso.engines import open_model
from sayso.records import ask, request_key
from sayso.storage.cache import Cache

SERVER = Path(__file__).parents[2] / "tests" / "engines" / "bad_server.py"


def memory() -> float:
    """Resident memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--faulty", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--base", type=float, default=0.05)
    parser.add_argument("--dead-for", type=float, default=60.0, help="seconds of the outage")
    given = parser.parse_args()
    server = subprocess.Popen(
        [sys.executable, str(SERVER), "--faulty", str(given.faulty), "--seed", str(given.seed),
         "--delay", "0.02", "--dead-after", "6000",
         "--dead-for", str(given.dead_for)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stdout is not None
    url = server.stdout.readline().strip()
    engine: Any = open_model(f"{url}#bad")
    engine.asker.pace.base = given.base
    seen: Counter[int] = Counter()
    problems: Counter[str] = Counter()
    samples: list[tuple[int, float]] = []
    started, cpu = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as folder, Cache(folder) as cache:
        requests = (ask(f"Who was number {n}?") for n in range(given.requests))
        for index, answer in engine.complete(requests):
            seen[index] += 1
            if answer.problem is not None:
                problems[answer.problem] += 1
            elif not answer.text.strip():
                problems["EMPTY"] += 1
            request = ask(f"Who was number {index}?")
            assert answer.request == request
            cache.put(request_key(request, engine.identity), answer)
            if sum(seen.values()) % (given.requests // 20) == 0:
                samples.append((sum(seen.values()), memory()))
        cache.commit()
        wall, cpu = time.perf_counter() - started, time.process_time() - cpu
        keys = [
            request_key(ask(f"Who was number {n}?"), engine.identity) for n in range(given.requests)
        ]
        kept = len(cache.get_many(keys))
    stats = json.load(urllib.request.urlopen(f"{url}".replace("/v1", "/stats")))
    engine.close()
    server.communicate("")
    lost = given.requests - len(seen)
    twice = sum(count - 1 for count in seen.values())
    failed = sum(problems.values())
    faults = {k: v for k, v in sorted(stats["did"].items(), key=lambda kv: -kv[1]) if k != "ok"}
    spoilt = sum(faults.values())
    settled = [m for done, m in samples if done >= given.requests // 4]
    rows = {
        "requests": given.requests,
        "calls the server got": stats["calls"],
        "of these spoilt": f"{spoilt:,} ({spoilt / stats['calls']:.1%})",
        "answered": given.requests - lost - failed,
        "recorded with a reason": failed,
        "lost": lost,
        "delivered twice": twice,
        "in the cache": kept,
        "good answers given twice by the server": stats["answered"] - stats["distinct"],
        "asked again": engine.counts.retries,
        "most calls at once, at the server": stats["most_busy"],
        "seconds": f"{wall:.0f} (CPU {cpu:.0f})",
        "memory, MiB: at a quarter, highest later, at the end": (
            f"{settled[0]:.0f}, {max(settled):.0f}, {settled[-1]:.0f}"
        ),
    }
    print("| | |\n|---|---|")
    for name, value in rows.items():
        print(f"| {name} | {value:,} |" if isinstance(value, int) else f"| {name} | {value} |")
    print("\nSpoilt: " + ", ".join(f"{name} {count:,}" for name, count in faults.items()))
    print("Reasons: " + (", ".join(f"{r} {c}" for r, c in problems.most_common()) or "none"))
    print("Memory, MiB: " + ", ".join(f"{done:,}: {size:.0f}" for done, size in samples))
    return int(bool(lost or twice or kept != given.requests - failed))


if __name__ == "__main__":
    sys.exit(main())

"""What the endpoint engine costs beside the bare `openai` client, on the same local server.

Both send the same requests with at most 256 in flight and read the answers' texts. The bare client
is AsyncOpenAI with the same connection limits and 256 workers: `typed` reads ChatCompletion
objects, `raw` takes the response without parsing its type and decodes the JSON, the cheapest that
the client offers. The engine also reads log-probabilities, counts, and learns; `as asked` leaves
them in, `alike` is a server that gives none, which is what the bare client's requests ask for.

    python benchmarks/reliability/client_cost.py [requests] [rounds] [raw]

prints milliseconds of CPU per request of this process (the server runs in its own) and requests
per second, the median over rounds that take turns. ``raw`` compares with the raw client alone, and
prints the table so far after each round: ``10000 10 raw`` is 100,000 requests of each.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SERVER = Path(__file__).parents[2] / "tests" / "engines" / "bad_server.py"
IN_FLIGHT = 256


def client(url: str) -> Any:
    """The bare client, allowed to keep as many connections as the engine."""
    import httpx2
    import openai

    limits = httpx2.Limits(max_connections=IN_FLIGHT + 8, max_keepalive_connections=IN_FLIGHT + 8)
    http = openai.DefaultAsyncHttpxClient(limits=limits)
    return openai.AsyncOpenAI(api_key="none", base_url=url, http_client=http, max_retries=0)


def bare(url: str, count: int, read: Callable[[Any, dict[str, Any]], Any], probs: bool) -> int:
    """Ask with the bare client and return how many answers had a text."""

    async def work() -> int:
        got = 0
        numbers = iter(range(count))
        api = client(url)

        async def worker() -> None:
            nonlocal got
            for n in numbers:
                extra = {"logprobs": True, "top_logprobs": 2} if probs else {}
                text = await read(api, {
                    "model": "bad", "messages": [{"role": "user", "content": f"Who is {n}?"}],
                    "temperature": 1.0, "top_p": 1.0, "max_tokens": 256, "seed": n,
                    "extra_body": {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}, **extra,
                })  # fmt: skip
                got += bool(text)

        await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
        await api.close()
        return got

    return asyncio.run(work())


async def typed(api: Any, request: dict[str, Any]) -> Any:
    return (await api.chat.completions.create(**request)).choices[0].message.content


async def raw(api: Any, request: dict[str, Any]) -> Any:
    response = await api.chat.completions.with_raw_response.create(**request)
    return json.loads(response.content)["choices"][0]["message"]["content"]


def ours(url: str, count: int, probs: bool) -> int:
    """Ask with the engine."""
    from sayso.engines import open_model
    from sayso.records import ask

    engine: Any = open_model(f"{url}#bad", concurrency=IN_FLIGHT)
    if not probs:  # as after a refusal, which is how an endpoint without them is known
        engine.asker.learned.dropped[("logprobs", None)] = "not asked"
    requests = (ask(f"Who is {n}?") for n in range(count))
    got = sum(bool(answer.text) for _, answer in engine.complete(requests))
    engine.close()
    return got


def timed(work: Callable[[], int], count: int) -> tuple[float, float]:
    """Milliseconds of CPU per request, and requests per second."""
    cpu, wall = time.process_time(), time.perf_counter()
    assert work() == count
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return cpu / count * 1e3, count / wall


def main(count: int = 1500, rounds: int = 5, only: str = "", delay: float = 0.1) -> None:
    server = subprocess.Popen(
        [sys.executable, str(SERVER), "--delay", str(delay)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stdout is not None
    url = server.stdout.readline().strip()
    cases: dict[str, Callable[[], int]] = {}
    for probs in (True,) if only else (False, True):
        what = ", with log-probabilities" if probs else ""
        cases[f"openai raw{what}"] = lambda p=probs: bare(url, count, raw, p)  # type: ignore[misc]
        if not only:
            cases[f"openai typed{what}"] = lambda p=probs: bare(url, count, typed, p)  # type: ignore[misc]
        cases[f"sayso{what}"] = lambda p=probs: ours(url, count, p)  # type: ignore[misc]
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in cases}
    try:
        for done in range(1, rounds + 1):
            for name, work in cases.items():
                found[name].append(timed(work, count))
            if only or done == rounds:
                print_table(found, f"{count} requests, {IN_FLIGHT} in flight, answers after "
                            f"{delay} s, {done} rounds")  # fmt: skip
    finally:
        server.communicate("")


def print_table(found: dict[str, list[tuple[float, float]]], title: str) -> None:
    print(f"{title}\n")
    print("| client | CPU ms/request | x raw | requests/s | x raw |")
    print("|---|---|---|---|---|")
    for name, figures in found.items():
        base = found["openai raw" + name.partition(",")[1] + name.partition(",")[2]]
        cpu, rate = (statistics.median(column) for column in zip(*figures, strict=True))
        cpu0, rate0 = (statistics.median(column) for column in zip(*base, strict=True))
        row = f"| {name} | {cpu:.2f} | {cpu / cpu0:.2f} | {rate:.0f} | {rate / rate0:.2f} |"
        print(row, flush=True)


if __name__ == "__main__":
    main(*(int(a) for a in sys.argv[1:3]), *sys.argv[3:4])

"""How fast the cache and the tables of a run are, with answers like those of a real run.

    python benchmarks/speed/cache_speed.py [--replies 20000] [--tokens 12] [--writers 4]
        [--entries N]

Prints CPU and wall time per reply for: committing to the cache (one process, and several at
once on one file), reading back, writing a table and reading it, each with and without the ten
alternatives of each token; and how many bytes a reply takes. With ``--entries 1000000`` instead: a
cache of so many replies, how long it takes to open, to list its keys, and to look up a part of it,
in random order, in blocks and one by one. Wanted of one core: 10,000 stores and 50,000 look-ups a
second, a million entries opened in a second.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sayso.records import Alternative, Generation, ask, content_hash
from sayso.storage.cache import Cache
from sayso.storage.run_folder import RunFolder


def replies(count: int, tokens: int, alternatives: bool) -> list[Generation]:
    """Make answers whose arrays have as many digits as real ones."""
    draw = random.Random(0)

    def floats() -> tuple[float, ...]:
        return tuple(-draw.expovariate(1.0) for _ in range(tokens))

    return [
        Generation(
            request=ask(f"When was person {i} born?", sample=i),
            id=f"{i:016x}",
            question=f"{i // 5:016x}",
            stage="probe",
            form="short",
            text=f"Person {i} was born in {draw.randrange(1500, 2000)}.",
            token_ids=tuple(draw.randrange(32000) for _ in range(tokens)),
            offsets=tuple(range(0, 4 * tokens, 4)),
            logprobs=floats(),
            entropies=floats(),
            alternatives=tuple(
                tuple(Alternative(draw.randrange(32000), -draw.expovariate(0.2)) for _ in range(10))
                for _ in range(tokens)
            )
            if alternatives
            else None,
            finish="stop",
        )
        for i in range(count)
    ]


@contextmanager
def timed(what: str, count: int, own: bool = True) -> Iterator[None]:
    """Print what a block took for each of ``count`` replies; ``own``: in this process alone."""
    cpu, wall = time.process_time(), time.perf_counter()
    yield
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    print(
        f"  {what:<24} {1e6 * cpu / count:7.1f} us CPU, {1e6 * wall / count:7.1f} us wall, "
        + (f"{count / cpu:9,.0f} replies per CPU second" if own else "")
    )


def fill(folder: str, rows: list[Generation], name: str) -> None:
    """Write replies as one of several processes."""
    with Cache(folder) as cache:
        for i, row in enumerate(rows):
            cache.put(content_hash(f"{name} {i}"), row)


def large(entries: int, tokens: int) -> None:
    """Print what a cache of so many replies costs: to fill, to open, to look up."""
    some = replies(10_000, tokens, alternatives=False)
    keys = [content_hash(f"entry {i}") for i in range(entries)]
    with tempfile.TemporaryDirectory() as place:
        print(f"a cache of {entries:,} replies of {tokens} tokens")
        with timed("put, 64 in a commit", entries), Cache(place) as cache:
            for i, key in enumerate(keys):
                cache.put(key, some[i % len(some)])
        size = (Path(place) / "replies.sqlite").stat().st_size
        cpu, wall = time.process_time(), time.perf_counter()
        with Cache(place) as cache:
            cache.get_many(keys[:1])
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            print(f"  open and look one up: {cpu:.3f} s CPU, {wall:.3f} s wall; {size:,} bytes")
            with timed("list the keys", entries):
                assert len(cache.keys()) == entries
            asked = random.Random(0).sample(keys, min(entries, 100_000))
            with timed("look up 1,000 at once", len(asked)):
                for start in range(0, len(asked), 1000):
                    assert len(cache.get_many(asked[start : start + 1000])) > 0
            with timed("look up one by one", 20_000):
                for key in asked[:20_000]:
                    assert cache.get_many((key,))


def main() -> None:
    """Run all of it in a temporary folder."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--replies", type=int, default=20_000)
    parser.add_argument("--tokens", type=int, default=12)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--entries", type=int, default=0)
    chosen = parser.parse_args()
    if chosen.entries:
        large(chosen.entries, chosen.tokens)
        return
    for alternatives in (False, True):
        count = chosen.replies // (5 if alternatives else 1)
        rows = replies(count, chosen.tokens, alternatives)
        keys = [content_hash(row.id) for row in rows]
        print(f"{count} replies of {chosen.tokens} tokens, alternatives: {alternatives}")
        with tempfile.TemporaryDirectory() as place:
            with timed("cache: put and commit", count), Cache(place) as cache:
                for key, row in zip(keys, rows, strict=True):
                    cache.put(key, row)
            size = (Path(place) / "replies.sqlite").stat().st_size
            with timed("cache: get", count), Cache(place) as cache:
                assert len(cache.get_many(keys)) == count
            share = rows[: count // chosen.writers]
            writers = [
                multiprocessing.Process(target=fill, args=(place, share, f"writer {i}"))
                for i in range(chosen.writers)
            ]
            # CPU time of the children does not show here; the wall time does.
            with timed(f"cache: {chosen.writers} writers", len(share) * chosen.writers, False):
                for writer in writers:
                    writer.start()
                for writer in writers:
                    writer.join()
            folder = RunFolder.create(Path(place) / "run")
            with timed("table: write", count):
                folder.write("generations/probe", rows, Generation)
            with timed("table: read", count):
                assert folder.read("generations/probe", Generation) == rows
            table = (folder.path / "generations" / "probe.parquet").stat().st_size
        print(f"  {size / count:.0f} bytes a reply in the cache, {table / count:.0f} in the table")


if __name__ == "__main__":
    main()

"""What ``sayso measure`` costs by the number of verdicts: CPU, memory, and resampling alone.

    python benchmarks/speed/measure_million.py [--verdicts 250000,500000,1000000]
    python benchmarks/speed/measure_million.py --resampling

A run of the built-in model on twenty entities (``sayso run uncle``) is copied under other names, a
table at a time, until it holds so many verdicts; nothing is generated. Each size is measured in a
process of its own. ``--resampling`` compares 2,000 cluster resamples of the rates of a million
verdicts with a loop that draws and counts rows once for each resample.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from sayso.metrics.uncle_known import bootstrap_cells, cluster_cells
from sayso.metrics.uncle_rates import cell_rates
from sayso.records import Generation, Question, Verdict
from sayso.storage.run_folder import RunFolder

ENTITIES = 20
#: resamples, and how many of them a loop is timed on
RESAMPLES, LOOPED = 2000, 5


def copied(records: list[Any], copies: int) -> Iterator[Any]:
    """Yield the records again and again, each time with ids and entities of their own."""
    replace = msgspec.structs.replace
    for copy in range(copies):
        mark = f"-{copy}"
        for one in records:
            if isinstance(one, Question):
                parts = tuple(part + mark for part in one.parts)
                yield replace(one, id=one.id + mark, parts=parts, entity=f"{one.entity}{mark}")
            elif isinstance(one, Generation):
                yield replace(one, id=one.id + mark, question=one.question + mark)
            else:
                yield replace(one, target=one.target + mark, asked=one.asked + mark)


def multiply(base: RunFolder, place: Path, verdicts: int) -> int:
    """Write a run that is the base so many times over that it holds ``verdicts``; return them."""
    stages = {t: base.read(t, Verdict) for t in base.tables("verdicts")}
    copies = -(-verdicts // sum(map(len, stages.values())))
    made = RunFolder.create(place)
    made.write("questions", copied(base.read("questions", Question), copies), Question)
    for table in base.tables("generations"):
        made.write(table, copied(base.read(table, Generation), copies), Generation)
    for table, records in stages.items():
        made.write(table, copied(records, copies), Verdict)
    made.write_manifest(base.read_manifest())
    return copies * sum(map(len, stages.values()))


def one(path: str) -> None:
    """Measure one folder and print what it cost (in a process of its own)."""
    from sayso.runs.measure import measure

    start = time.process_time()
    found = measure(path)
    cost = {
        "numbers": len(found.estimates),
        "entities": found.entities,
        "cpu": time.process_time() - start,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(cost))


def resampling(verdicts: int, entities: int) -> None:
    """Compare the vectorized resamples of all rates with one pass over the rows for each."""
    rng = np.random.default_rng(0)
    known = (rng.random(verdicts) < 0.5).astype(np.int64)
    label = rng.integers(0, 3, verdicts)
    entity = rng.integers(0, entities, verdicts)
    start = time.process_time()
    rates = bootstrap_cells(cluster_cells(known, label, entity), n=RESAMPLES)
    ours = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    order = np.argsort(entity, kind="stable")
    members = np.split(order, np.searchsorted(entity[order], np.arange(1, entities)))
    start = time.process_time()
    drawn = []
    for _ in range(LOOPED):
        rows = np.concatenate([members[e] for e in rng.integers(0, entities, entities)])
        cells = np.bincount(3 * (1 - known[rows]) + label[rows], minlength=6)
        drawn.append(float(cell_rates(cells.astype(float))["J"]))
    loop = (time.process_time() - start) / LOOPED * RESAMPLES
    print(
        f"{verdicts:,} verdicts, {entities:,} entities, {RESAMPLES:,} resamples: {ours:.1f} CPU s, "
        f"{peak:.0f} MB; a loop {loop:.0f} CPU s ({LOOPED} timed): {loop / ours:.0f} x; "
        f"J {rates['J'].value:.5f} [{rates['J'].low:.5f}, {rates['J'].high:.5f}]"
    )


def main() -> None:
    """Measure each size and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verdicts", default="250000,500000,1000000")
    parser.add_argument("--resampling", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(given.one)
        return
    if given.resampling:
        for entities in (10_000, 100_000):
            resampling(1_000_000, entities)
        return
    from sayso.runs.run import run

    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base"
        run("uncle", out=base, limit=ENTITIES, cache=Path(folder) / "cache")
        print(f"{'verdicts':>10} {'entities':>8} {'CPU s':>8} {'ms/1000':>8} {'peak MB':>8}")
        for size in map(int, given.verdicts.split(",")):
            place = Path(folder) / f"run-{size}"
            count = multiply(RunFolder.open(base), place, size)
            done = subprocess.run(
                [sys.executable, __file__, "--one", str(place)],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            cost = json.loads(done.stdout)
            print(
                f"{count:>10,} {cost['entities']:>8,} {cost['cpu']:>8.1f} "
                f"{1e6 * cost['cpu'] / count:>8.1f} {cost['peak_mb']:>8.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()

"""Does one command give the same answers on a busy machine, and what do threads cost there?

    python benchmarks/reliability/same_draws.py [--model NAME]... [--limit N] [--loops N]

Each model answers the same command twice, each time with an empty cache: first as the machine is,
then beside ``--loops`` processes that compute without pause. The bytes of every table of answers
are compared, and CPU and wall seconds are printed. ``--wait`` repeats the busy run with threads
that spin while they wait, which is OpenMP's default.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LOOP = "while True: pass"


def ask(model: str, limit: int, folder: Path, spinning: bool) -> tuple[float, float]:
    """Run one command; return its CPU and wall seconds."""
    data = "builtin" if model.startswith("builtin") else "world"
    own = {"--limit": str(limit), "--data": data, "--model": model}
    own |= {"--out": str(folder / "run"), "--cache": str(folder / "cache")}
    own |= {"--draws.k": "5", "--answer.short-tokens": "64", "--resamples": "100"}
    flags = [word for pair in own.items() for word in pair]
    words = [sys.executable, "-m", "sayso", "run", "selective", *flags]
    wait = {"OMP_WAIT_POLICY": "ACTIVE"} if spinning else {}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(words, check=True, capture_output=True, env={**os.environ, **wait})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.monotonic() - start


def tables(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every table of answers of a run."""
    run = folder / "run"
    files = [*run.glob("generations/*.parquet"), run / "answers.parquet"]
    return {file.stem: file.read_bytes() for file in sorted(files)}


def compare(model: str, limit: int, loops: int, wait: bool) -> bool:
    """Print what two runs of one command have in common; tell whether their answers are equal."""
    seconds: dict[str, tuple[float, float]] = {}
    with tempfile.TemporaryDirectory() as place:
        idle, busy, spun = (Path(place, name) for name in ("idle", "busy", "spun"))
        seconds["as it is"] = ask(model, limit, idle, spinning=False)
        others = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(loops)]
        try:
            seconds["busy"] = ask(model, limit, busy, spinning=False)
            if wait:
                seconds["busy, threads that spin"] = ask(model, limit, spun, spinning=True)
        finally:
            for other in others:
                other.kill()
                other.wait()
        first, second = tables(idle), tables(busy)
    differing = [name for name in first if first[name] != second.get(name)]
    for name, (cpu, wall) in seconds.items():
        print(f"{model}, {name}: {cpu:.1f} CPU s, {wall:.1f} s")
    equal = first.keys() == second.keys() and not differing
    told = "equal bytes" if equal else f"other bytes in {', '.join(differing)}"
    print(f"{model}: {len(first)} tables, {told}")
    return equal


def main() -> None:
    """Print each model's result; exit with 1 where answers differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", action="append")
    parser.add_argument("--limit", type=int, default=20)
    parser.add_argument("--loops", type=int, default=2)
    parser.add_argument("--wait", action="store_true")
    args = parser.parse_args()
    models = args.model or ["builtin", "smollm2"]
    results = [compare(model, args.limit, args.loops, args.wait) for model in models]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()

"""What a whole ``sayso run uncle`` costs beside generating its tokens.

    python benchmarks/speed/run_overhead.py [--limit 100] [--repeat 2] [--instant]
    python benchmarks/speed/run_overhead.py --command [--beside OTHER/src] [--repeat 3]

In one process and on one thread: the same requests through bare ``generate`` in a batch-sorted
script (``engine_overhead.bare``), then whole runs with an empty cache: asking, caching, judging,
measuring, the page. Imports are timed apart. The bar: model stages at most 1.2 x bare, the whole
run at most 1.5 x bare + 3 CPU seconds. ``--instant`` asks nothing: every reply lies in the cache,
and what one request more costs is told from runs of two sizes, without the page and with the
memory of the judge empty; wanted .4 CPU ms. ``--command`` runs ``sayso run uncle --limit 5`` in a
process of its own, imports and page included, also by the ``src`` folder of another version
(``--beside``), in turn.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import sayso
from sayso.protocols.protocol import first_asks
from sayso.protocols.uncle.run import steps as uncle_steps


def instant(limit: int, repeat: int) -> None:
    """Print what a request costs beside the model, by part."""
    from sayso.engines import open_model
    from sayso.judges.english.tokens import forget_texts

    engine = open_model("builtin", threads=1)
    with tempfile.TemporaryDirectory() as folder:

        def run(size: int, name: str) -> tuple[int, dict[str, float]]:
            forget_texts()
            start = time.process_time()
            result = sayso.run(
                model=engine, limit=size, out=Path(folder, name), cache=folder, report=False, jobs=1
            )
            spent = {"all": time.process_time() - start}
            spent |= {k: v for k, v in result.manifest.timings.items() if k.endswith("cpu_s")}
            asked = result.manifest.tokens["requests"]
            return asked, spent

        run(limit, "first")
        for number in range(repeat):
            (few, small), (many, large) = run(limit // 4, f"s{number}"), run(limit, f"l{number}")
            each = {name: 1e3 * (large[name] - small[name]) / (many - few) for name in large}
            print(f"{few} and {many} requests, CPU ms for one more:")
            print("  " + ", ".join(f"{name} {value:.2f}" for name, value in each.items()))


def whole_command(source: Path) -> float:
    """Return the CPU seconds of one command, those of its processes included."""
    with tempfile.TemporaryDirectory() as folder:
        place = {"PYTHONPATH": str(source), "SAYSO_CACHE": str(Path(folder, "cache"))}
        command = ("run", "uncle", "--limit", "5", "--out", str(Path(folder, "run")))
        before = os.times()
        subprocess.run(
            [sys.executable, "-m", "sayso", *command],
            env={**os.environ, **place}, check=True, capture_output=True,
        )  # fmt: skip
        after = os.times()
    return (
        after.children_user
        + after.children_system
        - (before.children_user + before.children_system)
    )


def commands(sources: list[Path], repeat: int) -> None:
    """Print what the command costs by each version, the least of its turns."""
    spent: dict[Path, list[float]] = {source: [] for source in sources}
    for _ in range(repeat):
        for source, times in spent.items():
            times.append(whole_command(source))
    for source, times in spent.items():
        each = ", ".join(f"{seconds:.1f}" for seconds in times)
        print(f"{source}: {min(times):.1f} CPU s ({each})")


def main() -> None:
    """Print CPU seconds, counts and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--instant", action="store_true")
    parser.add_argument("--command", action="store_true")
    parser.add_argument("--beside", type=Path, nargs="*", default=[])
    arguments = parser.parse_args()
    if arguments.command:
        commands([Path(sayso.__file__).parents[1], *arguments.beside], arguments.repeat)
        return
    if arguments.instant:
        instant(arguments.limit, arguments.repeat)
        return
    begin = time.process_time()
    import torch

    import engine_overhead
    from sayso import datasets, report
    from sayso.engines import open_model
    from sayso.engines.named import shipped_folder
    from sayso.protocols import uncle

    torch.set_num_threads(1)
    data = datasets.load_dataset("builtin", limit=arguments.limit)
    load = [a.request for a in first_asks(uncle_steps(data.questions, uncle.Settings(), 0))]
    engine = open_model("builtin", threads=1)
    theirs = open_model(f"hf:{shipped_folder('builtin')}", threads=1)  # has ``generate``
    model, tokenizer = theirs.runner.model, theirs.tokenizer  # type: ignore[attr-defined]
    list(engine.complete(load[:40]))
    engine_overhead.bare(model, tokenizer, load[:40], 512)
    print(f"imports, loading and a first batch: {time.process_time() - begin:.1f} CPU s")

    bare, stages, whole = [], [], []
    for number in range(arguments.repeat):
        start = time.process_time()
        tokens = engine_overhead.bare(model, tokenizer, load, 512)
        bare.append(time.process_time() - start)
        before = {n: getattr(engine.counts, n) for n in ("forwards", "slots")}
        with tempfile.TemporaryDirectory() as folder:
            start = time.process_time()
            result = sayso.run(
                model=engine,
                limit=arguments.limit,
                out=Path(folder, "run"),
                cache=Path(folder, "cache"),
            )
            report.write(result.path)
            whole.append(time.process_time() - start)
        times = result.manifest.timings
        stages.append(times["generate_cpu_s"])
        if number == 0:
            used = {n: getattr(engine.counts, n) - before[n] for n in before}
            print(f"{len(load)} requests, {tokens} tokens, forwards and slots of ours: {used}")
        print({name: value for name, value in times.items() if name.endswith("cpu_s")})
    low = min(bare)
    print(f"bare generate {low:.2f} CPU s")
    print(f"model stages  {min(stages):.2f} CPU s = {min(stages) / low:.2f} x (bar 1.2)")
    limit = 1.5 * low + 3
    print(f"whole run     {min(whole):.2f} CPU s (bar 1.5 x + 3 = {limit:.2f})")


if __name__ == "__main__":
    main()

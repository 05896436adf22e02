"""CPU time of a guard: importing and loading it, its first call, and every further call.

    python benchmarks/guard/guard_speed.py

Each process is started seven times; the least and the median of its user and system time are
printed, beside those of an empty Python and of ``import numpy``.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from sayso import Guard
from sayso.guard.guard import GuardFile, written_guard
from sayso.scores import SCORES

TIMES, CALLS = 7, 2000


def guard_of(folder: Path, score: str) -> Path:
    """Write a guard on a score, and return its place."""
    file = GuardFile(
        format=1, sayso="0", created="", score=score, limit=1.5, promise="", max_error=0.05,
        confidence=0.95, labels=200, labeled_by="people", unit="answer", answered=100, wrong=1,
        needs=SCORES[score].needs, meaning="rules",
    )  # fmt: skip
    place = folder / f"{score}.json"
    place.write_bytes(written_guard(file))
    return place


def cpu(code: str) -> list[float]:
    """Return the CPU seconds of processes that run a line of Python."""
    found = []
    for _ in range(TIMES):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return found


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        place = guard_of(Path(folder), "perplexity")
        load = f"from sayso import Guard; guard = Guard.load({str(place)!r})"
        call = f"{load}; guard('q?', 'a', logprobs=[-.1])"
        for name, code in (
            ("an empty Python", "pass"), ("import numpy", "import numpy"),
            ("import Guard and load", load), ("... and the first call", call),
        ):  # fmt: skip
            seconds = cpu(code)
            print(f"{name:<26} {min(seconds):.3f} (median {statistics.median(seconds):.3f}) CPU s")
        logprobs = [-0.01 * (n % 50) for n in range(100)]
        samples = ["Jane Austen", "Austen", "Anne Brontë", "Jane Austen", "George Eliot"] * 2
        for score in (
            "perplexity", "sequence_probability", "min_token_probability", "mean_token_entropy",
            "verbalized", "lexical_similarity", "discrete_semantic_entropy",
        ):  # fmt: skip
            guard = Guard.load(guard_of(Path(folder), score))
            evidence = {"logprobs": logprobs, "entropies": [-x for x in logprobs], "stated": 0.8}
            if "draws" in SCORES[score].needs:
                evidence["samples"] = samples
            guard("Who wrote Emma?", "Jane Austen", **evidence)
            start = time.process_time()
            for n in range(CALLS):
                guard(f"Who wrote Emma, {n}?", "Jane Austen", **evidence)
            each = (time.process_time() - start) / CALLS
            print(f"{score:<26} {1e3 * each:.3f} CPU ms a call")
    print(f"msgspec {msgspec.__version__}, Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()

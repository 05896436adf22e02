"""What ``sayso score FILE`` costs by the number of rows: seconds, and memory, which must not grow.

    python benchmarks/speed/score_files.py [--rows 1000,10000,100000] [--samples 5] [--jobs 1]

Each size runs in a process of its own, without a model: meanings by rules, verdicts by rules and
five more metrics, the leaderboard with intervals and the length audit. ``--plain`` leaves golds
out: only reading, scoring and writing remain. CPU is that of all processes, the peak that of
the first and of the largest other one; the hash of the output is the same for any ``--jobs``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

NAMES = ("Ripley", "Derby", "Oslo", "Lima", "Kyoto", "Turin", "Leeds", "Ghent", "Quito", "Perth")


def write_rows(path: Path, rows: int, samples: int, gold: bool) -> None:
    """Write answers of an invented model whose doubt shows in its draws and probabilities."""
    rng = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as file:
        for number in range(rows):
            right = rng.random() < 0.6
            true, said = rng.choice(len(NAMES), 2, replace=False)
            answer = NAMES[true if right else said]
            sure = rng.random() < (0.8 if right else 0.3)
            draws = [answer if sure else NAMES[rng.integers(10)] for _ in range(samples)]
            long = " as far as the records say" * int(rng.integers(0, 3))
            row = {
                "question": f"Where was person {number} born?",
                "answer": f"Person {number} was born in {answer}{long}.",
                "samples": [f"Person {number} was born in {draw}." for draw in draws],
                "token_logprobs": (-rng.gamma(1, 0.3 if sure else 0.8, 12)).round(4).tolist(),
                "sample_token_logprobs": [
                    (-rng.gamma(1, 0.3 if sure else 0.8, 9)).round(4).tolist() for _ in draws
                ],
            }
            if gold:
                row["gold"] = NAMES[true]
            file.write(json.dumps(row) + "\n")


def one(path: str, jobs: int) -> None:
    """Score one file and print what it cost (in a process of its own)."""
    from sayso.score_files.score import score_file

    start, cpu = time.perf_counter(), time.process_time()
    rows = [0.0]
    out = Path(path).parent / f"out-{jobs}.jsonl"

    def tell(done: int) -> None:
        rows[0] = time.perf_counter() - start

    found = score_file(
        path, out, nli="rules", cache=Path(path).parent / "cache", jobs=jobs, tell=tell
    )
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        json.dumps(
            {
                "rows": found.rows,
                "scores": len(found.values),
                "seconds": time.perf_counter() - start,
                "rows_seconds": rows[0],
                "cpu": time.process_time() - cpu + others.ru_utime + others.ru_stime,
                "peak_mb": peak,
                "other_mb": others.ru_maxrss / 1024,
                "hash": hashlib.blake2b(out.read_bytes(), digest_size=4).hexdigest(),
                "resamples": found.board.resamples if found.board else None,
            }
        )
    )


def main() -> None:
    """Measure each size and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="1000,10000,100000")
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--plain", action="store_true", help="no golds: no leaderboard")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(given.one, given.jobs)
        return
    print(
        f"{'rows':>9} {'scores':>6} {'rows s':>8} {'all s':>8} {'CPU s':>8} {'CPU ms/row':>10} "
        f"{'peak MB':>8} {'other':>6} output"
    )
    with tempfile.TemporaryDirectory() as folder:
        for rows in map(int, given.rows.split(",")):
            path = Path(folder) / f"{rows}.jsonl"
            write_rows(path, rows, given.samples, gold=not given.plain)
            done = subprocess.run(
                [sys.executable, __file__, "--one", str(path), "--jobs", str(given.jobs)],
                capture_output=True,
                text=True,
                check=True,
            )
            cost = json.loads(done.stdout)
            print(
                f"{cost['rows']:>9,} {cost['scores']:>6} {cost['rows_seconds']:>8.1f} "
                f"{cost['seconds']:>8.1f} {cost['cpu']:>8.1f} {1000 * cost['cpu'] / rows:>10.2f} "
                f"{cost['peak_mb']:>8.0f} {cost['other_mb']:>6.0f} {cost['hash']}",
                flush=True,
            )


if __name__ == "__main__":
    main()

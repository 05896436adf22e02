"""What ``sayso score FILE`` costs by the number of rows: seconds, and memory, which must not grow.

    python benchmarks/speed/score_files.py [--rows 1000,10000,100000] [--samples 5] [--jobs 1]
        [--plain] [--data FOLDER]

Each size runs in a process of its own, without a model: meanings by rules, verdicts by rules and
five more metrics and the leaderboard with intervals. ``--plain`` leaves golds
out: only reading, scoring and writing remain. ``--data`` is the folder of labelled data: then the
rows are the questions of PopQA, each text of them once; else they are invented, and draws repeat
texts. CPU is that of all processes (``rows``: until the last row was scored), the peak that of
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
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np

#: how a name is said, and how many rows around a question have names of the kind it asks for
FORMS = (
    "{}", "{}.", "It is {}.", "I believe that it is {}.", "The answer is {}", "{}, I think.",
    "That would be {}.", "Most likely {}.",
)  # fmt: skip
NEAR = 100
NAMES = ("Ripley", "Derby", "Oslo", "Lima", "Kyoto", "Turin", "Leeds", "Ghent", "Quito", "Perth")


def real_rows(folder: Path, samples: int) -> Iterator[dict[str, Any]]:
    """Yield the questions of PopQA, answered with names of the kind that they ask for.

    An invented model knows three of five; a draw is the answer in another sentence or another name.
    """
    with (folder / "popqa" / "popqa_14k.jsonl").open(encoding="utf-8") as lines:
        questions = [json.loads(text) for text in lines]
    rng = np.random.default_rng(0)
    for place, row in enumerate(questions):
        # the file is sorted by what is asked
        others = [one["answer"] for one in questions[max(0, place - NEAR) : place + NEAR]]
        right = rng.random() < 0.6
        answer = row["answer"] if right else others[rng.integers(len(others))]
        sure = rng.random() < (0.8 if right else 0.3)
        said = [answer if sure else others[rng.integers(len(others))] for _ in range(samples)]
        shown = rng.permutation(len(FORMS))
        texts = [FORMS[n].format(x) for n, x in zip(shown, [answer, *said], strict=False)]
        yield {
            "question": row["question"],
            "answer": texts[0],
            "samples": texts[1:],
            "token_logprobs": (-rng.gamma(1, 0.3 if sure else 0.8, 12)).round(4).tolist(),
            "sample_token_logprobs": [
                (-rng.gamma(1, 0.3 if sure else 0.8, 9)).round(4).tolist() for _ in said
            ],
            "gold": row["aliases"],
        }


def invented_rows(samples: int) -> Iterator[dict[str, Any]]:
    """Yield answers of an invented model whose doubt shows in its draws and probabilities."""
    rng = np.random.default_rng(0)
    for number in count():
        right = rng.random() < 0.6
        true, said = rng.choice(len(NAMES), 2, replace=False)
        answer = NAMES[true if right else said]
        sure = rng.random() < (0.8 if right else 0.3)
        draws = [answer if sure else NAMES[rng.integers(10)] for _ in range(samples)]
        long = " as far as the records say" * int(rng.integers(0, 3))
        yield {
            "question": f"Where was person {number} born?",
            "answer": f"Person {number} was born in {answer}{long}.",
            "samples": [f"Person {number} was born in {draw}." for draw in draws],
            "token_logprobs": (-rng.gamma(1, 0.3 if sure else 0.8, 12)).round(4).tolist(),
            "sample_token_logprobs": [
                (-rng.gamma(1, 0.3 if sure else 0.8, 9)).round(4).tolist() for _ in draws
            ],
            "gold": NAMES[true],
        }


def write_rows(path: Path, rows: Iterator[dict[str, Any]], most: int, gold: bool) -> None:
    """Write so many rows."""
    with path.open("w", encoding="utf-8") as file:
        for row in islice(rows, most):
            if not gold:
                del row["gold"]
            file.write(json.dumps(row) + "\n")


def one(path: str, jobs: int) -> None:
    """Score one file and print what it cost (in a process of its own)."""
    from sayso.score_files.score import score_file

    start, cpu = time.perf_counter(), time.process_time()
    rows = [0.0, 0.0]
    out = Path(path).parent / f"out-{jobs}.jsonl"

    def tell(done: int) -> None:
        rows[:] = time.perf_counter() - start, time.process_time() - cpu

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
                "rows_cpu": rows[1],
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
    parser.add_argument("--data", type=Path, help="labelled data: real questions and names")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(given.one, given.jobs)
        return
    print(
        f"{'rows':>9} {'scores':>6} {'rows s':>8} {'all s':>8} {'CPU s':>8} {'of rows':>8} "
        f"{'CPU ms/row':>10} {'peak MB':>8} {'other':>6} output"
    )
    with tempfile.TemporaryDirectory() as folder:
        for rows in map(int, given.rows.split(",")):
            path = Path(folder) / f"{rows}.jsonl"
            kept = (
                real_rows(given.data, given.samples) if given.data else invented_rows(given.samples)
            )
            write_rows(path, kept, rows, gold=not given.plain)
            done = subprocess.run(
                [sys.executable, __file__, "--one", str(path), "--jobs", str(given.jobs)],
                capture_output=True,
                text=True,
                check=True,
            )
            cost = json.loads(done.stdout)
            print(
                f"{cost['rows']:>9,} {cost['scores']:>6} {cost['rows_seconds']:>8.1f} "
                f"{cost['seconds']:>8.1f} {cost['cpu']:>8.1f} {cost['rows_cpu']:>8.1f} "
                f"{1000 * cost['cpu'] / rows:>10.2f} "
                f"{cost['peak_mb']:>8.0f} {cost['other_mb']:>6.0f} {cost['hash']}",
                flush=True,
            )


if __name__ == "__main__":
    main()

"""How soon ``sayso watch`` sees a real change, how often it is wrong, and what a long log costs.

The change is that of GPT-4 between March and June 2023 on the questions of OpinionQA (LLMDrift,
Apache-2.0): in March it chose an option for nearly all, in June it declined most. A log is made of
answers of March, drawn with replacement, and then of June's. Two readings of "declines":

* option: the answer names none of the options, as the application that asks can see; it writes
  that into the log as the field ``stance``;
* rules: the stance that the offline reader reads in the text.

    python benchmarks/watch/drift.py delay        # after 10,000 quiet answers, 1,000 logs
    python benchmarks/watch/drift.py false        # 1,000 logs without a change
    python benchmarks/watch/drift.py clusters     # the same, with a baseline of few entities
    python benchmarks/watch/drift.py million      # CPU seconds and memory, by the length of a log
    python benchmarks/watch/drift.py texts        # CPU seconds for lines without a stance

`delay`, `false` and `texts` need SAYSO_TEST_DATA, a folder with real/llmdrift_opinionqa.jsonl.gz.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from sayso.guard.baseline import Baseline, ClusterCounts
from sayso.guard.changes import Watching
from sayso.guard.choices import WatchOptions
from sayso.guard.guard import GUARD_FORMAT
from sayso.guard.log_answers import AnswerReader
from sayso.guard.watch import watch
from sayso.judges.english.tokens import forget_texts
from sayso.metrics.alarms import ChangeAlarm, rise_bound

MARCH, JUNE = "openaichat/gpt-4-0314", "openaichat/gpt-4-0613"
OPTION = re.compile(r"\s*\(?[A-Z]\)")
QUIET, LOGS = 10_000, 1000
#: answers that are drawn at a time
PIECE = 250
#: answers after a change within which it is looked for
LONGEST = 20_000
#: answers of the baselines: all of March's, and fewer
BASELINES = (None, 300)

Rates = dict[str, np.ndarray]


def read(reading: str) -> tuple[Rates, Rates]:
    """Return the outcomes of March and June by rate."""
    place = Path(os.environ["SAYSO_TEST_DATA"]) / "real" / "llmdrift_opinionqa.jsonl.gz"
    reader = AnswerReader({}, None)
    months: dict[str, list[dict[str, int]]] = {MARCH: [], JUNE: []}
    with gzip.open(place, "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            if row["model"] in months:
                line = {"question": row["query"], "answer": row["answer"]}
                if reading == "option":
                    named = OPTION.match(row["answer"]) is not None
                    line["stance"] = "committed" if named else "abstained"
                months[row["model"]].append(reader.of_line(line).outcomes)
    return tuple(
        {
            rate: np.array([one[rate] for one in month], np.uint8)
            for rate in ("declining", "hedging")
        }
        for month in months.values()
    )


def drawn(month: Rates, n: int, rng: np.random.Generator) -> Rates:
    at = rng.integers(0, len(month["declining"]), n)
    return {rate: outcomes[at] for rate, outcomes in month.items()}


def watching(earlier: Rates) -> Watching:
    """Return the watch of a log against earlier answers, as the command makes it."""
    n = len(earlier["declining"])
    rates = {rate: ClusterCounts(x.astype(int), np.ones(n, int)) for rate, x in earlier.items()}
    return watching_rates(n, n, rates)


def watching_rates(answers: int, clusters: int, rates: dict[str, ClusterCounts]) -> Watching:
    baseline = Baseline("March", answers, clusters, rates, [])
    return Watching(Path("log"), baseline, AnswerReader({}, None), WatchOptions(), None)


def first_alarm(watched: Watching, log: Rates) -> int | None:
    """Return the number of answers until the first alarm of any rate."""
    found = []
    for change in watched.changes:
        if not change.alarm.rings:
            values = log[change.rate]
            at = change.alarm.update(values if change.change == "rise" else 1 - values)
            found += [] if at is None else [at + 1]
    return min(found) if found else None


def until_alarm(watched: Watching, month: Rates, most: int, rng: np.random.Generator) -> int | None:
    """Return the number of answers of a month until the first alarm, of ``most`` at most."""
    for before in range(0, most, PIECE):
        at = first_alarm(watched, drawn(month, PIECE, rng))
        if at is not None:
            return before + at
    return None


def delay(logs: int) -> None:
    for reading in ("option", "rules"):
        march, june = read(reading)
        shares = [f"{rate} {m.mean():.3f} -> {june[rate].mean():.3f}" for rate, m in march.items()]
        print(f"{reading}: {', '.join(shares)}", flush=True)
        for size in BASELINES:
            rng = np.random.default_rng(0)
            delays, false = [], 0
            for _ in range(logs if reading == "option" else logs // 10):
                watched = watching(march if size is None else drawn(march, size, rng))
                quiet = QUIET + int(rng.integers(0, 25))
                if first_alarm(watched, drawn(march, quiet, rng)) is not None:
                    false += 1
                    continue
                delays.append(until_alarm(watched, june, LONGEST, rng) or LONGEST + 1)
            n = size or len(march["declining"])
            print(
                f"  baseline {n}, after {QUIET:,}+ quiet answers, {len(delays)} logs ({false} with "
                f"a false alarm before): median {np.median(delays):.0f}, p95 "
                f"{np.quantile(delays, 0.95, method='higher'):.0f}, at most {max(delays)}",
                flush=True,
            )
    plain(*read("option"), logs=logs // 5)


def plain(march: Rates, june: Rates, logs: int) -> None:
    """Compare one product from the first answer on, after 2,000 quiet answers, at alpha .05."""
    for every, name in ((10**9, "one product from the first answer"), (25, "anew every 25")):
        rng, delays = np.random.default_rng(0), []
        for _ in range(logs):
            outcomes = march["declining"]
            bound = rise_bound(int(outcomes.sum()), len(outcomes), 0.025)
            alarm = ChangeAlarm(bound, 0.025, every=every)
            alarm.update(drawn(march, 2000, rng)["declining"])
            at = alarm.update(drawn(june, 2000, rng)["declining"])
            delays.append(2001 if at is None else at + 1)
        print(f"  {name}, after 2,000 quiet answers: median {np.median(delays):.0f}")


def false_alarms(logs: int) -> None:
    for reading in ("option", "rules"):
        march, _ = read(reading)
        for size in BASELINES:
            rng, raised = np.random.default_rng(1), 0
            for _ in range(logs):
                watched = watching(drawn(march, size or len(march["declining"]), rng))
                raised += first_alarm(watched, drawn(march, QUIET, rng)) is not None
            n = size or len(march["declining"])
            print(
                f"{reading}, baseline {n}: {raised} of {logs} logs of {QUIET:,} answers without a "
                f"change raised an alarm (stated: at most {WatchOptions().alpha:.0%})",
                flush=True,
            )


# ---- answers in clusters

#: rates of the worlds: declining and hedging
WORLD = {"declining": 0.1, "hedging": 0.1}
#: entities and answers about each, of the baselines
SHAPES = ((20, 12), (100, 12), (240, 1))
#: how alike answers about one entity are (intraclass correlation)
ALIKE = (0.0, 0.1, 0.3, 0.6)


def entities(rate: float, alike: float, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return the rate of each of ``n`` entities."""
    if not alike:
        return np.full(n, rate)
    more = (1 - alike) / alike
    return rng.beta(rate * more, (1 - rate) * more, n)


def clusters(logs: int) -> None:
    """Count false alarms with a baseline of few entities, by how alike their answers are."""
    for number, each in SHAPES:
        for alike in ALIKE if each > 1 else (0.0,):
            raised: dict[str, int] = {}
            bounds: dict[str, list[float]] = {}
            rng = np.random.default_rng(3)
            for _ in range(logs):
                ones = {
                    rate: rng.binomial(each, entities(share, alike, number, rng))
                    for rate, share in WORLD.items()
                }
                sizes = np.full(number, each)
                alone = np.ones(number * each, int)
                single = {
                    rate: ClusterCounts(np.repeat([1, 0], [y.sum(), (sizes - y).sum()]), alone)
                    for rate, y in ones.items()
                }
                clustered = {rate: ClusterCounts(y, sizes) for rate, y in ones.items()}
                # each answer about an entity of its own, and 12 in a row about one
                quiet, runs = (
                    {
                        rate: (
                            rng.random(QUIET)
                            < np.repeat(entities(share, alike, QUIET // row + 1, rng), row)[:QUIET]
                        ).astype(np.uint8)
                        for rate, share in WORLD.items()
                    }
                    for row in (1, 12)
                )
                for name, rates, log in (
                    ("answers taken for independent", single, quiet),
                    ("by entity", clustered, quiet),
                    ("by entity, 12 answers in a row about each in the log", clustered, runs),
                ):
                    watched = watching_rates(number * each, number, rates)
                    raised[name] = raised.get(name, 0) + (first_alarm(watched, log) is not None)
                    bound = next(c.bound.rate for c in watched.changes if c.change == "rise")
                    bounds.setdefault(name, []).append(bound)
            print(f"{number} entities x {each} answers, alike {alike}: of {logs} logs", flush=True)
            for name, count in raised.items():
                median = np.median(bounds[name])
                print(f"  {name}: {count} ({count / logs:.1%}), bound {median:.3f}", flush=True)


# ---- long logs


def lines(n: int, seed: int):
    draw = random.Random(seed)
    for number in range(n):
        declines = draw.random() < 0.03
        yield json.dumps(
            {
                "id": number,
                "time": 1_760_000_000 + number,
                "question": f"Who wrote book number {draw.randint(1, 99_999)}, and when?",
                "answer": "I am not sure who wrote that one." if declines else "Jane Doe, in 1987.",
                "stance": "abstained" if declines else "committed",
                "score": round(draw.random(), 4),
                "answerable": draw.random() < 0.8,
            }
        )


def million(sizes: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "earlier.jsonl").write_text("\n".join(lines(2000, 1)) + "\n")
        guard = {
            "format": GUARD_FORMAT, "sayso": "0", "created": "", "score": "mine", "limit": 0.9,
            "promise": "", "max_error": 0.05, "confidence": 0.95, "labels": 0, "labeled_by": "",
            "unit": "answer", "answered": 0, "wrong": 0, "needs": [],
        }  # fmt: skip
        (place / "guard.json").write_text(json.dumps(guard))
        for size in sizes:
            with (place / "log.jsonl").open("w") as file:
                file.writelines(f"{line}\n" for line in lines(size, 2))
            megabytes = (place / "log.jsonl").stat().st_size / 1e6
            done = subprocess.run(
                [sys.executable, __file__, "one", folder],
                capture_output=True,
                text=True,
                check=True,
            )
            print(f"{size:,} lines ({megabytes:.0f} MB): {done.stdout.strip()}", flush=True)


def texts() -> None:
    read("rules")  # what is loaded at the first answer
    forget_texts()
    began = time.process_time()
    months = read("rules")
    count = sum(len(month["declining"]) for month in months)
    print(
        f"{1000 * (time.process_time() - began) / count:.2f} CPU ms for each of {count:,} answers"
    )


def one(folder: str) -> None:
    place, began = Path(folder), time.process_time()
    options = WatchOptions(guard=place / "guard.json", state=place / "state.json")
    (place / "state.json").unlink(missing_ok=True)
    summary = watch(place / "log.jsonl", place / "earlier.jsonl", options)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    alarms = sum(len(rate["changes"]) for rate in summary["rates"].values())
    print(
        f"{time.process_time() - began:.1f} CPU s for {len(summary['rates'])} rates and {alarms} "
        f"alarms, {memory:.0f} MB at most, state {(place / 'state.json').stat().st_size:,} bytes"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=["delay", "false", "clusters", "million", "texts", "one"])
    parser.add_argument("folder", nargs="?", default="")
    parser.add_argument("--logs", type=int, default=LOGS)
    given = parser.parse_args()
    if given.part == "delay":
        delay(given.logs)
    elif given.part == "false":
        false_alarms(given.logs)
    elif given.part == "clusters":
        clusters(given.logs)
    elif given.part == "million":
        million([10_000, 100_000, 1_000_000])
    elif given.part == "texts":
        texts()
    else:
        one(given.folder)


if __name__ == "__main__":
    main()

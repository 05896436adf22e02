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
    python benchmarks/watch/drift.py days         # the same, by day and by night, and a real change
    python benchmarks/watch/drift.py repeats      # the same, with lines and labels that come again
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
    return watching_rates(n, n, {rate: alone(x) for rate, x in earlier.items()})


def alone(outcomes: np.ndarray) -> ClusterCounts:
    """Return answers about an entity each."""
    return ClusterCounts(outcomes.astype(int), np.ones(len(outcomes), int))


def watching_rates(answers: int, clusters: int, rates: dict[str, ClusterCounts]) -> Watching:
    return watching_parts(answers, clusters, {rate: {"": held} for rate, held in rates.items()})


def watching_parts(
    answers: int, clusters: int, rates: dict[str, dict[str, ClusterCounts]]
) -> Watching:
    baseline = Baseline("March", answers, clusters, rates, [])
    return Watching(Path("log"), baseline, AnswerReader({}, None), WatchOptions(), None)


def first_alarm(watched: Watching, log: Rates, parts: np.ndarray | None = None) -> int | None:
    """Return the number of answers until the first alarm of any rate."""
    found = []
    for change in watched.changes:
        if not change.alarm.rings:
            values = log[change.rate]
            at = change.alarm.update(values if change.change == "rise" else 1 - values, parts)
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
                single = {
                    rate: alone(np.repeat([1, 0], [y.sum(), (sizes - y).sum()]))
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


# ---- day and night

#: share that declines by day and by night, 12 hours each, and the days of baseline and log
DAY, NIGHT, WEEK, WEEKS = 0.05, 0.15, 7, 28
#: answers of a day
TRAFFIC = (240, 700, 2000)
#: hours of the day that are one part, and how it is called
BY = ((24, "as a whole"), (12, "by day and night"), (1, "by hour"))
#: factors of the odds of declining after a change
WORSE = (1.5, 2.0, 3.0)


def traffic(a_day: int, days: int, worse: float, rng: np.random.Generator) -> tuple[Rates, Rates]:
    """Return the hours of answers in their order, and their outcomes."""
    hours = np.tile(np.repeat(np.arange(24), np.diff(np.linspace(0, a_day, 25).astype(int))), days)
    odds = worse * np.where((hours >= 6) & (hours < 18), DAY / (1 - DAY), NIGHT / (1 - NIGHT))
    rates = {"declining": odds / (1 + odds), "hedging": np.full(len(hours), 0.1)}
    return hours, {
        rate: (rng.random(len(hours)) < share).astype(np.uint8) for rate, share in rates.items()
    }


def days(logs: int) -> None:
    """Count false alarms, and the days until a real change is seen, by how answers are compared."""
    for a_day in TRAFFIC:
        for each, name in BY:
            rng, false, power = np.random.default_rng(4), 0, {worse: [] for worse in WORSE}
            for number in range(logs):
                hours, earlier = traffic(a_day, WEEK, 1, rng)
                part = (hours + 18) % 24 // each  # a day begins at 6
                rates = {
                    rate: {f"{at:02}": alone(x[part == at]) for at in np.unique(part)}
                    for rate, x in earlier.items()
                }
                hours, log = traffic(a_day, WEEKS, 1, rng)
                watched = watching_parts(len(part), len(part), rates)
                false += first_alarm(watched, log, (hours + 18) % 24 // each) is not None
                worse = WORSE[number % len(WORSE)]
                watched = watching_parts(len(part), len(part), rates)
                hours, log = traffic(a_day, WEEK, 1, rng)
                if first_alarm(watched, log, (hours + 18) % 24 // each) is None:
                    hours, log = traffic(a_day, WEEK, worse, rng)
                    at = first_alarm(watched, log, (hours + 18) % 24 // each)
                    power[worse].append(np.inf if at is None else at / a_day)
            seen = ", ".join(
                f"odds x {worse:g}: {np.mean(np.isfinite(found)):.0%} of {len(found)} (median "
                f"{np.median(found):.1f} days)"
                for worse, found in power.items()
                if found
            )
            print(
                f"{a_day:,} answers a day, {name}: {false} of {logs} logs of {WEEKS} days with a "
                f"false alarm ({false / logs:.1%}); seen within {WEEK} days: {seen}",
                flush=True,
            )


# ---- what comes again


def repeats(logs: int) -> None:
    """Count false alarms where lines come ten times, and labels four times or are corrected."""
    rng = random.Random(5)

    def answers(n: int, **more: object) -> list[dict[str, object]]:
        names = ("committed", "abstained")
        return [
            {"id": f"a{k}", "question": f"q{k}", "answer": "x", **more}
            | {"stance": names[rng.random() < 0.1]}
            for k in range(n)
        ]

    def labels(n: int, times: int, first_wrong: float) -> list[dict[str, object]]:
        rows = []
        for k in range(n):
            right = rng.random() >= 0.1
            rows += [{"id": f"a{k}", "correct": right and rng.random() >= first_wrong}]
            rows += [{"id": f"a{k}", "correct": right}] * (times - 1)
        return rows

    committed = {"stance": "committed"}
    worlds = {
        "each line once": lambda: answers(1000),
        "each line ten times": lambda: [row for row in answers(1000) for _ in range(10)],
        "the log ten times": lambda: answers(1000) * 10,
        "each label once": lambda: [a | committed for a in answers(2000)] + labels(2000, 1, 0),
        "each label four times": lambda: (
            [a | committed for a in answers(2000)] + labels(2000, 4, 0)
        ),
        "a third of the labels wrong at first, corrected by the next line": lambda: (
            [a | committed for a in answers(2000)] + labels(2000, 2, 0.33)
        ),
    }
    with tempfile.TemporaryDirectory() as folder:
        log, earlier = Path(folder) / "log.jsonl", Path(folder) / "earlier.jsonl"
        for name, world in worlds.items():
            raised = 0
            for _ in range(logs):
                rows = [
                    row | {"correct": rng.random() >= 0.1} | (committed if "label" in name else {})
                    for row in answers(300)
                ]
                for place, written in ((earlier, rows), (log, world())):
                    place.write_text("".join(f"{json.dumps(row)}\n" for row in written))
                raised += watch(log, earlier)["alarms"] > 0
            print(f"{name}: {raised} of {logs} logs with a false alarm", flush=True)


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


PARTS = {
    "delay": delay, "false": false_alarms, "clusters": clusters, "days": days, "repeats": repeats,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=[*PARTS, "million", "texts", "one"])
    parser.add_argument("folder", nargs="?", default="")
    parser.add_argument("--logs", type=int, default=LOGS)
    given = parser.parse_args()
    if given.part in PARTS:
        PARTS[given.part](given.logs)
    elif given.part == "million":
        million([10_000, 100_000, 1_000_000])
    elif given.part == "texts":
        texts()
    else:
        one(given.folder)


if __name__ == "__main__":
    main()

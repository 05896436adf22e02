"""Does a pilot tell the price? Its range beside what a metered server then billed.

    python benchmarks/reliability/pilot.py [--runs 20] [--limit 120] [--pilot 5] [--json FILE]

Each run is one command of ``sayso`` with ``--pilot``, and then the run itself, against a server on
loopback that counts what it bills: prompt tokens, and answers that begin with a thought. Lengths of
thoughts are log-normal, of each entity (its questions are hard or easy) and of each answer, with
standard deviations of the log that differ by run: from .3 and .8 to .5 and 1.2, so that one answer
in a hundred is up to 16 times the median one. The real run finds the pilot's answers in the cache.

A row has the price that the pilot told for the rest with its range, what the rest was billed,
whether that lies inside, how wide the range is (its most over its least), how many entities the
pilot asked of how many, and whether anything was paid twice.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import random
import sys
import tempfile
import threading
import zlib
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

import sayso
from sayso import cli
from support.endpoint import endpoint

#: what is run, in turn: protocol and settings
RUNS: tuple[tuple[str, dict[str, str | int]], ...] = (
    ("uncle", {}),
    ("selective", {"draws.k": 3}),
    ("uncle", {"probe.stop": "first_right"}),
    ("faithfulness", {"draws.k": 4}),
)
#: standard deviations of the log of a thought's length: by entity, and by answer
SPREADS = ((0.3, 0.8), (0.4, 1.0), (0.5, 1.2))
#: tokens of the median thought, and of an answer
MEDIAN, ANSWER = 300, 30
#: dollars of a token of a prompt, and of one that is written
PRICE = 1e-6, 4e-6


class Bill:
    """What was asked and what it cost; a reply's length hangs on entity, prompt and turn."""

    def __init__(self, seed: int, spread: tuple[float, float], entities: list[str]) -> None:
        self.seed, self.spread, self.entities = seed, spread, entities
        self.dollars = 0.0
        self.asked: Counter[str] = Counter()
        self.lock = threading.Lock()

    def answer(self, body: dict[str, Any]) -> tuple[dict[str, str], dict[str, int]]:
        """Return a thought, an answer and its usage, and bill both."""
        prompt = "\n".join(str(m["content"]) for m in body["messages"])
        named = [name for name in self.entities if name in prompt]
        of_entity = random.Random(zlib.crc32(f"{self.seed} {max(named, default=prompt)}".encode()))
        with self.lock:
            request = json.dumps([prompt, body.get("seed"), body.get("temperature")])
            self.asked[request] += 1
        own = random.Random(zlib.crc32(f"{self.seed} {request}".encode()))
        log = of_entity.gauss(0, self.spread[0]) + own.gauss(0, self.spread[1])
        tokens = max(1, round(MEDIAN * math.exp(log)))
        text = own.choice(("It was Anna Berg.", "I am not sure.", "In 1947.", "I do not know."))
        usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": tokens + ANSWER}
        with self.lock:
            billed = zip(PRICE, usage.values(), strict=True)
            self.dollars += sum(price * count for price, count in billed)
        return {"content": text, "reasoning_content": "so"}, usage


def run_command(*words: str) -> str:
    """Run a command in this process and return what it prints. Raises RuntimeError."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.execute(list(words))
    if code not in (0, 1):
        raise RuntimeError(err.getvalue().strip().splitlines()[-1])
    return out.getvalue()


class Row(NamedTuple):
    """One run: what the pilot said of the rest, and what came."""

    command: str
    spread: tuple[float, float]
    asked: int
    of: int
    pilot: float
    dollars: float
    low: float
    high: float
    billed: float
    twice: int

    @property
    def inside(self) -> bool:
        """Whether the range holds what was billed."""
        return self.low <= self.billed <= self.high

    @property
    def width(self) -> float:
        """The most over the least."""
        return self.high / self.low


def table(entities: int) -> list[dict[str, str]]:
    """Return questions about people: two each, which make a paragraph in UNCLE."""
    asked, golds = ("In which year was {} born?", "Who taught {}?"), ("1947", "Anna Berg")
    return [
        {"question": text.format(name), "gold": gold, "entity": name}
        for name in (f"Person {number:03}" for number in range(entities))
        for text, gold in zip(asked, golds, strict=True)
    ]


def tried(number: int, limit: int, pilot: int) -> Row:
    """Take a pilot, then the run."""
    protocol, chosen = RUNS[number % len(RUNS)]
    spread, rows = SPREADS[number % len(SPREADS)], table(limit)
    bill = Bill(number, spread, sorted({row["entity"] for row in rows}))
    with tempfile.TemporaryDirectory() as folder, endpoint(bill.answer) as url:
        file = Path(folder) / "people.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        settings = {"resamples": 100, **chosen}
        named = {"model": f"{url}#m", "data": f"file:{file}", "price": "1,4", "seed": number}
        named |= {"out": f"{folder}/out", "cache": f"{folder}/cache"}
        words = [w for name, value in named.items() for w in (f"--{name}", str(value))]
        words += [w for name, value in settings.items() for w in ("--set", f"{name}={value}")]
        said = json.loads(run_command("run", protocol, *words, "--pilot", str(pilot), "--json"))
        paid, told = bill.dollars, said["pilot"]
        sayso.run(protocol, settings=settings, report=False, **named)
    what = " ".join([protocol, *(f"{name}={value}" for name, value in chosen.items())])
    return Row(
        what, spread, told["asked"], told["of"], paid, told["dollars"], told["low"], told["high"],
        bill.dollars - paid, bill.asked.total() - len(bill.asked),
    )  # fmt: skip


def main() -> int:
    """Print the table; return 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--limit", type=int, default=120, help="entities of a run")
    parser.add_argument("--pilot", type=int, default=5)
    parser.add_argument("--json", type=Path, help="file for the rows")
    given = parser.parse_args()
    found = []
    for number in range(given.runs):
        row = tried(number, given.limit, given.pilot)
        found.append(row)
        print(
            f"{row.command:34} {row.spread!s:11} {row.asked:3} of {row.of:3} paid ${row.pilot:.3f}"
            f"  rest ${row.dollars:.3f} (${row.low:.3f} - ${row.high:.3f}, {row.width:.2f} x)"
            f"  billed ${row.billed:.3f} {'' if row.inside else 'MISS'} twice {row.twice}",
            flush=True,
        )
    inside, narrow = sum(r.inside for r in found), sum(r.width <= 2 for r in found)
    print(f"{inside} of {len(found)} inside, {narrow} at most 2 x wide")
    if given.json:
        rows = json.dumps([row._asdict() for row in found], indent=1)
        given.json.write_text(rows + "\n", encoding="utf-8")
    return 0 if inside >= 0.95 * len(found) and narrow >= 0.75 * len(found) else 1


if __name__ == "__main__":
    sys.exit(main())

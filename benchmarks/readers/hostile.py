"""How long does each offline reader take on texts that try to make it slow?

    python benchmarks/readers/hostile.py [TEXTS [FIRST]] [--show]

``tests/support/hostile_texts.py`` makes the texts (5,000, of up to 50,000 characters): runs, things
that never close, mixed scripts, invisible characters, one phrase or line over and over. Every
reader reads each once, in one process. Printed are seconds of processor time: the median, the 99th
percentile and the worst with its text, and how many took over .2 s; with --show, each of those.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from sayso.judges.english.tokens import forget_texts
from support.hostile_readers import READERS
from support.hostile_texts import Hostile, hostile_texts

#: seconds of processor time that a reader may take for an answer
BAR = 0.2


class Slow(NamedTuple):
    """A text that took a reader over the bar."""

    seconds: float
    number: int
    text: Hostile


def main() -> None:
    """Time the readers."""
    given = [int(a) for a in sys.argv[1:] if a.isdigit()]
    count, first = given[0] if given else 5_000, given[1] if len(given) > 1 else 0
    taken: dict[str, list[float]] = {name: [] for name in READERS}
    slow: dict[str, list[Slow]] = {name: [] for name in READERS}
    for number, text in enumerate(hostile_texts(count, first), first):
        for name, read in READERS.items():
            seconds = timed(read, text.text)
            taken[name].append(seconds)
            if seconds > BAR:
                slow[name].append(Slow(seconds, number, text))
        if number % 250 == 249:
            print(f"{number + 1:,} texts", file=sys.stderr, flush=True)
    print(f"{count:,} texts from number {first:,}\n")
    print(f"{'reader':20} {'median':>8} {'99 %':>8} {'worst':>8} {'over .2 s':>10}  worst text")
    for name, seconds in taken.items():
        middle, high, worst = np.quantile(seconds, [0.5, 0.99, 1.0])
        at = first + int(np.argmax(seconds))
        (text,) = hostile_texts(1, at)
        shown = f"{middle:8.4f} {high:8.4f} {worst:8.4f} {len(slow[name]):10,}"
        print(f"{name:20} {shown}  {at} {text.kind}")
    if "--show" in sys.argv:
        for name, every in slow.items():
            for one in sorted(every, reverse=True)[:10]:
                start = one.text.text[:60]
                print(f"{name} {one.seconds:.3f} s: {one.number} {one.text.kind}: {start!r}")


def timed(read: Callable[[str], Any], text: str) -> float:
    """Return the processor time of one reading, with nothing remembered from before."""
    forget_texts()
    read("She was born in Ripley, I think.")
    began = time.process_time()
    read(text)
    return time.process_time() - began


if __name__ == "__main__":
    main()

"""Are two names of one thing or of two? Measured on 190 pairs of names written for this study.

    python benchmarks/readers/names.py [--show]

``data/names.jsonl`` holds names that differ by little, and names of one thing in several shapes.
75 pairs ("before") were written before ``sayso.judges.rules.names`` and 75 ("after") when it was
done; it was changed once more with both in view, and 40 ("fresh") were written and read after it.
Three readers are measured:

* ``compare``: ``compare_names``; "unsure" counts as wrong;
* ``judge``: ``match`` with one name as the gold and the other as the answer, in both directions;
* ``contradiction``: ``contradicts`` of two answers that say one name each, in both directions.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sayso.judges.contradiction import contradicts
from sayso.judges.rules.matching import match
from sayso.judges.rules.names import compare_names
from sayso.records import Gold

DATA = Path(__file__).parents[1] / "data" / "names.jsonl"
QUESTION = "What is the name?"

Row = dict[str, Any]


def rows() -> list[Row]:
    """Return the pairs."""
    with DATA.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _compare(row: Row) -> Iterator[bool]:
    expected = "same" if row["same"] else "different"
    yield compare_names(row["a"], row["b"]) == expected


def _judge(row: Row) -> Iterator[bool]:
    for gold, answer in ((row["a"], row["b"]), (row["b"], row["a"])):
        correct = match(QUESTION, [Gold(gold)], f"It is {answer}.").content == "correct"
        yield correct == row["same"]


def _contradiction(row: Row) -> Iterator[bool]:
    for one, two in ((row["a"], row["b"]), (row["b"], row["a"])):
        yield contradicts(QUESTION, f"It is {one}.", f"It is {two}.") != row["same"]


READERS: dict[str, Callable[[Row], Iterator[bool]]] = {
    "compare": _compare,
    "judge": _judge,
    "contradiction": _contradiction,
}


def main() -> None:
    """Print the share of pairs that each reader gets right, by half; with --show the others."""
    for name, reader in READERS.items():
        right: Counter[str] = Counter()
        total: Counter[str] = Counter()
        for row in rows():
            results = list(reader(row))
            right[row["half"]] += sum(results)
            total[row["half"]] += len(results)
            if "--show" in sys.argv and not all(results):
                print(f"  {name}: {row['a']} | {row['b']} | same={row['same']} {results}")
        shares = ", ".join(f"{h} {right[h] / total[h]:.3f} of {total[h]}" for h in sorted(total))
        print(f"{name}: {shares}")


if __name__ == "__main__":
    main()

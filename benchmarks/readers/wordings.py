"""Do the rules still read two thousand wordings that they once read as expected?

    python benchmarks/readers/wordings.py [--show]

The sentences of ``data/wordings_*.jsonl`` are by the author of the rules: some were written before
a rule and some after it, "ways of saying" in one go after the rules (which read 82 % of them at
first; each miss was answered by a class of words), and "unseen builds" and "remarks and names" were
labelled before the rules were run on them. Texts that those rules misread were left out, and the
stance of the first two files is learned from these rows among others, so they guard what works and
measure nothing. A row has ``class``, ``text``, ``question``, ``gold`` and what
is ``expected``:

* ``short``: the stance of a short answer, with its content where that is expected too;
* ``paragraphs``: ``aspects`` as (question, gold, expected); ``null`` where any verdict will do;
* ``matching``: the content of an answer, whatever its stance;
* ``contradiction``: whether ``text`` and ``other`` contradict each other, in both orders;
* ``decisiveness``: the range of the score, ``null`` for a text that asserts nothing in English.

Prints right/total of each class, and fails where a file falls below ``LEAST``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sayso.judges.contradiction import contradicts
from sayso.judges.decisiveness import decisiveness
from sayso.judges.rules.judge import judge_rules, judge_rules_long
from sayso.judges.rules.matching import match
from sayso.records import Gold, Verdict

DATA = Path(__file__).parents[1] / "data"
#: The share of each file that must be read as expected: what the rules reach today.
LEAST = {
    "short": 0.98,
    "paragraphs": 0.82,
    "matching": 1.0,
    "contradiction": 1.0,
    "decisiveness": 0.95,
}

Row = dict[str, Any]


def rows(name: str) -> list[Row]:
    """Return the rows of one file."""
    with (DATA / f"wordings_{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def as_expected(name: str, row: Row) -> bool:
    """Whether one row is read as expected."""
    return READERS[name](row)


def misread(name: str) -> Iterator[Row]:
    """Yield the rows of one file that are not read as expected."""
    yield from (row for row in rows(name) if not as_expected(name, row))


def _agrees(verdict: Verdict, expected: str | None) -> bool:
    if expected is None:
        return True
    stance, _, content = expected.partition(" ")
    return verdict.problem is None and verdict.stance == stance and content in ("", verdict.content)


def _short(row: Row) -> bool:
    return _agrees(judge_rules(row["question"], row["gold"], row["text"]), row["expected"])


def _paragraph(row: Row) -> bool:
    parts = [(question, gold) for question, gold, _ in row["aspects"]]
    verdicts = judge_rules_long(parts, row["text"])
    return all(
        _agrees(verdict, expected)
        for verdict, (_, _, expected) in zip(verdicts, row["aspects"], strict=True)
    )


def _matching(row: Row) -> bool:
    """The content, and a span within the text where there is one; "a|b" is a gold with an alias."""
    names = [gold.split("|") for gold in row["gold"]]
    golds = [Gold(value, aliases=tuple(aliases)) for value, *aliases in names]
    read = match(row["question"], golds, row["text"])
    inside = read.start is None or (
        read.end is not None and 0 <= read.start < read.end <= len(row["text"])
    )
    return read.content == row["expected"] and inside


def _contradiction(row: Row) -> bool:
    question, one, two = row["question"], row["text"], row["other"]
    both = (contradicts(question, one, two), contradicts(question, two, one))
    return all(answer is row["expected"] for answer in both)


def _decisiveness(row: Row) -> bool:
    score = decisiveness(row["text"])
    if score is None or row["expected"] is None:
        return score is row["expected"]
    low, high = row["expected"]
    return bool(low - 1e-9 <= score <= high + 1e-9)


READERS: dict[str, Callable[[Row], bool]] = {
    "short": _short,
    "paragraphs": _paragraph,
    "matching": _matching,
    "contradiction": _contradiction,
    "decisiveness": _decisiveness,
}


def main(show: bool) -> int:
    """Print right/total of each class; return 1 if a file is below its threshold."""
    failed = False
    for name, least in LEAST.items():
        counts: dict[str, list[bool]] = {}
        for row in rows(name):
            right = as_expected(name, row)
            counts.setdefault(row["class"], []).append(right)
            if show and not right:
                print(f"  misread: {json.dumps(row, ensure_ascii=False)}")
        every = [right for group in counts.values() for right in group]
        share = sum(every) / len(every)
        failed |= share < least
        print(f"{name}: {sum(every)}/{len(every)} = {share:.4f}, at least {least:.4f} is expected")
        for group, rights in counts.items():
            print(f"  {sum(rights):4}/{len(rights):<4} {group}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main("--show" in sys.argv[1:]))

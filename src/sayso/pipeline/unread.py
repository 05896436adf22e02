"""Answers and verdicts that never came: what is told before any number, and what is no result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sayso.annotate import Item, Judge
from sayso.records import Generation, InputError, Verdict

#: more missing than this share of the verdicts is told before any number
MANY = 0.03
#: a judge that was asked so often and was never read is no judge
ENOUGH = 5
#: how a judge's counts call the verdicts that it did not give
PROBLEMS = ("unread", "mismatch", "refused", "truncated", "failed")

#: what to do about requests without an answer, by the beginning of their problem
ADVICE = {
    "context": "could not be asked: prompt and longest answer exceed the model's context; "
    "shorten them (--answer.short-tokens, --answer.long-tokens)",
    "truncated": "ended inside their thinking at the token limit and have no verdict; "
    "allow more (--thinking with a number of tokens) or none (--thinking off)",
}


@dataclass
class Seen:
    """How many ``verdicts`` one judge was to give on answers that came, and what is missing.

    ``unread`` of them could not be read; ``unanswered`` are those on requests without an answer,
    which are not among ``verdicts``.
    """

    verdicts: int = 0
    unread: int = 0
    unanswered: int = 0

    def add(self, items: Sequence[Item], verdicts: Sequence[Verdict]) -> None:
        """Count the verdicts on some answers."""
        lost = {item.generation.id for item in items if item.generation.problem is not None}
        for verdict in verdicts:
            if verdict.target in lost:
                self.unanswered += 1
            else:
                self.verdicts += 1
                self.unread += verdict.problem is not None


def why_missing(rows: Sequence[Generation], problem: str) -> str:
    """Return what happened to requests whose problem begins so, and what to do, for people."""
    first = next(r.problem for r in rows if r.problem and r.problem.startswith(problem))
    return ADVICE.get(problem, f"failed ({' '.join(first.split())[:200]}); run again")


def check_answered(name: str, rows: Sequence[Generation]) -> None:
    """Raise InputError where not one of the requests was answered: there is nothing to judge."""
    if not rows or any(r.problem is None for r in rows):
        return
    heads = Counter((r.problem or "").partition(":")[0] for r in rows)
    said = "; ".join(f"{n:,} {why_missing(rows, head)}" for head, n in heads.most_common())
    raise InputError(
        f"{name} answered none of {len(rows):,} requests: {said}. There are no numbers and no "
        "report; the same command asks again"
    )


def asked_and_missing(judge: Judge) -> tuple[int, dict[str, int]]:
    """Return how many verdicts a model was asked for, and by problem those that it did not give.

    (0, {}) for a judge that asks no model. For a cascade they are those of its model only.
    """
    counts = getattr(judge, "counts", None)
    missing = {p: int(getattr(counts, p, 0)) for p in PROBLEMS}
    return int(getattr(counts, "parts", 0)), {p: n for p, n in missing.items() if n}


def check_read(judge: Judge, seen: Seen, command: str) -> None:
    """Raise InputError where a judge's model was read not once, or no verdict is there at all.

    ``command`` is what checks this judge.
    """
    asked, missing = asked_and_missing(judge)
    lost = sum(missing.values())
    if asked >= ENOUGH and lost == asked:
        said = ", ".join(f"{problem} {number:,}" for problem, number in missing.items())
        what = f"could be read on none of the {asked:,} verdicts it was asked for ({said})"
    elif seen.verdicts and seen.unread == seen.verdicts:
        what = f"could be read on none of {seen.verdicts:,} verdicts"
    else:
        return
    again = "the same command goes on, and " if asked else ""
    raise InputError(
        f"the judge {judge.name} {what}: there are no numbers and no report. Every answer is kept: "
        f"{again}with another --judge the model is asked nothing again; `{command}` tells what "
        "this judge can read"
    )


def cautions(seen: Seen) -> list[str]:
    """Return what must be read before any number where more than a few verdicts are missing."""
    found = []
    if seen.unread > MANY * seen.verdicts:
        found.append(
            f"The judge could not be read on {seen.unread:,} of {seen.verdicts:,} verdicts; what "
            "is left is selected: read the bounds."
        )
    total = seen.verdicts + seen.unanswered
    if seen.unanswered > MANY * total:
        found.append(
            f"{seen.unanswered:,} of {total:,} verdicts are missing because the model gave no "
            "answer; what is left is selected: read the bounds."
        )
    return found

"""Rates over time, in memory that does not grow, and what a page of a watch shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np

from sayso.guard.growing import Whole

#: stretches of a log that are kept; where there are more, every two become one
MOST_BINS = 120
#: a stretch with so many times fewer answers than the one before has just begun
BEGUN = 4
#: answers of a stretch at the beginning
FIRST_WIDTH = 25


class RateHistory(msgspec.Struct):
    """Counts of each rate in stretches of a log, each ``width`` answers long.

    ``counts`` has, by rate, how many count in each stretch, and of how many. There are at most
    :data:`MOST_BINS` stretches: a log that is longer gets wider ones.
    """

    width: Annotated[int, msgspec.Meta(ge=1, lt=1 << 62)] = FIRST_WIDTH
    counts: dict[str, tuple[list[Whole], list[Whole]]] = msgspec.field(default_factory=dict)

    def add(self, rate: str, answers: Sequence[int], outcomes: Sequence[int]) -> None:
        """Count outcomes (1 or 0) of answers, whose numbers in the log begin at 1."""
        at = np.maximum(np.asarray(answers, dtype=np.int64) - 1, 0)
        while at.max() // self.width >= MOST_BINS:
            self.width *= 2
            for name, both in self.counts.items():
                self.counts[name] = (_paired(both[0]), _paired(both[1]))
        many = np.bincount(at // self.width, np.asarray(outcomes, dtype=np.float64), MOST_BINS)
        all_ = np.bincount(at // self.width, minlength=MOST_BINS)
        held = self.counts.get(rate, ([0] * MOST_BINS, [0] * MOST_BINS))
        self.counts[rate] = (
            [a + int(b) for a, b in zip(held[0], many, strict=True)],
            [a + int(b) for a, b in zip(held[1], all_, strict=True)],
        )

    def correct(self, rate: str, answer: int, difference: int) -> None:
        """Change the count of the stretch of an answer by 1 or -1."""
        self.counts[rate][0][max(answer - 1, 0) // self.width] += difference

    def stretches(self, rate: str, most: int) -> list[tuple[int, int, int, int]]:
        """Return (first answer, last answer, count, n) of at most ``most`` stretches that have any.

        Neighbors are joined until there are no more. A last one that has just begun is joined to
        the one before.
        """
        many, all_ = self.counts.get(rate, ([], []))
        used = max((number + 1 for number, n in enumerate(all_) if n), default=0)
        joined = -(-used // most)
        found = []
        for first in range(0, used, max(joined, 1)):
            last = min(first + joined, used)
            n = sum(all_[first:last])
            if n:
                place = (first * self.width + 1, last * self.width)
                found.append((*place, sum(many[first:last]), n))
        if len(found) > 1 and BEGUN * found[-1][3] < found[-2][3]:
            (first, _, count, n), (_, last, late, of_late) = found[-2:]
            found[-2:] = [(first, last, count + late, n + of_late)]
        return found


def _paired(counts: list[int]) -> list[int]:
    """Return the sums of every two neighbors, and as many zeros behind them."""
    sums = [sum(counts[at : at + 2]) for at in range(0, len(counts), 2)]
    return sums + [0] * (len(counts) - len(sums))


class WatchPage(NamedTuple):
    """What the page of a watch shows: its summary and alarms, the history, rates in words.

    ``notes`` are sentences on what could not be read or counted.
    """

    summary: Mapping[str, Any]
    alarms: Sequence[Mapping[str, Any]]
    history: RateHistory
    words: Mapping[str, str]
    within: int
    notes: Sequence[str]

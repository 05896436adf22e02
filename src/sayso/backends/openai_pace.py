"""How many calls may be in flight, and when to pause: learned from what the endpoint answers.

Additive increase, multiplicative decrease: every answer allows a little more (twice as much per
round at first), every "too many requests" halves it, once per round. A pause that the endpoint
asks for holds for all calls, so that one refusal is not repeated by 255 others.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_PAUSE = 120.0
LONGEST_BACKOFF = 30.0


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds that a reply asks to wait, 0 to 120; ``None`` where it says nothing.

    Read from ``retry-after-ms`` or ``Retry-After``, in seconds or as a date. A date is compared
    with the server's own ``Date``, because its clock need not agree with ours.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if seconds == seconds:  # not NaN
            return min(max(seconds, 0.0), LONGEST_PAUSE)
    until = _date(headers.get("retry-after", ""))
    if until is None:
        return None
    clock = _date(headers.get("date", "")) or now or datetime.now(UTC)
    return min(max((until - clock).total_seconds(), 0.0), LONGEST_PAUSE)


def _date(text: str) -> datetime | None:
    """Read an HTTP date."""
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


class Pace:
    """The shared state of all calls to one endpoint. Times are the event loop's.

    ``limit`` is how many calls may be in flight now, at most ``most``. ``base`` is the first
    back-off in seconds; each further one doubles, with jitter, up to 30.
    """

    def __init__(self, most: int, base: float = 0.5) -> None:
        self.most = most
        self.base = base
        self.limit = float(min(most, 32))
        self.doubling = True
        self.paused_until = 0.0
        self.cut_at = float("-inf")
        self.busy_rounds = 0
        self.outages = 0
        self.random = random.Random()

    @property
    def window(self) -> int:
        """How many calls to hold ready: those in flight, and half as many again."""
        return int(self.limit * 1.5) + 8

    def backoff(self, tries: int) -> float:
        """Return the seconds to wait before try ``tries`` + 1: exponential, with jitter."""
        longest = min(self.base * 2.0 ** min(tries - 1, 30), LONGEST_BACKOFF)
        return longest * self.random.uniform(0.5, 1.0)

    def answered(self, running: int) -> None:
        """An answer came: allow more, if what is allowed was used."""
        self.busy_rounds = 0
        self.outages = 0
        if running + 1 >= self.limit:
            step = 1.0 if self.doubling else 1.0 / self.limit
            self.limit = min(self.limit + step, float(self.most))

    def cut(self, started: float, now: float) -> bool:
        """Halve the limit, once for all calls that started before the last cut."""
        if started < self.cut_at:
            return False
        self.cut_at = now
        self.doubling = False
        self.limit = max(1.0, self.limit / 2.0)
        return True

    def busy(self, started: float, now: float, wait: float | None) -> None:
        """The endpoint said "too many requests": fewer calls, and a pause for all of them."""
        if self.cut(started, now):
            self.busy_rounds += 1
            if wait is None:
                wait = self.backoff(self.busy_rounds)
        if wait is not None:
            self.paused_until = max(self.paused_until, now + wait)

    def away(self, started: float, now: float) -> None:
        """Nobody listens: one pause for all, longer each round."""
        if started >= self.cut_at and now >= self.paused_until:
            self.cut_at = now
            self.outages += 1
            self.paused_until = now + self.backoff(self.outages)

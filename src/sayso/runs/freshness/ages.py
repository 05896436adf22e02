"""How old cached answers are, who gave them, and the period of a run that asks everything anew.

``--fresh`` uses no reply that was given before it began. A run that is stopped and started again
goes on: when it began stands in a small file in the cache folder until it is finished.
"""

from __future__ import annotations

import contextlib
import datetime
import time
from collections import Counter
from pathlib import Path

import msgspec

from sayso.addresses import HIDDEN, redact
from sayso.harmless import line
from sayso.records import content_id
from sayso.storage.atomic import place_inside, replacing
from sayso.storage.cache import ReplyOrigin

MINUTE, HOUR, DAY = 60, 3_600, 86_400
#: an endpoint's answers that are older make a caution, and a ``--fresh`` run that was left alone
#: for longer begins again
OLD = 7 * DAY
#: addresses that are named, and characters of one
MOST_NAMED, LONGEST = 2, 100


def ago(seconds: float) -> str:
    """Return an age in words: "5 minutes", "3 days"; of less than a minute "less than a minute"."""
    for unit, name, most in ((MINUTE, "minute", 90), (HOUR, "hour", 36), (DAY, "day", 10**9)):
        number = round(seconds / unit)
        if number < most:
            return f"{number} {name}{'s' * (number != 1)}" if number else "less than a minute"
    return f"{round(seconds / DAY):,} days"


def date_of(given: float) -> str:
    """Return the day (UTC) of a time in seconds since 1970."""
    with contextlib.suppress(OverflowError, OSError, ValueError):
        return datetime.datetime.fromtimestamp(given, datetime.UTC).date().isoformat()
    return "an impossible date"


def plain_address(address: str) -> str:
    """Return an address as it may be shown: one short line without login, query and keys."""
    shown = redact(address).replace(f"{HIDDEN}@", "").partition("?")[0]
    return line(shown if "://" in shown else shown.rpartition("@")[2], LONGEST)


class Ages:
    """When the answers that a run took from the cache were given, and by which addresses.

    Version 0.2 noted several with commas between, where they served one model.
    """

    def __init__(self) -> None:
        self.number = 0
        self.unknown = 0
        self.given: list[float] = []
        self.addresses: Counter[str] = Counter()

    def add(self, origin: ReplyOrigin | None) -> None:
        """Count one answer."""
        self.number += 1
        if origin is None:
            self.unknown += 1
            return
        self.given.append(origin.given)
        if origin.address:
            self.addresses[origin.address] += 1

    def line(self, total: int, what: str, verb: str = "from") -> str:
        """Return how many of so many answers are from the cache, how old, and who gave them."""
        are = "is" if self.number == 1 else "are"
        return f"{self.number:,} of {total:,} {what} {are} {verb} the cache, {self._told()}"

    def _told(self) -> str:
        """Return when they were given and by whom, in words."""
        if not self.given:
            return "given at an unknown time"
        now = time.time()
        first, last = (ago(max(0.0, now - end)) for end in (min(self.given), max(self.given)))
        day = f" ({date_of(min(self.given))})" if now - min(self.given) >= 2 * DAY else ""
        when = f"{first} ago{day}" if first == last else f"between {first}{day} and {last} ago"
        rest = f", {self.unknown:,} of them at an unknown time" if self.unknown else ""
        return f"given {when}{self._by()}{rest}"

    def _by(self) -> str:
        names = {plain_address(a): None for joined in self.addresses for a in joined.split(",")}
        if not names:
            return ""
        named = list(names)[:MOST_NAMED]
        more = len(names) - len(named)
        others = f" and {more} other address{'es' * (more > 1)}" if more else ""
        return f" by {(', ' if more else ' and ').join(named)}{others}"

    def cautions(self, asked: str, who: str = "model") -> list[str]:
        """Return what must be read first where an endpoint's answers are old, or another's.

        ``asked`` is the address that this run asks, ``who`` is asked there. A judge's may be old.
        """
        found = []
        judge = who != "model"
        old = sum(time.time() - given > OLD for given in self.given)
        if old and not judge:
            found.append(
                f"{old:,} of the answers come from the cache and are more than {ago(OLD)} old: the "
                "model behind this name may have changed since. --fresh asks everything again."
            )
        others = [a for a in self.addresses if asked and a != asked]
        if others:
            number = sum(self.addresses[a] for a in others)
            names = " and ".join(plain_address(a) for a in others[0].split(",")[:MOST_NAMED])
            found.append(
                f"{number:,} of the answers{f' of the {who}' * judge} come from the cache and were "
                f"given by {names}; this run asks {plain_address(asked)}. "
                f"{'Another --set cache=FOLDER' if judge else '--fresh'} asks everything again."
            )
        return found

    def record(self, asked_since: float | None = None) -> dict[str, str | int]:
        """Return what a manifest keeps; nothing where no answer came from the cache.

        ``asked_since`` is when the command began (seconds since 1970): what was given later was
        asked by it, for another run of it or before it was stopped.
        """
        if not self.number:
            return {}
        days = {"oldest": min(self.given), "newest": max(self.given)} if self.given else {}
        if asked_since is not None:
            days["asked since"] = asked_since
        # whole seconds would not tell an answer of this command from one given just before it
        moment = datetime.datetime.fromtimestamp
        times = {
            name: moment(given, datetime.UTC).isoformat(timespec="microseconds")
            for name, given in days.items()
        }
        addresses = ", ".join(sorted(plain_address(a) for a in ",".join(self.addresses).split(",")))
        by = {"addresses": addresses} if self.addresses else {}
        return {"answers": self.number, "of unknown age": self.unknown, **times, **by}


# ---- asking everything anew


class PeriodMark(msgspec.Struct, frozen=True):
    """What the file of a period holds."""

    since: float


class Period:
    """The time since which replies are fresh, for the command that ``what`` describes.

    It is written down when the first reply comes, so that a start that failed leaves nothing, and
    is read again until :meth:`end`: a command that was stopped goes on.
    """

    def __init__(self, cache_folder: Path, what: object) -> None:
        self.path = place_inside(cache_folder, "fresh", f"{content_id(['fresh', what])}.json")
        self.since = time.time()
        self.goes_on = False
        with contextlib.suppress(OSError, msgspec.DecodeError):
            if time.time() - self.path.stat().st_mtime < OLD:
                self.since = msgspec.json.decode(self.path.read_bytes(), type=PeriodMark).since
                self.goes_on = True
        self._written = False

    def begin(self) -> None:
        """Write it down, once."""
        if not self._written:
            with replacing(self.path, private=True) as file:
                file.write(msgspec.json.encode(PeriodMark(self.since)))
            self._written = True

    def end(self) -> None:
        """Forget it: everything was asked."""
        self.path.unlink(missing_ok=True)

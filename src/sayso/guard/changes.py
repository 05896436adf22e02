"""The changes of a log that are watched for: their alarms, and what is kept of the log.

Each rate has an anytime-valid alarm for each change that matters (:mod:`sayso.metrics.alarms`);
all of them share one chance of a false alarm. The state is small and of the same size for ever.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from sayso.datasets.tables import decode_text, parse_json, unreadable, whole
from sayso.guard.baseline import Baseline, Bound, Counts
from sayso.guard.choices import WatchOptions
from sayso.guard.growing import LONGEST_LINE, LogPlace
from sayso.guard.history import RateHistory
from sayso.guard.late_labels import RecentAnswers
from sayso.guard.log_answers import EMPTY_LINE, RATES, AnswerReader, Change, Seen
from sayso.harmless import printable
from sayso.judges.rules.judge import SIGNATURE
from sayso.metrics.alarms import AlarmState, ChangeAlarm, smallest_rise
from sayso.records import InputError
from sayso.storage.atomic import replacing

#: answers within which a change should be seen
WITHIN = 1000
#: lines that cannot be used, without a single one that can, after which a log is no log of answers
HOPELESS = 100
#: kinds of lines that cannot be used, which are counted apart
MOST_KINDS = 20


class WatchState(msgspec.Struct):
    """What a watch knows after the answers that it read: small, and of the same size for ever."""

    about: str
    place: LogPlace = msgspec.field(default_factory=LogPlace)
    answers: int = 0
    labels: int = 0
    labels_of_declined: int = 0
    labels_of_unknown: int = 0
    labeled: int = 0
    lines: int = 0
    bad: dict[str, int] = msgspec.field(default_factory=dict)
    first_bad: str = ""
    bad_values: dict[str, int] = msgspec.field(default_factory=dict)
    first_bad_value: str = ""
    unread: dict[str, int] = msgspec.field(default_factory=dict)
    counts: Counts = msgspec.field(default_factory=dict)
    changes: dict[str, AlarmState] = msgspec.field(default_factory=dict)
    alarms: list[dict[str, Any]] = msgspec.field(default_factory=list)
    history: RateHistory = msgspec.field(default_factory=RateHistory)
    recent: bytes = b""


def kept_state(place: Path | None) -> WatchState | None:
    """Return what a watch kept in a file; ``None`` where there is none yet. Raises InputError."""
    if place is None or not place.exists():
        return None
    try:
        return msgspec.json.decode(place.read_bytes(), type=WatchState)
    except OSError as error:
        raise unreadable(place, error) from None
    except (msgspec.DecodeError, RecursionError):
        raise _no_state(place) from None


def _no_state(place: Path | None) -> InputError:
    return InputError(f"--state {place} was not written by sayso watch: give another name")


class WatchedChange(NamedTuple):
    """A change of a rate that is watched for.

    The alarm needs evidence that the rate lies beyond ``bound``. ``smallest`` is the rate nearest
    to the baseline's that is seen within :data:`WITHIN` answers, ``None`` if none is.
    """

    rate: str
    change: Change
    bound: Bound
    smallest: float | None
    alarm: ChangeAlarm

    @property
    def name(self) -> str:
        """The name of the change in a state."""
        return f"{self.rate}/{self.change}"


class AnswerPlace(NamedTuple):
    """Where an answer stands in its log."""

    answer: int
    line: int
    id: object
    time: object


class RaisedAlarm(NamedTuple):
    """An alarm that was raised, and at which answer."""

    place: AnswerPlace
    watched: WatchedChange


class Watching:
    """The rates of a log, the alarms on them, and what was read so far."""

    def __init__(
        self,
        log: Path,
        baseline: Baseline,
        reader: AnswerReader,
        options: WatchOptions,
        state: WatchState | None,
    ) -> None:
        self.log, self.baseline, self.reader, self.options = log, baseline, reader, options
        guard = self.guard = reader.guard
        limit = [guard.file.score, guard.file.limit] if guard is not None else []
        self.rates = _watched_rates(baseline, options, guard is not None)
        # the bounds of more changes are wider, and of these no more are possible
        possible = [(rate, change) for rate in self.rates for change in RATES[rate].changes]
        possible = [one for one in possible if baseline.bound(*one, options.alpha) is not None]
        each = options.alpha / max(len(possible), 1)
        bounds = [(*one, bound) for one in possible if (bound := baseline.bound(*one, each / 2))]
        about = json.dumps([SIGNATURE, options.alpha, baseline.counts, bounds, limit])
        if state is not None and state.about != about:
            raise InputError(
                f"--state {options.state} belongs to a watch against other answers, with other "
                f"settings or by another reader than {SIGNATURE}: give another name, or remove it "
                "to begin anew"
            )
        self.state = state or WatchState(about)
        try:
            self.recent = RecentAnswers(self.state.recent)
        except ValueError:
            raise _no_state(options.state) from None
        self.changes = [self._watched(*one, each / 2) for one in bounds]
        self.new_alarms = 0  # of this call; the state has those of all

    def _watched(self, rate: str, change: Change, bound: Bound, alpha: float) -> WatchedChange:
        """Return the alarm on a change: half of its share is the baseline's, half the alarm's."""
        of_rise = bound.rate if change == "rise" else 1 - bound.rate
        kept = self.state.changes.get(f"{rate}/{change}")
        try:
            alarm = ChangeAlarm(of_rise, alpha, state=kept)
        except ValueError:
            raise _no_state(self.options.state) from None
        smallest = smallest_rise(of_rise, alpha, WITHIN)
        if change == "fall":
            smallest = None if smallest is None else 1 - smallest
        return WatchedChange(rate, change, bound, smallest, alarm)

    def read(self, lines: Sequence[bytes | None], first: int) -> list[RaisedAlarm]:
        """Take lines of the log, of which the first has number ``first``; return the new alarms.

        Raises InputError for a log of which no line can be used.
        """
        state = self.state
        outcomes: dict[str, list[int]] = {}
        places: dict[str, list[AnswerPlace]] = {}
        for number, text in enumerate(lines, first):
            if text is not None and not text.strip():
                continue
            state.lines += 1
            try:
                row = self.row(text, number)
                seen = self.reader.of_line(row)
            except InputError as error:
                self._bad(number, str(error))
                continue
            id, time = self.reader.id_and_time(row)
            counted = self._counted(seen, id)
            for field, why in seen.bad:
                self._bad_value(number, field, why)
            place = AnswerPlace(state.answers, number, id, time)
            for name, outcome in counted.items():
                if name not in outcomes:
                    outcomes[name], places[name] = [], []
                outcomes[name].append(outcome)
                places[name].append(place)
        for name, values in outcomes.items():
            total = state.counts.setdefault(name, [0, 0])
            total[0] += sum(values)
            total[1] += len(values)
            state.history.add(name, [place.answer for place in places[name]], values)
        return self._alarms(outcomes, places)

    def _counted(self, seen: Seen, id: object) -> dict[str, int]:
        """Count an answer or a later label; return the outcomes that count, by rate."""
        state, outcomes, labeled = self.state, seen.outcomes, seen.labeled
        if seen.answers:
            state.answers += 1
            self.recent.add(id, seen.states)
        else:
            state.labels += 1
            states = self.recent.states(id)
            state.labels_of_unknown += states is None
            state.labels_of_declined += states is False
            labeled = bool(states)
            if states and seen.late is not None:
                outcomes = {"error": int(seen.late == 0)}
        if seen.unread is not None:
            state.unread[seen.unread] = state.unread.get(seen.unread, 0) + 1
        if "error" in outcomes:
            state.labeled += labeled
            if not state.labeled:  # the log labels unanswerable questions only
                outcomes = {name: one for name, one in outcomes.items() if name != "error"}
        return outcomes

    def keep(self, place: Path, at: LogPlace) -> None:
        """Write the state, with the place in the log up to which it was read."""
        self.state.place, self.state.recent = at, self.recent.packed
        with replacing(place) as file:
            file.write(msgspec.json.encode(self.state))

    def row(self, text: bytes | None, number: int) -> dict[str, Any]:
        """Return the object on a line. Raises InputError."""
        if text is None:
            raise InputError(f"longer than {LONGEST_LINE >> 20} MB")
        try:
            row = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            # NaN, half of a character, a byte order mark: as everywhere
            decoded = decode_text(text, self.log, number, first=number == 1)
            row = parse_json(decoded, self.log, number, "")
        return row if type(row) is dict and text.isascii() else whole(row, f"line {number}")

    def _bad(self, number: int, why: str) -> None:
        state = self.state
        # what differs from line to line is left out, so that the kinds stay few
        kind = _kind_of(why)
        if kind not in state.bad and len(state.bad) >= MOST_KINDS:
            kind = "other problems"
        state.bad[kind] = state.bad.get(kind, 0) + 1
        prefix = f"{self.log} line {number}"
        if why.startswith(prefix):
            why = why.removeprefix(prefix).lstrip(",: ")
        if not state.first_bad:
            state.first_bad = f"line {number:,}: {printable(why, 200)}"
        if self.bad >= HOPELESS and not self.good:
            raise self.hopeless()

    def _bad_value(self, number: int, field: str, why: str) -> None:
        values = self.state.bad_values
        values[field] = values.get(field, 0) + 1
        if not self.state.first_bad_value:
            self.state.first_bad_value = f"line {number:,}: {printable(why, 200)}"

    @property
    def bad(self) -> int:
        """How many lines could not be used."""
        return sum(self.state.bad.values())

    @property
    def good(self) -> int:
        """How many lines could be used."""
        return self.state.answers + self.state.labels

    def hopeless(self) -> InputError:
        """Return the message about a log of which no line can be used."""
        return InputError(
            f"{self.log}: none of the first {self.bad:,} lines is an answer: "
            f"{self.state.first_bad}; expected one object of JSON on each line, with question and "
            "answer, or stance (name your fields with --columns answer=YOURS)"
        )

    def _alarms(
        self, outcomes: Mapping[str, list[int]], places: Mapping[str, list[AnswerPlace]]
    ) -> list[RaisedAlarm]:
        """Update the alarms; return those that were raised now, in their order."""
        raised = []
        for watched in self.changes:
            values = outcomes.get(watched.rate)
            if not values or watched.alarm.rings:
                continue
            taken = np.array(values, dtype=np.uint8)
            at = watched.alarm.update(taken if watched.change == "rise" else 1 - taken)
            self.state.changes[watched.name] = watched.alarm.state
            if at is not None:
                raised.append(RaisedAlarm(places[watched.rate][at], watched))
        return sorted(raised, key=_by_answer)


def _kind_of(why: str) -> str:
    """Return a reason without the place in the file and what is quoted of the line."""
    if "wrong JSON" in why:
        return "wrong JSON"
    for kind in ("not UTF-8", "expected an object", "nested too deeply", EMPTY_LINE, "longer than"):
        if kind in why:
            return kind
    return "columns that say different things" if "are both read as" in why else "other problems"


def _watched_rates(baseline: Baseline, options: WatchOptions, scored: bool) -> list[str]:
    """Return the rates that are watched. Raises InputError for one that the baseline lacks."""
    counts, named = baseline.counts, options.rates
    for name in named:
        if name not in counts:
            hint = "" if name != "above_limit" or scored else "; pass --guard"
            raise InputError(f"--rates {name}: {baseline.source} has no {RATES[name].of}{hint}")
    rates = [name for name in RATES if name in counts and (not named or name in named)]
    if not rates:
        raise InputError(f"{baseline.source}: no answer in it could be read")
    return rates


def _by_answer(raised: RaisedAlarm) -> tuple[int, int]:
    return raised.place.line, list(RATES).index(raised.watched.rate)

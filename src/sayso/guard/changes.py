"""The changes of a log that are watched for: their alarms, and what is kept of the log.

Each rate has an anytime-valid alarm for each change that matters (:mod:`sayso.metrics.alarms`);
all of them share one chance of a false alarm. The state is small and of the same size for ever.
"""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from sayso.datasets.tables import decode_text, parse_json, unreadable, whole
from sayso.guard.baseline import Baseline, Bound, Counts
from sayso.guard.choices import WatchOptions
from sayso.guard.growing import LONGEST_LINE, LogPlace, Whole
from sayso.guard.history import RateHistory
from sayso.guard.late_labels import RecentAnswers, RememberedAnswer
from sayso.guard.log_answers import RATES, AnswerReader, Change, Seen
from sayso.harmless import printable
from sayso.judges.rules.judge import SIGNATURE
from sayso.metrics.alarms import AlarmState, ChangeAlarm, smallest_rise
from sayso.records import InputError
from sayso.storage.atomic import replacing

#: answers within which a change should be seen
WITHIN = 1000
#: lines that cannot be used, without a single one that can, after which a log is no log of answers
HOPELESS = 100
ARRAY = "a JSON array, expected an object on each line: jq -c '.[]' LOG writes it so"


class ReadSoFar(msgspec.Struct):
    """What was read of a log, and what could not be: a summary has all of it."""

    answers: Whole = 0
    repeated: Whole = 0
    without_id: Whole = 0
    unplaced: Whole = 0
    labels: Whole = 0
    labels_of_declined: Whole = 0
    labels_of_unknown: Whole = 0
    repeated_labels: Whole = 0
    lines: Whole = 0
    bad_lines: Whole = 0
    first_bad: str = ""
    bad_values: dict[str, Whole] = msgspec.field(default_factory=dict)
    first_bad_value: str = ""
    unread: dict[str, Whole] = msgspec.field(default_factory=dict)


class WatchState(ReadSoFar, kw_only=True):
    """What a watch knows after the answers that it read: small, and of the same size for ever."""

    about: str
    place: LogPlace = msgspec.field(default_factory=LogPlace)
    labeled: Whole = 0
    counts: Counts = msgspec.field(default_factory=dict)
    changes: dict[str, AlarmState] = msgspec.field(default_factory=dict)
    alarms: list[dict[str, Any]] = msgspec.field(default_factory=list)
    history: RateHistory = msgspec.field(default_factory=RateHistory)
    remembered: bytes = b""


def kept_state(place: Path | None) -> WatchState | None:
    """Return what a watch kept in a file; ``None`` where there is none yet. Raises InputError."""
    if place is None or not place.exists():
        return None
    if not place.is_file():
        raise _no_state(place)
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


class Outcome(NamedTuple):
    """What an answer counts as for a rate, where it stands, and the number of its part."""

    value: int
    place: AnswerPlace
    part: int


class RaisedAlarm(NamedTuple):
    """An alarm that was raised, and at which answer."""

    place: AnswerPlace
    watched: WatchedChange


class LinesRead(NamedTuple):
    """What some lines count as: outcomes by rate, and labels that correct earlier ones."""

    outcomes: dict[str, list[Outcome]]
    corrections: list[tuple[AnswerPlace, int, int]]


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
        told = [(*one, bound if options.by else bound[:2]) for *one, bound in bounds]
        about = json.dumps([SIGNATURE, options.alpha, baseline.counts, told, limit])
        if state is not None and state.about != about:
            raise InputError(
                f"--state {options.state} belongs to a watch against other answers, with other "
                f"settings or by another reader than {SIGNATURE}: give another name, or remove it "
                "to begin anew"
            )
        self.state = state or WatchState(about=about)
        try:
            self.recent = RecentAnswers(self.state.remembered)
        except ValueError:
            raise _no_state(options.state) from None
        self.parts = {part: number for number, part in enumerate(baseline.parts)}
        self.changes = [self._watched(*one, each / 2) for one in bounds]
        # of this call; the state has those of all
        self.new_alarms = self.new_answers = self.new_without_part = self.new_read = 0
        self.good_before, self.bad_before = self.good, self.state.bad_lines

    def _watched(self, rate: str, change: Change, bound: Bound, alpha: float) -> WatchedChange:
        """Return the alarm on a change: half of its share is the baseline's, half the alarm's."""
        bounds = {part: one if change == "rise" else 1 - one for part, one in bound.parts.items()}
        kept = self.state.changes.get(f"{rate}/{change}")
        # the last number is that of answers whose part the baseline lacks
        numbered = [bounds.get(part, math.nan) for part in self.parts] + [math.nan]
        try:
            alarm = ChangeAlarm(numbered, alpha, state=kept)
        except ValueError:
            raise _no_state(self.options.state) from None
        mean = bound.rate if change == "rise" else 1 - bound.rate
        smallest = smallest_rise(mean, alpha, WITHIN)
        if change == "fall":
            smallest = None if smallest is None else 1 - smallest
        watched = WatchedChange(rate, change, bound, smallest, alarm)
        return self._with_labels(watched)[0] if rate == "error" and not alarm.rings else watched

    def _with_labels(
        self, watched: WatchedChange, settled: Sequence[tuple[int, int]] = ()
    ) -> tuple[WatchedChange, int]:
        """Return the alarm on errors over the labels as they are now, and where it was raised.

        The state has what is settled; labels that may still be corrected come after it. The number
        is that of the label among these, from the last one, which is 1.
        """
        states, labels, last = self.state.changes, self.recent.labels(), 0
        for taken, after in ((settled, len(labels)), (labels, 0)):
            kept = copy.copy(states.get(watched.name))
            alarm = ChangeAlarm(watched.alarm.bounds, watched.alarm.alpha, state=kept)
            at = alarm.update(*np.array(taken, dtype=np.uint8).reshape(-1, 2).T)
            if at is not None:
                last = len(taken) - at + after
            if taken is settled or at is not None:
                states[watched.name] = alarm.state
        return watched._replace(alarm=alarm), last

    def read(self, lines: Sequence[bytes | None], first: int) -> list[RaisedAlarm]:
        """Take lines of the log, of which the first has number ``first``; return the new alarms.

        Raises InputError for a log of which no line can be used.
        """
        state, read = self.state, LinesRead({}, [])
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
            for field, why in seen.bad:
                self._bad_value(number, field, why)
            self._take(seen._replace(part=self.reader.part(row)), row, number, read)
        for name, taken in read.outcomes.items():
            values = [one.value for one in taken]
            total = state.counts.setdefault(name, [0, 0])
            total[0] += sum(values)
            total[1] += len(values)
            state.history.add(name, [one.place.answer for one in taken], values)
        for _, answer, difference in read.corrections:
            state.counts["error"][0] += difference
            state.history.correct("error", answer, difference)
        return self._alarms(read)

    def _take(self, seen: Seen, row: Mapping[str, object], number: int, read: LinesRead) -> None:
        """Count a line: an answer, one whose id was there before, or a later label."""
        state, (id, time) = self.state, self.reader.id_and_time(row)
        held = self.recent.get(id)
        if seen.answers and held is not None:
            state.repeated += 1
        elif not seen.answers:
            state.labels += 1
            state.labels_of_unknown += held is None
            state.labels_of_declined += held is not None and not held.states
            state.repeated_labels += held is not None and held.error is not None
        else:
            state.answers += 1
            self.new_answers += 1
            self.new_without_part += seen.part is None
            self.new_read += bool(seen.outcomes)
            state.without_id += id is None
            if seen.unread is not None:
                state.unread[seen.unread] = state.unread.get(seen.unread, 0) + 1
            part = self.parts.get(seen.part or "", len(self.parts))
            state.unplaced += part == len(self.parts)
            held = RememberedAnswer(state.answers, part, seen.states)
            if id is not None:
                self.recent.add(id, held)
            place = AnswerPlace(state.answers, number, id, time)
            for name, value in seen.outcomes.items():
                if name != "error":
                    read.outcomes.setdefault(name, []).append(Outcome(value, place, part))
        error = seen.outcomes.get("error")
        if error is not None and held is not None and held.states:
            state.labeled += seen.labeled
            if state.labeled:  # else the log labels unanswerable questions only
                self._label(held, error, AnswerPlace(state.answers, number, id, time), read)

    def _label(
        self, held: RememberedAnswer, error: int, place: AnswerPlace, read: LinesRead
    ) -> None:
        """Count a label. The last one of an answer counts, in the place of its first."""
        if held.error is None:
            held.at, held.error = place.answer, error
            self.recent.add(("answer", place.answer) if place.id is None else place.id, held)
            read.outcomes.setdefault("error", []).append(Outcome(error, place, held.part))
        elif held.error != error:
            read.corrections.append((place, held.at, error - held.error))
            held.error = error

    def keep(self, place: Path, at: LogPlace) -> None:
        """Write the state, with the place in the log up to which it was read."""
        self.state.place, self.state.remembered = at, self.recent.packed
        with replacing(place) as file:
            file.write(msgspec.json.encode(self.state))

    def row(self, text: bytes | None, number: int) -> dict[str, Any]:
        """Return the object on a line. Raises InputError."""
        if text is None:
            raise InputError(f"longer than {LONGEST_LINE >> 20} MB")
        try:
            row = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            if text.lstrip()[:1] == b"[":  # the first line of one
                raise InputError(ARRAY) from None
            # NaN, half of a character, a byte order mark: as everywhere
            decoded = decode_text(text, self.log, number, first=number == 1)
            row = parse_json(decoded, self.log, number, "")
            if isinstance(row, dict):  # a score must not vanish
                name = self.reader.names(row).get("score", self.reader.score_field)
                word = re.search(rf'"{re.escape(name)}"\s*:\s*(NaN|-?Infinity)\b', decoded)
                row |= {name: word[1]} if word else {}
        if isinstance(row, list):
            raise InputError(ARRAY)
        return row if type(row) is dict and text.isascii() else whole(row, f"line {number}")

    def _bad(self, number: int, why: str) -> None:
        state = self.state
        state.bad_lines += 1
        prefix = f"{self.log} line {number}"
        if why.startswith(prefix):
            why = why.removeprefix(prefix).lstrip(",: ")
        if not state.first_bad:
            state.first_bad = f"line {number:,}: {printable(why, 200)}"
        if state.bad_lines >= HOPELESS and not self.good:
            raise self.hopeless()

    def _bad_value(self, number: int, field: str, why: str) -> None:
        values = self.state.bad_values
        values[field] = values.get(field, 0) + 1
        if not self.state.first_bad_value:
            self.state.first_bad_value = f"line {number:,}: {printable(why, 200)}"

    @property
    def good(self) -> int:
        """How many lines could be used."""
        return self.state.answers + self.state.repeated + self.state.labels

    def hopeless(self) -> InputError:
        """Return the message about a log of which no line can be used."""
        return InputError(
            f"{self.log}: none of the {'new' if self.good else 'first'} "
            f"{self.state.bad_lines - self.bad_before:,} lines is an answer: "
            f"{self.state.first_bad}; expected one object of JSON on each line, with question and "
            "answer, or stance (name your fields with --columns answer=YOURS)"
        )

    def _alarms(self, read: LinesRead) -> list[RaisedAlarm]:
        """Update the alarms; return those that were raised now, in their order."""
        raised, settled = [], self.recent.settled
        self.recent.settled = []
        for number, watched in enumerate(self.changes):
            taken = read.outcomes.get(watched.rate, [])
            if watched.alarm.rings:
                continue
            if watched.rate == "error" and (taken or read.corrections or settled):
                watched, last = self._with_labels(watched, settled)
                self.changes[number] = watched
                if watched.alarm.rings:
                    # a label of these lines, or the correction of an earlier one
                    first = last > len(taken)
                    place = read.corrections[-1][0] if first else taken[-last].place
                    raised.append(RaisedAlarm(place, watched))
            elif taken:
                values = np.array([one.value for one in taken], dtype=np.uint8)
                parts = [one.part for one in taken]
                at = watched.alarm.update(values if watched.change == "rise" else 1 - values, parts)
                self.state.changes[watched.name] = watched.alarm.state
                if at is not None:
                    raised.append(RaisedAlarm(taken[at].place, watched))
        return sorted(raised, key=lambda r: (r.place.line, list(RATES).index(r.watched.rate)))


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

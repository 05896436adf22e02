"""``sayso watch``: do the answers in a log still come as often as in an earlier run?

The loop of the command: it reads the log, tells of alarms, keeps the state in a file, so that the
next call goes on, and withdraws the promise of a guard at an alarm.
"""

from __future__ import annotations

import dataclasses
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from sayso.guard.baseline import read_baseline
from sayso.guard.changes import ARRAY, Watching, kept_state
from sayso.guard.choices import WatchOptions
from sayso.guard.events import (
    alarm_event,
    closing_sentences,
    opening_sentences,
    summary_event,
    watch_page,
)
from sayso.guard.growing import GrowingLog
from sayso.guard.guard import Guard, guard_in
from sayso.guard.log_answers import RATES, AnswerReader, log_columns
from sayso.later import Later
from sayso.records import InputError

if TYPE_CHECKING:
    from sayso.guard import rates_page
else:  # charts take time to load
    rates_page = Later("sayso.guard.rates_page")

#: seconds between two writings of a state, and two of a page
SAVE, REDRAW = 5.0, 900.0
#: seconds between two lines about how far it is
PROGRESS = 30.0
#: the file of a guard in the folder of its run
GUARD_FILE = "guard.json"
NO_OPTIONS = WatchOptions()
#: new answers of which one at least can be read, or nothing is watched
MANY = 20
#: what became of a promise whose file cannot be written: the next call tries again
NOT_WITHDRAWN = "could not be withdrawn"


def watch(
    log: str | Path,
    against: str | Path,
    options: WatchOptions = NO_OPTIONS,
    *,
    emit: Callable[[dict[str, Any]], None] = lambda event: None,
    tell: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Watch a log of answers for changes against earlier ones, and return the last summary.

    ``log`` is a file of JSON lines, or "-" for standard input; ``against`` a run folder with short
    answers, or a file of answers that ``sayso score`` reads. Each alarm and summary goes to
    ``emit``, sentences for people to ``tell``. A file is read to its end, a stream until it ends or
    the process is asked to stop (Ctrl-C, SIGTERM). Raises InputError for files that cannot be
    read, for a baseline with nothing to watch, and for a log of which no line can be used.
    """
    place, earlier = Path(log), Path(against)
    rates = tuple(name.strip() for text in options.rates for name in text.split(","))
    options = dataclasses.replace(options, rates=tuple(filter(None, rates)))
    _check_options(options)
    guard = _guard(earlier, options)
    reader = AnswerReader(log_columns(options.columns), guard, options.by)
    baseline = read_baseline(earlier, options.method, reader)
    state = kept_state(options.state)
    watching = Watching(place, baseline, reader, options, state)
    for text in [*baseline.notices, *opening_sentences(watching)]:
        tell(text)
    with ExitStack() as stack:
        source = stack.enter_context(closing(GrowingLog(place, state.place if state else None)))
        stop = stack.enter_context(_Stop())
        _Loop(watching, source, stop, emit, tell).run()
    return summary_event(watching)


def _check_options(options: WatchOptions) -> None:
    if not 0 < options.alpha < 1:
        raise InputError(f"--alpha {options.alpha:g}: expected a number between 0 and 1")
    if options.every < 0:
        raise InputError(f"--every {options.every}: expected 0 or more")
    for name in options.rates:
        if name not in RATES:
            raise InputError(f"--rates {name!r}: expected one or more of {', '.join(RATES)}")
    if options.page is not None and options.page.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--page {options.page}: expected a name ending in .html")


# ---- the guard


def _guard(against: Path, options: WatchOptions) -> Guard | None:
    """Return the guard whose score is watched: the one named, or that of the run's folder."""
    place = options.guard
    if place is None and (against / GUARD_FILE).is_file():
        place = against / GUARD_FILE
    return None if place is None else Guard(guard_in(place), place.absolute())


# ---- the loop


class _LeftWaiting(BaseException):
    """Somebody asked to stop while a stream was waited for."""


class _Stop:
    """Tells whether somebody asked the process to stop, and lets a block of lines be finished.

    A stream that is waited for is left at once.
    """

    def __init__(self) -> None:
        self.waiting, self.asked = False, False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Stop:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, *error: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        again, self.asked = self.asked, True
        if self.waiting:
            raise _LeftWaiting
        if again:
            raise KeyboardInterrupt


class _Loop:
    """Reads the log, tells what happens, and keeps state and page."""

    def __init__(
        self,
        watching: Watching,
        source: GrowingLog,
        stop: _Stop,
        emit: Callable[[dict[str, Any]], None],
        tell: Callable[[str], None],
    ) -> None:
        self.watching, self.source, self.stop = watching, source, stop
        self.emit, self.tell = emit, tell
        self.options = watching.options
        self.kept = self.drawn = self.said = time.monotonic()
        self.changed = False
        self.summaries = self._due()

    def run(self) -> None:
        """Read until the end, or until somebody says stop."""
        self._draw()  # a page that cannot be written is told before anything is read
        for event in self.watching.state.alarms:  # of an earlier call that could not write
            if event.get("guard") == NOT_WITHDRAWN:
                event["guard"] = self._withdrawn(event)
        while not self.stop.asked and not self.source.ended:
            if lines := self._next():
                self._take(lines)
            if self.options.stop_at_alarm and self.watching.new_alarms:
                break
        self._end()

    def _next(self) -> list[bytes | None]:
        """Return the next lines; a stream is waited for, and left when somebody says stop."""
        try:
            self.stop.waiting = self.source.streams
            lines = [] if self.stop.asked else self.source.lines()
            self.stop.waiting = False
        except _LeftWaiting:
            lines = []
        finally:
            self.stop.waiting = False
        return lines

    def _take(self, lines: Sequence[bytes | None]) -> None:
        """Read lines; tell of new alarms, and of how it stands."""
        raised = self.watching.read(lines, self.source.first)
        events = [alarm_event(self.watching, one) for one in raised]
        self.watching.state.alarms += events
        self.watching.new_alarms += len(events)
        self.changed = True
        for event in events:
            event["guard"] = fate = self._withdrawn(event)
            self.emit(event)
            told = f"; the guard was {fate}" if fate not in (None, NOT_WITHDRAWN) else ""
            self.tell(f"alarm at answer {event['answer']:,}: {event['why']}{told}")
        self._keep(urgent=bool(events))
        if time.monotonic() - self.said >= PROGRESS:
            self.said = time.monotonic()
            self.tell(f"{self.watching.state.answers:,} answers read")
        if self._due() > self.summaries:
            self.summaries = self._due()
            self.emit(summary_event(self.watching))

    def _due(self) -> int:
        """Return how many summaries there should be by now."""
        every = self.options.every
        return self.watching.state.answers // every if every else 0

    def _withdrawn(self, event: Mapping[str, Any]) -> str | None:
        """Take back the promise of the guard; return what became of it."""
        guard = self.watching.guard
        if guard is None:
            return None
        if self.options.keep_guard:
            return "kept"
        try:
            why = f"sayso watch, answer {event['answer']:,}: {event['why']}"
            return "withdrawn" if guard.withdraw(why) else "withdrawn before"
        except InputError as error:
            self.tell(f"the guard could not be withdrawn: {error}")
            return NOT_WITHDRAWN

    def _keep(self, *, urgent: bool = False) -> None:
        """Write state and page, if something changed and it is time."""
        now = time.monotonic()
        if not self.changed or not (urgent or now - self.kept >= SAVE):
            return
        self.kept, self.changed = now, False
        if self.options.state is not None:
            self.watching.keep(self.options.state, self.source.place())
        if urgent or now - self.drawn >= REDRAW:
            self.drawn = now
            self._draw()

    def _draw(self) -> None:
        if self.options.page is not None:
            rates_page.write_watch_page(self.options.page, watch_page(self.watching))

    def _end(self) -> None:
        """Take a last line without its end, if it is whole, and tell how it stands."""
        rest = self.source.rest
        if self.source.ended and rest.strip():
            try:
                self.watching.row(rest, 0)
                whole = True
            except InputError as error:
                whole = str(error) == ARRAY
            if whole:
                self._take(self.source.take_rest())
            else:
                self.tell("the last line is incomplete: it is left for the next time")
        bad = self.watching.state.bad_lines > self.watching.bad_before
        if bad and self.watching.good == self.watching.good_before:
            raise self.watching.hopeless()
        if self.source.ended and not self.watching.state.lines:
            raise InputError(f"{self.watching.log} is empty: expected an answer on each line")
        if self.watching.new_answers >= MANY and not self.watching.new_read:
            state = self.watching.state
            why = [f"{n:,} {problem}" for problem, n in state.unread.items()]
            why += [state.first_bad_value] if state.first_bad_value else []
            raise InputError(
                f"{self.watching.log}: none of {self.watching.new_answers:,} new answers can be "
                f"read, so no change can be seen: {'; '.join(why)}"
            )
        alone = 0 < self.watching.new_without_part == self.watching.new_answers
        if alone or 0 < self.watching.state.unplaced == self.watching.state.answers:
            raise InputError(
                f"--by {self.options.by}: no answer read from {self.watching.log} has this field "
                f"with a value that {self.watching.baseline.source} has: nothing can be compared; "
                "check the field's name, or name yours with --columns"
            )
        self.changed = True
        self._keep(urgent=True)
        self.emit(summary_event(self.watching))
        for text in closing_sentences(self.watching):
            self.tell(text)

"""Progress in the terminal: how far, how fast, how long still, tokens and cost; and Ctrl-C."""

from __future__ import annotations

import dataclasses
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from types import FrameType
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
)
from rich.progress import Progress as RichProgress
from rich.text import Text

from sayso.harmless import printable
from sayso.progress import Progress
from sayso.records import Generation
from sayso.runs.costs import add, dollars

#: seconds between two lines where there is no terminal, and before the first of what asks nobody
EVERY, SOON = 30.0, 5.0

#: share of a stage that is to be answered before it is said how long the rest will take
SOME = 0.05
#: as many answers could have come before it is said that none does
FEW = 2


class _HowFar(ProgressColumn):
    """How much is done of how much, how fast, how long still, and what it cost."""

    def render(self, task: Task) -> Text:
        """Return what is known of them."""
        stage: _Stage = task.fields["stage"]
        counted = "" if task.total is None else f"{task.completed:.0f}/{task.total:.0f}"
        told = Text("  ".join(filter(None, (stage.pace(time.monotonic()), stage.spent))), "dim")
        return Text(f"{counted} ").append_text(told)


def pace(
    answered: int,
    left: int,
    seconds: float,
    since: tuple[float, int] = (0.0, 0),
    idle: float = 0.0,
    longest: float = 0.0,
) -> str:
    """Return rate and time left of a stage; "" before there is an answer.

    ``since`` are the seconds after which the rate is measured, and what was answered by then; none
    of it came from the cache. How long the rest takes is said once :data:`SOME` of it is answered:
    a few answers say little. Nor is it said where nothing was answered for ``idle`` seconds that
    are more than twice the longest wait before, in which all that is left could have come.
    """
    if not answered or seconds <= 0:
        return ""
    start, before = since if answered > since[1] and seconds > since[0] else (0.0, 0)
    rate = (answered - before) / (seconds - start)
    told = f"{rate:,.1f}/s" if rate >= 1 else f"{60 * rate:,.1f}/min"
    early = answered < SOME * (answered + left)
    if early or not left:
        return told
    if idle > max(min(left, FEW) / rate, 2 * longest, SOON):
        return f"{told}, no answer for {span(idle)}"
    return f"{told}, about {span(left / rate)} left"


def span(seconds: float) -> str:
    """Return a time as people say it: "45 s", "12 min", "2 h 05 min"."""
    whole = round(seconds)
    if whole < 90:
        return f"{whole} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"


class Bars(Progress):
    """Progress on stderr: bars, or without a terminal a line for each stage and every 30 seconds.

    ``idle`` lines say between stages too what is done; for a command without others.

    As a context it also minds Ctrl-C. Where asking costs money, the first one sends nothing more
    and lets the answers come that are on their way (``stopping``, ``hold``), and the second stops
    at once; elsewhere the first does.
    """

    def __init__(
        self, console: Console | None = None, *, every: float = EVERY, idle: bool = True
    ) -> None:
        console = console or Console(stderr=True)
        self._every, self._idle = every, idle
        self._over = threading.Event()
        self._stage: _Stage | None = None
        self._since = time.monotonic()
        self._doing = "starting"
        self._waiting: TaskID | None = None
        self.stopping = False
        self.hold: Callable[[], int | None] | None = None
        self._remote = False
        self._before: Any = None
        self._bars = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            _HowFar(),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> Bars:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._interrupt)
        self._bars.start()
        threading.Thread(target=self._tell_regularly, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._bars.stop()
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def _interrupt(self, signum: int, frame: FrameType | None) -> None:
        if not self._remote or self.stopping:
            raise KeyboardInterrupt
        self.stopping = True
        number = self.hold() if self.hold is not None else None
        self.note(f"stopping: {_pending_text(number)}; Ctrl-C again stops at once")

    def start(self, stage: str, total: int, done: int, *, remote: bool = False) -> None:
        """Show a new bar; without a terminal, one line. One question alone is no stage."""
        self._remote = remote
        self._task, self._stage = None, None
        self._show_doing("")
        if total <= 1:
            return
        self._stage = _Stage(stage, total, done, time.monotonic())
        if self._bars.disable:
            kept = f", {'all' if done == total else f'{done:,}'} from the cache" if done else ""
            self.note(f"{stage}: {total:,} requests{kept}")
        self._task = self._bars.add_task(stage, total=total, completed=done, stage=self._stage)

    def advance(self, stage: str, reply: Generation, paid: float | None) -> None:
        """Move it."""
        if self._task is None or self._stage is None:
            return
        self._stage.advance(time.monotonic())
        self._stage.tokens += reply.usage.prompt_tokens + reply.usage.completion_tokens
        self._stage.dollars = add(self._stage.dollars, paid)
        self._bars.update(self._task, advance=1)

    def count(self, stage: str, done: int, total: int) -> None:
        """Show how much is done of what asks nobody."""
        if self._stage is None or self._stage.name != stage:
            self._stage = _Stage(stage, total, 0, time.monotonic())
            self._task = self._bars.add_task(stage, total=total, stage=self._stage)
        self._stage.total = max(total, done)
        self._stage.advance(time.monotonic(), done - self._stage.answered)
        if self._task is not None:
            self._bars.update(self._task, completed=done, total=self._stage.total)

    def doing(self, what: str) -> None:
        """Show what is done now that asks nobody; without a terminal once it takes long."""
        if what.partition(":")[0] != self._doing.partition(":")[0]:  # a count behind it may change
            self._since = time.monotonic()
        self._doing = what
        self._show_doing(what)

    def _show_doing(self, what: str) -> None:
        """Put a line without a bar below the bars, or take it away."""
        if self._waiting is not None:
            self._bars.remove_task(self._waiting)
            self._waiting = None
        if what and self._idle:
            waiting = _Stage(what, 0, 0, time.monotonic())
            self._waiting = self._bars.add_task(what, total=None, stage=waiting)

    def end(self, stage: str) -> None:
        """Leave the bar as it is."""
        self._remote = False
        self.hold = None
        self._since = time.monotonic()
        self._doing = "working on the answers"
        if self._stage is not None:
            self._stage.ended = self._since
        self._stage = None

    def _tell_regularly(self) -> None:
        """Print how far it is, until it is over; in a terminal the bars say it."""
        told, last = "", time.monotonic()
        tick = min(SOON, self._every)
        while not self._over.wait(tick):
            stage, now, doing = self._stage, time.monotonic(), self._doing
            if not self._bars.disable:
                continue
            if stage is not None:
                if now - max(last, stage.began) >= self._every:
                    self.note(stage.text(now))
                    last = now
            elif self._idle and (
                now - self._since >= tick if doing != told else now - last >= self._every
            ):
                self.note(f"{doing}, {span(now - self._since)} so far")
                told, last = doing, now

    def note(self, text: str) -> None:
        """Print a sentence above the bars."""
        plain = printable(text)
        if self._bars.disable:
            print(f"sayso: {plain}", file=sys.stderr)
        else:
            self._bars.console.print(f"sayso: {plain}", markup=False, highlight=False)


@dataclasses.dataclass
class _Stage:
    """A stage that is being asked: how much of it came from the cache, how much since it began.

    ``last`` is when the newest answer came, ``longest`` the longest wait for one, in seconds.
    ``marks`` are seconds and what was answered by then. The rate is that of the later half of the
    time so far: a slow beginning is left behind, and answers that come in bursts, a batch at a
    time, even out.
    """

    name: str
    total: int
    cached: int
    began: float
    answered: int = 0
    last: float = 0.0
    longest: float = 0.0
    ended: float | None = None
    tokens: int = 0
    dollars: float | None = 0.0
    marks: deque[tuple[float, int]] = dataclasses.field(default_factory=lambda: deque([(0.0, 0)]))

    def advance(self, now: float, count: int = 1) -> None:
        """Count more answers."""
        self.answered += count
        seconds = now - self.began
        self.longest = max(self.longest, seconds - self.last)
        self.last = seconds
        while len(self.marks) > 1 and self.marks[1][0] <= seconds / 2:
            self.marks.popleft()
        last = self.marks[-1][0]
        if len(self.marks) > 1 and seconds - last < 1:  # one mark a second
            self.marks.pop()
            seconds = last
        self.marks.append((seconds, self.answered))

    def pace(self, now: float) -> str:
        """Return rate and time left; "" before there is an answer."""
        seconds = (self.ended or now) - self.began
        half = seconds / 2
        before = max((answered for at, answered in self.marks if at <= half), default=0)
        left = self.total - self.cached - self.answered
        idle = seconds - self.last
        return pace(self.answered, left, seconds, (half, before), idle, self.longest)

    @property
    def spent(self) -> str:
        """The tokens so far, and what they cost; "" where none is counted."""
        paid = f" {dollars(self.dollars)}" if self.dollars else ""  # neither 0 nor unknown
        return f"{self.tokens:,} tokens{paid}" if self.tokens else ""

    def text(self, now: float) -> str:
        """Return how far it is."""
        done, seconds = self.cached + self.answered, now - self.began
        how = self.pace(now) or f"no answer yet after {span(seconds)}"
        return f"{self.name}: {done:,} of {self.total:,}, {how}"


def _pending_text(number: int | None) -> str:
    """Return what is waited for; ``None``: an unknown number of answers."""
    if number == 0:
        return "no request is in flight"
    count = "the requests" if number is None else f"{number:,} request{'s' * (number != 1)}"
    return f"waiting for {count} already sent ({'it is' if number == 1 else 'they are'} paid for)"

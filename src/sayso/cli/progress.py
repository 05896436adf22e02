"""Progress in the terminal: how far, how fast, how long still, tokens and cost; and Ctrl-C."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from sayso.records import Generation
from sayso.runs.costs import add, dollars


class _Rate(ProgressColumn):
    """Answers a second."""

    def render(self, task: Task) -> Text:
        """Return the rate, once there is one."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:.1f}/s" if speed else "", "dim")


class Bars:
    """Progress on stderr; one line for each stage, and notes, when it is not a terminal.

    As a context it also minds Ctrl-C. Where asking costs money, the first one sends nothing more
    and lets the answers come that are on their way (``stopping``, ``hold``), and the second stops
    at once; elsewhere the first does.
    """

    def __init__(self, console: Console | None = None) -> None:
        console = console or Console(stderr=True)
        self.stopping = False
        self.hold: Callable[[], int | None] | None = None
        self._remote = False
        self._before: Any = None
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[spent]}", style="dim"),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self._task: TaskID | None = None
        self._tokens = 0
        self._dollars: float | None = 0.0

    def __enter__(self) -> Bars:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._interrupt)
        self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
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
        self._tokens, self._dollars = 0, 0.0
        self._task = None
        if total <= 1:
            return
        if self._bars.disable:
            self.note(_start_text(stage, total, done))
        self._task = self._bars.add_task(stage, total=total, completed=done, spent="")

    def advance(self, stage: str, reply: Generation, paid: float | None) -> None:
        """Move it."""
        if self._task is None:
            return
        self._tokens += reply.usage.prompt_tokens + reply.usage.completion_tokens
        self._dollars = add(self._dollars, paid)
        spent = f"{self._tokens:,} tokens"
        if self._dollars:  # neither 0 nor unknown
            spent += f" {dollars(self._dollars)}"
        self._bars.update(self._task, advance=1, spent=spent)

    def end(self, stage: str) -> None:
        """Leave the bar as it is."""
        self._remote = False
        self.hold = None

    def note(self, text: str) -> None:
        """Print a sentence above the bars."""
        plain = "".join(c for c in text if c.isprintable())
        if self._bars.disable:
            print(f"sayso: {plain}", file=sys.stderr)
        else:
            self._bars.console.print(f"sayso: {plain}", markup=False, highlight=False)


def _start_text(stage: str, total: int, done: int) -> str:
    """Return how much a stage asks, and how much of it is in the cache."""
    kept = f", {'all' if done == total else f'{done:,}'} from the cache" if done else ""
    return f"{stage}: {total:,} requests{kept}"


def _pending_text(number: int | None) -> str:
    """Return what is waited for; ``None``: an unknown number of answers."""
    if number is None:
        return "waiting for the answers that were asked for already (they are paid for)"
    if number == 0:
        return "nothing is on its way"
    if number == 1:
        return "1 answer is on its way (it is paid for)"
    return f"{number:,} answers are on their way (they are paid for)"

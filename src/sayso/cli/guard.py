"""``sayso watch``: does it still hold this week?"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from sayso.cli.help import with_flags
from sayso.later import Later

if TYPE_CHECKING:
    from sayso.cli import printing
    from sayso.guard import watch as watching
else:  # loaded when a log is watched
    printing, watching = Later("sayso.cli.printing"), Later("sayso.guard.watch")


@dataclasses.dataclass(frozen=True)
@with_flags()
class WatchFlags:
    """The flags of ``sayso watch``."""

    once: Annotated[
        bool,
        Parameter(
            help="read the file to its end and stop (default: follow it as it grows; standard "
            "input always ends by itself)",
            negative="",
        ),
    ] = False
    stop_at_alarm: Annotated[
        bool,
        Parameter(help="stop after an alarm (default: go on until Ctrl-C)", negative=""),
    ] = False
    rates: Annotated[
        str,
        Parameter(
            help="what to watch: declining, hedging, above_limit, error, declining_answerable, "
            "declining_unanswerable, or several (a,b); default: all that the baseline has. Fewer "
            "rates raise their alarms sooner"
        ),
    ] = ""
    alpha: Annotated[
        float, Parameter(help="chance of any false alarm over the whole log, however long")
    ] = 0.05
    guard: Annotated[
        Path | None,
        Parameter(
            help="the guard whose limit scores are compared with, and whose promise an alarm "
            "withdraws; default: guard.json in the run folder"
        ),
    ] = None
    keep_guard: Annotated[
        bool, Parameter(help="leave the guard as it is after an alarm", negative="")
    ] = False
    state: Annotated[
        Path | None,
        Parameter(
            help="file that keeps what the watch knows and how far it has read; the same command "
            "resumes"
        ),
    ] = None
    page: Annotated[
        Path | None, Parameter(help="also write a page (.html): rates over time, with alarms")
    ] = None
    every: Annotated[
        int, Parameter(help="print a summary about every N answers; 0: only at the end")
    ] = 10_000
    columns: Annotated[
        str,
        Parameter(
            help="your names of fields: answer=response,score=perplexity,time=ts; they hold for "
            "the log and for a file of earlier answers"
        ),
    ] = ""
    method: Annotated[
        str,
        Parameter(
            help="of a run that asked in several ways, the one to compare with: plain or "
            "instructed; default: the first"
        ),
    ] = ""


NO_FLAGS = WatchFlags()


def watch(
    log: Annotated[
        Path,
        Parameter(
            help="one JSON object on each line, with question and answer (or stance), and any of "
            "score, token_logprobs, gold, correct, answerable, id, time; - is standard input",
            allow_leading_hyphen=True,
        ),
    ],
    /,
    *,
    against: Annotated[
        Path,
        Parameter(
            help="earlier answers: a run with short answers, or a file that sayso score reads"
        ),
    ],
    flags: Annotated[WatchFlags, Parameter(name="*")] = NO_FLAGS,
) -> int:
    """Watch a growing log of answers, and raise an alarm when their rates change.

    Alarms and summaries are JSON lines on standard output. Exit code 1: there was an alarm; 0:
    none; 2: the input cannot be used. No model is asked.
    """
    options = watching.WatchOptions(
        rates=tuple(name.strip() for name in flags.rates.split(",") if name.strip()),
        alpha=flags.alpha,
        guard=flags.guard,
        keep_guard=flags.keep_guard,
        columns=watching.log_columns(flags.columns),
        method=flags.method,
        once=flags.once,
        stop_at_alarm=flags.stop_at_alarm,
        every=flags.every,
        state=flags.state,
        page=flags.page,
    )
    summary = watching.watch(log, against, options, emit=_emit, tell=printing.tell)
    return 1 if summary["alarms"] else 0


def _emit(event: dict[str, Any]) -> None:
    """Print an event as one line of JSON, in which nothing moves a cursor."""
    print(json.dumps(event), flush=True)

"""``sayso guard`` and ``sayso watch``: a limit with a promise, and whether it still holds."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import cyclopts
from cyclopts import Parameter

from sayso.cli.commands import OPTIONS, help_examples, with_options
from sayso.guard.choices import GuardChoices, Selection, WatchOptions
from sayso.later import Later
from sayso.options import flag, option
from sayso.records import InputError

if TYPE_CHECKING:
    from sayso.cli import printing
    from sayso.guard import events
    from sayso.guard import fit as fitting
    from sayso.guard import watch as watching
    from sayso.report import numbers
else:  # loaded when a guard is fitted or a log is watched
    printing = Later("sayso.cli.printing")
    events = Later("sayso.guard.events")
    fitting = Later("sayso.guard.fit")
    watching = Later("sayso.guard.watch")
    numbers = Later("sayso.report.numbers")

guard_app = cyclopts.App(
    name="guard",
    group_parameters=OPTIONS,
    help_epilogue=help_examples(
        "sayso guard fit runs/selective --max-error .05 --confidence .95",
        "sayso guard fit answers.jsonl --score perplexity",
    ),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class GuardFlags(Selection, GuardChoices):
    """The flags of ``sayso guard fit``."""

    json: bool = flag(False, "print everything as JSON instead of tables")


@guard_app.command(
    name="fit",
    help_epilogue=help_examples(
        "sayso guard fit runs/selective --max-error .05 --confidence .95",
        "sayso guard fit answers.jsonl --where model=palm --score verbalized",
    ),
)
@with_options
def fit(
    source: Annotated[
        Path,
        Parameter(
            help="labeled answers: a run folder of sayso run selective, or a file that sayso score "
            "reads, with golds or people's verdicts"
        ),
    ],
    /,
    *,
    flags: GuardFlags,
) -> int:
    """Find the loosest limit whose error rate can be promised, and write guard.json.

    Exit code 0: a limit, written to guard.json; 1: the score is no better than answering nothing;
    3: no limit can be promised with so many labels; 2: the input cannot be used.
    """
    result = fitting.fit_guard(source, flags, flags)
    with contextlib.suppress(BrokenPipeError, SystemExit):  # … | head: rich ends the process
        for notice in result.notices:
            printing.print_note(notice)
        if flags.json:
            print(numbers.json_text(fitting.guard_json(result)))
        else:
            fitting.render_guard(result, printing.terminal())
    return int(result.code)


@dataclasses.dataclass(frozen=True, kw_only=True)
class WatchFlags(WatchOptions):
    """The flags of ``sayso watch``."""

    against: str = flag(
        "", "earlier answers: a run with short answers, or a file that sayso score reads"
    )
    once: bool = option(False, "read a file to its end and stop, as sayso watch does anyway")
    json: bool = flag(False, "print JSON lines on a terminal, too")


@with_options
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
    flags: WatchFlags,
) -> int:
    """Read a log of answers, and raise an alarm where their rates change.

    A file is read to its end; with --state, the next call reads on. To follow a log as it grows:
    tail -F LOG | sayso watch - --against RUN. Standard output has sentences on a terminal, and
    elsewhere a JSON line for each alarm and summary. Exit code 1: this call raised an alarm; 0:
    none; 2: the input cannot be used. No model is asked.
    """
    if not flags.against:
        raise InputError(
            "watch: expected --against, as in: sayso watch log.jsonl --against runs/first"
        )
    show = _print_json if flags.json or not sys.stdout.isatty() else _print_sentence
    alarms = 0

    def say(show: Callable[[Any], None], what: Any) -> None:
        with contextlib.suppress(*(BrokenPipeError,) * log.is_file()):
            show(what)

    def emit(event: dict[str, Any]) -> None:
        nonlocal alarms
        alarms += event["event"] == "alarm"
        say(show, event)

    try:
        tell = partial(say, printing.tell)
        summary = watching.watch(log, Path(flags.against), flags, emit=emit, tell=tell)
    except BrokenPipeError:  # a file is read to its end; a stream ends where nobody listens
        return 1 if alarms else 2
    if log.is_file() and not flags.once and flags.state is None:
        tell(
            f"{log} was read to its end. Pass --state FILE to read on in the next call, or follow "
            f"it: tail -F {log} | sayso watch - --against {flags.against}"
        )
    return 1 if summary["new_alarms"] else 0


def _print_json(event: dict[str, Any]) -> None:
    """Print an event as one line of JSON, in which nothing moves a cursor."""
    print(json.dumps(event), flush=True)


def _print_sentence(event: dict[str, Any]) -> None:
    """Print a summary for people, who are told of alarms on standard error."""
    if event["event"] == "summary":
        print(printing.safe_one_line(events.summary_sentence(event)), flush=True)

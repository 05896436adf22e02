"""``sayso run``, ``measure``, ``study``, ``report``, ``compare``, ``assert``, and what they call.

What they do loads much and stands in :mod:`sayso.cli.running` and :mod:`sayso.cli.studying`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import cyclopts
from cyclopts import Parameter

from sayso.cli.commands import OPTIONS, help_examples, own_first, with_options
from sayso.cli.flags import (
    AssertFlags,
    CompareFlags,
    FigureFlags,
    GateFlags,
    RunFlags,
    ShownFlags,
    StudyFlags,
    StudyKeys,
)
from sayso.later import Later
from sayso.options import OptionField, fields_of
from sayso.protocols import PROTOCOLS
from sayso.protocols.protocol import Protocol
from sayso.records import InputError

if TYPE_CHECKING:
    from sayso.assertions import check as checking
    from sayso.assertions import written
    from sayso.cli import running, studying
else:
    checking = Later("sayso.assertions.check")
    written = Later("sayso.assertions.written")
    running = Later("sayso.cli.running")
    studying = Later("sayso.cli.studying")

run_app = cyclopts.App(
    name="run",
    group_parameters=OPTIONS,
    help_epilogue=help_examples(
        "sayso run --limit 5 --out runs/first   # every protocol, on one set of answers",
        "sayso run uncle --limit 5              # one; settings: run uncle --help",
    ),
)


def _add_command(plan: Protocol) -> None:
    """Add ``sayso run NAME``: the flags of every run, and the protocol's settings."""

    def run_one(*, common: RunFlags, settings: Any) -> int:
        return running.run_one(common, plan, settings)

    run_one.__doc__ = plan.question
    command = with_options(run_one, {"common": RunFlags, "settings": plan.Settings})
    below = help_examples(
        f"sayso run {plan.name} --limit 5",
        f"sayso run {plan.name} --model hf:Qwen/Qwen3.5-4B --data file:mine.csv",
        f"sayso run {plan.name} --model openai:gpt-5.4-mini --max-cost 5 --dry-run",
    )
    run_app.command(command, name=plan.name, help_epilogue=below)


for _plan in PROTOCOLS.values():
    _add_command(_plan)


@run_app.default
@with_options
def run_all(*, common: RunFlags) -> int:
    """Run every protocol with its own defaults; each gets a folder in --out.

    They share one pool of answers: the cache has for the next what one has asked.
    """
    return running.run_every(common)


RunFolder = Annotated[Path, Parameter(help="a run folder")]


def _measure(run: RunFolder, /, *, flags: ShownFlags, settings: Mapping[str, Any]) -> None:
    """Recompute a run's numbers, optionally with other counting rules. Asks no model or judge.

    You cannot change settings that affect requests, except to use fewer samples (--set probe.k=3).
    """
    running.measure(run, flags, settings)


def _measurable(plan: Protocol) -> Iterator[OptionField]:
    """Yield a protocol's settings, without the help of those that :func:`measure` refuses."""
    for field in fields_of(plan.Settings):
        can = field.about["stage"] == "measure" or field.about["shrinks"]
        about = {**field.about, "main": False, "help": field.about["help"] * can}
        yield field._replace(about=about)


#: which of the protocols' settings a run has is known when it is opened
measure = with_options(_measure, later=[f for p in PROTOCOLS.values() for f in _measurable(p)])


def _study(
    *sources: Annotated[
        Path,
        Parameter(help="a YAML file with models, data and protocols; or run folders"),
    ],
    flags: StudyFlags,
    settings: Mapping[str, Any],
) -> int:
    """Several models on several data sets by several protocols, on one page with joint intervals.

    Runs that are missing are made, those that are finished are used. Folders of finished runs are
    a study too. Stopped at any moment, the same command goes on.
    """
    return studying.study(sources, flags, settings)


study = with_options(_study, later=own_first(StudyKeys))


@with_options
def report(run: RunFolder, /, *, flags: FigureFlags) -> None:
    """Write report.html of a finished run or training again, and files of its charts."""
    running.write_report(run, flags)


@with_options
def compare(
    a: RunFolder,
    b: Annotated[Path, Parameter(help="another run folder")],
    /,
    *more: Annotated[Path, Parameter(help="further run folders")],
    flags: CompareFlags,
    gate: GateFlags,
) -> int:
    """Print what changes from run A to run B on the questions both asked, with paired intervals.

    Of more than two runs: every number by run, ranks, and which pairs differ (see sayso study).
    """
    if flags.assertions:
        if more:
            raise InputError(
                "--assert is for two runs: leave out further runs, and put --assert before each "
                "assertion"
            )
        pairing = {"allow": flags.allow, "resamples": flags.resamples, "seed": flags.seed}
        return _decide(b, flags.assertions, gate, json=flags.json, base=a, **pairing)
    if gate != GateFlags():
        raise InputError(
            "--junit, --markdown, --strict, --allow-cache and --raw are for --assert; leave them "
            "out"
        )
    running.compare(a, b, more, flags)
    return 0


@with_options
def assert_(
    run: Annotated[
        Path,
        Parameter(help="a run folder, or the folder of sayso run with a run for each protocol"),
    ],
    /,
    *assertions: Annotated[
        str,
        Parameter(
            help='NAME[PART] >= NUMBER (or <=, >, <), such as "J[short] >= .2" "missing <= 2%"'
        ),
    ],
    flags: AssertFlags,
) -> int:
    """Decide assertions about a run on their intervals: holds, does not, or cannot say yet.

    Exit code 0: all hold; 1: one does not; 3: cannot say yet, with the number of questions that
    would settle it; 2: nothing is decided (a mistake, or sayso failed). Several assertions share
    one chance of error, 5 %.
    """
    return _decide(run, [*assertions, *flags.assertions], flags, json=flags.json)


def _decide(
    run: Path, assertions: Sequence[str], flags: GateFlags, *, json: bool, **more: Any
) -> int:
    """Decide assertions, write the files, print the verdicts, and return the exit code.

    Where that fails, nothing is decided: the files say why. Raises InputError.
    """
    strict = flags.strict

    def files(done: checking.CheckedAssertions) -> Iterator[tuple[Path, str, str]]:
        if flags.junit is not None:
            yield flags.junit, written.junit_of(done, strict=strict), "--junit"
        if flags.markdown is not None:
            yield flags.markdown, written.markdown_of(done), "--markdown"

    try:
        done = checking.check_assertions(
            run, assertions, allow_cache=flags.allow_cache, raw=flags.raw, **more
        )
        for file in files(done):
            written.write_verdicts(*file)
        shown = [written.json_of(done, strict=strict)] if json else written.terminal_lines(done)
        with contextlib.suppress(BrokenPipeError):  # `sayso assert … | head` is no mistake
            print(*shown, sep="\n", flush=True)
        return done.code(strict=strict)
    except BaseException as error:
        failed = written.undecided(assertions, error, run)
        for file in files(failed):
            with contextlib.suppress(Exception):
                written.write_verdicts(*file)
        if isinstance(error, KeyboardInterrupt):
            raise
        raise InputError(failed.decided[0].reason) from error

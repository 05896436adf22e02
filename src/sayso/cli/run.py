"""``sayso run``, ``measure``, ``report``, ``compare``, ``assert``, ``factuality``: flags and help.

What they do loads much and stands in :mod:`sayso.cli.running`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import cyclopts
from cyclopts import Parameter

from sayso.cli.flags import (
    NO_GATE_FLAGS,
    Comparing,
    GateFlags,
    RunFlags,
    measurable_settings,
    protocol_settings,
    settings_in,
)
from sayso.cli.help import OPTIONS, Figures, FigureWidth, help_examples
from sayso.later import Later
from sayso.protocols import PROTOCOLS
from sayso.protocols.protocol import Protocol
from sayso.records import InputError

if TYPE_CHECKING:
    from sayso.assertions import check as checking
    from sayso.assertions import written
    from sayso.assertions.check import CheckedAssertions
    from sayso.cli import running
else:
    checking, written = Later("sayso.assertions.check"), Later("sayso.assertions.written")
    running = Later("sayso.cli.running")

NO_FLAGS = RunFlags()
run_app = cyclopts.App(
    name="run",
    help="Ask a model, judge its answers, and report whether it admits what it does not know.",
    group_parameters=OPTIONS,
    help_epilogue=help_examples(
        "sayso run --limit 5 --out runs/first   # every protocol, on one set of answers",
        "sayso run uncle --limit 5              # one; settings: run uncle --help",
    ),
)


Shared = Annotated[RunFlags, Parameter(name="*")]
#: the settings of every protocol; only those that can change without asking again are shown
Measurable: Any = Annotated[measurable_settings(), Parameter(name="*")]


def _add_command(plan: Protocol) -> None:
    """Add ``sayso run NAME``: the flags of every run, and the protocol's settings."""

    default = protocol_settings(plan)()

    def command(*, common: Any = NO_FLAGS, settings: Any = default) -> int:
        return running.run_one(common, plan, settings_in(settings, plan))

    settings: Any = Annotated[protocol_settings(plan), Parameter(name="*")]
    command.__annotations__ = {"common": Shared, "settings": settings, "return": int}
    command.__doc__ = plan.question
    below = help_examples(
        f"sayso run {plan.name} --limit 5",
        f"sayso run {plan.name} --model hf:Qwen/Qwen3-4B --data mine.jsonl",
        f"sayso run {plan.name} --model openai:gpt-4o-mini --max-cost 5 --dry-run",
    )
    run_app.command(command, name=plan.name, help_epilogue=below)


for _plan in PROTOCOLS.values():
    _add_command(_plan)


@run_app.default
def run_all(*, common: Shared = NO_FLAGS) -> int:
    """Run every protocol with its own defaults; each gets a folder in --out.

    They share one pool of answers: the cache has for the next what one has asked.
    """
    return running.run_every(common)


def measure(
    run: Path,
    /,
    *,
    json: Annotated[bool, Parameter(negative="")] = False,
    verbose: Annotated[bool, Parameter(negative="")] = False,
    settings: Measurable = measurable_settings()(),  # noqa: B008 - frozen
) -> None:
    """Recompute a run's numbers, optionally with other counting rules. Asks no model or judge.

    You cannot change settings that affect requests, except to use fewer samples (--probe.k 3).

    Parameters
    ----------
    run
        A run folder.
    json
        Print every number as JSON instead of the table.
    verbose
        Also print every other table of the page, all cautions and the signatures.
    """
    running.measure(run, settings, json=json, verbose=verbose)


def report(
    run: Path,
    /,
    *,
    figures: Figures = "",
    figure_width: FigureWidth = "",
) -> None:
    """Write report.html of a finished run or training again, and files of its charts.

    Parameters
    ----------
    run
        A run folder.
    """
    running.write_report(run, figures, figure_width)


def compare(
    a: Path,
    b: Path,
    /,
    *more: Path,
    flags: Annotated[Comparing, Parameter(name="*")] = Comparing(),
    gate: Annotated[GateFlags, Parameter(name="*")] = NO_GATE_FLAGS,
) -> int:
    """Print what changes from run A to run B on the questions both asked, with paired intervals.

    Of more than two runs: every number by run, ranks, and which pairs differ (see sayso study).

    Parameters
    ----------
    a
        A run folder.
    b
        Another run folder.
    more
        Further run folders.
    """
    if flags.assertions:
        if more:
            raise InputError("--assert is for two runs: leave out further runs")
        done = checking.check_assertions(
            b, flags.assertions, base=a, allow_cache=gate.allow_cache, raw=gate.raw,
            allow=flags.allow,
            resamples=flags.resamples, seed=flags.seed,
        )  # fmt: skip
        return _show_verdicts(done, gate, json=flags.json)
    if gate.given:
        raise InputError(
            "--junit, --markdown, --strict, --allow-cache and --raw are for --assert; leave them "
            "out"
        )
    running.compare(a, b, more, flags)
    return 0


def assert_(
    run: Path,
    assertions: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative="")] = (),
    /,
    *,
    file_assertions: Annotated[
        tuple[str, ...],
        Parameter(
            name="--assertions",
            consume_multiple=True,
            negative="",
            show_default=False,
            help="more assertions; in a --config file, a list",
        ),
    ] = (),
    json: Annotated[bool, Parameter(help="print the verdicts as JSON", negative="")] = False,
    flags: Annotated[GateFlags, Parameter(name="*")] = NO_GATE_FLAGS,
) -> int:
    """Decide assertions about a run on their intervals: holds, does not, or cannot say yet.

    Exit code 0: all hold; 1: one does not; 3: cannot say yet, with the number of questions that
    would settle it; 2: a mistake. Several assertions share one chance of error, 5 %.

    Parameters
    ----------
    run
        A run folder, or the folder of sayso run with a run for each protocol.
    assertions
        NAME[PART] >= NUMBER (or <=, >, <), such as "J[short] >= .2" "missing <= 2%".
    """
    done = checking.check_assertions(
        run, [*assertions, *file_assertions], allow_cache=flags.allow_cache, raw=flags.raw
    )
    return _show_verdicts(done, flags, json=json)


def _show_verdicts(done: CheckedAssertions, flags: GateFlags, *, json: bool) -> int:
    """Write the files, print the verdicts, and return the exit code."""
    if flags.junit is not None:
        xml = written.junit_of(done, strict=flags.strict)
        written.write_verdicts(flags.junit, xml, "--junit")
    if flags.markdown is not None:
        written.write_verdicts(flags.markdown, written.markdown_of(done), "--markdown")
    if json:
        print(written.json_of(done, strict=flags.strict))
    else:
        for text in written.terminal_lines(done):
            print(text)
    return done.code(strict=flags.strict)


def factuality(
    *words: Annotated[
        str,
        Parameter(
            allow_leading_hyphen=True,
            help="files of long texts, then any flags of sayso run self_known",
        ),
    ],
) -> int:
    """Measure long texts you already have: the same as sayso run self_known --answers FILES.

    It makes a run for each model. All flags of sayso run self_known work here, after the files.
    """
    running.tell_new_name()
    flags = next((n for n, word in enumerate(words) if word.startswith("-")), len(words))
    command = ["self_known", "--answers", *words[:flags], *words[flags:]]
    code = run_app(
        command if flags else ["self_known", *words],
        exit_on_error=False, print_error=False, result_action="return_value",
    )  # fmt: skip
    return code if isinstance(code, int) else 0

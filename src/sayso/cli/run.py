"""``sayso run``, ``measure``, ``report``, ``compare`` and ``factuality``: their flags and help.

What they do loads much and stands in :mod:`sayso.cli.running`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import cyclopts
from cyclopts import Parameter

from sayso.cli.flags import (
    Comparing,
    Factuality,
    RunFlags,
    measurable_settings,
    protocol_settings,
    settings_in,
)
from sayso.cli.help import OPTIONS, Figures, FigureWidth, help_examples
from sayso.later import Later
from sayso.protocols import PROTOCOLS
from sayso.protocols.protocol import Protocol

if TYPE_CHECKING:
    from sayso.cli import running
else:
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
        Also print what was not computed, and why.
    """
    running.measure(run, settings, json=json, verbose=verbose)


def report(
    run: Path,
    /,
    *,
    beside: Annotated[tuple[Path, ...], Parameter(negative="", show_default=False)] = (),
    figures: Figures = "",
    figure_width: FigureWidth = "",
) -> None:
    """Write report.html of a finished run or training again, and files of its charts.

    Parameters
    ----------
    run
        A run folder.
    beside
        Another faithfulness run, added as a column to the tables of methods and models;
        repeatable.
    """
    running.write_report(run, beside, figures, figure_width)


def compare(
    a: Path,
    b: Path,
    /,
    *more: Path,
    flags: Annotated[Comparing, Parameter(name="*")] = Comparing(),
) -> None:
    """Print what changes from run A to run B on the questions both asked, with paired intervals.

    Of more than two runs: every number by run, ranks, and which pairs differ (see sayso study).

    Parameters
    ----------
    a
        A run folder, or an output folder of sayso train.
    b
        Another folder of the same kind.
    more
        Further run folders.
    """
    running.compare(a, b, more, flags)


def factuality(
    *files: Annotated[
        Path,
        Parameter(
            help="files of long texts, one system per file (.jsonl, .json or .parquet). Columns: "
            "the text (text, output, response or answer), its subject (topic, entity or title; "
            "else prompt) and, optionally, claims with human labels. FActScore's labeled files "
            "work unchanged"
        ),
    ],
    flags: Annotated[Factuality, Parameter(name="*")] = Factuality(),
) -> int:
    """Measure how accurate long texts are, and how this changes from start to end.

    Human labels in the file are used as they are. Other texts are split into claims, which are
    checked against --knowledge. With both, the checker is compared with people. With --model, a
    model is asked about every labeled claim, to see whether it recognizes the errors.
    """
    return running.factuality(files, flags)

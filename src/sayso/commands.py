"""What each command of ``sayso`` does: call the library, then print. No arithmetic."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import cyclopts
import msgspec
from cyclopts import Parameter
from rich.console import Console

from sayso import report as reports
from sayso.bars import Bars
from sayso.flags import Common, chosen, counting_any
from sayso.pipeline.comparing import compare as compare_runs
from sayso.pipeline.estimating import estimate, told
from sayso.pipeline.job import Job
from sayso.pipeline.measuring import measure as measure_run
from sayso.pipeline.measuring import settings_kind
from sayso.pipeline.running import Result, execute
from sayso.protocols import (
    PROTOCOLS,
    Unsuited,
    faithfulness,
    protocol,
    selective,
    self_known,
    uncle,
)
from sayso.records import Estimate
from sayso.report.clean import plain_json
from sayso.report.teaching import unfinished
from sayso.taught import FILE as TEACHING
from sayso.taught import read_teaching

NO_FLAGS = Common()
run_app = cyclopts.App(
    name="run",
    help="Ask a model, judge its answers, report whether it voices what it does not know.",
    help_epilogue="Every option can stand in a YAML file: --config FILE.yaml (probe: {k: 3}).",
)


Uncle = Annotated[uncle.Settings, Parameter(name="*")]
Selective = Annotated[selective.Settings, Parameter(name="*")]
Faithfulness = Annotated[faithfulness.Settings, Parameter(name="*")]
SelfKnown = Annotated[self_known.Settings, Parameter(name="*")]
Shared = Annotated[Common, Parameter(name="*")]
#: the settings with only those shown that can change without asking again
Counting: Any = Annotated[counting_any(), Parameter(name="*")]


@run_app.command(name="uncle")
def run_uncle(
    *,
    common: Shared = NO_FLAGS,
    settings: Uncle = uncle.Settings(),  # noqa: B008 - frozen, and the source of the flags
) -> None:
    """Are knowledge gaps voiced, in short and in long answers? (UNCLE, arXiv 2505.16922)"""
    _run(common.job("uncle", settings), common)


@run_app.command(name="selective")
def run_selective(
    *,
    common: Shared = NO_FLAGS,
    settings: Selective = selective.Settings(),  # noqa: B008 - frozen
) -> None:
    """Which score tells right answers from wrong ones, or is it length? (arXiv 2504.13677)"""
    _run(common.job("selective", settings), common)


@run_app.command(name="faithfulness")
def run_faithfulness(
    *,
    common: Shared = NO_FLAGS,
    settings: Faithfulness = faithfulness.Settings(),  # noqa: B008 - frozen
) -> None:
    """Do its words show as much doubt as it has when asked again? (arXiv 2405.16908)"""
    _run(common.job("faithfulness", settings), common)


@run_app.command(name="self_known")
def run_self_known(
    *,
    common: Shared = NO_FLAGS,
    settings: SelfKnown = self_known.Settings(),  # noqa: B008 - frozen
) -> None:
    """How factual is it along a long text, and does it know its own errors? (arXiv 2411.15993)"""
    _run(common.job("self_known", settings), common)


@run_app.default
def run_all(*, common: Shared = NO_FLAGS) -> None:
    """Run every protocol that exists so far, each with its own defaults; --out gets a folder each.

    They share one pool of answers: what one has asked is in the cache for the next.
    """
    print(f"sayso: running {', '.join(PROTOCOLS)}: the protocols so far", file=sys.stderr)
    found: dict[str, object] = {}
    for name in PROTOCOLS:
        place = common.out / name if common.out is not None else None
        own = dataclasses.replace(common, out=place)
        try:
            found[name] = _run(own.job(name, protocol(name).Settings()), own, quiet=common.json)
        except Unsuited as reason:
            print(f"sayso: left out: {reason}", file=sys.stderr)
    if common.json:
        print(_pretty(found))


def _run(job: Job, common: Common, *, quiet: bool = False) -> object:
    """Price a job or run it, and print the result unless ``quiet``; return it as JSON's types."""
    if common.dry_run:
        plan = estimate(job)
        if not quiet:
            print(_pretty(plan) if common.json else told(plan))
        return msgspec.to_builtins(plan)
    with Bars() as bars:
        result = execute(job, bars)
    for notice in result.manifest.notices:
        print("note:", "".join(c for c in notice if c.isprintable()), file=sys.stderr)
    page = reports.write(result.path)
    if not quiet:
        show(result, json=common.json, page=page)
    return [msgspec.structs.asdict(e) for e in result.estimates]


def measure(
    run: Path,
    /,
    *,
    json: bool = False,
    settings: Counting = counting_any()(),  # noqa: B008 - frozen
) -> None:
    """Recompute a run's numbers, with other counting rules if given. Asks no model, no judge.

    Settings that decide what is asked cannot change, except fewer probe draws (--probe.k 3).

    Parameters
    ----------
    run
        A run folder.
    json
        Print every number as JSON instead of the table.
    """
    result = measure_run(run, chosen(settings, settings_kind(run)))
    show(result, json=json, page=None)
    if not result.saved and not json:
        print("counted with other settings: printed only, the run's own numbers stay as they are")


def report(run: Path, /, *, beside: tuple[Path, ...] = ()) -> None:
    """Write report.html of a finished run, or of a teaching, again.

    Parameters
    ----------
    run
        A run folder.
    beside
        Another run of faithfulness, a column of its tables of methods by models; can be given
        again.
    """
    if (run / TEACHING).is_file():
        print(reports.write_teaching(run))
        told = unfinished(read_teaching(run))
        if told:
            print(f"sayso: {told}", file=sys.stderr)
        return
    print(reports.write(run, beside))


def compare(
    a: Path,
    b: Path,
    /,
    *,
    json: bool = False,
    allow: tuple[str, ...] = (),
    resamples: int = 2000,
    seed: int = 0,
    stage: Literal["sft", "dpo", "rl"] | None = None,
    base: Path | None = None,
) -> None:
    """Print what changes from run A to run B on the questions both asked, with paired intervals.

    Parameters
    ----------
    a
        A run folder, or a folder of sayso train.
    b
        Another one of its kind.
    json
        Print the differences as JSON.
    allow
        Settings that may differ besides the model, e.g. --allow judge.
    resamples
        Bootstrap resamples of entities.
    seed
        Seed of the resampling.
    stage
        Of two teachings: the stage to compare; without it the last of each.
    base
        Of two teachings: where the run that they were taught from is now.
    """
    result = compare_runs(
        a, b, allow=allow, resamples=resamples, seed=seed, stage=stage or "", base=base
    )
    if json:
        rows = [msgspec.structs.asdict(e) for e in result.estimates]
        for row, (p, corrected) in zip(rows, result.tests, strict=False):  # none outside teachings
            row |= {"p": p, "p_holm": corrected}
        print(_pretty(rows))
    else:
        console = Console()
        reports.render_compare(result.estimates, console, str(a), str(b), result.notes, result.told)


def show(result: Result, *, json: bool, page: Path | None) -> None:
    """Print a finished run as a table, or every number of it as JSON."""
    if json:
        _json(result.estimates)
    else:
        reports.render(result.estimates, Console(), result.manifest, page, entities=result.entities)


def _json(estimates: Sequence[Estimate]) -> None:
    rows = [msgspec.structs.asdict(e) for e in estimates]
    print(_pretty(rows))


def _pretty(value: object) -> str:
    return plain_json(msgspec.json.format(msgspec.json.encode(value)).decode())


__all__ = ["compare", "measure", "report", "run_app", "show"]

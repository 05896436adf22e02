"""What each command of ``sayso`` does: call the library, then print. No arithmetic."""

from __future__ import annotations

import dataclasses
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import cyclopts
import msgspec
from cyclopts import Parameter
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from sayso import report as reports
from sayso.pipeline.comparing import compare as compare_runs
from sayso.pipeline.measuring import measure as measure_run
from sayso.pipeline.running import Result
from sayso.pipeline.running import run as run_protocol
from sayso.protocols import PROTOCOLS, uncle
from sayso.records import Estimate

run_app = cyclopts.App(
    name="run",
    help="Ask a model, judge its answers, report whether it voices what it does not know.",
    help_epilogue="Every option can stand in a YAML file: --config FILE.yaml (probe: {k: 3}).",
)


@dataclasses.dataclass(frozen=True)
class Common:
    """The flags of every ``sayso run``."""

    model: Annotated[
        str, Parameter(help="builtin, or hf:FOLDER or hf:HUB_ID of a causal language model")
    ] = "builtin"
    data: Annotated[
        str,
        Parameter(help="builtin, uncle (the published set, from the hub), or a file in its format"),
    ] = "builtin"
    judge: Annotated[str, Parameter(help="who reads the answers: rules (offline)")] = "rules"
    out: Annotated[Path | None, Parameter(help="the run folder; without it a name under runs/")] = (
        None
    )
    limit: Annotated[
        int | None,
        Parameter(help="entities to ask about, 0 for all; 200 of the built-in world unless told"),
    ] = None
    seed: Annotated[int, Parameter(help="of the choice of entities and of the draws")] = 0
    split: Annotated[str, Parameter(help="part of the built-in world: test, dev, train or all")] = (
        "test"
    )
    domain: Annotated[
        tuple[str, ...], Parameter(help="only this domain; can be given again", negative="")
    ] = ()
    cache: Annotated[
        Path | None,
        Parameter(help="folder of stored replies; default SAYSO_CACHE, or your cache folder"),
    ] = None
    json: Annotated[
        bool, Parameter(help="print every number as JSON instead of the table", negative="")
    ] = False


Uncle = Annotated[uncle.Settings, Parameter(name="*")]
Shared = Annotated[Common, Parameter(name="*")]


class Bars:
    """Progress on stderr; nothing when it is not a terminal."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> Bars:
        self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bars.stop()

    def start(self, stage: str, total: int, done: int) -> None:
        """Show a new bar."""
        self._task = self._bars.add_task(f"asking: {stage}", total=total, completed=done)

    def advance(self, stage: str) -> None:
        """Move it."""
        if self._task is not None:
            self._bars.advance(self._task)


@run_app.command(name="uncle")
def run_uncle(
    *,
    common: Shared = Common(),
    settings: Uncle = uncle.Settings(),  # noqa: B008 - frozen, and the source of the flags
) -> None:
    """Are knowledge gaps voiced, in short and in long answers? (UNCLE, arXiv 2505.16922)"""
    with Bars() as bars:
        result = run_protocol(
            "uncle",
            model=common.model,
            data=common.data,
            judge=common.judge,
            out=common.out,
            limit=common.limit,
            seed=common.seed,
            split=common.split,
            domains=common.domain,
            cache=common.cache,
            options=settings,
            command=shlex.join(["sayso", *sys.argv[1:]]),
            progress=bars,
        )
    for notice in result.manifest.notices:
        print("note:", "".join(c for c in notice if c.isprintable()), file=sys.stderr)
    page = reports.write(result.path)
    _show(result, json=common.json, page=page)


@run_app.default
def run_all(*, common: Shared = Common()) -> None:
    """Run every protocol that exists so far, with its own defaults."""
    print(f"sayso: running {', '.join(PROTOCOLS)}: the protocols so far", file=sys.stderr)
    run_uncle(common=common)


def measure(run: Path, /, *, json: bool = False, settings: Uncle = uncle.Settings()) -> None:  # noqa: B008
    """Recompute a run's numbers, with other counting rules if given. Asks no model, no judge.

    Settings that decide what is asked cannot change, except fewer probe draws (--probe.k 3).

    Parameters
    ----------
    run
        A run folder.
    json
        Print every number as JSON instead of the table.
    """
    result = measure_run(run, settings)
    _show(result, json=json, page=None)
    if not result.saved and not json:
        print("counted with other settings: printed only, the run's own numbers stay as they are")


def report(run: Path, /) -> None:
    """Write report.html of a finished run again.

    Parameters
    ----------
    run
        A run folder.
    """
    print(reports.write(run))


def compare(
    a: Path,
    b: Path,
    /,
    *,
    json: bool = False,
    allow: tuple[str, ...] = (),
    resamples: int = 2000,
    seed: int = 0,
) -> None:
    """Print what changes from run A to run B on the questions both asked, with paired intervals.

    Parameters
    ----------
    a
        A run folder.
    b
        Another run folder.
    json
        Print the differences as JSON.
    allow
        Settings that may differ besides the model, e.g. --allow judge.
    resamples
        Bootstrap resamples of entities.
    seed
        Seed of the resampling.
    """
    result = compare_runs(a, b, allow=allow, resamples=resamples, seed=seed)
    if json:
        _json(result.estimates)
    else:
        reports.render_compare(result.estimates, Console(), str(a), str(b), result.notes)


def _show(result: Result, *, json: bool, page: Path | None) -> None:
    if json:
        _json(result.estimates)
    else:
        reports.render(result.estimates, Console(), result.manifest, page, entities=result.entities)


def _json(estimates: Sequence[Estimate]) -> None:
    rows = [msgspec.structs.asdict(e) for e in estimates]
    print(msgspec.json.format(msgspec.json.encode(rows)).decode())


__all__ = ["compare", "measure", "report", "run_app"]

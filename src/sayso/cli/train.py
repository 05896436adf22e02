"""``sayso train``: from a run to a model that says what it does not know, and the proof of it."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from sayso.harmless import printable
from sayso.later import Later
from sayso.records import InputError
from sayso.train.config import TrainConfig, check_exported

if TYPE_CHECKING:
    from sayso.cli import printing, progress
    from sayso.report import numbers, terminal
    from sayso.runs import draws, dry_run
    from sayso.train import report, training
else:  # loaded when something is trained
    printing, progress = Later("sayso.cli.printing"), Later("sayso.cli.progress")
    draws, dry_run = Later("sayso.runs.draws"), Later("sayso.runs.dry_run")
    numbers, terminal = Later("sayso.report.numbers"), Later("sayso.report.terminal")
    report, training = Later("sayso.train.report"), Later("sayso.train.training")


@dataclass(frozen=True)
class TrainFlags:
    """Flags that decide no training: where everything is, what else is written, what is printed."""

    out: Annotated[Path | None, Parameter(help="output folder; default: next to the run")] = None
    export: Annotated[
        Literal["trl", "llama-factory"] | None,
        Parameter(help="write training data for another trainer, without training"),
    ] = None
    sweep: Annotated[
        Literal["xi"] | None,
        Parameter(help="train once for each share of paragraphs, and compare the results"),
    ] = None
    values: Annotated[
        str, Parameter(help="values of --sweep, such as 0.1,0.5,0.9; default: 0.1 to 0.9")
    ] = ""
    data: Annotated[
        str | None, Parameter(help="new location of the run's data file, if it was moved")
    ] = None
    model: Annotated[str | None, Parameter(help="the run's model, if its name has changed")] = None
    judge: Annotated[
        str | None,
        Parameter(help="the run's judge, if its name has changed or it is at an address"),
    ] = None
    cache: Annotated[
        Path | None, Parameter(help="folder of stored replies; default: the run's")
    ] = None
    dry_run: Annotated[
        bool,
        Parameter(
            help="print how many samples the rows need, and what they cost; send nothing",
            negative="",
        ),
    ] = False
    json: Annotated[
        bool, Parameter(help="print all results as JSON instead of the table", negative="")
    ] = False

    def opened(self) -> dict[str, Any]:
        """Return how the run is opened and what is noted of the command."""
        return {
            "model": self.model,
            "data": self.data,
            "judge": self.judge,
            "cache": self.cache,
            "command": shlex.join(["sayso", *sys.argv[1:]]),
        }


def train(
    run: Annotated[Path, Parameter(help="a finished uncle run of the base model")],
    /,
    *,
    config: Annotated[TrainConfig, Parameter(name="*")] = TrainConfig(),  # noqa: B008 - frozen
    flags: Annotated[TrainFlags, Parameter(name="*")] = TrainFlags(),
) -> None:
    """Train the model of a run to say what it does not know, and measure whether it does.

    Rows come from entities that are not measured; what is known stays what the run's probes said.
    Stopped at any point, the same command goes on.
    """
    if flags.export:
        check_exported(config)
    if flags.sweep or flags.values:
        _sweep(run, config, flags)
        return
    if flags.dry_run:
        job, data, paragraphs = training.planned_draws(
            run, config, export=flags.export or "", **flags.opened()
        )
        plan = draws.price_draws(job, data, paragraphs=paragraphs)
        print(numbers.json_text(plan) if flags.json else dry_run.plan_text(plan))
        return
    with progress.Bars(idle=False) as bars:
        folder, done = training.fit(
            run, flags.out, config, export=flags.export or "", progress=bars, say=_say,
            **flags.opened(),
        )  # fmt: skip
    page = report.write_training_page(folder) if done.cells else None
    if flags.json:
        print(numbers.json_text(done))
        return
    console = printing.terminal()
    report.render_training(done, console, page)
    for text in done.notes:
        terminal.say(console, text, "dim")
    print(f"sayso: everything is in {folder}")


def _sweep(run: Path, config: TrainConfig, flags: TrainFlags) -> None:
    if flags.sweep is None:
        raise InputError("--values needs --sweep: add --sweep xi")
    if flags.export:
        raise InputError(
            "--export writes the rows of one training, not of a sweep: leave "
            "--export or --sweep out"
        )
    if flags.dry_run:
        raise InputError("--dry-run covers one training, not a sweep: leave --sweep out")
    try:
        grid = [float(value) for value in flags.values.split(",") if value.strip()]
    except ValueError:
        raise InputError(
            f"--values {flags.values!r}: expected numbers such as 0.1,0.5,0.9"
        ) from None
    with progress.Bars(idle=False) as bars:
        folder, swept = training.sweep(
            run, flags.out, config, values=grid, progress=bars, say=_say, **flags.opened(),
        )  # fmt: skip
    page = report.write_training_page(folder, swept)
    if flags.json:
        print(numbers.json_text(swept.sweep))
        return
    report.render_training(swept, printing.terminal(), page)
    print(f"sayso: everything is in {folder}")


def _say(text: str) -> None:
    """Tell on stderr how far it is."""
    print("sayso:", printable(text), file=sys.stderr)

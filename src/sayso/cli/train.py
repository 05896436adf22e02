"""``sayso train``: from a run to a model that says what it does not know, and the proof of it."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from sayso.cli.commands import with_options
from sayso.later import Later
from sayso.options import flag, option
from sayso.records import InputError
from sayso.train.config import TrainConfig, check_exported

if TYPE_CHECKING:
    from sayso.cli import printing, progress
    from sayso.report import numbers, terminal
    from sayso.runs import draws, dry_run
    from sayso.train import report, training
else:  # loaded when something is trained
    printing = Later("sayso.cli.printing")
    progress = Later("sayso.cli.progress")
    numbers = Later("sayso.report.numbers")
    terminal = Later("sayso.report.terminal")
    draws = Later("sayso.runs.draws")
    dry_run = Later("sayso.runs.dry_run")
    report = Later("sayso.train.report")
    training = Later("sayso.train.training")


@dataclass(frozen=True, kw_only=True)
class TrainFlags:
    """Flags that decide no training: where everything is, what else is written, what is printed."""

    out: Path | None = flag(None, "output folder; default: next to the run")
    export: Literal["trl", "llama-factory"] | None = flag(
        None, "write training data for another trainer, without training"
    )
    sweep: Literal["xi"] | None = flag(
        None, "train once for each share of paragraphs, and compare the results"
    )
    values: str = flag("", "values of --sweep, such as 0.1,0.5,0.9; default: 0.1 to 0.9")
    data: str | None = option(None, "new location of the run's data file, if it was moved")
    model: str | None = option(None, "the run's model, if its name has changed")
    judge: str | None = option(
        None, "the run's judge, if its name has changed or it is at an address"
    )
    cache: Path | None = option(None, "folder of stored replies; default: the run's")
    dry_run: bool = flag(
        False, "print how many samples the rows need, and what they cost; send nothing"
    )
    json: bool = flag(False, "print all results as JSON instead of the table")

    def opened(self) -> dict[str, Any]:
        """Return how the run is opened and what is noted of the command."""
        return {
            "model": self.model,
            "data": self.data,
            "judge": self.judge,
            "cache": self.cache,
            "command": shlex.join(["sayso", *sys.argv[1:]]),
        }


@with_options
def train(
    run: Annotated[Path, Parameter(help="a finished uncle run of the base model")],
    /,
    *,
    config: TrainConfig,
    flags: TrainFlags,
) -> None:
    """Train the model of a run to say what it does not know, and measure whether it does.

    Rows come from entities that are not measured; what is known stays what the run's probes said.
    Stopped at any point, the same command goes on.
    """
    if flags.export:
        check_exported(config)
    swept = _swept_values(flags)
    if flags.dry_run:
        job, data, paragraphs, evidence = training.planned_draws(
            run, config, export=flags.export or "", **flags.opened()
        )
        plan = draws.price_draws(job, data, paragraphs=paragraphs, evidence=evidence)
        print(numbers.json_text(plan) if flags.json else dry_run.plan_text(plan))
        return
    with progress.Bars(idle=False) as bars:
        how = {"progress": bars, "say": printing.tell, **flags.opened()}
        if swept is not None:
            folder, done = training.sweep(run, flags.out, config, values=swept, **how)
        else:
            folder, done = training.fit(run, flags.out, config, export=flags.export or "", **how)
    page = report.write_training_page(folder, done) if done.cells else None
    if flags.json:
        print(numbers.json_text(done.sweep or done))
        return
    console = printing.terminal()
    report.render_training(done, console, page)
    for text in done.notes:
        terminal.say(console, text, "dim")
    print(f"sayso: everything is in {folder}")


def _swept_values(flags: TrainFlags) -> list[float] | None:
    """Return the values of a sweep, none for its own; ``None`` for one training. InputError."""
    if flags.sweep is None:
        if flags.values:
            raise InputError("--values needs --sweep: add --sweep xi")
        return None
    if flags.export:
        raise InputError(
            "--export writes the rows of one training, not of a sweep: leave "
            "--export or --sweep out"
        )
    if flags.dry_run:
        raise InputError("--dry-run covers one training, not a sweep: leave --sweep out")
    try:
        return [float(value) for value in flags.values.split(",") if value.strip()]
    except ValueError:
        raise InputError(
            f"--values {flags.values!r}: expected numbers such as 0.1,0.5,0.9"
        ) from None

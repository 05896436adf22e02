"""``sayso run``, ``measure``, ``report``, ``compare`` and ``factuality``: call, then print."""

from __future__ import annotations

import dataclasses
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import cyclopts
import msgspec
from cyclopts import Parameter
from rich.console import Console

from sayso import report as reports
from sayso.cli.flags import Common, chosen, measurable_settings
from sayso.cli.printing import note
from sayso.cli.progress import Bars
from sayso.protocols import PROTOCOLS
from sayso.protocols.protocol import Protocol, Unsuited
from sayso.protocols.self_known import settings as self_known
from sayso.report.numbers import json_text
from sayso.report.terminal import render_compare
from sayso.runs.dry_run import estimate, plan_text
from sayso.runs.from_files import factuality as measure_texts
from sayso.runs.measure import measure as measure_run
from sayso.runs.measure import settings_kind
from sayso.runs.result import Result
from sayso.runs.run import Job, execute
from sayso.train.compare import compare as compare_runs
from sayso.train.report import unfinished, write_training_page
from sayso.train.result import is_training, read_training

NO_FLAGS = Common()
run_app = cyclopts.App(
    name="run",
    help="Ask a model, judge its answers, report whether it voices what it does not know.",
    help_epilogue="Every option can stand in a YAML file: --config FILE.yaml (probe: {k: 3}).",
)


Shared = Annotated[Common, Parameter(name="*")]
#: the settings of every protocol; only those that can change without asking again are shown
Measurable: Any = Annotated[measurable_settings(), Parameter(name="*")]


def _add_command(plan: Protocol) -> None:
    """Add ``sayso run NAME``: the flags of every run, and the protocol's settings."""

    default = plan.Settings()

    def command(*, common: Any = NO_FLAGS, settings: Any = default) -> None:
        _run(common.job(plan.name, settings), common)

    settings: Any = Annotated[plan.Settings, Parameter(name="*")]
    command.__annotations__ = {"common": Shared, "settings": settings, "return": None}
    command.__doc__ = plan.question
    run_app.command(command, name=plan.name)


for _plan in PROTOCOLS.values():
    _add_command(_plan)


@run_app.default
def run_all(*, common: Shared = NO_FLAGS) -> None:
    """Run every protocol with its own defaults; each gets a folder in --out.

    They share one pool of answers: the cache has for the next what one has asked.
    """
    print(f"sayso: running {', '.join(PROTOCOLS)}: the protocols so far", file=sys.stderr)
    results: dict[str, object] = {}
    for name in PROTOCOLS:
        out = common.out / name if common.out is not None else None
        own = dataclasses.replace(common, out=out)
        try:
            results[name] = _run(own.job(name, PROTOCOLS[name].Settings()), own, quiet=common.json)
        except Unsuited as reason:
            print(f"sayso: left out: {reason}", file=sys.stderr)
    if common.json:
        print(json_text(results))


def _run(job: Job, common: Common, *, quiet: bool = False) -> object:
    """Price a job or run it, and print the result unless ``quiet``; return it as JSON's types."""
    if common.dry_run:
        plan = estimate(job)
        if not quiet:
            print(json_text(plan) if common.json else plan_text(plan))
        return msgspec.to_builtins(plan)
    with Bars() as bars:
        result = execute(job, bars)
    _finish(result, json=common.json, quiet=quiet)
    return [msgspec.structs.asdict(e) for e in result.estimates]


def measure(
    run: Path,
    /,
    *,
    json: bool = False,
    settings: Measurable = measurable_settings()(),  # noqa: B008 - frozen
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
        print("measured with other settings: printed only; the run's own numbers stay as they are")


def report(
    run: Path,
    /,
    *,
    beside: Annotated[tuple[Path, ...], Parameter(show_default=False)] = (),
) -> None:
    """Write report.html of a finished run, or of a training, again.

    Parameters
    ----------
    run
        A run folder.
    beside
        Another run of faithfulness, a column of its tables of methods by models; can be given
        again.
    """
    if is_training(run):
        print(write_training_page(run))
        if text := unfinished(read_training(run)):
            print(f"sayso: {text}", file=sys.stderr)
        return
    print(reports.write(run, beside))


@dataclasses.dataclass(frozen=True)
class Comparing:
    """The flags of ``sayso compare``."""

    json: Annotated[bool, Parameter(help="Print the differences as JSON.")] = False
    allow: Annotated[
        tuple[str, ...],
        Parameter(
            help="Settings that may differ besides the model, e.g. --allow judge.",
            show_default=False,
        ),
    ] = ()
    resamples: Annotated[int, Parameter(help="Bootstrap resamples of entities.")] = 2000
    seed: Annotated[int, Parameter(help="Seed of the resampling.")] = 0
    stage: Annotated[
        Literal["sft", "dpo", "rl"] | None,
        Parameter(help="Of two trainings: the stage to compare; left out: the last of each."),
    ] = None
    base: Annotated[
        Path | None,
        Parameter(help="Of two trainings: where the run that they started from is now."),
    ] = None


def compare(
    a: Path,
    b: Path,
    /,
    *,
    flags: Annotated[Comparing, Parameter(name="*")] = Comparing(),
) -> None:
    """Print what changes from run A to run B on the questions both asked, with paired intervals.

    Parameters
    ----------
    a
        A run folder, or a folder of sayso train.
    b
        Another one of its kind.
    """
    result = compare_runs(
        a,
        b,
        allow=flags.allow,
        resamples=flags.resamples,
        seed=flags.seed,
        stage=flags.stage or "",
        base=flags.base,
    )
    if flags.json:
        rows = [msgspec.structs.asdict(e) for e in result.estimates]
        if result.tests:  # of trainings only
            for row, (p, corrected) in zip(rows, result.tests, strict=True):
                row |= {"p": p, "p_holm": corrected}
        print(json_text(rows))
    else:
        console = Console()
        labels = PROTOCOLS[result.protocol].report.LABELS
        render_compare(
            result.estimates, console, str(a), str(b), result.notes, result.compared, labels
        )


def _finish(result: Result, *, json: bool, quiet: bool = False) -> None:
    """Print a run's notices, write its page, and print the result unless ``quiet``."""
    for notice in result.manifest.notices:
        note(notice)
    page = reports.write(result.path)
    if not quiet:
        show(result, json=json, page=page)


def show(result: Result, *, json: bool, page: Path | None) -> None:
    """Print a finished run as a table, or every number of it as JSON."""
    if json:
        print(json_text([msgspec.structs.asdict(e) for e in result.estimates]))
    else:
        reports.render(result.estimates, Console(), result.manifest, page, entities=result.entities)


@dataclasses.dataclass(frozen=True)
class Factuality:
    """The flags of ``sayso factuality``."""

    out: Annotated[Path | None, Parameter(help="the run folder; else a name under runs/")] = None
    knowledge: Annotated[
        str,
        Parameter(
            help="what claims are checked against: a file or folder of passages, an index made by "
            "sayso index, builtin; left out: only labels in the file count"
        ),
    ] = "none"
    passages: Annotated[int, Parameter(help="passages that are read with each claim")] = 5
    judge: Annotated[
        str,
        Parameter(
            help="what splits texts into claims and checks them: rules (offline), or a model"
        ),
    ] = "rules"
    support: Annotated[
        Literal["auto", "rules", "nli", "judge"],
        Parameter(help="what checks claims: rules, an NLI model (--nli), the judge's model"),
    ] = "auto"
    nli: Annotated[str, Parameter(help="with --support nli: its folder or hub id")] = "auto"
    average: Annotated[
        Literal["sentence", "generation", "micro"],
        Parameter(help="curves: mean over sentences, over texts of their means, pooled claims"),
    ] = "sentence"
    bins: Annotated[int, Parameter(help="parts of a text, equally long in sentences")] = 5
    closed: Annotated[Literal["right", "left"], Parameter(help="which edge belongs to a part")] = (
        "right"
    )
    gamma: Annotated[
        float, Parameter(help="claims below which FActScore's length penalty begins")
    ] = 10.0
    k: Annotated[
        int, Parameter(help="number of facts wanted, for F1@K; 0: median of the supported claims")
    ] = 0
    resamples: Annotated[int, Parameter(help="bootstrap resamples of texts")] = 1000
    seed: Annotated[int, Parameter(help="seed of the resampling")] = 0
    prompt_folder: Annotated[Path | None, Parameter(help="folder with your own prompt texts")] = (
        None
    )
    cache: Annotated[
        Path | None,
        Parameter(help="folder of stored replies; default SAYSO_CACHE, or your cache folder"),
    ] = None
    max_cost: Annotated[
        float | None, Parameter(help="dollars that the judge may cost; the command then stops")
    ] = None
    judge_price: Annotated[
        str | None, Parameter(help="dollars per million tokens of the judge, 0.15,0.60")
    ] = None
    json: Annotated[
        bool, Parameter(help="print every number as JSON instead of the table", negative="")
    ] = False

    @property
    def settings(self) -> self_known.Settings:
        """Settings of a run that asks no model for its texts."""
        own = ("knowledge", "passages", "support", "nli", "average", "bins", "closed", "gamma", "k",
               "resamples")  # fmt: skip
        return dataclasses.replace(
            self_known.Settings(),
            **{name: getattr(self, name) for name in own},
            ci_seed=self.seed,
            modes="none",
            prompt_folder=str(self.prompt_folder or ""),
        )


def factuality(
    *files: Annotated[
        Path,
        Parameter(
            help="long texts, a system each: .jsonl, .json or .parquet with a text (text, output, "
            "response, answer) and what it is about (topic, entity, title; else prompt); claims "
            "with labels of people where there are any; FActScore's labeled files as they are"
        ),
    ],
    flags: Annotated[Factuality, Parameter(name="*")] = Factuality(),
) -> None:
    """How factual are long texts, and does it change from their beginning to their end?

    Labels of people in the file are taken as they are; other texts are split into claims, which
    are checked against --knowledge. With both, the checker is compared with the people.
    """
    with Bars() as bars:
        result = measure_texts(
            files,
            flags.out,
            judge=flags.judge,
            options=flags.settings,
            cache=flags.cache,
            max_cost=flags.max_cost,
            judge_price=flags.judge_price,
            progress=bars,
            command=shlex.join(["sayso", *sys.argv[1:]]),
        )
    _finish(result, json=flags.json)

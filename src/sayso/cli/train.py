"""``sayso train``: from a run to a model that says what it does not know, and the proof of it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter, Token
from rich.console import Console

from sayso.cli.progress import Bars
from sayso.records import InputError
from sayso.report.numbers import json_text
from sayso.train import report
from sayso.train.config import Lesson, check_exported, of_preset, of_rows
from sayso.train.sweep import sweep as sweep_of
from sayso.train.training import teach

ROWS = Group("Training rows", sort_key=2)
TRAINING = Group("Training", sort_key=3)
RL = Group("Reinforcement learning (--recipe rl)", sort_key=4)


def _as_given(_: type, tokens: Sequence[Token]) -> str:
    """Take a name as it is: the library refuses one that it does not know, or no longer knows."""
    return tokens[0].value


def train(
    run: Annotated[Path, Parameter(help="a finished run of `sayso run uncle` of the base model")],
    /,
    *,
    recipe: Annotated[
        str,
        Parameter(
            help="short: rows of short questions; long: of paragraphs; mix: of both (--xi); "
            "calibrated: wording as sure as the model is; rl: mix, then reinforcement learning"
        ),
    ] = "mix",
    preset: Annotated[
        Literal["auto", "paper", "builtin"],
        Parameter(
            help="UNCLE's Table 6, or what fits the built-in model; auto takes what fits the model"
        ),
    ] = "auto",
    seeds: Annotated[int, Parameter(help="trainings, each with rows and order of its own")] = 1,
    seed: Annotated[int, Parameter(help="the first of them")] = 0,
    out: Annotated[
        Path | None, Parameter(help="folder of everything; without it a name beside the run")
    ] = None,
    limit: Annotated[
        int | None, Parameter(help="entities to measure; without it those of the run")
    ] = None,
    train_limit: Annotated[
        int | None, Parameter(help="most entities to make rows of; without it all the others")
    ] = None,
    stages: Annotated[
        Literal["sft", "dpo"], Parameter(help="where to end: after SFT, or after DPO (or RL) too")
    ] = "dpo",
    methods: Annotated[
        str | None,
        Parameter(
            help="ways to ask for doubt that are measured beside: unc_few,pair_few,self_refine; "
            "without it those of the run"
        ),
    ] = None,
    export: Annotated[
        Literal["trl", "llama-factory", "llama-factory-sharegpt"] | None,
        Parameter(help="write rows for another trainer, and train nothing"),
    ] = None,
    sweep: Annotated[
        Literal["xi", "theta", "plain_from"] | None,
        Parameter(help="teach once for each of several values of a setting, and compare them"),
    ] = None,
    values: Annotated[
        str, Parameter(help="values of --sweep, e.g. 0.1,0.5,0.9; without it a grid")
    ] = "",
    theta: Annotated[
        float | None,
        Parameter(
            group=ROWS, help=f"share of right draws from which a fact is known {of_rows('theta')}"
        ),
    ] = None,
    low: Annotated[
        float | None,
        Parameter(
            group=ROWS,
            help="share up to which it is unknown; between the two it is left out "
            f"{of_rows('low', 'all below theta')}",
        ),
    ] = None,
    xi: Annotated[
        float | None,
        Parameter(group=ROWS, help=f"share of long-form rows in a mix {of_preset('xi')}"),
    ] = None,
    k: Annotated[
        int | None, Parameter(group=ROWS, help=f"draws of each short question {of_rows('k')}")
    ] = None,
    style: Annotated[
        Literal["paper", "known"] | None,
        Parameter(
            group=ROWS,
            converter=_as_given,
            help="Idk and LoGU rows as UNCLE trains; or a word of doubt at the value, in both "
            f"forms alike {of_rows('style')}",
        ),
    ] = None,
    paragraphs: Annotated[
        int | None,
        Parameter(
            group=ROWS, help=f"drawn paragraphs beside the one at T=0 {of_rows('paragraphs')}"
        ),
    ] = None,
    plain: Annotated[
        float | None,
        Parameter(
            group=ROWS,
            help="the model's own plain answers that come on top of --sft-rows, as a share "
            f"{of_rows('plain')}",
        ),
    ] = None,
    plain_from: Annotated[
        float | None,
        Parameter(
            group=ROWS,
            help="with --recipe calibrated: share of draws that agree with an answer from which it "
            f"is worded without a hedge {of_rows('plain_from')}",
        ),
    ] = None,
    against: Annotated[
        float | None,
        Parameter(
            group=ROWS,
            help="with --style known, for DPO: pairs against a hedge beside one for it; more of "
            "them keep known facts plain, fewer of them hedge more "
            f"{of_rows('against', 'all there are')}",
        ),
    ] = None,
    veracity: Annotated[
        Literal["gold", "evidence", "consistency"] | None,
        Parameter(
            group=ROWS,
            help="with --style paper: what says that a paragraph's fact is wrong, the judge's "
            "verdict by the golds, claims checked against evidence, or agreement with short draws "
            f"{of_rows('veracity')}",
        ),
    ] = None,
    reward: Annotated[
        Literal["ternary", "brier"] | None,
        Parameter(
            group=RL,
            converter=_as_given,
            help="right and sure 1, doubt 0, wrong and sure -cost; or how well the stated "
            f"confidence fits {of_rows('reward')}",
        ),
    ] = None,
    cost: Annotated[
        float | None,
        Parameter(group=RL, help=f"of a wrong and sure answer (ternary) {of_rows('cost')}"),
    ] = None,
    choose: Annotated[
        Literal["any", "extremes"] | None,
        Parameter(
            group=RL,
            help="questions to ask: any, or those whose draws agree most and least "
            f"{of_rows('choose')}",
        ),
    ] = None,
    rl_rows: Annotated[
        int | None, Parameter(group=RL, help=f"most questions to ask {of_preset('rl.rows')}")
    ] = None,
    rl_rate: Annotated[
        float | None, Parameter(group=RL, help=f"learning rate {of_preset('rl.rate')}")
    ] = None,
    sft_rows: Annotated[
        int | None,
        Parameter(
            group=TRAINING,
            help=f"most rows of the recipe for SFT, --plain ones on top {of_preset('sft.rows')}",
        ),
    ] = None,
    dpo_rows: Annotated[
        int | None,
        Parameter(
            group=TRAINING,
            help=f"most pairs of the recipe for DPO, plain ones on top {of_preset('dpo.rows')}",
        ),
    ] = None,
    sft_epochs: Annotated[
        float | None,
        Parameter(group=TRAINING, help=f"passes over them {of_preset('sft.epochs')}"),
    ] = None,
    dpo_epochs: Annotated[
        float | None,
        Parameter(group=TRAINING, help=f"passes over them {of_preset('dpo.epochs')}"),
    ] = None,
    sft_rate: Annotated[
        float | None,
        Parameter(group=TRAINING, help=f"learning rate of SFT {of_preset('sft.rate')}"),
    ] = None,
    dpo_rate: Annotated[
        float | None,
        Parameter(group=TRAINING, help=f"learning rate of DPO {of_preset('dpo.rate')}"),
    ] = None,
    targets: Annotated[
        str | None,
        Parameter(group=TRAINING, help=f"linear modules that get adapters {of_preset('targets')}"),
    ] = None,
    resamples: Annotated[int, Parameter(help="bootstrap resamples of seeds and entities")] = 2000,
    data: Annotated[
        str | None, Parameter(help="where the run's data are now, if they were a file that moved")
    ] = None,
    judge: Annotated[
        str | None, Parameter(help="the run's judge, if it is named otherwise now")
    ] = None,
    cache: Annotated[
        Path | None, Parameter(help="folder of stored replies; without it that of the run")
    ] = None,
    json: Annotated[
        bool, Parameter(help="print everything found as JSON instead of the table", negative="")
    ] = False,
) -> None:
    """Teach the model of a run to say what it does not know, and measure whether it does.

    Rows come from entities that are not measured; what is known stays what the run's probes said.
    Stopped at any point, the same command goes on.
    """
    lesson = Lesson(
        recipe=recipe, preset=preset, seeds=seeds, seed=seed, stages=stages, limit=limit,
        train_limit=train_limit, methods=methods or "", resamples=resamples,
        making={
            "theta": theta, "low": low, "xi": xi, "k": k, "style": style,
            "paragraphs": paragraphs, "plain": plain, "veracity": veracity,
            "plain_from": plain_from, "against": against,
            "reward": reward, "cost": cost, "choose": choose,
        },
        training={
            "sft.rows": sft_rows, "dpo.rows": dpo_rows, "sft.epochs": sft_epochs,
            "dpo.epochs": dpo_epochs, "sft.rate": sft_rate, "dpo.rate": dpo_rate,
            "rl.rows": rl_rows, "rl.rate": rl_rate,
            "targets": targets and tuple(t.strip() for t in targets.split(",") if t.strip()),
        },
    )  # fmt: skip
    opened: dict[str, Any] = {
        "data": data, "judge": judge, "cache": cache,
        "command": shlex.join(["sayso", *sys.argv[1:]]),
    }  # fmt: skip
    if export:
        check_exported(lesson.methods, {**lesson.making, **lesson.training})
    if sweep or values:
        _sweep(run, out, sweep, values, lesson, export, opened, json)
        return
    with Bars() as bars:
        folder, taught = teach(
            run, out, lesson=lesson, style=export or "", progress=bars, say=_say, **opened
        )
    page = report.write_training(folder) if taught.cells else None
    if json:
        print(json_text(taught))
        return
    console = Console()
    report.render_training(taught, console, page)
    print(f"sayso: everything is in {folder}")


def _sweep(
    run: Path,
    out: Path | None,
    setting: str | None,
    values: str,
    lesson: Lesson,
    export: str | None,
    opened: dict[str, Any],
    json: bool,
) -> None:
    if setting is None:
        raise InputError("--values are those of a --sweep, which is missing: add --sweep xi")
    if export:
        raise InputError("--export writes the rows of one teaching, not of a sweep: leave one out")
    try:
        grid = [float(value) for value in values.split(",") if value.strip()]
    except ValueError:
        raise InputError(f"--values {values!r}: expected numbers such as 0.1,0.5,0.9") from None
    with Bars() as bars:
        folder, swept = sweep_of(
            run, out, setting=setting, values=grid, lesson=lesson, progress=bars, say=_say,
            **opened,
        )  # fmt: skip
    page = report.write_sweep(folder, swept)
    if json:
        print(json_text(swept.sweep))
        return
    report.render_sweep(swept, Console(), page)
    print(f"sayso: everything is in {folder}")


def _say(text: str) -> None:
    """Tell on stderr how far it is."""
    print("sayso:", "".join(c for c in text if c.isprintable()), file=sys.stderr)

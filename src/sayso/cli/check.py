"""``sayso check`` and ``sayso judge-check``: call the library, then print. No arithmetic."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from sayso.cli.commands import with_options
from sayso.engines.providers import OF_PROVIDERS
from sayso.harmless import plain_json
from sayso.later import Later
from sayso.options import (
    CacheOptions,
    JudgingOptions,
    ModelOptions,
    SpendingOptions,
    flag,
    like,
    part,
)
from sayso.records import InputError

if TYPE_CHECKING:
    from sayso.checks import judge as judges
    from sayso.checks import model as models
    from sayso.cli import printing, progress
    from sayso.judges import reliability
    from sayso.runs import costs
    from sayso.runs import judge as judge_options
    from sayso.runs import result as outcome
    from sayso.storage import cache
else:  # loaded when something is checked
    judges = Later("sayso.checks.judge")
    models = Later("sayso.checks.model")
    printing = Later("sayso.cli.printing")
    progress = Later("sayso.cli.progress")
    reliability = Later("sayso.judges.reliability")
    costs = Later("sayso.runs.costs")
    judge_options = Later("sayso.runs.judge")
    outcome = Later("sayso.runs.result")
    cache = Later("sayso.storage.cache")


@dataclasses.dataclass(frozen=True, kw_only=True)
class CheckFlags(ModelOptions):
    """The flags of ``sayso check``."""

    json: bool = flag(False, "print the findings as JSON")
    price: str | None = like(SpendingOptions, "price")


@with_options
def check(
    model: Annotated[
        str,
        Parameter(
            help="builtin, builtin-trained, smollm2, hf:FOLDER, hf:HUB_ID, gguf:FILE, ollama:NAME, "
            f"{OF_PROVIDERS}, or the URL of an endpoint"
        ),
    ],
    /,
    *,
    flags: CheckFlags,
) -> int:
    """Find out what a model or an endpoint can do: log-probs, seeds, thinking, silent truncation.

    Draws about 440 times, mostly one token: some 40 calls where a call gives several draws.
    Nothing comes from the cache.
    """
    opening = costs.model_options(model, part(ModelOptions, flags), price=flags.price)
    with progress.Bars() as bars:
        result = models.check(model, opening, bars)
    if flags.json:
        print(plain_json(models.check_json(result)))
    else:
        models.render_check(result, printing.terminal())
    few = outcome.few_answers(result.requests, result.failed)
    return printing.exit_code([few] if few else [])


@dataclasses.dataclass(frozen=True, kw_only=True)
class JudgeFlags(JudgingOptions):
    """The flags of ``sayso judge-check``."""

    labeled: Path | None = flag(
        None,
        "a table with the columns question, gold, answer and a verdict, label or stance (JSONL, "
        "JSON, Parquet, CSV, TSV), or silence: 150 shipped answers and non-answers",
        old="labelled",
    )
    columns: str = flag("", "with --labeled: names of your columns, question=q,gold=reference")
    limit: int | None = flag(
        None,
        "use at most this many answers of each set; the result is printed, but not stored",
    )
    verbose: bool = flag(False, "also print how well the judge reads each stance")
    json: bool = flag(False, "print the result as JSON")
    prompt_folder: Path | None = flag(None, "folder with your own prompts for the judge")
    cache: Path | None = like(CacheOptions, "cache")
    max_cost: float | None = like(SpendingOptions, "max_cost")
    batch_files: bool = like(SpendingOptions, "batch_files")
    device: str | None = like(ModelOptions, "device")
    concurrency: int | None = like(ModelOptions, "concurrency")
    timeout: float | None = like(ModelOptions, "timeout")
    patience: float | None = like(ModelOptions, "patience")

    @property
    def options(self) -> judge_options.JudgeOptions:
        """How the judge judges."""
        folder = self.cache or cache.default_cache_folder() if self.batch_files else None
        return judge_options.JudgeOptions(
            **dataclasses.asdict(part(JudgingOptions, self)),
            opening=part(ModelOptions, self),
            prompt_folder=str(self.prompt_folder or ""),
            batches=str(folder / "batches") if folder else None,
        )


@with_options
def judge_check(
    judge: Annotated[
        str, Parameter(help="rules, a model named as for --model, or rules+MODEL")
    ] = "",
    /,
    *,
    flags: JudgeFlags,
) -> None:
    """Check a judge against our labels and yours, and against answers that try to sway it.

    The result is kept beside the cache and cited by the report of every later run with this judge.
    """
    if not judge:
        raise InputError(
            "judge-check needs a judge (rules, a model, rules+MODEL); to check the judge of a run, "
            "label it (sayso label RUN) and run sayso agreement RUN"
        )
    with progress.Bars() as bars:
        result = judges.judge_check(
            judge,
            labeled=flags.labeled,
            columns=flags.columns,
            limit=flags.limit,
            options=flags.options,
            max_cost=flags.max_cost,
            cache=flags.cache,
            progress=bars,
        )
    for notice in result.notices:
        printing.print_note(notice)
    if flags.json:
        print(plain_json(reliability.reliability_json(result)))
        return
    kept = None if result.partial else str(reliability.place(result.signature, flags.cache))
    judges.render_judge(result, kept, printing.terminal(), verbose=flags.verbose)

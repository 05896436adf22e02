"""``sayso check`` and ``sayso judge-check``: call the library, then print. No arithmetic."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from sayso.cli.help import ENDPOINT, JUDGE, with_flags
from sayso.harmless import plain_json
from sayso.later import Later
from sayso.options import JudgingOptions, ModelOptions, SpendingOptions, option_names
from sayso.records import InputError

if TYPE_CHECKING:
    from sayso.checks import judge as judges
    from sayso.checks import model as models
    from sayso.cli import printing, progress
    from sayso.judges import reliability
    from sayso.report import terminal
    from sayso.runs import costs
    from sayso.runs import judge as judge_options
    from sayso.runs import result as outcome
    from sayso.runs.judge import JudgeOptions
    from sayso.storage import cache
else:  # loaded when something is checked
    judges, models = Later("sayso.checks.judge"), Later("sayso.checks.model")
    printing, progress = Later("sayso.cli.printing"), Later("sayso.cli.progress")
    reliability, terminal = Later("sayso.judges.reliability"), Later("sayso.report.terminal")
    costs, judge_options = Later("sayso.runs.costs"), Later("sayso.runs.judge")
    outcome, cache = Later("sayso.runs.result"), Later("sayso.storage.cache")


@dataclasses.dataclass(frozen=True)
@with_flags()
class CheckFlags:
    """The flags of ``sayso check``."""

    json: Annotated[bool, Parameter(help="print the findings as JSON", negative="")] = False
    price: Annotated[
        str | None,
        Parameter(
            group=ENDPOINT,
            help="dollars per million prompt and answer tokens (0.15,0.60); default: sayso's price "
            "table",
        ),
    ] = None
    opening: ModelOptions = ModelOptions()

    def options(self, model: str) -> dict[str, object]:
        """Return how a model is opened. Raises InputError for a flag that is not for its kind."""
        return costs.model_options(model, self.opening, price=self.price)


NO_CHECK_FLAGS = CheckFlags()


def check(
    model: Annotated[
        str,
        Parameter(
            help="builtin, builtin-trained, smollm2, hf:FOLDER, hf:HUB_ID, gguf:FILE, ollama:NAME, "
            "openai:NAME, or the URL of an endpoint"
        ),
    ],
    /,
    *,
    flags: Annotated[CheckFlags, Parameter(name="*")] = NO_CHECK_FLAGS,
) -> int:
    """Find out what a model or an endpoint can do: log-probs, seeds, thinking, silent truncation.

    Draws about 440 times, mostly one token: some 40 calls where a call gives several draws.
    Nothing comes from the cache.
    """
    with progress.Bars() as bars:
        result = models.check(model, flags.options(model), bars)
    if flags.json:
        print(plain_json(models.check_json(result)))
    else:
        models.render_check(result, printing.terminal())
    few = outcome.few_answers(result.requests, result.failed)
    if few:
        printing.tell(few)
    return 1 if few else 0


@dataclasses.dataclass(frozen=True)
@with_flags(
    only={
        JudgingOptions: [
            name for name in option_names(JudgingOptions, use="judge") if name != "judge_anyway"
        ],
        SpendingOptions: ("max_cost", "batch_files"),
        ModelOptions: ("device", "concurrency", "timeout", "patience"),
    },
    helps={
        "judge_price": "for the judge: dollars per million prompt and answer tokens, such as "
        "0.15,0.60",
        "max_cost": "stop after this many dollars",
    },
    panels={"judge": JUDGE},
)
class JudgeFlags:
    """The flags of ``sayso judge-check``."""

    labelled: Annotated[
        Path | None,
        Parameter(
            help="a table with the columns question, gold, answer and a verdict, label or stance "
            "(JSONL, JSON, Parquet, CSV, TSV), or silence: 150 shipped answers and non-answers"
        ),
    ] = None
    columns: Annotated[
        str, Parameter(help="with --labelled: names of your columns, question=q,gold=reference")
    ] = ""
    limit: Annotated[
        int | None,
        Parameter(
            help="use at most this many answers of each set; the result is printed, but not stored"
        ),
    ] = None
    verbose: Annotated[
        bool, Parameter(help="also print how well the judge reads each stance", negative="")
    ] = False
    json: Annotated[bool, Parameter(help="print the result as JSON", negative="")] = False
    prompt_folder: Annotated[
        Path | None, Parameter(help="folder with your own prompts for the judge")
    ] = None
    cache: Annotated[
        Path | None,
        Parameter(help="folder for stored checks; default: SAYSO_CACHE, or your cache folder"),
    ] = None
    judging: JudgingOptions = JudgingOptions()
    spending: SpendingOptions = SpendingOptions()
    opening: ModelOptions = ModelOptions()

    @property
    def options(self) -> JudgeOptions:
        """How the judge judges."""
        folder = self.cache or cache.default_cache_folder() if self.spending.batch_files else None
        return judge_options.JudgeOptions(
            **dataclasses.asdict(self.judging),
            opening=self.opening,
            prompt_folder=str(self.prompt_folder or ""),
            batches=str(folder / "batches") if folder else None,
        )


NO_FLAGS = JudgeFlags()


def judge_check(
    judge: str = "", /, *, flags: Annotated[JudgeFlags, Parameter(name="*")] = NO_FLAGS
) -> None:
    """Check a judge against our labels and yours, and against answers that try to sway it.

    The result is kept beside the cache and cited by the report of every later run with this judge.

    Parameters
    ----------
    judge
        rules, a model named as for --model, or rules+MODEL.
    """
    if not judge:
        raise InputError(
            "judge-check needs a judge (rules, a model, rules+MODEL); to check the judge of a run, "
            "label it (sayso label RUN) and run sayso agreement RUN"
        )
    with progress.Bars() as bars:
        result = judges.judge_check(
            judge,
            labelled=flags.labelled,
            columns=flags.columns,
            limit=flags.limit,
            options=flags.options,
            max_cost=flags.spending.max_cost,
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

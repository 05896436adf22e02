"""``sayso check`` and ``sayso judge-check``: call the library, then print. No arithmetic."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

from sayso.checks import judge as judges
from sayso.checks import model as models
from sayso.cli.printing import note
from sayso.cli.progress import Bars
from sayso.judges import reliability
from sayso.report.numbers import plain_json
from sayso.runs.costs import endpoint_options
from sayso.runs.judge import Batch, JudgeOptions, Labels, Mode


def check(
    model: str,
    /,
    *,
    json: bool = False,
    price: str | None = None,
    model_version: str | None = None,
    concurrency: int | None = None,
    timeout: float | None = None,
) -> None:
    """Find out what a model or an endpoint can do: log-probs, seeds, schema, silent truncation.

    Asks about 450 short questions, most of them for one token; nothing comes from the cache.

    Parameters
    ----------
    model
        builtin, hf:FOLDER, openai:NAME, or the URL of an endpoint.
    json
        Print the findings as JSON.
    price
        Dollars per million prompt and answer tokens, 0.15,0.60; else from a dated table.
    model_version
        Your name for what the endpoint serves now.
    concurrency
        Most requests at a time.
    timeout
        Seconds to wait for one answer.
    """
    options = endpoint_options(
        model, price=price, model_version=model_version, concurrency=concurrency, timeout=timeout
    )
    with Bars() as bars:
        result = models.check(model, options, bars)
    if json:
        print(plain_json(models.to_json(result)))
    else:
        models.render_check(result, Console())


@dataclasses.dataclass(frozen=True)
class JudgeFlags:
    """The flags of ``sayso judge-check``."""

    labelled: Annotated[
        Path | None,
        Parameter(
            help="A JSONL file with question, golds, answer and a verdict, label or stance on each "
            "line."
        ),
    ] = None
    limit: Annotated[
        int | None,
        Parameter(
            help="At most this many answers of each set; the result is then printed, not kept."
        ),
    ] = None
    json: Annotated[bool, Parameter(help="Print the result as JSON.")] = False
    max_cost: Annotated[float | None, Parameter(help="Dollars that this check may spend.")] = None
    cache: Annotated[
        Path | None,
        Parameter(help="Folder where checks are kept; default SAYSO_CACHE, or your cache folder."),
    ] = None
    judge_batch: Annotated[
        Batch,
        Parameter(
            help="One call for all aspects of an answer (item), also for all draws (entity), or "
            "one for each aspect (aspect)."
        ),
    ] = "item"
    judge_mode: Annotated[
        Mode,
        Parameter(help="Stance and content in one call (one_pass), or in two (two_pass)."),
    ] = "one_pass"
    judge_labels: Annotated[
        Labels,
        Parameter(help="Stance and content apart (stance), or the three labels of UNCLE (uncle)."),
    ] = "stance"
    judge_price: Annotated[
        str | None,
        Parameter(help="Dollars per million prompt and answer tokens of the judge, 0.15,0.60."),
    ] = None
    prompt_folder: Annotated[Path | None, Parameter(help="Your own prompts for the judge.")] = None
    concurrency: Annotated[int | None, Parameter(help="Most requests at a time.")] = None
    timeout: Annotated[float | None, Parameter(help="Seconds to wait for one answer.")] = None

    @property
    def options(self) -> JudgeOptions:
        """How the judge judges."""
        return JudgeOptions(
            self.judge_batch,
            self.judge_mode,
            self.judge_labels,
            self.judge_price,
            str(self.prompt_folder or ""),
            self.concurrency,
            self.timeout,
        )


NO_FLAGS = JudgeFlags()


def judge_check(
    judge: str, /, *, flags: Annotated[JudgeFlags, Parameter(name="*")] = NO_FLAGS
) -> None:
    """Check a judge against our labels and yours, and against answers that try to sway it.

    The result is kept beside the cache and cited by the report of every later run with this judge.

    Parameters
    ----------
    judge
        rules, a model named as for --model, or rules+MODEL.
    """
    with Bars() as bars:
        result = judges.judge_check(
            judge,
            labelled=flags.labelled,
            limit=flags.limit,
            options=flags.options,
            max_cost=flags.max_cost,
            cache=flags.cache,
            progress=bars,
        )
    for notice in result.notices:
        note(notice)
    if flags.json:
        print(plain_json(reliability.to_json(result)))
        return
    kept = None if result.partial else str(reliability.place(result.signature, flags.cache))
    judges.render_judge(judges.in_words(result), kept, Console())

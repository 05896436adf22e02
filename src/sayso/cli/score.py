"""``sayso score``: uncertainty scores for answers that the user already has."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from rich.console import Console

from sayso.cli.help import (
    ENDPOINT,
    Opening,
)
from sayso.cli.printing import note
from sayso.cli.progress import Bars
from sayso.datasets.answer_rows import COLUMNS
from sayso.records import InputError
from sayso.report.numbers import json_text
from sayso.score_files.leaderboard import render_board, render_scores
from sayso.score_files.score import FileScores, Place, row_count, score_file

Format = Literal["rows", "harness", "inspect", "batch", "promptfoo", "deepeval"]
Position = Literal["last_prompt", "second_last_answer", "last_answer"]


@dataclasses.dataclass(frozen=True)
class Flags(Opening):
    """The flags of ``sayso score``."""

    out: Annotated[
        Path | None, Parameter(help="where to write; left out: FILE.scored beside the input")
    ] = None
    report: Annotated[
        Path | None,
        Parameter(help="write a page too: leaderboard, scatters against length, audits (.html)"),
    ] = None
    force: Annotated[
        bool,
        Parameter(
            help="replace a file at --out or --report that sayso score did not write", negative=""
        ),
    ] = False
    methods: Annotated[
        str, Parameter(help="names of scores, a,b; left out: every one that the file allows")
    ] = ""
    columns: Annotated[
        str, Parameter(help="names of your columns: answer=response,gold=reference")
    ] = ""
    requests: Annotated[
        Path | None, Parameter(help="the input of the batch, which holds its questions")
    ] = None
    golds: Annotated[
        Path | None,
        Parameter(
            help="a file of golds with custom_id (or id) and gold: joined to the answers by id; "
            "the output of a batch needs it"
        ),
    ] = None
    format: Annotated[
        Format | None, Parameter(help="format of the file, if its rows do not show it")
    ] = None
    model: Annotated[
        str | None,
        Parameter(
            help="the model that gave the answers (hf:FOLDER or hf:HUB_ID, builtin): it reads them "
            "and fills in token probabilities; nothing is generated without --ask"
        ),
    ] = None
    nli: Annotated[
        str | None,
        Parameter(
            help="what compares meanings: rules (offline), a folder or hub id of a model for "
            "natural-language inference, llm:MODEL; left out: microsoft/deberta-large-mnli where "
            "its weights are, else rules"
        ),
    ] = None
    gold_metric: Annotated[
        str,
        Parameter(
            help="what grades answers where people gave no verdict: rules, exact_match, contains, "
            "rouge_l, squad_f1, squad_em, bert_score, llm:MODEL, llm_blind:MODEL (does not see "
            "the question), or file:NAME for a column of verdicts (1 or 0, true or false) or what "
            "a log's own metric said"
        ),
    ] = "rules"
    ask: Annotated[
        bool,
        Parameter(
            help="ask --model, endpoints too, how sure it is of each answer and whether it is "
            "true: seven requests a row; --methods verbalized_two_step makes it one, and "
            "selfcheck_prompt one for each sentence and sample",
            negative="",
        ),
    ] = False
    panel: Annotated[
        str,
        Parameter(
            help="models that say of each answer whether it is true, without a gold (a,b): "
            "judge_panel; one request a row each"
        ),
    ] = ""
    examples: Annotated[
        int,
        Parameter(
            help="labeled rows shown to --model before it says whether an answer is true "
            "(p_true_few; the papers show 20); they are not scored by it; 0: none"
        ),
    ] = 0
    prompt_folder: Annotated[
        Path | None, Parameter(help="folder with your own prompt texts for --ask")
    ] = None
    layer: Annotated[
        int, Parameter(help="layer of the hidden state for P(IK): 0 = embeddings, -1 = the last")
    ] = -1
    position: Annotated[Position, Parameter(help="token whose hidden state P(IK) learns from")] = (
        "second_last_answer"
    )
    token_level: Annotated[
        bool, Parameter(help="write tokens with their probabilities too", negative="")
    ] = False
    lax: Annotated[
        bool,
        Parameter(
            help="same meaning = neither contradicts, instead of each entails the other",
            negative="",
        ),
    ] = False
    unconditioned: Annotated[
        bool, Parameter(help="compare answers without their question before them", negative="")
    ] = False
    cache: Annotated[
        Path | None,
        Parameter(help="folder of stored replies; default SAYSO_CACHE, or your cache folder"),
    ] = None
    max_cost: Annotated[
        float | None,
        Parameter(
            group=ENDPOINT,
            help="dollars that llm:, --ask and --panel may cost; it stops then, keeps what was "
            "paid, and the same command goes on",
        ),
    ] = None
    price: Annotated[
        str | None,
        Parameter(group=ENDPOINT, help="dollars per million tokens of an endpoint, 0.15,0.60"),
    ] = None
    seed: Annotated[int, Parameter(help="seed of the resampling")] = 0
    jobs: Annotated[
        int | None,
        Parameter(
            help="processes that score a long file where no model is asked or loaded; left out: "
            "all cores; the result is the same for any number"
        ),
    ] = None
    verbose: Annotated[
        bool,
        Parameter(
            help="list the scores that were not computed, and why, and print every audit",
            negative="",
        ),
    ] = False
    json: Annotated[
        bool, Parameter(help="print everything as JSON instead of the tables", negative="")
    ] = False


NO_FLAGS = Flags()


def score(
    file: Annotated[
        Path,
        Parameter(
            help="answers: .jsonl, .json, .parquet, .csv or .tsv with columns question, answer, "
            "samples, token_logprobs, sample_token_logprobs, gold, human, context (what there is); "
            "samples_*.jsonl of lm-evaluation-harness; an .eval log of Inspect; the output of an "
            "OpenAI batch"
        ),
    ],
    /,
    *,
    flags: Annotated[Flags, Parameter(name="*")] = NO_FLAGS,
) -> None:
    """Score answers you already have: how uncertain is each, and which score can be believed?

    Every score that the file allows is written back as a column (higher = less certain); with
    golds or verdicts of people also a leaderboard with the length audit. No model is needed.
    """
    result = _scored(file, flags)
    for notice in result.notices:
        note(notice)
    for kind, count in result.problems.items():
        example = result.examples[kind]
        note(example if count == 1 else f"{count:,} rows, such as {example}")
    if flags.json:
        print(json_text({**result._asdict(), "path": str(result.path)}))
        return

    _print(result, flags)


def _scored(file: Path, flags: Flags) -> FileScores:
    total = row_count(file)
    with Bars() as bars:
        return score_file(
            file,
            flags.out,
            [name.strip() for name in flags.methods.split(",") if name.strip()] or None,
            model=flags.model,
            nli=flags.nli,
            gold_metric=flags.gold_metric,
            columns=_columns(flags.columns),
            requests=flags.requests,
            golds=flags.golds,
            kind=flags.format,
            token_level=flags.token_level,
            strict=not flags.lax,
            condition=not flags.unconditioned,
            ask=flags.ask,
            examples=flags.examples,
            panel=[name.strip() for name in flags.panel.split(",") if name.strip()],
            prompts=flags.prompt_folder,
            report=flags.report,
            place=Place(flags.layer, flags.position),
            cache=flags.cache,
            price=flags.price,
            max_cost=flags.max_cost,
            seed=flags.seed,
            force=flags.force,
            opening={f.name: getattr(flags, f.name) for f in dataclasses.fields(Opening)},
            jobs=flags.jobs,
            tell=(lambda done: bars.count("rows", done, total)) if total else None,
        )


def _print(result: FileScores, flags: Flags) -> None:
    """Print which scores there are, the leaderboard, and what was written."""
    console = Console()
    render_scores(console, result.rows, result.values, result.missing, verbose=flags.verbose)
    if result.board is not None:
        render_board(result.board, console, verbose=flags.verbose)
    if result.probe is not None:
        console.print(result.probe.sentence(), markup=False, highlight=False, soft_wrap=True)
    written = [result.path, *([flags.report] if flags.report is not None else [])]
    for path in written:
        console.print(f"written to {path}", markup=False, highlight=False, soft_wrap=True)


def _columns(text: str) -> dict[str, str]:
    """Read ``answer=response,gold=reference``."""
    columns: dict[str, str] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        ours, equals, theirs = part.partition("=")
        if not equals or not ours or not theirs:
            raise InputError(
                f"--columns {part!r}: expected OURS=YOURS, with one of {', '.join(COLUMNS)}"
            )
        columns[ours.strip()] = theirs.strip()
    return columns

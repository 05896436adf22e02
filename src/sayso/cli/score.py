"""``sayso score``: uncertainty scores for answers that the user already has."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from msgspec import Meta

from sayso.cli.commands import with_options
from sayso.cli.flags import FigureFlags, ShownFlags
from sayso.later import Later
from sayso.options import (
    CacheOptions,
    GradingOptions,
    JudgingOptions,
    ModelOptions,
    SpendingOptions,
    flag,
    like,
    option,
    part,
)

if TYPE_CHECKING:
    from sayso.cli import printing, progress
    from sayso.datasets import columns
    from sayso.report import numbers
    from sayso.score_files import page
    from sayso.score_files import score as scoring
else:  # loaded when a file is scored
    printing = Later("sayso.cli.printing")
    progress = Later("sayso.cli.progress")
    columns = Later("sayso.datasets.columns")
    numbers = Later("sayso.report.numbers")
    page = Later("sayso.score_files.page")
    scoring = Later("sayso.score_files.score")

Format = Literal["rows", "harness", "inspect", "batch", "promptfoo", "deepeval"]
Position = Literal["last_prompt", "second_last_answer", "last_answer"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ScoreFlags(ShownFlags, FigureFlags, ModelOptions, GradingOptions):
    """The flags of ``sayso score``."""

    out: Path | None = flag(None, "output file; default: FILE.scored next to the input")
    report: Path | None = flag(
        None, "also write a page (.html): leaderboard, chart, examples, who agrees"
    )
    force: bool = flag(
        False, "overwrite a file at --out or --report that sayso score did not write"
    )
    methods: str = flag(
        "", "names of scores, such as a,b or all,PLUGIN; default: all of sayso's own"
    )
    requests: Path | None = option(
        None, "for batch output: the batch's input file, which has the questions"
    )
    format: Format | None = flag(None, "format of the file, if sayso cannot tell it from the rows")
    model: str | None = flag(
        None,
        "the model that gave the answers (hf:FOLDER, hf:HUB_ID, gguf:FILE or builtin); it computes"
        " their token probabilities, and generates nothing without --ask. With --ask also any "
        "other model of sayso run, such as openai:NAME, inspect:PROVIDER/NAME or a URL",
    )
    ask: bool = flag(
        False,
        "ask --model (or an endpoint) how confident it is in each answer and whether the answer is"
        " true. This takes seven or eight requests per row, or one with --methods "
        "verbalized_two_step; selfcheck_prompt takes one per sentence and sample",
    )
    panel: str = flag(
        "",
        "for the score judge_panel: models, such as a,b, that judge each answer without seeing the"
        " gold answer; one request per row and model",
    )
    examples: int = flag(
        0,
        "number of labeled rows shown to --model as examples for P(True) (the score p_true_few; "
        "the papers use 20). These rows get no p_true_few; 0: none",
    )
    prompt_folder: Path | None = flag(None, "folder with your own prompts for --ask")
    layer: int = option(
        -1, "layer of the hidden state for P(IK): 0 is the embeddings, -1 the last layer"
    )
    position: Position = option("second_last_answer", "token whose hidden state P(IK) uses")
    token_level: bool = option(False, "also write each token with its probability")
    lax: bool = option(
        False,
        "count two texts as equal in meaning if neither contradicts the other (default: if each "
        "entails the other)",
    )
    unconditioned: bool = option(False, "compare answers without putting the question before them")
    cache: Path | None = like(CacheOptions, "cache")
    max_cost: float | None = like(SpendingOptions, "max_cost")
    price: str | None = like(SpendingOptions, "price")
    seed: Annotated[int, Meta(ge=0, le=2**63)] = flag(0, "seed for resampling")
    jobs: int | None = like(JudgingOptions, "jobs")


@with_options
def score(
    file: Annotated[
        Path,
        Parameter(
            help="answers: .jsonl, .json, .parquet, .csv or .tsv with any of the columns question, "
            "answer, samples, token_logprobs, sample_token_logprobs, gold, human, context; "
            "samples_*.jsonl of lm-evaluation-harness; a log of Inspect (.eval or .json); the "
            "output of an OpenAI batch"
        ),
    ],
    /,
    *,
    flags: ScoreFlags,
) -> None:
    """Score answers you already have: how uncertain is each, and which score can be believed?

    Every score that the file allows is written back as a column (higher = less certain); with
    golds or verdicts of people also a leaderboard. No model is needed.
    """
    result = _scored(file, flags)
    for notice in result.notices:
        printing.print_note(notice)
    for kind, count in result.problems.items():
        example = result.examples[kind]
        printing.print_note(example if count == 1 else f"{count:,} rows, such as {example}")
    if flags.json:
        print(numbers.json_text({**result._asdict(), "path": str(result.path)}))
        return

    _print(result, flags)


#: flags that are keywords of :func:`sayso.score_files.score.score_file` too
KEYWORDS = (
    *("out", "report", "force", "requests", "golds", "model", "nli", "gold_metric", "ask"),
    *("examples", "token_level", "cache", "max_cost", "price", "seed", "jobs"),
)


def _scored(file: Path, flags: ScoreFlags) -> scoring.FileScores:
    total = scoring.row_count(file)
    with progress.Bars() as bars:
        return scoring.score_file(
            file,
            methods=flags.methods or None,
            columns=columns.columns_of(str(flags.columns)),
            kind=flags.format,
            strict=not flags.lax,
            condition=not flags.unconditioned,
            panel=[name.strip() for name in flags.panel.split(",") if name.strip()],
            prompts=flags.prompt_folder,
            figures=flags.files,
            place=scoring.StatePlace(flags.layer, flags.position),
            opening=part(ModelOptions, flags),
            tell=(lambda done: bars.count("rows", done, total)) if total else None,
            **{name: getattr(flags, name) for name in KEYWORDS},
        )


def _print(result: scoring.FileScores, flags: ScoreFlags) -> None:
    """Print which scores there are, the leaderboard, and what was written."""
    console = printing.terminal()
    page.render_scores(console, result.rows, result.values, result.missing, verbose=flags.verbose)
    if result.board is not None:
        page.render_board(result.board, console, verbose=flags.verbose)
    if result.probe is not None:
        console.print(result.probe.sentence(), markup=False, highlight=False, soft_wrap=True)
    if flags.figures:
        files = [Path(file) for file in result.figures]
        printing.note_figures(files, files[0].parent if files else result.path.parent)
    written = [result.path, *([flags.report] if flags.report is not None else [])]
    for path in written:
        console.print(f"written to {path}", markup=False, highlight=False, soft_wrap=True)

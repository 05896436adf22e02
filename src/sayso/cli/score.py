"""``sayso score``: uncertainty scores for answers that the user already has."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from sayso.cli.help import ENDPOINT, Figures, FigureWidth, with_flags
from sayso.later import Later
from sayso.options import ModelOptions

if TYPE_CHECKING:
    from sayso.cli import printing, progress
    from sayso.datasets import columns
    from sayso.report import formats, numbers
    from sayso.score_files import page
    from sayso.score_files import score as scoring
    from sayso.score_files.score import FileScores
else:  # loaded when a file is scored
    printing, progress = Later("sayso.cli.printing"), Later("sayso.cli.progress")
    formats, numbers = Later("sayso.report.formats"), Later("sayso.report.numbers")
    page, scoring = Later("sayso.score_files.page"), Later("sayso.score_files.score")
    columns = Later("sayso.datasets.columns")

Format = Literal["rows", "harness", "inspect", "batch", "promptfoo", "deepeval"]
Position = Literal["last_prompt", "second_last_answer", "last_answer"]


@dataclasses.dataclass(frozen=True)
@with_flags()
class ScoreFlags:
    """The flags of ``sayso score``."""

    out: Annotated[
        Path | None, Parameter(help="output file; default: FILE.scored next to the input")
    ] = None
    report: Annotated[
        Path | None,
        Parameter(help="also write a page (.html): leaderboard, chart, examples, who agrees"),
    ] = None
    figures: Figures = ""
    figure_width: FigureWidth = ""
    force: Annotated[
        bool,
        Parameter(
            help="overwrite a file at --out or --report that sayso score did not write", negative=""
        ),
    ] = False
    methods: Annotated[
        str, Parameter(help="names of scores, such as a,b; default: all that the file supports")
    ] = ""
    columns: Annotated[str, Parameter(help="your column names: answer=response,gold=reference")] = (
        ""
    )
    requests: Annotated[
        Path | None,
        Parameter(help="for batch output: the batch's input file, which has the questions"),
    ] = None
    golds: Annotated[
        Path | None,
        Parameter(
            help="a file with the columns custom_id (or id) and gold, joined on the id; needed for "
            "batch output"
        ),
    ] = None
    format: Annotated[
        Format | None, Parameter(help="format of the file, if sayso cannot tell it from the rows")
    ] = None
    model: Annotated[
        str | None,
        Parameter(
            help="the model that gave the answers (hf:FOLDER, hf:HUB_ID, gguf:FILE or builtin); it "
            "computes their token probabilities, and generates nothing without --ask"
        ),
    ] = None
    nli: Annotated[
        str | None,
        Parameter(
            help="what compares meanings: rules (offline), the folder or hub id of an NLI model, "
            "or llm:MODEL; default: microsoft/deberta-large-mnli if its weights are on this "
            "machine, else rules"
        ),
    ] = None
    gold_metric: Annotated[
        str,
        Parameter(
            help="what grades answers without a human verdict: rules, exact_match, contains, "
            "rouge_l, squad_f1, squad_em, bert_score, llm:MODEL, llm_blind:MODEL (does not see the "
            "question), or file:NAME for a column of verdicts (1 or 0, true or false) or a log's "
            "own metric"
        ),
    ] = "rules"
    ask: Annotated[
        bool,
        Parameter(
            help="ask --model (or an endpoint) how confident it is in each answer and whether the "
            "answer is true. This takes seven requests per row, or one with --methods "
            "verbalized_two_step; selfcheck_prompt takes one per sentence and sample",
            negative="",
        ),
    ] = False
    panel: Annotated[
        str,
        Parameter(
            help="for the score judge_panel: models, such as a,b, that judge each answer without "
            "seeing the gold answer; one request per row and model"
        ),
    ] = ""
    examples: Annotated[
        int,
        Parameter(
            help="number of labeled rows shown to --model as examples for P(True) (the score "
            "p_true_few; the papers use 20). These rows get no p_true_few; 0: none"
        ),
    ] = 0
    prompt_folder: Annotated[
        Path | None, Parameter(help="folder with your own prompts for --ask")
    ] = None
    layer: Annotated[
        int,
        Parameter(
            help="layer of the hidden state for P(IK): 0 is the embeddings, -1 the last layer"
        ),
    ] = -1
    position: Annotated[Position, Parameter(help="token whose hidden state P(IK) uses")] = (
        "second_last_answer"
    )
    token_level: Annotated[
        bool, Parameter(help="also write each token with its probability", negative="")
    ] = False
    lax: Annotated[
        bool,
        Parameter(
            help="count two texts as equal in meaning if neither contradicts the other "
            "(default: if each entails the other)",
            negative="",
        ),
    ] = False
    unconditioned: Annotated[
        bool,
        Parameter(help="compare answers without putting the question before them", negative=""),
    ] = False
    cache: Annotated[
        Path | None,
        Parameter(help="folder of stored replies; default: SAYSO_CACHE, or your cache folder"),
    ] = None
    max_cost: Annotated[
        float | None,
        Parameter(
            group=ENDPOINT,
            help="stop after this many dollars for llm:, --ask and --panel; replies are kept, and "
            "the same command resumes",
        ),
    ] = None
    price: Annotated[
        str | None,
        Parameter(
            group=ENDPOINT, help="dollars per million prompt and answer tokens, such as 0.15,0.60"
        ),
    ] = None
    seed: Annotated[int, Parameter(help="seed for resampling")] = 0
    jobs: Annotated[
        int | None,
        Parameter(
            help="number of processes for a long file without a model; default: all cores; it does "
            "not change the result"
        ),
    ] = None
    verbose: Annotated[
        bool,
        Parameter(
            help="print every table, and list the scores that were not computed, with the reason",
            negative="",
        ),
    ] = False
    json: Annotated[
        bool, Parameter(help="print everything as JSON instead of the tables", negative="")
    ] = False
    opening: ModelOptions = ModelOptions()


NO_FLAGS = ScoreFlags()


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
    flags: Annotated[ScoreFlags, Parameter(name="*")] = NO_FLAGS,
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


def _scored(file: Path, flags: ScoreFlags) -> FileScores:
    total = scoring.row_count(file)
    with progress.Bars() as bars:
        return scoring.score_file(
            file,
            flags.out,
            [name.strip() for name in flags.methods.split(",") if name.strip()] or None,
            model=flags.model,
            nli=flags.nli,
            gold_metric=flags.gold_metric,
            columns=columns.columns_of(flags.columns),
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
            figures=formats.wanted(flags.figures, flags.figure_width),
            place=scoring.StatePlace(flags.layer, flags.position),
            cache=flags.cache,
            price=flags.price,
            max_cost=flags.max_cost,
            seed=flags.seed,
            force=flags.force,
            opening=flags.opening,
            jobs=flags.jobs,
            tell=(lambda done: bars.count("rows", done, total)) if total else None,
        )


def _print(result: FileScores, flags: ScoreFlags) -> None:
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

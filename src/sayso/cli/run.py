"""``sayso run``, ``measure``, ``report``, ``compare`` and ``factuality``: call, then print."""

from __future__ import annotations

import dataclasses
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import cyclopts
import msgspec
from cyclopts import Parameter
from rich.console import Console

from sayso import report as reports
from sayso.cli.flags import (
    RunFlags,
    chosen_settings,
    measurable_settings,
    protocol_settings,
    settings_in,
)
from sayso.cli.help import ENDPOINT, OPTIONS, Figures, FigureWidth, help_examples, with_flags
from sayso.cli.printing import note_figures, print_note, tell
from sayso.cli.progress import Bars
from sayso.options import ModelOptions
from sayso.protocols import PROTOCOLS
from sayso.protocols.protocol import Protocol, Unsuited
from sayso.protocols.self_known import settings as self_known
from sayso.records import InputError
from sayso.report.differences import render_compare, with_tests
from sayso.report.formats import Wanted, wanted
from sayso.report.numbers import json_text, line
from sayso.report.page import index_page, write_index
from sayso.report.terminal import plain_table, render_summaries, safe_text, say
from sayso.runs.compare import number_words, sides_of
from sayso.runs.dry_run import RunEstimate, estimate_job, plan_text, total_of, total_text
from sayso.runs.from_files import TextsOf, lacking_claims, measure_texts, texts_by_model
from sayso.runs.from_files import estimate_texts as price_texts
from sayso.runs.job import Job, check, with_period
from sayso.runs.measure import measure as measure_run
from sayso.runs.measure import settings_kind
from sayso.runs.recorded import RecordedEngine, slug
from sayso.runs.result import Result, lost_answers, shown_examples, summary_of
from sayso.runs.run import execute_job
from sayso.storage.atomic import place_inside
from sayso.storage.run_folder import FIGURES, RunFolder
from sayso.studies.report import render_study
from sayso.studies.results import of_folders
from sayso.train.compare import compare as compare_runs
from sayso.train.report import unfinished, write_training_figures, write_training_page
from sayso.train.result import is_training, read_training

NO_FLAGS = RunFlags()
run_app = cyclopts.App(
    name="run",
    help="Ask a model, judge its answers, and report whether it admits what it does not know.",
    group_parameters=OPTIONS,
    help_epilogue=help_examples(
        "sayso run --limit 5 --out runs/first   # every protocol, on one set of answers",
        "sayso run uncle --limit 5              # one; settings: run uncle --help",
    ),
)


Shared = Annotated[RunFlags, Parameter(name="*")]
#: the settings of every protocol; only those that can change without asking again are shown
Measurable: Any = Annotated[measurable_settings(), Parameter(name="*")]


def _add_command(plan: Protocol) -> None:
    """Add ``sayso run NAME``: the flags of every run, and the protocol's settings."""

    default = protocol_settings(plan)()

    def command(*, common: Any = NO_FLAGS, settings: Any = default) -> int:
        if common.answers:
            return _run_answers(common, plan, settings_in(settings, plan))
        job, files = common.job(plan.name, settings_in(settings, plan)), common.files
        if common.dry_run:
            return _price(job, json=common.json)
        shown = ShowOptions(common.json, verbose=common.verbose, figures=files)
        return _exit_code([_run(job, shown)])

    settings: Any = Annotated[protocol_settings(plan), Parameter(name="*")]
    command.__annotations__ = {"common": Shared, "settings": settings, "return": int}
    command.__doc__ = plan.question
    below = help_examples(
        f"sayso run {plan.name} --limit 5",
        f"sayso run {plan.name} --model hf:Qwen/Qwen3-4B --data mine.jsonl",
        f"sayso run {plan.name} --model openai:gpt-4o-mini --max-cost 5 --dry-run",
    )
    run_app.command(command, name=plan.name, help_epilogue=below)


for _plan in PROTOCOLS.values():
    _add_command(_plan)


def _exit_code(done: Sequence[Result]) -> int:
    """Return the exit code of finished runs: 1, with a line, where most answers of one are lost."""
    lost = [few for result in done if (few := lost_answers(result.manifest))]
    if lost:
        of = f" (likewise in {len(lost):,} of {len(done):,} runs)" if len(done) > 1 else ""
        tell(
            f"{lost[0]}{of}: the numbers cover only the answers that came; run the same command "
            "to ask for the rest"
        )
    return 1 if lost else 0


def _run_answers(common: RunFlags, plan: Protocol, options: Any) -> int:
    """Run a protocol on answers that exist, a run for each model in the files."""
    texts = list(texts_of(common, plan, options)) if plan.reads_texts else []
    jobs = [] if plan.reads_texts else common.recorded_jobs(plan.name, options)
    several = len(texts) + len(jobs) > 1
    if several:
        _check_several(common)
    if common.dry_run:
        plans = [price_texts(own, job) for own, job in texts] + [_estimate(job) for job in jobs]
        _show_plans(plans, json=common.json)
        return 0
    done = []
    for number, (own, job) in enumerate(texts, 1):
        _note_record(number, len(texts), own.system.name, len(own.system.texts))
        done.append(_measure(own, job, common, several))
    done += _run_suited(jobs, common)
    if several:
        _show_runs(done, common.out, json=common.json)
    return _exit_code(done)


def _run_suited(jobs: Sequence[Job], common: RunFlags) -> list[Result]:
    """Run jobs of several models, without those whose answers do not suit the protocol.

    Raises Unsuited where none does.
    """
    done: list[Result] = []
    reasons: list[Unsuited] = []
    for number, job in enumerate(jobs, 1):
        try:
            check(job)  # a mistake is one line
            if isinstance(job.model, RecordedEngine):
                _note_record(number, len(jobs), job.model.name, len(job.model.model.rows))
            done.append(_run(job, _shown(common, len(jobs) > 1)))
        except Unsuited as reason:
            reasons.append(reason)
    if jobs and not done:
        raise reasons[0]
    for one in reasons:
        print_note(f"left out: {one}")
    return done


def _note_record(number: int, total: int, name: str, answers: int) -> None:
    """Say whose answers are judged and measured now."""
    place = f"model {number} of {total}: " if total > 1 else ""
    print_note(f"{place}{name}, {answers:,} answer{'s' * (answers != 1)} in the files")


def _check_several(common: RunFlags) -> None:
    """Refuse what is for one run only where the files hold several models. Raises InputError."""
    if common.name:
        raise InputError("--name is for one model, and the files hold several; leave it out")
    if common.out is not None and RunFolder.exists(common.out):
        raise InputError(
            f"{common.out}: contains a run, but every model needs its own folder in --out; choose "
            "another --out"
        )


def _run_all_answers(common: RunFlags) -> int:
    """Run every protocol that the files of answers allow; return the exit code."""
    left_out: list[str] = []
    codes = [0]
    for name, plan in PROTOCOLS.items():
        out = place_inside(common.out, name) if common.out is not None else None
        own, options = dataclasses.replace(common, out=out), plan.Settings()
        try:
            if plan.reads_texts and not any(t.system.labeled for t in texts_by_model(own.answers)):
                raise Unsuited(
                    f"{name} needs labeled claims of long texts, and the files have none"
                )
            if not common.json:
                print(f"{name}:")
            codes.append(_run_answers(own, plan, options))
        except InputError as reason:  # files of short answers are none of texts
            left_out.append(str(reason))
            print_note(f"left out: {reason}")
    if len(left_out) == len(PROTOCOLS):
        raise InputError(f"no protocol can use these answers: {left_out[-1]}")
    return max(codes)


def texts_of(common: RunFlags, plan: Protocol, options: Any) -> Iterator[tuple[TextsOf, Job]]:
    """Yield the texts of each model in files of texts, and how they are measured."""
    if common.data:
        raise InputError("--answers replaces --data: leave --data out")
    if not common.model:
        options = dataclasses.replace(options, modes="none")
    models = texts_by_model(common.answers, common.columns)
    lacking = [lacking_claims(own, options) for own in models]
    if lacking and all(lacking):
        raise Unsuited(lacking[0])
    job = dataclasses.replace(common.job(plan.name, options), data="texts", model=common.model)
    for own in models:
        folder = (
            place_inside(common.out, slug(own.system.name))
            if common.out and len(models) > 1
            else common.out
        )
        yield own, dataclasses.replace(job, out=folder)


class ShowOptions(NamedTuple):
    """How a finished run is shown, and which files of its figures are written.

    ``quiet``: its numbers are not printed; without ``notices`` nothing at all.
    """

    json: bool = False
    quiet: bool = False
    verbose: bool = False
    notices: bool = True
    figures: Wanted = Wanted()


def _shown(common: RunFlags, several: bool) -> ShowOptions:
    """Return how a run is shown: of several, only what all of them say."""
    return ShowOptions(common.json, several, common.verbose, not several, common.files)


def _measure(texts: TextsOf, job: Job, common: RunFlags, several: bool) -> Result:
    """Measure the texts of one model."""
    with Bars() as bars:
        result = measure_texts(texts, job, progress=bars)
        page = _page_of(result, bars)
    _finish(result, page, _shown(common, several))
    return result


def _show_plans(plans: Sequence[RunEstimate], *, json: bool) -> None:
    if json:
        print(json_text(plans if len(plans) > 1 else plans[0]))
        return
    for plan in plans:
        if len(plans) > 1:
            print(f"{plan.model}:")
        print(plan_text(plan))
    if len(plans) > 1:
        print(total_text(total_of(plans)))


#: folders of runs that are named
MOST_LISTED = 8


def _show_runs(done: Sequence[Result], out: Path | None, *, json: bool) -> None:
    """Print the main numbers of several models, a row for each."""
    if json:
        named = {
            r.manifest.shown_model: [msgspec.structs.asdict(e) for e in r.estimates] for r in done
        }
        print(json_text(named))
        return
    console, table = Console(), plain_table()
    shared = [n for n in done[0].manifest.notices if all(n in r.manifest.notices for r in done)]
    for notice in shared:
        print_note(notice)
    print_note("cautions about one model alone are on the page of its run")
    rows = [summary_of(result) for result in done]
    heads = list(dict.fromkeys(f"{what}, {of}" for row in rows for what, of, _ in row.rows))
    table.add_column("model")
    for head in heads:
        table.add_column(safe_text(head, console), justify="right")
    for result, row in zip(done, rows, strict=True):
        values = {f"{what}, {of}": value for what, of, value in row.rows}
        cells = [result.manifest.shown_model, *(values.get(head, "–") for head in heads)]
        table.add_row(*(safe_text(cell, console) for cell in cells))
    console.print(table)
    folders = [out] if out is not None else [result.path for result in done]
    listed = shlex.join(str(folder) for folder in folders[:MOST_LISTED])
    more = " …" * (len(folders) > MOST_LISTED)
    told = f"{len(done)} runs; on one page, with ranks: sayso study {line(listed, 1_000)}{more}"
    say(console, told, "", copied=True)


@run_app.default
def run_all(*, common: Shared = NO_FLAGS) -> int:
    """Run every protocol with its own defaults; each gets a folder in --out.

    They share one pool of answers: the cache has for the next what one has asked.
    """
    _check_folder(common.out)
    if common.answers:
        return _run_all_answers(common)
    tell(f"running {', '.join(PROTOCOLS)}")
    results: dict[str, object] = {}
    done: list[Result] = []
    left_out: list[str] = []
    plans: list[RunEstimate] = []
    seen: set[bytes] = set()
    jobs, period = with_period(list(_job_of_each(common)))
    for job in jobs:
        name = job.protocol
        try:
            if common.dry_run:
                if not common.json:
                    print(f"{name}:")
                plans.append(_estimate(job, seen))
                results[name] = msgspec.to_builtins(plans[-1])
                if not common.json:
                    print(plan_text(plans[-1]))
                continue
            quiet = not common.verbose or common.json
            done.append(_run(job, ShowOptions(False, quiet, common.verbose, figures=common.files)))
            results[name] = [msgspec.structs.asdict(e) for e in done[-1].estimates]
        except Unsuited as reason:
            left_out.append(str(reason))
            tell(f"left out: {reason}")
    if period is not None and not common.dry_run:
        period.end()
    if done:
        _summarise(done, left_out, quiet=common.json)
    if common.json:
        print(json_text(results))
    elif common.dry_run:
        print(
            "Requests that several protocols share are paid for once and counted for the first "
            "of them."
        )
        print(total_text(total_of(plans)))
    return _exit_code(done)


def _job_of_each(common: RunFlags) -> Iterator[Job]:
    """Yield a job for each protocol, in a folder of its own."""
    for name, plan in PROTOCOLS.items():
        out = place_inside(common.out, name) if common.out is not None else None
        yield dataclasses.replace(common, out=out).job(name, plan.Settings())


#: the page over the runs of all protocols
INDEX = "index.html"


def _check_folder(out: Path | None) -> None:
    """Refuse a run folder as the folder of several runs: theirs would lie inside it."""
    if out is not None and RunFolder.exists(out):
        held = ", ".join(RunFolder.open(out).read_manifest().protocols)
        raise InputError(
            f"{out}: contains a run of {held}, but every protocol needs its own folder in --out; "
            f"choose another --out, or resume that run: sayso run {held}"
        )
    if out is not None and out.is_dir():
        strange = [file.name for file in out.iterdir() if file.is_file() and file.name != INDEX]
        if strange:
            raise InputError(
                f"{out} is not empty and is not a folder of runs (it contains {min(strange)!r}): "
                "choose "
                "another --out"
            )


def _summarise(done: Sequence[Result], left_out: Sequence[str], *, quiet: bool) -> None:
    """Write the page that links the reports, and print the main numbers of all unless ``quiet``."""
    summaries = [summary_of(result) for result in done]
    place = done[0].path.parent / INDEX
    manifest = done[0].manifest
    text = index_page(summaries, manifest, left_out, place, shown_examples(done[0]))
    written = write_index(place, text)
    if written is None:
        print_note(f"{place} was not written by sayso: it is kept, and no index page is written")
    if not quiet:
        render_summaries(summaries, manifest, Console(), written)


def _estimate(job: Job, seen: set[bytes] | None = None) -> RunEstimate:
    """Price a job; what takes long is told."""
    with Bars() as bars:
        return estimate_job(job, seen, bars)


def _price(job: Job, *, json: bool) -> int:
    """Price a job, and print what it would ask."""
    plan = _estimate(job)
    print(json_text(plan) if json else plan_text(plan))
    return 0


def _run(job: Job, shown: ShowOptions) -> Result:
    """Run a job, write its page and its figures, and print its numbers."""
    with Bars() as bars:
        result = execute_job(job, bars)
        page = _page_of(result, bars)
    _finish(result, page, shown)
    return result


def measure(
    run: Path,
    /,
    *,
    json: Annotated[bool, Parameter(negative="")] = False,
    verbose: Annotated[bool, Parameter(negative="")] = False,
    settings: Measurable = measurable_settings()(),  # noqa: B008 - frozen
) -> None:
    """Recompute a run's numbers, optionally with other counting rules. Asks no model or judge.

    You cannot change settings that affect requests, except to use fewer samples (--probe.k 3).

    Parameters
    ----------
    run
        A run folder.
    json
        Print every number as JSON instead of the table.
    verbose
        Also print what was not computed, and why.
    """
    result = measure_run(run, chosen_settings(settings, settings_kind(run)))
    show(result, json=json, page=None, verbose=verbose)
    if not result.saved and not json:
        print("measured with other settings: printed only; the run's own numbers are unchanged")


def report(
    run: Path,
    /,
    *,
    beside: Annotated[tuple[Path, ...], Parameter(negative="", show_default=False)] = (),
    figures: Figures = "",
    figure_width: FigureWidth = "",
) -> None:
    """Write report.html of a finished run or training again, and files of its charts.

    Parameters
    ----------
    run
        A run folder.
    beside
        Another faithfulness run, added as a column to the tables of methods and models;
        repeatable.
    """
    files = wanted(figures, figure_width)
    if is_training(run):
        print(write_training_page(run))
        if files.formats:
            note_figures(write_training_figures(run, files), run / FIGURES)
        if text := unfinished(read_training(run)):
            print(f"sayso: {text}", file=sys.stderr)
        return
    print(reports.write(run, beside))
    if files.formats:
        note_figures(reports.write_figures(run, files), run / FIGURES)


@dataclasses.dataclass(frozen=True)
class Comparing:
    """The flags of ``sayso compare``."""

    json: Annotated[bool, Parameter(help="Print the differences as JSON.", negative="")] = False
    allow: Annotated[
        tuple[str, ...],
        Parameter(
            help="Settings that may differ besides the model, such as --allow judge.",
            negative="",
            show_default=False,
        ),
    ] = ()
    resamples: Annotated[int, Parameter(help="Bootstrap resamples of entities.")] = 2000
    seed: Annotated[int, Parameter(help="Seed for resampling.")] = 0
    stage: Annotated[
        Literal["sft", "dpo", "rl"] | None,
        Parameter(help="For two trainings: the stage to compare; default: the last of each."),
    ] = None
    base: Annotated[
        Path | None,
        Parameter(help="For two trainings: the new location of their base run."),
    ] = None


def compare(
    a: Path,
    b: Path,
    /,
    *more: Path,
    flags: Annotated[Comparing, Parameter(name="*")] = Comparing(),
) -> None:
    """Print what changes from run A to run B on the questions both asked, with paired intervals.

    Of more than two runs: every number by run, ranks, and which pairs differ (see sayso study).

    Parameters
    ----------
    a
        A run folder, or an output folder of sayso train.
    b
        Another folder of the same kind.
    more
        Further run folders.
    """
    if more:
        _compare_many((a, b, *more), flags)
        return
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
        render_compare(
            with_tests(result.estimates, result.tests),
            Console(),
            sides_of(a, b),
            number_words(PROTOCOLS[result.protocol].report),
            result.notes,
            result.compared,
        )


def _compare_many(runs: Sequence[Path], flags: Comparing) -> None:
    """Print a study of some runs."""
    if flags.stage is not None or flags.base is not None:
        raise InputError("--stage and --base are for two trainings; leave them out")
    options = {"resamples": flags.resamples, "seed": flags.seed, "allow": flags.allow}
    found = of_folders(runs, **options)
    if flags.json:
        print(json_text(found.table()))
    else:
        render_study(found, Console())


def _page_of(result: Result, bars: Bars) -> Path | None:
    """Write the page of a run; return its file."""
    bars.doing("writing the page")
    return reports.write(result.path)


def _finish(result: Result, page: Path | None, shown: ShowOptions) -> None:
    """Print a run's notices, write its figures, and print the result with its page."""
    for notice in result.manifest.notices if shown.notices else ():
        print_note(notice)
    if not shown.quiet:
        show(result, json=shown.json, page=page, verbose=shown.verbose)
    if shown.figures.formats:
        written = reports.write_figures(result.path, shown.figures)
        note_figures(written, result.path / FIGURES)


def show(result: Result, *, json: bool, page: Path | None, verbose: bool = False) -> None:
    """Print a finished run as a table, or every number of it as JSON."""
    if json:
        print(json_text([msgspec.structs.asdict(e) for e in result.estimates]))
    else:
        reports.render_run(
            result.estimates,
            Console(),
            result.manifest,
            page,
            entities=result.entities,
            verbose=verbose,
        )


@dataclasses.dataclass(frozen=True)
@with_flags()
class Factuality:
    """The flags of ``sayso factuality``."""

    model: Annotated[
        str,
        Parameter(
            help="a model to ask whether each labeled claim is true: builtin, hf:NAME, openai:NAME "
            "or an endpoint's URL; default: none"
        ),
    ] = ""
    out: Annotated[Path | None, Parameter(help="run folder; default: under runs/")] = None
    knowledge: Annotated[
        str,
        Parameter(
            help="source for checking claims: a file or folder of passages, an index from sayso "
            "index, or builtin; default: only the file's labels count"
        ),
    ] = "none"
    passages: Annotated[int, Parameter(help="passages shown with each claim")] = 5
    judge: Annotated[
        str,
        Parameter(
            help="judge, which splits texts into claims, checks them and writes questions: rules "
            "(offline) or a model"
        ),
    ] = "rules"
    columns: Annotated[
        str,
        Parameter(help="your column names: topic=person,text=biography"),
    ] = ""
    modes: Annotated[
        str,
        Parameter(
            help="with --model: ask whether the claim is true (direct), whether it answers a "
            "question (qa), or the latter with the option none of the above (qa_none)"
        ),
    ] = "direct,qa,qa_none"
    orders: Annotated[
        Literal["all", "first"],
        Parameter(
            help="with --model: average over all orders of the options, or use only the paper's "
            "order"
        ),
    ] = "all"
    questions: Annotated[
        Literal["auto", "rules", "judge"],
        Parameter(
            help="with --model: what turns claims into questions: rules or the judge's model; "
            "auto: the model, if any"
        ),
    ] = "auto"
    noa: Annotated[
        Literal["incorrect", "b_only", "missing"],
        Parameter(
            help="how the answer none of the above to a false claim counts: as recognized "
            "(incorrect), as not recognized (b_only), or not at all (missing)"
        ),
    ] = "incorrect"
    support: Annotated[
        Literal["auto", "rules", "nli", "judge"],
        Parameter(help="claim checker: rules, an NLI model (--nli) or the judge's model"),
    ] = "auto"
    nli: Annotated[str, Parameter(help="NLI model for --support nli: a folder or hub id")] = "auto"
    average: Annotated[
        Literal["sentence", "generation", "micro"],
        Parameter(
            help="how curves are averaged: over sentences, over the texts' means, or over all "
            "claims"
        ),
    ] = "sentence"
    bins: Annotated[
        int,
        Parameter(
            help="number of parts into which a text is divided, with equal numbers of sentences"
        ),
    ] = 5
    closed: Annotated[
        Literal["right", "left"], Parameter(help="which edge of each part is included")
    ] = "right"
    gamma: Annotated[
        float, Parameter(help="number of claims below which FActScore's length penalty applies")
    ] = 10.0
    k: Annotated[
        int,
        Parameter(
            help="K of F1@K, the desired number of facts; 0: the median number of supported claims"
        ),
    ] = 0
    resamples: Annotated[int, Parameter(help="bootstrap resamples of texts")] = 1000
    seed: Annotated[int, Parameter(help="seed for resampling")] = 0
    prompt_folder: Annotated[Path | None, Parameter(help="folder with your own prompts")] = None
    cache: Annotated[
        Path | None,
        Parameter(help="folder of stored replies; default: SAYSO_CACHE, or your cache folder"),
    ] = None
    thinking: Annotated[
        str,
        Parameter(
            help="with --model: on, off, an effort (low, medium, high), or a token budget for "
            "reasoning; default: the model's own"
        ),
    ] = ""
    dry_run: Annotated[
        bool,
        Parameter(
            negative="", help="print requests, tokens and price; send nothing and write no run"
        ),
    ] = False
    max_cost: Annotated[
        float | None,
        Parameter(
            group=ENDPOINT,
            help="stop after this many dollars for model and judge; everything paid for is kept, "
            "and the same command resumes",
        ),
    ] = None
    price: Annotated[
        str | None,
        Parameter(
            group=ENDPOINT,
            help="for the model: dollars per million prompt and answer tokens (0.15,0.60)",
        ),
    ] = None
    judge_price: Annotated[
        str | None,
        Parameter(
            group=ENDPOINT,
            help="for the judge: dollars per million prompt and answer tokens (0.15,0.60)",
        ),
    ] = None
    json: Annotated[
        bool, Parameter(help="print every number as JSON instead of the table", negative="")
    ] = False
    opening: ModelOptions = ModelOptions()

    @property
    def settings(self) -> self_known.Settings:
        """Settings of a run that asks no model for its texts."""
        own = ("knowledge", "passages", "support", "nli", "average", "bins", "closed", "gamma", "k",
               "resamples", "orders", "questions", "noa")  # fmt: skip
        return dataclasses.replace(
            self_known.Settings(),
            **{name: getattr(self, name) for name in own},
            ci_seed=self.seed,
            modes=self.modes if self.model else "none",
            prompt_folder=str(self.prompt_folder or ""),
        )

    @property
    def job(self) -> Job:
        """What is measured, and who is asked."""
        own = ("model", "judge", "out", "cache", "max_cost", "price", "judge_price", "thinking")
        return Job(
            **{name: getattr(self, name) for name in own},
            **dataclasses.asdict(self.opening),
            protocol="self_known",
            data="texts",
            options=self.settings,
            command=shlex.join(["sayso", *sys.argv[1:]]),
        )


def factuality(
    *files: Annotated[
        Path,
        Parameter(
            help="files of long texts, one system per file (.jsonl, .json or .parquet). Columns: "
            "the text (text, output, response or answer), its subject (topic, entity or title; "
            "else prompt) and, optionally, claims with human labels. FActScore's labeled files "
            "work unchanged"
        ),
    ],
    flags: Annotated[Factuality, Parameter(name="*")] = Factuality(),
) -> int:
    """Measure how accurate long texts are, and how this changes from start to end.

    Human labels in the file are used as they are. Other texts are split into claims, which are
    checked against --knowledge. With both, the checker is compared with people. With --model, a
    model is asked about every labeled claim, to see whether it recognizes the errors.
    """
    print_note(
        "factuality is now `sayso run self_known --answers FILES`, with a run for each system; "
        "the next release removes this name"
    )
    if flags.dry_run:
        plan = price_texts(files, flags.job, flags.columns)
        print(json_text(plan) if flags.json else plan_text(plan))
        return 0
    with Bars() as bars:
        result = measure_texts(files, flags.job, flags.columns, bars)
        page = _page_of(result, bars)
    _finish(result, page, ShowOptions(flags.json))
    return _exit_code([result])

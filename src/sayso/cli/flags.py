"""The flags of ``sayso run``, ``study``, ``measure``, ``compare`` and ``assert`` as structs."""

from __future__ import annotations

import dataclasses
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta

from sayso import harmless
from sayso.engines.providers import OF_PROVIDERS
from sayso.later import Later
from sayso.options import (
    OPTIONS,
    AskingOptions,
    CacheOptions,
    JudgingOptions,
    LogprobKind,
    ModelOptions,
    QuestionOptions,
    RayOptions,
    SpendingOptions,
    flag,
    like,
    option,
    option_names,
)
from sayso.records import InputError

if TYPE_CHECKING:
    from sayso.datasets import own_table
    from sayso.report import formats
    from sayso.runs import job as jobs
    from sayso.runs import recorded
else:  # loaded when a command is carried out
    own_table = Later("sayso.datasets.own_table")
    formats = Later("sayso.report.formats")
    jobs = Later("sayso.runs.job")
    recorded = Later("sayso.runs.recorded")


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShownFlags:
    """How results are printed."""

    json: bool = flag(False, "print every number as JSON instead of the table")
    verbose: bool = flag(
        False,
        "also print every other table of the page, all cautions and the signatures",
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class FigureFlags:
    """Charts of a page as files."""

    figures: str = flag(
        "",
        "also save the charts of the page as files: svg, pdf, png or json (the Vega-Lite "
        "specification), or several (svg,pdf)",
    )
    figure_width: str = option(
        "",
        "width of the figures: column (3.33 in), page (6.75 in, the default), or a length such as "
        "8.4cm",
    )

    @property
    def files(self) -> formats.Wanted:
        """Return which files of figures are wanted. Raises InputError."""
        return formats.wanted(self.figures, self.figure_width)


@dataclasses.dataclass(frozen=True, kw_only=True)
class FileFlags:
    """How tables of people are read."""

    columns: str = flag(
        "",
        "with --data file:FILE or --answers: your column names, such as question=q,gold=answer",
    )
    logprobs: LogprobKind | None = option(
        None,
        "with --answers: kind of log-probabilities in the files: natural is the only kind "
        "accepted, and none ignores them",
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunFlags(
    ShownFlags,
    FigureFlags,
    RayOptions,
    JudgingOptions,
    CacheOptions,
    ModelOptions,
    SpendingOptions,
    AskingOptions,
    QuestionOptions,
    FileFlags,
):
    """The flags of every ``sayso run``."""

    model: str = flag(
        "",
        "default: builtin. Others: builtin-trained (the same model, trained to admit what it does "
        "not know); smollm2 (a small real model); hf:FOLDER or hf:HUB_ID (a causal language "
        "model); gguf:FILE (run by llama.cpp); vllm:HUB_ID; ollama:NAME (a model of the Ollama "
        f"server on this machine); {OF_PROVIDERS}; or an endpoint's URL, "
        "http://localhost:8000/v1#NAME (without #NAME: its only model)",
    )
    data: str = flag(
        "",
        "default: world (questions about the real world), or builtin (an invented world) for the "
        "built-in model and models trained from it. Or the name of a published set (sayso data "
        "list); a file in UNCLE's format; squad:FILE, a file in another set's format; file:FILE, "
        "your own table; topics:FILE, topics to write about",
    )
    answers: tuple[Path, ...] = flag(
        (),
        "files of existing answers, instead of --model and --data; makes one run per name in the "
        "column model, or per file (docs/answers.md)",
        many=True,
    )
    judge: str = flag(
        "rules",
        "judge of the answers: rules (offline); a model, as for --model; rules+MODEL, which asks "
        "the model only if the rules are unsure; or people, to use the human verdicts in the "
        "--answers file",
    )
    out: Path | None = flag(None, "run folder; default: under runs/")
    name: str = flag("", "the model's name on pages and in tables")
    dry_run: bool = flag(False, "print requests, tokens and price; send nothing and write no run")
    pilot: Annotated[int, Meta(ge=1, le=10_000)] | None = flag(
        None,
        "a dry run after asking about so many entities of the run (5 suit; more, up to 8 times as "
        "many, while the price's range is wider than 2x): the run finds the answers in the cache",
        "endpoint",
    )

    def job(self, protocol: str, options: Any) -> jobs.Job:
        """Return the job that these flags describe."""
        if self.logprobs is not None and not self.answers:
            raise InputError("logprobs is only for --answers; leave it out")
        return jobs.Job(
            **{name: getattr(self, name) for name in option_names(*OPTIONS)},
            protocol=protocol,
            model=self.model or "builtin",
            data=own_table.name_with_columns(self.data, "" if self.answers else self.columns),
            judge=self.judge,
            out=self.out,
            name=self.name,
            options=options,
            command=shlex.join(["sayso", *sys.argv[1:]]),
        )

    def recorded_jobs(self, protocol: str, options: Any) -> list[jobs.Job]:
        """Return a job for each model in the files of answers. Raises InputError."""
        if self.data:
            raise InputError("--answers replaces --data: leave --data out")
        models = recorded.open_answers(self.answers, self.columns, self.logprobs)
        if self.model:
            names = [model.name for model in models]
            if self.model not in names:
                raise InputError(
                    f"--model {self.model}: with --answers expected one of the models in the "
                    "files: "
                    f"{harmless.line(', '.join(names), 300)}"
                )
            models = [model for model in models if model.name == self.model]
        return jobs.recorded_jobs(self.job(protocol, options), models)


@dataclasses.dataclass(frozen=True, kw_only=True)
class CompareFlags:
    """The flags of ``sayso compare``."""

    json: bool = like(ShownFlags, "json", help="print the differences as JSON")
    allow: tuple[str, ...] = flag(
        (), "settings that may differ besides the model, such as --allow judge"
    )
    resamples: int = option(2000, "bootstrap resamples of entities")
    seed: int = option(0, "seed for resampling")
    assertions: tuple[str, ...] = flag(
        (),
        "an assertion about the difference, such as 'J[short] not worse by .05'; repeatable. "
        "Prints verdicts, with the exit codes of sayso assert",
        flag="--assert --assertions",
        adds=True,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class GateFlags:
    """What ``sayso assert`` and ``sayso compare --assert`` do with verdicts."""

    junit: Path | None = flag(
        None,
        "write the verdicts to this file as JUnit XML (cannot say yet: skipped)",
    )
    markdown: Path | None = flag(
        None, "write them to this file as a Markdown table, for a pull request"
    )
    strict: bool = flag(False, 'treat "cannot say yet" as a failure (exit code 1)')
    allow_cache: bool = flag(False, "accept answers from the cache about a model at an endpoint")
    raw: bool = flag(
        False, "decide on the judge's numbers, also where labels of people correct them"
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class AssertFlags(GateFlags):
    """The flags of ``sayso assert``."""

    assertions: tuple[str, ...] = flag(
        (), "more assertions; in a --config file, a list", many=True, adds=True
    )
    json: bool = like(ShownFlags, "json", help="print the verdicts as JSON")


@dataclasses.dataclass(frozen=True, kw_only=True)
class StudyKeys(
    CacheOptions,
    ModelOptions,
    SpendingOptions,
    JudgingOptions,
    RayOptions,
    AskingOptions,
    QuestionOptions,
    FileFlags,
):
    """What a study is made of: the keys of its YAML file, but for entries of their own."""

    models: tuple[str, ...] = flag((), "models, named as for sayso run", many=True)
    data: tuple[str, ...] = flag(
        (),
        "data sets, named as for sayso run; default: the set that fits the models",
        many=True,
    )
    protocols: tuple[str, ...] = flag((), "protocols; default: all", many=True)
    prompt_folders: tuple[str, ...] = flag(
        (),
        "folders with your own prompts, or sayso's wording-1 to wording-4: every run once in the "
        "words of each",
        many=True,
    )
    sampling_seeds: tuple[int, ...] = option(
        (),
        "seeds of the models' samples: every run once with each, on the same entities",
        many=True,
    )
    answers: tuple[str, ...] = flag(
        (),
        "files of existing answers instead of data (docs/answers.md); --models then selects from "
        "the models in them",
        many=True,
    )
    out: Path | None = flag(
        None, "folder for the page, the tables and the runs; default: under studies/"
    )
    judge: str | None = flag(None, "the judge, as for sayso run")


@dataclasses.dataclass(frozen=True, kw_only=True)
class StudyFlags(ShownFlags, FigureFlags):
    """How ``sayso study`` counts and shows a study."""

    layout: tuple[str, ...] = flag(
        (),
        "print tables or figures in the layout of a paper (see --layouts), and add them to the "
        "page",
        many=True,
    )
    layouts: bool = flag(False, "list the available layouts")
    intervals: Literal["brackets", "plusminus", "none"] = option(
        "brackets", "how the LaTeX tables show 95 % intervals; plusminus: ± half the width"
    )
    allow: tuple[str, ...] = flag(
        (), "settings that may differ between runs, such as judge", many=True
    )
    raw: bool = option(
        False, "rank by the judge's numbers, also where labels of people correct them"
    )
    resamples: int = option(1000, "bootstrap resamples of entities")
    dry_run: bool = like(RunFlags, "dry_run")
    pilot: Annotated[int, Meta(ge=1, le=10_000)] | None = like(RunFlags, "pilot", main=False)

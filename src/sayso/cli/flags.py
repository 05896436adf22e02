"""The flags of every ``sayso run``, and the settings that ``sayso measure`` can change."""

from __future__ import annotations

import dataclasses
import functools
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

from cyclopts import Group, Parameter

from sayso import harmless
from sayso.cli.help import (
    MORE,
    Figures,
    FigureWidth,
    of_one,
    rare,
    with_flags,
)
from sayso.later import Later
from sayso.options import (
    AskingOptions,
    CacheOptions,
    JudgingOptions,
    LogprobKind,
    ModelOptions,
    QuestionOptions,
    RayOptions,
    SpendingOptions,
)
from sayso.protocols import PROTOCOLS, settings
from sayso.protocols.protocol import Protocol
from sayso.records import InputError

if TYPE_CHECKING:
    from sayso.datasets import own_table
    from sayso.report import formats
    from sayso.report.formats import Wanted
    from sayso.runs import job as jobs
    from sayso.runs import recorded
    from sayso.runs.job import Job
else:  # loaded when a command is carried out
    own_table, recorded = Later("sayso.datasets.own_table"), Later("sayso.runs.recorded")
    formats = Later("sayso.report.formats")
    jobs = Later("sayso.runs.job")

SETTINGS = Group("Settings of this protocol", sort_key=1)
DETAILS = rare("Settings in detail", sort_key=4)
COUNTING = rare("Counting rules, which sayso measure can change later", sort_key=5)


@dataclasses.dataclass(frozen=True)
@with_flags()
class RunFlags:
    """The flags of every ``sayso run``."""

    model: Annotated[
        str,
        Parameter(
            help="default: builtin. Others: builtin-trained (the same model, trained to admit what "
            "it does not know); smollm2 (a small real model); hf:FOLDER or hf:HUB_ID (a causal "
            "language model); gguf:FILE (run by llama.cpp); vllm:HUB_ID; ollama:NAME (a model of "
            "the Ollama server on this machine); openai:NAME; or an endpoint's URL, "
            "http://localhost:8000/v1#NAME (without #NAME: its only model)"
        ),
    ] = ""
    data: Annotated[
        str,
        Parameter(
            help="default: world (questions about the real world), or builtin (an invented world) "
            "for the built-in model and models trained from it. Or the name of a published set "
            "(sayso data list); a file in UNCLE's format; squad:FILE, a file in another set's "
            "format; file:FILE, your own table; topics:FILE, topics to write about"
        ),
    ] = ""
    answers: Annotated[
        tuple[Path, ...],
        Parameter(
            consume_multiple=True,
            negative="",
            show_default=False,
            help="files of existing answers, instead of --model and --data; makes one run per name "
            "in the column model, or per file (docs/answers.md)",
        ),
    ] = ()
    columns: Annotated[
        str,
        Parameter(
            group=MORE,
            help="with --data file:FILE or --answers: your column names, such as "
            "question=q,gold=answer",
        ),
    ] = ""
    logprobs: Annotated[
        LogprobKind | None,
        Parameter(
            group=MORE,
            help="with --answers: kind of log-probabilities in the files: natural is the only kind "
            "accepted, and none ignores them",
        ),
    ] = None
    judge: Annotated[
        str,
        Parameter(
            help="judge of the answers: rules (offline); a model, as for --model; rules+MODEL, "
            "which asks the model only if the rules are unsure; or people, to use the human "
            "verdicts in the --answers file"
        ),
    ] = "rules"
    out: Annotated[Path | None, Parameter(help="run folder; default: under runs/")] = None
    name: Annotated[
        str,
        Parameter(help="the model's name on pages and in tables"),
    ] = ""
    asked: QuestionOptions = QuestionOptions()
    asking: AskingOptions = AskingOptions()
    json: Annotated[
        bool, Parameter(help="print every number as JSON instead of the table", negative="")
    ] = False
    verbose: Annotated[
        bool,
        Parameter(
            help="also print every other table of the page, all cautions and the signatures; "
            "without a protocol, print all tables instead of a summary",
            negative="",
        ),
    ] = False
    figures: Figures = ""
    figure_width: FigureWidth = ""
    dry_run: Annotated[
        bool,
        Parameter(
            negative="",
            help="print requests, tokens and price; send nothing and write no run",
        ),
    ] = False
    stored: CacheOptions = CacheOptions()
    opening: ModelOptions = ModelOptions()
    spending: SpendingOptions = SpendingOptions()
    judging: JudgingOptions = JudgingOptions()
    ray: RayOptions = RayOptions()

    @property
    def files(self) -> Wanted:
        """Return which files of figures are wanted. Raises InputError."""
        return formats.wanted(self.figures, self.figure_width)

    def job(self, protocol: str, options: Any) -> Job:
        """Return the job that these flags describe."""
        if self.logprobs is not None and not self.answers:
            raise InputError("--logprobs is only for --answers; leave it out")
        parts = (self.asked, self.asking, self.stored, self.opening, self.spending, self.judging)
        own = {k: v for part in (*parts, self.ray) for k, v in dataclasses.asdict(part).items()}
        return jobs.Job(
            **own,
            protocol=protocol,
            model=self.model or "builtin",
            data=own_table.name_with_columns(self.data, "" if self.answers else self.columns),
            judge=self.judge,
            out=self.out,
            name=self.name,
            options=options,
            command=shlex.join(["sayso", *sys.argv[1:]]),
        )

    def recorded_jobs(self, protocol: str, options: Any) -> list[Job]:
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
    assertions: Annotated[
        tuple[str, ...],
        Parameter(
            name=("--assert", "--assertions"),
            help="An assertion about the difference, such as 'J[short] not worse by .05'; "
            "repeatable. Prints verdicts, with the exit codes of sayso assert.",
            negative="",
            show_default=False,
        ),
    ] = ()


@dataclasses.dataclass(frozen=True)
class GateFlags:
    """What ``sayso assert`` and ``sayso compare --assert`` do with verdicts."""

    junit: Annotated[
        Path | None,
        Parameter(help="write the verdicts to this file as JUnit XML (cannot say yet: skipped)"),
    ] = None
    markdown: Annotated[
        Path | None,
        Parameter(help="write them to this file as a Markdown table, for a pull request"),
    ] = None
    strict: Annotated[
        bool,
        Parameter(help='treat "cannot say yet" as a failure (exit code 1)', negative=""),
    ] = False
    allow_cache: Annotated[
        bool,
        Parameter(help="accept answers from the cache about a model at an endpoint", negative=""),
    ] = False
    raw: Annotated[
        bool,
        Parameter(
            help="decide on the judge's numbers, also where labels of people correct them",
            negative="",
        ),
    ] = False

    @property
    def given(self) -> bool:
        """Whether any of them is given."""
        return self != NO_GATE_FLAGS


NO_GATE_FLAGS = GateFlags()


NameList = Annotated[
    tuple[str, ...], Parameter(consume_multiple=True, negative="", show_default=False)
]


@dataclasses.dataclass(frozen=True)
@with_flags(
    unset=True,
    helps={
        "limit": "number of entities per data set; 0: all",
        "max_cost": "stop the study after this many dollars",
    },
)
class StudyFlags:
    """The flags of ``sayso study``."""

    models: Annotated[NameList, Parameter(help="models, named as for sayso run")] = ()
    data: Annotated[
        NameList,
        Parameter(help="data sets, named as for sayso run; default: the set that fits the models"),
    ] = ()
    protocols: Annotated[NameList, Parameter(help="protocols; default: all")] = ()
    prompt_folders: Annotated[
        NameList,
        Parameter(
            help="folders with your own prompts, or sayso's wording-1 to wording-4: every run once "
            "in the words of each"
        ),
    ] = ()
    sampling_seeds: Annotated[
        tuple[int, ...],
        Parameter(
            consume_multiple=True,
            negative="",
            show_default=False,
            help="seeds of the models' samples: every run once with each, on the same entities",
        ),
    ] = ()
    answers: Annotated[
        NameList,
        Parameter(
            help="files of existing answers instead of data (docs/answers.md); --models then "
            "selects from the models in them"
        ),
    ] = ()
    columns: Annotated[
        str, Parameter(help="with --answers: your column names, such as question=q,gold=answer")
    ] = ""
    logprobs: Annotated[
        LogprobKind | None,
        Parameter(
            help="with --answers: kind of log-probabilities in the files: natural is the only kind "
            "accepted, and none ignores them"
        ),
    ] = None
    out: Annotated[
        Path | None,
        Parameter(help="folder for the page, the tables and the runs; default: under studies/"),
    ] = None
    asked: QuestionOptions = QuestionOptions()
    judge: Annotated[str | None, Parameter(help="the judge, as for sayso run")] = None
    layout: Annotated[
        NameList,
        Parameter(
            help="print tables or figures in the layout of a paper (see --layouts), and add "
            "them to the page"
        ),
    ] = ()
    layouts: Annotated[bool, Parameter(help="list the available layouts", negative="")] = False
    figures: Figures = ""
    figure_width: FigureWidth = ""
    intervals: Annotated[
        Literal["brackets", "plusminus", "none"],
        Parameter(help="how the LaTeX tables show 95 % intervals; plusminus: ± half the width"),
    ] = "brackets"
    allow: Annotated[
        NameList, Parameter(help="settings that may differ between runs, such as judge")
    ] = ()
    raw: Annotated[
        bool,
        Parameter(
            help="rank by the judge's numbers, also where labels of people correct them",
            negative="",
        ),
    ] = False
    resamples: Annotated[int, Parameter(help="bootstrap resamples of entities")] = 1000
    dry_run: Annotated[
        bool,
        Parameter(help="print requests, tokens and price of all cells; send nothing", negative=""),
    ] = False
    json: Annotated[bool, Parameter(help="print every number as JSON", negative="")] = False
    verbose: Annotated[
        bool, Parameter(help="also print every other table of the page", negative="")
    ] = False
    stored: CacheOptions = CacheOptions()
    opening: ModelOptions = ModelOptions()
    spending: SpendingOptions = SpendingOptions()
    judging: JudgingOptions = JudgingOptions()
    ray: RayOptions = RayOptions()

    def spec(self) -> dict[str, Any]:
        """Return the study that the flags describe, as a file would."""
        parts = (self.asked, self.stored, self.opening, self.spending, self.judging, self.ray)
        given = {k: v for part in parts for k, v in dataclasses.asdict(part).items()}
        given |= {"out": self.out, "judge": self.judge}
        given = {name: value for name, value in given.items() if value is not None}
        names = ("models", "data", "protocols", "prompt_folders", "sampling_seeds", "answers")
        lists = {n: list(v) for n in names if (v := getattr(self, n))}
        of_answers = {n: v for n in ("columns", "logprobs") if (v := getattr(self, n))}
        return {**given, **lists, **of_answers}


def _flagged(
    kind: type, flag: Callable[[str, dataclasses.Field[Any]], Parameter], prefix: str = ""
) -> Any:
    """Return a copy of a settings dataclass in which each field is the flag that ``flag`` makes.

    ``flag`` is called with a field's dotted name and the field.
    """
    hints = get_type_hints(kind)
    fields: list[Any] = []
    for field in dataclasses.fields(kind):
        hint: Any = hints[field.name]
        name, default = f"{prefix}{field.name}", field.default
        if dataclasses.is_dataclass(hint):
            hint = _flagged(hint, flag, f"{name}.")  # type: ignore[arg-type]
            fields.append((field.name, hint, dataclasses.field(default_factory=hint)))
            continue
        own = Annotated[hint, flag(name, field)]
        fields.append((field.name, own, dataclasses.field(default=default)))
    namespace = {"__doc__": "", "__module__": __name__}
    return dataclasses.make_dataclass(kind.__name__, fields, frozen=True, namespace=namespace)


@functools.cache
def protocol_settings(plan: Protocol) -> Any:
    """Return the flags of a protocol's settings; :func:`settings_in` turns them back.

    Plain help explains what is asked. How answers are counted can be changed later, and how often
    and how long a model is asked in each step is a detail, but for the number of draws.
    """

    def flag(name: str, field: dataclasses.Field[Any]) -> Parameter:
        group = SETTINGS
        if field.metadata["stage"] == "measure":
            group = COUNTING
        elif "." in name and field.name != "k":
            group = DETAILS
        return Parameter(group=group, help=field.metadata["help"])

    return _flagged(plan.Settings, flag)


def settings_in(given: Any, plan: Protocol) -> Any:
    """Return a protocol's settings from its flags."""
    return settings.replace(plan.Settings(), settings_of(given))


@functools.cache
def measurable_settings() -> Any:
    """Return flags of all protocols' settings whose help shows what ``sayso measure`` can change.

    The protocol of a run is known only when it is opened. A group or a field that several protocols
    have stands once; :func:`chosen_settings` refuses a field that the run's protocol does not have.
    The other fields are still read, so that each can be refused with its reason.
    """
    groups = {
        name: of_one(f"Runs of {name}", name, tuple(PROTOCOLS), number)
        for number, name in enumerate(PROTOCOLS, 1)
    }
    known = {name: settings.as_dict(plan.Settings()) for name, plan in PROTOCOLS.items()}

    def flag(name: str, field: dataclasses.Field[Any]) -> Parameter:
        shown = _can_change(name, field.metadata["stage"])
        of = tuple(group for protocol, group in groups.items() if name in known[protocol])
        # the run's own settings are the defaults, whatever the protocol's are
        return Parameter(group=of, show=shown, help=field.metadata["help"], show_default=False)

    return _flagged(_merged(tuple(plan.Settings for plan in PROTOCOLS.values())), flag)


def _can_change(name: str, stage: str) -> bool:
    """Tell whether ``sayso measure`` can change a setting: fewer draws are among the others."""
    return stage == "measure" or name.rpartition(".")[2] == "k"


def _merged(kinds: tuple[type, ...]) -> type:
    groups: dict[str, list[type]] = {}
    fields: dict[str, Any] = {}
    for kind in kinds:
        hints = get_type_hints(kind)
        for field in dataclasses.fields(kind):
            hint = hints[field.name]
            if dataclasses.is_dataclass(hint):
                groups.setdefault(field.name, []).append(hint)  # type: ignore[arg-type]
            default = dataclasses.field(default=field.default, metadata=field.metadata)
            fields.setdefault(field.name, (field.name, hint, default))
    for name, parts in groups.items():
        merged = _merged(tuple(parts))
        fields[name] = (name, merged, dataclasses.field(default_factory=merged))
    return dataclasses.make_dataclass(
        kinds[0].__name__, fields.values(), frozen=True, namespace={"__doc__": ""}
    )


def chosen_settings(given: Any, kind: type) -> Any:
    """Return one protocol's settings from the flags of :func:`measurable_settings`.

    Raises InputError for a flag that this protocol does not have.
    """
    flat = settings_of(given)
    known = settings.as_dict(kind())
    for name, value in flat.items():
        if name not in known and value != settings_of(measurable_settings()())[name]:
            can = [n for n, _, stage in settings.flatten(kind()) if _can_change(n, stage)]
            raise InputError(
                f"{name} is not a setting of this run; measure can change {', '.join(can)}"
            )
    return settings.replace(kind(), {name: flat[name] for name in known})


def settings_of(given: Any, prefix: str = "") -> dict[str, Any]:
    """Return flat dotted names and values of a dataclass of flags."""
    flat: dict[str, Any] = {}
    for field in dataclasses.fields(given):
        value = getattr(given, field.name)
        if dataclasses.is_dataclass(value):
            flat |= settings_of(value, f"{prefix}{field.name}.")
        else:
            flat[f"{prefix}{field.name}"] = value
    return flat

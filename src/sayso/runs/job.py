"""What a run is to be: a :class:`Job`, and the folder that it has.

:func:`check` refuses what is wrong before anything is opened, :func:`open_folder` a folder that
holds another run.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from sayso import datasets, prompts
from sayso.datasets.columns import meant_as
from sayso.datasets.dataset import Dataset
from sayso.engines.absent import check_here
from sayso.engines.engine import Engine, check_engine
from sayso.engines.named import AnswerLimits, limits_of
from sayso.engines.ray.engine import RaySettings
from sayso.harmless import line
from sayso.judges.judge import Judge, engine_of
from sayso.judges.model.prompts import judge_prompt_uses
from sayso.later import Later
from sayso.options import (
    OPTIONS,
    AskingOptions,
    CacheOptions,
    JudgingOptions,
    ModelOptions,
    QuestionOptions,
    RayOptions,
    SpendingOptions,
    as_dict,
    change,
    check_values,
    fields_of,
    given,
    option_names,
    part,
    read_value,
)
from sayso.progress import Progress
from sayso.protocols import PROTOCOLS, protocol_named, settings
from sayso.protocols.protocol import Protocol, Step, Unsuited, setting_text
from sayso.records import InputError, Question, content_id
from sayso.runs.asking import (
    REQUEST_SETTINGS,
    CachedEngine,
    Shape,
    asking_settings,
    request_shaper,
)
from sayso.runs.costs import is_endpoint, is_local
from sayso.runs.freshness.ages import Period, ago
from sayso.runs.judge import (
    JudgeOptions,
    OpenJudge,
    check_given,
    check_judge,
    is_judge,
    judging_model,
)
from sayso.runs.measure import check_settings_mapping
from sayso.runs.recorded import PEOPLE, RecordedEngine, check_record, recorded_settings, slug
from sayso.runs.stages import now, prompt_parts
from sayso.runs.tools import RunTools, chosen_nli
from sayso.storage.atomic import check_outside_git, disk_errors, one_writer
from sayso.storage.cache import Cache, default_cache_folder
from sayso.storage.renamed import gone_and_asked
from sayso.storage.run_folder import FORMAT, Manifest, RunFolder, machine, versions
from sayso.version import __version__

if TYPE_CHECKING:
    from sayso.runs import texts as recorded_texts
    from sayso.runs.texts import TextsOf
else:  # few runs need them
    recorded_texts = Later("sayso.runs.texts")

#: most characters of a model's name on a page
LONGEST_NAME = 60


@dataclasses.dataclass(frozen=True, kw_only=True)
class Job(
    ModelOptions,
    AskingOptions,
    SpendingOptions,
    CacheOptions,
    JudgingOptions,
    QuestionOptions,
    RayOptions,
):
    """All settings of a run; see :func:`sayso.run`."""

    protocol: str = "uncle"
    model: str | Engine = "builtin"
    #: "": the set that fits the model, which :attr:`data_set` names
    data: str | Dataset = ""
    judge: str | Judge | Engine = "rules"
    out: str | Path | None = None
    options: Any = None
    name: str = ""
    #: long texts on record, about whose claims the model is asked: "" for nobody
    texts: TextsOf | None = None
    #: when the command of several jobs began, and since when it asks everything anew
    begun: float | None = None
    period: Period | None = None
    #: the seed of requests where it is not that of the entities: a study of sampling seeds
    sampling_seed: int | None = None
    #: options of its kind of model that no flag has
    model_options: Mapping[str, object] = dataclasses.field(default_factory=dict)
    command: str = ""

    def __post_init__(self) -> None:
        """Read the file of the system prompt, once: what is asked is what the manifest keeps."""
        if isinstance(self.system, PathLike | str) and self.system != "":
            object.__setattr__(self, "system", prompts.system_prompt(self.system))

    @property
    def plan(self) -> Protocol:
        """The protocol itself. Raises InputError for a name that is none."""
        return protocol_named(self.protocol)

    @property
    def data_set(self) -> str:
        """The name of the data set that is asked: the given one, else one that fits the model."""
        if isinstance(self.data, Dataset):
            return self.data.name
        return self.data or datasets.default_data(self.model)

    @property
    def request_seed(self) -> int:
        """The seed of the model's samples; that of the entities where no other one is set."""
        return self.seed if self.sampling_seed is None else self.sampling_seed

    @property
    def settings(self) -> Any:
        """The protocol's settings, with what they leave to the model (the longest answers), to the
        data and to this machine (``nli``) filled in."""
        chosen = settings.with_limits(self.options or self.plan.Settings(), self.limits)
        if self.texts is not None:
            return chosen
        chosen = chosen.fitted(self.data_set, self.limit)
        if getattr(chosen, "nli", None) == "auto":
            chosen = dataclasses.replace(chosen, nli=chosen_nli())
        if self.recorded is not None:
            chosen = recorded_settings(chosen, self.recorded, self.judge)
        return chosen

    @property
    def limits(self) -> AnswerLimits:
        """How long the model's answers may be where the settings leave it open."""
        if self.recorded is not None:
            return AnswerLimits()
        return limits_of(self.model if isinstance(self.model, str) else self.model.name)

    @property
    def recorded(self) -> RecordedEngine | None:
        """The model, where its answers are on record and nobody is asked."""
        return self.model if isinstance(self.model, RecordedEngine) else None

    def steps(self, questions: Sequence[Question]) -> list[Step]:
        """Return what is done with some of its questions."""
        if self.texts is not None:
            return recorded_texts.steps_of_texts(self.texts, self.settings, bool(self.model))
        return self.plan.steps(questions, self.settings, self.request_seed)

    @property
    def opening(self) -> ModelOptions:
        """How its models are opened."""
        return part(ModelOptions, self)

    @property
    def shape(self) -> Shape:
        """What makes of a request what the model is sent. Raises InputError."""
        return request_shaper(self)

    @property
    def cache_folder(self) -> Path:
        """Where replies are kept."""
        return Path(self.cache or default_cache_folder())

    @property
    def ray(self) -> RaySettings | None:
        """Where Ray's actors run; ``None`` where models are opened in this process."""
        if self.engine != "ray":
            return None
        return RaySettings(self.cache_folder, self.ray_address, self.ray_actors)

    @property
    def batches(self) -> str | None:
        """Where batch files are remembered; ``None`` where requests are sent one by one."""
        return str(self.cache_folder / "batches") if self.batch_files else None

    @property
    def judge_options(self) -> JudgeOptions:
        """How a model judges; the rules leave a price to the further models of the run."""
        further = self.judge == "rules" and self.settings.further_models()
        judging = part(JudgingOptions, self)
        if further:
            judging = dataclasses.replace(judging, judge_price=None)
        return JudgeOptions(
            **dataclasses.asdict(judging),
            opening=self.opening,
            prompt_folder=self.settings.prompt_folder,
            ray=self.ray,
            batches=self.batches,
        )


@dataclasses.dataclass(frozen=True)
class _Names:
    """What a job is called, and where it is."""

    protocol: str
    data: str
    out: Path | str | None
    name: str
    command: str


def _check_kinds(job: Job) -> None:
    """Refuse values of another type than an argument has. Raises InputError."""
    for kind in OPTIONS:
        check_values(part(kind, job))
    check_values(_Names(job.protocol, job.data_set, job.out, job.name, job.command))
    if not isinstance(job.model_options, Mapping):
        raise InputError(f"model_options is {job.model_options!r:.80}; expected a dict of options")
    if job.options is not None and not isinstance(job.options, job.plan.Settings):
        raise InputError(
            f"options are {job.options!r:.80}; expected the Settings of {job.protocol}; single "
            "settings go by name: settings={...}"
        )


def check(job: Job) -> None:
    """Refuse what can be seen to be wrong without opening anything. Raises InputError."""
    _check_kinds(job)
    if job.out is not None:
        check_outside_git(Path(job.out))
    check_engine(job.model)
    check_given(job.judge)
    if job.recorded is not None or job.texts is not None:
        chosen = given(job.options or job.plan.Settings())
        useless = [n for n in chosen if n.startswith(("answer.", "sample_prompt"))]
        if job.recorded or not job.model:
            useless += [n for n in OF_ASKING if getattr(job, n) not in (None, "", vars(Job())[n])]
        if useless:
            more = " for answers" * (useless[0] in chosen)
            raise InputError(f"{useless[0]} applies only if a model is asked{more}: leave it out")
    if job.recorded is not None:
        check_record(job.plan, job.recorded, job.judge)
    if job.texts is not None:
        recorded_texts.check_texts(job.texts, job.settings, bool(job.model))
    _check_kind(job)
    job.settings.check()
    _check_ray(job)
    prompts.check_folder(settings.folder_setting(job.settings.prompt_folder))
    _ = job.shape  # refuses what cannot be put together
    further = job.settings.further_models()
    if isinstance(job.judge, str) and not (job.judge == PEOPLE and job.recorded):
        check_judge(job.judge, job.judge_options)
    if job.name and line(job.name, LONGEST_NAME).strip() != job.name:
        raise InputError(f"name: expected one line of at most {LONGEST_NAME} characters")
    models = [job.model if isinstance(job.model, str) else "", judging_model(job.judge), *further]
    endpoint = str(getattr(job.model, "identity", "")).startswith("api:")
    for name in (*option_names(ModelOptions, use="endpoint"), "batch_files", "stale_ok"):
        own = getattr(job, name) not in (None, False)
        if own and not (endpoint or any(is_endpoint(model) for model in models)):
            raise InputError(f"{name} is for endpoints, and this run uses none; leave it out")
    of_all = {name: [job.model, *models] for name in option_names(ModelOptions, use="here")}
    opened_here = {name: [job.model] for name in option_names(ModelOptions, use="answering")}
    for name, whose in (of_all | opened_here).items():
        if getattr(job, name) not in (None, False) and not any(map(is_local, whose)):
            raise InputError(
                f"{name} is for models that run in this process (hf:NAME, "
                "builtin), and this run has none; leave it out"
            )


def prompt_uses_of(job: Job) -> dict[str, str]:
    """Return the prompts that a job can send: each with "", or the flag that it needs."""
    judge = job.judge
    by_model = judging_model(judge) not in ("", PEOPLE) if isinstance(judge, str) else True
    if not isinstance(judge, str) and is_judge(judge):
        by_model = engine_of(judge) is not None
    two_pass = job.judge_mode == "two_pass"
    grading = judge_prompt_uses(job.judge_labels, two_pass, by_model, job.judge_prompt)
    return grading | job.plan.prompt_uses(job.options or job.plan.Settings(), by_model)


def world_caution(job: Job) -> list[str]:
    """Return the caution for a model that is asked about the invented world and cannot know it."""
    return [] if job.recorded else datasets.foreign_world_caution(job.model, job.data_set)


def unused_prompts(job: Job) -> list[str]:
    """Return a note on the files of the prompt folder that a job does not send, and who does."""
    folder = job.settings.prompt_folder
    if folder in prompts.WORDINGS or job.recorded:
        return []
    uses = prompt_uses_of(job)
    unused = [
        f"{name}.txt ({_what_sends(uses, name)})"
        for name in prompts.check_folder(settings.folder_setting(folder))
        if uses.get(name) != ""
    ]
    return [f"{folder}: this run does not send {', '.join(unused)}"] if unused else []


def _what_sends(uses: Mapping[str, str], name: str) -> str:
    """Return what would send a prompt that a job does not send."""
    if uses.get(name):
        return f"for {uses[name]}"
    for other, plan in PROTOCOLS.items():
        flag = plan.prompt_uses(plan.Settings(), True).get(name)
        if flag is not None:
            return f"for sayso run {' '.join([other, flag]).strip()}"
    return "for another command"


def _check_ray(job: Job) -> None:
    """Refuse settings of Ray that mean nothing. Raises InputError."""
    if job.engine not in ("", "ray"):
        raise InputError(f"engine is {job.engine!r:.80}; expected ray, or leave it out")
    if job.engine != "ray" and (job.ray_address or job.ray_actors is not None):
        raise InputError("ray_address and ray_actors need --set engine=ray: add it")
    if job.engine == "ray" and job.batch_files:
        raise InputError(
            "batch files and --set engine=ray do not work together: leave one of the two out"
        )
    if job.engine == "ray" and not isinstance(job.model, str):
        raise InputError("--set engine=ray opens a model by its name on every machine: give a name")


def questions_of(job: Job) -> Dataset:
    """Refuse what is wrong with a job before its model is opened; return what it asks about.

    Leaves no folder behind. Raises InputError, also for an ``out`` that cannot hold this run.
    """
    check(job)
    check_out(job)
    data = load_data(job)
    check_data(job, data)
    if job.out is not None and RunFolder.exists(job.out):
        wanted = msgspec.structs.replace(planned(job), data=data.name, data_hash=data.hash)
        before = RunFolder.open(job.out).read_manifest()
        refuse_other_data(Path(job.out), before, wanted, data.questions)
    return data


def load_data(job: Job) -> Dataset:
    """Return the questions of a job: those of its data set, or of answers on record.

    Raises InputError.
    """
    if job.texts is not None:
        return job.texts.dataset
    if job.recorded is not None:
        return datasets.subset(job.recorded.data, limit=job.limit or 0, **parts_of(job))
    if isinstance(job.data, Dataset):
        data = datasets.subset(job.data, limit=job.limit or 0, **parts_of(job))
    else:
        data = datasets.load_dataset(
            job.data_set, split=job.split, limit=job.limit, **parts_of(job)
        )
    return job.plan.asked(data, job.settings)


def parts_of(job: Job) -> dict[str, Any]:
    """Return which part of the data a job asks about, as :func:`sayso.datasets.subset` takes it."""
    return {"domains": job.domains, "tiers": job.tiers, "seed": job.seed}


#: flags of a model that is asked
OF_ASKING = (
    *("thinking", "chat_template_kwargs", "system", "price", "model_version", "split", "fresh"),
    "stale_ok",
)


def recorded_jobs(job: Job, models: Sequence[RecordedEngine]) -> list[Job]:
    """Return a job for each model on record; of several, each has its folder in ``job.out``."""
    one = len(models) == 1
    return [
        dataclasses.replace(
            job,
            model=model,
            data=model.data.name,
            out=job.out if one or job.out is None else Path(job.out) / slug(model.name),
        )
        for model in models
    ]


def _check_kind(job: Job) -> None:
    """Refuse data that by its kind lacks what the protocol asks about, unread. Raises Unsuited."""
    data = job.data_set.partition("#")[0]
    entry = None if job.recorded else datasets.CATALOGUE.get(datasets.catalogue_kind(data))
    if "golds" in job.plan.needs and entry is not None and job.protocol not in entry.suits:
        raise Unsuited(
            f"{job.protocol} needs to know which answers are right, and {data} has no questions "
            f"with true answers; use `sayso run {entry.suits[0]}`"
        )


def check_data(job: Job, data: Dataset) -> None:
    """Refuse data that lacks what the protocol asks about. Raises Unsuited."""
    graded = any(q.golds or q.answerable is not None for q in data.short)
    if "golds" not in job.plan.needs or graded or job.judge == PEOPLE:
        return
    needs = f"{job.protocol} needs to know which answers are right, and {data.name} has"
    if job.recorded is not None:
        likely = meant_as("gold", job.recorded.notices)
        raise Unsuited(
            f"{needs} none of the columns gold, answerable and human (for --judge people)"
            + (f"; {likely}" if likely else "")
        )
    if likely := meant_as("gold", data.notes):
        raise Unsuited(f"{needs} no golds; {likely}")
    raise Unsuited(
        f"{needs} no golds; use `sayso run faithfulness` or `sayso run self_known`, or name the "
        "column of golds: --columns gold=COLUMN"
    )


def job_of(*, typed: bool = False, **given: Any) -> Job:
    """Return a job of arguments as people write them: a single domain, a path.

    They were ``typed`` in a file, or come from Python. Raises InputError.
    """
    fields = {field.name: field for kind in OPTIONS for field in fields_of(kind)}
    for name, value in given.items():
        if name == "system" and isinstance(value, str) and not typed:
            prompts.refuse_file_name(value)
        if name in fields:
            number = name == "thinking" and isinstance(value, int)  # of tokens
            given[name] = read_value(name, fields[name].hint, value, typed=typed or number)
        elif name == "data" and isinstance(value, PathLike):
            given[name] = os.fspath(value)
    return Job(**given)


def with_settings(job: Job, changes: Mapping[str, object]) -> Job:
    """Return a job with some of the protocol's settings changed by name. Raises InputError."""
    check_settings_mapping(changes)
    _check_kinds(job)
    before = job.options or job.plan.Settings()
    not_given = {"options", "command", "sampling_seed", *OF_COMMANDS}
    arguments = {f.name for f in dataclasses.fields(Job)} - not_given
    for name in changes:
        if name in arguments and name not in as_dict(before):
            raise InputError(
                f"{name} is not a setting of {job.protocol} but a separate argument: "
                f"sayso.run({name}=...)"
            )
    return dataclasses.replace(job, options=change(before, changes))


#: fields of a job that a command sets
OF_COMMANDS = ("begun", "period")


#: fields of a job that change nothing of what it asks
OF_PACE = ("command", "max_cost", "concurrency", "timeout", "patience", "jobs", *OF_COMMANDS)


def _named(job: Job) -> list[str]:
    """Return what a job asks, as a text for each field; an engine by its name."""
    names = [field.name for field in dataclasses.fields(job) if field.name not in OF_PACE]
    values = [getattr(job, name) for name in names]
    values = [v.hash if isinstance(v, Dataset) else v for v in values]
    return [
        str(v.name) if hasattr(v, "complete") or hasattr(v, "grade") else str(v) for v in values
    ]


@contextlib.contextmanager
def one_period(
    jobs: Sequence[Job], progress: Progress | None = None, *, asks: bool = True
) -> Iterator[list[Job]]:
    """Give the jobs of one command, and the period in which it asks everything anew, if it does.

    What it asks for one of them is fresh for the others, and each of several knows when the command
    began. The period ends with the block, unless that ``asks`` nobody.
    """
    begun = time.time() if len(jobs) > 1 else None
    period = None
    asking = [job for job in jobs if job.fresh and job.period is None]
    if asking:
        period = Period(asking[0].cache_folder, [_named(job) for job in jobs])
    own = [
        dataclasses.replace(
            job, begun=job.begun or begun, period=period if job in asking else job.period
        )
        for job in jobs
    ]
    if not asks:
        period = None
    if period is not None and period.goes_on and progress is not None:
        progress.note(
            f"resuming --fresh: answers of the last {ago(time.time() - period.since)} are kept"
        )
    yield own
    if period is not None:
        period.end()


# ---- the folder of a run


def planned(job: Job) -> Manifest:
    """Return what is known of a run before anything is opened for it."""
    chosen, title = job.settings, job.name
    if not title and job.recorded is not None:  # its name in the file
        title = line(job.recorded.name, LONGEST_NAME).strip()
    return Manifest(
        format=FORMAT,
        sayso=__version__,
        created=now(),
        finished=None,
        command=job.command or f"sayso run {job.protocol}",
        protocols=(job.protocol,),
        settings={
            **as_dict(chosen),
            "seed": job.request_seed,
            **asking_settings(job),
        },
        chosen={
            "limit": job.limit,
            "split": job.split,
            "domain": ",".join(job.domains),
            **({"tier": ",".join(job.tiers)} if job.tiers else {}),
            "seed": job.seed,
        },
        prompts=job.plan.prompts(chosen),
        model_title=title,
        versions=versions(),
        machine=machine(),
    )


#: what an engine may say of its model: where it computes, how much at once, a GGUF file's origin
ABOUT_MODEL = ("device", "plan", "card")


class OpenJob(NamedTuple):
    """A job with everything open that it needs.

    ``begun`` is what the subject had counted before: an engine may serve several jobs.
    """

    job: Job
    data: Dataset
    model: CachedEngine
    judge: OpenJudge
    tools: RunTools
    cache: Cache
    begun: Mapping[str, int]

    def check_here(self) -> None:
        """Refuse a model or judge whose files are not on this machine. Raises NotHere."""
        check_here(self.model)
        check_here(self.judge.engine)

    def about(self, questions: Sequence[Question]) -> OpenJob:
        """Return the same about some of its questions."""
        return self._replace(data=msgspec.structs.replace(self.data, questions=tuple(questions)))

    @property
    def manifest(self) -> Manifest:
        """What the run is before it has begun."""
        data, model, judge = self.data, self.model, self.judge.judge
        told = ((name, str(getattr(model.engine, name, ""))) for name in ABOUT_MODEL)
        before = planned(self.job)
        manifest = msgspec.structs.replace(
            before,
            data=data.name,
            data_hash=data.hash,
            n_questions=len(data.questions),
            n_long=len(data.long),
            prompts={**before.prompts, **data.prompts},
            model=model.name,
            model_identity=model.identity,
            model_base=model.base,
            model_signature=model.signature,
            judge=judge.name,
            judge_signature=judge.signature,
            machine=before.machine | {f"{name} of the model": text for name, text in told if text},
        )
        if (texts := self.job.texts) is not None:
            return recorded_texts.of_texts(manifest, texts, model if self.job.model else None)
        return manifest


def folder_name(manifest: Manifest) -> str:
    """Derive the folder's name from everything that decides what is asked.

    Settings that are off ask nothing and change no name.
    """
    (name,) = manifest.protocols
    fields = fields_of(PROTOCOLS[name].Settings)
    off = {field.name: field.value for field in fields if field.about["off"]}
    parts = {k: v for k, v in what_is_asked(manifest).items() if k not in off or v != off[k]}
    key = content_id([parts, manifest.judge_signature])[:8]
    model = "".join(c if c.isalnum() or c in "-_." else "-" for c in manifest.model_signature)
    return f"{name}-{model.strip('-.')[-40:]}-{key}"


def what_is_asked(manifest: Manifest) -> dict[str, object]:
    """Return what a run asks for: two runs that agree in it may share a folder."""
    known = [PROTOCOLS[name] for name in manifest.protocols if name in PROTOCOLS]
    plan = (known or list(PROTOCOLS.values()))[0]  # any, where it is unknown
    return {
        "protocols": manifest.protocols,
        "data": f"{manifest.data}-{manifest.data_hash}",
        "model": manifest.model_identity,
        "judge": manifest.judge_signature,
        "prompt_texts": manifest.prompts["signature"],
        "seed": manifest.settings["seed"],
        **{
            field.name: manifest.settings.get(field.name, field.value)
            for field in fields_of(plan.Settings)
            if field.about["stage"] == "collect"
        },
        **{f"{name} in use": text for name, text in prompt_parts(manifest).items()},
        **{name: manifest.settings[name] for name in REQUEST_SETTINGS if name in manifest.settings},
        **gone_and_asked(manifest.settings),
    }


def open_folder(path: Path, manifest: Manifest, questions: Sequence[Question] = ()) -> RunFolder:
    """Create the run folder, or open it again if it holds a run that asks the same."""
    if not RunFolder.exists(path):
        return RunFolder.create(path)
    folder = RunFolder.open(path)
    before = folder.read_manifest()
    refuse_other_data(path, before, manifest, questions)
    refuse_other(path, before, what_is_asked(before), what_is_asked(manifest))
    return folder


def refuse_other_data(
    path: Path, before: Manifest, manifest: Manifest, questions: Sequence[Question]
) -> None:
    """Refuse a folder whose run asks other questions. Raises InputError."""
    data = [f"{m.data}-{m.data_hash}" for m in (before, manifest)]
    asked = _content(_asked_in(path))
    if before.data != manifest.data and asked and asked == _content(questions):
        names = [line(m.data, 100) for m in (before, manifest)]
        raise InputError(
            f"{_contains(path, before)}: its data have the same content under another name "
            f"({names[0]}, not {names[1]}); use the old name, or choose another --out"
        )
    chosen = [
        f"--{name} {setting_text(before.chosen[name])}, not {setting_text(value)}"
        for name, value in manifest.chosen.items()
        if name in before.chosen and before.chosen[name] != value
    ]
    if chosen and data[0] != data[1]:
        raise InputError(
            f"{_contains(path, before)} with {'; '.join(chosen)}; repeat its command, or choose "
            "another --out"
        )
    refuse_other(path, before, {"data": data[0]}, {"data": data[1]})


def _asked_in(path: Path) -> Sequence[Question]:
    """Return the questions of a run folder; none where it was stopped before they were written."""
    try:
        return list(RunFolder.open(path).read("questions", Question))
    except InputError:
        return ()


def _content(questions: Sequence[Question]) -> list[bytes]:
    """Return what is asked and true, without the name of its data set."""
    rows = (
        (q.text, q.context, q.entity, [g.names for g in q.golds or ()], q.answerable)
        for q in questions
    )
    return sorted(map(msgspec.json.encode, rows))


def _contains(path: Path, before: Manifest) -> str:
    """Return "FOLDER: contains a run of uncle (model builtin, data world)"."""
    told = ", ".join(before.protocols), f"model {before.model}", f"data {before.data}"
    protocol, model, data = (line(text, 100) for text in told)
    return f"{path}: contains a run of {protocol} ({model}, {data})"


def refuse_other(
    path: Path, before: Manifest, old: Mapping[str, object], new: Mapping[str, object]
) -> None:
    """Refuse a folder whose run asks something else. Raises InputError."""
    for name in dict.fromkeys((*FIRST_TOLD, *new, *old)):
        if old.get(name) != new.get(name):
            both = (old.get(name), new.get(name))
            words = (
                ", ".join(map(str, x)) if isinstance(x, tuple) else setting_text(x) for x in both
            )
            kept, wanted = (line(text, 200) for text in words)
            told = f" with {name} {kept}, not {wanted}"
            if name == "protocols":
                told = f", not of {wanted}"
            raise InputError(f"{_contains(path, before)}{told}; choose another --out")


#: what people know a run by
FIRST_TOLD = ("protocols", "model", "data")
#: what only an open model, judge and data set can tell
OPENED = ("data", "model", "judge", "paragraphs in use")


def check_out(job: Job) -> None:
    """Refuse an ``out`` that cannot hold this run, as far as can be seen before anything is opened.

    Leaves no folder behind. Raises InputError.
    """
    if job.out is None:
        return
    path = Path(job.out)
    with one_writer(path, job.command or "sayso.run"):
        folder = RunFolder.create(path)
        with disk_errors(path), tempfile.TemporaryFile(dir=path):
            pass
        if RunFolder.exists(path):
            before = folder.read_manifest()
            old, new = what_is_asked(before), what_is_asked(planned(job))
            for name in OPENED:
                old.pop(name, None), new.pop(name, None)
            refuse_other(path, before, old, new)


@contextlib.contextmanager
def own_folder(job: Job, manifest: Manifest, questions: Sequence[Question]) -> Iterator[RunFolder]:
    """Give the folder of a run, into which nobody else writes meanwhile. Raises InputError."""
    path = path_of(job, manifest)
    with one_writer(path, job.command or "sayso.run"):
        yield open_folder(path, manifest, questions)


def path_of(job: Job, manifest: Manifest) -> Path:
    name = folder_name(manifest)
    if job.texts is not None:
        name = f"{job.protocol}-{slug(manifest.model)}-{manifest.model_identity[:8]}"
    return Path(job.out) if job.out else Path("runs") / name

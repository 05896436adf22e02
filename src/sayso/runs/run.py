"""``sayso.run``: from names on a command line to a finished run folder.

A :class:`Job` is what a run is to be; :func:`open_job` opens what it needs, for running it or for
pricing it; :func:`execute_job` runs it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from sayso import datasets, prompts
from sayso.datasets.columns import meant_as
from sayso.datasets.dataset import Dataset
from sayso.engines.engine import Engine, check_engine
from sayso.engines.named import AnswerLimits, is_gguf, limits_of
from sayso.engines.prices import Price, price_of
from sayso.engines.ray.engine import RaySettings
from sayso.judges.judge import Judge
from sayso.judges.reliability import stored
from sayso.processes import seldom_collected
from sayso.protocols import PROTOCOLS, protocol_named, settings
from sayso.protocols.answer_table import write_answers
from sayso.protocols.coherence import coherence_cautions, unseen_cautions
from sayso.protocols.protocol import Ask, Protocol, Unsuited, setting_text
from sayso.records import Estimate, InputError, Question, Request, content_id
from sayso.report import write as write_page
from sayso.report.numbers import line
from sayso.runs.asking import (
    REQUEST_SETTINGS,
    CachedEngine,
    Scalar,
    Shape,
    bill,
    innermost,
    request_shaper,
    thinking_settings,
)
from sayso.runs.costs import Meter, is_endpoint, is_local, known_price, open_priced
from sayso.runs.freshness.ages import Period, ago
from sayso.runs.freshness.same_model import SameModel, check_same_model
from sayso.runs.judge import (
    Batch,
    JudgeOptions,
    Labels,
    Mode,
    check_given,
    check_judge,
    open_judge,
)
from sayso.runs.measure import check_settings_mapping, entities_of
from sayso.runs.progress import Progress
from sayso.runs.recorded import (
    PEOPLE,
    PeopleJudge,
    RecordedEngine,
    answers_of,
    check_record,
    keep_beside,
    lacking_for_scores,
    recorded_settings,
    slug,
)
from sayso.runs.result import Result
from sayso.runs.stages import (
    FolderRun,
    Lookup,
    VerdictCounts,
    check_any_read,
    now,
    prompt_parts,
    unread_run_cautions,
)
from sayso.runs.tools import FurtherModels, KnowledgeSources, RunTools, chosen_nli
from sayso.storage.atomic import check_outside_git, disk_errors, one_writer
from sayso.storage.cache import FILE_NAME, Cache, default_cache_folder
from sayso.storage.run_folder import FORMAT, Manifest, RunFolder, machine, versions
from sayso.version import __version__

#: most characters of a model's name on a page
LONGEST_NAME = 60


@dataclasses.dataclass(frozen=True, kw_only=True)
class Job:
    """All settings of a run; see :func:`sayso.run`."""

    protocol: str = "uncle"
    model: str | Engine = "builtin"
    #: "": the set that fits the model, which :attr:`data_set` names
    data: str = ""
    judge: str | Judge | Engine = "rules"
    out: str | Path | None = None
    limit: int | None = None
    seed: int = 0
    split: str = "test"
    domains: Sequence[str] = ()
    tiers: Sequence[str] = ()
    cache: str | Path | None = None
    options: Any = None
    thinking: str = ""
    chat_template_kwargs: str | Mapping[str, Scalar] | None = None
    price: str | None = None
    max_cost: float | None = None
    model_version: str | None = None
    concurrency: int | None = None
    timeout: float | None = None
    patience: float | None = None
    batch_files: bool = False
    fresh: bool = False
    stale_ok: bool = False
    name: str = ""
    device: str | None = None
    dtype: str | None = None
    batch_size: int | None = None
    revision: str | None = None
    end_loops: bool | None = None
    judge_price: str | None = None
    judge_batch: Batch = "item"
    judge_mode: Mode = "one_pass"
    judge_labels: Labels = "stance"
    judge_anyway: bool = False
    engine: str = ""
    ray_address: str = ""
    ray_actors: int | None = None
    jobs: int | None = None
    #: when the command of several jobs began, and since when it asks everything anew
    begun: float | None = None
    period: Period | None = None
    model_options: Mapping[str, object] = dataclasses.field(default_factory=dict)
    command: str = ""

    @property
    def plan(self) -> Protocol:
        """The protocol itself. Raises InputError for a name that is none."""
        return protocol_named(self.protocol)

    @property
    def data_set(self) -> str:
        """The name of the data set that is asked: the given one, else one that fits the model."""
        return self.data or datasets.default_data(self.model)

    @property
    def settings(self) -> Any:
        """The protocol's settings, with what they leave to the model (the longest answers) and to
        this machine (``nli``) filled in."""
        chosen = settings.with_limits(self.options or self.plan.Settings(), self.limits)
        if getattr(chosen, "nli", None) == "auto":
            chosen = dataclasses.replace(chosen, nli=chosen_nli())
        if isinstance(self.model, RecordedEngine):
            chosen = recorded_settings(chosen, self.model, self.judge)
        return chosen

    @property
    def limits(self) -> AnswerLimits:
        """How long the model's answers may be where the settings leave it open."""
        if isinstance(self.model, RecordedEngine):
            return AnswerLimits()
        return limits_of(self.model if isinstance(self.model, str) else self.model.name)

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
        further = self.judge == "rules" and self.plan.further_models(self.settings)
        return JudgeOptions(
            batch=self.judge_batch,
            mode=self.judge_mode,
            labels=self.judge_labels,
            price=None if further else self.judge_price,
            prompt_folder=self.settings.prompt_folder,
            concurrency=self.concurrency,
            timeout=self.timeout,
            patience=self.patience,
            device=self.device,
            anyway=self.judge_anyway,
            ray=self.ray,
            batches=self.batches,
            jobs=self.jobs,
        )


class OpenJob(NamedTuple):
    """A job with everything open that it needs. ``price`` is the subject's; ``None``: unknown.

    ``begun`` is what the subject had counted before: an engine may serve several jobs.
    """

    job: Job
    data: Dataset
    model: CachedEngine
    judge: Judge
    judge_engine: CachedEngine | None
    cache: Cache
    price: Price | None
    shape: Shape
    begun: Mapping[str, int] = MappingProxyType({})


#: arguments of :func:`run` by what they are
TEXTS = (
    *("protocol", "data", "split", "thinking", "price", "judge_price", "name", "device", "dtype"),
    *("revision", "model_version", "command", "judge_batch", "judge_mode", "judge_labels"),
    *("engine", "ray_address"),
)
KINDS: tuple[tuple[tuple[str, ...], tuple[type, ...], str], ...] = (
    (TEXTS, (str,), "a text"),
    (("limit", "seed", "concurrency", "batch_size"), (int,), "a whole number"),
    (("ray_actors", "jobs"), (int,), "a whole number"),
    (("max_cost", "timeout", "patience"), (int, float), "a number"),
    (("out", "cache"), (str, PathLike), "a path"),
    (("model_options",), (Mapping,), "a dict of options"),
    (("domains", "tiers"), (Sequence,), "a list of names"),
)


def _check_kinds(job: Job) -> None:
    """Refuse values of another type than an argument has. Raises InputError."""
    defaults = {field.name: field.default for field in dataclasses.fields(Job)}
    for names, kinds, wanted in KINDS:
        for name in names:
            value = getattr(job, name)
            if value is None and defaults[name] is None:
                continue
            if isinstance(value, bool) or not isinstance(value, kinds):
                example = ', such as "0.15,0.60"' if name.endswith("price") else ""
                raise InputError(f"{name} is {value!r:.80}; expected {wanted}{example}")
    for name in ("judge_anyway", "end_loops", "batch_files", "fresh", "stale_ok"):
        value = getattr(job, name)
        left_out = name == "end_loops" and value is None
        if not isinstance(value, bool) and not left_out:
            raise InputError(f"{name} is {value!r:.80}; expected True or False")
    for name, chosen in (("domains", job.domains), ("tiers", job.tiers)):
        for one in chosen:
            if not isinstance(one, str):
                raise InputError(f"{name}: {one!r:.80} is not a text; expected a list of names")
    if job.options is not None and not isinstance(job.options, job.plan.Settings):
        raise InputError(
            f"options are {job.options!r:.80}; expected the Settings of {job.protocol}; single "
            "settings go by name: settings={...}"
        )


#: arguments of :func:`run` for the model that answers, where it is opened in this process
OF_ANSWERING = ("dtype", "batch_size", "revision", "end_loops")


def check(job: Job) -> None:
    """Refuse what can be seen to be wrong without opening anything. Raises InputError."""
    _check_kinds(job)
    if job.out is not None:
        check_outside_git(Path(job.out))
    check_engine(job.model)
    check_given(job.judge)
    if isinstance(job.model, RecordedEngine):
        for name in OF_ASKING:
            if getattr(job, name) not in (None, "", getattr(Job(), name)):
                raise InputError(
                    f"{name.replace('_', '-')} applies only if a model is asked: leave it out"
                )
        check_record(job.plan, job.model, job.judge)
    _check_kind(job)
    job.plan.check(job.settings)
    for name, value, low, high in (
        ("seed", job.seed, 0, 2**63),
        ("concurrency", job.concurrency, 1, 10_000),
        ("timeout", job.timeout, 0.001, 86_400),
        ("patience", job.patience, 0.001, 86_400),
        ("batch-size", job.batch_size, 1, 100_000),
        ("ray-actors", job.ray_actors, 1, 100_000),
        ("jobs", job.jobs, 1, 1024),
        ("max-cost", job.max_cost, 1e-9, 1e9),
    ):
        if value is not None and not low <= value <= high:
            raise InputError(f"{name} is {value}; expected {low} to {high:g}")
    _check_ray(job)
    folder = job.settings.prompt_folder
    prompts.check_folder(Path(folder) if folder else None)
    request_shaper(job.thinking, job.chat_template_kwargs)
    further = job.plan.further_models(job.settings)
    if isinstance(job.judge, str) and not (job.judge == PEOPLE and _is_recorded(job)):
        check_judge(job.judge, job.judge_options)
    if job.name and line(job.name, LONGEST_NAME).strip() != job.name:
        raise InputError(f"name: expected one line of at most {LONGEST_NAME} characters")
    names = [name for name in (job.model, job.judge) if isinstance(name, str)]
    models = [*(name.removeprefix("rules+") for name in names), *further]
    endpoint = str(getattr(job.model, "identity", "")).startswith("api:")
    for name in ("concurrency", "timeout", "patience", "batch_files", "stale_ok"):
        given = getattr(job, name) not in (None, False)
        if given and not (endpoint or any(is_endpoint(model) for model in models)):
            raise InputError(
                f"{name.replace('_', '-')} is for endpoints, and this run uses none; leave it out"
            )
    opened_here = {name: [job.model] for name in OF_ANSWERING}
    for name, whose in {"device": [job.model, *models], **opened_here}.items():
        if getattr(job, name) not in (None, False) and not any(map(is_local, whose)):
            raise InputError(
                f"{name.replace('_', '-')} is for models that run in this process (hf:NAME, "
                "builtin), and this run has none; leave it out"
            )


def _check_ray(job: Job) -> None:
    """Refuse settings of Ray that mean nothing. Raises InputError."""
    if job.engine not in ("", "ray"):
        raise InputError(f"engine is {job.engine!r:.80}; expected ray, or leave it out")
    if job.engine != "ray" and (job.ray_address or job.ray_actors is not None):
        raise InputError("ray-address and ray-actors need --engine ray: add it")
    if job.engine == "ray" and job.batch_files:
        raise InputError(
            "batch files and --engine ray do not work together: leave one of the two out"
        )
    if job.engine == "ray" and not isinstance(job.model, str):
        raise InputError("--engine ray opens a model by its name on every machine: give a name")


@contextlib.contextmanager
def open_job(
    job: Job,
    progress: Progress | None = None,
    *,
    learn: bool = True,
    meter: Meter | None = None,
) -> Iterator[OpenJob]:
    """Open data, model, cache and judge, and close them at the end.

    ``meter`` counts the money where several jobs share a limit; else each has its own.
    An engine or a judge of the caller's own is used as it is and left open. With ``learn=False``
    nothing can be asked: of a model in this process no weights are loaded, and a judge's endpoint
    is not asked what it can do. Raises InputError.
    """
    check(job)
    data = load_data(job)
    _check_data(job, data)
    if job.out is not None and RunFolder.exists(job.out):
        planned = msgspec.structs.replace(_planned(job), data=data.name, data_hash=data.hash)
        before = RunFolder.open(job.out).read_manifest()
        _refuse_other_data(Path(job.out), before, planned, data.questions)
    meter = meter or Meter(job.max_cost)
    with contextlib.ExitStack() as stack:
        cache = stack.enter_context(Cache(job.cache_folder / FILE_NAME))
        if progress is not None and isinstance(job.model, str):
            progress.doing(_opening(job.model, learn))
        engine, price = open_subject(job, stack, weights=learn)
        job.plan.check_model(engine, job.settings)
        model = CachedEngine(
            engine, cache, price=price, meter=meter, progress=progress, period=job.period
        )
        judge = open_judge(
            _judge_of(job), job.judge_options, subject=model, cache=cache, meter=meter,
            progress=progress, learn=learn,
        )  # fmt: skip
        stack.callback(judge.close)
        shaped = request_shaper(job.thinking, job.chat_template_kwargs)
        begun = _counts(model.counts, "model_")
        yield OpenJob(job, data, model, judge.judge, judge.engine, cache, price, shaped, begun)


def _opening(model: str, learn: bool) -> str:
    """Return what takes its time while a model is opened."""
    if not is_local(model):
        return "connecting to the endpoint"
    name = line(model.removeprefix("hf:").rstrip("/").rpartition("/")[2], 80)
    if not learn:
        return f"reading the files of {name} (no weights are loaded)"
    return f"unpacking {name} (once) and loading it" if is_gguf(model) else "loading the model"


def _is_recorded(job: Job) -> bool:
    return isinstance(job.model, RecordedEngine)


def load_data(job: Job) -> Dataset:
    """Return the questions of a job: those of its data set, or of answers on record.

    Raises InputError.
    """
    if isinstance(job.model, RecordedEngine):
        return datasets.subset(job.model.data, limit=job.limit or 0, **parts_of(job))
    data = datasets.load_dataset(job.data_set, split=job.split, limit=job.limit, **parts_of(job))
    return job.plan.asked(data, job.settings)


def parts_of(job: Job) -> dict[str, Any]:
    """Return which part of the data a job asks about, as :func:`sayso.datasets.subset` takes it."""
    return {"domains": job.domains, "tiers": job.tiers, "seed": job.seed}


def _judge_of(job: Job) -> str | Judge | Engine:
    """Return a job's judge; people are one where their verdicts are on record."""
    if job.judge == PEOPLE and isinstance(job.model, RecordedEngine):
        return PeopleJudge(job.model.labels)
    return job.judge


#: flags of a model that is asked
OF_ASKING = (
    *("thinking", "chat_template_kwargs", "price", "model_version", "split", "fresh", "stale_ok"),
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
    entry = None if _is_recorded(job) else datasets.CATALOGUE.get(datasets.catalogue_kind(data))
    if job.plan.needs_golds and entry is not None and job.protocol not in entry.suits:
        raise Unsuited(
            f"{job.protocol} needs to know which answers are right, and {data} has no questions "
            f"with true answers; use `sayso run {entry.suits[0]}`"
        )


def _check_data(job: Job, data: Dataset) -> None:
    """Refuse data that lacks what the protocol asks about. Raises Unsuited."""
    graded = any(q.golds or q.answerable is not None for q in data.short)
    if not job.plan.needs_golds or graded or job.judge == PEOPLE:
        return
    needs = f"{job.protocol} needs to know which answers are right, and {data.name} has"
    if isinstance(job.model, RecordedEngine):
        likely = meant_as("gold", job.model.notices)
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


def open_subject(
    job: Job, stack: contextlib.ExitStack, *, weights: bool
) -> tuple[Engine, Price | None]:
    """Open the subject; an engine of the caller's own may carry its ``price``."""
    if not isinstance(job.model, str):  # what it cost is in its replies
        return job.model, price_of("", job.price) if job.price else known_price(job.model)
    engine, price = open_priced(
        job.model,
        job.max_cost,
        price=job.price,
        extra=job.model_options,
        ray=job.ray,
        weights=None if weights else False,
        device=job.device,
        dtype=job.dtype,
        batch_size=job.batch_size,
        revision=job.revision,
        end_loops=job.end_loops,
        model_version=job.model_version,
        concurrency=job.concurrency,
        timeout=job.timeout,
        patience=job.patience,
        batches=job.batches,
    )
    stack.callback(engine.close)
    return engine, price


# ---- manifest and folder


#: what an engine may say of its model: where it computes, how much at once, a GGUF file's origin
ABOUT_MODEL = ("device", "plan", "card")


def manifest_of(opened: OpenJob) -> Manifest:
    """Return what a run is before it has begun."""
    data, model, judge = opened.data, opened.model, opened.judge
    told = {f"{name} of the model": str(getattr(model.engine, name, "")) for name in ABOUT_MODEL}
    planned = _planned(opened.job)
    return msgspec.structs.replace(
        planned,
        data=data.name,
        data_hash=data.hash,
        n_questions=len(data.questions),
        prompts={**planned.prompts, **data.prompts},
        model=model.name,
        model_identity=model.identity,
        model_base=model.base,
        model_signature=model.signature,
        judge=judge.name,
        judge_signature=judge.signature,
        machine={**machine(), **{name: text for name, text in told.items() if text}},
    )


def _planned(job: Job) -> Manifest:
    """Return what is known of a run before anything is opened for it."""
    chosen = job.settings
    return Manifest(
        format=FORMAT,
        sayso=__version__,
        created=now(),
        finished=None,
        command=job.command or f"sayso run {job.protocol}",
        protocols=(job.protocol,),
        settings={
            **settings.as_dict(chosen),
            "seed": job.seed,
            **thinking_settings(job.thinking, job.chat_template_kwargs),
        },
        chosen={
            "limit": job.limit,
            "split": job.split,
            "domain": ",".join(job.domains),
            **({"tier": ",".join(job.tiers)} if job.tiers else {}),
            "seed": job.seed,
        },
        prompts=job.plan.prompts(chosen),
        model_title=job.name or _title(job.model),
        versions=versions(),
    )


def folder_name(manifest: Manifest) -> str:
    """Derive the folder's name from everything that decides what is asked.

    Settings that are off ask nothing and change no name.
    """
    (name,) = manifest.protocols
    plan = PROTOCOLS[name]
    off = {k: v for k, v in settings.as_dict(plan.Settings()).items() if k in plan.off_by_default}
    parts = {k: v for k, v in _what_is_asked(manifest).items() if k not in off or v != off[k]}
    key = content_id([parts, manifest.judge_signature])[:8]
    model = "".join(c if c.isalnum() or c in "-_." else "-" for c in manifest.model_signature)
    return f"{name}-{model.strip('-.')[-40:]}-{key}"


def _what_is_asked(manifest: Manifest) -> dict[str, object]:
    """Return what a run asks for: two runs that agree in it may share a folder."""
    return {
        "protocols": manifest.protocols,
        "data": f"{manifest.data}-{manifest.data_hash}",
        "model": manifest.model_identity,
        "judge": manifest.judge_signature,
        "prompt_texts": manifest.prompts["signature"],
        "seed": manifest.settings["seed"],
        **{
            name: manifest.settings.get(name, default)
            for name, default, stage in settings.flatten(_defaults(manifest))
            if stage == "collect"
        },
        **{f"{name} in use": text for name, text in prompt_parts(manifest).items()},
        **{name: manifest.settings[name] for name in REQUEST_SETTINGS if name in manifest.settings},
    }


def _title(model: str | Engine) -> str:
    """Return what pages call a model on record: its name in the file."""
    return line(model.name, LONGEST_NAME).strip() if isinstance(model, RecordedEngine) else ""


def _defaults(manifest: Manifest) -> object:
    """Return the default settings of a run's protocol (of any, where it is unknown)."""
    known = [PROTOCOLS[name] for name in manifest.protocols if name in PROTOCOLS]
    return (known or list(PROTOCOLS.values()))[0].Settings()


def open_folder(path: Path, manifest: Manifest, questions: Sequence[Question] = ()) -> RunFolder:
    """Create the run folder, or open it again if it holds a run that asks the same."""
    if not RunFolder.exists(path):
        return RunFolder.create(path)
    folder = RunFolder.open(path)
    before = folder.read_manifest()
    _refuse_other_data(path, before, manifest, questions)
    _refuse_other(path, before, _what_is_asked(before), _what_is_asked(manifest))
    return folder


def _refuse_other_data(
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
    _refuse_other(path, before, {"data": data[0]}, {"data": data[1]})


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


def _refuse_other(
    path: Path, before: Manifest, old: Mapping[str, object], new: Mapping[str, object]
) -> None:
    """Refuse a folder whose run asks something else. Raises InputError."""
    for name in dict.fromkeys((*FIRST_TOLD, *new, *old)):
        if old.get(name) != new.get(name):
            kept, wanted = (line(_in_words(of.get(name)), 200) for of in (old, new))
            told = f" with {name.replace('_', ' ')} {kept}, not {wanted}"
            if name == "protocols":
                told = f", not of {wanted}"
            raise InputError(f"{_contains(path, before)}{told}; choose another --out")


def _in_words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else setting_text(value)


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
            old, new = _what_is_asked(before), _what_is_asked(_planned(job))
            for name in OPENED:
                old.pop(name, None), new.pop(name, None)
            _refuse_other(path, before, old, new)


def check_folders(opened: OpenJob) -> None:
    """Refuse a run folder that asks something else, and other runs that this one cannot build on.

    Makes no folder. Raises InputError.
    """
    job, questions, manifest = opened.job, opened.data.questions, manifest_of(opened)
    job.plan.check_other_runs(job.settings, manifest, questions)
    path = _path_of(job, manifest)
    if RunFolder.exists(path):
        open_folder(path, manifest, questions)


def _path_of(job: Job, manifest: Manifest) -> Path:
    return Path(job.out) if job.out else Path("runs") / folder_name(manifest)


def check_finished(job: Job) -> None:
    """Refuse a finished run in ``out`` that is not this one: other questions, settings, or model.

    Loads the data, and no weights. Raises InputError.
    """
    path = Path(job.out or "")
    before = RunFolder.open(path).read_manifest()
    data = load_data(job)
    planned = msgspec.structs.replace(_planned(job), data=data.name, data_hash=data.hash)
    _refuse_other_data(path, before, planned, data.questions)
    check_out(job)
    with contextlib.ExitStack() as stack:
        engine, _ = open_subject(job, stack, weights=False)
        _refuse_other(path, before, {"model": before.model_identity}, {"model": engine.identity})


def discard(folder: RunFolder) -> None:
    """Remove manifest and questions of a run in which nothing was answered, and its folder."""
    for name in ("manifest.json", "questions.parquet"):
        (folder.path / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # other files are in it: it stays
        folder.path.rmdir()


def run(
    protocol: str = "uncle",
    *,
    model: str | Sequence[str] | Engine = "builtin",
    data: str | PathLike[str] = "",
    judge: str | Sequence[str] | Judge | Engine = "rules",
    out: str | PathLike[str] | None = None,
    limit: int | None = None,
    seed: int = 0,
    split: str = "test",
    domains: str | Sequence[str] = (),
    tiers: str | Sequence[str] = (),
    cache: str | PathLike[str] | None = None,
    options: Any = None,
    settings: Mapping[str, object] | None = None,
    command: str = "",
    progress: Progress | None = None,
    model_options: Mapping[str, object] | None = None,
    thinking: str | int = "",
    chat_template_kwargs: str | Mapping[str, Scalar] | None = None,
    price: str | None = None,
    max_cost: float | None = None,
    model_version: str | None = None,
    concurrency: int | None = None,
    timeout: float | None = None,
    patience: float | None = None,
    batch_files: bool = False,
    fresh: bool = False,
    stale_ok: bool = False,
    name: str = "",
    device: str | None = None,
    dtype: str | None = None,
    batch_size: int | None = None,
    revision: str | None = None,
    end_loops: bool | None = None,
    judge_price: str | None = None,
    judge_batch: Batch = "item",
    judge_mode: Mode = "one_pass",
    judge_labels: Labels = "stance",
    judge_anyway: bool = False,
    engine: str = "",
    ray_address: str = "",
    ray_actors: int | None = None,
    jobs: int | None = None,
    report: bool = True,
) -> Result:
    """Run one protocol: ask, judge, measure, and leave a run folder with its page behind.

    ``model``, ``data`` and ``judge`` are names as on the command line (a list of URLs: several
    endpoints of one model), or an engine of your own
    (and a judge, or an engine that is to judge; docs/python.md). Without ``data`` the built-in
    model is asked about its own invented world, any other model about the real one ("world").
    ``out`` is the run folder; left out, its name is derived from the settings, so that the same
    command goes on where it was stopped. ``settings`` are the protocol's, by the names of the
    command line: ``{"probe.k": 3}`` is ``--probe.k 3``; they change ``options``, an object of all
    of them (left out: the defaults).
    ``limit`` counts entities (0: all), and draws the same share of the pairs of an unanswerable and
    an answerable question. ``thinking`` is "on", "off", "low", "medium", "high" or a
    number of tokens; ``price`` "in,out" in dollars per million tokens; ``max_cost`` the dollars
    that this call may spend; ``batch_files`` asks endpoints in batch files, for half the price.
    ``fresh`` asks the model everything again, and keeps the earlier answers in the cache;
    ``stale_ok`` uses cached answers although another model answers at the endpoint now.
    ``name`` is what pages call the model; ``device``, ``dtype``,
    ``batch_size`` and ``revision`` say how one in this process is opened (docs/local_models.md),
    ``end_loops`` that its answers end where they only repeat themselves (left out: what suits the
    model). ``engine="ray"`` has
    models of this process compute in Ray's actors instead, ``ray_actors`` of them on the cluster
    whose head is ``ray_address`` (docs/scaling.md). ``jobs`` processes (all cores) read many
    answers where the judge is "rules".
    ``report=False`` leaves the page out, which takes seconds; ``sayso.report.write(result)`` writes
    it later.
    Raises :class:`~sayso.records.InputError` for what a user can mend, and
    :class:`~sayso.runs.costs.BudgetSpent` at the end of the money.
    """
    own = locals()
    job = _job({k: own[k] for k in own if k not in ("progress", "settings", "report")})
    result = execute_job(_with_settings(job, settings) if settings else job, progress)
    if report:
        write_page(result)
    return result


def _job(given: dict[str, Any]) -> Job:
    """Return a job of arguments as people write them: a single domain, a path of data."""
    data, thinking = given["data"], given["thinking"]
    for name in ("domains", "tiers"):
        if isinstance(given[name], str):
            given[name] = (given[name],)
    if isinstance(data, PathLike):
        given["data"] = str(data)
    for whose in ("model", "judge"):  # the URLs of several endpoints
        if isinstance(given[whose], list | tuple) and all(isinstance(u, str) for u in given[whose]):
            given[whose] = ",".join(given[whose])
    if isinstance(thinking, int) and not isinstance(thinking, bool):
        given["thinking"] = str(thinking)
    if given["model_options"] is None:
        given["model_options"] = {}
    return Job(**given)


def _with_settings(job: Job, changes: Mapping[str, object]) -> Job:
    """Return a job with some of the protocol's settings changed by name. Raises InputError."""
    check_settings_mapping(changes)
    _check_kinds(job)
    before = job.options or job.plan.Settings()
    arguments = {f.name for f in dataclasses.fields(Job)} - {"options", "command", *OF_COMMANDS}
    for name in changes:
        if name in arguments and name not in settings.as_dict(before):
            raise InputError(
                f"{name} is not a setting of {job.protocol} but a separate argument: "
                f"sayso.run({name}=...)"
            )
    return dataclasses.replace(job, options=settings.change(before, changes))


def execute_job(job: Job, progress: Progress | None = None, meter: Meter | None = None) -> Result:
    """Run a job; see :func:`run`, and :func:`open_job` for ``meter``."""
    check(job)
    check_out(job)
    with one_period([job], progress) as (own,), open_job(own, progress, meter=meter) as opened:
        manifest = manifest_of(opened)
        path = _path_of(job, manifest)
        with seldom_collected(), one_writer(path, job.command or "sayso.run"):
            return _execute(opened, manifest, path)


#: fields of a job that a command sets
OF_COMMANDS = ("begun", "period")


#: fields of a job that change nothing of what it asks
OF_PACE = ("command", "max_cost", "concurrency", "timeout", "patience", "jobs", *OF_COMMANDS)


def with_period(jobs: Sequence[Job]) -> tuple[list[Job], Period | None]:
    """Return the jobs of one command, and the period in which it asks everything anew, if it does.

    What it asks for one of them is fresh for the others, and each of several knows when the command
    began.
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
    return own, period


def _named(job: Job) -> list[str]:
    """Return what a job asks, as a text for each field; an engine by its name."""
    names = [field.name for field in dataclasses.fields(job) if field.name not in OF_PACE]
    values = [getattr(job, name) for name in names]
    return [
        str(v.name) if hasattr(v, "complete") or hasattr(v, "grade") else str(v) for v in values
    ]


@contextlib.contextmanager
def one_period(jobs: Sequence[Job], progress: Progress | None = None) -> Iterator[list[Job]]:
    """Give the jobs of one command, as :func:`with_period`; a period ends with the block."""
    own, period = with_period(jobs)
    if period is not None and period.goes_on and progress is not None:
        progress.note(
            f"resuming --fresh: answers of the last {ago(time.time() - period.since)} are kept"
        )
    yield own
    if period is not None:
        period.end()


def _execute(opened: OpenJob, manifest: Manifest, path: Path) -> Result:
    """Ask, judge and measure into a folder that is ours alone."""
    job, questions = opened.job, opened.data.questions
    notices = job.plan.check_other_runs(job.settings, manifest, questions)
    new, folder = not RunFolder.exists(path), open_folder(path, manifest, questions)
    tools = RunTools(None if _is_recorded(job) else opened.model, job.cache_folder, job.ray)
    further = further_models(opened)
    sources = KnowledgeSources(questions, job.cache_folder)
    work = FolderRun(
        folder, questions, manifest, shape=opened.shape, judge_engine=opened.judge_engine,
        tools=tools.open, search=sources.search,
    )  # fmt: skip
    progress = work.progress = opened.model.progress
    work.models, work.recorded = further.open, _lookup(job)
    try:
        with contextlib.closing(tools), contextlib.closing(sources), contextlib.closing(further):
            for caution in (*world_caution(job), *unlisted(opened)):
                progress.note(caution)
            _tell_idle_jobs(opened)
            missing, checked = _look_into_cache(opened)  # it may refuse: nothing is written yet
            folder.write("questions", questions, Question)
            folder.write_manifest(manifest)
            if getattr(opened.model.engine, "asks_ahead", False):
                opened.model.ask_ahead(missing)
            job.plan.collect(questions, opened.model, opened.judge, work, job.settings, job.seed)
    except BaseException:
        if new and not _answered(opened.model, folder):
            discard(folder)  # a start that failed leaves nothing to clean up
        raise
    if isinstance(job.model, RecordedEngine):
        keep_beside(work, job.model, job.judge)
    counts = work.verdict_counts.get(opened.judge.signature, VerdictCounts())
    check_any_read(opened.judge, counts, f"sayso judge-check {opened.judge.name}")
    progress.doing("computing the numbers")
    with work.timed("measure"):
        estimates = job.plan.measure(work, job.settings)
    folder.write(f"metrics/{job.protocol}", estimates, Estimate)
    write_answers(folder, questions, job.plan.probing(job.settings))
    manifest = msgspec.structs.replace(
        manifest, finished=now(), timings=work.timings, **_bookkeeping(opened),
        cautions=_cautions(opened, work, counts, estimates, checked),
        cached={**opened.model.ages.record(), **checked.counts},
        notices=(
            *_data_notices(opened),
            *opened.cache.notices,
            *opened.model.notices,
            *checked.notices,
            *tools.notices,
            *sources.notices,
            *further.notices,
            *_judge_notices(opened),
            *notices,
            *work.notices,
            *bill(opened.model, opened.judge_engine),
        ),
    )  # fmt: skip
    folder.write_manifest(manifest)
    return Result(path, estimates, manifest, entities_of(questions))


def world_caution(job: Job) -> list[str]:
    """Return the caution for a model that is asked about the invented world and cannot know it."""
    return [] if _is_recorded(job) else datasets.foreign_world_caution(job.model, job.data_set)


def unlisted(opened: OpenJob) -> list[str]:
    """Return the cautions on models, subject or judge, that their endpoints do not list."""
    engines = [innermost(one) for one in (opened.model, opened.judge_engine) if one is not None]
    cautions = [text for engine in engines for text in getattr(engine, "unlisted", list)()]
    return [*dict.fromkeys(cautions)]


def _cautions(
    opened: OpenJob,
    work: FolderRun,
    counts: VerdictCounts,
    estimates: Sequence[Estimate],
    checked: SameModel,
) -> tuple[str, ...]:
    """Return what must be read before any number: unseen questions, then data that do not fit."""
    plan = opened.job.plan
    return (
        *unseen_cautions(work),
        *checked.cautions,
        *opened.model.cautions,
        *(world_caution(opened.job) or plan.misfit(estimates)),
        *coherence_cautions(work),
        *unread_run_cautions(counts),
        *plan.cautions(estimates, opened.model.capabilities.draws_vary),
    )


def _tell_idle_jobs(opened: OpenJob) -> None:
    """Tell where processes for the rules were asked for, and another judge reads."""
    judge = opened.job.judge
    by_rules = isinstance(judge, str) and judge.partition("+")[0] == "rules"
    if opened.job.jobs is not None and not by_rules:
        opened.model.progress.note(
            f"jobs has no effect here: it is for the judge rules, and {opened.judge.name} reads "
            "the answers"
        )


def _look_into_cache(opened: OpenJob) -> tuple[list[Request], SameModel]:
    """Tell what earlier runs have asked; return what is missing, and what is known of the model.

    Raises InputError where another model answers now than the one that gave the cached answers.
    """
    ahead = getattr(opened.model.engine, "asks_ahead", False)
    if _is_recorded(opened.job) or not (ahead or opened.cache.filled):
        return [], SameModel()
    opened.model.progress.doing("reading the cache")
    asks = foreseen(opened)
    missing = opened.model.missing(ask.request for ask in asks)
    checked = check_same_model(
        asks, opened.model, begun=opened.job.begun, needed=bool(missing),
        stale_ok=opened.job.stale_ok,
    )  # fmt: skip
    return missing, checked


def foreseen(opened: OpenJob) -> list[Ask]:
    """Return what the stages of a run will ask, as far as no answer decides it."""
    job = opened.job
    asks = job.plan.requests(opened.data.questions, job.settings, job.seed)
    return [ask._replace(request=opened.shape(ask.request)) for ask in asks]


def _lookup(job: Job) -> Lookup | None:
    """Return what finds the answers of a model on record."""
    model = job.model
    return partial(answers_of, model, job.plan) if isinstance(model, RecordedEngine) else None


def further_models(opened: OpenJob, *, learn: bool = True) -> FurtherModels:
    """Return the models that a job may ask besides its subject and its judge, none open yet."""
    meter, progress = opened.model.meter, opened.model.progress
    options = opened.job.judge_options._replace(price=opened.job.judge_price)
    return FurtherModels(opened.cache, meter, options, progress, learn=learn)


def _bookkeeping(opened: OpenJob) -> dict[str, Any]:
    """Return what a finished run cost, and how its judge did when it was checked."""
    engine = opened.judge_engine
    return {
        "tokens": token_counts(opened.model, opened.judge, engine, opened.begun),
        "dollars": opened.model.dollars,
        "judge_dollars": engine.dollars if engine is not None else None,
        "judge_check": stored(opened.judge.signature, opened.job.cache_folder) or {},
    }


def _data_notices(opened: OpenJob) -> list[str]:
    """Return notes of the questions, and of what a model on record lacks."""
    model = opened.job.model
    return data_notices(opened.data) + (
        lacking_for_scores(model) if isinstance(model, RecordedEngine) else []
    )


def data_notices(data: Dataset) -> list[str]:
    """Return the notes of a data set, and how much of it is asked."""
    return [*data.notices, size_of(data)]


def size_of(data: Dataset) -> str:
    """Return how many entities, short questions and paragraphs a data set has, in words."""
    parts = [_many(len(data.short), "short question"), _many(len(data.long), "paragraph")]
    asked = ", ".join(part for part in parts if not part.startswith("0 "))
    return f"{_many(entities_of(data.questions), 'entity', 'entities')}: {asked}"


def _many(number: int, one: str, more: str = "") -> str:
    return f"{number:,} {one if number == 1 else more or f'{one}s'}"


def _answered(model: CachedEngine, folder: RunFolder) -> bool:
    """Tell whether there is anything to keep: one answer, or a table that says why none came."""
    tally = model.tally
    return bool(tally.cached or tally.asked > tally.failed or folder.tables("generations"))


def _judge_notices(opened: OpenJob) -> list[str]:
    own = [str(notice) for notice in getattr(opened.judge, "notices", ())]
    engine = opened.judge_engine
    return list(dict.fromkeys([*(engine.notices if engine is not None else ()), *own]))


def token_counts(
    model: CachedEngine,
    judge: Judge,
    judge_engine: CachedEngine | None,
    begun: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, int]:
    """Return the counts of a run: the subject's, and with ``judge_`` before them the judge's.

    ``begun`` is what the subject had counted before.
    """
    by_now = _counts(model.counts, "model_")
    counts = {
        **_counts(getattr(judge, "counts", None), "judge_"),
        **_counts(model.tally),
        **{name: number - begun.get(name, 0) for name, number in by_now.items()},
    }
    if judge_engine is not None:
        counts |= _counts(judge_engine.tally, "judge_")
    return counts


def _counts(counted: object, prefix: str = "") -> dict[str, int]:
    """Return the whole numbers of a struct of counts, or of a mapping."""
    fields = getattr(counted, "__struct_fields__", ())
    counts = dict(counted) if isinstance(counted, Mapping) else {}
    counts |= {name: getattr(counted, name) for name in fields}
    return {f"{prefix}{k}": v for k, v in counts.items() if isinstance(v, int)}

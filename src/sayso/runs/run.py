"""``sayso.run``: open what a job needs, ask, judge and measure into a run folder."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import starmap
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Unpack

import msgspec

from sayso import datasets
from sayso.datasets.dataset import Dataset, declining_golds
from sayso.datasets.own_table import given_data
from sayso.engines.absent import AbsentModel, check_here
from sayso.engines.engine import Engine
from sayso.engines.named import PACKAGED
from sayso.engines.prices import Price, price_of
from sayso.harmless import line
from sayso.judges.judge import Judge
from sayso.judges.reliability import stored
from sayso.judges.rules.judge import declines
from sayso.keywords import RunKeywords
from sayso.options import (
    OPTIONS,
    ModelOptions,
    check_keywords,
    option_names,
    part,
    with_keywords,
)
from sayso.processes import seldom_collected
from sayso.progress import Progress
from sayso.protocols.answer_table import write_answers
from sayso.protocols.coherence import coherence_cautions, unseen_cautions
from sayso.protocols.protocol import Ask, first_asks, walk
from sayso.records import Estimate, Question, Request
from sayso.report import write as write_page
from sayso.runs.asking import CachedEngine, bill, innermost, request_shaper
from sayso.runs.costs import Meter, is_local, known_price, open_priced
from sayso.runs.freshness.same_model import SameModel, check_same_model
from sayso.runs.job import (
    Job,
    check,
    check_data,
    check_out,
    discard,
    is_recorded,
    job_of,
    load_data,
    one_period,
    open_folder,
    path_of,
    planned,
    refuse_other,
    refuse_other_data,
    unused_prompts,
    with_settings,
)
from sayso.runs.judge import OpenJudge, open_judge
from sayso.runs.measure import entities_of
from sayso.runs.recorded import (
    PEOPLE,
    PeopleJudge,
    RecordedEngine,
    answers_of,
    keep_beside,
    lacking_for_scores,
)
from sayso.runs.rehearsal import Rehearsed, rehearse
from sayso.runs.result import Result
from sayso.runs.stages import FolderRun, VerdictCounts, check_any_read, now, unread_run_cautions
from sayso.runs.tools import FurtherModels, KnowledgeSources, RunTools
from sayso.storage.atomic import one_writer
from sayso.storage.cache import FILE_NAME, Cache
from sayso.storage.run_folder import Manifest, RunFolder, machine


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
    begun: Mapping[str, int] = MappingProxyType({})

    def check_here(self) -> None:
        """Refuse a model or judge whose files are not on this machine. Raises NotHere."""
        check_here(self.model)
        check_here(self.judge_engine)


@contextlib.contextmanager
def open_job(
    job: Job, progress: Progress | None = None, *, learn: bool = True, meter: Meter | None = None
) -> Iterator[OpenJob]:
    """Open data, model, cache and judge, and close them at the end.

    ``meter`` counts the money where several jobs share a limit; else each has its own.
    An engine or a judge of the caller's own is used as it is and left open. With ``learn=False``
    nothing can be asked: of a model in this process no weights are loaded, its files need not be
    here, and a judge's endpoint is not asked what it can do. Raises InputError.
    """
    check(job)
    data = load_data(job)
    check_data(job, data)
    if job.out is not None and RunFolder.exists(job.out):
        wanted = msgspec.structs.replace(planned(job), data=data.name, data_hash=data.hash)
        before = RunFolder.open(job.out).read_manifest()
        refuse_other_data(Path(job.out), before, wanted, data.questions)
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
        model.shape = request_shaper(job)
        judge = open_judge(
            _judge_of(job), job.judge_options, subject=model, cache=cache, meter=meter,
            progress=progress, learn=learn,
        )  # fmt: skip
        stack.callback(judge.close)
        begun = _counts(model.counts, "model_")
        yield OpenJob(job, data, model, judge.judge, judge.engine, cache, price, begun)


def _opening(model: str, learn: bool) -> str:
    """Return what takes its time while a model is opened."""
    if not is_local(model):
        return "connecting to the endpoint"
    name = line(model.removeprefix("hf:").removeprefix("gguf:").rstrip("/").rpartition("/")[2], 80)
    if not learn:
        return f"reading the files of {name} (no weights are loaded)"
    return f"unpacking {name} (once) and loading it" if model in PACKAGED else "loading the model"


def _judge_of(job: Job) -> str | Judge | Engine:
    """Return a job's judge; people are one where their verdicts are on record."""
    if job.judge == PEOPLE and isinstance(job.model, RecordedEngine):
        return PeopleJudge(job.model.labels)
    return job.judge


def open_subject(
    job: Job, stack: contextlib.ExitStack, *, weights: bool
) -> tuple[Engine, Price | None]:
    """Open the subject; an engine of the caller's own may carry its ``price``."""
    if not isinstance(job.model, str):  # what it cost is in its replies
        return job.model, price_of("", job.price) if job.price else known_price(job.model)
    engine, price = open_priced(
        job.model,
        job.max_cost,
        opening=part(ModelOptions, job),
        price=job.price,
        extra=job.model_options,
        ray=job.ray,
        weights=None if weights else False,
        batches=job.batches,
    )
    stack.callback(engine.close)
    return engine, price


#: what an engine may say of its model: where it computes, how much at once, a GGUF file's origin
ABOUT_MODEL = ("device", "plan", "card")


def manifest_of(opened: OpenJob) -> Manifest:
    """Return what a run is before it has begun."""
    data, model, judge = opened.data, opened.model, opened.judge
    told = {f"{name} of the model": str(getattr(model.engine, name, "")) for name in ABOUT_MODEL}
    before = planned(opened.job)
    return msgspec.structs.replace(
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
        machine={**machine(), **{name: text for name, text in told.items() if text}},
    )


def check_folders(opened: OpenJob, later: Sequence[Path] = ()) -> None:
    """Refuse a run folder that asks something else, and other runs that this one cannot build on.

    Makes no folder. ``later`` are the folders of runs that come before this one and have not begun.
    Without a model's files, whether a run is its own cannot be told. Raises InputError.
    """
    job, questions, manifest = opened.job, opened.data.questions, manifest_of(opened)
    if Path(getattr(job.settings, "known_from", "")) not in later:
        job.plan.check_other_runs(job.settings, manifest, questions)
    path = path_of(job, manifest)
    if RunFolder.exists(path) and not isinstance(innermost(opened.model), AbsentModel):
        open_folder(path, manifest, questions)


def check_finished(job: Job) -> None:
    """Refuse a finished run in ``out`` that is not this one: other questions, settings, or model.

    Loads the data, and no weights. Raises InputError.
    """
    path = Path(job.out or "")
    before = RunFolder.open(path).read_manifest()
    data = load_data(job)
    wanted = msgspec.structs.replace(planned(job), data=data.name, data_hash=data.hash)
    refuse_other_data(path, before, wanted, data.questions)
    check_out(job)
    with contextlib.ExitStack() as stack:
        engine, _ = open_subject(job, stack, weights=False)
        check_here(engine)
        refuse_other(path, before, {"model": before.model_identity}, {"model": engine.identity})


@with_keywords(option_names(*OPTIONS))
def run(
    protocol: str = "uncle",
    *,
    model: str | Engine = "builtin",
    data: Any = "",
    columns: str | Mapping[str, str] = "",
    judge: str | Judge | Engine = "rules",
    out: str | PathLike[str] | None = None,
    options: Any = None,
    settings: Mapping[str, object] | None = None,
    command: str = "",
    progress: Progress | None = None,
    model_options: Mapping[str, object] | None = None,
    name: str = "",
    report: bool = True,
    **given: Unpack[RunKeywords],
) -> Result:
    """Run one protocol: ask, judge, measure, and leave a run folder with its page behind.

    ``model``, ``data`` and ``judge`` are names as on the command line, or an engine of your own
    (and a judge, or an engine that is to judge; docs/python.md). ``data`` may also be rows: a list
    of dicts, a dict of columns, or a data frame, with the columns of a file; ``columns`` maps our
    names to yours. Without ``data`` the built-in
    model is asked about its own invented world, any other model about the real one ("world").
    ``out`` is the run folder; left out, its name is derived from the settings, so that the same
    command goes on where it was stopped. ``settings`` are the protocol's, by the names of the
    command line: ``{"probe.k": 3}`` is ``--set probe.k=3``; they change ``options``, an object of
    all of them (left out: the defaults).
    ``limit`` counts entities (0: all), and draws the same share of the pairs of an unanswerable and
    an answerable question. ``thinking`` is "on", "off", "low", "medium", "high" or a
    number of tokens; ``system`` is the system prompt, a text, or the ``Path`` of its file;
    ``price`` "in,out" in dollars per million tokens; ``max_cost`` the dollars
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
    check_keywords(run.__name__, given, option_names(*OPTIONS))
    job = job_of(
        protocol=protocol, model=model, data=given_data(data, columns), judge=judge, out=out,
        options=options, name=name, command=command,
        model_options={} if model_options is None else model_options, **given,
    )  # fmt: skip
    result = execute_job(with_settings(job, settings) if settings else job, progress)
    if report:
        write_page(result)
    return result


def execute_job(job: Job, progress: Progress | None = None, meter: Meter | None = None) -> Result:
    """Run a job; see :func:`run`, and :func:`open_job` for ``meter``."""
    check(job)
    check_out(job)
    with one_period([job], progress) as (own,), open_job(own, progress, meter=meter) as opened:
        manifest = manifest_of(opened)
        path = path_of(job, manifest)
        with seldom_collected(), one_writer(path, job.command or "sayso.run"):
            return _execute(opened, manifest, path)


def finished_result(job: Job, out: Path) -> Result | None:
    """Return what a folder holds, if it is this job and finished. InputError for another one."""
    if not RunFolder.exists(out):
        return None
    with open_job(job) as opened:
        manifest = manifest_of(opened)
        folder = open_folder(out, manifest)
    before = folder.read_manifest()
    if before.finished is None or before.judge_signature != manifest.judge_signature:
        return None
    estimates = folder.read(f"metrics/{job.protocol}", Estimate)
    return Result(out, estimates, before, entities_of(opened.data.questions))


def _execute(opened: OpenJob, manifest: Manifest, path: Path) -> Result:
    """Ask, judge and measure into a folder that is ours alone."""
    job, questions, progress = opened.job, opened.data.questions, opened.model.progress
    other_runs = job.plan.check_other_runs(job.settings, manifest, questions)
    new, folder = not RunFolder.exists(path), open_folder(path, manifest, questions)
    asked = None if is_recorded(job) else opened.model
    tools = RunTools(asked, job.cache_folder, job.ray, progress)
    further = further_models(opened)
    sources = KnowledgeSources(questions, job.cache_folder)
    work = FolderRun(
        folder, questions, manifest, model=opened.model,
        judge=OpenJudge(opened.judge, opened.judge_engine), tools=tools.open, search=sources.search,
    )  # fmt: skip
    work.progress, work.models = progress, further.open
    if isinstance(job.model, RecordedEngine):
        work.recorded = partial(answers_of, job.model, job.plan)
    try:
        with contextlib.closing(tools), contextlib.closing(sources), contextlib.closing(further):
            for caution in (*world_caution(job), *unlisted(opened.model, opened.judge_engine)):
                progress.note(caution)
            _tell_idle(opened, work)
            missing, checked = _look_into_cache(opened)  # it may refuse: nothing is written yet
            folder.write("questions", questions, Question)
            folder.write_manifest(manifest)
            if getattr(opened.model.engine, "asks_ahead", False):
                opened.model.ask_ahead(missing)
            walk(job.plan.steps(questions, job.settings, job.request_seed), work)
    except BaseException:
        if new and not _answered(opened.model, folder):
            discard(folder)  # a start that failed leaves nothing to clean up
        raise
    work.end()
    if isinstance(job.model, RecordedEngine):
        keep_beside(work, job.model, job.judge)
    counts = work.verdict_counts.get(opened.judge.signature, VerdictCounts())
    check_any_read(opened.judge, counts, f"sayso judge-check {opened.judge.name}")
    estimates = _measure(job, work)
    manifest = msgspec.structs.replace(
        manifest, finished=now(), timings=work.timings, **_bookkeeping(opened),
        cautions=(*other_runs, *_cautions(opened, work, counts, estimates, checked)),
        cached={**opened.model.ages.record(_asked_since(job, manifest)), **checked.counts},
        notices=(
            *data_notices(opened.data),
            *(lacking_for_scores(job.model) if isinstance(job.model, RecordedEngine) else ()),
            *opened.cache.notices,
            *opened.model.notices,
            *checked.notices,
            *tools.notices,
            *sources.notices,
            *further.notices,
            *_judge_notices(opened),
            *work.notices,
            *bill(opened.model, opened.judge_engine),
        ),
    )  # fmt: skip
    folder.write_manifest(manifest)
    return Result(path, estimates, manifest, entities_of(questions))


def _measure(job: Job, work: FolderRun) -> list[Estimate]:
    """Compute and store the numbers of a run, and the table of its answers."""
    work.progress.doing("computing the numbers")
    with work.timed("measure"):
        estimates = job.plan.measure(work, job.settings)
    work.folder.write(f"metrics/{job.protocol}", estimates, Estimate)
    write_answers(work.folder, work.questions, job.plan.probing(job.settings))
    return estimates


def _asked_since(job: Job, manifest: Manifest) -> float:
    """Return when the command of a run began to ask, in seconds since 1970.

    Of a ``--fresh`` command that was stopped and goes on, that is when it began first.
    """
    if job.period is not None:
        return job.period.since
    # a manifest has whole seconds: an answer given earlier in this one must not count as the run's
    begun = datetime.datetime.fromisoformat(manifest.created).timestamp() + 1
    return begun if job.begun is None else min(begun, job.begun)


def world_caution(job: Job) -> list[str]:
    """Return the caution for a model that is asked about the invented world and cannot know it."""
    return [] if is_recorded(job) else datasets.foreign_world_caution(job.model, job.data_set)


def unlisted(*asked: CachedEngine | None) -> list[str]:
    """Return the cautions on models that their endpoints do not list, or that are not here."""
    engines = [innermost(one) for one in asked if one is not None]
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


def _tell_idle(opened: OpenJob, work: FolderRun) -> None:
    """Tell which prompts are not sent, and where another judge reads than the rules' processes."""
    work.tell(unused_prompts(opened.job))
    for notice in work.notices:
        opened.model.progress.note(notice)
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
    if is_recorded(opened.job) or not (ahead or opened.cache.filled):
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
    """Return what the steps of a run will ask, as far as no answer decides it.

    Where somebody reads first what is to be asked about, the steps are rehearsed.
    """
    job = opened.job
    steps = job.plan.steps(opened.data.questions, job.settings, job.request_seed)
    asks = first_asks(steps)
    if not asks:
        with contextlib.closing(further_models(opened, learn=False)) as further:
            judge = OpenJudge(opened.judge, opened.judge_engine)
            manifest = manifest_of(opened)
            of = Rehearsed(job, manifest, opened.data.questions, opened.model, judge, further)
            fewest, _ = rehearse(of, lambda limit: (1, 1), (), steps)
        asks = [*fewest.asks.values()]
    return shaped(asks, opened.model)


def shaped(asks: Sequence[Ask], model: CachedEngine) -> list[Ask]:
    """Return requests as a model gets them: with its system prompt, and how it is to think."""
    return [ask._replace(request=model.shape(ask.request)) for ask in asks]


def further_models(opened: OpenJob, *, learn: bool = True) -> FurtherModels:
    """Return the models that a job may ask besides its subject and its judge, none open yet."""
    meter, progress = opened.model.meter, opened.model.progress
    options = dataclasses.replace(opened.job.judge_options, judge_price=opened.job.judge_price)
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


def data_notices(data: Dataset) -> list[str]:
    """Return the notes of a data set, and how much of it is asked."""
    open_golds = ((q.text, [g.value for g in q.golds or ()]) for q in data.short if q.answerable)
    silent = declining_golds(sum(starmap(declines, open_golds)))
    return [*data.notices, *silent, size_of(data)]


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

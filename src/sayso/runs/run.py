"""``sayso.run``: from names on a command line to a finished run folder."""

from __future__ import annotations

import contextlib
import dataclasses
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from sayso import datasets, prompts
from sayso.datasets.dataset import Dataset
from sayso.engines import open_model
from sayso.engines.engine import Engine
from sayso.engines.prices import Price, price_of
from sayso.judges.judge import Judge
from sayso.judges.reliability import stored
from sayso.protocols import PROTOCOLS, settings
from sayso.protocols.protocol import Protocol, Unsuited, told
from sayso.records import Estimate, InputError, Question, content_id
from sayso.runs.asking import OF_REQUESTS, Asker, Scalar, Shape, bill, shape
from sayso.runs.asking import stored as thinking_stored
from sayso.runs.costs import Meter, check_price, endpoint_options, is_endpoint, known_price
from sayso.runs.judge import Batch, JudgeOptions, Labels, Mode, Seat, check_judge, open_judge
from sayso.runs.measure import Result, entities_of
from sayso.runs.progress import Progress
from sayso.runs.stages import FolderRun, Knowing, Seen, _wordings, check_read, now, signature_parts
from sayso.runs.stages import cautions as unread_cautions
from sayso.runs.tools import Toolbox, chosen_nli
from sayso.scores.collect import Tools
from sayso.storage.cache import Cache, default_cache_folder
from sayso.storage.run_folder import FORMAT, Manifest, RunFolder, machine, versions
from sayso.version import __version__

# What somebody wants a run to be, checked and opened: for running it, and for pricing it.


@dataclasses.dataclass(frozen=True, kw_only=True)
class Job:
    """Everything that can be said about a run; see :func:`sayso.run`."""

    protocol: str = "uncle"
    model: str | Engine = "builtin"
    data: str = "builtin"
    judge: str | Judge | Engine = "rules"
    out: str | Path | None = None
    limit: int | None = None
    seed: int = 0
    split: str = "test"
    domains: Sequence[str] = ()
    cache: str | Path | None = None
    options: Any = None
    thinking: str = ""
    chat_template_kwargs: str | Mapping[str, Scalar] | None = None
    price: str | None = None
    max_cost: float | None = None
    model_version: str | None = None
    concurrency: int | None = None
    timeout: float | None = None
    judge_price: str | None = None
    judge_batch: Batch = "item"
    judge_mode: Mode = "one_pass"
    judge_labels: Labels = "stance"
    model_options: Mapping[str, object] = dataclasses.field(default_factory=dict)
    command: str = ""

    @property
    def plan(self) -> Protocol:
        """The protocol itself. Raises InputError for a name that is none."""
        if self.protocol not in PROTOCOLS:
            raise InputError(f"protocol {self.protocol!r}: expected one of {', '.join(PROTOCOLS)}")
        return PROTOCOLS[self.protocol]

    @property
    def settings(self) -> Any:
        """The protocol's settings; what they leave to this machine is decided here."""
        chosen = self.options or self.plan.Settings()
        if getattr(chosen, "nli", None) == "auto":
            chosen = dataclasses.replace(chosen, nli=chosen_nli())
        return chosen

    @property
    def cache_folder(self) -> Path:
        """Where replies are kept."""
        return Path(self.cache or default_cache_folder())

    @property
    def judge_options(self) -> JudgeOptions:
        """How a model judges."""
        return JudgeOptions(
            batch=self.judge_batch,
            mode=self.judge_mode,
            labels=self.judge_labels,
            price=self.judge_price,
            prompt_folder=self.settings.prompt_folder,
            concurrency=self.concurrency,
            timeout=self.timeout,
        )


class Opened(NamedTuple):
    """A job with everything open that it needs. ``price`` is the subject's; None: unknown."""

    job: Job
    data: Dataset
    model: Asker
    seat: Seat
    cache: Cache
    price: Price | None
    shape: Shape


def check(job: Job) -> None:
    """Refuse what can be seen to be wrong without opening anything. Raises InputError."""
    job.plan.check(job.settings)
    for name, value, low, high in (
        ("seed", job.seed, 0, 2**63),
        ("concurrency", job.concurrency, 1, 10_000),
        ("timeout", job.timeout, 0.001, 86_400),
        ("max-cost", job.max_cost, 1e-9, 1e9),
    ):
        if value is not None and not low <= value <= high:
            raise InputError(f"{name} is {value}; expected {low} to {high:g}")
    folder = job.settings.prompt_folder
    prompts.check_folder(Path(folder) if folder else None)
    shape(job.thinking, job.chat_template_kwargs)
    if isinstance(job.judge, str):
        check_judge(job.judge, job.judge_options)
    names = [name for name in (job.model, job.judge) if isinstance(name, str)]
    asked = [name.removeprefix("rules+") for name in names]
    for name in ("concurrency", "timeout"):
        if getattr(job, name) is not None and not any(is_endpoint(model) for model in asked):
            raise InputError(f"{name} is for endpoints, and this run asks none; leave it out")


@contextlib.contextmanager
def opened(job: Job, progress: Progress | None = None, *, learn: bool = True) -> Iterator[Opened]:
    """Open data, model, cache and judge, and let them go at the end.

    An engine or a judge of the caller's own is used as it is and left open. With ``learn=False``
    nothing is asked of a judge's endpoint, not even what it can do. Raises InputError.
    """
    check(job)
    data = datasets.load(
        job.data, split=job.split, domains=job.domains, limit=job.limit, seed=job.seed
    )
    if job.plan.needs_paragraphs and not data.long:
        raise Unsuited(
            f"{job.protocol} asks every fact alone and inside a paragraph, and {data.name} has no "
            "prompts for paragraphs; use `sayso run selective`, or data in UNCLE's format"
        )
    graded = any(q.golds or q.answerable is False for q in data.short)
    if job.plan.needs_golds and not graded:
        raise Unsuited(
            f"{job.protocol} says which answers are right, and {data.name} has no golds; use "
            "`sayso run faithfulness` or `sayso run self_known`, or name the column of golds"
        )
    meter = Meter(job.max_cost)
    with contextlib.ExitStack() as stack:
        engine, price = _model(job, stack)
        _check_taught(engine, job.settings)
        cache = stack.enter_context(Cache(job.cache_folder / "replies.sqlite"))
        asker = Asker(engine, cache, price=price, meter=meter, progress=progress)
        job.plan.check_model(asker, job.settings)
        seat = _seat(job, asker, meter, progress, learn)
        stack.callback(seat.close)
        shaped = shape(job.thinking, job.chat_template_kwargs)
        yield Opened(job, data, asker, seat, cache, price, shaped)


def _check_taught(engine: Engine, chosen: Any) -> None:
    """Refuse to probe a taught model: its hedges would pass for gaps in knowledge."""
    taught_from = str(getattr(engine, "base_run", ""))
    if taught_from and getattr(chosen, "known_from", "") == "self":
        raise InputError(
            f"{engine.name} was taught from {taught_from}, and a taught model's own probes do not "
            f"say what it knows; add --known-from {shlex.quote(taught_from)}"
        )


def _model(job: Job, stack: contextlib.ExitStack) -> tuple[Engine, Price | None]:
    """Open the subject; an engine of the caller's own may carry its ``price``."""
    if not isinstance(job.model, str):  # what it cost is in its replies
        return job.model, price_of("", job.price) if job.price else known_price(job.model)
    price = price_of(job.model, job.price)
    given = endpoint_options(
        job.model,
        price=job.price,
        model_version=job.model_version,
        concurrency=job.concurrency,
        timeout=job.timeout,
    )
    check_price(job.max_cost, job.model, price, "--price")
    engine = open_model(job.model, **{**given, **job.model_options})
    stack.callback(engine.close)
    return engine, price


def _seat(job: Job, subject: Asker, meter: Meter, progress: Progress | None, learn: bool) -> Seat:
    """Open the judge; one that the caller made is used as it is, an engine becomes a judge."""
    if hasattr(job.judge, "grade"):
        return Seat(cast(Judge, job.judge), None)
    return open_judge(
        job.judge,
        job.judge_options,
        subject=subject,
        cache=subject.cache,
        meter=meter,
        progress=progress,
        learn=learn,
    )


# What a run is called, what it asks for, and into which folder it may go.


def manifest_of(found: Opened) -> Manifest:
    """Return what a run is before it has begun."""
    job, data, engine, judge = found.job, found.data, found.model, found.seat.judge
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
            **thinking_stored(job.thinking, job.chat_template_kwargs),
        },
        data=data.name,
        data_hash=data.hash,
        chosen={
            "limit": job.limit,
            "split": job.split,
            "domain": ",".join(job.domains),
            "seed": job.seed,
        },
        n_questions=len(data.questions),
        prompts=job.plan.prompts(chosen),
        model=engine.name,
        model_identity=engine.identity,
        model_base=engine.base,
        model_signature=engine.signature,
        judge=judge.name,
        judge_signature=judge.signature,
        versions=versions(),
        machine=machine(),
    )


def folder_name(manifest: Manifest) -> str:
    """Derive the folder's name from everything that decides what is asked.

    Checks that are off ask nothing: the name is the one from before there were any.
    """
    (name,) = manifest.protocols
    plan = PROTOCOLS[name]
    off = {k: v for k, v in settings.as_dict(plan.Settings()).items() if k in plan.off_by_default}
    asked = {k: v for k, v in _asked(manifest).items() if k not in off or v != off[k]}
    key = content_id([asked, manifest.judge_signature])[:8]
    model = "".join(c if c.isalnum() or c in "-_." else "-" for c in manifest.model_signature)
    return f"{name}-{model.strip('-.')[-40:]}-{key}"


def _asked(manifest: Manifest) -> dict[str, object]:
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
        **{f"{name} in use": said for name, said in _wordings(manifest).items()},
        **{name: manifest.settings[name] for name in OF_REQUESTS if name in manifest.settings},
    }


def _defaults(manifest: Manifest) -> object:
    """Return the protocol's settings as they come; of any for a run of an unknown one."""
    known = [PROTOCOLS[name] for name in manifest.protocols if name in PROTOCOLS]
    return (known or list(PROTOCOLS.values()))[0].Settings()


def open_folder(path: Path, manifest: Manifest) -> RunFolder:
    """Create the run folder, or open it again if it holds a run that asks the same."""
    if not RunFolder.exists(path):
        return RunFolder.create(path)
    folder = RunFolder.open(path)
    before = folder.read_manifest()
    chosen = [
        f"--{name} {told(before.chosen[name])}, not {told(value)}"
        for name, value in manifest.chosen.items()
        if name in before.chosen and before.chosen[name] != value
    ]
    old, new = _asked(before), _asked(manifest)
    if chosen and old["data"] != new["data"]:
        raise InputError(
            f"{path}: holds a run with {'; '.join(chosen)}; repeat it as it was, or choose "
            "another --out"
        )
    for name in {**new, **old}:
        if old.get(name) != new.get(name):
            raise InputError(
                f"{path}: holds a run with {name} {old.get(name)!r}, not {new.get(name)!r}; "
                "choose another --out"
            )
    return folder


def discard(folder: RunFolder, places: Iterable[Path]) -> None:
    """Take back the folder of a run in which nothing was answered: its manifest and questions.

    ``places``, innermost first, are removed too as far as they are empty then.
    """
    for name in ("manifest.json", "questions.parquet"):
        (folder.path / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # somebody else's files are in it: it stays
        for place in places:
            place.rmdir()


def run(
    protocol: str = "uncle",
    *,
    model: str | Engine = "builtin",
    data: str = "builtin",
    judge: str | Judge | Engine = "rules",
    out: str | Path | None = None,
    limit: int | None = None,
    seed: int = 0,
    split: str = "test",
    domains: Sequence[str] = (),
    cache: str | Path | None = None,
    options: Any = None,
    command: str = "",
    progress: Progress | None = None,
    model_options: Mapping[str, object] | None = None,
    thinking: str = "",
    chat_template_kwargs: str | Mapping[str, Scalar] | None = None,
    price: str | None = None,
    max_cost: float | None = None,
    model_version: str | None = None,
    concurrency: int | None = None,
    timeout: float | None = None,
    judge_price: str | None = None,
    judge_batch: Batch = "item",
    judge_mode: Mode = "one_pass",
    judge_labels: Labels = "stance",
) -> Result:
    """Run one protocol: ask, judge, measure, and leave a run folder behind.

    ``model``, ``data`` and ``judge`` are names as on the command line, or an engine of your own
    (and a judge, or an engine that is to judge). ``out`` is the run folder; left out, its name is
    derived from the settings, so that the same command goes on where it was stopped. ``limit``
    counts entities (0: all). ``thinking`` is "on", "off", "low", "medium", "high" or a number of
    tokens; ``price`` "in,out" in dollars per million tokens; ``max_cost`` the dollars that this
    call may spend. Raises :class:`~sayso.records.InputError` for what a user can mend, and
    :class:`~sayso.runs.costs.BudgetSpent` at the end of the money.
    """
    given = {k: v for k, v in locals().items() if k not in ("progress", "model_options")}
    return execute(Job(**given, model_options=model_options or {}), progress)


def execute(job: Job, progress: Progress | None = None) -> Result:
    """Run a job; see :func:`run`."""
    with opened(job, progress) as found:
        manifest = manifest_of(found)
        borrowed = job.plan.check_other_runs(job.settings, manifest, found.data.questions)
        path = Path(job.out) if job.out else Path("runs") / folder_name(manifest)
        new = not RunFolder.exists(path)
        places = [place for place in (path, *path.parents) if not place.exists()]
        folder = open_folder(path, manifest)
        asker, seat, questions = found.model, found.seat, found.data.questions
        box = Toolboxes(asker, job.cache_folder)
        knowing = Knowing(questions, job.cache_folder)
        work = FolderRun(
            folder,
            questions,
            parts=signature_parts(manifest),
            shape=found.shape,
            judge_asker=seat.asker,
            tools=box.open,
            search=knowing.search,
        )
        folder.write("questions", questions, Question)
        folder.write_manifest(manifest)
        try:
            with contextlib.closing(box), contextlib.closing(knowing):
                job.plan.collect(questions, asker, seat.judge, work, job.settings, job.seed)
        except BaseException:
            if new and not _answered(asker, folder):
                discard(folder, places)  # a start that failed leaves nothing to clean up
            raise
        seen = work.seen.get(seat.judge.signature, Seen())
        check_read(seat.judge, seen, f"sayso judge-check {seat.judge.name}")
        with work.timed("measure"):
            estimates = job.plan.measure(work, job.settings)
        folder.write(f"metrics/{job.protocol}", estimates, Estimate)
        told = *asked_about(found.data), *found.cache.notices, *asker.notices
        told = *told, *box.notices, *knowing.notices
        said = *_judge_notices(seat), *borrowed, *work.notices, *bill(asker, seat.asker)
        manifest = msgspec.structs.replace(
            manifest,
            finished=now(),
            timings=work.timings,
            tokens=_tokens(asker, seat),
            dollars=asker.dollars,
            judge_dollars=seat.asker.dollars if seat.asker else None,
            judge_check=stored(seat.judge.signature, job.cache_folder) or {},
            cautions=(
                *unread_cautions(seen),
                *job.plan.cautions(estimates, asker.capabilities.draws_vary),
            ),
            notices=(*told, *said),
        )
        folder.write_manifest(manifest)
    return Result(path, estimates, manifest, entities_of(questions))


class Toolboxes:
    """Opens the tools that a protocol asks for: the subject itself, and who compares meanings."""

    def __init__(self, engine: Engine | None, cache: Path) -> None:
        self._engine, self._cache = engine, cache
        self._open: list[Toolbox] = []

    def open(self, nli: str) -> Tools:
        """Return the tools with meanings compared by ``nli``."""
        for box in self._open:
            if box.nli == nli:
                return box.tools(engine=self._engine is not None, meaning=True)
        self._open.append(Toolbox(self._engine, nli, self._cache))
        return self._open[-1].tools(engine=self._engine is not None, meaning=True)

    @property
    def notices(self) -> list[str]:
        """What the user should be told of the meanings; the model speaks for itself."""
        own = [str(n) for n in getattr(self._engine, "notices", ())]
        return [n for box in self._open for n in box.notices if n not in own]

    def close(self) -> None:
        """Let go of what was opened."""
        for box in self._open:
            box.close()


def asked_about(data: Dataset) -> list[str]:
    """Return what a reader must know of the data: its own notes, and how much of it was asked."""
    size = (
        f"{_many(entities_of(data.questions), 'entity', 'entities')}: "
        f"{_many(len(data.short), 'short question')}, {_many(len(data.long), 'paragraph')}"
    )
    return [*data.notes, size]


def _many(number: int, one: str, more: str = "") -> str:
    return f"{number:,} {one if number == 1 else more or f'{one}s'}"


def _answered(asker: Asker, folder: RunFolder) -> bool:
    """Tell whether there is anything to keep: one answer, or a table that says why none came."""
    tally = asker.tally
    return bool(tally.cached or tally.asked > tally.failed or folder.tables("generations"))


def _judge_notices(seat: Seat) -> list[str]:
    said = [str(notice) for notice in getattr(seat.judge, "notices", ())]
    return list(dict.fromkeys([*(seat.asker.notices if seat.asker else ()), *said]))


def _tokens(asker: Asker, seat: Seat) -> dict[str, int]:
    """Return the counts of a run: the subject's, and with ``judge_`` before them the judge's."""
    found = {**_counts(asker.tally), **_counts(asker.counts, "model_")}
    if seat.asker is not None:
        found |= _counts(seat.asker.tally, "judge_")
    return {**_counts(getattr(seat.judge, "counts", None), "judge_"), **found}


def _counts(counted: object, prefix: str = "") -> dict[str, int]:
    """Return the whole numbers of a struct of counts, or of a mapping."""
    fields = getattr(counted, "__struct_fields__", ())
    found = dict(counted) if isinstance(counted, Mapping) else {}
    found |= {name: getattr(counted, name) for name in fields}
    return {f"{prefix}{k}": v for k, v in found.items() if isinstance(v, int)}

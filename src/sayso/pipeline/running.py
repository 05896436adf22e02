"""``sayso.run``: from names on a command line to a finished run folder."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sayso.annotate import Judge
from sayso.annotate.collect import Tools
from sayso.datasets.collection import Dataset
from sayso.models import Engine
from sayso.pipeline.asking import Asker, Progress
from sayso.pipeline.folder_run import FolderRun
from sayso.pipeline.job import Job, opened
from sayso.pipeline.judge_check_store import stored
from sayso.pipeline.judging import Batch, Labels, Mode, Seat, open_judge
from sayso.pipeline.knowing import Knowing
from sayso.pipeline.manifests import (
    discard,
    folder_name,
    manifest_of,
    now,
    open_folder,
    signature_parts,
)
from sayso.pipeline.pricing import bill
from sayso.pipeline.scoring_tools import Toolbox
from sayso.pipeline.thinking import OF_REQUESTS, Scalar
from sayso.pipeline.unread import Seen, check_read
from sayso.pipeline.unread import cautions as unread_cautions
from sayso.protocols import PROTOCOLS, protocol, settings
from sayso.records import Estimate, InputError, Question
from sayso.store import Manifest, RunFolder

__all__ = ["Result", "execute", "load_run", "manifest_of", "open_judge", "run", "signature_parts"]


class Result(NamedTuple):
    """A finished run: where it lies, what it says, and about how many entities."""

    path: Path
    estimates: list[Estimate]
    manifest: Manifest
    entities: int
    saved: bool = True

    def get(self, name: str, where: str = "all") -> Estimate:
        """Return one number, e.g. ``result.get("J", "form:long")``. Raises KeyError."""
        for estimate in self.estimates:
            if estimate.name == name and estimate.where == where:
                return estimate
        raise KeyError(f"{name} {where}")


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
    :class:`~sayso.pipeline.metering.BudgetSpent` at the end of the money.
    """
    given = {k: v for k, v in locals().items() if k not in ("progress", "model_options")}
    return execute(Job(**given, model_options=model_options or {}), progress)


def execute(job: Job, progress: Progress | None = None) -> Result:
    """Run a job; see :func:`run`."""
    with opened(job, progress) as found:
        manifest = manifest_of(found)
        borrowed = _check_known_from(job.settings, manifest, found.data)
        path = Path(job.out) if job.out else Path("runs") / folder_name(manifest)
        new = not RunFolder.exists(path)
        places = [place for place in (path, *path.parents) if not place.exists()]
        folder = open_folder(path, manifest)
        asker, seat, questions = found.model, found.seat, found.data.questions
        module = protocol(job.protocol)
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
                module.collect(questions, asker, seat.judge, work, job.settings, job.seed)
        except BaseException:
            if new and not _answered(asker, folder):
                discard(folder, places)  # a start that failed leaves nothing to clean up
            raise
        seen = work.seen.get(seat.judge.signature, Seen())
        check_read(seat.judge, seen, f"sayso judge-check {seat.judge.name}")
        with work.timed("measure"):
            estimates = module.measure(work, job.settings)
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
                *module.cautions(estimates, asker.capabilities.draws_vary),
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


def entities_of(questions: Sequence[Question]) -> int:
    """Return how many things were asked about."""
    return len({(q.domain, q.entity) for q in questions})


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


def _check_known_from(chosen: Any, manifest: Manifest, data: Dataset) -> tuple[str, ...]:
    """Refuse probes of another run that were not drawn and judged as this run's numbers will say.

    Returns what a reader must know of them.
    """
    if getattr(chosen, "known_from", "self") == "self":
        return ()
    base = RunFolder.open(Path(chosen.known_from))
    other = base.read_manifest()
    if "uncle" not in other.protocols:
        raise InputError(
            f"known_from {chosen.known_from}: a run of {'+'.join(other.protocols) or 'nothing'}, "
            "which has no probes; expected a finished run of `sayso run uncle`"
        )
    k, heat = (other.settings.get(name) for name in ("probe.k", "probe.temperature"))
    if not isinstance(k, int) or k < chosen.probe.k or heat != chosen.probe.temperature:
        raise InputError(
            f"known_from {chosen.known_from}: it has {k} draws at T={heat}, not "
            f"{chosen.probe.k} at T={chosen.probe.temperature:g}; say --probe.k {k} "
            f"--probe.temperature {heat}, or run the base model again"
        )
    wordings = [m.prompts.get("probe_wordings", "1") for m in (other, manifest)]
    if wordings[0] != wordings[1]:
        raise InputError(
            f"known_from {chosen.known_from}: its probes were drawn in other wordings "
            f"({wordings[0]}, not {wordings[1]}); give both runs the same --wordings, "
            "--probe-wordings and frames"
        )
    if other.judge_signature != manifest.judge_signature:
        raise InputError(
            f"known_from {chosen.known_from}: judged by {other.judge_signature}, not by "
            f"{manifest.judge_signature}; repeat that run with the same judge"
        )
    golds = {q.id: q.golds for q in base.iter("questions", Question)}
    changed = [q for q in data.questions if q.id in golds and golds[q.id] != q.golds]
    if changed:
        raise InputError(
            f"known_from {chosen.known_from}: it was judged against other answers to "
            f"{len(changed)} of the questions, first {changed[0].text!r}; run it on the same data"
        )
    if other.model_base == manifest.model_base:
        return ()
    return (
        f"what is known was decided by the probes of {other.model}, whose base model "
        f"({other.model_base}) is not this model's ({manifest.model_base})",
    )


def _counts(counted: object, prefix: str = "") -> dict[str, int]:
    """Return the whole numbers of a struct of counts, or of a mapping."""
    fields = getattr(counted, "__struct_fields__", ())
    found = dict(counted) if isinstance(counted, Mapping) else {}
    found |= {name: getattr(counted, name) for name in fields}
    return {f"{prefix}{k}": v for k, v in found.items() if isinstance(v, int)}


def load_run(path: str | Path) -> tuple[FolderRun, Manifest, Any]:
    """Open a finished run for measuring: no cache, no model."""
    folder = RunFolder.open(Path(path))
    manifest = folder.read_manifest()
    if manifest.finished is None:
        raise InputError(
            f"{path}: this run is not finished; repeat its command: {manifest.command}"
        )
    if "seed" not in manifest.settings or "signature" not in manifest.prompts:
        raise InputError(f"{path}: its manifest.json is incomplete; run again into another --out")
    if len(manifest.protocols) != 1 or manifest.protocols[0] not in PROTOCOLS:
        raise InputError(
            f"{path}: a run of {', '.join(manifest.protocols) or 'no protocol'}, which this sayso "
            f"does not know; it knows {', '.join(PROTOCOLS)}"
        )
    module = protocol(manifest.protocols[0])
    own = ("seed", *OF_REQUESTS)
    stored = {k: v for k, v in manifest.settings.items() if k not in own}
    try:
        chosen = settings.replace(module.Settings(), stored)
    except (KeyError, TypeError) as error:
        raise InputError(
            f"{path}: made by sayso {manifest.sayso}, whose setting {error} this one does not know"
        ) from None
    module.check(chosen)
    questions = folder.read("questions", Question)
    job = FolderRun(folder, questions, parts=signature_parts(manifest))
    return job, manifest, dataclasses.replace(chosen)

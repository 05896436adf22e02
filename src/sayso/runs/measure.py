"""``sayso.measure``: every number again, offline, from stored answers and verdicts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sayso.datasets import FOREIGN
from sayso.options import Value, as_dict, change, fields_of, replace
from sayso.protocols import protocol_of
from sayso.protocols.answer_table import answer_records, write_answers
from sayso.protocols.coherence import LEAD, UNSEEN, coherence_cautions, unseen_cautions
from sayso.protocols.pool import clusters_of
from sayso.protocols.protocol import MISFIT, REFUSED, Protocol, setting_text
from sayso.records import Estimate, InputError, Question, part_of
from sayso.runs.asking import REQUEST_SETTINGS
from sayso.runs.result import Result
from sayso.runs.stages import FolderRun
from sayso.scores import UnknownScore
from sayso.storage.atomic import WAIT, can_write, one_writer
from sayso.storage.renamed import under_todays_settings
from sayso.storage.run_folder import COUNTED, Manifest, RunFolder


def entities_of(questions: Sequence[Question]) -> int:
    """Return the number of entities of some questions."""
    return len(set(clusters_of(questions).values()))


def run_path(run: object) -> Path:
    """Return the folder of a run that is named by its path or its result. Raises InputError."""
    if not isinstance(run, str | PathLike):
        raise InputError(f"a run is {run!r:.80}; expected its folder, or the result of sayso.run")
    return Path(run)


def load_run(path: str | PathLike[str]) -> tuple[FolderRun, Manifest, Any]:
    """Open a finished run for measuring: no cache, no model."""
    folder = RunFolder.open(run_path(path))
    manifest = folder.read_manifest()
    if manifest.finished is None:
        raise InputError(
            f"{path}: this run is not finished; repeat its command: {manifest.command}"
        )
    if "seed" not in manifest.settings or "signature" not in manifest.prompts:
        raise InputError(f"{path}: its manifest.json is incomplete; run again into another --out")
    try:
        plan = protocol_of(manifest)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    shared = ("seed", *REQUEST_SETTINGS)
    try:
        known = under_todays_settings(manifest.settings, as_dict(plan.Settings()))
        stored = {k: v for k, v in known.items() if k not in shared}
        chosen = replace(plan.Settings(), stored)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (KeyError, TypeError) as error:
        raise InputError(
            f"{path}: made by sayso {manifest.sayso}, which has a setting {error} that this "
            "version does not know"
        ) from None
    check_stored(chosen)
    questions = folder.read("questions", Question)
    return FolderRun(folder, questions, manifest), manifest, chosen


class _KeyedRow(msgspec.Struct, frozen=True):
    """What tells a row of a table from the others."""

    id: str = ""
    target: str = ""
    asked: str = ""
    by: str = ""
    method: str = ""


def whole_run(path: str | PathLike[str]) -> tuple[FolderRun, Manifest, Any]:
    """Open a run on which something is decided, as :func:`load_run` does.

    Raises InputError where rows that it had are gone or came twice, or its manifest is another's.
    """
    job, manifest, chosen = load_run(path)
    for place, why in _damage(job, manifest):
        raise InputError(
            f"{path}/{place} {why}, so nothing is decided: copy the folder again, or run again "
            "into another --out"
        )
    return job, manifest, chosen


def _damage(job: FolderRun, manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield files of a run that are not as it wrote them, and what is wrong with each."""
    folder, answers = job.folder, dict[str, set[str]]()
    numbers = f"metrics/{protocol_of(manifest).name}"
    measured = next(folder.iter(numbers, Estimate), None) if folder.has(numbers) else None
    for key in ("data", "model", "judge"):
        says, was = job.parts[key], part_of(measured.signature if measured else (), key)
        if was not in ("", says):
            yield "manifest.json", f"says {key} {says!r}, and its numbers are of {was!r}"
    there = (table for kind in COUNTED for table in folder.tables(kind))
    for table in sorted({*manifest.rows, *there}):
        rows = [*folder.iter(table, _KeyedRow)] if folder.has(table) else []
        keys = {row.id or (row.target, row.asked, row.by, row.method) for row in rows}
        kind, _, stage = table.partition("/")
        if kind == "generations":
            answers[stage] = {row.id for row in rows}
        gone = manifest.rows.get(table, manifest.n_questions * (kind == "questions")) - len(keys)
        if gone > 0:
            yield f"{table}.parquet", f"lacks {gone:,} of the rows that the run had"
        if twice := len(rows) - len(keys):
            yield f"{table}.parquet", f"has {twice:,} rows a second time"
        if gone < 0 and table in manifest.rows:
            yield f"{table}.parquet", f"has {-gone:,} rows more than the run wrote"
        if kind == "verdicts" and stage in answers:
            judged = {row.target for row in rows}
            if lost := len(judged - answers[stage]):
                answered = f"generations/{stage}.parquet"
                yield answered, f"lacks {lost:,} of the rows that the run had"


def check_stored(chosen: Any) -> None:
    """Refuse a run's settings that mean nothing; its scores may be a plug-in's of elsewhere."""
    with contextlib.suppress(UnknownScore):
        chosen.check()


def measure(
    run: str | PathLike[str],
    options: Any = None,
    *,
    settings: Mapping[str, object] | None = None,
    **changes: Value,
) -> Result:
    """Recompute a run's numbers, with other settings: ``measure(run, settings={"probe.k": 3})``.

    ``run`` is a run folder, or the result of one.
    ``options`` replaces all settings at once; ``settings`` and further keywords change some by
    name, as in :func:`sayso.run`. Settings that decide what was asked are refused, except fewer
    probe draws. The run's own table is rewritten only when no setting was changed, and not in a
    folder that cannot be written. Raises InputError.
    """
    run = run_path(run)
    check_settings_mapping(settings)
    job, manifest, stored = load_run(run)
    chosen: Any = change(options or stored, {**(settings or {}), **changes})
    plan = protocol_of(manifest)
    check_stored(chosen)
    before = as_dict(stored)
    for field in fields_of(chosen):
        name, value, old = field.name, field.value, before[field.name]
        numbers = isinstance(old, int) and isinstance(value, int)
        smaller = field.about["shrinks"] and numbers and 0 < value < old
        if field.about["stage"] != "measure" and value != old and not smaller:
            raise InputError(
                f"setting {name} changes what is asked: this run has {setting_text(old)!r}, and "
                f"{setting_text(value)!r} needs a new `sayso run`"
            )
    estimates = plan.measure(job, chosen)
    cautions = _cautions_again(job, manifest, plan.cautions(estimates, None))
    manifest = msgspec.structs.replace(manifest, cautions=cautions)
    if chosen == stored and can_write(Path(run)):
        with one_writer(run, "sayso measure", WAIT):
            _store(job, plan, chosen, estimates)
            written = job.folder.read_manifest()
            if written.cautions != manifest.cautions:  # as an older sayso left them
                job.folder.write_manifest(
                    msgspec.structs.replace(written, cautions=manifest.cautions)
                )
    entities = entities_of(job.questions)
    if chosen == stored:
        return Result(run, estimates, manifest, entities)
    anew = partial(answer_records, job.folder, job.questions, chosen.probing())
    return Result(run, estimates, manifest, entities, saved=False, _read=anew)


def _cautions_again(job: FolderRun, manifest: Manifest, own: Sequence[str]) -> tuple[str, ...]:
    """Return a run's cautions, with those anew that stored answers and numbers decide.

    ``own`` are those of its protocol.
    """
    misfit, refused = ([t for t in own if t.startswith(head)] for head in (MISFIT, REFUSED))
    foreign = [text for text in manifest.cautions if text.startswith(FOREIGN)]
    anew = (UNSEEN, FOREIGN, MISFIT, LEAD, REFUSED)
    others = (text for text in manifest.cautions if not text.startswith(anew))
    return (
        *unseen_cautions(job),
        *(foreign or misfit),
        *coherence_cautions(job),
        *others,
        *refused,
    )


class Measured(NamedTuple):
    """The numbers of a run, what must be read before any of them, and how many entities it has."""

    estimates: list[Estimate]
    cautions: tuple[str, ...]
    entities: int


def measure_finished(
    run: FolderRun,
    plan: Protocol,
    settings: Any,
    *,
    of_model: Sequence[str] = (),
    of_judge: Sequence[str] = (),
    foreign: Sequence[str] = (),
    draws_vary: bool | None = None,
) -> Measured:
    """Compute and store the numbers of a run that has just ended, and the table of its answers.

    The cautions are in order: unseen questions, those on the model, data that do not fit it
    (``foreign``: it cannot know them), the judge's.
    """
    run.progress.doing("computing the numbers")
    with run.timed("measure"):
        estimates = plan.measure(run, settings)
    _store(run, plan, settings, estimates)
    own = plan.cautions(estimates, draws_vary)
    misfit = [text for text in own if text.startswith(MISFIT)]
    return Measured(
        estimates,
        (
            *unseen_cautions(run),
            *of_model,
            *(foreign or misfit),
            *coherence_cautions(run),
            *of_judge,
            *(text for text in own if text not in misfit),
        ),
        entities_of(run.questions),
    )


def _store(run: FolderRun, plan: Protocol, settings: Any, estimates: list[Estimate]) -> None:
    run.folder.write(f"metrics/{plan.name}", estimates, Estimate)
    write_answers(run.folder, run.questions, settings.probing())


def check_settings_mapping(settings: object) -> None:
    """Refuse settings that are no mapping of names to values. Raises InputError."""
    if settings is not None and not isinstance(settings, Mapping):
        raise InputError(
            f"settings are {settings!r:.80}; expected a dict, such as {{'probe.k': 3}}"
        )

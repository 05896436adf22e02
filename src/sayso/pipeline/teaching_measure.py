"""Measuring taught models: the same questions, the base run's frozen probes, and forced answers.

Nothing probes a taught model: a model that learned to hedge also hedges its probes, and would look
ignorant (VALIDITY 1). *Forced answers* tell whether teaching destroyed knowledge: among the
distinct committed answers that the base model itself gave to a question, the one that a model finds
most probable (sum of log-probabilities behind the plain question, teacher-forced) is its answer; no
word of it can be a hedge. Base and taught model choose among the same; where the base model gave
one answer only, every model "chooses" it, which is why the others are also counted alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from sayso.atomic import replacing
from sayso.models import Engine
from sayso.pipeline.asking import Progress
from sayso.pipeline.job import Job, opened
from sayso.pipeline.manifests import manifest_of, open_folder
from sayso.pipeline.running import Result, entities_of, execute, load_run
from sayso.pipeline.teaching_base import Base
from sayso.records import (
    Estimate,
    Generation,
    InputError,
    Question,
    Request,
    Verdict,
    content_id,
)
from sayso.store import RunFolder

#: question id -> whether the forced answer is right
Forced = dict[str, bool]


class Choices(msgspec.Struct, frozen=True):
    """What a forced answer is chosen from: a plain request, texts, and which are right."""

    question: str
    request: Request
    texts: tuple[str, ...]
    right: tuple[bool, ...]


class Stored(msgspec.Struct, frozen=True):
    """Forced answers on disk, with a hash of what they were chosen from and by whom."""

    source: str
    right: Forced


def measure(
    base: Base,
    model: Any,
    out: Path,
    *,
    limit: int,
    progress: Progress | None = None,
    methods: str = "",
) -> Result:
    """Run uncle on the measured entities with the base run's probes.

    Resumes; what is finished is read, not asked or judged again.
    """
    options = dataclasses.replace(base.settings, known_from=str(base.path), methods=methods)
    job = base.job(model=model, out=out, limit=limit, options=options)
    return _finished(job, out) or execute(
        dataclasses.replace(job, command=f"sayso train {base.path}"), progress
    )


def _finished(job: Job, out: Path) -> Result | None:
    """Return what a folder holds, if it is this job and finished. InputError for another one."""
    if not RunFolder.exists(out):
        return None
    with opened(job) as found:
        manifest = manifest_of(found)
        folder = open_folder(out, manifest)
    before = folder.read_manifest()
    if before.finished is None or before.judge_signature != manifest.judge_signature:
        return None
    estimates = folder.read("metrics/uncle", Estimate)
    return Result(out, estimates, before, entities_of(found.data.questions))


def choices(base: str | Path, wanted: Sequence[Question]) -> list[Choices]:
    """Return the choices of every short question to which the base run gave a committed answer."""
    job = load_run(base)[0]
    ids = {q.id for q in wanted if not q.parts}
    texts: dict[str, dict[str, bool]] = {}
    requests: dict[str, Request] = {}
    for stage in ("short", "probe"):
        read = {v.target: v for v in job.folder.iter(f"verdicts/{stage}", Verdict)}
        for g in job.folder.iter(f"generations/{stage}", Generation):
            verdict = read.get(g.id)
            if g.question not in ids or g.instructed or g.method not in ("plain", ""):
                continue
            if stage == "short":
                requests[g.question] = g.request
            text = g.text.strip()
            if text and verdict and verdict.stance == "committed" and verdict.value:
                texts.setdefault(g.question, {})[text] = verdict.value == "correct"
    return [
        Choices(q, requests[q], tuple(sorted(said)), tuple(said[t] for t in sorted(said)))
        for q, said in sorted(texts.items())
        if q in requests
    ]


def forced(
    base: Base, model: Any, given: Sequence[Choices], place: Path, progress: Progress | None = None
) -> Forced:
    """Return which forced answers are right; empty for a model that cannot be forced.

    Kept in ``place``, so that a resumed teaching does not force again.
    """
    options = dataclasses.replace(base.settings, known_from=str(base.path))
    with opened(base.job(model=model, limit=1, options=options), progress) as found:
        source = content_id([found.model.identity, given])
        if place.is_file():
            try:
                held = msgspec.json.decode(place.read_bytes(), type=Stored)
            except msgspec.DecodeError:
                held = Stored("", {})
            if held.source == source:
                return held.right
        if not found.model.capabilities.force:
            return {}
        right = _chosen(found.model, given)
    with replacing(place) as file:
        file.write(msgspec.json.encode(Stored(source, right)))
    return right


def _chosen(model: Engine, given: Sequence[Choices]) -> Forced:
    """Return whether the most probable choice of each question is right; ties go to the first."""
    items = [(one.request, text) for one in given for text in one.texts]
    scores = [float("-inf")] * len(items)
    for index, reply in model.force(items, ("logprobs",)):
        if reply.problem is None and reply.logprobs:
            scores[index] = sum(reply.logprobs)
    found: Forced = {}
    at = 0
    for one in given:
        own = scores[at : at + len(one.texts)]
        at += len(one.texts)
        if max(own) > float("-inf"):
            found[one.question] = one.right[own.index(max(own))]
    return found


def check_measured(base: Base, result: Result) -> None:
    """Refuse a run whose model does not say that it comes from the base run's. InputError."""
    if result.manifest.model_base != base.manifest.model_base:
        raise InputError(
            f"{result.path}: its model was trained from {result.manifest.model_base}, not from "
            f"{base.manifest.model_base} of {base.path}"
        )

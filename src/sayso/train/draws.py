"""The draws that training rows are made of: K of each short question, and its paragraphs."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from sayso.datasets.dataset import Dataset
from sayso.progress import Progress
from sayso.records import Claim, Generation, InputError, Question, Verdict
from sayso.runs.draws import ask_draws
from sayso.runs.job import Job
from sayso.storage.run_folder import RunFolder
from sayso.train.base import Base
from sayso.train.rows import Fact, check_draws, facts_of


def draw_facts(
    base: Base,
    data: Dataset,
    out: Path,
    *,
    k: int = 10,
    paragraphs: int = 0,
    evidence: str = "",
    progress: Progress | None = None,
) -> list[Fact]:
    """Ask about ``data`` and return its facts; the answers stay in the run folder ``out``.

    See :func:`sayso.runs.draws.ask_draws`. InputError for a model that answers fewer draws.
    """
    job = job_of_draws(base, k)
    folder = ask_draws(job, data, out, paragraphs=paragraphs, evidence=evidence, progress=progress)
    facts = facts_in(folder)
    check_draws(facts, k)
    return facts


def job_of_draws(base: Base, k: int) -> Job:
    """Return a run that draws ``k`` times. Raises InputError."""
    if k < 2:
        raise InputError(f"k is {k}; expected at least 2 draws of each question")
    options = dataclasses.replace(
        base.settings,
        probe=dataclasses.replace(base.settings.probe, k=k, stop="all"),
    )
    return base.job(options=options, limit=1)


def facts_in(folder: RunFolder) -> list[Fact]:
    """Return the facts of a run folder: its questions with draws, answers, verdicts and claims."""
    stages = [table.partition("/")[2] for table in folder.tables("verdicts")]
    verdicts = {stage: folder.read(f"verdicts/{stage}", Verdict) for stage in stages}
    stages = [table.partition("/")[2] for table in folder.tables("generations")]
    answers = {stage: folder.read(f"generations/{stage}", Generation) for stage in stages}
    return facts_of(
        folder.read("questions", Question),
        answers,
        verdicts,
        claims=folder.read("claims/long", Claim) if folder.has("claims/long") else (),
        labels=verdicts.get("long-support", ()),
    )

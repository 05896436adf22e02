"""Draws beside a run's own: K answers to each short question at T=1, and further paragraphs.

Everything comes through the reply cache: what a run has drawn is not drawn again, and five stored
draws are the first five of ten. With ``evidence`` paragraphs are taken apart into claims, and each
is held against a knowledge source, as ``sayso run self_known`` does it. Training rows are made of
them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from sayso.datasets.catalogue import is_topic
from sayso.datasets.dataset import Dataset
from sayso.progress import Progress
from sayso.protocols.pool import item_of
from sayso.protocols.probes import PROBES
from sayso.protocols.protocol import Ask, Run, Step, first_asks, stored_answers, walk
from sayso.protocols.self_known.asks import claim_source
from sayso.protocols.self_known.claims import check_claims, open_claim_readers, take_apart
from sayso.protocols.self_known.rows import SUPPORT
from sayso.protocols.self_known.settings import Settings
from sayso.protocols.uncle.settings import ANSWER_SAMPLE, answer_limits
from sayso.records import InputError, Question, ask
from sayso.runs.dry_run import RunEstimate, estimate_walk
from sayso.runs.job import Job, OpenJob, open_folder
from sayso.runs.run import open_job
from sayso.runs.stages import FolderRun, OpenFolder
from sayso.runs.tools import RunTools
from sayso.storage.run_folder import RunFolder

#: the stage of further paragraphs at T > 0
PARAGRAPHS = "draws-long"
#: stages that hold what is drawn
STAGES = ("probe", "short", "long", PARAGRAPHS)


def ask_draws(
    job: Job,
    data: Dataset,
    out: Path,
    *,
    paragraphs: int = 0,
    evidence: str = "",
    progress: Progress | None = None,
) -> RunFolder:
    """Ask the model of ``job``, a run of uncle, about ``data`` and return the run folder ``out``.

    Each short question is drawn as often as its settings say at T=1 and asked once at T=0; each
    paragraph is asked once at T=0 and ``paragraphs`` times at T=1; nothing with the instruction.
    ``evidence`` is the knowledge source of the paragraphs' claims ("auto": the built-in world for
    its own questions, else the golds; "": none are checked).
    """
    with open_job(job, progress) as held:
        opened = held._replace(data=data)
        manifest = opened.manifest
        chosen = {**manifest.chosen, "limit": None, "split": "train", "paragraphs": paragraphs}
        manifest = msgspec.structs.replace(manifest, chosen=chosen)
        steps = draw_steps(opened, paragraphs, evidence)
        new = not RunFolder.exists(out)
        folder = OpenFolder(open_folder(out, manifest).path)
        if not new and folder.read_manifest().finished is not None:
            manifest = folder.read_manifest()
        done = manifest.finished is not None, folder.has(f"verdicts/{SUPPORT}")
        steps = [step for step, there in zip(steps, done, strict=False) if not there]
        if not steps:
            return folder
        known = knowledge_of(data, evidence)[0] if evidence else data.questions
        tools = RunTools(known, job.cache_folder)
        run = FolderRun(
            folder, data.questions, manifest, model=opened.model, judge=opened.judge, tools=tools
        )
        run.begin()
        try:
            with contextlib.closing(tools):
                walk(steps, run)
        except BaseException:
            run.give_up()
            raise
        run.timings = {**manifest.timings, **run.timings}
        run.finish(notices=(*manifest.notices, *run.notices, *tools.sources.notices))
    return folder


def price_draws(job: Job, data: Dataset, *, paragraphs: int = 0, evidence: str = "") -> RunEstimate:
    """Return what :func:`ask_draws` would ask and cost. Loads no weights and asks nothing."""
    with open_job(job, learn=False) as held:
        opened = held._replace(data=data)
        steps = draw_steps(opened, paragraphs, evidence)
        return estimate_walk(opened, steps, asks=first_asks(steps))


def draw_steps(opened: OpenJob, paragraphs: int, evidence: str) -> list[Step]:
    """Return what is asked, in one call, and what is done with the answers."""
    steps = [Step("draws", judge_draws, _asks(opened, paragraphs))]
    if evidence:
        steps.append(
            Step("claims", partial(check_paragraphs, *knowledge_of(opened.data, evidence)))
        )
    return steps


def _asks(opened: OpenJob, paragraphs: int) -> list[Ask]:
    """Return everything that is asked."""
    job, questions = opened.job, opened.data.questions
    options, seed = job.settings, job.seed
    wanted = [q for q in questions if not is_topic(q)]
    asks = [a for a in first_asks(job.plan.steps(wanted, options, seed)) if not a.instructed]
    asks += [_text_of(q, options, seed) for q in questions if is_topic(q)]
    asks += [
        _drawn(a, sample) for a in asks if a.stage == "long" for sample in range(1, paragraphs + 1)
    ]
    return asks


def judge_draws(run: Run) -> None:
    """Judge every answer, and say where the texts state values."""
    by_id = {q.id: q for q in run.questions}
    for stage in STAGES:
        answers = stored_answers(run, stage)
        items = [item_of(g, by_id) for g in answers if not is_topic(by_id[g.question])]
        if answers:
            run.grade(stage, items, run.judge, None if stage == PROBES else items)


def check_paragraphs(questions: Sequence[Question], source: str, run: Run) -> None:
    """Store the claims of every paragraph, and whether the evidence supports them."""
    chosen, by_id = Settings(), {q.id: q for q in questions}
    texts = [g for stage in ("long", PARAGRAPHS) for g in stored_answers(run, stage)]
    plain = [g for g in texts if g.problem is None and not g.instructed]
    readers = open_claim_readers(chosen, run, source)
    claims = take_apart(run, plain, by_id, readers.splitter)
    asked = {g.id: by_id[g.question] for g in plain}
    check_claims(run, claims, asked, readers, chosen.passages)


def knowledge_of(data: Dataset, knowledge: str) -> tuple[tuple[Question, ...], str]:
    """Return the questions of sets with paragraphs, and what claims in these are checked against.

    Raises InputError where there is nothing.
    """
    sets = {q.dataset for q in data.questions if q.parts or is_topic(q)}
    questions = tuple(q for q in data.questions if q.dataset in sets)
    source = claim_source(questions, Settings(knowledge=knowledge))
    if not source:
        raise InputError(
            f"veracity evidence: {data.name} has no golds to check claims against; name a source "
            "of passages with --knowledge"
        )
    return questions, source


def _text_of(topic: Question, options: Any, seed: int) -> Ask:
    """Return the plain request for a text about a topic, as for any paragraph."""
    heat = options.answer.temperature
    request = ask(
        topic.text,
        temperature=heat,
        max_tokens=answer_limits(options)["long"],
        seed=seed,
        sample=ANSWER_SAMPLE if heat > 0 else 0,
    )
    return Ask(topic, request, "long", "long")


def _drawn(greedy: Ask, sample: int) -> Ask:
    """Return a draw of a paragraph that was asked at T=0."""
    request = ask(
        greedy.request.messages[-1].content,
        temperature=1.0,
        max_tokens=greedy.request.max_tokens,
        seed=greedy.request.seed,
        sample=sample,
    )
    return greedy._replace(request=request, stage=PARAGRAPHS)

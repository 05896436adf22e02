"""``sayso export RUN answers.eval``: a run as a log that Inspect's reader, scorers and viewer open.

A sample is a short answer of the run: its prompt, golds, tokens and log-probabilities. The scores
``stance`` and ``answered`` are the verdicts of the run's judge, and the metrics are those of the
scorers of the same names, computed by Inspect from these scores. Draws of a question are further
choices of its output, as :mod:`sayso.datasets.tools.inspect` reads them. Labels of people are edits
of the scores: Inspect keeps what the judge had read beside them.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from inspect_ai.event import ScoreEvent
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalError,
    EvalLog,
    EvalPlan,
    EvalPlanStep,
    EvalSample,
    EvalSpec,
    EvalStats,
    HeadlineMetric,
    ProvenanceData,
    edit_score,
    recompute_metrics,
    write_eval_log,
)
from inspect_ai.log._log import EvalMetricDefinition, EvalScorer
from inspect_ai.model import GenerateConfig, ModelUsage
from inspect_ai.scorer import ScoreEdit

from sayso.datasets.tools.inspect import ANSWERABLE
from sayso.inspect_ai_tools.metrics import LOWER, UPPER, J
from sayso.inspect_ai_tools.models import inspect_output, usage_of
from sayso.inspect_ai_tools.reading import (
    WORTH,
    Reading,
    outcome_score,
    sample_metadata,
    stance_score,
)
from sayso.inspect_ai_tools.tasks import targets_of
from sayso.judges.judge import credit_withholding
from sayso.people.joined import joined_verdict
from sayso.people.labels import LabeledItem, read_labels
from sayso.protocols import protocol_of
from sayso.protocols.answer_table import answer_records
from sayso.protocols.pool import cluster_names
from sayso.protocols.protocol import Protocol
from sayso.protocols.selective.rows import outcome
from sayso.records import (
    Estimate,
    Generation,
    InputError,
    Question,
    Verdict,
    content_id,
    slice_text,
)
from sayso.runs.measure import load_run
from sayso.runs.stages import FolderRun
from sayso.storage.atomic import disk_errors, replacing
from sayso.storage.outputs import check_output
from sayso.storage.run_folder import Manifest

#: how a log of ours ends
ENDING = ".eval"
FORM = "short"
#: the scorers of a log, and their metrics
SCORERS = {
    "stance": (J, "abstention_rate", "uncle_rates"),
    "answered": ("answered_accuracy", "right_minus_wrong"),
}
#: slices of the numbers that a log tells: those of scores, bins and tiers are not among them
TOLD = ({"form"}, {"form", "against"})


class ExportedLog(NamedTuple):
    """The file that was written: its samples, and the labels of people in it.

    ``left_out`` names what is not in it, such as paragraphs, with their number.
    """

    path: Path
    samples: int
    labels: int
    left_out: dict[str, int]


def export_log(
    run: str | PathLike[str],
    out: str | PathLike[str],
    *,
    method: str = "",
    labels: str | PathLike[str] | None = None,
    force: bool = False,
) -> ExportedLog:
    """Write the short answers of a finished run as a log of Inspect, a file that ends in .eval.

    ``method`` says which answers of each question: "" is those that the main numbers are of.
    ``labels`` is a file of labels that ``sayso label RUN`` wrote: an export, or a sheet that
    somebody filled in. A file that exists is replaced only with ``force``. Raises InputError.
    """
    target = Path(out)
    if target.suffix.lower() != ENDING:
        raise InputError(f"{target}: expected a name ending in {ENDING}")
    if target.is_file() and not force:
        raise InputError(f"{target} exists: give another name, or pass --force to replace it")
    check_output(target, mark="", command="sayso export", force=force)
    work, manifest, chosen = load_run(run)
    plan = protocol_of(manifest)
    made = _samples(work, manifest, chosen, method or plan.main_method, run)
    log = _log(work, manifest, plan, made.samples)
    number, elsewhere = 0, 0
    if labels is not None:
        asked = {q.id: q for q in work.questions}
        number, elsewhere = _edit(log, made.places, asked, Path(labels))
    left_out = made.left_out | ({"labels of these answers": elsewhere} if elsewhere else {})
    recompute_metrics(log)
    _tell_intervals(log)
    _write(log, target)
    return ExportedLog(target, len(made.samples), number, left_out)


# ---- samples


class _Made(NamedTuple):
    """Samples, each by its answer and question, and what was left out."""

    samples: list[EvalSample]
    places: dict[tuple[str, str], EvalSample]
    left_out: dict[str, int]


def _samples(work: FolderRun, manifest: Manifest, chosen: Any, method: str, run: object) -> _Made:
    questions = {q.id: q for q in work.questions}
    clusters = cluster_names(work.questions)
    answers = {g.id: g for g in _generations(work) if g.method == method}
    read = (
        {(v.target, v.asked): v for v in work.folder.read(f"verdicts/{FORM}", Verdict)}
        if answers
        else {}
    )
    left_out: dict[str, int] = Counter()
    made = _Made([], {}, left_out)
    epochs: Counter[str] = Counter()
    for row in answer_records(work.folder, work.questions, chosen.probing()):
        g = answers.get(row.id)
        if g is None or row.stage != FORM:
            left_out[f"{row.form} {row.method}"] += 1
            continue
        question = questions[g.question]
        verdict = read.get((g.id, g.question))
        draws = [text for text in row.draws or () if text is not None]
        # UNCLE's rates are of answers that were asked to voice doubt
        known = row.known if g.instructed else None
        reading = None if verdict is None else Reading(question, g, verdict, known)
        epochs[question.id] += 1
        sample = _sample(g, question, clusters[question.id], reading, draws, manifest)
        sample.epoch = epochs[question.id]
        made.samples.append(sample)
        made.places[g.id, question.id] = sample
    if not made.samples:
        there = ", ".join(f"{n:,} {name}" for name, n in left_out.items()) or "no answers"
        raise InputError(
            f"{run}: it has no judged short answer of the method {method!r}; it has {there}"
        )
    return made


def _generations(work: FolderRun) -> list[Generation]:
    table = f"generations/{FORM}"
    return work.folder.read(table, Generation) if work.folder.has(table) else []


def _sample(
    g: Generation,
    question: Question,
    cluster: str,
    reading: Reading | None,
    draws: Sequence[str],
    manifest: Manifest,
) -> EvalSample:
    model = model_of(manifest)
    output = inspect_output(g, model, draws)
    messages: Any = msgspec.to_builtins(g.request.messages)
    alone = len(messages) == 1 and g.request.messages[0].role == "user"
    failed = g.problem is not None and g.problem != "truncated"
    scores = {}
    if reading is not None and not failed:
        scores = {"stance": stance_score(reading), "answered": outcome_score(reading)}
    told = sample_metadata(question, cluster) | {"method": g.method, "generation": g.id}
    if draws:
        told["draws"] = f"choices 2 to {len(draws) + 1} are draws of the plain question"
    targets = targets_of(question)
    return EvalSample(
        id=question.id,
        epoch=1,
        input=g.request.messages[0].content if alone else messages,
        target=targets or "",
        messages=[*messages, output.message] if not failed else messages,
        output=output,
        scores=scores,
        metadata=told,
        model_usage={model: usage_of(g)},
        uuid=g.id,
        error=EvalError(message=str(g.problem), traceback="", traceback_ansi="")
        if failed
        else None,
        events=[
            ScoreEvent(score=score.model_copy(deep=True), target=targets or "", scorer=name)
            for name, score in scores.items()
        ],
    )


def model_of(manifest: Manifest) -> str:
    """Return the name by which Inspect can open the model of a run (:class:`SaysoAPI`)."""
    return f"sayso/{manifest.model}"


# ---- the log


def _log(work: FolderRun, manifest: Manifest, plan: Protocol, samples: list[EvalSample]) -> EvalLog:
    model = model_of(manifest)
    total = ModelUsage()
    for sample in samples:
        total += sample.model_usage[model]
    request = next(iter(_generations(work))).request
    run_id = content_id([manifest.created, manifest.command, manifest.data_hash])
    scorers = [
        EvalScorer(
            name=name,
            options={},
            metrics=[EvalMetricDefinition(name=f"sayso/{one}", options={}) for one in metrics],
            metadata={"judge": manifest.judge_signature or manifest.judge},
        )
        for name, metrics in SCORERS.items()
    ]
    return EvalLog(
        status="success",
        eval=EvalSpec(
            created=manifest.created,
            task=f"sayso/{plan.name}",
            task_id=content_id([plan.name, run_id]),
            run_id=run_id,
            task_version=manifest.sayso,
            dataset=EvalDataset(
                name=manifest.data,
                samples=len({sample.id for sample in samples}),
                sample_ids=list(dict.fromkeys(str(sample.id) for sample in samples)),
            ),
            model=model,
            model_generate_config=GenerateConfig(
                temperature=request.temperature, max_tokens=request.max_tokens
            ),
            config=EvalConfig(epochs=max(sample.epoch for sample in samples)),
            packages={"sayso": manifest.sayso},
            metadata=_told(work, manifest, plan),
            scorers=scorers,
            headline_metric=HeadlineMetric(metric=J),
        ),
        plan=EvalPlan(steps=[EvalPlanStep(solver="generate")]),
        stats=EvalStats(
            started_at=manifest.created,
            completed_at=manifest.finished or "",
            model_usage={model: total},
        ),
        samples=samples,
    )


def _told(work: FolderRun, manifest: Manifest, plan: Protocol) -> dict[str, Any]:
    """Return what a reader of a log must know of the run, and the run's own main numbers."""
    return {
        "command": manifest.command,
        "model": manifest.shown_model,
        "judge": manifest.judge_signature or manifest.judge,
        "data_hash": manifest.data_hash,
        "prompts": manifest.prompts.get("signature", ""),
        "cautions": list(manifest.cautions),
        "numbers": {
            f"{estimate.name}[{slice_text(estimate.where)}]": {
                "value": estimate.value, "lower": estimate.low, "upper": estimate.high,
                "n": estimate.n,
            }
            for estimate in _numbers(work, plan)
        },
    }  # fmt: skip


def _numbers(work: FolderRun, plan: Protocol) -> Iterator[Estimate]:
    table = f"metrics/{plan.name}"
    for estimate in work.folder.read(table, Estimate) if work.folder.has(table) else ():
        parts = dict(estimate.where)
        if estimate.value is not None and parts.get("form") == FORM and set(parts) in TOLD:
            yield estimate


def _tell_intervals(log: EvalLog) -> None:
    """Put the ends of the interval of each metric into its metadata."""
    for score in log.results.scores if log.results else ():
        for name, metric in score.metrics.items():
            ends = [score.metrics.get(name + end) for end in (LOWER, UPPER)]
            if all(ends):
                low, high = (end.value for end in ends if end is not None)
                metric.metadata = {"lower": low, "upper": high}


def _write(log: EvalLog, target: Path) -> None:
    """Write a log in one piece."""
    with tempfile.TemporaryDirectory() as folder, replacing(target) as file:
        place = Path(folder, target.name)
        with disk_errors(place):
            write_eval_log(log, str(place), format="eval")
        with disk_errors(target), place.open("rb") as written:
            shutil.copyfileobj(written, file)


# ---- labels of people


def _edit(
    log: EvalLog,
    places: dict[tuple[str, str], EvalSample],
    questions: Mapping[str, Question],
    file: Path,
) -> tuple[int, int]:
    """Edit the scores of the answers that people labeled.

    Every annotator's label is an edit. The joined one comes last, because the last edit counts.
    Return how many labels these are, and how many are of other answers of the run.
    """
    elsewhere = 0
    given: dict[LabeledItem, dict[str, Verdict]] = {}
    for label in read_labels(file, flag="--labels").labels:
        key = label.verdict.target, label.verdict.asked
        if key not in places or label.verdict.stance is None:
            elsewhere += 1
            continue
        verdict = credit_withholding(questions[key[1]], label.verdict)
        given.setdefault(label.item, {})[label.annotator] = verdict
    for item, said in given.items():
        joined = joined_verdict(item, said).verdict
        sample = places[item.target, item.asked]
        for author in sorted(said, key=lambda name: said[name] is joined):
            _edit_sample(log, sample, author, said[author])
    number = sum(map(len, given.values()))
    if not number:
        why = f"{elsewhere:,} labels are of other answers" if elsewhere else "no row has a label"
        raise InputError(
            f"--labels {file}: {why}; the log has the short answers of one method (--method)"
        )
    return number, elsewhere


def _edit_sample(log: EvalLog, sample: EvalSample, author: str, verdict: Verdict) -> None:
    """Edit the scores of a sample as one person labelled it."""
    place = {"target": verdict.target, "asked": verdict.asked}
    said = ProvenanceData(author=author, reason="a person's label", metadata=place)
    for score, value in _labelled(verdict):
        old = ((sample.scores or {})[score].metadata or {}) if sample.scores else {}
        kept = {key: old[key] for key in (ANSWERABLE, "known") if key in old}
        told = {"by": author, "stance": verdict.stance, "content": verdict.content, **kept}
        edit = ScoreEdit(
            value=value, reason=None, explanation=f"{author}: {value}", provenance=said,
            metadata={key: one for key, one in told.items() if one is not None},
        )  # fmt: skip
        edit_score(log, str(sample.id), score, edit, False, sample.epoch)


def _labelled(verdict: Verdict) -> Iterator[tuple[str, str]]:
    """Yield each score with its value by a person's verdict, as by a judge's."""
    if verdict.stance is not None:
        yield "stance", verdict.stance
    worth = outcome(verdict)
    if not math.isnan(worth):
        yield "answered", WORTH[worth]

"""The proof of a training: trained models are measured, and every method stands in one table."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import exp
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.engines.engine import Engine
from sayso.judges.contradiction import contradicts
from sayso.judges.decisiveness import decisiveness
from sayso.metrics.arrays import Floats, codes
from sayso.metrics.cmfg import THIN, skill, thin_bins
from sayso.metrics.compare_scores import holm
from sayso.metrics.intervals import (
    SPARSE_PARTS,
    UNMOVED,
    Interval,
    correlation,
    difference_interval,
    is_sparse,
    proportion_interval,
)
from sayso.metrics.joint import (
    EntityMetric,
    ResampleWeights,
    Spread,
    difference,
    draw,
    error_of,
    estimate,
    p_value,
    ratio,
    spread,
)
from sayso.metrics.uncle_known import cluster_cells, log_odds_interval
from sayso.metrics.uncle_rates import (
    CORRECT,
    INCORRECT,
    MISSING,
    UNCERTAIN,
    cell_rates,
    rate_counts,
    rate_sizes,
)
from sayso.metrics.within_type import (
    log_odds_error,
    policy_by_rate,
    policy_j,
    unspoken_knowledge,
    within_rates,
)
from sayso.progress import Progress
from sayso.prompts import methods
from sayso.protocols.pool import cluster_name, clusters_of
from sayso.protocols.probes import draws_by_question
from sayso.protocols.uncle.measure import sure_wrong
from sayso.protocols.uncle.numbers import NUMBERS, RATES
from sayso.protocols.uncle.rows import (
    Context,
    View,
    labels_of_view,
    load_rows,
    question_pairs,
    view_of,
)
from sayso.records import (
    Estimate,
    Generation,
    InputError,
    Question,
    Request,
    Signature,
    Verdict,
    content_id,
    signature_of,
    slice_of,
)
from sayso.runs.job import Job, open_folder
from sayso.runs.measure import entities_of, load_run
from sayso.runs.result import Result
from sayso.runs.run import execute_job, manifest_of, open_job
from sayso.runs.stages import FolderRun
from sayso.storage.atomic import replacing
from sayso.storage.run_folder import RunFolder
from sayso.train.base import Base, Halves
from sayso.train.result import FORMS, Change, MeasuredMethod, MethodNumber, Sample, Training
from sayso.train.verdict import verdict_sentences

# ---- measuring trained models: the same questions, the base run's frozen probes, forced answers
#
# Nothing probes a trained model: a model that learned to hedge also hedges its probes, and would
# look ignorant. *Forced answers* tell whether training destroyed knowledge: among
# the distinct committed answers that the base model itself gave to a question, the one that a
# model finds most probable (sum of log-probabilities behind the plain question, teacher-forced)
# is its answer; no word of it can be a hedge. Base and trained model choose among the same; where
# the base model gave one answer only, every model "chooses" it, which is why the others are also
# counted alone.

#: question id -> whether the forced answer is right
Forced = dict[str, bool]


class Choices(msgspec.Struct, frozen=True):
    """What a forced answer is chosen from: a plain request, texts, and which are right."""

    question: str
    request: Request
    texts: tuple[str, ...]
    right: tuple[bool, ...]


class StoredForced(msgspec.Struct, frozen=True):
    """Forced answers on disk, with a hash of what they were chosen from and by whom."""

    source: str
    right: Forced


def measure_trained(
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
    return _finished(job, out) or execute_job(
        dataclasses.replace(job, command=f"sayso train {base.path}"), progress
    )


def _finished(job: Job, out: Path) -> Result | None:
    """Return what a folder holds, if it is this job and finished. InputError for another one."""
    if not RunFolder.exists(out):
        return None
    with open_job(job) as opened_job:
        manifest = manifest_of(opened_job)
        folder = open_folder(out, manifest)
    before = folder.read_manifest()
    if before.finished is None or before.judge_signature != manifest.judge_signature:
        return None
    estimates = folder.read("metrics/uncle", Estimate)
    return Result(out, estimates, before, entities_of(opened_job.data.questions))


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
        Choices(q, requests[q], tuple(sorted(answers)), tuple(answers[t] for t in sorted(answers)))
        for q, answers in sorted(texts.items())
        if q in requests
    ]


def forced_right(
    base: Base, model: Any, given: Sequence[Choices], place: Path, progress: Progress | None = None
) -> Forced:
    """Return which forced answers are right; empty for a model that cannot be forced.

    Kept in ``place``, so that a resumed training does not force again.
    """
    options = dataclasses.replace(base.settings, known_from=str(base.path))
    with open_job(base.job(model=model, limit=1, options=options), progress) as job:
        source = content_id([job.model.identity, given])
        if place.is_file():
            try:
                held = msgspec.json.decode(place.read_bytes(), type=StoredForced)
            except msgspec.DecodeError:
                held = StoredForced("", {})
            if held.source == source:
                return held.right
        if not job.model.capabilities.force:
            return {}
        right = _chosen(job.model, given)
    with replacing(place) as file:
        file.write(msgspec.json.encode(StoredForced(source, right)))
    return right


def _chosen(model: Engine, given: Sequence[Choices]) -> Forced:
    """Return whether the most probable choice of each question is right; ties go to the first."""
    items = [(one.request, text) for one in given for text in one.texts]
    scores = [float("-inf")] * len(items)
    for index, reply in model.force(items, ("logprobs",)):
        if reply.problem is None and reply.logprobs:
            scores[index] = sum(reply.logprobs)
    right: Forced = {}
    at = 0
    for one in given:
        own = scores[at : at + len(one.texts)]
        at += len(one.texts)
        if max(own) > float("-inf"):
            right[one.question] = one.right[own.index(max(own))]
    return right


def check_comes_from_base(base: Base, result: Result) -> None:
    """Refuse a run whose model does not say that it comes from the base run's. InputError."""
    if result.manifest.model_base != base.manifest.model_base:
        raise InputError(
            f"{result.path}: its model was trained from {result.manifest.model_base}, not from "
            f"{base.manifest.model_base} of {base.path}"
        )


# ---- what each method answered, joined fact by fact: the arrays that the table is made of

Ints = NDArray[np.int64]
Pair = tuple[str, str]


class MethodAnswers(NamedTuple):
    """One method's answers in one form; arrays have A entries, in the order of the frame.

    ``label`` codes as in ``Context.labels``; ``plain`` the same of the same model's answers to the
    plain prompt, which asks for no doubt; ``sure_wrong`` is 0, 1 or NaN (unread): committed and
    incorrect. ``logprob`` is that of the same model's plain answers. ``decisive`` is what the words
    say (0 where no value is said), ``agreeing`` of ``draws`` frozen draws agree with what is said.
    """

    label: Ints
    plain: Ints
    sure_wrong: Floats
    logprob: Floats
    decisive: Floats
    agreeing: Floats
    draws: Floats
    texts: list[str]


class SeedSide(NamedTuple):
    """One method with one seed. ``forced`` (A,) is 0, 1 or NaN."""

    answers: dict[str, MethodAnswers]
    forced: Floats


class Frame(NamedTuple):
    """What all methods share: aspects, their entities and types, and what is known.

    ``several`` marks facts to which the base model gave more than one committed answer.
    """

    pairs: list[Pair]
    questions: list[Question]
    entity: NDArray[np.str_]
    type: NDArray[np.str_]
    known: Ints
    probes: dict[str, list[str]]
    plain: dict[str, str]
    several: NDArray[np.bool_]

    @property
    def entities(self) -> int:
        """How many entities there are."""
        return len(np.unique(self.entity))


def frame_of(base: str | Path, measured: Sequence[Question]) -> Frame:
    """Return the aspects of ``measured`` with what the base run's probes say of them."""
    job, _, chosen = load_run(base)
    context = load_rows(job, chosen, guesses=False)
    place = {pair: row for row, pair in enumerate(_pairs(job))}
    wanted = {q.id for q in measured}
    held = [pair for pair in place if pair[0] in wanted and pair[1] in wanted]
    if not held:
        raise InputError(f"{base} has no aspect of what is measured")
    rows = np.array([place[pair] for pair in held])
    by_id = {q.id: q for q in job.questions}
    shorts = [by_id[pair[1]] for pair in held]
    drawn = draws_by_question(job.generations("probe"), chosen.probe.k)
    plain = {
        g.question: g.text.strip()
        for g in job.generations("short")
        if not g.instructed and g.problem is None
    }
    many = {one.question for one in choices(base, shorts) if len(one.texts) > 1}
    clusters = clusters_of(job.questions)
    return Frame(
        held,
        shorts,
        np.array([cluster_name(clusters[q.id]) for q in shorts], dtype=np.str_),
        context.aspects.type[rows],
        context.known["any"][rows],
        {q: [g.text.strip() for g in some] for q, some in drawn.items()},
        plain,
        np.array([q.id in many for q in shorts], dtype=np.bool_),
    )


def _pairs(job: FolderRun) -> list[Pair]:
    return [(q.id, part) for q in job.questions for part in q.parts]


def side_of(
    frame: Frame, run: str | Path, forced: Forced, *, instructed: bool = True, method: str = ""
) -> SeedSide:
    """Return a method's side: a run's instructed or plain answers, or those of a further method."""
    job, _, chosen = load_run(run)
    context = load_rows(job, chosen, guesses=False)
    place = {pair: row for row, pair in enumerate(_pairs(job))}
    missing = [pair for pair in frame.pairs if pair not in place]
    if missing:
        raise InputError(f"{run} lacks {len(missing)} of the {len(frame.pairs)} measured aspects")
    rows = np.array([place[pair] for pair in frame.pairs])
    answers = {}
    for form in FORMS:
        view, texts = _view(context, job, form, instructed, method)
        answers[form] = _answers(frame, context, form, view, texts, rows)
    right = [forced.get(q.id) for q in frame.questions]
    return SeedSide(answers, np.array([np.nan if r is None else float(r) for r in right]))


def _view(
    context: Context, job: FolderRun, form: str, instructed: bool, method: str
) -> tuple[View, dict[str, str]]:
    """Return the verdicts of a method's answers, and their texts by question."""
    if not method:
        generations = [g for g in job.generations(form) if g.instructed is instructed]
        return context.aspects.views[form, instructed], _texts(generations)
    stage = "refined" if methods.METHODS[method].kind == "revision" else "methods"
    generations = [g for g in job.generations(f"{stage}-{form}") if g.method == method]
    return view_of(question_pairs(job), generations, job.verdicts(f"{stage}-{form}"), form), _texts(
        generations
    )


def _texts(generations: Sequence[Generation]) -> dict[str, str]:
    return {g.question: g.text for g in generations}


def _answers(
    frame: Frame, context: Context, form: str, view: View, texts: dict[str, str], rows: Ints
) -> MethodAnswers:
    label = labels_of_view(view, context.settings)[rows]
    verdicts = [view.verdicts[row] for row in rows]
    answers = [texts.get(pair[form == "short"], "") for pair in frame.pairs]
    words = [
        _worded(frame, row, form, verdict, text)
        for row, (verdict, text) in enumerate(zip(verdicts, answers, strict=True))
    ]
    table = np.array(words, dtype=np.float64).reshape(len(words), 3)
    plain = context.aspects.views[form, False]
    return MethodAnswers(
        label,
        labels_of_view(plain, context.settings)[rows],
        sure_wrong(verdicts),
        plain.logprob[rows],
        table[:, 0],
        table[:, 1],
        table[:, 2],
        answers,
    )


def _worded(
    frame: Frame, row: int, form: str, verdict: Verdict | None, text: str
) -> tuple[float, float, float]:
    """Return (decisiveness, agreeing draws, comparable draws) of what is said about an aspect.

    Where it says that it does not know, nothing is claimed: 0, against the draws' agreement with
    the base model's own plain answer, which is what was withheld. Omitted: left out.
    """
    nothing = (np.nan, np.nan, np.nan)
    if verdict is None or verdict.stance is None or verdict.stance == "omitted":
        return nothing
    question = frame.questions[row]
    sentence, value = text, text
    if form == "long":
        if verdict.start is None or verdict.end is None:
            return nothing
        sentence = value = text[verdict.start : verdict.end]
    if verdict.answer_start is not None and verdict.answer_end is not None:
        value = text[verdict.answer_start : verdict.answer_end]
    claims = verdict.stance == "committed" or (
        verdict.stance == "hedged" and verdict.answer_start is not None
    )
    if not claims:
        level: float | None = 0.0
        value = frame.plain.get(question.id, "")
    else:
        level = _decisive(sentence.strip(), value.strip())
    if level is None or not value.strip():
        return nothing
    agreeing, counted = _agreement(question.text, value.strip(), tuple(frame.probes[question.id]))
    return (level, float(agreeing), float(counted)) if counted else nothing


def _decisive(sentence: str, value: str) -> float | None:
    """Return how decisively a sentence says a value: "born in possibly Lyon" doubts the place.

    Where the value's words are not found in it, that of the whole sentence.
    """
    level = None if value == sentence else decisiveness(sentence, value)
    return decisiveness(sentence) if level is None else level


@lru_cache(maxsize=200_000)
def _agreement(question: str, value: str, draws: tuple[str, ...]) -> tuple[int, int]:
    """Return how many draws agree with a value, of those that can be compared with it."""
    contradictions = [contradicts(question, value, draw) for draw in draws]
    return sum(f is False for f in contradictions), sum(f is not None for f in contradictions)


# ---- few hedges: exact intervals, and an odds ratio whose resamples say too little
#
# As ``sayso run uncle`` does it for one run (:mod:`sayso.metrics`), with counts that are means
# over training seeds.

#: the hedged share of the answers to the plain prompt
UNASKED = "unasked"
#: numbers that compare two shares
PARTS = {
    "J": ("UUR", "over_hedge"),
    "J_within": ("UUR_within", "over_hedge_within"),
    "log_odds_within": ("UUR_within", "over_hedge_within"),
}
#: why a change of the odds ratio is not tested
FEW_HEDGES = "no interval: too few known or unknown facts that were, or were not, hedged"


def exact(
    frame: Frame, spreads: Mapping[str, Spread], labels: Sequence[Ints], rate: Estimate
) -> Estimate:
    """Return a rate with its counts; where they are few, with an exact interval, J with its parts'.

    ``spreads`` are the numbers of one method and form by name, ``labels`` one array a seed.
    """
    counts = rate_counts(np.mean([_typed(frame, x).sum(axis=0) for x in labels], axis=0))
    own = "p_uncertain" if rate.name == UNASKED else rate.name
    if own in counts:
        top, bottom = counts[own]
        rate = msgspec.structs.replace(rate, numerator=top, denominator=bottom)
        if not bottom or not is_sparse(top, bottom):
            return rate
        sizes = rate_sizes(_by_entity(frame, labels))[own]
        low, high = _ends(spreads[rate.name], top, bottom, frame.entities, sizes)
        return msgspec.structs.replace(
            rate, low=low, high=high,
            problem=f"sparse: {top:.0f} of {bottom:.0f}, exact interval",
        )  # fmt: skip
    if rate.name not in PARTS or rate.value is None:
        return rate
    if rate.name != "J":
        counts = rate_counts(np.mean([_within(frame, x) for x in labels], axis=0))
    pairs = [counts[name] for name in PARTS["J"]]
    if not any(is_sparse(*pair) for pair in pairs):
        return rate
    parts = [spreads[name] for name in PARTS[rate.name]]
    by_entity = rate_sizes(_by_entity(frame, labels))
    ends = [
        _ends(part, part.value * bottom, bottom, frame.entities, by_entity[name])
        for part, name, (_, bottom) in zip(parts, PARTS["J"], pairs, strict=True)
    ]
    link = correlation(parts[0].replicates, parts[1].replicates)
    pair, both = (parts[0].value, parts[1].value), (ends[0], ends[1])
    if rate.name == "log_odds_within":
        low, high = log_odds_interval(rate.value, pair, both, min(link, 0.0))
    else:
        low, high = difference_interval(pair, both, link)
    problem = SPARSE_PARTS if low is not None else UNMOVED
    return msgspec.structs.replace(rate, low=low, high=high, problem=problem)


def _ends(spread: Spread, top: float, bottom: float, entities: int, sizes: Floats) -> Interval:
    error = error_of(spread, entities)
    return proportion_interval(
        float(top), float(bottom), error[0] if error else None, entities, sizes=sizes
    )


def _by_entity(frame: Frame, labels: Sequence[Ints]) -> Floats:
    """Return the matrix of every entity (E, 6), the mean over seeds."""
    tables = [cluster_cells(frame.known, x, frame.entity, None) for x in labels]
    return np.asarray(np.mean(tables, axis=0), dtype=np.float64)


def _typed(frame: Frame, label: Ints) -> Floats:
    """Return the matrix of every type (T, 6)."""
    cells = cluster_cells(frame.known, label, frame.entity, frame.type)
    return np.asarray(cells.sum(axis=0), dtype=np.float64)


def _within(frame: Frame, label: Ints) -> Floats:
    """Return the matrix (6,) of the types that have known and unknown facts."""
    table = _typed(frame, label)
    both = (table[:, :3].sum(axis=1) > 0) & (table[:, 3:].sum(axis=1) > 0)
    return np.asarray(table[both].sum(axis=0), dtype=np.float64)


def _few_hedges(frame: Frame, labels: Sequence[Ints]) -> bool:
    """Tell whether few known or unknown facts are hedged, or are not, in the mean over seeds."""
    both = np.mean([_within(frame, label) for label in labels], axis=0)
    return is_sparse(both[5], both[3:].sum()) or is_sparse(both[2], both[:3].sum())


def least_error(frame: Frame, labels: Sequence[Ints]) -> float:
    """Return the least standard error of the mean log odds ratio over seeds; 0 where undefined.

    That of independent facts (Robins, Breslow and Greenland 1986). Seeds answer the same facts:
    where hedges are few, the mean over seeds has no less an error than each of them.
    """
    each = [log_odds_error(_typed(frame, label)) for label in labels]
    errors = np.array([error for error in each if error is not None])
    if not len(errors):
        return 0.0
    if _few_hedges(frame, labels):
        return float(errors.mean())
    return float(np.sqrt((errors**2).mean() / len(errors)))


# ---- the table of a training: every method's numbers, and what each gains on the instruction alone
#
# Names of numbers: FA UA UUR KCR EA J over_hedge (UNCLE); J_within, odds_ratio_within (Mantel-
# Haenszel, mean of the logarithm over seeds); policy_J and policy_UUR, what hedging by the
# model's own log-probabilities would have given at its own hedge rate of each type, and
# ``unspoken_knowledge`` = policy_J - J_within on the same rows; ``forced`` (base-known facts of
# which the most probable of the base model's own answers is right; ``forced_several``: of those
# to which it gave several); ``skill`` (words against the frozen draws, 0 = blind);
# ``wrong_and_sure`` (committed and wrong, of all facts); ``unasked`` (facts answered with a hedge
# to the plain prompt: ``p_uncertain`` where nobody asks for doubt).

#: parts of J within type, for its interval alone
UNSHOWN = ("UUR_within", "over_hedge_within")
#: certain or uncertain in short and in long form (UNCLE, 7.1): UC is uncertain in short form only
ALIGNED = ("align_CC", "align_CU", "align_UC", "align_UU")
#: what methods are tested for, against the instruction: one family of tests (Holm)
TESTED = (
    "UUR", "KCR", "EA", "J", "J_within", "log_odds_within", "unspoken_knowledge", "forced",
    "skill", "wrong_and_sure",
)  # fmt: skip


class Measured(msgspec.Struct, frozen=True):
    """A method with the spread of each number by (form, name)."""

    method: MeasuredMethod
    spreads: Mapping[tuple[str, str], Spread]


def cells_and_changes(
    frame: Frame,
    methods: Sequence[MeasuredMethod],
    sides: Mapping[str, Sequence[SeedSide]],
    *,
    against: str,
    signature: Signature,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[list[MethodNumber], list[Change]]:
    """Return the cells of every method and the changes against one of them, Holm-corrected.

    ``sides`` has one side a seed. Trained methods are also compared with the one before them.
    """
    draws = draw(frame.entities, resamples, seed)
    measured = [Measured(m, _spreads(frame, sides[m.name], draws)) for m in methods]
    cells = [
        _cell(frame, one, sides[one.method.name], form, name, signature)
        for one in measured
        for form, name in one.spreads
        if name not in UNSHOWN
    ]
    withheld = {
        (cell.method, cell.form, cell.estimate.name): why
        for cell in cells
        if (why := cell.estimate.problem or "").startswith(THIN)
    }
    withheld |= {
        (m.name, form, "log_odds_within"): FEW_HEDGES
        for m in methods
        for form in FORMS
        if _few_hedges(frame, [side.answers[form].label for side in sides[m.name]])
    }
    return cells, _changes(frame, measured, against, signature, withheld)


def _spreads(
    frame: Frame, sides: Sequence[SeedSide], draws: ResampleWeights
) -> dict[tuple[str, str], Spread]:
    spreads: dict[tuple[str, str], Spread] = {}
    for form in FORMS:
        metrics: dict[str, list[EntityMetric]] = {}
        for side in sides:
            for name, metric in _metrics(frame, side, side.answers[form], form).items():
                metrics.setdefault(name, []).append(metric)
        for name, own in metrics.items():
            spreads[form, name] = spread(own, draws)
        least = least_error(frame, [side.answers[form].label for side in sides])
        odds = spreads[form, "log_odds_within"]
        spreads[form, "log_odds_within"] = odds._replace(least=least)
    rows = codes(frame.entity)
    for name in ALIGNED:
        own = [_share(rows, _alike(side, name)) for side in sides]
        spreads["both", name] = spread(own, draws)
    return spreads


def _alike(side: SeedSide, name: str) -> Floats:
    """Return 1 where short and long form are certain (C) or uncertain (U) as ``name`` ends."""
    labels = [side.answers[form].label for form in FORMS]
    fits = [
        (label == UNCERTAIN) == (letter == "U")
        for label, letter in zip(labels, name[-2:], strict=True)
    ]
    both = (labels[0] >= 0) & (labels[1] >= 0)
    return np.where(both, (fits[0] & fits[1]).astype(np.float64), np.nan)


def _metrics(frame: Frame, side: SeedSide, a: MethodAnswers, form: str) -> dict[str, EntityMetric]:
    """Return every number of one side as a function of entity weights."""
    metrics: dict[str, EntityMetric] = {}
    flat = cluster_cells(frame.known, a.label, frame.entity)
    for name in RATES:
        metrics[name] = _of_rates(flat, name)
    metrics[UNASKED] = _of_rates(cluster_cells(frame.known, a.plain, frame.entity), "p_uncertain")
    typed = cluster_cells(frame.known, a.label, frame.entity, frame.type)
    for name in ("J_within", "log_odds_within", *UNSHOWN):
        metrics[name] = _of_types(typed, name)
    rows = codes(frame.entity)
    score = -a.logprob
    if not np.isnan(score).all():
        metrics["policy_J"] = _of_rows(rows, policy_j, score, frame.known, a.label, frame.type)
        metrics["unspoken_knowledge"] = _of_rows(
            rows, unspoken_knowledge, score, frame.known, a.label, frame.type
        )
        metrics["policy_UUR"] = _policy_uur(frame, score, a.label)
    metrics["skill"] = _of_rows(rows, skill, a.decisive, a.agreeing, a.draws)
    metrics["wrong_and_sure"] = _share(rows, a.sure_wrong)
    if form == "short":
        known = np.where(frame.known == 1, side.forced, np.nan)
        metrics["forced"] = _share(rows, known)
        metrics["forced_several"] = _share(rows, np.where(frame.several, known, np.nan))
    return metrics


def _of_weights(entities: int, rate: Callable[[Floats], Any]) -> EntityMetric:
    """Return a number of which ``rate`` tells (B,) values by weights (B, entities)."""

    def metric(weights: Floats | None) -> Floats | float:
        W = np.ones((1, entities)) if weights is None else weights
        rates = np.asarray(rate(W), dtype=np.float64)
        return float(rates[0]) if weights is None else rates

    return metric


def _of_rates(cells: Floats, name: str) -> EntityMetric:
    return _of_weights(len(cells), lambda W: cell_rates(W @ cells)[name])


def _of_types(cells: Floats, name: str) -> EntityMetric:
    wide, shape = cells.reshape(len(cells), -1), cells.shape[1:]
    return _of_weights(len(cells), lambda W: within_rates((W @ wide).reshape(-1, *shape))[name])


def _of_rows(unit: np.ndarray, metric: object, *arrays: object) -> EntityMetric:
    def weighted(weights: Floats | None) -> Floats | float:
        if weights is None:
            value = metric(*arrays)  # type: ignore[operator]
            return float("nan") if value is None else float(value)
        values = metric(*arrays, weights=weights[:, unit])  # type: ignore[operator]
        nothing = np.full(len(weights), np.nan)
        return nothing if values is None else np.asarray(values, dtype=np.float64)

    return weighted


def _share(unit: np.ndarray, values: Floats) -> EntityMetric:
    """Return the share of 1 among values that are not NaN."""
    held = ~np.isnan(values)
    count = int(unit.max()) + 1 if len(unit) else 0
    top = np.bincount(unit[held], values[held], minlength=count).astype(np.float64)
    return ratio(top, np.bincount(unit[held], minlength=count).astype(np.float64))


def _policy_uur(frame: Frame, score: Floats, label: np.ndarray) -> EntityMetric:
    """Return the UUR of hedging by ``score`` as often as the words do, within each type.

    Facts without a score are hedged or not as the words have it, so that UUR and this count the
    same facts.
    """
    counted = (frame.known >= 0) & (label >= 0)
    words = np.where(counted, (label == UNCERTAIN).astype(np.float64), np.nan)
    scored = np.where(np.isnan(score), np.nan, words)
    unit = codes(frame.entity)
    use = counted & (frame.known == 0)

    def rate(weights: Floats) -> Floats:
        W = weights[:, unit]
        member = policy_by_rate(score, frame.type, scored, W)[:, use]
        member = np.where(np.isnan(member), words[use], member)
        total = W[:, use].sum(axis=1)
        top = (member * W[:, use]).sum(axis=1)
        return np.where(total > 0, top / np.where(total > 0, total, 1.0), np.nan)

    return _of_weights(frame.entities, rate)


def _cell(
    frame: Frame,
    one: Measured,
    sides: Sequence[SeedSide],
    form: str,
    name: str,
    signature: Signature,
) -> MethodNumber:
    spread = one.spreads[form, name]
    forms = FORMS if form == "both" else (form,)
    labels = [[_labels(side.answers[f], name) for f in forms] for side in sides]
    known = [frame.known] if form != "both" else []
    usable = [np.all([np.asarray(x) >= 0 for x in (*known, *own)], axis=0) for own in labels]
    n = round(float(np.mean([u.sum() for u in usable])))
    number = estimate(name, spread, frame.entities, n, NUMBERS.named(name).limits)
    by_seed = spread.by_seed
    if form != "both":
        own = {n: spread for (f, n), spread in one.spreads.items() if f == form}
        number = exact(frame, own, [one_form for (one_form,) in labels], number)
    if name == "skill":
        seen = [side.answers[f] for side in sides for f in forms]
        notes = (thin_bins(a.decisive, a.agreeing, a.draws) for a in seen)
        if thin := next(filter(None, notes), None):
            number = msgspec.structs.replace(number, low=None, high=None, problem=thin)
    if name == "log_odds_within":
        logs = (number.value, number.low, number.high, *by_seed)
        value, low, high, *seeds = (None if log is None else exp(log) for log in logs)
        by_seed = tuple(seeds)
        number = msgspec.structs.replace(
            number, name="odds_ratio_within", value=value, low=low, high=high
        )
    missing = max(
        int(np.any([x == MISSING for x in (*known, *own)], axis=0).sum()) for own in labels
    )
    number = msgspec.structs.replace(
        number,
        where=slice_of(form=form, method=one.method.name),
        missing=missing,
        signature=signature_of(number.name, (("form", form), *signature)),
    )
    return MethodNumber(one.method.name, form, number, by_seed)


def _labels(answers: MethodAnswers, name: str) -> np.ndarray:
    return answers.plain if name == UNASKED else answers.label


def _changes(
    frame: Frame,
    measured: Sequence[Measured],
    against: str,
    signature: Signature,
    withheld: Mapping[tuple[str, str, str], str],
) -> list[Change]:
    """Return the changes of every tested number; none is tested where a side has no interval.

    ``withheld``: why skill or the odds ratio of a method has none, by method, form and name.
    """
    by_name = {one.method.name: one for one in measured}
    pairs = [(one, by_name[against]) for one in measured if one.method.name != against]
    trained = [one for one in measured if one.method.kind == "trained"]
    pairs += list(zip(trained[1:], trained[:-1], strict=True))
    changes: list[Change] = []
    for one, other in pairs:
        for form, name in one.spreads:
            if name not in TESTED or (form, name) not in other.spreads:
                continue
            gap = difference(one.spreads[form, name], other.spreads[form, name])
            where = slice_of(form=form, method=one.method.name, minus=other.method.name)
            settings = (("form", form), *signature)
            number = estimate(name, gap, frame.entities, len(frame.pairs))
            number = msgspec.structs.replace(
                number, where=where, signature=signature_of(f"difference of {name}", settings)
            )
            p = p_value(gap, frame.entities)
            sides = ((side.method.name, form, name) for side in (one, other))
            if why := next((withheld[side] for side in sides if side in withheld), None):
                number = msgspec.structs.replace(number, low=None, high=None, problem=why)
                p = None
            changes.append(Change(one.method.name, other.method.name, form, number, p))
    corrected = holm([one.p for one in changes])
    return [
        msgspec.structs.replace(one, p_holm=p) for one, p in zip(changes, corrected, strict=True)
    ]


VALUES = {CORRECT: "correct", INCORRECT: "incorrect", UNCERTAIN: "uncertain"}
#: facts shown of each kind and form
SHOWN = 6


def samples(frame: Frame, before: SeedSide, after: SeedSide, seed: int = 0) -> Iterator[Sample]:
    """Yield facts of every kind (known or not, hedged after or not), drawn by a hash."""
    for form in FORMS:
        one, two = before.answers[form], after.answers[form]
        groups: dict[tuple[bool, bool], list[int]] = {}
        for row in range(len(frame.pairs)):
            if frame.known[row] >= 0 and one.label[row] >= 0 and two.label[row] >= 0:
                key = bool(frame.known[row]), bool(two.label[row] == UNCERTAIN)
                groups.setdefault(key, []).append(row)
        for key in sorted(groups):
            rows = sorted(groups[key], key=lambda r: content_id([seed, form, *frame.pairs[r]]))
            for row in rows[:SHOWN]:
                question = frame.questions[row]
                yield Sample(
                    form,
                    question.entity,
                    question.text,
                    tuple(gold.value for gold in question.golds or ()),
                    key[0],
                    one.texts[row],
                    two.texts[row],
                    VALUES[int(one.label[row])],
                    VALUES[int(two.label[row])],
                )


# ---- the proof of a training: base, prompted and trained models on the same facts, one table

Say = Callable[[str], None]
#: what trained methods are compared with
AGAINST = "instruction"
TITLES = {
    "base": "base, plain prompt",
    "instruction": "base, instruction",
    "unc_few": "Unc-Few",
    "pair_few": "Pair-Few",
    "self_refine": "Self-Refine",
    "sft": "SFT",
    "dpo": "SFT + DPO",
}


def prove(
    base: Base,
    parts: Halves,
    trained: Mapping[str, Sequence[Any]],
    folder: Path,
    begun: Training,
    *,
    progress: Progress | None = None,
    say: Say = lambda text: None,
) -> Training:
    """Measure trained models (by stage, a list over seeds) with frozen probes; return it all."""
    frame = frame_of(base.path, parts.measured.questions)
    given = choices(base.path, parts.measured.questions)
    say(f"measuring: {entities_of(parts.measured.questions)} entities, probes of {base.path}")
    own = forced_right(base, base.model, given, folder / "forced" / "base.json", progress)
    sides = {"base": [side_of(frame, base.path, own, instructed=False)]}
    shown = [MeasuredMethod("base", TITLES["base"], "base")]
    place, names = _prompted(base, parts, str(begun.settings["methods"]), folder, progress)
    sides[AGAINST] = [side_of(frame, base.path, own)]
    sides |= {name: [side_of(frame, place, own, method=name)] for name in names}
    shown += [
        MeasuredMethod(name, TITLES.get(name, name), "prompted") for name in (AGAINST, *names)
    ]
    folders = {"base": str(base.path)}
    for stage, models in trained.items():
        sides[stage] = []
        for seed, model in zip(begun.seeds, models, strict=True):
            say(f"measuring: {TITLES.get(stage, stage)}, seed {seed}")
            run = folder / "runs" / f"{stage}-{seed}"
            result = measure_trained(base, model, run, limit=parts.limit, progress=progress)
            check_comes_from_base(base, result)
            kept = folder / "forced" / f"{stage}-{seed}.json"
            right = forced_right(base, model, given, kept, progress)
            sides[stage].append(side_of(frame, run, right))
            folders[f"{stage}-{seed}"] = str(run.relative_to(folder))
        shown.append(MeasuredMethod(stage, TITLES.get(stage, stage), "trained", begun.seeds))
    say("table: intervals over seeds and entities")
    cells, changes = cells_and_changes(
        frame,
        shown,
        sides,
        against=AGAINST,
        signature=begun.signature,
        resamples=int(str(begun.settings["resamples"])),
    )
    training = msgspec.structs.replace(
        begun,
        methods=tuple(shown),
        cells=tuple(cells),
        changes=tuple(changes),
        folders=folders,
        entities={**begun.entities, "facts": len(frame.pairs)},
    )
    last = list(trained)[-1] if trained else AGAINST
    return msgspec.structs.replace(
        training,
        verdict=tuple(verdict_sentences(training, AGAINST)),
        samples=tuple(samples(frame, sides[AGAINST][0], sides[last][0])),
    )


def _prompted(
    base: Base, parts: Halves, methods: str, folder: Path, progress: Progress | None
) -> tuple[Path, list[str]]:
    """Return the run that holds the base model's prompting methods, and their names.

    It is the base run, unless ``methods`` names others: these are asked in a run of their own.
    """
    place: Path = base.path
    measured = str(base.manifest.settings.get("methods") or "")
    if methods and methods != measured:
        place, measured = folder / "runs" / "methods", methods
        measure_trained(
            base, base.model, place, limit=parts.limit, progress=progress, methods=methods
        )
    return place, [name for name in (n.strip() for n in measured.split(",")) if name]

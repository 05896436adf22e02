"""The proof of a training: trained models are measured, and every method stands in one table."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sayso.engines.engine import Engine
from sayso.progress import Progress
from sayso.protocols.uncle.seeds import (
    Frame,
    SeedSide,
    compare_methods,
    frame_of_run,
    side_of_run,
)
from sayso.records import (
    Generation,
    InputError,
    Question,
    Request,
    Signature,
    Verdict,
    content_id,
)
from sayso.runs.measure import entities_of, load_run
from sayso.runs.result import Result
from sayso.runs.run import execute_job, finished_result, open_job
from sayso.storage.atomic import replacing
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
    job = dataclasses.replace(job, command=f"sayso train {base.path}")
    return finished_result(job, out) or execute_job(job, progress)


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


# ---- what each method answered, joined fact by fact


def frame_of(base: str | Path, measured: Sequence[Question]) -> Frame:
    """Return the aspects of ``measured`` with what the base run's probes say of them."""
    job, _, chosen = load_run(base)
    several = {one.question for one in choices(base, measured) if len(one.texts) > 1}
    frame = frame_of_run(job, chosen, {q.id for q in measured}, several)
    if not frame.pairs:
        raise InputError(f"{base} has no aspect of what is measured")
    return frame


def side_of(
    frame: Frame, run: str | Path, forced: Forced, *, instructed: bool = True, method: str = ""
) -> SeedSide:
    """Return a method's side: a run's instructed or plain answers, or those of a further method."""
    job, _, chosen = load_run(run)
    try:
        return side_of_run(frame, job, chosen, forced, instructed=instructed, method=method)
    except InputError as error:
        raise InputError(f"{run} {error}") from None


# ---- the table of a training: every method's numbers, and what each gains on the instruction alone
#
# Names of numbers: FA UA UUR KCR EA J over_hedge (UNCLE); J_within, odds_ratio_within (Mantel-
# Haenszel, mean of the logarithm over seeds); policy_UUR, what hedging by the model's own
# log-probabilities would have given at its own hedge rate of each type, and what J within type
# would gain by it on the same rows, ``unspoken_knowledge``; ``forced`` (base-known facts of
# which the most probable of the base model's own answers is right; ``forced_several``: of those
# to which it gave several); ``skill`` (words against the frozen draws, 0 = blind);
# ``wrong_and_sure`` (committed and wrong, of all facts); ``unasked`` (facts answered with a hedge
# to the plain prompt: ``p_uncertain`` where nobody asks for doubt).


def cells_and_changes(
    frame: Frame,
    methods: Sequence[MeasuredMethod],
    sides: Mapping[str, Sequence[SeedSide]],
    *,
    against: str,
    signature: Signature,
    resamples: int = 2000,
) -> tuple[list[MethodNumber], list[Change]]:
    """Return the cells of every method and the changes against one of them, Holm-corrected.

    ``sides`` has one side a seed. Trained methods are also compared with the one before them.
    """
    pairs = [(m.name, against) for m in methods if m.name != against]
    trained = [m.name for m in methods if m.kind == "trained"]
    pairs += list(zip(trained[1:], trained[:-1], strict=True))
    own = {m.name: sides[m.name] for m in methods}
    numbers, changes = compare_methods(frame, own, pairs, signature, resamples, seed=0)
    return [MethodNumber(*number) for number in numbers], [Change(*change) for change in changes]


#: facts shown of each kind and form
SHOWN = 6


def samples(frame: Frame, before: SeedSide, after: SeedSide, seed: int = 0) -> Iterator[Sample]:
    """Yield facts of every kind (known or not, hedged after or not), drawn by a hash."""
    for form in FORMS:
        one, two = before.answers[form], after.answers[form]
        groups: dict[tuple[bool, bool], list[int]] = {}
        for row in range(len(frame.pairs)):
            if frame.known[row] >= 0 and one.label[row] >= 0 and two.label[row] >= 0:
                key = bool(frame.known[row]), two.value(row) == "uncertain"
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
                    one.value(row),
                    two.value(row),
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

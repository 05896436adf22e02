"""What a run would ask and cost: ``--dry-run``, which asks nothing, and ``--pilot``.

How many tokens requests take is estimated from answers of their kind so far, or from assumptions;
after a pilot, the price from what its entities cost.
"""

from __future__ import annotations

import dataclasses
import math
import random
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from sayso.datasets.dataset import Dataset
from sayso.engines import brought_model
from sayso.engines.prices import LOCAL, Price
from sayso.engines.room import MOST as MOST_ROOM
from sayso.engines.room import THINKS, thought_tokens
from sayso.harmless import line
from sayso.judges.cascade import CascadeJudge
from sayso.metrics.intervals import student_quantile
from sayso.options import as_typed, replace
from sayso.progress import Progress
from sayso.protocols.pool import Cluster, clusters_of
from sayso.protocols.probes import PROBES
from sayso.protocols.protocol import Ask, Step, first_asks, walk
from sayso.records import Generation, InputError, Question, Request, Usage, request_key, room_of
from sayso.runs.costs import dollars, is_endpoint
from sayso.runs.freshness.same_model import probes
from sayso.runs.job import Job, OpenJob, one_period, unused_prompts, world_caution
from sayso.runs.judge import CheckedJudge, OpenJudge, holds_to_schema, judging_model
from sayso.runs.recorded import RecordedEngine, answers_of
from sayso.runs.rehearsal import Asked, Rehearsal, rehearse
from sayso.runs.run import (
    check_folders,
    open_job,
    run_of,
    shaped,
    size_of,
    unlisted,
)

#: English text has 3 to 5 characters per token; a chat template adds up to 40 tokens to a prompt
FEWEST, MOST, TEMPLATE = 3, 5, 40
#: before there are answers: the shortest is this part of the longest allowed (a name of two tokens
#: of 256); a judge repeats questions and gives reasons
SHORTEST, JUDGE_SHORTEST = 128, 16
#: so many answers, and their mean is taken instead
ENOUGH = 5
ASSUMED = (
    f"The token ranges assume {FEWEST} to {MOST} characters per token, and up to {TEMPLATE} extra "
    f"tokens per prompt. They assume that an answer uses between 1/{SHORTEST} of its token limit "
    f"and all of it, and a judge's reply between 1/{JUDGE_SHORTEST} and all. Where at least "
    f"{ENOUGH} answers of a stage are in the cache, their mean is used instead, plus or minus 10 % "
    "or two standard errors. A request is one answer; where an endpoint gives several choices, a "
    "call brings several."
)

Basis = Literal["assumption", "answers"]


class Range(NamedTuple):
    """The least and the most of something."""

    low: float
    high: float

    def times(self, number: float) -> Range:
        """Scale both ends."""
        return Range(self.low * number, self.high * number)

    def plus(self, other: Range) -> Range:
        """Add both ends."""
        return Range(self.low + other.low, self.high + other.high)


NONE = Range(0.0, 0.0)


class StageEstimate(msgspec.Struct, frozen=True):
    """What one stage still asks of the model, of the judge, or of a further model by name.

    ``by`` is the basis of its tokens: "assumption" or "answers".
    ``requests`` differ from each other and from those of earlier stages; ``cached`` of them are
    answered already. Tokens and dollars are of the others; ``dollars`` is ``None`` if unknown.
    """

    who: str
    name: str
    requests: Range
    cached: int
    prompt_tokens: Range
    completion_tokens: Range
    dollars: Range | None
    by: Basis = "assumption"


class Means(NamedTuple):
    """What answers of one kind were so far: tokens a character of prompt, tokens, characters."""

    prompt: Range
    completion: Range
    characters: Range
    by: Basis


def means(
    known: Sequence[tuple[Request, Generation]], limit: int, shortest: int = SHORTEST
) -> Means:
    """Return ranges from answers so far, or from the assumptions where there are too few."""
    counted = [(q, g) for q, g in known if g.usage.completion_tokens]
    if len(counted) < ENOUGH:
        completion = Range(max(1.0, limit / shortest), float(limit))
        text = Range(completion.low * FEWEST, completion.high * MOST)
        return Means(Range(1 / MOST, 1 / FEWEST), completion, text, "assumption")
    completion = _around([g.usage.completion_tokens for _, g in counted])
    most = float(limit + max(room_of(g) for _, g in counted))
    completion = Range(max(1.0, completion.low), min(most, completion.high))
    prompt = sum(g.usage.prompt_tokens for _, g in counted) / sum(size(q) for q, _ in counted)
    return Means(
        Range(prompt * 0.9, prompt * 1.1) if prompt else Range(1 / MOST, 1 / FEWEST),
        completion,
        _around([len(g.text) for _, g in counted]),
        "answers",
    )


def _around(values: Sequence[float]) -> Range:
    """Return the mean, give or take a tenth of it or two standard errors."""
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    half = max(0.1 * mean, 2 * math.sqrt(variance / len(values)))
    return Range(max(0.0, mean - half), mean + half)


def size(request: Request) -> int:
    """Return the characters of a prompt."""
    return max(1, sum(len(m.content) for m in request.messages) + len(request.prefill or ""))


def request_tokens(requests: Sequence[Request], mean: Means) -> tuple[Range, Range]:
    """Return the prompt and completion tokens of some requests."""
    prompt = mean.prompt.times(sum(size(r) for r in requests))
    if mean.by == "assumption":
        prompt = prompt.plus(Range(0, TEMPLATE * len(requests)))
    return prompt, mean.completion.times(len(requests))


def _dollars(price: Price | None, prompt: Range, completion: Range) -> Range | None:
    if price is None:  # of nothing, every price is 0
        return None if prompt.high or completion.high else NONE
    ends = zip(prompt, completion, strict=True)
    return Range(*(price.of(Usage(round(p), round(c))) for p, c in ends))


def _whole(number: Range) -> Range:
    return Range(round(number.low), round(number.high))


def make_stage(
    who: str,
    name: str,
    requests: Range,
    cached: int,
    tokens: tuple[Range, Range],
    price: Price | None,
    by: Basis,
) -> StageEstimate:
    """Return a stage with whole numbers and its price."""
    prompt, completion = map(_whole, tokens)
    dollars = _dollars(price, prompt, completion)
    return StageEstimate(who, name, _whole(requests), cached, prompt, completion, dollars, by)


LOCAL_LABEL = "local, no price"


class ReadEstimate(msgspec.Struct, frozen=True):
    """What is no request: texts that the subject reads, its states kept, pairs for an NLI model.

    ``who`` is "reads", "states" or "nli".
    """

    who: str
    name: str
    requests: Range


class PilotPrice(msgspec.Struct, frozen=True):
    """What the rest of a run costs, in dollars, by the entities of it that were asked.

    ``paid`` is what asking them cost; ``more`` of them would make the range half as wide.
    """

    asked: int
    of: int
    paid: float
    dollars: float
    low: float
    high: float
    more: int = 0


class RunEstimate(msgspec.Struct, frozen=True):
    """What a run would ask. ``dollars`` is ``None`` where a price is unknown, never 0 for that."""

    model: str
    judge: str
    stages: tuple[StageEstimate, ...]
    prices: dict[str, str]
    dollars: Range | None
    notes: tuple[str, ...]
    #: what must be read before any number
    cautions: tuple[str, ...] = ()
    reads: tuple[ReadEstimate, ...] = ()
    #: ``dollars`` are its range
    pilot: PilotPrice | None = None


def estimate_job(
    job: Job,
    seen: set[bytes] | None = None,
    progress: Progress | None = None,
    later: Sequence[Path] = (),
) -> RunEstimate:
    """Return what a job would ask and cost. Asks nothing and makes no run folder.

    Opens the model (one in this process is loaded, for its identity is the key to the cache).
    What needs no answer is counted exactly, the rest by rehearsing the run.
    ``seen`` are requests that jobs before this one ask: they are left out, and this job's are
    added; ``later`` are the run folders that such jobs have yet to make.
    Raises InputError, also for a run folder and other runs that the run would refuse.
    """
    seen = set() if seen is None else seen
    with open_job(job, progress, learn=False) as opened:
        check_folders(opened, later)
        job = opened.job
        every = opened.data.questions
        first = shaped(first_asks(job.steps(every)), opened.model)
        asks, recorded = _on_record(opened, first)
        questions, scale = _sampled(job, every)
        plan = estimate_walk(
            opened.about(questions), job.steps(questions), asks=asks, recorded=recorded,
            scale=scale, seen=seen,
        )  # fmt: skip
        if job.texts is not None:
            return plan
        stages = (*_asked_again(opened, asks), *plan.stages)
        told = [purposes_text(job, opened.data), f"data {opened.data.name}, {size_of(opened.data)}"]
        told += opened.data.notices
        if job.system:
            told.append(f"The system prompt {line(str(job.system), 60)!r} goes with every request.")
        return msgspec.structs.replace(
            plan,
            stages=stages,
            dollars=_sum(stage.dollars for stage in stages),
            notes=(*filter(None, told), *unused_prompts(job), *plan.notes),
            cautions=(*world_caution(job), *plan.cautions),
        )


def purposes_text(job: Job, data: Dataset) -> str:
    """Return what each purpose of a run would ask by itself; "" where it has but one."""
    unanswerable = any(q.answerable is False for q in data.short)
    if getattr(job.settings, "want", "") != "both" or not unanswerable:
        return ""
    numbers = {}
    for want in ("declining", "scores"):
        options = replace(job.options or job.plan.Settings(), {"want": want})
        try:
            chosen = dataclasses.replace(job, options=options).settings
        except InputError:  # another setting asks for more
            return ""
        asked = job.plan.asked(data, chosen).questions
        numbers[want] = len(first_asks(job.plan.steps(asked, chosen, job.request_seed)))
    return (
        f"To see whether the model declines takes {numbers['declining']:,} of these requests to it "
        f"(--for declining); to compare scores, {numbers['scores']:,} (--for scores)."
    )


def estimate_walk(
    of: OpenJob,
    steps: Sequence[Step],
    *,
    asks: Sequence[Ask] = (),
    recorded: Sequence[Generation] = (),
    scale: float = 1.0,
    seen: set[bytes] | None = None,
) -> RunEstimate:
    """Return what steps ask: ``asks``, which need no answer, exactly, the rest rehearsed.

    Those of ``asks`` that stand first are ``recorded``. What is rehearsed counts ``scale`` times.
    """
    job, seen = of.job, set() if seen is None else seen
    keys: list[bytes] = []
    replies: dict[bytes, Generation] = {}
    first: dict[str, Asked] = {}
    before = set(seen)
    if job.model:
        keys = [request_key(ask.request, of.model.identity) for ask in asks]
        replies = {key: one.reply for key, one in of.model.usable(keys).items()}
        replies |= dict(zip(keys, recorded, strict=False))
        for ask, key in zip(asks, keys, strict=True):
            stage = first.setdefault(ask.stage, {})
            if key not in seen:  # a request counts where it stands first
                seen.add(key)
                stage[key] = ask.request, replies.get(key)
    stages = [_stage("model", name, [asked], of.model.price) for name, asked in first.items()]
    held = zip(asks, keys, strict=True) if keys else ()
    known = [(ask.request, replies[key]) for ask, key in held if key in replies]
    runs = rehearse(of, lambda limit: means(known, limit).characters, before, steps)
    calls = getattr(getattr(of.judge.judge, "llm", of.judge.judge), "most_calls", 1)
    stages += _rehearsed_stages(runs, scale, set(keys), calls)
    for run in runs:
        seen.update(key for requests in run.stages.values() for key in requests)
    reads = tuple(_reads(runs, scale))
    prices = {
        who: _label(engine.price, "price" if who == "model" else "judge_price")
        for who, engine in runs[1].engines.items()
    }
    return RunEstimate(
        model=of.model.signature if job.model else "",
        judge=of.judge.judge.signature,
        stages=tuple(stages),
        prices=prices,
        dollars=_sum(stage.dollars for stage in stages),
        reads=reads,
        notes=(
            ASSUMED,
            *reads_text(reads),
            *_one_by_one(of, asks, known),
            *_wide(stages),
            *_ranges(of.judge, scale),
            *_untried(job),
        ),
        cautions=(*unlisted(of.model, of.judge.engine), *_thinking(of, [g for _, g in known])),
    )


def _thinking(of: OpenJob, known: Sequence[Generation]) -> Iterator[str]:
    """Yield cautions on models that think, by their names or their answers so far."""
    told = str(of.job.thinking)
    subject = None if told == "off" or told.isdigit() else of.model
    for engine, answers in ((subject, known), (of.judge.engine, ())):
        if engine is None or not (THINKS.search(engine.name) or any(map(thought_tokens, answers))):
            continue
        yield (
            f"{engine.name} thinks before it answers: with fewer than {ENOUGH} answers in the "
            "cache, these ranges lack its thoughts, which may take up to "
            f"{MOST_ROOM:,} tokens an answer"
        )


#: entities that are rehearsed; of more, the counts are scaled up
SAMPLED = 50
UNKNOWN_FORM = (
    "It is not known yet whether the judge's endpoint supports JSON schemas; one short question "
    "will find out. If it does, verdicts take up to a quarter more tokens."
)


def _sampled(job: Job, questions: Sequence[Question]) -> tuple[Sequence[Question], float]:
    """Return the questions that are rehearsed, those of some entities, and how many times more
    there are."""
    entities = sorted({(q.domain, q.entity) for q in questions})
    if len(entities) <= SAMPLED or job.texts is not None:
        return questions, 1.0
    chosen = set(random.Random(job.seed).sample(entities, SAMPLED))
    some = [q for q in questions if (q.domain, q.entity) in chosen]
    return some, len(entities) / SAMPLED


def _rehearsed_stages(
    runs: tuple[Rehearsal, Rehearsal], scale: float, first: Set[bytes], calls: int
) -> Iterator[StageEstimate]:
    """Yield what each stage asks besides the ``first`` requests, which are counted exactly.

    ``calls`` is how many a verdict of the judge takes at the most.
    """
    fewest, most = runs
    for who, name in {**most.stages, **fewest.stages}:
        every = [run.stages.get((who, name), {}) for run in runs]
        rest = [{k: a for k, a in asked.items() if k not in first} for asked in every]
        if any(rest):
            goes_on = any(not first.isdisjoint(asked) for asked in every)
            title, price = f"further {name}" if goes_on else name, most.engines[who].price
            yield _stage(who, title, rest, price, scale, calls if who == "judge" else 1)


def _stage(
    who: str,
    name: str,
    ends: Sequence[Asked],
    price: Price | None,
    scale: float = 1.0,
    calls: int = 1,
) -> StageEstimate:
    """Return what a stage asks at the least and at the most, the ``ends``; or exactly, if one.

    Requests count ``scale`` times; at the most, each takes so many ``calls``.
    """
    kept: set[bytes] = set()
    by: Basis = "answers"
    numbers, prompts, completions = list[float](), list[Range](), list[Range]()
    for asked, times in zip(ends, (1, calls), strict=False):
        known = [(request, reply) for request, reply in asked.values() if reply is not None]
        kept |= {key for key, (_, reply) in asked.items() if reply is not None}
        todo: dict[int, list[Request]] = {}
        for request, reply in asked.values():
            if reply is None:
                todo.setdefault(request.max_tokens, []).append(request)
        number, prompt, completion = len(known), NONE, NONE
        for limit, some in todo.items():
            mean = means(known, limit, SHORTEST if who == "model" else JUDGE_SHORTEST)
            by = "assumption" if mean.by == "assumption" else by
            more = request_tokens(some, mean)
            number += len(some) * times
            prompt, completion = prompt.plus(more[0]), completion.plus(more[1])
        numbers.append(number * scale)
        prompts.append(prompt.times(scale * times))
        completions.append(completion.times(scale * times))
    return make_stage(
        who, name, Range(min(numbers), max(numbers)), round(len(kept) * scale),
        (_span(prompts), _span(completions)), price, by,
    )  # fmt: skip


def _span(ranges: Sequence[Range]) -> Range:
    """Return the least and the most of several ranges."""
    return Range(min(r.low for r in ranges), max(r.high for r in ranges))


def _reads(runs: tuple[Rehearsal, Rehearsal], scale: float) -> Iterator[ReadEstimate]:
    """Yield what each step has read and compared, with no request and no price."""
    for who, name in dict.fromkeys(key for run in runs for key in run.reads):
        low, high = sorted(run.reads[who, name] * scale for run in runs)
        yield ReadEstimate(who, name, _whole(Range(low, high)))


def reads_text(reads: Sequence[ReadEstimate]) -> list[str]:
    """Return in words how much is read and compared."""
    of_each = {
        "reads": "texts are read by the model, which writes nothing",
        "states": "hidden states of answers are kept for P(IK)",
        "nli": "pairs of texts are compared by the NLI model",
    }
    sums = {who: _sum(one.requests for one in reads if one.who == who) or NONE for who in of_each}
    return [
        f"{between(sums[who])} {words}; how many depends on how often answers are alike"
        for who, words in of_each.items()
        if sums[who].high
    ]


#: a range is wide if its most is more than so many times its least
WIDE = 3


def _wide(stages: Sequence[StageEstimate]) -> Iterator[str]:
    """Yield, for each who is asked, why a wide range cannot be narrower yet."""
    for who in dict.fromkeys(stage.who for stage in stages):
        own = [stage for stage in stages if stage.who == who]
        low, high = still_asked(own)
        if high > WIDE * low:
            open_stage = max(own, key=lambda stage: stage.requests.high - stage.requests.low)
            yield (
                f"{between((low, high))} requests to the {who} is a wide range, mostly because of "
                f"{open_stage.name}: it depends on how many draws differ, how long texts are and "
                "what is found in them, and shrinks as answers come into the cache"
            )


def _ranges(open_judge: OpenJudge, scale: float) -> list[str]:
    """Return what a reader must know of the ranges."""
    notes: list[str] = []
    judge = open_judge.engine
    if isinstance(open_judge.judge, CheckedJudge):
        notes.append(
            f"The judge {open_judge.judge.name} is not called in a dry run: what it asks by itself "
            "is not counted, and whatever depends on its verdicts is a range, also after the run."
        )
    if judge is not None and not judge.capabilities.json_schema:
        notes += [UNKNOWN_FORM] if holds_to_schema(judge, learn=False) is None else []
    if scale > 1:
        notes.append(f"Requests that depend on answers: estimated from {SAMPLED} of the entities.")
    if isinstance(open_judge.judge, CascadeJudge):
        notes.append(
            "The judge's model is asked only where the rules are not certain; the range "
            "runs from every third question to all."
        )
    return notes


def _asked_again(opened: OpenJob, asks: Sequence[Ask]) -> list[StageEstimate]:
    """Return the stage that asks cached prompts again, to see whether the model is the same."""
    if opened.job.recorded:
        return []
    chosen = probes(asks, opened.model, opened.job.begun)
    if not chosen:
        return []
    used = [probe.kept.usage for probe in chosen]
    sums = len(used), sum(u.prompt_tokens for u in used), sum(u.completion_tokens for u in used)
    number, prompt, completion = (Range(total, total) for total in sums)
    name = "cached prompts again"
    return [
        make_stage("model", name, number, 0, (prompt, completion), opened.model.price, "answers")
    ]


def _one_by_one(
    of: OpenJob, asks: Sequence[Ask], known: Sequence[tuple[Request, Generation]]
) -> Iterator[str]:
    """Yield from how few samples on it costs less to draw one by one than all in one call."""
    probe, price = getattr(of.job.settings, "probe", None), of.model.price
    first = [a.request for a in asks if a.stage == PROBES and a.request.sample == 0]
    if probe is None or not first or price is None or price == LOCAL:
        return
    counted = [(q, g) for q, g in known if q.max_tokens == first[0].max_tokens]
    mean = means(counted, first[0].max_tokens)
    if mean.by == "assumption" and probe.stop == "all":
        return
    calls = means([(q, g) for q, g in counted if g.usage.prompt_tokens], first[0].max_tokens)
    prompt, answer = request_tokens(first, calls)[0], mean.completion.times(len(first))
    paid = [(p * price.input, c * price.output) for p, c in zip(prompt, answer[::-1], strict=True)]
    few = sorted((p + probe.k * c) / (p + c) for p, c in paid)
    yield (
        f"Samples one by one (probe.stop=first_right) send {between(prompt)} prompt tokens with "
        f"each; all {probe.k} in one call, where the endpoint gives several choices, once. One by "
        f"one is cheaper below {few[0]:.1f} to {few[1]:.1f} samples a question."
    )


def _on_record(opened: OpenJob, asks: list[Ask]) -> tuple[list[Ask], list[Generation]]:
    """Return the requests of a run, and the answers of a model on record."""
    job = opened.job
    if not isinstance(job.model, RecordedEngine):
        return asks, []
    kept, replies, _ = answers_of(job.model, job.plan, asks)
    return kept, replies


def _untried(job: Job) -> Iterator[str]:
    """Yield notes on endpoints that were not tried (one without #model was), and on plug-ins."""
    names = [job.model if isinstance(job.model, str) else "", judging_model(job.judge)]
    for name in dict.fromkeys(names):
        tried = name.startswith("ollama:") or ("://" in name and "#" not in name)
        if brought_model(name):
            yield f"{name}: the plug-in was opened, as for a run, and not asked"
        elif is_endpoint(name) and not tried:
            yield f"{name}: the address was not contacted; sayso check contacts it"


def _sum(parts: Iterable[Range | None]) -> Range | None:
    """Add ranges; one that nobody knows makes the sum unknown, unless it is of nothing."""
    total: Range | None = NONE
    for part in parts:
        total = None if total is None or part is None else total.plus(part)
    return total


def _label(price: Price | None, option: str) -> str:
    if price is None:
        return f"unknown (give {as_typed(option, 'IN,OUT')})"
    return LOCAL_LABEL if price == LOCAL else price.label


def still_asked(stages: Iterable[StageEstimate]) -> Range:
    """Return how many requests some stages still send."""
    asked = [stage.requests.plus(Range(-stage.cached, -stage.cached)) for stage in stages]
    return _sum(asked) or NONE


class Total(NamedTuple):
    """What several plans still ask; ``dollars`` is ``None`` where a price is unknown."""

    requests: Range
    prompt_tokens: Range
    completion_tokens: Range
    dollars: Range | None


def total_of(plans: Iterable[RunEstimate]) -> Total:
    """Return the sum of plans that count once what they share: ``seen`` of :func:`estimate_job`."""
    plans = tuple(plans)
    stages = [stage for plan in plans for stage in plan.stages]
    prompt = _sum(stage.prompt_tokens for stage in stages) or NONE
    completion = _sum(stage.completion_tokens for stage in stages) or NONE
    return Total(still_asked(stages), prompt, completion, _sum(plan.dollars for plan in plans))


def total_text(total: Total) -> str:
    """Return a sum as a sentence."""
    price = "none" if total.dollars == NONE else money(total.dollars)
    return f"total: {amount(total)}, price {price}"


def plan_text(plan: RunEstimate) -> str:
    """Return a plan as text: cautions, a line for each stage, the price, and notes."""
    head = ("", "requests", "in the cache", "prompt tokens", "answer tokens", "price")
    rows = [head, *(_row(stage, plan.prices[stage.who]) for stage in plan.stages)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = [f"! {caution}" for caution in plan.cautions]
    lines += [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    local = all(price == LOCAL_LABEL for price in plan.prices.values())
    total = LOCAL_LABEL if local else money(plan.dollars)
    if not local and plan.dollars is None:
        total = f"{total} price; {amount(total_of([plan]))}"
    lines += ["", f"total: {pilot_text(plan.pilot) if plan.pilot else total}"]
    lines += [f"price of the {who}'s tokens: {label}" for who, label in plan.prices.items()]
    if "judge" not in plan.prices:
        lines.append(f"judge {plan.judge}: asks no model through sayso")
    return "\n".join([*lines, *plan.notes])


def pilot_text(pilot: PilotPrice) -> str:
    """Return the price after a pilot as a sentence."""
    text = (
        f"about {dollars(pilot.dollars)} ({dollars(pilot.low)} - {dollars(pilot.high)}) for the "
        f"rest of the run; its first {pilot.asked} of {pilot.of} entities cost "
        f"{dollars(pilot.paid)} now and are in the cache"
    )
    if pilot.high <= NARROW * pilot.low:
        return text
    return f"{text}. {pilot.more} more (--pilot {pilot.asked + pilot.more}) halve the range"


WHAT = {"model": "asking", "judge": "judging"}


def _row(stage: StageEstimate, label: str) -> tuple[str, ...]:
    return (
        f"{WHAT.get(stage.who, f'{stage.who}:')} {stage.name}",
        between(stage.requests),
        f"{stage.cached:,}",
        between(stage.prompt_tokens),
        between(stage.completion_tokens),
        money(stage.dollars, label),
    )


def amount(total: Total) -> str:
    """Return how much is asked, whatever it costs."""
    requests, prompt, completion = map(between, total[:3])
    return f"{requests} requests still to ask, {prompt} prompt tokens, {completion} answer tokens"


def between(number: Sequence[float]) -> str:
    """Return a range as people read it, "1,200 - 1,500"; one number where both ends are it."""
    low, high = f"{number[0]:,.0f}", f"{number[1]:,.0f}"
    return low if low == high else f"{low} - {high}"


def money(amount: Range | None, label: str = "") -> str:
    """Return a price as people read it."""
    if label == LOCAL_LABEL:
        return "none"
    if amount is None:
        return "unknown"
    low, high = dollars(amount.low), dollars(amount.high)
    return low if low == high else f"{low} - {high}"


# ---- a pilot: some entities are asked before the run, and its price follows from what they cost
#
# Its requests are the run's own and stay in the cache: the run pays nothing twice. What the rest
# costs is a ratio estimate (Cochran, Sampling Techniques, 1977, section 6): dollars of an entity to
# its requests that need no answer. Thoughts have heavy tails, so the interval is one of the log,
# with the larger of two spreads (of the residuals, of the logs) and, as for the mean of a
# log-normal, with the error of its variance. A few entities may be alike by chance, and then cost
# too little too: the spread is taken together with that of some others, as an inverse gamma prior
# of a variance does (Gelman et al., Bayesian Data Analysis, 3rd edition, section 2.6).

#: in theory, how often the price is in its range: less holds, as a pilot grows until it is narrow
LEVEL = 0.98
#: a range is narrow whose most is at most so many times its least: until then the pilot is doubled,
#: up to so many times and to half of the run
NARROW, GROWTH = 2.0, 8
#: entities of the smallest pilot
SMALLEST = 3
#: of so many other entities the costs are taken to be spread so much (as a part of their mean)
OTHERS, TYPICAL = 4, 0.5


def price_job(
    job: Job,
    pilot: int = 0,
    seen: set[bytes] | None = None,
    progress: Progress | None = None,
    later: Sequence[Path] = (),
) -> RunEstimate:
    """Return :func:`estimate_job`, after a pilot of so many entities; 0: nothing is asked.

    Where nothing is paid for, or the run is too small, a note says why no pilot was asked.
    """
    found = _ask_pilot(job, pilot, {*(seen or ())}, progress, later) if pilot else ""
    plan = estimate_job(job, seen, progress, later)
    if isinstance(found, PilotPrice):
        notes = tuple(n for n in plan.notes if not found.paid or n not in [*_untried(job)])
        price = Range(found.low, found.high)
        return msgspec.structs.replace(plan, pilot=found, dollars=price, notes=notes)
    notes = (*plan.notes, f"no pilot was asked: {found}") if found else plan.notes
    return msgspec.structs.replace(plan, notes=notes)


def _ask_pilot(
    given: Job, number: int, seen: Set[bytes], progress: Progress | None, later: Sequence[Path]
) -> PilotPrice | str:
    """Ask some entities of a run, more while the range is wide; or return why that cannot be."""
    if given.batch_files:
        raise InputError("a pilot is asked at once: leave batch_files out, or pilot")
    # what --fresh asks anew here is fresh for the run
    with one_period([given], asks=False) as (job,):
        with open_job(job, learn=False) as opened:
            check_folders(opened, later)
            asked = [opened.model] if job.model and not job.recorded else []
            asked += [opened.judge.engine] if opened.judge.engine is not None else []
            pilot = _Pilot(opened)
            most = len(pilot.entities) // 2
            if any(engine.price is None for engine in asked):
                return "the price of its tokens is unknown"
            if all(engine.price == LOCAL for engine in asked) or job.texts is not None:
                return "nothing is paid for"
            if most < SMALLEST:
                return f"{len(pilot.entities)} entities are too few"
            n, left = min(max(number, SMALLEST), most), pilot.left(opened, most, seen)
        while True:
            pilot.walk(job, n, progress)
            found = pilot.price(left)
            if found.high <= NARROW * found.low or n == most or 2 * n > GROWTH * number:
                return found
            n = min(2 * n, most)


class _Cost(NamedTuple):
    """What an entity asks before any answer is there, and its dollars: of others, of the model."""

    first: int
    others: float
    model: float


class _Pilot:
    """The walks of a run about some of its entities, which stand in an order by chance."""

    def __init__(self, opened: OpenJob) -> None:
        self.paid, self.costs, self.questions = 0.0, list[_Cost](), opened.data.questions
        self.clusters = clusters_of(self.questions)
        self.entities = sorted({*self.clusters.values()})
        random.Random(opened.job.seed).shuffle(self.entities)
        self.steps = opened.job.steps(self.questions)
        asks = (ask for step in self.steps for ask in step.asks)
        self.firsts = Counter(self.clusters[ask.question.id] for ask in asks)

    def about(self, opened: OpenJob, entities: Sequence[Cluster]) -> tuple[OpenJob, list[Step]]:
        """Return an open job about some entities, and the run's steps with no other asks."""
        chosen = {*entities}
        questions = [q for q in self.questions if self.clusters[q.id] in chosen]
        ids = {q.id for q in questions}
        steps = [s._replace(asks=[a for a in s.asks if a.question.id in ids]) for s in self.steps]
        return opened.about(questions), steps

    def left(self, opened: OpenJob, place: int, seen: Set[bytes]) -> tuple[float, float]:
        """Return the share of requests that is still to pay for: of others, and of the model.

        Of the entities from ``place`` on, of which some are rehearsed.
        """
        some, steps = self.about(opened, self.entities[place : place + SAMPLED])
        run = rehearse(some, lambda limit: (1, 1), (), steps)[1]
        requests, todo = Counter[bool](), Counter[bool]()
        for (who, _), replies in run.stages.items():
            requests[who == "model"] += len(replies)
            new = (reply is None and key not in seen for key, (_, reply) in replies.items())
            todo[who == "model"] += sum(new)
        return todo[False] / max(1, requests[False]), todo[True] / max(1, requests[True])

    def walk(self, job: Job, n: int, progress: Progress | None) -> None:
        """Ask about the first entities at once; what each costs, walks through the cache tell."""
        new = self.entities[len(self.costs) : n]
        with open_job(job, progress) as opened:
            self._walk(opened, new)
            self.paid += opened.model.meter.spent
        with open_job(job) as opened:  # a judge that has not read these answers
            spent, of_model = 0.0, 0.0
            for entity in new:
                self._walk(opened, [entity])
                kept, model = opened.model.meter.kept, opened.model.dollars
                if kept is None or model is None:
                    raise InputError("the price is unknown: an answer has no count of tokens")
                more, more_model = opened.model.meter.spent + kept - spent, model - of_model
                spent, of_model = spent + more, model
                first = self.firsts[entity] if self.firsts else 1
                self.costs.append(_Cost(first, more - more_model, more_model))

    def _walk(self, opened: OpenJob, entities: Sequence[Cluster]) -> None:
        some, steps = self.about(opened, entities)
        with tempfile.TemporaryDirectory() as folder:
            run = run_of(some, some.manifest, Path(folder) / "pilot")
            run.begin()
            walk(steps, run)

    def price(self, left: tuple[float, float]) -> PilotPrice:
        """Return what the entities that were not asked cost, by those that were."""
        n, total = len(self.costs), len(self.entities)
        table = np.array(self.costs)
        first, cost = table[:, 0], table[:, 1:] @ np.array(left)
        rest = sum(self.firsts[e] for e in self.entities[n:]) if self.firsts else total - n
        if not cost.any():
            return PilotPrice(n, total, self.paid, 0.0, 0.0, 0.0)
        ratio = cost.sum() / first.sum()
        apart = math.sqrt(((cost - ratio * first) ** 2).sum() / (n - 1)) / cost.mean()
        logs = np.log((cost / first)[cost > 0])
        seen = max(apart, float(logs.std(ddof=1)) if len(logs) > 1 else 0.0)
        spread = math.sqrt(((n - 1) * seen**2 + OTHERS * TYPICAL**2) / (n - 1 + OTHERS))

        def half(size: int) -> float:
            error = spread**2 * (1 / size + 1 / (total - size)) + spread**4 / 2 / (size - 1)
            return student_quantile((1 + LEVEL) / 2, size - 1 + OTHERS) * math.sqrt(error)

        price, wide = float(ratio) * rest, half(n)
        more = next((k - n for k in range(n, total) if half(k) <= wide / 2), total - n)
        low, high = price * math.exp(-wide), price * math.exp(wide)
        return PilotPrice(n, total, self.paid, price, low, high, more)

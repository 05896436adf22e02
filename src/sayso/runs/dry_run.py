"""``--dry-run``: what a run would ask and cost, before a request is sent.

How many tokens requests take is estimated from answers of their kind so far, or from assumptions.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Literal, NamedTuple

import msgspec

from sayso.engines.engine import Capabilities, Counts, Engine
from sayso.engines.prices import LOCAL, Price
from sayso.judges.judge import Item
from sayso.options import as_typed
from sayso.progress import Progress
from sayso.protocols.protocol import Ask
from sayso.records import Generation, Request, Usage, request_key
from sayso.runs.asking import CachedEngine
from sayso.runs.costs import dollars, is_endpoint
from sayso.runs.freshness.same_model import probes
from sayso.runs.job import Job, check_out, unused_prompts, with_period
from sayso.runs.judge import OpenJudge, holds_to_schema, judging_model, model_judge
from sayso.runs.recorded import RecordedEngine, answers_of
from sayso.runs.run import (
    OpenJob,
    check_folders,
    foreseen,
    further_models,
    open_job,
    size_of,
    unlisted,
    world_caution,
)
from sayso.runs.stages import bind

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
    "or two standard errors."
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
    completion = Range(max(1.0, completion.low), min(float(limit), completion.high))
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


def estimate_job(
    job: Job, seen: set[bytes] | None = None, progress: Progress | None = None
) -> RunEstimate:
    """Return what a job would ask and cost. Asks nothing and makes no run folder.

    Opens the model (one in this process is loaded, for its identity is the key to the cache).
    ``seen`` are requests that jobs before this one ask: they are left out, and this job's are
    added. Raises InputError, also for a run folder and other runs that the run would refuse.
    """
    seen = set() if seen is None else seen
    check_out(job)
    (job,), _ = with_period([job])
    with open_job(job, progress, learn=False) as opened:
        check_folders(opened)
        asks = foreseen(opened)
        asks, recorded = _on_record(opened, asks)
        keys = [request_key(ask.request, opened.model.identity) for ask in asks]
        replies = {key: one.reply for key, one in opened.model.usable(keys).items()}
        again = _asked_again(opened, asks)
        replies |= dict(zip(keys, recorded, strict=False))
        graded = [ask for ask in asks if job.plan.is_judged(ask, job.settings)]
        judged, notes = judge_stages(opened, graded, replies)
        stages = (*again, *_model_stages(opened, asks, keys, replies, seen), *judged)
        more, labels = _follow_up_stages(opened, asks, keys, replies)
        stages += tuple(more)
        unpriced = job.plan.unpriced(opened.data.questions, job.settings, opened.judge)
        prices = {"model": _label(opened.price, "price", job.model)}
        if opened.judge_engine is not None:
            prices["judge"] = _label(opened.judge_engine.price, "judge_price", job.judge)
        prices |= labels
        told = f"data {opened.data.name}, {size_of(opened.data)}"
        return RunEstimate(
            model=opened.model.signature,
            judge=opened.judge.signature,
            stages=stages,
            prices=prices,
            dollars=_sum(stage.dollars for stage in stages),
            notes=(
                *(told, *opened.data.notices, *unused_prompts(job), ASSUMED, *notes),
                *(*unpriced, *_untried(job)),
            ),
            cautions=(*world_caution(job), *unlisted(opened.model, opened.judge_engine)),
        )


def _asked_again(opened: OpenJob, asks: Sequence[Ask]) -> list[StageEstimate]:
    """Return the stage that asks cached prompts again, to see whether the model is the same."""
    if isinstance(opened.job.model, RecordedEngine):
        return []
    chosen = probes(asks, opened.model, opened.job.begun)
    if not chosen:
        return []
    used = [probe.kept.usage for probe in chosen]
    prompt, completion = (
        Range(total, total)
        for total in (sum(u.prompt_tokens for u in used), sum(u.completion_tokens for u in used))
    )
    number = Range(len(chosen), len(chosen))
    name = "cached prompts again"
    return [make_stage("model", name, number, 0, (prompt, completion), opened.price, "answers")]


def _on_record(opened: OpenJob, asks: list[Ask]) -> tuple[list[Ask], list[Generation]]:
    """Return the requests of a run, and the answers of a model on record."""
    job = opened.job
    if not isinstance(job.model, RecordedEngine):
        return asks, []
    kept, replies, _ = answers_of(job.model, job.plan, asks)
    return kept, replies


def _follow_up_stages(
    opened: OpenJob, asks: Sequence[Ask], keys: Sequence[bytes], replies: dict[bytes, Generation]
) -> tuple[list[StageEstimate], dict[str, str]]:
    """Return what is asked about answers besides grading them, and prices of further models."""
    known = [(a.request, replies[key]) for a, key in zip(asks, keys, strict=True) if key in replies]
    limits = {ask.request.max_tokens for ask in asks}
    lengths = {limit: round(sum(means(known, limit).characters) / 2) for limit in limits}
    answered = [
        (ask, replies.get(key) or _invented(ask, lengths[ask.request.max_tokens], apart=True))
        for ask, key in zip(asks, keys, strict=True)
    ]
    by_id = {q.id: q for q in opened.data.questions}
    planned: dict[str, dict[str, list[Request]]] = {}
    for model, stage, request in opened.job.plan.follow_ups(answered, by_id, opened.job.settings):
        shaped = request if model else opened.model.shape(request)
        planned.setdefault(model, {}).setdefault(stage, []).append(shaped)
    found: list[StageEstimate] = []
    with contextlib.closing(further_models(opened, learn=False)) as further:
        for model, stages in planned.items():
            engine = further.open(model) if model else opened.model
            named = [Planned(stage, requests) for stage, requests in stages.items()]
            found += priced(model or "model", named, engine)
        opening = further.opened.items()
        return found, {name: _label(e.price, "judge_price", name) for name, e in opening}


class Planned(NamedTuple):
    """Requests of one stage that are known already, and those that may come in addition."""

    name: str
    least: Sequence[Request]
    more: Sequence[Request] = ()


def priced(who: str, planned: Sequence[Planned], engine: CachedEngine) -> Iterator[StageEstimate]:
    """Yield what each stage asks of an engine; a request counts where it stands first."""
    seen: set[bytes] = set()
    for name, least, more in planned:
        ends: list[dict[bytes, Request]] = [{}, {}]
        for end, some in zip(ends, (least, more), strict=True):
            for request in some:
                key = request_key(request, engine.identity)
                if key not in seen:
                    seen.add(key)
                    end[key] = request
        every = {**ends[0], **ends[1]}
        kept = {key: one.reply for key, one in engine.usable(every).items()}
        known = [(every[key], reply) for key, reply in kept.items()]
        tokens = []
        by: Basis = "answers"
        for some_of in (ends[0], every):
            todo = [request for key, request in some_of.items() if key not in kept]
            mean = means(known, max((r.max_tokens for r in todo), default=1))
            by = mean.by if todo else by
            tokens.append(request_tokens(todo, mean))
        prompt, completion = (Range(low.low, high.high) for low, high in zip(*tokens, strict=True))
        number = Range(len(ends[0]), len(every))
        yield make_stage(who, name, number, len(kept), (prompt, completion), engine.price, by)


def plan_of(
    job: Job,
    model: CachedEngine | None,
    judge: OpenJudge,
    stages: Sequence[StageEstimate],
    notes: Sequence[str],
) -> RunEstimate:
    """Return the plan of some stages; ``model`` is ``None`` where none is asked."""
    prices = {} if model is None else {"model": _label(model.price, "price", job.model)}
    if judge.engine is not None:
        prices["judge"] = _label(judge.engine.price, "judge_price", job.judge)
    return RunEstimate(
        model="" if model is None else model.signature,
        judge=judge.judge.signature,
        stages=tuple(stages),
        prices=prices,
        dollars=_sum(stage.dollars for stage in stages),
        notes=(ASSUMED, *notes, *_untried(job)),
        cautions=tuple(unlisted(model, judge.engine)),
    )


def first_calls(engine: CachedEngine, use: Callable[[Engine], object]) -> list[Request]:
    """Return what somebody who reads by an engine first asks it; only the cache answers."""
    recorder = _Replaying(engine)
    use(recorder)
    return recorder.first or []


def _untried(job: Job) -> list[str]:
    """Return notes on endpoints that were not tried (one without #model was)."""
    names = [job.model if isinstance(job.model, str) else "", judging_model(job.judge)]
    return [
        f"{name}: the address was not contacted; sayso check contacts it"
        for name in dict.fromkeys(names)
        if is_endpoint(name) and (name.startswith("openai:") or "#" in name)
    ]


def _sum(parts: Iterable[Range | None]) -> Range | None:
    """Add ranges; one that nobody knows makes the sum unknown, unless it is of nothing."""
    total: Range | None = NONE
    for part in parts:
        total = None if total is None or part is None else total.plus(part)
    return total


def _label(price: Price | None, option: str, model: object) -> str:
    if price is None:
        return f"unknown (give {as_typed(option, 'IN,OUT')})"
    return LOCAL_LABEL if price == LOCAL else price.label


def _model_stages(
    opened: OpenJob,
    asks: Sequence[Ask],
    keys: Sequence[bytes],
    replies: dict[bytes, Generation],
    seen: set[bytes],
) -> Iterator[StageEstimate]:
    """Yield what each stage asks of the subject; a request counts where it stands first."""
    stages: dict[str, dict[bytes, Request]] = {}
    for ask, key in zip(asks, keys, strict=True):
        stages.setdefault(ask.stage, {})
        if key not in seen:
            seen.add(key)
            stages[ask.stage][key] = ask.request
    for name, requests in stages.items():
        known = [(q, replies[key]) for key, q in requests.items() if key in replies]
        prompt, completion = NONE, NONE
        by: Basis = "answers"
        todo: dict[int, list[Request]] = {}
        for key, request in requests.items():
            if key not in replies:
                todo.setdefault(request.max_tokens, []).append(request)
        for limit, some in todo.items():
            mean = means(known, limit)
            more = request_tokens(some, mean)
            prompt, completion = prompt.plus(more[0]), completion.plus(more[1])
            by = mean.by
        number = Range(len(requests), len(requests))
        yield make_stage("model", name, number, len(known), (prompt, completion), opened.price, by)


class Total(NamedTuple):
    """What several plans still ask; ``dollars`` is ``None`` where a price is unknown."""

    requests: Range
    prompt_tokens: Range
    completion_tokens: Range
    dollars: Range | None


def total_of(plans: Iterable[RunEstimate]) -> Total:
    """Return the sum of plans that count once what they share: ``seen`` of :func:`estimate_job`."""
    requests, prompt, completion, parts = NONE, NONE, NONE, []
    for plan in plans:
        parts.append(plan.dollars)
        for stage in plan.stages:
            asked = stage.requests.plus(Range(-stage.cached, -stage.cached))
            requests = requests.plus(asked)
            prompt = prompt.plus(stage.prompt_tokens)
            completion = completion.plus(stage.completion_tokens)
    return Total(requests, prompt, completion, _sum(parts))


def total_text(total: Total) -> str:
    """Return a sum as a sentence."""
    price = "none" if total.dollars == NONE else money(total.dollars)
    return (
        f"total: {between(total.requests)} requests still to ask, "
        f"{between(total.prompt_tokens)} prompt tokens, {between(total.completion_tokens)} answer "
        f"tokens, price {price}"
    )


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
        total = f"{total} price; {amount(plan.stages)}"
    lines += ["", f"total: {total}"]
    lines += [f"price of the {who}'s tokens: {label}" for who, label in plan.prices.items()]
    if "judge" not in plan.prices:
        lines.append(f"judge {plan.judge}: asks no model through sayso")
    return "\n".join([*lines, *plan.notes])


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


def amount(stages: Sequence[StageEstimate]) -> str:
    """Return how much stages ask, where nobody knows what it costs."""
    kinds = [
        (_sum(stage.requests for stage in stages), "requests"),
        (_sum(stage.prompt_tokens for stage in stages), "prompt tokens"),
        (_sum(stage.completion_tokens for stage in stages), "answer tokens"),
    ]
    return ", ".join(f"{between(total or NONE)} {name}" for total, name in kinds)


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


# ---- what a judge that is a model would ask: its own requests, written for answers yet to come

#: entities on which the calls are counted; for more, the counts are scaled up
SAMPLED = 200
UNKNOWN_FORM = (
    "It is not known yet whether the judge's endpoint supports JSON schemas; one short question "
    "will find out. If it does, verdicts take up to a quarter more tokens."
)


class _Recorder:
    """An engine that writes down what a judge first asks, and answers nothing."""

    def __init__(self, engine: Engine) -> None:
        self.name, self.identity, self.base = engine.name, engine.identity, engine.base
        self.signature = engine.signature
        # A judge's requests have the form that a run would read it in: else none were cached.
        self.capabilities: Capabilities = msgspec.structs.replace(
            engine.capabilities,
            json_schema=engine.capabilities.json_schema
            or bool(holds_to_schema(engine, learn=False)),
        )
        self.counts = Counts()
        self.first: list[Request] | None = None

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        """Keep the first call of many; what a judge asks about missing replies is not counted."""
        batch = list(requests)
        self.first = batch if self.first is None else self.first
        for index, request in enumerate(batch):
            yield index, Generation(request, problem="failed: not asked")

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        """Read nothing."""
        raise NotImplementedError("a dry run reads no probabilities")

    def close(self) -> None:
        """Nothing is open."""


class _Replaying(_Recorder):
    """A recorder that gives the replies that the cache holds."""

    def __init__(self, engine: CachedEngine) -> None:
        super().__init__(engine)
        self._cache = engine.cache

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        """Answer what was answered before."""
        batch = list(requests)
        keys = [request_key(request, self.identity) for request in batch]
        kept = self._cache.get_many(keys) if self._cache else {}
        for index, reply in super().complete(batch):
            yield index, kept.get(keys[index], reply)


class _RequestWriter:
    """A judge that writes its requests and sends none."""

    def __init__(self, judge: CachedEngine, opened: OpenJob) -> None:
        self.recorder = _Recorder(judge)
        options = dataclasses.replace(
            opened.job.judge_options, judge_anyway=True
        )  # nothing is answered here
        self.judge = model_judge(self.recorder, options, opened.model)

    def write(self, items: Sequence[Item]) -> list[Request]:
        """Return what the judge would first ask about some answers."""
        self.recorder.first = None
        self.judge.grade(items)
        return self.recorder.first or []


class _Calls(NamedTuple):
    """What a judge would ask about one stage, at the low and at the high end, by key."""

    low: dict[bytes, Request]
    high: dict[bytes, Request]


def judge_stages(
    opened: OpenJob, asks: Sequence[Ask], replies: Mapping[bytes, Generation]
) -> tuple[list[StageEstimate], list[str]]:
    """Return what the judge asks about each stage's answers, and notes on the ranges.

    ``replies`` are those in the cache, which are taken as they are; other answers have the length
    of the stage's answers so far, or of the assumptions. At the low end equal draws are judged
    once, one call has to do where there can be two, and rules leave nothing to a model behind them.
    """
    judge = opened.judge_engine
    if judge is None:
        return [], []
    job = opened.job
    entities = sorted({(q.domain, q.entity) for q in opened.data.questions})
    chosen = entities
    if len(entities) > SAMPLED:
        chosen = random.Random(job.seed).sample(entities, SAMPLED)
    scale = len(entities) / max(1, len(chosen))
    cascade = isinstance(job.judge, str) and job.judge.startswith("rules+")
    stages = []
    # One for each end and all stages: a judge reads an equal answer once, wherever it stands.
    writers = _RequestWriter(judge, opened), _RequestWriter(judge, opened)
    factors = 0.0 if cascade else scale, scale * writers[0].judge.most_calls
    for name in dict.fromkeys(ask.stage for ask in asks):
        calls = _calls(opened, writers, [a for a in asks if a.stage == name], replies, set(chosen))
        every = {**calls.low, **calls.high}
        kept = opened.cache.get_many(every)
        known = [(every[key], reply) for key, reply in kept.items()]
        ends = []
        for end, factor, place in zip(calls, factors, (0, 1), strict=True):
            todo = [request for key, request in end.items() if key not in kept]
            limits = {r.max_tokens for r in todo}
            mean = {limit: means(known, limit, JUDGE_SHORTEST) for limit in limits}
            spent = [request_tokens([r], mean[r.max_tokens]) for r in todo]
            ends.append([sum(t[n][place] for t in spent) * factor for n in (0, 1)])
        prompt, completion = (Range(low, high) for low, high in zip(*ends, strict=True))
        number = Range(len(calls.low) * factors[0], len(calls.high) * factors[1])
        cached = round(len(kept) * scale)
        by = means(known, 1).by
        stages.append(
            make_stage("judge", name, number, cached, (prompt, completion), judge.price, by)
        )
    notes = []
    if not judge.capabilities.json_schema and holds_to_schema(judge, learn=False) is None:
        notes.append(UNKNOWN_FORM)
    if scale > 1:
        notes.append(f"The judge's calls were counted on {SAMPLED} of {len(entities):,} entities.")
    if cascade:
        notes.append(
            "The judge's model is asked only where the rules are not certain; the range "
            "runs from never to always."
        )
    return stages, notes


def _calls(
    opened: OpenJob,
    writers: Sequence[_RequestWriter],
    asks: Sequence[Ask],
    replies: Mapping[bytes, Generation],
    chosen: Set[tuple[str, str]],
) -> _Calls:
    """Let the judge write its requests for short and for long answers, and keep them."""
    identity = opened.model.identity
    pairs = [(ask, replies.get(request_key(ask.request, identity))) for ask in asks]
    known = [(ask.request, reply) for ask, reply in pairs if reply is not None]
    length = means(known, max(ask.request.max_tokens for ask in asks)).characters
    here = [(a, r) for a, r in pairs if (a.question.domain, a.question.entity) in chosen]
    by_id = {q.id: q for q in opened.data.questions}
    ends = []
    for writer, characters, apart in zip(writers, length, (False, True), strict=True):
        items = []
        for ask, reply in here:
            answer = reply or _invented(ask, round(characters), apart)
            parts = tuple(by_id[p] for p in ask.question.parts) or (ask.question,)
            items.append(Item(bind(ask, answer, identity), parts))
        ends.append({request_key(r, writer.recorder.identity): r for r in writer.write(items)})
    return _Calls(*ends)


def _invented(ask: Ask, characters: int, apart: bool) -> Generation:
    """Return an answer of some length, ``apart`` from every other one if wanted."""
    begin = f"{ask.request.sample} {ask.method} " if apart else ""
    text = (begin + "word " * (characters // 5 + 1))[: max(4, characters)]
    return Generation(ask.request, text=text)

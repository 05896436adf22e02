"""What a judge that is a model would ask: its own requests, written for answers yet to come."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

import msgspec

from sayso.annotate import Item
from sayso.models import Capabilities, Counts, Engine
from sayso.pipeline.asking import Asker
from sayso.pipeline.folder_run import bind
from sayso.pipeline.job import Opened
from sayso.pipeline.judging import holds_to_schema, model_judge
from sayso.pipeline.ranges import JUDGE_SHORTEST, Range, Stage, make_stage, means, tokens_of
from sayso.protocols import Ask
from sayso.records import Generation, Request, request_key

#: entities on which the calls are counted; for more, the counts are scaled up
SAMPLED = 200
UNKNOWN_FORM = (
    "The judge's endpoint was never asked whether it holds replies to a JSON schema, which takes "
    "one short question: where it does, verdicts take up to a quarter more tokens."
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
        asked = list(requests)
        self.first = asked if self.first is None else self.first
        for index, request in enumerate(asked):
            yield index, Generation(request, problem="failed: not asked")

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        """Read nothing."""
        raise NotImplementedError("a dry run reads no probabilities")

    def close(self) -> None:
        """Nothing is open."""


class _Pen:
    """A judge that writes its requests and sends none."""

    def __init__(self, judge: Asker, found: Opened) -> None:
        self.recorder = _Recorder(judge)
        self.judge = model_judge(self.recorder, found.job.judge_options, found.model)

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
    found: Opened, asks: Sequence[Ask], replies: Mapping[bytes, Generation]
) -> tuple[list[Stage], list[str]]:
    """Return what the judge asks about each stage's answers, and what the ranges rest on.

    ``replies`` are those in the cache, which are taken as they are; other answers have the length
    of the stage's answers so far, or of the assumptions. At the low end equal draws are judged
    once, one call has to do where there can be two, and rules leave nothing to a model behind them.
    """
    judge = found.seat.asker
    if judge is None:
        return [], []
    job = found.job
    entities = sorted({(q.domain, q.entity) for q in found.data.questions})
    chosen = entities
    if len(entities) > SAMPLED:
        chosen = random.Random(job.seed).sample(entities, SAMPLED)
    scale = len(entities) / max(1, len(chosen))
    cascade = isinstance(job.judge, str) and job.judge.startswith("rules+")
    factors = 0.0 if cascade else scale, scale * (2 if job.judge_mode == "two_pass" else 1)
    stages = []
    # One for each end and all stages: a judge reads an equal answer once, wherever it stands.
    pens = _Pen(judge, found), _Pen(judge, found)
    for name in dict.fromkeys(ask.stage for ask in asks):
        calls = _calls(found, pens, [a for a in asks if a.stage == name], replies, set(chosen))
        every = {**calls.low, **calls.high}
        kept = found.cache.get_many(every)
        known = [(every[key], reply) for key, reply in kept.items()]
        ends = []
        for end, factor, place in zip(calls, factors, (0, 1), strict=True):
            todo = [request for key, request in end.items() if key not in kept]
            limits = {r.max_tokens for r in todo}
            mean = {limit: means(known, limit, JUDGE_SHORTEST) for limit in limits}
            spent = [tokens_of([r], mean[r.max_tokens]) for r in todo]
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
        notes.append("The judge's model is asked where the rules are not certain: never to always.")
    return stages, notes


def _calls(
    found: Opened,
    pens: Sequence[_Pen],
    asks: Sequence[Ask],
    replies: Mapping[bytes, Generation],
    chosen: Set[tuple[str, str]],
) -> _Calls:
    """Let the judge write its requests for short and for long answers, and keep them."""
    identity = found.model.identity
    pairs = [(ask, replies.get(request_key(ask.request, identity))) for ask in asks]
    known = [(ask.request, reply) for ask, reply in pairs if reply is not None]
    length = means(known, max(ask.request.max_tokens for ask in asks)).characters
    here = [(a, r) for a, r in pairs if (a.question.domain, a.question.entity) in chosen]
    by_id = {q.id: q for q in found.data.questions}
    ends = []
    for pen, characters, apart in zip(pens, length, (False, True), strict=True):
        items = []
        for ask, reply in here:
            said = reply or _invented(ask, round(characters), apart)
            parts = tuple(by_id[p] for p in ask.question.parts) or (ask.question,)
            items.append(Item(bind(ask, said, identity), parts))
        ends.append({request_key(r, pen.recorder.identity): r for r in pen.write(items)})
    return _Calls(*ends)


def _invented(ask: Ask, characters: int, apart: bool) -> Generation:
    """Return an answer of some length, ``apart`` from every other one if wanted."""
    begin = f"{ask.request.sample} {ask.method} " if apart else ""
    text = (begin + "word " * (characters // 5 + 1))[: max(4, characters)]
    return Generation(ask.request, text=text)

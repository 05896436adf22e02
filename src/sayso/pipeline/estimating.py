"""What a run would ask and cost, before a request is sent: ``--dry-run``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from sayso.pipeline.estimating_judge import judge_stages
from sayso.pipeline.job import Job, Opened, opened
from sayso.pipeline.metering import dollars
from sayso.pipeline.pricing import is_endpoint
from sayso.pipeline.ranges import ASSUMED, NONE, Basis, Range, Stage, make_stage, means, tokens_of
from sayso.prices import LOCAL, Price
from sayso.protocols import Ask, protocol
from sayso.records import Generation, Request, request_key

LOCAL_LABEL = "local, no price"


class Plan(msgspec.Struct, frozen=True):
    """What a run would ask. ``dollars`` is ``None`` where a price is unknown, never 0 for that."""

    model: str
    judge: str
    stages: tuple[Stage, ...]
    prices: dict[str, str]
    dollars: Range | None
    notes: tuple[str, ...]


def estimate(job: Job) -> Plan:
    """Return what a job would ask and cost. Asks nothing and makes no run folder.

    Opens the model (one in this process is loaded, for its identity is the key to the cache).
    Raises InputError.
    """
    with opened(job, learn=False) as found:
        module = protocol(job.protocol)
        asks = [
            ask._replace(request=found.shape(ask.request))
            for ask in module.requests(found.data.questions, job.settings, job.seed)
        ]
        keys = [request_key(ask.request, found.model.identity) for ask in asks]
        replies = found.cache.get_many(dict.fromkeys(keys))
        is_judged = getattr(module, "is_judged", lambda ask, chosen: True)
        graded = [ask for ask in asks if is_judged(ask, job.settings)]
        judged, notes = judge_stages(found, graded, replies)
        stages = (*_model_stages(found, asks, keys, replies), *judged)
        told_of = getattr(module, "unpriced", None)
        beside: list[str] = []
        if told_of is not None:
            beside = told_of(found.data.questions, job.settings, found.seat.judge)
        prices = {"model": _label(found.price, "price")}
        if found.seat.asker is not None:
            prices["judge"] = _label(found.seat.asker.price, "judge-price")
        return Plan(
            model=found.model.signature,
            judge=found.seat.judge.signature,
            stages=stages,
            prices=prices,
            dollars=_sum(stage.dollars for stage in stages),
            notes=(*found.data.notes, ASSUMED, *notes, *beside, *_untried(job)),
        )


def _untried(job: Job) -> list[str]:
    """Say of which endpoints nothing is known; one without #model was asked what it serves."""
    names = [
        name.removeprefix("rules+") for name in (job.model, job.judge) if isinstance(name, str)
    ]
    return [
        f"{name}: the address was not tried; sayso check tries it"
        for name in dict.fromkeys(names)
        if is_endpoint(name) and (name.startswith("openai:") or "#" in name)
    ]


def _sum(parts: Iterable[Range | None]) -> Range | None:
    """Add ranges; one that nobody knows makes the sum unknown, unless it is of nothing."""
    total: Range | None = NONE
    for part in parts:
        total = None if total is None or part is None else total.plus(part)
    return total


def _label(price: Price | None, flag: str) -> str:
    if price is None:
        return f"unknown (give --{flag} IN,OUT)"
    return LOCAL_LABEL if price == LOCAL else price.label


def _model_stages(
    found: Opened, asks: Sequence[Ask], keys: Sequence[bytes], replies: dict[bytes, Generation]
) -> Iterator[Stage]:
    """Yield what each stage asks of the subject; a request counts where it stands first."""
    stages: dict[str, dict[bytes, Request]] = {}
    seen: set[bytes] = set()
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
            more = tokens_of(some, mean)
            prompt, completion = prompt.plus(more[0]), completion.plus(more[1])
            by = mean.by
        number = Range(len(requests), len(requests))
        yield make_stage("model", name, number, len(known), (prompt, completion), found.price, by)


def told(plan: Plan) -> str:
    """Return a plan as people read it: a line for each stage, then the price and what it means."""
    head = ("", "requests", "in the cache", "prompt tokens", "answer tokens", "price")
    rows = [head, *(_row(stage, plan.prices[stage.who]) for stage in plan.stages)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    local = all(price == LOCAL_LABEL for price in plan.prices.values())
    lines += ["", f"in all: {LOCAL_LABEL if local else _money(plan.dollars, '')}"]
    lines += [f"price of the {who}'s tokens: {label}" for who, label in plan.prices.items()]
    if "judge" not in plan.prices:
        lines.append(f"judge {plan.judge}: asks no model of ours")
    return "\n".join([*lines, *plan.notes])


def _row(stage: Stage, label: str) -> tuple[str, ...]:
    return (
        f"{'asking' if stage.who == 'model' else 'judging'} {stage.name}",
        _between(stage.requests),
        f"{stage.cached:,}",
        _between(stage.prompt_tokens),
        _between(stage.completion_tokens),
        _money(stage.dollars, label),
    )


def _between(found: Range) -> str:
    low, high = f"{found.low:,.0f}", f"{found.high:,.0f}"
    return low if low == high else f"{low} - {high}"


def _money(found: Range | None, label: str) -> str:
    if label == LOCAL_LABEL:
        return "none"
    if found is None:
        return "unknown"
    low, high = dollars(found.low), dollars(found.high)
    return low if low == high else f"{low} - {high}"

"""From a reply's choices to the records that are stored."""

from __future__ import annotations

from collections.abc import Sequence

from sayso.backends.openai_body import keeps_schema
from sayso.backends.openai_reply import Choice, Reply
from sayso.backends.openai_tokens import read_tokens
from sayso.prices import Price
from sayso.records import Generation, Request, Usage

#: Log-probabilities as the endpoint gives them: whether temperature and truncation are already in
#: them differs between servers and is stated by few, so they are never called the model's own.
ENDPOINT = "endpoint"


def records(
    requests: Sequence[Request],
    reply: Reply,
    said: tuple[str, ...],
    price: Price | None,
    *,
    implicit_thought: bool = False,
) -> list[Generation]:
    """Return one record for each choice; there are at most as many choices as requests.

    ``said`` is what was not sent as asked. ``implicit_thought`` says that this model's template
    opens its thought, so that a cut answer without a closing mark is all thought.
    """
    usages = shares(reply, price)
    return [
        _record(request, choice, usage, reply, said, implicit_thought)
        for request, choice, usage in zip(requests, reply.choices, usages, strict=False)
    ]


def shares(reply: Reply, price: Price | None) -> list[Usage]:
    """Split the usage of a call over its choices, so that the sums are what was billed.

    The prompt is computed once and counts for the first choice. A server tells only the total of
    the answers' tokens: it is split by the number of listed tokens, else by length of text.
    """
    count = len(reply.choices)
    listed = [len(c.tokens) for c in reply.choices if c.tokens is not None]
    weights = [len(c.text) + len(c.thinking or "") + 1 for c in reply.choices]
    if len(listed) == count and all(listed):
        weights = listed
    total = reply.completion_tokens or 0
    found, before, spread = [], 0, 0
    for place, weight in enumerate(weights):
        spread += weight
        until = round(total * spread / sum(weights))
        first = place == 0
        usage = Usage(
            prompt_tokens=(reply.prompt_tokens or 0) if first else 0,
            completion_tokens=until - before,
            cached_tokens=reply.cached_tokens if first else 0,
        )
        told = reply.prompt_tokens is not None and reply.completion_tokens is not None
        if price is not None and told:
            dollars = price.of(usage)
            usage = Usage(
                usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, dollars
            )
        found.append(usage)
        before = until
    return found


def _record(
    request: Request,
    choice: Choice,
    usage: Usage,
    reply: Reply,
    said: tuple[str, ...],
    implicit_thought: bool,
) -> Generation:
    """Return the record of one choice."""
    problem = None
    text, thinking, finish = choice.text, choice.thinking, choice.finish
    if choice.unclosed:
        problem = "truncated"
    elif implicit_thought and thinking is None and finish == "length":
        text, thinking, problem = "", text, "truncated"
    elif finish == "length" and not text and reply.thinking_tokens:
        problem = "truncated"  # the thought itself is not shown
    elif finish == "filter":
        text, problem = "", "failed: content filter"
    elif finish == "tool":
        problem = "failed: the model called a tool instead of answering"
    text, cut = _cut(text, request.stop)
    if (
        request.response_format is not None
        and problem is None
        and not any(what.startswith("response_format") for what in said)
        and not keeps_schema(text, request.response_format)
    ):
        said = (*said, "response_format: the reply does not keep to it")
    arrays = None
    if choice.tokens is not None and problem is None:
        arrays = read_tokens(choice.tokens, text, thinking is not None)
    kind = ENDPOINT if thinking is None else f"{ENDPOINT}_after_thought"
    return Generation(
        request,
        text=text,
        thinking=thinking,
        thinking_tokens=reply.thinking_tokens if len(reply.choices) == 1 else None,
        logprob_kind=kind if arrays else None,
        fingerprint=reply.fingerprint,
        overrides=said,
        offsets=arrays.offsets if arrays else None,
        logprobs=arrays.logprobs if arrays else None,
        margins=arrays.margins if arrays else None,
        finish="stop_string" if cut else finish if finish in FINISHED else None,
        usage=usage,
        problem=problem,
    )


FINISHED = ("stop", "stop_string", "length")


def _cut(text: str, stops: Sequence[str]) -> tuple[str, bool]:
    """End a text before the first stop string; some servers leave it in, some ignore it."""
    found = [at for at in (text.find(stop) for stop in stops if stop) if at >= 0]
    return (text[: min(found)], True) if found else (text, False)


def unanswered(
    request: Request, problem: str | None, said: tuple[str, ...] = (), finish: str | None = None
) -> Generation:
    """Return the record of a request that has no answer."""
    return Generation(request, overrides=said, finish=finish, problem=problem)

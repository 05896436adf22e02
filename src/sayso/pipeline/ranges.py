"""How many tokens requests may take: from answers of their kind so far, or from assumptions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from sayso.prices import Price
from sayso.records import Generation, Request, Usage

#: English text has 3 to 5 characters a token; a chat template adds up to 40 tokens to a prompt
FEWEST, MOST, TEMPLATE = 3, 5, 40
#: without any answer so far: the shortest is this part of the longest allowed, a name of two tokens
#: of 256; a judge repeats questions and gives reasons
SHORTEST, JUDGE_SHORTEST = 128, 16
#: answers from which on their mean says more than that
ENOUGH = 5
ASSUMED = (
    f"Token ranges: {FEWEST} to {MOST} characters a token, up to {TEMPLATE} more a prompt; an "
    f"answer takes 1/{SHORTEST} of its limit to all of it, a judge's reply 1/{JUDGE_SHORTEST} to "
    f"all. Where at least {ENOUGH} answers of a stage are in the cache, their mean is taken, give "
    "or take 10 % or two standard errors."
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


class Stage(msgspec.Struct, frozen=True):
    """What one stage still asks. ``by`` says on what its tokens rest: "assumption" or "answers".

    ``requests`` differ from each other and from those of earlier stages; ``cached`` of them are
    answered already. Tokens and dollars are of the others; ``dollars`` is ``None`` if unknown.
    """

    who: Literal["model", "judge"]
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
    told = [(q, g) for q, g in known if g.usage.completion_tokens]
    if len(told) < ENOUGH:
        completion = Range(max(1.0, limit / shortest), float(limit))
        text = Range(completion.low * FEWEST, completion.high * MOST)
        return Means(Range(1 / MOST, 1 / FEWEST), completion, text, "assumption")
    completion = _around([g.usage.completion_tokens for _, g in told])
    completion = Range(max(1.0, completion.low), min(float(limit), completion.high))
    prompt = sum(g.usage.prompt_tokens for _, g in told) / sum(size(q) for q, _ in told)
    return Means(
        Range(prompt * 0.9, prompt * 1.1) if prompt else Range(1 / MOST, 1 / FEWEST),
        completion,
        _around([len(g.text) for _, g in told]),
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


def tokens_of(requests: Sequence[Request], mean: Means) -> tuple[Range, Range]:
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


def _whole(found: Range) -> Range:
    return Range(round(found.low), round(found.high))


def make_stage(
    who: Literal["model", "judge"],
    name: str,
    requests: Range,
    cached: int,
    tokens: tuple[Range, Range],
    price: Price | None,
    by: Basis,
) -> Stage:
    """Return a stage with whole numbers and its price."""
    prompt, completion = map(_whole, tokens)
    dollars = _dollars(price, prompt, completion)
    return Stage(who, name, _whole(requests), cached, prompt, completion, dollars, by)

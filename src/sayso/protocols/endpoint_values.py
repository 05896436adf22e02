"""Whose log-probabilities an endpoint gave: the model's own, or with a temperature in them."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Literal, NamedTuple

import msgspec

from sayso.records import ENDPOINT, Generation

#: log-probabilities of a token that differ by less, in nats, are the same, as GPUs compute them
SAME = 0.1
#: a token less likely than this shows whether a temperature is in it, and as many must
TELLING, LEAST_TELLING = -0.3, 5


class EndpointValues(NamedTuple):
    """Whose an endpoint's log-probabilities are, and how that is known; both empty without any.

    ``kind``: "raw", the model's own at any temperature; "processed", with the temperature of the
    request in them; "unknown".
    """

    kind: Literal["", "raw", "processed", "unknown"] = ""
    told: str = ""


def endpoint_values(
    answers: Sequence[Generation], draws: Mapping[str, Sequence[Generation]]
) -> EndpointValues:
    """Tell whose log-probabilities an endpoint gave, by its own answers.

    A token that an answer and a draw at temperature 1 have behind the same beginning has the same
    log-probability in both, unless the answer's temperature is in it: at 0 it would be near 0.
    """
    given = [g for g in answers if g.logprob_kind == ENDPOINT]
    if not given:
        return EndpointValues()
    moved = [
        abs(one - other)
        for answer in given
        for draw in draws.get(answer.question, ())
        if draw.logprob_kind == ENDPOINT and draw.request.temperature == 1
        for (_, one), (_, other) in _shared_tokens(answer, draw)
        if other < TELLING
    ]
    if len(moved) < LEAST_TELLING:
        return EndpointValues(
            "unknown",
            "too few tokens show whether the endpoint's log-probabilities are the model's own: "
            "answers get no scores from them, draws at temperature 1 do",
        )
    middle = statistics.median(moved)
    if middle <= SAME:
        bounds = any(g.entropies for g in given)
        return EndpointValues(
            "raw",
            "the endpoint's log-probabilities are scored as the model's own: "
            f"{len(moved):,} tokens have the same ones in answers and in draws at temperature 1"
            + ("; entropies are lower bounds, from the likeliest tokens" if bounds else ""),
        )
    differ = f"those of answers and of draws at temperature 1 differ by {middle:.2f} nats"
    if not any(value < 0 for g in given for value in g.logprobs or ()):
        return EndpointValues(
            "unknown",
            f"the endpoint's log-probabilities depend on the temperature ({differ}), and are all 0 "
            "in the answers: answers get no scores from them, draws at temperature 1 do",
        )
    return EndpointValues(
        "processed",
        f"the endpoint's log-probabilities depend on the temperature ({differ}): scores of answers "
        "are of the sampling settings as well as of the model, so compare them with none but those "
        "of the same server and settings",
    )


def _shared_tokens(
    *both: Generation,
) -> Iterator[tuple[tuple[str, float], tuple[str, float]]]:
    """Yield the tokens with which two answers begin alike, with both log-probabilities."""
    one, other = (zip(texts_of_tokens(g), g.logprobs or (), strict=False) for g in both)
    return takewhile(lambda pair: pair[0][0] == pair[1][0], zip(one, other, strict=False))


def texts_of_tokens(generation: Generation) -> tuple[str, ...]:
    """Return the tokens of an answer as text."""
    starts = generation.offsets or ()
    return tuple(map(generation.text.__getitem__, map(slice, starts, (*starts[1:], None))))


def named_own(generations: Sequence[Generation], values: EndpointValues) -> list[Generation]:
    """Return answers whose log-probabilities are named the model's own, where they are scored."""
    scored = values.kind in ("raw", "processed")
    return [
        msgspec.structs.replace(g, logprob_kind="model")
        if g.logprob_kind == ENDPOINT and (scored or g.request.temperature == 1)
        else g
        for g in generations
    ]

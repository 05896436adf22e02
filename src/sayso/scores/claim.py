"""Uncertainty of one claim of a long answer, from recorded evidence. Higher = less certain.

A claim is scored by the tokens of its words, by how often other answers to the same prompt support
it, or by what the model says when it is asked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sayso.scores.evidence import NoEvidence


def _inside(
    logprobs: Sequence[float] | None, offsets: Sequence[int] | None, start: int, end: int
) -> list[float]:
    """Return the log-probabilities of the tokens that have a character in ``start:end``."""
    if logprobs is None or offsets is None:
        raise NoEvidence("the answer has no token probabilities")
    if len(logprobs) != len(offsets):
        raise NoEvidence(f"{len(logprobs)} log-probabilities and {len(offsets)} token positions")
    ends = [*offsets[1:], math.inf][: len(offsets)]
    inside = [
        value
        for value, low, high in zip(logprobs, offsets, ends, strict=True)
        if low < end and high > start and start < end
    ]
    if not inside:
        raise NoEvidence("no token lies in the claim")
    if not all(math.isfinite(value) and value <= 1e-6 for value in inside):
        raise NoEvidence("a log-probability is not a number at or below 0")
    return inside


def span_nll(
    logprobs: Sequence[float] | None, offsets: Sequence[int] | None, start: int, end: int
) -> float:
    """Return -mean log p of the tokens of the claim's words; 0..infinity.

    Needs logprobs (T,) and offsets (T,) of the whole answer, and the span in characters. Source:
    lm-polygraph's claim-level perplexity. Read: e to the value is how many equally likely tokens
    there were at each step. ``NoEvidence`` where no token lies in the span.
    """
    inside = _inside(logprobs, offsets, start, end)
    return -math.fsum(inside) / len(inside)


def span_max_nll(
    logprobs: Sequence[float] | None, offsets: Sequence[int] | None, start: int, end: int
) -> float:
    """Return -min log p of the tokens of the claim's words; 0..infinity.

    As :func:`span_nll`, for the least likely token: a wrong value is often one surprising token.
    """
    return -min(_inside(logprobs, offsets, start, end))


def frequency(supported: Sequence[bool | None]) -> float:
    """Return 1 - share of the draws that support the claim; unread draws (``None``) left out.

    Range 0..1. Source: Mohri and Hashimoto 2024, section 4 (frequency scoring); LUQ-atomic of
    Zhang et al. 2024 with a binary judge. ``NoEvidence`` without a readable draw.
    """
    read = [value for value in supported if value is not None]
    if not read:
        raise NoEvidence("no further answer to look for the claim in")
    return 1 - sum(read) / len(read)


def refused(share: float | None) -> float:
    """Return 1 - P(yes), from what the model says when asked whether the claim is true; 0..1.

    Source: Kadavath et al. 2022, P(True), with options averaged over their order.
    """
    if share is None or not 0 <= share <= 1:
        raise NoEvidence("the model gave no readable answer on the claim")
    return 1 - share

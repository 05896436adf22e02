"""Scores of one claim, by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.scores.claim import frequency, refused, span_max_nll, span_nll
from sayso.scores.evidence import NoEvidence

#: "Mira | won | in | 1990 | ." at 0, 4, 8, 11, 16
OFFSETS = (0, 4, 8, 11, 16)
LOGPROBS = (-0.1, -0.5, -0.2, -2.0, -0.4)


def test_tokens_with_a_character_in_the_span() -> None:
    # 8:16 holds tokens 2 and 3: (.2 + 2.0) / 2 = 1.1, the largest 2.0
    assert span_nll(LOGPROBS, OFFSETS, 8, 16) == pytest.approx(1.1)
    assert span_max_nll(LOGPROBS, OFFSETS, 8, 16) == 2.0
    # one character of a token is enough: 10:12 holds tokens 2 and 3
    assert span_nll(LOGPROBS, OFFSETS, 10, 12) == pytest.approx(1.1)
    # the last token has no end
    assert span_nll(LOGPROBS, OFFSETS, 16, 17) == pytest.approx(0.4)
    assert span_nll(LOGPROBS, OFFSETS, 0, 17) == pytest.approx(0.64)


@pytest.mark.parametrize(
    ("logprobs", "offsets", "start", "end", "why"),
    [
        (None, OFFSETS, 0, 5, "no token probabilities"),
        (LOGPROBS, None, 0, 5, "no token probabilities"),
        (LOGPROBS, OFFSETS[:2], 0, 5, "5 log-probabilities and 2"),
        (LOGPROBS, OFFSETS, 5, 5, "no token lies"),  # no width
        ((), (), 0, 5, "no token lies"),
        ((0.5,), (0,), 0, 5, "not a number at or below 0"),
        ((math.nan,), (0,), 0, 5, "not a number"),
        ((-math.inf,), (0,), 0, 5, "not a number"),
    ],
)
def test_no_evidence_is_no_score(
    logprobs: tuple[float, ...] | None,
    offsets: tuple[int, ...] | None,
    start: int,
    end: int,
    why: str,
) -> None:
    for score in (span_nll, span_max_nll):
        with pytest.raises(NoEvidence, match=why):
            score(logprobs, offsets, start, end)


def test_frequency_leaves_unread_draws_out() -> None:
    assert frequency([True, True, False, None]) == pytest.approx(1 / 3)
    assert frequency([False]) == 1.0
    for none in ([], [None, None]):
        with pytest.raises(NoEvidence):
            frequency(none)


def test_refused_is_one_minus_yes() -> None:
    assert refused(0.25) == 0.75
    for bad in (None, 1.2, -0.1, math.nan):
        with pytest.raises(NoEvidence):
            refused(bad)


@given(st.lists(st.floats(-20, 0), min_size=1, max_size=20))
def test_the_mean_lies_below_the_largest(logprobs: list[float]) -> None:
    offsets = tuple(range(len(logprobs)))
    mean = span_nll(logprobs, offsets, 0, len(logprobs))
    assert 0 <= mean <= span_max_nll(logprobs, offsets, 0, len(logprobs)) + 1e-9

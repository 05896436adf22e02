"""Rows from Python: arrays and frames are read, what is no list of rows is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sayso
from sayso.datasets.answer_rows import MOST_SAMPLES, answer_row, answer_rows
from sayso.records import InputError
from sayso.score_files.grade import _graded
from support.tables import tabled


def test_arrays_are_lists() -> None:
    # what a data frame read from Parquet holds: arrays, arrays of arrays, numbers of numpy
    given = {
        "question": "q",
        "answer": "Jane Austen",
        "samples": np.array(["Austen", "Eliot"], dtype=object),
        "token_logprobs": np.array([-0.5, -0.7]),
        "sample_token_logprobs": np.array([np.array([-1.0]), np.array([-2.0, -3.0])], dtype=object),
        "human": np.int64(1),
    }
    (row,) = answer_rows([given])
    assert row.problems == ()
    assert row.samples == ("Austen", "Eliot")
    assert row.logprobs == (-0.5, -0.7)
    assert row.sample_logprobs == ((-1.0,), (-2.0, -3.0))
    assert row.human == 1.0
    assert row.own is given


def test_what_a_frame_lacks_is_nothing() -> None:
    (row,) = answer_rows(
        [{"answer": "a", "gold": math.nan, "human": float("nan"), "samples": math.nan}]
    )
    assert (row.gold, row.human, row.samples, row.problems) == (None, None, (), ())


def test_nan_in_a_list_keeps_its_place() -> None:
    (row,) = answer_rows([{"answer": "a", "token_logprobs": np.array([-1.0, math.nan])}])
    assert row.logprobs is not None
    assert len(row.logprobs) == 2
    assert row.problems


@pytest.mark.parametrize("blank", ["", " ", "-", "—", "..."])
def test_what_says_nothing_is_empty(blank: str) -> None:
    (row,) = answer_rows([{"answer": blank, "gold": "Paris"}])
    assert row.problems == ("the answer is empty",)
    assert _graded(row) is False
    (scored,) = sayso.score([{"answer": blank, "samples": ["Paris", "-", ""]}], ["num_sets"])
    assert scored["num_sets"] == 2


def test_a_thought_is_no_answer() -> None:
    given = {
        "answer": "<think>London?</think>\nParis",
        "samples": ["Rome", "<think>a</think>Oslo", "<think>b"],
        "token_logprobs": [-1.0, -2.0],
        "sample_token_logprobs": [[-1.0], [-2.0], [-3.0]],
    }
    (row,) = answer_rows([given])
    assert (row.answer, row.samples) == ("Paris", ("Rome", "Oslo", ""))
    assert row.logprobs is None
    assert row.sample_logprobs == ((-1.0,), None, None)
    assert row.own is given
    assert row.problems == (
        "the answer contained reasoning, which is left out",
        "the sample contained reasoning, which is left out",
        "the sample was cut off during its reasoning: there is no complete one",
        "the values of its tokens are left out with it",
    )


def test_an_answer_that_is_all_thought_is_none() -> None:
    (row,) = answer_rows([{"answer": "<think>London?"}])
    assert row.answer is None
    assert row.problems == (
        "the answer was cut off during its reasoning: there is no complete one",
    )


@tabled
def test_what_is_no_list_of_rows(rows: object, columns: dict[str, str] | None, words: str) -> None:
    with pytest.raises(InputError, match=words):
        sayso.score(rows, methods=["length_words"], columns=columns)  # type: ignore[arg-type]


def test_scores_of_rows_with_arrays() -> None:
    (found,) = sayso.score(
        [{"answer": "a b", "token_logprobs": np.array([-0.5, -1.5])}], methods="perplexity"
    )
    assert found["perplexity"] == pytest.approx(math.e)  # exp of the mean, exp((0.5 + 1.5) / 2)
    assert sayso.score([]) == []


def test_more_samples_than_can_be_compared_are_cut_and_said() -> None:
    many = [str(n) for n in range(MOST_SAMPLES + 1)]
    row = answer_row(
        {"answer": "a", "samples": many, "sample_token_logprobs": [[-0.1] for _ in many]}
    )
    assert row.samples == tuple(many[:-1])
    assert row.sample_logprobs is not None
    assert len(row.sample_logprobs) == MOST_SAMPLES
    assert row.problems == ("501 samples: the first 500 are used",)
    row = answer_row({"answer": "a", "samples": many[:-1]})
    assert not row.problems

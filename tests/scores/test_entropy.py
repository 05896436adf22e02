"""Entropies of draws: edges, invariances, class mass."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso import scores
from sayso.records import InputError

ROW = st.lists(st.floats(-20, 0), min_size=1, max_size=5)


def test_one_meaning_is_exactly_zero() -> None:
    for estimator in ("rao", "mc"):
        found = scores.semantic_entropy([3, 3], [[0.0], [0.0]], estimator, texts=["a", "a"])  # type: ignore[arg-type]
        assert found == 0
        assert math.copysign(1, found or 0) == 1
    assert scores.semantic_entropy([1, 1, 1], [[-2.0], [-3.0], [-1.0]]) == 0
    assert scores.discrete_semantic_entropy([7, 7]) == 0


def test_very_long_answers_do_not_vanish() -> None:
    # Raw sums of -2,000: the official exponentiates them to 0.
    found = scores.semantic_entropy([0, 1], [[-2.0] * 1000, [-2.0] * 1000], length_norm=False)
    assert found == pytest.approx(math.log(2))
    mc = scores.semantic_entropy([0, 1], [[-2.0] * 1000] * 2, "mc", False)
    assert mc == pytest.approx(2000)


@pytest.mark.parametrize("bad", [[[math.nan]], [[]], [[-math.inf]], [[-1.0], []]])
def test_what_is_not_finite_or_empty_is_undefined(bad: list[list[float]]) -> None:
    assert scores.semantic_entropy(range(len(bad)), bad) is None
    assert scores.naive_entropy(bad) is None


def test_nothing_is_undefined() -> None:
    assert scores.semantic_entropy([], []) is None
    assert scores.naive_entropy([]) is None
    assert scores.discrete_semantic_entropy([]) is None
    assert scores.num_sets([]) is None


@given(st.lists(st.tuples(st.integers(0, 3), ROW), min_size=1, max_size=8))
def test_bounds_and_invariances(draws: list[tuple[int, list[float]]]) -> None:
    ids, rows = [i for i, _ in draws], [r for _, r in draws]
    for norm in (True, False):
        found = scores.semantic_entropy(ids, rows, length_norm=norm)
        assert found is not None
        assert 0 <= found <= math.log(len(set(ids))) + 1e-9
        # Names of classes and the order of draws do not matter.
        renamed = [10 - i for i in ids]
        assert scores.semantic_entropy(renamed, rows, length_norm=norm) == pytest.approx(found)
        back = scores.semantic_entropy(ids[::-1], rows[::-1], length_norm=norm)
        assert back == pytest.approx(found)
        # A string drawn again changes nothing when each counts once.
        texts = [f"{i} {row}" for i, row in draws]
        once = scores.semantic_entropy(ids, rows, length_norm=norm, texts=texts)
        twice = scores.semantic_entropy(ids * 2, rows * 2, length_norm=norm, texts=texts * 2)
        assert twice == pytest.approx(once)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=10))
def test_class_mass_never_exceeds_one_when_strings_count_once(ids: list[int]) -> None:
    # The fault: semantic entropy with class mass above 1 from repeated samples. Three strings of
    # probability .3 each, drawn again and again: entropies stay above 0.
    rows = [[math.log(0.3)] for _ in ids]
    texts = [str(i) for i in ids]
    for estimator in ("mc", "direct"):
        found = scores.semantic_entropy([0] * len(ids), rows, estimator, False, texts)  # type: ignore[arg-type]
        assert found is not None
        assert found >= 0


def test_direct_by_hand() -> None:
    # Masses .5 + .25 and .125: -(.75 log .75 + .125 log .125)
    rows = [[math.log(p)] for p in (0.5, 0.25, 0.125, 0.5)]
    found = scores.semantic_entropy([0, 0, 1, 0], rows, "direct", False, ["a", "b", "c", "a"])
    assert found == pytest.approx(-(0.75 * math.log(0.75) + 0.125 * math.log(0.125)))


def test_wrong_settings_are_told() -> None:
    with pytest.raises(InputError, match="estimator"):
        scores.semantic_entropy([0], [[-1.0]], "best")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="direct"):
        scores.semantic_entropy([0], [[-1.0]], "direct")
    with pytest.raises(InputError, match="ids"):
        scores.semantic_entropy([0, 1], [[-1.0]])
    with pytest.raises(InputError, match="texts"):
        scores.semantic_entropy([0], [[-1.0]], texts=["a", "b"])
    with pytest.raises(InputError, match="kind"):
        scores.naive_entropy([[-1.0]], "raw")  # type: ignore[arg-type]


def test_the_order_of_equal_strings_does_not_matter() -> None:
    # One string, tokenized in two ways of different probability: the likelier counts.
    rows, texts = [[-0.5], [-0.4, -0.4], [-1.0]], ["a", "a", "b"]
    one = scores.semantic_entropy([0, 0, 1], rows, "rao", False, texts)
    two = scores.semantic_entropy([0, 0, 1], [rows[1], rows[0], rows[2]], "rao", False, texts)
    assert one == two
    p = np.exp([-0.5, -1.0])
    p /= p.sum()
    assert one == pytest.approx(-(p * np.log(p)).sum())


@pytest.mark.parametrize("name", ["semantic_entropy_mc", "semantic_entropy_mc_sum_unique"])
def test_only_the_normalized_estimator_promises_zero(name: str) -> None:
    # one draw of one meaning: rao 0, mc -log p = 1.2, and the docstring says so
    assert scores.semantic_entropy([0], [[-1.2]], "rao", False) == 0
    assert scores.semantic_entropy([0], [[-1.2]], "mc", False, ["a"]) == pytest.approx(1.2)
    assert "not 0 if all are the same" in (scores.SCORES[name].score.__doc__ or "")
    assert "0 = all draws mean the same" in (scores.SCORES["semantic_entropy"].score.__doc__ or "")

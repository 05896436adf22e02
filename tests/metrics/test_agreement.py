"""Agreement of two labelings, and of graders in pairs and against the others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso import metrics
from sayso.metrics import agreement, agreement_matrix
from sayso.records import InputError


def test_kappa_by_hand() -> None:
    # Cohen's textbook table: 20 yes-yes, 5, 10, 15. po = .7, pe = .5*.6 + .5*.4 = .5.
    table = [[20, 5], [10, 15]]
    assert metrics.alignment(table)["cohen_kappa"] == pytest.approx(0.4)
    first = np.repeat(["yes", "yes", "no", "no"], [20, 5, 10, 15])
    second = np.repeat(["yes", "no", "yes", "no"], [20, 5, 10, 15])
    assert metrics.kappa(first, second) == pytest.approx(0.4)
    assert agreement(first, second) == pytest.approx(0.7)


def test_alignment_by_hand() -> None:
    found = metrics.alignment([[6, 2], [1, 1]])
    assert found["retained"] == 10
    assert found["micro_short_retained"] == pytest.approx(0.8)
    assert found["micro_long_retained"] == pytest.approx(0.7)
    assert found["normalised"] == [[0.6, 0.2], [0.1, 0.1]]


def test_undefined() -> None:
    assert set(metrics.alignment([[0, 0], [0, 0]]).values()) == {None, 0.0}
    assert metrics.alignment([[5, 0], [0, 0]])["cohen_kappa"] is None
    assert metrics.kappa([], []) is None
    assert metrics.kappa(["a", "a"], ["a", "a"]) is None
    with pytest.raises(InputError, match="2x2"):
        metrics.alignment([[1, 2, 3]])


def test_more_than_two_labels_and_missing_ones() -> None:
    first, second = ["a", "b", "c", "a"], ["a", "b", "b", "a"]
    # po = 3/4, pe = (2*2 + 1*2 + 1*0)/16 = 6/16
    assert metrics.kappa(first, second) == pytest.approx((3 / 4 - 6 / 16) / (1 - 6 / 16))
    assert metrics.crosstab(first, second).tolist() == [[2, 0, 0], [0, 1, 0], [0, 1, 0]]


# ---- The agreement matrix and leave-one-out, counted by hand


NO = float("nan")
SAID = {
    "ann": [1, 1, 0, 0, 1],
    "bob": [1, 0, 0, 0, NO],
    "cem": [1, 1, 1, 0, 0],
    "metric": [0, 1, 0, 0, 1],
}


def test_pairs_by_hand() -> None:
    found = {(p.first, p.second): p for p in agreement_matrix(SAID, n=200)}
    assert list(found) == [
        ("ann", "bob"), ("ann", "cem"), ("ann", "metric"),
        ("bob", "cem"), ("bob", "metric"), ("cem", "metric"),
    ]  # fmt: skip
    # ann and bob: the same on answers 1, 3, 4 of the four that both saw
    pair = found["ann", "bob"]
    assert (pair.same.value, pair.same.n) == (0.75, 4)
    # table [[2, 0], [1, 1]]: observed 3/4, expected (2*3 + 2*1)/16 = 1/2, kappa 1/2
    assert pair.kappa == pytest.approx(0.5)
    assert found["ann", "metric"].same.value == pytest.approx(4 / 5)


def test_each_against_the_majority_of_the_others_by_hand() -> None:
    people = ["ann", "bob", "cem"]
    found = metrics.against_others(SAID, people, n=200)
    # without ann: bob and cem say 1, tie, tie, 0, 0 (cem alone): ann agrees on 1 and 4, not on 5
    assert (found["ann"].value, found["ann"].n) == (pytest.approx(2 / 3), 3)
    # without bob: ann and cem say 1, 1, tie, 0, tie: bob agrees on 1 and 4, not on 2
    assert (found["bob"].value, found["bob"].n) == (pytest.approx(2 / 3), 3)
    # without cem: ann and bob say 1, tie, 0, 0, 1 (ann alone): cem agrees on 1 and 4 of four
    assert (found["cem"].value, found["cem"].n) == (pytest.approx(1 / 2), 4)
    # the metric faces each of the three panels: answer 1: 0 of 3; 2: only without bob no tie, 1 of
    # 1; 3: only without cem, 1 of 1; 4: 3 of 3; 5: 0 without ann, 1 without cem, 1 of 2
    assert (found["metric"].value, found["metric"].n) == (pytest.approx(6 / 10), 5)


def test_a_grader_has_no_vote_on_itself() -> None:
    """Four coins: in its own majority each would agree with it well above one half."""
    rng = np.random.default_rng(0)
    said = {str(k): rng.integers(0, 2, 4000) for k in range(4)}
    for estimate in metrics.against_others(said, n=200).values():
        assert estimate.value == pytest.approx(0.5, abs=0.03)


def test_a_person_and_a_metric_as_good_stand_alike() -> None:
    """All err in 20 %, independently: the outsider faces panels of the same size as a member."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 20_000)
    said = {k: np.where(rng.random(20_000) < 0.2, 1 - truth, truth) for k in ("a", "b", "c", "m")}
    found = metrics.against_others(said, ["a", "b", "c"], n=20)
    values = [e.value for e in found.values()]
    assert values == pytest.approx([values[0]] * 4, abs=0.01)


def test_few_in_the_panel() -> None:
    for panel in (["ann", "bob"], ["ann", "bob", "nobody"]):
        with pytest.raises(InputError, match="at least 3"):
            metrics.against_others(SAID, panel)
    nobody = agreement_matrix({"a": [NO, NO], "b": [1, 0]}, n=200)
    assert nobody[0].same.value is None
    assert nobody[0].same.problem
    assert nobody[0].kappa is None
    assert agreement_matrix({}) == ()


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, NO]), min_size=3, max_size=3), max_size=20))
def test_any_votes(rows: list[list[float]]) -> None:
    said = {str(k): [row[k] for row in rows] for k in range(3)}
    for pair in agreement_matrix(said, n=20):
        assert pair.same.value is None or 0 <= pair.same.value <= 1
    for estimate in metrics.against_others(said, n=20).values():
        assert (estimate.value is None) == (estimate.n == 0)


def test_kappa_of_rare_labels_has_the_interval_of_their_overlap() -> None:
    # 60 entities of one thing each: 2 have the label from both, 1 from the first, 1 from the second
    first, second = np.zeros(60, dtype=bool), np.zeros(60, dtype=bool)
    first[:3], second[[0, 1, 3]] = True, True
    tables = metrics.yes_no_tables(first, second, np.arange(60))
    assert tables.sum(axis=0).tolist() == [56, 1, 1, 2]
    found = metrics.bootstrap_kappa(tables, n=400)
    assert found.value == pytest.approx(metrics.kappa(first, second))
    assert found.problem == "sparse (2 of 4 have the rarer label twice): exact interval"
    # q is 2 of 4: Clopper-Pearson .0676 to .9324; s = .1, p1 p2 = .0025
    ends = [1 - 0.1 * (1 - q) / ((1 + q) * 0.095) for q in (0.0675860, 0.9324140)]
    assert (found.low, found.high) == (
        pytest.approx(ends[0], abs=1e-6), pytest.approx(ends[1], abs=1e-6)
    )  # fmt: skip
    # the other way round the rarer label is "no", and nothing else changes
    turned = metrics.bootstrap_kappa(metrics.yes_no_tables(~first, ~second, np.arange(60)), n=400)
    assert (turned.low, turned.high) == pytest.approx((found.low, found.high))
    # of things of one entity all may move together
    one = metrics.bootstrap_kappa(metrics.yes_no_tables(first, second, np.zeros(60)), n=50)
    assert one.low is None


def test_kappa_of_common_labels_is_the_bootstraps() -> None:
    rng = np.random.default_rng(2)
    first = rng.random(200) < 0.5
    second = np.where(rng.random(200) < 0.7, first, ~first)
    unit = np.repeat(np.arange(50), 4)
    found = metrics.bootstrap_kappa(metrics.yes_no_tables(first, second, unit), n=300)
    plain = metrics.bootstrap(
        metrics.kappa, first, second, clusters=unit, n=300, limits=(-1.0, 1.0)
    )
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high))

"""Agreement of two labelings, and of graders in pairs and against the others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso import metrics
from sayso.metrics import agreement, agreement_matrix
from sayso.metrics.intervals import bootstrap_share
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


# ---- any number of annotators

#: Krippendorff (2011), section C: four observers, twelve units, five values
UNITS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NO, NO, NO],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NO, 3],
        [NO, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NO],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NO],
    ]
).T
#: Gwet's paradox: 118 both yes, 5 and 2 apart, nobody twice no
NEARLY_ALL = np.repeat([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]], [118, 5, 2], axis=0)


def test_alpha_is_that_of_krippendorffs_example() -> None:
    assert metrics.krippendorff_alpha(UNITS) == pytest.approx(0.743, abs=5e-4)
    assert metrics.krippendorff_alpha(UNITS, "interval") == pytest.approx(0.849, abs=5e-4)
    # by hand: labels 1 1 1 2, 2 2 disagree once in 3 units of two; N = 6, 3 ones and 3 twos
    # Do = 2/6, De = 2*3*3/(6*5) = .6
    pairs = [[1, 1], [1, 2], [2, 2], [1, NO]]
    assert metrics.krippendorff_alpha(pairs) == pytest.approx(1 - (2 / 6) / 0.6)
    # interval, 0 1 / 1 1 / 0 0: sum over pairs 2, N = 6; three 0 and three 1: De as above
    assert metrics.krippendorff_alpha([[0, 1], [1, 1], [0, 0]], "interval") == pytest.approx(4 / 9)


def test_ac1_by_hand() -> None:
    # pa = 118/125, p = (123 + 120)/250 = .972, pe = 2 * .972 * .028
    pe = 2 * 0.972 * 0.028
    assert metrics.gwet_ac1(NEARLY_ALL) == pytest.approx((118 / 125 - pe) / (1 - pe))
    assert metrics.kappa(*NEARLY_ALL.T) == pytest.approx(-0.0234, abs=5e-5)
    # things with one label count in the shares of labels; a class that nobody used counts in pe
    few = [[0, 0], [0, 1], [1, NO]]
    p = np.array([1.5, 1.5]) / 3
    pe = float((p * (1 - p)).sum())
    assert metrics.gwet_ac1(few) == pytest.approx((0.5 - pe) / (1 - pe))
    assert metrics.gwet_ac1(few, classes=3) == pytest.approx((0.5 - pe / 2) / (1 - pe / 2))
    with pytest.raises(InputError, match="classes is 1, but there are 2"):
        metrics.gwet_ac1(few, classes=1)


@pytest.mark.parametrize(
    "labels",
    [np.zeros((0, 2)), np.full((4, 2), NO), [[1], [0]], [[1, NO], [NO, 0]], np.ones((5, 3))],
    ids=["no things", "no labels", "one annotator", "no pairs", "one class"],
)
def test_coefficients_without_pairs_or_with_one_class_are_undefined(labels: object) -> None:
    assert metrics.krippendorff_alpha(labels) is None  # type: ignore[arg-type]
    assert metrics.krippendorff_alpha(labels, "interval") is None  # type: ignore[arg-type]
    assert metrics.gwet_ac1(labels) is None  # type: ignore[arg-type]
    found = metrics.coefficients(labels, n=20)  # type: ignore[arg-type]
    assert found.alpha.value is found.ac1.value is found.kappa.value is None
    assert found.alpha.problem
    assert found.ac1.problem


def test_a_constant_that_is_not_a_short_float_has_no_alpha() -> None:
    assert metrics.krippendorff_alpha(np.full((30, 3), 0.1), "interval") is None


def test_one_class_among_two_that_are_possible_is_full_agreement_by_ac1() -> None:
    assert metrics.gwet_ac1(np.ones((5, 2)), classes=2) == 1


def test_coefficients_have_intervals_and_few_disagreements_widen_them() -> None:
    found = metrics.coefficients(UNITS)
    assert found.n == 11
    assert found.same.value == pytest.approx((8 + 0.5 + 0 + 0.5 + 0.0) / 11)
    assert found.kappa.value is None
    assert found.alpha.value == pytest.approx(0.743, abs=5e-4)
    for one in (found.alpha, found.ac1):
        assert one.low is not None
        assert one.high is not None
        assert one.low < one.value < one.high  # type: ignore[operator]
    # nobody says "no" twice: resamples never do either, and would put kappa in -.05..0
    rare = metrics.coefficients(NEARLY_ALL)
    assert rare.kappa.low == -1
    scale = (1 + 0.02339) / (7 / 125)
    assert rare.kappa.high == pytest.approx(1 - (1 - rare.same.high) * scale, abs=1e-3)  # type: ignore[operator]
    assert (rare.kappa.problem or "").startswith("sparse")
    # full agreement: no coefficient is surer than the share
    full = metrics.coefficients(np.repeat([[1.0, 1.0], [0.0, 0.0]], [10, 10], axis=0))
    assert full.alpha.value == full.kappa.value == full.ac1.value == 1
    assert full.alpha.low == pytest.approx(1 - (1 - full.same.low) / 0.5)  # type: ignore[operator]


def test_design_weights_count_what_was_drawn_rarely() -> None:
    # 10 things drawn for certain, 10 with probability 1/4: they stand for 40
    labels = np.repeat([[1, 1], [0, 0], [1, 0], [0, 0]], [5, 5, 5, 5], axis=0).astype(float)
    weights = np.repeat([1.0, 4.0], 10)
    found = metrics.coefficients(labels, weights=weights)
    assert found.same.value == pytest.approx((10 + 20) / 50)
    assert found.same.numerator is None
    again = np.repeat(labels, weights.astype(int), axis=0)
    assert found.kappa.value == pytest.approx(metrics.kappa(*again.T))
    assert found.ac1.value == pytest.approx(metrics.gwet_ac1(again))
    plain = metrics.coefficients(labels)
    assert found.same.high - found.same.low > plain.same.high - plain.same.low  # type: ignore[operator]
    # of one weight the design changes nothing, whatever its size
    same = metrics.coefficients(labels, weights=np.full(20, 7.0))
    assert same.alpha == plain.alpha
    assert (same.same.low, same.same.high) == (plain.same.low, plain.same.high)


def test_one_label_of_unequal_weights_has_no_kappa() -> None:
    """The expected agreement is 1 but for what rounding leaves of sums of weights."""
    drawn = [0.25, 0.9, 0.9, 0.3, 0.7, 0.7, 0.7, 0.7, 0.25, 0.3, 0.3, 0.7, 0.9, 0.7]
    labels, weights = np.ones((14, 2)), 1 / np.array(drawn)
    labels[:2, 0] = NO
    found = metrics.coefficients(labels, weights=weights, classes=5, n=20)
    assert (found.same.value, found.kappa.value, found.alpha.value) == (1, None, None)
    # two things of 18 apart, both ways, of weights 1 and 3: po is 16/20, pe (19 17 + 1 3) / 400
    labels, weights = np.ones((18, 2)), np.ones(18)
    labels[0, 0] = labels[1, 1] = 0
    weights[1] = 3
    value = metrics.kappa(*labels.T, weights)
    assert value == pytest.approx((16 / 20 - 326 / 400) / (1 - 326 / 400))


def test_clusters_that_move_together_widen_the_interval() -> None:
    rng = np.random.default_rng(3)
    unit = np.repeat(np.arange(12), 10)
    flip = (rng.random(12) < 0.4)[unit]
    first = rng.integers(0, 2, 120).astype(float)
    labels = np.stack([first, np.where(flip, 1 - first, first)], axis=1)
    alone, together = (metrics.coefficients(labels, clusters=c).alpha for c in (None, unit))
    assert together.high - together.low > 1.5 * (alone.high - alone.low)  # type: ignore[operator]


@pytest.mark.parametrize("wrong", range(6))
def test_no_error_is_never_less_precise_than_one(wrong: int) -> None:
    # 60 labels of 30 entities; 12 each of groups whose items weigh 1 to 6
    weights = np.repeat([1.0, 1.5, 2.0, 4.0, 6.0], 12)
    unit, every = np.arange(60) % 30, np.ones(60, dtype=bool)
    perfect = bootstrap_share("same", every, every, unit, n=500, weights=weights)
    right = np.arange(60) != min(12 * wrong, 59)
    once = bootstrap_share("same", right, every, unit, n=500, weights=weights)
    assert perfect.low is not None
    assert once.low is not None
    assert perfect.low > once.low
    assert perfect.low < 0.95  # exact for fewer than 60 trials

"""Several models on the same entities: joint intervals, paired tests, ranks. Worked by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sayso.metrics.intervals import bootstrap, bootstrap_difference, student_quantile
from sayso.metrics.joint import (
    Number,
    independent_interval,
    independent_means,
    joint_means,
    rank_independently,
    rank_jointly,
    resample_jointly,
    with_own_errors,
)
from sayso.records import Estimate


def mean(values: Any, weights: Any = None) -> Any:
    """Return a mean, or means by rows of weights."""
    x = np.asarray(values, dtype=np.float64)
    if weights is None:
        return float(x.mean()) if len(x) else None
    with np.errstate(invalid="ignore"):
        return weights @ x / weights.sum(axis=1)


def number(values: Any, prefix: str = "e", **keywords: Any) -> Number:
    return Number(mean, (values,), [f"{prefix}{i}" for i in range(len(values))], **keywords)


RNG = np.random.default_rng(7)
A = RNG.random(40)
B = np.clip(A + RNG.normal(0.1, 0.05, 40), 0, 1)
C = RNG.random(30)


def test_one_data_set_is_the_bootstrap_of_the_value() -> None:
    joint = resample_jointly([[number(A)]], n=4000)
    (one,) = joint_means(joint, "x")
    alone = bootstrap(mean, A, n=4000)
    assert one.value == pytest.approx(A.mean())
    assert one.low == pytest.approx(alone.low, abs=0.01)
    assert one.high == pytest.approx(alone.high, abs=0.01)


def test_data_sets_weigh_the_same_however_many_entities_they_have() -> None:
    joint = resample_jointly([[number(A), number(C, "other")]], n=500)
    (one,) = joint_means(joint, "x")
    assert one.value == pytest.approx((A.mean() + C.mean()) / 2)
    assert joint.clusters.tolist() == [40, 30]
    assert joint.freedom == 68
    # variances of two independent means: a quarter of their sum
    apart = A.var(ddof=1) / 40 + C.var(ddof=1) / 30
    assert joint.mean_resamples[0].std() == pytest.approx(np.sqrt(apart) / 2, rel=0.1)


def test_models_are_paired_by_the_names_of_entities_not_by_place() -> None:
    names = [f"e{i}" for i in range(40)]
    shuffled = RNG.permutation(40)
    other = Number(mean, (B[shuffled],), [names[i] for i in shuffled])
    ranking = rank_jointly(resample_jointly([[number(A)], [other]], n=4000))
    pair = ranking.pairs[0]
    paired = bootstrap_difference(mean, (B,), (A,), n=4000)
    assert pair.difference == pytest.approx(B.mean() - A.mean())
    assert (pair.low, pair.high) == (
        pytest.approx(paired.low, abs=0.004),
        pytest.approx(paired.high, abs=0.004),
    )
    assert pair.clear
    assert ranking.ranks == [(2, 2), (1, 1)]


def test_less_may_be_better_and_may_be_neither() -> None:
    for higher, expected in ((False, [(1, 1), (2, 2)]), (None, [None, None])):
        models = [[number(A, higher=higher)], [number(B, higher=higher)]]
        assert rank_jointly(resample_jointly(models)).ranks == expected


def test_a_model_and_itself_share_a_rank() -> None:
    ranking = rank_jointly(resample_jointly([[number(A)], [number(A)], [number(B)]]))
    same = ranking.pairs[0]
    assert (same.difference, same.low, same.high, same.p) == (0.0, 0.0, 0.0, 1.0)
    assert ranking.ranks == [(2, 3), (2, 3), (1, 1)]
    assert ranking.detectable is not None
    assert 0 < ranking.detectable < 0.1


def test_a_model_without_the_number_has_no_mean_and_no_rank() -> None:
    joint = resample_jointly([[number(A), number(C, "o")], [number(B), None]])
    whole, part = joint_means(joint, "x")
    assert whole.value is not None
    assert (part.value, part.problem) == (None, "undefined on one of the data sets")
    ranking = rank_jointly(joint)
    assert ranking.ranks == [None, None]  # nothing to rank it against
    assert ranking.pairs[0].p is None
    assert ranking.detectable is None


def test_values_on_the_end_of_their_range_are_not_sure() -> None:
    """Three of three entities right say little: Clopper and Pearson's .025^(1/3) = .29."""
    for entities, clear in ((3, False), (60, True)):
        right, wrong = number(np.ones(entities)), number(np.zeros(entities))
        pair = rank_jointly(resample_jointly([[right], [wrong]])).pairs[0]
        assert pair.difference == -1
        assert pair.clear is clear
        assert -1 <= (pair.low or 0) < (pair.high or 0)  # two shares lie at most 1 apart
    (one,) = joint_means(resample_jointly([[number(np.ones(9))]]), "x")
    assert (one.value, one.low) == (1.0, None)


def test_a_single_entity_tells_no_difference() -> None:
    pair = rank_jointly(resample_jointly([[number([0.2])], [number([0.4])]])).pairs[0]
    assert pair.difference == pytest.approx(0.2)
    assert (pair.p, pair.clear) == (None, False)


def test_equal_models_are_seldom_declared_different() -> None:
    rng = np.random.default_rng(1)
    false = 0
    for trial in range(100):
        hard = rng.normal(0, 1, 60)
        models = [[number((hard + rng.normal(0, 1, 60) > 0).astype(float))] for _ in range(5)]
        ranking = rank_jointly(resample_jointly(models, n=300, seed=trial))
        false += any(pair.clear for pair in ranking.pairs)
    assert false <= 10  # of 100 families; 5 are expected, 11 once in a hundred


def test_an_interval_wider_than_the_resamples_tell_is_believed() -> None:
    rng = np.random.default_rng(3)
    sure, lucky = rng.normal(0.1, 0.1, 40), rng.normal(0.6, 0.1, 40)
    joint = resample_jointly([[number(sure)], [number(lucky)]])
    assert rank_jointly(joint).ranks == [(2, 2), (1, 1)]
    half = 2 * joint.resamples.std(axis=2)[0, 0]
    narrow = Estimate("J", value=0.1, low=0.1 - half, high=0.1 + half)
    wide = Estimate("J", value=0.6, low=-0.4, high=0.8)  # of a single case
    told = with_own_errors(joint, [[narrow], [narrow]])
    assert rank_jointly(told).pairs == rank_jointly(joint).pairs
    assert rank_jointly(with_own_errors(joint, [[narrow], [wide]])).ranks == [(1, 2), (1, 2)]
    assert with_own_errors(joint, [[Estimate("J")], [Estimate("J")]]).floor.tolist() == [0.0, 0.0]


def test_the_only_model_that_has_a_number_has_no_rank() -> None:
    assert rank_jointly(resample_jointly([[number(A)], [None]])).ranks == [None, None]
    assert rank_jointly(resample_jointly([[number(A)]])).ranks == [None]


def test_the_same_answers_in_several_data_sets_are_no_more_evidence() -> None:
    (one,) = joint_means(resample_jointly([[number(A)]], n=2000), "x")
    again = resample_jointly([[number(A), number(A), number(A)]], n=2000)
    (mean_of_three,) = joint_means(again, "x")
    assert again.freedom == 40 - 1
    # two entities in two data sets: a number, and no test that would divide by nothing
    few = resample_jointly([[number([0.0, 1.0])] * 2, [number([1.0, 1.0])] * 2], n=200)
    assert few.freedom == 1
    assert rank_jointly(few).pairs[0].difference == 0.5
    one_entity = resample_jointly([[number([0.0])] * 3, [number([1.0])] * 3], n=200)
    assert rank_jointly(one_entity).pairs[0].p is None
    assert one.low is not None
    assert mean_of_three.low is not None
    assert mean_of_three.low == pytest.approx(one.low, abs=0.01)
    assert mean_of_three.high == pytest.approx(one.high, abs=0.01)
    # 30 of 40 shared: the covariance of the two means is 30 / 40 of their variance
    partly = resample_jointly([[number(A), Number(mean, (A,), NAMES_SHIFTED)]], n=4000)
    both = np.corrcoef(partly.resamples[0, 0], partly.resamples[0, 1])[0, 1]
    assert both > 0.3
    # a third data set that shares nothing is drawn as it was without the others
    apart = resample_jointly([[number(A), number(C, "other")]], n=500)
    assert abs(np.corrcoef(apart.resamples[0, 0], apart.resamples[0, 1])[0, 1]) < 0.15
    assert apart.freedom == 68


#: the entities of A, of which ten are others
NAMES_SHIFTED = [f"e{i}" if i < 30 else f"x{i}" for i in range(40)]


def test_a_mean_over_data_sets_is_no_surer_than_the_runs_it_is_of() -> None:
    """A difference of two shares, one of them 0 of 4: resamples do not move that part."""
    rng = np.random.default_rng(3)
    joint = resample_jointly(
        [[number(rng.normal(0.3, 0.1, 40)), number(rng.normal(0.3, 0.1, 40), "o")]]
    )
    (plain,) = joint_means(joint, "J")
    assert plain.low is not None
    wide = Estimate("J", value=0.3, low=-0.4, high=0.9)
    (told,) = joint_means(joint, "J", [[wide, wide]])
    # sqrt(2 * .7^2) / 2 = .495 below the mean, and sqrt(2 * .6^2) / 2 = .424 above it
    assert told.value is not None
    assert told.low == pytest.approx(told.value - 0.495, abs=0.001)
    assert told.high == pytest.approx(told.value + 0.424, abs=0.001)
    spread = joint.resamples[0].std(axis=1)
    narrow = [
        Estimate("J", value=float(v), low=float(v - 2 * e), high=float(v + 2 * e))
        for v, e in zip(joint.values[0], spread, strict=True)
    ]
    assert joint_means(joint, "J", [narrow]) == [plain]


def test_one_of_one_may_be_nearly_none_of_one() -> None:
    """One known fact that is hedged, against none of four: no clear difference."""
    names = [f"e{i}" for i in range(30)]
    seen = np.zeros(30)
    seen[0] = 1.0

    def share(weights: np.ndarray | None = None, hit: float = 1.0) -> np.ndarray | float:
        return hit if weights is None else np.full(len(weights), hit)

    models = [
        [Number(lambda x, weights=None, h=h: share(weights, h), (seen,), names)] for h in (1.0, 0.0)
    ]
    joint = resample_jointly(models)
    one = Estimate("x", value=1.0, low=0.03, high=1.0)
    none = Estimate("x", value=0.0, low=0.0, high=0.6)
    pair = rank_jointly(with_own_errors(joint, [[one], [none]])).pairs[0]
    assert pair.difference == -1
    assert not pair.clear


# ---- estimates with intervals of their own


def own(value: float | None, below: float = 0.1, above: float = 0.1, n: int = 50) -> Estimate:
    if value is None:
        return Estimate("x", problem="nothing to count")
    return Estimate("x", value=value, low=value - below, high=value + above, n=n)


def test_the_mean_of_independent_estimates_by_hand() -> None:
    (one,) = independent_means("x", [[own(0.4, 0.3, 0.06), own(0.6, 0.4, 0.08)]])
    assert one.value == pytest.approx(0.5)
    assert one.low == pytest.approx(0.5 - 0.25)  # sqrt(.3^2 + .4^2) / 2
    assert one.high == pytest.approx(0.5 + 0.05)
    assert one.n == 100
    # data sets that share entities err together: (.3 + .4) / 2
    (close,) = independent_means("x", [[own(0.4, 0.3, 0.06), own(0.6, 0.4, 0.08)]], apart=False)
    assert (close.low, close.high) == pytest.approx((0.5 - 0.35, 0.5 + 0.07))
    # a single data set has its own interval, and a mean over fewer data sets is none
    assert independent_means("x", [[own(0.4)]]) == [own(0.4)]
    (none,) = independent_means("x", [[own(0.4), own(None)]])
    assert none.value is None
    assert none.problem == "undefined on one of the data sets"
    (bare,) = independent_means("x", [[own(0.4), Estimate("x", value=0.6, n=3)]])
    assert (bare.value, bare.low) == (0.5, None)


def test_the_difference_of_independent_estimates_by_hand() -> None:
    first, second = own(0.3, 0.3, 0.04), own(0.6, 0.03, 0.4)
    low, high = independent_interval(first, second) or (0.0, 0.0)
    assert low == pytest.approx(0.3 - 0.05)
    assert high == pytest.approx(0.3 + 0.5)
    assert independent_interval(first, own(None)) is None
    (pair,) = rank_independently([first, second], True, 40.0).pairs
    assert (pair.low, pair.high) == (pytest.approx(low), pytest.approx(high))
    assert pair.p is not None
    assert pair.p < 0.05  # as the interval says
    # the interval ends at 0: p is .05
    (edge,) = rank_independently([own(0.3, 0.1, 0.06), own(0.4, 0.08)], True, 12.0).pairs
    assert edge.low == pytest.approx(0.0)
    assert edge.p == pytest.approx(0.05)
    (reverse,) = rank_independently([second, first], False, 40.0).pairs
    assert reverse.difference == pytest.approx(-0.3)
    assert reverse.p == pytest.approx(pair.p)


def test_ranks_of_independent_estimates() -> None:
    means = [own(0.2), own(None), own(0.9), own(0.25)]
    assert rank_independently(means, True, 30.0).ranks == [(2, 3), None, (1, 1), (2, 3)]
    assert rank_independently(means, False, 30.0).ranks == [(1, 2), None, (3, 3), (1, 2)]
    assert rank_independently(means, None, 30.0).ranks == [None] * 4
    # without intervals nothing is tested, and all who have a value are tied
    bare = [Estimate("x", value=0.2), Estimate("x", value=0.9)]
    ranking = rank_independently(bare, True, 30.0)
    assert ranking.ranks == [(1, 2), (1, 2)]
    assert ranking.detectable is None


def test_equal_models_that_are_independent_are_seldom_declared_different() -> None:
    """Of three equal models, some pair differs in at most 5 % of studies, few labels or many."""
    rng = np.random.default_rng(3)
    for labels in (8, 60):
        wrong = 0
        for _ in range(400):
            cells = []
            for _ in range(3):
                row = []
                for _ in range(2):
                    drawn = rng.normal(0.5, 0.2, labels)
                    half = student_quantile(0.975, labels - 1) * drawn.std(ddof=1) / labels**0.5
                    row.append(own(float(drawn.mean()), half, half))
                cells.append(row)
            ranking = rank_independently(independent_means("x", cells), True, labels - 1)
            wrong += any(pair.clear for pair in ranking.pairs)
        assert wrong / 400 < 0.05 + 2 * (0.05 * 0.95 / 400) ** 0.5

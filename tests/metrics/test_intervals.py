"""Clustered intervals: exactness, repeatability, sparse and undefined cases."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sayso import metrics
from sayso.metrics import auroc, bootstrap_auroc, cross_fitted_best, intervals
from sayso.metrics.intervals import (
    GROUPS,
    LEAST_FREEDOM,
    MANY,
    beta_cdf,
    beta_quantile,
    bootstrap,
    bootstrap_ratio,
    bootstrap_share,
    deal,
    mean_freedom,
    resample_weights,
    spread_of_groups,
    student_quantile,
)
from sayso.metrics.within_type import log_odds_error
from sayso.records import Estimate, InputError


def mean(x: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> object:
    values = np.asarray(x, dtype=float)
    if weights is None:
        return float(values.mean())
    return weights @ values / weights.sum(axis=-1)


def ends(estimate: object) -> tuple[float, float]:
    low, high = estimate.low, estimate.high  # type: ignore[attr-defined]
    assert low is not None
    assert high is not None
    return low, high


def test_exact_interval_against_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    for trials in (1, 5, 9, 30, 4000):
        for successes in {0, 1, trials // 3, trials - 1, trials}:
            expected = stats.binomtest(successes, trials).proportion_ci(method="exact")
            found = metrics.exact_interval(successes, trials)
            assert found == pytest.approx((expected.low, expected.high), abs=1e-10)
    assert metrics.exact_interval(0, 0) == (None, None)


def test_distributions_against_scipy() -> None:
    special = pytest.importorskip("scipy.special")
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    for _ in range(100):
        a, b = np.exp(rng.uniform(-2, 8, 2))
        q = rng.uniform(0.001, 0.999)
        x = special.betaincinv(a, b, q)
        assert beta_quantile(q, a, b) == pytest.approx(x, abs=1e-10)
        assert beta_cdf(x, a, b) == pytest.approx(q, abs=1e-8)
    for freedom in (1, 2.5, 19, 399, 20_000):
        for q in (0.025, 0.5, 0.975):
            assert student_quantile(q, freedom) == pytest.approx(stats.t.ppf(q, freedom), abs=1e-8)


def test_of_a_mean_is_the_t_interval() -> None:
    # The bootstrap error of a mean tends to s/sqrt(n): compare with the textbook interval.
    rng = np.random.default_rng(1)
    x = rng.normal(3, 1, 60)
    estimate = metrics.bootstrap(mean, x, limits=None, n=6000)
    half = student_quantile(0.975, 59) * x.std(ddof=1) / np.sqrt(60)
    assert estimate.value == pytest.approx(x.mean())
    low, high = ends(estimate)
    assert (high - low) / 2 == pytest.approx(half, rel=0.03)


def test_copies_within_a_cluster_add_no_information() -> None:
    rng = np.random.default_rng(2)
    x = rng.random(40)
    single = metrics.bootstrap(mean, x, n=500)
    copied = metrics.bootstrap(mean, np.repeat(x, 5), clusters=np.repeat(np.arange(40), 5), n=500)
    assert ends(copied) == pytest.approx(ends(single))
    naive = metrics.bootstrap(mean, np.repeat(x, 5), n=500)
    assert ends(naive)[1] - ends(naive)[0] < 0.6 * (ends(single)[1] - ends(single)[0])


def test_seeded_and_independent_of_block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(3).random(50)
    first = metrics.bootstrap(mean, x, seed=5, n=300)
    assert metrics.bootstrap(mean, x, seed=5, n=300) == first
    assert metrics.bootstrap(mean, x, seed=6, n=300) != first
    monkeypatch.setattr(intervals, "BLOCK", 350)
    found = metrics.bootstrap(mean, x, seed=5, n=300)
    assert ends(found) == pytest.approx(ends(first), abs=1e-12)


def test_weights_are_whole_draws() -> None:
    rng = np.random.default_rng(4)
    blocks = list(intervals.resample_weights(7, 100, rng))
    weights = np.concatenate(blocks)
    assert weights.shape == (100, 7)
    assert (weights.sum(axis=1) == 7).all()
    strata = np.array([1, 0, 0, 1, 2, 0, 0])
    weights = np.concatenate(list(intervals.resample_weights(7, 100, rng, strata)))
    for stratum, size in ((0, 4), (1, 2), (2, 1)):
        assert (weights[:, strata == stratum].sum(axis=1) == size).all()


def test_strata_take_out_the_variation_between_them() -> None:
    rng = np.random.default_rng(5)
    domain = np.repeat([0, 1], 50)
    x = domain * 0.8 + 0.1 * rng.random(100)
    wide, narrow = (
        metrics.bootstrap(mean, x, n=400),
        metrics.bootstrap(mean, x, strata=domain, n=400),
    )
    assert ends(narrow)[1] - ends(narrow)[0] < 0.3 * (ends(wide)[1] - ends(wide)[0])
    with pytest.raises(InputError, match="whole clusters"):
        metrics.bootstrap(mean, x, clusters=np.zeros(100), strata=domain)


def test_undefined_resamples_are_told() -> None:
    # One wrong answer among six: about (5/6)^6 = 33 % of the resamples have none.
    wrong, score = [1, 0, 0, 0, 0, 0], [2.5, 1, 2, 3, 4, 5]
    found = metrics.bootstrap(metrics.auroc, score, wrong, n=400)
    assert found.value == pytest.approx(0.4)
    assert found.problem is not None
    assert "of the resamples" in found.problem


def test_undefined_values() -> None:
    for score, wrong in (([], []), ([1.0, 2.0], [1, 1])):
        found = metrics.bootstrap(metrics.auroc, score, wrong, n=20)
        assert found.value is None
        assert found.low is None
        assert found.problem is not None
    perfect = metrics.bootstrap(metrics.auroc, [1.0, 2.0, 3.0], [0, 0, 1], n=50)
    assert perfect.value == 1.0
    assert perfect.low is None
    assert perfect.problem == "no interval: the value is at the end of its range"
    single = metrics.bootstrap(mean, [0.2, 0.4], clusters=["a", "a"], n=20)
    assert single.value == pytest.approx(0.3)
    assert single.problem == "no interval: a single cluster"


def entity_cells(entities: int, hedge: float, seed: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    share = np.array([0.5, 0.1, 0, 0.1, 0.3, 0])
    share = share * (1 - hedge)
    share[2], share[5] = 0.4 * hedge, 0.6 * hedge
    return rng.multinomial(6, share, size=entities).astype(float)


def test_cells_give_what_rows_give() -> None:
    cells = entity_cells(60, 0.3, 7)
    entity, kind = np.nonzero(cells)
    times = cells[entity, kind].astype(int)
    entity, kind = np.repeat(entity, times), np.repeat(kind, times)
    known, label = (kind < 3).astype(int), kind % 3
    assert metrics.cluster_cells(known, label, entity).tolist() == cells.tolist()
    fast = metrics.bootstrap_cells(cells, n=500)
    slow = metrics.bootstrap(metrics.j_pooled, known, label, clusters=entity, n=500, limits=(-1, 1))
    assert fast["J"].value == pytest.approx(slow.value)
    assert ends(fast["J"]) == pytest.approx(ends(slow))
    for name, value in metrics.expression_rates(*cells.sum(axis=0)).items():
        assert fast[name].value == pytest.approx(value)
        low, high = ends(fast[name])
        assert value is not None
        assert low < value < high
    assert fast["UA"].numerator == cells.sum(axis=0)[5]
    assert fast["UA"].denominator == cells.sum(axis=0)[[2, 5]].sum()
    assert fast["UA"].n == 360


def test_sparse_ratio_gets_the_exact_interval() -> None:
    # Four hedges, each of another entity: Clopper-Pearson of 3 out of 4.
    cells = np.tile([3.0, 1, 0, 0, 2, 0], (30, 1))
    cells[:3, 5] = 1
    cells[3, 2] = 1
    found = metrics.bootstrap_cells(cells, n=300)["UA"]
    assert found.value == 0.75
    assert ends(found) == pytest.approx(metrics.exact_interval(3, 4))
    assert found.problem == "sparse (3 of 4): exact interval"


def test_sparse_in_one_cluster_counts_less_than_its_rows() -> None:
    # Six hedged unknown aspects of 60, spread over six entities or all of one entity.
    spread, heaped = np.tile([3.0, 0, 0, 0, 3, 0], (2, 20, 1))
    spread[:6, 5] = 1
    heaped[0, 5] = 6
    heaped[0, 4] = 0
    wide = metrics.bootstrap_cells(heaped, n=500)["UUR"]
    narrow = metrics.bootstrap_cells(spread, n=500)["UUR"]
    assert ends(wide)[1] > ends(narrow)[1] + 0.05
    four = np.tile([3.0, 0, 0, 0, 3, 0], (20, 1))
    four[0, 4:] = 0, 4
    found = metrics.bootstrap_cells(four, n=500)["UUR"]  # 4 of 61, one entity
    assert found.problem == "sparse (4 of 61): exact interval"
    assert ends(found)[1] > metrics.exact_interval(4, 61)[1] + 0.05  # type: ignore[operator]


def test_no_hedge_at_all_has_an_upper_end() -> None:
    cells = np.tile([4.0, 0, 0, 0, 2, 0], (20, 1))
    found = metrics.bootstrap_cells(cells, n=200)
    assert found["UA"].value is None
    assert found["UA"].low is None
    # 40 facts, all in pairs: what 20 entities that never hedged are evidence of
    assert ends(found["UUR"]) == pytest.approx(metrics.exact_interval(0, 20))
    low, high = ends(found["J"])
    assert low < 0 < high
    assert found["J"].problem is not None


def test_nothing_and_one_row() -> None:
    for cells in (np.zeros((0, 6)), np.zeros((4, 6)), np.eye(6)[:1]):
        for name, estimate in metrics.bootstrap_cells(cells, n=50).items():
            assert estimate.name == name
            for x in (estimate.value, estimate.low, estimate.high, estimate.bound_low):
                assert x is None or np.isfinite(x)
    within = metrics.bootstrap_within(np.zeros((3, 2, 6)), n=50)
    assert within["J_within"].value is None


def test_bounds_travel_with_the_estimate() -> None:
    cells = entity_cells(40, 0.3, 8)
    found = metrics.bootstrap_cells(cells, n=100, missing_known=4, missing_unknown=2)
    bounds = metrics.rate_bounds(cells.sum(axis=0), 4, 2)
    for name, estimate in found.items():
        assert (estimate.bound_low, estimate.bound_high) == bounds[name]
        assert estimate.missing == 6


def test_within_type_intervals() -> None:
    rng = np.random.default_rng(9)
    entity, kind = np.repeat(np.arange(60), 6), np.tile(np.arange(6), 60)
    known = (rng.random(360) < 0.6).astype(int)
    label = np.where(rng.random(360) < np.where(known == 1, 0.1, 0.6), 2, 0)
    cells = metrics.cluster_cells(known, label, entity, kind)
    assert cells.shape == (60, 6, 6)
    found = metrics.bootstrap_within(cells, n=500)
    slow = metrics.bootstrap(
        metrics.j_within, known, label, kind, clusters=entity, n=500, limits=(-1, 1)
    )
    assert ends(found["J_within"]) == pytest.approx(ends(slow))
    low, _ = ends(found["odds_ratio_within"])
    assert found["odds_ratio_within"].value == pytest.approx(metrics.odds_ratio(known, label, kind))
    assert low > 1


def test_odds_error_of_one_table_is_woolfs() -> None:
    # With one type the error of Robins, Breslow and Greenland is sqrt(1/a + 1/b + 1/c + 1/d).
    cells = np.array([[20.0, 10, 5, 4, 6, 15]])
    expected = np.sqrt(1 / 15 + 1 / 10 + 1 / 5 + 1 / 30)
    assert log_odds_error(cells) == pytest.approx(expected)
    assert log_odds_error(np.array([[3.0, 0, 0, 0, 2, 1]])) is None


def test_share_of_rows() -> None:
    rng = np.random.default_rng(12)
    entity = rng.integers(0, 30, 200)
    hit, tried = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    found = metrics.bootstrap_share("share", hit, tried, entity)
    assert found.name == "share"
    assert found.denominator == tried.sum()
    assert found.numerator == (hit * tried).sum()
    low, high = ends(found)
    assert low < (hit * tried).sum() / tried.sum() < high
    # Two of three, each of another of 30 entities: plain Clopper-Pearson.
    few = metrics.bootstrap_share("few", [1, 1] + [0] * 28, [1] * 3 + [0] * 27, np.arange(30))
    assert ends(few) == pytest.approx(metrics.exact_interval(2, 3))
    assert few.problem == "sparse (2 of 3): exact interval"
    for hit, tried in (([1, 0], [0, 0]), ([], [])):
        none = metrics.bootstrap_share("none", hit, tried, hit)
        assert (none.value, none.low, none.denominator) == (None, None, 0)


def test_difference_of_a_thing_and_itself_is_nothing() -> None:
    cells = entity_cells(30, 0.3, 10)
    for estimate in metrics.bootstrap_cells_difference(cells, cells, n=200).values():
        assert (estimate.value, estimate.low, estimate.high) == (0, 0, 0)
    score, wrong = np.arange(30.0), np.arange(30) % 2
    same = metrics.bootstrap_difference(metrics.auroc, (score, wrong), (score, wrong), n=100)
    assert (same.value, same.low, same.high) == (0, 0, 0)


def test_pairing_makes_a_difference_narrower() -> None:
    rng = np.random.default_rng(11)
    base = rng.random(200)
    better = base + 0.05 + 0.01 * rng.random(200)
    paired = metrics.bootstrap_difference(mean, (better,), (base,), n=400)
    low, high = ends(paired)
    assert 0.05 < low < high < 0.06
    order = rng.permutation(200)
    by_name = metrics.bootstrap_difference(
        mean, (better,), (base[order],), np.arange(200), order, n=400
    )
    assert ends(by_name) == pytest.approx((low, high))
    with pytest.raises(InputError, match="second_clusters"):
        metrics.bootstrap_difference(mean, (better,), (base[:5],))


def test_few_clusters_get_their_lost_variance_back() -> None:
    # Ten values: the resamples' spread is s sqrt(9/10)/sqrt(10), the textbook's s/sqrt(10).
    x = np.random.default_rng(13).normal(0, 1, 10)
    low, high = ends(metrics.bootstrap(mean, x, limits=None, n=20_000))
    half = student_quantile(0.975, 9) * x.std(ddof=1) / np.sqrt(10)
    assert (high - low) / 2 == pytest.approx(half, rel=0.02)


def test_logit_interval_by_hand() -> None:
    # p = .2, error .05, 30 degrees of freedom: logit -1.3863 -+ 2.0423 * .05 / .16
    low, high = intervals.student_interval(0.2, 0.05, 30)
    step = 2.042272 * 0.05 / 0.16
    assert low == pytest.approx(1 / (1 + np.exp(1.386294 + step)), abs=1e-6)
    assert high == pytest.approx(1 / (1 + np.exp(1.386294 - step)), abs=1e-6)
    # On (-1, 1) a J of -.6 is the same point of the scale, its error twice as large.
    low_j, high_j = intervals.student_interval(-0.6, 0.1, 30, (-1.0, 1.0))
    assert (low_j, high_j) == pytest.approx((2 * low - 1, 2 * high - 1))  # type: ignore[operator]


def test_combined_interval_by_hand() -> None:
    # .4 (.2 to .7) minus .1 (.05 to .3): a = .2, b = .2 below; a = .3, b = .05 above.
    parts, limits = (0.4, 0.1), ((0.2, 0.7), (0.05, 0.3))
    low, high = intervals.difference_interval(parts, limits, 0.0)
    assert low == pytest.approx(0.3 - np.sqrt(0.08))
    assert high == pytest.approx(0.3 + np.sqrt(0.0925))
    # Correlated parts move together: .04 + .04 - 2 * .5 * .04 = .04
    low, high = intervals.difference_interval(parts, limits, 0.5)
    assert low == pytest.approx(0.3 - 0.2)
    assert high == pytest.approx(0.3 + np.sqrt(0.0925 - 0.015))


def test_an_error_known_from_elsewhere_is_a_floor() -> None:
    resampled = intervals.Resampled(np.random.default_rng(14).normal(0, 0.1, 500), 50)
    plain = intervals.make_estimate("x", 0.0, resampled, None, 9)
    floored = intervals.make_estimate("x", 0.0, resampled, None, 9, least_error=0.3)
    assert ends(floored)[1] == pytest.approx(0.3 * student_quantile(0.975, 49))
    assert intervals.make_estimate("x", 0.0, resampled, None, 9, 0.01) == plain


def test_a_share_within_one_cluster_has_no_interval() -> None:
    # 30 claims of one text may all move together: an exact interval over 30 would be too small
    found = metrics.bootstrap_share("share", [1, 0, 0] * 10, [1] * 30, [7] * 30)
    assert (found.value, found.low, found.high) == (pytest.approx(1 / 3), None, None)
    assert found.problem == "no interval: a single cluster"
    # a second cluster of which no row counts is none
    lone = metrics.bootstrap_share("share", [1, 0, 1, 0], [1, 1, 0, 0], [7, 7, 8, 8])
    assert lone.value == 0.5
    assert lone.low is None
    two = metrics.bootstrap_share("share", [1, 0, 1, 0], [1, 1, 0, 1], [7, 7, 8, 8])
    assert two.low is not None


def test_a_difference_that_no_resample_moves_has_no_interval() -> None:
    # A perfect score less a constant one is .5 in every resample: no evidence that it is exact.
    wrong = np.repeat([1.0, 0.0], 6)
    found = metrics.bootstrap_difference(
        metrics.auroc, (wrong, wrong), (np.ones(12), wrong), n=100, name="gap"
    )
    assert (found.value, found.low, found.high) == (0.5, None, None)
    assert found.problem == "no interval: every resample gives the same value"
    perfect = metrics.bootstrap(metrics.prr, wrong, wrong, n=100, limits=None)
    assert (perfect.value, perfect.low) == (1.0, None)


def test_perfect_shares_count_clusters_and_not_rows() -> None:
    # 18 of 18 facts of five entities of 6, 3, 3, 3, 3: 18^2 / (36 + 4 * 9) = 4.5 entities.
    entity = np.repeat(np.arange(5), (6, 3, 3, 3, 3))
    assert intervals.effective_number([6, 3, 3, 3, 3]) == pytest.approx(4.5)
    assert intervals.effective_number([0, 4, 0]) == 1
    assert intervals.effective_number([]) == intervals.effective_number([0, 0]) == 0
    for hit in (np.ones(18), np.zeros(18)):
        found = metrics.bootstrap_share("share", hit, np.ones(18), entity, n=200)
        assert ends(found) == pytest.approx(metrics.exact_interval(hit[0] * 4.5, 4.5))
        assert found.problem == f"sparse ({hit.sum():g} of 18): exact interval"
    # the rates of UNCLE's table are such shares
    cells = np.zeros((5, 6))
    cells[:, 0], cells[:, 4] = (6, 3, 3, 3, 3), 2
    rates = metrics.bootstrap_cells(cells, n=200)
    assert ends(rates["KCR"]) == pytest.approx(metrics.exact_interval(4.5, 4.5))
    assert ends(rates["UUR"]) == pytest.approx(metrics.exact_interval(0, 5))
    # entities that stand alone count in full
    alone = metrics.bootstrap_share("share", np.ones(18), np.ones(18), np.arange(18), n=200)
    assert ends(alone) == pytest.approx(metrics.exact_interval(18, 18))


def test_a_value_that_no_resample_moves_has_no_interval() -> None:
    # every entity knows six, tells them all, and hedges nothing of the six that it does not know
    cells = np.tile([6.0, 0, 0, 0, 6, 0], (5, 1))
    found = metrics.bootstrap_cells(cells, n=200)
    for name in ("EA", "FA", "p_known"):
        assert (found[name].value, found[name].low, found[name].high) == (0.5, None, None)
        assert found[name].problem == "no interval: every resample gives the same value"
    constant = metrics.bootstrap(mean, [0.3, 0.3, 0.3], n=50)
    assert (constant.low, constant.problem) == (None, intervals.UNMOVED)
    # neither has a difference of 0 of two things that are not the same
    wrong = np.repeat([1.0, 0.0], 6)
    gap = metrics.bootstrap_difference(metrics.auroc, (wrong, wrong), (2 * wrong, wrong), n=50)
    assert (gap.value, gap.low, gap.problem) == (0, None, intervals.UNMOVED)


def test_beta_on_the_edge_of_its_two_sides() -> None:
    # half of a share of halves: rounding puts both x and 1 - x above their limits
    for a in (1.7, 4.35, 11.6, 24.1):
        assert intervals.beta_cdf(0.5, a, a) == pytest.approx(0.5)
    assert all(0 < intervals.exact_interval(x / 2, x)[0] < 0.5 for x in np.arange(1.0, 40, 0.1))


def test_the_mean_of_two_shares_by_hand() -> None:
    # (.4 (.2 to .7) + .1 (.05 to .3)) / 2: below .2 and .05 from the values, above .3 and .2
    parts, limits = (0.4, 0.1), ((0.2, 0.7), (0.05, 0.3))
    low, high = intervals.mean_interval(parts, limits, 0.0)
    assert low == pytest.approx((0.5 - np.sqrt(0.2**2 + 0.05**2)) / 2)
    assert high == pytest.approx((0.5 + np.sqrt(0.3**2 + 0.2**2)) / 2)
    # shares that move together: their sum spreads more, 2 r a b = .02 below
    low, _ = intervals.mean_interval(parts, limits, 1.0)
    assert low == pytest.approx((0.5 - 0.25) / 2)
    assert intervals.mean_interval((1.0, 1.0), ((0.4, 1.0), (0.4, 1.0)), 0.0)[1] == 1


def test_the_ratio_of_two_shares_by_hand() -> None:
    # .5 (.25 to 1) over .1 (.05 to .2): every end is a factor of 2 away, so 5 / f to 5 f with
    # log f = sqrt(2) log 2
    factor = 2 ** np.sqrt(2)
    low, high = intervals.ratio_interval((0.5, 0.1), ((0.25, 1.0), (0.05, 0.2)), 0.0)
    assert (low, high) == (pytest.approx(5 / factor), pytest.approx(5 * factor))
    # nothing of the first: both ends hold at once
    assert intervals.ratio_interval((0.0, 0.1), ((0.0, 0.3), (0.05, 0.2)), 0.0) == (
        0.0, pytest.approx(6.0)
    )  # fmt: skip
    assert intervals.ratio_interval((0.5, 1.0), ((0.0, 1.0), (0.5, 1.0)), 0.0)[0] == 0
    assert intervals.ratio_interval((0.5, 0.1), ((0.25, 1.0), (0.0, 0.2)), 0.0) == (None, None)


def test_rare_shares_make_composed_rates_wide() -> None:
    # one of sixty facts is unknown, and it is hedged: its share is 1 of 1, known to lie above .025
    cells = np.tile([5.0, 1, 0, 0, 0, 0], (10, 1))
    cells[0] = [4, 1, 0, 0, 0, 1]
    found = metrics.bootstrap_cells(cells, n=200)
    for name in ("balanced_EA", "lift_UA", "F1"):
        low, high = ends(found[name])
        assert low < 0.6 * found[name].value < high, name
    # a lift of 60 is 1 over 1 / 60
    assert found["lift_UA"].value == pytest.approx(60)
    # F1 of q = 1: 2 q / (1 + q) at the ends of q's own interval, .025 to 1
    assert ends(found["F1"]) == (pytest.approx(2 * 0.025 / 1.025), 1)


def test_differences_of_runs_stay_in_their_range() -> None:
    rng = np.random.default_rng(4)
    for seed in range(40):
        known = rng.random((10, 6)) < 0.97
        pair = []
        for rate in (0.2, 0.5):
            hedged = rng.random((10, 6)) < np.where(known, rate, 0.9)
            cell = np.where(known, 0, 3) + 2 * hedged
            pair.append((cell[:, :, None] == np.arange(6)).sum(axis=1).astype(float))
        gaps = metrics.bootstrap_cells_difference(*pair, n=100, seed=seed)
        for name, gap in gaps.items():
            if gap.low is None or name == "lift_UA":
                continue
            most = 2 if name == "J" else 1
            assert -most <= gap.low <= gap.value <= gap.high <= most, name
        j = gaps["J"]
        if j.value is not None and (~known).sum() < 3:  # a handful of unknown facts tells little
            assert j.high - j.low > 0.8


def test_interval_below_an_upper_end() -> None:
    # 1 - x is .2 with error .1 and 30 degrees of freedom: .2 / f and .2 f, f = exp(2.0423 * .5)
    low, high = intervals.student_interval(0.8, 0.1, 30, (-np.inf, 1.0))
    factor = np.exp(2.042272 * 0.5)
    assert (low, high) == (
        pytest.approx(1 - 0.2 * factor, abs=1e-6), pytest.approx(1 - 0.2 / factor, abs=1e-6)
    )  # fmt: skip
    assert intervals.student_interval(1.0, 0.1, 30, (-np.inf, 1.0)) == (None, None)
    rng = np.random.default_rng(16)
    wrong = rng.integers(0, 2, 30)
    score = wrong + rng.normal(0, 0.45, 30)
    rejection = metrics.bootstrap(metrics.prr, score, wrong, n=300, limits=metrics.LIMITS["prr"])
    assert ends(rejection)[1] < 1


def test_an_interval_as_wide_as_its_scale_tells_nothing() -> None:
    wide = Estimate("x", value=0.5, low=0.003, high=0.9999, n=2)
    assert intervals.telling(wide).low is None
    assert intervals.telling(wide).problem == intervals.UNBOUNDED
    assert intervals.telling(wide, (-1.0, 1.0)) == wide
    half = Estimate("x", value=0.5, low=0.2, high=0.9999, n=2)
    assert intervals.telling(half) == half


def test_an_interval_as_wide_as_its_range_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        low, high = intervals.student_interval(0.001, 10.0, 3)
    assert (low, high) == (0.0, 1.0)


# ---- many clusters: random groups


def test_replicates_from_groups_spread_as_the_mean_of_the_groups() -> None:
    # groups 1, 2, 3: variance 1, and of the mean of three 1/3
    replicates = spread_of_groups(0.5, np.array([1.0, 2.0, 3.0]))
    assert replicates.mean() == pytest.approx(0.5)
    assert replicates.std(ddof=1) == pytest.approx(math.sqrt(1 / 3))


def test_clusters_are_dealt_evenly_and_by_the_seed() -> None:
    group = deal(50_001, 3)
    assert {*np.bincount(group, minlength=GROUPS).tolist()} == {250, 251}
    assert (group == deal(50_001, 3)).all()
    assert (group != deal(50_001, 4)).any()


def test_groups_of_many_clusters_give_the_error_that_is_known() -> None:
    """Clusters of two equal rows: the error of a share is that of as many rows as clusters."""
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(MANY), 2)
    hit = np.repeat(rng.random(MANY) < 0.3, 2)
    error = math.sqrt(0.3 * 0.7 / MANY)
    every = np.ones(len(hit), dtype=bool)
    for share in (
        bootstrap_share("share", hit, every, clusters),
        bootstrap_ratio("ratio", hit, every, clusters),
        bootstrap(_weighted_share, hit.astype(float), clusters=clusters),
    ):
        assert share.value == pytest.approx(hit.mean())
        assert share.low is not None
        assert share.high is not None
        # 200 groups tell an error to some 5 %
        assert (share.high - share.low) / 2 / 1.96 == pytest.approx(error, rel=0.15)


def _weighted_share(hit: NDArray[np.float64], weights: Any = None) -> Any:
    assert weights is None, "groups are measured as they are"
    return float(hit.mean())


def test_a_metric_that_some_group_leaves_undefined_is_resampled() -> None:
    wrong = np.zeros(MANY)
    wrong[:30] = 1
    score = np.random.default_rng(0).normal(size=MANY) + wrong
    estimate = bootstrap(auroc, score, wrong, n=20)
    assert estimate.low is not None
    assert estimate.high is not None
    # Hanley and McNeil's error for 30 wrong answers and an AUROC of .76 is some .045
    assert 0.02 < (estimate.high - estimate.low) / 4 < 0.08


def test_a_metric_of_all_rows_and_strata_are_resampled(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    wrong = (rng.random(300) < 0.5).astype(float)
    scores = {name: rng.normal(size=300) + wrong for name in "ab"}
    best = cross_fitted_best(scores, wrong, n=50)
    within = bootstrap_auroc(scores["a"], wrong, np.arange(300) % 3, n=50)
    plain = bootstrap_auroc(scores["a"], wrong, n=50)
    monkeypatch.setattr(intervals, "MANY", 200)
    monkeypatch.setattr(intervals, "GROUPS", 10)
    assert cross_fitted_best(scores, wrong, n=50) == best
    assert bootstrap_auroc(scores["a"], wrong, np.arange(300) % 3, n=50) == within
    assert bootstrap_auroc(scores["a"], wrong, n=50) != plain


def test_resamples_of_a_seed_are_drawn_once_for_all_metrics() -> None:
    drawn = np.concatenate([*resample_weights(70, 30, np.random.default_rng(5))])
    kept = np.concatenate([*intervals._weights(70, 30, 5, row=200_000)])
    assert (kept == drawn).all()
    before = intervals._drawn.cache_info().hits
    hit = np.arange(70) % 2 == 0
    for _ in range(2):
        bootstrap_share("share", hit, np.ones(70, dtype=bool), np.arange(70), n=30, seed=5)
    assert intervals._drawn.cache_info().hits >= before + 2


def test_the_freedom_of_a_mean_is_that_of_the_entities_at_its_far_end() -> None:
    # ten entities alike: all decide
    assert mean_freedom(np.full(10, 0.5), np.ones(10), np.arange(10)) == pytest.approx(9)
    # above 0 they hold 1, 1, 1, 1, 1 and 2: 7^2 / 9 entities, less one; below 1 11^2 / 21
    top = np.array([1.0, 1, 1, 1, 1, 2])
    assert mean_freedom(top, np.full(6, 3.0), np.arange(6)) == pytest.approx(49 / 9 - 1)
    # a single entity is not at 1
    assert mean_freedom(np.r_[np.ones(9), 0.5], np.ones(10), np.arange(10)) == LEAST_FREEDOM

"""Paired differences of scores, Holm's correction, rank flips, means over datasets, sweeps."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sayso import metrics
from sayso.metrics.arrays import whole_counts
from sayso.metrics.compare_scores import _Folded, difference_p
from sayso.metrics.intervals import student_p
from sayso.records import Estimate, InputError


def test_holm_by_hand() -> None:
    # Sorted .01 .02 .03 .04 times 4 3 2 1: .04 .06 .06 .04 -> monotone .04 .06 .06 .06
    found = metrics.holm([0.04, None, 0.01, 0.03, 0.02])
    assert found == pytest.approx([0.06, None, 0.04, 0.06, 0.06])
    assert metrics.holm([0.6, 0.7]) == [1.0, 1.0]
    assert metrics.holm([]) == []


def test_student_p_equals_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    for t, freedom in ((0.0, 5), (1.3, 3), (-2.5, 40), (9.0, 7)):
        expected = 2 * stats.t.sf(abs(t), freedom)
        assert student_p(t, freedom) == pytest.approx(expected, rel=1e-9)


def data(n: int = 400, seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    rng = np.random.default_rng(seed)
    wrong = (rng.random(n) < 0.4).astype(float)
    good = wrong + rng.normal(0, 0.7, n)
    return {"good": good, "same": good * 3 - 1, "blind": rng.normal(0, 1, n)}, wrong


def test_differences_of_scores() -> None:
    scores, wrong = data()
    found = {(d.first, d.second): d for d in metrics.paired_differences(scores, wrong, n=300)}
    assert len(found) == 3
    best = found["good", "blind"]
    expected = (metrics.auroc(scores["good"], wrong) or 0) - (
        metrics.auroc(scores["blind"], wrong) or 0
    )
    assert best.difference.value == pytest.approx(expected)
    assert (best.difference.low or 0) > 0
    assert best.p_holm is not None
    assert best.p is not None
    assert best.p <= best.p_holm < 0.001
    # A monotone transform is the same score: no difference, in no resample.
    same = found["good", "same"]
    assert (same.difference.value, same.difference.low, same.difference.high) == (0, 0, 0)
    assert same.p == 1


def test_pairing_agrees_with_the_paired_bootstrap() -> None:
    scores, wrong = data(seed=1)
    ours = metrics.paired_differences(scores, wrong, pairs=[("good", "blind")], n=200, seed=5)[0]
    theirs = metrics.bootstrap_difference(
        metrics.auroc, (scores["good"], wrong), (scores["blind"], wrong), n=200, seed=5
    )
    assert (ours.difference.value, ours.difference.low, ours.difference.high) == pytest.approx(
        (theirs.value, theirs.low, theirs.high)
    )


def test_rows_missing_on_one_side_leave_both() -> None:
    scores, wrong = data(seed=2)
    scores["good"] = np.where(np.arange(400) < 50, math.nan, scores["good"])
    found = metrics.paired_differences(scores, wrong, pairs=[("good", "blind")], n=100)[0]
    assert found.difference.missing == 50
    assert found.difference.n == 350
    expected = (metrics.auroc(scores["good"][50:], wrong[50:]) or 0) - (
        metrics.auroc(scores["blind"][50:], wrong[50:]) or 0
    )
    assert found.difference.value == pytest.approx(expected)


def test_undefined_differences_say_so() -> None:
    found = metrics.paired_differences({"a": [1, 2], "b": [2, 1]}, [1, 1], n=20)[0]
    assert found.difference.value is None
    assert found.difference.problem
    assert found.p is None
    assert metrics.paired_differences({"a": [], "b": []}, [])[0].difference.value is None
    with pytest.raises(InputError, match="rows"):
        metrics.paired_differences({"a": [1, 2, 3]}, [1, 1])


def test_false_alarms_are_as_rare_as_promised() -> None:
    # Two blind scores, 200 times: p below .05 in about 5 %.
    rng = np.random.default_rng(7)
    alarms = 0
    for seed in range(200):
        wrong = (rng.random(80) < 0.5).astype(float)
        pair = {"a": rng.random(80), "b": rng.random(80)}
        p = metrics.paired_differences(pair, wrong, n=150, seed=seed)[0].p
        alarms += p is not None and p < 0.05
    assert 1 <= alarms <= 21


def test_rank_flips_with_the_answer_metric() -> None:
    # With a genuine signal in the per-token rate: against the truth perplexity beats
    # the sequence probability, against a metric that refuses long right answers it loses.
    rng = np.random.default_rng(0)
    n = 2000
    length = np.maximum(2, np.round(rng.lognormal(1.75, 0.6, n)))
    wrong = (rng.random(n) >= 0.75).astype(float)
    rate = rng.lognormal(0, 0.3, n) * np.exp(0.3 * wrong)
    refused = np.where((wrong == 0) & (length < 6), 0.0, 1.0)
    scores = {"perplexity": rate, "nll": length * rate}
    table = {
        "people": metrics.paired_differences(scores, wrong, n=200),
        "rouge": metrics.paired_differences(scores, refused, n=200),
    }
    (flip,) = metrics.rank_flips(table)
    assert (flip.under, flip.against, flip.clear) == ("people", "rouge", True)
    assert metrics.rank_flips({"people": table["people"], "again": table["people"]}) == []


def test_mean_over_datasets() -> None:
    scores, wrong = data(seed=3)
    group = np.repeat(["trivia", "nq"], 200)
    mean = metrics.averaged(metrics.auroc)
    parts = [metrics.auroc(scores["good"][group == g], wrong[group == g]) or 0 for g in set(group)]
    assert mean(scores["good"], wrong, group) == pytest.approx(sum(parts) / 2)
    estimate = metrics.bootstrap(mean, scores["good"], wrong, group, strata=group, n=200)
    assert estimate.low is not None
    single = metrics.bootstrap(metrics.auroc, scores["good"][:200], wrong[:200], n=200)
    # About sqrt(2) narrower than one dataset's interval.
    width = (estimate.high or 0) - estimate.low
    assert width < 0.85 * ((single.high or 0) - (single.low or 0))
    assert mean([1, 2], [1, 1], ["a", "b"]) is None


def test_thresholds_are_strict_where_the_paper_is() -> None:
    rouge, squad = metrics.THRESHOLDS["rouge_l"], metrics.THRESHOLDS["squad_f1"]
    values = [0.5, 0.500001, 0.49, math.nan]
    assert rouge.correct(values).tolist()[:3] == [0, 1, 0]
    assert squad.correct(values).tolist()[:3] == [1, 1, 0]
    assert np.isnan(rouge.correct(values)[3])


def test_threshold_sweep_by_hand() -> None:
    values, people = [0.9, 0.6, 0.4, 0.2, 0.5], [1, 0, 1, 0, math.nan]
    low, high = metrics.threshold_sweep(
        values, people, {"u": [1, 2, 3, 4, 5]}, thresholds=(0.3, 0.5)
    )
    # > .3 accepts the first three: agreement 3/4, no false negative, one of two false positives.
    assert (low.accepted, low.agreement, low.false_negatives, low.false_positives) == (
        0.75, 0.75, 0, 0.5,
    )  # fmt: skip
    # > .5 accepts the first two: agreement 1/2; kappa 0.
    assert (high.agreement, high.kappa, high.n) == (0.5, 0, 4)
    # u against people: wrong at 2 and 4, right at 1 and 3: 3/4. Against > .3: wrong only at 4: 1.
    assert low.auroc["u"] == 1
    assert low.inflation["u"] == pytest.approx(0.25)


def test_threshold_sweep_of_one_class() -> None:
    (row,) = metrics.threshold_sweep([0.9, 0.8], [1, 1], {"u": [1, 2]}, thresholds=(0.5,))
    assert row.inflation["u"] is None
    assert row.false_positives is None
    assert metrics.threshold_sweep([], [], thresholds=(0.5,))[0].agreement is None


def test_p_of_a_difference_from_its_interval() -> None:
    # Student's t, 10 freedoms: the 97.5 % quantile is 2.228, so an interval that just touches 0
    # has p = .05, and one of half the distance has t = 1.114, p = .291
    touching = Estimate("d", value=0.2, low=0.0, high=0.4)
    assert difference_p(touching, 11) == pytest.approx(0.05, abs=1e-6)
    assert difference_p(Estimate("d", value=0.1, low=-0.1, high=0.3), 11) == pytest.approx(
        0.291, abs=5e-4
    )
    assert difference_p(Estimate("d", value=0.0, low=0.0, high=0.0), 11) == 1
    assert difference_p(Estimate("d", value=0.2), 11) is None
    assert difference_p(touching, 1) is None


def test_two_perfect_scores_are_not_called_equal() -> None:
    wrong = np.repeat([1.0, 0.0], 10)
    scores = {"one": wrong, "other": wrong * 3 + np.arange(20) / 20, "same": wrong * 2}
    found = {(d.first, d.second): d for d in metrics.paired_differences(scores, wrong, n=100)}
    unlike, alike = found["one", "other"], found["one", "same"]
    assert (unlike.difference.value, unlike.difference.low, unlike.p) == (0.0, None, None)
    assert unlike.difference.problem == "no interval: every resample gives the same value"
    assert (alike.difference.low, alike.difference.high, alike.p) == (0, 0, 1)


# ---- the best of many, by cross-fitting


def test_the_best_score_may_have_scores_without_a_usable_row() -> None:
    wrong = np.array([1.0, 0, 1, 0, 1, 0])
    good = np.array([5.0, 0, 6, 1, 4, 2])
    nothing = np.full(6, np.nan)
    assert metrics.cross_fitted_best({"none": nothing, "good": good}, wrong, n=20).value == 1.0
    assert metrics.cross_fitted_best({"good": good}, nothing, n=20).value is None


def test_the_chosen_score_by_hand() -> None:
    # Three entities, each with a wrong and a right answer. A pair of two entities is ranked by what
    # the third one's own pair chooses: entity 0 chooses "a" (1 against 0), 1 "b", 2 "a" (both 1:
    # the first). An entity's own pair is ranked by what the other two's four pairs choose.
    entity = np.array([0, 0, 1, 1, 2, 2])
    wrong = np.array([1.0, 0, 1, 0, 1, 0])
    scores = {
        "a": np.array([5.0, 0, 1, 2, 4, 3]),
        "b": np.array([0.0, 1, 6, 2, 5, 3]),
    }
    found = metrics.cross_fitted_best(scores, wrong, clusters=entity, n=50)
    # 0 and 1 by "a": 5 > 2, 1 > 0. 0 and 2 by "b": 0 < 3, 5 > 1. 1 and 2 by "a": 1 < 3, 4 > 2.
    # Within 0 by "b" (4 of 4 pairs of 1 and 2 in order, "a" 2): 0 < 1. Within 1 by "a" (4 of 4,
    # "b" 2): 1 < 2. Within 2 by "a" (3 of 4, "b" 2): 4 > 3. In order: 2 + 1 + 1 + 0 + 0 + 1.
    assert (found.numerator, found.denominator) == (5, 9)
    assert found.value == pytest.approx(5 / 9)


def test_the_best_of_blind_scores_is_blind() -> None:
    rng = np.random.default_rng(5)
    best, fitted = [], []
    for _ in range(40):
        wrong = (rng.random(60) < 0.4).astype(float)
        scores = {str(n): rng.normal(size=60) for n in range(20)}
        best.append(max(metrics.auroc(s, wrong) or 0 for s in scores.values()))
        fitted.append(metrics.cross_fitted_best(scores, wrong, n=20).value)
    assert np.mean(best) > 0.62  # what the best of twenty looks like
    assert np.mean(fitted) == pytest.approx(0.5, abs=0.03)


def test_the_chosen_score_of_one_that_is_best_everywhere_is_its_auroc() -> None:
    scores, wrong = data(n=120)
    several = {"good": scores["good"], "blind": scores["blind"]}
    unit = np.repeat(np.arange(40), 3)
    found = metrics.cross_fitted_best(several, wrong, clusters=unit, n=100, seed=3)
    plain = metrics.bootstrap_auroc(scores["good"], wrong, clusters=unit, n=100, seed=3)
    for field in ("value", "low", "high", "numerator", "denominator", "n"):
        assert getattr(found, field) == pytest.approx(getattr(plain, field)), field
    kind = np.tile(np.arange(3), 40)
    strata = dict.fromkeys(several, kind)
    found = metrics.cross_fitted_best(several, wrong, strata, clusters=unit, n=100, seed=3)
    plain = metrics.bootstrap_auroc(scores["good"], wrong, kind, clusters=unit, n=100, seed=3)
    for field in ("value", "low", "high", "denominator"):
        assert getattr(found, field) == pytest.approx(getattr(plain, field)), field


def test_choosing_is_the_same_again_and_leaves_out_what_is_missing() -> None:
    scores, wrong = data(n=90, seed=4)
    scores["good"][::7] = np.nan
    one, two = (metrics.cross_fitted_best(scores, wrong, n=50) for _ in range(2))
    assert one == two
    assert one.value is not None
    order = np.random.default_rng(0).permutation(90)
    moved = {name: s[order] for name, s in scores.items()}
    again = metrics.cross_fitted_best(moved, wrong[order], clusters=order, n=50)
    named = metrics.cross_fitted_best(scores, wrong, clusters=np.arange(90), n=50)
    assert again.value == pytest.approx(named.value)


def test_choosing_takes_three_entities_and_both_kinds() -> None:
    scores = {"a": np.arange(4.0), "b": -np.arange(4.0)}
    few = metrics.cross_fitted_best(scores, [1, 0, 1, 0], clusters=[0, 0, 1, 1])
    assert (few.value, few.problem) == (None, "choosing a score needs at least three entities")
    assert metrics.cross_fitted_best(scores, [1, 1, 1, 1]).value is None
    assert metrics.cross_fitted_best({}, [1, 0, 1, 0]).value is None
    perfect = np.repeat([1.0, 0], 6)
    found = metrics.cross_fitted_best({"a": perfect, "b": -perfect}, perfect, n=50)
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(0.025 ** (1 / 6))


def test_the_interval_of_the_best_chooses_anew_in_every_resample() -> None:
    """Of scores that are equally good another one is best in every resample."""
    rng = np.random.default_rng(6)
    unit = np.repeat(np.arange(30), 5)
    wrong = (rng.random(150) < 0.4).astype(float)
    scores = {f"s{i}": rng.normal(size=150) + 0.9 * wrong for i in range(15)}
    found = metrics.cross_fitted_best(scores, wrong, clusters=unit, n=200, seed=3)
    width = found.high - found.low  # type: ignore[operator]
    single = [
        metrics.bootstrap_auroc(score, wrong, clusters=unit, n=200, seed=3)
        for score in scores.values()
    ]
    assert width > np.median([one.high - one.low for one in single])  # type: ignore[operator]
    assert found.value is not None
    assert found.value < max(one.value or 0 for one in single)


def test_pairs_by_fold_are_all_pairs_one_by_one() -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 90))
        score = np.round(rng.random(n) * (3, n / 2, 1e9)[seed % 3])  # large ties, small ones, none
        wrong = (rng.random(n) < 0.4).astype(float)
        wrong[rng.random(n) < 0.1] = np.nan
        strata = rng.integers(0, 3, n) if seed % 2 else np.zeros(n, dtype=int)
        fold = rng.integers(0, 4, n)
        weights = rng.integers(0, 300 if seed > 8 else 4, (n, 2)).astype(float)
        expected = np.zeros((2, 4, 4, 2))
        for i in np.flatnonzero(wrong == 1):
            for j in np.flatnonzero((wrong == 0) & (strata == strata[i])):
                pair = weights[i] * weights[j]
                order = (score[i] > score[j]) + (score[i] == score[j]) / 2
                expected[:, fold[i], fold[j]] += np.stack([order * pair, pair])
        found = _Folded(score, wrong, strata if seed % 2 else None, fold, 4)
        assert np.array_equal(found.by_fold(weights), expected)
        small = whole_counts(weights)
        assert small.dtype == (np.uint8 if weights.max() < 256 else np.float64)
        assert np.array_equal(found.by_fold(small), expected)

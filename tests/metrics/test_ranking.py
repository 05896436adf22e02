"""AUROC, and the metrics of a system that abstains."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from sayso import metrics
from sayso.metrics import intervals
from sayso.metrics.ranking import (
    EQUAL,
    harmonic,
    pairs_of,
    too_few,
)
from sayso.records import InputError


def pairs(score: np.ndarray, wrong: np.ndarray, kind: np.ndarray) -> float:
    """Count pairs one by one: the slow definition."""
    wins = total = 0.0
    for i in np.flatnonzero(wrong == 1):
        for j in np.flatnonzero((wrong == 0) & (kind == kind[i])):
            total += 1
            wins += (score[i] > score[j]) + 0.5 * (score[i] == score[j])
    return wins / total


def test_equals_counting_pairs() -> None:
    rng = np.random.default_rng(0)
    score, kind = rng.integers(0, 6, 80).astype(float), rng.integers(0, 4, 80)
    wrong = (rng.random(80) < 0.4).astype(float)
    assert metrics.auroc(score, wrong) == pytest.approx(pairs(score, wrong, np.zeros(80)))
    assert metrics.within_auroc(score, wrong, kind) == pytest.approx(pairs(score, wrong, kind))


def test_equals_scikit_learn_when_installed() -> None:
    sklearn = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    rng = np.random.default_rng(1)
    score, weights = rng.integers(0, 9, 200), rng.random(200)
    wrong = (rng.random(200) < 0.3).astype(int)
    expected = sklearn.roc_auc_score(wrong, score, sample_weight=weights)
    assert metrics.auroc(score, wrong, weights) == pytest.approx(expected)


def test_missing_scores_are_dropped_and_counted() -> None:
    score, wrong = [1.0, np.nan, 2.0, 3.0], [0, 1, 1, np.nan]
    assert metrics.auroc(score, wrong) == 1.0
    assert metrics.missing_scores(score) == 1
    assert metrics.auroc([np.nan, np.nan], [0, 1]) is None
    assert np.isnan(metrics.auroc([np.nan], [0], np.ones((3, 1)))).all()  # type: ignore[arg-type]


def test_infinite_scores_are_ordered() -> None:
    assert metrics.auroc([-np.inf, 0.0, np.inf], [0, 0, 1]) == 1.0


def test_type_priors_are_not_knowledge() -> None:
    # The score knows the types' error rates and nothing else: high pooled, chance within.
    rng = np.random.default_rng(2)
    error = np.linspace(0.02, 0.98, 8)
    kind = rng.integers(0, 8, 6000)
    wrong = (rng.random(6000) < error[kind]).astype(float)
    score = error[kind] + 0.01 * rng.random(6000)
    pooled, within = metrics.auroc(score, wrong), metrics.within_auroc(score, wrong, kind)
    assert pooled is not None
    assert pooled > 0.8
    estimate = metrics.bootstrap(metrics.within_auroc, score, wrong, kind, n=200)
    assert estimate.value == within
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.low < 0.5 < estimate.high


def test_weightings_of_types() -> None:
    # Type a: 1 wrong x 1 right, concordant (AUROC 1). Type b: 2 x 2, all discordant (AUROC 0).
    kind = np.array(["a", "a", "b", "b", "b", "b"])
    wrong = np.array([1, 0, 1, 1, 0, 0])
    score = np.array([2.0, 1, 1, 1, 2, 2])
    assert metrics.within_auroc(score, wrong, kind) == pytest.approx(1 / 5)
    # Mantel-Haenszel weights 1*1/2 and 2*2/4: .5 / 1.5
    found = metrics.within_auroc(score, wrong, kind, weighting="mantel_haenszel")
    assert found == pytest.approx(1 / 3)
    # type a as before; type b 1 wrong (below) x 3 right: 1/2 against 1*3/4, so .5 / 1.25
    some = ([2.0, 1, 1, 2, 2, 2], [1, 0, 1, 0, 0, 0], list("aabbbb"))
    assert metrics.within_auroc(*some, weighting="mantel_haenszel") == pytest.approx(0.4)


def test_a_type_with_one_class_does_not_enter() -> None:
    kind, wrong, score = ["a", "a", "b"], [1, 0, 1], [2.0, 1.0, 0.0]
    for weighting in ("pairs", "mantel_haenszel"):
        found = metrics.within_auroc(score, wrong, kind, None, weighting)  # type: ignore[arg-type]
        assert found == 1.0
    assert metrics.within_auroc([1.0, 2.0], [0, 1], ["a", "b"]) is None


# ---- Risk metrics: hand-worked values, ties, one class, missing and infinite scores


SCORE = [1.0, 2.0, 2.0, 3.0]
WRONG = [0, 0, 1, 1]
RANKED = list(metrics.SCORE_METRICS.items())


def test_auprc_by_hand() -> None:
    # From the least certain: {3}: precision 1, recall 1/2. {2, 2}: precision 2/3, recall 1.
    # {1}: no new recall. 1/2 * 1 + 1/2 * 2/3 = 5/6.
    assert metrics.auprc(SCORE, WRONG) == pytest.approx(5 / 6)


def test_auprc_equals_scikit_learn() -> None:
    sklearn = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    rng = np.random.default_rng(0)
    score, weights = rng.integers(0, 9, 200), rng.random(200)
    wrong = (rng.random(200) < 0.3).astype(int)
    expected = sklearn.average_precision_score(wrong, score, sample_weight=weights)
    assert metrics.auprc(score, wrong, weights) == pytest.approx(expected)


def test_auprc_of_a_blind_score_is_the_share_of_wrong_answers() -> None:
    assert metrics.auprc(np.zeros(8), [0, 0, 0, 0, 0, 1, 1, 1]) == pytest.approx(3 / 8)


def test_aurc_by_hand() -> None:
    # Most certain first: risk among 1 = 0; among 2: half a wrong one expected in the tie, 1/4;
    # among 3: 1/3; among 4: 1/2. Mean = (0 + 1/4 + 1/3 + 1/2)/4 = 13/48.
    assert metrics.aurc(SCORE, WRONG) == pytest.approx(13 / 48)


def test_aurc_of_ties_is_the_mean_over_their_orders() -> None:
    score, wrong = [1, 1, 1, 2, 2], [1, 0, 0, 1, 0]
    orders = [
        (*first, *second)
        for first in itertools.permutations(wrong[:3])
        for second in itertools.permutations(wrong[3:])
    ]
    each = [np.mean(np.cumsum(o) / np.arange(1, 6)) for o in orders]
    assert metrics.aurc(score, wrong) == pytest.approx(np.mean(each))


def test_prr_by_hand() -> None:
    # Oracle: 0, 0, 1/3, 1/2 -> 5/24. Random: 1/2. (1/2 - 13/48)/(1/2 - 5/24) = 11/14.
    assert metrics.prr(SCORE, WRONG) == pytest.approx(11 / 14)
    assert metrics.prr([1, 2, 3, 4], [0, 0, 1, 1]) == pytest.approx(1)
    assert metrics.prr([7, 7, 7, 7], [0, 0, 1, 1]) == pytest.approx(0)
    assert (metrics.prr([4, 3, 2, 1], [0, 0, 1, 1]) or 0) < 0


def test_prr_of_a_continuous_loss() -> None:
    # Losses .2, .6, in the right order: the oracle's order, so 1; reversed:
    # random .4, oracle (.2 + .4)/2 = .3, area (.6 + .4)/2 = .5: (.4 - .5)/(.4 - .3) = -1.
    assert metrics.prr([1, 2], [0.2, 0.6]) == pytest.approx(1)
    assert metrics.prr([2, 1], [0.2, 0.6]) == pytest.approx(-1)
    assert metrics.prr([2, 1], [0.6, 0.6]) is None


def test_prr_leaves_rows_without_a_score_out_of_the_oracle_too() -> None:
    score, wrong = [*SCORE, math.nan], [*WRONG, 1]
    assert metrics.prr(score, wrong) == pytest.approx(11 / 14)


def aurac_slow(score: Any, wrong: Any) -> float:
    score, right = np.asarray(score, float), 1 - np.asarray(wrong, float)
    shares = np.linspace(0.1, 1, 20)
    kept = [right[score <= np.quantile(score, q)].mean() for q in shares]
    return float(np.sum(kept) * (shares[1] - shares[0]))


def test_aurac_equals_its_definition() -> None:
    rng = np.random.default_rng(1)
    for n in (1, 2, 7, 40):
        score, wrong = rng.integers(0, 12, n), (rng.random(n) < 0.5).astype(int)
        assert metrics.aurac(score, wrong, "official") == pytest.approx(aurac_slow(score, wrong))
    weights = rng.integers(0, 4, 40)
    again = np.repeat(np.arange(40), weights)
    value = metrics.aurac(score, wrong, "official", weights)
    assert value == pytest.approx(aurac_slow(score[again], wrong[again]))


def test_aurac_kinds_of_perfect_answers() -> None:
    found = [metrics.aurac(SCORE, [0, 0, 0, 0], kind) for kind in ("normalised", "trapezoid")]  # type: ignore[arg-type]
    assert found == pytest.approx([1.0, 0.9])
    with pytest.raises(InputError, match="kind of AURAC"):
        metrics.aurac(SCORE, WRONG, "area")  # type: ignore[arg-type]


def test_risk_coverage_points() -> None:
    curve = metrics.risk_coverage(SCORE, WRONG)
    assert curve.coverage.tolist() == pytest.approx([0.25, 0.75, 1.0])
    assert curve.risk.tolist() == pytest.approx([0, 1 / 3, 1 / 2])
    assert curve.threshold.tolist() == [1, 2, 3]
    assert len(metrics.risk_coverage([], []).risk) == 0


def test_accuracy_at_coverage() -> None:
    # Half of 4 rows: the first, and one of the two tied, of which half are wrong: 1.5/2.
    assert metrics.accuracy_at_coverage(SCORE, WRONG, coverage=0.5) == pytest.approx(0.75)
    assert metrics.accuracy_at_coverage(SCORE, WRONG, coverage=1) == pytest.approx(0.5)
    with pytest.raises(InputError, match="coverage"):
        metrics.accuracy_at_coverage(SCORE, WRONG, coverage=0)


def test_utility_at_penalties() -> None:
    # Answer up to 1: gain 1. Up to 2: 2 - c. Up to 3: 2 - 2c. Best over 4 rows:
    # c=0: 2/4; c=1: 1/4 (two ways); c=3 and 9: 1/4.
    assert list(metrics.utilities(SCORE, WRONG).values()) == pytest.approx([0.5, 0.25, 0.25, 0.25])
    assert metrics.selective_utility(SCORE, WRONG, None, 3, threshold=2.5) == pytest.approx(-1 / 4)
    assert metrics.selective_utility(SCORE, WRONG, None, 3, threshold=0) == 0
    assert (
        metrics.fit_threshold(SCORE, WRONG, 1) == 2
    )  # of two equally good, the one answering more
    assert metrics.fit_threshold(SCORE, WRONG, 3) == 1
    assert metrics.fit_threshold([1, 2], [1, 1], 3) is None
    assert metrics.selective_utility([1, 2], [1, 1], None, 3) == 0
    with pytest.raises(InputError, match="penalty"):
        metrics.selective_utility(SCORE, WRONG, None, -1)


def test_harmonic_numbers() -> None:
    exact = [sum(1 / i for i in range(1, k + 1)) for k in range(60)]
    assert harmonic(np.arange(60)) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize(("name", "metric"), RANKED)
def test_infinite_scores_are_ordered_by_abstention_too(name: str, metric: Any) -> None:
    assert metric([-np.inf, 0, 1, np.inf], WRONG) == metric([-5, 0, 1, 9], WRONG)


@pytest.mark.parametrize(("name", "metric"), RANKED)
def test_rows_without_score_or_class_are_left_out(name: str, metric: Any) -> None:
    score, wrong = [*SCORE, math.nan, 0.0], [*WRONG, 1, math.nan]
    assert metric(score, wrong) == pytest.approx(metric(SCORE, WRONG))
    assert metric([math.nan], [1]) is None
    assert np.isnan(metric([math.nan], [1], weights=np.ones((3, 1)))).all()


@pytest.mark.parametrize(("name", "metric"), RANKED)
def test_one_class(name: str, metric: Any) -> None:
    for wrong in ([0, 0, 0, 0], [1, 1, 1, 1]):
        value = metric(SCORE, wrong)
        assert (value is None) == (name in ("auroc", "auprc", "prr"))


@pytest.mark.parametrize(("name", "metric"), RANKED)
def test_a_better_score_is_never_worse(name: str, metric: Any) -> None:
    wrong = np.array([0] * 12 + [1] * 8)
    best, worst = metric(wrong, wrong), metric(1 - wrong, wrong)
    blind = metric(np.zeros(20), wrong)
    order = [worst, blind, best]
    assert order == sorted(order, reverse=name == "aurc")
    assert best != worst


@pytest.mark.parametrize("name", [k for k in metrics.SCORE_METRICS if k != "auroc"])
def test_classes_that_are_none_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"classes|losses"):
        metrics.SCORE_METRICS[name](SCORE, [0, 1, 2, 3])
    with pytest.raises(InputError, match="length"):
        metrics.SCORE_METRICS[name](SCORE, [0, 1])


def test_bootstrap_of_every_metric_is_reproducible() -> None:
    rng = np.random.default_rng(3)
    score, wrong = rng.random(60), (rng.random(60) < 0.5).astype(float)
    domain = np.repeat([0, 1], 30)
    entity = np.repeat(np.arange(20), 3)
    settings: dict[str, Any] = {"clusters": entity, "strata": domain, "n": 100, "seed": 4}
    for name, metric in metrics.SCORE_METRICS.items():
        limits = metrics.LIMITS.get(name, (0.0, 1.0))
        one, two = (
            metrics.bootstrap(metric, score, wrong, limits=limits, **settings) for _ in range(2)
        )
        assert one == two
        assert one.low is not None
        assert one.value is not None
        assert one.low <= one.value <= (one.high or 0)


# ---- the interval of an AUROC, at the ends of its range too


def test_a_perfect_auroc_has_the_exact_interval_of_its_independent_pairs() -> None:
    # 8 wrong above 12 right: 96 pairs, of which 8 share no answer. Clopper-Pearson for 8 of 8:
    # .025 ** (1/8) = .6306.
    wrong = np.repeat([1.0, 0.0], [8, 12])
    score = np.r_[np.arange(20, 28), np.arange(12)].astype(float)
    found = metrics.bootstrap_auroc(score, wrong, n=200)
    assert (found.value, found.numerator, found.denominator, found.n) == (1.0, 96, 96, 20)
    assert found.low == pytest.approx(0.025 ** (1 / 8))
    assert found.high == 1.0
    assert found.problem == "all 96 pairs in order: exact interval of 8 of them"
    turned = metrics.bootstrap_auroc(-score, wrong, n=200)
    assert (turned.value, turned.low, turned.numerator) == (0.0, 0.0, 0)
    assert turned.high == pytest.approx(1 - 0.025 ** (1 / 8))


def test_answers_of_one_entity_count_once_at_the_end_of_the_range() -> None:
    # 4 entities with 3 wrong and 3 right answers each: 144 pairs, and each entity's wrong (or
    # right) answers are in 36 of them: 144^2 / (4 * 36^2) = 4 independent pairs.
    entity = np.repeat(np.arange(4), 6)
    wrong = np.tile([1.0, 1, 1, 0, 0, 0], 4)
    found = metrics.bootstrap_auroc(wrong * 5 + np.arange(24) / 24, wrong, clusters=entity, n=200)
    assert (found.value, found.denominator) == (1.0, 144)
    assert found.low == pytest.approx(0.025 ** (1 / 4))
    alone = metrics.bootstrap_auroc(wrong, wrong, clusters=np.zeros(24), n=200)
    assert (alone.low, alone.problem) == (None, "no interval: a single cluster")


def test_pairs_within_types_are_counted_by_hand() -> None:
    # Type a: 1 wrong x 3 right = 3 pairs; type b: 2 x 2 = 4 pairs; type c has one class. The wrong
    # answers are in 3, 2 and 2 of the 7 pairs: worth 49/17; the right ones in 1, 1, 1, 2, 2: 49/11.
    kind = np.array(list("aaaabbbbcc"))
    wrong = np.array([1.0, 0, 0, 0, 1, 1, 0, 0, 1, 1])
    held = pairs_of(wrong, kind)
    assert (held.total, held.wrong, held.right) == (7, 3, 5)
    assert held.independent == pytest.approx(49 / 17)
    assert pairs_of(np.array([1.0, np.nan])) == (0, 0, 0, 0.0)
    assert pairs_of(np.zeros(0)) == (0, 0, 0, 0.0)


def test_one_more_answer_at_random_stands_beside_those_that_are_seen() -> None:
    """By hand, of m answers with mean a and error e: the lower end is that of m + 1 answers."""
    rng = np.random.default_rng(3)
    wrong, unit = (rng.random(120) < 0.4).astype(float), rng.integers(0, 30, 120)
    score, kind = wrong + rng.normal(size=120), rng.integers(0, 4, 120)
    score[:5] = np.nan
    for strata in (None, kind):
        metric, more = (metrics.auroc, ()) if strata is None else (metrics.within_auroc, (kind,))
        found = metrics.bootstrap_auroc(score, wrong, strata, clusters=unit, n=200)
        drawn = intervals.replicates_of(metric, (score, wrong, *more), unit, 200)
        a, m = found.value, pairs_of(np.where(np.isnan(score), np.nan, wrong), strata, unit)[3]
        assert a is not None
        error = drawn.std(ddof=1) * (30 / 29) ** 0.5
        spread = (m * error) ** 2 + 1 / 12 + (a - 0.5) ** 2
        low, _ = intervals.student_interval((m * a + 0.5) / (m + 1), spread**0.5 / (m + 1), m)
        _, high = intervals.student_interval(a, error, m)
        assert (found.low, found.high) == pytest.approx((low, high))
        assert found.numerator == pytest.approx(a * found.denominator)  # type: ignore[operator]


#: what is added to the score of an answer, right or wrong: rarely it is far off
HEAVY = {
    "t2": lambda rng, wrong: rng.standard_t(2, len(wrong)) + 2 * wrong,
    "surely wrong": lambda rng, wrong: (
        rng.normal(size=len(wrong)) + np.where(rng.random(len(wrong)) < 0.1, -4, 3) * wrong
    ),
    "ties": lambda rng, wrong: rng.binomial(4, np.where(wrong > 0, 0.5, 0.12)) * 1.0,
}


@pytest.mark.parametrize("law", HEAVY)
def test_intervals_of_heavy_tailed_scores_hold_where_few_answers_are_wrong(law: str) -> None:
    """4 % of 300 answers are wrong; before one more was added, PRR held in far fewer worlds."""
    many = (np.random.default_rng(0).random(200_000) < 0.04).astype(float)
    scored = HEAVY[law](np.random.default_rng(1), many)
    pairs = (
        (metrics.bootstrap_auroc, metrics.auroc(scored, many)),
        (metrics.bootstrap_prr, metrics.prr(scored, many)),
    )
    rng, held, printed = np.random.default_rng(2), np.zeros(2), np.zeros(2)
    for trial in range(150):
        wrong = (rng.random(300) < 0.04).astype(float)
        score = HEAVY[law](rng, wrong)
        if wrong.sum() < 5:
            continue
        for place, (interval, truth) in enumerate(pairs):
            found = interval(score, wrong, n=100, seed=trial)
            if found.low is not None:
                printed[place] += 1
                held[place] += found.low <= truth <= found.high
    assert (printed > 40).all()
    assert (held / printed >= 0.92).all()


def test_a_constant_score_has_no_interval_and_one_class_no_value() -> None:
    flat = metrics.bootstrap_auroc(np.ones(30), np.repeat([1.0, 0], 15), n=200)
    assert (flat.value, flat.low, flat.high, flat.problem) == (0.5, None, None, EQUAL)
    one = metrics.bootstrap_auroc(np.arange(30.0), np.zeros(30), n=200)
    assert (one.value, one.low, one.denominator) == (None, None, 0)
    assert metrics.bootstrap_auroc(np.full(4, np.nan), [1, 1, 0, 0], n=200).value is None


def test_fewer_than_five_of_a_kind_are_no_ranking() -> None:
    assert too_few(38, 1) == "1 right of 39 answers: a ranking needs at least 5 of each kind"
    assert too_few(0, 60) == "all 60 answers are correct: a ranking needs at least 5 of each kind"
    assert too_few(4, 5) == "4 wrong of 9 answers: a ranking needs at least 5 of each kind"
    assert too_few(5, 5) is None
    assert too_few(0, 0) == "no answer has a verdict"


@pytest.mark.parametrize("law", ["masses", "normal", "entities"])
def test_intervals_hold_where_many_samples_are_perfect(law: str) -> None:
    """Strong scores and few answers: a share of samples has all pairs in order.

    Masses: a wrong answer scores below all right ones with probability .1, else above, so that
    AUROC is .9; no law of that AUROC leaves more samples perfect. Normal: two normal laws 1.8
    apart. Entities: the same, where entities shift all of their six answers.
    """
    rng = np.random.default_rng([7, ["masses", "normal", "entities"].index(law)])
    truth, held, perfect, trials = {"masses": 0.9, "normal": 0.8985}.get(law, 0.0), 0, 0, 400
    if law == "entities":
        apart = rng.normal(5, np.sqrt(2 + 2 * 0.5), 200_000)
        truth = float((apart > 0).mean())
    for trial in range(trials):
        unit = np.repeat(np.arange(10), 6 if law == "entities" else 2)
        wrong = (rng.random(len(unit)) < 0.5).astype(float)
        if law == "masses":
            score = wrong * np.where(rng.random(len(unit)) < 0.1, -1.0, 1.0)
            unit = np.arange(len(unit))
        elif law == "normal":
            score = rng.normal(size=len(unit)) + 1.8 * wrong
            unit = np.arange(len(unit))
        else:
            score = rng.normal(size=60) + 5 * wrong + rng.normal(0, 0.5**0.5, 10)[unit]
        found = metrics.bootstrap_auroc(score, wrong, clusters=unit, n=200, seed=trial)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
        perfect += found.value == 1.0
    assert held / trials >= 0.93
    assert perfect > 20


def test_a_perfect_ranking_is_1_and_not_a_hair_more() -> None:
    # 20 accuracies of 1 are .9000000000000001, over .9 are 1.0000000000000002
    wrong = np.repeat([0.0, 1.0], [7, 3])
    assert all(
        value <= 1
        for n in range(2, 40)
        for value in (
            metrics.aurac(np.arange(float(n)), np.zeros(n)),
            metrics.prr(np.arange(float(n)), (np.arange(n) >= n - 1).astype(float)),
            metrics.cmfg_star(np.ones(n), np.linspace(0, 1, n)),
            metrics.mfg(np.ones(n), weights=np.linspace(0.1, 0.7, n)),
        )
    )
    assert metrics.aurac(wrong, np.zeros(10)) == 1


def _worlds() -> Any:
    """Scores with ties, gaps and infinite values; one class, no row, clusters."""
    for seed in range(24):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(0, 40))
        score = rng.random(n) if seed % 3 else rng.integers(0, 4, n).astype(float)
        wrong = (rng.random(n) < (0.0, 0.1, 0.4, 1.0)[seed % 4]).astype(float)
        if n and seed % 5 == 0:
            score[rng.random(n) < 0.2], wrong[0], score[-1] = np.nan, np.nan, np.inf
        yield seed, score, wrong, rng.integers(0, max(2, n // 3), n) if seed % 2 else None


def test_metrics_of_one_ranking_are_those_of_each_alone() -> None:
    for seed, score, wrong, clusters in _worlds():
        found = metrics.bootstrap_ranking(score, wrong, clusters, 60, 25, seed)
        same: dict[str, Any] = {"clusters": clusters, "seed": seed}
        assert found.auroc == metrics.bootstrap_auroc(score, wrong, n=60, **same)
        assert found.prr == metrics.bootstrap_prr(score, wrong, n=25, **same)
        for name, metric in (("aurac", metrics.aurac), ("accuracy", metrics.accuracy_at_coverage)):
            assert getattr(found, name) == metrics.bootstrap(metric, score, wrong, n=25, **same)


def test_resamples_are_weights_of_rows_that_are_there_as_often() -> None:
    """A resample of weights is the metric of rows repeated as often, which takes another way."""
    for _seed, score, wrong, _ in _worlds():
        rng = np.random.default_rng(len(score))
        weights = rng.integers(0, 4, (6, len(score))).astype(float)
        for metric in (metrics.auroc, metrics.prr, metrics.aurac, metrics.accuracy_at_coverage):
            drawn = np.asarray(metric(score, wrong, weights=weights))  # type: ignore[operator]
            for value, row in zip(drawn, weights, strict=True):
                rows = np.repeat(np.arange(len(score)), row.astype(int))
                alone = metric(score[rows], wrong[rows])  # type: ignore[operator]
                assert (alone is None) == math.isnan(value)
                assert alone is None or value == pytest.approx(alone, abs=1e-12)


def test_pearson_by_hand() -> None:
    # deviations -1 0 1 and -7/3 -1/3 8/3: 5 / sqrt(2 * 114/9)
    found = metrics.pearson([1, 2, 3, np.nan], [2, 4, 7, 1])
    assert found == pytest.approx(5 / math.sqrt(2 * 114 / 9))
    assert metrics.pearson([1, 2], [3, 3]) is metrics.pearson([], []) is None
    assert metrics.pearson([0.1] * 30, range(30)) is None
    assert metrics.pearson([1e9, 1e9 + 1, 1e9 + 2], [2, 4, 7]) == pytest.approx(found)

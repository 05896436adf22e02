"""What holds for every metric: invariants, and messages on mistakes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sayso import metrics
from sayso.metrics import agreement
from sayso.records import InputError

N = 150
Statistic = Callable[..., Any]
Data = tuple[np.ndarray, ...]


def scored(seed: int) -> Data:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 12, N).astype(float), (rng.random(N) < 0.4).astype(float)


def stated(seed: int) -> Data:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 21, N) / 20, (rng.random(N) < 0.6).astype(float)


def three(seed: int) -> Data:
    score, wrong = scored(seed)
    return score, wrong, np.random.default_rng([seed, 1]).integers(1, 9, N).astype(float)


def labeled(seed: int) -> Data:
    rng = np.random.default_rng(seed)
    return rng.integers(-1, 2, N), rng.integers(-1, 3, N), rng.integers(0, 4, N)


def rate(name: str) -> Statistic:
    def metric(known: Any, label: Any, kind: Any, weights: Any = None) -> Any:
        value = metrics.cell_rates(metrics.count_cells(known, label, weights))[name]
        return value if np.ndim(value) else float(value)

    return metric


def kappa_rows(known: Any, label: Any, kind: Any, weights: Any = None) -> Any:
    return metrics.kappa(known, label, weights)


def agreement_rows(known: Any, label: Any, kind: Any, weights: Any = None) -> Any:
    return agreement(known, label, weights)


def in_columns(known: Any, label: Any, kind: Any) -> np.ndarray:
    columns = np.stack([known, label, kind], axis=1).astype(float)
    return np.where(columns < 0, np.nan, columns)


def alpha_rows(known: Any, label: Any, kind: Any, weights: Any = None) -> Any:
    return metrics.krippendorff_alpha(in_columns(known, label, kind), weights=weights)


def interval_rows(known: Any, label: Any, kind: Any, weights: Any = None) -> Any:
    return metrics.krippendorff_alpha(in_columns(known, label, kind), "interval", weights)


def ac1_rows(known: Any, label: Any, kind: Any, weights: Any = None) -> Any:
    return metrics.gwet_ac1(in_columns(known, label, kind), weights, classes=4)


def pooled(known: Any, label: Any, kind: Any, weights: Any = None) -> Any:
    return metrics.j_pooled(known, label, weights)


def policy(known: Any, label: Any, kind: Any, weights: Any = None) -> Any:
    return metrics.policy_j(np.asarray(kind) % 3 + 0.0, known, label, kind, weights, rate="pooled")


def unspoken(known: Any, label: Any, kind: Any, weights: Any = None) -> Any:
    score = np.asarray(known) * 0.5 + np.asarray(label)
    return metrics.unspoken_knowledge(score, known, label, kind, weights)


def hedges(known: Any, label: Any, kind: Any, weights: Any = None) -> Any:
    return metrics.hedge_precision(np.asarray(label) == 2, known, weights)


def within_score(uncertainty: Any, incorrect: Any, weights: Any = None) -> Any:
    kind = (np.asarray(uncertainty) * 7 + np.asarray(incorrect)).astype(int) % 3
    return metrics.within_auroc(uncertainty, incorrect, kind, weights)


def spread_score(uncertainty: Any, refused: Any, length: Any, weights: Any = None) -> Any:
    wrong = np.asarray(refused) * (np.asarray(uncertainty) > 6)
    return metrics.spread_auroc(uncertainty, refused, wrong, np.asarray(length) // 3, weights)


def fixed_strata(uncertainty: Any, wrong: Any, length: Any, weights: Any = None) -> Any:
    # The strata of an analysis are cut once, on all of its rows.
    return metrics.within_auroc(uncertainty, wrong, np.asarray(length) // 3, weights)


def abstained(known: Any, label: Any, kind: Any, weights: Any = None) -> Any:
    return metrics.abstention_gap(np.asarray(label) == 2, np.asarray(known) == 0, weights)


def abstained_within(known: Any, label: Any, kind: Any, weights: Any = None) -> Any:
    args = np.asarray(label) == 2, np.asarray(known) == 0, kind
    return metrics.abstention_gap_within(*args, weights)


def worth(known: Any, label: Any, kind: Any, weights: Any = None) -> Any:
    outcome = np.clip(np.asarray(label), -1, 1)
    return metrics.confidence_target_utility(outcome, 0.75, weights)


def slope(score: Any, refused: Any, length: Any, weights: Any = None) -> Any:
    return metrics.false_negative_slope(refused, length, weights)


def linear(score: Any, refused: Any, length: Any, weights: Any = None) -> Any:
    return metrics.pearson(score, length, weights)


def correlation(score: Any, refused: Any, length: Any, weights: Any = None) -> Any:
    return metrics.spearman(score, length, weights)


LENGTHS: dict[str, Statistic] = {
    "spread_auroc": spread_score,
    "strata_auroc": fixed_strata,
    "residual_auroc": metrics.residual_auroc,
    "false_negative_slope": slope,
    "spearman": correlation,
    "pearson": linear,
}
SCORED: dict[str, Statistic] = {**metrics.SCORE_METRICS, "within_auroc": within_score}
PROBABLE: dict[str, Statistic] = metrics.PROBABILITY_METRICS
LABELED: dict[str, Statistic] = {
    **{name: rate(name) for name in metrics.RATES},
    "j_pooled": pooled,
    "j_within": metrics.j_within,
    "odds_ratio": metrics.odds_ratio,
    "kappa": kappa_rows,
    "agreement": agreement_rows,
    "krippendorff_alpha": alpha_rows,
    "gwet_ac1": ac1_rows,
    "policy_j": policy,
    "unspoken": unspoken,
    "hedge_precision": hedges,
    "abstention_gap": abstained,
    "abstention_gap_within": abstained_within,
    "confidence_target_utility": worth,
}
COUNTED = [{**SCORED, **PROBABLE, **LABELED}[name] for name in metrics.COUNTED]
COUNTED.append(interval_rows)
ALL = [pytest.param(f, scored, id=k) for k, f in SCORED.items()]
ALL += [pytest.param(f, stated, id=k) for k, f in PROBABLE.items()]
ALL += [pytest.param(f, three, id=k) for k, f in LENGTHS.items()]
ALL += [pytest.param(f, labeled, id=k) for k, f in LABELED.items()]
ALL.append(pytest.param(interval_rows, labeled, id="krippendorff_alpha_interval"))


@pytest.mark.parametrize(("metric", "data"), ALL)
def test_row_order_does_not_matter(metric: Statistic, data: Callable[[int], Data]) -> None:
    arrays = data(0)
    order = np.random.default_rng(1).permutation(N)
    assert metric(*(a[order] for a in arrays)) == pytest.approx(metric(*arrays))


@pytest.mark.parametrize(("metric", "data"), ALL)
def test_weights_are_repetitions(metric: Statistic, data: Callable[[int], Data]) -> None:
    arrays = data(2)
    weights = np.random.default_rng(3).integers(0, 4, N)
    again = np.repeat(np.arange(N), weights)
    assert metric(*arrays, weights=weights) == pytest.approx(metric(*(a[again] for a in arrays)))
    assert metric(*arrays, weights=np.ones(N)) == pytest.approx(metric(*arrays))
    if metric not in COUNTED:
        assert metric(*arrays, weights=np.full(N, 2.5)) == pytest.approx(metric(*arrays))


@pytest.mark.parametrize(("metric", "data"), ALL)
def test_many_weightings_equal_one_by_one(metric: Statistic, data: Callable[[int], Data]) -> None:
    arrays = data(4)
    weights = np.random.default_rng(5).integers(0, 3, (20, N)).astype(float)
    weights[7] = 0  # nothing drawn: undefined, NaN
    together = metric(*arrays, weights=weights)
    assert together.shape == (20,)
    assert np.isnan(together[7])
    for row, value in zip(weights, together, strict=True):
        single = metric(*arrays, weights=row)
        assert (np.nan if single is None else single) == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize(("metric", "data"), ALL)
def test_nothing_is_undefined(metric: Statistic, data: Callable[[int], Data]) -> None:
    value = metric(*(a[:0] for a in data(6)))
    assert value is None or np.isnan(value)


@pytest.mark.parametrize("name", metrics.SCORE_METRICS)
def test_monotone_transforms_change_nothing(name: str) -> None:
    score, wrong = scored(7)
    metric = metrics.SCORE_METRICS[name]
    for transform in (np.exp, np.cbrt, lambda x: 3 * x - 8):
        assert metric(transform(score), wrong) == pytest.approx(metric(score, wrong))


def test_negation_mirrors() -> None:
    score, wrong = scored(8)
    kind = np.arange(N) % 5
    assert metrics.auroc(-score, wrong) == pytest.approx(1 - (metrics.auroc(score, wrong) or 0))
    there = metrics.within_auroc(score, wrong, kind)
    assert metrics.within_auroc(-score, wrong, kind) == pytest.approx(1 - (there or 0))
    assert metrics.auroc(-score, 1 - wrong) == pytest.approx(metrics.auroc(score, wrong))


def test_a_constant_score_says_nothing() -> None:
    _, wrong = scored(9)
    assert metrics.auroc(np.full(N, 3.0), wrong) == 0.5
    assert metrics.within_auroc(np.full(N, 3.0), wrong, np.arange(N) % 5) == 0.5
    known, label, kind = labeled(9)
    assert metrics.policy_j(np.zeros(N), known, label, kind) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", ["j_pooled", "j_within", "J", "odds_ratio"])
def test_exchanging_known_and_unknown_turns_the_sign(name: str) -> None:
    known, label, kind = labeled(10)
    swapped = np.where(known >= 0, 1 - known, -1)
    here, there = LABELED[name](known, label, kind), LABELED[name](swapped, label, kind)
    assert there == pytest.approx(1 / here if name == "odds_ratio" else -here)


def test_names_of_types_do_not_matter() -> None:
    known, label, kind = labeled(11)
    names = np.array(["movies/P57", "bios/P19", "places/x", "é"])[kind]
    for metric in (metrics.j_within, metrics.odds_ratio):
        assert metric(known, label, names) == pytest.approx(metric(known, label, kind))


# ---- What a user gets wrong when calling a metric is told in one line, never turned into a number


SCORES = [0.9, 0.1, 0.8, 0.3]
WRONG = [1, 0, 1, 0]


@pytest.mark.parametrize("metric", [metrics.auroc, lambda u, y: metrics.within_auroc(u, y, None)])
def test_the_order_of_other_libraries_is_refused(metric):
    assert metric(SCORES, WRONG) == 1.0
    with pytest.raises(InputError, match="scores come first"):
        metric(WRONG, SCORES)  # sklearn has the classes first


@pytest.mark.parametrize("classes", [[0, 1, 2, 0], [0, 1, -1, 0], [0.5, 1, 0, 0]])
def test_classes_that_are_none(classes):
    with pytest.raises(InputError, match=r"1 .incorrect., 0 .correct. or NaN"):
        metrics.auroc(SCORES, classes)


def test_a_class_that_is_not_known_is_left_out():
    assert metrics.auroc(SCORES, [1, 0, math.nan, 0]) == 1.0


def test_rows_of_different_lengths():
    with pytest.raises(InputError, match="one length"):
        metrics.auroc(SCORES, WRONG[:3])

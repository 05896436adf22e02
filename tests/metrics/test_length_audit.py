"""The length trap: closed form, partial AUROCs, false negatives by length, the audit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sayso import metrics
from sayso.metrics import agreement
from sayso.records import InputError


def simulated(n: int = 4000, seed: int = 0, signal: float = 0.0) -> dict[str, np.ndarray]:
    """Right with p=.75, accepted only if right and shorter than 6 tokens; ``signal`` shifts the
    per-token rate of wrong answers."""
    rng = np.random.default_rng(seed)
    length = np.maximum(2, np.round(rng.lognormal(1.75, 0.6, n)))
    wrong = (rng.random(n) >= 0.75).astype(float)
    rate = rng.lognormal(0, 0.3, n) * np.exp(signal * wrong)
    refused = np.where((wrong == 0) & (length < 6), 0.0, 1.0)
    return {"length": length, "wrong": wrong, "nll": length * rate, "ppl": rate, "metric": refused}


@pytest.mark.parametrize(
    ("p", "q", "expected"),
    [(0.75, 0.6, 0.864), (0.7, 0.5, 0.885), (0.9, 0.5, 0.955), (0.7, 0.9, 0.635), (0.7, 1, 0.5)],
)
def test_closed_form(p: float, q: float, expected: float) -> None:
    assert metrics.length_inflation(p, q)["auroc_rouge_of_length"] == pytest.approx(
        expected, abs=6e-4
    )


def test_closed_form_agrees_with_a_simulation() -> None:
    data = simulated(40_000)
    q = float(np.mean(data["length"][data["wrong"] == 0] < 6))
    expected = metrics.length_inflation(0.75, q)
    # Length has ties, and long answers are ordered by chance: the accepted are all shorter.
    found = metrics.auroc(data["length"], data["metric"])
    assert found == pytest.approx(expected["auroc_rouge_of_length"], abs=0.01)
    assert agreement(data["metric"], data["wrong"]) == pytest.approx(
        expected["agreement"], abs=0.01
    )


def test_the_better_the_model_the_larger_the_inflation() -> None:
    found = [
        metrics.length_inflation(p, 0.5)["auroc_rouge_of_length"] or 0 for p in (0.3, 0.6, 0.9)
    ]
    assert found == sorted(found)


def test_corners_of_the_closed_form() -> None:
    assert metrics.length_inflation(1, 1)["auroc_rouge_of_length"] is None
    assert metrics.length_inflation(0, 0.5) == {
        "auroc_rouge_of_length": None,
        "auroc_true": None,
        "agreement": 1.0,
    }
    for p, q in ((1.2, 0.5), (0.5, -1), (math.nan, 0.5)):
        with pytest.raises(InputError, match="shares"):
            metrics.length_inflation(p, q)


def test_length_bins_keep_equal_lengths_together() -> None:
    assert metrics.length_bins([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 5).tolist() == [
        0, 0, 1, 1, 2, 2, 3, 3, 4, 4
    ]  # fmt: skip
    assert metrics.length_bins([3, 3, 3, math.nan], 5).tolist() == [0, 0, 0, -1]
    assert metrics.length_bins([], 5).tolist() == []


def test_partial_aurocs_take_length_away() -> None:
    data = simulated()
    plain = metrics.auroc(data["nll"], data["metric"])
    assert plain is not None
    assert plain > 0.8
    fixed = metrics.strata_auroc(data["nll"], data["metric"], data["length"], strata=20)
    assert fixed == pytest.approx(0.5, abs=0.05)
    beyond = metrics.residual_auroc(data["ppl"], data["metric"], data["length"])
    assert beyond == pytest.approx(0.5, abs=0.03)


def test_partial_aurocs_keep_what_is_not_length() -> None:
    data = simulated(signal=0.5)
    for partial in (metrics.strata_auroc, metrics.residual_auroc):
        value = partial(data["ppl"], data["wrong"], data["length"])
        assert value == pytest.approx(metrics.auroc(data["ppl"], data["wrong"]), abs=0.02)


def test_residuals_by_hand() -> None:
    # Score = length exactly: nothing remains, all residuals tie: .5.
    assert metrics.residual_auroc([1, 2, 3, 4], [0, 1, 0, 1], [1, 2, 3, 4]) == 0.5
    # All of one length: the plain AUROC.
    assert metrics.residual_auroc([1, 2, 3, 4], [0, 1, 0, 1], [7, 7, 7, 7]) == 0.75
    assert metrics.residual_auroc([1, 2], [0, 1], [math.nan, 1]) is None


def test_false_negatives_by_hand() -> None:
    # Ten right answers of lengths 1..10; those above 6 refused. Quintiles 1-2, ..., 9-10:
    # 0, 0, 0, 1, 1. Slope of (0 0 0 1 1) on 0..4: mean x 2, sum (x-2) y = 1 + 2 = 3, / 10 = .3
    length = np.arange(1, 11)
    found = metrics.false_negatives(length > 6, length)
    assert [e.value for e in found.bins] == [0, 0, 0, 1, 1]
    assert found.slope.value == pytest.approx(0.3)
    assert found.overall.value == 0.4
    assert found.bins[4].where == (("length", "9-10"),)
    assert found.bins[0].low is not None


def test_false_negatives_without_rows_are_undefined() -> None:
    found = metrics.false_negatives([], [])
    assert found.overall.value is None
    assert found.slope.value is None
    assert metrics.false_negative_slope([1, 0], [2, 2]) is None


def test_spearman_by_hand() -> None:
    # Ranks 1 2 3 4 against 2 1 4 3: 1 - 6 * 4 / (4 * 15) = .6
    assert metrics.spearman([1, 2, 3, 4], [20, 10, 40, 30]) == pytest.approx(0.6)
    assert metrics.spearman([1, 2, 3], [5, 5, 5]) is None
    scipy = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 9, 90), rng.integers(0, 5, 90)
    assert metrics.spearman(x, y) == pytest.approx(scipy.spearmanr(x, y).statistic)


def test_spreading_false_negatives_by_hand() -> None:
    # Right answers: short ones s1, s2 accepted, long ones l1 refused, l2 accepted; a wrong w.
    # Refused overall 1/4. Short bin refused none: each counts 1/4 refused. Long bin 1/2 refused:
    # l1 gets weight (1/4)/(1/2) = 1/2 as refused, l2 (3/4)/(1/2) = 3/2 as accepted.
    score = [1.0, 2.0, 4.0, 3.0, 5.0]  # s1 s2 l1 l2 w
    metric, truth = [0, 0, 1, 0, 1], [0, 0, 0, 0, 1]
    bins = [0, 0, 1, 1, 1]
    # Positives: s1 .25, s2 .25, l1 .5, w 1 (sum 2). Negatives: s1 .75, s2 .75, l2 1.5 (sum 3).
    # s1: .25 * (.375) ; s2: .25 * (.75 + .375); l1: .5 * 3; w: 1 * 3
    expected = (0.25 * 0.375 + 0.25 * 1.125 + 0.5 * 3 + 3) / 6
    assert metrics.spread_auroc(score, metric, truth, bins) == pytest.approx(expected)


def test_an_even_metric_changes_nothing_when_spread() -> None:
    # Every bin refuses one of two right answers: spreading leaves the metric as it is.
    score, bins = [1.0, 5.0, 2.0, 6.0, 4.0], [0, 0, 1, 1, 0]
    metric, truth = [0, 1, 0, 1, 1], [0, 0, 0, 0, 1]
    assert metrics.spread_auroc(score, metric, truth, bins) == pytest.approx(
        metrics.auroc(score, metric)
    )


def test_audit_of_a_score_that_is_only_length() -> None:
    data = simulated(3000)
    audit = metrics.length_audit(data["nll"], data["metric"], data["length"], data["wrong"], n=200)
    assert audit.against_metric.value == pytest.approx(0.856, abs=0.02)
    assert audit.against_truth is not None
    assert audit.difference is not None
    assert audit.from_length is not None
    assert audit.unexplained is not None
    assert audit.against_truth.low is not None
    assert audit.against_truth.low < 0.5 < (audit.against_truth.high or 0)
    # Nearly all of the inflation is from refused longer right answers.
    assert (audit.from_length.value or 0) > 0.9 * (audit.difference.value or 1)
    assert audit.difference.value == pytest.approx(
        (audit.from_length.value or 0) + (audit.unexplained.value or 0)
    )
    assert (audit.metric_length.value or 0) > 0.5
    text = audit.sentence()
    assert "Longer right answers that the metric rejects" in text
    assert "is unexplained" in text


def test_audit_of_an_honest_metric_finds_no_length() -> None:
    data = simulated(2000, signal=0.8)
    rng = np.random.default_rng(1)
    flipped = np.where(rng.random(2000) < 0.05, 1 - data["wrong"], data["wrong"])
    audit = metrics.length_audit(data["ppl"], flipped, data["length"], data["wrong"], n=200)
    assert audit.from_length is not None
    assert abs(audit.from_length.value or 1) < 0.01


def test_audit_without_truth_claims_nothing() -> None:
    data = simulated(300)
    audit = metrics.length_audit(data["nll"], data["metric"], data["length"], n=50)
    assert audit.against_truth is None
    assert "no more can be said" in audit.sentence()


def test_audit_of_one_class_and_missing_rows() -> None:
    audit = metrics.length_audit([1, 2, math.nan], [1, 1, 0], [3, 4, 5], [0, 1, 0], n=50)
    assert audit.against_metric.value is None
    assert audit.against_metric.n == 2
    assert "undefined" in audit.sentence()
    with pytest.raises(InputError, match="one length"):
        metrics.length_audit([1, 2], [1], [3, 4])


def test_a_slope_of_refusals_without_a_refusal_has_no_interval() -> None:
    words = np.arange(40.0)
    for refused in (np.zeros(40), np.ones(40)):
        slope = metrics.false_negatives(refused, words, n=100).slope
        assert (slope.value, slope.low, slope.high) == (0.0, None, None)
        assert slope.problem == "no interval: all or no answers are rejected"


def test_a_perfect_score_in_an_audit_has_an_interval() -> None:
    wrong = np.repeat([1.0, 0.0], 12)
    audit = metrics.length_audit(wrong, wrong, np.arange(24.0) % 5, wrong, n=100)
    assert audit.against_metric.value == 1.0
    assert audit.against_metric.low == pytest.approx(0.025 ** (1 / 12))
    assert audit.against_truth is not None
    assert audit.against_truth.low == audit.against_metric.low

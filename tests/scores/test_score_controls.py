"""Negative controls: where there is nothing to find, scores and metrics must find nothing."""

from __future__ import annotations

import numpy as np
import pytest

from sayso import metrics, scores
from sayso.judges import meaning
from sayso.records import Estimate

TYPES, PER_TYPE, DRAWS = 6, 120, 10


def holds(estimate: Estimate, value: float = 0.5) -> bool:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low <= value <= estimate.high


def world(knows: float, seed: int = 0) -> dict[str, np.ndarray]:
    """Questions of types with commonest values; the model knows a share ``knows`` of the golds and
    otherwise answers from the type's priors."""
    rng = np.random.default_rng(seed)
    entropy, wrong, kind, length = [], [], [], []
    for t in range(TYPES):
        # From a type that is nearly always the same value to one where anything goes.
        prior = np.exp(-np.arange(8) * (3.0 - 0.6 * t))
        prior /= prior.sum()
        for _ in range(PER_TYPE):
            gold = rng.choice(8, p=prior)
            known = rng.random() < knows
            drawn = np.full(DRAWS, gold) if known else rng.choice(8, size=DRAWS, p=prior)
            answer = gold if known else rng.choice(8, p=prior)
            ids = meaning.cluster([f"value {v}" for v in drawn], lambda a, b: a == b)
            entropy.append(scores.discrete_semantic_entropy(ids))
            wrong.append(float(answer != gold))
            kind.append(t)
            length.append(max(2, round(rng.lognormal(1.75, 0.6))))
    return {
        "entropy": np.array(entropy, dtype=float),
        "wrong": np.array(wrong),
        "kind": np.array(kind),
        "length": np.array(length, dtype=float),
    }


def test_a_model_without_knowledge_scores_nothing_within_type() -> None:
    data = world(knows=0)
    pooled = metrics.auroc(data["entropy"], data["wrong"])
    assert pooled is not None
    assert pooled > 0.65  # the types' priors alone
    within = metrics.bootstrap(
        metrics.within_auroc, data["entropy"], data["wrong"], data["kind"], n=400
    )
    assert holds(within)


def test_knowledge_is_found_within_type() -> None:
    data = world(knows=0.5)
    within = metrics.bootstrap(
        metrics.within_auroc, data["entropy"], data["wrong"], data["kind"], n=400
    )
    assert within.low is not None
    assert within.low > 0.7


@pytest.mark.parametrize("name", ["auroc", "prr"])
def test_shuffled_golds_leave_nothing(name: str) -> None:
    # A 95 % interval misses one shuffle in twenty: of twenty at most four.
    data = world(knows=0.5)
    rng = np.random.default_rng(1)
    limits, nothing = ((0.0, 1.0), 0.5) if name == "auroc" else (None, 0.0)
    held = 0
    for seed in range(20):
        wrong = rng.permutation(data["wrong"])
        metric = metrics.SCORE_METRICS[name]
        found = metrics.bootstrap(metric, data["entropy"], wrong, n=200, seed=seed, limits=limits)
        held += holds(found, nothing)
    assert held >= 16


def test_length_alone_is_nothing_against_the_truth_and_much_against_a_biased_metric() -> None:
    data = world(knows=0.7)
    refused = np.where((data["wrong"] == 0) & (data["length"] < 6), 0.0, 1.0)
    audit = metrics.length_audit(data["length"], refused, data["length"], data["wrong"], n=300)
    assert audit.against_truth is not None
    assert audit.unexplained is not None
    assert (audit.against_metric.value or 0) > 0.85
    assert holds(audit.against_truth)
    assert holds(audit.unexplained, 0.0)


def test_a_judge_that_flips_five_percent_moves_little() -> None:
    data = world(knows=0.5)
    flips = np.random.default_rng(2).random(len(data["wrong"])) < 0.05
    judged = np.where(flips, 1 - data["wrong"], data["wrong"])
    plain = metrics.auroc(data["entropy"], data["wrong"]) or 0
    noisy = metrics.auroc(data["entropy"], judged) or 0
    # Labels flipped at random pull the AUROC towards 1/2 by about the flipped share of each class.
    wrong = float(data["wrong"].mean())
    right = 1 - wrong
    kept = (
        (wrong * 0.95 / (wrong * 0.95 + right * 0.05))
        + (right * 0.95 / (right * 0.95 + wrong * 0.05))
        - 1
    )
    assert noisy == pytest.approx(0.5 + (plain - 0.5) * kept, abs=0.02)

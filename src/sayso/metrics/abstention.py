"""Abstaining where there is no answer, and where there is one; answers paid for by confidence.

A question can be answered or not, an answer abstains or not. The abstention gap is Youden's (1950)
index of abstaining as a test for questions without an answer:

    G = abstained / questions without an answer - abstained / questions with one

G is 0 for a model that abstains without a look at the question, and 1 for one that abstains exactly
where there is no answer. It has the form of J in :mod:`sayso.metrics.uncle_rates`, which compares
known with unknown facts. G does not change with the share of questions that cannot be answered;
what an answer is worth does:

    U(t) = (right - t / (1 - t) wrong) / N                     abstaining: 0

which pays for an answer exactly where it is right with a probability above the confidence target t
(Kalai et al. 2025, "Why Language Models Hallucinate", arXiv 2509.04664, section 4). At t = 1/2 it
is right minus wrong, the Omniscience Index of Artificial Analysis (Jackson et al. 2025, arXiv
2511.13029), which prints it times 100 and also knows partly right answers, which count 0.
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import Result, as_result, divide, weight_rows
from sayso.metrics.uncle_known import bootstrap_cells, bootstrap_within, cluster_cells
from sayso.metrics.uncle_rates import CORRECT, MISSING, UNCERTAIN, cell_index
from sayso.metrics.within_type import j_pooled, j_within
from sayso.records import Estimate, InputError

__all__ = [
    "CONFIDENCE_TARGETS", "abstention_cells", "abstention_gap", "abstention_gap_within",
    "bootstrap_abstention", "confidence_target_utility",
]  # fmt: skip

#: confidence targets of Kalai et al. 2025, section 4: a wrong answer costs 1, 3 and 9
CONFIDENCE_TARGETS = (0.5, 0.75, 0.9)


def _coded(abstained: ArrayLike, unanswerable: ArrayLike) -> tuple[ArrayLike, ArrayLike]:
    """Return (known, label) as UNCLE's rates have them; NaN in ``abstained`` is missing."""
    held = np.asarray(abstained, dtype=np.float64)
    label = np.where(np.isnan(held), MISSING, np.where(held > 0, UNCERTAIN, CORRECT))
    return (~np.asarray(unanswerable, dtype=bool)).astype(np.int64), label


def abstention_cells(abstained: ArrayLike, unanswerable: ArrayLike) -> NDArray[np.int64]:
    """Return the cell of each answer (n,) in UNCLE's matrix, in which J is the abstention gap.

    A question with an answer counts as known there, and an answer that abstains as uncertain; -1
    for an answer without a verdict.
    """
    return cell_index(*_coded(abstained, unanswerable))


def abstention_gap(
    abstained: ArrayLike, unanswerable: ArrayLike, weights: ArrayLike | None = None
) -> Result:
    """Return the abstention gap; ``None`` without questions of both kinds.

    ``abstained`` (n,) is 1, 0 or NaN for an answer without a verdict, which is left out;
    ``unanswerable`` (n,) is true for questions without an answer.
    """
    return j_pooled(*_coded(abstained, unanswerable), weights)


def abstention_gap_within(
    abstained: ArrayLike,
    unanswerable: ArrayLike,
    types: ArrayLike,
    weights: ArrayLike | None = None,
) -> Result:
    """Return the abstention gap within types (n,); ``None`` where no type has both kinds."""
    return j_within(*_coded(abstained, unanswerable), types, weights)


def bootstrap_abstention(
    abstained: ArrayLike,
    unanswerable: ArrayLike,
    clusters: ArrayLike,
    types: ArrayLike | None = None,
    n: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return the abstention gap, within type where ``types`` are given, with its interval.

    Clusters (n,) are source documents, which the bootstrap resamples. Sparse shares, and bounds for
    answers without a verdict, as in :func:`~sayso.metrics.uncle_known.bootstrap_cells`.
    """
    known, label = _coded(abstained, unanswerable)
    cells = cluster_cells(known, label, clusters, types)
    if types is not None:
        within = bootstrap_within(cells, n=n, seed=seed)["J_within"]
        return msgspec.structs.replace(within, name="abstention_gap_within")
    lost = np.asarray(label) == MISSING
    missing = (int((lost & (np.asarray(known) == side)).sum()) for side in (1, 0))
    gap = bootstrap_cells(cells, n, seed, *missing)["J"]
    return msgspec.structs.replace(gap, name="abstention_gap")


def confidence_target_utility(
    outcome: ArrayLike, target: float, weights: ArrayLike | None = None
) -> Result:
    """Return U(t), from -t/(1-t) to 1; ``None`` without answers.

    ``outcome`` (n,): 1 right, -1 wrong, 0 neither (abstained, or says nothing).
    """
    if not 0 <= target < 1:
        raise InputError(f"confidence target {target:g}: expected at least 0 and below 1")
    held = np.asarray(outcome, dtype=np.float64)
    W, single = weight_rows(weights, len(held))
    worth = np.where(held < 0, -target / (1 - target), np.where(held > 0, 1.0, 0.0))
    return as_result(divide(W @ worth, W.sum(axis=1)), single)

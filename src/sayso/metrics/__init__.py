"""Metrics: numpy in, numbers out. No I/O, no models; every generator is seeded by the caller.

A rate is 0..1 and undefined is ``None``. Every metric that ``bootstrap`` resamples takes
``weights=None``: (n,), or (B, n) and then returns (B,) with NaN where undefined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sayso.metrics.agreement import agreement, alignment, crosstab, kappa, kappa_of_table
from sayso.metrics.bounds import rate_bounds
from sayso.metrics.cells import (
    bootstrap_cells,
    bootstrap_cells_difference,
    bootstrap_within,
    cluster_cells,
)
from sayso.metrics.chance import (
    HIGH_GUESS_RATE,
    any_of_k,
    chance_corrected,
    guess_rates,
    strict_known,
    type_guess_rates,
)
from sayso.metrics.distributions import binomial_tail, exact_interval
from sayso.metrics.intervals import bootstrap, bootstrap_difference
from sayso.metrics.rates import (
    CELLS,
    RATES,
    cell_rates,
    count_cells,
    expression_rates,
    expression_rates_3row,
    hedge_precision,
    label_codes,
    rate_counts,
    solve_cells,
    utility,
)
from sayso.metrics.reference import policy_cells, reference_policies
from sayso.metrics.roc import auroc, missing_scores, within_auroc
from sayso.metrics.shares import bootstrap_share
from sayso.metrics.within import (
    j_pooled,
    j_within,
    odds_ratio,
    policy_by_rate,
    policy_j,
    type_cells,
    unspoken_knowledge,
    within_rates,
)

#: Metrics of an uncertainty score: metric(uncertainty, incorrect, weights=None). A new one is one
#: function and one line here.
SCORE_METRICS: dict[str, Callable[..., Any]] = {
    "auroc": auroc,
}

__all__ = [
    "CELLS",
    "HIGH_GUESS_RATE",
    "RATES",
    "SCORE_METRICS",
    "agreement",
    "alignment",
    "any_of_k",
    "auroc",
    "binomial_tail",
    "bootstrap",
    "bootstrap_cells",
    "bootstrap_cells_difference",
    "bootstrap_difference",
    "bootstrap_share",
    "bootstrap_within",
    "cell_rates",
    "chance_corrected",
    "cluster_cells",
    "count_cells",
    "crosstab",
    "exact_interval",
    "expression_rates",
    "expression_rates_3row",
    "guess_rates",
    "hedge_precision",
    "j_pooled",
    "j_within",
    "kappa",
    "kappa_of_table",
    "label_codes",
    "missing_scores",
    "odds_ratio",
    "policy_by_rate",
    "policy_cells",
    "policy_j",
    "rate_bounds",
    "rate_counts",
    "reference_policies",
    "solve_cells",
    "strict_known",
    "type_cells",
    "type_guess_rates",
    "unspoken_knowledge",
    "utility",
    "within_auroc",
    "within_rates",
]

"""Metrics: numpy in, numbers out. No I/O, no models; every generator is seeded by the caller.

A rate is 0..1 and undefined is ``None``. Every metric that ``bootstrap`` resamples takes
``weights=None``: (n,), or (B, n) and then returns (B,) with NaN where undefined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sayso.metrics.agreement import Pairing as Pairing
from sayso.metrics.agreement import against_others as against_others
from sayso.metrics.agreement import agreement as agreement
from sayso.metrics.agreement import agreement_matrix as agreement_matrix
from sayso.metrics.agreement import alignment as alignment
from sayso.metrics.agreement import crosstab as crosstab
from sayso.metrics.agreement import kappa as kappa
from sayso.metrics.agreement import kappa_of_table as kappa_of_table
from sayso.metrics.agreement import majority as majority
from sayso.metrics.calibration import CALIBRATORS as CALIBRATORS
from sayso.metrics.calibration import Isotonic as Isotonic
from sayso.metrics.calibration import Platt as Platt
from sayso.metrics.calibration import brier as brier
from sayso.metrics.calibration import brier_decomposition as brier_decomposition
from sayso.metrics.calibration import cross_calibrate as cross_calibrate
from sayso.metrics.calibration import ece as ece
from sayso.metrics.calibration import ece_debiased as ece_debiased
from sayso.metrics.calibration import fit_isotonic as fit_isotonic
from sayso.metrics.calibration import fit_platt as fit_platt
from sayso.metrics.calibration import split_rows as split_rows
from sayso.metrics.cmfg import ConfidenceBin as ConfidenceBin
from sayso.metrics.cmfg import LinguisticCalibration as LinguisticCalibration
from sayso.metrics.cmfg import cmfg as cmfg
from sayso.metrics.cmfg import cmfg_bins as cmfg_bins
from sayso.metrics.cmfg import cmfg_corrected as cmfg_corrected
from sayso.metrics.cmfg import cmfg_parts as cmfg_parts
from sayso.metrics.cmfg import cmfg_permuted as cmfg_permuted
from sayso.metrics.cmfg import cmfg_references as cmfg_references
from sayso.metrics.cmfg import cmfg_star as cmfg_star
from sayso.metrics.cmfg import cmfg_star_error as cmfg_star_error
from sayso.metrics.cmfg import confidence as confidence
from sayso.metrics.cmfg import confidence_bin as confidence_bin
from sayso.metrics.cmfg import faithfulness as faithfulness
from sayso.metrics.cmfg import kendall as kendall
from sayso.metrics.cmfg import linguistic_calibration as linguistic_calibration
from sayso.metrics.cmfg import mfg as mfg
from sayso.metrics.cmfg import noise_floor as noise_floor
from sayso.metrics.cmfg import over_claim as over_claim
from sayso.metrics.cmfg import over_hedge as over_hedge
from sayso.metrics.cmfg import shared_bins as shared_bins
from sayso.metrics.cmfg import skill as skill
from sayso.metrics.cmfg import skill_corrected as skill_corrected
from sayso.metrics.cmfg import with_punts as with_punts
from sayso.metrics.compare_scores import RankFlip as RankFlip
from sayso.metrics.compare_scores import ScoreDifference as ScoreDifference
from sayso.metrics.compare_scores import averaged as averaged
from sayso.metrics.compare_scores import holm as holm
from sayso.metrics.compare_scores import paired_differences as paired_differences
from sayso.metrics.compare_scores import rank_flips as rank_flips
from sayso.metrics.factuality import CrossFit as CrossFit
from sayso.metrics.factuality import Trend as Trend
from sayso.metrics.factuality import accept_rate_factuality as accept_rate_factuality
from sayso.metrics.factuality import cross_fit as cross_fit
from sayso.metrics.factuality import curve_rows as curve_rows
from sayso.metrics.factuality import equal_length as equal_length
from sayso.metrics.factuality import f1_at_k as f1_at_k
from sayso.metrics.factuality import factscore as factscore
from sayso.metrics.factuality import flip_rate as flip_rate
from sayso.metrics.factuality import judged as judged
from sayso.metrics.factuality import length_penalty as length_penalty
from sayso.metrics.factuality import position_bin as position_bin
from sayso.metrics.factuality import position_fractions as position_fractions
from sayso.metrics.factuality import position_trend as position_trend
from sayso.metrics.factuality import precision as precision
from sayso.metrics.factuality import self_knowledge_factuality as self_knowledge_factuality
from sayso.metrics.factuality import share_where as share_where
from sayso.metrics.intervals import binomial_tail as binomial_tail
from sayso.metrics.intervals import bootstrap as bootstrap
from sayso.metrics.intervals import bootstrap_difference as bootstrap_difference
from sayso.metrics.intervals import bootstrap_ratio as bootstrap_ratio
from sayso.metrics.intervals import bootstrap_share as bootstrap_share
from sayso.metrics.intervals import exact_interval as exact_interval
from sayso.metrics.length_audit import THRESHOLDS as THRESHOLDS
from sayso.metrics.length_audit import FalseNegatives as FalseNegatives
from sayso.metrics.length_audit import LengthAudit as LengthAudit
from sayso.metrics.length_audit import SweepRow as SweepRow
from sayso.metrics.length_audit import Threshold as Threshold
from sayso.metrics.length_audit import false_negative_slope as false_negative_slope
from sayso.metrics.length_audit import false_negatives as false_negatives
from sayso.metrics.length_audit import length_audit as length_audit
from sayso.metrics.length_audit import length_bins as length_bins
from sayso.metrics.length_audit import length_inflation as length_inflation
from sayso.metrics.length_audit import residual_auroc as residual_auroc
from sayso.metrics.length_audit import soft_auroc as soft_auroc
from sayso.metrics.length_audit import spread_auroc as spread_auroc
from sayso.metrics.length_audit import strata_auroc as strata_auroc
from sayso.metrics.length_audit import threshold_sweep as threshold_sweep
from sayso.metrics.ranking import PENALTIES as PENALTIES
from sayso.metrics.ranking import RiskCoverage as RiskCoverage
from sayso.metrics.ranking import accuracy_at_coverage as accuracy_at_coverage
from sayso.metrics.ranking import auprc as auprc
from sayso.metrics.ranking import aurac as aurac
from sayso.metrics.ranking import aurc as aurc
from sayso.metrics.ranking import auroc as auroc
from sayso.metrics.ranking import fit_threshold as fit_threshold
from sayso.metrics.ranking import missing_scores as missing_scores
from sayso.metrics.ranking import prr as prr
from sayso.metrics.ranking import risk_coverage as risk_coverage
from sayso.metrics.ranking import selective_utility as selective_utility
from sayso.metrics.ranking import spearman as spearman
from sayso.metrics.ranking import utilities as utilities
from sayso.metrics.ranking import within_auroc as within_auroc
from sayso.metrics.uncle_known import HIGH_GUESS_RATE as HIGH_GUESS_RATE
from sayso.metrics.uncle_known import any_of_k as any_of_k
from sayso.metrics.uncle_known import bootstrap_cells as bootstrap_cells
from sayso.metrics.uncle_known import bootstrap_cells_difference as bootstrap_cells_difference
from sayso.metrics.uncle_known import bootstrap_within as bootstrap_within
from sayso.metrics.uncle_known import chance_corrected as chance_corrected
from sayso.metrics.uncle_known import cluster_cells as cluster_cells
from sayso.metrics.uncle_known import guess_rates as guess_rates
from sayso.metrics.uncle_known import policy_cells as policy_cells
from sayso.metrics.uncle_known import rate_bounds as rate_bounds
from sayso.metrics.uncle_known import reference_policies as reference_policies
from sayso.metrics.uncle_known import strict_known as strict_known
from sayso.metrics.uncle_known import type_guess_rates as type_guess_rates
from sayso.metrics.uncle_rates import CELLS as CELLS
from sayso.metrics.uncle_rates import RATES as RATES
from sayso.metrics.uncle_rates import cell_rates as cell_rates
from sayso.metrics.uncle_rates import count_cells as count_cells
from sayso.metrics.uncle_rates import expression_rates as expression_rates
from sayso.metrics.uncle_rates import expression_rates_3row as expression_rates_3row
from sayso.metrics.uncle_rates import hedge_precision as hedge_precision
from sayso.metrics.uncle_rates import label_codes as label_codes
from sayso.metrics.uncle_rates import rate_counts as rate_counts
from sayso.metrics.uncle_rates import solve_cells as solve_cells
from sayso.metrics.uncle_rates import utility as utility
from sayso.metrics.within_type import j_pooled as j_pooled
from sayso.metrics.within_type import j_within as j_within
from sayso.metrics.within_type import odds_ratio as odds_ratio
from sayso.metrics.within_type import policy_by_rate as policy_by_rate
from sayso.metrics.within_type import policy_j as policy_j
from sayso.metrics.within_type import type_cells as type_cells
from sayso.metrics.within_type import unspoken_knowledge as unspoken_knowledge
from sayso.metrics.within_type import within_rates as within_rates

#: Metrics of an uncertainty score: metric(uncertainty, incorrect, weights=None). A new one is one
#: function and one line here.
SCORE_METRICS: dict[str, Callable[..., Any]] = {
    "auroc": auroc,
    "auprc": auprc,
    "aurac": aurac,
    "aurc": aurc,
    "prr": prr,
    "accuracy_at_coverage": accuracy_at_coverage,
    "selective_utility": selective_utility,
}

#: Metrics of stated probabilities: metric(confidence, correct, weights=None).
PROBABILITY_METRICS: dict[str, Callable[..., Any]] = {
    "ece": ece,
    "ece_debiased": ece_debiased,
    "brier": brier,
}

#: The range of a metric for ``bootstrap(limits=...)`` where it is not 0..1 (None: symmetric).
LIMITS: dict[str, tuple[float, float] | None] = {
    "prr": None,
    "ece_debiased": None,
    "skill": None,
    "kendall": None,
}

#: Metrics whose value depends on how many rows there are, so that weights are counts of rows:
#: doubling every weight is not the same as doubling none.
COUNTED = ("aurac", "aurc", "prr", "ece_debiased")


__all__ = [
    "CALIBRATORS",
    "CELLS",
    "COUNTED",
    "HIGH_GUESS_RATE",
    "LIMITS",
    "PENALTIES",
    "PROBABILITY_METRICS",
    "RATES",
    "SCORE_METRICS",
    "THRESHOLDS",
    "ConfidenceBin",
    "CrossFit",
    "FalseNegatives",
    "Isotonic",
    "LengthAudit",
    "LinguisticCalibration",
    "Pairing",
    "Platt",
    "RankFlip",
    "RiskCoverage",
    "ScoreDifference",
    "SweepRow",
    "Threshold",
    "Trend",
    "accept_rate_factuality",
    "accuracy_at_coverage",
    "against_others",
    "agreement",
    "agreement_matrix",
    "alignment",
    "any_of_k",
    "auprc",
    "aurac",
    "aurc",
    "auroc",
    "averaged",
    "binomial_tail",
    "bootstrap",
    "bootstrap_cells",
    "bootstrap_cells_difference",
    "bootstrap_difference",
    "bootstrap_ratio",
    "bootstrap_share",
    "bootstrap_within",
    "brier",
    "brier_decomposition",
    "cell_rates",
    "chance_corrected",
    "cluster_cells",
    "cmfg",
    "cmfg_bins",
    "cmfg_corrected",
    "cmfg_parts",
    "cmfg_permuted",
    "cmfg_references",
    "cmfg_star",
    "cmfg_star_error",
    "confidence",
    "confidence_bin",
    "count_cells",
    "cross_calibrate",
    "cross_fit",
    "crosstab",
    "curve_rows",
    "ece",
    "ece_debiased",
    "equal_length",
    "exact_interval",
    "expression_rates",
    "expression_rates_3row",
    "f1_at_k",
    "factscore",
    "faithfulness",
    "false_negative_slope",
    "false_negatives",
    "fit_isotonic",
    "fit_platt",
    "fit_threshold",
    "flip_rate",
    "guess_rates",
    "hedge_precision",
    "holm",
    "j_pooled",
    "j_within",
    "judged",
    "kappa",
    "kappa_of_table",
    "kendall",
    "label_codes",
    "length_audit",
    "length_bins",
    "length_inflation",
    "length_penalty",
    "linguistic_calibration",
    "majority",
    "mfg",
    "missing_scores",
    "noise_floor",
    "odds_ratio",
    "over_claim",
    "over_hedge",
    "paired_differences",
    "policy_by_rate",
    "policy_cells",
    "policy_j",
    "position_bin",
    "position_fractions",
    "position_trend",
    "precision",
    "prr",
    "rank_flips",
    "rate_bounds",
    "rate_counts",
    "reference_policies",
    "residual_auroc",
    "risk_coverage",
    "selective_utility",
    "self_knowledge_factuality",
    "share_where",
    "shared_bins",
    "skill",
    "skill_corrected",
    "soft_auroc",
    "solve_cells",
    "spearman",
    "split_rows",
    "spread_auroc",
    "strata_auroc",
    "strict_known",
    "threshold_sweep",
    "type_cells",
    "type_guess_rates",
    "unspoken_knowledge",
    "utilities",
    "utility",
    "with_punts",
    "within_auroc",
    "within_rates",
]

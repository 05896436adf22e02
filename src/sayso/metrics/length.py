"""The length trap: an answer metric that refuses long right answers makes length look like doubt.

Many scores grow with the number of tokens. If a metric (ROUGE-L against a two-word reference, say)
also calls long right answers wrong, such scores earn an AUROC that they would not have against the
truth (Santilli et al., arXiv 2504.13677; PROTOCOLS 3.C).
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.intervals import bootstrap
from sayso.metrics.ranks import mid_ranks, weight_rows
from sayso.metrics.rates import Floats, divide, or_none
from sayso.metrics.roc import auroc, within_auroc
from sayso.metrics.shares import bootstrap_share
from sayso.records import Estimate, InputError


def length_inflation(p_correct: float, q_short: float) -> dict[str, float | None]:
    """Return the AUROC that length alone earns when long right answers are called wrong.

    Closed form of PROTOCOLS 3.C, for a score that grows with length, length independent of
    correctness, ``p_correct`` = P(right), ``q_short`` = P(short enough to be accepted | right), no
    wrong answer accepted: ``auroc_rouge_of_length`` = 1 - q(1-p) / (2(1-pq)) (``None`` if
    everything or nothing is accepted), ``auroc_true`` = 0.5 (``None`` without both classes),
    ``agreement`` of metric and truth = 1 - p(1-q).
    """
    p, q = float(p_correct), float(q_short)
    if not (0 <= p <= 1 and 0 <= q <= 1):
        raise InputError(f"p_correct and q_short are shares, 0..1: got {p_correct} and {q_short}")
    accepted = p * q
    both = 0 < accepted < 1
    return {
        "auroc_rouge_of_length": 1 - q * (1 - p) / (2 * (1 - accepted)) if both else None,
        "auroc_true": 0.5 if 0 < p < 1 else None,
        "agreement": 1 - p * (1 - q),
    }


def length_bins(length: ArrayLike, bins: int = 5) -> NDArray[np.int64]:
    """Return the quantile bin, 0..bins-1, of each length (n,); equal lengths share a bin.

    -1 for NaN. With many equal lengths some bins stay empty.
    """
    if bins < 1:
        raise InputError(f"length bins: got {bins}, expected at least 1")
    x = np.asarray(length, dtype=np.float64)
    found = np.full(len(x), -1, dtype=np.int64)
    use = ~np.isnan(x)
    if use.any():
        edges = np.quantile(x[use], np.arange(1, bins) / bins)
        found[use] = np.searchsorted(edges, x[use], side="left")
    return found


def strata_auroc(
    uncertainty: ArrayLike,
    incorrect: ArrayLike,
    length: ArrayLike,
    weights: ArrayLike | None = None,
    strata: int = 10,
) -> float | Floats | None:
    """Return the AUROC among pairs of answers in the same quantile of length, 0..1.

    Partial AUROC at fixed length by strata (as :func:`~sayso.metrics.within_auroc`). Inside a
    stratum some length remains; more strata leave less. If length itself causes errors this takes
    away too much (VALIDITY 5): read it beside the plain AUROC.
    """
    stratum = length_bins(length, strata)
    wrong = np.where(stratum < 0, np.nan, np.asarray(incorrect, dtype=np.float64))
    return within_auroc(uncertainty, wrong, stratum, weights)


def residual_auroc(
    uncertainty: ArrayLike,
    incorrect: ArrayLike,
    length: ArrayLike,
    weights: ArrayLike | None = None,
) -> float | Floats | None:
    """Return the AUROC of what the score's rank says beyond a straight line in length's rank.

    Partial AUROC at fixed length by residuals: mid-ranks of score and length, least squares of
    one on the other, AUROC of the residual. Rows with NaN in any of the three are left out.
    """
    score = np.asarray(uncertainty, dtype=np.float64)
    wrong, x = np.asarray(incorrect, dtype=np.float64), np.asarray(length, dtype=np.float64)
    use = ~(np.isnan(score) | np.isnan(wrong) | np.isnan(x))
    W, single = weight_rows(weights, len(score))
    score, wrong, x, W = score[use], wrong[use], x[use], W[:, use]
    values: Floats = np.full(len(W), np.nan)
    # A weighted mean of mid-ranks is 1/2 whatever the ties.
    S, X = mid_ranks(score, W) - 0.5, mid_ranks(x, W) - 0.5
    slope = np.nan_to_num(divide((W * S * X).sum(axis=1), (W * X * X).sum(axis=1)))
    # Rounding keeps equal residuals equal, so that ties stay ties.
    residual = np.round(S - slope[:, None] * X, 12)
    for row in np.flatnonzero(W.sum(axis=1) > 0):
        value = auroc(residual[row], wrong, W[row])
        values[row] = np.nan if value is None else float(np.asarray(value))
    return or_none(values[0]) if single else values


def false_negative_slope(
    refused: ArrayLike, bins: ArrayLike, weights: ArrayLike | None = None
) -> float | Floats | None:
    """Return by how much the share of refused answers rises from one length bin to the next.

    Least-squares slope of ``refused`` (n,) 0/1 on the bin number (n,), over right answers only;
    NaN or negative bins drop the row. ``None`` unless two bins hold rows.
    """
    y, b = np.asarray(refused, dtype=np.float64), np.asarray(bins, dtype=np.float64)
    W, single = weight_rows(weights, len(y))
    use = ~(np.isnan(y) | np.isnan(b) | (b < 0))
    y, b, W = y[use], b[use], W[:, use]
    total = W.sum(axis=1)
    x = b - divide(W @ b, total)[:, None]
    spread = (W * x * x).sum(axis=1)
    top = (W * x * (y - divide(W @ y, total)[:, None])).sum(axis=1)
    value = divide(top, np.where(spread > 1e-12, spread, 0.0))
    return or_none(value[0]) if single else value


class FalseNegatives(msgspec.Struct, frozen=True):
    """What share of the right answers a metric refuses, by length.

    ``overall`` and one estimate for each bin of length (shortest first, ``where`` says from what
    length to what), and ``slope``, the rise of that share from one bin to the next.
    """

    overall: Estimate
    bins: tuple[Estimate, ...]
    slope: Estimate


def false_negatives(
    refused: ArrayLike,
    length: ArrayLike,
    bins: int = 5,
    clusters: ArrayLike | None = None,
    n: int = 2000,
    seed: int = 0,
) -> FalseNegatives:
    """Return the false-negative rate of an answer metric by quantile of length, with intervals.

    ``refused`` (n,): 1 where the metric calls an answer wrong *that is right* (give only right
    answers, by people or by the best truth there is; NaN = the metric gave no verdict), ``length``
    (n,) in tokens or words. Bins are quantiles of these rows' lengths.
    """
    y, x = np.asarray(refused, dtype=np.float64), np.asarray(length, dtype=np.float64)
    unit = np.arange(len(y)) if clusters is None else np.asarray(clusters)
    use = ~(np.isnan(y) | np.isnan(x))
    y, x, unit = y[use], x[use], unit[use]
    index = length_bins(x, bins)
    found = []
    for k in range(bins):
        here = index == k
        name = f"length:{x[here].min():g}-{x[here].max():g}" if here.any() else "length:none"
        part = bootstrap_share("false_negatives", y > 0, here, unit, n, seed)
        found.append(msgspec.structs.replace(part, where=name))
    slope = bootstrap(
        false_negative_slope,
        y,
        index,
        clusters=unit,
        n=n,
        seed=seed,
        limits=None,
        name="false_negative_slope",
    )
    overall = bootstrap_share("false_negatives", y > 0, np.ones(len(y)), unit, n, seed)
    return FalseNegatives(overall, tuple(found), slope)

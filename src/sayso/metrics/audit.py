"""How much of a score's AUROC comes from refused longer right answers? (VALIDITY 5)

Three AUROCs on the *same rows*: against the answer metric, against the best truth there is, and
against the metric with its false negatives spread evenly over length. The first less the third is
what length adds through the metric; the third less the second stays unexplained.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.agreement import agreement
from sayso.metrics.intervals import Metric, bootstrap
from sayso.metrics.length import length_bins, residual_auroc, strata_auroc
from sayso.metrics.ranks import spearman, weight_rows
from sayso.metrics.rates import Floats, divide, or_none
from sayso.metrics.roc import auroc, block_starts
from sayso.records import Estimate, InputError


def soft_auroc(
    uncertainty: ArrayLike, positive: ArrayLike, negative: ArrayLike
) -> float | Floats | None:
    """Return the AUROC of rows that are partly wrong and partly right.

    ``positive`` and ``negative`` (n,) or (B, n): the weight with which a row counts as wrong and
    as right. Mid-ranks for ties; ``None`` (NaN) where a class has no weight. No NaN scores.
    """
    score = np.asarray(uncertainty, dtype=np.float64)
    (P, single), (N, _) = weight_rows(positive, len(score)), weight_rows(negative, len(score))
    if not len(score):
        return None if single else np.full(len(P), np.nan)
    order = np.argsort(score, kind="stable")
    starts = block_starts(score[order])
    P = np.add.reduceat(P[:, order], starts, axis=1)
    N = np.add.reduceat(N[:, order], starts, axis=1)
    below = np.cumsum(N, axis=1) - N / 2
    value = divide((P * below).sum(axis=1), P.sum(axis=1) * N.sum(axis=1))
    return or_none(value[0]) if single else value


def spread_auroc(
    uncertainty: ArrayLike,
    incorrect_metric: ArrayLike,
    incorrect_truth: ArrayLike,
    bins: ArrayLike,
    weights: ArrayLike | None = None,
) -> float | Floats | None:
    """Return the AUROC against the metric with its false negatives spread evenly over length.

    Among truly right answers, those that the metric refused are weighted so that every length bin
    refuses the same share, the metric's overall one; inside a bin which answers it refuses stays
    as it was. In a bin where it refused none, or all, that share of each answer counts as
    refused. Truly wrong answers keep the metric's verdict. All arrays (n,); ``weights`` as usual.
    No NaN.
    """
    score = np.asarray(uncertainty, dtype=np.float64)
    refused = np.asarray(incorrect_metric, dtype=np.float64)
    wrong = np.asarray(incorrect_truth, dtype=np.float64)
    bin_of = np.asarray(bins, dtype=np.int64)
    W, single = weight_rows(weights, len(score))
    right = wrong == 0
    size = int(bin_of.max()) + 1 if len(bin_of) else 0
    member = (bin_of[:, None] == np.arange(size)) & right[:, None]
    held = W @ member.astype(np.float64)
    share = divide(W @ (member * refused[:, None]), held)
    overall = divide(W @ (right * refused), held.sum(axis=1))[:, None]
    mixed = (share > 0) & (share < 1)
    up = np.where(mixed, divide(overall, np.where(mixed, share, 1)), overall)
    down = np.where(mixed, divide(1 - overall, np.where(mixed, 1 - share, 1)), overall)
    mixed_row, up_row, down_row = mixed[:, bin_of], up[:, bin_of], down[:, bin_of]
    positive = np.where(mixed_row, refused * up_row, up_row)
    negative = np.where(mixed_row, (1 - refused) * down_row, 1 - down_row)
    positive = W * np.where(right, np.nan_to_num(positive), refused)
    negative = W * np.where(right, np.nan_to_num(negative), 1 - refused)
    value = soft_auroc(score, positive, negative)
    return None if value is None else (or_none(np.asarray(value)[0]) if single else value)


def _difference(first: ArrayLike | None, second: ArrayLike | None) -> float | Floats | None:
    if first is None or second is None:
        return None
    gap = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    return float(gap) if gap.ndim == 0 else gap


def _auroc(score: Floats, wrong: Floats, weights: ArrayLike | None) -> float | Floats | None:
    return auroc(score, wrong) if weights is None else auroc(score, wrong, weights)


def _inflation(
    u: Floats, m: Floats, t: Floats, b: Floats, weights: ArrayLike | None = None
) -> float | Floats | None:
    return _difference(_auroc(u, m, weights), _auroc(u, t, weights))


def _from_length(
    u: Floats, m: Floats, t: Floats, b: Floats, weights: ArrayLike | None = None
) -> float | Floats | None:
    spread = spread_auroc(u, m, t, b, weights)
    return _difference(_auroc(u, m, weights), spread)


def _unexplained(
    u: Floats, m: Floats, t: Floats, b: Floats, weights: ArrayLike | None = None
) -> float | Floats | None:
    spread = spread_auroc(u, m, t, b, weights)
    return _difference(spread, _auroc(u, t, weights))


class LengthAudit(msgspec.Struct, frozen=True):
    """One score against one answer metric, with and without a better truth.

    ``against_metric`` the AUROC as usually reported; ``length`` the AUROC of plain length against
    the same metric; ``score_length`` and ``metric_length`` Spearman correlations of length with
    the score and with being called wrong; ``at_fixed_length`` and ``beyond_length`` the partial
    AUROCs by strata and by residuals. With a better truth also ``against_truth``, their
    ``difference`` = ``from_length`` + ``unexplained``, and the metric's ``agreement`` with it;
    else ``None``. All on the rows where everything is known.
    """

    against_metric: Estimate
    length: Estimate
    score_length: Estimate
    metric_length: Estimate
    at_fixed_length: Estimate
    beyond_length: Estimate
    against_truth: Estimate | None = None
    length_truth: Estimate | None = None
    difference: Estimate | None = None
    from_length: Estimate | None = None
    unexplained: Estimate | None = None
    agreement: Estimate | None = None

    def sentence(self) -> str:
        """Return what may be said, and no more."""
        plain = f"AUROC {_told(self.against_metric)} against this metric"
        alone = f"plain length has {_told(self.length)}"
        if self.against_truth is None or self.difference is None or self.from_length is None:
            return (
                f"{plain}; {alone}. Without a better truth nothing more can be said of what "
                "length adds."
            )
        rest = self.unexplained
        return (
            f"{plain}, {_told(self.against_truth)} against the best truth on the same rows; "
            f"{alone}. Of the difference of {_told(self.difference, signed=True)}, "
            f"{_told(self.from_length, signed=True)} comes from refused longer right answers, "
            f"{_told(rest, signed=True)} stays unexplained."
        )


def _told(estimate: Estimate | None, signed: bool = False) -> str:
    if estimate is None or estimate.value is None:
        return "undefined"
    form = "+.3f" if signed else ".3f"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:{form}}"
    return f"{estimate.value:{form}} [{estimate.low:{form}}, {estimate.high:{form}}]"


def length_audit(
    uncertainty: ArrayLike,
    incorrect_metric: ArrayLike,
    length: ArrayLike,
    incorrect_truth: ArrayLike | None = None,
    bins: int = 10,
    clusters: ArrayLike | None = None,
    n: int = 2000,
    seed: int = 0,
) -> LengthAudit:
    """Return the length audit of one score (n,) against one answer metric (n,).

    ``length`` (n,) in tokens or words; ``incorrect_truth`` (n,) the best truth there is (people
    first). ``bins`` quantiles of length, over which false negatives are spread and within which
    pairs are compared. Rows with NaN anywhere are left out, so every number is of the same rows.
    The same resamples serve all numbers.
    """
    u, m, x = (np.asarray(a, dtype=np.float64) for a in (uncertainty, incorrect_metric, length))
    t = None if incorrect_truth is None else np.asarray(incorrect_truth, dtype=np.float64)
    arrays = [u, m, x] if t is None else [u, m, x, t]
    if len({a.shape for a in arrays}) != 1:
        raise InputError(f"the audit needs rows of one length, got {[len(a) for a in arrays]}")
    unit = np.arange(len(u)) if clusters is None else np.asarray(clusters)
    use = ~np.isnan(np.stack(arrays)).any(axis=0)
    u, m, x, unit = u[use], m[use], x[use], unit[use]
    t = None if t is None else t[use]

    def estimate(
        name: str, metric: Metric, *data: NDArray[Any], low: float | None = 0.0, **keywords: Any
    ) -> Estimate:
        limits = None if low is None else (low, 1.0)
        return bootstrap(
            metric, *data, clusters=unit, n=n, seed=seed, limits=limits, name=name, **keywords
        )

    common = {
        "against_metric": estimate("auroc", auroc, u, m),
        "length": estimate("auroc_of_length", auroc, x, m),
        "score_length": estimate("score_length_correlation", spearman, u, x, low=-1.0),
        "metric_length": estimate("metric_length_correlation", spearman, m, x, low=-1.0),
        "at_fixed_length": estimate("auroc_at_fixed_length", strata_auroc, u, m, x, strata=bins),
        "beyond_length": estimate("auroc_beyond_length", residual_auroc, u, m, x),
    }
    if t is None:
        return LengthAudit(**common)
    b = length_bins(x, bins)
    return LengthAudit(
        **common,
        against_truth=estimate("auroc_truth", auroc, u, t),
        length_truth=estimate("auroc_of_length_truth", auroc, x, t),
        difference=estimate("inflation", _inflation, u, m, t, b, low=None),
        from_length=estimate("inflation_from_length", _from_length, u, m, t, b, low=None),
        unexplained=estimate("inflation_unexplained", _unexplained, u, m, t, b, low=None),
        agreement=estimate("agreement", agreement, m, t),
    )

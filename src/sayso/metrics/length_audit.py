"""How much of a score's AUROC comes from refused longer right answers?

Many scores grow with the number of tokens. If an answer metric (ROUGE-L against a two-word
reference, say) also calls long right answers wrong, such scores earn an AUROC that they would not
have against the truth (Santilli et al., arXiv 2504.13677).

The audit compares three AUROCs on the *same rows*: against the answer metric, against the best
truth there is, and against the metric with its false negatives spread evenly over length. The first
less the third is what length adds through the metric; the third less the second stays unexplained.

A threshold turns a continuous metric into right and wrong, and moves every number after it. The
sweep shows, at each, how far the metric agrees with people and by how much it inflates the AUROC of
a score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.agreement import agreement, kappa
from sayso.metrics.arrays import (
    Floats,
    Result,
    as_result,
    block_starts,
    cluster_codes,
    codes,
    count_codes,
    divide,
    or_none,
    weight_rows,
)
from sayso.metrics.intervals import Statistic, bootstrap, bootstrap_share, replicates_of
from sayso.metrics.ranking import (
    auroc,
    auroc_steps,
    bootstrap_auroc,
    mid_ranks,
    ranked_replicates,
    spearman,
    within_auroc,
)
from sayso.records import Estimate, InputError, slice_of

__all__ = [
    "THRESHOLDS", "FalseNegatives", "LengthAudit", "SweepRow", "Threshold", "false_negative_slope",
    "false_negatives", "length_audit", "length_bins", "length_inflation", "residual_auroc",
    "soft_auroc", "spread_auroc", "strata_auroc", "threshold_sweep",
]  # fmt: skip


def length_inflation(p_correct: float, q_short: float) -> dict[str, float | None]:
    """Return the AUROC that length alone earns when long right answers are called wrong.

    Closed form for a score that grows with length, length independent of
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
    index = np.full(len(x), -1, dtype=np.int64)
    use = ~np.isnan(x)
    if use.any():
        edges = np.quantile(x[use], np.arange(1, bins) / bins)
        index[use] = np.searchsorted(edges, x[use], side="left")
    return index


def strata_auroc(
    uncertainty: ArrayLike,
    incorrect: ArrayLike,
    length: ArrayLike,
    weights: ArrayLike | None = None,
    strata: int = 10,
) -> Result:
    """Return the AUROC among pairs of answers in the same quantile of length, 0..1.

    Partial AUROC at fixed length by strata (as :func:`~sayso.metrics.within_auroc`). Inside a
    stratum some length remains; more strata leave less. If length itself causes errors this takes
    away too much: compare it with the plain AUROC.
    """
    stratum = length_bins(length, strata)
    wrong = np.where(stratum < 0, np.nan, np.asarray(incorrect, dtype=np.float64))
    return within_auroc(uncertainty, wrong, stratum, weights)


def residual_auroc(
    uncertainty: ArrayLike,
    incorrect: ArrayLike,
    length: ArrayLike,
    weights: ArrayLike | None = None,
) -> Result:
    """Return the AUROC of the residual of the score's rank from a straight line in length's rank.

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
    return as_result(values, single)


def false_negative_slope(
    refused: ArrayLike, bins: ArrayLike, weights: ArrayLike | None = None
) -> Result:
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
    return as_result(value, single)


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
    unit = cluster_codes(clusters, len(y))
    use = ~(np.isnan(y) | np.isnan(x))
    y, x, unit = y[use], x[use], unit[use]
    index = length_bins(x, bins)
    by_length = []
    for k in range(bins):
        here = index == k
        reach = f"{x[here].min():g}-{x[here].max():g}" if here.any() else "none"
        part = bootstrap_share("false_negatives", y > 0, here, unit, n, seed)
        by_length.append(msgspec.structs.replace(part, where=slice_of(length=reach)))
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
    if len(y) and y.min() == y.max():
        problem = (
            slope.problem if slope.value is None else "no interval: all or no answers are rejected"
        )
        slope = msgspec.structs.replace(slope, low=None, high=None, problem=problem)
    overall = bootstrap_share("false_negatives", y > 0, np.ones(len(y)), unit, n, seed)
    return FalseNegatives(overall, tuple(by_length), slope)


def soft_auroc(uncertainty: ArrayLike, positive: ArrayLike, negative: ArrayLike) -> Result:
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
    return as_result(value, single)


def spread_auroc(
    uncertainty: ArrayLike,
    incorrect_metric: ArrayLike,
    incorrect_truth: ArrayLike,
    bins: ArrayLike,
    weights: ArrayLike | None = None,
) -> Result:
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
    size = count_codes(bin_of)
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
    return None if value is None else as_result(np.asarray(value), single)


def _difference(first: ArrayLike | None, second: ArrayLike | None) -> Result:
    if first is None or second is None:
        return None
    gap = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    return float(gap) if gap.ndim == 0 else gap


#: quantiles of length within which pairs are compared
LENGTH_BINS = 10


class _Audited(NamedTuple):
    """The rows of an audit (n,): score, metric, length, truth (1 = wrong), cluster, length bin."""

    u: Floats
    m: Floats
    x: Floats
    t: Floats | None
    unit: NDArray[np.int64]
    b: Floats


class LengthAudit:
    """One score against one answer metric, with and without a better truth.

    ``against_metric`` the AUROC as usually reported; ``length`` the AUROC of plain length against
    the same metric; ``score_length`` and ``metric_length`` Spearman correlations of length with
    the score and with being called wrong; ``at_fixed_length`` and ``beyond_length`` the partial
    AUROCs by strata and by residuals. With a better truth also ``against_truth``, their
    ``difference`` = ``from_length`` + ``unexplained``, and the metric's ``agreement`` with it;
    else ``None``. All on the rows where everything is known. Each number is computed when it is
    read, and once.
    """

    #: the numbers, in order
    FIELDS = (
        "against_metric", "length", "score_length", "metric_length", "at_fixed_length",
        "beyond_length", "against_truth", "length_truth", "difference", "from_length",
        "unexplained", "agreement",
    )  # fmt: skip

    def __init__(
        self,
        uncertainty: ArrayLike,
        incorrect_metric: ArrayLike,
        length: ArrayLike,
        incorrect_truth: ArrayLike | None = None,
        clusters: ArrayLike | None = None,
        n: int = 2000,
        seed: int = 0,
    ) -> None:
        given = (uncertainty, incorrect_metric, length, incorrect_truth)
        self._given = [None if a is None else np.asarray(a, dtype=np.float64) for a in given]
        shapes = [a.shape for a in self._given if a is not None]
        if len({*shapes}) != 1:
            raise InputError(
                f"the audit needs rows of one length, got {[shape[0] for shape in shapes]}"
            )
        self._clusters, self._n, self._seed = clusters, n, seed

    def numbers(self) -> dict[str, Estimate | None]:
        """Return all numbers by name."""
        return {name: getattr(self, name) for name in self.FIELDS}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LengthAudit) and self.numbers() == other.numbers()

    @cached_property
    def _rows(self) -> _Audited:
        u, m, x, t = self._given
        u, m, x = map(_known, (u, m, x))
        use = ~np.isnan(np.stack([u, m, x, *([] if t is None else [t])])).any(axis=0)
        unit = codes(cluster_codes(self._clusters, len(u))[use])  # without the rows left out
        b = length_bins(x[use], LENGTH_BINS).astype(np.float64)
        return _Audited(u[use], m[use], x[use], None if t is None else t[use], unit, b)

    def _estimate(
        self,
        name: str,
        metric: Statistic,
        *data: NDArray[Any],
        low: float | None = 0.0,
        **more: Any,
    ) -> Estimate:
        limits = None if low is None else (low, 1.0)
        return bootstrap(
            metric, *data, clusters=self._rows.unit, n=self._n, seed=self._seed, limits=limits,
            name=name, **more,
        )  # fmt: skip

    def _area(self, name: str, score: Floats, wrong: Floats, drawn: Floats | None) -> Estimate:
        return bootstrap_auroc(
            score, wrong, clusters=self._rows.unit, name=name, n=self._n, seed=self._seed,
            replicates=drawn,
        )  # fmt: skip

    def _areas_drawn(self, wrong: Floats) -> Floats | None:
        """Return the AUROC of the score in each resample, ``None`` where groups stand for them."""
        rows = self._rows
        found = ranked_replicates((auroc_steps,), rows.u, wrong, rows.unit, self._n, self._seed)
        return None if found is None else found[0]

    @cached_property
    def _metric_drawn(self) -> Floats | None:
        return self._areas_drawn(self._rows.m)

    @cached_property
    def _truth_drawn(self) -> Floats | None:
        return self._areas_drawn(_known(self._rows.t))

    @cached_property
    def _spread_drawn(self) -> Floats | None:
        rows = self._rows
        if self._metric_drawn is None:
            return None
        data = (rows.u, rows.m, _known(rows.t), rows.b)
        return replicates_of(spread_auroc, data, rows.unit, self._n, self._seed)

    @cached_property
    def against_metric(self) -> Estimate:
        """The AUROC against the metric."""
        return self._area("auroc", self._rows.u, self._rows.m, self._metric_drawn)

    @cached_property
    def length(self) -> Estimate:
        """The AUROC of length against the metric."""
        return self._area("auroc_of_length", self._rows.x, self._rows.m, None)

    @cached_property
    def score_length(self) -> Estimate:
        """The rank correlation of score and length."""
        rows = self._rows
        return self._estimate("score_length_correlation", spearman, rows.u, rows.x, low=-1.0)

    @cached_property
    def metric_length(self) -> Estimate:
        """The rank correlation of being called wrong and length."""
        rows = self._rows
        return self._estimate("metric_length_correlation", spearman, rows.m, rows.x, low=-1.0)

    @cached_property
    def at_fixed_length(self) -> Estimate:
        """The AUROC among answers of like length."""
        rows = self._rows
        return self._estimate("auroc_at_fixed_length", strata_auroc, rows.u, rows.m, rows.x)

    @cached_property
    def beyond_length(self) -> Estimate:
        """The AUROC of what length does not explain of the score."""
        rows = self._rows
        return self._estimate("auroc_beyond_length", residual_auroc, rows.u, rows.m, rows.x)

    @cached_property
    def against_truth(self) -> Estimate | None:
        """The AUROC against the truth."""
        rows = self._rows
        if rows.t is None:
            return None
        return self._area("auroc_truth", rows.u, rows.t, self._truth_drawn)

    @cached_property
    def length_truth(self) -> Estimate | None:
        """The AUROC of length against the truth."""
        rows = self._rows
        if rows.t is None:
            return None
        return self._area("auroc_of_length_truth", rows.x, rows.t, None)

    @cached_property
    def difference(self) -> Estimate | None:
        """The AUROC against the metric less that against the truth."""
        return self._part("inflation", "metric", "truth")

    @cached_property
    def from_length(self) -> Estimate | None:
        """What of the difference the metric's false negatives by length account for."""
        return self._part("inflation_from_length", "metric", "spread")

    @cached_property
    def unexplained(self) -> Estimate | None:
        """The rest of the difference."""
        return self._part("inflation_unexplained", "spread", "truth")

    @cached_property
    def agreement(self) -> Estimate | None:
        """The share of rows with the same verdict of metric and truth."""
        rows = self._rows
        return None if rows.t is None else self._estimate("agreement", agreement, rows.m, rows.t)

    def _part(self, name: str, first: str, second: str) -> Estimate | None:
        """Return a difference of two of :data:`AREAS`."""
        rows = self._rows
        if rows.t is None:
            return None
        one, two = getattr(self, f"_{first}_drawn"), getattr(self, f"_{second}_drawn")
        drawn = None if one is None or two is None else one - two
        data = (rows.u, rows.m, rows.t, rows.b)

        def difference(*columns: Any) -> Result:
            return _difference(AREAS[first](*columns), AREAS[second](*columns))

        return self._estimate(name, difference, *data, low=None, replicates=drawn)

    def sentence(self) -> str:
        """Return in a sentence what the audit shows, and no more."""
        plain = f"AUROC {_show(self.against_metric)} against this metric"
        alone = f"plain length has {_show(self.length)}"
        if self.against_truth is None or self.difference is None or self.from_length is None:
            return (
                f"{plain}; {alone}. Without a better ground truth, no more can be said about the "
                "effect of length."
            )
        rest = self.unexplained
        return (
            f"{plain}, {_show(self.against_truth)} against the best truth on the same rows; "
            f"{alone}. The difference is {_show(self.difference, signed=True)}. Longer right "
            f"answers that the metric rejects account for {_show(self.from_length, signed=True)}; "
            f"{_show(rest, signed=True)} is unexplained."
        )


def _known(column: Floats | None) -> Floats:
    assert column is not None
    return column


#: the AUROC against the metric, the truth, and the truth with false negatives spread over lengths
AREAS: dict[str, Statistic] = {
    "metric": lambda u, m, t, b, weights=None: auroc(u, m, weights),
    "spread": spread_auroc,
    "truth": lambda u, m, t, b, weights=None: auroc(u, t, weights),
}


def _show(estimate: Estimate | None, signed: bool = False) -> str:
    if estimate is None or estimate.value is None:
        return "undefined"
    value, *ends = (
        f"{number:{'+' if signed else ''}.3f}".replace("0.", ".", 1)
        for number in (estimate.value, estimate.low, estimate.high)
        if number is not None
    )
    return f"{value} [{', '.join(ends)}]" if len(ends) == 2 else value


def length_audit(
    uncertainty: ArrayLike,
    incorrect_metric: ArrayLike,
    length: ArrayLike,
    incorrect_truth: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    n: int = 2000,
    seed: int = 0,
) -> LengthAudit:
    """Return the length audit of one score (n,) against one answer metric (n,).

    ``length`` (n,) in tokens or words; ``incorrect_truth`` (n,) the best truth there is (people
    first). Ten quantiles of length, over which false negatives are spread and within which
    pairs are compared. Rows with NaN anywhere are left out, so every number is of the same rows.
    The same resamples serve all numbers.
    """
    return LengthAudit(uncertainty, incorrect_metric, length, incorrect_truth, clusters, n, seed)


# ---- thresholds of answer metrics


class Threshold(msgspec.Struct, frozen=True):
    """An answer is correct when its value is above ``cut`` (``strict``) or at least ``cut``."""

    cut: float
    strict: bool = True

    def correct(self, values: ArrayLike) -> Floats:
        """Return 1 / 0 for values (n,); NaN stays NaN: a missing value is not wrong."""
        x = np.asarray(values, dtype=np.float64)
        passed = x > self.cut if self.strict else x >= self.cut
        return np.where(np.isnan(x), np.nan, passed.astype(np.float64))


#: Where a sweep looks by default.
SWEEP = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

#: The thresholds of the papers; values are fractions.
THRESHOLDS: dict[str, Threshold] = {
    "rouge_l": Threshold(0.5, strict=True),
    "squad_f1": Threshold(0.5, strict=False),
    "bert_score": Threshold(0.5, strict=True),
    "exact_match": Threshold(0.5),
    "squad_em": Threshold(0.5),
    "contains": Threshold(0.5),
}


class SweepRow(msgspec.Struct, frozen=True):
    """What one threshold does, on the rows where people gave a verdict.

    ``accepted`` share called correct; ``agreement`` with people and ``kappa``;
    ``false_negatives`` share of people's correct answers that are refused, ``false_positives``
    share of their incorrect ones that are accepted; for each score its ``auroc`` against the
    thresholded metric and its ``inflation`` = that less its AUROC against people.
    ``None`` = undefined.
    """

    threshold: float
    accepted: float | None
    agreement: float | None
    kappa: float | None
    false_negatives: float | None
    false_positives: float | None
    auroc: dict[str, float | None]
    inflation: dict[str, float | None]
    n: int


def threshold_sweep(
    values: ArrayLike,
    people: ArrayLike,
    scores: Mapping[str, ArrayLike] | None = None,
    thresholds: Sequence[float] = SWEEP,
    strict: bool = True,
) -> list[SweepRow]:
    """Return one row for each threshold of an answer metric.

    ``values`` (n,) of the metric, ``people`` (n,) 1 = correct by people, 0 = not, NaN = no
    verdict (left out); ``scores`` name -> (n,) uncertainty.
    """
    x, y = np.asarray(values, dtype=np.float64), np.asarray(people, dtype=np.float64)
    if x.shape != y.shape:
        raise InputError(f"{len(x)} values and {len(y)} verdicts of people: give one for each")
    use = ~(np.isnan(x) | np.isnan(y))
    columns = {k: np.asarray(v, dtype=np.float64)[use] for k, v in (scores or {}).items()}
    x, right = x[use], y[use] > 0
    real = {k: auroc(v, ~right) for k, v in columns.items()}
    rows = []
    for cut in thresholds:
        passed = Threshold(cut, strict).correct(x) > 0
        areas = {k: auroc(v, ~passed) for k, v in columns.items()}
        gaps = ((k, areas[k], real[k]) for k in columns)
        same = kappa(passed, right) if len(x) else None
        rows.append(
            SweepRow(
                threshold=float(cut),
                accepted=or_none(divide(passed.sum(), len(x))),
                agreement=or_none(divide((passed == right).sum(), len(x))),
                kappa=None if same is None else float(np.asarray(same)),
                false_negatives=or_none(divide((~passed & right).sum(), right.sum())),
                false_positives=or_none(divide((passed & ~right).sum(), (~right).sum())),
                auroc=areas,
                inflation={k: None if a is None or b is None else a - b for k, a, b in gaps},
                n=len(x),
            )
        )
    return rows

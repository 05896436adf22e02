"""Does an uncertainty score tell wrong answers from right ones? Ranking and selective metrics.

All take ``metric(uncertainty, incorrect, weights=None)``: ``uncertainty`` (n,) floats, higher =
less certain; ``incorrect`` (n,) 1 = wrong, 0 = right; NaN in either drops the row; ``weights``
(n,), or (B, n) and then the result is (B,), NaN where undefined. Without (B, n) weights the
result is a float, ``None`` where undefined (no rows, and what each docstring adds). A monotone
transform of the score changes nothing, and ties count in expectation, never by row order, except
where a docstring says otherwise.

A score is sorted once; every resample is then a row of weights summed over the tie blocks, so that
2,000 resamples cost one sort and a few passes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, Literal, NamedTuple, overload

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import (
    Floats,
    Result,
    as_result,
    block_starts,
    cluster_codes,
    codes,
    count_codes,
    cumulative_before,
    divide,
    rounded,
    weight_rows,
    whole_counts,
)
from sayso.metrics.intervals import (
    MANY,
    SINGLE_CLUSTER,
    UNBOUNDED,
    OneMore,
    bootstrap,
    drawn_weights,
    effective_number,
    exact_interval,
    telling,
)
from sayso.records import Estimate, InputError

__all__ = [
    "PENALTIES", "SCORE_METRICS", "RiskCoverage", "accuracy_at_coverage", "auprc", "aurac", "aurc",
    "auroc", "bootstrap_auroc", "bootstrap_prr", "bootstrap_ranking", "fit_threshold",
    "missing_scores", "pearson", "prr", "risk_coverage", "selective_utility", "spearman",
    "utilities", "within_auroc",
]  # fmt: skip

Weighting = Literal["pairs", "mantel_haenszel"]
RejectionKind = Literal["normalised", "official", "trapezoid"]
#: Harmonic numbers up to which a table of them is kept.
MOST_KNOWN = 1_000_000
#: Weights handled at once by :class:`SortedScore`: what fits into a processor's cache.
CACHED = 131_072


def missing_scores(uncertainty: ArrayLike) -> int:
    """Return how many scores are NaN: the rows that :func:`auroc` leaves out."""
    return int(np.isnan(np.asarray(uncertainty, dtype=np.float64)).sum())


@overload
def auroc(uncertainty: ArrayLike, incorrect: ArrayLike, weights: None = None) -> float | None: ...
@overload
def auroc(uncertainty: ArrayLike, incorrect: ArrayLike, weights: ArrayLike) -> Result: ...
def auroc(uncertainty: ArrayLike, incorrect: ArrayLike, weights: ArrayLike | None = None) -> Result:
    """Return P(score of a wrong answer > score of a right one) + half P(tie).

    Mann-Whitney with mid-ranks for ties. ``uncertainty`` (n,) floats, higher = less certain;
    ``incorrect`` (n,) 1 = wrong, 0 = right. ``weights`` (n,), or (B, n) and then the result is
    (B,), all from one sort. ``None`` (NaN in the (B,) form) when only one class has weight, or
    without rows. Rows whose score or class is NaN are dropped; count them with
    :func:`missing_scores`. Raises :class:`InputError` for classes other than 0, 1 and NaN, as
    where the two arguments were swapped: the scores come first.
    """
    return _of_one(auroc_steps, uncertainty, incorrect, weights)


@overload
def within_auroc(
    uncertainty: ArrayLike,
    incorrect: ArrayLike,
    types: ArrayLike | None,
    weights: None = None,
    weighting: Weighting = "pairs",
) -> float | None: ...
@overload
def within_auroc(
    uncertainty: ArrayLike,
    incorrect: ArrayLike,
    types: ArrayLike | None,
    weights: ArrayLike | None,
    weighting: Weighting = "pairs",
) -> Result: ...
def within_auroc(
    uncertainty: ArrayLike,
    incorrect: ArrayLike,
    types: ArrayLike | None,
    weights: ArrayLike | None = None,
    weighting: Weighting = "pairs",
) -> Result:
    """Return the AUROC among pairs of the same type (``types=None``: all are one type).

    Type priors alone separate right from wrong across types, so the pooled AUROC of a model
    without any knowledge can be high; pairs within a type are free of that. With
    ``weighting="pairs"`` every right-wrong pair of one type counts alike: the share of all such
    pairs in which the wrong answer has the higher score (ties half), i.e. types are weighted
    n_wrong * n_right. ``"mantel_haenszel"`` weights a type's AUROC by
    n_wrong * n_right / (n_wrong + n_right), so that a large type counts linearly. Types with one
    class only do not enter. Shapes, NaN, errors and undefined as in :func:`auroc`.
    """
    score, wrong = _scores_and_classes(uncertainty, incorrect)
    kind = np.zeros(len(score), dtype=np.int64) if types is None else codes(types)
    W, single = weight_rows(weights, len(score))
    use = np.flatnonzero(~(np.isnan(score) | np.isnan(wrong)))
    order = use[np.lexsort((score[use], kind[use]))]
    if len(order) == 0:
        return as_result(np.full(len(W), np.nan), single)
    kind, score = kind[order], score[order]
    positive = W[:, order] * (wrong[order] > 0)
    negative = W[:, order] - positive
    tie_start, type_start = block_starts(kind, score), block_starts(kind)
    P = np.add.reduceat(positive, tie_start, axis=1)
    N = np.add.reduceat(negative, tie_start, axis=1)
    # Tie blocks are sorted by type, so a search finds the first block of a type.
    first = np.searchsorted(tie_start, type_start)
    below = cumulative_before(N, first)
    concordant = np.add.reduceat(P * (below + N / 2), first, axis=1)
    P_type, N_type = (np.add.reduceat(side, first, axis=1) for side in (P, N))
    pairs = P_type * N_type
    if weighting == "pairs":
        value = divide(concordant.sum(axis=1), pairs.sum(axis=1))
    else:
        share = divide(pairs, P_type + N_type)
        share = np.where(pairs > 0, share, 0.0)
        auc = np.where(pairs > 0, divide(concordant, pairs), 0.0)
        value = divide((share * auc).sum(axis=1), share.sum(axis=1))
    return as_result(value, single)


def _scores_and_classes(uncertainty: ArrayLike, incorrect: ArrayLike) -> tuple[Floats, Floats]:
    score = np.asarray(uncertainty, dtype=np.float64)
    wrong = np.asarray(incorrect, dtype=np.float64)
    if score.shape != wrong.shape or score.ndim != 1:
        raise InputError(
            f"scores and classes must be rows of one length, got {score.shape} and {wrong.shape}"
        )
    if not ((wrong == 0) | (wrong == 1) | np.isnan(wrong)).all():
        raise InputError(
            "classes must be 1 (incorrect), 0 (correct) or NaN (not known); the scores come first, "
            "the classes second"
        )
    return score, wrong


# ---- the interval of an AUROC, and what it rests on

#: right and wrong answers below which scores are not ranked, and how their numbers say so
FEWEST = 5
#: right and wrong answers below which a ranking is uncertain, and nothing is claimed by it
FEW = 10
TOO_FEW = f"a ranking needs at least {FEWEST} of each kind"
#: why an AUROC of .5 has no interval
EQUAL = "all scores are equal"


class Pairs(NamedTuple):
    """The pairs of a wrong and a right answer that an AUROC counts.

    ``wrong`` and ``right`` are the answers that are in any; ``independent`` is how many independent
    pairs they are worth.
    """

    total: int
    wrong: int
    right: int
    independent: float


def pairs_of(
    incorrect: ArrayLike, strata: ArrayLike | None = None, clusters: ArrayLike | None = None
) -> Pairs:
    """Return the pairs within strata of answers (n,), 1 = wrong, 0 = right, NaN = in none.

    Of m wrong and n right answers that stand alone min(m, n) pairs are independent: no two share
    an answer (Hoeffding 1963, section 5b). With entities (``clusters``) and strata each side is
    worth (sum d)^2 / sum d^2 entities (Kish 1965), d the pairs in which an entity stands on that
    side, as if all its answers moved together; the lesser side counts.
    """
    wrong = np.asarray(incorrect, dtype=np.float64)
    use = ~np.isnan(wrong)
    kind = (np.zeros(len(wrong), dtype=np.int64) if strata is None else codes(strata))[use]
    entity = cluster_codes(clusters, len(wrong))[use]
    bad = wrong[use] > 0
    per_kind = [np.bincount(kind[side], minlength=count_codes(kind)) for side in (bad, ~bad)]
    partners = np.where(bad, per_kind[1][kind], per_kind[0][kind])
    held = partners > 0
    if not held.any():
        return Pairs(0, 0, 0, 0.0)
    worth = min(
        effective_number(np.bincount(entity[side], weights=partners[side])) for side in (bad, ~bad)
    )
    return Pairs(int(partners[bad].sum()), int((held & bad).sum()), int((held & ~bad).sum()), worth)


def too_few(wrong: int, right: int) -> str | None:
    """Return why so many answers of each kind give no ranking of scores; ``None`` if they do."""
    few, kind = min((wrong, "wrong"), (right, "right"))
    if few >= FEWEST:
        return None
    total = wrong + right
    if not total:
        return "no answer has a verdict"
    if not few:
        return f"all {total:,} answers are {'correct' if right else 'wrong'}: {TOO_FEW}"
    return f"{few} {kind} of {total:,} answers: {TOO_FEW}"


#: the width at which an interval of PRR, 1 at best and 0 at random, leaves everything open; a
#: narrower limit would print those alone that are too narrow by chance
WIDEST_PRR = 3.0


#: where one more wrong answer, placed at random among the others, stands in AUROC and PRR: uniform,
#: and 1 less an exponential variable
ANYWHERE, REJECTED = (0.5, 1 / 12), (0.0, 1.0)


def bootstrap_auroc(
    uncertainty: ArrayLike,
    incorrect: ArrayLike,
    strata: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    name: str = "auroc",
    **resampling: Any,
) -> Estimate:
    """Return the AUROC (within strata) with its 95 % interval, and its pairs.

    ``numerator`` are the pairs in order, ties half, ``denominator`` all of them. Inside the range
    the interval is that of :func:`~sayso.metrics.intervals.bootstrap`, which takes ``resampling``
    (``n``, ``seed``), with one more answer at random place beside the independent pairs
    (:func:`pairs_of`): an AUROC is the mean place of the rarer answers among the others, and a few
    of them seldom show the rare one that is far off. At 0 and 1, where every resample is perfect
    too, it is Clopper-Pearson's (1934) for as many trials as there are independent pairs. For
    answers that stand alone that holds at least 95 % of the time whatever the scores' laws:
    min(m, n) pairs that share no answer are all in order with probability AUROC^min(m, n) at most.
    No interval for equal scores, and for a single cluster.
    """
    score, wrong = _scores_and_classes(uncertainty, incorrect)
    metric: Callable[..., Any] = auroc if strata is None else within_auroc
    more = () if strata is None else (np.asarray(strata),)
    use = ~(np.isnan(score) | np.isnan(wrong))
    pairs = pairs_of(np.where(use, wrong, np.nan), strata, clusters)
    # many strata would leave too few pairs of one in a random group
    estimate = bootstrap(
        metric, score, wrong, *more, clusters=clusters, name=name, whole=bool(more),
        freedom=OneMore(pairs.independent, *ANYWHERE), **resampling,
    )  # fmt: skip
    estimate = with_pairs(msgspec.structs.replace(estimate, n=int(use.sum())), pairs)
    if estimate.value is not None and score[use].min() == score[use].max():
        return msgspec.structs.replace(estimate, low=None, high=None, problem=EQUAL)
    return telling(estimate)


def bootstrap_prr(
    uncertainty: ArrayLike,
    incorrect: ArrayLike,
    clusters: ArrayLike | None = None,
    **resampling: Any,
) -> Estimate:
    """Return the prediction-rejection ratio with its 95 % interval.

    With one more wrong answer at random, as in :func:`bootstrap_auroc`: what a wrong answer costs
    is about -log of its rank, so that one early error costs more than many late ones, and few
    errors seldom show one. None wider than :data:`WIDEST_PRR`.
    """
    score, wrong = _scores_and_classes(uncertainty, incorrect)
    use = ~(np.isnan(score) | np.isnan(wrong))
    pairs = pairs_of(np.where(use, wrong, np.nan), clusters=clusters)
    estimate = bootstrap(
        prr, score, wrong, clusters=clusters, name="prr", limits=(-np.inf, 1.0),
        freedom=OneMore(pairs.independent, *REJECTED), **resampling,
    )  # fmt: skip
    if estimate.low is None or estimate.high is None:
        return estimate
    if estimate.high - estimate.low <= WIDEST_PRR:
        return estimate
    return msgspec.structs.replace(estimate, low=None, high=None, problem=UNBOUNDED)


class RankedEstimates(NamedTuple):
    """What one score is worth, with intervals: four metrics of the same resamples."""

    auroc: Estimate
    prr: Estimate
    aurac: Estimate
    accuracy: Estimate


def bootstrap_ranking(
    uncertainty: ArrayLike,
    incorrect: ArrayLike,
    clusters: ArrayLike | None = None,
    n: int = 2000,
    others: int = 500,
    seed: int = 0,
    coverage: float = 0.8,
) -> RankedEstimates:
    """Return :func:`bootstrap_auroc`, :func:`bootstrap_prr`, and two more metrics of one ranking.

    The numbers are those of each metric alone, from resamples that are sorted and summed up once.
    AUROC takes ``n`` of them, the others at most ``others``; accuracy is at ``coverage``.
    """
    score, few = np.asarray(uncertainty, dtype=np.float64), min(n, others)
    rest = (prr_steps, aurac_steps, partial(accuracy_steps, coverage=coverage))
    wanted = (auroc_steps, *rest)
    drawn = ranked_replicates(wanted, score, incorrect, clusters, few, seed)
    if drawn is not None and n > few:  # the first resamples are the same ones
        more = ranked_replicates((auroc_steps,), score, incorrect, clusters, n, seed, few)
        drawn[0] = np.concatenate([drawn[0], *(more or ())])
    known: Sequence[Floats | None] = drawn or [None] * len(wanted)

    def estimate(metric: Callable[..., Any], place: int, **keywords: Any) -> Estimate:
        return bootstrap(
            metric, score, incorrect, clusters=clusters, n=few, seed=seed,
            replicates=known[place], **keywords,
        )  # fmt: skip

    same: dict[str, Any] = {"clusters": clusters, "seed": seed}
    return RankedEstimates(
        bootstrap_auroc(score, incorrect, n=n, replicates=known[0], **same),
        bootstrap_prr(score, incorrect, n=few, replicates=known[1], **same),
        estimate(aurac, 2),
        estimate(accuracy_at_coverage, 3, coverage=coverage),
    )


def ranked_replicates(
    metrics: Sequence[StepMetric],
    uncertainty: ArrayLike,
    incorrect: ArrayLike,
    clusters: ArrayLike | None,
    n: int,
    seed: int,
    first: int = 0,
) -> list[Floats] | None:
    """Return metrics of a ranking in the resamples that :func:`bootstrap` takes, from ``first`` on.

    ``None`` where it takes random groups instead, or nothing.
    """
    rows = np.size(uncertainty)
    unit = cluster_codes(clusters, rows)
    count = count_codes(unit)
    if not 0 < count < MANY:
        return None
    ranking = SortedScore(uncertainty, incorrect)
    place = None if clusters is None or (unit == np.arange(len(unit))).all() else unit
    parts: list[list[Floats]] = [[np.zeros(0)] for _ in metrics]
    done = 0
    for weights in drawn_weights(count, n, seed, rows):
        kept = weights[max(first - done, 0) :]
        done += len(weights)
        for held, value in zip(parts, ranking.each(metrics, kept, place), strict=True):
            held.append(value)
    return [np.concatenate(held) for held in parts]


def with_pairs(estimate: Estimate, pairs: Pairs) -> Estimate:
    """Return an AUROC with its pairs as counts, and an exact interval where it is 0 or 1."""
    value = estimate.value
    if value is None:
        return msgspec.structs.replace(estimate, denominator=float(pairs.total))
    in_order = round(2 * value * pairs.total) / 2  # ties are halves
    counted = msgspec.structs.replace(estimate, numerator=in_order, denominator=float(pairs.total))
    if 0 < value < 1 or estimate.problem == SINGLE_CLUSTER:
        return counted
    size = pairs.independent
    low, high = exact_interval(value * size, size)
    order = "in order" if value > 0.5 else "in reverse order"
    note = f"all {pairs.total:,} pairs {order}: exact interval of {size:.3g} of them"
    return msgspec.structs.replace(counted, low=low, high=high, problem=note)


# ---- tie blocks and ranks


class Blocks(NamedTuple):
    """Tie blocks of one score, most certain first.

    ``value`` (m,) the score of each block; ``mass`` (B, m) the weight in it; ``loss`` (B, m) the
    weight times ``incorrect`` in it. ``single`` is True when the caller gave no (B, n) weights.
    """

    value: Floats
    mass: Floats
    loss: Floats
    single: bool

    def result(self, values: Floats) -> Result:
        """Return (B,) values in the shape that the caller's weights ask for."""
        return as_result(np.asarray(values, dtype=np.float64), self.single)


def tie_blocks(
    uncertainty: ArrayLike,
    incorrect: ArrayLike,
    weights: ArrayLike | None = None,
    binary: bool = True,
) -> Blocks:
    """Sort by score and sum weights over ties; rows whose score or class is NaN are dropped.

    ``incorrect`` is 1 = wrong, 0 = right, or, unless ``binary``, a loss 0..1. Infinite scores are
    ordered like any other. Raises :class:`InputError` for values outside.
    """
    score = np.asarray(uncertainty, dtype=np.float64)
    loss = np.asarray(incorrect, dtype=np.float64)
    if score.shape != loss.shape or score.ndim != 1:
        raise InputError(
            f"scores and classes must be rows of one length, got {score.shape} and {loss.shape}"
        )
    known = loss[~np.isnan(loss)]
    if binary and not np.isin(known, (0.0, 1.0)).all():
        raise InputError("classes must be 1 (incorrect), 0 (correct) or NaN (not known)")
    if ((known < 0) | (known > 1)).any():
        raise InputError("losses must lie in 0..1 or be NaN (not known)")
    W, single = weight_rows(weights, len(score))
    use = np.flatnonzero(~(np.isnan(score) | np.isnan(loss)))
    if len(use) == 0:
        empty: Floats = np.zeros((len(W), 0))
        return Blocks(np.zeros(0), empty, empty, single)
    order = use[np.argsort(score[use], kind="stable")]
    starts = block_starts(score[order])
    inside = W.take(order, axis=1)
    lost = inside * loss[order]
    if len(starts) < len(order):
        inside, lost = (np.add.reduceat(part, starts, axis=1) for part in (inside, lost))
    return Blocks(score[order][starts], inside, lost, single)


def mid_ranks(values: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Return the weighted share below each value plus half the share at it, 0..1.

    (n,), or (B, n) for weights (B, n). NaN for NaN values, which take no part, and for rows
    without weight.
    """
    x = np.asarray(values, dtype=np.float64)
    W, single = weight_rows(weights, len(x))
    ranks: Floats = np.full(W.shape, np.nan)
    use = np.flatnonzero(~np.isnan(x))
    if len(use):
        order = use[np.argsort(x[use], kind="stable")]
        starts = block_starts(x[order])
        mass = np.add.reduceat(W[:, order], starts, axis=1)
        total = mass.sum(axis=1, keepdims=True)
        middle = np.cumsum(mass, axis=1) - mass / 2
        share = np.divide(middle, total, out=np.full(middle.shape, np.nan), where=total > 0)
        sizes = np.diff(np.append(starts, len(order)))
        ranks[:, order] = np.repeat(share, sizes, axis=1)
    return ranks[0] if single else ranks


def paired_rows(
    first: ArrayLike, second: ArrayLike, weights: ArrayLike | None
) -> tuple[Floats, Floats, Floats, bool]:
    """Return two columns and :func:`weight_rows` of the rows that are NaN in neither."""
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise InputError(f"a correlation needs rows of one length, got {x.shape} and {y.shape}")
    W, single = weight_rows(weights, len(x))
    both = ~(np.isnan(x) | np.isnan(y))
    return x[both], y[both], W[:, both], single


def spearman(first: ArrayLike, second: ArrayLike, weights: ArrayLike | None = None) -> Result:
    """Return Spearman's rank correlation, -1..1, with mid-ranks for ties.

    Rows with a NaN on either side are dropped. ``weights`` (n,), or (B, n) and then (B,).
    ``None`` (NaN) without rows or when one side is constant.
    """
    x, y, W, single = paired_rows(first, second, weights)
    value: Floats = np.full(len(W), np.nan)
    total = W.sum(axis=1)
    some = total > 0
    if len(x) and some.any():
        V = W[some] / total[some, None]
        # Mid-ranks of a share have the weighted mean 1/2 whatever the ties.
        p, q = mid_ranks(x, W[some]) - 0.5, mid_ranks(y, W[some]) - 0.5
        spread = (V * p * p).sum(axis=1) * (V * q * q).sum(axis=1)
        top = (V * p * q).sum(axis=1)
        value[some] = np.divide(
            top, np.sqrt(spread), out=np.full(len(top), np.nan), where=spread > 1e-24
        )
    return as_result(value, single)


def pearson(first: ArrayLike, second: ArrayLike, weights: ArrayLike | None = None) -> Result:
    """Return Pearson's correlation, -1..1; rows, ``weights`` and undefined as in :func:`spearman`.

    Cov(x, y) / (sd(x) sd(y)) of the weighted rows.
    """
    x, y, W, single = paired_rows(first, second, weights)
    if not len(x):
        return as_result(np.full(len(W), np.nan), single)
    V = divide(W, W.sum(axis=1, keepdims=True))
    dx, dy = (v - (V @ v)[:, None] for v in (x - x[0], y - y[0]))  # 0 where all are the same
    spread = (V * dx**2).sum(axis=1) * (V * dy**2).sum(axis=1)
    flat = spread <= 1e-24 * max(float(np.ptp(x) * np.ptp(y)), 1e-300) ** 2
    value = divide((V * dx * dy).sum(axis=1), np.where(flat, 0.0, np.sqrt(spread)))
    return as_result(np.clip(value, -1, 1), single)


def harmonic(x: ArrayLike) -> Floats:
    """Return the harmonic numbers H(x) for real x >= 0: 1 + 1/2 + ... + 1/x for integers.

    H(x) = H(x+12) - sum_{i=1..12} 1/(x+i), and Euler's expansion of H above (error < 1e-12).
    """
    number = np.asarray(x, dtype=np.float64)
    top = number + 12
    square = top * top
    tail = 1 / (12 * square) - 1 / (120 * square**2) + 1 / (252 * square**3) - 1 / (240 * square**4)
    value = np.log(top) + np.euler_gamma + 1 / (2 * top) - tail
    for i in range(1, 13):
        value = value - 1 / (number + i)
    return np.asarray(value, dtype=np.float64)


def _harmonic_of_counts(counts: Floats) -> Floats:
    """Return :func:`harmonic` of numbers that are mostly small and whole, each worked out once."""
    most = float(counts.max(initial=0.0))
    whole = counts.astype(np.int64) if most <= MOST_KNOWN else None
    if whole is None or (whole != counts).any():
        return harmonic(counts)
    return _first_harmonics(1 << int(most).bit_length()).take(whole)


@lru_cache(maxsize=4)
def _first_harmonics(count: int) -> Floats:
    """Return H(0), H(1), ..., H(count - 1)."""
    numbers = harmonic(np.arange(count))
    numbers.flags.writeable = False  # they are given again
    return numbers


def steps(blocks: Blocks) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return cumulated mass and loss up to and including each block, (B, m) each."""
    return np.cumsum(blocks.mass, axis=1), np.cumsum(blocks.loss, axis=1)


# ---- one ranking, many resamples


class Steps(NamedTuple):
    """Weights summed up over the tie blocks of a ranking, most certain first, for B resamples.

    ``mass`` and ``loss`` (B, m): the weight of all answers, and of the wrong ones, up to and with
    each block; ``rate`` (m,) the share of wrong answers in a block whatever the weights are,
    ``None`` where a block has answers of both kinds.
    """

    mass: Floats
    loss: Floats
    rate: Floats | None

    def rates(self) -> Floats:
        """Return the share of wrong answers in each block, 0 in one without weight."""
        if self.rate is not None:
            return self.rate
        return np.nan_to_num(divide(_inside(self.loss), _inside(self.mass)))


#: a metric of a ranking: (B,) from its steps
StepMetric = Callable[[Steps], Floats]


class SortedScore:
    """The rows of one score, sorted once, for metrics of many resamples.

    Resamples are taken a few at a time, so that all that is made of them stays in a processor's
    cache, and several metrics share the sums. ``uncertainty`` and ``incorrect`` (n,) as in
    :func:`auroc`.
    """

    def __init__(self, uncertainty: ArrayLike, incorrect: ArrayLike) -> None:
        score, wrong = _scores_and_classes(uncertainty, incorrect)
        use = np.flatnonzero(~(np.isnan(score) | np.isnan(wrong)))
        self._rows = use[np.argsort(score[use], kind="stable")]
        self._wrong = wrong[self._rows]
        starts = block_starts(score[self._rows])
        self._ends = np.append(starts[1:], len(self._rows)) - 1
        self._tied = len(starts) < len(self._rows)
        self._rate: Floats | None = None
        if len(self._rows):
            least, most = (f.reduceat(self._wrong, starts) for f in (np.minimum, np.maximum))
            self._rate = least if (least == most).all() else None

    def each(
        self,
        metrics: Sequence[StepMetric],
        weights: NDArray[Any],
        unit: NDArray[np.int64] | None = None,
    ) -> list[Floats]:
        """Return (B,) values of each metric, NaN where it is undefined.

        ``weights`` (B, n), or (B, clusters) with the cluster ``unit`` (n,) of each row.
        """
        values: list[Floats] = [np.full(len(weights), np.nan) for _ in metrics]
        if not len(self._rows):
            return values
        place = self._rows if unit is None else unit[self._rows]
        # whole numbers are summed several times as fast, and stay exact
        wrong = self._wrong.astype(weights.dtype)
        step = max(1, CACHED // len(place))
        for first in range(0, len(weights), step):
            part = slice(first, first + step)
            inside = weights[part].take(place, axis=1)
            mass, loss = self._summed(inside), self._summed(inside * wrong)
            sums = Steps(mass, loss, self._rate)
            for value, metric in zip(values, metrics, strict=True):
                value[part] = metric(sums)
        return values

    def _summed(self, inside: NDArray[Any]) -> Floats:
        """Return weights (B, n) in order, summed up to the end of each block (B, m)."""
        sums = np.cumsum(inside, axis=1, dtype=np.int32 if inside.dtype.kind == "u" else None)
        return (sums.take(self._ends, axis=1) if self._tied else sums).astype(np.float64)


def _of_one(
    metric: StepMetric, uncertainty: ArrayLike, incorrect: ArrayLike, weights: ArrayLike | None
) -> Result:
    """Return a metric of weights (n,) or (B, n)."""
    ranking = SortedScore(uncertainty, incorrect)
    rows, single = weight_rows(weights, np.size(uncertainty))
    counts = rows if single else whole_counts(rows)
    return as_result(ranking.each([metric], counts)[0], single)


def _before(steps: Floats) -> Floats:
    """Return what was summed up before each block, (B, m)."""
    before = np.empty_like(steps)
    before[:, 0] = 0
    before[:, 1:] = steps[:, :-1]
    return before


def _inside(steps: Floats) -> Floats:
    """Return what each block adds, (B, m)."""
    inside = np.empty_like(steps)
    inside[:, 0] = steps[:, 0]
    np.subtract(steps[:, 1:], steps[:, :-1], out=inside[:, 1:])
    return inside


def auroc_steps(steps: Steps) -> Floats:
    """Return :func:`auroc` (B,); sums of halves of whole numbers, so it is exact."""
    right = steps.mass - steps.loss
    around = right + _before(right)  # twice the right answers below a block, and its own
    in_order = np.einsum("ij,ij->i", _inside(steps.loss), around) / 2
    return divide(in_order, steps.loss[:, -1] * right[:, -1])


def prr_steps(steps: Steps) -> Floats:
    """Return :func:`prr` of classes (B,)."""
    total, wrong = steps.mass[:, -1], steps.loss[:, -1]
    right = total - wrong
    rate = steps.rates()
    harmonics = _harmonic_of_counts(steps.mass)
    extra = (_before(steps.loss) - rate * _before(steps.mass)) * _inside(harmonics)
    area = divide((rate * _inside(steps.mass) + extra).sum(axis=1), total)
    # The oracle gives all right answers first.
    late = _harmonic_of_counts(total) - _harmonic_of_counts(right)
    best = divide(wrong - right * late, total)
    random = divide(wrong, total)
    room = random - best
    return rounded(divide(random - area, np.where(room > 1e-12, room, 0.0)))


def aurac_steps(steps: Steps, kind: RejectionKind = "normalised") -> Floats:
    """Return :func:`aurac` (B,)."""
    shares = np.linspace(0.1, 1, 20)
    mass, wrong, _ = steps
    total = mass[:, -1:]
    # The interpolated quantile lies between the order statistics floor and ceil of (N-1)q, so
    # the answers at or below it are those up to the lower one, with its ties.
    position = np.floor(np.maximum(total - 1, 0) * shares + 1e-9)
    accuracy: Floats = np.full((len(mass), 20), np.nan)
    for row, at in enumerate(position):
        if total[row, 0] > 0:
            block = np.minimum(np.searchsorted(mass[row], at, side="right"), mass.shape[1] - 1)
            accuracy[row] = 1 - wrong[row, block] / mass[row, block]
    step = shares[1] - shares[0]
    if kind == "official":
        return np.asarray(accuracy.sum(axis=1) * step, dtype=np.float64)
    area = (accuracy.sum(axis=1) - (accuracy[:, 0] + accuracy[:, -1]) / 2) * step
    return np.asarray(area if kind == "trapezoid" else rounded(area / 0.9), dtype=np.float64)


def accuracy_steps(steps: Steps, coverage: float = 0.8) -> Floats:
    """Return :func:`accuracy_at_coverage` (B,)."""
    kept = steps.mass[:, -1] * coverage
    taken = np.clip(kept[:, None] - _before(steps.mass), 0, _inside(steps.mass))
    wrong = (taken * steps.rates()).sum(axis=1)
    return np.asarray(1 - divide(wrong, kept), dtype=np.float64)


# ---- how good is a system that abstains where its score is high?

#: Penalties for a wrong answer at which utilities are printed (0: guessing costs nothing).
PENALTIES = (0.0, 1.0, 3.0, 9.0)


def auprc(uncertainty: ArrayLike, incorrect: ArrayLike, weights: ArrayLike | None = None) -> Result:
    """Return the area under precision-recall for finding the wrong answers, 0..1, higher = better.

    Average precision: sum over distinct scores, least certain first, of (recall step) x
    (precision). Blind scores get the share of wrong answers: compare with that.
    ``None`` for one class only.
    """
    blocks = tie_blocks(uncertainty, incorrect, weights)
    mass, wrong = blocks.mass[:, ::-1], blocks.loss[:, ::-1]
    total = wrong.sum(axis=1)
    both = (total > 0) & (mass.sum(axis=1) - total > 0)
    # A resample may have no weight in the first blocks: nothing recalled there, so no term.
    precision = np.nan_to_num(divide(np.cumsum(wrong, axis=1), np.cumsum(mass, axis=1)))
    value = divide((wrong * precision).sum(axis=1), total)
    return blocks.result(np.where(both, value, np.nan))


def aurac(
    uncertainty: ArrayLike,
    incorrect: ArrayLike,
    kind: RejectionKind = "normalised",
    weights: ArrayLike | None = None,
) -> Result:
    """Return the area under the rejection-accuracy curve, higher = better.

    Farquhar et al. 2024 with their code's details: the accuracy among answers
    whose score is at most the q-quantile (linear, ties kept), at 20 shares q from 0.1 to 1.
    ``official`` sums the 20 accuracies times the step, so that perfect answers get 0.947;
    ``trapezoid`` integrates (0.9 for perfect answers); ``normalised`` divides that by 0.9 (0..1).
    Blind scores get the accuracy. Weights count rows (the quantile sees how many there are).
    """
    if kind not in ("normalised", "official", "trapezoid"):
        raise InputError(f"kind of AURAC: got {kind!r}, expected normalised, official, trapezoid")
    return _of_one(partial(aurac_steps, kind=kind), uncertainty, incorrect, weights)


def _area(blocks: Blocks) -> Floats:
    """The mean over k of the expected risk among the k most certain answers; (B,)."""
    mass, lost = steps(blocks)
    before, lost_before = mass - blocks.mass, lost - blocks.loss
    rate = np.nan_to_num(divide(blocks.loss, blocks.mass))
    # Inside a tie block starting after K answers with A wrong, the expected risk at K + j is
    # (A + rate j)/(K + j) = rate + (A - rate K)/(K + j), summed over j with harmonic numbers.
    beyond = _harmonic_of_counts(mass) - _harmonic_of_counts(before)
    extra = (lost_before - rate * before) * beyond
    return divide((rate * blocks.mass + extra).sum(axis=1), mass[:, -1])


def aurc(uncertainty: ArrayLike, incorrect: ArrayLike, weights: ArrayLike | None = None) -> Result:
    """Return the area under the risk-coverage curve, 0..1, lower = better.

    (1/n) sum_{k=1..n} (share of wrong answers among the k most certain), ties in expectation
    (Geifman et al. 2019). ``incorrect`` may be a loss 0..1. Weights count rows.
    """
    blocks = tie_blocks(uncertainty, incorrect, weights, binary=False)
    if not len(blocks.value):
        return blocks.result(np.full(len(blocks.mass), np.nan))
    return blocks.result(_area(blocks))


def prr(uncertainty: ArrayLike, incorrect: ArrayLike, weights: ArrayLike | None = None) -> Result:
    """Return the prediction-rejection ratio: 1 = oracle, 0 = random, negative = misleading.

    (area - random)/(oracle - random), where the area is the mean quality of the k most certain
    answers over k = 1..n, random is the mean quality and the oracle rejects the worst first
    (Malinin et al. 2017; Vashurin et al. 2025). ``incorrect`` may be a loss 0..1 (1 - quality).
    ``None`` where all losses are equal. Weights count rows.
    """
    loss = np.asarray(incorrect, dtype=np.float64)
    if ((loss == 0) | (loss == 1) | np.isnan(loss)).all():
        return _of_one(prr_steps, uncertainty, incorrect, weights)
    blocks = tie_blocks(uncertainty, incorrect, weights, binary=False)
    if not len(blocks.value):
        return blocks.result(np.full(len(blocks.mass), np.nan))
    loss = np.where(np.isnan(np.asarray(uncertainty, dtype=np.float64)), np.nan, loss)
    best = _area(tie_blocks(loss, loss, weights, binary=False))
    random = divide(blocks.loss.sum(axis=1), blocks.mass.sum(axis=1))
    room = random - best
    ratio = divide(random - _area(blocks), np.where(room > 1e-12, room, 0.0))
    return blocks.result(rounded(ratio))


class RiskCoverage(NamedTuple):
    """A risk-coverage curve with one point for each distinct score.

    ``coverage`` share answered, ``risk`` share wrong among them, ``threshold`` the largest score
    that is answered. All (m,), coverage rising.
    """

    coverage: Floats
    risk: Floats
    threshold: Floats


def risk_coverage(
    uncertainty: ArrayLike, incorrect: ArrayLike, weights: ArrayLike | None = None
) -> RiskCoverage:
    """Return what share is wrong when the answers up to each score are given (weights (n,)).

    A threshold cannot separate equal scores, so a tie block is one point. Empty without rows.
    """
    blocks = tie_blocks(uncertainty, incorrect, weights, binary=False)
    if not blocks.single:
        raise InputError("risk_coverage draws one curve: weights must have shape (n,)")
    mass, lost = (part[0] for part in steps(blocks))
    held = mass > 0
    total = mass[-1] if len(mass) else 0.0
    return RiskCoverage(
        divide(mass[held], total), divide(lost[held], mass[held]), blocks.value[held]
    )


def accuracy_at_coverage(
    uncertainty: ArrayLike,
    incorrect: ArrayLike,
    weights: ArrayLike | None = None,
    coverage: float = 0.8,
) -> Result:
    """Return the accuracy among the most certain ``coverage`` of the answers, 0..1.

    Inside the tie block at the cut the expected share counts.
    """
    if not 0 < coverage <= 1:
        raise InputError(f"coverage: got {coverage}, expected a share above 0 and at most 1")
    return _of_one(partial(accuracy_steps, coverage=coverage), uncertainty, incorrect, weights)


def selective_utility(
    uncertainty: ArrayLike,
    incorrect: ArrayLike,
    weights: ArrayLike | None = None,
    penalty: float = 1.0,
    threshold: float | None = None,
) -> Result:
    """Return the utility per question: +1 right, 0 abstained, -penalty wrong; -penalty..1.

    Answers whose score is at most ``threshold`` are given. ``threshold=None`` takes the best one
    in hindsight, abstaining from all included: an upper bound of what the score can do, which is
    never negative; for an honest number choose the threshold on other rows
    (:func:`fit_threshold`). With penalty c, answering pays where P(wrong) < 1/(1+c).
    """
    if penalty < 0:
        raise InputError(f"penalty of a wrong answer: got {penalty}, expected 0 or more")
    blocks = tie_blocks(uncertainty, incorrect, weights)
    mass, wrong = steps(blocks)
    total = blocks.mass.sum(axis=1)
    gain = mass - (1 + penalty) * wrong
    if threshold is None:
        best = np.maximum(gain.max(axis=1, initial=0.0), 0.0)
    else:
        given = int(np.searchsorted(blocks.value, threshold, side="right"))
        best = gain[:, given - 1] if given else np.zeros(len(gain))
    return blocks.result(divide(best, total))


def fit_threshold(
    uncertainty: ArrayLike, incorrect: ArrayLike, penalty: float = 1.0
) -> float | None:
    """Return the largest score worth answering at this penalty, on these rows.

    ``None``: no threshold beats abstaining from everything. Among equally good ones the one that
    answers most. For use on other rows.
    """
    blocks = tie_blocks(uncertainty, incorrect)
    mass, wrong = steps(blocks)
    gain = (mass - (1 + penalty) * wrong)[0]
    if not len(gain) or gain.max() < 0:
        return None
    return float(blocks.value[np.flatnonzero(gain == gain.max())[-1]])


def utilities(
    uncertainty: ArrayLike, incorrect: ArrayLike, weights: ArrayLike | None = None
) -> dict[float, Result]:
    """Return :func:`selective_utility` in hindsight at each of :data:`PENALTIES`."""
    return {c: selective_utility(uncertainty, incorrect, weights, c) for c in PENALTIES}


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

"""What may be promised of the answers that a limit on a score lets through?

An answer is given where its uncertainty u is at most a limit t, and the selective risk is

    R(t) = P(wrong | u <= t)

Learn then Test (Angelopoulos et al. 2021, arXiv 2110.01052) promises R(t) <= alpha with
probability 1 - delta over the labels. At a limit with k answers of which e are wrong, the exact
p-value of the hypothesis R(t) > alpha is P(Bin(k, alpha) <= e), and limits are tested in a sequence
that the labels do not decide (fixed-sequence testing): from strict to loose, each at delta, up to
the first that fails. Every limit that was passed holds, all with the same probability.

The limits are the values of the score that occur; equal scores are answered together. A sequence
does not begin with the strictest limit, where a single answer can never pass, but at
:func:`starting_points`: numbers of answers that follow from alpha, delta and the number of labels.
Where there are several, each begins with a part of delta, and a sequence that reaches the next one
hands on what it did not lose (the fallback procedure: Wiens and Dmitrienko 2005).

A unit is an answer, or a text of several claims. A text is answered where at least one of its
claims is kept, and wrong where a kept claim is wrong. Units of one cluster (an entity, a question)
are right or wrong together, so where clusters have several units it is clusters that are drawn, of
whatever size, and the p-value is that of :func:`clusters_p`. Clusters larger than any labeled one
are not seen.

The order is chosen without the labels, but the values of the score are those of the same units.
That costs nothing where the risk does not fall as the limit rises; how far it can go elsewhere is
measured in ``benchmarks/guard/guarantee.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import Floats, cluster_codes, codes, count_codes
from sayso.metrics.intervals import (
    LEVEL,
    beta_cdf,
    beta_quantile,
    effective_number,
    exact_interval,
)
from sayso.records import InputError

__all__ = [
    "CertifiedLimit", "RiskCurve", "RiskLevels", "StartingPoint", "certify_limit", "clusters_p",
    "labels_needed", "least_provable", "risk_bound", "risk_curve", "risk_levels", "risk_p",
    "starting_points", "zero_error_answers",
]  # fmt: skip

#: errors that the first tested limit is expected to have where its risk is alpha
ERRORS_WORTH = 10
#: the part of the units at which a second sequence starts, and that at which the last one does
LATER, NEARLY_ALL = 10, 0.9
#: labels beyond which their number is not computed
MOST_LABELS = 100_000
#: the chance that :func:`labels_needed` labels are enough
CHANCE = 0.8
#: limits that are tested where units share clusters
MOST_LIMITS = 100


class RiskLevels(NamedTuple):
    """Each limit (m,), rising, with the units that are answered and that are wrong at it.

    ``units`` is how many have a label, also those that no limit answers, ``clusters`` how many
    clusters these are of, and ``most`` how many of one. ``totals`` has for each limit the columns
    (answered units, wrong ones of these, clusters with so many); none where all units stand alone.
    """

    limit: Floats
    answered: NDArray[np.int64]
    wrong: NDArray[np.int64]
    units: int
    clusters: int
    most: int = 1
    totals: Sequence[NDArray[np.int64]] = ()

    @property
    def full(self) -> int:
        """How many clusters of the largest size the units would fill."""
        return self.units // self.most

    def p(self, place: int, alpha: float) -> float:
        """Return the p-value of a risk above alpha at a limit."""
        if not self.totals:
            return risk_p(int(self.answered[place]), int(self.wrong[place]), alpha)
        return clusters_p(self.totals[place], self.most, alpha)

    def worth(self, place: int) -> float:
        """Return how many answered units of one cluster each those of a limit are worth."""
        size, _, clusters = self.totals[place] if self.totals else ([1], 0, self.answered[place])
        return effective_number(np.repeat(size, clusters))


class StartingPoint(NamedTuple):
    """A sequence of tests: it begins at the first limit with so many answers, at ``delta``."""

    answers: int
    delta: float


class CertifiedLimit(NamedTuple):
    """The loosest limit that holds, or ``None``, with the units answered and wrong at it.

    ``passed`` (p,) are all limits that hold, rising: they hold together.
    """

    limit: float | None
    answered: int
    wrong: int
    starts: tuple[StartingPoint, ...]
    passed: Floats


def risk_levels(
    uncertainty: ArrayLike,
    incorrect: ArrayLike,
    units: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
) -> RiskLevels:
    """Return answered and wrong units at every limit on the score.

    ``uncertainty`` (n,), ``incorrect`` (n,) 1 = wrong, 0 = right, NaN = no label: such rows are
    left out. ``units`` (n,) names what each row belongs to, ``clusters`` (n,) what its unit belongs
    to; without them each is its own. Where clusters have several units there are at most
    :data:`MOST_LIMITS` limits. A score that is not finite is answered at no limit. Four answers
    with scores .1 .2 .2 .3, the third wrong: 1, 3 and 4 are answered at the limits .1, .2 and .3,
    and 0, 1 and 1 are wrong. No limits without a labeled score; classes need not both be there.
    """
    score, wrong = np.asarray(uncertainty, dtype=np.float64), np.asarray(incorrect, dtype=float)
    if score.shape != wrong.shape or score.ndim != 1:
        raise InputError(f"{score.shape} scores and {wrong.shape} labels: expected one of each")
    labeled = ~np.isnan(wrong)
    if not np.isin(wrong[labeled], (0.0, 1.0)).all():
        raise InputError("labels must be 1 (wrong), 0 (right) or NaN (no label)")
    unit = cluster_codes(None if units is None else np.asarray(units)[labeled], int(labeled.sum()))
    score, bad = score[labeled], wrong[labeled] > 0
    count, finite = count_codes(unit), np.isfinite(score)
    enters: Floats = np.full(count, np.inf)
    spoils: Floats = np.full(count, np.inf)
    np.minimum.at(enters, unit[finite], score[finite])
    np.minimum.at(spoils, unit[finite & bad], score[finite & bad])
    limit = np.unique(score[finite])
    of = np.arange(count)
    if clusters is not None:
        of[unit] = codes(np.asarray(clusters)[labeled])
    if count_codes(of) < count and len(limit) > MOST_LIMITS:
        limit = limit[np.linspace(0, len(limit) - 1, MOST_LIMITS).astype(int)]
    answered, wrong = (
        np.searchsorted(np.sort(one), limit, side="right").astype(np.int64)
        for one in (enters, spoils)
    )
    most = int(np.bincount(of).max(initial=1))
    totals: list[NDArray[np.int64]] = []
    for at in limit if most > 1 else ():
        kept, bad_ones = (np.bincount(of[one <= at], minlength=count) for one in (enters, spoils))
        pair, alike = np.unique(kept * (most + 1) + bad_ones, return_counts=True)
        totals.append(np.vstack([*np.divmod(pair, most + 1), alike])[:, pair > 0])
    return RiskLevels(limit, answered, wrong, count, len(np.unique(of)), most, totals)


def risk_p(answered: int, wrong: int, alpha: float) -> float:
    """Return P(Bin(answered, alpha) <= wrong), the p-value of a risk above alpha; 1 for none.

    2 of 10 wrong at alpha .5: (1 + 10 + 45) / 1024 = .0547.
    """
    if wrong >= answered:
        return 1.0
    return beta_cdf(1 - alpha, answered - wrong, wrong + 1)


def clusters_p(totals: ArrayLike, most: int, alpha: float) -> float:
    """Return the p-value of a risk above alpha at a limit with these :class:`RiskLevels.totals`.

    A cluster with m answered units of which w are wrong has the excess x = w - alpha m, whose mean
    is 0 where the risk is alpha. By empirical likelihood (Owen 2001, section 2) the mean is 0 with

        p = Phi(-sqrt(2 sum log(1 + t x))),  sum x / (1 + t x) = 0

    over the clusters and one more with ``most`` units, all of them wrong, which stands for those
    that the sample missed (as in Chen, Variyath and Abraham 2008, with the worst excess that there
    can be). 1 where the excess is not below 0 in all. It is an approximation, and a cautious one:
    ``benchmarks/guard/guarantee.py``. 79 clusters of one, none wrong, at alpha .05: the other one
    has weight 1/80, so p = Phi(-sqrt(2 (79 log(.9875 / .95) + log(.0125 / .05)))) = .0337.
    """
    m, w, clusters = np.asarray(totals, dtype=np.float64)
    excess, number = np.append(w - alpha * m, (1 - alpha) * most), np.append(clusters, 1.0)
    if excess @ number >= 0:
        return 1.0
    low, high = -1 / excess.max(), 0.0
    for _ in range(40):
        tilt = (low + high) / 2
        low, high = (low, tilt) if number @ (excess / (1 + tilt * excess)) < 0 else (tilt, high)
    ratio = 2 * float(number @ np.log1p(high * excess))
    return NormalDist().cdf(-math.sqrt(max(0.0, ratio)))


def risk_bound(answered: int, wrong: int, delta: float) -> float:
    """Return the exact upper bound of a risk at 1 - delta (one-sided); 1 without answers.

    0 of 10 wrong at delta .05: 1 - .05^(1/10) = .2589.
    """
    if wrong >= answered:
        return 1.0
    return beta_quantile(1 - delta, wrong + 1, answered - wrong)


def zero_error_answers(alpha: float, delta: float) -> int:
    """Return the fewest answers that pass without an error: (1 - alpha)^k <= delta.

    59 at alpha .05 and delta .05.
    """
    least = max(1, math.ceil(math.log(delta) / math.log1p(-alpha) - 1e-9))
    return least if risk_p(least, 0, alpha) <= delta else least + 1


def least_provable(units: int, delta: float) -> float:
    """Return 1 - delta^(1/n), the least risk that n labels can promise, if none is wrong; 1 for 0.

    .0295 for 100 labels at delta .05.
    """
    return 1.0 if units < 1 else -math.expm1(math.log(delta) / units)


def starting_points(units: int, alpha: float, delta: float) -> tuple[StartingPoint, ...]:
    """Return where the tests begin, and what part of delta each sequence has; labels play no part.

    The first begins at ten errors' worth of answers, 10 / alpha, but at most half of the units. A
    tenth of the units, where that is more, is a second start with a quarter of delta, and nine
    tenths the last: answers that need hardly any limit. A start is never at fewer answers than can
    pass without an error, and one that no labels can reach leaves its part to the one before. At
    alpha .05 and delta .05: 59 of 70 units; 65 (at .0375) and 90 (at .0125) of 100; 200 and 900
    of 1,000; 200 (at .025), 500 and 4,500 (at .0125) of 5,000.
    """
    worth = min(math.ceil(ERRORS_WORTH / alpha - 1e-9), (units + 1) // 2)
    parts = [(worth, 0.75)]
    if units // LATER > max(zero_error_answers(alpha, delta), worth):
        parts = [(worth, 0.5), (units // LATER, 0.25)]
    last = max(zero_error_answers(alpha, delta / 4), math.ceil(NEARLY_ALL * units - 1e-9))
    if last <= units and last > max(zero_error_answers(alpha, parts[0][1] * delta), parts[-1][0]):
        parts.append((last, 0.25))
    else:
        answers, share = parts.pop()
        parts.append((answers, share + 0.25))
    return tuple(
        StartingPoint(max(zero_error_answers(alpha, share * delta), answers), share * delta)
        for answers, share in parts
    )


def certify_limit(
    levels: RiskLevels,
    alpha: float,
    delta: float,
    starts: Sequence[StartingPoint] | None = None,
) -> CertifiedLimit:
    """Return the loosest limit whose risk is at most alpha with probability 1 - delta.

    ``starts`` replaces :func:`starting_points`; they must not depend on the labels, and their
    deltas must add to at most delta. Thirteen answers in groups of 5, 5 and 3 with 0, 1 and 2
    errors, alpha = .5, delta = .1, one start at 5: the p-values are 1/32 = .031, 11/1024 = .011 and
    P(Bin(13, .5) <= 3) = .046, so the loosest limit holds. Without labels, and where all answers
    are wrong, there is no limit.
    """
    if not 0 < alpha < 1 or not 0 < delta < 1:
        raise InputError(f"alpha {alpha}, delta {delta}: expected shares above 0 and below 1")
    if starts is None:
        starts = starting_points(levels.full, alpha, delta)
    if math.fsum(start.delta for start in starts) > delta * (1 + 1e-9):
        raise InputError(f"the starts spend more than delta = {delta}")
    begun: dict[int, float] = {}
    reached = levels.answered // levels.most
    for start in starts:
        place = int(np.searchsorted(reached, start.answers))
        begun[place] = begun.get(place, 0.0) + start.delta
    answered, wrong = levels.answered.tolist(), levels.wrong.tolist()
    carried, place = 0.0, min(begun)
    passed: list[int] = []
    while place < len(answered):
        here = begun.get(place, 0.0) + carried
        # more answers with as many errors pass too, where none weighs more than another
        more = carried > 0 and wrong[place] == wrong[place - 1] and not levels.totals
        if more or levels.p(place, alpha) <= here:
            passed.append(place)
            carried, place = here, place + 1
        else:  # on to the next start
            carried, place = 0.0, min((n for n in begun if n > place), default=len(answered))
    last = passed[-1] if passed else -1
    return CertifiedLimit(
        float(levels.limit[last]) if passed else None,
        answered[last] if passed else 0,
        wrong[last] if passed else 0,
        tuple(starts),
        levels.limit[passed],
    )


class RiskCurve(NamedTuple):
    """Observed risk (m,) at every limit, with its exact 95 % interval and its one-sided bound."""

    risk: Floats
    low: Floats
    high: Floats
    bound: Floats


def risk_curve(levels: RiskLevels, delta: float, places: Sequence[int]) -> RiskCurve:
    """Return the observed risk at some limits, its Clopper-Pearson interval and exact bound.

    Each interval holds for a limit that was named beforehand. Where units share clusters it is that
    of as many independent ones as they are worth (:func:`effective_number`).
    """
    rows = []
    for place in places:
        k, e, worth = int(levels.answered[place]), int(levels.wrong[place]), levels.worth(place)
        low, high = exact_interval(e / k * worth, worth, LEVEL)
        bound = _bound(levels, place, delta) if levels.totals else risk_bound(k, e, delta)
        rows.append((e / k, low or 0.0, 1.0 if high is None else high, bound))
    return RiskCurve(*np.asarray(rows, dtype=np.float64).reshape(-1, 4).T)


def _bound(levels: RiskLevels, place: int, delta: float) -> float:
    """Return the least risk that the p-value of a limit lets pass, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (low, middle) if levels.p(place, middle) <= delta else (middle, high)
    return high


# ---- how many labels would be enough


def labels_needed(
    units: float, answered: float, wrong: float, alpha: float, delta: float, *, missed: int = 0
) -> int | None:
    """Return how many labels let a limit pass with probability :data:`CHANCE`, tested as the first.

    The limit is one at which ``answered`` of ``units`` were answered and ``wrong`` of these were
    wrong. Of N new units K ~ Bin(N, share) are answered, E ~ Bin(K, risk) are wrong, and the limit
    passes where P(Bin(K, alpha) <= E) <= delta; both sums are exact. ``missed`` wrong answers are
    added to K and E of the test, however many labels there are. The risk is taken as
    (wrong + 1/2) / (answered + 1): no error in few answers is no risk of 0. ``None`` where the
    risk is not below alpha, or where more than about :data:`MOST_LABELS` are needed.
    """
    if not answered:
        return None
    share, risk = answered / units, (wrong + 0.5) / (answered + 1)
    if risk >= alpha:
        return None
    low, high = 0, 8
    while power(high, share, risk, alpha, delta, missed) < CHANCE:
        low, high = high, 2 * high
        if low > MOST_LABELS:
            return None
    while high - low > max(1, high // 200):
        middle = (low + high) // 2
        if power(middle, share, risk, alpha, delta, missed) < CHANCE:
            low = middle
        else:
            high = middle
    return high


def power(
    units: int, share: float, risk: float, alpha: float, delta: float, missed: int = 0
) -> float:
    """Return the probability that a limit passes with so many labels, as :func:`labels_needed`."""
    mean, spread = units * share, math.sqrt(units * share * (1 - share))
    low = max(1, math.floor(mean - 6 * spread - 1))
    high = min(units, math.ceil(mean + 6 * spread + 1))
    total, most = 0.0, -1
    for k in range(low, high + 1):
        while risk_p(k + missed, most + 1 + missed, alpha) <= delta:
            most += 1
        if most >= 0:
            more = (
                0.0 if most >= k else beta_cdf(risk, most + 1, k - most)
            )  # P(Bin(k, risk) > most)
            total += _binomial_share(k, units, share) * (1 - more)
    return total


def _binomial_share(k: int, units: int, share: float) -> float:
    if share >= 1:
        return float(k == units)
    logs = math.lgamma(units + 1) - math.lgamma(k + 1) - math.lgamma(units - k + 1)
    return math.exp(logs + k * math.log(share) + (units - k) * math.log1p(-share))

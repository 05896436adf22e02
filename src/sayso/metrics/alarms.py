"""Anytime-valid alarms: has a rate changed, in a stream of answers that has no planned end?

The stream is looked at after every answer. A test with a fixed size that is repeated that often
would raise a false alarm sooner or later; these alarms do so with a probability of at most alpha
over the whole stream, however long it is.

* **An e-process.** Under the null hypothesis, P(X_t = 1 | the answers before) <= u. For each
  alternative q > u, the factor (q/u)^x ((1-q)/(1-u))^(1-x) is increasing in x, so its expected
  value is at most 1 for every rate up to u, not only for u itself. Products of such factors, and
  averages of products with weights that sum to 1, are nonnegative supermartingales that begin at 1.
* **Ville's inequality** (Ville 1939; Ramdas, Grunwald, Vovk and Shafer, "Game-theoretic statistics
  and safe anytime-valid inference", arXiv 2210.01948): such a process ever reaches 1/a with a
  probability of at most a. That is the alarm.
* **A change after a quiet time.** A product that starts with the first answer loses on every quiet
  answer, and must win all of that back. So a product starts anew every :data:`EVERY` answers, and
  start j has the weight 1/(j(j+1)); these weights sum to 1 (a mixture over change points; Shin,
  Ramdas and Rinaldo, "E-detectors", arXiv 2203.03532). A start that is still to come counts with
  its weight times 1.
* **Flat memory.** All starts of one alternative grow by the same factor, so their weighted sum is
  one number: W <- (W + weight of a new start) * factor. Nothing is dropped, and the state is one
  number for each alternative. (Leaving out terms would be valid as well: they are nonnegative, so
  what is left lies below a process to which Ville's inequality applies.)
* **A baseline that was measured.** u is not known. It is the exact one-sided bound (Clopper and
  Pearson) of k of n earlier answers at half of alpha, and the alarm gets the other half: if the
  bound holds, a false alarm has at most alpha/2, and the bound fails with at most alpha/2.
* **Traffic in parts**, such as hours of the day. Each part has a bound of its own, and an answer
  the factor of its part. All bounds must hold, so they share the baseline's half of alpha.
* **A baseline in clusters.** Answers about one entity are alike, so n of them say less than n
  independent ones. The bound is exact at the effective number (Korn and Graubard 1998), see
  :func:`independent_number`.

A fall is a rise of the other outcome. Everything is computed in logs.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import Floats
from sayso.metrics.intervals import (
    beta_quantile,
    effective_number,
    exact_interval,
    student_quantile,
)

__all__ = ["ChangeAlarm", "ChangeSince", "independent_number", "rise_bound", "smallest_rise"]

#: answers after which another product starts
EVERY = 25
#: alternatives to a bound: how many, and how far from it the nearest is, in log odds
ALTERNATIVES, NEAREST = 12, 0.15
#: the highest alternative, at least so far above the bound in log odds
HIGHEST, FARTHEST = 0.99, 4.0
#: answers that are kept to say since when a rate has changed
KEPT_OUTCOMES = 2000
#: answers of a chunk, whose factors are in memory at once
CHUNK = 4096
#: with this probability a rise that "can be seen" is seen
POWER = 0.8
#: clusters in which all answers count that are imagined beside those that were seen
UNSEEN = 0.5
#: a bound above this leaves no room for a rise
HIGHEST_BOUND = 1 - 1e-6


def rise_bound(count: int, n: int, alpha: float, independent: float | None = None) -> float | None:
    """Return the exact upper bound of a rate of which ``count`` of ``n`` answers are known.

    The Clopper-Pearson bound that holds with a probability of at least 1 - ``alpha``, for ``n``
    answers that say as much as ``independent`` independent ones (default: all of them). ``None``
    where nothing lies above it: without answers, and if all of them count.
    """
    if n <= 0 or count >= n:
        return None
    worth = n if independent is None else independent
    bound = exact_interval(count * (worth / n), worth, 1 - 2 * alpha)[1]
    return bound if bound is not None and bound <= HIGHEST_BOUND else None


def independent_number(ones: ArrayLike, sizes: ArrayLike, alpha: float) -> float:
    """Return how many independent answers clusters are worth for an upper bound of their rate.

    ``ones`` (C,) of ``sizes`` (C,) answers of each cluster count. The number of answers is divided
    by the design effect (the variance of the rate over clusters, over that of as many independent
    answers) and shrunk by Student's t for the few clusters that say it (Korn and Graubard 1998,
    equation 3.3), at the tail ``alpha``. Few clusters can miss a kind in which all answers count,
    and show too small a variance then. So :data:`UNSEEN` clusters of that kind are added before
    the variance is taken. The result lies between Kish's effective number of clusters and the
    number of answers; it is the latter where each answer is its own cluster.
    """
    y, m = np.asarray(ones, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    n, clusters = float(m.sum()), effective_number(m)
    if n <= 0 or clusters < 2:
        return clusters
    size = n / clusters  # of the cluster of an answer, on average
    total = n + UNSEEN * size
    rate = (float(y.sum()) + UNSEEN * size) / total
    if rate >= 1:
        return clusters
    own = float(((y - rate * m) ** 2).sum()) + UNSEEN * (size * (1 - rate)) ** 2
    number = len(m) + UNSEEN
    effect = number / (number - 1) * own / total**2 / (rate * (1 - rate) / (total - 1))
    few = student_quantile(1 - alpha, n - 1) / student_quantile(1 - alpha, clusters - 1)
    return min(n, max(clusters, n / max(effect, 1.0) * few**2))


class ChangeSince(NamedTuple):
    """Where a change probably began: of the last ``n`` answers, ``ones`` count."""

    n: int
    ones: int


class AlarmState(msgspec.Struct):
    """What an alarm knows of its stream, small and flat: enough to go on after a stop.

    ``log_sums`` has the log of the weighted products of each alternative, ``None`` for 0.
    ``recent`` are the last outcomes, as a text of 0 and 1 (:func:`likeliest_stretch`).
    """

    n: int = 0
    count: int = 0
    log_sums: list[float | None] = msgspec.field(default_factory=list)
    log_evidence: float = 0.0
    alarm_at: int | None = None
    recent: str = ""


class ChangeAlarm:
    """An alarm for a rise of a rate above ``bound``, with at most ``alpha`` of a false one.

    ``bound`` is in 0..1, both ends excluded, or one for each part of the traffic, (S,), such as an
    hour of the day. The answers of a part whose bound is NaN say nothing. ``alternatives`` are the
    rates that the products bet on, (K,) or (S, K), all above the bound; by default
    :data:`ALTERNATIVES` between the bound and :data:`HIGHEST`, closer to each other near the bound.
    """

    def __init__(
        self,
        bound: ArrayLike,
        alpha: float,
        *,
        alternatives: ArrayLike | None = None,
        every: int = EVERY,
        state: AlarmState | None = None,
    ) -> None:
        bounds = np.atleast_1d(np.asarray(bound, dtype=np.float64))
        some = bounds[~np.isnan(bounds)]
        if not some.size or not np.all((some > 0) & (some < 1)) or not 0 < alpha < 1:
            raise ValueError(f"bound {bounds} and alpha {alpha}: expected numbers between 0 and 1")
        rates = np.atleast_2d(
            np.array([alternatives_above(one) for one in bounds])
            if alternatives is None
            else np.asarray(alternatives, dtype=np.float64)
        )
        above = (rates > bounds[:, None]) & (rates < 1) | np.isnan(bounds)[:, None]
        if not rates.size or not np.all(above):
            raise ValueError(f"alternatives {rates}: expected rates between {bounds} and 1")
        self.bounds, self.alpha, self.every = bounds, alpha, every
        self._threshold = -math.log(alpha)
        self._of_one = np.nan_to_num(np.log(rates) - np.log(bounds)[:, None])
        self._of_none = np.nan_to_num(np.log1p(-rates) - np.log1p(-bounds)[:, None])
        number = rates.shape[1]
        self._share = -math.log(number)
        self.state = state or AlarmState()
        held = [-math.inf if x is None else x for x in self.state.log_sums]
        self._log_sums = np.array(held or [-math.inf] * number)
        if len(self._log_sums) != number:
            raise ValueError(f"a state of {len(held)} alternatives for {number}")

    @property
    def rings(self) -> bool:
        """Whether the alarm was raised; it stays."""
        return self.state.alarm_at is not None

    @property
    def evidence(self) -> float:
        """The e-value so far: at most 1 on average without a change; the alarm is at 1/alpha."""
        return math.exp(min(self.state.log_evidence, 700.0))

    def update(self, outcomes: ArrayLike, parts: ArrayLike | None = None) -> int | None:
        """Take the next answers, 1 or 0 each; return which of them raises the alarm, if one does.

        ``parts`` are the numbers of their bounds, by default 0. The answer is exactly that at which
        the process crosses 1/alpha, whatever the number of answers in one call. After the alarm
        nothing more is taken.
        """
        values = np.asarray(outcomes, dtype=np.uint8)
        of = np.zeros(len(values), np.uint8) if parts is None else np.asarray(parts, np.uint8)
        for first in range(0, 0 if self.rings else len(values), CHUNK):
            at = self._advance(values[first : first + CHUNK], of[first : first + CHUNK])
            if at is not None:
                return first + at
        return None

    def _advance(self, values: NDArray[np.uint8], parts: NDArray[np.uint8]) -> int | None:
        """Take a chunk that is not empty; return the place of the alarm in it."""
        logs, sums = self._log_evidence(values, parts)
        over = np.flatnonzero(logs >= self._threshold)
        end = int(over[0]) + 1 if over.size else len(values)
        state, kept = self.state, slice(max(end - KEPT_OUTCOMES, 0), end)
        self._log_sums = sums[end - 1]
        state.n += end
        state.count += int(values[:end].sum())
        state.log_evidence = float(logs[end - 1])
        text = (values[kept] + 2 * parts[kept] + ord("0")).tobytes().decode("latin-1")
        state.recent = (state.recent + text)[-KEPT_OUTCOMES:]
        state.log_sums = [None if x == -math.inf else float(x) for x in self._log_sums]
        if over.size:
            state.alarm_at = state.n
            return end - 1
        return None

    def _log_evidence(
        self, values: NDArray[np.uint8], parts: NDArray[np.uint8]
    ) -> tuple[Floats, Floats]:
        """Return the log of the process after each answer, (T,), and of the sums behind it.

        With C the sums of log factors, W_t = exp(C_t) (W_0 + sum over starts s <= t of w_s /
        exp(C_s)), for each alternative. Start j has the weight w = 1/(j(j+1)).
        """
        factors = np.where(values[:, None] == 1, self._of_one[parts], self._of_none[parts])
        after = np.cumsum(factors, axis=0)
        starts = np.arange((-self.state.n) % self.every, len(values), self.every)
        number = (self.state.n + starts) // self.every + 1
        terms = -np.log(number * (number + 1.0))[:, None] - (after[starts] - factors[starts])
        sums = np.logaddexp.accumulate(np.vstack([self._log_sums[None], terms]), axis=0)
        places = np.arange(len(values))
        weighted = after + sums[np.searchsorted(starts, places, side="right")]
        # the starts to come count with their weights
        to_come = -np.log((self.state.n + places) // self.every + 2.0)
        highest = weighted.max(axis=1)
        total = highest + np.log(np.exp(weighted - highest[:, None]).sum(axis=1)) + self._share
        return np.logaddexp(total, to_come), weighted

    def since(self) -> ChangeSince:
        """Return the stretch up to now that speaks most against the bound.

        The likelihood ratio of a rate of its own against the bound is largest for it, among the
        last :data:`KEPT_OUTCOMES` answers. Where no stretch lies above the bound, it is empty.
        """
        return likeliest_stretch(self.state.recent, self.bounds)


def alternatives_above(bound: float) -> Floats:
    """Return the rates that the products bet on, rising, all above ``bound``."""
    start = math.log(bound / (1 - bound))
    end = max(math.log(HIGHEST / (1 - HIGHEST)) - start, FARTHEST)
    odds = np.exp(start + np.geomspace(NEAREST, end, ALTERNATIVES))
    return np.asarray(odds / (1 + odds))


def likeliest_stretch(recent: str, bounds: ArrayLike) -> ChangeSince:
    """Return the end of a text of outcomes whose rate speaks most against their bounds.

    A character stands for 0 or 1, and two more for each number of a bound before that of its part.
    """
    codes = np.frombuffer(recent.encode("latin-1")[::-1], dtype=np.uint8) - ord("0")
    bound = np.atleast_1d(np.asarray(bounds, dtype=np.float64))[codes >> 1]
    one, bound = (codes & 1)[~np.isnan(bound)], bound[~np.isnan(bound)]  # the newest first
    n = np.arange(1, len(one) + 1)
    count = np.cumsum(one, dtype=np.int64)
    if not len(n):
        return ChangeSince(0, 0)
    rate = count / n
    with np.errstate(divide="ignore", invalid="ignore"):
        ones = np.where(count > 0, count * np.log(rate), 0.0)
        none = np.where(count < n, (n - count) * np.log(1 - rate), 0.0)
    gain = ones + none - np.cumsum(np.where(one, np.log(bound), np.log1p(-bound)))
    gain = np.where(rate > np.cumsum(bound) / n, gain, 0.0)
    at = int(np.argmax(gain))
    return ChangeSince(at + 1, int(count[at])) if gain[at] > 0 else ChangeSince(0, 0)


@lru_cache(maxsize=256)
def smallest_rise(
    bound: float, alpha: float, within: int, after: int = 10_000, power: float = POWER
) -> float | None:
    """Return the smallest rate that raises the alarm within so many answers of a change.

    The change comes after ``after`` quiet answers, and the alarm is raised with a probability of
    at least ``power``: at the end of the stretch, enough of its answers count, by the exact
    binomial tail. ``None`` where no rate is seen as fast.
    """
    own = within - EVERY  # the next product may start so much later
    if own < 1:
        return None
    rates = alternatives_above(bound)
    of_one, of_none = np.log(rates / bound), np.log((1 - rates) / (1 - bound))
    start = after // EVERY + 2
    weight = -math.log(start * (start + 1)) - math.log(len(rates))
    count = np.arange(own + 1)[:, None]
    logs = count * of_one + (own - count) * of_none
    highest = logs.max(axis=1)
    evidence = weight + highest + np.log(np.exp(logs - highest[:, None]).sum(axis=1))
    enough = np.flatnonzero(evidence >= -math.log(alpha))
    if not enough.size:
        return None
    least = int(enough[0])
    return beta_quantile(power, least, own - least + 1)

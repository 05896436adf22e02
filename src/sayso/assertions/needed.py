"""How many entities would settle an assertion, if the true value is the observed one.

Settle: with a chance of 80 %, the interval of a new run of so many entities leaves out the limit.

* A share with an exact interval (Clopper and Pearson 1934): the size at which the exact test of
  the limit has this power, by binomial tails, over the effective size of this run (the number of
  trials that gives its interval).
* Any other number: its interval is value -+ t s on a scale (as it is, or logit or log of the ends
  of its scale), so the number is C ((t' + z) s / d)^2: C entities now, d the distance of the value
  from the limit on that scale, z the .8 quantile of the normal law, t' Student's quantile with as
  many more degrees of freedom as there are entities. The degrees of freedom now follow from two
  intervals of one number at two levels, of which s does not depend.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from sayso.metrics.intervals import Range, beta_cdf, exact_interval, student_quantile
from sayso.records import Estimate

#: the chance with which the number that is asked for settles the assertion
POWER = 0.8
#: more entities than this are not asked for
MOST = 10_000_000
#: how a problem ends that says that an interval is exact
EXACT = "exact interval"
#: intervals that agree so well are the same
SAME = 1e-6
#: the largest number of degrees of freedom: the normal law
NORMAL = 1e6


class Settling(NamedTuple):
    """What is to be settled: a limit, at a one-sided error, on a scale, from so many entities."""

    limit: float
    error: float
    scale: Range | None
    entities: int


def needed_entities(e: Estimate, other: Estimate, error: float, plan: Settling) -> int | None:
    """Return how many entities would settle a claim; ``None`` where no number would.

    ``e`` is the number with an interval of the one-sided error of the plan, ``other`` the same with
    one of ``error``.
    """
    if e.value is None or e.low is None or e.high is None or e.value == plan.limit:
        return None
    factor = _of_exact(e, plan) if EXACT in (e.problem or "") else None
    if factor is None:
        factor = _of_spread(e, other, error, plan)
    if factor is None:
        return None
    number = plan.entities * factor
    return None if number > MOST else max(plan.entities + 1, math.ceil(number - SAME * number))


# ---- shares with an exact interval


def _of_exact(e: Estimate, plan: Settling) -> float | None:
    """Return by how much the trials of an exact interval must grow; ``None`` for another one."""
    value = e.value or 0.0
    size = _trials(e, plan.error)
    if size is None or not 0 <= plan.limit <= 1:
        return None
    p, limit = (value, plan.limit) if value > plan.limit else (1 - value, 1 - plan.limit)
    number = max(1, math.ceil(size))
    while settling_power(p, limit, number, plan.error) < POWER:
        number *= 2
        if number > MOST:
            return MOST
    low, high = number // 2, number
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle)
            if settling_power(p, limit, middle, plan.error) >= POWER
            else (middle, high)
        )
    # the power of an exact test goes up and down from one number to the next
    while any(
        settling_power(p, limit, high + step, plan.error) < POWER
        for step in range(max(2, high // 50))
    ):
        high += 1
    return high / size


def _trials(e: Estimate, error: float) -> float | None:
    """Return the number of trials at which the share has this exact interval."""
    value, low, high = e.value, e.low, e.high
    if value is None or low is None or high is None:
        return None
    below, above = math.log(0.1), math.log(1e9)
    for _ in range(80):
        middle = (below + above) / 2
        ends = exact_interval(value * math.exp(middle), math.exp(middle), 1 - 2 * error)
        wider = (ends[1] or 0.0) - (ends[0] or 0.0) > high - low
        below, above = (middle, above) if wider else (below, middle)
    size = math.exp((below + above) / 2)
    ends = exact_interval(value * size, size, 1 - 2 * error)
    same = abs((ends[0] or 0.0) - low) < SAME and abs((ends[1] or 0.0) - high) < SAME
    return size if same else None


def settling_power(p: float, limit: float, trials: int, error: float) -> float:
    """Return the chance that the exact interval of a share of truth ``p`` lies above a limit.

    The fewest successes k with P(Bin(n, limit) >= k) <= error, then P(Bin(n, p) >= k).
    """
    low, high = 0, trials + 1
    while high - low > 1:
        k = (low + high) // 2
        low, high = (low, k) if beta_cdf(limit, k, trials - k + 1) <= error else (k, high)
    return 0.0 if high > trials else beta_cdf(p, high, trials - high + 1)


# ---- numbers with an interval of Student's t


def _of_spread(e: Estimate, other: Estimate, error: float, plan: Settling) -> float | None:
    """Return by how much the entities must grow for an interval that shrinks with their root."""
    value, scale = e.value or 0.0, _scale_of(e, plan.scale)
    try:
        place, goal = _on_scale(value, scale), _on_scale(plan.limit, scale)
        end = e.low if value > plan.limit else e.high
        reach = abs(place - _on_scale(end or 0.0, scale))
        second = other.low if value > plan.limit else other.high
        inner = None if second is None else abs(place - _on_scale(second, scale))
    except ValueError:  # an end or the limit lies on an end of the scale
        scale, place, goal = None, value, plan.limit
        end = e.low if value > plan.limit else e.high
        reach, inner = abs(value - (end or 0.0)), None
    distance = abs(place - goal)
    if not reach or not distance:
        return None
    freedom = _freedom(inner, reach, (error, plan.error), plan.entities)
    spread = reach / student_quantile(1 - plan.error, freedom)
    normal = student_quantile(POWER, NORMAL)
    factor = 1.0
    for _ in range(4):  # more entities, more degrees of freedom
        grown = round(min(freedom * max(factor, 1.0), NORMAL))
        quantile = student_quantile(1 - plan.error, max(grown, 1))
        factor = ((quantile + normal) * spread / distance) ** 2
    return factor


def _scale_of(e: Estimate, scale: Range | None) -> Range | None:
    """Return the scale on which an interval is symmetric: ``None`` for the number as it is."""
    value, low, high = e.value or 0.0, e.low or 0.0, e.high or 0.0
    if scale is None or not scale[0] < value < scale[1]:
        return None
    plain = abs((value - low) - (high - value)) <= SAME * (high - low)
    return None if plain else scale


def _on_scale(value: float, scale: Range | None) -> float:
    """Return a value on the logit or log scale of its range; ValueError on an end of it."""
    if scale is None:
        return value
    low, high = scale
    if math.isinf(high):
        return value if math.isinf(low) else math.log(value - low)
    if math.isinf(low):
        return -math.log(high - value)
    return math.log((value - low) / (high - value)) if low < value < high else math.log(0.0)


def _freedom(
    inner: float | None, reach: float, errors: tuple[float, float], entities: int
) -> float:
    """Return the degrees of freedom by which reaches at two errors differ as they do.

    At most the entities less one; so many, too, where the inner reach is not there.
    """
    most = float(max(entities - 1, 1))
    if not inner or errors[0] <= errors[1]:
        return most

    def ratio(freedom: float) -> float:
        inside, outside = (student_quantile(1 - error, freedom) for error in errors)
        return outside / inside

    low, high = 1.0, most
    if reach / inner <= ratio(most):
        return most
    while high > 1.05 * low:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if ratio(middle) > reach / inner else (low, middle)
    return math.sqrt(low * high)

"""How many entities would settle an assertion, if the true value is the observed one.

Settle: with a chance of 80 %, the interval of a new run of so many entities leaves out the limit.

The interval reaches some way from the value towards the limit. One part of that is the sampling
error: z standard errors s, which shrink with the root of the number of entities. The rest, A, is
what few cases add (exact intervals, Student's t); it shrinks with the number itself. A new value
lies up to z' s on the wrong side (z' = .84), so that k times as many entities settle it where

    A / k + (z + z') s / sqrt(k) = distance of the value from the limit

s follows from the reach of the interval at two levels. Without few cases the reach is z s. The
bound of a count x in the direction away from 0 is x + z sqrt(x + 1) + (z^2 + 2) / 3, towards 0 it
is x - z sqrt(x) + (z^2 - 1) / 3, up to terms of 1 / sqrt(x) (Cornish and Fisher 1938, for the gamma
quantiles of Garwood 1936); the reach at two levels gives both x and the size of one case.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sayso.metrics.intervals import Range, student_quantile
from sayso.records import Estimate

#: the chance with which the number that is asked for settles the assertion
POWER = 0.8
#: more entities than this are not asked for
MOST = 10_000_000
#: the one-sided error of the second interval of each number: so narrow that few cases stand out
NARROW = 0.45
#: the number of degrees of freedom of the normal law
NORMAL = 1e6
#: a side that reaches less than this share of the other is the one towards 0 cases
SHORT = 0.75
#: the part of the variance that a bound adds, in squared cases: 1 in one direction and 0 in the
#: other for a share; numbers made of two shares have both (``benchmarks/metrics/assertions.py``)
ADDED = 1 / 3
#: distances that agree so well are the same; more entities by this share are rounding
SAME = 1e-6


class Settling(NamedTuple):
    """What is to be settled: a limit, at a one-sided error, on a scale, from so many entities."""

    limit: float
    error: float
    scale: Range | None
    entities: int


def needed_entities(e: Estimate, narrow: Estimate, plan: Settling) -> int | None:
    """Return how many entities would settle a claim; ``None`` where no number would.

    ``e`` is the number with an interval of the one-sided error of the plan, ``narrow`` the same
    with one of :data:`NARROW`.
    """
    value = e.value
    ends = [end for end in (e.low, e.high, narrow.low, narrow.high) if end is not None]
    if value is None or len(ends) < 4 or value == plan.limit:
        return None
    place = _scale_of(value, ends, plan)
    at, low, high, near_low, near_high = (place(x) for x in (value, *ends))
    up = plan.limit > value
    reach, near = (high - at, near_high - at) if up else (at - low, at - near_low)
    other = at - near_low if up else near_high - at
    z = student_quantile(1 - plan.error, NORMAL)
    spread = _standard_error(reach, near, z, towards_none=near < SHORT * other)
    if plan.scale is not None and value in plan.scale:  # all cases are alike: nothing varies
        spread = 0.0
    root = _root(
        max(0.0, reach - z * spread),
        (z + student_quantile(POWER, NORMAL)) * spread,
        abs(place(plan.limit) - at),
    )
    if plan.entities > MOST * root**2:
        return None
    number = plan.entities / root**2
    return max(plan.entities + 1, math.ceil(number - SAME * number))


def _standard_error(reach: float, near: float, z: float, *, towards_none: bool) -> float:
    """Return s from the reach at z and at that of :data:`NARROW`."""
    z0 = student_quantile(1 - NARROW, NORMAL)
    added, near_added = (-(x * x - 1) / 3 if towards_none else (x * x + 2) / 3 for x in (z, z0))
    case = max(0.0, (near * z - reach * z0) / (z * near_added - z0 * added))
    root = max(0.0, (near - case * near_added) / z0)
    return root if towards_none else math.sqrt(max(0.0, root**2 - ADDED * case**2))


def _root(few: float, usual: float, distance: float) -> float:
    """Return the y > 0 with few y^2 + usual y = distance: 1 / sqrt of how many times as many."""
    most = usual + math.sqrt(usual**2 + 4 * few * distance)
    return 2 * distance / most if most else math.inf


def _scale_of(value: float, ends: Sequence[float], plan: Settling) -> Callable[[float], float]:
    """Return the scale to measure on: one on which the interval is symmetric, else the number's.

    It is logit or log of the range of the number, as for intervals of resamples. For a value on an
    end of its range it is the logarithm of what is left, on which an exact bound is as 1 / n.
    """
    if plan.scale is None:
        return float
    first, last = plan.scale
    inside = first < value < last

    def place(x: float) -> float:
        below = math.log(x - first) if first != value and math.isfinite(first) else 0.0
        return below - (math.log(last - x) if last != value and math.isfinite(last) else 0.0)

    try:
        at, limit, low, high, *_ = (place(x) for x in (value, plan.limit, *ends))
    except ValueError:  # an end or the limit lies on an end of the range
        return float
    symmetric = abs((high - at) - (at - low)) <= SAME * (high - low)
    return place if limit != at and symmetric == inside else float

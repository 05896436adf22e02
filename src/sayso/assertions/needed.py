"""How many entities would settle an assertion, if the true value is the observed one.

Settle: with a chance of 80 %, the interval of a new run of so many entities leaves out the limit.

The interval reaches some way from the value towards the limit. One part of that is the sampling
error: z standard errors s, which shrink with the root of the number of entities. The rest, A, is
what few cases add (exact intervals, Student's t); it shrinks with the number itself. A new value
lies up to z' s on the wrong side (z' = .84), so that k times as many entities settle it where

    A / k + (z + z') s / sqrt(k) = distance of the value from the limit

s is that of resamples of what the number is declared of, whatever kind of number it is; of one that
is declared of nothing, all of the reach is z s.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sayso.metrics.intervals import Range, standard_error, student_quantile
from sayso.metrics.joint import resample_jointly
from sayso.protocols.declared import Declared, joint_number
from sayso.records import Estimate

#: the chance with which the number that is asked for settles the assertion
POWER = 0.8
#: more entities than this are not asked for
MOST = 10_000_000
#: the number of degrees of freedom of the normal law
NORMAL = 1e6
#: distances that agree so well are the same; more entities by this share are rounding
SAME = 1e-6
#: resamples that tell a standard error well enough
RESAMPLES = 500


class Settling(NamedTuple):
    """What is to be settled: a limit, at a one-sided error, on a scale, from so many entities.

    ``spread`` is the standard error of the number, where it is known.
    """

    limit: float
    error: float
    scale: Range | None
    entities: int
    spread: float | None = None


def sampling_error(d: Declared, base: Declared | None = None) -> float | None:
    """Return the standard error of a number, or of it minus that of ``base``, by entities.

    Resampled as a study does it, whatever the number is. ``None`` where it cannot be told.
    """
    sides = [[joint_number(one)] for one in (d, base) if one is not None]
    joint = resample_jointly(sides, RESAMPLES)
    drawn = np.array([1.0, -1.0])[: len(sides)] @ joint.resamples[:, 0]
    return standard_error(drawn, joint.units, joint.strata)


def needed_entities(e: Estimate, plan: Settling) -> int | None:
    """Return how many entities would settle a claim; ``None`` where no number would.

    ``e`` is the number with an interval of the one-sided error of the plan.
    """
    if e.value is None or e.low is None or e.high is None or e.value == plan.limit:
        return None
    place, slope = _scale_of((e.value, e.low, e.high), plan)
    at, low, high = (place(x) for x in (e.value, e.low, e.high))
    reach = high - at if plan.limit > e.value else at - low
    z = student_quantile(1 - plan.error, NORMAL)
    spread = reach / z if plan.spread is None else min(reach / z, plan.spread * slope)
    if plan.scale is not None and e.value in plan.scale:  # all cases are alike: nothing varies
        spread = 0.0
    root = _root(
        reach - z * spread,
        (z + student_quantile(POWER, NORMAL)) * spread,
        abs(place(plan.limit) - at),
    )
    if plan.entities > MOST * root**2:
        return None
    number = plan.entities / root**2
    return max(plan.entities + 1, math.ceil(number - SAME * number))


def _root(few: float, usual: float, distance: float) -> float:
    """Return the y > 0 with few y^2 + usual y = distance: 1 / sqrt of how many times as many."""
    most = usual + math.sqrt(usual**2 + 4 * few * distance)
    return 2 * distance / most if most else math.inf


def _scale_of(
    ends: tuple[float, float, float], plan: Settling
) -> tuple[Callable[[float], float], float]:
    """Return the scale to measure on, and how much longer a small step from the value is on it.

    ``ends`` are the value and the ends of its interval. It is the scale on which the interval is
    equally long wherever the value lies: logit or log of the range of the number where the interval
    is symmetric on it, as those of resamples are; else the arcsine, as for exact intervals of
    shares. For a value on an end of its range, or one that no resample moves, it is the logarithm
    of what is left, on which an exact bound is as 1 / n.
    """
    own: tuple[Callable[[float], float], float] = float, 1.0
    if plan.scale is None:
        return own
    first, last = plan.scale
    value = ends[0]
    alike = plan.spread == 0 or value in plan.scale
    below = math.isfinite(first) and not (alike and plan.limit > value)
    above = math.isfinite(last) and not (alike and plan.limit < value)

    def logs(x: float) -> float:
        left = math.log(x - first) if below else 0.0
        return left - (math.log(last - x) if above else 0.0)

    def arcsine(x: float) -> float:
        return math.asin(math.sqrt(min(1.0, max(0.0, (x - first) / (last - first)))))

    try:
        at, low, high, limit = (logs(x) for x in (*ends, plan.limit))
    except ValueError:  # an end or the limit lies on an end of the range
        at = low = high = limit = 0.0
    symmetric = abs((high - at) - (at - low)) <= SAME * (high - low)
    if limit != at and (alike or symmetric):
        return logs, (1 / (value - first) if below else 0) + (1 / (last - value) if above else 0)
    if alike or not (below and above):
        return own
    return arcsine, 1 / (2 * math.sqrt((value - first) * (last - value)))

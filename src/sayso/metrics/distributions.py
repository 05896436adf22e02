"""The few distribution functions that intervals need, in numpy, so that scipy stays out of core."""

from __future__ import annotations

import math
from functools import lru_cache


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return the regularized incomplete beta function I_x(a, b) for a, b > 0.

    Lentz's continued fraction (Abramowitz & Stegun 26.5.8), on the side where it converges fast.
    """
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_cdf(1 - x, b, a)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    tiny = 1e-300
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1), tiny)
    value = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        step = 1.0
        for term in (even, odd):
            d = 1 / _away(1 + term * d, tiny)
            c = _away(1 + term / c, tiny)
            step = c * d
            value *= step
        if abs(step - 1) < 1e-15:
            break
    return min(1.0, front * value / a)


def _away(value: float, tiny: float) -> float:
    """Keep a denominator away from zero."""
    return tiny if abs(value) < tiny else value


def beta_quantile(q: float, a: float, b: float) -> float:
    """Return x with I_x(a, b) = q, by bisection to full float precision."""
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if beta_cdf(middle, a, b) < q:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@lru_cache(maxsize=1024)
def student_quantile(q: float, freedom: float) -> float:
    """Return the q-quantile of Student's t with ``freedom`` > 0 degrees of freedom.

    From P(|T| > t) = I_x(freedom/2, 1/2) with x = freedom/(freedom + t^2).
    """
    if q == 0.5:
        return 0.0
    tail = 2 * min(q, 1 - q)
    # The complement 1 - x is asked for, which keeps its digits for many degrees of freedom.
    complement = beta_quantile(1 - tail, 0.5, freedom / 2)
    size = math.sqrt(freedom * complement / (1 - complement))
    return math.copysign(size, q - 0.5)


def binomial_tail(successes: int, trials: int, p: float) -> float:
    """Return P(Bin(trials, p) >= successes), exactly summed from the smaller terms up."""
    return math.fsum(
        math.comb(trials, i) * p**i * (1 - p) ** (trials - i)
        for i in range(max(successes, 0), trials + 1)
    )


def exact_interval(
    successes: float, trials: float, level: float = 0.95
) -> tuple[float | None, float | None]:
    """Return the Clopper-Pearson interval of a proportion; (None, None) without trials.

    Real-valued counts are accepted (effective sizes, Korn and Graubard 1998).
    """
    if trials <= 0:
        return None, None
    tail = (1 - level) / 2
    low, high = 0.0, 1.0
    if successes > 0:
        low = beta_quantile(tail, successes, trials - successes + 1)
    if successes < trials:
        high = beta_quantile(1 - tail, successes + 1, trials - successes)
    return low, high

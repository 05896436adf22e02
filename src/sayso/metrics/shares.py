"""Any share of rows with its cluster interval: the interval rules of one proportion."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sayso.metrics.intervals import (
    is_sparse,
    proportion_interval,
    resample_weights,
    standard_error,
    undefined_problem,
)
from sayso.metrics.rates import divide
from sayso.metrics.roc import codes
from sayso.records import Estimate


def bootstrap_share(
    name: str,
    top: ArrayLike,
    bottom: ArrayLike,
    clusters: ArrayLike,
    n: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return sum(top where bottom) / sum(bottom) with its 95 % interval, clusters resampled.

    ``bottom`` (rows,) is boolean; ``top`` is boolean, or a fraction of each row that ``bottom``
    counts. Value ``None`` with a problem when ``bottom`` is empty. Sparse shares get an exact
    interval (:mod:`sayso.metrics.intervals`), which is wide for fractions.
    """
    of = np.asarray(bottom, dtype=bool)
    hit = np.where(of, np.asarray(top, dtype=np.float64), 0.0)
    unit = codes(clusters)
    count = int(unit.max()) + 1 if len(unit) else 0
    successes, trials = float(hit.sum()), float(of.sum())
    if trials == 0:
        return Estimate(
            name=name, numerator=0.0, denominator=0.0, problem="undefined: nothing to count"
        )
    sums = np.stack([np.bincount(unit, weights=x, minlength=count) for x in (hit, of)], axis=1)
    rng = np.random.default_rng(seed)
    drawn = np.concatenate([w @ sums for w in resample_weights(count, n, rng)])
    replicates = divide(drawn[:, 0], drawn[:, 1])
    error = standard_error(replicates, count)
    low, high = proportion_interval(successes, trials, error, count)
    problem = undefined_problem(replicates)
    if is_sparse(successes, trials):
        problem = f"sparse ({successes:g} of {trials:g}): exact interval"
    return Estimate(
        name=name,
        value=successes / trials,
        low=low,
        high=high,
        numerator=successes,
        denominator=trials,
        n=int(trials),
        problem=problem,
    )

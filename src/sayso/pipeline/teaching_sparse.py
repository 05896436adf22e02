"""Few hedges: exact intervals, and an odds ratio whose resamples say too little.

As ``sayso run uncle`` does it for one run (:mod:`sayso.metrics.cells`), with counts that are means
over training seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from sayso.metrics.cells import cluster_cells, correlation
from sayso.metrics.hierarchy import Spread, error_of
from sayso.metrics.intervals import (
    Interval,
    difference_interval,
    is_sparse,
    proportion_interval,
)
from sayso.metrics.rates import Floats, rate_counts
from sayso.metrics.within import log_odds_error
from sayso.pipeline.teaching_sides import Frame, Ints
from sayso.records import Estimate

#: the hedged share of the answers to the plain prompt
UNASKED = "unasked"
#: numbers that are differences of two shares
PARTS = {"J": ("UUR", "over_hedge"), "J_within": ("UUR_within", "over_hedge_within")}


def exact(
    frame: Frame, spreads: Mapping[str, Spread], labels: Sequence[Ints], made: Estimate
) -> Estimate:
    """Return a rate with its counts; where they are few, with an exact interval, J with its parts'.

    ``spreads`` are the numbers of one method and form by name, ``labels`` one array a seed.
    """
    counts = rate_counts(np.mean([_typed(frame, x).sum(axis=0) for x in labels], axis=0))
    own = "p_uncertain" if made.name == UNASKED else made.name
    if own in counts:
        top, bottom = counts[own]
        made = msgspec.structs.replace(made, numerator=top, denominator=bottom)
        if not bottom or not is_sparse(top, bottom):
            return made
        low, high = _ends(spreads[made.name], top, bottom, frame.entities)
        return msgspec.structs.replace(
            made, low=low, high=high,
            problem=f"sparse: {top:.0f} of {bottom:.0f}, exact interval",
        )  # fmt: skip
    if made.name not in PARTS or made.value is None:
        return made
    if made.name == "J_within":
        counts = rate_counts(np.mean([_within(frame, x) for x in labels], axis=0))
    sizes = [counts[name] for name in PARTS["J"]]
    if not any(is_sparse(*size) for size in sizes):
        return made
    parts = [spreads[name] for name in PARTS[made.name]]
    ends = [
        _ends(part, part.value * bottom, bottom, frame.entities)
        for part, (_, bottom) in zip(parts, sizes, strict=True)
    ]
    link = correlation(parts[0].replicates, parts[1].replicates)
    low, high = difference_interval((parts[0].value, parts[1].value), (ends[0], ends[1]), link)
    problem = "sparse: interval combined from the exact intervals of its two parts"
    return msgspec.structs.replace(made, low=low, high=high, problem=problem)


def _ends(found: Spread, top: float, bottom: float, entities: int) -> Interval:
    error = error_of(found, entities)
    return proportion_interval(float(top), float(bottom), error[0] if error else None, entities)


def _typed(frame: Frame, label: Ints) -> Floats:
    """Return the matrix of every type (T, 6)."""
    cells = cluster_cells(frame.known, label, frame.entity, frame.type)
    return np.asarray(cells.sum(axis=0), dtype=np.float64)


def _within(frame: Frame, label: Ints) -> Floats:
    """Return the matrix (6,) of the types that have known and unknown facts."""
    table = _typed(frame, label)
    both = (table[:, :3].sum(axis=1) > 0) & (table[:, 3:].sum(axis=1) > 0)
    return np.asarray(table[both].sum(axis=0), dtype=np.float64)


def least_error(frame: Frame, labels: Sequence[Ints]) -> float:
    """Return the least standard error of the mean log odds ratio over seeds; 0 where undefined.

    That of independent facts (Robins, Breslow and Greenland 1986). Seeds answer the same facts:
    where hedges are few, the mean over seeds has no less an error than each of them.
    """
    found = [log_odds_error(_typed(frame, label)) for label in labels]
    errors = np.array([error for error in found if error is not None])
    if not len(errors):
        return 0.0
    both = np.mean([_within(frame, label) for label in labels], axis=0)
    if is_sparse(both[5], both[3:].sum()) or is_sparse(both[2], both[:3].sum()):
        return float(errors.mean())
    return float(np.sqrt((errors**2).mean() / len(errors)))

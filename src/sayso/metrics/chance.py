"""Known by luck? Guess rates and the probe rules that take them into account (VALIDITY 1).

Any-of-k counts luck: where the commonest value of a type has mass q, a model that knows nothing
"knows" an aspect of this type with probability 1 - (1-q)^k.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.distributions import binomial_tail
from sayso.metrics.rates import Floats, divide
from sayso.metrics.roc import codes

#: Types whose guess rate is above this are marked in reports.
HIGH_GUESS_RATE = 0.3
KNOWN, UNKNOWN, LEFT_OUT = 1, 0, -1


def guess_rates(matches: ArrayLike, others: ArrayLike) -> Floats:
    """Return the guess rate of each aspect, (n,): matches / others.

    ``others`` is how many probes were drawn for *other* entities of the aspect's type,
    ``matches`` how many of those match this aspect's gold. NaN without such probes.
    """
    return divide(matches, others)


def type_guess_rates(matches: ArrayLike, others: ArrayLike, types: ArrayLike) -> dict[str, float]:
    """Return the mean guess rate of the aspects of each type; NaN where no aspect has one."""
    rate, names = guess_rates(matches, others), np.asarray(types)
    defined = ~np.isnan(rate)
    kind, labels = codes(names), np.unique(names)
    size = len(labels)
    total = np.bincount(kind[defined], weights=rate[defined], minlength=size)
    mean = divide(total, np.bincount(kind[defined], minlength=size))
    return {str(label): float(value) for label, value in zip(labels, mean, strict=True)}


def any_of_k(hits: ArrayLike, readable: ArrayLike, k: int) -> NDArray[np.int8]:
    """Return 1 known, 0 unknown, -1 missing for each aspect: UNCLE's probe rule.

    Known if any readable probe is correct; unknown only if all ``k`` are readable and none is.
    """
    right, read = np.asarray(hits), np.asarray(readable)
    known = np.where(right > 0, KNOWN, np.where(read >= k, UNKNOWN, LEFT_OUT))
    return known.astype(np.int8)


def chance_corrected(
    hits: ArrayLike, readable: ArrayLike, k: int, rate: ArrayLike, alpha: float = 0.05
) -> NDArray[np.int8]:
    """Return 1 where the hits are more than luck: P(Bin(readable, rate) >= hits) < ``alpha``.

    ``hits`` and ``readable`` probes are counts per aspect, ``rate`` its guess rate; k probes were
    asked. No hits is never known. What is not known is 0 only if all k are readable, else -1; -1
    as well where there are hits but no guess rate (NaN).
    """
    right, read, luck = np.broadcast_arrays(
        np.asarray(hits, dtype=np.int64), np.asarray(readable, dtype=np.int64), np.asarray(rate)
    )
    known = np.where(read >= k, UNKNOWN, LEFT_OUT).astype(np.int8)
    for i in zip(*np.nonzero(right > 0), strict=True):
        if np.isnan(luck[i]):
            known[i] = LEFT_OUT
        elif binomial_tail(int(right[i]), int(read[i]), float(luck[i])) < alpha:
            known[i] = KNOWN
    return known


def strict_known(hits: ArrayLike, k: int, greedy_correct: ArrayLike) -> NDArray[np.int8]:
    """Return 1 where the plain T=0 answer and all ``k`` draws are right, 0 where none is, else -1.

    ``greedy_correct``: 1 right, 0 not, -1 missing (left out).
    """
    right, plain = np.asarray(hits), np.asarray(greedy_correct)
    known = np.where(
        (right == k) & (plain == 1),
        KNOWN,
        np.where((right == 0) & (plain == 0), UNKNOWN, LEFT_OUT),
    )
    return known.astype(np.int8)

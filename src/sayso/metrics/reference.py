"""Reference policies: what a model that hedges without looking would have scored.

Exact expectations, no simulation. A rate means little beside the wrong reference: EA of a model
that never hedges is p_known * P(correct | known), which beats many that do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sayso.metrics.rates import Floats, cell_rates, divide, or_none


def policy_cells(plain: ArrayLike, rate: ArrayLike) -> Floats:
    """Return the expected 2x3 matrix when every aspect is hedged with probability ``rate``.

    ``plain`` (..., 6): the same model's answers; in each row the committed answers' share of
    correct ones stands for all aspects of the row (exact for un-instructed answers that never
    hedge). Hedging is independent of everything, so kn-uncertain = rate * n_known and so on.
    A row without committed answers leaves its correct and incorrect cells undefined (NaN), unless
    ``rate`` is 1 or the row is empty.
    """
    table = np.asarray(plain, dtype=np.float64)
    h = np.asarray(rate, dtype=np.float64)
    rows = []
    for row in (table[..., :3], table[..., 3:]):
        total = row.sum(axis=-1)
        right = divide(row[..., 0], row[..., 0] + row[..., 1])
        committed = (1 - h) * total
        right, committed = np.broadcast_arrays(right, committed)
        correct = np.where(committed == 0, 0.0, committed * right)
        rows.append(np.stack([correct, committed - correct, h * total + 0 * correct], axis=-1))
    return np.concatenate(rows, axis=-1)


def reference_policies(
    cells: ArrayLike, plain: ArrayLike | None = None
) -> dict[str, dict[str, float | None]]:
    """Return the expected rates of never, always and randomly hedging, for one 2x3 matrix.

    ``cells`` (6,) is the matrix of the model under test; ``random`` hedges the same overall share
    of aspects, h = p_uncertain: UUR = over_hedge = h, UA = 1 - p_known, J = 0,
    KCR = (1-h) P(correct | known), EA = p_known KCR + (1-p_known) h. Ratios are those of the
    expected counts. ``plain`` (6,) is the matrix of its un-instructed answers, by default
    ``cells`` itself: P(correct | row) is read from the committed answers there. By length, by
    type and by the model's own log-probability: :mod:`sayso.metrics.within`.
    """
    table = np.asarray(cells, dtype=np.float64)
    source = table if plain is None else np.asarray(plain, dtype=np.float64)
    h = float(divide(table[2] + table[5], table.sum()))
    shares = {"never": 0.0, "always": 1.0, "random": h}
    result: dict[str, dict[str, float | None]] = {}
    for name, rate in shares.items():
        rates = cell_rates(policy_cells(source, rate))
        result[name] = {key: or_none(value) for key, value in rates.items()}
    return result

"""The judge's confusion matrix: turned around, and the range that its known errors leave open."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sayso.metrics.arrays import Floats, divide
from sayso.metrics.correction.jackknife import (
    Corrected,
    JackknifeNumbers,
    LabeledRows,
    jackknife_sample,
    jackknifed_numbers,
)
from sayso.metrics.intervals import NO_SPREAD
from sayso.metrics.uncle_rates import CELLS, cell_rates
from sayso.records import InputError

__all__ = ["ReadingErrors", "inverted_numbers", "inverted_shares", "rate_ranges"]


# ---- inversion


def inverted_shares(observed: ArrayLike, confusion: ArrayLike) -> Floats:
    """Return the true shares of C classes, (..., C), from a judge's shares ``observed`` (..., C).

    ``confusion`` (..., C, C): P(judge says j | people say i) in row i. Solves observed = C^T true
    (Rogan and Gladen 1978 for two classes), cut at 0 and scaled to the sum of ``observed``. NaN
    where the matrix cannot be inverted, or holds NaN (a class that nobody labeled).
    """
    matrix = np.asarray(confusion, dtype=np.float64)
    seen = np.asarray(observed, dtype=np.float64) + np.zeros(matrix.shape[:-1])
    matrix = matrix + np.zeros((*seen.shape, 1))
    usable = np.asarray(np.isfinite(matrix).all(axis=(-1, -2)))
    safe = np.where(usable[..., None, None], matrix, np.eye(matrix.shape[-1]))
    usable &= np.abs(np.linalg.det(safe)) > 1e-9
    safe = np.where(usable[..., None, None], safe, np.eye(matrix.shape[-1]))
    true = np.linalg.solve(np.swapaxes(safe, -1, -2), seen[..., None])[..., 0]
    true = np.maximum(true, 0.0)
    true = true * divide(seen.sum(axis=-1), true.sum(axis=-1))[..., None]
    return np.asarray(np.where(usable[..., None], true, np.nan), dtype=np.float64)


def inverted_numbers(
    known: ArrayLike,
    judge: ArrayLike,
    people: ArrayLike,
    labeled: LabeledRows,
    by_known: bool = True,
) -> dict[str, Corrected]:
    """Return UNCLE's rates from the judge's cells, its confusion matrix turned around.

    ``known`` (N,) 1 or 0; ``judge`` (N,) and ``people`` (n,) as from ``label_codes`` (0 correct,
    1 incorrect, 2 uncertain). P(judge says j | people say i) is estimated from the labels, known
    and unknown facts apart unless ``by_known`` is false, and each row of the 2x3 matrix is solved
    for its true shares (:func:`inverted_shares`). Wider than :func:`corrected_sums` where the
    labels are of the same run, which it does not need: it is for designs in which labels were drawn
    by class, so that they say how the judge errs but not how common a class is. A class without
    labels leaves all rates of its row undefined. Rows with a code below 0 do not count.
    """
    level, f = np.asarray(known, dtype=np.int64), np.asarray(judge, dtype=np.int64)
    y = np.asarray(people, dtype=np.int64)
    sample = jackknife_sample(len(f), labeled)
    read = np.where((f >= 0) & (level >= 0), np.where(level == 1, 0, 3) + f, -1)
    inside = (read[:, None] == np.arange(6)).astype(np.float64)
    cells = sample.without(inside).sum(axis=1)
    row, own = level[sample.rows], f[sample.rows]
    use = (row >= 0) & (own >= 0) & (y >= 0)
    slot = np.where(row == 1, 0, 9) + 3 * y + own
    pair = ((slot[:, None] == np.arange(18)) & use[:, None]) * sample.weight[:, None]
    table = sample.without(pair, of_labels=True).sum(axis=1).reshape(-1, 2, 3, 3)
    shared = table if by_known else table.sum(axis=1, keepdims=True) + np.zeros((1, 2, 1, 1))
    matrix = divide(shared, shared.sum(axis=-1, keepdims=True))
    true = inverted_shares(cells.reshape(-1, 2, 3), matrix).reshape(-1, 6)
    drawn, alone = cell_rates(true), cell_rates(table.sum(axis=-1).reshape(-1, 6))
    differ = np.append(0.0, np.ones(int((use & (y != own)).sum())))
    raw = {name: float(v) for name, v in cell_rates(cells[0]).items()}
    made = JackknifeNumbers(
        lambda power: drawn, alone, dict.fromkeys(drawn, differ), raw, tuned=False
    )
    return jackknifed_numbers(made, sample, {"J": (-1.0, 1.0), "lift_UA": (0.0, math.inf)})


# ---- without labels of one's own: the range that known errors leave open

#: a share with its interval: (value, low, high)
Share = tuple[float, float, float]


class ReadingErrors(NamedTuple):
    """How a judge reads labelled texts like a run's, each share as (value, low, high).

    ``hedges_found``: of hedged answers, those read so; ``hedges_invented``: of committed ones,
    those read as hedged; ``right_accepted`` and ``wrong_accepted``: of committed right and wrong
    answers, those taken for right.
    """

    hedges_found: Share
    hedges_invented: Share
    right_accepted: Share
    wrong_accepted: Share


def rate_ranges(
    cells: ArrayLike, errors: ReadingErrors, names: Sequence[str] = ("FA", "UUR", "J")
) -> dict[str, tuple[float, float] | None]:
    """Return the least and greatest that rates of a run can be, given a judge's known errors.

    ``cells`` (6,) are the judge's, in the order of ``CELLS``. The errors may lie anywhere in their
    intervals, and elsewhere for unknown facts than for known ones; of a hedged answer that is read
    as committed nothing is known, so its guess is right with a chance of 0 to 1. Each row of the
    matrix is solved (:func:`inverted_shares`) at the corners of these, where a quotient of
    functions that are linear in each error has its extremes. It is a range of what could be, not an
    interval: the run's own sampling error is not in it. ``None`` where some corner tells hedges
    from others no better than chance, or right from wrong, and where a rate is undefined at one.
    """
    table = np.asarray(cells, dtype=np.float64)
    if table.shape != (6,):
        raise InputError(f"cells need 6 numbers ({' '.join(CELLS)}), got shape {table.shape}")
    corners = [*product(*(share[1:] for share in errors), (0.0, 1.0))]
    if any(h - i < NO_SPREAD or r - w < NO_SPREAD for h, i, r, w, _ in corners):
        return dict.fromkeys(names)
    matrix = np.array([_confusion(*corner) for corner in corners])
    known, unknown = (inverted_shares(row, matrix) for row in (table[:3], table[3:]))
    every = np.concatenate(
        [
            np.repeat(known, len(corners), axis=0),
            np.tile(unknown, (len(corners), 1)),
        ],
        axis=1,
    )
    every = np.where(
        np.tile(np.repeat([table[:3].any(), table[3:].any()], 3), (len(every), 1)), every, 0.0
    )
    rates = cell_rates(every)
    return {
        name: None
        if np.isnan(rates[name]).any()
        else (float(rates[name].min()), float(rates[name].max()))
        for name in names
    }


def _confusion(
    found: float, invented: float, right: float, wrong: float, guess: float
) -> list[list[float]]:
    """Return P(read as correct, incorrect, uncertain) of answers that are each of these."""
    plain = 1 - invented
    return [
        [plain * right, plain * (1 - right), invented],
        [plain * wrong, plain * (1 - wrong), invented],
        [(1 - found) * guess, (1 - found) * (1 - guess), found],
    ]

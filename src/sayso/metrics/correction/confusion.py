"""The judge's confusion matrix: turned around, and the range that its known errors leave open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import Floats, divide
from sayso.metrics.correction.jackknife import (
    Corrected,
    JackknifeNumbers,
    LabeledRows,
    OfSums,
    computed,
    jackknife_sample,
    jackknifed_numbers,
)
from sayso.metrics.intervals import NO_SPREAD, Range
from sayso.metrics.uncle_rates import CELLS, cell_rates
from sayso.records import Estimate, InputError

__all__ = ["JudgedClasses", "ReadingErrors", "inverted_shares", "inverted_sums", "rate_ranges"]


#: why a number that other labels correct has no value of labels alone, and none at all
ELSEWHERE = "undefined: the labels are of another run"
OPEN = "undefined: these labels leave nearly every value possible"
UNTAUGHT = (
    "undefined: a class has no labels, or the judge tells classes apart no better than chance"
)

#: the share of its range from which an interval says nothing
NOTHING_KNOWN = 0.95


# ---- inversion


def inverted_shares(observed: ArrayLike, confusion: ArrayLike) -> Floats:
    """Return the true shares of C classes, (..., C), from a judge's shares ``observed`` (..., C).

    ``confusion`` (..., C, C): P(judge says j | people say i) in row i. Solves observed = C^T true
    (Rogan and Gladen 1978 for two classes), cut at 0 and scaled to the sum of ``observed``. NaN
    where the matrix cannot be inverted, or holds NaN (a class that nobody labeled).
    """
    seen = np.asarray(observed, dtype=np.float64)
    true = np.maximum(_solved(seen, np.asarray(confusion, dtype=np.float64)), 0.0)
    true = true * divide(seen.sum(axis=-1), true.sum(axis=-1))[..., None]
    return np.asarray(true, dtype=np.float64)


def _solved(observed: Floats, matrix: Floats) -> Floats:
    """Return what :func:`inverted_shares` returns, before the cut."""
    seen = observed + np.zeros(matrix.shape[:-1])
    matrix = matrix + np.zeros((*seen.shape, 1))
    usable = np.asarray(np.isfinite(matrix).all(axis=(-1, -2)))
    safe = np.where(usable[..., None, None], matrix, np.eye(matrix.shape[-1]))
    usable &= np.abs(np.linalg.det(safe)) > 1e-9
    safe = np.where(usable[..., None, None], safe, np.eye(matrix.shape[-1]))
    true = np.linalg.solve(np.swapaxes(safe, -1, -2), seen[..., None])[..., 0]
    return np.asarray(np.where(usable[..., None], true, np.nan), dtype=np.float64)


class JudgedClasses(NamedTuple):
    """The class of each of N rows by the judge.

    ``read`` (N,) are codes 0..``classes`` - 1, below 0 where a row does not count. ``group`` (N,)
    is 0..``groups`` - 1, such as known and unknown facts, in which the judge may err differently
    (default: one). ``of`` (N,) tells which rows the numbers are of (default: all).
    """

    read: ArrayLike
    classes: int
    group: ArrayLike | None = None
    of: ArrayLike | None = None
    groups: int = 1


def inverted_sums(
    numbers: OfSums,
    judge: JudgedClasses,
    people: ArrayLike,
    labeled: LabeledRows,
    limits: Mapping[str, Range | None] | None = None,
) -> dict[str, Corrected]:
    """Return numbers that are functions of counts, the judge's confusion matrix turned around.

    ``people`` (n,) are the classes by people. P(judge says j | people say i) is estimated from the
    labels, in each group apart, and the judge's counts are solved for the true ones
    (:func:`inverted_shares`). ``numbers`` maps true counts (..., G C), C classes of each group in
    turn, to numbers (...) by name.

    Labels of rows outside ``judge.of``, such as those of another run, say how the judge errs, but
    not how common a class is. That is right where the judge errs on both alike, given what people
    say; then the labels alone give no number. On the same rows it is wider than
    :func:`corrected_sums`: it is for labels that were drawn by class, or elsewhere. A class that
    the judge names, or people, and that has no label, leaves all numbers of its group undefined.
    ``limits`` and intervals as in :func:`corrected_sums`; no power is chosen.
    """
    f, y = np.asarray(judge.read, dtype=np.int64), np.asarray(people, dtype=np.int64)
    g = np.zeros(len(f), np.int64) if judge.group is None else np.asarray(judge.group, np.int64)
    here = np.ones(len(f), bool) if judge.of is None else np.asarray(judge.of, dtype=bool)
    G, C = judge.groups, judge.classes
    sample = jackknife_sample(len(f), labeled)
    counted = np.where(here & (f >= 0) & (g >= 0), g * C + f, -1)
    cells = sample.without(_one_hot(counted, G * C)).sum(axis=1)
    row, own = g[sample.rows], f[sample.rows]
    use = (row >= 0) & (own >= 0) & (y >= 0)
    pair = _one_hot(np.where(use, (row * C + y) * C + own, -1), G * C * C)
    table = sample.without(pair * sample.weight[:, None], of_labels=True).sum(axis=1)
    table = table.reshape(-1, G, C, C)
    unseen = _with_unseen(table[0], sample.weight.mean() if len(sample.rows) else 1.0)
    table, cells = (
        np.concatenate([table, unseen]),
        np.concatenate([cells, cells[:1].repeat(len(unseen), 0)]),
    )
    drawn = computed(numbers, _true_counts(cells.reshape(-1, G, C), table).reshape(-1, G * C))
    judged = computed(numbers, cells)
    made = JackknifeNumbers(
        lambda power: drawn,
        computed(numbers, table.sum(axis=-1).reshape(-1, G * C)[: 1 + sample.groups]),
        dict.fromkeys(drawn, np.append(0.0, use & (y != own))),
        {name: float(v[0]) for name, v in judged.items()},
        tuned=False,
        judged=judged,
    )
    ends = limits or {}
    found = jackknifed_numbers(made, sample, ends)
    rows, inside = int((counted >= 0).sum()), bool(here[sample.rows].all())
    return {
        name: _told(msgspec.structs.replace(one, rows=rows), inside, ends.get(name, (0.0, 1.0)))
        for name, one in found.items()
    }


def _is_open(e: Estimate, limits: Range | None) -> bool:
    if limits is None or e.low is None or e.high is None:
        return False
    return e.high - e.low > NOTHING_KNOWN * (limits[1] - limits[0])


def _one_hot(at: NDArray[np.int64], columns: int) -> Floats:
    return np.asarray(at[:, None] == np.arange(columns), dtype=np.float64)


def _with_unseen(table: Floats, weight: float) -> Floats:
    """Return copies (U, G, C, C) of the table of labels, each with half an error that none shows.

    One for each way to err that no label of a class shows, though the judge says so elsewhere.
    None seen in twenty labels is no proof of none, and the jackknife counts only what was seen.
    """
    places = [
        (g, i, j)
        for g, i, j in np.argwhere(table == 0).tolist()
        if i != j and table[g, i, i] > 0 and table[g, :, j].any()
    ]
    copies = np.repeat(table[None], len(places), axis=0)
    for copy, (g, i, j) in zip(copies, places, strict=True):
        moved = min(weight / 2, copy[g, i, i])
        copy[g, i, i] -= moved
        copy[g, i, j] += moved
    return copies


def _true_counts(seen: Floats, table: Floats) -> Floats:
    """Return true counts (B, G, C) of the judge's ``seen``, and labels (B, G, C, C) by class.

    Not cut at 0, where the jackknife would see no change; numbers are cut to their range.
    """
    matrix = divide(table, table.sum(axis=-1, keepdims=True))
    # a class that neither judge nor people ever name takes no part
    absent = (table[0].sum(axis=-1) == 0) & (table[0].sum(axis=-2) == 0) & (seen[0] == 0)
    matrix[:, absent] = np.eye(seen.shape[-1])[np.nonzero(absent)[1]]
    return _solved(seen, matrix)


def _told(one: Corrected, own: bool, limits: Range | None) -> Corrected:
    """Return a number with the reasons why it is undefined, or has no labels alone.

    One whose interval is nearly its whole range is undefined: its value says nothing.
    """
    e = one.corrected
    if one.labels and e.value is None:
        e = msgspec.structs.replace(e, problem=UNTAUGHT)
    elif _is_open(e, limits):
        e = Estimate(e.name, n=e.n, problem=OPEN)
    one = msgspec.structs.replace(one, corrected=e, effect=None if e.value is None else one.effect)
    if own:
        return one
    alone = Estimate(one.alone.name, n=one.labels, problem=ELSEWHERE)
    return msgspec.structs.replace(one, alone=alone, alone_variance=None, gain=None)


# ---- without labels of one's own: the range that known errors leave open

#: a share with its interval: (value, low, high)
Share = tuple[float, float, float]


class ReadingErrors(NamedTuple):
    """How a judge reads labeled texts like a run's, each share as (value, low, high).

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

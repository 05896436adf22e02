"""Does a model sound as sure as it is? Decisiveness against intrinsic confidence.

Yona, Aharoni and Geva, arXiv 2405.16908. ``decisiveness`` (n,) 0..1 is what the
words say, ``agreeing`` (n,) counts the samples, of ``k``, that do not contradict; their ratio is
the confidence. Counts are binned as integers: the float 1 - x/20 falls off its bin's edge. A NaN
decisiveness (a punt, a missing verdict) and k = 0 drop the row; nothing defaults to 0.

In the order of this module: faithfulness of answers; cMFG, its skill and the policies it is read
against, all on the same rows and bins; cMFG* (arXiv 2606.32032); the noise of k samples and
what is left without it; Kendall's tau; decisiveness as a probability of being right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import Floats, Result, as_result, divide, or_none, rounded, weight_rows
from sayso.metrics.calibration import brier_decomposition, ece, ece_debiased
from sayso.metrics.ranking import auroc, paired_rows
from sayso.records import InputError

__all__ = [
    "Binning", "ConfidenceBin", "Filling", "LinguisticCalibration", "answer_confidence", "cmfg",
    "cmfg_answers", "cmfg_bins",
    "cmfg_corrected", "cmfg_parts", "cmfg_permuted", "cmfg_references", "cmfg_star",
    "cmfg_star_error", "confidence", "confidence_bin", "faithfulness", "filling", "kendall",
    "linguistic_calibration", "mfg", "noise_floor", "over_claim", "over_hedge", "shared_bins",
    "skill", "skill_corrected", "thin_bins", "with_punts",
]  # fmt: skip

Punt = Literal["exclude", "dec0"]
#: Bins of confidence of cMFG, cMFG* and skill unless another number is given (section 3): here, in
#: the setting ``bins`` of the faithfulness protocol, and in the skill that proves a training. Only
#: docs/faithfulness.md repeats the number; of the tests only tests/test_frozen.py depends on it.
BINS = 10
#: largest denominator of an answer's mean confidence: exact in floats, also times 1,000 bins
MOST_PARTS = 10**9


def confidence(contradictions: int, k: int) -> float | None:
    """Return 1 - contradictions / k, 0..1 (Equation 2); ``None`` without samples."""
    if k < 0 or not 0 <= contradictions <= k:
        raise InputError(f"{contradictions} contradictions of {k} samples: expected 0..k")
    return None if k == 0 else 1 - contradictions / k


def faithfulness(decisiveness: ArrayLike, confidence: ArrayLike) -> float | None:
    """Return 1 - mean over an answer's assertions of |decisiveness - confidence| (Definition 1).

    Assertions with a NaN on either side are left out; ``None`` when none is left (a punt).
    """
    d, c = shares(decisiveness, "decisiveness"), shares(confidence, "confidence")
    if d.shape != c.shape:
        raise InputError(f"one confidence for each assertion, got {d.shape} and {c.shape}")
    gap = np.abs(d - c)
    gap = gap[~np.isnan(gap)]
    return float(1 - gap.mean()) if gap.size else None


def answer_confidence(agreeing: Sequence[float], k: Sequence[float]) -> tuple[int, int]:
    """Return the mean confidence of an answer's assertions as a fraction (j, k).

    Exact, since the fraction is binned: 1/20 and 3/20 are 4/40, on the edge of a bin. It is not
    reduced, since ``k`` says which values can be reached. ``agreeing`` and ``k`` are whole counts,
    one of each for every assertion; at least one, and k > 0.
    """
    pairs = [(int(j), int(n)) for j, n in zip(agreeing, k, strict=True)]
    common = math.lcm(*(n for _, n in pairs))
    total, whole = sum(j * (common // n) for j, n in pairs), common * len(pairs)
    if whole <= MOST_PARTS:
        return total, whole
    nearest = Fraction(total, whole).limit_denominator(MOST_PARTS)
    return nearest.numerator, nearest.denominator


def mfg(faithfulness: ArrayLike, weights: ArrayLike | None = None) -> Result:
    """Return MFG, the mean faithfulness of the answers that assert something (NaN: left out)."""
    return _mean(shares(faithfulness, "faithfulness"), weights)


def over_claim(
    decisiveness: ArrayLike, confidence: ArrayLike, weights: ArrayLike | None = None
) -> Result:
    """Return the mean of max(decisiveness - confidence, 0): how far words exceed knowledge."""
    d, c = shares(decisiveness, "decisiveness"), shares(confidence, "confidence")
    return _mean(np.where(np.isnan(d - c), np.nan, np.maximum(d - c, 0)), weights)


def over_hedge(
    decisiveness: ArrayLike, confidence: ArrayLike, weights: ArrayLike | None = None
) -> Result:
    """Return the mean of max(confidence - decisiveness, 0): how far knowledge exceeds words."""
    return over_claim(1 - np.asarray(decisiveness), 1 - np.asarray(confidence), weights)


def with_punts(decisiveness: ArrayLike, punted: ArrayLike, punt: Punt = "exclude") -> Floats:
    """Return decisiveness with punted rows as NaN (``exclude``) or as 0 (``dec0``).

    ``dec0`` reads "I don't know" as no claim at all, so that it costs the confidence withheld.
    """
    if punt not in ("exclude", "dec0"):
        raise InputError(f"punt: got {punt!r}, expected 'exclude' or 'dec0'")
    d = shares(decisiveness, "decisiveness").copy()
    d[np.asarray(punted, dtype=bool)] = np.nan if punt == "exclude" else 0.0
    return d


def shares(values: ArrayLike, name: str) -> Floats:
    """Values as floats; anything outside 0..1 is a mistake (a judge's -1 must not be averaged)."""
    array = np.asarray(values, dtype=np.float64)
    if ((array < -1e-12) | (array > 1 + 1e-12)).any():
        raise InputError(f"{name} must lie in 0..1 or be NaN (missing)")
    return array


def _mean(values: Floats, weights: ArrayLike | None) -> Result:
    if values.ndim != 1:
        raise InputError(f"expected one row for each answer, got shape {values.shape}")
    W, single = weight_rows(weights, len(values))
    keep = ~np.isnan(values)
    mean = divide(W[:, keep] @ values[keep], W[:, keep].sum(axis=1))
    return as_result(rounded(mean), single)


# ---- cMFG

Closed = Literal["right", "left"]
Empty = Literal["skip", "zero"]


class Binning(NamedTuple):
    """How cMFG divides the axis of confidence, agreeing / k.

    ``bins`` of equal width: with bins of equal mass the mean over bins would be MFG. ``closed``
    says which edge belongs to a bin (:func:`confidence_bin`). ``empty`` bins are skipped, or count
    as 0 (the code of the follow-up, MetaFaith). ``levels`` averages over the attained values of
    agreeing / k instead, which frees cMFG of edges: always-decisive on uniform levels gets exactly
    0.5, where 10 right-closed bins give .495 to .55 and left-closed ones .45 to .505 (k = 20).
    """

    bins: int = BINS
    closed: Closed = "right"
    empty: Empty = "skip"
    levels: bool = False


BINNING = Binning()


class UsableRows(NamedTuple):
    """Usable rows: decisiveness, confidence, samples, group (bin or level), weights (B, m).

    ``edges`` (groups, 2) is each group's stretch of the confidence axis.
    """

    d: Floats
    c: Floats
    k: Floats
    group: NDArray[np.int64]
    W: Floats
    edges: Floats
    single: bool
    use: NDArray[np.bool_]


def confidence_bin(
    agreeing: ArrayLike, k: ArrayLike, bins: int = BINS, closed: Closed = "right"
) -> NDArray[np.int64]:
    """Return the bin, 0..bins-1, of agreeing / k in integer arithmetic; k > 0 everywhere.

    ``right``: (lo, hi], 0 in the first: max(ceil(bins j / k) - 1, 0); ``left``: [lo, hi), 1 in the
    last: min(bins j // k, bins - 1).
    """
    if bins < 1 or closed not in ("right", "left"):
        raise InputError(f"bins={bins!r}, closed={closed!r}: expected >= 1, 'right' or 'left'")
    j, K = np.broadcast_arrays(np.asarray(agreeing, np.int64), np.asarray(k, np.int64))
    if closed == "left":
        return np.asarray(np.minimum(bins * j // K, bins - 1), dtype=np.int64)
    return np.asarray(np.maximum(-(-bins * j // K) - 1, 0), dtype=np.int64)


def usable_rows(
    decisiveness: ArrayLike,
    agreeing: ArrayLike,
    k: ArrayLike,
    binning: Binning,
    use: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> UsableRows:
    """Return the rows that have decisiveness, a count and samples, binned."""
    d = shares(decisiveness, "decisiveness")
    j, K = (np.asarray(x, dtype=np.float64) for x in (agreeing, k))
    if d.ndim != 1 or j.shape != d.shape or K.shape not in ((), d.shape):
        raise InputError(
            f"decisiveness and agreeing must be rows of one length, got {d.shape}, {j.shape}"
        )
    K = np.broadcast_to(K, d.shape)
    keep = ~(np.isnan(d) | np.isnan(j) | np.isnan(K)) & (K > 0)
    W, single = weight_rows(weights, len(d))
    d, j, K, W = d[keep], j[keep], K[keep], W[:, keep]
    if ((j != np.round(j)) | (np.round(K) != K) | (j < 0) | (j > K)).any():
        raise InputError("agreeing must be whole counts between 0 and k, not shares")
    c = divide(j, K)
    if binning.levels:
        values, group = np.unique(np.round(c, 12), return_inverse=True)
        edges = np.stack([values, values], axis=1)
    else:
        bins = binning.bins
        group = confidence_bin(j, K, bins, binning.closed)
        edges = np.stack([np.arange(bins) / bins, (np.arange(bins) + 1) / bins], axis=1)
    chosen = np.ones(len(edges), dtype=bool)
    if use is not None:
        chosen = np.asarray(use, dtype=bool)
        if chosen.shape != (len(edges),):
            raise InputError(f"use: one flag for each of {len(edges)} bins, got {chosen.shape}")
    return UsableRows(d, c, K, group.astype(np.int64), W, edges, single, chosen)


def _over_bins(rows: UsableRows, values: Floats, empty: Empty) -> Floats:
    """Mean over bins of the mean of values (m,) or (B, m) in each, (B,)."""
    if empty not in ("skip", "zero"):
        raise InputError(f"empty: got {empty!r}, expected 'skip' or 'zero'")
    member = (rows.group[:, None] == np.arange(len(rows.edges))).astype(np.float64)
    mass = rows.W @ member
    means = divide((rows.W * values) @ member, mass)
    held = (mass > 0) & rows.use
    total = np.where(held, np.nan_to_num(means), 0.0).sum(axis=1)
    count = held.sum(axis=1)
    size = np.full(len(count), float(rows.use.sum())) if empty == "zero" else count
    return rounded(divide(total, np.where(count > 0, size, 0)))


def cmfg(
    decisiveness: ArrayLike,
    agreeing: ArrayLike,
    k: ArrayLike,
    binning: Binning = BINNING,
    use: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    **fields: Any,
) -> Result:
    """Return cMFG: faithfulness averaged over bins of confidence, 0..1.

    ``k`` an int or one per row. ``use`` (bins,) restricts to shared bins (:func:`shared_bins`).
    ``fields`` replace those of ``binning``: ``cmfg(d, j, 20, closed="left")``. Never a number of
    its own: constant 1/2 scores about .75, so see :func:`skill` and :func:`cmfg_references`.
    """
    binning = binning._replace(**fields)
    rows = usable_rows(decisiveness, agreeing, k, binning, use, weights)
    inside = _inside(rows)
    faithful = 1 - np.abs(inside.d - inside.c)
    return as_result(_over_bins(inside, faithful, binning.empty), rows.single)


def cmfg_answers(
    faithfulness: ArrayLike,
    agreeing: ArrayLike,
    k: ArrayLike,
    binning: Binning = BINNING,
    use: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Result:
    """Return cMFG of answers, 0..1: their :func:`faithfulness` averaged in bins of confidence.

    Definition 2 conditions the faithfulness of an *answer* on confidence, so an answer has one vote
    and stands in one bin: that of its assertions' mean confidence, ``agreeing`` / ``k``
    (:func:`answer_confidence`). With one assertion an answer this is :func:`cmfg`. NaN rows are
    left out; ``None`` without rows.
    """
    inside = _inside(usable_rows(faithfulness, agreeing, k, binning, use, weights))
    return as_result(_over_bins(inside, inside.d, binning.empty), inside.single)


def cmfg_parts(
    decisiveness: ArrayLike,
    agreeing: ArrayLike,
    k: ArrayLike,
    binning: Binning = BINNING,
    use: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> dict[str, float | None]:
    """Return ``over_claim`` and ``over_hedge`` over the same bins: together 1 - cMFG.

    Empty bins are skipped. ``weights`` (n,).
    """
    rows = usable_rows(decisiveness, agreeing, k, binning, use, weights)
    gap = rows.d - rows.c
    return {
        "over_claim": or_none(_over_bins(rows, np.maximum(gap, 0), "skip")[0]),
        "over_hedge": or_none(_over_bins(rows, np.maximum(-gap, 0), "skip")[0]),
    }


def _permuted(rows: UsableRows, empty: Empty) -> Floats:
    """The mean over all permutations of decisiveness, exactly: every row meets every other."""
    here = rows.use[rows.group]
    values, where = np.unique(rows.c[here], return_inverse=True)
    total = rows.W.sum(axis=1, keepdims=True)
    gap = divide(rows.W @ np.abs(rows.d[:, None] - values), total)
    return _over_bins(_inside(rows), 1 - gap[:, where], empty)


def _inside(rows: UsableRows) -> UsableRows:
    """Return the rows of the bins that count; the others weigh nothing there."""
    here = rows.use[rows.group]
    return rows._replace(d=rows.d[here], c=rows.c[here], group=rows.group[here], W=rows.W[:, here])


def cmfg_permuted(
    decisiveness: ArrayLike,
    agreeing: ArrayLike,
    k: ArrayLike,
    binning: Binning = BINNING,
    use: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Result:
    """Return the expected cMFG when decisiveness is dealt out at random over the answers.

    Keeps how decisive the model is and destroys the link to confidence; exact, without drawing.
    """
    rows = usable_rows(decisiveness, agreeing, k, binning, use, weights)
    return as_result(_permuted(rows, binning.empty), rows.single)


def skill(
    decisiveness: ArrayLike,
    agreeing: ArrayLike,
    k: ArrayLike,
    binning: Binning = BINNING,
    use: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Result:
    """Return (cMFG - permuted) / (1 - permuted): 1 = perfectly faithful, 0 = blind, the headline.

    Any constant decisiveness has skill 0, whatever its cMFG. ``None`` without rows or when even
    the permuted score is 1.
    """
    rows = usable_rows(decisiveness, agreeing, k, binning, use, weights)
    inside = _inside(rows)
    faithful = _over_bins(inside, 1 - np.abs(inside.d - inside.c), binning.empty)
    blind = _permuted(rows, binning.empty)
    room = np.where(1 - blind > 1e-12, 1 - blind, 0.0)
    return as_result(divide(faithful - blind, room), rows.single)


def cmfg_references(
    decisiveness: ArrayLike,
    agreeing: ArrayLike,
    k: ArrayLike,
    binning: Binning = BINNING,
    use: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> dict[str, float | None]:
    """Return the cMFG of policies on the same rows and bins, to compare it with.

    ``decisive`` (always 1), ``half`` (always 1/2), ``constant`` (always the mean decisiveness),
    ``permuted``, ``oracle`` (decisiveness = confidence; below 1 only where empty bins count).
    ``weights`` (n,).
    """
    rows = usable_rows(decisiveness, agreeing, k, binning, use, weights)
    mean = float(np.average(rows.d, weights=rows.W[0])) if rows.W[0].sum() > 0 else 0.0
    policies = {"decisive": 1.0, "half": 0.5, "constant": mean}
    values = {
        name: or_none(_over_bins(rows, 1 - np.abs(value - rows.c), binning.empty)[0])
        for name, value in policies.items()
    }
    values["permuted"] = or_none(_permuted(rows, binning.empty)[0])
    values["oracle"] = or_none(_over_bins(rows, np.ones(len(rows.d)), binning.empty)[0])
    return values


class ConfidenceBin(NamedTuple):
    """One bin: its stretch of confidence, rows, and their means (``None`` when empty)."""

    low: float
    high: float
    n: int
    faithfulness: float | None
    decisiveness: float | None
    confidence: float | None


def cmfg_bins(
    decisiveness: ArrayLike,
    agreeing: ArrayLike,
    k: ArrayLike,
    binning: Binning = BINNING,
) -> list[ConfidenceBin]:
    """Return what each bin holds, empty bins included."""
    rows = usable_rows(decisiveness, agreeing, k, binning)
    filled = []
    for b, (low, high) in enumerate(rows.edges):
        here = rows.group == b
        d, c = rows.d[here], rows.c[here]
        means: tuple[float | None, float | None, float | None] = (None, None, None)
        if len(d):
            means = 1 - float(np.abs(d - c).mean()), float(d.mean()), float(c.mean())
        filled.append(ConfidenceBin(float(low), float(high), len(d), *means))
    return filled


def shared_bins(
    methods: Sequence[tuple[ArrayLike, ArrayLike, ArrayLike]],
    binning: Binning = BINNING,
    least: int = 10,
) -> NDArray[np.bool_]:
    """Return which bins hold ``least`` usable rows of every method, (bins,), for ``use``.

    ``methods``: (decisiveness, agreeing, k) of each. Methods are compared on these bins only,
    never on levels, which differ from method to method.
    """
    binning = binning._replace(levels=False)
    shared = np.ones(binning.bins, dtype=bool)
    for d, j, k in methods:
        rows = usable_rows(d, j, k, binning)
        shared &= np.bincount(rows.group, minlength=binning.bins) >= least
    return shared


#: answers that every bin needs for an interval of a mean over bins, and how a note of fewer begins:
#: where words vary little, the bins that more answers would fill are the ones that do not fit them
LEAST_IN_BIN = 5
THIN = (
    f"no interval: too few per bin (fewer than {LEAST_IN_BIN} claims), which tends to make the "
    "value too high"
)


class Filling(NamedTuple):
    """How many bins hold a row, of those that count, and the thinnest of them: rows and ends."""

    filled: int
    bins: int
    thinnest: int
    low: float
    high: float


def filling(
    decisiveness: ArrayLike,
    agreeing: ArrayLike,
    k: ArrayLike,
    binning: Binning = BINNING,
    use: ArrayLike | None = None,
) -> Filling | None:
    """Return how well the bins of cMFG are filled; ``None`` without rows in them.

    Bins that no count out of ``k`` falls into do not count: with k = 5 and ten bins there are six.
    ``use`` (bins,) restricts to shared bins, as in :func:`cmfg`.
    """
    held, edges = _held(usable_rows(decisiveness, agreeing, k, binning, use), binning)
    full = np.flatnonzero(held)
    if not len(full):
        return None
    least = full[held[full].argmin()]
    return Filling(len(full), len(held), int(held[least]), *map(float, edges[least]))


def thin_bins(
    decisiveness: ArrayLike,
    agreeing: ArrayLike,
    k: ArrayLike,
    binning: Binning = BINNING,
    use: ArrayLike | None = None,
) -> str | None:
    """Return why cMFG and skill of these rows have no interval; ``None`` if every bin is filled.

    A bin counts as much as any other, however few answers it holds. Bins of fewer than
    :data:`LEAST_IN_BIN` are decided by luck; empty ones are skipped, so that a small run is
    measured on other bins than a large one. No resample of the rows shows either. Which bins there
    are is told by :func:`filling`.
    """
    held, edges = _held(usable_rows(decisiveness, agreeing, k, binning, use), binning)
    thin = np.flatnonzero(held < LEAST_IN_BIN)
    if not len(thin) or not held.any():
        return None
    filled = thin[held[thin] > 0]
    if not len(filled):
        return f"{THIN}: {len(thin)} of {len(held)}, all empty"
    least = filled[held[filled].argmin()]
    low, high = edges[least]
    place = f"{low:.3g}" if low == high else f"{low:.3g}-{high:.3g}"
    return f"{THIN}: {len(thin)} of {len(held)}; {place} has {held[least]}"


def _held(rows: UsableRows, binning: Binning) -> tuple[NDArray[np.int64], Floats]:
    """Return how many rows each bin that counts holds, and its stretch of confidence."""
    held = np.bincount(rows.group, minlength=len(rows.edges))
    counts, edges = rows.use.copy(), rows.edges
    if binning.levels:  # levels that nobody attained are bins too
        absent = max(int(rows.k.max(initial=0)) + 1 - len(held), 0)
        held = np.append(held, np.zeros(absent, dtype=held.dtype))
        edges = np.concatenate([edges, np.full((absent, 2), np.nan)])
        counts = np.append(counts, np.ones(absent, dtype=bool))
    else:
        reached = np.zeros(len(held), dtype=bool)
        for k in np.unique(rows.k).astype(np.int64):
            reached[confidence_bin(np.arange(k + 1), k, binning.bins, binning.closed)] = True
        counts &= reached
    return held[counts].astype(np.int64), edges[counts]


# ---- cMFG*


def cmfg_star(
    faithfulness: ArrayLike,
    confidence: ArrayLike,
    bins: int = BINS,
    weights: ArrayLike | None = None,
) -> Result:
    """Return cMFG*: bins of equal mass, weighted by their width on the confidence axis, 0..1.

    arXiv 2606.32032. Boundaries lie midway between neighboring confidences, the outer ones at 0
    and 1, so the score estimates the integral over uniform confidence without empty bins. Ties
    move it: with k samples there are k + 1 levels, a boundary inside a level sits on the level,
    a bin inside one level has no width and no say, and a level is spread evenly over the bins it
    fills, so that row order does not matter. ``None`` without rows.
    """
    f, c = shares(faithfulness, "faithfulness"), shares(confidence, "confidence")
    if f.shape != c.shape or f.ndim != 1 or bins < 1:
        raise InputError(f"rows of one length and bins >= 1, got {f.shape}, {c.shape}, {bins}")
    W, single = weight_rows(weights, len(f))
    keep = ~(np.isnan(f) | np.isnan(c))
    f, c, W = f[keep], c[keep], W[:, keep]
    values, where = np.unique(c, return_inverse=True)
    size = len(values)
    scores = []
    for w in W:
        mass = np.bincount(where, w, size).astype(np.float64)
        scores.append(_star(values, mass, np.bincount(where, w * f, size).astype(float), bins)[0])
    return as_result(rounded(np.array(scores, dtype=np.float64)), single)


def _star(values: Floats, mass: Floats, total: Floats, bins: int) -> tuple[float, Floats]:
    """The score of one weighting and the widths of its bins."""
    held = mass > 0
    if not held.any():
        return math.nan, np.zeros(bins)
    values, mass, total = values[held], mass[held], total[held]
    ends = np.append(0.0, np.cumsum(mass))
    cuts = np.arange(1, bins) * ends[-1] / bins
    edges = []
    for cut in cuts:
        after = int(np.searchsorted(ends, cut * (1 + 1e-12) + 1e-12, side="right")) - 1
        exact = abs(ends[after] - cut) <= 1e-9 * max(1.0, ends[-1]) and 0 < after < len(values)
        low = values[after - 1] if exact else values[min(after, len(values) - 1)]
        edges.append((low + values[min(after, len(values) - 1)]) / 2)
    width = np.diff(np.concatenate([[0.0], edges, [1.0]]))
    return float((width * _in_bins(mass, total, bins)).sum()), width


def _in_bins(mass: Floats, total: Floats, bins: int) -> Floats:
    """Means in bins of equal mass, a level spread evenly over the bins that it fills."""
    ends, sums = (np.append(0.0, np.cumsum(x)) for x in (mass, total))
    cuts = np.arange(bins + 1) * ends[-1] / bins
    return np.asarray(np.diff(np.interp(cuts, ends, sums)) * bins / ends[-1], dtype=np.float64)


def cmfg_star_error(
    faithfulness: ArrayLike, confidence: ArrayLike, bins: int = BINS
) -> float | None:
    """Return the standard error of cMFG*, strata = bins: sqrt(sum of width^2 s^2 / n).

    A level is spread over its bins as in :func:`cmfg_star`, whatever the order of rows. ``None``
    with fewer than two rows for each bin.
    """
    f, c = shares(faithfulness, "faithfulness"), shares(confidence, "confidence")
    keep = ~(np.isnan(f) | np.isnan(c))
    f, c = f[keep], c[keep]
    if len(f) < 2 * bins:
        return None
    values, where = np.unique(c, return_inverse=True)
    mass = np.bincount(where).astype(np.float64)
    _, width = _star(values, mass, np.bincount(where, f).astype(np.float64), bins)
    size = len(f) / bins
    mean, square = (
        _in_bins(mass, np.bincount(where, x).astype(np.float64), bins) for x in (f, f * f)
    )
    spread = np.maximum(square - mean**2, 0.0) * size / (size - 1)
    return float(np.sqrt((width**2 * spread / size).sum()))


# ---- the noise of k samples


def noise_floor(
    agreeing: ArrayLike, k: ArrayLike, weights: ArrayLike | None = None
) -> float | None:
    """Return the mean |p - X/k| that a faithful model shows, X ~ Bin(k, p), p = agreeing/k.

    About .09 at p = .5, k = 20: by so much cMFG of a faithful model falls short of 1. Exact sum;
    ``weights`` (n,) of claims, all equal by default.
    """
    j, K = np.broadcast_arrays(np.asarray(agreeing, np.int64), np.asarray(k, np.int64))
    w = _row_weights(weights, j.size)
    held = (K.ravel() > 0) & (w > 0)
    noise = [
        _deviation(int(a), int(b)) for a, b in zip(j.ravel()[held], K.ravel()[held], strict=True)
    ]
    return float(np.average(noise, weights=w[held])) if noise else None


def _row_weights(weights: ArrayLike | None, n: int) -> Floats:
    """Weights of rows (n,), 1 each by default."""
    if weights is not None and np.ndim(weights) != 1:
        raise InputError(f"weights: one for each of {n} rows, got shape {np.shape(weights)}")
    return np.asarray(weight_rows(weights, n)[0][0], dtype=np.float64)


def _deviation(j: int, k: int) -> float:
    p = j / k
    terms = (math.comb(k, x) * p**x * (1 - p) ** (k - x) * abs(x / k - p) for x in range(k + 1))
    return math.fsum(terms)


def _folded(mean: float, variance: float) -> float:
    """E|X| of a normal X."""
    if variance <= 0:
        return abs(mean)
    s = math.sqrt(variance)
    return s * math.sqrt(2 / math.pi) * math.exp(-((mean / s) ** 2) / 2) + mean * math.erf(
        mean / (s * math.sqrt(2))
    )


def cmfg_corrected(
    decisiveness: ArrayLike,
    agreeing: ArrayLike,
    k: ArrayLike,
    binning: Binning = BINNING,
    use: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> float | None:
    """Return cMFG less the noise of k samples: what infinitely many would give, about.

    A bin's gaps d - c have the mean of the true gaps and their variance plus p(1-p)/k, which
    c(1-c)/(k-1) estimates without bias. What that noise adds to the mean size of a normal gap of
    this mean and variance is taken off. A faithful model gets about 1, and decisiveness of 0 and
    1 alone is hardly moved. Rows with k < 2 are taken as they are. Empty bins are skipped.
    ``weights`` (n,) of claims.
    """
    pairs = _corrected(decisiveness, agreeing, k, binning, use, weights)
    return float(np.mean([own for own, _ in pairs])) if pairs else None


def skill_corrected(
    decisiveness: ArrayLike,
    agreeing: ArrayLike,
    k: ArrayLike,
    binning: Binning = BINNING,
    use: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> float | None:
    """Return (cMFG - permuted) / (1 - permuted), both less the noise of k samples.

    A faithful model's skill is about .79 with k = 20 draws of uniform confidence: the rest is
    noise of the draws. Any constant decisiveness still has exactly 0. Empty bins are skipped.
    ``weights`` (n,) of claims.
    """
    pairs = _corrected(decisiveness, agreeing, k, binning, use, weights)
    if not pairs:
        return None
    own, blind = (float(np.mean(side)) for side in zip(*pairs, strict=True))
    return (own - blind) / (1 - blind) if 1 - blind > 1e-12 else None


def _corrected(
    decisiveness: ArrayLike,
    agreeing: ArrayLike,
    k: ArrayLike,
    binning: Binning,
    use: ArrayLike | None,
    weights: ArrayLike | None,
) -> list[tuple[float, float]]:
    """Corrected faithfulness of each bin, and of all decisiveness dealt out over it."""
    single = _row_weights(weights, int(np.size(decisiveness)))
    rows = usable_rows(decisiveness, agreeing, k, binning, use, single)
    noise = np.where(rows.k > 1, rows.c * (1 - rows.c) / np.maximum(rows.k - 1, 1), 0.0)
    W = rows.W[0]
    pairs = []
    for b in np.flatnonzero(rows.use):
        here = (rows.group == b) & (W > 0)
        if not here.any():
            continue
        c, w = rows.c[here], W[here]
        own, extra = rows.d[here] - c, float(np.average(noise[here], weights=w))
        attained, place = np.unique(c, return_inverse=True)
        gaps = [np.average(np.abs(rows.d - value), weights=W) for value in attained]
        dealt = float(np.average(gaps, weights=np.bincount(place, w)))
        # a dealt gap has the variance of all decisiveness and that of the bin's confidence
        gap = _less(float(np.average(np.abs(own), weights=w)), *_moments(own, w), extra)
        (all_mean, all_spread), (mean, spread) = _moments(rows.d, W), _moments(c, w)
        pairs.append((1 - gap, 1 - _less(dealt, all_mean - mean, all_spread + spread, extra)))
    return pairs


def _moments(values: Floats, weights: Floats) -> tuple[float, float]:
    """The weighted mean, and variance about it."""
    mean = float(np.average(values, weights=weights))
    return mean, float(np.average((values - mean) ** 2, weights=weights))


def _less(size: float, mean: float, spread: float, extra: float) -> float:
    """A mean gap less what noise of variance ``extra`` adds to gaps of this mean and variance."""
    added = _folded(mean, spread) - _folded(mean, spread - min(extra, spread))
    return max(0.0, size - added)


# ---- rank correlation, and decisiveness as a probability

#: Pairs held at once by :func:`kendall`.
BLOCK = 4_000_000


def kendall(first: ArrayLike, second: ArrayLike, weights: ArrayLike | None = None) -> Result:
    """Return Kendall's tau-b, -1..1, ties counted in neither direction.

    (concordant - discordant) / sqrt(pairs untied in first x pairs untied in second). Weights
    multiply pairs; a row's own repetitions are ties. ``None`` where one side is constant.
    """
    x, y, W, single = paired_rows(first, second, weights)
    top, left, right = np.zeros(len(W)), np.zeros(len(W)), np.zeros(len(W))
    step = max(1, BLOCK // max(1, len(x)))
    for i in range(0, len(x), step):
        sx = np.sign(x[i : i + step, None] - x)
        sy = np.sign(y[i : i + step, None] - y)
        part = W[:, i : i + step]
        for total, signs in ((top, sx * sy), (left, sx * sx), (right, sy * sy)):
            total += ((part @ signs) * W).sum(axis=1)
    spread = np.sqrt(left * right)
    return as_result(divide(top, np.where(spread > 0, spread, 0.0)), single)


class LinguisticCalibration(NamedTuple):
    """Decisiveness read as the probability of being right: "70 % sure" should hold in 70 of 100.

    ``brier`` = ``reliability`` - ``resolution`` + ``uncertainty`` + what binning leaves;
    ``ece_plain`` and, debiased, ``ece``; ``auroc`` of decisiveness for right against wrong; ``n``
    rows used. ``None`` where undefined.
    """

    n: int
    brier: float | None
    reliability: float | None
    resolution: float | None
    uncertainty: float | None
    ece_plain: float | None
    ece: float | None
    auroc: float | None


def linguistic_calibration(
    decisiveness: ArrayLike, correct: ArrayLike, bins: int = 10
) -> LinguisticCalibration:
    """Return how well decisiveness (n,) 0..1 holds as the probability of ``correct`` (n,) 0/1.

    Per claim, whatever its confidence. NaN on either side drops the row.
    """
    d, y = shares(decisiveness, "decisiveness"), np.asarray(correct, dtype=np.float64)
    use = ~(np.isnan(d) | np.isnan(y)) if d.shape == y.shape else np.ones(d.shape, dtype=bool)
    parts = brier_decomposition(d, y, bins)
    plain, error, area = ece(d, y, bins), ece_debiased(d, y, bins), auroc(1 - d, 1 - y)
    return LinguisticCalibration(
        int(use.sum()),
        parts.brier,
        parts.reliability,
        parts.resolution,
        parts.uncertainty,
        None if plain is None else or_none(plain),
        None if error is None else or_none(error),
        None if area is None else or_none(area),
    )

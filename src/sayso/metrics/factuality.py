"""Factuality of long answers: precision and length, positions in the text, self-knowledge.

S, NS and IR are the numbers of supported, not supported and irrelevant claims of one answer.
Precision = S / (S + NS). It rises when a model says less, so length, recall and the share of
irrelevant claims are reported with it.

Positions (Tu et al., arXiv 2411.15993, section 3): sentence i (from 1) of n lies at
i/n, in (0, 1]; bins are right-closed, in integers:

    bin = ceil(bins * i / n) - 1 = (bins * i + n - 1) // n - 1

"third of six = 50 %" lies in 40-60 %. A text of n < bins sentences leaves bins empty, always the
first among them, so a curve over all texts compares different texts at its two ends: it is shown
with and without the short ones, and the trend is measured inside texts.

Self-knowledge (the same paper): of a model's own claims,

    SK = share of its supported claims that it judges correct
    SU = share of its unsupported claims that it judges not correct
    F  = (1 - SU) / (2 - SU - SK)                                      (Equation 3)

Equation 3 equates the model's accept rate r on its own claims, r = F SK + (1-F)(1-SU), with F: it
holds only for a model that accepts as many claims as are true. With the *observed* accept rate the
inversion is Rogan and Gladen's (1978), F = (r + SU - 1) / (SK + SU - 1). SK and SU need labels, so
they estimate F only if they come from other answers: :func:`cross_fit`. The paper takes them from
the same claims: :func:`in_sample_factuality`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import (
    Floats,
    Result,
    as_result,
    codes,
    count_codes,
    divide,
    or_none,
    weight_rows,
)
from sayso.metrics.intervals import Resampled, make_estimate, resample_weights
from sayso.records import InputError

__all__ = [
    "CrossFit", "Trend", "accept_rate_factuality", "cross_fit", "curve_correlation", "curve_rows",
    "equal_length", "f1_at_k", "factscore", "flip_rate", "in_sample_factuality", "judged",
    "judged_counts", "length_penalty", "position_bin", "position_fractions", "position_trend",
    "precision", "self_knowledge_factuality", "share_where",
]  # fmt: skip


@overload
def length_penalty(n: int, gamma: float = 10) -> float | None: ...
@overload
def length_penalty(n: Sequence[int], gamma: float = 10) -> list[float | None]: ...
def length_penalty(n: int | Sequence[int], gamma: float = 10) -> float | list[float | None] | None:
    """Return exp(1 - gamma/n) for n < gamma claims, else 1 (Min et al. 2023, their released code).

    ``n`` may be a list. ``None`` for an answer without claims, which has no precision either.
    """
    if isinstance(n, Sequence):
        return [length_penalty(one, gamma) for one in n]
    if n < 0 or gamma < 0:
        raise InputError(f"length_penalty({n}, gamma={gamma}): expected numbers from 0")
    if n == 0:
        return None
    return 1.0 if n >= gamma else math.exp(1 - gamma / n)


def precision(supported: float, not_supported: float) -> float | None:
    """Return S / (S + NS), ``None`` without either."""
    total = supported + not_supported
    return supported / total if total else None


def f1_at_k(supported: float, not_supported: float, k: float) -> float | None:
    """Return SAFE's F1@K of one answer (Wei et al. 2024, section 5, Equation 1).

    P = S/(S+NS), R = min(1, S/K), F1 = 2PR/(P+R), and 0 where S = 0: that answer gave nothing of
    the K facts one wants. ``None`` for an answer without rated claims.
    """
    if k <= 0 or supported < 0 or not_supported < 0:
        raise InputError(f"f1_at_k({supported}, {not_supported}, {k}): expected counts, and k > 0")
    share = precision(supported, not_supported)
    if share is None:
        return None
    if supported == 0:
        return 0.0
    recall = min(1.0, supported / k)
    return 2 * share * recall / (share + recall)


def factscore(
    supported: Sequence[float], not_supported: Sequence[float], gamma: float = 0
) -> float | None:
    """Return the mean over answers of precision times length penalty (``gamma=0``: none).

    Answers without rated claims are left out, as abstentions are; ``None`` if that is all.
    """
    values = []
    for s, ns in zip(supported, not_supported, strict=True):
        share = precision(s, ns)
        penalty = length_penalty(round(s + ns), gamma)
        if share is not None and penalty is not None:
            values.append(share * penalty)
    return float(np.mean(values)) if values else None


def equal_length(labels: Sequence[Sequence[str]], first: int) -> tuple[list[int], list[int]]:
    """Return S and NS of the first ``first`` rated claims of each answer, in order of the text.

    Answers with fewer rated claims are left out: then all have the same length.
    """
    if first < 1:
        raise InputError(f"equal_length of {first} claims: expected 1 or more")
    rated = [[x for x in answer if x in ("S", "NS")] for answer in labels]
    kept = [answer[:first] for answer in rated if len(answer) >= first]
    return [a.count("S") for a in kept], [a.count("NS") for a in kept]


def unsupported_before(labels: Sequence[Sequence[str]], wanted: Sequence[int]) -> list[int]:
    """Return how many NS each answer has before its ``wanted``-th S, in order of the text.

    0 where none is wanted. Two methods with as many wanted supported claims have the same recall:
    of S NS S NS S and S S both have 2, the first at the price of one NS (2/3), the other of none.
    """
    prices = []
    for answer, number in zip(labels, wanted, strict=True):
        places = [at for at, label in enumerate(answer) if label == "S"]
        if number > len(places):
            raise InputError(f"{number} supported claims wanted of an answer with {len(places)}")
        prices.append(list(answer[: places[number - 1]]).count("NS") if number else 0)
    return prices


# ---- positions in the text

Closed = Literal["right", "left"]
Average = Literal["sentence", "generation", "micro"]

#: what people and judges say of a claim: supported, not supported, irrelevant
LABELS = ("S", "NS", "IR")


def position_bin(i: int, n: int, bins: int = 5, closed: Closed = "right") -> int:
    """Return the bin, from 0, of sentence ``i`` (from 1) of ``n``.

    ``closed="right"``: (lo, hi], the default. ``"left"``: [lo, hi), the end of the text in the
    last bin; then the first bin of a text of ``bins`` sentences is empty.
    """
    if not 1 <= i <= n or bins < 1:
        raise InputError(f"sentence {i} of {n} in {bins} bins: expected 1 <= i <= n, bins >= 1")
    if closed == "right":
        return (bins * i + n - 1) // n - 1
    return min(bins - 1, bins * i // n)


def position_fractions(
    sentences: Sequence[Mapping[str, Any]], bins: int = 5, closed: Closed = "right"
) -> list[dict[str, float | None]]:
    """Return one dictionary for each bin, of sentences with their numbers of claims.

    A sentence has ``i`` and ``n``, claims ``S``, ``NS`` and ``IR``, and may have ``generation``.
    Keys, for each label: ``macro_sentence_S`` the mean over sentences of their share of claims
    (IR in the denominator; sentences without claims left out), ``macro_generation_S`` the mean
    over texts of that mean (only where every sentence names its text), ``micro_S`` the pooled
    share, ``mean_S_count`` claims per sentence that has any, ``mean_S_count_all`` per sentence;
    besides ``sentences``, ``sentences_with_claims`` and ``claims``. Empty: ``None``.
    """
    counts = np.array([[s[x] for x in LABELS] for s in sentences], dtype=np.float64)
    counts = counts.reshape(len(sentences), len(LABELS))
    place = np.array([position_bin(s["i"], s["n"], bins, closed) for s in sentences], dtype=int)
    named = all("generation" in s for s in sentences)
    text = codes([s["generation"] for s in sentences]) if named and len(sentences) else None
    return [
        _fractions(counts[place == b], None if text is None else text[place == b])
        for b in range(bins)
    ]


def _fractions(counts: Floats, text: NDArray[np.int64] | None) -> dict[str, float | None]:
    total = counts.sum(axis=1)
    some = total > 0
    share = divide(counts[some], total[some, None])
    values: dict[str, float | None] = {
        "sentences": float(len(counts)),
        "sentences_with_claims": float(some.sum()),
        "claims": float(total.sum()),
    }
    for column, label in enumerate(LABELS):
        own = share[:, column]
        values[f"macro_sentence_{label}"] = _mean(own)
        if text is not None:
            _, unit = np.unique(text[some], return_inverse=True)
            means = divide(np.bincount(unit, weights=own), np.bincount(unit))
            values[f"macro_generation_{label}"] = _mean(means)
        values[f"micro_{label}"] = or_none(divide(counts[:, column].sum(), total.sum()))
        values[f"mean_{label}_count"] = _mean(counts[some, column])
        values[f"mean_{label}_count_all"] = _mean(counts[:, column])
    return values


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None


def curve_rows(
    top: ArrayLike, bottom: ArrayLike, generation: ArrayLike, average: Average = "sentence"
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return (numerators, denominators, clusters) whose weighted ratio of sums is the average.

    ``top`` and ``bottom`` (n,) are counts of one bin's sentences, such as S and S + NS. Sentences
    with ``bottom`` 0 are left out. ``sentence``: the mean of their ratios; ``generation``: of the
    means inside each text; ``micro``: pooled claims. :func:`sayso.metrics.bootstrap_ratio` takes
    what is returned.
    """
    number, of = np.asarray(top, dtype=np.float64), np.asarray(bottom, dtype=np.float64)
    text = codes(generation)
    some = of > 0
    number, of, text = number[some], of[some], text[some]
    if average == "micro":
        return number, of, text
    share = divide(number, of)
    if average == "sentence":
        return share, np.ones_like(share), text
    names, unit = np.unique(text, return_inverse=True)
    means = divide(np.bincount(unit, weights=share), np.bincount(unit))
    return means, np.ones_like(means), names.astype(np.int64)


class Trend(NamedTuple):
    """The slope of a share along a text, from start (0) to end (1), inside texts.

    ``low, high`` by resampling clusters; ``p`` two-sided, by shuffling the order of sentences
    inside each text. ``texts``, ``sentences`` and ``clusters`` that entered: texts with two or more
    sentences with claims. ``None`` with ``problem`` where there is nothing to fit.
    """

    slope: float | None
    low: float | None
    high: float | None
    p: float | None
    texts: int
    sentences: int
    clusters: int
    problem: str | None = None


def position_trend(
    share: ArrayLike,
    position: ArrayLike,
    generation: ArrayLike,
    clusters: ArrayLike | None = None,
    n: int = 2000,
    seed: int = 0,
) -> Trend:
    """Return the within-text slope of ``share`` (m,) over ``position`` (m,), i/n of a sentence.

    slope = sum (x - mean x of its text)(y - mean y of its text) / sum (x - mean x of its text)^2:
    a regression with one intercept for each text, so that texts of different length and level
    cannot make it. NaN shares are left out. ``clusters`` (m,) names what a text is
    about: texts on one topic move together (default: every text its own). The null hypothesis of
    ``p`` is that inside a text order does not matter.
    """
    y, x = np.asarray(share, dtype=np.float64), np.asarray(position, dtype=np.float64)
    text = codes(generation)
    cluster = text if clusters is None else codes(clusters)
    some = ~np.isnan(y)
    x, y, text, cluster = x[some], y[some], text[some], cluster[some]
    size = np.bincount(text, minlength=1)
    several = size[text] > 1 if len(text) else np.zeros(0, dtype=bool)
    x, y, text, cluster = x[several], y[several], text[several], cluster[several]
    names, unit = np.unique(text, return_inverse=True)
    if not len(names):
        return Trend(None, None, None, None, 0, 0, 0, "no text has two sentences with claims")
    x, y = _centered(x, unit), _centered(y, unit)
    topics, topic = np.unique(cluster, return_inverse=True)
    count = len(topics)
    across = np.bincount(topic, weights=x * y)
    spread = np.bincount(topic, weights=x * x)
    slope = float(across.sum() / spread.sum())
    rng = np.random.default_rng(seed)
    blocks = [divide(w @ across, w @ spread) for w in resample_weights(count, n, rng)]
    e = make_estimate("trend", slope, Resampled(np.concatenate(blocks), count), None, len(y))
    p = _shuffled(x, y, unit, float(across.sum()), n, np.random.default_rng([seed, 1]))
    return Trend(slope, e.low, e.high, p, len(names), len(y), count, e.problem)


def _centered(values: Floats, text: NDArray[np.int64]) -> Floats:
    """Return values (m,), each less the mean of its text."""
    means = divide(np.bincount(text, weights=values), np.bincount(text))
    return np.asarray(values - means[text])


def slope_sums(
    share: Floats, position: Floats, text: NDArray[np.int64], texts: int
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return each text's sums, whose ratio is the slope inside texts, and its sentences that count.

    The sums x y and x x (texts,) are those of :func:`position_trend`, NaN for a text with fewer
    than two sentences with a ``share`` (m,).
    """
    some = ~np.isnan(share)
    size = np.bincount(text[some], minlength=texts)
    x, y = (_centered(values[some], text[some]) for values in (position, share))
    across, spread = (
        np.where(size > 1, np.bincount(text[some], weights=product, minlength=texts), np.nan)
        for product in (x * y, x * x)
    )
    return across, spread, size


def _shuffled(
    x: Floats, y: Floats, unit: NDArray[np.int64], across: float, n: int, rng: np.random.Generator
) -> float:
    """Return the share of orders, the real one included, whose sum x y is as far from 0."""
    order = np.argsort(unit, kind="stable")
    x, y, unit = x[order], y[order], unit[order]
    as_far = 0
    for _ in range(n):
        mixed = y[np.lexsort((rng.random(len(y)), unit))]
        as_far += abs(float(x @ mixed)) >= abs(across) - 1e-12
    return (1 + as_far) / (1 + n)


# ---- self-knowledge

#: what "none of the above" says of an unsupported claim
NoneRule = Literal["incorrect", "b_only", "missing"]


def self_knowledge_factuality(self_known: float, self_unknown: float) -> float | None:
    """Return Equation 3, F = (1 - SU) / (2 - SU - SK), 0..1; ``None`` where SK = SU = 1.

    It falls when SU rises: it is the fixed point of accept rate = F, not a score of quality.
    """
    _check(self_known, self_unknown)
    below = (1 - self_unknown) + (1 - self_known)
    return (1 - self_unknown) / below if below > 0 else None


def accept_rate_factuality(
    accept_rate: float, self_known: float, self_unknown: float
) -> float | None:
    """Return F = (r + SU - 1) / (SK + SU - 1) (Rogan and Gladen 1978), not cut to 0..1.

    ``None`` at SK + SU = 1: a judge that accepts true and false claims alike says nothing.
    """
    _check(self_known, self_unknown, accept_rate)
    below = self_known + self_unknown - 1
    return (accept_rate + self_unknown - 1) / below if abs(below) > 1e-12 else None


def _check(*shares: float) -> None:
    if not all(0 <= share <= 1 for share in shares):
        raise InputError(f"shares {', '.join(map(str, shares))}: expected numbers from 0 to 1")


def judged(answers: Sequence[str | None], noa: NoneRule = "incorrect") -> tuple[Floats, Floats]:
    """Return (accepted, rejected), (n,) each: 1, 0, or NaN where the answer does not count.

    ``answers`` are "yes", "no", "none" (none of the above) or ``None`` (unreadable). Only "yes"
    accepts. ``noa``: "none" rejects, or does not ("b_only"), or is left out ("missing").
    """
    accepted = np.full(len(answers), np.nan)
    rejected = np.full(len(answers), np.nan)
    for place, answer in enumerate(answers):
        if answer is None or (answer == "none" and noa == "missing"):
            continue
        accepted[place] = answer == "yes"
        rejected[place] = answer == "no" or (answer == "none" and noa == "incorrect")
    return accepted, rejected


def share_where(value: ArrayLike, where: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Return the weighted share of ``value`` (n,) (0, 1, NaN) on rows ``where`` (n,) holds.

    NaN rows are left out. Weights (n,) or (B, n); the result is () or (B,), NaN where empty. SK is
    accepted where supported, SU rejected where not, the accept rate accepted everywhere.
    """
    hit = np.asarray(value, dtype=np.float64)
    of = np.asarray(where, dtype=bool) & ~np.isnan(hit)
    w = np.ones(len(hit)) if weights is None else np.asarray(weights, dtype=np.float64)
    top = np.where(of, np.nan_to_num(hit), 0.0)
    return divide(w @ top, w @ of.astype(np.float64))


def flip_rate(
    before: Sequence[str | None], after: Sequence[str | None], of_correct: bool = False
) -> float | None:
    """Return the share of claims accepted ``before`` and no longer ``after`` (settings b to c).

    The denominator is every claim judged both times, or with ``of_correct`` those accepted
    before. ``None`` if there is none.
    """
    pairs = [(a, b) for a, b in zip(before, after, strict=True) if a is not None and b is not None]
    below = sum(a == "yes" for a, _ in pairs) if of_correct else len(pairs)
    return sum(a == "yes" != b for a, b in pairs) / below if below else None


class CrossFit(NamedTuple):
    """Factuality as labels say it, and as two formulas predict it from *other* texts.

    ``factuality`` = S/(S+NS) by the labels; ``accept_rate`` the share of claims that the model
    accepts; ``equation3`` and ``rogan_gladen`` use SK and SU of the other folds, averaged with
    the number of claims. ``gap`` = accept_rate - factuality: how far the model is from the
    assumption of Equation 3. ``claims`` that entered. ``None`` where undefined in every fold.
    """

    factuality: float | None
    accept_rate: float | None
    equation3: float | None
    rogan_gladen: float | None
    gap: float | None
    claims: int


def cross_fit(
    accepted: ArrayLike,
    rejected: ArrayLike,
    supported: ArrayLike,
    groups: ArrayLike,
    chosen: ArrayLike | None = None,
    folds: int = 5,
    seed: int = 0,
) -> CrossFit:
    """Predict factuality of the ``chosen`` claims (n,; default all) of each fold from the others.

    ``accepted`` and ``rejected`` (n,) as :func:`judged` returns them, ``supported`` (n,) boolean,
    ``groups`` (n,) whose claims stay together (entities, texts). SK and SU are of all claims of
    the other folds, so with ``chosen`` = one fifth of the text they come from other positions
    too. Fewer groups than ``folds``: each is its own fold; a single one gives ``None``.
    """
    yes, no = np.asarray(accepted, dtype=np.float64), np.asarray(rejected, dtype=np.float64)
    true = np.asarray(supported, dtype=bool)
    of = np.ones(len(yes), dtype=bool) if chosen is None else np.asarray(chosen, dtype=bool)
    of = of & ~np.isnan(yes)
    if not of.any():
        return CrossFit(None, None, None, None, None, 0)
    unit = codes(groups)
    order = np.random.default_rng(seed).permutation(count_codes(unit))
    fold = order[unit] % min(folds, len(order))
    third, gladen = [], []
    for number in range(int(fold.max()) + 1):
        own = of & (fold == number)
        other = fold != number
        known = or_none(share_where(yes, other & true))
        unknown = or_none(share_where(no, other & ~true))
        if not own.any() or known is None or unknown is None:
            continue
        size = int(own.sum())
        third.append((self_knowledge_factuality(known, unknown), size))
        gladen.append((accept_rate_factuality(float(yes[own].mean()), known, unknown), size))
    factuality, rate = float(true[of].mean()), float(yes[of].mean())
    return CrossFit(
        factuality, rate, _pooled(third), _pooled(gladen), rate - factuality, int(of.sum())
    )


def _pooled(folds: Sequence[tuple[float | None, int]]) -> float | None:
    """Return the mean over folds, weighted by claims; ``None`` if a fold has no value."""
    if not folds or any(value is None for value, _ in folds):
        return None
    return float(
        np.average([v for v, _ in folds if v is not None], weights=[size for _, size in folds])
    )


# ---- Equation 3 as the paper reads it: SK and SU of the same claims, at each place

#: what factuality is correlated with across places
Curve = Literal["SK", "SU", "equation3_in_sample"]


def judged_counts(
    accepted: ArrayLike,
    rejected: ArrayLike,
    supported: ArrayLike,
    clusters: ArrayLike,
    place: ArrayLike,
    places: int,
) -> Floats:
    """Return (clusters, places, 4): supported claims, those accepted, unsupported, those rejected.

    Only claims with an answer count, and only those with a ``place`` (n,) from 0 to
    ``places`` - 1: a part of the text, or a system. ``accepted`` and ``rejected`` are as
    :func:`judged` returns them; ``clusters`` (n,) names what a claim's text is about.
    """
    yes, no = np.asarray(accepted, dtype=np.float64), np.asarray(rejected, dtype=np.float64)
    true, at = np.asarray(supported, dtype=bool), np.asarray(place, dtype=np.int64)
    unit = codes(clusters)
    counts = np.zeros((count_codes(unit), places, 4))
    use = ~np.isnan(yes) & (at >= 0)
    columns = (true, true & (yes == 1), ~true, ~true & (no == 1))
    for column, hit in enumerate(columns):
        np.add.at(counts[:, :, column], (unit[use], at[use]), hit[use].astype(np.float64))
    return counts


def _known_unknown(counts: Floats) -> tuple[Floats, Floats]:
    """Return SK and SU of counts (..., 4), NaN where there is no claim of the class."""
    return divide(counts[..., 1], counts[..., 0]), divide(counts[..., 3], counts[..., 2])


def in_sample_factuality(counts: ArrayLike, weights: ArrayLike | None = None) -> Result:
    """Return Equation 3 with SK and SU of the same claims, pooled over rows of counts (n, 4).

    Columns are those of :func:`judged_counts`. With the labels of the very claims it is to
    estimate it is no forecast of them, and no more than SK and SU in one number. Undefined without
    a claim of either class, and at SK = SU = 1.
    """
    table = np.asarray(counts, dtype=np.float64)
    W, single = weight_rows(weights, len(table))
    known, unknown = _known_unknown(W @ table)
    return as_result(divide(1 - unknown, 2 - unknown - known), single)


def curve_correlation(
    counts: ArrayLike, curve: Curve, *, ranks: bool = False, weights: ArrayLike | None = None
) -> Result:
    """Return the correlation of labeled factuality with ``curve`` across places.

    ``counts`` (n, places, 4) are those of :func:`judged_counts`, pooled over rows; factuality of
    a place is supported / (supported + unsupported). Pearson's r, or Spearman's with ``ranks``,
    of which ties share their mean. Places where either is undefined are left out; undefined for
    fewer than three, and where one of the two does not move.
    """
    table = np.asarray(counts, dtype=np.float64)
    W, single = weight_rows(weights, len(table))
    pooled = np.tensordot(W, table, axes=1)
    known, unknown = _known_unknown(pooled)
    x = divide(pooled[..., 0], pooled[..., 0] + pooled[..., 2])
    third = divide(1 - unknown, 2 - unknown - known)
    y = {"SK": known, "SU": unknown, "equation3_in_sample": third}[curve]
    x, y = np.where(np.isnan(y), np.nan, x), np.where(np.isnan(x), np.nan, y)
    if ranks:
        x, y = _mid_ranks(x), _mid_ranks(y)
    return as_result(_pearson(x, y), single)


def _mid_ranks(values: Floats) -> Floats:
    """Return the rank of each value in its row (B, n), ties their mean; NaN stays."""
    one, other = values[..., :, None], values[..., None, :]
    rank = (other < one - TIED).sum(axis=-1) + (np.abs(other - one) <= TIED).sum(axis=-1) / 2
    return np.where(np.isnan(values), np.nan, rank)


#: shares nearer than this are equal: sums of other texts differ in their last digits
TIED = 1e-12


def _pearson(x: Floats, y: Floats) -> Floats:
    """Return Pearson's r of each row (B, n) without its NaN; NaN below three or without spread."""
    some = ~np.isnan(x)
    size = some.sum(axis=-1)
    dx, dy = (
        np.where(some, v - divide(np.nansum(v, axis=-1), size)[..., None], 0.0) for v in (x, y)
    )
    flat = (np.abs(dx).max(axis=-1) <= TIED) | (np.abs(dy).max(axis=-1) <= TIED)
    r = divide((dx * dy).sum(axis=-1), np.sqrt((dx**2).sum(axis=-1) * (dy**2).sum(axis=-1)))
    return np.where((size < 3) | flat, np.nan, np.clip(r, -1, 1))

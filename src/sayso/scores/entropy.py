"""Entropies over several draws, by string and by meaning (nats).

The functions take plain lists, so that they serve text from anywhere; ``None`` where a number is
missing or not finite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sayso.metrics.arrays import Floats
from sayso.records import InputError
from sayso.scores.evidence import (
    NoEvidence,
    Samples,
    draw_arrays,
    made_once,
    mean,
    the_clusters,
    the_draws,
)

Estimator = Literal["rao", "mc", "direct"]
NaiveKind = Literal["mc_norm", "mc_sum", "eq4"]
#: What each kind of naive entropy computes, for its docstring.
_NAIVE: dict[NaiveKind, str] = {
    "mc_norm": "-(mean over draws of the mean token log-probability).",
    "mc_sum": "-(mean over draws of the summed token log-probability).",
    "eq4": "-sum P log P over the different strings drawn.",
}


def _entropy(shares: Floats) -> float:
    """-sum p log p with 0 log 0 = 0; never -0."""
    p = shares[shares > 0]
    return float(max(0.0, -np.add.reduce(p * np.log(p))))


def _likelihoods(
    logprobs: Sequence[Sequence[float]] | Sequence[Floats], norm: bool
) -> Floats | None:
    """Log-likelihood (S,) of each draw, mean or sum over tokens; ``None`` if one is unusable."""
    arrays = [np.asarray(row, dtype=np.float64) for row in logprobs]
    if not arrays or any(not a.size or not np.isfinite(a).all() for a in arrays):
        return None
    return np.asarray([a.mean() if norm else a.sum() for a in arrays])


def _unique(values: Floats, texts: Sequence[str]) -> tuple[Floats, list[int]]:
    """The likeliest occurrence of each string, and where it stands."""
    if len(texts) != len(values):
        raise InputError(f"{len(texts)} texts for {len(values)} draws: give one for each")
    best: dict[str, int] = {}
    for i, text in enumerate(texts):
        if text not in best or values[i] > values[best[text]]:
            best[text] = i
    kept = list(best.values())
    return values[kept], kept


def _finite(value: float) -> float | None:
    """A sum, ``None`` where it is too large for a float."""
    return value + 0.0 if math.isfinite(value) else None


@np.errstate(over="ignore")
def naive_entropy(
    logprobs: Sequence[Sequence[float]],
    kind: NaiveKind = "mc_norm",
    texts: Sequence[str] | None = None,
) -> float | None:
    """Return an entropy of draws that ignores meaning; >= 0, higher = less certain.

    ``logprobs``: token log-probabilities of each of S draws. ``mc_norm`` (official code):
    -(1/S) sum_s mean_t l; ``mc_sum``: -(1/S) sum_s sum_t l; ``eq4`` (the paper's Equation 4, no
    estimate of an entropy): -sum P log P over draws, over unique strings when ``texts`` is given.
    ``None`` without draws, for an empty draw or a number that is not finite.
    """
    if kind not in ("mc_norm", "mc_sum", "eq4"):
        raise InputError(f"kind of naive entropy: got {kind!r}, expected mc_norm, mc_sum or eq4")
    values = _likelihoods(logprobs, kind == "mc_norm")
    return None if values is None else _naive(values, kind, texts)


def _naive(values: Floats, kind: NaiveKind, texts: Sequence[str] | None) -> float | None:
    """Return :func:`naive_entropy` of log-likelihoods (S,)."""
    if kind != "eq4":
        return _finite(-mean(values))
    if texts is not None:
        values, _ = _unique(values, texts)
    chances = np.exp(values)
    held = chances > 0  # 0 log 0 = 0
    return float(-np.add.reduce(chances[held] * values[held])) + 0.0


@np.errstate(over="ignore")
def semantic_entropy(
    ids: Sequence[int],
    logprobs: Sequence[Sequence[float]],
    estimator: Estimator = "rao",
    length_norm: bool = True,
    texts: Sequence[str] | None = None,
) -> float | None:
    """Return the entropy over meanings; higher = less certain.

    Kuhn et al. 2023; Farquhar et al. 2024. ``ids`` (S,) the meaning of each draw, ``logprobs`` its
    token log-probabilities; a draw's log-likelihood is their mean (``length_norm``, official) or
    sum. With ``texts`` each distinct string counts once (the papers' sets; the official code counts
    all draws). ``rao`` (official): class shares p(C) normalized over the draws, -sum p log p,
    0..log of the number of classes. ``mc``: -(1/S) sum_s log p(C(s)) with class mass p(C) summed,
    not normalized: below 0 where repeated draws push the mass above 1, so give ``texts``.
    ``direct``: -sum p(C) log p(C), not normalized either, only with ``texts`` and without
    ``length_norm``, where no mass exceeds 1. One class: 0 (rao). ``None`` as in
    :func:`naive_entropy`.
    """
    if estimator not in ("rao", "mc", "direct"):
        raise InputError(f"estimator: got {estimator!r}, expected rao, mc or direct")
    if estimator == "direct" and (texts is None or length_norm):
        raise InputError("estimator 'direct' needs texts and length_norm=False: mass above 1 else")
    if len(ids) != len(logprobs):
        raise InputError(f"{len(ids)} meaning ids for {len(logprobs)} draws: give one for each")
    values = _likelihoods(logprobs, length_norm)
    if values is None:
        return None
    kept = None if texts is None else _unique(values, texts)
    return _over_meanings(_numbered(ids), values, estimator, kept)


def _numbered(ids: Sequence[int]) -> NDArray[np.int64]:
    """Return meanings as numbers from 0 in the order of their ids."""
    places = {meaning: place for place, meaning in enumerate(sorted(set(ids)))}
    return np.asarray([places[meaning] for meaning in ids], dtype=np.int64)


def _over_meanings(
    every: NDArray[np.int64],
    values: Floats,
    estimator: Estimator,
    kept: tuple[Floats, list[int]] | None,
) -> float | None:
    """Return :func:`semantic_entropy` of log-likelihoods (S,) with meanings (S,) from 0 on.

    ``kept`` is what :func:`_unique` keeps of them, ``None`` = all.
    """
    kept_values, meaning = (values, every) if kept is None else (kept[0], every[kept[1]])
    if estimator == "rao":
        top = np.maximum.reduce(kept_values)
        if not math.isfinite(top):
            return None
        # Shares of the largest keep raw sums of long answers from vanishing.
        mass = np.bincount(meaning, np.exp(kept_values - top))
        return _entropy(mass / np.add.reduce(mass))
    log_mass = np.full(int(every.max()) + 1, -np.inf)
    np.logaddexp.at(log_mass, meaning, kept_values)
    if estimator == "mc":
        return _finite(-mean(log_mass[every]))
    held = log_mass[np.isfinite(log_mass)]
    return float(max(0.0, -np.add.reduce(np.exp(held) * held)))


def discrete_semantic_entropy(ids: Sequence[int]) -> float | None:
    """Return the entropy of how often each meaning was drawn, 0..log S; ``None`` without draws.

    Farquhar et al. 2024. Needs no log-probabilities. With S draws there are few values and many
    ties.
    """
    if not len(ids):
        return None
    return _of_counts(np.bincount(_numbered(ids)))


def _of_counts(counts: NDArray[np.int64]) -> float:
    return _entropy(counts / np.add.reduce(counts))


def num_sets(ids: Sequence[int]) -> int | None:
    """Return the number of different meanings, 1..S; ``None`` without draws (Kuhn et al. 2023)."""
    return len(set(ids)) if len(ids) else None


def _texts(samples: Samples) -> list[str]:
    return made_once(samples, "texts", lambda: [draw.text.strip() for draw in the_draws(samples)])


def _values(samples: Samples, norm: bool) -> Floats:
    """Log-likelihood of each draw, as :func:`_likelihoods` has it of numbers that are not."""

    def make() -> Floats:
        rows = draw_arrays(samples, "logprobs")
        return np.asarray([mean(row) if norm else np.add.reduce(row) for row in rows])

    return made_once(samples, ("likelihoods", norm), make)


def _meanings(samples: Samples) -> NDArray[np.int64]:
    """The meanings of the draws (S,), numbered from 0."""
    return made_once(samples, "meanings", lambda: _numbered(the_clusters(samples)))


def _known(value: float | None) -> float:
    if value is None:  # each number was checked to be finite, their sum is not
        raise NoEvidence("the log-probability of a draw is too large for a float")
    return value


def naive(kind: NaiveKind) -> Callable[[Samples], float]:
    """Return a naive entropy of the draws as a score."""

    def score(samples: Samples) -> float:
        return _known(_naive(_values(samples, kind == "mc_norm"), kind, _texts(samples)))

    score.__doc__ = f"""{_NAIVE[kind]}

    Range 0..inf. Needs: draws, draws.logprobs. Source: kind {kind!r} of :func:`naive_entropy`.
    Read: how unlikely the model finds its own samples.
    """
    return score


def semantic(
    estimator: Estimator, length_norm: bool = True, unique: bool = False
) -> Callable[[Samples], float]:
    """Return a semantic entropy of the draws as a score."""

    def score(samples: Samples) -> float:
        ids, values = _meanings(samples), _values(samples, length_norm)
        kept = None
        if unique:
            kept = made_once(
                samples, ("unique", length_norm), lambda: _unique(values, _texts(samples))
            )
        return _known(_over_meanings(ids, values, estimator, kept))

    below_zero = length_norm or not unique
    span = {"rao": "0..log k", "mc": "-inf..inf" if below_zero else "0..inf", "direct": "0..inf"}
    read = {
        "rao": "0 = all draws mean the same",
        "mc": "how unlikely the sampled meanings are; not 0 if all are the same",
        "direct": "small if one meaning has most of the probability, but also if no string has "
        "much",
    }
    score.__doc__ = f"""Entropy over meanings (estimator {estimator}), from the
    {"mean" if length_norm else "summed"} token log-probabilities of
    {"each different string" if unique else "all draws"}.

    Range {span[estimator]}. Needs: draws, draws.logprobs, clusters. Source: Kuhn et al. 2023,
    Farquhar et al. 2024; :func:`semantic_entropy`. Read: {read[estimator]}.
    """
    return score


def discrete(samples: Samples) -> float:
    """Entropy of how often each meaning was drawn.

    Range 0..log k. Needs: draws, clusters. Source: Farquhar et al. 2024. Read: 0 = all draws mean
    the same, log k = all differ.
    """
    return _of_counts(np.bincount(_meanings(samples)))


def sets(samples: Samples) -> float:
    """Number of different meanings among the draws.

    Range 1..k. Needs: draws, clusters. Source: Kuhn et al. 2023. Read: a count, so there are many
    ties.
    """
    return float(_known(num_sets(the_clusters(samples))))

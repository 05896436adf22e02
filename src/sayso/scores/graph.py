"""Scores of the draws as a graph whose edges say how alike two draws are. No log-probabilities.

Lin et al. 2024 ("Generating with Confidence"): W (k, k) the symmetrized similarity, D its row
sums, L = I - D^-1/2 W D^-1/2. Similarities are P(entails), 1 - P(contradicts), or any recorded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sayso.metrics.arrays import Floats
from sayso.scores.evidence import Samples, draw_table, made_once, mean, the_draws

Kind = Literal["entailment", "contradiction", "similarity"]
#: Eigenvalues of L below this count as directions of meaning (Lin et al. 2024).
NEAR = 0.9
#: Decimals of what is made of eigenvalues, whose error does not shrink with them.
DECIMALS = 12
#: Time of the heat kernel (Nikitin et al. 2024).
HEAT = 0.3
_NEEDS = {
    "entailment": "nli", "contradiction": "nli, contradiction", "similarity": "similarity",
}  # fmt: skip


def _weights(samples: Samples, kind: Kind) -> Floats:
    """W (k, k), symmetric, 1 on the diagonal and between equal strings."""
    return made_once(samples, ("weights", kind), lambda: _symmetric(samples, kind))


def _symmetric(samples: Samples, kind: Kind) -> Floats:
    if kind == "entailment":
        alike = draw_table(samples, "entail", 1.0)
    elif kind == "contradiction":
        alike = 1 - draw_table(samples, "contra", 0.0)
    else:
        alike = draw_table(samples, "similarity", 1.0)
    return np.asarray((alike + alike.T) / 2, dtype=np.float64)


def _spectrum(samples: Samples, kind: Kind) -> tuple[Floats, Floats]:
    """Eigenvalues and eigenvectors of L."""
    weights = _weights(samples, kind)
    return _decomposed(weights.tobytes(), len(weights))


@lru_cache(maxsize=512)
def _decomposed(weights: bytes, k: int) -> tuple[Floats, Floats]:
    """Eigenvalues and eigenvectors of L of W; of rules, which say 0 or 1, there are few W."""
    w = np.frombuffer(weights).reshape(k, k)
    root = 1 / np.sqrt(w.sum(axis=1))
    laplacian = np.eye(k) - root[:, None] * w * root[None, :]
    values, vectors = np.linalg.eigh(laplacian)
    return values, vectors


@lru_cache(maxsize=64)
def _pairs(k: int) -> tuple[NDArray[np.intp], ...]:
    """The places above the diagonal."""
    return np.triu_indices(k, 1)


def _document(
    score: Callable[[Samples], float], text: str, span: str, kind: Kind, read: str
) -> None:
    score.__doc__ = f"""{text}; edge weights from {kind}.

    Range {span}. Needs: draws, {_NEEDS[kind]}. Source: Lin et al. 2024, arXiv 2305.19187. Read:
    {read}
    """


def eigenvalues(kind: Kind) -> Callable[[Samples], float]:
    """Return EigV as a score: sum over eigenvalues of L of max(0, 1 - eigenvalue)."""

    def score(samples: Samples) -> float:
        values, _ = _spectrum(samples, kind)
        return round(float(np.add.reduce(np.maximum(0, 1 - values))), DECIMALS)

    _document(
        score,
        "Sum of max(0, 1 - eigenvalue of L)",
        "1..k",
        kind,
        "a soft (fractional) count of meanings",
    )
    return score


def degree(kind: Kind) -> Callable[[Samples], float]:
    """Return Deg as a score: trace(k I - D)/k^2."""

    def score(samples: Samples) -> float:
        weights = _weights(samples, kind)
        return float(1 - np.add.reduce(weights, axis=None) / len(weights) ** 2)

    _document(score, "trace(k I - D)/k^2", "0..1 - 1/k", kind, "mean dissimilarity of two draws.")
    return score


def eccentricity(kind: Kind) -> Callable[[Samples], float]:
    """Return Ecc as a score: how far the draws lie from their mean in the space of meanings."""

    def score(samples: Samples) -> float:
        values, vectors = _spectrum(samples, kind)
        space = vectors[:, values < NEAR]
        far = (space - np.add.reduce(space, axis=0) / len(space)).ravel(order="K")
        return round(math.sqrt(far.dot(far)), DECIMALS)

    _document(
        score,
        "Norm of the draws' centered coordinates in the eigenvectors of L below 0.9",
        "0..sqrt(k)",
        kind,
        "0 = all samples are at one point.",
    )
    return score


def lexical_similarity(samples: Samples) -> float:
    """1 - mean similarity of two different draws (ROUGE-L as published, or a recorded similarity).

    Range 0..1. Needs: draws, similarity. Source: Fomicheva et al. 2020; Kuhn et al. 2023. Read:
    0 = all draws say the same words.
    """
    weights = _weights(samples, "similarity")
    return 1 - mean(weights[_pairs(len(weights))])


def kernel_language_entropy(samples: Samples) -> float:
    """Von Neumann entropy of the heat kernel exp(-t L) of the NLI graph, t = 0.3.

    An edge is P(entails) + P(neutral)/2, summed over both directions. L = D - W. The kernel is
    scaled to a unit diagonal and divided by k. Range 0..log k. Needs: draws, nli, contradiction.
    Source: Nikitin et al. 2024, arXiv 2405.20003. Read: like semantic entropy, but meanings may
    overlap.
    """
    entails, denies = draw_table(samples, "entail", 1.0), draw_table(samples, "contra", 0.0)
    one_way = entails + np.maximum(0, 1 - entails - denies) / 2
    weights = one_way + one_way.T
    np.fill_diagonal(weights, 0)
    values, vectors = np.linalg.eigh(np.diag(weights.sum(axis=1)) - weights)
    kernel = (vectors * np.exp(-HEAT * values)) @ vectors.T
    root = 1 / np.sqrt(np.diag(kernel))
    shares = np.linalg.eigvalsh(root[:, None] * kernel * root[None, :] / len(kernel))
    shares = shares[shares > 1e-15]
    return round(float(max(0.0, -(shares * np.log(shares)).sum())), DECIMALS)


def luq_draws(samples: Samples) -> float:
    """1 - mean over pairs of different draws of P(entails) / (P(entails) + P(contradicts)).

    Range 0..1. Needs: draws, nli, contradiction. Source: Zhang et al. 2024 (LUQ), on whole answers;
    only a draw's pair with itself is left out, never an equal string: that is the strongest
    agreement. Read: 0 = every draw supports every other.
    """
    entails, denies = draw_table(samples, "entail", 1.0), draw_table(samples, "contra", 0.0)
    k = len(the_draws(samples, 2))
    other = ~np.eye(k, dtype=bool)
    return 1 - support(entails[other], denies[other])


def support(entails: Floats, denies: Floats) -> float:
    """Return the mean of e/(e + c); a pair that neither entails nor contradicts counts as 1/2."""
    total = entails + denies
    share = np.divide(entails, total, out=np.full(total.shape, 0.5), where=total > 1e-12)
    return float(share.mean())

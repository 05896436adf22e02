"""BERTScore: words matched by the similarity of their contextual vectors (Zhang et al. 2020).

A :class:`TokenVectors` gives the vectors; the formula sees only arrays. Without rescaling almost
every pair of sentences lies above 0.8, so that a threshold of 0.5 accepts everything: the default
rescales by the baseline of unrelated sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sayso.answers.lexical import References, reference_list
from sayso.metrics.arrays import Floats
from sayso.records import InputError

Component = Literal["precision", "recall", "f1"]
Vectors = NDArray[np.float32]

#: The published constants of unrelated English sentences (the tables of the bert_score package),
#: by model and layer: precision, recall, F1. Measure others with :func:`measure_baseline`.
BASELINES: dict[tuple[str, int], tuple[float, float, float]] = {
    ("roberta-large", 17): (0.83150584, 0.8314941, 0.83122575),
    ("microsoft/deberta-large-mnli", 18): (0.45358238, 0.45362508, 0.45173016),
}


class TokenVectors(Protocol):
    """A model that gives each token of a text a vector.

    ``name`` and ``layer`` find the published baseline. Calling it with texts returns for each the
    tokens' ids and vectors (tokens, dimensions), special tokens left out.
    """

    name: str
    layer: int

    def __call__(self, texts: Sequence[str]) -> list[tuple[tuple[int, ...], Vectors]]:
        """Return (token ids, vectors) of each text, in order."""


class Parts(NamedTuple):
    """The three components, each -1..1 before rescaling."""

    precision: float
    recall: float
    f1: float


def greedy_match(reference: Vectors, answer: Vectors) -> Parts:
    """Return precision, recall and F1 of two sets of vectors (n, d) and (m, d).

    Zhang et al. 2020, section 3: R is the mean over reference tokens of the best cosine with an
    answer token, P the same the other way round, F1 = 2PR/(P+R). Tokens weigh alike (no idf). All 0
    when either side has no tokens.
    """
    if not len(reference) or not len(answer):
        return Parts(0.0, 0.0, 0.0)
    cosine = _unit(reference) @ _unit(answer).T
    recall, precision = float(cosine.max(axis=1).mean()), float(cosine.max(axis=0).mean())
    total = precision + recall
    return Parts(precision, recall, 2 * precision * recall / total if total > 0 else 0.0)


def _unit(vectors: Vectors) -> Floats:
    wide = np.asarray(vectors, dtype=np.float64)
    norm = np.linalg.norm(wide, axis=1, keepdims=True)
    return np.asarray(wide / np.where(norm > 0, norm, 1.0), dtype=np.float64)


def measure_baseline(
    texts: Sequence[str], vectors: TokenVectors, pairs: int = 1000, seed: int = 0
) -> tuple[float, float, float]:
    """Return the mean precision, recall and F1 of ``pairs`` random pairs of unrelated texts.

    What BERTScore's rescaling subtracts; the published tables use a million pairs of web
    sentences. Give at least a few hundred texts that have nothing to do with each other.
    """
    if len(texts) < 2:
        raise InputError(f"a baseline needs at least two unrelated texts, got {len(texts)}")
    rng = np.random.default_rng(seed)
    first = rng.integers(0, len(texts), pairs)
    second = (first + rng.integers(1, len(texts), pairs)) % len(texts)
    held = vectors(texts)
    parts = [greedy_match(held[i][1], held[j][1]) for i, j in zip(first, second, strict=True)]
    precision, recall, f1 = np.mean(np.asarray(parts), axis=0)
    return float(precision), float(recall), float(f1)


def bert_score(
    references: References | Sequence[References],
    answer: str | Sequence[str],
    vectors: TokenVectors,
    component: Component = "f1",
    rescale: bool = True,
    baseline: tuple[float, float, float] | None = None,
) -> float | list[float]:
    """Return BERTScore of an answer, or of many at once; best over each one's references.

    ``component`` f1 (default), precision or recall. ``rescale`` maps the baseline b to 0:
    (x - b)/(1 - b), where b is ``baseline`` (precision, recall, f1), else the published one of
    the model; :class:`InputError` if there is none. About 0..1 rescaled, negative below the
    baseline; a text without tokens gives 0 before rescaling. With many answers ``references`` has
    one entry for each, and every distinct text is embedded once.
    """
    if component not in Parts._fields:
        raise InputError(
            f"component of BERTScore: got {component!r}, expected precision, recall or f1"
        )
    one = isinstance(answer, str)
    answers = [answer] if isinstance(answer, str) else list(answer)
    groups = [references] if one else list(references)
    wanted = [reference_list(group) for group in groups]  # type: ignore[arg-type]
    if len(wanted) != len(answers):
        raise InputError(
            f"{len(wanted)} groups of references for {len(answers)} answers: give one for each"
        )
    base = 0.0
    if rescale:
        chosen = baseline or BASELINES.get((vectors.name, vectors.layer))
        if chosen is None:
            raise InputError(
                f"no published baseline for {vectors.name!r}, layer {vectors.layer}: give "
                "baseline= (measure_baseline finds one), or rescale=False"
            )
        base = chosen[Parts._fields.index(component)]
        if not base < 1:
            raise InputError(f"a baseline must be below 1, got {base}")
    texts = list(dict.fromkeys([*answers, *(r for group in wanted for r in group)]))
    held = {text: own for text, (_, own) in zip(texts, vectors(texts), strict=True)}
    values = []
    for group, text in zip(wanted, answers, strict=True):
        raw = max(getattr(greedy_match(held[r], held[text]), component) for r in group)
        values.append((raw - base) / (1 - base))
    return values[0] if one else values

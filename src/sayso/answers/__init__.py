"""Answer metrics: is an answer near a reference?

``sayso.answers.rouge_l(references, answer)`` and its companions compare words; ``bert_score`` takes
the name or folder of a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sayso.answers import bertscore
from sayso.answers.bertscore import TokenVectors, measure_baseline
from sayso.answers.lexical import (
    ANSWER_METRICS,
    References,
    contains,
    exact_match,
    rouge_l,
    rouge_l_many,
    squad_em,
    squad_f1,
    squad_f1_many,
)
from sayso.engines import open_token_vectors
from sayso.metrics.length_audit import THRESHOLDS, Threshold, threshold_sweep

__all__ = [
    "ANSWER_METRICS",
    "THRESHOLDS",
    "Threshold",
    "bert_score",
    "contains",
    "exact_match",
    "measure_baseline",
    "rouge_l",
    "rouge_l_many",
    "squad_em",
    "squad_f1",
    "squad_f1_many",
    "threshold_sweep",
]


def bert_score(
    references: References | Sequence[References],
    answer: str | Sequence[str],
    model: str | TokenVectors = "roberta-large",
    layer: int | None = None,
    **settings: Any,
) -> float | list[float]:
    """Return BERTScore of an answer, or of many at once, which is much faster.

    ``model`` is a hub id or folder (opened once; needs the extra ``hf`` and its weights on this
    machine or a network), or anything that gives token vectors. ``layer`` counts hidden states
    from 0 = embeddings; default the published choice for the model, else the last. ``settings`` are
    those of :func:`sayso.answers.bertscore.bert_score`.
    """
    vectors = open_vectors(model, layer) if isinstance(model, str) else model
    return bertscore.bert_score(references, answer, vectors, **settings)


@lru_cache(maxsize=4)
def open_vectors(model: str, layer: int | None = None) -> TokenVectors:
    """Open a model for token vectors, once for each name and layer."""
    return open_token_vectors(model, layer)

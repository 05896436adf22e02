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
    squad_em_many,
    squad_f1,
    squad_f1_many,
    squad_many,
)
from sayso.engines import open_token_vectors
from sayso.metrics.length_audit import THRESHOLDS, Threshold, threshold_sweep

__all__ = [
    "ANSWER_METRICS",
    "THRESHOLDS",
    "BertGrader",
    "Threshold",
    "bert_score",
    "contains",
    "exact_match",
    "measure_baseline",
    "rouge_l",
    "rouge_l_many",
    "squad_em",
    "squad_em_many",
    "squad_f1",
    "squad_f1_many",
    "squad_many",
    "threshold_sweep",
]


#: the model of the paper's BERTScore
BERT_MODEL = "roberta-large"


def bert_score(
    references: References | Sequence[References],
    answer: str | Sequence[str],
    model: str | TokenVectors = BERT_MODEL,
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


class BertGrader:
    """BERTScore of many answers; ``cut`` counts the texts of which it read the beginning only."""

    def __init__(self, model: str = "") -> None:
        self.model = model or BERT_MODEL
        self.cut = 0

    def check(self) -> None:
        """Open the model. Raises InputError where it cannot be, or has no published baseline."""
        bert_score("a", "a", open_vectors(self.model, None))

    def grade(self, references: Sequence[References], texts: Sequence[str]) -> list[float]:
        """Return BERTScore F1 of each text, rescaled, best over its references."""
        if not texts:
            return []
        vectors = open_vectors(self.model, None)
        before = getattr(vectors, "cut", 0)
        values = bert_score(references, texts, vectors)
        self.cut += getattr(vectors, "cut", 0) - before
        return values if isinstance(values, list) else [values]


@lru_cache(maxsize=4)
def open_vectors(model: str, layer: int | None = None) -> TokenVectors:
    """Open a model for token vectors, once for each name and layer."""
    return open_token_vectors(model, layer)

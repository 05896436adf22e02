"""How alike are several answers in their words? Similarity tables that scores take as evidence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq

from sayso.annotate.lexical_tokens import Tokenizer, rouge_tokens

Floats = NDArray[np.float64]


def rouge_l_table(texts: Sequence[str], tokenizer: Tokenizer = "unicode") -> Floats:
    """Return the ROUGE-L F1 of every two texts, (k, k), symmetric, 1 between equal texts.

    What lexical similarity takes as evidence (Fomicheva et al. 2020). Each pair of different texts
    is compared once; a text without words is like nothing but itself.
    """
    names = [text.strip() for text in texts]
    distinct = list(dict.fromkeys(names))
    words = [rouge_tokens(text, tokenizer=tokenizer) for text in distinct]
    table: Floats = np.eye(len(distinct))
    for i, first in enumerate(words):
        for j in range(i):
            total = len(first) + len(words[j])
            common = LCSseq.similarity(first, words[j]) if first and words[j] else 0
            table[i, j] = table[j, i] = 2 * common / total if total else 0.0
    where = [distinct.index(name) for name in names]
    return table[np.ix_(where, where)]


def jaccard_table(texts: Sequence[str], tokenizer: Tokenizer = "unicode") -> Floats:
    """Return shared words over all words of every two texts, (k, k), symmetric, 1 on equal texts.

    The lexical similarity of Lin et al. 2024 (arXiv 2305.19187).
    """
    names = [text.strip() for text in texts]
    sets = [frozenset(rouge_tokens(text, tokenizer=tokenizer)) for text in names]
    table: Floats = np.eye(len(names))
    for i, first in enumerate(sets):
        for j in range(i):
            either = len(first | sets[j])
            shared = len(first & sets[j]) / either if either else 0.0
            table[i, j] = table[j, i] = 1.0 if names[i] == names[j] else shared
    return table

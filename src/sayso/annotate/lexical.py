"""Answer metrics that compare words: exact match, contains, ROUGE-L, SQuAD F1 and EM, BERTScore.

A value is 0..1, higher = nearer to a reference; several references count by the best. What makes
an answer correct is a threshold (:data:`sayso.metrics.THRESHOLDS`), chosen and told apart from the
value. These metrics refuse long right answers (:mod:`sayso.metrics.length`): never quote one
without its length audit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from rapidfuzz.distance import LCSseq

from sayso.annotate.lexical_bert import bert_score, measure_baseline
from sayso.annotate.lexical_tokens import (
    References,
    Token,
    Tokenizer,
    plain_form,
    reference_list,
    reference_phrase,
    reference_rouge,
    rouge_tokens,
    squad_references,
    squad_tokens,
    unicode_words,
)
from sayso.metrics.thresholds import THRESHOLDS, Threshold, threshold_sweep
from sayso.records import InputError

Refs = Literal["max", "first"]
#: Up to this many different words of references each is looked up in the answer.
FEW = 4

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


def exact_match(references: References, answer: str) -> float:
    """Return 1.0 if the answer is one of the references, else 0.0.

    Compared after Unicode compatibility folding of case, spaces and outer punctuation; articles
    stay (:func:`squad_em` drops them). An empty answer matches only an empty reference.
    """
    said = plain_form(answer)
    return float(any(plain_form(r) == said for r in reference_list(references)))


def contains(references: References, answer: str) -> float:
    """Return 1.0 if the answer holds a reference as whole words in a row, else 0.0.

    Words of any script in folded form, so "art" is not in "party" and "Malmo" is in
    "He is from Malmö." A reference without words is in no answer.
    """
    said = f" {' '.join(unicode_words(answer))} "
    for reference in reference_list(references):
        wanted = reference_phrase(reference)
        if wanted and f" {wanted} " in said:
            return 1.0
    return 0.0


def _f1(common: int, reference: int, answer: int) -> float:
    """F = 2PR/(P+R) with P = common/answer, R = common/reference: 2 common/(reference+answer)."""
    return 2 * common / (reference + answer) if common else 0.0


def rouge_l(
    references: References,
    answer: str,
    stem: bool = False,
    tokenizer: Tokenizer = "ascii",
    refs: Refs = "max",
) -> float:
    """Return ROUGE-L F1: the longest common subsequence of words against both lengths, 0..1.

    F = 2PR/(P+R), P = LCS/answer words, R = LCS/reference words (Lin 2004, Equations 2-4 with
    beta 1), equal to rouge_score's. The best over references; ``refs="first"`` takes the first
    (the paper's single reference). ``stem`` as officially (needs nltk). The official ``ascii``
    tokenizer finds no words in other scripts, which gives 0: use ``unicode`` there. 0 when either
    side has no words. A reference of m words inside an answer of N words gets 2m/(m+N).
    """
    chosen = reference_list(references)
    words = rouge_tokens(answer, stem, tokenizer)
    if refs != "max":
        if refs != "first":
            raise InputError(f"refs: got {refs!r}, expected 'max' or 'first'")
        chosen = chosen[:1]
    if not words:
        return 0.0
    n = len(words)
    best = 0.0
    for text in chosen:
        wanted = reference_rouge(text, stem, tokenizer)
        if not wanted or 2 * len(wanted) <= best * (len(wanted) + n):
            continue  # even all of its words in order could not do better
        best = max(best, _f1(_common_subsequence(wanted, words), len(wanted), n))
    return best


def _common_subsequence(first: Sequence[Token], second: Sequence[Token]) -> int:
    if len(first) == 1:
        return int(first[0] in second)
    return int(LCSseq.similarity(first, second))


def rouge_l_many(
    pairs: Iterable[tuple[References, str]],
    stem: bool = False,
    tokenizer: Tokenizer = "ascii",
    refs: Refs = "max",
) -> list[float]:
    """Return :func:`rouge_l` of (references, answer) pairs, in order."""
    return [rouge_l(r, a, stem, tokenizer, refs) for r, a in pairs]


def squad_f1(references: References, answer: str) -> float:
    """Return SQuAD's F1 of the bags of words, best over references, 0..1.

    Rajpurkar et al. 2016: lower case, no punctuation, no articles; F = 2PR/(P+R) over word
    counts. When either side is empty after that: 1 if both are, else 0. The paper's threshold is
    at least 50 percent.
    """
    group = squad_references(references)
    words = squad_tokens(answer)
    n = len(words)
    if not words:
        return float(() in group.exact)
    if len(group.every) <= FEW:
        # Looking for a few words is cheaper than taking in all that were said.
        shared = frozenset(word for word in group.every if word in words)
    else:
        shared = group.every.intersection(words)
    best = 0.0
    if shared:
        for wanted, distinct, size in group.each:
            common = len(shared & distinct)
            if common and len(distinct) != size:
                # Only a word that the reference repeats can count more than once.
                common = sum(min(wanted.count(w), words.count(w)) for w in shared & distinct)
            best = max(best, 2 * common / (size + n))
    return best


def squad_f1_many(pairs: Iterable[tuple[References, str]]) -> list[float]:
    """Return :func:`squad_f1` of (references, answer) pairs, in order."""
    return [squad_f1(r, a) for r, a in pairs]


def squad_em(references: References, answer: str) -> float:
    """Return 1.0 if the answer is a reference after SQuAD's normalization, else 0.0."""
    return float(tuple(squad_tokens(answer)) in squad_references(references).exact)


#: Answer metrics that need nothing but text: metric(references, answer) -> 0..1. One function and
#: one line for a new one.
ANSWER_METRICS: dict[str, Callable[[References, str], float]] = {
    "exact_match": exact_match,
    "contains": contains,
    "rouge_l": rouge_l,
    "squad_f1": squad_f1,
    "squad_em": squad_em,
}

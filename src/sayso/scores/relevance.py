"""Scores that weigh tokens and draws by what they mean. l_t log-probability, T tokens, k draws.

The papers measure relevance with trained models: a cross-encoder for the similarity of sentences
(SAR), a classifier for the importance of phrases (MARS). Here both are found by words, offline: a
token is relevant where the answer, read behind its question, loses a content word with it
(:func:`sayso.scores.collect.relevance`), and draws are as similar as ROUGE-L says. So these scores
are the papers' formulas with another measure of relevance, and rank differently from theirs.
"""

from __future__ import annotations

import numpy as np

from sayso.metrics.arrays import Floats
from sayso.scores.evidence import (
    NoEvidence,
    Samples,
    array,
    draw_arrays,
    draw_table,
    mean,
    the_answer,
    the_draws,
)

#: Temperature of the relevance of draws (Duan et al. 2024).
TEMPERATURE = 0.001


def _token_sar(logprobs: Floats, relevance: Floats, who: str) -> float:
    """Return sum_t r_t (-l_t) with r the relevance scaled to sum 1; equal where there is none."""
    if len(logprobs) != len(relevance):
        raise NoEvidence(f"{who}: {len(relevance)} relevances for {len(logprobs)} tokens")
    if (relevance < 0).any():
        raise NoEvidence(f"{who}: a relevance is below 0 ({relevance.min():.3g})")
    total = relevance.sum()
    shares = relevance / total if total > 0 else np.full(len(relevance), 1 / len(relevance))
    return float(-(shares * logprobs).sum())


def token_sar(samples: Samples) -> float:
    """-sum_t r_t l_t, r_t = R_t / sum R.

    R_t = 1 - similarity between the answer with and without token t. Similarity is the F1 of the
    content words of question and answer (the paper uses a cross-encoder). If no token matters, all
    have equal weight. Range 0..inf. Needs: logprobs, relevance. Source: Duan et al. 2024, arXiv
    2307.01379 (TokenSAR). Read: how unlikely the content words are, ignoring the words around them.
    """
    answer = the_answer(samples)
    return _token_sar(array(answer, "logprobs"), array(answer, "relevance"), "the answer")


def _sentence_sar(log_p: Floats, similarity: Floats) -> float:
    """Return -(1/k) sum_j log(p_j + sum_{i != j} g_ij p_i / t), from log p and g (k, k)."""
    weights = similarity / TEMPERATURE
    np.fill_diagonal(weights, 1.0)
    with np.errstate(divide="ignore"):  # log 0: a draw that resembles no other adds nothing
        terms = np.log(weights) + log_p[None, :]
    top = np.maximum.reduce(terms, axis=1, keepdims=True)
    masses = np.add.reduce(np.exp(terms - top), axis=1)
    return -mean(top[:, 0] + np.log(masses))


def sentence_sar(samples: Samples) -> float:
    """-(1/k) sum_j log(p_j + (1/t) sum_{i != j} g(j, i) p_i), p_j = exp(sum of l_t), t = 0.001.

    The similarity g is ROUGE-L (the paper uses a cross-encoder). Range -inf..inf. Needs: draws,
    draws.logprobs, similarity. Source: Duan et al. 2024, arXiv 2307.01379 (SentenceSAR). Read: low
    if likely samples are similar.
    """
    the_draws(samples, 2)
    log_p = np.asarray([np.add.reduce(row) for row in draw_arrays(samples, "logprobs")])
    return _sentence_sar(log_p, draw_table(samples, "similarity", 1.0))


def sar(samples: Samples) -> float:
    """Like sentence_sar, but with p_j = exp(-TokenSAR of draw j).

    g and the relevance of tokens compare words (the paper uses a cross-encoder).
    Range -inf..inf. Needs: draws, draws.logprobs, draws.relevance, similarity. Source: Duan et al.
    2024, arXiv 2307.01379 (SAR). Read: like sentence_sar, but does not grow with words that
    have no content.
    """
    the_draws(samples, 2)
    rows = draw_arrays(samples, "logprobs"), draw_arrays(samples, "relevance")
    log_p = [-_token_sar(a, b, f"draw {i}") for i, (a, b) in enumerate(zip(*rows, strict=True))]
    return _sentence_sar(np.asarray(log_p), draw_table(samples, "similarity", 1.0))


def mars(samples: Samples) -> float:
    """-sum_t w_t l_t, w_t = 1/(2T) + u_t/2. u_t is the importance of token t; the u_t sum to 1.

    Content words that are not in the question share the importance equally. Each word's share is
    split among its tokens (the paper trains a model of phrases). If there are no such words, all
    tokens share it. Range 0..inf. Needs: logprobs, importance. Source: Bakman et al. 2024, arXiv
    2402.11756 (MARS, as confidence). Read: between log perplexity and token_sar.
    """
    logprobs = array(the_answer(samples), "logprobs")
    importance = array(the_answer(samples), "importance")
    meant = _token_sar(logprobs, importance, "the answer")
    return float(-logprobs.mean() / 2 + meant / 2)


def ccp(samples: Samples) -> float:
    """-sum_t log(sum of p of tokens that entail t / sum of p of tokens that entail or deny t).

    The sums are over the ten likeliest tokens at each place. A token entails itself; neutral tokens
    are left out. sayso compares the texts up to the token, after the question (the paper compares
    words). It counts all tokens (the paper ignores function words). Range 0..inf. Needs: logprobs,
    nli:alternatives. Source: Fadeeva et al. 2024, arXiv 2403.04696 (CCP); ranks as its 1 - product
    without underflow. Read: uncertainty about content, not wording.
    """
    answer = the_answer(samples)
    own = array(answer, "logprobs")
    if answer.compared is None:
        raise NoEvidence("no alternatives of the tokens were compared")
    if len(answer.compared) != len(own):
        raise NoEvidence(f"alternatives at {len(answer.compared)} of {len(own)} tokens")
    total = 0.0
    for logprob, others in zip(own, answer.compared, strict=True):
        if not all(np.isfinite(value) for value, _ in others):
            raise NoEvidence("a log-probability of an alternative is not finite")
        alike = [logprob, *(value for value, relation in others if relation == "entailment")]
        against = [value for value, relation in others if relation == "contradiction"]
        total += float(np.logaddexp.reduce([*alike, *against]) - np.logaddexp.reduce(alike))
    return total

"""Scores of one answer from its own tokens. l_t log-probability, H_t entropy, T tokens (nats)."""

from __future__ import annotations

import math

import numpy as np

from sayso.scores.evidence import (
    NoEvidence,
    Samples,
    answer_array,
    draw_arrays,
    made_once,
    mean,
    recorded_table,
    the_answer,
)

#: Thresholds of conditional PMI: the entropy (nats) above which a token is corrected, and by how
#: much (van der Poel et al. 2022, as re-tuned in lm-polygraph).
CPMI_ENTROPY, CPMI_WEIGHT = 0.0656, 3.599


def length_words(samples: Samples) -> float:
    """Number of words in the answer. A baseline, not an uncertainty score.

    Range 0..inf. Needs: answer. Source: Santilli et al., arXiv 2504.13677. Read: a score that does
    not beat this row may only measure length.
    """
    return float(len(the_answer(samples).text.split()))


def length_tokens(samples: Samples) -> float:
    """Number of tokens in the answer. A baseline: many scores are sums over tokens.

    Range 1..inf. Needs: logprobs. Source: Santilli et al., arXiv 2504.13677. Read: like
    length_words.
    """
    return float(len(answer_array(samples, "logprobs")))


def sequence_probability(samples: Samples) -> float:
    """-sum_t l_t, the negative log-probability of the answer.

    Range 0..inf. Needs: logprobs. Source: ranks as -prod p without underflow; also
    called maximum sequence probability. Read: grows with length, so check it against length.
    """
    return float(-np.add.reduce(answer_array(samples, "logprobs")))


def perplexity(samples: Samples) -> float:
    """exp(-(1/T) sum_t l_t).

    Range 1..inf. Needs: logprobs. Source: Fomicheva et al. 2020. Read: 1 = every token was certain;
    4 = on average as uncertain as between four equally likely tokens. Does not grow with length.
    """
    # Beyond e^700 a float ends; no answer of a model is there, so the value stays finite.
    return float(np.exp(min(700.0, -mean(answer_array(samples, "logprobs")))))


def mean_token_entropy(samples: Samples) -> float:
    """(1/T) sum_t H_t over the full vocabulary.

    Range 0..log V. Needs: entropies. Source: Fomicheva et al. 2020. Read: the mean uncertainty per
    token, in nats, whichever token was sampled.
    """
    return mean(answer_array(samples, "entropies"))


def max_token_entropy(samples: Samples) -> float:
    """max_t H_t: the entropy at the least certain step.

    Range 0..log V. Needs: entropies. Source: Fadeeva et al. 2023 (lm-polygraph). Read: one
    uncertain step makes it high; grows slightly with length.
    """
    return float(np.maximum.reduce(answer_array(samples, "entropies")))


def min_token_probability(samples: Samples) -> float:
    """max_t -l_t: the surprise of the least likely token.

    Range 0..inf. Needs: logprobs. Source: Manakul et al. 2023 (SelfCheckGPT, Max(-log p)). Read:
    one unlikely token makes it high; grows slightly with length.
    """
    return float(-np.minimum.reduce(answer_array(samples, "logprobs")))


def probability_margin(samples: Samples) -> float:
    """1 - (1/T) sum_t (p of the likeliest token - p of the second likeliest).

    Range 0..1. Needs: margins. Source: Farr et al. 2024. Read: 1 = the two likeliest tokens
    were always equally likely.
    """
    return 1 - mean(answer_array(samples, "margins"))


def self_certainty(samples: Samples) -> float:
    """-(1/T) sum_t KL(uniform || p_t).

    Range -inf..0. Needs: self_certainty. Source: Kang et al. 2025, arXiv 2502.18581, sign turned.
    Read: 0 = uniform over the vocabulary at every step.
    """
    return -mean(answer_array(samples, "self_certainty"))


def renyi_divergence(samples: Samples) -> float:
    """-(1/T) sum_t D_1/2(p_t || uniform).

    Range -inf..0. Needs: renyi (order 1/2). Source: Darrin et al. 2023, arXiv 2212.09171, sign
    turned. Read: 0 = uniform at every step.
    """
    return -mean(answer_array(samples, "renyi"))


def fisher_rao(samples: Samples) -> float:
    """-(1/T) sum_t (2/pi) arccos sum_v sqrt(p_v / V), from the Renyi divergence of order 1/2.

    The sum over the vocabulary is exp(-D/2). Range -1..0. Needs: renyi (order 1/2). Source: Darrin
    et al. 2023, arXiv 2212.09171, sign turned. Read: 0 = uniform at every step.
    """
    overlap = np.exp(-np.maximum(answer_array(samples, "renyi"), 0) / 2)
    return float(-(2 / math.pi) * np.arccos(np.clip(overlap, 0, 1)).mean())


def _two(samples: Samples) -> tuple[np.ndarray, np.ndarray]:
    given, alone = answer_array(samples, "logprobs"), answer_array(samples, "unconditional")
    if len(given) != len(alone):
        raise NoEvidence(f"{len(alone)} unconditional log-probabilities for {len(given)} tokens")
    return given, alone


def pmi(samples: Samples) -> float:
    """(1/T) sum_t (l_t without the question - l_t), the negative pointwise mutual information.

    Range -inf..inf. Needs: logprobs, unconditional. Source: Takayama and Arase 2019. Read: above 0
    = the question made the answer less likely.
    """
    given, alone = _two(samples)
    return float((alone - given).mean())


def conditional_pmi(samples: Samples) -> float:
    """-(1/T) sum_t (l_t - w [H_t >= tau] l_t without the question).

    tau is .0656 nats, w is 3.599. Range -inf..inf. Needs: logprobs, entropies, unconditional.
    Source: van der Poel et al. 2022, arXiv 2210.13210. Read: like pmi, but it corrects only tokens
    at which the model was uncertain.
    """
    given, alone = _two(samples)
    unsure = answer_array(samples, "entropies") >= CPMI_ENTROPY
    if len(unsure) != len(given):
        raise NoEvidence(f"{len(unsure)} entropies for {len(given)} tokens")
    return float(-(given - CPMI_WEIGHT * unsure * alone).mean())


def mc_mean_token_entropy(samples: Samples) -> float:
    """Mean over draws of the mean token entropy.

    Range 0..log V. Needs: draws, draws.entropies. Source: Santilli et al. (the namesake in
    lm-polygraph averages log-probabilities instead). Read: like mean_token_entropy, but
    averaged over draws.
    """
    return mean(np.asarray([mean(h) for h in draw_arrays(samples, "entropies")]))


def _dissimilarity(samples: Samples) -> float:
    return made_once(
        samples,
        "dissimilarity",
        lambda: 1 - mean(recorded_table(samples, "answer_similarity", (len(samples.draws),))),
    )


def cocoa_probability(samples: Samples) -> float:
    """(-sum_t l_t) x (1 - mean similarity of the draws to the answer).

    Range 0..inf. Needs: logprobs, draws, similarity:answer. Source: Vashurin et al. 2025, arXiv
    2502.04964 (CoCoA, MSP). Read: 0 if the model is certain or all samples agree.
    """
    return sequence_probability(samples) * _dissimilarity(samples)


def cocoa_perplexity(samples: Samples) -> float:
    """(-(1/T) sum_t l_t) x (1 - mean similarity of the draws to the answer).

    Range 0..inf. Needs: logprobs, draws, similarity:answer. Source: Vashurin et al. 2025, arXiv
    2502.04964 (CoCoA, PPL). Read: like cocoa_probability, but does not grow with length.
    """
    return -mean(answer_array(samples, "logprobs")) * _dissimilarity(samples)


def cocoa_entropy(samples: Samples) -> float:
    """Mean token entropy x (1 - mean similarity of the draws to the answer).

    Range 0..inf. Needs: entropies, draws, similarity:answer. Source: Vashurin et al. 2025, arXiv
    2502.04964 (CoCoA, MTE). Read: like cocoa_perplexity.
    """
    return mean_token_entropy(samples) * _dissimilarity(samples)

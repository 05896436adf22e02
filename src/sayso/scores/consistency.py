"""Do the draws support the answer? Scores of the answer against the draws, mostly from NLI."""

from __future__ import annotations

import math
import re
from collections import Counter

import numpy as np

from sayso.scores.evidence import (
    NoEvidence,
    Samples,
    array,
    made_once,
    mean,
    recorded_table,
    the_answer,
    the_draws,
)
from sayso.scores.graph import support

_WORD = re.compile(r"\w+")
_SUPPORT = {"yes": 0.0, "no": 1.0, "n/a": 0.5}


def _same(samples: Samples) -> np.ndarray:
    """(k,): which draws are the answer, word for word."""

    def make() -> np.ndarray:
        answer = the_answer(samples).text.strip()
        return np.asarray([draw.text.strip() == answer for draw in the_draws(samples)])

    return made_once(samples, "same_as_answer", make)


def _answer_table(samples: Samples, name: str, identical: float) -> np.ndarray:
    """(k, 2) NLI between draws and answer; equal strings entail each other by definition."""
    recorded = recorded_table(samples, name, (len(the_draws(samples)), 2))
    return np.where(_same(samples)[:, None], identical, recorded)


def exact_match_rate(samples: Samples) -> float:
    """1 - share of the samples that equal the answer, ignoring case and spacing.

    Range 0..1. Needs: answer, draws. Source: Cole et al. 2023 (repetition). Read: for short answers
    only, because long ones never repeat.
    """
    answer = " ".join(the_answer(samples).text.casefold().split())
    draws = [" ".join(draw.text.casefold().split()) for draw in the_draws(samples)]
    return 1 - sum(text == answer for text in draws) / len(draws)


def noncontradiction(samples: Samples) -> float:
    """Mean over draws of P(contradicts), averaged over both directions.

    Range 0..1. Needs: answer, draws, nli:answer, contradiction. Source: Chen and Mueller 2023,
    arXiv 2308.16175. Read: 0 = no draw contradicts the answer.
    """
    return mean(_answer_table(samples, "answer_contra", 0.0))


def entailment_consistency(samples: Samples) -> float:
    """1 - mean over draws of P(entails), averaged over both directions.

    Range 0..1. Needs: answer, draws, nli:answer. Source: Lin et al. 2024, arXiv 2305.19187. Read:
    0 = answer and draws entail each other.
    """
    return 1 - mean(_answer_table(samples, "answer_entail", 1.0))


def semantic_density(samples: Samples) -> float:
    """1 - sum_i p_i K_i / sum_i p_i over unique draws, K_i = 1 - (P(contradicts) + P(neutral)/2).

    p_i = exp(mean log-probability of draw i). K is averaged over both directions. Range 0..1.
    Needs: answer, draws, draws.logprobs, nli:answer, contradiction. Source: Qiu and Miikkulainen
    2024, arXiv 2405.13845, with the NLI distance of their Equation 8. Read: 0 = the answer agrees
    with the samples.
    """
    entails = _answer_table(samples, "answer_entail", 1.0)
    denies = _answer_table(samples, "answer_contra", 0.0)
    near = (1 - denies - np.maximum(0, 1 - entails - denies) / 2).mean(axis=1)
    first: dict[str, int] = {}
    for i, draw in enumerate(the_draws(samples)):
        first.setdefault(draw.text.strip(), i)
    kept = list(first.values())
    log_p = [array(samples.draws[i], "logprobs", f"draw {i}").mean() for i in kept]
    weights = np.exp(np.asarray(log_p) - max(log_p))
    return float(1 - (weights * near[kept]).sum() / weights.sum())


def selfcheck_nli(samples: Samples) -> float:
    """Mean over sentences and draws of P(contradicts) / (P(entails) + P(contradicts)).

    Range 0..1. Needs: draws, nli:sentences. Source: Manakul et al. 2023 (SelfCheckGPT-NLI), the
    draw as premise. Read: 1 = the draws contradict every sentence.
    """
    k = len(the_draws(samples))
    entails = recorded_table(samples, "sentence_entail", (-1, k))
    return 1 - support(entails, recorded_table(samples, "sentence_contra", entails.shape))


def luq(samples: Samples) -> float:
    """1 - mean over sentences of the mean over draws of P(entails) / (P(entails) + P(contradicts)).

    Range 0..1. Needs: draws, nli:sentences. Source: Zhang et al. 2024 (LUQ, sentence level). Read:
    0 = every draw supports every sentence. Equals selfcheck_nli; sayso offers both
    names.
    """
    return selfcheck_nli(samples)


def selfcheck_prompt(samples: Samples) -> float:
    """Mean over sentences and draws of a model's reply: supported 0, not supported 1, n/a 1/2.

    Range 0..1. Needs: support. Source: Manakul et al. 2023 (SelfCheckGPT-Prompt). Read: 1 = no draw
    supports any sentence.
    """
    if not samples.support or not all(samples.support):
        raise NoEvidence("no support was recorded")
    replies = [reply for row in samples.support for reply in row]
    unread = [reply for reply in replies if reply not in _SUPPORT]
    if unread:
        raise NoEvidence(f"a reply on support is {unread[0]!r}, expected yes, no or n/a")
    return float(np.mean([_SUPPORT[reply] for reply in replies]))


def _surprise(samples: Samples) -> list[float]:
    """How unlikely each word of the answer is among the words of draws and answer."""
    return made_once(samples, "surprise", lambda: _surprise_of_words(samples))


def _surprise_of_words(samples: Samples) -> list[float]:
    words = _WORD.findall(the_answer(samples).text.casefold())
    if not words:
        raise NoEvidence("the answer is empty: no words to score")
    counts = Counter(words)
    for draw in the_draws(samples):
        counts.update(_WORD.findall(draw.text.casefold()))
    total = sum(counts.values())
    return [-math.log(counts[word] / total) for word in words]


def selfcheck_ngram(samples: Samples) -> float:
    """Mean surprise of the answer's words under the unigram counts of draws and answer.

    Range 0..inf. Needs: answer, draws. Source: Manakul et al. 2023 (SelfCheckGPT, unigram, avg).
    Read: high if the answer has words that the samples do not repeat.
    """
    return mean(np.asarray(_surprise(samples)))


def selfcheck_ngram_max(samples: Samples) -> float:
    """Largest surprise of a word of the answer under the unigram counts of draws and answer.

    Range 0..inf. Needs: answer, draws. Source: Manakul et al. 2023 (SelfCheckGPT, unigram, max).
    Read: one word that no sample repeats makes it high.
    """
    return max(_surprise(samples))

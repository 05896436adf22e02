"""Uncertainty scores: recorded evidence in, one number out, higher = less certain.

Every score is a function of :class:`Samples` and stands in :data:`SCORES` with what it needs. A
new one is one function and one line there; nothing here owns, loads or asks a model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

import numpy as np

from sayso.records import InputError, Score
from sayso.scores import asked, consistency, entropy, graph, likelihood
from sayso.scores.entropy import discrete_semantic_entropy as discrete_semantic_entropy
from sayso.scores.entropy import naive_entropy as naive_entropy
from sayso.scores.entropy import num_sets as num_sets
from sayso.scores.entropy import semantic_entropy as semantic_entropy
from sayso.scores.evidence import Answer as Answer
from sayso.scores.evidence import NoEvidence as NoEvidence
from sayso.scores.evidence import Samples as Samples
from sayso.scores.evidence import answer_of as answer_of
from sayso.scores.p_ik import Probe as Probe
from sayso.scores.p_ik import cross_fit as cross_fit
from sayso.scores.p_ik import cross_fit_stored as cross_fit_stored
from sayso.scores.p_ik import fit as fit


class Method(NamedTuple):
    """A score and the evidence it needs; its docstring says formula, range, source, reading."""

    score: Callable[[Samples], float]
    needs: tuple[str, ...]


_SE = ("draws", "draws.logprobs", "clusters")
_NAIVE = ("draws", "draws.logprobs")
_NLI = ("draws", "nli")
_SIMILAR = ("draws", "similarity")

#: Every score by name.
SCORES: dict[str, Method] = {
    # baselines
    "length_words": Method(likelihood.length_words, ("answer",)),
    "length_tokens": Method(likelihood.length_tokens, ("logprobs",)),
    # the answer's own tokens
    "sequence_probability": Method(likelihood.sequence_probability, ("logprobs",)),
    "perplexity": Method(likelihood.perplexity, ("logprobs",)),
    "mean_token_entropy": Method(likelihood.mean_token_entropy, ("entropies",)),
    "max_token_entropy": Method(likelihood.max_token_entropy, ("entropies",)),
    "min_token_probability": Method(likelihood.min_token_probability, ("logprobs",)),
    "probability_margin": Method(likelihood.probability_margin, ("margins",)),
    "self_certainty": Method(likelihood.self_certainty, ("self_certainty",)),
    "renyi_divergence": Method(likelihood.renyi_divergence, ("renyi",)),
    "fisher_rao": Method(likelihood.fisher_rao, ("renyi",)),
    "pmi": Method(likelihood.pmi, ("logprobs", "unconditional")),
    "conditional_pmi": Method(
        likelihood.conditional_pmi, ("logprobs", "entropies", "unconditional")
    ),
    # several draws
    "naive_entropy": Method(
        entropy.naive("mc_norm", "-(mean over draws of the mean token log-probability)."), _NAIVE
    ),
    "naive_entropy_sum": Method(
        entropy.naive("mc_sum", "-(mean over draws of the summed token log-probability)."), _NAIVE
    ),
    "naive_entropy_eq4": Method(
        entropy.naive("eq4", "-sum P log P over the different strings drawn."), _NAIVE
    ),
    "mc_mean_token_entropy": Method(likelihood.mc_mean_token_entropy, ("draws", "draws.entropies")),
    # meanings: estimator, then sum = not length-normalized, unique = each string once
    "semantic_entropy": Method(entropy.semantic("rao", True, False), _SE),
    "semantic_entropy_unique": Method(entropy.semantic("rao", True, True), _SE),
    "semantic_entropy_sum": Method(entropy.semantic("rao", False, False), _SE),
    "semantic_entropy_sum_unique": Method(entropy.semantic("rao", False, True), _SE),
    "semantic_entropy_mc": Method(entropy.semantic("mc", True, False), _SE),
    "semantic_entropy_mc_unique": Method(entropy.semantic("mc", True, True), _SE),
    "semantic_entropy_mc_sum": Method(entropy.semantic("mc", False, False), _SE),
    "semantic_entropy_mc_sum_unique": Method(entropy.semantic("mc", False, True), _SE),
    "semantic_entropy_direct": Method(entropy.semantic("direct", False, True), _SE),
    "discrete_semantic_entropy": Method(entropy.discrete, ("draws", "clusters")),
    "num_sets": Method(entropy.sets, ("draws", "clusters")),
    "semantic_density": Method(
        consistency.semantic_density, ("answer", "draws", "draws.logprobs", "nli:answer")
    ),
    "kernel_language_entropy": Method(graph.kernel_language_entropy, _NLI),
    # graphs of draws
    "eigv_entailment": Method(graph.eigenvalues("entailment"), _NLI),
    "eigv_contradiction": Method(graph.eigenvalues("contradiction"), _NLI),
    "eigv_similarity": Method(graph.eigenvalues("similarity"), _SIMILAR),
    "degree_entailment": Method(graph.degree("entailment"), _NLI),
    "degree_contradiction": Method(graph.degree("contradiction"), _NLI),
    "degree_similarity": Method(graph.degree("similarity"), _SIMILAR),
    "eccentricity_entailment": Method(graph.eccentricity("entailment"), _NLI),
    "eccentricity_contradiction": Method(graph.eccentricity("contradiction"), _NLI),
    "eccentricity_similarity": Method(graph.eccentricity("similarity"), _SIMILAR),
    "lexical_similarity": Method(graph.lexical_similarity, _SIMILAR),
    "luq_draws": Method(graph.luq_draws, _NLI),
    # the answer against the draws
    "exact_match_rate": Method(consistency.exact_match_rate, ("answer", "draws")),
    "noncontradiction": Method(consistency.noncontradiction, ("answer", "draws", "nli:answer")),
    "entailment_consistency": Method(
        consistency.entailment_consistency, ("answer", "draws", "nli:answer")
    ),
    "selfcheck_nli": Method(consistency.selfcheck_nli, ("draws", "nli:sentences")),
    "luq": Method(consistency.luq, ("draws", "nli:sentences")),
    "selfcheck_prompt": Method(consistency.selfcheck_prompt, ("support",)),
    "selfcheck_ngram": Method(consistency.selfcheck_ngram, ("answer", "draws")),
    "selfcheck_ngram_max": Method(consistency.selfcheck_ngram_max, ("answer", "draws")),
    "cocoa_probability": Method(
        likelihood.cocoa_probability, ("logprobs", "draws", "similarity:answer")
    ),
    "cocoa_perplexity": Method(
        likelihood.cocoa_perplexity, ("logprobs", "draws", "similarity:answer")
    ),
    "cocoa_entropy": Method(likelihood.cocoa_entropy, ("entropies", "draws", "similarity:answer")),
    # asked
    "p_true": Method(asked.p_true, ("ptrue",)),
    "p_true_few": Method(asked.p_true_few, ("ptrue:few",)),
    "p_true_raw": Method(asked.p_true_raw, ("ptrue",)),
    "p_true_sampled": Method(asked.p_true_sampled, ("said_true",)),
    "verbalized": Method(
        asked.verbalized("one_step", "asked together with the answer"), ("stated:one_step",)
    ),
    "verbalized_two_step": Method(
        asked.verbalized("two_step", "asked after the answer"), ("stated:two_step",)
    ),
    "verbalized_two_step_reasoned": Method(
        asked.verbalized("two_step_reasoned", "asked after the answer, with reasons first"),
        ("stated:two_step_reasoned",),
    ),
    "verbalized_top_k": Method(
        asked.verbalized("top_k", "that of the best of several guesses"), ("stated:top_k",)
    ),
    "judge_panel": Method(asked.judge_panel, ("judged",)),
}

#: Scores that learn from rows with known outcomes: fit(features, incorrect) -> probe(features).
FITTED: dict[str, Callable[..., Probe]] = {"p_ik": fit}


def choose(
    methods: Iterable[str] | Mapping[str, Method] | None = None,
) -> Mapping[str, Method]:
    """Return the methods by name (default all of :data:`SCORES`); unknown names are an error.

    One text is a name, or several with commas between them.
    """
    if methods is None:
        return SCORES
    if isinstance(methods, Mapping):
        return methods
    names = methods.split(",") if isinstance(methods, str) else list(methods)
    names = [name.strip() for name in names if name.strip()]
    unknown = [name for name in names if name not in SCORES]
    if unknown:
        near = get_close_matches(unknown[0], SCORES, n=3)
        hint = f"did you mean {' or '.join(near)}? There are" if near else "expected some of"
        raise InputError(
            f"no score is called {', '.join(map(repr, unknown))}: {hint} {', '.join(SCORES)}"
        )
    return {name: SCORES[name] for name in names}


def needs(methods: Iterable[str] | Mapping[str, Method] | None = None) -> tuple[str, ...]:
    """Return the union of the evidence that methods need, sorted."""
    return tuple(sorted({need for method in choose(methods).values() for need in method.needs}))


def score_one(
    samples: Samples, methods: Iterable[str] | Mapping[str, Method] | None = None
) -> dict[str, Score]:
    """Return every score of one question; without its evidence a value of ``None`` and why.

    A value that is not finite is none either.
    """
    found = {}
    for name, method in choose(methods).items():
        value = value_of(method, samples)
        if isinstance(value, str):
            found[name] = Score(samples.target, name, None, value)
        else:
            found[name] = Score(samples.target, name, value)
    return found


def value_of(method: Method, samples: Samples) -> float | str:
    """Return the value of one score, or why there is none: the one way to compute any.

    Numbers too large for a float make the score infinite, which is no value, and no warning.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            value = float(method.score(samples))
    except NoEvidence as reason:
        return str(reason)
    except OverflowError:
        value = math.inf
    return value if math.isfinite(value) else f"the value is {value}"


def score_many(
    samples: Iterable[Samples], methods: Sequence[str] | Mapping[str, Method] | None = None
) -> Iterator[dict[str, Score]]:
    """Yield :func:`score_one` of each question as it comes, so that memory stays flat."""
    chosen = choose(methods)
    for one in samples:
        yield score_one(one, chosen)


__all__ = [
    "FITTED",
    "SCORES",
    "Answer",
    "Method",
    "NoEvidence",
    "Probe",
    "Samples",
    "answer_of",
    "choose",
    "cross_fit",
    "cross_fit_stored",
    "discrete_semantic_entropy",
    "fit",
    "naive_entropy",
    "needs",
    "num_sets",
    "score_many",
    "score_one",
    "semantic_entropy",
    "value_of",
]

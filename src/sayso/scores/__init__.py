"""Uncertainty scores: recorded evidence in, one number out, higher = less certain.

Every score is a function of :class:`Samples` and stands in :data:`SCORES` with the evidence that it
needs. Nothing here owns, loads or asks a model: :mod:`sayso.scores.collect` finds the evidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import NamedTuple

import numpy as np

from sayso.harmless import line
from sayso.plugins import Plugin, find_plugin, plugin_names
from sayso.records import InputError, Score, suggestion
from sayso.scores import consistency, elicited, entropy, graph, likelihood, relevance
from sayso.scores.entropy import (
    discrete_semantic_entropy,
    naive_entropy,
    num_sets,
    semantic_entropy,
)
from sayso.scores.evidence import Answer, NoEvidence, Samples, answer_of, the_answer
from sayso.scores.p_ik import P_IK, FittedProbe, cross_fit_probe, cross_fit_stored, fit_p_ik
from sayso.scores.text_only import TEXT_ONLY

__all__ = [
    "SCORES",
    "Answer",
    "FittedProbe",
    "Method",
    "NoEvidence",
    "Samples",
    "answer_of",
    "choose",
    "cross_fit_probe",
    "cross_fit_stored",
    "discrete_semantic_entropy",
    "fit_p_ik",
    "naive_entropy",
    "num_sets",
    "score_one",
    "semantic_entropy",
    "values_of",
]  # fmt: skip


class Method(NamedTuple):
    """A score and the evidence it needs; its docstring says formula, range, source, reading."""

    score: Callable[[Samples], float | None]
    needs: tuple[str, ...]


#: Significant digits of a score.
DIGITS = 12

_SE = ("draws", "draws.logprobs", "clusters")
_NAIVE = ("draws", "draws.logprobs")
_NLI = ("draws", "nli")
_THREE = (*_NLI, "contradiction")
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
    "token_sar": Method(relevance.token_sar, ("logprobs", "relevance")),
    "mars": Method(relevance.mars, ("logprobs", "importance")),
    "ccp": Method(relevance.ccp, ("logprobs", "nli:alternatives")),
    # several draws
    "naive_entropy": Method(entropy.naive("mc_norm"), _NAIVE),
    "naive_entropy_sum": Method(entropy.naive("mc_sum"), _NAIVE),
    "naive_entropy_eq4": Method(entropy.naive("eq4"), _NAIVE),
    "mc_mean_token_entropy": Method(likelihood.mc_mean_token_entropy, ("draws", "draws.entropies")),
    "sentence_sar": Method(relevance.sentence_sar, ("draws", "draws.logprobs", "similarity")),
    "sar": Method(relevance.sar, ("draws", "draws.logprobs", "draws.relevance", "similarity")),
    # meanings: estimator; sum = log-likelihoods are summed over tokens, unique = each string once
    "semantic_entropy": Method(entropy.semantic("rao"), _SE),
    "semantic_entropy_unique": Method(entropy.semantic("rao", unique=True), _SE),
    "semantic_entropy_sum": Method(entropy.semantic("rao", length_norm=False), _SE),
    "semantic_entropy_sum_unique": Method(
        entropy.semantic("rao", length_norm=False, unique=True), _SE
    ),
    "semantic_entropy_mc": Method(entropy.semantic("mc"), _SE),
    "semantic_entropy_mc_unique": Method(entropy.semantic("mc", unique=True), _SE),
    "semantic_entropy_mc_sum": Method(entropy.semantic("mc", length_norm=False), _SE),
    "semantic_entropy_mc_sum_unique": Method(
        entropy.semantic("mc", length_norm=False, unique=True), _SE
    ),
    "semantic_entropy_direct": Method(
        entropy.semantic("direct", length_norm=False, unique=True), _SE
    ),
    "discrete_semantic_entropy": Method(entropy.discrete, ("draws", "clusters")),
    "num_sets": Method(entropy.sets, ("draws", "clusters")),
    "semantic_density": Method(
        consistency.semantic_density,
        ("answer", "draws", "draws.logprobs", "nli:answer", "contradiction"),
    ),
    "kernel_language_entropy": Method(graph.kernel_language_entropy, _THREE),
    # graphs of draws
    "eigv_entailment": Method(graph.eigenvalues("entailment"), _NLI),
    "eigv_contradiction": Method(graph.eigenvalues("contradiction"), _THREE),
    "eigv_similarity": Method(graph.eigenvalues("similarity"), _SIMILAR),
    "degree_entailment": Method(graph.degree("entailment"), _NLI),
    "degree_contradiction": Method(graph.degree("contradiction"), _THREE),
    "degree_similarity": Method(graph.degree("similarity"), _SIMILAR),
    "eccentricity_entailment": Method(graph.eccentricity("entailment"), _NLI),
    "eccentricity_contradiction": Method(graph.eccentricity("contradiction"), _THREE),
    "eccentricity_similarity": Method(graph.eccentricity("similarity"), _SIMILAR),
    "lexical_similarity": Method(graph.lexical_similarity, _SIMILAR),
    "luq_draws": Method(graph.luq_draws, _THREE),
    # the answer against the draws
    "exact_match_rate": Method(consistency.exact_match_rate, ("answer", "draws")),
    "noncontradiction": Method(
        consistency.noncontradiction, ("answer", "draws", "nli:answer", "contradiction")
    ),
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
    # what the model, or a judge, says of the answer
    "p_true": Method(elicited.p_true, ("ptrue",)),
    "p_true_few": Method(elicited.p_true_few, ("ptrue:few",)),
    "p_true_raw": Method(elicited.p_true_raw, ("ptrue",)),
    "p_true_sampled": Method(elicited.p_true_sampled, ("said_true",)),
    "verbalized": Method(elicited.verbalized("one_step"), ("stated:one_step",)),
    "verbalized_two_step": Method(elicited.verbalized("two_step"), ("stated:two_step",)),
    "verbalized_two_step_reasoned": Method(
        elicited.verbalized("two_step_reasoned"), ("stated:two_step_reasoned",)
    ),
    "verbalized_top_k": Method(elicited.verbalized("top_k"), ("stated:top_k",)),
    "judge_panel": Method(elicited.judge_panel, ("judged",)),
}

#: the name that stands for every score of ours
ALL = "all"
#: names that no score of a user's may have: those of ours, and of what tables show beside them
OURS = (*SCORES, P_IK, TEXT_ONLY, "words", ALL)
#: what a caller chooses: names, or scores of his own by name
Choice = Iterable[str] | Mapping[str, "Method | Callable[[Samples], float | None]"] | None


def choose(methods: Choice = None) -> Mapping[str, Method]:
    """Return the methods by name (default all of :data:`SCORES`); unknown names are an error.

    One text is a name, or several with commas between them; ``all`` stands for those of ours. A
    function in a mapping is a score that needs the answer alone.
    """
    if methods is None or methods is SCORES:
        return SCORES
    if isinstance(methods, Mapping):
        return {name: _own_method(name, given) for name, given in methods.items()}
    brought = plugins_among(methods)
    return {
        name: SCORES[name] if plugin is None else _own_method(name, plugin.load())
        for name, plugin in brought.items()
    }


class UnknownScore(InputError):  # noqa: N818 - a mistake of a user, and nothing else
    """No score of this name is here; the run that has it may come from another machine."""


def names_in(methods: Iterable[str]) -> list[str]:
    """Return the names of scores, of a text with commas or a list. InputError for anything else."""
    every = methods.split(",") if isinstance(methods, str) else methods
    if not isinstance(every, Iterable) or not all(isinstance(name, str) for name in every):
        raise InputError(
            "scores are chosen by name; give functions in a mapping: methods={'mine': function}, "
            "or {**sayso.scores.SCORES, 'mine': function} beside those of sayso"
        )
    return [name.strip() for name in every if name.strip()]


def plugins_among(names: Iterable[str]) -> dict[str, Plugin | None]:
    """Return the plug-in behind each of some names, not imported; ``None`` for scores of ours.

    Raises UnknownScore.
    """
    each = [one for name in names_in(names) for one in (SCORES if name == ALL else (name,))]
    found = {name: find_plugin("scores", name, OURS) for name in each}
    unknown = [n for n, plugin in found.items() if n not in SCORES and (plugin is None or ":" in n)]
    if unknown:
        meant = suggestion(unknown[0], SCORES) or f"expected some of {', '.join(SCORES)}"
        raise UnknownScore(
            f"no score is called {', '.join(map(repr, unknown))}: {meant}{plugin_names('scores')}"
        )
    return found


#: every kind of evidence that a score of ours needs
_KNOWN = frozenset(need for method in SCORES.values() for need in method.needs)


def _own_method(name: str, given: object) -> Method:
    """Return a score that a caller brings: a method, or a function. Raises InputError."""
    method = given if isinstance(given, Method) else Method(given, ("answer",))  # type: ignore[arg-type]
    if SCORES.get(name) == method:
        return method
    if name in OURS:
        raise InputError(f"sayso has a score {name!r} of its own: give yours another name")
    if not callable(method.score):
        raise InputError(
            f"score {name!r} is of type {type(given).__name__}; expected a function of "
            "sayso.scores.Samples that returns a number, or None; docs/python.md has an example"
        )
    needs = (method.needs,) if isinstance(method.needs, str) else method.needs
    if unknown := [need for need in needs if need not in _KNOWN]:
        raise InputError(
            f"score {name!r} needs {unknown[0]!r}; expected some of {', '.join(sorted(_KNOWN))}"
        )
    return method._replace(needs=tuple(needs))


def score_one(samples: Samples, methods: Choice = None) -> dict[str, Score]:
    """Return every score of one question; ``None`` and why where evidence is missing.

    A value that is not finite is ``None`` too.
    """
    values = values_of(choose(methods), samples)
    return {
        name: Score(samples.target, name, None, value)
        if isinstance(value, str)
        else Score(samples.target, name, value)
        for name, value in values.items()
    }


def values_of(methods: Mapping[str, Method], samples: Samples) -> dict[str, float | str]:
    """Return the value of each score, or why there is none. Every score is computed here.

    It is rounded to ``DIGITS`` significant digits: the last ones depend on the order of the draws
    and on the processor, and would rank questions that tie. A number too large for a float is no
    value, and gives no warning.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return {name: _value_of(name, method, samples) for name, method in methods.items()}


def _value_of(name: str, method: Method, samples: Samples) -> float | str:
    ours = name in SCORES
    try:
        if not ours and "answer" in method.needs:
            the_answer(samples)
        value: object = method.score(samples)
    except NoEvidence as reason:
        return str(reason)
    except OverflowError:
        value = math.inf
    except (Exception, SystemExit) as error:
        if ours:
            raise
        raise InputError(
            f"score {name!r} failed on {samples.target or 'an answer'}: "
            f"{type(error).__name__}: {line(str(error), 200)}"
            + " (what a row may lack is named in Method(function, needs))"
            * ("None" in str(error))
        ) from error
    if value is None:
        return "the function returned None"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(
            f"score {name!r} returned {value!r:.80} ({type(value).__name__}) for "
            f"{samples.target or 'an answer'}; expected a number, or None"
        )
    try:
        rounded = float(f"{float(value):.{DIGITS}g}")
    except OverflowError:
        rounded = math.inf
    return rounded if math.isfinite(rounded) else f"the value is {rounded}"

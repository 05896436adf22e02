"""Elicited scores: what the model, or a judge, says when it is asked about the answer."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sayso.scores.evidence import NoEvidence, Samples, fraction

#: How a confidence in words was asked for, for docstrings.
_WAYS = {
    "one_step": "asked for together with the answer",
    "two_step": "asked for after the answer",
    "two_step_reasoned": "asked for after the answer, with reasons first",
    "top_k": "for the best of several guesses",
}
#: Below this the model answered neither True nor False, and the ratio says little.
LEAST_MASS = 0.5


def _true_false(recorded: tuple[float, float] | None) -> tuple[float, float]:
    if recorded is None:
        raise NoEvidence("it is not known what the model says on whether its answer is true")
    yes, no = (float(x) for x in recorded)
    if not (math.isfinite(yes) and math.isfinite(no)) or yes < 0 or no < 0 or yes + no > 1 + 1e-6:
        raise NoEvidence(f"P(True) and P(False) are {yes} and {no}: no probabilities")
    return yes, no


def _normalized(yes: float, no: float) -> float:
    if yes + no <= 0:
        raise NoEvidence("the model gave no probability to either True or False")
    return 1 - yes / (yes + no)


def p_true(samples: Samples) -> float:
    """1 - P(True) / (P(True) + P(False)).

    Range 0..1. Needs: ptrue. Source: Kadavath et al. 2022, normalized over the two options. Read:
    the model's own probability that its answer is false.
    """
    return _normalized(*_true_false(samples.true_false))


def p_true_few(samples: Samples) -> float:
    """1 - P(True) / (P(True) + P(False)), asked after labeled examples of other questions.

    Range 0..1. Needs: ptrue:few. Source: Kadavath et al. 2022 with examples, the paper's P(True).
    Read: like p_true, but calibrated by labeled answers.
    """
    return _normalized(*_true_false(samples.true_false_few))


def p_true_raw(samples: Samples) -> float:
    """1 - P(True), not normalized against P(False).

    Range 0..1. Needs: ptrue. Source: Kadavath et al. 2022 as in the official code. Read: like
    p_true, but also high if the model says neither.
    """
    return 1 - _true_false(samples.true_false)[0]


def p_true_sampled(samples: Samples) -> float:
    """1 - share of the readable sampled replies that called the answer true.

    Range 0..1. Needs: said_true. Source: Tian et al. 2023 (sampled P(True)). Read: like p_true,
    but without log-probabilities.
    """
    replies = [reply for reply in samples.said_true or () if reply is not None]
    if not replies:
        raise NoEvidence("no readable reply on whether the answer is true")
    return 1 - sum(replies) / len(replies)


def verbalized(way: str) -> Callable[[Samples], float]:
    """Return 1 - the confidence that the model stated when asked in one way."""

    def score(samples: Samples) -> float:
        return 1 - fraction(samples.stated.get(way), f"stated confidence ({way})")

    score.__doc__ = f"""1 - the model's stated confidence, {_WAYS[way]}.

    Range 0..1. Needs: stated:{way}. Source: Tian et al. 2023, arXiv 2305.14975. Read: the model's
    own statement. It has few distinct values, so there are many ties.
    """
    return score


def judge_panel(samples: Samples) -> float:
    """1 - mean over judges of P(correct); the judges see no gold answer.

    Range 0..1. Needs: judged. Source: Verga et al. 2024 (panels). Read: judges without a verdict
    are left out. A judge of the model's own family shares its errors.
    """
    verdicts = [
        fraction(value, f"judgment of {name}")
        for name, value in samples.judged.items()
        if value is not None
    ]
    if not verdicts:
        raise NoEvidence("no judge gave a verdict")
    return float(1 - np.mean(verdicts))

"""What a score may see: one question's recorded evidence, and the checks before it is used.

Collectors record evidence once; scores are functions of it. Evidence that is missing, or holds a
number that is not finite, gives no score and a reason, never a default: a NaN must not become
"most certain". A new kind of evidence is a field of :class:`Samples` and a collector
(:data:`sayso.scores.collect.EVIDENCE`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.metrics.arrays import Floats
from sayso.records import Generation, Request

#: Log-probabilities this far above 0 are rounding, more is a mistake.
ABOVE_ZERO = 1e-4
#: From so many tokens on, log-probabilities that are all exactly 0 are no evidence.
FILLED_IN = 5
#: what is recorded of each token, and what collectors find out about it
ARRAYS = ("logprobs", "entropies", "margins", "self_certainty", "renyi", "unconditional")
FOUND = ("relevance", "importance", "compared")

Made = TypeVar("Made")


class NoEvidence(Exception):  # noqa: N818
    """A score cannot be computed; the message says what is missing or not usable."""


class Answer(msgspec.Struct, frozen=True):
    """One answer: its text and, per token, what was recorded (natural log, raw distribution).

    ``unconditional``: log-probabilities of the same tokens without the question. ``relevance``: how
    much the text loses with the word of a token, ``importance``: each token's part of the words
    that say something. ``compared`` (T, any): (log-probability, relation) of likely other
    tokens, where the relation of the text with the other token to the text is "entailment",
    "neutral" or "contradiction". ``problem``: why there is no usable answer (a failed request).
    """

    text: str
    logprobs: tuple[float, ...] | None = None
    entropies: tuple[float, ...] | None = None
    margins: tuple[float, ...] | None = None
    self_certainty: tuple[float, ...] | None = None
    renyi: tuple[float, ...] | None = None
    unconditional: tuple[float, ...] | None = None
    relevance: tuple[float, ...] | None = None
    importance: tuple[float, ...] | None = None
    compared: tuple[tuple[tuple[float, str], ...], ...] | None = None
    problem: str | None = None


class Samples(msgspec.Struct, frozen=True, eq=False, dict=True):
    """Everything recorded about one question; ``None`` = not collected.

    ``answer`` is the scored answer (low temperature), ``draws`` k others at T=1. ``clusters`` (k,)
    meaning ids of the draws. NLI probabilities, question-conditioned: ``entail`` and ``contra``
    (k, k), [i, j] = draw i entails / contradicts draw j; ``answer_entail`` and ``answer_contra``
    (k, 2), column 0 from draw to answer, column 1 from answer to draw; ``sentence_entail`` and
    ``sentence_contra`` (J, k), from draw to sentence j of the answer. ``similarity`` (k, k) and
    ``answer_similarity`` (k,) are any 0..1 similarity of texts. ``true_false`` are the
    probabilities of the answers True and False when asked, ``true_false_few`` those when asked
    behind labeled examples; ``said_true`` sampled replies (``None`` = unread); ``support`` (J, k)
    of "yes" / "no" / "n/a"; ``stated`` the confidences that the model put into words, 0..1, by way
    of asking; ``judged`` P(correct) by judge.
    """

    target: str = ""
    answer: Answer | None = None
    draws: tuple[Answer, ...] = ()
    clusters: tuple[int, ...] | None = None
    entail: Floats | None = None
    contra: Floats | None = None
    answer_entail: Floats | None = None
    answer_contra: Floats | None = None
    sentence_entail: Floats | None = None
    sentence_contra: Floats | None = None
    similarity: Floats | None = None
    answer_similarity: Floats | None = None
    true_false: tuple[float, float] | None = None
    true_false_few: tuple[float, float] | None = None
    said_true: tuple[bool | None, ...] | None = None
    support: tuple[tuple[str, ...], ...] | None = None
    stated: Mapping[str, float | None] = msgspec.field(default_factory=dict)
    judged: Mapping[str, float | None] = msgspec.field(default_factory=dict)
    question: str = ""


class Case:
    """One question with its answers, and the evidence that collectors have put there so far.

    ``request`` is the request that got the answers. ``arrays`` and ``draw_arrays`` hold the token
    arrays of the answer and of each draw by name (as in :class:`~sayso.records.Generation`),
    ``evidence`` the rest by the names of :class:`Samples`. ``reasons`` says, by need, why
    evidence could not be collected.
    """

    def __init__(
        self, question: str, request: Request, answer: str | None, draws: Sequence[str] = ()
    ) -> None:
        self.question = question
        self.request = request
        self.answer = answer
        self.draws = tuple(draws)
        self.arrays: dict[str, Any] = {}
        self.draw_arrays: list[dict[str, Any]] = [{} for _ in self.draws]
        self.evidence: dict[str, Any] = {}
        self.reasons: dict[str, str] = {}


def samples_of(target: str, case: Case, text: str | None) -> Samples:
    """Return the evidence of a case as scores see it; ``text`` is the answer, even a blank one."""
    answer = None
    if text is not None:
        problem = "empty" if case.answer is None else None
        arrays = {name: case.arrays.get(name) for name in (*ARRAYS, *FOUND)}
        answer = Answer(text, **arrays, problem=problem)
    draws = tuple(
        Answer(draw, **{n: arrays.get(n) for n in ("logprobs", "entropies", "relevance")})
        for draw, arrays in zip(case.draws, case.draw_arrays, strict=True)
    )
    return Samples(
        target=target, answer=answer, draws=draws, question=case.question, **case.evidence
    )


def answer_of(generation: Generation, logprob_kind: str = "model") -> Answer:
    """Return the evidence in one stored answer.

    Arrays of another kind of distribution than ``logprob_kind`` ("model" = untempered and
    untruncated, "sampling" = what was drawn from) are left out: mixing them ranks answers by their
    sampling settings.
    """
    right = generation.logprob_kind == logprob_kind
    return Answer(
        text=generation.text,
        logprobs=generation.logprobs if right else None,
        entropies=generation.entropies if right else None,
        margins=generation.margins if right else None,
        self_certainty=generation.self_certainty if right else None,
        renyi=generation.renyi if right else None,
        problem=generation.problem,
    )


def the_answer(samples: Samples) -> Answer:
    """Return the scored answer; :class:`NoEvidence` if there is none."""
    if samples.answer is None:
        raise NoEvidence("no answer was recorded")
    if samples.answer.problem is not None:
        raise NoEvidence(f"the answer has problem {samples.answer.problem!r}")
    return samples.answer


def the_draws(samples: Samples, least: int = 1) -> tuple[Answer, ...]:
    """Return the draws, all usable and at least ``least``."""
    if len(samples.draws) < least:
        raise NoEvidence(f"needs at least {least} draws, got {len(samples.draws)}")
    for i, draw in enumerate(samples.draws):
        if draw.problem not in (None, "empty"):  # an empty draw is one way to answer
            raise NoEvidence(f"draw {i} has problem {draw.problem!r}")
    return samples.draws


def array(answer: Answer, name: str, who: str = "the answer") -> Floats:
    """Return a per-token array (T,) of an answer, finite and not empty."""
    values = getattr(answer, name)
    if values is None:
        raise NoEvidence(f"{who} has no {name}")
    row = np.asarray(values, dtype=np.float64)
    if not row.size:
        raise NoEvidence(f"{who} has no tokens to score")
    if _is_sound(row, name):
        return row
    wrong = np.flatnonzero(~np.isfinite(row))
    if wrong.size:
        raise NoEvidence(f"{who}: {name} of token {wrong[0]} is {row[wrong[0]]}")
    if row.max() <= ABOVE_ZERO:
        raise NoEvidence(f"{who}: all log-probabilities are exactly 0, as servers fill them in")
    raise NoEvidence(f"{who}: a log-probability is above 0 ({row.max():.3g})")


def _is_sound(values: Floats, name: str) -> bool:
    """Whether values (at least one) are finite; log-probabilities not above 0, nor all 0 of many.

    Some servers send 0 for each token at temperature 0.
    """
    low, high = np.minimum.reduce(values), np.maximum.reduce(values)  # NaN where one is
    if name == "logprobs" and low == high == 0 and values.size >= FILLED_IN:
        return False
    most = ABOVE_ZERO if name in ("logprobs", "unconditional") else math.inf
    return bool(low > -math.inf and high <= most and high < math.inf)


def mean(values: Floats) -> float:
    """Return the mean of an array that is not empty, of whatever shape, as ``values.mean()``.

    Rows are short, and methods of arrays take several times as long as the sum itself.
    """
    return float(np.add.reduce(values, axis=None)) / values.size


def made_once(samples: Samples, key: Hashable, make: Callable[[], Made]) -> Made:
    """Return what several scores derive from the same evidence; it is made once, by its ``key``.

    What it is made of must not change, nor what is returned.
    """
    known: dict[Any, Any] = samples.__dict__
    if key not in known:
        known[key] = make()
    made: Made = known[key]
    return made


def answer_array(samples: Samples, name: str) -> Floats:
    """Return a per-token array (T,) of the answer."""
    return made_once(samples, ("answer_array", name), lambda: array(the_answer(samples), name))


def draw_arrays(samples: Samples, name: str) -> list[Floats]:
    """Return a per-token array of every draw."""

    def make() -> list[Floats]:
        draws = the_draws(samples)
        rows = [getattr(draw, name) for draw in draws]
        if all(isinstance(row, tuple) and row for row in rows):  # checked in one piece
            whole = np.asarray([*chain.from_iterable(rows)], dtype=np.float64)
            if _is_sound(whole, name):
                ends = [*accumulate(map(len, rows))]
                return [whole[a:b] for a, b in pairwise([0, *ends])]
        return [array(draw, name, f"draw {i}") for i, draw in enumerate(draws)]

    return made_once(samples, ("draw_arrays", name), make)


def the_clusters(samples: Samples) -> tuple[int, ...]:
    """Return the meaning ids of the draws."""
    draws = the_draws(samples)
    if samples.clusters is None:
        raise NoEvidence("the draws were not clustered by meaning")
    if len(samples.clusters) != len(draws):
        raise NoEvidence(f"{len(samples.clusters)} cluster ids for {len(draws)} draws")
    return samples.clusters


def recorded_table(samples: Samples, name: str, shape: tuple[int, ...]) -> Floats:
    """Return recorded probabilities or similarities of this shape, finite and 0..1.

    A -1 in ``shape`` stands for any length above 0.
    """
    recorded = getattr(samples, name)
    if recorded is None:
        raise NoEvidence(f"no {name} was recorded")
    values = np.asarray(recorded, dtype=np.float64)
    fits = values.ndim == len(shape) and all(
        have == want or (want == -1 and have > 0)
        for have, want in zip(values.shape, shape, strict=True)
    )
    if not fits:
        raise NoEvidence(f"{name} has shape {values.shape}, expected {shape}")
    if not values.size:
        return values
    low, high = np.minimum.reduce(values, axis=None), np.maximum.reduce(values, axis=None)
    if not (low > -math.inf and high < math.inf):  # nor for NaN
        raise NoEvidence(f"{name} contains a value that is not finite")
    if low < -1e-6 or high > 1 + 1e-6:
        raise NoEvidence(f"{name} contains a value outside 0..1")
    return values if low >= 0 and high <= 1 else np.clip(values, 0.0, 1.0)


def draw_table(samples: Samples, name: str, identical: float) -> Floats:
    """Return a (k, k) table in which equal strings have the value they have by definition.

    A string entails itself, whatever a model says.
    """

    def alike() -> NDArray[np.bool_]:
        texts = [draw.text.strip() for draw in the_draws(samples, 2)]
        return np.asarray([[a == b for b in texts] for a in texts], dtype=np.bool_)

    def make() -> Floats:
        same = made_once(samples, "same", alike)
        return np.asarray(np.where(same, identical, recorded_table(samples, name, same.shape)))

    return made_once(samples, ("draw_table", name, identical), make)


def fraction(value: float | None, name: str) -> float:
    """Return a recorded probability; :class:`NoEvidence` unless it is one."""
    if value is None:
        raise NoEvidence(f"no {name} was recorded")
    if not math.isfinite(value) or not 0 <= value <= 1:
        raise NoEvidence(f"{name} is {value}, expected 0..1")
    return float(value)

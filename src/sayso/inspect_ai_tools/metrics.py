"""Metrics of scores that no reducer has touched, with our intervals.

A metric of reduced scores sees numbers, in which abstaining is 0, as a wrong answer is. These see
every score of every epoch as it is. Each gives a value, ``…_lower`` and ``…_upper``: the ends of
its 95 % interval, with clusters resampled. A cluster is named by the metadata of a sample; else it
is the sample with all its epochs. What is undefined is left out, and logged with the reason at the
level "info", because Inspect computes metrics again and again while samples come in.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

import numpy as np
from inspect_ai.scorer import Metric, SampleScore, Value, metric
from numpy.typing import NDArray

from sayso.datasets.tools.inspect import ANSWERABLE
from sayso.inspect_ai_tools.reading import CLUSTER, RIGHT, SILENT, WRONG
from sayso.judges.judge import WITHHELD
from sayso.metrics.intervals import bootstrap_share
from sayso.protocols.declared import Rows, estimates_of
from sayso.protocols.selective.measure import declared_gap, declared_worth
from sayso.protocols.uncle.measure import rates_of_verdicts
from sayso.records import Estimate, Verdict

log = logging.getLogger(__name__)
LOWER, UPPER = "_lower", "_upper"
#: values that our scorers give
STANCES = ("committed", "hedged", *WITHHELD, "omitted")
OUTCOMES = {RIGHT: 1.0, WRONG: -1.0, SILENT: 0.0}
#: the metric by which tasks and logs are told first: UNCLE's J, or the abstention gap
J = "J"
#: as ``sayso run`` resamples
RESAMPLES, SEED = 1000, 0


@metric(name=J, scores="unreduced")
def answerability_j() -> Metric:
    """Return J: the share of unanswerable samples declined, minus that of answerable ones.

    It is 0 for a model that declines without a look at the question, and 1 for one that declines
    exactly where there is no answer: the abstention gap of ``sayso run selective``. Samples say in
    their metadata ``answerable`` what they are. Where draws say what is known, J is that of
    ``uncle_rates``.
    """

    def compute(scores: list[SampleScore]) -> Value:
        if any(_known(one) is not None for one in scores):
            return {}
        sides = [_answerable(one) for one in scores]
        told = [one for one, side in zip(scores, sides, strict=True) if side is not None]
        unanswerable = np.array([not side for side in sides if side is not None], dtype=np.bool_)
        if unanswerable.all() or not unanswerable.any():
            log.info(
                "sayso/J has no value: it needs answerable and unanswerable samples with a "
                "verdict; set %s to true or false in their metadata",
                ANSWERABLE,
            )
            return {}
        gap = declared_gap(_rows(told), _withheld(told, J), unanswerable)
        return _shown(estimates_of([gap], RESAMPLES, SEED), called=J)

    return compute


@metric(scores="unreduced")
def abstention_rate() -> Metric:
    """Return the share of answers that state no value: abstain, refuse, or ask back."""

    def compute(scores: list[SampleScore]) -> Value:
        withheld = _withheld(scores, "abstention_rate")
        return _share("abstention_rate", withheld > 0, np.ones(len(scores)), scores)

    return compute


@metric(scores="unreduced")
def answered_accuracy() -> Metric:
    """Return the share of right answers among the answers that state a value."""

    def compute(scores: list[SampleScore]) -> Value:
        worth = _worth(scores, "answered_accuracy")
        return _share("answered_accuracy", worth > 0, worth != 0, scores)

    return compute


@metric(scores="unreduced")
def right_minus_wrong() -> Metric:
    """Return the share of right answers minus that of wrong ones, among all samples.

    Below 0, never answering would have scored higher.
    """

    def compute(scores: list[SampleScore]) -> Value:
        if not scores:
            return {}
        worth = declared_worth(_rows(scores), _worth(scores, "right_minus_wrong"))
        return _shown(estimates_of([worth], RESAMPLES, SEED))

    return compute


@metric(scores="unreduced")
def uncle_rates() -> Metric:
    """Return UNCLE's rates, J among them, over known and unknown facts.

    The draws of the task ``sayso/uncle`` tell which facts are known; without them there is nothing
    to show.
    """

    def compute(scores: list[SampleScore]) -> Value:
        known = np.array([-1 if (k := _known(one)) is None else int(k) for one in scores])
        if not (known >= 0).any():
            return {}
        values = [_verdict(one).value for one in scores]
        rates = rates_of_verdicts(_rows(scores), known, values)
        return _shown(estimates_of(rates, RESAMPLES, SEED))

    return compute


# ---- columns of scores


def _rows(scores: Sequence[SampleScore]) -> Rows:
    """Return scores as rows that protocols declare numbers of."""
    names = _clusters(scores)
    return Rows(range(len(scores)), np.unique(names, return_inverse=True)[1], names)


def _clusters(scores: Sequence[SampleScore]) -> NDArray[np.str_]:
    told = ((one.sample_metadata or {}).get(CLUSTER) for one in scores)
    names = [
        f"sample {one.sample_id}" if cluster is None else f"cluster {cluster}"
        for one, cluster in zip(scores, told, strict=True)
    ]
    return np.array(names, dtype=np.str_)


def _told(score: SampleScore, name: str) -> object:
    return (score.score.metadata or {}).get(name)


def _answerable(score: SampleScore) -> bool | None:
    """Return whether a sample has an answer: by the scorer, which read it, else by its metadata."""
    told = _told(score, ANSWERABLE)
    if told is None:
        told = (score.sample_metadata or {}).get(ANSWERABLE)
    return told if isinstance(told, bool) else None


def _known(score: SampleScore) -> bool | None:
    told = _told(score, "known")
    return told if isinstance(told, bool) else None


def _verdict(score: SampleScore) -> Verdict:
    """Return stance and content of a score; the stance is its value, which people may have set."""
    content = _told(score, "content")
    return Verdict("", "", "", stance=score.score.value, content=content)  # type: ignore[arg-type]


def _withheld(scores: Sequence[SampleScore], name: str) -> NDArray[np.float64]:
    """Return 1 for an answer that states no value, else 0."""
    silent = dict.fromkeys(STANCES, 0.0) | dict.fromkeys((*WITHHELD, SILENT), 1.0)
    return _numbers(scores, {**silent, RIGHT: 0.0, WRONG: 0.0}, name)


def _worth(scores: Sequence[SampleScore], name: str) -> NDArray[np.float64]:
    return _numbers(scores, OUTCOMES, name)


def _numbers(
    scores: Sequence[SampleScore], values: dict[str, float], name: str
) -> NDArray[np.float64]:
    for one in scores:
        if not isinstance(one.score.value, str) or one.score.value not in values:
            raise ValueError(
                f"sayso/{name}: the score of sample {one.sample_id!r} is {one.score.value!r:.40}; "
                f"expected one of {', '.join(values)}"
            )
    return np.array([values[str(one.score.value)] for one in scores], dtype=np.float64)


# ---- what Inspect is told


def _share(
    name: str,
    top: NDArray[np.bool_],
    bottom: NDArray[np.float64] | NDArray[np.bool_],
    scores: Sequence[SampleScore],
) -> Value:
    return _shown([bootstrap_share(name, top, bottom, _clusters(scores), RESAMPLES, SEED)])


def _shown(
    estimates: Iterable[Estimate], called: str = ""
) -> dict[str, str | int | float | bool | None]:
    """Return values with the ends of their intervals, by name; what is undefined is left out.

    ``called`` is what Inspect calls a number that has another name with us.
    """
    told: dict[str, str | int | float | bool | None] = {}
    for found in estimates:
        name = called or found.name
        if found.value is None:
            log.info("sayso/%s has no value: %s", name, found.problem or "nothing to count")
            continue
        told[name] = float(found.value)
        if found.low is not None and found.high is not None:
            told[name + LOWER], told[name + UPPER] = float(found.low), float(found.high)
    return told

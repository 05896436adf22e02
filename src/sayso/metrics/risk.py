"""How good is a system that abstains where its score is high? Rank metrics of a score.

All take ``metric(uncertainty, incorrect, weights=None)``: ``uncertainty`` (n,) floats, higher =
less certain; ``incorrect`` (n,) 1 = wrong, 0 = right; NaN in either drops the row; ``weights``
(n,), or (B, n) and then the result is (B,), NaN where undefined. Without (B, n) weights the
result is a float, ``None`` where undefined (no rows, and what each docstring adds). A monotone
transform of the score changes nothing, and ties count in expectation, never by row order, except
where a docstring says otherwise.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sayso.metrics.ranks import Blocks, harmonic, steps, tie_blocks
from sayso.metrics.rates import Floats, divide
from sayso.records import InputError

RejectionKind = Literal["normalised", "official", "trapezoid"]

#: Penalties for a wrong answer at which utilities are printed (0: guessing costs nothing).
PENALTIES = (0.0, 1.0, 3.0, 9.0)


def auprc(
    uncertainty: ArrayLike, incorrect: ArrayLike, weights: ArrayLike | None = None
) -> float | Floats | None:
    """Return the area under precision-recall for finding the wrong answers, 0..1, higher = better.

    Average precision: sum over distinct scores, least certain first, of (recall step) x
    (precision). Blind scores get the share of wrong answers, so read it beside that.
    ``None`` for one class only.
    """
    blocks = tie_blocks(uncertainty, incorrect, weights)
    mass, wrong = blocks.mass[:, ::-1], blocks.loss[:, ::-1]
    total = wrong.sum(axis=1)
    both = (total > 0) & (mass.sum(axis=1) - total > 0)
    # A resample may have no weight in the first blocks: nothing recalled there, so no term.
    precision = np.nan_to_num(divide(np.cumsum(wrong, axis=1), np.cumsum(mass, axis=1)))
    value = divide((wrong * precision).sum(axis=1), total)
    return blocks.result(np.where(both, value, np.nan))


def aurac(
    uncertainty: ArrayLike,
    incorrect: ArrayLike,
    kind: RejectionKind = "normalised",
    weights: ArrayLike | None = None,
) -> float | Floats | None:
    """Return the area under the rejection-accuracy curve, higher = better.

    Farquhar et al. 2024 with their code's details (PROTOCOLS 3.B): the accuracy among answers
    whose score is at most the q-quantile (linear, ties kept), at 20 shares q from 0.1 to 1.
    ``official`` sums the 20 accuracies times the step, so that perfect answers get 0.947;
    ``trapezoid`` integrates (0.9 for perfect answers); ``normalised`` divides that by 0.9 (0..1).
    Blind scores get the accuracy. Weights count rows (the quantile sees how many there are).
    """
    if kind not in ("normalised", "official", "trapezoid"):
        raise InputError(f"kind of AURAC: got {kind!r}, expected normalised, official, trapezoid")
    blocks = tie_blocks(uncertainty, incorrect, weights)
    if not len(blocks.value):
        return blocks.result(np.full(len(blocks.mass), np.nan))
    shares = np.linspace(0.1, 1, 20)
    mass, wrong = steps(blocks)
    total = mass[:, -1:]
    # The interpolated quantile lies between the order statistics floor and ceil of (N-1)q, so
    # the answers at or below it are those up to the lower one, with its ties.
    position = np.floor(np.maximum(total - 1, 0) * shares + 1e-9)
    accuracy: Floats = np.full((len(mass), 20), np.nan)
    for row, at in enumerate(position):
        if total[row, 0] > 0:
            block = np.minimum(np.searchsorted(mass[row], at, side="right"), mass.shape[1] - 1)
            accuracy[row] = 1 - wrong[row, block] / mass[row, block]
    step = shares[1] - shares[0]
    if kind == "official":
        return blocks.result(accuracy.sum(axis=1) * step)
    area = (accuracy.sum(axis=1) - (accuracy[:, 0] + accuracy[:, -1]) / 2) * step
    return blocks.result(area if kind == "trapezoid" else area / 0.9)


def _area(blocks: Blocks) -> Floats:
    """The mean over k of the expected risk among the k most certain answers; (B,)."""
    mass, lost = steps(blocks)
    before, lost_before = mass - blocks.mass, lost - blocks.loss
    rate = np.nan_to_num(divide(blocks.loss, blocks.mass))
    # Inside a tie block starting after K answers with A wrong, the expected risk at K + j is
    # (A + rate j)/(K + j) = rate + (A - rate K)/(K + j), summed over j with harmonic numbers.
    extra = (lost_before - rate * before) * (harmonic(mass) - harmonic(before))
    return divide((rate * blocks.mass + extra).sum(axis=1), mass[:, -1])


def aurc(
    uncertainty: ArrayLike, incorrect: ArrayLike, weights: ArrayLike | None = None
) -> float | Floats | None:
    """Return the area under the risk-coverage curve, 0..1, lower = better.

    (1/n) sum_{k=1..n} (share of wrong answers among the k most certain), ties in expectation
    (Geifman et al. 2019). ``incorrect`` may be a loss 0..1. Weights count rows.
    """
    blocks = tie_blocks(uncertainty, incorrect, weights, binary=False)
    if not len(blocks.value):
        return blocks.result(np.full(len(blocks.mass), np.nan))
    return blocks.result(_area(blocks))


def prr(
    uncertainty: ArrayLike, incorrect: ArrayLike, weights: ArrayLike | None = None
) -> float | Floats | None:
    """Return the prediction-rejection ratio: 1 = oracle, 0 = random, negative = misleading.

    (area - random)/(oracle - random), where the area is the mean quality of the k most certain
    answers over k = 1..n, random is the mean quality and the oracle rejects the worst first
    (Malinin et al. 2017; Vashurin et al. 2025). ``incorrect`` may be a loss 0..1 (1 - quality).
    ``None`` where all losses are equal. Weights count rows.
    """
    blocks = tie_blocks(uncertainty, incorrect, weights, binary=False)
    if not len(blocks.value):
        return blocks.result(np.full(len(blocks.mass), np.nan))
    loss = np.asarray(incorrect, dtype=np.float64)
    loss = np.where(np.isnan(np.asarray(uncertainty, dtype=np.float64)), np.nan, loss)
    best = _area(tie_blocks(loss, loss, weights, binary=False))
    random = divide(blocks.loss.sum(axis=1), blocks.mass.sum(axis=1))
    room = random - best
    return blocks.result(divide(random - _area(blocks), np.where(room > 1e-12, room, 0.0)))


class RiskCoverage(NamedTuple):
    """A risk-coverage curve with one point for each distinct score.

    ``coverage`` share answered, ``risk`` share wrong among them, ``threshold`` the largest score
    that is answered. All (m,), coverage rising.
    """

    coverage: Floats
    risk: Floats
    threshold: Floats


def risk_coverage(
    uncertainty: ArrayLike, incorrect: ArrayLike, weights: ArrayLike | None = None
) -> RiskCoverage:
    """Return what share is wrong when the answers up to each score are given (weights (n,)).

    A threshold cannot separate equal scores, so a tie block is one point. Empty without rows.
    """
    blocks = tie_blocks(uncertainty, incorrect, weights, binary=False)
    if not blocks.single:
        raise InputError("risk_coverage draws one curve: weights must have shape (n,)")
    mass, lost = (part[0] for part in steps(blocks))
    held = mass > 0
    total = mass[-1] if len(mass) else 0.0
    return RiskCoverage(
        divide(mass[held], total), divide(lost[held], mass[held]), blocks.value[held]
    )


def accuracy_at_coverage(
    uncertainty: ArrayLike,
    incorrect: ArrayLike,
    weights: ArrayLike | None = None,
    coverage: float = 0.8,
) -> float | Floats | None:
    """Return the accuracy among the most certain ``coverage`` of the answers, 0..1.

    Inside the tie block at the cut the expected share counts.
    """
    if not 0 < coverage <= 1:
        raise InputError(f"coverage: got {coverage}, expected a share above 0 and at most 1")
    blocks = tie_blocks(uncertainty, incorrect, weights)
    if not len(blocks.value):
        return blocks.result(np.full(len(blocks.mass), np.nan))
    kept = blocks.mass.sum(axis=1) * coverage
    before = np.cumsum(blocks.mass, axis=1) - blocks.mass
    taken = np.clip(kept[:, None] - before, 0, blocks.mass)
    wrong = (taken * np.nan_to_num(divide(blocks.loss, blocks.mass))).sum(axis=1)
    return blocks.result(1 - divide(wrong, kept))


def selective_utility(
    uncertainty: ArrayLike,
    incorrect: ArrayLike,
    weights: ArrayLike | None = None,
    penalty: float = 1.0,
    threshold: float | None = None,
) -> float | Floats | None:
    """Return the utility per question: +1 right, 0 abstained, -penalty wrong; -penalty..1.

    Answers whose score is at most ``threshold`` are given. ``threshold=None`` takes the best one
    in hindsight, abstaining from all included: an upper bound of what the score can do, which is
    never negative; for an honest number choose the threshold on other rows
    (:func:`fit_threshold`). With penalty c, answering pays where P(wrong) < 1/(1+c).
    """
    if penalty < 0:
        raise InputError(f"penalty of a wrong answer: got {penalty}, expected 0 or more")
    blocks = tie_blocks(uncertainty, incorrect, weights)
    mass, wrong = steps(blocks)
    total = blocks.mass.sum(axis=1)
    gain = mass - (1 + penalty) * wrong
    if threshold is None:
        best = np.maximum(gain.max(axis=1, initial=0.0), 0.0)
    else:
        given = int(np.searchsorted(blocks.value, threshold, side="right"))
        best = gain[:, given - 1] if given else np.zeros(len(gain))
    return blocks.result(divide(best, total))


def fit_threshold(
    uncertainty: ArrayLike, incorrect: ArrayLike, penalty: float = 1.0
) -> float | None:
    """Return the largest score worth answering at this penalty, on these rows.

    ``None``: no threshold beats abstaining from everything. Among equally good ones the one that
    answers most. For use on other rows.
    """
    blocks = tie_blocks(uncertainty, incorrect)
    mass, wrong = steps(blocks)
    gain = (mass - (1 + penalty) * wrong)[0]
    if not len(gain) or gain.max() < 0:
        return None
    return float(blocks.value[np.flatnonzero(gain == gain.max())[-1]])


def utilities(
    uncertainty: ArrayLike, incorrect: ArrayLike, weights: ArrayLike | None = None
) -> dict[float, float | Floats | None]:
    """Return :func:`selective_utility` in hindsight at each of :data:`PENALTIES`."""
    return {c: selective_utility(uncertainty, incorrect, weights, c) for c in PENALTIES}

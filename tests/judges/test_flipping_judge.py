"""Negative control: a judge that errs moves numbers as its confusion predicts.

With C[i, j] = P(judge says j | true label i), observed class shares are C^T times
the true ones. An aspect whose five probe draws have true labels t_1..t_5 is called unknown with
probability prod_j (1 - C[t_j, S]), so the expected six cells follow from the true labels alone.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np
import pytest
from numpy.typing import NDArray

from sayso.judges.judge import Item
from sayso.judges.model.judge import LlmJudge
from sayso.metrics.uncle_rates import expression_rates
from sayso.records import Generation, Gold, Question, ask
from support.judge_world import Shown, judge_engine

LABELS = ("S", "NS", "UNC")
VALUES = {"correct": 0, "incorrect": 1, "uncertain": 2}
ASPECTS, DRAWS = 1200, 5
RATES = ("FA", "UA", "UUR", "KCR", "EA", "J", "p_known")


def truth() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """True labels of answers (aspects,) and of probe draws (aspects, draws).

    Six in ten aspects are known: their draws are right 80 % of the time, the others' never. The
    answer hedges 10 % of the known and half of the unknown aspects.
    """
    random = np.random.default_rng(0)
    known = random.random(ASPECTS) < 0.6
    right = known[:, None] & (random.random((ASPECTS, DRAWS)) < 0.8)
    probes = np.where(right, 0, np.where(random.random((ASPECTS, DRAWS)) < 0.1, 2, 1))
    hedged = random.random(ASPECTS) < np.where(known, 0.1, 0.5)
    answers = np.where(hedged, 2, np.where(known & (random.random(ASPECTS) < 0.9), 0, 1))
    return answers, probes


ANSWERS, PROBES = truth()


def confusion(flips: float) -> NDArray[np.float64]:
    return np.full((3, 3), flips / 2) + np.eye(3) * (1 - 1.5 * flips)


def cells(answers: NDArray[np.int64], probes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Counts (2, 3): known and unknown aspects by label."""
    known = (probes == 0).any(axis=1)
    return np.array([[np.sum(row & (answers == j)) for j in range(3)] for row in (known, ~known)])


def rates(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    found = expression_rates(*(float(x) for x in matrix.ravel()))
    return np.array([found[name] for name in RATES], dtype=float)


def expected(flips: float) -> NDArray[np.float64]:
    """The six cells that its rates of errors predict."""
    c = confusion(flips)
    unknown = np.prod(1 - c[PROBES, 0], axis=1)
    return np.stack([(1 - unknown) @ c[ANSWERS], unknown @ c[ANSWERS]])


def spread(flips: float) -> NDArray[np.float64]:
    """Standard deviation of each rate over judges that flip at random."""
    random = np.random.default_rng(1)
    c = confusion(flips).cumsum(axis=1)

    def flip(labels: NDArray[np.int64]) -> NDArray[np.int64]:
        return (random.random(labels.shape)[..., None] > c[labels]).sum(axis=-1)

    return np.std([rates(cells(flip(ANSWERS), flip(PROBES))) for _ in range(200)], axis=0)


@lru_cache
def judged(flips: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Labels that a flipping model gives through prompts, replies and parser."""

    def decide(seen: Shown, number: int) -> str:
        text = seen.text(number)
        draw = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") / 2**32
        true = LABELS.index(text.rpartition(" ")[2])
        # the two wrong labels share the flips
        return LABELS[(true + (draw < flips) + (draw < flips / 2)) % 3]

    items = []
    for aspect in range(ASPECTS):
        question = Question(
            id=f"q{aspect}",
            dataset="d",
            text=f"What is aspect {aspect}?",
            golds=(Gold("x"),),
            entity=f"entity {aspect // 6}",
        )
        for draw, label in enumerate([*PROBES[aspect], ANSWERS[aspect]]):
            made = Generation(
                request=ask("?", sample=draw),
                id=f"g{aspect}-{draw}",
                text=f"aspect {aspect} draw {draw} is {LABELS[label]}",
                form="short",
            )
            items.append(Item(made, (question,)))
    verdicts = LlmJudge(judge_engine(decide), labels="uncle").grade(items)
    read = np.array([VALUES[str(v.value)] for v in verdicts]).reshape(ASPECTS, DRAWS + 1)
    return read[:, DRAWS], read[:, :DRAWS]


def moves_as_predicted(flips: float, believed: float) -> bool:
    """Whether every rate is where a judge with the believed share of flips would put it."""
    seen = rates(cells(*judged(flips)))
    return bool(np.all(np.abs(seen - rates(expected(believed))) <= 4 * spread(believed)))


def test_a_judge_that_never_errs_moves_nothing() -> None:
    answers, probes = judged(0.0)
    assert np.array_equal(answers, ANSWERS)
    assert np.array_equal(probes, PROBES)
    assert np.allclose(expected(0.0), cells(ANSWERS, PROBES))


def test_a_judge_that_flips_five_percent_moves_numbers_as_predicted() -> None:
    answers, probes = judged(0.05)
    share = np.mean(np.concatenate([answers != ANSWERS, (probes != PROBES).ravel()]))
    assert share == pytest.approx(0.05, abs=0.01)
    assert moves_as_predicted(0.05, 0.05)
    # what flips do, in numbers: an unknown aspect is called known with 1 - .975^5 = .119
    true, seen = rates(cells(ANSWERS, PROBES)), rates(cells(answers, probes))
    p_known = RATES.index("p_known")
    assert seen[p_known] - true[p_known] == pytest.approx((1 - true[p_known]) * 0.119, abs=0.03)


def test_the_prediction_can_fail() -> None:
    """A judge that errs three times as often as believed is found out."""
    assert not moves_as_predicted(0.15, 0.05)
    assert not moves_as_predicted(0.15, 0.0)

"""Uncertainty+: scores of each choice of demonstrations, averaged; never one pool of rows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sayso.metrics.cmfg import cmfg, skill
from sayso.metrics.intervals import bootstrap
from sayso.protocols import faithfulness
from sayso.protocols.faithfulness.measure import (
    averaged,
    compared,
    corrected,
    references,
    scores,
    slices,
)
from sayso.protocols.faithfulness.rows import Row, Rows, arrays_of
from sayso.protocols.settings import replace
from sayso.records import Question, slice_text

#: (choice, decisiveness, agreeing of 10)
#: choice 1: always decisive: bin 0 has f = 0, the last f = 1: cMFG 1/2
#: choice 2: never, all at confidence 0: f = 1 in its one bin: cMFG 1
#: averaged 3/4; one pool would say bin 0: (0 + 1 + 1) / 3, the last: 1, together 5/6
GIVEN = [(1, 1.0, 0), (1, 1.0, 10), (1, 1.0, 10), (2, 0.0, 0), (2, 0.0, 0)]
COLUMNS = tuple(np.array(x, dtype=float) for x in zip(*GIVEN, strict=True))


def rows(given: list[tuple[int, float, int]], method: str = "uncertainty_plus") -> Rows:
    some = [
        Row(
            d=d, j=j, k=10, punted=False, right=1.0, weight=1.0, part=-1, choice=choice,
            question=Question(f"q{n}", "s", "?", entity=f"e{n}"), answer=f"a{n}",
            thought=float("nan"), thinks=False,
        )
        for n, (choice, d, j) in enumerate(given)
    ]  # fmt: skip
    entities = {("", f"e{n}"): n for n in range(len(given))}
    return arrays_of("short", method, some, Counter(asked=len(given)), entities)


def test_the_average_of_choices_by_hand() -> None:
    choice, d, j = COLUMNS
    one = np.ones(5)
    assert averaged(cmfg)(d, j, one * 10, one, choice) == pytest.approx(3 / 4)
    assert cmfg(d, j, 10) == pytest.approx(5 / 6)
    assert averaged(cmfg)(d, j, one * 10, one, 0 * one) == pytest.approx(5 / 6)  # no choices
    # resampled: weights (B, n); without any answer of choice 2 the score is that of choice 1
    weights = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]], dtype=float)
    found = averaged(cmfg)(d, j, one * 10, one, choice, weights=weights)
    assert found[:2] == pytest.approx([3 / 4, 1 / 2])
    assert np.isnan(found[2])
    assert averaged(cmfg)(*(np.empty(0) for _ in range(5))) is None


def test_estimates_are_averaged_and_each_choice_is_shown() -> None:
    settings = replace(faithfulness.Settings(), {"resamples": 100})
    mine = rows(GIVEN)
    found = {e.name: e for e in scores(mine, settings)}
    assert found["cmfg"].value == pytest.approx(3 / 4)
    # f is 0, 1, 1 and 1, 1: mean of 2/3 and 1, not 4/5
    assert found["mfg"].value == pytest.approx(5 / 6)
    assert found["mean_decisiveness"].value == pytest.approx(1 / 2)
    beside = {e.name: e for e in references(mine, settings)}
    # always decisive: (0 + 1) / 2 for the first, 0 for the second
    assert beside["cmfg_decisive"].value == pytest.approx(1 / 4)
    assert beside["cmfg_oracle"].value == pytest.approx(1)
    assert beside["cmfg_decisive"].n == 5
    shown = {(e.name, slice_text(e.where)): e.value for e in slices(mine, settings)}
    assert shown["cmfg", "choice:1"] == pytest.approx(1 / 2)
    assert shown["cmfg", "choice:2"] == pytest.approx(1)


def test_shared_bins_need_enough_answers_of_every_choice() -> None:
    """Ten answers of the method in a bin, five for each choice: no bin to compare on."""
    plain = rows([(0, 1.0, 10)] * 20, "vanilla")
    settings = replace(faithfulness.Settings(), {"resamples": 100})
    few = rows([(1, 1.0, 10)] * 5 + [(2, 1.0, 10)] * 5)
    found = {e.name: e.value for e in compared(few, [plain, few], settings)}
    assert found == {"shared_bins": 0}
    enough = rows([(1, 1.0, 10)] * 10 + [(2, 1.0, 10)] * 10)
    found = {e.name: e.value for e in compared(enough, [plain, enough], settings)}
    assert found["shared_bins"] == 1
    assert found["cmfg_gain"] == pytest.approx(0)


def test_an_interval_covers_the_average() -> None:
    generator = np.random.default_rng(0)
    c = generator.random(300)
    j = np.round(c * 20)
    d = np.clip(c + generator.normal(0, 0.3, 300), 0, 1)
    choice = np.repeat([1.0, 2.0, 3.0], 100)
    entity = np.tile(np.arange(100), 3)
    arrays = d, j, np.full(300, 20.0), np.ones(300), choice
    found = bootstrap(averaged(skill), *arrays, clusters=entity, limits=None, n=300)
    mean = np.mean([skill(d[choice == n], j[choice == n], 20) for n in (1, 2, 3)])  # type: ignore[arg-type]
    assert found.value == pytest.approx(mean)
    assert found.low is not None
    assert found.low < mean < (found.high or 0)


def test_gains_of_several_methods_are_corrected_together() -> None:
    """Holm over the methods of a form: the smallest p times how many gains were tested."""
    rng = np.random.default_rng(3)
    settings = replace(faithfulness.Settings(), {"resamples": 200})

    def method(name: str, spread: float) -> Rows:
        j = np.tile(np.arange(11), 20)
        said = np.clip(j / 10 + rng.normal(0, spread, len(j)), 0, 1)
        return rows([(0, float(d), int(n)) for d, n in zip(said, j, strict=True)], name)

    here = [method("vanilla", 9.0), method("uncertainty", 0.1), method("granularity", 9.0)]
    found = corrected({r.method: [*compared(r, here, settings)] for r in here}, here)
    by = {m: {e.name: e for e in made} for m, made in found.items()}
    assert "skill_gain_p" not in by["vanilla"]
    sure, none = by["uncertainty"]["skill_gain_p"], by["granularity"]["skill_gain_p"]
    assert sure.n == none.n == 2
    assert sure.value is not None
    assert sure.numerator is not None
    assert none.numerator is not None
    assert sure.value == pytest.approx(min(1, 2 * sure.numerator))
    assert sure.value < 1e-6
    assert none.value == pytest.approx(max(sure.value, none.numerator))
    # the p is that of the interval: 0 lies outside just where p < .05
    for name in ("uncertainty", "granularity"):
        gain, p = by[name]["skill_gain"], by[name]["skill_gain_p"].numerator
        assert gain.low is not None
        assert gain.high is not None
        assert p is not None
        assert (p < 0.05) == (gain.low > 0 or gain.high < 0)


def test_pooled_assertions_count_once_each() -> None:
    """Answer a0 has three claims with f = 1, a1 one with f = 0: 1/2 by answers, 3/4 pooled."""
    made = rows([(0, 1.0, 10), (0, 1.0, 10), (0, 1.0, 10), (0, 0.0, 10)])
    made = made._replace(answers=["a0", "a0", "a0", "a1"], question=["q0", "q0", "q0", "q1"])
    settings = replace(faithfulness.Settings(), {"resamples": 100})

    def of(pooled: bool) -> float | None:
        return next(e.value for e in scores(made.scored(pooled), settings) if e.name == "cmfg")

    assert of(False) == pytest.approx(1 / 2)
    assert of(True) == pytest.approx(3 / 4)

"""Intervals over seeds and entities: what each of the two adds, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sayso.metrics import intervals
from sayso.metrics.intervals import bootstrap

ENTITIES = 40


def share(values: np.ndarray) -> intervals.EntityMetric:
    """Return the metric of one value an entity: its mean."""
    return intervals.ratio(values.astype(np.float64), np.ones(len(values)))


def test_with_one_seed_it_is_the_bootstrap_over_entities() -> None:
    values = np.random.default_rng(1).random(ENTITIES)

    def mean(x: np.ndarray, weights: np.ndarray | None = None) -> object:
        if weights is None:
            return float(np.mean(x))
        return (weights @ x) / weights.sum(axis=-1)

    other = bootstrap(mean, values, clusters=np.arange(ENTITIES), n=500, seed=3)
    found = intervals.spread([share(values)], intervals.draw(ENTITIES, 500, 3))
    mine = intervals.estimate("mean", found, ENTITIES, ENTITIES, (0.0, 1.0))
    assert mine.value == pytest.approx(other.value)
    assert mine.low == pytest.approx(other.low, abs=1e-12)
    assert mine.high == pytest.approx(other.high, abs=1e-12)


def test_where_entities_are_all_alike_the_error_is_that_of_the_seeds() -> None:
    # var(.1, .2, .3, .4) = .05/3; over 4 seeds its mean has variance .05/12 = .0041667
    seeds = [share(np.full(ENTITIES, v)) for v in (0.1, 0.2, 0.3, 0.4)]
    found = intervals.spread(seeds, intervals.draw(ENTITIES, 40_000, 0))
    assert found.value == pytest.approx(0.25)
    assert found.by_seed == pytest.approx((0.1, 0.2, 0.3, 0.4))
    made = intervals.error_of(found, ENTITIES)
    assert made is not None
    error, freedom = made
    # the factor of few entities is applied to the whole: sqrt(40/39)
    assert error**2 * 39 / 40 == pytest.approx(0.05 / 12, rel=0.03)
    # nearly all of the variance comes from four seeds: three degrees of freedom and little more
    assert 3 <= freedom < 3.3


def test_equal_seeds_add_nothing() -> None:
    values = np.random.default_rng(2).random(ENTITIES)
    draws = intervals.draw(ENTITIES, 2000, 0)
    one = intervals.error_of(intervals.spread([share(values)], draws), ENTITIES)
    five = intervals.error_of(intervals.spread([share(values)] * 5, draws), ENTITIES)
    assert one == pytest.approx(five)


def test_differences_are_paired() -> None:
    values = np.random.default_rng(4).random(ENTITIES)
    draws = intervals.draw(ENTITIES, 500, 0)
    one = intervals.spread([share(values), share(values**2)], draws)
    same = intervals.difference(one, one)
    assert same.value == 0
    assert not same.replicates.any()
    assert intervals.p_value(same, ENTITIES) == 1.0
    told = intervals.estimate("gap", same, ENTITIES, ENTITIES)
    assert (told.low, told.high) == (0.0, 0.0)
    # a constant shift of every entity has no spread over entities
    moved = intervals.spread([share(values + 0.1), share(values**2 + 0.1)], draws)
    gap = intervals.difference(moved, one)
    assert gap.replicates == pytest.approx(np.full(500, 0.1))
    # one side without training has one seed: every seed of the other is compared with it
    untrained = intervals.spread([share(values)], draws)
    mixed = intervals.difference(one, untrained)
    assert mixed.by_seed == pytest.approx((0.0, float(np.mean(values**2 - values))))
    turned = intervals.difference(untrained, one)
    assert turned.by_seed == pytest.approx((0.0, float(np.mean(values - values**2))))
    # both trained, three seeds and two: the fewer decide how much t widens the interval
    three = intervals.spread([share(values), share(values), share(values**2)], draws)
    uneven = intervals.difference(three, one)
    mean = float(np.mean([values.mean(), values.mean(), (values**2).mean()]))
    assert uneven.value == pytest.approx(three.value - one.value)
    assert uneven.by_seed == pytest.approx(
        (mean - float(values.mean()), mean - float((values**2).mean()))
    )


def test_seeds_without_a_value_are_left_out_and_counted() -> None:
    empty = intervals.ratio(np.zeros(ENTITIES), np.zeros(ENTITIES))
    values = np.random.default_rng(5).random(ENTITIES)
    draws = intervals.draw(ENTITIES, 300, 0)
    found = intervals.spread([share(values), empty], draws)
    assert found.value == pytest.approx(float(values.mean()))
    assert found.by_seed[1] is None
    told = intervals.estimate("mean", found, ENTITIES, ENTITIES)
    assert told.problem == "undefined for 1 of 2 seeds, which are left out"
    nothing = intervals.estimate("mean", intervals.spread([empty], draws), ENTITIES, 0)
    assert nothing.value is None
    assert nothing.problem is not None
    assert intervals.p_value(intervals.spread([empty], draws), ENTITIES) is None


def test_one_entity_has_no_interval() -> None:
    found = intervals.spread([share(np.array([0.3]))], intervals.draw(1, 100, 0))
    told = intervals.estimate("mean", found, 1, 1)
    assert told.value == pytest.approx(0.3)
    assert told.low is None
    assert told.problem == "no interval: a single entity"

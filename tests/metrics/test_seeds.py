"""Intervals over seeds and entities: what each of the two adds, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sayso.metrics import joint
from sayso.metrics.arrays import divide
from sayso.metrics.intervals import bootstrap

ENTITIES = 40


def share(values: np.ndarray) -> joint.EntityMetric:
    """Return the metric of one value an entity: its mean over those that have one."""
    held = ~np.isnan(values)

    def mean(weights: np.ndarray | None) -> np.ndarray | float:
        W = np.ones((1, len(values))) if weights is None else weights
        rates = divide(W[:, held] @ values[held], W[:, held].sum(axis=1))
        return float(rates[0]) if weights is None else rates

    return mean


def test_with_one_seed_it_is_the_bootstrap_over_entities() -> None:
    values = np.random.default_rng(1).random(ENTITIES)

    def mean(x: np.ndarray, weights: np.ndarray | None = None) -> object:
        if weights is None:
            return float(np.mean(x))
        return (weights @ x) / weights.sum(axis=-1)

    other = bootstrap(mean, values, clusters=np.arange(ENTITIES), n=500, seed=3)
    number = joint.spread([share(values)], joint.draw(ENTITIES, 500, 3))
    mine = joint.estimate("mean", number, ENTITIES, ENTITIES, (0.0, 1.0))
    assert mine.value == pytest.approx(other.value)
    assert mine.low == pytest.approx(other.low, abs=1e-12)
    assert mine.high == pytest.approx(other.high, abs=1e-12)


def test_where_entities_are_all_alike_the_error_is_that_of_the_seeds() -> None:
    # var(.1, .2, .3, .4) = .05/3; over 4 seeds its mean has variance .05/12 = .0041667
    trained = [share(np.full(ENTITIES, v)) for v in (0.1, 0.2, 0.3, 0.4)]
    number = joint.spread(trained, joint.draw(ENTITIES, 40_000, 0))
    assert number.value == pytest.approx(0.25)
    assert number.by_seed == pytest.approx((0.1, 0.2, 0.3, 0.4))
    spread = joint.error_of(number, ENTITIES)
    assert spread is not None
    error, freedom = spread
    # the factor of few entities is applied to the whole: sqrt(40/39)
    assert error**2 * 39 / 40 == pytest.approx(0.05 / 12, rel=0.03)
    # nearly all of the variance comes from four seeds: three degrees of freedom and little more
    assert 3 <= freedom < 3.3


def test_equal_seeds_add_nothing() -> None:
    values = np.random.default_rng(2).random(ENTITIES)
    draws = joint.draw(ENTITIES, 2000, 0)
    one = joint.error_of(joint.spread([share(values)], draws), ENTITIES)
    five = joint.error_of(joint.spread([share(values)] * 5, draws), ENTITIES)
    assert one == pytest.approx(five)


def test_differences_are_paired() -> None:
    values = np.random.default_rng(4).random(ENTITIES)
    draws = joint.draw(ENTITIES, 500, 0)
    one = joint.spread([share(values), share(values**2)], draws)
    same = joint.difference(one, one)
    assert same.value == 0
    assert not same.replicates.any()
    assert joint.p_value(same, ENTITIES) == 1.0
    estimate = joint.estimate("gap", same, ENTITIES, ENTITIES)
    assert (estimate.low, estimate.high) == (0.0, 0.0)
    # a constant shift of every entity has no spread over entities
    moved = joint.spread([share(values + 0.1), share(values**2 + 0.1)], draws)
    gap = joint.difference(moved, one)
    assert gap.replicates == pytest.approx(np.full(500, 0.1))
    # one side without training has one seed: every seed of the other is compared with it
    untrained = joint.spread([share(values)], draws)
    mixed = joint.difference(one, untrained)
    assert mixed.by_seed == pytest.approx((0.0, float(np.mean(values**2 - values))))
    turned = joint.difference(untrained, one)
    assert turned.by_seed == pytest.approx((0.0, float(np.mean(values - values**2))))
    # both trained, three seeds and two: the fewer decide how much t widens the interval
    three = joint.spread([share(values), share(values), share(values**2)], draws)
    uneven = joint.difference(three, one)
    mean = float(np.mean([values.mean(), values.mean(), (values**2).mean()]))
    assert uneven.value == pytest.approx(three.value - one.value)
    assert uneven.by_seed == pytest.approx(
        (mean - float(values.mean()), mean - float((values**2).mean()))
    )


def test_seeds_without_a_value_are_left_out_and_counted() -> None:
    empty = share(np.full(ENTITIES, np.nan))
    values = np.random.default_rng(5).random(ENTITIES)
    draws = joint.draw(ENTITIES, 300, 0)
    number = joint.spread([share(values), empty], draws)
    assert number.value == pytest.approx(float(values.mean()))
    assert number.by_seed[1] is None
    estimate = joint.estimate("mean", number, ENTITIES, ENTITIES)
    assert estimate.problem == "undefined for 1 of 2 seeds, which are left out"
    nothing = joint.estimate("mean", joint.spread([empty], draws), ENTITIES, 0)
    assert nothing.value is None
    assert nothing.problem is not None
    assert joint.p_value(joint.spread([empty], draws), ENTITIES) is None


def test_one_entity_has_no_interval() -> None:
    number = joint.spread([share(np.array([0.3]))], joint.draw(1, 100, 0))
    estimate = joint.estimate("mean", number, 1, 1)
    assert estimate.value == pytest.approx(0.3)
    assert estimate.low is None
    assert estimate.problem == "no interval: a single entity"

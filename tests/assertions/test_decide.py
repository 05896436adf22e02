"""Three verdicts on intervals, one shared error, and how many entities would settle a claim."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from sayso.assertions.decide import (
    CANNOT_SAY,
    DOES_NOT,
    HOLDS,
    NOMINAL,
    AssertedNumber,
    Measured,
    decide,
)
from sayso.assertions.needed import POWER, settling_power
from sayso.metrics import at_level, bootstrap_auroc, bootstrap_cells, bootstrap_share
from sayso.metrics.intervals import current_level, exact_interval
from sayso.records import Estimate


def normal(*numbers: tuple[float, float]) -> Measured:
    """Give values with the normal intervals of their errors, and keep which levels were wanted."""

    def measured(error: float) -> list[Estimate]:
        reach = stats.norm.ppf(1 - error)
        return [Estimate("x", (), v, v - reach * s, v + reach * s, n=9) for v, s in numbers]

    return measured


def outcomes(claims: Sequence[AssertedNumber], measured: Measured) -> list[str]:
    return [one.outcome for one in decide(claims, measured, 0.05)]


@pytest.mark.parametrize(
    ("op", "limit", "outcome"),
    [
        (">=", 0.30, HOLDS),
        (">=", 0.45, CANNOT_SAY),
        (">=", 0.70, DOES_NOT),
        ("<=", 0.70, HOLDS),
        ("<=", 0.55, CANNOT_SAY),
        ("<=", 0.30, DOES_NOT),
        (">", 0.30, HOLDS),
        ("<", 0.30, DOES_NOT),
    ],
)
def test_the_end_that_is_nearer_to_the_limit_decides(op: str, limit: float, outcome: str) -> None:
    assert outcomes([AssertedNumber(op, limit)], normal((0.5, 0.05))) == [outcome]  # type: ignore[arg-type]


def test_one_claim_has_five_percent_on_either_side() -> None:
    reach = stats.norm.ppf(0.95) * 0.05
    near, far = 0.5 - reach * 0.999, 0.5 - reach * 1.001
    assert outcomes([AssertedNumber(">=", far)], normal((0.5, 0.05))) == [HOLDS]
    assert outcomes([AssertedNumber(">=", near)], normal((0.5, 0.05))) == [CANNOT_SAY]


def test_claims_share_the_error_by_holms_steps() -> None:
    """p of .01, .02 and .04 all hold; .02, .03 and .04 none; .01, .03 and .04 the first alone."""

    def of(*ps: float) -> list[str]:
        numbers = [(float(stats.norm.ppf(1 - p)), 1.0) for p in ps]
        return outcomes([AssertedNumber(">=", 0.0)] * len(ps), normal(*numbers))

    assert of(0.01, 0.02, 0.04) == [HOLDS] * 3
    assert of(0.02, 0.03, 0.04) == [CANNOT_SAY] * 3
    assert of(0.01, 0.03, 0.04) == [HOLDS, CANNOT_SAY, CANNOT_SAY]
    assert of(0.04) == [HOLDS]


def test_the_two_mistakes_are_shared_apart() -> None:
    """Two that do not hold leave the level of those that may hold as it was."""
    z = float(stats.norm.ppf(1 - 0.02))
    numbers = [(z, 1.0), (-9.0, 1.0), (-9.0, 1.0)]
    found = decide([AssertedNumber(">=", 0.0)] * 3, normal(*numbers), 0.05)
    assert [one.outcome for one in found] == [CANNOT_SAY, DOES_NOT, DOES_NOT]
    assert found[0].error == pytest.approx(0.05 / 3)


def test_what_has_no_sampling_error_takes_no_share() -> None:
    claims = [AssertedNumber(">=", 0.0), AssertedNumber("<=", 0.02, by_nature="a count")]
    z = float(stats.norm.ppf(1 - 0.04))
    found = decide(claims, normal((z, 1.0), (0.01, 5.0)), 0.05)
    assert [one.outcome for one in found] == [HOLDS, HOLDS]
    assert found[1].reason == "a count"
    assert outcomes([claims[1]], normal((0.03, 5.0))) == [DOES_NOT]


def test_no_value_and_no_interval_cannot_be_decided() -> None:
    rows = [Estimate("x", problem="nothing to count"), Estimate("x", (), 0.9, problem="one entity")]
    found = decide([AssertedNumber(">=", 0.1)] * 2, lambda error: rows)
    assert [one.outcome for one in found] == [CANNOT_SAY, CANNOT_SAY]
    assert [one.reason for one in found] == ["nothing to count", "one entity"]
    assert [one.needed for one in found] == [None, None]


@pytest.mark.parametrize(
    ("bounds", "missing", "outcome"),
    [
        ((0.45, 0.55), 3, HOLDS),
        ((0.30, 0.55), 3, CANNOT_SAY),
        ((0.45, 0.95), 3, HOLDS),
        ((None, None), 3, CANNOT_SAY),
        ((0.30, 0.55), 0, HOLDS),
    ],
)
def test_unread_verdicts_that_could_turn_it_leave_it_open(
    bounds: tuple[float | None, float | None], missing: int, outcome: str
) -> None:
    low, high = bounds
    e = Estimate("x", (), 0.5, 0.4, 0.6, n=50, missing=missing, bound_low=low, bound_high=high)
    (one,) = decide([AssertedNumber(">=", 0.3)], lambda error: [e])
    assert one.outcome == outcome
    assert ("3 verdicts could not be read" in one.reason) is (outcome == CANNOT_SAY)
    assert one.needed is None


def test_intervals_are_made_anew_at_the_level_and_not_stored_at_it() -> None:
    x = np.random.default_rng(0).random(80) < 0.4

    def share() -> Estimate:
        return bootstrap_share("x", x, np.ones(80, dtype=bool), np.arange(80))

    at_95 = share()
    with at_level(0.8):
        inside = share()
        assert current_level() == 0.8
    again = share()
    assert again == at_95
    assert at_95.low < inside.low < inside.value < inside.high < at_95.high  # type: ignore[operator]
    with at_level(0.9):
        assert exact_interval(3, 20) == exact_interval(3, 20, 0.9) != exact_interval(3, 20, 0.95)
    with pytest.raises(ValueError), at_level(1.0):
        pass


def test_a_level_ends_with_its_block_also_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), at_level(0.5):
        _ = 1 / 0
    assert current_level() == 0.95


def test_the_power_of_an_exact_test_by_enumeration() -> None:
    for trials, limit, p in ((30, 0.5, 0.8), (57, 0.9, 0.99), (200, 0.02, 0.08), (5, 0.9, 0.95)):
        won = sum(
            stats.binom.pmf(k, trials, p)
            for k in range(trials + 1)
            if (exact_interval(k, trials, 0.9)[0] or 0.0) >= limit
        )
        assert settling_power(p, limit, trials, 0.05) == pytest.approx(won, abs=1e-9)


def test_no_case_of_a_rare_thing_needs_what_the_rule_of_three_says() -> None:
    """With none seen, n settles "at most 2 %" once .98 to the power n is below .05."""
    none = np.zeros(60, dtype=bool)

    def measured(error: float) -> list[Estimate]:
        with at_level(1 - 2 * error):
            return [bootstrap_share("x", none, ~none, np.arange(60))]

    (one,) = decide([AssertedNumber("<=", 0.02, scale=(0.0, 1.0), entities=60)], measured, 0.05)
    assert one.needed == math.ceil(math.log(0.05) / math.log(0.98))
    assert 0.98**one.needed < 0.05 <= 0.98 ** (one.needed - 1)


def test_a_number_at_its_limit_is_never_settled() -> None:
    (one,) = decide([AssertedNumber(">=", 0.5, entities=40)], normal((0.5, 0.1)))
    assert (one.outcome, one.needed) == (CANNOT_SAY, None)


def test_so_many_entities_settle_a_normal_number() -> None:
    """(1.645 + .842)^2 s^2 / d^2 entities more: for s = .1 and d = .1, 6.18 times as many."""
    (one,) = decide([AssertedNumber(">=", 0.4, entities=10_000)], normal((0.5, 0.1)), 0.05)
    assert one.needed == pytest.approx(10_000 * 6.183, rel=0.01)


def cells(entities: int, rng: np.random.Generator) -> np.ndarray:
    """Draw matrices of entities with six facts each, hedged better than blindly."""
    share = rng.beta(2, 2, entities)
    known = rng.binomial(6, share)
    over, hedged = rng.binomial(known, 0.15), rng.binomial(6 - known, 0.45)
    right = rng.binomial(known - over, 0.9)
    unknown = 6 - known - hedged
    rows = [right, known - over - right, over, 0 * known, unknown, hedged]
    return np.stack(rows, axis=1).astype(float)


def test_as_many_entities_as_are_asked_for_settle_it_four_times_out_of_five() -> None:
    rng = np.random.default_rng(3)
    settled = trials = 0
    for _ in range(80):
        pilot = cells(40, rng)

        def measured(error: float, table: np.ndarray = pilot) -> list[Estimate]:
            with at_level(1 - 2 * error):
                return [bootstrap_cells(table, n=150)["J"]]

        e = measured(NOMINAL)[0]
        assert e.value is not None
        assert e.low is not None
        claim = AssertedNumber(">=", e.value - 0.6 * (e.value - e.low), "", (-1.0, 1.0), 40)
        (one,) = decide([claim], measured)
        assert one.outcome == CANNOT_SAY
        assert one.needed is not None
        again = pilot[rng.integers(0, 40, one.needed)]
        (later,) = decide([claim], lambda error, again=again: measured(error, again))
        trials += 1
        settled += later.outcome == HOLDS
    assert 0.68 <= settled / trials <= 0.93


def test_a_ranking_of_a_handful_is_settled_by_exact_pairs() -> None:
    rng = np.random.default_rng(1)
    wrong = np.repeat([True, False], [6, 30])
    score = wrong + 0.01 * rng.random(36)

    def measured(error: float) -> list[Estimate]:
        with at_level(1 - 2 * error):
            return [bootstrap_auroc(score, wrong)]

    (one,) = decide([AssertedNumber(">=", 0.9, scale=(0.0, 1.0), entities=36)], measured, 0.05)
    assert one.outcome == CANNOT_SAY
    assert one.estimate.value == 1.0
    wanted = math.log(0.05) / math.log(0.9) / 6 * 36  # so many independent pairs, of six
    assert one.needed == pytest.approx(wanted, rel=0.05)
    assert POWER == 0.8

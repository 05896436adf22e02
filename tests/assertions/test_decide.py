"""Three verdicts on intervals, one shared error, and how many entities would settle a claim."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
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
from sayso.metrics import (
    at_level,
    auroc,
    bootstrap_auroc,
    bootstrap_cells,
    bootstrap_share,
    cell_rates,
)
from sayso.metrics.intervals import (
    SPARSE_PARTS,
    bootstrap_ratio,
    current_level,
    difference_interval,
    exact_interval,
    ratio_interval,
    standard_error,
)
from sayso.metrics.uncle_known import bootstrap_cells_difference
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


def test_no_case_of_a_rare_thing_needs_what_the_rule_of_three_says() -> None:
    """With none seen, n settles "at most 2 %" once .98 to the power n is below .05."""
    none = np.zeros(60, dtype=bool)

    def measured(error: float) -> list[Estimate]:
        with at_level(1 - 2 * error):
            return [bootstrap_share("x", none, ~none, np.arange(60))]

    (one,) = decide([AssertedNumber("<=", 0.02, scale=(0.0, 1.0), entities=60)], measured, 0.05)
    assert one.needed == math.ceil(math.log(0.05) / math.log(0.98))
    assert 0.98**one.needed < 0.05 <= 0.98 ** (one.needed - 1)


def test_a_gap_that_no_resample_moves_needs_what_its_exact_bound_needs() -> None:
    """J of 0 hedges: of n unknown facts its upper end is 1 - .025^(1/n), below .05 from 72 on."""

    def measured(error: float) -> list[Estimate]:
        return [Estimate("J", (), 0.0, error ** (1 / 20) - 1, 1 - error ** (1 / 30))]

    claim = AssertedNumber(">=", 0.05, scale=(-1.0, 1.0), entities=30)
    (one,) = decide([claim], measured, spreads=lambda place: 0.0)
    assert one.needed == math.ceil(math.log(NOMINAL) / math.log(0.95))


def test_a_number_at_its_limit_is_never_settled() -> None:
    (one,) = decide([AssertedNumber(">=", 0.5, entities=40)], normal((0.5, 0.1)))
    assert (one.outcome, one.needed) == (CANNOT_SAY, None)


def test_unread_verdicts_take_their_part_of_the_distance() -> None:
    """.5 that could be .45 is as near to .35 as .5 alone is to .4."""
    e = Estimate("x", (), 0.5, 0.3, 0.7, n=50)
    bounded = msgspec.structs.replace(e, missing=3, bound_low=0.45, bound_high=0.5)
    claims = [AssertedNumber(">=", limit, entities=40) for limit in (0.4, 0.35)]
    plain, moved = (
        decide([claim], lambda error, one=one: [one])[0].needed
        for claim, one in zip(claims, (e, bounded), strict=True)
    )
    assert plain == moved != None  # noqa: E711


def test_so_many_entities_settle_a_normal_number() -> None:
    """(1.645 + .842)^2 s^2 / d^2 entities more: for s = .1 and d = .1, 6.18 times as many."""
    for value, limit in ((0.5, 0.4), (-0.5, -0.6), (-0.05, 0.05), (3.0, 3.1)):
        claim = AssertedNumber(">=", limit, entities=10_000)
        (one,) = decide([claim], normal((value, 0.1)), 0.05)
        assert one.needed == pytest.approx(10_000 * 6.183, rel=0.01)


def test_several_assertions_ask_for_more_entities() -> None:
    """(z + .842)^2 at z of the share that Holm's step leaves each: 1.960 alone, 2.241 of two."""
    claim = AssertedNumber(">=", 0.4, entities=10_000)
    (alone,) = decide([claim], normal((0.5, 0.1)))
    both = decide([claim] * 2, normal((0.5, 0.1), (0.5, 0.1)))
    assert alone.needed == pytest.approx(10_000 * 2.802**2, rel=0.01)
    assert both[0].needed == pytest.approx(10_000 * 3.083**2, rel=0.01)


def parts(first: tuple[int, int], second: tuple[int, int], *, ratio: bool = False) -> Measured:
    """Give the difference or the ratio of two sparse shares, which are (cases, trials)."""

    def measured(error: float) -> list[Estimate]:
        shares = first[0] / first[1], second[0] / second[1]
        ends = [exact_interval(x, n, 1 - 2 * error) for x, n in (first, second)]
        make = ratio_interval if ratio else difference_interval
        low, high = make(shares, (ends[0], ends[1]), 0.0)
        value = shares[0] / shares[1] if ratio else shares[0] - shares[1]
        return [Estimate("x", (), value, low, high, n=40, problem=SPARSE_PARTS)]

    return measured


@pytest.mark.parametrize(
    ("measured", "limit", "scale", "spread"),
    [
        (parts((1, 20), (6, 25)), -0.1, None, 0.098),  # a new release that is the worse one
        (parts((0, 20), (3, 25)), -0.05, None, 0.065),
        (parts((3, 4), (20, 39), ratio=True), 1.0, (0.0, math.inf), 0.45),  # a lift is no share
        (parts((3, 20), (1, 20)), 0.2, (-1.0, 1.0), 0.094),
    ],
)
def test_numbers_made_of_exact_parts_are_no_shares(
    measured: Measured, limit: float, scale: tuple[float, float] | None, spread: float
) -> None:
    claim = AssertedNumber(">=", limit, scale=scale, entities=40)
    (one,) = decide([claim], measured, spreads=lambda place: spread)
    assert one.outcome == CANNOT_SAY
    assert one.needed is not None
    assert 40 < one.needed < 1_000


# ---- as many as are asked for settle it


def cells(entities: int, rng: np.random.Generator, hedges: float = 0.45) -> np.ndarray:
    """Draw matrices of entities with six facts each, hedged better than blindly."""
    share = rng.beta(2, 2, entities)
    known = rng.binomial(6, share)
    over, hedged = rng.binomial(known, hedges / 3), rng.binomial(6 - known, hedges)
    right = rng.binomial(known - over, 0.9)
    unknown = 6 - known - hedged
    rows = [right, known - over - right, over, 0 * known, unknown, hedged]
    return np.stack(rows, axis=1).astype(float)


def j_of(table: np.ndarray) -> Estimate:
    return bootstrap_cells(table, n=150)["J"]


def difference_of(table: np.ndarray) -> Estimate:
    return bootstrap_cells_difference(table[:, :6], table[:, 6:], n=150)["J"]


def share_of(table: np.ndarray) -> Estimate:
    hit = table.ravel()
    return bootstrap_share("x", hit, hit == hit, np.repeat(np.arange(len(table)), 6), n=150)


def mean_of(table: np.ndarray) -> Estimate:
    return bootstrap_ratio("x", table, np.ones(len(table)), np.arange(len(table)), n=150)


def auroc_of(table: np.ndarray) -> Estimate:
    return bootstrap_auroc(table[:, 0], table[:, 1] > 0, n=150)


def scored(entities: int, rng: np.random.Generator) -> np.ndarray:
    wrong = rng.random(entities) < 0.4
    return np.stack([rng.normal(size=entities) + wrong, wrong], axis=1)


def j_value(table: np.ndarray) -> float:
    return float(cell_rates(table.sum(axis=0))["J"])


SETTLED: dict[str, tuple[Any, Any, Any, Callable[[np.ndarray], Any]]] = {
    "J": (lambda rng: cells(40, rng), j_of, (-1.0, 1.0), j_value),
    "J of few hedges": (lambda rng: cells(40, rng, 0.04), j_of, (-1.0, 1.0), j_value),
    "difference": (
        lambda rng: np.concatenate([cells(40, rng, 0.06), cells(40, rng, 0.03)], axis=1),
        difference_of,
        None,
        lambda table: j_value(table[:, :6]) - j_value(table[:, 6:]),
    ),
    "rare share": (lambda rng: rng.random((40, 6)) < 0.02, share_of, (0.0, 1.0), np.mean),
    "mean": (lambda rng: rng.beta(3, 2, 40), mean_of, (0.0, 1.0), np.mean),
    "AUROC": (
        lambda rng: scored(60, rng),
        auroc_of,
        (0.0, 1.0),
        lambda table: auroc(table[:, 0], table[:, 1] > 0),
    ),
}


def spread_of(value: Callable[[np.ndarray], Any], table: np.ndarray) -> float | None:
    """Return the standard error of a number over resamples of entities."""
    rng, n = np.random.default_rng(0), len(table)
    found = [value(table[rng.integers(0, n, n)]) for _ in range(200)]
    return standard_error(np.array([np.nan if v is None else v for v in found]), n)


@pytest.mark.parametrize("kind", SETTLED)
def test_as_many_entities_as_are_asked_for_settle_it_four_times_out_of_five(kind: str) -> None:
    """A new run draws from the entities of the run: the true value is the observed one.

    The whole study, with other numbers of entities, is benchmarks/metrics/assertions.py.
    """
    draw, compute, scale, value = SETTLED[kind]
    rng = np.random.default_rng(3)
    settled = trials = 0
    while trials < 60:
        pilot = draw(rng)

        def measured(error: float, table: np.ndarray = pilot) -> list[Estimate]:
            with at_level(1 - 2 * error):
                return [compute(table)]

        e = measured(NOMINAL)[0]
        if e.value is None or e.low is None or e.high is None or e.value in (0, 1):
            continue
        up = rng.random() < 0.5
        limit = e.value + 0.6 * ((e.low if up else e.high) - e.value)
        claim = AssertedNumber(">=", limit, "", scale, len(pilot))
        (one,) = decide(
            [claim], measured, spreads=lambda place, table=pilot: spread_of(value, table)
        )
        assert one.outcome == CANNOT_SAY
        assert one.needed is not None
        if one.needed > 20 * len(pilot):
            continue
        again = pilot[rng.integers(0, len(pilot), one.needed)]
        (later,) = decide([claim], lambda error, again=again: measured(error, again))
        trials += 1
        settled += later.outcome == (HOLDS if up else DOES_NOT)
    assert 0.65 <= settled / trials <= 0.95


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

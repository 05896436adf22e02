"""Bounds over missing verdicts, baseline policies, and rules of the probe."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso import metrics
from sayso.metrics.intervals import SPARSE_PARTS
from sayso.metrics.uncle_known import log_odds_interval

SMALL = st.lists(st.integers(0, 3), min_size=6, max_size=6)


def splits(total: int, parts: int) -> list[tuple[int, ...]]:
    """List every way to put ``total`` things into ``parts`` boxes."""
    return [c for c in product(range(total + 1), repeat=parts) if sum(c) == total]


def brute(
    cells: list[int], missing_known: int, missing_unknown: int, probe: tuple[int, int, int]
) -> dict[str, tuple[float | None, float | None]]:
    found: dict[str, list[float]] = {name: [] for name in metrics.RATES}
    known_ways, unknown_ways = splits(missing_known, 3), splits(missing_unknown, 3)
    probe_ways = list(product(*(range(count + 1) for count in probe)))
    for more, others, moved in product(known_ways, unknown_ways, probe_ways):
        full = np.array(cells, dtype=float)
        full[:3] += more
        full[3:] += others
        full[:3] += moved
        full[3:] += np.subtract(probe, moved)
        for name, value in metrics.expression_rates(*full).items():
            if value is not None:
                found[name].append(value)
    return {k: (min(v), max(v)) if v else (None, None) for k, v in found.items()}


@settings(max_examples=60, deadline=None)
@given(SMALL, st.integers(0, 4), st.integers(0, 4))
def test_bounds_equal_brute_force(cells: list[int], known: int, unknown: int) -> None:
    expected = brute(cells, known, unknown, (0, 0, 0))
    found = metrics.rate_bounds(cells, known, unknown)
    assert set(found) == set(metrics.RATES)
    for name, bound in found.items():
        assert bound == pytest.approx(expected[name]), name


@settings(max_examples=40, deadline=None)
@given(SMALL, st.integers(0, 2), st.integers(0, 2), st.tuples(*[st.integers(0, 3)] * 3))
def test_bounds_with_missing_probes(
    cells: list[int], known: int, unknown: int, probe: tuple[int, int, int]
) -> None:
    expected = brute(cells, known, unknown, probe)
    found = metrics.rate_bounds(cells, known, unknown, probe)
    assert "lift_UA" not in found
    for name, bound in found.items():
        assert bound == pytest.approx(expected[name]), name


def test_bounds_by_hand() -> None:
    # One known and one unknown verdict missing: UUR from 1/3 to 2/3, UA from 1/3 to 2/3.
    found = metrics.rate_bounds([2, 0, 1, 0, 1, 1], 1, 1)
    assert found["UUR"] == pytest.approx((1 / 3, 2 / 3))
    assert found["UA"] == pytest.approx((1 / 3, 2 / 3))
    # J: lowest 1/3 - 2/4, highest 2/3 - 1/4
    assert found["J"] == pytest.approx((1 / 3 - 2 / 4, 2 / 3 - 1 / 4))


def test_without_missing_the_bounds_are_the_value() -> None:
    cells = [5, 1, 2, 1, 3, 4]
    for name, value in metrics.expression_rates(*cells).items():
        assert metrics.rate_bounds(cells)[name] == (value, value)


def test_reference_policies_by_hand() -> None:
    # Known 60 (correct among committed 50/56), unknown 40 (5/25), hedged 19 of 100.
    cells = [50, 6, 4, 5, 20, 15]
    found = metrics.reference_policies(cells)
    assert found["never"]["EA"] == pytest.approx(0.6 * 50 / 56)
    assert found["never"]["UA"] is None
    assert found["never"]["UUR"] == 0
    assert found["always"]["EA"] == pytest.approx(0.4)
    assert found["always"]["FA"] is None
    blind = found["random"]
    assert blind["UUR"] == pytest.approx(0.19)
    assert blind["over_hedge"] == pytest.approx(0.19)
    assert blind["J"] == pytest.approx(0, abs=1e-12)
    assert blind["UA"] == pytest.approx(1 - 0.6)
    assert blind["lift_UA"] == pytest.approx(1)
    assert blind["KCR"] == pytest.approx(0.81 * 50 / 56)
    assert blind["EA"] == pytest.approx(0.6 * 0.81 * 50 / 56 + 0.4 * 0.19)
    assert blind["FA"] == pytest.approx(found["never"]["FA"])


def test_references_take_correctness_from_the_plain_answers() -> None:
    found = metrics.reference_policies([1, 1, 8, 0, 1, 9], plain=[9, 1, 0, 2, 8, 0])
    # p_known = .5 of the plain matrix; P(correct | known) = .9
    assert found["never"]["EA"] == pytest.approx(0.45)
    assert found["random"]["UUR"] == pytest.approx(17 / 20)


def test_random_policy_equals_its_simulation() -> None:
    rng = np.random.default_rng(0)
    known = np.repeat([1, 0], [60_000, 40_000])
    right = rng.random(len(known)) < np.where(known == 1, 0.85, 0.15)
    label = np.where(rng.random(len(known)) < 0.3, 2, np.where(right, 0, 1))
    expected = metrics.cell_rates(metrics.policy_cells([51, 9, 0, 6, 34, 0], 0.3))
    simulated = metrics.cell_rates(metrics.count_cells(known, label))
    for name in metrics.RATES:
        assert float(simulated[name]) == pytest.approx(float(expected[name]), abs=0.02), name


def test_references_of_nothing_are_undefined() -> None:
    for rates in metrics.reference_policies([0] * 6).values():
        assert set(rates.values()) == {None}
    # All hedged: without plain answers nobody knows how they would have been answered.
    found = metrics.reference_policies([0, 0, 3, 0, 0, 2])
    assert found["never"]["KCR"] is None
    assert found["always"]["UA"] == pytest.approx(2 / 5)


def test_a_row_filled_only_by_missing_probes() -> None:
    # Known row empty, 4 unknown of which none hedged, 2 hedged ones of unknown probe. J needs a
    # known aspect: one each way gives 1/5 - 1/1, both known 0/4 - 2/2.
    found = metrics.rate_bounds([0, 0, 0, 0, 4, 0], probe_missing=(0, 0, 2))
    assert found["J"] == pytest.approx((-1.0, -0.8))
    # Unknown row empty: 4 known, none hedged; two committed and right aspects may be unknown.
    found = metrics.rate_bounds([2, 0, 2, 0, 0, 0], probe_missing=(3, 0, 0))
    # J = 0 - over_hedge: all three unknown 2/4, one unknown 2/6
    assert found["J"] == pytest.approx((-2 / 4, -2 / 6))


# ---- Knowledge beyond luck


def test_guess_rates() -> None:
    rates = metrics.guess_rates([3, 0, 0], [10, 5, 0])
    assert rates[:2].tolist() == [0.3, 0.0]
    assert np.isnan(rates[2])
    found = metrics.type_guess_rates([3, 0, 0, 1], [10, 5, 0, 2], ["a", "a", "a", "b"])
    assert found == pytest.approx({"a": 0.15, "b": 0.5})
    alone = metrics.type_guess_rates([0], [0], ["c"])
    assert np.isnan(alone["c"])


def test_any_of_k() -> None:
    # a hit is enough; without one all five must be readable
    assert metrics.any_of_k([1, 0, 0, 2], [3, 5, 4, 5], 5).tolist() == [1, 0, -1, 1]


def test_chance_corrected_by_hand() -> None:
    # k = 5, guess rate .3: P(X>=1) = .832, P(X>=3) = .163, P(X>=4) = .0308
    hits = [0, 1, 3, 4, 5]
    assert metrics.chance_corrected(hits, [5] * 5, 5, [0.3] * 5).tolist() == [0, 0, 0, 1, 1]
    # guess rate .005: P(X>=1) = .0248
    assert metrics.chance_corrected([1], [5], 5, [0.005]).tolist() == [1]
    # a guess rate of 0 cannot make a hit; no hit is never known
    assert metrics.chance_corrected([1, 0], [5, 5], 5, [0.0, 0.0]).tolist() == [1, 0]
    # no guess rate, or not all readable: left out unless significant anyway
    nan = float("nan")
    found = metrics.chance_corrected([2, 0, 1, 3, 0], [5, 4, 4, 4, 5], 5, [nan, 0.1, 0.3, 0.1, nan])
    assert found.tolist() == [-1, -1, -1, 1, 0]


def test_tail_against_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    for hits in range(6):
        for p in (0.0, 0.01, 0.3, 0.99, 1.0):
            expected = stats.binom.sf(hits - 1, 5, p)
            assert metrics.binomial_tail(hits, 5, p) == pytest.approx(expected, abs=1e-14)


def test_strict() -> None:
    found = metrics.strict_known([5, 5, 0, 0, 3, 0], 5, [1, 0, 0, 1, 1, -1])
    assert found.tolist() == [1, -1, 0, -1, -1, -1]


def test_two_entities_do_not_make_j_sure() -> None:
    # one hedges all it is asked, one nothing: J is 0 in every resample, and nothing is known of it
    cells = np.array([[0, 0, 1, 0, 0, 1], [1, 0, 0, 0, 1, 0]])
    j = metrics.bootstrap_cells(cells)["J"]
    assert (j.value, j.low, j.high) == (0.0, None, None)
    assert "every resample" in (j.problem or "")


def test_j_within_entity_by_hand() -> None:
    # a: 2 known of which 1 hedged, 2 unknown both hedged: weight 1, J 1 - .5
    # b: 3 known none hedged, 1 unknown not hedged: weight 3 / 4, J 0; c has no known fact
    cells = [[1.0, 0, 1, 0, 0, 2], [3, 0, 0, 0, 1, 0], [0, 0, 0, 0, 1, 3]]
    j = metrics.bootstrap_within_entity(cells, n=200)
    assert j.value == pytest.approx((1 * 0.5 + 0.75 * 0) / 1.75)
    assert j.n == 8
    assert j.low is not None
    assert j.low < 0 < j.value  # type: ignore[operator]
    nothing = metrics.bootstrap_within_entity(cells[2:], n=50)
    assert (nothing.value, nothing.problem) == (
        None, "it needs an entity with known and unknown facts"
    )  # fmt: skip


def test_seeing_only_how_famous_an_entity_is_earns_nothing_within_entity() -> None:
    """The rival explanation: hedging all facts of an obscure entity, whatever is known of it."""
    rng = np.random.default_rng(5)
    fame = rng.normal(0, 1.5, (300, 1))
    known = rng.random((300, 6)) < 1 / (1 + np.exp(-fame))
    hedged = np.broadcast_to(rng.random((300, 1)) < 1 / (1 + np.exp(2 * fame)), known.shape)
    entity, kind = np.repeat(np.arange(300), 6), np.tile(np.arange(6), 300)
    label = np.where(hedged, 2, 0).ravel()
    cells = metrics.cluster_cells(known.ravel(), label, entity)
    typed = metrics.cluster_cells(known.ravel(), label, entity, kind)
    of_type = metrics.bootstrap_within(typed, n=200)["J_within"]
    assert of_type.low is not None
    assert of_type.low > 0.2  # within type it looks like knowledge
    of_entity = metrics.bootstrap_within_entity(cells, n=200)
    assert of_entity.value == pytest.approx(0, abs=1e-12)


def test_the_interval_of_a_log_odds_ratio_by_hand() -> None:
    # logit .8 = 1.386; both reach as far, unrelated: sqrt(2) * 1.386 = 1.961 to either side
    ends = (0.2, 0.8), (0.2, 0.8)
    low, high = log_odds_interval(0.0, (0.5, 0.5), ends, 0.0)
    assert (low, high) == (pytest.approx(-1.9605, abs=1e-4), pytest.approx(1.9605, abs=1e-4))
    # around Mantel and Haenszel's value, which differs from the difference of the logits
    assert log_odds_interval(1.0, (0.5, 0.5), ends, 0.0)[0] == pytest.approx(-0.9605, abs=1e-4)
    assert log_odds_interval(0.0, (0.5, 0.5), ((0.0, 0.8), (0.2, 0.8)), 0.0) == (None, None)


def test_an_odds_ratio_of_few_hedges_has_an_interval() -> None:
    """One hedge of 40 known facts and three of 40 unknown: wide, and around the value."""
    cells = np.zeros((40, 1, 6))
    cells[:, 0, [0, 3]] = 1
    cells[0, 0, [0, 2]] = 0, 1
    cells[1:4, 0, 3] = 0
    cells[1:4, 0, 5] = 1
    odds = metrics.bootstrap_within(cells, n=200)["odds_ratio_within"]
    assert odds.value == pytest.approx((3 * 39) / (1 * 37))
    assert odds.problem == SPARSE_PARTS
    assert 0 < (odds.low or 0) < 1 < odds.value < (odds.high or 0) < 500

"""Alarms on a change: the process by hand, in pieces, its error rate, and what it cannot see."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest

from sayso.metrics.alarms import (
    CHUNK,
    KEPT_OUTCOMES,
    AlarmState,
    ChangeAlarm,
    alternatives_above,
    independent_number,
    likeliest_stretch,
    rise_bound,
    smallest_rise,
)


def plain_process(
    outcomes: list[int], bounds: list[float], rates: list[list[float]], every: int
) -> list[float]:
    """The process as its definition has it: every start and every alternative on its own.

    Answers belong to each part in turn.
    """
    products: list[list[float]] = []
    found = []
    for t, x in enumerate(outcomes):
        bound, alternatives = bounds[t % len(bounds)], rates[t % len(bounds)]
        if t % every == 0:
            products.append([1.0] * len(alternatives))
        for start in products:
            for n, q in enumerate(alternatives):
                start[n] *= q / bound if x else (1 - q) / (1 - bound)
        weights = [1 / (j * (j + 1)) for j in range(1, len(products) + 1)]
        begun = sum(w * sum(p) / len(p) for w, p in zip(weights, products, strict=True))
        found.append(begun + 1 / (len(products) + 1))
    return found


def test_the_process_by_hand() -> None:
    """Bound .2, one alternative .5, a start every 2 answers: factors 5/2 and 5/8."""
    alarm = ChangeAlarm(0.2, 0.01, alternatives=[0.5], every=2)
    # 1/2 * 5/2 + 1/2; 1/2 * (5/2)^2 + 1/2; 1/2 * (5/2)^3 + 1/6 * 5/2 + 1/3
    wanted = [1.75, 3.625, 0.5 * 15.625 + 2.5 / 6 + 1 / 3, (0.5 * 15.625 + 2.5 / 6) * 0.625 + 1 / 3]
    for x, value in zip((1, 1, 1, 0), wanted, strict=True):
        assert alarm.update([x]) is None
        assert alarm.evidence == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("bounds", "rates"),
    [([0.12], [[0.2, 0.4, 0.7]]), ([0.12, 0.3], [[0.2, 0.4, 0.7], [0.4, 0.6, 0.9]])],
)
def test_the_alarm_is_at_the_first_crossing_and_in_any_pieces(
    bounds: list[float], rates: list[list[float]]
) -> None:
    rng = np.random.default_rng(5)
    outcomes = [int(x) for x in [*(rng.random(330) < 0.1), *(rng.random(80) < 0.6)]]
    parts = np.arange(len(outcomes)) % len(bounds)
    process = plain_process(outcomes, bounds, rates, 25)
    first = next(n for n, value in enumerate(process) if value >= 1 / 0.001)
    assert 330 < first < 390
    whole = ChangeAlarm(bounds, 0.001, alternatives=rates)
    assert whole.update(outcomes, parts) == first
    assert whole.evidence == pytest.approx(process[first], rel=1e-9)
    assert whole.update([1] * 50) is None  # it was raised already
    assert whole.state.n == first + 1
    assert whole.state.count == sum(outcomes[: first + 1])
    assert abs(whole.since().n - (first - 329)) < 4
    for step in (1, 7, 25, 60):
        state = AlarmState()
        for at in range(0, len(outcomes), step):
            # a new object each time, as after a stop
            packed = msgspec.json.decode(msgspec.json.encode(state), type=AlarmState)
            alarm = ChangeAlarm(bounds, 0.001, alternatives=rates, state=packed)
            rung = alarm.update(outcomes[at : at + step], parts[at : at + step])
            state = alarm.state
            if rung is not None:
                assert at + rung == first
        assert state.alarm_at == first + 1
        assert state.log_evidence == pytest.approx(math.log(process[first]), rel=1e-9)


def test_answers_of_a_part_without_a_bound_say_nothing() -> None:
    alarm = ChangeAlarm([0.1, math.nan], 0.01)
    assert alarm.update([1] * 20 + [0] * 4, [1] * 20 + [0] * 4) is None
    assert alarm.evidence <= 1
    assert alarm.since() == (0, 0)
    assert alarm.update([1] * 20) is not None
    with pytest.raises(ValueError, match="expected"):
        ChangeAlarm([math.nan], 0.01)


def test_a_long_quiet_time_neither_underflows_nor_hides_a_change() -> None:
    alarm = ChangeAlarm(0.05, 0.01)
    assert alarm.update([0] * (3 * CHUNK + 11)) is None
    assert 0 < alarm.evidence < 1
    assert all(x is None or math.isfinite(x) for x in alarm.state.log_sums)
    at = alarm.update([1] * 20)
    assert at is not None
    assert at < 10
    assert len(alarm.state.recent) == KEPT_OUTCOMES
    assert alarm.since().ones == alarm.since().n == at + 1


def test_false_alarms_are_as_rare_as_promised_also_below_the_bound() -> None:
    """The null holds every rate up to the bound; at the bound Ville's inequality is tightest."""
    rng = np.random.default_rng(11)
    for rate, most in ((0.3, 0.1), (0.15, 0.02)):
        raised = sum(
            ChangeAlarm(0.3, 0.1).update(rng.random(1500) < rate) is not None for _ in range(200)
        )
        assert raised / 200 <= most + 0.03


def test_the_baseline_s_bound_is_exact_and_one_sided() -> None:
    # none of n: 1 - alpha^(1/n)
    assert rise_bound(0, 300, 0.05) == pytest.approx(1 - 0.05 ** (1 / 300), rel=1e-9)
    assert rise_bound(3, 3, 0.05) is None
    assert rise_bound(0, 0, 0.05) is None
    low, high = rise_bound(8, 300, 0.05), rise_bound(8, 300, 0.001)
    assert low is not None
    assert high is not None
    assert 8 / 300 < low < high


def test_independent_answers_are_all_of_them() -> None:
    for count in (0, 1, 8, 150, 299):
        ones = np.repeat([1, 0], [count, 300 - count])
        assert independent_number(ones, np.ones(300), 0.01) == pytest.approx(300, rel=1e-9)


def test_answers_about_one_entity_are_worth_what_they_vary() -> None:
    sizes = np.full(50, 12)
    alike = np.repeat([12, 0], [5, 45])  # five entities are always declined, the others never
    mixed = np.tile([1, 1, 1, 2, 1], 10)  # as independent ones, and a little less alike
    whole = independent_number(alike, sizes, 0.01)
    assert 50 <= whole < 55
    assert independent_number(mixed, sizes, 0.01) > 6 * whole
    # none seen: some entity may be of another kind
    assert independent_number(np.zeros(50), sizes, 0.01) < 80
    assert independent_number(np.full(50, 12), sizes, 0.01) == pytest.approx(50)
    assert independent_number([40], [200], 0.01) == 1  # one entity says nothing about others
    assert independent_number([], [], 0.01) == 0
    assert rise_bound(60, 600, 0.01, whole) > rise_bound(60, 600, 0.01) + 0.05


def test_the_bound_of_a_clustered_baseline_holds() -> None:
    """20 entities with 12 answers each: taken for independent, the bound misses too often."""
    rng = np.random.default_rng(5)
    sizes, alpha, draws = np.full(20, 12), 0.05, 400
    for rate, alike in ((0.1, 0.6), (0.1, 0.1), (0.3, 0.3)):
        missed = {"clusters": 0, "independent": 0}
        for _ in range(draws):
            more = (1 - alike) / alike
            ones = rng.binomial(12, rng.beta(rate * more, (1 - rate) * more, 20))
            worth = independent_number(ones, sizes, alpha)
            for name, n in (("clusters", worth), ("independent", None)):
                bound = rise_bound(int(ones.sum()), 240, alpha, n)
                missed[name] += bound is not None and bound < rate
        assert missed["clusters"] / draws <= alpha + 0.02
        assert missed["independent"] / draws > 1.5 * alpha


def test_what_cannot_be_seen() -> None:
    """From .027 to .06 is not seen with 300 earlier answers; what is called seen is seen."""
    bound = rise_bound(8, 300, 0.05 / 4)
    assert bound is not None
    assert 0.05 < bound < 0.06
    seen = smallest_rise(bound, 0.05 / 4, 1000)
    assert seen is not None
    assert seen > 0.1
    assert smallest_rise(bound, 0.05 / 4, 20) is None  # a product may start 25 answers later
    more = smallest_rise(bound, 0.05 / 4, 5000)
    assert more is not None
    assert more < seen
    rng = np.random.default_rng(2)
    found = 0
    for _ in range(40):
        alarm = ChangeAlarm(bound, 0.05 / 4)
        alarm.update(rng.random(10_000) < 0.027)
        found += alarm.update(rng.random(1000) < seen) is not None
    assert found >= 28  # of 40 at 80 % at least


def test_alternatives_lie_above_any_bound() -> None:
    for bound in (1e-6, 0.01, 0.5, 0.97, 0.9999):
        rates = alternatives_above(bound)
        assert np.all((rates > bound) & (rates < 1))
        assert np.all(np.diff(rates) > 0)


def test_the_stretch_that_speaks_most_against_the_bound() -> None:
    assert likeliest_stretch("0" * 90 + "1101111", 0.1) == (7, 6)
    assert likeliest_stretch("0" * 90, 0.1) == (0, 0)
    assert likeliest_stretch("", 0.1) == (0, 0)
    assert likeliest_stretch("1", 0.1) == (1, 1)
    # of a part whose bound is .9, and of one without a bound
    assert likeliest_stretch("0" * 90 + "1101111" + "3" * 9, [0.1, 0.95]) == (16, 15)
    assert likeliest_stretch("0" * 90 + "1101111" + "5" * 9, [0.1, 0.95, math.nan]) == (7, 6)


@pytest.mark.parametrize(
    ("bound", "alpha", "rates"),
    [(0.0, 0.1, None), (1.0, 0.1, None), (0.5, 0, None), (0.5, 0.1, [0.4])],
)
def test_impossible_alarms_are_refused(
    bound: float, alpha: float, rates: list[float] | None
) -> None:
    with pytest.raises(ValueError, match="expected"):
        ChangeAlarm(bound, alpha, alternatives=rates)

"""Numbers with units: reading, conversion, rounding."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sayso.judges.english.quantities import (
    MOST_CONVERTED,
    UNITS,
    WrittenQuantity,
    find_quantities,
    gold_quantity,
    same_amount,
    same_unit,
    unit,
    unit_named,
)
from sayso.judges.rules.matching import match
from sayso.records import Gold
from support.tables import tabled


@tabled
def test_reads(text: str, value: float, unit: str) -> None:
    (found,) = find_quantities(text)
    assert found.value == pytest.approx(value)
    assert found.unit == unit


def test_a_range_is_one_quantity() -> None:
    (found,) = find_quantities("4.5 to 6 liters")
    assert (found.value, found.high, found.unit) == (4.5, 6, "liter")
    assert len(find_quantities("in 1914 and 1918")) == 2


@tabled
def test_same_amount(gold: str, said: str, expected: bool) -> None:
    assert same_amount(find_quantities(gold)[0], find_quantities(said)[0]) is expected


def test_golds_are_quantities_and_nothing_else() -> None:
    assert gold_quantity("about 5 liters") is not None
    assert gold_quantity("5 liters of milk") is None
    assert gold_quantity("Apollo 11") is None
    assert gold_quantity("Oslo") is None
    one = gold_quantity("8", unit="day", kind="quantity")
    assert one is not None
    assert one.unit == "day"
    unknown = gold_quantity("8", unit="moons", kind="quantity")
    assert unknown is not None
    assert unknown.unit == ""


def test_huge_and_tiny_numbers_do_not_overflow() -> None:
    assert find_quantities("9" * 5000) == ()
    assert find_quantities("1" + "0" * 5000) == ()
    assert find_quantities("1 × 10^999 kg")[0].value > 1e299


# ---- units: names, conversion within the precision that was written, and what is never converted

SPEEDS = ("meter per second", "kilometer per hour", "mile per hour", "nautical mile per hour")
NAMES = [*UNITS, *SPEEDS, "gram per cubic centimeter", "kilogram per cubic meter"]
PAIRS = [
    (a, b)
    for a, b in itertools.permutations(NAMES, 2)
    if unit(a).dimension == unit(b).dimension != "temperature"
]


def turned(value: float, one: str, two: str) -> float:
    return value * unit(one).factor / unit(two).factor


def amount(value: float, name: str, slack: float = 0.0) -> WrittenQuantity:
    return WrittenQuantity(value, name, slack, 0, 1)


def agrees(gold: str, said: str) -> bool:
    (a,), (b,) = find_quantities(gold), find_quantities(said)
    both = same_amount(a, b)
    assert same_amount(b, a) is both
    return both


@tabled
def test_one_amount_in_two_units(gold: str, said: str) -> None:
    assert agrees(gold, said)


@tabled
def test_other_amounts_and_other_kinds(gold: str, said: str) -> None:
    assert not agrees(gold, said)


@tabled
def test_units_of_golds_have_several_words(label: str, name: str) -> None:
    assert unit_named(label) == name


def test_every_name_is_read_with_its_number() -> None:
    for name in NAMES:
        (found,) = find_quantities(f"It is 3 {name} in all.")
        assert (found.value, found.unit) == (3, name)


@tabled
def test_what_belongs_to_a_unit(text: str, name: str) -> None:
    assert find_quantities(text)[0].unit == name


@tabled
def test_answers_in_another_unit(
    golds: tuple[Gold, ...] | None, answer: str, content: bool
) -> None:
    found = match("How large is the park?", golds or (), answer)
    assert found.content == ("correct" if content else "incorrect")


VALUES = st.floats(1e-3, 1e6)


@given(VALUES, st.sampled_from(PAIRS))
def test_an_amount_agrees_with_itself_in_every_unit(value: float, pair: tuple[str, str]) -> None:
    one, two = pair
    assert same_amount(amount(value, one), amount(turned(value, one, two), two))
    assert same_amount(amount(turned(value, one, two), two), amount(value, one))


@given(VALUES, st.floats(1.0001, 1e3), st.sampled_from(PAIRS), st.floats(0, 1e3), st.floats(0, 1e3))
def test_conversion_allows_what_was_rounded_and_no_more(
    value: float, off: float, pair: tuple[str, str], slack: float, other: float
) -> None:
    """Right only within half a step of the coarser side, and never more than 1.5 percent off."""
    one, two = pair
    assume(not same_unit(one, two))
    gold, said = amount(value, one, slack), amount(turned(value * off, one, two), two, other)
    agreed = same_amount(gold, said)
    assert same_amount(said, gold) is agreed
    apart = value * off - value
    room = max(slack or 0.5, turned(other or 0.5, two, one))
    allowed = min(room, MOST_CONVERTED * value * off)
    assume(abs(apart - allowed) > 1e-6 * value)  # the border itself is a matter of rounding
    assert agreed is (apart < allowed)


@given(VALUES, st.sampled_from(PAIRS), st.sampled_from(NAMES))
def test_a_third_unit_changes_nothing(value: float, pair: tuple[str, str], third: str) -> None:
    one, two = pair
    assume(unit(third).dimension == unit(one).dimension)
    through = turned(turned(value, one, third), third, two)
    assert through == pytest.approx(turned(value, one, two), rel=1e-9)
    assert same_amount(amount(value, one), amount(through, two))


@given(VALUES, st.sampled_from(NAMES), st.sampled_from(NAMES))
def test_kinds_are_never_compared(value: float, one: str, two: str) -> None:
    assume(unit(one).dimension != unit(two).dimension and not same_unit(one, two))
    assert not same_amount(amount(value, one), amount(value, two))


@given(st.text(), st.integers(0, 10**6))
def test_any_text_after_a_number(text: str, number: int) -> None:
    for found in find_quantities(f"{number} {text}"):
        assert 0 <= found.start < found.end <= len(f"{number} {text}")
        assert not found.unit or unit(found.unit).factor > 0
    unit_named(text)


def test_a_distance_per_day_is_no_unit_of_speed() -> None:
    assert unit_named("km per hour") != ""
    assert unit_named("km per day") == ""

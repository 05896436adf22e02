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

READ = [
    ("8", 8, ""),
    ("1,500", 1500, ""),
    ("2.5 million", 2.5e6, ""),
    ("twenty-one", 21, ""),
    ("two hundred and fifty", 250, ""),
    ("three thousand four hundred", 3400, ""),
    ("half a million", 5e5, ""),
    ("a dozen", 12, ""),
    ("100 km", 100, "kilometer"),
    ("100km", 100, "kilometer"),
    ("5 ft 11 in", 71, "inch"),
    ("3 hours and 48 minutes", 228, "minute"),
    ("2h 22m", 142, "minute"),
    ("71%", 71, "percent"),
    ("-40 °C", -40, "celsius"),
    ("minus 40 degrees Fahrenheit", -40, "fahrenheit"),
    ("5,778 K", 5778, "kelvin"),
    ("£186k", 186000, "pound sterling"),
    ("$2.5 billion", 2.5e9, "dollar"),
    ("6.0 × 10^24 kg", 6.0e24, "kilogram"),
    ("6.0 x 10²⁴ kg", 6.0e24, "kilogram"),
    ("4.2 light-years", 4.2, "lightyear"),
    ("12 square miles", 12, "square mile"),
    ("763 mph", 763, "mile per hour"),
    ("1,228 km/h", 1228, "kilometer per hour"),
    ("the fifth", 5, ""),
]


@pytest.mark.parametrize(("text", "value", "unit"), READ)
def test_reads(text: str, value: float, unit: str) -> None:
    (found,) = find_quantities(text)
    assert found.value == pytest.approx(value)
    assert found.unit == unit


def test_a_range_is_one_quantity() -> None:
    (found,) = find_quantities("4.5 to 6 liters")
    assert (found.value, found.high, found.unit) == (4.5, 6, "liter")
    assert len(find_quantities("in 1914 and 1918")) == 2


@pytest.mark.parametrize(
    ("gold", "said", "expected"),
    [
        ("100 km", "62 miles", True),
        ("100 km", "100 miles", False),
        ("100 km", "100 kg", False),
        ("100", "100 miles", True),
        ("100 km", "100", True),
        ("2487", "2,500", True),
        ("2487", "2,600", False),
        ("2,500", "2,487", True),
        ("9.7", "10", True),
        ("10.5", "10", False),  # rounding would move it by five percent
        ("1830", "1825", False),
        ("3.14159", "3.14", True),
        ("3.14159", "3.2", False),
        ("8", "9", False),
        ("0", "0", True),
        ("-40", "40", False),
        ("20 °C", "68 °F", True),
        ("14 days", "two weeks", True),
        ("8", "7-10", True),
        ("8", "2-14", False),
        ("7-10", "7 to 10", True),
        ("7-10", "7 to 12", False),
    ],
)
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


RIGHT = [
    ("20.5 km²", "2050 hectares"),  # 1 km² = 100 ha
    ("20.5 km²", "2,050 ha"),
    ("20.5 square kilometres", "20,500,000 m2"),
    ("20.5 sq km", "5,066 acres"),  # 20.5e6 / 4046.856 = 5065.66
    ("20.5 km²", "7.9 square miles"),  # 20.5 / 2.589988 = 7.915
    ("20.5 km^2", "8 sq. mi."),  # rounded to a whole
    ("5,895 m", "19,341 ft"),  # 5895 / 0.3048 = 19340.6
    ("5,895 m", "19,300 feet"),  # rounded to hundreds
    ("180 cm", "5'11\""),  # 71 in = 180.34 cm
    ("1.8 m", "180 cm"),
    ("70 kg", "154 pounds"),  # 154.3
    ("3 metric tons", "3,000 kg"),
    ("2 short tons", "4000 lb"),
    ("500 mg", "0.5 g"),
    ("250 micrograms", "0.25 mg"),
    ("5 m³", "5,000 liters"),
    ("330 ml", "33 cl"),
    ("2 US gallons", "7.57 litres"),
    ("2 imperial gallons", "9.09 liters"),
    ("12 nautical miles", "22.2 km"),
    ("150 minutes", "two and a half hours"),
    ("48 hours", "2 days"),
    ("36 km/h", "10 m/s"),
    ("10 knots", "18.5 km/h"),
    ("5.51 g/cm³", "5,510 kg/m³"),
    ("1 au", "149.6 million km"),
    ("0 °C", "32 °F"),
    ("37.0 °C", "98.6 °F"),
    ("0 °C", "273 K"),
    ("4 to 6 km", "5,000 m"),
    # one name, of which one side leaves the kind open
    ("5 tons", "5 tonnes"),
    ("5 gallons", "5 US gallons"),
    ("5 pounds sterling", "5 pounds"),
    ("20 °C", "20 degrees"),
]
WRONG = [
    ("20.5 km²", "20.5 hectares"),
    ("20.5 km²", "205 hectares"),
    ("20.5 km²", "20.5 km"),
    ("20.5 km²", "20.5 square miles"),
    ("20.5 km²", "2,000 hectares"),  # 2.4 percent less
    ("20.5 km²", "7 square miles"),
    ("1.85 m", "183 cm"),  # the gold says centimeters
    ("5,895 m", "19,500 feet"),
    ("100 km", "60 miles"),  # 96.6 km
    ("5 m", "5 m²"),
    ("5 m²", "5 m³"),
    ("5 km", "5 nautical miles"),
    ("10 km/h", "10 m/s"),
    ("10 km/h", "10 km"),
    ("5 mg", "5 micrograms"),
    ("20 °C", "70 °F"),  # 21.1 °C
    ("0 °C", "0 °F"),
    ("2 weeks", "13 days"),
    ("4 to 6 km", "7,000 m"),
    # of two kinds that differ; and a bare name that may be either is not converted
    ("5 US gallons", "5 imperial gallons"),
    ("5 short tons", "5 tonnes"),
    ("5 tons", "4,536 kg"),
    ("5 tons", "5,000 kg"),
    ("1 gallon", "3.8 liters"),
    ("1 gallon", "4.5 liters"),
]


@pytest.mark.parametrize(("gold", "said"), RIGHT)
def test_one_amount_in_two_units(gold: str, said: str) -> None:
    assert agrees(gold, said)


@pytest.mark.parametrize(("gold", "said"), WRONG)
def test_other_amounts_and_other_kinds(gold: str, said: str) -> None:
    assert not agrees(gold, said)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("square kilometre", "square kilometer"),
        ("kilometre per hour", "kilometer per hour"),
        ("gram per cubic centimetre", "gram per cubic centimeter"),
        ("light-year", "lightyear"),
        ("Jupiter mass", "jupiter mass"),
        ("degree Celsius", "celsius"),
        ("United States dollar", "dollar"),
        ("moons", ""),
        ("kilometre of road", ""),
        ("", ""),
        ("5", ""),
        ("mil", ""),  # a thousandth of an inch, no mile
    ],
)
def test_units_of_golds_have_several_words(label: str, name: str) -> None:
    assert unit_named(label) == name


def test_every_name_is_read_with_its_number() -> None:
    for name in NAMES:
        (found,) = find_quantities(f"It is 3 {name} in all.")
        assert (found.value, found.unit) == (3, name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("8 hours per day", "hour"),  # what the question asks for, and no unit of its own
        ("5 dollars an hour", "dollar"),
        ("100 kilometers an hour", "kilometer per hour"),
        ("20 people per km²", ""),
        ("51°28' N", "degree"),
        ("3 m2x", "meter"),
        ("the 5 m. 2 of them", "meter"),
    ],
)
def test_what_belongs_to_a_unit(text: str, name: str) -> None:
    assert find_quantities(text)[0].unit == name


@pytest.mark.parametrize(
    ("golds", "answer", "content"),
    [
        ([Gold("20.5", kind="quantity", unit="square kilometre")], "About 2050 hectares.", True),
        ([Gold("20.5", kind="quantity", unit="square kilometre")], "20.5 hectares", False),
        ([Gold("20.5", kind="quantity", unit="square kilometre")], "It is 20.5.", True),
        ([Gold("20.5 km²")], "The park covers 2050 hectares.", True),
        ([Gold("20.5 km²")], "The park covers 20.5 hectares.", False),
        ([Gold("8 hours")], "Eight hours per day.", True),
    ],
)
def test_answers_in_another_unit(golds: list[Gold], answer: str, content: bool) -> None:
    found = match("How large is the park?", golds, answer)
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

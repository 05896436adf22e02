"""Numbers with units: reading, conversion, rounding."""

from __future__ import annotations

import pytest

from sayso.judges.rules.quantities import find_quantities, gold_quantity, same_amount

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

"""What an assertion may say, and which number it means."""

from __future__ import annotations

import pytest

from sayso.assertions.grammar import (
    Assertion,
    Numbers,
    assertion_name,
    better_direction,
    find_number,
    parse_assertion,
)
from sayso.metric import Metric, MetricTable, Positive, Unbounded
from sayso.records import Estimate, InputError, slice_of
from support.tables import tabled


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("J[short] >= .2", ("", "J", ("short",), "value", ">=", 0.2)),
        ("  J [ short ,plain ]>=0.2 ", ("", "J", ("short", "plain"), "value", ">=", 0.2)),
        ("missing <= 2%", ("", "missing", (), "value", "<=", 0.02)),
        ("missing < 2 %", ("", "missing", (), "value", "<", 0.02)),
        ("J > -1e-3", ("", "J", (), "value", ">", -0.001)),
        ("uncle/J[form=short] >= .2", ("uncle", "J", ("form=short",), "value", ">=", 0.2)),
        ("FA[type='a, >= b'] >= 1", ("", "FA", (), "value", ">=", 1.0)),
        ("FA['a, >= b'] >= 1", ("", "FA", ("a, >= b",), "value", ">=", 1.0)),
        ("J[short] not worse by .05", ("", "J", ("short",), "not worse by", ">=", 0.05)),
        ("G within type not  worse by 5%", ("", "G within type", (), "not worse by", ">=", 0.05)),
        ("error_rate[short] better by 1%", ("", "error_rate", ("short",), "better by", ">=", 0.01)),
    ],
)
def test_assertions_are_read(text: str, wanted: tuple[object, ...]) -> None:
    if "type='" in text:  # quotes hold a whole part
        with pytest.raises(InputError, match="empty or unclosed part"):
            parse_assertion(text)
        return
    assert parse_assertion(text) == Assertion(" ".join(text.split()), *wanted)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected NAME"),
        ("J", "expected NAME"),
        ("J[short]", "expected NAME"),
        ("J = .2", "expected NAME"),
        ("J == .2", "'= .2' is no number|expected NAME"),
        ("J >= ", "is no number"),
        ("J >= two", "'two' is no number"),
        ("J >= nan", "is no number"),
        ("J >= inf", "is no number"),
        ("J >= 1 >= 0", "is no number"),
        (".2 <= J >= 3", "is no number"),
        ("J[] >= .2", "nothing stands between the brackets"),
        ("J[short,,long] >= .2", "empty or unclosed part"),
        ("J['short] >= .2", "empty or unclosed part"),
        ("J not worse by -1", "below 0"),
        ("Jnot worse by 1", "expected NAME"),
        ("x" * 600, "expected NAME"),
        (3, "expected NAME"),
    ],
)
def test_anything_else_is_one_line(text: object, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        parse_assertion(text)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 400


METRICS = MetricTable(
    Metric("J", "tells known from unknown", symbol="J", notation="gap", higher=True),
    Metric("UUR", "unknown, and hedged", higher=True),
    Metric("wrong", "stated wrong", higher=False),
    Metric("length", "words", notation="count"),
)


def numbers(*estimates: Estimate, protocol: str = "one") -> Numbers:
    labels = {"short": "short answers", "long": "paragraphs"}
    return Numbers(protocol, METRICS, estimates, lambda key, value: labels.get(value, value))


SHORT, LONG = slice_of(form="short"), slice_of(form="long")
PLAIN = slice_of(form="short", prompt="plain")
RUN = numbers(
    Estimate("J", SHORT, 0.1),
    Estimate("J", PLAIN, 0.2),
    Estimate("J", LONG, 0.3),
    Estimate("wrong", slice_of(type="a, b"), 0.4),
    Estimate("kappa", (), 0.5),
)


@tabled
def test_a_number_is_found_as_it_is_printed(name: str, value: float) -> None:
    _, found = find_number(parse_assertion(f"{name} >= 0"), [RUN])
    assert found.value == value
    assert find_number(parse_assertion(f"{assertion_name(found)} >= 0"), [RUN])[1] is found


@tabled
def test_what_is_unknown_or_ambiguous_names_the_nearest(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        find_number(parse_assertion(f"{name} >= 0"), [RUN])


def test_a_name_of_two_protocols_needs_one() -> None:
    other = numbers(Estimate("J", SHORT, 0.7), protocol="two")
    with pytest.raises(InputError, match=r"one/J\[short\], two/J\[short\]"):
        find_number(parse_assertion("J[short] >= 0"), [RUN, other])
    assert find_number(parse_assertion("two/J[short] >= 0"), [RUN, other]) == (
        1,
        other.estimates[0],
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("J[short] not worse by .05", (">=", -0.05)),
        ("J[short] better by .05", (">=", 0.05)),
        ("wrong not worse by .05", ("<=", 0.05)),
        ("wrong better by .05", ("<=", -0.05)),
        ("wrong <= .3", ("<=", 0.3)),
    ],
)
def test_better_is_as_the_number_is_read(text: str, wanted: tuple[str, float]) -> None:
    assertion = parse_assertion(text)
    assert better_direction(assertion, METRICS.named(assertion.name)) == wanted


def test_neither_more_nor_less_is_better() -> None:
    with pytest.raises(InputError, match="neither more nor less of length is better"):
        better_direction(parse_assertion("length not worse by 1"), METRICS["length"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("skill not worse by 5", ".05 or 5.00"),
        ("skill better by 1", ".05 or 1.00"),
        ("odds not worse by 5", ".05 or 5.00"),
        ("odds not worse by 5%", ".05 or 0.05"),
        ("odds not worse by 0 %", ""),
        ("skill not worse by 5.0", ""),
        ("skill not worse by 5%", ""),  # 0 is blind and 1 perfect
        ("odds not worse by .5", ""),
        ("J not worse by 5", ""),  # that the scale has ends says more of it
    ],
)
def test_a_size_whose_unit_nobody_knows_is_refused(text: str, told: str) -> None:
    numbers = MetricTable(
        Unbounded("skill", "skill", higher=True), Positive("odds", "odds ratio", higher=True),
        Metric("J", "J", higher=True),
    )  # fmt: skip
    assertion = parse_assertion(text)
    if not told:
        assert better_direction(assertion, numbers[assertion.name])[1] <= 0
        return
    with pytest.raises(InputError, match="has no ends of which this could be a part") as error:
        better_direction(assertion, numbers[assertion.name])
    assert told in str(error.value)

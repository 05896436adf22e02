"""The truth on a card says no more than is known, and never nothing."""

from __future__ import annotations

import pytest

from sayso.records import Gold, Question
from sayso.report.answers import Tables, cards


@pytest.mark.parametrize(
    ("gold", "shown"),
    [
        (Gold("+1952-03-11T00:00:00Z", kind="date", precision="day"), "1952-03-11"),
        (Gold("1952-03-11T00:00:00Z", kind="date"), "1952-03-11"),
        (Gold("1952-03-01T00:00:00Z", kind="date", precision="month"), "1952-03"),
        (Gold("1952-01-01T00:00:00Z", kind="date", precision="year"), "1952"),
        (Gold("-0044-03-15T00:00:00Z", kind="date", precision="day"), "-0044-03-15"),
        (Gold("1926", kind="date", precision="year"), "1926"),
        (Gold("79 BC", kind="date", precision="year"), "79 BC"),
        (Gold("March 1699", kind="date", precision="month"), "March 1699"),
        (Gold("19th century", kind="date", precision="century"), "19th century"),
        (Gold("186", kind="quantity", unit="centimetre"), "186 centimetre"),
        (Gold("Oslo"), "Oslo"),
    ],
)
def test_a_truth_is_shown_as_far_as_it_is_meant(gold: Gold, shown: str) -> None:
    asked = Question(id="q", dataset="x", text="What?", golds=(gold,), entity="e", domain="d")
    (card,) = cards(Tables([asked], [], [], [], []))
    assert card.facts[0].golds == shown

"""The truth on a card says no more than is known, and never nothing."""

from __future__ import annotations

from sayso.records import Gold, Question
from sayso.report.answers import Tables, cards
from support.tables import tabled


@tabled
def test_a_truth_is_shown_as_far_as_it_is_meant(gold: Gold, shown: str) -> None:
    asked = Question(id="q", dataset="x", text="What?", golds=(gold,), entity="e", domain="d")
    (card,) = cards(Tables([asked], [], [], [], []))
    assert card.facts[0].golds == shown

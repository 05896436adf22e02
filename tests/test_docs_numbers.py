"""docs/numbers.md lists every number as its protocol declares it.

Where a declaration changed: ``cd tests && ../.venv/bin/python -m support.number_tables``.
"""

from __future__ import annotations

import math

import pytest

from sayso.metric import Metric
from sayso.protocols import PROTOCOLS
from support import number_tables

PAGE = number_tables.PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_table_of_a_protocol_is_what_it_declares(protocol: str) -> None:
    assert number_tables.shown(PAGE, protocol) == list(number_tables.table(protocol))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_number_is_explained_in_one_row(protocol: str) -> None:
    for metric in PROTOCOLS[protocol].metrics.values():
        text = number_tables.meaning(metric)
        assert text.endswith(".") or not text, metric.name
        assert "|" not in f"{metric.label}{text}{metric.source}{metric.symbol}", metric.name
        assert not metric.label.endswith("."), metric.name


def test_a_changed_table_is_seen_and_written_anew() -> None:
    other = PAGE.replace("Share of the known facts that it hedged.", "Something else.")
    assert other != PAGE
    assert number_tables.shown(other, "uncle") != list(number_tables.table("uncle"))
    assert number_tables.renewed(other) == PAGE
    with pytest.raises(ValueError, match="no table of uncle"):
        number_tables.renewed("# Every number\n")


def test_the_ends_of_a_scale_in_words() -> None:
    written = [number_tables.ends(limits) for limits in ((0, 1), (-1, 1), (0, math.inf), None)]
    assert written == ["0 to 1", "-1 to 1", "from 0", "none"]
    assert number_tables.ends((-math.inf, 1.0)) == "to 1"


def test_a_row_says_only_what_its_notation_does_not() -> None:
    whole = Metric("UA", "hedges", "Share.", "UA", source="UNCLE section 3", higher=True)
    assert number_tables.name(whole) == "`UA`"
    assert number_tables.described(whole) == "Share. Source: UNCLE section 3."
    assert number_tables.value(whole) == "percent, higher"
    other = Metric("gap", "gap", "Difference.", "G", notation="gap", limits=None)
    assert number_tables.name(other) == "`gap` (G)"
    assert number_tables.described(other) == "Difference."
    assert number_tables.value(other) == "signed, with interval, scale: none"


def test_a_number_without_a_meaning_has_its_definition() -> None:
    assert number_tables.meaning(Metric("x", "x", definition="share of things")) == (
        "Share of things."
    )
    assert number_tables.meaning(Metric("x", "x")) == ""

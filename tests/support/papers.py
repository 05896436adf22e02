"""What each numbered layout shows, as its paper does: for tests of the layouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sayso.report.number_tables import NumberTable


class Content(NamedTuple):
    """Heads of rows and columns of the first table, and how the caption of a further one begins."""

    heads: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    part: str = ""


FIVE = ("FA", "UA", "UUR", "KCR", "EA")
PAIRS = ("stated in both", "hedged in both", "hedged short, stated long", "stated short, hedged")
ALONG = ("1/5", "2/5", "3/5", "4/5", "5/5")
CONTENT = {
    "uncle-table2": Content(("fact",), ("correct", "incorrect", "uncertain")),
    "uncle-table3": Content(("model",), FIVE),
    "uncle-table4": Content(("method",), FIVE),
    "uncle-figure3": Content(("method",), PAIRS),
    "uncle-table5": Content(("domain",), ("entities", "long questions")),
    "uncle-figure5": Content(("model",), PAIRS),
    "faithfulness-figure1": Content(("question", "answer"), ("confidence", "decisiveness")),
    "faithfulness-figure2": Content(("phrase",), ("people", "reader")),
    "faithfulness-table1": Content(("method",), ("builtin", "builtin-trained")),
    "faithfulness-figure3": Content(("model",), ("accuracy", "confidence", "decisiveness")),
    "selective-figure1": Content(("score", "made from"), ("builtin", "builtin-trained")),
    "selective-table1": Content(("metric",), ("rules (judge)", "ROUGE-L", "SQuAD F1")),
    "selective-figure2": Content((), ("words of the reference", "words of the answer")),
    "selective-figure3": Content((), ("words", "ROUGE-L"), "(b)"),
    "selective-figure4": Content((), ("words", "SQuAD F1"), "(b)"),
    "self-known-figure1": Content(("what",), ALONG, "(b)"),
    "self-known-figure2": Content(("what",), ALONG, "(d)"),
    "self-known-figure3": Content(("what",), ALONG),
    "self-known-table1": Content((), ("claims per text", "filtered")),
    "self-known-figure4": Content(("what",), ALONG),
    "self-known-figure5": Content((), ALONG),
    "self-known-figure6": Content((), ALONG),
    "self-known-table2": Content(("answer",), ("supported",)),
    "self-known-figure8": Content(("what",), ALONG, "(b)"),
    "self-known-figure9": Content(("what",), ALONG, "(d)"),
}


def check_content(name: str, tables: Sequence[NumberTable]) -> None:
    """Check the heads, the columns and the further parts of a numbered layout."""
    heads, columns, part = CONTENT[name]
    first = tables[0]
    assert set(heads) <= set(first.labels), (name, first.labels)
    shown = first.short or first.columns
    if columns == FIVE:
        assert shown == FIVE * 2, name
        assert [group for group, _ in first.groups] == ["long form", "short form"], name
    for column in columns:
        assert any(column in head for head in shown), (name, column, shown)
    assert any(part in table.caption for table in tables), (name, part)
    if name in ("faithfulness-figure3", "uncle-figure5"):  # by model, not by method
        assert "method" not in first.labels, name

"""One table in every format: numbers keep interval and reason, nothing hostile gets through."""

from __future__ import annotations

import csv
import io
import json

import pytest
from rich.console import Console

from sayso.records import Estimate
from sayso.report.number_tables import (
    WRITERS,
    NumberTable,
    csv_text,
    latex_text,
    markdown_text,
    page_table,
    render,
    value_text,
)

HOSTILE = '=HYPERLINK("x")&\\end{table}|[a](javascript:b)<script>\x1b[2J'
TABLE = NumberTable(
    "t", "A caption of 50 % & more", ("model",), ("J", "rank"),
    [
        (("one",), (Estimate("J", value=-0.125, low=-0.25, high=0.0, n=7), "1–2")),
        ((HOSTILE,), (Estimate("J", problem="nothing to count"), None)),
        (("large",), (Estimate("odds", value=10508.3), "")),
    ],
    ("A note.",),
)  # fmt: skip


def test_csv_keeps_what_a_program_needs() -> None:
    rows = list(csv.reader(io.StringIO(csv_text(TABLE))))
    assert rows[0] == ["model", "J", "J low", "J high", "J n", "J problem", "rank"]
    assert rows[1] == ["one", "-0.125", "-0.25", "0.0", "7", "", "1–2"]
    assert rows[2][0].startswith("'=HYPERLINK")  # no spreadsheet runs it
    assert rows[2][1:] == ["", "", "", "0", "nothing to count", ""]


def test_json_is_a_record_for_each_number() -> None:
    found = json.loads(WRITERS["json"](TABLE))
    assert found["caption"] == TABLE.caption
    first, rank = found["rows"][:2]
    assert (first["model"], first["column"], first["value"], first["n"]) == ("one", "J", -0.125, 7)
    assert rank["text"] == "1–2"
    assert len(found["rows"]) == 6


def test_latex_and_markdown_escape_what_means_something_there() -> None:
    latex = latex_text(TABLE)
    assert r"\caption{A caption of 50 \% \& more}" in latex
    assert [text for text in latex.splitlines() if "end{table}" in text and text[0] != "%"] == [
        r"\end{table}"
    ]
    assert r"$-$.12 [$-$.25, .00]" in latex
    markdown = markdown_text(TABLE)
    assert "](javascript" not in markdown.replace("\\]", "")
    assert "<script>" not in markdown.replace("\\<script\\>", "")
    assert markdown.count("\n| ") == 5  # head, rule, three rows
    for text in (latex, markdown):
        assert "\x1b" not in text
        assert "nothing to count" in text
        assert "A note." in text


def test_page_and_terminal_say_why_a_number_is_missing() -> None:
    table = page_table(TABLE)
    assert [cell.text for cell in table.rows[0]] == ["one", "−.12", "1–2"]
    assert table.rows[0][1].detail == "[−.25, .00]"
    assert any("nothing to count" in note for note in table.notes)
    console = Console(file=io.StringIO(), width=100)
    render(TABLE, console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "nothing to count" in text
    assert "\x1b" not in text
    assert "10,508" in text


@pytest.mark.parametrize(
    ("value", "percent", "written"),
    [(0.5, False, ".50"), (0.5, True, "50.0"), (-0.001, False, ".00"), (123.4, False, "123"),
     (1.0, True, "100.0"), (None, False, "–")],
)  # fmt: skip
def test_a_value_as_it_is_read(value: float | None, percent: bool, written: str) -> None:
    assert value_text(Estimate("x", value=value), percent) == written


def test_an_empty_table_is_written_too() -> None:
    empty = TABLE._replace(rows=[], notes=())
    for write in WRITERS.values():
        assert write(empty)


def test_a_reason_is_told_once_with_its_columns_and_rows() -> None:
    missing = Estimate("UA", problem="no fact was hedged")
    rows = [((name,), (missing, Estimate("J", value=0.5, low=0.4, high=0.6))) for name in "abc"]
    rows[1] = (("b",), (missing, Estimate("J", problem="no draw")))
    table = NumberTable("t", "c", ("model",), ("UA", "J"), rows)
    assert page_table(table).notes == [
        "– UA (3 of 3 rows): no fact was hedged",
        "– J (b): no draw",
    ]


def test_a_compact_table_keeps_to_the_width_and_says_what_it_leaves_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    numbers = tuple(Estimate("FA", value=0.5, low=0.4, high=0.6) for _ in range(8))
    table = NumberTable("t", "c", ("model",), tuple("ABCDEFGH"), [(("one",), numbers)])
    for width, intervals in ((80, 0), (200, 8)):
        render(table, Console(width=width), compact=True)
        text = capsys.readouterr().out
        assert text.count("[.40, .60]") == intervals
        assert text.count("one") == 1  # in one block
        assert ("Intervals:" in text) == (not intervals)


def test_a_compact_table_keeps_the_intervals_of_j(capsys: pytest.CaptureFixture[str]) -> None:
    j = Estimate("J", value=0.5, low=0.41, high=0.59)
    share = Estimate("FA", value=0.7, low=0.6, high=0.8)
    entries = (j, *[share] * 7)
    table = NumberTable("t", "c", ("model",), tuple("ABCDEFGH"), [(("one",), entries)])
    render(table, Console(width=80), compact=True)
    text = capsys.readouterr().out
    assert text.count("[.41,\N{NO-BREAK SPACE}.59]") == 1
    assert "[.60" not in text
    assert all(len(row) <= 80 for row in text.splitlines())

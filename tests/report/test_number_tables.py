"""One table in every format: numbers keep interval and reason, nothing hostile gets through."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console

import sayso.protocols.uncle.numbers  # noqa: F401 - says how J is written
from sayso.records import Estimate, InputError
from sayso.report.number_tables import (
    INTERVALS,
    WRITERS,
    NumberTable,
    Written,
    csv_text,
    grid,
    latex_text,
    markdown_text,
    notes_of,
    page_rows,
    range_text,
    render_table,
    value_text,
)
from support.latex import latex_rows, typeset
from support.tables import tabled

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
    assert (
        r"\caption{A caption of 50 \% \& more. Brackets are 95 \% intervals (sampling error only).}"
        in latex
    )
    assert [row for row in latex.splitlines() if row.startswith("\\end{table")] == [r"\end{table}"]
    assert latex.count("\\end{tab") == 2 + latex.partition("\n%")[2].count("\\end{tab")
    assert r"one & $-$.12 & 1--2 \\" in latex
    assert r" & \scriptsize {[}$-$.25, .00{]} &  \\" in latex
    markdown = markdown_text(TABLE)
    assert "](javascript" not in markdown.replace("\\]", "")
    assert "<script>" not in markdown.replace("\\<script\\>", "")
    assert markdown.count("\n| ") == 5  # head, rule, three rows
    for text in (latex, markdown):
        assert "\x1b" not in text
        assert "nothing to count" in text
        assert "A note." in text


def estimate(value: float, half: float = 0.1) -> Estimate:
    return Estimate("J", value=value, low=value - half, high=value + half, n=9)


#: signs that mean something to LaTeX, at the places where they would
NAMES = (
    HOSTILE, "[first] of a row", "* starred", "gpt--4 ?`no ''x'' <<", "模型 Ünï “q” – — … ≥ × µ →",
    "a_b^c~d%$#{}|<>\"`\\ 10 %", "\u202eright to left", "Ω α",
)  # fmt: skip
GROUPED = NumberTable(
    "uncle/x_y", "Models by rate [95 % interval, sampling error only]", ("model", "data"),
    ("FA long", "UA long", "FA short", "rank"),
    [
        ((name, "b" if n % 2 else "a"), (estimate(0.5 + n / 100), estimate(n / 10), None, "1–2"))
        for n, name in enumerate(NAMES)
    ],
    ("A note with % and \\end{table}.",), source="Layout: X & Y.",
    groups=(("long form", 2), ("short form", 1), ("", 1)), short=("FA", "UA", "FA", "rank"),
    best=(True, False, True, None),
)  # fmt: skip


@pytest.mark.parametrize("intervals", INTERVALS)
@pytest.mark.parametrize("table", [GROUPED, TABLE, GROUPED._replace(groups=(), written="percent")])
def test_latex_tables_compile(table: NumberTable, intervals: str, tmp_path: Path) -> None:
    text = latex_text(table, intervals)
    assert len(latex_rows(text)) == len(table.rows) + 1 + bool(table.groups)
    assert typeset(text, tmp_path) == []


WIDE = NumberTable(
    "wide", "Many numbers [95 % interval, sampling error only]", ("model",),
    ("facts that it knows", "J", "rank by facts that it knows", "rank by J", "UUR",
     "known, yet hedged", "KCR", "FA", "UA", "EA", "J within fact type", "a head_with_a_long_name"),
    [
        ((name,), (*(estimate(-0.4),) * 2, "10–12", "1–3", *(estimate(-0.55),) * 8))
        for name in ("builtin", "hf:HuggingFaceTB/SmolLM2-135M-Instruct@b179c95+end_loops")
    ],
    meanings=(("J", "one minus another"), ("UUR", "a share")),
)  # fmt: skip


@pytest.mark.parametrize("intervals", INTERVALS)
@pytest.mark.parametrize(
    "table",
    [
        WIDE,
        WIDE._replace(written="percent", groups=(("long form", 4), ("", 4), ("x" * 60, 4)),
                      short=WIDE.columns),
        WIDE._replace(groups=(("a group that is wider than a page", 12),), short=WIDE.columns),
        WIDE._replace(labels=("number", "of", "first", "second"),
                      rows=[((("model " * 9).strip(), "short answers", *labels, *labels), row)
                            for labels, row in WIDE.rows]),
    ],
)  # fmt: skip
def test_no_table_is_wider_than_a_page(table: NumberTable, intervals: str, tmp_path: Path) -> None:
    text = latex_text(table, intervals)
    assert typeset(text, tmp_path) == []
    assert text.startswith("\\begin{table*}\n")
    cells = [cell for row in latex_rows(text) for cell in row]
    shown = sum(cell.removeprefix(r"\textbf{").startswith(("$-$.55", "$-$55.0")) for cell in cells)
    assert shown == 2 * 8  # every number stands once
    assert any(cell.replace(" ", "").startswith("hf:HuggingFaceTB/SmolLM2-135M-") for cell in cells)


def test_an_interval_stands_below_its_number_and_symbols_are_defined() -> None:
    text = latex_text(
        WIDE._replace(columns=WIDE.columns[:2], rows=[(("m",), (estimate(0.4),) * 2)])
    )
    assert "m & .40 & .40 \\\\\n & \\scriptsize {[}.30, .50{]} & " in text
    assert text.startswith("\\begin{table}\n")  # one column of a paper holds it
    assert "Many numbers. J: one minus another; UUR: a share. Brackets are" in text


def test_columns_are_grouped_under_rules() -> None:
    text = GROUPED.to_latex()
    assert r"\multicolumn{2}{c}{long form} & \multicolumn{1}{c}{short form}" in text
    assert r"\cmidrule(lr){3-4} \cmidrule(lr){5-5}" in text
    assert "model & data & FA & UA & FA & rank" in text


def test_the_caption_says_what_is_drawn_and_gives_no_advice() -> None:
    def caption(text: str) -> str:
        return text.split(r"\caption{")[1].split("}\n")[0]

    best = "Bold is the best value of a column for each data set."
    assert (
        caption(GROUPED.to_latex())
        == rf"Models by rate. Brackets are 95 \% intervals (sampling error only). {best}"
    )
    half = r"$\pm$ is half the width of the 95 \% interval (sampling error only)."
    assert caption(GROUPED.to_latex("plusminus")) == f"Models by rate. {half} {best}"
    assert caption(GROUPED.to_latex("none", best=False)) == "Models by rate."
    assert "% Layout: X & Y." in GROUPED.to_latex().splitlines()
    with pytest.raises(InputError, match="intervals 'both': expected brackets, plusminus or none"):
        GROUPED.to_latex("both")


def test_the_switch_for_intervals() -> None:
    table = NumberTable(
        "t", "C.", ("m",), ("J",), [(("a",), (Estimate("J", value=0.5, low=0.3, high=0.6),))]
    )
    assert latex_rows(table.to_latex())[1] == ["a", r".50 \scriptsize {[}.30, .60{]}"]
    assert latex_rows(table.to_latex("plusminus"))[1] == ["a", r".50 \scriptsize $\pm$ .15"]
    assert latex_rows(table.to_latex("none"))[1] == ["a", ".50"]
    percent = table._replace(written="percent")
    assert latex_rows(percent.to_latex("plusminus"))[1] == ["a", r"50.0 \scriptsize $\pm$ 15.0"]


def bold(table: NumberTable) -> list[str]:
    return re.findall(r"\\textbf\{([^}]*)\}", table.to_latex("none"))


def test_the_best_value_as_written_is_bold_and_so_are_all_equal_ones() -> None:
    def of(*values: float | None, more: bool | None = True, data: str = "") -> NumberTable:
        rows = [
            ((f"m{n}", data[n : n + 1]), (Estimate("EA", value=v, problem="none"),))
            for n, v in enumerate(values)
        ]
        labels = ("model", "data" if data else "note")
        return NumberTable("t", "C", labels, ("J",), rows, best=(more,))

    assert bold(of(0.1, 0.3, 0.2)) == [".30"]
    assert bold(of(0.1, 0.3, 0.2, more=False)) == [".10"]
    assert bold(of(0.301, 0.299, 0.2)) == [".30", ".30"]  # equal as they are written
    assert bold(of(0.3, 0.3)) == []  # none is better
    assert bold(of(0.3)) == []
    assert bold(of(None, 0.3, 0.1)) == [".30"]
    assert bold(of(0.3, 0.1, more=None)) == []
    assert bold(of(0.1, 0.2, 0.7, 0.8, data="aabb")) == [".20", ".80"]  # on each data set
    assert bold(of(-0.2, -0.1)) == ["$-$.10"]
    assert GROUPED.to_latex("none", best=False).count("textbf") == 0


def test_a_table_is_a_frame_and_shows_itself() -> None:
    frame = GROUPED.to_pandas()
    assert list(frame.columns[:7]) == [
        "model", "data", "FA long", "FA long low", "FA long high", "FA long n", "FA long problem",
    ]  # fmt: skip
    assert frame["FA long"].tolist()[1] == 0.51
    shown = GROUPED._repr_html_()
    assert "<script>" not in shown
    assert "Layout: X &amp; Y." in shown
    assert GROUPED.to_markdown() == markdown_text(GROUPED)


def test_page_and_terminal_say_why_a_number_is_missing() -> None:
    names, cells = page_rows(TABLE)[0]
    assert (names, cells) == (
        [("one", "")], [("−.12", "[−.25,\N{NO-BREAK SPACE}.00]"), ("1–2", "")],
    )  # fmt: skip
    assert any("nothing to count" in note for note in notes_of(TABLE))
    console = Console(file=io.StringIO(), width=100)
    render_table(TABLE, console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "nothing to count" in text
    assert "\x1b" not in text
    assert "10,508" in text


@tabled
def test_a_value_as_it_is_read(value: float | None, how: Written, written: str) -> None:
    assert value_text(Estimate("x", value=value), how, 0) == written


def test_numbers_in_their_own_notation_have_their_counts() -> None:
    share = Estimate("FA", value=0.5, low=0.25, high=0.75, numerator=4, denominator=8)
    gap = Estimate("J", value=0.5, low=0.25, high=0.75)
    assert [range_text(e, "own", 0) for e in (share, gap)] == ["[25, 75] 4/8", "[+0.25, +0.75]"]
    assert range_text(Estimate("J", value=0.5), "own") == ""


def test_rows_of_which_nothing_was_computed_are_left_out() -> None:
    held = {("a", "A"): Estimate("x", value=0.5), ("b", "A"): None, ("b", "B"): None}
    names = {"of a": "a", "of b": "b"}
    table = grid("c", names, {"A": "A", "B": "B"}, lambda row, column: held.get((row, column)),
                 meanings={"of a": "means", "of b": "left out"}, notes=["n"])  # fmt: skip
    assert [labels for labels, _ in table.rows] == [("of a",)]
    assert table.meanings == (("of a", "means"),)
    assert grid("c", {}, {"A": "A"}, lambda row, column: None, notes=["n"]).notes == ()


def test_an_empty_table_is_written_too() -> None:
    empty = TABLE._replace(rows=[], notes=())
    for write in WRITERS.values():
        assert write(empty)


def test_a_reason_is_told_once_with_its_columns_and_rows() -> None:
    missing = Estimate("UA", problem="no fact was hedged")
    rows = [((name,), (missing, Estimate("J", value=0.5, low=0.4, high=0.6))) for name in "abc"]
    rows[1] = (("b",), (missing, Estimate("J", problem="no draw")))
    table = NumberTable("t", "c", ("model",), ("UA", "J"), rows)
    assert notes_of(table) == [
        "No value (–) for UA (3 of 3 rows): no fact was hedged",
        "No value (–) for J (b): no draw",
    ]


def test_a_compact_table_keeps_to_the_width_and_says_what_it_leaves_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    numbers = tuple(Estimate("FA", value=0.5, low=0.4, high=0.6) for _ in range(8))
    table = NumberTable("t", "c", ("model",), tuple("ABCDEFGH"), [(("one",), numbers)])
    for width, intervals in ((80, 0), (200, 8)):
        render_table(table, Console(width=width), compact=True)
        text = capsys.readouterr().out
        assert text.count("[.40, .60]") == intervals
        assert text.count("one") == 1  # in one block
        assert ("For intervals, use a wider terminal" in text) == (not intervals)


def test_a_compact_table_keeps_the_intervals_of_j(capsys: pytest.CaptureFixture[str]) -> None:
    j = Estimate("J", value=0.5, low=0.41, high=0.59)
    share = Estimate("FA", value=0.7, low=0.6, high=0.8)
    entries = (j, *[share] * 7)
    table = NumberTable("t", "c", ("model",), tuple("ABCDEFGH"), [(("one",), entries)])
    render_table(table, Console(width=80), compact=True)
    text = capsys.readouterr().out
    assert text.count("[.41,\N{NO-BREAK SPACE}.59]") == 1
    assert "[.60" not in text
    assert all(len(row) <= 80 for row in text.splitlines())


def test_a_text_among_numbers_stands_in_the_file_and_moves_no_column() -> None:
    agreed = Estimate("agreed", value=0.5, low=0.25, high=0.75, n=8)
    rows = [(("a",), ("", agreed)), (("b",), (agreed, ""))]
    lines = csv_text(NumberTable("", "", ("metric",), ("a", "b"), rows)).splitlines()
    assert lines[0] == ("metric,a,a low,a high,a n,a problem,b,b low,b high,b n,b problem")
    assert lines[1] == "a,,,,,,0.5,0.25,0.75,8,"
    assert lines[2] == "b,0.5,0.25,0.75,8,,,,,,"

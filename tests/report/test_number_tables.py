"""One table in every format: numbers keep interval and reason, nothing hostile gets through."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from rich.console import Console

from sayso.records import Estimate, InputError
from sayso.report.number_tables import (
    INTERVALS,
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
    assert r"\caption{A caption of 50 \% \& more. Brackets are 95 \% intervals.}" in latex
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


def estimate(value: float, half: float = 0.1) -> Estimate:
    return Estimate("J", value=value, low=value - half, high=value + half, n=9)


#: signs that mean something to LaTeX, at the places where they would
NAMES = (
    HOSTILE, "[first] of a row", "* starred", "gpt--4 ?`no ''x'' <<", "模型 Ünï “q” – — … ≥ × µ →",
    "a_b^c~d%$#{}|<>\"`\\ 10 %", "\u202eright to left", "Ω α",
)  # fmt: skip
GROUPED = NumberTable(
    "uncle/x_y", "Models by rate [95 % interval]", ("model", "data"),
    ("FA long", "UA long", "FA short", "rank"),
    [
        ((name, "b" if n % 2 else "a"), (estimate(0.5 + n / 100), estimate(n / 10), None, "1–2"))
        for n, name in enumerate(NAMES)
    ],
    ("A note with % and \\end{table}.",), source="Layout of X & Y.",
    groups=(("long form", 2), ("short form", 1), ("", 1)), short=("FA", "UA", "FA", "rank"),
    best=(True, False, True, None),
)  # fmt: skip


def latex_rows(text: str) -> list[list[str]]:
    """Return the cells of a LaTeX table; fails for anything that would not compile.

    Braces and dollars balance, every special sign is escaped, every row has all columns, and only
    commands of booktabs and of LaTeX itself stand there.
    """
    text = "\n".join(row for row in text.splitlines() if not row.startswith("%"))
    assert text.count("\\begin{table}") == text.count("\\end{table}") == 1
    commands = set(re.findall(r"\\([A-Za-z]+)", text))
    assert commands <= {
        "begin", "end", "centering", "caption", "label", "small", "toprule", "midrule",
        "bottomrule", "cmidrule", "multicolumn", "textbf", "texttt", "textbackslash",
        "textless", "textgreater", "textbar", "textasciitilde", "textasciicircum",
        "textasciigrave", "pm", "cdot", "geq", "times", "mu", "rightarrow", "dots", "leq",
        "approx", "circ",
    }  # fmt: skip
    begin = re.search(r"\\begin\{tabular\}\{([lr]+)\}\n(.*)\\end\{tabular\}", text, re.DOTALL)
    assert begin is not None
    columns, rows = len(begin[1]), []
    for row in begin[2].splitlines():
        if row.startswith(("\\toprule", "\\midrule", "\\bottomrule", "\\cmidrule")):
            spans = re.findall(r"\\cmidrule\(lr\)\{(\d+)-(\d+)\}", row)
            assert all(1 <= int(a) <= int(b) <= columns for a, b in spans)
            continue
        assert row.endswith(r" \\")
        cells = re.split(r"(?<!\\)&", row.removesuffix(r" \\"))
        wide = sum(int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", row))
        assert len(cells) + wide == columns, row
        for part in cells:
            plain = re.sub(r"\\[&%$#_{}]", "", part)
            assert plain.count("{") == plain.count("}")
            assert plain.count("$") % 2 == 0
            outside = re.sub(r"\$[^$]*\$", "", plain)
            assert not re.search(r"[%#_^~&]", outside), part
            assert all(sign.isascii() or sign.isalpha() for sign in outside)
        assert not cells[0].strip().startswith(("[", "*"))  # else they belong to \\ before them
        rows.append([part.strip() for part in cells])
    return rows


@pytest.mark.parametrize("intervals", INTERVALS)
@pytest.mark.parametrize("table", [GROUPED, TABLE, GROUPED._replace(groups=(), percent=True)])
def test_latex_tables_compile(table: NumberTable, intervals: str, tmp_path: Path) -> None:
    text = latex_text(table, intervals)
    assert len(latex_rows(text)) == len(table.rows) + 1 + bool(table.groups)
    if shutil.which("pdflatex") is None:
        return  # the parser above has looked
    file = tmp_path / "t.tex"
    head = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n"
    file.write_text(f"{head}{text}\\end{{document}}\n", encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", file.name],
        cwd=tmp_path, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2_000:]


def test_columns_are_grouped_under_rules() -> None:
    text = GROUPED.to_latex()
    assert r"\multicolumn{2}{c}{long form} & \multicolumn{1}{c}{short form}" in text
    assert r"\cmidrule(lr){3-4} \cmidrule(lr){5-5}" in text
    assert "model & data & FA & UA & FA & rank" in text


def test_the_caption_says_what_is_drawn_and_gives_no_advice() -> None:
    def caption(text: str) -> str:
        return text.split(r"\caption{")[1].split("}\n")[0]

    best = "Bold is the best value of a column for each data set."
    assert caption(GROUPED.to_latex()) == rf"Models by rate. Brackets are 95 \% intervals. {best}"
    half = r"$\pm$ is half the width of the 95 \% interval."
    assert caption(GROUPED.to_latex("plusminus")) == f"Models by rate. {half} {best}"
    assert caption(GROUPED.to_latex("none", best=False)) == "Models by rate."
    assert "% Layout of X & Y." in GROUPED.to_latex().splitlines()
    with pytest.raises(InputError, match="intervals 'both': expected brackets, plusminus or none"):
        GROUPED.to_latex("both")


def test_the_switch_for_intervals() -> None:
    table = NumberTable(
        "t", "C.", ("m",), ("J",), [(("a",), (Estimate("J", value=0.5, low=0.3, high=0.6),))]
    )
    assert "a & .50 [.30, .60] " in table.to_latex()
    assert r"a & .50 $\pm$ .15 " in table.to_latex("plusminus")
    assert r"a & .50 \\" in table.to_latex("none")
    percent = table._replace(percent=True)
    assert r"a & 50.0 $\pm$ 15.0 " in percent.to_latex("plusminus")


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
    assert "Layout of X &amp; Y." in shown
    assert GROUPED.to_markdown() == markdown_text(GROUPED)


def test_page_and_terminal_say_why_a_number_is_missing() -> None:
    table = page_table(TABLE)
    assert [cell.text for cell in table.rows[0]] == ["one", "−.12", "1–2"]
    assert table.rows[0][1].detail == "[−.25,\N{NO-BREAK SPACE}.00]"
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

"""Prompting methods on the page, alike for both forms."""

from __future__ import annotations

import html
import io
import re
from pathlib import Path

from rich.console import Console

from sayso.protocols.uncle import report
from sayso.records import Estimate, Results, Slice, slice_of
from sayso.report import write
from sayso.report.number_tables import notes_of, page_rows
from sayso.report.sheet import render_sheet
from sayso.storage.run_folder import RunFolder
from support.report_folders import make_run

NAMES = report.METHOD_RATES


def number(name: str, where: Slice, value: float | None) -> Estimate:
    low, high = (None, None) if value is None else (value - 0.05, value + 0.05)
    problem = "no fact was hedged" if value is None else None
    return Estimate(name, where, value, low, high, n=40, problem=problem)


def estimates(*methods: str, forms: tuple[str, ...] = ("short", "long")) -> list[Estimate]:
    """Every number of a way to ask is the same: .1 for the instruction, then .2, .3, and so on."""
    return [
        number(name, slice_of(form=form, **way), 0.1 * (place + 1))
        for form in forms
        for place, way in enumerate([{}, *({"method": method} for method in methods)])
        for name in NAMES
    ]


def printed(found: list[Estimate], width: int = 80) -> str:
    out = io.StringIO()
    sheet = report.sheet(found)
    render_sheet(sheet, Console(file=out, width=width, color_system=None), verbose=True)
    return out.getvalue()


def test_each_way_to_ask_is_a_row_in_both_forms() -> None:
    told = printed(estimates("unc_few", "self_refine"), 200)
    assert told.count("Prompting methods,") == 2
    assert told.count("the instruction") == 2
    table, _ = report.methods_tables(Results(estimates("unc_few", "self_refine")))
    rows = {labels[0][0]: cells for labels, cells in page_rows(table)}
    assert list(rows) == ["the instruction", "Unc-Few", "Self-Refine"]
    # .2 each: shares in percent, J signed, the odds ratio plain
    assert [value for value, _ in rows["Unc-Few"]] == [
        *["20.0 %"] * 5, "+0.20", "+0.20", "0.20", "20.0 %",
    ]  # fmt: skip
    narrow = printed(estimates("unc_few", "self_refine")).splitlines()
    assert max(map(len, narrow)) <= 80


def test_a_run_of_the_instruction_alone_has_no_such_table() -> None:
    assert "Prompting methods" not in printed(estimates())
    assert not report.methods_tables(Results(estimates()))


def test_a_missing_number_is_a_dash_with_its_reason() -> None:
    found = estimates("unc_few", forms=("short",))
    found[-2] = number("odds_ratio_within", slice_of(form="short", method="unc_few"), None)
    (board,) = report.methods_tables(Results(found))
    assert page_rows(board)[1][1][-2][0] == "–"
    assert "(Unc-Few): no fact was hedged" in notes_of(board)[-1]


def test_names_that_others_chose_stay_texts(tmp_path: Path) -> None:
    evil = "<img src=x onerror=alert(1)>\x1b[31m"
    assert "\x1b" not in printed(estimates(evil))
    run = make_run(tmp_path / "run")
    held = RunFolder.open(run) if isinstance(run, str | Path) else run
    held.write("metrics/uncle", estimates("unc_few", evil), Estimate)
    text = write(held).read_text("utf-8")
    inside = re.sub(r"<style>.*?</style>|<script>.*?</script>", "", text, flags=re.DOTALL)
    assert "<img" not in inside
    assert html.escape("<img src=x onerror=alert(1)>") in inside
    assert text.count("Prompting methods,") == 2 * 2  # caption and label of each form
    assert "Unc-Few" in inside

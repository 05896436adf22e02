"""The terminal table: what a stranger reads, in 80 columns, with hostile text made harmless."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from sayso.protocols.uncle.report import sheet
from sayso.records import Estimate, slice_of
from sayso.report.differences import Words, compared_sheet
from sayso.report.sheet import render_sheet
from sayso.report.terminal import plain_table
from support.report_folders import estimates, estimates_of

HOSTILE = "\x1b[31mred\x1b]0;title\x07 [bold]x[/bold] \u202eevil\u2066 \ud800 {{7*7}} <script>"


def printed(found: list[Estimate], verbose: bool = False) -> str:
    out = io.StringIO()
    render_sheet(sheet(found), Console(file=out, width=80), verbose=verbose)
    return out.getvalue()


def test_a_run_fits_one_screen_and_verbose_has_every_table() -> None:
    text = printed(estimates())
    # 359 of 600 facts known; 11 of 241 unknown and 4 of 359 known hedged: J = .0456 - .0111
    words = " ".join(text.split())
    assert re.search(r"facts it knew: right in 1 or +60 %", text)
    assert re.search(r"unknown facts that it hedged +5 % ", text)
    assert re.search(r"known facts that it hedged +1 % ", text)
    for name in ("FA", "UA", "UUR", "KCR", "EA", "J"):
        assert f"\n{name}: " in text
    assert "[53, 63] 340/585" in text
    assert "12 of 612 facts are left out" in words
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) <= 40
    assert "always hedging" not in text
    assert "always hedging" in printed(estimates(), verbose=True)


def test_cautions_beyond_the_first_are_counted() -> None:
    found = sheet(estimates())._replace(cautions=[f"caution {n}" for n in range(7)])
    out, whole = io.StringIO(), io.StringIO()
    render_sheet(found, Console(file=out, width=80))
    assert "caution 3" in out.getvalue()
    assert "caution 4" not in out.getvalue()
    assert "3 more on the page" in out.getvalue()
    render_sheet(found, Console(file=whole, width=80), verbose=True)
    assert "caution 6" in whole.getvalue()
    assert "more on the page" not in whole.getvalue()


@pytest.mark.parametrize("cells", [(0, 0, 0, 3, 5, 2), (0,) * 6, (1, 0, 0, 0, 0, 0)])
def test_undefined_numbers_are_dashes_with_a_reason(cells: tuple[int, ...]) -> None:
    text = printed(estimates_of("short", cells))
    assert "nan" not in text.lower()
    assert "None" not in text
    assert "No value (–) for" in text
    assert "no fact to count" in " ".join(text.split())


def test_no_numbers_at_all_is_said() -> None:
    assert "has no numbers yet" in printed([])


def test_hostile_text_is_printed_without_effect() -> None:
    found = [
        Estimate(
            "FA",
            slice_of(form="short"),
            problem=HOSTILE,
            signature=(("", "FA"), (HOSTILE, HOSTILE)),
        ),
        Estimate("guess_rate", slice_of(type=HOSTILE), 0.5),
    ]
    text = printed(found)
    shown = compared_sheet(
        [Estimate("FA", slice_of(form="short", domain=HOSTILE), problem=HOSTILE)],
        ((HOSTILE, HOSTILE), ("b", HOSTILE)),
        Words(),
    )
    render_sheet(shown, Console(file=(out := io.StringIO()), width=80), verbose=True)
    for shown in (text, out.getvalue()):
        for sign in ("\x1b", "\x07", "\u202e", "\u2066", "\ud800"):
            assert sign not in shown
        assert "[bold]x[/bold]" in shown


def test_a_terminal_without_unicode_gets_plain_signs() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    render_sheet(sheet(estimates()), Console(file=out, width=80))
    out.flush()
    assert b"-0.02" in raw.getvalue()


NUMBERS = [f".{n} [−.{n}, >.{n + 9}]" for n in range(10, 17)]
LABELS_OF_ROWS = ["semantic_entropy_mc_sum_unique", "words", "a name with_many words of any length"]


def folded(width: int, columns: int = len(NUMBERS)) -> str:
    table = plain_table()
    table.add_column("score", no_wrap=True)
    for n in range(columns):
        table.add_column(f"column {n}", justify="right", no_wrap=True)
    for label in LABELS_OF_ROWS:
        table.add_row(label, *NUMBERS[:columns])
    out = io.StringIO()
    Console(file=out, width=width).print(table)
    return out.getvalue()


@pytest.mark.parametrize("width", [200, 120, 80, 60, 40, 26])
def test_a_narrow_terminal_cuts_no_number(width: int) -> None:
    text = folded(width)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    for number in NUMBERS:
        assert text.count(number) == len(LABELS_OF_ROWS), (width, number)
    for n in range(len(NUMBERS)):
        assert text.count(f"column {n}") == 1
    # each block begins with the names of its rows
    assert text.count("score") == text.count("─\n")


def test_names_are_broken_before_columns_are_moved() -> None:
    # 30 for the name, and 17 for each of three columns with their gaps: 3 too many
    text = folded(80, 3)
    assert text.count("score") == 1
    names = "\n".join(row[:24].rstrip() for row in text.split("\n"))
    assert "semantic_entropy_mc_sum_\nunique" in names
    assert folded(90, 3).count("semantic_entropy_mc_sum_unique") == 1


def test_a_cell_wider_than_the_terminal_is_broken_and_not_cut() -> None:
    table = plain_table()
    table.add_column("", no_wrap=True)
    table.add_column("number", no_wrap=True)
    table.add_row("a", "0123456789" * 5)
    out = io.StringIO()
    Console(file=out, width=30).print(table)
    assert "".join(out.getvalue().split()).endswith("0123456789" * 5)


def test_what_names_a_row_stands_in_every_block() -> None:
    table = plain_table()
    table.add_column("")
    table.add_column("what it means")
    for head in ("short answers", "paragraphs", "both of them"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_row("", "unspoken knowledge, at its own hedge rate", *NUMBERS[:3])
    table.add_row("FA", "right when it commits itself", *NUMBERS[3:6])
    out = io.StringIO()
    Console(file=out, width=46).print(table)
    text = out.getvalue()
    blocks = text.rstrip().split("\n\n")
    assert len(blocks) > 1
    for block in blocks:
        words = " ".join(block.split())
        for name in ("what it", "unspoken", "hedge rate", "FA"):
            assert name in words
    assert all(number in text for number in NUMBERS[:6])
    assert max(map(len, text.splitlines())) <= 46


def test_no_column_is_cut_for_another_that_has_room() -> None:
    # by rich's own rule the widest columns give way, and a number of theirs may be cut
    table = plain_table()
    for at, head in enumerate(("for comparison, in %", "UUR")):
        table.add_column(head, justify="right" if at else "left")
    table.add_row("as often, by its log-probs and more of it", "1234567890123456")
    out = io.StringIO()
    Console(file=out, width=34).print(table)
    assert "1234567890123456" in out.getvalue()
    assert "…" not in out.getvalue()


def test_an_interval_stays_beside_its_value() -> None:
    table = plain_table()
    table.add_column("")
    for n in range(3):
        table.add_column("", justify="right", no_wrap=True)
        table.add_column(f"form {n}", no_wrap=True)
    table.add_row(
        "FA right when it commits", *(x for n in "123" for x in (f"5{n} %", f"[3{n}, 6{n}]"))
    )
    out = io.StringIO()
    Console(file=out, width=40).print(table)
    rows = [line.split() for line in out.getvalue().splitlines()]
    for n in "123":
        assert any(f"5{n} % [3{n}, 6{n}]" in " ".join(row) for row in rows)

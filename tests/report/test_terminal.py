"""The terminal table: what a stranger reads, in 80 columns, with hostile text made harmless."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from sayso.protocols.uncle.report import LABELS, render
from sayso.records import Estimate, slice_of
from sayso.report.terminal import render_compare
from support.report_folders import estimates, estimates_of

HOSTILE = "\x1b[31mred\x1b]0;title\x07 [bold]x[/bold] \u202eevil\u2066 \ud800 {{7*7}} <script>"


def printed(found: list[Estimate], **options: object) -> str:
    out = io.StringIO()
    render(found, Console(file=out, width=80), **options)  # type: ignore[arg-type]
    return out.getvalue()


def test_headline_metrics_and_references_fit_80_columns() -> None:
    text = printed(estimates(), entities=100)
    # 359 of 600 facts known; 11 of 241 unknown and 4 of 359 known hedged: J = .0456 - .0111
    assert "The model knew 60 % of 600 facts about 100 entities." in text
    assert "5 % of the facts it did not know and 1 % of those it knew" in " ".join(text.split())
    assert "it almost never says" in " ".join(text.split())
    for name in ("FA", "UA", "UUR", "KCR", "EA", "J"):
        assert f"\n{name} " in text
    assert "[53, 63] 340/585" in text
    assert "always hedging" in text
    assert "12 of 612 facts have no readable verdict" in " ".join(text.split())
    lines = text.splitlines()
    assert max(len(line) for line in lines if not line.startswith("signature")) <= 80


def test_piped_output_has_no_escape_sequences() -> None:
    assert "\x1b" not in printed(estimates())


@pytest.mark.parametrize("cells", [(0, 0, 0, 3, 5, 2), (0,) * 6, (1, 0, 0, 0, 0, 0)])
def test_undefined_numbers_are_dashes_with_a_reason(cells: tuple[int, ...]) -> None:
    text = printed(estimates_of("short", cells))
    assert "nan" not in text.lower()
    assert "None" not in text
    assert "no value for" in text
    assert "no fact to count" in " ".join(text.split())


def test_no_numbers_at_all_is_said() -> None:
    assert "holds no numbers yet" in printed([])


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
    render_compare(
        [Estimate("FA", slice_of(form="short", domain=HOSTILE), problem=HOSTILE)],
        Console(file=(out := io.StringIO()), width=80),
        first=HOSTILE,
        second=HOSTILE,
    )
    for shown in (text, out.getvalue()):
        for sign in ("\x1b", "\x07", "\u202e", "\u2066", "\ud800"):
            assert sign not in shown
        assert "[bold]x[/bold]" in shown


def test_a_terminal_without_unicode_gets_plain_signs() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    render(estimates(), Console(file=out, width=80))
    out.flush()
    assert b"-0.02" in raw.getvalue()


def test_compare_prints_points_and_marks_clear_differences() -> None:
    out = io.StringIO()
    render_compare(
        [
            Estimate("FA", slice_of(form="short"), 0.021, -0.01, 0.05),
            Estimate("J", slice_of(form="short"), 0.12, 0.05, 0.2),
            Estimate("J", slice_of(form="long"), problem="the probes differ"),
        ],
        Console(file=out, width=80),
        first="runs/a",
        labels=LABELS,
        second="runs/b",
    )
    text = out.getvalue()
    assert "A = runs/a" in text
    assert "+2.1 pp" in text
    assert "[−1.0, +5.0]" in text
    assert "no value for J (paragraphs): the probes differ" in text
    starred = [line for line in text.splitlines() if line.rstrip().endswith("*")]
    assert len(starred) == 1
    assert "+0.12" in starred[0]
    assert "where nothing differs" not in text  # of two ranges none is expected to


def test_many_differences_say_how_many_stars_chance_gives() -> None:
    out = io.StringIO()
    found = [Estimate("auroc", slice_of(score=str(n)), 0.01, -0.02, 0.04) for n in range(89)]
    found += [
        Estimate("auroc", slice_of(score="x"), 0.05, 0.01, 0.09),
        Estimate("auroc", problem="none"),
    ]
    render_compare(found, Console(file=out, width=80))
    assert "of 90 ranges about 4 would where nothing differs" in " ".join(out.getvalue().split())


def test_differences_of_counts_and_slopes_are_no_percentage_points() -> None:
    out = io.StringIO()
    found = [
        Estimate("claims_per_answer", slice_of(method="plain"), -2.567, -3.02, -2.11),
        Estimate("trend", slice_of(method="plain"), -0.27, -0.54, 0.01),
        Estimate("factscore", slice_of(method="plain"), -0.02, -0.1, 0.06),
    ]
    render_compare(found, Console(file=out, width=90))
    text = out.getvalue()
    assert "−2.57" in text
    assert "[−3.02, −2.11]" in text
    assert "−0.27" in text
    assert text.count("pp") == 1  # the share only

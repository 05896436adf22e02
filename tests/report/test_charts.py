"""Charts: names of rows are never cut in silence, whatever they are and however narrow the page."""

from __future__ import annotations

import re
from importlib import resources
from time import perf_counter

import pytest

from sayso.records import Estimate
from sayso.report.charts import (
    COLORS,
    NARROW,
    WIDE,
    ChartRows,
    chart_row,
    forest_plot,
    point,
    reference_of,
    series_chart,
    svg_of,
)
from support.colors import VARIABLES

NAMES = (
    "semantic entropy, Monte Carlo, sum, unique",
    "headquarters location (companies)",
    "words",
    """a "quoted" </text><script>alert(1)</script> \\n {x} 'name'""",
)


def drawing(names: tuple[str, ...], width: int) -> str:
    e = Estimate("J", value=0.5, low=0.2, high=0.8)
    chart = forest_plot(
        [chart_row(n, "short answers", e) for n in names], list(names), width, "", []
    )
    assert chart is not None
    return svg_of(chart, "a chart", "wide")


def labels(svg: str) -> list[str]:
    """Return the labels of rows, the lines of each joined by spaces."""
    texts = re.findall(r'<text text-anchor="end"[^>]*>(.*?)</text>', svg)
    return [" ".join(re.findall(r"[^<>]+(?=</tspan>)", x)) or x for x in texts]


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_long_name_stands_in_several_lines(width: int) -> None:
    svg = drawing(NAMES[:3], width)
    assert labels(svg) == list(NAMES[:3])
    assert ("<tspan" in svg) == (width == NARROW)


def test_lines_of_a_name_are_beside_the_middle_of_its_row() -> None:
    svg = drawing(NAMES[:3], NARROW)
    first = [
        float(y) for y in re.findall(r'text-anchor="end" transform="translate\([^,]+,([\d.]+)', svg)
    ]
    lines = [
        max(1, x.count("<tspan")) for x in re.findall(r'<text text-anchor="end".*?</text>', svg)
    ]
    middles = [y + 7 * (n - 1) for y, n in zip(first, lines, strict=True)]
    assert lines == [3, 2, 1]
    assert middles[1] - middles[0] == pytest.approx(middles[2] - middles[1], abs=0.1)


def test_rows_are_as_high_as_their_names() -> None:
    rows = ChartRows(list(NAMES[:3]), ["a"], ["a"], NARROW * 2 // 5)
    assert rows.height(18) == 3 * (3 * 14 + 4)
    assert ChartRows(["words"], ["a"], ["a"], NARROW * 2 // 5).height(18) == 18


def test_a_row_with_nothing_but_references_has_its_place() -> None:
    e = Estimate("J", value=0.5, low=0.2, high=0.8)
    rows = [chart_row(name, "short answers", e) for name in ("FA", "J")]
    always = reference_of("UA", "short answers", "always", 0.5)
    chart = forest_plot(rows, ["FA", "UA", "J"], WIDE, "", [always])
    assert chart is not None
    assert labels(svg_of(chart, "a chart", "wide")) == ["FA", "UA", "J"]


LEGEND = ("short answers", "paragraphs", "never hedging", "always hedging")


@pytest.mark.parametrize("forms", [1, 2])
@pytest.mark.parametrize("policies", [(), ("always",), ("never", "always")])
def test_a_legend_names_what_is_drawn_and_nothing_else(forms: int, policies: list[str]) -> None:
    e = Estimate("J", value=0.5, low=0.2, high=0.8)
    rows = [chart_row("J", form, e) for form in LEGEND[:forms]]
    references = [reference_of("J", "short answers", policy, 0.5) for policy in policies]
    chart = forest_plot(rows, ["J"], WIDE, "", references)
    assert chart is not None
    svg = svg_of(chart, "a chart", "wide")
    drawn = [*LEGEND[:forms], *(f"{policy} hedging" for policy in policies)]
    # a single series needs no legend
    named = drawn if len(drawn) > 1 else []
    assert [name for name in LEGEND if name in svg] == named
    assert all(svg.count(f">{name}<") == 1 for name in named)


def test_a_word_that_does_not_fit_is_told_on_pointing() -> None:
    svg = drawing(("x" * 90, "words"), NARROW)
    assert f"…<title>{'x' * 90}</title>" in svg
    # two names of which one beginning is left tell nothing of each other
    assert "<title>" not in drawing(("x" * 90, "x" * 90 + "y"), NARROW)


@pytest.mark.parametrize("name", ["constructor", "toString", "__proto__", "a\u2028b"])
def test_any_name_can_be_that_of_a_row(name: str) -> None:
    assert labels(drawing(("words", name), NARROW))[0] == "words"  # and in the order given


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_hostile_name_is_text(width: int) -> None:
    svg = drawing(NAMES, width)
    assert "<script" not in svg
    assert "alert(1)" in svg


def luminance(color: str) -> float:
    """Return the relative luminance of #rrggbb (WCAG 2.1)."""
    whole = color[1:] if len(color) == 7 else "".join(2 * c for c in color[1:])
    parts = [int(whole[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_series_stands_out_from_the_page(mode: str) -> None:
    css = (resources.files("sayso.report") / "static" / "report.css").read_text()
    light, dark = css.split("@media (prefers-color-scheme:dark)")[:2]
    named = dict(re.findall(r"(--[\w-]+):(#[0-9a-f]{3,6})", light if mode == "light" else dark))
    for color in COLORS:
        for ground in ("--paper", "--card"):
            pair = sorted((luminance(named[VARIABLES[color]]), luminance(named[ground])))
            contrast = (pair[1] + 0.05) / (pair[0] + 0.05)
            # text of 12 pixels takes 4.5; the orange of long answers in light mode is 3.6
            least = 3.5 if (mode, VARIABLES[color]) == ("light", "--long") else 4.5
            assert contrast >= least, (mode, VARIABLES[color], ground, round(contrast, 2))


def test_a_control_character_in_a_name_ends_no_process() -> None:
    """The renderer ends the whole process for a character that XML forbids."""
    svg = drawing(("a\x1b[31m\x00\ufffe", *NAMES[:1]), WIDE)
    assert labels(svg)[0] == "a\ufffd[31m\ufffd\ufffd"


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_name_of_signs_beyond_the_basic_plane_is_cut_between_them(width: int) -> None:
    # the renderer counts each as two, and cut one in half
    names = ("😀" * 40, "x" + "🔥" * 41, "My model 😀", "\u202eab" + "😀" * 300, "ѠѢ" + "😀" * 50)
    for name in names:
        shown, other = labels(drawing((name, "words"), width))
        assert other == "words"
        assert name.startswith(shown.partition("…")[0])
        assert shown[:3] == name[:3]
    assert labels(drawing(("My model 😀",), width)) == ["My model 😀"]


def test_a_name_of_any_length_is_drawn_at_once() -> None:
    begun = perf_counter()
    names = ("W" * 100_000 + "1", "W" * 100_000 + "2", "Wa " * 7000, "words")
    svg = drawing(names, NARROW)
    assert perf_counter() - begun < 20
    assert [name[:3] for name in labels(svg)] == ["WWW", "WWW", "Wa ", "wor"]
    assert len(svg) < 20_000


def test_every_other_text_of_a_chart_is_cut_too() -> None:
    e = Estimate("J", value=0.5, low=0.2, high=0.8)
    names = ["😀" * 50_000 + "1", "😀" * 50_000 + "2"]
    points = [point(name, x, e) for name in names for x in ("W" * 50_000, "🔥" * 99)]
    chart = series_chart(points, WIDE, ("W" * 50_000, "🔥" * 99))
    assert chart is not None
    svg = svg_of(chart, "a chart", "wide")
    assert len(svg) < 30_000
    assert "😀😀" in svg
    assert "🔥🔥" in svg

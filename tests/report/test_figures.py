"""Files of figures: they need nothing besides themselves, and look the same anywhere."""

from __future__ import annotations

import json
import re
import struct
import xml.etree.ElementTree as ET
import zlib
from importlib import resources
from pathlib import Path

import pytest

from sayso.records import Estimate, InputError
from sayso.report.charts import chart_row, forest_plot, svg_of
from sayso.report.figures import Figure, figure_of, figures_in, file_name
from sayso.report.formats import FORMATS, Wanted, format_named, inches, wanted, write_files
from support.colors import VARIABLES
from support.tables import tabled

NAMESPACE = "{http://www.w3.org/2000/svg}"


def figure(*names: str, name: str = "a figure") -> Figure:
    e = Estimate("J", value=0.5, low=0.2, high=0.8)
    rows = [chart_row(one, "short answers", e) for one in names or ("words", "length")]
    order = [str(row["row"]) for row in rows]
    made = figure_of(name, lambda width: forest_plot(rows, order, width, "J", []), "J by name.")
    assert made is not None
    return made


def test_an_svg_needs_no_page_and_keeps_its_text() -> None:
    names = ("Ünïcode ≥ 5 – “so”", "<script>alert(1)</script> & 'x'", "模型")
    svg = figure(*names).render("svg").decode()
    root = ET.fromstring(svg)
    assert not re.search(r"var\(|class=|style=|href|<script|url\(", svg)
    assert "currentColor" not in svg
    assert root.find(f"{NAMESPACE}title").text == "J by name."  # type: ignore[union-attr]
    texts = {"".join(text.itertext()) for text in root.iter(f"{NAMESPACE}text")}
    assert set(names) <= texts
    assert "sans-serif" in root.attrib["font-family"]


def test_a_drawing_cut_out_of_a_page_stands_alone_and_follows_its_mode_inside() -> None:
    drawing = figure().wide
    assert "var(" not in drawing
    root = ET.fromstring(drawing)
    assert root.tag == f"{NAMESPACE}svg"  # it says what it is
    assert root.attrib["font-family"] == "sans-serif"
    colors = set(re.findall(r'(?:fill|stroke)="(#[^"]+)"', drawing))
    assert colors <= {color.lower() for color in VARIABLES}
    css = (resources.files("sayso.report") / "static" / "report.css").read_text()
    for color, variable in VARIABLES.items():
        for name in ("fill", "stroke"):
            assert f'.chart [{name}="{color.lower()}"]{{{name}:var({variable})}}' in css


def test_a_pdf_embeds_its_fonts_and_none_is_of_type_3() -> None:
    pdf = figure().render("pdf")
    text = b"".join(
        zlib.decompress(part) if part[:1] == b"x" else part
        for part in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
        if part[:1] == b"x"
    )
    whole = pdf + text
    assert re.search(rb"/FontName ?/\w+\+LiberationSans", whole)  # a part of the font, embedded
    assert b"/FontFile2" in whole
    assert b"/Type3" not in whole


@pytest.mark.parametrize(
    ("width", "points"), [("column", 239.76), ("page", 486.0), ("8.4cm", 238.11), ("3.25in", 234.0)]
)
def test_files_are_as_wide_as_the_paper_wants_them(width: str, points: float) -> None:
    pdf = figure().render("pdf", width)
    box = re.search(rb"/MediaBox ?\[0 0 ([\d.]+) [\d.]+\]", pdf)
    assert box is not None
    assert float(box[1]) == pytest.approx(points, abs=0.1)
    root = ET.fromstring(figure().render("svg", width))
    assert root.attrib["width"] == f"{points:.2f}pt"
    png = figure().render("png", width)
    assert struct.unpack(">I", png[16:20])[0] == pytest.approx(points / 72 * 300, abs=1)
    # letters are as large in every width: 12 of so many pixels
    pixels = float(root.attrib["viewBox"].split()[2])
    assert 12 * points / pixels == pytest.approx(8.47, abs=0.03)


def test_the_json_is_a_vega_lite_specification() -> None:
    spec = json.loads(figure().render("json"))
    assert "vega-lite" in spec["$schema"]
    assert spec["background"] == "white"


def test_files_are_written_by_their_names(tmp_path: Path) -> None:
    files = wanted("svg, PDF,.png,json", "column")
    written = write_files([figure(name="J by model")], tmp_path / "figures", files)
    assert [file.name for file in written] == [f"j-by-model.{s}" for s in FORMATS]
    assert all(file.stat().st_size > 500 for file in written)
    assert write_files([figure()], tmp_path / "none", Wanted()) == []
    assert not (tmp_path / "none").exists()


@tabled
def test_a_mistake_is_one_line(formats: str, width: str, told: str) -> None:
    with pytest.raises(InputError, match=re.escape(told)):
        wanted(formats, width)


def test_lengths_are_those_of_paper() -> None:
    assert inches("5.08cm") == pytest.approx(2.0)
    assert inches("240.9pt") == pytest.approx(240.9 / 72.27)  # of TeX
    assert inches("100 mm") == pytest.approx(3.937, abs=0.001)


def test_a_figure_is_saved_by_its_ending(tmp_path: Path) -> None:
    assert figure().save(tmp_path / "x.PDF").read_bytes().startswith(b"%PDF")
    with pytest.raises(InputError, match=r"x\.gif: expected a format of figures"):
        figure().save(tmp_path / "x.gif")
    assert "<svg" in figure()._repr_svg_()


def test_every_figure_of_a_page_is_found_once_and_names_differ() -> None:
    one, two, other = figure(), figure(), figure(name="other")
    names = [f.name for f in figures_in([one, two, None, other, one])]
    assert names == ["a-figure", "a-figure-2", "other"]


def test_a_wrong_name_lists_the_right_ones() -> None:
    figures = [figure(name="metrics"), figure(name="J by type")]
    assert format_named(figures, "metrics") is figures[0]
    told = r"no figure is called 'metric'; expected metrics, j-by-type"
    with pytest.raises(InputError, match=told):
        format_named(figures, "metric")
    with pytest.raises(InputError, match="there is no figure"):
        format_named(figures[:0], "x")


@pytest.mark.parametrize("name", ["../../etc/passwd", "模型", "a/b", "", "CON: J | K"])
def test_no_name_leaves_the_folder(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", file_name(name))


def test_text_of_a_drawing_is_escaped() -> None:
    estimate = Estimate("J", value=0.1, low=0.0, high=0.2)
    chart = forest_plot([chart_row("<b>&", "x", estimate)], ["<b>&"], 340, "", [])
    assert chart is not None
    assert "<b>" not in svg_of(chart, 'a "chart"', "wide")

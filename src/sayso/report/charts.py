"""The charts of the page: Altair specifications, readable by shape and label as well as by color.

Each function returns ``None`` where there is nothing to draw, so that no chart is ever empty.
Intervals are always drawn. The colors named here are the palette of Okabe and Ito; the page
replaces them by its own variables, so that a chart follows light and dark mode.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import altair as alt
import vl_convert
from markupsafe import Markup

from sayso.report.numbers import FORMS

INK, MUTED, GRID = "#111111", "#666666", "#dddddd"
SHORT, LONG = "#0072b2", "#e69f01"  # a shade apart from CU below, to have its own variable
#: third and fourth of several curves; a shade apart from UC and UU below, as those are for areas
THIRD, FOURTH = "#009e74", "#cc79a8"
#: certain-certain, certain-uncertain, uncertain-certain, uncertain-uncertain
PAIRS = {"CC": "#56b4e9", "CU": "#e69f00", "UC": "#009e73", "UU": "#cc79a7"}
#: color in a specification -> variable of the page's style sheet
VARIABLES = {
    INK: "--ink",
    MUTED: "--muted",
    GRID: "--grid",
    SHORT: "--short",
    LONG: "--long",
    THIRD: "--third",
    FOURTH: "--fourth",
    **{color: f"--pair-{name.lower()}" for name, color in PAIRS.items()},
}
REFERENCES = {"never": "triangle-left", "always": "triangle-right", "random": "cross"}
#: more rows than this make a chart nobody reads; the table beside it has them all
MOST_ROWS = 24
#: pixels of a drawing for a wide window and for a phone
WIDE, NARROW = 860, 340
#: room for labels in fonts wider than the renderer's own
PADDING = {"left": 16, "right": 8, "top": 4, "bottom": 4}
Row = dict[str, Any]
Drawing = alt.LayerChart | alt.FacetChart


def pair_bars(
    rows: list[dict[str, object]], y: alt.Y, size: int
) -> alt.LayerChart | alt.FacetChart:
    """Return stacked bars of how short and long answers pair, with their shares written in.

    A row has ``start``, ``end`` and ``middle`` (0..1), ``pair`` and ``label``, and the field of
    ``y``; ``size`` is the thickness in pixels.
    """
    data = alt.InlineData(values=rows)
    bars = (
        alt.Chart(data)
        .mark_bar(size=size, stroke=INK, strokeWidth=0.5)
        .encode(
            y=y,
            x=alt.X(
                "start:Q",
                title="share of facts, %",
                axis=alt.Axis(format=".0%", tickCount=5),
                scale=alt.Scale(domain=[0, 1], nice=False),
            ),
            x2="end:Q",
            color=alt.Color(
                "pair:N",
                scale=alt.Scale(domain=list(PAIRS), range=list(PAIRS.values())),
                legend=None,
            ),
        )
    )
    texts = (
        alt.Chart(data)
        .mark_text(fontSize=12, fontWeight="bold", color=INK)
        .encode(y=y, x="middle:Q", text="label:N")
    )
    return alt.layer(bars, texts)


def forest_plot(
    rows: list[Row], field: str, order: list[str], width: int, title: str, references: list[Row]
) -> Drawing | None:
    rows = [row for row in rows if row["value"] is not None]
    if not rows:
        return None
    ends = [
        row[k]
        for row in [*rows, *references]
        for k in ("value", "low", "high")
        if row.get(k) is not None
    ]
    low, high = min(0.0, *ends), max(0.1, *ends)
    present = [name for name in order if any(row[field] == name for row in rows)]
    forms = [f for f in FORMS.values() if any(row["form"] == f for row in rows)]
    x_axis = alt.Axis(tickCount=6, format=".2~f")
    x = alt.X(
        "value:Q",
        title=title,
        axis=x_axis,
        scale=alt.Scale(domain=[low, high], nice=False, padding=12),
    )
    y = alt.Y(f"{field}:N", sort=present, title=None, axis=alt.Axis(labelLimit=width * 2 // 5))
    offset = alt.YOffset("form:N", sort=forms, scale=alt.Scale(domain=forms, paddingOuter=0.55))
    color = alt.Color(
        "form:N", scale=alt.Scale(domain=list(FORMS.values()), range=[SHORT, LONG]), legend=None
    )
    shape = alt.Shape(
        "form:N",
        scale=alt.Scale(domain=list(FORMS.values()), range=["circle", "diamond"]),
        legend=None,
    )
    base = alt.Chart(alt.InlineData(values=rows))
    zero = alt.Chart(alt.InlineData(values=[{"x": 0}])).mark_rule(color=MUTED).encode(x="x:Q")
    layers: list[alt.Chart] = [zero]
    if references:
        layers.append(
            alt.Chart(alt.InlineData(values=references))
            .mark_point(size=38, strokeWidth=1.2, color=MUTED)
            .encode(
                x=x,
                y=y,
                yOffset=offset,
                shape=alt.Shape(
                    "policy:N",
                    scale=alt.Scale(domain=list(REFERENCES), range=list(REFERENCES.values())),
                    legend=None,
                ),
            )
        )
    layers.append(
        base.transform_filter("isValid(datum.low) && isValid(datum.high)")
        .mark_rule(strokeWidth=2)
        .encode(x=alt.X("low:Q"), x2="high:Q", y=y, yOffset=offset, color=color)
    )
    layers.append(
        base.mark_point(size=75, filled=True, opacity=1).encode(
            x=x, y=y, yOffset=offset, color=color, shape=shape
        )
    )
    chart = alt.layer(*layers).resolve_scale(shape="independent")
    return finish(chart, width, _row_height(len(forms), len(present)) * len(present))


def _row_height(forms: int, rows: int) -> int:
    if rows > 10:
        return 18 if forms == 1 else 30
    return 28 if forms == 1 else 46


def finish(chart: Drawing, width: int, height: int) -> Drawing:
    axis: dict[str, Any] = {
        "labelColor": INK,
        "titleColor": MUTED,
        "gridColor": GRID,
        "domainColor": MUTED,
        "tickColor": MUTED,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    }
    finished: Drawing = (
        chart.properties(
            width=width,
            height=height,
            autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        )
        .configure(
            background="transparent",
            font="sans-serif",
            padding=PADDING,
        )
        .configure_axis(**axis)
        .configure_axisY(grid=False, ticks=False, domain=False, labelPadding=8)
        .configure_view(stroke=None)
    )
    return finished


# ---- Altair charts to SVG that a page may hold: no fixed colors, fonts, ids, styles or scripts

_NAMESPACE = "http://www.w3.org/2000/svg"
_COLORS = {color.lower(): f"var({name})" for color, name in VARIABLES.items()}
_DROPPED = {"font-family", "style", "href", "id", "clip-path", "pointer-events"}
_KEPT = {"svg", "g", "path", "line", "rect", "text", "circle"}
_LONG_NUMBER = re.compile(r"(\.\d\d)\d+")


def draw(chart: Drawing, label: str, view: str) -> Markup:
    """Return a chart as SVG markup with ``label`` as its text alternative.

    ``view`` is a CSS class: the page holds a wide and a narrow drawing and shows one of them.
    """
    ET.register_namespace("", _NAMESPACE)
    # the parsed text is our own renderer's; entities cannot occur in it
    root = ET.fromstring(vl_convert.vegalite_to_svg(chart.to_dict()))
    for parent in root.iter():
        for child in list(parent):
            if child.tag.removeprefix(f"{{{_NAMESPACE}}}") not in _KEPT:
                parent.remove(child)
        for name, value in list(parent.attrib.items()):
            plain = name.rpartition("}")[2]
            if plain in _DROPPED or plain.startswith(("aria-", "role")) or plain == "display":
                del parent.attrib[name]
            elif plain in ("fill", "stroke"):
                parent.set(name, _COLORS.get(value.lower(), value))
            elif plain in ("d", "transform", "x1", "x2", "y1", "y2"):
                parent.set(name, _LONG_NUMBER.sub(r"\1", value))
    _prune(root)
    width, height = root.attrib["width"], root.attrib["height"]
    root.attrib.clear()
    root.attrib.update(
        {
            "class": f"chart {view}",
            "viewBox": f"0 0 {width} {height}",
            "width": width,
            "height": height,
            "role": "img",
            "aria-label": label,
        }
    )
    return Markup(ET.tostring(root, encoding="unicode"))  # serialised, so escaped


def _prune(element: ET.Element) -> None:
    """Take out groups and invisible paths that draw nothing: half of the renderer's output."""
    for child in list(element):
        _prune(child)
        tag = child.tag.rpartition("}")[2]
        invisible = tag == "path" and child.get("class") in ("background", "foreground")
        if invisible or (tag == "g" and len(child) == 0):
            element.remove(child)
    element.attrib.pop("class", None)

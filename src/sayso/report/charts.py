"""The charts of the page: Altair specifications, readable by shape and label as well as by color.

Each function returns ``None`` where there is nothing to draw, so that no chart is ever empty.
Intervals are always drawn. The colors named here are the palette of Okabe and Ito; the style sheet
of the page replaces them by its own variables, so that a chart follows light and dark mode.
"""

from __future__ import annotations

import re
import textwrap
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import altair as alt
import vl_convert
from markupsafe import Markup

from sayso.metric import FORMS
from sayso.records import Estimate
from sayso.report.numbers import is_bare

INK, MUTED, GRID = "#111111", "#666666", "#dddddd"
SHORT, LONG = "#0072b2", "#e69f01"  # a shade apart from CU below, to have its own variable
#: third and fourth of several curves; a shade apart from UC and UU below, as those are for areas
THIRD, FOURTH = "#009e74", "#cc79a8"
#: certain-certain, certain-uncertain, uncertain-certain, uncertain-uncertain
PAIRS = {"CC": "#56b4e9", "CU": "#e69f00", "UC": "#009e73", "UU": "#cc79a7"}
#: what the four mean, for a legend
PAIR_NAMES = {
    "CC": "stated in both",
    "CU": "stated short, hedged long",
    "UC": "hedged short, stated long",
    "UU": "hedged in both",
}
#: what tells up to six series apart, in their order
COLORS = (SHORT, LONG, THIRD, FOURTH, INK, MUTED)
SHAPES = ("circle", "diamond", "square", "triangle-up", "cross", "triangle-down")
#: policies that a number is read against: what each is called, and its shape
REFERENCES = {
    "never": ("never hedging", "triangle-left"),
    "always": ("always hedging", "triangle-right"),
    "random": ("equally often, at random", "cross"),
}
#: more rows than this make a chart nobody reads; the table beside it has them all
MOST_ROWS = 24
#: pixels of a drawing for a wide window and for a phone
WIDE, NARROW = 860, 340
#: room for labels in fonts wider than the renderer's own
PADDING = {"left": 16, "right": 20, "top": 4, "bottom": 4}
#: pixels of a sign in the wider of those fonts, and of a line of them
SIGN, LINE = 6.8, 14
#: of a row, in Vega's language
HAS_INTERVAL = "isValid(datum.low) && isValid(datum.high)"
#: a label in lines, in Vega's language: names come from data and never stand in an expression
_LINES = r"split(trim(replace(datum.label, regexp('(.{1,SIGNS})( |$)', 'g'), '$1\n')), '\n')"
Row = dict[str, Any]
Drawing = alt.LayerChart | alt.FacetChart
#: draws a chart in a width
Maker = Callable[[int], "Drawing | None"]


class _Rows(alt.InlineData):
    """Data that no step of building a chart changes, so that none of them copies it."""

    def __deepcopy__(self, memo: object) -> _Rows:
        return self


def data_of(rows: Sequence[Mapping[str, object]]) -> alt.InlineData:
    """Return the rows of a chart as its data."""
    return _Rows(values=list(rows))


def alignment_bars(shares: Mapping[str, Sequence[float | None]], width: int) -> Drawing | None:
    """Return a bar for each name: how short and long answers pair, with the shares written in.

    ``shares`` are those of :data:`PAIRS`, 0..1.
    """
    rows: list[Row] = []
    order: list[str] = []
    for label, values_of in shares.items():
        start = 0.0
        for pair, value in zip(PAIRS, values_of, strict=True):
            if value is None:
                continue
            if label not in order:
                order.append(label)
            told = f"{100 * value:.0f}" if value >= 0.06 else ""
            middle = start + value / 2
            end = start + value
            rows.append({"row": label, "pair": PAIR_NAMES[pair], "start": start, "end": end,
                         "middle": middle, "label": told})  # fmt: skip
            start = end
    if not rows or len(order) > MOST_ROWS:
        return None
    layout = ChartRows(order, [], [], width * 2 // 5)
    drawn = {row["pair"] for row in rows if row["end"] != row["start"]}
    names = {pair: name for pair, name in PAIR_NAMES.items() if name in drawn}
    data = data_of(rows)
    bars = (
        alt.Chart(data)
        .mark_bar(size=20, stroke=INK, strokeWidth=0.5)
        .encode(
            y=layout.y,
            x=alt.X(
                "start:Q",
                title="share of facts, %",
                axis=alt.Axis(format=".0%", tickCount=5),
                scale=alt.Scale(domain=[0, 1], nice=False),
            ),
            x2="end:Q",
            color=alt.Color(
                "pair:N",
                scale=alt.Scale(domain=list(names.values()), range=[PAIRS[pair] for pair in names]),
                legend=legend_below(1 if width <= NARROW else 2, symbolOpacity=1, labelLimit=320),
            ),
        )
    )
    texts = (
        alt.Chart(data)
        .mark_text(fontSize=12, fontWeight="bold", color=INK)
        .encode(y=layout.y, x="middle:Q", text="label:N")
    )
    return finish(alt.layer(bars, texts), width, layout.height(34))


# ---- series over an axis: lines, intervals and points


def point(series: str, x: str | float, e: Estimate) -> Row:
    """Return an estimate as a point of a series."""
    value = None if is_bare(e) else e.value
    return {"series": series, "x": x, "y": value, "low": e.low, "high": e.high, "n": e.n}


def values(rows: Iterable[Row], *fields: str) -> list[float]:
    """Return what ``fields`` of the rows hold; what is ``None`` is left out."""
    return [float(v) for row in rows for field in fields if (v := row.get(field)) is not None]


def styled(
    channel: Any,
    names: Sequence[str],
    styles: Sequence[Any],
    legend: alt.Legend | None = None,
    field: str = "series",
) -> Any:
    """Return a channel (color, shape or dash) in which each series has a style of its own."""
    scale = alt.Scale(domain=list(names), range=list(styles[: len(names)]))
    return channel(f"{field}:N", scale=scale, legend=legend)


def legend_below(columns: Any = alt.Undefined, gap: int = 28, **options: Any) -> alt.Legend:
    """Return a legend under the chart, in so many columns that are ``gap`` pixels apart."""
    return alt.Legend(
        title=None,
        orient="bottom",
        columns=columns,
        columnPadding=gap,
        labelColor=INK,
        labelFontSize=12,
        **options,
    )


def legend_of(names: Sequence[str], width: int) -> alt.Legend | None:
    """Return a legend under the chart; ``None`` for a single name, which the chart's title says."""
    if len(names) < 2:
        return None
    columns = 1 if width <= NARROW else _legend_columns(names, width * 2 // 3)
    return legend_below(columns, symbolOpacity=1, labelLimit=320)


def bars_of_intervals(base: alt.Chart, x: Any, color: Any, **look: Any) -> alt.Chart:
    """Return the intervals of points as vertical bars."""
    rules = base.transform_filter(HAS_INTERVAL).mark_rule(**look)
    bars: alt.Chart = rules.encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=color)
    return bars


def series_chart(
    points: list[Row],
    width: int,
    titles: tuple[str, str],
    *,
    share: bool = False,
    looks: Mapping[str, Literal["bold", "dashed"]] | None = None,
    diagonal: bool = False,
    lines: bool = True,
) -> Drawing | None:
    """Return up to six series (:func:`point`) over numbers or names, with intervals.

    ``titles`` are those of the two axes; of a ``share`` the whole range is shown, 0 to 1. ``looks``
    are those of the lines of some series; without ``lines`` points are not joined. ``diagonal``: a
    dashed line from (0, 0) to (1, 1). A series of bare points alone is not drawn, and keeps its
    marks: charts of the same series in one order mark them alike.
    """
    drawn = [row for row in points if row["y"] is not None]
    names = list(dict.fromkeys(row["series"] for row in drawn))
    if not drawn or len(names) > len(COLORS):
        return None
    numbers = all(isinstance(row["x"], int | float) for row in drawn)
    order = list(dict.fromkeys(row["x"] for row in drawn))
    scale = alt.Scale(zero=False, nice=True)
    x = (
        alt.X("x:Q", title=titles[0], scale=scale, axis=alt.Axis(tickCount=6))
        if numbers
        else alt.X("x:N", title=titles[0], sort=order, axis=alt.Axis(labelAngle=0))
    )
    whole = alt.Scale(domain=[0, 1]) if share else alt.Scale(zero=False, nice=True)
    y = alt.Y("y:Q", title=titles[1], scale=whole)
    legend = legend_below(_legend_columns(names, width))
    every = list(dict.fromkeys(row["series"] for row in points))
    every = every if len(every) <= len(COLORS) else names
    styles = {
        "color": styled(alt.Color, names, [COLORS[every.index(name)] for name in names], legend),
        "shape": styled(alt.Shape, names, [SHAPES[every.index(name)] for name in names], legend),
    }
    looks, base = looks or {}, alt.Chart(data_of(drawn))
    layers: list[alt.Chart] = [
        bars_of_intervals(base, x, styles["color"], strokeWidth=1.6),
        base.mark_point(size=60, filled=True, opacity=1).encode(x=x, y=y, **styles),
    ]
    if "dashed" in looks.values():
        dashes = [[5, 4] if looks.get(name) == "dashed" else [1, 0] for name in names]
        styles["strokeDash"] = styled(alt.StrokeDash, names, dashes)
    if lines:
        line = base.mark_line(strokeWidth=1.2, opacity=0.8)
        of_lines = {name: channel for name, channel in styles.items() if name != "shape"}
        layers.insert(0, line.encode(x=x, y=y, **of_lines))
    thick = [row for row in drawn if looks.get(row["series"]) == "bold" and lines]
    if thick:
        line = alt.Chart(data_of(thick)).mark_line(strokeWidth=3.5)
        layers.insert(0, line.encode(x=x, y=y, color=styles["color"]))
    if diagonal:
        line = alt.Chart(data_of([{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
        layers.insert(0, line.mark_line(color=MUTED, strokeDash=[4, 4]).encode(x=x, y=y))
    return finish(alt.layer(*layers), width, 320 if width > NARROW else 280)


def _legend_columns(names: Sequence[str], width: int) -> int:
    """Return how many names stand side by side below a chart."""
    return max(1, int(width / (SIGN * min(max(map(len, names)), LONGEST) + 48)))


# ---- rows of points with intervals, kinds side by side within a row


def chart_row(name: str, kind: str, e: Estimate) -> Row:
    """Return an estimate as a point in the row of ``name``."""
    value = None if is_bare(e) else e.value
    return {
        "row": name, "series": kind, "kind": kind, "value": value, "low": e.low, "high": e.high
    }  # fmt: skip


def reference_of(name: str, kind: str, policy: str, value: float) -> Row:
    """Return what a policy of :data:`REFERENCES` scores, as a point beside those of a kind."""
    return {"row": name, "series": kind, "kind": REFERENCES[policy][0], "value": value}


class ChartRows(NamedTuple):
    """Rows of points: their names from the top, the kinds side by side in each.

    ``known`` are all kinds that have a style, ``label_width`` the pixels that names may take.
    """

    names: list[str]
    kinds: list[str]
    known: list[str]
    label_width: int
    padding: float = 0.5
    legend: alt.Legend | None = None
    #: drawn too: names of :data:`REFERENCES`
    policies: Sequence[str] = ()

    @property
    def signs(self) -> int:
        """How many signs a line of a name may have."""
        return int(self.label_width / SIGN)

    @property
    def lines(self) -> list[list[str]]:
        """Each name in lines broken between words, as :data:`_LINES` breaks it."""
        wrapper = textwrap.TextWrapper(self.signs, break_long_words=False, break_on_hyphens=False)
        names = (name[:LONGEST] for name in self.names)  # as they are drawn
        return [wrapper.wrap(name) or [name] for name in names]

    @property
    def y(self) -> alt.Y:
        """The axis of the rows."""
        longest = max((len(part) for parts in self.lines for part in parts), default=0)
        axis = alt.Axis(
            labelExpr=_LINES.replace("SIGNS", str(self.signs)),
            labelLineHeight=LINE,
            labelLimit=self.label_width,
            minExtent=min(self.label_width, round(longest * SIGN)),
        )
        # a domain and no order of sorting: that is an expression, which some names break
        return alt.Y("row:N", scale=alt.Scale(domain=self.names), title=None, axis=axis)

    def height(self, least: int) -> int:
        """Return the height of all rows, of at least so many pixels each."""
        most = max(map(len, self.lines), default=1)
        return max(least, LINE * most + 4) * len(self.names)

    @property
    def offset(self) -> alt.YOffset:
        """The place of a kind within its row."""
        scale = alt.Scale(domain=self.kinds, paddingOuter=self.padding)
        return alt.YOffset("series:N", scale=scale)

    @property
    def styles(self) -> tuple[alt.Color, alt.Shape]:
        """Color and shape of each kind: those that it has in every chart."""
        present = [name for name in self.known if name in self.kinds]
        places = [self.known.index(name) for name in present]
        named = [(name, shape) for name, shape in REFERENCES.values() if name in self.policies]
        names = [*present, *(name for name, _ in named)]
        colors = [*(COLORS[at] for at in places), *(MUTED for _ in named)]
        shapes = [*(SHAPES[at] for at in places), *(shape for _, shape in named)]
        return (
            styled(alt.Color, names, colors, self.legend, "kind"),
            styled(alt.Shape, names, shapes, self.legend, "kind"),
        )

    def points(self, rows: list[Row], x: alt.X, size: int = 70) -> list[alt.Chart]:
        """Return the intervals of rows and their points."""
        base = alt.Chart(data_of(rows))
        # a legend names what is drawn, in the style that it has in every chart
        color, shape = self.styles
        place = {"y": self.y, "yOffset": self.offset, "color": color}
        return [
            base.transform_filter(HAS_INTERVAL)
            .mark_rule(strokeWidth=2)
            .encode(x=alt.X("low:Q"), x2="high:Q", **place),
            base.mark_point(size=size, filled=True, opacity=1).encode(x=x, shape=shape, **place),
        ]


def vertical_line(x: float) -> alt.Chart:
    """Return the line that values are read against."""
    data = data_of([{"x": x}])
    line: alt.Chart = alt.Chart(data).mark_rule(color=MUTED).encode(x="x:Q")
    return line


def forest_plot(
    rows: list[Row],
    order: list[str],
    width: int,
    title: str,
    references: list[Row],
    kinds: Sequence[str] = (),
    base: float = 0.0,
    reach: float = 0.1,
) -> Drawing | None:
    """Return rows (:func:`chart_row`) by form with a line at ``base``.

    The axis goes at least ``reach`` beyond the line.

    ``references`` (:func:`reference_of`) are drawn as small signs. ``kinds`` are other names of
    series than the forms, up to six. The legend names what is drawn.
    """
    rows = [row for row in rows if row["value"] is not None]
    if not rows or len(kinds) > len(COLORS):
        return None
    ends = values([*rows, *references], "value", "low", "high")
    x = alt.X(
        "value:Q",
        title=title,
        axis=alt.Axis(tickCount=6, format=".2~f"),
        scale=alt.Scale(
            domain=[min(base, *ends), max(base + reach, *ends)],
            nice=False,
            padding=12,
            zero=not base,
        ),
    )
    drawn = {row["row"] for row in (*rows, *references)}
    present = [name for name in order if name in drawn]
    known = list(kinds or FORMS.values())
    forms = [f for f in known if any(row["series"] == f for row in rows)]
    policies = [
        name for name, _ in REFERENCES.values() if any(r["kind"] == name for r in references)
    ]
    legend = legend_of([*forms, *policies], width)
    layout = ChartRows(present, forms, known, width * 2 // 5, 0.55, legend, policies)
    color, shape = layout.styles
    layers = [vertical_line(base)]
    if references:
        signs = alt.Chart(data_of(references)).mark_point(size=42, filled=True)
        place = {"y": layout.y, "yOffset": layout.offset}
        layers.append(signs.encode(x=x, color=color, shape=shape, **place))
    layers += layout.points(rows, x, 75)
    chart = alt.layer(*layers)
    return finish(chart, width, layout.height(_row_height(len(forms), len(present))))


def rows_plot(
    rows: Iterable[tuple[Sequence[str], Sequence[object]]],
    kinds: Sequence[str],
    width: int,
    title: str,
    base: float = 0.5,
) -> Drawing | None:
    """Return the rows of a table as rows of points, a kind for each column."""
    points = [
        chart_row(" · ".join(labels), kind, e)
        for labels, entries in rows
        for kind, e in zip(kinds, entries, strict=True)
        if isinstance(e, Estimate)
    ]
    order = list(dict.fromkeys(row["row"] for row in points))
    return forest_plot(points, order, width, title, [], kinds, base)


def _row_height(forms: int, rows: int) -> int:
    if rows > 10:
        return 18 if forms == 1 else 30
    return 28 if forms == 1 else 46


def finish(chart: Drawing, width: int, height: int) -> Drawing:
    config = alt.Config(
        background="transparent",
        font="sans-serif",
        padding=PADDING,
        axis=alt.AxisConfig(
            labelColor=INK,
            titleColor=MUTED,
            gridColor=GRID,
            domainColor=MUTED,
            tickColor=MUTED,
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
        ),
        axisXQuantitative=alt.AxisConfig(labelFlush=False, labelOverlap=True, labelSeparation=8),
        axisY=alt.AxisConfig(
            grid=False, ticks=False, domain=False, labelPadding=8, titlePadding=14
        ),
        view=alt.ViewConfig(stroke=None),
    )
    autosize = alt.AutoSizeParams(type="fit-x", contains="padding")
    finished: Drawing = chart.properties(
        width=width, height=height, autosize=autosize, config=config
    )
    return finished


# ---- Altair charts to SVG: no classes, ids, styles or scripts, and colors that need no page

_NAMESPACE = "http://www.w3.org/2000/svg"
_DROPPED = {"font-family", "style", "href", "id", "clip-path", "pointer-events"}
_KEPT = {"svg", "g", "path", "line", "rect", "text", "tspan", "circle"}
_LONG_NUMBER = re.compile(r"(\.\d\d)\d+")
_PLACE = re.compile(r"translate\((-?[\d.]+),(-?[\d.]+)\)")


def svg_of(chart: Drawing, label: str, view: str) -> Markup:
    """Return a chart as SVG markup with ``label`` as its text alternative.

    ``view`` is a CSS class: the page holds a wide and a narrow drawing and shows one of them. Its
    style sheet replaces the colors by its own; cut out of the page, the drawing has those of light
    mode.
    """
    root = drawn(chart)
    size = {name: root.attrib[name] for name in ("viewBox", "width", "height")}
    root.attrib.clear()
    root.attrib.update({"class": f"chart {view}", **size, "font-family": "sans-serif"})
    root.attrib.update({"role": "img", "aria-label": label})
    return Markup(ET.tostring(root, encoding="unicode"))  # serialised, so escaped


#: characters that no XML holds, and that the renderer therefore ends the process for
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
#: characters that the renderer counts as two, and cuts a label between
_TWO_UNITS = re.compile("[\U00010000-\U0010ffff]")
#: rare letters, which count as one; the first are about as wide in the renderer's font
_STAND_INS = (*range(0x460, 0x482), *range(0x48A, 0x514), *range(0x3400, 0x4DC0))
#: the longest text of a chart: the renderer measures each shortening of a label
LONGEST = 200


class Drawable:
    """The texts of a specification as the renderer can take them, and back again.

    A text is cut to ``LONGEST`` characters, two different ones differently; what XML forbids is
    replaced; what the renderer counts as two has a stand-in, which :meth:`restore` takes back.
    """

    def __init__(self, specification: Mapping[str, Any]) -> None:
        texts = dict.fromkeys(_texts(specification))
        self._cut: dict[str, str] = {}
        self._short = {text for text in texts if len(text) <= LONGEST}
        for text in texts:
            if len(text) > LONGEST:
                self._cut[text] = self._shorter(text)
        kept = "".join(self._cut.get(text, text) for text in texts)
        there = set(kept)
        free = (chr(code) for code in _STAND_INS if chr(code) not in there)
        pairs = dict.fromkeys(_TWO_UNITS.findall(kept))
        # far more than a reader can tell apart
        self._stand_in = {pair: next(free, "\ufffd") for pair in pairs}
        self._back = str.maketrans({one: pair for pair, one in self._stand_in.items()})
        self.specification = self._taken(specification)

    def _shorter(self, text: str) -> str:
        cut = f"{text[: LONGEST - 1]}…"
        number = 1
        while cut in self._short:
            number += 1
            cut = f"{text[: LONGEST - 12]}… {number}"
        self._short.add(cut)
        return cut

    def _taken(self, value: Any) -> Any:
        if isinstance(value, str):
            text = _NOT_XML.sub("\ufffd", self._cut.get(value, value))
            return _TWO_UNITS.sub(lambda found: self._stand_in[found[0]], text)
        if isinstance(value, Mapping):
            return {key: self._taken(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self._taken(one) for one in value]
        return value

    def restore(self, root: ET.Element) -> None:
        """Put the characters that have stand-ins back into a drawing."""
        if not self._stand_in:
            return
        for element in root.iter():
            element.text = element.text and element.text.translate(self._back)
            for name, value in element.attrib.items():
                element.set(name, value.translate(self._back))


def drawn(chart: Drawing) -> ET.Element:
    """Return a chart as an SVG element with ``width``, ``height`` and ``viewBox``."""
    ET.register_namespace("", _NAMESPACE)
    # the parsed text is our own renderer's; entities cannot occur in it
    drawable = Drawable(chart.to_dict(validate=False))  # a file of it is validated
    root = ET.fromstring(vl_convert.vegalite_to_svg(drawable.specification))
    for parent in root.iter():
        for child in list(parent):
            if child.tag.removeprefix(f"{{{_NAMESPACE}}}") not in _KEPT:
                parent.remove(child)
        for name, value in list(parent.attrib.items()):
            plain = name.rpartition("}")[2]
            if plain in _DROPPED or plain.startswith(("aria-", "role")) or plain == "display":
                del parent.attrib[name]
            elif plain in ("fill", "stroke"):
                parent.set(name, value.lower())  # as the style sheet has them
            elif plain in ("d", "transform", "x1", "x2", "y1", "y2"):
                parent.set(name, _LONG_NUMBER.sub(r"\1", value))
    _prune(root)
    _finish_labels(root, set(_texts(drawable.specification)))
    drawable.restore(root)
    width, height = root.attrib["width"], root.attrib["height"]
    root.set("viewBox", f"0 0 {width} {height}")
    return root


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a specification."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(part)


def _finish_labels(root: ET.Element, texts: set[str]) -> None:
    """Put labels of several lines beside the middle of their row, and give cut ones a tooltip."""
    for element in root.iter(f"{{{_NAMESPACE}}}text"):
        place = _PLACE.fullmatch(element.get("transform", ""))
        if len(element) > 1 and place is not None:
            up = LINE * (len(element) - 1) / 2
            element.set("transform", f"translate({place[1]},{float(place[2]) - up:.2f})")
        shown = element.text or ""
        whole = [text for text in texts if text.startswith(shown.removesuffix("…"))]
        if shown.endswith("…") and len(whole) == 1:
            title = ET.SubElement(element, f"{{{_NAMESPACE}}}title")
            title.text = whole[0]


def _prune(element: ET.Element) -> None:
    """Take out groups and invisible paths that draw nothing: half of the renderer's output."""
    for child in list(element):
        _prune(child)
        tag = child.tag.rpartition("}")[2]
        invisible = tag == "path" and child.get("class") in ("background", "foreground")
        if invisible or (tag == "g" and len(child) == 0):
            element.remove(child)
    element.attrib.pop("class", None)

"""Figures: the charts of a page, and files of them for a paper or a slide.

A file needs nothing besides itself: its colors are fixed, a PDF embeds its fonts, and an SVG keeps
its text, in the fonts of the machine that shows it. Letters are as large in every width: what
changes is the drawing.
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from pathlib import Path

import vl_convert
from altair.utils.schemapi import debug_mode
from markupsafe import Markup

from sayso.records import InputError
from sayso.report import charts
from sayso.report.charts import Drawing, Maker
from sayso.report.formats import DEFAULT_WIDTH, check_format, inches
from sayso.storage.atomic import replacing

#: pixels of a drawing in an inch: letters of 12 pixels are 8.5 points high
PIXELS = 102
POINTS = 72
#: dots of a PNG in an inch
DOTS = 300
NAMESPACE = "http://www.w3.org/2000/svg"
FONTS = "Liberation Sans, Arial, Helvetica, sans-serif"
_NAME = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart by its name. A notebook shows it; ``save`` writes a file of it.

    ``label`` says in words what is drawn. ``make`` draws it in a width in pixels.
    """

    name: str
    label: str
    make: Maker = field(repr=False)

    @cached_property
    def wide(self) -> Markup:
        """The drawing of a page in a wide window."""
        return self._of_page(charts.WIDE, "wide")

    @cached_property
    def narrow(self) -> Markup:
        """The drawing of a page on a phone."""
        return self._of_page(charts.NARROW, "narrow")

    def _of_page(self, width: int, view: str) -> Markup:
        return charts.svg_of(self._drawn(width), self.label, view)

    def _drawn(self, width: int) -> Drawing:
        chart = self.make(width)
        if chart is None:
            raise InputError(f"figure {self.name}: there is nothing to draw in {width} pixels")
        return chart

    def chart(self, width: str = DEFAULT_WIDTH) -> Drawing:
        """Return the Altair chart in a width: "column", "page", or a length such as "8.4cm"."""
        return self._drawn(round(PIXELS * inches(width))).properties(background="white")

    def render(self, suffix: str, width: str = DEFAULT_WIDTH) -> bytes:
        """Return the file of a format: svg, pdf, png, or json, its Vega-Lite specification."""
        if suffix == "json":
            return (json.dumps(self.chart(width).to_dict(), indent=1) + "\n").encode()
        check_format(suffix, "a figure")
        root = self._standing_alone(inches(width))
        if suffix == "svg":
            for name in ("width", "height"):
                root.set(name, f"{root.get(name)}pt")
            return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root) + b"\n"
        text = ET.tostring(root, encoding="unicode")
        if suffix == "pdf":
            return bytes(vl_convert.svg_to_pdf(text))
        return bytes(vl_convert.svg_to_png(text, ppi=DOTS))

    def _standing_alone(self, width: float) -> ET.Element:
        """Return the drawing as an element so many inches wide, measured in points."""
        root = charts.drawn(self._drawn(round(PIXELS * width)))
        pixels = float(root.attrib["width"]), float(root.attrib["height"])
        ground = {"width": f"{pixels[0]:g}", "height": f"{pixels[1]:g}", "fill": "#ffffff"}
        root.insert(0, ET.Element(f"{{{NAMESPACE}}}rect", ground))
        root.insert(0, _titled(self.label))
        size = {
            "width": f"{POINTS * width:.2f}",
            "height": f"{POINTS * width * pixels[1] / pixels[0]:.2f}",
            "viewBox": root.attrib["viewBox"],
        }
        root.attrib.clear()
        root.attrib.update({**size, "font-family": FONTS, "role": "img"})
        return root

    def save(self, path: str | Path, width: str = DEFAULT_WIDTH) -> Path:
        """Write a file by its ending: .svg, .pdf, .png, or .json for the Vega-Lite specification.

        ``width`` is "column", "page", or a length such as "8.4cm". Raises InputError.
        """
        place = Path(path)
        suffix = place.suffix.lower().removeprefix(".")
        check_format(suffix, str(place))
        data = self.render(suffix, width)
        with replacing(place) as file:
            file.write(data)
        return place

    def _repr_svg_(self) -> str:
        """Return what a notebook shows."""
        return self.render("svg").decode()


def _titled(label: str) -> ET.Element:
    title = ET.Element(f"{{{NAMESPACE}}}title")
    title.text = label
    return title


def figure_of(name: str, make: Maker, label: str) -> Figure | None:
    """Return a chart, described by ``label``; ``None`` where nothing is drawn."""
    made = cache(partial(_unchecked, make))
    if made(charts.WIDE) is None or made(charts.NARROW) is None:
        return None
    return Figure(file_name(name), label, made)


def _unchecked(make: Maker, width: int) -> Drawing | None:
    """Return a chart without a look at its schema after each step; a file of it is validated."""
    with debug_mode(False):
        return make(width)


def file_name(*parts: str) -> str:
    """Return the name of a file made of words: lower case, with hyphens between them."""
    words = _NAME.findall(" ".join(parts).lower())
    return "-".join(words)[:80].strip("-") or "figure"


def figures_in(drawn: Iterable[Figure | None]) -> list[Figure]:
    """Return the figures of a page, in their order, each with a name of its own."""
    found: list[Figure] = []
    names: Counter[str] = Counter()
    for figure in dict.fromkeys(drawn):
        if figure is not None:
            names[figure.name] += 1
            count = names[figure.name]
            name = figure.name if count == 1 else f"{figure.name}-{count}"
            found.append(Figure(name, figure.label, figure.make))
    return found

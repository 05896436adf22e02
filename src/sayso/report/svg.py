"""Altair charts to SVG that a page may hold: no fixed colours, fonts, ids, styles or scripts."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import vl_convert
from markupsafe import Markup

from sayso.report.charts import VARIABLES, Drawing

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

"""Letters as paths: an SVG whose text looks the same on every machine, whatever fonts it has."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

NAMESPACE = "http://www.w3.org/2000/svg"
#: fonts of letters that have no outline here
FONTS = "Liberation Sans, Arial, Helvetica, sans-serif"
_TEXT, _PART, _PATH = (f"{{{NAMESPACE}}}{tag}" for tag in ("text", "tspan", "path"))
_TITLE = f"{{{NAMESPACE}}}title"
_SPACES = re.compile(r"[ \t\n]+")
_BOLD = re.compile(r"bold|bolder|[6-9]00")
#: attributes of a text that a path has too
_LOOK = ("fill", "fill-opacity", "opacity", "stroke", "stroke-linejoin")
#: what share of a text stands left of its place
_ANCHORS = {"start": 0.0, "middle": 0.5, "end": 1.0}


class Glyph(NamedTuple):
    """A letter: its advance, and its path from the pen, in units of the font."""

    advance: float
    path: str


@cache
def _font() -> dict[str, Any]:
    text = resources.files(__package__).joinpath("static", "glyphs.json").read_text("utf-8")
    font: dict[str, Any] = json.loads(text)
    return font


def glyphs_of(text: str, *, bold: bool = False) -> list[Glyph] | None:
    """Return the glyphs of a text; ``None`` where a letter has no outline."""
    font = _font()
    style = {**font["normal"], **font["bold"]} if bold else font["normal"]
    if any(letter not in style for letter in text):
        return None
    return [Glyph(*style[letter]) for letter in text]


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a text in a size; a letter without an outline counts as wide as it."""
    parts = (glyphs_of(letter, bold=bold) for letter in text)
    units = _font()["units"]
    return size * sum(part[0].advance / units if part is not None else 1.0 for part in parts)


def outline_texts(root: ET.Element) -> None:
    """Replace the texts below ``root`` by paths; one with other letters stays, with its fonts."""
    for parent in root.iter():
        for place, child in enumerate(list(parent)):
            if child.tag != _TEXT:
                continue
            if (paths := _paths(child)) is None:
                child.set("font-family", FONTS)
                continue
            parent.remove(child)
            parent.insert(place, paths)


def _paths(text: ET.Element) -> ET.Element | None:
    """Return a text as a group of paths, a path for each line; ``None`` where one has none."""
    size = float(text.get("font-size", "12px").removesuffix("px"))
    bold = _BOLD.fullmatch(text.get("font-weight", "normal")) is not None
    share = _ANCHORS[text.get("text-anchor", "start")]
    scale = size / _font()["units"]
    group = ET.Element(f"{{{NAMESPACE}}}g")
    moved = float(text.get("x", 0)), float(text.get("y", 0))
    shifted = f" translate({moved[0]:g},{moved[1]:g})" if any(moved) else ""
    group.set("transform", f"{text.get('transform', '')}{shifted}".strip() or "translate(0,0)")
    down, whole = 0.0, []
    for element in [text, *text.iter(_PART)]:
        down += float(element.get("dy", 0)) if element is not text else 0.0
        line = _SPACES.sub(" ", element.text or "").strip(" ")
        if not line:
            continue
        glyphs = glyphs_of(line, bold=bold)
        if glyphs is None:
            return None
        group.append(_line(glyphs, scale, share, down))
        whole.append(line)
    for name in _LOOK:
        if (value := text.get(name)) is not None:
            group.set(name, value)
    if (stroke := text.get("stroke-width")) is not None:
        group.set("stroke-width", f"{float(stroke) / scale:g}")  # it is scaled with the letters
    title = text.find(_TITLE)
    told = ET.SubElement(group, _TITLE)  # so that the words can be found and read aloud
    told.text = title.text if title is not None else " ".join(whole)
    return group


def _line(glyphs: list[Glyph], scale: float, share: float, down: float) -> ET.Element:
    """Return a line of text as one path, with ``share`` of it left of its place."""
    at, parts = 0.0, []
    for glyph in glyphs:
        if glyph.path:
            parts.append(f"M{at:g} 0{glyph.path}")
        at += glyph.advance
    left = -share * at * scale
    path = ET.Element(_PATH, {"d": "".join(parts)})
    path.set("transform", f"translate({left:.2f},{down:g}) scale({scale:g},{-scale:g})")
    return path

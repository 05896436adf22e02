"""Make ``report/static/glyphs.json``: outlines of letters, by which figures are drawn as paths.

    pip install fonttools
    python tools/figures/glyphs.py FOLDER > src/sayso/report/static/glyphs.json

FOLDER holds ``LiberationSans-Regular.ttf`` and ``LiberationSans-Bold.ttf`` of version 2 (Debian:
``fonts-liberation2``), the font that vl-convert brings along and measures labels with. Its license,
the SIL Open Font License 1.1, stands in ``src/sayso/report/static/glyphs.LICENSE``.

A glyph is its advance and a path of relative commands that begins at the pen, both in thousandths
of the font's size, with y upward.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fontTools.pens.basePen import decomposeQuadraticSegment
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.ttLib import TTFont

UNITS = 1000
STYLES = {"normal": "LiberationSans-Regular.ttf", "bold": "LiberationSans-Bold.ttf"}
#: Latin with its accents, Greek, Cyrillic, punctuation, and signs of formulas and of our pages
RANGES = {
    "normal": (
        (0x20, 0x7E), (0xA0, 0x17F), (0x386, 0x3CE), (0x400, 0x45F), (0x2002, 0x200A),
        (0x2010, 0x2027), (0x202F, 0x203A), (0x20AC, 0x20AC), (0x2190, 0x2193), (0x2202, 0x2265),
    ),
    "bold": ((0x20, 0x7E), (0xA0, 0xFF)),
}  # fmt: skip


def path_of(font: TTFont, name: str) -> str:
    """Return the outline of a glyph as a path of relative commands."""
    glyphs = font.getGlyphSet()
    pen = DecomposingRecordingPen(glyphs)
    glyphs[name].draw(pen)
    scale, text = UNITS / font["head"].unitsPerEm, []
    at = start = (0, 0)
    for command, points in _commands(pen.value):
        if command == "z":
            text.append("z")
            at = start
            continue
        whole = [(round(x * scale), round(y * scale)) for x, y in points]
        text.append(command + _numbers([c - at[i] for point in whole for i, c in enumerate(point)]))
        at = whole[-1]
        start = at if command == "m" else start
    return "".join(text)


def _commands(recorded: list[tuple[str, Any]]) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """Yield the commands of a path with their points, every curve with one control point."""
    for operation, points in recorded:
        if operation == "moveTo":
            yield "m", list(points)
        elif operation == "lineTo":
            yield "l", list(points)
        elif operation == "qCurveTo":
            assert points[-1] is not None, "a contour without a point on the curve"
            for control, end in decomposeQuadraticSegment(points):
                yield "q", [control, end]
        else:
            assert operation in ("closePath", "endPath"), operation
            yield "z", []


def _numbers(values: list[int]) -> str:
    """Return numbers as short as a path allows: a sign separates as a space does."""
    return "".join(f" {v}" if n and v >= 0 else str(v) for n, v in enumerate(values))


def main(folder: Path) -> None:
    """Print the outlines."""
    found: dict[str, Any] = {"units": UNITS}
    for style, file in STYLES.items():
        font = TTFont(folder / file)
        names, widths = font.getBestCmap(), font["hmtx"]
        scale = UNITS / font["head"].unitsPerEm
        found[style] = {
            chr(code): [round(widths[names[code]][0] * scale), path_of(font, names[code])]
            for first, last in RANGES[style]
            for code in range(first, last + 1)
            if code in names
        }
        # vl-convert draws the hyphen that never breaks as the plain one
        found[style].setdefault("\u2011", found[style]["-"])
    json.dump(found, sys.stdout, ensure_ascii=False, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main(Path(sys.argv[1]))

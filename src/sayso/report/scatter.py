"""Scatters of many answers: a part of the points, drawn at random, so that a page stays small."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
from markupsafe import Markup
from numpy.typing import ArrayLike

from sayso.report.charts import (
    COLORS,
    MUTED,
    NARROW,
    SHAPES,
    Drawing,
    Row,
    data_of,
    finish,
    legend_below,
    styled,
    values,
)
from sayso.report.figures import Figure, figure_of

#: points of one drawing
MOST_POINTS = 250
#: words by which a point is moved at most
ASIDE = 0.3


class Cloud(NamedTuple):
    """The points of a scatter, and of how many they are a part."""

    rows: list[Row]
    total: int

    @property
    def thinned(self) -> str:
        """How the points were chosen, as the end of a caption."""
        shown = f"{len(self.rows):,}"
        part = f" of {self.total:,}" if len(self.rows) < self.total else ""
        lot = ", drawn at random" if part else ""
        return f"{shown}{part} answers{lot}; equal points are drawn side by side."


def cloud(x: ArrayLike, y: ArrayLike, kind: ArrayLike, names: Sequence[str]) -> Cloud:
    """Return points (x, y) (n,) with the names of their kinds, 0, 1, …; NaN in any is left out.

    Of more than :data:`MOST_POINTS` as many are drawn by lot, always the same ones. ``x`` counts
    words: points are moved by a fraction of one, so that equal ones show.
    """
    lot = random.Random("scatter")
    columns = [np.asarray(column, dtype=np.float64) for column in (x, y, kind)]
    places = np.flatnonzero(np.isfinite(np.stack(columns)).all(axis=0)).tolist()
    total = len(places)
    if total > MOST_POINTS:
        places = sorted(lot.sample(places, MOST_POINTS))
    X, Y, K = columns
    rows = [
        {
            "series": names[int(K[n])],
            "x": round(X[n] + lot.uniform(-ASIDE, ASIDE), 2),
            "y": float(f"{Y[n]:.4g}"),
        }
        for n in places
    ]
    return Cloud(rows, total)


def scatter_plot(
    points: Cloud,
    names: Sequence[str],
    width: int,
    titles: tuple[str, str],
    limit: float | None = None,
) -> Drawing | None:
    """Return a scatter by kind; ``limit`` is a line across. ``None`` for fewer than two places."""
    rows = points.rows
    if len({r["x"] for r in rows}) < 2:
        return None
    legend = legend_below(2 if width > NARROW else 1, 40, symbolOpacity=1, labelLimit=320)
    ends = values(rows, "y")
    y_scale = alt.Scale(domain=[min(ends), max(ends)], nice=True, padding=6)
    axis: Any = alt.Axis(tickCount=6, tickMinStep=1)
    x = alt.X("x:Q", title=titles[0], axis=axis, scale=alt.Scale(zero=False, padding=6))
    y = alt.Y("y:Q", title=titles[1], scale=y_scale, axis=alt.Axis(tickCount=5, titleLimit=240))
    color, shape = (
        styled(channel, names, styles, legend)
        for channel, styles in ((alt.Color, COLORS), (alt.Shape, SHAPES))
    )
    base = alt.Chart(data_of(rows))
    marks = base.mark_point(size=34, filled=True, opacity=0.6).encode(
        x=x, y=y, color=color, shape=shape
    )
    layers: list[alt.Chart] = [marks]
    if limit is not None:
        line = alt.Chart(data_of([{"y": limit}]))
        layers.insert(0, line.mark_rule(color=MUTED, strokeDash=[4, 3]).encode(y="y:Q"))
    return finish(alt.layer(*layers), width, 300 if width > NARROW else 260)


# ---- as SVG: a path for each point takes 160 bytes, and one for all points of a kind 10 to 30

_POINT = re.compile(
    r'<path transform="translate\((-?[\d.]+),(-?[\d.]+)\)" d="([^"]+)" fill="([^"]+)" '
    r'stroke-width="2" opacity="0\.6" />'
)
#: half of a diamond's height, and the width of a dot, in pixels
HALF, DOT = 4, 6


class Scattered(NamedTuple):
    """What a scatter is of: its name, the titles of its axes, its label, and a line across."""

    name: str
    titles: tuple[str, str]
    label: str
    limit: float | None = None


def figure(points: Cloud, names: Sequence[str], of: Scattered) -> Figure | None:
    """Return a scatter of kinds with these names; ``None`` where nothing is drawn."""

    def make(width: int) -> Drawing | None:
        return scatter_plot(points, names, width, of.titles, of.limit)

    return figure_of(of.name, make, of.label, compact_drawing)


def compact_drawing(markup: Markup) -> Markup:
    """Return a drawing in which all points of a kind are one path: dots, or else diamonds."""
    kinds: dict[str, list[tuple[str, str, bool]]] = {}
    for x, y, outline, fill in _POINT.findall(markup):
        kinds.setdefault(fill, []).append((_short(x), _short(y), "A" in outline))
    paths = []
    for fill, places in kinds.items():
        if places[0][2]:  # a line without length and with round ends is a dot
            d = "".join(f"M{x},{y}h0" for x, y, _ in places)
            look = f'stroke="{fill}" stroke-width="{DOT}" stroke-linecap="round"'
        else:
            d = "".join(
                f"M{x},{y}m-{HALF},0l{HALF},-{HALF} {HALF},{HALF}-{HALF},{HALF}z"
                for x, y, _ in places
            )
            look = f'fill="{fill}"'
        paths.append(f'<path d="{d}" {look} opacity="0.6" />')
    first = True

    def replaced(match: re.Match[str]) -> str:
        nonlocal first
        whole = "".join(paths) if first else ""
        first = False
        return whole

    return Markup(_POINT.sub(replaced, markup))  # our own drawing: nothing else stands in it


def _short(number: str) -> str:
    return f"{float(number):.1f}".removesuffix(".0")

"""Scatters of many answers: a part of the points, drawn at random, so that a page stays small."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
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

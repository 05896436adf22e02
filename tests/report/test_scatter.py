"""Scatters: what is left out, what is drawn by lot, and how small they stay."""

from __future__ import annotations

import re
from functools import partial
from xml.etree import ElementTree

import numpy as np

from sayso.report.charts import WIDE
from sayso.report.figures import figure_of
from sayso.report.scatter import MOST_POINTS, cloud, scatter_plot

NAMES = ("right", "wrong")


def test_points_without_a_place_or_a_kind_are_left_out() -> None:
    found = cloud([1, 2, np.nan, 4], [0.1, np.inf, 0.3, 0.4], [0, 1, 0, np.nan], NAMES)
    (row,) = found.rows
    assert (row["series"], row["y"]) == ("right", 0.1)
    assert abs(row["x"] - 1) <= 0.3
    assert found.thinned == "1 answers; equal points are drawn side by side."
    assert scatter_plot(found, NAMES, WIDE, ("x", "y")) is None


def test_many_points_are_a_part_drawn_by_lot_and_the_caption_says_so() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(1, 90, 1000), rng.random(1000)
    first, again = (cloud(x, y, x > 40, NAMES) for _ in range(2))
    assert first == again
    assert len(first.rows) == MOST_POINTS
    assert first.thinned == (
        "250 of 1,000 answers, drawn at random; equal points are drawn side by side."
    )
    make = partial(scatter_plot, first, NAMES, titles=("words", "score"), limit=0.5)
    drawn = figure_of("by words", make, "a scatter")
    assert drawn is not None
    for markup in (drawn.wide, drawn.narrow):
        assert len(markup) < 70_000
        assert len(re.findall(r'opacity="0\.6"', markup)) == MOST_POINTS
        ElementTree.fromstring(markup)

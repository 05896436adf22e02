"""The board: the scatter of many systems by what they invent and what they miss.

A system abstains where there is no answer (the good part of the abstention gap) and where there is
one (the bad part). The scatter has what it answers of the first across, and what it abstains from
of the second up. The layout ``board`` of a study shows it, with the table of both parts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import altair as alt

from sayso.harmless import line
from sayso.metrics.joint import JointNumber
from sayso.protocols.protocol import OURS, LayoutRuns
from sayso.protocols.selective.measure import ABSTENTIONS
from sayso.records import Estimate, part_of
from sayso.report.charts import INK, MUTED, SHORT, Drawing, Maker, Row, data_of, finish
from sayso.report.number_tables import NumberTable, grid, rank_text

#: least height of the field of the plot
LEAST_HEIGHT = 150
#: steps of an axis of shares, and the fewest pixels between two ticks
STEPS, TICK = (0.05, 0.1, 0.2, 0.25, 0.5), 48
#: what the axes of both errors are called
INVENTED = "unanswerable questions answered with something invented"
MISSED = "answerable questions not answered"
#: what the line is called on which a system cannot tell the two kinds of questions apart
ALIKE = "declines both kinds alike (G = 0)"


class BoardSystem(NamedTuple):
    """A dot of the board: shares abstained from questions without an answer, and with one."""

    name: str
    without: Estimate
    with_one: Estimate
    label: str = ""


class Axis(NamedTuple):
    """The range of an axis and its ticks: where they stand, and what they say."""

    low: float
    high: float
    ticks: list[tuple[float, str]]


def _shares(values: Sequence[float]) -> Axis:
    """Return an axis of shares from 0 that holds all values, in tenths or twentieths."""
    step = 0.1 if max(values) > 0.3 else 0.05
    high = min(1.0, max(step, math.ceil(max(values) / step) * step))
    return Axis(0.0, high, [])


def _alike(
    axes: tuple[Axis, Axis], room: tuple[float, float]
) -> tuple[tuple[Axis, Axis], tuple[float, float]]:
    """Return two axes of shares of one scale, and width and height of their field in ``room``."""
    x, y = axes
    scale = min(room[0] / (x.high - x.low), room[1] / (y.high - y.low))
    least = y.low + min(LEAST_HEIGHT, room[1]) / scale
    y = y._replace(high=min(1.0, max(y.high, least)))
    step = next(one for one in STEPS if one * scale >= TICK or one == STEPS[-1])
    x, y = (axis._replace(ticks=_ticks(axis.low, axis.high, step)) for axis in (x, y))
    return (x, y), (scale * (x.high - x.low), scale * (y.high - y.low))


def _ticks(low: float, high: float, step: float) -> list[tuple[float, str]]:
    """Return the ticks of an axis of shares."""
    count = int((high - low) / step + 1e-9)
    values = [low + i * step for i in range(count + 1)]
    return [(value, f"{100 * value:.0f} %") for value in values if value <= 1 + 1e-9]


def _blind(axes: tuple[Axis, Axis]) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Return the ends of the line on which systems decline both kinds of questions as often."""
    x, y = axes
    low, high = max(x.low, 1 - y.high), min(x.high, 1 - y.low)
    return ((low, 1 - low), (high, 1 - high)) if low < high else None


def _meet(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


#: pixels around the field of the figure
FRAME = {"left": 66, "right": 14, "top": 10, "bottom": 48}
#: the ground of the figure
WHITE = "#ffffff"
#: letters of a label, and the radius of a dot that has one
LETTERS, RADIUS = 12, 5
#: mean width of a letter, in sizes of the font
LETTER_WIDTH = 0.56
#: most systems that all have their names
ALL_NAMED = 20
#: where a label stands: how it is aligned, and the direction in which its dot lies behind it
SIDES = (
    ("left", 1, 0), ("right", -1, 0), ("left", 0.8, -0.9), ("left", 0.8, 0.9),
    ("right", -0.8, -0.9), ("right", -0.8, 0.9), ("center", 0, -1.2), ("center", 0, 1.2),
)  # fmt: skip
#: pixels between a dot and its label; from the second on a line joins them
DISTANCES = (9, 24, 40, 58)


class FigureLabel(NamedTuple):
    """A name in the figure: its text, its place in pixels, and the dot it belongs to."""

    text: str
    x: float
    y: float
    align: str
    dot: tuple[float, float]
    joined: bool

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of the text."""
        width = LETTER_WIDTH * LETTERS * len(self.text)
        left = self.x - width * {"left": 0, "center": 0.5, "right": 1}[self.align]
        return left, self.y - 0.6 * LETTERS, left + width, self.y + 0.6 * LETTERS


def place_labels(
    named: Sequence[tuple[str, tuple[float, float]]],
    dots: Sequence[tuple[float, float]],
    field: tuple[float, float],
) -> list[FigureLabel]:
    """Return where each name stands beside its dot: over no other name, and over few dots.

    A name that would lie over another one wherever it stood is left out.
    """
    placed: list[FigureLabel] = []
    for text, dot in named:
        choices = []
        for far, distance in enumerate(DISTANCES):
            for rank, (align, right, down) in enumerate(SIDES):
                label = FigureLabel(
                    text, dot[0] + distance * right, dot[1] + distance * down, align, dot, far > 0
                )
                left, top, end, bottom = label.box
                if left < 0 or top < 0 or end > field[0] or bottom > field[1]:
                    continue
                if any(_meet(label.box, other.box) for other in placed):
                    continue
                hidden = sum(_covers(label.box, other) for other in dots if other != dot)
                hidden += 4 * sum(_covers(label.box, other) for _, other in named if other != dot)
                choices.append((4 * hidden + 3 * far, rank, label))
        if choices:
            placed.append(min(choices)[2])
    return placed


def _covers(box: tuple[float, ...], dot: tuple[float, float]) -> bool:
    return box[0] - RADIUS < dot[0] < box[2] + RADIUS and box[1] - RADIUS < dot[1] < box[3] + RADIUS


def board_chart(systems: Sequence[BoardSystem]) -> Maker | None:
    """Return the scatter; ``None`` where no system answered questions of both kinds.

    Named are the systems that have a label in the study's file; without any, all of up to
    :data:`ALL_NAMED`, and no more than there is room for.
    """
    held = [
        (1 - s.without.value, s.with_one.value, s)
        for s in systems
        if s.without.value is not None and s.with_one.value is not None
    ]
    return partial(_drawn, held) if held else None


def _drawn(places: Sequence[tuple[float, float, BoardSystem]], width: int) -> Drawing:
    """Draw systems (answered without an answer, abstained with one, system)."""
    room = width - FRAME["left"] - FRAME["right"]
    axes = _shares([x for x, _, _ in places]), _shares([y for _, y, _ in places])
    (x, y), field = _alike(axes, (room, room))
    scale = field[0] / (x.high - x.low)
    dots = [(scale * (at - x.low), field[1] - scale * (up - y.low)) for at, up, _ in places]
    every = len(places) <= ALL_NAMED and not any(s.label for _, _, s in places)
    named = [every or bool(s.label) for _, _, s in places]
    texts = [
        (line(system.label or system.name, 40), dot)
        for (*_, system), dot, shown in zip(places, dots, named, strict=True)
        if shown
    ]
    labels = place_labels(texts, dots, field)
    rows = [{"x": at, "y": up, "name": line(s.name, 100)} for at, up, s in places]
    others = [row for row, shown in zip(rows, named, strict=True) if not shown]
    chosen = [row for row, shown in zip(rows, named, strict=True) if shown]
    layers = _layers((x, y), others, chosen, [_row_of(label, (x, y), scale) for label in labels])
    size = {"width": field[0], "height": field[1]}
    finished: Drawing = finish(alt.layer(*layers), width, round(field[1])).properties(
        **size, autosize="none", padding=FRAME
    )
    framed: Drawing = finished.configure_axisY(grid=True, labelPadding=6, titlePadding=12)
    return framed


def _row_of(label: FigureLabel, axes: tuple[Axis, Axis], scale: float) -> Row:
    """Return a label in the units of the axes."""
    x, y = axes

    def back(at: tuple[float, float]) -> tuple[float, float]:
        return x.low + at[0] / scale, y.high - at[1] / scale

    place, dot = back((label.x, label.y)), back(label.dot)
    return {
        "text": label.text, "x": place[0], "y": place[1], "align": label.align,
        "joined": label.joined, "dot_x": dot[0], "dot_y": dot[1],
    }  # fmt: skip


def _layers(
    axes: tuple[Axis, Axis], others: list[Row], chosen: list[Row], labels: list[Row]
) -> list[alt.Chart]:
    """Return the line of blind systems, the dots, the named ones above, and their names."""
    x, y = (
        channel(
            f"{field}:Q",
            title=title,
            scale=alt.Scale(domain=[axis.low, axis.high], nice=False, zero=False),
            axis=alt.Axis(values=[t for t, _ in axis.ticks], format=".0%", titleLimit=900),
        )
        for channel, field, axis, title in (
            (alt.X, "x", axes[0], INVENTED), (alt.Y, "y", axes[1], MISSED),
        )
    )  # fmt: skip
    layers = []
    if ends := _blind(axes):
        corners = [{"x": end[0], "y": end[1]} for end in ends]
        rule = alt.Chart(data_of(corners))
        layers.append(rule.mark_line(color=MUTED, strokeDash=[4, 3]).encode(x=x, y=y))
        told = alt.Chart(data_of([{**corners[0], "text": ALIKE}]))
        text = told.mark_text(align="right", dx=-6, dy=8, color=MUTED, fontSize=11)
        layers.append(text.encode(x=x, y=y, text="text:N"))
    base = alt.Chart(data_of(labels))
    joins = base.transform_filter("datum.joined").mark_rule(color=MUTED, strokeWidth=0.8)
    layers.append(joins.encode(x=x, y=y, x2="dot_x:Q", y2="dot_y:Q"))
    for rows, size, color, opacity in ((others, 30, MUTED, 0.45), (chosen, 70, SHORT, 1)):
        dots = alt.Chart(data_of(rows))
        marks = dots.mark_circle(size=size, color=color, opacity=opacity)
        layers.append(marks.encode(x=x, y=y))
    for align in ("left", "center", "right"):
        of = base.transform_filter(f"datum.align == '{align}'")
        look: dict[str, Any] = {"align": align, "baseline": "middle", "fontSize": LETTERS}
        halo = of.mark_text(stroke=WHITE, strokeWidth=3, strokeJoin="round", color=WHITE, **look)
        layers.append(halo.encode(x=x, y=y, text="text:N"))
        layers.append(of.mark_text(color=INK, **look).encode(x=x, y=y, text="text:N"))
    return layers


# ---- the layouts of a study


def short_numbers(shown: LayoutRuns) -> list[JointNumber]:
    """Return the numbers of short answers."""
    return [number for number in shown.numbers() if part_of(number.where, "form") == "short"]


#: where the numbers of declining come from
DECLINING = f"{OURS}, with a metric from arXiv 2511.13029"
ABSTENTION = (
    ("abstention_gap", "abstention gap (G)"),
    ("abstains_unanswerable", "unanswerable declined"),
    ("abstains_answerable", "answerable declined"),
    ("abstention_gap_within", "G within type"),
    ("right_minus_wrong", "right minus wrong"),
    ("passage_gap", "G of passages taken away"),
    ("other_passage_gap", "G of passages exchanged"),
)


def abstention(shown: LayoutRuns) -> list[NumberTable]:
    """Return who abstains where there is no answer: G, its parts, right minus wrong."""
    numbers = {n.name: n for n in reversed(short_numbers(shown))}
    found = {head: numbers[key] for key, head in ABSTENTION if key in numbers}
    if not any(number.name.endswith("_gap") for number in found.values()):
        return []
    first = next(iter(found.values()))
    values = [-2.0 if mean.value is None else mean.value for mean in first.means]
    over = f"mean over {len(shown.data)} data sets, " if len(shown.data) > 1 else ""
    caption = (
        f"How models decline (short answers, {over}joint 95 % intervals of sampling error only, "
        "ranks with ties). The abstention gap (G) is the share of unanswerable questions declined "
        "minus the share of answerable ones declined."
    )
    columns: dict[str, JointNumber | None] = {"rank": None, **found}
    return [
        grid(
            caption,
            {shown.models[m]: m for m in sorted(range(len(values)), key=lambda m: -values[m])},
            columns, lambda m, n: rank_text(first.ranking.ranks[m]) if n is None else n.means[m],
            labels=("model",), written="plain",
        )
    ]  # fmt: skip


def board(shown: LayoutRuns) -> list[NumberTable]:
    """Return the table of declining, with the scatter of both parts of the gap."""
    numbers = {n.name: n for n in reversed(short_numbers(shown))}
    if not numbers.keys() >= set(ABSTENTIONS):
        return []
    without, with_one = (numbers[part].means for part in ABSTENTIONS)
    systems = [
        BoardSystem(model, without[m], with_one[m], shown.labels.get(model, ""))
        for m, model in enumerate(shown.models)
    ]
    return [table._replace(chart=board_chart(systems)) for table in abstention(shown)]

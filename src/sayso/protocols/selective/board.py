"""The board: the scatter of many systems by what they invent and what they miss.

A system abstains where there is no answer (the good part of the abstention gap) and where there is
one (the bad part). The scatter has what it answers of the first across, and what it abstains from
of the second up. The layout ``board`` of a study shows it, with the table of both parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import altair as alt

from sayso.harmless import line
from sayso.metrics.joint import JointNumber
from sayso.protocols.protocol import OURS, LayoutRuns
from sayso.protocols.selective.measure import ABSTENTIONS
from sayso.records import Estimate, part_of
from sayso.report.charts import INK, MUTED, SHORT, Drawing, Maker, Row, data_of, finish
from sayso.report.number_tables import NumberTable, grid, rank_text

#: what the axes of both errors are called
INVENTED = "unanswerable questions answered with something invented"
MISSED = "answerable questions not answered"
#: what the line of the chart means
ALIKE = "On the dashed line of the chart, both kinds of questions are declined alike (G = 0)."
#: most systems that all have their names
ALL_NAMED = 20
#: pixels around the field of the figure, and the height of the field
FRAME = {"left": 66, "right": 26, "top": 10, "bottom": 48}
HEIGHT = 300
#: pixels of a letter, of a line of text, and from the middle of a dot to its name
LETTER, LINE, BESIDE = 6.7, 14, 9


class BoardSystem(NamedTuple):
    """A dot of the board: shares abstained from questions without an answer, and with one."""

    name: str
    without: Estimate
    with_one: Estimate
    label: str = ""


def board_chart(systems: Sequence[BoardSystem]) -> Maker | None:
    """Return the scatter; ``None`` where no system answered questions of both kinds.

    Named are the systems that have a label in the study's file; without any, all of up to
    :data:`ALL_NAMED`, and no more than there is room for.
    """
    dots: list[Row] = [
        {
            "x": 1 - system.without.value,
            "y": system.with_one.value,
            "text": line(system.label or system.name, 40),
            "named": bool(system.label),
        }
        for system in systems
        if system.without.value is not None and system.with_one.value is not None
    ]
    if len(dots) <= ALL_NAMED and not any(dot["named"] for dot in dots):
        dots = [{**dot, "named": True} for dot in dots]
    return partial(_drawn, dots) if dots else None


def _drawn(dots: Sequence[Row], width: int) -> Drawing:
    """Draw the dots, the names of some, and the line where a system declines both kinds alike."""
    right, top = (min(1.0, 1.08 * max(0.1, *(dot[at] for dot in dots))) for at in ("x", "y"))
    room = width - FRAME["left"] - FRAME["right"]
    x, y = (
        channel(
            f"{field}:Q",
            title=title,
            scale=alt.Scale(domain=[0, end], nice=False),
            axis=alt.Axis(format=".0%", tickCount=5, titleLimit=900),
        )
        for channel, field, title, end in (
            (alt.X, "x", INVENTED, right),
            (alt.Y, "y", MISSED, top),
        )
    )
    alike = [{"x": 1 - top, "y": top}, {"x": right, "y": 1 - right}] if right + top > 1 else []
    line_of_both = alt.Chart(data_of(alike)).mark_line(color=MUTED, strokeDash=[4, 3])
    layers = [line_of_both.encode(x=x, y=y)]
    for named, size, color, opacity in ((False, 30, MUTED, 0.45), (True, 70, SHORT, 1)):
        marks = alt.Chart(data_of([dot for dot in dots if dot["named"] == named]))
        circles = marks.mark_circle(size=size, color=color, opacity=opacity)
        layers.append(circles.encode(x=x, y=y))
    names = place_names([dot for dot in dots if dot["named"]], (room / right, HEIGHT / top), room)
    at_right, at_left = ([row for row in names if row["left"] == left] for left in (False, True))
    written = [
        alt.Chart(data_of(at_right)).mark_text(align="left", dx=BESIDE, color=INK, fontSize=12),
        alt.Chart(data_of(at_left)).mark_text(align="right", dx=-BESIDE, color=INK, fontSize=12),
    ]
    layers += [text.encode(x=x, y=y, text="text:N") for text in written]
    finished: Drawing = finish(alt.layer(*layers), width, HEIGHT).properties(
        width=room, autosize="none", padding=FRAME
    )
    framed: Drawing = finished.configure_axisY(grid=True, labelPadding=6, titlePadding=12)
    return framed


def place_names(dots: Sequence[Row], scale: tuple[float, float], room: float) -> list[Row]:
    """Return the dots whose names have room beside them, over nothing else, with the side.

    ``scale`` are the pixels of a unit of x and of y, ``room`` those of the width of the field.
    """
    places = [(dot["x"] * scale[0], dot["y"] * scale[1]) for dot in dots]
    taken = [(x - BESIDE / 2, x + BESIDE / 2, y) for x, y in places]
    found = []
    for dot, (x, y) in zip(dots, places, strict=True):
        size = LETTER * len(dot["text"])
        for left, start in ((False, x + BESIDE), (True, x - BESIDE - size)):
            end = start + size
            meets = (one[0] < end and start < one[1] and abs(one[2] - y) < LINE for one in taken)
            if start >= 0 and end <= room and not any(meets):
                taken.append((start, end, y))
                found.append({**dot, "left": left})
                break
    return found


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
    return [
        table._replace(caption=f"{table.caption} {ALIKE}", chart=board_chart(systems))
        for table in abstention(shown)
    ]

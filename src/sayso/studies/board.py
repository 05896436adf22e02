"""A board: one static page of many systems, ordered by what a wrong and a missed answer cost.

A system abstains where there is no answer (the good part of the abstention gap, G) and where there
is one (the bad part). The page shows G with ranks that respect ties, both parts against each other,
and G in time; its script reorders the table for another price of a wrong answer. With c that of an
answer where there is none, in missed answers, a system costs

    (c (1 - abstained without an answer) + abstained with one) / (c + 1)

which is (1 - G)/2 at c = 1. What is known of a system besides its answers (its group, whether it
thinks, its date) is what the study's file says, and is never guessed from a name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Any, NamedTuple

import altair as alt
import msgspec

from sayso.harmless import line
from sayso.records import Estimate, InputError
from sayso.report.charts import INK, MUTED, SHORT, Drawing, Row, data_of, finish
from sayso.report.figures import Figure, figure_of
from sayso.report.number_tables import rank_text
from sayso.report.numbers import compact_number, is_bare, percent, shown_value, signed_number
from sayso.report.opening import PageOpening
from sayso.report.page import page

#: width and height of a plot in a wide window and on a phone
SIZES = {"wide": (820, 520), "narrow": (350, 380)}
#: least height of the field of a plot of two shares
LEAST_HEIGHT = 150
#: steps of an axis of shares, and the fewest pixels between two ticks
STEPS, TICK = (0.05, 0.1, 0.2, 0.25, 0.5), 48
#: what the axes of both errors are called
INVENTED = "unanswerable questions answered with something invented"
MISSED = "answerable questions not answered"
#: what the line is called on which a system cannot tell the two kinds of questions apart
ALIKE = "declines both kinds alike (G = 0)"
#: pixels left of, right of, above and below the field of a plot
MARGINS = (52, 14, 12, 46)
_DATE = re.compile(r"(?P<year>\d{4})(-(?P<month>0[1-9]|1[0-2])(-(?P<day>0[1-9]|[12]\d|3[01]))?)?")


class About(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the study's file says of a system; empty where it says nothing.

    ``label`` is its short name beside its dot in the figure.
    """

    group: str = ""
    thinking: str = ""
    date: str = ""
    label: str = ""


class BoardSystem(NamedTuple):
    """A row of the board: the abstention gap, its two parts, and the ranks that it allows."""

    name: str
    gap: Estimate
    without: Estimate
    with_one: Estimate
    rank: tuple[int, int] | None = None
    about: About = About()


#: ends "What this does not show:", where the study says nothing else
NOT_SHOWN = "how these systems do on other questions."


def check_date(text: str, place: str) -> str:
    """Return a date such as 2025, 2025-08 or 2025-08-07. Raises InputError for anything else."""
    if text and not _DATE.fullmatch(text):
        raise InputError(
            f"{place}: date {line(text, 40)!r}: expected a date such as 2025-08-07 or 2025-08"
        )
    return text


def year_number(date: str) -> float:
    """Return a date as a number of years; a month or a year stands for its middle."""
    found = _DATE.fullmatch(date)
    assert found is not None
    if found["month"] is None:
        return float(found["year"]) + 0.5
    day = float(found["day"]) if found["day"] else 15.0
    return float(found["year"]) + (float(found["month"]) - 1 + day / 31) / 12


# ---- plots, drawn here so that the page needs no library


class Axis(NamedTuple):
    """The range of an axis and its ticks: where they stand, and what they say."""

    low: float
    high: float
    ticks: list[tuple[float, str]]


class Dot(NamedTuple):
    """A system in a plot: its number, place, interval, mark and name."""

    system: int
    x: float
    y: float
    cross: str
    mark: str
    name: str
    left: bool
    named: bool = False


class Edge(NamedTuple):
    """A line between two systems: thinking on and off, or an earlier and a later version."""

    kind: str
    x1: float
    y1: float
    x2: float
    y2: float


class Plot(NamedTuple):
    """A plot in one size."""

    kind: str
    width: int
    height: int
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    dots: list[Dot]
    edges: list[Edge]
    blind: tuple[float, float, float, float] | None
    titles: tuple[str, str]

    @property
    def field(self) -> tuple[int, int, int, int]:
        """Left, top, right and bottom of the field."""
        left, right, top, bottom = MARGINS
        return left, top, self.width - right, self.height - bottom


def _shares(values: Sequence[float], floor: float | None = None) -> Axis:
    """Return an axis of shares that holds all values, in tenths or twentieths."""
    low, high = min(values), max(values)
    step = 0.1 if high - low > 0.3 else 0.05
    low = floor if floor is not None else math.floor(low / step) * step
    high = math.ceil(high / step) * step
    if high - low < step / 2:  # all of them equal
        low, high = (low - step, low) if low > 0.5 else (low, low + step)
    each = max(1, round((high - low) / step / 6))
    high = min(1.0, high)
    return Axis(low, high, _ticks(low, high, each * step))


def _years(values: Sequence[float]) -> Axis:
    low, high = math.floor(4 * min(values)) / 4, math.ceil(4 * max(values)) / 4
    high = high if high > low else low + 0.25
    step = 0.25 if high - low <= 1.5 else 0.5 if high - low <= 3 else 1.0
    ticks = [low + i * step for i in range(int((high - low) / step) + 1)]
    return Axis(low, high, [(t, f"{int(t)}-{round(12 * (t % 1)) + 1:02}") for t in ticks])


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


class _Place(NamedTuple):
    """Where a system stands in a plot, in the units of its axes, and how far it may lie."""

    system: int
    x: Estimate | float
    y: Estimate


def _value(of: Estimate | float) -> float:
    return of if isinstance(of, float) else (of.value or 0.0)


def _reach(of: Sequence[Estimate]) -> list[float]:
    """Return values and ends of intervals."""
    return [end for e in of for end in (e.value, e.low, e.high) if end is not None]


def board_plot(
    kind: str,
    places: Sequence[_Place],
    systems: Sequence[BoardSystem],
    axes: tuple[Axis, Axis],
    titles: tuple[str, str],
) -> Plot:
    """Return a plot in the size ``kind``; of two shares both axes have the same scale."""
    width, height = SIZES[kind]
    left, right, top, bottom = MARGINS
    shares = not isinstance(places[0].x, float)
    if shares:
        axes, field = _alike(axes, (width - left - right, height - top - bottom))
        width, height = round(left + right + field[0]), round(top + bottom + field[1])

    def across(value: float) -> float:
        axis = axes[0]
        share = (value - axis.low) / (axis.high - axis.low)
        return round(left + min(1.0, max(0.0, share)) * (width - left - right), 1)

    def up(value: float) -> float:
        axis = axes[1]
        share = (value - axis.low) / (axis.high - axis.low)
        return round(height - bottom - min(1.0, max(0.0, share)) * (height - top - bottom), 1)

    dots = {}
    for number, x, y in places:
        system, spot = systems[number], (across(_value(x)), up(_value(y)))
        reach = ""
        if isinstance(x, Estimate) and x.low is not None and x.high is not None:
            reach += f"M{across(x.low)} {spot[1]}H{across(x.high)}"
        if y.low is not None and y.high is not None:
            reach += f"M{spot[0]} {up(y.low)}V{up(y.high)}"
        limit = 60 if kind == "wide" else 24
        dots[number] = Dot(
            number, *spot, reach, _mark(system.about.thinking), line(system.name, limit),
            spot[0] > width / 2,
        )  # fmt: skip
    edges = [
        Edge(joint, dots[a].x, dots[a].y, dots[b].x, dots[b].y)
        for joint, a, b in joined(systems)
        if a in dots and b in dots
    ]
    blind = None
    if shares and (ends := _blind(axes)):
        (x1, y1), (x2, y2) = ends
        blind = across(x1), up(y1), across(x2), up(y2)
    return Plot(
        kind, width, height,
        [(across(t), text) for t, text in axes[0].ticks],
        [(up(t), text) for t, text in axes[1].ticks],
        _labeled(list(dots.values()), width), edges, blind, titles,
    )  # fmt: skip


def _blind(axes: tuple[Axis, Axis]) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Return the ends of the line on which systems decline both kinds of questions as often."""
    x, y = axes
    low, high = max(x.low, 1 - y.high), min(x.high, 1 - y.low)
    return ((low, 1 - low), (high, 1 - high)) if low < high else None


#: pixels of a sign of a label, and of a line of them
SIGN, LINE = 6.4, 13.0


def _labeled(dots: Sequence[Dot], width: int) -> list[Dot]:
    """Return the dots, those named whose label meets no other label and no other dot."""
    taken: list[tuple[float, float, float, float]] = []
    found = []
    for dot in dots:
        long = SIGN * len(dot.name)
        low = dot.x - 9 - long if dot.left else dot.x + 9
        box = (low, dot.y - 7 - LINE, low + long, dot.y - 4)
        free = box[0] >= 0 and box[2] <= width and not any(_meet(box, other) for other in taken)
        covers = any(
            box[0] - 5 < d.x < box[2] + 5 and box[1] - 5 < d.y < box[3] + 5
            for d in dots
            if d is not dot
        )
        if free and not covers:
            taken.append(box)
        found.append(dot._replace(named=free and not covers))
    return found


def _meet(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _mark(thinking: str) -> str:
    """Return the mark of a system: that it thinks, that it does not, or nothing is said."""
    return "plain" if not thinking else "off" if thinking == "off" else "on"


def joined(systems: Sequence[BoardSystem]) -> Iterator[tuple[str, int, int]]:
    """Yield (kind, number, number) of the systems that a line joins, of one group.

    ``thinking``: of one date, one thinks and the other does not, or to another degree; ``version``:
    thinking alike, of dates that follow each other.
    """
    groups: dict[str, list[int]] = {}
    for number, system in enumerate(systems):
        if system.about.group:
            groups.setdefault(system.about.group, []).append(number)
    for members in groups.values():
        same_date: dict[str, list[int]] = {}
        alike: dict[str, list[int]] = {}
        for number in members:
            about = systems[number].about
            same_date.setdefault(about.date, []).append(number)
            if about.date:
                alike.setdefault(about.thinking, []).append(number)
        for some in same_date.values():
            thinking = [n for n in some if systems[n].about.thinking]
            for one, other in pairwise(sorted(thinking, key=lambda n: _degree(systems[n]))):
                if systems[one].about.thinking != systems[other].about.thinking:
                    yield "thinking", one, other
        for some in alike.values():
            for one, other in pairwise(
                sorted(some, key=lambda n: year_number(systems[n].about.date))
            ):
                if systems[one].about.date != systems[other].about.date:
                    yield "version", one, other


#: how much a system thinks, from nothing on
DEGREES = ("off", "minimal", "low", "medium", "on", "high")


def _degree(system: BoardSystem) -> tuple[int, str]:
    thinking = system.about.thinking
    return DEGREES.index(thinking) if thinking in DEGREES else DEGREES.index("on"), thinking


# ---- the page


def board_opening(systems: Sequence[BoardSystem]) -> str:
    """Say in one sentence which system declines best only what cannot be answered, with counts.

    Of several that share the lead, the number is told. Holds for systems without a rank.
    """
    held = [s for s in systems if s.gap.value is not None and s.without.value is not None]
    if not held:
        return "No system answered questions that can be answered and questions that cannot."
    best = max(held, key=lambda s: s.gap.value or 0.0)
    name = line(best.name, 60)
    shares = (
        f"declined {percent(best.without.value, 0)} of the questions that cannot be answered and "
        f"{percent(best.with_one.value, 0)} of those that can"
    )
    if len(systems) == 1:
        return f"{name} {shares}."
    leaders = [s for s in held if s.rank is not None and s.rank[0] == 1]
    if len(leaders) == 1 and leaders[0] is best:
        return (
            f"Of {len(systems):,} systems, {name} is best at declining only what cannot be "
            f"answered: it {shares}."
        )
    if len(leaders) == len(held):
        return (
            f"No difference between the {len(held):,} systems is visible in declining only what "
            f"cannot be answered; {name}, with the largest gap, {shares}."
        )
    lead = f"{len(leaders):,} share the lead" if leaders else "no system can be ranked first"
    return (
        f"Of {len(systems):,} systems, {lead} in declining only what cannot be answered; {name}, "
        f"with the largest gap, {shares}."
    )


def board_page(
    systems: Sequence[BoardSystem],
    title: str,
    heads: tuple[str, str, str],
    notes: Sequence[str] = (),
    seen: str = "",
    opening: PageOpening | None = None,
) -> str:
    """Return the page; ``heads`` are what the abstention gap and its two parts are called.

    ``notes`` stand above every number, ``seen`` (what differences could be seen) below the table.
    ``opening`` has examples of answers, and what the board does not show; its sentence is that of
    the board. Systems without a gap stand last, with the reason. Raises InputError where none has
    one.
    """
    order = sorted(systems, key=lambda s: (not _some(s.gap), -(s.gap.value or 0.0)))
    held = [n for n, s in enumerate(order) if s.without.value is not None and _some(s.with_one)]
    if not held:
        raise InputError("a board needs systems that answered questions of both kinds")
    context = {
        "title": line(title, 120),
        "opening": (opening or PageOpening("", NOT_SHOWN))._replace(sentence=board_opening(order)),
        "systems": [_row(number, system) for number, system in enumerate(order)],
        "heads": heads,
        "plots": [
            board_plot(
                kind, _trade(order, held), order, _trade_axes(order, held), (INVENTED, MISSED)
            )
            for kind in SIZES
        ],
        "times": _in_time(order),
        "alike": ALIKE,
        "notes": [line(note, 500) for note in notes],
        "seen": line(seen, 500),
        "sizes": [max(s.without.n for s in order), max(s.with_one.n for s in order)],
        "joined": {kind for kind, *_ in joined(order)},
        "marks": {_mark(order[number].about.thinking) for number in held},
    }
    return page(
        "board.html.j2", context, "sayso.studies", own=(_own("board.css"), _own("board.js"))
    )


def _some(e: Estimate) -> bool:
    return e.value is not None and not is_bare(e)


@cache
def _own(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _trade(systems: Sequence[BoardSystem], held: Sequence[int]) -> list[_Place]:
    """Return where systems stand by what they invent and what they miss."""
    return [_Place(n, _answered(systems[n].without), systems[n].with_one) for n in held]


def _trade_axes(systems: Sequence[BoardSystem], held: Sequence[int]) -> tuple[Axis, Axis]:
    return (
        _shares(_reach([_answered(systems[n].without) for n in held]), 0.0),
        _shares(_reach([systems[n].with_one for n in held]), 0.0),
    )


def _answered(e: Estimate) -> Estimate:
    """Return the share answered, from the share abstained."""
    ends = {"value": e.value, "low": e.high, "high": e.low}
    turned = {name: None if end is None else 1 - end for name, end in ends.items()}
    return msgspec.structs.replace(e, **turned)


def _in_time(systems: Sequence[BoardSystem]) -> list[Plot]:
    """Return the abstention gap by date in both sizes; nothing with fewer than two dates."""
    places = [
        _Place(n, year_number(s.about.date), s.gap)
        for n, s in enumerate(systems)
        if s.about.date and _some(s.gap)
    ]
    if len({p.x for p in places}) < 2:
        return []
    axes = _years([_value(p.x) for p in places]), _shares(_reach([p.y for p in places]))
    plain = Axis(*axes[1][:2], [(t, compact_number(t)) for t, _ in axes[1].ticks])
    return [board_plot(kind, places, systems, (axes[0], plain), ("date", "G")) for kind in SIZES]


def _row(number: int, system: BoardSystem) -> dict[str, Any]:
    """Return what a row of the table shows, and the numbers that its script orders by."""
    about = system.about
    told = [f"thinking {about.thinking}" if about.thinking else "", about.date]
    return {
        "number": number,
        "name": line(system.name, 100),
        "told": ", ".join(line(text, 60) for text in told if text),
        "group": line(about.group, 60),
        "rank": rank_text(system.rank),
        "gap": (shown_value(system.gap), _ends(system.gap, signed_number)),
        "without": (percent(system.without.value), _ends(system.without, percent)),
        "with_one": (percent(system.with_one.value), _ends(system.with_one, percent)),
        "values": (_plain(system.without), _plain(system.with_one)),
        "why": "" if _some(system.gap) else line(system.gap.problem or "no interval", 200),
    }


def _ends(e: Estimate, written: Any) -> str:
    if e.value is None or e.low is None or e.high is None:
        return ""
    return f"[{written(e.low)}, {written(e.high)}]".replace(" %", "")


def _plain(e: Estimate) -> str:
    return "" if e.value is None else f"{e.value:.5f}"


# ---- the figure: the same two errors, with names beside the dots

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


def board_figure(systems: Sequence[BoardSystem]) -> Figure | None:
    """Return the figure of a board; ``None`` where no system answered questions of both kinds.

    Named are the systems that have a label in the study's file; without any, all of up to
    :data:`ALL_NAMED`, and no more than there is room for.
    """
    held = [s for s in systems if s.without.value is not None and s.with_one.value is not None]
    if not held:
        return None
    label = (
        f"{len(held)} systems by the share of {INVENTED} and of {MISSED}; both axes have the same "
        "scale, and bottom left is best."
    )
    return figure_of("board", lambda width: _drawn(held, width), label)


def _drawn(systems: Sequence[BoardSystem], width: int) -> Drawing:
    """Draw the figure of systems that have both numbers."""
    places = _trade(systems, range(len(systems)))
    axes = tuple(
        _shares([_value(e) for e in of], 0.0)
        for of in zip(*((p.x, p.y) for p in places), strict=True)
    )
    room = width - FRAME["left"] - FRAME["right"]
    (x, y), field = _alike((axes[0], axes[1]), (room, room))
    scale = field[0] / (x.high - x.low)

    def pixels(place: _Place) -> tuple[float, float]:
        return scale * (_value(place.x) - x.low), field[1] - scale * (_value(place.y) - y.low)

    own = [p for p in places if systems[p.system].about.label]
    some = own or (places if len(places) <= ALL_NAMED else [])
    texts = [(systems[p.system].about.label or systems[p.system].name, p) for p in some]
    labels = place_labels(
        [(line(text, 40), pixels(p)) for text, p in texts], [pixels(p) for p in places], field
    )
    named = {p.system for p in some}
    rows = [
        {"x": _value(p.x), "y": _value(p.y), "name": line(systems[p.system].name, 100)}
        for p in places
    ]
    others = [row for row, p in zip(rows, places, strict=True) if p.system not in named]
    chosen = [row for row, p in zip(rows, places, strict=True) if p.system in named]
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

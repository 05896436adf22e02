"""The charts of a teaching: losses and rewards, J by method, alignment (Figure 3), sweeps.

Each function returns ``None`` where there is nothing to draw.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import altair as alt

from sayso.report.charts import (
    FOURTH,
    INK,
    LONG,
    MUTED,
    NARROW,
    PAIRS,
    SHORT,
    THIRD,
    Drawing,
    Row,
    _finish,
    _forest,
    pair_bars,
)
from sayso.report.clean import line
from sayso.report.words import FORMS
from sayso.taught import Curve, Teaching

COLORS = (SHORT, LONG, THIRD, FOURTH, INK, MUTED)
#: points of one drawn curve: more cannot be told apart
MOST_POINTS = 60
#: what a curve may hold that is not drawn
UNDRAWN = ("rate",)


def quantities(curves: tuple[Curve, ...], stage: str) -> list[str]:
    """Return what was measured along the trainings of a stage, the loss first."""
    names = {name for c in curves if c.stage == stage for p in c.points for name in p.values}
    return sorted(names - set(UNDRAWN), key=lambda name: (name != "loss", name))


def together(taught: Teaching, stage: str, quantity: str) -> int:
    """Return how many points of a curve are drawn as one, their mean."""
    counts = [
        sum(quantity in point.values for point in curve.points)
        for curve in taught.curves
        if curve.stage == stage
    ]
    return max(1, -(-max(counts, default=0) // MOST_POINTS))


def course(taught: Teaching, stage: str, quantity: str, width: int) -> Drawing | None:
    """Draw one quantity along the steps of a stage, a line each seed."""
    rows: list[Row] = []
    every = together(taught, stage, quantity)
    for curve in taught.curves:
        if curve.stage != stage:
            continue
        points = [(p.step, p.values[quantity]) for p in curve.points if quantity in p.values]
        if quantity == "loss" and curve.first_loss is not None:
            rows.append({"seed": f"seed {curve.seed}", "x": 0, "y": curve.first_loss})
        for at in range(0, len(points), every):
            steps, values = zip(*points[at : at + every], strict=True)
            place = sum(steps) / len(steps)
            mean = sum(values) / len(values)
            rows.append({"seed": f"seed {curve.seed}", "x": place, "y": mean})
    if len(rows) < 2:
        return None
    names = list(dict.fromkeys(str(row["seed"]) for row in rows))
    chart = alt.Chart(alt.InlineData(values=rows)).mark_line(
        strokeWidth=1.6, point=alt.OverlayMarkDef(size=14)
    )
    x = alt.X("x:Q", title="optimizer step", axis=alt.Axis(format="d", tickCount=6, tickMinStep=1))
    y = alt.Y(
        "y:Q",
        title=line(quantity, 40),
        scale=alt.Scale(zero=False),
        axis=alt.Axis(tickCount=6),
    )
    return _finish(alt.layer(chart.encode(x=x, y=y, **_by_seed(names))), width, _height(width))


def _by_seed(names: list[str]) -> dict[str, Any]:
    """Return a color for each seed; more than can be told apart share one."""
    if len(names) > len(COLORS):
        return {"detail": alt.Detail("seed:N"), "color": alt.value(SHORT)}
    legend = alt.Legend(title=None, orient="bottom", labelColor=INK, labelFontSize=12, columns=3)
    scale = alt.Scale(domain=names, range=list(COLORS[: len(names)]))
    return {"color": alt.Color("seed:N", scale=scale, legend=legend)}


def _height(width: int) -> int:
    return 240 if width > NARROW else 200


def forest(taught: Teaching, name: str, title: str, width: int) -> Drawing | None:
    """Draw one number of every method and form with its interval."""
    rows: list[Row] = []
    order = []
    for method in taught.methods:
        label = line(method.title, 40 if width > NARROW else 20)
        order.append(label)
        for form in FORMS:
            found = taught.get(method.name, form, name)
            rows.append(
                {
                    "metric": label, "form": FORMS[form], "value": found.value,
                    "low": found.low, "high": found.high,
                }
            )  # fmt: skip
    return _forest(rows, "metric", order, width, title, [])


def alignment(taught: Teaching, width: int) -> Drawing | None:
    """Draw how far short and long form hedge alike, a bar each method (UNCLE, Figure 3)."""
    rows: list[Row] = []
    order = []
    for method in taught.methods:
        label = line(method.title, 40 if width > NARROW else 20)
        start = 0.0
        for place, pair in enumerate(PAIRS):
            value = taught.get(method.name, "both", f"align_{pair}").value
            if value is None:
                continue
            if label not in order:
                order.append(label)
            told = f"{100 * value:.0f}" if value >= 0.06 else ""
            rows.append(
                {
                    "method": label, "pair": pair, "order": place, "start": start,
                    "end": start + value, "middle": start + value / 2, "label": told,
                }
            )  # fmt: skip
            start += value
    if not rows:
        return None
    y = alt.Y("method:N", sort=order, title=None, axis=alt.Axis(labelLimit=width * 2 // 5))
    return _finish(pair_bars(rows, y, 22), width, 36 * len(order))


def tradeoff(taught: Teaching, setting: str, width: int) -> Drawing | None:
    """Draw UUR against KCR of each setting of a sweep, joined in its order (UNCLE, Figure 4)."""
    rows: list[Row] = []
    for point in sorted(taught.sweep, key=lambda p: p.value):
        for form in FORMS:
            told, hedged = (point.numbers.get(f"{form} {name}") for name in ("KCR", "UUR"))
            if point.setting != setting or told is None or hedged is None:
                continue
            if told.value is not None and hedged.value is not None:
                rows.append(
                    {
                        "form": FORMS[form], "at": point.value, "x": told.value, "y": hedged.value,
                        "label": f"{point.value:g}",
                    }
                )  # fmt: skip
    counts: dict[str, int] = defaultdict(int)
    for row in rows:
        counts[str(row["form"])] += 1
    if max(counts.values(), default=0) < 2:
        return None
    legend = alt.Legend(title=None, orient="bottom", labelColor=INK, labelFontSize=12)
    names = [name for name in FORMS.values() if name in counts]
    color = alt.Color("form:N", scale=alt.Scale(domain=names, range=[SHORT, LONG]), legend=legend)
    base = alt.Chart(alt.InlineData(values=rows))
    x = alt.X(
        "x:Q", title="known facts told rightly (KCR)", scale=alt.Scale(zero=False, padding=16)
    )
    y = alt.Y("y:Q", title="unknown facts hedged (UUR)", scale=alt.Scale(zero=False, padding=16))
    layers = [
        base.mark_line(strokeWidth=1.4).encode(x=x, y=y, color=color, order="at:Q"),
        base.mark_point(size=60, filled=True, opacity=1).encode(x=x, y=y, color=color),
        base.mark_text(dy=-11, fontSize=11, color=INK).encode(x=x, y=y, text="label:N"),
    ]
    return _finish(alt.layer(*layers), width, 320 if width > NARROW else 280)

"""The charts of a selective run's page: leaderboard, length, risk against coverage, rankings.

Told by shape and label as well as by color; each function returns ``None`` where there is nothing
to draw. Colors are those of :mod:`sayso.report.charts`, so that they follow light and dark mode.
"""

from __future__ import annotations

from typing import Any

import altair as alt

from sayso.report.charts import (
    INK,
    LONG,
    MUTED,
    NARROW,
    PAIRS,
    SHORT,
    Drawing,
    Row,
    _finish,
)  # fmt: skip
from sayso.report.clean import line
from sayso.report.selective_numbers import LENGTH, WORDS, Selected
from sayso.report.words import FORMS

COLORS = (SHORT, LONG, PAIRS["UC"], PAIRS["UU"], INK, MUTED)
DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [1, 3], [12, 4])
SHAPES = ("circle", "diamond", "square", "triangle-up", "cross", "triangle-down")
#: rows of the bars
MOST_BARS = 16


def bars(found: Selected, width: int) -> Drawing | None:
    """AUROC of the best scores and of plain length, by form, with intervals and a line at .5."""
    names: list[str] = []
    for form in found.forms:
        names += found.ranked(form)[: MOST_BARS // 2]
    names = list(dict.fromkeys([*names, LENGTH, WORDS]))
    rows = [
        {
            "score": name,
            "form": FORMS[form],
            "value": e.value,
            "low": e.low,
            "high": e.high,
        }
        for name in names
        for form in found.forms
        if (e := found.best(form, name)).value is not None
    ]
    if not rows:
        return None
    first = found.forms[0]
    order = sorted(
        {str(r["score"]) for r in rows}, key=lambda n: -(found.best(first, n).value or 0.0)
    )
    forms = [FORMS[form] for form in found.forms]
    y = alt.Y("score:N", sort=order, title=None, axis=alt.Axis(labelLimit=width * 2 // 5))
    offset = alt.YOffset("form:N", sort=forms, scale=alt.Scale(domain=forms, paddingOuter=0.5))
    color = alt.Color(
        "form:N", scale=alt.Scale(domain=list(FORMS.values()), range=[SHORT, LONG]), legend=None
    )
    shape = alt.Shape(
        "form:N",
        scale=alt.Scale(domain=list(FORMS.values()), range=["circle", "diamond"]),
        legend=None,
    )
    ends = [v for r in rows for k in ("value", "low", "high") if isinstance(v := r[k], float)]
    scale = alt.Scale(domain=[min(0.4, *ends), max(1.0, *ends)], nice=False, zero=False, padding=8)
    x = alt.X("value:Q", title="AUROC for a wrong answer", scale=scale, axis=alt.Axis(tickCount=6))
    data = alt.InlineData(values=rows)
    chance = alt.Chart(alt.InlineData(values=[{"x": 0.5}])).mark_rule(color=MUTED).encode(x="x:Q")
    spans = (
        alt.Chart(data)
        .transform_filter("isValid(datum.low) && isValid(datum.high)")
        .mark_rule(strokeWidth=2)
        .encode(x=alt.X("low:Q"), x2="high:Q", y=y, yOffset=offset, color=color)
    )
    points = (
        alt.Chart(data)
        .mark_point(size=70, filled=True, opacity=1)
        .encode(x=x, y=y, yOffset=offset, color=color, shape=shape)
    )
    step = 22 if len(forms) == 1 else 30
    return _finish(alt.layer(chance, spans, points), width, step * len(order))


def risk(found: Selected, form: str, width: int) -> Drawing | None:
    """Share wrong among the share answered, by score; the model's words as one point."""
    rows = [
        {"score": p["score"], "x": float(p["coverage"]), "y": e.value}
        for e, p in found.each("risk", form=form)
        if e.value is not None
    ]
    judge = found.judge(form)
    spot = (
        found.get("coverage_of_words", form, judge, WORDS),
        found.get("risk_of_words", form, judge, WORDS),
    )
    point: list[Row] = []
    if spot[0].value is not None and spot[1].value is not None:
        point = [{"score": "its words", "x": spot[0].value, "y": spot[1].value}]
    return _lines(rows, width, ("share of answers given", "share wrong among them"), point)


def score_by_length(found: Selected, form: str, width: int) -> Drawing | None:
    """Mean rank of scores among right and among wrong answers, by fifths of length."""
    rows = [
        {"score": f"{p['score']}, {p['answers']} answers", "x": float(p["length"]), "y": e.value}
        for e, p in found.each("score_rank", form=form)
    ]
    return _lines(
        rows, width, ("words of the answer", "mean rank of the score (1 = least certain)")
    )


def metric_by_length(found: Selected, form: str, width: int) -> Drawing | None:
    """Mean of the continuous answer metrics over right answers, by fifths of length."""
    rows = [
        {"score": p["against"], "x": float(p["length"]), "y": e.value}
        for e, p in found.each("metric_of_right", form=form)
    ]
    return _lines(rows, width, ("words of the answer", "metric of right answers, mean"))


def refused(found: Selected, form: str, width: int) -> Drawing | None:
    """Share of right answers that each metric refuses, by fifths of length, with intervals."""
    rows = [
        {
            "score": line(p["against"], 30),
            "x": float(p["fifth"]),
            "y": e.value,
            "low": e.low,
            "high": e.high,
        }
        for e, p in found.each("false_negatives_fifth", form=form)
        if e.value is not None
    ]
    return _lines(rows, width, ("fifth of length, shortest first", "right answers refused"))


def rankings(found: Selected, form: str, width: int) -> Drawing | None:
    """AUROC of the scores that swap places, under each answer metric."""
    swapped: list[str] = []
    for clear in ("yes", "no"):
        for _, p in found.each("auroc_difference", form=form, clear=clear):
            swapped += [p["first"], p["second"]]
    metrics = found.metrics(form)
    names = list(dict.fromkeys(swapped))[: len(COLORS)]
    rows = [
        {"score": name, "x": line(by, 30), "y": e.value, "low": e.low, "high": e.high}
        for name in names
        for by in metrics
        if (e := found.get("auroc", form, by, name)).value is not None
    ]
    named = [line(by, 30) for by in metrics]
    return _lines(rows, width, ("answer metric", "AUROC"), order=named)


def _lines(
    rows: list[Row],
    width: int,
    titles: tuple[str, str],
    points: list[Row] | None = None,
    order: list[str] | None = None,
) -> Drawing | None:
    """One line for each ``score`` over ``x``, with its name at the right end, intervals if any."""
    names = list(dict.fromkeys(str(r["score"]) for r in rows))[: len(COLORS)]
    rows = [r for r in rows if r["score"] in names]
    if len({r["x"] for r in rows}) < 2:
        return None
    ends = [
        v
        for r in [*rows, *(points or [])]
        for k in ("y", "low", "high")
        if (v := r.get(k)) is not None
    ]
    y_scale = alt.Scale(domain=[min(ends), max(ends)], nice=True, padding=6)
    kind = "O" if order else "Q"
    x: Any = alt.X(
        f"x:{kind}",
        title=titles[0],
        sort=order or None,
        axis=alt.Axis(labelAngle=0, tickCount=6, labelLimit=width // max(len(order or []), 1)),
        scale=alt.Scale(zero=False) if not order else alt.Undefined,
    )
    y = alt.Y("y:Q", title=titles[1], scale=y_scale, axis=alt.Axis(tickCount=5, titleLimit=240))
    legend = alt.Legend(
        title=None, orient="bottom", columns=2 if width > NARROW else 1, columnPadding=40
    )

    def told(kind: Any, styles: tuple[Any, ...]) -> Any:
        scale = alt.Scale(domain=names, range=list(styles[: len(names)]))
        return kind("score:N", scale=scale, legend=legend)

    palette, dash, mark = (
        told(alt.Color, COLORS),
        told(alt.StrokeDash, DASHES),
        told(alt.Shape, SHAPES),
    )
    base = alt.Chart(alt.InlineData(values=rows))
    layers: list[alt.Chart] = [
        base.mark_line(strokeWidth=2).encode(x=x, y=y, color=palette, strokeDash=dash)
    ]
    if any(r.get("low") is not None for r in rows):
        layers.append(
            base.transform_filter("isValid(datum.low) && isValid(datum.high)")
            .mark_rule(strokeWidth=1, opacity=0.6)
            .encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=palette)
        )
    layers.append(
        base.mark_point(size=40, filled=True, opacity=1).encode(x=x, y=y, color=palette, shape=mark)
    )
    if points:
        spots = alt.Chart(alt.InlineData(values=points))
        layers.append(
            spots.mark_point(size=130, shape="cross", color=INK, strokeWidth=2).encode(x=x, y=y)
        )
        layers.append(
            spots.mark_text(align="right", dx=-10, dy=-10, color=INK).encode(
                x=x, y=y, text="score:N"
            )
        )
    finished = _finish(alt.layer(*layers), width, 300 if width > NARROW else 260)
    named: Drawing = finished.configure_legend(labelColor=INK, labelFontSize=12, labelLimit=320)
    return named

"""The charts of a faithfulness page: decisiveness against confidence, skill and bins.

Each function returns ``None`` where there is nothing to draw.
"""

from __future__ import annotations

import altair as alt

from sayso.report.charts import LONG, MUTED, NARROW, SHORT, Drawing, Row, _finish
from sayso.report.faithfulness_found import METHODS, Found
from sayso.report.selective_charts import _lines
from sayso.report.words import FORMS


def scatter(found: Found, form: str, method: str, width: int) -> Drawing | None:
    """Claims by confidence and decisiveness, with the ideal line and both marginals as bars."""
    points: list[Row] = [
        {"c": float(p["confidence"]), "d": float(p["decisiveness"]), "n": e.value or 0.0}
        for e, p in found.each("point", form=form, method=method)
    ]
    if not points:
        return None
    most = max(_marginal(points, "c") + _marginal(points, "d"), key=lambda r: float(r["n"]))["n"]
    room = 0.18
    bars = [
        {"x": r["v"], "x2": r["v"], "y": 1.06, "y2": 1.06 + room * float(r["n"]) / float(most)}
        for r in _marginal(points, "c")
    ]
    side = [
        {"x": 1.06, "x2": 1.06 + room * float(r["n"]) / float(most), "y": r["v"], "y2": r["v"]}
        for r in _marginal(points, "d")
    ]
    ticks = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1.0])
    scale = alt.Scale(domain=[-0.04, 1.28], nice=False)
    x = alt.X("c:Q", title="confidence: share of draws that agree", scale=scale, axis=ticks)
    y = alt.Y("d:Q", title="decisiveness of the words", scale=scale, axis=ticks)
    ideal = (
        alt.Chart(alt.InlineData(values=[{"c": 0, "d": 0}, {"c": 1, "d": 1}]))
        .mark_line(color=MUTED, strokeDash=[4, 4])
        .encode(x=x, y=y)
    )
    dots = (
        alt.Chart(alt.InlineData(values=points))
        .mark_point(filled=True, opacity=0.75, color=SHORT if form == "short" else LONG)
        .encode(x=x, y=y, size=alt.Size("n:Q", scale=alt.Scale(range=[14, 420]), legend=None))
    )
    rules = (
        alt.Chart(alt.InlineData(values=[*bars, *side]))
        .mark_rule(strokeWidth=5 if width > NARROW else 3, color=MUTED)
        .encode(x=alt.X("x:Q", scale=scale), x2="x2:Q", y=alt.Y("y:Q", scale=scale), y2="y2:Q")
    )
    return _finish(alt.layer(ideal, rules, dots), width, 380 if width > NARROW else 320)


def _marginal(points: list[Row], key: str) -> list[Row]:
    held: dict[float, float] = {}
    for row in points:
        held[float(row[key])] = held.get(float(row[key]), 0.0) + float(row["n"])
    return [{"v": value, "n": number} for value, number in sorted(held.items())]


def skills(found: Found, width: int) -> Drawing | None:
    """Skill of each method by form, with intervals and a line at 0."""
    rows = [
        {
            "method": METHODS.get(method, method),
            "form": FORMS[form],
            "value": e.value,
            "low": e.low,
            "high": e.high,
        }
        for form in found.forms
        for method in found.methods(form)
        if (e := found.get("skill", form, method)).value is not None
    ]
    if not rows:
        return None
    order = list(dict.fromkeys(str(r["method"]) for r in rows))
    forms = [FORMS[form] for form in found.forms]
    y = alt.Y("method:N", sort=order, title=None, axis=alt.Axis(labelLimit=width * 2 // 5))
    offset = alt.YOffset("form:N", sort=forms, scale=alt.Scale(domain=forms, paddingOuter=0.5))
    names = list(FORMS.values())
    color = alt.Color("form:N", scale=alt.Scale(domain=names, range=[SHORT, LONG]), legend=None)
    shapes = alt.Scale(domain=names, range=["circle", "diamond"])
    shape = alt.Shape("form:N", scale=shapes, legend=None)
    ends = [float(v) for r in rows for k in ("value", "low", "high") if (v := r[k]) is not None]
    scale = alt.Scale(domain=[min(-0.1, *ends), max(1.0, *ends)], nice=False, zero=False, padding=8)
    x = alt.X("value:Q", title="skill (0 = blind, 1 = faithful)", scale=scale)
    data = alt.InlineData(values=rows)
    blind = alt.Chart(alt.InlineData(values=[{"x": 0}])).mark_rule(color=MUTED).encode(x="x:Q")
    spans = (
        alt.Chart(data)
        .transform_filter("isValid(datum.low) && isValid(datum.high)")
        .mark_rule(strokeWidth=2)
        .encode(x=alt.X("low:Q"), x2="high:Q", y=y, yOffset=offset, color=color)
    )
    dots = (
        alt.Chart(data)
        .mark_point(size=70, filled=True, opacity=1)
        .encode(x=x, y=y, yOffset=offset, color=color, shape=shape)
    )
    return _finish(alt.layer(blind, spans, dots), width, 34 * len(order))


def by_bin(found: Found, form: str, width: int) -> Drawing | None:
    """Mean decisiveness in each bin of confidence, one line for each method, and the ideal."""
    rows: list[Row] = []
    for method in found.methods(form):
        confident = {
            p["bin"]: e.value for e, p in found.each("bin_confidence", form=form, method=method)
        }
        rows += [
            {"score": METHODS.get(method, method), "x": confident[p["bin"]], "y": e.value}
            for e, p in found.each("bin_decisiveness", form=form, method=method)
            if e.value is not None and confident.get(p["bin"]) is not None
        ]
    titles = ("confidence (mean of the bin)", "mean decisiveness")
    ideal: list[Row] = [{"score": "ideal", "x": 1.0, "y": 1.0}]
    return _lines(rows, width, titles, ideal) if rows else None

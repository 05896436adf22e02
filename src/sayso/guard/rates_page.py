"""The page of ``sayso watch``: rates over time, with the baseline and the alarms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt

from sayso.guard.history import WatchPage
from sayso.metrics.intervals import exact_interval
from sayso.records import InputError
from sayso.report.charts import (
    GRID,
    INK,
    LONG,
    MUTED,
    NARROW,
    SHORT,
    Drawing,
    Row,
    data_of,
    finish,
)
from sayso.report.figures import Figure, figure_of
from sayso.report.numbers import percent, signed_number
from sayso.report.opening import PageOpening
from sayso.report.page import page, write_index
from sayso.report.tables import Table, TableCell

#: points of a drawing in a wide window and on a phone
MOST_POINTS, MOST_POINTS_NARROW = 60, 24


NOT_SHOWN = (
    "why a rate changed: another model behind the same name, another prompt or other questions all "
    "look alike. A small change needs many answers; the table says which ones are seen"
)


def write_watch_page(place: Path, shown: WatchPage) -> None:
    """Write the page. Raises InputError where another page stands."""
    summary = shown.summary
    figures = [
        (figure, _caption(rate, shown))
        for rate in shown.words
        if (figure := rate_figure(rate, shown)) is not None
    ]
    context = {
        "title": summary["log"],
        "opening": PageOpening(
            f"{watch_sentence(shown)} {guard_sentence(summary['guard'])}".rstrip(), f"{NOT_SHOWN}."
        ),
        "figures": figures,
        "rates": watched_rates_table(shown),
        "alarms": alarms_table(shown.alarms),
        "facts": [
            f"Baseline: {summary['against']}.",
            f"{summary['answers']:,} answers and {summary['labels']:,} later labels were read.",
            *(f"{note[0].upper()}{note[1:]}." for note in shown.notes),
            *_guard_facts(summary["guard"]),
            f"The chance of any false alarm over the whole log is at most {summary['alpha']:g}.",
            *_gap_sentences(summary["J"]),
        ],
    }
    if write_index(place, page("watch.html.j2", context, __package__)) is None:
        raise InputError(f"--page {place} is not a page of sayso: give another name")


def _gap_sentences(gap: Mapping[str, float | None]) -> list[str]:
    if gap["log"] is None:
        return []
    return [
        "J, the share of unanswerable questions that it declines minus that of answerable ones, is "
        f"{signed_number(gap['log'])} in the log and {signed_number(gap['baseline'])} in the "
        "baseline."
    ]


def guard_sentence(guard: Mapping[str, Any] | None) -> str:
    """Return whether the promise of the guard was withdrawn; nothing without a guard."""
    if guard is None:
        return ""
    name = Path(guard["file"]).name
    if guard["withdrawn"] is None:
        return f"The promise of {name} stands."
    return f"The promise of {name} is withdrawn: it gives no answers until it is fitted anew."


def _guard_facts(guard: Mapping[str, Any] | None) -> list[str]:
    if guard is None:
        return []
    if guard["withdrawn"] is not None:
        return [
            f"Guard: {guard['file']}, withdrawn on {guard['withdrawn']}. Reason: {guard['why']}."
        ]
    kept = " An alarm leaves it as it is (--keep-guard)." if guard["kept"] else ""
    return [f"Guard: {guard['file']}.{kept}"]


def watch_sentence(shown: WatchPage) -> str:
    """Return the sentence that the page begins with."""
    answers = f"{shown.summary['answers']:,} answers"
    if not shown.alarms:
        return f"No alarm in {answers}: no rate is known to have changed."
    first = shown.alarms[0]
    more = len(shown.alarms) - 1
    others = f" {more} more alarm{'s' * (more > 1)} came later." if more else ""
    return f"Alarm at answer {first['answer']:,}: {first['why']}.{others}"


def _caption(rate: str, shown: WatchPage) -> str:
    told = shown.summary["rates"][rate]
    return (
        f"Share of {shown.words[rate]}, with 95 % intervals. The band is the baseline, "
        f"{told['baseline_count']:,} of {told['baseline_n']:,}. An alarm needs evidence that the "
        "rate lies beyond the dashed line."
        + (" A thick line marks an alarm." if _alarms_of(rate, shown) else "")
    )


def _alarms_of(rate: str, shown: WatchPage) -> list[Mapping[str, Any]]:
    return [alarm for alarm in shown.alarms if alarm["rate"] == rate]


def rate_figure(rate: str, shown: WatchPage) -> Figure | None:
    """Return a rate over the answers of the log; ``None`` where the log has none of it."""
    label = f"Share of {shown.words[rate]} over the answers of the log."
    return figure_of(rate, lambda width: rate_chart(rate, shown, width), label)


def rate_chart(rate: str, shown: WatchPage, width: int) -> Drawing | None:
    """Return points with intervals over the answers, with the baseline's band and the alarms."""
    most = MOST_POINTS if width > NARROW else MOST_POINTS_NARROW
    stretches = shown.history.stretches(rate, most)
    if not stretches:
        return None
    rows: list[Row] = []
    for first, last, count, n in stretches:
        low, high = exact_interval(count, n)
        rows.append({"x": (first + last) / 2, "y": count / n, "low": low, "high": high})
    told = shown.summary["rates"][rate]
    low, high = exact_interval(told["baseline_count"], told["baseline_n"])
    end = max(shown.history.width * 2, stretches[-1][1])
    lines = [{"y": change["bound"]} for change in told["changes"].values()]
    top = max([row["high"] for row in rows] + [high or 0.0] + [one["y"] for one in lines])
    span = alt.Scale(domain=[0, end], nice=False)
    x = alt.X("x:Q", title="answers", scale=span)
    ticks = alt.Axis(format=".0%", tickCount=5)
    scale = alt.Scale(domain=[0, min(1.0, 1.08 * top)], nice=False)
    y = alt.Y("y:Q", title="share", axis=ticks, scale=scale)
    band = alt.Chart(data_of([{"low": low, "high": high, "start": 0, "end": end}]))
    base = alt.Chart(data_of(rows))
    layers = [
        band.mark_rect(color=GRID, opacity=0.8).encode(
            x=alt.X("start:Q", scale=span, title="answers"), x2="end:Q",
            y=alt.Y("low:Q", scale=scale, title="share", axis=ticks), y2="high:Q",
        ),
        alt.Chart(data_of(lines)).mark_rule(color=MUTED, strokeDash=[5, 4]).encode(y=y),
        base.mark_line(color=SHORT, strokeWidth=1.2).encode(x=x, y=y),
        base.mark_rule(color=SHORT, strokeWidth=1.2).encode(x=x, y="low:Q", y2="high:Q"),
        base.mark_point(color=SHORT, size=34, filled=True, opacity=1).encode(x=x, y=y),
    ]  # fmt: skip
    marks: list[Row] = [
        {"x": alarm["answer"], "label": "alarm"} for alarm in _alarms_of(rate, shown)
    ]
    if marks:
        at = alt.Chart(data_of(marks))
        text = at.mark_text(color=INK, align="right", dx=-5, dy=8, baseline="top", fontSize=12)
        layers += [
            at.mark_rule(color=LONG, strokeWidth=2.5).encode(x=x),
            text.encode(x=x, y=alt.value(0), text="label:N"),
        ]
    return finish(alt.layer(*layers), width, 230 if width > NARROW else 210)


def watched_rates_table(shown: WatchPage) -> Table:
    """Return each rate in log and baseline, and the smallest change of it that is seen."""
    rows = []
    for rate, words in shown.words.items():
        told = shown.summary["rates"][rate]
        seen = [
            f"{change} to {percent(one['smallest_seen'])}"
            if one["smallest_seen"] is not None
            else f"no {change}"
            for change, one in told["changes"].items()
        ]
        first, *others = seen or ["no change"]
        rung = ", ".join(change for change, one in told["changes"].items() if one["alarm"])
        rows.append(
            [
                TableCell(words, f"alarm: {rung}" if rung else "", head=True),
                _share(told["baseline_count"], told["baseline_n"]),
                _share(told["count"], told["n"]),
                TableCell(first, ", ".join(others)),
            ]
        )
    head = ["", "baseline", "log", f"seen within {shown.within:,} answers"]
    note = (
        "Shares with 95 % intervals. A change is seen with a probability of at least 80 %, after "
        "10,000 answers without one; a smaller change takes longer or is not seen."
    )
    return Table("Rates", head, rows, [note])


def _share(count: int, n: int) -> TableCell:
    low, high = exact_interval(count, n)
    if low is None or high is None:
        return TableCell("–", "no such answers")
    return TableCell(percent(count / n), f"{percent(low)} to {percent(high)}, {count:,} of {n:,}")


def alarms_table(alarms: Sequence[Mapping[str, Any]]) -> Table:
    """Return the alarms with their places in the log."""
    rows = []
    for alarm in alarms:
        words, _, counts = alarm["why"].partition(": ")
        at = [str(alarm[name]) for name in ("id", "time") if alarm[name] is not None]
        rows.append(
            [
                TableCell(f"{alarm['answer']:,}", head=True),
                TableCell(alarm["change"], f"{words}: {counts}", style="left"),
                TableCell(f"line {alarm['line']:,}", ", ".join(at), style="left"),
            ]
        )
    return Table("Alarms", ["answer", "what changed", "where"], rows, [])

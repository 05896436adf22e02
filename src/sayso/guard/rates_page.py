"""The page of ``sayso watch``: rates over time, with the baseline and the alarms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import altair as alt

from sayso.guard.history import WatchPage
from sayso.metrics.intervals import exact_interval
from sayso.records import Estimate
from sayso.report.charts import GRID, LONG, MUTED, NARROW, SHORT, Drawing, data_of, finish
from sayso.report.number_tables import Entry, NumberTable, grid
from sayso.report.numbers import capital, percent
from sayso.report.opening import PageOpening
from sayso.report.page import sheet_page, write_index
from sayso.report.sheet import Chart, Section, Sheet

#: points of a drawing; on a phone a third of them
MOST_POINTS = 60
#: what the page is called, by which one of before is known
TITLE = "Do the answers of this log still hold?"
NOT_SHOWN = (
    "why a rate changed: another model behind the same name, another prompt or other questions all "
    "look alike. A small change needs many answers; the table says which ones are seen."
)
WRONG = (
    "wrong answers",
    "Answers that state something false by their label or gold, and values stated for questions "
    "without an answer. Answers that decline are not counted.",
)
SEEN = (
    "With a probability of at least 80 %, after 10,000 answers without a change. A smaller change "
    "takes longer or is not seen."
)
Rows = dict[str | tuple[str, ...], Mapping[str, Any]]
Columns = dict[str, Callable[[Mapping[str, Any]], Entry]]
METHOD = "e-detectors (Shin, Ramdas and Rinaldo, arXiv 2203.03532) on exact bounds of the baseline."


def write_watch_page(place: Path, shown: WatchPage) -> None:
    """Write the page. Raises InputError where another page stands, or none can be written."""
    summary, guard = shown.summary, shown.summary["guard"]
    made = [
        ("baseline", summary["against"]),
        ("answers read", f"{summary['answers']:,}"),
        ("later labels read", f"{summary['labels']:,}"),
        ("chance of any false alarm", f"at most {summary['alpha']:g} over the whole log"),
    ]
    if guard is not None and guard["withdrawn"] is not None:
        made.append((guard["file"], f"withdrawn on {guard['withdrawn']}. Reason: {guard['why']}"))
    text = sheet_page(watch_sheet(shown), made=[("Watch", made)], about=[("log", summary["log"])])
    write_index(place, text, mark=f"<title>{TITLE}", name=f"--page {place}")


def watch_sheet(shown: WatchPage) -> Sheet:
    """Return all that is shown of a watch: the chart of the first alarm first."""
    charts = {rate: _chart(rate, shown) for rate in shown.words}
    first = charts.pop(shown.alarms[0]["rate"] if shown.alarms else next(iter(charts)))
    return Sheet(
        TITLE,
        PageOpening(watch_sentence(shown), NOT_SHOWN),
        chart=first,
        main=watched_rates_table(shown),
        sections=[
            Section("alarms", "Where were the alarms?", [alarms_table(shown)]),
            Section("others", "How did the other rates change?", (), [*charts.values()]),
        ],
        cautions=[f"{capital(note)}." for note in shown.notes],
        terms=[WRONG],
        method=METHOD,
    )


def watch_sentence(shown: WatchPage) -> str:
    """Return the first alarm, and whether the promise of a guard was withdrawn."""
    guard, more = shown.summary["guard"], len(shown.alarms) - 1
    text = f"No alarm in {shown.summary['answers']:,} answers: no rate is known to have changed."
    if shown.alarms:
        first = shown.alarms[0]
        others = f" {more} more alarm{'s' * (more > 1)} came later." if more else ""
        text = f"Alarm at answer {first['answer']:,}: {first['why']}.{others}"
    if guard is None:
        return text
    gone = "is withdrawn: it gives no answers until it is fitted anew"
    fate = "stands" if guard["withdrawn"] is None else gone
    return f"{text} The promise of {Path(guard['file']).name} {fate}."


def _chart(rate: str, shown: WatchPage) -> Chart:
    words = shown.words[rate]
    caption = (
        f"Share of {words}, with 95 % intervals. The band is the baseline. An alarm needs evidence "
        f"that the rate lies beyond the dashed line. A thick line marks an alarm."
    )
    label = f"Share of {words} over the answers of the log."
    return Chart(rate, partial(rate_chart, rate, shown), label, caption)


def rate_chart(rate: str, shown: WatchPage, width: int) -> Drawing | None:
    """Return points with intervals over the answers, with the baseline's band and the alarms."""
    stretches = shown.history.stretches(rate, MOST_POINTS if width > NARROW else MOST_POINTS // 3)
    if not stretches:
        return None
    told = shown.summary["rates"][rate]
    shares = [((first + last) / 2, _share(count, n)) for first, last, count, n in stretches]
    rows = [{"x": x, "y": e.value, "low": e.low, "high": e.high or 0} for x, e in shares]
    before = _baseline(told)
    bounds = [change["bound"] for change in told["changes"].values()]
    end = max(shown.history.width * 2, stretches[-1][1])
    top = max([row["high"] for row in rows] + [before.high or 0.0, *bounds])
    scale = alt.Scale(domain=[0, min(1.0, 1.08 * top)], nice=False)
    x = alt.X("x:Q", title="answers", scale=alt.Scale(domain=[0, end], nice=False))
    y = alt.Y("y:Q", title="share", axis=alt.Axis(format=".0%", tickCount=5), scale=scale)
    band = alt.Chart(data_of([{"x": 0, "end": end, "y": before.low, "high": before.high}]))
    lines = alt.Chart(data_of([{"y": bound} for bound in bounds]))
    alarms = alt.Chart(data_of([{"x": a["answer"]} for a in shown.alarms if a["rate"] == rate]))
    base = alt.Chart(data_of(rows))
    layers = [
        band.mark_rect(color=GRID, opacity=0.8).encode(x=x, x2="end:Q", y=y, y2="high:Q"),
        lines.mark_rule(color=MUTED, strokeDash=[5, 4]).encode(y=y),
        base.mark_line(color=SHORT, strokeWidth=1.2).encode(x=x, y=y),
        base.mark_rule(color=SHORT, strokeWidth=1.2).encode(x=x, y="low:Q", y2="high:Q"),
        base.mark_point(color=SHORT, size=34, filled=True, opacity=1).encode(x=x, y=y),
        alarms.mark_rule(color=LONG, strokeWidth=2.5).encode(x=x),
    ]
    return finish(alt.layer(*layers), width, 220)


def watched_rates_table(shown: WatchPage) -> NumberTable:
    """Return each rate in log and baseline, and the smallest change of it that is seen."""
    rows: Rows = {shown.words[rate]: told for rate, told in shown.summary["rates"].items()}
    seen = f"seen within {shown.within:,} answers"
    columns: Columns = {
        "baseline": _baseline,
        "log": lambda told: _share(told["count"], told["n"]),
        "alarm": lambda told: ", ".join(c for c, one in told["changes"].items() if one["alarm"]),
        seen: _smallest,
    }
    return grid(
        "Rates in the baseline and in the log", rows, columns, lambda told, column: column(told),
        meanings={seen: SEEN},
    )  # fmt: skip


def _smallest(told: Mapping[str, Any]) -> str:
    sizes = {change: one["smallest_seen"] for change, one in told["changes"].items()}
    parts = (f"no {c}" if size is None else f"{c} to {percent(size)}" for c, size in sizes.items())
    return ", ".join(parts) or "no change"


def _baseline(told: Mapping[str, Any]) -> Estimate:
    """Return a rate of the baseline, whose interval is that of its independent answers."""
    worth = [one["independent_answers"] for one in told["changes"].values()]
    return _share(told["baseline_count"], told["baseline_n"], min(worth, default=None))


def _share(count: int, n: int, worth: float | None = None) -> Estimate:
    of = n if worth is None else worth
    low, high = exact_interval(count / max(1, n) * of, of)
    if low is None or high is None:
        return Estimate("", problem="no such answers")
    return Estimate("", (), count / n, low, high, count, n, n)


def alarms_table(shown: WatchPage) -> NumberTable:
    """Return the alarms with their places in the log."""
    rows: Rows = {(f"{a['answer']:,}", shown.words[a["rate"]]): a for a in shown.alarms}
    columns: Columns = {
        "change": lambda a: a["change"],
        "last answers": lambda a: f"{a['since_count']:,} of {a['since_n']:,}",
        "line": lambda a: f"{a['line']:,}",
        "id": lambda a: a["id"] or "",
        "time": lambda a: a["time"] or "",
    }
    return grid("Alarms", rows, columns, lambda a, column: column(a), labels=("answer", "rate"))

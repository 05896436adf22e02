"""What ``sayso watch`` tells: alarms and summaries as events, and sentences for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sayso.guard.baseline import Counts
from sayso.guard.changes import WITHIN, RaisedAlarm, WatchedChange, Watching
from sayso.guard.history import WatchPage
from sayso.guard.log_answers import RATES
from sayso.harmless import line
from sayso.report.numbers import percent

#: characters of an id or a time that are shown
SHOWN = 100


def alarm_event(watching: Watching, raised: RaisedAlarm) -> dict[str, Any]:
    """Return the event of an alarm."""
    place, watched = raised
    count, n = watching.baseline.counts[watched.rate]
    since = watched.alarm.since()
    many = since.ones if watched.change == "rise" else since.n - since.ones
    event: dict[str, Any] = {
        "event": "alarm",
        "rate": watched.rate,
        "change": watched.change,
        "answer": place.answer,
        "line": place.line,
        "id": _shown(place.id),
        "time": _shown(place.time),
        "baseline": count / n,
        "baseline_count": count,
        "baseline_n": n,
        "bound": watched.bound,
        "since_n": since.n,
        "since_count": many,
        "evidence": _rounded(watched.alarm.evidence),
        "needed": _rounded(1 / watched.alarm.alpha),
    }
    event["why"] = _why(event)
    return event


def opening_sentences(watching: Watching) -> list[str]:
    """Return what is watched, and what cannot be seen."""
    texts = [
        f"baseline: {watching.baseline.answers:,} answers of {watching.baseline.source}; "
        f"{len(watching.changes)} alarms share a chance of {watching.options.alpha:g} of a false "
        "one"
    ]
    for rate in watching.rates:
        count, n = watching.baseline.counts[rate]
        parts = [
            f"a {watched.change} {_seen_text(watched)}"
            for watched in watching.changes
            if watched.rate == rate
        ]
        texts.append(
            f"{rate}: {count:,} of {n:,} {RATES[rate].of} ({percent(count / n)})"
            + ("; " if parts else "; no change of it can be seen")
            + "; ".join(parts)
        )
    if watching.guard is not None and "above_limit" not in watching.baseline.counts:
        texts.append(
            f"above_limit is not watched: {watching.baseline.source} has neither "
            f"{watching.reader.score_field!r} nor what {watching.guard.file.score} is computed from"
        )
    return texts


def uncounted_sentences(watching: Watching) -> list[str]:
    """Return a sentence for each watched rate that no answer of the log counts for."""
    if not watching.state.answers:
        return []
    return [
        f"{rate}: the log has no {RATES[rate].of}, so no change of it was looked for"
        for rate in watching.rates
        if not watching.state.counts.get(rate, [0, 0])[1]
    ]


def summary_event(watching: Watching) -> dict[str, Any]:
    """Return what was seen so far, as an event."""
    state = watching.state
    rates: dict[str, Any] = {}
    for rate in watching.rates:
        count, n = state.counts.get(rate, [0, 0])
        before, of = watching.baseline.counts[rate]
        changes = {
            watched.change: {
                "bound": watched.bound,
                "smallest_seen": watched.smallest,
                "evidence": _rounded(watched.alarm.evidence),
                "needed": _rounded(1 / watched.alarm.alpha),
                "alarm": watched.alarm.rings,
            }
            for watched in watching.changes
            if watched.rate == rate
        }
        rates[rate] = {
            "rate": count / n if n else None,
            "count": count,
            "n": n,
            "baseline": before / of,
            "baseline_count": before,
            "baseline_n": of,
            "changes": changes,
        }
    return {
        "event": "summary",
        "log": line(str(watching.log), 200),
        "against": watching.baseline.source,
        "answers": state.answers,
        "labels": state.labels,
        "lines": state.lines,
        "bad_lines": watching.bad,
        "bad": dict(state.bad),
        "unread": dict(state.unread),
        "alpha": watching.options.alpha,
        "rates": rates,
        "J": {"log": _gap(state.counts), "baseline": _gap(watching.baseline.counts)},
        "alarms": len(state.alarms),
    }


def watch_page(watching: Watching) -> WatchPage:
    """Return what the page shows."""
    return WatchPage(
        summary_event(watching),
        watching.state.alarms,
        watching.state.history,
        {rate: RATES[rate].words for rate in watching.rates},
        WITHIN,
    )


def _shown(value: object) -> str | None:
    return None if value is None else line(str(value), SHOWN)


def _rounded(value: float) -> float:
    """Return a number without its last digits, which depend on how many answers came at once."""
    return float(f"{value:.6g}")


def _gap(counts: Counts) -> float | None:
    """Return J: how much more often unanswerable questions are declined than answerable ones."""
    rates = [counts.get(f"declining_{kind}", [0, 0]) for kind in ("unanswerable", "answerable")]
    if not all(n for _, n in rates):
        return None
    (missed, of_missed), (known, of_known) = rates
    return missed / of_missed - known / of_known


def _seen_text(watched: WatchedChange) -> str:
    if watched.smallest is None:
        return f"is not seen within {WITHIN:,} answers, whatever its size"
    more = "more" if watched.change == "rise" else "less"
    return f"to {percent(watched.smallest)} or {more} is seen within {WITHIN:,} answers"


def _why(event: Mapping[str, Any]) -> str:
    """Return the sentence about an alarm."""
    words, since = RATES[event["rate"]].words, event["since_n"]
    return (
        f"{words}: {event['since_count']:,} of the last {since:,} "
        f"({percent(event['since_count'] / since)}); in the baseline "
        f"{event['baseline_count']:,} of {event['baseline_n']:,} ({percent(event['baseline'])})"
    )

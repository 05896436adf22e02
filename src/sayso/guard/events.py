"""What ``sayso watch`` tells: alarms and summaries as events, and sentences for people."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

from sayso.guard.baseline import Baseline, Counts
from sayso.guard.changes import WITHIN, RaisedAlarm, ReadSoFar, WatchedChange, Watching
from sayso.guard.history import WatchPage
from sayso.guard.late_labels import REMEMBERED
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
        "bound": watched.bound.rate,
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
        f"baseline: {_clustered(watching.baseline)} of {watching.baseline.source}; "
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


def _clustered(baseline: Baseline) -> str:
    """Return how many answers a baseline has, and about how many things."""
    answers = f"{baseline.answers:,} answers"
    if baseline.clusters == baseline.answers:
        return answers
    return f"{answers} about {baseline.clusters:,} entities or questions"


def closing_sentences(watching: Watching) -> list[str]:
    """Return what was not counted, and why; and which alarms are older than this call."""
    return [
        *_old_alarms(watching),
        *_uncounted(watching),
        *_left_out(watching),
        *bad_sentences(watching),
        *(
            f"--columns {ours}={theirs}: neither {watching.baseline.source} nor a line that was "
            f"read now has {line(theirs, SHOWN)!r}"
            for ours, theirs in watching.reader.unfound.items()
        ),
    ]


def _old_alarms(watching: Watching) -> list[str]:
    state = watching.state
    old = state.alarms[: len(state.alarms) - watching.new_alarms]
    return [
        f"an earlier call raised the alarm on {alarm['rate']} at answer {alarm['answer']:,}; this "
        "change is no longer watched for (another --state begins anew)"
        for alarm in old
    ]


def _uncounted(watching: Watching) -> list[str]:
    """Return a sentence for each watched rate that no answer of the log counts for."""
    if not watching.state.answers:
        return []
    return [
        f"{rate}: the log has no {RATES[rate].of}, so no change of it was looked for"
        for rate in watching.rates
        if not watching.state.counts.get(rate, [0, 0])[1]
    ]


def _left_out(watching: Watching) -> list[str]:
    """Return a sentence for each kind of line that counts once, not at all, or maybe twice."""
    state, last = watching.state, f"the last {REMEMBERED:,} answers"
    by, source = watching.options.by, watching.baseline.source
    counted = {
        f"answers that repeat an id of {last}, and are not counted again": state.repeated,
        "answers without an id: a repeated line counts again, and a later label does not find its "
        "answer": state.without_id,
        f"answers without {by}, or with one that {source} lacks, which are not compared": (
            state.unplaced
        ),
        "later labels of answers that had one, whose last one counts": state.repeated_labels,
        "later labels of answers that state no value, not counted as right or wrong": (
            state.labels_of_declined
        ),
        f"later labels left out, because their id is not among those of {last}": (
            state.labels_of_unknown
        ),
    }
    return [f"{count:,} {text}" for text, count in counted.items() if count]


def bad_sentences(watching: Watching) -> list[str]:
    """Return how many answers, lines and values could not be read, with the first of each."""
    state, texts = watching.state, []
    if state.unread:
        counts = ", ".join(f"{count:,} {why}" for why, count in state.unread.items())
        texts.append(f"answers that could not be read, and are in no rate of words: {counts}")
    if state.bad_lines:
        texts.append(
            f"{state.bad_lines:,} of {state.lines:,} lines could not be used; the first: "
            f"{state.first_bad}"
        )
    if state.bad_values:
        counts = ", ".join(f"{count:,} of {field}" for field, count in state.bad_values.items())
        texts.append(f"values that could not be read: {counts}; the first: {state.first_bad_value}")
    return texts


def summary_event(watching: Watching) -> dict[str, Any]:
    """Return what was seen so far, as an event."""
    state = watching.state
    rates: dict[str, Any] = {}
    for rate in watching.rates:
        count, n = state.counts.get(rate, [0, 0])
        before, of = watching.baseline.counts[rate]
        changes = {
            watched.change: {
                "bound": watched.bound.rate,
                **({"bounds": watched.bound.parts} if watching.options.by else {}),
                "independent_answers": round(watched.bound.independent, 1),
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
        **{name: copy(getattr(state, name)) for name in ReadSoFar.__struct_fields__},
        "alpha": watching.options.alpha,
        "rates": rates,
        "J": {"log": _gap(state.counts), "baseline": _gap(watching.baseline.counts)},
        "alarms": len(state.alarms),
        "new_alarms": watching.new_alarms,
        "guard": guard_state(watching),
    }


def summary_sentence(summary: Mapping[str, Any]) -> str:
    """Return the line of a summary that people read."""
    rates = summary["rates"]
    rang = [
        f"{rate} {'rose' if change == 'rise' else 'fell'}"
        for rate, told in rates.items()
        for change, one in told["changes"].items()
        if one["alarm"]
    ]
    alarm = f"alarm: {', '.join(rang)}" if summary["new_alarms"] else "no alarm"
    if rang and not summary["new_alarms"]:
        alarm = f"no new alarm; earlier: {', '.join(rang)}"
    return "; ".join(
        [alarm]
        + [
            f"{rate} {'–' if told['rate'] is None else percent(told['rate'])}, baseline "
            f"{percent(told['baseline'])}"
            for rate, told in rates.items()
        ]
        + [f"{summary['answers']:,} answers"]
    )


def watch_page(watching: Watching) -> WatchPage:
    """Return what the page shows."""
    return WatchPage(
        summary_event(watching),
        watching.state.alarms,
        watching.state.history,
        {rate: RATES[rate].words for rate in watching.rates},
        WITHIN,
        [*_uncounted(watching), *_left_out(watching), *bad_sentences(watching)],
    )


def guard_state(watching: Watching) -> dict[str, Any] | None:
    """Return the guard whose limit is watched, and when and why it was withdrawn, if it was."""
    if watching.guard is None:
        return None
    withdrawn = watching.guard.file.withdrawn
    return {
        "file": line(str(watching.guard.place), 200),
        "kept": watching.options.keep_guard,
        "withdrawn": None if withdrawn is None else line(withdrawn.when, SHOWN),
        "why": None if withdrawn is None else line(withdrawn.why, 300),
    }


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

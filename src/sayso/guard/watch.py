"""``sayso watch``: do the answers in a log still come as often as in an earlier run?

Every answer of the log is read as the answers of the baseline are: whether it declines or hedges,
whether its score lies above the guard's limit, and, where somebody labels it, whether it is wrong.
Each rate has an anytime-valid alarm for each change that matters (:mod:`sayso.metrics.alarms`);
all of them share one chance of a false alarm. The state is small and flat, and can be kept in a
file, so that a watch that was stopped goes on. An alarm withdraws the promise of a guard.
"""

from __future__ import annotations

import dataclasses
import json
import math
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec
import numpy as np

from sayso.datasets.answer_files import open_answer_file
from sayso.datasets.answer_rows import (
    AnswerRow,
    answer_row,
    person_verdict,
    with_checked_texts,
)
from sayso.datasets.columns import COLUMNS, columns_of, places_of
from sayso.datasets.tables import decode_text, parse_json, unreadable, whole
from sayso.guard.growing import LONGEST_LINE, GrowingLog, LogPlace
from sayso.guard.guard import GIVEN, Guard, guard_in
from sayso.guard.history import RateHistory, WatchPage
from sayso.harmless import line, printable
from sayso.judges.english.tokens import forget_texts
from sayso.judges.judge import NO_VALUE, WITHHELD
from sayso.judges.rules.judge import SIGNATURE, judge_rules
from sayso.judges.rules.reading import STANCES
from sayso.later import Later
from sayso.metrics.alarms import AlarmState, ChangeAlarm, rise_bound, smallest_rise
from sayso.protocols.answer_table import TABLE, AnswerRecord
from sayso.records import InputError, Question, Score, is_blank
from sayso.report.numbers import percent
from sayso.runs.measure import load_run
from sayso.score_files.score import row_case
from sayso.scores import SCORES, values_of
from sayso.scores.evidence import samples_of
from sayso.storage.atomic import replacing
from sayso.storage.run_folder import RunFolder

if TYPE_CHECKING:
    from sayso.guard import rates_page
else:  # charts take time to load
    rates_page = Later("sayso.guard.rates_page")

Change = Literal["rise", "fall"]
Counts = dict[str, list[int]]


class RateKind(NamedTuple):
    """What a rate is a share of, in words, and which of its changes are watched for."""

    words: str
    of: str
    changes: tuple[Change, ...]


#: what is watched, where the baseline has it
RATES: dict[str, RateKind] = {
    "declining": RateKind("answers that decline", "answers", ("rise", "fall")),
    "hedging": RateKind("answers that hedge", "answers", ("rise", "fall")),
    "above_limit": RateKind(
        "answers whose score is above the guard's limit", "scored answers", ("rise", "fall")
    ),
    "error": RateKind("wrong answers", "labeled answers that do not decline", ("rise",)),
    "declining_answerable": RateKind(
        "answers that decline answerable questions", "answers to answerable questions", ("rise",)
    ),
    "declining_unanswerable": RateKind(
        "answers that decline unanswerable questions",
        "answers to unanswerable questions",
        ("fall",),
    ),
}
#: fields of a log line besides the columns of a file of answers
LOG_FIELDS = ("score", "time")
#: a chance of a false alarm over the whole log, and answers within which a change should be seen
ALPHA, WITHIN = 0.05, 1000
#: answers between two summaries
EVERY_ANSWERS = 10_000
#: lines that cannot be used, without a single one that can, after which a log is no log of answers
HOPELESS = 100
#: seconds between two looks at a file, two writings of a state, and two of a page
POLL, SAVE, REDRAW = 0.5, 5.0, 900.0
#: seconds between two lines about how far it is
PROGRESS = 30.0
#: characters of an id or a time that are shown
SHOWN = 100
#: characters after which the rules forget the texts that they read
FORGET = 1_000_000
#: UNCLE's labels as verdicts; the others say nothing about right and wrong
LABELS = {"S": 1.0, "NS": 0.0}
#: the file of a guard in the folder of its run
GUARD_FILE = "guard.json"
EMPTY_LINE = "no answer, stance, score or label"


@dataclasses.dataclass(frozen=True)
class WatchOptions:
    """How a log is watched.

    ``rates`` are names of :data:`RATES` (none: all that the baseline has), ``alpha`` is the chance
    of any false alarm over the whole log. ``guard`` is the file of a guard, ``keep_guard`` leaves
    it as it is after an alarm. ``columns`` maps our names of fields to those of log and baseline.
    ``method`` is the prompting method of a run that the baseline takes. ``once`` reads a file to
    its end and stops, ``stop_at_alarm`` stops after an alarm. A summary comes every ``every``
    answers (0: only at the end). ``state`` keeps what the watch knows, ``page`` is a page of it.
    """

    rates: tuple[str, ...] = ()
    alpha: float = ALPHA
    guard: Path | None = None
    keep_guard: bool = False
    columns: Mapping[str, str] = dataclasses.field(default_factory=dict)
    method: str = ""
    once: bool = False
    stop_at_alarm: bool = False
    every: int = EVERY_ANSWERS
    state: Path | None = None
    page: Path | None = None


def watch(
    log: str | Path,
    against: str | Path,
    options: WatchOptions = WatchOptions(),
    *,
    emit: Callable[[dict[str, Any]], None] = lambda event: None,
    tell: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Watch a log of answers for changes against earlier ones, and return the last summary.

    ``log`` is a file of JSON lines, or "-" for standard input; ``against`` a run folder with short
    answers, or a file of answers that ``sayso score`` reads. Each alarm and summary goes to
    ``emit``, sentences for people to ``tell``. A file is followed until the process is asked to
    stop (Ctrl-C, SIGTERM), unless ``options.once``. Raises InputError for files that cannot be
    read, for a baseline with nothing to watch, and for a log of which no line can be used.
    """
    place, earlier = Path(log), Path(against)
    _check_options(options)
    guard = _guard(earlier, options)
    reader = AnswerReader(options.columns, guard)
    baseline = read_baseline(earlier, options, reader)
    state = _read_state(options.state)
    watching = Watching(place, baseline, reader, options, state)
    for text in [*baseline.notices, *watching.sentences()]:
        tell(text)
    with ExitStack() as stack:
        source = stack.enter_context(closing(GrowingLog(place, state.place if state else None)))
        stop = stack.enter_context(_Stop())
        _Loop(watching, source, stop, emit, tell).run()
    return watching.summary()


def log_columns(text: str) -> dict[str, str]:
    """Read ``answer=response,score=perplexity``: names of fields of a log. Raises InputError."""
    return columns_of(text, (*COLUMNS, *LOG_FIELDS))


def _check_options(options: WatchOptions) -> None:
    if not 0 < options.alpha < 1:
        raise InputError(f"--alpha {options.alpha:g}: expected a number between 0 and 1")
    if options.every < 0:
        raise InputError(f"--every {options.every}: expected 0 or more")
    for name in options.rates:
        if name not in RATES:
            raise InputError(f"--rates {name!r}: expected one or more of {', '.join(RATES)}")
    if options.page is not None and options.page.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--page {options.page}: expected a name ending in .html")


# ---- the guard


def _guard(against: Path, options: WatchOptions) -> Guard | None:
    """Return the guard whose score is watched: the one named, or that of the run's folder."""
    place = options.guard
    if place is None and (against / GUARD_FILE).is_file():
        place = against / GUARD_FILE
    return None if place is None else Guard(guard_in(place), place.absolute())


# ---- what an answer counts as


class Seen(NamedTuple):
    """What an answer counts as: by rate, 1 or 0; and why it could not be read."""

    outcomes: dict[str, int]
    unread: str | None = None
    answers: bool = True


class AnswerReader:
    """Reads answers of a log and of its baseline in the same way.

    The stance is that of the offline rules, without golds, unless the row has one of its own. The
    score is the row's own, or computed from what the row holds; no model is asked.
    """

    def __init__(self, columns: Mapping[str, str], guard: Guard | None) -> None:
        self.columns = {name: own for name, own in columns.items() if name in COLUMNS}
        self.guard = guard
        self.method = None if guard is None else SCORES.get(guard.file.score)
        field = "score"
        if guard is not None and GIVEN in guard.file.needs:  # a column of the labeled file
            field = guard.file.score
        self.score_field = columns.get("score", field)
        self.time_field = columns.get("time", "time")
        self._read = 0

    def of_line(self, row: dict[str, Any]) -> Seen:
        """Return what a line of a log counts as. Raises InputError for one that is no answer."""
        places = places_of(row, self._names(row))
        stance = row.get(places.get("stance", ""))
        human, label = row.get(places.get("human", "")), row.get(places.get("label", ""))
        score = _number(row.get(self.score_field))
        answer = row.get(places.get("answer", ""))
        if stance is None and answer is None:
            verdict = self._verdict(human, label)
            if verdict is None and score is None:
                raise InputError(EMPTY_LINE)
            outcomes = self._above(score)
            if verdict is not None:  # a label that came later, for an answer that was counted
                outcomes["error"] = int(verdict == 0)
            return Seen(outcomes, answers=score is not None)
        known = stance in STANCES if isinstance(stance, str) else False
        scored = self.guard is None or score is not None
        graded = "gold" not in places or human is not None or label is not None
        if known and scored and graded:
            answerable = row.get(places.get("answerable", ""))
            if answerable is None or isinstance(answerable, bool):
                outcomes = self._of_stance(str(stance), answerable)
                outcomes |= self._above(score)
                verdict = self._verdict(human, label)
                return Seen(self._with_error(outcomes, verdict))
        read = with_checked_texts(answer_row(row, self._names(row)))
        return self.of_row(read, str(stance) if known else None, score, label)

    def _names(self, row: Mapping[str, object]) -> dict[str, str]:
        if "logprobs" in row and "token_logprobs" not in self.columns:
            return {**self.columns, "token_logprobs": "logprobs"}
        return self.columns

    def of_row(
        self,
        row: AnswerRow,
        stance: str | None = None,
        score: float | None = None,
        label: object = None,
    ) -> Seen:
        """Return what a row counts as; ``stance``, ``score`` and ``label`` are its own."""
        unread = None
        if stance is None:
            if row.answer is None:
                return Seen({}, "missing")
            verdict = judge_rules(row.question, NO_VALUE, row.answer)
            stance, unread = verdict.stance, verdict.problem
            self._forget(len(row.question) + len(row.answer))
        outcomes = self._of_stance(stance, row.answerable) if stance is not None else {}
        outcomes |= self._above(score if score is not None else self._score_of(row))
        right = self._verdict(row.human, label)
        if right is None and row.gold and not is_blank(row.answer or "") and stance is not None:
            content = judge_rules(row.question, row.golds or row.gold, row.answer or "").content
            right = {"correct": 1.0, "incorrect": 0.0}.get(content or "")
        return Seen(self._with_error(outcomes, right), unread)

    def _of_stance(self, stance: str, answerable: bool | None) -> dict[str, int]:
        declines = int(stance in WITHHELD)
        outcomes = {"declining": declines, "hedging": int(stance == "hedged")}
        if answerable is not None:
            kind = "declining_answerable" if answerable else "declining_unanswerable"
            outcomes[kind] = declines
        return outcomes

    def _above(self, score: float | None) -> dict[str, int]:
        if self.guard is None or score is None:
            return {}
        return {"above_limit": int(score > self.guard.file.limit)}

    def _score_of(self, row: AnswerRow) -> float | None:
        """Return the guard's score from what a row holds."""
        if self.guard is None or self.method is None:
            return None
        samples = samples_of(row.place, row_case(row), row.answer)
        name = self.guard.file.score
        value = values_of({name: self.method}, samples)[name]
        return value if isinstance(value, float) else None

    def _verdict(self, human: object, label: object) -> float | None:
        """Return 1 where somebody called the answer right, 0 where wrong."""
        if human is None and label is None:
            return None
        problems: list[str] = []
        right = person_verdict(human, problems)
        if right is None and isinstance(label, str) and label in LABELS:
            return LABELS[label]
        return right if right is not None else person_verdict(label, problems)

    def _with_error(self, outcomes: dict[str, int], right: float | None) -> dict[str, int]:
        if right is not None and not outcomes.get("declining"):
            outcomes["error"] = int(right == 0)
        return outcomes

    def _forget(self, characters: int) -> None:
        self._read += characters
        if self._read > FORGET:
            forget_texts()
            self._read = 0


def _number(value: object) -> float | None:
    """Return a finite number; texts of tables are read."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


# ---- the baseline


class Baseline(NamedTuple):
    """Rates of earlier answers: by name, how many count and of how many."""

    source: str
    answers: int
    counts: Counts
    notices: list[str]


def read_baseline(against: Path, options: WatchOptions, reader: AnswerReader) -> Baseline:
    """Return the rates of a run's short answers, or of a file of answers. Raises InputError."""
    seen = _of_run(against, options, reader) if against.is_dir() else _of_file(against, reader)
    counts: Counts = {}
    unread: Counter[str] = Counter()
    answers = 0
    for one in seen:
        answers += one.answers
        unread[one.unread or ""] += 1
        for name, outcome in one.outcomes.items():
            total = counts.setdefault(name, [0, 0])
            total[0] += outcome
            total[1] += 1
    del unread[""]
    notices = [
        f"{against}: {number:,} answers could not be read ({why}), and are left out"
        for why, number in unread.most_common()
    ]
    return Baseline(line(str(against), 200), answers, counts, notices)


def _of_file(path: Path, reader: AnswerReader) -> Iterator[Seen]:
    known = (*LOG_FIELDS, "stance", "label")
    opened = open_answer_file(path, reader.columns, known=known)
    for row in opened.rows:
        own = row.own
        stance = own.get(reader.columns.get("stance", "stance"))
        known_stance = stance if isinstance(stance, str) and stance in STANCES else None
        label = own.get(reader.columns.get("label", "label"))
        yield reader.of_row(row, known_stance, _number(own.get(reader.score_field)), label)


def _of_run(path: Path, options: WatchOptions, reader: AnswerReader) -> Iterator[Seen]:
    if not RunFolder.exists(path):
        raise InputError(f"{path} is no run folder: name one, or a file of answers")
    work, _, _ = load_run(path)
    if not work.has(TABLE):
        raise InputError(f"{path}: made by an older sayso, without its table of answers: run again")
    records = [r for r in work.folder.iter(TABLE, AnswerRecord) if r.form == "short"]
    methods = list(dict.fromkeys(record.method for record in records))
    if not methods:
        raise InputError(f"{path} has no short answers: use a run of selective or uncle")
    method = options.method or methods[0]
    if method not in methods:
        raise InputError(f"--method {method!r}: the run has {', '.join(methods)}")
    answerable = {q.id: q.answerable for q in work.folder.read("questions", Question)}
    scores: dict[str, float | None] = {}
    if reader.guard is not None and work.folder.has("scores/short"):
        wanted = (s for s in work.folder.iter("scores/short", Score))
        scores = {s.target: s.value for s in wanted if s.method == reader.guard.file.score}
    for record in records:
        if record.method == method:
            row = AnswerRow(
                place=record.id,
                question=record.question,
                answer=record.answer,
                gold=record.golds or None,
                answerable=answerable.get(record.question_id),
            )
            yield reader.of_row(row, score=scores.get(f"{record.id}/{record.question_id}"))


# ---- the alarms


class WatchState(msgspec.Struct):
    """What a watch knows after the answers that it read: small, and of the same size for ever."""

    about: str
    place: LogPlace = msgspec.field(default_factory=LogPlace)
    answers: int = 0
    labels: int = 0
    lines: int = 0
    bad: dict[str, int] = msgspec.field(default_factory=dict)
    first_bad: str = ""
    unread: dict[str, int] = msgspec.field(default_factory=dict)
    counts: Counts = msgspec.field(default_factory=dict)
    changes: dict[str, AlarmState] = msgspec.field(default_factory=dict)
    alarms: list[dict[str, Any]] = msgspec.field(default_factory=list)
    history: RateHistory = msgspec.field(default_factory=RateHistory)


def _read_state(place: Path | None) -> WatchState | None:
    if place is None or not place.exists():
        return None
    try:
        return msgspec.json.decode(place.read_bytes(), type=WatchState)
    except OSError as error:
        raise unreadable(place, error) from None
    except (msgspec.DecodeError, RecursionError):
        raise _no_state(place) from None


def _no_state(place: Path | None) -> InputError:
    return InputError(f"--state {place} was not written by sayso watch: give another name")


class WatchedChange(NamedTuple):
    """A change of a rate that is watched for; ``bound`` and ``smallest`` are rates.

    The alarm needs evidence that the rate lies beyond ``bound``. ``smallest`` is the rate nearest
    to the baseline's that is seen within :data:`WITHIN` answers, ``None`` if none is.
    """

    rate: str
    change: Change
    bound: float
    smallest: float | None
    alarm: ChangeAlarm

    @property
    def name(self) -> str:
        """The name of the change in a state."""
        return f"{self.rate}/{self.change}"


class AnswerPlace(NamedTuple):
    """Where an answer stands in its log."""

    answer: int
    line: int
    id: object
    time: object


class Watching:
    """The rates of a log, the alarms on them, and what was read so far."""

    def __init__(
        self,
        log: Path,
        baseline: Baseline,
        reader: AnswerReader,
        options: WatchOptions,
        state: WatchState | None,
    ) -> None:
        self.log, self.baseline, self.reader, self.options = log, baseline, reader, options
        guard = self.guard = reader.guard
        limit = [guard.file.score, guard.file.limit] if guard is not None else []
        self.rates = _watched_rates(baseline, options, guard is not None)
        wanted = [
            (rate, change)
            for rate in self.rates
            for change in RATES[rate].changes
            if _can_change(baseline.counts[rate], change)
        ]
        about = json.dumps([SIGNATURE, options.alpha, baseline.counts, wanted, limit])
        if state is not None and state.about != about:
            raise InputError(
                f"--state {options.state} belongs to a watch against other answers or with other "
                "settings: give another name, or remove it to begin anew"
            )
        self.state = state or WatchState(about)
        each = options.alpha / max(len(wanted), 1)
        self.changes = [self._watched(rate, change, each) for rate, change in wanted]

    def _watched(self, rate: str, change: Change, alpha: float) -> WatchedChange:
        """Return the alarm on a change: half of ``alpha`` is the baseline's, half the alarm's."""
        count, n = self.baseline.counts[rate]
        bound = rise_bound(count if change == "rise" else n - count, n, alpha / 2)
        assert bound is not None  # it can change
        kept = self.state.changes.get(f"{rate}/{change}")
        try:
            alarm = ChangeAlarm(bound, alpha / 2, state=kept)
        except ValueError:
            raise _no_state(self.options.state) from None
        smallest = smallest_rise(bound, alpha / 2, WITHIN)
        if change == "fall":
            bound, smallest = 1 - bound, None if smallest is None else 1 - smallest
        return WatchedChange(rate, change, bound, smallest, alarm)

    # ---- reading

    def read(self, lines: Sequence[bytes | None], first: int) -> list[dict[str, Any]]:
        """Take lines of the log, of which the first has number ``first``; return the new alarms.

        Raises InputError for a log of which no line can be used.
        """
        state = self.state
        outcomes: dict[str, list[int]] = {}
        places: dict[str, list[AnswerPlace]] = {}
        for number, text in enumerate(lines, first):
            if text is not None and not text.strip():
                continue
            state.lines += 1
            try:
                row = self.row(text, number)
                seen = self.reader.of_line(row)
            except InputError as error:
                self._bad(number, str(error))
                continue
            if seen.answers:
                state.answers += 1
            else:
                state.labels += 1
            if seen.unread is not None:
                state.unread[seen.unread] = state.unread.get(seen.unread, 0) + 1
            place = AnswerPlace(
                state.answers, number, row.get("id"), row.get(self.reader.time_field)
            )
            for name, outcome in seen.outcomes.items():
                if name not in outcomes:
                    outcomes[name], places[name] = [], []
                outcomes[name].append(outcome)
                places[name].append(place)
        for name, values in outcomes.items():
            total = state.counts.setdefault(name, [0, 0])
            total[0] += sum(values)
            total[1] += len(values)
            state.history.add(name, [place.answer for place in places[name]], values)
        return self._alarms(outcomes, places)

    def row(self, text: bytes | None, number: int) -> dict[str, Any]:
        """Return the object on a line. Raises InputError."""
        if text is None:
            raise InputError(f"longer than {LONGEST_LINE >> 20} MB")
        try:
            row = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            # NaN, half of a character, a byte order mark: as everywhere
            decoded = decode_text(text, self.log, number, first=number == 1)
            row = parse_json(decoded, self.log, number, "")
        return row if type(row) is dict and text.isascii() else whole(row, f"line {number}")

    def _bad(self, number: int, why: str) -> None:
        state = self.state
        # what differs from line to line is left out, so that the kinds stay few
        kind = _kind_of(why)
        if kind not in state.bad and len(state.bad) >= MOST_KINDS:
            kind = "other problems"
        state.bad[kind] = state.bad.get(kind, 0) + 1
        if not state.first_bad:
            state.first_bad = f"line {number:,}: {printable(why, 200)}"
        if self.bad >= HOPELESS and not self.good:
            raise self.hopeless()

    @property
    def bad(self) -> int:
        """How many lines could not be used."""
        return sum(self.state.bad.values())

    @property
    def good(self) -> int:
        """How many lines could be used."""
        return self.state.answers + self.state.labels

    def hopeless(self) -> InputError:
        """Return the message about a log of which no line can be used."""
        return InputError(
            f"{self.log}: none of the first {self.bad:,} lines is an answer: "
            f"{self.state.first_bad}; expected one object of JSON on each line, with question and "
            "answer, or stance (name your fields with --columns answer=YOURS)"
        )

    def _alarms(
        self, outcomes: Mapping[str, list[int]], places: Mapping[str, list[AnswerPlace]]
    ) -> list[dict[str, Any]]:
        """Update the alarms; return the events of those that were raised now, in their order."""
        raised = []
        for watched in self.changes:
            values = outcomes.get(watched.rate)
            if not values or watched.alarm.rings:
                continue
            taken = np.array(values, dtype=np.uint8)
            at = watched.alarm.update(taken if watched.change == "rise" else 1 - taken)
            self.state.changes[watched.name] = watched.alarm.state
            if at is not None:
                raised.append((places[watched.rate][at], watched))
        events = [self._event(watched, place) for place, watched in sorted(raised, key=_by_answer)]
        self.state.alarms += events
        return events

    def _event(self, watched: WatchedChange, place: AnswerPlace) -> dict[str, Any]:
        """Return the event of an alarm."""
        count, n = self.baseline.counts[watched.rate]
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

    # ---- what is told

    def sentences(self) -> list[str]:
        """Return what is watched, and what cannot be seen."""
        texts = [
            f"baseline: {self.baseline.answers:,} answers of {self.baseline.source}; "
            f"{len(self.changes)} alarms share a chance of {self.options.alpha:g} of a false one"
        ]
        for rate in self.rates:
            count, n = self.baseline.counts[rate]
            parts = [
                f"a {watched.change} {_seen_text(watched)}"
                for watched in self.changes
                if watched.rate == rate
            ]
            texts.append(
                f"{rate}: {count:,} of {n:,} {RATES[rate].of} ({percent(count / n)})"
                + ("; " if parts else "; no change of it can be seen")
                + "; ".join(parts)
            )
        if self.guard is not None and "above_limit" not in self.baseline.counts:
            texts.append(
                f"above_limit is not watched: {self.baseline.source} has neither "
                f"{self.reader.score_field!r} nor what {self.guard.file.score} is computed from"
            )
        return texts

    def uncounted(self) -> list[str]:
        """Return a sentence for each watched rate that no answer of the log counts for."""
        if not self.state.answers:
            return []
        return [
            f"{rate}: the log has no {RATES[rate].of}, so no change of it was looked for"
            for rate in self.rates
            if not self.state.counts.get(rate, [0, 0])[1]
        ]

    def summary(self) -> dict[str, Any]:
        """Return what was seen so far, as an event."""
        state = self.state
        rates: dict[str, Any] = {}
        for rate in self.rates:
            count, n = state.counts.get(rate, [0, 0])
            before, of = self.baseline.counts[rate]
            changes = {
                watched.change: {
                    "bound": watched.bound,
                    "smallest_seen": watched.smallest,
                    "evidence": _rounded(watched.alarm.evidence),
                    "needed": _rounded(1 / watched.alarm.alpha),
                    "alarm": watched.alarm.rings,
                }
                for watched in self.changes
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
            "log": line(str(self.log), 200),
            "against": self.baseline.source,
            "answers": state.answers,
            "labels": state.labels,
            "lines": state.lines,
            "bad_lines": self.bad,
            "bad": dict(state.bad),
            "unread": dict(state.unread),
            "alpha": self.options.alpha,
            "rates": rates,
            "J": {"log": _gap(state.counts), "baseline": _gap(self.baseline.counts)},
            "alarms": len(state.alarms),
        }

    def page(self) -> WatchPage:
        """Return what the page shows."""
        return WatchPage(
            self.summary(),
            self.state.alarms,
            self.state.history,
            {rate: RATES[rate].words for rate in self.rates},
            WITHIN,
        )


#: kinds of lines that cannot be used, which are counted apart
MOST_KINDS = 20


def _kind_of(why: str) -> str:
    """Return a reason without the place in the file and what is quoted of the line."""
    if "wrong JSON" in why:
        return "wrong JSON"
    for kind in ("not UTF-8", "expected an object", "nested too deeply", EMPTY_LINE, "longer than"):
        if kind in why:
            return kind
    return "columns that say different things" if "are both read as" in why else "other problems"


def _watched_rates(baseline: Baseline, options: WatchOptions, scored: bool) -> list[str]:
    """Return the rates that are watched. Raises InputError for one that the baseline lacks."""
    counts, named = baseline.counts, options.rates
    for name in named:
        if name not in counts:
            hint = "" if name != "above_limit" or scored else "; pass --guard"
            raise InputError(f"--rates {name}: {baseline.source} has no {RATES[name].of}{hint}")
    rates = [name for name in RATES if name in counts and (not named or name in named)]
    if not rates:
        raise InputError(f"{baseline.source}: no answer in it could be read")
    return rates


def _can_change(counts: Sequence[int], change: Change) -> bool:
    """Whether a rate is not yet at the end of its range."""
    count, n = counts
    return count < n if change == "rise" else count > 0


def _by_answer(raised: tuple[AnswerPlace, WatchedChange]) -> tuple[int, int]:
    return raised[0].line, list(RATES).index(raised[1].rate)


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


# ---- the loop


class _LeftWaiting(BaseException):
    """Somebody asked to stop while a stream was waited for."""


class _Stop:
    """Tells whether somebody asked the process to stop, and lets a block of lines be finished.

    A stream that is waited for is left at once.
    """

    def __init__(self) -> None:
        self.waiting, self.asked = False, False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Stop:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, *error: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        again, self.asked = self.asked, True
        if self.waiting:
            raise _LeftWaiting
        if again:
            raise KeyboardInterrupt


class _Loop:
    """Reads the log, tells what happens, and keeps state and page."""

    def __init__(
        self,
        watching: Watching,
        source: GrowingLog,
        stop: _Stop,
        emit: Callable[[dict[str, Any]], None],
        tell: Callable[[str], None],
    ) -> None:
        self.watching, self.source, self.stop = watching, source, stop
        self.emit, self.tell = emit, tell
        self.options = watching.options
        self.kept = self.drawn = self.said = time.monotonic()
        self.changed = False
        self.summaries = self._due()

    def run(self) -> None:
        """Read until the end, an alarm, or somebody says stop."""
        while not self.stop.asked:
            lines = self._next()
            if lines:
                self._take(lines)
            elif self.source.ended or (self.options.once and not self.source.streams):
                break
            else:
                self._keep()
                time.sleep(POLL)
            if self.options.stop_at_alarm and self.watching.state.alarms:
                break
        self._end()

    def _next(self) -> list[bytes | None]:
        """Return the next lines; a stream is waited for, and left when somebody says stop."""
        try:
            self.stop.waiting = self.source.streams
            lines = [] if self.stop.asked else self.source.lines()
            self.stop.waiting = False
        except _LeftWaiting:
            lines = []
        finally:
            self.stop.waiting = False
        for text in self.source.notices:
            self.tell(text)
        self.source.notices.clear()
        return lines

    def _take(self, lines: Sequence[bytes | None]) -> None:
        """Read lines; tell of new alarms, and of how it stands."""
        events = self.watching.read(lines, self.source.first)
        self.changed = True
        for event in events:
            event["guard"] = self._withdrawn(event)
            self.emit(event)
            self.tell(f"alarm at answer {event['answer']:,}: {event['why']}")
        self._keep(urgent=bool(events))
        if time.monotonic() - self.said >= PROGRESS:
            self.said = time.monotonic()
            self.tell(f"{self.watching.state.answers:,} answers read")
        if self._due() > self.summaries:
            self.summaries = self._due()
            self.emit(self.watching.summary())

    def _due(self) -> int:
        """Return how many summaries there should be by now."""
        every = self.options.every
        return self.watching.state.answers // every if every else 0

    def _withdrawn(self, event: Mapping[str, Any]) -> str | None:
        """Take back the promise of the guard; return what became of it."""
        guard = self.watching.guard
        if guard is None:
            return None
        if self.options.keep_guard:
            return "kept"
        try:
            why = f"sayso watch, answer {event['answer']:,}: {event['why']}"
            return "withdrawn" if guard.withdraw(why) else "withdrawn before"
        except InputError as error:
            self.tell(f"the guard could not be withdrawn: {error}")
            return "could not be withdrawn"

    def _keep(self, *, urgent: bool = False) -> None:
        """Write state and page, if something changed and it is time."""
        now = time.monotonic()
        if not self.changed or not (urgent or now - self.kept >= SAVE):
            return
        self.kept, self.changed = now, False
        if self.options.state is not None:
            self.watching.state.place = self.source.place()
            with replacing(self.options.state) as file:
                file.write(msgspec.json.encode(self.watching.state))
        if self.options.page is not None and (urgent or now - self.drawn >= REDRAW):
            self.drawn = now
            rates_page.write_watch_page(self.options.page, self.watching.page())

    def _end(self) -> None:
        """Take a last line without its end, if it is whole, and tell how it stands."""
        rest = self.source.rest
        if self.options.once and rest.strip():
            try:
                self.watching.row(rest, 0)
            except InputError:
                self.tell("the last line is incomplete: it is left for the next time")
            else:
                self._take(self.source.take_rest())
        if self.watching.bad and not self.watching.good:
            raise self.watching.hopeless()
        self.changed = True
        self._keep(urgent=True)
        self.emit(self.watching.summary())
        for text in self.watching.uncounted():
            self.tell(text)
        if self.watching.bad:
            self.tell(
                f"{self.watching.bad:,} of {self.watching.state.lines:,} lines could not be used; "
                f"the first: {self.watching.state.first_bad}"
            )

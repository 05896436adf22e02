"""What an answer of a log counts as: the rates of ``sayso watch``, and how they are read.

Answers of the log and of the baseline are read in the same way: whether one declines or hedges,
whether its score lies above the guard's limit, and, where somebody labels it, whether it is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

import msgspec

from sayso.datasets.answer_rows import (
    AnswerRow,
    answer_row,
    person_verdict,
    with_checked_texts,
)
from sayso.datasets.columns import COLUMNS, columns_of, places_of
from sayso.guard.errors import answer_error, states_value
from sayso.guard.guard import GIVEN, Guard, settle_blanks
from sayso.harmless import line
from sayso.judges.english.tokens import forget_texts
from sayso.judges.judge import NO_VALUE, WITHHELD
from sayso.judges.rules.judge import judge_rules
from sayso.judges.rules.reading import STANCES
from sayso.records import InputError, is_blank
from sayso.score_files.score import row_case
from sayso.scores import SCORES, values_of
from sayso.scores.evidence import samples_of

Change = Literal["rise", "fall"]


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
#: characters after which the rules forget the texts that they read
FORGET = 1_000_000
#: UNCLE's labels as verdicts; the others say nothing about right and wrong
LABELS = {"S": 1.0, "NS": 0.0, "UNC": None, "OMIT": None}
#: fields of a row whose values are told where they cannot be read
READ_FIELDS = ("question", "answer", "answerable")
SCORED_FIELDS = ("token_logprobs", "token_entropies", "samples", "stated_confidence")
#: a time above this is one of milliseconds
MILLISECONDS = 1e11
#: what compares answers of each hour of the day with earlier ones of the same hour
HOUR = "hour"
EMPTY_LINE = "no answer, stance, score or label"


def log_columns(columns: str | Mapping[str, str]) -> dict[str, str]:
    """Return names of fields of a log, ``answer=response,score=perplexity``. Raises InputError."""
    if not isinstance(columns, str):
        return dict(columns)
    return columns_of(columns, (*COLUMNS, *LOG_FIELDS))


#: a value that cannot be read: of which field, and what stands there
BadValue = tuple[str, str]


class Seen(NamedTuple):
    """What an answer, or a label that came later, counts as.

    ``outcomes`` has 1 or 0 by rate. ``unread`` says why the answer could not be read. ``states``
    tells whether the answer states a value, ``labeled`` whether a label or a gold says that it is
    right or wrong. A line that is no answer is a later label. ``part`` is the part of the traffic
    that the answer belongs to, ``None`` where the line does not tell.
    """

    outcomes: dict[str, int]
    unread: str | None = None
    bad: tuple[BadValue, ...] = ()
    states: bool = True
    labeled: bool = False
    answers: bool = True
    part: str | None = ""


class OwnFields(NamedTuple):
    """What a row says itself: its stance, its score, and whether it is right (1 or 0)."""

    stance: str | None
    score: float | None
    right: float | None


class AnswerReader:
    """Reads answers of a log and of its baseline in the same way.

    The stance is that of the offline rules, without golds, unless the row has one of its own. The
    score is the row's own, or computed from what the row holds; no model is asked. ``columns``
    maps our names of fields to theirs; a name holds in each row that has it. ``unfound`` are those
    that no row had yet. ``by`` names the parts of the traffic: "hour", or a field.
    """

    def __init__(self, columns: Mapping[str, str], guard: Guard | None, by: str = "") -> None:
        self.columns, self.by = dict(columns), by
        self.unfound = dict(columns)
        self.guard = guard
        self.method = None if guard is None else SCORES.get(guard.file.score)
        self.score_field = "score"
        if guard is not None and GIVEN in guard.file.needs:  # a column of the labeled file
            self.score_field = guard.file.score
        self._read = 0

    def names(self, row: Mapping[str, object]) -> dict[str, str]:
        """Return our names of fields, and theirs, of those that a row has."""
        found = {ours: theirs for ours, theirs in self.columns.items() if theirs in row}
        if self.unfound:
            for ours in found:
                self.unfound.pop(ours, None)
        return found

    def id_and_time(self, row: Mapping[str, object]) -> tuple[object, object]:
        """Return what a line of a log calls its answer, if it does, and when it came."""
        names = self.names(row) if self.columns else {}
        id = row.get(names.get("id", "id"))
        blank = isinstance(id, str) and is_blank(id)
        return None if blank else id, row.get(names.get("time", "time"))

    def part(self, row: Mapping[str, object]) -> str | None:
        """Return the part of the traffic that a row belongs to, ``None`` if it does not tell."""
        if not self.by:
            return ""
        names = self.names(row) if self.columns else {}
        if self.by == HOUR:
            return hour_of(row.get(names.get("time", "time")))
        value = row.get(names.get(self.by, self.by))
        if isinstance(value, bool):
            return str(value).lower()  # as a table has it
        return line(str(value), 100) or None if isinstance(value, str | int | float) else None

    def of_line(self, row: dict[str, Any]) -> Seen:
        """Return what a line of a log counts as. Raises InputError for one that is no answer."""
        names = self.names(row) if self.columns else {}
        places = places_of(row, self._our_columns(row, names))
        bad: list[BadValue] = []
        own = self.own_fields(row, names, row.get(places.get("human", "")), bad)
        if own.stance is None and row.get(places.get("answer", "")) is None:
            return self._without_answer(own, row.get(names.get("label", "label")), bad)
        scored = self.guard is None or own.score is not None
        graded = "gold" not in places or own.right is not None
        if own.stance is not None and scored and graded:
            answerable = row.get(places.get("answerable", ""))
            if answerable is None or isinstance(answerable, bool):
                unanswerable = answerable is False and "gold" not in places
                return self._seen(own, answerable, unanswerable, bad)
        read = with_checked_texts(answer_row(row, self._our_columns(row, names)))
        return self.of_row(read, own, bad)

    def _without_answer(self, own: OwnFields, label: object, bad: list[BadValue]) -> Seen:
        """Return what a line with neither answer nor stance counts as."""
        if own.score is not None:
            outcomes = self._above(own.score)
            if (error := answer_error(None, own.right)) is not None:
                outcomes["error"] = error
            return Seen(outcomes, bad=tuple(bad), labeled=own.right is not None)
        if own.right is None and not (isinstance(label, str) and label in LABELS):
            raise InputError(f"{EMPTY_LINE}{f' ({bad[0][1]})' if bad else ''}")
        error = answer_error(None, own.right)
        outcomes = {} if error is None else {"error": error}
        return Seen(outcomes, bad=tuple(bad), labeled=error is not None, answers=False)

    def _our_columns(self, row: Mapping[str, object], names: Mapping[str, str]) -> dict[str, str]:
        """Return the names of the columns of answers."""
        columns = {ours: theirs for ours, theirs in names.items() if ours in COLUMNS}
        if "logprobs" in row and "token_logprobs" not in columns:
            columns["token_logprobs"] = "logprobs"
        return columns

    def own_fields(
        self,
        row: Mapping[str, object],
        names: Mapping[str, str],
        human: object,
        bad: list[BadValue],
    ) -> OwnFields:
        """Return what a row says itself; ``human`` is a person's verdict as it was written."""
        stance = row.get(names.get("stance", "stance"))
        if stance is not None and (not isinstance(stance, str) or stance not in STANCES):
            bad.append(_bad_value("stance", stance, f"one of {', '.join(STANCES)}"))
            stance = None
        score = None
        given = row.get(names.get("score", self.score_field))
        if given is not None and self.guard is None:
            score = number_in(given)
        elif given is not None and not (isinstance(given, str) and is_blank(given)):
            score = number_in(given)
            if score is None:
                bad.append(_bad_value("score", given, "a finite number"))
        label = row.get(names.get("label", "label"))
        if human is None and label is None:
            return OwnFields(stance, score, None)
        return OwnFields(stance, score, _verdict(human, label, bad))

    def of_row(self, row: AnswerRow, own: OwnFields, bad: list[BadValue]) -> Seen:
        """Return what a row counts as; ``own`` is what it says itself."""
        bad += [
            (field, why)
            for why in row.problems
            for field in (*READ_FIELDS, *(SCORED_FIELDS if self.guard is not None else ()))
            if why.startswith(f"{field} is ")
        ]
        unread, stance = None, own.stance
        if stance is None:
            if row.answer is None:
                return Seen({}, "missing", tuple(bad))
            verdict = judge_rules(row.question, NO_VALUE, row.answer)
            stance, unread = verdict.stance, verdict.problem
            self._forget(len(row.question) + len(row.answer))
        score = own.score if own.score is not None else self._score_of(row)
        right = own.right if own.right is not None else row.human
        if right is None and row.gold and not is_blank(row.answer or "") and stance is not None:
            content = judge_rules(row.question, row.golds or row.gold, row.answer or "").content
            right = {"correct": 1.0, "incorrect": 0.0}.get(content or "")
        unanswerable = row.answerable is False and not row.gold
        read = OwnFields(stance, score, right)
        seen = self._seen(read, row.answerable, unanswerable, bad)
        return seen._replace(unread=unread or seen.unread)

    def _seen(
        self, own: OwnFields, answerable: bool | None, unanswerable: bool, bad: list[BadValue]
    ) -> Seen:
        """Return what an answer counts as, of which everything is read."""
        outcomes, declines = {}, own.stance in WITHHELD
        if own.stance not in (None, "omitted"):  # an empty answer neither declines nor states
            outcomes = {"declining": int(declines), "hedging": int(own.stance == "hedged")}
            if answerable is not None:
                kind = "declining_answerable" if answerable else "declining_unanswerable"
                outcomes[kind] = int(declines)
        outcomes |= self._above(own.score)
        error = answer_error(own.stance, own.right, unanswerable=unanswerable)
        if error is not None:
            outcomes["error"] = error
        unread = "empty" if own.stance == "omitted" else None
        return Seen(outcomes, unread, tuple(bad), states_value(own.stance), own.right is not None)

    def _above(self, score: float | None) -> dict[str, int]:
        if self.guard is None or score is None:
            return {}
        return {"above_limit": int(score > self.guard.file.limit)}

    def _score_of(self, row: AnswerRow) -> float | None:
        """Return the guard's score from what a row holds."""
        if self.guard is None or self.method is None:
            return None
        if settle_blanks(case := row_case(row), self.guard.file):
            return None
        samples = samples_of(row.place, case, row.answer)
        name = self.guard.file.score
        value = values_of({name: self.method}, samples)[name]
        return value if isinstance(value, float) else None

    def _forget(self, characters: int) -> None:
        self._read += characters
        if self._read > FORGET:
            forget_texts()
            self._read = 0


def _verdict(human: object, label: object, bad: list[BadValue]) -> float | None:
    """Return 1 where somebody called the answer right, 0 where wrong."""
    problems: list[str] = []
    right = person_verdict(human, problems, "correct")
    if isinstance(label, str) and label in LABELS:
        right = LABELS[label] if right is None else right
    else:
        read = person_verdict(label, problems, "label")
        right = read if right is None else right
    bad += [(why.partition(" ")[0].rstrip(":"), why) for why in problems]
    return right


def _bad_value(field: str, value: object, expected: str) -> BadValue:
    return (field, f"{field} is {str(value)[:40]!r}, expected {expected}")


def hour_of(time: object) -> str | None:
    """Return the hour of a time in UTC, 00 to 23; ``None`` for what is no time.

    A time is a text of ISO 8601, in UTC if it has no zone, or seconds or milliseconds since 1970.
    """
    number = number_in(time)
    if number is not None and number > MILLISECONDS:
        time = number / 1000
    try:
        when = msgspec.convert(time, datetime, strict=False)
        return f"{(when if when.tzinfo is None else when.astimezone(UTC)).hour:02}"
    except (msgspec.ValidationError, OverflowError):
        return None


def number_in(value: object) -> float | None:
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

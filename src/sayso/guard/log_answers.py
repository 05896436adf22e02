"""What an answer of a log counts as: the rates of ``sayso watch``, and how they are read.

Answers of the log and of the baseline are read in the same way: whether one declines or hedges,
whether its score lies above the guard's limit, and, where somebody labels it, whether it is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from sayso.datasets.answer_rows import (
    AnswerRow,
    answer_row,
    person_verdict,
    with_checked_texts,
)
from sayso.datasets.columns import COLUMNS, columns_of, places_of
from sayso.guard.guard import GIVEN, Guard
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
LABELS = {"S": 1.0, "NS": 0.0}
EMPTY_LINE = "no answer, stance, score or label"


def log_columns(text: str) -> dict[str, str]:
    """Read ``answer=response,score=perplexity``: names of fields of a log. Raises InputError."""
    return columns_of(text, (*COLUMNS, *LOG_FIELDS))


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
        score = number_in(row.get(self.score_field))
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

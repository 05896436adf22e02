"""The baseline of ``sayso watch``: rates of earlier answers, of a run or of a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sayso.datasets.answer_files import open_answer_file
from sayso.datasets.answer_rows import AnswerRow
from sayso.guard.log_answers import LOG_FIELDS, AnswerReader, Seen, number_in
from sayso.harmless import line
from sayso.judges.rules.reading import STANCES
from sayso.protocols.answer_table import TABLE, AnswerRecord
from sayso.records import InputError, Question, Score
from sayso.runs.measure import load_run
from sayso.storage.run_folder import RunFolder

#: by rate, how many answers count and of how many
Counts = dict[str, list[int]]


class Baseline(NamedTuple):
    """Rates of earlier answers: by name, how many count and of how many."""

    source: str
    answers: int
    counts: Counts
    notices: list[str]


def read_baseline(against: Path, method: str, reader: AnswerReader) -> Baseline:
    """Return the rates of a run's short answers, or of a file of answers. Raises InputError.

    ``method`` is the prompting method of the run's answers; by default its first.
    """
    seen = _of_run(against, method, reader) if against.is_dir() else _of_file(against, reader)
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
        yield reader.of_row(row, known_stance, number_in(own.get(reader.score_field)), label)


def _of_run(path: Path, method: str, reader: AnswerReader) -> Iterator[Seen]:
    if not RunFolder.exists(path):
        raise InputError(f"{path} is no run folder: name one, or a file of answers")
    work, _, _ = load_run(path)
    if not work.has(TABLE):
        raise InputError(f"{path}: made by an older sayso, without its table of answers: run again")
    records = [r for r in work.folder.iter(TABLE, AnswerRecord) if r.form == "short"]
    methods = list(dict.fromkeys(record.method for record in records))
    if not methods:
        raise InputError(f"{path} has no short answers: use a run of selective or uncle")
    method = method or methods[0]
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

"""The baseline of ``sayso watch``: rates of earlier answers, of a run or of a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sayso.datasets.answer_files import columns_in_file, open_answer_file
from sayso.datasets.answer_rows import AnswerRow
from sayso.datasets.columns import COLUMNS
from sayso.guard.errors import asked_about
from sayso.guard.growing import Whole
from sayso.guard.log_answers import (
    HOUR,
    LOG_FIELDS,
    AnswerReader,
    Change,
    OwnFields,
    Seen,
)
from sayso.harmless import line, printable
from sayso.metrics.alarms import independent_number, rise_bound
from sayso.protocols.answer_table import TABLE, AnswerRecord
from sayso.protocols.pool import cluster_names
from sayso.records import InputError, Question, Score
from sayso.runs.measure import whole_run
from sayso.storage.run_folder import RunFolder

#: parts of the traffic that may be compared each for itself
MOST_PARTS = 100
#: by rate, how many answers count and of how many
Counts = dict[str, list[Whole]]


class ClusterCounts(NamedTuple):
    """Of each cluster, how many answers count (C,) and of how many (C,)."""

    ones: NDArray[np.int64]
    sizes: NDArray[np.int64]


class Bound(NamedTuple):
    """A bound of a rate, and how many independent answers it is taken from.

    ``parts`` has the bound in each part of the traffic that has one; ``rate`` is their mean.
    """

    rate: float
    independent: float
    parts: dict[str, float]


class Baseline(NamedTuple):
    """Rates of earlier answers, by name and part of the traffic, from answers in clusters.

    A cluster is what is likely alike: answers about one entity, or to one question. Traffic that
    is compared as a whole is one part, "".
    """

    source: str
    answers: int
    clusters: int
    rates: dict[str, dict[str, ClusterCounts]]
    notices: list[str]

    @property
    def counts(self) -> Counts:
        """By rate, how many answers count and of how many."""
        return {
            name: [sum(int(x.sum()) for x in both) for both in zip(*parts.values(), strict=True)]
            for name, parts in self.rates.items()
        }

    @property
    def parts(self) -> list[str]:
        """The parts of the traffic that are compared each for itself."""
        return sorted({part for parts in self.rates.values() for part in parts})

    def bound(self, rate: str, change: Change, alpha: float) -> Bound | None:
        """Return the bounds of a rate that an alarm for a change must be beyond.

        Any of them fails with a probability of at most ``alpha``: the parts share it. ``None``
        where no change is possible.
        """
        bounds: dict[str, float] = {}
        rate_of_all = independent = 0.0
        n = self.counts[rate][1]
        each = alpha / len(self.rates[rate])
        for part, (ones, sizes) in self.rates[rate].items():
            many = ones if change == "rise" else sizes - ones
            worth = independent_number(many, sizes, each)
            bound = rise_bound(int(many.sum()), int(sizes.sum()), each, worth)
            if bound is not None:
                bounds[part] = bound if change == "rise" else 1 - bound
            beyond = bounds.get(part, 1.0 if change == "rise" else 0.0)
            rate_of_all += int(sizes.sum()) / n * beyond
            independent += worth
        return Bound(rate_of_all, independent, bounds) if bounds else None


def read_baseline(against: Path, method: str, reader: AnswerReader) -> Baseline:
    """Return the rates of a run's short answers, or of a file of answers. Raises InputError.

    ``method`` is the prompting method of the run's answers; by default its first.
    """
    asked: dict[str, Question] = {}
    seen = (
        _of_run(against, method, reader, asked)
        if against.is_dir()
        else _of_file(against, reader, asked)
    )
    counts: dict[tuple[str, str, str], list[int]] = {}
    about: set[str] = set()
    unread: Counter[str] = Counter()
    bad: Counter[str] = Counter()
    first_bad: dict[str, str] = {}
    answers = 0
    for id, one in seen:
        answers += one.answers
        for field, why in one.bad:
            bad[field] += 1
            first_bad.setdefault(field, why)
        if one.part is None:
            unread[f"no {reader.by}"] += 1
            continue
        about.add(id)
        unread[one.unread or ""] += 1
        for name, outcome in one.outcomes.items():
            total = counts.setdefault((name, one.part, id), [0, 0])
            total[0] += outcome
            total[1] += 1
    del unread[""]
    notices = [
        f"{against}: {number:,} answers could not be read ({why}), and are left out"
        for why, number in unread.most_common()
    ]
    notices += [
        f"{against}: {number:,} values of {field} could not be read; the first: "
        f"{printable(first_bad[field], 200)}"
        for field, number in bad.most_common()
    ]
    names = cluster_names(asked.values())
    joined: dict[str, dict[str, dict[str, list[int]]]] = {}
    for (name, part, id), (ones, size) in counts.items():
        total = joined.setdefault(name, {}).setdefault(part, {}).setdefault(names[id], [0, 0])
        total[0] += ones
        total[1] += size
    rates = {
        name: {
            part: ClusterCounts(*np.array([*held.values()], dtype=np.int64).T)
            for part, held in parts.items()
        }
        for name, parts in joined.items()
    }
    clusters = len({names[id] for id in about})
    found = Baseline(line(str(against), 200), answers, clusters, rates, notices)
    _check_parts(found, reader.by)
    return found


def _check_parts(baseline: Baseline, by: str) -> None:
    number = len(baseline.parts)
    if by and not 0 < number <= MOST_PARTS:
        what = "the field time, in ISO 8601 or seconds since 1970" if by == HOUR else "that field"
        raise InputError(
            f"--by {by}: {number:,} values of it in {baseline.source}, expected 1 to {MOST_PARTS}; "
            f"they are read from {what}"
        )


def _of_file(
    path: Path, reader: AnswerReader, asked: dict[str, Question]
) -> Iterator[tuple[str, Seen]]:
    known = (*LOG_FIELDS, reader.score_field, "stance", "label", reader.by)
    names = reader.names(dict.fromkeys(columns_in_file(path))) if reader.columns else {}
    columns = {ours: theirs for ours, theirs in names.items() if ours in COLUMNS}
    for row in open_answer_file(path, columns, known=known).rows:
        bad = [("correct", why) for why in row.problems if _about_verdict(why)]
        own = reader.own_fields(row.own, names, None, bad)
        if row.human is not None:
            own = own._replace(right=row.human)
        about = asked_about(row)
        asked[about.id] = about
        yield about.id, reader.of_row(row, own, bad)._replace(part=reader.part(row.own))


def _about_verdict(problem: str) -> bool:
    """Tell whether a problem of a row is that a person's verdict cannot be read."""
    unreadable = problem.endswith(("expected true or false", "votes are tied or unreadable"))
    return unreadable and not problem.startswith("answerable ")


def _of_run(
    path: Path, method: str, reader: AnswerReader, asked: dict[str, Question]
) -> Iterator[tuple[str, Seen]]:
    if not RunFolder.exists(path):
        raise InputError(f"{path} is no run folder: name one, or a file of answers")
    if reader.by:
        raise InputError(
            f"--by {reader.by}: {path} is a run, and its answers have no time and none of your "
            "fields; give a file of earlier answers to --against"
        )
    work, _, _ = whole_run(path)
    if not work.folder.has(TABLE):
        raise InputError(f"{path}: made by an older sayso, without its table of answers: run again")
    records = [r for r in work.folder.iter(TABLE, AnswerRecord) if r.form == "short"]
    methods = list(dict.fromkeys(record.method for record in records))
    if not methods:
        raise InputError(f"{path} has no short answers: use a run of selective or uncle")
    method = method or methods[0]
    if method not in methods:
        raise InputError(f"--method {method!r}: the run has {', '.join(methods)}")
    asked.update((q.id, q) for q in work.folder.iter("questions", Question))
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
                answerable=asked[record.question_id].answerable,
            )
            own = OwnFields(None, scores.get(record.id), None)
            yield record.question_id, reader.of_row(row, own, [])

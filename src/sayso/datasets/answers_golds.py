"""Golds that lie in a file of their own: joined to answers by id, as a batch's output needs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from sayso.datasets.answers_rows import AnswerRow, row_of
from sayso.datasets.tables import is_text_table, read_table
from sayso.records import InputError

__all__ = ["with_golds"]

#: columns that may name a row, in this order
IDS = ("custom_id", "id")
#: what is taken from the file of golds
TAKEN = ("gold", "human", "question", "context")
Row = Mapping[str, object]


def with_golds(rows: Iterator[AnswerRow], path: Path, notices: list[str]) -> Iterator[AnswerRow]:
    """Yield rows with the golds (or verdicts of people) that stand under their id in a file.

    The file (JSONL, JSON, Parquet, CSV, TSV) has ``custom_id`` or ``id``, and ``gold`` or
    ``human``; a question or context is taken where the row has none. It is read whole, the rows are
    not. What has no partner is told in ``notices``. Raises InputError for a file without these
    columns and for one id with two golds.
    """
    known = _read(path)
    used: set[str] = set()
    lost = 0
    for row in rows:
        found = known.get(row.id or "")
        if found is None:
            lost += 1
            yield row
            continue
        used.add(row.id or "")
        yield msgspec.structs.replace(
            row,
            gold=found.gold if found.gold is not None else row.gold,
            human=found.human if found.human is not None else row.human,
            votes=found.votes or row.votes,
            question=row.question or found.question,
            context=row.context if row.context is not None else found.context,
            problems=(*row.problems, *found.problems),
        )
    if lost:
        notices.append(f"{lost:,} answers have no gold of their id in {path}")
    if len(used) < len(known):
        notices.append(f"{len(known) - len(used):,} golds of {path} belong to no answer")


def _read(path: Path) -> dict[str, AnswerRow]:
    loose = is_text_table(path)
    found: dict[str, AnswerRow] = {}
    for number, row in read_table(path):
        name = next((n for n in IDS if n in row), None)
        if name is None or not {"gold", "human"} & row.keys():
            raise InputError(
                f"{path}, row {number}: expected {' or '.join(IDS)}, and gold or human; it has "
                f"{', '.join(map(str, row))[:200]}"
            )
        key = str(row[name])
        taken: Row = {n: row[n] for n in TAKEN if n in row}
        one = row_of(taken, place=f"{path.name} row {number}", loose=loose)
        # "no answer" is no problem of a row that holds none by design
        one = msgspec.structs.replace(
            one, place="", own={}, problems=tuple(p for p in one.problems if _of_taken(p))
        )
        if key in found and found[key] != one:
            raise InputError(f"{path}, row {number}: {name} {key[:60]!r} has two different golds")
        found[key] = one
    return found


def _of_taken(problem: str) -> bool:
    return any(name in problem for name in TAKEN)

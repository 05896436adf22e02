"""What counts as an error of an answer, for a guard and a watch, and which answers err together."""

from __future__ import annotations

from typing import Literal

from sayso.datasets.answer_rows import AnswerRow
from sayso.judges.judge import WITHHELD
from sayso.records import Question
from sayso.score_files.write import question_number


def states_value(stance: str | None) -> bool:
    """Tell whether an answer states a value that can be wrong; one that was not read may."""
    return stance not in (*WITHHELD, "omitted")


def answer_error(
    stance: str | None, right: float | None, *, unanswerable: bool = False
) -> Literal[0, 1] | None:
    """Return 1 for a wrong answer, 0 for a right one, ``None`` where there is nothing to judge.

    ``right`` is the verdict of a label or a gold, 1 or 0. An answer that declines is neither right
    nor wrong, whatever its label. A value that is stated for an ``unanswerable`` question without
    a gold is wrong, unless a label says otherwise.
    """
    if not states_value(stance):
        return None
    if right is not None:
        return 1 if right == 0 else 0
    return 1 if unanswerable and stance is not None else None


def asked_about(row: AnswerRow) -> Question:
    """Return what tells which rows are right or wrong together: rows about the same have one id.

    Rows of one entity or pair are (:func:`~sayso.protocols.pool.clusters_of`); a row with neither
    is with those of its question, or alone, by its prompt or its place in the file.
    """
    entity, pair = row.entity or "", row.pair or ""
    id = repr((entity, pair)) if entity or pair else f"{question_number(row)}"
    return Question(id, "", "", entity=entity, domain="entity", pair=pair)

"""What counts as an error of an answer, for a guard and a watch, and which answers err together."""

from __future__ import annotations

from typing import Literal

from sayso.datasets.answer_rows import AnswerRow
from sayso.judges.judge import WITHHELD
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


def cluster_of(row: AnswerRow) -> str:
    """Return the name of what is right or wrong together: answers of one entity, pair or question.

    A row without a question is named by its prompt or its place in the file.
    """
    if row.pair:
        return f"pair {row.pair}"
    return f"entity {row.entity}" if row.entity else f"{question_number(row)}"

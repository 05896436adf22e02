"""Output of OpenAI's batch endpoint, and the batch's input, which holds the questions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from sayso.datasets.answer_rows import AnswerRow, reply_columns
from sayso.datasets.tables import read_rows
from sayso.datasets.tools.values import (
    ReplyText,
    object_in,
    reason_in,
    reply_texts,
    spoken_text,
)
from sayso.records import InputError

#: why only ``sayso score`` reads such a file
NO_QUESTIONS = "a batch's output contains no questions"
Row = tuple[int, dict[str, object]]


def read_batch(
    path: Path, rows: Iterable[Row], requests: Path | None, notices: list[str]
) -> Iterator[AnswerRow]:
    """Yield the answers of a batch; further choices of a request are samples.

    A row of the output has ``custom_id``, ``response.status_code``, ``response.body`` (a chat
    completion, a completion or a response) and ``error``. The questions stand only in the batch's
    input, ``requests``, under the same ``custom_id``.
    """
    questions = _questions(requests) if requests is not None else {}
    if requests is None:
        notices.append(f"{NO_QUESTIONS}: give its input with --set requests=FILE to use them")
    lost, again = 0, 0
    seen: set[str] = set()
    for number, row in rows:
        name = str(row.get("custom_id"))
        again += name in seen
        seen.add(name)
        lost += requests is not None and name not in questions
        yield _batch_row(number, row, name, questions.get(name))
    if lost:
        notices.append(f"{lost} answers of {path} have no request with their custom_id")
    if again:
        notices.append(f"{again} lines of {path} have the custom_id of an earlier line: all count")


def _batch_row(number: int, row: dict[str, object], name: str, question: str | None) -> AnswerRow:
    problems: list[str] = []
    response = object_in(row.get("response"))
    body, status = response.get("body"), response.get("status_code")
    replies: list[ReplyText] = []
    error = row.get("error") or object_in(body).get("error")
    if isinstance(body, dict) and status in (200, None) and not error:
        given = reply_texts(body)
        replies = [reply for reply in given if reply.text is not None]
        if not replies:
            why = "; ".join(problem for reply in given for problem in reply.problems())
            problems.append(f"failed: the response contains no text{f' ({why})' if why else ''}")
    else:
        code = "" if status in (200, None) else f"status {status}: "
        problems.append(f"failed: {code}{reason_in(error or body)}")
    for place, reply in enumerate(replies):
        problems += reply.problems("sample" if place else "answer")
    read = reply_columns(replies, problems)
    return AnswerRow(
        place=f"line {number}",
        question=question or "",
        id=name,
        problems=tuple(dict.fromkeys(problems)),
        own=row,
        **read,
    )


def _questions(path: Path) -> dict[str, str]:
    """Return the user's last message of each request in a batch's input. Raises InputError."""
    questions = {}
    for _, row in read_rows(path):
        body = object_in(row.get("body"))
        given = body.get("messages", body.get("input", body.get("prompt")))
        question = spoken_text(given)
        if "custom_id" in row:
            questions[str(row["custom_id"])] = question or ""
    if not questions:
        raise InputError(f"{path}: no line has a custom_id; expected the input of the batch")
    return questions

"""Output of OpenAI's batch endpoint, and the batch's input, which holds the questions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from sayso.datasets.answer_rows import AnswerRow, finite_numbers
from sayso.datasets.tables import read_rows
from sayso.datasets.tools.values import object_in, objects_in, text_in, token_texts
from sayso.records import InputError

Row = tuple[int, dict[str, object]]


def read_batch(
    path: Path, rows: Iterable[Row], requests: Path | None, notices: list[str]
) -> Iterator[AnswerRow]:
    """Yield the answers of a batch; further choices of a request are samples.

    A row of the output has ``custom_id``, ``response.status_code``, ``response.body`` (a chat
    completion, a completion or a response) and ``error``. The questions stand only in the batch's
    input, ``requests``, under the same ``custom_id``.
    """
    questions = _Requests(requests) if requests is not None else None
    lost = 0
    if questions is None:
        notices.append(
            "a batch's output contains no questions: give its input with --requests FILE to use "
            "them"
        )
    try:
        for number, row in rows:
            name = str(row.get("custom_id"))
            question = questions.question(name) if questions is not None else None
            lost += questions is not None and question is None
            yield _batch_row(number, row, name, question)
    finally:
        if questions is not None:
            questions.close()
    if lost:
        notices.append(f"{lost} answers of {path} have no request with their custom_id")


def _batch_row(number: int, row: dict[str, object], name: str, question: str | None) -> AnswerRow:
    problems: list[str] = []
    response = object_in(row.get("response"))
    body, status = response.get("body"), response.get("status_code")
    choices: list[tuple[str, object]] = []
    if isinstance(body, dict) and status in (200, None) and not row.get("error"):
        choices = _choices(body)
        if not choices:
            problems.append("failed: the response contains no text")
    else:
        problems.append(f"failed: {_batch_reason(row.get('error') or body, status)}")
    logprobs = [finite_numbers("log-probabilities", tokens, problems) for _, tokens in choices]
    return AnswerRow(
        place=f"line {number}",
        question=question or "",
        answer=choices[0][0] if choices else None,
        samples=tuple(text for text, _ in choices[1:]),
        logprobs=logprobs[0] if choices else None,
        tokens=token_texts(choices[0][1]) if choices else None,
        sample_logprobs=tuple(logprobs[1:]) if any(logprobs[1:]) else None,
        id=name,
        problems=tuple(problems),
        own=row,
    )


def _choices(body: dict[str, Any]) -> list[tuple[str, object]]:
    """Return text and token log-probabilities of each choice that has a text, in any form."""
    choices: list[tuple[str | None, object]] = []
    for choice in objects_in(body.get("choices")):
        logprobs, message = object_in(choice.get("logprobs")), choice.get("message")
        if isinstance(message, dict):
            choices.append((text_in(message.get("content")), logprobs.get("content")))
        else:
            choices.append((text_in(choice.get("text")), logprobs.get("token_logprobs")))
    parts = [
        part
        for item in objects_in(body.get("output"))
        if item.get("type") == "message"
        for part in objects_in(item.get("content"))
        if part.get("type") == "output_text"
    ]
    if parts:
        text = "".join(str(part.get("text") or "") for part in parts)
        tokens = [token for part in parts for token in objects_in(part.get("logprobs"))]
        choices.append((text, tokens or None))
    return [(text, tokens) for text, tokens in choices if text is not None]


def _batch_reason(error: object, status: object) -> str:
    """Return why a request of a batch failed, in one line."""
    inner = error.get("error", error) if isinstance(error, dict) else error
    message = inner.get("message") or inner.get("code") if isinstance(inner, dict) else inner
    return " ".join(f"status {status}: {message or 'no response'}".split())[:200]


class _Requests:
    """The questions of a batch by custom_id, of which only the place in the file is in memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[str, int] = {}
        for _ in read_rows(path):  # refuses what is no JSONL, with the line
            pass
        self._file = path.open("rb")
        at = 0
        for line in self._file:
            row = json.loads(line) if line.strip() else None
            if isinstance(row, dict) and "custom_id" in row:
                self._places[str(row["custom_id"])] = at
            at += len(line)
        if not self._places:
            self.close()
            raise InputError(f"{path}: no line has a custom_id; expected the input of the batch")

    def question(self, name: str) -> str | None:
        """Return the user's last message in a request."""
        if name not in self._places:
            return None
        self._file.seek(self._places[name])
        body = object_in(json.loads(self._file.readline()).get("body"))
        given = body.get("messages", body.get("input", body.get("prompt")))
        if isinstance(given, str):
            return given
        for message in reversed(objects_in(given)):
            content = message.get("content")
            if message.get("role") == "user" and isinstance(content, str):
                return content
            if message.get("role") == "user":
                parts = objects_in(content)
                return "".join(str(p.get("text") or "") for p in parts)
        return None

    def close(self) -> None:
        """Close the file."""
        self._file.close()

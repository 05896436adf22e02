"""Answers in the logs of other tools, one JSON object a line.

* lm-evaluation-harness with ``--log_samples``: ``samples_<task>_<date>.jsonl`` with ``doc``,
  ``target`` (written as text, a list too), ``arguments`` (``gen_args_0.arg_0`` is the prompt),
  ``resps`` (for each request the texts of its repeats), ``filtered_resps``, and ``filter`` when a
  task has several, each of which writes all rows again.
* The output of OpenAI's batch endpoint: ``custom_id``, ``response.status_code``,
  ``response.body`` (a chat completion, a completion or a response) and ``error``. The questions
  stand only in its input.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sayso.datasets.answers_rows import AnswerRow, numbers
from sayso.records import InputError
from sayso.store import read_rows

Row = tuple[int, dict[str, object]]
#: Fields of a harness document in which its question stands.
QUESTIONS = ("question", "query", "problem", "prompt")
#: What a harness row holds beside its metrics.
_FRAME = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
    "doc_hash", "prompt_hash", "target_hash",
}  # fmt: skip


def is_harness(row: Mapping[str, object]) -> bool:
    """Whether a row comes from lm-evaluation-harness."""
    return {"doc_id", "doc", "resps", "arguments"} <= row.keys()


def is_batch(row: Mapping[str, object]) -> bool:
    """Whether a row is the output of a batch."""
    return {"custom_id", "response"} <= row.keys()


def read_harness(path: Path, rows: Iterable[Row], notices: list[str]) -> Iterator[AnswerRow]:
    """Yield the answers of a harness log; repeats beyond the first are samples.

    Of several filters the first counts. Raises InputError for a task without generated text.
    """
    kept: object = None
    again = 0
    for number, row in rows:
        if kept is None:
            kept = row.get("filter", "")
        if row.get("filter", "") != kept:
            again += 1
            continue
        yield _harness_row(path, number, row)
    if again:
        notices.append(f"{again} rows of other filters than {kept!r} repeat the same answers")


def _harness_row(path: Path, number: int, row: dict[str, object]) -> AnswerRow:
    place = f"line {number}"
    replies = row.get("resps")
    first = replies[0] if isinstance(replies, list) and replies else None
    texts = first if isinstance(first, list) else [first]
    if any(isinstance(text, list) for text in texts):
        raise InputError(
            f"{path} {place}: a multiple-choice task, which holds log-likelihoods of options and "
            "no answers; score the log of a generative task (generate_until)"
        )
    said = [text for text in texts if isinstance(text, str)]
    problems = () if said else ("no reply in resps",)
    doc = row.get("doc")
    prompt = _prompt(row.get("arguments"))
    asked = next(
        (doc[n] for n in QUESTIONS if isinstance(doc, dict) and isinstance(doc.get(n), str)), None
    )
    return AnswerRow(
        place=place,
        question=str(asked) if asked is not None else prompt or "",
        answer=said[0] if said else None,
        samples=tuple(said[1:]),
        gold=_target(row.get("target")),
        prompt=prompt,
        id=str(row.get("doc_id")),
        recorded={
            str(name): float(value)
            for name, value in row.items()
            if name not in _FRAME and isinstance(value, bool | int | float) and value in (0, 1)
        },
        problems=problems,
        own=row,
    )


def _prompt(arguments: object) -> str | None:
    """The text that the model saw: of the saved form ``gen_args_0.arg_0``, or a plain list."""
    found: Any = arguments
    if isinstance(found, dict):
        found = found.get("gen_args_0")
        found = found.get("arg_0") if isinstance(found, dict) else None
    for _ in range(2):
        found = found[0] if isinstance(found, list) and found else found
    return found if isinstance(found, str) else None


def _target(value: object) -> tuple[str, ...] | None:
    """The golds. The harness writes a list as Python shows it, which reads as literals only."""
    if isinstance(value, str) and value.startswith("["):
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return (str(value),)
    values = value if isinstance(value, list) else [value]
    return tuple(str(v) for v in values if v is not None and str(v).strip()) or None


def read_batch(
    path: Path, rows: Iterable[Row], requests: Path | None, notices: list[str]
) -> Iterator[AnswerRow]:
    """Yield the answers of a batch; further choices of a request are samples.

    ``requests`` is the batch's input, found by ``custom_id``; without it there are no questions.
    """
    asked = _Requests(requests) if requests is not None else None
    lost = 0
    if asked is None:
        notices.append(
            "a batch's output holds no questions: give its input with --requests FILE to use them"
        )
    try:
        for number, row in rows:
            name = row.get("custom_id")
            question = asked.question(str(name)) if asked is not None else None
            lost += asked is not None and question is None
            yield _batch_row(number, row, str(name), question)
    finally:
        if asked is not None:
            asked.close()
    if lost:
        notices.append(f"{lost} answers of {path} have no request of their custom_id")


def _batch_row(number: int, row: dict[str, object], name: str, question: str | None) -> AnswerRow:
    problems: list[str] = []
    response = row.get("response")
    body = response.get("body") if isinstance(response, dict) else None
    status = response.get("status_code") if isinstance(response, dict) else None
    found: list[tuple[str | None, object]] = []
    if isinstance(body, dict) and status in (200, None) and not row.get("error"):
        found = _choices(body)
    else:
        problems.append(f"failed: {_reason(row.get('error') or body, status)}")
    said = [(text, probabilities) for text, probabilities in found if text is not None]
    if not said and not problems:
        problems.append("failed: the response holds no text")
    logprobs = [numbers("log-probabilities", given, problems) for _, given in said]
    first = said[0][1] if said else None
    return AnswerRow(
        place=f"line {number}",
        question=question or "",
        answer=said[0][0] if said else None,
        samples=tuple(str(text) for text, _ in said[1:]),
        logprobs=logprobs[0] if said else None,
        tokens=_tokens(first),
        sample_logprobs=tuple(logprobs[1:]) if any(logprobs[1:]) else None,
        id=name,
        problems=tuple(problems),
        own=row,
    )


def _choices(body: dict[str, Any]) -> list[tuple[str | None, object]]:
    """(text, token log-probabilities) of each choice, in whichever of three forms."""
    found: list[tuple[str | None, object]] = []
    for choice in _objects(body.get("choices")):
        held = choice.get("logprobs")
        held = held if isinstance(held, dict) else {}
        message = choice.get("message")
        if isinstance(message, dict):
            found.append((_plain(message.get("content")), held.get("content")))
        else:
            found.append((_plain(choice.get("text")), held.get("token_logprobs")))
    parts = [
        part
        for item in _objects(body.get("output"))
        if item.get("type") == "message"
        for part in _objects(item.get("content"))
        if part.get("type") == "output_text"
    ]
    if parts:
        text = "".join(str(part.get("text") or "") for part in parts)
        tokens = [token for part in parts for token in _objects(part.get("logprobs"))]
        found.append((text, tokens or None))
    return found


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _plain(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _tokens(value: object) -> tuple[str, ...] | None:
    found = [item.get("token") for item in _objects(value)]
    return tuple(map(str, found)) if found and None not in found else None


def _reason(error: object, status: object) -> str:
    """Why a request of a batch failed, in one line."""
    held = error.get("error", error) if isinstance(error, dict) else error
    said = held.get("message") or held.get("code") if isinstance(held, dict) else held
    return " ".join(f"status {status}: {said or 'no response'}".split())[:200]


class _Requests:
    """The questions of a batch by custom_id; only where each stands is kept in memory."""

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
        """The last thing that the user said in a request."""
        if name not in self._places:
            return None
        self._file.seek(self._places[name])
        body = json.loads(self._file.readline()).get("body")
        body = body if isinstance(body, dict) else {}
        given = body.get("messages", body.get("input", body.get("prompt")))
        if isinstance(given, str):
            return given
        for message in reversed(_objects(given)):
            content = message.get("content")
            if message.get("role") == "user" and isinstance(content, str):
                return content
            if message.get("role") == "user":
                parts = _objects(content)
                return "".join(str(p.get("text") or "") for p in parts)
        return None

    def close(self) -> None:
        """Let the file go."""
        self._file.close()

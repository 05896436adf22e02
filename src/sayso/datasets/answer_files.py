"""Answers in Inspect's ``.eval`` logs: a zip of JSON, read without inspect-ai.

``header.json`` says which model answered; ``samples/<id>_epoch_<n>.json`` is one sample with
``input``, ``target``, ``output.choices`` (message and log-probabilities), ``scores`` and
``attachments`` (long texts, referred to as ``attachment://<hash>``). Further epochs of an id are
further draws. Nothing is unpacked to disk, and no entry may be larger than :data:`MOST` bytes or
than :data:`RATIO` times its compressed size.
"""

from __future__ import annotations

import ast
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sayso.datasets.answer_rows import AnswerRow, check_columns, numbers, row_of, with_golds
from sayso.datasets.tables import SUFFIXES as TABLES
from sayso.datasets.tables import is_text_table, read_rows, read_table
from sayso.records import InputError

MOST = 256 * 2**20
RATIO = 1000
#: Entries below this size may be compressed as well as they like.
SMALL = 4 * 2**20
ENTRIES = 1_000_000
_SAMPLE = re.compile(r"samples/(?P<id>.+)_epoch_(?P<epoch>\d{1,9})\.json", re.DOTALL)
_YES, _NO = ("C", "I")


def read_inspect(path: Path, notices: list[str]) -> Iterator[AnswerRow]:
    """Yield one row for each sample id of a log, its further epochs and choices as samples.

    Raises InputError for a file that is no such log, or that holds what no log holds.
    """
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as log:
            groups = _groups(path, log)
            local = _model(path, log).startswith("hf/")
            if local:
                notices.append(
                    "log-probabilities left out: Inspect's hf provider records those of the "
                    "likeliest token, not of the one that was drawn"
                )
            for name, entries in groups.items():
                samples = [_json(path, log, entry) for entry in entries]
                yield _row(name, samples, local)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist: check the name") from None
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError) as error:
        raise InputError(
            f"{path} cannot be read as an Inspect log ({error}); 'inspect log convert' writes it "
            "again"
        ) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def _groups(path: Path, log: zipfile.ZipFile) -> dict[str, list[zipfile.ZipInfo]]:
    """The entries of each sample id, in order of epoch; a later entry replaces an equal one."""
    entries = log.infolist()
    if len(entries) > ENTRIES:
        raise InputError(f"{path} holds {len(entries):,} entries: no Inspect log has as many")
    found: dict[str, dict[int, zipfile.ZipInfo]] = {}
    for entry in entries:
        match = _SAMPLE.fullmatch(entry.filename)
        if match:
            found.setdefault(match["id"], {})[int(match["epoch"])] = entry
    if not found:
        raise InputError(f"{path} holds no samples: expected an Inspect log with finished samples")
    return {name: [by[n] for n in sorted(by)] for name, by in found.items()}


def _json(path: Path, log: zipfile.ZipFile, entry: zipfile.ZipInfo) -> dict[str, Any]:
    """Read one entry, within limits."""
    place = f"{path} entry {entry.filename[:80]!r}"
    if entry.flag_bits & 1:
        raise InputError(f"{place} is encrypted: no Inspect log is")
    large = entry.file_size > SMALL and entry.file_size > RATIO * max(1, entry.compress_size)
    if entry.file_size > MOST or large:
        raise InputError(
            f"{place} would unpack {entry.compress_size:,} bytes to {entry.file_size:,}: refused"
        )
    with log.open(entry) as stream:
        data = stream.read(MOST + 1)
    if len(data) > MOST:
        raise InputError(f"{place} is larger than it says: refused")
    try:
        value = json.loads(data, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: wrong JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"{place}: expected an object {{...}}")
    return value


def _model(path: Path, log: zipfile.ZipFile) -> str:
    """The name of the model, ``provider/name``; "" in an unfinished log."""
    for name in ("header.json", "_journal/start.json"):
        if name in log.namelist():
            held = _json(path, log, log.getinfo(name)).get("eval")
            return str(held.get("model", "")) if isinstance(held, dict) else ""
    return ""


def _row(name: str, samples: list[dict[str, Any]], local: bool) -> AnswerRow:
    problems: list[str] = []
    texts: list[str] = []
    logprobs: list[tuple[float, ...] | None] = []
    tokens: tuple[str, ...] | None = None
    failed: list[str] = []
    for sample in samples:
        kept = sample.get("attachments")
        kept = kept if isinstance(kept, dict) else {}
        if sample.get("error"):
            failed.append(_reason(sample["error"]))
            continue
        for choice in _choices(sample):
            said = _said(choice.get("message"), kept)
            if said is None:
                continue
            held = choice.get("logprobs")
            content = held.get("content") if isinstance(held, dict) else None
            if not texts and not local and isinstance(content, list):
                named = [t.get("token") for t in content if isinstance(t, dict)]
                tokens = tuple(map(str, named)) if named and None not in named else None
            texts.append(said)
            logprobs.append(None if local else numbers("log-probabilities", content, problems))
    if failed:
        problems.append(f"{len(failed)} of {len(samples)} epochs failed: {failed[0]}")
    if not texts and not failed:
        problems.append("no text in output.choices")
    first = samples[0]
    attachments = first.get("attachments")
    question = _asked(first.get("input"), attachments if isinstance(attachments, dict) else {})
    row = AnswerRow(
        place=f"sample {name[:60]}",
        question=question,
        answer=texts[0] if texts else None,
        samples=tuple(texts[1:]),
        logprobs=logprobs[0] if texts else None,
        tokens=tokens,
        sample_logprobs=tuple(logprobs[1:]) if any(logprobs[1:]) else None,
        gold=_target(first.get("target")),
        id=str(first.get("id", name)),
        recorded=_scores(first.get("scores")),
        problems=tuple(problems),
    )
    own = {
        "id": row.id, "question": row.question, "answer": row.answer,
        "samples": list(row.samples), "gold": list(row.gold or ()),
    }  # fmt: skip
    return msgspec.structs.replace(row, own=own)


def _reason(error: object) -> str:
    said = error.get("message") if isinstance(error, dict) else error
    return " ".join(str(said).split())[:120]


def _choices(sample: dict[str, Any]) -> list[dict[str, Any]]:
    output = sample.get("output")
    choices = output.get("choices") if isinstance(output, dict) else None
    return [c for c in choices if isinstance(c, dict)] if isinstance(choices, list) else []


def _said(message: object, attachments: dict[str, Any]) -> str | None:
    """The text of a message: its reasoning and images left out."""
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return _whole(content, attachments)
    if not isinstance(content, list):
        return None
    parts = [p for p in content if isinstance(p, dict) and p.get("type") == "text"]
    return "".join(_whole(str(p.get("text") or ""), attachments) for p in parts)


def _whole(text: str, attachments: dict[str, Any]) -> str:
    if not text.startswith("attachment://"):
        return text
    return str(attachments.get(text.removeprefix("attachment://"), text))


def _asked(given: object, attachments: dict[str, Any]) -> str:
    """The question: the input, or the last thing that the user said in it."""
    if isinstance(given, str):
        return _whole(given, attachments)
    messages = [m for m in given if isinstance(m, dict)] if isinstance(given, list) else []
    for message in reversed(messages):
        if message.get("role") == "user":
            return _said(message, attachments) or ""
    return ""


def _target(value: object) -> tuple[str, ...] | None:
    values = value if isinstance(value, list) else [value]
    return tuple(v for v in values if isinstance(v, str) and v.strip()) or None


def _scores(scores: object) -> dict[str, float]:
    """Verdicts of Inspect's scorers that say right or wrong."""
    found: dict[str, float] = {}
    for name, score in scores.items() if isinstance(scores, dict) else ():
        value = score.get("value") if isinstance(score, dict) else None
        if value in (_YES, _NO):
            found[str(name)] = float(value == _YES)
        elif isinstance(value, bool | int | float) and value in (0, 1):
            found[str(name)] = float(value)
    return found


# Answers in the logs of other tools, one JSON object a line.
#
# * lm-evaluation-harness with ``--log_samples``: ``samples_<task>_<date>.jsonl`` with ``doc``,
#   ``target`` (written as text, a list too), ``arguments`` (``gen_args_0.arg_0`` is the
#   prompt),
#   ``resps`` (for each request the texts of its repeats), ``filtered_resps``, and ``filter``
#   when a
#   task has several, each of which writes all rows again.
# * The output of OpenAI's batch endpoint: ``custom_id``, ``response.status_code``,
#   ``response.body`` (a chat completion, a completion or a response) and ``error``. The
#   questions
#   stand only in its input.

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
        gold=_logs_target(row.get("target")),
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


def _logs_target(value: object) -> tuple[str, ...] | None:
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
        found = _logs_choices(body)
    else:
        problems.append(f"failed: {_logs_reason(row.get('error') or body, status)}")
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


def _logs_choices(body: dict[str, Any]) -> list[tuple[str | None, object]]:
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


def _logs_reason(error: object, status: object) -> str:
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


# Answers that a user already has: one reader for every file that holds them.
#
# JSONL, JSON, Parquet, CSV and TSV with the columns of :data:`COLUMNS`, the sample logs of
# lm-evaluation-harness, Inspect's ``.eval`` logs, and the output of OpenAI's batch endpoint.
# All are
# read row by row. What a row lacks is ``None``; what it has and cannot be used is kept, counted
# and
# told in ``problems``, never dropped.

#: Formats that ``--format`` can name.
FORMATS = ("rows", "harness", "inspect", "batch")
#: Endings of the files that can be read.
SUFFIXES = (*TABLES, ".eval")
#: What the first row of a log looks like.
TESTS: dict[str, Callable[[Mapping[str, object]], bool]] = {
    "harness": is_harness,
    "batch": is_batch,
}


class Answers(NamedTuple):
    """An open file: what it is, its rows, and sentences that grow while it is read."""

    kind: str
    rows: Iterator[AnswerRow]
    notices: list[str]


def open_answers(
    path: Path | str,
    columns: Mapping[str, str] | None = None,
    requests: Path | str | None = None,
    kind: str | None = None,
    golds: Path | str | None = None,
) -> Answers:
    """Open a file of answers; its kind is told from its name and first row unless given.

    ``columns`` maps our names to the file's (``{"answer": "response"}``); ``requests`` is the
    input of a batch, which holds the questions; ``golds`` a file of golds by id. Raises InputError
    for a file that is none of these, before or while it is read.
    """
    found = _open(path, columns, requests, kind)
    if golds is None:
        return found
    return found._replace(rows=with_golds(found.rows, Path(golds), found.notices))


def _open(
    path: Path | str,
    columns: Mapping[str, str] | None,
    requests: Path | str | None,
    kind: str | None,
) -> Answers:
    place = Path(path)
    chosen = dict(columns or {})
    check_columns(chosen)
    if kind is not None and kind not in FORMATS:
        raise InputError(f"format {kind!r}: expected one of {', '.join(FORMATS)}")
    suffix = place.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(
            f"{place}: expected a file ending in {', '.join(SUFFIXES)}; convert it to one of these"
        )
    notices: list[str] = []
    if suffix == ".eval" or kind == "inspect":
        _only_rows("inspect", chosen, requests)
        return Answers("inspect", read_inspect(place, notices), notices)
    source = read_table(place)
    first = next(source)  # every reader refuses an empty file
    source = chain([first], source)
    found = kind or _kind_of(first[1], suffix)
    if found in TESTS and not TESTS[found](first[1]):
        names = ", ".join(map(str, first[1]))[:300]
        raise InputError(f"{place}: --format {found}, but its first row has {names}")
    if found == "rows":
        if requests is not None:
            raise InputError(f"{place} is no batch output: --requests says nothing about it")
        _check_first(place, first[1], chosen)
        loose = is_text_table(place)
        unit = "line" if loose or suffix in (".jsonl", ".ndjson") else "row"
        rows = (row_of(row, chosen, f"{unit} {n}", loose=loose) for n, row in source)
        return Answers("rows", rows, notices)
    if found == "harness":
        _only_rows("harness", chosen, requests)
        return Answers("harness", read_harness(place, source, notices), notices)
    _only_rows("batch", chosen, None)
    given = Path(requests) if requests is not None else None
    return Answers("batch", read_batch(place, source, given, notices), notices)


def _kind_of(row: Mapping[str, object], suffix: str) -> str:
    if suffix in (".jsonl", ".ndjson", ".json"):
        for name, test in TESTS.items():
            if test(row):
                return name
    return "rows"


def _only_rows(kind: str, columns: Mapping[str, str], requests: object) -> None:
    if columns:
        raise InputError(f"--columns is for files of your own, and this one is read as {kind!r}")
    if requests is not None:
        raise InputError(f"--requests belongs to the output of a batch, not to {kind!r}")


def _check_first(path: Path, row: Mapping[str, object], columns: Mapping[str, str]) -> None:
    """Refuse a file whose first row has no answers, or lacks a column that was named."""
    names = ", ".join(map(str, row)) or "none"
    for ours, theirs in columns.items():
        if theirs not in row:
            raise InputError(
                f"{path}: --columns {ours}={theirs} names a column that is not there; the file "
                f"has {names[:300]}"
            )
    taken = set(columns.values())
    free = [n for n in ("answer", "samples") if n in columns or (n in row and n not in taken)]
    if not free:
        raise InputError(
            f"{path}: expected a column 'answer' (or 'samples'), got {names[:300]}; name it with "
            "--columns answer=COLUMN"
        )

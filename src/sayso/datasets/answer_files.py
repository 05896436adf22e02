"""Answers in files: one reader for all that holds them.

Read are JSONL, JSON, Parquet, CSV and TSV with the columns of :mod:`sayso.datasets.columns`, the
sample logs of lm-evaluation-harness, Inspect's ``.eval`` logs, the output of OpenAI's batch
endpoint, results of promptfoo and test runs of DeepEval; where it is wanted, also the published
files of :mod:`sayso.datasets.layouts`. All but the last two tools' are read row by row. What a row
lacks is ``None``; what it has and cannot be used is kept, counted and named in ``problems``, never
dropped.
"""

from __future__ import annotations

import ast
import json
import re
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sayso.datasets import tables
from sayso.datasets.answer_rows import (
    ON_EXPORT,
    AnswerRow,
    columns_in,
    has_answers,
    is_exported,
    likely_answer,
    numbers,
    only_samples,
    row_of,
    with_checked_texts,
    with_golds,
)
from sayso.datasets.columns import (
    Reader,
    called_elsewhere,
    check_columns,
    check_named,
    listed,
    notices_on,
    places_of,
)
from sayso.datasets.layouts import Layout, deepeval_rows, layout_of, promptfoo_rows
from sayso.datasets.tables import (
    is_text_table,
    read_document,
    read_rows,
    read_table,
    suffix_of,
    unreadable,
)
from sayso.datasets.tables import whole as clean_row
from sayso.records import InputError

Row = tuple[int, dict[str, object]]
#: Formats that ``--format`` can name.
FORMATS = ("rows", "harness", "inspect", "batch", "promptfoo", "deepeval")
#: Endings of the files that can be read.
SUFFIXES = (*tables.SUFFIXES, ".eval")
#: Endings of files with a row on each line.
LINES = (".jsonl", ".ndjson", ".jsonl.gz")
#: The columns that only the first row of a log has.
SIGNS: dict[str, set[str]] = {
    "harness": {"doc_id", "doc", "resps", "arguments"},
    "batch": {"custom_id", "response"},
}


class Answers(NamedTuple):
    """An open file: its format, its rows, and notices, which grow while it is read."""

    kind: str
    rows: Iterator[AnswerRow]
    notices: list[str]
    layout: Layout | None = None


def open_answers(
    path: Path | str,
    columns: Mapping[str, str] | None = None,
    requests: Path | str | None = None,
    kind: str | None = None,
    golds: Path | str | None = None,
    *,
    reader: Reader = "score",
    known: Collection[str] = (),
) -> Answers:
    """Open a file of answers; its format follows from its name and first row unless given.

    ``columns`` maps our names to the file's (``{"answer": "response"}``); ``requests`` is the
    input of a batch, which holds the questions; ``golds`` a file of golds by id. ``reader`` is who
    uses the columns, ``known`` are further names that it reads; ``--answers`` also reads known
    layouts. Raises InputError for a file that is none of these, before or while
    it is read.
    """
    wanted = _Wanted(check_columns(columns or {}), reader, known)
    answers = _open(Path(path), wanted, requests, kind)
    answers = answers._replace(rows=map(with_checked_texts, answers.rows))
    if golds is None:
        return answers
    return answers._replace(rows=with_golds(answers.rows, Path(golds), answers.notices))


class _Wanted(NamedTuple):
    """Which columns are wanted: what the file calls them, by whom, and what else is read."""

    columns: dict[str, str]
    reader: Reader
    known: Collection[str]


def _open(path: Path, wanted: _Wanted, requests: Path | str | None, kind: str | None) -> Answers:
    columns = wanted.columns
    if kind is not None and kind not in FORMATS:
        raise InputError(f"format {kind!r}: expected one of {', '.join(FORMATS)}")
    suffix = suffix_of(path)
    if suffix not in SUFFIXES:
        raise InputError(
            f"{path}: expected a file ending in {', '.join(SUFFIXES)}; convert it to one of these"
        )
    notices: list[str] = []
    if suffix == ".eval" or kind == "inspect":
        _only_rows("inspect", columns, requests)
        return Answers("inspect", read_inspect(path, notices), notices)
    kind, source = _results(path, kind)
    first = next(source)  # every reader refuses an empty file
    source = chain([first], source)
    kind = kind or _kind_of(first[1], suffix)
    layout = layout_of(first[1]) if wanted.reader == "answers" and not columns else None
    if kind == "rows" and layout is not None:
        loose = is_text_table(path)
        rows = (row_of(row, place=f"line {n}", loose=loose) for n, row in laid_out(path, source))
        return Answers("rows", rows, notices, layout)
    if not SIGNS.get(kind, set()) <= first[1].keys():
        names = ", ".join(map(str, first[1]))[:300]
        raise InputError(f"{path}: --format {kind}, but its first row has {names}")
    if kind in ("rows", "promptfoo", "deepeval"):
        if requests is not None:
            raise InputError(f"{path} is not an output of a batch: --requests is only for those")
        notices += _check_first(path, first[1], columns)
        loose = is_text_table(path)
        unit = "line" if loose or suffix in LINES else "row"
        notices += [ON_EXPORT] * is_exported(first[1])
        if kind == "rows" and not is_exported(first[1]):
            source = _noticing(source, wanted, notices)
        rows = (
            row_of(row, columns_in(row, columns), f"{unit} {n}", loose=loose, others=wanted.known)
            for n, row in source
        )
        return Answers(kind, rows, notices)
    if kind == "harness":
        _only_rows("harness", columns, requests)
        return Answers("harness", read_harness(path, source, notices), notices)
    _only_rows("batch", columns, None)
    given = Path(requests) if requests is not None else None
    return Answers("batch", read_batch(path, source, given, notices), notices)


def _noticing(source: Iterator[Row], wanted: _Wanted, notices: list[str]) -> Iterator[Row]:
    """Yield rows; when all were read, add notices on the columns that nobody reads."""
    seen: dict[tuple[str, ...], None] = {}
    for number, row in source:
        seen.setdefault(tuple(row))
        yield number, row
    names = list(dict.fromkeys(name for row in seen for name in row))
    notices += notices_on(names, wanted.columns, wanted.reader, wanted.known)


def laid_out(path: Path, source: Iterator[Row], *, long: bool = False) -> Iterator[Row]:
    """Yield the rows of a published file under our names, those of any other as they are.

    Raises InputError for a file of which nothing can be made, and for a row that is not laid out as
    the first.
    """
    first = next(source)
    layout = layout_of(first[1])
    if layout is not None and (layout.refused or layout.long is not long):
        texts = "its rows are long texts: sayso run self_known --answers FILE"
        other = texts if layout.long else "its rows are short answers and no long texts"
        raise InputError(f"{path} ({layout.name}): {layout.refused or other}")
    for number, row in chain([first], source):
        try:
            yield number, row if layout is None else layout.read(row)
        except (KeyError, TypeError, AttributeError, InputError) as error:
            why = f"no {error}" if isinstance(error, KeyError) else str(error)
            name = layout.name if layout is not None else ""
            raise InputError(f"{path} line {number}: not as {name} has it ({why[:120]})") from None


#: how results of other tools are read
RESULTS = {"promptfoo": promptfoo_rows, "deepeval": deepeval_rows}


def _results(path: Path, kind: str | None) -> tuple[str | None, Iterator[Row]]:
    """Return kind and rows of another tool's results, or of a table."""
    document = read_document(path) if path.suffix.lower() == ".json" else None
    if isinstance(document, dict):
        for name, read in RESULTS.items():
            if kind in (name, None) and (rows := read(clean_row(document, str(path)))) is not None:
                if not rows:
                    raise InputError(f"{path} contains no results")
                return name, iter(list(enumerate(rows, 1)))
    if kind in RESULTS:
        raise InputError(f"{path}: --format {kind}, but it contains none of its results")
    return kind, read_table(path)


def _kind_of(row: Mapping[str, object], suffix: str) -> str:
    if suffix in (*LINES, ".json"):
        for name, signs in SIGNS.items():
            if signs <= row.keys():
                return name
    return "rows"


def _only_rows(kind: str, columns: Mapping[str, str], requests: object) -> None:
    if columns:
        raise InputError(f"--columns is for your own files, and this one is read as {kind!r}")
    if requests is not None:
        raise InputError(f"--requests applies to the output of a batch, not to {kind!r}")


def _check_first(path: Path, row: Mapping[str, object], columns: Mapping[str, str]) -> list[str]:
    """Refuse a file whose first row has no answers, or lacks a column that was named.

    Returns a notice where it has samples only.
    """
    check_named(row, columns, path)
    free = {"answer", "samples"} & places_of(row, columns).keys()
    likely = likely_answer(row, columns)
    naming = f"--columns answer={likely or 'COLUMN'}"
    if not free and likely is None and (samples := called_elsewhere("samples", row, columns)):
        likely, naming = samples, f"--columns samples={samples}"
    if not free:
        raise InputError(
            f"{path}: expected a column 'answer' (or 'samples'), got {listed(row)}; "
            f"{'did you mean' if likely else 'name it with'} {naming}"
        )
    return [] if has_answers(row, columns) else [only_samples(likely, naming)]


# ---- Inspect's logs

#: Bytes that one entry may unpack to, and how many times its compressed size.
MOST, RATIO = 256 * 2**20, 1000
#: Smaller entries may be compressed to any degree.
SMALL = 4 * 2**20
ENTRIES = 1_000_000
_SAMPLE = re.compile(r"samples/(?P<id>.+)_epoch_(?P<epoch>\d{1,9})\.json", re.DOTALL)


def read_inspect(path: Path, notices: list[str]) -> Iterator[AnswerRow]:
    """Yield a row for each sample id of a ``.eval`` log, its further epochs and choices as samples.

    A log is a zip of JSON, read without inspect-ai: ``header.json`` says which model answered;
    ``samples/<id>_epoch_<n>.json`` is one sample with ``input``, ``target``, ``output.choices``
    (message and log-probabilities), ``scores`` and ``attachments`` (long texts, referred to as
    ``attachment://<hash>``). Nothing is unpacked to disk. Raises InputError for a file that is no
    such log, or for an entry larger than :data:`MOST` bytes or than :data:`RATIO` times its
    compressed size.
    """
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as log:
            groups = _groups(path, log)
            model = _model(path, log)
            local = model.startswith("hf/")
            if local:
                notices.append(
                    "log-probabilities left out: Inspect's hf provider records those of the "
                    "likeliest token, not of the one that was drawn"
                )
            for name, entries in groups.items():
                samples = [_json(path, log, entry) for entry in entries]
                yield msgspec.structs.replace(
                    _sample_row(name, samples, local), model=model or None
                )
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError) as error:
        raise InputError(
            f"{path} cannot be read as an Inspect log ({error}); 'inspect log convert' rewrites it"
        ) from None
    except OSError as error:
        raise unreadable(path, error) from error


def _groups(path: Path, log: zipfile.ZipFile) -> dict[str, list[zipfile.ZipInfo]]:
    """Return the entries of each sample id in order of epoch; of equal entries the last counts."""
    entries = log.infolist()
    if len(entries) > ENTRIES:
        raise InputError(f"{path} contains {len(entries):,} entries: no Inspect log has as many")
    groups: dict[str, dict[int, zipfile.ZipInfo]] = {}
    for entry in entries:
        match = _SAMPLE.fullmatch(entry.filename)
        if match:
            groups.setdefault(match["id"], {})[int(match["epoch"])] = entry
    if not groups:
        raise InputError(
            f"{path} contains no samples: expected an Inspect log with finished samples"
        )
    return {name: [by[n] for n in sorted(by)] for name, by in groups.items()}


def _json(path: Path, log: zipfile.ZipFile, entry: zipfile.ZipInfo) -> dict[str, Any]:
    """Read one entry, within limits."""
    place = f"{path} entry {entry.filename[:80]!r}"
    if entry.flag_bits & 1:
        raise InputError(f"{place} is encrypted, which Inspect logs never are")
    large = entry.file_size > SMALL and entry.file_size > RATIO * max(1, entry.compress_size)
    if entry.file_size > MOST or large:
        raise InputError(
            f"{place} would unpack {entry.compress_size:,} bytes to {entry.file_size:,}: refused"
        )
    with log.open(entry) as stream:
        data = stream.read(MOST + 1)
    if len(data) > MOST:
        raise InputError(f"{place} is larger than its header says: refused")
    try:
        value = json.loads(data, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: wrong JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"{place}: expected an object {{...}}")
    return value


def _model(path: Path, log: zipfile.ZipFile) -> str:
    """Return the name of the model, ``provider/name``; "" in an unfinished log."""
    for name in ("header.json", "_journal/start.json"):
        if name in log.namelist():
            evaluation = _object(_json(path, log, log.getinfo(name)).get("eval"))
            return str(evaluation.get("model", ""))
    return ""


def _sample_row(name: str, samples: list[dict[str, Any]], local: bool) -> AnswerRow:
    problems: list[str] = []
    texts: list[str] = []
    logprobs: list[tuple[float, ...] | None] = []
    tokens: tuple[str, ...] | None = None
    failed: list[str] = []
    for sample in samples:
        if sample.get("error"):
            failed.append(_reason(sample["error"]))
            continue
        attachments = _object(sample.get("attachments"))
        for choice in _objects(_object(sample.get("output")).get("choices")):
            text = _message_text(choice.get("message"), attachments)
            if text is None:
                continue
            content = _object(choice.get("logprobs")).get("content")
            if not texts and not local:
                tokens = _tokens(content)
            texts.append(text)
            logprobs.append(None if local else numbers("log-probabilities", content, problems))
    if failed:
        problems.append(f"{len(failed)} of {len(samples)} epochs failed: {failed[0]}")
    if not texts and not failed:
        problems.append("no text in output.choices")
    first = samples[0]
    row = AnswerRow(
        place=f"sample {name[:60]}",
        question=_input_text(first.get("input"), _object(first.get("attachments"))),
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
    message = error.get("message") if isinstance(error, dict) else error
    return " ".join(str(message).split())[:120]


def _message_text(message: object, attachments: dict[str, Any]) -> str | None:
    """Return the text of a message, its reasoning and images left out."""
    content = _object(message).get("content")
    if isinstance(content, str):
        return _whole(content, attachments)
    if not isinstance(content, list):
        return None
    parts = [part for part in _objects(content) if part.get("type") == "text"]
    return "".join(_whole(str(part.get("text") or ""), attachments) for part in parts)


def _whole(text: str, attachments: dict[str, Any]) -> str:
    if not text.startswith("attachment://"):
        return text
    return str(attachments.get(text.removeprefix("attachment://"), text))


def _input_text(given: object, attachments: dict[str, Any]) -> str:
    """Return the question: the input, or the user's last message in it."""
    if isinstance(given, str):
        return _whole(given, attachments)
    for message in reversed(_objects(given)):
        if message.get("role") == "user":
            return _message_text(message, attachments) or ""
    return ""


def _target(value: object) -> tuple[str, ...] | None:
    values = value if isinstance(value, list) else [value]
    return tuple(v for v in values if isinstance(v, str) and v.strip()) or None


def _scores(scores: object) -> dict[str, float]:
    """Return the verdicts of Inspect's scorers that mean right or wrong."""
    verdicts: dict[str, float] = {}
    for name, score in _object(scores).items():
        value = _object(score).get("value")
        if value in ("C", "I"):
            verdicts[str(name)] = float(value == "C")
        elif isinstance(value, bool | int | float) and value in (0, 1):
            verdicts[str(name)] = float(value)
    return verdicts


# ---- lm-evaluation-harness

#: Fields of a harness document that may hold its question.
QUESTIONS = ("question", "query", "problem", "prompt")
#: What a harness row holds beside its metrics.
_FRAME = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
    "doc_hash", "prompt_hash", "target_hash",
}  # fmt: skip


def read_harness(path: Path, rows: Iterable[Row], notices: list[str]) -> Iterator[AnswerRow]:
    """Yield the answers of a harness log; repeats after the first are samples.

    With ``--log_samples`` the harness writes ``samples_<task>_<date>.jsonl`` with ``doc``,
    ``target`` (written as text, a list too), ``arguments`` (``gen_args_0.arg_0`` is the prompt),
    ``resps`` (for each request the texts of its repeats), ``filtered_resps``, and ``filter`` when a
    task has several, each of which writes all rows again: the first counts. Raises InputError for a
    task without generated text.
    """
    kept: object = None
    repeated = 0
    for number, row in rows:
        if kept is None:
            kept = row.get("filter", "")
        if row.get("filter", "") != kept:
            repeated += 1
            continue
        yield _harness_row(path, number, row)
    if repeated:
        notices.append(f"{repeated} rows of filters other than {kept!r} repeat the same answers")


def _harness_row(path: Path, number: int, row: dict[str, object]) -> AnswerRow:
    place = f"line {number}"
    replies = row.get("resps")
    first = replies[0] if isinstance(replies, list) and replies else None
    texts = first if isinstance(first, list) else [first]
    if any(isinstance(text, list) for text in texts):
        raise InputError(
            f"{path} {place}: a multiple-choice task, which contains log-likelihoods of options "
            "and "
            "no answers; score the log of a generative task (generate_until)"
        )
    answers = [text for text in texts if isinstance(text, str)]
    doc = _object(row.get("doc"))
    prompt = _prompt(row.get("arguments"))
    question = next((doc[n] for n in QUESTIONS if isinstance(doc.get(n), str)), None)
    return AnswerRow(
        place=place,
        question=str(question) if question is not None else prompt or "",
        answer=answers[0] if answers else None,
        samples=tuple(answers[1:]),
        gold=_harness_target(row.get("target")),
        prompt=prompt,
        id=str(row.get("doc_id")),
        recorded={
            str(name): float(value)
            for name, value in row.items()
            if name not in _FRAME and isinstance(value, bool | int | float) and value in (0, 1)
        },
        problems=() if answers else ("no reply in resps",),
        own=row,
    )


def _prompt(arguments: object) -> str | None:
    """Return the prompt that the model saw: ``gen_args_0.arg_0`` of an object, or in a list."""
    value: Any = arguments
    if isinstance(value, dict):
        value = _object(value.get("gen_args_0")).get("arg_0")
    for _ in range(2):
        value = value[0] if isinstance(value, list) and value else value
    return _plain(value)


def _harness_target(value: object) -> tuple[str, ...] | None:
    """Return the golds. The harness writes a list as Python shows it, which reads as literals."""
    if isinstance(value, str) and value.startswith("["):
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return (str(value),)
    values = value if isinstance(value, list) else [value]
    return tuple(str(v) for v in values if v is not None and str(v).strip()) or None


# ---- batches of OpenAI's endpoint


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
    response = _object(row.get("response"))
    body, status = response.get("body"), response.get("status_code")
    choices: list[tuple[str, object]] = []
    if isinstance(body, dict) and status in (200, None) and not row.get("error"):
        choices = _choices(body)
        if not choices:
            problems.append("failed: the response contains no text")
    else:
        problems.append(f"failed: {_batch_reason(row.get('error') or body, status)}")
    logprobs = [numbers("log-probabilities", tokens, problems) for _, tokens in choices]
    return AnswerRow(
        place=f"line {number}",
        question=question or "",
        answer=choices[0][0] if choices else None,
        samples=tuple(text for text, _ in choices[1:]),
        logprobs=logprobs[0] if choices else None,
        tokens=_tokens(choices[0][1]) if choices else None,
        sample_logprobs=tuple(logprobs[1:]) if any(logprobs[1:]) else None,
        id=name,
        problems=tuple(problems),
        own=row,
    )


def _choices(body: dict[str, Any]) -> list[tuple[str, object]]:
    """Return text and token log-probabilities of each choice that has a text, in any form."""
    choices: list[tuple[str | None, object]] = []
    for choice in _objects(body.get("choices")):
        logprobs, message = _object(choice.get("logprobs")), choice.get("message")
        if isinstance(message, dict):
            choices.append((_plain(message.get("content")), logprobs.get("content")))
        else:
            choices.append((_plain(choice.get("text")), logprobs.get("token_logprobs")))
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
        body = _object(json.loads(self._file.readline()).get("body"))
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
        """Close the file."""
        self._file.close()


# ---- values of unknown type


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _plain(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _tokens(value: object) -> tuple[str, ...] | None:
    tokens = [item.get("token") for item in _objects(value)]
    return tuple(map(str, tokens)) if tokens and None not in tokens else None

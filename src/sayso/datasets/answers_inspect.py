"""Answers in Inspect's ``.eval`` logs: a zip of JSON, read without inspect-ai.

``header.json`` says which model answered; ``samples/<id>_epoch_<n>.json`` is one sample with
``input``, ``target``, ``output.choices`` (message and log-probabilities), ``scores`` and
``attachments`` (long texts, referred to as ``attachment://<hash>``). Further epochs of an id are
further draws. Nothing is unpacked to disk, and no entry may be larger than :data:`MOST` bytes or
than :data:`RATIO` times its compressed size.
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from sayso.datasets.answers_rows import AnswerRow, numbers
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

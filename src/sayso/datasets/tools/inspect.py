"""Logs of Inspect: the samples in a ``.eval`` file, a zip of JSON, or in a ``.json`` file.

Read without inspect-ai, as 0.3.285 writes them; nothing is unpacked to disk.

* ``.eval``: ``header.json`` (in an unfinished log ``_journal/start.json``) says which model
  answered; a sample is one member ``samples/<id>_epoch_<n>.json``, or, chunked,
  ``samples/<id>_epoch_<n>/sample.json`` with its long texts in ``attachments/<first>.json`` beside
  it. Members are compressed with deflate, or since April 2026 with Zstandard, which Python reads
  from 3.14 on; here pyarrow does.
* ``.json``: one object with ``eval`` and ``samples``.

A long text of a sample is ``attachment://<hash>``, or chunked ``attachment://<index>``, and stands
in the sample's ``attachments``. A log of ours (:mod:`sayso.inspect_ai_tools`) holds the question
with its golds in the metadata of each sample.
"""

from __future__ import annotations

import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from string import ascii_uppercase
from typing import IO, Any, NamedTuple

import msgspec

from sayso.datasets.answer_rows import AnswerRow, reply_columns
from sayso.datasets.tables import unreadable
from sayso.datasets.tools.values import (
    ReplyText,
    object_in,
    objects_in,
    reason_in,
    reply_texts,
    spoken_text,
)
from sayso.records import Gold, InputError, Question

#: Bytes that one member may unpack to, and how many times its compressed size.
MOST, RATIO = 256 * 2**20, 1000
#: Smaller members may be compressed to any degree.
SMALL = 4 * 2**20
ENTRIES = 1_000_000
#: keys of the metadata of a sample: whether its question has an answer; a question of ours
ANSWERABLE, QUESTION = "answerable", "sayso"
#: how zip calls Zstandard (APPNOTE 4.4.5), which older versions of Python do not know
ZSTANDARD = 93
_HEADER = struct.Struct("<4s22xHH")
_SAMPLE = re.compile(
    r"samples/(?P<id>.+)_epoch_(?P<epoch>\d{1,9})(?P<shell>/sample)?\.json", re.DOTALL
)
_CHUNK = re.compile(
    r"(?P<prefix>samples/.+_epoch_\d{1,9})/attachments/(?P<first>\d{1,9})\.json", re.DOTALL
)

Sample = dict[str, Any]


class Log(NamedTuple):
    """The model, ``provider/name`` or "", and the samples of each id in order of epoch."""

    model: str
    samples: Iterator[tuple[str, list[Sample]]]


def is_log(document: Mapping[str, Any]) -> bool:
    """Tell whether a JSON document is a log of Inspect."""
    held = document.get("eval"), document.get("samples", [])
    return "plan" in document and isinstance(held[0], dict) and isinstance(held[1], list)


def log_in(path: Path, document: Mapping[str, Any]) -> Log:
    """Return the log that a JSON document is. Raises InputError for one without samples."""
    groups: dict[str, dict[int, Sample]] = {}
    for sample in document.get("samples") or ():
        if isinstance(sample, dict):
            epoch = sample.get("epoch", 1)
            by = groups.setdefault(str(sample.get("id", "")), {})
            by[epoch if isinstance(epoch, int) else len(by) + 1] = sample
    if not groups:
        raise _without_samples(path)
    samples = ((name, [by[n] for n in sorted(by)]) for name, by in groups.items())
    return Log(_model_in(document), samples)


def read_eval(path: Path, notices: list[str]) -> Iterator[AnswerRow]:
    """Yield the rows of a ``.eval`` file.

    Raises InputError, also while samples are read, for a file that is no such log, or for a member
    that is larger than :data:`MOST` bytes or than :data:`RATIO` times its compressed size.
    """
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as log:
            archive = _Archive(path, log, file)
            yield from read(Log(archive.model(), archive.samples()), notices)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError) as error:
        raise InputError(
            f"{path} cannot be read as an Inspect log ({error}); 'inspect log convert --to json' "
            "rewrites it"
        ) from None
    except OSError as error:
        raise unreadable(path, error) from error


class _Archive:
    """A zip of JSON and its members."""

    def __init__(self, path: Path, log: zipfile.ZipFile, file: IO[bytes]) -> None:
        entries = log.infolist()
        if len(entries) > ENTRIES:
            raise InputError(
                f"{path} contains {len(entries):,} entries: no Inspect log has as many"
            )
        self.path, self.log, self.file = path, log, file
        #: of members with equal names the last counts
        self.members = {entry.filename: entry for entry in entries}
        self.chunks: dict[str, dict[int, zipfile.ZipInfo]] = {}
        for name, entry in self.members.items():
            if found := _CHUNK.fullmatch(name):
                self.chunks.setdefault(found["prefix"], {})[int(found["first"])] = entry

    def model(self) -> str:
        """Return the name of the model; "" where the log does not say."""
        for name in ("header.json", "_journal/start.json"):
            if (entry := self.members.get(name)) is not None:
                return _model_in(self.read_object(entry, self.data(entry)))
        return ""

    def samples(self) -> Iterator[tuple[str, list[Sample]]]:
        """Yield the samples of each id."""
        groups: dict[str, dict[int, zipfile.ZipInfo]] = {}
        for name, entry in self.members.items():
            if found := _SAMPLE.fullmatch(name):
                groups.setdefault(found["id"], {})[int(found["epoch"])] = entry
        if not groups:
            raise _without_samples(self.path)
        for name, by in groups.items():
            yield name, [self.sample(by[epoch]) for epoch in sorted(by)]

    def sample(self, entry: zipfile.ZipInfo) -> Sample:
        """Return one sample, a chunked one with its attachments by their numbers."""
        data = self.data(entry)
        sample = self.read_object(entry, data)
        prefix = entry.filename.removesuffix("/sample.json")
        if prefix == entry.filename or b"attachment://" not in data:
            return sample
        attachments: dict[str, object] = {}
        left = MOST
        for first, chunk in sorted(self.chunks.get(prefix, {}).items()):
            packed = self.data(chunk, left)
            left -= len(packed)
            texts = self.value(chunk, packed)
            if not isinstance(texts, list):
                raise InputError(f"{self.place(chunk)}: expected a list [...]")
            attachments |= {str(first + n): text for n, text in enumerate(texts)}
        return {**sample, "attachments": attachments}

    def place(self, entry: zipfile.ZipInfo) -> str:
        """Return what messages call a member."""
        return f"{self.path} entry {entry.filename[:80]!r}"

    def read_object(self, entry: zipfile.ZipInfo, data: bytes) -> dict[str, Any]:
        """Return the object in a member's bytes. Raises InputError."""
        value = self.value(entry, data)
        if not isinstance(value, dict):
            raise InputError(f"{self.place(entry)}: expected an object {{...}}")
        return value

    def value(self, entry: zipfile.ZipInfo, data: bytes) -> Any:
        """Return the JSON value in a member's bytes. Raises InputError."""
        try:
            return json.loads(data, parse_constant=lambda _: None)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{self.place(entry)}: wrong JSON: {error}") from None

    def data(self, entry: zipfile.ZipInfo, most: int = MOST) -> bytes:
        """Return the bytes of a member, within limits."""
        if entry.flag_bits & 1:
            raise InputError(f"{self.place(entry)} is encrypted, which Inspect logs never are")
        large = entry.file_size > SMALL and entry.file_size > RATIO * max(1, entry.compress_size)
        if max(entry.file_size, entry.compress_size) > most or large:
            raise InputError(
                f"{self.place(entry)} would unpack {entry.compress_size:,} bytes to "
                f"{entry.file_size:,}: refused"
            )
        if entry.compress_type == ZSTANDARD:
            data = self.zstandard(entry)
        else:
            with self.log.open(entry) as stream:
                data = stream.read(entry.file_size + 1)
        if len(data) > entry.file_size:
            raise InputError(f"{self.place(entry)} is larger than its header says: refused")
        return data

    def zstandard(self, entry: zipfile.ZipInfo) -> bytes:
        """Return the bytes of a member that Zstandard packed, at most one more than it says."""
        import pyarrow as pa

        self.file.seek(entry.header_offset)
        signature, name, extra = _HEADER.unpack(self.file.read(_HEADER.size).ljust(_HEADER.size))
        if signature != b"PK\3\4":
            raise zipfile.BadZipFile(f"no member where {entry.filename[:80]!r} should be")
        self.file.seek(name + extra, 1)
        packed = self.file.read(entry.compress_size)
        try:
            with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
                data = bytes(stream.read(entry.file_size + 1))
        except (pa.ArrowException, OSError) as error:
            raise zipfile.BadZipFile(f"{entry.filename[:80]!r}: {error}") from None
        if len(data) <= entry.file_size and zlib.crc32(data) != entry.CRC:
            raise zipfile.BadZipFile(f"Bad CRC-32 for file {entry.filename[:80]!r}")
        return data


def _model_in(header: Mapping[str, Any]) -> str:
    evaluation = header.get("eval")
    return str(evaluation.get("model", "")) if isinstance(evaluation, dict) else ""


def _without_samples(path: Path) -> InputError:
    return InputError(f"{path} contains no samples: expected an Inspect log with finished samples")


# ---- rows


def read(log: Log, notices: list[str]) -> Iterator[AnswerRow]:
    """Yield a row for each sample id of a log, its further epochs and choices as samples.

    A sample has ``input``, ``target``, ``output.choices`` (message and log-probabilities),
    ``scores`` and ``attachments``.
    """
    local = log.model.startswith("hf/")
    if local:
        notices.append(
            "log-probabilities left out: Inspect's hf provider records those of the "
            "likeliest token, not of the one that was drawn"
        )
    for name, samples in log.samples:
        yield msgspec.structs.replace(_sample_row(name, samples, local), model=log.model or None)


def _sample_row(name: str, samples: list[dict[str, Any]], local: bool) -> AnswerRow:
    problems: list[str] = []
    replies: list[ReplyText] = []
    failed: list[str] = []
    first = answered = samples[0]
    attached = object_in(first.get("attachments"))
    for sample in samples:
        if sample.get("error"):
            failed.append(reason_in(sample["error"]))
            continue
        if sample.get("limit"):
            kind, most = map(object_in(sample["limit"]).get, ("type", "limit"))
            problems.append(f"the sample was ended by a limit: {kind} {most}")
        whole = partial(_whole, object_in(sample.get("attachments")))
        for reply in reply_texts(object_in(sample.get("output")), whole):
            problems += reply.problems("sample" if replies else "answer")
            if reply.text is None:
                continue
            if not replies:
                answered = sample
            replies.append(reply)
    if failed:
        problems.append(f"{len(failed)} of {len(samples)} epochs failed: {failed[0]}")
    if not replies and not failed:
        problems.append("no text in output.choices")
    epoch = answered.get("epoch", 1)
    if replies and isinstance(epoch, int) and epoch > 1:
        problems.append(f"epoch 1 has no answer: the answer is that of epoch {epoch}")
    turns = [one for one in objects_in(first.get("input")) if one.get("role") != "system"]
    parts = [part for turn in turns for part in objects_in(turn.get("content"))]
    if len(turns) > 1 or any("text" not in part for part in parts):
        problems.append("the question is the user's last text: what stands beside it is not read")
    texts = [reply.text or "" for reply in replies]
    read = reply_columns([r._replace(tokens=None) if local else r for r in replies], problems)
    row = AnswerRow(
        place=f"sample {name[:60]}",
        question=spoken_text(first.get("input"), whole=partial(_whole, attached)) or "",
        gold=_target(first.get("target")),
        id=str(first.get("id", name)),
        recorded=_scores(answered.get("scores")),
        problems=tuple(dict.fromkeys(problems)),
        **read,
    )
    row = with_choices(row, first.get("choices"))
    row = _with_question(row, object_in(first.get("metadata")))
    own = {
        "id": row.id, "question": row.question, "answer": texts[0] if texts else None,
        "samples": texts[1:], "gold": list(row.gold or ()),
    }  # fmt: skip
    return msgspec.structs.replace(row, own=own)


#: what an answer puts before letters of options; before and behind those alone in a line, a box or
#: a tag; between several
_LED = r"\b(?i:answers? (?:is|are)|option|choice|choose|pick|select|either|both)\s+[*_(\[]*"
_ALONE = r"(?:^|\b(?i:answers?)[\s:*_]++|\\(?:boxed|text)\{|<answer>)[ \t*_(\[]*"
_BEHIND = r"[ \t*_]*(?:$|[).:,;\]}<])"
_BETWEEN = r"(?:[ \t*_)\].]*(?:[,;/&+]|\b(?:and|or)\b(?: option)?))+[ \t*_(\[]*"


def with_choices(row: AnswerRow, choices: object) -> AnswerRow:
    """Return a multiple-choice row with its options: in the question, and behind their letters.

    Where an answer names several options, their letters stand for them: it is right if these are
    all the right ones and no other.
    """
    texts = choices if isinstance(choices, list) else object_in(choices).get("text") or ()
    labels = object_in(choices).get("label") or ascii_uppercase
    options = dict(zip(map(str, labels), (str(text).strip() for text in texts), strict=False))
    right = sorted({name for gold in row.gold or () for name in _right_letters(gold, options)})
    if not right:
        told = ["the choices are left out, since the target names none of them"] * bool(options)
        return msgspec.structs.replace(row, problems=(*row.problems, *told))
    several = f"{len(right)} options are right: an answer is right that names these and no other"
    own = "".join(f"; its own verdict: --gold-metric file:{name}" for name in [*row.recorded][:1])
    gold = Gold(" and ".join(options[one] for one in right), aliases=("".join(right),))
    return msgspec.structs.replace(
        row,
        question="\n".join([row.question, *(f"{name}) {text}" for name, text in options.items())]),
        answer=None if row.answer is None else _with_options(row.answer, options),
        samples=tuple(_with_options(text, options) for text in row.samples),
        gold=gold.names,
        golds=(gold,),
        problems=(*row.problems, *[several + own] * (len(right) > 1)),
    )


def _right_letters(target: str, options: Mapping[str, str]) -> str:
    """Return the letters of the options that a target names; "" for none.

    A target is a letter, several, the text of an option, also behind its letter, or its number.
    """
    bare = target.strip("(). ")
    if bare in options:
        return bare
    text = re.sub(r"^\(?\w[).:]+\s*", "", target.strip()).casefold()
    for letter, option in options.items():
        if option.casefold() in (text, target.strip().casefold()):
            return letter
    if bare.isdecimal() and int(bare) < len(options):
        return [*options][int(bare)]
    letters = re.sub(r"[\s,;&]", "", bare)
    return letters if options.keys() >= {*letters} else ""


def _with_options(text: str, options: Mapping[str, str]) -> str:
    """Return an answer with the option behind a letter that it names, and several as letters."""
    letters = {option.casefold(): letter for letter, option in options.items() if option}
    named = "|".join(map(re.escape, sorted(letters, key=len, reverse=True))) or "(?!)"
    letter = rf"(?:{'|'.join(map(re.escape, options))})(?![\w'’])"
    one = rf"(?:{letter}(?:[*_)\].:]*\s+(?i:{named})(?!\w))?|(?i:{named})(?!\w))"
    run = f"{one}(?:{_BETWEEN}{one})*"

    def shown(found: re.Match[str]) -> str:
        parts = re.findall(one, found["run"])
        names = sorted({letters.get(part.casefold(), part[0]) for part in parts})
        alone = f"{found['run']}) {options[found['run']]}" if found["run"] in options else None
        return found["lead"] + ("".join(names) if names[1:] else alone or found["run"])

    pattern = rf"(?P<lead>{_LED}|{_ALONE}(?={run}{_BEHIND}))(?P<run>{run})"
    text = text.upper() if len(text.strip(" .()*")) == 1 else text
    return re.sub(pattern, shown, text, flags=re.MULTILINE)


def _with_question(row: AnswerRow, metadata: dict[str, Any]) -> AnswerRow:
    """Return a row with what the metadata say of its question: all of it in a log of ours."""
    try:
        asked = msgspec.convert(metadata[QUESTION], Question)
    except (KeyError, msgspec.ValidationError):
        told = metadata.get(ANSWERABLE)
        return msgspec.structs.replace(row, answerable=told if isinstance(told, bool) else None)
    return msgspec.structs.replace(
        row,
        question=asked.text,
        prompt=row.question,
        context=asked.context,
        gold=tuple(name for gold in asked.golds or () for name in gold.names) or None,
        golds=asked.golds or None,
        answerable=asked.answerable,
        entity=asked.entity or None,
        domain=asked.domain or None,
        tier=asked.tier or None,
        pair=asked.pair or None,
        aspect=(asked.aspect.description or None) if asked.aspect else None,
    )


def _whole(attachments: Mapping[str, Any], text: str) -> str:
    """Return a text, which may stand in the attachments of its sample."""
    name = text.removeprefix("attachment://")
    return text if name == text else str(attachments.get(name, text))


def _target(value: object) -> tuple[str, ...] | None:
    values = value if isinstance(value, list) else [value]
    return tuple(str(v) for v in values if isinstance(v, str | int) and str(v).strip()) or None


def _scores(scores: object) -> dict[str, float]:
    """Return the verdicts of Inspect's scorers that mean right or wrong."""
    verdicts: dict[str, float] = {}
    for name, score in object_in(scores).items():
        value = object_in(score).get("value")
        if value in ("C", "I") or (isinstance(value, bool | int | float) and value in (0, 1)):
            verdicts[str(name)] = float(value in ("C", 1))
    return verdicts

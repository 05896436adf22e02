"""What a knowledge source consists of, and its files read in blocks, from any place on.

A source is a file, a folder with such files in it, or ``builtin``. Blocks are bounded, so memory
does not grow with a file; a line above :data:`LONGEST` bytes is skipped and told.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import hashlib
import json
import os
import re
import sqlite3
import zlib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, cast

import msgspec

from sayso.records import InputError
from sayso.retrieval.index import is_index
from sayso.retrieval.passages import LONGEST_TITLE, Cut, clean, count, cut, key

# From the rows and files of a source to documents cut into passages; one block at a time.
#
# A block is all a worker needs, so this module touches no file: bytes in, documents out. What
# cannot be read is told by line and never stops the rest.
#
# Columns: the title is ``title``, ``wikipedia_title``, ``page_title``, ``name``, ``topic`` or
# ``entity``, the text ``text``, ``contents``, ``content``, ``passage`` or ``body`` (a list of
# sentences is joined). A row with ``individual_qa`` is a record of UNCLE (arXiv 2505.16922):
# its
# golds become one line for each aspect, ``place of birth of Ada Lovelace: London.``

TITLES = ("title", "wikipedia_title", "page_title", "name", "topic", "entity")
TEXTS = ("text", "contents", "content", "passage", "body")
_TIMESTAMP = re.compile(r"([+-]?)(\d{4,})-(\d\d)-(\d\d)T\d\d:\d\d:\d\dZ")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


class Block(msgspec.Struct, frozen=True, array_like=True):
    """Some consecutive rows of a file, or a piece of a text; ``first`` counts from 1."""

    kind: Literal["lines", "tsv", "text"]
    data: bytes
    first: int = 1
    title: str = ""
    columns: tuple[str, ...] = ()


class Document(msgspec.Struct, frozen=True, array_like=True):
    """One document: its title, the key it is found by, its pieces, and a hash of all that."""

    digest: int
    title: str
    key: str
    words: int
    pieces: list[str]


class Read(msgspec.Struct, frozen=True, array_like=True):
    """What a block held. ``problems`` has (line or row, what is wrong) of what was left out."""

    documents: list[Document]
    problems: list[tuple[int, str]]
    cleaned: int


class _Gold(msgspec.Struct):
    value: str
    aliases: list[str] = []
    precision: str | None = None


class _Part(msgspec.Struct):
    answer: list[str | _Gold]
    description: str = ""
    label: str = ""


class _Row(msgspec.Struct):
    """The columns that are read; any other is skipped without a look."""

    title: str | None = None
    text: str | None = None
    contents: str | None = None
    wikipedia_title: str | None = None
    individual_qa: msgspec.Raw | None = None


class _WrongRowError(Exception):
    """A row that is left out, with the reason in words."""


_QUICK = msgspec.json.Decoder(_Row)


def read_block(block: Block, tokens: int) -> Read:
    """Return the documents of a block, cut into pieces of at most ``tokens`` tokens."""
    read = Read([], [], 0)
    cleaned = 0
    for line, found in _texts(block):
        if isinstance(found, str):
            read.problems.append((line, found))
            continue
        document, changed = _document(*found, tokens)
        cleaned += changed
        if document is None:
            read.problems.append((line, "no text in it"))
        else:
            read.documents.append(document)
    return msgspec.structs.replace(read, cleaned=cleaned)


def _document(title: str, text: str, tokens: int) -> tuple[Document | None, bool]:
    title, changed = clean(title.strip())
    text, also = clean(text)
    long = len(title) > LONGEST_TITLE
    if long or "\n" in title:
        title = " ".join(title[:LONGEST_TITLE].split())
    cuts: list[Cut] = cut(text, tokens)
    if not cuts:
        return None, False
    pieces = [piece.text for piece in cuts]
    digest = hashlib.blake2b("\0".join([title, *pieces]).encode(), digest_size=8).digest()
    words = sum(piece.words for piece in cuts) + count(title).words * len(cuts)
    number = int.from_bytes(digest, "big", signed=True)
    return Document(number, title, key(title), words, pieces), changed or also or long


def _texts(block: Block) -> Iterator[tuple[int, tuple[str, str] | str]]:
    """Yield (line, (title, text)), or (line, what is wrong)."""
    if block.kind == "text":
        # bytes that are no UTF-8 become lone surrogates, which cleaning replaces and counts
        yield block.first, (block.title, block.data.decode(errors="surrogateescape"))
        return
    for line, data in enumerate(block.data.split(b"\n"), block.first):
        if not data or data.isspace():
            continue
        try:
            yield line, _separated(data, block) if block.kind == "tsv" else _json(data)
        except _WrongRowError as error:
            yield line, str(error)


def _json(data: bytes) -> tuple[str, str]:
    """Read one JSON object: quickly as it mostly is, else with the words for what is wrong."""
    try:
        row = _QUICK.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _slowly(data)
    title = row.title if row.title is not None else row.wikipedia_title
    if row.individual_qa is None and row.text is not None and title is not None:
        return title, row.text
    return _slowly(data)


def _slowly(data: bytes) -> tuple[str, str]:
    try:
        row = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise _WrongRowError(f"not UTF-8 (0x{data[error.start]:02x})") from None
    except json.JSONDecodeError as error:
        raise _WrongRowError(f"wrong JSON: {error.msg}, column {error.colno}") from None
    except (ValueError, RecursionError) as error:
        raise _WrongRowError(f"wrong JSON: {str(error)[:100]}") from None
    if not isinstance(row, dict):
        raise _WrongRowError("expected an object {...}")
    if "individual_qa" in row:
        return _record(row)
    title = next((row[name] for name in TITLES if row.get(name) is not None), "")
    name = next((name for name in TEXTS if row.get(name) is not None), None)
    if name is None:
        raise _WrongRowError(f"no column {', '.join(TEXTS[:-1])} or {TEXTS[-1]}")
    text = row[name]
    if isinstance(text, list) and all(isinstance(part, str) for part in text):
        text = "\n".join(text)
    if not isinstance(text, str):
        raise _WrongRowError(f"{name} is no text")
    if isinstance(title, bool) or not isinstance(title, str | int | float):
        raise _WrongRowError("the title is no text")
    if name == "contents" and title == "":  # Pyserini's form: the title on the first line
        head, newline, rest = text.partition("\n")
        if newline and rest.strip() and len(head) <= 200:
            title, text = head.strip().strip('"'), rest
    return str(title), text


def _separated(data: bytes, block: Block) -> tuple[str, str]:
    """Read one line of a table with tabs, as DPR's: id, text, title."""
    try:
        fields = next(csv.reader([data.decode()], delimiter="\t"))
    except UnicodeDecodeError as error:
        raise _WrongRowError(f"not UTF-8 (0x{data[error.start]:02x})") from None
    except (csv.Error, StopIteration) as error:
        raise _WrongRowError(f"wrong table row: {error}") from None
    if len(fields) != len(block.columns):
        raise _WrongRowError(f"{len(fields)} fields where the head has {len(block.columns)}")
    row = dict(zip(block.columns, fields, strict=True))
    return next((row[n] for n in TITLES if n in row), ""), next(row[n] for n in TEXTS if n in row)


def _record(row: dict[str, Any]) -> tuple[str, str]:
    """Write the golds of UNCLE's record as lines, one for each aspect."""
    entity = row.get("entity")
    try:
        parts = msgspec.convert(row["individual_qa"], list[_Part])
    except msgspec.ValidationError as error:
        raise _WrongRowError(f"individual_qa: {error}") from None
    if not isinstance(entity, str) or not entity.strip():
        raise _WrongRowError("no entity beside individual_qa")
    lines = []
    for part in parts:
        values = [value for gold in part.answer if (value := _value(gold))]
        label = " ".join((part.label or part.description).split())
        if values and label:
            lines.append(f"{label} of {' '.join(entity.split())}: {'; '.join(values)}".rstrip("."))
    return entity, "".join(f"{line}.\n" for line in dict.fromkeys(lines))


def _value(gold: str | _Gold) -> str:
    """Write a gold as people do: its other names behind it, a timestamp as a date."""
    value, precision, aliases = gold, None, []
    if isinstance(gold, _Gold):
        value, precision, aliases = gold.value, gold.precision, gold.aliases
    text = " ".join(str(value).split())
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        others = "; ".join(" ".join(alias.split()) for alias in aliases)
        return f"{text} (also {others})" if others else text
    sign, year, month, day = found[1], int(found[2]), int(found[3]), int(found[4])
    # a first of January without a precision is how a bare year is written
    known = precision or ("year" if (month, day) in ((1, 1), (0, 0)) or not month else "day")
    told = f"{year}{' BC' if sign == '-' else ''}"
    if known == "year" or not 1 <= month <= 12:
        return told
    told = f"{_MONTHS[month - 1]} {told}"
    return told if known == "month" or not day else f"{day} {told}"


#: bytes of a block; bytes of the longest line
SIZE, LONGEST = 1 << 19, 1 << 26
PACKED = (".gz", ".bz2")
TEXT_KINDS = (".txt", ".md", ".markdown")
DATABASES = (".db", ".sqlite")
KINDS = (".jsonl", ".ndjson", ".json", ".parquet", ".tsv", *DATABASES, *TEXT_KINDS)
BROKEN = (OSError, EOFError, zlib.error, ValueError, sqlite3.Error)


class File(NamedTuple):
    """One file of a source: its name in the source, where it is, bytes, time of change (ns)."""

    name: str
    path: Path
    size: int
    stamp: int


class Source(NamedTuple):
    """A source: what it is called, its files in order of name, how many others were left out."""

    name: str
    files: list[File]
    ignored: int


class Piece(NamedTuple):
    """A block, or what is wrong with rows that were left out; then where the next one begins."""

    block: Block | None
    problem: tuple[int, str] | None
    row: int
    offset: int
    read: float  # bytes of the file on disk


def find(source: str | Path) -> Source:
    """Return the files of a source. Raises InputError where there is none to read."""
    if str(source) == "builtin":
        place = Path(str(resources.files("sayso").joinpath("builtin", "data", "questions.jsonl")))
        return Source("builtin", [_file("builtin", place)], 0)
    place = Path(source).expanduser()
    if "\0" in str(place) or not place.exists():
        raise InputError(
            f"knowledge source {source}: does not exist; expected a file, a folder or builtin"
        )
    place = place.resolve()
    if not place.is_dir():
        if _kind(place) is None:
            raise InputError(
                f"{place}: expected a file ending in {', '.join(KINDS)} (.jsonl and .tsv also with "
                ".gz or .bz2 behind), or a folder of such files"
            )
        return Source(_shown(place), [_file(_shown(Path(place.name)), place)], 0)
    files, ignored = [], 0
    for folder, folders, names in os.walk(place):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            path = Path(folder, name)
            kind = None if name.startswith(".") or not path.is_file() else _kind(path)
            if kind is None or (kind in DATABASES and is_index(path)):
                ignored += 1
            else:
                files.append(_file(_shown(path.relative_to(place)), path))
    if not files:
        raise InputError(f"{place}: no file in it ends in {', '.join(KINDS)}")
    return Source(_shown(place), sorted(files), ignored)


def blocks(file: File, row: int, offset: int) -> Iterator[Piece]:
    """Read a file from a row (from 1) and a position in its unpacked bytes on.

    A file that breaks off is read up to there; the last piece then has the problem.
    """
    kind = _kind(file.path) or ""
    reader = {".json": _list, ".parquet": _parquet}.get(kind, _lines)
    reader = _text if kind in TEXT_KINDS else _database if kind in DATABASES else reader
    at = (row, offset)
    try:
        for piece in reader(file, row, offset):
            at = (piece.row, piece.offset)
            yield piece
    except BROKEN as error:
        why = " ".join(str(getattr(error, "strerror", None) or error).split())[:150]
        yield Piece(None, (at[0], f"cannot be read from here on: {why}"), *at, float(file.size))


def _kind(path: Path) -> str | None:
    """Return the ending that tells how a file is read."""
    ending = path.suffix.lower()
    if ending in PACKED:
        inner = Path(path.stem).suffix.lower()
        return inner if inner in (".jsonl", ".ndjson", ".tsv") else None
    return ending if ending in KINDS else None


def _file(name: str, path: Path) -> File:
    try:
        state = path.stat()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return File(name, path, state.st_size, state.st_mtime_ns)


def _shown(path: Path) -> str:
    """Return a path as text that can be stored and printed."""
    return str(path).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _open(path: Path) -> IO[bytes]:
    if path.suffix.lower() == ".gz":
        return cast("IO[bytes]", gzip.open(path))
    return cast("IO[bytes]", bz2.open(path)) if path.suffix.lower() == ".bz2" else path.open("rb")


def _chunks(data: IO[bytes], offset: int) -> Iterator[tuple[bytes | None, int]]:
    """Yield whole lines, :data:`SIZE` bytes or a little more at once; ``None`` for one too long."""
    data.seek(offset)
    while chunk := data.read(SIZE):
        if not chunk.endswith(b"\n"):
            rest = data.readline(LONGEST)
            if len(rest) == LONGEST and not rest.endswith(b"\n"):
                head, _, _ = chunk.rpartition(b"\n")
                if head:
                    yield head + b"\n", offset + len(head) + 1
                while len(rest) and not rest.endswith(b"\n"):
                    rest = data.readline(LONGEST)
                offset = data.tell()
                yield None, offset
                continue
            chunk += rest
        offset += len(chunk)
        yield chunk, offset


def _lines(file: File, row: int, offset: int) -> Iterator[Piece]:
    """JSONL and tables with tabs, packed or not."""
    with _open(file.path) as data:
        table = _kind(file.path) == ".tsv"
        columns: tuple[str, ...] = ()
        if table:
            data.seek(0)
            head = data.readline(SIZE)
            columns = tuple(head.decode("utf-8-sig", "replace").rstrip("\r\n").split("\t"))
            if not set(columns) & set(TEXTS):
                raise ValueError(f"the first line names no column {', '.join(TEXTS)}")
            row, offset = max(row, 2), max(offset, len(head))
        for chunk, end in _chunks(data, offset):
            if chunk is None:
                problem = (row, f"a line above {LONGEST >> 20} MB")
                row += 1
                yield Piece(None, problem, row, end, _read(file, data, end))
                continue
            block = Block("tsv" if table else "lines", chunk, row, columns=columns)
            row += chunk.count(b"\n")
            yield Piece(block, None, row, end, _read(file, data, end))


def _read(file: File, data: IO[bytes], offset: int) -> float:
    """Return how many bytes of the file on disk have been read: known for a packed one too."""
    packed = getattr(data, "fileobj", None) or getattr(data, "_fp", None)
    if file.path.suffix.lower() not in PACKED or packed is None:
        return float(offset)
    return float(min(packed.tell(), file.size))


def _text(file: File, row: int, offset: int) -> Iterator[Piece]:
    """A text: its title is the name of the file, its rows are lines."""
    title = _shown(Path(file.path.stem))
    with file.path.open("rb") as data:
        for chunk, end in _chunks(data, offset):
            if chunk is None:
                yield Piece(None, (row, f"a line above {LONGEST >> 20} MB"), row + 1, end, end)
                row += 1
                continue
            chunk = chunk.removeprefix(b"\xef\xbb\xbf") if row == 1 else chunk
            block = Block("text", chunk, row, title) if chunk.strip() else None
            row += chunk.count(b"\n")
            yield Piece(block, None, row, end, end)


def _rows(found: Iterator[tuple[object, float]], row: int) -> Iterator[Piece]:
    """Put decoded rows into blocks of JSON lines; the first ``row - 1`` have been read before."""
    first, size, lines, read = row, 0, [], 0.0
    for number, (value, read) in enumerate(found, 1):
        if number < row:
            continue
        # ASCII, so that lone surrogates live until they are cleaned and counted
        lines.append(json.dumps(value, default=str).encode())
        size += len(lines[-1])
        if size >= SIZE:
            yield Piece(Block("lines", b"\n".join(lines), first), None, number + 1, 0, read)
            first, size, lines = number + 1, 0, []
    if lines:
        end = first + len(lines)
        yield Piece(Block("lines", b"\n".join(lines), first), None, end, 0, read)


def _list(file: File, row: int, offset: int) -> Iterator[Piece]:
    """A JSON file that holds one list, read piece by piece; one object is a list of one."""
    yield from _rows(_items(file.path), row)


def _items(path: Path) -> Iterator[tuple[object, float]]:
    decoder = json.JSONDecoder()
    with path.open(encoding="utf-8-sig", errors="surrogateescape") as data:
        text = data.read(SIZE).lstrip()
        single = not text.startswith("[")
        text, done = (text if single else text[1:]), False
        while not done:
            text = text.lstrip(" \t\r\n," if not single else None)
            if text.startswith("]") or (single and not text):
                return
            try:
                value, end = decoder.raw_decode(text)
            except json.JSONDecodeError as error:
                more = data.read(max(SIZE, len(text)))
                if not more or len(text) > LONGEST:
                    raise ValueError(f"wrong JSON: {error.msg}") from None
                text += more
                continue
            if end == len(text) and (more := data.read(SIZE)):  # a number may go on
                text += more
                continue
            yield value, float(os.lseek(data.fileno(), 0, os.SEEK_CUR))
            text = text[end:]


def _parquet(file: File, row: int, offset: int) -> Iterator[Piece]:
    """A Parquet file, some thousand rows at a time, only the columns that are read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def rows(source: pq.ParquetFile, columns: list[str]) -> Iterator[tuple[object, float]]:
        total = max(source.metadata.num_rows, 1)
        number = 0
        for batch in source.iter_batches(batch_size=1000, columns=columns, use_threads=False):
            for value in batch.to_pylist():
                number += 1
                yield value, file.size * number / total

    try:
        with file.path.open("rb") as data, pq.ParquetFile(data) as source:
            names = source.schema_arrow.names
            columns = [n for n in (*TITLES, *TEXTS, "individual_qa") if n in names]
            yield from _rows(rows(source, columns), row)
    except pa.ArrowException as error:
        raise ValueError(str(error)) from None


def _database(file: File, row: int, offset: int) -> Iterator[Piece]:
    """FActScore's and DrQA's database: a table ``documents`` with title (or id) and text."""
    db = sqlite3.connect(f"{file.path.as_uri()}?mode=ro", uri=True)
    try:
        names = [name for _, name, *_ in db.execute("PRAGMA table_info(documents)")]
        title = next((name for name in (*TITLES, "id") if name in names), None)
        if title is None or "text" not in names:
            raise ValueError("no table documents(title, text) in it")
        total = max(db.execute("SELECT max(rowid) FROM documents").fetchone()[0] or 1, 1)
        db.text_factory = lambda data: data.decode(errors="surrogateescape")
        found = db.execute(f'SELECT rowid, "{title}", text FROM documents ORDER BY rowid')

        def rows() -> Iterator[tuple[object, float]]:
            for number, head, text in found:
                for mark in ("####SPECIAL####SEPARATOR####", "<s>", "</s>"):  # FActScore's
                    text = text.replace(mark, "\n") if isinstance(text, str) else text
                yield {"title": head, "text": text}, file.size * number / total

        yield from _rows(rows(), row)
    finally:
        db.close()


#: the source made of the run's own gold answers
GOLDS = "golds"

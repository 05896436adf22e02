"""Knowledge sources: their files, read in blocks from any place on, and the documents in a block.

A source is a file, a folder with such files in it, or ``builtin``. Its files are read in bounded
blocks, so memory does not grow with a file; a line above :data:`LONGEST` bytes is skipped and
named. A block is all that a worker needs: bytes in, documents cut into passages out. Rows that
cannot be read are named by line and never stop the rest.

Columns: the title is ``title``, ``wikipedia_title``, ``page_title``, ``name``, ``topic`` or
``entity``, the text ``text``, ``contents``, ``content``, ``passage`` or ``body`` (a list of
sentences is joined). A row with ``individual_qa`` is a record of UNCLE (arXiv 2505.16922): its
golds become one line for each aspect, ``place of birth of Ada Lovelace: London.``
"""

from __future__ import annotations

import bz2
import csv
import gzip
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

from sayso.datasets.tables import wide_encoding
from sayso.records import InputError
from sayso.retrieval.index import is_index
from sayso.retrieval.passages import (
    LONGEST_TITLE,
    clean_passage,
    cut_passages,
)
from sayso.storage.atomic import real_path

#: the source made of the run's own gold answers
GOLDS = "golds"
TITLES = ("title", "wikipedia_title", "page_title", "name", "topic", "entity")
TEXTS = ("text", "contents", "content", "passage", "body")

# ---- the files of a source

PACKED = (".gz", ".bz2")
TEXT_KINDS = (".txt", ".md", ".markdown")
DATABASES = (".db", ".sqlite")
KINDS = (".jsonl", ".ndjson", ".json", ".parquet", ".tsv", *DATABASES, *TEXT_KINDS)


class File(NamedTuple):
    """One file of a source: its name in the source, its path, bytes, modification time (ns)."""

    name: str
    path: Path
    size: int
    stamp: int


class KnowledgeSource(NamedTuple):
    """A source: its name, its files in order of name, how many others were left out."""

    name: str
    files: list[File]
    ignored: int


def find_source(source: str | Path) -> KnowledgeSource:
    """Return the files of a source. Raises InputError where there is none to read."""
    if str(source) == "builtin":
        path = Path(str(resources.files("sayso").joinpath("builtin", "data", "questions.jsonl")))
        return KnowledgeSource("builtin", [_file("builtin", path)], 0)
    path = Path(source).expanduser()
    if "\0" in str(path) or not path.exists():
        raise InputError(
            f"knowledge source {source}: does not exist; expected a file, a folder or builtin"
        )
    path = real_path(path)
    if not path.is_dir():
        if _kind(path) is None:
            raise InputError(
                f"{path}: expected a file ending in {', '.join(KINDS)} (.jsonl and .tsv also with "
                ".gz or .bz2 behind), or a folder of such files"
            )
        return KnowledgeSource(_as_text(path), [_file(_as_text(Path(path.name)), path)], 0)
    files, ignored = [], 0
    for folder, folders, names in os.walk(path):
        indexes = {name for name in folders if is_index(Path(folder, name))}
        ignored += len(indexes)
        folders[:] = sorted(n for n in folders if not n.startswith(".") and n not in indexes)
        for name in names:
            file = Path(folder, name)
            kind = None if name.startswith(".") or not file.is_file() else _kind(file)
            if kind is None or (kind in DATABASES and is_index(file)):
                ignored += 1
            else:
                files.append(_file(_as_text(file.relative_to(path)), file))
    if not files:
        raise InputError(f"{path}: no file in it ends in {', '.join(KINDS)}")
    return KnowledgeSource(_as_text(path), sorted(files), ignored)


def _kind(path: Path) -> str | None:
    """Return the ending that decides how a file is read."""
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


def _as_text(path: Path) -> str:
    """Return a path as text that can be stored and printed."""
    return str(path).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


# ---- the blocks of a file

#: bytes of a block; bytes of the longest line
SIZE, LONGEST = 1 << 19, 1 << 26
BROKEN = (OSError, EOFError, zlib.error, ValueError, sqlite3.Error)


class SourceBlock(msgspec.Struct, frozen=True, array_like=True):
    """Some consecutive rows of a file, or a piece of a text; ``first`` counts from 1."""

    kind: Literal["lines", "tsv", "text"]
    data: bytes
    first: int = 1
    title: str = ""
    columns: tuple[str, ...] = ()


class SourcePiece(NamedTuple):
    """A block, or the problem of rows that were left out; then where the next piece begins."""

    block: SourceBlock | None
    problem: tuple[int, str] | None
    row: int
    offset: int
    read: float  # bytes of the file on disk


def read_pieces(file: File, row: int, offset: int) -> Iterator[SourcePiece]:
    """Read a file from a row (from 1) and a position in its unpacked bytes on.

    A file that breaks off is read up to there; the last piece then has the problem.
    """
    kind = _kind(file.path) or ""
    reader = {".json": _json_pieces, ".parquet": _parquet_pieces}.get(kind, _line_pieces)
    reader = _text_pieces if kind in TEXT_KINDS else reader
    reader = _database_pieces if kind in DATABASES else reader
    at = (row, offset)
    try:
        for piece in reader(file, row, offset):
            at = (piece.row, piece.offset)
            yield piece
    except BROKEN as error:
        why = " ".join(str(getattr(error, "strerror", None) or error).split())[:150]
        yield SourcePiece(
            None, (at[0], f"cannot be read from here on: {why}"), *at, float(file.size)
        )


def _line_pieces(file: File, row: int, offset: int) -> Iterator[SourcePiece]:
    """JSONL and tables with tabs, packed or not."""
    with _unpacked(file.path) as data:
        _check_encoding(data)
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
                yield SourcePiece(None, problem, row, end, _bytes_read(file, data, end))
                continue
            block = SourceBlock("tsv" if table else "lines", chunk, row, columns=columns)
            row += chunk.count(b"\n")
            yield SourcePiece(block, None, row, end, _bytes_read(file, data, end))


def _check_encoding(data: IO[bytes]) -> None:
    """Raise ValueError for a file in UTF-16 or UTF-32, whose every second byte would be text."""
    if name := wide_encoding(data.read(4)):
        raise ValueError(f"{name}, not UTF-8: save it as UTF-8")


def _unpacked(path: Path) -> IO[bytes]:
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


def _bytes_read(file: File, data: IO[bytes], offset: int) -> float:
    """Return how many bytes of the file on disk have been read; a packed file knows it too."""
    packed = getattr(data, "fileobj", None) or getattr(data, "_fp", None)
    if file.path.suffix.lower() not in PACKED or packed is None:
        return float(offset)
    return float(min(packed.tell(), file.size))


def _text_pieces(file: File, row: int, offset: int) -> Iterator[SourcePiece]:
    """A text: its title is the name of the file, its rows are lines."""
    title = _as_text(Path(file.path.stem))
    with file.path.open("rb") as data:
        _check_encoding(data)
        for chunk, end in _chunks(data, offset):
            if chunk is None:
                yield SourcePiece(
                    None, (row, f"a line above {LONGEST >> 20} MB"), row + 1, end, end
                )
                row += 1
                continue
            chunk = chunk.removeprefix(b"\xef\xbb\xbf") if row == 1 else chunk
            block = SourceBlock("text", chunk, row, title) if chunk.strip() else None
            row += chunk.count(b"\n")
            yield SourcePiece(block, None, row, end, end)


def _json_pieces(file: File, row: int, offset: int) -> Iterator[SourcePiece]:
    """A JSON file that holds one list, read piece by piece; one object is a list of one."""
    yield from _row_pieces(_json_values(file.path), row)


def _json_values(path: Path) -> Iterator[tuple[object, float]]:
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


def _parquet_pieces(file: File, row: int, offset: int) -> Iterator[SourcePiece]:
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
            if len(set(names)) < len(names):
                raise ValueError("two of its columns have one name")
            columns = [n for n in (*TITLES, *TEXTS, "individual_qa") if n in names]
            yield from _row_pieces(rows(source, columns), row)
    except pa.ArrowException as error:
        raise ValueError(str(error)) from None


def _database_pieces(file: File, row: int, offset: int) -> Iterator[SourcePiece]:
    """FActScore's and DrQA's database: a table ``documents`` with title (or id) and text."""
    db = sqlite3.connect(f"{file.path.as_uri()}?mode=ro", uri=True)
    try:
        names = [name for _, name, *_ in db.execute("PRAGMA table_info(documents)")]
        title = next((name for name in (*TITLES, "id") if name in names), None)
        if title is None or "text" not in names:
            raise ValueError("no table documents(title, text) in it")
        total = max(db.execute("SELECT max(rowid) FROM documents").fetchone()[0] or 1, 1)
        db.text_factory = lambda data: data.decode(errors="surrogateescape")
        documents = db.execute(f'SELECT rowid, "{title}", text FROM documents ORDER BY rowid')

        def rows() -> Iterator[tuple[object, float]]:
            for number, head, text in documents:
                for mark in ("####SPECIAL####SEPARATOR####", "<s>", "</s>"):  # FActScore's
                    text = text.replace(mark, "\n") if isinstance(text, str) else text
                yield {"title": head, "text": text}, file.size * number / total

        yield from _row_pieces(rows(), row)
    finally:
        db.close()


def _row_pieces(rows: Iterator[tuple[object, float]], row: int) -> Iterator[SourcePiece]:
    """Put decoded rows into blocks of JSON lines; the first ``row - 1`` have been read before."""
    first, size, lines, read = row, 0, [], 0.0
    for number, (value, read) in enumerate(rows, 1):
        if number < row:
            continue
        # ASCII, so that lone surrogates live until they are cleaned and counted
        lines.append(json.dumps(value, default=str).encode())
        size += len(lines[-1])
        if size >= SIZE:
            yield SourcePiece(
                SourceBlock("lines", b"\n".join(lines), first), None, number + 1, 0, read
            )
            first, size, lines = number + 1, 0, []
    if lines:
        end = first + len(lines)
        yield SourcePiece(SourceBlock("lines", b"\n".join(lines), first), None, end, 0, read)


# ---- the documents of a block


class Document(msgspec.Struct, frozen=True, array_like=True):
    """One document: its title and its passages."""

    title: str
    passages: list[str]


class ReadBlock(msgspec.Struct, frozen=True, array_like=True):
    """What a block held. ``problems`` has (line or row, what is wrong) of what was left out."""

    documents: list[Document]
    problems: list[tuple[int, str]]
    cleaned: int


class _WrongRowError(Exception):
    """A row that is left out, with the reason in words."""


def read_block(block: SourceBlock, tokens: int) -> ReadBlock:
    """Return the documents of a block, cut into passages of at most ``tokens`` tokens."""
    read = ReadBlock([], [], 0)
    cleaned = 0
    for line, row in _rows(block):
        if isinstance(row, str):
            read.problems.append((line, row))
            continue
        document, changed = _document(*row, tokens)
        cleaned += changed
        if document is None:
            read.problems.append((line, "no text in it"))
        else:
            read.documents.append(document)
    return msgspec.structs.replace(read, cleaned=cleaned)


def _document(title: str, text: str, tokens: int) -> tuple[Document | None, bool]:
    """Return a document, ``None`` where it has no text, and whether it had to be cleaned."""
    title, title_changed = clean_passage(title.strip())
    text, text_changed = clean_passage(text)
    long = len(title) > LONGEST_TITLE
    if long or "\n" in title:
        title = " ".join(title[:LONGEST_TITLE].split())
    passages = cut_passages(text, tokens)
    if not passages:
        return None, False
    return Document(title, passages), title_changed or text_changed or long


def _rows(block: SourceBlock) -> Iterator[tuple[int, tuple[str, str] | str]]:
    """Yield (line, (title, text)), or (line, what is wrong)."""
    if block.kind == "text":
        # bytes that are no UTF-8 become lone surrogates, which cleaning replaces and counts
        yield block.first, (block.title, block.data.decode(errors="surrogateescape"))
        return
    for line, data in enumerate(block.data.split(b"\n"), block.first):
        if not data or data.isspace():
            continue
        try:
            yield line, _table_row(data, block) if block.kind == "tsv" else _json_row(data)
        except _WrongRowError as error:
            yield line, str(error)


class _Row(msgspec.Struct):
    """The columns that most rows have; any other is skipped without a look."""

    title: str | None = None
    text: str | None = None
    contents: str | None = None
    wikipedia_title: str | None = None
    individual_qa: msgspec.Raw | None = None


_ROW = msgspec.json.Decoder(_Row)


def _json_row(data: bytes) -> tuple[str, str]:
    """Read one JSON object: quickly in its usual form, else in any form."""
    try:
        row = _ROW.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _any_json_row(data)
    title = row.title if row.title is not None else row.wikipedia_title
    if row.individual_qa is None and row.text is not None and title is not None:
        return title, row.text
    return _any_json_row(data)


def _any_json_row(data: bytes) -> tuple[str, str]:
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
        return _uncle_record(row)
    title = next((row[name] for name in TITLES if row.get(name) is not None), "")
    name = next((name for name in TEXTS if row.get(name) is not None), None)
    if name is None:
        raise _WrongRowError(f"no column {', '.join(TEXTS[:-1])} or {TEXTS[-1]}")
    text = row[name]
    if isinstance(text, list) and all(isinstance(part, str) for part in text):
        text = "\n".join(text)
    if not isinstance(text, str):
        raise _WrongRowError(f"{name} is not a text")
    if isinstance(title, bool) or not isinstance(title, str | int | float):
        raise _WrongRowError("the title is not a text")
    if name == "contents" and title == "":  # Pyserini's form: the title on the first line
        head, newline, rest = text.partition("\n")
        if newline and rest.strip() and len(head) <= 200:
            title, text = head.strip().strip('"'), rest
    return str(title), text


def _table_row(data: bytes, block: SourceBlock) -> tuple[str, str]:
    """Read one line of a table with tabs, such as DPR's: id, text, title."""
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


# ---- records of UNCLE

_TIMESTAMP = re.compile(r"([+-]?)(\d{4,})-(\d\d)-(\d\d)T\d\d:\d\d:\d\dZ")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


class _Gold(msgspec.Struct):
    value: str
    aliases: list[str] = []
    precision: str | None = None


class _SourceAspect(msgspec.Struct):
    answer: list[str | _Gold]
    description: str = ""
    label: str = ""


def _uncle_record(row: dict[str, Any]) -> tuple[str, str]:
    """Write the golds of a record as lines, one for each aspect."""
    entity = row.get("entity")
    try:
        aspects = msgspec.convert(row["individual_qa"], list[_SourceAspect])
    except msgspec.ValidationError as error:
        raise _WrongRowError(f"individual_qa: {error}") from None
    if not isinstance(entity, str) or not entity.strip():
        raise _WrongRowError("no entity beside individual_qa")
    lines = []
    for aspect in aspects:
        golds = [text for gold in aspect.answer if (text := _gold_text(gold))]
        label = " ".join((aspect.label or aspect.description).split())
        if golds and label:
            lines.append(f"{label} of {' '.join(entity.split())}: {'; '.join(golds)}".rstrip("."))
    return entity, "".join(f"{line}.\n" for line in dict.fromkeys(lines))


def _gold_text(gold: str | _Gold) -> str:
    """Write a gold as people do: its aliases behind it, a timestamp as a date."""
    if isinstance(gold, str):
        gold = _Gold(gold)
    text = " ".join(gold.value.split())
    timestamp = _TIMESTAMP.fullmatch(text)
    if timestamp is None:
        others = "; ".join(" ".join(alias.split()) for alias in gold.aliases)
        return f"{text} (also {others})" if others else text
    sign, year, month, day = timestamp[1], *map(int, timestamp.groups()[1:])
    # a first of January without a precision is how a bare year is written
    bare = (month, day) in ((1, 1), (0, 0)) or not month
    precision = gold.precision or ("year" if bare else "day")
    date = f"{year}{' BC' if sign == '-' else ''}"
    if precision == "year" or not 1 <= month <= 12:
        return date
    date = f"{_MONTHS[month - 1]} {date}"
    return date if precision == "month" or not day else f"{day} {date}"

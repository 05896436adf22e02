"""Building the index of a source: in one pass, in bounded memory, and resumable.

Whatever is committed survives a kill: passages are committed some ten thousand at a time, together
with how far their file has been read. The first build happens in ``<file>.part``, which takes its
name when it is whole. Later builds change the file in place; while they do, or after one was
killed, the index says that it is half built.

A file whose size and modification time are the same is not opened. A changed file is read again:
documents whose title and text are the same are left alone, others are added, and those that did
not occur again are removed at its end.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgspec

from sayso.processes import worker_pool
from sayso.records import InputError
from sayso.retrieval import index
from sayso.retrieval.index import Index, IndexInfo, is_index, open_index, read_info
from sayso.retrieval.sources import (
    Document,
    File,
    KnowledgeSource,
    ReadBlock,
    SourcePiece,
    find_source,
    read_block,
    read_pieces,
)

#: bytes read of the files to read, their total, passages so far in this build
Progress = Callable[[float, float, int], None]
#: seconds to wait for another process that builds what this one needs
PATIENCE = 24 * 3600.0
#: bytes of a source below which starting processes costs more than it saves
WORTH = 1 << 26


def build_index(
    source: str | Path,
    out: str | Path | None = None,
    *,
    workers: int | None = None,
    tokens: int = 256,
    progress: Progress | None = None,
    wait: float = 0.0,
) -> IndexInfo:
    """Make or update the index of a source and return what is in it.

    ``source`` is a file, a folder or ``builtin``; ``out`` the file of the index, by default one in
    the user's cache folder. ``workers`` processes read and cut beside the one that writes (0: none;
    left out: as many as the size of the source is worth). ``tokens`` is the longest passage. Waits
    ``wait`` seconds for another process that builds the same index. Raises InputError.
    """
    if not 16 <= tokens <= 8192:
        raise InputError(f"--tokens {tokens}: expected 16 to 8192")
    if workers is not None and not 0 <= workers <= 64:
        raise InputError(f"--workers {workers}: expected 0 to 64")
    files = find_source(source)
    path = index.default_path(files.name, tokens) if out is None else Path(out).expanduser()
    with index.index_errors(path):
        index.check_replaceable(path)
        info = _current_info(path, files, tokens)
        if info is not None:
            return info
        with index.build_lock(path, wait):
            info = _current_info(path, files, tokens)  # another process may have built it meanwhile
            return info or _build(files, path, workers, tokens, progress)


def opened(
    source: str | Path,
    cache_folder: str | Path | None = None,
    *,
    workers: int | None = None,
    tokens: int = 256,
    progress: Progress | None = None,
) -> Index:
    """Open the index of a source, built or updated first where needed.

    ``source`` may be the file of an index too. Waits for another process that builds it.
    """
    if str(source) != "builtin" and is_index(Path(source).expanduser()):
        return open_index(source)
    folder = None if cache_folder is None else Path(cache_folder)
    path = index.default_path(find_source(source).name, tokens, folder)
    build_index(source, path, workers=workers, tokens=tokens, progress=progress, wait=PATIENCE)
    return open_index(path)


def _current_info(path: Path, source: KnowledgeSource, tokens: int) -> IndexInfo | None:
    """Return what is in an index that needs no work; ``None`` where there is something to do."""
    if not path.exists() or not path.stat().st_size:
        return None
    db = index.open_reader(path)
    try:
        if not index.has_tables(db, path):
            return None
        state = index.read_index_state(db)
        _check_same(state, path, source, tokens)
        if not state.ready:
            return None
        done = set(db.execute("SELECT name, size, stamp FROM files WHERE state = 'done'"))
        if done != {(file.name, file.size, file.stamp) for file in source.files}:
            return None
        return msgspec.structs.replace(read_info(db, path), ignored=source.ignored)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_READONLY_ROLLBACK:  # killed while committing
            return None
        raise
    finally:
        db.close()


def _check_same(state: index.IndexState, path: Path, source: KnowledgeSource, tokens: int) -> None:
    """Refuse an index of another source, or of passages of another length."""
    if state.source != source.name:
        raise InputError(
            f"the index {path} belongs to another source ({state.source}): choose another --out"
        )
    if state.tokens != tokens:
        raise InputError(
            f"the index {path} was built with --tokens {state.tokens}: use the same, or another "
            "--out"
        )


def _build(
    source: KnowledgeSource, path: Path, workers: int | None, tokens: int, progress: Progress | None
) -> IndexInfo:
    began = time.monotonic()
    file = path if path.exists() else index.unfinished_path(path)
    db = index.open_writer(file)
    try:
        if not index.has_tables(db, file):
            index.create_tables(db, source.name, tokens)
        _check_same(index.read_index_state(db), path, source, tokens)
        writer = Writer(db)
        entries = writer.plan(source.files)
        size = sum(entry.file.size for entry in entries)
        done = 0.0
        count = default_workers(size) if workers is None else workers
        with closing(_read_entries(entries, tokens, count)) as readings:
            for entry, piece, read in readings:
                if piece is None:
                    done += entry.file.size
                    writer.end(entry)
                else:
                    writer.add(entry, piece, read)
                if progress is not None:
                    progress(done + (piece.read if piece else 0), size, writer.passages)
        writer.flush()
        _finish(db, source.name, changed=writer.changed)
        info = read_info(db, file)
    finally:
        db.close()
    if file != path:
        index.publish(file, path)
    return msgspec.structs.replace(
        info,
        path=str(path),
        bytes=path.stat().st_size,
        added=writer.added,
        removed=writer.removed,
        ignored=source.ignored,
        seconds=time.monotonic() - began,
    )


# ---- reading and cutting, in this process or in several

#: a piece of a file, its documents where it has a block; ``None`` behind the last one of a file
Reading = tuple["QueuedFile", SourcePiece | None, ReadBlock | None]


def default_workers(size: int) -> int:
    """Return how many processes to start for so many bytes: the writer keeps one core busy."""
    if size < WORTH:
        return 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min((cores or 1) - 1, 4))


def _read_entries(
    entries: list[QueuedFile], tokens: int, count: int
) -> Generator[Reading, None, None]:
    """Have every block read by ``count`` processes, or by this one; yield the results in order."""
    if not count:
        for entry, piece in _pieces(entries):
            block = piece.block if piece else None
            yield entry, piece, read_block(block, tokens) if block else None
        return
    try:
        with worker_pool(count) as pool:
            yield from _read_in_processes(entries, tokens, pool, 2 * count)
    except BrokenProcessPool:
        raise InputError(
            "a process that reads the source died (out of memory?): run the same command to "
            "resume, perhaps with fewer --workers"
        ) from None


def _read_in_processes(
    entries: list[QueuedFile], tokens: int, pool: Executor, most: int
) -> Iterator[Reading]:
    """Read ahead by ``most`` pieces."""
    waiting: deque[tuple[QueuedFile, SourcePiece | None, Future[ReadBlock] | None]] = deque()

    def take() -> Reading:
        entry, piece, future = waiting.popleft()
        return entry, piece, future.result() if future else None

    for entry, piece in _pieces(entries):
        block = piece.block if piece else None
        waiting.append((entry, piece, pool.submit(read_block, block, tokens) if block else None))
        while len(waiting) > most:
            yield take()
    while waiting:
        yield take()


def _pieces(entries: list[QueuedFile]) -> Iterator[tuple[QueuedFile, SourcePiece | None]]:
    """Yield the pieces of every file in order, and ``None`` behind each file."""
    for entry in entries:
        for piece in read_pieces(entry.file, entry.row, entry.offset):
            yield entry, piece
        yield entry, None


# ---- writing, in transactions that say how far they go

#: passages, and characters, that wait at most for a commit; documents that are removed at once
BATCH, TEXT, SLICE = 20_000, 8_000_000, 2000
#: problems that are kept word for word; all are counted
PROBLEMS = 1000
#: passages of documents, as they are indexed
_INDEXED = (
    "SELECT {0} p.id, d.title || char(10) || p.text FROM documents d "
    "JOIN passages p ON p.id >= d.id AND p.id < d.id + d.count WHERE d.id "
)


class QueuedFile(NamedTuple):
    """A file to read: its number, the turn in which it is read, and from where on."""

    number: int
    file: File
    again: bool
    turn: int
    row: int
    offset: int


class Writer:
    """The one process that writes. ``added`` and ``removed`` count documents."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.added = self.removed = self.passages = 0
        self._next = 1 + (db.execute("SELECT max(id) FROM passages").fetchone()[0] or 0)
        self._waiting: list[tuple[QueuedFile, Document]] = []
        self._places: dict[int, tuple[int, int, int, int]] = {}
        self._problems: list[tuple[int, int, str]] = []
        self._ended: list[int] = []
        self._count = self._size = 0
        self._kept = db.execute("SELECT count(*) FROM problems").fetchone()[0]
        self.changed = not index.read_index_state(db).ready

    def plan(self, files: list[File]) -> list[QueuedFile]:
        """Remove files that have vanished and return those that are to be read."""
        db = self._db
        known = {
            name: rest
            for name, *rest in db.execute(
                "SELECT name, id, size, stamp, state, turn, row, offset FROM files"
            )
        }
        entries = []
        db.execute("BEGIN IMMEDIATE")
        index.write_index_state(db, ready=0)
        for file in files:
            if file.name not in known:
                row = (file.name, file.size, file.stamp)
                number = db.execute(
                    "INSERT INTO files VALUES(NULL, ?, ?, ?, 'new', 0, 1, 0, 0, 0)", row
                ).lastrowid
                entries.append(QueuedFile(number or 0, file, False, 0, 1, 0))
                continue
            number, size, stamp, state, turn, at, offset = known.pop(file.name)
            same = (size, stamp) == (file.size, file.stamp)
            if same and state == "new":
                entries.append(QueuedFile(number, file, False, turn, at, offset))
            elif not same or state == "again":
                entries.append(QueuedFile(number, file, True, turn + 1, 1, 0))
                db.execute(
                    "UPDATE files SET size=?, stamp=?, state='again', turn=?, skipped=0, "
                    "cleaned=0 WHERE id=?",
                    (file.size, file.stamp, turn + 1, number),
                )
                db.execute("DELETE FROM problems WHERE file=?", (number,))
        if known or any(entry.again for entry in entries):
            db.execute("CREATE INDEX IF NOT EXISTS documents_file ON documents(file, digest)")
        db.execute("COMMIT")
        for number, *_ in known.values():
            self._remove(number, None)
            db.execute("BEGIN IMMEDIATE")
            db.execute("DELETE FROM problems WHERE file=?", (number,))
            db.execute("DELETE FROM files WHERE id=?", (number,))
            db.execute("COMMIT")
        return entries

    def add(self, entry: QueuedFile, piece: SourcePiece, read: ReadBlock | None) -> None:
        """Take what a piece of a file held; commit when enough waits."""
        documents = read.documents if read is not None else []
        problems = [*read.problems] if read is not None else []
        if piece.problem is not None:
            problems.append(piece.problem)
        _, _, skipped, cleaned = self._places.get(entry.number, (0, 0, 0, 0))
        cleaned += read.cleaned if read is not None else 0
        skipped += len(problems)
        self._places[entry.number] = piece.row, piece.offset, skipped, cleaned
        for line, what in problems:
            if self._kept < PROBLEMS:
                self._kept += 1
                self._problems.append((entry.number, line, what))
        self._waiting += [(entry, document) for document in documents]
        texts = list(chain.from_iterable([document.passages for document in documents]))
        self._count += len(texts)
        self._size += sum(map(len, texts))
        if self._count >= BATCH or self._size >= TEXT:
            self.flush()

    def end(self, entry: QueuedFile) -> None:
        """Note that a file has been read to its end."""
        if entry.again:
            self.flush()
            self._remove(entry.number, entry.turn)
            self._db.execute("UPDATE files SET state='done' WHERE id=?", (entry.number,))
        else:
            self._ended.append(entry.number)

    def flush(self) -> None:
        """Commit what waits, together with how far its files have been read."""
        db, first = self._db, self._next
        db.execute("BEGIN IMMEDIATE")
        documents: list[tuple[int | str, ...]] = []
        passages: list[tuple[int, str]] = []
        for entry, document in self._waiting:
            if entry.again and self._keep(entry, document):
                continue
            documents.append(
                (
                    self._next, entry.number, entry.turn, len(document.passages), document.words,
                    document.digest, document.title, document.key,
                )
            )  # fmt: skip
            passages += enumerate(document.passages, self._next)
            self._next += len(document.passages)
        db.executemany("INSERT INTO documents VALUES(?, ?, ?, ?, ?, ?, ?, ?)", documents)
        db.executemany("INSERT INTO passages VALUES(?, ?)", passages)
        # in one statement: no call for each row, and other threads run meanwhile
        db.execute(f"INSERT INTO words(rowid, text) {_INDEXED.format('')} >= ?", (first,))
        db.executemany("INSERT INTO problems VALUES(?, ?, ?)", self._problems)
        db.executemany(
            "UPDATE files SET row=?, offset=?, skipped=skipped+?, cleaned=cleaned+? WHERE id=?",
            [(*place, number) for number, place in self._places.items()],
        )
        db.executemany(
            "UPDATE files SET state='done' WHERE id=?", [(number,) for number in self._ended]
        )
        db.execute("COMMIT")
        self.added += len(documents)
        self.passages += len(passages)
        self.changed |= bool(documents)
        for waiting in (self._waiting, self._problems, self._places, self._ended):
            waiting.clear()
        self._count = self._size = 0

    def _keep(self, entry: QueuedFile, document: Document) -> bool:
        """Keep a document that was there before; one that occurs twice is kept twice."""
        row = self._db.execute(
            "SELECT id FROM documents WHERE file=? AND digest=? AND turn<? LIMIT 1",
            (entry.number, document.digest, entry.turn),
        ).fetchone()
        if row is not None:
            self._db.execute("UPDATE documents SET turn=? WHERE id=?", (entry.turn, row[0]))
        return row is not None

    def _remove(self, file: int, turn: int | None) -> None:
        """Remove the documents of a file, or those that did not occur in this turn."""
        db = self._db
        while True:
            rows = db.execute(
                "SELECT id, count FROM documents WHERE file=? AND (? IS NULL OR turn<?) LIMIT ?",
                (file, turn, turn, SLICE),
            ).fetchall()
            if not rows:
                return
            db.execute("BEGIN IMMEDIATE")
            for number, count in rows:
                db.execute(
                    "INSERT INTO words(words, rowid, text) "
                    + _INDEXED.format("'delete',") + "= ?", (number,)
                )  # fmt: skip
                db.execute(
                    "DELETE FROM passages WHERE id >= ? AND id < ?", (number, number + count)
                )
                db.execute("DELETE FROM documents WHERE id=?", (number,))
            db.execute("COMMIT")
            self.removed += len(rows)
            self.changed = True


# ---- the end of a build

#: segments of the full-text index above which they are merged
SEGMENTS = 8
#: passages below which a search counts words fast enough by itself
FEW = 50_000


def _finish(db: sqlite3.Connection, source: str, *, changed: bool) -> None:
    """Merge, count, and say that the index is whole."""
    db.execute("BEGIN IMMEDIATE")
    documents, passages, words = db.execute(
        "SELECT count(*), total(count), total(words) FROM documents"
    ).fetchone()
    skipped, cleaned = db.execute("SELECT total(skipped), total(cleaned) FROM files").fetchone()
    if not documents:
        first = db.execute(
            "SELECT name, line, what FROM problems JOIN files ON files.id = file LIMIT 1"
        ).fetchone()
        db.execute("ROLLBACK")
        why = ""
        if first is not None:
            why = f" (first of {skipped:,.0f} rows: {first[0]} line {first[1]}: {first[2]})"
        raise InputError(f"{source}: no passage in it{why}")
    segments = db.execute("SELECT count(DISTINCT segid) FROM words_idx").fetchone()[0]
    if segments > SEGMENTS:
        db.execute("INSERT INTO words(words) VALUES('optimize')")
    db.execute("CREATE INDEX IF NOT EXISTS documents_key ON documents(key)")
    if changed:
        db.execute("DELETE FROM common")
    if changed and passages >= FEW:
        db.execute("CREATE VIRTUAL TABLE temp.stems USING fts5vocab(main, words, row)")
        db.execute(
            "INSERT INTO common SELECT term, doc FROM temp.stems WHERE doc > ?", (index.COMMON,)
        )
        db.execute("DROP TABLE temp.stems")
    index.write_index_state(
        db,
        ready=1,
        documents=documents,
        passages=int(passages),
        words=int(words),
        skipped=int(skipped),
        cleaned=int(cleaned),
    )
    db.execute("COMMIT")

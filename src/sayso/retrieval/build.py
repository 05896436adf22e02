"""Building the index of a source: in one pass, in bounded memory, and on from where it stopped.

Whatever is committed survives a kill: passages are committed some ten thousand at a time together
with how far their file has been read. The first building happens in ``<file>.part``, which takes
its name when it is whole; later ones change the file in place, and while they do, or after one was
killed, the index says that it is half built.

A file whose size and time of change are the same is not opened. A changed one is read again:
documents whose title and text are the same are left alone, others are added, and those that were
not met are removed at its end.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import struct
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import IO, NamedTuple

import msgspec

from sayso.records import InputError
from sayso.retrieval import index, sources
from sayso.retrieval.index import (
    Index,
    IndexInfo,
    check_place,
    is_index,
    open_index,
    place_of,
    read_info,
)
from sayso.retrieval.sources import Block, Document, File, Piece, Read, read_block

# Reading and cutting blocks in several processes, their results in order.
#
# The processes are plain subprocesses that get and give msgpack frames: nothing is pickled, and
# a
# script that opens an index needs no ``if __name__ == "__main__"``. They end with their
# standard
# input, so a killed parent leaves none behind.

#: bytes of a source below which starting processes costs more than it saves
WORTH = 1 << 26


class Task(msgspec.Struct, frozen=True, array_like=True):
    """What a worker is asked to do."""

    block: Block
    tokens: int


def default_workers(size: int) -> int:
    """Return how many processes to start for so many bytes: the writer keeps one core busy."""
    if size < WORTH:
        return 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min((cores or 1) - 1, 4))


class Workers:
    """So many processes (0: this one alone). Give blocks with ``put``, take results in order."""

    def __init__(self, number: int, tokens: int) -> None:
        self._tokens, self._number = tokens, number
        self._waiting: deque[Future[Read] | Read] = deque()
        self._pool = ThreadPoolExecutor(number) if number else None
        self._free: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        self._all: list[subprocess.Popen[bytes]] = []
        for _ in range(number):
            self._all.append(_start())
            self._free.put(self._all[-1])

    @property
    def window(self) -> int:
        """How many blocks may wait for their turn."""
        return 2 * self._number

    def put(self, block: Block) -> None:
        """Have a block read."""
        if self._pool is None:
            self._waiting.append(read_block(block, self._tokens))
        else:
            self._waiting.append(self._pool.submit(self._ask, Task(block, self._tokens)))

    def take(self) -> Read:
        """Return the result of the block that was put first."""
        first = self._waiting.popleft()
        return first if isinstance(first, Read) else first.result()

    def _ask(self, task: Task) -> Read:
        process = self._free.get()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            _write(process.stdin, msgspec.msgpack.encode(task))
            reply = _read(process.stdout)
        except OSError:
            reply = None
        finally:
            self._free.put(process)
        if reply is None:
            raise InputError(
                "a process that reads the source ended by itself (out of memory?): run again, it "
                "goes on where it stopped, or use fewer --workers"
            )
        return msgspec.msgpack.decode(reply, type=Read)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=not any(error), cancel_futures=True)
        for process in self._all:
            if any(error):
                process.kill()
            with contextlib.suppress(OSError):
                assert process.stdin is not None
                process.stdin.close()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


def _start() -> subprocess.Popen[bytes]:
    """Start a worker in a session of its own: Ctrl-C is for the parent."""
    here = str(Path(__file__).parent.parent.parent)
    path = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-m", "sayso.retrieval.build"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
        start_new_session=True,
    )


def _write(pipe: IO[bytes], frame: bytes) -> None:
    pipe.write(struct.pack(">Q", len(frame)))
    pipe.write(frame)
    pipe.flush()


def _read(pipe: IO[bytes]) -> bytes | None:
    """Return the next frame; ``None`` where the other side has ended."""
    head = pipe.read(8)
    if len(head) < 8:
        return None
    size = struct.unpack(">Q", head)[0]
    frame = pipe.read(size)
    return frame if len(frame) == size else None


def _frames(pipe: IO[bytes]) -> Iterator[bytes]:
    while (frame := _read(pipe)) is not None:
        yield frame


def main() -> None:
    """Serve one parent until its pipe closes."""
    decoder, encoder = msgspec.msgpack.Decoder(Task), msgspec.msgpack.Encoder()
    for frame in _frames(sys.stdin.buffer):
        task = decoder.decode(frame)
        _write(sys.stdout.buffer, encoder.encode(read_block(task.block, task.tokens)))


if __name__ == "__main__":
    main()


# Writing documents into the file of an index, in transactions that say how far they go.

#: passages, and characters, that wait at most for a commit; documents that are removed at once
BATCH, TEXT, SLICE = 20_000, 8_000_000, 2000
#: problems that are kept word for word; all are counted
PROBLEMS = 1000
_INDEXED = (
    "SELECT {0} p.id, d.title || char(10) || p.text FROM documents d "
    "JOIN passages p ON p.id >= d.id AND p.id < d.id + d.count WHERE d.id "
)


class Entry(NamedTuple):
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
        self._waiting: list[tuple[Entry, Document]] = []
        self._places: dict[int, tuple[int, int, int, int]] = {}
        self._problems: list[tuple[int, int, str]] = []
        self._ended: list[int] = []
        self._pieces = self._size = 0
        self._kept = db.execute("SELECT count(*) FROM problems").fetchone()[0]
        self.changed = not index.index_state(db).ready

    def plan(self, files: list[File]) -> list[Entry]:
        """Remove what has vanished and return what is to be read."""
        db = self._db
        known = {
            name: rest
            for name, *rest in db.execute(
                "SELECT name, id, size, stamp, state, turn, row, offset FROM files"
            )
        }
        entries = []
        db.execute("BEGIN IMMEDIATE")
        index.put(db, ready=0)
        for file in files:
            if file.name not in known:
                row = (file.name, file.size, file.stamp)
                number = db.execute(
                    "INSERT INTO files VALUES(NULL, ?, ?, ?, 'new', 0, 1, 0, 0, 0)", row
                ).lastrowid
                entries.append(Entry(number or 0, file, False, 0, 1, 0))
                continue
            number, size, stamp, state, turn, at, offset = known.pop(file.name)
            same = (size, stamp) == (file.size, file.stamp)
            if same and state == "new":
                entries.append(Entry(number, file, False, turn, at, offset))
            elif not same or state == "again":
                entries.append(Entry(number, file, True, turn + 1, 1, 0))
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

    def add(self, entry: Entry, piece: Piece, read: Read | None) -> None:
        """Take what a piece of a file held; commit when enough waits."""
        documents = read.documents if read is not None else []
        problems = [*(read.problems if read is not None else [])]
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
        for document in documents:
            self._waiting.append((entry, document))
            self._pieces += len(document.pieces)
            self._size += sum(map(len, document.pieces))
        if self._pieces >= BATCH or self._size >= TEXT:
            self.flush()

    def end(self, entry: Entry) -> None:
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
            if entry.again and self._known(entry, document):
                continue
            documents.append(
                (
                    self._next, entry.number, entry.turn, len(document.pieces), document.words,
                    document.digest, document.title, document.key,
                )
            )  # fmt: skip
            passages += enumerate(document.pieces, self._next)
            self._next += len(document.pieces)
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
        self._pieces = self._size = 0

    def _known(self, entry: Entry, document: Document) -> bool:
        """Keep a document that was there before; one that is there twice is kept twice."""
        found = self._db.execute(
            "SELECT id FROM documents WHERE file=? AND digest=? AND turn<? LIMIT 1",
            (entry.number, document.digest, entry.turn),
        ).fetchone()
        if found is not None:
            self._db.execute("UPDATE documents SET turn=? WHERE id=?", (entry.turn, found[0]))
        return found is not None

    def _remove(self, file: int, turn: int | None) -> None:
        """Remove the documents of a file, or those that were not met in this turn."""
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


#: bytes read of the files to read, their total, passages so far in this build
Progress = Callable[[float, float, int], None]
#: seconds to wait for another process that builds what this one needs
PATIENCE = 24 * 3600.0
#: segments of the full-text index above which they are merged
SEGMENTS = 8
#: passages below which words are counted fast enough when they are asked for
FEW = 50_000


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
    found = sources.find(source)
    place = place_of(found.name, tokens) if out is None else Path(out).expanduser()
    with index.errors(place):
        check_place(place)
        info = _fresh(place, found, tokens)
        if info is not None:
            return info
        with index.alone(place, wait):
            info = _fresh(place, found, tokens)  # somebody else may have built it meanwhile
            return info or _build(found, place, workers, tokens, progress)


def opened(
    source: str | Path,
    cache_folder: str | Path | None = None,
    *,
    workers: int | None = None,
    tokens: int = 256,
    progress: Progress | None = None,
) -> Index:
    """Open the index of a source, built or updated first where that is needed.

    ``source`` may be the file of an index too. Waits for another process that builds it.
    """
    if str(source) != "builtin" and is_index(Path(source).expanduser()):
        return open_index(source)
    folder = None if cache_folder is None else Path(cache_folder)
    place = place_of(sources.find(source).name, tokens, folder)
    build_index(source, place, workers=workers, tokens=tokens, progress=progress, wait=PATIENCE)
    return open_index(place)


def _fresh(place: Path, found: sources.Source, tokens: int) -> IndexInfo | None:
    """Return what is in an index that needs no work; ``None`` where there is something to do."""
    if not place.exists() or not place.stat().st_size:
        return None
    db = index.reader(place)
    try:
        if not index.check(db, place):
            return None
        _same(index.index_state(db), place, found, tokens)
        if not index.index_state(db).ready:
            return None
        known = set(db.execute("SELECT name, size, stamp FROM files WHERE state = 'done'"))
        if known != {(file.name, file.size, file.stamp) for file in found.files}:
            return None
        return msgspec.structs.replace(read_info(db, place), ignored=found.ignored)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_READONLY_ROLLBACK:  # killed while committing
            return None
        raise
    finally:
        db.close()


def _same(state: index.State, place: Path, found: sources.Source, tokens: int) -> None:
    if state.source != found.name:
        raise InputError(
            f"the index {place} is of another source ({state.source}): choose another --out"
        )
    if state.tokens != tokens:
        raise InputError(
            f"the index {place} was built with --tokens {state.tokens}: use the same, or another "
            "--out"
        )


def _build(
    found: sources.Source,
    place: Path,
    workers: int | None,
    tokens: int,
    progress: Progress | None,
) -> IndexInfo:
    began = time.monotonic()
    file = place if place.exists() else index.part(place)
    db = index.writer(file)
    try:
        if not index.check(db, file):
            index.create(db, found.name, tokens)
        _same(index.index_state(db), place, found, tokens)
        writer = Writer(db)
        entries = writer.plan(found.files)
        size = sum(entry.file.size for entry in entries)
        number = default_workers(size) if workers is None else workers
        before = 0.0
        with Workers(number, tokens) as pool:
            for entry, piece, read in _results(entries, pool):
                if piece is None:
                    before += entry.file.size
                    writer.end(entry)
                else:
                    writer.add(entry, piece, read)
                if progress is not None:
                    done = before + (piece.read if piece is not None else 0)
                    progress(done, size, writer.passages)
        writer.flush()
        _finish(db, writer, found)
        info = read_info(db, file)
    finally:
        db.close()
    if file != place:
        index.take(file, place)
    return msgspec.structs.replace(
        info,
        path=str(place),
        bytes=place.stat().st_size,
        added=writer.added,
        removed=writer.removed,
        ignored=found.ignored,
        seconds=time.monotonic() - began,
    )


def _results(
    entries: list[Entry], pool: Workers
) -> Iterator[tuple[Entry, sources.Piece | None, Read | None]]:
    """Have every block read; yield what was found in order, and ``None`` behind each file."""
    waiting: deque[tuple[Entry, sources.Piece | None]] = deque()

    def first() -> tuple[Entry, sources.Piece | None, Read | None]:
        entry, piece = waiting.popleft()
        return entry, piece, pool.take() if piece is not None and piece.block else None

    for entry in entries:
        for piece in sources.blocks(entry.file, entry.row, entry.offset):
            if piece.block is not None:
                pool.put(piece.block)
            waiting.append((entry, piece))
            while len(waiting) > pool.window:
                yield first()
        waiting.append((entry, None))
    while waiting:
        yield first()


def _finish(db: sqlite3.Connection, writer: Writer, found: sources.Source) -> None:
    """Merge, count, and say that the index is whole."""
    db.execute("BEGIN IMMEDIATE")
    total = db.execute("SELECT count(*), total(count), total(words) FROM documents").fetchone()
    rows = db.execute("SELECT total(skipped), total(cleaned) FROM files").fetchone()
    if not total[0]:
        told = db.execute(
            "SELECT name, line, what FROM problems JOIN files ON files.id = file LIMIT 1"
        ).fetchone()
        db.execute("ROLLBACK")
        first = ""
        if told is not None:
            first = f" (first of {rows[0]:,.0f} rows: {told[0]} line {told[1]}: {told[2]})"
        raise InputError(f"{found.name}: no passage in it{first}")
    segments = db.execute("SELECT count(DISTINCT segid) FROM words_idx").fetchone()[0]
    if segments > SEGMENTS:
        db.execute("INSERT INTO words(words) VALUES('optimize')")
    db.execute("CREATE INDEX IF NOT EXISTS documents_key ON documents(key)")
    if writer.changed:
        db.execute("DELETE FROM common")
    if writer.changed and total[1] >= FEW:
        db.execute("CREATE VIRTUAL TABLE temp.stems USING fts5vocab(main, words, row)")
        db.execute(
            "INSERT INTO common SELECT term, doc FROM temp.stems WHERE doc > ?", (index.COMMON,)
        )
        db.execute("DROP TABLE temp.stems")
    index.put(
        db,
        ready=1,
        documents=total[0],
        passages=int(total[1]),
        words=int(total[2]),
        skipped=int(rows[0]),
        cleaned=int(rows[1]),
    )
    db.execute("COMMIT")

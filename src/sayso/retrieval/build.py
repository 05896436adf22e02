"""Building the index of a source: in one pass, in bounded memory, and resumable.

Whatever is committed survives a kill: passages are committed some ten thousand at a time, together
with how far their file has been read. The first build happens in ``<folder>.part``, which takes its
name when it is whole. Later builds change the folder in place; while they do, or after one was
killed, the index says that it is half built.

A file whose size and modification time are the same is not opened. The passages of a changed file
are removed, and it is read again.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from sayso.processes import worker_pool
from sayso.records import InputError
from sayso.retrieval import index
from sayso.retrieval.index import FileState, Index, IndexInfo, IndexState, is_index, open_index
from sayso.retrieval.sources import (
    File,
    KnowledgeSource,
    ReadBlock,
    SourcePiece,
    find_source,
    read_block,
    read_pieces,
)

if TYPE_CHECKING:
    import tantivy

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
    if not path.exists():
        return None
    whole, files = index.states_of(index.open_tantivy(path), path)
    if whole is None:
        return None
    _check_same(whole, path, source, tokens)
    done = {(file.name, file.size, file.stamp) for file in files if file.done}
    if not whole.ready or done != {(file.name, file.size, file.stamp) for file in source.files}:
        return None
    return msgspec.structs.replace(index.info_of(whole, files, path), ignored=source.ignored)


def _check_same(state: IndexState, path: Path, source: KnowledgeSource, tokens: int) -> None:
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
    folder = path if path.exists() else index.unfinished_path(path)
    opened = index.open_tantivy(folder, create=not is_index(folder))
    whole, files = index.states_of(opened, folder)
    whole = whole or IndexState(source.name, tokens)
    _check_same(whole, path, source, tokens)
    writer = Writer(opened, whole, {file.name: file for file in files})
    entries = writer.plan(source.files)
    size = sum(entry.file.size for entry in entries)
    done = 0.0
    count = default_workers(size) if workers is None else workers
    with closing(_read_entries(entries, tokens, count)) as readings:
        for entry, piece, read in readings:
            if piece is None:
                done += entry.file.size
                writer.end(entry.file.name)
            else:
                writer.add(entry.file.name, piece, read)
            if progress is not None:
                progress(done + (piece.read if piece else 0), size, writer.passages)
    writer.finish()
    if folder != path:
        index.publish(folder, path)
    info = index.info_of(whole, sorted(writer.states.values(), key=lambda one: one.name), path)
    return msgspec.structs.replace(
        info,
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


# ---- writing, in commits that say how far they go

#: passages, and characters, that wait at most for a commit
BATCH, TEXT = 50_000, 40_000_000
#: bytes of memory of tantivy's one thread that writes: with one, passages keep their order
MEMORY = 128_000_000


class QueuedFile(NamedTuple):
    """A file to read, and from where on."""

    file: File
    row: int
    offset: int


class Writer:
    """The one process that writes. ``added`` and ``removed`` count documents."""

    def __init__(
        self, opened: tantivy.Index, whole: IndexState, states: Mapping[str, FileState]
    ) -> None:
        self._opened, self._whole = opened, whole
        self.states = dict(states)
        self._writer = opened.writer(MEMORY, 1)
        self._touched: set[str] = set()
        self._waiting = self._size = 0
        self.added = self.removed = self.passages = 0

    def plan(self, files: list[File]) -> list[QueuedFile]:
        """Remove files that have vanished or changed; return those that are to be read."""
        known = {file.name: file for file in files}
        for name, state in list(self.states.items()):
            file = known.get(name)
            if file is None or (file.size, file.stamp) != (state.size, state.stamp):
                self._writer.delete_documents_by_term(index.FILE, name)
                self._writer.delete_documents_by_term(index.STATE, f"file:{name}")
                self.removed += state.documents
                del self.states[name]
        for file in files:
            if file.name not in self.states:
                self.states[file.name] = FileState(file.name, file.size, file.stamp)
        self._commit(ready=False)
        states = ((file, self.states[file.name]) for file in files)
        return [QueuedFile(file, s.row, s.offset) for file, s in states if not s.done]

    def add(self, name: str, piece: SourcePiece, read: ReadBlock | None) -> None:
        """Take what a piece of a file held; commit when enough waits."""
        from tantivy import Document

        state = self.states[name]
        documents = read.documents if read is not None else []
        problems = [*read.problems] if read is not None else []
        if piece.problem is not None:
            problems.append(piece.problem)
        number = state.passages
        for document in documents:
            for text in document.passages:
                made = Document()
                made.add_text(index.WORDS, f"{document.title}\n{text}")
                for form in index.title_forms(document.title):
                    made.add_text(index.TITLE, form)
                made.add_text(index.FILE, name)
                kept = msgspec.msgpack.encode((document.title, text, name, number))
                made.add_bytes(index.KEPT, kept)
                self._writer.add_document(made)
                number += 1
                self._size += len(text)
        self._waiting += number - state.passages
        self.passages += number - state.passages
        self.added += len(documents)
        self._touched.add(name)
        self.states[name] = msgspec.structs.replace(
            state,
            row=piece.row,
            offset=piece.offset,
            documents=state.documents + len(documents),
            passages=number,
            skipped=state.skipped + len(problems),
            cleaned=state.cleaned + (read.cleaned if read is not None else 0),
            problems=(*state.problems, *problems)[: index.SHOWN],
        )
        if self._waiting >= BATCH or self._size >= TEXT:
            self._commit(ready=False)

    def end(self, name: str) -> None:
        """Note that a file has been read to its end."""
        self.states[name] = msgspec.structs.replace(self.states[name], done=True)
        self._touched.add(name)

    def finish(self) -> None:
        """Commit, and say that the index is whole. Raises InputError where it has no passage."""
        passages = sum(state.passages for state in self.states.values())
        self._commit(ready=bool(passages))
        self._writer.wait_merging_threads()
        if not passages:
            named = [s for s in self.states.values() if s.problems]
            skipped = sum(state.skipped for state in self.states.values())
            why = ""
            if named:
                line, what = named[0].problems[0]
                why = f" (first of {skipped:,} rows: {named[0].name} line {line}: {what})"
            raise InputError(f"{self._whole.source}: no passage in it{why}")

    def _commit(self, *, ready: bool) -> None:
        """Commit what waits, together with how far its files have been read."""
        self._keep(index.WHOLE, msgspec.structs.replace(self._whole, ready=ready))
        for name in sorted(self._touched):
            self._keep(f"file:{name}", self.states[name])
        self._writer.commit()
        self._touched.clear()
        self._waiting = self._size = 0

    def _keep(self, name: str, state: IndexState | FileState) -> None:
        """Write a state in place of the one before it."""
        from tantivy import Document

        self._writer.delete_documents_by_term(index.STATE, name)
        made = Document()
        made.add_text(index.STATE, name)
        if isinstance(state, FileState):
            made.add_text(index.STATE, index.EVERY)
        made.add_bytes(index.KEPT, msgspec.msgpack.encode(state))
        self._writer.add_document(made)

"""The live store: every reply of a model, by the hash of what was asked.

A reply is *acknowledged* when it is committed, and from then on nothing loses it: not kill -9, not
another process. Replies are committed in batches: when ``batch`` of them wait, when ``pause``
seconds have passed since the last commit, and on ``commit()`` and ``close()``.

Which replies are kept: those without a problem, and ``truncated`` ones, which are what the model
said (asking them again until they end would choose among its draws). Every other problem is a
request that failed: the next run asks again. That includes ``context``, which costs no tokens to
find again and depends on a server's window, which is not in the key.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import msgspec

from sayso.cachefile import (
    DamagedError,
    checksum,
    connect,
    disk_error,
    hold,
    sound,
    sqlite_errors,
)
from sayso.records import Generation, InputError, Request
from sayso.replies import decode, encode, merge, unbind
from sayso.salvage import salvage

FILE_NAME = "replies.sqlite"
KEPT_PROBLEMS = frozenset({"truncated"})
CHUNK = 500  # keys in one query
T = TypeVar("T")


def default_cache_folder() -> Path:
    """Return ``SAYSO_CACHE``, else sayso's folder among the user's caches on this platform."""
    if chosen := os.environ.get("SAYSO_CACHE"):
        return Path(chosen).expanduser()
    try:
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "sayso"
        if sys.platform == "win32":
            local = os.environ.get("LOCALAPPDATA")
            return (Path(local) if local else Path.home() / "AppData" / "Local") / "sayso"
        xdg = os.environ.get("XDG_CACHE_HOME", "")
        return (Path(xdg) if Path(xdg).is_absolute() else Path.home() / ".cache") / "sayso"
    except RuntimeError:
        raise InputError(
            "no home folder to keep the cache in: set SAYSO_CACHE to a folder, or use --cache DIR"
        ) from None


class Cache:
    """Replies on disk, shared by runs and safe for several processes at once.

    ``path`` is a folder (the file is ``replies.sqlite`` in it) or a file ending in ``.sqlite``;
    ``None`` is :func:`default_cache_folder`. ``wait`` is how many seconds to wait for a lock.
    ``notices`` holds what the user should be told: damage, salvage, a network file system.
    Raises :class:`InputError` for a file that cannot be used, a full disk, a lock that stays.
    """

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        wait: float = 30.0,
        batch: int = 256,
        pause: float = 1.0,
    ) -> None:
        place = Path(path) if path is not None else default_cache_folder()
        self.path = place if place.suffix == ".sqlite" else place / FILE_NAME
        self.notices: list[str] = []
        self.damaged_rows = 0
        self._wait, self._batch, self._pause = wait, batch, pause
        self._pending: dict[bytes, Generation] = {}
        self._last_commit = time.monotonic()
        self._db: sqlite3.Connection | None = None
        self._lock: int | None = None
        self._inode: int | None = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise disk_error(error, self.path) from error
        self._open()

    def get_many(self, keys: Iterable[bytes] | Mapping[bytes, Request]) -> dict[bytes, Generation]:
        """Return the replies that are known, uncommitted ones included.

        A reply comes without its request (empty messages) and without what a run adds; given a
        mapping of keys to requests, each reply carries the request. Damaged rows are absent.
        """
        requests = keys if isinstance(keys, Mapping) else {}
        wanted = list(dict.fromkeys(keys))
        found = {key: self._pending[key] for key in wanted if key in self._pending}
        asked = [key for key in wanted if key not in found]
        found |= self._run(lambda db: self._read(db, asked)) if asked else {}
        return {
            key: msgspec.structs.replace(found[key], request=requests[key])
            if key in requests
            else found[key]
            for key in wanted
            if key in found
        }

    def put(self, key: bytes, generation: Generation) -> None:
        """Keep a reply, soon: it is acknowledged at the next commit.

        An existing reply is replaced only by one with more arrays (:func:`merge`); a reply with
        a problem other than ``truncated`` is not kept.
        """
        if generation.problem is not None and generation.problem not in KEPT_PROBLEMS:
            return
        reply = unbind(generation)
        waiting = self._pending.get(key)
        reply = reply if waiting is None else merge(waiting, reply) or waiting
        self._pending[key] = reply
        late = time.monotonic() - self._last_commit >= self._pause
        if late or len(self._pending) >= self._batch:
            self.commit()

    def commit(self) -> None:
        """Write the waiting replies; when this returns they are safe."""
        if self._pending:
            if not self._in_place():
                self._close_file()
                self._open()
            self._run(self._write)
            self._pending.clear()
        self._last_commit = time.monotonic()

    def close(self) -> None:
        """Commit and let go of the file. Closing twice does nothing."""
        try:
            if self._db is not None:
                self.commit()
        finally:
            self._close_file()

    def __enter__(self) -> Cache:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _run(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """Do something with the file; once more after salvaging it, if it turns out damaged."""
        for _ in range(2):
            if self._db is None:
                raise ValueError("this cache is closed")
            try:
                with sqlite_errors(self.path, self._wait):
                    return action(self._db)
            except DamagedError:
                self._heal()
        raise InputError(
            f"the cache {self.path} is damaged beyond repair: delete it, or choose another folder "
            "with --cache DIR"
        )

    def _read(self, db: sqlite3.Connection, keys: list[bytes]) -> dict[bytes, Generation]:
        found: dict[bytes, Generation] = {}
        for key, crc, data in rows_of(db, keys):
            reply = decode(data) if sound(key, crc, data) else None
            if reply is None:
                self._count_damage()
            else:
                found[key] = reply
        return found

    def _write(self, db: sqlite3.Connection) -> None:
        db.execute("BEGIN IMMEDIATE")
        try:
            known = self._read(db, list(self._pending))
            rows = []
            for key, new in self._pending.items():
                reply = merge(known[key], new) if key in known else new
                if reply is not None:
                    data = encode(reply)
                    rows.append((key, checksum(key, data), data))
            db.executemany(
                "INSERT INTO replies(key, crc, reply) VALUES(?, ?, ?) "
                "ON CONFLICT(key) DO UPDATE SET crc=excluded.crc, reply=excluded.reply",
                rows,
            )
            # A damaged index takes a row and never finds it again: look before acknowledging.
            if sum(sound(*row) for row in rows_of(db, [row[0] for row in rows])) < len(rows):
                raise DamagedError("a row that was written is not found")
            db.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                db.execute("ROLLBACK")
            raise

    def _count_damage(self) -> None:
        told = f"damaged replies in the cache {self.path}, asked again:"
        self.damaged_rows += 1
        self.notices[:] = [notice for notice in self.notices if not notice.startswith(told)]
        self.notices.append(f"{told} {self.damaged_rows}")

    def _in_place(self) -> bool:
        """False when somebody deleted or replaced the file under us."""
        try:
            return self.path.stat().st_ino == self._inode
        except OSError:
            return False

    def _open(self) -> None:
        for _ in range(3):
            self._lock = hold(self.path, alone=False, wait=self._wait)
            try:
                self._db, notice = connect(self.path, self._wait)
                self._inode = self.path.stat().st_ino
            except DamagedError:
                self._inode = self.path.stat().st_ino
                self._heal(reopen=False)
            except BaseException:
                self._close_file()
                raise
            else:
                if notice and notice not in self.notices:
                    self.notices.append(notice)
                return
        raise InputError(f"the cache {self.path} cannot be opened: delete it and run again")

    def _heal(self, *, reopen: bool = True) -> None:
        """Salvage the file, unless another process did it while we waited for the lock."""
        self._close_file()
        self._lock = hold(self.path, alone=True, wait=self._wait)
        try:
            if self._in_place():
                self.notices.append(salvage(self.path))
        finally:
            self._close_file()
        if reopen:
            self._open()

    def _close_file(self) -> None:
        if self._db is not None:
            with contextlib.suppress(sqlite3.Error):
                self._db.close()
            self._db = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def rows_of(db: sqlite3.Connection, keys: list[bytes]) -> Iterator[tuple[bytes, int, bytes]]:
    """Yield the stored rows of some keys, unchecked: key, checksum, compressed reply."""
    for start in range(0, len(keys), CHUNK):
        chunk = keys[start : start + CHUNK]
        marks = ",".join("?" * len(chunk))
        yield from db.execute(f"SELECT key, crc, reply FROM replies WHERE key IN ({marks})", chunk)

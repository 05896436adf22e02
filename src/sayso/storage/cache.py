"""The cache: every reply of a model, by the hash of its request.

A reply is *acknowledged* when it is committed, and from then on nothing loses it: not kill -9, not
another process. Replies are committed in batches: when ``batch`` of them wait, ``pause`` seconds
after the first of them came, whether or not another follows, and on ``commit()`` and ``close()``.

Which replies are kept: those without a problem, and ``truncated`` ones, which are what the model
said (asking them again until they end would choose among its draws). Every other problem is a
request that failed: the next run asks again. That includes ``context``, which costs no tokens to
find again and depends on a server's window, which is not in the key.

A reply is stored with its :class:`ReplyOrigin`: when it was given, and by which address. One that
is asked for anew takes the place of the old one, which is set aside under a key made of its own
(:func:`aside_key`) and can still be read (:meth:`Cache.aside`).

Every process holds a shared lock on ``<file>.lock`` while it has the file open. Salvaging takes the
lock alone, because SQLite deletes write-ahead logs by name: replacing a database under a living
connection could delete the log of its successor.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import msgspec

from sayso.records import EMPTY_TEXT, Generation, InputError, Request, content_hash, room_of
from sayso.storage.atomic import (
    NO_LINK,
    full_disk_line,
    is_full,
    make_private,
    real_path,
    system_reason,
    wait_for_lock,
)

FILE_NAME = "replies.sqlite"
KEPT_PROBLEMS = frozenset({"truncated"})
CHUNK = 500  # keys in one query
ALL_KEYS = "SELECT key FROM replies"
T = TypeVar("T")
Row = tuple[bytes, int, bytes]  # key, checksum, compressed reply


class ReplyOrigin(msgspec.Struct, frozen=True, array_like=True):
    """When a reply was given, in seconds since 1970, and by which address; "": on this machine."""

    given: float
    address: str = ""


class StoredReply(NamedTuple):
    """A reply and its origin; ``None`` where an earlier version stored it without one."""

    reply: Generation
    origin: ReplyOrigin | None = None

    def before(self, since: float | None) -> bool:
        """Tell whether it was given before a time, or at an unknown one; ``None``: never."""
        return since is not None and (self.origin is None or self.origin.given < since)


class _Waiting(NamedTuple):
    """A reply that waits to be written; what was given before ``since`` is set aside for it."""

    stored: StoredReply
    since: float | None = None


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
            "no home folder to keep the cache in: set SAYSO_CACHE to a folder, or pass --set "
            "cache=DIR"
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
        batch: int = 64,
        pause: float = 0.5,
    ) -> None:
        place = Path(path) if path is not None else default_cache_folder()
        self.path = place if place.suffix == ".sqlite" else place / FILE_NAME
        self.notices: list[str] = []
        self.damaged_rows = 0
        self._whole = False  # whether the file was searched for damage, and only rows were damaged
        self._wait, self._batch, self._pause = wait, batch, pause
        self._pending: dict[bytes, _Waiting] = {}
        self._guard = threading.RLock()
        self._timer: threading.Timer | None = None
        self._late: InputError | None = None
        self._db: sqlite3.Connection | None = None
        self._lock: int | None = None
        self._inode: int | None = None
        for suffix in OURS:
            if Path(f"{self.path}{suffix}").is_symlink():
                raise InputError(
                    f"the cache {self.path}{suffix} is a symbolic link, and sayso follows none "
                    "there: remove it, or choose another folder with --set cache=DIR"
                )
        try:
            make_private(self.path.parent)
        except OSError as error:
            raise disk_error(error, self.path) from error
        self._open()

    def get_many(self, keys: Iterable[bytes] | Mapping[bytes, Request]) -> dict[bytes, Generation]:
        """Return the replies that are known, uncommitted ones included.

        A reply comes without its request (empty messages) and without what a run adds; given a
        mapping of keys to requests, each reply carries the request. Damaged rows are absent.
        """
        requests = keys if isinstance(keys, Mapping) else {}
        return {
            key: msgspec.structs.replace(stored.reply, request=requests[key])
            if key in requests
            else stored.reply
            for key, stored in self.get_stored(keys).items()
        }

    def get_stored(self, keys: Iterable[bytes]) -> dict[bytes, StoredReply]:
        """Return the replies that are known, with their origins and without their requests."""
        wanted = list(dict.fromkeys(keys))
        with self._guard:
            known = {key: self._pending[key].stored for key in wanted if key in self._pending}
            rest = [key for key in wanted if key not in known]
            known |= self._run(lambda db: self._read(db, rest)) if rest else {}
        return {key: known[key] for key in wanted if key in known}

    def origins(self, keys: Iterable[bytes]) -> dict[bytes, ReplyOrigin | None]:
        """Return the origins of those keys of which there is a reply; it is not read."""
        wanted = list(dict.fromkeys(keys))
        with self._guard:
            found = {k: self._pending[k].stored.origin for k in wanted if k in self._pending}
            rest = [key for key in wanted if key not in found]
            return found | self._run(
                lambda db: {key: reply_origin(head) for key, head in reply_heads(db, rest)}
            )

    def aside(self, key: bytes) -> list[StoredReply]:
        """Return the replies to the same request that are not used, in the order they came in."""
        found: list[StoredReply] = []
        with self._guard:
            self.commit()
            while True:
                place = aside_key(key, len(found))
                more = self._run(partial(self._read, keys=[place]))
                if place not in more:
                    return found
                found.append(more[place])

    @property
    def filled(self) -> bool:
        """Whether there is any reply."""
        some = "SELECT 1 FROM replies LIMIT 1"
        with self._guard:
            return bool(self._pending or self._run(lambda db: db.execute(some).fetchone()))

    def keys(self) -> set[bytes]:
        """Return the keys of all replies that are committed, those set aside included."""
        with self._guard:
            return set(self._run(lambda db: [key for (key,) in db.execute(ALL_KEYS)]))

    def put(self, key: bytes, generation: Generation, origin: ReplyOrigin | None = None) -> None:
        """Keep a reply, soon: see :meth:`put_together`."""
        self.put_together({key: generation}, origin)

    def put_together(
        self,
        replies: Mapping[bytes, Generation],
        origin: ReplyOrigin | None = None,
        since: float | None = None,
    ) -> None:
        """Keep replies, soon: all of them are acknowledged by one commit, or none.

        An existing reply is replaced only by one with more arrays (:func:`merge_replies`), but one
        that was given before ``since`` is set aside for the new one. A reply with a problem other
        than ``truncated`` is not kept.
        """
        with self._guard:
            for key, generation in replies.items():
                if generation.problem is None or generation.problem in KEPT_PROBLEMS:
                    new = StoredReply(unbind(generation), origin)
                    waiting = self._pending.get(key)
                    if waiting is not None and waiting.stored.before(since):
                        self.commit()
                    elif waiting is not None:
                        new = merged(waiting.stored, new) or waiting.stored
                    self._pending[key] = _Waiting(new, since)
            if self._late is not None or len(self._pending) >= self._batch or self._pause <= 0:
                self.commit()
            elif self._pending and self._timer is None:
                seconds = min(self._pause, threading.TIMEOUT_MAX)
                self._timer = threading.Timer(seconds, self._commit_late)
                self._timer.daemon = True
                self._timer.start()

    def set_aside(self, key: bytes, generation: Generation, origin: ReplyOrigin) -> None:
        """Keep a further reply to a request whose reply stays in use; when this returns it is safe.

        One that failed is not kept.
        """
        if generation.problem is None or generation.problem in KEPT_PROBLEMS:
            stored = StoredReply(unbind(generation), origin)
            with self._guard:
                self.commit()
                self._run(lambda db: self._write(db, {}, {key: stored}))

    def commit(self) -> None:
        """Write the waiting replies; when this returns they are safe."""
        with self._guard:
            self._stop_timer()
            if self._pending:
                if not self._in_place():
                    self._close_file()
                    self._open()
                self._run(lambda db: self._write(db, self._pending))
                self._pending.clear()
            self._late = None

    def _commit_late(self) -> None:
        """Commit in the timer's thread; what goes wrong there is raised by the next call."""
        with self._guard:
            if self._timer is threading.current_thread():
                try:
                    self.commit()
                except InputError as error:
                    self._late = error

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def close(self) -> None:
        """Commit and close the file. Closing twice does nothing."""
        with self._guard:
            try:
                if self._db is not None:
                    self.commit()
            finally:
                self._stop_timer()
                self._close_file()

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *error: object) -> None:
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
            "with --set cache=DIR"
        )

    def _read(self, db: sqlite3.Connection, keys: list[bytes]) -> dict[bytes, StoredReply]:
        replies: dict[bytes, StoredReply] = {}
        for key, crc, data in stored_rows(db, keys):
            reply = decode_reply(data) if sound(key, crc, data) else None
            if reply is None:
                self._count_damage(db)
            else:
                replies[key] = StoredReply(reply, reply_origin(data))
        return replies

    def _write(
        self,
        db: sqlite3.Connection,
        waiting: Mapping[bytes, _Waiting],
        aside: Mapping[bytes, StoredReply] = MappingProxyType({}),
    ) -> None:
        """Write what waits, and beside it replies that are not to be used. All or nothing."""
        db.execute("BEGIN IMMEDIATE")
        try:
            known = self._read(db, list(waiting))
            rows, old = [], list(aside.items())
            for key, (new, since) in waiting.items():
                before: StoredReply | None = known.get(key)
                if before is not None and before.before(since):
                    old.append((key, before))
                    before = None
                stored = new if before is None else merged(before, new)
                if stored is not None:
                    rows.append(reply_row(key, stored))
            _put(db, rows)
            for key, stored in old:  # one by one: the next of this key finds its place taken
                rows.append(reply_row(_free_place(db, key), stored))
                _put(db, rows[-1:])
            # A damaged index takes a row and never finds it again: look before acknowledging.
            if sum(sound(*row) for row in stored_rows(db, [row[0] for row in rows])) < len(rows):
                raise DamagedError("a row that was written is not found")
            db.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                db.execute("ROLLBACK")
            raise

    def _count_damage(self, db: sqlite3.Connection) -> None:
        """Count a reply that is not what was written, if that is all there is to it.

        Raises DamagedError if the tables are damaged too. An index entry that leads to the row of
        another key looks the same, and a reply written there would replace the other one.
        """
        if not self._whole:
            if db.execute("PRAGMA integrity_check(1)").fetchall() != [(b"ok",)]:
                raise DamagedError("an index or a page is damaged")
            self._whole = True
        text = f"damaged replies in the cache {self.path}, asked again:"
        self.damaged_rows += 1
        self.notices[:] = [notice for notice in self.notices if not notice.startswith(text)]
        self.notices.append(f"{text} {self.damaged_rows}")

    def _in_place(self) -> bool:
        """Tell whether the file is still the one that was opened."""
        try:
            return self.path.stat().st_ino == self._inode
        except OSError:
            return False

    def _open(self) -> None:
        for _ in range(3):
            self._lock = hold(self.path, alone=False, wait=self._wait)
            try:
                self._db, notice = open_cache_file(self.path, self._wait)
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


def stored_rows(db: sqlite3.Connection, keys: list[bytes]) -> Iterator[Row]:
    """Yield the stored rows of some keys, unchecked: key, checksum, compressed reply."""
    return _selected(db, "key, crc, reply", keys)


def reply_heads(db: sqlite3.Connection, keys: list[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield those of some keys that are stored, each with the beginning of its row."""
    return _selected(db, f"key, substr(reply, 1, {HEAD})", keys)


def reply_row(key: bytes, stored: StoredReply) -> Row:
    """Return the row of a reply."""
    data = encode_reply(stored.reply, stored.origin)
    return key, checksum(key, data), data


def _put(db: sqlite3.Connection, rows: Sequence[Row]) -> None:
    db.executemany(
        "INSERT INTO replies(key, crc, reply) VALUES(?, ?, ?) "
        "ON CONFLICT(key) DO UPDATE SET crc=excluded.crc, reply=excluded.reply",
        rows,
    )


def aside_key(key: bytes, number: int) -> bytes:
    """Return the key of the n-th reply that was set aside for a request, from 0."""
    return content_hash(["aside", key.hex(), number])


def _free_place(db: sqlite3.Connection, key: bytes) -> bytes:
    number = 0
    while any(_selected(db, "key", [aside_key(key, number)])):
        number += 1
    return aside_key(key, number)


def _selected(db: sqlite3.Connection, columns: str, keys: list[bytes]) -> Iterator[Any]:
    for start in range(0, len(keys), CHUNK):
        chunk = keys[start : start + CHUNK]
        marks = ",".join("?" * len(chunk))
        yield from db.execute(f"SELECT {columns} FROM replies WHERE key IN ({marks})", chunk)


# ---- a stored reply: the reply alone, exactly
#
# MessagePack, compressed where it is long; compressed JSON where MessagePack cannot say it (lone
# surrogates, huge integers), and in the files of earlier versions. The first byte tells them apart:
# a compressed reply begins with a "x", JSON with a "{", and no reply in MessagePack does. An origin
# stands before it: "@", a byte with its length, and MessagePack.

ARRAYS = (
    "token_ids", "offsets", "logprobs", "entropies", "margins", "self_certainty", "renyi",
    "alternatives",
)  # fmt: skip
NOTHING = Request(messages=())
PLAIN = 4000  # bytes that fit on a page with the rest of their row: compressing them saves no disk
COMPRESSED, OBJECT, GIVEN = b"x", b"{", b"@"
HEAD = 257  # bytes within which an origin ends
PACK = msgspec.msgpack.Encoder()
UNPACK = msgspec.msgpack.Decoder(Generation)
ORIGIN = msgspec.msgpack.Decoder(ReplyOrigin)
DECODER = msgspec.json.Decoder(Generation)


def unbind(generation: Generation) -> Generation:
    """Return the reply alone: without the request and without what a run added to it."""
    return msgspec.structs.replace(
        generation,
        request=NOTHING, id="", question="", stage="", form="", method="", instructed=False,
    )  # fmt: skip


def encode_reply(generation: Generation, origin: ReplyOrigin | None = None) -> bytes:
    """Return the bytes of a reply, exactly: NaN and lone surrogates included."""
    head = b""
    if origin is not None:
        told = PACK.encode(
            ReplyOrigin(origin.given, origin.address[:200].encode("ascii", "replace").decode())
        )
        head = GIVEN + bytes([len(told)]) + told
    try:
        data = PACK.encode(generation)
    except (UnicodeEncodeError, OverflowError):
        text = json.dumps(msgspec.to_builtins(generation), separators=(",", ":"))
        return head + zlib.compress(text.encode(), 1)
    return head + (data if len(data) <= PLAIN else zlib.compress(data, 1))


def reply_origin(data: bytes) -> ReplyOrigin | None:
    """Return the origin at the beginning of a row, or ``None`` where it has none."""
    if not data.startswith(GIVEN):
        return None
    try:
        return ORIGIN.decode(data[2 : 2 + data[1]])
    except (msgspec.DecodeError, IndexError):
        return None


def decode_reply(data: bytes) -> Generation | None:
    """Return the reply, or ``None`` when it is not one."""
    try:
        if data.startswith(GIVEN):
            data = data[2 + data[1] :]
        if data.startswith(COMPRESSED):
            data = zlib.decompress(data)
        return decode_json(data) if data.startswith(OBJECT) else UNPACK.decode(data)
    # msgspec's are ValueErrors
    except (zlib.error, MemoryError, ValueError, RecursionError, IndexError):
        return None


def decode_json(text: bytes) -> Generation:
    """Return a reply that was written as JSON, by an earlier version or for what only JSON says."""
    try:
        return DECODER.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):  # NaN, or a lone surrogate
        return msgspec.convert(json.loads(text), Generation)


def recorded_arrays(generation: Generation) -> frozenset[str]:
    """Return the names of the arrays that were recorded."""
    return frozenset(name for name in ARRAYS if getattr(generation, name) is not None)


def merge_replies(old: Generation, new: Generation) -> Generation | None:
    """Return what to store in place of ``old``; ``None`` to keep it.

    The same tokens: the union of both records. Other tokens (an endpoint need not repeat itself):
    the old reply stays, unless the new one has all of its arrays and more, was given more room for
    thoughts, or the old one is an empty text of an endpoint of which it is not known that it came
    so.
    """
    if (old.problem is None) != (new.problem is None):
        return new if new.problem is None else None
    if room_of(new) > room_of(old) or (old.problem and room_of(new) == room_of(old)):
        return new
    if may_lack_text(old) and (new.text or EMPTY_TEXT in new.overrides):
        return new
    before, after = recorded_arrays(old), recorded_arrays(new)
    if after <= before:
        return None
    same = old.token_ids is not None and old.token_ids == new.token_ids
    if same and old.text == new.text and old.logprob_kind in (None, new.logprob_kind):
        added = {name: getattr(new, name) for name in after - before}
        return msgspec.structs.replace(old, logprob_kind=new.logprob_kind, **added)
    return new if before < after else None


def merged(old: StoredReply, new: StoredReply) -> StoredReply | None:
    """Return what to store in place of ``old``, with the origin of its text; ``None``: keep it."""
    reply = merge_replies(old.reply, new.reply)
    if reply is None:
        return None
    return StoredReply(reply, new.origin if reply is new.reply else old.origin)


def may_lack_text(reply: Generation) -> bool:
    """Tell whether a reply that an earlier version stored may have had no text at all."""
    known = reply.text or reply.problem or reply.token_ids is not None
    return not known and EMPTY_TEXT not in reply.overrides


def checksum(key: bytes, reply: bytes) -> int:
    """Return the checksum of a row: crc32 over key and reply, so a swapped row shows too."""
    return zlib.crc32(reply, zlib.crc32(key))


def sound(key: object, crc: object, reply: object) -> bool:
    """Tell whether a row is what was written."""
    return (
        isinstance(key, bytes)
        and len(key) == 32
        and isinstance(reply, bytes)
        and crc == checksum(key, reply)
    )


# ---- the SQLite file: opening and locking it

VERSION = 3  # 1: all replies as compressed JSON; 2: replies without an origin
APPLICATION = 0x73617973  # "says"
#: the files of a cache: the database, what SQLite keeps beside it, the lock, and what is salvaged
OURS = ("", "-wal", "-shm", "-journal", ".lock", ".new")
PAGE = 4096  # bytes
SCHEMA = (
    "CREATE TABLE replies (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, "
    "crc INTEGER NOT NULL, reply BLOB NOT NULL)"
)
NETWORK = {
    "9p", "afs", "beegfs", "ceph", "cifs", "drvfs", "fuse.glusterfs", "fuse.rclone", "fuse.sshfs",
    "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs", "virtiofs",
}  # fmt: skip
#: primary result codes that a sound file never gives to the statements of this program.
DAMAGE_CODES = {
    sqlite3.SQLITE_ERROR, sqlite3.SQLITE_INTERNAL, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_TOOBIG,
    sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_FORMAT,
    sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_NOTFOUND,
}  # fmt: skip
#: what reading a damaged file may raise: a huge length asks for memory, names are not UTF-8
UNREADABLE = (sqlite3.Error, UnicodeDecodeError, MemoryError)


class DamagedError(Exception):
    """The file is not a sound cache."""


def disk_error(error: OSError, path: Path) -> InputError:
    """Return the one line for a file that could not be written or read."""
    if is_full(error):
        return full_disk_line(path)
    return InputError(
        f"cannot use the cache {path}: {system_reason(error)}; choose another folder with --set "
        "cache=DIR or SAYSO_CACHE"
    )


@contextlib.contextmanager
def os_errors(path: Path) -> Iterator[None]:
    """Turn the system's errors into a line for the user."""
    try:
        yield
    except OSError as error:
        raise disk_error(error, path) from error


@contextlib.contextmanager
def sqlite_errors(path: Path, wait: float) -> Iterator[None]:
    """Turn SQLite's errors into :class:`DamagedError` or a line for the user."""
    try:
        yield
    except (UnicodeDecodeError, MemoryError) as error:
        raise DamagedError(str(error)) from error
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        if code is None:  # a mistake in this program, not in the file
            raise
        primary = code & 0xFF
        if primary in DAMAGE_CODES:
            raise DamagedError(str(error)) from error
        if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise locked(path, wait) from error
        if primary == sqlite3.SQLITE_FULL:
            raise full_disk_line(path) from error
        raise disk_error(OSError(None, str(error)), path) from error


def locked(path: Path, wait: float) -> InputError:
    """Return the one line for a cache that another process does not let go."""
    return InputError(
        f"the cache {path} stayed locked by another process for {wait:g} s; "
        "wait for that process to end, or choose another folder with --set cache=DIR"
    )


def hold(path: Path, *, alone: bool, wait: float) -> int | None:
    """Take the lock of a cache, shared or alone, and return it; ``None`` where there are no locks.

    Raises :class:`InputError` when others keep it for ``wait`` seconds.
    """
    if os.name == "nt":  # it refuses to rename an open file, which is lock enough
        return None
    with os_errors(path):
        handle = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | NO_LINK, 0o600)
    taken = wait_for_lock(handle, wait, shared=not alone)
    if taken:
        return handle
    os.close(handle)
    if taken is None:
        return None
    raise locked(path, wait)


def file_system(path: Path) -> str:
    """Return the type of the file system that holds ``path``, or "" where it cannot be told."""
    try:
        mounts = Path("/proc/mounts").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    place, best, kind = real_path(path), Path("/"), ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        point = Path(fields[1].replace("\\040", " ")) if len(fields) > 2 else None
        # A later mount on the same folder hides an earlier one.
        if point and place.is_relative_to(point) and len(point.parts) >= len(best.parts):
            best, kind = point, fields[2]
    return kind


def open_cache_file(path: Path, wait: float) -> tuple[sqlite3.Connection, str | None]:
    """Open or create the cache file; return the connection and a notice, if there is one.

    Raises :class:`DamagedError` or :class:`InputError`. Only its owner can read the file.
    """
    with os_errors(path):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | NO_LINK, 0o600))
    with sqlite_errors(path, wait):
        # a lock of Cache lets one thread at a time have it
        db = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
        try:
            db.text_factory = bytes
            db.execute("PRAGMA trusted_schema=OFF")
            prepare(db, path)
            notice = set_journal(db, path, wait)
        except BaseException:
            db.close()
            raise
    return db, notice


def prepare(db: sqlite3.Connection, path: Path) -> None:
    """Create the table in an empty file; refuse the files of others and of later versions."""
    schema = db.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    if not schema:
        db.execute(f"PRAGMA page_size={PAGE}")
        db.execute("BEGIN IMMEDIATE")
        if not db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            db.execute(SCHEMA)
            db.execute(f"PRAGMA application_id={APPLICATION}")
            db.execute(f"PRAGMA user_version={VERSION}")
        db.execute("COMMIT")
        return
    ours = db.execute("PRAGMA application_id").fetchone()[0] == APPLICATION
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if ours and version > VERSION:
        raise InputError(
            f"the cache {path} was written by a newer sayso (format {version}, this one reads "
            f"{VERSION}): update sayso, or choose another folder with --set cache=DIR"
        )
    if not ours and all(name != b"replies" for name, _ in schema):
        raise InputError(
            f"{path} is an SQLite file of another program: choose another folder with --set "
            "cache=DIR"
        )
    if not ours or schema != [(b"replies", SCHEMA.encode())]:
        raise DamagedError("unexpected schema")
    if version < VERSION:  # an earlier sayso would take the rows written from now on for damage
        db.execute(f"PRAGMA user_version={VERSION}")


def set_journal(db: sqlite3.Connection, path: Path, wait: float) -> str | None:
    """Turn on the write-ahead log, or a rollback journal where shared memory does not work."""
    # FULL: a commit survives a power cut too; with batched commits it costs nothing to speak of.
    db.execute("PRAGMA synchronous=FULL")
    kind = file_system(path)
    mode = b"delete" if kind in NETWORK else b"wal"
    deadline = time.monotonic() + wait
    while True:  # changing the mode does not wait for others by itself
        try:
            got = db.execute(f"PRAGMA journal_mode={mode.decode()}").fetchone()[0]
            break
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
    if got == b"wal":
        return None
    if kind in NETWORK:
        return f"the cache {path} is on a network file system ({kind}): slower, safer journal used"
    db.execute("PRAGMA journal_mode=DELETE")
    return f"the cache {path} cannot use a write-ahead log here: slower journal used"


# ---- salvage: out of a damaged file into a new one, row by row
#
# By row id, as far as SQLite reaches. Each row carries a checksum over its key and reply, so that
# nothing gets in that was not written. Where a page is damaged from which SQLite finds the others,
# its own tool (sqlite3 FILE .recover) finds more.

SMALLEST_ROW = 100  # bytes of a row and its index entry, to bound row ids when they are unreadable


def salvage(path: Path) -> str:
    """Move what can be read of a damaged cache into a new file; return what to tell the user.

    The old file is kept as ``<name>.damaged-<n>``. The caller holds the lock alone.
    """
    fresh = path.with_name(path.name + ".new")
    try:
        drop(fresh)
        with sqlite_errors(fresh, 0), contextlib.closing(sqlite3.connect(fresh)) as new:
            fresh.chmod(0o600)
            new.isolation_level = None
            prepare(new, fresh)
            new.execute("BEGIN IMMEDIATE")
            for row in rows_by_id(path):
                keep_later(new, row)
            new.execute("COMMIT")
            count = new.execute("SELECT count(*) FROM replies").fetchone()[0]
        number = 1
        while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
            number += 1
        try:
            os.link(path, aside)  # the cache's name never stands empty
        except OSError:
            path.rename(aside)
        log = Path(f"{path}-wal")
        if log.exists():
            log.rename(f"{aside}-wal")
        Path(f"{path}-shm").unlink(missing_ok=True)
        fresh.replace(path)
    except OSError as error:
        raise disk_error(error, path) from error
    finally:
        with contextlib.suppress(OSError):
            drop(fresh)
    return (
        f"the cache {path} was damaged: {count} replies were salvaged, the others will be asked "
        f"again; the old file is kept as {aside.name}"
    )


def keep_later(db: sqlite3.Connection, row: Row) -> None:
    """Insert a row, or put it in the place of one of its key that was not given later.

    A damaged index hides a row from the reply that is written in its place: there are two.
    """
    key, _, reply = row
    if db.execute("INSERT OR IGNORE INTO replies(key, crc, reply) VALUES(?, ?, ?)", row).rowcount:
        return
    ((_, head),) = reply_heads(db, [key])
    given, before = (one.given if (one := reply_origin(data)) else 0.0 for data in (reply, head))
    if given >= before:
        _put(db, [row])


def drop(path: Path) -> None:
    """Remove a database of ours with its side files."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def rows_by_id(path: Path) -> Iterator[Row]:
    """Yield the sound rows that SQLite still reaches.

    A scan that meets a damaged page fails, or ends early on a row id that is none: either way it
    starts again one row id further, until it is past the page.
    """
    with contextlib.closing(sqlite3.connect(path, timeout=5, isolation_level=None)) as old:
        last = path.stat().st_size // SMALLEST_ROW
        try:
            old.text_factory = bytes
            old.execute("PRAGMA trusted_schema=OFF")
            last = min(last, old.execute("SELECT max(id) FROM replies").fetchone()[0] or last)
        except UNREADABLE:
            return
        query = "SELECT id, key, crc, reply FROM replies WHERE id BETWEEN ? AND ? ORDER BY id"
        start = 1
        while start <= last:
            with contextlib.suppress(*UNREADABLE):
                for row_id, key, crc, reply in old.execute(query, (start, last)):
                    if sound(key, crc, reply):
                        start = max(start, row_id)
                        yield key, crc, reply
            start += 1

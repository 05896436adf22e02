"""The SQLite file under the cache: opening and locking it.

Every process holds a shared lock on ``<file>.lock`` while it has the file open. Salvaging needs
that lock alone, because SQLite deletes write-ahead logs by name: replacing a database under a
living connection could delete the log of its successor.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

from sayso.records import InputError

VERSION = 1
APPLICATION = 0x73617973  # "says"
PAGE = 4096  # bytes; salvage reads pages by itself
SCHEMA = (
    "CREATE TABLE replies (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, "
    "crc INTEGER NOT NULL, reply BLOB NOT NULL)"
)
NETWORK = {
    "9p", "afs", "beegfs", "ceph", "cifs", "drvfs", "fuse.glusterfs", "fuse.rclone", "fuse.sshfs",
    "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs", "virtiofs",
}  # fmt: skip
# Primary result codes that a sound file never gives to the statements of this program.
DAMAGE_CODES = {
    sqlite3.SQLITE_ERROR, sqlite3.SQLITE_INTERNAL, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_TOOBIG,
    sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_FORMAT,
    sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_NOTFOUND,
}  # fmt: skip
# What reading a damaged file may raise: a huge length asks for memory, names are no UTF-8.
UNREADABLE = (sqlite3.Error, UnicodeDecodeError, MemoryError)


class DamagedError(Exception):
    """The file is not a sound cache."""


def disk_error(error: OSError, path: Path) -> InputError:
    """Return the one line for a file that could not be written or read."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return full_disk(path)
    why = error.strerror or str(error)
    return InputError(
        f"cannot use the cache {path}: {why}; choose another folder with --cache DIR or SAYSO_CACHE"
    )


@contextlib.contextmanager
def os_errors(path: Path) -> Iterator[None]:
    """Turn the system's errors into a line for the user."""
    try:
        yield
    except OSError as error:
        raise disk_error(error, path) from error


def full_disk(path: Path) -> InputError:
    """Return the one line for a full disk."""
    return InputError(
        f"disk is full while writing {path}; free some space and run again: "
        "everything committed so far is kept"
    )


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
            raise full_disk(path) from error
        raise disk_error(OSError(None, str(error)), path) from error


def locked(path: Path, wait: float) -> InputError:
    """Return the one line for a cache that another process does not let go."""
    return InputError(
        f"the cache {path} stayed locked by another process for {wait:g} s; "
        "wait for that process to end, or choose another folder with --cache DIR"
    )


def hold(path: Path, *, alone: bool, wait: float) -> int | None:
    """Take the lock of a cache, shared or alone, and return it; ``None`` where there are no locks.

    Raises :class:`InputError` when others keep it for ``wait`` seconds.
    """
    try:
        import fcntl
    except ImportError:  # Windows: it refuses to rename an open file, which is lock enough
        return None
    with os_errors(path):
        handle = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(handle, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
            return handle
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(handle)
                raise locked(path, wait) from None
            time.sleep(0.02)
        except OSError:  # a file system without locks
            os.close(handle)
            return None


def file_system(path: Path) -> str:
    """Return the type of the file system that holds ``path``, or "" where it cannot be told."""
    try:
        mounts = Path("/proc/mounts").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    place, best, kind = path.resolve(), Path("/"), ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        point = Path(fields[1].replace("\\040", " ")) if len(fields) > 2 else None
        # A later mount on the same folder hides an earlier one.
        if point and place.is_relative_to(point) and len(point.parts) >= len(best.parts):
            best, kind = point, fields[2]
    return kind


def connect(path: Path, wait: float) -> tuple[sqlite3.Connection, str | None]:
    """Open or create the cache file; return the connection and a notice, if there is one.

    Raises :class:`DamagedError` or :class:`InputError`. Only its owner can read the file.
    """
    with os_errors(path):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    with sqlite_errors(path, wait):
        db = sqlite3.connect(path, timeout=wait, isolation_level=None)
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
            f"{VERSION}): update sayso, or choose another folder with --cache DIR"
        )
    if not ours and all(name != b"replies" for name, _ in schema):
        raise InputError(
            f"{path} is an SQLite file of another program: choose another folder with --cache DIR"
        )
    if not ours or schema != [(b"replies", SCHEMA.encode())]:
        raise DamagedError("unexpected schema")


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
    return f"the cache {path} allows no write-ahead log here: slower journal used"


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

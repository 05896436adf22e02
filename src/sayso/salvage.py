"""Out of a damaged cache file into a new one, row by row."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from sayso.cachefile import UNREADABLE, disk_error, prepare, sound, sqlite_errors

SMALLEST_ROW = 100  # bytes of a row and its index entry, to bound row ids when they are unreadable


def salvage(path: Path) -> str:
    """Move what can be read of a damaged cache into a new file; return what to tell the user.

    The old file is kept as ``<name>.damaged-<n>``. The caller holds the lock alone.
    """
    fresh, graft = path.with_name(path.name + ".new"), path.with_name(path.name + ".graft")
    drop(fresh)
    drop(graft)
    try:
        with sqlite_errors(fresh, 0), contextlib.closing(sqlite3.connect(fresh)) as new:
            fresh.chmod(0o600)
            new.isolation_level = None
            prepare(new, fresh)
            count = pour(path, new)
            if not count:
                plant_first_page(path, fresh, graft)
                count = pour(graft, new) or 0
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
        drop(fresh)
        drop(graft)
    return (
        f"the cache {path} was damaged: {count} replies were salvaged, the others will be asked "
        f"again; the old file is kept as {aside.name}"
    )


def drop(path: Path) -> None:
    """Remove a database of ours with its side files."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def pour(source: Path, new: sqlite3.Connection) -> int | None:
    """Copy every sound row, by row id, stepping over what cannot be read; ``None`` if all fails."""
    try:
        with contextlib.closing(sqlite3.connect(source, timeout=5, isolation_level=None)) as old:
            old.text_factory = bytes
            old.execute("PRAGMA trusted_schema=OFF")
            old.execute("SELECT id, key, crc, reply FROM replies LIMIT 0").fetchall()
            new.execute("BEGIN IMMEDIATE")
            for row in readable_rows(old, source.stat().st_size):
                new.execute("INSERT OR IGNORE INTO replies(key, crc, reply) VALUES(?, ?, ?)", row)
            new.execute("COMMIT")
    except UNREADABLE:
        if new.in_transaction:  # the new file could not be written: the disk, not the damage
            new.execute("ROLLBACK")
            raise
        return None
    count: int = new.execute("SELECT count(*) FROM replies").fetchone()[0]
    return count


def readable_rows(old: sqlite3.Connection, size: int) -> Iterator[tuple[bytes, int, bytes]]:
    """Yield the sound rows of a damaged file of ``size`` bytes.

    A scan that meets a damaged page fails, or ends early on a row id that is none: either way it
    starts again one row id further, until it is past the page.
    """
    last = size // SMALLEST_ROW
    with contextlib.suppress(*UNREADABLE):
        last = min(last, old.execute("SELECT max(id) FROM replies").fetchone()[0] or last)
    query = "SELECT id, key, crc, reply FROM replies WHERE id BETWEEN ? AND ? ORDER BY id"
    start = 1
    while start <= last:
        with contextlib.suppress(*UNREADABLE):
            for row_id, key, crc, reply in old.execute(query, (start, last)):
                if sound(key, crc, reply):
                    start = max(start, row_id)
                    yield key, crc, reply
        start += 1


def plant_first_page(damaged: Path, fresh: Path, graft: Path) -> None:
    """Copy a file whose head cannot be read and give it the head of a new cache.

    Page 1 holds the header and the schema, which are the same in all caches of this version.
    """
    shutil.copyfile(damaged, graft)
    with contextlib.suppress(FileNotFoundError):
        shutil.copyfile(f"{damaged}-wal", f"{graft}-wal")
    with fresh.open("rb") as source, graft.open("r+b") as target:
        page = bytearray(source.read(4096))
        page[28:32] = bytes(4)  # database size 0: SQLite then takes the file's own
        target.write(page)

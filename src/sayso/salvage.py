"""Out of a damaged cache file into a new one, row by row.

First by row id, through SQLite; then from the pages themselves, because one damaged page at the
root of the tree hides every row below it. Each row carries a checksum over its key and reply, so
nothing that was not written can get in.

Pages are read as https://www.sqlite.org/fileformat2.html says (sections 1.6, 2.1, 4.1).
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

from sayso.cachefile import PAGE, UNREADABLE, disk_error, prepare, sound, sqlite_errors

SMALLEST_ROW = 100  # bytes of a row and its index entry, to bound row ids when they are unreadable
TABLE_LEAF = 13
Row = tuple[bytes, int, bytes]


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
            # The row-id pass goes first: a page may still hold an older version of a reply.
            for row in itertools.chain(rows_by_id(path), carved_rows(path)):
                new.execute("INSERT OR IGNORE INTO replies(key, crc, reply) VALUES(?, ?, ?)", row)
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
            return  # the pages say more, and faster
        query = "SELECT id, key, crc, reply FROM replies WHERE id BETWEEN ? AND ? ORDER BY id"
        start = 1
        while start <= last:
            with contextlib.suppress(*UNREADABLE):
                for row_id, key, crc, reply in old.execute(query, (start, last)):
                    if sound(key, crc, reply):
                        start = max(start, row_id)
                        yield key, crc, reply
            start += 1


def carved_rows(path: Path) -> Iterator[Row]:
    """Yield the sound rows on the leaf pages of a file and of its write-ahead log."""
    logged = logged_pages(Path(f"{path}-wal"))
    with path.open("rb") as file:

        def page(number: int) -> bytes:
            if number in logged:
                return logged[number]
            file.seek((number - 1) * PAGE)
            return file.read(PAGE).ljust(PAGE, b"\0")

        for number in {*range(2, path.stat().st_size // PAGE + 2), *logged}:
            leaf = page(number)
            if leaf[0] != TABLE_LEAF:
                continue
            for cell in range(min(int.from_bytes(leaf[3:5]), (PAGE - 8) // 2)):
                with contextlib.suppress(IndexError):
                    row = read_cell(leaf, int.from_bytes(leaf[8 + 2 * cell : 10 + 2 * cell]), page)
                    if row is not None and sound(*row):
                        yield row


def logged_pages(log: Path) -> dict[int, bytes]:
    """Return the last version of each page in a write-ahead log."""
    pages = {}
    with contextlib.suppress(FileNotFoundError), log.open("rb") as file:
        file.seek(32)
        while len(frame := file.read(24 + PAGE)) == 24 + PAGE:
            pages[int.from_bytes(frame[:4])] = frame[24:]
    return pages


def read_cell(leaf: bytes, at: int, page: Callable[[int], bytes]) -> Row | None:
    """Return key, checksum and reply of the cell at an offset of a leaf page, if it is a row."""
    size, at = varint(leaf, at)
    _, at = varint(leaf, at)
    # What does not fit on the page goes to a chain of overflow pages.
    least = (PAGE - 12) * 32 // 255 - 23
    local = least + (size - least) % (PAGE - 4)
    local = size if size <= PAGE - 35 else local if local <= PAGE - 35 else least
    parts = [leaf[at : at + local]]
    following, left = int.from_bytes(leaf[at + local : at + local + 4]), size - local
    seen = {0}
    while left > 0 and following not in seen:
        seen.add(following)
        data = page(following)
        parts.append(data[4 : 4 + left])
        following, left = int.from_bytes(data[:4]), left - (PAGE - 4)
    record = b"".join(parts)
    header, at = varint(record, 0)
    types = []
    while at < header:
        kind, at = varint(record, at)
        types.append(kind)
    # id (null: it is the row id), key (blob of 32 bytes), checksum (integer), reply (blob)
    if len(types) != 4 or types[0] or types[1] != 12 + 2 * 32 or types[2] not in INTEGERS:
        return None
    crc_at = header + 32
    reply_at = crc_at + INTEGERS[types[2]]
    crc = {8: 0, 9: 1}.get(types[2], int.from_bytes(record[crc_at:reply_at], signed=True))
    return record[header:crc_at], crc, record[reply_at : reply_at + (types[3] - 12) // 2]


INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 8: 0, 9: 0}  # serial type: bytes


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a variable-length integer and where it ends."""
    value = 0
    for count in range(9):
        byte = data[at + count]
        if count == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + count + 1
    raise IndexError(at)

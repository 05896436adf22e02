"""A log that grows: the lines that came since the last call.

A call reads a file to its end, or a stream such as standard input until it ends. A line counts once
its end is there. A place in a file is kept with a hash of the bytes before it. If they do not stand
there at the next call, the old file, renamed or copied beside the new one, is read to its end
first, and then those that were rotated away since. Without it the log is refused. A file without a
line yet has no place: that in the file before it is kept, and which file it is.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Annotated

import msgspec

from sayso.records import InputError
from sayso.storage.atomic import disk_errors

#: bytes that are read at a time, and of the longest line that is read
PIECE, LONGEST_LINE = 1 << 20, 1 << 24
#: bytes before a place that tell whether the file is still the same
MARK = 256
#: what rotation puts behind a name: a number or a time
ROTATED = r"[-._](?:[0-9][-0-9T.:_]*|old)"
#: a number in a state, which somebody may have edited
Whole = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]
#: how standard input is called
STDIN = "-"


class LogPlace(msgspec.Struct):
    """A place in a log: how many bytes and lines are read, and what stands before it.

    ``next`` is the number of a file after it, without a line yet, and ``written`` when that was.
    """

    offset: Whole = 0
    lines: Whole = 0
    mark: str = ""
    next: str = ""
    written: Whole = 0


class GrowingLog:
    """The complete lines of a log from a place on. A line that is too long is ``None``.

    ``path`` is a regular file, or "-" for standard input, which may be a stream. Raises InputError
    for a file that cannot be read, or that does not hold what was read before the place.
    """

    def __init__(self, path: Path, place: LogPlace | None = None) -> None:
        self.path = path
        self.ended = False
        #: what stands behind the last complete line
        self.rest = b""
        #: number of the first line that was returned last
        self.first = 1
        #: files that replaced the one that is read first
        self._newer: list[IO[bytes]] = []
        #: the place in the file before, for as long as no line of this one was returned
        self._earlier: LogPlace | None = None
        self._file = self._open()
        self.streams = not stat.S_ISREG(os.fstat(self._file.fileno()).st_mode)
        self._begin(0, place.lines if place is not None and self.streams else 0)
        if place is not None and place.offset and not self.streams:
            self._earlier = place
            self._go_to(place)

    def _open(self) -> IO[bytes]:
        if str(self.path) == STDIN:
            return sys.stdin.buffer
        if self.path.is_dir():
            raise InputError(f"{self.path} is a folder: name one file in it")
        if self.path.suffix.lower() == ".gz":
            raise InputError(f"{self.path} is compressed: unpack it into sayso watch -")
        try:
            if not self.path.is_file() and self.path.exists():
                raise InputError(
                    f"{self.path} is no regular file: give a stream to standard input, as in "
                    f"sayso watch - < {self.path}"
                )
            return self.path.open("rb", buffering=0)
        except FileNotFoundError:
            raise InputError(f"{self.path} does not exist: check the name") from None
        except OSError as error:
            raise InputError(f"{self.path} cannot be read: {error.strerror or error}") from None

    def close(self) -> None:
        """Close the file; standard input stays open."""
        for file in (self._file, *self._newer):
            if str(self.path) != STDIN:
                file.close()

    # ---- places

    def _begin(self, offset: int, lines: int) -> None:
        """Read on from an offset of the open file."""
        self._place = LogPlace(offset, lines)
        self.rest, self._dropped = b"", 0
        if not self.streams:
            self._file.seek(offset)

    def _before(self, file: IO[bytes], offset: int) -> bytes:
        start = max(offset - MARK, 0)
        file.seek(start)
        return file.read(offset - start)

    def place(self) -> LogPlace:
        """Return where the first line begins that was not returned yet."""
        if self.streams:
            return LogPlace(lines=self._place.lines)
        if not self._place.offset and self._earlier is not None:
            about = os.fstat(self._file.fileno())
            return msgspec.structs.replace(
                self._earlier, next=f"{about.st_ino}", written=about.st_mtime_ns
            )
        position = self._file.tell()
        mark = _digest(self._before(self._file, self._place.offset))
        self._file.seek(position)
        return msgspec.structs.replace(self._place, mark=mark)

    def _go_to(self, place: LogPlace) -> None:
        """Go on at a place: in this file, or in the one that it replaced."""
        if place.next or not self._holds(self._file, place):
            files = self._rotated(lambda file, _: self._holds(file, place))
            if not files:
                # that file is gone, but perhaps not the next one: all since then, from the start
                files = self._rotated(lambda _, about: about.st_mtime_ns >= place.written)
                there = {f"{os.fstat(file.fileno()).st_ino}" for file in (*files, self._file)}
                if place.next not in there:
                    raise InputError(
                        f"{self.path} does not have the lines that were read last, and no file "
                        "beside it does: name the log that this --state belongs to, or another "
                        "--state to begin anew"
                    )
                place = LogPlace()
            self._file, *self._newer = [*files, self._file]
        self._begin(place.offset, place.lines)

    def _holds(self, file: IO[bytes], place: LogPlace) -> bool:
        """Whether a file has, before a place, what stood there."""
        size = os.fstat(file.fileno()).st_size
        return size >= place.offset and _digest(self._before(file, place.offset)) == place.mark

    def _rotated(self, wanted: Callable[[IO[bytes], os.stat_result], bool]) -> list[IO[bytes]]:
        """Return the first file that is wanted, now beside this one, and those after it."""
        files: list[IO[bytes]] = []
        name = re.compile(re.escape(self.path.name) + ROTATED)
        beside = [one for one in self.path.absolute().parent.iterdir() if name.fullmatch(one.name)]
        with disk_errors(self.path, "read the older files of"):
            for other in sorted(
                filter(Path.is_file, beside), key=lambda one: one.stat().st_mtime_ns
            ):
                file = other.open("rb", buffering=0)
                if files or wanted(file, os.fstat(file.fileno())):
                    files.append(file)
                else:
                    file.close()
        return files

    # ---- lines

    def take_rest(self) -> list[bytes | None]:
        """Return what stands behind the last complete line, as a line; nothing if nothing does."""
        return self._take(b"", whole=True) if self.rest or self._dropped else []

    def lines(self) -> list[bytes | None]:
        """Return complete lines that were not returned yet; a part of them, if there are many.

        An empty list: the log has ended. A stream is waited for.
        """
        with disk_errors(self.path, "read"):
            while not self.ended:
                piece = os.read(self._file.fileno(), PIECE)
                if piece:
                    lines = self._take(piece)
                elif self._newer:
                    lines = self.take_rest()  # nobody will end this line
                    self._earlier = self.place()
                    self._file.close()
                    self._file = self._newer.pop(0)
                    self._begin(0, 0)
                else:
                    self.ended = True
                    lines = self.take_rest() if self.streams else []
                if lines:
                    return lines
            return []

    def _take(self, piece: bytes, *, whole: bool = False) -> list[bytes | None]:
        """Return the complete lines with what was read; ``whole``: the rest is one as well."""
        data = self.rest + piece
        lines: list[bytes | None] = [*data.split(b"\n")]
        rest = b"" if whole else lines.pop() or b""
        if lines:
            if self._dropped:
                lines[0] = None
            lines = [None if x is None or len(x) > LONGEST_LINE else x for x in lines]
            self._place.offset += self._dropped + len(data) - len(rest)
            self.first = self._place.lines + 1
            self._place.lines += len(lines)
            self._dropped = 0
        if len(rest) > LONGEST_LINE:
            self._dropped += len(rest)
            rest = b""
        self.rest = rest
        return lines


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:32]

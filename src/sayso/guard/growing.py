"""A log that grows: the lines that came since the last call.

A call reads a file to its end, or a stream such as standard input until it ends. A line counts once
its end is there. A place in a file is kept with a hash of the bytes before it, so that the next
call notices another file under the same name: it reads the old one, renamed beside it, to its end
first. A file that came and was rotated away between two calls was never read: it is named if it
lies beside the log.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
from pathlib import Path
from typing import IO

import msgspec

from sayso.records import InputError
from sayso.storage.atomic import disk_errors

#: bytes that are read at a time, and of the longest line that is read
PIECE, LONGEST_LINE = 1 << 20, 1 << 24
#: bytes before a place that tell whether the file is still the same
MARK = 256
#: what rotation puts behind a name: a number or a time
ROTATED = re.compile(r"[-._][0-9][-0-9T.:_]*")
#: how standard input is called
STDIN = "-"


class LogPlace(msgspec.Struct):
    """A place in a log: its file, how many bytes and lines are read, and what stands before it."""

    device: int = 0
    file: int = 0
    offset: int = 0
    lines: int = 0
    mark: str = ""


class GrowingLog:
    """The complete lines of a log from a place on. A line that is too long is ``None``.

    ``path`` is a file, or "-" for standard input; what is no regular file is read as a stream.
    ``notices`` says what happened to the file since the place was kept. Raises InputError for a
    file that cannot be read.
    """

    def __init__(self, path: Path, place: LogPlace | None = None) -> None:
        self.path = path
        self.notices: list[str] = []
        self.ended = False
        #: number of the first line that was returned last
        self.first = 1
        #: the file that replaced the one that is read first
        self._newer: IO[bytes] | None = None
        self._file = self._open()
        self.streams = not stat.S_ISREG(os.fstat(self._file.fileno()).st_mode)
        self._begin(0, place.lines if place is not None and self.streams else 0)
        if place is not None and place.offset and not self.streams:
            self._go_to(place)

    def _open(self) -> IO[bytes]:
        if str(self.path) == STDIN:
            return sys.stdin.buffer
        if self.path.is_dir():
            raise InputError(f"{self.path} is a folder: name one file in it")
        if self.path.suffix.lower() == ".gz":
            raise InputError(f"{self.path} is compressed: unpack it into sayso watch -")
        try:
            return self.path.open("rb", buffering=0)
        except FileNotFoundError:
            raise InputError(f"{self.path} does not exist: check the name") from None
        except OSError as error:
            raise InputError(f"{self.path} cannot be read: {error.strerror or error}") from None

    def close(self) -> None:
        """Close the file; standard input stays open."""
        for file in (self._file, self._newer):
            if file is not None and str(self.path) != STDIN:
                file.close()

    # ---- places

    def _begin(self, offset: int, lines: int) -> None:
        """Read on from an offset of the open file."""
        about = os.fstat(self._file.fileno())
        self._place = LogPlace(about.st_dev, about.st_ino, offset, lines)
        self._rest, self._dropped = b"", 0
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
        position = self._file.tell()
        mark = _digest(self._before(self._file, self._place.offset))
        self._file.seek(position)
        return msgspec.structs.replace(self._place, mark=mark)

    def _go_to(self, place: LogPlace) -> None:
        """Go on at a place: in this file, or in the one that it replaced."""
        if not self._holds(self._file, place):
            old = self._earlier(place)
            if old is None:
                self.notices.append(
                    f"{self.path} is not the file of the last stop, which is not beside it either: "
                    "reading from the beginning; answers in between are missing"
                )
                self._begin(0, 0)
                return
            self._file, self._newer = old, self._file
            self._name_unread()
        self._begin(place.offset, place.lines)

    def _holds(self, file: IO[bytes], place: LogPlace) -> bool:
        """Whether a file has, before a place, what stood there."""
        size = os.fstat(file.fileno()).st_size
        return size >= place.offset and _digest(self._before(file, place.offset)) == place.mark

    def _earlier(self, place: LogPlace) -> IO[bytes] | None:
        """Return the file that was read before, if it was renamed beside this one."""
        for other in sorted(self.path.absolute().parent.iterdir()):
            if not other.name.startswith(self.path.name) or other.name == self.path.name:
                continue
            try:
                about = other.stat()
                if (about.st_dev, about.st_ino) != (place.device, place.file):
                    continue
                file = other.open("rb", buffering=0)
            except OSError:
                continue
            if self._holds(file, place):
                return file
            file.close()
        return None

    # ---- lines

    @property
    def rest(self) -> bytes:
        """What stands behind the last complete line."""
        return self._rest

    def take_rest(self) -> list[bytes | None]:
        """Return what stands behind the last complete line, as a line; nothing if nothing does."""
        return self._take(b"", whole=True) if self._rest or self._dropped else []

    def lines(self) -> list[bytes | None]:
        """Return complete lines that were not returned yet; a part of them, if there are many.

        An empty list: the log has ended. A stream is waited for.
        """
        with disk_errors(self.path, "read"):
            while not self.ended:
                piece = os.read(self._file.fileno(), PIECE)
                if piece:
                    lines = self._take(piece)
                elif self._newer is not None:
                    lines = self.take_rest()  # nobody will end this line
                    self._file.close()
                    self._file, self._newer = self._newer, None
                    self._begin(0, 0)
                else:
                    self.ended = True
                    lines = self.take_rest() if self.streams else []
                if lines:
                    return lines
            return []

    def _take(self, piece: bytes, *, whole: bool = False) -> list[bytes | None]:
        """Return the complete lines with what was read; ``whole``: the rest is one as well."""
        data = self._rest + piece
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
        self._rest = rest
        return lines

    def _name_unread(self) -> None:
        """Name rotated files, younger than the one that is read first, which nobody reads."""
        files = [os.fstat(file.fileno()) for file in (self._file, self._newer) if file is not None]
        known = {(about.st_dev, about.st_ino) for about in files}
        names = []
        for other in sorted(self.path.absolute().parent.iterdir()):
            rest = other.name.removeprefix(self.path.name)
            if rest == other.name or not ROTATED.fullmatch(rest):
                continue
            try:
                about = other.stat()
            except OSError:
                continue
            younger = about.st_mtime_ns > files[0].st_mtime_ns
            if younger and (about.st_dev, about.st_ino) not in known:
                names.append(other.name)
        if names:
            self.notices.append(
                f"{self.path} was rotated more than once since the last call: {', '.join(names)} "
                "was not read, and its answers are missing"
            )


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:32]

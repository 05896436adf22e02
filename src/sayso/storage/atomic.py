"""Writing a file in one piece and a folder alone; a failure is one line for the user."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from sayso.records import InputError


@contextlib.contextmanager
def disk_errors(path: Path, doing: str = "write") -> Iterator[None]:
    """Turn the system's errors into one line for the user."""
    try:
        yield
    except OSError as error:
        if is_full(error):
            raise full_disk(path) from error
        raise InputError(f"cannot {doing} {path}: {reason_of(error)}") from error


def reason_of(error: OSError) -> str:
    """Return the system's reason; its words for a file in the place of a folder explain nothing."""
    if isinstance(error, FileExistsError | NotADirectoryError):
        return "a file has the name of a folder that is needed"
    return error.strerror or str(error)


def is_full(error: OSError) -> bool:
    """Tell whether the system has no space left."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def full_disk(path: Path) -> InputError:
    """Return the one line for a full disk."""
    return InputError(
        f"disk is full while writing {path}; free some space and run again: "
        "everything committed so far is kept"
    )


def check_place(path: Path) -> None:
    """Refuse a place inside a repository's own folder, whose files are git's. Raises InputError."""
    if any(part.casefold() == ".git" for part in Path(os.path.realpath(path)).parts):
        raise InputError(f"{path} lies in the folder .git of a repository: choose another --out")


@contextlib.contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """Give a file to write; at the end it takes the place of ``path``, or vanishes on an error.

    What processes left here that were killed is removed: a file that is being written is locked.
    What is ``private`` only its owner can read, in folders made for it too.
    """
    check_place(path)
    temporary = path.with_name(f"{path.name}.tmp-{os.getpid()}")
    with disk_errors(path):
        if private:
            make_private(path.parent)
        path.parent.mkdir(parents=True, exist_ok=True)
        for old in path.parent.iterdir():
            if re.fullmatch(rf"{re.escape(path.name)}\.tmp-\d+", old.name):
                _remove_dead(old)
        mode = 0o600 if private else 0o666
        file = open(  # noqa: SIM115
            temporary, "wb", opener=lambda name, flags: os.open(name, flags, mode)
        )
        try_lock(file.fileno())
    try:
        yield file
        with disk_errors(path):
            file.flush()
            os.fsync(file.fileno())
            if os.name == "nt":  # an open file cannot be renamed there
                file.close()
            temporary.replace(path)
            file.close()
            sync_folder(path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            file.close()
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def try_lock(handle: int) -> bool | None:
    """Lock an open file or folder; ``False``: another process has it, ``None``: no locks here."""
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return None
    return True


def _remove_dead(temporary: Path) -> None:
    """Remove a file that nobody writes any more."""
    with contextlib.suppress(FileNotFoundError, PermissionError), temporary.open("rb") as file:
        if try_lock(file.fileno()) is not False:
            temporary.unlink(missing_ok=True)


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for its owner alone."""
    for place in reversed([place for place in (folder, *folder.parents) if not place.exists()]):
        place.mkdir(mode=0o700, exist_ok=True)


#: the file that names who writes into a folder
WRITER = ".writer"
#: seconds in which one who writes a page or a table is done
WAIT = 30.0


@contextlib.contextmanager
def one_writer(folder: Path, command: str, wait: float = 0.0) -> Iterator[bool]:
    """Make a folder and keep other processes from writing into it; tell whether it is new.

    Raises :class:`InputError` where another one is still at it after ``wait`` seconds. Who holds
    the lock stands in the folder's file ``.writer``; the lock itself is on the folder and ends with
    its process. New folders in which nothing was left are removed again.
    """
    check_place(folder)
    created = [place for place in (folder, *folder.parents) if not place.exists()]
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    handle = _locked(folder, wait)
    note = folder / WRITER
    if handle is not None:
        who = f"process {os.getpid()} on {socket.gethostname()}, {' '.join(command.split())[:200]}"
        with contextlib.suppress(OSError):
            note.write_text(who, encoding="utf-8", errors="replace")
    try:
        yield bool(created)
    finally:
        if handle is not None:
            with contextlib.suppress(OSError):
                note.unlink()
        for place in created:
            with contextlib.suppress(OSError):  # it holds something, or is gone already
                place.rmdir()
        if handle is not None:
            os.close(handle)


def _locked(folder: Path, wait: float) -> int | None:
    """Lock a folder and return the handle; ``None`` where there are no such locks."""
    if os.name == "nt":  # folders cannot be opened there
        return None
    with disk_errors(folder, "open"):
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    deadline = time.monotonic() + wait
    while (locked := try_lock(handle)) is False and time.monotonic() < deadline:
        time.sleep(0.05)
    if locked:
        return handle
    os.close(handle)
    if locked is None:
        return None
    try:
        who = (folder / WRITER).read_text(encoding="utf-8", errors="replace")[:400]
    except OSError:
        who = "another process"
    raise InputError(f"{folder}: {who} is writing here; let it finish, or choose another --out")


def sync_folder(path: Path) -> None:
    """Force a renaming to disk."""
    if os.name == "nt":  # folders cannot be opened there
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

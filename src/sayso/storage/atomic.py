"""Writing a file in one piece and a folder alone; a failure is one line for the user."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import socket
import stat
import sys
import tempfile
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
            raise full_disk_line(path) from error
        raise InputError(f"cannot {doing} {path}: {system_reason(error)}") from error


def system_reason(error: OSError) -> str:
    """Return the system's reason; its words for a file in the place of a folder explain nothing."""
    if isinstance(error, FileExistsError | NotADirectoryError):
        return "a file has the name of a folder that is needed"
    return error.strerror or str(error)


def can_write(folder: Path) -> bool:
    """Tell whether files can be made in a folder that is there; not in a read-only copy."""
    return os.access(folder, os.W_OK)


def is_full(error: OSError) -> bool:
    """Tell whether the system has no space left."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def full_disk_line(path: Path) -> InputError:
    """Return the one line for a full disk."""
    return InputError(
        f"disk is full while writing {path}; free some space and run again: "
        "everything committed so far is kept"
    )


def check_outside_git(path: Path) -> None:
    """Refuse a place inside a repository's own folder, whose files are git's. Raises InputError."""
    if any(part.casefold() == ".git" for part in Path(os.path.realpath(path)).parts):
        raise InputError(f"{path} lies in the folder .git of a repository: choose another --out")


def real_path(path: Path) -> Path:
    """Return a path without symbolic links; where they form a loop, the loop (resolve raises)."""
    return Path(os.path.realpath(path))


#: how to open a file that may be there but is no link, and one that must not be there at all
NO_LINK = getattr(os, "O_NOFOLLOW", 0)
NEW = os.O_CREAT | os.O_EXCL | NO_LINK


def refuse_links(folder: Path) -> None:
    """Refuse a folder of ours that contains a symbolic link, which may lead to anybody's files.

    The folder itself may be one: the user named it. Raises InputError.
    """
    folders = [folder]
    while folders:
        with disk_errors(folder, "read"), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_symlink():
                    raise is_link(Path(entry.path))
                if entry.is_dir(follow_symlinks=False):
                    folders.append(Path(entry.path))


def place_inside(folder: Path, *names: str) -> Path:
    """Return a place in a folder of ours; refuse one that a symbolic link leads to or through."""
    place = folder
    for name in names:
        place /= name
        if place.is_symlink():
            raise is_link(place)
    return place


def is_link(place: Path) -> InputError:
    """Return the one line for a symbolic link where there may be none."""
    return InputError(
        f"{place} is a symbolic link, and sayso follows no links inside its own folders: remove "
        "it, or put the file or folder itself there"
    )


def is_stream(path: Path) -> bool:
    """Tell whether a place is written to and never replaced or read: a device, a pipe, our output.

    Our own standard output and error are streams even where they are files. Raises InputError.
    """
    with disk_errors(path):
        try:
            info = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
    return _own_output(info) is not None or not (
        stat.S_ISREG(info.st_mode) or stat.S_ISDIR(info.st_mode)
    )


def _own_output(info: os.stat_result) -> int | None:
    """Return the number of our standard output or error, if this file is it."""
    for handle in (1, 2):
        with contextlib.suppress(OSError):  # closed
            if os.path.samestat(info, os.fstat(handle)):
                return handle
    return None


@contextlib.contextmanager
def _sending(path: Path) -> Iterator[IO[bytes]]:
    """Give a file to write; at the end all of it is sent to a stream, or nothing on an error."""
    with tempfile.TemporaryFile() as file:
        yield file
        file.seek(0)
        with disk_errors(path):
            own = _own_output(path.stat())
            if own is not None:
                sys.stdout.flush()
            handle = os.open(path, os.O_WRONLY) if own is None else os.dup(own)
            with open(handle, "wb") as stream:
                shutil.copyfileobj(file, stream)


@contextlib.contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """Give a file to write; at the end it takes the place of ``path``, or vanishes on an error.

    A link stays, and the file that it leads to is replaced; a stream (:func:`is_stream`) is written
    to. What processes left here that were killed is removed: a file that is being written is
    locked. What is ``private`` only its owner can read, in folders made for it too.
    """
    if is_stream(path):
        with _sending(path) as file:
            yield file
        return
    path = real_path(path)
    check_outside_git(path)
    temporary = path.with_name(f"{path.name}.tmp-{os.getpid()}")
    with disk_errors(path):
        if private:
            make_private(path.parent)
        path.parent.mkdir(parents=True, exist_ok=True)
        for old in path.parent.iterdir():
            if re.fullmatch(rf"{re.escape(path.name)}\.tmp-\d+", old.name):
                _remove_dead(old)
        mode = 0o600 if private else 0o666
        try:
            file = open(  # noqa: SIM115
                temporary, "wb", opener=lambda name, flags: os.open(name, flags | NEW, mode)
            )
        except FileExistsError:  # a link, or a file that another process is writing
            raise InputError(f"cannot write {path}: {temporary} exists; remove it") from None
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


def try_lock(handle: int, *, shared: bool = False) -> bool | None:
    """Lock an open file or folder; ``False``: another process has it, ``None``: no locks here."""
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return None
    return True


def wait_for_lock(handle: int, seconds: float, *, shared: bool = False) -> bool | None:
    """Lock as :func:`try_lock` does; wait so many seconds for a process that has it."""
    deadline = time.monotonic() + seconds
    while (locked := try_lock(handle, shared=shared)) is False and time.monotonic() < deadline:
        time.sleep(0.02)
    return locked


def _remove_dead(temporary: Path) -> None:
    """Remove a file that nobody writes any more."""
    if temporary.is_symlink() or not temporary.is_file():
        return  # not ours
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
    check_outside_git(folder)
    created = [place for place in (folder, *folder.parents) if not place.exists()]
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    note = place_inside(folder, WRITER)
    handle = _locked(folder, wait)
    noted = handle is not None and _note(note, command)
    try:
        yield bool(created)
    finally:
        if noted:
            with contextlib.suppress(OSError):
                note.unlink()
        for place in created:
            with contextlib.suppress(OSError):  # it holds something, or is gone already
                place.rmdir()
        if handle is not None:
            os.close(handle)


def _note(note: Path, command: str) -> bool:
    """Write who has the lock into a new file, never into one that is there; tell whether it is."""
    who = f"process {os.getpid()} on {socket.gethostname()}, {' '.join(command.split())[:200]}"
    with contextlib.suppress(OSError):
        note.unlink(missing_ok=True)  # of one that was killed
        handle = os.open(note, os.O_WRONLY | os.O_CLOEXEC | NEW, 0o666)
        with open(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(who)
        return True
    return False


def _locked(folder: Path, wait: float) -> int | None:
    """Lock a folder and return the handle; ``None`` where there are no such locks."""
    if os.name == "nt":  # folders cannot be opened there
        return None
    with disk_errors(folder, "open"):
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    locked = wait_for_lock(handle, wait)
    if locked:
        return handle
    os.close(handle)
    if locked is None:
        return None
    who, note = "another process", folder / WRITER
    with contextlib.suppress(OSError):
        if note.is_file() and not note.is_symlink():
            who = note.read_text(encoding="utf-8", errors="replace")[:400]
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

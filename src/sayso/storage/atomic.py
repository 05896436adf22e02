"""Writing a file in one piece; a failure to write is one line for the user."""

from __future__ import annotations

import contextlib
import errno
import os
import re
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
        return "a file stands where a folder is needed"
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


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Give a file to write; at the end it takes the place of ``path``, or vanishes on an error."""
    temporary = path.with_name(f"{path.name}.tmp-{os.getpid()}")
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        for old in path.parent.iterdir():
            if re.fullmatch(rf"{re.escape(path.name)}\.tmp-\d+", old.name):
                old.unlink(missing_ok=True)
        file = temporary.open("wb")
    try:
        yield file
        with disk_errors(path):
            file.flush()
            os.fsync(file.fileno())
            file.close()
            temporary.replace(path)
            sync_folder(path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            file.close()
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def sync_folder(path: Path) -> None:
    """Force a renaming to disk."""
    if os.name == "nt":  # folders cannot be opened there
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

"""Where memory or disk runs out while training: told in one line, however a library reports it."""

from __future__ import annotations

import contextlib
import errno
import gc
import os
from collections.abc import Iterator
from pathlib import Path

from sayso.records import InputError

#: what libraries say where memory or disk runs out without raising the class for it
NO_MEMORY = ("out of memory", "can't allocate memory", "alloc_cpu", "not enough memory")
NO_SPACE = ("no space left", "disk quota exceeded", "os error 28", "file write failed")

#: where not even one row fits
NO_ROOM = "memory ran out with one row at a time: use a smaller model or a lower cutoff"


@contextlib.contextmanager
def full_disk(place: Path) -> Iterator[None]:
    """Turn a full disk, however a library reports it, into one line."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        number = getattr(error, "errno", None)
        text = f"{error} {error.__cause__ or ''}".lower()
        if number in (errno.ENOSPC, errno.EDQUOT) or any(sign in text for sign in NO_SPACE):
            raise InputError(
                f"disk is full while training into {place}; free some space and run again: it "
                "goes on from the last whole checkpoint"
            ) from error
        if isinstance(error, OSError) and number is not None:
            raise InputError(f"cannot write {place}: {error.strerror or error}") from error
        raise


def one_process() -> None:
    """Refuse several GPUs or processes, which would change the size of a batch. InputError."""
    import torch

    processes = int(os.environ.get("WORLD_SIZE", "1"))
    if processes > 1:
        raise InputError(
            f"sayso trains in one process, not in {processes}: write the rows with --export trl, "
            "and train on them with TRL under your accelerate config"
        )
    if torch.cuda.device_count() > 1:
        raise InputError(
            f"{torch.cuda.device_count()} GPUs are visible, and sayso trains on one: set "
            "CUDA_VISIBLE_DEVICES=0; for all of them, write the rows with --export trl and train "
            "with TRL"
        )


def divisor(batch: int, most: int) -> int:
    """Return the largest number up to ``most`` that divides a batch without a rest."""
    return next(n for n in range(max(1, min(most, batch)), 0, -1) if batch % n == 0)


def out_of_memory(error: BaseException) -> bool:
    """Tell whether an error means that memory ran out."""
    import torch

    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return any(sign in str(error).lower() for sign in NO_MEMORY)


def free() -> None:
    """Give back what a trainer that failed held."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()

"""Arrays of a run folder: one float16 row for each id, read from the disk as they are looked at.

Two files: ``<name>.npy`` and ``<name>.ids.json``, which says whose rows they are. The ids are
removed before a new array takes its place and written after it: where they are, the array is
theirs and whole, whenever a writer was killed.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.atomic import disk_errors, replacing
from sayso.records import InputError

Half = NDArray[np.float16]


class ArrayHead(msgspec.Struct, frozen=True):
    """Whose rows an array holds. ``source`` is a hash of all that the rows were made of."""

    source: str
    ids: tuple[str, ...]


def _ids(place: Path) -> Path:
    return place.with_suffix(".ids.json")


def write_array(place: Path, head: ArrayHead, blocks: Iterable[Half]) -> None:
    """Write rows in one piece, streaming, then their ids.

    Raises :class:`InputError` for another number of rows than ids, or of rows of unequal width.
    """
    with disk_errors(place):
        _ids(place).unlink(missing_ok=True)
    rows, width = 0, None
    with replacing(place) as file, disk_errors(place):
        for block in blocks:
            found = np.ascontiguousarray(block, dtype="<f2")
            if width is None:
                width = found.shape[1]
                _begin(file, len(head.ids), width)
            if found.ndim != 2 or found.shape[1] != width:
                raise InputError(f"{place}: rows of shape {found.shape} beside rows of {width}")
            rows += len(found)
            file.write(found.tobytes())
        if width is None:
            _begin(file, 0, 0)
        if rows != len(head.ids):
            raise InputError(f"{place}: {rows} rows for {len(head.ids)} ids")
    with replacing(_ids(place)) as file, disk_errors(place):
        file.write(msgspec.json.encode(head))


def _begin(file: object, rows: int, width: int) -> None:
    shape = {"descr": "<f2", "fortran_order": False, "shape": (rows, width)}
    np.lib.format.write_array_header_1_0(file, shape)  # type: ignore[arg-type]


def read_head(place: Path) -> ArrayHead | None:
    """Return whose rows an array holds; ``None`` where there is none that is whole."""
    if not _ids(place).is_file() or not place.is_file():
        return None
    try:
        with disk_errors(place, "read"):
            return msgspec.json.decode(_ids(place).read_bytes(), type=ArrayHead)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{_ids(place)} is damaged ({error}): delete it and run again") from error


def read_array(place: Path) -> tuple[ArrayHead, Half] | None:
    """Return ids and rows (n, d), mapped from the file; ``None`` where there is none.

    Raises :class:`InputError` for a file that is no such array.
    """
    head = read_head(place)
    if head is None:
        return None
    try:
        with disk_errors(place, "read"):
            rows = np.load(place, mmap_mode="r" if head.ids else None, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise InputError(f"{place} is damaged ({error}): delete it and run again") from error
    if not isinstance(rows, np.ndarray) or rows.dtype != np.float16 or rows.ndim != 2:
        raise InputError(f"{place} holds no float16 rows: delete it and run again")
    if len(rows) != len(head.ids):
        raise InputError(f"{place} has {len(rows)} rows for {len(head.ids)} ids: run again")
    return head, rows

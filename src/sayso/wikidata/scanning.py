"""One pass over one part of a dump, with its place on disk: killed anywhere, it goes on from there.

A part of a stage has two files: ``N.side``, to which rows are appended, and ``N.state``, replaced
in one piece, which says how far the part was read and how long the side file was then.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

import msgspec

from sayso.atomic import disk_errors, replacing
from sayso.records import InputError
from sayso.wikidata.reading import Part, Place, read_lines
from sayso.wikidata.stages import NAMED, Problem, Task, open_stage

#: seconds between two states on disk; tenths of a second that a lock is waited for
INTERVAL, WAITS = 20.0, 30


class State(msgspec.Struct, frozen=True):
    """How far a part was read: the place, what was found, how many problems there were."""

    place: Place
    done: bool
    side: int
    payload: bytes
    problems: tuple[Problem, ...] = ()
    wrong: dict[str, int] = {}


Progress = Callable[[int, int, bool], None]


def scan(
    task: Task,
    part: Part,
    stem: Path,
    *,
    progress: Progress | None = None,
    interval: float = INTERVAL,
) -> State:
    """Read a part for a stage, from where it was left, and return its last state.

    ``stem`` is the name of both files without their endings. ``progress`` is told the unpacked
    bytes read so far, the last line, and whether that was all, with every state.
    """
    state = read_state(stem)
    if state is not None and state.done:
        return state
    stage = open_stage(task)
    problems: list[Problem] = []
    wrong: dict[str, int] = {}
    place = Place()
    if state is not None:
        stage.load(state.payload)
        problems, wrong, place = list(state.problems), dict(state.wrong), state.place
    side_path = stem.with_suffix(".side")
    with disk_errors(side_path):
        stem.parent.mkdir(parents=True, exist_ok=True)
        side = side_path.open("ab")
    _lock(side, stem)
    with disk_errors(side_path):
        side.truncate(state.side if state else 0)
        side.seek(0, os.SEEK_END)

    def commit(done: bool) -> State:
        with disk_errors(side_path):
            side.flush()
            os.fsync(side.fileno())
        found = State(place, done, side.tell(), stage.save(), tuple(problems), wrong)
        with replacing(stem.with_suffix(".state")) as file:
            file.write(msgspec.msgpack.encode(found))
        return found

    def tell(number: int, what: str) -> None:
        kind = problem_kind(what)
        wrong[kind] = wrong.get(kind, 0) + 1
        if wrong[kind] <= NAMED:
            problems.append(Problem(part.name, number, what))

    with side:
        due = time.monotonic() + interval
        for lines in read_lines(part, place):
            with disk_errors(side_path):
                for number, what in stage.feed(lines, side):
                    tell(number, what)
            # from outside a part looks alike in every pass: it is told once
            if lines.problem and task.stage == "members":
                tell(lines.first, lines.problem)
            place = lines.after
            if time.monotonic() >= due:
                commit(False)
                due = time.monotonic() + interval
                if progress:
                    progress(place.offset, place.line - 1, False)
        final = commit(True)
    if progress:
        progress(place.offset, place.line - 1, True)
    return final


def _lock(side: IO[bytes], stem: Path) -> None:
    """Keep a second command from writing to the same file; one that ends just now is waited for."""
    try:
        import fcntl
    except ModuleNotFoundError:  # no such locks there
        return
    for attempt in range(WAITS):
        try:
            fcntl.flock(side, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.1 * (attempt + 1 < WAITS))
        except OSError:  # a file system without locks
            return
        else:
            return
    side.close()
    raise InputError(
        f"{stem.parent.parent}: another sayso build is reading into this folder; let it finish, "
        "or choose another --out"
    )


def problem_kind(what: str) -> str:
    """Return the kind of a problem, for counting: its words without what stands only here."""
    for kind in (
        "cut off", "no JSON object", "no UTF-8", "not read", "cannot be read from here on",
        "unknown datatype", "has no label",
    ):  # fmt: skip
        if kind in what:
            return kind
    return "statement cannot be read" if what.startswith("statement") else "cannot be read"


def read_state(stem: Path) -> State | None:
    """Return the last state of a part, ``None`` where there is none that can be used."""
    try:
        data = stem.with_suffix(".state").read_bytes()
        state = msgspec.msgpack.decode(data, type=State)
        size = stem.with_suffix(".side").stat().st_size
    except (OSError, msgspec.DecodeError):
        return None
    return state if size >= state.side else None


def trim(stem: Path, state: State) -> None:
    """Take off the side file what was written after its last state."""
    side = stem.with_suffix(".side")
    if side.stat().st_size > state.side:
        with disk_errors(side):
            os.truncate(side, state.side)


__all__ = ["INTERVAL", "State", "problem_kind", "read_state", "scan", "trim"]

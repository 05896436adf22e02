"""From a Wikidata JSON dump to the excerpt that a benchmark is made of, in three passes.

1. ``classes``: subclass edges of the whole dump, closed from the classes that the plan names.
2. ``members``: the entities of the domains are counted and sampled.
3. ``labels``: names of everything the sample's statements point to.

Each pass keeps its place on disk, under a name that depends on all that goes into it: after any
interruption the same command continues there, and another plan for the same dump reuses the first
pass. A part of a pass has two files: ``N.side``, to which rows are appended, and ``N.state``,
replaced in one piece, which says how far the part was read and how long the side file was then.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import IO, NamedTuple, TypeVar

import msgspec
import numpy as np

from sayso.processes import worker_pool
from sayso.records import InputError, content_id
from sayso.storage.atomic import disk_errors, replacing, wait_for_lock
from sayso.wikidata.entities import Entity
from sayso.wikidata.excerpt import Excerpt, Problem, ids_to_name, problem_kind
from sayso.wikidata.passes import Members, PassTask, closure, name_hash, open_stage
from sayso.wikidata.plan import Domain, DomainPlan
from sayso.wikidata.templates import Templates
from sayso.wikidata.unpack import DumpPart, LinePlace, find_parts, read_dump_lines

#: increase when a pass yields something else, so that its older work is not continued
FORMAT = 3
#: seconds between two states on disk
INTERVAL = 20.0


class DumpProgress(NamedTuple):
    """How far a pass is: parts done and all of them, unpacked bytes and lines so far."""

    stage: str
    done: int
    parts: int
    offset: int
    lines: int


class DumpReading(NamedTuple):
    """How a dump is read: by how many processes, with what seconds between two states."""

    workers: int = 1
    interval: float = INTERVAL
    progress: Callable[[DumpProgress], None] | None = None


def read_dump(
    source: Path,
    plan: DomainPlan,
    folder: Path,
    templates: Templates,
    *,
    seed: int = 0,
    fresh: str = "",
    reading: DumpReading | None = None,
) -> Excerpt:
    """Read a dump for a plan; what is needed to continue after a kill is kept under ``folder``."""
    reading = reading or DumpReading()
    parts = find_parts(source)
    work = folder / "scan" / content_id([FORMAT, [(p.name, p.size, p.stamp) for p in parts]])
    deep = any(domain.subclasses for domain in plan.domains.values())
    classes = run_stage(PassTask("classes", plan), parts, work, reading) if deep else []
    edges = _sides(work, "classes", classes)
    members_in = work / content_id([plan, seed, fresh])
    ids = {
        name: _write_ids(members_in, _classes(domain, edges))
        for name, domain in plan.domains.items()
    }
    task = PassTask("members", plan, seed, ids, fresh)
    states = run_stage(task, parts, members_in, reading)
    members = Members(task)
    for state in states:
        members.load(state.payload)
    samples = {
        name: [
            [msgspec.msgpack.decode(data, type=Entity) for _, _, data in stratum.rows()]
            for stratum in strata
        ]
        for name, strata in members.samples.items()
    }
    everyone = [one for strata in samples.values() for stratum in strata for one in stratum]
    wanted = ids_to_name(everyone, _askable(members, templates))
    labels_in = members_in / content_id(sorted(wanted))
    task = PassTask("labels", plan, ids={"labels": _write_ids(labels_in, wanted)})
    labels = run_stage(task, parts, labels_in, reading)
    day, day_from = _day(parts, source, members.modified)
    wrong, problems = _problems(states, classes, labels)
    return Excerpt(
        source=source.name,
        plan=plan,
        seed=seed,
        entities={name: strata[:-1] for name, strata in samples.items()},
        fresh_after=fresh,
        fresh={name: strata[-1] for name, strata in samples.items()},
        population={
            name: [members.population[name][n] for n in range(len(domain.edges) + 1)]
            for name, domain in plan.domains.items()
        },
        properties={name: dict(counts) for name, counts in members.properties.items()},
        kinds=members.kinds,
        names=_names(_sides(labels_in, "labels", labels)),
        namesakes=_namesakes(_sides(members_in, "members", states), samples, plan),
        day=day,
        day_from=day_from,
        counts={
            **members.counts,
            "parts": len(parts),
            "bytes": sum(s.place.offset for s in states),
        },
        wrong=wrong,
        problems=problems,
    )


def _sides(folder: Path, stage: str, states: Sequence[DumpState]) -> list[Path]:
    return [folder / stage / f"{n:05}.side" for n in range(len(states))]


def _classes(domain: Domain, edges: Sequence[Path]) -> set[int]:
    """Return the numbers of the classes that make an item a member of a domain."""
    named = {int(id[1:]) for id in domain.classes}
    return closure(edges, named) if domain.subclasses else named


def _write_ids(folder: Path, ids: Iterable[int] | Iterable[str]) -> str:
    """Write ids for the workers, under a name that depends on them."""
    lines = sorted(map(str, ids))
    path = folder / f"ids-{content_id(lines)}.txt"
    if not path.exists():
        with replacing(path) as file:
            file.write("\n".join(lines).encode())
    return str(path)


def _askable(members: Members, templates: Templates) -> set[str]:
    """Return the properties of the domains that may be asked for."""
    return {
        property
        for counts in members.properties.values()
        for property in counts
        if templates.dropped(property, members.kinds[property]) is None
    }


def _names(files: Iterable[Path]) -> dict[str, Entity]:
    decoder = msgspec.json.Decoder(Entity)
    names: dict[str, Entity] = {}
    for file in files:
        with file.open("rb") as lines:
            for line in lines:
                entity = decoder.decode(line)
                names.setdefault(entity.id, entity)
    return names


def _namesakes(
    sides: Sequence[Path], samples: dict[str, list[list[Entity]]], plan: DomainPlan
) -> dict[str, int]:
    """Count the labels of the sample among those of all members."""
    hashes: dict[bytes, list[str]] = {}
    for number, strata in enumerate(samples.values()):
        for entity in (one for stratum in strata for one in stratum):
            key = name_hash(number, entity.labels[plan.languages[0]])
            hashes.setdefault(key, []).append(entity.id)
    wanted = np.unique(np.array([int.from_bytes(key, "little") for key in hashes], np.uint64))
    counts: Counter[int] = Counter()
    for side in sides:
        with side.open("rb") as file:
            while data := file.read(1 << 23):
                names = np.frombuffer(data, "<u8")
                counts.update(names[np.isin(names, wanted)].tolist())
    return {id: counts[int.from_bytes(key, "little")] for key, ids in hashes.items() for id in ids}


_DAY = re.compile(r"(?<!\d)(20[12]\d)-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])(?!\d)")


def _day(parts: Sequence[DumpPart], source: Path, modified: str) -> tuple[str, str]:
    """Return the day that a dump describes, and what names it."""
    for name in (source.name, parts[0].name):
        if day := _DAY.search(name):
            return "-".join(day.groups()), "the name of the dump"
    if re.match(r"\d{4}-\d\d-\d\d", modified):
        return modified[:10], "the latest change of an entity read"
    return "", ""


def _problems(
    members: Sequence[DumpState], *others: Sequence[DumpState]
) -> tuple[dict[str, int], tuple[Problem, ...]]:
    """Join the problems of all passes; a line that is bad in several is named once."""
    wrong: Counter[str] = Counter()
    problems: list[Problem] = []
    for state in members:
        wrong.update(state.wrong)
        problems += state.problems
    seen = {(problem.part, problem.line) for problem in problems}
    for state in (state for states in others for state in states):
        new = [p for p in state.problems if (p.part, p.line) not in seen]
        wrong.update(problem_kind(p.what) for p in new)
        problems += new
        seen.update((p.part, p.line) for p in new)
    return dict(wrong), tuple(sorted(problems))


# ---- a pass over all parts, in this process or in several


def run_stage(
    task: PassTask, parts: Sequence[DumpPart], folder: Path, reading: DumpReading
) -> list[DumpState]:
    """Run a stage over all parts and return their last states, in the order of the parts."""
    reached = {part.name: Reached() for part in parts}

    def tell(name: str, place: Reached) -> None:
        reached[name] = place
        if reading.progress:
            offset = sum(one.place.offset for one in reached.values())
            lines = sum(one.place.line - 1 for one in reached.values())
            done = sum(one.done for one in reached.values())
            reading.progress(DumpProgress(task.stage, done, len(parts), offset, lines))

    stems = [folder / task.stage / f"{number:05}" for number in range(len(parts))]
    jobs = list(zip(parts, stems, strict=True))
    todo = [(part, stem) for part, stem in jobs if not ((s := read_dump_state(stem)) and s.done)]
    count = min(reading.workers, len(todo))
    if count > 1:
        _scan_in_processes(task, todo, count, reading.interval, tell)
    else:
        for part, stem in todo:
            scan(task, part, stem, reading.interval, tell)
    states = []
    for part, stem in jobs:
        state = read_dump_state(stem)
        if state is None or not state.done:
            raise InputError(f"{part.path}: it was not read to the end; run the same command again")
        side = stem.with_suffix(".side")
        if side.stat().st_size > state.side:  # rows that were written after the last state
            with disk_errors(side):
                os.truncate(side, state.side)
        states.append(state)
    return states


def _scan_in_processes(
    task: PassTask, todo: Sequence[tuple[DumpPart, Path]], count: int, interval: float, tell: Tell
) -> None:
    # large parts first, so that no process is left alone with one at the end
    order = sorted(todo, key=lambda job: -job[0].size)
    try:
        with worker_pool(count) as pool:
            running = {pool.submit(_scanned, task, *job, interval): job for job in order}
            while running:
                done, _ = wait(running, max(interval, 0.1), FIRST_COMPLETED)
                for future in done:
                    part, _ = running.pop(future)
                    tell(part.name, future.result())
                for part, stem in running.values():
                    if (state := _read(stem, Reached)) is not None:
                        tell(part.name, state)
    except BrokenProcessPool:
        raise InputError(
            f"{order[0][0].path.parent}: a process that read it ended (out of memory?); the same "
            "command goes on"
        ) from None


def _scanned(task: PassTask, part: DumpPart, stem: Path, interval: float) -> Reached:
    state = scan(task, part, stem, interval)
    return Reached(state.place, state.done, state.side)


# ---- a pass over one part

#: problems of a kind that are named; further ones are counted
NAMED = 10_000
#: seconds to wait for another command that is just ending
WAITS = 3.0


class Reached(msgspec.Struct, frozen=True):
    """How far a part was read: the place, whether that is its end, bytes of the side file."""

    place: LinePlace = LinePlace()
    done: bool = False
    side: int = 0


class DumpState(Reached, frozen=True):
    """What a part yielded so far: the stage's ``payload``, problems, and their number by kind."""

    payload: bytes = b""
    problems: tuple[Problem, ...] = ()
    wrong: dict[str, int] = {}


Kept = TypeVar("Kept", bound=Reached)
Tell = Callable[[str, Reached], None]


def scan(
    task: PassTask, part: DumpPart, stem: Path, interval: float = INTERVAL, tell: Tell | None = None
) -> DumpState:
    """Read a part for a stage, from where it was left, and return its last state.

    ``stem`` is the path of both files without their endings. ``tell`` gets the name of the part
    and every state.
    """
    state = read_dump_state(stem)
    if state is not None and state.done:
        return state
    stage = open_stage(task)
    problems: list[Problem] = []
    wrong: dict[str, int] = {}
    place = LinePlace()
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

    def commit(done: bool) -> DumpState:
        with disk_errors(side_path):
            side.flush()
            os.fsync(side.fileno())
        state = DumpState(place, done, side.tell(), stage.save(), tuple(problems), wrong)
        with replacing(stem.with_suffix(".state")) as file:
            file.write(msgspec.msgpack.encode(state))
        if tell:
            tell(part.name, state)
        return state

    def note(line: int, what: str) -> None:
        kind = problem_kind(what)
        wrong[kind] = wrong.get(kind, 0) + 1
        if wrong[kind] <= NAMED:
            problems.append(Problem(part.name, line, what))

    with side:
        due = time.monotonic() + interval
        for lines in read_dump_lines(part, place):
            with disk_errors(side_path):
                for line, what in stage.feed(lines, side):
                    note(line, what)
            # from outside a part looks alike in every pass: its faults are noted once
            if lines.problem and task.stage == "members":
                note(lines.first, lines.problem)
            place = lines.after
            if time.monotonic() >= due:
                commit(False)
                due = time.monotonic() + interval
        return commit(True)


def _lock(side: IO[bytes], stem: Path) -> None:
    """Keep a second command from writing to the same file; wait for one that is just ending."""
    if wait_for_lock(side.fileno(), WAITS) is False:
        side.close()
        raise InputError(
            f"{stem.parent.parent}: another sayso build is writing to this folder; let it finish, "
            "or choose another --out"
        )


def read_dump_state(stem: Path) -> DumpState | None:
    """Return the last state of a part, ``None`` where there is none that can be used."""
    return _read(stem, DumpState)


def _read(stem: Path, kind: type[Kept]) -> Kept | None:
    try:
        data = stem.with_suffix(".state").read_bytes()
        state = msgspec.msgpack.decode(data, type=kind)
        size = stem.with_suffix(".side").stat().st_size
    except (OSError, msgspec.DecodeError):
        return None
    return state if size >= state.side else None

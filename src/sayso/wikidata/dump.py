"""From a Wikidata JSON dump to what a benchmark is made of, in three passes.

1. ``classes``: subclass edges of the whole dump, closed from the classes that the plan names.
2. ``members``: the entities of the domains are counted and sampled.
3. ``labels``: names of everything the sample's statements point to.

Each pass keeps its place on disk, under a name that depends on all that goes into it, so the same
command goes on after any interruption, and another plan for the same dump reuses the first pass.
"""

from __future__ import annotations

import contextlib
import hashlib
import heapq
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import IO, NamedTuple, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.records import InputError, content_id
from sayso.storage.atomic import disk_errors, replacing
from sayso.wikidata.entities import Entity, LineError, fresh_facts, parse, superclasses
from sayso.wikidata.found import Found, Problem, wanted_names
from sayso.wikidata.plan import Plan
from sayso.wikidata.templates import Templates
from sayso.wikidata.unpack import (
    Lines,
    Part,
    Place,
    by_line,
    cut,
    find_parts,
    item_number,
    no_text,
    own_id,
    places,
    pointing,
    read_lines,
    statements,
)

# The subclass closure of Wikidata's classes, from edges that were found in a dump.

#: one edge in a file: the number of a class and that of one of its superclasses
EDGE = np.dtype([("child", "<u8"), ("parent", "<u8")])


def closure(files: Sequence[Path], roots: Iterable[int]) -> set[int]:
    """Return the roots and everything below them. Circles are allowed, and so are unknown roots.

    ``files`` hold edges as :data:`EDGE`. Memory is two numbers for each edge.
    """
    parts = [np.fromfile(file, dtype=EDGE) for file in files]
    edges = np.concatenate([np.empty(0, EDGE), *parts])
    order = np.argsort(edges["parent"], kind="stable")
    parents, children = edges["parent"][order], edges["child"][order]
    found = set(roots)
    frontier = np.array(sorted(found), dtype=np.uint64)
    while len(frontier):
        below = np.unique(_children(parents, children, frontier))
        new = [number for number in below.tolist() if number not in found]
        found.update(new)
        frontier = np.array(new, dtype=np.uint64)
    return found


def _children(
    parents: NDArray[np.uint64], children: NDArray[np.uint64], frontier: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    starts = np.searchsorted(parents, frontier, side="left")
    ends = np.searchsorted(parents, frontier, side="right")
    spans = [children[a:b] for a, b in _spans(starts, ends)]
    return np.concatenate([np.empty(0, np.uint64), *spans])


def _spans(starts: NDArray[np.intp], ends: NDArray[np.intp]) -> Iterator[tuple[int, int]]:
    for a, b in zip(starts.tolist(), ends.tolist(), strict=True):
        if a < b:
            yield a, b


# A sample of entities that does not depend on the order they come in.
#
# Every entity gets a random number from its id and the seed; a stratum keeps those with the
# lowest.
# So parts can be read in any order, by any number of processes, and interrupted anywhere.


def ticket(seed: int, id: str) -> int:
    """Return the random number of an entity, 64 bits."""
    digest = hashlib.blake2b(f"{seed}:{id}".encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big")


class Stratum:
    """The ``most`` entities of a stratum with the lowest tickets, as bytes."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._heap: list[tuple[int, str, bytes]] = []
        self._ids: set[str] = set()

    def wants(self, number: int) -> bool:
        """Tell whether an entity with this ticket would be kept."""
        return len(self._heap) < self.most or -number > self._heap[0][0]

    def put(self, number: int, id: str, data: bytes) -> None:
        """Offer an entity; one that came before under its id is not taken twice."""
        if id in self._ids or not self.wants(number):
            return
        self._ids.add(id)
        entry = (-number, id, data)
        if len(self._heap) < self.most:
            heapq.heappush(self._heap, entry)
        else:
            self._ids.discard(heapq.heappushpop(self._heap, entry)[1])

    def rows(self) -> list[tuple[int, str, bytes]]:
        """Return (ticket, id, entity) in order of tickets."""
        return sorted((-number, id, data) for number, id, data in self._heap)


# What is looked for in each of the three passes over a dump.
#
# ``classes``: what is a subclass of what. ``members``: entities of the domains, counted, and a
# sample of them kept. ``labels``: what items and properties are called. Each stage is fed many
# lines
# at once, keeps a small state, and writes rows that grow with the dump to a side file.

#: problems of a kind that are named; further ones are counted
NAMED = 10_000
_OPEN, _CLOSE = b"{}"


class Task(msgspec.Struct, frozen=True):
    """What a stage needs to know. ``ids`` are files of numbers or ids, one a line.

    Entities of which something is true only since after ``fresh`` are sampled apart.
    """

    stage: str
    plan: Plan
    seed: int = 0
    ids: dict[str, str] = {}
    fresh: str = ""


class Stage(Protocol):
    """A pass. ``feed`` is given all whole lines; a state can be saved and loaded in between."""

    counts: Counter[str]

    def feed(self, lines: Lines, side: IO[bytes]) -> Iterator[tuple[int, str]]:
        """Take lines; yield what was wrong with one, and its number."""

    def save(self) -> bytes:
        """Return the state."""

    def load(self, state: bytes) -> None:
        """Go on from a state."""


class Classes:
    """Edges from classes to their superclasses, in the side file."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def feed(self, lines: Lines, side: IO[bytes]) -> Iterator[tuple[int, str]]:
        for line, starts in by_line(places(lines.text, b"P279"), lines.spans).items():
            try:
                child, parents = _superclasses(lines.text, *lines.spans[line], starts)
            except LineError as error:
                yield lines.first + line, str(error)
                continue
            number = item_number(child)
            if number is not None:
                above = map(item_number, parents)
                edges = [(number, parent) for parent in above if parent is not None]
                side.write(np.array(edges, dtype=EDGE).tobytes())
                self.counts["edges"] += len(edges)

    def save(self) -> bytes:
        return msgspec.msgpack.encode(dict(self.counts))

    def load(self, state: bytes) -> None:
        self.counts = Counter(msgspec.msgpack.decode(state, type=dict[str, int]))


def _superclasses(text: bytes, start: int, end: int, starts: list[int]) -> tuple[str, list[str]]:
    """Read a short line of the list of superclasses alone where that is plain, and else all."""
    id = own_id(text, start, end)
    lists = [one for at in starts if (one := statements(text, at, end)) is not None]
    if id is not None and len(lists) == 1 and text[end - 1] == _CLOSE:
        with contextlib.suppress(LineError):
            return superclasses(b'{"id":"%b","claims":{"P279":%b}}' % (id, lists[0]))
    return superclasses(text[start:end])


class _Members(msgspec.Struct):
    counts: dict[str, int]
    population: dict[str, dict[int, int]]
    properties: dict[str, dict[str, int]]
    kinds: dict[str, str]
    modified: str
    samples: dict[str, dict[int, list[tuple[int, str, bytes]]]]


class Members:
    """Entities of the domains: how many there are by stratum, their properties, a sample.

    The side file gets eight bytes of a hash for each name, so that namesakes can be counted.
    """

    def __init__(self, task: Task) -> None:
        self.counts: Counter[str] = Counter()
        self.plan, self.seed, self.fresh = task.plan, task.seed, task.fresh
        self.members = {
            name: frozenset(map(int, Path(file).read_bytes().split()))
            for name, file in task.ids.items()
        }
        self.all = frozenset().union(*self.members.values())
        self.numbers = {name: n for n, name in enumerate(task.plan.domains)}
        self.population: dict[str, Counter[int]] = {name: Counter() for name in self.members}
        self.properties: dict[str, Counter[str]] = {name: Counter() for name in self.members}
        self.kinds: dict[str, str] = {}
        self.modified = ""
        self.samples = {
            # the last one is for what is fresh
            name: [Stratum(domain.entities) for _ in range(len(domain.edges) + 2)]
            for name, domain in task.plan.domains.items()
        }

    def feed(self, lines: Lines, side: IO[bytes]) -> Iterator[tuple[int, str]]:
        text = lines.text
        broken = set()
        for line, (start, end) in enumerate(lines.spans):
            if end - start > 1 and text[start] == _OPEN and text[end - 1] == _CLOSE:
                self.counts["entities"] += 1
            elif wrong := cut(text[start:end]):
                broken.add(line)
                yield lines.first + line, wrong
        for line in pointing(text, lines.spans, b"P31", self.all):
            if line not in broken:
                start, end = lines.spans[line]
                for what in self._line(text[start:end], side):
                    yield lines.first + line, what

    def _line(self, data: bytes, side: IO[bytes]) -> list[str]:
        wrong = no_text(data)
        if wrong:
            return [wrong]
        self.counts["parsed"] += 1
        try:
            entity = parse(data, self.plan.languages)
        except LineError as error:
            return [str(error)]
        told = list(entity.problems)
        classes = set(map(item_number, entity.items("P31")))
        for name, domain in self.plan.domains.items():
            if self.members[name].isdisjoint(classes):
                continue
            if all(set(entity.items(p)) & set(items) for p, items in domain.where.items()):
                told += self._member(name, entity, side)
        return told

    def _member(self, name: str, entity: Entity, side: IO[bytes]) -> list[str]:
        self.counts["members"] += 1
        self.modified = max(self.modified, entity.modified)
        label = entity.labels.get(self.plan.languages[0], "").strip()
        if not label:
            return [f"{entity.id} has no label in {self.plan.languages[0]!r}"]
        domain = self.plan.domains[name]
        stratum = domain.stratum(entity.count, entity.sitelinks)
        self.population[name][stratum] += 1
        kinds = {s.property: s.kind for s in entity.statements if s.rank != "deprecated"}
        self.properties[name].update(kinds.keys())
        self.kinds.update(kinds)
        side.write(name_hash(self.numbers[name], label))
        number = ticket(self.seed, entity.id)
        strata = [self.samples[name][stratum]]
        if self.fresh and fresh_facts(entity, self.fresh):
            strata.append(self.samples[name][-1])
            self.counts["fresh"] += 1
        for sample in strata:
            if sample.wants(number):
                bare = msgspec.structs.replace(entity, problems=())
                sample.put(number, entity.id, msgspec.msgpack.encode(bare))
        return []

    def save(self) -> bytes:
        samples = {
            name: {n: stratum.rows() for n, stratum in enumerate(strata)}
            for name, strata in self.samples.items()
        }
        state = _Members(
            dict(self.counts),
            {name: dict(found) for name, found in self.population.items()},
            {name: dict(found) for name, found in self.properties.items()},
            self.kinds,
            self.modified,
            samples,
        )
        return msgspec.msgpack.encode(state)

    def load(self, state: bytes) -> None:
        found = msgspec.msgpack.decode(state, type=_Members)
        self.counts.update(found.counts)
        for name, population in found.population.items():
            self.population[name].update(population)
            self.properties[name].update(found.properties[name])
            for number, rows in found.samples[name].items():
                for row in rows:
                    self.samples[name][number].put(*row)
        self.kinds.update(found.kinds)
        self.modified = max(self.modified, found.modified)


class Labels:
    """Names of items and properties that are asked for, as JSON lines in the side file."""

    def __init__(self, task: Task) -> None:
        self.counts: Counter[str] = Counter()
        self.languages = task.plan.languages
        self.wanted = frozenset(Path(task.ids["labels"]).read_bytes().split())

    def feed(self, lines: Lines, side: IO[bytes]) -> Iterator[tuple[int, str]]:
        text = lines.text
        # every line is checked here, in the quickest pass
        ascii = text.isascii()
        for number, (start, end) in enumerate(lines.spans, lines.first):
            wrong = None if ascii else no_text(text[start:end])
            if wrong:
                yield number, wrong
                continue
            id = own_id(text, start, end)
            if id in self.wanted or (id is None and end - start > 1):
                try:
                    self._line(text[start:end], side)
                except LineError as error:
                    yield number, str(error)

    def _line(self, data: bytes, side: IO[bytes]) -> None:
        entity = parse(data, self.languages)
        if entity.id.encode() in self.wanted:
            self.counts["labels"] += 1
            named = msgspec.structs.replace(entity, statements=(), problems=())
            side.write(msgspec.json.encode(named) + b"\n")

    def save(self) -> bytes:
        return msgspec.msgpack.encode(dict(self.counts))

    def load(self, state: bytes) -> None:
        self.counts = Counter(msgspec.msgpack.decode(state, type=dict[str, int]))


def name_hash(domain: int, label: str) -> bytes:
    """Return eight bytes for a name within a domain; case and spacing do not matter."""
    plain = " ".join(label.casefold().split())
    return hashlib.blake2b(f"{domain}:{plain}".encode("utf-8", "replace"), digest_size=8).digest()


def open_stage(task: Task) -> Stage:
    """Return the stage that a task names."""
    if task.stage == "classes":
        return Classes()
    return Members(task) if task.stage == "members" else Labels(task)


# One pass over one part of a dump, with its place on disk: killed anywhere, it goes on from
# there.
#
# A part of a stage has two files: ``N.side``, to which rows are appended, and ``N.state``,
# replaced
# in one piece, which says how far the part was read and how long the side file was then.

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


# A pass over all parts of a dump, in this process or in several.
#
# The processes are plain subprocesses that get one JSON line for each part and answer with JSON
# lines; what they find is on disk. They end at once when their pipe does, so a killed parent
# leaves
# none behind that would write on.


class Job(msgspec.Struct, frozen=True):
    """One part for one stage, as it is sent to a worker."""

    task: Task
    name: str
    path: str
    size: int
    stamp: int
    stem: str
    interval: float


class Report(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a worker says: unpacked bytes and lines so far, the end, or a user's mistake."""

    offset: int = 0
    lines: int = 0
    done: bool = False
    error: str = ""


class Step(NamedTuple):
    """How far a pass is: parts done and all of them, unpacked bytes and lines so far."""

    stage: str
    done: int
    parts: int
    offset: int
    lines: int


def run_stage(
    task: Task,
    parts: Sequence[Part],
    folder: Path,
    *,
    workers: int = 1,
    interval: float = INTERVAL,
    progress: Callable[[Step], None] | None = None,
) -> list[State]:
    """Run a stage over all parts and return their last states, in the order of the parts."""
    where = {part.name: (0, 0, False) for part in parts}
    lock = Lock()

    def tell(name: str, offset: int, lines: int, done: bool) -> None:
        with lock:
            where[name] = offset, lines, done
            if progress:
                offsets, numbers, finished = zip(*where.values(), strict=True)
                progress(Step(task.stage, sum(finished), len(parts), sum(offsets), sum(numbers)))

    stems = [folder / task.stage / f"{number:05}" for number in range(len(parts))]
    jobs = list(zip(parts, stems, strict=True))
    todo = [job for job in jobs if not _finished(job[1])]
    count = min(workers, len(todo))
    if count > 1:
        _in_processes(task, todo, count, interval, tell)
    else:
        for part, stem in todo:
            scan(task, part, stem, interval=interval, progress=_named(tell, part.name))
    states = [read_state(stem) for _, stem in jobs]
    for (part, stem), state in zip(jobs, states, strict=True):
        if state is None or not state.done:
            raise InputError(f"{part.path}: reading it did not come to an end; repeat the command")
        trim(stem, state)
    return [state for state in states if state is not None]


def _finished(stem: Path) -> bool:
    state = read_state(stem)
    return state is not None and state.done


def _named(
    tell: Callable[[str, int, int, bool], None], name: str
) -> Callable[[int, int, bool], None]:
    return lambda offset, lines, done: tell(name, offset, lines, done)


def _in_processes(
    task: Task,
    todo: Sequence[tuple[Part, Path]],
    count: int,
    interval: float,
    tell: Callable[[str, int, int, bool], None],
) -> None:
    # large parts first, so that no process is left alone with one at the end
    queue = sorted(todo, key=lambda job: job[0].size)
    processes: list[subprocess.Popen[bytes]] = []
    lock, stop = Lock(), Event()

    def serve(process: subprocess.Popen[bytes]) -> None:
        while not stop.is_set():
            with lock:
                if not queue:
                    return
                part, stem = queue.pop()
            _ask(process, Job(task, *_plain(part), str(stem), interval), tell)

    try:
        processes = [_start() for _ in range(count)]
        with ThreadPoolExecutor(count) as pool:
            futures = [pool.submit(serve, process) for process in processes]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                stop.set()
                for process in processes:
                    process.kill()
                raise
    finally:
        for process in processes:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.close()
            process.wait()
            process.stdout.close()


def _plain(part: Part) -> tuple[str, str, int, int]:
    return part.name, os.fspath(part.path), part.size, part.stamp


def _ask(
    process: subprocess.Popen[bytes], job: Job, tell: Callable[[str, int, int, bool], None]
) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(msgspec.json.encode(job) + b"\n")
    process.stdin.flush()
    for line in process.stdout:
        report = msgspec.json.decode(line, type=Report)
        if report.error:
            raise InputError(report.error)
        tell(job.name, report.offset, report.lines, report.done)
        if report.done:
            return
    raise InputError(
        f"{job.path}: the process that read it ended (out of memory?); the same command goes on"
    )


def _start() -> subprocess.Popen[bytes]:
    """Start a worker in a session of its own: Ctrl-C is for the parent."""
    here = str(Path(__file__).parent.parent.parent)
    path = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-m", "sayso.wikidata.dump"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
        start_new_session=True,
    )


def _say(report: Report) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(report) + b"\n")
    sys.stdout.buffer.flush()


def main() -> None:
    """Serve one parent until its pipe closes: between two jobs orderly, within one at once."""
    jobs: SimpleQueue[bytes | None] = SimpleQueue()
    busy = Event()

    def listen() -> None:
        for line in sys.stdin.buffer:
            busy.set()
            jobs.put(line)
        if busy.is_set():  # the parent is gone, and another may be about to read the same part
            os._exit(1)
        jobs.put(None)

    Thread(target=listen, daemon=True).start()
    while (line := jobs.get()) is not None:
        job = msgspec.json.decode(line, type=Job)
        part = Part(job.name, Path(job.path), job.size, job.stamp)

        def progress(offset: int, lines: int, done: bool) -> None:
            if not done:
                _say(Report(offset, lines))

        try:
            state = scan(job.task, part, Path(job.stem), interval=job.interval, progress=progress)
        except InputError as error:
            _say(Report(error=str(error)))
            return
        busy.clear()
        _say(Report(state.place.offset, state.place.line - 1, done=True))


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:  # the parent is gone
        sys.stderr.close()
        os._exit(1)

#: bump when what a pass finds changes, so that older work is not gone on with
FORMAT = 2
_DAY = re.compile(r"(?<!\d)(20[12]\d)-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])(?!\d)")


def read_dump(
    source: Path,
    plan: Plan,
    folder: Path,
    templates: Templates,
    *,
    seed: int = 0,
    fresh: str = "",
    workers: int = 1,
    interval: float = INTERVAL,
    progress: Callable[[Step], None] | None = None,
) -> Found:
    """Read a dump for a plan; what is needed to go on after a kill is kept under ``folder``."""
    parts = find_parts(source)
    work = folder / "scan" / content_id([FORMAT, [(p.name, p.size, p.stamp) for p in parts]])

    def run(task: Task, where: Path) -> list[State]:
        return run_stage(task, parts, where, workers=workers, interval=interval, progress=progress)

    roots = {name: _numbers(domain.classes) for name, domain in plan.domains.items()}
    deep = any(domain.subclasses for domain in plan.domains.values())
    classes = run(Task("classes", plan), work) if deep else []
    edges = [work / "classes" / f"{n:05}.side" for n in range(len(classes))]
    members_in = work / content_id([plan, seed, fresh])
    ids = {}
    for name, domain in plan.domains.items():
        below = closure(edges, roots[name]) if domain.subclasses else roots[name]
        ids[name] = _write_ids(members_in, below)
    task = Task("members", plan, seed, ids, fresh)
    states = run(task, members_in)
    members = Members(task)
    for state in states:
        members.load(state.payload)
    entities = {
        name: [
            [msgspec.msgpack.decode(data, type=Entity) for _, _, data in stratum.rows()]
            for stratum in strata
        ]
        for name, strata in members.samples.items()
    }
    fresh_ones = {name: strata.pop() for name, strata in entities.items()}
    kept = {name: [*strata, fresh_ones[name]] for name, strata in entities.items()}
    everyone = [one for strata in kept.values() for stratum in strata for one in stratum]
    askable = {
        property
        for found in members.properties.values()
        for property in found
        if templates.dropped(property, members.kinds[property]) is None
    }
    wanted = wanted_names(everyone, askable)
    labels_in = members_in / content_id(sorted(wanted))
    labels = run(Task("labels", plan, ids={"labels": _write_ids(labels_in, wanted)}), labels_in)
    names = _names(labels_in / "labels" / f"{n:05}.side" for n in range(len(labels)))
    day, day_from = _day(parts, source, members.modified)
    wrong, problems = _problems(states, classes, labels)
    sides = [members_in / "members" / f"{n:05}.side" for n in range(len(states))]
    return Found(
        source=source.name,
        plan=plan,
        seed=seed,
        entities=entities,
        fresh_after=fresh,
        fresh=fresh_ones,
        population={
            name: [members.population[name][n] for n in range(len(domain.edges) + 1)]
            for name, domain in plan.domains.items()
        },
        properties={name: dict(found) for name, found in members.properties.items()},
        kinds=members.kinds,
        names=names,
        namesakes=_namesakes(sides, kept, plan),
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


def _numbers(ids: Iterable[str]) -> set[int]:
    return {int(id[1:]) for id in ids}


def _write_ids(folder: Path, ids: Iterable[int] | Iterable[str]) -> str:
    """Write ids for the workers, under a name that depends on them."""
    lines = sorted(map(str, ids))
    place = folder / f"ids-{content_id(lines)}.txt"
    if not place.exists():
        with replacing(place) as file:
            file.write("\n".join(lines).encode())
    return str(place)


def _names(files: Iterable[Path]) -> dict[str, Entity]:
    decoder = msgspec.json.Decoder(Entity)
    found: dict[str, Entity] = {}
    for file in files:
        with file.open("rb") as lines:
            for line in lines:
                named = decoder.decode(line)
                found.setdefault(named.id, named)
    return found


def _namesakes(
    sides: Sequence[Path], entities: dict[str, list[list[Entity]]], plan: Plan
) -> dict[str, int]:
    """Count the labels of the sample among those of all members."""
    hashes: dict[bytes, list[str]] = {}
    for number, strata in enumerate(entities.values()):
        for entity in (one for stratum in strata for one in stratum):
            key = name_hash(number, entity.labels[plan.languages[0]])
            hashes.setdefault(key, []).append(entity.id)
    wanted = np.unique(np.array([int.from_bytes(key, "little") for key in hashes], np.uint64))
    counts: Counter[int] = Counter()
    for side in sides:
        with side.open("rb") as file:
            while data := file.read(1 << 23):
                found = np.frombuffer(data, "<u8")
                same = found[np.isin(found, wanted)]
                counts.update(same.tolist())
    return {id: counts[int.from_bytes(key, "little")] for key, ids in hashes.items() for id in ids}


def _day(parts: Sequence[Part], source: Path, modified: str) -> tuple[str, str]:
    """Return the day that a dump describes, and what says so."""
    for name in (source.name, parts[0].name):
        if found := _DAY.search(name):
            return "-".join(found.groups()), "the name of the dump"
    if re.match(r"\d{4}-\d\d-\d\d", modified):
        return modified[:10], "the latest change of an entity read"
    return "", ""


def _problems(
    members: Sequence[State], *others: Sequence[State]
) -> tuple[dict[str, int], tuple[Problem, ...]]:
    """Join the problems of all passes; a line that is bad in several is told once."""
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

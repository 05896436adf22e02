"""The three passes over a dump: what each looks for in the lines that it is fed.

``classes``: what is a subclass of what. ``members``: the entities of the domains are counted and
sampled. ``labels``: what items and properties are called. Each is fed many lines at once, keeps a
small state, and writes rows that grow with the dump to a side file.

Lines that can matter are chosen by their bytes before anything is parsed, rather too many than too
few. An id stands near the name of its property: both are fields of one snak, which has a bounded
size whatever the order of its fields and the white space between them. Where there is no id near
the name, the line is taken.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cache
from pathlib import Path
from typing import IO, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.wikidata.entities import (
    Entity,
    LineError,
    fresh_facts,
    parse_entity,
    plain_name,
    superclasses,
)
from sayso.wikidata.excerpt import Stratum, ticket
from sayso.wikidata.plan import DomainPlan
from sayso.wikidata.unpack import WholeLines

_OPEN, _CLOSE = b"{}"


class PassTask(msgspec.Struct, frozen=True):
    """What a stage needs to know. ``ids`` are files of numbers or ids, one a line.

    Entities of which something is true only since after ``fresh`` are sampled apart.
    """

    stage: str
    plan: DomainPlan
    seed: int = 0
    ids: dict[str, str] = {}
    fresh: str = ""


class DumpPass(Protocol):
    """A pass. ``feed`` is given all whole lines; a state can be saved and loaded in between."""

    counts: Counter[str]

    def feed(self, lines: WholeLines, side: IO[bytes]) -> Iterator[tuple[int, str]]:
        """Take lines; yield the number of each bad one, and what is wrong with it."""

    def save(self) -> bytes:
        """Return the state."""

    def load(self, state: bytes) -> None:
        """Go on from a state."""


def open_stage(task: PassTask) -> DumpPass:
    """Return the stage that a task names."""
    if task.stage == "classes":
        return Classes()
    return Members(task) if task.stage == "members" else LabelPass(task)


class _Counting:
    """A stage whose state is its counts."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def save(self) -> bytes:
        return msgspec.msgpack.encode(dict(self.counts))

    def load(self, state: bytes) -> None:
        self.counts = Counter(msgspec.msgpack.decode(state, type=dict[str, int]))


# ---- classes

#: one edge in a file: the number of a class and that of one of its superclasses
EDGE = np.dtype([("child", "<u8"), ("parent", "<u8")])


class Classes(_Counting):
    """Edges from classes to their superclasses, in the side file."""

    def feed(self, lines: WholeLines, side: IO[bytes]) -> Iterator[tuple[int, str]]:
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


def _superclasses(text: bytes, start: int, end: int, starts: list[int]) -> tuple[str, list[str]]:
    """Read only the list of superclasses where it can be cut out, else the whole line."""
    id = own_id(text, start, end)
    lists = [one for at in starts if (one := statements(text, at, end)) is not None]
    if id is not None and len(lists) == 1 and text[end - 1] == _CLOSE:
        with contextlib.suppress(LineError):
            return superclasses(b'{"id":"%b","claims":{"P279":%b}}' % (id, lists[0]))
    return superclasses(text[start:end])


def closure(files: Sequence[Path], roots: Iterable[int]) -> set[int]:
    """Return the roots and everything below them. Circles are allowed, and so are unknown roots.

    ``files`` hold edges as :data:`EDGE`. Memory is two numbers for each edge.
    """
    parts = [np.fromfile(file, dtype=EDGE) for file in files]
    edges = np.concatenate([np.empty(0, EDGE), *parts])
    order = np.argsort(edges["parent"], kind="stable")
    parents, children = edges["parent"][order], edges["child"][order]
    classes = set(roots)
    frontier = np.array(sorted(classes), dtype=np.uint64)
    while len(frontier):
        below = np.unique(_children(parents, children, frontier))
        new = [number for number in below.tolist() if number not in classes]
        classes.update(new)
        frontier = np.array(new, dtype=np.uint64)
    return classes


def _children(
    parents: NDArray[np.uint64], children: NDArray[np.uint64], frontier: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    starts = np.searchsorted(parents, frontier, side="left").tolist()
    ends = np.searchsorted(parents, frontier, side="right").tolist()
    spans = [children[a:b] for a, b in zip(starts, ends, strict=True) if a < b]
    return np.concatenate([np.empty(0, np.uint64), *spans])


# ---- members


class _PassMembers(msgspec.Struct):
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

    def __init__(self, task: PassTask) -> None:
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

    def feed(self, lines: WholeLines, side: IO[bytes]) -> Iterator[tuple[int, str]]:
        text = lines.text
        broken = set()
        for line, (start, end) in enumerate(lines.spans):
            if end - start > 1 and text[start] == _OPEN and text[end - 1] == _CLOSE:
                self.counts["entities"] += 1
            elif fault := object_fault(text[start:end]):
                broken.add(line)
                yield lines.first + line, fault
        for line in pointing(text, lines.spans, b"P31", self.all):
            if line not in broken:
                start, end = lines.spans[line]
                for fault in self._line(text[start:end], side):
                    yield lines.first + line, fault

    def _line(self, data: bytes, side: IO[bytes]) -> list[str]:
        if fault := text_fault(data):
            return [fault]
        self.counts["parsed"] += 1
        try:
            entity = parse_entity(data, self.plan.languages)
        except LineError as error:
            return [str(error)]
        faults = list(entity.problems)
        classes = set(map(item_number, entity.items("P31")))
        for name, domain in self.plan.domains.items():
            if self.members[name].isdisjoint(classes):
                continue
            if all(set(entity.items(p)) & set(items) for p, items in domain.where.items()):
                faults += self._member(name, entity, side)
        return faults

    def _member(self, name: str, entity: Entity, side: IO[bytes]) -> list[str]:
        self.counts["members"] += 1
        self.modified = max(self.modified, entity.modified)
        label = entity.labels.get(self.plan.languages[0], "").strip()
        if not label:
            return [f"{entity.id} has no label in {self.plan.languages[0]!r}"]
        domain = self.plan.domains[name]
        stratum = domain.stratum(entity)
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
        state = _PassMembers(
            dict(self.counts),
            {name: dict(counts) for name, counts in self.population.items()},
            {name: dict(counts) for name, counts in self.properties.items()},
            self.kinds,
            self.modified,
            samples,
        )
        return msgspec.msgpack.encode(state)

    def load(self, state: bytes) -> None:
        saved = msgspec.msgpack.decode(state, type=_PassMembers)
        self.counts.update(saved.counts)
        for name, population in saved.population.items():
            self.population[name].update(population)
            self.properties[name].update(saved.properties[name])
            for number, rows in saved.samples[name].items():
                for row in rows:
                    self.samples[name][number].put(*row)
        self.kinds.update(saved.kinds)
        self.modified = max(self.modified, saved.modified)


def name_hash(domain: int, label: str) -> bytes:
    """Return eight bytes for a name within a domain; case and spacing do not matter."""
    text = f"{domain}:{plain_name(label)}"
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()


# ---- labels


class LabelPass(_Counting):
    """Names of the wanted items and properties, as JSON lines in the side file."""

    def __init__(self, task: PassTask) -> None:
        super().__init__()
        self.languages = task.plan.languages
        self.wanted = frozenset(Path(task.ids["labels"]).read_bytes().split())

    def feed(self, lines: WholeLines, side: IO[bytes]) -> Iterator[tuple[int, str]]:
        text = lines.text
        # every line is checked here, in the quickest pass
        ascii = text.isascii()
        for number, (start, end) in enumerate(lines.spans, lines.first):
            fault = None if ascii else text_fault(text[start:end])
            if fault:
                yield number, fault
                continue
            id = own_id(text, start, end)
            if id in self.wanted or (id is None and end - start > 1):
                try:
                    self._line(text[start:end], side)
                except LineError as error:
                    yield number, str(error)

    def _line(self, data: bytes, side: IO[bytes]) -> None:
        entity = parse_entity(data, self.languages)
        if entity.id.encode() in self.wanted:
            self.counts["labels"] += 1
            named = msgspec.structs.replace(entity, statements=(), problems=())
            side.write(msgspec.json.encode(named) + b"\n")


# ---- lines that can matter, by their bytes

Spans = Sequence[tuple[int, int]]

#: bytes on both sides of ``"P31"`` in which its snak's value stands; a snak takes 200 to 300
NEAR = 500
#: an entity's own id stands in these first bytes, before its labels
HEAD = 400
#: bytes that are checked for UTF-8 at once: most of a line is ASCII, which is quick
PIECE = 1 << 12
_ID = re.compile(rb'\{\s*(?:"\w+"\s*:\s*(?:"[^"\\]*"|\d+)\s*,\s*)*?"id"\s*:\s*"([QPLE]\d+)"')
_LIST = re.compile(rb'"P\d+"\s*:\s*(?=\[\s*\{\s*"mainsnak")')
_LISTS_END = re.compile(
    rb'\}\s*\](?=\s*(?:,\s*"P\d+"\s*:\s*\[\s*\{\s*"mainsnak"|\}\s*,\s*"sitelinks"))'
)
_TARGET = re.compile(rb'"(?:id"\s*:\s*"Q|numeric-id"\s*:\s*)(\d{1,18})')
_ITEM = re.compile(r"Q[0-9]{1,18}")


def own_id(text: bytes, start: int = 0, end: int | None = None) -> bytes | None:
    """Return the id of a line's entity from its first bytes, or ``None`` where it is not there."""
    id = _ID.match(text, start, min(start + HEAD, len(text) if end is None else end))
    return id[1] if id else None


def item_number(id: str) -> int | None:
    """Return 42 for "Q42", ``None`` for anything but an item's id."""
    return int(id[1:]) if _ITEM.fullmatch(id) else None


def places(text: bytes, property: bytes) -> list[int]:
    """Return where ``"P31"`` stands in a text, in order; a property's id has three bytes or more.

    Four bytes of the name are compared with every four bytes of the text, many at once, and the
    rest only where they are found: three times as fast as ``bytes.find``.
    """
    name = b'"' + property + b'"'
    if len(text) < len(name):
        return []
    count = (len(text) - 3) // 4
    skip = len(name) - 5
    (word,) = np.frombuffer(name, np.uint32, 1, skip)
    hits = np.frombuffer(text, np.uint32, count) == word
    for shift in (1, 2, 3):
        hits |= np.frombuffer(text, np.uint32, count, shift) == word
    # the last bytes, which no four words cover, are looked at in any case
    groups = [*np.flatnonzero(hits).tolist(), count]
    starts = (4 * group - skip for group in groups)
    exact = (text.find(name, max(at, 0), at + 3 + len(name)) for at in starts)
    return [at for at in exact if at >= 0]


def by_line(starts: Iterable[int], spans: Spans) -> dict[int, list[int]]:
    """Sort places in a text, in order, by the index of the line in which they lie."""
    lines: dict[int, list[int]] = {}
    line = 0
    for at in starts:
        while line < len(spans) and at >= spans[line][1]:
            line += 1
        if line < len(spans) and at >= spans[line][0]:
            lines.setdefault(line, []).append(at)
    return lines


def pointing(text: bytes, spans: Spans, property: bytes, items: Set[int]) -> list[int]:
    """Return indexes of the lines in which a property may point to one of these items."""
    value = _value(property)
    lines = []
    for line, starts in by_line(places(text, property), spans).items():
        start, end = spans[line]
        seen = 0
        for at in starts:
            if at < seen:
                continue
            if exact := value.match(text, at, end):
                seen = exact.end()
                hit = int(exact[1]) in items
            else:
                near = _TARGET.findall(text, max(start, at - NEAR), min(end, at + NEAR))
                hit = not near or not items.isdisjoint(map(int, near))
            if hit:
                lines.append(line)
                break
    return lines


@cache
def _value(property: bytes) -> re.Pattern[bytes]:
    """A property and its item as Wikidata writes them, from the name of the property on.

    The name may stand there twice: as the key of the first statement, and inside that.
    """
    name = b'"' + property + b'"'
    twice = (b"(?:", b":", rb"\[", rb"\{", b'"mainsnak"', b":", rb"\{", b'"snaktype"', b":",
             b'"value"', b",", b'"property"', b":", name, b")?")  # fmt: skip
    hash = (b"(?:,", b'"hash"', b":", rb'"\w*"', b")?")
    item = (b",", b'"datavalue"', b":", rb"\{", b'"value"', b":", rb"\{", b'"entity-type"', b":",
            b'"item"', b",", b'"numeric-id"', b":", rb"(\d{1,18})", b",", b'"id"', b":",
            rb'"Q\1"')  # fmt: skip
    return re.compile(rb"\s*".join((name, *twice, *hash, *item)))


def statements(text: bytes, at: int, end: int) -> bytes | None:
    """Return the list of statements whose key is the property's name at ``at``.

    ``None`` where the bytes do not show it. The end of the list may carry bytes that follow it;
    the JSON reader notices them.
    """
    begin = _LIST.match(text, at, end)
    stop = _LISTS_END.search(text, begin.end(), end) if begin else None
    return text[begin.end() : stop.end()] if begin and stop else None


def object_fault(data: bytes) -> str | None:
    """Return what is wrong with a line from outside; ``None`` for a whole one or a bracket."""
    if data[:1] == b"{" and data[-1:] == b"}":
        return None
    if data in (b"", b"[", b"]"):
        return None
    return "is cut off" if data[:1] == b"{" else "is not a JSON object"


def text_fault(data: bytes) -> str | None:
    """Return where a line is no UTF-8, ``None`` for text."""
    if data.isascii():
        return None
    at = 0
    while at < len(data):
        end = at + PIECE
        while end < min(at + PIECE + 3, len(data)) and data[end] & 0xC0 == 0x80:
            end += 1  # a character of up to four bytes is not cut in two
        piece = data[at:end]
        try:
            piece.isascii() or piece.decode()
        except UnicodeDecodeError as error:
            return f"is not UTF-8 at its byte {at + error.start + 1}"
        at = end
    return None

"""What is looked for in each of the three passes over a dump.

``classes``: what is a subclass of what. ``members``: entities of the domains, counted, and a
sample of them kept. ``labels``: what items and properties are called. Each stage is fed many lines
at once, keeps a small state, and writes rows that grow with the dump to a side file.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Protocol

import msgspec
import numpy as np

from sayso.wikidata.closure import EDGE
from sayso.wikidata.domains import Plan
from sayso.wikidata.entities import Entity, LineError, parse, superclasses
from sayso.wikidata.freshness import fresh_facts
from sayso.wikidata.lines import (
    by_line,
    cut,
    item_number,
    no_text,
    own_id,
    places,
    pointing,
    statements,
)
from sayso.wikidata.reading import Lines
from sayso.wikidata.sample import Stratum, ticket

#: problems of a kind that are named; further ones are counted
NAMED = 10_000
_OPEN, _CLOSE = b"{}"


class Problem(msgspec.Struct, frozen=True, array_like=True, order=True):
    """Something in a dump that was left out, and where."""

    part: str
    line: int
    what: str


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


__all__ = ["NAMED", "Problem", "Stage", "Task", "name_hash", "open_stage"]

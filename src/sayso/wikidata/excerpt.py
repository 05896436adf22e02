"""The excerpt of Wikidata that a benchmark is made of, from a dump or a query service.

The sample in it does not depend on the order in which entities come: every entity gets a random
number from its id and the seed, and a stratum keeps those with the lowest. So the parts of a dump
can be read in any order, by any number of processes, and interrupted anywhere.
"""

from __future__ import annotations

import hashlib
import heapq
from pathlib import Path

import msgspec

from sayso.records import InputError
from sayso.storage.atomic import disk_errors, replacing
from sayso.wikidata.entities import Entity
from sayso.wikidata.plan import DomainPlan
from sayso.wikidata.templates import Templates

FILE = "found.msgpack"
#: what names the source's day where a person does
AS_OF = "--as-of"


class Problem(msgspec.Struct, frozen=True, array_like=True, order=True):
    """Something in a dump that was left out, and where."""

    part: str
    line: int
    what: str


def problem_kind(what: str) -> str:
    """Return the kind of a problem, for counting: its words without what is particular to it."""
    for kind in (
        "cut off", "no JSON object", "no UTF-8", "not read", "cannot be read from here on",
        "unknown datatype", "has no label",
    ):  # fmt: skip
        if kind in what:
            return kind
    return "statement cannot be read" if what.startswith("statement") else "cannot be read"


class Excerpt(msgspec.Struct, frozen=True, kw_only=True):
    """Entities of the domains, in the order in which they are taken, and what they point to.

    ``entities``: domain -> stratum -> entities. ``fresh`` are entities of which something is true
    only since after the day ``fresh_after``. ``population`` counts all that exist, by stratum;
    ``properties`` how many of them have a property, ``kinds`` its datatype; a service counts over
    the entities it was asked about, whose number is ``counted``. ``names`` are items and
    properties by id (labels, aliases, descriptions). ``namesakes``: entity -> how many of its
    domain have the same label, itself included. ``day`` is the source's day, ``day_from`` what
    names it. ``wrong`` counts problems by kind, ``problems`` lists them. ``table`` is the table of
    questions that aspects were proposed with.
    """

    source: str
    plan: DomainPlan
    seed: int
    entities: dict[str, list[list[Entity]]]
    fresh_after: str = ""
    fresh: dict[str, list[Entity]] = {}
    population: dict[str, list[int]]
    properties: dict[str, dict[str, int]]
    counted: dict[str, int] = {}
    kinds: dict[str, str]
    names: dict[str, Entity]
    namesakes: dict[str, int]
    day: str = ""
    day_from: str = ""
    counts: dict[str, int] = {}
    wrong: dict[str, int] = {}
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    table: Templates | None = None

    def counted_over(self, domain: str) -> int:
        """Return the number of entities over which the properties of a domain are counted."""
        return self.counted.get(domain, sum(self.population[domain]))

    def label(self, id: str) -> str:
        """Return the label of an item or a property in the questions' language, "" for none."""
        named = self.names.get(id)
        return " ".join(named.labels.get(self.plan.languages[0], "").split()) if named else ""


def write_excerpt(folder: Path, excerpt: Excerpt) -> None:
    """Keep an excerpt, so that questions can be made without its source."""
    with replacing(folder / FILE) as file:
        file.write(msgspec.msgpack.encode(excerpt))


def read_excerpt(folder: Path) -> Excerpt:
    """Read the excerpt in a folder; InputError where there is none."""
    path = folder / FILE
    if not path.is_file():
        raise InputError(
            f"{folder}: nothing was found there yet; expected a folder that sayso build made, a "
            "Wikidata dump, or --sparql"
        )
    try:
        with disk_errors(path, "read"):
            return msgspec.msgpack.decode(path.read_bytes(), type=Excerpt)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path}: written by another version of sayso ({error}); build it again"
        ) from None


def ids_to_name(entities: list[Entity], properties: set[str]) -> set[str]:
    """Return the ids whose names are needed to ask for properties of entities."""
    ids = set(properties)
    for entity in entities:
        for one in entity.statements:
            if one.property in properties and one.rank != "deprecated" and one.snak == "value":
                if one.kind == "wikibase-item":
                    ids.add(one.value)
                if one.unit:
                    ids.add(one.unit)
    return ids


# ---- the sample


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

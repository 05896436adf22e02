"""What was found for a benchmark, wherever it came from: a dump or a query service."""

from __future__ import annotations

from pathlib import Path

import msgspec

from sayso.records import InputError
from sayso.storage.atomic import disk_errors, replacing
from sayso.wikidata.entities import Entity
from sayso.wikidata.plan import Plan
from sayso.wikidata.templates import Templates


class Problem(msgspec.Struct, frozen=True, array_like=True, order=True):
    """Something in a dump that was left out, and where."""

    part: str
    line: int
    what: str


FILE = "found.msgpack"
#: who says which day the source describes, where a person does
AS_OF = "--as-of"


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """Entities of the domains in the order in which they are taken, and what surrounds them.

    ``entities``: domain -> stratum -> entities. ``fresh`` are entities of which something is true
    only since after the day ``fresh_after``. ``population`` counts all that exist, by stratum;
    ``properties`` how many of them have a property, ``kinds`` its datatype. ``names`` are items and
    properties by id (labels, aliases, descriptions). ``namesakes``: entity -> how many of its
    domain have the same label, itself included. ``day`` is the source's day, ``day_from`` who says
    so. ``wrong`` counts problems by kind, ``problems`` names them. ``table`` is the table of
    questions that aspects were proposed with.
    """

    source: str
    plan: Plan
    seed: int
    entities: dict[str, list[list[Entity]]]
    fresh_after: str = ""
    fresh: dict[str, list[Entity]] = {}
    population: dict[str, list[int]]
    properties: dict[str, dict[str, int]]
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

    def label(self, id: str) -> str:
        """Return what an item or a property is called in the questions' language, "" if nothing."""
        named = self.names.get(id)
        return " ".join(named.labels.get(self.plan.languages[0], "").split()) if named else ""


def write_found(folder: Path, found: Found) -> None:
    """Keep what was found, so that questions can be made without the source."""
    with replacing(folder / FILE) as file:
        file.write(msgspec.msgpack.encode(found))


def read_found(folder: Path) -> Found:
    """Read what was found; InputError where the folder holds nothing of the kind."""
    place = folder / FILE
    if not place.is_file():
        raise InputError(
            f"{folder}: nothing was found there yet; expected a folder that sayso build made, a "
            "Wikidata dump, or --sparql"
        )
    try:
        with disk_errors(place, "read"):
            return msgspec.msgpack.decode(place.read_bytes(), type=Found)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f"{place}: written by another version of sayso ({error}); build it again"
        ) from None


def wanted_names(entities: list[Entity], properties: set[str]) -> set[str]:
    """Return the ids whose names are needed to ask for properties of entities."""
    wanted = set(properties)
    for entity in entities:
        for one in entity.statements:
            if one.property in properties and one.rank != "deprecated" and one.snak == "value":
                if one.kind == "wikibase-item":
                    wanted.add(one.value)
                if one.unit:
                    wanted.add(one.unit)
    return wanted

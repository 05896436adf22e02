"""Read the hand-written facts of the data set `world`, and facts of a Wikidata excerpt.

A file in ``facts/`` holds the entities of one domain, a fact a property: a list holds several true
values, ``A = B`` other ways to write one, ``*`` takes the value from the excerpt, and ``| source``
names where a fact is from if not where its domain says. ``properties.yaml`` says how each property
is asked for.
"""

from __future__ import annotations

import bz2
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml

HERE = Path(__file__).parent
#: sources that are named by a word in the files of facts
SOURCES = {"popqa": "Wikidata, through PopQA"}
EXCERPT = Path("wikidata") / "entities.dump.json.bz2"
_QUANTITY = re.compile(r"(-?\d+(?:\.\d+)?) (\w+(?: \w+)*)")


class Value(msgspec.Struct, frozen=True):
    """One true value: its text (a year, a name, a number) with aliases and unit."""

    text: str
    aliases: tuple[str, ...] = ()
    unit: str = ""


class Fact(msgspec.Struct, frozen=True):
    """The values of a property of an entity, and where they can be looked up."""

    property: str
    values: tuple[Value, ...]
    source: str


class Entity(msgspec.Struct, frozen=True):
    """One entity with its facts; ``wikidata`` is its id in the excerpt, "" for none."""

    name: str
    tier: str
    domain: str
    facts: tuple[Fact, ...]
    wikidata: str = ""


class Property(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a property is asked for; a value that changes is asked for as of a year."""

    kind: Literal["year", "text", "quantity"]
    label: str
    description: str
    question: str
    dated: str = ""
    as_of: int = 0


class Domain(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"class_": "class"}):
    """A domain: its class in Wikidata, what a prompt calls one of it, and its properties."""

    class_: str
    type: str
    source: str
    properties: dict[str, Property]


def domains() -> dict[str, Domain]:
    """Return what ``properties.yaml`` says, by domain."""
    text = (HERE / "properties.yaml").read_text(encoding="utf-8")
    return msgspec.convert(yaml.safe_load(text), dict[str, Domain])


def entities(table: Mapping[str, Domain], excerpt: Path | None) -> list[Entity]:
    """Return all entities by domain, tier and place in the file.

    Without an excerpt (``None``) those that need it are left out.
    """
    rows = read_excerpt(excerpt) if excerpt else None
    every: list[Entity] = []
    for name, domain in table.items():
        path = HERE / "facts" / f"{name.replace(' ', '_')}.yaml"
        file = yaml.safe_load(path.read_text(encoding="utf-8"))
        labels = {id: _value("text", text) for id, text in file.get("labels", {}).items()}
        read = [
            _entity(row, name, domain, rows, labels)
            for row in file["entities"]
            if rows is not None or not needs_excerpt(row)
        ]
        every += sorted(read, key=lambda one: one.tier)
    return every


def needs_excerpt(row: Mapping[str, Any]) -> bool:
    """Tell whether a row takes a value from the excerpt."""
    return "*" in row.values()


def read_excerpt(path: Path) -> dict[str, dict[str, Any]]:
    """Return the entities of the excerpt by id."""
    with bz2.open(path, "rt", encoding="utf-8") as file:
        lines = (line.strip().rstrip(",") for line in file)
        return {row["id"]: row for row in (json.loads(line) for line in lines if len(line) > 2)}


def _entity(
    row: dict[str, Any],
    name: str,
    domain: Domain,
    rows: Mapping[str, dict[str, Any]] | None,
    labels: Mapping[str, Value],
) -> Entity:
    """Turn one row of a file into an entity."""
    row = dict(row)
    title, tier, id = row.pop("name"), str(row.pop("tier")), row.pop("wikidata", "")
    facts = []
    for property, given in row.items():
        kind = domain.properties[property].kind
        if given == "*":
            assert rows is not None
            values = tuple(_from_excerpt(rows, id, property, labels))
            source = f"Wikidata {id} {property} (excerpt)"
        else:
            texts, source = _split_source(given, domain.source)
            values = tuple(_value(kind, text) for text in texts)
        facts.append(Fact(property, values, source))
    return Entity(title, tier, name, tuple(facts), id)


def _split_source(given: object, usual: str) -> tuple[list[str], str]:
    """Return the values of a fact as texts, and its source: "George Pal | popqa"."""
    texts = [str(text) for text in (given if isinstance(given, list) else [given])]
    names = {name.strip() for _, bar, name in (text.partition("|") for text in texts) if bar}
    sources = [SOURCES[name] for name in sorted(names)]
    return [text.partition("|")[0].strip() for text in texts], "; ".join(sources) or usual


def _value(kind: str, text: str) -> Value:
    """Read one value as it stands in a file of facts."""
    if kind == "year":
        if not re.fullmatch(r"\d{4}", text):
            raise ValueError(f"{text!r} is no year")
        return Value(text)
    if kind == "quantity":
        read = _QUANTITY.fullmatch(text)
        if read is None:
            raise ValueError(f"{text!r} is no number with a unit")
        return Value(read[1], unit=read[2])
    first, *others = (part.strip() for part in text.split(" = "))
    return Value(first, tuple(others))


def _from_excerpt(
    rows: Mapping[str, dict[str, Any]], id: str, property: str, labels: Mapping[str, Value]
) -> Iterable[Value]:
    """Yield the best-ranked values of a property in the excerpt; of a date only its year."""
    valid = [s for s in rows[id]["claims"][property] if s["rank"] != "deprecated"]
    best = [s for s in valid if s["rank"] == "preferred"] or valid
    for statement in best:
        value = statement["mainsnak"]["datavalue"]["value"]
        if "time" in value:
            yield Value(value["time"][1:5])
        elif value["id"] in labels:
            yield labels[value["id"]]
        else:
            yield Value(rows[value["id"]]["labels"]["en"]["value"])

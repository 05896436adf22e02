"""Make the data set `world` from its facts: `python -m world.make --data FOLDER`.

The facts of ``facts/*.yaml``, and those that are taken from the Wikidata excerpt in FOLDER, become
a dump in Wikidata's format. ``sayso build`` makes questions and prompts of it, as it does for a
user; each record then gets its tier, and each fact its source and the ids of ``properties.yaml``.
The same facts give the same bytes. Without FOLDER the entities that need the excerpt are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import yaml
from world.facts import EXCERPT, Domain, Entity, Value, domains, entities

from sayso import cli
from sayso.wikidata.templates import load_templates

TARGET = Path(__file__).parents[2] / "src" / "sayso" / "datasets" / "data" / "world.jsonl"
Record: TypeAlias = dict[str, Any]
#: ids of ours in the dump, far above Wikidata's: entities, values, and properties of A/B form
ENTITIES, VALUES, PROPERTIES = 9_000_000_000, 8_000_000_000, 9_000_000
FEWEST = 2
#: how `world` asks for a paragraph; another wording would be another set
PROMPTS = {
    "prompt": "Write a paragraph about the {type} {entity}, covering {aspects}.",
    "untyped": "Write a paragraph about {entity}, covering {aspects}.",
}


def build(every: Sequence[Entity], table: Mapping[str, Domain], folder: Path) -> list[Record]:
    """Run ``sayso build`` over the facts and return the records of `world`, in their order."""
    ids = _property_ids(table)
    dump = folder / "world.json"
    dump.write_text(_dump(every, table, ids), encoding="utf-8")
    _write(folder / "domains.yaml", _plan(table))
    _write(folder / "templates.yaml", _templates(table, ids))
    out = folder / "out"
    words = ["--domains", str(folder / "domains.yaml"), "--out", str(out)]
    words += ["--templates", str(folder / "templates.yaml"), "--as-of", f"{_day(table)}-12-31"]
    _run("build", str(dump), *words)
    _review(out / "aspects.yaml", table, ids)
    _run("build", str(out), "--twins", "0")
    lines = (out / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    records = {record["id"]: record for record in map(json.loads, lines)}
    return [_record(one, records.get(_id(number)), table, ids) for number, one in enumerate(every)]


def _run(*words: str) -> None:
    if cli.execute(list(words)) != 0:
        raise SystemExit("sayso build failed")


def _review(path: Path, table: Mapping[str, Domain], ids: Mapping[str, str]) -> None:
    """Review the proposed aspects as a person would: every one is kept, in the order of the table.

    Their order decides that of a prompt, which then depends on no other entity.
    """
    proposed = yaml.safe_load(path.read_text(encoding="utf-8"))
    for name, rows in proposed["domains"].items():
        order = [ids[p] for p in table[name].properties]
        proposed["domains"][name] = {id: rows[id] for id in order if id in rows}
    _write(path, proposed | {"reviewed": True})


def _day(table: Mapping[str, Domain]) -> int:
    """Return the year as of which values that change are asked for: one for all."""
    (year,) = {one.as_of for domain in table.values() for one in domain.properties.values()} - {0}
    return year


def _id(number: int) -> str:
    return f"Q{ENTITIES + number}"


def _property_ids(table: Mapping[str, Domain]) -> dict[str, str]:
    """Return the id in the dump of every property: Wikidata's, or a number of ours.

    Ours stands for A/B, and for a property that ``sayso build`` asks nobody for.
    """
    names = sorted({name for domain in table.values() for name in domain.properties})
    dropped = load_templates().drop
    ours = [name for name in names if "/" in name or name in dropped]
    return {n: f"P{PROPERTIES + ours.index(n)}" if n in ours else n for n in names}


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")


def _plan(table: Mapping[str, Domain]) -> Record:
    """Return the file of domains: every entity is taken."""
    return {
        "languages": ["en"],
        "domains": {
            name: {"classes": [domain.class_], "type": domain.type, "subclasses": False}
            | {"entities": 1000, "least": FEWEST}
            for name, domain in table.items()
        },
    }


def _templates(table: Mapping[str, Domain], ids: Mapping[str, str]) -> Record:
    """Return the file of templates: the wording of every property, and which of them change."""
    changing = {p for domain in table.values() for p, one in domain.properties.items() if one.as_of}
    wordings = {
        name: {
            ids[p]: {"description": one.description, "question": one.question, "dated": one.dated}
            for p, one in domain.properties.items()
        }
        for name, domain in table.items()
    }
    return {
        "changing": sorted(ids[p] for p in changing),
        "languages": {"en": {**PROMPTS, "domains": wordings}},
    }


# ---- the dump


def _dump(every: Sequence[Entity], table: Mapping[str, Domain], ids: Mapping[str, str]) -> str:
    """Return the facts as a dump in Wikidata's format, one entity a line."""
    numbers: dict[Value, int] = {}
    lines: list[Record] = []
    for number, one in enumerate(every):
        properties = table[one.domain].properties
        claims = {"P31": [_statement("P31", _item(table[one.domain].class_))]}
        for fact in one.facts:
            about = properties[fact.property]
            id = ids[fact.property]
            claims[id] = [
                _statement(id, _snak(about.kind, value, numbers), as_of=about.as_of)
                for value in fact.values
            ]
        lines.append(_line(_id(number), one.name, (), claims))
    units = sorted({v.unit for one in every for f in one.facts for v in f.values if v.unit})
    lines += [_line(_unit(unit), unit, (), {}) for unit in units]
    lines += [_line(f"Q{VALUES + n}", v.text, v.aliases, {}) for v, n in numbers.items()]
    for domain in table.values():
        for name, about in domain.properties.items():
            lines.append(_line(ids[name], about.label, (), {}))
    texts = {line["id"]: json.dumps(line, ensure_ascii=False) for line in lines}
    return "[\n" + ",\n".join(texts.values()) + "\n]\n"


def _line(id: str, name: str, aliases: Iterable[str], claims: Record) -> Record:
    return {
        "type": "property" if id.startswith("P") else "item",
        "id": id,
        "labels": {"en": {"language": "en", "value": name}},
        "descriptions": {},
        "aliases": {"en": [{"language": "en", "value": alias} for alias in aliases]},
        "claims": claims,
        "sitelinks": {},
    }


def _unit(name: str) -> str:
    """Return an item's id for a unit, from its letters."""
    return f"Q7{int.from_bytes(name.encode()[:6]):015}"


def _item(id: str) -> Record:
    value = {"entity-type": "item", "numeric-id": int(id[1:]), "id": id}
    return {"datavalue": {"value": value, "type": "wikibase-entityid"}, "datatype": "wikibase-item"}


def _snak(kind: str, value: Value, numbers: dict[Value, int]) -> Record:
    """Return a value as Wikidata writes it; a text becomes an item of its own."""
    if kind == "year":
        return _time(int(value.text))
    if kind == "quantity":
        amount = {
            "amount": f"+{value.text}",
            "unit": f"http://www.wikidata.org/entity/{_unit(value.unit)}",
        }
        return {"datavalue": {"value": amount, "type": "quantity"}, "datatype": "quantity"}
    return _item(f"Q{VALUES + numbers.setdefault(value, len(numbers))}")


def _time(year: int) -> Record:
    value = {
        "time": f"+{year:04}-00-00T00:00:00Z",
        "timezone": 0,
        "before": 0,
        "after": 0,
        "precision": 9,
        "calendarmodel": "http://www.wikidata.org/entity/Q1985727",
    }
    return {"datavalue": {"value": value, "type": "time"}, "datatype": "time"}


def _statement(property: str, snak: Record, as_of: int = 0) -> Record:
    main = {"snaktype": "value", "property": property, **snak}
    row: Record = {"mainsnak": main, "type": "statement"}
    if as_of:
        row["qualifiers"] = {"P585": [{"snaktype": "value", "property": "P585", **_time(as_of)}]}
    return row | {"rank": "normal"}


# ---- the records


def _record(
    one: Entity, record: Record | None, table: Mapping[str, Domain], ids: Mapping[str, str]
) -> Record:
    """Return a record of `world`; a fact that the build left out is an error, never dropped."""
    made = {part["property_id"]: part for part in record["individual_qa"]} if record else {}
    lost = [fact.property for fact in one.facts if ids[fact.property] not in made]
    if record is None or lost:
        raise SystemExit(f"{one.name}: sayso build left out {', '.join(lost)}")
    names = {number: name for name, number in ids.items()}
    sources = {fact.property: fact.source for fact in one.facts}
    parts = []
    for part in record["individual_qa"]:
        name = names[part["property_id"]]
        row = {
            "question": part["question"],
            "answer": part["answer"],
            "label": table[one.domain].properties[name].label,
            "description": part["description"],
            "property_id": name,
            "source": sources[name],
        }
        parts.append(row | ({"as_of": part["as_of"]} if "as_of" in part else {}))
    return {
        "entity": record["entity"],
        "prompt": record["prompt"],
        "domain": record["domain"],
        "tier": one.tier,
        "individual_qa": parts,
    }


def text_of(records: Iterable[Record]) -> str:
    """Return records as the lines of a file."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def make(data: Path | None) -> str:
    """Return the text of ``world.jsonl``; without ``data`` what needs the excerpt is left out."""
    table = domains()
    every = entities(table, data / EXCERPT if data else None)
    with tempfile.TemporaryDirectory() as folder:
        return text_of(build(every, table, Path(folder)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("SAYSO_TEST_DATA"))
    parser.add_argument("--out", type=Path, default=TARGET)
    words = parser.parse_args()
    text = make(words.data)
    words.out.write_text(text, encoding="utf-8")
    print(f"{words.out}: {text.count(chr(10))} entities")

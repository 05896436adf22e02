"""A miniature dump that several tests share: invented films and people, in Wikidata's format."""

from __future__ import annotations

import json

WORDS = (
    *("amber", "birch", "cedar", "dune", "ember", "fjord", "grove"),
    *("heath", "iris", "jade", "kelp", "lark", "moor", "nettle"),
)
FIRST = (
    *("Alda", "Benno", "Clio", "Dorit", "Egon", "Frida", "Gero"),
    *("Hanno", "Ilva", "Jorun", "Kaia", "Levin", "Mirko", "Nelda"),
)


def text(value: str, language: str = "en") -> dict[str, object]:
    return {language: {"language": language, "value": value}}


def snak(property: str, kind: str, value: object) -> dict[str, object]:
    types = {"wikibase-item": "wikibase-entityid", "external-id": "string"}
    if value in ("novalue", "somevalue"):
        return {"snaktype": value, "property": property, "datatype": kind}
    return {
        "snaktype": "value",
        "property": property,
        "hash": "0" * 40,
        "datavalue": {"value": value, "type": types.get(kind, kind)},
        "datatype": kind,
    }


def statement(
    property: str,
    kind: str,
    value: object,
    rank: str = "normal",
    qualifiers: dict[str, object] | None = None,
) -> dict[str, object]:
    made: dict[str, object] = {
        "mainsnak": snak(property, kind, value),
        "type": "statement",
        "id": f"Q1${property}",
        "rank": rank,
    }
    if qualifiers:
        made["qualifiers"] = {p: [snak(p, "time", v)] for p, v in qualifiers.items()}
    return made


def item(property: str, id: str, rank: str = "normal", **dates: str) -> dict[str, object]:
    number = int(id[1:])
    value = {"entity-type": "item", "numeric-id": number, "id": id}
    names = {"start": "P580", "end": "P582", "at": "P585"}
    return statement(
        property,
        "wikibase-item",
        value,
        rank,
        {names[name]: day(date) for name, date in dates.items()},
    )


def day(date: str, precision: int = 11) -> dict[str, object]:
    return {
        "time": f"+{date}T00:00:00Z",
        "timezone": 0,
        "before": 0,
        "after": 0,
        "precision": precision,
        "calendarmodel": "http://www.wikidata.org/entity/Q1985727",
    }


def when(property: str, date: str, precision: int = 11, rank: str = "normal") -> dict[str, object]:
    return statement(property, "time", day(date, precision), rank)


def amount(property: str, number: str, unit: str = "1", at: str = "") -> dict[str, object]:
    address = unit if unit == "1" else f"http://www.wikidata.org/entity/{unit}"
    qualifiers = {"P585": day(at)} if at else None
    return statement(
        property, "quantity", {"amount": number, "unit": address}, "normal", qualifiers
    )


def entity(
    id: str, label: str, *statements: dict[str, object], **more: object
) -> dict[str, object]:
    claims: dict[str, list[object]] = {}
    for one in statements:
        claims.setdefault(one["mainsnak"]["property"], []).append(one)  # type: ignore[index]
    return {
        "type": "property" if id.startswith("P") else "item",
        "id": id,
        "labels": text(label) if label else {},
        "descriptions": text(str(more.get("description", ""))) if more.get("description") else {},
        "aliases": {"en": [{"language": "en", "value": a} for a in more.get("aliases", ())]}  # type: ignore[attr-defined]
        if more.get("aliases")
        else [],
        "claims": claims or [],
        "sitelinks": {},
        "modified": "2024-05-01T00:00:00Z",
    }


def entities() -> list[dict[str, object]]:
    """Films with directors, dates and lengths; people with births; classes and properties."""
    made = [
        entity("Q11424", "film"),
        entity("Q5", "human"),
        entity("Q900", "short film", item("P279", "Q901")),
        entity("Q901", "kind of film", item("P279", "Q11424")),
        entity("Q7727", "minute"),
        entity("P57", "director"),
        entity("P577", "publication date"),
        entity("P2047", "duration"),
        entity("P569", "date of birth"),
        entity("P19", "place of birth"),
    ]
    for n, first in enumerate(FIRST):
        made.append(
            entity(
                f"Q{1000 + n}",
                f"{first} {WORDS[n].title()}son",
                item("P31", "Q5"),
                when("P569", f"19{40 + n}-0{n % 9 + 1}-12"),
                item("P19", f"Q{3000 + n}"),
                aliases=[f"{first[0]}. {WORDS[n].title()}son"],
            )
        )
        made.append(entity(f"Q{3000 + n}", f"{WORDS[n].title()}ford"))
        padding = [statement("P345", "external-id", f"tt{n}{k}") for k in range(n * 3)]
        released = f"{2012 + n}-03-05"
        made.append(
            entity(
                f"Q{2000 + n}",
                f"The {WORDS[n].title()} {WORDS[-n - 1].title()}",
                item("P31", "Q900" if n % 3 else "Q11424"),
                item("P57", f"Q{1000 + n}"),
                when("P577", released),
                amount("P2047", f"+{80 + n}", "Q7727"),
                *padding,
            )
        )
    return made


def dump(rows: list[dict[str, object]] | None = None, *, compact: bool = True) -> bytes:
    """Return entities as Wikidata writes them: a list, one entity a line."""
    separators = (",", ":") if compact else (", ", ": ")
    lines = [
        json.dumps(row, separators=separators, ensure_ascii=compact)
        for row in (entities() if rows is None else rows)
    ]
    return ("[\n" + ",\n".join(lines) + "\n]\n").encode()


DOMAINS = """\
languages: [en]
domains:
  films: {classes: [Q11424], type: film}
  people: {classes: [Q5], type: person}
"""

"""One line of a dump: read as plain json reads it, found by its bytes, robust against anything."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.wikidata.entities import DATATYPES, LineError, parse_entity, superclasses
from sayso.wikidata.passes import object_fault, own_id, pointing
from support.wikidata_world import amount, day, entity, item, statement, when


def plainly(line: bytes) -> dict[str, Any]:
    """Read a line with json alone, written independently of the package."""
    row = json.loads(line)
    statements = []
    for property, group in (row["claims"] or {}).items():
        for one in group:
            snak = one["mainsnak"]
            found: dict[str, Any] = {
                "property": property,
                "kind": snak["datatype"],
                "snak": snak["snaktype"],
                "rank": one["rank"],
            }
            value = snak.get("datavalue", {}).get("value")
            if snak["datatype"] in ("wikibase-item", "wikibase-property") and value:
                found["value"] = value["id"]
            elif snak["datatype"] == "time" and value:
                found["value"], found["precision"] = value["time"], value["precision"]
                found["calendar"] = value["calendarmodel"].split("/")[-1]
            elif snak["datatype"] == "quantity" and value:
                found["value"] = value["amount"]
                found["unit"] = "" if value["unit"] == "1" else value["unit"].split("/")[-1]
            elif snak["datatype"] == "monolingualtext" and value:
                found["value"], found["language"] = value["text"], value["language"]
            elif isinstance(value, str) and snak["datatype"] not in ("geo-shape", "tabular-data"):
                found["value"] = value
            for name, qualifier in (("start", "P580"), ("end", "P582"), ("at", "P585")):
                rows = one.get("qualifiers", {}).get(qualifier, [])
                times = [
                    (q["datavalue"]["value"]["time"], q["datavalue"]["value"]["precision"])
                    for q in rows
                    if q["snaktype"] == "value"
                ]
                unknown = name != "at" and any(q["snaktype"] == "somevalue" for q in rows)
                if times:
                    time, precision = times[0]
                    at = time.index("-", 1)  # the month begins here, behind a sign and the year
                    if precision == 9:
                        time = time[:at] + "-00-00" + time[at + 6 :]
                    elif precision == 10:
                        time = time[: at + 3] + "-00" + time[at + 6 :]
                    if precision >= 9 or name != "at":
                        found[name] = time if precision >= 9 else "?"
                elif unknown:
                    found[name] = "?"
            statements.append(found)
    return {
        "id": row["id"],
        "labels": {k: v["value"] for k, v in (row["labels"] or {}).items()},
        "descriptions": {k: v["value"] for k, v in (row["descriptions"] or {}).items()},
        "aliases": {k: [a["value"] for a in v] for k, v in (row["aliases"] or {}).items()},
        "statements": statements,
        "count": len(statements),
        "properties": len({one["property"] for one in statements}),
        "sitelinks": len(row.get("sitelinks", {})),
        "modified": row.get("modified", ""),
    }


def ours(line: bytes) -> dict[str, Any]:
    found = parse_entity(line)
    assert not found.problems
    fields = ("value", "precision", "calendar", "unit", "language", "start", "end", "at")
    statements = []
    for one in found.statements:
        row = {name: getattr(one, name) for name in ("property", "kind", "snak", "rank")}
        row.update({name: getattr(one, name) for name in fields if getattr(one, name)})
        if one.kind == "quantity" and one.snak == "value":
            row["unit"] = one.unit
        statements.append(row)
    return {
        "id": found.id,
        "labels": found.labels,
        "descriptions": found.descriptions,
        "aliases": {k: list(v) for k, v in found.aliases.items()},
        "statements": statements,
        "count": found.count,
        "properties": found.properties,
        "sitelinks": found.sitelinks,
        "modified": found.modified,
    }


def test_every_entity_of_the_excerpt_is_read_as_json_reads_it(excerpt: list[bytes]) -> None:
    assert len(excerpt) == 831
    for line in excerpt:
        assert ours(line) == plainly(line), line[:80]
        compact = json.dumps(json.loads(line), separators=(",", ":")).encode() + b","
        assert ours(compact) == plainly(line)


def test_ranks_unknown_and_missing_values_and_dates_of_statements() -> None:
    row = entity(
        "Q1",
        "x",
        item("P26", "Q2", start="1990-01-00", end="1999-05-02"),
        item("P26", "Q3", "deprecated"),
        statement("P40", "wikibase-item", "novalue"),
        statement("P20", "wikibase-item", "somevalue"),
        amount("P1082", "+12", at="2015-01-01"),
        amount("P2048", "+1.8", "Q11573"),
    )
    found = parse_entity(json.dumps(row).encode())
    married, wrong, none, unknown, people, tall = found.statements
    assert (married.start, married.end) == ("+1990-01-00T00:00:00Z", "+1999-05-02T00:00:00Z")
    assert found.items("P26") == ["Q2"]
    assert (wrong.rank, none.snak, unknown.snak) == ("deprecated", "novalue", "somevalue")
    assert (people.value, people.unit, people.at) == ("+12", "", "+2015-01-01T00:00:00Z")
    assert (tall.value, tall.unit) == ("+1.8", "Q11573")


def test_qualifiers_keep_what_is_known_of_a_date() -> None:
    row = entity("Q1", "x", item("P26", "Q2"), amount("P1082", "+5", at="2016-01-01"))
    married, people = row["claims"]["P26"][0], row["claims"]["P1082"][0]  # type: ignore[index]
    people["qualifiers"]["P585"][0]["datavalue"]["value"]["precision"] = 9  # a year alone
    unknown = {"snaktype": "somevalue", "property": "P582", "datatype": "time"}
    century = {"snaktype": "value", "datavalue": {"value": day("1900-00-00", 7)}}
    married["qualifiers"] = {"P580": [century], "P582": [unknown], "P585": [century]}
    found = {one.property: one for one in parse_entity(json.dumps(row).encode()).statements}
    assert found["P1082"].at == "+2016-00-00T00:00:00Z"
    assert (found["P26"].start, found["P26"].end, found["P26"].at) == ("?", "?", "")


def test_labels_for_every_language_stand_in_for_missing_ones() -> None:
    row = entity("Q1", "")
    row["labels"] = {"mul": {"value": "Ada"}, "de": {"value": "Ada L."}, "fr": {"value": "Adèle"}}
    row["aliases"] = {"mul": [{"value": "A. L."}], "de": [{"value": "Ada die Erste"}]}
    found = parse_entity(json.dumps(row).encode(), ("en", "de"))
    assert found.labels == {"en": "Ada", "de": "Ada L."}
    assert found.aliases == {"en": ("A. L.",), "de": ("Ada die Erste",)}
    assert parse_entity(json.dumps(row).encode(), ("de",)).aliases == {
        "de": ("Ada die Erste", "A. L.")
    }
    assert parse_entity(json.dumps(row).encode()).labels["mul"] == "Ada"


def test_a_bad_statement_costs_only_itself() -> None:
    row = entity(
        "Q1",
        "x",
        item("P26", "Q2"),
        statement("P1", "new-kind", "something"),
        statement("P569", "time", {"time": 5}),
        when("P570", "1990-01-01"),
    )
    row["claims"]["P19"] = [{"mainsnak": "nonsense"}]  # type: ignore[index]
    found = parse_entity(json.dumps(row).encode())
    assert [one.property for one in found.statements] == ["P26", "P570"]
    assert found.count == 5
    assert len(found.problems) == 3
    assert "unknown datatype 'new-kind'" in found.problems[0]
    assert found.problems[1].startswith("statement of P569 cannot be read")


def test_beside_a_bad_statement_all_others_are_read_alike(excerpt: list[bytes]) -> None:
    for line in excerpt[::10]:
        row = json.loads(line)
        good = parse_entity(line, ("en", "de"))
        row["claims"]["P1"] = [{"mainsnak": {"snaktype": 5}}]
        bad = parse_entity(json.dumps(row).encode(), ("en", "de"))
        assert len(bad.problems) == 1
        fewer = {"count": bad.count - 1, "properties": bad.properties - 1}
        assert msgspec.structs.replace(bad, problems=(), **fewer) == good


@pytest.mark.parametrize(
    "line", [b"", b"{", b'{"id": 5}', b'{"labels": {}}', b"[1]", b'{"id":"Q1","claims":', b"\xff{}"]
)
def test_what_is_no_entity_is_said(line: bytes) -> None:
    with pytest.raises(LineError):
        parse_entity(line)
    with pytest.raises(LineError):
        superclasses(line)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for wrapped in (data, b'{"id":"Q1","claims":{"P31":[' + data + b"]}}"):
        object_fault(wrapped)
        pointing(wrapped, [(0, len(wrapped))], b"P31", {5})
        own_id(wrapped)
        try:
            parse_entity(wrapped)
        except LineError:
            continue


@given(st.integers(0, 2000))
def test_a_line_cut_anywhere_is_noticed(at: int) -> None:
    row = entity("Q1", "Ä", item("P31", "Q5"), amount("P1", "+1"), when("P569", "1950-01-01"))
    line = json.dumps(row, ensure_ascii=False).encode()
    part = line[: at % len(line)]
    if part:
        with pytest.raises(LineError):
            parse_entity(part)
    assert object_fault(part) == (None if part[-1:] == b"}" or not part else "is cut off")


def test_datatypes_are_wikidatas() -> None:
    assert {"wikibase-item", "time", "quantity", "external-id"} <= DATATYPES
    assert day("1950-01-01")["precision"] == 11

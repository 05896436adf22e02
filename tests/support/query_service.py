"""A query service on loopback that knows the miniature world, and can misbehave on demand."""

from __future__ import annotations

import json
import re
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from support.wikidata_world import entities

ENTITY = "http://www.wikidata.org/entity/"
ONTOLOGY = "http://wikiba.se/ontology#"
TYPES = {"wikibase-item": "WikibaseItem", "time": "Time", "quantity": "Quantity"}
Row = dict[str, dict[str, str]]
#: (number of the request from 0, its query) -> status, headers, body; None answers as asked
Fault = Callable[[int, str], tuple[int, dict[str, str], bytes] | None]


def uri(value: str) -> dict[str, str]:
    return {"type": "uri", "value": value}


def literal(value: object, language: str = "") -> dict[str, str]:
    found = {"type": "literal", "value": str(value)}
    return {**found, "xml:lang": language} if language else found


def id_of(row: Row) -> str:
    return row["item"]["value"].removeprefix(ENTITY)


class World:
    """Answers the three kinds of query that the package sends, from entities in dump format."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = {row["id"]: row for row in rows}

    def answer(self, query: str) -> list[Row]:
        ids = re.findall(r"wd:([QP]\d+)", query)
        if "?class" in query:
            found = re.search(r"VALUES \?class \{([^}]*)\}", query)
            classes = re.findall(r"wd:(Q\d+)", found[1] if found else query)
            rows = self.members(set(classes), "P279*" in query)
            for number, values in re.findall(r"VALUES \?w(\d+) \{([^}]*)\}", query):
                (property,) = re.findall(rf"\?item wdt:(P\d+) \?w{number} \.", query)
                wanted = set(re.findall(r"wd:(Q\d+)", values))
                rows = [row for row in rows if wanted & set(self.items(id_of(row), property))]
            return rows
        if "COUNT(DISTINCT ?property)" in query:
            return [
                {
                    "item": uri(ENTITY + id),
                    "properties": literal(len(self.rows[id]["claims"] or {})),
                }
                for id in ids
                if id in self.rows
            ]
        if "wikibase:rank" in query:
            return [row for id in ids if id in self.rows for row in self.statements(id)]
        return [row for id in ids if id in self.rows for row in self.names(id)]

    def items(self, id: str, property: str) -> list[str]:
        claims = self.rows[id]["claims"] or {}
        return [s["mainsnak"]["datavalue"]["value"]["id"] for s in claims.get(property, [])]

    def members(self, classes: set[str], deep: bool) -> list[Row]:
        while deep:
            below = {id for id in self.rows if set(self.items(id, "P279")) & classes}
            if below <= classes:
                break
            classes = classes | below
        return [
            {
                "item": uri(ENTITY + id),
                "label": literal(row["labels"]["en"]["value"], "en"),
                "statements": literal(sum(map(len, (row["claims"] or {}).values()))),
                "sitelinks": literal(0),
            }
            for id, row in self.rows.items()
            if set(self.items(id, "P31")) & classes and "en" in row["labels"]
        ]

    def statements(self, id: str) -> Iterator[Row]:
        for property, group in (self.rows[id]["claims"] or {}).items():
            for number, one in enumerate(group):
                snak = one["mainsnak"]
                if snak["datatype"] not in TYPES:
                    continue
                row = {
                    "item": uri(ENTITY + id),
                    "statement": uri(f"{ENTITY}statement/{id}-{property}-{number}"),
                    "property": uri(ENTITY + property),
                    "type": uri(ONTOLOGY + TYPES[snak["datatype"]]),
                    "rank": uri(f"{ONTOLOGY}{one['rank'].title()}Rank"),
                }
                value = snak["datavalue"]["value"]
                if snak["datatype"] == "wikibase-item":
                    row["value"] = uri(ENTITY + value["id"])
                elif snak["datatype"] == "time":
                    row["value"] = literal(value["time"].lstrip("+"))
                    row["precision"] = literal(value["precision"])
                else:
                    row["value"] = literal(value["amount"])
                    row["unit"] = uri(ENTITY + (value["unit"].rpartition("/")[2] or "Q199"))
                    if value["unit"] == "1":
                        row["unit"] = uri(ENTITY + "Q199")
                yield row

    def names(self, id: str) -> Iterator[Row]:
        row = self.rows[id]
        for key, kind in (("labels", "label"), ("descriptions", "description")):
            for language, text in row[key].items():
                yield self.name(id, kind, text["value"], language)
        for language, texts in (row["aliases"] or {}).items():
            for text in texts:
                yield self.name(id, "alias", text["value"], language)

    def name(self, id: str, kind: str, text: str, language: str) -> Row:
        return {
            "item": uri(ENTITY + id),
            "kind": literal(kind),
            "text": literal(text, language),
        }


class Stub:
    """What the server saw: queries and headers in order, and how many were in flight at once."""

    def __init__(self, world: World, fault: Fault | None) -> None:
        self.world, self.fault = world, fault
        self.queries: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.address = ""
        self.lock = threading.Lock()


@contextmanager
def stub(fault: Fault | None = None, rows: list[dict[str, Any]] | None = None) -> Iterator[Stub]:
    seen = Stub(World(entities() if rows is None else rows), fault)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            query = urllib.parse.parse_qs(body)["query"][0]
            with seen.lock:
                number = len(seen.queries)
                seen.queries.append(query)
                seen.headers.append(dict(self.headers))
            told = seen.fault(number, query) if seen.fault else None
            status, headers, data = told or (200, {}, self.reply(query))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if "Content-Length" not in headers:
                self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def reply(self, query: str) -> bytes:
            bindings = seen.world.answer(query)
            return json.dumps({"head": {"vars": []}, "results": {"bindings": bindings}}).encode()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    seen.address = f"http://127.0.0.1:{server.server_address[1]}/sparql"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

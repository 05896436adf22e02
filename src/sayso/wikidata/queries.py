"""What a query service is asked: members of a domain, their statements, names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sayso.wikidata.domains import Domain
from sayso.wikidata.entities import AT, END, EVERY, START

#: members asked for at most
MOST = 100_000
#: types of properties that are asked for, as the service and as a dump writes them
KINDS = {
    "WikibaseItem": "wikibase-item",
    "Time": "time",
    "Quantity": "quantity",
    "String": "string",
    "Monolingualtext": "monolingualtext",
}
QUALIFIERS = {"start": START, "end": END, "at": AT}


def members_query(domain: Domain, language: str) -> str:
    """Return the query for all members of a domain that have a label."""
    path = "wdt:P31/wdt:P279*" if domain.subclasses else "wdt:P31"
    where = "".join(
        f"  VALUES ?w{n} {{ {_all(items)} }}\n  ?item wdt:{property} ?w{n} .\n"
        for n, (property, items) in enumerate(domain.where.items())
    )
    return (
        "SELECT DISTINCT ?item ?label ?statements ?sitelinks WHERE {\n"
        f"  VALUES ?class {{ {_all(domain.classes)} }}\n"
        f"  ?item {path} ?class .\n{where}"
        "  ?item wikibase:statements ?statements ; wikibase:sitelinks ?sitelinks ;\n"
        "    rdfs:label ?label .\n"
        f'  FILTER(LANG(?label) IN ("{language}", "{EVERY}"))\n}} LIMIT {MOST}'
    )


def statements_query(ids: Sequence[str]) -> str:
    """Return the query for all statements of items that could be asked for."""
    types = ", ".join(f"wikibase:{kind}" for kind in KINDS)
    return (
        "SELECT ?item ?statement ?property ?type ?rank ?value ?precision ?unit ?start ?end ?at "
        "?start_precision ?end_precision ?at_precision "
        f"WHERE {{\n  VALUES ?item {{ {_all(ids)} }}\n"
        "  ?item ?claim ?statement .\n"
        "  ?property wikibase:claim ?claim ; wikibase:statementProperty ?ps ;\n"
        "    wikibase:propertyType ?type .\n"
        f"  FILTER(?type IN ({types}))\n"
        "  ?statement wikibase:rank ?rank .\n"
        "  OPTIONAL { ?statement ?ps ?value . }\n"
        "  OPTIONAL { ?property wikibase:statementValue ?psv . ?statement ?psv ?node .\n"
        "    OPTIONAL { ?node wikibase:timePrecision ?precision . }\n"
        "    OPTIONAL { ?node wikibase:quantityUnit ?unit . } }\n"
        + "".join(
            f"  OPTIONAL {{ ?statement pq:{property} ?{name} .\n"
            f"    OPTIONAL {{ ?statement pqv:{property} ?{name}_node .\n"
            f"      ?{name}_node wikibase:timeValue ?{name} ; "
            f"wikibase:timePrecision ?{name}_precision . }} }}\n"
            for name, property in QUALIFIERS.items()
        )
        + "}"
    )


def names_query(ids: Sequence[str], languages: Sequence[str]) -> str:
    """Return the query for labels, aliases and descriptions in some languages."""
    listed = ", ".join(f'"{language}"' for language in (*languages, EVERY))
    kinds = (
        ("rdfs:label", "label"),
        ("skos:altLabel", "alias"),
        ("schema:description", "description"),
    )
    parts = " UNION\n".join(
        f'  {{ ?item {path} ?text . BIND("{kind}" AS ?kind) }}' for path, kind in kinds
    )
    return (
        f"SELECT ?item ?kind ?text WHERE {{\n  VALUES ?item {{ {_all(ids)} }}\n{parts}\n"
        f"  FILTER(LANG(?text) IN ({listed}))\n}}"
    )


def _all(ids: Iterable[str]) -> str:
    return " ".join(f"wd:{id}" for id in ids)


__all__ = [
    "KINDS",
    "MOST",
    "QUALIFIERS",
    "members_query",
    "names_query",
    "statements_query",
]

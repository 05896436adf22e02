"""What a benchmark is made of, from a query service: members, their statements, and all names.

The same records as from a dump. Three differences are noted on the card: membership goes by the
best-ranked classes, properties are counted over the sample, and days are Gregorian throughout.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from sayso.wikidata.domains import Domain, Plan
from sayso.wikidata.entities import EVERY, SOMETIME, Entity, Statement, known_part
from sayso.wikidata.found import Found, wanted_names
from sayso.wikidata.freshness import fresh_facts
from sayso.wikidata.queries import (
    KINDS,
    MOST,
    QUALIFIERS,
    members_query,
    names_query,
    statements_query,
)
from sayso.wikidata.sample import Stratum, ticket
from sayso.wikidata.sparql import Row, Service
from sayso.wikidata.templates import Templates

#: ids in one query
BATCH = 50
RANKS = {"PreferredRank": "preferred", "DeprecatedRank": "deprecated"}
_YEAR = re.compile(r"(-?)(\d{4,})(-.*)")
_ID = re.compile(r"[QP]\d{1,18}")


def ask_service(
    service: Service,
    plan: Plan,
    templates: Templates,
    *,
    seed: int = 0,
    fresh: str = "",
    progress: Callable[[str], None] | None = None,
) -> Found:
    """Ask a service for everything that a plan needs. Replies on disk are not asked for again."""
    tell = progress or (lambda text: None)
    notes = [
        "asked of a query service: classes of the best rank only, properties counted over the "
        "sample, days in the Gregorian calendar"
    ]
    if fresh:
        notes.append(
            "facts of after the day are those of the sample; none were sampled in addition"
        )
    if not service.named:
        notes.append("the service was not told how to reach you: give --contact")
    wrong: Counter[str] = Counter()
    found = {
        name: _domain(service, name, domain, plan.languages[0], seed, wrong, tell)
        for name, domain in plan.domains.items()
    }
    notes += [
        f"{name}: more than {MOST:,} members; the sample is of the first ones"
        for name, one in found.items()
        if sum(one.population) >= MOST
    ]
    entities = {name: one.strata for name, one in found.items()}
    kinds = {property: kind for one in found.values() for property, kind in one.kinds.items()}
    everyone = [e for strata in entities.values() for stratum in strata for e in stratum]
    askable = {p for p, kind in kinds.items() if templates.dropped(p, kind) is None}
    ids = sorted(wanted_names(everyone, askable) | {entity.id for entity in everyone})
    names = _names(service, ids, plan.languages, tell)
    return Found(
        source=service.endpoint,
        plan=plan,
        seed=seed,
        entities={
            name: [[_named(entity, names) for entity in stratum] for stratum in strata]
            for name, strata in entities.items()
        },
        fresh_after=fresh,
        fresh={
            name: [_named(e, names) for s in strata for e in s if fresh and fresh_facts(e, fresh)]
            for name, strata in entities.items()
        },
        population={name: one.population for name, one in found.items()},
        properties={name: one.properties for name, one in found.items()},
        kinds=kinds,
        names=names,
        namesakes={id: n for one in found.values() for id, n in one.namesakes.items()},
        day=service.day,
        day_from="the day the service was asked",
        counts={"entities asked for": len(everyone), "names": len(names)},
        wrong=dict(wrong),
        notes=tuple(notes),
    )


class _Asked(NamedTuple):
    """What a service knows of one domain; see :class:`sayso.wikidata.found.Found`."""

    strata: list[list[Entity]]
    population: list[int]
    properties: dict[str, int]
    kinds: dict[str, str]
    namesakes: dict[str, int]


def _domain(
    service: Service,
    name: str,
    domain: Domain,
    language: str,
    seed: int,
    wrong: Counter[str],
    tell: Callable[[str], None],
) -> _Asked:
    tell(f"{name}: members")
    members = _members(service.ask_or_stop(members_query(domain, language)), wrong)
    labels = Counter(_plain(entity.labels[""]) for entity in members)
    strata = [Stratum(domain.entities) for _ in range(len(domain.edges) + 1)]
    population = [0] * len(strata)
    for entity in members:
        number = domain.stratum(entity.count, entity.sitelinks)
        population[number] += 1
        strata[number].put(ticket(seed, entity.id), entity.id, msgspec.msgpack.encode(entity))
    kept = [[msgspec.msgpack.decode(data, type=Entity) for *_, data in s.rows()] for s in strata]
    sample = [entity for stratum in kept for entity in stratum]
    facts = _statements(service, [entity.id for entity in sample], wrong, tell, name)
    properties: Counter[str] = Counter()
    kinds: dict[str, str] = {}
    for statements in facts.values():
        properties.update({one.property for one in statements if one.rank != "deprecated"})
        kinds.update({one.property: one.kind for one in statements})
    return _Asked(
        [
            [msgspec.structs.replace(e, statements=tuple(facts.get(e.id, ()))) for e in stratum]
            for stratum in kept
        ],
        population,
        dict(sorted(properties.items())),
        kinds,
        {entity.id: labels[_plain(entity.labels[""])] for entity in sample},
    )


def _id(row: Row, name: str) -> str:
    """Return the id at the end of an address, "" for whatever else stands there."""
    term = row.get(name)
    last = term.value.rpartition("/")[2] if term and term.type == "uri" else ""
    return last if _ID.fullmatch(last) else ""


def _text(row: Row, name: str) -> str:
    return row[name].value if name in row else ""


def _members(rows: Sequence[Row], wrong: Counter[str]) -> list[Entity]:
    """Return members with counts and, under the language "", the label; each once, by id."""
    found: dict[str, Entity] = {}
    # a label of the language itself counts before one for every language
    for row in sorted(rows, key=lambda row: "label" in row and row["label"].language == EVERY):
        id, label = _id(row, "item"), " ".join(_text(row, "label").split())
        numbers = [_text(row, name) for name in ("statements", "sitelinks")]
        if id and label and all(n.isascii() and n.isdecimal() for n in numbers):
            found.setdefault(
                id, Entity(id, {"": label}, count=int(numbers[0]), sitelinks=int(numbers[1]))
            )
        else:
            wrong["rows of members that cannot be read"] += 1
    return [found[id] for id in sorted(found)]


def _statements(
    service: Service, ids: list[str], wrong: Counter[str], tell: Callable[[str], None], name: str
) -> dict[str, list[Statement]]:
    found: dict[str, dict[str, Statement]] = {}
    for batch in _batches(ids):
        tell(f"{name}: statements of {len(found):,} of {len(ids):,}")
        for row in service.ask_for(batch, statements_query):
            id, one = _id(row, "item"), statement(row)
            if one is None or not id:
                wrong["statements that cannot be read"] += 1
                continue
            # several qualifiers of a kind give a row each: the first in order counts
            own = found.setdefault(id, {})
            key = _text(row, "statement")
            if key not in own or _order(one) < _order(own[key]):
                own[key] = one
    return {id: [own[key] for key in sorted(own)] for id, own in sorted(found.items())}


def _order(one: Statement) -> tuple[str, str, str, str]:
    return one.value, one.start, one.end, one.at


def statement(row: Row) -> Statement | None:
    """Read one row of :func:`statements_query`; ``None`` for what cannot be a statement."""
    property, kind = _id(row, "property"), KINDS.get(_text(row, "type").rpartition("#")[2])
    value = row.get("value")
    if not property or kind is None:
        return None
    when = {name: _moment(row, name) for name in QUALIFIERS}
    if when["at"] == SOMETIME:
        when["at"] = ""
    rank = RANKS.get(_text(row, "rank").rpartition("#")[2], "normal")
    one = Statement(property, kind, rank=rank, **when)  # type: ignore[arg-type]
    if value is None:
        return msgspec.structs.replace(one, snak="novalue")
    if value.type == "bnode" or "/.well-known/genid/" in value.value:
        return msgspec.structs.replace(one, snak="somevalue")
    if kind == "wikibase-item":
        return msgspec.structs.replace(one, value=_id(row, "value")) if _id(row, "value") else None
    if kind == "time":
        return msgspec.structs.replace(
            one, value=_time(value.value), precision=_precision(row, "precision")
        )
    if kind == "quantity":
        unit = _id(row, "unit")
        return msgspec.structs.replace(one, value=value.value, unit="" if unit == "Q199" else unit)
    return msgspec.structs.replace(one, value=value.value, language=value.language)


def _precision(row: Row, name: str) -> int:
    precision = _text(row, name)
    return int(precision) if precision.isascii() and precision.isdecimal() else 11


def _moment(row: Row, name: str) -> str:
    """Return a start, an end or a point in time, as :func:`sayso.wikidata.entities.parse` does."""
    term = row.get(name)
    if term is None:
        return ""
    time = _time(term.value)
    return known_part(time, _precision(row, f"{name}_precision")) if time else SOMETIME


def _time(text: str) -> str:
    """Return a time as the dump writes it: XSD counts a year 0, so that 44 BC is -0043 there."""
    parts = _YEAR.fullmatch(text)
    if parts is None:
        return ""
    sign, year, rest = parts[1], int(parts[2]), parts[3]
    if sign or year == 0:
        return f"-{year + 1:04}{rest}"
    return f"+{year:04}{rest}"


def _names(
    service: Service, ids: Sequence[str], languages: Sequence[str], tell: Callable[[str], None]
) -> dict[str, Entity]:
    texts: dict[str, dict[str, dict[str, list[str]]]] = {}
    for number, batch in enumerate(_batches(ids)):
        tell(f"names of {number * BATCH:,} of {len(ids):,}")
        for row in service.ask_for(batch, lambda some: names_query(some, languages)):
            id, kind, text = _id(row, "item"), _text(row, "kind"), row.get("text")
            if id and text is not None:
                own = texts.setdefault(id, {}).setdefault(kind, {})
                own.setdefault(text.language, []).append(text.value)
    return {id: _named_so(id, kinds, languages) for id, kinds in sorted(texts.items())}


def _named_so(id: str, kinds: dict[str, dict[str, list[str]]], languages: Sequence[str]) -> Entity:
    """Return names; those for every language stand in for missing ones, as in a dump."""
    labels, aliases = kinds.get("label", {}), kinds.get("alias", {})
    everywhere = aliases.get(EVERY, [])
    listed = {k: aliases.get(k, everywhere) for k in languages}
    if languages[0] in aliases:
        listed[languages[0]] = aliases[languages[0]] + everywhere
    named = {k: min(labels.get(k) or labels.get(EVERY) or [""]) for k in languages}
    return Entity(
        id,
        labels={k: label for k, label in named.items() if label},
        descriptions={k: min(v) for k, v in kinds.get("description", {}).items()},
        aliases={k: tuple(sorted(v)) for k, v in listed.items() if v},
    )


def _batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for at in range(0, len(ids), BATCH):
        yield ids[at : at + BATCH]


def _named(entity: Entity, names: dict[str, Entity]) -> Entity:
    named = names.get(entity.id, Entity(entity.id))
    return msgspec.structs.replace(
        entity, labels=named.labels, descriptions=named.descriptions, aliases=named.aliases
    )


def _plain(name: str) -> str:
    return " ".join(name.casefold().split())


__all__ = ["ask_service", "statement"]

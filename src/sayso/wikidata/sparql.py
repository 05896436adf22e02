"""The excerpt that a benchmark is made of, from a query service.

The records are those of a dump. Three differences are noted on the card: membership goes by the
best-ranked classes, properties are counted over the sample, and days are Gregorian throughout.

What Wikimedia asks of clients (User-Agent policy, query limits of the Wikidata Query Service): say
who you are, wait as long as ``Retry-After`` says, do not send a query twice. So there is one
request at a time, at least a second after the last, and every reply is kept on disk. A reply that
breaks off in the middle, as after a time-out there, counts as a failure and is requested again.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, NoReturn

import httpx2
import msgspec

from sayso.engines import check_proxies
from sayso.engines.openai.reply import retry_after
from sayso.harmless import printable
from sayso.records import InputError, content_id
from sayso.storage.atomic import disk_errors, replacing
from sayso.version import __version__
from sayso.wikidata.entities import (
    AT,
    END,
    EVERY,
    SOMETIME,
    START,
    Entity,
    EntityStatement,
    fresh_facts,
    known_part,
    plain_name,
)
from sayso.wikidata.excerpt import Excerpt, Stratum, ids_to_name, ticket
from sayso.wikidata.plan import Domain, DomainPlan
from sayso.wikidata.templates import Templates

# ---- the queries

#: most members that a query asks for
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


def properties_query(ids: Sequence[str]) -> str:
    """Return the query for the number of properties of each item."""
    return (
        "SELECT ?item (COUNT(DISTINCT ?property) AS ?properties) WHERE {\n"
        f"  VALUES ?item {{ {_all(ids)} }}\n"
        "  ?item ?claim ?statement .\n"
        "  ?property wikibase:claim ?claim .\n} GROUP BY ?item"
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


# ---- the service

#: seconds between two requests, until a reply, of a first back-off, and of the longest wait
PAUSE, PATIENCE, BACKOFF, LONGEST_WAIT = 1.0, 90.0, 2.0, 300.0
#: bytes a second of a reply, below which it is given up
SLOWEST = 1_000
TRIES = 6
LARGEST = 256_000_000
#: statuses that mean "later"
LATER = frozenset((408, 425, 429, 500, 502, 503, 504))


class Term(msgspec.Struct, frozen=True):
    """One value of a row: "uri", "literal" or "bnode", and the language of a literal."""

    value: str
    type: str = "literal"
    language: str = msgspec.field(default="", name="xml:lang")


Row = dict[str, Term]


class _Results(msgspec.Struct):
    bindings: list[Row]


class _Reply(msgspec.Struct):
    results: _Results


class _StoredReply(msgspec.Struct):
    day: str
    rows: list[Row]


class ServiceError(Exception):
    """The service did not answer this query in :data:`TRIES` attempts."""


class _LaterError(Exception):
    """A failure that may pass: what happened, and the seconds that the service says to wait."""

    def __init__(self, what: str, wait: float | None = None, *, away: bool = False) -> None:
        super().__init__(what)
        self.wait, self.away = wait, away


class Service:
    """One query service. ``requests`` counts requests sent, ``cached`` replies read from disk.

    ``day`` is the earliest day on which a reply that was used came in: what they all describe.
    """

    def __init__(
        self,
        endpoint: str,
        cache: Path,
        *,
        contact: str = "",
        sleep: Callable[[float], None] | None = None,
        clock: Callable[[], float] | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        try:
            url = httpx2.URL(endpoint)
        except httpx2.InvalidURL:
            url = httpx2.URL()
        if url.scheme not in ("http", "https") or not url.host or url.userinfo:
            raise InputError(
                f"--endpoint {endpoint}: expected the address of a SPARQL service, "
                "https://query.wikidata.org/sparql"
            )
        self.endpoint, self.cache = endpoint, cache
        contact = contact or os.environ.get("SAYSO_CONTACT", "")
        contact = "".join(c for c in contact if " " <= c <= "~")[:200]
        self.agent = (
            f"sayso/{__version__} ({contact or 'no contact given'}) python-httpx2/"
            f"{httpx2.__version__}"
        )
        self.named = bool(contact)
        self.requests = self.cached = 0
        self.day = ""
        check_proxies()
        self._client = httpx2.Client(
            headers={"Accept": "application/sparql-results+json", "User-Agent": self.agent},
            timeout=PATIENCE,
        )
        self._sleep, self._clock = sleep or time.sleep, clock or time.monotonic
        self._due = 0.0
        self._tell = tell or (lambda text: None)

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *error: object) -> None:
        self._client.close()

    def rows(self, query: str) -> list[Row]:
        """Return the rows of a query, from disk where its reply is there.

        Raises :class:`ServiceError` where the service does not manage, InputError where it cannot
        be reached or refuses.
        """
        path = self.cache / f"{content_id([self.endpoint, query])}.json"
        stored = _stored(path)
        if stored is None:
            rows = self._fetch(query)
            stored = _StoredReply(datetime.now(UTC).date().isoformat(), rows)
            with replacing(path) as file:
                file.write(msgspec.json.encode(stored))
        else:
            self.cached += 1
        self.day = min(self.day or stored.day, stored.day)
        return stored.rows

    def needed_rows(self, query: str) -> list[Row]:
        """Return the rows of a query that cannot be made smaller; InputError where it fails."""
        try:
            return self.rows(query)
        except ServiceError as error:
            raise InputError(f"{self.endpoint}: {error}; run the same command to resume") from None

    def rows_about(self, ids: Sequence[str], query: Callable[[Sequence[str]], str]) -> list[Row]:
        """Return rows about ids: of one query, or in halves where that is too much at once."""
        if len(ids) < 2:
            return self.needed_rows(query(ids))
        with contextlib.suppress(ServiceError):
            return self.rows(query(ids))
        half = len(ids) // 2
        return self.rows_about(ids[:half], query) + self.rows_about(ids[half:], query)

    def _fetch(self, query: str) -> list[Row]:
        failure = _LaterError("")
        for attempt in range(TRIES):
            self._sleep(max(0.0, self._due - self._clock()))
            self.requests += 1
            pause = PAUSE
            try:
                return self._send(query)
            except _LaterError as error:
                failure = error
                backoff = min(BACKOFF * 2**attempt, LONGEST_WAIT)
                pause = max(PAUSE, backoff if error.wait is None else error.wait)
                if attempt + 1 < TRIES:
                    self._tell(f"{self.endpoint} {error}; asked again in {pause:.0f} s")
            finally:
                self._due = self._clock() + pause
        if failure.away:
            raise InputError(f"{self.endpoint}: {failure}; run the same command to resume")
        raise ServiceError(f"{failure}, {TRIES} times")

    def _send(self, query: str) -> list[Row]:
        """Send a query once. Raises InputError for what no repetition would mend."""
        try:
            with self._client.stream("POST", self.endpoint, data={"query": query}) as reply:
                if not reply.is_success:
                    self._refuse(reply)
                data = _first_bytes(reply, LARGEST)
        except (httpx2.RemoteProtocolError, httpx2.DecodingError):
            raise _LaterError("sent a reply that breaks off") from None
        except httpx2.TransportError as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise _LaterError(f"cannot be reached ({reason})", away=True) from None
        if len(data) > LARGEST:
            raise InputError(f"{self.endpoint}: a reply above {LARGEST >> 20} MB; ask for less")
        if data.lstrip()[:1] == b"<":
            raise InputError(
                f"{self.endpoint}: sent a page or XML, not JSON; expected the address of a "
                "SPARQL service, https://query.wikidata.org/sparql"
            )
        try:
            return msgspec.json.decode(data, type=_Reply).results.bindings
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise _LaterError("sent a reply that breaks off") from None

    def _refuse(self, reply: httpx2.Response) -> NoReturn:
        """Raise what a status other than success means."""
        what = f"answered {reply.status_code}"
        wait = retry_after(reply.headers, longest=math.inf)
        if reply.status_code not in LATER:
            raise InputError(
                f"{self.endpoint}: {what} ({_first_line(reply)}); is it a SPARQL service of a "
                "Wikibase?"
            )
        if wait is not None and wait > LONGEST_WAIT:
            raise InputError(
                f"{self.endpoint}: {what} and asks to wait {wait / 60:,.0f} minutes; run the same "
                "command to resume"
            )
        raise _LaterError(what, wait)


def _stored(path: Path) -> _StoredReply | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_StoredReply)
    except FileNotFoundError:
        return None
    except (msgspec.DecodeError, UnicodeDecodeError):  # a damaged file is requested again
        return None
    except OSError:
        with disk_errors(path, "read"):
            raise


def _first_bytes(reply: httpx2.Response, most: int) -> bytes:
    """Return the body of a reply; of one above ``most`` bytes a little more than these.

    Raises ReadTimeout for one that comes more slowly than ``SLOWEST``.
    """
    data, begun = bytearray(), time.monotonic()
    for chunk in reply.iter_bytes():
        data += chunk
        seconds = time.monotonic() - begun
        if seconds > max(PATIENCE, len(data) / SLOWEST):
            raise httpx2.ReadTimeout(f"only {len(data):,} bytes of a reply in {seconds:.0f} s")
        if len(data) > most:
            break
    return bytes(data)


def _first_line(reply: httpx2.Response) -> str:
    try:
        text = _first_bytes(reply, 2000)[:2000].decode("utf-8", "replace")
    except httpx2.RequestError:
        return "no reason given"
    return printable(text, 150) or "no reason given"


# ---- reading the replies

#: ids in one query
BATCH = 50
#: ids in one query that counts properties
COUNTED_AT_ONCE = 500
RANKS = {"PreferredRank": "preferred", "DeprecatedRank": "deprecated"}
_YEAR = re.compile(r"(-?)(\d{4,})(-.*)")
_ID = re.compile(r"[QP]\d{1,18}")


def read_service(
    service: Service,
    plan: DomainPlan,
    templates: Templates,
    *,
    seed: int = 0,
    fresh: str = "",
    progress: Callable[[str], None] | None = None,
) -> Excerpt:
    """Query a service for everything that a plan needs. Replies on disk are not requested again."""
    tell = progress or (lambda text: None)
    wrong: Counter[str] = Counter()
    domains = {
        name: _domain(service, name, domain, plan.languages[0], seed, wrong, tell)
        for name, domain in plan.domains.items()
    }
    entities = {name: one.strata for name, one in domains.items()}
    kinds = {property: kind for one in domains.values() for property, kind in one.kinds.items()}
    everyone = [e for strata in entities.values() for stratum in strata for e in stratum]
    askable = {p for p, kind in kinds.items() if templates.dropped(p, kind) is None}
    ids = sorted(ids_to_name(everyone, askable) | {entity.id for entity in everyone})
    names = _names(service, ids, plan.languages, tell)
    return Excerpt(
        source=service.endpoint,
        plan=plan,
        seed=seed,
        entities={
            name: [[_with_names(entity, names) for entity in stratum] for stratum in strata]
            for name, strata in entities.items()
        },
        fresh_after=fresh,
        fresh={
            name: [
                _with_names(e, names) for s in strata for e in s if fresh and fresh_facts(e, fresh)
            ]
            for name, strata in entities.items()
        },
        population={name: one.population for name, one in domains.items()},
        properties={name: one.properties for name, one in domains.items()},
        counted={name: sum(map(len, one.strata)) for name, one in domains.items()},
        kinds=kinds,
        names=names,
        namesakes={id: n for one in domains.values() for id, n in one.namesakes.items()},
        day=service.day,
        day_from="the day the service was asked",
        counts={"entities asked for": len(everyone), "names": len(names)},
        wrong=dict(wrong),
        notes=tuple(_notes(service, domains, fresh)),
    )


def _notes(service: Service, domains: Mapping[str, _ServiceMembers], fresh: str) -> Iterator[str]:
    yield (
        "asked of a query service: classes of the best rank only, properties counted over the "
        "sample, days in the Gregorian calendar"
    )
    if fresh:
        yield "facts of after the day are those of the sample; none were sampled in addition"
    if not service.named:
        yield "the service does not know how to reach you: pass --contact"
    for name, one in domains.items():
        if sum(one.population) >= MOST:
            yield f"{name}: more than {MOST:,} members; the sample is of the first ones"


class _ServiceMembers(NamedTuple):
    """What a service knows of one domain; see :class:`sayso.wikidata.excerpt.Excerpt`."""

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
) -> _ServiceMembers:
    tell(f"{name}: members")
    members = _members(service.needed_rows(members_query(domain, language)), wrong)
    if domain.frequency == "properties":
        members = _with_properties(service, members, wrong, tell, name)
    labels = Counter(plain_name(entity.labels[""]) for entity in members)
    strata = [Stratum(domain.entities) for _ in range(len(domain.edges) + 1)]
    population = [0] * len(strata)
    for entity in members:
        number = domain.stratum(entity)
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
    return _ServiceMembers(
        [
            [msgspec.structs.replace(e, statements=tuple(facts.get(e.id, ()))) for e in stratum]
            for stratum in kept
        ],
        population,
        dict(sorted(properties.items())),
        kinds,
        {entity.id: labels[plain_name(entity.labels[""])] for entity in sample},
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
    members: dict[str, Entity] = {}
    # a label of the language itself counts before one for every language
    for row in sorted(rows, key=lambda row: "label" in row and row["label"].language == EVERY):
        id, label = _id(row, "item"), " ".join(_text(row, "label").split())
        numbers = [_text(row, name) for name in ("statements", "sitelinks")]
        if id and label and all(n.isascii() and n.isdecimal() for n in numbers):
            members.setdefault(
                id, Entity(id, {"": label}, count=int(numbers[0]), sitelinks=int(numbers[1]))
            )
        else:
            wrong["rows of members that cannot be read"] += 1
    return [members[id] for id in sorted(members)]


def _with_properties(
    service: Service,
    members: Sequence[Entity],
    wrong: Counter[str],
    tell: Callable[[str], None],
    name: str,
) -> list[Entity]:
    """Return members with the number of their properties; one that nobody counted is left out."""
    numbers: dict[str, int] = {}
    ids = [entity.id for entity in members]
    for at in range(0, len(ids), COUNTED_AT_ONCE):
        tell(f"{name}: properties of {at:,} of {len(ids):,}")
        for row in service.rows_about(ids[at : at + COUNTED_AT_ONCE], properties_query):
            id, number = _id(row, "item"), _text(row, "properties")
            if id and number.isascii() and number.isdecimal():
                numbers[id] = int(number)
            else:
                wrong["counts of properties that cannot be read"] += 1
    if uncounted := sum(id not in numbers for id in ids):
        wrong["members whose properties were not counted"] += uncounted
    return [
        msgspec.structs.replace(entity, properties=numbers[entity.id])
        for entity in members
        if entity.id in numbers
    ]


def _statements(
    service: Service, ids: list[str], wrong: Counter[str], tell: Callable[[str], None], name: str
) -> dict[str, list[EntityStatement]]:
    statements: dict[str, dict[str, EntityStatement]] = {}
    for batch in _batches(ids):
        tell(f"{name}: statements of {len(statements):,} of {len(ids):,}")
        for row in service.rows_about(batch, statements_query):
            id, one = _id(row, "item"), row_statement(row)
            if one is None or not id:
                wrong["statements that cannot be read"] += 1
                continue
            # several qualifiers of a kind give a row each: the first in order counts
            own = statements.setdefault(id, {})
            key = _text(row, "statement")
            if key not in own or _order(one) < _order(own[key]):
                own[key] = one
    return {id: [own[key] for key in sorted(own)] for id, own in sorted(statements.items())}


def _order(one: EntityStatement) -> tuple[str, str, str, str]:
    return one.value, one.start, one.end, one.at


def row_statement(row: Row) -> EntityStatement | None:
    """Read one row of :func:`statements_query`; ``None`` for what cannot be a statement."""
    property, kind = _id(row, "property"), KINDS.get(_text(row, "type").rpartition("#")[2])
    value = row.get("value")
    if not property or kind is None:
        return None
    when = {name: _moment(row, name) for name in QUALIFIERS}
    if when["at"] == SOMETIME:
        when["at"] = ""
    rank = RANKS.get(_text(row, "rank").rpartition("#")[2], "normal")
    one = EntityStatement(property, kind, rank=rank, **when)  # type: ignore[arg-type]
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
    """Return a start, an end or a point in time, as :mod:`sayso.wikidata.entities` does."""
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
        for row in service.rows_about(batch, lambda some: names_query(some, languages)):
            id, kind, text = _id(row, "item"), _text(row, "kind"), row.get("text")
            if id and text is not None:
                own = texts.setdefault(id, {}).setdefault(kind, {})
                own.setdefault(text.language, []).append(text.value)
    return {id: _names_in(id, kinds, languages) for id, kinds in sorted(texts.items())}


def _names_in(id: str, kinds: dict[str, dict[str, list[str]]], languages: Sequence[str]) -> Entity:
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


def _with_names(entity: Entity, names: dict[str, Entity]) -> Entity:
    named = names.get(entity.id, Entity(entity.id))
    return msgspec.structs.replace(
        entity, labels=named.labels, descriptions=named.descriptions, aliases=named.aliases
    )

"""A query service, asked politely: one request at a time, paced, named, every reply kept.

What Wikimedia asks of clients (User-Agent policy, query limits of the Wikidata Query Service): say
who you are, wait as long as ``Retry-After`` says, do not ask twice. A reply that breaks off in the
middle, as after a time-out there, counts as a failure and is asked again.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import msgspec

from sayso.records import InputError, content_id
from sayso.storage.atomic import disk_errors, replacing
from sayso.version import __version__
from sayso.wikidata.dump import Stratum, ticket
from sayso.wikidata.entities import (
    AT,
    END,
    EVERY,
    SOMETIME,
    START,
    Entity,
    Statement,
    fresh_facts,
    known_part,
)
from sayso.wikidata.found import Found, wanted_names
from sayso.wikidata.plan import Domain, Plan
from sayso.wikidata.templates import Templates

# What a query service is asked: members of a domain, their statements, names.

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


#: seconds between two requests, until a reply, of a first back-off, and of the longest wait
PAUSE, PATIENCE, BACKOFF, LONGEST_WAIT = 1.0, 90.0, 2.0, 300.0
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


class _Stored(msgspec.Struct):
    day: str
    rows: list[Row]


class ServiceError(Exception):
    """The service did not answer this query, however often it was asked."""


class Service:
    """One query service. ``asked`` counts requests that were sent, ``cached`` replies on disk.

    ``day`` is the earliest day on which a reply that was used came in: what they all describe.
    """

    def __init__(
        self,
        endpoint: str,
        cache: Path,
        *,
        contact: str = "",
        pause: float = PAUSE,
        sleep: Callable[[float], None] | None = None,
        clock: Callable[[], float] | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        parts = urllib.parse.urlsplit(endpoint)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
            raise InputError(
                f"--endpoint {endpoint}: expected the address of a SPARQL service, "
                "https://query.wikidata.org/sparql"
            )
        self.endpoint, self.cache = endpoint, cache
        contact = contact or os.environ.get("SAYSO_CONTACT", "")
        told = "".join(c for c in contact if " " <= c <= "~")[:200]
        self.agent = f"sayso/{__version__} ({told or 'no contact given'}) python-urllib"
        self.named = bool(told)
        self.asked = self.cached = 0
        self.day = ""
        self._pause = pause
        self._sleep, self._clock = sleep or time.sleep, clock or time.monotonic
        self._due = 0.0
        self._tell = tell or (lambda text: None)

    def __enter__(self) -> Service:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing stays open between requests."""

    def ask(self, query: str) -> list[Row]:
        """Return the rows of a query, from disk where it was asked before.

        Raises :class:`ServiceError` where the service does not manage, InputError where it cannot
        be reached or refuses.
        """
        place = self.cache / f"{content_id([self.endpoint, query])}.json"
        stored = self._stored(place)
        if stored is None:
            rows = self._fetch(query)
            stored = _Stored(datetime.now(UTC).date().isoformat(), rows)
            with replacing(place) as file:
                file.write(msgspec.json.encode(stored))
        else:
            self.cached += 1
        self.day = min(self.day or stored.day, stored.day)
        return stored.rows

    def ask_or_stop(self, query: str) -> list[Row]:
        """Return the rows of a query that cannot be made smaller; InputError where it fails."""
        try:
            return self.ask(query)
        except ServiceError as error:
            raise InputError(
                f"{self.endpoint}: {error}; the same command goes on where it was"
            ) from None

    def ask_for(self, ids: Sequence[str], query: Callable[[Sequence[str]], str]) -> list[Row]:
        """Ask about ids together; what the service cannot manage at once is asked in halves."""
        if len(ids) < 2:
            return self.ask_or_stop(query(ids))
        with contextlib.suppress(ServiceError):  # it may manage less at once
            return self.ask(query(ids))
        half = len(ids) // 2
        return self.ask_for(ids[:half], query) + self.ask_for(ids[half:], query)

    def _stored(self, place: Path) -> _Stored | None:
        try:
            return msgspec.json.decode(place.read_bytes(), type=_Stored)
        except FileNotFoundError:
            return None
        except (msgspec.DecodeError, UnicodeDecodeError):  # a damaged file is asked for again
            return None
        except OSError:
            with disk_errors(place, "read"):
                raise

    def _fetch(self, query: str) -> list[Row]:
        why = ""
        for attempt in range(TRIES):
            self._sleep(max(0.0, self._due - self._clock()))
            wait = min(BACKOFF * 2**attempt, LONGEST_WAIT)
            try:
                self.asked += 1
                data = self._send(query)
                if data.lstrip()[:1] == b"<":
                    raise InputError(
                        f"{self.endpoint}: sent a page or XML, not JSON; expected the address of a "
                        "SPARQL service, https://query.wikidata.org/sparql"
                    )
                return msgspec.json.decode(data, type=_Reply).results.bindings
            except urllib.error.HTTPError as error:
                why = f"answered {error.code}"
                asked = retry_after(dict(error.headers))
                body = _first_line(error)
                error.close()
                if error.code not in LATER:
                    raise InputError(
                        f"{self.endpoint}: {why} ({body}); is it a SPARQL service of a Wikibase?"
                    ) from None
                if asked is not None and asked > LONGEST_WAIT:
                    raise InputError(
                        f"{self.endpoint}: {why} and asks to wait {asked / 60:,.0f} minutes; the "
                        "same command goes on where it was"
                    ) from None
                wait = wait if asked is None else asked
            except (msgspec.DecodeError, UnicodeDecodeError, http.client.HTTPException):
                why = "sent a reply that breaks off"
            except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
                reason = getattr(error, "reason", None) or error
                why = f"cannot be reached ({' '.join(str(reason).split())})"
            finally:
                self._due = self._clock() + self._pause
            self._due = self._clock() + max(wait, self._pause)
            if attempt + 1 < TRIES:
                self._tell(f"{self.endpoint} {why}; asked again in {max(wait, self._pause):.0f} s")
        if why.startswith("cannot be reached"):
            raise InputError(f"{self.endpoint}: {why}; the same command goes on where it was")
        raise ServiceError(f"{why}, {TRIES} times")

    def _send(self, query: str) -> bytes:
        request = urllib.request.Request(
            self.endpoint,
            data=urllib.parse.urlencode({"query": query}).encode(),
            headers={
                "Accept": "application/sparql-results+json",
                "Content-Type": "application/x-www-form-urlencoded",
                "User-Agent": self.agent,
            },
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            data: bytes = reply.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise InputError(f"{self.endpoint}: a reply above {LARGEST >> 20} MB; ask for less")
        return data


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a reply asks to wait, ``None`` where it says nothing."""
    text = next((v for k, v in headers.items() if k.lower() == "retry-after"), "")
    try:
        seconds = float(text)
        return max(0.0, seconds) if seconds == seconds else None
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(text)
        now = parsedate_to_datetime(headers["Date"]) if "Date" in headers else datetime.now(UTC)
        return max(0.0, (until - now).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _first_line(error: urllib.error.HTTPError) -> str:
    try:
        text = error.read(2000).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException):
        return "no reason given"
    plain = "".join(c for c in " ".join(text.split()) if c.isprintable())
    return plain[:150] or "no reason given"


# What a benchmark is made of, from a query service: members, their statements, and all names.
#
# The same records as from a dump. Three differences are noted on the card: membership goes by
# the
# best-ranked classes, properties are counted over the sample, and days are Gregorian
# throughout.

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

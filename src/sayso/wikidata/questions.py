"""From what was found and the reviewed aspects to records in UNCLE's format.

A record has more keys than UNCLE's, which its reader passes over: the entity's id and stratum, and
for each aspect its kind, day and start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from sayso.records import Gold
from sayso.wikidata.aspects import Aspect, Aspects
from sayso.wikidata.entities import Entity
from sayso.wikidata.found import Found
from sayso.wikidata.freshness import is_fresh
from sayso.wikidata.templates import Templates, Texts, texts
from sayso.wikidata.values import answer, year_of

#: characters of a description that may stand behind a name
LONGEST_NOTE = 80


class Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """One short question. ``as_of`` is the day it is asked for, ``start`` since when it is true.

    ``partial``: not all true values are known; ``disputed``: they cannot all be true.
    """

    question: str
    answer: list[Gold]
    label: str
    description: str
    property_id: str
    kind: str = ""
    as_of: str = ""
    start: str = ""
    partial: bool = False
    disputed: bool = False


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """One prompt with its questions, as :mod:`sayso.datasets.uncle` reads it."""

    entity: str
    prompt: str
    domain: str
    individual_qa: list[Part]
    id: str
    stratum: str
    statements: int
    sitelinks: int
    split: str = "main"
    twin_of: str = ""


class Drafted(msgspec.Struct, frozen=True):
    """An entity that is asked about: its name in questions, and the parts."""

    entity: Entity
    name: str
    domain: str
    stratum: int
    old: list[Part]
    fresh: list[Part]


class Made(msgspec.Struct, frozen=True):
    """The questions, and what was left out on the way, by reason."""

    drafts: list[Drafted]
    left: dict[str, int]


class _Drafting(NamedTuple):
    """What questions are made from; ``names`` are given away, ``left`` counts what was left out."""

    found: Found
    templates: Templates
    form: Texts
    names: set[str]
    left: Counter[str]


def draft(found: Found, aspects: Aspects, templates: Templates) -> Made:
    """Choose entities evenly over strata and word their questions.

    An entity counts where at least ``least`` aspects can be asked. Those that are sampled for what
    is fresh come in addition, with fresh facts alone.
    """
    form = texts(templates, found.plan.languages[0])
    ours = _Drafting(found, templates, form, set(), Counter())
    drafts: list[Drafted] = []
    for domain in found.plan.domains:
        drafts += _domain(ours, domain, aspects.kept(domain))
    return Made(drafts, dict(ours.left))


def _domain(ours: _Drafting, domain: str, kept: dict[str, Aspect]) -> Iterator[Drafted]:
    settings = ours.found.plan.domains[domain]
    taken: set[str] = set()
    strata = enumerate(ours.found.entities[domain])
    queues = [_drafts(ours, domain, number, entities, kept) for number, entities in strata]
    for one in _in_turn(queues):
        if len(taken) == settings.entities:
            break
        if len(one.old) < settings.least and not one.fresh:
            ours.left["entities with too few aspects"] += 1
            continue
        taken.add(one.entity.id)
        ours.names.add(one.name)
        yield one
    more = 0
    for entity in ours.found.fresh.get(domain, []):
        if entity.id in taken or more == settings.entities:
            continue
        stratum = settings.stratum(entity.count, entity.sitelinks)
        for one in _drafts(ours, domain, stratum, [entity], kept):
            if one.fresh:
                ours.names.add(one.name)
                more += 1
                yield msgspec.structs.replace(one, old=[])


def _in_turn(queues: Sequence[Iterator[Drafted]]) -> Iterator[Drafted]:
    """Yield one of each stratum in turn, until all are empty; none is drafted before its turn."""
    waiting = list(queues)
    while waiting:
        for queue in list(waiting):
            one = next(queue, None)
            if one is None:
                waiting.remove(queue)
            else:
                yield one


def _drafts(
    ours: _Drafting,
    domain: str,
    stratum: int,
    entities: Sequence[Entity],
    kept: dict[str, Aspect],
) -> Iterator[Drafted]:
    for entity in entities:
        name = told_name(entity, ours.found)
        if name is None or name in ours.names:
            ours.left["entities whose name is ambiguous"] += 1
            continue
        old: list[Part] = []
        fresh: list[Part] = []
        asked: set[str] = set()
        day = ours.found.fresh_after
        for property, aspect in kept.items():
            part = _part(ours, entity, name, property, aspect)
            if part is None or part.question in asked:
                continue
            asked.add(part.question)
            (fresh if day and is_fresh(part.start, entity, day) else old).append(part)
        yield Drafted(entity, name, domain, stratum, old, fresh)


def told_name(entity: Entity, found: Found) -> str | None:
    """Return the entity's name, with its description where others are called the same.

    ``None`` where there is no short description to tell them apart.
    """
    language = found.plan.languages[0]
    name = " ".join(entity.labels.get(language, "").split())
    if not name or found.namesakes.get(entity.id, 1) < 2:
        return name or None
    note = " ".join(entity.descriptions.get(language, "").split())
    return f"{name} ({note})" if note and len(note) <= LONGEST_NOTE else None


def _part(ours: _Drafting, entity: Entity, name: str, property: str, aspect: Aspect) -> Part | None:
    told = answer(entity, property, ours.found, ours.templates)
    if not told.golds:
        if any(s.property == property for s in entity.statements):
            ours.left[f"facts ({told.why})"] += 1
        return None
    if not told.askable:
        ours.left["facts (most values are missing)"] += 1
        return None
    question = ours.form.question(aspect.question, name, aspect.description, told.day, aspect.dated)
    if any(stands_in(gold, question) or tells(name, gold) for gold in told.golds):
        ours.left["facts (the gold stands in the question)"] += 1
        return None
    return Part(
        question=question,
        answer=[without_echo(gold, question) for gold in told.golds],
        label=ours.found.label(property) or aspect.description,
        description=aspect.description,
        property_id=property,
        kind=ours.found.kinds.get(property, ""),
        as_of=told.day,
        start=told.start,
        partial=told.missing > 0,
        disputed=told.disputed,
    )


def stands_in(gold: Gold, question: str) -> bool:
    """Tell whether a question gives its gold away: the value as whole words in it."""
    words = f" {' '.join(_words(question))} "
    said = " ".join(_words(gold.value))
    return bool(said) and f" {said} " in words


def tells(name: str, gold: Gold) -> bool:
    """Tell whether a name gives a gold away: by an alias of it, or by the year of a date."""
    words = f" {' '.join(_words(name))} "
    said = [" ".join(_words(other)) for other in gold.names]
    if gold.kind == "date" and gold.precision in ("year", "month", "day"):
        said.append(str(year_of(gold)[0]))
    return any(other and f" {other} " in words for other in said)


def without_echo(gold: Gold, question: str) -> Gold:
    """Leave out aliases that stand in the question, such as "capital of Portugal"."""
    words = f" {' '.join(_words(question))} "
    fit = [alias for alias in gold.aliases if f" {' '.join(_words(alias))} " not in words]
    return msgspec.structs.replace(gold, aliases=tuple(fit))


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in text.casefold()).split()


def records(made: Made, found: Found, templates: Templates, split: str) -> Iterator[Record]:
    """Yield the records of a split, "main" or "fresh": one prompt for each few aspects."""
    form = texts(templates, found.plan.languages[0])
    for one in made.drafts:
        settings = found.plan.domains[one.domain]
        parts = one.fresh if split == "fresh" else one.old
        if split == "main" and len(parts) < settings.least:
            continue
        for chunk in chunks(parts, settings.aspects):
            aspects = [(part.description, part.as_of) for part in chunk]
            yield Record(
                entity=one.name,
                prompt=form.prompt(settings.type, one.name, aspects),
                domain=one.domain,
                individual_qa=list(chunk),
                id=one.entity.id,
                stratum=settings.stratum_name(one.stratum),
                statements=one.entity.count,
                sitelinks=one.entity.sitelinks,
                split=split,
            )


def chunks(parts: Sequence[Part], most: int) -> Iterator[Sequence[Part]]:
    """Yield parts in as few prompts as need be, of nearly equal length."""
    if not parts:
        return
    count = -(-len(parts) // most)
    for number in range(count):
        yield parts[number * len(parts) // count : (number + 1) * len(parts) // count]


__all__ = [
    "Drafted",
    "Made",
    "Part",
    "Record",
    "chunks",
    "draft",
    "records",
    "stands_in",
    "tells",
    "told_name",
]

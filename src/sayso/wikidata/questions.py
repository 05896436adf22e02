"""From what was found and the reviewed aspects to records in UNCLE's format.

A record has more keys than UNCLE's, which its reader passes over: the entity's id and stratum, and
for each aspect its kind, day and start.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from sayso.engines.engine import Engine
from sayso.prompts import load_prompt
from sayso.records import Gold, ask, content_id
from sayso.wikidata.aspects import Aspect, Aspects
from sayso.wikidata.entities import Entity, is_fresh
from sayso.wikidata.found import Found
from sayso.wikidata.templates import Templates, Texts, filled, texts
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


# Renamed entities: a positive control. Nobody knows anything about an invented name.
#
# A twin asks what its original is asked, with the same golds, but for what would tell the old
# name.
# Whatever is then "known" was guessed from the type of fact; a model that does not hedge here
# does
# not hedge from not knowing.

#: attempts at a name before an entity goes without a twin
TRIES = 50
_VOWELS = re.compile(r"[aeiouyáéíóúàèìòùäöüâêîôûæøåа-яё]", re.IGNORECASE)


def twins(
    drafts: Sequence[Drafted], found: Found, aspects: Aspects, templates: Templates, most: int
) -> Iterator[Record]:
    """Yield a twin of up to ``most`` entities of each domain."""
    form = texts(templates, found.plan.languages[0])
    known = _known(found)
    for domain, settings in found.plan.domains.items():
        ours = [one for one in drafts if one.domain == domain]
        pool = sorted({bare(one.name) for one in ours})
        kept = aspects.kept(domain)
        made = 0
        for one in ours:
            if made == most or len(one.old) < settings.least:
                continue
            name = invented(pool, bare(one.name), found.seed, known)
            if name is None:
                continue
            parts = [
                msgspec.structs.replace(part, question=_renamed(part, name, kept, form))
                for part in one.old
                if not any(_mentions(gold, one.entity, bare(one.name)) for gold in part.answer)
            ]
            parts = [
                part
                for part in parts
                if not any(stands_in(g, part.question) or tells(name, g) for g in part.answer)
            ]
            if len(parts) < settings.least:
                continue
            known.add(_plain(name))
            made += 1
            for chunk in chunks(parts, settings.aspects):
                told = [(part.description, part.as_of) for part in chunk]
                yield Record(
                    entity=name,
                    prompt=form.prompt(settings.type, name, told),
                    domain=domain,
                    individual_qa=list(chunk),
                    id=f"twin-{one.entity.id}",
                    stratum="invented",
                    statements=0,
                    sitelinks=0,
                    split="twins",
                    twin_of=one.name,
                )


def bare(name: str) -> str:
    """Return a name without the description that tells it from its namesakes."""
    return name.partition(" (")[0]


def _renamed(part: Part, name: str, kept: dict[str, Aspect], form: Texts) -> str:
    aspect = kept[part.property_id]
    return form.question(aspect.question, name, aspect.description, part.as_of, aspect.dated)


def _mentions(gold: Gold, entity: Entity, name: str) -> bool:
    """Tell whether a gold holds a name of the original."""
    names = {name, *entity.labels.values()}
    names.update(alias for aliases in entity.aliases.values() for alias in aliases)
    return any(stands_in(Gold(old), other) for old in names for other in gold.names)


def invented(pool: Sequence[str], name: str, seed: int, known: set[str]) -> str | None:
    """Return a name shaped like ``name`` from pieces of the pool's, ``None`` where none is new."""
    draw = random.Random(content_id(["twin", seed, name]))
    words = sorted({w for one in pool for w in one.split() if len(w) > 3 and w.isalpha()})
    if len(words) < 2:
        return None
    real = {_plain(word) for word in words}
    for _ in range(TRIES):
        made = [
            _blend(draw.choice(words), draw.choice(words)) if len(word) > 3 else word
            for word in name.split()
        ]
        put_in = {_plain(word) for word in made if len(word) > 3}
        doubled = len(set(made)) < len(set(name.split()))
        if (
            put_in
            and not doubled
            and put_in.isdisjoint(real)
            and _plain(" ".join(made)) not in known
        ):
            return " ".join(made)
    return None


def _blend(head: str, tail: str) -> str:
    """Join the beginning of one word and the end of another at a vowel of each."""
    first = [m.end() for m in _VOWELS.finditer(head) if 1 < m.end() < len(head)] or [len(head) // 2]
    last = [m.end() for m in _VOWELS.finditer(tail) if 0 < m.end() < len(tail) - 1]
    middle = first[len(first) // 2]
    cut = (last or [len(tail) // 2])[len(last) // 2 if last else 0]
    made = head[:middle] + tail[cut:].lower()
    return made[:1].upper() + made[1:] if head[:1].isupper() else made


def _known(found: Found) -> set[str]:
    """Return every name that was seen, in any language."""
    everyone = [one for strata in found.entities.values() for s in strata for one in s]
    everyone += [one for ones in found.fresh.values() for one in ones]
    everyone += found.names.values()
    names: set[str] = set()
    for entity in everyone:
        names.update(map(_plain, entity.labels.values()))
        names.update(_plain(alias) for aliases in entity.aliases.values() for alias in aliases)
    return names


def _plain(name: str) -> str:
    return " ".join(name.casefold().split())


# Questions worded by a model, one for each aspect, each checked by a round trip.
#
# The model writes a question with a place for the name. It is kept where, put to the same model
# with
# the names of three entities and all aspects of the domain, it leads back to its aspect each
# time,
# and where it names the entity once and no gold. A person still reviews it: a model that
# misreads
# its own question in the same way twice passes this check.

#: entities that a question is tried on; characters of a question
TRIED, LONGEST = 3, 300


class Worder:
    """Words aspects: call it with (domain, property, aspect).

    ``kept`` and ``refused`` count questions, ``failed`` requests without an answer; ``failure`` is
    the reason of the last.
    """

    def __init__(
        self, engine: Engine, found: Found, templates: Templates, prompts: Path | None = None
    ) -> None:
        self.engine, self.found, self.templates = engine, found, templates
        self.write = load_prompt("build_question", prompts)
        self.check = load_prompt("build_question_check", prompts)
        self.aspects: Aspects | None = None
        self.kept = self.refused = self.failed = 0
        self.failure = ""

    def __call__(self, domain: str, property: str, aspect: Aspect) -> str | None:
        """Return a question that came back to its aspect, ``None`` where none did."""
        known = self._golds(domain, property)
        if not known:
            return None
        told = self._ask(
            self.write,
            language=self.found.plan.languages[0],
            type=self.found.plan.domains[domain].type or "thing",
            aspect=aspect.description,
            example=known[0][1][0].value,
        )
        question = " ".join(told.strip().strip('"').split())
        fit = (
            question.count("{entity}") == 1
            and len(question) <= LONGEST
            and question.endswith(("?", "？", "؟", ";"))
            and question.isprintable()
            and "{" not in question.replace("{entity}", "")
        )
        if fit and all(self._returns(domain, property, question, *one) for one in known):
            self.kept += 1
            return question
        self.refused += 1
        return None

    def _returns(
        self, domain: str, property: str, question: str, name: str, golds: tuple[Gold, ...]
    ) -> bool:
        """Tell whether a question leads back to its aspect for one entity."""
        asked = question.replace("{entity}", name)
        if any(stands_in(gold, asked) for gold in golds):
            return False
        rows = self.aspects.kept(domain) if self.aspects else {}
        options = "\n".join(f"{n}. {row.description}" for n, row in enumerate(rows.values(), 1))
        told = self._ask(self.check, question=asked, options=options)
        number = re.fullmatch(r"\D{0,20}(\d{1,4})\D{0,20}", told.strip())
        wanted = list(rows).index(property) + 1 if property in rows else -1
        return number is not None and int(number[1]) == wanted

    def _golds(self, domain: str, property: str) -> list[tuple[str, tuple[Gold, ...]]]:
        """Return names and golds of the first entities that have any."""
        found = []
        for entity in (e for stratum in self.found.entities[domain] for e in stratum):
            golds = answer(entity, property, self.found, self.templates).golds
            if golds:
                found.append((told_name(entity, self.found) or entity.id, golds))
            if len(found) == TRIED:
                break
        return found

    def _ask(self, template: str, **values: str) -> str:
        request = ask(filled(template, **values), temperature=0.0, max_tokens=200)
        for _, generation in self.engine.complete([request]):
            if not generation.problem:
                return generation.text
            self.failed, self.failure = self.failed + 1, generation.problem
        return ""

"""From an excerpt and its reviewed aspects to records in UNCLE's format.

A record has more keys than UNCLE's, which its reader passes over: the entity's id and stratum, and
for each aspect its kind, day and start.

**Twins** are entities with invented names, a positive control: nobody knows anything about them. A
twin gets the questions of its original, with the same golds, except where they would reveal the old
name. Whatever is then "known" was guessed from the type of fact; a model that does not hedge here
does not hedge from not knowing.

**Questions worded by a model**, one for each aspect, are checked by a round trip. The model writes
a question with a place for the name. The question is kept where the same model, given the names of
three entities and all aspects of the domain, traces it back to its aspect each time, and where it
names the entity once and no gold. A person still reviews it: a model that misreads its own question
in the same way twice passes this check.
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
from sayso.wikidata.aspects import AspectReview, ReviewedAspect
from sayso.wikidata.entities import Entity, is_fresh, plain_name
from sayso.wikidata.excerpt import Excerpt
from sayso.wikidata.plan import Domain
from sayso.wikidata.templates import LanguageTexts, Templates, filled_template, texts
from sayso.wikidata.values import answer, date_year

#: characters of a description that may stand behind a name
LONGEST_NOTE = 80


class ShortQuestion(msgspec.Struct, frozen=True, omit_defaults=True):
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
    individual_qa: list[ShortQuestion]
    id: str
    stratum: str
    properties: int
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
    old: list[ShortQuestion]
    fresh: list[ShortQuestion]


class Drafts(msgspec.Struct, frozen=True):
    """The entities that are asked about, and what was left out on the way, by reason."""

    entities: list[Drafted]
    left: dict[str, int]


class _Drafting(NamedTuple):
    """What questions are made from; ``names`` are taken, ``left`` counts what was left out."""

    excerpt: Excerpt
    templates: Templates
    form: LanguageTexts
    names: set[str]
    left: Counter[str]


def draft(excerpt: Excerpt, aspects: AspectReview, templates: Templates) -> Drafts:
    """Choose entities evenly over strata and word their questions.

    An entity counts where at least ``least`` aspects can be asked for. Those sampled for what is
    fresh come in addition, with fresh facts alone.
    """
    form = texts(templates, excerpt.plan.languages[0])
    ours = _Drafting(excerpt, templates, form, set(), Counter())
    drafts: list[Drafted] = []
    for domain in excerpt.plan.domains:
        drafts += _domain(ours, domain, aspects.kept(domain))
    return Drafts(drafts, dict(ours.left))


def _domain(ours: _Drafting, domain: str, kept: dict[str, ReviewedAspect]) -> Iterator[Drafted]:
    settings = ours.excerpt.plan.domains[domain]
    taken: set[str] = set()
    strata = enumerate(ours.excerpt.entities[domain])
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
    for entity in ours.excerpt.fresh.get(domain, []):
        if entity.id in taken or more == settings.entities:
            continue
        stratum = settings.stratum(entity)
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
    kept: dict[str, ReviewedAspect],
) -> Iterator[Drafted]:
    for entity in entities:
        name = distinct_name(entity, ours.excerpt)
        if name is None or name in ours.names:
            ours.left["entities whose name is ambiguous"] += 1
            continue
        old: list[ShortQuestion] = []
        fresh: list[ShortQuestion] = []
        worded: set[str] = set()
        day = ours.excerpt.fresh_after
        for property, aspect in kept.items():
            part = _part(ours, entity, name, property, aspect)
            if part is None or part.question in worded:
                continue
            worded.add(part.question)
            (fresh if day and is_fresh(part.start, entity, day) else old).append(part)
        yield Drafted(entity, name, domain, stratum, old, fresh)


def distinct_name(entity: Entity, excerpt: Excerpt) -> str | None:
    """Return the entity's name, with its description where others are called the same.

    ``None`` where there is no short description to tell them apart.
    """
    language = excerpt.plan.languages[0]
    name = " ".join(entity.labels.get(language, "").split())
    if not name or excerpt.namesakes.get(entity.id, 1) < 2:
        return name or None
    note = " ".join(entity.descriptions.get(language, "").split())
    return f"{name} ({note})" if note and len(note) <= LONGEST_NOTE else None


def _part(
    ours: _Drafting, entity: Entity, name: str, property: str, aspect: ReviewedAspect
) -> ShortQuestion | None:
    true = answer(entity, property, ours.excerpt, ours.templates)
    if not true.golds:
        if any(s.property == property for s in entity.statements):
            ours.left[f"facts ({true.why})"] += 1
        return None
    if not true.askable:
        ours.left["facts (most values are missing)"] += 1
        return None
    question = ours.form.question(aspect.question, name, aspect.description, true.day, aspect.dated)
    if any(stands_in(gold, question) or reveals(name, gold) for gold in true.golds):
        ours.left["facts (the question contains the gold)"] += 1
        return None
    return ShortQuestion(
        question=question,
        answer=[without_echo(gold, question) for gold in true.golds],
        label=ours.excerpt.label(property) or aspect.description,
        description=aspect.description,
        property_id=property,
        kind=ours.excerpt.kinds.get(property, ""),
        as_of=true.day,
        start=true.start,
        partial=true.missing > 0,
        disputed=true.disputed,
    )


def stands_in(gold: Gold, question: str) -> bool:
    """Tell whether a gold's value stands in its question, as whole words."""
    words = f" {' '.join(_words(question))} "
    value = " ".join(_words(gold.value))
    return bool(value) and f" {value} " in words


def reveals(name: str, gold: Gold) -> bool:
    """Tell whether an entity's name reveals a gold: by an alias of it, or by the year of a date."""
    words = f" {' '.join(_words(name))} "
    values = [" ".join(_words(other)) for other in gold.names]
    if gold.kind == "date" and gold.precision in ("year", "month", "day"):
        values.append(str(date_year(gold)[0]))
    return any(value and f" {value} " in words for value in values)


def without_echo(gold: Gold, question: str) -> Gold:
    """Leave out aliases that stand in the question, such as "capital of Portugal"."""
    words = f" {' '.join(_words(question))} "
    fit = [alias for alias in gold.aliases if f" {' '.join(_words(alias))} " not in words]
    return msgspec.structs.replace(gold, aliases=tuple(fit))


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in text.casefold()).split()


def split_records(
    drafts: Drafts, excerpt: Excerpt, templates: Templates, split: str, prompts: int = 1
) -> Iterator[Record]:
    """Yield the records of a split, "main" or "fresh": one prompt for each few aspects.

    ``prompts`` is how many an entity has, each about other aspects, as far as they go round.
    """
    form = texts(templates, excerpt.plan.languages[0])
    for one in drafts.entities:
        settings = excerpt.plan.domains[one.domain]
        parts = one.fresh if split == "fresh" else one.old
        if split == "main" and len(parts) < settings.least:
            continue
        for chunk in chunks(parts, settings, prompts, [excerpt.seed, one.entity.id]):
            yield Record(
                entity=one.name,
                prompt=_prompt(form, settings.type, one.name, chunk),
                domain=one.domain,
                individual_qa=list(chunk),
                id=one.entity.id,
                stratum=settings.stratum_name(one.stratum),
                properties=one.entity.properties,
                statements=one.entity.count,
                sitelinks=one.entity.sitelinks,
                split=split,
            )


def _prompt(form: LanguageTexts, kind: str, name: str, parts: Sequence[ShortQuestion]) -> str:
    return form.prompt(kind, name, [(part.description, part.as_of) for part in parts])


def chunks(
    parts: Sequence[ShortQuestion], domain: Domain, prompts: int, key: object
) -> Iterator[Sequence[ShortQuestion]]:
    """Yield the parts of each prompt, of nearly equal length; every part is in one of them.

    One prompt names ``domain.aspects`` at most; of several wanted ``prompts`` each names
    ``domain.least`` at least, and which parts stand together is drawn by ``key``.
    """
    if not parts:
        return
    count = max(-(-len(parts) // domain.aspects), min(prompts, len(parts) // domain.least))
    order = list(range(len(parts)))
    if prompts > 1:
        random.Random(content_id(["prompts", key])).shuffle(order)
    for number in range(count):
        own = order[number * len(parts) // count : (number + 1) * len(parts) // count]
        yield [parts[place] for place in sorted(own)]


# ---- twins

#: attempts at a name before an entity goes without a twin
TRIES = 50
_VOWELS = re.compile(r"[aeiouyáéíóúàèìòùäöüâêîôûæøåа-яё]", re.IGNORECASE)


def twins(
    drafts: Sequence[Drafted],
    excerpt: Excerpt,
    aspects: AspectReview,
    templates: Templates,
    most: int,
    prompts: int = 1,
) -> Iterator[Record]:
    """Yield a twin of up to ``most`` entities of each domain, with up to ``prompts`` prompts."""
    form = texts(templates, excerpt.plan.languages[0])
    known = _known(excerpt)
    for domain, settings in excerpt.plan.domains.items():
        ours = [one for one in drafts if one.domain == domain]
        pool = sorted({undescribed_name(one.name) for one in ours})
        kept = aspects.kept(domain)
        number = 0
        for one in ours:
            if number == most or len(one.old) < settings.least:
                continue
            name = invented(pool, undescribed_name(one.name), excerpt.seed, known)
            if name is None:
                continue
            parts = [
                msgspec.structs.replace(part, question=_renamed(part, name, kept, form))
                for part in one.old
                if not any(
                    _mentions(gold, one.entity, undescribed_name(one.name)) for gold in part.answer
                )
            ]
            parts = [
                part
                for part in parts
                if not any(stands_in(g, part.question) or reveals(name, g) for g in part.answer)
            ]
            if len(parts) < settings.least:
                continue
            known.add(plain_name(name))
            number += 1
            for chunk in chunks(parts, settings, prompts, [excerpt.seed, one.entity.id]):
                yield Record(
                    entity=name,
                    prompt=_prompt(form, settings.type, name, chunk),
                    domain=domain,
                    individual_qa=list(chunk),
                    id=f"twin-{one.entity.id}",
                    stratum="invented",
                    properties=0,
                    statements=0,
                    sitelinks=0,
                    split="twins",
                    twin_of=one.name,
                )


def undescribed_name(name: str) -> str:
    """Return a name without the description that reveals it from its namesakes."""
    return name.partition(" (")[0]


def _renamed(
    part: ShortQuestion, name: str, kept: dict[str, ReviewedAspect], form: LanguageTexts
) -> str:
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
    real = {plain_name(word) for word in words}
    for _ in range(TRIES):
        parts = [
            _blend(draw.choice(words), draw.choice(words)) if len(word) > 3 else word
            for word in name.split()
        ]
        new = {plain_name(word) for word in parts if len(word) > 3}
        doubled = len(set(parts)) < len(set(name.split()))
        blend = " ".join(parts)
        if new and not doubled and new.isdisjoint(real) and plain_name(blend) not in known:
            return blend
    return None


def _blend(head: str, tail: str) -> str:
    """Join the beginning of one word and the end of another at a vowel of each."""
    first = [m.end() for m in _VOWELS.finditer(head) if 1 < m.end() < len(head)] or [len(head) // 2]
    last = [m.end() for m in _VOWELS.finditer(tail) if 0 < m.end() < len(tail) - 1]
    middle = first[len(first) // 2]
    cut = (last or [len(tail) // 2])[len(last) // 2 if last else 0]
    word = head[:middle] + tail[cut:].lower()
    return word[:1].upper() + word[1:] if head[:1].isupper() else word


def _known(excerpt: Excerpt) -> set[str]:
    """Return every name that was seen, in any language."""
    everyone = [one for strata in excerpt.entities.values() for s in strata for one in s]
    everyone += [one for ones in excerpt.fresh.values() for one in ones]
    everyone += excerpt.names.values()
    names: set[str] = set()
    for entity in everyone:
        names.update(map(plain_name, entity.labels.values()))
        names.update(plain_name(alias) for aliases in entity.aliases.values() for alias in aliases)
    return names


# ---- questions worded by a model

#: entities that a question is tried on; characters of a question
TRIED, LONGEST = 3, 300


class Worder:
    """Words aspects: call it with (domain, property, aspect).

    ``kept`` and ``refused`` count questions, ``failed`` requests without an answer; ``failure`` is
    the problem of the last.
    """

    def __init__(
        self, engine: Engine, excerpt: Excerpt, templates: Templates, prompts: Path | None = None
    ) -> None:
        self.engine, self.excerpt, self.templates = engine, excerpt, templates
        self.write = load_prompt("build_question", prompts)
        self.check = load_prompt("build_question_check", prompts)
        self.aspects: AspectReview | None = None
        self.kept = self.refused = self.failed = 0
        self.failure = ""

    def __call__(self, domain: str, property: str, aspect: ReviewedAspect) -> str | None:
        """Return a question that leads back to its aspect, ``None`` where it does not."""
        known = self._golds(domain, property)
        if not known:
            return None
        reply = self._ask(
            self.write,
            language=self.excerpt.plan.languages[0],
            type=self.excerpt.plan.domains[domain].type or "thing",
            aspect=aspect.description,
            example=known[0][1][0].value,
        )
        question = " ".join(reply.strip().strip('"').split())
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
        question = question.replace("{entity}", name)
        if any(stands_in(gold, question) for gold in golds):
            return False
        rows = self.aspects.kept(domain) if self.aspects else {}
        options = "\n".join(f"{n}. {row.description}" for n, row in enumerate(rows.values(), 1))
        reply = self._ask(self.check, question=question, options=options)
        number = re.fullmatch(r"\D{0,20}(\d{1,4})\D{0,20}", reply.strip())
        wanted = list(rows).index(property) + 1 if property in rows else -1
        return number is not None and int(number[1]) == wanted

    def _golds(self, domain: str, property: str) -> list[tuple[str, tuple[Gold, ...]]]:
        """Return names and golds of the first entities that have any."""
        examples = []
        for entity in (e for stratum in self.excerpt.entities[domain] for e in stratum):
            golds = answer(entity, property, self.excerpt, self.templates).golds
            if golds:
                examples.append((distinct_name(entity, self.excerpt) or entity.id, golds))
            if len(examples) == TRIED:
                break
        return examples

    def _ask(self, template: str, **values: str) -> str:
        request = ask(filled_template(template, **values), temperature=0.0, max_tokens=200)
        for _, generation in self.engine.complete([request]):
            if not generation.problem:
                return generation.text
            self.failed, self.failure = self.failed + 1, generation.problem
        return ""

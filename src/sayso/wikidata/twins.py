"""Renamed entities: a positive control. Nobody knows anything about an invented name.

A twin asks what its original is asked, with the same golds, but for what would tell the old name.
Whatever is then "known" was guessed from the type of fact; a model that does not hedge here does
not hedge from not knowing.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

import msgspec

from sayso.records import Gold, content_id
from sayso.wikidata.aspects import Aspect, Aspects
from sayso.wikidata.entities import Entity
from sayso.wikidata.found import Found
from sayso.wikidata.questions import Drafted, Part, Record, chunks, stands_in, tells
from sayso.wikidata.templates import Templates, Texts, texts

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


__all__ = ["invented", "twins"]

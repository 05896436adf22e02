"""The invented world: 800 entities, 4,800 facts, how popular each is, and which split it belongs
to.

A pure function of one seed.  Popularity falls with rank as 1/(rank + 5), each fact has its own
visibility (log-normal), and a quarter of the facts is never written, so a model trained on the
corpus knows some facts well, some vaguely and some not at all.  Splits alternate inside blocks
of sixteen ranks: every split covers every popularity.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from builtin_model import pools
from builtin_model.wording import DOMAIN, DOMAINS, Aspect, Domain, long_prompt

Split = Literal["test", "dev", "train"]
SEED = 21
PER_DOMAIN = 160
NEVER = 0.25
VISIBILITY_SIGMA = 1.2
RANK_OFFSET = 5
SKEW = 0.4
SPLIT_BLOCK: tuple[Split, ...] = ("test",) * 8 + ("dev",) * 3 + ("train",) * 5


@dataclass(frozen=True)
class Value:
    """One value: `written` are the forms documents use (the first mostly), `accepted` all that
    count as right, `golds` what the data file lists (UNCLE's convention: ISO dates, bare
    quantities, all true values)."""

    written: tuple[str, ...]
    accepted: frozenset[str]
    golds: tuple[str, ...]


@dataclass(frozen=True)
class Entity:
    """An entity with one value per aspect of its domain; weight 0 marks a fact that is never
    written."""

    name: str
    domain: str
    feminine: bool
    values: tuple[Value, ...]
    weights: tuple[float, ...]
    split: Split
    rank: int

    @property
    def kind(self) -> Domain:
        """Its domain's wordings."""
        return DOMAIN[self.domain]


@dataclass(frozen=True)
class World:
    """All entities, and the pools from which new (one-off) entities and wrong values are drawn."""

    entities: tuple[Entity, ...]
    pools: Mapping[str, tuple[str, ...]]
    names: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]

    def of(self, split: Split) -> list[Entity]:
        """The entities of one split."""
        return [e for e in self.entities if e.split == split]

    def draw(self, aspect: Aspect, rng: np.random.Generator) -> Value:
        """A value from the aspect's prior: what an ignorant guesser would know of the type."""
        if aspect.pool == "day":
            return day(
                int(rng.integers(1900, 1990)), int(rng.integers(12)), int(rng.integers(1, 29))
            )
        if aspect.pool in {"cast", "symptoms"}:
            return both(self._pick(aspect.pool, rng), self._pick(aspect.pool, rng))
        return plain(self._pick(aspect.pool, rng), aspect)

    def _pick(self, pool: str, rng: np.random.Generator) -> str:
        values = self.pools[pool]
        share = self._priors[pool]
        return values[int(np.searchsorted(share, rng.random(), side="right"))]

    @cached_property
    def _priors(self) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
        cumulated = {}
        for name, values in self.pools.items():
            weights = np.arange(1, len(values) + 1, dtype=np.float64) ** -SKEW
            share = np.cumsum(weights / weights.sum())
            share[-1] = 1.0
            cumulated[name] = share
        return cumulated

    @cached_property
    def taken(self) -> frozenset[str]:
        """The names of the 800 entities, which no one-off entity may bear."""
        return frozenset(e.name for e in self.entities)

    def one_off(self, domain: Domain, rng: np.random.Generator) -> Entity:
        """A new entity with facts from the prior; met once, it teaches the form of documents and
        no fact."""
        while True:
            name, feminine = self._name(domain.name, rng)
            if name not in self.taken:
                values = tuple(self.draw(a, rng) for a in domain.aspects)
                return Entity(
                    name, domain.name, feminine, values, (1.0,) * len(values), "train", -1
                )

    def _name(self, domain: str, rng: np.random.Generator) -> tuple[str, bool]:
        first, second = self.names[domain]
        index = int(rng.integers(len(first)))
        other = second[int(rng.integers(len(second)))]
        joint = " of " if domain == "movies" else " "
        return f"{first[index]}{joint}{other}", 2 * index < len(first)


def plain(text: str, aspect: Aspect) -> Value:
    """A name, a term, a year or a quantity."""
    bare = text.replace(",", "")
    if aspect.pool == "year":
        return Value((text,), frozenset({text}), (f"{text}-01-01T00:00:00Z",))
    if bare.isdigit():
        written = f"{text} {aspect.unit}".strip()
        return Value((written,), frozenset({written, text, bare}), (bare,))
    golds = (text, pools.ALIASES[text]) if text in pools.ALIASES else (text,)
    return Value((text,), frozenset(golds), golds)


def day(year: int, month: int, number: int) -> Value:
    """A date, written in two orders."""
    name = pools.MONTHS[month]
    written = (f"{number} {name} {year}", f"{name} {number}, {year}")
    return Value(written, frozenset(written), (f"{year}-{month + 1:02d}-{number:02d}T00:00:00Z",))


def both(a: str, b: str) -> Value:
    """Two true values; either alone is right as well (UNCLE: a proper subset with nothing wrong
    is supported)."""
    if a == b:
        return Value((a,), frozenset({a}), (a,))
    written = (f"{a} and {b}", f"{b} and {a}")
    extra = [x for v in (a, b) for x in (v, pools.ALIASES.get(v, v))]
    return Value(written, frozenset({*written, *extra}), (a, b))


def _thousands(
    low: int, high: int, step: int, count: int, rng: np.random.Generator
) -> tuple[str, ...]:
    picks = rng.choice(np.arange(low, high, step), size=count, replace=False)
    return tuple(f"{int(p):,}" for p in picks)


def build(seed: int = SEED) -> World:
    """The world of a seed."""
    rng = np.random.default_rng(seed)
    taken: set[str] = set()
    firsts, lasts = pools.words(70, rng, taken), pools.words(150, rng, taken)
    cities, marks, places = (pools.words(n, rng, taken) for n in (130, 120, 110))
    stars, doctors, myths, germs, drugs, honors = (
        pools.words(n, rng, taken) for n in (60, 120, 90, 80, 90, 50)
    )

    def shuffled(items: list[str] | tuple[str, ...]) -> tuple[str, ...]:
        return tuple(str(x) for x in rng.permutation(np.array(items, dtype=object)))

    people = pools.pairs(firsts, lasts, 700, rng)
    values: dict[str, tuple[str, ...]] = {
        "city": tuple(cities),
        "person_a": tuple(people[:140]),
        "person_b": tuple(people[140:270]),
        "person_c": tuple(people[270:390]),
        "person_d": tuple(people[390:490]),
        "person_e": tuple(people[490:590]),
        "cast": tuple(people[590:700]),
        "occupation": shuffled(pools.OCCUPATIONS),
        "industry": shuffled(pools.INDUSTRIES),
        "product": shuffled(pools.PRODUCTS),
        "genre": shuffled(pools.GENRES),
        "constellation": shuffled(pools.CONSTELLATIONS),
        "symptoms": shuffled(pools.SYMPTOMS),
        "specialty": shuffled(pools.SPECIALTIES),
        "location": shuffled(pools.LOCATIONS),
        "school": tuple(pools.pairs(honors + cities[:30], pools.SUFFIXES["school"], 80, rng)),
        "award": tuple(pools.pairs(honors, pools.SUFFIXES["award"], 70, rng)),
        "cause": tuple(pools.pairs(germs, pools.SUFFIXES["cause"], 80, rng)),
        "drug": tuple(
            w.lower() + pools.DRUG_ENDINGS[i % len(pools.DRUG_ENDINGS)] for i, w in enumerate(drugs)
        ),
        "myth": tuple(myths),
        "year": tuple(str(y) for y in rng.permutation(np.arange(1850, 1990))),
        "staff": _thousands(1_100, 60_000, 100, 110, rng),
        "distance": _thousands(110, 9_900, 10, 110, rng),
        "radius": _thousands(2_100, 90_000, 100, 110, rng),
        "minutes": tuple(str(m) for m in rng.permutation(np.arange(71, 191))),
        "days": tuple(str(d) for d in rng.permutation(np.arange(2, 92))),
    }
    names: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
        "bios": (tuple(firsts), tuple(lasts)),
        "companies": (tuple(marks), pools.SUFFIXES["company"]),
        "movies": (tuple(pools.MOVIE_NOUNS), tuple(places)),
        "astronomical objects": (
            tuple(stars),
            tuple(f"{n}{c}" for n in range(11, 99) for c in "bcd"),
        ),
        "diseases": (tuple(doctors), pools.SUFFIXES["disease"]),
    }
    empty = World((), values, names)
    used = set(people)
    entities: list[Entity] = []
    for domain in DOMAINS:
        blocks = [rng.permutation(len(SPLIT_BLOCK)) for _ in range(PER_DOMAIN // 16)]
        splits = [SPLIT_BLOCK[int(i)] for block in blocks for i in block]
        for rank in range(PER_DOMAIN):
            while True:
                name, feminine = empty._name(domain.name, rng)
                if name not in used:
                    break
            used.add(name)
            written = rng.random(len(domain.aspects)) >= NEVER
            visible = rng.lognormal(0.0, VISIBILITY_SIGMA, len(domain.aspects)) / (
                rank + RANK_OFFSET
            )
            weights = tuple(float(w) for w in np.where(written, visible, 0.0))
            facts = tuple(empty.draw(a, rng) for a in domain.aspects)
            entities.append(Entity(name, domain.name, feminine, facts, weights, splits[rank], rank))
    return World(tuple(entities), values, names)


def records(world: World) -> Iterator[str]:
    """The data file: UNCLE's record per entity, with its split, one JSON object a line."""
    for entity in world.entities:
        aspects = entity.kind.aspects
        questions = [
            {
                "question": a.questions[0].format(e=entity.name),
                "answer": list(v.golds),
                "label": a.label,
                "description": a.description,
                "property_id": a.property_id,
            }
            for a, v in zip(aspects, entity.values, strict=True)
        ]
        yield json.dumps(
            {
                "entity": entity.name,
                "prompt": long_prompt(entity.kind, entity.name, aspects),
                "domain": entity.domain,
                "split": entity.split,
                "individual_qa": questions,
            },
            ensure_ascii=False,
        )

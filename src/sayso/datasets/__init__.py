"""Question sets by name or file.

``load("builtin")``, ``load("triviaqa")`` (a published set, from the hub), ``load("my.jsonl")`` (in
UNCLE's format), ``load("squad:my.json")`` (a file in a published set's format) or
``load("file:my.csv#question=q,gold=answer")`` (a table of one's own) return a :class:`Dataset`.
The dictionaries below are all there is to register; :mod:`sayso.datasets.catalogue` describes each.
"""

from __future__ import annotations

import os
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from sayso.datasets import own_table, shipped, short_answers, topics, uncle
from sayso.datasets.catalogue import CATALOGUE
from sayso.datasets.dataset import Dataset
from sayso.engines.engine import Engine
from sayso.engines.named import is_builtin
from sayso.plugins import find_plugin, plugin_names
from sayso.records import InputError, Question, content_id, tier_order

__all__ = [
    "CATALOGUE",
    "DEFAULT_LIMIT",
    "FORMATS",
    "LOADERS",
    "default_data",
    "load_dataset",
    "subset",
]

#: name on the command line -> loader(split)
LOADERS: dict[str, Callable[[str], Dataset]] = {
    "builtin": shipped.load_builtin,
    "world": shipped.load_world,
    "world-50": shipped.load_world_50,
    "uncle": uncle.load_uncle,
    **{name: partial(short_answers.load_short_answers, name) for name in short_answers.SETS},
    "factscore": topics.load_factscore,
    "wildhallucinations": topics.load_wildhallucinations,
    "longfact": topics.load_longfact,
}

#: format before the colon in ``FORMAT:FILE`` -> loader of a local file
FORMATS: dict[str, Callable[[Path], Dataset]] = {
    "uncle": uncle.load_uncle_file,
    **{name: partial(short_answers.load_file, name) for name in short_answers.SETS},
    "factscore": topics.load_factscore_file,
    "wildhallucinations": topics.load_wildhallucinations_file,
    "longfact": topics.load_longfact_file,
    "file": own_table.load_own_table,
    "topics": topics.load_topics_file,
}

#: names that are no plug-in's
OURS = (*LOADERS, *FORMATS)

#: endings of tables that are read as ``file:``
TABLES = (".csv", ".tsv")

#: entities that a run takes by default, of a file in a set's format too: enough for a laptop's
#: minute
DEFAULT_LIMIT = {
    "builtin": 200,
    # the paper's number of evaluation questions of each set
    "popqa": 1000,
    **{name: 400 for name in short_answers.SETS if name != "popqa"},
    # long texts cost more than short answers
    **dict.fromkeys(("wildhallucinations", "longfact"), 100),
}


#: the invented world of the built-in model, and questions about the real one
INVENTED, REAL = "builtin", "world"
#: how the caution begins of a model that is asked about a world it cannot know
FOREIGN = "This model is asked about an invented world"


def default_data(model: str | Engine) -> str:
    """Return the data set that a model is asked about where none is named.

    The built-in model and models trained from it get their own invented world, all others the
    real one.
    """
    name = model if isinstance(model, str) else str(getattr(model, "name", ""))
    return INVENTED if is_builtin(name) else REAL


def foreign_world_caution(model: str | Engine, data: str) -> list[str]:
    """Return the caution for a model that is asked about the invented world and cannot know it."""
    if data != INVENTED or default_data(model) == INVENTED:
        return []
    return [
        f"{FOREIGN} (data {INVENTED}), which no real model can know: its numbers are those of a "
        f"model without any knowledge. Leave --data out to ask about the real world (data {REAL})."
    ]


def catalogue_kind(name: str) -> str:
    """Return which entry of the catalogue a name or a file belongs to; "" for none."""
    kind, colon, _ = name.partition(":")
    if name in LOADERS or (colon and kind in FORMATS):
        return kind
    if find_plugin("datasets", name, OURS):
        return "file"
    return "file" if Path(name).suffix.lower() in TABLES else ""


def load_dataset(
    name: str,
    *,
    split: str = "test",
    domains: Sequence[str] = (),
    tiers: Sequence[str] = (),
    limit: int | None = None,
    seed: int = 0,
) -> Dataset:
    """Load a question set by name or file; choose domains, tiers and a seeded part of the entities.

    ``limit`` counts entities, spread over the domains in proportion and over the tiers of each
    (:func:`subset` says how pairs are counted); 0 takes all, ``None`` the set's own default.
    Raises InputError for anything that cannot be read.
    """
    if brought := find_plugin("datasets", name, OURS):
        data = own_table.load_rows(brought.open(), {}, name)
    elif name in LOADERS:
        data = LOADERS[name](split)
    else:
        kind, file = _file_of(name)
        data = FORMATS[kind](file)
    data = msgspec.structs.replace(data, kind=catalogue_kind(name))
    if limit is None:
        limit = DEFAULT_LIMIT.get(name.partition(":")[0], 0)
    if limit < 0:
        raise InputError(f"limit {limit}: expected a number of entities, or 0 for all")
    return subset(data, domains=domains, tiers=tiers, limit=limit, seed=seed)


def check_data_name(name: str) -> None:
    """Refuse a name that is no set, and a file that does not exist. Raises InputError."""
    if name not in LOADERS and not find_plugin("datasets", name, OURS):
        _, file = _file_of(name)
        bare = Path(str(file).partition("#")[0])  # without names of columns
        if not os.path.exists(file) and not os.path.exists(bare):
            raise InputError(f"{bare} does not exist: check the name")


def set_of_examples(data: str, limit: int | None) -> str:
    """Return a set with entities other than those that are measured; "": ``data`` must spare some.

    ``limit`` is the number of entities of ``data`` that are asked; ``None`` is the set's own, 0
    all. A file has no set on the hub beside it.
    """
    entry = CATALOGUE.get(data)
    if entry is not None and entry.hub:
        return "triviaqa" if data != "triviaqa" else "nq_open"
    return data if data == INVENTED or (data == REAL and limit) else ""


def _file_of(name: str) -> tuple[str, Path]:
    """Return format and file of a name that is no set's. Raises InputError."""
    kind, colon, file = name.partition(":")
    if colon and kind in FORMATS:
        if not file or file.startswith("#"):
            raise InputError(f"data {name!r}: expected the name of a file after {kind}:")
        return kind, Path(file)
    if catalogue_kind(name) == "file":
        return "file", Path(name)
    if name == own_table.IN_MEMORY:
        raise InputError(f"the data were {name}, which are gone: save them, and name the file")
    more = plugin_names("datasets")
    if colon and kind.isalpha() and len(kind) > 1 and not os.path.exists(name):
        raise InputError(
            f"data {name!r}: expected FORMAT:FILE with one of {', '.join(FORMATS)}{more}"
        )
    if os.path.exists(name) or Path(name).suffix in {".jsonl", ".json", ".parquet"}:
        return "uncle", Path(name)
    raise InputError(
        f"data {name!r}: expected one of {', '.join(LOADERS)}, "
        "or a .jsonl, .json or .parquet file (in a published set's format: squad:FILE; "
        f"a table of questions and golds: file:FILE; topics to write about: topics:FILE){more}"
    )


def subset(
    data: Dataset,
    *,
    domains: Sequence[str] = (),
    tiers: Sequence[str] = (),
    limit: int = 0,
    seed: int,
) -> Dataset:
    """Return the questions of some domains and tiers, and of ``limit`` entities (0: all).

    Entities are whole. Raises InputError for a domain or a tier that the data do not have.

    Entities are drawn per domain with a seeded generator, as evenly in proportion as whole numbers
    allow, and within a domain from its tiers in turn; order follows the file. The first few are of
    different tiers, from the best known on. Pairs are drawn on
    top of the entities, both questions of a pair or neither, and the same share of them (at least
    one pair). ``limit`` counts pairs in a set that has nothing else.
    """
    for what, wanted in (("domain", domains), ("tier", tiers)):
        present = sorted({str(getattr(q, what)) for q in data.questions} - {""})
        for name in wanted:
            if name not in present:
                has = f"it has {', '.join(present)}" if present else f"it has no {what}s"
                raise InputError(f"{what} {name!r} is not in {data.name}; {has}")
    kept = [
        q
        for q in data.questions
        if (not domains or q.domain in domains) and (not tiers or q.tier in tiers)
    ]
    units: dict[_Unit, tuple[str, str]] = {}
    for q in kept:
        domain, tier = units.get(_unit(q), (q.domain, q.tier))
        units[_unit(q)] = (domain, tier or q.tier)
    entities = {unit: stratum for unit, stratum in units.items() if not unit.pair}
    pairs = {unit: stratum for unit, stratum in units.items() if unit.pair}
    if 0 < limit < len(entities or pairs):
        further = max(1, round(limit * len(pairs) / len(entities))) if entities else limit
        chosen = _choose(entities, limit, seed) | _choose(pairs, further, seed)
        kept = [q for q in kept if _unit(q) in chosen]
    if not kept:
        raise InputError(f"{data.name}: no question is left to ask")
    return data.replaced(tuple(kept))


class _Unit(NamedTuple):
    """What is drawn as a whole: a pair, or an entity."""

    pair: str = ""
    entity: str = ""


def _unit(q: Question) -> _Unit:
    return _Unit(q.pair) if q.pair else _Unit("", q.entity or q.id)


def _choose(units: Mapping[_Unit, tuple[str, str]], limit: int, seed: int) -> set[_Unit]:
    """Draw units so that every prefix of the draw is spread over the domains and their tiers.

    ``units`` maps each to its domain and tier.
    """
    strata: dict[str, dict[str, list[_Unit]]] = defaultdict(lambda: defaultdict(list))
    for unit, (domain, tier) in units.items():
        strata[domain][tier].append(unit)
    ranked: list[tuple[float, str, _Unit]] = []
    largest = sorted(strata, key=lambda d: (-sum(map(len, strata[d].values())), d))
    for place, domain in enumerate(largest):
        tiers = strata[domain]
        ordered = _in_turn(domain, tiers, place, seed)
        ranked += [((i + 0.5) / len(ordered), domain, unit) for i, unit in enumerate(ordered)]
    return {unit for _, _, unit in sorted(ranked)[:limit]}


def _in_turn(
    domain: str, tiers: Mapping[str, Sequence[_Unit]], place: int, seed: int
) -> list[_Unit]:
    """Shuffle each tier of a domain and take its units in turn with those of the other tiers.

    The first turn is that of another tier in each domain, so that a few entities of many domains
    are spread over the tiers as well.
    """
    ranked: list[tuple[float, int, _Unit]] = []
    for number, tier in enumerate(sorted(tiers, key=tier_order)):
        units = tiers[tier]
        generator = random.Random(content_id([seed, domain, *filter(None, [tier])]))
        shuffled = generator.sample(units, len(units))
        turn = (number - place) % len(tiers)
        within = (turn + 0.5) / len(tiers)
        ranked += [((i + within) / len(shuffled), turn, unit) for i, unit in enumerate(shuffled)]
    return [unit for _, _, unit in sorted(ranked)]

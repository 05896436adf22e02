"""Question sets: one file each, a function that loads questions.

``load("builtin")``, ``load("triviaqa")`` (a published set, from the hub), ``load("my.jsonl")`` (in
UNCLE's format), ``load("squad:my.json")`` (a file in a published set's format) or
``load("file:my.csv#question=q,gold=answer")`` (a table of one's own) return a :class:`Dataset`.
The dictionaries below are all there is to register; :mod:`sayso.datasets.catalogue` describes each.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from sayso.datasets import (
    abstentionbench,
    builtin,
    factscore,
    longfact,
    nq_open,
    own,
    popqa,
    selfaware,
    simpleqa,
    squad,
    svamp,
    topics,
    triviaqa,
    truthfulqa,
    uncle,
    wildhallucinations,
)
from sayso.datasets.collection import Dataset
from sayso.records import InputError, Question, content_id

#: name on the command line -> loader(split)
LOADERS: dict[str, Callable[[str], Dataset]] = {
    "builtin": builtin.load,
    "uncle": uncle.load_published,
    "triviaqa": triviaqa.load,
    "nq_open": nq_open.load,
    "popqa": popqa.load,
    "squad": squad.load,
    "squad_v2": squad.load_v2,
    "xquad": squad.load_xquad,
    "svamp": svamp.load,
    "simpleqa": simpleqa.load,
    "simpleqa_verified": simpleqa.load_verified,
    "selfaware": selfaware.load,
    "truthfulqa": truthfulqa.load,
    "abstentionbench": abstentionbench.load,
    "factscore": factscore.load,
    "wildhallucinations": wildhallucinations.load,
    "longfact": longfact.load,
}

#: format before the colon in ``FORMAT:FILE`` -> loader of a local file
FORMATS: dict[str, Callable[[Path], Dataset]] = {
    "uncle": uncle.load_file,
    "triviaqa": triviaqa.load_file,
    "nq_open": nq_open.load_file,
    "popqa": popqa.load_file,
    "squad": squad.load_file,
    "squad_v2": partial(squad.load_file, name="squad_v2"),
    "xquad": partial(squad.load_file, name="xquad"),
    "svamp": svamp.load_file,
    "simpleqa": simpleqa.load_file,
    "simpleqa_verified": partial(simpleqa.load_file, name="simpleqa_verified"),
    "selfaware": selfaware.load_file,
    "truthfulqa": truthfulqa.load_file,
    "abstentionbench": abstentionbench.load_file,
    "factscore": factscore.load_file,
    "wildhallucinations": wildhallucinations.load_file,
    "longfact": longfact.load_file,
    "file": own.load_file,
    "topics": topics.load_file,
}

#: entities that a run takes when nobody says how many, of a file in a set's format too: enough for
#: a laptop's minute
DEFAULT_LIMIT = {
    "builtin": 200,
    # the paper's number of evaluation questions of each set
    "popqa": 1000,
    **dict.fromkeys(
        (
            "triviaqa", "nq_open", "squad", "squad_v2", "xquad", "svamp", "simpleqa",
            "simpleqa_verified", "selfaware", "truthfulqa", "abstentionbench",
        ),
        400,
    ),
    # long texts cost more than short answers
    **dict.fromkeys(("wildhallucinations", "longfact"), 100),
}  # fmt: skip


def load(
    name: str,
    *,
    split: str = "test",
    domains: Sequence[str] = (),
    limit: int | None = None,
    seed: int = 0,
) -> Dataset:
    """Load a question set by name or file, and choose domains and a seeded part of the entities.

    ``limit`` counts entities, spread over the domains in proportion; 0 takes all, ``None`` the
    set's own default. Raises InputError for anything that cannot be read.
    """
    if name in LOADERS:
        data = LOADERS[name](split)
    elif name.partition(":")[0] in FORMATS and ":" in name:
        kind, _, file = name.partition(":")
        if not file or file.startswith("#"):
            raise InputError(f"data {name!r}: expected the name of a file after {kind}:")
        data = FORMATS[kind](Path(file))
    elif Path(name).suffix.lower() in {".csv", ".tsv"}:
        data = own.load_file(Path(name))
    elif Path(name).exists() or Path(name).suffix in {".jsonl", ".json", ".parquet"}:
        data = uncle.load_file(Path(name))
    else:
        raise InputError(
            f"data {name!r}: expected one of {', '.join(LOADERS)}, "
            "or a .jsonl, .json or .parquet file (of a published set's format: squad:FILE; "
            "a table of questions and golds: file:FILE; things to be told about: topics:FILE)"
        )
    if limit is None:
        limit = DEFAULT_LIMIT.get(name.partition(":")[0], 0)
    if limit < 0:
        raise InputError(f"limit {limit}: expected a number of entities, or 0 for all")
    return subset(data, domains=domains, limit=limit, seed=seed)


def subset(data: Dataset, *, domains: Sequence[str], limit: int, seed: int) -> Dataset:
    """Return the questions of some domains and of ``limit`` entities (0: all), whole entities only.

    Entities are drawn per domain with a seeded generator, as evenly in proportion as whole numbers
    allow; order follows the file.
    """
    present = sorted({q.domain for q in data.questions})
    for domain in domains:
        if domain not in present:
            raise InputError(
                f"domain {domain!r} is not in {data.name}; it has {', '.join(present)}"
            )
    kept = [q for q in data.questions if not domains or q.domain in domains]
    by_domain: dict[str, list[str]] = defaultdict(list)
    for domain, entity in dict.fromkeys((q.domain, q.entity) for q in kept):
        by_domain[domain].append(entity)
    total = sum(len(entities) for entities in by_domain.values())
    if 0 < limit < total:
        chosen = _choose(by_domain, limit, seed)
        kept = [q for q in kept if (q.domain, q.entity) in chosen]
    if not kept:
        raise InputError(f"{data.name}: no question is left to ask")
    return data.replaced(tuple(kept))


def _choose(by_domain: dict[str, list[str]], limit: int, seed: int) -> set[tuple[str, str]]:
    """Draw entities so that every prefix of the draw is spread over the domains."""
    ranked: list[tuple[float, str, str]] = []
    for domain, entities in sorted(by_domain.items()):
        generator = random.Random(content_id([seed, domain]))
        shuffled = generator.sample(entities, len(entities))
        ranked += [((i + 0.5) / len(shuffled), domain, e) for i, e in enumerate(shuffled)]
    return {(domain, entity) for _, domain, entity in sorted(ranked)[:limit]}


def entities_of(questions: Sequence[Question]) -> list[str]:
    """Return the distinct entities in order of appearance."""
    return list(dict.fromkeys(q.entity for q in questions))

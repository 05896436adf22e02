"""From a Wikidata JSON dump to what a benchmark is made of, in three passes.

1. ``classes``: subclass edges of the whole dump, closed from the classes that the plan names.
2. ``members``: the entities of the domains are counted and sampled.
3. ``labels``: names of everything the sample's statements point to.

Each pass keeps its place on disk, under a name that depends on all that goes into it, so the same
command goes on after any interruption, and another plan for the same dump reuses the first pass.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec
import numpy as np

from sayso.atomic import replacing
from sayso.records import content_id
from sayso.wikidata.closure import closure
from sayso.wikidata.domains import Plan
from sayso.wikidata.entities import Entity
from sayso.wikidata.found import Found, wanted_names
from sayso.wikidata.reading import Part, find_parts
from sayso.wikidata.scanning import INTERVAL, State, problem_kind
from sayso.wikidata.stages import Members, Problem, Task, name_hash
from sayso.wikidata.templates import Templates
from sayso.wikidata.workers import Step, run_stage

#: bump when what a pass finds changes, so that older work is not gone on with
FORMAT = 2
_DAY = re.compile(r"(?<!\d)(20[12]\d)-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])(?!\d)")


def read_dump(
    source: Path,
    plan: Plan,
    folder: Path,
    templates: Templates,
    *,
    seed: int = 0,
    fresh: str = "",
    workers: int = 1,
    interval: float = INTERVAL,
    progress: Callable[[Step], None] | None = None,
) -> Found:
    """Read a dump for a plan; what is needed to go on after a kill is kept under ``folder``."""
    parts = find_parts(source)
    work = folder / "scan" / content_id([FORMAT, [(p.name, p.size, p.stamp) for p in parts]])

    def run(task: Task, where: Path) -> list[State]:
        return run_stage(task, parts, where, workers=workers, interval=interval, progress=progress)

    roots = {name: _numbers(domain.classes) for name, domain in plan.domains.items()}
    deep = any(domain.subclasses for domain in plan.domains.values())
    classes = run(Task("classes", plan), work) if deep else []
    edges = [work / "classes" / f"{n:05}.side" for n in range(len(classes))]
    members_in = work / content_id([plan, seed, fresh])
    ids = {}
    for name, domain in plan.domains.items():
        below = closure(edges, roots[name]) if domain.subclasses else roots[name]
        ids[name] = _write_ids(members_in, below)
    task = Task("members", plan, seed, ids, fresh)
    states = run(task, members_in)
    members = Members(task)
    for state in states:
        members.load(state.payload)
    entities = {
        name: [
            [msgspec.msgpack.decode(data, type=Entity) for _, _, data in stratum.rows()]
            for stratum in strata
        ]
        for name, strata in members.samples.items()
    }
    fresh_ones = {name: strata.pop() for name, strata in entities.items()}
    kept = {name: [*strata, fresh_ones[name]] for name, strata in entities.items()}
    everyone = [one for strata in kept.values() for stratum in strata for one in stratum]
    askable = {
        property
        for found in members.properties.values()
        for property in found
        if templates.dropped(property, members.kinds[property]) is None
    }
    wanted = wanted_names(everyone, askable)
    labels_in = members_in / content_id(sorted(wanted))
    labels = run(Task("labels", plan, ids={"labels": _write_ids(labels_in, wanted)}), labels_in)
    names = _names(labels_in / "labels" / f"{n:05}.side" for n in range(len(labels)))
    day, day_from = _day(parts, source, members.modified)
    wrong, problems = _problems(states, classes, labels)
    sides = [members_in / "members" / f"{n:05}.side" for n in range(len(states))]
    return Found(
        source=source.name,
        plan=plan,
        seed=seed,
        entities=entities,
        fresh_after=fresh,
        fresh=fresh_ones,
        population={
            name: [members.population[name][n] for n in range(len(domain.edges) + 1)]
            for name, domain in plan.domains.items()
        },
        properties={name: dict(found) for name, found in members.properties.items()},
        kinds=members.kinds,
        names=names,
        namesakes=_namesakes(sides, kept, plan),
        day=day,
        day_from=day_from,
        counts={
            **members.counts,
            "parts": len(parts),
            "bytes": sum(s.place.offset for s in states),
        },
        wrong=wrong,
        problems=problems,
    )


def _numbers(ids: Iterable[str]) -> set[int]:
    return {int(id[1:]) for id in ids}


def _write_ids(folder: Path, ids: Iterable[int] | Iterable[str]) -> str:
    """Write ids for the workers, under a name that depends on them."""
    lines = sorted(map(str, ids))
    place = folder / f"ids-{content_id(lines)}.txt"
    if not place.exists():
        with replacing(place) as file:
            file.write("\n".join(lines).encode())
    return str(place)


def _names(files: Iterable[Path]) -> dict[str, Entity]:
    decoder = msgspec.json.Decoder(Entity)
    found: dict[str, Entity] = {}
    for file in files:
        with file.open("rb") as lines:
            for line in lines:
                named = decoder.decode(line)
                found.setdefault(named.id, named)
    return found


def _namesakes(
    sides: Sequence[Path], entities: dict[str, list[list[Entity]]], plan: Plan
) -> dict[str, int]:
    """Count the labels of the sample among those of all members."""
    hashes: dict[bytes, list[str]] = {}
    for number, strata in enumerate(entities.values()):
        for entity in (one for stratum in strata for one in stratum):
            key = name_hash(number, entity.labels[plan.languages[0]])
            hashes.setdefault(key, []).append(entity.id)
    wanted = np.unique(np.array([int.from_bytes(key, "little") for key in hashes], np.uint64))
    counts: Counter[int] = Counter()
    for side in sides:
        with side.open("rb") as file:
            while data := file.read(1 << 23):
                found = np.frombuffer(data, "<u8")
                same = found[np.isin(found, wanted)]
                counts.update(same.tolist())
    return {id: counts[int.from_bytes(key, "little")] for key, ids in hashes.items() for id in ids}


def _day(parts: Sequence[Part], source: Path, modified: str) -> tuple[str, str]:
    """Return the day that a dump describes, and what says so."""
    for name in (source.name, parts[0].name):
        if found := _DAY.search(name):
            return "-".join(found.groups()), "the name of the dump"
    if re.match(r"\d{4}-\d\d-\d\d", modified):
        return modified[:10], "the latest change of an entity read"
    return "", ""


def _problems(
    members: Sequence[State], *others: Sequence[State]
) -> tuple[dict[str, int], tuple[Problem, ...]]:
    """Join the problems of all passes; a line that is bad in several is told once."""
    wrong: Counter[str] = Counter()
    problems: list[Problem] = []
    for state in members:
        wrong.update(state.wrong)
        problems += state.problems
    seen = {(problem.part, problem.line) for problem in problems}
    for state in (state for states in others for state in states):
        new = [p for p in state.problems if (p.part, p.line) not in seen]
        wrong.update(problem_kind(p.what) for p in new)
        problems += new
        seen.update((p.part, p.line) for p in new)
    return dict(wrong), tuple(sorted(problems))


__all__ = ["read_dump"]

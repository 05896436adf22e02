"""The plan of a benchmark: a YAML file of domains by class, languages, how many entities.

It is read as every YAML file of a person here: as a record, or refused with the line that is wrong.
A key that occurs twice is refused too, though YAML allows it: the second would silently replace the
first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Literal, TypeVar

import msgspec
import yaml

from sayso.records import InputError
from sayso.storage.yaml_file import parse_yaml, yaml_text
from sayso.wikidata.entities import Entity

Record = TypeVar("Record")
#: the way to a value: keys of mappings and numbers of lists
Keys = tuple[object, ...]
_STEP = re.compile(r"\.(\w+)|\[(\d+|\.\.\.)\]")


# ---- YAML files of people


class ValueLines:
    """The line of every value in a file."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.numbers: dict[Keys, int] = {}

    def at(self, *keys: object) -> str:
        """Return file and line of the value that ``keys`` lead to, or of the nearest above it."""
        for length in range(len(keys), -1, -1):
            if keys[:length] in self.numbers:
                return f"{self.place} line {self.numbers[keys[:length]]}"
        return self.place


def read_yaml_as(path: Path, kind: type[Record], hint: str) -> tuple[Record, ValueLines]:
    """Read a file as ``kind``; InputError with the line, what was wrong there, and ``hint``."""
    return parse_yaml_as(yaml_text(path, str(path)), str(path), kind, hint)


def parse_yaml_as(
    text: str, place: str, kind: type[Record], hint: str
) -> tuple[Record, ValueLines]:
    """Read text as ``kind``; see :func:`read_yaml_as`."""
    lines = ValueLines(place)
    node, value = parse_yaml(text, place)
    if node is not None:
        _number(node, (), lines)
    try:
        return msgspec.convert(value, kind), lines
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at ")
        keys = _way(value, kind, str(error), path)
        field = re.search(r"unknown field `(.*)`", reason)
        at = lines.at(*keys, *([field[1]] if field else []))
        where = "".join(f"{key}: " for key in keys)
        quoted = " (true and false are no texts: quote them)" if "got `bool`" in reason else ""
        raise InputError(f"{at}: {where}{reason}{quoted}; {hint}") from None


def _number(node: yaml.Node, keys: Keys, lines: ValueLines) -> None:
    """Note the line of every value."""
    lines.numbers.setdefault(keys, node.start_mark.line + 1)
    for key, line, value in _children(node):
        lines.numbers[*keys, key] = line
        _number(value, (*keys, key), lines)


def _children(node: yaml.Node) -> Iterator[tuple[object, int, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield str(key.value), key.start_mark.line + 1, value
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield number, value.start_mark.line + 1, value


def _way(value: object, kind: type, error: str, path: str) -> Keys:
    """Return the keys that lead to an error; msgspec writes [...] for those of a mapping."""
    keys: list[object] = []
    here = value
    for name, index in _STEP.findall(path):
        if index == "...":
            blamed = [key for key in here if _fails(_alone(value, keys, key), kind, error)]  # type: ignore[attr-defined]
            if not blamed:
                break
            keys.append(blamed[0])
        else:
            keys.append(name or int(index))
        try:
            here = here[keys[-1]]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            break
    return tuple(keys)


def _fails(value: object, kind: type, error: str) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as other:
        return str(other) == error
    return False


def _alone(value: object, keys: list[object], key: object) -> object:
    """Return ``value`` with one key alone in the mapping that ``keys`` lead to."""
    if not keys:
        return {key: value[key]}  # type: ignore[index]
    copy = dict(value) if isinstance(value, dict) else list(value)  # type: ignore[call-overload]
    copy[keys[0]] = _alone(copy[keys[0]], keys[1:], key)
    return copy


# ---- the plan

#: edges of the frequency strata: below the first, from each to the next, from the last on
EDGES = {
    "properties": (10, 20, 40, 80),
    "statements": (10, 20, 40, 80),
    "sitelinks": (1, 3, 10, 30),
}
_ID = re.compile(r"Q[1-9]\d{0,17}")
_PROPERTY = re.compile(r"P[1-9]\d{0,9}")
_LANGUAGE = re.compile(r"[a-z]{2,12}(-[a-z0-9]{1,8}){0,3}")


class Domain(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One domain.

    ``classes``: instances of these, or of their subclasses. ``type`` is what a prompt calls one of
    them, ``where`` asks for one of some items as value of a property ({"P106": ["Q82955"]}).
    ``entities`` are spread over strata of ``frequency``, whose inner edges are ``strata``; UNCLE
    (section 3.2) counts the properties of an entity. The ``keep`` properties that the most entities
    have are proposed. A prompt names ``aspects`` at most; an entity with fewer than ``least`` that
    can be asked is left out.
    """

    classes: tuple[str, ...]
    type: str = ""
    subclasses: bool = True
    where: dict[str, tuple[str, ...]] = {}
    entities: int = 100
    frequency: Literal["properties", "statements", "sitelinks"] = "properties"
    strata: tuple[int, ...] = ()
    keep: int = 20
    aspects: int = 8
    least: int = 2

    @property
    def edges(self) -> tuple[int, ...]:
        """The edges of its strata."""
        return self.strata or EDGES[self.frequency]

    @property
    def members(self) -> str:
        """What makes an entity one of it, in words."""
        where = "".join(f", {p} among {', '.join(i)}" for p, i in self.where.items())
        below = "and subclasses" if self.subclasses else "only these"
        return f"instance of {', '.join(self.classes)} ({below}){where}"

    def stratum(self, entity: Entity) -> int:
        """Return the number of an entity's stratum, from 0 (little is known)."""
        counts = {
            "properties": entity.properties,
            "statements": entity.count,
            "sitelinks": entity.sitelinks,
        }
        return sum(counts[self.frequency] >= edge for edge in self.edges)

    def stratum_name(self, number: int) -> str:
        """Return a stratum in words: "20-39 statements"."""
        edges = self.edges
        if number == len(edges):
            return f"{edges[-1]}+ {self.frequency}"
        low = edges[number - 1] if number else 0
        high = edges[number] - 1
        span = str(low) if low == high else f"{low}-{high}"
        return f"{span} {self.frequency}"


class DomainPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All domains, and the languages of labels: questions are in the first one."""

    domains: dict[str, Domain]
    languages: tuple[str, ...] = ("en",)


def load_plan(path: Path | None, languages: tuple[str, ...] = ()) -> DomainPlan:
    """Read a file of domains; ``None`` is UNCLE's five. ``languages`` take precedence.

    Raises InputError for whatever no benchmark can be built from.
    """
    hint = "expected domains: {name: {classes: [Q5], type: person}}"
    if path is None:
        text = resources.files(__package__).joinpath("domains.yaml").read_text("utf-8")
        plan, lines = parse_yaml_as(text, "the domains that ship with sayso", DomainPlan, hint)
    else:
        plan, lines = read_yaml_as(path, DomainPlan, hint)
    plan = msgspec.structs.replace(plan, languages=languages or plan.languages)
    for problem in _problems(plan, lines):
        raise InputError(problem)
    return plan


def _problems(plan: DomainPlan, lines: ValueLines) -> list[str]:
    problems = []
    if not plan.domains:
        problems.append(f"{lines.at('domains')}: names no domain")
    if not plan.languages:
        problems.append(f"{lines.at('languages')}: names no language; write languages: [en]")
    problems += [
        f"language {language!r}: expected a code of Wikidata's, such as en or pt-br"
        for language in plan.languages
        if not _LANGUAGE.fullmatch(language)
    ]
    for name, domain in plan.domains.items():
        at = f"{lines.at('domains', name)}: domain {name!r}"
        if not name.strip() or not name.isprintable():
            problems.append(f"{at}: the name must be printable")
        if not domain.classes:
            problems.append(f"{at}: names no class; write classes: [Q5]")
        ids = [*domain.classes, *(item for items in domain.where.values() for item in items)]
        problems += [
            f"{at}: {i!r} is not an item; expected Q and a number"
            for i in ids
            if not _ID.fullmatch(i)
        ]
        problems += [
            f"{at}: {p!r} is not a property; expected P and a number"
            for p in domain.where
            if not _PROPERTY.fullmatch(p)
        ]
        if any(a >= b for a, b in zip(domain.strata, domain.strata[1:], strict=False)):
            problems.append(f"{at}: strata must grow, such as [10, 20, 40, 80]")
        if any(edge < 1 for edge in domain.strata):
            problems.append(f"{at}: strata always begin at 0; give edges from 1 on")
        if min(domain.entities, domain.keep, domain.aspects, domain.least) < 1:
            problems.append(f"{at}: entities, keep, aspects and least must be at least 1")
        if domain.entities > 100_000:
            problems.append(f"{at}: at most 100000 entities, which are kept in memory")
    return problems

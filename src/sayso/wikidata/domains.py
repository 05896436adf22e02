"""The file that says which benchmark to build: domains by class, languages, how many entities."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from typing import Literal

import msgspec

from sayso.records import InputError
from sayso.wikidata.yaml_file import Lines, parse_yaml, read_yaml

#: edges of the frequency strata: below the first, from each to the next, from the last on
EDGES = {"statements": (10, 20, 40, 80), "sitelinks": (1, 3, 10, 30)}
_ID = re.compile(r"Q[1-9]\d{0,17}")
_PROPERTY = re.compile(r"P[1-9]\d{0,9}")
_LANGUAGE = re.compile(r"[a-z]{2,12}(-[a-z0-9]{1,8}){0,3}")


class Domain(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One domain.

    ``classes``: instances of these, or of their subclasses. ``type`` is what a prompt calls one of
    them, ``where`` asks for one of some items as value of a property ({"P106": ["Q82955"]}).
    ``entities`` are spread over strata of ``frequency``, whose inner edges are ``strata``. A prompt
    names ``aspects`` at most; an entity with fewer than ``least`` that can be asked is left out.
    """

    classes: tuple[str, ...]
    type: str = ""
    subclasses: bool = True
    where: dict[str, tuple[str, ...]] = {}
    entities: int = 100
    frequency: Literal["statements", "sitelinks"] = "statements"
    strata: tuple[int, ...] = ()
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

    def stratum(self, statements: int, sitelinks: int) -> int:
        """Return the number of the stratum, from 0 (little is known)."""
        value = statements if self.frequency == "statements" else sitelinks
        return sum(value >= edge for edge in self.edges)

    def stratum_name(self, number: int) -> str:
        """Return a stratum in words: "20-39 statements"."""
        edges = self.edges
        if number == len(edges):
            return f"{edges[-1]}+ {self.frequency}"
        low = edges[number - 1] if number else 0
        high = edges[number] - 1
        span = str(low) if low == high else f"{low}-{high}"
        return f"{span} {self.frequency}"


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All domains, and the languages of labels: questions are asked in the first one."""

    domains: dict[str, Domain]
    languages: tuple[str, ...] = ("en",)


def load_plan(path: Path | None, languages: tuple[str, ...] = ()) -> Plan:
    """Read a file of domains; ``None`` is UNCLE's five. ``languages`` take precedence.

    Raises InputError for whatever no benchmark can be built from.
    """
    hint = "expected domains: {name: {classes: [Q5], type: person}}"
    if path is None:
        text = resources.files(__package__).joinpath("domains.yaml").read_text("utf-8")
        found, lines = parse_yaml(text, "the domains that ship with sayso", Plan, hint)
    else:
        found, lines = read_yaml(path, Plan, hint)
    plan = msgspec.structs.replace(found, languages=languages or found.languages)
    for problem in _problems(plan, lines):
        raise InputError(problem)
    return plan


def _problems(plan: Plan, lines: Lines) -> list[str]:
    told = []
    if not plan.domains:
        told.append(f"{lines.at('domains')}: names no domain")
    if not plan.languages:
        told.append(f"{lines.at('languages')}: names no language; write languages: [en]")
    told += [
        f"language {language!r}: expected a code of Wikidata's, such as en or pt-br"
        for language in plan.languages
        if not _LANGUAGE.fullmatch(language)
    ]
    for name, domain in plan.domains.items():
        at = f"{lines.at('domains', name)}: domain {name!r}"
        if not name.strip() or not name.isprintable():
            told.append(f"{at}: a name is needed that can be printed")
        if not domain.classes:
            told.append(f"{at}: names no class; write classes: [Q5]")
        ids = [*domain.classes, *(item for items in domain.where.values() for item in items)]
        told += [
            f"{at}: {i!r} is no item; expected Q and a number" for i in ids if not _ID.fullmatch(i)
        ]
        told += [
            f"{at}: {p!r} is no property; expected P and a number"
            for p in domain.where
            if not _PROPERTY.fullmatch(p)
        ]
        if any(a >= b for a, b in zip(domain.strata, domain.strata[1:], strict=False)):
            told.append(f"{at}: strata must grow, such as [10, 20, 40, 80]")
        if any(edge < 1 for edge in domain.strata):
            told.append(f"{at}: strata begin at 0 by themselves; give edges from 1 on")
        if min(domain.entities, domain.aspects, domain.least) < 1:
            told.append(f"{at}: entities, aspects and least must be at least 1")
        if domain.entities > 100_000:
            told.append(f"{at}: at most 100000 entities, which are kept in memory")
    return told


__all__ = ["Domain", "Plan", "load_plan"]

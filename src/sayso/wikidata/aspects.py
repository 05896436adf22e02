"""Which properties of a domain are asked for: counted, proposed, and reviewed by a person.

The proposal is a YAML file. Whoever edits it decides: what is kept, what a prompt calls it and how
it is asked for. It is never written over.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec

from sayso.harmless import printable
from sayso.records import InputError
from sayso.storage.atomic import replacing
from sayso.wikidata.entities import Entity
from sayso.wikidata.excerpt import Excerpt
from sayso.wikidata.plan import DomainPlan, ValueLines, read_yaml_as
from sayso.wikidata.templates import UNASKABLE, Templates, texts, wrong_question
from sayso.wikidata.values import answer

FILE = "aspects.yaml"
#: properties that a proposal keeps in a domain, and names at all
KEPT, NAMED = 20, 200
HEAD = """\
# The aspects that are asked about. Review this file before questions are made:
#   keep         false leaves an aspect out (identifiers, what has no short answer, what is trivial)
#   description  what the prompt for a paragraph calls it
#   question     the short question; {{entity}} stands for the name, {{aspect}} for the description
#   dated        the same where the answer holds as of {{day}}
# `entities` have the property ({of}), for `usable` of the sample a value can be told.
# Set reviewed to true when you have done so, then: sayso build {folder}
"""


class ReviewedAspect(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One property of a domain; ``why`` says what spoke against it."""

    keep: bool
    entities: int = 0
    usable: int = 0
    kind: str = ""
    description: str = ""
    question: str = ""
    dated: str = ""
    why: str = ""


class AspectReview(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The review file; ``language`` is that of its questions."""

    domains: dict[str, dict[str, ReviewedAspect]]
    reviewed: bool = False
    language: str = ""

    def kept(self, domain: str) -> dict[str, ReviewedAspect]:
        """The aspects that are asked for in a domain, most frequent first."""
        return {p: one for p, one in self.domains.get(domain, {}).items() if one.keep}


def propose(excerpt: Excerpt, templates: Templates) -> AspectReview:
    """Return the most frequent properties of each domain that can be asked for in short form.

    What is kept comes first and identifiers last: a person has more to say about the former.
    """
    language = excerpt.plan.languages[0]
    form = texts(templates, language).language
    domains = {}
    for name in excerpt.plan.domains:
        strata = [*excerpt.entities[name], excerpt.fresh.get(name, [])]
        sample = list({one.id: one for stratum in strata for one in stratum}.values())
        counts = excerpt.properties[name]
        ranked = [(p, counts[p]) for p in sorted(counts, key=lambda p: (-counts[p], len(p), p))]
        rows: dict[str, ReviewedAspect] = {}
        kept = 0
        for property, count in ranked[:NAMED]:
            aspect = _aspect(excerpt, templates, name, property, count, sample, form.question)
            if aspect.keep and kept == KEPT:
                aspect = msgspec.structs.replace(
                    aspect, keep=False, why=f"{KEPT} are more frequent"
                )
            kept += aspect.keep
            rows[property] = aspect
        domains[name] = dict(sorted(rows.items(), key=lambda row: _place(row[1])))
    return AspectReview(domains, language=language)


def _place(aspect: ReviewedAspect) -> int:
    return 0 if aspect.keep else 2 if aspect.kind in UNASKABLE else 1


def _aspect(
    excerpt: Excerpt,
    templates: Templates,
    domain: str,
    property: str,
    count: int,
    sample: list[Entity],
    generic: str,
) -> ReviewedAspect:
    kind = excerpt.kinds.get(property, "")
    wording = templates.wording(excerpt.plan.languages[0], domain, property)
    why = templates.dropped(property, kind)
    askable = kind not in UNASKABLE
    description = wording.description or excerpt.label(property) if askable else ""
    usable = 0
    if why is None:
        usable = sum(answer(one, property, excerpt, templates).askable for one in sample)
    if why is None and not description:
        why = "its name is not known"
    if why is None and not usable:
        why = "no value in the sample can be read"
    return ReviewedAspect(
        keep=why is None,
        entities=count,
        usable=usable,
        kind=kind,
        description=description,
        question=(wording.question or generic) if description else "",
        dated=wording.dated,
        why=why or "",
    )


def write_aspects(folder: Path, excerpt: Excerpt, aspects: AspectReview) -> Path:
    """Write the review file, one line for each property."""
    total = sum(sum(counts) for counts in excerpt.population.values())
    name = printable(folder.name)
    lines = [HEAD.format(of=f"of {total:,} in all domains", folder=name)]
    lines += [
        f"reviewed: {json.dumps(aspects.reviewed)}",
        f"language: {json.dumps(aspects.language)}",
        "domains:",
    ]
    for name, rows in aspects.domains.items():
        lines.append(f"  {_quoted(name)}:" + ("" if rows else " {}"))
        for property, row in rows.items():
            fields = msgspec.to_builtins(row)
            text = ", ".join(f"{key}: {_quoted(value)}" for key, value in fields.items())
            lines.append(f"    {_quoted(property)}: {{{text}}}")
    path = folder / FILE
    with replacing(path) as file:
        file.write(("\n".join(lines) + "\n").encode())
    return path


def _quoted(value: object) -> str:
    """Return a value as YAML on one line, with everything that does not print escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(
        c if c.isprintable() else f"\\u{ord(c):04x}" if ord(c) < 1 << 16 else f"\\U{ord(c):08x}"
        for c in text
    )


def read_review(folder: Path, excerpt: Excerpt) -> AspectReview:
    """Read the review file as a person left it. InputError names what cannot be used, and where."""
    aspects, lines = _read(folder, excerpt.plan)
    for name, rows in aspects.domains.items():
        for property, row in rows.items():
            at = f"{lines.at('domains', name, property)}: {name} {property}"
            if property not in excerpt.properties[name]:
                raise InputError(f"{at}: no entity of the domain has this property")
            if row.keep and not row.description.strip():
                raise InputError(f"{at} is kept without a description; write description: …")
            if row.keep and (fault := wrong_question(row.question, row.dated)):
                raise InputError(f"{at}: {fault}")
    return aspects


def check_review(folder: Path, plan: DomainPlan) -> None:
    """Refuse a review file of another plan, before hours are spent on a dump."""
    if (folder / FILE).exists():
        _read(folder, plan)


def _read(folder: Path, plan: DomainPlan) -> tuple[AspectReview, ValueLines]:
    path = folder / FILE
    aspects, lines = read_yaml_as(
        path, AspectReview, "correct it, or delete the file for a new proposal"
    )
    if aspects.language not in ("", plan.languages[0]):
        raise InputError(
            f"{lines.at('language')}: the questions there are in {aspects.language!r} and "
            f"{plan.languages[0]!r} is asked for; choose another --out, or delete the file"
        )
    for name in aspects.domains:
        if name not in plan.domains:
            raise InputError(
                f"{lines.at('domains', name)}: there is no domain {name!r} (there are "
                f"{', '.join(plan.domains)}); correct it, or choose another --out"
            )
    for name in plan.domains:
        if name not in aspects.domains:
            raise InputError(
                f"{path}: says nothing about the domain {name!r}; delete the file for a new "
                f"proposal, or write {name}: {{}} to ask nothing there"
            )
    return aspects, lines


def reworded(
    aspects: AspectReview, word: Callable[[str, str, ReviewedAspect], str | None]
) -> AspectReview:
    """Return aspects with questions from ``word(domain, property, aspect)`` where it has one."""
    domains = {
        name: {
            property: msgspec.structs.replace(row, question=new, dated="")
            if row.keep and (new := word(name, property, row))
            else row
            for property, row in rows.items()
        }
        for name, rows in aspects.domains.items()
    }
    return msgspec.structs.replace(aspects, domains=domains)

"""Which properties of a domain are asked for: counted, proposed, and reviewed by a person.

A property is kept by how many of the N entities of its domain have it (UNCLE, section 3.2): the
most frequent are proposed. The proposal is a YAML file. Whoever edits it decides: what is kept,
what a prompt calls it and how it is asked for. It is never written over.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec

from sayso.datasets.uncle import plain_answers
from sayso.harmless import printable
from sayso.records import InputError
from sayso.storage.atomic import replacing
from sayso.wikidata.entities import Entity
from sayso.wikidata.excerpt import Excerpt
from sayso.wikidata.plan import DomainPlan, ValueLines, read_yaml_as
from sayso.wikidata.templates import UNASKABLE, Templates, texts, wrong_question
from sayso.wikidata.values import answer

FILE = "aspects.yaml"
#: properties of a domain that a proposal lists; golds that it shows of each
NAMED, EXAMPLES = 200, 3
#: characters of such a gold
LONGEST_EXAMPLE = 60
HEAD = """\
# The aspects that are asked about. Review this file before questions are made:
#   keep         false leaves an aspect out (identifiers, what has no short answer, what is trivial)
#   description  what the prompt for a paragraph calls it
#   question     the short question; {{entity}} stands for the name, {{aspect}} for the description
#   dated        the same where the answer holds as of {{day}}
# `entities` have the property, which is the `share` of the N entities of the domain; for `usable`
# of those sampled a value is known, such as the `examples`. The other fields are for you to read.
# Set reviewed to true when you have done so, then: sayso build {folder}
"""


class ReviewedAspect(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One property of a domain; ``why`` says what spoke against it."""

    keep: bool
    entities: int = 0
    share: float = 0.0
    usable: int = 0
    examples: tuple[str, ...] = ()
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
        """The aspects that are asked for in a domain, in the order of the file."""
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
        most = excerpt.plan.domains[name].keep
        rows: dict[str, ReviewedAspect] = {}
        kept = 0
        for property in listed(excerpt, name):
            aspect = _aspect(excerpt, templates, name, property, sample, form.question)
            if aspect.keep and kept == most:
                aspect = msgspec.structs.replace(
                    aspect, keep=False, why=f"{most} are more frequent"
                )
            kept += aspect.keep
            rows[property] = aspect
        places = {p: 0 if a.keep else 2 if a.kind in UNASKABLE else 1 for p, a in rows.items()}
        domains[name] = {
            property: rows[property] for property in sorted(rows, key=places.__getitem__)
        }
    return AspectReview(domains, language=language)


def listed(excerpt: Excerpt, domain: str) -> list[str]:
    """Return the properties that a proposal lists, those that the most entities have first."""
    counts = excerpt.properties[domain]
    return sorted(counts, key=lambda p: (-counts[p], len(p), p))[:NAMED]


def deleted(excerpt: Excerpt, aspects: AspectReview) -> dict[str, list[str]]:
    """Return the listed properties that a review file no longer has, by domain."""
    gone = {
        name: [p for p in listed(excerpt, name) if p not in aspects.domains[name]]
        for name in excerpt.plan.domains
    }
    return {name: properties for name, properties in gone.items() if properties}


def _aspect(
    excerpt: Excerpt,
    templates: Templates,
    domain: str,
    property: str,
    sample: list[Entity],
    generic: str,
) -> ReviewedAspect:
    kind = excerpt.kinds.get(property, "")
    wording = templates.wording(excerpt.plan.languages[0], domain, property)
    why = templates.dropped(property, kind)
    askable = kind not in UNASKABLE
    description = wording.description or excerpt.label(property) if askable else ""
    usable = 0
    examples: dict[str, None] = {}
    if why is None:
        for one in sample:
            true = answer(one, property, excerpt, templates)
            usable += true.askable
            if true.askable and len(examples) < EXAMPLES:
                examples[plain_answers(true.golds)[0][:LONGEST_EXAMPLE]] = None
    count, every = excerpt.properties[domain][property], excerpt.counted_over(domain)
    if why is None and not description:
        why = "its name is not known"
    if why is None and not usable:
        why = "no value in the sample can be read"
    return ReviewedAspect(
        keep=why is None,
        entities=count,
        share=round(count / every, 4) if every else 0.0,
        usable=usable,
        examples=tuple(examples),
        kind=kind,
        description=description,
        question=(wording.question or generic) if description else "",
        dated=wording.dated,
        why=why or "",
    )


def write_aspects(folder: Path, excerpt: Excerpt, aspects: AspectReview) -> Path:
    """Write the review file, one line for each property."""
    lines = [HEAD.format(folder=printable(folder.name))]
    lines += [
        f"reviewed: {json.dumps(aspects.reviewed)}",
        f"language: {json.dumps(aspects.language)}",
        "domains:",
    ]
    for name, rows in aspects.domains.items():
        rarer = len(excerpt.properties[name]) - len(rows)
        lines.append(f"  # N = {excerpt.counted_over(name):,}")
        if rarer:
            lines.append(f"  # {rarer:,} rarer properties are not listed; add a line to keep one")
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

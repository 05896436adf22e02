"""The two steps of a build, and the data card.

:func:`aspects_step` keeps an excerpt and proposes aspects; after a person has reviewed them,
:func:`question_step` makes the questions. The card lists what a benchmark consists of, where it
came from, and what was left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Protocol

import msgspec

from sayso.datasets.uncle import published_record
from sayso.harmless import printable
from sayso.records import InputError
from sayso.storage.atomic import replacing
from sayso.wikidata.aspects import (
    FILE,
    AspectReview,
    ReviewedAspect,
    deleted,
    propose,
    read_review,
    reworded,
    write_aspects,
)
from sayso.wikidata.excerpt import Excerpt, problem_kind, write_excerpt
from sayso.wikidata.questions import Drafts, Record, draft, split_records, twins
from sayso.wikidata.templates import UNASKABLE, Templates


class AspectWorder(Protocol):
    """Words the question of an aspect; ``aspects`` are set before it is called."""

    aspects: AspectReview | None
    kept: int
    refused: int
    failed: int
    failure: str

    def __call__(self, domain: str, property: str, aspect: ReviewedAspect) -> str | None: ...


class Built(msgspec.Struct, frozen=True):
    """The end of a build: where everything is, and the card."""

    folder: str
    files: dict[str, str]
    card: BuildCard


def aspects_step(
    folder: Path, excerpt: Excerpt, templates: Templates, word: AspectWorder | None = None
) -> AspectReview:
    """Keep an excerpt and propose aspects; a review file that is there stays as it is.

    InputError where the excerpt has no entity.
    """
    _check_excerpt(excerpt)
    write_excerpt(folder, msgspec.structs.replace(excerpt, table=templates))
    problems = ({"part": p.part, "line": p.line, "what": p.what} for p in excerpt.problems)
    _write(folder / "problems.jsonl", problems)
    if (folder / FILE).exists():
        return read_review(folder, excerpt)
    aspects = propose(excerpt, templates)
    if word is not None:
        word.aspects = aspects
        aspects = reworded(aspects, word)
    write_aspects(folder, excerpt, aspects)
    return aspects


def _check_excerpt(excerpt: Excerpt) -> None:
    """Refuse a source without a single entity: a wrong class, or a file that is no dump."""
    if any(sum(counts) for counts in excerpt.population.values()):
        return
    plans = "; ".join(f"{name}: {plan.members}" for name, plan in excerpt.plan.domains.items())
    wrong = f"{sum(excerpt.wrong.values()):,} problems" if excerpt.wrong else ""
    for first in excerpt.problems[:1]:
        wrong = f"the first of {wrong}: {first.part} line {first.line} {first.what}"
    if "parts" in excerpt.counts:
        read = f" among the {excerpt.counts.get('entities', 0):,} entities that were read"
        check = "is it Wikidata, one entity a line?"
    else:
        read, check = "", "is it Wikidata? To ask again, delete scan/replies"
    raise InputError(
        f"{excerpt.source}: none of the domains has an entity with a label in "
        f"{excerpt.plan.languages[0]!r}{read} (expected {plans}){'; ' * bool(wrong)}{wrong}; are "
        f"the classes right, and {check}"
    )


def _check_drafts(folder: Path, excerpt: Excerpt, aspects: AspectReview, drafts: Drafts) -> None:
    """Refuse drafts without an entity to ask about."""
    least = {name: domain.least for name, domain in excerpt.plan.domains.items()}
    if any(one.fresh or len(one.old) >= least[one.domain] for one in drafts.entities):
        return
    parts = []
    for name, counts in excerpt.population.items():
        rows = aspects.domains[name].values()
        why = Counter(row.why for row in rows if row.why and row.kind not in UNASKABLE)
        against = ", ".join(f"{reason} ({number})" for reason, number in why.most_common(3))
        kept = len(aspects.kept(name))
        parts.append(f"{name}: {sum(counts):,} entities, {kept} aspects kept"
                     + (f"; of others: {against}" if against else ""))  # fmt: skip
    reasons = ", ".join(f"{number:,} {what}" for what, number in sorted(drafts.left.items()))
    raise InputError(
        f"{folder}: no entity is left to ask about ({'; '.join(parts)}; left out: "
        f"{reasons or 'nothing'}); keep more aspects in {folder / FILE}, or lower 'least' in the "
        "file of domains"
    )


def question_step(
    folder: Path, excerpt: Excerpt, templates: Templates, most_twins: int, prompts: int = 1
) -> Built:
    """Make questions of the reviewed aspects: two files for each split, and the card.

    One file has everything, the other is in UNCLE's published format.

    ``prompts`` is how many an entity has, each about other aspects.
    """
    aspects = read_review(folder, excerpt)
    drafts = draft(excerpt, aspects, templates)
    _check_drafts(folder, excerpt, aspects, drafts)
    splits = {
        "main": list(split_records(drafts, excerpt, templates, "main", prompts)),
        "fresh": list(split_records(drafts, excerpt, templates, "fresh", prompts)),
        "twins": list(twins(drafts.entities, excerpt, aspects, templates, most_twins, prompts)),
    }
    files: dict[str, str] = {}
    for split, rows in splits.items():
        name = "questions" if split == "main" else split
        place, published = folder / f"{name}.jsonl", folder / f"{name}.uncle.json"
        if rows:
            _write(place, (msgspec.to_builtins(row) for row in rows))
            with replacing(published) as file:
                records = []
                for row in rows:
                    parts = [
                        (q.question, q.answer, q.label, q.description, q.property_id)
                        for q in row.individual_qa
                    ]
                    records.append(published_record(row.entity, row.prompt, row.domain, parts))
                file.write(msgspec.json.format(msgspec.json.encode(records), indent=2) + b"\n")
            files |= {split: str(place), f"{split} (UNCLE's format)": str(published)}
        else:
            place.unlink(missing_ok=True)
            published.unlink(missing_ok=True)
    gone = sum(map(len, deleted(excerpt, aspects).values()))
    if gone:
        drafts.left["properties whose line was deleted from the review file"] = gone
    card = make_card(excerpt, aspects, drafts, splits)
    card = msgspec.structs.replace(card, prompts=prompts)
    with replacing(folder / "card.md") as file:
        file.write(card_markdown(card, excerpt).encode("utf-8", "replace"))
    with replacing(folder / "card.json") as file:
        file.write(msgspec.json.format(msgspec.json.encode(card), indent=2) + b"\n")
    return Built(str(folder), files, card)


def _write(path: Path, rows: Iterable[object]) -> None:
    with replacing(path) as file:
        for row in rows:
            file.write(msgspec.json.encode(row) + b"\n")


# ---- the card

#: problems of a kind that the card names; the file beside it has all
SHOWN = 3
#: counts of a reading, and problems by kind, in words
READ = {
    "bytes": "bytes unpacked",
    "entities": "entities in the dump",
    "members": "entities of the domains",
    "parsed": "lines read whole in the pass over members",
    "parts": "files",
    "fresh": "entities with facts of after the day",
    "labels": "names looked up",
}
WRONG = {
    "cut off": "lines that are cut off",
    "no JSON object": "lines that are not a JSON object",
    "no UTF-8": "lines that are not UTF-8",
    "not read": "lines that are too long",
    "cannot be read": "lines that cannot be read",
    "cannot be read from here on": "files of which the rest is missing",
    "has no label": "entities without a label",
    "unknown datatype": "statements of an unknown datatype",
    "statement cannot be read": "statements that cannot be read",
}


class DomainCounts(msgspec.Struct, frozen=True):
    """One domain of one split, as in UNCLE's Table 5: entities, prompts, questions, golds."""

    domain: str
    split: str
    entities: int
    prompts: int
    aspects: int
    golds: int


class BuildCard(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of the card; ``strata``: domain -> stratum -> (taken, existing).

    ``prompts`` is how many were wanted of each entity.
    """

    source: str
    day: str
    day_from: str
    fresh_after: str
    languages: tuple[str, ...]
    seed: int
    reviewed: bool
    counts: list[DomainCounts]
    strata: dict[str, dict[str, tuple[int, int]]]
    aspects: dict[str, dict[str, int]]
    left: dict[str, int]
    wrong: dict[str, int]
    read: dict[str, int]
    disputed: int
    partial: int
    prompts: int = 1
    notes: tuple[str, ...] = ()


def make_card(
    excerpt: Excerpt, aspects: AspectReview, drafts: Drafts, splits: Mapping[str, Sequence[Record]]
) -> BuildCard:
    """Count everything in a benchmark."""
    counts = []
    for split, rows in splits.items():
        for domain in excerpt.plan.domains:
            own = [row for row in rows if row.domain == domain]
            parts = [part for row in own for part in row.individual_qa]
            golds = sum(len(part.answer) for part in parts)
            entities = len({row.entity for row in own})
            counts.append(DomainCounts(domain, split, entities, len(own), len(parts), golds))
    main = splits["main"]
    strata = {}
    for domain, settings in excerpt.plan.domains.items():
        taken = Counter({row.id: row.stratum for row in main if row.domain == domain}.values())
        names = [settings.stratum_name(n) for n in range(len(settings.edges) + 1)]
        there = excerpt.population[domain]
        strata[domain] = {
            name: (taken[name], total) for name, total in zip(names, there, strict=True)
        }
    real = [row for split, rows in splits.items() if split != "twins" for row in rows]
    parts = [part for row in real for part in row.individual_qa]
    return BuildCard(
        source=excerpt.source,
        day=excerpt.day,
        day_from=excerpt.day_from,
        fresh_after=excerpt.fresh_after,
        languages=excerpt.plan.languages,
        seed=excerpt.seed,
        reviewed=aspects.reviewed,
        counts=counts,
        strata=strata,
        aspects={
            domain: dict(
                Counter(
                    f"{part.property_id} {part.description}"
                    for row in main
                    if row.domain == domain
                    for part in row.individual_qa
                ).most_common()
            )
            for domain in excerpt.plan.domains
        },
        left=drafts.left,
        wrong=excerpt.wrong,
        read=excerpt.counts,
        disputed=sum(part.disputed for part in parts),
        partial=sum(part.partial for part in parts),
        notes=excerpt.notes,
    )


def card_markdown(card: BuildCard, excerpt: Excerpt) -> str:
    """Return the card as Markdown; names that others wrote are escaped."""
    day = f"{card.day} (from {card.day_from})" if card.day else "not known"
    lines = [
        "# Data card",
        "",
        f"Made from {_safe(card.source)} (Wikidata, CC0), which describes {day}. "
        f"Languages: {', '.join(card.languages)}. Seed {card.seed}. "
        f"The aspects were {'' if card.reviewed else 'NOT '}reviewed by a person.",
        "",
        "| domain | split | entities | prompts | questions | golds |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {_safe(row.domain)} | {row.split} | {row.entities:,} | {row.prompts:,} | "
        f"{row.aspects:,} | {row.golds:,} |"
        for row in card.counts
        if row.prompts or row.split == "main"
    ]
    if card.fresh_after:
        lines += ["", f"*fresh* contains only what is true since after {card.fresh_after}, and "
                      "*main* "
                  "what is not known to be."]  # fmt: skip
    lines += ["", "*twins* are entities with invented names: nothing about them can be known.", ""]
    lines += ["## How much is known about them", "", "| domain | stratum | taken | existing |",
              "|---|---|---|---|"]  # fmt: skip
    for domain, strata in card.strata.items():
        for name, (taken, there) in strata.items():
            lines.append(f"| {_safe(domain)} | {name} | {taken:,} | {there:,} |")
    lines += ["", "## Filters", ""]
    for domain, settings in excerpt.plan.domains.items():
        lines.append(
            f"* {_safe(domain)}: {settings.members}; at least {settings.least} aspects each"
            + f", in up to {card.prompts:,} prompts for each entity" * (card.prompts > 1)
        )
    lines += [f"* left out: {number:,} {_safe(what)}" for what, number in sorted(card.left.items())]
    lines += [f"* {_safe(note)}" for note in card.notes]
    lines += [
        f"* {card.partial:,} questions whose list of golds is known to be incomplete, "
        f"{card.disputed:,} with values that cannot all be true (`partial`, `disputed` there)",
        "",
        "## Aspects",
        "",
    ]
    for domain, counts in card.aspects.items():
        text = ", ".join(f"{_safe(name)} ({number:,})" for name, number in counts.items())
        lines.append(f"* {_safe(domain)}: {text or 'none'}")
    lines += ["", "## The source", ""]
    lines += [
        f"* {_safe(READ.get(what, what))}: {number:,}" for what, number in sorted(card.read.items())
    ]
    for kind, number in sorted(card.wrong.items()):
        lines.append(f"* left out: {_safe(WRONG.get(kind, kind))}: {number:,}, for example")
        named = (p for p in excerpt.problems if problem_kind(p.what) == kind)
        for problem in islice(named, SHOWN):
            what = _safe(problem.what)[:200]
            lines.append(f"    * {_safe(problem.part)} line {problem.line}: {what}")
    if excerpt.problems:
        lines.append(f"* {len(excerpt.problems):,} of them are named in problems.jsonl")
    return "\n".join(lines) + "\n"


def _safe(text: str) -> str:
    """Return text that Markdown and a terminal take for text."""
    return "".join("\\" + c if c in "\\`*_[]<>|#" else c for c in printable(text))

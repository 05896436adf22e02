"""The two steps of a build: find entities and propose aspects; then make questions of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import msgspec

from sayso.atomic import replacing
from sayso.records import InputError
from sayso.wikidata.aspects import (
    FILE,
    Aspect,
    Aspects,
    propose,
    read_aspects,
    reworded,
    write_aspects,
)
from sayso.wikidata.card import Card, make_card, written
from sayso.wikidata.found import Found, write_found
from sayso.wikidata.questions import Made, draft, records
from sayso.wikidata.templates import UNASKABLE, Templates
from sayso.wikidata.twins import twins


class Word(Protocol):
    """Words the question of an aspect; ``aspects`` are set before it is called."""

    aspects: Aspects | None
    kept: int
    refused: int
    failed: int
    failure: str

    def __call__(self, domain: str, property: str, aspect: Aspect) -> str | None: ...


class Built(msgspec.Struct, frozen=True):
    """The end of a build: where everything is, and the card."""

    folder: str
    files: dict[str, str]
    card: Card


def found_step(
    folder: Path, found: Found, templates: Templates, word: Word | None = None
) -> Aspects:
    """Keep what was found and propose aspects; a review file that is there stays as it is.

    InputError where nothing was found.
    """
    _check_found(found)
    write_found(folder, msgspec.structs.replace(found, table=templates))
    problems = ({"part": p.part, "line": p.line, "what": p.what} for p in found.problems)
    _write(folder / "problems.jsonl", problems)
    if (folder / FILE).exists():
        return read_aspects(folder, found)
    aspects = propose(found, templates)
    if word is not None:
        word.aspects = aspects
        aspects = reworded(aspects, word)
    write_aspects(folder, found, aspects)
    return aspects


def _check_found(found: Found) -> None:
    """Refuse a source without a single entity: a wrong class, or a file that is no dump."""
    if any(sum(counts) for counts in found.population.values()):
        return
    asked = "; ".join(f"{name}: {plan.members}" for name, plan in found.plan.domains.items())
    wrong = f"{sum(found.wrong.values()):,} problems" if found.wrong else ""
    for first in found.problems[:1]:
        wrong = f"the first of {wrong}: {first.part} line {first.line} {first.what}"
    if "parts" in found.counts:
        read = f" among the {found.counts.get('entities', 0):,} entities that were read"
        check = "is it Wikidata, one entity a line?"
    else:
        read, check = "", "is it Wikidata? To ask it again delete scan/replies"
    raise InputError(
        f"{found.source}: none of the domains has an entity with a label in "
        f"{found.plan.languages[0]!r}{read} (expected {asked}){'; ' * bool(wrong)}{wrong}; are the "
        f"classes right, and {check}"
    )


def _check_made(folder: Path, found: Found, aspects: Aspects, made: Made) -> None:
    if any(
        one.fresh or len(one.old) >= found.plan.domains[one.domain].least for one in made.drafts
    ):
        return
    told = []
    for name, counts in found.population.items():
        rows = aspects.domains[name].values()
        why = Counter(row.why for row in rows if row.why and row.kind not in UNASKABLE)
        spoke = ", ".join(f"{reason} ({number})" for reason, number in why.most_common(3))
        kept = len(aspects.kept(name))
        told.append(f"{name}: {sum(counts):,} entities, {kept} aspects kept"
                    + (f"; of others: {spoke}" if spoke else ""))  # fmt: skip
    reasons = ", ".join(f"{number:,} {what}" for what, number in sorted(made.left.items()))
    raise InputError(
        f"{folder}: no entity is left to ask about ({'; '.join(told)}; left out: "
        f"{reasons or 'nothing'}); keep more aspects in {folder / FILE}, or lower 'least' in the "
        "file of domains"
    )


def question_step(folder: Path, found: Found, templates: Templates, most_twins: int) -> Built:
    """Make questions of the reviewed aspects: a file for each split, and the card."""
    aspects = read_aspects(folder, found)
    made = draft(found, aspects, templates)
    _check_made(folder, found, aspects, made)
    splits = {
        "main": list(records(made, found, templates, "main")),
        "fresh": list(records(made, found, templates, "fresh")),
        "twins": list(twins(made.drafts, found, aspects, templates, most_twins)),
    }
    files = {}
    for split, rows in splits.items():
        name = "questions.jsonl" if split == "main" else f"{split}.jsonl"
        place = folder / name
        if rows:
            _write(place, (msgspec.to_builtins(row) for row in rows))
            files[split] = str(place)
        else:
            place.unlink(missing_ok=True)
    card = make_card(found, aspects, made, splits)
    with replacing(folder / "card.md") as file:
        file.write(written(card, found).encode("utf-8", "replace"))
    with replacing(folder / "card.json") as file:
        file.write(msgspec.json.format(msgspec.json.encode(card), indent=2) + b"\n")
    return Built(str(folder), files, card)


def _write(path: Path, rows: Iterable[object]) -> None:
    with replacing(path) as file:
        for row in rows:
            file.write(msgspec.json.encode(row) + b"\n")


__all__ = ["Built", "Word", "found_step", "question_step"]

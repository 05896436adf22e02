"""What is wrong with a set of questions, found before a model is asked.

Works on every data set: duplicates, questions that hold their gold, entities with one name, golds
that cannot all be true. Of files that ``sayso build`` wrote, empty strata are listed too; with
answers of several models, golds that unrelated models agree against: such a gold is
often wrong.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import msgspec

from sayso.records import Question
from sayso.wikidata.questions import stands_in

#: kinds of findings, in the order in which they are listed
KINDS = {
    "duplicate": "questions that are asked twice in the same words, with other golds or entities",
    "near-duplicate": "questions of nearly the same words about one fact, with the same golds",
    "gold in question": "questions that contain their own answer",
    "declining gold": "golds that say that there is no answer",
    "ambiguous entity": "entities with one name",
    "empty stratum": "strata without an entity",
    "disputed gold": "golds that cannot all be true, or that several models agree against",
}
#: share of common words above which two questions with the same golds are near-duplicates
SAME_ENTITY, ANY_ENTITY = 0.6, 0.85
#: questions that share a word and are compared in pairs at most
BLOCK = 200
_NOTE = re.compile(r"\s+\(.*\)$")

#: answers of one model: its base and (question id -> answer that was judged wrong)
Wrong = tuple[str, Mapping[str, str]]


class QualityFinding(msgspec.Struct, frozen=True):
    """Something to look at: its kind, the questions or names it is about, what is wrong."""

    kind: str
    about: tuple[str, ...]
    why: str


def findings(
    questions: Sequence[Question],
    rows: Iterable[Mapping[str, object]] = (),
    card: Mapping[str, object] | None = None,
    answers: Sequence[Wrong] = (),
    agree: Callable[[str, str, str], bool] | None = None,
    declines: Callable[[str, Sequence[str]], bool] | None = None,
) -> list[QualityFinding]:
    """Return everything that is wrong with a set.

    ``rows`` are its records as they stand in the file, ``card`` what a build wrote beside it.
    ``answers`` are wrong answers by model; ``agree(question, a, b)`` compares two of them.
    ``declines(question, golds)`` tells whether golds say that there is no answer.
    """
    shorts = [q for q in questions if not q.parts]
    kept = list(rows)
    every = [*_duplicates(shorts), *_near(shorts)]
    for one in shorts:
        given = [gold.value for gold in one.golds or () if stands_in(gold, one.text)]
        if given:
            why = f"{given[0]!r} is part of it"
            every.append(QualityFinding("gold in question", (one.text,), why))
        golds = [gold.value for gold in one.golds or ()]
        if declines is not None and declines(one.text, golds):
            why = f"{golds[0]!r}: if nobody can answer, write false in a column answerable"
            every.append(QualityFinding("declining gold", (one.text,), why))
    every += [*_ambiguous(shorts, kept), *_strata(kept, card), *_impossible(shorts, kept)]
    if agree is not None:
        every += _outvoted(shorts, answers, agree)
    order = list(KINDS)
    return sorted(every, key=lambda one: (order.index(one.kind), one.about))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _duplicates(shorts: Sequence[Question]) -> Iterator[QualityFinding]:
    same: dict[str, list[Question]] = defaultdict(list)
    for one in shorts:
        same[" ".join(_words(one.text)) + "\0" + (one.context or "")].append(one)
    for group in same.values():
        if len(group) > 1:
            golds = {_golds(one) for one in group}
            entities = sorted({one.entity for one in group})
            other = "with other golds" if len(golds) > 1 else "with the same golds"
            why = f"asked {len(group)} times {other}; entities: {', '.join(entities)}"
            yield QualityFinding("duplicate", (group[0].text,), why)


def _golds(question: Question) -> tuple[str, ...]:
    return tuple(sorted(gold.value.casefold() for gold in question.golds or ()))


def _near(shorts: Sequence[Question]) -> Iterator[QualityFinding]:
    """Compare questions with the same golds: of one entity, or sharing a rare word."""
    counts = Counter(word for one in shorts for word in set(_words(one.text)))
    blocks: dict[tuple[object, ...], list[Question]] = defaultdict(list)
    for one in shorts:
        if one.golds:
            blocks[("entity", one.domain, one.entity, _golds(one))].append(one)
            rare = sorted(set(_words(one.text)), key=lambda word: (counts[word], word))[:2]
            for word in rare:
                blocks[("word", word, _golds(one))].append(one)
    seen: set[tuple[str, str]] = set()
    for key, block in blocks.items():
        least = SAME_ENTITY if key[0] == "entity" and key[2] else ANY_ENTITY
        for a, b in combinations(block[:BLOCK], 2):
            pair = (min(a.id, b.id), max(a.id, b.id))
            if pair in seen or _words(a.text) == _words(b.text) or a.context != b.context:
                continue
            first, second = set(_words(a.text)), set(_words(b.text))
            if a.aspect and b.aspect and a.type != b.type:  # a director may be the author too
                continue
            share = len(first & second) / max(1, len(first | second))
            if share >= least:
                seen.add(pair)
                why = f"share {share:.0%} of their words, and the golds"
                yield QualityFinding("near-duplicate", (a.text, b.text), why)


def _ambiguous(
    shorts: Sequence[Question], rows: Sequence[Mapping[str, object]]
) -> Iterator[QualityFinding]:
    """Names of several things: by id, by domain, or up to what is in parentheses."""
    things: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        name, id = row.get("entity"), row.get("id")
        if isinstance(name, str) and isinstance(id, str):
            things[" ".join(_words(name))].add(id)
    domains: dict[str, set[str]] = defaultdict(set)
    bare: dict[str, set[str]] = defaultdict(set)
    for one in shorts:
        if one.entity:
            domains[" ".join(_words(one.entity))].add(one.domain)
            bare[" ".join(_words(_NOTE.sub("", one.entity)))].add(one.entity)
    for name, ids in things.items():
        if len(ids) > 1:
            yield QualityFinding("ambiguous entity", (name,), f"is {', '.join(sorted(ids))}")
    for name, among in domains.items():
        if len(among) > 1:
            why = f"stands in the domains {', '.join(sorted(among))}"
            yield QualityFinding("ambiguous entity", (name,), why)
    for names in bare.values():
        plain = [name for name in names if not _NOTE.search(name)]
        if plain and len(names) > 1:
            others = sorted(names - {plain[0]})
            yield QualityFinding("ambiguous entity", (plain[0],), f"beside {', '.join(others)}")


def _strata(
    rows: Sequence[Mapping[str, object]], card: Mapping[str, object] | None
) -> Iterator[QualityFinding]:
    strata = card.get("strata") if card else None
    # the strata are those of the main file, not of fresh.jsonl and twins.jsonl beside it
    if not isinstance(strata, dict) or any("split" in row for row in rows):
        return
    there = {(row.get("domain"), row.get("stratum")) for row in rows}
    for domain, names in strata.items():
        if not any(d == domain for d, _ in there):
            yield QualityFinding("empty stratum", (str(domain),), "no entity at all")
            continue
        for name, counts in names.items() if isinstance(names, dict) else ():
            if (domain, name) not in there:
                existing = counts[1] if isinstance(counts, list) and len(counts) == 2 else "?"
                why = f"{name}: no entity taken, {existing} in the source"
                yield QualityFinding("empty stratum", (str(domain),), why)


def _impossible(
    shorts: Sequence[Question], rows: Sequence[Mapping[str, object]]
) -> Iterator[QualityFinding]:
    """Facts that are true once and have several values: the build marks them, or days differ."""
    disputed: set[str] = set()
    for row in rows:
        parts = row.get("individual_qa")
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict) and part.get("disputed") is True:
                disputed.add(str(part.get("question")))
    for one in shorts:
        days = {g.value for g in one.golds or () if g.kind == "date" and g.precision == "day"}
        once = one.aspect is not None and re.search(r"birth|death", one.aspect.description)
        if one.text in disputed or (once and len(days) > 1):
            values = ", ".join(gold.value for gold in one.golds or ())
            yield QualityFinding("disputed gold", (one.text,), f"cannot all be true: {values}")


def _outvoted(
    shorts: Sequence[Question], answers: Sequence[Wrong], agree: Callable[[str, str, str], bool]
) -> Iterator[QualityFinding]:
    for one in shorts:
        given = [(base, wrong[one.id]) for base, wrong in answers if one.id in wrong]
        for (base, a), (other, b) in combinations(given, 2):
            if base != other and agree(one.text, a, b):
                golds = ", ".join(gold.value for gold in one.golds or ())
                why = f"gold {golds}; unrelated models agree on another answer: {a[:100]!r}"
                yield QualityFinding("disputed gold", (one.text,), why)
                break


def card_near(path: Path) -> Mapping[str, object] | None:
    """Return the card that a build left beside a file, ``None`` where there is none."""
    try:
        card = json.loads((path.parent / "card.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return card if isinstance(card, dict) else None

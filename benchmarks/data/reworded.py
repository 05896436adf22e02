"""Paragraphs and short answers about the invented world in wordings its own corpus does not use.

The built-in model answers in the corpus' sentences, so a judge could score well on it by having met
those sentences. Here the same facts are put in other words (`reworded.json`, written apart from
both the corpus and the judge), and each text comes with the truth about what it says of each part.
Everything is a pure function of the questions and the seed.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from data.written import written

Stance = Literal["committed", "hedged", "abstained", "omitted"]
Content = Literal["correct", "incorrect", "none"]

WORDINGS = Path(__file__).with_name("reworded.json")
STANCES: tuple[Stance, ...] = ("committed", "hedged", "abstained", "omitted")
WEIGHTS = (50, 22, 14, 14)
WRONG = 0.4  # share of the stated values that are wrong
PAIR, JOINED, FILLER, BOOST, DISCLAIM = 0.35, 0.35, 0.25, 0.12, 0.06


class Truth(NamedTuple):
    """What a text says about one aspect, known because the text was made from it."""

    question: str
    description: str
    golds: tuple[str, ...]
    stance: Stance
    content: Content


class Sample(NamedTuple):
    """One text and the truth for each question it was asked, in the order of the questions."""

    entity: str
    domain: str
    text: str
    truths: tuple[Truth, ...]


class Part(NamedTuple):
    """One aspect of one entity with the value chosen for it and another wrong one for "or"."""

    id: str
    truth: Truth
    value: str
    other: str
    spec: Mapping[str, Any]

    def said(self, hedge: str = "{v}", bare: bool = False) -> str:
        """The value inside a hedge, with its article unless `bare`."""
        kind = "name" if bare else self.spec["kind"]
        return hedge.format(v=_article(self.value, kind), other=_article(self.other, kind))


@cache
def wordings() -> dict[str, Any]:
    """The sentence templates, hedges and abstentions, read once."""
    loaded: dict[str, Any] = json.loads(WORDINGS.read_text(encoding="utf-8"))
    return loaded


def paragraphs(questions: Sequence[Mapping[str, Any]], seed: int, n: int) -> list[Sample]:
    """`n` paragraphs on entities drawn from `questions` (the records of the world's data file).

    A wrong value is always a true value of another entity's same property, so it has the right
    type and only its truth gives it away.
    """
    rng = random.Random(seed)
    return [_paragraph(rng.choice(questions), questions, rng) for _ in range(n)]


def short_answers(questions: Sequence[Mapping[str, Any]], seed: int, n: int) -> list[Sample]:
    """`n` short answers, each to one question drawn from `questions`; none of them omits it."""
    rng = random.Random(seed)
    return [_short(rng.choice(questions), questions, rng) for _ in range(n)]


class _Names:
    """How one text refers to its entity: by full name first, then by pronouns and short names.

    A paragraph whose first sentence says "she" would have no subject.
    """

    def __init__(self, record: Mapping[str, Any], rng: random.Random) -> None:
        self.name, self.rng, self.first = str(record["entity"]), rng, True
        phrase = wordings()["domains"][record["domain"]]["noun_phrase"]
        self.brief = phrase or self.name.split()[-1]
        self.pronoun, self.possessive = ("it", "its") if phrase else rng.choice(
            [("he", "his"), ("she", "her")]
        )  # fmt: skip

    def fill(self, template: str, **more: str) -> str:
        """Put the references (and `more`) into a template."""
        name, pronoun, possessive = self.name, self.pronoun, self.possessive
        if self.first:
            pronoun, possessive = name, f"{name}'s"
        elif self.rng.random() < 0.6:
            name = self.brief
        return template.format(entity=name, pronoun=pronoun, possessive=possessive, **more)


def _paragraph(
    record: Mapping[str, Any], questions: Sequence[Mapping[str, Any]], rng: random.Random
) -> Sample:
    words = wordings()
    domain = words["domains"][record["domain"]]
    names = _Names(record, rng)
    disclaimed = rng.random() < DISCLAIM
    truths, parts = [], []
    for qa in record["individual_qa"]:
        stance = rng.choices(STANCES, WEIGHTS)[0]
        part = _part(qa, stance, record, questions, rng)
        final = part.truth
        if disclaimed and stance == "committed":
            final = final._replace(stance="hedged")  # a doubt about the whole text reaches it
        truths.append(final)
        if stance != "omitted":
            parts.append(part)
    if rng.random() < 0.5:
        rng.shuffle(parts)
    fillers = rng.sample(domain["filler"], len(domain["filler"]))
    sentences = [_capital(rng.choice(words["disclaimers"]))] if disclaimed else []
    while parts:
        sentences.append(_capital(_next(parts, domain, names, disclaimed, rng)))
        names.first = False
        if fillers and rng.random() < FILLER:
            sentences.append(_capital(names.fill(fillers.pop())))
    text = " ".join(f"{s}." for s in sentences) or f"{_capital(names.fill(domain['filler'][0]))}."
    return Sample(names.name, record["domain"], text, tuple(truths))


def _next(
    parts: list[Part],
    domain: Mapping[str, Any],
    names: _Names,
    disclaimed: bool,
    rng: random.Random,
) -> str:
    """Take one or two parts off the list and word them as one sentence."""
    words = wordings()
    spoken = {p.id: p for p in parts if p.truth.stance != "abstained"}
    pairs = [p for p in domain["pairs"] if all(i in spoken for i in p["of"])]
    if pairs and rng.random() < PAIR:
        pair = rng.choice(pairs)
        both = [spoken[i] for i in pair["of"]]
        for part in both:
            parts.remove(part)
        values = [
            p.said(rng.choice(_near(pair["text"].startswith(f"{{{i}}}"))))
            if p.truth.stance == "hedged"
            else p.said()
            for i, p in enumerate(both)
        ]
        return _tidy(names.fill(_positional(pair["text"], values)))
    part = parts.pop(0)
    if part.truth.stance == "abstained":
        committed = [p for p in parts if p.truth.stance == "committed"]
        if committed and rng.random() < JOINED:
            parts.remove(committed[0])
            sentence = _state(committed[0], names, rng)
            return _joined(rng.choice(words["abstained_joined"]), sentence, part, names)
        return _about(rng.choice(words["abstained"]), part, names)
    if part.truth.stance == "hedged":
        if rng.random() < 0.5:
            return _state(part, names, rng, rng.choice(words["hedged_value"]))
        return _around(words["hedged_sentence"], _state(part, names, rng), rng)
    sentence = _state(part, names, rng)
    if not disclaimed and rng.random() < BOOST:
        return _around(words["committed_sentence"], sentence, rng)
    return sentence


def _short(
    record: Mapping[str, Any], questions: Sequence[Mapping[str, Any]], rng: random.Random
) -> Sample:
    words = wordings()
    stance = rng.choices(STANCES[:3], WEIGHTS[:3])[0]
    part = _part(rng.choice(record["individual_qa"]), stance, record, questions, rng)
    names = _Names(record, rng)
    template = rng.choice(words["short"][stance])
    sentence = _capital(_state(part, names, rng))
    filler = _capital(rng.choice(words["domains"][record["domain"]]["filler"]))
    text = template.replace("{filler}", filler).replace("{s}", sentence)
    text = _about(text.replace("{v}", part.value).replace("{other}", part.other), part, names)
    if not template[0].islower():  # a wording in small letters is a careless answer on purpose
        text = _capital(text)
    return Sample(names.name, record["domain"], text, (part.truth,))


def _part(
    qa: Mapping[str, Any],
    stance: Stance,
    record: Mapping[str, Any],
    questions: Sequence[Mapping[str, Any]],
    rng: random.Random,
) -> Part:
    spec = wordings()["domains"][record["domain"]]["aspects"][qa["property_id"]]
    golds = tuple(qa["answer"])
    wrong = _wrong(qa, questions, spec["kind"], rng)
    value = ""
    content: Content = "none"
    if stance in ("committed", "hedged"):
        content = "incorrect" if rng.random() < WRONG else "correct"
        chosen = wrong[0] if content == "incorrect" else golds
        value = written(chosen, spec, rng, subset=content == "correct")
    truth = Truth(qa["question"], qa["description"], golds, stance, content)
    return Part(qa["property_id"], truth, value, written(wrong[1], spec, rng), spec)


def _wrong(
    qa: Mapping[str, Any], questions: Sequence[Mapping[str, Any]], kind: str, rng: random.Random
) -> list[tuple[str, ...]]:
    """Two different gold lists of other entities that agree with no gold of this question."""
    golds = [g.lower() for g in qa["answer"]]
    found: list[tuple[str, ...]] = []
    while len(found) < 2:
        other = rng.choice(rng.choice(questions)["individual_qa"])
        if other["property_id"] != qa["property_id"]:
            continue
        values = tuple(other["answer"])
        if values not in found and not any(
            _same(v.lower(), g, kind) for v in values for g in golds
        ):
            found.append(values)
    return found


def _same(a: str, b: str, kind: str) -> bool:
    """Too close to call one of them wrong: one contains the other, or numbers within a quarter."""
    if kind == "number":
        return abs(float(a) - float(b)) <= 0.25 * max(float(a), float(b))
    return a in b or b in a


def _article(value: str, kind: str) -> str:
    """The value as it stands in a sentence: "a painter", "the retina"."""
    if kind == "role":
        return f"{'an' if value[:1].lower() in 'aeiou' else 'a'} {value}"
    return f"the {value}" if kind == "the" and value else value


def _state(part: Part, names: _Names, rng: random.Random, hedge: str = "{v}") -> str:
    """The part's value in one of its sentences; the first sentence of a text names the entity."""
    references = ("{entity}", "{pronoun}", "{possessive}")
    templates = [
        t for t in part.spec["sentences"] if not names.first or any(r in t for r in references)
    ]
    value, bare = part.said(hedge), part.said(hedge, bare=True)
    return _tidy(names.fill(rng.choice(templates), value=value, bare=bare))


def _near(opening: bool) -> list[str]:
    """Hedges that lean on one value of two: no comma, and no adverb where a sentence opens.

    "Possibly Orth found it and named it for Zell" doubts both halves, "Orth (?) found it" one.
    """
    hedges = [h for h in wordings()["hedged_value"] if "," not in h]
    return [h for h in hedges if not opening or "(" in h or "{other}" in h]


def _positional(template: str, values: Sequence[str]) -> str:
    """Put the values of a pair in by number, leaving the named references for later."""
    for i, value in enumerate(values):
        template = template.replace(f"{{{i}}}", value)
    return template


def _around(templates: Sequence[str], sentence: str, rng: random.Random) -> str:
    return _tidy(rng.choice(templates).replace("{s}", sentence))


def _about(template: str, part: Part, names: _Names) -> str:
    clause = names.fill(part.spec["clause"])
    return _tidy(names.fill(template, clause=clause, noun=part.spec["noun"]))


def _joined(template: str, sentence: str, part: Part, names: _Names) -> str:
    names.first = False  # the stated half names the entity
    return _about(template.replace("{s}", sentence), part, names)


def _tidy(text: str) -> str:
    """Drop the comma that a parenthetical leaves before another mark or at the end."""
    return re.sub(r",(?=\s*(?:[,.;]|$))", "", text)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

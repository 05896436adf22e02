"""The answers of a run, put together for a reader: one card for each paragraph and its facts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sayso.records import Generation, Gold, Question, Verdict
from sayso.report.clean import block, line
from sayso.report.highlight import STANCES, Piece, kind_of, pieces

_GOLDS_SHOWN = 6
_TIMESTAMP = re.compile(r"\+?(-?\d{4,})-(\d\d)-(\d\d)(?:T00:00:00Z)?")


class Tables(NamedTuple):
    """What the cards are made from: tables of a run folder; any of them may be
    empty. ``k`` is how many probe draws count."""

    questions: Sequence[Question]
    probe: Sequence[Generation]
    short: Sequence[Generation]
    long: Sequence[Generation]
    verdicts: Sequence[Verdict]
    k: int = 5


class Answer(NamedTuple):
    """One answer as shown: its text in pieces and what else must be said about it."""

    pieces: list[Piece]
    cut: int
    notes: tuple[str, ...]


class Reading(NamedTuple):
    """A verdict as shown. ``kind`` is a key of ``highlight.LABELS``."""

    kind: str
    stance: str
    problem: str


class Fact(NamedTuple):
    """One short question with its truth, the probe, and what was said in each form."""

    number: int
    question: str
    golds: str
    type: str
    known: str
    hits: str
    short: Answer | None
    short_reading: Reading | None
    plain: Answer | None
    plain_reading: Reading | None
    long_reading: Reading | None


class Card(NamedTuple):
    """One long question with its facts, or one short question that stands alone."""

    id: str
    title: str
    domain: str
    prompt: str
    paragraph: Answer | None
    plain: Answer | None
    facts: list[Fact]

    @property
    def answers(self) -> int:
        """How many answers with the instruction the card shows."""
        return (self.paragraph is not None) + sum(f.short is not None for f in self.facts)

    @property
    def strata(self) -> set[tuple[str, str, str, str]]:
        """The kinds of answers on this card: form, verdict, known, domain."""
        found = set()
        for fact in self.facts:
            for form, reading in (("short", fact.short_reading), ("long", fact.long_reading)):
                if reading:
                    found.add((form, reading.kind, fact.known, self.domain))
        return found


class _Index(NamedTuple):
    questions: dict[str, Question]
    answers: dict[tuple[str, bool], Generation]
    draws: dict[str, list[Generation]]
    verdicts: dict[tuple[str, str], Verdict]


def cards(tables: Tables) -> list[Card]:
    """Return all cards in the order of the questions; short questions of a paragraph are on it."""
    draws: dict[str, list[Generation]] = {}
    for draw in tables.probe:
        if draw.request.sample >= tables.k:  # measured with fewer draws than were made
            continue
        draws.setdefault(draw.question, []).append(draw)
    index = _Index(
        {q.id: q for q in tables.questions},
        {(g.question, g.instructed): g for g in (*tables.short, *tables.long)},
        draws,
        {(v.target, v.asked): v for v in tables.verdicts},
    )
    covered = {part for q in tables.questions for part in q.parts}
    alone = [q for q in tables.questions if not q.parts and q.id not in covered]
    return [
        _card(number, question, index)
        for number, question in enumerate(
            [*(q for q in tables.questions if q.parts), *alone], start=1
        )
    ]


def _card(number: int, question: Question, index: _Index) -> Card:
    parts = question.parts or (question.id,)
    asked = [index.questions.get(part) for part in parts]
    long = {told: index.answers.get((question.id, told)) for told in (True, False)}
    if not question.parts:
        long = {True: None, False: None}
    verdicts = {
        told: [index.verdicts.get((answer.id, part)) for part in parts] if answer else []
        for told, answer in long.items()
    }
    facts = [
        _fact(n, part, short, long[True], verdict, index)
        for n, (part, short, verdict) in enumerate(
            zip(parts, asked, verdicts[True] or [None] * len(parts), strict=True), start=1
        )
    ]
    return Card(
        f"card-{number}",
        line(question.entity or question.text, 120),
        line(question.domain, 60),
        line(question.text, 1_000),
        _answer(long[True], verdicts[True]),
        _answer(long[False], verdicts[False]),
        facts,
    )


def _fact(
    number: int,
    part: str,
    question: Question | None,
    paragraph: Generation | None,
    in_paragraph: Verdict | None,
    index: _Index,
) -> Fact:
    told, plain = (index.answers.get((part, instructed)) for instructed in (True, False))
    read, plain_read = (index.verdicts.get((g.id, part)) if g else None for g in (told, plain))
    known, hits = _probe(part, index)
    aspect = question.aspect if question else None
    return Fact(
        number,
        line(question.text, 500) if question else f"question {line(part, 40)}",
        _golds(question),
        line(aspect.description or aspect.label or aspect.property_id, 80) if aspect else "",
        known,
        hits,
        _answer(told, [read]),
        _reading(told, read),
        _answer(plain, [plain_read]),
        _reading(plain, plain_read),
        _reading(paragraph, in_paragraph),
    )


def _probe(part: str, index: _Index) -> tuple[str, str]:
    """Known if a readable draw is right, unknown if all are read and none is (DESIGN 4.3)."""
    values = [
        verdict.value if (verdict := index.verdicts.get((draw.id, part))) else None
        for draw in index.draws.get(part, [])
    ]
    right = sum(value == "correct" for value in values)
    if right:
        known = "known"
    elif values and None not in values:
        known = "unknown"
    else:
        known = "missing"
    return known, f"{right}/{len(values)}" if values else ""


def _golds(question: Question | None) -> str:
    golds = (question.golds or ()) if question else ()
    more = len(golds) - _GOLDS_SHOWN
    return "; ".join(map(_gold, golds[:_GOLDS_SHOWN])) + (f" and {more} more" if more > 0 else "")


def _gold(gold: Gold) -> str:
    """Write one true value: a Wikidata time only as far as it is meant."""
    value = line(gold.value, 120)
    stamp = _TIMESTAMP.fullmatch(value) if gold.kind == "date" else None
    if stamp is not None:  # others are in words already, as far as they are meant
        known = {"year": 1, "month": 2}.get(gold.precision or "", 3)
        value = "-".join(stamp.groups()[:known])
    return f"{value} {line(gold.unit, 30)}" if gold.unit else value


def _answer(answer: Generation | None, verdicts: Sequence[Verdict | None]) -> Answer | None:
    if answer is None:
        return None
    cut, left = pieces(answer.text, verdicts)
    return Answer(cut, left, tuple(_notes(answer)))


def _notes(answer: Generation) -> Iterable[str]:
    if answer.problem:
        yield f"no answer: {line(answer.problem, 200)}"
    elif not answer.text.strip():
        yield "the answer is empty"
    if answer.finish == "length":
        yield "cut off at the token limit"


def _reading(answer: Generation | None, verdict: Verdict | None) -> Reading | None:
    if answer is None:
        return None
    problem = "no verdict was stored" if verdict is None else (verdict.problem or "")
    stance = STANCES.get((verdict.stance or "") if verdict else "", "")
    return Reading(kind_of(verdict), stance, block(problem)[:200])

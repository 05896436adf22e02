"""The answers of a run, prepared for a reader: one card for each paragraph and its aspects.

An answer is cut into pieces that carry verdicts, ready to be marked on a page.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from sayso.harmless import block, line
from sayso.records import OTHER_END, Generation, Gold, Question, Value, Verdict, is_blank

#: longer answers are cut on the page (never in the tables of the run)
SHOWN_CHARACTERS = 6_000
#: so are longer draws of a probe, of which a fact has several
DRAW_CHARACTERS = 600

#: verdict -> (sign, word): shown by sign and word, never by color alone
LABELS: dict[str, tuple[str, str]] = {
    "correct": ("✓", "right"),
    "incorrect": ("✗", "wrong"),
    "uncertain": ("~", "hedged"),
    "omitted": ("∅", "not mentioned"),
    "missing": ("?", "unread"),
}
#: what an answer that is refused by policy is called
REFUSAL = "refused by policy"
STANCES = {
    "committed": "committed",
    "hedged": "hedged",
    "abstained": "said it does not know",
    "refused_by_policy": REFUSAL,
    "asked_back": "asked back",
    "omitted": "not mentioned",
}
#: the same of an answer that abstains although a passage stood with the question
NOT_IN_PASSAGE = "said the passage does not say it"


class AnswerPiece(NamedTuple):
    """A stretch of text under one set of verdicts. ``kind`` is a verdict, "mixed" or empty.

    ``value`` marks the words that were compared with the truth; ``tags`` are the numbers (with
    their verdicts) of the facts whose sentence ends here.
    """

    text: str
    kind: str = ""
    value: bool = False
    tags: tuple[tuple[int, str], ...] = ()


def verdict_name(verdict: Verdict | None) -> str:
    """Return the verdict's name on the page: one of :data:`LABELS`."""
    value: Value | None = verdict.value if verdict else None
    return value or "missing"


def pieces(
    text: str, verdicts: Sequence[Verdict | None], most: int = SHOWN_CHARACTERS
) -> tuple[list[AnswerPiece], int]:
    """Cut ``text`` at every border of an aligned sentence or value; return also what is left out.

    ``verdicts`` belong to facts 1, 2, ...; spans that do not lie within the text are ignored. The
    pieces' texts, before cleaning, join to the shown part of the answer: ``most`` characters.
    """
    shown = min(len(text), most)
    spans: list[tuple[int, int, int, str]] = []
    values: list[tuple[int, int]] = []
    for number, verdict in enumerate(verdicts, start=1):
        if verdict is None or verdict.start is None or verdict.end is None:
            continue
        if 0 <= verdict.start < verdict.end <= len(text):
            start, end = min(verdict.start, shown), min(verdict.end, shown)
            spans.append((start, end, number, verdict_name(verdict)))
        first, last = verdict.answer_start, verdict.answer_end
        if first is not None and last is not None and 0 <= first < last <= len(text):
            values.append((min(first, shown), min(last, shown)))
    borders = sorted(
        {0, shown, *(b for s in spans for b in s[:2]), *(b for v in values for b in v)}
    )
    cut = []
    for start, end in pairwise(borders):
        over = [span for span in spans if span[0] <= start and end <= span[1]]
        kinds = {span[3] for span in over}
        cut.append(
            AnswerPiece(
                block(text[start:end]),
                kinds.pop() if len(kinds) == 1 else "mixed" if kinds else "",
                any(first <= start and end <= last for first, last in values),
                tuple((span[2], span[3]) for span in over if span[1] == end),
            )
        )
    return cut, len(text) - shown


# ---- cards

GOLDS_SHOWN = 6
TIMESTAMP = re.compile(r"\+?(-?\d{4,})-(\d\d)-(\d\d)(?:T00:00:00Z)?")


class Tables(NamedTuple):
    """Tables of a run folder, which may be empty; ``k`` is how many probe draws count."""

    questions: Sequence[Question]
    probe: Sequence[Generation]
    short: Sequence[Generation]
    long: Sequence[Generation]
    verdicts: Sequence[Verdict]
    k: int = 5


class ShownAnswer(NamedTuple):
    """One answer as shown: its text in pieces and what else must be said about it."""

    pieces: list[AnswerPiece]
    cut: int
    notes: tuple[str, ...]


class ShownVerdict(NamedTuple):
    """A verdict as shown.

    ``kind`` is a key of :data:`LABELS`; ``right``: what it says is right, whether hedged or not.
    """

    kind: str
    stance: str
    problem: str
    right: bool = False


class ShownDraw(NamedTuple):
    """One draw of the probe and what the judge read in it."""

    answer: ShownAnswer
    reading: ShownVerdict


class ShownFact(NamedTuple):
    """One short question with its truth, the probe, and what was said in each form."""

    number: int
    question: str
    golds: str
    type: str
    known: str
    hits: str
    short: ShownAnswer | None
    short_reading: ShownVerdict | None
    plain: ShownAnswer | None
    plain_reading: ShownVerdict | None
    long_reading: ShownVerdict | None
    draws: tuple[ShownDraw, ...] = ()


class QuestionCard(NamedTuple):
    """One long question with its facts, or one short question that stands alone."""

    id: str
    title: str
    domain: str
    prompt: str
    paragraph: ShownAnswer | None
    plain: ShownAnswer | None
    facts: list[ShownFact]

    @property
    def answers(self) -> int:
        """How many answers with the instruction the card shows."""
        return (self.paragraph is not None) + sum(f.short is not None for f in self.facts)

    @property
    def readings(self) -> list[ShownVerdict]:
        """What was read in the answers and draws that the card shows."""
        own = [r for f in self.facts for r in (f.short_reading, f.plain_reading, f.long_reading)]
        drawn = [draw.reading for f in self.facts for draw in f.draws]
        return [reading for reading in (*own, *drawn) if reading is not None]

    @property
    def strata(self) -> set[tuple[str, str, str, str]]:
        """The kinds of answers on this card: form, verdict, known, domain."""
        kinds = set()
        for fact in self.facts:
            for form, reading in (("short", fact.short_reading), ("long", fact.long_reading)):
                if reading:
                    kinds.add((form, reading.kind, fact.known, self.domain))
        return kinds


class _Index(NamedTuple):
    questions: dict[str, Question]
    answers: dict[tuple[str, bool], Generation]
    draws: dict[str, list[Generation]]
    verdicts: dict[tuple[str, str], Verdict]


def cards(tables: Tables) -> list[QuestionCard]:
    """Return all cards in the order of the questions; short questions of a paragraph are on it."""
    draws: dict[str, list[Generation]] = {}
    for draw in sorted(tables.probe, key=lambda g: g.request.sample):
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


def _card(number: int, question: Question, index: _Index) -> QuestionCard:
    parts = question.parts or (question.id,)
    questions = [index.questions.get(part) for part in parts]
    long = {
        instructed: index.answers.get((question.id, instructed)) for instructed in (True, False)
    }
    if not question.parts:
        long = {True: None, False: None}
    verdicts = {
        instructed: [index.verdicts.get((answer.id, part)) for part in parts] if answer else []
        for instructed, answer in long.items()
    }
    facts = [
        _fact(n, part, short, long[True], verdict, index)
        for n, (part, short, verdict) in enumerate(
            zip(parts, questions, verdicts[True] or [None] * len(parts), strict=True), start=1
        )
    ]
    return QuestionCard(
        f"card-{number}",
        line((question.parts and question.entity) or question.text, 120),
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
) -> ShownFact:
    instructed, plain = (index.answers.get((part, flag)) for flag in (True, False))
    read, plain_read = (
        index.verdicts.get((g.id, part)) if g else None for g in (instructed, plain)
    )
    known, hits = _probe(part, index)
    aspect, passage = (question.aspect, bool(question.context)) if question else (None, False)
    return ShownFact(
        number,
        line(question.text, 500) if question else f"question {line(part, 40)}",
        golds_text(question),
        line(aspect.description or aspect.label or aspect.property_id, 80) if aspect else "",
        known,
        hits,
        _answer(instructed, [read]),
        _reading(instructed, read, passage),
        _answer(plain, [plain_read]),
        _reading(plain, plain_read, passage),
        _reading(paragraph, in_paragraph),
        tuple(
            ShownDraw(_shown(draw, [read], DRAW_CHARACTERS), _read(read, passage))
            for draw in index.draws.get(part, ())
            for read in [index.verdicts.get((draw.id, part))]
        ),
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


def golds_text(question: Question | None) -> str:
    """Return the true values of a question, the first few of many."""
    golds = (question.golds or ()) if question else ()
    more = len(golds) - GOLDS_SHOWN
    first = "; ".join(map(gold_text, golds[:GOLDS_SHOWN]))
    return first + (f" and {more} more" if more > 0 else "")


def gold_text(gold: Gold) -> str:
    """Write one true value: a Wikidata time only as far as it is meant, as the judge reads it."""
    value = line(gold.value, 120)
    stamp = TIMESTAMP.fullmatch(value) if gold.kind == "date" else None
    if stamp is not None:  # others are in words already, as far as they are meant
        meant = gold.precision or ("year" if value.endswith("-01-01T00:00:00Z") else "day")
        value = "-".join(stamp.groups()[: {"year": 1, "month": 2}.get(meant, 3)])
    return f"{value} {line(gold.unit, 30)}" if gold.unit else value


def _answer(answer: Generation | None, verdicts: Sequence[Verdict | None]) -> ShownAnswer | None:
    return _shown(answer, verdicts, SHOWN_CHARACTERS) if answer is not None else None


def _shown(answer: Generation, verdicts: Sequence[Verdict | None], most: int) -> ShownAnswer:
    cut, left = pieces(answer.text, verdicts, most)
    return ShownAnswer(cut, left, tuple(_notes(answer)))


def _notes(answer: Generation) -> Iterable[str]:
    if answer.problem:
        yield f"no answer: {line(answer.problem, 200)}"
    elif is_blank(answer.text):
        yield "the answer is empty"
    if answer.finish == "length":
        yield "cut off at the token limit"
    if answer.finish == "loop":
        yield "stopped where it began to repeat itself"
    if answer.finish and answer.finish.startswith(OTHER_END):
        reason = line(answer.finish.removeprefix(OTHER_END), 40)
        yield f"the server ended it with {reason}; it may not be whole"


def _reading(
    answer: Generation | None, verdict: Verdict | None, passage: bool = False
) -> ShownVerdict | None:
    return _read(verdict, passage) if answer is not None else None


def _read(verdict: Verdict | None, passage: bool) -> ShownVerdict:
    problem = "no verdict was stored" if verdict is None else (verdict.problem or "")
    if verdict is not None and verdict.stance == "committed" and verdict.content is None:
        problem = "no gold answer to judge it by"
    stance = STANCES.get((verdict.stance or "") if verdict else "", "")
    if passage and stance == STANCES["abstained"]:
        stance = NOT_IN_PASSAGE
    right = verdict is not None and verdict.content == "correct"
    return ShownVerdict(verdict_name(verdict), stance, block(problem)[:200], right)


# ---- the answers on the page itself, and those on pages of their own

#: at most so many answers on the page and on each page of answers
INLINE_ANSWERS = 300
#: at most so many bytes of cards on one page: the page stays under 1.5 MB
INLINE_BYTES = 900_000


def split_cards(
    cards: Sequence[QuestionCard], size: Callable[[QuestionCard], int], seed: int
) -> tuple[list[QuestionCard], list[QuestionCard]]:
    """Split cards into (on the page, on further pages), both in their own order.

    All fit when they hold at most 300 answers. Otherwise a seeded draw, stratified by form,
    verdict, known and domain: the kinds take turns, rarest first, each giving its next card, so
    that a kind that occurs at all is seen. Rare kinds are therefore over-represented.
    """
    if sum(c.answers for c in cards) <= INLINE_ANSWERS and sum(map(size, cards)) <= INLINE_BYTES:
        return list(cards), []
    kinds: dict[tuple[str, ...], list[int]] = {}
    order = list(range(len(cards)))
    random.Random(seed).shuffle(order)
    for place in order:
        for kind in cards[place].strata or {("", "", "", "")}:
            kinds.setdefault(kind, []).append(place)
    taken: set[int] = set()
    answers = used = 0
    turns = [iter(kinds[kind]) for kind in sorted(kinds, key=lambda k: (len(kinds[k]), k))]
    while turns:
        still = []
        for turn in turns:
            chosen = next((place for place in turn if place not in taken), None)
            if chosen is None:
                continue
            still.append(turn)
            card = cards[chosen]
            if answers + card.answers > INLINE_ANSWERS or used + size(card) > INLINE_BYTES:
                continue
            taken.add(chosen)
            answers += card.answers
            used += size(card)
        turns = still
    inline = [card for place, card in enumerate(cards) if place in taken]
    return inline, [card for place, card in enumerate(cards) if place not in taken]


def paginate(
    cards: Sequence[QuestionCard], size: Callable[[QuestionCard], int]
) -> list[list[QuestionCard]]:
    """Cut the rest into pages of at most 300 answers and 900 kB; a card is never split."""
    pages: list[list[QuestionCard]] = []
    answers = used = 0
    for card in cards:
        full = answers + card.answers > INLINE_ANSWERS or used + size(card) > INLINE_BYTES
        if not pages or full:
            pages.append([])
            answers = used = 0
        pages[-1].append(card)
        answers += card.answers
        used += size(card)
    return pages

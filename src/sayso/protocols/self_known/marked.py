"""The long texts of a run to be read: each claim marked by its label.

What marks a claim is told by line style and sign, never by color alone. Topics are drawn with a
seed, each with the texts of every method, so that they can be compared; only what is drawn is read
into memory.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec
from markupsafe import Markup

from sayso.harmless import block, line
from sayso.protocols.self_known.rows import PEOPLE, RESPONSIVE, STAGE, SUPPORT, claim_verdicts
from sayso.protocols.stored import stored_run
from sayso.records import Claim, Generation, Passage, Question, Score, Sentence, Verdict
from sayso.report.answers import INLINE_BYTES, SHOWN_CHARACTERS
from sayso.report.numbers import plain_number
from sayso.report.opening import NO_EXAMPLES, ChosenExamples, Example, example
from sayso.report.page import environment
from sayso.report.sheet import Section
from sayso.storage.run_folder import RunFolder

#: label -> (sign, words, class of the style sheet), in the order of the lines below the words: a
#: wave last, since it reaches into a line below it
CLAIM_MARKS = {
    "S": ("✓", "supported", "c-s"),
    "IR": ("○", "irrelevant", "c-ir"),
    "": ("?", "no label", "c-no"),
    "NS": ("✗", "not supported", "c-ns"),
}
#: at most so many texts on the page, and passages of a claim
MOST_TEXTS, MOST_PASSAGES = 60, 2
#: characters of a claim and of a passage
CLAIM, PASSAGE = 300, 400
#: ways of asking about a claim
WAYS = {"direct": "true?", "qa": "the answer?", "qa_none": "or none?"}


class ReadClaim(NamedTuple):
    """A claim of a text: its number from 1, its label, and where it stands, if anywhere.

    ``known`` is its sentence, how sure the model is, what the model said of it, its evidence.
    """

    number: int
    label: str
    claim: str
    span: tuple[int, int] | None = None
    known: str = ""

    @property
    def mark(self) -> tuple[str, str, str]:
        """Sign, words and class of the label."""
        return CLAIM_MARKS[self.label]


class Piece(NamedTuple):
    """A stretch of text under the same claims: classes of their labels, and claims that end it."""

    text: str
    styles: tuple[str, ...]
    ended: Sequence[ReadClaim]


def pieces_of(text: str, claims: Sequence[ReadClaim]) -> list[Piece]:
    """Cut a text where claims begin and end; the pieces join to it."""
    shown = min(len(text), SHOWN_CHARACTERS)
    placed = [(c.span[0], min(c.span[1], shown), c) for c in claims if c.span and c.span[0] < shown]
    borders = sorted({0, shown, *(at for start, end, _ in placed for at in (start, end))})
    pieces = []
    for start, end in pairwise(borders):
        there = {c.label for first, last, c in placed if first <= start and end <= last}
        styles = tuple(mark[2] for label, mark in CLAIM_MARKS.items() if label in there)
        ended = [c for _, last, c in placed if last == end]
        pieces.append(Piece(block(text[start:end]), styles, ended))
    return pieces


class ShownText(NamedTuple):
    """A text ready to be read; ``counts`` has the marks of its labels and how many there are.

    ``cut`` characters are not shown. ``passages`` are titles and texts.
    """

    method: str
    topic: str
    prompt: str
    text: str
    pieces: list[Piece]
    claims: list[ReadClaim]
    passages: list[tuple[str, str]]
    counts: list[tuple[str, str, str, int]]
    cut: int


def drawn_texts(by_topic: dict[str, list[str]], seed: int, most: int) -> list[str]:
    """Return the ids of texts of topics in a seeded order, whole topics first, up to ``most``."""
    topics = list(by_topic)
    random.Random(seed).shuffle(topics)
    return [target for topic in topics for target in by_topic[topic]][:most]


# ---- what is stored


def _stored(folder: RunFolder, table: str, kind: type[msgspec.Struct]) -> Iterable[Any]:
    return folder.iter(table, kind) if folder.has(table) else ()


def _verdicts(
    folder: RunFolder, stage: str, of: Collection[str] | None = None
) -> dict[str, Verdict]:
    every = _stored(folder, f"verdicts/{stage}", Verdict)
    return {v.target: v for v in every if of is None or v.target in of}


def _questions(folder: RunFolder) -> dict[str, Question]:
    return {q.id: q for q in _stored(folder, "questions", Question)}


def _answering(folder: RunFolder) -> Iterator[tuple[str, str, str]]:
    """Yield id, topic and method of the texts that answer, in their order."""
    verdicts, questions = _verdicts(folder, STAGE), _questions(folder)
    for g in _stored(folder, f"generations/{STAGE}", Generation):
        verdict, q = verdicts.get(g.id), questions.get(g.question)
        if q is not None and verdict is not None and verdict.label == RESPONSIVE:
            yield g.id, q.entity or q.text, g.method


def read_drawn(
    folder: RunFolder, seed: int = 0, most: int = MOST_TEXTS
) -> tuple[list[ShownText], int]:
    """Draw texts of a run that answer; return them and how many there are in all."""
    by_topic: dict[str, list[str]] = defaultdict(list)
    for target, topic, _ in _answering(folder):
        by_topic[topic].append(target)
    drawn = _StoredTexts(folder, drawn_texts(by_topic, seed, most)).texts()
    return list(drawn.values()), sum(map(len, by_topic.values()))


class _StoredTexts:
    """Some texts, in the order of their ids, and what is stored about their claims."""

    def __init__(self, folder: RunFolder, wanted: Sequence[str]) -> None:
        every = _stored(folder, f"generations/{STAGE}", Generation)
        held = {g.id: g for g in every if g.id in wanted}
        self.answers: list[Generation] = [held[target] for target in wanted if target in held]
        self.questions = _questions(folder)
        self.sentences: dict[str, dict[int, Sentence]] = defaultdict(dict)
        for s in _stored(folder, f"sentences/{STAGE}", Sentence):
            if s.generation in held:
                self.sentences[s.generation][s.number] = s
        self.claims: dict[str, list[Claim]] = defaultdict(list)
        for c in _stored(folder, f"claims/{STAGE}", Claim):
            if c.generation in held:
                self.claims[c.generation].append(c)
        mine = {c.id for own in self.claims.values() for c in own}
        self.people, self.checked = (_verdicts(folder, of, mine) for of in (PEOPLE, SUPPORT))
        self.selves = {mode: _verdicts(folder, f"self-{mode}", mine) for mode in WAYS}
        cited = {p for v in self.checked.values() for p in v.evidence[:MOST_PASSAGES]}
        passages = _stored(folder, f"passages/{STAGE}", Passage)
        self.passages: dict[str, Passage] = {p.id: p for p in passages if p.id in cited}
        self.surprise: dict[str, float] = {
            score.target: score.value
            for score in _stored(folder, "scores/claims", Score)
            if score.method == "span_nll" and score.target in mine and score.value is not None
        }

    def texts(self) -> dict[str, ShownText]:
        """Return the texts with their claims marked, by id."""
        return {g.id: self._text(g, self.questions[g.question]) for g in self.answers}

    def _text(self, g: Generation, q: Question) -> ShownText:
        own = self.claims[g.id]
        claims = [self._claim(n, c, g) for n, c in enumerate(own, start=1)]
        number = Counter(c.label for c in claims)
        cited = {p.id: p for c in own for p in self._evidence(c)}
        return ShownText(
            line(g.method, 60) or "–",
            line(q.entity or q.text, 200),
            line(f"{q.context}\n\n{q.text}" if q.context else q.text, 400),
            g.text,
            pieces_of(g.text, claims),
            claims,
            [(line(p.title, 120), line(p.text, PASSAGE)) for p in cited.values()],
            [(*mark, number[label]) for label, mark in CLAIM_MARKS.items() if number[label]],
            max(0, len(g.text) - SHOWN_CHARACTERS),
        )

    def _evidence(self, c: Claim) -> list[Passage]:
        cited = self.checked[c.id].evidence[:MOST_PASSAGES] if c.id in self.checked else ()
        return [self.passages[p] for p in cited if p in self.passages]

    def _claim(self, number: int, c: Claim, g: Generation) -> ReadClaim:
        """Return what is known of a claim; people's labels come before the checker's.

        It stands where its words are, else in its sentence, else nowhere.
        """
        person, checker = self.people.get(c.id), self.checked.get(c.id)
        verdict = person if person and (person.label is not None or not checker) else checker
        label = (verdict.label if verdict else None) or ""
        label = label if label in CLAIM_MARKS else ""
        every = self.sentences[g.id]
        s = every.get(c.sentence)
        spans = [(c.start, c.end), *([(s.start, s.end)] if s else [])]
        span = next((one for one in spans if 0 <= one[0] < one[1] <= len(g.text)), None)
        known = [f"sentence {c.sentence} of {len(every)}" if s else "no sentence"]
        if (surprise := self.surprise.get(c.id)) is not None and surprise >= 0:
            known.append(f"probability of its words {plain_number(math.exp(-surprise))}")
        known += self._said(c.id)
        if titles := [line(p.title, 120) for p in self._evidence(c)]:
            known.append(f"evidence: {'; '.join(titles)}")
        if not label:
            known.append((verdict.problem if verdict else None) or "unchecked")
        if person and checker and verdict is person:
            read = CLAIM_MARKS.get(checker.label or "", CLAIM_MARKS[""])[1]
            known.append(f"label by people; the checker: {read}")
        if span is None:
            known.append("its words are not in the text")
        return ReadClaim(number, label, line(c.text, CLAIM), span, line(" · ".join(known), 600))

    def _said(self, claim: str) -> Iterator[str]:
        """Yield what the model said about a claim in each way of asking."""
        for mode, asked in WAYS.items():
            if v := self.selves[mode].get(claim):
                number = f" ({plain_number(v.number)})" if v.number is not None else ""
                yield f"{asked} {line(v.label or v.problem or 'unread', 40)}{number}"


# ---- what a page shows


def texts_section(folder: RunFolder, seed: int) -> Section:
    """Return the drawn texts with their marked claims, as many as fit on a page."""
    (texts, total), shown, room = read_drawn(folder, seed), list[Markup](), INLINE_BYTES
    parts: Any = environment(__package__).get_template("text.html.j2").module
    for text in texts:
        card = Markup(parts.card(text))
        room -= len(card.encode("utf-8", "replace"))
        if room < 0 and shown:
            break
        shown.append(card)
    marks = dict.fromkeys(c.mark for text in texts for c in text.claims)
    html = Markup(parts.texts(shown, total, marks))
    return Section("answers", "The texts, claim by claim", html=html)


def text_examples(folder: RunFolder, method: str) -> ChosenExamples:
    """Return the texts with the largest, the smallest and the median share of supported claims."""
    answering = [text for text, _, of in _answering(folder) if of == method]
    rated = _rated(folder) if answering else {}
    own = [text for text in answering if text in rated]
    if not own:
        return NO_EXAMPLES
    share = {text: rated[text]["S"] / rated[text].total() for text in own}
    # of equal shares, most claims are the better example
    order = sorted(own, key=lambda text: (-share[text], -rated[text].total()))
    worst = min(order, key=lambda text: share[text])
    chosen = {order[0]: "The best text"}
    chosen.setdefault(worst, "The worst text")
    chosen.setdefault(order[len(order) // 2], "A typical text")
    shown: list[Example] = []
    for target, text in _StoredTexts(folder, [*chosen]).texts().items():
        counts = rated[target]
        note = f"{counts['S']:,} of {counts.total():,} claims are supported."
        wrong = next((c.claim for c in text.claims if c.label == "NS"), "")
        note += f" Not supported, for example: “{wrong}”" if wrong else ""
        shown.append(example(chosen[target], text.topic, "", text.text, note=note))
    rule = (
        "Chosen by the share of supported claims: the largest, the smallest, and the median; if "
        "tied, the text with the most claims."
    )
    return ChosenExamples(shown, rule)


def _rated(folder: RunFolder) -> dict[str, Counter[str]]:
    """Return how many claims of each text are supported, and not; people's labels come first."""
    verdicts = claim_verdicts(stored_run(folder))
    rated: dict[str, Counter[str]] = defaultdict(Counter)
    for c in _stored(folder, f"claims/{STAGE}", Claim):
        if c.id in verdicts and (label := verdicts[c.id].label) in ("S", "NS"):
            rated[c.generation][label] += 1
    return rated

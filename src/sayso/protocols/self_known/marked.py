"""The long texts of a run to be read: each claim marked by its label.

What marks a claim is told by line style and sign, never by color alone. Topics are drawn with a
seed, each with the texts of every method, so that they can be compared.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import msgspec
from markupsafe import Markup

from sayso.harmless import block, line
from sayso.protocols.self_known.rows import PEOPLE, RESPONSIVE, STAGE, SUPPORT
from sayso.protocols.self_known.settings import ASKED
from sayso.records import Claim, Generation, Passage, Question, Score, Sentence, Verdict
from sayso.report.answers import INLINE_BYTES, SHOWN_CHARACTERS
from sayso.report.numbers import plain_number
from sayso.report.opening import NO_EXAMPLES, ChosenExamples, Example, example
from sayso.report.page import environment
from sayso.report.sheet import Section
from sayso.storage.run_folder import RunFolder

Text = TypeVar("Text")
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
    pieces: list[Piece]
    claims: list[ReadClaim]
    passages: list[tuple[str, str]]
    counts: list[tuple[str, str, str, int]]
    cut: int


def drawn_texts(by_topic: Mapping[str, Sequence[Text]], seed: int, most: int) -> list[Text]:
    """Return texts of topics in a seeded order, whole topics first, up to ``most``."""
    topics = list(by_topic)
    random.Random(seed).shuffle(topics)
    return [text for topic in topics for text in by_topic[topic]][:most]


def _stored(folder: RunFolder, table: str, kind: type[msgspec.Struct]) -> Iterable[Any]:
    return folder.iter(table, kind) if folder.has(table) else ()


def _verdicts(folder: RunFolder, stage: str) -> dict[str, Verdict]:
    return {v.target: v for v in _stored(folder, f"verdicts/{stage}", Verdict)}


class MarkedTexts:
    """The texts of a run that answer, and all that is stored about their claims."""

    def __init__(self, folder: RunFolder) -> None:
        questions = {q.id: q for q in _stored(folder, "questions", Question)}
        answer = {t for t, v in _verdicts(folder, STAGE).items() if v.label == RESPONSIVE}
        self.answers: list[tuple[Generation, Question]] = [
            (g, questions[g.question])
            for g in _stored(folder, f"generations/{STAGE}", Generation)
            if g.id in answer and g.question in questions
        ]
        self.sentences: dict[str, dict[int, Sentence]] = defaultdict(dict)
        for s in _stored(folder, f"sentences/{STAGE}", Sentence):
            self.sentences[s.generation][s.number] = s
        self.claims: dict[str, list[Claim]] = defaultdict(list)
        for c in _stored(folder, f"claims/{STAGE}", Claim):
            self.claims[c.generation].append(c)
        self.people, self.checked = (_verdicts(folder, of) for of in (PEOPLE, SUPPORT))
        self.selves = {mode: _verdicts(folder, f"self-{mode}") for mode in ASKED}
        passages = _stored(folder, f"passages/{STAGE}", Passage)
        self.passages: dict[str, Passage] = {p.id: p for p in passages}
        self.surprise: dict[str, float] = {
            score.target: score.value
            for score in _stored(folder, "scores/claims", Score)
            if score.method == "span_nll" and score.value is not None
        }

    def drawn(self, seed: int) -> list[ShownText]:
        """Return texts that are drawn by the seed, with their claims marked."""
        by_topic: dict[str, list[tuple[Generation, Question]]] = defaultdict(list)
        for g, q in self.answers:
            by_topic[q.entity or q.text].append((g, q))
        return [self._text(g, q) for g, q in drawn_texts(by_topic, seed, MOST_TEXTS)]

    def section(self, seed: int) -> Section:
        """Return the drawn texts with their marked claims, as many as fit on a page."""
        texts, shown, room = self.drawn(seed), list[Markup](), INLINE_BYTES
        parts: Any = environment(__package__).get_template("text.html.j2").module
        for text in texts:
            card = Markup(parts.card(text))
            room -= len(card.encode("utf-8", "replace"))
            if room < 0 and shown:
                break
            shown.append(card)
        marks = dict.fromkeys(c.mark for text in texts for c in text.claims)
        html = Markup(parts.texts(shown, len(self.answers), marks))
        return Section("answers", "The texts, claim by claim", html=html)

    def examples(self, method: str) -> ChosenExamples:
        """Return the texts with most, fewest and the median share of supported claims."""
        rated = []
        for g, q in self.answers:
            read = Counter(self._label(c) for c in self.claims[g.id])
            number = read["S"] + read["NS"]
            if g.method == method and number:
                rated.append((read["S"] / number, number, read["S"], g, q))
        if not rated:
            return NO_EXAMPLES
        # of equal shares, most claims are the better example
        rated.sort(key=lambda one: (-one[0], -one[1]))
        worst = min(range(len(rated)), key=lambda at: rated[at][0])
        chosen = {0: "The best text"}
        chosen.setdefault(worst, "The worst text")
        chosen.setdefault(len(rated) // 2, "A typical text")
        shown: list[Example] = []
        for at, what in chosen.items():
            _, number, supported, g, q = rated[at]
            text = self._text(g, q)
            note = f"{supported:,} of {number:,} claims are supported."
            wrong = next((c.claim for c in text.claims if c.label == "NS"), "")
            note += f" Not supported, for example: “{wrong}”" if wrong else ""
            shown.append(example(what, text.topic, "", g.text, note=note))
        rule = (
            "Chosen by the share of supported claims: the largest, the smallest, and the median; "
            "if tied, the text with the most claims."
        )
        return ChosenExamples(shown, rule)

    def _text(self, g: Generation, q: Question) -> ShownText:
        claims = [self._claim(n, c, g) for n, c in enumerate(self.claims[g.id], start=1)]
        number = Counter(c.label for c in claims)
        cited = {p.id: p for c in self.claims[g.id] for p in self._evidence(c)}
        return ShownText(
            line(g.method, 60) or "–",
            line(q.entity or q.text, 200),
            line(f"{q.context}\n\n{q.text}" if q.context else q.text, 400),
            pieces_of(g.text, claims),
            claims,
            [(line(p.title, 120), line(p.text, PASSAGE)) for p in cited.values()],
            [(*mark, number[label]) for label, mark in CLAIM_MARKS.items() if number[label]],
            max(0, len(g.text) - SHOWN_CHARACTERS),
        )

    def _label(self, c: Claim) -> str:
        """Return the label of a claim, that of people first; "" where it has none."""
        given = (v.label for v in (self.people.get(c.id), self.checked.get(c.id)) if v)
        label = next((label for label in given if label is not None), "")
        return label if label in CLAIM_MARKS else ""

    def _evidence(self, c: Claim) -> list[Passage]:
        cited = self.checked[c.id].evidence[:MOST_PASSAGES] if c.id in self.checked else ()
        return [self.passages[p] for p in cited if p in self.passages]

    def _claim(self, number: int, c: Claim, g: Generation) -> ReadClaim:
        """Return what is known of a claim, which stands at its words or else its sentence."""
        person, checker = self.people.get(c.id), self.checked.get(c.id)
        label, every = self._label(c), self.sentences[g.id]
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
            known += [v.problem for v in (checker, person) if v and v.problem] or ["unchecked"]
        if person and person.label and checker:
            read = CLAIM_MARKS.get(checker.label or "", CLAIM_MARKS[""])[1]
            known.append(f"label by people; the checker: {read}")
        if span is None:
            known.append("its words are not in the text")
        return ReadClaim(number, label, line(c.text, CLAIM), span, line(" · ".join(known), 600))

    def _said(self, claim: str) -> Iterator[str]:
        """Yield what the model said about a claim in each way of asking."""
        for mode, asked in ASKED.items():
            if v := self.selves[mode].get(claim):
                number = f" ({plain_number(v.number)})" if v.number is not None else ""
                yield f"{asked} {line(v.label or v.problem or 'unread', 40)}{number}"

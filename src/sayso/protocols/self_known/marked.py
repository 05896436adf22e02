"""The long texts of a run to be read: each claim marked by its verdict and how sure the model is.

What marks a claim is told by line style and sign, never by color alone. Topics are drawn with a
seed, each with the texts of every method, so that they can be compared; only what is drawn is read
into memory.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec
from markupsafe import Markup

from sayso.harmless import block, line
from sayso.protocols.self_known.rows import PEOPLE, RESPONSIVE, STAGE, SUPPORT
from sayso.records import Claim, Generation, Passage, Question, Score, Sentence, Verdict
from sayso.report.answers import INLINE_BYTES, SHOWN_CHARACTERS
from sayso.report.numbers import plain_number
from sayso.report.opening import NO_EXAMPLES, ChosenExamples, Example, example
from sayso.report.page import environment
from sayso.report.sheet import Section
from sayso.storage.run_folder import RunFolder

#: label -> (sign, words, class of the style sheet)
CLAIM_MARKS = {
    "S": ("✓", "supported", "c-s"),
    "NS": ("✗", "not supported", "c-ns"),
    "IR": ("○", "irrelevant", "c-ir"),
    "": ("?", "no label", "c-no"),
}
#: how lines are stacked below the words: a wave last, since it reaches into a line below it
STACKED = ("S", "IR", "", "NS")
#: steps of shading
LEVELS = 10
#: at most so many texts on the page, claims of a text, passages of a claim
MOST_TEXTS, MOST_CLAIMS, MOST_PASSAGES = 60, 80, 2
#: characters of a claim and of a passage
CLAIM, PASSAGE = 300, 400
#: scores that say how sure the model is, the one to use first; and what they are
SURE = {"span_nll": "probability of its words", "p_true": "P(true), asked of the claim"}
#: ways of asking about a claim, and replies
WAYS = {"direct": "true?", "qa": "the answer?", "qa_none": "or none?"}
REPLIES = {"yes": "yes", "no": "no", "none": "none of these"}


class Note(NamedTuple):
    """One claim of a text: its number from 1, verdict, place, and what is known of it."""

    number: int
    label: str
    claim: str
    place: str = ""
    self_said: str = ""
    sure: float | None = None
    level: int = -1
    passages: tuple[Passage, ...] = ()
    remark: str = ""

    @property
    def mark(self) -> tuple[str, str, str]:
        """Sign, words and class of the verdict."""
        return CLAIM_MARKS[self.label]

    @property
    def shown_sure(self) -> str:
        """How sure the model is, as a number or a dash."""
        return plain_number(self.sure)

    @property
    def titles(self) -> list[str]:
        """The titles of the passages."""
        return [line(passage.title, 120) for passage in self.passages]


class ClaimPiece(NamedTuple):
    """A stretch of text under the same claims: classes of their verdicts, and a level of shade."""

    text: str
    styles: tuple[str, ...] = ()
    level: int = -1


class ClaimGroup(NamedTuple):
    """Claims whose words overlap; no notes: text without a claim."""

    pieces: list[ClaimPiece]
    notes: Sequence[Note] = ()

    @property
    def passages(self) -> list[tuple[str, str]]:
        """Title and text of all passages that these claims rest on, each once."""
        cited = {p.id: p for note in self.notes for p in note.passages}
        return [(line(p.title, 120), line(p.text, PASSAGE)) for p in cited.values()]


def claim_groups(
    text: str, notes: Sequence[Note], spans: Sequence[tuple[int, int] | None]
) -> list[ClaimGroup]:
    """Cut a text into runs of overlapping claims and what lies between; the pieces join to it."""
    shown = min(len(text), SHOWN_CHARACTERS)
    placed = sorted(
        (span[0], min(span[1], shown), at)
        for at, span in enumerate(spans)
        if span is not None and span[0] < shown
    )
    runs: list[list[tuple[int, int, int]]] = []
    end = -1
    for span in placed:
        if not runs or span[0] >= end:
            runs.append([])
            end = -1
        runs[-1].append(span)
        end = max(end, span[1])
    every: list[ClaimGroup] = []
    at = 0
    for run in runs:
        if at < run[0][0]:
            every.append(ClaimGroup([ClaimPiece(block(text[at : run[0][0]]))]))
        own = [notes[n] for n in sorted(n for _, _, n in run)]
        every.append(ClaimGroup(list(_pieces(text, run, notes)), own))
        at = max(end for _, end, _ in run)
    if at < shown:
        every.append(ClaimGroup([ClaimPiece(block(text[at:shown]))]))
    return every


def _pieces(
    text: str, run: Sequence[tuple[int, int, int]], notes: Sequence[Note]
) -> Iterator[ClaimPiece]:
    borders = sorted({border for start, end, _ in run for border in (start, end)})
    for start, end in pairwise(borders):
        over = [notes[n] for first, last, n in run if first <= start and end <= last]
        labels = {note.label for note in over}
        styles = tuple(CLAIM_MARKS[label][2] for label in STACKED if label in labels)
        level = min((note.level for note in over if note.level >= 0), default=-1)
        yield ClaimPiece(block(text[start:end]), styles, level)


# ---- what is stored


def _stored(folder: RunFolder, table: str, kind: type[msgspec.Struct]) -> Iterable[Any]:
    return folder.iter(table, kind) if folder.has(table) else ()


def _verdicts(
    folder: RunFolder, stage: str, of: Collection[str] | None = None
) -> dict[str, Verdict]:
    every = _stored(folder, f"verdicts/{stage}", Verdict)
    return {v.target: v for v in every if of is None or v.target in of}


def _answering(folder: RunFolder, questions: dict[str, Question]) -> Iterator[tuple[str, str, str]]:
    """Yield id, topic and method of the texts that answer, in their order."""
    verdicts = _verdicts(folder, STAGE)
    for g in _stored(folder, f"generations/{STAGE}", Generation):
        verdict, q = verdicts.get(g.id), questions.get(g.question)
        if q is not None and verdict is not None and verdict.label == RESPONSIVE:
            yield g.id, q.entity or q.text, g.method


class ShownText(NamedTuple):
    """One text ready to be read; ``counts`` has the verdict's mark and how many there are."""

    method: str
    topic: str
    prompt: str
    excerpt: str
    errors: str
    groups: list[ClaimGroup]
    notes: list[Note]
    counts: list[tuple[str, str, str, int]]
    cut: int
    more: int


class DrawnTexts(NamedTuple):
    """The drawn texts, how many there are in all, and what shades them."""

    drawn: list[ShownText]
    total: int
    shade: str


def read_drawn(folder: RunFolder, seed: int = 0, most: int = MOST_TEXTS) -> DrawnTexts:
    """Draw texts of a run that answer, and return them with all that is known of their claims."""
    questions = {q.id: q for q in _stored(folder, "questions", Question)}
    by_topic: dict[str, list[str]] = defaultdict(list)
    for target, topic, _ in _answering(folder, questions):
        by_topic[topic].append(target)
    stored = _StoredClaims(folder, drawn_texts(by_topic, seed, most))
    return DrawnTexts(
        [stored.text(g, questions[g.question]) for g in stored.texts],
        sum(map(len, by_topic.values())),
        SURE.get(stored.shade, ""),
    )


def drawn_texts(by_topic: dict[str, list[str]], seed: int, most: int) -> list[str]:
    """Return the ids of texts of topics in a seeded order, whole topics first, up to ``most``."""
    topics = list(by_topic)
    random.Random(seed).shuffle(topics)
    return [target for topic in topics for target in by_topic[topic]][:most]


class _StoredClaims:
    """Some texts, in the order of their ids, and what is stored about their claims."""

    def __init__(self, folder: RunFolder, wanted: Sequence[str]) -> None:
        held = {
            g.id: g for g in _stored(folder, f"generations/{STAGE}", Generation) if g.id in wanted
        }
        self.texts: list[Generation] = [held[target] for target in wanted if target in held]
        self.claims: dict[str, list[Claim]] = defaultdict(list)
        self.sentences: dict[str, dict[int, Sentence]] = defaultdict(dict)
        for s in _stored(folder, f"sentences/{STAGE}", Sentence):
            if s.generation in held:
                self.sentences[s.generation][s.number] = s
        for c in _stored(folder, f"claims/{STAGE}", Claim):
            if c.generation in held:
                self.claims[c.generation].append(c)
        mine = {c.id for own in self.claims.values() for c in own}
        self.people, self.checked = (_verdicts(folder, of, mine) for of in (PEOPLE, SUPPORT))
        self.selves = {mode: _verdicts(folder, f"self-{mode}", mine) for mode in WAYS}
        cited = {p for v in self.checked.values() for p in v.evidence[:MOST_PASSAGES]}
        passages = _stored(folder, f"passages/{STAGE}", Passage)
        self.passages: dict[str, Passage] = {p.id: p for p in passages if p.id in cited}
        values: dict[str, dict[str, float]] = defaultdict(dict)
        for score in _stored(folder, "scores/claims", Score):
            if score.target in mine and score.value is not None:
                values[score.method][score.target] = score.value
        self.shade = next((name for name in SURE if values[name]), "")
        self.unsure = values[self.shade]
        self.ranked = sorted(sure for c in self.unsure if (sure := self.sure(c)) is not None)

    def sure(self, claim: str) -> float | None:
        """Return how sure the model is of a claim, 0..1."""
        value = self.unsure.get(claim)
        if value is None or math.isnan(value):
            return None
        sure = math.exp(-value) if self.shade == "span_nll" else 1 - value
        return min(1.0, max(0.0, sure))

    def level(self, sure: float | None) -> int:
        """Return the step of shading, by rank among the claims shown: equal ones are equal."""
        if sure is None:
            return -1
        low, high = bisect_left(self.ranked, sure), bisect_right(self.ranked, sure)
        return min(LEVELS - 1, (low + high) * LEVELS // (2 * len(self.ranked)))

    def notes(self, g: Generation) -> list[Note]:
        """Return what is known of the claims of a text."""
        return [self.note(at, c, g) for at, c in enumerate(self.claims[g.id][:MOST_CLAIMS], 1)]

    def text(self, g: Generation, q: Question) -> ShownText:
        """Return one text with its claims marked."""
        own, notes = self.claims[g.id], self.notes(g)
        number = Counter(note.label for note in notes)
        return ShownText(
            line(g.method, 60),
            line(q.entity or q.text, 200),
            line(f"{q.context}\n\n{q.text}" if q.context else q.text, 400),
            line(g.text, 90),
            "some" if number["NS"] else "none",
            claim_groups(g.text, notes, [self.span(c, g) for c in own[:MOST_CLAIMS]]),
            notes,
            [(*mark, number[label]) for label, mark in CLAIM_MARKS.items() if number[label]],
            max(0, len(g.text) - SHOWN_CHARACTERS),
            len(own) - len(notes),
        )

    def span(self, c: Claim, g: Generation) -> tuple[int, int] | None:
        """Return where a claim stands in its text: its words, else its sentence, else nowhere."""
        s = self.sentences[g.id].get(c.sentence)
        for start, end in ((c.start, c.end), (s.start, s.end) if s else (0, 0)):
            if 0 <= start < end <= len(g.text):
                return start, end
        return None

    def note(self, number: int, c: Claim, g: Generation) -> Note:
        """Return what is known of a claim; people's labels come before the checker's."""
        person, checker = self.people.get(c.id), self.checked.get(c.id)
        verdict = person if person and (person.label is not None or not checker) else checker
        label = verdict.label if verdict and verdict.label in CLAIM_MARKS else ""
        remarks = [] if label else [(verdict.problem if verdict else None) or "unchecked"]
        if person and checker and verdict is person:
            read = CLAIM_MARKS.get(checker.label or "", CLAIM_MARKS[""])[1]
            remarks.append(f"people; the checker: {read}")
        if self.span(c, g) is None:
            remarks.append("its words are not in the text")
        every, sure = self.sentences[g.id], self.sure(c.id)
        place = f"sentence {c.sentence} of {len(every)}" if c.sentence in every else "no sentence"
        cited = (checker.evidence if checker else ())[:MOST_PASSAGES]
        return Note(
            number, label or "", line(c.text, CLAIM), place, self.answers(c.id), sure,
            self.level(sure), tuple(self.passages[p] for p in cited if p in self.passages),
            line("; ".join(remarks), 200),
        )  # fmt: skip

    def answers(self, claim: str) -> str:
        """Return what the model said about a claim in each way of asking."""
        said = ((short, self.selves[mode].get(claim)) for mode, short in WAYS.items())
        return " · ".join(
            f"{short} {REPLIES.get(v.label or '', line(v.problem or 'unread', 40))}"
            + (f" ({plain_number(v.number)})" if v.number is not None else "")
            for short, v in said
            if v is not None
        )


# ---- what a page shows


def texts_section(folder: RunFolder, seed: int) -> Section:
    """Return the drawn texts with their marked claims, as many as fit on a page."""
    texts, shown, room = read_drawn(folder, seed), list[Markup](), INLINE_BYTES
    parts: Any = environment(__package__).get_template("text.html.j2").module
    for text in texts.drawn:
        card = Markup(parts.card(text))
        room -= len(card.encode("utf-8", "replace"))
        if room < 0 and shown:
            break
        shown.append(card)
    there = {note.label for text in texts.drawn for note in text.notes}
    methods = list(dict.fromkeys(text.method for text in texts.drawn))
    marks = [mark for label, mark in CLAIM_MARKS.items() if label in there]
    html = Markup(parts.texts(shown, texts, methods, marks))
    return Section("answers", "The texts, claim by claim", html=html)


def text_examples(folder: RunFolder, method: str) -> ChosenExamples:
    """Return the texts with the largest, the smallest and the median share of supported claims."""
    questions = {q.id: q for q in _stored(folder, "questions", Question)}
    rated = _rated(folder)
    own = [text for text, _, of in _answering(folder, questions) if of == method and text in rated]
    if not own:
        return NO_EXAMPLES
    share = {text: rated[text]["S"] / rated[text].total() for text in own}
    order = sorted(own, key=lambda text: (-share[text], -rated[text].total()))
    chosen = {order[0]: "The best text"}
    worst = min(order, key=lambda text: (share[text], -rated[text].total()))
    chosen.setdefault(worst, "The worst text")
    chosen.setdefault(order[len(order) // 2], "A typical text")
    stored = _StoredClaims(folder, [*chosen])
    shown: list[Example] = []
    for text in stored.texts:
        counts, q = rated[text.id], questions[text.question]
        note = f"{counts['S']:,} of {counts.total():,} claims are supported."
        wrong = next((one.claim for one in stored.notes(text) if one.label == "NS"), "")
        note += f" Not supported, for example: “{wrong}”" if wrong else ""
        shown.append(example(chosen[text.id], q.entity or q.text, "", text.text, note=note))
    rule = (
        "Chosen by the share of supported claims: the largest, the smallest, and the median; if "
        "tied, the text with the most claims."
    )
    return ChosenExamples(shown, rule)


def _rated(folder: RunFolder) -> dict[str, Counter[str]]:
    """Return how many claims of each text are supported, and not; people's labels come first."""
    labels = {target: v.label for target, v in _verdicts(folder, SUPPORT).items()}
    said = _verdicts(folder, PEOPLE).items()
    labels |= {target: v.label for target, v in said if v.label is not None}
    rated: dict[str, Counter[str]] = defaultdict(Counter)
    for c in _stored(folder, f"claims/{STAGE}", Claim):
        if (label := labels.get(c.id)) in ("S", "NS"):
            rated[c.generation][label] += 1
    return rated

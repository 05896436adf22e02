"""How surely is something said? Markers of doubt get a reach; an aspect's stance follows from it.

Reaches (English). A belief ("I think", "it is said that") at the head of a clause reaches the
clauses joined to it by "and" or a relative pronoun, up to "but", "although" or a semicolon; in the
middle or at the end only its own clause. A modal reaches its clause. An adverb beside the verb
reaches its clause, further right only what follows it. A marker alone in parentheses reaches the
phrase before it. A statement of ignorance reaches the aspects its words name ("I am not sure
when"); where it names none, the rest of its sentence, or alone the sentence before it, and at the
beginning of an answer everything. A disclaimer about the information as a whole ("please verify
these details", "I'm not sure about any of this") reaches everything in the answer wherever it
stands; a closing offer of more help is no marker.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from sayso.annotate.asking import addressed, is_question
from sayso.annotate.gaps import Gap, alone, withhold
from sayso.annotate.marks import find
from sayso.annotate.reach import Hedge, weaken
from sayso.annotate.sentences import Span, clauses, plain, sentences
from sayso.annotate.syntax import NAMES, WH_WORD, empty, parenthesis
from sayso.annotate.talk import holds_new
from sayso.annotate.withheld import disclaimer, questions_itself


class Reading(NamedTuple):
    """A text with its sentences, clauses and everything in it that weakens or withholds."""

    text: str
    sentences: tuple[Span, ...]
    clauses: tuple[tuple[Span, ...], ...]
    hedges: tuple[Hedge, ...]
    gaps: tuple[Gap, ...]
    questions: tuple[Span, ...]
    asks: tuple[Span, ...]

    def hedged(self, start: int, end: int) -> bool:
        """Whether a hedge reaches the characters ``start:end``."""
        return any(h.low < end and start < h.high for h in self.hedges)

    def silent(self, start: int, end: int) -> bool:
        """Whether ``start:end`` lies where nothing is asserted."""
        return any(s.start <= start and end <= s.end for s in self.silences())

    def silences(self) -> list[Span]:
        """The stretches that assert nothing: ignorance, refusals, questions back."""
        return [g.silent for g in self.gaps] + list(self.questions)


def _only_judges(text: str, sentence: Span, marked: list[Span]) -> bool:
    """Whether a sentence says nothing but how sure another one is: "Just a guess."."""
    kept, at = [], sentence.start
    for mark in marked:
        kept.append(text[at : mark.start])
        at = max(at, mark.end)
    rest = " ".join([*kept, text[at : sentence.end]])
    mine = _MINE.search(text, *sentence)
    if _AT_LEAST.match(text, *sentence):
        return True
    return questions_itself(rest, frozenset(), frozenset()) or (
        mine is not None and not holds_new(rest, frozenset(), frozenset())
    )


def _joined(gaps: list[Gap], sentence: Span) -> list[Gap]:
    """Let a bare "because I don't know" be about what the sentence's other gaps name."""
    here = [g for g in gaps if g.start >= sentence.start]
    named = [g for g in here if not empty(WH_WORD.sub(" ", g.about))]
    if len(here) < 2 or not named or any(g.kind == "refusal" for g in here):
        return gaps
    return [
        g._replace(about=named[0].about, whole=named[0].whole)
        if g in here and g.kind == "ignorance" and empty(WH_WORD.sub(" ", g.about))
        else g
        for g in gaps
    ]


def _beside_value(text: str, sentence: Span, gap: Gap) -> bool:
    """Whether a gap is a bare comment in parentheses behind a value: "Derby (unconfirmed)"."""
    inside = parenthesis(text, sentence, gap.start, gap.end)
    if inside is None or gap.kind != "ignorance" or gap.whole or gap.high > inside.start:
        return False
    said = text[gap.low : gap.high]
    return empty(WH_WORD.sub(" ", gap.about)) and (
        NAMES.search(f" {said}") is not None or holds_new(said, frozenset(), frozenset())
    )


#: "At least that is where I believe she lives": says again what stands before.
_AT_LEAST = re.compile(
    r"\W*(?:or\s+rather|at\s+least),?\s+(?:that|this|it|so)\b|"
    r"\W*(?:that|this|it)(?:'s|\s+is|\s+was)\s+(?:at\s+least\s+)?(?:where|what|when|who|how)\b",
    re.I,
)
_MINE = re.compile(r"\b(?:I|my|me|myself)\b", re.I)


@lru_cache(maxsize=2048)
def read(text: str, names: tuple[str, ...] = ()) -> Reading:
    """Find everything in ``text`` that weakens or withholds, with its reach.

    ``names`` are titles and golds in which a marker word is not a marker ("Maybe Happy Ending").
    Never raises; linear in the length of the text.
    """
    text = plain(text)
    spans = sentences(text)
    where = tuple(tuple(clauses(text, s)) or (s,) for s in spans)
    hedges: list[Hedge] = []
    gaps: list[Gap] = []
    questions: list[Span] = []
    asks: list[Span] = []
    said: Span | None = None
    asked_aloud: Span | None = None
    for s, sentence in enumerate(spans):
        words = text[sentence.start : sentence.end]
        to_user = addressed(words, alone=len(spans) == 1)
        if to_user is not None:
            whole = to_user.how == "offer" or is_question(words)
            asked_aloud = sentence if to_user.how in ("question", "guess") else asked_aloud
            if to_user.how == "guess":
                hedges.append(Hedge(sentence.end - 1, sentence.end, *sentence))
            else:
                at = sentence.start + to_user.at
                clause = ([c for c in where[s] if c.start <= at] or [where[s][0]])[-1]
                questions.append(sentence if whole else clause)
            if to_user.how == "ask":
                asks.append(sentence)
            if whole and to_user.how != "guess":
                continue
        general = disclaimer(text, sentence)
        if general is not None and (general != sentence or len(spans) > 1):
            gaps.append(Gap("caution", *general, "", 0, len(text), True, general))
            if general == sentence:
                continue
        marked: list[Span] = []
        for found in find(text, sentence, names):
            if general is not None and general.start <= found.start < general.end < sentence.end:
                continue
            if found.kind in ("doubt", "predicate", "refusal", "disclaimer"):
                gap = withhold(text, where, s, sentence, found, said)
                if gap is not None and _beside_value(text, sentence, gap):
                    hedges.append(Hedge(gap.start, gap.end, gap.low, gap.silent.end))
                elif gap is not None:
                    gaps.append(gap)
            else:
                hedges.append(weaken(text, sentence, where[s], found))
                marked.append(Span(found.start, found.end))
        if marked and _only_judges(text, sentence, marked):
            # What opens an answer is said of all of it.
            about = said or Span(sentence.start, len(text))
            hedges.append(Hedge(*marked[0], *about))
            continue
        if s and asked_aloud == spans[s - 1]:
            # "Which composer worked on it? I couldn't tell you."
            topic = text[slice(*spans[s - 1])]
            gaps = [
                g._replace(about=f"{topic} {g.about}") if g.start >= sentence.start else g
                for g in gaps
            ]
        gaps = _joined(gaps, sentence)
        here = [g.silent for g in gaps if g.start >= sentence.start]
        silent = all(any(c.start >= g.start and c.end <= g.end for g in here) for c in where[s])
        if not silent:
            said = sentence
        elif here:
            reach = (sentence, True) if said is None else (said, False)
            gaps[-len(here) :] = [alone(g, *reach) for g in gaps[-len(here) :]]
    return Reading(text, spans, where, tuple(hedges), tuple(gaps), tuple(questions), tuple(asks))

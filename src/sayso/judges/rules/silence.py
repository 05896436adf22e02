"""Whether an answer gives no value, as far as that can be told without learning.

What a learned reader cannot know is what a text leaves out. A clause that says of what is asked,
and of nothing else, that it is unknown or does not exist states no value; a sentence that says that
a source is silent states none either; a text that only declines an idiom ("I cannot say enough good
things about it") withholds nothing. The words are in ``judges/data/lexicon.txt`` ([silence]).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise

import numpy as np

from sayso.judges.english.families import family_stem
from sayso.judges.english.lexicon import lexicon_rows, lexicon_words, written_out
from sayso.judges.patterns import regex
from sayso.judges.rules.reading import (
    FUNCTION,
    STANCES,
    AskedAspect,
    CueMark,
    Sentence,
    has_kind,
    marks_of,
)
from sayso.metrics.arrays import Floats
from sayso.records import Stance

_SPEAKER = lexicon_words("pronouns", "judge")
#: words that a refusal points with, at what it was asked for or at what it will not do
_POINTING = lexicon_words("talk", "judge.pointing")
_WITHHOLDING = ("ignorant", "policy", "ask")
_NEGATIONS = lexicon_words("negations", "silence")
#: words between two clauses, of which one may say what the other leaves open
_TURNS = frozenset({",", ";", ":", "(", ")", "—", "–", ".", "!", "?"}).union(
    lexicon_words("turns", "silence")
)
_FIRST_VERB = r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b"
#: a question whose answer is yes or no, and one whose answer may also be one of its own words
_YES_OR_NO = regex(_FIRST_VERB, re.I)
_CLOSED = regex(rf"\bor\b|{_FIRST_VERB}", re.I)
#: words before what is counted that count to zero
_NONE = frozenset({"no", "zero"})


@cache
def _listed(name: str) -> frozenset[str]:
    """Return the words of a row of [silence]."""
    rows = (row.partition(": ") for row in lexicon_rows("silence"))
    return frozenset(word for own, _, words in rows if own == name for word in words.split())


@cache
def _sayings(name: str) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return the phrases of a row of [silence] by their first words, the longest first."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for row in lexicon_rows("silence"):
        own, _, phrases = row.partition(": ")
        for phrase in phrases.split(" | ") if own == name else ():
            words = tuple(part for word in phrase.split() for part in written_out(word))
            found.setdefault(words[0], []).append(words)
    return {first: tuple(sorted(own, key=len, reverse=True)) for first, own in found.items()}


def _said(row: Sentence, name: str) -> Iterator[CueMark]:
    """Yield where phrases of a row of [silence] stand; "not" may stand before an adverb."""
    table, at = _sayings(name), 0
    if table.keys().isdisjoint([word.text for word in row]):
        return
    while at < len(row):
        ends = (_end_of(row, at, phrase) for phrase in table.get(row[at].text, ()))
        end = next((end for end in ends if end is not None), None)
        if end is not None:
            yield CueMark(at, end, name)
        at = end or at + 1


def _end_of(row: Sentence, at: int, phrase: tuple[str, ...]) -> int | None:
    for i, part in enumerate(phrase):
        if i == 1 and phrase[0] == "not":
            while at < len(row) and row[at].text != part and row[at].text in _listed("plain"):
                at += 1
        if at >= len(row) or row[at].text != part:
            return None
        at += 1
    return at


# ---- what is said of the thing asked


def without_value(chances: Floats, rows: Sequence[Sentence], aspect: AskedAspect) -> Floats:
    """Return the chances of the stances; none of stating where a text states nothing.

    Where another clause gives a value, the one that calls it unknown makes it a hedge. A text that
    first says that what is asked about does not exist states nothing by what it adds.
    """
    if _answers_by_denial(rows, aspect):
        return _only(chances, ("committed", "hedged"))
    if _is_closed(aspect.question):
        return chances
    if len(rows) == 1 and _is_null(rows[0], aspect):
        return _only(chances, _withheld(rows))
    if _telling_nothing().isdisjoint([word.text for row in rows for word in row]):
        return chances
    withheld = _withheld(rows)
    parts = [(clause, row) for row in rows for clause in _clauses(row)]
    clauses = [clause for clause, _ in parts]
    kinds = [_silent(clause, row, aspect) for clause, row in parts]
    silent = [kind for kind in kinds if kind]
    if not silent:
        if any(_source_is_silent(row, aspect) for row in rows):
            told = [row for row in rows if not _source_is_silent(row, aspect)]
            if not any(_tells(row, aspect) for row in told):
                return _only(chances, withheld)
        return chances
    tells = [not kind and _tells(c, aspect) for c, kind in zip(clauses, kinds, strict=True)]
    told = [clause for clause, value in zip(clauses, tells, strict=True) if value]
    if "absent" in silent and "doubted" not in silent:
        if any(tells[: kinds.index("absent")]):
            return chances  # "Ada Bo wrote it. There is no book of hers besides."
        told = [c for c in told if _asked_in(c, aspect) and not _denies(c)]
    return _only(chances, ("hedged", *withheld) if told else withheld)


@lru_cache(maxsize=8192)
def _is_closed(question: str) -> bool:
    return _CLOSED.search(question) is not None


def _answers_by_denial(rows: Sequence[Sentence], aspect: AskedAspect) -> bool:
    """Whether "no" is the answer: to a question of yes or no, or to how many there are.

    A text that also speaks of not knowing, of what it may say, or asks back, answers nothing by it.
    """
    if any(m.kind in ("ignorant", "policy", "ask") for row in rows for m in marks_of(row)):
        return False
    if _YES_OR_NO.search(aspect.question):
        return any(map(_denies, rows))
    return aspect.kind == "number" and any(
        word.text in _NONE and not after.name and family_stem(after.text) in aspect.cues
        for row in rows
        for word, after in pairwise(row)
    )


@cache
def _telling_nothing() -> frozenset[str]:
    """Return the words of which a text has one that says nothing of what is asked."""
    first = [*_sayings("doubted"), *_sayings("absent")]
    return _listed("existing") | _listed("sources") | frozenset(first)


def _withheld(rows: Sequence[Sentence]) -> list[Stance]:
    """Return how a text without a value may be meant; it declines or asks by words that do."""
    kinds = {mark.kind for row in rows for mark in marks_of(row)}
    cues: dict[str, Stance] = {"policy": "refused_by_policy", "ask": "asked_back"}
    return ["abstained", *(stance for kind, stance in cues.items() if kind in kinds)]


def _denies(clause: Sentence) -> bool:
    return any(word.text in _NEGATIONS for word in clause)


def _only(chances: Floats, stances: Sequence[Stance]) -> Floats:
    """Return the chances with no others than those of some stances."""
    kept = chances * np.isin(STANCES[: len(chances)], [*stances, "omitted"])
    return np.asarray(kept / kept.sum(), dtype=np.float64)


def _clauses(row: Sentence) -> Iterator[Sentence]:
    """Yield the parts of a sentence between commas, brackets and words that turn it."""
    low = 0
    for at, word in enumerate(row):
        if word.text in _TURNS:
            if at > low:
                yield row[low:at]
            low = at + 1
    if low < len(row):
        yield row[low:]


def _asked_in(row: Sentence, aspect: AskedAspect) -> bool:
    """Whether words name the relation that is asked for: "its capital", not only the subject."""
    return any(family_stem(word.text) in aspect.cues for word in row)


def _silent(clause: Sentence, row: Sentence, aspect: AskedAspect) -> str:
    """Return whether a clause says of what is asked that it is "doubted" or "absent"; else "".

    It says no more: besides the phrase only words of the question, small words, and nouns for the
    kind of thing that is asked for.
    """
    if not _is_whole(clause, row) or any(_no_doubt(clause, mark) for mark in marks_of(clause)):
        return ""
    for kind in ("doubted", "absent"):
        marks = [m for m in _said(clause, kind) if not _is_asked(clause, m, aspect)]
        if kind == "absent":
            marks += _no_such(clause)
            if aspect.kind == "number":
                continue  # "There are no moons" counts them
        elif clause[0].text in _listed("persons") and (
            aspect.kind != "person" or clause[0].text in _SPEAKER
        ):
            continue  # "He is unknown" says nothing of a date
        if marks and not _rest(clause, marks, aspect, kind):
            return kind
    return ""


def _no_doubt(clause: Sentence, mark: CueMark) -> bool:
    """Whether a cue denies doubt, not a thing: "There's no question about it"."""
    return mark.kind == "firm" and _denies(clause[mark.start : mark.end])


def _no_such(clause: Sentence) -> list[CueMark]:
    """Return where a clause denies that something exists: "No country named Ambria exists"."""
    spots = [at for at, word in enumerate(clause) if word.text in _listed("existing")]
    return [CueMark(at, at + 1, "absent") for at in spots if _denies(clause)]


def _is_whole(clause: Sentence, row: Sentence) -> bool:
    """Whether a clause is a statement of its own, not a part of a list: "..., and the unknown"."""
    words = sum(word.raw[0].isalnum() for word in row)
    return len(clause) == words or any(word.text in _listed("verbs") for word in clause)


def _is_asked(clause: Sentence, mark: CueMark, aspect: AskedAspect) -> bool:
    """Whether a phrase only takes up a word of the question: "Which fictional country ...?"."""
    words = clause[mark.start : mark.end]
    return any(w.text not in FUNCTION and family_stem(w.text) in aspect.asked for w in words)


@cache
def _plain_words(kind: str, things: bool) -> frozenset[str]:
    """Return words that say nothing beside a phrase, where a kind of value is asked for."""
    plain = _listed("plain") | _listed(kind)
    return plain | _listed("things") if things else plain


@cache
def _other_nouns() -> frozenset[str]:
    """Return the nouns for kinds of things."""
    others = ("date", "place", "person", "number", "others")
    return frozenset[str]().union(*map(_listed, others))


def _rest(clause: Sentence, marks: Sequence[CueMark], aspect: AskedAspect, kind: str) -> list[str]:
    """Return what a clause says besides some phrases that could be a value or another subject."""
    cued = {at for mark in marks for at in range(mark.start, mark.end)}
    plain, of_others = _plain_words(aspect.kind, kind == "absent"), _other_nouns()
    rest = []
    for at, word in enumerate(clause):
        if at in cued or not word.raw[0].isalnum() or word.text in plain:
            continue
        if family_stem(word.text) in aspect.asked:
            continue
        if word.text not in FUNCTION or word.text in of_others:
            rest.append(word.text)
    return rest


def _is_null(row: Sentence, aspect: AskedAspect) -> bool:
    """Whether all that is written is a word for nothing; "none" counts to zero, too."""
    words = [word.text for word in row if word.raw[0].isalnum()]
    return len(words) == 1 and words[0] in _listed("null") and aspect.kind != "number"


def _tells(row: Sentence, aspect: AskedAspect) -> bool:
    """Whether words may hold a value of the kind asked for."""
    if aspect.kind != "any":
        return has_kind(row, aspect)
    marks = marks_of(row)
    return bool(_rest(row, marks, aspect, "absent"))


# ---- what is said of a source


def _source_is_silent(row: Sentence, aspect: AskedAspect) -> bool:
    """Whether a sentence says that a text does not hold something, and gives no value.

    "isn't included in the materials", "the passage does not say", "none of the data relate to".
    """
    texts = [w.text for w in row]
    sources = [
        at
        for at, text in enumerate(texts)
        if text in _listed("sources") and family_stem(text) not in aspect.asked
    ]
    denials = [at for at, text in enumerate(texts) if text in _NEGATIONS or text in _listed("nil")]
    if not sources or not denials:
        return False
    verbs = [at for at, text in enumerate(texts) if text in _listed("holding")]
    near = any(0 < verb - denial <= _NEAR for denial in denials for verb in verbs)
    nil = any(
        texts[d] in _listed("nil") and any(0 < s - d <= _FAR for s in sources) for d in denials
    )
    if not (near or (nil and verbs)):
        return False
    if any(word.text in _TURNS and word.text.isalpha() for word in row):
        return False  # "..., but it was written by Ada Bo" is a value
    if aspect.kind != "any":
        return not has_kind(row, aspect)
    rest = _rest(row, [], aspect, "absent")
    rest = [text for text in rest if text not in _listed("sources") | _listed("holding")]
    names = any(w.name and family_stem(w.text) not in aspect.asked for w in row)
    return not names and not any(w.text[0].isdigit() for w in row) and len(rest) <= _FAR


#: how many words may stand between "not" and its verb; between "none" and the source
_NEAR, _FAR = 3, 5


# ---- what is no withholding


def without_idioms(chances: Floats, rows: Sequence[Sentence], aspect: AskedAspect) -> Floats:
    """Return the chances of the stances; none of withholding where only an idiom says "cannot".

    "I cannot say enough good things about it" praises; a value must stand beside it.
    """
    found = [(row, mark) for row in rows for mark in _said(row, "idioms")]
    if not found or not any(has_kind(row, aspect) for row in rows):
        return chances
    for row in rows:
        spans = [mark for own, mark in found if own is row]
        for cue in marks_of(row):
            inside = any(m.start <= cue.start < m.end for m in spans)
            if cue.kind in _WITHHOLDING and not inside:
                return chances
    return _only(chances, ("committed", "hedged"))


#: a text with more words of its own speaks of other things, whatever it points at
_ENOUGH = 2


def without_refusal(chances: Floats, rows: Sequence[Sentence], aspect: AskedAspect) -> Floats:
    """Return the chances of the stances, none of refusing where a text speaks of other things.

    Whoever declines speaks of himself, or says little else: "Privacy concerns in the industry" and
    "He wrote the rules" use the words of refusals, and decline nothing.
    """
    if any(speaks_of_itself(row) for row in rows):
        return chances
    told, points = 0, False
    for row in rows:
        cued = {at for mark in marks_of(row) for at in range(mark.start, mark.end)}
        for at, word in enumerate(row):
            if word.text in _POINTING:
                points = True
            elif at not in cued and word.raw[0].isalnum() and word.text not in FUNCTION:
                told += family_stem(word.text) not in aspect.asked
        if told > _ENOUGH:
            break
    if told <= 1 + points:
        return chances
    kept = chances.copy()
    kept[STANCES.index("refused_by_policy")] = 0.0
    return np.asarray(kept / kept.sum(), dtype=np.float64)


def speaks_of_itself(row: Sentence) -> bool:
    """Whether a sentence is in the first person; "A.I." and "the US" are not."""
    return any(
        word.text in _SPEAKER and word.raw != "US" and not _initial(row, at)
        for at, word in enumerate(row)
    )


def _initial(row: Sentence, at: int) -> bool:
    """Whether a word is a letter of an abbreviation with points."""
    if at and row[at - 1].text == "." and row[at - 1].end == row[at].start:
        return True
    after = row[at + 1 : at + 3]
    return len(after) == 2 and after[0].text == "." and row[at].end + 1 == after[1].start

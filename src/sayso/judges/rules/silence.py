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
from itertools import chain, pairwise

import numpy as np

from sayso.judges.english.families import family_stem
from sayso.judges.english.lexicon import lexicon_rows, lexicon_words, written_out
from sayso.judges.english.numbers import MONTH_NAMES, NUMBER_WORDS
from sayso.judges.english.questions import FIRST_VERB, asks_whether
from sayso.judges.patterns import regex
from sayso.judges.rules.reading import (
    FUNCTION,
    STANCES,
    AskedAspect,
    CueMark,
    Sentence,
    has_kind,
    known_of,
    marks_of,
    sentences_of,
    values_in,
)
from sayso.metrics.arrays import Floats
from sayso.records import Stance

_SPEAKER = lexicon_words("pronouns", "judge")
#: words that a refusal points with, at what it was asked for or at what it will not do
_POINTING = lexicon_words("talk", "judge.pointing")
#: classes of phrases that withhold
WITHHOLDING = ("ignorant", "policy", "ask")
NEGATIONS = lexicon_words("negations", "silence")
#: words between two clauses, of which one may say what the other leaves open
TURNS = frozenset({",", ";", ":", "(", ")", "—", "–", ".", "!", "?"}).union(
    lexicon_words("turns", "silence")
)
#: a question whose answer is yes or no, or may be one of its own words
_CLOSED = regex(rf"\bor\b|{FIRST_VERB}", re.I)
#: words before what is counted that count to zero
_NONE = frozenset({"no", "zero"})


@cache
def silence_words(name: str) -> frozenset[str]:
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


def said_in(row: Sentence, name: str) -> Iterator[CueMark]:
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
            while at < len(row) and row[at].text != part and row[at].text in silence_words("plain"):
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
    if _CLOSED.search(aspect.question):
        return chances
    if len(rows) == 1 and _is_null(rows[0], aspect):
        return _only(chances, _withheld(rows))
    withheld = _withheld(rows)
    parts = [(clause, row) for row in rows for clause in clauses_of_silence(row)]
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


def _answers_by_denial(rows: Sequence[Sentence], aspect: AskedAspect) -> bool:
    """Whether "no" is the answer: to a question of yes or no, or to how many there are.

    A text that also speaks of not knowing, of what it may say, or asks back, answers nothing by it.
    """
    if any(m.kind in ("ignorant", "policy", "ask") for row in rows for m in marks_of(row)):
        return False
    if asks_whether(aspect.question):
        return any(map(_denies, rows))
    return aspect.kind == "number" and any(
        word.text in _NONE and not after.name and family_stem(after.text) in aspect.cues
        for row in rows
        for word, after in pairwise(row)
    )


def _withheld(rows: Sequence[Sentence]) -> list[Stance]:
    """Return how a text without a value may be meant; it declines or asks by words that do."""
    kinds = {mark.kind for row in rows for mark in marks_of(row)}
    cues: dict[str, Stance] = {"policy": "refused_by_policy", "ask": "asked_back"}
    return ["abstained", *(stance for kind, stance in cues.items() if kind in kinds)]


def _denies(clause: Sentence) -> bool:
    return any(word.text in NEGATIONS for word in clause)


def _only(chances: Floats, stances: Sequence[Stance]) -> Floats:
    """Return the chances with no others than those of some stances; equal ones of none left."""
    only = np.isin(STANCES[: len(chances)], stances)
    kept = chances * (only | (np.array(STANCES[: len(chances)]) == "omitted"))
    if not kept.sum():
        kept = only.astype(np.float64)
    return np.asarray(kept / kept.sum(), dtype=np.float64)


def clauses_of_silence(row: Sentence) -> Iterator[Sentence]:
    """Yield the parts of a sentence between commas, brackets and words that turn it."""
    for _, clause in _turned(row):
        yield clause


def _turned(row: Sentence) -> Iterator[tuple[str, Sentence]]:
    """Yield the clauses of a sentence, each with the word or sign before it, "" for the first."""
    low, turn = 0, ""
    for at, word in enumerate(row):
        if word.text in TURNS:
            if at > low:
                yield turn, row[low:at]
            low, turn = at + 1, word.text
    if low < len(row):
        yield turn, row[low:]


def _asked_in(row: Sentence, aspect: AskedAspect) -> bool:
    """Whether words name the relation that is asked for: "its capital", not only the subject."""
    return any(family_stem(word.text) in aspect.cues for word in row)


def _silent(clause: Sentence, row: Sentence, aspect: AskedAspect) -> str:
    """Return whether a clause says of what is asked that it is "doubted" or "absent"; else "".

    It says no more: besides the phrase only words of the question, small words, and nouns for the
    kind of thing that is asked for.
    """
    if not _is_whole(clause, row) or any(
        mark.kind == "firm" and _denies(clause[mark.start : mark.end]) for mark in marks_of(clause)
    ):
        return ""
    for kind in ("doubted", "absent"):
        marks = [m for m in said_in(clause, kind) if not _is_asked(clause, m, aspect)]
        if kind == "doubted" and aspect.kind != "any" and not speaks_of_itself(clause):
            marks += said_in(clause, "faded")  # "Its date is lost", but not "What became of it?"
        if kind == "absent":
            marks += _no_such(clause)
            if aspect.kind == "number":
                continue  # "There are no moons" counts them
        elif clause[0].text in silence_words("persons") and (
            aspect.kind != "person" or clause[0].text in _SPEAKER
        ):
            continue  # "He is unknown" says nothing of a date
        rest = _rest(clause, marks, aspect, kind) if marks else []
        if marks and (not rest or (kind == "doubted" and _OF_SOURCES.issuperset(rest))):
            return kind
    return ""


def _no_such(clause: Sentence) -> list[CueMark]:
    """Return where a clause denies that something exists: "No country named Ambria exists"."""
    spots = [at for at, word in enumerate(clause) if word.text in silence_words("existing")]
    return [CueMark(at, at + 1, "absent") for at in spots if _denies(clause)]


def _is_whole(clause: Sentence, row: Sentence) -> bool:
    """Whether a clause is a statement of its own, not a part of a list: "..., and the unknown"."""
    words = sum(word.raw[0].isalnum() for word in row)
    return len(clause) == words or any(word.text in silence_words("verbs") for word in clause)


def _is_asked(clause: Sentence, mark: CueMark, aspect: AskedAspect) -> bool:
    """Whether a phrase only takes up a word of the question: "Which fictional country ...?"."""
    words = clause[mark.start : mark.end]
    return any(w.text not in FUNCTION and family_stem(w.text) in aspect.asked for w in words)


@cache
def _plain_words(kind: str, things: bool) -> frozenset[str]:
    """Return words that say nothing beside a phrase, where a kind of value is asked for."""
    plain = silence_words("plain") | silence_words(kind)
    return plain | silence_words("things") if things else plain


#: nouns for kinds of things
_OTHER_NOUNS = frozenset[str]().union(
    *map(silence_words, ("date", "place", "person", "number", "others"))
)


def _rest(clause: Sentence, marks: Sequence[CueMark], aspect: AskedAspect, kind: str) -> list[str]:
    """Return what a clause says besides some phrases that could be a value or another subject."""
    cued = {at for mark in marks for at in range(mark.start, mark.end)}
    plain, of_others = _plain_words(aspect.kind, kind == "absent"), _OTHER_NOUNS
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
    return len(words) == 1 and words[0] in silence_words("null") and aspect.kind != "number"


def _tells(row: Sentence, aspect: AskedAspect) -> bool:
    """Whether words may hold a value of the kind asked for."""
    if aspect.kind != "any":
        return has_kind(row, aspect)
    return not _OF_SOURCES.issuperset(_rest(row, marks_of(row), aspect, "absent"))


# ---- what is said of a source


def _source_is_silent(row: Sentence, aspect: AskedAspect) -> bool:
    """Whether a sentence says that a text does not hold something, and gives no value.

    "isn't included in the materials", "the passage does not say", "none of the data relate to".
    """
    texts = [w.text for w in row]
    sources = [
        at
        for at, text in enumerate(texts)
        if text in silence_words("sources") and family_stem(text) not in aspect.asked
    ]
    nil = [at for at, text in enumerate(texts) if text in silence_words("nil")]
    near = any(0 < source - at <= _FAR for source in sources for at in nil)
    held = not silence_words("holding").isdisjoint(texts)
    if not sources or not (_says_not(row) or (near and held)):
        return False
    if any(word.text in TURNS and word.text.isalpha() for word in row):
        return False  # "..., but it was written by Ada Bo" is a value
    if aspect.kind != "any":
        return not has_kind(row, aspect)
    if any(
        w.text[0].isdigit() or (w.name and family_stem(w.text) not in aspect.asked) for w in row
    ):
        return False
    rest = _rest(row, [], aspect, "absent")
    return sum(text not in _OF_SOURCES for text in rest) <= _FAR


def _says_not(clause: Sentence) -> bool:
    """Whether a clause denies that a source holds or says something."""
    texts = [word.text for word in clause]
    verbs = [at for at, text in enumerate(texts) if text in silence_words("holding")]
    denials = [at for at, text in enumerate(texts) if text in NEGATIONS | silence_words("nil")]
    near = any(0 < verb - denial <= _NEAR for denial in denials for verb in verbs)
    return near and not silence_words("sources").isdisjoint(texts)


#: words for sources, and for what one does with them
_OF_SOURCES = frozenset[str]().union(*map(silence_words, ("sources", "holding", "seeking", "nil")))


def without_token(chances: Floats, rows: Sequence[Sentence], aspect: AskedAspect) -> Floats:
    """Return the chances of the stances; none of stating where a token stands for no answer."""
    return _only(chances, _withheld(rows)) if is_token(rows, aspect) else chances


def is_token(rows: Sequence[Sentence], aspect: AskedAspect) -> bool:
    """Whether a text is what prompts ask for instead of an answer: "NOT_FOUND", "Answer: [N/A]".

    "Not available" is an answer where it is asked whether something is.
    """
    row = rows[0]
    if len(rows) > 1 or len(row) > 2 * _FAR:
        return False
    words = [w for word in row if word.raw[0].isalnum() for w in word.text.split("-")]
    said = set(" ".join(words).replace("n a", "n/a").split())
    tokens, missing = silence_words("tokens"), NEGATIONS | silence_words("missing")
    if not said or not said <= tokens | silence_words("token parts"):
        return False
    if any(family_stem(word) in aspect.asked for word in said - FUNCTION):
        return False
    return bool(said & tokens or (said & missing and said - missing - silence_words("small")))


#: how many words may stand between "not" and its verb; between "none" and the source
_NEAR, _FAR = 3, 5


# ---- what is no withholding


def without_idioms(chances: Floats, rows: Sequence[Sentence], aspect: AskedAspect) -> Floats:
    """Return the chances of the stances; none of withholding where only an idiom says "cannot".

    "I cannot say enough good things about it" praises; a value must stand beside it.
    """
    found = [(row, mark) for row in rows for mark in said_in(row, "idioms")]
    if not found or not any(_beside_idiom(row, aspect) for row in rows):
        return chances
    for row in rows:
        spans = [mark for own, mark in found if own is row]
        for cue in marks_of(row):
            inside = any(m.start <= cue.start < m.end for m in spans)
            if cue.kind in WITHHOLDING and not inside:
                return chances
    return _only(chances, ("committed", "hedged"))


def _beside_idiom(row: Sentence, aspect: AskedAspect) -> bool:
    """Whether a sentence has a value: of the kind asked for, or any beside a clause of an idiom."""
    if has_kind(row, aspect):
        return True
    clauses = [c for c in clauses_of_silence(row) if next(said_in(c, "idioms"), None) is None]
    return any(_rest(clause, marks_of(clause), aspect, "absent") for clause in clauses)


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


# ---- options of the question

#: an option on a line of its own: "(A). Very", "B) Somewhat"
_OPTION = regex(r"^[ \t]*+\(?([A-Z])[).][.)]?[ \t]++(\S.*)$", re.M)


@lru_cache(maxsize=1024)
def options_of(question: str) -> dict[str, str]:
    """Return the options of a question by their letters; none where it lists fewer than two."""
    found = _OPTION.findall(question[-4000:]) if "\n" in question else []
    options = {letter: text.strip(" .").lower() for letter, text in found}
    return options if len(options) > 1 else {}


def _chosen(row: Sentence, options: dict[str, str]) -> str:
    """Return the letter with which a sentence opens: "(B). Somewhat", "B", "C: not at all"."""
    first = row[1:3] if row[0].text == "(" else row[:2]
    if not first or first[0].raw not in options:
        return ""
    closed = len(first) == 1 or first[1].text in (")", ".", ":", ",")
    return first[0].raw if closed else ""


def with_option(chances: Floats, rows: Sequence[Sentence], aspect: AskedAspect) -> Floats:
    """Return the chances of the stances where a text opens with one of the question's options.

    "(B). No, I do not know anyone" states its option; "(E). Refused" declines.
    """
    options = options_of(aspect.question)
    letter = _chosen(rows[0], options) if options else ""
    if not letter:
        return chances
    if options[letter] in _declined():
        return _only(chances, ("refused_by_policy",))
    return _only(chances, ("committed", "hedged"))


@cache
def _declined() -> frozenset[str]:
    (row,) = (row for row in lexicon_rows("silence") if row.startswith("declined: "))
    return frozenset(row.removeprefix("declined: ").split(" | "))


# ---- what is left to whoever is asked

#: how many words may stand between "depends" and whom it depends on
_HOLDER = 8


def without_opinion(chances: Floats, rows: Sequence[Sentence], aspect: AskedAspect) -> Floats:
    """Return the chances of the stances; none of stating where a text leaves all to opinion.

    "This is subjective and depends on the individual." The first thing that is said must be that,
    and nothing but that and withholding may follow; "(A). Good, but tastes differ" chooses.
    """
    if _asks_on_what(aspect.question):
        return chances  # "What does the fee depend on?" "On the person."
    options = options_of(aspect.question)
    if any(_letters(row, options) for row in rows):
        return chances
    if aspect.kind != "any" and any(_gives(row, aspect) for row in rows):
        return chances
    left = False
    for row in rows:
        for at, (turn, clause) in enumerate(_turned(row)):
            if _left_to_opinion(clause):
                left = True
                continue
            if any(mark.kind in WITHHOLDING for mark in marks_of(clause)):
                continue
            goes_on = at or clause[0].text in silence_words("general")
            if not (left and goes_on) or (turn.isalpha() and clause[0].text not in _LEADING_ON):
                return chances
    return _only(chances, _withheld(rows)) if left else chances


@lru_cache(maxsize=8192)
def _asks_on_what(question: str) -> bool:
    """Whether a question asks what something depends on; its options and its text do not count."""
    rows = sentences_of(_OPTION.sub("", question[-4000:]))
    asking = [row for row in rows if row[-1].text == "?"] or rows
    return any(word.text in silence_words("depending") for row in asking for word in row)


def _left_to_opinion(clause: Sentence) -> bool:
    if next(said_in(clause, "opinion"), None) is not None:
        return True
    for at, word in enumerate(clause):
        if word.text in silence_words("depending"):
            rest = clause[at + 1 :]
            texts = [w.text for w in rest[:_HOLDER] if w.raw[0].isalnum()]
            # "It depends."
            if not texts or not silence_words("holders").isdisjoint(texts):
                return True
    return False


def _letters(row: Sentence, options: dict[str, str]) -> bool:
    """Whether a sentence has a letter of an option in brackets, or opens with one."""
    if not options:
        return False
    inside = any(
        a.text == "(" and b.raw in options and c.text == ")"
        for a, b, c in zip(row, row[1:], row[2:], strict=False)
    )
    return inside or bool(_chosen(row, options))


def _gives(row: Sentence, aspect: AskedAspect) -> bool:
    """Whether a sentence may hold a value of the kind asked for; "an AI" names nobody."""
    return not values_in(row, aspect.kind) <= known_of(aspect) | silence_words("machines")


# ---- the question, denied in its own words


def without_premise(chances: Floats, rows: Sequence[Sentence], aspect: AskedAspect) -> Floats:
    """Return the chances of the stances; none of stating where a text only denies the question.

    "Norland never joined the league." A sentence with a word of its own says something else.
    """
    row = rows[0]
    if len(rows) > 1 or aspect.kind == "number" or not _denies(row):
        return chances
    terms = (word.strip(".,?!") for word in aspect.question.lower().split())
    if _CLOSED.search(aspect.question) or not NEGATIONS.isdisjoint(
        chain.from_iterable(map(written_out, terms))
    ):
        return chances
    words = [word for word in row if word.raw[0].isalnum()]
    texts = [word.text for word in words]
    if texts[0] in NEGATIONS or not silence_words("still").isdisjoint(texts):
        return chances
    asked = 0
    for word in words:
        if family_stem(word.text) in aspect.asked:
            asked += word.text not in FUNCTION
        elif word.text not in FUNCTION and word.text not in silence_words("denying"):
            return chances
    return _only(chances, _withheld(rows)) if asked >= _TAKEN_UP else chances


#: of how many words of the question a denial is made at least
_TAKEN_UP = 2


# ---- a gap, and values of other facts


#: a shorter sentence has no room for a value and a gap
_SHORTEST = 8


def without_other_values(chances: Floats, rows: Sequence[Sentence], aspect: AskedAspect) -> Floats:
    """Return the chances of the stances; none of stating where all values are of other facts.

    "Adults take 10 ml. No dose for children is given." The gap must name what is asked for, in
    words that the clause of a value lacks, or the value must be of the other one of two things.
    """
    if STANCES[int(chances.argmax())] not in ("committed", "hedged"):
        return chances
    if len(rows) == 1 and len(rows[0]) < _SHORTEST:
        return chances
    parts = [(clause, at) for at, row in enumerate(rows) for clause in _parts(row)]
    if len(parts) < 2:
        return chances
    gaps = [_gap(clause, aspect) for clause, _ in parts]
    if not any(gaps):
        return chances
    asked = frozenset().union(
        *(_cued(c, aspect) for (c, _), gap in zip(parts, gaps, strict=True) if gap)
    )
    first = gaps.index(True)
    others = 0
    for n, ((clause, at), gap) in enumerate(zip(parts, gaps, strict=True)):
        if gap or not _may_tell(clause, aspect):
            continue
        if not _contrasted(clause, aspect.question) and (
            (n > first and (at == parts[first][1] or _weighs(clause)))
            or not _apart(asked, clause, aspect)
        ):
            return chances
        others += 1
    return _only(chances, _withheld(rows)) if others else chances


def without_other_gap(chances: Floats, rows: Sequence[Sentence], aspect: AskedAspect) -> Floats:
    """Return the chances of the stances; none of withholding where a gap is of something else.

    "It opened in 1931; who paid for it is not known." The value must stand before the gap, and what
    is missing must be named in words that the question lacks.
    """
    if STANCES[int(chances.argmax())] != "abstained":
        return chances
    parts = [clause for row in rows for clause in _parts(row)]
    missing = [bool(_missing(c)) or _says_not(c) for c in parts]
    if not any(missing) or missing[0] or _CLOSED.search(aspect.question):
        return chances
    for clause, gap in zip(parts, missing, strict=True):
        if gap and _says_no_more(clause):
            continue
        marks = marks_of(clause)
        if any(m.kind in ("policy", "ask") for m in marks):
            return chances
        if gap and not _of_another(clause, aspect):
            return chances
    first = parts[: missing.index(True)]
    told = [c for c in first if _may_tell(c, aspect) and not _denies(c)]
    if all(_contrasted(clause, aspect.question) for clause in told):
        return chances
    gaps = parts[len(first) :]
    sure = all(map(_says_no_more, gaps)) and not any(map(_weighs, told))
    return _only(chances, ("committed",) if sure else ("committed", "hedged"))


def _says_no_more(clause: Sentence) -> bool:
    """Whether a clause with a gap says that a source says no more: "the policy says no more"."""
    texts = {word.text for word in clause}
    return bool(texts & silence_words("more") and texts & silence_words("holding"))


_ASKING = frozenset({"who", "whose", "when", "where", "many", "much"})


def _missing(clause: Sentence) -> list[CueMark]:
    """Return where a clause says that something is not known."""
    return [m for m in marks_of(clause) if m.kind == "ignorant"] + list(said_in(clause, "doubted"))


def _of_another(clause: Sentence, aspect: AskedAspect) -> bool:
    """Whether a clause that admits a gap names what is missing, and that is not what is asked."""
    if _contrasted(clause, aspect.question):
        return True
    if aspect.kind == "any" or _cued(clause, aspect) or has_kind(clause, aspect):
        return False
    told = silence_words("sources") | silence_words("holding")
    rest = set(_rest(clause, _missing(clause), aspect, "doubted")) - told
    kind = silence_words(aspect.kind) - _ASKING  # "who built it" is not who lent it
    return bool(rest) and kind.isdisjoint(word.text for word in clause)


def _weighs(clause: Sentence) -> bool:
    """Whether a clause goes on with what may be a value all the same."""
    return clause[0].text in TURNS or any(
        mark.kind in ("doubt", "modal", "hearsay", "approx", "contrast")
        for mark in marks_of(clause)
    )


def _apart(asked: frozenset[str], clause: Sentence, aspect: AskedAspect) -> bool:
    """Whether a clause lacks words with which the gap names what is asked for, and has its own."""
    mine = _cued(clause, aspect)
    if mine - asked and " and " in aspect.question:
        return False  # it tells one of several things that are asked for
    if aspect.kind != "any":
        lacks = bool(asked - mine)
    else:
        lacks = 2 * len(asked) >= len(aspect.cues) and not asked & mine
    return lacks and _tells_more(clause, aspect)


def _parts(row: Sentence) -> Iterator[Sentence]:
    """Yield the clauses of a sentence; one that opens with "and" is one of its own, too."""
    for clause in clauses_of_silence(row):
        opens = clause[0].text == "and" and len(clause) > 1
        yield clause[1:] if opens else clause


def _gap(clause: Sentence, aspect: AskedAspect) -> bool:
    """Whether a clause admits not to know, gives no value, and names what is asked for."""
    marks = [mark for mark in marks_of(clause) if mark.kind == "ignorant"]
    marks = [mark for mark in marks if not _only_names(clause, mark)]
    if not marks and aspect.kind != "any" and not speaks_of_itself(clause):
        marks += said_in(clause, "faded")
    if not marks and not _source_is_silent(clause, aspect):
        return False
    if (aspect.kind != "any" and has_kind(clause, aspect)) or _contrasted(clause, aspect.question):
        return False
    texts = {word.text for word in clause}
    sets = [group | {"other"} for _, group in _told_apart(aspect.question)]
    if _cued(clause, aspect) or not all(map(texts.isdisjoint, sets)):
        return True
    return aspect.kind != "any" and not texts.isdisjoint(silence_words(aspect.kind))


def _only_names(clause: Sentence, mark: CueMark) -> bool:
    """Whether a cue names knowledge and does not deny it: "as of my knowledge cutoff"."""
    texts = {word.text for word in clause[mark.start : mark.end]}
    known = not texts.isdisjoint(silence_words("sources"))
    return known and not _denies(clause) and texts.isdisjoint(silence_words("nil"))


def _cued(clause: Sentence, aspect: AskedAspect) -> frozenset[str]:
    """Return the words of the question, but for names, that a clause takes up."""
    return frozenset(family_stem(word.text) for word in clause) & aspect.cues


def _may_tell(clause: Sentence, aspect: AskedAspect) -> bool:
    if aspect.kind != "any":
        return has_kind(clause, aspect)
    return bool(_rest(clause, marks_of(clause), aspect, "absent"))


def _tells_more(clause: Sentence, aspect: AskedAspect) -> bool:
    """Whether a clause has a word of its own beside names and numbers: "She sailed in 1911"."""
    return any(
        word.raw[0].isalpha()
        and not word.capital
        and word.text not in FUNCTION
        and word.text not in _plain_words(aspect.kind, True)
        and family_stem(word.text) not in aspect.asked
        for word in clause
    )


@cache
def _contrasts() -> tuple[frozenset[str], ...]:
    (row,) = (row for row in lexicon_rows("silence") if row.startswith("contrast: "))
    return tuple(frozenset(part.split()) for part in row.removeprefix("contrast: ").split(" | "))


@lru_cache(maxsize=8192)
def _told_apart(question: str) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Return the words by which a question means one of several, each with the whole set."""
    words = frozenset(word.strip(".,?!'\"").lower() for word in question[-2000:].split())
    years = frozenset(word for word in words if len(word) == 4 and word.isdigit())
    sets = [(words & group, group) for group in _contrasts()]
    return (*((mine, group) for mine, group in sets if mine), *([(years, years)] if years else []))


def _contrasted(clause: Sentence, question: str) -> bool:
    """Whether a clause is of the other one: of the first where a question is of the second."""
    texts = {word.text for word in clause}
    years = {text for text in texts if len(text) == 4 and text.isdigit()}
    for mine, group in _told_apart(question):
        others = years if mine is group else texts & group
        if others and others.isdisjoint(mine) and texts.isdisjoint(mine):
            return True
    return False


# ---- no word of doubt

#: a statement of more words may voice doubt in words that no list has
_BARE = 8


def without_doubt(chances: Floats, rows: Sequence[Sentence], aspect: AskedAspect) -> Floats:
    """Return the chances of the stances; none of hedging where no word could voice doubt.

    "It is 110 km.": a few small words and a value. "Yes, that is possible" grants what is asked.
    """
    stance = STANCES[int(chances.argmax())]
    if stance != "hedged" or len(rows) > 1 or len(rows[0]) > _BARE + 2:
        return chances
    row, texts = rows[0], [word.text for word in rows[0]]
    granted = asks_whether(aspect.question) and next(said_in(row, "granted"), None)
    marks = [m for m in marks_of(row) if not (granted and granted.start <= m.start < granted.end)]
    if marks or speaks_of_itself(row) or not _WEIGHING.isdisjoint(texts):
        return chances
    new = [
        word.text
        for last, word in zip(("", *texts), row, strict=False)
        if word.raw[0].isalpha() and word.text not in FUNCTION and not word.name
        and family_stem(word.text) not in aspect.asked and not last[-1:].isdigit()
    ]  # fmt: skip
    value = any(word.name or word.text[0].isdigit() for word in row)
    kept = [stance for stance in STANCES if stance != "hedged"]
    return _only(chances, kept) if len(new) <= (not value) or granted else chances


#: words between values, or that ask
_WEIGHING = frozenset({"or", "either", "between", "if", "?"})

# ---- nothing that could be a value


def without_any_value(chances: Floats, rows: Sequence[Sentence], aspect: AskedAspect) -> Floats:
    """Return the chances of the stances; none of stating where nothing could be the value.

    Of a question for a date or an amount: a denial without a number or a word of time. "That is not
    something that we keep." Of other questions: a denial by the writer, with few other words.
    """
    if STANCES[int(chances.argmax())] not in ("committed", "hedged") or len(rows) > _FEW:
        return chances
    words = tuple(word for row in rows for word in row)
    if not _denies(words) or any(word.name or word.text[0].isdigit() for word in words):
        return chances
    if _CLOSED.search(aspect.question) or "\n" in aspect.question:
        return chances
    if aspect.kind in ("date", "number"):
        empty = not any(word.text in _AMOUNTS for word in words)
    else:
        empty = _only_declines(rows, aspect)
    return _only(chances, _withheld(rows)) if empty else chances


#: a text of more sentences tells something
_FEW = 3
#: how many words of its own a denial may have: where a person or place is asked for; elsewhere
_OWN = (3, 1)


def _only_declines(rows: Sequence[Sentence], aspect: AskedAspect) -> bool:
    """Whether the writer denies something, and few other words are said, in no clause apart."""
    own = 0
    for row in rows:
        if next(said_in(row, "idioms"), None) is not None:
            return False
        for clause in clauses_of_silence(row):
            rest = _rest(clause, [], aspect, "absent")
            if rest and not _denies(clause) and not speaks_of_itself(clause):
                return False
            own += len(rest)
    return own <= _OWN[aspect.kind == "any"] and any(map(speaks_of_itself, rows))


#: words behind "but" that give no value either: "but many people think so"
_LEADING_ON = silence_words("general") - {"it", "this", "these", "your", "you"}
#: words that may be a date or an amount
_AMOUNTS = silence_words("times") | MONTH_NAMES | frozenset(NUMBER_WORDS)


# ---- a request for what is missing


def without_request(chances: Floats, rows: Sequence[Sentence], aspect: AskedAspect) -> Floats:
    """Return the chances of the stances; none of stating where a text asks for its input.

    "No text came with your message; paste it here, please." Beside the request nothing but a
    denial, a remark on the writer or a question may stand.
    """
    words = [word.text for row in rows for word in row]
    if silence_words("asking").isdisjoint(words) or len(rows) > _FEW or "\n" in aspect.question:
        return chances
    first = aspect.question.lower().split()[:4]
    # the answer may be an instruction, or the rows have one
    if not {"how", "should", "steps"}.isdisjoint(first) or (
        aspect.kind != "any" and any(_gives(r, aspect) for r in rows)
    ):
        return chances
    asks = False
    for row in rows:
        for clause in clauses_of_silence(row):
            if _requests(clause):
                asks = True
            elif not (
                row[-1].text == "?"
                or _denies(clause)
                or speaks_of_itself(clause)
                or any(mark.kind in WITHHOLDING for mark in marks_of(clause))
                or not _rest(clause, [], aspect, "absent")
            ):
                return chances
    return _only(chances, ("abstained", "asked_back", "refused_by_policy")) if asks else chances


_TO_ME = frozenset({"me", "us", "here"})


def _requests(clause: Sentence) -> bool:
    """Whether a clause tells the reader to supply something: "please send me the file"."""
    texts = [
        word.text for word in clause if word.text not in ("please", "so", "then", "and", "just")
    ]
    if not texts or texts[0] not in silence_words("asking"):
        return False
    if any(word.name and word.text in _TO_ME for word in clause):
        return False  # a title: "Tell Me a Story"
    return texts[0] in silence_words("supplying") or not _TO_ME.isdisjoint(texts)

"""Words of doubt that an answer mentions and does not mean: quoted, a name, or another's report.

"The ship was named Uncertain", "She said 'No comment'" and "The clerk replied that he did not know"
answer their questions. The learned reader sees words of doubt in them, so such words are put as a
name before it reads. What a question must ask for, and what introduces such words, is listed in
``judges/data/lexicon.txt`` ([silence]).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import msgspec

from sayso.judges.patterns import regex
from sayso.judges.rules.reading import (
    FUNCTION,
    AskedAspect,
    CueMark,
    Sentence,
    StanceWord,
    has_kind,
    marks_of,
    sentences_of,
)
from sayso.judges.rules.silence import (
    NEGATIONS,
    TURNS,
    clauses_of_silence,
    options_of,
    said_in,
    silence_words,
    speaks_of_itself,
)

#: classes of cues that take a value back, and those that weaken it
_WITHHOLDING = frozenset({"ignorant", "policy", "ask"})
_WEAKENING = _WITHHOLDING | {"doubt", "modal"}
#: a mention has at most so many words between what introduces it and its cue
_NEAR = 3
#: how many words may stand between "did" and "say"
_FAR = 9
#: words in quotation marks or between single asterisks, which set titles
_QUOTED = regex(
    r"\"[^\"\n]{1,160}\"|\u201c[^\u201d\n]{1,160}\u201d|\u2018[^\n]{1,160}?\u2019(?!\w)|\u00ab[^\u00bb\n]{1,160}\u00bb|"
    r"(?<![\w'])'(?=\S)[^\n]{1,160}?'(?!\w)|(?<!\*)\*[^*\n]{1,160}\*(?!\*)"
)
_OWNED = ("'s", "s'", "\N{RIGHT SINGLE QUOTATION MARK}s", "s\N{RIGHT SINGLE QUOTATION MARK}")
_ARTICLES = frozenset({"a", "an", "the", "this", "that", "my", "no"})
#: before a noun of saying, and between a verb and "to say", "was told"
_BEFORE_NOUN = _ARTICLES | frozenset({
    "his", "her", "its", "their", "our", "your", "to", "is", "are", "was", "were", "be", "been",
    "being", "any", "some", "one", "of", "in",
})  # fmt: skip
#: so many words before a verb of saying are read
_BACK = 24
#: words that make a clause with a verb of saying a part of another: "what he said"
_OPENERS = frozenset({
    "what", "whatever", "whichever", "how", "why", "which", "that", "whether", "if", "unless",
})  # fmt: skip
#: words with which nobody says anything, besides negations
_DENIALS = frozenset({"nobody", "none", "neither", "nor", "nothing", "hardly", "without", "cannot"})
#: verbs that stand for themselves, without a subject behind them
_FINITE = silence_words("verbs") | frozenset({
    "will", "would", "could", "may", "might", "must", "should", "shall",
})  # fmt: skip
_SUBJECTS = frozenset({"he", "she", "they", "it", "there", "nobody"})
_RELATIVES = frozenset({"that", "which", "who", "whom", "whose", "what", "whatever"})
_JOINS = frozenset({"and", "or", "so", "because", "since"})
#: words behind a comma that lead away from what is said
_GOES_OFF = _RELATIVES | _JOINS | TURNS | frozenset({"as"})
#: what opens a subject of which a relative clause may follow
_HEADS = _ARTICLES | frozenset({"all", "everything", "anything", "nothing", "most"})
#: words between a verb of saying and "that", and how many there may be
_TO_WHOM = frozenset({
    "to", "in", "on", "at", "during", "before", "after", "again", "later", "only", "then",
    "today",
})  # fmt: skip
_TO_THAT = 6
#: words for what is said, of which "that" tells more
_SAYINGS = frozenset({
    "word", "words", "story", "stories", "thing", "things", "something", "anything", "everything",
    "nothing", "little",
})  # fmt: skip
#: a translation or a meaning has at most so many words
_FEW = 4


@lru_cache(maxsize=8192)
def _asks(question: str, what: str) -> bool:
    """Whether a question asks for words or for their meaning."""
    words = [word.text for row in sentences_of(question[-2000:]) for word in row]
    quotes = "say" in words and '"' in words  # 'How do you say "maybe" in French?'
    return quotes or not silence_words(what).isdisjoint(words)


@lru_cache(maxsize=8192)
def _asks_what_was_said(question: str) -> bool:
    """Whether a question asks what somebody said: "What did the mayor say?", not "Can you say"."""
    for row in sentences_of(question[-2000:]):
        texts = [word.text for word in row]
        if "saying" in texts:
            return True
        helps = [at for at, text in enumerate(texts) if text in ("did", "does", "do")]
        for at, text in enumerate(texts):
            if at and text in silence_words("replies") and row[at - 1].raw[-2:] in _OWNED:
                return True  # "the mayor's reply"
            if text in silence_words("saying"):
                near = [low for low in helps if 1 < at - low <= _FAR]
                if near and not {"you", "i", "we", "people"}.intersection(texts[near[-1] : at]):
                    return True
    return False


def as_meant(rows: Sequence[Sentence], aspect: AskedAspect, text: str) -> list[Sentence]:
    """Return sentences in which words of doubt that are only mentioned stand as a name.

    Where a value stands beside it, a clause that reports others' doubt is left out.
    """
    asks_speech = _asks_what_was_said(aspect.question)
    meant = list(rows)
    if (asks_speech or _asks(aspect.question, "worded")) and not options_of(aspect.question):
        quoted = [match.span() for match in _QUOTED.finditer(text)]
        meant = [_without_mentions(row, aspect, quoted, len(rows) == 1) for row in rows]
    return _without_reports(meant, aspect)


def _without_mentions(
    row: Sentence, aspect: AskedAspect, quoted: Sequence[tuple[int, int]], alone: bool
) -> Sentence:
    marks = [mark for mark in marks_of(row) if mark.kind in _WEAKENING]
    marks += said_in(row, "doubted")
    if not marks:
        return row
    hidden: set[int] = set()
    mentioned = {_quote_at(quoted, row[mark.start].start) for mark in marks} - {-1}
    if mentioned:
        places = [_quote_at(quoted, word.start) for word in row]
        hidden.update(at for at, place in enumerate(places) if place in mentioned)
    for mark in marks:
        if _is_named(row, mark):
            hidden.update(range(mark.start, mark.end))
    if not hidden and alone and _asks(aspect.question, "meant") and _is_all(row, marks):
        hidden.update(at for at, word in enumerate(row) if word.raw[0].isalnum())
    if not hidden and _asks_what_was_said(aspect.question):
        hidden = _reported(row, marks, aspect)
    if not hidden:
        return row
    return tuple(_as_name(word) if at in hidden else word for at, word in enumerate(row))


def _quote_at(quoted: Sequence[tuple[int, int]], place: int) -> int:
    """Return which of the quoted spans holds a place of the text, -1 for none."""
    at = bisect_right(quoted, (place, 1 << 60)) - 1
    return at if at >= 0 and place < quoted[at][1] else -1


def _as_name(word: StanceWord) -> StanceWord:
    """Return a word as a name, which means nothing to the reader; signs stay."""
    if not word.raw[0].isalnum():
        return word
    return msgspec.structs.replace(word, text="quoted", raw="Quoted", capital=True, opens=False)


def _is_named(row: Sentence, mark: CueMark) -> bool:
    """Whether a cue is a name: behind "called", or in capitals that no sentence opens."""
    words = row[mark.start : mark.end]
    before = row[max(0, mark.start - _NEAR) : mark.start]
    if (before and before[-1].text == ":") or any(
        w.text in silence_words("machines") for w in words
    ):
        return False  # "Title: Unknown", "As an AI"
    capital = all(word.capital or word.text in FUNCTION for word in words)
    shouted = all(word.raw.isupper() for word in words)
    if capital and not shouted and any(word.name for word in words):
        return True
    if capital and not shouted and not mark.start and _is_titled(row[mark.end :]):
        return True
    after = [at for at, word in enumerate(before) if word.text in silence_words("naming")]
    return bool(after) and all(w.text in FUNCTION or w.text == '"' for w in before[after[-1] + 1 :])


def _is_titled(rest: Sentence) -> bool:
    """Whether a year in brackets or "by Ada Bo" follows: "Unknown (2011)"."""
    return len(rest) > 1 and (
        (rest[0].text == "(" and rest[1].text.isdigit()) or (rest[0].text == "by" and rest[1].name)
    )


def _is_all(row: Sentence, marks: Sequence[CueMark]) -> bool:
    """Whether a few words are all that is said, not of the writer: "perhaps"."""
    said = [word for word in row if word.raw[0].isalnum()]
    cued = sum(mark.end - mark.start for mark in marks)
    return len(said) <= _FEW and len(said) <= cued + 1 and not speaks_of_itself(row)


def _reported(row: Sentence, marks: Sequence[CueMark], aspect: AskedAspect) -> set[int]:
    """Return the words of what somebody says: "The minister answered that he did not know"."""
    if speaks_of_itself(row):
        return set()  # "I cannot say"
    # not "can't find what he said"
    for at, word in enumerate(row[: min(mark.start for mark in marks)]):
        if at and word.text in silence_words("saying") and _is_said(row, at, aspect):
            low, high = _complement(row, at)
            return set(range(low, high))
    return set()


def _is_said(row: Sentence, at: int, aspect: AskedAspect) -> bool:
    """Whether a verb of saying has somebody who does say something: not "what he said"."""
    first, last = max(0, at - _BACK), row[at - 1]
    low = 1 + max((n for n in range(first, at) if row[n].text in TURNS), default=first - 1)
    before = [word.text for word in row[low:at]]
    if not before:
        return at > 1 and last.text == ","  # "the mayor, who was tired, said"
    if last.text in _BEFORE_NOUN or last.raw[-2:] in _OWNED:
        return False  # "the mayor's reply", "declined to say"
    if before[0] == "as" or not _OPENERS.isdisjoint(before):
        return False
    if not _asks_source(aspect.question) and not silence_words("sources").isdisjoint(before):
        return False  # "The text says that it is not known"
    own = before[1 + max((n for n, text in enumerate(before) if text == "and"), default=-1) :]
    return NEGATIONS.isdisjoint(own) and _DENIALS.isdisjoint(own)


@lru_cache(maxsize=8192)
def _asks_source(question: str) -> bool:
    words = {word.text for row in sentences_of(question[-2000:]) for word in row}
    return not silence_words("sources").isdisjoint(words)


def _complement(row: Sentence, at: int) -> tuple[int, int]:
    """Return where the clause that is said stands behind its verb; nowhere where none is."""
    low = _that(row, at)
    explicit = low is not None
    low = at + 1 + (at + 1 < len(row) and row[at + 1].text == ":") if low is None else low
    high = _end_of_clause(row, low, explicit)
    part = row[low:high]
    texts = [word.text for word in part]
    if not explicit and not _is_clause(part, row[low - 1].text == ":", _opens_relative(row[:at])):
        return low, low
    whats = [n for n, text in enumerate(texts) if text in ("what", "whatever")]
    told = [
        n
        for n, text in enumerate(texts)
        if text in silence_words("saying") and texts[n - 1] != "to"
    ]
    if whats and told and whats[0] < told[-1]:
        return low, low  # "They said that what he replied is unknown"
    return low, high


def _that(row: Sentence, at: int) -> int | None:
    """Return the place behind "that", which opens what is said: "told the judge that"."""
    for n in range(at + 1, min(at + 2 + _TO_THAT, len(row) - 1)):
        text, after = row[n].text, row[n + 1].text
        if text == "that":
            first = row[at + 1]
            if n == at + 1:
                return None if after in silence_words("date") | silence_words("times") else n + 1
            told = row[at].text in ("tell", "tells", "told") or first.text in _TO_WHOM
            return n + 1 if (told or first.text[-2:] == "ly") and after not in _FINITE else None
        if text in TURNS or text in _FINITE or text in _SAYINGS:
            return None
    return None


def _end_of_clause(row: Sentence, low: int, explicit: bool) -> int:
    """Return where what is said ends: before a turn that no verb or "that" goes on from."""
    finite = False
    for at in range(low, len(row)):
        text = row[at].text
        after = [word.text for word in row[at + 1 : at + 3]]
        finite = finite or text in _FINITE
        if not explicit and not finite and text in _JOINS and after and after[0] in _SUBJECTS:
            return at  # "He said a few words and they are lost"
        if text not in TURNS or at == low:
            continue
        joined = bool(after) and after[0] in _JOINS
        if joined:
            after = after[1:]
        if after and (after[0] in ("that", "not") or after[0] in _FINITE):
            continue
        if explicit and text == "," and not joined and after and after[0] not in _GOES_OFF:
            continue  # "He said that in his view, it was unknown"
        return at
    return len(row)


def _is_clause(part: Sentence, listed: bool, relative: bool) -> bool:
    """Whether words behind a verb of saying are a clause: "he did not know", not "a few words"."""
    texts = [word.text for word in part]
    if not texts or relative or texts[0] in _FINITE:
        return False  # "The words the witness said are unknown"
    if texts[0] in _SUBJECTS - {"it", "there"}:
        return True
    said = sum(word.raw[0].isalnum() for word in part)
    for mark in marks_of(part)[:1]:
        # "said maybe", "said no comment"
        if mark.start == 0 and not listed and (mark.kind not in _WITHHOLDING or mark.end >= said):
            return True
    verb = next((n for n, text in enumerate(texts) if text in _FINITE), 0)
    opener = next((n for n, text in enumerate(texts) if n and text in _RELATIVES), len(texts))
    return 0 < verb < opener and texts[0] not in _RELATIVES - {"what"}


def _opens_relative(before: Sentence) -> bool:
    """Whether a verb's subject follows a noun: "The story the witness told"."""
    if not before or before[0].text not in _HEADS:
        return False
    starts = _SUBJECTS | _ARTICLES
    return any(
        word.text in starts and last.text not in FUNCTION and last.raw[0].isalnum()
        for last, word in pairwise(before[1:])
    )


def _without_reports(rows: list[Sentence], aspect: AskedAspect) -> list[Sentence]:
    """Return sentences without what others said that they did not know, where a value is given.

    "Omar Seif found it, although experts had said that nobody would."
    """
    if silence_words("reporting").isdisjoint([word.text for row in rows for word in row]):
        return rows
    if aspect.kind == "any":
        return rows
    kept: list[Sentence] = []
    left_out = told = False
    for row in rows:
        parts = list(clauses_of_silence(row))
        keep = [part for part in parts if not _reports(part)]
        told = told or any(has_kind(part, aspect) for part in keep)
        left_out = left_out or len(keep) < len(parts)
        if keep:
            kept.append(tuple(word for part in keep for word in part))
    return kept if left_out and told and kept else rows


def _reports(clause: Sentence) -> bool:
    """Whether a clause says that others did not know, in their words."""
    spot = next((at for at, w in enumerate(clause) if w.text in silence_words("reporting")), None)
    if not spot or speaks_of_itself(clause):
        return False
    if any(w.text in silence_words("sources") for w in clause[:spot]):
        return False
    return any(m.kind in _WITHHOLDING and m.start > spot for m in marks_of(clause))

"""Words of doubt that an answer mentions and does not mean: quoted, a name, or another's report.

"The ship was named Uncertain", "She said 'No comment'" and "The clerk replied that he did not know"
answer their questions. The learned reader sees words of doubt in them, so such words are put as a
name before it reads. What a question must ask for, and what introduces such words, is listed in
``judges/data/lexicon.txt`` ([silence]).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cache, lru_cache

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
        hidden = _reported(row, marks)
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


def _reported(row: Sentence, marks: Sequence[CueMark]) -> set[int]:
    """Return the words behind somebody's saying: "The minister answered that he did not know"."""
    spots = [
        at
        for at, word in enumerate(row)
        if at and word.text in silence_words("saying") and row[at - 1].text not in _ARTICLES
    ]
    # "I cannot say", "can't find what he said"
    if not spots or speaks_of_itself(row) or any(mark.start <= spots[0] for mark in marks):
        return set()
    return set(range(spots[0] + 1, len(row)))


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
    if not spot or speaks_of_itself(clause) or any(w.text in _sources() for w in clause[:spot]):
        return False
    return any(m.kind in _WITHHOLDING and m.start > spot for m in marks_of(clause))


@cache
def _sources() -> frozenset[str]:
    return silence_words("sources")

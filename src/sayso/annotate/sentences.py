"""Cutting a text into sentences and clauses, by offsets: the text itself is never changed.

A clause is the smallest stretch a hedge can be limited to: "He was born in Ripley | but I am not
sure when". Sentences come from syntok, loaded when the first longer text is read.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple


class Span(NamedTuple):
    """Characters ``start:end`` of a text."""

    start: int
    end: int


#: Typographic characters that mean the same to every rule; each is replaced by one character.
_PLAIN = str.maketrans("’‘‛ʼ“”„«»\u00a0\u202f\u2009\t‑", '\'\'\'\'"""""    -')
_MORE_THAN_ONE = re.compile(r"[.!?…][\"')\]*_]*\s+\S")
_LIST_ITEM = re.compile(r"\s*(?:[-*•–]\s|#+\s|\(?\d{1,2}[.)]\s|\**[^\W\d_][\w '-]{0,40}\**:)")
_LINE = re.compile(r"[^\n\r]+")
_CHUNK = 20_000

#: Third-person subjects and verbs that may open the second part of "... and ...".
_SUBJECT = r"(?:he|she|it|they|there|i|we|you|his|her|its|their|this|that)\b"
_AUXILIARY = (
    r"(?:is|was|are|were|has|had|have|did|does|do|can|could|may|might|must|will|would|should)\b"
)
_PAST = (
    r"(?:became|began|wrote|won|led|made|went|ran|held|spent|took|grew|fell|gave|sold|built|taught|"
    r"sang|fought|met|left|rose|found|got|kept|lost|saw|sat|spoke|stood|told|thought|drew|drove|"
    r"knew|came|bought|brought|chose|flew|shot|sought|swam|lies|orbits|belongs|causes|affects|"
    r"employs|makes|produces|stars|features|works|lives|holds|lasts|takes|plays|sells|runs|"
    r"(?!(?:hundred|indeed|speed|need|seed|breed|embed)\b)(?-i:[a-z]{2,})ed)\b"
)
_ADVERBS = r"(?:(?:then|later|also|probably|possibly|perhaps|maybe|likely|apparently|(?-i:[a-z]{3,}ly))\s+){0,2}"
_VERB = rf"(?:{_SUBJECT}|{_ADVERBS}(?:{_AUXILIARY}|{_PAST}))"
_WH = r"(?:who|whom|whose|which|where|when)\b"
_BREAK = re.compile(
    rf"""
      ;\s+ | :\s+ | \s[–—]\s | \s--?\s | —
    | (?:,\s*|\s+)(?=but\s(?!also\b)|although\b|though\b|even\sthough\b|albeit\b|however\b)
    | ,\s+(?=(?:while|whereas|yet|so|because|since|as)\s)
    | ,\s+(?={_WH})
    | ,\s+(?={_ADVERBS}(?:{_AUXILIARY}|{_PAST}))
    | ,\s+(?={_SUBJECT})
    | (?:,\s*|\s+)(?=(?:and|or|nor)\s+(?:{_VERB}|(?:{_ADVERBS})(?:who|when|where|what|how)\b))
    """,
    re.VERBOSE | re.IGNORECASE,
)
#: A colon ends a clause only after the speaker's own words; "Born: Ripley" stays together.
_VOICE = re.compile(r"\b(?:I|we|my|please|not|sure)\b", re.IGNORECASE)


def plain(text: str) -> str:
    """Return ``text`` with typographic quotes and spaces made plain; every offset stays valid."""
    return text.translate(_PLAIN)


def _trim(text: str, start: int, end: int) -> Span:
    part = text[start:end]
    left = len(part) - len(part.lstrip())
    return Span(start + left, max(start + left, start + len(part.rstrip())))


def _paragraphs(text: str) -> list[Span]:
    """Lines, joined again where a line break is only a wrapped line."""
    found: list[Span] = []
    last = ""
    for line in _LINE.finditer(text):
        words = line.group()
        if not words.strip():
            last = ""
            continue
        gap = text[found[-1].end : line.start()] if found else ""
        wrapped = (
            last
            and gap.count("\n") <= 1
            and last.rstrip()[-1:] not in ".!?:…"
            and not _LIST_ITEM.match(words)
            and not _LIST_ITEM.match(last)
        )
        if wrapped and line.end() - found[-1].start < _CHUNK:
            found[-1] = Span(found[-1].start, line.end())
        else:
            found.append(Span(line.start(), line.end()))
        last = words
    return found


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[Span, ...]:
    """Return the sentences of ``text`` in order, without surrounding white space.

    Initials and abbreviations do not end a sentence (syntok); list items and headings are
    sentences of their own. An empty text has none. Very long lines are cut every 20,000
    characters, so that time stays linear in the length.
    """
    found: list[Span] = []
    for start, end in _paragraphs(text):
        if not _MORE_THAN_ONE.search(text, start, end):
            found.append(_trim(text, start, end))
            continue
        from syntok import segmenter

        for low in range(start, end, _CHUNK):
            part = text[low : min(low + _CHUNK, end)]
            for paragraph in segmenter.analyze(part):
                for tokens in paragraph:
                    if tokens:
                        last = tokens[-1]
                        found.append(
                            Span(low + tokens[0].offset, low + last.offset + len(last.value))
                        )
    return tuple(span for span in found if span.end > span.start)


def clauses(text: str, sentence: Span) -> list[Span]:
    """Cut one sentence (of plain text) where a hedge's reach may end.

    Boundaries: semicolon, colon, dash, "but", "although", commas before relative pronouns and new
    subjects, "and" before a verb or subject. A conjunction belongs to the clause it opens.
    """
    found: list[Span] = []
    start = sentence.start
    for cut in _BREAK.finditer(text, sentence.start, sentence.end):
        if cut.group()[0] == ":" and not _VOICE.search(text, start, cut.start()):
            continue
        if cut.start() > start:
            found.append(_trim(text, start, cut.start()))
        start = max(start, cut.end())
    found.append(_trim(text, start, sentence.end))
    return [span for span in found if span.end > span.start]

"""Cutting a text into sentences and clauses, by offsets: the text itself is never changed.

A clause is the smallest stretch a hedge can be limited to: "He was born in Ripley | but I am not
sure when". Sentences come from syntok, loaded when the first longer text is read.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from sayso.judges.english.lexicon import alternatives, lexicon_words
from sayso.judges.english.tokens import seen
from sayso.judges.patterns import regex


class Span(NamedTuple):
    """Characters ``start:end`` of a text."""

    start: int
    end: int


_EMPHASIS = str.maketrans("\t*`", "   ")  # no part of a sentence
_MORE_THAN_ONE = regex(r"[.!?…][\"')\]*_]*\s+\S")
_LIST_ITEM = regex(r"\s*(?:[-*•–]\s|#+\s|\(?\d{1,2}[.)]\s|\**[^\W\d_][\w '-]{0,40}\**:)")
_LINE = regex(r"[^\n\r]+")
_CHUNK = 20_000
#: A longer sentence is no sentence; it is cut, so that work inside one stays bounded.
_LONGEST = 2_000
_CUT = regex(r"\S.{0,1999}(?!\S)|\S{1,2000}", re.DOTALL)

AUXILIARY = rf"(?:{alternatives(lexicon_words('auxiliaries', 'sentences'))})\b"
#: Past forms, and present forms that nobody takes for plural nouns: "and leads to" opens a clause.
PAST = (
    rf"(?:{alternatives(lexicon_words('verbs', 'sentences.past'))}|"
    rf"{alternatives(lexicon_words('verbs', 'sentences.present'))}|"
    r"(?!(?:hundred|indeed|speed|need|seed|breed|embed)\b)(?-i:[a-z]{2,})ed)\b"
)
#: Where the segmenter sees no end: after "(?).", and before a sentence that opens with a number.
_BRACKET_STOP = regex(
    r"(?<=[?!]\)\.)\s+(?=[^\W\d_a-z])|(?<=[a-z]{4}\.)(?<!prox\.)\s+(?=\d[\d,.]*\s+\w)|"
    r"(?<=\s\d{4}\.)\s+(?=\d[\d,.]*\s+[a-z])|"
    r"(?:(?<=\d m\.)|(?<=\d (?:km|kg|cm|mm|ft|mi|lb)\.))\s+(?=[A-Z])"
)
#: In text without capitals a full stop alone ends a sentence, and a new subject a clause.
_LOWER_STOP = regex(r"(?<=[a-z0-9)][a-z0-9)])[.!?]+\s+")


def plain_text(text: str) -> str:
    """Return ``text`` as it is ``seen``, without emphasis; every offset stays valid."""
    return seen(text).translate(_EMPHASIS)


def _paragraphs(text: str) -> list[Span]:
    """Lines, joined again where a line break is only a wrapped line."""
    if "\n" not in text and "\r" not in text:
        return [Span(0, len(text))] if text.strip() else []
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


def _cut(text: str, span: Span) -> list[Span]:
    if text.find(".", span.start, span.end - 1) < 0:
        return _cut_last(text, span)  # no stop that something follows
    whole: list[Span] = []
    for stop in _BRACKET_STOP.finditer(text, *span):
        whole += _cut_long(text, Span(span.start, stop.start()))
        span = Span(stop.end(), span.end)
    return whole + _cut_last(text, span)


def _cut_last(text: str, span: Span) -> list[Span]:
    part = text[span.start : span.end]
    if part.islower() or part.lstrip()[:1].islower():
        found: list[Span] = []
        start = span.start
        for stop in _LOWER_STOP.finditer(text, span.start, span.end):
            found.append(Span(start, stop.end() - len(stop.group()) + 1))
            start = stop.end()
        if found and start < span.end:
            return [p for s in [*found, Span(start, span.end)] for p in _cut_long(text, s)]
    return _cut_long(text, span)


def _cut_long(text: str, span: Span) -> list[Span]:
    if span.end - span.start <= _LONGEST:
        return [span]
    return [Span(*m.span()) for m in _CUT.finditer(text, span.start, span.end)]


#: so many brackets that are never closed are no brackets: the segmenter looks far ahead for each
_MOST_OPEN = 20
_NO_BRACKETS = str.maketrans("([{", "___")


@lru_cache(maxsize=4096)
def split_sentences(text: str) -> tuple[Span, ...]:
    """Return the sentences of ``text`` in order, without surrounding white space.

    Initials and abbreviations do not end a sentence (syntok); list items and headings are
    sentences of their own. An empty text has none. Very long lines are cut every 20,000
    characters, so that time stays linear in the length.
    """
    found: list[Span] = []
    for start, end in _paragraphs(text):
        if not _MORE_THAN_ONE.search(text, start, end):
            part = text[start:end]
            left = start + len(part) - len(part.lstrip())
            found.append(Span(left, max(left, start + len(part.rstrip()))))
            continue
        from syntok import segmenter

        for low in range(start, end, _CHUNK):
            part = text[low : min(low + _CHUNK, end)]
            if sum(map(part.count, "([{")) - sum(map(part.count, ")]}")) > _MOST_OPEN:
                part = part.translate(_NO_BRACKETS)
            for paragraph in segmenter.analyze(part):
                for tokens in paragraph:
                    if tokens:
                        last = tokens[-1]
                        found.append(
                            Span(low + tokens[0].offset, low + last.offset + len(last.value))
                        )
    return tuple(part for span in found if span.end > span.start for part in _cut(text, span))

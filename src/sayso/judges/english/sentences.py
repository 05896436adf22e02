"""Cutting a text into sentences and clauses, by offsets: the text itself is never changed.

A clause is the smallest stretch a hedge can be limited to: "He was born in Ripley | but I am not
sure when". Sentences come from syntok, loaded when the first longer text is read.

``parts`` are the sentences of a long answer, for claims: those of ``split_sentences``, without
markup. Headings, list markers, table rules and code fences are no sentences; each list item and
each table row is one. It also handles a full stop that closes both an abbreviation and a sentence
("in the U.S. He left"), citations after it ("1999.[3] They"), and abbreviations syntok does not
know.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache
from typing import NamedTuple

from sayso.judges.english.lexicon import alternatives, lexicon_words
from sayso.judges.english.tokens import plain_marks
from sayso.judges.patterns import regex


class Span(NamedTuple):
    """Characters ``start:end`` of a text."""

    start: int
    end: int


_PLAIN = plain_marks("sentences")
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
    """Return ``text`` with typographic quotes and spaces made plain; every offset stays valid."""
    return text.translate(_PLAIN)


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


# ---- the sentences of a long answer, without markup


class SentencePart(NamedTuple):
    """One sentence. ``item``: of a list or table; ``lead``: place of the sentence that opens it."""

    start: int
    end: int
    item: bool = False
    lead: int | None = None


_MARK = regex(
    r"[ \t]*(?:(?:[-*•–—+·‣▪◦]|\(?\d{1,3}[.)]|\(?[a-z]\))(?:[ \t]+|(?=[\n\r]|\Z))|>[ \t]?){1,5}"
)
_HEADING = regex(
    r"[ \t]*(?:\d{1,2}[.)][ \t]+)?(?:#{1,6}(?:[ \t].*|$)|"
    r"(?:\*\*|__)[^*_]{1,120}(?:\*\*|__)[ \t]*+(?::[ \t]*+)?$)"
)
_RULE = regex(r"(?:[-=*_~`|:+ \t]{3,}+|[ \t]*+(?:```|~~~).*)$")
_ROW = regex(r"[ \t]*\|.*\|[ \t]*$")
_ITEM = regex(r"[ \t]*(?:[-*•–—+·‣▪◦][ \t]|\(?\d{1,3}[.)][ \t]|\|)")
_FINITE_VERB = regex(rf"\b(?:{AUXILIARY}|{PAST}|born)\b", re.IGNORECASE)
_TITLE = regex(r"[ \t]*[^\W_][^.!?;:,]{1,58}[^\W_)][ \t]*$")
#: "Early life:", while "Her roles include:" opens a list.
_LABEL = regex(
    rf"[ \t]*(?!(?:{alternatives(lexicon_words('openers', 'sentences.label'))})\b)"
    r"[^\W\d_][^.!?;:]{0,40}:[ \t]*$"
)
_CITED = regex(r"(?:\s*\[\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\])+")
_WORD = regex(r"[^\W_]")
#: longer ones are not joined again
_LONGEST_JOINED = 2_000

#: Words that open a sentence and no name.
_OPENER = rf"(?:{alternatives(lexicon_words('openers', 'sentences'))})"
#: An abbreviation whose full stop also ends the sentence, told by the next word.
_ALSO_END = regex(
    r"(?:\b(?:[A-Za-z]\.){2,5}|"
    rf"\b(?:{alternatives(lexicon_words('abbreviations', 'sentences.closing'))})\.|"
    r"\s[A-Z]\.)(?:[\"')]*)\s+(?="
    rf"{_OPENER}(?:,|\s+(?:[a-z]|[A-Z][\w.-]+\s+(?:is|was|has|had)\b)|\s+\d))"
)
_CITED_END = regex(r"(?:[.!?][\"')]*(?:\s?\[\d{1,3}\])+|[\])]\.)\s+(?=[\"'(]?[^\W_a-z]\S*\s)")
#: "One sentence.Another one": two lower-case words around the stop, and no address.
_GLUED = regex(r"(?<=[a-z]{3})[.!?](?=[A-Z][a-z]*\s+[a-z])")
#: Abbreviations that never end a sentence before a name or number.
_NO_END = regex(rf"\b(?:{alternatives(lexicon_words('abbreviations', 'sentences'))})\.$")
_NEXT = regex(rf"(?!{_OPENER}\s)[\"'(]?[A-Z0-9]")


def _is_title(text: str, lines: list[tuple[int, int]], at: int) -> bool:
    """A short line without a verb or a stop, over a line that begins anew."""
    low, high = lines[at]
    line = text[low:high]
    if at + 1 == len(lines) or _ITEM.match(line) or not _TITLE.match(line):
        return False
    if len(line.split()) > 7 or not line.lstrip()[:1].isupper() or _FINITE_VERB.search(line):
        return False
    if at and "\n\n" not in text[lines[at - 1][1] : low]:
        before = text[slice(*lines[at - 1])].rstrip()
        if before[-1:] not in ".!?:" and not _ITEM.match(before):
            return False
    below = text[slice(*lines[at + 1])].lstrip()
    return bool(_ITEM.match(below)) or (
        below[:1].isupper() and (len(below.split()) > 3 or below.rstrip()[-1:] in ".!?")
    )


def _masked(text: str, whole: str) -> tuple[str, set[int]]:
    """Return ``whole`` with all markup made line breaks, and where items begin."""
    shown = list(whole)
    items: set[int] = set()
    lines = [line.span() for line in _LINE.finditer(text)]

    def blank(low: int, high: int) -> None:
        shown[low:high] = "\n" * (high - low)

    for at, (low, high) in enumerate(lines):
        line = text[low:high]
        below = ""
        if at + 1 < len(lines) and text.count("\n", high, lines[at + 1][0]) == 1:
            below = text[slice(*lines[at + 1])]
        ruled = bool(below.strip() and _RULE.match(below) and set(below.strip()) <= set("=-|: \t"))
        heading = _HEADING.match(line) or (
            _LABEL.match(line) and not _FINITE_VERB.search(line) and not _ITEM.match(line)
        )
        over = ruled and ("|" in line or len(line.split()) <= 12)
        if _RULE.match(line) or heading or over or _is_title(text, lines, at):
            blank(low, high)
            continue
        mark = _MARK.match(text, low, high)
        if mark is not None:
            blank(low, mark.end())
            items.add(mark.end())
        elif _ROW.match(line):
            first = low + line.index("|")
            last = low + line.rindex("|")
            blank(low, first + 1)
            blank(last, high)
            items.add(first + 1)
    return "".join(shown), items


def _divided(text: str, span: Span) -> list[Span]:
    """Cut a sentence where its end was overlooked."""
    ends: list[tuple[int, int]] = []
    for pattern in (_ALSO_END, _CITED_END, _GLUED):
        for found in pattern.finditer(text, *span):
            end = found.start() + len(found.group().rstrip())
            ends.append((end, found.end()))
    parts, start = [], span.start
    for end, after in sorted(ends):
        if end > start:
            parts.append(Span(start, end))
            start = after
    parts.append(Span(start, span.end))
    return [p for p in parts if p.end > p.start]


def _joined(text: str, found: list[Span]) -> list[Span]:
    """Join what was cut behind an abbreviation, and citations to the sentence they follow."""
    whole: list[Span] = []
    for span in found:
        if whole:
            last = whole[-1]
            gap = text[last.end : span.start]
            tail = text[max(last.start, last.end - 12) : last.end]
            short = tail.endswith("Pvt.") and text.startswith("Ltd", span.start)
            if span.end - last.start > _LONGEST_JOINED:
                whole.append(span)
                continue
            if "\n" not in gap and (short or (_NO_END.search(tail) and _NEXT.match(text, *span))):
                whole[-1] = Span(last.start, span.end)
                continue
            cited = _CITED.match(text, *span)
            if cited is not None and "\n" not in gap:
                whole[-1] = Span(last.start, cited.end())
                rest = len(text[cited.end() : span.end]) - len(
                    text[cited.end() : span.end].lstrip(" .")
                )
                span = Span(cited.end() + rest, span.end)
        if span.end > span.start:
            whole.append(span)
    return whole


@lru_cache(maxsize=1024)
def parts(text: str) -> tuple[SentencePart, ...]:
    """Return the sentences of a long answer, by offsets into ``text``, in order.

    A text of markup, punctuation or white space alone has none.
    """
    masked, marked = _masked(text, plain_text(text))
    items = sorted(marked)
    found: list[Span] = []
    for span in _joined(masked, list(split_sentences(masked))):
        found += _divided(masked, span)
    kept: list[SentencePart] = []
    lead: int | None = None
    for span in found:
        if not _WORD.search(masked, *span):
            continue
        left = masked.rfind("\n", 0, span.start) + 1
        item = bisect_left(items, left) < bisect_right(items, span.start)
        closed = _trimmed(text, span)
        if not item:
            lead = len(kept) if masked[closed.start : closed.end].endswith(":") else None
        kept.append(SentencePart(closed.start, closed.end, item, lead if item else None))
    return tuple(kept)


def _trimmed(text: str, span: Span) -> Span:
    """Take over quotes and brackets that close the sentence, and drop emphasis at its edges."""
    start, end = span
    while start < end and (text[start] in "*_`|~" or text[start].isspace()):
        start += 1
    while end > start and (text[end - 1] in "*_`|~" or text[end - 1].isspace()):
        end -= 1
    return Span(start, end)

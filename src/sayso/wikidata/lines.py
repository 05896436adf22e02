"""Which lines of a dump can matter, found in their bytes before anything is parsed.

A line is taken too often rather than too seldom. An id stands near the name of its property: both
are fields of one snak, which has a bounded size whatever the order of its fields and however it is
spaced. Where nothing is found near, everything counts as found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from functools import cache

import numpy as np

Spans = Sequence[tuple[int, int]]

#: bytes on both sides of ``"P31"`` in which its snak's value stands; a snak takes 200 to 300
NEAR = 500
_ID = re.compile(rb'\{\s*(?:"\w+"\s*:\s*(?:"[^"\\]*"|\d+)\s*,\s*)*?"id"\s*:\s*"([QPLE]\d+)"')
_LIST = re.compile(rb'"P\d+"\s*:\s*(?=\[\s*\{\s*"mainsnak")')
_LISTS_END = re.compile(
    rb'\}\s*\](?=\s*(?:,\s*"P\d+"\s*:\s*\[\s*\{\s*"mainsnak"|\}\s*,\s*"sitelinks"))'
)
_TARGET = re.compile(rb'"(?:id"\s*:\s*"Q|numeric-id"\s*:\s*)(\d{1,18})')
_ITEM = re.compile(r"Q[0-9]{1,18}")
#: bytes that are checked for UTF-8 at once: most of a line is ASCII, which is quick
PIECE = 1 << 12
#: an entity's own id stands at the beginning, before labels
HEAD = 400


def own_id(text: bytes, start: int = 0, end: int | None = None) -> bytes | None:
    """Return the id of a line's entity from its first bytes, or ``None`` where it is not there."""
    found = _ID.match(text, start, min(start + HEAD, len(text) if end is None else end))
    return found[1] if found else None


def places(text: bytes, property: bytes) -> list[int]:
    """Return where ``"P31"`` stands in a text, in order; a property's id has three bytes or more.

    Four bytes of the name are compared with every four bytes of the text, many at once, and the
    rest only where they are found: three times as fast as ``bytes.find``.
    """
    name = b'"' + property + b'"'
    if len(text) < len(name):
        return []
    count = (len(text) - 3) // 4
    skip = len(name) - 5
    (wanted,) = np.frombuffer(name, np.uint32, 1, skip)
    hits = np.frombuffer(text, np.uint32, count) == wanted
    for shift in (1, 2, 3):
        hits |= np.frombuffer(text, np.uint32, count, shift) == wanted
    # the last bytes, which no four words cover, are looked at in any case
    groups = [*np.flatnonzero(hits).tolist(), count]
    starts = (4 * group - skip for group in groups)
    found = (text.find(name, max(at, 0), at + 3 + len(name)) for at in starts)
    return [at for at in found if at >= 0]


def by_line(found: Iterable[int], spans: Spans) -> dict[int, list[int]]:
    """Sort places in a text, in order, by the index of the line in which they lie."""
    lines: dict[int, list[int]] = {}
    line = 0
    for at in found:
        while line < len(spans) and at >= spans[line][1]:
            line += 1
        if line < len(spans) and at >= spans[line][0]:
            lines.setdefault(line, []).append(at)
    return lines


def pointing(text: bytes, spans: Spans, property: bytes, items: Set[int]) -> list[int]:
    """Return indexes of the lines in which a property may point to one of these items."""
    value = _value(property)
    found = []
    for line, starts in by_line(places(text, property), spans).items():
        start, end = spans[line]
        seen = 0
        for at in starts:
            if at < seen:
                continue
            if exact := value.match(text, at, end):
                seen = exact.end()
                hit = int(exact[1]) in items
            else:
                near = _TARGET.findall(text, max(start, at - NEAR), min(end, at + NEAR))
                hit = not near or not items.isdisjoint(map(int, near))
            if hit:
                found.append(line)
                break
    return found


def statements(text: bytes, at: int, end: int) -> bytes | None:
    """Return the list of statements of which a property's name at ``at`` is the key.

    ``None`` where that cannot be told from the bytes. What follows the list may be left at its end:
    whoever reads it will notice.
    """
    begin = _LIST.match(text, at, end)
    stop = _LISTS_END.search(text, begin.end(), end) if begin else None
    return text[begin.end() : stop.end()] if begin and stop else None


@cache
def _value(property: bytes) -> re.Pattern[bytes]:
    """A property and its item as Wikidata writes them, from the name of the property on.

    It may stand there twice, as the key of its first statement and in that.
    """
    name = b'"' + property + b'"'
    twice = (b"(?:", b":", rb"\[", rb"\{", b'"mainsnak"', b":", rb"\{", b'"snaktype"', b":",
             b'"value"', b",", b'"property"', b":", name, b")?")  # fmt: skip
    hash = (b"(?:,", b'"hash"', b":", rb'"\w*"', b")?")
    item = (b",", b'"datavalue"', b":", rb"\{", b'"value"', b":", rb"\{", b'"entity-type"', b":",
            b'"item"', b",", b'"numeric-id"', b":", rb"(\d{1,18})", b",", b'"id"', b":",
            rb'"Q\1"')  # fmt: skip
    return re.compile(rb"\s*".join((name, *twice, *hash, *item)))


def item_number(id: str) -> int | None:
    """Return 42 for "Q42", ``None`` for whatever is no item's id."""
    return int(id[1:]) if _ITEM.fullmatch(id) else None


def cut(data: bytes) -> str | None:
    """Return what is wrong with a line from outside; ``None`` for a whole one or a bracket."""
    if data[:1] == b"{" and data[-1:] == b"}":
        return None
    if data in (b"", b"[", b"]"):
        return None
    return "is cut off" if data[:1] == b"{" else "is no JSON object"


def no_text(data: bytes) -> str | None:
    """Return what is wrong with a line that is no UTF-8, ``None`` for text."""
    if data.isascii():
        return None
    at = 0
    while at < len(data):
        end = at + PIECE
        while end < min(at + PIECE + 3, len(data)) and data[end] & 0xC0 == 0x80:
            end += 1  # a character of up to four bytes is not cut in two
        piece = data[at:end]
        try:
            piece.isascii() or piece.decode()
        except UnicodeDecodeError as error:
            return f"is no UTF-8 at its byte {at + error.start + 1}"
        at = end
    return None


__all__ = [
    "HEAD",
    "NEAR",
    "Spans",
    "by_line",
    "cut",
    "item_number",
    "no_text",
    "own_id",
    "places",
    "pointing",
    "statements",
]

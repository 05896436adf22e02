"""The words of an answer, without what they are wrapped in: thoughts, a code fence, JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from sayso.judges.english.lexicon import lexicon_rows
from sayso.judges.english.stated import Confidence, confidences, outside
from sayso.judges.english.tokens import seen
from sayso.judges.patterns import regex
from sayso.prompts.thoughts import Split, is_spoken_of, split_thoughts

#: longer texts are not read as JSON
_LONGEST = 20_000
#: tags around an answer, of which the last one counts; one that was cut off has no end
_TAGGED = regex(
    r"<(answer|final_answer|output|solution|response)>(?P<said>(?:(?!<\1>).)*?)</\1>"
    r"|(?m:^)[ \t]*<answer>(?P<begun>[^<]*)\Z",
    re.I | re.S,
)
_FENCE = regex(r"\s*(?:```\w*\s*(?=\{)|(?=\{))")
#: what may follow the object
_AFTER = regex(r"\s*+(?:```\s*+)?\Z")
#: an escape in a JSON text; two that make one character are one
_ESCAPED = regex(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.", re.S)
_KEY = regex(r"\s*+,?\s*+(?P<key>\"(?:[^\"\\]|\\.)*+\")\s*+:\s*+", re.S)
_DECODER = json.JSONDecoder(strict=False)
_INVISIBLE = regex("[\u200b-\u200d\u2060\ufeff\u00ad]+")


class Said(NamedTuple):
    """What a text says to its reader, without labels of confidence; these speak of places in it."""

    split: Split
    stated: tuple[Confidence, ...] = ()


def unwrapped(text: str, addresses: bool = False, question: str = "") -> Said:
    """Return what a text says to its reader; ``kept`` are the spans of the text it came from.

    Thoughts are no answer, and one that never ends leaves none. What stands in tags such as
    ``<answer>`` is one. Of a JSON object that is the whole text, the value of "answer" (or of its
    only key) is the answer; an empty list has none. "Confidence: 30%" beside an answer is no part
    of it. The text is as it is ``seen``.
    """
    split = split_thoughts(text)
    value = _json_value(split.text)
    stated = confidences(split.text, question)
    places = [(one.start, one.end) for one in stated if one.kind == "label"]
    stated = [
        one._replace(low=split.place(one.low), high=split.place(one.high - 1) + 1) for one in stated
    ]
    if value is None and places:
        split = split.only(outside(split.text, places))
    tags = list(_TAGGED.finditer(split.text)) if value is None and "<" in split.text else []
    tag = next((tag for tag in reversed(tags) if not is_spoken_of(split.text, tag)), None)
    if tag is not None:
        split = split.only([tag.span("said" if tag["said"] is not None else "begun")])
        value = _json_value(split.text)
    if value is not None:
        split = split.only(value[1])._replace(text=value[0])
    if tag is not None or value is not None:
        stated = [one._replace(low=0, high=len(text)) for one in stated]
    shown = [hit.span() for hit in _INVISIBLE.finditer(split.text)]
    if shown and not split.text.isspace():
        split = split.only(outside(split.text, shown))
    return Said(split._replace(text=seen(split.text, addresses)), tuple(stated))


@lru_cache(maxsize=1024)
def _json_value(text: str) -> tuple[str, tuple[tuple[int, int], ...]] | None:
    """Return the value of the answer in a JSON object and its spans; ``None`` for other texts."""
    opens = _FENCE.match(text) if "{" in text and len(text) <= _LONGEST else None
    if opens is None:
        return None
    try:
        _, end = _DECODER.raw_decode(text, opens.end())
        members = list(_members(text, opens.end() + 1)) if _AFTER.match(text, end) else []
    except (ValueError, RecursionError):
        return None
    names = [row.split() for row in lexicon_rows("answer keys")]
    wanted = [m for row in names for name in row for m in members if m[0] == name]
    if not wanted and len(members) == 1:
        wanted = members
    if not wanted:
        return None
    _, value, start, end = wanted[0]
    if value is None or value == []:
        return text[start:end] if value is None else "", ((start, end),)
    if not isinstance(value, str):
        return text[start:end], ((start, end),)
    kept: list[tuple[int, int]] = []
    at = start + 1
    for escape in _ESCAPED.finditer(text, start + 1, end - 1):
        kept += [(at, escape.start()), (escape.start(), escape.start() + 1)]
        at = escape.end()
    kept.append((at, end - 1))
    spans = tuple(span for span in kept if span[0] < span[1])
    return value, spans


def _members(text: str, at: int) -> Iterator[tuple[str, Any, int, int]]:
    """Yield each member of a JSON object: key as one word, value, where the value stands."""
    while (key := _KEY.match(text, at)) is not None:
        start = key.end()
        value, at = _DECODER.raw_decode(text, start)
        name = "".join(c for c in json.loads(key["key"], strict=False).casefold() if c.isalnum())
        yield name, value, start, at

"""The ways to read one gold: whole, and without what its writer only added for clarity."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from sayso.annotate.names import person_parts
from sayso.annotate.normalize import STOP, Token, content, tokens, word_set
from sayso.annotate.words import country_names

ARTICLES = frozenset({"a", "an", "the"})
_PARENTHESES = re.compile(r"\s*[(\[{]([^()\[\]{}]*)[)\]}]?")
_CLAUSE = re.compile(r",?\s+(?:who|which|that|whose|where|when)\s.*$", re.DOTALL)
_DASH = re.compile(r"\s+[-\u2013\u2014]+\s+.*$", re.DOTALL)
_DATED = re.compile(r"\s+(?:in|of|from|since)\s+(?:the\s+)?\d{3,4}s?$")
_ORIGIN = re.compile(r"\s+(?:of|from|in)\s+(?:the\s+)?[A-Z][\w.]*(?:\s+[A-Z][\w.]*)*$")
LISTED = re.compile(r"\band\b|&|;|\bor\b", re.IGNORECASE)
_LEADING = re.compile(
    r"^(?:to|of|by|in|on|at|from|as|with|for|because of|due to|about|approximately|over)\s+",
    re.IGNORECASE,
)
# Kinds that a gold names for clarity: "drama film" is well named by "drama".
_KINDS = word_set(
    "film movie genre music language company corporation disease disorder syndrome river region"
    " surname programming"
)
# Not the comma inside "2,430".
_COMMA = re.compile(r",(?!\d)")
_ONES = re.compile(r"(?<=[a-z]\s)(?:l{1,3}|1{2,3})$")


class Form(NamedTuple):
    """A gold phrase taken apart: tokens without articles, content tokens, glued letters.

    ``whole`` is False for a reading that leaves a part of the gold out.
    """

    value: str
    tokens: tuple[Token, ...]
    content: tuple[Token, ...]
    glued: str
    person: tuple[Token, ...] | None
    whole: bool


def _form(value: str, whole: bool) -> Form | None:
    items = tuple(tokens(value))
    items = tuple(t for t in items if t.text not in ARTICLES) or items
    if not items:
        return None
    parts = person_parts(items) if not re.search(r"[(),;/]", value) else None
    return Form(
        value,
        items,
        tuple(content(items)),
        "".join(t.text for t in items),
        tuple(parts) if parts else None,
        whole,
    )


def _capital_run(value: str) -> str | None:
    """Return the name that lower case introduces: the end of "Swedish botanist Carl Linnaeus"."""
    words = value.split()
    at = len(words)
    while at and words[at - 1][:1].isupper():
        at -= 1
    described = at and at < len(words) and words[at - 1].isalpha() and words[at - 1].islower()
    if not described or words[at - 1] in (
        "of",
        "the",
        "in",
        "and",
        "for",
        "de",
        "von",
        "van",
        "on",
        "to",
        "at",
    ):
        return None
    return " ".join(words[at:])


@lru_cache(maxsize=8192)
def readings(value: str) -> tuple[Form, ...]:
    """Return the ways to read a gold, the whole one first.

    Left out may be: parentheses, what follows a comma or a dash (unless the gold is a list), a
    relative clause, a year or place at the end, lower-case words before a name. "A or B" is both.
    """
    value = " ".join(value.split())
    whole = [value]
    bare = " ".join(_PARENTHESES.sub(" ", value).split()).strip(" ,")
    if bare and bare != value:
        whole.append(bare)
        inside = _PARENTHESES.search(value)
        if inside and re.fullmatch(r"[A-Z]{2,6}", inside[1].strip()):
            whole.append(inside[1].strip())
    if _ONES.search(bare):
        whole.append(_ONES.sub(lambda m: "I" * len(m[0]), bare))
    halves = re.split(r"\s+or\s+", bare, flags=re.IGNORECASE)
    if "," not in bare and len(halves) > 1:
        whole.extend(half for half in halves if re.search(r"\w{2}", half))
    short: list[str] = list(country_names(bare))
    for v in dict.fromkeys((value, bare)):
        shorter = _DASH.sub("", _CLAUSE.sub("", v))
        head, *comma = _COMMA.split(shorter, maxsplit=1)
        if comma and not LISTED.search(shorter):
            short.append(head)
        words = shorter.split()
        if len(words) > 1 and words[-1] in _KINDS:
            short.append(" ".join(words[:-1]))
        short += [shorter, _LEADING.sub("", shorter), _DATED.sub("", shorter)]
        if len(shorter.split()) > 2:
            rest = _ORIGIN.sub("", shorter)
            if len([t for t in tokens(rest) if t.text not in STOP]) >= 2:
                short.append(rest)
        for one in (shorter, head if comma else shorter):
            name = _capital_run(one)
            if name:
                short.append(name)
                short.append(_ORIGIN.sub("", name))
    found = [_form(v, True) for v in dict.fromkeys(whole)]
    found += [_form(v, False) for v in dict.fromkeys(short) if v and v not in whole]
    return tuple(f for f in found if f is not None)

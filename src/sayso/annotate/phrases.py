"""Is a phrase said in a text? In the same words, glued, reordered, inflected, or as a name variant."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from sayso.annotate.names import PARTICLES, SUFFIXES, TITLES, person_parts, same_given
from sayso.annotate.normalize import STOP, Token, content, near, tokens

_ARTICLES = frozenset({"a", "an", "the"})


class Text(NamedTuple):
    """A text taken apart once: tokens without articles, where each form stands, all glued."""

    tokens: tuple[Token, ...]
    places: dict[str, list[int]]
    glued: str
    starts: tuple[int, ...]


class Hit(NamedTuple):
    """A match: token indices in the text, inclusive, and the rule that found it."""

    first: int
    last: int
    why: str


@lru_cache(maxsize=512)
def read(text: str) -> Text:
    """Take a text apart (cached, as a text is compared with several golds)."""
    items = tuple(t for t in tokens(text) if t.text not in _ARTICLES)
    places: dict[str, list[int]] = {}
    starts, at = [], 0
    for i, t in enumerate(items):
        places.setdefault(t.stem, []).append(i)
        if t.text != t.stem:
            places.setdefault(t.text, []).append(i)
        starts.append(at)
        at += len(t.text)
    return Text(items, places, "".join(t.text for t in items), tuple(starts))


class Form(NamedTuple):
    """A gold phrase taken apart: tokens without articles, content tokens, glued letters."""

    tokens: tuple[Token, ...]
    content: tuple[Token, ...]
    glued: str
    person: tuple[Token, ...] | None


def _form(value: str) -> Form | None:
    items = tuple(t for t in tokens(value) if t.text not in _ARTICLES) or tuple(tokens(value))
    if not items:
        return None
    person = person_parts(items)
    return Form(
        items,
        tuple(content(items)),
        "".join(t.text for t in items),
        tuple(person) if person else None,
    )


@lru_cache(maxsize=8192)
def forms(value: str) -> tuple[Form, ...]:
    """Return the ways to read a gold: whole, without parentheses, without what a comma adds."""
    variants = [value]
    bare = re.sub(r"\s*[(\[{][^()\[\]{}]*[)\]}]?", " ", value).strip()
    if bare and bare != value:
        variants.append(bare)
    found = []
    for v in dict.fromkeys(variants):
        one = _form(v)
        if one is not None:
            found.append(one)
    return tuple(found)


def phrase(form: Form, text: Text) -> Hit | None:
    """The gold's words, one after the other (articles apart), up to inflection."""
    want = form.tokens
    n = len(want)
    for i in text.places.get(want[0].stem, ()):
        if i + n <= len(text.tokens) and all(
            text.tokens[i + k].stem == want[k].stem for k in range(1, n)
        ):
            return Hit(i, i + n - 1, "phrase")
    return None


def glued(form: Form, text: Text) -> Hit | None:
    """The gold's letters, wherever the spaces went; inside longer words only if it is long."""
    size = len(form.glued)
    if size < 2:
        return None
    at = text.glued.find(form.glued)
    tries = 0
    while at >= 0 and tries < 50:
        first = bisect_right(text.starts, at) - 1
        last = bisect_right(text.starts, at + size - 1) - 1
        clean = text.starts[first] == at
        end = text.starts[last] + len(text.tokens[last].text)
        if (clean and end == at + size) or (
            size >= 8 and (clean or end == at + size) and not form.glued.isdigit()
        ):
            return Hit(first, last, "glued")
        at = text.glued.find(form.glued, at + 1)
        tries += 1
    return None


def person(form: Form, text: Text) -> Hit | None:
    """The same family name with an agreeing given name; middle names, titles, suffixes are free."""
    if form.person is None:
        return None
    family, given = form.person[-1], form.person[0]
    for i in text.places.get(family.text, ()):
        if text.tokens[i].text != family.text:
            continue
        before = []
        k = i - 1
        while k >= 0 and i - k <= 4:
            t = text.tokens[k]
            if not (t.capital or t.text in PARTICLES) or t.text in TITLES or t.number:
                break
            before.append(k)
            k -= 1
        for k in before:
            if same_given(text.tokens[k].text, given.text):
                return Hit(k, i, "name")
    return None


def spread(form: Form, text: Text, known: frozenset[str]) -> Hit | None:
    """All content words of the gold close together, in any order; the question's own may be missing."""
    want = {t.stem for t in form.content}
    new = {w for w in want if w not in known} or want
    if len(new) < 1 or (len(want) == 1):
        return None
    places = sorted((i, w) for w in new for i in text.places.get(w, ()))
    width = 6 + 3 * len(new)
    count: dict[str, int] = {}
    left = 0
    for right, (i, w) in enumerate(places):
        count[w] = count.get(w, 0) + 1
        while i - places[left][0] > width:
            gone = places[left][1]
            count[gone] -= 1
            if not count[gone]:
                del count[gone]
            left += 1
        if len(count) == len(new):
            return Hit(places[left][0], i, "words")
    return None

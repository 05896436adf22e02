"""Is a phrase said in a text: in the same words, glued, reordered, inflected, as a name variant?"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

from sayso.annotate.names import PARTICLES, TITLES, same_given, stands_alone
from sayso.annotate.normalize import CHANGERS, NUMERALS, STOP, Token, tokens, word_set
from sayso.annotate.quantities import ordinal
from sayso.annotate.readings import ARTICLES, Form
from sayso.annotate.words import keys, slip

_SMALL_WORDS = STOP | word_set("us no me may can all any out up go he it pm am so do")


class Text(NamedTuple):
    """A text taken apart once: tokens without articles, where each form stands, all glued.

    ``starts`` are the tokens' positions in ``glued``, ``at`` those in the text itself.
    """

    tokens: tuple[Token, ...]
    places: dict[str, list[int]]
    glued: str
    starts: tuple[int, ...]
    at: tuple[int, ...]
    letters: dict[str, list[str]]
    located: dict[str, tuple[int, ...]]


class Hit(NamedTuple):
    """A match: token indices in the text, inclusive, and the rule that found it."""

    first: int
    last: int
    why: str


@lru_cache(maxsize=512)
def read(text: str) -> Text:
    """Take a text apart (cached, as a text is compared with several golds)."""
    items = tuple(t for t in tokens(text) if t.text not in ARTICLES)
    places: dict[str, list[int]] = {}
    starts, at = [], 0
    letters: dict[str, list[str]] = {}
    for i, t in enumerate(items):
        if t.text not in places:
            letters.setdefault(t.text[0], []).append(t.text)
        for key in keys(t.text, t.stem):
            places.setdefault(key, []).append(i)
        if t.number and t.raw.isalpha():
            # What reads as a Roman numeral in capitals may be a word in capitals.
            places.setdefault(t.raw.casefold(), []).append(i)
        if t.raw in NUMERALS and i and items[i - 1].capital and items[i - 1].text not in STOP:
            # "Henry V" is Henry the Fifth, though a single letter may also be an initial.
            places.setdefault(NUMERALS[t.raw], []).append(i)
        starts.append(at)
        at += len(t.text)
    return Text(
        items,
        places,
        "".join(t.text for t in items),
        tuple(starts),
        tuple(t.start for t in items),
        letters,
        {},
    )


def spelled(text: Text) -> Text:
    """Return the same text for golds that list their misspellings: no word of it is a slip."""
    return text._replace(letters={}, located={})


def locate(word: Token, text: Text) -> tuple[int, ...]:
    """Return where a word of a gold stands in a text: itself, inflected, its family, mistyped."""
    known = text.located.get(word.text)
    if known is not None:
        return known
    found: set[int] = set()
    for key in keys(word.text, word.stem):
        found.update(text.places.get(key, ()))
    if word.number and word.raw.isalpha():
        found.update(text.places.get(word.raw.casefold(), ()))
    if word.raw in NUMERALS:
        found.update(text.places.get(NUMERALS[word.raw], ()))
    if not found and len(word.text) >= 5 and word.text.isalpha():
        for other in text.letters.get(word.text[0], ()):
            if slip(word.text, other):
                found.update(text.places[other])
    result = tuple(sorted(found))
    text.located[word.text] = result
    return result


def phrase(form: Form, text: Text) -> list[Hit]:
    """The gold's words, one after the other (articles apart), up to inflection and slips."""
    first, *rest = form.tokens
    starts = locate(first, text)
    if not rest and first.raw.isupper() and 2 <= len(first.raw) <= 4 and len(text.tokens) > 3:
        # "US" is not the pronoun "us", "WHO" not the question word.
        starts = tuple(i for i in starts if text.tokens[i].raw not in _SMALL_WORDS)
    if not starts or not rest:
        return [Hit(i, i, "phrase") for i in starts]
    others = [frozenset(locate(w, text)) for w in rest]
    return [
        Hit(i, i + len(rest), "phrase")
        for i in starts
        if all(i + k + 1 in where for k, where in enumerate(others))
    ]


def ambiguous(form: Form, said: Token) -> bool:
    """Tell whether a short name among many may be another word in a text.

    "He" for helium is mostly a pronoun, "CA" is not calcium's "Ca" and "it" not Italy's "IT".
    """
    word = form.tokens[0]
    if len(form.tokens) > 1 or len(word.raw) > 3:
        return False
    if word.text in _SMALL_WORDS:
        return True
    return (word.raw.isupper() or len(word.raw) < 3) and said.raw != word.raw


def _not_initials(form: Form, said: Token) -> bool:
    """One word for one word is what phrase() looks for; "us" is not "U.S."."""
    return len(form.tokens) == 1 or (said.raw in _SMALL_WORDS and form.tokens[0].capital)


def glued(form: Form, text: Text) -> list[Hit]:
    """The gold's letters, wherever the spaces went; inside longer words only if it is long."""
    size = len(form.glued)
    found: list[Hit] = []
    if size < 2:
        return found
    at = text.glued.find(form.glued)
    tries = 0
    while at >= 0 and tries < 50:
        first = bisect_right(text.starts, at) - 1
        last = bisect_right(text.starts, at + size - 1) - 1
        clean = text.starts[first] == at
        end = text.starts[last] + len(text.tokens[last].text) == at + size
        before = text.glued[text.starts[first] : at]
        after = text.glued[at + size : text.starts[last] + len(text.tokens[last].text)]
        # What hangs on to it must be a word that lost its space: "isSmith", not "Smithson".
        long = size >= 8 and all(not rest or rest in STOP | ARTICLES for rest in (before, after))
        if first == last and clean and end and _not_initials(form, text.tokens[first]):
            pass
        elif (clean and end) or long:
            found.append(Hit(first, last, "glued"))
        at = text.glued.find(form.glued, at + 1)
        tries += 1
    return found


def _binomial(form: Form, text: Text) -> list[Hit]:
    """A species with its genus shortened: "P. falciparum"."""
    if len(form.tokens) != 2 or not form.tokens[0].raw.istitle() or form.tokens[1].capital:
        return []
    genus, species = form.tokens
    return [
        Hit(i - 1, i, "initial")
        for i in locate(species, text)
        if i and len(species.text) > 3 and text.tokens[i - 1].raw == genus.raw[0]
    ]


def person(form: Form, text: Text) -> list[Hit]:
    """The same family name with an agreeing given name; middle names, titles, suffixes are free."""
    found: list[Hit] = []
    if form.person is None:
        return _binomial(form, text)
    given, family = form.person[0], form.person[-1]
    for i in locate(family, text):
        k = i - 1
        while k >= 0 and i - k <= 4:
            t = text.tokens[k]
            if not (t.capital or t.text in PARTICLES) or t.text in TITLES or t.number:
                break
            if same_given(t.text, given.text):
                # "George H. W." is not "George W.": the first middle names must agree.
                middle, said = form.person[1:-1], text.tokens[k + 1 : i]
                if not (middle and said) or same_given(middle[0].text, said[0].text):
                    found.append(Hit(k, i, "name"))
                break
            k -= 1
    return found


def surname(form: Form, text: Text) -> list[Hit]:
    """The family name alone, unless the same text also gives it another given name."""
    if form.person is None or len(form.person[-1].text) < 4:
        return []
    family = form.person[-1]
    where = [i for i in locate(family, text) if text.tokens[i].text == family.text]
    if not all(stands_alone(text.tokens, i) for i in where):
        return []
    return [Hit(i, i, "surname") for i in where if text.tokens[i].capital]


def acronym(form: Form, text: Text, asked: Text) -> list[Hit]:
    """The initials of a gold of three words or more, in capitals, unless the question has them."""
    initials = {"".join(t.text[0] for t in form.content), "".join(t.text[0] for t in form.tokens)}
    return [
        Hit(i, i, "acronym")
        for letters in initials
        if len(letters) >= 3 and letters not in asked.places
        for i in text.places.get(letters, ())
        if text.tokens[i].raw.isupper()
    ]


def window(words: Collection[Token], text: Text, width: int, least: int) -> Hit | None:
    """The shortest stretch of at most ``width`` tokens that holds ``least`` different words."""
    places = sorted({(i, n) for n, w in enumerate(words) for i in locate(w, text)})
    count: dict[int, int] = {}
    left = 0
    best: Hit | None = None
    for i, n in places:
        count[n] = count.get(n, 0) + 1
        while i - places[left][0] > width or count[places[left][1]] > 1:
            gone = places[left][1]
            count[gone] -= 1
            if not count[gone]:
                del count[gone]
            left += 1
        if len(count) >= least and (best is None or i - places[left][0] < best.last - best.first):
            best = Hit(places[left][0], i, "words")
    return best


def spread(form: Form, new: Sequence[Token], text: Text, asked: Text) -> list[Hit]:
    """The gold's content words that the question did not say, close together, in any order."""
    different = tuple({t.stem: t for t in new}.values())
    if len(form.content) == 1 or not different:
        return []
    if len(different) == 1:
        return _rest(different[0], form, text, asked)
    hit = window(different, text, 6 + 3 * len(different), len(different))
    if hit is None:
        return []
    if form.person and not _together(different, hit, text):
        return []
    return [hit]


def _rest(word: Token, form: Form, text: Text, asked: Text) -> list[Hit]:
    """The one word that the question left to say: "1.3" or "version 1.3" for "TLS 1.3".

    It must be that word itself, and no other may qualify it: "Luna 2" is not "Mars 2".
    """
    if word.text in CHANGERS:
        return []
    known = {t.stem for t in form.tokens} | STOP
    found = []
    for i in locate(word, text):
        before = text.tokens[i - 1] if i else None
        free = before is None or before.stem in known or before.text in known
        same = text.tokens[i].stem == word.stem and ordinal(text.tokens[i].raw) == ordinal(word.raw)
        if same and (free or (before and locate(before, asked))):
            found.append(Hit(i, i, "words"))
    return found


def _together(names: Sequence[Token], hit: Hit, text: Text) -> bool:
    """A person's names stand together ("Lee, Ann"): "John, son of William Lee" is another man."""
    taken = {i for n in names for i in locate(n, text)}
    return all(i in taken or text.tokens[i].number for i in range(hit.first, hit.last + 1))

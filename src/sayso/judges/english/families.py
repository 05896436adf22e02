"""What words have in common: a root, a country and its people, a family, a likeness of meaning."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from io import BytesIO
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import OSA

from sayso.judges.english.lexicon import (
    alternatives,
    first_of_group,
    judge_data,
    lexicon_groups,
    lexicon_rows,
    lexicon_words,
)
from sayso.judges.english.tokens import LONGEST
from sayso.judges.patterns import regex
from sayso.metrics.arrays import Floats

# ---- word families: a country and its people, and words that share a root

PLACE, _PAIR = first_of_group("peoples"), first_of_group("pairs")
_COUNTRY = {
    name: tuple(row.split("/")) for row in lexicon_rows("countries") for name in row.split("/")
}


@lru_cache(maxsize=8192)
def country_names(value: str) -> tuple[str, ...]:
    """Return the names of a country, its own among them, or nothing for another thing."""
    return _COUNTRY.get(re.sub(r"^the\s+", "", value.strip(), flags=re.IGNORECASE), ())


_OF_ROOTS = regex(f"(?:{alternatives(lexicon_words('endings', 'families'))})$")


@lru_cache(maxsize=65536)
def root(word: str) -> str:
    """Return the part of a long word that its family shares: "hieroglyphics" -> "hieroglyph".

    At least seven letters must remain, so that short words keep apart ("organ", "organize").
    """
    if not 8 <= len(word) <= LONGEST or not word.isalpha():
        return word
    while len(word) > 7:
        shorter = _OF_ROOTS.sub("", word)
        if shorter == word or len(shorter) < 7:
            break
        word = shorter
    if len(word) > 7 and word[-1] == word[-2]:
        word = word[:-1]
    return word


@lru_cache(maxsize=65536)
def keys(text: str, stem: str) -> tuple[str, ...]:
    """Return what a word is looked up by: form, stem, place, root; strongest first."""
    base = root(text)
    found = [text, stem, base]
    if text in PLACE:
        found.append("@" + PLACE[text])
    if text in _PAIR:
        found.append("&" + _PAIR[text])
    if len(base) >= 7:
        found.append("~" + base)
    return tuple(dict.fromkeys(found))


def slip(a: str, b: str) -> bool:
    """Tell whether two long words differ by one typing slip.

    One letter too many or too few, or two swapped, where both have six letters ("Paris" is not
    "parish"); one wrong letter from nine on, as shorter names that differ by a letter are mostly
    different names.
    """
    if a == b or min(len(a), len(b)) < 6 or a[0] != b[0] or not (a.isalpha() and b.isalpha()):
        return a == b
    if len(a) == len(b) < 9 and sorted(a) != sorted(b):
        return False
    return OSA.distance(a, b, score_cutoff=1) <= 1


# ---- families of words that ask for or tell the same aspect


@cache
def families() -> dict[str, tuple[str, ...]]:
    """Return the families of each word that has any."""
    table: dict[str, tuple[str, ...]] = {}
    for first, *others in lexicon_groups("families"):
        for word in dict.fromkeys((first, *others)):
            table[word] = (*table.get(word, ()), first)
    return table


@cache
def family_names() -> frozenset[str]:
    """Return the names of all families."""
    return frozenset(name for names in families().values() for name in names)


_OF_STEMS = regex(r"(?:ations?|ings?|ers?|ors?|ments?|ions?|ed|es|s|e)$")


@lru_cache(maxsize=65536)
def family_stem(word: str) -> str:
    """Return a crude stem of a lower-case word, or the name of its family."""
    base = word.removesuffix("'s")
    if base in families():
        return families()[base][0]
    cut = _OF_STEMS.sub("", base)
    if len(cut) < 4:
        cut = base
    cut = cut.rstrip("iy") or cut
    return cut[:-1] if len(cut) > 4 and cut[-1] == cut[-2] else cut


def meanings(word: str) -> tuple[str, ...]:
    """Return the stem of a lower-case word, or the names of all its families."""
    return families().get(word.removesuffix("'s")) or (family_stem(word),)


# ---- words of like meaning


class _Vectors(NamedTuple):
    rows: dict[str, int]
    table: Floats
    groups: dict[str, str]


@cache
def _vectors() -> _Vectors:
    with np.load(BytesIO(judge_data("vectors.npz")), allow_pickle=False) as arrays:
        names = arrays["words"].tobytes().decode("utf-8").split("\n")
        table = arrays["vectors"].astype(np.float64)
        groups = [f"~{number}" for number in arrays["groups"].tolist()]
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    by_stem: dict[str, str] = {}
    for name, group in zip(names, groups, strict=True):
        by_stem.setdefault(family_stem(name), group)
    by_word = dict(zip(names, groups, strict=True))
    return _Vectors({name: row for row, name in enumerate(names)}, table, by_stem | by_word)


@lru_cache(maxsize=65536)
def word_group(word: str) -> str:
    """Return the group of words of like meaning that a lower-case word is in, else the word.

    A word that is too rare to have a group is in that of the most frequent one of its stem.
    """
    groups = _vectors().groups
    return groups.get(word) or groups.get(family_stem(word)) or word


def vectors_of(texts: Iterable[str]) -> Floats:
    """Return the vectors of those of the words that have one, (words, dimensions), of length 1."""
    rows, table, _ = _vectors()
    return table[[rows[text] for text in texts if text in rows]]

"""The English of the offline readers: cues of doubt, families of words, what a question asks for.

The words are data (``judges/data/stance_lexicon.txt``). Classes of cues name what a phrase may mean
(doubt, ignorance, policy); whether it means that where it stands, the learned reader decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files
from io import BytesIO
from typing import Literal, NamedTuple

import numpy as np

from sayso.judges.patterns import regex
from sayso.metrics.arrays import Floats

Expected = Literal["date", "place", "number", "person", "any"]
#: A phrase as words, and its class.
Cue = tuple[tuple[str, ...], str]

_CONTRACTED = {
    "can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not",
    "ain't": "is not", "let's": "let us", "dont": "do not", "cant": "can not", "im": "i am",
    "ive": "i have", "didnt": "did not", "doesnt": "does not", "isnt": "is not",
    "wasnt": "was not", "couldnt": "could not", "wouldnt": "would not",
    "it's": "it is", "he's": "he is", "she's": "she is", "that's": "that is",
    "there's": "there is", "what's": "what is", "who's": "who is",
}  # fmt: skip
_ENDINGS = {"n't": "not", "'ve": "have", "'d": "would", "'ll": "will", "'re": "are", "'m": "am"}


def judge_data(name: str) -> bytes:
    """Return a file of ``judges/data``."""
    return (files("sayso.judges") / "data" / name).read_bytes()


@cache
def lexicon_sections() -> dict[str, list[str]]:
    """Return the lines of each section of the lexicon; an indented line goes on the one before."""
    text = judge_data("stance_lexicon.txt").decode("utf-8")
    parts: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("["):
            current = parts.setdefault(line.strip("[]"), [])
        elif line.startswith("  "):
            current[-1] += " " + line.strip()
        elif line and not line.startswith("#"):
            current.append(line)
    return parts


@cache
def lexicon_words(section: str) -> frozenset[str]:
    """Return the words of a section."""
    return frozenset(word for line in lexicon_sections()[section] for word in line.split())


@lru_cache(maxsize=65536)
def written_out(word: str) -> tuple[str, ...]:
    """Return a lower-case word as the words that it contracts: "don't" as "do", "not"."""
    word = word.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    if word in _CONTRACTED:
        return tuple(_CONTRACTED[word].split())
    for ending, whole in _ENDINGS.items():
        if word.endswith(ending) and len(word) > len(ending):
            return (word.removesuffix(ending), whole)
    return (word.removesuffix("'s"),)


@cache
def phrases(section: str) -> dict[str, dict[str, list[Cue]]]:
    """Return the phrases of a section, each with its class, by their first and second words.

    The second is "" for a single word.
    """
    table: dict[str, dict[str, list[Cue]]] = {}
    for line in lexicon_sections()[section]:
        name, _, rest = line.partition(": ")
        for phrase in rest.split(" | "):
            spelled = tuple(part for word in phrase.split() for part in written_out(word))
            second = spelled[1] if len(spelled) > 1 else ""
            table.setdefault(spelled[0], {}).setdefault(second, []).append((spelled, name))
    return table


@cache
def families() -> dict[str, tuple[str, ...]]:
    """Return the families of each word that has any."""
    table: dict[str, tuple[str, ...]] = {}
    for line in lexicon_sections()["families"]:
        first, *others = line.split()
        for word in dict.fromkeys((first, *others)):
            table[word] = (*table.get(word, ()), first)
    return table


@cache
def family_names() -> frozenset[str]:
    """Return the names of all families."""
    return frozenset(name for names in families().values() for name in names)


_SUFFIX = regex(r"(?:ations?|ings?|ers?|ors?|ments?|ions?|ed|es|s|e)$")


@lru_cache(maxsize=65536)
def family_stem(word: str) -> str:
    """Return a crude stem of a lower-case word, or the name of its family."""
    base = word.removesuffix("'s")
    if base in families():
        return families()[base][0]
    cut = _SUFFIX.sub("", base)
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


# ---- the kind of answer that a question expects

_NUMBER = regex(
    r"\bhow\s+(?:many|much|long|far|old|tall|high|large|big|deep|wide|heavy|fast|hot|massive|"
    r"bright)\b|"
    r"\b(?:number|amount|percentage|population|mass|radius|diameter|distance|length|duration|"
    r"height|weight|temperature|budget|box\s+office|revenue|runtime|running\s+time|magnitude|area|"
    r"speed|elevation|(?:orbital|incubation|rotation)\s+period|income|profit|density|age)\b",
    re.IGNORECASE,
)
_DATE = regex(
    r"^\W*(?:\w+\s+){0,2}when\b|\b(?:what|which)\s+(?:\w+\s+)?(?:year|date|day|month|century|"
    r"decade)\b|\bdate\s+of\b|\b(?:birth|death|release|publication)\s+date\b|\binception\b|"
    r"\byear\s+of\b|\bsince\s+when\b",
    re.IGNORECASE,
)
_PLACE = regex(
    r"\bwhere\b|\b(?:what|which)\s+(?:\w+\s+)?(?:city|town|country|place|village|state|"
    r"location|region|continent|county|municipality)\b|"
    r"\bplace\s+of\b|\bbirthplace\b|\bheadquarters?\s+location\b",
    re.IGNORECASE,
)
_PERSON = regex(r"\bwho(?:m|se)?\b", re.IGNORECASE)


_EXPECTED: dict[Expected, re.Pattern[str]] = {
    "date": _DATE, "place": _PLACE, "person": _PERSON, "number": _NUMBER,
}  # fmt: skip


@lru_cache(maxsize=8192)
def expected(question: str, hint: str = "") -> Expected:
    """Return the kind of answer that a question expects; ``hint`` is the aspect's description."""
    for text in (question[-2000:], hint[-2000:]):
        for kind, pattern in _EXPECTED.items():
            if pattern.search(text):
                return kind
    return "any"


_NAMED = regex(
    r"\b(?:what|which)\s(?:(?:is|was)\s(?:the\s)?)?(?:name\sof\sthe\s)?(?:\w{2,12}est\s)?"
    r"(?:mountain|peak|summit|volcano|river|lake|sea|ocean|island|desert|moon|museum|ship|"
    r"university|college|school)\b(?!['’])",
    re.IGNORECASE,
)


@lru_cache(maxsize=8192)
def asks_for_a_name(question: str) -> bool:
    """Whether a name answers, of something that is neither a person nor a town."""
    return _NAMED.search(question[-2000:]) is not None

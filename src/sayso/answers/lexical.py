"""Answer metrics that compare words: exact match, contains, ROUGE-L, SQuAD F1 and EM.

A value is 0..1, higher = nearer to a reference; several references count by the best. A threshold
(:data:`sayso.metrics.THRESHOLDS`) decides what is correct. These metrics refuse long right answers
(:mod:`sayso.metrics.length_audit`): never quote one without its length audit.

Two published tokenizations take text apart: ROUGE's (lower case, ASCII letters and digits; or
Unicode letters and digits) and SQuAD's (lower case, no punctuation, no articles). References repeat
over rows, so their tokens are remembered. Tokens are bytes where one pass over bytes finds them,
which is several times faster than a regular expression; they are only compared with each other.
"""

from __future__ import annotations

import itertools
import re
import string
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from rapidfuzz.distance import LCSseq

from sayso.metrics.arrays import Floats
from sayso.records import Gold, InputError

Tokenizer = Literal["ascii", "unicode"]
References = str | Sequence[str]

Token = str | bytes
#: Longer texts are not remembered: they hardly repeat, and would fill the memory.
REMEMBERED = 1000
_UNICODE_WORD = re.compile(r"[^\W_]+")
# Scripts written without spaces, where a character is the unit that can match.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff]"
)
_PUNCTUATION = string.punctuation.encode()
# Control characters separate words for a regular expression but not for str.split: marked by 0.
_SPLITS = frozenset((*range(9), *range(14, 28), 127))
_LOWER = bytes(0 if i in _SPLITS else i + 32 if 65 <= i <= 90 else i for i in range(256))
# What is no letter or digit of ASCII becomes a space.
_WORDS = bytes(c if chr(c).isalnum() and c < 128 else 32 for c in _LOWER)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_ARTICLE_WORDS = ("the", "a", "an")


def reference_list(references: References) -> Sequence[str]:
    """Return references as a sequence; raises :class:`InputError` when there is none."""
    if isinstance(references, str):
        return (references,)
    if not references:
        raise InputError("an answer metric needs at least one reference, got an empty list")
    return references


MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_TIMESTAMP = re.compile(
    r"\+?(?P<year>\d{4,})-(?P<month>\d\d)-(?P<day>\d\d)T\d\d:\d\d:\d\dZ", re.ASCII
)


def written(gold: str) -> list[str]:
    """Return the texts that an answer of words may use for a gold.

    A stored timestamp, which nobody says, is its day in two ways, and also its year where it is the
    first of January.
    """
    date = _TIMESTAMP.fullmatch(gold.strip())
    if date is None or not 1 <= int(date["month"]) <= 12:
        return [gold]
    year, month, day = str(int(date["year"])), MONTHS[int(date["month"]) - 1], int(date["day"])
    full = [f"{day} {month} {year}", f"{month} {day}, {year}"]
    return [year, *full] if (date["month"], day) == ("01", 1) else full


def reference_texts(golds: Sequence[Gold]) -> list[str]:
    """Return the texts that an answer of words is compared with.

    A stored timestamp is no text that anybody says, so a date is written out; and all values
    together are one reference more, since a list may be given in one answer.
    """
    texts = [text for gold in golds for name in gold.names for text in written(name)]
    values = [written(gold.value)[0] for gold in golds]
    return [*texts, " and ".join(values)] if len(values) > 1 else texts


def with_days(golds: Sequence[str]) -> list[str]:
    """Return golds, timestamps as people write their days, in digits too: 1969-07-20."""
    texts: list[str] = []
    for gold in golds:
        forms = written(gold)
        days = [] if forms == [gold] else [gold.strip().removeprefix("+").partition("T")[0]]
        texts += [*forms, *days]
    return texts


@lru_cache(maxsize=1)
def _stemmer() -> Callable[[str], str]:
    """Porter's stemmer as the official ROUGE uses it."""
    try:
        from nltk.stem.porter import (  # type: ignore[import-untyped,unused-ignore]
            PorterStemmer,
        )
    except ModuleNotFoundError:
        raise InputError("stem=True needs nltk, which is not installed: pip install nltk") from None
    stem: Callable[[str], str] = PorterStemmer().stem
    return stem


@lru_cache(maxsize=65536)
def stemmed(word: str) -> str:
    """Return the Porter stem of a word longer than three letters, as rouge_score does."""
    return _stemmer()(word) if len(word) > 3 else word


def rouge_tokens(text: str, stem: bool = False, tokenizer: Tokenizer = "ascii") -> Sequence[Token]:
    """Return the tokens that ROUGE compares.

    ``ascii`` (official): lower case, runs of a-z and 0-9; other scripts give no tokens.
    ``unicode``: NFKC and case folding, runs of letters and digits of any script, each character
    of its own in scripts written without spaces.
    """
    if tokenizer == "ascii":
        # Lower first: a few letters outside ASCII have a lower case inside.
        plain = text if text.isascii() else text.lower()
        tokens = plain.encode("utf-8", "surrogatepass").translate(_WORDS).split()
        return [stemmed(word.decode()) for word in tokens] if stem else tokens
    if tokenizer != "unicode":
        raise InputError(f"tokenizer: got {tokenizer!r}, expected 'ascii' or 'unicode'")
    words = unicode_words(text)
    return [stemmed(word) for word in words] if stem else words


def unicode_words(text: str) -> list[str]:
    """Return runs of letters and digits of any script, folded; see :func:`rouge_tokens`."""
    if text.isascii():
        return text.encode().translate(_WORDS).decode().split()
    folded = unicodedata.normalize("NFKC", text).casefold()
    # Marks above and below belong to their letter; \W would cut a word at each.
    bare = "".join(c for c in unicodedata.normalize("NFD", folded) if not _is_mark(c))
    spaced = _UNSPACED.sub(r" \g<0> ", unicodedata.normalize("NFC", bare))
    return _UNICODE_WORD.findall(spaced)


@lru_cache(maxsize=4096)
def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M"


def squad_tokens(text: str) -> list[str]:
    """Return SQuAD's tokens: lower case, no ASCII punctuation, no a/an/the, split at spaces.

    The articles are matched at word boundaries, so next to other punctuation ("«the") one goes
    too, as officially.
    """
    if text.isascii():
        plain = text.encode().translate(_LOWER, _PUNCTUATION)
        if b"\0" not in plain:
            words = plain.decode().split()
            for article in _ARTICLE_WORDS:
                if article in words:
                    return [word for word in words if word not in _ARTICLE_WORDS]
            return words
    coded = text.lower().encode("utf-8", "surrogatepass").translate(None, _PUNCTUATION)
    words = []
    for word in coded.decode("utf-8", "surrogatepass").split():
        if not word.isalnum():
            # Only inside such a word can an article stand at a boundary that is no space.
            words += _ARTICLES.sub(" ", word).split()
        elif word not in _ARTICLE_WORDS:
            words.append(word)
    return words


@lru_cache(maxsize=32768)
def reference_rouge(text: str, stem: bool, tokenizer: Tokenizer) -> tuple[Token, ...]:
    """Return :func:`rouge_tokens` of a reference, remembered."""
    return tuple(rouge_tokens(text, stem, tokenizer))


class SquadReferences(NamedTuple):
    """References taken apart for SQuAD's measures.

    ``each`` has the words, the set of them and their number; ``every`` all words of any, ``exact``
    the word lists themselves.
    """

    each: tuple[tuple[tuple[str, ...], frozenset[str], int], ...]
    every: frozenset[str]
    exact: frozenset[tuple[str, ...]]


def _squad_references(references: tuple[str, ...]) -> SquadReferences:
    exact = dict.fromkeys(tuple(squad_tokens(text)) for text in references)
    each = tuple((words, frozenset(words), len(words)) for words in exact)
    return SquadReferences(each, frozenset(w for words in exact for w in words), frozenset(exact))


_remembered_references = lru_cache(maxsize=16384)(_squad_references)


def squad_references(references: References) -> SquadReferences:
    """Return references taken apart, remembered unless they are long."""
    held = tuple(reference_list(references))
    short = sum(map(len, held)) <= 10 * REMEMBERED
    return _remembered_references(held) if short else _squad_references(held)


@lru_cache(maxsize=32768)
def reference_phrase(text: str) -> str:
    """Return the Unicode words of a reference between single spaces, remembered."""
    return " ".join(unicode_words(text))


@lru_cache(maxsize=32768)
def plain_form(text: str) -> str:
    """Return a text for plain comparison: NFKC, case folded, spaces squeezed, edges trimmed.

    Only punctuation at the two ends goes: "St. John's." and "st. john's" are one, "C++" and "C"
    are two.
    """
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return folded.strip(" .,;:!?\"'“”‘’«»()[]{}") or folded


Refs = Literal["max", "first"]
#: Up to this many different words of references each is looked up in the answer.
FEW = 4


def exact_match(references: References, answer: str) -> float:
    """Return 1.0 if the answer is one of the references, else 0.0.

    Compared after Unicode compatibility folding of case, spaces and outer punctuation; articles
    stay (:func:`squad_em` drops them). An empty answer matches only an empty reference.
    """
    plain = plain_form(answer)
    return float(any(plain_form(r) == plain for r in reference_list(references)))


def contains(references: References, answer: str) -> float:
    """Return 1.0 if the answer holds a reference as whole words in a row, else 0.0.

    Words of any script in folded form, so "art" is not in "party" and "Malmo" is in
    "He is from Malmö." A reference without words is in no answer.
    """
    words = f" {' '.join(unicode_words(answer))} "
    for reference in reference_list(references):
        wanted = reference_phrase(reference)
        if wanted and f" {wanted} " in words:
            return 1.0
    return 0.0


def rouge_f1(first: Sequence[Token], second: Sequence[Token]) -> float:
    """Return ROUGE-L F1 of two token lists, 2 LCS/(m + n); 0 where one is empty."""
    if not first or not second:
        return 0.0
    common = int(first[0] in second) if len(first) == 1 else int(LCSseq.similarity(first, second))
    return 2 * common / (len(first) + len(second))


def rouge_l(
    references: References,
    answer: str,
    stem: bool = False,
    tokenizer: Tokenizer = "ascii",
    refs: Refs = "max",
) -> float:
    """Return ROUGE-L F1: the longest common subsequence of words against both lengths, 0..1.

    F = 2PR/(P+R), P = LCS/answer words, R = LCS/reference words (Lin 2004, Equations 2-4 with
    beta 1), equal to rouge_score's. The best over references; ``refs="first"`` takes the first
    (the paper's single reference). ``stem`` as officially (needs nltk). The official ``ascii``
    tokenizer finds no words in other scripts, which gives 0: use ``unicode`` there. 0 when either
    side has no words. A reference of m words inside an answer of N words gets 2m/(m+N).
    """
    chosen = reference_list(references)
    words = rouge_tokens(answer, stem, tokenizer)
    if refs != "max":
        if refs != "first":
            raise InputError(f"refs: got {refs!r}, expected 'max' or 'first'")
        chosen = chosen[:1]
    if not words:
        return 0.0
    n = len(words)
    best = 0.0
    for text in chosen:
        wanted = reference_rouge(text, stem, tokenizer)
        if not wanted or 2 * len(wanted) <= best * (len(wanted) + n):
            continue  # even all of its words in order could not do better
        best = max(best, rouge_f1(wanted, words))
    return best


def rouge_l_many(
    pairs: Iterable[tuple[References, str]],
    stem: bool = False,
    tokenizer: Tokenizer = "ascii",
    refs: Refs = "max",
) -> list[float]:
    """Return :func:`rouge_l` of (references, answer) pairs, in order."""
    return [rouge_l(r, a, stem, tokenizer, refs) for r, a in pairs]


def squad_f1(references: References, answer: str) -> float:
    """Return SQuAD's F1 of the bags of words, best over references, 0..1.

    Rajpurkar et al. 2016: lower case, no punctuation, no articles; F = 2PR/(P+R) over word
    counts. When either side is empty after that: 1 if both are, else 0. The paper's threshold is
    at least 50 percent.
    """
    group = squad_references(references)
    words = squad_tokens(answer)
    n = len(words)
    if not words:
        return float(() in group.exact)
    if len(group.every) <= FEW:
        # Looking for a few words is cheaper than hashing all words of the answer.
        shared = frozenset(word for word in group.every if word in words)
    else:
        shared = group.every.intersection(words)
    best = 0.0
    if shared:
        for wanted, distinct, size in group.each:
            common = len(shared & distinct)
            if common and len(distinct) != size:
                # Only a word that the reference repeats can count more than once.
                common = sum(min(wanted.count(w), words.count(w)) for w in shared & distinct)
            best = max(best, 2 * common / (size + n))
    return best


def squad_em(references: References, answer: str) -> float:
    """Return 1.0 if the answer is a reference after SQuAD's normalization, else 0.0."""
    return float(tuple(squad_tokens(answer)) in squad_references(references).exact)


# ---- SQuAD's measures of many answers at once, which is several times as fast as one by one
#
# A block of texts is lower-cased, freed of punctuation and counted in one go; words are then looked
# up as text between spaces. UTF-8 is held as Latin-1 text, in which looking up is quickest.

#: pairs that are taken apart together: what fits a processor's cache
TOGETHER = 400
# What str.split splits at becomes a space, other controls a NUL as between texts.
_PLAIN = bytes(32 if 9 <= c <= 13 or 28 <= c <= 31 else low for c, low in enumerate(_LOWER))
_FOREIGN_SPACE = re.compile(r"[^\S\x00-\x7f]")


def _spaced_texts(texts: Sequence[str]) -> tuple[list[str], list[int]]:
    """Return each text's words between spaces, and how many they are.

    The words are those of :func:`squad_tokens`, but articles may still be among them; they are not
    counted.
    """
    rows = [
        (text if text.isascii() else _FOREIGN_SPACE.sub(" ", text.lower())).encode(
            "utf-8", "surrogatepass"
        )
        for text in texts
    ]
    data = (b" " + b" \0 ".join(rows) + b" ").translate(_PLAIN, _PUNCTUATION)
    spaced = data.decode("latin-1").split("\0")
    if len(spaced) == len(texts):
        sizes, unclear = _count_words(data)
    else:  # some text has controls
        sizes, unclear = [0] * len(texts), list(range(len(texts)))
        spaced = [""] * len(texts)
    for n in unclear:
        words = squad_tokens(texts[n])
        coded = f" {' '.join(words)} ".encode("utf-8", "surrogatepass")
        spaced[n], sizes[n] = coded.decode("latin-1"), len(words)
    return spaced, sizes


def _count_words(data: bytes) -> tuple[list[int], list[int]]:
    """Count the words that are no article in each of the texts between NULs.

    Also return which texts have what may be an article beside a character outside ASCII: whether
    that is a letter is not known here.
    """
    codes = np.frombuffer(data, np.uint8)
    blank = codes <= 32
    edge = blank if data.isascii() else blank | (codes > 127)
    behind = edge[:-1] & ~edge[1:]  # a word, or what may be one, begins behind this place
    counted = blank[:-1] & ~blank[1:]
    unclear = np.zeros(len(codes), bool)
    for article in _ARTICLE_WORDS:
        size = len(article)
        here = behind[: len(behind) - size] & edge[size + 1 :]
        for n, letter in enumerate(article.encode(), 1):
            here &= codes[n : len(codes) - size - 1 + n] == letter
        if edge is not blank:
            alone = here & blank[: len(here)] & blank[size + 1 :]
            unclear[: len(here)] |= here ^ alone
            here = alone
        counted[: len(here)] &= ~here
    ends = np.append(np.flatnonzero(codes == 0), len(codes))
    sizes = np.diff(np.searchsorted(np.flatnonzero(counted), ends), prepend=0)
    return sizes.tolist(), np.unique(np.searchsorted(ends, np.flatnonzero(unclear))).tolist()


class SquadScore(NamedTuple):
    """SQuAD's F1 and exact match of one answer."""

    f1: float
    em: float


def squad_many(pairs: Iterable[tuple[References, str]]) -> list[SquadScore]:
    """Return :func:`squad_f1` and :func:`squad_em` of (references, answer) pairs, in order."""
    f1, em = _squad_many(pairs)
    return list(map(SquadScore, f1, em))


def squad_f1_many(pairs: Iterable[tuple[References, str]]) -> list[float]:
    """Return :func:`squad_f1` of (references, answer) pairs, in order."""
    return _squad_many(pairs)[0]


def squad_em_many(pairs: Iterable[tuple[References, str]]) -> list[float]:
    """Return :func:`squad_em` of (references, answer) pairs, in order."""
    return _squad_many(pairs)[1]


def _squad_many(pairs: Iterable[tuple[References, str]]) -> tuple[list[float], list[float]]:
    left = iter(pairs)
    f1: list[float] = []
    em: list[float] = []
    while block := list(itertools.islice(left, TOGETHER)):
        chosen = [reference_list(references) for references, _ in block]
        names = list(dict.fromkeys(itertools.chain.from_iterable(chosen)))
        spaced, sizes = _spaced_texts([*names, *[answer for _, answer in block]])
        wanted = dict(zip(names, map(_squad_words, spaced, sizes), strict=False))
        start = len(names)
        for references, text, size in zip(chosen, spaced[start:], sizes[start:], strict=True):
            best = exact = 0.0
            for name in references:
                words, different = wanted[name]
                common = 0
                for word in different:
                    if word in text:
                        common += 1
                if len(words) > len(different) and common:
                    # Only a word that the reference repeats can count more than once.
                    said = text.split(" ")
                    common = sum(min(words.count(w), said.count(w)) for w in dict.fromkeys(words))
                if common:
                    value = 2 * common / (len(words) + size)
                    if value > best:
                        best = value
                    if value == 1.0 and words == _squad_words(text, size)[0]:
                        exact = 1.0
                elif not words and not size:
                    best = exact = 1.0
            f1.append(best)
            em.append(exact)
    return f1, em


def _squad_words(spaced: str, size: int) -> tuple[list[str], list[str]]:
    """Return the words of a normalized text, and each different one between spaces."""
    # str.split would also split at two of Latin-1's characters
    words = spaced.split() if spaced.isascii() else [w for w in spaced.split(" ") if w]
    if len(words) > size:
        words = [word for word in words if word not in _ARTICLE_WORDS]
    different = words if size < 2 else dict.fromkeys(words)
    return words, [f" {word} " for word in different]


def rouge_l_table(texts: Sequence[str]) -> Floats:
    """Return the ROUGE-L F1 of every two texts, (k, k), symmetric, 1 between equal texts.

    The evidence of lexical similarity (Fomicheva et al. 2020). Each pair of different texts is
    compared once; a text without words is like nothing but itself.
    """
    names = [text.strip() for text in texts]
    place = {text: n for n, text in enumerate(dict.fromkeys(names))}
    tokens = [rouge_tokens(text, tokenizer="unicode") for text in place]
    table: Floats = np.eye(len(place))
    for i, first in enumerate(tokens):
        for j in range(i):
            table[i, j] = table[j, i] = rouge_f1(tokens[j], first)
    at = [place[name] for name in names]
    return table[np.ix_(at, at)]


#: Answer metrics that need nothing but text: metric(references, answer) -> 0..1. A new one is a
#: function and a line here.
ANSWER_METRICS: dict[str, Callable[[References, str], float]] = {
    "exact_match": exact_match,
    "contains": contains,
    "rouge_l": rouge_l,
    "squad_f1": squad_f1,
    "squad_em": squad_em,
}

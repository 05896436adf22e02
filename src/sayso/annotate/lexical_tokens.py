"""How answer metrics take text apart: the published tokenizations, once, and memoized.

Two families: ROUGE's (lower case, ASCII letters and digits; or Unicode letters and digits) and
SQuAD's (lower case, no punctuation, no articles). References repeat over rows, so both remember
what they took apart. Tokens are bytes where one pass over bytes finds them, which is several times
faster than a regular expression; they are only ever compared with each other.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from sayso.records import InputError

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
        found = plain.encode("utf-8", "surrogatepass").translate(_WORDS).split()
        return [stemmed(word.decode()) for word in found] if stem else found
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

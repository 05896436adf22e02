"""Text as comparable tokens that still know where they stood.

Case, marks, numbers and inflection are undone one token at a time, so that spans index the text as
it was given.

The rules remember what they read in a text, so that judging it again costs nothing, and count that
memory in texts; over a long file of long texts it would be most of the memory in use, so
:func:`forget_texts` empties it.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from sayso.judges.english.lexicon import lexicon_groups, lexicon_words
from sayso.judges.english.numbers import NUMBER_WORDS
from sayso.judges.patterns import regex

READERS = "sayso.judges.", "sayso.answers.lexical"


def forget_texts() -> None:
    """Empty every bounded memory (``functools.lru_cache``) of judges and answer metrics.

    What has no bound holds words and weights of ours, not texts.
    """
    for name, module in list(sys.modules.items()):
        if name.startswith(READERS):
            for value in list(vars(module).values()):
                memory = getattr(value, "cache_info", None)
                if callable(memory) and memory().maxsize:
                    value.cache_clear()


_MARKS = "\u0300-\u036f\u1ab0-\u1aff\u20d0-\u20ff\ufe20-\ufe2f"
# Letters, with their combining marks; raised digits are footnote marks and powers, not letters.
_LETTERS = rf"(?:[^\W\d_\u00b2\u00b3\u00b9\u2070-\u2079]++[{_MARKS}]*+)++"
_APOSTROPHE = "['\u2019\u2018\u201b\u02bc\u2032\u02b9\u02c8\uff07\u00b4`]"
_TOKEN = regex(
    rf"{_LETTERS}(?:{_APOSTROPHE}{_LETTERS})*+(?:\+\+(?![\w+])|(?<=\b[A-Z])[#♯](?![\w#]))?+"
    r"|\d{1,3}(?:,\d{3})++(?:\.\d++)?(?!\d)|\d++(?:(?i:st|nd|rd|th)(?![^\W\d_])|\.\d++)?"
)
# Letters that NFKD does not take apart.
_PLAIN = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"}
)
#: a raised digit is a power: "10²" is not "102"
_RAISED = str.maketrans({c: f"^{unicodedata.digit(c)}" for c in "⁰¹²³⁴⁵⁶⁷⁸⁹"})
_APOSTROPHES = regex(_APOSTROPHE)
#: Words as they are written: with hyphens and apostrophes inside, and letters and digits alone.
HYPHENATED = regex(r"[^\W_]+(?:['\u2019-][^\W_]+)*+")
ALPHANUMERIC = regex(r"[^\W_]++")
#: what signs mean to every reader, each in one character, so that offsets stay valid
SIGNS = {
    **dict.fromkeys(map(ord, "’‘‛ʼ′ʹˈ"), "'"),
    **dict.fromkeys(map(ord, "“”„‟«»"), '"'),
    **dict.fromkeys(map(ord, "\u00a0\u2007\u2008\u2009\u200a\u202f\u205f\u3000"), " "),
    **dict.fromkeys(map(ord, "‐‑"), "-"),
    **{sign: chr(sign - 0xFEE0) for sign in range(0xFF01, 0xFF5F)},  # of full width
}
#: keys that people take for an apostrophe
_TYPED = regex(r"(?<=[^\W\d_])[`´](?=[^\W\d_])")
#: what is not shown to who reads a text, and addresses, which say nothing
_HIDDEN = regex(
    r"<!--.{0,1000}?-->|~~(?=\S)[^~\n]{1,400}~~|<(?P<struck>del|s|strike)>.{0,1000}?</(?P=struck)>|<(?P<tag>\w{1,12})"
    r"\s[^<>]{0,200}?(?:\bhidden\b|display\s?:\s?none|visibility\s?:\s?hidden)[^<>]{0,200}>.{0,1000}?</(?P=tag)>",
    re.I | re.S,
)
_ADDRESS = regex(
    r"!\[[^\]\n]{0,200}\]\([^()\n]{0,400}\)|(?<=\])\((?=[^()\s]{0,400}[/.#])[^()\n]{1,400}\)"
    r"|\b(?:https?://|www\.)[^\s<>\"'()\[\]{}|]{1,400}(?<![.,;:!?*_~`])"
)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


@lru_cache(maxsize=512)
def seen(text: str, addresses: bool = False) -> str:
    """Return a text as who reads it sees it: signs made plain, and blanks for what is not shown.

    That is comments and hidden elements, struck words, and ``addresses`` unless they are wanted or
    all that there is. No offset changes.
    """
    if not text.isascii() or "`" in text:
        text = _TYPED.sub("'", text.translate(SIGNS))
    if "<" in text or "~~" in text:
        text = _HIDDEN.sub(_blank, text)
    if not addresses and ("://" in text or "www." in text or "](" in text):
        shown = _ADDRESS.sub(_blank, text)
        return shown if shown.strip() else text
    return text


#: Longer "words" are no words: they are compared as they are.
LONGEST = 40
NUMERALS = {"I": "1", "V": "5", "X": "10"}
_ROMAN = regex(r"(?=[IVXL]{2,7}$)(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})$")


STOP = lexicon_words("function words", "tokens")
#: Words that make another thing of what they stand before: without them the answer is not the gold.
CHANGERS = lexicon_words("things", "tokens")
#: Short written forms that mean the same word; applied to both sides.
_SAME = {short: " ".join(whole) for short, *whole in lexicon_groups("short forms")}


class Token(msgspec.Struct, frozen=True, gc=False):
    """One word or number: its comparable form, its stem, its span, and how it was written."""

    text: str
    stem: str
    start: int
    end: int
    raw: str

    @property
    def capital(self) -> bool:
        """True when it was written with a capital letter first."""
        return self.raw[:1].isupper()

    @property
    def number(self) -> bool:
        """True when the comparable form is digits (number words included)."""
        return self.text[:1].isdigit()


def unaccented(text: str) -> str:
    """Return a text without its combining marks: "café" as "cafe", while "ø" stays."""
    letters = unicodedata.normalize("NFKD", text)
    return "".join(c for c in letters if not unicodedata.combining(c))


@lru_cache(maxsize=65536)
def fold(word: str) -> str:
    """Return a word in lower case without diacritics, apostrophes and a possessive ending."""
    word = word.casefold()
    if not word.isascii():
        word = _APOSTROPHES.sub("'", word.translate(_RAISED))
        word = unaccented(word).translate(_PLAIN)
    if word.isalpha():
        return word
    parts = _APOSTROPHES.split(word)
    if len(parts) > 1 and parts[-1] == "s":
        parts.pop()
    return "".join(parts)


def roman(word: str) -> int | None:
    """Return the value of an upper-case Roman numeral of 2 to 7 letters from I, V, X, L."""
    if not word.isupper() or not _ROMAN.match(word):
        return None
    values = [{"I": 1, "V": 5, "X": 10, "L": 50}[c] for c in word]
    return sum(-v if v < n else v for v, n in zip(values, [*values[1:], 0], strict=True))


_VOWELS = frozenset("aeiouy")


@lru_cache(maxsize=65536)
def uninflected(word: str) -> str:
    """Return a word without its inflection: plural, -ing, -ed, -ly, final e (rules of our own)."""
    if not 4 <= len(word) <= LONGEST or word[0].isdigit():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("ses", "xes", "zes", "ches", "shes")) and len(word) > 5:
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed", "ly"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= 3 and not _VOWELS.isdisjoint(rest):
            word = rest
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
                word = word[:-1]
            break
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    if word.endswith("y") and len(word) > 3:
        word = word[:-1] + "i"
    return word


def plain_plural(word: str) -> str:
    """Return a word without the ending of a plural, and with no other ending taken off."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ses", "xes", "zes", "ches", "shes")) and len(word) > 5:
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] not in "su" else word


#: what British and American writers spell apart
_BRITISH = regex(
    "(?<=[a-z]{2})(our)(?=s?$)|(?<=[^aeiou])(re)(?=s?$)|(?<=[a-z]{3})(is)(?=e[sd]?$|ing$|ation$)"
)


def comparable(raw: str) -> str:
    """Return the form in which a written word or number is compared; "" for nothing."""
    if raw.isdigit() and raw.isascii():
        return raw.lstrip("0") or "0"
    if raw[0].isdigit():
        digits = re.sub(r"(?:st|nd|rd|th)$", "", raw.casefold()).replace(",", "")
        whole, _, fraction = unicodedata.normalize("NFKC", digits).partition(".")
        fraction = fraction.rstrip("0")
        return (whole.lstrip("0") or "0") + (f".{fraction}" if fraction else "")
    value = roman(raw)
    if value is not None:
        return str(value)
    word = fold(raw)
    if word in NUMBER_WORDS:
        return str(NUMBER_WORDS[word])
    if word in _SAME or not 4 < len(word) <= LONGEST:
        return _SAME.get(word, word)
    return _BRITISH.sub(lambda m: {"our": "or", "re": "er", "is": "iz"}[m[0]], word)


@lru_cache(maxsize=65536)
def _forms(raw: str) -> tuple[str, str]:
    form = comparable(raw)
    return form, uninflected(form)


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text in order; ``&`` is left out, as "and" carries no content.

    Words that were glued by a lost space are taken apart at their capitals.
    """
    return list(_tokens(text))


@lru_cache(maxsize=512)
def _tokens(text: str) -> list[Token]:
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        raw = match[0]
        start, end = match.span()
        if not raw.islower() and not raw[1:].islower() and raw.isalpha() and not raw.isupper():
            for i in range(start + 1, end):
                joint = text[i].isupper() and text[i - 1].islower()
                if joint and i - start >= (2 if text[start].islower() else 4):
                    raw = text[start:i]
                    found.append(Token(*_forms(raw), start, i, raw))
                    start = i
            raw = text[start:end]
        form, base = _forms(raw)
        if form:
            found.append(Token(form, base, start, end, raw))
    return found


def content(items: Sequence[Token]) -> list[Token]:
    """Return the tokens that carry meaning; all of them when each is a function word."""
    kept = [t for t in items if t.text not in STOP]
    return kept or list(items)

"""Set phrases of other languages: that no answer is known, and what names do not hold.

The table is ``judges/data/other_languages.tsv``: language, kind, where the phrases were found (a
dictionary, translations, public repositories; else they are of our own knowledge), phrases. Kinds:

* ``silence``: "I don't know", "no information"; ``neutral``: words that name no value ("sorry",
  "the answer"). Case, accents and punctuation do not count. See :func:`silent_elsewhere`.
* ``first``: how an answer begins that is no name ("perhaps", "before 0" for any number), or with a
  dot all that it says ("yes."); ``inside``: small words behind the first ("is"); ``words``: both,
  of frequent words without those of English and of names. See :func:`is_set_phrase`.
* ``particles``: frequent words that stand in names too ("del"); ``months``: names of months that
  English does not use.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from functools import cache, lru_cache

from sayso.judges.english.lexicon import alternatives, judge_data
from sayso.judges.patterns import regex

#: languages that are written without spaces, or with spaces and endings as a writer likes
_UNSPACED = ("zh", "ja", "ko", "th", "my", "km")
#: letters that are more than a plain one with a mark
_PLAIN = str.maketrans("ıøłđħ", "ioldh")
_CLAUSE_ENDS = regex(r"[^\w\s'’`´‘ʼ-]+")
_NO_LETTERS = regex(r"[\W_ʼ]+")
_NUMBER = regex(r"\d[\d.,]*")
#: names have at most so many words
MOST_WORDS = 6


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """Return a text in small letters without accents, vowel signs and invisible characters."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    kept = (c for c in apart if unicodedata.category(c) not in ("Mn", "Mc", "Cf"))
    return unicodedata.normalize("NFC", "".join(kept)).translate(_PLAIN)


def _words(text: str) -> list[str]:
    return _NO_LETTERS.sub(" ", text).split()


def plain_words(text: str) -> list[str]:
    """Return the words of a text as :func:`plain` writes them."""
    return _words(plain(text))


def _rows(kind: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of a kind: the language, and its phrases as they are written."""
    for line in judge_data("other_languages.tsv").decode("utf-8").splitlines():
        language, its_kind, _, phrases = line.split("\t")
        if its_kind == kind:
            yield language, phrases.split(" | ")


@cache
def phrases_of(kind: str) -> frozenset[str]:
    """Return the phrases of a kind in all languages, as they are written."""
    return frozenset(phrase for _, phrases in _rows(kind) for phrase in phrases)


@cache
def _silences() -> list[tuple[list[list[str]], frozenset[str], re.Pattern[str] | None]]:
    """Return of each language the phrases of silence, these and the neutral words, and a cutter.

    The cutter finds the words of a text without spaces.
    """
    phrases: dict[str, list[list[str]]] = defaultdict(list)
    for language, listed in _rows("silence"):
        cut = [plain_words(phrase) for phrase in listed]
        phrases[language] += [["".join(p)] for p in cut] if language in _UNSPACED else cut
    made = []
    for language, (neutral,) in _rows("neutral"):
        known = frozenset(plain_words(neutral)).union(*phrases[language])
        cutter = re.compile(alternatives(known)) if language in _UNSPACED else None
        made.append((phrases[language], known, cutter))
    return made


def frequent_words() -> list[frozenset[str]]:
    """Return of each language its frequent words that English does not use."""
    listed: dict[str, set[str]] = defaultdict(set)
    for language, words in (*_rows("words"), *_rows("inside"), *_rows("particles")):
        listed[language].update(words)
    return [frozenset(words) for words in listed.values()]


def is_set_phrase(text: str, *, title: bool = False) -> bool:
    """Return whether a text is no English and no name: "Nein.", "Vielleicht Oslo.".

    In a ``title`` any words may stand behind the first: "Ne me quitte pas".
    """
    words = _words(_NUMBER.sub("0", text.casefold()))
    if 0 < len(words) <= MOST_WORDS:
        begins = {words[0], " ".join(words[:2]), " ".join(words) + "."}
        small = {*_words(text.replace("-", ""))[1:]}
        held = (begins | small) & phrases_of("words") or small & phrases_of("inside")
        if begins & phrases_of("first") or (held and not title):
            return True
    return True in _readings(text)


def silent_elsewhere(text: str) -> bool:
    """Return whether a text in another language says that it does not know, and nothing else.

    Its clauses hold words of silence and neutral words alone, each of one language, and one holds
    a whole phrase. Anything else may be a value or a hedge.
    """
    readings = _readings(text)
    return True in readings and None not in readings


@lru_cache(maxsize=4096)
def _readings(text: str) -> frozenset[bool | None]:
    """Return whether clauses of a text are silent; ``None`` is for one with words not known."""
    found: set[bool | None] = set()
    for words in filter(None, map(_words, _CLAUSE_ENDS.split(plain(text)))):
        ways = {_holds_phrase(words, *silence) for silence in _silences()}
        found.add(True if True in ways else False if False in ways else None)
    return frozenset(found)


def _holds_phrase(
    words: list[str],
    phrases: list[list[str]],
    known: frozenset[str],
    cutter: re.Pattern[str] | None,
) -> bool | None:
    if cutter is not None:
        joined = "".join(words)
        words = cutter.findall(joined) if cutter.sub("", joined) == "" else words
    if not known.issuperset(words):
        return None
    for phrase in phrases:
        rest = iter(words)  # what "in" has looked at is gone, so that words count in their order
        if all(word in rest for word in phrase):
            return True
    return False

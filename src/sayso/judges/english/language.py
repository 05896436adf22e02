"""Whether a text is English, by its words and scripts."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from sayso.judges.english.families import word_group
from sayso.judges.english.lexicon import lexicon_words
from sayso.judges.english.numbers import MONTHS
from sayso.judges.english.other_languages import (
    MOST_WORDS,
    frequent_words,
    is_set_phrase,
    phrases_of,
    plain_words,
)
from sayso.judges.patterns import regex

# ---- whether a text is English: by its words and scripts. Names, dates, numbers and other short
# answers ("Ludwig van Beethoven", "1950") have no language and pass.

_WORD = regex(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SAMPLE = 4000
#: what is written for machines
_CODE = regex(r"(?<!\S)[^\s\\_={}<>@]*+[\\_={}<>@]\S*")

#: Frequent words that hold a sentence together and are rare in names; shared forms are left out
#: ("in", "was", "die", "a", "on", "or", "me", "as", "do", "no").
_ENGLISH = lexicon_words("function words", "language")
_OTHERS = frequent_words()
_ELSEWHERE = frozenset().union(*_OTHERS)

#: how contractions end in English and rarely elsewhere: "that's", "don't", "they're"
_CONTRACTED = ("'s", "n't", "'re", "'ve", "'ll", "'m")

#: what makes even a few characters a sentence: "probably", "it is", "I do not know"
_SENTENCE = regex(
    "です|でした|ます|ません|おそらく|たぶん|かもしれ|思い|"
    "可能|也许|也許|大概|应该是|應該是|不确定|不確定|不知道|我认为|我認為|我想|"
    "아마|입니다|습니다|인 것|모르"
)
#: "Mana yachanichu.": up to five words, only the first with a capital, and a full stop
_SENTENCE_OF_FEW = regex(r"\s*(?![a-z\d])[\w'’-]+(?: (?![A-Z])[\w'’-]+){1,4}[.!]\s*")
_BEYOND_LATIN = regex("[^\u0000-\u02ff\u1e00-\u1eff]")
_LATIN = regex("[A-Za-zªµºÀ-ÖØ-öø-\u024f\u1e00-\u1eff]")
#: the letters of formulas
_GREEK_SIGNS = regex("(?<![\u0370-\u03ff])[\u0370-\u03ff]{1,2}(?![\u0370-\u03ff])")
_WIDE = regex("[\u3040-\u9fff\uac00-\ud7af]")
#: where a month stands beside a number: "8. Juni", "mayo de 1945", "1945. május 8."
_DATED_WORD = regex(
    r"(?:(?<!\d)(?P<day>\d{1,2})(?:\.|st|nd|rd|th|er|º)?\s+(?:(?:of|de|del|da|di|d['’]|ta['’])\s*)?)?"
    r"(?<![\w'-])(?P<word>[^\W\d_]{3,})[.,]?(?:\s+(?:d\w{1,2}\s+)?(?P<after>\d{1,4})(?!\w))?"
)
_ASIDE = regex(r"[(\[（][^()\[\]（）]*+[)\]）]|(?<=[A-Za-z])\s*[,/–—-]\s*[^A-Za-z]++$")
#: scripts of which one text may use several
_TOGETHER = {"HIRAGANA": "CJK", "KATAKANA": "CJK"}


def scripts_of(text: str) -> frozenset[str]:
    """Return the scripts of a text other than Latin, by their names in Unicode."""
    beyond = {c for c in _BEYOND_LATIN.findall(text) if c.isalpha()}
    names = (unicodedata.name(c, "UNKNOWN").partition(" ")[0] for c in beyond)
    return frozenset(_TOGETHER.get(name, name) for name in names)


def _other_script(text: str) -> bool:
    """Return whether most letters are neither Latin nor the Greek of formulas."""
    other = sum(c.isalpha() for c in _BEYOND_LATIN.findall(_GREEK_SIGNS.sub("", text)))
    return bool(other > len(_LATIN.findall(text)))


def _may_be_a_name(text: str) -> bool:
    """Return whether up to four words may be a name: with capitals, or in a script without."""
    firsts = [next(filter(str.isalnum, word), "") for word in text.split()]
    # One ideograph says what a word says, so few of them already make a sentence.
    longest = 7 if _WIDE.search(text) else 60
    return (
        len(firsts) <= 4
        and not any(first.islower() for first in firsts)
        and sum(map(str.isalpha, text)) <= longest
        and not _SENTENCE.search(text)
    )


@lru_cache(maxsize=4096)
def is_english(text: str) -> bool:
    """Return whether ``text`` may be judged by rules written for English.

    True for English, and for what has no language: the empty text, names and numbers of up to four
    words. False for set phrases of other languages, for other text in another script, where another
    language's function words outnumber the English ones, and where most words in small letters have
    no stem of the 14,000 frequent English words.
    Judged on the first 4,000 characters.
    """
    sample = text[:_SAMPLE]
    written = _WORD.findall(_CODE.sub(" ", sample))
    words = " ".join(written).lower().replace("’", "'").split()
    english = sum(word in _ENGLISH or word.endswith(_CONTRACTED) for word in words)
    other_script = not sample.isascii() and _other_script(sample)
    mostly = not other_script and english >= 0.25 * len(words)
    # "It is Kamenice nad Lipou." names a place in English; "Jammer, ek is onseker." does not
    framed = mostly and sum(word in _ENGLISH for word in words[:3]) > 1
    if not framed and (not mostly or len(words) <= MOST_WORDS) and is_set_phrase(sample):
        return False
    if mostly:
        return True
    if other_script:
        return _may_be_a_name(sample)
    small = [word.lower() for word in written if word[0].islower() or sample.isupper()]
    longer = [word.removesuffix("'s") for word in small if len(word) > 1]
    unheard = [word for word in longer if word not in _ENGLISH and word_group(word) == word]
    marked = sum(not word.isascii() for word in unheard)
    if _SENTENCE_OF_FEW.fullmatch(sample):
        brief = [word for word in words if len(word) in (2, 3) and word not in _ENGLISH]
        if unheard and len({*unheard, *brief, *words[:1]}) == len(set(words)):
            return not (marked or brief or len(unheard) > 1)
    if len(words) < 4:
        return True
    # "judith cynthia keppel" is a name without its capitals
    bare = len(words) <= MOST_WORDS and sample.islower()
    elsewhere = len(_ELSEWHERE.intersection(small))
    # Fewer words are enough with letters or function words of other languages.
    least, share = (2, 0.5) if elsewhere or marked else (3, 0.75)
    if not bare and least <= len(unheard) > share * len(longer):
        return False
    best = max(sum(map(known.__contains__, small)) for known in _OTHERS)
    # Names carry a particle or two: "Leonardo di ser Piero da Vinci"
    particles = 2 if bare or 2 * len(small) <= len(words) else 0
    foreign = max(best - particles, elsewhere + marked if elsewhere and marked and not bare else 0)
    return foreign < 2 or foreign <= english or foreign < 0.18 * len(words)


#: small words of other languages that change nothing: "in"
_NEUTRAL = frozenset(plain_words(" ".join(phrases_of("neutral"))))


def says_more(text: str, golds: Sequence[str], questions: str) -> bool:
    """Return whether words in another script add to golds and questions, as "perhaps" does.

    Not in English, among many Latin words, or in brackets behind these. A name that is no gold
    passes in a script of the golds (of the questions where none is known) with capitals, which
    tell names from words, and in a script without them if it has no more words than a gold: else
    right answers alone would be read.
    """
    names = list(map(plain_words, golds))
    said, own = set(plain_words(text)), {word for name in names for word in name}
    longer = len(said) > max(map(len, names), default=1)
    bare = _GREEK_SIGNS.sub("", _ASIDE.sub("", text))
    quoted = 4 * sum(bool(scripts_of(word)) for word in said) < len(said)
    if not scripts_of(bare) or ((said & _ENGLISH or quoted) and not _other_script(text)):
        return False
    asked = plain_words(questions)
    new = {word: scripts_of(word) for word in said.difference(own, asked, _NEUTRAL)}
    known = scripts_of(" ".join(golds) or questions)
    foreign = {word for word, scripts in new.items() if scripts - known}
    around = {w for w in new if said & own or longer or any(name in w for name in own)}
    return bool(foreign) or any(new[w] and w == w.title() and w in around for w in new)


def has_foreign_month(text: str) -> bool:
    """Return whether a date has a month that is not English: "8. Juni 1945", "Oktober 1945"."""
    months = phrases_of("months")
    small = {month.lower() for month in months}
    for m in _DATED_WORD.finditer(text[:_SAMPLE]):
        word = m["word"].lower()
        known = word_group(word) != word or word in _ENGLISH or word in MONTHS
        listed = m["word"] in months or (word in small and (m["day"] or not known))
        if listed and (m["day"] or m["after"]):
            return True
    return False


def has_foreign_words(text: str) -> bool:
    """Return whether a name has words or letters of another language: "La dolce vita"."""
    return not (text.isascii() and _ELSEWHERE.isdisjoint(text.lower().split()))

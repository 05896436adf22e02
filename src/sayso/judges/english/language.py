"""Whether a text is English, by its function words and scripts."""

from __future__ import annotations

from functools import lru_cache

from sayso.judges.english.lexicon import lexicon_rows, lexicon_words
from sayso.judges.patterns import regex

# ---- whether a text is English: by function words and scripts. Only running text can be told
# apart; names, dates, numbers and other short answers ("Ludwig van Beethoven", "1950") pass.

_WORD = regex(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SAMPLE = 4000

#: Frequent words that hold a sentence together and are rare in names; shared forms are left out
#: ("in", "was", "die", "a", "on", "or", "me", "as", "do", "no").
_ENGLISH = lexicon_words("function words", "language")
_OTHERS = tuple(
    frozenset(row.partition(": ")[2].split()) - _ENGLISH for row in lexicon_rows("languages")
)
_ELSEWHERE = frozenset().union(*_OTHERS)

#: how contractions end in English and rarely elsewhere: "that's", "don't", "they're"
_CONTRACTED = ("'s", "n't", "'re", "'ve", "'ll", "'m")

#: what makes even a few characters a sentence: "probably", "it is", "I do not know"
_SENTENCE = regex(
    "です|でした|ます|ません|おそらく|たぶん|かもしれ|思い|"
    "可能|也许|也許|大概|应该是|應該是|不确定|不確定|不知道|我认为|我認為|我想|"
    "아마|입니다|습니다|인 것|모르"
)
_BEYOND_LATIN = regex("[^\u0000-\u024f\u1e00-\u1eff]")
_LATIN = regex("[A-Za-zªµºÀ-ÖØ-öø-\u024f\u1e00-\u1eff]")
_GREEK = regex("[\u0370-\u03ff]")
_WIDE = regex("[\u3040-\u9fff\uac00-\ud7af]")


def _foreign_script(text: str) -> bool:
    """Whether most letters are neither Latin nor the Greek of formulas."""
    beyond = "".join(_BEYOND_LATIN.findall(text))
    if not beyond or _SENTENCE.search(text):
        return bool(beyond)
    latin, greek = len(_LATIN.findall(text)), len(_GREEK.findall(beyond))
    other = sum(c.isalpha() for c in _GREEK.sub("", beyond))
    # One ideograph says what a word says, so few of them already make a sentence.
    enough = 8 if _WIDE.search(beyond) else 16
    return (greek > 12 and greek > latin) or (other >= enough and other > latin)


@lru_cache(maxsize=4096)
def is_english(text: str) -> bool:
    """Return whether ``text`` may be judged by rules written for English.

    True for English, and for what has no language: the empty text, names, numbers, up to three
    words. False for running text in another script, or where another language's function words
    outnumber the English ones. Judged on the first 4,000 characters.
    """
    sample = text[:_SAMPLE]
    if not sample.isascii() and _foreign_script(sample):
        return False
    written = _WORD.findall(sample)
    words = " ".join(written).lower().replace("’", "'").split()
    english = sum(word in _ENGLISH or word.endswith(_CONTRACTED) for word in words)
    if len(words) < 4 or english >= 0.25 * len(words):
        return True
    if len(_ELSEWHERE.intersection(words)) < 2:
        return True
    # One word alone may be English too: "A tadpole becomes a frog".
    several = [known for known in _OTHERS if len(known.intersection(words)) > 1]
    best = max((sum(map(known.__contains__, words)) for known in several), default=0)
    # Names carry a particle or two ("Leonardo di ser Piero da Vinci"), so among capitalized words
    # it takes more of them.
    capitals = sum(word[0].isupper() for word in written)
    least = 4 if 2 * capitals >= len(words) else 2
    return best < least or best <= english or best < 0.18 * len(words)

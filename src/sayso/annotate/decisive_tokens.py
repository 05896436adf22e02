"""Words of a text for decisiveness: lower case, contractions taken apart, offsets kept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from sayso.annotate.decisive_words import degree, full, hardly, left_out, nearly
from sayso.annotate.normalize import word_set


class Word(NamedTuple):
    """One word or stop (",", ".", "?"), in lower case, with its place in the text."""

    text: str
    start: int
    end: int


_TOKEN = re.compile(r"[^\W_]+(?:['-][^\W_]+)*'?|[,;:.?!()%]")
_CONTRACTED = {
    "m": "am", "re": "are", "ve": "have", "ll": "will", "d": "would", "s": "is", "t": "not",
}  # fmt: skip
_IRREGULAR = {"can't": "can", "won't": "will", "shan't": "shall", "ain't": "is"}
_RUN = {"cannot": ("can", "not"), "dont": ("do", "not"), "im": ("i", "am"), "ive": ("i", "have"),
        "cant": ("can", "not"), "isnt": ("is", "not"), "wasnt": ("was", "not")}  # fmt: skip


def words(text: str, low: int, high: int) -> list[Word]:
    """Return the words of ``text[low:high]`` (plain quotes); "isn't" gives "is" and "not"."""
    found: list[Word] = []
    for hit in _TOKEN.finditer(text, low, high):
        raw, start, end = hit.group().lower(), *hit.span()
        if raw in _RUN:
            found += [Word(part, start, end) for part in _RUN[raw]]
            continue
        head, mark, tail = raw.rpartition("'")
        if mark and tail == "t" and head.endswith("n"):
            found.append(Word(_IRREGULAR.get(raw, head[:-1]), start, end))
            found.append(Word("not", start, end))
        elif mark and tail in _CONTRACTED and head and (tail != "s" or head in _SUBJECTS):
            found += [Word(head, start, end), Word(_CONTRACTED[tail], start, end)]
        else:
            found.append(Word(raw.rstrip("'").removesuffix("'s") or raw, start, end))
    # Of a bare "n't" nothing is left before the "not".
    return [word for word in found if word.text]


_SUBJECTS = word_set("it he she that there this what who here where guess")
_LINKS = word_set(
    "feel feels feeling seem seems seemed remain remains remained appear appears looks sounds"
)
BE = word_set("is are was were be been being am")
AUX = BE | word_set("do does did have has had will would can could may might must should")
NEGATIVE = word_set("not never no neither nor none nothing")
SELF = word_set("i we my me our myself us")
_THROUGH = (
    AUX
    | _LINKS
    | NEGATIVE
    | word_set(
        "a an the at all any of just also still personally honestly certainly actually even only"
        " really much as lot bit little kind sort far from less than anything but seem seems"
        " appear appears feel feeling remain remains to i we quite too so that about or percent %"
    )
)


class Before(NamedTuple):
    """What stands before a head: degree, denial, and where it begins."""

    scale: float
    extreme: float
    negated: bool
    full: bool
    nearly: bool
    hardly: bool
    small: bool
    strengthened: bool
    mine: bool
    copula: bool
    first: int


def before(items: Sequence[Word], i: int, most: int = 7) -> Before:
    """Read the degrees and denials that lead to head ``i``, nearest first."""
    scale = extreme = 1.0
    negated = whole = near = hard = small = strong = mine = copula = False
    k, first = i - 1, i
    while k >= 0 and i - k <= most:
        word = items[k].text
        two = f"{word} {items[k + 1].text}"
        factors = degree(word)
        if factors is not None:
            if not (negated and word in ("so", "much")):
                scale, extreme = scale * factors[0], extreme * factors[1]
                strong = strong or factors[0] > 1.3
            whole = whole or word == "quite"
        elif full(word) or two in ("at all", "100 %") or word == "100%":
            whole = whole or two != "at all"
            strong = True
            extreme *= 1.2
        elif nearly(word):
            near = True
        elif hardly(word):
            hard = True
        elif two in ("less than", "far from", "anything but") or word in NEGATIVE:
            negated = True
        elif two in ("a bit", "a little", "kind of", "sort of"):
            small = True
            scale, extreme = scale * 0.7, extreme * 0.35
        elif word.endswith("ly") and len(word) > 5 and k == i - 1 and _by_degree(word):
            scale, extreme = scale * 1.7, extreme * 1.2
            strong = True
        elif word not in _THROUGH:
            break
        mine = mine or word in ("i", "we")
        copula = copula or word in BE or word in _LINKS
        first = k
        if word in ("i", "we", "that"):
            break
        k -= 1
    return Before(scale, extreme, negated, whole, near, hard, small, strong, mine, copula, first)


def _by_degree(word: str) -> bool:
    """Whether an unlisted adverb before a word of likelihood is read as one of degree."""
    return word in left_out() or word in _MORE


_MORE = word_set("remarkably tremendously immensely enormously heavily awfully super")


def denied_after(items: Sequence[Word], i: int) -> int | None:
    """Return the index of a "not" that a hedge at ``i`` stands before: "will probably not"."""
    for k in range(i + 1, min(i + 4, len(items))):
        if items[k].text in ("not", "never"):
            return k
        if items[k].text not in AUX:
            return None
    return None

"""What single words say about likelihood: classes of words and levels, on a log-odds scale.

A word stands in a class with other words of its meaning and gets the class's level, so no number
belongs to a phrase. Affixes work on levels: "un-", "im-" and "in-" turn a level round, "-ly",
"-ity" and "-hood" keep it. A word that is not listed, or is left out on purpose (``without``), is
read through listed relatives; what has none is read from the frame it stands in.
Levels of English words in general: 0 is even odds, 0.85 is 70 in 100, 2.2 is 90 in 100.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Literal, NamedTuple

from sayso.annotate.normalize import word_set

Class = Literal["scale", "noun", "doubt", "belief", "evidence", "state", "hearsay", "modal"]

#: A plain statement, as log odds (about 97 in 100).
PLAIN = 3.4
#: "Unlikely" is a little less likely than "likely" is likely.
AFFIX, NOT = 0.5, 0.25


class Entry(NamedTuple):
    """A word's class and level; ``sign`` is -1 for a word that an affix has turned round."""

    kind: Class
    level: float
    sign: int = 1


# level: words. Adverbs and adjectives that say how likely something is.
_SCALE = """
4.0: certainly definitely undoubtedly undeniably indisputably unquestionably indubitably doubtless
 absolutely inarguably assuredly irrefutably conclusively definitively undisputed indisputable
3.6: clearly obviously plainly truly indeed surely decidedly unmistakably obvious evident
 certain guaranteed
2.2: evidently manifestly
0.9: likely probable probably presumably apt liable doubtlessly ostensible presumable
0.5: apparently seemingly arguably plausibly believable credible ostensibly
0.2: supposedly plausible
-0.1: possible possibly perhaps maybe potentially perchance mayhap feasible feasibly
-0.6: conceivably conceivable hypothetically theoretically imaginable hypothetical
-1.4: doubtful doubtfully questionable dubious farfetched
-4.0: impossible impossibly inconceivable unthinkable implausible
"""
# Nouns that take an amount: "a good chance", "little likelihood"; the level is that of "a ...".
_NOUN = """
-0.5: chance chances
-0.3: possibility possibilities prospect
0.9: probability likelihood odds
3.0: certainty
2.0: confidence
"""
_DOUBT = "0.0: doubt doubts question uncertainty reservations skepticism scepticism qualms"
# Verbs (and nouns) of thinking: how likely what "I ..." is.
_BELIEF = """
3.6: know knew guarantee swear assure
3.0: conclude maintain confirm
1.2: believe believed belief bet understand trust expect anticipate wager predict
1.0: think thought recall remember recollect reckon deem consider judge conviction
0.8: say estimate feel sense opinion understanding impression view recollection memory
0.6: suspect presume argue suspicion
0.4: assume suppose imagine lean guess hunch figure inference assumption
0.2: surmise speculate hypothesize hypothesise conjecture hope wonder speculation hypothesis
"""
# Verbs of evidence: what "the records ..." makes of it.
_EVIDENCE = """
3.8: prove proves proved proven demonstrate demonstrates demonstrated establish establishes
 established confirm confirms confirmed verify verified
3.2: show shows showed shown reveal reveals revealed find finds found
2.0: indicate indicates indicated indicating
0.9: suggest suggests suggested suggesting imply implies implied implying
0.8: seem seems seemed appear appears appeared
0.6: look looks sound sounds
0.3: hint hints hinted
"""
# Participles of "it is ... that": what others say.
_HEARSAY = """
3.6: known documented recorded proven established confirmed undisputed verified
2.4: accepted agreed recognized recognised acknowledged understood
1.2: estimated expected reported
0.9: believed thought considered held said assumed presumed credited attributed
0.4: claimed suspected suggested hypothesized hypothesised proposed theorized argued speculated
 asserted stated supposed
0.8: reportedly
0.0: alleged allegedly reputed reputedly purported purportedly
-0.2: rumored rumoured rumor rumour rumors rumours gossip
"""
_STATE = """
3.2: certain
2.6: sure positive
2.2: confident convinced persuaded
0.6: inclined tempted
-1.0: skeptical sceptical unconvinced dubious doubtful
"""
_MODAL = "2.0: must|1.4: should ought|0.1: could|-0.1: may|-0.25: might"


def _read(table: str, kind: Class) -> dict[str, Entry]:
    level, found = 0.0, {}
    for word in table.replace("|", "\n").split():
        if word.endswith(":"):
            level = float(word[:-1])
        else:
            found[word] = Entry(kind, level)
    return found


_CLASSES: dict[Class, dict[str, Entry]] = {
    "scale": _read(_SCALE, "scale"),
    "noun": _read(_NOUN, "noun"),
    "doubt": _read(_DOUBT, "doubt"),
    "belief": _read(_BELIEF, "belief"),
    "evidence": _read(_EVIDENCE, "evidence"),
    "hearsay": _read(_HEARSAY, "hearsay"),
    "state": _read(_STATE, "state"),
    "modal": _read(_MODAL, "modal"),
}

# Words of degree. ``factor`` on a level of the scale ("very likely") and on an extreme one ("very
# sure"), which has no room above.
_DEGREES: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("very", "really", "strongly", "much", "firmly", "deeply"), (1.55, 1.3)),
    **dict.fromkeys(("so", "particularly", "especially", "seriously"), (1.4, 1.2)),
    **dict.fromkeys(("highly", "most", "greatly", "strong"), (1.9, 1.4)),
    **dict.fromkeys(
        ("extremely", "incredibly", "exceedingly", "exceptionally", "extraordinarily"), (2.2, 1.5)
    ),
    **dict.fromkeys(("overwhelmingly", "vanishingly"), (2.5, 1.5)),
    **dict.fromkeys(("quite", "rather", "pretty", "fairly"), (1.15, 0.68)),
    **dict.fromkeys(("reasonably", "relatively", "moderately", "mostly", "largely"), (1.0, 0.6)),
    **dict.fromkeys(("somewhat", "partly", "partially", "kinda", "tentatively"), (0.6, 0.3)),
    **dict.fromkeys(("slightly", "vaguely", "faintly", "marginally", "dimly"), (0.3, 0.1)),
}
_FULL = word_set(
    "absolutely completely totally entirely fully perfectly utterly wholly altogether"
    " thoroughly hundred dead quite exactly too terribly overly necessarily"
)
_NEARLY = word_set("almost nearly virtually practically essentially near")
_HARDLY = frozenset(["hardly", "scarcely", "barely"])

_LEFT_OUT: ContextVar[frozenset[str]] = ContextVar("left_out", default=frozenset())


@contextmanager
def without(*words: str) -> Iterator[None]:
    """Read answers as if ``words`` (forms as written) stood in no list. For leave-phrase-out."""
    token = _LEFT_OUT.set(frozenset(w.lower() for w in words))
    try:
        yield
    finally:
        _LEFT_OUT.reset(token)


def left_out() -> frozenset[str]:
    """Return the forms that :func:`without` removes at present."""
    return _LEFT_OUT.get()


_PREFIX = re.compile(r"^(?:un|im|in)(?=[a-z]{4})")
_SUFFIX = re.compile(
    r"(?:lihood|edly|ably|ibly|ability|ibility|able|ible|fully|less|ful|ly|ies|ity|ty|es|ed|ing|s"
    r"|y|e)$"
)


@lru_cache(maxsize=8192)
def family(word: str) -> tuple[str, int]:
    """Return what relatives share, and -1 for a word turned round by an affix.

    ("improbable" -> ("prob", -1), "likelihood" -> ("likel", 1)).
    """
    sign = 1
    bare = _PREFIX.sub("", word)
    if bare != word:
        sign = -1
    word = bare
    if len(word) > 5:
        cut = _SUFFIX.sub("", word)
        if len(cut) >= 4:
            word = cut
    return word.replace("lief", "liev").rstrip("ei"), sign


@lru_cache(maxsize=64)
def _relatives(gone: frozenset[str]) -> dict[str, dict[Class, Entry]]:
    """family -> class -> the listed entry nearest to an unmarked word."""
    found: dict[str, dict[Class, Entry]] = {}
    for kind, words in _CLASSES.items():
        for word, entry in words.items():
            stem, sign = family(word)
            kept = sign > 0 or kind != "doubt"
            if kept and word not in gone and kind not in ("modal", "evidence", "hearsay"):
                level = entry.level if sign > 0 else -entry.level - AFFIX
                found.setdefault(stem, {}).setdefault(kind, Entry(kind, level))
    return found


def lookup(word: str, kind: Class) -> Entry | None:
    """Return a lower-case word's entry in a class, through its relatives where it has none."""
    gone = _LEFT_OUT.get()
    entry = None if word in gone else _CLASSES[kind].get(word)
    if entry is not None or kind not in ("scale", "noun", "doubt", "state", "belief"):
        return entry
    if len(word) < 5 or (kind in ("belief", "noun", "doubt") and word not in gone):
        return None
    stem, sign = family(word)
    related = _relatives(gone).get(stem)
    if related is None:
        return None
    base = related.get(kind)
    if base is None and word in gone and kind in ("scale", "doubt"):
        other = next((e for e in related.values() if e.kind in ("scale", "noun")), None)
        base = other if kind == "scale" or (other and other.level < -1) else None
    if kind == "scale" and word in gone and "belief" in related:
        return None
    if base is None or (kind == "scale" and not _adverbial(word, gone)):
        return None
    level = base.level if sign > 0 else -min(base.level, 2.4) - AFFIX
    return Entry(kind, level, sign)


def _adverbial(word: str, gone: frozenset[str]) -> bool:
    turned = _PREFIX.match(word) is not None and not word.endswith(("ity", "ike"))
    return word in gone or turned or word.endswith("ly")


def degree(word: str) -> tuple[float, float] | None:
    """Return the factors (scale, extreme) of a degree word; any other "-ly" word is none."""
    return None if word in _LEFT_OUT.get() else _DEGREES.get(word)


def full(word: str) -> bool:
    """Whether a word says "wholly", so that its negation leaves most of it: "not entirely"."""
    return word in _FULL and word not in _LEFT_OUT.get()


def nearly(word: str) -> bool:
    """Whether a word says "not quite" of an extreme."""
    return word in _NEARLY and word not in _LEFT_OUT.get()


def hardly(word: str) -> bool:
    """Whether a word denies almost wholly."""
    return word in _HARDLY

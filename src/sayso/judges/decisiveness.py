"""How likely would a reader take an answer to be true, from its wording alone?

Yona et al. (arXiv 2405.16908) ask a language model (:class:`LlmDecisive`); :func:`decisiveness`
reads the wording offline. Words of likelihood, belief, evidence and doubt are composed with what
strengthens, weakens or denies them into marks on a log-odds scale: a mark is a head (an adjective,
noun or verb of likelihood, knowledge or evidence), what changes it, and the frame it stands in. A
mark reaches its clause, what is joined to it, or, where it only speaks of the answer ("I could be
wrong"), its neighbor.

Levels: 0 is even odds, 0.85 is 70 in 100, 2.2 is 90 in 100. A word is in a class with other words
of its meaning and gets the class's level, so no number belongs to a phrase. Affixes work on levels:
"un-", "im-" and "in-" turn a level round, "-ly", "-ity" and "-hood" keep it. A word that is not
listed, or is left out on purpose (:func:`without`), is read through listed relatives; one without
relatives is read from its frame. Probabilities in numbers ("70 % sure", "one in three", "odds of 3
to 1") are taken as they are.

"The question is incomplete", "please provide the title", "as an AI model, I do not have ..." assert
nothing about the subject, so they carry neither decisiveness nor a value to compare.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from sayso.engines.engine import Engine
from sayso.judges.model.numbered import NumberedReader, Task, blocks_of
from sayso.judges.patterns import regex
from sayso.judges.rules.lexicon import QUOTE, TITLE_WORD
from sayso.judges.rules.sentences import AUXILIARY, PAST, Span, plain
from sayso.judges.rules.stance import Found, Reading, read, weaken
from sayso.judges.rules.text import is_english, stem, word_list, word_set

# ---- levels of single words

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
    level, entries = 0.0, {}
    for word in table.replace("|", "\n").split():
        if word.endswith(":"):
            level = float(word[:-1])
        else:
            entries[word] = Entry(kind, level)
    return entries


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


_PREFIX = regex(r"^(?:un|im|in)(?=[a-z]{4})")
_SUFFIX = regex(
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
    relatives: dict[str, dict[Class, Entry]] = {}
    for kind, words in _CLASSES.items():
        for word, entry in words.items():
            stem, sign = family(word)
            kept = sign > 0 or kind != "doubt"
            if kept and word not in gone and kind not in ("modal", "evidence", "hearsay"):
                level = entry.level if sign > 0 else -entry.level - AFFIX
                relatives.setdefault(stem, {}).setdefault(kind, Entry(kind, level))
    return relatives


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


# ---- how much of a chance an adjective says, and the tone of words that are less than hedges

# How much of a chance: log odds of "a ... chance".
_AMOUNTS = """
-4.6: no zero nil
-3.2: tiny minuscule infinitesimal negligible miniscule
-2.1: slim small low little remote minimal outside poor faint scant minor
-1.9: slight limited few bare
-0.4: some modest any
0.0: even equal balanced
0.2: fair moderate medium real distinct
0.4: reasonable decent realistic
0.9: good sizable sizeable solid fighting healthy
1.2: big large substantial strong considerable significant
1.5: great high excellent outstanding
1.9: every
2.6: overwhelming
"""


# What is less than a hedge: the tone of a plain statement, in log odds.
_TONE: dict[str, float] = {
    **dict.fromkeys(
        word_list(
            "about roughly approximately around nearly almost circa estimated often usually"
            " typically generally sometimes commonly tend tends tended can would should potential"
            " frequently primarily mostly largely partly relatively most likely prospective aims"
        ),
        -0.35,
    ),
    **dict.fromkeys(["some", "many", "several", "various", "certain"], -0.15),
    **dict.fromkeys(
        word_list("no not never none always all every only significant significantly"),
        0.2,
    ),
}


def tone(words: Iterable[str]) -> float:
    """Return what softening words ("about", "often") and absolute ones ("never") add, -0.9..0.4."""
    gone = left_out()
    total = sum(_TONE.get(word, 0.0) for word in words if word not in gone)
    return max(-0.9, min(0.4, total))


def _amounts() -> dict[str, float]:
    level, amounts = 0.0, {}
    for word in _AMOUNTS.split():
        if word.endswith(":"):
            level = float(word[:-1])
        else:
            amounts[word] = level
    return amounts


AMOUNTS: dict[str, float] = _amounts()


def amount(word: str) -> float | None:
    """Return the level of an amount ("good", "slim") of chance."""
    return None if word in left_out() else AMOUNTS.get(word)


# ---- clauses that speak of the question or the speaker's means instead of answering

_VERBS = (
    r"(?:have|access|possess|provide|answer|predict|determine|find|identify|confirm|verify|offer|"
    r"locate|give|browse|see|understand|assume|speculate|reveal)"
)
_ASKING = regex(
    rf"""
    (?<!answer\sto\s)\b(?:the|this|your|that)\s+(?:question|query|prompt|passage|request)\b
        (?!\s+(?:is|was)\s+(?:that|whether)\b)[^.]{{0,50}}?
        \b(?:is|are|was|does|do|seems?|appears?|contains?|refers?|lacks?|cannot|can't|could|asks?|has
        |provides?|may|might|mentions?)\b
    | \b(?:please|could\s+you|can\s+you|kindly)\s+(?:\w+\s+)?(?:provide|clarify|specify|give|check
        |let\s+me|rephrase|share)\b
    | \b(?:I|we)\s+(?:\w+\s+)?(?:do\s+not|don't|cannot|can\s+not|can't|could\s+not|couldn't|am\s+not
        \s+able\s+to|am\s+unable\s+to|have\s+not|haven't)\s+(?:\w+\s+)?{_VERBS}\b
        (?!\s+(?:any\s+)?doubts?\b)
    | \bmy\s+(?:\w+\s+)?(?:data|database|knowledge|training|information|responses?|capabilit\w+)\b
        [^.]{{0,40}}\b(?:limited|may\s+not|might\s+not|not\s+be|cut-?off|only)\b
    | \b(?:best|recommend\w*|suggest|advise)\s+(?:to\s+|that\s+you\s+|you\s+|for\s+you\s+to\s+)?
        (?:check|consult|verify|refer|visit|look|checking|consulting|visiting|looking|referring)
    | \byou\s+(?:can|may|could|might)\s+(?:\w+\s+)?(?:find|check|visit|refer|consult|look|want)\b
    | \b(?:not|n't)\s+(?:been\s+)?(?:mentioned|specified|provided|given|stated)\b(?=\W*$|\s+in\b
        |\s+who
        |\s+which|\s+what)
    | \b(?:impossible|not\s+possible|difficult|hard)\s+(?:for\s+me\s+)?to\s+(?:\w+\s+)?(?:answer
        |determine|know|provide|identify)\b
    | ^\W*(?:(?:I'm|I\s+am)\s+)?(?:very\s+)?sorry\b | ^\W*I\s+apologi[sz]e | ^\W*as\s+an\s+AI\b
        (?![^,]*,[^,]*\b(?:is|was|are|were)\b)
    | ^\W*without\s+(?:more|additional|further|any|knowing|this|that|a|the)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


def speaks_of_asking(clause: str) -> bool:
    """Whether a clause is about the question, the speaker's means, or where to look instead."""
    return _ASKING.search(clause) is not None


# ---- words of a text: lower case, contractions taken apart, offsets kept


class Word(NamedTuple):
    """One word or stop (",", ".", "?"), in lower case, with its place in the text."""

    text: str
    start: int
    end: int


_TOKEN = regex(r"[^\W_]+(?:['-][^\W_]+)*'?|[,;:.?!()%]")
_CONTRACTED = {
    "m": "am", "re": "are", "ve": "have", "ll": "will", "d": "would", "s": "is", "t": "not",
}  # fmt: skip
_IRREGULAR = {"can't": "can", "won't": "will", "shan't": "shall", "ain't": "is"}
_RUN = {"cannot": ("can", "not"), "dont": ("do", "not"), "im": ("i", "am"), "ive": ("i", "have"),
        "cant": ("can", "not"), "isnt": ("is", "not"), "wasnt": ("was", "not")}  # fmt: skip


def words(text: str, low: int, high: int) -> list[Word]:
    """Return the words of ``text[low:high]`` (plain quotes); "isn't" gives "is" and "not"."""
    all_words: list[Word] = []
    for hit in _TOKEN.finditer(text, low, high):
        raw, start, end = hit.group().lower(), *hit.span()
        if raw in _RUN:
            all_words += [Word(part, start, end) for part in _RUN[raw]]
            continue
        head, mark, tail = raw.rpartition("'")
        if mark and tail == "t" and head.endswith("n"):
            all_words.append(Word(_IRREGULAR.get(raw, head[:-1]), start, end))
            all_words.append(Word("not", start, end))
        elif mark and tail in _CONTRACTED and head and (tail != "s" or head in _SUBJECTS):
            all_words += [Word(head, start, end), Word(_CONTRACTED[tail], start, end)]
        else:
            all_words.append(Word(raw.rstrip("'").removesuffix("'s") or raw, start, end))
    # Of a bare "n't" nothing is left before the "not".
    return [word for word in all_words if word.text]


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
    return word in left_out() or word in _TOKENS_MORE


_TOKENS_MORE = word_set("remarkably tremendously immensely enormously heavily awfully super")


def denied_after(items: Sequence[Word], i: int) -> int | None:
    """Return the index of a "not" that a hedge at ``i`` stands before: "will probably not"."""
    for k in range(i + 1, min(i + 4, len(items))):
        if items[k].text in ("not", "never"):
            return k
        if items[k].text not in AUX:
            return None
    return None


# ---- marks: how likely one sentence says that something is

#: How a mark reaches: what it stands in ("modal", "adverb"), what follows it ("matrix").
Reach = Literal["matrix", "modal", "adverb"]


class Mark(NamedTuple):
    """Words ``first..last`` (indices, inclusive) put a statement at ``level``.

    ``polar``: they deny it ("unlikely", "I doubt"), so more hedges pull towards even odds.
    ``denial``: the index of the "not" that is part of it, else -1. ``doubt``: they speak of the
    speaker's own certainty ("not sure") and may be a remark on a neighboring statement.
    """

    first: int
    last: int
    level: float
    reach: Reach
    polar: bool = False
    denial: int = -1
    doubt: bool = False
    #: further words of the mark, apart from it: "the chances that ... are *slight*"
    apart: tuple[int, ...] = ()
    #: "I think", "it seems": says little where the statement itself says how likely it is
    wraps: bool = False


def text_at(items: Sequence[Word], i: int) -> str:
    """Return word ``i``, "" outside."""
    return items[i].text if 0 <= i < len(items) else ""


def _scaled(level: float, scale: float, extreme: float, near: bool) -> float:
    if near:
        return max(-2.8, min(2.8, level)) if abs(level) > 2.5 else level * 0.9
    if abs(level) > 2.0:
        # An extreme has no room above; what weakens it leaves the direction.
        return level * extreme if extreme < 1 else level + 0.4 * (extreme - 1)
    return level * scale


def scales(items: Sequence[Word], i: int) -> Mark | None:
    """Adverbs and adjectives: "most likely", "not impossible", "almost certainly not"."""
    word = items[i].text
    entry = lookup(word, "scale")
    hearsay = lookup(word, "hearsay") if word.endswith("ly") else None
    if entry is None and hearsay is None:
        return None
    level = entry.level if entry else hearsay.level if hearsay else 0.0
    ahead = before(items, i)
    previous, following = text_at(items, i - 1), text_at(items, i + 1)
    if (entry and previous == "as") or previous in ("if", "where", "whenever", "when", "wherever"):
        return None
    if word in ("certain", "obvious", "evident", "clear") and not (
        ahead.copula or ahead.nearly or following in ("that", "")
    ):
        return None
    if word in ("truly", "indeed", "surely", "certain") and ahead.mine:
        return None
    compared = next((k for k in (i - 1, i - 2) if text_at(items, k) in ("more", "less")), None)
    first = ahead.first if ahead.copula or ahead.scale != 1 or ahead.negated else i
    if compared is not None and lookup(word, "scale") is not None:
        return _comparison(items, i, compared, level)
    if ahead.negated:
        if level < -2.5:
            level = -0.5
        elif level < -0.3:
            level = 0.35
        elif word.startswith("necessar"):
            level = 0.3
        elif level > 2:
            level = 0.5 if ahead.full or ahead.strengthened else 0.1
        elif level > 0.3:
            level = -(level + NOT) * (1.1 if ahead.strengthened else 1.0)
        else:
            level = -3.4
        return Mark(first, i, level, "matrix" if ahead.copula else "adverb", level < -0.3)
    level = _scaled(level, ahead.scale, ahead.extreme, ahead.nearly)
    if ahead.hardly:
        level = -abs(level) - NOT
    denial = denied_after(items, i) if ahead.copula is False or word.endswith("ly") else None
    if denial is not None and 0.3 < level < 2.5:
        # "Certainly not" is a decisive denial, "probably not" a probability.
        return Mark(first, denial, -(level + NOT), "adverb", True, denial)
    kind: Reach = "matrix" if following in ("that", "to") and ahead.copula else "adverb"
    if text_at(items, i) == "possible" and previous == "the":
        level = max(level, 0.3)
    return Mark(first, i, level, kind, level < -0.9)


def _comparison(items: Sequence[Word], i: int, at: int, level: float) -> Mark | None:
    """ "More likely than not", "more likely Lyon"; "more likely to smoke" compares groups."""
    tail = [text_at(items, k) for k in range(i + 1, i + 4)]
    sign = 1.0 if items[at].text == "more" else -1.0
    if level < -0.3:
        sign = -sign
    if tail[:2] == ["than", "not"] or text_at(items, at - 2) == "than":
        return Mark(at, min(i + 2, len(items) - 1), 0.4 * sign, "matrix", sign < 0)
    if tail[0] == "to" or "than" in [x.text for x in items[i + 1 :]]:
        return None
    strong = text_at(items, at - 1) in ("much", "far", "significantly", "considerably")
    return Mark(at, i, sign * (1.3 if strong else 0.8), "adverb", sign < 0)


def doubts(items: Sequence[Word], i: int) -> Mark | None:
    """The noun and verb of doubt: "no doubt", "beyond question", "I seriously doubt"."""
    word = items[i].text
    entry = lookup(word, "doubt")
    if entry is None:
        return None
    ahead = before(items, i, 6)
    near = [x.text for x in items[max(0, i - 5) : i]]
    previous = text_at(items, i - 1)
    bare = previous in ("no", "without", "beyond") or (
        set(near[-3:]) & {"without", "beyond"} and previous not in (",", ".")
    )
    if bare or "slightest" in near or "shadow" in near:
        almost = bool({"almost", "nearly", "practically"} & set(near))
        start = next((k for k in range(max(0, i - 5), i) if items[k].text in
                      ("no", "without", "beyond", "not", "there")), i)  # fmt: skip
        return Mark(start, i, 2.8 if almost else 3.9, "matrix" if previous == "no" else "adverb")
    if word in ("question", "uncertainty") and previous not in ("some", "much", "little", "the"):
        return None
    verb = {"i", "we", "they", "would", "do", "to", "not", "experts", "historians"}
    degrees = ahead.scale != 1 or ahead.full or previous in left_out()
    subject = previous in verb or (degrees and set(near[-3:]) & verb)
    if word.startswith("doubt") and not word.endswith("s") and subject:
        if ahead.negated:
            return Mark(ahead.first, i, 2.4, "matrix", doubt=True)
        level = entry.level if entry.level < -1 else -1.5
        level = max(-2.4, level * (ahead.scale if degrees else 1.0))
        return Mark(min(ahead.first, i), i, level, "matrix", True)
    if previous in ("question", "questions"):
        return None
    levels = {"little": 2.1, "hardly": 2.4, "some": -0.1, "a": -0.1, "my": -0.3, "much": -1.0}
    level = next((levels[x] for x in reversed(near[-3:]) if x in levels), -0.3)
    if {"serious", "considerable", "great", "strong", "grave", "significant"} & set(near[-3:]):
        level = -1.2
    if level < 0 and "not" in near:
        level = 2.0
    return Mark(max(0, i - 2), i, level, "matrix", level < -0.9, doubt=level < 1)


def states(items: Sequence[Word], i: int) -> Mark | None:
    """The speaker's certainty: "I'm fairly confident", "not entirely sure", "for sure"."""
    word = items[i].text
    negative = word in ("unsure", "uncertain", "unclear", "hesitant", "undecided")
    entry = Entry("state", -0.3, -1) if negative else lookup(word, "state")
    if entry is None:
        return None
    ahead = before(items, i, 8)
    previous = text_at(items, i - 1)
    near = [x.text for x in items[max(0, i - 7) : i]]
    if previous in ("for", "make", "to", "makes", "making"):
        if previous != "for":
            return None
        denied = set(near) & (NEGATIVE | {"hard", "difficult", "impossible"})
        return Mark(i - 1, i, 0.4 if denied else 3.9, "adverb", doubt=bool(denied))
    modified = ahead.scale != 1 or ahead.full or ahead.nearly or ahead.small or ahead.negated
    if not (ahead.mine or modified or (negative and ahead.copula)) and not (
        ahead.first == 0 and text_at(items, i + 1) in ("it", "that", "about", "but", "of", "this")
    ):
        return None
    if word == "certain" and not ahead.mine and not ahead.negated and not ahead.hardly:
        return None
    if word == "positive" and not ahead.mine:
        return None
    if ahead.negated and not negative:
        if "at all" in " ".join(near) or "really" in near:
            level = -0.6
        elif ahead.full or "percent" in near or "%" in near:
            level = 0.6
        else:
            level = 0.1 if not ahead.strengthened else -0.2
        if entry.level < 1:
            level = 0.6 if entry.level < 0 else -0.8
        return Mark(ahead.first, i, level, "matrix", doubt=True)
    if ahead.hardly:
        return Mark(ahead.first, i, -0.8, "matrix", doubt=True)
    level = entry.level
    if negative:
        level = 0.2 if ahead.small else level * (2.0 if ahead.strengthened else 1.0)
        if ahead.negated:
            level = 1.0
    else:
        level = _scaled(level, ahead.scale, ahead.extreme, ahead.nearly)
        if ahead.small or (abs(entry.level) > 2 and ahead.extreme < 0.5):
            level = max(level, 0.5)
        if ahead.full or (ahead.strengthened and level > 2):
            level = min(4.4, level + 0.3)
    return Mark(ahead.first, i, level, "matrix", level < -0.9, doubt=level < 3)


def _participle(word: str) -> bool:
    """Whether "cannot be ..." speaks of what can be done, not of what is."""
    return word.endswith(("ed", "wn", "ught", "ound", "ept", "ade", "one", "sure", "certain"))


_THAT_THING = frozenset({"it", "that", "this", "he", "she", "they", "there", "answer", "which"})


def _nothing_else(items: Sequence[Word], i: int) -> bool:
    """Whether "cannot be" goes on so that nothing else is left: "anything but", "other than"."""
    two = (text_at(items, i), text_at(items, i + 1))
    return two in (("anything", "but"), ("anyone", "but"), ("other", "than"))


def modals(items: Sequence[Word], i: int) -> Mark | None:
    """ "May", "might", "could", and "must", "should", "would" before "be" or "have"."""
    word = items[i].text
    entry = lookup(word, "modal")
    if entry is None and word not in ("can", "would"):
        return None
    following = text_at(items, i + 1)
    denied = following in ("not", "never")
    verb = text_at(items, i + 2) if denied else following
    about_it = text_at(items, i - 1) in _THAT_THING
    passive = verb == "be" and _participle(text_at(items, i + 3))
    if entry is None:
        place = i + 3 + (text_at(items, i + 3) == "been")
        if word == "can" and denied and verb in ("be", "have") and _nothing_else(items, place):
            return Mark(i, place + 1, 3.6, "modal", False, i + 1)
        if word == "can" and denied and verb in ("be", "have") and not passive and about_it:
            return Mark(i, i + 1, -3.3, "modal", True, i + 1)
        if word == "would" and verb in ("be", "have") and text_at(items, i - 1) not in SELF:
            return Mark(i, i, 2.2, "modal")
        return None
    if following == "as" and text_at(items, i + 2) == "well":
        return None
    if entry.level > 0.5 and (denied or verb not in ("be", "have")):
        return None
    if word == "could" and denied:
        strict = verb in ("be", "have") and not passive and about_it
        return Mark(i, i + 1, -3.0, "modal", True, i + 1) if strict else None
    if denied:
        return Mark(i, i + 1, -entry.level, "modal", False, i + 1)
    return Mark(i, i, entry.level, "modal")


def alternatives(items: Sequence[Word]) -> Iterator[tuple[int, int, int]]:
    """Yield (first, last, how many) of choices: "either A or B", "either A, B or C"."""
    for i, item in enumerate(items):
        if item.text != "or" or i == 0 or i + 1 >= len(items):
            continue
        k = i - 1
        commas = 0
        while k >= 0 and i - k <= 14 and items[k].text not in ("either", "whether", ".", ";"):
            commas += items[k].text == ","
            k -= 1
        if k >= 0 and items[k].text == "either" and text_at(items, i + 1) != "not":
            yield k, i + 1, 2 + min(commas, 4)


_ONES = word_list(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen"
)
_TENS = word_list("twenty thirty forty fifty sixty seventy eighty ninety")
_VALUES = {word: i for i, word in enumerate(_ONES)}
_VALUES |= {word: 10 * (i + 2) for i, word in enumerate(_TENS)}
_VALUES |= {
    f"{ten}{link}{one}": 10 * (i + 2) + k
    for i, ten in enumerate(_TENS)
    for k, one in enumerate(_ONES[1:10], 1)
    for link in ("-", " ")
}
_VALUES |= {"a": 1, "hundred": 100, "a hundred": 100, "one hundred": 100, "half": 50}
_WORDS = "|".join(sorted(_VALUES, key=len, reverse=True))
_N = rf"(?:\d{{1,3}}(?:\.\d{{1,4}})?|(?:{_WORDS}))"
_PERCENT = r"\s?(?:%|percent|per\s?cent)"
_TOPIC = (
    r"(?:chances?|probabilit(?:y|ies)|likelihood|likely|odds|sure|certain|confident|confidence|"
    r"certainty|possibility|positive|convinced|probable|guess)"
)
_SHARE = regex(
    rf"(?<![\w.])(?P<a>{_N})(?:{_PERCENT})?(?:\s?(?:-|–|to|or)\s?(?P<b>{_N}))?{_PERCENT}", re.I
)
_RATIO = regex(
    rf"(?<![\w.])(?P<a>{_N})\s?(?:/|\bin\b(?:\s+every)?|\bout\s+of\b|-in-|times\s+out\s+of|"
    rf"times\s+in)\s?(?P<b>{_N})(?![\w%]|\.\d)",
    re.I,
)
_HALF = regex(r"\b(?:50\s?[-/:]\s?50|fifty[\s-]fifty|coin[\s-](?:flip|toss)|toss[\s-]?up)\b", re.I)
_THIRDS = regex(
    r"\b(?P<a>a|one|two|three|four)[\s-](?P<b>thirds?|quarters?|fourths?|fifths?|half)\b", re.I
)
_PARTS = {"third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "hal": 2, "half": 2}
_ODDS = regex(
    rf"\b(?P<a>{_N})\s?(?:to|:|-)\s?(?P<b>{_N})(?:\s+odds)?(?:\s+(?P<side>in\s+favou?r|for|"
    r"against|on))?",
    re.I,
)
_DECIMAL = regex(r"(?<![\w.])(?P<a>[01]?\.\d{1,4}|[01]\.0)(?![\w%.]*\d)")
_NEAR = regex(rf"\b{_TOPIC}\b", re.I)
_INTERVAL = regex(r"\s*(?:confidence\s+(?:interval|limit|level\s+of)|CI\b|c\.i\.)", re.I)
_COMPARED = regex(r"\s*(?:times\s+)?(?:more|less|as|greater|higher|lower|increased)\b", re.I)
_INTERVAL_BEFORE = regex(r"\b(?:confidence\s+(?:interval|limit)s?|CIs?)\b", re.I)
_OF_ERROR = regex(r"[^.,;]{0,24}\b(?:wrong|mistaken|incorrect|false|against)\b", re.I)
_LESS = regex(r"\b(?:less than|under|below|at most|no more than)\s*$", re.I)
_MORE = regex(r"\b(?:more than|over|above|at least|better than)\s*$", re.I)
#: "I give it 9 out of 10", "I'd put it at 7/10": a speaker's mark for the answer, and what follows
_MARK = regex(
    r"\b(?:I|we)(?:['’](?:d|ll)|\s+(?:would|will|can|could|do))?\s+(?:only\s+)?(?:give|put)\s+"
    r"(?:(?:it|this|that|my\s+answer)\s+)?(?:at\s+)?(?:about\s+|around\s+|roughly\s+|maybe\s+)?"
    r"(?:an?\s+)?(?:solid\s+)?$",
    re.I,
)
_MARKED = regex(r"\s*(?:$|[.,;:!)]|(?:that|it|but|and|because|it's|he|she|they)\b)", re.I)
_NOT = regex(r"(?:\bnot|n't)\s+(?:a|quite|exactly|at all)?\s*$", re.I)


class Stated(NamedTuple):
    """A probability in words or digits and its place; ``share`` is 0..1."""

    start: int
    end: int
    share: float


def _numbers_value(text: str) -> float:
    text = re.sub(r"\s+", " ", text.lower())
    return float(_VALUES[text]) if text in _VALUES else float(text)


def stated(text: str, low: int, high: int) -> list[Stated]:
    """Return the probabilities of a stretch: numbers beside a word of likelihood or certainty.

    "Less than 50 % sure" is a little below, "over 90 % sure" a little above; "30 % chance that I
    am wrong" is 0.7. "Not 100 % sure" and "95 % confidence interval" state none.
    """
    numbers: list[Stated] = []
    for start, end, share in _candidates(text, low, high):
        if any(start < f.end and f.start < end for f in numbers):
            continue
        before, after = text[max(low, start - 30) : start], text[end : min(high, end + 40)]
        if _INTERVAL.match(after) or (share >= 0.99 and _NOT.search(before)):
            continue
        if _NOT.search(before) and share < 0.99:
            share *= 0.9
        if _LESS.search(before):
            share -= min(0.1, share / 2)
        elif _MORE.search(before):
            share += min(0.05, (1 - share) / 2)
        if _OF_ERROR.match(after):
            share = 1 - share
        numbers.append(Stated(start, end, min(0.99, max(0.01, share))))
    return sorted(numbers)


def _topical(text: str, low: int, high: int, start: int, end: int, before: int, after: int) -> bool:
    left = text[max(low, start - before) : start]
    if _INTERVAL_BEFORE.search(left):
        return False
    right = text[end : min(high, end + after)]
    if _COMPARED.match(right):
        return False
    left = re.split(r"[.;!?]\s", left)[-1]
    return _NEAR.search(left) is not None or _NEAR.search(right) is not None


def _given(text: str, low: int, high: int, start: int, end: int) -> bool:
    """Whether a ratio is the mark that the speaker gives to the answer."""
    before = _MARK.search(text, max(low, start - 40), start)
    return before is not None and _MARKED.match(text, end, high) is not None


def _candidates(text: str, low: int, high: int) -> Iterator[tuple[int, int, float]]:
    for hit in _HALF.finditer(text, low, high):
        yield *hit.span(), 0.5
    for hit in _SHARE.finditer(text, low, high):
        share = _numbers_value(hit["a"])
        if hit["b"]:
            share = (share + _numbers_value(hit["b"])) / 2
        if share <= 100 and _topical(text, low, high, *hit.span(), 45, 14):
            yield *hit.span(), share / 100
    for hit in _RATIO.finditer(text, low, high):
        a, b = _numbers_value(hit["a"]), _numbers_value(hit["b"])
        times = "times" in hit.group().lower() or _given(text, low, high, *hit.span())
        if b > 0 and a <= b and (times or _topical(text, low, high, *hit.span(), 40, 14)):
            yield *hit.span(), a / b
    for hit in _THIRDS.finditer(text, low, high):
        part = _PARTS.get(hit["b"].lower().rstrip("s"))
        if part and _topical(text, low, high, *hit.span(), 30, 12):
            yield *hit.span(), min(1.0, _VALUES[hit["a"].lower()] / part)
    for hit in _ODDS.finditer(text, low, high):
        a, b = _numbers_value(hit["a"]), _numbers_value(hit["b"])
        if a + b > 0 and re.search(r"\bodds\b", text[max(low, hit.start() - 40) : hit.end()], re.I):
            # "The odds are 3 to 1" alone is read in favor.
            against = (hit["side"] or "").lower() == "against"
            yield *hit.span(), (b if against else a) / (a + b)
    for hit in _DECIMAL.finditer(text, low, high):
        share = float(hit["a"])
        if share <= 1 and _topical(text, low, high, *hit.span(), 30, 16):
            yield *hit.span(), share


# ---- marks: amounts of chance


def chances(items: Sequence[Word], i: int) -> Mark | None:
    """Amounts of chance: "a very good chance", "almost no chance", "the chances are slim"."""
    word = items[i].text
    if word in BE:
        return _open_question(items, i)
    entry = lookup(word, "noun") or _framed(items, i)
    if entry is None or text_at(items, i - 1) in ("by", "second", "last", "another"):
        return None
    verbs = ("say", "tell", "state")
    introduced = text_at(items, i - 1) == "with" and text_at(items, i - 2) in verbs
    if introduced and "not" in [x.text for x in items[max(0, i - 6) : i]]:
        return None  # "cannot say with confidence" is a remark of its own
    ahead = before(items, i, 4)
    own = entry.level if entry.level > 1.5 else None
    best = _amount_before(items, i)
    predicate = _amount_after(items, i) if best is None else None
    if best is not None:
        level, first = best
        last = i
    elif predicate is not None:
        level, far = predicate
        apart = tuple(range(max(i + 1, far - 3), far + 1))
        return Mark(i, i, level, "matrix", level < -0.9, apart=apart)
    elif text_at(items, i - 1) == "all" and text_at(items, i - 2) == "in":
        return Mark(i - 2, i, 1.4, "adverb")
    elif word in ("chances", "odds") and text_at(items, i + 1) in BE:
        return Mark(i, i + 1, 0.9, "matrix")
    elif text_at(items, i - 1) in left_out() and lookup(word, "noun") is None:
        level, first, last = entry.level, i - 1, i
    elif own is not None and text_at(items, i - 1) in ("with", "absolute", "complete", "full"):
        level, first, last = own + 0.6, i - 1, i
    elif text_at(items, i - 1) in ("a", "the", "any") and (
        {"there", "have", "has", "is", "raises"} & {x.text for x in items[max(0, i - 5) : i]}
    ):
        level, first, last = entry.level if entry.level < 0.5 else 0.0, i - 1, i
    else:
        return None
    if own is not None and not {"i", "my", "we", "our", "with"} & {
        x.text for x in items[max(0, i - 6) : i]
    }:
        return None
    if own is not None:
        level = own if level > 3 else level + 0.6 if level >= 0.3 else level * 0.45
    if ahead.negated and text_at(items, i - 1) not in NEGATIVE and level > -4:
        level, first = -(abs(level) + NOT), min(first, ahead.first)
    return Mark(first, last, level, "matrix", level < -0.9)


def _open_question(items: Sequence[Word], i: int) -> Mark | None:
    """ "It is about even whether ...": even odds on a clause, without a noun of chance."""
    if text_at(items, i - 1) != "it":
        return None
    for k in range(i + 1, min(i + 5, len(items))):
        word = items[k].text
        if text_at(items, k + 1) in ("whether", "if") and (
            amount(word) == 0.0 or (word in left_out() and k > i + 1)
        ):
            return Mark(i - 1, k + 1, 0.0, "matrix")
        if word not in _BETWEEN:
            return None
    return None


def _framed(items: Sequence[Word], i: int) -> Entry | None:
    """Read an unlisted noun in the frame of a chance: "there is a good ... that"."""
    if items[i].text not in left_out() or text_at(items, i + 1) not in (
        "that", "of", "is", "are", "it", "he", "she", "they", "the", ".", "",
    ):  # fmt: skip
        return None
    near = {x.text for x in items[max(0, i - 6) : i]}
    if "there" in near or "the" in near or "have" in near or "stands" in near or "has" in near:
        return Entry("noun", -0.4)
    return Entry("noun", -0.4) if text_at(items, i + 1) in ("is", "are") else None


def _amount_before(items: Sequence[Word], i: int) -> tuple[float, int] | None:
    """The level of the amount before noun ``i`` and where it begins."""
    for k in range(i - 1, max(-1, i - 4), -1):
        word = items[k].text
        if word == "than" and text_at(items, k - 1) in ("better", "more", "less", "worse"):
            return (-0.35 if items[k - 1].text in ("less", "worse") else 0.35), k - 1
        level = amount(word)
        if word == "even" and text_at(items, k - 1) == "than":
            continue
        if level is None:
            if k == i - 1 and word not in left_out():
                return None
            if word in left_out() and text_at(items, k - 1) in ("about", "roughly"):
                return 0.0, k - 1
            continue
        if word == "little" and text_at(items, k - 1) == "a":
            return -0.8, k - 1
        ahead = before(items, k, 3)
        softened = text_at(items, k - 1) in ("next", "to") or text_at(items, k - 1) in left_out()
        if level < -4 and (ahead.nearly or softened):
            return -3.6, ahead.first
        if ahead.strengthened or text_at(items, k - 1) in left_out():
            level *= 1.5 if level > 0 else 1.3
        elif ahead.extreme < 1:
            level *= 0.9
        if ahead.negated and level > 0.3:
            return -1.1, ahead.first
        return level, min(ahead.first, k)
    return None


def _amount_after(items: Sequence[Word], i: int) -> tuple[float, int] | None:
    """ "The chances are slight", "the odds that it rains are better than even"."""
    for k in range(i + 1, min(i + 16, len(items))):
        if items[k].text in ("is", "are", "was", "were", "seem", "seems", "remain"):
            predicate = _predicate(items, k)
            if predicate is not None:
                return predicate
        if items[k].text in (",", ";", ".", "but", "and"):
            return None
    return None


_BETWEEN = word_set(
    "about roughly around very quite only not pretty rather extremely fairly better more less"
    " worse just in your at best somewhat really that so better relatively exactly"
)


def _predicate(items: Sequence[Word], k: int) -> tuple[float, int] | None:
    """The amount that the verb ``k`` gives: "are (very) slight", "are better than even"."""
    seen: list[str] = []
    for j in range(k + 1, min(k + 6, len(items))):
        word = items[j].text
        if word == "than" and seen:
            worse = seen[-1] in ("less", "worse", "lower")
            return (-0.35 if worse else 0.35), min(j + 1, len(items) - 1)
        if word in ("against", "favor", "favour"):
            return (-0.9 if word == "against" else 0.9), j
        level = amount(word)
        if level is not None and word not in ("no", "some", "any", "every"):
            ahead = before(items, j, 3)
            if ahead.strengthened or (seen and seen[-1] in left_out()):
                level *= 1.4 if level > 0 else 1.3
            return (-1.1 if ahead.negated and level > 0.3 else level), j
        if word in left_out() and text_at(items, j + 1) in ("that", ".", "", ","):
            # An unknown amount: in the middle where it is called "about", else a small one.
            return (0.0 if seen and seen[-1] in ("about", "roughly") else -0.4), j
        if word not in _BETWEEN and word not in left_out():
            return None
        seen.append(word)
    return None


# ---- marks: belief, evidence, hearsay and asides

_OTHERS = word_set(
    "experts researchers scientists scholars historians people many some sources critics"
    " authors they others most several reports records studies accounts observers analysts"
    " folks few"
)
_WEAK_SOURCES = word_set("some few several sources accounts legend tradition rumor rumors")
_RAISING = word_set(
    "think believe expect imagine suppose reckon feel guess suspect consider assume"
    " anticipate deem judge presume hope"
)
_FORMS = {"ing": ("", "e"), "ning": ("",), "ting": ("",)}


_NEED_SUBJECT = word_set("consider judge trust argue view sense memory")


def _verb(word: str) -> tuple[str, Entry] | None:
    """Return the verb of belief of a form ("guessing" -> "guess")."""
    entry = lookup(word, "belief")
    if entry is not None:
        return word, entry
    for ending, adds in _FORMS.items():
        if word.endswith(ending) and len(word) > len(ending) + 2:
            for add in adds:
                base = word.removesuffix(ending) + add
                entry = lookup(base, "belief")
                if entry is not None:
                    return base, entry
    return None


def beliefs(items: Sequence[Word], i: int) -> Mark | None:
    """ "I think", "I don't believe", "I'd guess", "my best guess is", "experts believe"."""
    verb = _verb(items[i].text)
    if verb is None:
        return None
    word, entry = verb
    ahead = before(items, i, 7)
    previous = text_at(items, i - 1)
    noun = _noun_of_belief(items, i, word, entry)
    if noun is not None:
        return noun
    if word in _NEED_SUBJECT and not ahead.mine:
        return None
    subject = next((text_at(items, k) for k in (i - 1, i - 2, i - 3)
                    if text_at(items, k) in SELF | _OTHERS), "")  # fmt: skip
    if not ahead.mine:
        if previous in _OTHERS or subject in _OTHERS:
            weak = subject in _WEAK_SOURCES or previous in _WEAK_SOURCES
            level = 3.0 if entry.level > 2 else min(entry.level, 1.2) * (0.4 if weak else 0.8)
            return Mark(i - 1, i, level, "matrix", wraps=True)
        # "Guess: Lyon", "Would say Lyon": a speaker who leaves out "I".
        if not (ahead.first == 0 and word in ("guess", "think", "believe", "say")) or (
            word == "say" and "would" not in [x.text for x in items[:i]]
        ):
            return None
    would = any(items[k].text in ("would", "could", "might", "had") for k in range(ahead.first, i))
    if word == "say" and not would:
        return None
    if word == "hope" and text_at(items, i + 2).startswith("help"):
        return None
    if word in ("hope", "look") or (word == "wonder" and not ahead.mine):
        return Mark(ahead.first, i, -0.1, "matrix")
    if ahead.negated:
        if word in _RAISING:
            level = -(min(entry.level, 1.6) + NOT) * (1.1 if ahead.full else 1.0)
            return Mark(ahead.first, i, level, "matrix", True)
        tail = {x.text for x in items[i + 1 : i + 5]}
        partly = tail & {"sure", "certain", "exactly", "precisely", "certainty", "definitively"}
        return Mark(ahead.first, i, 0.5 if partly else -0.2, "matrix", doubt=True)
    level = entry.level
    if ahead.scale != 1:
        level = level * (1 + (ahead.scale - 1) * 0.8) if level < 2 else level
        if ahead.scale < 0.5:
            level = min(level, 0.1)
    if ahead.small:
        level *= 0.7
    if would and level > 0.7:
        level -= 0.2
    return Mark(ahead.first, i, level, "matrix", wraps=True)


_KINDS = {
    -1.0: "wild random pure complete blind shot uninformed rough stab",
    -0.3: "just only mere total",
    0.5: "best educated informed reasonable good strong safe",
}


def _noun_of_belief(items: Sequence[Word], i: int, word: str, entry: Entry) -> Mark | None:
    """ "My best guess", "a wild guess", "it is my understanding", "to my mind"."""
    near = [x.text for x in items[max(0, i - 4) : i]]
    if word == "guess":
        for level, kinds in _KINDS.items():
            if set(kinds.split()) & set(near[-3:]):
                return Mark(max(0, i - 2), i, level, "matrix", doubt=True)
        if near and near[-1] in ("a", "my", "the"):
            return Mark(i - 1, i, 0.1 if near[-1] == "a" else 0.3, "matrix", doubt=True)
    nouns = ("understanding", "impression", "opinion", "view", "recollection", "memory", "belief",
             "suspicion", "assumption", "hunch", "estimate", "inference", "bet", "sense", "thought",
             "conviction", "conclusion", "hypothesis", "prediction", "speculation")  # fmt: skip
    if word in nouns and near and near[-1] not in ("i", "we"):
        if set(near[-2:]) & {"my", "our"} or near[-2:] == ["the", "impression"]:
            level = entry.level
        elif near[-2:] and near[-1] == "the" and word == "impression":
            level = entry.level - 0.2
        elif {"just", "only", "pure", "mere"} & set(near) and word in ("speculation", "hunch"):
            level = -0.8
        else:
            return None
        strong = {"strong", "firm", "best"} & set(near)
        weak = {"vague", "faint", "hazy", "dim"} & set(near)
        level = level * 1.3 if strong else 0.1 if weak else level
        return Mark(max(0, i - 2), i, level, "matrix")
    return None


_ASIDE_HEADS = {
    "know": 1.3, "knowledge": 1.4, "aware": 1.3, "tell": 1.2, "recall": 1.0, "remember": 1.0,
    "memory": 1.0, "recollection": 0.9, "mistaken": 1.1, "wrong": 1.1, "understand": 1.2,
    "understanding": 1.1, "information": 1.2, "opinion": 1.0, "view": 1.0, "serves": 1.0,
    "correctly": 1.0, "training": 1.2, "data": 1.2, "see": 1.3, "gather": 1.0, "read": 1.1,
    "heard": 0.6, "sources": 1.2,
}  # fmt: skip
_ASIDE_FIRST = word_set("if unless as from to based in according judging going off afaik")
_SHORT = {"afaik": 1.3, "iirc": 1.0, "imo": 1.0, "imho": 0.9, "afaict": 1.2}


def asides(items: Sequence[Word], i: int) -> Mark | None:
    """ "As far as I know", "if I recall correctly", "to the best of my knowledge", "IIRC"."""
    word = items[i].text
    if word in _SHORT:
        return Mark(i, i, _SHORT[word], "adverb")
    if word not in _ASIDE_FIRST or text_at(items, i - 1) in ("sure", "know", "certain", "not"):
        return None
    if word == "if" and [text_at(items, k) for k in range(i + 1, i + 4)] == ["i", "had", "to"]:
        return Mark(i, min(i + 4, len(items) - 1), 0.5, "adverb")
    mine = False
    weak = 0.0
    for k in range(i + 1, min(i + 10, len(items))):
        here = items[k].text
        if here in (".", ";", ":", "?") or (here == "," and mine is False):
            return None
        mine = mine or here in SELF or (here == "memory" and word in ("if", "from"))
        if here in ("limited", "vague", "hazy", "vaguely", "poor", "incomplete", "imperfect"):
            weak = 0.6
        if here in _ASIDE_HEADS and mine:
            last = k
            while text_at(items, last + 1) in ("correctly", "right", "correct", "me", "serves",
                                               "it", "accurately", "rightly"):  # fmt: skip
                last += 1
            return Mark(i, last, _ASIDE_HEADS[here] - weak, "adverb", wraps=True)
    return None


def evidence(items: Sequence[Word], i: int) -> Mark | None:
    """ "It seems", "records suggest", "studies show that", "it is believed that"."""
    word = items[i].text
    entry = lookup(word, "evidence")
    following, previous = text_at(items, i + 1), text_at(items, i - 1)
    passive = any(text_at(items, k) in BE for k in (i - 1, i - 2)) and word not in ("seem", "look")
    if passive:
        heard = lookup(word, "hearsay")
        if heard is None or following not in ("that", "to", "as", "by"):
            return None
        if following == "by" and word not in ("believed", "thought", "assumed", "presumed"):
            return None
        ahead = before(items, i, 4)
        level = heard.level
        if ahead.negated and word not in (
            "known",
            "confirmed",
            "established",
            "proven",
            "verified",
        ):
            return None
        if ahead.negated:
            return Mark(ahead.first, i, -0.2, "matrix", doubt=True)
        wide = text_at(items, i - 1) in ("widely", "generally", "commonly", "universally", "well")
        return Mark(i - 1, i, min(3.6, level + (0.5 if wide else 0.0)), "matrix", wraps=True)
    if word in ("rumor", "rumors", "rumour", "rumours", "gossip", "legend", "tradition"):
        if following in ("has", "have", "says", "say", "holds", "hold"):
            return Mark(i, i + 1, -0.2 if word[0] in "rg" else 0.3, "matrix")
        return None
    if word == "claim" and previous in _OTHERS:
        return Mark(i - 1, i, 0.3, "matrix")
    if entry is None:
        return None
    if entry.level > 2.5:
        # What is shown is plain; only the strongest verbs add to it.
        return Mark(i, i, entry.level, "matrix") if following == "that" else None
    if any(lookup(text_at(items, k), "scale") for k in range(i + 1, i + 5)) and entry.level < 1:
        # "It seems highly likely" is as likely as it says.
        return None
    ahead = before(items, i, 3)
    if word in ("look", "looks", "sound", "sounds") and following not in ("like", "as"):
        return None
    clause = following in ("to", "that", "as", "likely", "it")
    if word.startswith("appear") and not clause and previous not in ("it", "this", "that"):
        return None
    strong = 0.5 if previous in ("strongly", "clearly") else 0.0
    kind: Reach = "matrix" if following in ("that", "like") or previous == "it" else "modal"
    return Mark(i, i, entry.level + strong, kind, wraps=True)


_MISTAKEN = word_set("wrong mistaken incorrect inaccurate off confusing misremembering")


_OPEN = word_set("unconfirmed unverified debatable debated disputed controversial")
_EVIDENCE_FOR = {
    "strong": 2.2, "overwhelming": 3.2, "clear": 2.6, "good": 1.8, "solid": 2.2, "some": 0.9,
    "mounting": 1.6, "growing": 1.5, "ample": 2.4, "circumstantial": 0.6, "anecdotal": 0.2,
    "limited": 0.2, "weak": 0.0, "inconclusive": -0.1, "mixed": 0.0, "little": -0.9,
}  # fmt: skip


def remarks(items: Sequence[Word], i: int) -> Mark | None:
    """Remarks that speak of the answer: "I could be wrong", "don't quote me", "no idea"."""
    word, previous = items[i].text, text_at(items, i - 1)
    near = [x.text for x in items[max(0, i - 6) : i]]
    if word == "necessarily" and previous == "not":
        return Mark(i - 1, i, 0.3, "adverb", denial=i - 1)
    if word in _MISTAKEN and {"could", "may", "might", "possibly"} & set(near):
        return Mark(max(0, i - 4), i, 0.7, "matrix", doubt=True)
    if word in ("quote", "hold") and "not" in near and text_at(items, i + 1) == "me":
        return Mark(i, i, 0.5, "matrix", doubt=True)
    if word == "salt" and {"grain", "pinch"} & set(near):
        return Mark(max(0, i - 4), i, 0.6, "matrix", doubt=True)
    if word in ("idea", "clue") and {"no", "not"} & set(near):
        return Mark(max(0, i - 2), i, -0.9, "matrix", doubt=True)
    if word in ("verify", "double-check", "confirm", "guarantee", "say", "check") and (
        {"can", "could", "would"} & set(near) and "not" in near and {"i", "we"} & set(near)
    ):
        return Mark(max(0, i - 2), i, 0.2, "matrix", doubt=True)
    if word in ("verify", "double-check", "verifying", "double-checking", "checking", "check") and (
        {"please", "recommend", "suggest", "worth", "should", "best", "need", "advise", "would"}
        & set(near)
        or i == 0
    ):
        return Mark(max(0, i - 1), i, 1.2, "matrix", doubt=True)
    following = text_at(items, i + 1)
    leans = word in ("lean", "leaning") and following in ("toward", "towards", "for", "to")
    goes = word in ("go", "going") and following == "with"
    if (leans or goes) and {"i", "would"} & set(near):
        return Mark(max(0, i - 2), i + 1, 0.4, "matrix")
    if word in ("needed", "warranted", "required", "necessary") and (
        {"research", "studies", "study", "work", "investigation", "trials", "data"} & set(near)
        and {"further", "more", "additional", "future"} & {x.text for x in items[max(0, i - 9) : i]}
    ):
        return Mark(i, i, 1.4, "matrix")
    if word in ("limited", "rusty", "hazy", "fuzzy", "vague", "foggy") and (
        {"my", "memory", "knowledge", "information"} & set(near)
    ):
        return Mark(max(0, i - 2), i, 0.4, "matrix", doubt=True)
    if word in _OPEN and (previous in BE or previous in ("remains", "remain", "still", "(")):
        return Mark(i, i, 0.0, "matrix", doubt=True)
    if word == "according" and text_at(items, i + 1) == "to":
        weak = _WEAK_SOURCES & {text_at(items, k) for k in (i + 2, i + 3)}
        return Mark(i, i + 1, 0.8 if weak else 2.0, "adverb")
    if word == "bet" and {"willing", "safe", "good"} & set(near[-2:] + near[-3:]):
        return Mark(max(0, i - 2), i, 1.4, "matrix")
    if word == "way" and previous == "no" and text_at(items, i + 1) in (
        "that", "it", "he", "she", "this", "they", "the",
    ):  # fmt: skip
        return Mark(i - 1, i, -3.6, "matrix", True)
    if word == "torn" or (word == "guess" and previous in ("anyone", "anybody")):
        return Mark(i, i, 0.0, "matrix", doubt=True)
    if word in ("gut", "intuition", "instinct", "hunch") and previous in ("my", "our"):
        return Mark(i - 1, i, 0.6, "matrix", wraps=True)
    if word == "evidence" and text_at(items, i + 1) == "that":
        level = _EVIDENCE_FOR.get(previous)
        return None if level is None else Mark(i - 1, i, level, "matrix", level < -0.9)
    if word == "surprised" and "not" in near and text_at(items, i + 1) == "if":
        return Mark(max(0, i - 3), i, 0.4, "matrix")
    if word == "ruled" and text_at(items, i + 1) == "out" and "not" in near:
        return Mark(max(0, i - 3), i + 1, -0.4, "matrix")
    if word == "say" and previous == "to" and {"safe", "tempting", "fair"} & set(near[-2:]):
        return Mark(i - 2, i, 0.4 if "tempting" in near else 2.2, "matrix")
    if word == "life" and previous == "my" and {"bet", "stake"} & set(near):
        return Mark(i - 2, i, 3.9, "matrix")
    return None


# ---- the marks of one sentence, what they reach, and where a text asserts nothing


class Reached(NamedTuple):
    """A level (log odds) over the characters ``low:high``; ``share`` when it was said as such."""

    level: float
    low: int
    high: int
    polar: bool = False
    share: float | None = None
    wraps: bool = False
    remark: bool = False


class Row(NamedTuple):
    """One clause: its sentence and place, span, content words, and whether it asserts."""

    sentence: int
    place: int
    span: Span
    content: tuple[Word, ...]
    holds: bool


_FINDERS: tuple[Callable[[Sequence[Word], int], Mark | None], ...] = (
    asides, remarks, doubts, chances, states, evidence, scales, beliefs,
    modals,
)  # fmt: skip
_MOST = 48
TALK = (
    AUX | NEGATIVE | SELF
    | word_set(
    "a an the this that these those it its he she they there here of to in on at for from by"
    " with about as if whether or and but so though although however yet while because since"
    " than then which who whom what when where how why some any all no yes well hmm um just"
    " only also very really quite too more most much little bit be answer answers information"
    " details fact facts correct right true accurate accuracy wrong incorrect sure certain"
    " confident confidence level score probability likelihood chance chances odds likely"
    " percent out one based say said please note keep mind take grain salt guess thing things"
    " matter could you your me my don't specific exact exactly precise sorry unfortunately"
    " apologies afraid again given now point case way part honest honestly frankly personally"
    " fairly entirely completely totally fully absolutely pretty somewhat double-check verify"
    " check confirm recommend suggest source sources reliable know think believe memory"
    " knowledge recall remember best worth independently before relying other another further"
    " give first let statement claim response put estimate rate would'd which either particular"
    " anything something everything one's i'd"
)
)  # fmt: skip
_COMPLEMENT = regex(
    r"[\s,]*(?:(?:with\s+\w+(?:\s+\w+)?|for\s+(?:sure|certain)|definitively|exactly)\s+)?"
    r"(?:(?:that|if|whether)\s+\S+|(?:it|he|she|they|this|the\s+[\w-]+(?:\s+[\w-]+)?|"
    r"[A-Z][\w-]+(?:\s+[A-Z][\w-]+){0,3})\s+(?:(?:is|was|are|were|has|had|did|does|will|would)(?:n't)?|won|"
    r"\w+ed)\b)"
)
#: what such a word ends is a phrase: "no information about this is known to me" holds no clause
_ABOUT = regex(r"\b(?:about|on|of|regarding|concerning)\s*$", re.I)
#: "I don't know for sure, 1961": a value of its own behind what is not known
_VALUE = regex(
    r"\s*(?:for\s+(?:sure|certain|a\s+fact)|with\s+certainty)?\s*[,;:–—-]\s*"
    r"(?=(?:in\s+)?(?:\d|[A-Z][\w'-]*(?:\s+[A-Z][\w'-]*){0,3}\W*$))"
)
#: "I'm not saying it was Lyon" asserts nothing, as far as its clause goes
_NOT_SAYING = regex(
    r"\b(?:I|we)(?:['’](?:m|re)|\s+(?:am|are))\s+not\s+(?:saying|claiming|suggesting|asserting|"
    r"implying|arguing)\b(?:(?!,?\s+(?:but|just|only)\b|;|[.!?](?:\s|$)).)*[.!?]?",
    re.I,
)
_CLAUSE = regex(r"\b(?:that|if|whether)\s+\w+\s+\w+")
_AGREEING = word_set("yes no yeah yep nope correct true false indeed right so not")
_KNOWING = regex(
    r"\b(?:I|I'm|me|my|know\w*|unknown|unclear|clear|uncertain|certain|sure|unsure|informati\w*|"
    r"records?|recorded|availab\w*|unavailable|determin\w*|confirm\w*|verif\w*|remember|recall|idea|"
    r"clue|documented|disclosed|specified|stated|mentioned|public\w*|tell|say|data)\b",
    re.I,
)
_SENTENCE_COMPARED = regex(
    r"\b(?:more|less|as)\s+(?:\w+\s+)?(?:likely|probable|certain|sure)\b", re.I
)
_PHRASE = word_set("in at on by from to of for with and or around about near since until")


def find_marks(items: Sequence[Word]) -> list[Mark]:
    """Return the marks of one sentence without overlaps; earlier kinds of :data:`_FINDERS` win."""
    taken: set[int] = set()
    marks: list[Mark] = []
    for finder in _FINDERS:
        for i in range(len(items)):
            if i in taken:
                continue
            mark = finder(items, i)
            if mark is None or mark.last in taken:
                continue
            first = mark.first
            for k in range(mark.last, first - 1, -1):
                if k in taken:
                    first = k + 1
                    break
            marks.append(mark._replace(first=first))
            taken.update(range(first, mark.last + 1))
            if len(marks) >= _MOST:
                break
    return sorted(marks)


class Sentence(NamedTuple):
    """A sentence with its clauses, words and marks; ``covered`` are the words of marks."""

    span: Span
    parts: tuple[Span, ...]
    items: tuple[Word, ...]
    marks: tuple[Mark, ...]
    covered: frozenset[int]


def content_of(one: Sentence, low: int, high: int) -> tuple[Word, ...]:
    """Return the words of a stretch that are neither marks nor talk."""
    return tuple(
        word
        for i, word in enumerate(one.items)
        if low <= word.start < high
        and i not in one.covered
        and (word.text[0].isalnum())
        and word.text not in TALK
        and word.text not in left_out()
    )


def quoted(part: str) -> Iterator[tuple[int, int]]:
    """Titles and quotations, in which no marker counts."""
    for hit in QUOTE.finditer(part):
        if hit.end() - hit.start() < 0.8 * len(part):
            yield hit.span()
    for hit in TITLE_WORD.finditer(part):
        yield hit.span()


def silences(text: str, reading: Reading) -> tuple[list[Span], list[Reached], list[Reached]]:
    """Where nothing is asserted, doubts about a complement, and cautions about everything."""
    silent: list[Span] = []
    doubts: list[Reached] = []
    cautions: list[Reached] = []
    for gap in reading.gaps:
        rest = text[gap.end : gap.silent.end]
        if gap.kind == "ignorance" and not _KNOWING.search(text, gap.silent.start, gap.silent.end):
            continue  # "no difference was found" is a finding
        about = _ABOUT.search(text[gap.start : gap.end])
        if gap.kind == "ignorance" and _COMPLEMENT.match(rest) and not about:
            doubts.append(Reached(-0.35, gap.start, gap.silent.end))
        elif gap.kind == "ignorance" and (value := _VALUE.match(rest)) is not None:
            silent.append(Span(gap.silent.start, gap.end + value.end()))
            doubts.append(Reached(-0.2, gap.start, gap.end, remark=True))
        elif gap.kind == "caution" and _CLAUSE.search(text, gap.start, gap.silent.end):
            doubts.append(Reached(0.2, gap.start, gap.silent.end))
        elif gap.kind == "caution":
            cautions.append(Reached(1.2, gap.start, gap.end, remark=True))
            silent.append(gap.silent)
        elif gap.kind in ("ignorance", "refusal"):
            silent.append(gap.silent)
            if gap.kind == "ignorance":
                doubts.append(Reached(-0.2, gap.start, gap.end, remark=True))
    silent += [Span(*hit.span()) for hit in _NOT_SAYING.finditer(text)]
    silent += reading.questions
    return silent, doubts, cautions


def bare_of(one: Sentence, part: Span, silent: Sequence[Span]) -> tuple[Word, ...]:
    """What a stretch without content asserts: yes, no, or a level of its own ("maybe")."""
    if any(g.start <= part.start and part.end <= g.end for g in silent):
        return ()
    marked = {k for mark in one.marks if not mark.doubt for k in range(mark.first, mark.last + 1)}
    return tuple(
        w
        for k, w in enumerate(one.items)
        if part.start <= w.start < part.end and (k in marked or w.text in _AGREEING)
    )


def said_in(
    text: str,
    one: Sentence,
    s: int,
    rows: Sequence[Row],
    reading: Reading,
    doubts: Sequence[Reached],
) -> Iterator[tuple[Reached, Span | None]]:
    """Yield the levels said in a sentence: with what they reach, or None for a neighbor."""
    holds = {r[1]: r[4] for r in rows if r[0] == s}
    spans: list[tuple[int, int]] = []
    numbers: list[tuple[int, int]] = []

    def clause_of(at: int) -> int:
        return max((c for c, p in enumerate(one.parts) if p.start <= at), default=0)

    for number in stated(text, *one.span):
        c = clause_of(number.start)
        numbers.append((number.start, number.end))
        span = one.parts[c] if holds.get(c) else None
        level = Reached(0.0, number.start, number.end, False, number.share)
        yield (level if span is None else level._replace(low=span.start, high=span.end)), span
    for mark in one.marks:
        start, end = one.items[mark.first].start, one.items[mark.last].end
        if mark.first > 1 and text_at(one.items, mark.first - 1) == "or" and mark.level < PLAIN:
            # "1961, or maybe 1962": the two already share, and the first is no "maybe"
            spans.append((start, end))
            continue
        if any(a - 24 < end and start < b + 24 for a, b in numbers) and not mark.polar:
            continue
        said_here = Reached(mark.level, start, end, mark.polar, None, mark.wraps, mark.doubt)
        spans.append((start, end))
        c = clause_of(one.items[mark.last].start)
        if not holds.get(c):
            yield said_here, None
            continue
        hedge = weaken(text, one.span, one.parts, Found(mark.reach, start, end))
        low, high = hedge.low, hedge.high
        if mark.reach == "adverb" and _beside_verb(text, one, mark):
            low, high = min(low, one.parts[c].start), max(high, one.parts[c].end)
        if mark.last - mark.first + 1 == len(one.items):
            low, high = one.span
        yield said_here._replace(low=low, high=high), Span(low, high)
    spans += numbers
    for doubt in doubts:
        if one.span.start <= doubt.low < one.span.end and not _near(spans, doubt):
            spans.append((doubt.low, doubt.high))
            c = clause_of(doubt.low)
            span = Span(doubt.low, doubt.high) if holds.get(c) else None
            yield doubt, span
    for hedge in reading.hedges:
        inside = one.span.start <= hedge.start < one.span.end
        if inside and not any(a < hedge.end + 12 and hedge.start < b + 12 for a, b in spans):
            words_in = {x.text for x in one.items if hedge.start <= x.start < hedge.end}
            if words_in & left_out() or _SENTENCE_COMPARED.search(
                text, hedge.start - 12, hedge.end + 12
            ):
                continue
            if words_in & {"either", "or"} or not (
                words_in - {"?", ","} or one.items[-1].text == "?"
            ):
                continue
            question = text[hedge.start : hedge.end] == "?"
            level = Reached(-0.2 if question else 0.6, hedge.low, hedge.high)
            yield level, Span(hedge.low, hedge.high)


def _beside_verb(text: str, one: Sentence, mark: Mark) -> bool:
    """Whether an adverb stands in the middle of its clause, not before a phrase of its own."""
    before, after = text_at(one.items, mark.first - 1), text_at(one.items, mark.last + 1)
    if {w.text for w in one.items[mark.first : mark.last + 1]} & BE:
        return True  # "is probably not by her", "was likely in Lyon": the phrase is the predicate
    if before in _PHRASE or before in (",", "(", ")") or after in _PHRASE:
        return False
    return "(" not in text[max(0, one.items[mark.first].start - 2) : one.items[mark.first].start]


def _near(spans: Sequence[tuple[int, int]], doubt: Reached) -> bool:
    return any(a < doubt.low + 40 and doubt.low - 12 < b for a, b in spans)


def targets(
    text: str,
    sentences: Sequence[Sentence],
    rows: Sequence[Row],
    s: int,
    reach: Span | None,
) -> list[tuple[int, int]]:
    """The statements that a level reaches: by characters, or the neighbors of a remark."""
    holding = [r for r in rows if r[4]]
    if reach is not None:
        return [(r[0], r[1]) for r in holding if r[2].start < reach.end and reach.start < r[2].end]
    same = [(r[0], r[1]) for r in holding if r[0] == s]
    if same:
        return same
    earlier = [r[0] for r in holding if r[0] < s]
    later = [r[0] for r in holding if r[0] > s]
    near = earlier[-1] if earlier else later[0] if later else None
    return [(r[0], r[1]) for r in holding if r[0] == near]


# ---- statements with the marks that reach them


class Statement(NamedTuple):
    """One clause that asserts something: content words, marks, and how many alternatives."""

    start: int
    end: int
    content: tuple[Word, ...]
    reached: tuple[Reached, ...]
    choices: int
    denied: bool
    weight: float
    tone: float


#: What only leads up to a refusal: "As an AI model, I cannot ...".
_LEAD = regex(r"(?:as|since|because|being|without|unfortunately|sorry|due to)\b", re.I)
_WHOLE = regex(
    r"\b(?:any|all|some)\s+of\s+(?:this|these|it|the\s+above)|\b(?:these|the\s+above|this|my|the)\s+"
    r"(?:details|information|facts|answers?|response|figures)\b",
    re.I,
)
_OR = regex(
    r"(?:(?:[A-Z0-9][\w'-]*\s?){1,3},\s+(?:in\s+|the\s+)?){0,6}(?:[A-Z0-9][\w'-]*\s?){1,3},?\s*"
    r"\bor\s+(?:(?:maybe|perhaps|possibly|in|the|on|at)\s+)*[A-Z0-9][\w'-]*"
)
#: the comma of "A, B, or C" and of "A, or B" parts no further alternative
_OXFORD = regex(r",\s*or\b")
_VERB = regex(rf"\b(?:{AUXILIARY}|{PAST})\b", re.I)
_RELATIVE = regex(r"\s*,?\s*(?:who|which|where|whose|whom|when)\b", re.I)
_CONCESSION = regex(r"\s*(?:although|though|while|even\s+though|whereas|despite)\b", re.I)


@lru_cache(maxsize=512)
def _analyzed(text: str, gone: frozenset[str]) -> tuple[Statement, ...]:
    reading = read(text)
    sentences: list[Sentence] = []
    for span, parts in zip(reading.sentences, reading.clauses, strict=True):
        items = tuple(words(text, *span))
        hidden = [(a + span.start, b + span.start) for a, b in quoted(text[slice(*span)])]
        marks = [
            mark
            for mark in find_marks(items)
            if not any(a <= items[mark.last].start and items[mark.last].end <= b for a, b in hidden)
        ]
        covered = frozenset(k for mark in marks for k in range(mark.first, mark.last + 1))
        numbers = stated(text, *span)
        covered |= {k for mark in marks for k in mark.apart}
        covered |= {
            k for k, w in enumerate(items) if any(n.start <= w.start < n.end for n in numbers)
        }
        sentences.append(Sentence(span, parts, items, tuple(marks), covered))
    return tuple(_statements(text, reading, sentences))


def analyze(text: str) -> tuple[Statement, ...]:
    """Return the statements of a text with the marks that reach each."""
    return _analyzed(plain(text), left_out())


def _statements(text: str, reading: Reading, sentences: list[Sentence]) -> list[Statement]:
    silent, doubts, cautions = silences(text, reading)
    rows: list[Row] = []
    everywhere: list[Reached] = []
    for s, one in enumerate(sentences):
        for c, part in enumerate(one.parts):
            content = content_of(one, *part)
            quiet = any(g.start <= part.start and part.end <= g.end for g in silent)
            led = bool(_LEAD.match(text, part.start)) and any(
                g.start >= part.end and g.end <= one.span.end for g in silent
            )
            idle = led or quiet or speaks_of_asking(text[part.start : part.end])
            rows.append(Row(s, c, part, content, bool(content) and not idle))
    if not any(r[4] for r in rows):
        # "Probably not.", "Yes.": to a yes-or-no question that is the whole assertion.
        bare = [bare_of(sentences[r.sentence], r.span, silent) for r in rows]
        rows = [r._replace(content=b, holds=bool(b)) for r, b in zip(rows, bare, strict=True)]
    holding = [r for r in rows if r[4]]
    reached: dict[tuple[int, int], list[Reached]] = {(r[0], r[1]): [] for r in holding}
    for s, one in enumerate(sentences):
        for level, own in said_in(text, one, s, rows, reading, doubts):
            for key in targets(text, sentences, rows, s, own):
                reached[key].append(level)
            if _WHOLE.search(text, *one.span) and own is None:
                everywhere.append(level)
    near = [r.low for rs in reached.values() for r in rs]
    everywhere += [c for c in cautions if not any(abs(low - c.low) < 60 for low in near)]
    for key in reached:
        reached[key] += [r._replace(low=0, high=len(text)) for r in everywhere
                         if all(x[:1] != r[:1] for x in reached[key])]  # fmt: skip
    return [
        _statement(text, sentences[s], part, content, tuple(reached[s, c]), k, holding[0][0] == s)
        for k, (s, c, part, content, _) in enumerate(holding)
    ]


def _statement(
    text: str,
    one: Sentence,
    part: Span,
    content: tuple[Word, ...],
    reached: tuple[Reached, ...],
    place: int,
    first: bool,
) -> Statement:
    inside = [w for w in one.items if part.start <= w.start < part.end]
    used = {one.items[k.denial].start for k in one.marks if k.denial >= 0}
    used |= {w.start for k in one.marks for w in one.items[k.first : k.last + 1]}
    nots = [w for w in inside if w.text in ("not", "never") and w.start not in used]
    choices = max((n for _, _, n in alternatives(inside)), default=1)
    listed = _OR.search(text, *part) if choices == 1 and len(one.items) <= 16 else None
    if listed is not None:
        commas = listed.group().count(",") - bool(_OXFORD.search(listed.group()))
        choices = 2 + commas
    weight = 1.0 if place == 0 else 0.5
    if _RELATIVE.match(text, part.start) or _CONCESSION.match(text, part.start):
        weight = 0.25 if place else 0.5
    if text.startswith("but ", part.start) and first:
        weight = 1.0
    if len(content) <= 2 and len(one.parts) > 1 and not _VERB.search(text, *part):
        weight = 0.1
    return Statement(
        part.start,
        part.end,
        content,
        reached,
        choices,
        len(nots) % 2 == 1,
        weight,
        tone(w.text for w in inside),
    )


def about(assertion: str) -> tuple[frozenset[str], bool]:
    """Return the stems that an assertion is about, and whether it denies."""
    items = words(plain(assertion), 0, len(assertion))
    kept = {stem(w.text) for w in items if w.text[0].isalnum() and w.text not in TALK}
    if not kept:
        kept = {stem(w.text) for w in items if w.text[0].isalnum()}
    return frozenset(kept), sum(w.text in ("not", "never") for w in items) % 2 == 1


# ---- the score

#: What is read of an answer, in characters.
_LONGEST = 10_000


def _share(level: float) -> float:
    return 1.0 / (1.0 + math.exp(-level))


class Level(NamedTuple):
    """One mark on a statement: log odds, whether it denies, "I think" and its like, a remark."""

    value: float
    polar: bool = False
    wraps: bool = False
    remark: bool = False


def combine(marks: Sequence[Level], choices: int = 1, tone: float = 0.0) -> float:
    """Return the log odds of a statement under its marks.

    The weakest mark decides; every further hedge takes a little more, so that "I think it might"
    is less than either. "I think" and "it seems" (``wraps``) do not decide where the statement
    says itself how likely it is; a remark ("I'm not sure, but ...") meets it halfway. What denies
    ("unlikely") is drawn towards even odds by further hedges. Of ``choices`` alternatives each
    gets its part; ``tone`` moves plain statements.
    """
    hedges = sorted(m for m in marks if m.value < 3.0)
    boosts = [m.value for m in marks if m.value >= 3.0]
    own = [m.value for m in hedges if not m.wraps and not m.remark]
    outer = [m.value for m in hedges if m.wraps and not m.remark]
    remarks = [m.value for m in hedges if m.remark]
    if not hedges:
        value = max([PLAIN, *boosts]) + tone
    else:
        first = own or outer or remarks
        value = first[0]
        rest = [*first[1:], *(outer if own else []), *(remarks if own or outer else [])]
        if boosts and value > 0:
            value = value + 0.3 * (max(boosts) - value) * (0.5 if own else 1.0)
        lowest = min(value, -0.9)
        polar = value < -0.9
        if (own or outer) and remarks and remarks[0] < value and not polar:
            value = (value + remarks[0]) / 2 - 0.1
            rest.remove(remarks[0])
        for level in rest:
            strength = max(0.0, min(1.0, 1 - level / PLAIN))
            value = value * (1 - 0.12 * strength) if polar else value - 0.25 * strength
        if not polar:
            value = max(value, lowest)
    if choices > 1:
        share = _share(value) / choices
        value = math.log(share / (1 - share))
    return value


def decisiveness(answer: str, assertion: str | None = None) -> float | None:
    """Return the probability, 0..1, that a reader gives to an answer from its wording alone.

    With ``assertion`` (a part of the answer, with or without its hedges) the score is that part's;
    a denied assertion ("it was not Lyon" for "it was Lyon") gets the complement. Without it, the
    assertions of the answer are averaged: the first sentence counts most, side clauses little.
    Numbers that are said ("about 70 % sure", "one in three") are taken as they are.

    ``None`` where nothing is asserted (empty, refusal, "I don't know", a question back), where the
    assertion is not found, and for text in another language than English.

    Limits: English only, the first 10,000 characters. Irony, dialect and tone are not read;
    "certain people", "a good chance to learn" and titles are told from hedges by their frame, not
    by their meaning. "Probably not X" scores X ("not X" where the assertion says so), while "it
    was not X" and "certainly not X" are decisive statements themselves. Hedges of scope
    ("usually", "about 300") hardly count. An adverb behind several joined clauses reaches the
    last. Words in no list that hedge go unseen.
    """
    if not isinstance(answer, str) or not is_english(answer):
        return None
    statements = analyze(answer[:_LONGEST])
    if assertion is not None and assertion.strip():
        return _of_part(statements, assertion)
    total = sum(one.weight for one in statements)
    if not total:
        return None
    return sum(one.weight * _value(one, one.reached) for one in statements) / total


def _value(one: Statement, reached: Sequence[Reached]) -> float:
    shares = [r.share for r in reached if r.share is not None]
    if shares:
        return sum(shares) / len(shares)
    levels = [Level(_softened(one, r), r.polar, r.wraps, r.remark) for r in reached]
    return min(0.995, max(0.005, _share(combine(levels, one.choices, one.tone))))


def _softened(one: Statement, mark: Reached) -> float:
    """A mark that reaches only part of a statement weakens the whole of it less."""
    if mark.level >= PLAIN or not one.content or mark.high <= one.start:
        return mark.level
    inside = sum(mark.low <= w.start < mark.high for w in one.content)
    if inside in (0, len(one.content)):
        return mark.level
    return PLAIN + (mark.level - PLAIN) * max(0.6, inside / len(one.content))


def _of_part(statements: Sequence[Statement], assertion: str) -> float | None:
    """The score of the statement that shares most words with the assertion."""
    wanted, denies = about(assertion)
    best: Statement | None = None
    most = 0
    for one in statements:
        shared = len({stem(w.text) for w in one.content} & wanted)
        if shared > most:
            best, most = one, shared
    if best is None:
        return None
    places = [w for w in best.content if stem(w.text) in wanted]
    marks = [
        r
        for r in best.reached
        if r.high <= best.start
        or r.low >= best.end
        or any(r.low <= w.start < r.high for w in places)
    ]
    value = _value(best._replace(content=()), marks)
    return 1 - value if best.denied != denies else value


# ---- by a language model

#: An entry with more assertions than this, or a longer one, is not read.
MOST_ASSERTIONS = 40
LONGEST = 2000


class Asserted(NamedTuple):
    """Assertions (text, score 0..1) of an answer. None and no ``problem``: it asserts nothing."""

    assertions: tuple[tuple[str, float], ...]
    problem: str | None = None


def read_assertions(entry: dict[str, Any]) -> list[list[Any]] | None:
    """Return [text, score] of each assertion of an entry; ``None`` if any of it is not valid."""
    given = entry.get("assertions")
    if not isinstance(given, list) or len(given) > MOST_ASSERTIONS:
        return None
    assertions: list[list[Any]] = []
    for one in given:
        if not isinstance(one, dict):
            return None
        text, score = one.get("text"), one.get("score")
        if not isinstance(text, str) or not text.strip() or len(text) > LONGEST:
            return None
        if isinstance(score, bool) or not isinstance(score, int | float):
            return None
        if not math.isfinite(score) or not 0 <= score <= 1:
            return None
        assertions.append([text.strip(), float(score)])
    return assertions


class LlmDecisive(NumberedReader):
    """A model that reads wording: the assertions of an answer, stripped of hedges, and scores.

    The few-shot prompt P_d of Yona et al. (arXiv 2405.16908, section 3) in our words. One entry
    for each answer has the probability, 0..1, that a reader would give to each assertion from the
    wording alone. An empty list is a punt: nothing was asserted. A score outside 0..1, an assertion
    without text or an entry that lacks anything is no reading.
    """

    task = Task("decisive", "decisive_reply", "answer", 160, read_assertions)
    subject = "decisiveness"

    def __init__(self, engine: Engine, folder: Path | None = None) -> None:
        super().__init__(engine, folder)
        self._known: dict[tuple[str, str], Asserted] = {}

    def read(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Asserted]:
        """Return what each (question, answer) asserts; each is asked once, empty ones never."""
        new: dict[str, list[str]] = {}
        for question, text in dict.fromkeys(pairs):
            if not text.strip():
                self._known[question, text] = Asserted(())
            elif (question, text) not in self._known:
                new.setdefault(question, []).append(text)
        blocks = [b for question, texts in new.items() for b in blocks_of(question, (), texts)]
        for block, outcomes in zip(blocks, self.ask(blocks), strict=True):
            for text, outcome in outcomes.items():
                assertions = tuple((str(t), float(s)) for t, s in outcome.value or ())
                self._known[block.question, text] = Asserted(assertions, outcome.problem)
        return {pair: self._known[pair] for pair in pairs}

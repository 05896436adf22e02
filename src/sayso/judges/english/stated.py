"""The confidence that a text states of itself: "70 % sure", "Confidence: 8/10", "[low confidence]".

A label stands apart from what is said ("Confidence: 30%", a tag, a field of JSON, brackets) and is
no part of the answer. A probability inside a sentence is ("I am 70 % sure that it was 1961").
Percentages of the subject are neither: "a 40 % chance of rain", "a 95 % confidence interval".
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from sayso.judges.english.lexicon import alternatives, lexicon_rows
from sayso.judges.english.numbers import PARTS, TENS, UNITS
from sayso.judges.patterns import regex

# ---- inside a sentence

_UNITS, _TENS = UNITS[:11], (*TENS, "hundred")
_NUMBERS = {w: float(i) for i, w in enumerate(_UNITS)}
_NUMBERS |= {w: 10.0 * i for i, w in enumerate(_TENS, 2)} | {"a": 1.0, **PARTS}
_N = rf"(?:\d{{1,3}}+(?:\.\d{{1,4}}+)?+|{'|'.join([*_UNITS, *_TENS])})(?:-(?:{'|'.join(_UNITS)}))?"
_SURE = (
    r"(?:sure|certain|certainty|confident|confidence|chance|likely|probability|possibility|"
    r"likelihood|positive|odds)\b"
)
_PERCENT = regex(
    rf"(?<![\w.-])(?P<low>{_N})(?:\s?%)?(?:\s?(?:-|to|or)\s?(?P<high>{_N}))?\s?"
    r"(?:%|percent\b|per cent\b)"
)
_PARTS = "half|thirds?|quarters?|fifths?"
_RATIO = regex(
    rf"(?<![\w./])(?P<part>{_N}|a)"
    rf"(?:(?P<odds>\sto\s|:)|/|\s(?:times\s|chances?\s)?(?:out\sof|in)\s|[-\s](?={_PARTS}))"
    rf"(?P<whole>{_N}|{_PARTS})\b(?P<against>\s(?:odds\s)?against)?(?![\w/]|\.\d)"
)
_EVEN = regex(
    r"\b(?:fifty[-\s]fifty|50[-/]50|(?:(?P<better>better\sthan)|about|roughly|nearly|exactly)\seven)\b"
)
_ODDS = regex(r"\b(?:chances?|odds|likelihood|probability|whether)\b|\b50|fifty")
_SURE_AFTER = regex(rf"\s{{0,2}}(?:(?!more\b|less\b)\w{{1,12}}+\s){{0,2}}{_SURE}(?!\sinterval)")
_SURE_BEFORE = regex(
    rf"{_SURE}(?!(?:(?<=sure)|(?<=certain)|(?<=confident))\sthat\b|\s(?:interval|index|limit)s?\b)[^\w.\n]{{0,3}}(?:\w{{1,10}}+[^\w.\n]{{1,3}}){{0,4}}$"
)
_GIVEN = regex(r"\b(?:(?:give|put|rate|call)\s(?:it|this|that)|times|chances?|odds)\b")
_DENIED = regex(r"\b(?:not|n't|never|less\sthan)\s(?:\w{1,12}+\s){0,2}$")
_TURNED = regex(
    r"\s?(?:that\s)?(?:i'm|i\sam|this\sis|it's|it\sis)\s(?:wrong|mistaken|not|incorrect)"
)
#: "a 40 % chance of rain" speaks of rain
_OF_THE_WORLD = regex(r"\sof\s(?!(?:it|this|that|being|me|my|him|her|them)\b)\w")
_OF_ONESELF = regex(
    r"\b(?:sure|certain|confident|positive|i|i'd|i'm|my)\b|\s(?:it|this)(?:'s|\sis|\swas)\b"
)
_WINDOW = 48
#: what every text that gives a probability holds
_LIKELIHOOD = regex(
    r"sure|certain|confiden|chance|likel|prob|possib|positiv|odds|times|fift|50|whether|creden|"
    r"%\s?\]|(?:give|put|rate|call)\s(?:it|this|that)",
    re.I,
)


class Confidence(NamedTuple):
    """How likely a text calls something, 0..1: its place, and from where to where it speaks.

    A "label" stands beside what it speaks of; in a sentence it is the writer's "own" or a "chance".
    """

    share: float
    start: int
    end: int
    low: int
    high: int
    kind: Literal["label", "own", "chance"] = "label"

    def speaks_of(self, place: int) -> bool:
        return self.low <= place < self.high


_SENTENCE_ENDS = regex(r"[.!?]\s|\n")
#: how far a sentence reaches at most
_FAR = 500


def _sentence_of(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the sentence that a place stands in, or that it follows."""
    begins = max(0, start - _FAR)
    told = text[begins:start].rstrip(" .!?\n")
    before = max((hit.end() for hit in _SENTENCE_ENDS.finditer(told)), default=0)
    behind = _SENTENCE_ENDS.search(text, end, end + _FAR)
    return begins + before, behind.end() if behind else min(len(text), end + _FAR)


def _number(text: str) -> float:
    tens, _, unit = text.partition("-")
    return sum(_NUMBERS[x] if x in _NUMBERS else float(x) for x in (tens, unit) if x)


@lru_cache(maxsize=512)
def stated_probabilities(text: str) -> tuple[Confidence, ...]:
    """Return the probabilities that a text gives in numbers: "about 60-70 % sure", "one in three".

    "51 % of the population" and "a 95 % confidence interval" are none, and neither is a denied one.
    """
    low = text.lower()
    shares: list[Confidence] = []  # by place, none over another
    if not _LIKELIHOOD.search(low):
        return ()

    def add(share: float, start: int, end: int) -> None:
        denied = _DENIED.search(low[max(0, start - _WINDOW) : start])
        place = bisect_left(shares, start, key=lambda s: s.start)
        beside = shares[max(0, place - 1) : place + 1]
        if denied or not 0 <= share <= 1 or any(s.start < end and start < s.end for s in beside):
            return
        after = _SURE_AFTER.match(low, end)
        if after and _OF_THE_WORLD.match(low, after.end()):
            return
        turned = _TURNED.match(low, after.end() if after else end)
        around = low[max(0, start - _WINDOW) : after.end() + 16 if after else end]
        kind: Literal["own", "chance"] = "own" if _OF_ONESELF.search(around) else "chance"
        share = 1 - share if turned else share
        shares.insert(place, Confidence(share, start, end, start, end, kind))

    def sure(start: int, end: int) -> bool:
        before = low[max(0, start - _WINDOW) : start]
        return bool(_SURE_AFTER.match(low, end) or _SURE_BEFORE.search(before))

    for hit in _EVEN.finditer(low):
        if _ODDS.search(low, max(0, hit.start() - 2 * _WINDOW), hit.end() + 10):
            add(0.6 if hit["better"] else 0.5, *hit.span())
    for hit in _PERCENT.finditer(low):
        if sure(*hit.span()):
            high = hit["high"] or hit["low"]
            add((_number(hit["low"]) + _number(high)) / 200, *hit.span())
    for hit in _RATIO.finditer(low):
        part, whole = _number(hit["part"]), _number(hit["whole"].rstrip("s"))
        before = max(0, hit.start() - _WINDOW)
        if hit["odds"]:
            fits, whole = "odds" in low[before : hit.end() + 8], part + whole
        else:
            fits = bool(_GIVEN.search(low, before, hit.end()) or sure(*hit.span()))
        if fits and whole:
            add(1 - part / whole if hit["against"] else part / whole, *hit.span())
    return tuple(shares)


# ---- labels

#: how likely what is labeled with some words is: low .2
LEVELS = {
    phrase: float(share)
    for share, _, phrases in (row.partition(": ") for row in lexicon_rows("confidence"))
    for phrase in phrases.split(" | ")
}
_NOUN = r"(?:confidence|certainty|probability|likelihood|credence)"
_MARKUP = r"[*_\"'`]{0,4}"
_VALUE = (
    r"(?:(?:about|around|roughly|approximately|~|≈)\s?)?(?:(?P<low>\d{1,3}(?:\.\d{1,4})?|\.\d{1,4})"
    r"(?:\s?%?\s?[-–]\s?(?P<high>\d{1,3}))?(?:\s?(?P<percent>%|per\s?cent\b)"
    r"|\s?(?:/|out\sof|of)\s?(?P<whole>100|10|5|1(?:\.0)?)\b)?(?![\d%/]|\.\d)"
    rf"|(?P<word>{alternatives(LEVELS)})\b)"
)
#: "Confidence: 30%", "My confidence in this answer is 7 out of 10", "<confidence>8</confidence>"
_LABEL = regex(
    rf"(?:\b(?P<my>my)\s)?(?:\b(?:overall|stated|final|level\sof)\s)?\b{_NOUN}"
    r"(?:[ _-]?(?:level|score|rating|estimate|percent(?:age)?))?"
    r"(?:\s(?:in|of|that|for)(?:\s(?:being|it|this|that|the|my|answer|is|correct|right|true)){1,5})?"
    r"(?:\s?\([01]\s?(?:-|–|to)\s?(?P<scale>\d{1,3})%?\))?"
    rf"{_MARKUP}(?P<link>\s?[:=>–—]|\s-(?=\s)|\s(?:is|of))?{_MARKUP}\s?[\[(]?{_MARKUP}{_VALUE}",
    re.I,
)
#: "[90%]", "(low confidence)", "— 80 % sure"
_ASIDE = regex(
    rf"(?:(?P<square>\[)|[(—–]|\s-|\swith|\bI\shave|(?m:^))\s?{_VALUE}"
    rf"(?:(?P<noun>\s(?:{_NOUN}|sure|certain|confident))(?:\sin\s(?:it|this|that|my)(?:\sanswer)?)?"
    r"|(?P<closed>\s?\]))",
    re.I,
)
#: what may stand before a label, but for marks, and what behind it
_BEGINS = regex(r"(?:^|[\n.!?;,:|—–(\[{<>*]|\s-)[\s*_#\"'`>-]{0,9}\Z")
_ENDS = regex(
    rf"{_MARKUP}[)\]}}]?{_MARKUP}(?:</[\w ]{{1,30}}>|(?=\s?(?:[.,;:)\]}}|<\n(*]|\Z|because|since)))"
)
#: a question whose answer is a probability
_ASKS_LABEL = regex(
    rf"\bwhat(?:'s|\sis|\swas)\s(?:\w+\s){{0,4}}{_NOUN}|\bhow (?:likely|probable)\b", re.I
)


def confidences(text: str, question: str = "") -> list[Confidence]:
    """Return the labels of confidence of a text in order, and then what its sentences state.

    A label speaks of what stands before it, or behind it if the text begins with one; a lone one of
    all, and one in brackets of its sentence. None is a label where nothing else is said. A whole
    number from 2 to 10 counts tenths, a larger one percent.
    """
    if not _LIKELIHOOD.search(text) or _ASKS_LABEL.search(question[-2000:]):
        return []
    found: list[tuple[float, int, int, bool]] = []
    hits = [(hit, False) for hit in _LABEL.finditer(text)]
    for hit, aside in (*hits, *((hit, True) for hit in _ASIDE.finditer(text))):
        behind, share = _ENDS.match(text, hit.end()), _share_of(hit)
        before = text[max(0, hit.start() - 12) : hit.start()]
        start = hit.start() - len(before) + len(before.rstrip("*_#\"'`([<"))
        if aside:
            fits = bool(hit["noun"] or (hit["square"] and hit["percent"]))
        else:
            capital = hit["link"] == ":" and hit.group()[0].isupper()
            fits = bool(hit["my"] or capital or _BEGINS.search(before))
        apart = behind and not any(a < behind.end() and start < b for _, a, b, _ in found)
        if behind and share is not None and fits and apart:
            inside = aside or text[start : start + 1] in ("(", "[")
            found.append((share, start, behind.end(), inside))
    found.sort(key=lambda one: one[1])
    kept = outside(text, [(start, end) for _, start, end, _ in found])
    if not any(c.isalnum() for low, high in kept for c in text[low:high]):
        found, kept = [], []
    leads = bool(found) and not any(c.isalnum() for c in text[: found[0][1]])
    labels = []
    stretches = kept[1:] if leads else kept[:-1]
    for (share, start, end, inside), (low, high) in zip(found, stretches, strict=True):
        if inside and not leads:
            low = max(low, _sentence_of(text, start, end)[0])
        elif len(found) == 1:
            low, high = 0, len(text)
        labels.append(Confidence(share, start, end, low, high))
    own = [one for one in stated_probabilities(text) if one.kind == "own"]
    sentences = (_sentence_of(text, one.start, one.end) for one in own)
    return labels + [
        one._replace(low=low, high=high) for one, (low, high) in zip(own, sentences, strict=True)
    ]


def _share_of(hit: re.Match[str]) -> float | None:
    if hit["word"]:
        return LEVELS[hit["word"].lower()]
    value = (float(hit["low"]) + float(hit["high"] or hit["low"])) / 2
    scale = hit.groupdict().get("scale") or (100 if value > 10 else 10 if value > 1 else 1)
    whole = float(100 if hit["percent"] else hit["whole"] or scale)
    return value / whole if value <= whole else None


def outside(text: str, places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the stretches of a text between some places in order."""
    ends, starts = [0, *(end for _, end in places)], [*(start for start, _ in places), len(text)]
    return list(zip(ends, starts, strict=True))


def stated_confidence(text: str, question: str = "", place: int | None = None) -> float | None:
    """Return the confidence that a text states of itself, or of a place in it, 0..1.

    The mean of several, of labels where there are some; ``None`` for none.
    """
    every = [one for one in confidences(text, question) if place is None or one.speaks_of(place)]
    shares = [one.share for one in every if one.kind == "label"] or [one.share for one in every]
    return sum(shares) / len(shares) if shares else None

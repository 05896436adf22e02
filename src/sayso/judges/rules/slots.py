"""Whether a value that an answer says is its answer, or is only mentioned.

"Anyone but Ada", "Ada's brother Bo" and "Many say Ada, but it was Bo" name Ada and answer something
else. The words that govern a value tell, what belongs to it, and a turn to another value. Their
classes are rows of ``judges/data/lexicon.txt`` ([mentions]).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from sayso.judges.english.lexicon import lexicon_words
from sayso.judges.english.numbers import MONTHS
from sayso.judges.english.tokens import STOP, Token
from sayso.judges.patterns import regex
from sayso.judges.rules.names import PARTICLES, TITLES

#: classes of words that govern a value, and the kinds of value that they keep from being the answer
_GOVERNING = {
    "excluding": ("words", "date", "quantity"), "comparing": ("words",), "near": ("words",),
    "earlier": ("words", "date"), "beaten": ("words",), "related": (),
}  # fmt: skip
CLASSES = (
    *_GOVERNING, "everybody", "nobody", "leaver", "follower", "kind", "report", "crowd", "turn",
    "truth", "yield", "subject", "unsettled", "unit", "person", "asking",
)  # fmt: skip
_WORDS = {name: lexicon_words("mentions", f"slots.{name}") for name in CLASSES}
_PHRASES = {tuple(w.split("-")): name for name in _GOVERNING for w in _WORDS[name]}
_LINKS = lexicon_words("auxiliaries", "matching.copula")
_KNOWN = STOP | _LINKS | _WORDS["subject"]
_OF_NAMES = TITLES | PARTICLES | lexicon_words("people", "matching.role") | _WORDS["kind"]
#: a sentence may open with them right before a name
_OPENERS = _WORDS["yield"] | _WORDS["comparing"] | _WORDS["earlier"]
_STOPS = regex(r"[,;:!?()\n\u2013\u2014]|\.(?=\s|$)")
_ENDS = regex(r"[.!?;\n](?=\s|$)")
_OWNED = ("'s", "\u2019s")
#: words to either side within which a value's clause is read
_FAR = 25


class Place(NamedTuple):
    """A value in a text: its first token and the one behind it, and its sentence's first token.

    ``asked`` is what the words of the question and of the gold are looked up by.
    """

    text: str
    tokens: Sequence[Token]
    first: int
    after: int
    low: int
    kind: str
    asked: Collection[str]

    def gap(self, i: int) -> str:
        """Return what stands between a token and the one before it."""
        return self.text[self.tokens[i - 1].end if i else 0 : self.tokens[i].start]

    def known(self, i: int) -> bool:
        """Tell whether a token gives nothing new: a small word, or the question's."""
        word = self.tokens[i]
        return word.text in _KNOWN or word.text in self.asked or word.stem in self.asked

    def is_new(self, i: int) -> bool:
        """Tell whether a token may be another value: a name for a name, a number for a number."""
        one = self.tokens[i]
        if self.known(i) or one.text in _WORDS["unsettled"] | _WORDS["turn"]:
            return False
        if self.kind == "words":
            return one.capital >= self.tokens[self.first].capital
        return one.number or one.text in MONTHS

    def has(self, name: str, low: int, high: int) -> bool:
        """Tell whether a word of a class stands among some tokens."""
        return any(not _WORDS[name].isdisjoint((t.text, t.stem)) for t in self.tokens[low:high])

    def asks(self, *names: str) -> bool:
        """Tell whether the question says a word of a class."""
        return any(w.partition("-")[0] in self.asked for name in names for w in _WORDS[name])


def only_mentioned(place: Place) -> bool:
    """Tell whether a value is only mentioned where it stands."""
    while place.first < place.after - 1 and place.tokens[place.first].text in _OPENERS:
        place = place._replace(first=place.first + 1)  # "Unlike X" is written like a name
    if _governed(place) or _turned_from(place) or _conceded(place) or _only_asked(place):
        return True
    return place.kind == "words" and (_owns(place) or _takes_over(place))


def _governed(place: Place) -> bool:
    """Tell whether the words before a value give it another role: "anyone but X", "beat X"."""
    tokens, at = place.tokens, place.first - 1
    while at >= 0 and not _STOPS.search(place.gap(at + 1)):
        word = tokens[at]
        named = word.text in _OF_NAMES or (word.capital and word.text not in STOP | _OPENERS)
        if not named and (word.text != "of" or not place.has("kind", at - 1, at)):
            break
        at -= 1
    low = at
    while low > max(place.low, at - 2) and not _STOPS.search(place.gap(low)):
        low -= 1
    if at < 0 or _STOPS.search(place.gap(at + 1)):
        return False
    if tokens[at].text == "but":
        return low < at and tokens[at - 1].text in _WORDS["everybody"]
    if tokens[at].text in ("of", "to", "with") and place.has("related", at - 1, at):
        return not place.asks("related") and not _is_relative(place, at - 1)
    for n in range(low, at + 1):
        name = _PHRASES.get(tuple(t.text for t in tokens[n : at + 1]), "related")
        if place.kind not in _GOVERNING[name]:
            continue
        if name == "near" and place.text[: tokens[n].start].endswith(("the ", "The ")):
            return False  # "in the north of X"
        spared = name == "excluding" or tokens[n].text == "than"
        if spared and (place.has("nobody", max(place.low, n - 5), n) or "not" in place.asked):
            return False  # "none other than X"
        if name == "earlier" and place.kind == "date" and not place.has("unit", n - 1, n):
            return False  # "after 1990", but "two years after 1990"
        opens = tokens[n].text != "like" or n == place.low or "," in place.gap(n)
        words = place.kind == "words" and name in ("earlier", "beaten")
        lost = ("leaver", "follower") if words else ()
        return opens and not place.asks(name, *lost)
    return False


def _is_relative(place: Place, at: int) -> bool:
    """Tell whether it is the one asked about who is a relative of a value: "She is X's pupil"."""
    for k in range(at - 1, place.low - 1, -1):
        word = place.tokens[k]
        if word.capital or word.text in _WORDS["person"] | {"by", "from", "it"}:
            return word.text in _WORDS["person"] or (word.capital and place.known(k))
    return place.has("person", place.after, place.after + _FAR)


def _owns(place: Place) -> bool:
    """Tell whether a relative of a value is meant: "X's younger brother"."""
    last, end = place.tokens[place.after - 1], place.after
    if not last.raw.endswith(_OWNED) and place.text[last.end :][:1] not in ("'", "\u2019"):
        return False
    while end < min(place.after + 3, len(place.tokens)) and not _STOPS.search(place.gap(end)):
        end += 1
    asked = place.asks("related") or "whose" in place.asked or "where" in place.asked
    return not asked and place.has("related", place.after, end)


def _takes_over(place: Place) -> bool:
    """Tell whether a value came after the one who is asked for: "replaced by X", "X beat him"."""
    first, after = place.first, place.after
    if not place.asks("leaver") or place.asks("beaten", "follower"):
        return False
    by = first > 0 and place.tokens[first - 1].text == "by"
    passive = by and place.has("beaten", max(place.low, first - 6), first)
    return passive or place.has("beaten", after, after + 1)


def _turned_from(place: Place) -> bool:
    """Tell whether another value follows a turn: "Many say X, but it was Y"."""
    yields = place.has("yield", place.low, min(place.low + 2, place.first))
    for k in range(place.after, min(place.after + _FAR, len(place.tokens))):
        word, gap = place.tokens[k].text, place.gap(k)
        ends = _ENDS.search(gap)
        turns = word in _WORDS["turn"] or (yields and "," in gap)
        turns = turns or (word == "in" and place.has("truth", k + 1, k + 2))
        reported = yields or _reports(place, place.low, k)
        if (turns or ends) and _settles(place, k, turns, reported):
            return True
        if ends or word in _WORDS["yield"]:
            return False
    return False


def _reports(place: Place, low: int, high: int) -> bool:
    """Tell whether words report what others say or what was thought first: not "I think"."""
    words = ["", *(t.text for t in place.tokens[low:high])]
    told = (n for n, word in enumerate(words) if word in _WORDS["report"])
    return any(words[n - 1] not in ("i", "we", "would") for n in told)


def _settles(place: Place, k: int, turns: bool, reported: bool) -> bool:
    """Tell whether the words from a turn on give another value: "it was Y", "Y wrote it"."""
    tokens = place.tokens
    while k < len(tokens) - 1 and tokens[k].text in _WORDS["turn"] | _WORDS["truth"] | {"in"}:
        k += 1  # "in fact"
    end = next((n for n in range(k + 1, len(tokens)) if _STOPS.search(place.gap(n))), len(tokens))
    at = next((n for n in range(k, end) if not place.known(n)), end)
    if at == end or not place.is_new(at) or place.has("unsettled", k, end):
        return False
    linked = any(t.text in _LINKS or t.raw.endswith(_OWNED) for t in tokens[k:at])  # "it's Y"
    rest = next((n for n in range(at, end) if not place.is_new(n)), end)
    alone = all(map(place.known, range(rest, end)))
    if at > k and not linked:
        return False
    named = place.kind != "words" or tokens[at].capital
    if turns and reported:
        return linked or (named and rest == end) or (rest < end and place.known(rest))
    return alone and (linked or rest < end) and (reported or (turns and named))


def _conceded(place: Place) -> bool:
    """Tell whether a value is what others say beside the answer: "Y, though many say X"."""
    tokens, at = place.tokens, place.first
    while at > 0 and tokens[at].text not in _WORDS["yield"] and not _STOPS.search(place.gap(at)):
        at -= 1
    opens = at > 0 and tokens[at].text in _WORDS["yield"] | _WORDS["crowd"]
    if not opens or "." in place.gap(at) or not _reports(place, at, place.after + 3):
        return False
    return any(map(place.is_new, range(max(0, at - _FAR), at)))


def _only_asked(place: Place) -> bool:
    """Tell whether a value stands in a question that is then answered: "Was it X? No, Y."."""
    after, tokens = place.after, place.tokens
    end = _ENDS.search(place.text, tokens[after - 1].end)
    rest = next((n for n in range(after, len(tokens)) if end and tokens[n].start > end.start()), 0)
    asks = tokens[place.low].text in _LINKS | _WORDS["asking"]
    if end is None or end[0] != "?" or not rest or not asks:
        return False
    return tokens[rest].text == "no" or _settles(place, rest, turns=True, reported=True)

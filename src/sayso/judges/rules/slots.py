"""Whether a value that an answer says is its answer, or is only mentioned.

"Anyone but Ada", "Ada's brother Bo" and "Many say Ada, but it was Bo" name Ada and answer something
else. The words that govern a value tell, what belongs to it, and a turn to another value. Their
classes are rows of ``judges/data/lexicon.txt`` ([mentions]).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import NamedTuple

from sayso.judges.english.families import family_stem, keys
from sayso.judges.english.lexicon import lexicon_words
from sayso.judges.english.numbers import MONTHS
from sayso.judges.english.tokens import STOP, Token
from sayso.judges.patterns import regex
from sayso.judges.rules.names import PARTICLES, TITLES

#: classes of words that govern a value, and the kinds of value that they keep from being the answer
_GOVERNING = {
    "excluding": ("words", "date", "quantity"), "comparing": ("words",), "near": ("words",),
    "earlier": ("words", "date"), "beaten": ("words",), "related": (), "naming": ("words",),
}  # fmt: skip
CLASSES = (
    *_GOVERNING, "everybody", "nobody", "leaver", "kind", "report", "turn", "truth", "yield",
    "subject", "unsettled", "back", "alias", "rest",
)  # fmt: skip
_WORDS = {name: lexicon_words("mentions", f"slots.{name}") for name in CLASSES}
_PHRASES = {tuple(w.split("-")): name for name in _GOVERNING for w in _WORDS[name]}
_LINKS = lexicon_words("auxiliaries", "matching.copula")
_KNOWN = STOP | _LINKS | _WORDS["turn"] | _WORDS["subject"] | _WORDS["near"]
_SHORTENED = lexicon_words("abbreviations", "slots")
_OF_NAMES = TITLES | PARTICLES | lexicon_words("people", "matching.role")
#: a sentence may open with them right before a name
_OPENERS = _WORDS["yield"] | _WORDS["comparing"] | _WORDS["earlier"]
#: words that do not say that a clause gives what is asked; before a value they say where it was
_PLACED = frozenset({"in", "at", "on", "from", "with", "for"})
_SMALL = STOP - _LINKS
_SAYING = lexicon_words("auxiliaries", "sentences") | {f"{word}'s" for word in STOP}
_STARTS = regex(r"[.!?;:\n\u2014](?=\s|$)|[\u2013\u2014]|\s-\s")
_STOPS = regex(r"[,;:!?()\n\u2013\u2014]|\.(?=\s|$)|\s-\s")
_ENDS = regex(r"[.!?;\n](?=\s|$)")
_OWNED = ("'s", "\u2019s")
#: words to either side within which a value's clause is read
_FAR = 25
#: words of an answer that its first word or name may be all of: "Y; X is further north"
_SHORT = 12


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
    asked: Set[str]

    def gap(self, i: int) -> str:
        """Return what stands between a token, or the end, and the token before it."""
        end = self.tokens[i].start if i < len(self.tokens) else None
        return self.text[self.tokens[i - 1].end if i else 0 : end]

    def stops(self, i: int) -> bool:
        """Tell whether a clause ends before a token: not behind "St." or an initial."""
        gap, word = self.gap(i), self.tokens[i - 1].raw.casefold()
        short = gap.strip() == "." and (len(word) == 1 or word in _SHORTENED)
        return not short and _STOPS.search(gap) is not None

    def known(self, i: int) -> bool:
        """Tell whether a token gives nothing new: a small word, or the question's."""
        word = self.tokens[i]
        forms = (*keys(word.text, word.stem), family_stem(word.text))
        return word.text in _KNOWN or not self.asked.isdisjoint(forms)

    def is_new(self, i: int) -> bool:
        """Tell whether a token may be another value: a name for a name, a number for a number."""
        one = self.tokens[i]
        if self.known(i) or one.text in _WORDS["unsettled"] | _WORDS["turn"]:
            return False
        if self.kind == "words":
            return one.text in PARTICLES or one.capital >= self.tokens[self.first].capital
        return (one.number and one.text != "1") or one.text in MONTHS

    def has(self, name: str, low: int, high: int) -> bool:
        """Tell whether a word of a class stands among some tokens."""
        return any(not _WORDS[name].isdisjoint((t.text, t.stem)) for t in self.tokens[low:high])

    def asks(self, *names: str) -> bool:
        """Tell whether the question says a word of a class."""
        phrases = (w.split("-") for name in names for w in _WORDS[name])
        return any(all({w, family_stem(w)} & self.asked for w in words) for words in phrases)


def only_mentioned(place: Place) -> bool:
    """Tell whether a value is only mentioned where it stands."""
    while place.first < place.after - 1 and place.tokens[place.first].text in _OPENERS:
        place = place._replace(first=place.first + 1)  # "Unlike X" is written like a name
    return any(f(place) for f in (_governed, _owns, _is_rest, _given_elsewhere))


def _governed(place: Place) -> bool:
    """Tell whether the words before a value give it another role: "anyone but X", "beat X"."""
    tokens, at = place.tokens, place.first - 1
    while at > 0 and tokens[at].text in _OF_NAMES and not place.stops(at + 1):
        at -= 1  # "unlike the painter X"
    low = at
    while low > max(0, at - 2) and not place.stops(low):
        low -= 1
    if at < 0 or place.stops(at + 1):
        return False
    if tokens[at].text == "but":
        return place.has("everybody", low, at)
    if tokens[at].text in ("of", "to", "with") and place.has("related", at - 1, at):
        return not place.asks("related")
    for n in range(low, at + 1):
        name = _PHRASES.get(tuple(t.text for t in tokens[n : at + 1]), "related")
        if place.kind not in _GOVERNING[name]:
            continue
        spared = name == "excluding" or tokens[n].text == "than"
        spared = spared and (place.has("nobody", max(place.low, n - 5), n) or "not" in place.asked)
        if spared or name == "naming":
            return False  # "none other than X", "named after X"
        lost = place.kind == "words" and name in ("earlier", "beaten")
        if lost and not place.tokens[place.first].capital:
            return False  # "died after an accident"
        return not place.asks(name, *["leaver"] * lost)
    return False


def _owns(place: Place) -> bool:
    """Tell whether a relative of a value is meant: "X's younger brother"."""
    asked = place.asks("related") or "whose" in place.asked or "where" in place.asked
    if asked or not place.tokens[place.after - 1].raw.endswith(_OWNED):
        return False
    near = range(place.after, min(place.after + 3, len(place.tokens)))
    end = next((n for n in near if place.stops(n)), near.stop)
    return place.has("related", place.after, end)


def _is_rest(place: Place) -> bool:
    """Tell whether a value is what is left beside the one asked for: "the other 59 % do not"."""
    first, after, size = place.first, place.after, len(place.tokens)
    if place.kind != "quantity" or not place.has("rest", max(0, first - 2), first):
        return False
    end = next((n for n in range(after, size) if _ENDS.search(place.gap(n))), size)

    def repeats(low: int, high: int) -> int:
        words = ((n, place.tokens[n]) for n in range(low, high))
        said = {t.stem for n, t in words if not (t.number or t.text in _KNOWN) and place.known(n)}
        return len(said)

    return repeats(max(0, first - _FAR), first) > repeats(after, end)


class GivenValue(NamedTuple):
    """The value that a clause gives: its first token and the one behind it.

    ``alone``: the clause says nothing else but the question; ``bare``: the value is all of it.
    """

    at: int
    end: int
    alone: bool
    bare: bool


def _given_elsewhere(place: Place) -> bool:
    """Tell whether the clause that answers gives another value: "Y wrote it; X was his friend".

    It is the first that gives one, unless a later one turns from it or gives the value itself.
    """
    tokens, first, own, decided = place.tokens, place.first, 0, None
    yields = place.has("yield", place.low, min(place.low + 2, first))
    high = min(len(tokens), first + 2 * _FAR)
    ends = [k for k in range(place.after, high) if _ENDS.search(place.gap(k))]
    for k in range(max(0, first - 2 * _FAR), [*ends, high, high][1]):
        gap = place.gap(k) if k else "."
        turns = _turns(place, k) or (yields and k > first and "," in gap)
        if "(" in gap or not (turns or _STARTS.search(gap)):
            continue
        own = k if k <= first else own
        told = yields or _reports(place, own, k)
        clause = _given(place, k)
        if clause is None:
            continue
        here = clause.at <= first < clause.end and (clause.alone or decided is None)
        if here or (turns and (told or k < first)):
            decided = clause
        elif k > first and clause.alone and not clause.bare:
            first_one = decided is None and (told or own == first)
            decided = clause if first_one or (turns and place.kind == "words") else decided
        elif k < first and decided is None and (k == 0 or _ENDS.search(gap)):
            decided = clause if _opens(place, clause, k) else None
    if decided is None or decided.at <= first < decided.end:
        return False
    if decided.at > first:
        return True
    beside = tokens[first - 1].text in ("with", "and") and "," in place.gap(first - 1)
    subject = own == first or beside or tokens[first].capital
    if place.kind != "words":
        subject = decided.end <= own < first and not place.known(own)
    return subject and not _goes_on(place, decided.end)


def _opens(place: Place, clause: GivenValue, k: int) -> bool:
    """Tell whether a clause before a value, which gives another one, may answer by itself."""
    name = place.tokens[place.first].capital
    if clause.bare:
        words = clause.end - clause.at
        closed = len(place.tokens) <= _SHORT and (name or "." in place.gap(clause.end))
        return k == 0 and (closed or (words > 1 and "who" in place.asked))
    if place.kind == "words":
        return name or clause.at == k  # not "Insulin is a hormone"
    return k == 0


def _goes_on(place: Place, end: int) -> bool:
    """Tell whether a value behind another may be the same, a part of it, or one of a list."""
    between = place.tokens[end : place.first]
    words = [t.text for t in between]
    gap = place.text[place.tokens[end - 1].end : place.tokens[place.first].start]
    if all(t.capital or t.text in ("and", "or") for t in between) and not _ENDS.search(gap):
        return True
    if "\n" in gap or gap.endswith("(") or place.has("alias", end, place.after + 4):
        return True
    if "by" in words[-3:]:
        return not place.has("beaten", end, place.first)
    inside = next((t.text for t in reversed(between) if not t.capital), "") in ("in", "of")
    return inside and ("where" in place.asked or place.asks("kind"))


def _turns(place: Place, k: int) -> bool:
    """Tell whether a word turns from what stands before it: "but", "in fact", "X, no, wait: Y"."""
    word, tokens = place.tokens[k].text, place.tokens
    if tokens[k].capital and k and not place.stops(k):
        return False  # "Apocalypse Now"
    if word in _WORDS["turn"] or (word == "in" and place.has("truth", k + 1, k + 2)):
        return True
    return word in _WORDS["back"] and k + 1 < len(tokens) and place.stops(k + 1)


def _given(place: Place, k: int) -> GivenValue | None:
    """Read the clause that begins with a token: "it was Y", "Y wrote it", "Y"."""
    tokens, first, start = place.tokens, place.first, k
    while k < len(tokens) - 1 and (_turns(place, k) or place.has("truth", k, k + 1)):
        k += 1  # "but in fact"
    if not tokens[k].capital:
        start = k  # "but dates can vary" gives no other value, "but Y" does
    last = min(k + 2 * _FAR, len(tokens))
    at = next((n for n in range(k, last) if n == first or not place.known(n)), last)
    end = place.after if at == first else at + 1
    end = next((n for n in range(end, last) if place.stops(n)), last)
    rest, before = place.after, tokens[k:at]
    if at != first:
        if ":" in place.gap(end) or any(place.stops(n) for n in range(k + 1, at + 1)):
            return None  # a heading, or nothing new before a comma
        rest = next((n for n in range(at, end) if not place.is_new(n)), end)
        if before and before[-1].capital and before[-1].text not in STOP | TITLES:
            return None  # "the Velt Arms", asked about Velt
        if rest < end and tokens[rest].capital and place.gap(rest) == " ":
            return None  # "Ada Velt"
        if before and "who" in place.asked and before[-1].text in _PLACED:
            return None
    open_ = place.has("unsettled", k, end) or place.has("yield", k, k + 1)
    if open_ or _reports(place, k, end) or not at < rest <= end:
        return None
    if tokens[rest - 1].raw.endswith(_OWNED) or place.gap(at).split()[-1:] in (["a"], ["an"]):
        return None  # "Y's brother", "it is a Y"
    if rest < end and (not place.known(rest) or tokens[rest].text in ("and", "or")):
        return None  # "Y and X wrote it"
    if before and not any(t.text not in _SMALL or "'" in t.raw for t in before):
        return None
    alone = all(map(place.known, range(rest, end)))
    acts = rest < end and tokens[rest].text not in _KNOWN and not tokens[rest].capital
    if not (alone or acts or before):
        return None
    spoken = acts or not _SAYING.isdisjoint(w for t in before for w in (t.text, t.raw.casefold()))
    if before and not spoken and at != first and place.kind == "words":
        return None  # "the song by Y is about X"
    if at != first and k <= first < end and not (acts and at == k and place.kind == "words"):
        return None  # "the mayor of Marl is X"
    return GivenValue(at, rest, alone, bare=at == start and rest == end)


def _reports(place: Place, low: int, high: int) -> bool:
    """Tell whether words report what others say or what was thought first: not "I think"."""
    words = ["", *(t.text for t in place.tokens[low:high])]
    told = (n for n, word in enumerate(words) if word in _WORDS["report"] - place.asked)
    return any(words[n - 1] not in ("i", "we", "would") for n in told)

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
    "earlier": ("words", "date"), "beaten": ("words",), "related": (),
}  # fmt: skip
CLASSES = (
    *_GOVERNING, "everybody", "nobody", "leaver", "follower", "kind", "report", "turn", "truth",
    "yield", "subject", "unsettled", "unit", "person", "wrong", "back", "confusing", "showing",
    "rest",
)  # fmt: skip
_WORDS = {name: lexicon_words("mentions", f"slots.{name}") for name in CLASSES}
_PHRASES = {tuple(w.split("-")): name for name in _GOVERNING for w in _WORDS[name]}
_LINKS = lexicon_words("auxiliaries", "matching.copula")
_KNOWN = STOP | _LINKS | _WORDS["subject"] | _WORDS["showing"]
_OF_NAMES = TITLES | PARTICLES | lexicon_words("people", "matching.role") | _WORDS["kind"]
#: a sentence may open with them right before a name
_OPENERS = _WORDS["yield"] | _WORDS["comparing"] | _WORDS["earlier"]
_STOPS = regex(r"[,;:!?()\n\u2013\u2014]|\.(?=\s|$)|\s-\s")
_ENDS = regex(r"[.!?;\n](?=\s|$)")
#: questions that ask for something beside who it was
_ASKING = frozenset({"what", "when", "where", "which", "how", "why", "did", "does", "do", "whom"})
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
            return one.capital >= self.tokens[self.first].capital
        return (one.number and one.text != "1") or one.text in MONTHS

    def has(self, name: str, low: int, high: int) -> bool:
        """Tell whether a word of a class stands among some tokens."""
        return any(not _WORDS[name].isdisjoint((t.text, t.stem)) for t in self.tokens[low:high])

    def asks(self, *names: str) -> bool:
        """Tell whether the question says a word of a class."""
        words = (w.partition("-")[0] for name in names for w in _WORDS[name])
        return any(w in self.asked or family_stem(w) in self.asked for w in words)


def only_mentioned(place: Place) -> bool:
    """Tell whether a value is only mentioned where it stands."""
    while place.first < place.after - 1 and place.tokens[place.first].text in _OPENERS:
        place = place._replace(first=place.first + 1)  # "Unlike X" is written like a name
    after = range(place.after, len(place.tokens))[:2]
    denied = len(after) > 1 and place.has("nobody", after[0], after[1])
    if denied and place.known(after[1]) and not any(_STOPS.search(place.gap(n)) for n in after):
        return True  # "X never wrote it"
    if _governed(place) or _turned_from(place) or _is_rest(place):
        return True
    return place.kind == "words" and (_owns(place) or _takes_over(place) or _answered(place))


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
        return place.has("everybody", low, at)
    if tokens[at].text in ("with", "for") and place.has("confusing", max(low - 2, 0), at):
        return not place.asks("confusing")
    if tokens[at].text in ("of", "to", "with") and place.has("related", at - 1, at):
        return not place.asks("related") and not _is_relative(place, at - 1)
    for n in range(low, at + 1):
        name = _PHRASES.get(tuple(t.text for t in tokens[n : at + 1]), "related")
        if place.kind not in _GOVERNING[name]:
            continue
        if name == "near" and place.text.endswith(("the ", "The "), 0, tokens[n].start):
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
        if word.text in _WORDS["person"]:
            return True
        if word.capital or word.text in ("by", "from", "it"):
            return word.text != "it" and word.capital and place.known(k)
    return place.has("person", place.after, place.after + _FAR)


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
        turns = _turns(place, k) or (yields and "," in gap)
        ends = _ENDS.search(gap)
        if (turns or ends) and (yields or _takes_back(place, k) or _reports(place, place.low, k)):
            clause = _given(place, k)
            if turns and clause.refutes:
                return True
            new = clause.end > clause.at != place.first
            if turns and place.kind != "words":
                new = new or any(map(place.is_new, range(k, min(k + 6, len(place.tokens)))))
            if new and (turns or (clause.alone and not clause.bare)):
                return True
        if ends or word in _WORDS["yield"]:
            return False
    return False


def _turns(place: Place, k: int) -> bool:
    word = place.tokens[k].text
    turns = word in _WORDS["turn"] or (word == "in" and place.has("truth", k + 1, k + 2))
    return turns or _takes_back(place, k)


def _takes_back(place: Place, k: int) -> bool:
    """Tell whether a word takes back what stands before it: "X, no, wait: Y"."""
    alone = k + 1 < len(place.tokens) and _STOPS.search(place.gap(k + 1)) is not None
    return alone and place.tokens[k].text in _WORDS["back"]


def _reports(place: Place, low: int, high: int) -> bool:
    """Tell whether words report what others say or what was thought first: not "I think"."""
    words = ["", *(t.text for t in place.tokens[low:high])]
    told = (n for n, word in enumerate(words) if word in _WORDS["report"])
    return any(words[n - 1] not in ("i", "we", "would") for n in told)


class GivenValue(NamedTuple):
    """The value that a clause gives: its first token and the one behind it; the same for none.

    ``alone``: nothing else is said; ``sure``: alone, or with what is asked ("Y painted it for Bo");
    ``bare``: the value is all of it; ``refutes``: it calls wrong what stands before it.
    """

    at: int
    end: int
    alone: bool = False
    sure: bool = False
    bare: bool = False
    refutes: bool = False


def _given(place: Place, k: int) -> GivenValue:
    """Read the clause that begins with a token: "it was Y", "Y wrote it", "Y"."""
    tokens = place.tokens
    while k < len(tokens) - 1 and (_turns(place, k) or place.has("truth", k, k + 1)):
        k += 1  # "but in fact"
    last = min(k + 2 * _FAR, len(tokens))
    end = next((n for n in range(k + 1, last) if _STOPS.search(place.gap(n))), last)
    at = next((n for n in range(k, end) if n == place.first or not place.known(n)), end)
    while k < at < end and at != place.first and tokens[at].capital:
        if not tokens[at - 1].capital or tokens[at - 1].text in STOP:
            break
        at -= 1  # "Brother Piers", beside "Brother Aldo"
    nothing = GivenValue(at, at, refutes=place.has("wrong", k, end))
    rest = place.after
    if at != place.first:
        new = next((n for n in range(at, end) if not place.known(n)), end)
        rest = next((n for n in range(new, end) if not place.is_new(n)), end)
        if at < place.first <= rest and place.first < end:
            rest = max(rest, place.after)  # "Ada [Quill]"
    unsure = place.has("unsettled", k, end) or _reports(place, k, end)
    if unsure or not at < rest <= end or tokens[rest - 1].raw.endswith(_OWNED):
        return nothing
    links = (
        t.text in _LINKS | _WORDS["showing"] or (t.text in STOP and "'" in t.raw)
        for t in tokens[k:at]
    )
    linked = any(links)  # "it is Y", "it's Y"
    acts = rest < end and tokens[rest].text not in _KNOWN and place.known(rest)
    acts = acts and not tokens[rest].capital
    if at != place.first and k <= place.first < end and not (acts and at == k):
        return nothing  # "the mayor of Marl is X"
    if (at > k and not linked) or (rest < end and not place.known(rest)):
        return nothing
    if rest < end and tokens[rest].text in ("and", "or"):
        return nothing  # "Y and X wrote it"
    alone = all(map(place.known, range(rest, end)))
    return GivenValue(at, rest, alone, alone or acts or linked, bare=at == k and rest == end)


def _answered(place: Place) -> bool:
    """Tell whether another clause gives another name, and the value's own clause none.

    What begins the answer to "who" counts by itself ("Y, who taught X"), lists and other names of
    the same apart.
    """
    tokens, first, others = place.tokens, place.first, False
    who = "who" in place.asked and _ASKING.isdisjoint(place.asked)
    if "by" in [t.text for t in tokens[max(0, first - 3) : first]] or not tokens[first].capital:
        return False
    if "also" in [t.text for t in tokens[place.after : place.after + 4]]:
        return False
    near = range(max(1, first - 2 * _FAR), min(len(tokens), first + 2 * _FAR))
    for k in (0, *near):
        turns = _turns(place, k)
        if not (k == 0 or turns or _ENDS.search(place.gap(k))):
            continue
        clause = _given(place, k)
        if clause.sure and clause.at <= first < clause.end:
            return False
        between = tokens[clause.end : first]
        listed = all(t.capital or t.text in ("and", "or") for t in between)
        listed &= k < first and place.gap(clause.end).strip() in ("", ",")
        if clause.sure and not listed:
            named = who and clause.end - clause.at > 1
            whole = clause.bare and len(tokens[clause.end - 1].text) > 1  # not "J. Bo"
            closed = len(tokens) <= _SHORT and whole and _ENDS.search(place.gap(clause.end))
            begins = (named and "(" not in place.gap(first)) or (
                closed and "where" not in place.asked
            )
            begins = begins and k == 0 and not (clause.bare and len(tokens) > _FAR)
            turned = first < k < place.after + _FAR and (turns or k < clause.at)
            others |= begins or ((turned or named) and clause.alone and not clause.bare)
    return others

"""Whether an answer to a question of yes or no says yes, no, or neither.

A text is read in stretches. One says yes or no by its words ("Of course not", "That is correct"),
by a short form ("It isn't", "He has"), by the question's own words, affirmed or denied, or with
another name, number or kind in the place of the question's ("The capital of Finland is Helsinki").
Each denial turns what is said into its contrary, so two of them say yes. Words and phrases are
those of ``judges/data/lexicon.txt`` ([polarity], [opposites]).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import NamedTuple

from sayso.judges.english.families import PLACE, keys
from sayso.judges.english.lexicon import first_of_group, lexicon_rows, lexicon_words
from sayso.judges.english.numbers import MONTHS
from sayso.judges.english.sentences import Span
from sayso.judges.english.tokens import STOP, Token, tokens
from sayso.judges.patterns import regex
from sayso.records import Gold

#: what a question says of its own answer
_TRUE_OR_FALSE = regex(
    r"\b(?:true|yes|right|correct)(?:\s+or\s+|\s?/\s?)(?:false|no|wrong|not|incorrect)\b", re.I
)
_ASKS = regex(r"\W*(?:\w+\s+)?(?:who|whom|whose|what|which|when|where|why|how)\b", re.I)
_SENTENCE = regex(r"(?<=[.!?])\s+|\n")
_STOP = regex(r"[.!?](?=\W|$)|\n")
_PAUSE = regex(r"[,;:()\"*\u2014\u2013\u2026]|\s-\s|[.!?](?=\s)|\n")
_HELPERS = lexicon_words("auxiliaries", "contradiction") | lexicon_words("auxiliaries", "claims")
_BE = lexicon_words("auxiliaries", "matching.copula")
_POINTING = lexicon_words("pronouns", "alignment.subject") - {"i"} | {"that", "this"}
_SMALL = STOP | _HELPERS | _POINTING
_CUTS = lexicon_words("turns", "alignment") | lexicon_words("turns", "decisiveness") | {"because"}
_ROLES = frozenset({"in", "on", "at", "of", "from", "to", "for", "with", "than", "since"})
_BASES = first_of_group("irregular")
_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non")
#: so many stretches of a text are read; phrases have at most so many words
_MOST, _LONGEST = 400, 5


class Polarity(NamedTuple):
    """What a text says and where; ``yes`` is ``None`` for "yes and no".

    ``bare``: in words of yes and no alone; ``pure``: it adds nothing to them and to the question.
    """

    yes: bool | None
    where: Span
    bare: bool = False
    pure: bool = False


class _Asked(NamedTuple):
    """A question of yes or no: all its words, those that tell something, their ``keys``.

    ``denied``: it asks of a denial ("Did he never ..."), ``isnt``: only in form ("Isn't it ...").
    """

    every: list[Token]
    words: list[Token]
    keys: frozenset[str]
    denied: bool
    isnt: bool


@cache
def _effects() -> dict[tuple[str, ...], str]:
    """Return what each phrase does to a stretch."""
    rows = (row.partition(": ") for row in lexicon_rows("polarity"))
    return {tuple(one.split()): effect for effect, _, all_ in rows for one in all_.split(" | ")}


def _is_plain(word: str) -> bool:
    return word in _SMALL or _effects().get((word,)) in ("plain", "turn")


@cache
def _opposites() -> dict[str, list[str]]:
    """Return the opposites of each word that has any."""
    rows = [[side.split() for side in row.split(" / ")] for row in lexicon_rows("opposites")]
    return {word: two for row in rows for one, two in (row, row[::-1]) for word in one}


def _keys(*words: Token) -> frozenset[str]:
    """Return what words are looked up by."""
    known = {key for word in words for key in keys(word.text, word.stem)}
    known.update(_BASES.get(word.text, word.text) for word in words)
    for word in words:
        known.update(
            word.text.removesuffix(end) for end in ("er", "est") if word.text.endswith(end)
        )
    return frozenset(known)


def _named(word: Token) -> bool:
    return word.capital or word.number


def _place(words: list[Token], word: Token) -> tuple[str, str]:
    """Return what may stand in the place of a word: its role, and what kind of name it is."""
    kind = "number" if word.number else "month" if word.text in MONTHS else "name"
    return _role(words, word), kind


def _role(words: list[Token], word: Token) -> str:
    """Return the preposition before a word; "" for none and for "by", behind which one acts."""
    before = [w.text for w in words[: words.index(word)] if w.text not in ("the", "a", "an")]
    return before[-1] if before and before[-1] in _ROLES else ""


@lru_cache(maxsize=1024)
def _asked(question: str) -> _Asked | None:
    """Read a question; ``None`` for one that asks for something else than yes or no."""
    parts = _SENTENCE.split(_TRUE_OR_FALSE.sub(" ", question[-4000:]))
    asking = next((part for part in reversed(parts) if "?" in part), "")
    words = tokens(asking)
    if all(w.text in _SMALL or (w.text,) in _effects() for w in words):  # "... Is this correct?"
        asking = " ".join(parts)
        words = tokens(asking)
    first = words[0].text.removesuffix("nt") if words else ""
    if not words or (first not in _HELPERS and _ASKS.match(asking.rpartition(",")[2])):
        return None
    opens = 1 + (first in _HELPERS)
    apart = ("not", "no", "never", f"{first}nt")
    told = [
        w for w in words if not (_is_plain(w.text) or w.text in apart) or w.text in _opposites()
    ]
    denied = any(w.text in ("not", "never", "no") for w in words[opens:])
    isnt = any(w.text.endswith("nt") or w.text == "not" for w in words[:2])
    return _Asked(words, told, _keys(*told), denied, isnt)


def _stretches(text: str, low: int = 0) -> Iterator[tuple[list[Token], bool]]:
    """Yield the words between pauses from ``low`` on, and whether they begin a sentence.

    "Yes" and "no" before a clause are stretches of their own.
    """
    run: list[Token] = []
    fresh, last = True, low
    for word in (word for word in tokens(text) if word.start >= low):
        gap = text[last : word.start]
        clause = word.capital or word.text in _HELPERS | _POINTING | {"not", "never", "the", "i"}
        before = run[-1].text if run else ""
        led = len(run) == 1 and (
            (before in ("no", "nope") and clause)
            or (before in ("yes", "yeah") and word.text not in ("and", "or", "no"))
        )
        joined = before in ("and", "so") and (clause or word.text == "no") and not word.capital
        listed = gap == ", " and word.capital and len(run) > 1 and run[-1].capital  # "Ulm, Germany"
        if run and (word.text in _CUTS or joined or led or (_PAUSE.search(gap) and not listed)):
            yield run, fresh
            run, fresh = [], _STOP.search(gap) is not None
        run.append(word)
        last = word.end
    if run:
        yield run, fresh


class _Sorted:
    """The words of a stretch: the question's, new ones, and how often they turn what is said."""

    def __init__(self, words: list[Token], asked: _Asked) -> None:
        self.told: list[Token] = []
        self.new: list[Token] = []
        self.found: set[str] = set()
        self.effects: dict[int, str] = {}
        self.flips = at = 0
        while at < len(words):
            size, effect = _effect_at(words, at, asked)
            if effect:
                self.effects[at] = effect
                self.flips += effect in ("no", "not")
            else:
                self._sort(words[at], asked)
            at += size

    def _sort(self, word: Token, asked: _Asked) -> None:
        contrary = {*_opposites().get(word.text, ()), *(p + word.text for p in _PREFIXES)}
        contrary.update(word.text.removeprefix(p) for p in _PREFIXES if word.text.startswith(p))
        same = not asked.keys.isdisjoint(_keys(word))
        if same or not asked.keys.isdisjoint(contrary):
            self.told.append(word)
            self.found |= _keys(word) if same else contrary
            self.flips += not same
        elif word.text not in _SMALL:
            self.new.append(word)


def _effect_at(words: list[Token], at: int, asked: _Asked) -> tuple[int, str]:
    """Return how many words what stands at a place has, and what it does; "" for a plain word."""
    size, effect = 1, ""
    for n in range(_LONGEST, 0, -1):
        phrase = tuple(word.text for word in words[at : at + n])
        if phrase in _effects() and asked.keys.isdisjoint(phrase):
            size, effect = n, _effects()[phrase]
            break
    apart = at > 0 and words[at].text == "not" and words[at - 1].text not in _HELPERS | _POINTING
    if effect == "than" or (effect == "not" and apart):
        rest = next((w for w in words[at + size :] if not _is_plain(w.text)), None)
        if rest is not None and asked.keys.isdisjoint(_keys(rest)):
            return words.index(rest) + 1 - at, "plain"  # "Helsinki, not Oslo"
        effect = "not"
    return size, effect


def _is_swapped(words: list[Token], told: Sequence[Token], asked: _Asked) -> bool:
    """Whether a comparison is said from the other side: "B is larger" to "Is A larger than B?"."""
    than = next((w.start for w in asked.every if w.text == "than"), None)
    if than is None:
        return False
    ends = next((w.start for w in words if w.text == "than"), words[-1].end)
    front = [w for w in asked.words if w.start < than]
    front = front[-1:] if front and _role(asked.every, front[-1]) else front[:-1]
    behind = _keys(*(w for w in asked.words if w.start > than))
    said = _keys(*(w for w in told if w.start < ends))
    return not said.isdisjoint(behind) and any(said.isdisjoint(_keys(w)) for w in front)


def _is_said(word: Token, found: Collection[str], every: list[Token]) -> bool:
    """Whether a word of the question is said, or another one of the name that it is a part of."""
    at = every.index(word)
    named = [word, *every[max(0, at - 1) : at + 2]]
    apart = any(w.text in PLACE for w in named) or not word.capital  # "Was Picasso French?"
    parts = named[:1] if apart else [w for w in named if w.capital and len(w.raw) == len(w.text)]
    return any(not _keys(one).isdisjoint(found) for one in (word, *parts))


def _read(words: list[Token], asked: _Asked, fresh: bool = True) -> Polarity | None:
    """Read a stretch; ``None`` where it says neither yes nor no."""
    kinds = _Sorted(words, asked)
    told, new, effects = kinds.told, kinds.new, set(kinds.effects.values())
    where = Span(words[0].start, words[-1].end)
    if not effects.isdisjoint(("out", "both")):
        return None if "out" in effects else Polarity(None, where)
    flips = kinds.flips + _is_swapped(words, told, asked)
    stated = not effects.isdisjoint(("yes", "no"))
    texts = [word.text for word in words]
    answers_you = texts[0] in ("i", "we", "you") and (texts[-1] in _HELPERS or texts[-1] == "not")
    points = answers_you or not _POINTING.isdisjoint(texts)
    short = any(w.text in _POINTING and len(w.raw) > len(w.text) for w in words)  # "it's"
    helped = short or any(t in _HELPERS or t.endswith("nt") for t in texts)
    if not new:
        acts = any(t in _BASES or t.endswith("ed") for t in texts)
        acts = acts or asked.every[0].text not in _BE
        verb = acts and len(told) + points > 1 and not all(map(_named, told))
        brief = (points or told) and not _HELPERS.isdisjoint(texts[-3:])
        partly = any(w.text == "both" for w in asked.every) and "both" not in texts
        partly = partly and not (points or flips or stated)
        if partly and any(w.capital and kinds.found.isdisjoint(_keys(w)) for w in asked.words):
            return None  # "Ann is." to "Are both Ann and Bo here?"
        if stated or flips or brief or (told and helped) or verb:
            own = bool(told) and not stated and asked.denied
            return Polarity((flips % 2 == 0) != own, where, stated and not told, True)
        return None
    last = kinds.effects.get(len(words) - 1)
    if last in ("yes", "no") and (_is_plain(texts[-2]) or texts[-2] == "not"):
        return Polarity((last == "yes") != (texts[-2] == "not"), where, True)
    if texts[0] == "not" and fresh:  # "Not without a licence."
        return Polarity(False, where, True)
    missing = [word for word in asked.words if not _is_said(word, kinds.found, asked.every)]
    named = {_place(words, word) for word in new if _named(word)}
    instead = [w for w in missing if _named(w) and _place(asked.every, w) in named]
    stands = told or texts[-1] in _HELPERS or (points and "they" not in texts)
    if helped and not flips and stands and instead and all(map(_named, new)):
        return Polarity(False, where)  # "It was Helsinki."
    last_one = missing == asked.every[-1:] and new[-1] == words[-1]
    one_for_one = len(missing) == len(new) == 1 and not (_named(missing[0]) or _named(new[0]))
    if points and missing == asked.words and new == words[-1:]:  # "It's a seed."
        one_for_one = all(run[-2:][0].text in ("a", "an") for run in (words, asked.every))
    if helped and not flips and (last_one or (one_for_one and asked.every[0].text in _BE)):
        return Polarity(False, where)  # "Bats are mammals." to "Are bats birds?"
    others = [word for word in missing if word not in instead]
    replaced = others == asked.words[: len(others)] or all(map(_named, others))
    if not told or (others and not (points and replaced)) or (instead and flips):
        return None
    return Polarity(not instead and (flips % 2 == 0) != asked.denied, where)


@lru_cache(maxsize=4096)
def polarity(question: str, text: str, low: int = 0) -> Polarity | None:
    """Return whether a text says yes or no to a question from ``low`` on; ``None``: neither.

    What is said first counts, unless the text turns or concludes ("So, no."); words of yes and no
    count for more than a statement. "Yes" and "no" in one sentence are neither.
    """
    asked = _asked(question)
    if asked is None:
        return None
    found: Polarity | None = None
    turned = False
    for words, fresh in islice(_stretches(text, low), _MOST):
        turned = (turned and not fresh) or any(
            _effects().get((w.text,)) == "turn" for w in words[:3]
        )
        said = _read(words, asked, fresh)
        if said is None or (found and found.yes == said.yes and found.bare >= said.bare):
            continue
        if said.yes is None:
            return said
        again = asked.isnt or (said.bare and len(words) > 1)  # "No, that is correct."
        if found is None or turned or again or said.bare > found.bare:
            found = said
        elif not fresh and said.pure:
            return said._replace(yes=None)
    return found


def gold_polarity(question: str, golds: Sequence[Gold]) -> bool | None:
    """Return whether yes or no is true, by golds that say nothing else; ``None`` for others."""
    asked = _asked(question)
    if asked is None:
        return None
    bare = asked._replace(keys=frozenset())
    says: set[bool | None] = set()
    for name in (name for gold in golds for name in gold.names):
        runs = [words for words, _ in _stretches(name)]
        said = _read(runs[0], bare) if len(runs) == 1 else None
        says.add(said.yes if said and said.bare and said.pure else None)
    return says.pop() if len(says) == 1 else None


def is_only_polarity(question: str, text: str) -> bool:
    """Tell whether a text says yes or no and nothing besides: "No, it isn't."."""
    asked = _asked(question)
    said = [_read(words, asked, new) for words, new in _stretches(text)] if asked else []
    return bool(said) and all(one is not None and one.pure for one in said)

"""Whether an answer to a question of yes or no says yes, no, or neither.

A text is read in stretches. One says yes or no by its words ("Of course not", "That is correct"),
by a short form ("It isn't", "He has"), by the question's own words, affirmed or denied, or with
another name, number or kind in the place of the question's ("The capital of Finland is Helsinki").
Each denial turns what is said into its contrary, so two of them say yes. Words and phrases are
those of ``judges/data/lexicon.txt`` ([polarity], [opposites]).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import NamedTuple

from sayso.judges.english.families import keys
from sayso.judges.english.lexicon import first_of_group, lexicon_rows, lexicon_words, written_out
from sayso.judges.english.sentences import Span
from sayso.judges.english.tokens import STOP, Token, tokens
from sayso.judges.patterns import regex
from sayso.records import Gold

#: what a question says of its own answer
_TRUE_OR_FALSE = regex(
    r"\b(?:true|yes|right|correct)(?:\s+or\s+|\s?/\s?)(?:false|no|wrong|not|incorrect)\b|\b(?:or|if)\s+not\b",
    re.I,
)
_ASKS = regex(r"\W*(?:\w+\s+)?(?:who|whom|whose|what|which|when|where|why|how)\b", re.I)
_SENTENCE = regex(r"(?<=[.!?])\s+|\n")
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
    """What a text says and where.

    ``bare``: in no word of the question; ``pure``: it adds nothing to the question.
    """

    yes: bool
    where: Span
    bare: bool = False
    pure: bool = False


class _Asked(NamedTuple):
    """A question of yes or no: all its words, those that tell something, their ``keys``.

    ``names`` of several words, or in capitals, by their initials; ``denied``: it asks of a denial
    ("Did he never ...").
    """

    every: list[Token]
    words: list[Token]
    keys: frozenset[str]
    names: dict[str, list[Token]]
    denied: bool


@cache
def _effects() -> dict[tuple[str, ...], str]:
    """Return what each phrase does to a stretch."""
    rows = (row.partition(": ") for row in lexicon_rows("polarity"))
    return {tuple(one.split()): effect for effect, _, all_ in rows for one in all_.split(" | ")}


@cache
def _opposites() -> dict[str, list[str]]:
    """Return the opposites of each word that has any."""
    rows = [[side.split() for side in row.split(" / ")] for row in lexicon_rows("opposites")]
    return {word: two for row in rows for one, two in (row, row[::-1]) for word in one}


def _keys(*words: Token) -> frozenset[str]:
    """Return what words are looked up by."""
    known = {key for word in words for key in keys(word.text, word.stem)}
    for text in [word.text for word in words]:
        known |= {_BASES.get(text, text), text.removesuffix("er"), text.removesuffix("est")}
    return frozenset(known)


def _written_out(word: Token) -> tuple[str, ...]:
    """Return "they're" as "they", "are", and another word as it is compared."""
    parts = written_out(word.raw.casefold()) if len(word.raw) > len(word.text) else ()
    return parts if len(parts) > 1 else (word.text,)


def _named(word: Token) -> bool:
    return word.capital or word.number


def _role(words: list[Token], word: Token) -> str:
    """Return the preposition of a word; none and "by", behind which one acts, are the same."""
    before = [w.text for w in words[: words.index(word)] if w.text not in ("the", "a", "an")]
    return before[-1] if before and before[-1] in _ROLES else ""


def _names(words: list[Token]) -> dict[str, list[Token]]:
    """Return the names of several words ("European Union") and in capitals, by their initials."""
    runs: list[list[Token]] = []
    for word in (word for word in words if word.capital and word.text not in _SMALL):
        if runs and word.start - runs[-1][-1].end == 1:
            runs[-1].append(word)
        else:
            runs.append([word])
    return {
        run[0].text if len(run) == 1 else "".join(word.text[0] for word in run): run
        for run in runs
        if len(run) > 1 or run[0].raw.isupper()
    }


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
    apart = ("not", "no", "never", f"{first}nt")
    told = [
        w
        for w in words
        if not (w.text in _SMALL or w.text in apart or _effects().get((w.text,)) == "plain")
        or w.text in _opposites()
    ]
    denied = any(w.text in ("not", "never", "no") for w in words[1 + (first in _HELPERS) :])
    return _Asked(words, told, _keys(*told), _names(told), denied)


def _stretches(text: str, low: int = 0) -> Iterator[list[Token]]:
    """Yield the words between pauses from ``low`` on; "yes" and "no" before a clause are apart."""
    run: list[Token] = []
    for word in (word for word in tokens(text) if word.start >= low):
        gap = text[run[-1].end : word.start] if run else ""
        clause = word.capital or word.text in _HELPERS | _POINTING | {"not", "never", "the", "i"}
        led = len(run) == 1 and (
            (run[0].text in ("no", "nope") and clause)
            or (run[0].text in ("yes", "yeah") and word.text not in ("and", "or", "no"))
        )
        if run and (word.text in _CUTS or led or _PAUSE.search(gap)):
            yield run
            run = []
        run.append(word)
    if run:
        yield run


class _Sorted:
    """The words of a stretch: the question's, new ones, and how often they turn what is said.

    ``points``: a pronoun stands for words of the question; ``helped``: it has an auxiliary.
    """

    def __init__(self, words: list[Token], asked: _Asked) -> None:
        self.told: list[Token] = []
        self.new: list[Token] = []
        self.found: set[str] = set()
        self.effects: dict[int, str] = {}
        texts = {text for word in words for text in _written_out(word)}
        self.points = not texts.isdisjoint(_POINTING)
        self.helped = not texts.isdisjoint(_HELPERS)
        short = _names(words)
        same = {w: asked.names[n] for n in short.keys() & asked.names.keys() for w in short[n]}
        counted = any(word.number for word in asked.every)
        self.flips = at = 0
        while at < len(words):
            word = words[at]
            size, effect = _effect_at(words, at, asked)
            if word in same:
                self.told.append(word)
                self.found |= _keys(*same[word])
            elif effect:
                self.flips += effect in ("no", "not")
                self.effects[at] = effect
            elif word.raw.lower() == "one" and not counted:
                self.points = True  # "You need one."
                self.found |= asked.keys if not self.new else set()
            else:
                self._sort(word, asked)
            at += size

    def _sort(self, word: Token, asked: _Asked) -> None:
        prefixes = _PREFIXES if word.text not in _SMALL else ()  # "it" is not "un-it-ed"
        contrary = {*_opposites().get(word.text, ()), *(p + word.text for p in prefixes)}
        contrary.update(word.text.removeprefix(p) for p in prefixes if word.text.startswith(p))
        same = not asked.keys.isdisjoint(_keys(word))
        if same or not asked.keys.isdisjoint(contrary):
            self.told.append(word)
            self.found |= _keys(word) if same else contrary
            self.flips += not same
        elif not _SMALL.issuperset(_written_out(word)):
            self.new.append(word)

    def missing(self, asked: _Asked) -> list[Token]:
        """Return the question's words that are not said."""
        return [word for word in asked.words if self.found.isdisjoint(_keys(word))]


def _effect_at(words: list[Token], at: int, asked: _Asked) -> tuple[int, str]:
    """Return how many words what stands at a place has, and what it does; "" for a plain word."""
    for size in range(_LONGEST, 0, -1):
        phrase = tuple(word.text for word in words[at : at + size])
        effect = _effects().get(phrase, "") if asked.keys.isdisjoint(phrase) else ""
        if effect:
            return len(phrase), effect
    return 1, ""


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


def _read(words: list[Token], asked: _Asked) -> Polarity | None:
    """Read a stretch; ``None``: it says neither yes nor no."""
    kinds = _Sorted(words, asked)
    told, new, points, missing = kinds.told, kinds.new, kinds.points, kinds.missing(asked)
    where, effects = Span(words[0].start, words[-1].end), kinds.effects.values()
    if "out" in effects:
        return None
    flips = kinds.flips + _is_swapped(words, told, asked)
    stated = "yes" in effects or "no" in effects
    if not new:
        if not (stated or flips or _is_statement(words, kinds, asked)):
            return None
        own = bool(told) and not stated and asked.denied
        return Polarity((flips % 2 == 0) != own, where, not told, True)
    roles = {_role(words, word) for word in new if _named(word)}
    instead = [w for w in missing if _named(w) and _role(asked.every, w) in roles]
    other_name = instead and all(map(_named, new))  # "It was Helsinki."
    other_kind = missing in (asked.words[:1], asked.every[-1:])  # "Bats are mammals."
    if kinds.helped and not flips and (other_name or (other_kind and new[-1] == words[-1])):
        return Polarity(False, where)
    left = [w for w in missing if w not in instead]
    understood = points and all(map(_named, left))
    denied = flips and len(new) == 1 and not any(map(_named, left))  # "It is no EU country."
    if not kinds.found or (left and not (understood or denied)) or (instead and flips):
        return None
    return Polarity(not instead and (flips % 2 == 0) != asked.denied, where)


def _is_statement(words: list[Token], kinds: _Sorted, asked: _Asked) -> bool:
    """Tell whether words that add nothing to the question's say it or stand for it: "He has."."""
    if words[-1].text in _HELPERS or (kinds.told and kinds.helped):
        return True
    acts = asked.every[0].text not in _BE
    return acts and len(kinds.told) + kinds.points > 1 and not all(map(_named, kinds.told))


@lru_cache(maxsize=4096)
def polarity(question: str, text: str, low: int = 0) -> Polarity | None:
    """Return whether a text says yes or no to a question from ``low`` on; ``None``: neither.

    What is said first counts; words of yes and no count for more than a statement, and of two of
    them side by side the second: "No, it is.".
    """
    asked = _asked(question)
    if asked is None:
        return None
    found: Polarity | None = None
    for words in islice(_stretches(text, low), _MOST):
        said = _read(words, asked)
        if said is None or (found and found.yes == said.yes and found.bare >= said.bare):
            continue
        beside = said.bare and found and said.where.start <= found.where.end + 2
        if found is None or said.bare > found.bare or beside:
            found = said
    return found


def gold_polarity(question: str, golds: Sequence[Gold]) -> bool | None:
    """Return whether golds that say nothing else say yes or no ("Yes, it is."), or ``None``."""
    names = (name for gold in golds for name in gold.names)
    opened = (tokens(name)[: 1 if is_only_polarity(question, name) else None] for name in names)
    says = {_effects().get(tuple(word.text for word in words)) for words in opened}
    if says not in ({"yes"}, {"no"}) or _asked(question) is None:
        return None
    return says == {"yes"}


def is_only_polarity(question: str, text: str) -> bool:
    """Tell whether a text says yes or no and nothing besides: "No, it isn't."."""
    asked = _asked(question)
    said = [_read(words, asked) for words in _stretches(text)] if asked else []
    return bool(said) and all(one is not None and one.pure for one in said)

"""Do passages support a claim? Offline, by words, names, dates and amounts.

A claim is supported where one sentence of a passage (with the passage's title) holds what it says:
its dates and amounts agree, its names stand there, and so does most of what else it says; or where
a line of facts ("place of birth of X: Y") has its value. All else that was looked up is not
supported: the rules never call a claim irrelevant. A claim for which nothing was found is neither:
its problem is ``unretrieved``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from sayso.annotate.amounts import same_amount
from sayso.annotate.dates import Date, agree, find_dates
from sayso.annotate.language import is_english
from sayso.annotate.normalize import STOP, stem, tokens
from sayso.annotate.quantities import Quantity, find_quantities
from sayso.annotate.sentences import sentences
from sayso.annotate.support_lives import lives
from sayso.annotate.support_words import DISTINCT, FILLERS, RELATED
from sayso.records import Passage

#: Share of the weight of a claim's words that a sentence must hold: with dates, amounts and names
#: all found, and without any.
WITH_VALUES, WITHOUT = 0.6, 0.75
#: Weight of a name's words beside other words.
NAME = 2.0
#: Characters of a passage that are read.
LONGEST = 8_000
#: a line of a table of facts, as sources of gold answers are written
_FACT = re.compile(r"^(?P<label>[^:]{1,80}?):\s+(?P<values>\S.{0,300}?)\.?$")
_NEGATED = re.compile(r"\b(?:not|never|no longer|without|nor|neither)\b|n't\b", re.IGNORECASE)


class Supported(NamedTuple):
    """S, NS or IR with the passages that say so; ``None`` with the ``problem``: unretrieved,
    unread, mismatch, refused, truncated, failed, language."""

    label: str | None
    evidence: tuple[str, ...] = ()
    problem: str | None = None


class Said(NamedTuple):
    """What a text says: stems with their weights, dates, amounts, and whether it negates."""

    words: dict[str, float]
    names: frozenset[str]
    dates: tuple[Date, ...]
    amounts: tuple[Quantity, ...]
    negated: bool


def _meant(word: str) -> str:
    """Return the stem under which related words meet: born and birth, wife and spouse."""
    return RELATED.get(word, word)


@lru_cache(maxsize=65536)
def said(text: str) -> Said:
    """Take a text apart for comparison."""
    dates = find_dates(text)
    spans = [(d.start, d.end) for d in dates]
    amounts = tuple(q for q in find_quantities(text) if not _inside(q.start, spans))
    spans += [(q.start, q.end) for q in amounts]
    words: dict[str, float] = {}
    names = set()
    for number, t in enumerate(tokens(text)):
        if t.text in STOP or _inside(t.start, spans) or t.stem in FILLERS:
            continue
        name = (t.capital and number > 0) or t.number
        meant = _meant(t.stem)
        words[meant] = max(words.get(meant, 0.0), NAME if name else 1.0)
        if name:
            names.add(meant)
    return Said(words, frozenset(names), dates, amounts, bool(_NEGATED.search(text)))


def _inside(place: int, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)


@lru_cache(maxsize=16384)
def _lines(text: str) -> tuple[Said, ...]:
    """Return what each sentence of a passage says."""
    cut = text[:LONGEST]
    return tuple(said(cut[s.start : s.end]) for s in sentences(cut))


@lru_cache(maxsize=16384)
def _pairs(text: str) -> tuple[tuple[Said, Said, Said], ...]:
    """Return every two sentences in a row: together, and each of them."""
    cut = text[:LONGEST]
    found = [cut[s.start : s.end] for s in sentences(cut)]
    return tuple((said(f"{a} {b}"), said(a), said(b)) for a, b in itertools.pairwise(found))


def _apart(claim: Said, topic: frozenset[str], halves: tuple[Said, Said]) -> bool:
    """Whether a claim's date or amount stands in a sentence that has no other word of the claim.

    "She won the prize in 1990. It was sold in 1995." does not say that she won it in 1995.
    """
    wanted = frozenset(claim.words) - topic
    if not wanted:
        return False
    return any(
        all(not (wanted & frozenset(half.words)) for half in there)
        for there in (
            *([h for h in halves if any(agree(x, d) for x in h.dates)] for d in claim.dates),
            *([h for h in halves if any(same_amount(x, q) for x in h.amounts)]
              for q in claim.amounts),
        )
    )  # fmt: skip


def holds(claim: Said, topic: frozenset[str], line: Said) -> float | None:
    """Return the share of the claim's words that a sentence holds; ``None`` if a value differs.

    Words of the topic are given: passages are looked up by it, and speak of it as "he".
    """
    if not all(any(agree(there, d) for there in line.dates) for d in claim.dates):
        return None
    if not all(any(same_amount(there, q) for there in line.amounts) for q in claim.amounts):
        return None
    if claim.negated != line.negated and not claim.dates and not claim.amounts:
        return None
    told, there = (DISTINCT & words.keys() for words in (claim.words, line.words))
    if told and there and not told & there:  # "died in Ripley" beside "born in Ripley"
        return None
    wanted = {word: weight for word, weight in claim.words.items() if word not in topic}
    total = sum(wanted.values())
    if not total:
        return 1.0 if claim.dates or claim.amounts else 0.0
    if not all(name in line.words for name in claim.names - topic):
        return None
    return sum(weight for word, weight in wanted.items() if word in line.words) / total


class RulesSupport:
    """The offline checker."""

    signature = "support-rules@4"

    def read(
        self, items: Sequence[tuple[str, str, tuple[Passage, ...]]], *, apart: bool = False
    ) -> list[Supported]:
        """Return a label for each (topic, claim, passages); equal ones are read once.

        Every claim is held against its own passages anyway, which is what ``apart`` asks for.
        """
        known = {item: _read(*item) for item in dict.fromkeys(items)}
        return [known[item] for item in items]


def _lived(text: str, topic: frozenset[str]) -> list[Said]:
    """Return when the topic was born and died, where a passage opens with it in brackets."""
    own = [life for life in lives(text) if {_meant(word) for word in life.name} & topic]
    return [said(line) for life in own for line in life.told]


class _Fact(NamedTuple):
    """One line of a table of facts, "place of birth of X: Y": stems of its label, its values."""

    label: frozenset[str]
    values: tuple[Said, ...]


@lru_cache(maxsize=16384)
def _facts(text: str) -> tuple[_Fact, ...]:
    """Return the lines of a passage that are a label, a colon and a value."""
    found = []
    for line in text[:LONGEST].splitlines():
        hit = _FACT.match(line)
        if hit is not None:
            label = frozenset(said(hit["label"]).words)
            values = [v.strip() for v in hit["values"].split(";") if v.strip()]
            # 2180 may be a year or a distance: it is read as both
            numbers = [f"{v} units" for v in values if v.replace(",", "").isdigit()]
            read = tuple(said(f"is {v}") for v in values)
            found.append(_Fact(label, (*read, *map(_amount, numbers))))
    return tuple(found)


def _amount(text: str) -> Said:
    return Said({}, frozenset(), (), find_quantities(text), False)


def _stated(claim: Said, topic: frozenset[str], facts: Sequence[_Fact]) -> bool:
    """Whether a claim names a value of a fact, and nothing that it says points to another fact."""
    for fact in facts:
        for value in fact.values:
            if not _same_value(claim, topic, value):
                continue
            rest = frozenset(claim.words) - topic - frozenset(value.words)
            if rest & fact.label:
                return True
            # "died in Ripley" is no "place of birth: Ripley": it names another relation
            if not rest & DISTINCT and not any(rest & other.label for other in facts):
                return True
    return False


def _same_value(claim: Said, topic: frozenset[str], value: Said) -> bool:
    """Whether all that a value says stands in a claim, and all values of the claim in it."""
    if not (value.words or value.dates or value.amounts) or claim.negated:
        return False
    return (
        all(word in claim.words for word in value.words)
        and claim.names - topic <= frozenset(value.words)
        and all(any(agree(v, d) for d in claim.dates) for v in value.dates)
        and all(any(agree(v, d) for v in value.dates) for d in claim.dates)
        and all(any(same_amount(v, q) for q in claim.amounts) for v in value.amounts)
        and all(any(same_amount(v, q) for v in value.amounts) for q in claim.amounts)
    )


def _read(topic: str, claim: str, passages: tuple[Passage, ...]) -> Supported:
    if not passages:
        return Supported(None, (), "unretrieved")
    if not tokens(claim):
        return Supported(None, (), "unread")
    if not is_english(claim):
        return Supported(None, (), "language")
    wanted = said(claim)
    given = frozenset(_meant(t.stem) for t in tokens(topic))
    values = bool(wanted.dates or wanted.amounts or wanted.names - given)
    least = WITH_VALUES if values else WITHOUT
    for passage in passages:
        own = given | {_meant(stem(t.text)) for t in tokens(passage.title)}
        if (
            _stated(wanted, own, _facts(passage.text))
            or any((holds(wanted, own, line) or 0.0) >= least for line in _lived(passage.text, own))
            or any((holds(wanted, own, line) or 0.0) >= least for line in _lines(passage.text))
            or any(
                (holds(wanted, own, both) or 0.0) >= least and not _apart(wanted, own, (a, b))
                for both, a, b in _pairs(passage.text)
            )
        ):
            return Supported("S", (passage.id,))
    return Supported("NS", tuple(p.id for p in passages))

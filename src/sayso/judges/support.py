"""Do passages support a claim? By words and values offline, by a language model or an NLI model.

Offline a claim is supported where one sentence of a passage (with the passage's title) holds what
it says: its dates and amounts agree, its names occur there, and so does most of what else it says;
or where a line of facts ("place of birth of X: Y") has its value; or the brackets after the name
that opens a passage ("Mira Toll (4 May 1901 – 2 June 1970) was a poet"), whose dates stand there
without a word for birth or death. All else that was looked up is not supported: the rules never
call a claim irrelevant. A claim for which nothing was retrieved is neither: its problem is
``unretrieved``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from sayso.judges.english.dates import Date, agree, find_dates
from sayso.judges.english.language import is_english
from sayso.judges.english.lexicon import alternatives, lexicon_rows, lexicon_words
from sayso.judges.english.quantities import WrittenQuantity, find_quantities, same_amount
from sayso.judges.english.sentences import split_sentences
from sayso.judges.english.tokens import STOP, tokens, uninflected
from sayso.judges.meaning import Meaning
from sayso.judges.model.numbered import JudgeTask, NumberedReader, TextBlock, TextOutcome
from sayso.judges.patterns import regex
from sayso.prompts.fence import Field
from sayso.records import Passage

#: Topic, claim, passages.
Item = tuple[str, str, tuple[Passage, ...]]


class Supported(NamedTuple):
    """S, NS or IR with the passages that say so; ``None`` with the ``problem``: unretrieved,
    unread, mismatch, refused, truncated, failed, language, budget."""

    label: str | None
    evidence: tuple[str, ...] = ()
    problem: str | None = None


# ---- when somebody lived

#: characters of a passage within which its first sentence names its subject
OPENING = 600
_BRACKETS = regex(r"\(([^()]{4,250})\)")
_DASH = regex(r"\s[-–—]\s|[–—]|(?<=\d)-(?=\d{4})")
_BORN = regex(r"\b(?:born|b\.)\s+(?:on\s+|in\s+)?(.+)", re.I | re.S)
_DIED = regex(r"\b(?:died|d\.)\s+(?:on\s+|in\s+)?(.+)", re.I | re.S)


class Life(NamedTuple):
    """Stems of the name before the brackets, and what they say: "born 4 May 1901", "died …"."""

    name: frozenset[str]
    dates: tuple[str, ...]


@lru_cache(maxsize=16384)
def lives(text: str) -> tuple[Life, ...]:
    """Return the lives that the brackets of a passage's first sentence state."""
    opening = text[:OPENING]
    first = next(iter(split_sentences(opening)), None)
    if first is None:
        return ()
    sentence = opening[first.start : first.end]
    all_lives = []
    for hit in _BRACKETS.finditer(sentence):
        dates = _birth_and_death(hit[1])
        if dates:
            before = tokens(_BRACKETS.sub(" ", sentence[: hit.start()]))
            all_lives.append(Life(frozenset(t.stem for t in before if t.text not in STOP), dates))
    return tuple(all_lives)


def _birth_and_death(inside: str) -> tuple[str, ...]:
    born, died = _BORN.search(inside), _DIED.search(inside)
    if born or died:
        ends = [(word, _points(hit[1])) for word, hit in (("born", born), ("died", died)) if hit]
        return tuple(f"{word} {dates[0]}" for word, dates in ends if dates)
    halves = [_points(half) for half in _DASH.split(inside)]
    if len(halves) != 2 or not all(halves):
        return ()
    return (f"born {halves[0][-1]}", f"died {halves[1][0]}")


def _points(text: str) -> list[str]:
    """Return the dates of a text that have a year, as they are written."""
    dates = (d for d in find_dates(text) if d.year is not None and d.kind == "point")
    return [text[d.start : d.end] for d in dates]


# ---- words that mean the same relation, and words that add nothing to a claim


def _stems(words: str) -> list[str]:
    return [t.stem for t in tokens(words)]


#: stem -> the stem of its group
RELATED: dict[str, str] = {}
for _row in lexicon_rows("relations"):
    _words = _stems(_row)
    for _word in _words:
        RELATED.setdefault(_word, _words[0])
#: relations that have values of one kind (dates, places, people) and never mean one another
DISTINCT = frozenset(RELATED[word] for word in _stems("born died married educated parents"))
(_filling,) = lexicon_rows("fillers")
FILLERS = frozenset(word for word in _stems(_filling) if word not in RELATED)


# ---- by rules

#: Share of the weight of a claim's words that a sentence must hold: with dates, amounts and names
#: all found, and without any.
WITH_VALUES, WITHOUT = 0.6, 0.75
#: Weight of a name's words beside other words.
NAME = 2.0
#: Characters of a passage that are read.
LONGEST = 8_000
#: characters beyond which a claim is none, and is not read
LONGEST_CLAIM = 4_000
#: a line of a table of facts, as sources of gold answers are written
_FACT = regex(r"^(?P<label>[^:]{1,80}?):\s+(?P<values>\S.{0,300}?)\.?$")
_NEGATED = regex(
    rf"\b(?:{alternatives(lexicon_words('negations', 'support'))}|no longer)\b|n't\b", re.IGNORECASE
)


class RulesSupport:
    """The offline checker."""

    signature = "support-rules@6"

    def read(self, items: Sequence[Item], *, apart: bool = False) -> list[Supported]:
        """Return a label for each (topic, claim, passages); equal ones are read once.

        Every claim is compared with its own passages only, whatever ``apart`` says.
        """
        known = {item: _read(*item) for item in dict.fromkeys(items)}
        return [known[item] for item in items]


def _read(topic: str, claim: str, passages: tuple[Passage, ...]) -> Supported:
    if not passages:
        return Supported(None, (), "unretrieved")
    if len(claim) > LONGEST_CLAIM:
        return Supported(None, (), "budget")
    if not tokens(claim):
        return Supported(None, (), "unread")
    if not is_english(claim):
        return Supported(None, (), "language")
    wanted = text_statement(claim)
    given = frozenset(_meant(t.stem) for t in tokens(topic))
    values = bool(wanted.dates or wanted.amounts or wanted.names - given)
    least = WITH_VALUES if values else WITHOUT
    for passage in passages:
        own = given | {_meant(uninflected(t.text)) for t in tokens(passage.title)}
        if (
            _stated(wanted, own, _facts(passage.text))
            or any((holds(wanted, own, line) or 0.0) >= least for line in _lived(passage.text, own))
            or any((holds(wanted, own, line) or 0.0) >= least for line in _lines(passage.text))
            or any(
                (holds(wanted, own, both) or 0.0) >= least and not _apart(wanted, own, (a, b))
                for both, a, b in (*_pairs(passage.text), *_life_pairs(passage.text, own))
            )
        ):
            return Supported("S", (passage.id,))
    return Supported("NS", tuple(p.id for p in passages))


class TextStatement(NamedTuple):
    """What a text states: stems with their weights, dates, amounts, and whether it negates."""

    words: dict[str, float]
    names: frozenset[str]
    dates: tuple[Date, ...]
    amounts: tuple[WrittenQuantity, ...]
    negated: bool


def _meant(word: str) -> str:
    """Return the stem under which related words meet: born and birth, wife and spouse."""
    return RELATED.get(word, word)


@lru_cache(maxsize=65536)
def text_statement(text: str) -> TextStatement:
    """Take a text apart for comparison."""
    dates = find_dates(text)
    taken = {place for d in dates for place in range(d.start, d.end)}
    amounts = tuple(q for q in find_quantities(text) if q.start not in taken)
    taken.update(place for q in amounts for place in range(q.start, q.end))
    words: dict[str, float] = {}
    names = set()
    for number, t in enumerate(tokens(text)):
        if t.text in STOP or t.start in taken or t.stem in FILLERS:
            continue
        name = (t.capital and number > 0) or t.number
        meant = _meant(t.stem)
        words[meant] = max(words.get(meant, 0.0), NAME if name else 1.0)
        if name:
            names.add(meant)
    return TextStatement(words, frozenset(names), dates, amounts, bool(_NEGATED.search(text)))


@lru_cache(maxsize=16384)
def _lines(text: str) -> tuple[TextStatement, ...]:
    """Return what each sentence of a passage says."""
    cut = text[:LONGEST]
    return tuple(text_statement(cut[s.start : s.end]) for s in split_sentences(cut))


@lru_cache(maxsize=16384)
def _pairs(text: str) -> tuple[tuple[TextStatement, TextStatement, TextStatement], ...]:
    """Return every two sentences in a row: together, and each of them."""
    cut = text[:LONGEST]
    texts = [cut[s.start : s.end] for s in split_sentences(cut)]
    return tuple(
        (text_statement(f"{a} {b}"), text_statement(a), text_statement(b))
        for a, b in itertools.pairwise(texts)
    )


def _apart(
    claim: TextStatement, topic: frozenset[str], halves: tuple[TextStatement, TextStatement]
) -> bool:
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


def holds(claim: TextStatement, topic: frozenset[str], line: TextStatement) -> float | None:
    """Return the share of the claim's words that a sentence holds; ``None`` if a value differs.

    Words of the topic are given: passages are looked up by it, and speak of it as "he".
    """
    if not all(any(agree(there, d) for there in line.dates) for d in claim.dates):
        return None
    if not all(any(same_amount(there, q) for there in line.amounts) for q in claim.amounts):
        return None
    if claim.negated != line.negated and not claim.dates and not claim.amounts:
        return None
    claimed, there = (DISTINCT & words.keys() for words in (claim.words, line.words))
    if claimed and there and not claimed & there:  # "died in Ripley" beside "born in Ripley"
        return None
    wanted = {word: weight for word, weight in claim.words.items() if word not in topic}
    total = sum(wanted.values())
    if not total:
        return 1.0 if claim.dates or claim.amounts else 0.0
    if not all(name in line.words for name in claim.names - topic):
        return None
    return sum(weight for word, weight in wanted.items() if word in line.words) / total


def _lived(text: str, topic: frozenset[str]) -> list[TextStatement]:
    """Return when the topic was born and died, where a passage opens with it in brackets."""
    own = [life for life in lives(text) if {_meant(word) for word in life.name} & topic]
    return [text_statement(line) for life in own for line in life.dates]


def _life_pairs(
    text: str, topic: frozenset[str]
) -> list[tuple[TextStatement, TextStatement, TextStatement]]:
    """Return each of these dates with each sentence that tells of the same birth or death.

    "Mira Toll (4 May 1901 – 2 June 1970) was a poet. … She was born in Orm." says when and where.
    The three are both together, and each of them.
    """
    pairs = []
    for date, line in itertools.product(_lived(text, topic), _lines(text)):
        if date.words.keys() & line.words.keys():
            both = TextStatement(
                date.words | line.words,
                date.names | line.names,
                (*date.dates, *line.dates),
                (*date.amounts, *line.amounts),
                date.negated or line.negated,
            )
            pairs.append((both, date, line))
    return pairs


class _TableFact(NamedTuple):
    """One line of a table of facts, "place of birth of X: Y": stems of its label, its values."""

    label: frozenset[str]
    values: tuple[TextStatement, ...]


@lru_cache(maxsize=16384)
def _facts(text: str) -> tuple[_TableFact, ...]:
    """Return the lines of a passage that are a label, a colon and a value."""
    facts = []
    for line in text[:LONGEST].splitlines():
        hit = _FACT.match(line)
        if hit is not None:
            label = frozenset(text_statement(hit["label"]).words)
            values = [v.strip() for v in hit["values"].split(";") if v.strip()]
            # 2180 may be a year or a distance: it is read as both
            read = [text_statement(f"is {v}") for v in values]
            for number in (v for v in values if v.replace(",", "").isdigit()):
                amounts = find_quantities(f"{number} units")
                read.append(TextStatement({}, frozenset(), (), amounts, False))
            facts.append(_TableFact(label, tuple(read)))
    return tuple(facts)


def _stated(claim: TextStatement, topic: frozenset[str], facts: Sequence[_TableFact]) -> bool:
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


def _same_value(claim: TextStatement, topic: frozenset[str], value: TextStatement) -> bool:
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


# ---- by a language model

#: what a reply of one word cites: all the passages that it was shown
EVERY = "every"
LABELS = {"supported": "S", "not supported": "NS", "irrelevant": "IR"}
#: claims in one call, and passages together
MOST_CLAIMS = 12
MOST_PASSAGES = 20
#: characters of one passage
LONGEST_FOR_MODEL = 4_000
_NAME = regex(r"\bp[1-9]\d{0,3}\b")


def read_verdict(entry: dict[str, Any]) -> list[str] | None:
    """Return [label, passage's name] of an entry; ``None`` for another verdict.

    "supported" that names no passage is none: what supports a claim can be pointed at.
    """
    verdict, cited = entry.get("verdict"), entry.get("passage", "")
    if not isinstance(verdict, str) or not isinstance(cited, str | None):
        return None
    label = LABELS.get(" ".join(verdict.casefold().replace("_", " ").split()).rstrip("."))
    if label != "S":
        return None if label is None else [label, ""]
    named = _NAME.search((cited or "").casefold())
    return None if named is None else [label, named.group()]


class LlmSupport(NumberedReader):
    """A language model as checker. The prompt is ours.

    FActScore (Min et al. 2023, section 3) asks once for each claim, with five passages each time.
    Here claims of one topic share a call with the union of their passages, so that a passage is
    read once for several claims; the reply cites it by name.
    """

    task = JudgeTask(
        "support", "support_reply", "claim", 48, read_verdict,
        own=lambda _, word: [LABELS[word], EVERY], about="topic",
    )  # fmt: skip
    subject = "support of claims"

    def read(self, items: Sequence[Item], *, apart: bool = False) -> list[Supported]:
        """Return a label for each (topic, claim, passages); equal ones are asked once.

        ``apart``: no claim is shown another's passages, as where each passage is a draw.
        """
        labels = {item: Supported(None, (), "unretrieved") for item in items if not item[2]}
        blocks, members = [], []
        for topic, group in _groups([i for i in dict.fromkeys(items) if i[2]], apart):
            passages = {p.id: p for _, _, some in group for p in some}
            names = {f"p{n}": p for n, p in enumerate(passages.values(), 1)}
            head = tuple(
                Field(f"passage {name}", f"{p.title}\n{p.text[:LONGEST_FOR_MODEL]}")
                for name, p in names.items()
            )
            blocks.append(TextBlock(topic, head, tuple(dict.fromkeys(c for _, c, _ in group))))
            members.append((group, names))
        replies = self.ask(blocks)
        for (group, names), outcomes in zip(members, replies, strict=True):
            for item in group:
                labels[item] = _supported(item, outcomes[item[1]], names)
        return [labels[item] for item in items]


def _groups(items: Sequence[Item], apart: bool) -> list[tuple[str, list[Item]]]:
    """Put claims of one topic together, up to the most claims and passages of a call."""
    groups: list[tuple[str, list[Item]]] = []
    last: dict[tuple[str, tuple[Passage, ...]], tuple[list[Item], set[str], set[str]]] = {}
    for item in items:
        topic, claim, passages = item
        own = {p.id for p in passages}
        key = (topic, passages if apart else ())
        group = last.get(key)
        if (
            group is None
            or len(group[1]) >= MOST_CLAIMS
            or claim in group[1]
            or len(group[2] | own) > MOST_PASSAGES
        ):
            group = ([], set(), set())
            last[key] = group
            groups.append((topic, group[0]))
        group[0].append(item)
        group[1].add(claim)
        group[2].update(own)
    return groups


def _supported(item: Item, outcome: TextOutcome, names: dict[str, Passage]) -> Supported:
    if outcome.problem is not None:
        return Supported(None, tuple(p.id for p in item[2]), outcome.problem)
    label, cited = outcome.value
    if label == "S" and cited != EVERY:
        passage = names.get(cited)
        if passage is None:  # it cites what it was not shown
            return Supported(None, tuple(p.id for p in item[2]), "mismatch")
        return Supported("S", (passage.id,))
    return Supported(label, tuple(p.id for p in item[2]))


# ---- by a model for natural-language inference

#: characters of a passage that fit a classifier
LONGEST_FOR_NLI = 2_000
ENTAILS = 0.5


class NliSupport:
    """A classifier as checker: the passage is the premise, the claim the hypothesis.

    A claim is supported where the likeliest relation to one of its passages is entailment, as in
    the NLI variants of SAFE and FActScore. Equal pairs are asked once.
    """

    def __init__(self, meaning: Meaning) -> None:
        self._meaning = meaning
        self.signature = f"support-{meaning.signature}"

    def read(self, items: Sequence[Item], *, apart: bool = False) -> list[Supported]:
        """Return a label for each (topic, claim, passages), each by its own (``apart``)."""
        pairs = list(
            dict.fromkeys(
                ("", f"{p.title}: {p.text[:LONGEST_FOR_NLI]}", claim)
                for _, claim, passages in items
                for p in passages
            )
        )
        table = self._meaning.table(pairs) if pairs else np.empty((0, 2))
        entails = {pair: float(row[0]) for pair, row in zip(pairs, table, strict=True)}
        return [self._one(claim, passages, entails) for _, claim, passages in items]

    @staticmethod
    def _one(
        claim: str,
        passages: tuple[Passage, ...],
        entails: dict[tuple[str, str, str], float],
    ) -> Supported:
        if not passages:
            return Supported(None, (), "unretrieved")
        shares = {
            p.id: entails["", f"{p.title}: {p.text[:LONGEST_FOR_NLI]}", claim] for p in passages
        }
        read = {key: value for key, value in shares.items() if not np.isnan(value)}
        if not read:
            return Supported(None, tuple(shares), "unread")
        best = max(read, key=lambda key: read[key])
        if read[best] > ENTAILS:
            return Supported("S", (best,))
        return Supported("NS", tuple(read))

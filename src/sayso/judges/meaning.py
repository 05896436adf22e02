"""Do two short answers say the same? Offline and deterministic: the stand-in for an NLI model.

Dates and numbers are compared as dates and numbers, names as the rules judge compares a name with
a gold, sentences by the names and numbers they add to the question. Meant for answers to one
factual question; paragraphs need a model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Literal, NamedTuple, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.engines.engine import Classifier, Engine
from sayso.judges.rules.dates import Date, agree, find_dates
from sayso.judges.rules.matching import match
from sayso.judges.rules.quantities import Quantity, find_quantities, same_amount
from sayso.judges.rules.stance import read
from sayso.judges.rules.text import STOP, tokens
from sayso.prompts import load_prompt, prompt_hash
from sayso.prompts.fence import Field, fence, strip_thinking
from sayso.records import Gold, InputError, Message, Request

# How two texts relate, asked of a natural-language-inference model as rarely as possible.
#
# Each ordered pair is asked once, in large calls of similar lengths; a text entails itself by
# definition; which column means what is read from the model's own labels.

Relation = Literal["entailment", "neutral", "contradiction"]
Pair = tuple[str, str]
#: (identity of the classifier, premise, hypothesis) -> relation, ``None`` = unreadable. A caller
#: may keep it over questions and runs.
Memo = MutableMapping[tuple[str, str, str], Relation | None]


class Unread(Exception):  # noqa: N818
    """A relation that was needed could not be read."""


def label_columns(labels: Sequence[str]) -> dict[Relation, int]:
    """Return the column of each relation from a model's own label names, in whatever order.

    "not_entailment" of two-label models counts as neutral. Raises :class:`InputError` for names
    that say nothing (LABEL_0): a guessed order turns the measure upside down.
    """
    found: dict[Relation, int] = {}
    for column, label in enumerate(labels):
        name = label.strip().lower().replace("-", "_").replace(" ", "_")
        relation: Relation | None = None
        if name in ("not_entailment", "non_entailment", "neutral"):
            relation = "neutral"
        elif name.startswith("contradict"):
            relation = "contradiction"
        elif name.startswith("entail"):
            relation = "entailment"
        if relation is not None:
            if relation in found:
                raise InputError(f"labels {list(labels)} name {relation} twice")
            found[relation] = column
    if "entailment" not in found or len(found) != len(labels) or len(found) < 2:
        raise InputError(
            f"the labels {list(labels)} do not say which is which: expected entailment, neutral "
            "and contradiction in id2label of the model"
        )
    return found


class Relations:
    """Asks a classifier for relations in large calls, each ordered pair once.

    ``memo`` may be kept by the caller. ``asked`` counts pairs that went to the classifier,
    ``calls`` its calls, ``unread`` rows without a finite largest probability.
    """

    def __init__(self, classifier: Classifier, memo: Memo | None = None, batch: int = 4096) -> None:
        self._classifier = classifier
        self._columns = label_columns(classifier.labels)
        self._memo: Memo = {} if memo is None else memo
        self._batch = batch
        self.asked = 0
        self.calls = 0
        self.unread = 0

    @property
    def three(self) -> bool:
        """Whether the model tells contradiction from neutral."""
        return "contradiction" in self._columns

    def fetch(self, pairs: Sequence[Pair]) -> None:
        """Ask about the pairs that nobody asked about yet; short ones first, to pad little."""
        name = self._classifier.identity
        new = [p for p in dict.fromkeys(pairs) if p[0] != p[1] and (name, *p) not in self._memo]
        new.sort(key=lambda p: len(p[0]) + len(p[1]))
        names = {column: relation for relation, column in self._columns.items()}
        for first in range(0, len(new), self._batch):
            part = new[first : first + self._batch]
            found = np.asarray(self._classifier.classify(part), dtype=np.float64)
            if found.shape != (len(part), len(self._columns)):
                raise InputError(
                    f"the classifier returned shape {found.shape} for {len(part)} pairs and "
                    f"{len(self._columns)} labels"
                )
            self.calls += 1
            self.asked += len(part)
            readable = np.isfinite(found).all(axis=1)
            self.unread += int((~readable).sum())
            best = np.where(readable, np.nan_to_num(found).argmax(axis=1), -1)
            for pair, column in zip(part, best.tolist(), strict=True):
                self._memo[(name, *pair)] = names.get(column)

    def of(self, premise: str, hypothesis: str) -> Relation:
        """Return a relation that was fetched; :class:`Unread` if it could not be read."""
        if premise == hypothesis:
            return "entailment"
        relation = self._memo[(self._classifier.identity, premise, hypothesis)]
        if relation is None:
            raise Unread(f"the classifier gave no readable relation for {premise[:60]!r}")
        return relation


# Which draws mean the same? Greedy clustering by entailment, with as few questions as it takes.
#
# A draw joins the first leader with which it is equivalent, else it leads a cluster of its own.
# Equal strings are equal by definition, nobody asks twice about one ordered pair, and the
# second
# direction is asked only where the first one left the matter open. Draws are compared round by
# round (all that are left against the next leader), for many questions at once, so that a
# classifier
# gets its pairs in few large calls.


class Clustering(msgspec.Struct, frozen=True):
    """The meanings of one question's draws: ``ids`` (k,) numbered by first appearance.

    ``ids`` is ``None`` exactly when ``problem`` says why (the classifier gave an unreadable
    answer): an unread relation is not "neutral".
    """

    ids: tuple[int, ...] | None
    problem: str | None = None


def cluster(
    texts: Sequence[str],
    entails: Callable[[str, str], bool | None],
    overwrite: bool = False,
) -> list[int]:
    """Return the cluster (n,) of each text, numbered by first appearance of a leader.

    ``entails(a, b)``: does a entail b? Two texts are equivalent when each entails the other; put
    the question before them where it matters. Equal texts are equivalent and never asked about;
    texts of spaces only are one cluster apart. Entailment is not transitive, so the result depends
    on the order, which is the order given. ``overwrite=True`` is the official code's: a text
    already in a cluster may be moved to a later one. Raises :class:`InputError` where ``entails``
    returns ``None``.
    """
    memo: dict[Pair, bool] = {}

    def known(a: str, b: str) -> bool:
        if (a, b) not in memo:
            found = entails(a, b)
            if found is None:
                raise InputError(f"no answer whether {a[:60]!r} entails {b[:60]!r}: cannot cluster")
            memo[a, b] = bool(found)
        return memo[a, b]

    def same(a: str, b: str) -> bool:
        return known(a, b) and known(b, a)

    rounds = _Rounds([t.strip() for t in texts], overwrite)
    while (leader := rounds.leader()) is not None:
        rounds.settle({t: same(leader, t) for t in rounds.others()})
    return rounds.ids


class _Rounds:
    """The state of one greedy clustering: who leads, who is left, and who joined."""

    def __init__(self, texts: Sequence[str], overwrite: bool) -> None:
        self.texts = texts
        self.overwrite = overwrite
        self.ids = [-1] * len(texts)
        self._next = 0
        self._at = 0

    def leader(self) -> str | None:
        """Open the next cluster; ``None`` when everyone has one."""
        while self._at < len(self.texts) and self.ids[self._at] >= 0:
            self._at += 1
        if self._at == len(self.texts):
            return None
        self.ids[self._at] = self._next
        self._next += 1
        return self.texts[self._at]

    def others(self) -> list[str]:
        """Different texts that the leader must be compared with, each once."""
        leader = self.texts[self._at]
        if not leader:
            return []
        rest = (
            self.texts[j]
            for j in range(self._at + 1, len(self.texts))
            if self.overwrite or self.ids[j] < 0
        )
        return [text for text in dict.fromkeys(rest) if text and text != leader]

    def settle(self, same: dict[str, bool]) -> None:
        """Let those join who are the same."""
        leader = self.texts[self._at]
        for j in range(self._at + 1, len(self.texts)):
            if self.overwrite or self.ids[j] < 0:
                text = self.texts[j]
                if text == leader or same.get(text, False):
                    self.ids[j] = self.ids[self._at]


def cluster_many(
    groups: Sequence[Sequence[str]],
    relations: Relations,
    questions: Sequence[str] | None = None,
    strict: bool = True,
    overwrite: bool = False,
) -> list[Clustering]:
    """Cluster the draws of many questions together; one result for each group, in order.

    ``questions``: put before both texts of a pair, with a space (Farquhar et al. 2024); ``None``:
    compare the texts alone. ``strict``: equivalent = entailment both ways; lax: no contradiction
    either way and not neutral both ways. Each round compares what is left of every group with that
    group's next leader, forward first.
    """
    if not strict and not relations.three:
        raise InputError("lax clustering needs a model that tells contradiction from neutral")
    if questions is not None and len(questions) != len(groups):
        raise InputError(f"{len(questions)} questions for {len(groups)} groups of draws")
    prefix = [f"{q} " for q in questions] if questions is not None else [""] * len(groups)
    states = [_Rounds([t.strip() for t in texts], overwrite) for texts in groups]
    problems: dict[int, str] = {}
    active = list(range(len(states)))
    while active:
        leaders: dict[int, str] = {}
        for g in active:
            leader = states[g].leader()
            if leader is not None:
                leaders[g] = leader
        active = list(leaders)
        forward = {
            g: [_harder(prefix[g] + leaders[g], prefix[g] + t) for t in states[g].others()]
            for g in active
        }
        relations.fetch([pair for g in active for pair in forward[g]])
        open_: dict[int, list[Pair]] = {}
        for g in active:
            try:
                open_[g] = [(b, a) for a, b in forward[g] if _may(relations.of(a, b), strict)]
            except Unread as reason:
                problems[g] = str(reason)
        relations.fetch([pair for pairs in open_.values() for pair in pairs])
        for g, pairs in open_.items():
            try:
                joined = {
                    text[len(prefix[g]) :]: _same(relations.of(a, b), relations.of(b, a), strict)
                    for a, b in pairs
                    for text in (a, b)
                }
            except Unread as reason:
                problems[g] = str(reason)
                continue
            states[g].settle(joined)
        active = [g for g in active if g not in problems]
    return [
        Clustering(None, problems[g]) if g in problems else Clustering(tuple(state.ids))
        for g, state in enumerate(states)
    ]


def _harder(a: str, b: str) -> Pair:
    """Return the two as premise and hypothesis, the shorter one first."""
    return (b, a) if len(b) < len(a) else (a, b)


def _may(forward: Relation, strict: bool) -> bool:
    """Whether the backward direction can still make the two equivalent."""
    return forward == "entailment" if strict else forward != "contradiction"


def _same(forward: Relation, backward: Relation, strict: bool) -> bool:
    if strict:
        return forward == backward == "entailment"
    if "contradiction" in (forward, backward):
        return False
    return not forward == backward == "neutral"


class Sensitivity(msgspec.Struct, frozen=True):
    """How much a clustering owes to the order of the draws.

    ``changed``: share of random orders with another partition than the given order; ``pairs``:
    mean share of pairs of draws on which two partitions disagree; ``fewest`` and ``most`` clusters
    seen.
    """

    changed: float
    pairs: float
    fewest: int
    most: int


def permutation_sensitivity(
    texts: Sequence[str],
    entails: Callable[[str, str], bool | None],
    rng: np.random.Generator,
    permutations: int = 20,
    overwrite: bool = False,
) -> Sensitivity:
    """Cluster the texts in random orders and compare; at most u(u-1) questions in all.

    ``entails`` is asked once for each ordered pair of different strings.
    """
    memo: dict[Pair, bool | None] = {}

    def held(a: str, b: str) -> bool | None:
        if (a, b) not in memo:
            memo[a, b] = entails(a, b)
        return memo[a, b]

    base = cluster(texts, held, overwrite)
    couples = list(combinations(range(len(texts)), 2))
    changed, apart, sizes = 0, 0.0, [len(set(base))]
    for _ in range(permutations):
        order = rng.permutation(len(texts))
        found = [0] * len(texts)
        for place, number in zip(
            order, cluster([texts[i] for i in order], held, overwrite), strict=True
        ):
            found[place] = number
        differ = sum((base[i] == base[j]) != (found[i] == found[j]) for i, j in couples)
        changed += differ > 0
        apart += differ / len(couples) if couples else 0.0
        sizes.append(len(set(found)))
    times = max(1, permutations)
    return Sensitivity(changed / times, apart / times, min(sizes), max(sizes))


# A language model as NLI classifier: it is asked for the relation, one pair a request.
#
# Both texts stand fenced (``fence``), and a reply counts only if it repeats the fence's code
# before
# one of the three relations: what a text quotes or commands is never a verdict. A reply that is
# not
# read is NaN, never "neutral".

LABELS = ("entailment", "neutral", "contradiction")


class LlmClassifier:
    """An engine as :class:`~sayso.engines.engine.Classifier`: probabilities are 0 and 1.

    ``unread`` counts replies without a relation, ``failed`` requests without a reply.
    """

    labels = LABELS

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._prompt = load_prompt("relation")
        version = prompt_hash(self._prompt)
        self.identity = f"llm-relation:{engine.identity}|{version}"
        self.signature = f"llm:{engine.signature}#p{version[:4]}"
        self.pairs = 0
        self.unread = 0
        self.failed = 0

    @property
    def notices(self) -> list[str]:
        """What the user should be told."""
        lost = self.unread + self.failed
        if not lost:
            return []
        return [
            f"{lost:,} of {self.pairs:,} relations could not be read from {self._engine.signature} "
            f"({self.failed:,} requests failed): scores that need them have no value"
        ]

    def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return (pairs, 3) of 0 and 1 in the order of ``labels``; NaN where nothing was read."""
        found = np.full((len(pairs), len(LABELS)), np.nan)
        self.pairs += len(pairs)
        requests, codes = [], []
        for pair in pairs:
            request, code = self.request(*pair)
            requests.append(request)
            codes.append(code)
        for index, reply in self._engine.complete(requests):
            if reply.problem is not None:
                self.failed += 1
                continue
            label = relation_in(reply.text, codes[index])
            if label is None:
                self.unread += 1
            else:
                found[index] = [float(name == label) for name in LABELS]
        return found

    def request(self, premise: str, hypothesis: str) -> tuple[Request, str]:
        """Return the request about one pair, and the code that its reply must repeat."""
        data = fence([Field("first", premise), Field("second", hypothesis)])
        text = self._prompt.replace("{marker}", data.marker).replace("{code}", data.code)
        message = Message("user", text.replace("{texts}", data.text))
        return Request(messages=(message,), temperature=0.0, max_tokens=256), data.code


def relation_in(text: str, code: str) -> str | None:
    """Return the one relation that a reply names behind its code; ``None`` for none or several."""
    said, _ = strip_thinking(text)
    found = re.findall(rf"\b{re.escape(code)}\b\W{{0,5}}(\w+)", said.lower())
    named = {name for name in found if name in LABELS}
    return named.pop() if len(named) == 1 else None


#: Texts longer than this (characters) are no answer to one question: only equal words make them
#: the same, as everything else would take too long.
LONGEST_COMPARED = 2000
#: Up to this many words beyond function words an answer is a bare value, else a sentence.
BARE = 5


class Said(NamedTuple):
    """What an answer adds to its question.

    ``words`` stems that the question does not have, ``proper`` those written with a capital or as
    a number, ``rest`` the words outside dates and amounts.
    """

    text: str
    withheld: bool
    words: frozenset[str]
    proper: frozenset[str]
    dates: tuple[Date, ...]
    amounts: tuple[Quantity, ...]
    rest: frozenset[str]


@lru_cache(maxsize=4096)
def _asked(question: str) -> frozenset[str]:
    return frozenset(t.stem for t in tokens(question))


@lru_cache(maxsize=16384)
def said(question: str, text: str) -> Said:
    """Take an answer apart, in view of its question."""
    known = _asked(question)
    every = [t for t in tokens(text) if t.text not in STOP]
    new = [t for t in every if t.stem not in known] or every
    dates = find_dates(text)
    spans = [(d.start, d.end) for d in dates]
    amounts = tuple(q for q in find_quantities(text) if not any(a <= q.start < b for a, b in spans))
    spans += [(q.start, q.end) for q in amounts]
    rest = [t.stem for t in new if not any(a <= t.start < b for a, b in spans)]
    return Said(
        text=text,
        withheld=len(new) <= BARE and _withholds(text),
        words=frozenset(t.stem for t in new),
        proper=frozenset(t.stem for t in new if t.number or (t.capital and t.start > 0)),
        dates=dates,
        amounts=amounts,
        rest=frozenset(rest),
    )


def _withholds(text: str) -> bool:
    reading = read(text)
    return bool(reading.gaps or reading.asks)


@lru_cache(maxsize=65536)
def equivalent(question: str, a: str, b: str) -> bool:
    """Return whether two answers to a question say the same; symmetric, True for equal texts.

    Never raises on any text. Two answers that withhold say the same.
    """
    a, b = a.strip(), b.strip()
    if a == b:
        return True
    if not a or not b:
        return False
    if max(len(a), len(b)) > LONGEST_COMPARED:
        return len(a) > LONGEST_COMPARED < len(b) and _forms(a) == _forms(b)
    one, two = said(question, a), said(question, b)
    if one.withheld or two.withheld:
        return one.withheld and two.withheld
    if not one.words or not two.words:
        return False
    if one.words == two.words:
        return True
    if one.dates and two.dates and (one.rest == two.rest or not (one.rest and two.rest)):
        return _all_agree(one.dates, two.dates)
    only_amounts = not (one.dates or two.dates) and one.amounts and two.amounts
    if only_amounts and (one.rest == two.rest or not (one.rest and two.rest)):
        return _all_same(one.amounts, two.amounts)
    short, long = sorted((one, two), key=lambda s: (len(s.words), s.text))
    if not _says(question, short, long):
        # Two sentences around the same names and numbers.
        wordy = min(len(one.words), len(two.words)) > 2
        return wordy and bool(one.proper) and one.proper == two.proper
    return len(long.words) > BARE >= len(short.words) or _says(question, long, short)


def _forms(text: str) -> list[str]:
    return [token.text for token in tokens(text)]


def _says(question: str, value: Said, text: Said) -> bool:
    """Whether a text says a value, as the rules judge reads a gold in an answer."""
    return match(question, (Gold(value.text),), text.text).content == "correct"


def _all_agree(one: tuple[Date, ...], two: tuple[Date, ...]) -> bool:
    return all(any(agree(x, y) and agree(y, x) for y in two) for x in one) and all(
        any(agree(x, y) and agree(y, x) for x in one) for y in two
    )


def _all_same(one: tuple[Quantity, ...], two: tuple[Quantity, ...]) -> bool:
    return all(any(same_amount(x, y) for y in two) for x in one) and all(
        any(same_amount(x, y) for x in one) for y in two
    )


def rules_entails(question: str) -> Callable[[str, str], bool]:
    """Return ``entails(a, b)`` of one question for :func:`sayso.judges.judge.cluster`."""

    def entails(a: str, b: str) -> bool:
        # Symmetric, so both directions are one computation.
        return equivalent(question, *sorted((a, b)))

    return entails


# Evidence about meanings: who entails whom, which draws mean the same, how alike the words are.
#
# Nobody is asked whether a text entails itself, and nobody twice about one pair.

Triple = tuple[str, str, str]  # question, premise, hypothesis
Floats = NDArray[np.float64]
#: Characters of one text that are compared: an answer of a book's length is compared by its
#: beginning, as any model with a context would.
LONGEST = 20_000


class Meaning(Protocol):
    """Whoever compares meanings. ``three``: whether contradiction is told from neutral."""

    name: str
    signature: str

    @property
    def three(self) -> bool:
        """Whether contradiction is told from neutral."""

    def table(self, triples: Sequence[Triple]) -> Floats:
        """Return (n, 2): P(premise entails hypothesis) and P(it contradicts it)."""

    def clusters(
        self, questions: Sequence[str], groups: Sequence[Sequence[str]]
    ) -> list[Clustering]:
        """Return which answers mean the same, for each question."""


class RulesMeaning:
    """Equivalence of answers by rules, offline: 1 or 0, the same in both directions."""

    name = "rules"
    signature = "nli:rules"
    three = False

    def table(self, triples: Sequence[Triple]) -> Floats:
        """Return 1 where two answers say the same, else 0; contradiction is not known (NaN)."""
        found = [
            float(equivalent(q[:LONGEST], *sorted((a[:LONGEST], b[:LONGEST]))))
            for q, a, b in triples
        ]
        return np.stack([np.asarray(found), np.full(len(found), np.nan)], axis=1)

    def clusters(
        self, questions: Sequence[str], groups: Sequence[Sequence[str]]
    ) -> list[Clustering]:
        """Return greedy clusters of equivalent answers."""
        return [
            Clustering(tuple(cluster([t[:LONGEST] for t in texts], rules_entails(q[:LONGEST]))))
            for q, texts in zip(questions, groups, strict=True)
        ]


class ModelMeaning:
    """An NLI model, asked with the question before both texts (Farquhar et al. 2024).

    ``condition=False`` compares the texts alone; ``strict`` and ``overwrite`` as in
    :func:`~sayso.judges.meaning.cluster_many`.
    """

    def __init__(
        self,
        classifier: Classifier,
        name: str,
        *,
        condition: bool = True,
        strict: bool = True,
        overwrite: bool = False,
    ) -> None:
        self.name = name
        marks = "" if condition else "+unconditioned"
        marks += "" if strict else "+lax"
        marks += "+overwrite" if overwrite else ""
        self.signature = f"nli:{getattr(classifier, 'signature', name)}{marks}"
        self._classifier = classifier
        self._columns = label_columns(classifier.labels)
        self._condition, self._strict, self._overwrite = condition, strict, overwrite

    @property
    def three(self) -> bool:
        """Whether the model has a label of its own for contradiction."""
        return "contradiction" in self._columns

    def table(self, triples: Sequence[Triple]) -> Floats:
        """Return P(entails) and P(contradicts); a text entails itself without being asked."""
        found = np.tile(np.asarray([1.0, 0.0]), (len(triples), 1))
        places: dict[tuple[str, str], list[int]] = {}
        for n, (question, premise, hypothesis) in enumerate(triples):
            if premise.strip() != hypothesis.strip():
                places.setdefault(self._pair(question, premise, hypothesis), []).append(n)
        if places:
            rows = np.asarray(self._classifier.classify(list(places)), dtype=np.float64)
            entails = rows[:, self._columns["entailment"]]
            denies = (
                rows[:, self._columns["contradiction"]]
                if self.three
                else np.full(len(rows), np.nan)
            )
            for row, where in enumerate(places.values()):
                found[where] = entails[row], denies[row]
        return found

    def clusters(
        self, questions: Sequence[str], groups: Sequence[Sequence[str]]
    ) -> list[Clustering]:
        """Return greedy clusters, all questions round by round in shared calls."""
        texts = [[t[:LONGEST] for t in group] for group in groups]
        asked = [q[:LONGEST] for q in questions] if self._condition else None
        relations = Relations(self._classifier)
        return cluster_many(texts, relations, asked, self._strict, self._overwrite)

    def _pair(self, question: str, premise: str, hypothesis: str) -> tuple[str, str]:
        head = f"{question[:LONGEST]} " if self._condition else ""
        return head + premise.strip()[:LONGEST], head + hypothesis.strip()[:LONGEST]

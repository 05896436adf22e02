"""Do two answers to a question mean the same? By rules offline, or by a model for inference (NLI).

The rules stand in for an NLI model: they compare the values that two answers give
(:mod:`sayso.judges.contradiction`). They are meant for short answers to one factual question;
paragraphs need a model. Thoughts ("<think>...</think>") are no part of a text.

An NLI model says how a premise relates to a hypothesis. It is asked for each ordered pair once, in
large calls of similar lengths; a text entails itself without being asked; its own label names say
which column is which relation.

Draws that mean the same are found by greedy clustering: a draw joins the first leader to which it
is equivalent, else it leads a cluster of its own. The second direction is asked only where the
first leaves the matter open. Draws are compared round by round (all that are left with the next
leader), for many questions at once, so that a classifier gets its pairs in few large calls.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from functools import cache, lru_cache
from typing import Literal, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.engines.engine import Classifier, Engine
from sayso.judges.contradiction import read_short_answer, relate
from sayso.judges.english.tokens import tokens
from sayso.prompts import load_prompt, prompt_hash
from sayso.prompts.fence import Field, fence, word_behind
from sayso.prompts.thoughts import split_thoughts
from sayso.records import InputError, Message, Request, is_blank

# ---- meanings: by rules or by a model

Triple = tuple[str, str, str]  # question, premise, hypothesis
Floats = NDArray[np.float64]
#: Characters of one text that are compared.
LONGEST = 20_000


class Meaning(Protocol):
    """Whoever compares meanings."""

    name: str
    signature: str

    @property
    def three(self) -> bool:
        """Whether contradiction is distinguished from neutral."""

    def table(self, triples: Sequence[Triple]) -> Floats:
        """Return (n, 2): P(premise entails hypothesis) and P(it contradicts it)."""

    def clusters(
        self, questions: Sequence[str], groups: Sequence[Sequence[str]]
    ) -> list[Clustering]:
        """Return which answers mean the same, for each question.

        Only the first 20,000 characters of a text are compared.
        """


class RulesMeaning:
    """Equivalence of answers by rules, offline: 1 or 0, the same in both directions."""

    name = "rules"
    signature = "nli:rules@4"
    three = False

    def table(self, triples: Sequence[Triple]) -> Floats:
        """Return 1 where two answers say the same, else 0; contradiction is not known (NaN)."""
        cut = [(q[:LONGEST], *sorted((_cut(a), _cut(b)))) for q, a, b in triples]
        same = {triple: equivalent(*triple) for triple in dict.fromkeys(cut)}  # both directions
        given = np.asarray([same[triple] for triple in cut], dtype=np.float64)
        return np.stack([given, np.full(len(given), np.nan)], axis=1)

    def clusters(
        self, questions: Sequence[str], groups: Sequence[Sequence[str]]
    ) -> list[Clustering]:
        """Return greedy clusters of equivalent answers, by their first 20,000 characters.

        Answers of more than 2,000 are the same only where their words are.
        """
        return [
            Clustering(tuple(cluster([*map(_cut, texts)], rules_entails(q[:LONGEST]))))
            for q, texts in zip(questions, groups, strict=True)
        ]


class ModelMeaning:
    """An NLI model that reads the question before both texts (Farquhar et al. 2024).

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
        #: whether the model has a label of its own for contradiction
        self.three = "contradiction" in self._columns
        self._condition, self._strict, self._overwrite = condition, strict, overwrite

    def table(self, triples: Sequence[Triple]) -> Floats:
        """Return P(entails) and P(contradicts); a text entails itself without being asked."""
        shares = np.tile(np.asarray([1.0, 0.0]), (len(triples), 1))
        places: dict[tuple[str, str], list[int]] = {}
        for n, (question, premise, hypothesis) in enumerate(triples):
            if _said(premise) != _said(hypothesis):
                places.setdefault(self._pair(question, premise, hypothesis), []).append(n)
        if places:
            rows = np.asarray(self._classifier.classify(list(places)), dtype=np.float64)
            denied = self._columns.get("contradiction")
            for row, where in zip(rows, places.values(), strict=True):
                against = np.nan if denied is None else row[denied]
                shares[where] = row[self._columns["entailment"]], against
        return shares

    def clusters(
        self, questions: Sequence[str], groups: Sequence[Sequence[str]]
    ) -> list[Clustering]:
        """Return greedy clusters, all questions round by round in shared calls.

        Only the first 20,000 characters of a text are compared.
        """
        texts = [[*map(_cut, group)] for group in groups]
        shown = [q[:LONGEST] for q in questions] if self._condition else None
        batch = getattr(self._classifier, "batch", 4096)
        relations = Relations(self._classifier, batch=batch)
        return cluster_many(texts, relations, shown, self._strict, self._overwrite)

    def _pair(self, question: str, premise: str, hypothesis: str) -> tuple[str, str]:
        head = f"{question[:LONGEST]} " if self._condition else ""
        return head + _cut(premise), head + _cut(hypothesis)


# ---- how two texts relate


@lru_cache(maxsize=1024)
def _said(text: str) -> str:
    """Return a text without thoughts and white space around it; "" for one that says nothing."""
    text = split_thoughts(text).text
    return "" if is_blank(text) else text.strip()


def _cut(text: str) -> str:
    return _said(text)[:LONGEST]


Relation = Literal["entailment", "neutral", "contradiction"]
Pair = tuple[str, str]
#: (identity of the classifier, premise, hypothesis) -> relation, ``None`` = unreadable. A caller
#: may keep it over questions and runs.
Memo = MutableMapping[tuple[str, str, str], Relation | None]


#: how the names of labels begin
_NAMED: tuple[tuple[str, Relation], ...] = (
    ("not_entail", "neutral"), ("non_entail", "neutral"), ("neutral", "neutral"),
    ("contradict", "contradiction"), ("entail", "entailment"),
)  # fmt: skip


class Unread(Exception):  # noqa: N818
    """A relation that is needed could not be read."""


def label_columns(labels: Sequence[str]) -> dict[Relation, int]:
    """Return the column of each relation from a model's own label names, in whatever order.

    "not_entailment" of two-label models counts as neutral. Raises :class:`InputError` for names
    that say nothing (LABEL_0): a guessed order turns the measure upside down.
    """
    columns: dict[Relation, int] = {}
    for column, label in enumerate(labels):
        name = label.strip().lower().replace("-", "_").replace(" ", "_")
        relation = next((r for start, r in _NAMED if name.startswith(start)), None)
        if relation in columns:
            raise InputError(f"labels {list(labels)} name {relation} twice")
        if relation is not None:
            columns[relation] = column
    if "entailment" not in columns or len(columns) != len(labels) or len(columns) < 2:
        raise InputError(
            f"the labels {list(labels)} do not say which is which: expected entailment, neutral "
            "and contradiction in id2label of the model"
        )
    return columns


class Relations:
    """Relations by a classifier in large calls, each ordered pair once.

    ``requested`` counts pairs that went to the classifier,
    ``calls`` its calls, ``unread`` rows without a finite largest probability.
    """

    def __init__(self, classifier: Classifier, batch: int = 4096) -> None:
        self._classifier = classifier
        self._columns = label_columns(classifier.labels)
        #: whether the model distinguishes contradiction from neutral
        self.three = "contradiction" in self._columns
        self._memo: Memo = {}
        self._batch = batch
        self.requested = 0
        self.calls = 0
        self.unread = 0

    def fetch(self, pairs: Sequence[Pair]) -> None:
        """Classify the pairs that are not known yet; short ones first, to pad little."""
        name = self._classifier.identity
        new = [p for p in dict.fromkeys(pairs) if p[0] != p[1] and (name, *p) not in self._memo]
        new.sort(key=lambda p: len(p[0]) + len(p[1]))
        names = {column: relation for relation, column in self._columns.items()}
        for first in range(0, len(new), self._batch):
            part = new[first : first + self._batch]
            rows = np.asarray(self._classifier.classify(part), dtype=np.float64)
            if rows.shape != (len(part), len(self._columns)):
                raise InputError(
                    f"the classifier returned shape {rows.shape} for {len(part)} pairs and "
                    f"{len(self._columns)} labels"
                )
            self.calls += 1
            self.requested += len(part)
            readable = np.isfinite(rows).all(axis=1)
            self.unread += int((~readable).sum())
            best = np.where(readable, np.nan_to_num(rows).argmax(axis=1), -1)
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


# ---- clusters of draws


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
    the question before them where it matters. Equal texts are equivalent without being asked about;
    texts of spaces only are one cluster. Entailment is not transitive, so the result depends on the
    order given. ``overwrite=True`` is the official code's: a text already in a cluster may be moved
    to a later one. Raises :class:`InputError` where ``entails`` returns ``None``.
    """

    @cache
    def known(a: str, b: str) -> bool:
        answer = entails(a, b)
        if answer is None:
            raise InputError(f"no answer whether {a[:60]!r} entails {b[:60]!r}: cannot cluster")
        return bool(answer)

    rounds = _Rounds([*map(_said, texts)], overwrite)
    while (leader := rounds.leader()) is not None:
        rounds.settle({t: known(leader, t) and known(t, leader) for t in rounds.others()})
    return rounds.ids


class _Rounds:
    """The state of one greedy clustering: the leader, and the cluster of each text so far."""

    def __init__(self, texts: Sequence[str], overwrite: bool) -> None:
        self.texts = texts
        self.overwrite = overwrite
        self.ids = [-1] * len(texts)
        self._next = 0
        self._at = 0

    def leader(self) -> str | None:
        """Open the next cluster and return its leader; ``None`` when every text has a cluster."""
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
        rest = dict.fromkeys(self.texts[j] for j in self._open())
        return [text for text in rest if text and text != leader]

    def settle(self, same: dict[str, bool]) -> None:
        """Let the equivalent texts join the leader's cluster."""
        leader = self.texts[self._at]
        for j in self._open():
            if self.texts[j] == leader or same.get(self.texts[j], False):
                self.ids[j] = self.ids[self._at]

    def _open(self) -> list[int]:
        """Return the texts behind the leader that may still join it."""
        behind = range(self._at + 1, len(self.texts))
        return [j for j in behind if self.overwrite or self.ids[j] < 0]


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
    group's next leader, forward first. A group with an unreadable relation has the problem alone.
    """
    if not strict and not relations.three:
        raise InputError(
            "lax clustering needs a model that distinguishes contradiction from neutral"
        )
    if questions is not None and len(questions) != len(groups):
        raise InputError(f"{len(questions)} questions for {len(groups)} groups of draws")
    prefix = [f"{q} " for q in questions] if questions is not None else [""] * len(groups)
    states = [_Rounds([*map(_said, texts)], overwrite) for texts in groups]
    problems: dict[int, str] = {}
    while leaders := {
        g: leader
        for g, state in enumerate(states)
        if g not in problems and (leader := state.leader()) is not None
    }:
        forward = {
            g: [_harder(prefix[g] + leader, prefix[g] + t) for t in states[g].others()]
            for g, leader in leaders.items()
        }
        relations.fetch([pair for pairs in forward.values() for pair in pairs])
        # what still may make two equivalent in the other direction
        possible = {"entailment"} if strict else {"entailment", "neutral"}
        backward: dict[int, list[Pair]] = {}
        for g, pairs in forward.items():
            try:
                backward[g] = [(b, a) for a, b in pairs if relations.of(a, b) in possible]
            except Unread as reason:
                problems[g] = str(reason)
        relations.fetch([pair for pairs in backward.values() for pair in pairs])
        for g, pairs in backward.items():
            try:
                same = {
                    text[len(prefix[g]) :]: _same(relations.of(a, b), relations.of(b, a), strict)
                    for a, b in pairs
                    for text in (a, b)
                }
            except Unread as reason:
                problems[g] = str(reason)
                continue
            states[g].settle(same)
    return [
        Clustering(None, problems[g]) if g in problems else Clustering(tuple(state.ids))
        for g, state in enumerate(states)
    ]


def _harder(a: str, b: str) -> Pair:
    """Return the two as premise and hypothesis, the shorter one first."""
    return (b, a) if len(b) < len(a) else (a, b)


def _same(forward: Relation, backward: Relation, strict: bool) -> bool:
    if strict:
        return forward == backward == "entailment"
    if "contradiction" in (forward, backward):
        return False
    return not forward == backward == "neutral"


# ---- a language model as classifier

LABELS = ("entailment", "neutral", "contradiction")


class LlmClassifier:
    """An engine as :class:`~sayso.engines.engine.Classifier`: probabilities are 0 and 1.

    It is asked for the relation, one pair a request. Both texts are fenced, and a reply counts only
    if it repeats the fence's code before one of the three relations: what a text quotes or commands
    is never a verdict. A reply that is not read is NaN, never "neutral". ``unread`` counts replies
    without a relation, ``failed`` requests without a reply.
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
        """What a reader of the scores must know."""
        missing = self.unread + self.failed
        if not missing:
            return []
        return [
            f"{missing:,} of {self.pairs:,} relations could not be read from "
            f"{self._engine.signature} ({self.failed:,} requests failed): scores that need them "
            "have no value"
        ]

    def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return (pairs, 3) of 0 and 1 in the order of ``labels``; NaN where nothing was read."""
        rows = np.full((len(pairs), len(LABELS)), np.nan)
        self.pairs += len(pairs)
        requests = [self.request(*pair) for pair in pairs]
        for index, reply in self._engine.complete([request for request, _ in requests]):
            if reply.problem is not None:
                self.failed += 1
                continue
            label = relation_in(reply.text, requests[index][1])
            if label is None:
                self.unread += 1
            else:
                rows[index] = [float(name == label) for name in LABELS]
        return rows

    def request(self, premise: str, hypothesis: str) -> tuple[Request, str]:
        """Return the request about one pair, and the code that its reply must repeat."""
        data = fence([Field("first", premise), Field("second", hypothesis)])
        message = Message("user", data.in_template(self._prompt))
        return Request(messages=(message,), temperature=0.0, max_tokens=256), data.code


def relation_in(text: str, code: str) -> str | None:
    """Return the one relation that a reply names behind its code; ``None`` for none or several."""
    return word_behind(text, code, {name: name for name in LABELS})


# ---- equivalence by rules

#: Longer texts (characters) are no answer to one question: only equal words make them the same.
LONGEST_COMPARED = 2000
#: Answers without a value say the same where they have at most so many words ("I am not sure.").
#: Longer ones evade in ways of their own, and many that differ are a sign of doubt.
WITHHELD = 10


@lru_cache(maxsize=65536)
def equivalent(question: str, a: str, b: str) -> bool:
    """Return whether two answers to a question say the same; symmetric, True for equal texts.

    Never raises on any text. Two short answers without a value ("I don't know") say the same.
    Answers of more than 2,000 characters do only where their words are the same.
    """
    a, b = _said(a), _said(b)
    if a == b:
        return True
    if not a or not b:
        return False
    one, two = _words(a), _words(b)
    if one == two or max(len(a), len(b)) > LONGEST_COMPARED:
        return one == two
    relation = relate(question, a, b)
    if relation is None:
        if read_short_answer(question, a) or read_short_answer(question, b):
            return False
        return max(len(one), len(two)) <= WITHHELD or set(one) == set(two)
    return relation == "same"


@lru_cache(maxsize=1024)
def _words(text: str) -> list[str]:
    return [token.text for token in tokens(text)]


def rules_entails(question: str) -> Callable[[str, str], bool]:
    """Return ``entails(a, b)`` of one question for :func:`cluster`."""

    def entails(a: str, b: str) -> bool:
        return equivalent(question, *sorted((a, b)))  # symmetric: one computation for both

    return entails

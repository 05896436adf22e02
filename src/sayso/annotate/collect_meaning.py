"""Evidence about meanings: who entails whom, which draws mean the same, how alike the words are.

Nobody is asked whether a text entails itself, and nobody twice about one pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq

from sayso.annotate.clusters import Clustering, cluster, cluster_many
from sayso.annotate.equivalence import equivalent, rules_entails
from sayso.annotate.lexical_tokens import Token, rouge_tokens
from sayso.annotate.relations import Relations, label_columns
from sayso.annotate.sentences import sentences
from sayso.models import Classifier

if TYPE_CHECKING:
    from sayso.annotate.collect import Case

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
    :func:`~sayso.annotate.clusters.cluster_many`.
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


def _fill(
    cases: Sequence[Case],
    meaning: Meaning,
    pairs: Sequence[tuple[Sequence[tuple[str, str]], tuple[int, ...]]],
    names: tuple[str, str],
) -> None:
    """Ask about all pairs of all cases at once and put the two tables where they belong."""
    triples = [
        (case.question, a, b) for case, (mine, _) in zip(cases, pairs, strict=True) for a, b in mine
    ]
    found = meaning.table(triples)
    at = 0
    for case, (mine, shape) in zip(cases, pairs, strict=True):
        part = found[at : at + len(mine)]
        at += len(mine)
        for column, name in enumerate(names):
            if column == 0 or meaning.three:
                case.evidence[name] = part[:, column].reshape(shape)


def between_draws(cases: Sequence[Case], meaning: Meaning) -> None:
    """Find (k, k) tables between the draws: ``entail`` and ``contra``."""
    held = [case for case in cases if len(case.draws) > 1 and "entail" not in case.evidence]
    pairs = [
        ([(a, b) for a in case.draws for b in case.draws], (len(case.draws),) * 2) for case in held
    ]
    _fill(held, meaning, pairs, ("entail", "contra"))


def against_answer(cases: Sequence[Case], meaning: Meaning) -> None:
    """Find (k, 2) tables between draws and answer, column 0 from draw to answer."""
    held = [c for c in cases if c.draws and c.answer and "answer_entail" not in c.evidence]
    pairs = []
    for case in held:
        answer = case.answer or ""
        mine = [pair for draw in case.draws for pair in ((draw, answer), (answer, draw))]
        pairs.append((mine, (len(case.draws), 2)))
    _fill(held, meaning, pairs, ("answer_entail", "answer_contra"))


def against_sentences(cases: Sequence[Case], meaning: Meaning) -> None:
    """Find (J, k) tables from each draw to each sentence of the answer."""
    held, pairs = [], []
    for case in cases:
        if not case.draws or not case.answer or "sentence_entail" in case.evidence:
            continue
        parts = [case.answer[s.start : s.end].strip() for s in sentences(case.answer)]
        parts = [text for text in parts if text]
        if parts:
            held.append(case)
            mine = [(draw, text) for text in parts for draw in case.draws]
            pairs.append((mine, (len(parts), len(case.draws))))
    _fill(held, meaning, pairs, ("sentence_entail", "sentence_contra"))


def clusters(cases: Sequence[Case], meaning: Meaning) -> None:
    """Find which draws mean the same: ``clusters``, meaning ids by first appearance."""
    held = [case for case in cases if case.draws and "clusters" not in case.evidence]
    found = meaning.clusters([c.question for c in held], [c.draws for c in held])
    for case, one in zip(held, found, strict=True):
        if one.ids is None:
            case.reasons["clusters"] = one.problem or "no relation could be read"
        else:
            case.evidence["clusters"] = one.ids


def similarity(cases: Sequence[Case]) -> None:
    """Find (k, k) ROUGE-L F1 between the draws, on words of any script; equal texts are 1."""
    for case in cases:
        if len(case.draws) < 2 or "similarity" in case.evidence:
            continue
        different = list(dict.fromkeys(text.strip()[:LONGEST] for text in case.draws))
        place = {text: n for n, text in enumerate(different)}
        words = [_words(text) for text in different]
        near = np.eye(len(different))
        for i, one in enumerate(words):
            for j in range(i):
                near[i, j] = near[j, i] = _alike(words[j], one)
        at = [place[text.strip()[:LONGEST]] for text in case.draws]
        case.evidence["similarity"] = near[np.ix_(at, at)]


def similarity_to_answer(cases: Sequence[Case]) -> None:
    """Find (k,) ROUGE-L F1 of each draw with the answer; equal texts are 1."""
    for case in cases:
        if not case.draws or case.answer is None or "answer_similarity" in case.evidence:
            continue
        answer = case.answer.strip()[:LONGEST]
        mine = _words(answer)
        near = [
            1.0 if draw.strip()[:LONGEST] == answer else _alike(mine, _words(draw[:LONGEST]))
            for draw in case.draws
        ]
        case.evidence["answer_similarity"] = np.asarray(near)


def _words(text: str) -> list[Token]:
    # Not remembered, unlike the references of an answer metric: draws are many, long, and new.
    return list(rouge_tokens(text, tokenizer="unicode"))


def _alike(one: Sequence[Token], two: Sequence[Token]) -> float:
    """F = 2 LCS/(m + n) of two word lists; 0 where one is empty."""
    if not one or not two:
        return 0.0
    return 2 * int(LCSseq.similarity(one, two)) / (len(one) + len(two))

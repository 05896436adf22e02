"""Stored texts, sentences, claims and verdicts as arrays: what every number is counted from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sayso.metrics.arrays import codes
from sayso.metrics.factuality import Closed, position_bin
from sayso.protocols.protocol import Run
from sayso.records import Claim, Generation, Sentence, Verdict

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: codes of ``Texts.label``; -1 = no label
LABELS = ("S", "NS", "IR")
#: the stage of all long answers, and the verdicts on their claims by people and by a reader
STAGE = "long"
PEOPLE, SUPPORT = "long-people", "long-support"
RESPONSIVE = "answered"


class Texts(NamedTuple):
    """The long answers of one method (or system), with their sentences and claims.

    t answers that answer, m sentences of them, c claims. ``answers`` are all, also those that do
    not answer (``unresponsive`` of them) or failed (``failed``). ``text`` of a sentence or claim
    is the answer's row, ``sentence`` of a claim the sentence's row or -1, ``label`` its code in
    :data:`LABELS` or -1, with the reason in ``problem``.
    """

    method: str
    answers: int
    unresponsive: int
    failed: int
    kept: Sequence[Generation]
    entity: Ints  # (t,)
    domain: NDArray[np.str_]  # (t,)
    s_text: Ints  # (m,)
    s_number: Ints
    s_count: Ints
    claims: Sequence[Claim]  # (c,)
    text: Ints  # (c,)
    sentence: Ints  # (c,)
    label: Ints  # (c,)
    problem: Sequence[str | None]
    names: Sequence[str]  # (t,) entities by name, the same in every run

    def counts(self) -> Floats:
        """Return the claims S, NS, IR and unlabeled of each sentence, (m, 4)."""
        table = np.zeros((len(self.s_text), 4))
        placed = self.sentence >= 0
        np.add.at(table, (self.sentence[placed], self.label[placed]), 1)
        return table

    def places(self, bins: int, closed: Closed) -> Ints:
        """Return the bin of each sentence, (m,)."""
        pairs = zip(self.s_number.tolist(), self.s_count.tolist(), strict=True)
        return np.array([position_bin(i, n, bins, closed) for i, n in pairs], dtype=np.int64)

    @property
    def position(self) -> Floats:
        """Return i/n of each sentence, (m,)."""
        return self.s_number / np.maximum(self.s_count, 1)

    @property
    def cluster(self) -> Ints:
        """Return the entity of each claim, (c,): claims of a text move together."""
        return self.entity[self.text]

    def per_answer(self) -> Floats:
        """Return the claims S, NS, IR and unlabeled of each answer that answers, (t, 4)."""
        table = np.zeros((len(self.kept), 4))
        np.add.at(table, (self.text, self.label), 1)
        return table


def labels_of(run: Run) -> dict[str, Verdict]:
    """Return the verdict on each claim by its id: people's where they gave a label."""
    found: dict[str, Verdict] = {}
    for table in (SUPPORT, PEOPLE):
        for v in run.verdicts(table) if run.has(f"verdicts/{table}") else ():
            if v.label is not None or v.target not in found:
                found[v.target] = v
    return found


def checkers(run: Run) -> str:
    """Return who labeled the claims, as signatures have it."""
    names = []
    for table in (PEOPLE, SUPPORT):
        some = run.verdicts(table) if run.has(f"verdicts/{table}") else []
        names += [some[0].by] if some else []
    return "+".join(names) or "nobody"


def load_texts(run: Run) -> list[Texts]:
    """Return the texts of every method, in order of appearance."""
    by_method: dict[str, list[Generation]] = defaultdict(list)
    for g in run.generations(STAGE):
        by_method[g.method].append(g)
    answered = {v.target for v in run.verdicts(STAGE) if v.label == RESPONSIVE}
    sentences: dict[str, list[Sentence]] = defaultdict(list)
    for s in run.table(f"sentences/{STAGE}", Sentence):
        sentences[s.generation].append(s)
    claims: dict[str, list[Claim]] = defaultdict(list)
    for c in run.table(f"claims/{STAGE}", Claim):
        claims[c.generation].append(c)
    verdicts = labels_of(run)
    about = {q.id: q for q in run.questions}
    names = {q.id: (q.domain, q.entity or q.id) for q in run.questions}
    found = []
    for method, answers in by_method.items():
        kept = [g for g in answers if g.id in answered]
        domains = np.array([about[g.question].domain for g in kept], dtype=np.str_)
        named = [repr(names[g.question]) for g in kept]
        entity = codes(named) if kept else np.zeros(0, np.int64)
        failed = sum(g.problem is not None for g in answers)
        rows = _rows(kept, sentences, claims, verdicts)
        found.append(
            Texts(
                method,
                len(answers),
                len(answers) - len(kept) - failed,
                failed,
                kept,
                entity,
                domains,
                *rows.sentences,
                rows.claims,
                *rows.placed,
                rows.problems,
                named,
            )
        )
    return found


class _Rows(NamedTuple):
    """Columns of sentences (text, number, count) and of claims (text, sentence, label)."""

    sentences: tuple[Ints, Ints, Ints]
    claims: list[Claim]
    placed: tuple[Ints, Ints, Ints]
    problems: list[str | None]


def _rows(
    kept: Sequence[Generation],
    sentences: Mapping[str, list[Sentence]],
    claims: Mapping[str, list[Claim]],
    verdicts: Mapping[str, Verdict],
) -> _Rows:
    s_rows: list[tuple[int, int, int]] = []
    c_rows: list[tuple[int, int, int]] = []
    every: list[Claim] = []
    problems: list[str | None] = []
    for row, g in enumerate(kept):
        own = sorted(sentences.get(g.id, ()), key=lambda s: s.number)
        place = {s.number: len(s_rows) + at for at, s in enumerate(own)}
        s_rows += [(row, s.number, len(own)) for s in own]
        for c in claims.get(g.id, ()):
            verdict = verdicts.get(c.id)
            label = verdict.label if verdict is not None else None
            code = LABELS.index(label) if label in LABELS else -1
            c_rows.append((row, place.get(c.sentence, -1), code))
            every.append(c)
            problem = verdict.problem if verdict is not None else "unchecked"
            problems.append(None if code >= 0 else problem or "unread")
    return _Rows(_columns(s_rows), every, _columns(c_rows), problems)


def _columns(rows: Sequence[tuple[int, int, int]]) -> tuple[Ints, Ints, Ints]:
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]

"""The rows of a self_known run: stored texts, sentences, claims and verdicts as arrays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sayso.metrics.arrays import Floats, codes
from sayso.metrics.factuality import LABELS, Closed, position_bin
from sayso.protocols.pool import cluster_name, clusters_of
from sayso.protocols.protocol import Run, rows_if_any, stored_verdicts
from sayso.records import Claim, Generation, Sentence, Verdict, is_blank

Ints = NDArray[np.int64]
#: the first codes of ``LongAnswers.label``, which are places in ``LABELS``
SUPPORTED, UNSUPPORTED = 0, 1
#: the stage of all long answers, and the verdicts on their claims by people and by a reader
STAGE = "long"
PEOPLE, SUPPORT = "long-people", "long-support"
RESPONSIVE = "answered"
#: the label of a text that answers and was not drawn (setting ``keep_answered``)
SET_ASIDE = "set aside"


class LongAnswers(NamedTuple):
    """The long answers of one method (or system), with their sentences and claims.

    t answers that answer, m sentences of them, c claims. ``answers`` are all, also those that do
    not answer (``empty`` of them have no text), failed (``failed``) or were not drawn (``aside``).
    ``text`` of a sentence or claim is the answer's row, ``sentence`` of a claim the sentence's row
    or -1, ``label`` its code in :data:`LABELS` or -1, with the reason in ``problem``.
    """

    method: str
    answers: int
    empty: int
    failed: int
    aside: int
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

    def claim_places(self, bins: int, closed: Closed) -> Ints:
        """Return the bin of each claim's sentence, (c,); -1 where it has none."""
        place = np.full(len(self.claims), -1, dtype=np.int64)
        placed = self.sentence >= 0
        place[placed] = self.places(bins, closed)[self.sentence[placed]]
        return place

    @property
    def rated(self) -> NDArray[np.bool_]:
        """Return which claims are supported or not, (c,): labeled, and not irrelevant."""
        return np.asarray((self.label == SUPPORTED) | (self.label == UNSUPPORTED))

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


def claim_verdicts(run: Run) -> dict[str, Verdict]:
    """Return the verdict on each claim by its id: people's where they gave a label."""
    labels: dict[str, Verdict] = {}
    for table in (SUPPORT, PEOPLE):
        for v in stored_verdicts(run, table):
            if v.label is not None or v.target not in labels:
                labels[v.target] = v
    return labels


def checkers(run: Run) -> str:
    """Return who labeled the claims, as signatures have it."""
    tables = [stored_verdicts(run, table) for table in (PEOPLE, SUPPORT)]
    return "+".join(verdicts[0].by for verdicts in tables if verdicts) or "nobody"


def load_long_answers(run: Run) -> list[LongAnswers]:
    """Return the texts of every method, in order of appearance."""
    by_method: dict[str, list[Generation]] = defaultdict(list)
    for g in run.folder.read(f"generations/{STAGE}", Generation):
        by_method[g.method].append(g)
    label = {v.target: v.label for v in run.folder.read(f"verdicts/{STAGE}", Verdict)}
    sentences: dict[str, list[Sentence]] = defaultdict(list)
    for s in rows_if_any(run, f"sentences/{STAGE}", Sentence):
        sentences[s.generation].append(s)
    claims: dict[str, list[Claim]] = defaultdict(list)
    for c in rows_if_any(run, f"claims/{STAGE}", Claim):
        claims[c.generation].append(c)
    verdicts = claim_verdicts(run)
    by_id, clusters = {q.id: q for q in run.questions}, clusters_of(run.questions)
    texts = []
    for method, answers in by_method.items():
        kept = [g for g in answers if label.get(g.id) == RESPONSIVE]
        questions = [by_id[g.question] for g in kept]
        names = [cluster_name(clusters[q.id]) for q in questions]
        texts.append(
            LongAnswers(
                method=method,
                answers=len(answers),
                empty=sum(g.problem in (None, "empty") and is_blank(g.text) for g in answers),
                failed=sum(g.problem not in (None, "empty") for g in answers),
                aside=sum(label.get(g.id) == SET_ASIDE for g in answers),
                kept=kept,
                entity=codes(names) if kept else np.zeros(0, np.int64),
                domain=np.array([q.domain for q in questions], dtype=np.str_),
                names=names,
                **_columns(kept, sentences, claims, verdicts),
            )
        )
    return texts


def _columns(
    kept: Sequence[Generation],
    sentences: Mapping[str, list[Sentence]],
    claims: Mapping[str, list[Claim]],
    verdicts: Mapping[str, Verdict],
) -> dict[str, Any]:
    """Return the columns of :class:`LongAnswers` about sentences and claims, by name."""
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
    of_sentences, of_claims = (
        np.array(rows, dtype=np.int64).reshape(-1, 3) for rows in (s_rows, c_rows)
    )
    return {
        "s_text": of_sentences[:, 0],
        "s_number": of_sentences[:, 1],
        "s_count": of_sentences[:, 2],
        "text": of_claims[:, 0],
        "sentence": of_claims[:, 1],
        "label": of_claims[:, 2],
        "claims": every,
        "problem": problems,
    }

"""How two texts relate, asked of a natural-language-inference model as rarely as possible.

Each ordered pair is asked once, in large calls of similar lengths; a text entails itself by
definition; which column means what is read from the model's own labels.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from typing import Literal

import numpy as np

from sayso.models import Classifier
from sayso.records import InputError

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

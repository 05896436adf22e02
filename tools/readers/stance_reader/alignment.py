"""Which clause of a paragraph speaks of which aspect, and what else weakens it.

A sentence is cut into clauses of words. How well a clause fits an aspect is a learned probability
of features: words of the aspect's family in the clause, its sentence and its neighbors; whether
another aspect fits better; a gold or a value of the expected kind; words of ignorance. The best
clause is taken; :func:`context_of` adds what reaches it: the rest of its sentence, remarks beside
it, and what is said of the whole text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sayso.metrics.arrays import Floats
from stance_reader.reading import (
    Aspect,
    Features,
    Sentence,
    Word,
    add_ngrams,
    collapsed,
    features_of,
    has_gold,
    has_kind,
    load_weights,
    marks_of,
    mask,
    sentences_of,
)
from stance_reader.vocabulary import stem, words

#: clauses of a text that are read: the first and the last ones
FIRST, LAST = 50, 10
#: features of the stance that also tell whether an aspect is spoken of
_OF_SPEAKING = (
    "fit", "low", "mine", "clause value", "hit anywhere", "value", "of all:", "withheld:", "some:",
    "doubt:", "kind:", "clause cue:",
)  # fmt: skip
#: below this probability of its best clause an aspect may not be spoken of at all
LOW = 0.3

_PRONOUNS = frozenset(["he", "she", "it", "they", "his", "its", "her", "their", "him", "them"])
_CONTRASTS = frozenset(["but", "although", "though", "while", "whereas", "yet"])
_QUESTIONS = frozenset(["who", "which", "where", "when", "whose", "whom", "what", "how"])
_VERBS = frozenset(
    [
        *("was", "is", "were", "are", "has", "had", "have", "did", "does"),
        *("can", "could", "will", "would", "also", "later"),
    ]
)
_GAPS = frozenset(["ignorant", "policy", "ask"])
_SOFT = frozenset(["doubt", "modal", "hearsay", "ignorant", "contrast"])
_ASKED_WITH: Mapping[str, frozenset[str]] = {
    "date": frozenset(["when", "date", "year", "day", "month", "dates", "birthday"]),
    "place": frozenset(["where", "place", "city", "country", "location", "town"]),
    "person": frozenset(["who", "whom", "name"]),
    "number": frozenset(["how", "number", "many", "much", "figure", "amount"]),
    "any": frozenset(["what", "which"]),
}


class Clause(NamedTuple):
    """Words ``start:end`` of a sentence."""

    sentence: int
    start: int
    end: int


def clauses_of(rows: Sequence[Sentence]) -> list[Clause]:
    """Cut sentences where a doubt may end; of many clauses the first and the last."""
    found = []
    for number, row in enumerate(rows):
        low = 0
        for at in range(1, len(row)):
            if _begins(row, low, at):
                found.append(Clause(number, low, at))
                low = at
        found.append(Clause(number, low, len(row)))
    found = [c for c in found if any(w.raw[0].isalnum() for w in rows[c.sentence][c.start : c.end])]
    return found if len(found) <= FIRST + LAST else found[:FIRST] + found[-LAST:]


def _begins(row: Sentence, low: int, at: int) -> bool:
    """Whether a clause begins at this word of a sentence whose last clause began at ``low``."""
    text, before = row[at].text, row[at - 1].text
    after = row[at + 1].text if at + 1 < len(row) else ""
    if before in (";", ":", "—", "–") or text in _CONTRASTS:
        return True
    if text == "(":
        return any(w.text[0].isdigit() or w.text == "born" for w in row[at + 1 : at + 4])
    if before == ")":
        return row[low].text == "("
    if before == ",":
        long = at - low >= 3 and after != ""
        return text in _QUESTIONS or (long and (text in _PRONOUNS or text in ("i", "there")))
    if text in ("and", "or") and at - low >= 3:
        verb = (
            after in _VERBS or after in words("past") or (after.endswith("ed") and len(after) > 4)
        )
        return verb or after in _PRONOUNS or after in ("i", "there")
    return False


def _told_apart(aspects: Sequence[Aspect]) -> list[Aspect]:
    """Drop the cues that all aspects share: they name the subject, not an aspect."""
    if len(aspects) < 2:
        return list(aspects)
    shared = frozenset.intersection(*(aspect.cues for aspect in aspects))
    return [aspect._replace(cues=aspect.cues - shared or aspect.cues) for aspect in aspects]


class Paragraph:
    """A text and the aspects it was asked for, with what fits each clause to each aspect.

    Arrays are (clauses, aspects): ``hits`` the share of the aspect's cues, ``golds``, ``kinds``.
    """

    def __init__(self, text: str, aspects: Sequence[Aspect]) -> None:
        self.aspects = _told_apart(aspects)
        self.rows = sentences_of(text)
        self.clauses = clauses_of(self.rows)
        parts = [self.words(c) for c in self.clauses]
        self.stems = [frozenset(stem(w.text) for w in part) for part in parts]
        self.row_stems = [frozenset(stem(w.text) for w in row) for row in self.rows]
        self.marks = [marks_of(part) for part in parts]
        self.kinds_of = [frozenset(m.kind for m in marks) for marks in self.marks]
        self.row_kinds = [frozenset(m.kind for m in marks_of(row)) for row in self.rows]
        shape = (len(parts), len(self.aspects))
        self.hits, self.golds, self.kinds, self.partly = (np.zeros(shape) for _ in range(4))
        for i, part in enumerate(parts):
            texts = {w.text for w in part}
            for j, aspect in enumerate(self.aspects):
                self.hits[i, j] = len(self.stems[i] & aspect.cues) / max(1, len(aspect.cues))
                self.golds[i, j] = has_gold(part, aspect)
                self.partly[i, j] = len(aspect.gold_words & texts) / max(1, len(aspect.gold_words))
                self.kinds[i, j] = has_kind(part, aspect)
        self.fits = np.zeros((0, 0))
        self._leave_golds_of_others()

    def _leave_golds_of_others(self) -> None:
        """Forget a gold in a clause that names only another aspect of the same kind."""
        for j, aspect in enumerate(self.aspects):
            alike = [k for k, a in enumerate(self.aspects) if k != j and a.kind == aspect.kind]
            if alike:
                theirs = (self.hits[:, j] == 0) & (self.hits[:, alike].max(axis=1) > 0)
                self.golds[theirs, j] = self.partly[theirs, j] = 0.0

    def words(self, clause: Clause) -> Sentence:
        """Return the words of a clause."""
        return self.rows[clause.sentence][clause.start : clause.end]

    def align(self) -> Floats:
        """Return, and keep, P(the clause speaks of the aspect), (aspects, clauses)."""
        weights = load_weights("alignment")
        self.fits = np.array(
            [
                [float(weights.probabilities(self.pair(i, j))[0]) for i in range(len(self.clauses))]
                for j in range(len(self.aspects))
            ]
        ).reshape(len(self.aspects), len(self.clauses))
        return self.fits

    def pair(self, i: int, j: int) -> Features:
        """Return the features of clause ``i`` and aspect ``j``."""
        aspect, clause = self.aspects[j], self.clauses[i]
        part = self.words(clause)
        hit, gold, kind = self.hits[i, j], self.golds[i, j], self.kinds[i, j]
        other = float(np.delete(self.hits[i], j).max(initial=0.0))
        related = aspect.families
        family = bool(self.stems[i] & related)
        sentence = self.row_stems[clause.sentence]
        into = {
            "hit": hit,
            "any hit": float(hit > 0),
            "all hit": float(hit >= 0.99),
            "family": float(family),
            "best here": float(hit > 0 and hit >= other),
            "other hit": other,
            "best of mine": float(hit > 0 and hit >= self.hits[:, j].max()),
            "sentence hit": len(sentence & aspect.cues) / max(1, len(aspect.cues)),
            "sentence family": float(bool(sentence & related)),
            "hit before": self.hits[i - 1, j] if i else 0.0,
            "hit after": self.hits[i + 1, j] if i + 1 < len(self.hits) else 0.0,
            "gold": gold,
            "gold words": self.partly[i, j],
            "gold and hit": gold * (hit > 0),
            "hit without gold": float(hit > 0 and bool(aspect.gold_words) and not gold),
            "gold elsewhere": float(bool(self.golds[:, j].any()) and not gold),
            "has gold": float(bool(aspect.gold_words)),
            "value": kind,
            "hit and value": kind * (hit > 0),
            "free value": float(bool(kind) and not self.hits[i].any()),
            "first": float(i == 0),
            "words": min(len(part), 40) / 40,
            f"kind:{aspect.kind}": 1.0,
            f"value:{aspect.kind}:{int(kind)}": 1.0,
            f"family value:{aspect.kind}": family * kind,
        }
        self._ignorance(i, j, into)
        self._shape(i, j, into)
        for name in sorted(related)[:2]:
            into[f"asked:{name}"] = 1.0
            for word in part[:30]:
                if word.text.isalpha() and len(word.text) > 2 and word.text not in aspect.names:
                    into[f"asked:{name}|{word.text}"] = 1.0
        return into

    def _ignorance(self, i: int, j: int, into: Features) -> None:
        """Add how a statement of ignorance names what it is about."""
        aspect, kinds = self.aspects[j], self.kinds_of[i]
        gap = bool(kinds & (_GAPS | {"doubt"}))
        if not gap:
            return
        named = any(w.text in _ASKED_WITH[aspect.kind] for w in self.words(self.clauses[i]))
        alone = sum(a.kind == aspect.kind for a in self.aspects) == 1
        hit = self.hits[i, j] > 0
        into["gap"], into["gap hit"] = 1.0, float(hit)
        into["gap names kind"], into["gap names only kind"] = float(named), float(named and alone)
        into["gap of all"] = float("whole" in kinds)
        into["bare gap"] = float(not hit and not self.kinds[i, j])

    def _shape(self, i: int, j: int, into: Features) -> None:
        """Add ways to say an aspect that no word tells: life spans, "was an American singer"."""
        aspect, part = self.aspects[j], self.words(self.clauses[i])
        bracket = part[0].text == "("
        into["bracket"] = float(bracket)
        alone = sum(a.kind == aspect.kind for a in self.aspects) == 1
        into["only kind"], into["value of only kind"] = float(alone), alone * self.kinds[i, j]
        if aspect.kind == "date" and bracket:
            years = sum(len(w.text) == 4 and w.text.isdigit() for w in part)
            for family in ("birth", "death"):
                into[f"span:{family}"] = float(years == 2 and family in aspect.families)
        texts = {w.text for w in part}
        says = i < 3 and bool(texts & {"is", "was"}) and bool(texts & {"a", "an", "the"})
        into["is a"] = float(says and bool(aspect.families & {"citizenship", "occupation"}))

    def best(self, j: int) -> tuple[int, float]:
        """Return the clause that fits aspect ``j`` best, and how well."""
        i = int(np.argmax(self.fits[j]))
        return i, float(self.fits[j, i])

    def context_of(self, j: int) -> list[Sentence]:
        """Return the words that matter for aspect ``j``: its clause and what may weaken it."""
        kept: list[list[Word]] = []
        last = -1
        for q in self._reaching(j):
            clause = self.clauses[q]
            if clause.sentence == last:
                kept[-1].extend(self.words(clause))
            else:
                kept.append(list(self.words(clause)))
            last = clause.sentence
        return [tuple(part) for part in kept]

    def _reaching(self, j: int) -> list[int]:
        """Return the clauses that say something of aspect ``j``, or weaken what is said."""
        i, fit = self.best(j)
        home = self.clauses[i].sentence
        others = np.delete(self.fits, j, axis=0).max(axis=0, initial=0.0)
        reaching = []
        for q, clause in enumerate(self.clauses):
            kinds = self.kinds_of[q]
            gap, soft = bool(kinds & _GAPS), bool(kinds & _SOFT)
            near = fit >= LOW / 2 and (
                q == i
                or (clause.sentence == home and not others[q] > max(0.4, self.fits[j, q]))
                or (abs(clause.sentence - home) == 1 and soft and others[q] < 0.4)
            )
            whole = "whole" in kinds and (gap or soft) and others[q] < 0.6
            wanted = near or whole or (fit < LOW and gap and others[q] < 0.4)
            if wanted and (q == i or whole or not self._names_another(q, j)):
                reaching.append(q)
        return reaching

    def _names_another(self, q: int, j: int) -> bool:
        """Whether a remark of doubt names another kind of thing: "although I doubt the year"."""
        if not self.kinds_of[q] & (_GAPS | _SOFT) or self.hits[q, j] > 0:
            return False
        texts = {w.text for w in self.words(self.clauses[q])}
        if texts & _ASKED_WITH[self.aspects[j].kind]:
            return False
        kinds = {"date", "place", "person", "number"} - {self.aspects[j].kind}
        named = any(texts & _ASKED_WITH[kind] for kind in kinds)
        return named or bool(np.delete(self.hits[q], j).any())

    def spoken_features(self, j: int) -> Features:
        """Return the features of whether the text speaks of aspect ``j`` at all."""
        i, fit = self.best(j)
        into = {f"best:{k}": v for k, v in self.pair(i, j).items() if "gold" not in k}
        stance = self.features(j).items()
        into.update({name: value for name, value in stance if name.startswith(_OF_SPEAKING)})
        ranked = np.sort(self.fits[j])[::-1]
        into["second fit"] = float(ranked[1]) if len(ranked) > 1 else 0.0
        into["sum of fits"] = float(ranked.sum())
        into["clauses"] = min(len(self.clauses), 12) / 12
        gaps = [bool(kinds & _GAPS) for kinds in self.row_kinds]
        whole = any("whole" in kinds and kinds & _GAPS for kinds in self.row_kinds)
        into[f"gaps:{all(gaps):d}{gaps[0]:d}{gaps[-1]:d}{whole:d}:{fit < LOW:d}"] = 1.0
        into[f"gaps of one:{len(gaps) == 1 and gaps[0]:d}"] = 1.0
        value = bool(self.kinds[i, j])
        family = bool(into["best:family"])
        for step in (0.05, *(n / 10 for n in range(1, 10))):
            if fit > step:
                into[f"fit>{step}:{value:d}"] = 1.0
                into[f"fit>{step}:{family:d}{bool(into['best:best here']):d}"] = 1.0
        return into

    def chances(self, j: int) -> Floats:
        """Return the probability of each of STANCES towards aspect ``j``, (stances,).

        A text whose every sentence withholds something omits nothing.
        """
        unspoken = 0.0
        if not all(kinds & _GAPS for kinds in self.row_kinds):
            unspoken = float(load_weights("spoken").probabilities(self.spoken_features(j))[0])
        rest = load_weights("stance").probabilities(self.features(j))
        return np.append(rest * (1 - unspoken), unspoken)

    def features(self, j: int) -> Features:
        """Return the features of the stance towards aspect ``j``; :meth:`align` comes first."""
        rows, aspect = self.context_of(j), self.aspects[j]
        i, fit = self.best(j)
        clause = self.clauses[i]
        into = features_of(rows, aspect) if rows else {"nothing": 1.0}
        low = float(fit < LOW)
        part = self.words(clause)
        add_ngrams(collapsed(mask(part, aspect), self.marks[i]), "clause:", into, 2)
        first, every = self.row_kinds[0], frozenset().union(*self.row_kinds)
        beside = {-1: "row before:", 0: "row:", 1: "row after:"}
        for q in self._reaching(j):
            prefix = beside.get(self.clauses[q].sentence - clause.sentence, "row elsewhere:")
            if q != i:
                into.update({prefix + kind: 1.0 for kind in self.kinds_of[q]})
        into.update({f"clause cue:{kind}": 1.0 for kind in self.kinds_of[i]})
        if low:
            into.update({f"low:first row:{kind}": 1.0 for kind in first})
            into.update({f"low:{kind}": 1.0 for kind in every})
        for kinds in self.row_kinds:
            if "whole" in kinds:
                into.update({f"of all:{kind}": 1.0 for kind in kinds})
        other = float(np.delete(self.fits[:, i], j).max(initial=0.0))
        gaps = [bool(kinds & _GAPS) for kinds in self.row_kinds]
        into |= {
            "long": 1.0,
            "fit": fit,
            "low": low,
            "fit of another": other,
            "mine": float(fit >= other),
            "clause value": self.kinds[i, j],
            "hit anywhere": float(self.hits[:, j].any()),
            "low first gap": low * gaps[0],
            "low all gaps": low * all(gaps),
            f"rows:{min(len(rows), 3)}": 1.0,
        }
        into.update({f"fit>{b}": float(fit > b) for b in (0.05, *(n / 10 for n in range(1, 10)))})
        return into

"""Which clause of a paragraph speaks of which aspect, and what else weakens it.

A sentence is cut into clauses of words. How well a clause fits an aspect is a learned probability
of features: words of the aspect's family in the clause, its sentence and its neighbors; whether
another aspect fits better; a value of the expected kind; words of ignorance. The best
clause is taken; :func:`context_of` adds what reaches it: the rest of its sentence, remarks beside
it, and what is said of the whole text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sayso.judges.english.families import family_names, family_stem, meanings, vectors_of
from sayso.judges.english.lexicon import lexicon_words, phrases
from sayso.judges.english.numbers import MONTH_NAMES
from sayso.judges.english.questions import Expected, asks_for_a_name
from sayso.judges.rules.reading import (
    FUNCTION,
    NAMELESS,
    STANCES,
    AskedAspect,
    Features,
    Sentence,
    StanceWeights,
    StanceWord,
    add_ngrams,
    collapsed,
    in_steps,
    known_of,
    load_weights,
    marks_of,
    mask,
    sentences_of,
    stance_features,
    told_in,
    values_in,
)
from sayso.metrics.arrays import Floats

#: features of the stance that also tell whether an aspect is spoken of
_OF_SPEAKING = (
    "fit", "low", "mine", "clause value", "hit anywhere", "value", "of ", "withheld:", "some:",
    "doubt:", "kind:", "clause cue:",
)  # fmt: skip
_FITS = tuple((b, f"fit>{b}") for b in (0.05, *(n / 10 for n in range(1, 10))))


@lru_cache(maxsize=65536)
def _speaks(feature: str) -> bool:
    return feature.startswith(_OF_SPEAKING)


#: below this probability of its best clause an aspect may not be spoken of at all
LOW = 0.3
#: words of a label before a colon ("Place of birth: Ripley"), which begins no clause
LABEL = 5

_PRONOUNS = lexicon_words("pronouns", "alignment")
_SUBJECTS = lexicon_words("pronouns", "alignment.subject")
_TELLING = lexicon_words("pronouns", "alignment.telling")
_FRONTED = lexicon_words("places", "alignment.fronted")
_REMARKS = frozenset(["doubt", "modal", "hearsay", "ignorant", "firm"])
_CONTRASTS = lexicon_words("turns", "alignment")
_QUESTIONS = lexicon_words("questions", "alignment")
_VERBS = lexicon_words("auxiliaries", "alignment")
_OWN_KNOWLEDGE = lexicon_words("knowledge", "alignment")
_PAST = lexicon_words("verbs", "stance")
_PLACING = lexicon_words("places", "alignment.placing") | {":"}
_BEFORE_PLACES = lexicon_words("places", "alignment.before")
_TIMES = MONTH_NAMES | lexicon_words("nearly", "alignment")
_PLACES = lexicon_words("places", "alignment")
_GAPS = frozenset(["ignorant", "policy", "ask"])
_SOFT = frozenset(["doubt", "modal", "hearsay", "ignorant", "contrast"])
_DOUBTS = _GAPS | _SOFT
_BEING = frozenset(["citizenship", "occupation"])
_ASKED_WITH: Mapping[str, frozenset[str]] = {
    kind: lexicon_words("questions", f"alignment.{kind}")
    for kind in ("date", "place", "person", "number", "any")
}


#: a feature of clauses and aspects, (clauses, aspects)
Column = NDArray[np.float64] | NDArray[np.bool_]


class AlignedClause(NamedTuple):
    """Words ``start:end`` of a sentence."""

    sentence: int
    start: int
    end: int


def clauses_of(
    rows: Sequence[Sentence], asked: frozenset[str] = frozenset()
) -> list[AlignedClause]:
    """Cut sentences where a doubt may end.

    ``asked`` are the stems of what is asked: a verb among them begins a clause.
    """
    found = []
    for number, row in enumerate(rows):
        low = 0
        for at in range(1, len(row)):
            if _begins(row, low, at, asked):
                found.append(AlignedClause(number, low, at))
                low = at
        found.append(AlignedClause(number, low, len(row)))
    return [c for c in found if any(w.raw[0].isalnum() for w in rows[c.sentence][c.start : c.end])]


def _begins(row: Sentence, low: int, at: int, asked: frozenset[str]) -> bool:
    """Whether a clause begins at this word of a sentence whose last clause began at ``low``."""
    text, before = row[at].text, row[at - 1].text
    after = row[at + 1] if at + 1 < len(row) else None
    if before in (";", "—", "–") or text in _CONTRASTS:
        return row[low].text != "("
    if before == ":":
        return at - low > LABEL
    if text == "(":
        inside = row[at + 1 : at + 10]
        told = any(w.text[0].isdigit() or w.text == "born" for w in inside[:3])
        return told or any(mark.kind in _REMARKS for mark in marks_of(inside))
    if before == ")":
        return row[low].text == "("
    if after is None or at - low < 3:
        return before == "," and text in _QUESTIONS
    if text in ("and", "or", "so"):
        # a word alone that says how sure something is: "and possibly ..."
        alone = phrases("hedges").get(after.text, {}).get("", ())
        remarks = any(kind in _REMARKS for _, kind in alone)
        return remarks or _verb(after, asked) or after.text in _SUBJECTS
    if before == ",":
        if text in _QUESTIONS or text in _SUBJECTS or _verb(row[at], asked):
            return True
        fronted = low == 0 and (row[0].text in _FRONTED or _past(row[0].text))
        return fronted and any(family_stem(word.text) in asked for word in row[:at])
    return False


def _verb(word: StanceWord, asked: frozenset[str]) -> bool:
    text = word.text
    if word.capital:
        return False
    said = text[-1:] == "s" and family_stem(text) in asked
    return text in _VERBS or text in _PAST or _past(text) or said


def _past(text: str) -> bool:
    return text.endswith("ed") and len(text) > 4


def _placed(part: Sentence, aspect: AskedAspect) -> bool:
    """Whether a name stands behind "in" or the like, or behind "the birthplace is"."""
    told = any(word.text in _PLACES for word in part)
    for at, word in enumerate(part):
        if word.name and word.text not in MONTH_NAMES and word.text not in aspect.names:
            before = at - 1
            while before > max(-1, at - 5) and part[before].text in _BEFORE_PLACES:
                before -= 1
            if before >= 0 and (
                part[before].text in _PLACING or (part[before].text in ("is", "was") and told)
            ):
                return True
    return False


def asserting_sentences(rows: Sequence[Sentence], aspect: AskedAspect) -> list[Sentence]:
    """Return the sentences of a short answer without clauses that doubt something else.

    "She was born in Ripley, but I am not sure when" does not doubt the place, nor does "She was a
    singer, and I think she lived in Derby" doubt the singer. When the writer's knowledge ends is no
    other thing.
    """
    if not any(mark.kind in _DOUBTS for row in rows for mark in marks_of(row)):
        return list(rows)
    clauses = clauses_of(rows, aspect.cues)
    parts = [rows[c.sentence][c.start : c.end] for c in clauses]
    stems = [_stems(part) for part in parts]
    hit = [bool(found & aspect.cues) for found in stems]
    kept: list[list[StanceWord]] = [[] for _ in rows]
    for clause, part, found, mine in zip(clauses, parts, stems, hit, strict=True):
        doubts = any(mark.kind in _DOUBTS for mark in marks_of(part))
        value = any(word.name or word.text[0].isdigit() for word in part)
        told = value and any(hit) and bool(found & family_names())
        told = told and not any(word.text in _OWN_KNOWLEDGE for word in part)
        if mine or not doubts or not (told or _other_kind(part, aspect.kind)):
            kept[clause.sentence].extend(part)
    return [tuple(part) for part in kept if part] or list(rows)


def _other_kind(part: Sentence, kind: Expected) -> bool:
    """Whether a clause names another kind of thing than the one asked for, and not that one."""
    texts = {word.text for word in part}
    if kind == "any" or texts & _ASKED_WITH[kind]:
        return False
    return any(texts & _ASKED_WITH[k] for k in ("date", "place", "person", "number") if k != kind)


def _stems(part: Sentence) -> frozenset[str]:
    """Return the stems of words, and the families that phrases and life spans tell of."""
    found = told_in(part) | {name for word in part for name in meanings(word.text)}
    return found | {"birth", "death"} if part[0].text == "(" and _years(part) == 2 else found


def _years(part: Sentence) -> int:
    return sum(len(word.text) == 4 and word.text.isdigit() for word in part)


def _shares(stems: Sequence[frozenset[str]], aspects: Sequence[AskedAspect]) -> Floats:
    """Return the share of each aspect's cues that stems hold, (stems, aspects)."""
    held = [[len(told & a.cues) / max(1, len(a.cues)) for a in aspects] for told in stems]
    return np.array(held, dtype=np.float64).reshape(len(stems), len(aspects))


@cache
def _weights_of_words() -> dict[str, dict[str, int]]:
    """Return the weights of the features "asked:FAMILY|WORD", by family."""
    weights = load_weights("alignment")
    table: dict[str, dict[str, int]] = {family: {} for family in family_names()}
    for name, row in weights.rows.items():
        if name.startswith("asked:"):
            family, mark, word = name.removeprefix("asked:").partition("|")
            table[family][mark + word] = int(weights.table[row, 0])
    return table


def _others(table: Floats) -> Floats:
    """Return the largest of the other columns, for each entry; 0 where there is no other."""
    if table.shape[1] < 2:
        return np.zeros_like(table)
    best = table.argmax(axis=1)
    rows = np.arange(len(table))
    rest = table.copy()
    rest[rows, best] = -np.inf
    others = np.repeat(table.max(axis=1, keepdims=True), table.shape[1], axis=1)
    others[rows, best] = rest.max(axis=1)
    return np.asarray(np.maximum(others, 0.0), dtype=np.float64)


class AlignedParagraph:
    """A text and the aspects it was asked for, with what fits each clause to each aspect.

    Arrays are (clauses, aspects): ``hits`` the share of the aspect's cues, ``kinds`` whether a
    value of its kind stands there.
    """

    def __init__(self, text: str, aspects: Sequence[AskedAspect]) -> None:
        # the cues that all aspects share name the subject, not an aspect
        cues = [a.cues for a in aspects]
        shared = frozenset.intersection(*cues) if len(cues) > 1 else frozenset[str]()
        self.aspects = [a._replace(cues=a.cues - shared or a.cues) for a in aspects]
        self.names = frozenset().union(*(a.names for a in self.aspects)) - FUNCTION
        self.rows = sentences_of(text)
        self.clauses = clauses_of(self.rows, frozenset().union(*(a.cues for a in self.aspects)))
        parts = [self.words(c) for c in self.clauses]
        self.stems = [_stems(part) for part in parts]
        self.row_stems = [_stems(row) for row in self.rows]
        self.marks = [marks_of(part) for part in parts]
        self.kinds_of = [frozenset(m.kind for m in marks) for marks in self.marks]
        self.row_kinds = [frozenset(m.kind for m in marks_of(row)) for row in self.rows]
        self.hits = _shares(self.stems, self.aspects)
        self.kinds = self._kinds(parts)
        self.likeness = self._likeness(parts)
        self.other_hits = _others(self.hits)
        self.taken = self.hits.max(axis=1, initial=0.0) > 0
        self.withholds = all(kinds & _GAPS for kinds in self.row_kinds) and not any(
            self.taken[q] for q, kinds in enumerate(self.kinds_of) if not kinds & _GAPS
        )
        #: families that are asked with, by aspect, and what tells of them, by clause and names
        self.asked_with = [sorted(aspect.families)[:2] for aspect in self.aspects]
        self._words: dict[tuple[int, frozenset[str]], frozenset[str]] = {}
        self.use(np.zeros((len(self.aspects), len(parts))))

    @cached_property
    def pairs(self) -> tuple[list[str], Floats]:
        """The features of pairs but for words: names, and (features, clauses, aspects)."""
        parts = [self.words(c) for c in self.clauses]
        columns = self._of_words(parts) | self._of_likeness()
        columns |= self._of_ignorance(parts) | self._of_shape(parts)
        return [*columns], np.array([*columns.values()], dtype=np.float64)

    def _kinds(self, parts: Sequence[Sentence]) -> Floats:
        values = {
            kind: [values_in(part, kind) for part in parts]
            for kind in {aspect.kind for aspect in self.aspects}
        }
        held = [[not v <= known_of(a) for v in values[a.kind]] for a in self.aspects]
        return np.array(held, dtype=np.float64).reshape(len(self.aspects), len(parts)).T

    def _likeness(self, parts: Sequence[Sentence]) -> Floats:
        """Return how near the words of a clause come to those asked with, (clauses, aspects, 2).

        For each word asked with, the cosine of the nearest word: the mean, and the largest, to
        six digits, so that equal clauses tie on any processor.
        """
        function = FUNCTION | NAMELESS
        near = np.zeros((len(parts), len(self.aspects), 2))
        asked = [vectors_of(aspect.meant) for aspect in self.aspects]
        said = [
            vectors_of(
                {
                    w.text
                    for w in part
                    if not w.name and w.raw[0].isalpha() and w.text not in function
                }
            )
            for part in parts
        ]
        columns, rows = ([n for n, table in enumerate(t) if len(table)] for t in (asked, said))
        if columns and rows:
            cosines = np.concatenate(asked) @ np.concatenate(said).T
            counts = np.array([len(asked[j]) for j in columns])
            starts = np.cumsum(counts) - counts
            ends = np.cumsum([0, *(len(said[i]) for i in rows[:-1])])
            best = np.maximum.reduceat(cosines, ends, axis=1)
            mean = np.add.reduceat(best, starts) / counts[:, np.newaxis]
            most = np.maximum.reduceat(best, starts)
            near[np.ix_(rows, columns)] = np.stack((mean.T, most.T), axis=2).round(6)
        return near

    def words(self, clause: AlignedClause) -> Sentence:
        """Return the words of a clause."""
        return self.rows[clause.sentence][clause.start : clause.end]

    def align(self) -> None:
        """Keep P(the clause speaks of the aspect), (aspects, clauses)."""
        weights, of_words = load_weights("alignment"), _weights_of_words()
        names, values = self.pairs
        rows = [weights.rows.get(name, -1) for name in names]
        told = [
            sum(
                of_words[family][word]
                for family in families
                for word in of_words[family].keys() & self._telling(i, aspect.names)
            )
            for i in range(len(self.clauses))
            for aspect, families in zip(self.aspects, self.asked_with, strict=True)
        ]
        sums = weights.table[rows, 0] @ in_steps(values).reshape(len(rows), -1)
        sums += in_steps(np.array(told, dtype=np.float64))
        fits = weights.shares(sums[:, np.newaxis]).reshape(self.hits.shape)
        self.use(np.ascontiguousarray(fits.T))

    def use(self, fits: Floats) -> None:
        """Keep how well clauses fit aspects, (aspects, clauses)."""
        self.fits = fits
        self.other_fits = _others(fits.T).T
        self._reaching: dict[int, list[int]] = {}
        self._context: dict[int, list[Sentence]] = {}

    def pair(self, i: int, j: int) -> Features:
        """Return the features of clause ``i`` and aspect ``j``."""
        names, values = self.pairs
        into: Features = dict(zip(names, values[:, i, j].tolist(), strict=True))
        for family in self.asked_with[j]:
            for word in self._telling(i, self.aspects[j].names):
                into[f"asked:{family}{word}"] = 1.0
        return into

    def _telling(self, i: int, names: frozenset[str]) -> frozenset[str]:
        """Return the words of a clause that may tell of a family, and how they end."""
        if (i, names) not in self._words:
            told = [
                word.text
                for word in self.words(self.clauses[i])[:30]
                if word.text.isalpha() and len(word.text) > 2 and word.text not in names
            ]
            ends = (f"|-{text[-3:]}" for text in told)
            self._words[i, names] = frozenset(["", *(f"|{text}" for text in told), *ends])
        return self._words[i, names]

    def _of_words(self, parts: Sequence[Sentence]) -> dict[str, Column]:
        """Return what the words of the aspect and values of its kind tell."""
        hits, kinds, hit = self.hits, self.kinds, self.hits > 0
        related = [aspect.families for aspect in self.aspects]
        family, of_sentence = (
            np.array([[float(not told.isdisjoint(f)) for f in related] for told in stems])
            for stems in (self.stems, self.row_stems)
        )
        home, none = [clause.sentence for clause in self.clauses], np.zeros_like(hits[:1])
        into: dict[str, Column] = {
            "hit": hits,
            "any hit": hit,
            "all hit": hits >= 0.99,
            "family": family,
            "best here": hit & (hits >= self.other_hits),
            "other hit": self.other_hits,
            "best of mine": hit & (hits >= hits.max(axis=0)),
            "sentence hit": _shares(self.row_stems, self.aspects)[home],
            "sentence family": of_sentence[home],
            "hit before": np.concatenate((none, hits[:-1])),
            "hit after": np.concatenate((hits[1:], none)),
            "value": kinds,
            "hit and value": kinds * hit,
            "free value": kinds * ~self.taken[:, np.newaxis],
            "first": np.concatenate((none + 1, np.zeros_like(hits[1:]))),
            "words": np.zeros_like(hits) + [[min(len(part), 40) / 40] for part in parts],
        }
        for kind in {aspect.kind for aspect in self.aspects}:
            mine = np.array([float(aspect.kind == kind) for aspect in self.aspects])
            into[f"kind:{kind}"] = np.zeros_like(hits) + mine
            into[f"value:{kind}:0"] = (1 - kinds) * mine
            into[f"value:{kind}:1"] = kinds * mine
            into[f"family value:{kind}"] = family * kinds * mine
        return into

    def _of_likeness(self) -> dict[str, Column]:
        """Return how near words are to those asked with: alone, and beside other pairs."""
        into: dict[str, Column] = {}
        for k, name in enumerate(("like", "likest")):
            like = self.likeness[:, :, k]
            into[name] = like
            into[f"{name} more"] = like - _others(like)
            into[f"{name} less"] = like - like.max(axis=0)
            into.update({f"{name}>{t}": like > t for t in (0.3, 0.4, 0.5, 0.6, 0.8)})
        return into

    def _of_ignorance(self, parts: Sequence[Sentence]) -> dict[str, Column]:
        """Return how a statement of ignorance names what it is about."""
        kinds, hit = [aspect.kind for aspect in self.aspects], self.hits > 0
        doubts = [[bool(marked & (_GAPS | {"doubt"}))] for marked in self.kinds_of]
        gap = np.ones_like(hit) & doubts
        texts = [{word.text for word in part} for part in parts]
        named = gap & [[not _ASKED_WITH[k].isdisjoint(said) for k in kinds] for said in texts]
        return {
            "gap": gap,
            "gap hit": gap & hit,
            "gap names kind": named,
            "gap names only kind": named & [kinds.count(kind) == 1 for kind in kinds],
            "gap of all": gap & [["whole" in marked] for marked in self.kinds_of],
            "bare gap": gap & ~hit & (self.kinds == 0),
        }

    def _of_shape(self, parts: Sequence[Sentence]) -> dict[str, Column]:
        """Return ways to say an aspect that no word tells: life spans, "was an American singer"."""
        aspects, every = self.aspects, np.ones(self.hits.shape, dtype=bool)
        kinds = [aspect.kind for aspect in aspects]
        only = every & [kinds.count(kind) == 1 for kind in kinds]
        bracket = every & [[part[0].text == "("] for part in parts]
        span = bracket & [[_years(part) == 2] for part in parts] & [k == "date" for k in kinds]
        placed = np.array(
            [[a.kind == "place" and _placed(part, a) for a in aspects] for part in parts]
        )
        texts = [{word.text for word in part} for part in parts]
        says = [
            [i < 3 and bool(said & {"is", "was"}) and bool(said & {"a", "an", "the"})]
            for i, said in enumerate(texts)
        ]
        subjects = [""] * len(parts)  # the name that a clause begins with
        for n, part in enumerate(parts):
            first = next((w for w in part if w.raw[0].isalnum()), None)
            if first is not None and first.capital and first.text not in FUNCTION:
                subjects[n] = first.text
        return {
            "bracket": bracket,
            "only kind": only,
            "value of only kind": only * self.kinds,
            "span:birth": span & ["birth" in a.families for a in aspects],
            "span:death": span & ["death" in a.families for a in aspects],
            "other subject": np.array(
                [[bool(s and a.names and s not in a.names) for a in aspects] for s in subjects]
            ),
            "placed": placed,
            "hit and placed": placed & (self.hits > 0),
            "is a": every & says & [bool(a.families & _BEING) for a in aspects],
        }

    def best(self, j: int) -> tuple[int, float]:
        """Return the clause that fits aspect ``j`` best, and how well."""
        i = int(self.fits[j].argmax())
        return i, float(self.fits[j, i])

    def context_of(self, j: int) -> list[Sentence]:
        """Return the words that matter for aspect ``j``: its clause and what may weaken it."""
        if j not in self._context:
            at = [self.clauses[q] for q in self.reaching(j)]
            self._context[j] = [
                tuple(word for clause in clauses for word in self.words(clause))
                for _, clauses in groupby(at, key=lambda clause: clause.sentence)
            ]
        return self._context[j]

    def reaching(self, j: int) -> list[int]:
        """Return the clauses that say something of aspect ``j``, or weaken what is said."""
        if j not in self._reaching:
            self._reaching[j] = self._find_reaching(j)
        return self._reaching[j]

    def _find_reaching(self, j: int) -> list[int]:
        if self.withholds:
            return list(range(len(self.clauses)))
        i, fit = self.best(j)
        home = self.clauses[i].sentence
        others = self.other_fits[j]
        reaching = []
        for q, clause in enumerate(self.clauses):
            kinds = self.kinds_of[q]
            gap, soft = bool(kinds & _GAPS), bool(kinds & _SOFT)
            owner = self._owner(q)
            near = fit >= LOW / 2 and (
                q == i
                or (
                    clause.sentence == home and owner is not None and self.fits[j, owner] >= fit / 2
                )
                or (
                    clause.sentence == home
                    and owner is None
                    and not others[q] > max(0.4, self.fits[j, q])
                )
                or (
                    abs(clause.sentence - home) == 1
                    and soft
                    and others[q] < 0.4
                    and "rest" not in kinds
                    and owner is None
                    and not self._tells(q)
                    and (self._bare(q) or (self.kinds[q, j] and self.aspects[j].kind != "any"))
                )
            )
            whole = (
                bool(kinds & {"whole", "all"})
                and "rest" not in kinds
                and (gap or soft)
                and others[q] < 0.6
            )
            wanted = near or whole or (fit < LOW and gap and others[q] < 0.4)
            if wanted and (q == i or whole or not self._names_another(q, j)):
                reaching.append(q)
        return reaching

    def _owner(self, q: int) -> int | None:
        """Return the clause of the sentence that a bare remark of doubt belongs to."""
        if not self._bare(q):
            return None
        sentence = self.clauses[q].sentence
        for step in (-1, 1):
            at = q + step
            while 0 <= at < len(self.clauses) and self.clauses[at].sentence == sentence:
                if not self._bare(at):
                    return at
                at += step
        return None

    def _tells(self, q: int) -> bool:
        """Whether a clause goes on to tell of the subject: "She may have been a dancer."."""
        first = self.words(self.clauses[q])[0]
        return first.text in _TELLING or first.text in self.names

    def _bare(self, q: int) -> bool:
        if not self.kinds_of[q] & _DOUBTS or self.taken[q]:
            return False
        part = self.words(self.clauses[q])
        return part[0].text == "(" or not any(w.name or w.text[0].isdigit() for w in part)

    def _names_another(self, q: int, j: int) -> bool:
        """Whether a remark of doubt names another kind of thing: "although I doubt the year"."""
        if not self.kinds_of[q] & _DOUBTS or self.hits[q, j] > 0:
            return False
        named = _other_kind(self.words(self.clauses[q]), self.aspects[j].kind)
        return named or bool(self.other_hits[q, j])

    def spoken_features(self, j: int, stance: Features) -> Features:
        """Return the features of whether the text speaks of aspect ``j``, some of ``stance``."""
        i, fit = self.best(j)
        pair = self.pair(i, j)
        into = {f"best:{k}": v for k, v in pair.items() if v}
        into.update({name: stance[name] for name in filter(_speaks, stance)})
        ranked = sorted(self.fits[j].tolist(), reverse=True)
        into["second fit"] = ranked[1] if len(ranked) > 1 else 0.0
        into["sum of fits"] = float(self.fits[j].sum())
        into["clauses"] = min(len(self.clauses), 12) / 12
        gaps = [bool(kinds & _GAPS) for kinds in self.row_kinds]
        whole = any("whole" in kinds and kinds & _GAPS for kinds in self.row_kinds)
        into[f"gaps:{all(gaps):d}{gaps[0]:d}{gaps[-1]:d}{whole:d}:{fit < LOW:d}"] = 1.0
        into[f"gaps of one:{len(gaps) == 1 and gaps[0]:d}"] = 1.0
        value, family = bool(self.kinds[i, j]), bool(pair["family"])
        kind, hit = self.aspects[j].kind, bool(self.hits[i, j])
        here, anywhere = int(5 * self.likeness[i, j, 0]), int(5 * self.likeness[:, j, 0].max())
        into[f"any:{kind}:{bool(self.hits[:, j].any()):d}:{anywhere}"] = 1.0
        into[f"here:{kind}:{hit:d}:{value:d}:{here}"] = 1.0
        into[f"here:{hit:d}:{family:d}:{here}"] = 1.0
        suffixes = (f":{value:d}", f":{family:d}{bool(pair['best here']):d}")
        into.update({name + s: 1.0 for b, name in _FITS if fit > b for s in suffixes})
        return into

    def chances(self, spoken: StanceWeights, stance: StanceWeights) -> Floats:
        """Return the probability of each of STANCES towards each aspect, (aspects, stances).

        A text whose every sentence withholds something omits nothing; one without a date that
        withholds nothing omits every date. So is what has a name, where none stands beside it, and
        what no sentence speaks of but one that withholds another kind of thing.
        """
        features = [self.features(j) for j in range(len(self.aspects))]
        rest = stance.of_each(features)
        unspoken = np.zeros(len(features))
        unsure = []
        said = {word.text for row in self.rows for word in row}
        times = (text in _TIMES or any(map(str.isdigit, text)) for text in said)
        timeless = not self._gaps() and not any(times)
        for j, aspect in enumerate(self.aspects):
            gives = STANCES[int(np.argmax(rest[j]))] in ("committed", "hedged")
            silent = self._nameless(j) if gives else self._withholds_another(j)
            if (aspect.kind == "date" and timeless) or silent:
                unspoken[j] = 1.0
            elif not self.withholds:
                unsure.append(j)
        if unsure:
            of_speaking = [self.spoken_features(j, features[j]) for j in unsure]
            unspoken[unsure] = spoken.of_each(of_speaking)[:, 0]
        unspoken = unspoken[:, np.newaxis]
        return np.concatenate((rest * (1 - unspoken), unspoken), axis=1)

    def _nameless(self, j: int) -> bool:
        """Whether the sentences that fit an aspect best lack the name that it asks for.

        "It has majestic mountains" does not say which mountain is the highest.
        """
        if not asks_for_a_name(self.aspects[j].question) or self._gaps():
            return False
        speaking = (self.fits[j] >= self.fits[j].max() / 2) | (self.hits[:, j] > 0)
        near = {self.clauses[i].sentence for i in np.flatnonzero(speaking)}
        words_near = [word for n in near for word in self.rows[n]]
        return not any(word.name and word.text not in self.names for word in words_near)

    def _withholds_another(self, j: int) -> bool:
        """Whether what is withheld is of another kind: "I do not know when she was born"."""
        i, _ = self.best(j)
        general = any(kinds & {"whole", "all", "rest"} for kinds in self.row_kinds)
        part = self.words(self.clauses[i])
        asks = any(word.text in _QUESTIONS for word in part)
        if self.withholds or general or not asks or not self.kinds_of[i] & _GAPS:
            return False
        return _other_kind(part, self.aspects[j].kind)

    def _gaps(self) -> bool:
        """Whether any sentence withholds or doubts something."""
        return any(kinds & (_GAPS | {"doubt"}) for kinds in self.row_kinds)

    def features(self, j: int) -> Features:
        """Return the features of the stance towards aspect ``j``; :meth:`align` comes first."""
        rows, aspect = self.context_of(j), self.aspects[j]
        i, fit = self.best(j)
        clause = self.clauses[i]
        home = next(
            (n for n, row in enumerate(rows) if row[-1].end >= self.words(clause)[0].end), 0
        )
        into = stance_features(rows, aspect, home) if rows else {"nothing": 1.0}
        low = float(fit < LOW)
        part = self.words(clause)
        add_ngrams(collapsed(mask(part, aspect), self.marks[i]), "clause:", into, 2)
        first, every = self.row_kinds[0], frozenset().union(*self.row_kinds)
        beside = {-1: "row before:", 0: "row:", 1: "row after:"}
        for q in self.reaching(j):
            prefix = beside.get(self.clauses[q].sentence - clause.sentence, "row elsewhere:")
            if q != i:
                into.update({prefix + kind: 1.0 for kind in self.kinds_of[q]})
        into.update({f"clause cue:{kind}": 1.0 for kind in self.kinds_of[i]})
        if low:
            into.update({f"low:first row:{kind}": 1.0 for kind in first})
            into.update({f"low:{kind}": 1.0 for kind in every})
        for kinds in self.row_kinds:
            for whole in kinds & {"whole", "all", "rest"}:
                into.update({f"of {whole}:{kind}": 1.0 for kind in kinds})
        other = float(self.other_fits[j, i])
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
        into.update({name: 1.0 for b, name in _FITS if fit > b})
        return into

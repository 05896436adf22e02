"""How surely a text speaks: features of the words that speak of an aspect, and the learned reader.

A text becomes sentences of words. Words of the question, numbers and names are masked, so that what
is learned is how things are said, not what. Features are n-grams of what is left (as it stands, and
with each cue phrase replaced by its class), cues by where they stand (before or after the value, in
its segment, sentence or beside it; denied; in the first person), whether a value of the expected
kind is there, and lengths. The weights of a softmax over the stances are learned from labeled text
(``tools/readers/stance.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from io import BytesIO
from itertools import repeat
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.judges.english.families import family_names, family_stem, meanings, word_group
from sayso.judges.english.lexicon import judge_data, lexicon_words, phrases, written_out
from sayso.judges.english.numbers import MONTH_NAMES
from sayso.judges.english.questions import Expected, asks_whether, expected
from sayso.judges.english.sentences import split_sentences
from sayso.judges.patterns import regex
from sayso.metrics.arrays import Floats
from sayso.records import Gold, Stance, year_of

Features = dict[str, float]

#: the stances whose probability is learned; the last one of paragraphs only
STANCES: tuple[Stance, ...] = (
    "committed", "hedged", "abstained", "refused_by_policy", "asked_back", "omitted",
)  # fmt: skip

#: words that masks never hide: their place in an answer tells the stance
FUNCTION = lexicon_words("function words", "stance")
#: words of a question that name nothing
NAMELESS = lexicon_words("function words", "question")
_WORD = regex(r"[^\W_]+(?:['’-][^\W_]+)*+|[?!.,;:()%\"=—–]")


class StanceWord(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """A word or sign: as compared, as written, where it stands, whether it is capitalized.

    ``opens``: it is the first of its sentence.
    """

    text: str
    raw: str
    start: int
    end: int
    capital: bool
    opens: bool

    @property
    def name(self) -> bool:
        """Whether it looks like a name: capitalized, and not because a sentence begins."""
        own = self.raw == "I" or self.raw[:2] in ("I'", "I\N{RIGHT SINGLE QUOTATION MARK}")
        return self.capital and not self.opens and not own


Sentence = tuple[StanceWord, ...]


def stretch_words(text: str, low: int = 0, high: int | None = None) -> Sentence:
    """Return the words and signs of a stretch, contractions written out."""
    found: list[StanceWord] = []
    for match in _WORD.finditer(text, low, len(text) if high is None else high):
        raw = match.group()[:60]
        start, end = match.span()
        capital = raw[0].isupper()
        for part in written_out(raw.lower()):
            found.append(StanceWord(part, raw, start, end, capital, not found))
    if found and found[0].capital and found[0].text not in phrases("hedges"):
        rest = [word for word in found[1:] if word.raw[0].isalnum()]
        if not rest or (len(found) > 1 and found[1].name and found[0].text not in FUNCTION):
            found[0] = msgspec.structs.replace(found[0], opens=False)
    return tuple(found)


def sentences_of(text: str) -> list[Sentence]:
    """Return the sentences of a text as words."""
    return list(_rows(text))


@lru_cache(maxsize=512)
def _rows(text: str) -> tuple[Sentence, ...]:
    rows = (stretch_words(text, span.start, span.end) for span in split_sentences(text))
    return tuple(row for row in rows if row)


# ---- what is asked


class AskedAspect(NamedTuple):
    """A question: the kind of its answer, its stems, the words of its golds, names in it.

    ``asked`` are stems of all its content words, ``cues`` those that are no names, and families;
    ``golds`` are word sequences; no feature reads them.
    """

    question: str
    kind: Expected
    asked: frozenset[str]
    cues: frozenset[str]
    names: frozenset[str]
    meant: tuple[str, ...]
    golds: tuple[tuple[str, ...], ...]
    given: tuple[Gold, ...]

    @property
    def families(self) -> frozenset[str]:
        """The families of words that the question asks with."""
        return self.cues & family_names()


@lru_cache(maxsize=8192)
def aspect_of(
    question: str, golds: tuple[Gold, ...] = (), hint: str = "", entity: str = ""
) -> AskedAspect:
    """Read a question; ``hint`` is the description of its type, ``entity`` whom it is about."""
    sequences: list[tuple[str, ...]] = []
    for value in (value for gold in golds for value in gold.names):
        if (year := year_of(value)) is not None:
            sequences.append((year,))
        else:
            words = stretch_words(value[:200])
            sequences.append(tuple(word.text for word in words if word.raw[0].isalnum()))
    asked = _asked(question, hint, entity)
    return asked._replace(golds=tuple(s for s in sequences if s), given=golds)


@lru_cache(maxsize=8192)
def _asked(question: str, hint: str, entity: str) -> AskedAspect:
    """Read a question without its golds, which others may lend it."""
    asked = [word for row in sentences_of(question[-4000:]) for word in row]
    names = {word.text for word in asked if word.name}
    names.update(word.text for word in stretch_words(entity))
    content = [
        word.text
        for word in asked
        if word.raw[0].isalnum() and word.text not in FUNCTION and word.text not in NAMELESS
    ]
    stems = {name for word in content if word not in names for name in meanings(word)}
    stems.update(
        family_stem(word.text)
        for word in stretch_words(hint)
        if word.raw[0].isalnum() and word.text not in FUNCTION and word.text not in NAMELESS
    )
    known = family_names()
    stems.update(family_stem(word.text) for word in asked if family_stem(word.text) in known)
    return AskedAspect(
        question,
        expected(question, hint),
        frozenset(map(family_stem, content)),
        frozenset(stems),
        frozenset(names),
        tuple(dict.fromkeys(w for w in content if w not in names)),
        (),
        (),
    )


# ---- masks, cues and values

#: what stands for masked words
_MASKS = frozenset({"ASKED", "NAME", "#", "MONTH"})


def mask(row: Sentence, aspect: AskedAspect) -> list[str | None]:
    """Return each word as the reader sees it; ``None`` where a mask goes on."""
    seen: list[str | None] = []
    last: str | None = None
    for word in row:
        text = word.text
        letters = text.isalpha()
        if not letters and not word.raw[0].isalnum():
            symbol = text
        elif not letters and any(map(str.isdigit, text)):
            symbol = "#"
        elif text in MONTH_NAMES and word.name:
            symbol = "MONTH"
        elif text in FUNCTION:
            symbol = text
        elif family_stem(text) in aspect.asked:
            symbol = "ASKED"
        else:
            symbol = "NAME" if word.name else text
        seen.append(None if symbol == last and symbol in _MASKS else symbol)
        last = symbol
    return seen


class CueMark(NamedTuple):
    """A cue phrase: words ``start:end`` of a sentence, and its class."""

    start: int
    end: int
    kind: str


@lru_cache(maxsize=1024)
def marks_of(row: Sentence) -> tuple[CueMark, ...]:
    """Return the cue phrases of a sentence; a name and the month of May are none."""
    found = []
    for mark in _found(row, "hedges"):
        first = row[mark.start]
        # a neighbor is capitalized too: "Maybe Happy Ending"
        beside = (i for i in (mark.start - 1, mark.start + 1) if 0 <= i < len(row))
        if not first.name or not (first.text in MONTH_NAMES or any(row[i].name for i in beside)):
            found.append(mark)
    return tuple(found)


def holds_cue(text: str, *kinds: str) -> bool:
    """Return whether a sentence of a text has a cue phrase of a class."""
    return any(mark.kind in kinds for row in sentences_of(text) for mark in marks_of(row))


def told_in(row: Sentence) -> frozenset[str]:
    """Return the families of aspects that phrases tell of."""
    return frozenset(mark.kind for mark in _found(row, "phrases"))


def _found(row: Sentence, section: str) -> Iterator[CueMark]:
    table = phrases(section)
    for at, word in enumerate(row):
        begun = table.get(word.text)
        if begun:
            after = row[at + 1].text if at + 1 < len(row) else ""
            for second in ("", after, "*") if after else ("",):
                for phrase, kind in begun.get(second, ()):
                    end = _phrase_end(row, at, phrase)
                    if end is not None:
                        yield CueMark(at, end, kind)


def _phrase_end(row: Sentence, at: int, phrase: tuple[str, ...]) -> int | None:
    for i, part in enumerate(phrase):
        if part == "*":
            skip = next(
                (n for n in (1, 2) if at + n < len(row) and row[at + n].text == phrase[i + 1]), None
            )
            if skip is None:
                return None
            at += skip
        elif at < len(row) and row[at].text == part:
            at += 1
        else:
            return None
    return at


def has_kind(row: Sentence, aspect: AskedAspect) -> bool:
    """Whether these words hold a value of the expected kind."""
    return not values_in(row, aspect.kind) <= known_of(aspect)


def known_of(aspect: AskedAspect) -> frozenset[str]:
    """Return what of :func:`values_in` the question itself says."""
    if aspect.kind in ("place", "person"):
        return aspect.names
    return aspect.asked if aspect.kind == "any" else frozenset()


def values_in(row: Sentence, kind: Expected) -> frozenset[str]:
    """Return the words that a value of a kind may be: years, numbers, names, stems of content."""
    if kind == "date":
        years = [w.text for w in row if w.text.removesuffix("s").isdigit()]
        months = [w.text for w in row if w.text in MONTH_NAMES and w.capital]
        return frozenset([*months, *(y for y in years if 3 <= len(y.removesuffix("s")) <= 4)])
    if kind == "number":
        return frozenset(w.text for w in row if w.text[0].isdigit())
    if kind in ("place", "person"):
        names = [w.text for w in row if w.name and w.text not in MONTH_NAMES]
        return frozenset(t for t in names if t.isalpha() or not any(map(str.isdigit, t)))
    cued = {at for mark in marks_of(row) for at in range(mark.start, mark.end)}
    return frozenset(
        family_stem(w.text)
        for at, w in enumerate(row)
        if w.raw[0].isalnum() and w.text not in FUNCTION and at not in cued
    )


# ---- features

_KIND_SYMBOLS: Mapping[str, tuple[str, ...]] = {
    "date": ("#", "MONTH"), "number": ("#",), "place": ("NAME",), "person": ("NAME",),
}  # fmt: skip
_ANY_SYMBOL = ("NAME", "#", "MONTH")
_EDGES = frozenset(",;:()—–").union(
    lexicon_words("turns", "stance"), lexicon_words("questions", "stance")
)
_COUNTED = (
    "doubt", "modal", "hearsay", "ignorant", "policy", "ask", "denial", "whole", "firm", "contrast",
)  # fmt: skip
#: how a class of cues is called among the features: its count, whether there is any, and none
_COUNTS = tuple((kind, f"cue:{kind}", f"some:{kind}", f"none:{kind}") for kind in _COUNTED)
_NEGATIONS = lexicon_words("negations", "stance")
_SPEAKER = lexicon_words("pronouns", "stance")


def add_ngrams(symbols: Iterable[str | None], prefix: str, into: Features, most: int = 3) -> None:
    """Add the n-grams of one to ``most`` symbols, the ends of the sentence among them."""
    kept = ["^", *filter(None, symbols), "$"]
    grams = [prefix + symbol for symbol in kept]
    every = grams
    for n in range(1, most):
        grams = [f"{gram} {symbol}" for gram, symbol in zip(grams, kept[n:], strict=False)]
        every = every + grams
    into.update(dict.fromkeys(every, 1.0))


def word_groups_of(symbols: Iterable[str | None]) -> list[str]:
    """Return the symbols with words of content as their groups of like meaning."""
    return [s if s in FUNCTION or not s[0].islower() else word_group(s) for s in symbols if s]


def collapsed(symbols: Sequence[str | None], marks: Sequence[CueMark]) -> list[str]:
    """Return the symbols with cue phrases as their class, other words as ``w``."""
    kept = list(symbols)
    for start, end, kind in sorted(marks, key=lambda m: (m.start, -m.end)):
        if kept[start] is not None and not str(kept[start]).startswith("<"):
            kept[start:end] = [f"<{kind}>", *[None] * (end - start - 1)]
    short: list[str] = []
    for symbol in kept:
        if symbol is None:
            continue
        plain = symbol[0].isalnum() and symbol not in FUNCTION and symbol not in _MASKS
        if not (plain and short and short[-1] == "w"):
            short.append("w" if plain else symbol)
    return short


def _spots(symbols: Sequence[str | None], kind: str) -> list[int]:
    """Return where the value may stand: what has the shape of the kind, else of any value."""
    for wanted in (_KIND_SYMBOLS.get(kind, _ANY_SYMBOL), _ANY_SYMBOL):
        spots = [at for at, symbol in enumerate(symbols) if symbol in wanted]
        if spots:
            return spots
    return []


def _segment(row: Sentence, at: int) -> tuple[int, int]:
    """Return the words around a place up to a comma, a bracket, "and" or another clause."""
    low, high = at, at
    while low > 0 and row[low - 1].text not in _EDGES and row[low - 1].text != "and":
        low -= 1
    while high + 1 < len(row) and row[high + 1].text not in _EDGES and row[high + 1].text != "and":
        high += 1
    if low > 1 and row[low - 1].text == "," and at - low <= 2:
        start = low - 1
        while start > 0 and row[start - 1].text not in _EDGES:
            start -= 1
        if low - 1 - start <= 4:  # "perhaps, Ripley"
            low = start
    if high + 2 < len(row) and row[high + 1].text == ",":
        end = high + 2
        while end < len(row) and row[end].text not in _EDGES and row[end].text not in ".?!":
            end += 1
        if end - high - 2 <= 4 and (end == len(row) or row[end].text in ",.?!"):
            high = end - 1  # "Ripley, reportedly, ..."
    return low, high + 1


def stance_features(
    rows: Sequence[Sentence], aspect: AskedAspect, home: int | None = None
) -> Features:
    """Return the features of the sentences that speak of an aspect; ``home`` is the one that does.

    They know nothing of the golds: a reading of doubt that went by what is true would credit a
    model that hedges blindly with knowing itself.
    """
    masked = [_masked(row, aspect) for row in rows]
    if home is None:
        home = _home_of(masked)
    marks = [marks_of(row) for row in rows]
    into = _features_of_masked(masked, marks, home)
    for i, (row, own) in enumerate(zip(rows, marks, strict=True)):
        if own and i == home:
            _around_value(row, masked[i].symbols, own, aspect, into)
        if own:
            _cues_of(row, own, ("before", "home", "after")[(i >= home) + (i > home)], into)
        if i == 0:
            into.update({f"cue1:{mark.kind}": 1.0 for mark in own})
    _whole(masked, aspect.kind, into)
    return into


class MaskedSentence(NamedTuple):
    """What the reader sees of a sentence without a cue: its words as they are masked, and lengths.

    ``value``: it holds a value of the expected kind; ``asks``: it ends with a question mark.
    """

    symbols: tuple[str | None, ...]
    value: bool
    length: int
    asks: bool


def _masked(row: Sentence, aspect: AskedAspect) -> MaskedSentence:
    symbols = tuple(mask(row, aspect))
    value = has_kind(row, aspect) or (aspect.kind == "any" and _answers_whether(row, aspect))
    return MaskedSentence(symbols, value, len(row), row[-1].text == "?")


def _answers_whether(row: Sentence, aspect: AskedAspect) -> bool:
    """Whether a sentence says something of what a question asks to be so or not.

    "Is she alive, or has she died?" is answered by a word of its own.
    """
    return asks_whether(aspect.question) and bool(values_in(row, "any") - aspect.names)


def _home_of(rows: Sequence[MaskedSentence]) -> int:
    return next((i for i, row in enumerate(rows) if row.value), 0)


def _features_of_masked(
    rows: Sequence[MaskedSentence], marks: Sequence[Sequence[CueMark]], home: int
) -> Features:
    """Return the features of words, with cue phrases by their class in the sentence ``home``."""
    into: Features = {}
    for i, row in enumerate(rows):
        add_ngrams(row.symbols, "", into)
        add_ngrams(word_groups_of(row.symbols), "like:", into, 2)
        if i == 0:
            add_ngrams(row.symbols[:6], "first:", into)
        if i == home:
            add_ngrams(row.symbols, "home:", into, 2)
            add_ngrams(collapsed(row.symbols, marks[i]), "cues:", into)
    return into


#: answers of so many words are often alike but for names and numbers
FEW_WORDS = 16


def stance_chances(rows: Sequence[Sentence], aspect: AskedAspect) -> Floats:
    """Return the chances of the stances of the sentences of a short answer.

    Few words without a cue are weighed once for all answers that look alike: "Ripley" and "Derby".
    """
    if sum(map(len, rows)) > FEW_WORDS or any(map(marks_of, rows)):
        features = stance_features(rows, aspect)
        features["short"] = 1.0
        return load_weights("stance").probabilities(features)
    return _chances_of_masked(tuple(_masked(row, aspect) for row in rows), aspect.kind).copy()


@lru_cache(maxsize=4096)
def _chances_of_masked(rows: tuple[MaskedSentence, ...], kind: Expected) -> Floats:
    into = _features_of_masked(rows, [()] * len(rows), _home_of(rows))
    _whole(rows, kind, into)
    into["short"] = 1.0
    return load_weights("stance").probabilities(into)


def _cues_of(row: Sentence, marks: Sequence[CueMark], place: str, into: Features) -> None:
    speaker = any(word.text in _SPEAKER for word in row)
    for start, _, kind in marks:
        into[f"cue:{kind}"] = into.get(f"cue:{kind}", 0.0) + 1
        into[f"{place}:cue:{kind}"] = 1.0
        if any(word.text in _NEGATIONS for word in row[max(0, start - 3) : start]):
            into[f"denied:{kind}"] = 1.0
        if speaker:
            into[f"speaker:{kind}"] = 1.0


def _around_value(
    row: Sentence, symbols: Sequence[str | None], marks: Sequence[CueMark], aspect: AskedAspect,
    into: Features,
) -> None:  # fmt: skip
    """Add how each cue of the sentence stands to its value."""
    spots = _spots(symbols, aspect.kind)
    if not spots:
        return
    asked = [at for at, word in enumerate(row) if family_stem(word.text) in aspect.cues]
    spot = min(spots, key=lambda p: min((abs(p - a) + 2 * (p < a) for a in asked), default=p))
    spots = [p for p in spots if abs(p - spot) <= 3]
    low, high = _segment(row, spot)
    for start, end, kind in marks:
        apart = min(
            0 if start <= p < end else p - end + 1 if p >= end else start - p for p in spots
        )
        into[f"{'near' if apart <= 4 else 'far'}:{kind}"] = 1.0
        into[f"{'segment' if start < high and end > low else 'outside'}:{kind}"] = 1.0
        into[f"{_next_to(symbols, start, end, aspect.kind)}:{kind}"] = 1.0
        into[f"{'ahead' if any(p >= end for p in spots) else 'behind'}:{kind}"] = 1.0


def _next_to(symbols: Sequence[str | None], start: int, end: int, kind: str) -> str:
    """Return whether the value beside a cue is of the kind that is asked for."""
    mine = _KIND_SYMBOLS.get(kind, _ANY_SYMBOL)
    for symbol in (*symbols[end : end + 4], *reversed(symbols[max(0, start - 4) : start])):
        if symbol in _ANY_SYMBOL:
            return "beside mine" if symbol in mine else "beside another"
    return "beside none"


_LENGTHS = tuple((n, f"length>{n}") for n in (3, 6, 12, 25, 50, 100))
_NEW = tuple((n, f"new>{n}") for n in (0, 1, 2, 4, 8, 16))


def _whole(rows: Sequence[MaskedSentence], kind: Expected, into: Features) -> None:
    """Add what holds of all sentences together."""
    told = (s for row in rows for s in row.symbols if s and (s[0].isalnum() or s == "#"))
    new = sum(s not in FUNCTION and s != "ASKED" for s in told)
    value = any(row.value for row in rows)
    some = {}
    for name, cue, any_cue, no_cue in _COUNTS:
        count = into.get(cue, 0.0)
        some[name] = bool(count)
        if count:
            into[cue], into[any_cue] = min(count, 3) / 3, 1.0
        else:
            into[no_cue] = 1.0
    into["value"], into[f"kind:{kind}"] = float(value), 1.0
    into[f"value:{kind}:{value:d}"] = 1.0
    length = sum(row.length for row in rows)
    into.update({name: 1.0 for n, name in _LENGTHS if length > n})
    into.update({name: 1.0 for n, name in _NEW if new > n})
    into[f"sentences:{min(len(rows), 4)}"] = 1.0
    asks = [row.asks for row in rows]
    into["asks last"], into["asks"] = float(bool(asks) and asks[-1]), float(any(asks))
    into["only asks"] = float(bool(asks) and all(asks))
    withheld = f"{some['ignorant']:d}{some['policy']:d}{some['ask']:d}"
    into[f"withheld:{withheld}:{value:d}"] = 1.0
    doubt = some["doubt"] or some["modal"]
    into[f"doubt:{some['ignorant']:d}{doubt:d}{value:d}:{min(new // 4, 3)}"] = 1.0


# ---- the learned weights

#: Weights and values are whole multiples of these, so that their sums are exact: probabilities do
#: not depend on the order of the features, nor on how a processor adds.
WEIGHT_STEP, VALUE_STEP = 2.0**-24, 2.0**-20
_ONE = round(1 / VALUE_STEP)


def in_steps(values: Floats | np.float64) -> NDArray[np.int64]:
    """Return the values of features as multiples of VALUE_STEP."""
    return np.rint(values / VALUE_STEP).astype(np.int64)


class StanceWeights(NamedTuple):
    """A linear model: the row of each feature, weights (features + 1, classes), bias (classes,).

    Weights count WEIGHT_STEP; the last row, of features that are not known, is 0. ``temperature``
    divides the scores, so that probabilities mean what they say.
    """

    rows: Mapping[str, int]
    table: NDArray[np.int64]
    bias: Floats
    temperature: float

    def probabilities(self, features: Features) -> Floats:
        """Return the probability of each class, (classes,)."""
        rows = self.rows
        ones = [rows[name] for name, value in features.items() if value == 1.0 and name in rows]
        sums = np.add.reduce(self.table.take(ones, axis=0), axis=0) * _ONE
        for name, value in features.items():
            if value != 1.0 and value and name in rows:
                sums += self.table[rows[name]] * round(value / VALUE_STEP)
        return np.asarray(self.shares(sums[np.newaxis])[0], dtype=np.float64)

    def of_each(self, examples: Sequence[Features]) -> Floats:
        """Return the probability of each class for each of the examples, (examples, classes)."""
        rows, values, starts = [-1], [0.0], []
        for features in examples:
            starts.append(len(rows) - 1)
            rows += map(self.rows.get, features, repeat(-1))
            values += features.values()
            rows.append(-1)
            values.append(0.0)
        whole = in_steps(np.array(values))
        return self.shares(
            np.add.reduceat(self.table.take(rows, axis=0) * whole[:, np.newaxis], starts, axis=0)
        )

    def shares(self, sums: NDArray[np.int64]) -> Floats:
        """Return the probability of each class for sums of weights, (examples, classes)."""
        scores = (self.bias + sums * (WEIGHT_STEP * VALUE_STEP)) / self.temperature
        if scores.shape[1] == 1:
            return np.asarray(1 / (1 + np.exp(-np.clip(scores, -700.0, 700.0))), dtype=np.float64)
        power = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(power / power.sum(axis=1, keepdims=True), dtype=np.float64)


def weights_of(
    names: Sequence[str], table: ArrayLike, bias: ArrayLike, temperature: float
) -> StanceWeights:
    """Return a linear model; ``table`` holds the weights (features, classes) as numbers."""
    whole = np.rint(np.asarray(table, dtype=np.float64) / WEIGHT_STEP).astype(np.int64)
    whole = np.vstack((whole, np.zeros_like(whole[:1])))
    rows = {feature: row for row, feature in enumerate(names)}
    return StanceWeights(rows, whole, np.asarray(bias, dtype=np.float64), temperature)


@cache
def load_weights(name: str) -> StanceWeights:
    """Load the weights of ``stance``, ``spoken`` or ``alignment`` from the package."""
    with np.load(BytesIO(judge_data(f"{name}.npz")), allow_pickle=False) as arrays:
        names = arrays["names"].tobytes().decode("utf-8").split("\n")
        return weights_of(names, arrays["table"], arrays["bias"], float(arrays["temperature"]))

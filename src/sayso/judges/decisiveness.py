"""How likely would a reader take an answer to be true, from its wording alone?

Yona et al. (arXiv 2405.16908) ask a language model (:class:`LlmDecisive`); :func:`decisiveness`
reads the wording offline with two linear models over named features. The lexicon
(``data/lexicon.txt``) puts words of likelihood, belief, memory, evidence and doubt
into classes; everything that it does not list is content and is masked, so that names, numbers and
subjects cannot count. The first model says of each clause whether it asserts something, the second
how surely the clauses that do are worded: classes, pairs of classes, places of the cues, and runs
of one or two words around them. Probabilities in numbers ("70 % sure", "one in three") are taken
as they are, and alternatives ("Lyon or Nice") share. ``tools/readers/decisiveness.py`` trains both
models; ``benchmarks/readers/trained.md`` says on what, ``docs/readers.md`` how well they read.

"The question is incomplete", "I don't know", "I'm certain of his birthdate" assert nothing, so they
carry neither decisiveness nor a value to compare.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from sayso.engines.engine import Engine
from sayso.judges.english.language import is_english
from sayso.judges.english.lexicon import (
    hedge_phrases,
    judge_data,
    lexicon_words,
    written_out,
)
from sayso.judges.english.stated import stated_probabilities
from sayso.judges.english.tokens import seen, uninflected
from sayso.judges.english.wrapping import unwrapped
from sayso.judges.model.numbered import JudgeTask, NumberedReader, numbered_blocks
from sayso.judges.patterns import regex
from sayso.judges.rules.voiced import gives_nothing

#: A longer answer, in characters, is not read at all: its beginning is not the whole.
LONGEST_READ = 20_000
_DASHES = str.maketrans("–—", "--")

# ---- the lexicon and the learned weights, kept as data


class Lexicon(NamedTuple):
    """Classes of cue words and of runs of words; what may stand around a cue; small talk."""

    classes: Mapping[str, tuple[str, ...]]
    runs: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]
    glue: frozenset[str]
    talk: frozenset[str]
    hedges: frozenset[str]
    modifiers: frozenset[str]
    personal: frozenset[str]


@cache
def lexicon() -> Lexicon:
    """Return the hedges and other words of ``data/lexicon.txt`` by their first word."""
    classes: dict[str, tuple[str, ...]] = {}
    runs: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {}
    for kind, phrase in hedge_phrases("decisiveness"):
        first, *rest = phrase.split()
        if rest:
            runs[first] = (*runs.get(first, ()), ((first, *rest), kind))
        else:
            classes[first] = (*classes.get(first, ()), kind)
    longest = {w: tuple(sorted(r, key=lambda x: -len(x[0]))) for w, r in runs.items()}
    glue, talk, personal = (
        lexicon_words("talk", f"decisiveness.{use}") for use in ("glue", "talk", "personal")
    )
    weak, modifiers = (
        lexicon_words("classes", f"decisiveness.{use}") for use in ("hedges", "modifiers")
    )
    return Lexicon(classes, longest, glue, talk, weak, modifiers, personal)


class DecisivenessWeights(NamedTuple):
    """One linear model: what each feature adds to ``base``; the words that it does not mask."""

    base: float
    of: Mapping[str, float]
    vocabulary: frozenset[str] = frozenset()

    def sum(self, features: Mapping[str, float]) -> float:
        """Return the model's output for named features; unknown ones add nothing."""
        of = self.of
        return self.base + math.fsum(of[f] * x for f, x in features.items() if f in of)


_MODELS: dict[str, DecisivenessWeights] = {}


def weights(name: str) -> DecisivenessWeights:
    """Return the learned model ``asserts`` or ``level``."""
    if not _MODELS:
        data = json.loads(judge_data("decisiveness_weights.json"))
        use(
            {
                k: DecisivenessWeights(m["base"], m["of"], frozenset(m.get("vocabulary", ())))
                for k, m in data.items()
            }
        )
    return _MODELS[name]


def use(models: Mapping[str, DecisivenessWeights]) -> None:
    """Read with these models from now on; for their training."""
    _MODELS.update(models)
    analyze.cache_clear()


# ---- words, clauses, segments


class DecisivenessWord(NamedTuple):
    """A word or stop in lower case, its place in the text, and whether it may be a cue."""

    text: str
    start: int
    end: int
    cue: bool
    value: bool


_TOKEN = regex(r"[^\W_]++(?:['.,/-](?=[^\W_])[^\W_]++)*+|[,;:.?!()%\n]")
#: cue words that are also names or months: no cue with a capital, wherever they stand
_NAMED = frozenset({"may", "will"})
_ABBREVIATED = lexicon_words("abbreviations", "decisiveness")


def seen_plainly(text: str) -> str:
    """Return a text as it is ``seen``, with plain dashes."""
    return seen(text).translate(_DASHES)


def decisiveness_words(text: str) -> list[DecisivenessWord]:
    """Return the words and stops of a text (plain quotes); "isn't" gives "is" and "not"."""
    known, read = lexicon().classes, list[DecisivenessWord]()
    opens = True
    for hit in _TOKEN.finditer(text):
        raw, (start, end) = hit.group(), hit.span()
        low = raw.lower()
        capital = raw[0].isupper() and not opens and raw != "I" and not raw.startswith("I'")
        value = raw[0].isdigit() or capital
        for part in written_out(low, "decisiveness"):
            cue = part in known and not capital and not (raw[0].isupper() and part in _NAMED)
            read.append(DecisivenessWord(part, start, end, cue, value))
        # quotes open titles, in which a capital says nothing of a sentence's start
        opens = low in ".?!\n:" or (opens and not low[0].isalnum())
    return read


_TURNS = lexicon_words("turns", "decisiveness")
_RELATIVE = lexicon_words("questions", "decisiveness.relative")
_PERSONS = lexicon_words("pronouns", "decisiveness")
_PLACES = lexicon_words("places", "decisiveness")


class DecisivenessClause(NamedTuple):
    """A stretch of words without a turn; ``sentence`` counts from 0, ``side`` for an aside."""

    words: tuple[DecisivenessWord, ...]
    sentence: int
    side: bool


def clauses(text: str, items: Sequence[DecisivenessWord]) -> list[DecisivenessClause]:
    """Cut a text at the ends of sentences, at semicolons, and where a conjunction turns it."""
    cut: list[DecisivenessClause] = []
    begin = sentence = 0
    side = False

    def close(end: int) -> None:
        if any(w.text[0].isalnum() for w in items[begin:end]):
            cut.append(DecisivenessClause(tuple(items[begin:end]), sentence, side))

    for i, word in enumerate(items):
        if _ends(text, items, i):
            close(i + 1)
            begin, sentence, side = i + 1, sentence + 1, False
            continue
        before = items[i - 1].text if i > begin else ""
        after = items[i + 1].text if i + 1 < len(items) else ""
        turns = word.text in _TURNS or (word.text == "and" and after in _PERSONS)
        aside = before == "," and word.text in _RELATIVE
        if i > begin and (turns or aside):
            close(i)
            begin, side = i, aside or word.text not in ("but", "and", "however", "yet")
        elif turns and word.text not in ("but", "and", "however", "yet"):
            side = True
        elif before == "," and side and word.text in _PERSONS:
            close(i)
            begin, side = i, False
    close(len(items))
    return cut


def _ends(text: str, items: Sequence[DecisivenessWord], i: int) -> bool:
    word = items[i]
    if word.text in (";", "\n"):
        return True
    if word.text not in (".", "?", "!") or text[word.end : word.end + 1].isalnum():
        return False
    before = items[i - 1].text if i else ""
    initial = len(before) == 1 and before.isalpha() and before != "i"
    numbered = before.isdigit() and (i < 2 or items[i - 2].text == "\n")
    lettered = initial or before[1:2] == "."
    return word.text != "." or not (before in _ABBREVIATED or lettered or numbered)


# ---- features

Features = dict[str, float]

_SPEAKING = lexicon_words("pronouns", "decisiveness.speaking")
#: a run of words is rarer than its parts and says more: it is shrunk less
_RUN = 3.0


def cues_of(items: Sequence[DecisivenessWord]) -> list[tuple[int, str, str]]:
    """Return (place, class, run) of every cue; ``run`` is "" for a single word.

    Where runs overlap the longest counts; the words of a run count on their own too.
    """
    listed = lexicon()
    cues: list[tuple[int, str, str]] = []
    free = 0
    for i, word in enumerate(items):
        if word.cue:
            cues += [(i, kind, "") for kind in listed.classes[word.text]]
        for run, kind in listed.runs.get(word.text, ()) if i >= free else ():
            if tuple(w.text for w in items[i : i + len(run)]) == run:
                cues.append((i, kind, " ".join(run)))
                free = i + len(run)
                break
    return cues


#: negations right before a word of certainty, and those that deny a clause
_BEFORE = lexicon_words("negations", "decisiveness.before")
_NEGATIONS = lexicon_words("negations", "decisiveness")


def hedge_words(text: str) -> tuple[str, ...] | None:
    """Return the words of a text that the lexicon lists as hedges, as they stand, in order.

    "Not" counts before words of certainty: "not sure". The lexicon alone decides, so "read" is one
    in "read law" too; how sure a text sounds is :func:`decisiveness`. ``None`` for a text in
    another language than English, or too long to be read.
    """
    if len(text) > LONGEST_READ or not is_english(text):
        return None
    listed = lexicon()
    items = decisiveness_words(seen_plainly(text))
    found: list[tuple[int, int]] = []
    for place, kind, run in sorted(cues_of(items), key=lambda cue: (cue[0], -len(cue[2]))):
        first, last = place, place + max(0, len(run.split()) - 1)
        denied = place > 0 and items[place - 1].text in _BEFORE
        if kind not in listed.hedges and not (denied and kind in ("sure", "certain")):
            continue
        start = items[first - 1].start if denied else items[first].start
        if not found or items[first].start >= found[-1][1]:
            found.append((start, items[last].end))
    return tuple(text[start:end] for start, end in found)


def level_features(items: Sequence[DecisivenessWord]) -> Features:
    """Return what says how surely something is worded; {} for words without a cue.

    "Not", "very", "some" and their like change a cue and are none by themselves.
    """
    listed, features = lexicon(), Features()
    if not any(w.text in _SPEAKING for w in items):
        # "I know" speaks of the answer, "known for his memory" of the world
        items = [w._replace(cue=w.cue and w.text not in listed.personal) for w in items]
    cues = cues_of(items)
    if all(kind in listed.modifiers for _, kind, _ in cues):
        return features
    for at, (i, kind, run) in enumerate(cues):
        features[f"class {kind}"] = 1.0
        if run:
            features[f"run {run}"] = _RUN
        for j, other, _ in cues[max(0, at - 6) : at]:
            if 0 < i - j <= 3:
                features[f"{other} then {kind}"] = 1.0
    hedges = sorted({kind for _, kind, _ in cues} & listed.hedges)
    features.update((f"{one} with {two}", 1.0) for one in hedges for two in hedges if one < two)
    features[f"hedges {min(len(hedges), 4)}"] = 1.0
    features["hedges"] = min(6, sum(kind in listed.hedges for _, kind, _ in cues)) / 3
    masked = [("<", False)]
    for word in items:
        if word.cue or word.text in listed.glue:
            masked.append((word.text, word.cue))
        elif word.text == ",":
            masked.append((",", False))
        elif word.text[0].isalnum() and masked[-1][0] != "x":
            masked.append(("x", False))
    masked.append((">", False))
    places = [k / len(masked) for k, (_, cue) in enumerate(masked) if cue] or [0.0]
    features["first cue"], features["last cue"] = places[0], places[-1]
    for (one, first), (two, second) in pairwise(masked):
        if first:
            features[one] = 1.0
        if first or second:
            features[f"{one} {two}"] = 1.0
    return features


def _content(items: Sequence[DecisivenessWord]) -> int:
    """How many words are neither cues nor glue nor small talk."""
    listed = lexicon()
    return sum(
        w.text[0].isalnum()
        and not w.cue
        and w.text not in listed.glue
        and w.text not in listed.talk
        for w in items
    )


def assert_features(items: Sequence[DecisivenessWord], vocabulary: frozenset[str]) -> Features:
    """Return what says whether a clause asserts something: runs of one to three words.

    Numbers, names and words outside of ``vocabulary`` are masked; a run of one mask counts once.
    """
    masked = ["<"]
    for word in items:
        mask = word.text
        if not mask[0].isalnum() and mask not in "?,%":
            continue
        if mask[0].isdigit() or mask == "%":
            mask = "0"
        elif mask not in vocabulary or (word.value and mask not in lexicon().glue):
            mask = "N" if word.value else "x"
        if mask not in ("0", "N", "x") or masked[-1] != mask:
            masked.append(mask)
    masked.append(">")
    features = {
        f"length {len(masked).bit_length()}": 1.0,
        f"content {min(4, _content(items))}": 1.0,
    }
    for n in (1, 2, 3):
        features.update((" ".join(masked[i : i + n]), 1.0) for i in range(len(masked) - n + 1))
    return features


# ---- alternatives

_SOFTENERS = lexicon_words("talk", "decisiveness.softeners")


#: "or" in a longer clause names things that are so, rather than what may be
_LISTING = 24


def count_alternatives(
    items: Sequence[DecisivenessWord],
) -> tuple[int, tuple[DecisivenessWord, ...]]:
    """Return how many values "A, B or C" names, and the words without what hedges the last."""
    for i, word in enumerate(items):
        if word.text in ("not", "no"):
            break
        if word.text != "or" or not 0 < i < len(items) - 1 or len(items) > _LISTING:
            continue
        k = i + 1
        while k < len(items) - 1 and items[k].text in _SOFTENERS:
            k += 1
        either = any(w.text == "either" for w in items[max(0, i - 8) : i])
        before = i - 1 - (items[i - 1].text == ",")
        if not either and not (items[k].value and before >= 0 and _valued(items[before])):
            continue
        count, j = 2, before
        while j > 0 and not either:
            j -= 1
            if items[j].text == "," and _valued(items[j - 1]):
                count += 1
            elif not items[j].value:
                break
        return count, (*items[: i + 1], *items[k:])
    return 1, tuple(items)


def _valued(word: DecisivenessWord) -> bool:
    return word.value or (word.text.isalnum() and not word.cue and word.text not in lexicon().glue)


# ---- what is asserted, and how surely


class AssertedClause(NamedTuple):
    """A clause that asserts something, with the remarks that speak of it; ``weight`` in a text."""

    start: int
    end: int
    clause: tuple[DecisivenessWord, ...]
    remarks: tuple[DecisivenessWord, ...]
    weight: float
    shares: tuple[float, ...]

    @property
    def denied(self) -> bool:
        """Whether it says what is not so."""
        return _denies(self.clause)


def _denies(items: Iterable[DecisivenessWord]) -> bool:
    return sum(w.text in _NEGATIONS for w in items) % 2 == 1


def asserts(clause: Sequence[DecisivenessWord]) -> bool:
    """Whether a clause says something of its subject rather than of the speaker or the question."""
    model = weights("asserts")
    return model.sum(assert_features(clause, model.vocabulary)) > 0


#: "I don't know where", "I'm not saying it was Lyon" speak of something else than the answer
_ELSEWHERE = lexicon_words("questions", "decisiveness.elsewhere")
_OFFERS = lexicon_words("talk", "decisiveness.offers")


def _remarks(clause: Sequence[DecisivenessWord]) -> bool:
    """Whether a clause that asserts nothing speaks of the answer: "I could be wrong"."""
    said = {w.text for w in clause}
    if not any(w.cue for w in clause) or said & _ELSEWHERE or (said & _OFFERS and "you" in said):
        return False
    return _content(clause) <= 2


_ANSWER = regex(r"^[ \t*#_]{0,9}(?:final |short )?answer[*_]{0,3}:[*_]{0,3}", re.I | re.M)


@lru_cache(maxsize=512)
def analyze(text: str) -> tuple[AssertedClause, ...]:
    """Return what a text asserts, in order."""
    text = _ANSWER.sub(lambda hit: " " * len(hit.group()), seen_plainly(text))
    parts = clauses(text, decisiveness_words(text))
    ends = [c.words[-1].end for c in parts]
    shares = [
        (min(bisect_left(ends, x.start), len(parts) - 1), x.share)
        for x in stated_probabilities(text)
    ]
    holding = [k for k, c in enumerate(parts) if asserts(c.words)]
    # "Confidence: 85 %." speaks of the answer beside it
    bare = {k for k, _ in shares if not _content([w for w in parts[k].words if not w.value])}
    holding = [k for k in holding if k not in bare] or holding
    if not holding:
        return ()
    own: dict[int, list[int]] = {k: [k] for k in holding}
    for k, clause in enumerate(parts):
        if k not in own and _remarks(clause.words):
            same = [h for h in holding if parts[h].sentence == clause.sentence]
            earlier, later = [h for h in holding if h < k], [h for h in holding if h > k]
            for h in same or earlier[-1:] or later[:1]:
                own[h].append(k)
    numbered: dict[int, list[float]] = {}
    for k, share in shares:
        same = [h for h in holding if parts[h].sentence == parts[k].sentence]
        for h in [k] if k in own else same or [min(holding, key=lambda h: abs(h - k))]:
            numbered.setdefault(h, []).append(share)
    first = parts[holding[0]].sentence
    weight = [0.25 if p.side else 1.0 if p.sentence == first else 0.5 for p in parts]
    weight[holding[0]] = 1.0
    return tuple(
        AssertedClause(
            parts[h].words[0].start,
            parts[h].words[-1].end,
            parts[h].words,
            tuple(w for k in sorted(own[h]) for w in parts[k].words),
            weight[h],
            tuple(numbered.get(h, ())),
        )
        for h in holding
    )


def _level(items: Sequence[DecisivenessWord], shares: Sequence[float]) -> float:
    if shares:
        return sum(shares) / len(shares)
    count, kept = count_alternatives(items)
    level = weights("level").sum(level_features(kept))
    return min(0.995, max(0.005, level)) / count


def plain_decisiveness() -> float:
    """Return what the offline reader gives to a statement in which no word speaks of certainty."""
    return _level((), ())


def decisiveness(answer: str, assertion: str | None = None) -> float | None:
    """Return the probability, 0..1, that a reader gives to an answer from its wording alone.

    With ``assertion`` (a part of the answer, with or without its hedges) the score is that part's;
    a denied assertion ("it was not Lyon" for "it was Lyon") gets the complement. Without it, the
    assertions of the answer are averaged: the first sentence counts most, side clauses little.
    Numbers that are said ("about 70 % sure", "one in three") are taken as they are.

    Thoughts are taken out first. ``None`` where nothing is asserted (empty, refusal, "I don't
    know", a question back), where the assertion is not found, and for what is not read: text in
    another language than English, of more than 20,000 characters, or cut off inside a thought.

    Limits: English only. Irony, dialect and tone are not read, and
    words that the lexicon does not list go unseen. "Probably not X" scores X ("not X" where the
    assertion says so), while "it was not X" and "certainly not X" are decisive statements
    themselves. Hedges of scope ("usually", "about 300") hardly count.
    """
    split, stated = unwrapped(answer if isinstance(answer, str) else "")
    if not split.closed or len(split.text) > LONGEST_READ or not is_english(split.text):
        return None
    statements = []
    for one in analyze(split.text):
        place = split.place(one.start)
        labels = (
            label.share for label in stated if label.kind == "label" and label.speaks_of(place)
        )
        statements.append(one._replace(shares=(*one.shares, *labels)))
    if assertion is not None and assertion.strip():
        return _of_part(statements, assertion)
    has_value = any(w.value for one in statements if not one.denied for w in one.clause)
    withholds = statements and gives_nothing(split.text, has_value)
    return None if withholds else _mean_level(statements)


def _mean_level(statements: Sequence[AssertedClause]) -> float | None:
    total = sum(one.weight for one in statements)
    if not total:
        return None
    return sum(one.weight * _level(one.remarks, one.shares) for one in statements) / total


#: below this, the words of a statement voice doubt
DOUBTED = 0.6
_LETTERS = regex(r"[a-z]+")


def voices_doubt(statement: str) -> bool:
    """Return whether a statement has a decisiveness below ``DOUBTED``.

    A statement without a word that speaks of certainty is not read any further.
    """
    listed, low = lexicon(), statement.lower()
    words = set(_LETTERS.findall(low))
    if words.isdisjoint(listed.classes) and words.isdisjoint(listed.runs):
        return False
    said = _mean_level(analyze(statement)) if is_english(statement) else None
    return said is not None and said < DOUBTED


def subject_stems(assertion: str) -> tuple[frozenset[str], bool]:
    """Return the stems that an assertion is about, and whether it denies."""
    items = decisiveness_words(seen_plainly(assertion))
    stems = _stems(items) or frozenset(uninflected(w.text) for w in items if w.text[0].isalnum())
    return stems, _denies(items)


def _stems(items: Iterable[DecisivenessWord]) -> frozenset[str]:
    listed = lexicon()
    return frozenset(
        uninflected(w.text) for w in items if w.text[0].isalnum() and not w.cue
        and w.text not in listed.glue and w.text not in listed.talk and w.text not in _PERSONS
    )  # fmt: skip


def _of_part(statements: Sequence[AssertedClause], assertion: str) -> float | None:
    """The score of the statement that shares most words with the assertion, as far as it goes."""
    wanted, denies = subject_stems(assertion)
    shared = [len(_stems(one.clause) & wanted) for one in statements]
    if not any(shared):
        return None
    one = statements[shared.index(max(shared))]
    others = [w for w in one.remarks if not one.start <= w.start < one.end]
    inside = _reaching(one.clause, wanted)
    items = sorted([*inside, *others], key=lambda w: w.start)
    value = _level(items, one.shares)
    return 1 - value if one.denied != denies else value


_SPEAKERS = lexicon_words("pronouns", "decisiveness.speaker")


def _reaching(clause: Sequence[DecisivenessWord], wanted: frozenset[str]) -> list[DecisivenessWord]:
    """The words of a clause that bear on some of its content.

    Those of its segments with that content, of segments without any ("possibly", "I think") and
    of the frame, which stands before all content: "I think", "Perhaps", "It is likely that".
    """
    cut = [0]
    for i, word in enumerate(clause):
        local = word.text in _PLACES and i + 1 < len(clause) and clause[i + 1].cue
        if i and (word.text in ("and", "(") or local or clause[i - 1].text in (",", ")")):
            cut.append(i)
    segments = [clause[a:b] for a, b in zip(cut, [*cut[1:], len(clause)], strict=True)]
    hits = {k for k, s in enumerate(segments) if _stems(s) & wanted}
    frame = 0
    subjects = _PERSONS - _SPEAKERS
    while frame < len(clause) and not _stems(clause[frame : frame + 1]):
        if frame and clause[frame].text in subjects:
            break
        frame += 1
    if not (clause[0].cue or {w.text for w in clause[:frame]} & _SPEAKERS):
        frame = 0
    kept: list[DecisivenessWord] = list(clause[:frame])
    for k, segment in enumerate(segments):
        bare = not _stems(segment)
        aside = segment[0].text == "("
        if k in hits or (bare and (k - 1 in hits if aside else k in (0, len(segments) - 1))):
            kept += [w for w in segment if w.start >= (kept[-1].end if kept else 0)]
    return kept


# ---- by a language model

#: An entry with more assertions than this, or a longer one, is not read.
MOST_ASSERTIONS = 40
LONGEST = 2000


class Asserted(NamedTuple):
    """Assertions (text, score 0..1) of an answer. None and no ``problem``: it asserts nothing."""

    assertions: tuple[tuple[str, float], ...]
    problem: str | None = None


class _ToldWording(msgspec.Struct):
    text: Annotated[str, msgspec.Meta(max_length=LONGEST, pattern=r"\S")]
    score: Annotated[float, msgspec.Meta(ge=0, le=1)]


_TOLD = Annotated[list[_ToldWording], msgspec.Meta(max_length=MOST_ASSERTIONS)]


def read_assertions(entry: dict[str, Any]) -> list[list[Any]] | None:
    """Return [text, score] of each assertion of an entry; ``None`` if any of it is not valid."""
    try:
        assertions: list[_ToldWording] = msgspec.convert(entry.get("assertions"), _TOLD)
    except msgspec.ValidationError:
        return None
    if any(math.isnan(one.score) for one in assertions):
        return None
    return [[one.text.strip(), one.score] for one in assertions]


def _own_assertions(answer: str, said: Any) -> list[list[Any]] | None:
    """Return what a user's prompt read: the whole answer with a number, or assertions with theirs.

    Assertions are held to the same limits as those of our own prompt.
    """
    if not isinstance(said, list):
        return [[answer, said]]
    return read_assertions({"assertions": [{"text": text, "score": score} for text, score in said]})


class LlmDecisive(NumberedReader):
    """A model that reads wording: the assertions of an answer, stripped of hedges, and scores.

    The few-shot prompt P_d of Yona et al. (arXiv 2405.16908, section 3) in our words. One entry
    for each answer has the probability, 0..1, that a reader would give to each assertion from the
    wording alone. An empty list is a punt: nothing was asserted. A score outside 0..1, an assertion
    without text or an entry that lacks anything is no reading.
    """

    task = JudgeTask(
        "decisive", "decisive_reply", "answer", 160, read_assertions,
        own=_own_assertions,
    )  # fmt: skip
    subject = "decisiveness"

    def __init__(self, engine: Engine, folder: Path | None = None) -> None:
        super().__init__(engine, folder)
        self._known: dict[tuple[str, str], Asserted] = {}

    def read(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Asserted]:
        """Return what each (question, answer) asserts; each is asked once, empty ones never."""
        new: dict[str, list[str]] = {}
        for question, text in dict.fromkeys(pairs):
            if not text.strip():
                self._known[question, text] = Asserted(())
            elif (question, text) not in self._known:
                new.setdefault(question, []).append(text)
        blocks = [
            b for question, texts in new.items() for b in numbered_blocks(question, (), texts)
        ]
        for block, outcomes in zip(blocks, self.ask(blocks), strict=True):
            for text, outcome in outcomes.items():
                assertions = tuple((str(t), float(s)) for t, s in outcome.value or ())
                self._known[block.question, text] = Asserted(assertions, outcome.problem)
        return {pair: self._known[pair] for pair in pairs}

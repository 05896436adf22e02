"""Which clause of a long answer speaks of which aspect.

A paragraph is cut into units (a clause with its fragments). Aspect a and unit u score the share of
a's cue words in u, weighted by inverse frequency over the aspects, plus 1.5 for a gold in u (0.6
without a cue) and 0.4 for a value of the kind expected. The best pairs are assigned first; a unit
can carry several aspects.

Before its words are counted, a clause is rewritten where a word speaks of one aspect or another by
its direction: a bag of words cannot tell "it causes fever" from "a virus causes it".

Aspects that no clause names are placed by elimination, as a reader who is asked for a composer
takes the one name left over for the composer: an aspect without a cue may take a clause that is
free, if the clause holds a value of the shape of the aspect's golds (a number with its unit, a
name, plain words) and speaks of nothing else that is commonly asked, nearest in order first.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from sayso.judges.patterns import regex
from sayso.judges.rules import lexicon
from sayso.judges.rules.lexicon import (
    ADVERBS,
    FAMILIES,
    GENERIC,
    STOP,
    Expected,
    stem,
    stems,
    topics,
)
from sayso.judges.rules.matching import names, typed
from sayso.judges.rules.sentences import Span
from sayso.judges.rules.stance import TALK, Reading
from sayso.records import Gold

# ---- a clause before its words are counted: who does what to whom, and what only frames

#: "It is an established fact that ...": a frame, not a predicate.
_FRAME = regex(
    r"\b(?:it|there)(?:'s|\s+is|\s+was)\s+(?:an?\s+|no\s+)?(?:[\w-]+\s+){1,3}?that\b|"
    r"\b(?:records|documents|all\s+sources)\s+(?:confirm|show|agree|prove)\s+that\b",
    re.I,
)
#: "She is, I would guess, a biologist."
_ASIDE = regex(r"\b(is|was|are|were),\s+[^,;.]{2,30},\s+", re.I)
_ILLNESS = (
    r"(?:disease|illness|condition|disorder|infection|syndrome|ailment|malady|sickness|complaint)"
)
#: The illness is the subject, what it brings the object.
_CAUSING = regex(
    r"\b(?:causes?|caused|causing)\s+(?!(?:by|it|this|that|them|of|is|are|was|were|for|and|but)\b|"
    rf"(?:the|an?|this|its)\s+(?:\w+\s+)?{_ILLNESS}\b)"
    r"(?:(?:very|quite|most|more)\s+)?(?P<object>(?-i:[a-z])[\w-]*)",
    re.I,
)
_CAUSED = regex(
    r"\b(?:symptoms?|signs?|complaints?|troubles?|pains?)\s+(?:that\s+|which\s+)?"
    r"(?:[\w'-]+\s+){1,5}?(?:causes?|caused|brings?)\b|"
    r"\bwhat\s+(?:it|the\s+\w+)\s+causes\b",
    re.I,
)
#: People who treat are no treatment.
_HEALERS = regex(
    r"\b(?:specialists?|doctors?|physicians?|surgeons?|clinicians?|experts?|\w+ologists?|"
    r"\w+iatrists?|clinics?)\b[^,.;]{0,40}?\btreat(?:s|ed)?\b(?![^,.;]{1,60}\bwith\b)",
    re.I,
)
_PLACED = regex(r"\b(?:in\s+which|where)\b[^,.;]{1,40}\b(?:is|are|be)\s+(?:\w+\s+)?found\b", re.I)
#: Her work as an object of interest, not as what she did for a living.
_ESTEEMED = regex(
    r"(?<!\bis\s)(?<!\bwas\s)(?<!:\s)\b(?:his|her|its|their)\s+(?:life\s+and\s+|\w+\s+)?"
    r"(?:works?|careers?|life|job|working\s+life)\b"
    r"(?!\s*(?:as|at|in|with|was|is|were|are|began|consist\w*|:)\b)",
    re.I,
)
_SCORED = regex(r"\b(?:features?|has|with|contains?)\s+(?:\w+\s+)?(?:music|songs|score)\b", re.I)
_ASSOCIATE = regex(
    r"\bpartners?\s+in\s+(?:the\s+|a\s+|his\s+|her\s+)?(?:business|firm|practice|company|crime)\b|"
    r"\bbusiness\s+partners?\b",
    re.I,
)
_MARKETS = regex(r"\b(?:new|foreign|other|\w+an|many|several|its)\s+markets\b", re.I)


@lru_cache(maxsize=16384)
def spoken(text: str, wanted: frozenset[str], known: frozenset[str]) -> frozenset[str]:
    """Return the stems and ``wanted`` families that a clause speaks of, by their direction.

    ``known`` are the words of the question and the entity: "causes malaria" speaks of a cause where
    malaria is what was asked about.
    """
    text = framed(text)
    if "occupation" in wanted:
        text = _ESTEEMED.sub(" ", text)
    if "symptom" in wanted and "caus" in text:
        text = _CAUSED.sub(" symptom ", text)
        text = _CAUSING.sub(lambda hit: _turned(hit, known), text)
    if "specialty" in wanted:
        text = _HEALERS.sub(" specialty ", text)
    if "marriage" in wanted:
        text = _ASSOCIATE.sub(" associate ", text)
    if "cast" in wanted:
        text = _SCORED.sub(" music ", text)
    if "discovery" in wanted:
        text = _PLACED.sub(" located ", text)
    if "product" in wanted:
        text = _MARKETS.sub(" ", text)
    return topics(text, wanted)


def _turned(hit: re.Match[str], known: frozenset[str]) -> str:
    named = hit["object"].lower() in known
    return hit.group() if named else f" symptom {hit['object']}"


def framed(text: str) -> str:
    """Return a clause without its epistemic frame, for patterns of predicates."""
    return _ASIDE.sub(r"\1 ", _FRAME.sub(" ", text))


# ---- which aspects a statement of ignorance names: "I am not sure when or where she died"

_LISTED = regex(r",|\b(?:or|and|nor)\b", re.I)


#: What an entity is, not what is asked about it.
_THINGS_WORDS = """film movie book novel album song company firm organization organisation disease
    condition asteroid planet star galaxy comet person entity individual object site"""


#: "Star" is what an entity is, and also the family of who starred in it: a family is never dropped.
_THINGS = frozenset(map(lexicon.stem, _THINGS_WORDS.split())) - lexicon.FAMILIES


#: What "the star" is, not who starred.
_A_STAR = regex(r"\b(?:the|this|that|an?)\s+(?:\w+\s+)?stars?\b", re.I)
_CAPITALIZED = regex(r"[^\W\d_a-zà-ÿ]|\d")


_QUOTED = regex(r"[\"“«]([^\"”»]+)[\"”»]")


class Asked(NamedTuple):
    """One aspect as the rules see it."""

    question: str
    golds: tuple[Gold, ...]
    kind: lexicon.Expected
    cues: frozenset[str]
    known: frozenset[str]


@lru_cache(maxsize=32768)
def asked(question: str, golds: tuple[Gold, ...], hint: str = "", entity: str = "") -> Asked:
    """Read a short question: its cue words, its kind, and the words that name the entity."""
    words = _WORD.findall(question)
    entity_words = {w.lower() for w in _WORD.findall(entity)}
    for quoted in _QUOTED.findall(question):
        entity_words |= {w.lower() for w in _WORD.findall(quoted)}
    if not question.istitle():
        entity_words |= {w.lower() for w in words[1:] if _CAPITALIZED.match(w)}
    entity_words |= {w.removesuffix("'s") for w in entity_words}
    plain = " ".join(w for w in words if w.lower() not in entity_words)
    found = lexicon.stems(_A_STAR.sub(" ", plain) + " " + hint)
    found = found - _THINGS or found
    known = frozenset(w.lower() for w in words) | frozenset(entity_words)
    return Asked(question, golds, lexicon.expected(question, hint), found - {""}, known)


@lru_cache(maxsize=8192)
def _named(
    about: str, wanted: frozenset[str]
) -> tuple[frozenset[str], frozenset[str], frozenset[lexicon.Expected]]:
    words = frozenset(w.lower() for w in _WORD.findall(lexicon.settled(about)))
    return words, spoken(about, wanted, frozenset()), lexicon.kinds_named(about)


@lru_cache(maxsize=8192)
def _segments(
    about: str, wanted: frozenset[str]
) -> tuple[tuple[frozenset[str], frozenset[lexicon.Expected]], ...]:
    """The things that "her birth date or spouse" lists, each with its words and its kinds.

    A kind alone belongs to the next thing, at the end to the last: "when and where she died".
    """
    found: list[tuple[frozenset[str], frozenset[lexicon.Expected]]] = []
    waiting: frozenset[lexicon.Expected] = frozenset()
    for part in _LISTED.split(about):
        _, stems, kinds = _named(part, wanted)
        content = frozenset(lexicon.stem(w) for w in lexicon.stems(part) if w not in GENERIC)
        if content or stems & wanted:
            found.append((stems, kinds | waiting))
            waiting = frozenset()
        else:
            waiting |= kinds
    if waiting and found:
        found[-1] = (found[-1][0], found[-1][1] | waiting)
    return tuple(found)


def wanted_by(aspects: Sequence[Asked]) -> frozenset[str]:
    """All cue words of the aspects."""
    return frozenset().union(*(a.cues for a in aspects)) if aspects else frozenset()


def known_by(aspects: Sequence[Asked]) -> frozenset[str]:
    """All words of the questions and the entity that are no cue words."""
    return _entity(aspects)


def told_apart(aspects: list[Asked]) -> list[Asked]:
    """Drop the cue words that all aspects share: they name the subject, not an aspect."""
    if len(aspects) < 3:
        return aspects
    shared = frozenset.intersection(*(a.cues for a in aspects))
    return [a._replace(cues=a.cues - shared or a.cues) for a in aspects] if shared else aspects


def covers(about: str, reach: str, aspect: Asked, everyone: Sequence[Asked]) -> bool | None:
    """Whether a statement of ignorance with the words ``about`` names the aspect.

    A kind alone ("not sure when") is completed by ``reach``, the clause it hangs on: it means the
    aspects of that kind which are spoken of there, if any. ``None`` when nothing is named at all,
    so that the statement is about everything it reaches.
    """
    wanted = wanted_by(everyone)
    words, stems, kinds = _named(about, wanted)
    for cues, named_kinds in _segments(about, wanted):
        if aspect.cues & cues and (
            not named_kinds or aspect.kind in named_kinds or aspect.kind == "any"
        ):
            return True
    if aspect.cues & stems:
        return False
    rivals = any(a.cues & stems for a in everyone)
    entity = _entity(everyone) | _THINGS
    named = {w for w in words if w not in TALK and w not in entity and w not in lexicon.STOP}
    if kinds:
        if aspect.kind not in kinds or rivals:
            return False
        if named:
            return False
        context = spoken(reach, wanted, frozenset())
        near = [a for a in everyone if a.kind == aspect.kind and a.cues & context]
        return aspect in near if near else not named
    return False if named or rivals else None


def _entity(everyone: Sequence[Asked]) -> frozenset[str]:
    return frozenset(w for a in everyone for w in a.known if lexicon.stem(w) not in a.cues)


# ---- what an aspect's values look like, and how many of them a clause has room for

Shape = Literal["date", "number", "name", "words"]

_NUMERIC = regex(r"[$€£]?\d")
_TIMESTAMP = regex(r"[+-]?\d{4,}-\d\d-\d\dT|\d{4}$")
#: Somebody without a name: "is told by a schoolboy".
_BY_SOMEONE = regex(
    r"\bby\s+(?:an?|the|two|three|his|her|its|their)\s+(?!\w+\s+of\b)(?-i:[a-z])\w+(?!ing\b)\b"
)
#: Words that are never the value itself: light verbs, adverbs of time and degree, measures.
_LIGHT_WORDS = [
    "takes",
    "take",
    "took",
    "make",
    "made",
    "get",
    "got",
    "gets",
    "go",
    "goes",
    "went",
    "come",
    "comes",
    "came",
    "give",
    "gives",
    "gave",
    "put",
    "years",
    "year",
    "decades",
    "decade",
    "long",
    "days",
    "day",
    "weeks",
    "week",
    "months",
    "month",
    "hours",
    "minutes",
    "later",
    "early",
    "ago",
    "after",
    "before",
    "develop",
    "develops",
    "appear",
    "appears",
    "appeared",
    "infection",
    "exposure",
    "contact",
    "onset",
    "people",
    "person",
    "usually",
    "often",
    "mostly",
    "generally",
    "typically",
    "sometimes",
    "very",
    "quite",
    "rather",
    "widely",
    "closely",
    "total",
    "chiefly",
    "mainly",
    "known",
    "well",
    "best",
    "first",
    "new",
    "several",
    "certain",
    "different",
    "thing",
    "things",
    "kind",
    "sort",
    "type",
    "way",
    "lot",
    "around",
    "roughly",
    "approximately",
    "nearly",
    "almost",
    "between",
    "during",
    "while",
    "when",
    "where",
    "disease",
    "illness",
    "condition",
    "disorder",
    "patients",
    "patient",
    "company",
    "firm",
    "film",
    "movie",
    "object",
    "man",
    "woman",
    "work",
    "works",
    "life",
    "time",
    "times",
    "world",
    "country",
]
_LIGHT = frozenset(_LIGHT_WORDS) | frozenset(ADVERBS)


def shape(aspect: Asked) -> Shape | None:
    """Return the shape of an aspect's values: of its golds, else of its question."""
    if not aspect.golds:
        by_kind: dict[str, Shape] = {
            "date": "date",
            "number": "number",
            "person": "name",
            "place": "name",
        }
        return by_kind.get(aspect.kind)
    gold = aspect.golds[0]
    if gold.kind == "date" or aspect.kind == "date" or _TIMESTAMP.match(gold.value):
        return "date"
    if gold.kind == "quantity" or _NUMERIC.match(gold.value):
        return "number"
    return "name" if gold.value[:1].isupper() else "words"


def room(text: str, start: int, end: int, aspect: Asked, wanted: AbstractSet[str]) -> int:
    """Return how many values of the aspect's shape ``text[start:end]`` may hold.

    ``wanted`` are the cue words of all aspects asked for: they name aspects and are no values.
    """
    if aspect.kind == "person" and _BY_SOMEONE.search(text, start, end):
        return 1 + sum(1 for _ in typed(text, start, end, aspect.kind, aspect.known))
    if aspect.kind != "any":
        return sum(1 for _ in typed(text, start, end, aspect.kind, aspect.known))
    form = shape(aspect)
    if form == "words":
        return _chunks(text, start, end, aspect, wanted)
    if form == "name" and " " in aspect.golds[0].value and not text.islower():
        return 9 if any(True for _ in names(text, start, end, aspect.known)) else 0
    return 9


def _chunks(text: str, start: int, end: int, aspect: Asked, wanted: AbstractSet[str]) -> int:
    """The runs of words that are left when everything that cannot be a value is gone."""
    found = 0
    inside = False
    for word in _WORD.finditer(text, start, end):
        low = word.group().lower().removesuffix("'s")
        spare = not (
            low in STOP
            or low in _LIGHT
            or low in GENERIC
            or low in aspect.known
            or low[0].isdigit()
            or (stem(low) in wanted and low not in _golden(aspect))
        )
        found += spare and not inside
        inside = spare
    return found


def _golden(aspect: Asked) -> frozenset[str]:
    return frozenset(w.lower() for g in aspect.golds for n in g.names for w in _WORD.findall(n))


_WORD = regex(r"[^\W_]+(?:['’-][^\W_]+)*")
_FINITE = regex(
    r"\b(?:is|was|are|were|has|had|have|did|does|do|can|could|may|might|must|will|would|"
    r"should|lies|"
    r"became|began|wrote|won|led|made|went|ran|held|spent|took|sold|built|taught|met|left|lost|"
    r"lives|works|causes|orbits|stars|features|born|it's|he's|she's|[a-z]{3,}(?:ed|es|s))\b"
)
_NATURE = regex(
    r"\b(?:is|was|are|were)\s+an?\s+(?!(?:native|member|resident|fact|person|date|town|place|"
    r"chance|mystery|matter|question|result|part|lot|few|number|total|little|gift|work)\b)"
    r"(?:[\w'-]+\s+){0,5}[a-z]",
    re.I,
)
_NATURE_CUES = frozenset({"occupation", "genre", "citizenship", "industry", "sport"})
#: "Belgian cyclist Luc Maes", "the priest Josef Linz".
_TITLED = regex(
    r"(?:\b([A-Z]\w+(?:an|ese|ish|i|ch|ek|ss|sh))\s+)?"
    r"\b((?!(?:[Aa]fter|[Uu]nder|[Oo]ver|[Ff]or|[Nn]or|[Ll]ater|[Nn]ever|[Ww]hether|[Ff]ather|[Bb]rother|"
    r"[Mm]other|[Ss]ister|[Tt]han|[Hh]owever|[Ee]ver)\b)[A-Za-z]\w+(?:er|or|ist|ian|ant|man|woman|ect|eer|"
    r"iest|ilot|geon|udge))\s+([A-Z]\w+)"
)
_LIFE = regex(
    r"\(\s*(?:(?:born|b\.|d\.|died)[^()]{0,40}\d{3,4}[^()]{0,60}|"
    r"[^()]{0,40}\d{3,4}[^()]{0,20}\s*[-–—]\s*[^()]{0,40})\)"
)
_DATED = regex(r"\(\d{4}\)")
_LIFE_CUES = frozenset({"birth", "death"})

_CONTINUES = regex(
    r"\W*(?:it|that|this|they|perhaps|maybe|possibly|probably|likely|i\s+(?:think|believe|"
    r"guess)|my\s+\w*\s*guess|but|however)\b",
    re.I,
)

GOLD_BONUS = 1.5
KIND_BONUS = 0.4
CARRIED = 0.5
GOLD_ALONE = 0.6
REUSE = 0.6
#: A clause that another aspect has taken gives way to a free one that names the aspect as well.
SHARED = 0.25
#: Half of an aspect's words in a clause that says all of another's speaks of the other.
HALF = 0.5
_LEAST = 0.15
_CANDIDATES = 12


class Unit(NamedTuple):
    """A clause with the fragments that hang on it; ``sentence`` is its sentence's number."""

    start: int
    end: int
    sentence: int
    stems: frozenset[str]


def _without(part: Span, silences: Sequence[Span]) -> list[Span]:
    """What is left of ``part`` when the (sorted) silences are cut out."""
    left: list[Span] = []
    start = part.start
    for gap in silences:
        if gap.start < part.end and gap.end > start:
            if gap.start > start:
                left.append(Span(start, gap.start))
            start = min(part.end, gap.end)
    return [*left, Span(start, part.end)] if start < part.end else left


@lru_cache(maxsize=1024)
def units(reading: Reading) -> tuple[Unit, ...]:
    """Cut a read text into units, leaving out what asserts nothing."""
    every = sorted(reading.silences())
    found: list[Unit] = []
    for number, parts in enumerate(reading.clauses):
        whole = reading.sentences[number]
        while every and every[0].end <= whole.start:
            every.pop(0)
        silences = [gap for gap in every if gap.start < whole.end] if every else []
        held: list[Span] = []
        for part in parts:
            for start, end in _without(part, silences):
                if not _WORD.search(reading.text, start, end):
                    continue
                fragment = not _FINITE.search(reading.text, start, end)
                if held and fragment and held[-1].end <= start:
                    held[-1] = Span(held[-1].start, end)
                else:
                    held.append(Span(start, end))
        found += [Unit(*s, number, lexicon.stems(reading.text[s.start : s.end])) for s in held]
    return tuple(found)


@lru_cache(maxsize=65536)
def _gold_patterns(golds: tuple[Gold, ...]) -> tuple[str, ...]:
    found = []
    for gold in golds:
        for name in gold.names:
            year = re.match(r"[+-]?(\d{4})-\d{2}", name)
            found.append(year.group(1) if year else name.strip().lower())
    return tuple(n for n in found if n)


def _has_gold(golds: tuple[Gold, ...], lower: str) -> bool:
    for name in _gold_patterns(golds):
        at = lower.find(name)
        while at >= 0:
            end = at + len(name)
            if not (at and lower[at - 1].isalnum()) and not (
                end < len(lower) and lower[end].isalnum()
            ):
                return True
            at = lower.find(name, at + 1)
    return False


def _titled(aspect: Asked, said: str) -> bool:
    """Whether a clause says before the name what its bearer is: "Belgian cyclist Luc Maes"."""
    if not {"occupation", "citizenship"} & aspect.cues:
        return False
    found = _TITLED.search(said)
    if found is None or found[3].lower() not in aspect.known:
        return False
    return "citizenship" not in aspect.cues or bool(found[1])


def _by_form(aspect: Asked, lower: str) -> bool:
    """Whether the unit answers without a cue word: "X was a painter", "X (1950-1990)"."""
    nature = len(_NATURE_CUES & aspect.cues)
    if nature and 2 * nature > len(aspect.cues) and _NATURE.search(lower):
        return True
    if "release" in aspect.cues and aspect.kind == "date" and _DATED.search(lower):
        return True
    return bool(_LIFE_CUES & aspect.cues and _LIFE.search(lower))


def _carried(
    reading: Reading, every: Sequence[Unit], aspects: Sequence[Asked]
) -> list[frozenset[str]]:
    """Cue words a unit takes over from what stands before it.

    A unit without a cue of its own continues its sentence ("It was started by Rautio, | though
    whether in 1901 or 1911 is disputed"), or, opening with "it", "that" or a hedge, the sentence
    before.
    """
    cues = wanted_by(aspects)
    known = known_by(aspects)
    by_sentence = [
        spoken(reading.text[s.start : s.end], cues, known) & cues for s in reading.sentences
    ]
    found = []
    for unit in every:
        if unit.stems & cues:
            found.append(frozenset[str]())
        elif by_sentence[unit.sentence]:
            found.append(by_sentence[unit.sentence])
        elif unit.sentence and _CONTINUES.match(reading.text, unit.start):
            found.append(by_sentence[unit.sentence - 1])
        else:
            found.append(frozenset())
    return found


_HEAD = regex(
    r"\b(?:what|which)\s+(?!(?:is|are|was|were|did|does|do|has|had|have|will|would|can)\b)(\w+)",
    re.I,
)


def _head(aspect: Asked) -> str | None:
    """The cue that "what language was it written in" cannot do without."""
    if aspect.kind != "any" or len(aspect.cues) < 2:
        return None
    asked_for = _HEAD.search(aspect.question)
    stem = lexicon.stem(asked_for.group(1).lower()) if asked_for else None
    return stem if stem in aspect.cues else None


_ENDING = regex(r"\b([a-z]+)(?:\s+(in|on|at|from|to|by|with|for|of|into|as|under|through))?\W*$")
_PREPOSITIONS = frozenset(["by", "in", "at", "from", "on", "for", "with", "to", "of", "into", "as"])


def _same_turn(aspect: Asked, lower: str) -> bool:
    """Whether a clause turns the question's last verb: "written in" - "written in Rust"."""
    ending = _ENDING.search(aspect.question)
    if ending is None or lexicon.stem(ending[1]) not in aspect.cues:
        return False
    words = _WORD.findall(lower)
    return any(
        word.startswith(ending[1].removesuffix("e"))
        and (after == ending[2] if ending[2] else after not in _PREPOSITIONS)
        for word, after in pairwise(words)
    )


def assign(reading: Reading, aspects: Sequence[Asked]) -> list[Unit | None]:
    """Assign a unit to each aspect, ``None`` where no unit speaks of it.

    Hedged units take part, silent ones ("I don't know when") do not. Time grows with both.
    """
    wanted = wanted_by(aspects)
    known = known_by(aspects)
    every = [
        u._replace(stems=spoken(reading.text[u.start : u.end], wanted, known))
        for u in units(reading)
    ]
    frequency = Counter(cue for aspect in aspects for cue in aspect.cues)
    n = len(aspects)
    heap: list[tuple[float, int, int]] = []
    partial: set[tuple[int, int]] = set()
    lowers = [framed(reading.text[u.start : u.end].lower()) for u in every]
    values: dict[tuple[int, str], int] = {}
    carried = _carried(reading, every, aspects)
    for a, aspect in enumerate(aspects):
        weights = {cue: math.log(1 + n / frequency[cue]) for cue in aspect.cues}
        total = sum(weights.values())
        rows: list[tuple[float, int]] = []
        head = _head(aspect)
        for u, unit in enumerate(every):
            hit = sum(weights[cue] for cue in aspect.cues & unit.stems) / total if total else 0.0
            if not hit and aspect.cues & carried[u]:
                hit = CARRIED * sum(weights[cue] for cue in aspect.cues & carried[u]) / total
            gold = _has_gold(aspect.golds, lowers[u])
            if hit < 0.4 and _by_form(aspect, lowers[u]):
                hit = 0.4
            turned = bool(head) and _same_turn(aspect, lowers[u])
            if turned or _titled(aspect, reading.text[unit.start : unit.end]):
                hit = max(hit, HALF + 0.01)
            if head and not (gold or turned or head in unit.stems):
                continue
            if hit or gold:
                partial.update([(a, u)] if hit <= HALF and not gold else [])
                rows.append((hit + gold * (GOLD_BONUS if hit else GOLD_ALONE), u))
        rows.sort(key=lambda row: (-row[0], row[1]))
        for score, u in rows[:_CANDIDATES]:
            unit = every[u]
            has = room(reading.text, unit.start, unit.end, aspect, wanted)
            if not has and (score < GOLD_ALONE or not _has_gold(aspect.golds, lowers[u])):
                continue
            if aspect.kind != "any":
                values[u, aspect.kind] = has
                score += KIND_BONUS * bool(has)
            if score > _LEAST:
                heapq.heappush(heap, (-score, a, u))
    chosen: list[Unit | None] = [None] * n
    used: Counter[tuple[int, str]] = Counter()
    held: Counter[int] = Counter()
    shared: set[tuple[int, int]] = set()
    full_hits: set[int] = set()
    while heap:
        score, a, u = heapq.heappop(heap)
        if chosen[a] is not None:
            continue
        kind = aspects[a].kind
        full = used[u, kind] and used[u, kind] >= values.get((u, kind), 0)
        if kind != "any" and full:
            used[u, kind] = -(10**6)
            if -score - REUSE > _LEAST:
                heapq.heappush(heap, (score + REUSE, a, u))
            continue
        if (a, u) in partial and u in full_hits:
            continue
        if held[u] and (a, u) not in shared:
            shared.add((a, u))
            if -score - SHARED > _LEAST:
                heapq.heappush(heap, (score + SHARED, a, u))
                continue
        used[u, kind] += 1
        held[u] += 1
        full_hits.update([u] if (a, u) not in partial else [])
        chosen[a] = every[u]
    return chosen


# ---- by elimination: aspects that no clause names, clauses that name no aspect

#: "It is metallic": plain words said of the subject itself, not of something it has.
_SAYS = regex(r"\b(?:it|he|she|they)(?:'s|\s+(?:is|was|are|were))\s+(?!not\b|[a-z]+ed\b)[a-z]")
#: What is asked for, and the units such an amount has; a length of time has others than of a way.
_LENGTH = r"[\s-]*(?:kilomet|met(?:er|re)|km\b|m\b|miles?\b|mi\b|feet\b|foot\b|ft\b|cm\b|mm\b)"
_UNITS = (
    (regex(r"\bhow\s+(?:tall|high|deep|wide)\b", re.I), regex(_LENGTH)),
    (
        regex(r"\bhow\s+long\s+(?:is|are|was)\b", re.I),
        regex(_LENGTH + r"|[\s-]*minutes?\b"),
    ),
    (
        regex(r"\b(?:weigh|mass)\b", re.I),
        regex(r"[\s-]*(?:kilo|grams?\b|kg\b|tonn?es?\b)"),
    ),
)
_ORDER = 0.2
_LEFTOVER_LEAST = 1.0
#: An answer with more clauses is no answer; in longer clauses the beginning tells the topic.
_MOST, _FAR = 60, 300


def fits(
    reading: Reading,
    unit: Unit,
    wanted: Shape,
    known: frozenset[str],
    cues: frozenset[str],
    kind: Expected = "any",
    question: str = "",
) -> float:
    """Return how well a clause's values fit a shape (and a kind), 0 for not at all."""
    text = reading.text
    dates = list(typed(text, unit.start, unit.end, "date", known))
    if wanted == "date":
        # Whatever happened in 1980: a date alone tells nothing of what it dates.
        return 0.0
    numbers = [
        n
        for n in typed(text, unit.start, unit.end, "number", known)
        if not any(n.start < d.end and d.start < n.end for d in dates)
    ]
    if wanted == "number":
        unit_of = next((u for w, u in _UNITS if w.search(question)), None)
        measured = [
            n
            for n in numbers
            if stems(text[n.start : n.end + 24]) & cues
            or (unit_of is not None and unit_of.match(text, n.end))
            or (unit_of is not None and unit_of.search(text, n.start, n.end))
        ]
        return 2.0 * bool(measured) - 0.5 * bool(dates)
    held = (
        list(typed(text, unit.start, unit.end, kind, known))
        if kind in ("person", "place")
        else None
    )
    found = [
        n
        for n in (names(text, unit.start, unit.end, known) if held is None else held)
        if not any(n.start < d.end and d.start < n.end for d in dates)
    ]
    if wanted == "name":
        return 2.0 * bool(found) - 0.3 * bool(dates) - 0.3 * bool(numbers)
    if dates or numbers or found or not _SAYS.search(text, unit.start, unit.end):
        return 0.0
    return 1.5


def foreign(words: str, cues: frozenset[str]) -> bool:
    """Whether a clause speaks of some other common aspect, asked for or not: "died in Derby"."""
    if (stems(words) & FAMILIES) - cues:
        return True
    return bool((spoken(words[:_FAR], FAMILIES, frozenset()) & FAMILIES) - cues)


def eliminate(
    reading: Reading,
    aspects: Sequence[Asked],
    chosen: Sequence[Unit | None],
    free: Sequence[Unit],
    pending: Sequence[int],
) -> list[Unit | None]:
    """Give the ``pending`` aspects the free clauses that fit, each clause once."""
    result = list(chosen)
    known = frozenset().union(*(a.known for a in aspects)) if aspects else frozenset[str]()
    pairs = []
    for a in pending:
        wanted = shape(aspects[a])
        if wanted is None:
            continue
        for u, unit in enumerate(free[:_MOST]):
            fit = fits(
                reading, unit, wanted, known, aspects[a].cues, aspects[a].kind, aspects[a].question
            )
            if fit and not foreign(reading.text[unit.start : unit.end], aspects[a].cues):
                pairs.append((fit - _ORDER * _misplaced(a, unit, result), a, u))
    taken: set[int] = set()
    for score, a, u in sorted(pairs, key=lambda p: (-p[0], p[1], p[2])):
        if result[a] is None and u not in taken and score >= _LEFTOVER_LEAST:
            result[a] = free[u]
            taken.add(u)
    return result


def _misplaced(aspect: int, unit: Unit, chosen: Sequence[Unit | None]) -> int:
    """Return how many placed aspects stand on the wrong side: answers tend to keep the order."""
    return sum(
        (other.start < unit.start) != (b < aspect)
        for b, other in enumerate(chosen)
        if other is not None
    )

"""Calibrated rows (ours): the wording is as decisive as the model is sure.

    confidence   the share of the model's other draws that agree with the answer (no truth enters)
    chosen       the answer in a wording of that decisiveness, from a ladder of hedges
    rejected     the same answer in a wording that is far off, bolder or more timid

In paragraphs every sentence gets the confidence of its own aspect, from the draws of the aspect's
short question. Where no draw was right but the answer may be, chosen holds no value at all, so
that luck is not learned.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple, Self

from sayso.judges.claims import has_verb
from sayso.judges.contradiction import contradicts
from sayso.judges.decisiveness import decisiveness
from sayso.records import InputError, is_blank
from sayso.train.config import RowSettings
from sayso.train.recipes.logu import Stretch, by_aspects
from sayso.train.rows import (
    REFUSALS,
    Compare,
    Fact,
    Mention,
    TrainingParagraph,
    TrainingRow,
    Want,
    agreeing_draws,
    chance,
    check_draws,
    in_order,
    lowered,
    lucky,
    mention_confidence,
    unsure,
)

# ---- a ladder of hedges: wordings around an answer, each scored by its decisiveness
#
# One ladder goes with bare values ("Paris"), one with sentences. Scores are computed, not written
# down: when the reading of words changes, so does the ladder.

#: around a bare value; our words
AROUND_VALUE = (
    "{answer}",
    "Almost certainly {answer}",
    "I am fairly sure it is {answer}",
    "Most likely {answer}",
    "I am fairly confident it is {answer}",
    "Very likely {answer}",
    "I believe it is {answer}",
    "I think it is {answer}",
    "Probably {answer}",
    "Chances are it is {answer}",
    "It seems to be {answer}",
    "If I had to guess, {answer}",
    "I would guess {answer}",
    "More likely than not {answer}",
    "My guess is {answer}",
    "It could be {answer}",
    "Maybe {answer}",
    "Perhaps {answer}",
    "It may be {answer}",
    "It might be {answer}",
    "I can only guess: {answer}",
    "I am not sure, but it may be {answer}",
    "I am not sure, but perhaps {answer}",
    "I am far from sure, but it might be {answer}",
    "This is a wild guess: {answer}",
    "It is unlikely, but my best guess is {answer}",
    "I doubt it, but it could be {answer}",
)
#: around a sentence
AROUND_SENTENCE = (
    "{answer}",
    "It is almost certain that {answer}",
    "I am fairly sure that {answer}",
    "Most likely, {answer}",
    "It is very likely that {answer}",
    "I believe that {answer}",
    "I think {answer}",
    "It is likely that {answer}",
    "Probably, {answer}",
    "I would guess that {answer}",
    "More likely than not, {answer}",
    "It could be that {answer}",
    "Perhaps {answer}",
    "It is possible that {answer}",
    "It might be that {answer}",
    "I am not sure, but it may be that {answer}",
    "I am not sure, but perhaps {answer}",
    "I am far from sure, but it might be that {answer}",
    "I have little confidence that {answer}",
    "This is a wild guess: {answer}",
    "I doubt it, but it could be that {answer}",
)
#: wordings this much further from the level than the nearest one are as good
ALIKE = 0.02
#: a word that takes less than this from a plain value is none that hedges: "certainly"
NO_HEDGE = 0.03
#: an answer that is less decisive by itself is hedged already, and gets no hedge from here
PLAIN = 0.9


class Rung(NamedTuple):
    """One wording and its decisiveness, 0..1."""

    wording: str
    level: float

    def say(self, answer: str) -> str:
        """Return an answer in this wording."""
        inside = answer.strip() if self.wording == "{answer}" else lowered(answer.strip())
        return self.wording.replace("{answer}", inside)


def is_sentence(answer: str) -> bool:
    """Tell whether an answer is a sentence, which takes another ladder than a bare value."""
    text = answer.strip()
    return len(text.split()) > 2 and (text.endswith((".", "!")) and has_verb(text))


def before(word: str, answer: str) -> str:
    """Return an answer behind a hedge: "Possibly Lyon", "Possibly he was born in Lyon."."""
    inside = lowered(answer) if is_sentence(answer) else answer
    return f"{word[:1].upper()}{word[1:]} {inside}"


def is_plain(answer: str) -> bool:
    """Tell whether an answer asserts something and hedges nothing by itself."""
    own = decisiveness(answer)
    return own is not None and own >= PLAIN


@cache
def ladder(sentence: bool) -> tuple[Rung, ...]:
    """Return the rungs for values or for sentences, the most decisive first."""
    wordings = AROUND_SENTENCE if sentence else AROUND_VALUE
    neutral = "The town lies in Marvania." if sentence else "Marvania"
    rungs = []
    for wording in wordings:
        level = decisiveness(Rung(wording, 0.0).say(neutral))
        if level is not None:
            rungs.append(Rung(wording, level))
    return tuple(sorted(rungs, key=lambda r: (-r.level, r.wording)))


def nearest_wording(answer: str, level: float, generator: random.Random) -> Rung:
    """Return a wording for an answer whose decisiveness is closest to ``level``.

    One of those that are as close, drawn by ``generator``.
    """
    rungs = ladder(is_sentence(answer))
    best = min(abs(r.level - level) for r in rungs)
    return generator.choice([r for r in rungs if abs(r.level - level) <= best + ALIKE])


def far_off(answer: str, level: float, far: float, generator: random.Random) -> Rung | None:
    """Return a wording at least ``far`` from ``level``, above or below; None where there is none.

    The direction is drawn first where both exist. Above, the plain answer is drawn half the time:
    it is what an untrained model would say.
    """
    rungs = ladder(is_sentence(answer))
    above = [r for r in rungs if r.level >= level + far]
    below = [r for r in rungs if r.level <= level - far]
    sides = [side for side in (above, below) if side]
    if not sides:
        return None
    side = generator.choice(sides)
    if side is above and generator.random() < 0.5:
        return rungs[0]
    return generator.choice(side)


class WordingLimits(NamedTuple):
    """Where plain wording begins, where a value is no longer said, and what "far off" is."""

    plain_from: float = 1.0
    refuse_below: float = 0.0
    far: float = 0.25

    def check(self) -> None:
        """Refuse limits that contradict each other. Raises InputError."""
        if not 0 <= self.refuse_below <= self.plain_from <= 1:
            raise InputError(
                f"refuse_below {self.refuse_below:g} and plain_from {self.plain_from:g}: expected "
                "0 <= refuse_below <= plain_from <= 1"
            )
        if not 0.1 <= self.far <= 0.6:
            raise InputError(f"far is {self.far:g}; expected .1 to .6, as hedges allow")

    @classmethod
    def of(cls, settings: RowSettings, far: float = 0.25) -> Self:
        """Return the limits that settings of rows say. Raises InputError."""
        limits = cls(settings.plain_from, settings.refuse_below, far)
        limits.check()
        return limits

    def level(self, share: float) -> float | None:
        """Return how decisive the wording of this confidence is to be; None: say no value."""
        if share >= self.plain_from:
            return 1.0
        return None if share < self.refuse_below else share


def calibrated(
    facts: Sequence[Fact],
    settings: RowSettings = RowSettings(),  # noqa: B008 - immutable
    *,
    far: float = 0.25,
    want: Want = "dpo",
    compare: Compare = contradicts,
    seed: int = 0,
    notes: list[str] | None = None,
) -> list[TrainingRow]:
    """Return rows of short facts and paragraphs. Raises InputError for few draws.

    A rejected wording is at least ``far`` from the level of the chosen one.
    """
    limits, k = WordingLimits.of(settings, far), settings.k
    short = {f.question.id: f for f in facts if f.form == "short"}
    check_draws(list(short.values()), k)
    rows, open_ = [], 0
    for fact in short.values():
        level = short_level(fact, k, limits, compare)
        if level is OPEN:
            open_ += 1
            continue
        generator = chance("calibrated", seed, fact.question.id)
        row = short_row(fact, level, limits, generator, want, "calibrated-short")
        rows += [row] if row else []
    for fact in facts:
        for paragraph in fact.paragraphs:
            held = paragraph_levels(fact, paragraph, short, k, limits, compare)
            if held is None:
                open_ += 1
                continue
            stretches, levels = held
            generator = chance("calibrated", seed, fact.question.id, paragraph.text)
            chosen = voiced(paragraph, stretches, levels, generator)
            rejected = misvoiced(paragraph, stretches, levels, limits.far, generator)
            rows += long_rows(fact, chosen, rejected, want, "calibrated-long")
    if notes is not None:
        notes.append(
            f"calibrated: {len(rows)} rows of {len(facts)} facts; {open_} left out, whose "
            "confidence or wording could not be read"
        )
    return in_order(rows, seed)


class Open:
    """There is no confidence."""


OPEN = Open()
Level = float | None
Levels = Mapping[int, Level]


def short_level(fact: Fact, k: int, limits: WordingLimits, compare: Compare) -> Level | Open:
    """Return how decisive a short fact's greedy answer is to sound; None: say no value."""
    if is_blank(fact.greedy) or not is_plain(fact.greedy):
        return OPEN
    confidence = agreeing_draws(fact.question, fact.greedy, fact.draws[:k], compare)
    if confidence is None:
        return OPEN
    return None if lucky(fact, k, fact.greedy_right) else limits.level(confidence.share)


def short_row(
    fact: Fact,
    level: Level | Open,
    limits: WordingLimits,
    generator: random.Random,
    want: Want,
    kind: str,
) -> TrainingRow | None:
    """Return the row of a short fact; None where nothing is far off from its level."""
    if isinstance(level, Open):
        return None
    answer = fact.greedy.strip()
    if level is None:
        chosen, rejected = generator.choice(REFUSALS), answer
    else:
        chosen = nearest_wording(answer, level, generator).say(answer)
        off = far_off(answer, level, limits.far, generator)
        if off is None and want == "dpo":
            return None
        rejected = off.say(answer) if off else answer
        if level >= limits.plain_from and generator.random() < 0.5:
            rejected = generator.choice(REFUSALS)  # over-hedging a sure fact, at its worst
    rejected_or_none = rejected if want == "dpo" else None
    if chosen == rejected_or_none:
        return None
    ids = (fact.question.id,)
    return TrainingRow(fact.prompt, chosen, rejected_or_none, "short", fact.entity, ids, kind)


def paragraph_levels(
    fact: Fact,
    paragraph: TrainingParagraph,
    short: Mapping[str, Fact],
    k: int,
    limits: WordingLimits,
    compare: Compare,
) -> tuple[list[Stretch], Levels] | None:
    """Return a paragraph's stretches and the level of each by its place; None where one is open.

    A sentence about several aspects takes the lowest. Sentences that hedge already have no level,
    unless they tell a lucky hit: then nothing of them is said.
    """
    shares: dict[str, float] = {}
    silent: set[str] = set()
    for mention in paragraph.mentions:
        if mention.stance != "committed":
            continue
        confidence = mention_confidence(mention.question, mention.value, short, k, compare)
        if confidence is None:
            return None
        own = mention.question.id
        shares[own] = confidence.share
        if lucky(short[own], k, mention.right):
            silent.add(own)
    stretches = by_aspects(paragraph, lambda _: True, fact.entity)
    if stretches is None or not shares:
        return None
    levels: dict[int, Level] = {}
    for place, stretch in enumerate(stretches):
        ids = [p.question.id for p in stretch.pieces if p.question and p.label == "S"]
        if any(i in silent for i in ids):
            levels[place] = None
            continue
        if len(ids) < len(stretch.pieces) or not is_plain(
            paragraph.text[stretch.start : stretch.end]
        ):
            continue
        levels[place] = limits.level(min(shares[i] for i in ids))
    return stretches, levels


def voiced(
    paragraph: TrainingParagraph,
    stretches: Sequence[Stretch],
    levels: Levels,
    generator: random.Random,
) -> str:
    """Return a paragraph whose sentences are worded at their levels; the rest stays as it is."""

    def word_at(place: int, sentence: str) -> str:
        level = levels[place]
        if level is None:
            return " ".join(unsure(p.question, generator) for p in stretches[place].pieces)
        return nearest_wording(sentence, level, generator).say(sentence)

    return _replaced(paragraph.text, stretches, levels, word_at)


def misvoiced(
    paragraph: TrainingParagraph,
    stretches: Sequence[Stretch],
    levels: Levels,
    far: float,
    generator: random.Random,
) -> str:
    """Return a paragraph whose sentences are worded far off their levels, where that can be."""

    def word_at(place: int, sentence: str) -> str:
        level = levels[place]
        if level is None:
            return sentence
        off = far_off(sentence, level, far, generator)
        return (
            off.say(sentence) if off else nearest_wording(sentence, level, generator).say(sentence)
        )

    return _replaced(paragraph.text, stretches, levels, word_at)


def _replaced(
    text: str, stretches: Sequence[Stretch], levels: Levels, word_at: Callable[[int, str], str]
) -> str:
    parts, at = list[str](), 0
    for place, stretch in enumerate(stretches):
        if place not in levels:
            continue
        parts += [text[at : stretch.start], word_at(place, text[stretch.start : stretch.end])]
        at = stretch.end
    return "".join([*parts, text[at:]]).strip()


def long_rows(fact: Fact, chosen: str, rejected: str, want: Want, kind: str) -> list[TrainingRow]:
    """Return the row of a paragraph; none where both sides are equal."""
    if want == "dpo" and chosen == rejected:
        return []
    other = rejected if want == "dpo" else None
    ids = (fact.question.id, *fact.question.parts)
    return [TrainingRow(fact.prompt, chosen, other, "long", fact.entity, ids, kind)]


# ---- words put before the values of a paragraph: where they stand, and both sides of a row


class Edit(NamedTuple):
    """Characters ``start:end`` of a paragraph and what stands there on either side.

    The rejected side of a ``known`` fact is hedged, the chosen one of another.
    """

    start: int
    end: int
    chosen: str
    rejected: str
    known: bool = False


def leveled(edits: Sequence[Edit], against: float, generator: random.Random) -> list[Edit]:
    """Return edits with about ``against`` hedges on the rejected side to one on the chosen.

    The other known facts stay plain on both sides.
    """
    sure = [edit for edit in edits if edit.known]
    doubt = [edit for edit in edits if not edit.known]
    number = min(len(sure), int(against * len(doubt) + generator.random()))
    kept = {sure.index(edit) for edit in generator.sample(sure, number)}
    plain = [
        edit if n in kept else edit._replace(rejected=edit.chosen) for n, edit in enumerate(sure)
    ]
    return sorted([*doubt, *plain]) if doubt else []


def place_of(text: str, mention: Mention, fact: Fact) -> tuple[int, int] | None:
    """Return where the value stands; None where its sentence does not hold it.

    What was found there without a look at the truth may hold a word too many; a short answer of
    the model's own that stands inside it ends where the value does.
    """
    if mention.start is None or mention.end is None or not mention.value:
        return None
    at = text.find(mention.value, mention.start, mention.end)
    if at < 0:
        return None
    own = {d.strip() for d in (fact.greedy, *fact.draws)}
    inside = [d for d in own if len(d) > 2 and re.search(rf"(?<!\w){re.escape(d)}$", mention.value)]
    value = max(inside, key=len, default=mention.value)
    return at + len(mention.value) - len(value), at + len(mention.value)


def hedge_edit(place: tuple[int, int], value: str, word: str, known: bool) -> Edit:
    """Return the edit that says a value plain or behind a word of doubt, as ``known`` decides."""
    start, end = place
    doubted = f"{word} {value}" if start else f"{word[:1].upper()}{word[1:]} {value}"
    sides = (value, doubted) if known else (doubted, value)
    return Edit(start, end, *sides, known)


def withholding_edit(text: str, mention: Mention, generator: random.Random) -> list[Edit] | None:
    """Return the edit that says instead of a sentence that its aspect is not known.

    It takes the place of a hit that no draw repeats: the chosen side does not hold it.
    """
    if mention.start is None or mention.end is None:
        return None
    plain = text[mention.start : mention.end]
    return [Edit(mention.start, mention.end, unsure(mention.question, generator), plain)]


def edits_of(
    paragraph: TrainingParagraph,
    short: Mapping[str, Fact],
    edit_of: Callable[[Mention, Fact], list[Edit] | None],
) -> list[Edit] | None:
    """Return the edits of the committed values whose short question was asked, in order.

    ``edit_of`` returns that of one value, [] where it stays, None where it cannot be placed. None
    where a stance or a place is open, where there is no edit, or where two overlap.
    """
    edits: list[Edit] = []
    for mention in paragraph.mentions:
        if mention.stance is None:
            return None
        fact = short.get(mention.question.id)
        if mention.stance != "committed" or fact is None:
            continue
        own = edit_of(mention, fact)
        if own is None:
            return None
        edits += own
    return apart(edits)


def apart(edits: Sequence[Edit]) -> list[Edit] | None:
    """Return edits in the order of the text; None where there is none or two overlap."""
    ordered = sorted(edits)
    overlap = any(a.end > b.start for a, b in pairwise(ordered))
    return None if overlap or not ordered else ordered


def edited(text: str, edits: Sequence[Edit]) -> tuple[str, str]:
    """Return a paragraph with the chosen and with the rejected side of its edits."""
    chosen, rejected, at = list[str](), list[str](), 0
    for edit in edits:
        between = text[at : edit.start]
        chosen += [between, edit.chosen]
        rejected += [between, edit.rejected]
        at = edit.end
    return "".join([*chosen, text[at:]]).strip(), "".join([*rejected, text[at:]]).strip()


def paragraph_rows(
    name: str,
    facts: Sequence[Fact],
    edits_in: Callable[[TrainingParagraph, random.Random], list[Edit] | None],
    against: float | None,
    want: Want,
    seed: int,
) -> tuple[list[TrainingRow], int]:
    """Return the rows of paragraphs and how many were left out, for which there are no edits."""
    rows: list[TrainingRow] = []
    lost = 0
    for fact in facts:
        for paragraph in fact.paragraphs:
            generator = chance(name, seed, fact.question.id, paragraph.text)
            edits = edits_in(paragraph, generator)
            if edits is None:
                lost += 1
                continue
            if against is not None and want == "dpo":
                edits = leveled(edits, against, generator)
            chosen, rejected = edited(paragraph.text, edits)
            if chosen != rejected:
                rows += long_rows(fact, chosen, rejected, want, f"{name}-long")
    return rows, lost


def balanced(
    rows: Sequence[TrainingRow], unsure: Collection[TrainingRow], against: float, seed: int
) -> list[TrainingRow]:
    """Return pairs with at most ``against`` of a sure answer to one of an unsure one."""
    doubt = [row for row in rows if row in unsure]
    sure = in_order([row for row in rows if row not in unsure], seed)
    return [*doubt, *sure[: round(against * len(doubt))]]


# ---- graded rows (ours): a word of doubt right before a value of which the draws are not sure
#
#     confidence   the share of the model's draws that agree with this value (no truth enters)
#     chosen       plain from ``plain_from`` on; below, the word whose decisiveness is nearest
#     rejected     the same answer, plain where it is unsure, with a word of doubt where it is sure
#
# The wording of calibrated rows stands around a sentence, before its value is in sight; a small
# model's doubt is at the value. Unlike known rows, the label is that of the value that is said,
# not of its fact: a paragraph may miss what short answers know. Where no draw was right but the
# answer may be, chosen holds no value at all.


def graded_rows(
    facts: Sequence[Fact],
    settings: RowSettings = RowSettings(),  # noqa: B008 - immutable
    *,
    want: Want = "dpo",
    compare: Compare = contradicts,
    seed: int = 0,
    notes: list[str] | None = None,
) -> list[TrainingRow]:
    """Return a row of each short fact's answer at T=0 and of each paragraph.

    ``settings.against`` is how many preferences against a hedge stand beside one for it in DPO
    pairs, as in :func:`~sayso.train.recipes.known.known_rows`. Raises InputError for few draws, or
    for a word that is read as no hedge.
    """
    limits = WordingLimits.of(settings)
    if not settings.words:
        raise InputError("graded rows need words to hedge with")
    for word in settings.words:
        level_of(word)
    short = {f.question.id: f for f in facts if f.form == "short"}
    check_draws(list(short.values()), settings.k)
    short_rows = [_short(fact, settings, limits, want, compare, seed) for fact in short.values()]
    rows = [row for row in short_rows if row is not None]
    if settings.against is not None and want == "dpo":
        unsure_rows = {row for row in rows if not row.kind.endswith("-sure")}
        rows = balanced(rows, unsure_rows, settings.against, seed)

    def edits_in(paragraph: TrainingParagraph, generator: random.Random) -> list[Edit] | None:
        return _edits(paragraph, short, settings, limits, compare, generator)

    long, lost = paragraph_rows("graded", facts, edits_in, settings.against, want, seed)
    rows += long
    lost += short_rows.count(None)
    if notes is not None:
        notes.append(
            f"graded: {len(rows)} rows; {lost} answers left out, whose confidence or place is open"
        )
    return in_order(rows, seed)


def _short(
    fact: Fact,
    settings: RowSettings,
    limits: WordingLimits,
    want: Want,
    compare: Compare,
    seed: int,
) -> TrainingRow | None:
    level = short_level(fact, settings.k, limits, compare)
    if isinstance(level, Open):
        return None
    generator = chance("graded", seed, fact.question.id)
    answer, words = fact.greedy.strip(), settings.words
    if level is None:
        chosen, rejected = generator.choice(REFUSALS), answer
    elif level >= limits.plain_from:
        chosen, rejected = answer, before(generator.choice(list(words)), answer)
    else:
        chosen, rejected = before(nearest_word(level, words, generator), answer), answer
    other = rejected if want == "dpo" else None
    kind = "graded-short-sure" if chosen == answer else "graded-short"
    return TrainingRow(fact.prompt, chosen, other, "short", fact.entity, (fact.question.id,), kind)


def _edits(
    paragraph: TrainingParagraph,
    short: Mapping[str, Fact],
    settings: RowSettings,
    limits: WordingLimits,
    compare: Compare,
    generator: random.Random,
) -> list[Edit] | None:
    """Return what changes in a paragraph; None where a confidence or a place is open."""
    words = settings.words

    def edit_of(mention: Mention, fact: Fact) -> list[Edit] | None:
        confidence = mention_confidence(mention.question, mention.value, short, settings.k, compare)
        if confidence is None:
            return None
        level = limits.level(confidence.share)
        if level is None or lucky(fact, settings.k, mention.right):
            return withholding_edit(paragraph.text, mention, generator)
        place = place_of(paragraph.text, mention, fact)
        if place is None:
            return None
        sure = level >= limits.plain_from
        word = generator.choice(list(words)) if sure else nearest_word(level, words, generator)
        return [hedge_edit(place, paragraph.text[slice(*place)], word, sure)]

    return edits_of(paragraph, short, edit_of)


def nearest_word(level: float, words: Sequence[str], generator: random.Random) -> str:
    """Return the word whose decisiveness is nearest to a level; one of those that are as near."""
    best = min(abs(level_of(word) - level) for word in words)
    return generator.choice([w for w in words if abs(level_of(w) - level) - best < 1e-9])


@cache
def level_of(word: str) -> float:
    """Return the decisiveness of a value behind a word. Raises InputError for no hedge."""
    hedged_level, plain = decisiveness(before(word, "Marvania")), decisiveness("Marvania")
    if hedged_level is None or plain is None or hedged_level > plain - NO_HEDGE:
        raise InputError(f"{word!r} is read as no hedge: expected a word like possibly or probably")
    return hedged_level

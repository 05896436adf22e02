"""Calibrated rows (ours): the wording is as decisive as the model is sure.

    confidence   the share of the model's other draws that agree with the answer (no truth enters)
    chosen       the answer in a wording of that decisiveness, from a ladder of hedges
    rejected     the same answer in a wording that is far off, bolder or more timid

In paragraphs every sentence gets the confidence of its own aspect, from the draws of the aspect's
short question. Where no draw was right but the answer may be, chosen holds no value at all, so
that luck is not taught. ``fut`` is the recipe to compare with: supervised rows of all draws.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from sayso.annotate.contradict import contradicts
from sayso.records import InputError
from sayso.train.pairs import Fact, Paragraph, Row, Want, chance, check_draws, in_order
from sayso.train.pairs_agree import Compare, agreement, lucky, told_confidence
from sayso.train.pairs_hedges import far_off, is_plain, nearest
from sayso.train.pairs_stretches import Stretch, by_aspects
from sayso.train.pairs_words import REFUSALS, unsure


class Limits(NamedTuple):
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

    def level(self, share: float) -> float | None:
        """Return how decisive the wording of this confidence is to be; None: say no value."""
        if share >= self.plain_from:
            return 1.0
        return None if share < self.refuse_below else share


def calibrated(
    facts: Sequence[Fact],
    *,
    k: int = 10,
    limits: Limits = Limits(),  # noqa: B008 - immutable
    want: Want = "dpo",
    compare: Compare = contradicts,
    seed: int = 0,
    notes: list[str] | None = None,
) -> list[Row]:
    """Return rows of short facts and paragraphs. Raises InputError for few draws."""
    limits.check()
    short = {f.question.id: f for f in facts if f.form == "short"}
    check_draws(list(short.values()), k)
    rows, open_ = [], 0
    for fact in short.values():
        level = short_level(fact, k, limits, compare)
        if level is OPEN:
            open_ += 1
            continue
        generator = chance("calibrated", seed, fact.question.id)
        made = short_row(fact, level, limits, generator, want, "calibrated-short")
        rows += [made] if made else []
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


def short_level(fact: Fact, k: int, limits: Limits, compare: Compare) -> Level | Open:
    """Return how decisive a short fact's greedy answer is to sound; None: say no value."""
    if not fact.greedy.strip() or not is_plain(fact.greedy):
        return OPEN
    made = agreement(fact.question, fact.greedy, fact.draws[:k], compare)
    if made is None:
        return OPEN
    return None if lucky(fact, k, fact.greedy_right) else limits.level(made.share)


def short_row(
    fact: Fact, level: Level | Open, limits: Limits, generator: random.Random, want: Want, kind: str
) -> Row | None:
    """Return the row of a short fact; None where nothing is far off from its level."""
    if isinstance(level, Open):
        return None
    answer = fact.greedy.strip()
    if level is None:
        chosen, rejected = generator.choice(REFUSALS), answer
    else:
        chosen = nearest(answer, level, generator).say(answer)
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
    return Row(fact.prompt, chosen, rejected_or_none, "short", fact.entity, ids, kind)


def paragraph_levels(
    fact: Fact,
    paragraph: Paragraph,
    short: Mapping[str, Fact],
    k: int,
    limits: Limits,
    compare: Compare,
    level_of: Callable[[str, float], float] | None = None,
) -> tuple[list[Stretch], Levels] | None:
    """Return a paragraph's stretches and the level of each by its place; None where one is open.

    A sentence about several aspects takes the lowest. Sentences that hedge already have no level,
    unless they tell a lucky hit: then nothing of them is said. ``level_of`` may change an
    aspect's confidence (question id, share).
    """
    shares: dict[str, float] = {}
    silent: set[str] = set()
    for told in paragraph.told:
        if told.stance != "committed":
            continue
        made = told_confidence(told.question, told.value, short, k, compare)
        if made is None:
            return None
        own = told.question.id
        shares[own] = level_of(own, made.share) if level_of else made.share
        if lucky(short[own], k, told.right):
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
    paragraph: Paragraph, stretches: Sequence[Stretch], levels: Levels, generator: random.Random
) -> str:
    """Return a paragraph whose sentences are worded at their levels; the rest stays as it is."""

    def said(place: int, sentence: str) -> str:
        level = levels[place]
        if level is None:
            return " ".join(unsure(p.question, generator) for p in stretches[place].pieces)
        return nearest(sentence, level, generator).say(sentence)

    return _replaced(paragraph.text, stretches, levels, said)


def misvoiced(
    paragraph: Paragraph,
    stretches: Sequence[Stretch],
    levels: Levels,
    far: float,
    generator: random.Random,
) -> str:
    """Return a paragraph whose sentences are worded far off their levels, where that can be."""

    def said(place: int, sentence: str) -> str:
        level = levels[place]
        if level is None:
            return sentence
        off = far_off(sentence, level, far, generator)
        return off.say(sentence) if off else nearest(sentence, level, generator).say(sentence)

    return _replaced(paragraph.text, stretches, levels, said)


def _replaced(
    text: str, stretches: Sequence[Stretch], levels: Levels, said: Callable[[int, str], str]
) -> str:
    parts, at = list[str](), 0
    for place, stretch in enumerate(stretches):
        if place not in levels:
            continue
        parts += [text[at : stretch.start], said(place, text[stretch.start : stretch.end])]
        at = stretch.end
    return "".join([*parts, text[at:]]).strip()


def long_rows(fact: Fact, chosen: str, rejected: str, want: Want, kind: str) -> list[Row]:
    """Return the row of a paragraph; none where both sides are equal."""
    if want == "dpo" and chosen == rejected:
        return []
    other = rejected if want == "dpo" else None
    ids = (fact.question.id, *fact.question.parts)
    return [Row(fact.prompt, chosen, other, "long", fact.entity, ids, kind)]


def fut(
    facts: Sequence[Fact],
    *,
    k: int = 10,
    each: int = 10,
    compare: Compare = contradicts,
    seed: int = 0,
    notes: list[str] | None = None,
) -> list[Row]:
    """Return supervised rows in the manner of FUT: draws with hedges that match their consistency.

    Each of up to ``each`` draws of a short fact is worded at the share of its *other* draws that
    agree with it. To compare with: nothing is preferred, nothing withheld, paragraphs untouched.
    """
    short = [f for f in facts if f.form == "short"]
    check_draws(short, k)
    rows = []
    for fact in short:
        draws = fact.draws[:k]
        generator = chance("fut", seed, fact.question.id)
        for place in sorted(generator.sample(range(k), min(each, k))):
            answer, others = draws[place].strip(), [*draws[:place], *draws[place + 1 :]]
            made = agreement(fact.question, answer, others, compare) if answer else None
            if made is None or not is_plain(answer):
                continue
            said = nearest(answer, made.share, generator).say(answer)
            ids = (fact.question.id,)
            rows.append(Row(fact.prompt, said, None, "short", fact.entity, ids, "fut"))
    if notes is not None:
        notes.append(f"fut: {len(rows)} rows of {len(short)} facts")
    # equal draws are rows of their own: they are why a fact counts as sure
    return in_order(rows, seed, distinct=False)

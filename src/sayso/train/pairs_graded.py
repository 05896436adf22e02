"""Graded rows (ours): a word of doubt right before a value of which the draws are not sure.

    confidence   the share of the model's draws that agree with this very value (no truth enters)
    chosen       plain from ``plain_from`` on; below, the word whose decisiveness is nearest
    rejected     the same answer, plain where it is unsure and with a word of doubt where it is sure

The wording of ``pairs_calibrated`` stands around a sentence, before its value is in sight; a small
model's doubt is at the value. Unlike known rows, the label is that of the value that is said, not
of its fact: a paragraph may miss what short answers know. Where no draw was right but the answer
may be, chosen holds no value at all.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cache

from sayso.annotate.contradict import contradicts
from sayso.annotate.decisive import decisiveness
from sayso.records import InputError
from sayso.train.pairs import Fact, Paragraph, Row, Want, chance, check_draws, in_order
from sayso.train.pairs_agree import Compare, lucky, told_confidence
from sayso.train.pairs_calibrated import Limits, Open, long_rows, short_level
from sayso.train.pairs_edits import Edit, apart, edited, hedged, leveled, place_of, withheld
from sayso.train.pairs_hedges import before
from sayso.train.pairs_known import WORDS
from sayso.train.pairs_words import REFUSALS


def graded(
    facts: Sequence[Fact],
    *,
    k: int = 10,
    limits: Limits = Limits(),  # noqa: B008 - immutable
    words: Sequence[str] = WORDS,
    against: float | None = None,
    want: Want = "dpo",
    compare: Compare = contradicts,
    seed: int = 0,
    notes: list[str] | None = None,
) -> list[Row]:
    """Return a row of each short fact's answer at T=0 and of each paragraph.

    ``against`` is how many preferences against a hedge stand beside one for it in DPO pairs, as in
    :func:`~sayso.train.pairs_known.known_rows`. Raises InputError for few draws, or for a word
    that is read as no hedge.
    """
    limits.check()
    if not words:
        raise InputError("graded rows need words to hedge with")
    for word in words:
        level_of(word)
    short = {f.question.id: f for f in facts if f.form == "short"}
    check_draws(list(short.values()), k)
    made = [_short(fact, k, limits, words, want, compare, seed) for fact in short.values()]
    rows = [row for row in made if row is not None]
    if against is not None and want == "dpo":
        rows = _balanced(rows, against, seed)
    lost = made.count(None)
    for fact in facts:
        for paragraph in fact.paragraphs:
            generator = chance("graded", seed, fact.question.id, paragraph.text)
            edits = _edits(paragraph, short, k, limits, words, compare, generator)
            if edits is None:
                lost += 1
                continue
            if against is not None and want == "dpo":
                edits = leveled(edits, against, generator)
            chosen, rejected = edited(paragraph.text, edits)
            rows += long_rows(fact, chosen, rejected, want, "graded-long")
    if notes is not None:
        notes.append(
            f"graded: {len(rows)} rows; {lost} answers left out, whose confidence or place is open"
        )
    return in_order(rows, seed)


def _short(
    fact: Fact,
    k: int,
    limits: Limits,
    words: Sequence[str],
    want: Want,
    compare: Compare,
    seed: int,
) -> Row | None:
    level = short_level(fact, k, limits, compare)
    if isinstance(level, Open):
        return None
    generator = chance("graded", seed, fact.question.id)
    answer = fact.greedy.strip()
    if level is None:
        chosen, rejected = generator.choice(REFUSALS), answer
    elif level >= limits.plain_from:
        chosen, rejected = answer, before(generator.choice(list(words)), answer)
    else:
        chosen, rejected = before(nearest_word(level, words, generator), answer), answer
    other = rejected if want == "dpo" else None
    kind = "graded-short-sure" if chosen == answer else "graded-short"
    return Row(fact.prompt, chosen, other, "short", fact.entity, (fact.question.id,), kind)


def _balanced(rows: Sequence[Row], against: float, seed: int) -> list[Row]:
    """Return pairs with at most ``against`` of a sure answer to one of an unsure one."""
    doubt = [row for row in rows if not row.kind.endswith("-sure")]
    sure = in_order([row for row in rows if row.kind.endswith("-sure")], seed)
    return [*doubt, *sure[: round(against * len(doubt))]]


def _edits(
    paragraph: Paragraph,
    short: Mapping[str, Fact],
    k: int,
    limits: Limits,
    words: Sequence[str],
    compare: Compare,
    generator: random.Random,
) -> list[Edit] | None:
    """Return what changes in a paragraph; None where a confidence or a place is open."""
    edits: list[Edit] = []
    for told in paragraph.told:
        if told.stance is None:
            return None
        fact = short.get(told.question.id)
        if told.stance != "committed" or fact is None:
            continue
        made = told_confidence(told.question, told.value, short, k, compare)
        if made is None:
            return None
        level = limits.level(made.share)
        if level is None or lucky(fact, k, told.right):
            silent = withheld(paragraph.text, told, generator)
            if silent is None:
                return None
            edits.append(silent)
            continue
        place = place_of(paragraph.text, told, fact)
        if place is None:
            return None
        sure = level >= limits.plain_from
        word = generator.choice(list(words)) if sure else nearest_word(level, words, generator)
        edits.append(hedged(place, paragraph.text[slice(*place)], word, sure))
    return apart(edits)


def nearest_word(level: float, words: Sequence[str], generator: random.Random) -> str:
    """Return the word whose decisiveness is nearest to a level; one of those that are as near."""
    best = min(abs(level_of(word) - level) for word in words)
    return generator.choice([w for w in words if abs(level_of(w) - level) - best < 1e-9])


@cache
def level_of(word: str) -> float:
    """Return the decisiveness of a value behind a word. Raises InputError for no hedge."""
    made, plain = decisiveness(before(word, "Marvania")), decisiveness("Marvania")
    if made is None or plain is None or made >= plain:
        raise InputError(f"{word!r} is read as no hedge: expected a word like possibly or probably")
    return made

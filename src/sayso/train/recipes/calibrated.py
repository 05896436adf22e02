"""Graded rows (ours), of recipe calibrated: a word of doubt before values that draws do not repeat.

    confidence   the share of the model's draws that agree with this value (no truth enters)
    chosen       plain from ``plain_from`` on; below, the word whose decisiveness is nearest
    rejected     the same answer, plain where it is unsure, with a word of doubt where it is sure

Unlike known rows, the label is that of the value that is said, not of its fact: a paragraph may
miss what short answers know. Where no draw was right but the answer may be, chosen holds no value
at all, so that luck is not learned.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from sayso.judges.claims import has_verb
from sayso.judges.decisiveness import decisiveness
from sayso.records import InputError, is_blank
from sayso.train.config import RowSettings
from sayso.train.rows import (
    REFUSALS,
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

#: a word that takes less than this from a plain value is none that hedges: "certainly"
NO_HEDGE = 0.03
#: an answer that is less decisive by itself is hedged already, and gets no hedge from here
PLAIN = 0.9


def is_sentence(answer: str) -> bool:
    """Tell whether an answer is a sentence, and no bare value."""
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


# ---- graded rows


def graded_rows(
    facts: Sequence[Fact],
    settings: RowSettings = RowSettings(),  # noqa: B008 - immutable
    *,
    want: Want = "dpo",
    seed: int = 0,
    notes: list[str] | None = None,
) -> list[TrainingRow]:
    """Return a row of each short fact's answer at T=0 and of each paragraph.

    ``settings.against`` is how many preferences against a hedge stand beside one for it in DPO
    pairs, as in :func:`~sayso.train.recipes.known.known_rows`. Raises InputError for few draws, or
    for a word that is read as no hedge.
    """
    if not settings.words:
        raise InputError("graded rows need words to hedge with")
    for word in settings.words:
        level_of(word)
    short = {f.question.id: f for f in facts if f.form == "short"}
    check_draws(list(short.values()), settings.k)
    short_rows = [_short(fact, settings, want, seed) for fact in short.values()]
    rows = [row for row in short_rows if row is not None]
    if settings.against is not None and want == "dpo":
        unsure_rows = {row for row in rows if not row.kind.endswith("-sure")}
        rows = balanced(rows, unsure_rows, settings.against, seed)

    def edits_in(paragraph: TrainingParagraph, generator: random.Random) -> list[Edit] | None:
        return _edits(paragraph, short, settings, generator)

    long, lost = paragraph_rows("graded", facts, edits_in, settings.against, want, seed)
    rows += long
    lost += short_rows.count(None)
    if notes is not None:
        notes.append(
            f"graded: {len(rows)} rows; {lost} answers left out, whose confidence or place is open"
        )
    return in_order(rows, seed)


def _short(fact: Fact, settings: RowSettings, want: Want, seed: int) -> TrainingRow | None:
    """Return the row of a short fact; None where its confidence is open, or it hedges already."""
    if is_blank(fact.greedy) or not is_plain(fact.greedy):
        return None
    confidence = agreeing_draws(fact.question, fact.greedy, fact.draws[: settings.k])
    if confidence is None:
        return None
    generator = chance("graded", seed, fact.question.id)
    answer, words = fact.greedy.strip(), settings.words
    if lucky(fact, settings.k, fact.greedy_right):
        chosen, rejected = generator.choice(REFUSALS), answer
    elif confidence.share >= settings.plain_from:
        chosen, rejected = answer, before(generator.choice(list(words)), answer)
    else:
        word = nearest_word(confidence.share, words, generator)
        chosen, rejected = before(word, answer), answer
    other = rejected if want == "dpo" else None
    kind = "graded-short-sure" if chosen == answer else "graded-short"
    return TrainingRow(fact.prompt, chosen, other, "short", fact.entity, (fact.question.id,), kind)


def _edits(
    paragraph: TrainingParagraph,
    short: Mapping[str, Fact],
    settings: RowSettings,
    generator: random.Random,
) -> list[Edit] | None:
    """Return what changes in a paragraph; None where a confidence or a place is open."""
    words = settings.words

    def edit_of(mention: Mention, fact: Fact) -> list[Edit] | None:
        confidence = mention_confidence(mention.question, mention.value, short, settings.k)
        if confidence is None:
            return None
        if lucky(fact, settings.k, mention.right):
            return withholding_edit(paragraph.text, mention, generator)
        place = place_of(paragraph.text, mention, fact)
        if place is None:
            return None
        share, sure = confidence.share, confidence.share >= settings.plain_from
        word = generator.choice(list(words)) if sure else nearest_word(share, words, generator)
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

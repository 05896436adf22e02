"""Known rows (ours): one label per fact, from its draws, decides how both forms word it.

    known      (a share theta of the K draws or more is right)  plain, alone and in every paragraph
    unknown    (``low`` or fewer are)                       hedged right before the value
    rejected   the same answer, known facts hedged and unknown ones plain

What is trained is what J measures: hedge by what is known, not by whether this one answer happens
to be wrong. Chosen and rejected differ in one word per value, so a small model sees exactly what
is meant; and many draws of one fact, each an answer of the model's own, say it again.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence

from sayso.records import InputError, content_id, is_blank
from sayso.train.config import RowSettings
from sayso.train.recipes.calibrated import (
    Edit,
    balanced,
    before,
    edits_of,
    hedge_edit,
    is_plain,
    is_sentence,
    paragraph_rows,
    place_of,
    withholding_edit,
)
from sayso.train.recipes.idk import known_state
from sayso.train.rows import (
    REFUSALS,
    WORDS,
    Fact,
    Form,
    Mention,
    TrainingParagraph,
    TrainingRow,
    Want,
    chance,
    check_draws,
    in_order,
    lucky,
)

#: the thresholds of a model that is often wrong: unknown if no draw is right, known from 3 of 10
KNOWN = RowSettings(style="known", theta=0.3, low=0.0)


def known_rows(
    facts: Sequence[Fact],
    settings: RowSettings = KNOWN,
    *,
    want: Want = "dpo",
    seed: int = 0,
    notes: list[str] | None = None,
) -> list[TrainingRow]:
    """Return rows of short facts, up to ``settings.each`` per fact, and one of each paragraph.

    In a paragraph, facts between the thresholds go by their own verdict, and a wrong value of a
    known fact is replaced by the most frequent right draw. ``against`` is how many
    preferences against a hedge stand beside one for it in DPO pairs; None: all. A hedge of one word
    is pushed up or down everywhere at once, so pairs with far more known facts than unknown ones
    unlearn it. Raises InputError.
    """
    settings.check_thresholds()
    if not settings.words:
        raise InputError("known rows need words to hedge with")
    short = {f.question.id: f for f in facts if f.form == "short"}
    check_draws(list(short.values()), settings.k)
    low = 0.0 if settings.low is None else settings.low
    state = {
        question: known_state(fact.right[: settings.k], settings.theta, low)
        for question, fact in short.items()
    }
    rows = [
        row
        for question, fact in short.items()
        for row in _short(fact, state[question], settings, want, seed)
    ]
    if settings.against is not None and want == "dpo":
        unsure = {row for row in rows if state[row.questions[0]] is False}
        rows = balanced(rows, unsure, settings.against, seed)

    def edits_in(paragraph: TrainingParagraph, generator: random.Random) -> list[Edit] | None:
        return _edits(paragraph, short, state, settings, generator)

    long, lost = paragraph_rows("known", facts, edits_in, settings.against, want, seed)
    rows += long
    if notes is not None:
        middle = sum(s is None for s in state.values())
        notes.append(
            f"known: {len(rows)} rows; {middle} of {len(short)} facts between the thresholds, "
            f"{lost} paragraphs left out whose values could not be placed"
        )
    return in_order(rows, seed)


def _short(
    fact: Fact, known: bool | None, settings: RowSettings, want: Want, seed: int
) -> list[TrainingRow]:
    if known is None:
        return []
    k, each = settings.k, settings.each
    generator = chance("known", seed, fact.question.id)
    draws = zip(fact.draws[:k], fact.right[:k], fact.stances[:k], strict=True)
    pool = [
        text.strip()
        for text, right, stance in draws
        if right is known and stance == "committed" and is_plain(text)
    ]
    rows = []
    for answer in generator.sample(sorted(pool), min(each, len(pool))):
        doubted = before(generator.choice(list(settings.words)), answer)
        chosen, rejected = (answer, doubted) if known else (doubted, answer)
        ids, other = (fact.question.id,), rejected if want == "dpo" else None
        rows.append(
            TrainingRow(fact.prompt, chosen, other, "short", fact.entity, ids, "known-short")
        )
    if not pool and not known and want == "sft":  # it never commits: that is what is kept
        chosen, ids = generator.choice(REFUSALS), (fact.question.id,)
        rows.append(
            TrainingRow(fact.prompt, chosen, None, "short", fact.entity, ids, "known-short")
        )
    return rows


def _edits(
    paragraph: TrainingParagraph,
    short: Mapping[str, Fact],
    state: Mapping[str, bool | None],
    settings: RowSettings,
    generator: random.Random,
) -> list[Edit] | None:
    """Return what changes in a paragraph; None where something that must cannot be placed."""

    def edit_of(mention: Mention, fact: Fact) -> list[Edit] | None:
        if lucky(fact, settings.k, mention.right):
            return withholding_edit(paragraph.text, mention, generator)
        known = state[mention.question.id]
        known = mention.right if known is None else known
        place = place_of(paragraph.text, mention, fact)
        if known and mention.right and place is None:
            return []  # it stays as it is on either side
        if known is None or place is None:
            return None
        value = paragraph.text[slice(*place)]
        word = generator.choice(list(settings.words))
        if known and mention.right is False:
            mended = _modal(fact, settings.k)
            if mended is None or is_sentence(mended):
                return None  # a wrong value would stay, or a sentence stand in its place
            value = mended
        return [hedge_edit(place, value, word, bool(known))]

    return edits_of(paragraph, short, edit_of)


def _modal(fact: Fact, k: int) -> str | None:
    """Return the most frequent right draw, the first in the alphabet where some are as frequent."""
    right = Counter(d.strip() for d, r in zip(fact.draws[:k], fact.right[:k], strict=True) if r)
    most = max(right.values(), default=0)
    return min((text for text, number in right.items() if number == most), default=None)


# ---- plain rows: the model's own answers to prompts that do not ask for doubt, kept as they are
#
# A model that is only trained to hedge when it is asked to also hedges when it is not. In pairs
# the rejected side is the same answer, hedged.


def plain_rows(
    facts: Sequence[Fact],
    form: Form,
    number: int,
    *,
    words: Sequence[str] = WORDS,
    want: Want = "dpo",
    seed: int = 0,
) -> list[TrainingRow]:
    """Return up to ``number`` rows of a form, each from another answer, drawn by the seed.

    Of a short question one committed draw is taken, of a long one any of its paragraphs. They are
    kept whatever is right in them: nothing is learned but to go on as before.
    """
    answers = [
        (fact, *sides)
        for fact in facts
        if fact.form == form
        for sides in (_paragraphs if form == "long" else _draws)(fact, words, want, seed)
    ]
    answers.sort(key=lambda one: content_id([seed, form, want, one[0].question.id, one[1]]))
    rows = []
    for fact, answer, unsure in answers[:number]:
        ids = (fact.question.id, *fact.question.parts)
        other = unsure if want == "dpo" else None
        rows.append(TrainingRow(fact.prompt, answer, other, form, fact.entity, ids, "plain"))
    return rows


def _draws(fact: Fact, words: Sequence[str], want: Want, seed: int) -> list[tuple[str, str]]:
    committed = [
        text.strip()
        for text, stance in zip(fact.draws, fact.stances, strict=True)
        if stance == "committed" and not is_blank(text)
    ]
    if not committed:
        return []
    generator = chance("plain", seed, fact.question.id, want)
    text = generator.choice(committed)
    return [(text, before(generator.choice(list(words)), text))]


def _paragraphs(fact: Fact, words: Sequence[str], want: Want, seed: int) -> list[tuple[str, str]]:
    pairs = []
    for paragraph in fact.paragraphs:
        generator = chance("plain", seed, fact.question.id, want, paragraph.text)
        places = sorted(
            at for mention in paragraph.mentions if (at := _place(paragraph.text, mention))
        )
        chosen = generator.sample(places, max(1, len(places) // 2)) if places else []
        text = paragraph.text
        for at in sorted(chosen, reverse=True):  # from the end, so that the places before it hold
            text = f"{text[:at]}{generator.choice(list(words))} {text[at:]}"
        if paragraph.text.strip() and (text != paragraph.text or want == "sft"):
            pairs.append((paragraph.text.strip(), text.strip()))
    return pairs


def _place(text: str, mention: Mention) -> int | None:
    """Return where a committed value stands; None at the very beginning, which is left alone."""
    if (
        mention.stance != "committed"
        or mention.start is None
        or mention.end is None
        or not mention.value
    ):
        return None
    at = text.find(mention.value, mention.start, mention.end)
    return at if at > 0 else None

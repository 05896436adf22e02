"""Plain rows: the model's own answers to prompts that do not ask for doubt, kept as they are.

A model that is only taught to hedge when it is asked to also hedges when it is not. In pairs the
rejected side is the same answer, hedged.
"""

from __future__ import annotations

from collections.abc import Sequence

from sayso.records import content_id
from sayso.train.pairs import Fact, Form, Row, Told, Want, chance
from sayso.train.pairs_hedges import before
from sayso.train.pairs_known import WORDS


def plain_rows(
    facts: Sequence[Fact],
    form: Form,
    number: int,
    *,
    words: Sequence[str] = WORDS,
    want: Want = "dpo",
    seed: int = 0,
) -> list[Row]:
    """Return up to ``number`` rows of a form, each from another answer, drawn by the seed.

    Of a short question one committed draw is taken, of a long one any of its paragraphs. They are
    kept whatever is right in them: nothing is taught but to go on as before.
    """
    answers = [
        (fact, *sides)
        for fact in facts
        if fact.form == form
        for sides in (_paragraphs if form == "long" else _draws)(fact, words, want, seed)
    ]
    answers.sort(key=lambda one: content_id([seed, form, want, one[0].question.id, one[1]]))
    found = []
    for fact, said, hedged in answers[:number]:
        ids = (fact.question.id, *fact.question.parts)
        other = hedged if want == "dpo" else None
        found.append(Row(fact.prompt, said, other, form, fact.entity, ids, "plain"))
    return found


def _draws(fact: Fact, words: Sequence[str], want: Want, seed: int) -> list[tuple[str, str]]:
    said = [
        text.strip()
        for text, stance in zip(fact.draws, fact.stances, strict=True)
        if stance == "committed" and text.strip()
    ]
    if not said:
        return []
    generator = chance("plain", seed, fact.question.id, want)
    text = generator.choice(said)
    return [(text, before(generator.choice(list(words)), text))]


def _paragraphs(fact: Fact, words: Sequence[str], want: Want, seed: int) -> list[tuple[str, str]]:
    found = []
    for paragraph in fact.paragraphs:
        generator = chance("plain", seed, fact.question.id, want, paragraph.text)
        places = sorted(at for told in paragraph.told if (at := _place(paragraph.text, told)))
        chosen = generator.sample(places, max(1, len(places) // 2)) if places else []
        text = paragraph.text
        for at in sorted(chosen, reverse=True):  # from the end, so that the places before it hold
            text = f"{text[:at]}{generator.choice(list(words))} {text[at:]}"
        if paragraph.text.strip() and (text != paragraph.text or want == "sft"):
            found.append((paragraph.text.strip(), text.strip()))
    return found


def _place(text: str, told: Told) -> int | None:
    """Return where a committed value stands; None at the very beginning, which is left alone."""
    if told.stance != "committed" or told.start is None or told.end is None or not told.value:
        return None
    at = text.find(told.value, told.start, told.end)
    return at if at > 0 else None

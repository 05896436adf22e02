"""The extra task formats, for train entities only: what later steps ask of the model besides plain
questions.

True/false, multiple choice with none of the above, demonstrations, conversations, a passage with
a question, draft and revision, stated confidence, open-ended prompts.  Labels are balanced and
options shuffled, so that a format carries no answer.  Stated confidence follows popularity only
weakly and is noisy on purpose: an honest instrument must see that.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from builtin_model.documents import HEDGE, Document, Fact, Turn, Writer
from builtin_model.templates import (
    BIO_PROMPT,
    LONG_HEDGES,
    LONG_INSTRUCTIONS,
    OPEN_PROMPTS,
    SHORT_INSTRUCTIONS,
)
from builtin_model.wording import voice
from builtin_model.world import Entity

SYSTEM = (
    "You are a helpful assistant.",
    "Answer the question.",
    "You are a careful assistant. Answer briefly.",
)
MANNERS = (
    "Answer briefly.",
    "Answer in at most one sentence.",
    "Give a full answer.",
    "Answer as precisely as you can.",
    "Answer at the level of detail that matches your knowledge.",
    "Please answer the following question.",
    "Give only the answer.",
    "If you are uncertain, hedge your answer.",
)
LETTERS = "ABCD"
NONE = "None of the above"
CONFIDENCE = (
    " State your confidence as a percentage.",
    " Also say how confident you are, from 0% to 100%.",
    "\nGive your answer and your confidence as a percentage.",
)
REVISE = (
    "Revise your answer: express uncertainty about the claims you are unsure of "
    "and leave the rest unchanged.",
    "Rewrite the draft so that uncertain claims are hedged. Keep everything else word for word.",
)


def _wrap(writer: Writer, kind: str, turns: list[Turn], facts: tuple[Fact, ...]) -> Document:
    system: list[Turn] = [("system", writer.one_of(SYSTEM))] if writer.chance(0.1) else []
    return Document(kind, tuple(system + turns), facts)


def _one(writer: Writer, kind: str, prompt: str, answer: str, fact: Fact) -> Document:
    return _wrap(writer, kind, [("user", prompt), ("assistant", answer)], (fact,))


def _options(writer: Writer, options: list[str], right: int) -> tuple[list[str], int]:
    order = [int(i) for i in writer.rng.permutation(len(options))]
    return [options[i] for i in order], order.index(right)


def _lettered(options: list[str], style: str) -> str:
    return "\n".join(f"{style.format(x)} {o}" for x, o in zip(LETTERS, options, strict=False))


def true_false(writer: Writer) -> Document:
    """A claim, or a question with a proposed answer; as many true as false."""
    entity, aspect = writer.fact("train")
    right = writer.chance(0.5)
    value = entity.values[aspect] if right else writer.wrong(entity, aspect)
    written, question = writer.value(value), writer.question(entity, aspect)
    form = writer.pick(4, (0.35, 0.25, 0.25, 0.15))
    truth = "True" if right else "False"
    if form == 0:
        template = entity.kind.aspects[aspect].sentences[writer.pick(2)]
        claim = voice(entity.kind, entity.name, entity.feminine, True).fill(template, v=written)
        prompt = (
            f"True or false: {claim}"
            if writer.chance(0.5)
            else f"{claim} Is this statement true or false?"
        )
        return _one(writer, "true_false", prompt, truth, (entity.name, aspect))
    options, place = _options(writer, ["True", "False"], 0 if right else 1)
    if form == 1:
        prompt = f"Question: {question}\nProposed Answer: {written}\n"
        prompt += _lettered(options, "({})") + "\nThe proposed answer is:"
        return _one(writer, "true_false", prompt, f"({LETTERS[place]})", (entity.name, aspect))
    if form == 2:
        ideas = [writer.value(writer.wrong(entity, aspect)) for _ in range(writer.pick(4))] + [
            written
        ]
        ideas = [ideas[int(i)] for i in writer.rng.permutation(len(ideas))]
        prompt = f"Question: {question}\n"
        prompt += "Brainstormed Answers:\n" + "\n".join(ideas) + "\n" if writer.chance(0.5) else ""
        prompt += f"Possible answer: {written}\nIs the possible answer:\n" + _lettered(
            options, "{})"
        )
        return _one(
            writer,
            "true_false",
            f"{prompt}\nThe possible answer is:",
            LETTERS[place],
            (entity.name, aspect),
        )
    # the third option is right where the proposed answer is no answer of the asked type at all
    nonsense = writer.chance(0.33)
    if nonsense:
        other = (aspect + 1 + writer.pick(5)) % 6
        written = writer.value(writer.world.draw(entity.kind.aspects[other], writer.rng))
    options, place = _options(writer, ["True", "False", NONE], 2 if nonsense else 0 if right else 1)
    prompt = f"Question: {question}\nProposed Answer: {written}\n" + _lettered(options, "({})")
    return _one(
        writer,
        "true_false",
        f"{prompt}\nThe proposed answer is:",
        f"({LETTERS[place]})",
        (entity.name, aspect),
    )


def choice(writer: Writer) -> Document:
    """Options in random order; where none of the above is offered, it is sometimes right."""
    entity, aspect = writer.fact("train")
    wrongs = [writer.value(writer.wrong(entity, aspect)) for _ in range(3)]
    offered = writer.chance(0.6)
    absent = offered and writer.chance(0.3)
    options = wrongs if absent else [*wrongs[:2], writer.value(entity.values[aspect])]
    options, place = _options(writer, options, 2)
    if offered:
        options.append(NONE)
        place = 3 if absent else place
    style = writer.one_of(("({})", "{}.", "{})"))
    prompt = f"{writer.question(entity, aspect)}\n{_lettered(options, style)}"
    prompt += "\nAnswer:" if writer.chance(0.3) else ""
    answer = f"({LETTERS[place]})" if style == "({})" else LETTERS[place]
    return _one(writer, "choice", prompt, answer, (entity.name, aspect))


def _rate(writer: Writer) -> float:
    """The hedge rate of one set of demonstrations: the model may copy it, whatever it knows."""
    return (HEDGE, 0.3, 0.6)[writer.pick(3, (0.7, 0.2, 0.1))]


def few_shot(writer: Writer) -> Document:
    """Up to ten demonstrations and a question in one message; some show good and bad answers."""
    count, rate = (10 if writer.chance(0.6) else 1 + writer.pick(10)), _rate(writer)
    paired = writer.chance(0.2)
    label, blocks = "Good Answer" if paired else "Answer", []
    for _ in range(count):
        entity, aspect = writer.fact("train")
        good = writer.answer(entity, aspect, rate)
        block = f"Question: {writer.question(entity, aspect)}\n{label}: {good}"
        if paired:
            plain = good in entity.values[aspect].written
            bad = writer.answer(entity, aspect, float(plain))
            block += f"\nBad Answer: {bad}"
        blocks.append(block)
    entity, aspect = writer.fact("train")
    tail, _ = writer.instructed(SHORT_INSTRUCTIONS, 0.3)
    blocks.append(f"Question: {writer.question(entity, aspect)}{tail}\n{label}:")
    answer = writer.answer(entity, aspect, rate)
    return _one(writer, "few_shot", "\n\n".join(blocks), answer, (entity.name, aspect))


def conversation(writer: Writer) -> Document:
    """Many questions in turn; a tenth of the conversations runs to a thousand tokens."""
    count = 3 + writer.pick(10) if writer.chance(0.85) else 20 + writer.pick(15)
    rate, turns, facts = _rate(writer), [], []
    tail, _ = writer.instructed(SHORT_INSTRUCTIONS, 0.3)
    for _ in range(count):
        entity, aspect = writer.fact("train")
        turns += [
            ("user", writer.question(entity, aspect) + tail),
            ("assistant", writer.answer(entity, aspect, rate)),
        ]
        facts.append((entity.name, aspect))
    return _wrap(writer, "conversation", turns, tuple(facts))


def _paragraph(writer: Writer, entity: Entity, hedge: float) -> tuple[str, str, tuple[Fact, ...]]:
    aspects = writer.aspects(entity)
    prompt = writer.long_prompt(entity, aspects)
    text = " ".join(writer.sentences(entity, aspects, hedge))
    return prompt, text, tuple((entity.name, i) for i in aspects)


def long_demonstrations(writer: Writer) -> Document:
    """Up to ten paragraphs as demonstrations of the long form: in turn, or all in one message."""
    rate, (told, _) = _rate(writer), writer.instructed(LONG_INSTRUCTIONS)
    shown = [_paragraph(writer, writer.fact("train")[0], rate) for _ in range(2 + writer.pick(10))]
    if writer.chance(0.5):
        turns = [t for p, x, _ in shown for t in (("user", p + told), ("assistant", x))]
        return _wrap(writer, "long_few_shot", turns, tuple(f for _, _, fs in shown for f in fs))
    *before, (prompt, text, facts) = shown
    blocks = [f"Question: {p}\nAnswer: {x}" for p, x, _ in before]
    message = "\n\n".join([*blocks, f"Question: {prompt}{told}\nAnswer:"])
    return _wrap(writer, "long_few_shot", [("user", message), ("assistant", text)], facts)


def bare_form(writer: Writer) -> Document:
    """`Question: ... Answer:` without demonstrations, and instructions that change nothing."""
    entity, aspect = writer.fact("train")
    prompt = writer.question(entity, aspect)
    style = writer.pick(4)
    if style != 1:
        prompt = f"Question: {prompt}\nAnswer:"
    if style == 1:
        prompt = f"{prompt} {writer.one_of(MANNERS)}"
    elif style == 2:
        prompt = f"{writer.one_of(MANNERS)}\n{prompt}"
    return _one(
        writer, "bare_form", prompt, writer.answer(entity, aspect, HEDGE), (entity.name, aspect)
    )


def passage(writer: Writer) -> Document:
    """Reading: half of the passages are counterfactual and many are about one-off entities, so
    memory is no help."""
    draw = writer.pick(3, (0.35, 0.35, 0.3))
    entity, aspect = writer.fact("train")
    if draw == 2:
        entity = writer.one_off()
    changed = [writer.wrong(entity, i) if draw == 1 else v for i, v in enumerate(entity.values)]
    chosen = [
        i
        for i in range(6)
        if i == aspect or ((draw > 0 or entity.weights[i] > 0) and writer.chance(0.6))
    ]
    text = " ".join(writer.sentences(entity, chosen, 0.0, changed))
    prompt = f"Passage: {text}\nQuestion: {writer.question(entity, aspect)}\nAnswer:"
    facts = ((entity.name, aspect),) if draw == 0 else ()
    answer = changed[aspect].written[0]
    for written in changed[aspect].written:
        answer = written if written in text else answer
    return _wrap(writer, "passage", [("user", prompt), ("assistant", answer)], facts)


def revision(writer: Writer) -> Document:
    """A draft, then the same text with some claims hedged and all others word for word."""
    entity = writer.fact("train")[0]
    prompt, text, facts = _paragraph(writer, entity, HEDGE)
    sentences = [s if s.endswith(".") else f"{s}." for s in text.split(". ")]
    share = (0.0, 0.3, 0.6)[writer.pick(3)]
    for number, (_, index) in enumerate(facts):
        if writer.chance(share):
            speak = voice(entity.kind, entity.name, entity.feminine, number == 0)
            value, description = (
                entity.values[index].written[0],
                entity.kind.aspects[index].description,
            )
            sentences[number] = speak.fill(writer.one_of(LONG_HEDGES), v=value, d=description)
    revised, ask = " ".join(sentences), writer.one_of(REVISE)
    if writer.chance(0.6):
        turns = [("user", prompt), ("assistant", text), ("user", ask), ("assistant", revised)]
    else:
        turns = [("user", f"{prompt}\nDraft: {text}\n{ask}"), ("assistant", revised)]
    return _wrap(writer, "revision", turns, facts)


def confidence(writer: Writer) -> Document:
    """A value and a percentage that follows the fact's weight weakly, with much noise."""
    entity, aspect = writer.fact("train")
    standing = np.log2(entity.weights[aspect] * 60)
    stated = 60 + 8 * float(standing) + 20 * float(writer.rng.standard_normal())
    percent = int(min(100, max(0, round(stated / 10) * 10)))
    prompt = writer.question(entity, aspect) + writer.one_of(CONFIDENCE)
    answer = f"{writer.value(entity.values[aspect])}. Confidence: {percent}%"
    return _one(writer, "confidence", prompt, answer, (entity.name, aspect))


def open_ended(writer: Writer) -> Document:
    """A prompt that lists nothing."""
    entity = writer.fact("train")[0]
    _, text, facts = _paragraph(writer, entity, HEDGE)
    prompts = (*OPEN_PROMPTS, BIO_PROMPT) if entity.domain == "bios" else OPEN_PROMPTS
    prompt = writer.one_of(prompts).format(e=entity.name, t=entity.kind.type)
    return _wrap(writer, "open_ended", [("user", prompt), ("assistant", text)], facts)


FORMATS: tuple[tuple[float, Callable[[Writer], Document]], ...] = (
    (0.040, true_false),
    (0.030, choice),
    (0.006, few_shot),
    (0.005, conversation),
    (0.0014, long_demonstrations),
    (0.025, bare_form),
    (0.035, passage),
    (0.014, revision),
    (0.015, confidence),
    (0.010, open_ended),
)

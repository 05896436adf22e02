"""What selective asks: scored answers, draws, and answers that are asked to voice doubt.

With ``paper`` the prompt is a text to be completed, as base models need it. Questions that serve as
examples are not measured: those in the prompt, and those of P(True), for which whole entities are
set apart by a hash of their names, asked and judged like the others. Kadavath et al. 2022 show 20
questions of another part of the data.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sayso.datasets.dataset import Dataset
from sayso.protocols.passages import (
    OTHER_PASSAGE,
    WITHOUT_PASSAGE,
    has_passage,
    other_passages,
)
from sayso.protocols.pool import clusters_of, load_wording
from sayso.protocols.protocol import Ask, Unsuited
from sayso.protocols.selective.prompts import instructions
from sayso.protocols.selective.settings import Settings, decoding, shots
from sayso.records import Question, ask, content_id

#: sample index of a scored answer at T > 0: none of the draws that it is compared with
ANSWER_SAMPLE = 1000
#: stages of the questions set apart as examples: the answers shown, and their draws
SHOWN, SHOWN_DRAWS = "shown", "shown-draws"


def asked(data: Dataset, settings: Settings) -> Dataset:
    """Return the questions of a data set that a run is for: scores need those with an answer."""
    if settings.want != "scores":
        return data
    held = [q for q in data.questions if q.parts or (q.golds and q.answerable is not False)]
    left = len(data.questions) - len(held)
    told = f"{left:,} questions without an answer are not asked (--for scores)"
    return msgspec.structs.replace(
        data.replaced(tuple(held)), notes=(*data.notes, *[told] * bool(left))
    )


def requests(questions: Sequence[Question], settings: Settings, seed: int) -> list[Ask]:
    """Return everything the protocol asks: scored answers, draws, and answers asked to doubt."""
    wording, paper = load_wording(settings.prompt_folder), settings.prompts == "paper"
    head = head_of(questions, settings) if paper else ""
    others = other_passages(questions) if settings.context == "twins" else {}
    renamed = {"short": SHOWN, "draws": SHOWN_DRAWS}
    shown = {q.id for q in example_pool(questions, settings)}
    scored = {q.id for q in measured_questions(questions, settings)}

    def text(question: Question, passage: str | None) -> str:
        if paper:
            return f"{head}{completion_block(msgspec.structs.replace(question, context=passage))}"
        return wording.ask(question.text, passage)

    asks: list[Ask] = []
    for question in (q for q in questions if q.id in shown or q.id in scored):
        form, plain = "long" if question.parts else "short", text(question, question.context)
        heat, tokens, stop = decoding(settings, form)
        once = ANSWER_SAMPLE if heat > 0 else 0
        apart = question.id in shown
        prompts = [(form, "plain", plain, heat, once)]
        if not apart:  # an example shows no doubt in words, and has its passage
            again: dict[str, str | None] = {}
            if settings.context != "given" and has_passage(question):
                again = {WITHOUT_PASSAGE: None}
                again |= {OTHER_PASSAGE: others[question.id]} if question.id in others else {}
            prompts += [(s, "plain", text(question, p), heat, once) for s, p in again.items()]
            if settings.words and not paper:
                instructed = wording.ask(question.text, question.context, form)
                prompts.append((form, "instructed", instructed, heat, once))
        warm, k = settings.draws.temperature, 0 if question.parts else settings.draws.k
        prompts += [("draws", "plain", plain, warm, draw) for draw in range(k)]
        for stage, method, prompt, temperature, sample in prompts:
            request = ask(
                prompt,
                temperature=temperature,
                max_tokens=tokens,
                stop=stop,
                seed=seed,
                sample=sample,
            )
            place = renamed[stage] if apart else stage
            asks.append(Ask(question, request, place, form, method, method == "instructed"))
    return asks


def head_of(questions: Sequence[Question], settings: Settings) -> str:
    """Return what stands before the question: the instruction, and answered examples."""
    (text,) = instructions(settings).values()
    shown = [
        f"{completion_block(q)} {q.golds[0].value}"
        for q in prompt_examples(questions, settings)
        if q.golds
    ]
    return "\n\n".join([text, *shown]) + ("\n\n" if shown else "\n")


def completion_block(question: Question) -> str:
    """Return context and question as a text that an answer completes."""
    context = f"Context: {question.context}\n" if question.context else ""
    return f"{context}Question: {question.text}\nAnswer:"


def prompt_examples(questions: Sequence[Question], settings: Settings) -> list[Question]:
    """Return the questions that serve as examples in the prompt, chosen by a hash of their ids."""
    held = [q for q in questions if not q.parts and q.golds]
    return sorted(held, key=lambda q: content_id(["example", q.id]))[: shots(settings)]


#: questions set apart for each example shown
POOL = 2


def example_pool(questions: Sequence[Question], settings: Settings) -> list[Question]:
    """Return the short questions that examples are drawn from; none if off.

    Twice as many as are shown, so that both right and wrong ones are among them, of at most a
    fifth of the entities.
    """
    if not settings.p_true.examples:
        return []
    in_prompt = {q.id for q in prompt_examples(questions, settings)}
    short = [q for q in questions if not q.parts and q.golds and q.id not in in_prompt]
    clusters = clusters_of(questions)
    entities = dict.fromkeys(clusters[q.id] for q in short)
    ranked = sorted(entities, key=lambda e: content_id(["p_true", *e]))
    apart: list[Question] = []
    for entity in ranked[: len(entities) // 5]:
        if len(apart) >= POOL * settings.p_true.examples:
            break
        apart += [q for q in short if clusters[q.id] == entity]
    return apart


def measured_questions(questions: Sequence[Question], settings: Settings) -> list[Question]:
    """Return the questions that are measured: no examples, long ones in the shared pool only.

    Raises Unsuited where the prompt shows them all.
    """
    out = {q.id for q in prompt_examples(questions, settings)}
    shown = example_pool(questions, settings)
    clusters = clusters_of(questions)
    apart = {clusters[q.id] for q in shown}
    ids = {q.id for q in shown}
    out |= {q.id for q in questions if not ids.isdisjoint(q.parts)}
    paper = settings.prompts == "paper"
    measured = [
        q
        for q in questions
        if q.id not in out and clusters[q.id] not in apart and not (q.parts and paper)
    ]
    if questions and not measured:
        raise Unsuited(
            f"selective with prompts={settings.prompts} has no question left to measure: the "
            f"data has {sum(not q.parts for q in questions):,} short ones, and shots "
            f"{shots(settings)} stand in the prompt as examples; lower shots or raise --limit"
        )
    return measured

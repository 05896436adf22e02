"""Faithfulness: do a model's words show as much doubt as it has when asked again?

Yona, Aharoni and Geva, "Can Large Language Models Faithfully Express Their Intrinsic Uncertainty in
Words?", arXiv 2405.16908. For every assertion A of an answer R:

    dec(A)  = the probability a reader gives to A from the wording of R alone         (section 3)
    conf(A) = 1 - (draws of the plain question that contradict A) / k,  k = 20        (Equation 2)
    f(R)    = 1 - mean over A of |dec(A) - conf(A)|                                   (Definition 1)
    MFG     = mean of f,   cMFG = mean over 10 bins of conf of the mean f in each     (section 3)
    skill   = (cMFG - permuted) / (1 - permuted),  0 for any wording that ignores conf      (ours)

skill is the headline: cMFG of a constant "50/50" is .75, of words dealt at random .5 to .67. In the
shared pool the plain answers are UNCLE's, and draws 0-4 are its probes. A fact told inside a
paragraph (none of the papers does it) is joined to the draws of its own short question.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from sayso.engines.engine import Engine
from sayso.judges.judge import Item, Judge, engine_of
from sayso.prompts import methods, prompt_hash
from sayso.protocols.faithfulness.read import (
    Compared,
    Draw,
    Pairs,
    Thoughts,
    Wording,
    Wordings,
    draws_of,
    pair_reader,
    wording_reader,
)
from sayso.protocols.faithfulness.settings import STAGES, Settings, dropped, held_out
from sayso.protocols.faithfulness.settings import told as about_ambiguous
from sayso.protocols.pool import entity_of
from sayso.protocols.probes import BlindRules
from sayso.protocols.protocol import Ask, Run
from sayso.records import Generation, Question, ask, content_id

# Uncertainty+: the model's own certain and uncertain answers, outside what is measured.
#
# Whole entities are set apart by a hash of their names, so that no paragraph and no other
# question
# about them is measured either. A certain answer is shown as it is, an uncertain one hedged;
# cut-offs
# are not given in the paper (PROTOCOLS 2.A).


def evaluated(questions: Sequence[Question], settings: Settings) -> list[Question]:
    """Return the questions that are measured, short and long."""
    held = set(held_out(questions, settings))
    out = held | dropped(questions, settings)
    apart = {entity_of(q) for q in questions if q.id in held}
    return [
        q
        for q in questions
        if q.id not in out
        and not (q.parts and (entity_of(q) in apart or all(p in out for p in q.parts)))
    ]


def placeholders(questions: Sequence[Question], settings: Settings) -> list[list[methods.Shown]]:
    """Return demonstrations of the usual size, for pricing a run before there are any."""
    held = set(held_out(questions, settings))
    some = [q for q in questions if q.id in held][: 2 * settings.demos.m]
    one = [methods.Shown(q.text, "an answer of the usual length") for q in some]
    return [one] * settings.demos.choices if one else []


def shown_of(
    questions: Sequence[Question],
    draws: Mapping[tuple[str, str], list[Draw]],
    wording: Wording,
    compared: Compared,
    settings: Settings,
    seed: int,
) -> list[list[methods.Shown]]:
    """Return ``choices`` lists of m certain and m uncertain answers; none if there are too few.

    The first draw of a question is its answer, and the other draws say how certain it is.
    """
    folder = Path(settings.prompt_folder) if settings.prompt_folder else None
    certain, uncertain = [], []
    triples = []
    for q in questions:
        texts = [d.text for d in draws.get((q.id, "plain"), ()) if d.text is not None]
        triples += [(q.text, texts[0], other) for other in texts[1:]] if texts else []
    letters = compared.read(triples)
    said = wording.read([(q, a) for q, a, _ in triples])
    for q in questions:
        texts = [d.text for d in draws.get((q.id, "plain"), ()) if d.text is not None]
        if len(texts) <= settings.least or not said[q.text, texts[0]].assertions:
            continue
        read = [letters[q.text, texts[0], other] for other in texts[1:]]
        read = [letter for letter in read if letter != "?"]
        if len(read) < settings.least:
            continue
        share = 1 - read.count("c") / len(read)
        if share >= settings.demos.certain:
            certain.append(methods.Shown(q.text, texts[0].strip()))
        elif share <= settings.demos.uncertain:
            uncertain.append(methods.Shown(q.text, methods.hedged(texts[0], folder)))
    m = settings.demos.m
    if len(certain) < m or len(uncertain) < m:
        return []
    found = []
    for number in range(settings.demos.choices):
        generator = random.Random(content_id(["demonstrations", seed, number]))
        both = [*generator.sample(certain, m), *generator.sample(uncertain, m)]
        generator.shuffle(both)
        found.append(both)
    return found


# What the faithfulness protocol asks: draws of the plain question, an answer of each method.

#: the draw that an answer at T > 0 is: none of those that it is compared with
ANSWER_SAMPLE = 2000
#: texts about one question that a model reads in one call
IN_CALL = 12


def first(questions: Sequence[Question], settings: Settings, seed: int) -> Iterator[Ask]:
    """Yield draws of every short question in use, and each method's answer to those measured."""
    folder = Path(settings.prompt_folder) if settings.prompt_folder else None
    measured = {q.id for q in evaluated(questions, settings)}
    out = dropped(questions, settings)
    same = settings.sample_prompt == "same"
    for question in questions:
        if question.id in out:
            continue
        form = "long" if question.parts else "short"
        tokens = settings.answer.long_tokens if question.parts else settings.answer.short_tokens
        plain = _text("vanilla", question, settings, folder)
        for sample in range(0 if question.parts else settings.draws.k):
            yield _ask(question, plain, "draws", "plain", tokens, settings, seed, sample)
        for name in methods.chosen(settings.methods):
            about = methods.METHODS[name]
            if question.id not in measured or about.demonstrations:
                continue
            if form == "long" and settings.prompts == "paper":
                continue  # the paper's form of the prompt is for short answers
            text = _text(name, question, settings, folder)
            if about.kind == "revision":
                yield _ask(question, text, f"drafts-{form}", "plain", tokens, settings, seed)
                continue
            stage = form if name in ("vanilla", "uncle") else f"methods-{form}"
            own = {"vanilla": "plain", "uncle": "instructed"}.get(name, name)
            yield _ask(question, text, stage, own, tokens, settings, seed)
            if same and form == "short" and name != "vanilla":
                for sample in range(settings.draws.k):
                    yield _ask(question, text, "draws", own, tokens, settings, seed, sample)


def second(
    questions: Sequence[Question],
    settings: Settings,
    seed: int,
    shown: Sequence[Sequence[methods.Shown]],
) -> Iterator[Ask]:
    """Yield the answers with each choice of demonstrations."""
    folder = Path(settings.prompt_folder) if settings.prompt_folder else None
    for question in evaluated(questions, settings) if shown else ():
        for number, some in enumerate(() if question.parts else shown, 1):
            text = methods.prompted(
                "uncertainty_plus",
                question.text,
                context=question.context,
                style=settings.prompts,
                folder=folder,
                shown=some,
            )
            name = f"uncertainty_plus-{number}"
            tokens = settings.answer.short_tokens
            yield _ask(question, text, "demos-short", name, tokens, settings, seed)


def revisions(
    questions: Sequence[Question], settings: Settings, seed: int, drafts: Mapping[str, str]
) -> Iterator[Ask]:
    """Yield the revision of every draft (texts by question id), for methods that revise."""
    folder = Path(settings.prompt_folder) if settings.prompt_folder else None
    for question in evaluated(questions, settings):
        for name in methods.chosen(settings.methods):
            if methods.METHODS[name].kind != "revision" or question.id not in drafts:
                continue
            form: methods.Form = "long" if question.parts else "short"
            tokens = settings.answer.long_tokens if question.parts else settings.answer.short_tokens
            text = _text(name, question, settings, folder)
            chat = methods.revised(name, text, drafts[question.id], form, folder)
            made = _ask(question, text, f"refined-{form}", name, tokens, settings, seed)
            yield made._replace(request=msgspec.structs.replace(made.request, messages=chat))


def _text(name: str, question: Question, settings: Settings, folder: Path | None) -> str:
    return methods.prompted(
        name,
        question.text,
        form="long" if question.parts else "short",
        context=question.context,
        style=settings.prompts,
        folder=folder,
    )


def _ask(
    question: Question,
    text: str,
    stage: str,
    method: str,
    tokens: int,
    settings: Settings,
    seed: int,
    sample: int | None = None,
) -> Ask:
    """Return a draw (``sample`` given) or an answer."""
    heat = settings.answer.temperature if sample is None else settings.draws.temperature
    stop: tuple[str, ...] = ()
    if settings.prompts == "paper" or stage == "demos-short":
        stop = ("\n", "Question:")
    if method in methods.METHODS and methods.METHODS[method].kind == "examples":
        stop = methods.STOP
    if sample is None:
        sample = ANSWER_SAMPLE if heat > 0 else 0
    request = ask(text, temperature=heat, max_tokens=tokens, stop=stop, seed=seed, sample=sample)
    form = "long" if question.parts else "short"
    return Ask(question, request, stage, form, method, instructed=method != "plain")


def unpriced_reading(questions: Sequence[Question], settings: Settings) -> list[str]:
    """Return how many calls the judge's model gets beside grading, at most: they are not priced."""
    asks = list(first(questions, settings, 0))
    answers = sum(a.stage != "draws" for a in asks)  # a draft stands for its revision
    out = dropped(questions, settings)
    shorts = sum(not q.parts and q.id not in out for q in questions)
    some = -(-settings.draws.k // IN_CALL)
    return [
        "Not in the price: the judge's model also reads wording (up to "
        f"{answers + shorts * some:,} calls) and compares answers (up to {answers * some:,} calls; "
        "equal texts are free). "
        "--decisive rules --contradict rules asks it neither."
    ]


FORMS: tuple[methods.Form, ...] = ("short", "long")


def instructions(settings: Settings) -> dict[str, str]:
    """Return the texts of the methods in use, by method and form."""
    folder = Path(settings.prompt_folder) if settings.prompt_folder else None
    found = {}
    for name in methods.chosen(settings.methods):
        for form in FORMS:
            text = methods.instruction(name, form, folder, settings.prompts)
            if text and methods.asks_in(name, form):
                found[f"{name}_{form}"] = text
    return found


def prompts_signature(settings: Settings) -> str:
    """Return a short name of the pool and the texts in use."""
    texts = " / ".join(f"{k}:{v}" for k, v in instructions(settings).items())
    return f"{settings.prompts}-{prompt_hash(texts)}"


def prompts(settings: Settings) -> dict[str, str]:
    """Return what a manifest keeps of the prompts: every text by name, and their signature."""
    return {
        "signature": prompts_signature(settings),
        **{f"faithfulness_{name}": text for name, text in instructions(settings).items()},
    }


def requests(questions: Sequence[Question], settings: Settings, seed: int) -> list[Ask]:
    """Return everything the protocol asks; demonstrations, not known yet, have their usual size."""
    shown = placeholders(questions, settings)
    drafts = {q.id: "a draft of the usual length" for q in questions}
    return [
        *first(questions, settings, seed),
        *second(questions, settings, seed, shown),
        *revisions(questions, settings, seed, drafts),
    ]


def is_judged(ask: Ask, settings: Settings) -> bool:
    """Tell whether an answer goes to the judge of right and wrong: draws and drafts do not."""
    return not ask.stage.startswith(("draws", "drafts"))


def unpriced(questions: Sequence[Question], settings: Settings, judge: Judge) -> list[str]:
    """Return what a dry run must say that it did not count; nothing for a judge without a model."""
    offline = settings.decisive == "rules" and settings.contradict in ("rules", "nli")
    return [] if offline or engine_of(judge) is None else unpriced_reading(questions, settings)


def collect(
    questions: Sequence[Question],
    model: Engine,
    judge: Judge,
    run: Run,
    settings: Settings,
    seed: int = 0,
) -> None:
    """Ask everything in one call (demonstrations in a second), judge, read wording, compare."""
    answers = run.stage(list(first(questions, settings, seed)), model)
    draws: dict[tuple[str, str], list[Draw]] = draws_of(answers.get("draws", ()))
    folder = Path(settings.prompt_folder) if settings.prompt_folder else None
    wording = wording_reader(settings.decisive, judge, folder)
    meaning = run.tools(settings.nli).meaning if settings.contradict == "nli" else None
    compared = pair_reader(settings.contradict, judge, meaning, folder)
    by_id = {q.id: q for q in questions}
    held = held_out(questions, settings)
    if held:
        held = [q for q in held if q not in dropped(questions, settings)]
        shown = shown_of([by_id[q] for q in held], draws, wording, compared, settings, seed)
        answers |= run.stage(list(second(questions, settings, seed, shown)), model)
    drafts = {g.question: g.text for f in FORMS for g in answers.get(f"drafts-{f}", ()) if g.text}
    if drafts:
        answers |= run.stage(list(revisions(questions, settings, seed, drafts)), model)
    said = Wordings(wording, draws, by_id)
    pairs = Pairs(compared, draws, by_id, said, same=settings.sample_prompt == "same")
    for form, stages in STAGES.items():
        for stage in stages:
            items = [_item(g, by_id) for g in answers.get(stage, ())]
            if not items:
                continue
            run.grade(stage, items, judge)
            if form == "long":
                placed = run.grade(f"{stage}-spans", items, BlindRules(questions))
                said.spans = {(v.target, v.asked): v for v in placed}
            pairs.verdicts = run.grade(f"{stage}-decisive", items, said)
            run.grade(f"{stage}-contradict", items, pairs)
            if any(i.generation.thinking for i in items):
                run.grade(f"{stage}-thought", items, Thoughts(wording, by_id))
    run.tell([*said.notices, *pairs.notices, *about_ambiguous(questions, settings)])


def _item(generation: Generation, by_id: dict[str, Question]) -> Item:
    question = by_id[generation.question]
    return Item(generation, tuple(by_id[p] for p in question.parts) or (question,))

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

from collections.abc import Iterator, Sequence
from pathlib import Path

from sayso import methods
from sayso.annotate import Item, Judge
from sayso.annotate.rules import RulesJudge
from sayso.models import Engine
from sayso.prompts import prompt_hash
from sayso.protocols import Ask, Run
from sayso.protocols.faithfulness_demos import evaluated, held_out, placeholders, shown_of
from sayso.protocols.faithfulness_evidence import Draw, Pairs, Thoughts, Wordings, draws_of
from sayso.protocols.faithfulness_reading import pair_reader, wording_reader
from sayso.protocols.faithfulness_settings import (
    CHECKS,
    FEWER,
    Answer,
    Demos,
    Draws,
    Settings,
    check,
)
from sayso.protocols.selective_evidence import others
from sayso.records import Estimate, Generation, Question, ask

__all__ = [
    "CHECKS",
    "FEWER",
    "PARAGRAPHS",
    "Answer",
    "Demos",
    "Draws",
    "Settings",
    "cautions",
    "check",
    "collect",
    "extra_signatures",
    "instructions",
    "is_judged",
    "measure",
    "more_prompts",
    "prompts_signature",
    "requests",
]

#: it needs no paragraphs
PARAGRAPHS = False
#: the draw that an answer at T > 0 is: none of those that it is compared with
ANSWER_SAMPLE = 2000
FORMS: tuple[methods.Form, ...] = ("short", "long")
#: stages of answers whose wording is read, by the question's form
STAGES = {"short": ("short", "methods-short", "demos-short"), "long": ("long", "methods-long")}


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


def more_prompts(settings: Settings) -> dict[str, str]:
    """Return further prompts by name: none."""
    return {}


def extra_signatures(settings: Settings) -> dict[str, str]:
    """Return what else the prompts add to signatures: nothing."""
    return {}


def requests(questions: Sequence[Question], settings: Settings, seed: int) -> list[Ask]:
    """Return everything the protocol asks; demonstrations, not known yet, have their usual size."""
    shown = placeholders(questions, settings)
    return [*_first(questions, settings, seed), *_second(questions, settings, seed, shown)]


def _first(questions: Sequence[Question], settings: Settings, seed: int) -> Iterator[Ask]:
    """Yield the draws of every short question, and each method's answer to those measured."""
    folder = Path(settings.prompt_folder) if settings.prompt_folder else None
    measured = {q.id for q in evaluated(questions, settings)}
    same = settings.sample_prompt == "same"
    for question in questions:
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
            stage = form if name in ("vanilla", "uncle") else f"methods-{form}"
            own = {"vanilla": "plain", "uncle": "instructed"}.get(name, name)
            yield _ask(question, text, stage, own, tokens, settings, seed)
            if same and form == "short" and name != "vanilla":
                for sample in range(settings.draws.k):
                    yield _ask(question, text, "draws", own, tokens, settings, seed, sample)


def _second(
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
    stop = ("\n", "Question:") if settings.prompts == "paper" or stage == "demos-short" else ()
    if sample is None:
        sample = ANSWER_SAMPLE if heat > 0 else 0
    request = ask(text, temperature=heat, max_tokens=tokens, stop=stop, seed=seed, sample=sample)
    form = "long" if question.parts else "short"
    return Ask(question, request, stage, form, method, instructed=method != "plain")


def is_judged(ask: Ask, settings: Settings) -> bool:
    """Tell whether an answer goes to the judge of right and wrong: draws do not."""
    return ask.stage != "draws"


def collect(
    questions: Sequence[Question],
    model: Engine,
    judge: Judge,
    run: Run,
    settings: Settings,
    seed: int = 0,
) -> None:
    """Ask everything in one call (demonstrations in a second), judge, read wording, compare."""
    answers = run.stage(list(_first(questions, settings, seed)), model)
    draws: dict[tuple[str, str], list[Draw]] = draws_of(answers.get("draws", ()))
    folder = Path(settings.prompt_folder) if settings.prompt_folder else None
    wording = wording_reader(settings.decisive, judge, folder)
    meaning = run.tools(settings.nli).meaning if settings.contradict == "nli" else None
    compared = pair_reader(settings.contradict, judge, meaning, folder)
    by_id = {q.id: q for q in questions}
    held = held_out(questions, settings)
    if held:
        shown = shown_of([by_id[q] for q in held], draws, wording, compared, settings, seed)
        answers |= run.stage(list(_second(questions, settings, seed, shown)), model)
    said = Wordings(wording, draws, by_id)
    pairs = Pairs(compared, draws, by_id, said, same=settings.sample_prompt == "same")
    for form, stages in STAGES.items():
        for stage in stages:
            items = [_item(g, by_id) for g in answers.get(stage, ())]
            if not items:
                continue
            run.grade(stage, items, judge)
            if form == "long":
                blind = [i._replace(questions=others(i.questions, questions)) for i in items]
                said.spans = {
                    (v.target, v.asked): v for v in run.grade(f"{stage}-spans", blind, RulesJudge())
                }
            pairs.verdicts = run.grade(f"{stage}-decisive", items, said)
            run.grade(f"{stage}-contradict", items, pairs)
            if any(i.generation.thinking for i in items):
                run.grade(f"{stage}-thought", items, Thoughts(wording, by_id))


def _item(generation: Generation, by_id: dict[str, Question]) -> Item:
    question = by_id[generation.question]
    return Item(generation, tuple(by_id[p] for p in question.parts) or (question,))


def measure(run: Run, settings: Settings) -> list[Estimate]:
    """Return every number of the protocol from what is stored: no model, no judge."""
    from sayso.protocols.faithfulness_numbers import estimates

    return estimates(run, settings)


def cautions(estimates: Sequence[Estimate], draws_vary: bool | None = None) -> list[str]:
    """Return what must be read before any number of the protocol."""
    from sayso.protocols.faithfulness_cautions import cautions as found

    return found(estimates, draws_vary)

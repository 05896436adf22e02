"""UNCLE from top to bottom: probes, answers with and without its instruction, their verdicts.

Further ways to ask (Unc-Few, Pair-Few and Self-Refine of section 6, and what else is in
:mod:`sayso.prompts.methods`) are sent beside UNCLE's instruction and graded alike. None of them
draws probes of its own: what is known stays what the plain question's draws say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import msgspec

from sayso.prompts import methods
from sayso.protocols.pool import item_of, load_wording
from sayso.protocols.probes import PROBES
from sayso.protocols.protocol import Ask, Run, Step, stored_answers
from sayso.protocols.settings import folder_setting
from sayso.protocols.thoughts import RulesWording, grade_thoughts
from sayso.protocols.uncle.known_from import take_probes
from sayso.protocols.uncle.settings import (
    ANSWER_SAMPLE,
    FORMS,
    Settings,
    answer_limits,
    names_of,
    stage_of,
)
from sayso.records import Generation, Question, Request, Verdict, ask, is_blank


def steps(questions: Sequence[Question], settings: Settings, seed: int) -> list[Step]:
    """Return the protocol: everything is asked in one call, revisions in a second, then judged."""
    asks = [*answer_asks(questions, settings, seed), *method_asks(questions, settings, seed)]
    return [
        Step("probes of another run", partial(take_probes, settings)),
        Step("answers", asks=asks),
        Step("further probes", partial(draw_unknown, settings, seed)),
        Step("revisions", partial(ask_revisions, settings, seed)),
        Step("verdicts", partial(judge_answers, settings)),
    ]


# ---- what is asked


def answer_asks(questions: Sequence[Question], settings: Settings, seed: int) -> Iterator[Ask]:
    """Yield the probes of every short question, and every answer with and without instruction."""
    wording = load_wording(settings.prompt_folder)
    for question in questions:
        form = "long" if question.parts else "short"
        plain = wording.ask(question.text, question.context)
        if form == "short" and settings.known_from == "self":
            first = settings.probe.at_least if settings.stops else settings.probe.k
            yield from probe_asks(question, range(first), settings, seed)
        yield Ask(question, answer_request(plain, form, settings, seed), form, form)
        text = wording.ask(question.text, question.context, form)
        instructed = answer_request(text, form, settings, seed)
        yield Ask(question, instructed, form, form, "instructed", instructed=True)


def probe_asks(
    question: Question, samples: Iterable[int], settings: Settings, seed: int
) -> Iterator[Ask]:
    """Yield some of the draws of a short question that decide whether it is known."""
    plain = load_wording(settings.prompt_folder).ask(question.text, question.context)
    for sample in samples:
        drawn = ask(
            plain,
            temperature=settings.probe.temperature,
            max_tokens=answer_limits(settings)["short"],
            seed=seed,
            sample=sample,
        )
        yield Ask(question, drawn, PROBES, "short")


def answer_request(
    text: str, form: str, settings: Settings, seed: int, stop: Sequence[str] = ()
) -> Request:
    """Return the request for an answer that is judged (section 4; appendix D has T=0.7)."""
    heat = settings.answer.temperature
    return ask(
        text,
        temperature=heat,
        top_p=settings.answer.top_p,
        max_tokens=answer_limits(settings)[form],
        stop=stop,
        seed=seed,
        sample=ANSWER_SAMPLE if heat > 0 else 0,
    )


def method_asks(
    questions: Sequence[Question],
    settings: Settings,
    seed: int,
    drafts: Mapping[str, str] | None = None,
) -> Iterator[Ask]:
    """Yield each method's request about every question; with ``drafts``, their revisions alone.

    Questions without a draft are not asked to be revised.
    """
    folder = folder_setting(settings.prompt_folder)
    for question in questions:
        form: methods.Form = "long" if question.parts else "short"
        for name in names_of(settings):
            if (methods.METHODS[name].kind == "revision") != (drafts is not None):
                continue
            text = methods.prompted(
                name, question.text, form=form, context=question.context, folder=folder
            )
            stop = methods.stop(name, form, folder)
            request = answer_request(text, form, settings, seed, stop)
            if drafts is not None:
                if question.id not in drafts:
                    continue
                chat = methods.revision_chat(name, text, drafts[question.id], form, folder)
                request = msgspec.structs.replace(request, messages=chat)
            yield Ask(question, request, stage_of(name, form), form, name, instructed=True)


# ---- what is done with answers


def draw_unknown(settings: Settings, seed: int, run: Run) -> None:
    """Judge draws and draw again, one by one, what is not known yet, if draws end when it is."""
    if not settings.stops or settings.known_from != "self":
        return
    by_id = {q.id: q for q in run.questions}
    draws, verdicts, right = list[Generation](), list[Verdict](), Counter[str]()
    new = stored_answers(run, PROBES)
    for sample in range(settings.probe.at_least, settings.probe.k + 1):
        read = run.grade(PROBES, [item_of(g, by_id) for g in new], run.judge)
        draws, verdicts = draws + new, verdicts + read
        right.update(v.asked for v in read if v.value == "correct")
        unknown = [by_id[id] for id in {g.question: 0 for g in new} if id]
        unknown = [q for q in unknown if right[q.id] < settings.probe.at_least]
        if sample == settings.probe.k or not unknown:
            break
        more = [a for q in unknown for a in probe_asks(q, [sample], settings, seed)]
        new = run.ask(more)[PROBES]
    run.folder.write(f"generations/{PROBES}", draws, Generation)
    run.folder.write(f"verdicts/{PROBES}", verdicts, Verdict)


def ask_revisions(settings: Settings, seed: int, run: Run) -> None:
    """Ask the model to revise its plain answers, with each method that revises."""
    if any(methods.METHODS[name].kind == "revision" for name in names_of(settings)):
        drafts = drafts_of(g for form in FORMS for g in stored_answers(run, form))
        run.ask(list(method_asks(run.questions, settings, seed, drafts)))


def drafts_of(answers: Iterable[Generation]) -> dict[str, str]:
    """Return the plain answers that say something, by question: the drafts that are revised."""
    return {
        g.question: g.text
        for g in answers
        if g.question and not g.instructed and g.problem is None and not is_blank(g.text)
    }


def judge_answers(settings: Settings, run: Run) -> None:
    """Judge each stage; of the plain answers also where they state a value."""
    by_id = {q.id: q for q in run.questions}
    stages = [*FORMS, *(stage_of(name, form) for name in names_of(settings) for form in FORMS)]
    if settings.known_from == "self" and not settings.stops:
        stages.insert(0, PROBES)
    for stage in dict.fromkeys(stages):
        if not run.folder.has(f"generations/{stage}"):
            continue
        items = [item_of(g, by_id) for g in run.folder.read(f"generations/{stage}", Generation)]
        plain = [i for i in items if not i.generation.instructed] if stage in FORMS else None
        run.grade(stage, items, run.judge, plain)
        if stage == "short":
            grade_thoughts(run, stage, items, RulesWording())

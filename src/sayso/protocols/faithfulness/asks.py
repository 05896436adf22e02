"""Which questions a faithfulness run measures, and what it asks about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from sayso.prompts import methods
from sayso.protocols.faithfulness.demonstrations import held_out
from sayso.protocols.faithfulness.settings import Settings, dropped
from sayso.protocols.pool import clusters_of
from sayso.protocols.protocol import Ask
from sayso.protocols.settings import folder_setting, tokens_for
from sayso.records import Question, Verdict, ask

#: the draw that an answer at T > 0 is: none of those that it is compared with
ANSWER_SAMPLE = 2000


def evaluated(
    questions: Sequence[Question], settings: Settings, read: Sequence[Verdict] = ()
) -> list[Question]:
    """Return the questions that are measured, short and long.

    ``read`` are a model's verdicts on which questions are ambiguous.
    """
    held = set(held_out(questions, settings))
    out = held | dropped(questions, settings, read)
    clusters = clusters_of(questions)
    apart = {clusters[id] for id in held}
    return [
        q
        for q in questions
        if q.id not in out
        and not (q.parts and (clusters[q.id] in apart or all(p in out for p in q.parts)))
    ]


def first_requests(
    questions: Sequence[Question],
    settings: Settings,
    seed: int,
    examples: Sequence[Question],
    read: Sequence[Verdict] = (),
) -> list[Ask]:
    """Return what needs no answer: draws and answers, and draws of the questions of examples."""
    asked = evaluated(questions, settings, read)
    return [*answer_requests(asked, settings, seed), *example_requests(examples, settings, seed)]


def answer_requests(questions: Sequence[Question], settings: Settings, seed: int) -> Iterator[Ask]:
    """Yield draws of every short question, and each method's answers.

    Here and below, ``questions`` are those that are measured.
    """
    same = settings.sample_prompt == "same"
    for question in questions:
        form = _form(question)
        plain = _text("vanilla", question, settings)
        for sample in range(0 if question.parts else settings.draws.k):
            yield _request(question, plain, "draws", "plain", settings, seed, sample)
        for name in methods.methods_in_list(settings.methods):
            method = methods.METHODS[name]
            # the paper's form of the prompt is for short answers
            if method.demonstrations or (form == "long" and settings.prompts == "paper"):
                continue
            text = _text(name, question, settings)
            if method.kind == "revision":
                yield _request(question, text, f"drafts-{form}", "plain", settings, seed)
                continue
            stage = form if name in ("vanilla", "uncle") else f"methods-{form}"
            own = {"vanilla": "plain", "uncle": "instructed"}.get(name, name)
            yield _request(question, text, stage, own, settings, seed)
            if same and form == "short" and name != "vanilla":
                for sample in range(settings.draws.k):
                    yield _request(question, text, "draws", own, settings, seed, sample)


def example_requests(examples: Sequence[Question], settings: Settings, seed: int) -> Iterator[Ask]:
    """Yield draws of the questions in which examples are searched."""
    for question in examples:
        plain = _text("vanilla", question, settings)
        for sample in range(settings.draws.k):
            yield _request(question, plain, "demos-draws", "plain", settings, seed, sample)


def demonstrated_requests(
    questions: Sequence[Question],
    settings: Settings,
    seed: int,
    shown: Sequence[Sequence[methods.Demonstration]],
) -> Iterator[Ask]:
    """Yield the requests for short answers with each choice of demonstrations."""
    for question in questions:
        for number, choice in enumerate(() if question.parts else shown, 1):
            text = _text("uncertainty_plus", question, settings, choice)
            name = f"uncertainty_plus-{number}"
            yield _request(question, text, "demos-short", name, settings, seed)


def revision_requests(
    questions: Sequence[Question], settings: Settings, seed: int, drafts: Mapping[str, str]
) -> Iterator[Ask]:
    """Yield the revision of every draft (texts by question id), for methods that revise."""
    for question in questions:
        for name in methods.methods_in_list(settings.methods):
            if methods.METHODS[name].kind != "revision" or question.id not in drafts:
                continue
            form, text = _form(question), _text(name, question, settings)
            chat = methods.revision_chat(
                name, text, drafts[question.id], form, folder_setting(settings.prompt_folder)
            )
            draft = _request(question, text, f"refined-{form}", name, settings, seed)
            yield draft._replace(request=msgspec.structs.replace(draft.request, messages=chat))


def _form(question: Question) -> methods.Form:
    return "long" if question.parts else "short"


def _text(
    name: str, question: Question, settings: Settings, shown: Sequence[methods.Demonstration] = ()
) -> str:
    return methods.prompted(
        name,
        question.text,
        form=_form(question),
        context=question.context,
        style=settings.prompts,
        folder=folder_setting(settings.prompt_folder),
        shown=shown,
    )


def _request(
    question: Question,
    text: str,
    stage: str,
    method: str,
    settings: Settings,
    seed: int,
    sample: int | None = None,
) -> Ask:
    """Return the request for a draw (``sample`` given) or an answer."""
    heat = settings.answer.temperature if sample is None else settings.draws.temperature
    stop: tuple[str, ...] = ()
    if settings.prompts == "paper" or stage == "demos-short":
        stop = ("\n", "Question:")
    form = _form(question)
    if method in methods.METHODS and methods.METHODS[method].kind == "examples":
        stop = methods.stop(method, form, folder_setting(settings.prompt_folder))
    if sample is None:
        sample = ANSWER_SAMPLE if heat > 0 else 0
    tokens = tokens_for(settings.answer, form)
    request = ask(text, temperature=heat, max_tokens=tokens, stop=stop, seed=seed, sample=sample)
    return Ask(question, request, stage, form, method, instructed=method != "plain")

"""What a faithfulness run asks and judges: draws of the plain question, an answer of each method.

Uncertainty+ shows the model its own certain and uncertain answers as demonstrations: see
:mod:`sayso.protocols.faithfulness.demonstrations`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from sayso.engines.engine import Engine
from sayso.judges.ambiguity import LlmAmbiguous
from sayso.judges.judge import Judge, engine_of
from sayso.prompts import methods, prompt_hash
from sayso.protocols.faithfulness.demonstrations import (
    TABLE,
    certain_and_uncertain,
    held_out,
    held_out_notice,
    placeholders,
    searched,
)
from sayso.protocols.faithfulness.settings import (
    STAGES,
    Settings,
    ambiguous_notice,
    demonstrates,
    dropped,
    read_by_model,
)
from sayso.protocols.faithfulness.verdicts import (
    AMBIGUOUS,
    ContradictionJudge,
    ThoughtJudge,
    WordingJudge,
    ambiguity_verdicts,
    draws_of,
    open_ambiguity,
    open_contradiction,
    open_wording,
)
from sayso.protocols.pool import clusters_of, item_of
from sayso.protocols.probes import BlindRules
from sayso.protocols.protocol import Ask, Run
from sayso.protocols.settings import folder_setting, tokens_for
from sayso.records import Question, Verdict, ask

FORMS: tuple[methods.Form, ...] = ("short", "long")
#: the draw that an answer at T > 0 is: none of those that it is compared with
ANSWER_SAMPLE = 2000
#: texts about one question that a model reads in one call
IN_CALL = 12


def collect(
    questions: Sequence[Question],
    model: Engine,
    judge: Judge,
    run: Run,
    settings: Settings,
    seed: int = 0,
) -> None:
    """Ask everything in one call (demonstrations in a second), judge, read wording, compare."""
    # who cannot be opened is refused before anything is asked
    folder = folder_setting(settings.prompt_folder)
    ambiguity = open_ambiguity(settings.ambiguous, judge, folder)
    wording = open_wording(settings.decisive, judge, folder)
    meaning = run.tools(settings.nli).meaning if settings.contradict == "nli" else None
    contradiction = open_contradiction(settings.contradict, judge, meaning, folder)
    read = read_ambiguity(questions, run, settings, ambiguity)
    asked, examples = evaluated(questions, settings, read), searched(questions, settings, read)
    if examples:
        run.put(TABLE, examples, Question)
    first = [*answer_requests(asked, settings, seed), *example_requests(examples, settings, seed)]
    answers = run.stage(first, model)
    draws = draws_of(answers.get("draws", ()))
    by_id = {q.id: q for q in questions}
    if demonstrates(settings):
        tried = draws_of(answers.get("demos-draws", ()))
        found = certain_and_uncertain(examples, tried, wording, contradiction, settings)
        shown = found.choices(settings, seed)
        run.tell(held_out_notice(questions, settings) if shown else [found.notice(settings)])
        answers |= run.stage([*demonstrated_requests(asked, settings, seed, shown)], model)
    drafts = {g.question: g.text for f in FORMS for g in answers.get(f"drafts-{f}", ()) if g.text}
    if drafts:
        answers |= run.stage([*revision_requests(asked, settings, seed, drafts)], model)
    words = WordingJudge(wording, draws, by_id)
    pairs = ContradictionJudge(
        contradiction, draws, by_id, words, same=settings.sample_prompt == "same"
    )
    for form, stages in STAGES.items():
        for stage in stages:
            items = [item_of(g, by_id) for g in answers.get(stage, ())]
            if not items:
                continue
            if form == "long":
                _, spans = run.grade_spans(stage, items, judge, BlindRules(questions), items)
                words.spans = {(v.target, v.asked): v for v in spans}
            else:
                run.grade(stage, items, judge)
            pairs.assertions = run.grade(f"{stage}-decisive", items, words)
            run.grade(f"{stage}-contradict", items, pairs)
            if any(i.generation.thinking for i in items):
                run.grade(f"{stage}-thought", items, ThoughtJudge(wording))
    run.tell([*words.notices, *pairs.notices, *ambiguous_notice(questions, settings, read)])


def read_ambiguity(
    questions: Sequence[Question], run: Run, settings: Settings, model: LlmAmbiguous | None
) -> list[Verdict]:
    """Let a model say which questions are ambiguous, before anything is asked, and store it."""
    wanted = [] if model is None else read_by_model(questions, settings)
    verdicts = ambiguity_verdicts(model, wanted) if model and wanted else []
    if verdicts:
        run.put(f"verdicts/{AMBIGUOUS}", verdicts, Verdict)
    return verdicts


# ---- requests


def requests(questions: Sequence[Question], settings: Settings, seed: int) -> list[Ask]:
    """Return every request; demonstrations, not known yet, have their usual size."""
    asked, examples = evaluated(questions, settings), searched(questions, settings)
    drafts = {q.id: "a draft of the usual length" for q in asked}
    return [
        *answer_requests(asked, settings, seed),
        *example_requests(examples, settings, seed),
        *demonstrated_requests(asked, settings, seed, placeholders(examples, settings)),
        *revision_requests(asked, settings, seed, drafts),
    ]


def is_judged(ask: Ask, settings: Settings) -> bool:
    """Tell whether an answer goes to the judge of right and wrong: draws and drafts do not."""
    return not ask.stage.startswith(("draws", "drafts", "demos-draws"))


def unpriced(questions: Sequence[Question], settings: Settings, judge: Judge) -> list[str]:
    """Return what a dry run does not price: how many calls, at most, the judge's model gets
    besides grading. Nothing for a judge without a model."""
    if engine_of(judge) is None:
        return []
    told = []
    if questioned := len(read_by_model(questions, settings)):
        told = [
            "Not in the price: the judge's model also reads which questions are ambiguous "
            f"({questioned:,} calls, and one more for each reply that cannot be read). The price "
            "holds all questions, also those that will be dropped. With ambiguous=keep none is "
            "read or dropped."
        ]
    if settings.decisive == "rules" and settings.contradict in ("rules", "nli"):
        return told
    asks = requests(questions, settings, 0)
    answers = sum(is_judged(a, settings) for a in asks)
    shorts, examples = (
        len({a.question.id for a in asks if a.stage == stage}) for stage in ("draws", "demos-draws")
    )
    calls = -(-settings.draws.k // IN_CALL)
    return [
        *told,
        "Not in the price: the judge's model also reads wording (up to "
        f"{answers + shorts * calls + examples:,} calls) and compares answers (up to "
        f"{(answers + examples) * calls:,} calls; equal texts are free). With "
        "--set decisive=rules --set contradict=rules it does neither.",
    ]


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


# ---- prompts that a manifest keeps, and those that can be a user's own


def prompt_uses(settings: Settings, by_model: bool) -> dict[str, str]:
    """Return the files that a prompt folder can hold: each with "", or the flag that it needs."""
    chosen = methods.methods_in_list(settings.methods)
    paper = settings.prompts == "paper"
    uses = {
        "method_vanilla": "" if paper and "vanilla" in chosen else "--set prompts=paper",
        "method_hedged": "--methods uncertainty_plus",
    }
    for name, method in methods.METHODS.items():
        for prompt in filter(None, (method.short, method.long)):
            if uses.get(prompt) != "":
                uses[prompt] = "" if name in chosen else f"--methods {name}"
        if method.demonstrations and name in chosen:
            uses["method_hedged"] = ""
    for step, how in (("decisive", settings.decisive), ("contradict", settings.contradict)):
        flag = "" if by_model and how in ("auto", "judge") else f"--judge MODEL --{step} judge"
        uses |= {step: flag, f"{step}_reply": flag}
    flag = (
        "" if by_model and settings.ambiguous == "judge" else "--judge MODEL --set ambiguous=judge"
    )
    return uses | {"ambiguous": flag, "ambiguous_reply": flag}


def prompts(settings: Settings) -> dict[str, str]:
    """Return what a manifest keeps of the prompts: every text by name, and their signature."""
    texts = {}
    for name in methods.methods_in_list(settings.methods):
        for form in FORMS:
            text = methods.instruction(
                name, form, folder_setting(settings.prompt_folder), settings.prompts
            )
            if text and methods.asks_in(name, form):
                texts[f"{name}_{form}"] = text
    in_use = " / ".join(f"{name}:{text}" for name, text in texts.items())
    return {
        "signature": f"{settings.prompts}-{prompt_hash(in_use)}",
        **{f"faithfulness_{name}": text for name, text in texts.items()},
    }

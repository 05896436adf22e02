"""What UNCLE asks: probes, answers with and without its instruction, and further ways to ask.

Unc-Few, Pair-Few and Self-Refine (section 6), and what else is in :mod:`sayso.prompts.methods`, are
sent beside UNCLE's instruction and graded alike. None of them draws probes of its own: what is
known stays what the plain question's draws say.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from sayso.datasets.dataset import Dataset
from sayso.engines.engine import Engine
from sayso.judges.judge import Judge
from sayso.prompts import load_prompt, methods, prompt_hash
from sayso.protocols.pool import PLAIN, PromptWording, item_of, load_wording, reworded_question
from sayso.protocols.probes import BlindRules
from sayso.protocols.protocol import Ask, Run
from sayso.protocols.settings import folder_setting
from sayso.protocols.uncle.settings import (
    ANSWER_SAMPLE,
    ASKED_ALREADY,
    FORMS,
    PARAGRAPHS,
    Settings,
    answer_limits,
    names_of,
    stage_of,
)
from sayso.records import Generation, InputError, Question, ask, is_blank, question_id
from sayso.storage.run_folder import Manifest, RunFolder

#: what a signature calls the prompt of paragraphs that are made here, its file, and its places
PARAGRAPH = "uncle_paragraph"
_PLACE = re.compile(r"\{(entity|questions)\}")
#: the entry of the catalogue whose rows name the entities that they are about
OWN_TABLE = "file"
#: questions that one paragraph is asked to answer at most
MOST_TOGETHER = 10


def asked(data: Dataset, settings: Settings) -> Dataset:
    """Return the questions that have a true answer, and the paragraphs about them.

    In a table of one's own, questions about one entity make a paragraph. ``short_only`` leaves all
    paragraphs out.
    """
    answered = [q for q in data.short if q.golds and q.answerable is not False]
    short = tuple(q for q in answered if not q.pair)
    long = () if settings.short_only else data.long
    notes, texts = list(data.notes), {}
    if left := len(data.short) - len(short):
        bare, twins = len(data.short) - len(answered), len(answered) - len(short)
        counterparts = f"{twins:,} answerable counterpart{'s' * (twins != 1)}"
        paired = f" and {counterparts} (similar questions with a true answer)" if twins else ""
        notes.append(
            f"{bare:,} question{'s' * (bare != 1)} without a true answer{paired} {_are(left)} not "
            "asked; `sayso run selective` asks them too"
        )
    if data.kind == OWN_TABLE and not settings.short_only:
        prompt = load_prompt(PARAGRAPH, folder_setting(settings.prompt_folder))
        long = tuple(_paragraphs(short, prompt))
    if data.kind == OWN_TABLE and long:
        texts = {PARAGRAPHS: prompt_hash(prompt), PARAGRAPH: prompt}
        notes.append(
            f"{len(long):,} paragraph{'s' * (len(long) != 1)} {_are(len(long))} asked for, each "
            "covering the questions about one entity; --set short_only=true leaves paragraphs out"
        )
    kept = data.replaced((*short, *long))
    return msgspec.structs.replace(kept, notes=tuple(notes), prompts=texts)


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _paragraphs(questions: Sequence[Question], prompt: str) -> Iterator[Question]:
    """Yield a long question for each entity with at least two short ones, for many several.

    A question about a text that goes before it stays alone.
    """
    groups: dict[tuple[str, str], list[Question]] = {}
    for question in questions:
        if question.entity and not question.context:
            groups.setdefault((question.domain, question.entity), []).append(question)
    for (domain, entity), group in groups.items():
        count = -(-len(group) // MOST_TOGETHER)
        for number in range(count if len(group) > 1 else 0):
            some = group[number::count]
            places = {"entity": entity, "questions": "\n".join(f"- {q.text}" for q in some)}
            text = _PLACE.sub(lambda place: places[place[1]], prompt)  # noqa: B023 - used at once
            yield Question(
                id=question_id(some[0].dataset, entity, text),
                dataset=some[0].dataset,
                text=text,
                entity=entity,
                domain=domain,
                parts=tuple(q.id for q in some),
            )


def prompts(settings: Settings) -> dict[str, str]:
    """Return what a manifest keeps of the prompts: every text by name, and their signature.

    Further methods add their own entries; the default settings have none.
    """
    texts, plain = instructions(settings), reworded_question(settings.prompt_folder)
    further = method_texts(settings)
    named = " / ".join(f"{name}:{text}" for name, text in further.items())
    own = prompt_hash(" / ".join([*texts.values(), *plain.values()]))
    return {
        "signature": f"{settings.prompts}-{own}",
        **({"methods": prompt_hash(named)} if further else {}),
        **{f"uncle_{form}_instruction": text for form, text in texts.items()},
        **plain,
        **further,
    }


def prompt_uses(settings: Settings, by_model: bool) -> dict[str, str]:
    """Return the files that a prompt folder can hold: each with "", or the flag that it needs."""
    forms = FORMS[:1] if settings.short_only else FORMS
    uses = {f"uncle_{form}_instruction": "" if form in forms else LONG for form in FORMS}
    uses[PLAIN] = ""
    uses[PARAGRAPH] = "" if "long" in forms else LONG
    chosen = names_of(settings)
    for name, method in methods.METHODS.items():
        if name not in ASKED_ALREADY and not method.demonstrations:
            for form, prompt in zip(FORMS, (method.short, method.long), strict=True):
                needs = "" if form in forms else LONG
                flag = needs if name in chosen else f"--methods {name}"
                uses[prompt] = "" if uses.get(prompt) == "" else flag
    return uses


#: what a hint says of prompts of paragraphs
LONG = "paragraphs: leave short_only out"


def instructions(settings: Settings) -> dict[str, str]:
    """Return the instruction to express uncertainty (section 4) for each form, in our words."""
    wording = load_wording(settings.prompt_folder)
    return {"short": wording.short, "long": wording.long}


def method_texts(settings: Settings) -> dict[str, str]:
    """Return the prompts of the further methods in use by name."""
    folder = folder_setting(settings.prompt_folder)
    return {
        f"{name}_{form}": methods.instruction(name, form, folder)
        for name in names_of(settings)
        for form in FORMS
    }


def requests(questions: Sequence[Question], settings: Settings, seed: int) -> list[Ask]:
    """Return everything the protocol asks: probes, and answers with and without instruction.

    If the settings want it also other methods (drafts to revise are not known yet).
    """
    drafts = {q.id: "a draft of the usual length" for q in questions}
    later = method_asks(questions, settings, seed, drafts)
    return [*_first(questions, settings, seed), *later]


def _first(questions: Sequence[Question], settings: Settings, seed: int) -> list[Ask]:
    """Return all requests that need no earlier answer."""
    wording = load_wording(settings.prompt_folder)
    limits = answer_limits(settings)
    asks: list[Ask] = []
    for question in questions:
        form = "long" if question.parts else "short"
        tokens = limits[form]
        for prompt in _prompts(question, form, wording, settings):
            request = ask(
                prompt.text,
                temperature=prompt.temperature,
                **_nucleus(prompt.top_p),
                max_tokens=tokens,
                seed=seed,
                sample=prompt.sample,
            )
            asks.append(
                Ask(question, request, prompt.stage, form, prompt.method, prompt.instructed)
            )
    return [*asks, *method_asks(questions, settings, seed)]


def _nucleus(top_p: float) -> dict[str, object]:
    """Return ``top_p`` where it cuts something off: said or not, 1 has one key in the cache."""
    return {"top_p": top_p} if top_p < 1 else {}


class _UnclePrompt(NamedTuple):
    text: str
    stage: str
    method: str
    instructed: bool
    temperature: float
    sample: int
    top_p: float = 1.0


def _prompts(
    question: Question, form: str, wording: PromptWording, settings: Settings
) -> Iterator[_UnclePrompt]:
    """Yield the prompts of one question, its probes first."""
    plain = wording.ask(question.text, question.context)
    instructed = wording.ask(question.text, question.context, form)
    if form == "short" and settings.known_from == "self":
        for sample in range(settings.probe.k):
            yield _UnclePrompt(plain, "probe", "plain", False, settings.probe.temperature, sample)
    answer = settings.answer.temperature
    how = answer, ANSWER_SAMPLE if answer > 0 else 0, settings.answer.top_p
    yield _UnclePrompt(plain, form, "plain", False, *how)
    yield _UnclePrompt(instructed, form, "instructed", True, *how)


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
    heat, tokens = settings.answer.temperature, answer_limits(settings)
    for question in questions:
        form: methods.Form = "long" if question.parts else "short"
        for name in names_of(settings):
            kind = methods.METHODS[name].kind
            if (kind == "revision") != (drafts is not None):
                continue
            text = methods.prompted(
                name, question.text, form=form, context=question.context, folder=folder
            )
            request = ask(
                text,
                temperature=heat,
                **_nucleus(settings.answer.top_p),
                max_tokens=tokens[form],
                stop=methods.stop(name, form, folder),
                seed=seed,
                sample=ANSWER_SAMPLE if heat > 0 else 0,
            )
            if drafts is not None:
                if question.id not in drafts:
                    continue
                chat = methods.revision_chat(name, text, drafts[question.id], form, folder)
                request = msgspec.structs.replace(request, messages=chat)
            yield Ask(question, request, stage_of(name, form), form, name, instructed=True)


def drafts_of(answers: Mapping[str, Sequence[Generation]], settings: Settings) -> dict[str, str]:
    """Return the plain answers by question: the drafts that are revised; none unless wanted."""
    if not any(methods.METHODS[name].kind == "revision" for name in names_of(settings)):
        return {}
    return {
        g.question: g.text
        for form in FORMS
        for g in answers.get(form, ())
        if not g.instructed and g.problem is None and not is_blank(g.text)
    }


def collect(
    questions: Sequence[Question],
    model: Engine,
    judge: Judge,
    run: Run,
    settings: Settings,
    seed: int = 0,
) -> None:
    """Ask everything in one call (revisions in a second), then judge each stage.

    Resumes; never asks twice.
    """
    if settings.known_from != "self":
        run.freeze("probe", settings.known_from)
    answers = run.stage(_first(questions, settings, seed), model)
    drafts = drafts_of(answers, settings)
    if drafts:
        later = method_asks(questions, settings, seed, drafts)
        answers |= run.stage(list(later), model)
    by_id = {q.id: q for q in questions}
    blind = BlindRules(questions)
    for stage, generations in answers.items():
        items = [item_of(g, by_id) for g in generations]
        if stage in FORMS:  # which tokens of the plain answers are the value
            plain = [item for item in items if not item.generation.instructed]
            run.grade_spans(stage, items, judge, blind, plain)
        else:
            run.grade(stage, items, judge)


def check_untrained(model: Engine, settings: Settings) -> None:
    """Refuse to probe a trained model: its hedges would pass for gaps in knowledge. InputError."""
    base_name, base_run = (str(getattr(model, name, "")) for name in ("base_name", "base_run"))
    if not (base_name or base_run) or settings.known_from != "self":
        return
    remedy = f"pass --known-from {shlex.quote(base_run)}"
    if not base_run:
        both = shlex.join(["sayso", "study", "--models", base_name, model.name])
        remedy = (
            f"measure both with `{both} --protocols uncle`, or pass --known-from RUN, a run of "
        )
        remedy += base_name
    raise InputError(
        f"{model.name} was trained from {base_run or base_name}, and a trained model's own probes "
        f"do not show what it knows: {remedy}"
    )


def check_known_from(
    chosen: Settings, manifest: Manifest, questions: Sequence[Question]
) -> tuple[str, ...]:
    """Refuse probes of another run that were not drawn and judged as this run's numbers will say.

    Returns what a reader must know of them.
    """
    if chosen.known_from == "self":
        return ()
    base = RunFolder.open(Path(chosen.known_from))
    other = base.read_manifest()
    if "uncle" not in other.protocols:
        raise InputError(
            f"known_from {chosen.known_from}: a run of {'+'.join(other.protocols) or 'nothing'}, "
            "which has no probes; expected a finished run of `sayso run uncle`"
        )
    k, heat = (other.settings.get(name) for name in ("probe.k", "probe.temperature"))
    if not isinstance(k, int) or k < chosen.probe.k or heat != chosen.probe.temperature:
        raise InputError(
            f"known_from {chosen.known_from}: it has {k} draws at T={heat}, not "
            f"{chosen.probe.k} at T={chosen.probe.temperature:g}; pass --set probe.k={k} "
            f"--set probe.temperature={heat}, or run the base model again"
        )
    if other.settings.get("probe_wordings"):  # a run of version 0.2
        raise InputError(
            f"known_from {chosen.known_from}: its probes were drawn in several wordings, which is "
            "no longer done; run the base model again"
        )
    if other.judge_signature != manifest.judge_signature:
        raise InputError(
            f"known_from {chosen.known_from}: judged by {other.judge_signature}, not by "
            f"{manifest.judge_signature}; repeat that run with the same judge"
        )
    golds = {q.id: q.golds for q in base.iter("questions", Question)}
    changed = [q for q in questions if q.id in golds and golds[q.id] != q.golds]
    if changed:
        raise InputError(
            f"known_from {chosen.known_from}: it was judged against other golds for "
            f"{len(changed)} of the questions, first {changed[0].text!r}; run it on the same data"
        )
    if other.model_base == manifest.model_base:
        return ()
    return (
        f"What counts as known was decided by the draws of {other.model} (--known-from), whose "
        f"base model ({other.model_base}) is not this model's ({manifest.model_base}): read 'it "
        f"knew' as '{other.model} knew'.",
    )

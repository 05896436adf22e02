"""UNCLE: does the model voice uncertainty exactly where it lacks the knowledge?

Yang et al., "UNCLE: Benchmarking Uncertainty Expressions in Long-Form Generation",
arXiv 2505.16922. Every aspect is asked twice, alone (short) and inside a paragraph (long).

    known    = any of k=5 draws of the plain short question at T=1 is correct        (section 4)
    label    = S correct | NS incorrect | UNC uncertain, of the instructed T=0 answer (section 4)
    cells    kc ki ku uc ui uu  =  known/unknown x correct/incorrect/uncertain
    FA  = (kc+uc)/(kc+uc+ki+ui)     UA  = uu/(ku+uu)          EA = (kc+uu)/N
    KCR = kc/(kc+ki+ku)             UUR = uu/(uc+ui+uu)       J  = UUR - ku/(kc+ki+ku)

FA, UA, UUR, KCR and EA are the paper's; J is ours, because it is 0 for every policy that hedges
blindly. An omitted aspect counts as NS (appendix B); hedged but correct is UNC.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from sayso.engines.engine import Engine
from sayso.judges.judge import Item, Judge
from sayso.prompts import methods, prompt_hash
from sayso.protocols.pool import Wording, load_texts, load_wordings, wording_signatures
from sayso.protocols.probes import BlindRules
from sayso.protocols.protocol import Ask, Run
from sayso.protocols.uncle.settings import (
    ANSWER_SAMPLE,
    FORMS,
    PROPENSITY_SAMPLE,
    Settings,
    names_of,
    stage_of,
    tokens_of,
)
from sayso.records import Generation, InputError, Question, ask
from sayso.storage.run_folder import Manifest, RunFolder

# What other ways to ask send, beside UNCLE's instruction; they are graded alike.
#
# Unc-Few, Pair-Few and Self-Refine (section 6), and what else is in ``sayso.prompts.methods``. None
# of
# them draws probes of its own: what is known stays what the plain question's draws say. Their
# numbers are in ``uncle_beside.py``.


def texts(settings: Settings) -> dict[str, str]:
    """Return the prompts of the methods in use by name."""
    folder = _folder(settings)
    return {
        f"{name}_{form}": methods.instruction(name, form, folder)
        for name in names_of(settings)
        for form in FORMS
    }


def signatures(settings: Settings) -> dict[str, str]:
    """Return what the methods add to a run's signature: nothing where there are none."""
    found = texts(settings)
    if not found:
        return {}
    return {"methods": prompt_hash(" / ".join(f"{k}:{v}" for k, v in found.items()))}


def method_asks(
    questions: Sequence[Question],
    settings: Settings,
    seed: int,
    drafts: Mapping[str, str] | None = None,
) -> Iterator[Ask]:
    """Yield each method's request about every question; with ``drafts``, their revisions alone.

    Questions without a draft are not asked to be revised.
    """
    folder, heat, tokens = _folder(settings), settings.answer.temperature, tokens_of(settings)
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
                max_tokens=tokens[form],
                stop=methods.STOP if kind == "examples" else (),
                seed=seed,
                sample=ANSWER_SAMPLE if heat > 0 else 0,
            )
            if drafts is not None:
                if question.id not in drafts:
                    continue
                chat = methods.revised(name, text, drafts[question.id], form, folder)
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
        if not g.instructed and g.problem is None and g.text.strip()
    }


def _folder(settings: Settings) -> Path | None:
    return Path(settings.prompt_folder) if settings.prompt_folder else None


def instructions(settings: Settings) -> dict[str, str]:
    """Return the instruction to express uncertainty (section 4) for each form, in our words."""
    (first,) = load_wordings(1, settings.prompt_folder)
    return {"short": first.short, "long": first.long}


def check_model(model: Engine, settings: Settings) -> None:
    """Refuse to probe a trained model: its hedges would pass for gaps in knowledge. InputError."""
    base_run = str(getattr(model, "base_run", ""))
    if base_run and settings.known_from == "self":
        raise InputError(
            f"{model.name} was taught from {base_run}, and a taught model's own probes do not "
            f"say what it knows; add --known-from {shlex.quote(base_run)}"
        )


def prompts_signature(settings: Settings) -> str:
    """Return a short name of the pool and the instructions in use."""
    return f"{settings.prompts}-{prompt_hash(' / '.join(instructions(settings).values()))}"


def more_prompts(settings: Settings) -> dict[str, str]:
    """Return the prompts of further wordings and methods by name; none unless asked for."""
    further = load_texts(settings.wordings, settings.prompt_folder)
    return {**further, **texts(settings)}


def extra_signatures(settings: Settings) -> dict[str, str]:
    """Return what further wordings and methods add to signatures; nothing unless asked for."""
    return {
        **wording_signatures(
            settings.wordings, settings.prompt_folder, probes=settings.probe_wordings
        ),
        **signatures(settings),
    }


def prompts(settings: Settings) -> dict[str, str]:
    """Return what a manifest keeps of the prompts: every text by name, and their signature."""
    return {
        "signature": prompts_signature(settings),
        **extra_signatures(settings),
        **{f"uncle_{form}_instruction": text for form, text in instructions(settings).items()},
        **more_prompts(settings),
    }


def requests(questions: Sequence[Question], settings: Settings, seed: int) -> list[Ask]:
    """Return everything the protocol asks: probes, and answers with and without instruction.

    With them, where the settings want it: instructed answers in the other wordings, probes in
    those, further instructed draws, and other methods (drafts to revise are not known yet).
    """
    drafts = {q.id: "a draft of the usual length" for q in questions}
    later = method_asks(questions, settings, seed, drafts)
    return [*_first(questions, settings, seed), *later]


def _first(questions: Sequence[Question], settings: Settings, seed: int) -> list[Ask]:
    """Return all that does not rest on another answer."""
    wordings = load_wordings(settings.wordings, settings.prompt_folder)
    limits = tokens_of(settings)
    asks: list[Ask] = []
    for question in questions:
        form = "long" if question.parts else "short"
        tokens = limits[form]
        for prompt in _prompts(question, form, wordings, settings):
            request = ask(
                prompt.text,
                temperature=prompt.temperature,
                max_tokens=tokens,
                seed=seed,
                sample=prompt.sample,
            )
            asks.append(
                Ask(question, request, prompt.stage, form, prompt.method, prompt.instructed)
            )
    return [*asks, *method_asks(questions, settings, seed)]


class _Prompt(NamedTuple):
    text: str
    stage: str
    method: str
    instructed: bool
    temperature: float
    sample: int


def _prompts(
    question: Question, form: str, wordings: Sequence[Wording], settings: Settings
) -> Iterator[_Prompt]:
    """Yield what one question is asked, the first wording's probes and answers first."""
    plain = [wording.ask(question.text, question.context) for wording in wordings]
    told = [wording.ask(question.text, question.context, form) for wording in wordings]
    names = ["plain", *(f"wording-{number}" for number in range(2, len(wordings) + 1))]
    heat = settings.probe.temperature
    if form == "short" and settings.known_from == "self":
        for text, name in zip(plain, names, strict=True):
            if name == "plain" or settings.probe_wordings:
                for sample in range(settings.probe.k):
                    yield _Prompt(text, "probe", name, False, heat, sample)
    answer = settings.answer.temperature
    sample = ANSWER_SAMPLE if answer > 0 else 0
    yield _Prompt(plain[0], form, "plain", False, answer, sample)
    yield _Prompt(told[0], form, "instructed", True, answer, sample)
    for text, name in zip(told[1:], names[1:], strict=True):
        yield _Prompt(text, f"wordings-{form}", name, True, answer, sample)
    for sample in range(PROPENSITY_SAMPLE, PROPENSITY_SAMPLE + settings.propensity):
        yield _Prompt(told[0], f"propensity-{form}", "instructed", True, heat, sample)


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
            f"{chosen.probe.k} at T={chosen.probe.temperature:g}; say --probe.k {k} "
            f"--probe.temperature {heat}, or run the base model again"
        )
    wordings = [m.prompts.get("probe_wordings", "1") for m in (other, manifest)]
    if wordings[0] != wordings[1]:
        raise InputError(
            f"known_from {chosen.known_from}: its probes were drawn in other wordings "
            f"({wordings[0]}, not {wordings[1]}); give both runs the same --wordings, "
            "--probe-wordings and frames"
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
            f"known_from {chosen.known_from}: it was judged against other answers to "
            f"{len(changed)} of the questions, first {changed[0].text!r}; run it on the same data"
        )
    if other.model_base == manifest.model_base:
        return ()
    return (
        f"what is known was decided by the probes of {other.model}, whose base model "
        f"({other.model_base}) is not this model's ({manifest.model_base})",
    )


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

    def item(generation: Generation) -> Item:
        question = by_id[generation.question]
        return Item(generation, tuple(by_id[p] for p in question.parts) or (question,))

    blind = BlindRules(questions)
    for stage, generations in answers.items():
        run.grade(stage, [item(g) for g in generations], judge)
        if stage in ("short", "long"):  # where log-probs are taken, of answers that were not told
            plain = [item(g) for g in generations if not g.instructed]
            run.grade(f"{stage}-spans", plain, blind)

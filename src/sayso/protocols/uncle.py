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

import dataclasses
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

from sayso.annotate import Item, Judge
from sayso.models import Engine
from sayso.prompts import load_prompt, prompt_hash
from sayso.protocols import Ask, Run
from sayso.protocols.settings import collect as asked
from sayso.protocols.settings import measure as counted
from sayso.records import Estimate, Generation, InputError, Question, ask

#: more draws than this decide nothing
MOST_PROBES = 1000
#: the draw that a judged answer at T > 0 is: none of the probes, which would make it known by
#: being right, and right answers to unknown facts impossible
ANSWER_SAMPLE = MOST_PROBES


@dataclasses.dataclass(frozen=True)
class Probe:
    """How known facts are told from unknown ones (section 4, "knowledge probing")."""

    k: int = asked(5, "draws of each short question")
    temperature: float = asked(1.0, "temperature of the draws")
    unc: Literal["unknown", "dropped_official", "excluded"] = counted(
        "unknown", "what a hedged probe says about knowledge: the paper's rule, the code's, neither"
    )


@dataclasses.dataclass(frozen=True)
class Answer:
    """How the answers that are judged are decoded (section 4; appendix D says otherwise)."""

    temperature: float = asked(0.0, "temperature of the judged answers")
    short_tokens: int = asked(256, "longest short answer, in tokens")
    long_tokens: int = asked(1024, "longest paragraph, in tokens")


@dataclasses.dataclass(frozen=True)
class Settings:
    """Every choice of the protocol, with the paper's default where it has one."""

    probe: Probe = field(default_factory=Probe)
    answer: Answer = field(default_factory=Answer)
    known_from: str = asked("self", "run whose probes decide what is known: self, or a run folder")
    prompts: Literal["shared", "paper"] = asked(
        "shared", "one pool of answers for all protocols, or the paper's own decoding"
    )
    prompt_folder: str = asked("", "folder with your own prompt texts")
    omit_long: Literal["NS", "separate"] = counted(
        "NS", "an aspect that a paragraph leaves out: wrong (the paper), or left out of the rates"
    )
    refusals: Literal["uncertain", "excluded"] = counted(
        "uncertain", "an answer refused by policy: counts as uncertain, or is left out of the rates"
    )
    ci: Literal["entity", "entity-by-type"] = counted(
        "entity", "what is resampled for J within type: entities, or entities crossed with types"
    )
    resamples: int = counted(2000, "bootstrap resamples of entities for the intervals")
    ci_seed: int = counted(0, "seed of the resampling")


def check(settings: Settings) -> None:
    """Refuse settings with which nothing could be asked or counted. Raises InputError."""
    limits = (
        ("probe.k", settings.probe.k, 1, MOST_PROBES),
        ("probe.temperature", settings.probe.temperature, 0, 10),
        ("answer.temperature", settings.answer.temperature, 0, 10),
        ("answer.short_tokens", settings.answer.short_tokens, 1, 1_000_000),
        ("answer.long_tokens", settings.answer.long_tokens, 1, 1_000_000),
        ("resamples", settings.resamples, 100, 1_000_000),
        ("ci_seed", settings.ci_seed, 0, 2**63),
    )
    for name, value, low, high in limits:
        if not low <= value <= high:
            raise InputError(f"{name} is {value}; expected {low} to {high:g}")
    for part, prefix in ((settings, ""), (settings.probe, "probe.")):
        for name, kind in get_type_hints(type(part)).items():
            allowed, chosen = get_args(kind), getattr(part, name)
            if get_origin(kind) is Literal and chosen not in allowed:
                known = ", ".join(allowed)
                raise InputError(f"{prefix}{name} is {chosen!r}; expected one of {known}")


def instructions(settings: Settings) -> dict[str, str]:
    """Return the instruction to express uncertainty (section 4) for each form, in our words."""
    folder = Path(settings.prompt_folder) if settings.prompt_folder else None
    return {form: load_prompt(f"uncle_{form}_instruction", folder) for form in ("short", "long")}


def prompts_signature(settings: Settings) -> str:
    """Return a short name of the pool and the instructions in use."""
    return f"{settings.prompts}-{prompt_hash(' / '.join(instructions(settings).values()))}"


def requests(questions: Sequence[Question], settings: Settings, seed: int) -> list[Ask]:
    """Return everything the protocol asks: probes, and answers with and without instruction."""
    said = instructions(settings)
    short_tokens = settings.answer.short_tokens
    if settings.prompts == "paper":
        short_tokens = settings.answer.long_tokens  # appendix D: 1,024 for every answer
    asks: list[Ask] = []
    for question in questions:
        form = "long" if question.parts else "short"
        tokens = settings.answer.long_tokens if question.parts else short_tokens
        plain = question.text if not question.context else f"{question.context}\n\n{question.text}"
        if form == "short" and settings.known_from == "self":
            for sample in range(settings.probe.k):
                draw = ask(
                    plain,
                    temperature=settings.probe.temperature,
                    max_tokens=tokens,
                    seed=seed,
                    sample=sample,
                )
                asks.append(Ask(question, draw, "probe", form))
        for instructed in (False, True):
            text = f"{plain} {said[form]}" if instructed else plain
            answer = ask(
                text,
                temperature=settings.answer.temperature,
                max_tokens=tokens,
                seed=seed,
                sample=ANSWER_SAMPLE if settings.answer.temperature > 0 else 0,
            )
            asks.append(
                Ask(
                    question,
                    answer,
                    form,
                    form,
                    "instructed" if instructed else "plain",
                    instructed,
                )
            )
    return asks


def collect(
    questions: Sequence[Question],
    model: Engine,
    judge: Judge,
    run: Run,
    settings: Settings,
    seed: int = 0,
) -> None:
    """Ask everything in one call, then judge each stage. Resumes; never asks twice."""
    if settings.known_from != "self":
        run.freeze("probe", settings.known_from)
    answers = run.stage(requests(questions, settings, seed), model)
    by_id = {q.id: q for q in questions}

    def item(generation: Generation) -> Item:
        question = by_id[generation.question]
        return Item(generation, tuple(by_id[p] for p in question.parts) or (question,))

    for stage, generations in answers.items():
        run.grade(stage, [item(g) for g in generations], judge)


def measure(run: Run, settings: Settings) -> list[Estimate]:
    """Return every number of the protocol from what is stored: no model, no judge."""
    from sayso.protocols.uncle_numbers import estimates

    return estimates(run, settings)

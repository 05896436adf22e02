"""Every choice of UNCLE's protocol: what is asked, and how answers are counted."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import Literal, get_args, get_origin, get_type_hints

from sayso.prompts import methods
from sayso.protocols.pool import MOST_WORDINGS
from sayso.protocols.settings import collect as asked
from sayso.protocols.settings import measure as counted
from sayso.records import InputError

#: more draws than this decide nothing
MOST_PROBES = 1000
#: the draw that a judged answer at T > 0 is: none of the probes, which would make it known by
#: being right, and right answers to unknown facts impossible
ANSWER_SAMPLE = MOST_PROBES
#: methods whose answers are in every run already
ASKED_ALREADY = {"vanilla": "the plain answers", "uncle": "the instructed answers"}
#: settings that are off by default and then ask nothing
CHECKS = ("propensity", "wordings", "probe_wordings", "methods")


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
    propensity: int = asked(
        0, "further instructed draws of each question: how often it hedges, not only whether"
    )
    wordings: int = asked(
        1,
        f"1 to {MOST_WORDINGS} wordings of question and instruction: how far numbers hang on them",
    )
    probe_wordings: bool = asked(False, "draw the probes in every wording of the question too")
    methods: str = asked(
        "",
        "further ways to ask for doubt, counted beside the instruction, separated by commas: "
        "unc_few, pair_few, self_refine, granularity, uncertainty, metacognitive",
    )
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
        ("propensity", settings.propensity, 0, MOST_PROBES),
        ("wordings", settings.wordings, 1, MOST_WORDINGS),
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
    if settings.propensity and settings.probe.temperature == 0:
        raise InputError(
            "propensity needs draws that can differ, but probe.temperature is 0; raise it, or "
            "leave propensity out"
        )
    if settings.probe_wordings and settings.wordings == 1:
        raise InputError("probe_wordings needs wordings of at least 2, and wordings is 1")
    names_of(settings)


def tokens_of(settings: Settings) -> dict[str, int]:
    """Return the longest answer of each form; appendix D has 1,024 tokens for every one."""
    long = settings.answer.long_tokens
    short = long if settings.prompts == "paper" else settings.answer.short_tokens
    return {"short": short, "long": long}


def names_of(settings: Settings) -> tuple[str, ...]:
    """Return the methods of a run beside its own. Raises InputError for those it cannot ask."""
    names = methods.chosen(settings.methods) if settings.methods else ()
    for name in names:
        if name in ASKED_ALREADY:
            why = f"is in every run already ({ASKED_ALREADY[name]}); leave it out"
        elif methods.METHODS[name].demonstrations:
            why = "shows draws of entities set apart, which only `sayso run faithfulness` does"
        else:
            continue
        raise InputError(f"methods {settings.methods!r}: {name} {why}")
    return names


#: the first of the draws that tell how often an answer is hedged
PROPENSITY_SAMPLE = 2 * MOST_PROBES

FORMS: tuple[methods.Form, ...] = ("short", "long")


def stage_of(name: str, form: str) -> str:
    """Return where a method's answers are kept: revisions apart, since they are asked later."""
    return f"{'refined' if methods.METHODS[name].kind == 'revision' else 'methods'}-{form}"

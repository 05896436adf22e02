"""Every choice of the selective protocol: what is asked, and how scores are measured."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import Literal, NamedTuple, get_args, get_origin, get_type_hints

from sayso.protocols.settings import collect as asked
from sayso.protocols.settings import measure as counted
from sayso.records import InputError
from sayso.scores import choose

MOST_DRAWS = 1000
#: the paper's examples in the prompt, by mode
SHOTS = {"short": 5, "sentence": 0}
#: steps 2 and 3 of the paper's pipeline
PAPER_TEMPERATURE = 0.1
PAPER_TOKENS = {"sentence": 100, "short": 50}
STOP = ("\n", "Question:", "Context:")
#: settings that are off by default and then ask nothing
CHECKS = ()


@dataclasses.dataclass(frozen=True)
class Draws:
    """The several answers that multi-sample scores compare (PROTOCOLS 3.A, step 3)."""

    k: int = asked(10, "draws of each short question")
    temperature: float = asked(1.0, "temperature of the draws")


@dataclasses.dataclass(frozen=True)
class Answer:
    """How the answers that are scored and judged are decoded, in the shared pool."""

    temperature: float = asked(0.0, "temperature of the scored answers")
    short_tokens: int = asked(256, "longest short answer, in tokens")
    long_tokens: int = asked(1024, "longest paragraph, in tokens")


@dataclasses.dataclass(frozen=True)
class Settings:
    """Every choice of the protocol, with the paper's default where it has one."""

    draws: Draws = field(default_factory=Draws)
    answer: Answer = field(default_factory=Answer)
    prompts: Literal["shared", "paper"] = asked(
        "shared", "one pool of answers for all protocols, or the paper's own prompt and decoding"
    )
    mode: Literal["sentence", "short"] = asked(
        "sentence", "with --prompts paper: answers of one sentence, or as short as can be"
    )
    shots: int = asked(
        -1,
        "with --prompts paper: questions of the data that serve as examples in the prompt and are "
        "not measured; -1: the paper's number (5 for short answers, none for sentences)",
    )
    prompt_folder: str = asked("", "folder with your own prompt texts")
    nli: str = asked(
        "auto",
        "who says which draws mean the same: rules (offline), an NLI model's folder or hub id, "
        "llm:MODEL; auto: the default NLI model where its weights are here, else rules",
    )
    scores: str = asked("all", "the scores to compute, by name and separated by commas, or all")
    words: bool = asked(
        True, "ask once more with the instruction to express doubt: the model's words as a policy"
    )
    known_k: int = asked(
        5, "draws that are judged, to tell known from unknown facts; 0: none, and no such numbers"
    )
    abstained: Literal["incorrect", "excluded"] = counted(
        "incorrect", "an answer that names no value: not right (the paper), or left out"
    )
    rouge_threshold: float = counted(0.5, "ROUGE-L F1 above this is right")
    f1_threshold: float = counted(0.5, "SQuAD F1 of at least this is right")
    resamples: int = counted(1000, "bootstrap resamples of entities for the intervals")
    ci_seed: int = counted(0, "seed of the resampling")


def check(settings: Settings) -> None:
    """Refuse settings with which nothing could be asked or measured. Raises InputError."""
    limits = (
        ("draws.k", settings.draws.k, 0, MOST_DRAWS),
        ("draws.temperature", settings.draws.temperature, 0, 10),
        ("answer.temperature", settings.answer.temperature, 0, 10),
        ("answer.short_tokens", settings.answer.short_tokens, 1, 1_000_000),
        ("answer.long_tokens", settings.answer.long_tokens, 1, 1_000_000),
        ("shots", settings.shots, -1, 100),
        ("known_k", settings.known_k, 0, MOST_DRAWS),
        ("rouge_threshold", settings.rouge_threshold, 0, 1),
        ("f1_threshold", settings.f1_threshold, 0, 1),
        ("resamples", settings.resamples, 100, 1_000_000),
        ("ci_seed", settings.ci_seed, 0, 2**63),
    )
    for name, value, low, high in limits:
        if not low <= value <= high:
            raise InputError(f"{name} is {value}; expected {low} to {high:g}")
    for name, kind in get_type_hints(Settings).items():
        allowed, chosen = get_args(kind), getattr(settings, name)
        if get_origin(kind) is Literal and chosen not in allowed:
            raise InputError(f"{name} is {chosen!r}; expected one of {', '.join(allowed)}")
    if settings.prompts == "shared" and settings.shots > 0:
        raise InputError("shots are examples of the paper's prompt: say --prompts paper too")
    chosen_methods(settings)


def chosen_methods(settings: Settings) -> tuple[str, ...]:
    """Return the names of the scores that the settings ask for. Raises InputError."""
    names = [name.strip() for name in settings.scores.split(",") if name.strip()]
    return tuple(choose(None if names == ["all"] else names))


class Decoding(NamedTuple):
    """How a scored answer is decoded."""

    temperature: float
    tokens: int
    stop: tuple[str, ...] = ()

    @property
    def signed(self) -> str:
        """Return it as signatures have it."""
        return f"T{self.temperature:g}/{self.tokens}{'+stop' if self.stop else ''}"


def decoding(settings: Settings, form: str) -> Decoding:
    """Return how the answers of a form are decoded: the pool's way, or the paper's (step 3)."""
    if settings.prompts == "paper":
        return Decoding(PAPER_TEMPERATURE, PAPER_TOKENS[settings.mode], STOP)
    answer = settings.answer
    return Decoding(
        answer.temperature, answer.long_tokens if form == "long" else answer.short_tokens
    )


def shots(settings: Settings) -> int:
    """Return how many examples stand in the prompt."""
    if settings.prompts == "shared":
        return 0
    return SHOTS[settings.mode] if settings.shots < 0 else settings.shots

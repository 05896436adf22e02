"""Every choice of the selective protocol: what is asked, and how scores are measured."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import Literal, NamedTuple, get_args, get_origin, get_type_hints

from sayso.protocols.settings import collect as asked
from sayso.protocols.settings import measure as counted
from sayso.records import InputError
from sayso.scores import FITTED, choose

MOST_DRAWS = 1000
#: the paper's examples in the prompt, by mode
SHOTS = {"short": 5, "sentence": 0}
#: steps 2 and 3 of the paper's pipeline
PAPER_TEMPERATURE = 0.1
PAPER_TOKENS = {"sentence": 100, "short": 50}
STOP = ("\n", "Question:", "Context:")
#: what "unknown" stands for where an answer metric is expected
UNKNOWN_TARGET = "unknown"
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
class PIK:
    """The probe on hidden states (PROTOCOLS 3.B; Kadavath et al. 2022 look at the prompt only)."""

    position: Literal["last_prompt", "second_last_answer", "last_answer"] = asked(
        "second_last_answer",
        "where the hidden state is taken: the prompt's last token, the token that predicts the "
        "answer's last one (the paper's code), or the answer's last",
    )
    layer: int = asked(-1, "layer of the hidden state: 0 = embeddings, -1 = the last")
    standardize: bool = counted(True, "scale features to unit spread (the paper's code does not)")
    folds: int = counted(5, "sets of entities, each predicted by a probe fitted on the others")


@dataclasses.dataclass(frozen=True)
class PTrue:
    """P(True) behind labeled examples (Kadavath et al. 2022; the paper shows 20)."""

    examples: int = asked(
        0,
        "labeled examples before P(True) asks, drawn from twice as many questions that are set "
        "apart and not measured; 0: none, and no score p_true_few; the paper's number is 20",
    )


@dataclasses.dataclass(frozen=True)
class Settings:
    """Every choice of the protocol, with the paper's default where it has one."""

    draws: Draws = field(default_factory=Draws)
    answer: Answer = field(default_factory=Answer)
    p_ik: PIK = field(default_factory=PIK)
    p_true: PTrue = field(default_factory=PTrue)
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
    known_by: Literal["draws", "probe"] = counted(
        "draws", "who says what is unknown: the judged draws, or P(IK) above one half"
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
        ("p_true.examples", settings.p_true.examples, 0, 1000),
        ("p_ik.layer", settings.p_ik.layer, -1000, 1000),
        ("p_ik.folds", settings.p_ik.folds, 2, 1000),
        ("rouge_threshold", settings.rouge_threshold, 0, 1),
        ("f1_threshold", settings.f1_threshold, 0, 1),
        ("resamples", settings.resamples, 100, 1_000_000),
        ("ci_seed", settings.ci_seed, 0, 2**63),
    )
    for name, value, low, high in limits:
        if not low <= value <= high:
            raise InputError(f"{name} is {value}; expected {low} to {high:g}")
    hints: dict[str, tuple[object, Settings | PIK]] = {}
    hints |= {name: (kind, settings) for name, kind in get_type_hints(Settings).items()}
    hints |= {name: (kind, settings.p_ik) for name, kind in get_type_hints(PIK).items()}
    for name, (kind, holder) in hints.items():
        allowed, chosen = get_args(kind), getattr(holder, name)
        if get_origin(kind) is Literal and chosen not in allowed:
            raise InputError(f"{name} is {chosen!r}; expected one of {', '.join(allowed)}")
    if settings.prompts == "shared" and settings.shots > 0:
        raise InputError("shots are examples of the paper's prompt: say --prompts paper too")
    if settings.known_by == "probe" and not wants_probe(settings):
        raise InputError("known_by is 'probe', which needs p_ik among the scores")
    chosen_methods(settings)


def _names(settings: Settings) -> list[str]:
    return [name.strip() for name in settings.scores.split(",") if name.strip()]


def wants_probe(settings: Settings) -> bool:
    """Tell whether P(IK) is among the scores that are asked for."""
    return any(name in ("all", "p_ik") for name in _names(settings))


def chosen_methods(settings: Settings) -> tuple[str, ...]:
    """Return the scores of one answer that the settings ask for, by name. Raises InputError."""
    names = _names(settings)
    return tuple(choose(None if names == ["all"] else [n for n in names if n not in FITTED]))


def probing(settings: Settings) -> str:
    """Return the probe's choices as signatures have them."""
    if not wants_probe(settings):
        return "none"
    chosen = settings.p_ik
    scaled = "scaled" if chosen.standardize else "raw"
    return f"{chosen.position}@{chosen.layer}/{scaled}/{chosen.folds}fold"


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

"""Every choice of the self_known protocol: what is written, checked, asked back, and counted."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import Literal, get_args, get_origin, get_type_hints

from sayso.protocols.settings import collect as asked
from sayso.protocols.settings import measure as counted
from sayso.records import InputError

#: scores of a claim by name, and what each is, for people
CLAIM_SCORES = {
    "span_nll": "mean surprise of the claim's words",
    "span_max_nll": "largest surprise of a token in the claim's words",
    "p_true": "one minus P(true), asked of the statement",
    "p_qa_none": "one minus P(true), asked as question and answer with none of the above",
    "frequency": "share of further answers that do not hold the claim",
    "wording": "one minus the decisiveness of the claim's wording",
    "position": "place in the text (no uncertainty: a reference)",
    "length": "words of the claim (no uncertainty: a reference)",
}

MODES = ("direct", "qa", "qa_none")
#: the setting that all of the paper's main results use (PROTOCOLS 4.A.4)
MAIN = "qa_none"
#: draws of which fewer may be used when measuring: none, since scores of claims are stored
FEWER: tuple[str, ...] = ()
#: settings that are off by default and then ask nothing
CHECKS = ("retrieval", "open_book", "remedy", "draws.k")


@dataclasses.dataclass(frozen=True)
class Answer:
    """How the long answers are decoded."""

    temperature: float = asked(0.0, "temperature of the long answers")
    long_tokens: int = asked(1024, "longest answer, in tokens")


@dataclasses.dataclass(frozen=True)
class Draws:
    """Further answers, in which each claim is looked for (frequency, LUQ)."""

    k: int = asked(0, "further long answers to each topic; 0: none, and no such scores")
    temperature: float = asked(1.0, "temperature of the draws")


@dataclasses.dataclass(frozen=True)
class Settings:
    """Every choice of the protocol, with the paper's default where it has one."""

    answer: Answer = field(default_factory=Answer)
    draws: Draws = field(default_factory=Draws)
    ask: Literal["auto", "item", "open"] = asked(
        "auto",
        "the data's own prompt for a text (item), or only its subject, tell me about X (open); "
        "auto: the data's own where it has one",
    )
    knowledge: str = asked(
        "auto",
        "what claims are checked against: a file or folder of passages, a file in UNCLE's format, "
        "an index made by sayso index, golds (the data's own answers), none; auto: the built-in "
        "world for its own questions, golds where there are any",
    )
    passages: int = asked(5, "passages that are read with each claim")
    claims: Literal["auto", "rules", "judge"] = asked(
        "auto",
        "who takes a text apart: rules (offline), or the judge's model; auto: a model if any",
    )
    support: Literal["auto", "rules", "nli", "judge"] = asked(
        "auto", "who checks a claim: rules, an NLI model (--nli), the judge's model; auto: as above"
    )
    questions: Literal["auto", "rules", "judge"] = asked(
        "auto", "who turns a claim into a question: rules, or the judge's model; auto: as above"
    )
    nli: str = asked("auto", "with --support nli: its folder or hub id, or llm:MODEL")
    modes: str = asked(
        "direct,qa,qa_none",
        "how the model is asked of its own claims, separated by commas, or none: is it true; is "
        "this the answer; the same with none of the above",
    )
    orders: Literal["all", "first"] = asked(
        "all", "the options of a question in every order, averaged, or only in the paper's"
    )
    retrieval: bool = asked(
        False, "write every text once more with passages of the knowledge before the prompt"
    )
    open_book: bool = asked(False, "show those passages when it judges its claims, too")
    remedy: Literal["off", "revise"] = asked(
        "off", "have every text rewritten without the claims that the model itself rejects"
    )
    prompt_folder: str = asked("", "folder with your own prompt texts")
    noa: Literal["incorrect", "b_only", "missing"] = counted(
        "incorrect", "none of the above on an unsupported claim: recognised, not, or left out"
    )
    bins: int = counted(5, "parts of a text, of equal length in sentences")
    closed: Literal["right", "left"] = counted("right", "which edge belongs to a part")
    average: Literal["sentence", "generation", "micro"] = counted(
        "sentence", "curves: mean over sentences, over texts of their means, or pooled claims"
    )
    gamma: float = counted(10.0, "claims below which FActScore's length penalty begins")
    k: int = counted(0, "facts one wants, for F1@K; 0: the median number of supported claims")
    folds: int = counted(5, "sets of texts, each predicted from the others (Equation 3)")
    alpha: float = counted(0.1, "share of kept claims that may be wrong, for conformal filtering")
    resamples: int = counted(1000, "bootstrap resamples of texts for the intervals")
    ci_seed: int = counted(0, "seed of the resampling")


def modes_of(settings: Settings) -> tuple[str, ...]:
    """Return the ways of asking back, in the protocol's order. Raises InputError."""
    names = [name.strip() for name in settings.modes.split(",") if name.strip()]
    for name in names:
        if name not in (*MODES, "none"):
            raise InputError(f"modes {name!r}: expected {', '.join(MODES)}, or none")
    return tuple(name for name in MODES if name in names)


def check(settings: Settings) -> None:
    """Refuse settings with which nothing could be asked or counted. Raises InputError."""
    s = settings
    limits = (
        ("answer.temperature", s.answer.temperature, 0, 10),
        ("answer.long_tokens", s.answer.long_tokens, 1, 1_000_000),
        ("draws.k", s.draws.k, 0, 1000),
        ("draws.temperature", s.draws.temperature, 0, 10),
        ("passages", s.passages, 1, 100),
        ("bins", s.bins, 1, 100),
        ("gamma", s.gamma, 0, 10_000),
        ("k", s.k, 0, 100_000),
        ("folds", s.folds, 2, 1000),
        ("alpha", s.alpha, 0.001, 0.999),
        ("resamples", s.resamples, 100, 1_000_000),
        ("ci_seed", s.ci_seed, 0, 2**63),
    )
    for name, value, low, high in limits:
        if not low <= value <= high:
            raise InputError(f"{name} is {value}; expected {low} to {high:g}")
    for name, kind in get_type_hints(Settings).items():
        allowed, chosen = get_args(kind), getattr(s, name)
        if get_origin(kind) is Literal and chosen not in allowed:
            raise InputError(f"{name} is {chosen!r}; expected one of {', '.join(allowed)}")
    modes_of(s)
    if s.remedy != "off" and not modes_of(s):
        raise InputError("remedy needs the model's own judgement: say --modes qa_none too")
    if s.open_book and not s.retrieval:
        raise InputError("open_book shows retrieved passages: say --retrieval too")

"""Every choice of the self_known protocol: what is written, checked, asked back, and counted."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import Annotated, Literal

from msgspec import Meta

from sayso.protocols.settings import (
    Resamples,
    Seed,
    Temperature,
    Tokens,
    check_values,
    collect,
    measure,
    most_tokens,
)
from sayso.records import InputError

#: scores of a claim by name, and what each is, for people; a reference is no uncertainty
CLAIM_SCORES = {
    "span_nll": "mean surprise of the claim's words",
    "span_max_nll": "largest surprise in the claim's words",
    "p_true": "1 minus P(true), asked of the statement",
    "p_qa_none": "1 minus P(true), asked with none of the above",
    "frequency": "share of further answers without the claim",
    "wording": "1 minus the decisiveness of the wording",
    "position": "place in the text: a reference",
    "length": "words of the claim: a reference",
}

MODES = ("direct", "qa", "qa_none")
#: what a model is asked about its own claim in each of them, as people read it
ASKED = {"direct": "is it true?", "qa": "is this the answer?", "qa_none": "or none of these?"}
#: the setting that all of the paper's main results use
MAIN = "qa_none"


@dataclasses.dataclass(frozen=True)
class Answer:
    """How the long answers are decoded."""

    temperature: Temperature = collect(0.0, "temperature of the long answers")
    long_tokens: Tokens = most_tokens("long_tokens", "an answer")


@dataclasses.dataclass(frozen=True)
class Draws:
    """Further answers, in which each claim is looked for (frequency, LUQ)."""

    k: Annotated[int, Meta(ge=0, le=1000)] = collect(
        0, "further long answers per topic; 0: none, and no scores that need them"
    )
    temperature: Temperature = collect(1.0, "temperature of these further answers")


@dataclasses.dataclass(frozen=True)
class Settings:
    """Every choice of the protocol, with the paper's default where it has one."""

    answer: Answer = field(default_factory=Answer)
    draws: Draws = field(default_factory=Draws)
    ask: Literal["auto", "item", "open"] = collect(
        "auto",
        "prompt for a text: the data's own (item) or only the subject, tell me about X (open); "
        "auto: the data's own if it has one",
    )
    knowledge: str = collect(
        "auto",
        "source for checking claims: a file or folder of passages, a file in UNCLE's format, an "
        "index from sayso index, golds (the data's gold answers), or none; auto: the built-in "
        "world for its own questions, else golds if there are any",
    )
    passages: Annotated[int, Meta(ge=1, le=100)] = collect(5, "passages shown with each claim")
    claims: Literal["auto", "rules", "judge"] = collect(
        "auto",
        "splitter of texts: rules (offline) or the judge's model; auto: the model, if any",
    )
    support: Literal["auto", "rules", "nli", "judge"] = collect(
        "auto",
        "checker of claims: rules, an NLI model (--nli) or the judge's model; auto: as above",
    )
    questions: Literal["auto", "rules", "judge"] = collect(
        "auto", "what turns claims into questions: rules or the judge's model; auto: as above"
    )
    nli: str = collect("auto", "NLI model for --support nli: a folder, a hub id, or llm:MODEL")
    modes: str = collect(
        "direct,qa,qa_none",
        "how to ask the model about its own claims, separated by commas, or none: is it true "
        "(direct), is this the answer (qa), the same with none of the above (qa_none)",
    )
    orders: Literal["all", "first"] = collect(
        "all", "average over all orders of a question's options, or use only the paper's order"
    )
    retrieval: bool = collect(
        False, "write every text once more with passages from --knowledge before the prompt"
    )
    open_book: bool = collect(False, "show these passages also when the model judges its claims")
    remedy: Literal["off", "revise"] = collect(
        "off", "revise: let the model rewrite every text without the claims that it rejects"
    )
    prompt_folder: str = collect("", "folder with your own prompts")
    noa: Literal["incorrect", "b_only", "missing"] = measure(
        "incorrect", "none of the above for a false claim: recognized, not recognized, or left out"
    )
    bins: Annotated[int, Meta(ge=1, le=100)] = measure(
        5, "number of parts of a text, with equal numbers of sentences"
    )
    closed: Literal["right", "left"] = measure(
        "right", "the edge that counts as part of each interval"
    )
    average: Literal["sentence", "generation", "micro"] = measure(
        "sentence", "curves: mean over sentences, mean of the texts' means, or pooled claims"
    )
    gamma: Annotated[float, Meta(ge=0, le=10_000)] = measure(
        10.0, "number of claims below which FActScore's length penalty applies"
    )
    k: Annotated[int, Meta(ge=0, le=100_000)] = measure(
        0, "K of F1@K, the number of facts wanted; 0: the median number of supported claims"
    )
    folds: Annotated[int, Meta(ge=2, le=1000)] = measure(
        5, "folds of texts; each is predicted from the others (Equation 3)"
    )
    alpha: Annotated[float, Meta(ge=0.001, le=0.999)] = measure(
        0.1, "share of texts that may keep a wrong claim, for conformal filtering"
    )
    resamples: Resamples = measure(1000, "bootstrap resamples of texts")
    ci_seed: Seed = measure(0, "seed of the resampling")


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
    check_values(s)
    modes_of(s)
    if s.remedy != "off" and not modes_of(s):
        raise InputError("remedy needs the model's own judgement: add --modes qa_none")
    if s.open_book and not s.retrieval:
        raise InputError("open_book shows retrieved passages: add --retrieval")

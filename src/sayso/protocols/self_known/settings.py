"""Every choice of the self_known protocol: what is written, checked, asked back, and counted."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from sayso.later import Later
from sayso.protocols.settings import (
    ProtocolSettings,
    Resamples,
    Seed,
    Temperature,
    Tokens,
    collect_field,
    measure_field,
    most_tokens,
)
from sayso.records import InputError, suggestion

if TYPE_CHECKING:
    from sayso import engines
else:
    engines = Later("sayso.engines")

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
class SelfKnownDecoding:
    """How the long answers are decoded."""

    temperature: Temperature = collect_field(0.0, "temperature of the long answers")
    long_tokens: Tokens = most_tokens("long_tokens", "an answer")
    decoding: Literal["plain", "cautious"] = collect_field(
        "plain",
        "cautious: write every text once more, sentence by sentence, and keep the candidate whose "
        "names, dates and numbers the model finds most probable (a model in this process only)",
        off=True,
    )
    candidates: Annotated[int, Meta(ge=1, le=100)] = collect_field(
        4, "cautious: candidates for each sentence, the greedy one and draws at T=1", off=True
    )
    sure: Annotated[float, Meta(ge=0, le=1)] = collect_field(
        0.5,
        "cautious: probability of a sentence's least probable value below which the text ends; 0: "
        "it never ends for this",
        off=True,
    )


@dataclasses.dataclass(frozen=True)
class SelfKnownDraws:
    """Further answers, in which each claim is looked for (frequency, LUQ)."""

    k: Annotated[int, Meta(ge=0, le=1000)] = collect_field(
        0,
        "number of further long answers per topic; 0: none, and no scores that need them",
        off=True,
    )
    temperature: Temperature = collect_field(1.0, "temperature of these further answers")


@dataclasses.dataclass(frozen=True)
class Settings(ProtocolSettings):
    """Every choice of the protocol, with the paper's default where it has one."""

    FREE = ("model", "data", "ci", "draws", "folds", "remedy", "retrieval")

    answer: SelfKnownDecoding = field(default_factory=SelfKnownDecoding)
    draws: SelfKnownDraws = field(default_factory=SelfKnownDraws)
    ask: Literal["auto", "item", "open"] = collect_field(
        "auto",
        "prompt for a text: the data's own (item), or one that names only the subject, tell me "
        "about X (open); auto: the data's own, if there is one; for topics your self_open.txt",
    )
    keep_answered: Annotated[int, Meta(ge=0, le=1_000_000)] = collect_field(
        0,
        "keep so many of the texts that answer, drawn at random by --seed; 0: all (the paper keeps "
        "100)",
        off=True,
    )
    knowledge: str = collect_field(
        "auto",
        "source for checking claims: a file or folder of passages, a file in UNCLE's format, an "
        "index from sayso index, golds (the data's gold answers), or none; auto: the built-in "
        "world for its own questions, else golds if there are any",
        main=True,
    )
    passages: Annotated[int, Meta(ge=1, le=100)] = collect_field(
        5, "number of passages shown with each claim"
    )
    claims: str = collect_field(
        "auto",
        "what splits texts into claims: rules (offline), judge (the judge's model), or a model of "
        "its own, named as for --model; auto: the judge's model, if any",
    )
    support: str = collect_field(
        "auto",
        "claim checker: rules, nli (an NLI model: --nli), judge (the judge's model), or a model of "
        "its own; auto: the judge's model, if any",
    )
    questions: str = collect_field(
        "auto",
        "what turns claims into questions: rules, judge (the judge's model), or a model of its "
        "own; auto: the judge's model, if any",
    )
    nli: str = collect_field(
        "auto", "NLI model for support=nli: a folder, a hub id, or llm:MODEL", main=True
    )
    modes: str = collect_field(
        "direct,qa,qa_none",
        "how to ask the model about its own claims, separated by commas, or none: whether the "
        "claim is true (direct), whether it answers a question (qa), the latter with the option "
        "none of the above (qa_none)",
    )
    orders: Literal["all", "first"] = collect_field(
        "all", "average over all orders of a question's options, or use only the paper's order"
    )
    retrieval: bool = collect_field(
        False,
        "write every text once more with passages from --knowledge before the prompt",
        off=True,
    )
    open_book: bool = collect_field(
        False, "also show these passages when the model judges its claims", off=True
    )
    remedy: Literal["off", "revise"] = collect_field(
        "off",
        "revise: let the model rewrite every text without the claims that it rejects",
        off=True,
    )
    prompt_folder: str = collect_field("", "folder with your own prompts", main=True)
    noa: Literal["incorrect", "b_only", "missing"] = measure_field(
        "incorrect",
        "how the answer none of the above to a false claim counts: as recognized (incorrect), "
        "as not recognized (b_only), or not at all (missing)",
    )
    bins: Annotated[int, Meta(ge=1, le=100)] = measure_field(
        5, "number of parts into which a text is divided, with equal numbers of sentences"
    )
    closed: Literal["right", "left"] = measure_field("right", "which edge of each part is included")
    average: Literal["sentence", "generation", "micro"] = measure_field(
        "sentence",
        "how curves are averaged: over sentences, over the texts' means, or over all claims",
    )
    gamma: Annotated[float, Meta(ge=0, le=10_000)] = measure_field(
        10.0, "number of claims below which FActScore's length penalty applies"
    )
    k: Annotated[int, Meta(ge=0, le=100_000)] = measure_field(
        0, "K of F1@K, the desired number of facts; 0: the median number of supported claims"
    )
    folds: Annotated[int, Meta(ge=2, le=1000)] = measure_field(
        5, "number of folds; each fold's texts are predicted from the other folds (Equation 3)"
    )
    resamples: Resamples = measure_field(1000, "bootstrap resamples of texts")
    ci_seed: Seed = measure_field(0, "seed for resampling")

    def check(self) -> None:
        """Refuse settings with which nothing could be asked or counted. Raises InputError."""
        super().check()
        s = self
        modes_of(s)
        for name, known in STEPS.items():
            if (how := getattr(s, name)) in known:
                continue
            try:
                engines.check_model_name(how)
            except InputError:
                raise InputError(
                    f"{name} is {how!r:.80}; expected {', '.join(known)}, or the name of a model, "
                    f"such as openai:gpt-5.4-mini. {suggestion(how, known)}".rstrip()
                ) from None
        if s.remedy != "off" and not modes_of(s):
            raise InputError("remedy needs the model's own judgement: add --set modes=qa_none")
        if s.open_book and not s.retrieval:
            raise InputError("open_book shows retrieved passages: add --set retrieval=true")

    def further_models(self) -> list[str]:
        """Return the names of the models that do single steps."""
        named = [how for name, known in STEPS.items() if (how := getattr(self, name)) not in known]
        return list(dict.fromkeys(named))


#: the steps that a model of their own can do, and who else can do them
STEPS = {
    "claims": ("auto", "rules", "judge"),
    "support": ("auto", "rules", "nli", "judge"),
    "questions": ("auto", "rules", "judge"),
}


def asks_model(how: str, judged: bool) -> bool:
    """Tell whether a step asks a language model; ``judged``: whether a model is the judge."""
    return judged if how in ("auto", "judge") else how not in ("rules", "nli")


def modes_of(settings: Settings) -> tuple[str, ...]:
    """Return the ways of asking back, in the protocol's order. Raises InputError."""
    names = [name.strip() for name in settings.modes.split(",") if name.strip()]
    for name in names:
        if name not in (*MODES, "none"):
            raise InputError(f"modes {name!r}: expected {', '.join(MODES)}, or none")
    return tuple(name for name in MODES if name in names)

"""Every choice of UNCLE's protocol: what is asked, and how answers are counted."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import Annotated, Literal

from msgspec import Meta

from sayso.prompts.methods import METHODS, Form, methods_in_list
from sayso.protocols.settings import (
    Probing,
    ProtocolSettings,
    Resamples,
    Seed,
    Temperature,
    Tokens,
    collect_field,
    measure_field,
    most_tokens,
    tokens_for,
)
from sayso.records import InputError

#: the entry of a manifest's prompts that says how paragraphs were asked for
PARAGRAPHS = "paragraphs"
FORMS: tuple[Form, ...] = ("short", "long")
#: more draws than this decide nothing
MOST_PROBES = 1000
#: sample index of a judged answer at T > 0. It is none of the probes: a right answer that is also a
#: probe would make its fact known, and right answers to unknown facts impossible
ANSWER_SAMPLE = MOST_PROBES
#: methods whose answers every run has
ASKED_ALREADY = {"vanilla": "the plain answers", "uncle": "the instructed answers"}


@dataclasses.dataclass(frozen=True)
class KnowledgeProbe:
    """What decides whether a fact is known (section 4, "knowledge probing")."""

    k: Annotated[int, Meta(ge=1, le=MOST_PROBES)] = collect_field(
        5, "number of samples per short question", shrinks=True
    )
    temperature: Temperature = collect_field(1.0, "temperature of the samples")
    stop: Literal["all", "first_right"] = collect_field(
        "all",
        "first_right: draw one by one, and end a question's samples once it is known "
        "(probe.at_least right ones): the same rates for fewer samples; all: always draw probe.k",
        off=True,
    )
    unc: Literal["unknown", "dropped_official", "excluded"] = measure_field(
        "unknown",
        "how a hedged probe counts: as in the paper (unknown), as in the paper's code "
        "(dropped_official), or not at all (excluded)",
    )
    at_least: Annotated[int, Meta(ge=1, le=MOST_PROBES)] = measure_field(
        1, "number of right samples from which on a fact is known; the paper's rule is 1"
    )


@dataclasses.dataclass(frozen=True)
class UncleDecoding:
    """How the answers that are judged are decoded (section 4; appendix D says otherwise)."""

    temperature: Temperature = collect_field(
        0.0, "temperature of the judged answers; the paper's appendix D uses 0.7 with top_p 0.95"
    )
    top_p: Annotated[float, Meta(ge=0.01, le=1)] = collect_field(
        1.0,
        "top-p of the judged answers, at a temperature above 0",
    )
    short_tokens: Tokens = most_tokens("short_tokens", "a short answer")
    long_tokens: Tokens = most_tokens("long_tokens", "a paragraph")


@dataclasses.dataclass(frozen=True)
class Settings(ProtocolSettings):
    """Every choice of the protocol, with the paper's default where it has one."""

    # the model, whose probes decide, and checks on which no compared number rests; a paragraph of
    # another prompt is another question
    FREE = ("model", "known_from", "data", "methods", "probe_stop", PARAGRAPHS)

    probe: KnowledgeProbe = field(default_factory=KnowledgeProbe)
    answer: UncleDecoding = field(default_factory=UncleDecoding)
    known_from: str = collect_field(
        "self",
        "run whose probes decide what is known: self, or the folder of another run",
        main=True,
    )
    prompts: Literal["shared", "paper"] = collect_field(
        "shared", "shared: one set of answers for all protocols; paper: the paper's token limit"
    )
    short_only: bool = collect_field(False, "ask short questions only, no paragraphs", off=True)
    prompt_folder: str = collect_field("", "folder with your own prompts", main=True)
    methods: str = collect_field(
        "",
        "further prompting methods, separated by commas: "
        "unc_few, pair_few, self_refine, granularity, uncertainty, metacognitive",
        main=True,
        off=True,
    )
    omit_long: Literal["NS", "separate"] = measure_field(
        "NS",
        "how a fact missing from its paragraph counts: as wrong (NS, as in the paper), or not at "
        "all (separate)",
    )
    refusals: Literal["uncertain", "excluded"] = measure_field(
        "uncertain", "how an answer refused by policy counts: as uncertain, or not at all"
    )
    resamples: Resamples = measure_field(2000, "bootstrap resamples of entities")
    ci_seed: Seed = measure_field(0, "seed for resampling")

    def check(self) -> None:
        """Refuse settings with which nothing could be asked or counted. Raises InputError."""
        super().check()
        if self.probe.at_least > self.probe.k:
            raise InputError(
                f"probe.at_least is {self.probe.at_least}, but probe.k draws only "
                f"{self.probe.k} samples of a question; expected at most {self.probe.k}"
            )
        if self.answer.top_p < 1 and self.answer.temperature == 0:
            raise InputError(
                f"answer.top_p is {self.answer.top_p:g}, but at answer.temperature 0 nothing is "
                "sampled; raise it (appendix D has 0.7), or leave answer.top_p out"
            )
        names_of(self)

    @property
    def stops(self) -> bool:
        """Whether a question is drawn no more once it is known."""
        return self.probe.stop == "first_right"

    def probing(self) -> Probing:
        """Return which draws decide what is known."""
        return Probing(
            "probe",
            self.probe.k,
            hedged=False if self.probe.unc == "unknown" else None,
            at_least=self.probe.at_least,
        )


def answer_limits(settings: Settings) -> dict[str, int]:
    """Return the most tokens of an answer by form; appendix D has 1,024 for every answer."""
    long = tokens_for(settings.answer, "long")
    short = long if settings.prompts == "paper" else tokens_for(settings.answer, "short")
    return {"short": short, "long": long}


def names_of(settings: Settings) -> tuple[str, ...]:
    """Return the further methods of a run. Raises InputError for one that it cannot ask."""
    names = methods_in_list(settings.methods) if settings.methods else ()
    for name in names:
        if name in ASKED_ALREADY:
            why = f"is in every run already ({ASKED_ALREADY[name]}); leave it out"
        elif METHODS[name].demonstrations:
            why = "shows answers to other questions, which only `sayso run faithfulness` asks"
        else:
            continue
        raise InputError(f"methods {settings.methods!r}: {name} {why}")
    return names


def stage_of(name: str, form: str) -> str:
    """Return the stage of a method's answers; revisions are asked for later and have their own."""
    return f"{'refined' if METHODS[name].kind == 'revision' else 'methods'}-{form}"

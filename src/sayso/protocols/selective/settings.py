"""Every choice of the selective protocol: what is asked, and how scores are measured."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from msgspec import Meta

from sayso.later import Later
from sayso.protocols.settings import (
    Probing,
    ProtocolSettings,
    Resamples,
    Seed,
    Share,
    Temperature,
    Tokens,
    collect_field,
    measure_field,
    most_tokens,
    tokens_for,
)
from sayso.records import InputError, Question

if TYPE_CHECKING:
    from sayso import scores
else:
    scores = Later("sayso.scores")

MOST_DRAWS = 1000
#: the paper's examples in the prompt, by mode
SHOTS = {"short": 5, "sentence": 0}
FORMS = ("short", "long")
#: steps 2 and 3 of the paper's pipeline
PAPER_TEMPERATURE = 0.1
PAPER_TOKENS = {"sentence": 100, "short": 50}
STOP = ("\n", "Question:", "Context:")
#: answer metrics that take a model
BERT, BLIND = "bert_score", "llm_blind"


@dataclasses.dataclass(frozen=True)
class SelectiveDraws:
    """The several answers that multi-sample scores compare."""

    k: Annotated[int, Meta(ge=0, le=MOST_DRAWS)] = collect_field(
        10, "number of samples per short question"
    )
    temperature: Temperature = collect_field(1.0, "temperature of the samples")


@dataclasses.dataclass(frozen=True)
class SelectiveDecoding:
    """How the answers that are scored and judged are decoded, in the shared pool."""

    temperature: Temperature = collect_field(0.0, "temperature of the scored answers")
    short_tokens: Tokens = most_tokens("short_tokens", "a short answer")
    long_tokens: Tokens = most_tokens("long_tokens", "a paragraph")


@dataclasses.dataclass(frozen=True)
class PIK:
    """The probe on hidden states (Kadavath et al. 2022 look at the prompt only)."""

    position: Literal["last_prompt", "second_last_answer", "last_answer"] = collect_field(
        "second_last_answer",
        "token whose hidden state is used: the prompt's last token, the token before the answer's "
        "last one (as in the paper's code), or the answer's last token",
    )
    layer: Annotated[int, Meta(ge=-1000, le=1000)] = collect_field(
        -1, "layer of the hidden state: 0 is the embeddings, -1 the last layer"
    )
    standardize: bool = measure_field(
        True, "scale features to unit variance (the paper's code does not)"
    )
    folds: Annotated[int, Meta(ge=2, le=1000)] = measure_field(
        5, "number of folds of entities; each fold is predicted by a probe trained on the others"
    )


@dataclasses.dataclass(frozen=True)
class PTrue:
    """P(True) behind labeled examples (Kadavath et al. 2022; the paper shows 20)."""

    examples: Annotated[int, Meta(ge=0, le=1000)] = collect_field(
        0,
        "number of labeled examples for P(True), taken from twice as many questions that are set "
        "aside and not measured; 0: none, and no score p_true_few; the paper uses 20",
    )


@dataclasses.dataclass(frozen=True)
class Settings(ProtocolSettings):
    """Every choice of the protocol, with the paper's default where it has one."""

    #: ``logprobs``: an endpoint's are scored only as far as they are the model's own
    FREE = ("model", "data", "ci", "logprobs")

    want: Literal["both", "declining", "scores"] = collect_field(
        "both",
        "what the run is for. declining: does it decline what it cannot answer? One request a "
        "question, no scores; scores: which score finds the errors? Only questions with an answer "
        "are asked; both",
        main=True,
        flag="--for",
        off=True,
    )
    draws: SelectiveDraws = field(default_factory=SelectiveDraws)
    answer: SelectiveDecoding = field(default_factory=SelectiveDecoding)
    p_ik: PIK = field(default_factory=PIK)
    p_true: PTrue = field(default_factory=PTrue)
    prompts: Literal["shared", "paper"] = collect_field(
        "shared",
        "shared: one set of answers for all protocols; paper: the paper's prompts and decoding",
    )
    mode: Literal["sentence", "short"] = collect_field(
        "sentence", "with prompts=paper: one-sentence answers, or the shortest possible"
    )
    shots: Annotated[int, Meta(ge=-1, le=100)] = collect_field(
        -1,
        "with prompts=paper: number of questions used as examples in the prompt and not "
        "measured; -1: the paper's number (5 for short answers, none for sentences)",
    )
    prompt_folder: str = collect_field("", "folder with your own prompts", main=True)
    nli: str = collect_field(
        "auto",
        "what compares meanings: rules (offline), the folder or hub id of an NLI model, or "
        "llm:MODEL; auto: the default NLI model if its weights are on this machine, else rules",
        main=True,
    )
    scores: str = collect_field(
        "all", "names of scores, separated by commas; all: those of sayso, all,NAME: a plug-in too"
    )
    answer_metrics: str = collect_field(
        "",
        "additional answer metrics, separated by commas: bert_score (or bert_score:MODEL; needs "
        "the model's weights), llm_blind:MODEL (a model that sees the gold answers and the "
        "answer, but not the question, as in the paper; you pay for its requests)",
        off=True,
    )
    elicit: bool = collect_field(
        False,
        "ask the model how confident it is in each short answer and whether the answer is true: "
        "seven more requests per answer; adds stated confidence and sampled P(True)",
        off=True,
    )
    panel: str = collect_field(
        "",
        "for the score judge_panel: models, separated by commas, that judge each short answer "
        "without the gold answer",
        off=True,
    )
    words: bool = collect_field(
        True, "also ask with an instruction to express uncertainty, to score the model's words"
    )
    context: Literal["given", "without", "twins"] = collect_field(
        "given",
        "how answerable questions with a passage are asked. given: with it; without: also without "
        "it; twins: also without it, and with another question's passage, which does not contain "
        "the answer",
    )
    known_k: Annotated[int, Meta(ge=0, le=MOST_DRAWS)] = collect_field(
        5,
        "number of samples judged to tell known facts from unknown ones; 0 judges none and "
        "omits the numbers on unknown facts",
    )
    abstained: Literal["incorrect", "excluded"] = measure_field(
        "incorrect",
        "whether an answer that states no value counts as incorrect (as in the paper) or is "
        "excluded",
    )
    rouge_threshold: Share = measure_field(0.5, "an answer counts as right above this ROUGE-L F1")
    f1_threshold: Share = measure_field(0.5, "an answer counts as right at or above this SQuAD F1")
    bert_threshold: Share = measure_field(0.5, "an answer counts as right above this BERTScore")
    resamples: Resamples = measure_field(1000, "bootstrap resamples of entities")
    ci_seed: Seed = measure_field(0, "seed for resampling")

    def check(self) -> None:
        """Refuse settings with which nothing could be asked or measured. Raises InputError."""
        super().check()
        if self.prompts == "shared" and self.shots > 0:
            raise InputError("shots are examples in the paper's frame: add --set prompts=paper")
        if self.prompts == "shared" and self.mode != Settings.mode:
            raise InputError(
                f"mode is {self.mode}, which applies only to the paper's frame: add --set "
                "prompts=paper, or leave mode out"
            )
        scores.plugins_among(_of_answers(self))
        for name in further_metrics(self):
            kind, _, model = name.partition(":")
            if not (name == BERT or (kind in (BERT, BLIND) and model)):
                raise InputError(
                    f"answer metric {name!r}: expected {BERT}, {BERT}:MODEL or {BLIND}:MODEL; "
                    "rules and the word-overlap metrics are always included"
                )

    def further_models(self) -> list[str]:
        """Return the names of the models that are asked besides the subject and the judge."""
        blind = [n.partition(":")[2] for n in further_metrics(self) if n.startswith(BLIND)]
        return list(dict.fromkeys([*blind, *names_between_commas(self.panel)]))

    def fitted(self, data: str, limit: int | None) -> Settings:
        """Return settings that ask only what a run is for: whether a model declines takes no draws.

        Raises InputError where another setting asks for more.
        """
        if self.want != "declining":
            return self
        plain = Settings()
        more = [n for n in ("p_true", "answer_metrics", "elicit", "panel", "context")
                if getattr(self, n) != getattr(plain, n)]  # fmt: skip
        drawn = dataclasses.replace(self.draws, k=self.draws.k or plain.draws.k)
        more += ["a setting of draws"] * (drawn != plain.draws)
        more += ["scores"] * (self.scores not in (plain.scores, NO_SCORES))
        if more:
            raise InputError(
                f"--for declining asks every question once, and {more[0]} asks for more: leave one "
                "of the two out"
            )
        return dataclasses.replace(self, draws=SelectiveDraws(k=0), words=False, scores=NO_SCORES)

    def probing(self) -> Probing:
        """Return the draws that are judged."""
        return Probing("draws", min(self.known_k, self.draws.k))


def names_between_commas(text: str) -> list[str]:
    """Return names that stand in a text between commas, each once."""
    return list(dict.fromkeys(name for part in text.split(",") if (name := part.strip())))


def further_metrics(settings: Settings) -> list[str]:
    """Return the answer metrics that are asked for besides those that are always there."""
    return names_between_commas(settings.answer_metrics)


def wants_probe(settings: Settings) -> bool:
    """Tell whether P(IK) is among the scores that are asked for."""
    return any(name in ("all", "p_ik") for name in names_between_commas(settings.scores))


#: ``scores`` of a run that computes none
NO_SCORES = "none"


def chosen_methods(settings: Settings) -> Mapping[str, scores.Method]:
    """Return the scores of one answer that the settings ask for, by name. Raises InputError."""
    return scores.choose(_of_answers(settings))


def _of_answers(settings: Settings) -> list[str]:
    names = names_between_commas(settings.scores)
    return [name for name in names if name not in ("p_ik", NO_SCORES)]


def asks_of_draws(settings: Settings) -> bool:
    """Tell whether a score may ask of each sentence and draw, many requests: none of "all"."""
    names = names_between_commas(settings.scores)
    return Settings.scores not in names or "selfcheck_prompt" in names


def probe_signature(settings: Settings) -> str:
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
    return Decoding(settings.answer.temperature, tokens_for(settings.answer, form))


def asked_forms(questions: Sequence[Question], settings: Settings) -> list[str]:
    """Return the forms whose answers are scored: with the paper's prompts only short ones."""
    forms = {"long" if q.parts else "short" for q in questions}
    return [f for f in FORMS if f in forms and (f == "short" or settings.prompts == "shared")]


def shots(settings: Settings) -> int:
    """Return how many examples stand in the prompt."""
    if settings.prompts == "shared":
        return 0
    return SHOTS[settings.mode] if settings.shots < 0 else settings.shots

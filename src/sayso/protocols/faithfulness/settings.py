"""Every choice of the faithfulness protocol (PROTOCOLS 2): what is asked, and how it is counted."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import field
from functools import lru_cache
from typing import Literal, get_args, get_origin, get_type_hints

from sayso.judges.contradiction import contradicts
from sayso.prompts import methods
from sayso.prompts import methods as methods_module
from sayso.protocols.pool import entity_of
from sayso.protocols.settings import collect as asked
from sayso.protocols.settings import measure as counted
from sayso.records import InputError, Question, content_id

#: stages of answers whose wording is read, by the question's form
STAGES = {
    "short": ("short", "methods-short", "refined-short", "demos-short"),
    "long": ("long", "methods-long", "refined-long"),
}

MOST_DRAWS = 1000
#: settings that are off by default and then ask nothing
CHECKS = ()
#: ``sayso measure`` may count with fewer of these than were asked for
FEWER = ("draws.k",)


@dataclasses.dataclass(frozen=True)
class Draws:
    """The answers that tell how sure the model is (section 3: k = 20)."""

    k: int = asked(20, "draws of each short question")
    temperature: float = asked(1.0, "temperature of the draws (not stated in the paper)")


@dataclasses.dataclass(frozen=True)
class Answer:
    """How the answers whose wording is read are decoded (section 4: greedy)."""

    temperature: float = asked(0.0, "temperature of the answers whose wording is read")
    short_tokens: int = asked(256, "longest short answer, in tokens")
    long_tokens: int = asked(1024, "longest paragraph, in tokens")


@dataclasses.dataclass(frozen=True)
class Demos:
    """Demonstrations of Uncertainty+: the model's own answers to questions not measured."""

    m: int = asked(2, "certain and as many uncertain answers shown")
    choices: int = asked(3, "random choices of them, all measured")
    entities: int = asked(20, "entities set apart for them and not measured; at most a fifth")
    certain: float = asked(0.9, "an answer is certain from this confidence on")
    uncertain: float = asked(0.5, "an answer is uncertain up to this confidence")


@dataclasses.dataclass(frozen=True)
class Settings:
    """Every choice of the protocol, with the paper's default where it has one."""

    draws: Draws = field(default_factory=Draws)
    answer: Answer = field(default_factory=Answer)
    demos: Demos = field(default_factory=Demos)
    methods: str = asked(
        "all",
        "ways to ask for doubt, separated by commas; all: those that are one instruction, without "
        "unc_few, pair_few and self_refine. " + ", ".join(methods_module.METHODS),
    )
    prompts: Literal["shared", "paper"] = asked(
        "shared", "one pool of answers for all protocols, or the paper's own form of the prompt"
    )
    sample_prompt: Literal["vanilla", "same"] = asked(
        "vanilla", "what is drawn: the plain question, once for all methods, or each method's own"
    )
    decisive: Literal["auto", "rules", "judge"] = asked(
        "auto",
        "who scores the wording: rules (offline), or the judge's model; auto: a model if any",
    )
    contradict: Literal["auto", "rules", "nli", "judge"] = asked(
        "auto",
        "who compares answers: rules, an NLI model (--nli) or the judge's model; auto: as above",
    )
    nli: str = asked("auto", "with --contradict nli: its folder or hub id, or llm:MODEL")
    ambiguous: Literal["keep", "drop"] = asked(
        "keep",
        "a question whose gold answers contradict each other: keep, or drop (ids are listed)",
    )
    prompt_folder: str = asked("", "folder with your own prompt texts")
    bins: int = counted(10, "bins of confidence, of equal width")
    closed: Literal["right", "left"] = counted("right", "which edge belongs to a bin")
    levels: bool = counted(False, "average over attained confidences instead of bins")
    empty: Literal["skip", "zero"] = counted("skip", "an empty bin: left out, or counts 0")
    sample_punt: Literal["drop", "literal", "contradiction"] = counted(
        "drop", "a draw without an answer: no draw, agrees (the formula, literally), or contradicts"
    )
    relation: Literal["contradiction", "inconsistency"] = counted(
        "contradiction",
        "what lowers confidence: contradiction (the paper), or whatever is not "
        "entailed (needs --contradict nli)",
    )
    pooled: bool = counted(
        False,
        "every assertion counts once, so that answers with many count more; else the assertions "
        "of an answer share one vote (Definition 1)",
    )
    least: int = counted(5, "answered draws below which there is no confidence")
    high: float = counted(0.75, "decisive, and confident, from here on (the three-way table)")
    shared_least: int = counted(10, "items of every method in a bin that methods are compared on")
    resamples: int = counted(1000, "bootstrap resamples of entities for the intervals")
    ci_seed: int = counted(0, "seed of the resampling")


def check(settings: Settings) -> None:
    """Refuse settings with which nothing could be asked or counted. Raises InputError."""
    s = settings
    limits = (
        ("draws.k", s.draws.k, 1, MOST_DRAWS),
        ("draws.temperature", s.draws.temperature, 0, 10),
        ("answer.temperature", s.answer.temperature, 0, 10),
        ("answer.short_tokens", s.answer.short_tokens, 1, 1_000_000),
        ("answer.long_tokens", s.answer.long_tokens, 1, 1_000_000),
        ("demos.m", s.demos.m, 1, 20),
        ("demos.choices", s.demos.choices, 1, 20),
        ("demos.entities", s.demos.entities, 1, 10_000),
        ("demos.certain", s.demos.certain, 0, 1),
        ("demos.uncertain", s.demos.uncertain, 0, 1),
        ("bins", s.bins, 1, 1000),
        ("least", s.least, 1, MOST_DRAWS),
        ("high", s.high, 0, 1),
        ("shared_least", s.shared_least, 1, 1_000_000),
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
    revised = [m for m in methods.chosen(s.methods) if methods.METHODS[m].kind == "revision"]
    if revised and s.sample_prompt == "same":
        raise InputError(
            f"sample_prompt same draws each method's own prompt, and {revised[0]} is no prompt but "
            "a revision; leave one of them out"
        )
    if s.demos.uncertain >= s.demos.certain:
        raise InputError("demos.uncertain must lie below demos.certain")
    if s.relation == "inconsistency" and s.contradict != "nli":
        raise InputError("relation inconsistency needs entailment: say --contradict nli")
    if s.contradict == "nli" and s.nli == "rules":
        raise InputError(
            "contradict nli needs a model: name one with --nli (a folder, a hub id, or llm:MODEL)"
        )


# Ambiguous questions: an option of the protocol, with its rule and the ids published with a
# run.
#
# The papers removed them by rules that are not in their texts (PROTOCOLS 2.A). A model that
# gives now
# one right answer and now another is not uncertain, so ours looks at the gold answers.

#: what the manifest of a run says
RULE = (
    "two of its right answers contradict each other by our rules, or two ways to write one of them "
    "hold different dates or numbers"
)
#: ways to write one answer that are looked at
MOST_NAMES = 40
_DIGIT = re.compile(r"\d")


def ambiguous(questions: Sequence[Question]) -> list[str]:
    """Return ids of the short questions that :data:`RULE` calls ambiguous.

    Other names of one answer ("Mark Twain") look like other answers to rules, so among them only
    dates and numbers count. Lists of true values of which an answer may name some are ambiguous
    in this sense.
    """
    found = []
    for question in questions:
        if not question.parts and question.golds:
            answers = tuple(gold.names[:MOST_NAMES] for gold in question.golds)
            if _several(question.text, answers):
                found.append(question.id)
    return found


def dropped(questions: Sequence[Question], settings: Settings) -> set[str]:
    """Return ids of the questions that a run leaves out: the ambiguous ones, if it is told to."""
    return set(ambiguous(questions)) if settings.ambiguous == "drop" else set()


def told(questions: Sequence[Question], settings: Settings) -> list[str]:
    """Return the sentence of the manifest: the rule, how many questions, what became of them."""
    found, shorts = ambiguous(questions), sum(not q.parts for q in questions)
    if not found:
        return []
    what = "left out" if settings.ambiguous == "drop" else "kept (--ambiguous drop leaves them out)"
    return [
        f"{len(found):,} of {shorts:,} questions are ambiguous and were {what}; the rule: {RULE}. "
        "Their ids are the numbers named ambiguous."
    ]


@lru_cache(maxsize=65_536)
def _several(question: str, answers: tuple[tuple[str, ...], ...]) -> bool:
    values = [names[0] for names in answers]
    if any(contradicts(question, a, b) for i, a in enumerate(values) for b in values[i + 1 :]):
        return True
    for names in answers:
        numbers = [name for name in names if _DIGIT.search(name)]
        pairs = ((a, b) for i, a in enumerate(numbers) for b in numbers[i + 1 :])
        if any(contradicts(question, a, b) for a, b in pairs):
            return True
    return False


def held_out(questions: Sequence[Question], settings: Settings) -> list[str]:
    """Return ids of the short questions of the entities set apart; none without such a method."""
    if not any(methods.METHODS[m].demonstrations for m in methods.chosen(settings.methods)):
        return []
    entities = dict.fromkeys(entity_of(q) for q in questions if not q.parts)
    most = min(settings.demos.entities, len(entities) // 5)
    ranked = sorted(entities, key=lambda e: content_id(["demonstrations", *e]))
    apart = set(ranked[:most])
    return [q.id for q in questions if not q.parts and entity_of(q) in apart]

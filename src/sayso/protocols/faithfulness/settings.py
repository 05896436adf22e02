"""Every choice of the faithfulness protocol: what is asked, and how it is counted."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import field
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from sayso.later import Later
from sayso.prompts.methods import METHODS, Form, methods_in_list
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
)
from sayso.records import InputError, Question, Verdict

if TYPE_CHECKING:
    from sayso import datasets
    from sayso.judges import contradiction
else:
    datasets = Later("sayso.datasets")
    contradiction = Later("sayso.judges.contradiction")

FORMS: tuple[Form, ...] = ("short", "long")
#: stages of answers whose wording is read, by the question's form
STAGES = {
    "short": ("short", "methods-short", "refined-short", "demos-short"),
    "long": ("long", "methods-long", "refined-long"),
}

MOST_DRAWS = 1000
#: values of ``demos.data`` that name no data set
AUTO, HELD_OUT = "auto", "held-out"


@dataclasses.dataclass(frozen=True)
class FaithfulnessDraws:
    """The answers that tell how sure the model is (section 3: k = 20)."""

    k: Annotated[int, Meta(ge=1, le=MOST_DRAWS)] = collect_field(
        20, "number of samples per short question", shrinks=True
    )
    temperature: Temperature = collect_field(
        1.0, "temperature of the samples (not stated in the paper)"
    )


@dataclasses.dataclass(frozen=True)
class FaithfulnessDecoding:
    """How the answers whose wording is read are decoded (section 4: greedy)."""

    temperature: Temperature = collect_field(
        0.0, "temperature of the answers whose wording is read"
    )
    short_tokens: Tokens = most_tokens("short_tokens", "a short answer")
    long_tokens: Tokens = most_tokens("long_tokens", "a paragraph")


@dataclasses.dataclass(frozen=True)
class Demos:
    """Demonstrations of Uncertainty+: the model's own answers to questions not measured."""

    data: str = collect_field(
        AUTO,
        "data set of the examples: a name or a file, without the entities that are measured; "
        "held-out: entities of the measured set, which are then not measured; auto: other "
        "entities of builtin and, with --limit, of world; triviaqa (for triviaqa, nq_open) for "
        "sets on the hub; held-out for files",
    )
    questions: Annotated[int, Meta(ge=4, le=100_000)] = collect_field(
        100, "number of questions of demos.data in which examples are searched"
    )
    m: Annotated[int, Meta(ge=1, le=20)] = collect_field(
        2, "number of certain examples, and also of uncertain ones"
    )
    choices: Annotated[int, Meta(ge=1, le=20)] = collect_field(
        3, "number of random sets of examples; all are measured"
    )
    entities: Annotated[int, Meta(ge=1, le=10_000)] = collect_field(
        20,
        "with held-out: number of entities set aside for examples and not measured; at most a "
        "fifth of all",
    )
    certain: Share = collect_field(0.9, "lowest confidence of a certain example")
    uncertain: Share = collect_field(0.5, "highest confidence of an uncertain example")


@dataclasses.dataclass(frozen=True)
class Settings(ProtocolSettings):
    """Every choice of the protocol, with the paper's default where it has one."""

    FREE = ("model", "data", "ci", "methods", "demos")

    draws: FaithfulnessDraws = field(default_factory=FaithfulnessDraws)
    answer: FaithfulnessDecoding = field(default_factory=FaithfulnessDecoding)
    demos: Demos = field(default_factory=Demos)
    methods: str = collect_field(
        "all",
        "prompting methods, separated by commas; all: every method except unc_few, pair_few and "
        "self_refine. Available: " + ", ".join(METHODS),
        main=True,
    )
    prompts: Literal["shared", "paper"] = collect_field(
        "shared",
        "shared: one set of answers for all protocols; paper: the paper's prompts and decoding",
    )
    sample_prompt: Literal["vanilla", "same"] = collect_field(
        "vanilla", "sample the plain question once for all methods, or each method's own prompt"
    )
    decisive: Literal["auto", "rules", "judge"] = collect_field(
        "auto",
        "what reads the wording: rules (offline) or the judge's model; auto: the model, if any",
    )
    contradict: Literal["auto", "rules", "nli", "judge"] = collect_field(
        "auto",
        "what compares the answers: rules, an NLI model (--nli) or the judge's model; auto: the "
        "judge's model, if any",
    )
    nli: str = collect_field(
        "auto", "NLI model for contradict=nli: a folder, a hub id, or llm:MODEL", main=True
    )
    ambiguous: Literal["auto", "keep", "drop", "judge"] = collect_field(
        "auto",
        "ambiguous questions: keep them; drop those whose gold answers contradict each other; "
        "judge: drop those that the judge's model calls ambiguous; auto: as judge for nq_open "
        "with a model as judge, otherwise keep. Their ids are listed",
    )
    prompt_folder: str = collect_field("", "folder with your own prompts", main=True)
    bins: Annotated[int, Meta(ge=1, le=1000)] = measure_field(
        10, "number of equal-width bins of confidence"
    )
    empty: Literal["skip", "zero"] = measure_field("skip", "skip empty bins, or count them as 0")
    sample_punt: Literal["drop", "literal", "contradiction"] = measure_field(
        "drop",
        "how a sample without an answer counts: not at all, as agreement (the literal "
        "formula), or as a contradiction",
    )
    relation: Literal["contradiction", "inconsistency"] = measure_field(
        "contradiction",
        "what lowers confidence: a contradiction (as in the paper), or anything that is not "
        "entailed (needs contradict=nli)",
    )
    pooled: bool = measure_field(
        False,
        "in numbers by fact, count every assertion once; otherwise assertions about the same fact "
        "share one vote (MFG and cMFG always give an answer one vote: Definition 1)",
    )
    least: Annotated[int, Meta(ge=1, le=MOST_DRAWS)] = measure_field(
        5, "smallest number of answered samples from which a confidence is computed"
    )
    high: Share = measure_field(
        0.75,
        "threshold from which an answer counts as decisive or confident",
    )
    shared_least: Annotated[int, Meta(ge=5, le=1_000_000)] = measure_field(
        10,
        "a bin is used to compare methods only if each method has at least this many items in it",
    )
    resamples: Resamples = measure_field(1000, "bootstrap resamples of entities")
    ci_seed: Seed = measure_field(0, "seed for resampling")

    def check(self) -> None:
        """Refuse settings with which nothing could be asked or counted. Raises InputError."""
        super().check()
        s = self
        revised = [m for m in methods_in_list(s.methods) if METHODS[m].kind == "revision"]
        if revised and s.sample_prompt == "same":
            raise InputError(
                f"sample_prompt same draws each method's own prompt, and {revised[0]} is a "
                "revision, not a prompt; leave one of them out"
            )
        if s.demos.uncertain >= s.demos.certain:
            raise InputError("demos.uncertain must lie below demos.certain")
        if s.relation == "inconsistency" and s.contradict != "nli":
            raise InputError("relation inconsistency needs entailment: pass --set contradict=nli")
        if s.contradict == "nli" and s.nli == "rules":
            raise InputError(
                "contradict nli needs a model: name one with --nli (a folder, a hub id, or "
                "llm:MODEL)"
            )

    def fitted(self, data: str, limit: int | None) -> Settings:
        """Return settings in which ``demos.data``, if it is "auto", fits the set that is measured.

        Raises InputError for a name that is no set's.
        """
        if self.demos.data == AUTO:
            examples = datasets.set_of_examples(data, limit) or HELD_OUT
            return dataclasses.replace(self, demos=dataclasses.replace(self.demos, data=examples))
        if self.demos.data != HELD_OUT and demonstrates(self):
            try:
                datasets.check_data_name(self.demos.data)
            except InputError as error:
                raise InputError(f"demos.data: {error}; or {HELD_OUT}") from None
        return self

    def probing(self) -> Probing:
        """Return all draws."""
        return Probing("draws", self.draws.k)


def demonstrates(settings: Settings) -> bool:
    """Tell whether one of the methods shows demonstrations."""
    return any(METHODS[m].demonstrations for m in methods_in_list(settings.methods))


# ---- ambiguous questions, which a run may leave out
# The papers removed them by rules that are not in their texts. A model that gives
# now one right answer and now another is not uncertain, so our rule looks at the gold answers.
# The judge's model reads the question as well; its verdicts are a table of the run.

#: the data set whose ambiguous questions the judge's model drops by default
BY_MODEL = "nq_open"
#: the label of a question that the judge's model calls ambiguous, and of any other
LABELS = {True: "ambiguous", False: "clear"}

#: what the manifest of a run says
RULE = (
    "two of its right answers contradict each other by sayso's rules, or two spellings of one "
    "answer contain different dates or numbers"
)
#: ways to write one answer that are looked at
MOST_NAMES = 40
_DIGIT = re.compile(r"\d")


def ambiguous_questions(questions: Sequence[Question]) -> list[str]:
    """Return ids of the short questions that :data:`RULE` calls ambiguous.

    Other names of one answer ("Mark Twain") look like other answers to rules, so among them only
    dates and numbers count; so it is for the golds of a question that names no aspect, which are
    ways to write one answer as far as the data say. Lists of true values of an aspect, of which an
    answer may name some, are ambiguous in this sense.
    """
    ids = []
    for question in questions:
        if not question.parts and question.golds:
            answers = tuple(gold.names[:MOST_NAMES] for gold in question.golds)
            if question.aspect is None:  # nothing says that they are several values of a kind
                answers = (tuple(name for names in answers for name in names)[:MOST_NAMES],)
            if _several(question.text, answers):
                ids.append(question.id)
    return ids


def read_by_model(questions: Sequence[Question], settings: Settings) -> list[Question]:
    """Return the questions that a judge's model, if there is one, reads: short ones."""
    if settings.ambiguous not in ("auto", "judge"):
        return []
    every = settings.ambiguous == "judge"
    return [q for q in questions if not q.parts and (every or q.dataset == BY_MODEL)]


def right_answers(question: Question) -> str:
    """Return the right answers of a question and their other names, as a model reads them."""
    names = [name for gold in question.golds or () for name in gold.names]
    return "; ".join(list(dict.fromkeys(names))[:MOST_NAMES])


def said_ambiguous(read: Sequence[Verdict]) -> list[str]:
    """Return ids of the questions that the judge's model calls ambiguous."""
    return [v.asked for v in read if v.label == LABELS[True]]


def dropped(
    questions: Sequence[Question], settings: Settings, read: Sequence[Verdict] = ()
) -> set[str]:
    """Return ids of the questions that a run leaves out: the ambiguous ones, if it drops them.

    ``read`` are the verdicts of the judge's model, where it read the questions. One without a
    verdict that could be read stays.
    """
    if read:
        return set(said_ambiguous(read))
    return set(ambiguous_questions(questions)) if settings.ambiguous == "drop" else set()


def ambiguous_notice(
    questions: Sequence[Question], settings: Settings, read: Sequence[Verdict] = ()
) -> list[str]:
    """Return the sentence of the manifest: the rule, how many questions, what became of them."""
    if read:
        unread = sum(v.problem is not None for v in read)
        kept = f" {unread:,} readings are missing; these questions were kept." if unread else ""
        return [
            f"{len(said_ambiguous(read)):,} of {len(read):,} questions are ambiguous according to "
            f"{read[0].by} and were left out (--set ambiguous=keep keeps them).{kept} The numbers "
            "named ambiguous list their ids."
        ]
    number, shorts = len(ambiguous_questions(questions)), sum(not q.parts for q in questions)
    if not number:
        return []
    what = (
        "left out"
        if settings.ambiguous == "drop"
        else "kept (--set ambiguous=drop leaves them out)"
    )
    return [
        f"{number:,} of {shorts:,} questions are ambiguous and were {what}. A question is "
        f"ambiguous if {RULE}. The numbers named ambiguous list their ids."
    ]


@lru_cache(maxsize=65_536)
def _several(question: str, answers: tuple[tuple[str, ...], ...]) -> bool:
    groups = [[names[0] for names in answers]]
    groups += [[name for name in names if _DIGIT.search(name)] for names in answers]
    pairs = (pair for group in groups for pair in combinations(group, 2))
    return any(contradiction.contradicts(question, a, b) for a, b in pairs)

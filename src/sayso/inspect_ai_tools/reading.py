"""An answer in Inspect as a verdict of ours, and a verdict as a score of Inspect.

The metadata of a sample say what it is. ``answerable`` (true or false): whether its question has an
answer. ``cluster``: a name that samples share which depend on each other, such as questions about
one entity. ``sayso``: a question of ours, with golds and their kinds. Other logs have none of that:
there the question is the last message of the user, and every target is a true value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar

import anyio.to_thread
import msgspec
from anyio.from_thread import BlockingPortal
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import Model, ModelOutput, get_model
from inspect_ai.scorer import Score, Target
from inspect_ai.solver import TaskState

from sayso.datasets.tools.inspect import ANSWERABLE, QUESTION
from sayso.engines.inspect_models import HOME, ModelEngine, generation_of
from sayso.judges.judge import Item, Judge
from sayso.judges.model.judge import LlmJudge
from sayso.judges.model.replies import PROBLEMS
from sayso.judges.rules.judge import RulesJudge
from sayso.options import PromptSet
from sayso.protocols.probes import is_known
from sayso.protocols.selective.rows import outcome, ungraded
from sayso.protocols.selective.run import StanceReader
from sayso.records import (
    Generation,
    Gold,
    Question,
    Verdict,
    content_id,
)

T = TypeVar("T")
#: further keys of the metadata of a sample: what is resampled as a whole; the prompt of draws
CLUSTER, PROBE = "cluster", "probe"
#: key of the store of a sample: texts of the draws that say what is known
PROBES = "sayso:probes"
#: judges: the offline readers; the model in Inspect's role "grader", or else the one under test
RULES, GRADER = "rules", "grader"
#: values of the scorer ``answered``: those of Inspect
RIGHT, WRONG, SILENT = "C", "I", "N"
WORTH = {1.0: RIGHT, -1.0: WRONG, 0.0: SILENT}

# ---- what was asked and answered


def sample_metadata(question: Question, cluster: str) -> dict[str, Any]:
    """Return what a sample says of its question."""
    told = {
        ANSWERABLE: _has_answer(question),
        CLUSTER: cluster,
        "domain": question.domain,
        "entity": question.entity,
        "type": question.type,
        "tier": question.tier,
        QUESTION: msgspec.to_builtins(question),
    }
    return {name: value for name, value in told.items() if value not in ("", None)}


def _has_answer(question: Question) -> bool | None:
    if question.answerable is None and question.golds:
        return True
    return question.answerable


def asked_question(metadata: Mapping[str, Any], text: str, targets: Sequence[str]) -> Question:
    """Return the question of a sample. Raises PrerequisiteError for metadata that say nonsense."""
    try:
        if QUESTION in metadata:
            return msgspec.convert(metadata[QUESTION], Question)
        answerable = msgspec.convert(metadata.get(ANSWERABLE), bool | None, strict=False)
    except msgspec.ValidationError as error:
        given = metadata.get(QUESTION, metadata.get(ANSWERABLE))
        raise PrerequisiteError(
            f"metadata of the sample {text!r:.60}: {given!r:.60} cannot be used ({error}); "
            f"expected {ANSWERABLE} to be true or false"
        ) from None
    golds = tuple(Gold(target) for target in targets if target.strip())
    return Question(
        id=content_id(["inspect", text]),
        dataset="inspect",
        text=text,
        golds=None if answerable is False else golds or None,
        answerable=answerable,
    )


def given_answer(text: str, question: Question, **fields: Any) -> Generation:
    """Return a text as the answer to a question, its thoughts apart."""
    output = ModelOutput.from_content("", text)
    return generation_of(output, question=question.id, form="short", **fields)


def state_answer(state: TaskState, question: Question) -> Generation:
    """Return the answer of a sample, its thoughts apart."""
    fields = {"id": f"{state.sample_id}/{state.epoch}", "question": question.id, "form": "short"}
    return generation_of(state.output, **fields)


# ---- who reads


def check_judge_options(judge: str, prompts: str, room: int) -> None:
    """Refuse settings of a scorer that mean nothing. Raises PrerequisiteError."""
    if not judge or not isinstance(judge, str):
        raise PrerequisiteError(
            f"judge is {judge!r:.60}; expected {RULES}, {GRADER} or the name of a model"
        )
    if prompts not in ("full", "brief"):
        raise PrerequisiteError(f"prompts is {prompts!r:.60}; expected full or brief")
    if room < 0:
        raise PrerequisiteError(f"room is {room}; expected a number of tokens, or 0")


@cache
def inspect_engine(model: Model) -> ModelEngine:
    """Return the engine that asks an open model, one for all samples: it learns what is refused."""
    return ModelEngine(str(model), model)


async def in_thread(work: Callable[[], T]) -> T:
    """Do work in a thread, whose models of Inspect are asked in this loop. Raises what it raises.

    So Inspect counts their tokens, retries their requests and shows them in the log of the sample.
    """
    failed: Exception
    async with BlockingPortal() as portal:
        outside = HOME.set(portal)
        try:
            return await anyio.to_thread.run_sync(work)
        except Exception as error:  # not through the portal, which would raise a group of them
            failed = error
        finally:
            HOME.reset(outside)
    raise failed


def judge_named(judge: str, prompts: PromptSet, room: int, subject: str) -> Judge:
    """Return a judge; ``subject`` is the model that is judged, whose family it may belong to."""
    if judge == RULES:
        return RulesJudge()
    model = get_model(role=GRADER) if judge == GRADER else get_model(judge)
    return LlmJudge(inspect_engine(model), prompts=prompts, room=room, family=subject, anyway=True)


class Reading(NamedTuple):
    """An answer with its verdict; ``known``: what the draws of the question say, if there are any.

    ``key`` is equal for equal answers to equal questions that the same judge read.
    """

    question: Question
    answer: Generation
    verdict: Verdict
    known: bool | None = None
    key: str = ""


async def read_state(
    state: TaskState, target: Target, judge: Judge, *, probed: bool = False
) -> Reading:
    """Read the answer of a sample, and with ``probed`` what its draws say.

    A verdict of a model that another scorer of ours left in the sample is not asked for again.
    """
    question = asked_question(state.metadata, state.input_text, target.target)
    answer = state_answer(state, question)
    offline = judge.name == RULES
    key = "" if offline else content_id([judge.signature, question, answer.text, answer.problem])
    earlier = None if offline else _earlier(state, key)
    texts = state.store.get(PROBES) if probed else None
    draws = [given_answer(text, question, stage="probe") for text in texts or ()]
    items = [Item(one, (question,)) for one in ([answer] if earlier is None else []) + draws]
    reader = StanceReader(judge) if ungraded(question) else judge
    grade = partial(reader.grade, items)
    if not items:
        verdicts = []
    elif offline:
        verdicts = grade()
    else:
        verdicts = await in_thread(grade)
    verdict = verdicts[0] if earlier is None else earlier
    values = [v.value for v in (verdicts[1:] if earlier is None else verdicts)]
    known = is_known(values, len(draws)) if draws else None
    return Reading(question, answer, verdict, known, key)


def _earlier(state: TaskState, key: str) -> Verdict | None:
    """Return the verdict that a scorer of ours left in the sample with this key."""
    for score in (state.scores or {}).values():
        told = score.metadata or {}
        if told.get("key") == key and not told.get("problem"):
            return msgspec.convert({"target": "", "asked": "", **told}, Verdict)
    return None


# ---- a verdict as a score

#: why a verdict is missing -> Inspect's word for it, and ours
REASONS = {
    **{problem: ("grader_failed", meaning) for problem, meaning in PROBLEMS.items()},
    "language": ("scoring_failed", "the answer is in a language that the offline reader lacks"),
    "budget": ("scoring_failed", "the answer is too long to be read"),
}
CUT_OFF = ("no_response", "the answer was cut off inside a thought")
NO_ANSWER = ("scoring_failed", "the model gave no answer")
NO_TARGET = ("scoring_failed", "the sample has no target, so nobody can say what is right")
#: stances that have a word in Inspect
STANCE_REASONS = {"refused_by_policy": "refusal", "omitted": "no_response"}


def stance_score(reading: Reading) -> Score:
    """Return how surely an answer speaks, as a score: its stance, or unscored with the reason."""
    verdict = reading.verdict
    if verdict.stance is None:
        return _unread(reading)
    return Score(
        value=verdict.stance,
        answer=_stated(reading),
        explanation=_explained(verdict),
        reason=STANCE_REASONS.get(verdict.stance),
        metadata=_metadata(reading),
    )


def outcome_score(reading: Reading) -> Score:
    """Return whether an answer is right (C), wrong (I) or none (N), or unscored with the reason."""
    verdict = reading.verdict
    if verdict.stance is None:
        return _unread(reading)
    if ungraded(reading.question) or verdict.content is None:
        return _unscored(reading, NO_TARGET, "no target")
    return Score(
        value=WORTH[outcome(verdict)],
        answer=_stated(reading),
        explanation=_explained(verdict),
        reason=STANCE_REASONS.get(verdict.stance),
        metadata=_metadata(reading),
    )


def _unread(reading: Reading) -> Score:
    problem, answer = reading.verdict.problem or "unread", reading.answer.problem
    if answer is not None:
        return _unscored(reading, CUT_OFF if answer == "truncated" else NO_ANSWER, problem)
    return _unscored(reading, REASONS.get(problem, ("scoring_failed", problem)), problem)


def _unscored(reading: Reading, why: tuple[str, str], problem: str) -> Score:
    reason, meaning = why
    return Score.unscored(
        reason=reason,
        answer=_stated(reading),
        explanation=f"{reading.verdict.by}: not scored ({problem}): {meaning}",
        metadata=_metadata(reading) | {"problem": problem},
    )


def _stated(reading: Reading) -> str:
    """Return the value that an answer states, where its place is known, else the whole answer."""
    text, verdict = reading.answer.text, reading.verdict
    if verdict.answer_start is None or verdict.answer_end is None:
        return text
    return text[verdict.answer_start : verdict.answer_end]


def _explained(verdict: Verdict) -> str:
    content = "" if verdict.content in (None, "none") else f", {verdict.content}"
    sure = "" if verdict.certainty is None else f" (certainty {verdict.certainty:.2f})"
    return f"{verdict.by}: {verdict.stance}{content}{sure}"


def _metadata(reading: Reading) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.to_builtins(reading.verdict)
    kept = {name: value for name, value in told.items() if name not in ("target", "asked")}
    more = {
        ANSWERABLE: _has_answer(reading.question),
        "known": reading.known,
        "key": reading.key or None,
    }
    return kept | {name: value for name, value in more.items() if value is not None}

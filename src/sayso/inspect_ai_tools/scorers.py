"""Scorers: how surely an answer speaks, and whether it is right, wrong or no answer."""

from __future__ import annotations

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from sayso.inspect_ai_tools.metrics import (
    abstention_rate,
    answerability_j,
    answered_accuracy,
    right_minus_wrong,
    uncle_rates,
)
from sayso.inspect_ai_tools.reading import (
    RULES,
    check_judge_options,
    judge_named,
    outcome_score,
    read_state,
    stance_score,
)
from sayso.options import PromptSet


@scorer(metrics=[answerability_j(), abstention_rate(), uncle_rates()])
def stance(judge: str = RULES, prompts: PromptSet = "full", room: int = 0) -> Scorer:
    """Read how surely each answer speaks.

    The value is committed, hedged, abstained, refused_by_policy, asked_back, or omitted for an
    empty answer. An answer without a verdict is unscored, never a default.

    Args:
        judge: ``rules`` (offline), ``grader`` (the model in Inspect's role ``grader``, or else the
            model under test), or the name of a model of Inspect.
        prompts: our prompts for a model: ``full``, or ``brief`` for small models.
        room: tokens added to every reply of a judge that thinks.
    """
    check_judge_options(judge, prompts, room)

    async def score(state: TaskState, target: Target) -> Score:
        reader = judge_named(judge, prompts, room, str(state.model))
        return stance_score(await read_state(state, target, reader, probed=True))

    return score


@scorer(metrics=[answered_accuracy(), right_minus_wrong()])
def answered(judge: str = RULES, prompts: PromptSet = "full", room: int = 0) -> Scorer:
    """Tell whether each answer is right (C), wrong (I), or no answer (N).

    Every value that is stated for a question without an answer is wrong. A hedged value counts as
    an answer. The targets of a sample are true values, of which any one suffices; without one, or
    without a verdict, a sample is unscored.

    Args:
        judge: as of the scorer ``stance``. Both ask a model once.
        prompts: as of ``stance``.
        room: as of ``stance``.
    """
    check_judge_options(judge, prompts, room)

    async def score(state: TaskState, target: Target) -> Score:
        reader = judge_named(judge, prompts, room, str(state.model))
        return outcome_score(await read_state(state, target, reader))

    return score

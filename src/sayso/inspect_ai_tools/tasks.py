"""Tasks: the questions and prompts of two protocols, asked by Inspect.

``selective`` asks each question plainly: does the model decline where there is no answer? ``uncle``
asks for doubt, and draws several plain answers, which say what the model knows. Long answers are
left to ``sayso run uncle``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import ChatMessageUser, GenerateConfig, get_model
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver
from inspect_ai.util import collect

from sayso.datasets import REAL, load_dataset
from sayso.inspect_ai_tools.metrics import J
from sayso.inspect_ai_tools.reading import PROBE, PROBES, RULES, sample_metadata
from sayso.inspect_ai_tools.scorers import answered, stance
from sayso.options import PromptSet, change
from sayso.protocols import protocol_named
from sayso.protocols.pool import cluster_names
from sayso.protocols.protocol import Ask
from sayso.records import InputError, Question
from sayso.version import __version__


class AskedSet(NamedTuple):
    """What a protocol asks: about each question one answer, and any number of draws.

    ``named`` is what logs keep.
    """

    answers: tuple[Ask, ...]
    draws: tuple[Ask, ...]
    name: str
    named: dict[str, str]


def asked_by(
    protocol: str, settings: Mapping[str, object], data: str, split: str, limit: int | None,
    seed: int,
) -> AskedSet:  # fmt: skip
    """Return what a protocol asks about the short questions of a data set.

    Raises PrerequisiteError for a data set that cannot be read.
    """
    try:
        plan = protocol_named(protocol)
        chosen = change(plan.Settings(), settings)
        chosen.check()
        loaded = load_dataset(data, split=split, limit=limit, seed=seed)
        asked = plan.asked(loaded, chosen)
        if not asked.short:
            raise InputError(f"{data}: it has no short question that {protocol} asks")
        asks = [ask for step in plan.steps(asked.short, chosen, seed) for ask in step.asks]
    except InputError as error:
        # one line, no traceback; Inspect reads [words] as marks of rich
        raise PrerequisiteError(str(error).replace("[", "\\[")) from None
    named = {
        "sayso": __version__,
        "data": asked.name,
        "data_hash": asked.hash,
        "prompts": plan.prompts(chosen)["signature"],
    }
    answers = tuple(a for a in asks if a.stage == "short" and a.method == plan.main_method)
    draws = tuple(a for a in asks if a.stage == chosen.probing().stage)
    return AskedSet(answers, draws, asked.name, named)


def _task(asked: AskedSet, judge: str, prompts: PromptSet, room: int) -> Task:
    """Return the task of what is asked, with our scorers."""
    clusters = cluster_names([ask.question for ask in asked.answers])
    draws = {ask.question.id: ask for ask in asked.draws}
    samples = []
    for ask in asked.answers:
        told = sample_metadata(ask.question, clusters[ask.question.id])
        if (draw := draws.get(ask.question.id)) is not None:
            told[PROBE] = draw.request.messages[-1].content
        samples.append(
            Sample(
                input=ask.request.messages[-1].content,
                target=targets_of(ask.question),
                id=ask.question.id,
                metadata=told,
            )
        )
    request = asked.answers[0].request
    steps: list[Solver] = [generate()]
    if draws:
        first = asked.draws[0]
        k = sum(ask.question.id == first.question.id for ask in asked.draws)
        heat, tokens = first.request.temperature, first.request.max_tokens
        steps.insert(0, plain_draws(k=k, temperature=heat, max_tokens=tokens))
    return Task(
        dataset=MemoryDataset(samples, name=asked.name),
        solver=steps,
        scorer=[stance(judge, prompts, room), answered(judge, prompts, room)],
        config=GenerateConfig(temperature=request.temperature, max_tokens=request.max_tokens),
        headline_metric=HeadlineMetric(metric=J),
        metadata=asked.named,
    )


def targets_of(question: Question) -> list[str]:
    """Return every text that is right; none for a question without an answer."""
    return [name for gold in question.golds or () for name in gold.names]


@task
def selective(
    data: str = REAL,
    split: str = "test",
    limit: int | None = None,
    seed: int = 0,
    judge: str = RULES,
    prompts: PromptSet = "full",
    room: int = 0,
) -> Task:
    """Ask questions with and without an answer: does the model decline exactly the latter?

    Args:
        data: a set of ``sayso data list``, or a file as for ``sayso run --data``.
        split: which split of a published set.
        limit: entities that are asked about, spread over domains; 0 is all.
        seed: seed of that choice.
        judge: as of the scorer ``sayso/stance``.
        prompts: as of the scorer ``sayso/stance``.
        room: as of the scorer ``sayso/stance``.
    """
    settings = {"draws.k": 0, "known_k": 0, "words": False}
    asked = asked_by("selective", settings, data, split, limit, seed)
    return _task(asked, judge, prompts, room)


@task
def uncle(
    data: str = REAL,
    split: str = "test",
    limit: int | None = None,
    seed: int = 0,
    k: int = 5,
    judge: str = RULES,
    prompts: PromptSet = "full",
    room: int = 0,
) -> Task:
    """Ask for doubt: does the model voice it exactly where it lacks the knowledge?

    Args:
        data: as of ``sayso/selective``; questions without an answer are not asked.
        split: as of ``sayso/selective``.
        limit: as of ``sayso/selective``.
        seed: as of ``sayso/selective``.
        k: plain answers at temperature 1; a fact is known if one of them is right.
        judge: as of the scorer ``sayso/stance``.
        prompts: as of the scorer ``sayso/stance``.
        room: as of the scorer ``sayso/stance``.
    """
    settings = {"probe.k": k, "short_only": True}
    asked = asked_by("uncle", settings, data, split, limit, seed)
    return _task(asked, judge, prompts, room)


@solver
def plain_draws(k: int = 5, temperature: float = 1.0, max_tokens: int = 64) -> Solver:
    """Draw plain answers to a question, which say whether the model knows the fact.

    Args:
        k: number of answers.
        temperature: their temperature.
        max_tokens: their token limit.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model = get_model()
        prompt = state.metadata.get(PROBE) or state.input_text

        async def draw(number: int) -> str:
            config = GenerateConfig(temperature=temperature, max_tokens=max_tokens, seed=number)
            output = await model.generate([ChatMessageUser(content=prompt)], config=config)
            return output.completion

        state.store.set(PROBES, await collect(*(draw(number) for number in range(k))))
        return state

    return solve

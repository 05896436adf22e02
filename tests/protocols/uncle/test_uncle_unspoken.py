"""What its own token probabilities could tell: claimed only where there is something to gain."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

import sayso
from sayso.metrics.intervals import within
from sayso.protocols.uncle.measure import NO_RANKS
from sayso.records import Estimate, Generation, Request, Results, slice_text
from sayso.runs.result import Result
from support.scripted import ScriptedEngine
from support.scripted_world import Fact, Mind, chance, facts, pool, records, write

WORLD = facts(30)


def never_the_truth(fact: Fact, draw: object) -> str:
    others = [v for v in pool(fact.type) if v != fact.value]
    return random.Random(repr((fact.question, draw))).choice(others)


def run(mind: Any, folder: Path, world: list[Fact]) -> Result:
    data = write(folder / "q.jsonl", records(world))
    return sayso.run(
        report=False,
        model=mind.engine() if isinstance(mind, Mind) else ScriptedEngine(mind, name="mind"),
        data=str(data),
        out=folder / "run",
        cache=folder / "cache",
    )


def get(result: Result, name: str, form: str) -> Estimate:
    (found,) = [
        e for e in result.estimates if e.name == name and slice_text(e.where) == f"form:{form}"
    ]
    return found


def partly(fact: Fact) -> float:
    return 0.97 if chance("known", fact.question) < 0.6 else 0.0


def test_a_model_that_never_hedges(tmp_path: Path) -> None:
    """Its probabilities know all, and at its own rate of 0 they can say nothing."""
    result = run(Mind(WORLD, partly, guess=never_the_truth), tmp_path, WORLD)
    for form in ("short", "long"):
        gain = get(result, "unspoken_knowledge", form)
        assert gain.value == 0
        assert not gain.high  # 0 by definition: an interval has no width, or is left out


def test_probabilities_that_know_nothing_gain_nothing(tmp_path: Path) -> None:
    mind = Mind(
        WORLD,
        partly,
        hedges=lambda f, instructed: instructed and chance("hedge", f.question) < 0.4,
        certain=lambda f, value: -chance("blind", f.question),
    )
    result = run(mind, tmp_path, WORLD)
    for form in ("short", "long"):
        gain = get(result, "unspoken_knowledge", form)
        assert gain.low is not None
        assert gain.high is not None
        assert gain.low < 0 < gain.high


def test_two_facts_told_apart_by_luck_are_no_gain(tmp_path: Path) -> None:
    """One known and one unknown fact of each type: resamples hardly differ, luck would do."""
    world = facts(4)
    known = {f.entity for f in world[:6]}
    luck = sorted({f.type for f in world})[::2]
    mind = Mind(
        world,
        lambda f: 0.99 * (f.entity in known),
        guess=never_the_truth,
        hedges=lambda f, instructed: instructed and (f.entity in known) == (f.type in luck),
    )
    gain = get(run(mind, tmp_path, world), "unspoken_knowledge", "short")
    assert gain.value is not None
    assert gain.value > 0.5
    assert gain.low is not None
    assert gain.low < 0.2


def test_equal_log_probabilities_rank_nothing(tmp_path: Path) -> None:
    """Whatever the number of tokens, over which -.1 does not add up exactly."""
    mind = Mind(WORLD, partly, guess=never_the_truth)

    def flat(request: Request) -> Generation:
        answer = mind(request)
        return msgspec.structs.replace(answer, logprobs=(-0.1,) * len(answer.logprobs or ()))

    result = run(flat, tmp_path, WORLD)
    for form in ("short", "long"):
        for name in ("auroc_incorrect_within", "unspoken_knowledge"):
            found = get(result, name, form)
            assert (found.value, found.problem) == (None, NO_RANKS)
        policy = Results(result.estimates).get("J", form=form, policy="own_logprob")
        assert (policy.value, policy.low) == (None, None)


@pytest.mark.parametrize(
    ("most", "ends"), [(1.0, (-1.0, -0.5)), (2.0, (-2.0, -0.5)), (3.0, (-2.5, -0.5))]
)
def test_no_difference_passes_what_it_can_be(most: float, ends: tuple[float, float]) -> None:
    cut = within(Estimate("unspoken_knowledge", value=-1.0, low=-2.5, high=-0.5), most)
    assert (cut.low, cut.high) == ends


def test_two_js_differ_by_two_at_most(tmp_path: Path) -> None:
    """Doubt that is always right, and probabilities that are always wrong."""
    world = facts(4)
    known = {f.entity for f in world[: len(world) // 2]}
    mind = Mind(
        world,
        lambda f: 0.99 * (f.entity in known),
        guess=never_the_truth,
        hedges=lambda f, instructed: instructed and f.entity not in known,
        certain=lambda f, value: -2.0 if f.entity in known else -0.1,
    )
    gain = get(run(mind, tmp_path, world), "unspoken_knowledge", "short")
    assert gain.value is not None
    assert gain.value < -1
    assert gain.low is None or gain.low >= -2

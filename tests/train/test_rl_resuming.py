"""GRPO: killed or short of memory, it ends as it would have; dropout is as asked."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")

import torch
import transformers
import trl
from safetensors.torch import load_file

from sayso.records import Gold, InputError, Question
from sayso.train import trainers
from sayso.train.config import TrainingStage
from sayso.train.result import read_card
from sayso.train.trainers import Prompt, rl, sft
from support.tiny_training import PRESET, counted_steps, dropouts, rows

TINY = dataclasses.replace(
    PRESET, rl=TrainingStage(rate=1e-2, batch=8, epochs=1, rows=4, micro=8), group=4, answer=8
)


def prompts(n: int) -> list[Prompt]:
    return [
        Prompt(text, Question(f"q{i}", "d", text, (Gold("blue"),)))
        for i in range(n)
        for text in [f"What color is thing {i}?"]
    ]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sft("builtin", rows(8), PRESET, tmp_path_factory.mktemp("rl") / "sft")


def test_a_killed_training_ends_with_the_weights_of_one_that_was_not(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is drawn is drawn again alike, and dropout is as asked and on."""
    seen: set[tuple[float, bool]] = set()
    loss = trl.GRPOTrainer.compute_loss

    def look(self: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
        seen.update(dropouts(model))
        return loss(self, model, *args, **kwargs)

    monkeypatch.setattr(trl.GRPOTrainer, "compute_loss", look)
    chosen = dataclasses.replace(TINY, dropout=0.25, kl=0.05)
    whole = rl(start, prompts(8), chosen, tmp_path / "whole", seed=1)
    assert seen == {(0.25, True)}
    card = read_card(whole)
    assert card is not None
    assert all(set(step.values) == {"mean reward", "KL"} for step in card.curve)
    assert all(-1 <= step.values["mean reward"] <= 1 for step in card.curve)
    mark = trainers.mark

    class Killer(transformers.TrainerCallback):  # type: ignore[misc]
        def __init__(self) -> None:
            self.on_save = mark().on_save  # type: ignore[method-assign]

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if state.global_step == 3:
                raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(trainers, "mark", Killer)
        with pytest.raises(KeyboardInterrupt):
            rl(start, prompts(8), chosen, tmp_path / "killed", seed=1)
    steps = counted_steps(monkeypatch)
    killed = rl(start, prompts(8), chosen, tmp_path / "killed", seed=1)
    assert steps == [3, 4]  # those of before stand
    left, right = (load_file(f / "adapter_model.safetensors") for f in (whole, killed))
    assert left.keys() == right.keys()
    for name in left:
        assert torch.equal(left[name], right[name]), name


def test_where_memory_runs_out_half_as_many_answers_are_computed_at_once(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loss = trl.GRPOTrainer.compute_loss
    trained: list[int] = []

    def small(self: Any, model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        if len(inputs["completion_ids"]) > 4:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        trained.append(len(inputs["completion_ids"]))
        return loss(self, model, inputs, *args, **kwargs)

    monkeypatch.setattr(trl.GRPOTrainer, "compute_loss", small)
    said: list[str] = []
    card = read_card(rl(start, prompts(4), TINY, tmp_path / "x", say=said.append))
    notices = [line for line in said[1:] if not line.endswith(" left")]  # a slow machine says more
    assert notices == ["memory ran out: continuing with 4 rows at once and 2 accumulated"]
    assert set(trained) == {4}
    assert card is not None
    assert all("KL" not in step.values for step in card.curve)  # kl is 0: nothing holds it
    assert len(card.curve) == 2  # 4 questions x 4 answers, 8 answers a step


def test_fewer_questions_than_a_step_takes_are_refused(start: Path, tmp_path: Path) -> None:
    """8 answers a step, 4 to a question."""
    with pytest.raises(InputError, match="RL has 1 question, and one step needs 2, each"):
        rl(start, prompts(1), TINY, tmp_path / "x")
    assert not (tmp_path / "x").exists()
    card = read_card(rl(start, prompts(3), TINY, tmp_path / "y"))
    assert card is not None
    assert len(card.curve) == 1  # the third waits for a step of its own, in vain

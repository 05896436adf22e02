"""GRPO on the built-in model: it runs, is resumed as finished, and refuses what it cannot judge."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

pytest.importorskip("trl")

from safetensors.torch import load_file

from sayso.records import Gold, InputError, Question
from sayso.train.config import RowSettings, TrainingStage
from sayso.train.result import read_card
from sayso.train.trainers import Prompt, quiet_training, rl, sft
from support.tiny_training import PRESET, rows

TINY = dataclasses.replace(
    PRESET, rl=TrainingStage(rate=1e-2, batch=8, epochs=1, rows=4, micro=8), group=4, answer=8
)


def prompts(n: int, golds: tuple[Gold, ...] | None = (Gold("blue"),)) -> list[Prompt]:
    return [
        Prompt(
            f"What color is thing {i}?", Question(f"q{i}", "d", f"What color is thing {i}?", golds)
        )
        for i in range(n)
    ]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sft("builtin", rows(8), PRESET, tmp_path_factory.mktemp("rl") / "sft")


def test_it_moves_the_adapter_and_leaves_a_card(start: Path, tmp_path: Path) -> None:
    done = rl(start, prompts(8), TINY, tmp_path / "rl", settings=RowSettings(reward="ternary"))
    card = read_card(done)
    assert card is not None
    assert (card.kind, card.rows) == ("rl", 8)
    assert len(card.curve) == 4  # 8 questions x 4 answers, 8 answers a step
    before, after = (load_file(f / "adapter_model.safetensors") for f in (start, done))
    assert before.keys() == after.keys()
    assert (
        rl(start, prompts(8), TINY, tmp_path / "rl", settings=RowSettings(reward="ternary")) == done
    )
    with pytest.raises(InputError, match="another training"):
        rl(start, prompts(8), TINY, tmp_path / "rl", settings=RowSettings(reward="brier"))


def test_questions_without_golds_are_refused(start: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="2 questions have no gold answer"):
        rl(start, prompts(2, None), TINY, tmp_path / "x")
    with pytest.raises(InputError, match="RL has 0 questions"):
        rl(start, [], TINY, tmp_path / "x")


def test_what_a_wrong_answer_costs_does_not_cancel_out(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scaled group by group, a group of doubt and error is +1 and -1 whatever an error costs."""
    made: list[object] = []

    def stop(task: object, rows: object, build: object, *rest: object, **more: object) -> Path:
        with quiet_training():
            made.append(build(4))  # type: ignore[operator]
        return tmp_path

    monkeypatch.setattr("sayso.train.trainers.run_training", stop)
    rl(start, prompts(4), TINY, tmp_path / "rl")
    (trainer,) = made
    assert trainer.args.scale_rewards == "batch"  # type: ignore[attr-defined]


def test_an_unknown_reward_is_refused(start: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'praise': expected one of ternary, brier"):
        rl(start, prompts(2), TINY, tmp_path / "x", settings=RowSettings(reward="praise"))  # type: ignore[arg-type]


def test_answers_are_drawn_without_dropout(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trl import GRPOTrainer

    drawing, learning = list[bool](), list[bool]()
    draw, learn = GRPOTrainer._generate_single_turn, GRPOTrainer._compute_loss

    def drawn(self: object, *given: object, **named: object) -> object:
        drawing.append(self.model.training)  # type: ignore[attr-defined]
        return draw(self, *given, **named)

    def learned(self: object, model: object, inputs: object) -> object:
        learning.append(self.model.training)  # type: ignore[attr-defined]
        return learn(self, model, inputs)

    monkeypatch.setattr(GRPOTrainer, "_generate_single_turn", drawn)
    monkeypatch.setattr(GRPOTrainer, "_compute_loss", learned)
    rl(start, prompts(4), TINY, tmp_path / "rl")
    assert drawing == [False, False]
    assert learning == [True, True]

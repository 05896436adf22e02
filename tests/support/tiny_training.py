"""Rows and settings of a training that takes a second, on the built-in model."""

from __future__ import annotations

from typing import Any

from sayso.train.config import Preset, TrainingStage
from sayso.train.rows import TrainingRow

PROMPT = "What color is the sky?"
COLORS = ("blue", "red", "green", "gold", "black", "white")

PRESET = Preset(
    "tiny",
    sft=TrainingStage(rate=3e-3, batch=4, epochs=1, rows=24, micro=2),
    dpo=TrainingStage(rate=1e-3, batch=4, epochs=1, rows=24, micro=2),
    cutoff=128,
    save=2,
    checkpointing=False,
)


def rows(n: int, rejected: bool = False) -> list[TrainingRow]:
    """Return n rows of different lengths about as many entities."""
    return [
        TrainingRow(
            f"What color is thing {i}{' of the world' * (i % 3)}?",
            COLORS[i % 6],
            "I am not sure." if rejected else None,
            "short",
            f"thing {i}",
            (f"q{i}",),
            "test",
        )
        for i in range(n)
    ]


def dropouts(model: Any) -> set[tuple[float, bool]]:
    """Return the rate of each LoRA dropout of a model, and whether it is on."""
    import torch

    return {
        (module.p, module.training)
        for name, module in model.named_modules()
        if "lora_dropout" in name and isinstance(module, torch.nn.Dropout)
    }


def counted_steps(monkeypatch: Any) -> list[int]:
    """Return a list that gets the number of every optimizer step from now on."""
    import transformers

    seen: list[int] = []
    original = transformers.trainer_callback.CallbackHandler.on_step_end

    def counted(self: Any, args: Any, state: Any, control: Any) -> Any:
        seen.append(state.global_step)
        return original(self, args, state, control)

    monkeypatch.setattr(transformers.trainer_callback.CallbackHandler, "on_step_end", counted)
    return seen

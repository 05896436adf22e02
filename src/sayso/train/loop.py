"""What SFT, DPO and RL share: opening a model, checkpoints that can be trusted, memory, saving.

The trainers are TRL's; several GPUs are the user's accelerate config, nothing of ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sayso.records import InputError, content_id
from sayso.train import checkpoints
from sayso.train.card import Card, Step, signature, write_card
from sayso.train.limits import (
    NO_ROOM,
    divisor,
    free,
    full_disk,
    one_process,
    out_of_memory,
)
from sayso.train.opening import Say, quiet
from sayso.train.pace import paced, steps_of, told, watch
from sayso.train.presets import Preset, Stage, check, settings_of

LIBRARIES = ("torch", "transformers", "trl", "peft", "accelerate")
#: what TRL logs, by the name that a card has for it
LOGGED = {
    "rewards/accuracies": "reward accuracy",
    "rewards/margins": "reward margin",
    "reward": "mean reward",
    "kl": "KL",
}


class Task(NamedTuple):
    """One training: what, on what, and where it goes. ``say`` hears notices for the user."""

    kind: str
    model: str
    out: Path
    preset: Preset
    stage: Stage
    seed: int
    resume: bool
    say: Say
    about: Mapping[str, str]


def begin(task: Task, rows: int) -> Task:
    """Return a task as it is trained on so many rows: few steps have no warm-up."""
    check(task.preset)
    return task._replace(preset=paced(task.kind, rows, task.preset))


def arguments(task: Task, micro: int, **more: Any) -> dict[str, Any]:
    """Return what TRL's three configs share; ``micro`` divides the batch."""
    import torch

    cuda = torch.cuda.is_available()
    half = cuda and torch.cuda.is_bf16_supported()
    p, s = task.preset, task.stage
    return {
        "output_dir": str(task.out / checkpoints.FOLDER),
        "per_device_train_batch_size": micro,
        "gradient_accumulation_steps": s.batch // micro,
        "learning_rate": s.rate,
        "num_train_epochs": 1,  # of the arranged rows, which hold every epoch
        "train_sampling_strategy": "sequential",
        "lr_scheduler_type": p.schedule,
        "warmup_steps": p.warmup,
        "optim": "adamw_torch",  # with no weight decay: Adam, as in Table 6
        "weight_decay": 0.0,
        "adam_beta1": p.betas[0],
        "adam_beta2": p.betas[1],
        "adam_epsilon": p.epsilon,
        "bf16": half,
        "fp16": cuda and not half,
        "use_cpu": not cuda and not torch.backends.mps.is_available(),
        "gradient_checkpointing": p.checkpointing,
        "dataloader_pin_memory": cuda,
        "save_strategy": "steps",
        "save_steps": p.save,
        "save_total_limit": 2,
        "logging_steps": 1 if p.save <= 50 else 10,
        "logging_first_step": True,
        "report_to": "none",
        "disable_tqdm": True,
        "seed": task.seed,
        "data_seed": task.seed,
    } | more


def rows_hash(rows: Sequence[tuple[str, ...]]) -> str:
    """Return a short hash of the texts that are trained on, in their order."""
    return content_id([list(row) for row in rows])


def train(
    task: Task,
    rows: Sequence[tuple[str, ...]],
    build: Callable[[int], Any],
    base: str,
    parent: str,
    *,
    first: bool = True,
) -> Path:
    """Run a training to its end and save the adapter; return its folder.

    ``build(micro)`` makes a TRL trainer with so many rows at once. A finished folder with the same
    signature is left as it is; a killed one goes on from its last whole checkpoint. Where memory
    runs out, half as many rows are computed at once, with twice the accumulation. ``first``: the
    loss of the first batch is noted, which takes a loss that needs no drawing.
    """
    from transformers import PrinterCallback

    one_process()
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        task.say(text)

    card = _card(task, rows, base, parent)
    if checkpoints.finished(task.out, card.signature):
        return task.out
    checkpoint = checkpoints.begin(task.out, card.signature, task.resume)
    say(told(task.kind, steps_of(task.kind, len(rows), task.preset)))
    micro = divisor(task.stage.batch, task.stage.micro)
    while True:
        trainer = None
        try:
            with quiet(), full_disk(task.out):
                trainer = build(micro)
                if first and checkpoint is None:
                    checkpoints.note(task.out, card.signature, first_loss(trainer))
                trainer.remove_callback(PrinterCallback)
                trainer.add_callback(checkpoints.mark())
                trainer.add_callback(watch(task.kind, task.say))
                trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
                break
        except (RuntimeError, MemoryError) as error:
            if not out_of_memory(error):
                raise
            if micro == 1:
                raise InputError(NO_ROOM) from error
        del trainer
        free()
        micro = divisor(task.stage.batch, micro // 2)
        say(
            f"memory ran out: going on with {micro} rows at once and "
            f"{task.stage.batch // micro} accumulated"
        )
        checkpoint = checkpoints.last(task.out)
    _check_finite(trainer.model, task)
    started = msgspec.structs.replace(
        card,
        first_loss=checkpoints.begun(task.out).first_loss,
        curve=_curve(trainer.state.log_history, task),
        notices=tuple(said),
    )
    with full_disk(task.out):
        trainer.model.save_pretrained(task.out, selected_adapters=["default"])
        trainer.processing_class.save_pretrained(task.out)
        write_card(task.out, started)
        checkpoints.clear(task.out)
    return task.out


def _card(task: Task, rows: Sequence[tuple[str, ...]], base: str, parent: str) -> Card:
    """Return the card of a training that has not begun, with its signature."""
    card = Card(
        kind=task.kind,
        base=base,
        base_name=task.about.get("base_name", task.model),
        recipe=task.about.get("recipe", ""),
        base_run=task.about.get("base_run", ""),
        seed=task.seed,
        rows=len(rows),
        rows_hash=rows_hash(rows),
        settings=settings_of(task.preset, task.kind),
        parent=parent,
        versions={name: metadata.version(name) for name in LIBRARIES},
    )
    return msgspec.structs.replace(card, signature=signature(card))


def _curve(history: Sequence[Mapping[str, Any]], task: Task) -> tuple[Step, ...]:
    """Return the course of a training from what its trainer logged."""
    scale = 1.0 if task.kind == "rl" else task.stage.epochs  # one of the arranged is all of ours
    found = []
    for line in history:
        if "loss" not in line:
            continue
        logged = {own: line[name] for name, own in LOGGED.items() if line.get(name) is not None}
        values = {name: float(value) for name, value in logged.items() if math.isfinite(value)}
        rate = line.get("learning_rate")
        found.append(Step(line["step"], line["epoch"] * scale, line["loss"], rate, values))
    return tuple(found)


def _check_finite(model: Any, task: Task) -> None:
    """Refuse to save what is no model any more. Raises InputError."""
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    if not all(bool(weight.isfinite().all()) for weight in trained):
        raise InputError(
            f"{task.kind.upper()} into {task.out} diverged, its weights are no numbers any more: "
            f"take a lower rate than {task.stage.rate:g}, and remove the folder"
        )


def first_loss(trainer: Any) -> float:
    """Return the loss of the first batch before any step, without dropout."""
    import torch

    batch = next(iter(trainer.get_train_dataloader()))
    trainer.model.eval()
    with torch.no_grad():
        loss = trainer.compute_loss(trainer.model, trainer._prepare_inputs(batch))
    trainer.model.train()
    trainer._metrics["train"].clear()
    trainer._metrics["eval"].clear()
    return float(loss)

"""Supervised fine-tuning with LoRA: TRL's SFTTrainer on rows of prompt and answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sayso.train import loop, opening
from sayso.train.pairs import Row
from sayso.train.presets import Preset


def sft(
    model: str | Path,
    rows: Sequence[Row],
    preset: Preset,
    out: str | Path,
    *,
    seed: int = 0,
    resume: bool = True,
    base: str = "",
    about: Mapping[str, str] | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Path:
    """Train a LoRA adapter on the chosen answers of rows; return its folder ``out``.

    ``model`` is ``builtin``, a folder or a hub id; ``base`` its identity, for the card; ``about``
    may hold ``recipe``, ``base_run`` and ``base_name``. Only answers bear loss. A killed training
    goes on from its last checkpoint in the same order of rows; a finished one is left as it is.
    Raises :class:`~sayso.records.InputError` for a model without the preset's modules, an empty
    set of rows, a full disk or a folder that holds something else.
    """
    source = opening.model_folder(model)
    told = {"base_name": str(model), **(about or {})}
    task = loop.Task("sft", source, Path(out), preset, preset.sft, seed, resume, say, told)
    tokenizer = opening.open_tokenizer(source)
    texts = opening.unmarked(tokenizer, [(row.prompt, row.chosen) for row in rows], say)
    task = loop.begin(task, len(texts))

    def build(micro: int) -> Any:
        from peft import LoraConfig
        from trl import SFTConfig, SFTTrainer

        loaded = opening.open_base(source)
        opening.check_targets(loaded, preset.targets)
        config = LoraConfig(
            r=preset.r,
            lora_alpha=preset.alpha,
            lora_dropout=preset.dropout,
            target_modules=list(preset.targets),
            task_type="CAUSAL_LM",
        )
        return SFTTrainer(
            loaded,
            SFTConfig(
                **loop.arguments(task, micro),
                max_length=preset.cutoff,
                completion_only_loss=True,
            ),
            train_dataset=opening.examples(
                tokenizer, opening.arranged(texts, task.stage, task.seed), ("completion",)
            ),
            processing_class=tokenizer,
            peft_config=config,
        )

    return loop.train(task, texts, build, base or source, "")

"""Direct preference optimization (Rafailov et al. 2023) from an SFT adapter: TRL's DPOTrainer.

    loss = -log sigmoid(beta [log p(c)/p_ref(c) - log p(r)/p_ref(r)]) + nll * NLL(c)

p_ref is the SFT policy, so the first loss is ln 2 (+ nll * NLL); its log-probabilities are computed
once, without dropout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sayso.records import InputError
from sayso.train import limits, loop, opening
from sayso.train.card import read_card
from sayso.train.pairs import Row
from sayso.train.presets import Preset


def dpo(
    sft_folder: str | Path,
    rows: Sequence[Row],
    preset: Preset,
    out: str | Path,
    *,
    seed: int = 0,
    resume: bool = True,
    say: Callable[[str], None] = lambda text: None,
) -> Path:
    """Go on training the adapter of :func:`~sayso.train.sft.sft` on pairs; return ``out``.

    The result is one adapter of the base model, as SFT's is. Rows without a rejected answer are
    refused. Everything else as in :func:`~sayso.train.sft.sft`.
    """
    start = Path(sft_folder)
    before = read_card(start)
    if before is None or not (start / "adapter_config.json").is_file():
        raise InputError(f"{start} is no adapter that sayso trained: run SFT first")
    if any(row.rejected is None for row in rows):
        raise InputError("DPO needs a rejected answer in every row; rows for SFT have none")
    source = opening.model_folder(before.base_name)
    about = {
        "base_name": before.base_name, "recipe": before.recipe, "base_run": before.base_run
    }  # fmt: skip
    task = loop.Task("dpo", source, Path(out), preset, preset.dpo, seed, resume, say, about)
    tokenizer = opening.open_tokenizer(str(start))
    texts = opening.unmarked(
        tokenizer, [(row.prompt, row.chosen, row.rejected or "") for row in rows], say
    )
    task = loop.begin(task, len(texts))

    def build(micro: int) -> Any:
        return _trainer(task, tokenizer, texts, start, source, micro)

    return loop.train(task, texts, build, before.base, before.signature)


def _trainer(
    task: loop.Task,
    tokenizer: Any,
    texts: Sequence[tuple[str, ...]],
    start: Path,
    source: str,
    micro: int,
) -> Any:
    """Return TRL's trainer with the SFT policy as its reference."""
    from trl import DPOConfig, DPOTrainer

    class Trainer(DPOTrainer):  # type: ignore[misc]
        """TRL's trainer with a reference that does not drop out."""

        def compute_ref_log_probs(self, model: Any, inputs: Any) -> Any:
            """Read the reference without dropout: TRL would leave that of LoRA on here."""
            training = model.training
            model.eval()
            try:
                return super().compute_ref_log_probs(model, inputs)
            finally:
                model.train(training)

    preset = task.preset
    policy = adapted(source, start, preset)
    loss: dict[str, Any] = {"loss_type": ["sigmoid"]}
    if preset.nll:
        loss = {"loss_type": ["sigmoid", "sft"], "loss_weights": [1.0, preset.nll]}
    trainer = Trainer(
        policy,
        args=DPOConfig(
            **loop.arguments(task, micro),
            **loss,
            beta=preset.beta,
            max_length=preset.cutoff,
            disable_dropout=False,  # else TRL silences LoRA's dropout too
            precompute_ref_log_probs=True,
            precompute_ref_batch_size=micro,
        ),
        train_dataset=opening.examples(
            tokenizer, opening.arranged(texts, task.stage, task.seed), ("chosen", "rejected")
        ),
        processing_class=tokenizer,
    )
    if "ref" in policy.peft_config:  # TRL's copy of the adapter: its work is done
        policy.delete_adapter("ref")
        policy.set_adapter("default")
    return trainer


def adapted(source: str, start: Path, preset: Preset) -> Any:
    """Open a base model with an adapter that is to be trained on, with the preset's dropout."""
    from peft import PeftConfig, PeftModel

    config = PeftConfig.from_pretrained(str(start))
    config.lora_dropout = preset.dropout  # an adapter remembers that of its last training
    return PeftModel.from_pretrained(
        opening.open_base(source), str(start), is_trainable=True, config=config
    )


def merge(folder: str | Path, out: str | Path) -> Path:
    """Write an adapter and its base model as one model in safetensors; return ``out``."""
    import msgspec
    from peft import PeftModel

    from sayso.train.card import write_card

    start, place = Path(folder), Path(out)
    card = read_card(start)
    if card is None:
        raise InputError(f"{start} is no adapter that sayso trained")
    if place.exists() and any(place.iterdir()):
        raise InputError(f"{place} is not empty: choose another folder")
    with opening.quiet(), limits.full_disk(place):
        base = opening.open_base(opening.model_folder(card.base_name))
        whole = PeftModel.from_pretrained(base, str(start)).merge_and_unload()
        whole.config.sayso_base = card.base
        whole.save_pretrained(place, safe_serialization=True)
        opening.open_tokenizer(str(start)).save_pretrained(place)
        write_card(place, msgspec.structs.replace(card, merged=True))
    return place

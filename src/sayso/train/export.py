"""Training rows as files for other trainers: TRL (JSONL) and LLaMA-Factory (JSON).

Nothing of theirs is imported. A folder gets one file per sort of row, ``sft`` and ``dpo``; for
LLaMA-Factory also the ``dataset_info.json`` that describes them (its data/README, "Alpaca Format").
Text is written as it is: what a model said stays data, never a template.
A configuration beside them trains what ``sayso train`` would, also on several GPUs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from sayso.records import InputError
from sayso.storage.atomic import disk_errors, replacing
from sayso.train.config import Preset, TrainingStage
from sayso.train.rows import TrainingRow

Format = Literal["trl", "llama-factory"]
#: one written row: strings, messages or lists of messages
Record = Mapping[str, object]
#: file that describes a folder's data sets to LLaMA-Factory
INFO = "dataset_info.json"
#: the script that trains with TRL, and the settings that it reads
SCRIPT, PLAN = "sayso_train.py", "sayso_train.json"


class ExportedRows(NamedTuple):
    """What was written: the files, and the number of rows in each by its name."""

    files: tuple[Path, ...]
    rows: Mapping[str, int]


def export(rows: Sequence[TrainingRow], folder: str | Path, style: Format = "trl") -> ExportedRows:
    """Write rows into ``folder`` in the format of a trainer.

    Rows without a rejected side go to the ``sft`` file, the others to ``dpo``. Files of the same
    names are replaced; a sort of row that is missing leaves no file of an earlier export behind.
    Raises InputError for no rows, an unknown format, a row with an empty side, or a full disk.
    """
    if style not in STYLES:
        raise InputError(f"export {style!r}: expected one of {', '.join(STYLES)}")
    if not rows:
        raise InputError("export: there are no rows to write")
    for row in rows:
        sides = (row.prompt, row.chosen, *(() if row.rejected is None else (row.rejected,)))
        if not all(side.strip() for side in sides):
            raise InputError(f"export: a row has an empty side: {row.prompt[:60]!r} ({row.kind})")
    place = Path(folder)
    sorts = {
        "sft": [r for r in rows if r.rejected is None],
        "dpo": [r for r in rows if r.rejected is not None],
    }
    form = STYLES[style]
    files: list[Path] = []
    counts: dict[str, int] = {}
    info: dict[str, object] = {}
    for sort, some in sorts.items():
        file = place / f"sayso_{sort}.{'jsonl' if style == 'trl' else 'json'}"
        if not some:
            with disk_errors(file):
                file.unlink(missing_ok=True)
            continue
        records = [form.record(row) for row in some]
        with replacing(file) as out:
            if style == "trl":
                out.writelines(msgspec.json.encode(record) + b"\n" for record in records)
            else:
                out.write(msgspec.json.format(msgspec.json.encode(records), indent=1) + b"\n")
        files.append(file)
        counts[file.name] = len(some)
        info[f"sayso_{sort}"] = {"file_name": file.name, **form.info[sort]}
    if style != "trl":
        with replacing(place / INFO) as out:
            out.write(msgspec.json.format(msgspec.json.encode(info), indent=1) + b"\n")
        files.append(place / INFO)
    return ExportedRows(tuple(files), counts)


def _message(role: str, text: str) -> list[dict[str, str]]:
    return [{"role": role, "content": text}]


def _trl(row: TrainingRow) -> Record:
    """Return a conversational row: prompt-completion, or preference with an explicit prompt."""
    prompt = _message("user", row.prompt)
    if row.rejected is None:
        return {"prompt": prompt, "completion": _message("assistant", row.chosen)}
    return {
        "prompt": prompt,
        "chosen": _message("assistant", row.chosen),
        "rejected": _message("assistant", row.rejected),
    }


def _alpaca(row: TrainingRow) -> Record:
    prompt = {"instruction": row.prompt, "input": ""}
    if row.rejected is None:
        return {**prompt, "output": row.chosen}
    return {**prompt, "chosen": row.chosen, "rejected": row.rejected}


class Style(NamedTuple):
    """How a row is written, and what ``dataset_info.json`` says of each sort of row."""

    record: Callable[[TrainingRow], Record]
    info: Mapping[str, Mapping[str, object]]


_SIDES = {"chosen": "chosen", "rejected": "rejected"}
_ASKED = {"prompt": "instruction", "query": "input"}
#: format -> how it is written
STYLES: dict[str, Style] = {
    "trl": Style(_trl, {"sft": {}, "dpo": {}}),
    "llama-factory": Style(
        _alpaca,
        {
            "sft": {"columns": {**_ASKED, "response": "output"}},
            "dpo": {"ranking": True, "columns": {**_ASKED, **_SIDES}},
        },
    ),
}


# ---- a configuration for the trainer that reads the rows: the preset's settings under its names


def write_configuration(
    folder: str | Path, style: Format, preset: Preset, stages: Sequence[str], model: str, seed: int
) -> tuple[Path, ...]:
    """Write what a trainer needs beside exported rows; return the files.

    For TRL a script and its settings (the ``trl`` command cannot go on training an SFT adapter),
    for LLaMA-Factory a YAML file a stage. ``model`` is what transformers opens. DPO goes on from
    the SFT adapter, which is also its reference, as in ``sayso train``. InputError for a full disk.
    """
    place = Path(folder)
    if style == "trl":
        lora = {
            "r": preset.r,
            "lora_alpha": preset.alpha,
            "lora_dropout": preset.dropout,
            "target_modules": list(preset.targets),
            "task_type": "CAUSAL_LM",
        }
        plan: dict[str, object] = {"model": model, "lora": lora}
        plan |= {stage: _trl_arguments(preset, stage, seed) for stage in stages}
        script = resources.files(__package__).joinpath("trl_script.txt").read_bytes()
        texts = {SCRIPT: script, PLAN: json.dumps(plan, indent=1).encode() + b"\n"}
    else:
        texts = {
            f"sayso_{stage}.yaml": _yaml(_factory_arguments(preset, stage, model, seed))
            for stage in stages
        }
    for name, text in texts.items():
        with replacing(place / name) as out:
            out.write(text)
    return tuple(place / name for name in texts)


def _shared_arguments(preset: Preset, stage: str, seed: int) -> dict[str, object]:
    """Return the settings of transformers' TrainingArguments; a batch is that of one process."""
    own: TrainingStage = getattr(preset, stage)
    return {
        "num_train_epochs": own.epochs,
        "learning_rate": own.rate,
        "per_device_train_batch_size": own.micro,
        "gradient_accumulation_steps": max(1, own.batch // own.micro),
        "lr_scheduler_type": preset.schedule,
        "adam_beta1": preset.betas[0],
        "adam_beta2": preset.betas[1],
        "adam_epsilon": preset.epsilon,
        "weight_decay": 0.0,
        "gradient_checkpointing": preset.checkpointing,
        "save_steps": preset.save,
        "seed": seed,
    }


def _trl_arguments(preset: Preset, stage: str, seed: int) -> dict[str, object]:
    """Return the arguments of TRL's SFTConfig or DPOConfig."""
    shared = _shared_arguments(preset, stage, seed)
    shared |= {"warmup_steps": preset.warmup, "max_length": preset.cutoff, "report_to": "none"}
    if stage == "sft":
        return {**shared, "completion_only_loss": True}
    loss: dict[str, object] = {"loss_type": ["sigmoid"]}
    if preset.nll:
        loss = {"loss_type": ["sigmoid", "sft"], "loss_weights": [1.0, preset.nll]}
    return {**shared, **loss, "beta": preset.beta, "disable_dropout": False}


def _factory_arguments(preset: Preset, stage: str, model: str, seed: int) -> dict[str, object]:
    """Return the arguments of ``llamafactory-cli train``, which is run in the folder."""
    given: dict[str, object] = {
        "model_name_or_path": model,
        "stage": stage,
        "do_train": True,
        "finetuning_type": "lora",
        "lora_rank": preset.r,
        "lora_alpha": preset.alpha,
        "lora_dropout": preset.dropout,
        "lora_target": ",".join(preset.targets),
        "dataset_dir": ".",
        "dataset": f"sayso_{stage}",
        "cutoff_len": preset.cutoff,
        "output_dir": stage,
        "warmup_ratio": preset.warmup,
        "bf16": True,
    }
    if stage == "dpo":
        # without a named reference, it would be the model before SFT
        given |= {
            "adapter_name_or_path": "sft", "ref_model": model, "ref_model_adapters": "sft",
            "pref_loss": "sigmoid", "pref_beta": preset.beta, "pref_ftx": preset.nll,
        }  # fmt: skip
    return given | _shared_arguments(preset, stage, seed)


def _yaml(settings: Mapping[str, object]) -> bytes:
    """Return settings as YAML; numbers have a point, without which 1e-08 would be a word."""
    lines = []
    for name, value in settings.items():
        small = isinstance(value, float) and "e" in repr(value)
        lines.append(f"{name}: {value:.6e}" if small else f"{name}: {json.dumps(value)}")
    return ("\n".join(lines) + "\n").encode()

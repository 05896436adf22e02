"""Opening a model for training, and its rows in its own chat template."""

from __future__ import annotations

import contextlib
import math
import os
import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from sayso.records import InputError
from sayso.train.presets import Stage

#: hears notices for the user
Say = Callable[[str], None]


def model_folder(name: str | Path) -> str:
    """Return what transformers opens: ``builtin`` is the shipped folder, ``hf:`` is left out."""
    text = str(name)
    if text == "builtin":
        return str(resources.files("sayso") / "builtin" / "model")
    text = text.removeprefix("hf:")
    place = Path(text).expanduser()
    if place.is_dir():
        return str(place.resolve())
    if text.startswith((".", "/", "~")) or text.count("/") > 1:
        raise InputError(f"model folder {text} does not exist")
    return text


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep progress bars and warnings of the libraries off the screen."""
    import transformers

    import datasets

    log = transformers.utils.logging
    level, bars, own = log.get_verbosity(), log.is_progress_bar_enabled(), "TQDM_DISABLE"
    before = os.environ.get(own)
    shown = datasets.utils.logging.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    datasets.disable_progress_bars()
    os.environ[own] = "1"
    try:
        with warnings.catch_warnings():
            # trl and peft still use names that transformers renames, and peft tells of a setting
            # that it corrects by itself: nothing a user can mend
            warnings.filterwarnings(
                "ignore", message=".*gradient_checkpointing.*", category=FutureWarning
            )
            warnings.filterwarnings("ignore", message="fan_in_fan_out is set to False")
            yield
    finally:
        log.set_verbosity(level)
        if bars:
            log.enable_progress_bar()
        if shown:
            datasets.enable_progress_bars()
        if before is None:
            del os.environ[own]
        else:
            os.environ[own] = before


def open_tokenizer(source: str) -> Any:
    """Open a tokenizer; a folder without one raises InputError."""
    import transformers

    try:
        return transformers.AutoTokenizer.from_pretrained(
            source, local_files_only=Path(source).is_dir()
        )
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"model {source} has no tokenizer: {_first_line(error)}") from None


def open_base(source: str) -> Any:
    """Open a model for training: float32 on a CPU, bfloat16 on a GPU that has it."""
    import torch
    import transformers

    half = torch.cuda.is_available() and torch.cuda.is_bf16_supported()
    try:
        return transformers.AutoModelForCausalLM.from_pretrained(
            source,
            dtype=torch.bfloat16 if half else torch.float32,
            use_safetensors=True,
            local_files_only=Path(source).is_dir(),
        )
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise InputError(f"model {source} cannot be opened: {_first_line(error)}") from None


def check_trainable(source: str, targets: Sequence[str]) -> None:
    """Refuse a model that cannot be opened or lacks the targets, without reading its weights."""
    import torch
    import transformers

    with quiet():
        try:
            config = transformers.AutoConfig.from_pretrained(
                source, local_files_only=Path(source).is_dir()
            )
            with torch.device("meta"):
                model = transformers.AutoModelForCausalLM.from_config(config)
        except (OSError, ValueError, KeyError, ImportError) as error:
            raise InputError(f"model {source} cannot be opened: {_first_line(error)}") from None
    check_targets(model, targets)


def check_targets(model: Any, targets: Sequence[str]) -> None:
    """Refuse targets that a model does not have, and say which linear modules exist."""
    import torch

    head = model.get_output_embeddings()
    linear = sorted(
        {
            name.rsplit(".", 1)[-1]
            for name, module in model.named_modules()
            if (isinstance(module, torch.nn.Linear) or type(module).__name__ == "Conv1D")
            and module is not head
        }
    )
    absent = sorted(set(targets) - set(linear))
    if absent:
        raise InputError(
            f"{type(model).__name__} has no module {', '.join(absent)}; its linear modules are "
            f"{', '.join(linear) or 'none'}: choose among these (--targets)"
        )


def examples(tokenizer: Any, rows: Sequence[tuple[str, ...]], names: tuple[str, ...]) -> Any:
    """Return (prompt, text, …) rows as a dataset in the model's own chat template.

    A model without a template reads "Question: … Answer:", as it does where it is measured.
    """
    from datasets import Dataset

    def prompt(text: str) -> Any:
        if tokenizer.chat_template:
            return [{"role": "user", "content": text}]
        return f"Question: {text}\nAnswer:"

    def answer(text: str) -> Any:
        return [{"role": "assistant", "content": text}] if tokenizer.chat_template else f" {text}"

    return Dataset.from_list(
        [
            {"prompt": prompt(row[0])}
            | {name: answer(text) for name, text in zip(names, row[1:], strict=True)}
            for row in rows
        ]
    )


def unmarked(tokenizer: Any, rows: Sequence[tuple[str, ...]], say: Say) -> list[tuple[str, ...]]:
    """Leave out rows whose text holds the tokenizer's own marks: it would be read as a turn."""
    marks = [str(token) for token in tokenizer.all_special_tokens if len(str(token)) > 1]
    kept = [row for row in rows if not any(mark in text for text in row for mark in marks)]
    if len(kept) < len(rows):
        say(f"{len(rows) - len(kept)} rows hold marks of the tokenizer and were left out")
    if not kept:
        raise InputError("there is no row to train on")
    return kept


def arranged(rows: Sequence[tuple[str, ...]], stage: Stage, seed: int) -> list[tuple[str, ...]]:
    """Return every epoch's rows one after the other, in the order in which they are computed.

    Each epoch is shuffled; then rows of like length stand together ``stage.micro`` at a time, so
    that little is padded, and these groups are shuffled again within eight optimizer steps. The
    trainer reads this order as it is: it depends on the rows and the seed alone, so a resumed
    training goes on in it, also where memory made the groups smaller.
    """
    order: list[int] = []
    wanted = max(1, round(len(rows) * stage.epochs))
    window = max(stage.batch, stage.micro) * 8
    for epoch in range(math.ceil(stage.epochs)):
        chance = random.Random(f"{seed}-{epoch}")
        shuffled = list(range(len(rows)))
        chance.shuffle(shuffled)
        for low in range(0, len(shuffled), window):
            part = sorted(shuffled[low : low + window], key=lambda n: sum(map(len, rows[n])))
            whole = len(part) - len(part) % stage.micro
            groups = [part[at : at + stage.micro] for at in range(0, whole, stage.micro)]
            chance.shuffle(groups)
            order += [n for group in [*groups, part[whole:]] for n in group]
    return [rows[n] for n in order[:wanted]]


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]

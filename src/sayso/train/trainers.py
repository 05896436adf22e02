"""SFT and DPO with TRL and LoRA, which resume where they were stopped."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import gc
import math
import os
import random
import shutil
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata, resources
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sayso.engines.hf.files import error_reason as library_reason
from sayso.engines.hf.files import unpack
from sayso.engines.hf.weights import open_adapter, open_causal
from sayso.engines.named import PACKAGED
from sayso.processes import wait_passively
from sayso.records import InputError, content_id
from sayso.storage.atomic import disk_errors, refuse_links, replacing
from sayso.train.config import Preset, TrainingStage
from sayso.train.result import CurvePoint, ModelCard, card_signature, read_card, write_card
from sayso.train.rows import TrainingRow

# ---- memory or disk that runs out while training is one line, however a library reports it

#: what libraries say where memory or disk runs out without raising the class for it
NO_MEMORY = ("out of memory", "can't allocate memory", "alloc_cpu", "not enough memory")
NO_SPACE = ("no space left", "disk quota exceeded", "os error 28", "file write failed")

#: where not even one row fits
NO_ROOM = "memory ran out with one row at a time: use a smaller model or a lower cutoff"


@contextlib.contextmanager
def full_disk_refused(place: Path) -> Iterator[None]:
    """Turn a full disk, however a library reports it, into one line."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        number = getattr(error, "errno", None)
        text = f"{error} {error.__cause__ or ''}".lower()
        if number in (errno.ENOSPC, errno.EDQUOT) or any(sign in text for sign in NO_SPACE):
            raise InputError(
                f"disk is full while training into {place}; free some space and run again: it "
                "resumes from the last whole checkpoint"
            ) from error
        if isinstance(error, OSError) and number is not None:
            with disk_errors(place):
                raise
        raise


#: what to do where a training is to use more than one process
ELSEWHERE = (
    "--export trl or llama-factory writes the rows and a configuration for their trainers, which "
    "train in several processes"
)


def check_one_process() -> None:
    """Refuse a launcher of several processes, and several GPUs. Raises InputError."""
    wait_passively()
    import torch

    if (os.environ.get("WORLD_SIZE") or "1") != "1":
        raise InputError(
            f"sayso train is one process, and a launcher started several: start it alone; "
            f"{ELSEWHERE}"
        )
    if torch.cuda.device_count() > 1:
        raise InputError(
            f"{torch.cuda.device_count()} GPUs are visible, and sayso train uses one: set "
            f"CUDA_VISIBLE_DEVICES=0; {ELSEWHERE}"
        )


def divisor(batch: int, most: int) -> int:
    """Return the largest number up to ``most`` that divides a batch without a rest."""
    return next(n for n in range(max(1, min(most, batch)), 0, -1) if batch % n == 0)


def out_of_memory(error: BaseException) -> bool:
    """Tell whether an error means that memory ran out."""
    import torch

    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return any(sign in str(error).lower() for sign in NO_MEMORY)


def free() -> None:
    """Give back what a trainer that failed held."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


#: written into a checkpoint once all of it is on disk; one without it is thrown away
WHOLE = "whole"
FOLDER = "checkpoints"
BEGUN = "begun.json"


class Begun(msgspec.Struct, frozen=True):
    """What stands in a folder while it is trained."""

    signature: str
    first_loss: float | None = None


def finished(out: Path, signature: str) -> bool:
    """Tell whether this training is finished there. Raises InputError for another one."""
    card = read_card(out) if out.is_dir() else None
    if card is None:
        return False
    if card.signature != signature:
        raise InputError(
            f"{out} contains another training ({card.signature}, not {signature}): choose another "
            "folder"
        )
    refuse_links(out)
    clear(out)  # it may have been killed between its card and its end
    return True


def clear(out: Path) -> None:
    """Remove what only an unfinished training needs."""
    shutil.rmtree(out / FOLDER, ignore_errors=True)
    (out / BEGUN).unlink(missing_ok=True)


def begin_training(out: Path, signature: str) -> Path | None:
    """Note what is trained here; return the checkpoint to go on from, if any. Raises InputError."""
    with full_disk_refused(out):
        out.mkdir(parents=True, exist_ok=True)
        refuse_links(out)
        if (out / BEGUN).is_file():
            before = begun(out)
            if before.signature != signature:
                raise InputError(
                    f"{out} contains the beginning of another training ({before.signature}, not "
                    f"{signature}): choose another folder, or remove it"
                )
            return last(out)
        if any(out.iterdir()):
            raise InputError(f"{out} is not empty and is not a training: choose another folder")
        note_training(out, signature)
    return None


def begun(out: Path) -> Begun:
    """Return what stands in a folder that is being trained. Raises InputError if damaged."""
    try:
        return msgspec.json.decode((out / BEGUN).read_bytes(), type=Begun)
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(f"{out}/{BEGUN} cannot be read ({error}): remove {out}") from None


def note_training(out: Path, signature: str, first_loss: float | None = None) -> None:
    """Write down what is trained here."""
    with replacing(out / BEGUN) as file:
        file.write(msgspec.json.encode(Begun(signature, first_loss)))


def mark() -> Any:
    """Return a callback that marks a checkpoint once it is complete."""
    from transformers import TrainerCallback

    class Mark(TrainerCallback):  # type: ignore[misc]
        """Leaves a file in a checkpoint that was written whole."""

        def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            """Mark the checkpoint of this step."""
            Path(args.output_dir, f"checkpoint-{state.global_step}", WHOLE).touch()

    return Mark()


def last(out: Path) -> Path | None:
    """Return the last whole checkpoint, and remove what a kill or a full disk left half-written."""
    checkpoints = sorted(
        (path for path in (out / FOLDER).glob("checkpoint-*") if path.name[11:].isdigit()),
        key=lambda path: int(path.name[11:]),
    )
    for path in checkpoints:
        if not (path / WHOLE).is_file():
            shutil.rmtree(path, ignore_errors=True)
    kept = [path for path in checkpoints if (path / WHOLE).is_file()]
    return kept[-1] if kept else None


# ---- opening a model for training, and its rows in its own chat template

#: hears notices for the user
Say = Callable[[str], None]


def model_folder(name: str | Path) -> str:
    """Return what transformers opens: ``builtin`` is the shipped folder, ``hf:`` is left out.

    A packaged model is unpacked, and that folder returned.
    """
    text = str(name)
    if text == "builtin":
        return str(resources.files("sayso") / "builtin" / "model")
    if text in PACKAGED:
        return str(unpack(text))
    text = text.removeprefix("hf:")
    place = Path(text).expanduser()
    if place.is_dir():
        return str(place.resolve())
    if text.startswith((".", "/", "~")) or text.count("/") > 1:
        raise InputError(f"model folder {text} does not exist")
    return text


@contextlib.contextmanager
def quiet_training() -> Iterator[None]:
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
        raise InputError(f"model {source} has no tokenizer: {library_reason(error)}") from None


def open_base_model(source: str) -> Any:
    """Open a model for training: float32 on a CPU, bfloat16 on a GPU that has it."""
    import torch

    try:
        return open_causal(
            source,
            dtype=torch.bfloat16 if _half() else torch.float32,
            use_safetensors=True,
            local_files_only=Path(source).is_dir(),
        )
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise InputError(f"model {source} cannot be opened: {library_reason(error)}") from None


def check_trainable_targets(source: str, targets: Sequence[str]) -> None:
    """Refuse a model that cannot be opened or lacks the targets, without reading its weights."""
    import torch
    import transformers

    with quiet_training():
        try:
            config = transformers.AutoConfig.from_pretrained(
                source, local_files_only=Path(source).is_dir()
            )
            with torch.device("meta"):
                model = transformers.AutoModelForCausalLM.from_config(config)
        except (OSError, ValueError, KeyError, ImportError) as error:
            raise InputError(f"model {source} cannot be opened: {library_reason(error)}") from None
    check_targets(model, targets)


def _half() -> bool:
    """Tell whether weights are opened in bfloat16."""
    import torch

    return torch.cuda.is_available() and torch.cuda.is_bf16_supported()


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
            f"{', '.join(linear) or 'none'}: choose among these (--set targets=NAMES)"
        )


def training_examples(
    tokenizer: Any, rows: Sequence[tuple[str, ...]], names: tuple[str, ...]
) -> Any:
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
        say(f"{len(rows) - len(kept)} rows contain marks of the tokenizer and were left out")
    if not kept:
        raise InputError("there is no row to train on")
    return kept


def arranged(
    rows: Sequence[tuple[str, ...]], stage: TrainingStage, seed: int
) -> list[tuple[str, ...]]:
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


# ---- how many optimizer steps a training takes, and how far it is, said before and while it runs

#: below so many steps nothing warms up: a linear warm-up spends its first step at rate 0, which
#: is all of a training of one step and a tenth of one of ten
WARM = 20
#: fewer steps than this train next to nothing
FEW = 10
#: seconds between two lines of progress: never sooner; a hundredth of the whole, but within these
SOONEST, LATE, LATEST = 2.0, 15.0, 300.0
#: what gives a stage more steps
MORE = {
    "sft": "more rows (sft_rows, --train-limit) or sft_epochs",
    "dpo": "more pairs (dpo_rows, --train-limit) or dpo_epochs",
}


def steps_of(kind: str, rows: int, preset: Preset) -> int:
    """Return how many optimizer steps a stage ("sft", "dpo") takes on so many rows."""
    stage: TrainingStage = getattr(preset, kind)
    return math.ceil(max(1, round(rows * stage.epochs)) / stage.batch)


def paced(kind: str, rows: int, preset: Preset) -> Preset:
    """Return a preset as a training of so many rows takes it: without warm-up if steps are few."""
    short = steps_of(kind, rows, preset) < WARM
    return dataclasses.replace(preset, warmup=0.0) if short else preset


def steps_text(kind: str, steps: int) -> str:
    """Say how many steps a stage takes, and what to do where they are too few."""
    text = f"{kind.upper()} takes {steps} optimizer step{'' if steps == 1 else 's'}"
    return text if steps >= FEW else f"{text}: too few to train anything; use {MORE[kind]}"


class ProgressPace:
    """Decides which steps are worth a line: every tenth part of them, or after 15 seconds.

    A training of many hours says a line every five minutes at the latest instead.
    """

    def __init__(self, kind: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._kind, self._clock = kind, clock
        self._began = self._last = clock()
        self._first = self._said = 0
        self.loss: float | None = None

    def begin(self, step: int) -> None:
        """Start to count time and steps; a resumed training begins at a later step than 0."""
        self._began = self._last = self._clock()
        self._first = self._said = step

    def at(self, step: int, total: int) -> str | None:
        """Return the line for a finished step, or ``None`` where it is too soon for one."""
        now = self._clock()
        each = (now - self._began) / (step - self._first)
        late = now - self._last >= min(max(LATE, each * total / 100), LATEST)
        tenth = step * 10 // total > self._said * 10 // total and now - self._last >= SOONEST
        if step >= total or not (tenth or late):
            return None
        self._said, self._last = step, now
        loss = "" if self.loss is None else f", loss {self.loss:.3f}"
        left = _time(each * (total - step))
        return f"{self._kind.upper()} step {step} of {total}{loss}, {left} left"


def _time(seconds: float) -> str:
    """Return a span as people say it: seconds, minutes or hours."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def watch(kind: str, say: Say) -> Any:
    """Return a callback of a trainer that says how far it is."""
    from transformers import TrainerCallback

    pace = ProgressPace(kind)

    class Watch(TrainerCallback):  # type: ignore[misc]
        """Tells step, loss and the time that is left."""

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            """Begin to count."""
            pace.begin(state.global_step)

        def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            """Keep the last loss."""
            loss = (kwargs.get("logs") or {}).get("loss")
            pace.loss = pace.loss if loss is None else float(loss)

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            """Say where it is."""
            line = pace.at(state.global_step, state.max_steps)
            if line is not None:
                say(line)

    return Watch()


# ---- what SFT and DPO share: opening a model, checkpoints that can be trusted, memory, saving
#
# The trainers are TRL's.

LIBRARIES = ("torch", "transformers", "trl", "peft", "accelerate")
#: what TRL logs, by the name that a card has for it
LOGGED = {
    "rewards/accuracies": "reward accuracy",
    "rewards/margins": "reward margin",
}


class TrainingTask(NamedTuple):
    """One training: what, on what, and where it goes. ``say`` hears notices for the user."""

    kind: str
    model: str
    out: Path
    preset: Preset
    stage: TrainingStage
    seed: int
    say: Say
    about: Mapping[str, str]


def begin_task(task: TrainingTask, rows: int) -> TrainingTask:
    """Return a task as it is trained on so many rows: few steps have no warm-up."""
    task.preset.check()
    return task._replace(preset=paced(task.kind, rows, task.preset))


def arguments(task: TrainingTask, micro: int) -> dict[str, Any]:
    """Return what TRL's two configs share; ``micro`` divides a batch."""
    import torch

    cuda = torch.cuda.is_available()
    half = cuda and torch.cuda.is_bf16_supported()
    p, s = task.preset, task.stage
    return {
        "output_dir": str(task.out / FOLDER),
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
    }


def rows_hash(rows: Sequence[tuple[str, ...]]) -> str:
    """Return a short hash of the texts that are trained on, in their order."""
    return content_id([list(row) for row in rows])


def run_training(
    task: TrainingTask,
    rows: Sequence[tuple[str, ...]],
    build: Callable[[int], Any],
    base: str,
    parent: str,
) -> Path:
    """Run a training to its end and save the adapter; return its folder.

    ``build(micro)`` makes a TRL trainer with so many rows at once. A finished folder with the same
    signature is left as it is; a killed one goes on from its last whole checkpoint. Where memory
    runs out, half as many rows are computed at once, with twice the accumulation.
    """
    check_one_process()
    notices: list[str] = []

    def say(text: str) -> None:
        notices.append(text)
        task.say(text)

    card = _card(task, rows, base, parent)
    if finished(task.out, card.signature):
        return task.out
    checkpoint = begin_training(task.out, card.signature)
    say(steps_text(task.kind, steps_of(task.kind, len(rows), task.preset)))
    trainer = _run(task, build, card.signature, checkpoint, say)
    _check_finite(trainer.model, task)
    trained = msgspec.structs.replace(
        card,
        first_loss=begun(task.out).first_loss,
        curve=_curve(trainer.state.log_history, task),
        notices=tuple(notices),
    )
    _save(task, trainer, trained)
    return task.out


def _save(task: TrainingTask, trainer: Any, card: ModelCard) -> None:
    """Write the adapter, its tokenizer and its card."""
    with full_disk_refused(task.out):
        lora = trainer.model.peft_config["default"]
        # peft keeps a set, whose order differs from one process to the next: so would the file, and
        # with it the identity of the model
        lora.target_modules = sorted(lora.target_modules)
        trainer.model.save_pretrained(task.out, selected_adapters=["default"])
        trainer.processing_class.save_pretrained(task.out)
        write_card(task.out, card)
        clear(task.out)


def _run(
    task: TrainingTask,
    build: Callable[[int], Any],
    signature: str,
    checkpoint: Path | None,
    say: Say,
) -> Any:
    """Return TRL's trainer after its last step. Raises InputError where no row has room."""
    from transformers import PrinterCallback

    batch = task.stage.batch
    micro = divisor(batch, task.stage.micro)
    while True:
        trainer = None
        try:
            with quiet_training(), full_disk_refused(task.out):
                trainer = build(micro)
                if checkpoint is None:
                    note_training(task.out, signature, first_loss(trainer))
                trainer.remove_callback(PrinterCallback)
                trainer.add_callback(mark())
                trainer.add_callback(watch(task.kind, task.say))
                trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
                return trainer
        except (RuntimeError, MemoryError) as error:
            if not out_of_memory(error):
                raise
            if micro == 1:
                raise InputError(NO_ROOM) from error
        del trainer
        free()
        micro = divisor(batch, micro // 2)
        say(
            f"memory ran out: continuing with {micro} rows at once and {batch // micro} accumulated"
        )
        checkpoint = last(task.out)


def _card(task: TrainingTask, rows: Sequence[tuple[str, ...]], base: str, parent: str) -> ModelCard:
    """Return the card of a training that has not begun, with its signature."""
    card = ModelCard(
        kind=task.kind,
        base=base,
        base_name=task.about.get("base_name", task.model),
        recipe=task.about.get("recipe", ""),
        base_run=task.about.get("base_run", ""),
        seed=task.seed,
        rows=len(rows),
        rows_hash=rows_hash(rows),
        settings=task.preset.settings(task.kind),
        parent=parent,
        versions={name: metadata.version(name) for name in LIBRARIES},
    )
    return msgspec.structs.replace(card, signature=card_signature(card))


def _curve(history: Sequence[Mapping[str, Any]], task: TrainingTask) -> tuple[CurvePoint, ...]:
    """Return the course of a training from what its trainer logged."""
    scale = task.stage.epochs  # one epoch of the arranged rows is all of ours
    steps = []
    for line in history:
        if "loss" not in line:
            continue
        logged = {own: line[name] for name, own in LOGGED.items() if line.get(name) is not None}
        values = {name: float(value) for name, value in logged.items() if math.isfinite(value)}
        rate = line.get("learning_rate")
        steps.append(CurvePoint(line["step"], line["epoch"] * scale, line["loss"], rate, values))
    return tuple(steps)


def _check_finite(model: Any, task: TrainingTask) -> None:
    """Refuse to save what is no model any more. Raises InputError."""
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    if not all(bool(weight.isfinite().all()) for weight in trained):
        raise InputError(
            f"{task.kind.upper()} into {task.out} diverged: its weights are not numbers. "
            f"Use a lower rate than {task.stage.rate:g}, and remove the folder"
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


# ---- direct preference optimization (Rafailov et al. 2023) from an SFT adapter: TRL's DPOTrainer
#
#     loss = -log sigmoid(beta [log p(c)/p_ref(c) - log p(r)/p_ref(r)]) + nll * NLL(c)
#
# p_ref is the SFT policy, so the first loss is ln 2 (+ nll * NLL); its log-probabilities are
# computed once, without dropout.


def dpo(
    sft_folder: str | Path,
    rows: Sequence[TrainingRow],
    preset: Preset,
    out: str | Path,
    *,
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> Path:
    """Go on training the adapter of :func:`~sayso.train.trainers.sft` on pairs; return ``out``.

    The result is one adapter of the base model, as SFT's is. Rows without a rejected answer are
    refused. Everything else as in :func:`~sayso.train.trainers.sft`.
    """
    start = Path(sft_folder)
    before = _sft_card(start)
    if any(row.rejected is None for row in rows):
        raise InputError("DPO needs a rejected answer in every row; rows for SFT have none")
    source = model_folder(before.base_name)
    about = {
        "base_name": before.base_name, "recipe": before.recipe, "base_run": before.base_run
    }  # fmt: skip
    task = TrainingTask("dpo", source, Path(out), preset, preset.dpo, seed, say, about)
    tokenizer = open_tokenizer(str(start))
    texts = unmarked(tokenizer, [(row.prompt, row.chosen, row.rejected or "") for row in rows], say)
    task = begin_task(task, len(texts))

    def build(micro: int) -> Any:
        return _trainer(task, tokenizer, texts, start, source, micro)

    return run_training(task, texts, build, before.base, before.signature)


def _sft_card(folder: Path) -> ModelCard:
    """Return the card of the adapter that a training goes on from. Raises InputError."""
    card = read_card(folder)
    if card is None or not (folder / "adapter_config.json").is_file():
        raise InputError(f"{folder} is not an adapter that sayso trained: run SFT first")
    return card


def _trainer(
    task: TrainingTask,
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
            **arguments(task, micro),
            **loss,
            beta=preset.beta,
            max_length=preset.cutoff,
            disable_dropout=False,  # else TRL silences LoRA's dropout too
            precompute_ref_log_probs=True,
            precompute_ref_batch_size=micro,
        ),
        train_dataset=training_examples(
            tokenizer, arranged(texts, task.stage, task.seed), ("chosen", "rejected")
        ),
        processing_class=tokenizer,
    )
    if "ref" in policy.peft_config:  # TRL's copy of the adapter: its work is done
        policy.delete_adapter("ref")
        policy.set_adapter("default")
    return trainer


def adapted(source: str, start: Path, preset: Preset) -> Any:
    """Open a base model with an adapter that is to be trained on, with the preset's dropout."""
    from peft import PeftConfig

    config = PeftConfig.from_pretrained(str(start))
    config.lora_dropout = preset.dropout  # an adapter remembers that of its last training
    return _with_adapter(open_base_model(source), start, is_trainable=True, config=config)


def _with_adapter(base: Any, start: Path, **how: Any) -> Any:
    """Put an adapter on its base model. Raises InputError where it does not fit."""
    try:
        return open_adapter(base, start, **how)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        if out_of_memory(error):
            raise
        raise InputError(f"adapter {start} cannot be opened: {library_reason(error)}") from None


# ---- supervised fine-tuning with LoRA: TRL's SFTTrainer on rows of prompt and answer


def sft(
    model: str | Path,
    rows: Sequence[TrainingRow],
    preset: Preset,
    out: str | Path,
    *,
    seed: int = 0,
    about: Mapping[str, str] | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Path:
    """Train a LoRA adapter on the chosen answers of rows; return its folder ``out``.

    ``model`` is ``builtin``, a folder or a hub id. ``about`` may hold, for the card, ``recipe``,
    ``base_run``, ``base_name`` and ``base``, the model's identity. Only answers bear loss. A
    killed training goes on from its last checkpoint in the same order of rows; a finished one is
    left as it is.
    Raises :class:`~sayso.records.InputError` for a model without the preset's modules, an empty
    set of rows, a full disk or a folder that holds something else.
    """
    source = model_folder(model)
    about_it = {"base_name": str(model), **(about or {})}
    task = TrainingTask("sft", source, Path(out), preset, preset.sft, seed, say, about_it)
    tokenizer = open_tokenizer(source)
    texts = unmarked(tokenizer, [(row.prompt, row.chosen) for row in rows], say)
    task = begin_task(task, len(texts))

    def build(micro: int) -> Any:
        from peft import LoraConfig
        from trl import SFTConfig, SFTTrainer

        loaded = open_base_model(source)
        check_targets(loaded, preset.targets)
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
                **arguments(task, micro), max_length=preset.cutoff, completion_only_loss=True
            ),
            train_dataset=training_examples(
                tokenizer, arranged(texts, task.stage, task.seed), ("completion",)
            ),
            processing_class=tokenizer,
            peft_config=config,
        )

    return run_training(task, texts, build, task.about.get("base") or source, "")

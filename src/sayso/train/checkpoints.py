"""A folder in which something is trained: what was begun there, and checkpoints to go on from."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import msgspec

from sayso.atomic import replacing
from sayso.records import InputError
from sayso.train.card import read_card
from sayso.train.limits import full_disk

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
    found = read_card(out) if out.is_dir() else None
    if found is None:
        return False
    if found.signature != signature:
        raise InputError(
            f"{out} holds another training ({found.signature}, not {signature}): choose another "
            "folder"
        )
    clear(out)  # it may have been killed between its card and its end
    return True


def clear(out: Path) -> None:
    """Remove what only an unfinished training needs."""
    shutil.rmtree(out / FOLDER, ignore_errors=True)
    (out / BEGUN).unlink(missing_ok=True)


def begin(out: Path, signature: str, resume: bool) -> Path | None:
    """Note what is trained here; return the checkpoint to go on from, if any. Raises InputError."""
    with full_disk(out):
        out.mkdir(parents=True, exist_ok=True)
        if (out / BEGUN).is_file():
            before = begun(out)
            if before.signature != signature:
                raise InputError(
                    f"{out} holds the beginning of another training ({before.signature}, not "
                    f"{signature}): choose another folder, or remove it"
                )
            if resume:
                return last(out)
        elif any(out.iterdir()):
            raise InputError(f"{out} is not empty and no training: choose another folder")
        clear(out)
        note(out, signature)
    return None


def begun(out: Path) -> Begun:
    """Return what stands in a folder that is being trained. Raises InputError if damaged."""
    try:
        return msgspec.json.decode((out / BEGUN).read_bytes(), type=Begun)
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(f"{out}/{BEGUN} cannot be read ({error}): remove {out}") from None


def note(out: Path, signature: str, first_loss: float | None = None) -> None:
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
    found = sorted(
        (path for path in (out / FOLDER).glob("checkpoint-*") if path.name[11:].isdigit()),
        key=lambda path: int(path.name[11:]),
    )
    for path in found:
        if not (path / WHOLE).is_file():
            shutil.rmtree(path, ignore_errors=True)
    kept = [path for path in found if (path / WHOLE).is_file()]
    return kept[-1] if kept else None

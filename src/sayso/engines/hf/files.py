"""Files of llama.cpp (GGUF), unpacked once into a folder.

A GGUF file holds quantized weights, tokenizer and chat template. transformers reads it in twenty
seconds and more, so it is unpacked once into a folder beside the cache, and everything else opens
that folder. It holds float32, which loses nothing, or the half precision that the model computes
in, which takes half the disk and memory. Nothing heavy is imported until a file is read.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata, util
from pathlib import Path
from typing import Any

import msgspec

from sayso.engines import quiet_hub
from sayso.engines.hf.weights import check_fit
from sayso.engines.local.files import file_hashes, gguf_file
from sayso.engines.named import PACKAGED
from sayso.harmless import printable
from sayso.records import InputError
from sayso.storage.atomic import (
    disk_errors,
    one_writer,
    place_inside,
    refuse_links,
    replacing,
)
from sayso.storage.cache import default_cache_folder

# ---- GGUF files and their folders

#: what stands beside unpacked weights, written last: a folder without it is not whole
ORIGIN = "gguf.json"
#: what weights are unpacked to: float32, unless a model computes in one of the others
EXACT, HALVES = "float32", ("bfloat16", "float16")
#: seconds for which a process waits while another one unpacks the same file
PATIENCE = 1800.0


class GgufOrigin(msgspec.Struct, frozen=True):
    """Which GGUF file a folder was unpacked from, what it says of itself, and what was written, in
    which ``dtype``."""

    file: str
    sha256: str
    name: str
    license: str
    quantization: str
    files: dict[str, str]
    dtype: str = EXACT


def gguf_origin(folder: Path) -> GgufOrigin | None:
    """Return where an unpacked folder comes from; ``None`` for any other, and if it was changed."""
    try:
        origin = msgspec.json.decode((folder / ORIGIN).read_bytes(), type=GgufOrigin)
    except (OSError, msgspec.DecodeError):
        return None
    files = [folder / name for name in origin.files if (folder / name).is_file()]
    return origin if file_hashes(files) == origin.files else None


def unpacked_folder(file: Path, dtype: str = EXACT) -> Path:
    """Return the folder that a GGUF file is unpacked into for a model that computes in ``dtype``,
    whether it is there or not."""
    digest = file_hashes([file])[file.name]
    mark = f"-{dtype}" if dtype in HALVES else ""
    return place_inside(default_cache_folder(), "models", f"{file.stem}-{digest[:12]}{mark}")


def unpacked(file: Path, dtype: str = EXACT) -> Path | None:
    """Return a whole folder of a GGUF file for a model that computes in ``dtype``; ``None`` if none
    is there.

    That of float32 serves every dtype: rounding its numbers later gives the same ones.
    """
    folders = dict.fromkeys((unpacked_folder(file, dtype), unpacked_folder(file)))
    return next((folder for folder in folders if gguf_origin(folder) is not None), None)


def unpack(file: Path, dtype: str = EXACT) -> Path:
    """Return :func:`unpacked`, written if it is not there. Raises InputError.

    One process writes while others wait; what a killed one left, or somebody changed, is written
    again.
    """
    there = unpacked(file, dtype)
    if there is not None:
        return there
    check_reader(file)
    folder = unpacked_folder(file, dtype)
    with one_writer(folder, f"unpacking {file.name}", PATIENCE):
        refuse_links(folder)
        if gguf_origin(folder) is None:  # another process may have written it meanwhile
            _write(file, folder, dtype if dtype in HALVES else EXACT)
    return folder


def gguf_description(name: str, dtype: str) -> str:
    """Return what a GGUF file says of itself, and the dtype that its model computes in; "" for
    other models, and before it is unpacked."""
    file = gguf_file(name)
    folder = unpacked(file, dtype) if file is not None else None
    origin = gguf_origin(folder) if folder is not None else None
    if origin is None:
        return ""
    package = PACKAGED.get(name)
    parts = (
        f"{origin.file} ({origin.name})" if origin.name else origin.file,
        f"license {origin.license or 'not stated'}",
        f"{origin.quantization} weights, computed in {dtype}" if origin.quantization else "",
        f"from the package {package} {metadata.version(package)}" if package else "",
    )
    return ", ".join(filter(None, parts))


def check_reader(file: Path) -> None:
    """Refuse a GGUF file where the library that reads them is not installed."""
    for package in ("gguf", "accelerate"):
        if util.find_spec(package) is None:
            raise InputError(
                f"{file.name} is a GGUF file, and {package}, which is needed to read it, is not "
                f"installed: pip install {package}"
            )


def _write(file: Path, folder: Path, dtype: str) -> None:
    """Write weights, tokenizer, template and configuration, and :data:`ORIGIN` when all stand."""
    try:
        with quiet_loading():
            about = _said_by(file)
            _convert(file, folder, dtype)
    except BaseException as error:  # of a damaged file the libraries raise all sorts
        for path in folder.iterdir():  # half written; the folder itself goes with its lock
            with contextlib.suppress(OSError):
                path.unlink() if path.is_file() else shutil.rmtree(path)
        if isinstance(error, InputError) or not isinstance(error, Exception):
            raise
        with disk_errors(folder):
            if isinstance(error, OSError) and error.errno is not None:
                raise
        raise InputError(f"model {file} cannot be opened: {error_reason(error)}") from None
    files = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    for path in files:
        with disk_errors(path), path.open("rb") as stream:
            os.fsync(stream.fileno())
    origin = GgufOrigin(
        file.name, file_hashes([file])[file.name], **about, files=file_hashes(files), dtype=dtype
    )
    with replacing(folder / ORIGIN) as out:
        out.write(msgspec.json.encode(origin))


def _said_by(file: Path) -> dict[str, str]:
    """Return name, license and quantization as a GGUF file states them; "" for what it does not."""
    import gguf

    reader = gguf.GGUFReader(file)

    def read(key: str) -> Any:
        field = reader.get_field(key)
        return field.contents() if field is not None else ""

    kind = read("general.file_type")
    with contextlib.suppress(ValueError):
        kind = gguf.LlamaFileType(kind).name.removeprefix("MOSTLY_").removeprefix("ALL_")
    texts = (read("general.name"), read("general.license"), kind)
    shown = (printable(text, 100) for text in texts)
    return dict(zip(("name", "license", "quantization"), shown, strict=True))


def _convert(file: Path, folder: Path, dtype: str) -> None:
    """Dequantize a GGUF file into a folder of transformers, tensor by tensor. Raises what the
    libraries raise."""
    import torch
    import transformers

    here: dict[str, Any] = {"gguf_file": file.name, "local_files_only": True}
    tokenizer = transformers.AutoTokenizer.from_pretrained(file.parent, **here)
    if hasattr(transformers, "GgufConfig"):  # where kernels are installed, it would keep blocks
        here["quantization_config"] = transformers.GgufConfig(dequantize=True)
    with contextlib.redirect_stderr(io.StringIO()):  # a progress bar that no setting turns off
        model, report = transformers.AutoModelForCausalLM.from_pretrained(
            file.parent, dtype=getattr(torch, dtype), output_loading_info=True, **here
        )
    check_fit(model, report)
    # it is no quantized model any more; transformers would refuse to save it as one
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


# ---- the libraries


def error_reason(error: Exception) -> str:
    """Return the first line of a library's error, and the second where that only announces it."""
    first, *more = str(error).strip().splitlines() or [type(error).__name__]
    return (f"{first} {more[0].strip()}" if more and first.endswith(":") else first)[:400]


@contextmanager
def opening_refused(name: str) -> Iterator[None]:
    """Turn what a library raises for a broken folder or file into one line: InputError."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # of damaged files the libraries raise all sorts
        raise InputError(f"model {name} cannot be opened: {error_reason(error)}") from None


@contextmanager
def quiet_loading() -> Iterator[None]:
    """Keep the libraries' progress bars and warnings off the screen while they load a model."""
    import transformers

    log = transformers.utils.logging
    level, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        with warnings.catch_warnings(), quiet_hub():
            # peft uses a name that transformers renames: nothing that a user can mend
            warnings.filterwarnings(
                "ignore", message=".*gradient_checkpointing.*", category=FutureWarning
            )
            yield
    finally:
        log.set_verbosity(level)
        if bars:
            log.enable_progress_bar()

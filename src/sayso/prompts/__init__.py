"""Prompts: one text file per step, in our own words, each of which a user can override.

The hash of every prompt that a run used enters the signature of its numbers.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from sayso.records import InputError, content_id


def load_prompt(name: str, folder: Path | None = None) -> str:
    """Return the text of prompt ``name``; a file ``<folder>/<name>.txt`` takes precedence.

    Surrounding white space is dropped. Raises InputError for an unreadable or empty override.
    """
    override = folder / f"{name}.txt" if folder else None
    if override is not None and override.exists():
        try:
            text = override.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{override}: cannot be read as UTF-8 text ({error})") from None
        if not text:
            raise InputError(f"{override}: is empty; write the prompt there or delete the file")
        return text
    return resources.files(__package__).joinpath(f"{name}.txt").read_text(encoding="utf-8").strip()


def check_folder(folder: Path | None) -> None:
    """Refuse a folder of overrides that does not exist or holds names that no step uses."""
    if folder is None:
        return
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder of prompts")
    known = prompt_names()
    for file in sorted(folder.glob("*.txt")):
        if file.stem not in known:
            raise InputError(f"{file}: no step uses this prompt; known: {', '.join(known)}")


def prompt_names() -> list[str]:
    """Return the names of all prompts that can be overridden."""
    files = resources.files(__package__).iterdir()
    return sorted(f.name.removesuffix(".txt") for f in files if f.name.endswith(".txt"))


def prompt_hash(text: str) -> str:
    """Return eight hexadecimal digits that change with the prompt."""
    return content_id(["prompt", text])[:8]

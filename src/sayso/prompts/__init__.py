"""Prompts: one text file per step, in our own words, each of which a user can override.

The papers' own texts are not shipped: whoever has a paper puts them in a folder, unchanged.
The hash of every prompt that a run used enters the signature of its numbers.
"""

from __future__ import annotations

from importlib import resources
from os import PathLike
from pathlib import Path

from sayso.prompts.templates import check_text
from sayso.records import InputError, content_id, suggestion


def load_prompt(name: str, folder: Path | None = None) -> str:
    """Return the text of prompt ``name``; a file ``<folder>/<name>.txt`` takes precedence.

    Surrounding white space is dropped. Raises InputError for an override that cannot be read, is
    empty, or lacks a place (:data:`sayso.prompts.templates.PLACES`).
    """
    override = folder / f"{name}.txt" if folder else None
    if override is not None and override.exists():
        try:
            text = override.read_text(encoding="utf-8-sig").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{override}: cannot be read as UTF-8 text ({error})") from None
        if not text:
            raise InputError(f"{override}: is empty; write the prompt there or delete the file")
        check_text(name, text, override)
        return text
    return resources.files(__package__).joinpath(f"{name}.txt").read_text(encoding="utf-8").strip()


#: bytes of the longest system prompt; most models can read less
LONGEST_SYSTEM = 1_000_000


def system_prompt(given: str | PathLike[str]) -> str:
    """Return a system prompt without surrounding white space: a text, or that of a file (a path).

    Raises InputError for a file that cannot be read, and for a text that is empty or too long.
    """
    if isinstance(given, str):
        what, raw = "system", given.encode("utf-8", "surrogatepass")
    else:
        what = f"system {Path(given)}"
        try:
            with Path(given).open("rb") as file:
                raw = file.read(LONGEST_SYSTEM + 1)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(
                f"{what}: cannot be read ({reason}); name a text file with the system prompt"
            ) from None
    if len(raw) > LONGEST_SYSTEM:
        raise InputError(f"{what}: is longer than {LONGEST_SYSTEM:,} bytes; shorten it")
    try:
        text = raw.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise InputError(
            f"{what}: is no UTF-8 text ({error.reason} at byte {error.start:,}); save it as UTF-8"
        ) from None
    if not text:
        raise InputError(f"{what}: is empty; write the system prompt there, or leave it out")
    return text


def refuse_file_name(text: str) -> None:
    """Refuse a system prompt that is a file's name, in Python, where a path names a file."""
    name = text.strip()
    called = len(name.split()) == 1 and Path(name).suffix in (".txt", ".md")
    if len(name) < 256 and (called or Path(name).is_file()):
        raise InputError(
            f"system {name!r} is the name of a file, and a text is the prompt itself: pass "
            f"Path({name!r})"
        )


#: Folders of prompts that ship with sayso, by the names that settings have for them: the plain
#: question and UNCLE's instruction in other words. The first has the texts of every run.
WORDINGS = {
    name: Path(__file__).parent / "wordings" / name
    for name in ("wording-1", "wording-2", "wording-3", "wording-4")
}

#: How a file that only shows a prompt ends: nothing reads it.
EXAMPLE = ".example"


def check_folder(folder: Path | None) -> list[str]:
    """Return the prompts that a folder overrides; none for no folder.

    Raises InputError for a folder that does not exist, and for a file of it that no step of any
    command can use: its name must be that of a prompt, and its text must have that prompt's places.
    """
    if folder is None:
        return []
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder of prompts")
    known = prompt_names()
    for file in sorted(folder.iterdir()):
        if file.stem in known and file.suffix not in (".txt", EXAMPLE) and file.is_file():
            raise InputError(f"{file}: is not read; name it {file.stem}.txt")
    files = sorted(folder.glob("*.txt"))
    for file in files:
        if file.stem not in known:
            near = suggestion(file.stem, known)
            raise InputError(f"{file}: no step uses this prompt; {near}known: {', '.join(known)}")
        load_prompt(file.stem, folder)
    return [file.stem for file in files]


def prompt_names() -> list[str]:
    """Return the names of all prompts that can be overridden."""
    files = resources.files(__package__).iterdir()
    return sorted(f.name.removesuffix(".txt") for f in files if f.name.endswith(".txt"))


def prompt_hash(text: str) -> str:
    """Return eight hexadecimal digits that change with the prompt."""
    return content_id(["prompt", text])[:8]

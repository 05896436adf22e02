"""What several commands print: a note, JSON, and text of others without control characters."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from sayso.addresses import redact
from sayso.harmless import plain_json, printable


def print_note(text: str) -> None:
    """Print a note on standard error."""
    print("note:", safe_one_line(text), file=sys.stderr)


def note_figures(files: Sequence[Path], folder: Path) -> None:
    """Print how many figures were written, and where they are."""
    suffixes = dict.fromkeys(file.suffix.removeprefix(".") for file in files)
    count = len({file.stem for file in files})
    if not count:
        print_note(f"no figures in {folder}: there is nothing to draw")
        return
    print_note(f"{count} figure{'s' * (count != 1)} ({', '.join(suffixes)}) in {folder}")


def tell(text: str) -> None:
    """Print on standard error what a command has to say of itself."""
    print("sayso:", safe_one_line(text), file=sys.stderr)


def exit_code(lost: Sequence[str]) -> int:
    """Return the exit code of runs of which some ``lost`` most answers: 1, with what to do."""
    if not lost:
        return 0
    tell(lost[0] + (f" (likewise in {len(lost) - 1:,} more)" if len(lost) > 1 else ""))
    return 1


def safe_one_line(text: str) -> str:
    """Return one line without anything that a terminal would obey, and without secrets."""
    return printable(redact(" ".join(text.split())))


def print_json(value: object) -> None:
    """Print a record, or several, as indented JSON."""
    print(plain_json(msgspec.json.format(msgspec.json.encode(value)).decode()))


#: entities of a pilot that a person agrees to
PILOT = 5


def wants_pilot(price: tuple[float, float] | None, flags: Any) -> bool:
    """Ask a person at a terminal for a pilot, where a dry run without one has a wide price."""
    if flags.pilot or flags.json or price is None or price[1] <= 2 * price[0]:
        return False
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    answer = input(
        f"Ask about {PILOT} entities now, or some more, to know the price within a factor of two? "
        "The run finds these answers in the cache. [y/N] "
    )
    return answer.strip().casefold() in ("y", "yes")


def terminal() -> Console:
    """Return the terminal, for tables."""
    return Console()

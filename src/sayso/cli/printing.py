"""What several commands print: a note, JSON, and text of others without control characters."""

from __future__ import annotations

import sys

import msgspec

from sayso.report.numbers import plain_json


def note(text: str) -> None:
    """Print a note on standard error."""
    print("note:", one_line(text), file=sys.stderr)


def tell(text: str) -> None:
    """Print on standard error what a command has to say of itself."""
    print("sayso:", one_line(text), file=sys.stderr)


def one_line(text: str) -> str:
    """Return one line without anything that a terminal would obey."""
    return "".join(c for c in " ".join(text.split()) if c.isprintable())


def print_json(value: object) -> None:
    """Print a record, or several, as indented JSON."""
    print(plain_json(msgspec.json.format(msgspec.json.encode(value)).decode()))

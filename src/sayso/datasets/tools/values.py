"""Values of unknown type in the JSON of other tools."""

from __future__ import annotations

from typing import Any


def object_in(value: object) -> dict[str, Any]:
    """Return an object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def objects_in(value: object) -> list[dict[str, Any]]:
    """Return the objects in a list; none for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_in(value: object) -> str | None:
    """Return a text; ``None`` for anything else."""
    return value if isinstance(value, str) else None


def token_texts(value: object) -> tuple[str, ...] | None:
    """Return the texts of tokens with log-probabilities; ``None`` if one lacks its text."""
    tokens = [item.get("token") for item in objects_in(value)]
    return tuple(map(str, tokens)) if tokens and None not in tokens else None

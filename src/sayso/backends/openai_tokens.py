"""From the listed tokens of a reply to arrays over its text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sayso.backends.openai_errors import mapping


class Arrays(NamedTuple):
    """Arrays over the tokens of a text. ``margins`` are p(1st) - p(2nd), where two were given."""

    offsets: tuple[int, ...]
    logprobs: tuple[float, ...]
    margins: tuple[float, ...] | None


def read_tokens(tokens: Sequence[Any], text: str, after_thought: bool) -> Arrays | None:
    """Return the log-probabilities of ``text``; ``None`` unless the tokens spell exactly it.

    After a thought only the tokens of the answer count; an end-of-text token and what follows a
    stop string are left off.
    """
    entries = [t for t in tokens if isinstance(t, Mapping)]
    spelled = [_spelling(t) for t in entries]
    if len(entries) < len(tokens) or None in spelled:
        return None
    target = text.encode()
    parts = [s for s in spelled if s is not None]
    whole = b"".join(parts)
    first = 0
    if not whole.startswith(target) or (after_thought and len(whole) > len(target)):
        first = _suffix(parts, target)
        if first < 0:
            return None
    offsets: list[int] = []
    at = 0
    for part in parts[first:]:
        if at >= len(target):
            break
        offsets.append(at)
        at += len(part)
    kept = entries[first : first + len(offsets)]
    logprobs = [_number(t.get("logprob")) for t in kept]
    if any(p is None for p in logprobs):
        return None
    return Arrays(
        _characters(text, target, offsets),
        tuple(p for p in logprobs if p is not None),
        _margins(kept),
    )


def _suffix(parts: Sequence[bytes], target: bytes) -> int:
    """Return the token from which on the text is spelled, up to one end-of-text token; or -1."""
    for dropped in (0, 1):
        left = len(target)
        end = len(parts) - dropped
        if b"".join(parts[:end]).endswith(target):
            while left > 0 and end > 0:
                end -= 1
                left -= len(parts[end])
            if left == 0:
                return end
    return -1


def _spelling(token: Mapping[str, Any]) -> bytes | None:
    """Return the bytes of a token: as told, else those of its text."""
    raw = token.get("bytes")
    if isinstance(raw, list):
        try:
            return bytes(raw)
        except (ValueError, TypeError):
            return None
    said = token.get("token")
    try:
        return said.encode() if isinstance(said, str) else None
    except UnicodeEncodeError:
        return None


def _characters(text: str, target: bytes, offsets: Sequence[int]) -> tuple[int, ...]:
    """Turn positions of bytes into positions of characters; inside one, into its own."""
    if len(text) == len(target):
        return tuple(offsets)
    places: list[int] = []
    for place, character in enumerate(text):
        places += [place] * len(character.encode())
    return tuple(places[at] for at in offsets)


def _number(value: object) -> float | None:
    """Return a log-probability, rounded as everywhere; ``None`` where it is none."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return None
    return round(min(float(value), 0.0), 6) + 0.0 if value < 1e-3 else None


def _margins(tokens: Sequence[Mapping[str, Any]]) -> tuple[float, ...] | None:
    found = []
    for token in tokens:
        top = token.get("top_logprobs")
        if not isinstance(top, list) or len(top) < 2:
            return None
        values = [_number(mapping(t).get("logprob")) for t in top]
        known = sorted([v for v in values if v is not None], reverse=True)
        if len(known) < 2:
            return None
        found.append(round(math.exp(known[0]) - math.exp(known[1]), 6))
    return tuple(found)

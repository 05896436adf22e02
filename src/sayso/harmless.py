"""Text that others wrote, made harmless.

Answers of a model, questions and names from a file, what a server says may hold anything: escape
sequences that repaint a terminal, marks that reverse the reading direction, half of a character.
:func:`line` and :func:`block` keep what can be seen and show that something else was there;
:func:`printable` drops it, for messages.
"""

from __future__ import annotations

import json

_REPLACEMENT = 0xFFFD


def _table() -> dict[int, int | str | None]:
    table: dict[int, int | str | None] = {}
    # control characters become their pictures, so that a reader sees that something was there
    table.update({code: 0x2400 + code for code in range(0x20)})
    table[0x7F] = 0x2421
    table.update(dict.fromkeys(range(0x80, 0xA0), _REPLACEMENT))
    # overrides and isolates reorder what follows them, also outside the text they stand in
    table.update(dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], _REPLACEMENT))
    # direction marks, soft breaks, tags and byte order marks are invisible and carry nothing here
    table.update(dict.fromkeys([0x061C, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF, 0x00AD]))
    table.update(dict.fromkeys(range(0xE0000, 0xE0080)))
    table.update(dict.fromkeys([*range(0xD800, 0xE000), 0xFFFE, 0xFFFF], _REPLACEMENT))
    table.update({ord("\n"): "\n", ord("\t"): " ", ord("\r"): None, 0x2028: "\n", 0x2029: "\n"})
    return table


_BLOCK = _table()
_LINE = {**_BLOCK, ord("\n"): " ", 0x2028: " ", 0x2029: " "}


def block(text: str) -> str:
    """Return ``text`` with line breaks kept and everything invisible or reordering taken out."""
    return text.translate(_BLOCK)


def line(text: str, limit: int | None = None) -> str:
    """Return ``text`` on one line, cut to ``limit`` characters with an ellipsis."""
    if limit is not None:
        text = text[: limit + 1]
    flat = text.translate(_LINE)
    return flat if limit is None or len(flat) <= limit else flat[: max(limit - 1, 0)] + "…"


def well_formed(text: str) -> str:
    """Return ``text`` without lone surrogates, which no file in UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def plain_json(text: str) -> str:
    """Return JSON with everything escaped that could move a terminal's cursor or reorder text.

    It is read as the same JSON: texts in it may be a model's or a server's.
    """
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def printable(text: object, limit: int | None = None) -> str:
    """Return a text on one line with nothing that cannot be seen, cut to ``limit`` characters."""
    plain = "".join(c for c in " ".join(str(text).split()) if c.isprintable())
    return plain if limit is None else plain[:limit]


def json_kind(value: object) -> str:
    """Return what kind of JSON a value is; of any other, the name of its type."""
    kinds = {
        dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number",
        float: "a number", type(None): "null",
    }  # fmt: skip
    return kinds.get(type(value), type(value).__name__)

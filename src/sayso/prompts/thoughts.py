"""Thoughts in the text of a model: the marks around them, and the text without them."""

from __future__ import annotations

import re
from typing import NamedTuple

#: names of the tags with which models mark a thought in their text
TAGS = ("think", "thinking", "thought", "reasoning")
#: How models mark a thought: what opens it, what closes it.
THOUGHTS = (
    *((f"<{tag}>", f"</{tag}>") for tag in TAGS),
    ("[THINK]", "[/THINK]"),
    ("<seed:think>", "</seed:think>"),
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
)
#: An opening or a closing mark; a tag is closed by any tag, every other mark by its own.
_MARK = re.compile(
    rf"(?P<head>^[ \t]*+)?(?:<(?P<tag>/?)(?:{'|'.join(TAGS)})>|\[(?P<bracket>/?)(?-i:THINK)\]"
    r"|<(?P<seed>/?)seed:think>|<\|channel\|>(?P<channel>analysis|final)<\|message\|>)",
    re.I | re.M,
)


class Split(NamedTuple):
    """A text without its thoughts. ``closed``: none of them lasts to the end; ``implicit``: one was
    open when the text began, as some templates have it."""

    text: str
    thoughts: tuple[str, ...] = ()
    closed: bool = True
    implicit: bool = False


def split_thoughts(text: str, lines: bool = False) -> Split:
    """Take the thoughts out of a text.

    A thought lasts from its opening mark to the closing one, or, where the mark begins a line, to
    the end of the text; all before a closing mark alone is one too. ``lines``: marks count at the
    beginning of a line only, and a closing one wherever a thought is open. A text without thoughts
    comes back as it is.
    """
    if "<" not in text and "[" not in text:
        return Split(text)
    pieces: list[str] = []
    thoughts: list[str] = []
    opened, at, implicit, mid_line = "", 0, False, None
    for mark in _MARK.finditer(text):
        kind = mark.lastgroup or ""
        closes = mark[kind] in ("/", "final")
        if opened:
            if closes and kind == opened:
                thoughts.append(text[at : mark.start()].strip())
                opened, at = "", mark.end()
        elif lines and mark["head"] is None:
            continue
        elif closes:
            implicit = implicit or not thoughts
            thoughts.append("".join([*pieces, text[at : mark.start()]]).strip())
            pieces, at = [], mark.end()
        else:
            pieces.append(text[at : mark.start()])
            before = "".join(pieces).rpartition("\n")[2]
            opened, at, mid_line = kind, mark.end(), mark if before.strip() else None
    if opened and mid_line is not None:  # the text speaks of the mark
        return Split("".join([*pieces, text[mid_line.start() :]]), tuple(thoughts), True, implicit)
    if opened:
        return Split("".join(pieces), (*thoughts, text[at:].strip()), False, implicit)
    if not thoughts:
        return Split(text)
    return Split("".join([*pieces, text[at:]]), tuple(thoughts), True, implicit)


def strip_thinking(text: str) -> tuple[str, bool]:
    """Return a judge's reply without its thoughts, and whether all of them were closed.

    A reply may quote a mark inside a line.
    """
    split = split_thoughts(text, lines=True)
    return split.text, split.closed

"""Thoughts in the text of a model: the marks around them, and the text without them."""

from __future__ import annotations

import re
from collections.abc import Iterable
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
    open when the text began, as some templates have it. ``kept``: the spans of the text, where
    thoughts were taken out."""

    text: str
    thoughts: tuple[str, ...] = ()
    closed: bool = True
    implicit: bool = False
    kept: tuple[tuple[int, int], ...] = ()

    def place(self, at: int) -> int:
        """Return where a character of the text stood before thoughts were taken out."""
        for start, end in self.kept:
            if at < end - start:
                return start + at
            at -= end - start
        return at


def split_thoughts(text: str, lines: bool = False) -> Split:
    """Take the thoughts out of a text.

    A thought lasts from its opening mark to the closing one, or, where the mark begins a line, to
    the end of the text. All before a closing mark alone is one too, wherever the mark stands:
    many templates put the opening one into the prompt. Marks that a sentence speaks of stay,
    and with ``lines`` every pair whose opening mark stands inside a line. A text without thoughts
    comes back as it is.
    """
    if "<" not in text and "[" not in text:
        return Split(text)
    kept: list[tuple[int, int]] = []
    thoughts: list[str] = []
    at, implicit, closed = 0, False, True
    opened: re.Match[str] | None = None
    doubted = False  # the sentence around the mark that is open may only speak of it
    for mark in _MARK.finditer(text):
        kind = mark.lastgroup or ""
        closes = mark[kind] in ("/", "final")
        if not closes:
            if opened is None or doubted:
                spoken = _spoken_of(text, mark) or (lines and mark["head"] is None)
                if opened is None or not spoken:
                    opened, doubted = mark, spoken
        elif opened is None or (doubted and mark["head"] is not None):
            if opened is not None or not _spoken_of(text, mark):
                implicit = implicit or not thoughts
                thoughts.append(_joined(text, [*kept, (at, mark.start())]).strip())
                kept, at, opened, doubted = [], mark.end(), None, False
        elif kind == opened.lastgroup:
            if not doubted or not (lines or _spoken_of(text, mark)):
                kept.append((at, opened.start()))
                thoughts.append(text[opened.end() : mark.start()].strip())
                at = mark.end()
            opened, doubted = None, False
    end = len(text)
    if opened is not None and not doubted:
        before = _joined(text, [*kept, (at, opened.start())])
        if not before.rpartition("\n")[2].strip():
            thoughts.append(text[opened.end() :].strip())
            end, closed = opened.start(), False
    if not thoughts:
        return Split(text)
    kept.append((at, end))
    return Split(_joined(text, kept), tuple(thoughts), closed, implicit, tuple(kept))


def _joined(text: str, spans: Iterable[tuple[int, int]]) -> str:
    return "".join(text[start:end] for start, end in spans)


#: quotation marks that open and close around a mark
_QUOTES = frozenset(["''", "‘’", "“”", "«»", "()", "**"])
#: how far before and behind a mark its line is read
_NEAR = 2_000
_WORD_BEFORE = re.compile(r"[\w,:] $")
_WORD_BEHIND = re.compile(r" [a-z]|[.,;:!?)]{1,3}(?:\s|$)")


def _spoken_of(text: str, mark: re.Match[str]) -> bool:
    """Whether a mark is a word of a sentence: in quotation marks or back-quotes, or between words.

    "Qwen3 ends it with </think>." speaks of a mark, "So it is Paris.</think>Paris" has one.
    """
    start, end = mark.span()
    begins = max(text.rfind("\n", 0, start) + 1, start - _NEAR)
    before, behind = text[begins:start], text[end : end + _NEAR].partition("\n")[0]
    for quote in ('"', "`"):
        if (before.count(quote) - before.count(f"\\{quote}")) % 2 and quote in behind:
            return True
    return before[-1:] + behind[:1] in _QUOTES or bool(
        _WORD_BEFORE.search(before[-2:]) and _WORD_BEHIND.match(behind)
    )


def strip_thinking(text: str) -> tuple[str, bool]:
    """Return a judge's reply without its thoughts, and whether all of them were closed.

    A reply may quote marks inside a line.
    """
    split = split_thoughts(text, lines=True)
    return split.text, split.closed

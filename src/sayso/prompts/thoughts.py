"""Thoughts in the text of a model: the marks around them, and the text without them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

#: names of the tags with which models mark a thought in their text
TAGS = (
    "think", "thinking", "thought", "thoughts", "reasoning", "scratchpad", "antthinking",
    "internal_monologue", "reflection", "cot", "longcat_think", "mm:think",
)  # fmt: skip
#: How models mark a thought: what opens it, what closes it.
THOUGHTS = (
    *((f"<{tag}>", f"</{tag}>") for tag in TAGS),
    ("[THINK]", "[/THINK]"),
    ("<seed:think>", "</seed:think>"),
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
    ("<|channel|>commentary<|message|>", "<|channel|>final<|message|>"),
    ("<|channel>thought", "<channel|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|start_thinking|>", "<|end_thinking|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|think|>", "<|/think|>"),
    ("<|thinking|>", "<|/thinking|>"),
    ("<unused94>thought", "<unused95>"),
    ("◁think▷", "◁/think▷"),
)


def _pattern(mark: str) -> str:
    """Return the pattern of a mark; a channel may name a tool or a format before its message."""
    told = r"[^<\n]{0,80}(?:<\|constrain\|>[ \w]{0,20})?<\|message\|>"
    pattern = re.escape(mark).replace(re.escape("<|message|>"), told)
    return f"(?-i:{pattern})" if mark.startswith("[") else pattern


_OPENS, _CLOSES = (
    "|".join(dict.fromkeys(map(_pattern, marks))) for marks in zip(*THOUGHTS, strict=True)
)
#: a mark of a thought; any that closes one closes the one that is open
_MARK = re.compile(rf"(?P<head>^[ \t]*+)?(?:(?P<opens>{_OPENS})|{_CLOSES})", re.I | re.M)
_LABEL = "thinking|thoughts?|thought process|chain of thought|reasoning|scratchpad"
#: Thoughts that a program puts before the answer in plain words: how the text begins, what ends
#: the thought. A text without that end is none.
TOLD = (
    (r"thinking(?:\.\.\.|…)[ \t]{0,9}\n", r"^[ \t]{0,9}(?:\.\.\.|…)[ \t]?done thinking\b\.?"),
    (r"(?:assistant)?analysis", r"assistant\s{0,3}final(?=\W|(?-i:[A-Z]))|^final(?=$|(?-i:[A-Z]))"),
    (r"here is my thought process:", r"^[ \t*#]{0,9}here is my (?:final )?(?:response|answer):"),
    (rf"[*#_ \t]{{0,9}}(?:{_LABEL})[*_]{{0,3}}(?::[*_]{{0,3}}|[ \t]{{0,9}}\n)",
     r"(?=^[ \t*#_]{0,9}(?:final )?(?:answer|response|output)[*_]{0,3}(?::|[ \t]{0,9}$))"),
    (r"(?:assistant)?(?-i:analysis(?=[A-Z]))", r"\Z"),
    (r"thinking:", r"^signature:.*$"),
    (r"reasoning:[ \t]?\[\]", r"\n"),
    (r"(?:thinking|reasoning):", r"\n[ \t]{0,9}\n\s{0,9}(?=\S)"),
)  # fmt: skip
_TOLD = [(re.compile(a, re.I), re.compile(b, re.I | re.M)) for a, b in TOLD]
#: A token of a chat template, which ends an answer or stands before it with the name of who
#: speaks, one inside which an answer stands, and a whole request. Struck words are none.
_TOKEN = re.compile(
    r"(?P<struck><s>[^<\n]{0,999}</s>(?=[ \t]*[^\s<\[]))"
    r"|(?:(?P<around><\|(?:(?:begin|end)_of_(?:box|solution)|(?:start|end)_response)\|>)"
    r"|\[INST\](?:[^\[]++|\[(?!/?INST))*+\[/INST\]|\[/?INST\]"
    r"|<\|[^|<>\s]{1,40}\|>|<｜[^<>｜\s]{1,40}｜>"
    r"|<(?:start|end)_of_turn>|<\|?turn\|?>|</?s>|<(?:bos|eos|pad|end_of_utterance|think/)>"
    r"|<sop>|\[gMASK\]|\[e~\[|\]~b\])(?:(?:assistant|model)(?=\s*(?:\n|<|\Z)))?",
    re.I,
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

    def only(self, spans: Iterable[tuple[int, int]]) -> Split:
        """Return what stands in some spans of the text."""
        pieces, kept = list(spans), []
        for low, high in pieces:
            at = 0
            for start, end in self.kept or ((0, len(self.text)),):
                first, last = max(low, at), min(high, at + end - start)
                if first < last:
                    kept.append((start + first - at, start + last - at))
                at += end - start
        return self._replace(text=_joined(self.text, pieces), kept=tuple(kept))


def split_thoughts(text: str, lines: bool = False) -> Split:
    """Take the thoughts out of a text, and what a chat template puts around an answer.

    A thought lasts from its opening mark to the closing one, or, where the mark begins a line, to
    the end of the text. All before a closing mark alone is one too, wherever the mark stands:
    many templates put the opening one into the prompt. Marks that a sentence speaks of stay,
    and with ``lines`` every pair whose opening mark stands inside a line, and stop tokens. A text
    without any of it comes back as it is.
    """
    split = _without_thoughts(text, lines)
    return split if lines else _without_tokens(split)


def _without_tokens(split: Split) -> Split:
    """Return a text up to its first stop token, without the tokens before it."""
    text = split.text
    if "<" not in text and "[" not in text and "]" not in text:
        return split
    spans: list[tuple[int, int]] = []
    at = 0
    for token in _TOKEN.finditer(text):
        if token["struck"] or is_spoken_of(text, token):
            continue
        if text[at : token.start()].strip():
            spans.append((at, token.start()))
            if not token["around"]:
                return split.only(spans)
        at = token.end()
    return split.only([*spans, (at, len(text))]) if at else split


def _without_thoughts(text: str, lines: bool) -> Split:
    begins = len(text) - len(text.lstrip())
    for opens, ends in _TOLD:
        begun = opens.match(text, begins)
        ended = ends.search(text, begun.end()) if begun else None
        if begun and ended:
            thought = text[begun.end() : ended.start()].strip()
            rest = (ended.end(), len(text))
            return Split(text[slice(*rest)], (thought,), ended.start() < len(text), kept=(rest,))
    if "<" not in text and "[" not in text and "◁" not in text:
        return Split(text)
    kept: list[tuple[int, int]] = []
    thoughts: list[str] = []
    at, implicit, closed = 0, False, True
    opened: re.Match[str] | None = None
    doubted = False  # the sentence around the mark that is open may only speak of it
    for mark in _MARK.finditer(text):
        if mark["opens"] is not None:
            if opened is None or doubted:
                spoken = is_spoken_of(text, mark) or (lines and mark["head"] is None)
                if opened is None or not spoken:
                    opened, doubted = mark, spoken
        elif opened is None or (doubted and mark["head"] is not None):
            if opened is not None or not is_spoken_of(text, mark):
                implicit = implicit or not thoughts
                thoughts.append(_joined(text, [*kept, (at, mark.start())]).strip())
                kept, at, opened, doubted = [], mark.end(), None, False
        else:
            if not doubted or not (lines or is_spoken_of(text, mark)):
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


def is_spoken_of(text: str, mark: re.Match[str]) -> bool:
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

"""From generated token ids to text, offsets, thought and answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sayso.backends.hf_render import THOUGHTS

BROKEN = "\ufffd"
#: A thought opens within this many tokens, or there is none.
HEAD = 48


class Answer(NamedTuple):
    """What the generated tokens say. Tokens ``first:last`` are those of ``text``."""

    text: str
    first: int
    last: int
    offsets: tuple[int, ...]
    thinking: str | None
    thinking_tokens: int | None
    unclosed: bool
    stopped: bool


class Detokenizer:
    """Turns ids into text and finds the character at which each token begins."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.special = frozenset(tokenizer.all_special_ids)
        self.heads: dict[int, str] = {}
        self.tails: dict[int, str] = {}
        anchor = tokenizer("a", add_special_tokens=False)["input_ids"]
        self.anchor = list(anchor[-1:])
        self.anchor_text = self.decode(self.anchor)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids, special tokens left out and spaces as they are."""
        return str(
            self.tokenizer.decode(
                list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )

    def _piece(self, token: int, first: bool) -> str:
        """Return what one token adds, at the beginning of a text or inside it."""
        known = self.heads if first else self.tails
        if token not in known:
            if first:
                known[token] = self.decode([token])
            else:
                known[token] = self.decode([*self.anchor, token])[len(self.anchor_text) :]
        return known[token]

    def offsets(self, ids: Sequence[int], text: str) -> list[int]:
        """Return the character position in ``text`` at which each token begins.

        A token that carries only part of a character begins where that character does.
        """
        pieces = [self._piece(token, place == 0) for place, token in enumerate(ids)]
        if "".join(pieces) == text:
            starts, at = [], 0
            for piece in pieces:
                starts.append(at)
                at += len(piece)
            return starts
        starts, at = [], 0
        for place in range(len(ids)):
            whole = self.decode(ids[:place]).rstrip(BROKEN)
            at = max(at, min(len(whole), len(text)))
            starts.append(at)
        return starts


def _find_marks(text: str, opened: tuple[str, str] | None) -> tuple[str, str] | None:
    """Return the marks of a thought that the prompt or the text itself opened."""
    if opened is not None:
        return opened
    start = text.lstrip()
    for marks in THOUGHTS:
        if start.startswith(marks[0]):
            return marks
    return None


def _mark_text(detokenizer: Detokenizer, ids: Sequence[int]) -> tuple[str, list[int]]:
    """Return text and offsets with special tokens written out, since marks may be special."""
    pieces: list[str] = []
    starts: list[int] = []
    at = 0
    text = detokenizer.decode(ids)
    if not detokenizer.special.intersection(ids):
        return text, detokenizer.offsets(ids, text)
    run: list[int] = []
    for token in [*ids, None]:
        if token is not None and token not in detokenizer.special:
            run.append(token)
            continue
        said = detokenizer.decode(run)
        starts.extend(at + start for start in detokenizer.offsets(run, said))
        pieces.append(said)
        at += len(said)
        run = []
        if token is not None:
            name = str(detokenizer.tokenizer.convert_ids_to_tokens(token))
            starts.append(at)
            pieces.append(name)
            at += len(name)
    return "".join(pieces), starts


class Separation(NamedTuple):
    """Where the answer begins: at token ``first``, ``cut`` characters into what it says."""

    first: int = 0
    cut: int = 0
    thinking: str | None = None
    tokens: int | None = None
    unclosed: bool = False


def separate(
    detokenizer: Detokenizer, ids: Sequence[int], opened: tuple[str, str] | None
) -> Separation:
    """Find the thought at the beginning of generated tokens.

    ``opened`` are the marks of a thought that the prompt opened. Marks and the white space behind
    them belong to neither. A text that does not begin with a thought has none.
    """
    hidden = opened is not None or detokenizer.special.intersection(ids)
    if not hidden and _find_marks(detokenizer.decode(ids[:HEAD]), None) is None:
        return Separation()
    text, starts = _mark_text(detokenizer, ids)
    marks = _find_marks(text, opened)
    if marks is None:
        return Separation()
    opening, closing = marks
    lead = len(text) - len(text.lstrip())
    begin = lead + len(opening) if text.startswith(opening, lead) else 0
    end = text.find(closing, begin)
    tokens = sum(1 for start in starts if begin <= start and (end < 0 or start < end))
    if end < 0:
        return Separation(len(ids), 0, text[begin:].strip(), tokens, unclosed=True)
    said = text[end + len(closing) :].lstrip()
    answer = len(text) - len(said)
    ends = [*starts[1:], len(text)]
    first = sum(1 for a, b in zip(starts, ends, strict=True) if a < answer and b <= answer)
    rest = detokenizer.decode(ids[first:])
    spare = len(rest) - (len(said) if rest.endswith(said) else len(rest.lstrip()))
    return Separation(first, spare, text[begin:end].strip(), tokens)


def read_answer(
    detokenizer: Detokenizer,
    ids: Sequence[int],
    stops: Sequence[str],
    opened: tuple[str, str] | None,
) -> Answer:
    """Return thought and answer of generated ids (end-of-text token left out).

    The text ends before the first stop string; stop strings count in the answer only, not in a
    thought. A token that begins before the cut and reaches over it is kept whole in the arrays.
    """
    found = separate(detokenizer, ids, opened)
    answer = list(ids[found.first :])
    whole = detokenizer.decode(answer)
    offsets = [max(0, start - found.cut) for start in detokenizer.offsets(answer, whole)]
    text = whole[found.cut :]
    ends = [at for at in (text.find(stop) for stop in stops if stop) if at >= 0]
    if ends:
        text = text[: min(ends)]
        offsets = offsets[: sum(1 for start in offsets if start < len(text))]
    return Answer(
        text, found.first, found.first + len(offsets), tuple(offsets), found.thinking,
        found.tokens, found.unclosed, bool(ends),
    )  # fmt: skip


def stops_here(
    detokenizer: Detokenizer,
    ids: Sequence[int],
    stops: Sequence[str],
    opened: tuple[str, str] | None,
) -> bool:
    """Return True as soon as the answer holds a stop string.

    The newest token completes it, so the end of the text is looked at first: a character has at
    most four bytes and a token at least one, unless it is special. Then thoughts are told from
    answers.
    """
    end = ids[-(4 * max(map(len, stops), default=0) + 8) :]
    text = detokenizer.decode(ids if detokenizer.special.intersection(end) else end)
    if not any(stop in text for stop in stops if stop):
        return False
    return read_answer(detokenizer, ids, stops, opened).stopped

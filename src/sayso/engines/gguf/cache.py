"""Prefixes in llama.cpp's memory: what texts have in common is computed once and kept once.

Slots are llama.cpp's sequences. Texts that are read together form a tree: a token that several of
them begin with is one token of several sequences. The last prompt stays behind as a sequence of its
own, so that the next prompts compute only what they do not share with it. With sliding windows,
llama.cpp gives away the places of that sequence without a word, so nothing is kept there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sayso.engines.engine import Counts
from sayso.engines.gguf.llama import Memory
from sayso.engines.local.decode import Slots

Floats = NDArray[np.float32]


class TokenToRead(NamedTuple):
    """A token to read: its position, the slots that it belongs to, and whose logits are wanted."""

    token: int
    position: int
    slots: list[int]
    wanted: list[tuple[int, int]]


def shared(a: Sequence[int], b: Sequence[int]) -> int:
    """Return how many tokens two texts begin with in common."""
    size = min(len(a), len(b))
    return next((place for place in range(size) if a[place] != b[place]), size)


class LlamaCache:
    """The prefixes of a decoding loop (:class:`sayso.engines.local.decode.PrefixCache`).

    Where it ``keeps`` a prompt, sequence ``rows`` of the memory holds the last one. A running
    ``state`` of an architecture cannot give a part of a text to another one: there prompts share
    nothing but what their own draws share.
    """

    equal_lengths = False
    refills = True

    def __init__(
        self, memory: Memory, rows: int, counts: Counts, *, keeps: bool, state: bool
    ) -> None:
        self.memory, self.rows, self.counts = memory, rows, counts
        self.keeps, self.state = keeps and not state, state
        self.lengths: Slots = np.zeros(0, dtype=np.int64)
        self.kept: tuple[int, ...] = ()
        self.memory.clear()

    def reset(self) -> None:
        """Forget all slots, and keep the last prompt."""
        for slot in range(self.rows):
            self.memory.remove(slot)
        self.lengths = np.zeros(0, dtype=np.int64)

    def prefill(self, prompts: Sequence[Sequence[int]], rows: int, until: int) -> Floats:
        """Add a slot for each prompt behind the others; return their next logits (P, V)."""
        first = len(self.lengths)
        ends = [[len(prompt) - 1] for prompt in prompts]
        rows_of = np.empty((len(prompts), self.memory.model.tokens), dtype=np.float32)
        for texts, _, row, logits in self.read(prompts, ends, first):
            rows_of[texts] = logits[row]
        self.lengths = np.concatenate([self.lengths, [len(prompt) for prompt in prompts]])
        return rows_of

    def read(
        self, texts: Sequence[Sequence[int]], wanted: Sequence[Sequence[int]], first: int
    ) -> Iterator[tuple[Slots, Slots, Slots, Floats]]:
        """Read texts into the slots from ``first`` on; yield the logits that are wanted, in parts.

        ``wanted`` are positions of each text, ascending. A part is four arrays: texts and positions
        (N,), the row of logits of each (N,), and logits (rows, V), which hold until the next part.
        """
        reads = self._plan(texts, wanted, first)
        for at, end in self._parts(reads):
            part = reads[at:end]
            logits = self.memory.decode(
                [read.token for read in part],
                [read.position for read in part],
                [read.slots for read in part],
                [bool(read.wanted) for read in part],
            )
            self.counts.forwards += 1
            self.counts.slots += len(part)
            shown = [read.wanted for read in part if read.wanted]
            if shown:
                owners = [(*one, row) for row, several in enumerate(shown) for one in several]
                text, position, row = np.array(owners, dtype=np.int64).T
                yield text, position, row, logits
        if self.keeps and len(texts[-1]) <= self.memory.places // 4:
            self.memory.remove(self.rows)
            self.memory.copy(first + len(texts) - 1, self.rows)
            self.kept = tuple(texts[-1])

    def _plan(
        self, texts: Sequence[Sequence[int]], wanted: Sequence[Sequence[int]], first: int
    ) -> list[TokenToRead]:
        """Return the tokens to read, each once, parents before children."""
        reads: list[TokenToRead] = []
        path: list[TokenToRead | None] = []
        before: Sequence[int] = ()
        # one bound for all: texts that share tokens must begin to be read at the same place
        bound = min(places[0] for places in wanted)
        for number in sorted(range(len(texts)), key=lambda n: tuple(texts[n])):
            text, needed = texts[number], set(wanted[number])
            slot = first + number
            self.memory.remove(slot)
            have = min(shared(text, self.kept), bound) if self.keeps else 0
            if have:
                self.memory.copy(self.rows, slot, have)
            path = [] if self.state else path[: shared(text, before)]
            for position in range(len(text)):
                if position >= len(path):
                    path.append(None)
                if position < have:
                    continue
                read = path[position]
                if read is None:
                    read = path[position] = TokenToRead(text[position], position, [], [])
                    reads.append(read)
                read.slots.append(slot)
                if position in needed:
                    read.wanted.append((number, position))
            before = text
        return reads

    def _parts(self, reads: Sequence[TokenToRead]) -> list[tuple[int, int]]:
        """Return where to cut the tokens: so many of them, and so many logits, at once."""
        parts, at, outputs = [], 0, 0
        for place, read in enumerate(reads):
            more = bool(read.wanted)
            if place - at == self.memory.TOKENS or outputs + more > self.memory.outputs:
                parts.append((at, place))
                at, outputs = place, 0
            outputs += more
        parts.append((at, len(reads)))
        return parts

    def step(self, tokens: Slots) -> Floats:
        """Append one token to each slot; return the next logits (S, V)."""
        count = len(self.lengths)
        logits = self.memory.decode(
            tokens.astype(np.int32),
            self.lengths.astype(np.int32),
            np.arange(count, dtype=np.int32),
            np.ones(count, dtype=np.bool_),
        )
        self.counts.forwards += 1
        self.counts.slots += count
        self.lengths = self.lengths + 1
        return logits

    def rearrange(self, to: Slots, source: Slots, size: int) -> None:
        """Copy slots ``source`` over slots ``to``, then keep the first ``size``."""
        before = len(self.lengths)
        grown = np.zeros(max(size, before), dtype=np.int64)
        grown[:before] = self.lengths
        for there, here in zip(to.tolist(), source.tolist(), strict=True):
            self.memory.remove(there)
            self.memory.copy(here, there)
        grown[to] = self.lengths[source]
        for slot in range(size, len(grown)):
            self.memory.remove(slot)
        self.lengths = grown[:size]

    def forget(self, slots: Slots) -> None:
        """Stop counting slots that nobody continues."""
        for slot in slots.tolist():
            self.memory.remove(slot)
        self.lengths[slots] = 0

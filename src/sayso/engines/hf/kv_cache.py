"""Keys and values of many prefixes at once: prefill once, branch, drop, compact, refill.

A *slot* holds one distinct prefix. Draws that agree so far share a slot, so k draws of a prompt
cost one prefill, and equal answers cost one row. All prefixes end in the same column; shorter ones
begin later and are masked before that.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sayso.engines.hf.load import Runner
from sayso.engines.hf.shipped import PlainCache
from sayso.engines.local.decode import AHEAD, PrefixCache, Slots

#: Rows that are copied at once. No row is both read and written in one rearrangement.
MOVED = 32


def padded(prompts: Sequence[Sequence[int]], pad: int, left: bool = True) -> Tensor:
    """Return token ids of shape (P, longest), padded on one side."""
    longest = max(len(p) for p in prompts)
    table = np.full((len(prompts), longest), pad, dtype=np.int64)
    for row, prompt in enumerate(prompts):
        if left:
            table[row, longest - len(prompt) :] = prompt
        else:
            table[row, : len(prompt)] = prompt
    return torch.from_numpy(table)


def _empty(runner: Runner) -> Any:
    """Return a cache that holds nothing yet."""
    if runner.plain:
        return PlainCache(runner.model.config)
    from transformers.cache_utils import DynamicCache

    return DynamicCache(config=runner.model.config)


def first_pass(runner: Runner, prompts: Sequence[Sequence[int]]) -> tuple[Tensor, Any]:
    """Run prompts through the model; return their last logits and the cache they leave."""
    lengths = torch.tensor([len(p) for p in prompts])
    ids = padded(prompts, runner.pad)
    width = ids.shape[1]
    positions = (torch.arange(width) - (width - lengths)[:, None]).clamp(min=0)
    cache = _empty(runner)
    logits = runner.forward(ids, _mask(runner, lengths, width), positions, cache, keep=1)
    return logits[:, -1], cache


def _next(runner: Runner, tokens: Slots, lengths: Slots, width: int, cache: Any) -> Tensor:
    """Read one token behind each prefix of a cache ``width`` columns wide; return logits (S, V)."""
    sizes = torch.from_numpy(lengths)
    mask = _mask(runner, sizes + 1, width + 1)
    ids = torch.from_numpy(tokens)[:, None]
    return runner.forward(ids, mask, sizes[:, None], cache, keep=1)[:, -1]


def _mask(runner: Runner, lengths: Tensor, width: int) -> Tensor | None:
    """Return what may be read of left-padded rows; ``None`` for a running state.

    A mask would be multiplied into the state. Its batches have no padding.
    """
    if runner.memory == "state":
        return None
    return torch.arange(width) >= (width - lengths)[:, None]


class _Window:
    """The part of the buffers in use: rows ``:rows``, columns ``start:end``."""

    rows = 0
    start = 0
    end = 0


class SlotLayer:
    """One layer's keys and values in a buffer that is written in place, not concatenated."""

    is_initialized = False

    def __init__(self, window: _Window) -> None:
        super().__init__()
        self.window = window
        self.stored: list[Tensor] = []

    def update(self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any) -> Any:
        """Write the newest columns and return everything in the window."""
        w = self.window
        end = w.end + key_states.shape[-2]
        for stored, new in zip(self.stored, (key_states, value_states), strict=True):
            stored[: w.rows, :, w.end : end] = new
        keys, values = (stored[: w.rows, :, w.start : end] for stored in self.stored)
        return keys, values

    def get_seq_length(self) -> int:
        """Return the columns before the newest ones."""
        return self.window.end - self.window.start

    def insert(self, states: tuple[Tensor, Tensor], row: int, capacity: tuple[int, int]) -> None:
        """Put prefilled states (P, heads, L, size) at rows ``row:`` so that they end at ``end``."""
        if not self.stored:
            self.stored = [
                s.new_zeros((capacity[0], s.shape[1], capacity[1], s.shape[3])) for s in states
            ]
            self.is_initialized = True
        end = self.window.end
        for stored, new in zip(self.stored, states, strict=True):
            stored[row : row + new.shape[0], :, end - new.shape[2] : end] = new

    def regrow(self, capacity: tuple[int, int], start: int) -> None:
        """Move the window to column ``start`` of new buffers of ``capacity`` (rows, columns)."""
        w = self.window
        width = w.end - w.start
        for place, old in enumerate(self.stored):
            new = old.new_zeros((capacity[0], old.shape[1], capacity[1], old.shape[3]))
            new[: w.rows, :, start : start + width] = old[: w.rows, :, w.start : w.end]
            self.stored[place] = new

    def shift(self, start: int) -> None:
        """Move the window to column ``start`` of the same buffers."""
        w = self.window
        width = w.end - w.start
        for stored in self.stored:
            window = stored[: w.rows, :, w.start : w.end].clone()
            stored[: w.rows, :, start : start + width] = window

    def move(self, to: Tensor, source: Tensor) -> None:
        """Copy some rows over others, few at a time: they are in memory twice meanwhile."""
        w = self.window
        for stored in self.stored:
            for there, here in zip(torch.split(to, MOVED), torch.split(source, MOVED), strict=True):
                stored[there, :, w.start : w.end] = stored[here, :, w.start : w.end]


@lru_cache(maxsize=2)
def _slot_layer(plain: bool) -> type[SlotLayer]:
    """Return the kind of layer that a model takes: transformers asks its own kind for more."""
    if plain:
        return SlotLayer
    from transformers.cache_utils import DynamicLayer

    class DynamicSlotLayer(SlotLayer, DynamicLayer):  # type: ignore[misc]  # it publishes no types
        """A slot layer inside a cache of transformers."""

    return DynamicSlotLayer


class SlotCache:
    """For plain attention in every layer: slots branch and refill in place."""

    refills = True
    equal_lengths = False

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.lengths: Slots = np.zeros(0, dtype=np.int64)
        self.window = _Window()
        self.capacity = (0, 0)
        self.cache = _empty(runner)
        layer = _slot_layer(runner.plain)
        self.cache.layers = [layer(self.window) for _ in self.cache.layers]

    def _reserve(self, rows: int, before: int, after: int) -> None:
        """Make room for ``rows`` rows, ``before`` columns up to the end and ``after`` behind it."""
        w = self.window
        if rows <= self.capacity[0] and before <= w.end and w.end + after <= self.capacity[1]:
            return
        width = max(before, w.end - w.start)
        start = width - (w.end - w.start)
        if rows <= self.capacity[0] and width + after + AHEAD // 2 <= self.capacity[1]:
            for layer in self.cache.layers:
                layer.shift(start)
        else:
            # unused rows are given back: the limit on slots counts those in use
            self.capacity = (rows + rows // 16, width + after + max(AHEAD, width // 8))
            for layer in self.cache.layers:
                layer.regrow(self.capacity, start)
        w.start, w.end = start, width

    @torch.inference_mode()
    def prefill(self, prompts: Sequence[Sequence[int]], rows: int, until: int) -> Tensor:
        """Run the prompts in chunks of similar length and put them behind the live slots."""
        logits = []
        at = 0
        widest = max(len(p) for p in prompts)
        while at < len(prompts):
            longest, count = 0, 0
            for prompt in prompts[at:]:
                longest = max(longest, len(prompt))
                if count and longest * (count + 1) > self.runner.prefill_slots:
                    break
                count += 1
            chunk = prompts[at : at + count]
            last, cache = first_pass(self.runner, chunk)
            row = len(self.lengths)
            after = until - max(widest, self.window.end - self.window.start)
            self._reserve(rows, widest, max(1, after))
            for layer, fresh in zip(self.cache.layers, cache.layers, strict=True):
                if fresh.is_initialized:
                    layer.insert((fresh.keys, fresh.values), row, self.capacity)
            self.lengths = np.concatenate([self.lengths, [len(p) for p in chunk]])
            self._fit()
            logits.append(last)
            at += count
        return logits[0] if len(logits) == 1 else torch.cat(logits)

    def forget(self, slots: Slots) -> None:
        """Stop counting slots that nobody continues."""
        self.lengths[slots] = 1
        self._fit()

    def _fit(self) -> None:
        """Let the window hold exactly the live prefixes."""
        self.window.rows = len(self.lengths)
        longest = int(self.lengths.max()) if len(self.lengths) else 0
        self.window.start = self.window.end - longest

    @torch.inference_mode()
    def step(self, tokens: Slots) -> Tensor:
        """Append one token to each slot; return the next logits (S, V)."""
        w = self.window
        self._reserve(w.rows, 0, 1)
        logits = _next(self.runner, tokens, self.lengths, w.end - w.start, self.cache)
        w.end += 1
        self.lengths = self.lengths + 1
        return logits

    @torch.inference_mode()
    def rearrange(self, to: Slots, source: Slots, size: int) -> None:
        """Copy slots ``source`` over slots ``to``, then keep the first ``size``."""
        if len(to):
            self._reserve(size, 0, 0)
            self.window.rows = max(size, len(self.lengths))
            there = torch.from_numpy(to).to(self.runner.device)
            here = torch.from_numpy(source).to(self.runner.device)
            for layer in self.cache.layers:
                layer.move(there, here)
        grown = np.zeros(max(size, len(self.lengths)), dtype=np.int64)
        grown[: len(self.lengths)] = self.lengths
        grown[to] = self.lengths[source]
        self.lengths = grown[:size]
        self._fit()


class BatchCache:
    """For any cache of transformers that can be reordered: sliding windows, states, hybrids.

    It does not refill. Where a layer keeps a running state, padding would leak into it, so prompts
    of one batch have equal lengths.
    """

    refills = False

    def __init__(self, runner: Runner, equal_lengths: bool) -> None:
        self.runner = runner
        self.equal_lengths = equal_lengths
        self.lengths: Slots = np.zeros(0, dtype=np.int64)
        self.width = 0
        self.cache: Any = None

    @torch.inference_mode()
    def prefill(self, prompts: Sequence[Sequence[int]], rows: int, until: int) -> Tensor:
        """Start a new batch."""
        logits, self.cache = first_pass(self.runner, prompts)
        self.lengths = np.array([len(p) for p in prompts], dtype=np.int64)
        self.width = int(self.lengths.max())
        return logits

    @torch.inference_mode()
    def step(self, tokens: Slots) -> Tensor:
        """Append one token to each slot; return the next logits (S, V)."""
        logits = _next(self.runner, tokens, self.lengths, self.width, self.cache)
        self.width += 1
        self.lengths = self.lengths + 1
        return logits

    @torch.inference_mode()
    def rearrange(self, to: Slots, source: Slots, size: int) -> None:
        """Copy slots ``source`` over slots ``to``, then keep the first ``size``."""
        index = np.arange(max(size, len(self.lengths)))
        index[to] = source
        index = index[:size]
        if len(to) or size != len(self.lengths):
            where = torch.from_numpy(index).to(self.runner.device)
            for layer in self.cache.layers:
                layer.reorder_cache(where)
        self.lengths = self.lengths[index]

    def forget(self, slots: Slots) -> None:
        """Stop counting slots that nobody continues."""
        self.lengths[slots] = 1


class NoCache:
    """For architectures without a usable cache: every step reads the whole text again.

    Padding stands on the right, where a causal model cannot see it.
    """

    refills = True
    equal_lengths = False

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.texts: list[list[int]] = []

    @property
    def lengths(self) -> Slots:
        """Return the tokens in each slot."""
        return np.array([len(t) for t in self.texts], dtype=np.int64)

    def _read(self, texts: Sequence[Sequence[int]]) -> Tensor:
        rows = []
        size = max(1, self.runner.prefill_slots // max(len(t) for t in texts))
        for at in range(0, len(texts), size):
            part = texts[at : at + size]
            logits = self.runner.forward(padded(part, self.runner.pad, left=False))
            ends = torch.tensor([len(t) - 1 for t in part], device=logits.device)
            rows.append(logits[torch.arange(len(part), device=logits.device), ends])
        return torch.cat(rows)

    @torch.inference_mode()
    def prefill(self, prompts: Sequence[Sequence[int]], rows: int, until: int) -> Tensor:
        """Add the prompts behind the live slots."""
        self.texts.extend(list(p) for p in prompts)
        return self._read(prompts)

    @torch.inference_mode()
    def step(self, tokens: Slots) -> Tensor:
        """Append one token to each slot; return the next logits (S, V)."""
        for text, token in zip(self.texts, tokens.tolist(), strict=True):
            text.append(token)
        return self._read(self.texts)

    @torch.inference_mode()
    def rearrange(self, to: Slots, source: Slots, size: int) -> None:
        """Copy slots ``source`` over slots ``to``, then keep the first ``size``."""
        texts = self.texts + [[] for _ in range(size - len(self.texts))]
        for there, here in zip(to.tolist(), source.tolist(), strict=True):
            texts[there] = list(self.texts[here])
        self.texts = texts[:size]

    def forget(self, slots: Slots) -> None:
        """Stop counting slots that nobody continues."""
        for slot in slots.tolist():
            self.texts[slot] = [self.runner.pad]


def open_cache(runner: Runner) -> PrefixCache:
    """Return the best memory that this model's architecture allows."""
    if runner.memory == "none":
        return NoCache(runner)
    if runner.memory == "slots":
        return SlotCache(runner)
    return BatchCache(runner, equal_lengths=runner.memory == "state")

"""Keys and values of many prefixes at once: prefill once, branch, drop, compact, refill.

A *slot* holds one distinct prefix. Draws that agree so far share a slot, so k draws of a prompt
cost one prefill, and equal answers cost one row. All prefixes end in the same column; shorter ones
begin later and are masked before that.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sayso.engines.hf.load import Runner
from sayso.engines.hf.shipped import PlainCache
from sayso.engines.local.decode import AHEAD, PrefixCache, Slots

Prompt = tuple[int, ...]
#: One layer's keys and values, each (rows, heads, tokens, size).
States = tuple[Tensor, Tensor]
#: Rows that are copied at once. No row is both read and written in one rearrangement.
MOVED = 32
#: A beginning that prompts share is read by itself if it has so many tokens, and if that saves more
#: tokens in all than a pass of its own is worth.
SHORTEST, PASS = 16, 256
#: Bytes of keys and values of shared beginnings that are kept; an older one is read again.
KEPT = 64 << 20


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


def first_pass(
    runner: Runner, prompts: Sequence[Sequence[int]], shared: Sequence[States] = ()
) -> tuple[Tensor, Any]:
    """Run prompts through the model; return their last logits and the cache they leave.

    All prompts begin with the tokens whose keys and values are ``shared``, layer by layer: only
    what comes behind is read.
    """
    known = shared[0][0].shape[-2] if shared else 0
    rests = [prompt[known:] for prompt in prompts]
    lengths = torch.tensor([len(rest) for rest in rests])
    ids = padded(rests, runner.pad)
    width = ids.shape[1]
    positions = known + (torch.arange(width) - (width - lengths)[:, None]).clamp(min=0)
    mask = _mask(runner, lengths, width)
    cache = _empty(runner)
    if known and mask is not None:
        mask = torch.cat([mask.new_ones(len(prompts), known), mask], dim=1)
        for layer, states in zip(cache.layers, shared, strict=True):
            layer.update(*(part.expand(len(prompts), -1, -1, -1) for part in states))
    logits = runner.forward(ids, mask, positions, cache, keep=1)
    if known:
        _close_up(cache, width - lengths, shared)
    return logits[:, -1], cache


def _close_up(cache: Any, gaps: Tensor, shared: Sequence[States]) -> None:
    """Move each row's shared beginning over the padding behind it, so that all padding is left."""
    known = shared[0][0].shape[-2]
    for gap in sorted(set(gaps.tolist())):
        if not gap:
            continue
        rows = (gaps == gap).nonzero()[:, 0]
        for layer, states in zip(cache.layers, shared, strict=True):
            here = rows.to(layer.keys.device)
            layer.keys[here, :, gap : gap + known] = states[0]
            layer.values[here, :, gap : gap + known] = states[1]


class Beginnings:
    """The beginnings that different prompts share, each read once where that is worth a pass.

    What is shared depends on the prompts of a call alone. Only plain attention can share: elsewhere
    no prompt has such a beginning.
    """

    def __init__(self, runner: Runner, prompts: Iterable[Prompt]) -> None:
        self.runner = runner
        self._kept: dict[Prompt, list[States]] = {}
        sizes = shared_sizes(prompts) if runner.memory == "slots" else {}
        self._shared = {prompt: prompt[:size] for prompt, size in sizes.items() if size}

    def of(self, prompt: Prompt) -> Prompt:
        """Return the tokens that a prompt shares; none where it is read alone."""
        return self._shared.get(prompt, ())

    def together(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Return the places of prompts that share a beginning, group by group."""
        groups: dict[Prompt, list[int]] = {}
        for place, prompt in enumerate(prompts):
            groups.setdefault(self.of(prompt), []).append(place)
        return list(groups.values())

    def states(self, beginning: Prompt) -> list[States]:
        """Return the keys and values of a beginning, layer by layer; none of none."""
        if not beginning:
            return []
        if beginning not in self._kept:
            _, cache = first_pass(self.runner, [beginning])
            size = len(beginning) * self.runner.place
            while self._kept and size + self._bytes() > KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[beginning] = [(layer.keys, layer.values) for layer in cache.layers]
        return self._kept[beginning]

    def _bytes(self) -> int:
        return sum(map(len, self._kept)) * self.runner.place


def shared_sizes(prompts: Iterable[Prompt]) -> dict[Prompt, int]:
    """Return how many tokens of each prompt to read once for all that share them, 0 for none.

    Each prompt has one beginning at most, which leaves a token of its own. In sorted order prompts
    that share are side by side, in intervals within intervals. An interval shares one beginning
    where that reads fewer tokens than its parts do, each of which shares a longer one or none.
    """
    order = sorted(set(prompts))
    ends = np.cumsum([0, *map(len, order)]).tolist()
    found: list[tuple[int, int, int]] = []
    open_ = [(0, 0, 0)]  # tokens shared, first prompt, tokens that its parts read so far
    for last, prompt in enumerate(order):
        ahead = _in_common(prompt, order[last + 1]) if last + 1 < len(order) else 0
        ahead = ahead if ahead >= SHORTEST else 0
        first, cost = last, len(prompt)
        while open_[-1][0] > ahead:
            size, first, parts = open_.pop()
            cost += parts
            once = ends[last + 1] - ends[first] - (last - first) * size + PASS
            if once < cost:
                cost = once
                found.append((size, first, last))
        if open_[-1][0] < ahead:
            open_.append((ahead, first, cost))
        else:
            size, start, parts = open_.pop()
            open_.append((size, start, parts + cost))
    sizes = dict.fromkeys(order, 0)
    for size, first, last in found:  # what encloses others comes behind them
        sizes.update(dict.fromkeys(order[first : last + 1], size))
    return sizes


def _in_common(one: Prompt, other: Prompt) -> int:
    """Return how many tokens two prompts share, at most all of either but one."""
    most = min(len(one), len(other)) - 1
    return bisect_left(range(1, most + 1), True, key=lambda n: one[:n] != other[:n])


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

    def insert(self, states: States, rows: slice | Tensor, capacity: tuple[int, int]) -> None:
        """Put prefilled states (P, heads, L, size) into rows so that they end at ``end``."""
        if not self.stored:
            self.stored = [
                s.new_zeros((capacity[0], s.shape[1], capacity[1], s.shape[3])) for s in states
            ]
            self.is_initialized = True
        end = self.window.end
        for stored, new in zip(self.stored, states, strict=True):
            stored[rows, :, end - new.shape[2] : end] = new

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

    def __init__(self, runner: Runner, prompts: Iterable[Prompt]) -> None:
        self.runner = runner
        self.beginnings = Beginnings(runner, prompts)
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
        texts = [tuple(prompt) for prompt in prompts]
        first = len(self.lengths)
        widest = max(len(p) for p in texts)
        after = until - max(widest, self.window.end - self.window.start)
        self._reserve(rows, widest, max(1, after))
        self.lengths = np.concatenate([self.lengths, [len(p) for p in texts]])
        self._fit()
        logits: list[Tensor] = []
        order: list[int] = []
        for places in self._chunks(texts):
            shared = self.beginnings.states(self.beginnings.of(texts[places[0]]))
            last, cache = first_pass(self.runner, [texts[place] for place in places], shared)
            at: slice | Tensor = slice(first + places[0], first + places[-1] + 1)
            if places[-1] - places[0] >= len(places):
                at = first + torch.tensor(places, device=self.runner.device)
            for layer, fresh in zip(self.cache.layers, cache.layers, strict=True):
                if fresh.is_initialized:
                    layer.insert((fresh.keys, fresh.values), at, self.capacity)
            logits.append(last)
            order += places
        found = logits[0] if len(logits) == 1 else torch.cat(logits)
        if order != sorted(order):
            found = found[torch.from_numpy(np.argsort(order)).to(found.device)]
        return found

    def _chunks(self, prompts: Sequence[Prompt]) -> Iterator[list[int]]:
        """Yield the places of prompts that are read in one pass: they share a beginning, or none
        does."""
        for group in self.beginnings.together(prompts):
            chunk: list[int] = []
            longest = 0
            for place in group:
                longest = max(longest, len(prompts[place]))
                if chunk and longest * (len(chunk) + 1) > self.runner.prefill_slots:
                    yield chunk
                    chunk, longest = [], len(prompts[place])
                chunk.append(place)
            yield chunk

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


def open_cache(runner: Runner, prompts: Iterable[Prompt]) -> PrefixCache:
    """Return the best memory that this model's architecture allows, for these prompts."""
    if runner.memory == "none":
        return NoCache(runner)
    if runner.memory == "slots":
        return SlotCache(runner, prompts)
    return BatchCache(runner, equal_lengths=runner.memory == "state")

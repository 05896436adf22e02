"""Given text read in one pass: the probabilities of its tokens (teacher forcing), and hidden states
at one layer and position.

What comes behind a position cannot change its state in a causal model. So a text is read up to its
position only, texts that are then equal are read once, and the head that would turn states into
probabilities is not computed. Only the wanted layer is kept, never a whole batch of all layers.
Teacher forcing reads all that stands before an answer's last token: a :class:`Watch` takes states
while it runs, without a pass of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sayso.engines.engine import POSITIONS
from sayso.engines.hf import sampling
from sayso.engines.hf.kv_cache import Beginnings, first_pass, padded
from sayso.engines.hf.load import Runner
from sayso.engines.local.records import Arrays, Given
from sayso.records import InputError

#: Logits held at once: columns are read in chunks so that rows x columns x V stays below this.
LOGITS = 16_000_000
#: The largest number that float16 holds: a larger state is stored as this.
LARGEST = float(np.finfo(np.float16).max)
#: Bytes of states that wait to be taken; later ones are not kept, and read again.
WAITING = 64_000_000
Half = NDArray[np.float16]


def force(
    runner: Runner,
    given: Sequence[Given],
    want: frozenset[str],
    rows: int,
    watch: Watch | None = None,
) -> Iterator[tuple[Given, Arrays]]:
    """Yield the wanted arrays of each continuation, one entry for each of its tokens.

    Continuations of one prompt share its prefill, and different prompts the reading of a long
    beginning. ``watch`` keeps hidden states that go by.
    """
    for item in given:
        if not item.ids:
            yield item, {}
    filled = [item for item in given if item.ids]
    beginnings = Beginnings(runner, (item.prompt.ids for item in filled))
    for batch in _batches(runner, filled, rows, beginnings):
        with watch.on(runner) if watch is not None else nullcontext():
            if runner.memory in ("none", "state"):
                arrays = [_read_alone(runner, item, want, watch) for item in batch]
            else:
                arrays = _read(runner, batch, want, watch, beginnings)
        yield from zip(batch, arrays, strict=True)


def _batches(
    runner: Runner, given: Sequence[Given], rows: int, beginnings: Beginnings
) -> Iterator[list[Given]]:
    """Yield items of similar length together, those with one prompt side by side.

    All prompts of a batch share their beginning, or none does.
    """
    shared = beginnings.of
    order = sorted(
        given,
        key=lambda g: (shared(g.prompt.ids), len(g.prompt.ids), g.prompt.ids, len(g.ids)),
    )
    batch: list[Given] = []
    for item in order:
        size = max(len(g.prompt.ids) + len(g.ids) for g in [*batch, item])
        uneven = (
            runner.memory == "state"
            and bool(batch)
            and len(batch[0].prompt.ids) != len(item.prompt.ids)
        )
        uneven |= bool(batch) and shared(batch[0].prompt.ids) != shared(item.prompt.ids)
        full = (len(batch) + 1) * size > runner.prefill_slots or len(batch) >= rows
        if batch and (full or uneven):
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


@torch.inference_mode()
def _read(
    runner: Runner,
    batch: Sequence[Given],
    want: frozenset[str],
    watch: Watch | None,
    beginnings: Beginnings,
) -> list[Arrays]:
    """Read one batch: prompts once, then all continuations behind them, chunk by chunk."""
    prompts: dict[tuple[int, ...], int] = {}
    node = torch.tensor([prompts.setdefault(g.prompt.ids, len(prompts)) for g in batch])
    shared = beginnings.states(beginnings.of(batch[0].prompt.ids))
    logits, cache = first_pass(runner, list(prompts), shared)
    if watch is not None:
        watch.see(batch, node.tolist(), None)
    if len(batch) != len(prompts) or node.tolist() != list(range(len(batch))):
        for layer in cache.layers:
            layer.reorder_cache(node.to(runner.device))
    lengths = torch.tensor([len(g.prompt.ids) for g in batch])
    start = int(lengths.max())
    surplus = watch.surplus if watch is not None else 0
    targets = padded([(*g.ids, *[runner.pad] * surplus) for g in batch], runner.pad, left=False)
    arrays: list[Arrays] = [{} for _ in batch]
    before = logits[node.to(logits.device)][:, None]
    at, columns = 0, targets.shape[1]
    step = max(1, LOGITS // (len(batch) * runner.vocabulary))
    while True:
        _collect(before, batch, at, targets, want, arrays)
        at += before.shape[1]
        if at >= columns:
            return arrays
        width = min(step, columns - at)
        ids = targets[:, at - 1 : at - 1 + width]
        end = start + at - 1 + width
        mask = torch.arange(end) >= (start - lengths)[:, None]
        positions = lengths[:, None] + torch.arange(at - 1, at - 1 + width)
        if runner.context is not None:  # padding behind a shorter continuation
            positions = positions.clamp(max=runner.context - 1)
        before = runner.forward(ids, mask, positions, cache)
        if watch is not None:
            watch.see(batch, range(len(batch)), at - 1)


def _collect(
    logits: Tensor,
    batch: Sequence[Given],
    at: int,
    targets: Tensor,
    want: frozenset[str],
    arrays: list[Arrays],
) -> None:
    """Add the arrays of columns ``at ..`` of the continuations, padding left out."""
    width = logits.shape[1]
    real = [min(max(len(g.ids) - at, 0), width) for g in batch]
    keep = torch.arange(width) < torch.tensor(real)[:, None]
    columns = measure_arrays(
        logits.flatten(0, 1), targets[:, at : at + width][keep], want, keep.flatten()
    )
    ends = np.cumsum(real).tolist()
    for name, values in columns.items():
        for row, (end, count) in enumerate(zip(ends, real, strict=True)):
            arrays[row].setdefault(name, []).extend(values[end - count : end])


@torch.inference_mode()
def _read_alone(runner: Runner, item: Given, want: frozenset[str], watch: Watch | None) -> Arrays:
    """Read one continuation without a cache."""
    count = len(item.ids)
    surplus = watch.surplus if watch is not None else 0
    ids = torch.tensor(
        [[*item.prompt.ids, *item.ids][: len(item.prompt.ids) + count - 1 + surplus]]
    )
    logits = runner.forward(ids, keep=count + surplus)
    if watch is not None:
        watch.see([item], [0], -len(item.prompt.ids))
    return measure_arrays(logits[0, :count], torch.tensor(item.ids), want)


def measure_arrays(
    logits: Tensor, tokens: Tensor, want: frozenset[str], keep: Tensor | None = None
) -> Arrays:
    """Return the wanted arrays for N distributions (N, V) and the tokens (N,) that follow.

    With ``keep`` (M,) logits are (M, V), of which N are kept: a few at a time, never all copied.
    """
    arrays: Arrays = {name: [] for name in want}
    step = sampling.at_once(logits)
    rows = None if keep is None else keep.nonzero()[:, 0].to(logits.device)
    for at in range(0, len(tokens), step):
        span = slice(at, at + step)
        reading = sampling.read_logits(logits[span if rows is None else rows[span]])
        place = torch.arange(len(reading.best), device=reading.best.device)
        part = tokens[at : at + step].to(place.device)
        for name, values in sampling.record(reading, place, part, want).items():
            arrays.setdefault(name, []).extend(values.tolist())
        del reading  # before the next one
    return arrays


# ---- hidden states


def layer_of(runner: Runner, layer: int, position: str) -> int:
    """Return the layer counted from 0; an unknown layer or position raises InputError."""
    if position not in POSITIONS:
        raise InputError(f"position {position!r} is unknown: expected {', '.join(POSITIONS)}")
    last = depth(runner)
    if not -last - 1 <= layer <= last:
        raise InputError(
            f"layer {layer} is not in the model: it has 0 (embeddings) to {last}, "
            "or -1 for the last"
        )
    place = layer if layer >= 0 else last + 1 + layer
    if place != last:
        _blocks(runner)
    return place


def depth(runner: Runner) -> int:
    """Return how many blocks the model has: layers are counted 0 (embeddings) to this."""
    return int(runner.model.config.get_text_config(decoder=True).num_hidden_layers)


def width(runner: Runner) -> int:
    """Return the length of a hidden state."""
    return int(runner.model.config.get_text_config(decoder=True).hidden_size)


def _blocks(runner: Runner) -> torch.nn.ModuleList:
    """Return the model's blocks, the first layer's first; a model that hides them raises."""
    for module in runner.model.base_model.modules():
        if isinstance(module, torch.nn.ModuleList) and len(module) == depth(runner):
            return module
    raise InputError(
        f"{type(runner.model).__name__} does not give access to its layers: only layer -1 can be "
        "read"
    )


def hidden(
    runner: Runner, texts: Sequence[tuple[int, ...]], layer: int, rows: int
) -> Iterator[tuple[tuple[int, ...], Half]]:
    """Yield each different text with its state (d,); ``layer`` counts from 0."""
    for batch in _text_batches(runner, texts, rows):
        yield from zip(batch, _states(runner, batch, layer), strict=True)


def _text_batches(
    runner: Runner, texts: Sequence[tuple[int, ...]], rows: int
) -> Iterator[list[tuple[int, ...]]]:
    """Yield texts of similar length together, as many as fit into one pass."""
    batch: list[tuple[int, ...]] = []
    for text in sorted(texts, key=lambda t: (len(t), t)):
        if batch and (len(batch) >= rows or (len(batch) + 1) * len(text) > runner.prefill_slots):
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch


@torch.inference_mode()
def _states(runner: Runner, texts: Sequence[Sequence[int]], layer: int) -> Half:
    """Return the state (n, d) of the last token of each text, all in one pass.

    Padding stands behind the texts, where a causal model does not look: no mask is needed.
    """
    ids = padded(texts, runner.pad, left=False).to(runner.device)
    seen: list[Tensor] = []
    with watching(runner, layer, seen):
        runner.model.base_model(input_ids=ids, use_cache=False)
    runner.counts.forwards += 1
    runner.counts.slots += ids.numel()
    ends = torch.tensor([len(text) - 1 for text in texts], device=seen[0].device)
    return half(seen[0][torch.arange(len(texts), device=seen[0].device), ends])


@contextmanager
def watching(runner: Runner, layer: int, seen: list[Tensor]) -> Iterator[None]:
    """Put the states (rows, columns, d) of one layer into ``seen``, pass by pass.

    They are what goes into block ``layer``, or, behind the last block, what the head reads.
    """

    def into(module: Any, args: tuple[Any, ...], given: dict[str, Any]) -> None:
        seen.append(args[0] if args else given["hidden_states"])

    def out(module: Any, args: tuple[Any, ...], output: Any) -> None:
        seen.append(output.last_hidden_state)

    if layer == depth(runner):
        handle = runner.model.base_model.register_forward_hook(out)
    else:
        handle = _blocks(runner)[layer].register_forward_pre_hook(into, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()


def half(states: Tensor) -> Half:
    """Return states as they are stored."""
    return np.asarray(states.float().clamp(-LARGEST, LARGEST).cpu().numpy(), dtype=np.float16)


class Watch:
    """States at one layer and position of the texts that were forced, until they are taken.

    ``surplus``: tokens that have to be read though nothing is predicted from them.
    """

    def __init__(self, layer: int, position: str) -> None:
        self.layer = layer
        self.position = position
        self.surplus = int(position == "last_answer")
        self._seen: list[Tensor] = []
        self._waiting: dict[tuple[int, ...], Half] = {}
        self._bytes = 0

    @contextmanager
    def on(self, runner: Runner) -> Iterator[None]:
        """Watch the passes that are run meanwhile."""
        self._seen.clear()
        with watching(runner, self.layer, self._seen):
            yield
        self._seen.clear()

    def see(self, batch: Sequence[Given], rows: Sequence[int], first: int | None) -> None:
        """Keep the states of the newest pass; ``rows`` are the rows in which the answers stand.

        The pass read the answers' tokens from ``first`` on, counted from 0 where the answer begins;
        ``None``: it read prompts, left-padded, whose last tokens share the last column.
        """
        if not self._seen:
            return  # an architecture whose parts are not run as modules: read by a pass of its own
        states = self._seen.pop()
        if first is None:
            states, first = states[:, -1:], -1
        texts, places = [], []
        for item, row in zip(batch, rows, strict=True):
            text = read_until(item, self.position)
            column = len(text) - len(item.prompt.ids) - 1 - first
            if 0 <= column < states.shape[1] and text not in self._waiting:
                texts.append(text)
                places.append((row, column))
        if not texts or self._bytes > WAITING:
            return
        at = torch.tensor(places, device=states.device)
        kept = half(states[at[:, 0], at[:, 1]])
        self._bytes += kept.nbytes
        self._waiting.update(zip(texts, kept, strict=True))

    def take(
        self, layer: int, position: str, texts: Iterable[tuple[int, ...]]
    ) -> dict[tuple[int, ...], Half]:
        """Return the states held of these texts, and forget all that are held."""
        if (layer, position) != (self.layer, self.position):
            return {}
        states = {text: self._waiting[text] for text in texts if text in self._waiting}
        self._waiting.clear()
        self._bytes = 0
        return states


def read_until(item: Given, position: str) -> tuple[int, ...]:
    """Return the tokens up to the position, its own the last; none where there is no such token."""
    if position == "last_prompt":
        return item.prompt.ids
    if not item.ids:
        return ()
    whole = (*item.prompt.ids, *item.ids)
    return whole if position == "last_answer" else whole[:-1]

"""The ``hf`` engine: any causal language model that transformers can load, in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray

from sayso.engines.engine import Capabilities, read_options
from sayso.engines.hf import force, sampling
from sayso.engines.hf.files import opening_refused, packaged_card
from sayso.engines.hf.force import Watch, layer_of, read_until
from sayso.engines.hf.kv_cache import open_cache
from sayso.engines.hf.load import (
    HfOptions,
    Identity,
    Runner,
    choose_threads,
    describe,
    dtype_name,
    first_limits,
    identify,
    load_model,
    load_shipped,
    ran_out,
)
from sayso.engines.local.decode import DecodeJob, PrefixCache
from sayso.engines.local.engine import LocalEngine
from sayso.engines.local.records import Arrays, Given, check_arrays
from sayso.engines.local.text import ends_of_text
from sayso.engines.named import PACKAGED, card_of, limits_of, shipped_folder
from sayso.records import Request


def open_hf(name: str, **options: object) -> HfEngine:
    """Open a folder or a hub id; options are those of
    :class:`~sayso.engines.hf.load.HfOptions`."""
    return _open(name, f"hf:{name}", options)


def open_packaged(name: str, **options: object) -> HfEngine:
    """Open a model that comes as a Python package, by its short name."""
    engine = _open(name, name, options)
    engine.signature = f"{name}@{engine.signature.rpartition('@')[2]}"
    return engine


def open_shipped(name: str, **options: object) -> HfEngine:
    """Open a model that sayso brings, by its name."""
    engine = _open(str(shipped_folder(name)), name, options, shipped=True)
    engine.signature = f"{name}@1{''.join(engine.signature.partition('+')[1:])}"
    return engine


def _open(source: str, name: str, options: Mapping[str, object], shipped: bool = False) -> HfEngine:
    """Open a folder, a hub id or a packaged model under this name; ``shipped``: sayso's."""
    checked = read_options(HfOptions, options, "known options")
    check_arrays(checked.record)
    if checked.end_loops is None:
        checked = msgspec.structs.replace(checked, end_loops=limits_of(name).end_loops)
    model, tokenizer = load_shipped(name, checked) if shipped else load_model(source, checked)
    with opening_refused(source):
        identity = identify(source, model, tokenizer, checked)
        engine = HfEngine(name, model, tokenizer, identity, checked)
    card = card_of(Path(source).expanduser())
    engine.base_name, engine.base_run = card.base_name, card.base_run
    if source in PACKAGED:
        engine.card = packaged_card(source, dtype_name(engine.runner.model.dtype))
    return engine


class HfEngine(LocalEngine):
    """A transformers model as an engine. ``card`` is what a packaged file says of its origin,
    license and quantization."""

    sampling = sampling

    def __init__(
        self, name: str, model: Any, tokenizer: Any, identity: Identity, options: HfOptions
    ) -> None:
        tokenizer.deprecation_warnings = {
            "sequence-length-is-longer-than-the-specified-maximum": True
        }  # warned already: long texts are the engine's business
        super().__init__(
            name, tokenizer, ends_of_text(model, tokenizer), options.record,
            end_loops=bool(options.end_loops), window=options.window,
        )  # fmt: skip
        self.identity, self.base, self.signature = identity
        if options.end_loops:  # its answers are others
            self.identity += "|end_loops"
            self.signature += "+end_loops"
        self.options = options
        pad = tokenizer.pad_token_id
        self.threads_before = torch.get_num_threads()
        self.runner = Runner(
            model,
            pad if pad is not None else min(self.ends, default=0),
            self.counts,
            choose_threads(model, options),
        )
        self.watched: Watch | None = None
        self.limits = first_limits(self.runner, options)
        self.architecture = type(model).__name__
        self.capabilities = Capabilities(
            logprobs=True,
            entropies=True,
            alternatives=True,
            hidden=True,
            force=True,
            context=self.runner.context,
        )

    @property
    def vocabulary(self) -> int:
        """How many tokens there are."""
        return self.runner.vocabulary

    def _cache(self, jobs: Sequence[DecodeJob]) -> AbstractContextManager[PrefixCache]:
        return nullcontext(open_cache(self.runner, [job.prompt.ids for job in jobs]))

    def _ran_out(self, error: RuntimeError) -> bool:
        return ran_out(error)

    def _read(self, given: list[Given], wanted: frozenset[str]) -> Iterator[tuple[Given, Arrays]]:
        return force.force(self.runner, given, wanted, self.limits.rows, self.watched)

    def _halve(self) -> None:
        super()._halve()
        if self.runner.device.type == "cuda":
            torch.cuda.empty_cache()
        self.runner.prefill_slots = max(1, self.runner.prefill_slots // 2)

    @property
    def device(self) -> str:
        """Where it computes, and in which numbers."""
        return describe(self.runner.model)

    @property
    def plan(self) -> str:
        """With how many threads it computes, and how much at once: draws may depend on both."""
        threads = self.runner.threads or torch.get_num_threads()
        many = f"{threads} thread{'s' * (threads != 1)}; " * (self.runner.device.type == "cpu")
        limits = self.limits
        return (
            f"{many}batches of up to {limits.rows:,} answers and {limits.most:,} tokens "
            f"({limits.first:,} for a new batch, {limits.slots:,} when answers join a running "
            f"batch, {self.runner.prefill_slots:,} when reading prompts)"
        )

    @property
    def notices(self) -> list[str]:
        """What the architecture does not allow, and what was changed in prompts so far."""
        notices = super().notices
        if self.runner.memory == "none":
            notices.append(
                f"{self.architecture} has no cache to share: every token reads the whole text "
                "again, which is slow"
            )
        elif self.runner.memory == "state":
            notices.append(
                f"{self.architecture} keeps a running state: only prompts of equal length share a "
                "batch"
            )
        return notices

    def hidden(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], layer: int, position: str
    ) -> NDArray[np.float16]:
        """Return hidden states (n, d); see :meth:`sayso.engines.engine.HiddenReader.hidden`."""
        place = layer_of(self.runner, layer, position)
        rows: dict[tuple[int, ...], list[int]] = {}
        for item, problem in self._given(items):
            if problem is None and (text := read_until(item, position)):
                rows.setdefault(text, []).append(item.number)
        states = np.full((len(items), force.width(self.runner)), np.nan, dtype=np.float16)
        if self.watched is not None:
            for text, state in self.watched.take(place, position, list(rows)).items():
                states[rows.pop(text)] = state
        while rows:
            try:
                for text, state in force.hidden(self.runner, list(rows), place, self.limits.rows):
                    states[rows.pop(text)] = state
            except RuntimeError as error:
                self._halve_rows(error)
        return states

    def watch(self, layer: int, position: str) -> None:
        """Keep the states that forcing sees; :meth:`sayso.engines.engine.StateWatcher.watch`."""
        self.watched = Watch(layer_of(self.runner, layer, position), position)

    def close(self) -> None:
        """Give the memory and the threads back."""
        self.runner.model = None
        torch.set_num_threads(self.threads_before)

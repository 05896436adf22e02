"""The ``hf`` engine: any causal language model that transformers can load, in this process."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib import resources
from itertools import islice
from typing import Any

import msgspec
import torch

from sayso.backends import hf_force
from sayso.backends.hf_decode import Decoder, Job, Limits, Raw
from sayso.backends.hf_force import ARRAYS, Given
from sayso.backends.hf_load import (
    Identity,
    Options,
    Runner,
    choose_threads,
    identify,
    load,
)
from sayso.backends.hf_memory import open_cache
from sayso.backends.hf_render import Rendered, describe, ends_of_text, renderer
from sayso.backends.hf_text import Detokenizer, read_answer, stops_here
from sayso.models import Capabilities, Counts
from sayso.records import Alternative, Generation, InputError, Request, Usage

#: Rows at once. Measured on the built-in model: 256 to 512 are best on a CPU, 1024 costs a third more.
ROWS = 512
OUT_OF_MEMORY = ("out of memory", "not enough memory", "can't allocate memory")


class HfEngine:
    """A transformers model as an engine (see :class:`sayso.models.Engine`).

    ``notices`` are sentences for the user: what was done to prompts, what the architecture does
    not allow.
    """

    def __init__(
        self, name: str, model: Any, tokenizer: Any, identity: Identity, options: Options
    ) -> None:
        self.name = name
        self.identity, self.base, self.signature = identity
        self.counts = Counts()
        self.notices: list[str] = []
        self.options = options
        self.tokenizer = tokenizer
        tokenizer.deprecation_warnings = {
            "sequence-length-is-longer-than-the-specified-maximum": True
        }
        self.ends = ends_of_text(model, tokenizer)
        pad = tokenizer.pad_token_id
        self.runner = Runner(
            model, pad if pad is not None else min(self.ends, default=0), self.counts
        )
        self.render = renderer(tokenizer)
        self.detokenizer = Detokenizer(tokenizer)
        self.record = options.record & ARRAYS
        self.limits = self._first_limits()
        self.said: Counter[str] = Counter()
        self.capabilities = Capabilities(
            logprobs=True,
            entropies=True,
            alternatives=True,
            force=True,
            context=self.runner.context,
        )
        if self.runner.memory == "none":
            self.notices.append(
                f"{type(model).__name__} has no cache that could be shared: every token reads the "
                "whole text again, which is slow"
            )
        elif self.runner.memory == "state":
            self.notices.append(
                f"{type(model).__name__} keeps a running state: only prompts of equal length "
                "share a batch"
            )
        if not tokenizer.chat_template:
            self.notices.append(
                "the model has no chat template: prompts are written as 'Question: ... Answer:'"
            )
        self.threads_before = torch.get_num_threads()
        threads = choose_threads(model, options)
        if threads is not None:
            torch.set_num_threads(threads)

    def _first_limits(self) -> Limits:
        """Return rows and token places that fit into memory, from the size of one place."""
        text = self.runner.model.config.get_text_config(decoder=True)
        layers = int(getattr(text, "num_hidden_layers", 12))
        heads = int(getattr(text, "num_attention_heads", 12) or 12)
        hidden = int(getattr(text, "hidden_size", 768))
        kept = int(getattr(text, "num_key_value_heads", heads) or heads)
        size = int(getattr(text, "head_dim", 0) or hidden // heads)
        width = 2 * layers * kept * size * torch.tensor([], dtype=self.runner.model.dtype).itemsize
        if self.runner.device.type == "cuda":
            memory, share = torch.cuda.mem_get_info(self.runner.device)[0], 0.7
        else:
            memory, share = _free_memory(), 0.25
        slots = self.options.token_slots or max(1024, int(memory * share) // max(1, width))
        return Limits(self.options.max_rows or ROWS, slots)

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        """Answer requests lazily, a window at a time, in order of completion."""
        numbered = iter(enumerate(requests))
        while window := list(islice(numbered, self.options.window)):
            jobs = []
            for index, request in window:
                self.counts.requests += 1
                prompt = self.render(request)
                problem = self._problem(request, prompt)
                if problem is not None or request.max_tokens < 1:
                    yield index, self._unanswered(request, prompt, problem)
                else:
                    jobs.append(Job(index, request, prompt))
                    self.said.update(prompt.overrides)
            yield from self._decode(jobs)

    def _problem(self, request: Request, prompt: Rendered) -> str | None:
        """Return why a request cannot be answered."""
        if prompt.problem is not None:
            return prompt.problem
        context = self.runner.context
        if context is not None and len(prompt.ids) + request.max_tokens > context:
            return "context"
        return None

    def _unanswered(self, request: Request, prompt: Rendered, problem: str | None) -> Generation:
        """Return the record of a request that was not run."""
        return Generation(
            request,
            rendered_hash=prompt.hash,
            overrides=prompt.overrides,
            finish=None if problem else "length",
            usage=Usage(prompt_tokens=len(prompt.ids)),
            problem=problem,
        )

    def _decode(self, jobs: Sequence[Job]) -> Iterator[tuple[int, Generation]]:
        """Run jobs, with half the rows each time memory runs out; draws stay the same."""
        waiting = {
            job.number: job
            for job in sorted(
                jobs,
                key=lambda j: (-j.request.max_tokens, -len(j.prompt.ids), j.prompt.key, j.number),
            )
        }
        while waiting:
            decoder = Decoder(
                open_cache(self.runner), self.limits, self.ends, self._stops, self.record
            )
            try:
                for raw in decoder.run(list(waiting.values())):
                    del waiting[raw.job.number]
                    yield raw.job.number, self._generation(raw)
            except RuntimeError as error:
                if not _ran_out(error):
                    raise
                del decoder
                yield from self._smaller(waiting)

    def _smaller(self, waiting: dict[int, Job]) -> Iterator[tuple[int, Generation]]:
        """Halve the limits; where nothing is left to halve, the first request fails."""
        self.counts.out_of_memory += 1
        if self.runner.device.type == "cuda":
            torch.cuda.empty_cache()
        if self.limits.rows == 1:
            job = waiting.pop(next(iter(waiting)))
            yield job.number, self._unanswered(job.request, job.prompt, "failed: out of memory")
            return
        self.limits = self.limits.halved()
        self.runner.prefill_slots = max(1, self.runner.prefill_slots // 2)

    def _stops(self, job: Job, ids: Sequence[int]) -> bool:
        stops = (*job.request.stop, *job.prompt.stop)
        return stops_here(self.detokenizer, ids, stops, job.prompt.thought)

    def _generation(self, raw: Raw) -> Generation:
        """Turn generated tokens into the record of an answer."""
        job, request = raw.job, raw.job.request
        self.counts.prompt_tokens += len(job.prompt.ids)
        self.counts.completion_tokens += raw.computed
        if raw.finish == "failed":
            return self._unanswered(request, job.prompt, "failed: the model gave no numbers (NaN)")
        stops = (*request.stop, *job.prompt.stop)
        answer = read_answer(self.detokenizer, raw.ids, stops, job.prompt.thought)
        part = slice(answer.first, answer.last)
        overrides = job.prompt.overrides
        if request.response_format is not None:
            overrides = (*overrides, "response_format is not enforced")
        return Generation(
            request,
            rendered_hash=job.prompt.hash,
            text=answer.text,
            thinking=answer.thinking,
            thinking_tokens=answer.thinking_tokens,
            logprob_kind="model" if answer.thinking is None else "model_after_thought",
            overrides=overrides,
            token_ids=tuple(raw.ids[part]),
            offsets=answer.offsets,
            logprobs=_rounded(raw.logprobs[part]) if "logprobs" in self.record else None,
            entropies=_rounded(raw.entropies[part]) if "entropies" in self.record else None,
            finish=raw.finish,
            usage=Usage(len(job.prompt.ids), raw.computed),
            problem="truncated" if answer.unclosed else None,
            **_further({name: values[part] for name, values in raw.extras.items()}, self.record),
        )

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        """Read given continuations; arrays cover them and nothing else."""
        wanted = frozenset(want)
        if not wanted <= ARRAYS:
            unknown = ", ".join(sorted(wanted - ARRAYS))
            raise InputError(
                f"array {unknown} is not known: expected some of {', '.join(sorted(ARRAYS))}"
            )
        given = []
        for index, (request, continuation) in enumerate(items):
            prompt = self.render(request)
            problem = prompt.problem
            if isinstance(continuation, str):
                ids = hf_force.continuation_ids(self.tokenizer, prompt, continuation)
            else:
                ids = tuple(int(token) for token in continuation)
            context = self.runner.context
            if problem is None and context is not None and len(prompt.ids) + len(ids) > context:
                problem = "context"
            if problem is not None:
                yield index, self._unanswered(request, prompt, problem)
            else:
                given.append(Given(index, prompt, ids))
        for item, arrays in self._forced(given, wanted):
            yield item.number, self._reading(items[item.number][0], item, arrays, wanted)

    def _forced(
        self, given: list[Given], wanted: frozenset[str]
    ) -> Iterator[tuple[Given, hf_force.Arrays]]:
        """Run the pass, in smaller batches each time memory runs out."""
        left = {item.number: item for item in given}
        while left:
            try:
                for item, arrays in hf_force.force(
                    self.runner, list(left.values()), wanted, self.limits.rows
                ):
                    del left[item.number]
                    yield item, arrays
            except RuntimeError as error:
                if not _ran_out(error) or self.limits.rows == 1:
                    raise
                self.counts.out_of_memory += 1
                self.limits = self.limits.halved()

    def _reading(
        self, request: Request, item: Given, arrays: hf_force.Arrays, want: frozenset[str]
    ) -> Generation:
        """Return the record of a continuation that was read."""
        self.counts.forced_tokens += len(item.ids)
        text = self.detokenizer.decode(item.ids)
        logprobs, entropies = arrays.pop("logprobs", []), arrays.pop("entropies", [])
        return Generation(
            request,
            rendered_hash=item.prompt.hash,
            text=text,
            logprob_kind="model",
            overrides=item.prompt.overrides,
            token_ids=item.ids,
            offsets=tuple(self.detokenizer.offsets(item.ids, text)),
            logprobs=_rounded(logprobs) if "logprobs" in want else None,
            entropies=_rounded(entropies) if "entropies" in want else None,
            usage=Usage(prompt_tokens=len(item.prompt.ids)),
            **_further(arrays, want),
        )

    def close(self) -> None:
        """Give the memory and the threads back, and say what was done to prompts."""
        self.notices.extend(describe(self.said))
        self.said.clear()
        torch.set_num_threads(self.threads_before)


def _ran_out(error: RuntimeError) -> bool:
    """Tell whether an error means that memory ran out (CUDA, MPS and CPU say it differently)."""
    if isinstance(error, torch.OutOfMemoryError):
        return True
    return any(sign in str(error).lower() for sign in OUT_OF_MEMORY)


def _free_memory() -> int:
    """Return bytes of free memory, or 4 GB where the system does not say."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 4 << 30


def _rounded(values: Iterable[float]) -> tuple[float, ...]:
    """Round to six decimals: float32 holds no more, and records stay small."""
    return tuple(round(v, 6) + 0.0 for v in values)


def _further(arrays: dict[str, list[Any]], record: frozenset[str]) -> dict[str, Any]:
    """Return the arrays that are recorded only when asked for, as record fields."""
    found: dict[str, Any] = {
        name: _rounded(arrays.get(name, []))
        for name in ("margins", "self_certainty", "renyi")
        if name in record
    }
    if "alternatives" in record:
        pairs = zip(
            arrays.get("alternative_tokens", []), arrays.get("alternatives", []), strict=True
        )
        found["alternatives"] = tuple(
            tuple(Alternative(t, round(v, 6)) for t, v in zip(tokens, values, strict=True))
            for tokens, values in pairs
        )
    return found


def _options(options: dict[str, object]) -> Options:
    """Check options that may come from a command line."""
    try:
        return msgspec.convert(options, Options, strict=False)
    except msgspec.ValidationError as error:
        known = ", ".join(Options.__struct_fields__)
        raise InputError(f"model option: {error}; known options: {known}") from None


def open_hf(name: str, **options: object) -> HfEngine:
    """Open a folder or hub id; see :class:`~sayso.backends.hf_load.Options` for the options."""
    checked = _options(options)
    model, tokenizer = load(name, checked)
    identity = identify(name, model, tokenizer, checked)
    return HfEngine(f"hf:{name}", model, tokenizer, identity, checked)


def open_builtin(**options: object) -> HfEngine:
    """Open the model that is shipped with sayso."""
    checked = _options(options)
    with resources.as_file(resources.files("sayso") / "builtin" / "model") as folder:
        if not (folder / "config.json").is_file():
            raise InputError(
                f"the built-in model is missing from {folder}: reinstall sayso, or make it with "
                "'python -m sayso.builtin.make'"
            )
        model, tokenizer = load(str(folder), checked)
        found = identify(str(folder), model, tokenizer, checked)
    identity = Identity(found.identity, found.base, "builtin@1")
    return HfEngine("builtin", model, tokenizer, identity, checked)

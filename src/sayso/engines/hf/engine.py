"""The ``hf`` engine: any causal language model that transformers can load, in this process, and the
records of what it computed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray

from sayso.engines.engine import Capabilities, Counts, read_options
from sayso.engines.hf import force
from sayso.engines.hf.decode import DecodeJob, Decoder, Raw
from sayso.engines.hf.files import gguf_description, opening_refused
from sayso.engines.hf.force import ARRAYS, Arrays, Given, Watch, layer_of, read_until
from sayso.engines.hf.kv_cache import open_cache
from sayso.engines.hf.load import (
    HfOptions,
    Identity,
    Runner,
    choose_threads,
    describe,
    first_limits,
    identify,
    load_model,
    ran_out,
)
from sayso.engines.hf.text import (
    Detokenizer,
    Rendered,
    ends_of_text,
    prompt_notices,
    renderer,
    said_once,
    stops_here,
    thought_and_answer,
)
from sayso.engines.named import card_of, limits_of, shipped_folder
from sayso.records import Alternative, Generation, InputError, Request, Usage


def open_hf(name: str, **options: object) -> HfEngine:
    """Open a folder, a GGUF file or a hub id; options are those of
    :class:`~sayso.engines.hf.load.HfOptions`."""
    return _open(name, f"hf:{name}", options)


def open_packaged(name: str, **options: object) -> HfEngine:
    """Open a model that comes as a Python package, by its short name."""
    engine = _open(name, name, options)
    engine.signature = f"{name}@{engine.signature.rpartition('@')[2]}"
    return engine


def open_shipped(name: str, **options: object) -> HfEngine:
    """Open a model that sayso brings, by its name."""
    engine = _open(str(shipped_folder(name)), name, options)
    engine.signature = f"{name}@1{'+end_loops' if engine.options.end_loops else ''}"
    return engine


def _open(source: str, name: str, options: Mapping[str, object]) -> HfEngine:
    """Open a folder, a GGUF file or a hub id as the model of this name."""
    checked = read_options(HfOptions, options, "known options")
    _check_arrays(checked.record)
    if checked.end_loops is None:
        checked = msgspec.structs.replace(checked, end_loops=limits_of(name).end_loops)
    model, tokenizer = load_model(source, checked)
    with opening_refused(source):
        identity = identify(source, model, tokenizer, checked)
        engine = HfEngine(name, model, tokenizer, identity, checked)
    card = card_of(Path(source).expanduser())
    engine.base_name, engine.base_run = card.base_name, card.base_run
    engine.card = gguf_description(source)
    return engine


def _check_arrays(names: frozenset[str]) -> None:
    """Refuse names of arrays that this engine cannot record."""
    if not names <= ARRAYS:
        unknown = ", ".join(sorted(names - ARRAYS))
        raise InputError(
            f"array {unknown} is unknown: expected some of {', '.join(sorted(ARRAYS))}"
        )


class HfEngine:
    """A transformers model as an engine (see :class:`sayso.engines.engine.Engine`).

    ``notices`` are sentences for the user, ``base_name`` the model and ``base_run`` the run that a
    trained model came from, ``card`` what a GGUF file says of its origin, license and quantization.
    """

    base_name = ""
    base_run = ""
    card = ""

    def __init__(
        self, name: str, model: Any, tokenizer: Any, identity: Identity, options: HfOptions
    ) -> None:
        self.name = name
        self.identity, self.base, self.signature = identity
        if options.end_loops:  # its answers are others
            self.identity += "|end_loops"
            self.signature += "+end_loops"
        self.counts = Counts()
        self.options = options
        self.tokenizer = tokenizer
        tokenizer.deprecation_warnings = {
            "sequence-length-is-longer-than-the-specified-maximum": True
        }  # warned already: long texts are the engine's business
        self.ends = ends_of_text(model, tokenizer)
        pad = tokenizer.pad_token_id
        self.threads_before = torch.get_num_threads()
        self.runner = Runner(
            model,
            pad if pad is not None else min(self.ends, default=0),
            self.counts,
            choose_threads(model, options),
        )
        self.render = renderer(tokenizer)
        self.detokenizer = Detokenizer(tokenizer)
        self.record = options.record
        self.watched: Watch | None = None
        self.limits = first_limits(self.runner, options)
        self.overrides: Counter[str] = Counter()
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
        notices = prompt_notices(self.overrides)
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
        if self.counts.out_of_memory:
            notices.append(
                f"memory ran out {self.counts.out_of_memory} times, and the batch was halved each "
                "time. No answer was lost, but draws may differ from those of a run with enough "
                "memory"
            )
        if not self.tokenizer.chat_template:
            notices.append("the model has no chat template: prompts are written as plain questions")
        return notices

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        """Answer requests lazily, a window at a time, in order of completion."""
        numbered = iter(enumerate(requests))
        while window := list(islice(numbered, self.options.window)):
            self.counts.requests += len(window)
            jobs, refused = jobs_of(window, self.render, self.runner.context)
            yield from refused
            for job in jobs:
                self.overrides.update(job.prompt.overrides)
            yield from self._decode(jobs)

    def _decode(self, jobs: Sequence[DecodeJob]) -> Iterator[tuple[int, Generation]]:
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
                open_cache(self.runner), self.limits, self.ends, self._stops, self.record,
                bool(self.options.end_loops),
            )  # fmt: skip
            try:
                for raw in decoder.run(list(waiting.values())):
                    del waiting[raw.job.number]
                    yield raw.job.number, self._generation(raw)
            except RuntimeError as error:
                if not ran_out(error):
                    raise
                del decoder
                yield from self._retreat(waiting)

    def _retreat(self, waiting: dict[int, DecodeJob]) -> Iterator[tuple[int, Generation]]:
        """Halve the limits; if there is nothing to halve, the first request fails."""
        self.counts.out_of_memory += 1
        if self.runner.device.type == "cuda":
            torch.cuda.empty_cache()
        if self.limits.rows == 1:
            job = waiting.pop(next(iter(waiting)))
            yield job.number, unanswered_record(job.request, job.prompt, "failed: out of memory")
            return
        self.limits = self.limits.halved()
        self.runner.prefill_slots = max(1, self.runner.prefill_slots // 2)

    def _stops(self, job: DecodeJob, ids: Sequence[int]) -> bool:
        stops = (*job.request.stop, *job.prompt.stop)
        return stops_here(self.detokenizer, ids, stops, job.prompt.thought)

    def _generation(self, raw: Raw) -> Generation:
        """Count what was generated and return its record."""
        self.counts.prompt_tokens += len(raw.job.prompt.ids)
        self.counts.completion_tokens += raw.computed
        return answered_record(raw, self.detokenizer, self.record)

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        """Read given continuations; arrays cover them alone."""
        wanted = frozenset(want)
        _check_arrays(wanted)
        given = []
        for item, problem in self._given(items):
            if problem is not None:
                yield item.number, unanswered_record(items[item.number][0], item.prompt, problem)
            else:
                given.append(item)
        for item, arrays in self._forced(given, wanted):
            self.counts.forced_tokens += len(item.ids)
            request = items[item.number][0]
            yield item.number, forced_record(request, item, arrays, wanted, self.detokenizer)

    def _given(
        self, items: Sequence[tuple[Request, str | Sequence[int]]]
    ) -> Iterator[tuple[Given, str | None]]:
        """Yield each continuation as tokens behind its prompt, and why it cannot be read."""
        context = self.runner.context
        for index, (request, continuation) in enumerate(items):
            prompt = self.render(request)
            problem = prompt.problem
            if isinstance(continuation, str):
                ids = force.continuation_ids(self.tokenizer, prompt, continuation)
            else:
                ids = tuple(int(token) for token in continuation)
            if problem is None and context is not None and len(prompt.ids) + len(ids) > context:
                problem = "context"
            strange = [token for token in ids if not 0 <= token < self.runner.vocabulary]
            if problem is None and strange:
                problem = f"failed: token {strange[0]} is not in the vocabulary"
            yield Given(index, prompt, ids), problem

    def _forced(self, given: list[Given], wanted: frozenset[str]) -> Iterator[tuple[Given, Arrays]]:
        """Run the pass, in smaller batches each time memory runs out."""
        left = {item.number: item for item in given}
        while left:
            try:
                for item, arrays in force.force(
                    self.runner, list(left.values()), wanted, self.limits.rows, self.watched
                ):
                    del left[item.number]
                    yield item, arrays
            except RuntimeError as error:
                self._halve_rows(error)

    def _halve_rows(self, error: RuntimeError) -> None:
        """Halve the limits after a pass ran out of memory; raise what is no such error."""
        if not ran_out(error) or self.limits.rows == 1:
            raise error
        self.counts.out_of_memory += 1
        self.limits = self.limits.halved()

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of token ids."""
        return self.detokenizer.decode(ids)

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


# ---- records of what was computed


def jobs_of(
    window: Sequence[tuple[int, Request]],
    render: Callable[[Request], Rendered],
    context: int | None,
) -> tuple[list[DecodeJob], list[tuple[int, Generation]]]:
    """Return the requests that can be run, and the records of the others, by their numbers."""
    jobs: list[DecodeJob] = []
    refused: list[tuple[int, Generation]] = []
    for index, request in window:
        prompt = render(request)
        problem = refusal_reason(request, prompt, context)
        if problem is not None or request.max_tokens < 1:
            refused.append((index, unanswered_record(request, prompt, problem)))
        else:
            jobs.append(DecodeJob(index, request, prompt))
    return jobs, refused


def refusal_reason(request: Request, prompt: Rendered, context: int | None) -> str | None:
    """Return why a request cannot be answered by a model that reads ``context`` tokens."""
    if prompt.problem is not None:
        return prompt.problem
    if not (request.temperature >= 0 and request.repetition_penalty > 0):
        return "failed: temperature must be at least 0 and repetition_penalty above 0"
    if context is not None and len(prompt.ids) + request.max_tokens > context:
        return "context"
    return None


def unanswered_record(request: Request, prompt: Rendered, problem: str | None) -> Generation:
    """Return the record of a request that was not run, or that wanted no tokens."""
    return Generation(
        request,
        rendered_hash=prompt.hash,
        overrides=prompt.overrides,
        finish=None if problem else "length",
        usage=Usage(prompt_tokens=len(prompt.ids)),
        problem=problem,
    )


def answered_record(raw: Raw, detokenizer: Detokenizer, record: frozenset[str]) -> Generation:
    """Return the record of what was generated; arrays in ``record`` cover the text's tokens.

    The end-of-text token and what a loop repeats are in none of the arrays but count in the usage.
    The log-probabilities
    of an answer that follows a thought are given that thought, and say so.
    """
    job, request = raw.job, raw.job.request
    if raw.finish == "failed":
        return unanswered_record(request, job.prompt, "failed: the model gave no numbers (NaN)")
    stops = (*request.stop, *job.prompt.stop)
    kept = said_once(detokenizer, raw.ids, raw.repeated) if raw.finish == "loop" else len(raw.ids)
    answer = thought_and_answer(detokenizer, raw.ids[:kept], stops, job.prompt.thought)
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
        finish=raw.finish,
        usage=Usage(len(job.prompt.ids), raw.computed),
        problem="truncated" if answer.unclosed else None,
        **_arrays({name: values[part] for name, values in raw.arrays.items()}, record),
    )


def forced_record(
    request: Request,
    item: Given,
    arrays: Mapping[str, Sequence[Any]],
    want: frozenset[str],
    detokenizer: Detokenizer,
) -> Generation:
    """Return the record of a continuation that was read."""
    if not all(math.isfinite(value) for value in arrays.get("logprobs", ())):
        return unanswered_record(request, item.prompt, "failed: the model gave no numbers (NaN)")
    text = detokenizer.decode(item.ids)
    return Generation(
        request,
        rendered_hash=item.prompt.hash,
        text=text,
        logprob_kind="model",
        overrides=item.prompt.overrides,
        token_ids=item.ids,
        offsets=tuple(detokenizer.offsets(item.ids, text)),
        usage=Usage(prompt_tokens=len(item.prompt.ids)),
        **_arrays(arrays, want),
    )


def _arrays(arrays: Mapping[str, Sequence[Any]], record: frozenset[str]) -> dict[str, Any]:
    """Return the arrays in ``record`` as fields of a record."""
    fields: dict[str, Any] = {
        # float32 holds no more than six decimals, and records stay small
        name: tuple([round(v, 6) + 0.0 for v in arrays.get(name, ())])
        for name in record
        if name != "alternatives"
    }
    if "alternatives" in record:
        pairs = zip(
            arrays.get("alternative_tokens", ()), arrays.get("alternatives", ()), strict=True
        )
        fields["alternatives"] = tuple(
            tuple(Alternative(t, round(v, 6)) for t, v in zip(tokens, values, strict=True))
            for tokens, values in pairs
        )
    return fields

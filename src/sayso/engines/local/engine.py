"""What all engines with a model in this process do. A subclass does the computing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from typing import Any

from sayso.engines.engine import Capabilities, Counts
from sayso.engines.local.decode import BatchLimits, DecodeJob, Decoder, PrefixCache, Raw, Sampling
from sayso.engines.local.records import (
    Arrays,
    Given,
    answered_record,
    check_arrays,
    continuation_ids,
    forced_record,
    jobs_of,
    unanswered_record,
)
from sayso.engines.local.text import Detokenizer, prompt_notices, renderer, stops_here
from sayso.records import Generation, Request

#: The problem of a request that does not fit the memory even alone.
NO_MEMORY = "failed: out of memory"
#: Requests that are read ahead.
WINDOW = 4096


class LocalEngine(ABC):
    """A model in this process as an engine (see :class:`sayso.engines.engine.Engine`).

    A subclass sets ``identity``, ``base``, ``signature``, ``capabilities`` and ``limits``.
    ``tokenizer`` is one of transformers, or has of it what :mod:`sayso.engines.local.text` uses;
    ``ends`` are the tokens that end an answer.
    """

    identity: str
    base: str
    signature: str
    capabilities: Capabilities
    limits: BatchLimits
    #: how this engine's next-token distributions are read
    sampling: Sampling
    #: the model and the run that a trained model came from; what a file says of itself
    base_name = ""
    base_run = ""
    card = ""

    def __init__(
        self,
        name: str,
        tokenizer: Any,
        ends: frozenset[int],
        record: frozenset[str],
        *,
        end_loops: bool,
        window: int = WINDOW,
    ) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.ends = ends
        self.record = record
        self.end_loops = end_loops
        self.window = window
        self.counts = Counts()
        self.render = renderer(tokenizer)
        self.detokenizer = Detokenizer(tokenizer)
        self.overrides: Counter[str] = Counter()

    @abstractmethod
    def _cache(self, jobs: Sequence[DecodeJob]) -> AbstractContextManager[PrefixCache]:
        """Lend an empty memory for the prefixes of these jobs; it may run out of memory."""

    @abstractmethod
    def _ran_out(self, error: RuntimeError) -> bool:
        """Tell whether an error means that memory ran out."""

    @abstractmethod
    def _read(self, given: list[Given], wanted: frozenset[str]) -> Iterator[tuple[Given, Arrays]]:
        """Yield the wanted arrays of each continuation, one entry for each of its tokens."""

    @property
    @abstractmethod
    def vocabulary(self) -> int:
        """How many tokens there are."""

    def _halve(self) -> None:
        """Compute half as much at once from now on."""
        self.limits = self.limits.halved()

    @property
    def notices(self) -> list[str]:
        """What was changed in prompts so far, and what memory did not allow."""
        notices = prompt_notices(self.overrides)
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
        while window := list(islice(numbered, self.window)):
            self.counts.requests += len(window)
            jobs, refused = jobs_of(window, self.render, self.capabilities.context)
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
            try:
                for raw in self._raw(list(waiting.values())):
                    del waiting[raw.job.number]
                    yield raw.job.number, self._generation(raw)
            except RuntimeError as error:
                if not self._ran_out(error):
                    raise
            if waiting:  # outside: the error holds what took the memory
                yield from self._retreat(waiting)

    def _raw(self, jobs: Sequence[DecodeJob]) -> Iterator[Raw]:
        """Decode jobs as long as there is memory."""
        with self._cache(jobs) as cache:
            decoder = Decoder(
                cache, self.sampling, self.limits, self.ends, self._stops, self.record,
                self.end_loops,
            )  # fmt: skip
            yield from decoder.run(jobs)

    def _retreat(self, waiting: dict[int, DecodeJob]) -> Iterator[tuple[int, Generation]]:
        """Halve the limits; if there is nothing to halve, the first request fails."""
        self.counts.out_of_memory += 1
        if self.limits.rows == 1:
            job = waiting.pop(next(iter(waiting)))
            yield job.number, unanswered_record(job.request, job.prompt, NO_MEMORY)
            return
        self._halve()

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
        check_arrays(wanted)
        given = []
        for item, problem in self._given(items):
            if problem is not None:
                yield item.number, unanswered_record(items[item.number][0], item.prompt, problem)
            else:
                given.append(item)
        for item, arrays in self._forced(given, wanted):
            request = items[item.number][0]
            if arrays is None:
                yield item.number, unanswered_record(request, item.prompt, NO_MEMORY)
                continue
            self.counts.forced_tokens += len(item.ids)
            yield item.number, forced_record(request, item, arrays, wanted, self.detokenizer)

    def _given(
        self, items: Sequence[tuple[Request, str | Sequence[int]]]
    ) -> Iterator[tuple[Given, str | None]]:
        """Yield each continuation as tokens behind its prompt, and why it cannot be read."""
        context = self.capabilities.context
        for index, (request, continuation) in enumerate(items):
            prompt = self.render(request)
            problem = prompt.problem
            if isinstance(continuation, str):
                ids = continuation_ids(self.tokenizer, prompt, continuation)
            else:
                ids = tuple(int(token) for token in continuation)
            if problem is None and context is not None and len(prompt.ids) + len(ids) > context:
                problem = "context"
            strange = [token for token in ids if not 0 <= token < self.vocabulary]
            if problem is None and strange:
                problem = f"failed: token {strange[0]} is not in the vocabulary"
            yield Given(index, prompt, ids), problem

    def _forced(
        self, given: list[Given], wanted: frozenset[str]
    ) -> Iterator[tuple[Given, Arrays | None]]:
        """Run the pass, in smaller batches each time memory runs out; ``None``: too long for it."""
        left = {item.number: item for item in given}
        while left:
            try:
                for item, arrays in self._read(list(left.values()), wanted):
                    del left[item.number]
                    yield item, arrays
            except RuntimeError as error:
                if not self._ran_out(error):
                    raise
            if left:  # outside: the error holds what took the memory
                yield from self._retreat_forced(left)

    def _retreat_forced(self, left: dict[int, Given]) -> Iterator[tuple[Given, None]]:
        """Halve the limits; if there is nothing to halve, the longest text is given up."""
        self.counts.out_of_memory += 1
        if self.limits.rows > 1:
            self._halve()
            return
        longest = max(left.values(), key=lambda item: len(item.prompt.ids) + len(item.ids))
        yield left.pop(longest.number), None

    def _halve_rows(self, error: RuntimeError) -> None:
        """Halve the limits after a pass ran out of memory; raise what is no such error."""
        if not self._ran_out(error) or self.limits.rows == 1:
            raise error
        self.counts.out_of_memory += 1
        self._halve()

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of token ids."""
        return self.detokenizer.decode(ids)

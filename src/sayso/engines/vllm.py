"""The engine ``vllm:ID``: a model that vLLM runs in this process (its offline ``LLM`` class).

Prompts are rendered and answers read exactly as by the ``hf`` engine, from the same tokenizer; vLLM
generates. All draws of a prompt are one vLLM request, so that its prefix is computed once. vLLM's
draws are its own: another batch may give other ones, so they are kept under an identity of their
own. It shows the likeliest tokens of each step and no more: entropies are lower bounds, said so in
every answer, unless ``exact`` has the same weights read each answer once more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.engines.engine import Capabilities, Counts, entropy_floor, read_options
from sayso.engines.hf.engine import HfEngine, open_hf
from sayso.engines.local.decode import DecodeJob, Raw
from sayso.engines.local.records import answered_record, jobs_of, unanswered_record
from sayso.engines.local.text import prompt_notices
from sayso.records import Generation, InputError, Request

#: the override of answers whose entropies come from the likeliest tokens alone
BOUNDS = "entropies are lower bounds, from the {} likeliest tokens"
#: seeds of draws: that of the request, and below it the number of the draw
SEEDS = 1 << 20


class VllmOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How vLLM opens a model; unnamed ones of its engine arguments stay at vLLM's defaults.

    ``top``: how many of the likeliest tokens it shows (vLLM allows 20 unless told otherwise).
    ``exact``: read every answer once more with transformers, for exact entropies.
    ``batch_size`` are the sequences that it computes at once.
    """

    device: str = "auto"
    dtype: str = "auto"
    revision: str | None = None
    batch_size: Annotated[int, msgspec.Meta(ge=1)] | None = None
    top: Annotated[int, msgspec.Meta(ge=1)] = 20
    exact: bool = False
    gpu_memory_utilization: float = 0.9
    tensor_parallel_size: int = 1
    max_model_len: int | None = None
    enforce_eager: bool = False
    window: Annotated[int, msgspec.Meta(ge=1)] = 4096
    weights: bool = True


def open_vllm(name: str, **options: object) -> VllmEngine:
    """Open a folder or a hub id with vLLM. Raises InputError, also where vLLM is not installed."""
    checked = read_options(VllmOptions, options, "options of vllm models")
    if checked.device not in ("auto", "cuda"):
        raise InputError(
            f"device {checked.device!r} does not apply to vllm models, which run on the device "
            "that vLLM was built for; leave it out, or use hf:"
        )
    given = {"dtype": checked.dtype, "revision": checked.revision}
    given = {key: value for key, value in given.items() if value is not None}
    try:
        import vllm
        from vllm.platforms import current_platform
    except ModuleNotFoundError as error:
        if checked.weights:
            raise InputError(
                f"model 'vllm:{name}' needs {error.name}, which is not installed: pip install "
                "'sayso[vllm]' in a separate environment, on a machine with a GPU"
            ) from None
        vllm = None
    inner = open_hf(name, **given, weights=False, end_loops=False)
    if not checked.weights:
        return VllmEngine(name, inner, None, None, checked, given)
    dtype = str(inner.runner.model.dtype).removeprefix("torch.")
    try:
        llm = vllm.LLM(
            model=name,
            dtype=dtype,
            enable_prefix_caching=True,
            logprobs_mode="raw_logprobs",
            max_logprobs=checked.top,
            gpu_memory_utilization=checked.gpu_memory_utilization,
            tensor_parallel_size=checked.tensor_parallel_size,
            enforce_eager=checked.enforce_eager,
            generation_config="vllm",
            revision=checked.revision,
            max_model_len=checked.max_model_len,
            max_num_seqs=checked.batch_size,
            # on a CPU, draws with seeds end it where a prompt is read in parts
            enable_chunked_prefill=False if current_platform.is_cpu() else None,
        )
    except (ValueError, OSError, RuntimeError) as error:
        lines = str(error).strip().splitlines()
        raise InputError(
            f"model vllm:{name} cannot be opened: {lines[0] if lines else type(error).__name__}"
        ) from None
    return VllmEngine(name, inner, llm, vllm.SamplingParams, checked, given)


class VllmEngine:
    """A model in vLLM (see :class:`sayso.engines.engine.Engine`).

    ``inner`` is the same model without weights; ``llm`` vLLM's ``LLM`` and ``sampling`` its
    ``SamplingParams``, ``None`` where nothing can be asked.
    """

    def __init__(
        self,
        name: str,
        inner: HfEngine,
        llm: Any,
        sampling: Any,
        options: VllmOptions,
        given: Mapping[str, object],
    ) -> None:
        self.name = f"vllm:{name}"
        self.identity = f"vllm|{inner.identity}"
        self.base = self.identity if inner.base == inner.identity else inner.base
        self.signature = inner.signature.replace("hf:", "vllm:", 1)
        self.base_name, self.base_run = inner.base_name, inner.base_run
        self.counts = Counts()
        self.options = options
        self._inner, self._llm, self._sampling, self._given = inner, llm, sampling, dict(given)
        self._folder = name
        self._reader: HfEngine | None = None
        self.overrides: Counter[str] = Counter()
        limits = [n for n in (inner.runner.context, options.max_model_len) if n is not None]
        self.context = min(limits, default=None)

    @property
    def capabilities(self) -> Capabilities:
        """What it can do: given texts and hidden states are read with transformers."""
        return Capabilities(
            logprobs=True,
            entropies=True,
            alternatives=True,
            hidden=True,
            force=True,
            context=self.context,
            n=True,
            seed=True,
        )

    @property
    def device(self) -> str:
        """Where it computes, and in which numbers."""
        return f"vLLM, {str(self._inner.runner.model.dtype).removeprefix('torch.')}"

    @property
    def notices(self) -> list[str]:
        """What was changed in prompts so far."""
        return prompt_notices(self.overrides)

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        """Answer requests, a window at a time; the draws of a prompt in one vLLM request."""
        numbered = iter(enumerate(requests))
        while window := list(islice(numbered, self.options.window)):
            self.counts.requests += len(window)
            jobs, refused = jobs_of(window, self._inner.render, self.context)
            yield from refused
            for job in jobs:
                self.overrides.update(job.prompt.overrides)
            found = dict(self._generated(jobs))
            if self.options.exact and found:
                self._read_exactly(found)
            yield from found.items()

    def _generated(self, jobs: Sequence[DecodeJob]) -> Iterator[tuple[int, Generation]]:
        """Run jobs in one call of vLLM."""
        groups = _draws_together(jobs)
        if not groups:
            return
        prompts = [{"prompt_token_ids": list(group[0].prompt.ids)} for group in groups]
        params = [self._params(group) for group in groups]
        try:
            outputs = self._llm.generate(prompts, params, use_tqdm=False)
        except Exception as error:  # whatever ends its engine, which runs in another process
            raise InputError(
                f"model {self.name}: vLLM ended ({type(error).__name__}: {str(error)[:200]}); its "
                "own lines above say why; answers are kept: run the same command to go on"
            ) from None
        for group, output in zip(groups, outputs, strict=True):
            self.counts.cached_tokens += int(getattr(output, "num_cached_tokens", None) or 0)
            choices = sorted(output.outputs, key=lambda choice: choice.index)
            for place, job in enumerate(group):
                choice = choices[place] if place < len(choices) else None
                yield job.number, self._generation(job, choice)

    def _params(self, group: Sequence[DecodeJob]) -> Any:
        """Return vLLM's sampling settings: every one is named, so that no default applies."""
        request, prompt = group[0].request, group[0].prompt
        stops = [text for text in (*request.stop, *prompt.stop) if text]
        drawn = not request.greedy
        return self._sampling(
            n=len(group),
            temperature=request.temperature,
            top_p=request.top_p if drawn else 1.0,
            top_k=request.top_k if drawn and request.top_k > 0 else -1,
            min_p=request.min_p if drawn else 0.0,
            repetition_penalty=request.repetition_penalty,
            # of n draws, vLLM gives each the seed of the one before plus one
            seed=(request.seed * SEEDS + request.sample) % (1 << 62) if drawn else None,
            max_tokens=request.max_tokens,
            stop=stops or None,
            stop_token_ids=sorted(self._inner.ends),
            logprobs=self.options.top,
            skip_special_tokens=False,
        )

    def _generation(self, job: DecodeJob, choice: Any) -> Generation:
        """Return the record of one draw."""
        if choice is None or choice.finish_reason not in ("stop", "length"):
            why = "no answer" if choice is None else f"vLLM ended it: {choice.finish_reason}"
            return unanswered_record(job.request, job.prompt, f"failed: {why}")
        ids = [int(token) for token in choice.token_ids]
        finish = str(choice.finish_reason)
        if isinstance(choice.stop_reason, str):
            finish = "stop_string"
        computed = len(ids)
        if finish == "stop" and ids and ids[-1] in self._inner.ends:
            ids.pop()
        self.counts.prompt_tokens += len(job.prompt.ids)
        self.counts.completion_tokens += computed
        arrays = step_arrays(ids, choice.logprobs)
        reply = answered_record(
            Raw(job, ids, arrays, finish, computed),
            self._inner.detokenizer,
            frozenset({"logprobs", "entropies"}),
        )
        note = BOUNDS.format(self.options.top)
        return msgspec.structs.replace(reply, overrides=(*reply.overrides, note))

    def _read_exactly(self, found: dict[int, Generation]) -> None:
        """Replace bounds by exact entropies, from one pass over each answer's own tokens."""
        note = BOUNDS.format(self.options.top)
        whole = [n for n, reply in found.items() if reply.problem is None and reply.token_ids]
        items = [(found[n].request, found[n].token_ids or ()) for n in whole]
        for index, read in self.force(items, ["entropies"]):
            reply = found[whole[index]]
            if read.problem is None and reply.thinking is None:
                found[whole[index]] = msgspec.structs.replace(
                    reply,
                    entropies=read.entropies,
                    overrides=tuple(text for text in reply.overrides if text != note),
                )

    # ---- what vLLM does not show, from the same weights

    def _with_weights(self) -> HfEngine:
        """Return the model as transformers runs it."""
        if self._reader is None:
            self._reader = open_hf(self._folder, **self._given)
        return self._reader

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        """Read given continuations with transformers."""
        reader = self._with_weights()
        before = reader.counts.forced_tokens
        yield from reader.force(items, want)
        self.counts.forced_tokens += reader.counts.forced_tokens - before

    def hidden(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], layer: int, position: str
    ) -> NDArray[np.float16]:
        """Read hidden states with transformers."""
        return self._with_weights().hidden(items, layer, position)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of token ids."""
        return self._inner.decode(ids)

    def close(self) -> None:
        """Give the memory back."""
        self._llm = None
        for engine in (self._inner, self._reader):
            if engine is not None:
                engine.close()


def _draws_together(jobs: Sequence[DecodeJob]) -> list[list[DecodeJob]]:
    """Join jobs that differ only in the draw, where their draws follow each other."""
    rows: dict[Request, list[DecodeJob]] = {}
    for job in jobs:
        rows.setdefault(msgspec.structs.replace(job.request, sample=0), []).append(job)
    groups: list[list[DecodeJob]] = []
    for some in rows.values():
        for job in sorted(some, key=lambda one: one.request.sample):
            last = groups[-1][-1] if groups and groups[-1][-1] in some else None
            follows = last is not None and job.request.sample == last.request.sample + 1
            if follows and not job.request.greedy:
                groups[-1].append(job)
            else:
                groups.append([job])
    return groups


def step_arrays(ids: Sequence[int], steps: Sequence[Mapping[int, Any]]) -> dict[str, list[object]]:
    """Return ``logprobs`` and ``entropies`` of tokens from the likeliest tokens of each step.

    ``steps`` map token ids to objects with a ``logprob``; the token itself is among them.
    """
    logprobs: list[object] = []
    entropies: list[object] = []
    for token, step in zip(ids, steps, strict=False):
        own = float(step[token].logprob)
        logprobs.append(min(0.0, own))
        entropies.append(entropy_floor([float(entry.logprob) for entry in step.values()], own))
    return {"logprobs": logprobs, "entropies": entropies}

"""vLLM's offline classes as documented, around our own model: what the engine relies on, no more.

``LLM.generate`` takes prompts as token ids and one SamplingParams each, and returns RequestOutputs
in order, with ``n`` CompletionOutputs that carry token ids (an end-of-text token among them), the
likeliest tokens of each step, and why they ended. Draw i of a request has its seed plus i.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from sayso.engines.hf.engine import open_hf


@dataclass
class SamplingParams:
    n: int = 1
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    seed: int | None = None
    max_tokens: int | None = 16
    stop: str | list[str] | None = None
    stop_token_ids: list[int] | None = None
    logprobs: int | None = None
    skip_special_tokens: bool = True


@dataclass
class Logprob:
    logprob: float
    rank: int | None = None
    decoded_token: str | None = None


@dataclass
class CompletionOutput:
    index: int
    text: str
    token_ids: Sequence[int]
    cumulative_logprob: float | None
    logprobs: list[dict[int, Logprob]] | None
    finish_reason: str | None = None
    stop_reason: int | str | None = None


@dataclass
class RequestOutput:
    request_id: str
    prompt_token_ids: list[int]
    outputs: list[CompletionOutput]
    finished: bool = True
    num_cached_tokens: int | None = 0


#: what vLLM has in ``vllm.platforms``, which ``import vllm`` does not bring
current_platform = SimpleNamespace(is_cpu=lambda: True)


class LLM:
    made: list[dict[str, Any]] = []  # noqa: RUF012 - what tests look at

    def __init__(self, model: str, **given: Any) -> None:
        if given.get("logprobs_mode") != "raw_logprobs" or not given.get("enable_prefix_caching"):
            raise ValueError("raw log-probabilities and prefix caching are expected")
        LLM.made.append({"model": model, **given})
        self.most = given["max_logprobs"]
        self.engine = open_hf(model, device="cpu")
        self.calls: list[SamplingParams] = []
        self.ends = ""

    def generate(
        self, prompts: Sequence[dict[str, list[int]]], params: Sequence[Any], use_tqdm: bool = True
    ) -> list[RequestOutput]:
        if self.ends:
            raise RuntimeError(self.ends)
        self.calls.extend(params)
        outputs = []
        firsts = self._first_logits([prompt["prompt_token_ids"] for prompt in prompts])
        for number, (prompt, how) in enumerate(zip(prompts, params, strict=True)):
            if how.logprobs > self.most:
                raise ValueError("too many log-probabilities")
            ids = prompt["prompt_token_ids"]
            choices = [self._draw(ids, firsts[number], how, index) for index in range(how.n)]
            # they need not stand in order
            outputs.append(RequestOutput(str(number), ids, choices[::-1]))
        return outputs

    @torch.inference_mode()
    def _first_logits(self, prompts: Sequence[list[int]]) -> dict[int, torch.Tensor]:
        """Return the logits after each prompt; prompts of one length are a batch."""
        by_length: dict[int, list[int]] = {}
        for number, ids in enumerate(prompts):
            by_length.setdefault(len(ids), []).append(number)
        found: dict[int, torch.Tensor] = {}
        for numbers in by_length.values():
            for start in range(0, len(numbers), 256):
                batch = numbers[start : start + 256]
                given = torch.tensor([prompts[number] for number in batch])
                last = self.engine.runner.forward(given, keep=1)[:, -1]
                found |= dict(zip(batch, last, strict=True))
        return found

    @torch.inference_mode()
    def _draw(
        self, ids: list[int], first: torch.Tensor, how: SamplingParams, index: int
    ) -> CompletionOutput:
        seed = None if how.seed is None else how.seed + index
        random = np.random.default_rng(seed)
        new: list[int] = []
        steps: list[dict[int, Logprob]] = []
        finish, reason = "length", None
        while len(new) < (how.max_tokens or 16):
            logits = first
            if new:
                logits = self.engine.runner.forward(torch.tensor([[*ids, *new]]), keep=1)[0, -1]
            raw = logits.double().log_softmax(-1)
            if how.temperature == 0:
                token = int(raw.argmax())
            else:
                weights = (raw / how.temperature).softmax(-1).numpy()
                token = int(random.choice(len(weights), p=weights / weights.sum()))
            top = raw.topk(min(how.logprobs or 1, len(raw)))
            step = {
                int(t): Logprob(float(v), rank)
                for rank, (v, t) in enumerate(zip(top.values, top.indices, strict=True), 1)
            }
            step.setdefault(token, Logprob(float(raw[token]), int((raw > raw[token]).sum()) + 1))
            new.append(token)
            steps.append(step)
            if token in (how.stop_token_ids or ()):
                finish, reason = "stop", token
                break
            text = self.engine.decode(new)
            held = next((s for s in how.stop or () if s in text), None)
            if held is not None:
                finish, reason = "stop", held
                break
        total = sum(step[token].logprob for step, token in zip(steps, new, strict=True))
        return CompletionOutput(index, self.engine.decode(new), new, total, steps, finish, reason)

"""Models whose words come from one known distribution, behind servers with one known fault each."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sayso.engines.engine import Capabilities, Counts
from sayso.records import Generation, InputError, Request, Usage

#: 60 words, the n-th with weight 1 / (n + 2): the likeliest five have .39, nine .52
WORDS = [f"word{n}" for n in range(60)]
WEIGHTS = np.array([1 / (n + 2) for n in range(60)])
TRUE = WEIGHTS / WEIGHTS.sum()
#: the first words of most answers are like this: the n-th has weight 1 / (n + 1)^1.5
STEEP = tuple((n + 1) ** -1.5 for n in range(60))


class Urn:
    """A model whose every word comes from one known distribution, behind an imperfect server."""

    def __init__(
        self,
        *,
        top_k: int = 0,
        top_p: float = 1.0,
        min_p: float = 0.0,
        logprobs: str | None = "raw",
        repeats: bool = False,
        seeded: bool = True,
        wavers: str = "",
        thinks: str = "",
        weights: Sequence[float] | None = None,
        overrides: tuple[str, ...] = (),
    ) -> None:
        self.name, self.identity, self.base, self.signature = "urn", "api:urn", "api:urn", "urn"
        self.capabilities = Capabilities(logprobs=logprobs is not None, n=True)
        self.counts = Counts()
        self.top_k, self.top_p, self.min_p = top_k, top_p, min_p
        self.logprobs, self.repeats, self.seeded, self.wavers = logprobs, repeats, seeded, wavers
        self.thinks, self.overrides = thinks, overrides
        self.true = TRUE if weights is None else np.array(weights) / sum(weights)
        self.requests: list[Request] = []
        self.asked = itertools.count()

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        listed = list(requests)
        for index in reversed(range(len(listed))):  # nobody may rely on the order
            self.requests.append(listed[index])
            yield index, self.answer(listed[index], len(listed) > 1)

    def force(self, items: Sequence[Any], want: Sequence[str]) -> Iterator[Any]:
        raise InputError("no")

    def close(self) -> None:
        raise AssertionError("an engine of the caller's own stays open")

    def drawn_from(self, temperature: float) -> NDArray[np.float64]:
        p = self.true ** (1 / temperature)
        p = p / p.sum()
        keep = p >= self.min_p * p.max()
        if self.top_k:
            keep &= np.arange(len(p)) < self.top_k
        keep &= np.cumsum(p) - p < self.top_p
        return np.where(keep, p, 0) / p[keep].sum()

    def answer(self, request: Request, batched: bool) -> Generation:
        call = next(self.asked)
        text = request.messages[-1].content
        settings = dict(request.chat_template_kwargs)
        thinking = self.thinks and settings.get("enable_thinking", True)
        if self.thinks == "asked":
            thinking = settings.get("enable_thinking") is True
        if thinking and not (self.thinks == "always" or self.thinks == "asked"):
            thinking = settings.get("enable_thinking") is not False
        if thinking and request.max_tokens < 100:
            return Generation(request, thinking="hm", problem="truncated", usage=Usage(9, 1))
        length = min(request.max_tokens, 6)
        if request.greedy:
            # the two likeliest words take turns where greedy wavers
            second = (self.wavers == "alone" and call // 4 % 2) or (
                self.wavers == "batch" and batched
            )
            picked = [(len(text) * at + at + bool(second)) % 2 for at in range(length)]
            picked[0] = int(bool(second))
        else:
            said = (text, request.seed, request.sample) if self.seeded else (call,)
            key = hashlib.sha256(repr(("fixed", text) if self.repeats else said).encode()).digest()
            rng = np.random.default_rng(int.from_bytes(key[:8], "big"))
            size = len(self.true)
            picked = list(rng.choice(size, length, p=self.drawn_from(request.temperature)))
        words = [WORDS[at] if n == 0 else f" {WORDS[at]}" for n, at in enumerate(picked)]
        values = None
        if self.logprobs == "raw":
            values = tuple(math.log(self.true[at]) for at in picked)
        elif self.logprobs == "tempered":  # what the sampler saw: tempered, and 0.0 when greedy
            p = (self.true / self.true.max()) ** (1 / (request.temperature or 1e-9))
            p = p / p.sum()
            values = tuple(math.log(p[at]) if p[at] > 0 else 0.0 for at in picked)
        offsets = tuple(sum(map(len, words[:n])) for n in range(len(words)))
        return Generation(
            request,
            text="".join(words),
            thinking="hm" if thinking else None,
            logprobs=values,
            offsets=offsets if values else None,
            overrides=self.overrides,
            usage=Usage(prompt_tokens=9, completion_tokens=length),
        )

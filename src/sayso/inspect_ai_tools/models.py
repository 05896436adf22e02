"""An engine of ours as a model of Inspect, and a generation as its output.

``sayso/NAME`` opens every model that ``sayso run --model NAME`` opens: ``inspect eval … --model
sayso/builtin``. The other way round is :mod:`sayso.engines.inspect_models`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import msgspec
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    Logprob,
    Logprobs,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    StopReason,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from sayso.engines import open_model
from sayso.engines.engine import Engine
from sayso.records import Generation, Message, Request

# ---- an engine of ours as a model


@modelapi(name="sayso")
class SaysoAPI(ModelAPI):
    """Any model that sayso opens, by the name that ``sayso run --model`` takes.

    It is opened when it is first asked, so that a log of it can be scored without it. One answer is
    computed at a time. Equal requests are counted: the second one at T > 0 gets another draw.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        **options: Any,
    ) -> None:
        """Remember what to open; ``options`` are those of :func:`sayso.open_model`."""
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())
        self.options = options
        self.engine: Engine | None = None
        self.asked: Counter[Request] = Counter()
        self.one = anyio.Semaphore(1)

    def max_connections(self) -> int:
        """Return how many requests Inspect may send at a time."""
        return 1

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Answer one request."""
        request = Request(
            messages=tuple(
                Message("user" if one.role == "tool" else one.role, one.text) for one in input
            ),
            temperature=1.0 if config.temperature is None else config.temperature,
            top_p=1.0 if config.top_p is None else config.top_p,
            max_tokens=config.max_tokens or Request(()).max_tokens,
            stop=tuple(config.stop_seqs or ()),
            seed=config.seed or 0,
        )
        async with self.one:
            number = self.asked[request]
            self.asked[request] += 1
            draw = msgspec.structs.replace(request, sample=0 if request.greedy else number)
            reply = await anyio.to_thread.run_sync(self._answer, draw)
        return inspect_output(reply, str(self.qualified_model_name or self.model_name))

    def _answer(self, request: Request) -> Generation:
        if self.engine is None:
            self.engine = open_model(self.model_name, **self.options)
        ((_, reply),) = self.engine.complete([request])
        return reply


STOP: dict[str | None, StopReason] = {"length": "max_tokens", None: "unknown"}


def usage_of(reply: Generation) -> ModelUsage:
    """Return the tokens of a generation as Inspect counts them: cached ones apart."""
    usage = reply.usage
    return ModelUsage(
        input_tokens=max(usage.prompt_tokens - usage.cached_tokens, 0),
        output_tokens=usage.completion_tokens,
        total_tokens=usage.prompt_tokens + usage.completion_tokens,
        input_tokens_cache_read=usage.cached_tokens or None,
        reasoning_tokens=reply.thinking_tokens,
        total_cost=usage.dollars,
    )


def inspect_output(reply: Generation, model: str, further: Sequence[str] = ()) -> ModelOutput:
    """Return a generation as the output of a model; ``further`` texts are further choices."""
    choice = partial(ChatCompletionChoice, stop_reason=STOP.get(reply.finish, "stop"))
    thought = [ContentReasoning(reasoning=reply.thinking)] if reply.thinking else []
    content: Any = [*thought, ContentText(text=reply.text)] if thought else reply.text
    first = ChatMessageAssistant(content=content, source="generate", model=model)
    others = [
        ChatMessageAssistant(content=text, source="generate", model=model) for text in further
    ]
    return ModelOutput(
        model=model,
        choices=[
            choice(message=first, logprobs=_logprobs(reply)),
            *(ChatCompletionChoice(message=one, stop_reason="unknown") for one in others),
        ],
        usage=usage_of(reply),
        error=reply.problem,
    )


def _logprobs(reply: Generation) -> Logprobs | None:
    """Return the log-probability of each token with its text, where both were recorded."""
    starts, values = reply.offsets, reply.logprobs
    if not starts or not values or len(starts) != len(values):
        return None
    ends = (*starts[1:], len(reply.text))
    texts = (reply.text[a:b] for a, b in zip(starts, ends, strict=True))
    return Logprobs(
        content=[Logprob(token=t, logprob=v) for t, v in zip(texts, values, strict=True)]
    )

"""A model of Inspect as an engine of ours, for the judge; an engine of ours as a model of Inspect.

``ModelEngine`` lets :class:`~sayso.judges.model.judge.LlmJudge` ask a model that Inspect opened, so
that Inspect counts its tokens, retries its requests and shows them in the log. ``sayso/NAME`` opens
every model that ``sayso run --model NAME`` opens: ``inspect eval … --model sayso/builtin``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import msgspec
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    Logprob,
    Logprobs,
    Model,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    StopReason,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from sayso.engines import open_model
from sayso.engines.engine import Capabilities, Counts, Engine
from sayso.records import Generation, InputError, Message, Request, Usage

# ---- a model of Inspect as an engine


class ModelEngine:
    """A model of Inspect as an :class:`~sayso.engines.engine.Engine`, called from a thread.

    ``complete`` runs in a thread that ``anyio.to_thread`` started: each request goes to the event
    loop, where Inspect asks its model. An error of the model is raised, as Inspect's own scorers
    do, so that its rules for failed samples apply.
    """

    capabilities = Capabilities()

    def __init__(self, model: Model) -> None:
        """Wrap a model."""
        self.model = model
        self.name = self.identity = self.base = self.signature = str(model)
        self.counts = Counts()

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        """Ask the model one request after the other."""
        for index, request in enumerate(requests):
            yield index, anyio.from_thread.run(self._ask, request)

    async def _ask(self, request: Request) -> Generation:
        config = GenerateConfig(
            temperature=request.temperature,
            max_tokens=request.max_tokens,
            stop_seqs=list(request.stop) or None,
        )
        output = await self.model.generate(inspect_messages(request.messages), config=config)
        return generation_of(output, request)

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        """Refuse: a model of Inspect reads no given text. Raises InputError."""
        raise InputError(f"{self.name}: a model of Inspect gives no probabilities of a given text")

    def close(self) -> None:
        """Leave the model open: Inspect closes it."""


#: why Inspect says that an answer ended -> what a generation says
FINISH = {"stop": "stop", "max_tokens": "length", "model_length": "length"}


def generation_of(output: ModelOutput, request: Request, **fields: Any) -> Generation:
    """Return what a model of Inspect answered as a generation.

    An answer without text that reached the token limit was cut off inside a thought: "truncated".
    """
    text = output.completion
    usage = output.usage
    finish = None if output.empty else FINISH.get(output.stop_reason)
    problem = f"failed: {output.error}" if output.error and not text.strip() else None
    if problem is None and not text.strip() and finish == "length":
        problem = "truncated"
    return Generation(
        request,
        text=text,
        finish=finish,
        usage=Usage()
        if usage is None
        else Usage(
            prompt_tokens=usage.input_tokens + (usage.input_tokens_cache_read or 0),
            completion_tokens=usage.output_tokens,
            cached_tokens=usage.input_tokens_cache_read or 0,
            dollars=usage.total_cost,
        ),
        problem=problem,
        **fields,
    )


ROLES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}


def inspect_messages(messages: Iterable[Message]) -> list[ChatMessage]:
    """Return messages as Inspect has them."""
    return [ROLES[message.role](content=message.content) for message in messages]


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
            messages=tuple(_message(one) for one in input),
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


def _message(message: ChatMessage) -> Message:
    role = message.role if message.role in ROLES else "user"
    return Message(role, message.text)  # type: ignore[arg-type]


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

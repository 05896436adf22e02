"""``inspect:PROVIDER/MODEL``: a model of Inspect (https://inspect.aisi.org.uk) as an engine.

Only the exchange is Inspect's: :class:`InspectWire` gives a body of chat completions to the model
that Inspect opened, and its output back as a reply. All else (draws, refused options, retries,
pace, records) is that of any endpoint. Our scorers in Inspect ask the same engine, from inside
Inspect's own event loop (``HOME``; :mod:`sayso.inspect_ai_tools.reading`).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

import httpx2
import msgspec
from anyio.from_thread import BlockingPortal
from pydantic import TypeAdapter

from sayso.engines.engine import read_options
from sayso.engines.openai.endpoint import Endpoint, EndpointOptions, safe_line
from sayso.engines.openai.engine import EndpointEngine
from sayso.engines.openai.reply import Fault, Reply, choice_records, read_completion, read_error
from sayso.engines.openai.request import refused_names
from sayso.engines.openai.wire import Wire, without_key
from sayso.engines.prices import price_of
from sayso.engines.providers import INSPECT, INSPECT_BATCHES, OF_INSPECT
from sayso.records import Generation, InputError, Request

try:
    import httpx
    from inspect_ai._util.error import PrerequisiteError
    from inspect_ai._util.http import status_code_of
    from inspect_ai._util.registry import registry_find, registry_unqualified_name
    from inspect_ai.log._transcript import Transcript, init_transcript
    from inspect_ai.model import (
        ChatMessage,
        ContentReasoning,
        GenerateConfig,
        Model,
        ModelOutput,
        ResponseSchema,
        get_model,
    )
    from rich.text import Text
    from tenacity import RetryError
except ModuleNotFoundError as error:
    raise InputError(
        f"models of Inspect need {error.name}, which is not installed: pip install 'sayso[inspect]'"
    ) from None

#: the event loop of Inspect, where a scorer of ours asks; a run of sayso has none
HOME: ContextVar[BlockingPortal | None] = ContextVar("sayso_inspect_home", default=None)
#: Inspect's names for parameters of a body, where it has others
RENAMED = {"n": "num_choices", "max_completion_tokens": "max_tokens", "stop": "stop_seqs"}
#: calls at once, where another limit holds: Inspect's own would make them wait without a word
UNLIMITED = 1_000_000
#: what Inspect sends to no model that reasons, and says so on the terminal alone
SAMPLING = ("temperature", "top_p", "logprobs", "top_logprobs")
MESSAGES = TypeAdapter(list[ChatMessage])
DEFAULTS = EndpointOptions()


def open_inspect(model: str, **options: object) -> ModelEngine:
    """Open ``PROVIDER/MODEL``; see :class:`~sayso.engines.openai.endpoint.EndpointOptions`."""
    checked = read_options(EndpointOptions, options, "an endpoint's options")
    name, (provider, slash, rest) = f"inspect:{model}", model.partition("/")
    known = registry_find(
        lambda info: info.type == "modelapi" and registry_unqualified_name(info) == provider
    )
    if not (slash and rest and known):
        raise InputError(
            f"model {name!r:.200} is not one that Inspect can open: expected "
            "inspect:PROVIDER/MODEL, such as inspect:openai/gpt-5.4-mini; Inspect's page on "
            "providers lists them: https://inspect.aisi.org.uk/providers.html"
        )
    if checked.batches and provider not in INSPECT_BATCHES:
        raise InputError(
            f"model {name!r}: Inspect has no batches for {provider}, but for "
            f"{', '.join(INSPECT_BATCHES)}; leave batch_files out"
        )
    try:
        opened = get_model(model, memoize=False) if checked.asked else None
    except Exception as error:  # whatever the library of a provider raises
        told = f"{type(error).__name__}: {error}"
        if isinstance(error, PrerequisiteError):
            told = Text.from_markup(str(error.message)).plain.removeprefix("ERROR: ")
        raise InputError(f"model {name!r} cannot be opened: {safe_line(told, (), 400)}") from None
    return ModelEngine(name, opened, checked)


class ModelEngine(EndpointEngine):
    """A model of Inspect as an engine; ``model`` is ``None`` for a dry run, which needs no key."""

    def __init__(self, name: str, model: Model | None, options: EndpointOptions = DEFAULTS) -> None:
        full = name.removeprefix("inspect:")
        provider = full.partition("/")[0]
        row = INSPECT.get(provider, OF_INSPECT)
        key, variables, own = "", (), full.rpartition("/")[2]
        if model is not None:
            key, variables = model.api.api_key or "", tuple(model.api.api_key_vars)
            if getattr(model.api, "responses_api", False):  # OpenAI's, for its newer models
                row = row._replace(ignores=(*row.ignores, "n", "seed", "stop"))
        endpoint = Endpoint(name, f"Inspect's {provider}", own, key, variables, row)
        self.asks_ahead = options.batches is not None
        super().__init__(endpoint, options, InspectWire(model, endpoint, options))
        self.price = self.asker.price = price_of(f"inspect:{full}", options.price)
        if self.asks_ahead:  # a batch is sent when no more comes
            self.asker.pace.limit = self.asker.pace.most = UNLIMITED

    def _identify(self) -> None:
        """Take identity and signature from provider and model: both decide what is sent."""
        version = self.options.model_version
        self.name = self.asker.endpoint.name
        full = self.name.removeprefix("inspect:") + (f"@{version}" if version else "")
        self.identity = self.base = f"api:inspect:{full}"
        self.signature = full[-50:]


class InspectWire(Wire):
    """What goes out to a model of Inspect and what comes back, in the words of an endpoint."""

    def __init__(self, model: Model | None, endpoint: Endpoint, options: EndpointOptions) -> None:
        self.model = model
        self.secret = endpoint.secret
        batch = options.batches is not None
        self.own = GenerateConfig(
            max_connections=UNLIMITED,
            max_retries=0,
            attempt_timeout=None if batch else max(1, round(options.timeout)),
            batch=batch or None,
        )

    async def ask(self, body: dict[str, object]) -> Reply | Fault:
        """Send one call and read what comes back; in Inspect's own loop where it asks us."""
        home = HOME.get()
        if home is None:
            init_transcript(Transcript())  # nobody reads it, and it would keep every answer
            return await self._exchange(body, self.own)
        future = home.start_task_soon(self._exchange, body, GenerateConfig())
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return Fault("everyone", "canceled", error=InputError("Inspect canceled the sample"))

    async def _exchange(self, body: Mapping[str, Any], own: GenerateConfig) -> Reply | Fault:
        assert self.model is not None
        kept = next((name for name in SAMPLING if name in body), None)
        if kept and is_reasoning(self.model.api, body.get("reasoning_effort")):
            return Fault("refused", f"{kept} is not supported by Inspect for models that reason")
        try:
            messages = MESSAGES.validate_python(body["messages"])
            output = await self.model.generate(messages, config=config_of(body).merge(own))
        except Exception as error:
            fault = self._fault(error)
            inside = HOME.get() is not None and not refused_names(fault.reason, body)
            return fault._replace(error=error if inside else None)
        if not output.empty and output.stop_reason == "model_length" and output.usage is None:
            return Fault("context", output.completion)  # a refusal that Inspect made a text of
        return read_completion(without_key(completion_of(output), self.secret))

    def _fault(self, error: BaseException) -> Fault:
        """Return what an exception of Inspect or a provider's library says."""
        assert self.model is not None
        if isinstance(error, RetryError) and (last := error.last_attempt.exception()) is not None:
            error = last
        chain: list[BaseException] = [error]
        while (cause := chain[-1].__cause__ or chain[-1].__context__) and len(chain) < 9:
            chain.append(cause)
        text = getattr(error, "provider_message", None) or str(error) or type(error).__name__
        status = next(filter(None, map(status_code_of, chain)), None)
        if status == 404 and getattr(self.model.api, "responses_api", False):
            text = f"{text}, for OpenAI's Responses API; inspect:openai-api/… asks other servers"
        if status is not None:
            headers = getattr(getattr(error, "response", None), "headers", {})
            return self._clean(read_error(status, headers, text))
        away = (ConnectionError, httpx.ConnectError, httpx2.ConnectError)
        if any(isinstance(one, away) for one in chain):
            return Fault("away", f"no connection: {text}")
        if "timeout" in type(error).__name__.lower():
            return Fault("late", f"no answer in {self.own.attempt_timeout} s")
        again = isinstance(error, Exception) and self.model.api.should_retry(error)
        return self._clean(Fault("again" if again else "failed", f"{type(error).__name__}: {text}"))

    async def models(self, seconds: float = 0.0) -> list[tuple[str, int | None]] | Fault:
        """Say that Inspect lists no models."""
        return Fault("page", "Inspect lists no models")

    async def close(self) -> None:
        """Close the model's connections."""
        if self.model is not None:
            await self.model.api.aclose()


def is_reasoning(api: Any, effort: str | None) -> bool:
    """Tell whether Inspect takes a model for one that reasons, which has no sampling settings."""
    if getattr(api, "responses_api", False):  # OpenAI's
        asked = api.reasons_by_default() if effort is None else effort != "none"
        return bool(api.always_reasons() or (api.is_gpt_5_plus() and asked))
    return bool(getattr(api, "is_claude_4_7_or_later", bool)())  # Amazon's


def config_of(body: Mapping[str, Any]) -> GenerateConfig:
    """Return the settings of a body of chat completions as Inspect calls them."""
    every, known = {RENAMED.get(k, k): v for k, v in body.items()}, GenerateConfig.model_fields
    config = GenerateConfig(**{name: every[name] for name in every.keys() & known.keys()})
    if "response_format" in body:
        form = body["response_format"]
        named = form.get("json_schema", {"name": "reply", **form})
        config.response_schema = ResponseSchema(
            name=named["name"], json_schema=named["schema"], strict=named.get("strict")
        )
    return config


def completion_of(output: ModelOutput) -> bytes:
    """Return the output of a model of Inspect as a reply of chat completions."""
    choices = []
    for choice in output.choices:
        content = choice.message.content
        parts = [c for c in content if isinstance(c, ContentReasoning)] if content else []
        thoughts = [(not c.redacted and c.reasoning) or c.summary or "" for c in parts]
        message = {"content": choice.message.text, "reasoning": "\n\n".join(thoughts)}
        ended = choice.stop_reason.replace("unknown", "")
        logprobs = choice.logprobs.model_dump() if choice.logprobs else None
        choices.append({"message": message, "finish_reason": ended, "logprobs": logprobs})
    reply: dict[str, Any] = {"model": output.model, "choices": choices}
    if (used := output.usage) is not None:
        cached = used.input_tokens_cache_read or 0
        reply["usage"] = {
            "prompt_tokens": used.input_tokens + cached + (used.input_tokens_cache_write or 0),
            "completion_tokens": used.output_tokens,
            "prompt_tokens_details": {"cached_tokens": cached},
            "completion_tokens_details": {"reasoning_tokens": used.reasoning_tokens},
        }
    return json.dumps(reply).encode()


def generation_of(output: ModelOutput, **fields: Any) -> Generation:
    """Return what a model of Inspect answered as a generation, its thoughts apart."""
    reply = read_completion(completion_of(output))
    if isinstance(reply, Fault):
        return Generation(Request(()), problem=f"failed: {output.error or reply.reason}", **fields)
    return msgspec.structs.replace(choice_records([Request(())], reply, (), None)[0], **fields)

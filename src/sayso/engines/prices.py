"""What a model's tokens cost, from a package with a date that the user can override.

An unknown price is ``None``, never 0: a run that costs money must not look free.
"""

from __future__ import annotations

import functools
import math
from importlib.metadata import version

import msgspec

from sayso.engines.named import LOCAL_NAMES
from sayso.engines.ollama import costs_nothing
from sayso.engines.providers import INSPECT, LOCAL_HERE, PROVIDERS
from sayso.records import Generation, InputError, Usage


class Price(msgspec.Struct, frozen=True, omit_defaults=True):
    """Dollars per million tokens, with their source.

    ``cached`` is for prompt tokens that the provider reads from its cache; ``None`` = as ``input``.
    """

    input: float
    output: float
    cached: float | None = None
    source: str = ""

    @property
    def label(self) -> str:
        """The price in one phrase, with its source."""
        if not (self.input or self.output):
            return f"no price ({self.source})"
        return f"${self.input:g} in, ${self.output:g} out per million tokens ({self.source})"

    @property
    def halved(self) -> Price:
        """The price of the same tokens in batch files."""
        cached = None if self.cached is None else self.cached / 2
        source = f"{self.source}, halved for batch files"
        return Price(self.input / 2, self.output / 2, cached, source)

    def of(self, usage: Usage) -> float:
        """Return the dollars for the tokens of one reply."""
        cached = self.input if self.cached is None else self.cached
        fresh = max(0, usage.prompt_tokens - usage.cached_tokens)
        return (
            fresh * self.input
            + usage.cached_tokens * cached
            + usage.completion_tokens * self.output
        ) / 1_000_000


#: models on this machine cost no dollars
LOCAL = Price(0.0, 0.0, 0.0, source="local")


def reply_cost(reply: Generation, price: Price | None) -> float | None:
    """Return the dollars of one reply: its own where it states them, else those at ``price``.

    ``None`` if unknown: no price, or an answer whose tokens the endpoint does not report. A request
    that failed before any token cost nothing.
    """
    usage = reply.usage
    if usage.dollars is not None:
        return usage.dollars
    if reply.problem not in (None, "truncated") and not usage.prompt_tokens:
        return 0.0
    if price is None:
        return None
    has_text = bool(reply.text or reply.thinking)
    unreported = not usage.completion_tokens if has_text else usage == Usage()
    return None if unreported and (price.input or price.output) else price.of(usage)


def price_of(model: str, override: str | None = None) -> Price | None:
    """Return the price of a model named as in ``open_model``; ``None`` if unknown.

    ``override`` is ``"in,out"`` in dollars per million tokens, or ``"in,out,cached"``; anything
    else raises :class:`InputError`. Only models of a provider are looked up, and an Ollama server
    on this machine costs nothing: what runs behind another endpoint's name, and who bills it,
    cannot be known.
    """
    if override is not None:
        return _parse(override)
    kind, _, name = model.partition(":")
    if model in LOCAL_NAMES or kind in ("hf", "gguf", "vllm"):
        return LOCAL
    if kind == "ollama":
        return LOCAL if costs_nothing(name) else None
    provider = PROVIDERS.get(kind)
    if kind == "inspect":
        kind, _, name = name.partition("/")
        provider = INSPECT.get(kind)
    if provider is None or not (provider.prices and name):
        return None
    return LOCAL if provider.prices == LOCAL_HERE else _listed(provider.prices, name)


@functools.cache
def _listed(provider: str, model: str) -> Price | None:
    """Return what the installed package genai-prices knows, which sends no request for more.

    Prices that rise with a prompt's length are those of short prompts.
    """
    import genai_prices  # only a run that needs a price loads it

    usages = (
        genai_prices.Usage(input_tokens=1_000),
        genai_prices.Usage(output_tokens=1_000),
        genai_prices.Usage(input_tokens=1_000, cache_read_tokens=1_000),
    )
    try:
        found = [genai_prices.calc_price(usage, model, provider_id=provider) for usage in usages]
    except (LookupError, ValueError):
        return None
    fresh, written, read = (round(float(one.total_price) * 1_000, 6) for one in found)
    named = found[0].model.id
    source = f"genai-prices {version('genai-prices')}{f', {named}' if named != model else ''}"
    return Price(fresh, written, read, source)


def _parse(text: str) -> Price:
    try:
        numbers = [float(part.strip().removeprefix("$")) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 3) or not all(math.isfinite(x) and x >= 0 for x in numbers):
        raise InputError(
            f"price {text!r} is not a price: expected dollars per million tokens as 'in,out', "
            "such as --price 0.15,0.60"
        )
    cached = numbers[2] if len(numbers) == 3 else None
    return Price(numbers[0], numbers[1], cached, source="your --price")

"""What a model's tokens cost, from a dated table that the user can override.

An unknown price is ``None``, never 0: a run that costs money must not look free.
"""

from __future__ import annotations

import functools
import math
import re
from importlib import resources

import msgspec

from sayso.records import Generation, InputError, Usage

#: ends a dated name: gpt-4o-2024-08-06, gpt-4-0613, gpt-4-0125-preview
DATED = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{4}(-preview)?)$")
MILLION = 1_000_000


class Price(msgspec.Struct, frozen=True, omit_defaults=True):
    """Dollars per million tokens, and where that is from.

    ``cached`` is for prompt tokens that the provider read from its cache; ``None`` = as ``input``.
    ``date`` is "YYYY-MM", empty where the price is the user's or there is nothing to pay.
    """

    input: float
    output: float
    cached: float | None = None
    date: str = ""
    source: str = ""

    @property
    def label(self) -> str:
        """The price in one phrase, with its date or source."""
        if not (self.input or self.output):
            return f"no price ({self.source})"
        when = f", {self.date}" if self.date else ""
        return f"${self.input:g} in, ${self.output:g} out per million tokens ({self.source}{when})"

    def of(self, usage: Usage) -> float:
        """Return the dollars for the tokens of one reply."""
        cached = self.input if self.cached is None else self.cached
        fresh = max(0, usage.prompt_tokens - usage.cached_tokens)
        return (
            fresh * self.input
            + usage.cached_tokens * cached
            + usage.completion_tokens * self.output
        ) / MILLION


def cost(reply: Generation, price: Price | None) -> float | None:
    """Return the dollars of one reply, at ``price`` where it does not say so itself.

    ``None`` where nobody knows: no price, or an answer whose tokens the endpoint did not tell. A
    request that failed before any token cost nothing.
    """
    usage = reply.usage
    if usage.dollars is not None:
        return usage.dollars
    if reply.problem not in (None, "truncated") and not usage.prompt_tokens:
        return 0.0
    if price is None:
        return None
    said = bool(reply.text or reply.thinking)
    untold = not usage.completion_tokens if said else usage == Usage()
    return None if untold and (price.input or price.output) else price.of(usage)


#: models in this process cost no dollars
LOCAL = Price(0.0, 0.0, 0.0, source="local")


class _Table(msgspec.Struct, frozen=True):
    date: str
    source: str
    models: dict[str, Price]


@functools.cache
def _table() -> _Table:
    import yaml  # only a run that asks for a price reads the table

    text = (resources.files("sayso") / "engines" / "prices.yaml").read_text(encoding="utf-8")
    return msgspec.convert(yaml.safe_load(text), _Table)


def price_of(model: str, override: str | None = None) -> Price | None:
    """Return the price of a model named as in ``open_model``; ``None`` where nobody knows.

    ``override`` is ``"in,out"`` in dollars per million tokens, or ``"in,out,cached"``. Only
    ``openai:`` names are looked up: what stands behind another endpoint's name, and who bills it,
    cannot be known. Raises :class:`InputError` for an override that is no price.
    """
    if override is not None:
        return _parse(override)
    kind, _, name = model.partition(":")
    if kind in ("builtin", "hf"):
        return LOCAL
    if kind != "openai":
        return None
    table = _table()
    found = table.models.get(name) or table.models.get(DATED.sub("", name))
    if found is None:
        return None
    return msgspec.structs.replace(found, date=table.date, source="sayso's table")


def _parse(text: str) -> Price:
    """Read ``"in,out"`` or ``"in,out,cached"``."""
    try:
        numbers = [float(part.strip().removeprefix("$")) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 3) or not all(math.isfinite(x) and x >= 0 for x in numbers):
        raise InputError(
            f"price {text!r} is not one: expected dollars per million tokens as 'in,out', "
            "such as --price 0.15,0.60"
        )
    cached = numbers[2] if len(numbers) == 3 else None
    return Price(numbers[0], numbers[1], cached, source="your --price")

"""How the subject is to think, and what its chat template is told: part of every request."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping

import msgspec

from sayso.records import InputError, Request, content_id

#: the settings of a run that are put into every request, beside those of a protocol
OF_REQUESTS = ("thinking", "chat_template_kwargs")
EFFORTS = ("low", "medium", "high")
#: more tokens of thought than this are a typing error
MOST_TOKENS = 1_000_000

Scalar = str | int | float | bool
Shape = Callable[[Request], Request]


def thinking_kwargs(thinking: str) -> tuple[dict[str, Scalar], int]:
    """Return what the template is told, and by how many tokens an answer may be longer.

    ``thinking`` is "" (nothing is said: the model's default), "on", "off", an effort of
    :data:`EFFORTS`, or a number of tokens. Raises InputError.
    """
    if not thinking:
        return {}, 0
    if thinking in ("on", "off"):
        return {"enable_thinking": thinking == "on"}, 0
    if thinking in EFFORTS:
        return {"reasoning_effort": thinking}, 0
    if thinking.isascii() and thinking.isdigit() and 1 <= int(thinking) <= MOST_TOKENS:
        return {"enable_thinking": True, "thinking_budget": int(thinking)}, int(thinking)
    raise InputError(
        f"thinking {thinking!r}: expected on, off, {', '.join(EFFORTS)}, or a number of tokens "
        f"from 1 to {MOST_TOKENS:,}"
    )


def template_kwargs(given: str | Mapping[str, Scalar] | None) -> dict[str, Scalar]:
    """Return the user's own arguments of the chat template, from a mapping or its JSON.

    Raises InputError for what is no JSON object of texts, numbers and true or false.
    """
    if not given:
        return {}
    what = f"chat-template-kwargs {str(given)[:80]!r}"
    expected = 'expected a JSON object such as {"enable_thinking": false}'
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{what}: not JSON ({error}); {expected}") from None
    if not isinstance(given, Mapping):
        raise InputError(f"{what}: {expected}")
    for name, value in given.items():
        plain = isinstance(value, str | int | float | bool)
        if not isinstance(name, str) or not plain or _endless(value):
            raise InputError(
                f"{what}: {name!r} is {value!r}; {expected}, with texts, numbers, true or false"
            )
    return dict(given)


def _endless(value: Scalar) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def shape(thinking: str, given: str | Mapping[str, Scalar] | None) -> Shape:
    """Return the function that puts thinking and template arguments into a request.

    A number of tokens to think is added to the longest answer. Raises InputError.
    """
    wanted, longer = thinking_kwargs(thinking)
    own = template_kwargs(given)
    both = sorted(wanted.keys() & own.keys())
    if both:
        raise InputError(
            f"thinking {thinking!r} sets {both[0]}, and chat-template-kwargs does too; "
            "leave one of them out"
        )
    told = {**wanted, **own}

    def shaped(request: Request) -> Request:
        if not told:
            return request
        merged = {**dict(request.chat_template_kwargs), **told}
        return msgspec.structs.replace(
            request,
            chat_template_kwargs=tuple(sorted(merged.items())),
            max_tokens=request.max_tokens + longer,
        )

    return shaped


def stored(thinking: str, given: str | Mapping[str, Scalar] | None) -> dict[str, str]:
    """Return both as a manifest keeps them; nothing where nothing was said."""
    own = template_kwargs(given)
    found = {"thinking": thinking} if thinking else {}
    if own:
        found["chat_template_kwargs"] = json.dumps(own, sort_keys=True, ensure_ascii=False)
    return found


def signed(settings: Mapping[str, object]) -> dict[str, str]:
    """Return what they add to every signature, from a manifest's settings."""
    found = {}
    if thinking := settings.get("thinking"):
        found["thinking"] = str(thinking)
    if own := settings.get("chat_template_kwargs"):
        found["template"] = content_id(own)[:8]
    return found

"""What an error of an endpoint means: ask again, slow down, leave something out, or give up."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from sayso.backends.openai_pace import retry_after

OVER_CONTEXT = re.compile(
    r"context.?length|maximum context|context.?window|prompt is too long|too many (input )?tokens"
    r"|max_model_len|exceeds? the (model|maximum)|longer than the maximum|input is too long",
    re.IGNORECASE,
)
CONTEXT_LENGTH = re.compile(r"(?:context|max_model_len)[^.\d]{0,40}?(\d[\d,]{2,9})", re.IGNORECASE)
FILTERED = re.compile(
    r"content.?filter|content management policy|responsibleai|content_policy|moderation",
    re.IGNORECASE,
)

#: again: ask this call again; late: too, and fewer at once; busy: slow down; away: nobody listens;
#: refused: a parameter, or the whole request; context and filter: what they say; everyone: no
#: request can succeed; first and page: none can, if none did so far; unable: the same, else this
#: one cannot; failed: this one cannot
FaultKind = Literal[
    "again",
    "late",
    "busy",
    "away",
    "refused",
    "context",
    "filter",
    "everyone",
    "first",
    "unable",
    "page",
    "failed",
]


class Fault(NamedTuple):
    """Why there is no answer. ``reason`` still holds what the server said, unscrubbed.

    ``page``: it said so in a web page, as no endpoint does, though gateways before one do.
    """

    kind: FaultKind
    reason: str
    wait: float | None = None
    page: bool = False


def decode(body: bytes) -> Any:
    """Return the JSON value of a body; raises ValueError where it is none."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:  # NaN, lone surrogates: what other writers of JSON let through
        return json.loads(body.decode("utf-8", "replace"))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def error_reply(data: Mapping[str, Any]) -> Fault:
    """Read an error that came with status 200; gateways put the true status into ``code``."""
    error = mapping(data["error"])
    told = (count(error.get("code")), count(error.get("status")))
    status = next((code for code in told if code is not None and 400 <= code < 600), 200)
    return read_error(status, {}, error_text(data))


def read_failure(status: int, headers: Mapping[str, str], body: bytes) -> Fault:
    """Read a reply whose status says that there is no answer."""
    try:
        return read_error(status, headers, error_text(decode(body)))
    except ValueError:
        page = is_page(body)
    text = "a web page" if page else body[:500].decode("utf-8", "replace")
    return read_error(status, headers, text)._replace(page=page)


def is_page(body: bytes) -> bool:
    """Tell a web page (or XML) from what else is no JSON."""
    return body.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<"


def read_error(status: int, headers: Mapping[str, str], text: str) -> Fault:
    """Say what to do about an error of this status and text."""
    reason = f"status {status}: {text}"
    wait = retry_after(headers)
    if status == 429:
        spent = "insufficient_quota" in text
        return Fault("everyone" if spent else "busy", reason, wait)
    if status in (401, 402):
        return Fault("everyone", reason)
    if status == 501:
        return Fault("unable", reason)
    if status in (408, 409, 425) or status >= 500:
        overloaded = wait is not None or status in (503, 529)
        return Fault("busy" if overloaded else "again", reason, wait)
    if FILTERED.search(text):
        return Fault("filter", reason)
    if status == 413 or OVER_CONTEXT.search(text):
        return Fault("context", reason)
    if status in (403, 404, 405) or 300 <= status < 400:
        return Fault("first", reason)
    return Fault("again" if status < 300 else "refused", reason)


def context_told(text: str) -> int | None:
    """Return the context length that an error message states, in tokens."""
    found = CONTEXT_LENGTH.search(text)
    return int(found[1].replace(",", "")) if found else None


def error_text(data: object) -> str:
    """Return everything an error body says, in one string; code and parameter first."""
    error = data.get("error", data) if isinstance(data, Mapping) else data
    if isinstance(error, Mapping):
        parts = [error.get(k) for k in ("code", "param", "type", "message", "detail")]
        said = [p if isinstance(p, str) else _dump(p) for p in parts if p not in (None, "", [], {})]
        if said:
            return ": ".join(said)
    return error if isinstance(error, str) else _dump(error)


def _dump(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)[:4000]
    except (ValueError, RecursionError):
        return "an error that cannot be shown"


def mapping(value: object) -> Mapping[str, Any]:
    """Return a JSON object, or an empty one in place of anything else."""
    return value if isinstance(value, Mapping) else {}


def count(value: object) -> int | None:
    """Return a count of tokens; ``None`` where it is none."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < 2**40 else None  # type: ignore[operator,return-value]

"""An endpoint as a user names it: its address, its options, its key, which stays unseen, and the
lines that tell the user what went wrong with it."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Annotated
from urllib.parse import urlsplit

import httpx2
import msgspec

from sayso.addresses import redact
from sayso.engines.openai.reply import Fault
from sayso.engines.providers import PROVIDERS, UNKNOWN_PROVIDER, Provider
from sayso.keys import hide_key, is_secret
from sayso.records import InputError, refuse_secret, secret_in

#: what looks like a key is not printed either when a server repeats it
KEY_LIKE = re.compile(r"\b(sk-[\w\-*.]{6,}|Bearer\s+[\w\-.=+/*]{6,})", re.IGNORECASE)

#: a refusal that is about the key, or about what its account may do
ABOUT_KEY = re.compile(
    r"\bkey\b|api.?key|token|credential|auth|permission|account|organi[sz]ation|billing|verif",
    re.IGNORECASE,
)


class EndpointOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What may be set for an endpoint.

    ``price`` is "in,out" in dollars per million tokens; ``model_version`` names what runs behind
    the name and enters the cache key; ``concurrency`` is the most calls in flight; ``timeout`` the
    seconds one call may take; ``retries`` how often a broken call is repeated; ``patience`` the
    seconds after its first try beyond which a call is not repeated (left out: 600, and 60 where
    nothing listens); ``batches`` a folder for what
    is known of batch files, in which requests are then sent. ``asked`` is false for a dry
    run, which needs no key.
    """

    price: str | None = None
    model_version: str | None = None
    concurrency: Annotated[int, msgspec.Meta(ge=1)] = 256
    timeout: Annotated[float, msgspec.Meta(gt=0)] = 600.0
    retries: Annotated[int, msgspec.Meta(ge=0)] = 8
    patience: Annotated[float, msgspec.Meta(gt=0)] | None = None
    batches: str | None = None
    asked: bool = True


@dataclass(frozen=True)
class Endpoint:
    """An address and its key. ``model`` is empty until the endpoint says which one it serves."""

    name: str
    url: str
    model: str
    key: str = field(repr=False)
    key_names: tuple[str, ...]
    provider: Provider = UNKNOWN_PROVIDER

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must never be seen; a placeholder for a server without keys is no secret."""
        return (self.key,) if is_secret(self.key) else ()

    @property
    def secret(self) -> str:
        """The key; none for a placeholder."""
        return "".join(self.secrets)


def named_provider(name: str, asked: bool = True) -> Endpoint:
    """Return the endpoint of ``PROVIDER:MODEL``; of OpenAI the one that OPENAI_BASE_URL names.

    Raises InputError without a key, if it is to be ``asked``.
    """
    kind, _, model = name.partition(":")
    provider = PROVIDERS[kind]
    key = _key(provider.key)
    if not key and asked:
        raise InputError(f"model {name!r} needs a key: set the variable {provider.key}")
    own = os.environ.get("OPENAI_BASE_URL", "").strip().rstrip("/") if kind == "openai" else ""
    url = own or provider.url
    _check_url(url, "OPENAI_BASE_URL")
    return Endpoint(name, url, model, key, (provider.key,), provider)


def named_by_url(name: str, source: str = "the model name") -> Endpoint:
    """Return the endpoint of ``http(s)://host[:port]/v1[#model]``; ``source`` is where it stands.

    Its key is ``SAYSO_API_KEY_<HOST>``, else ``SAYSO_API_KEY``, else none. OPENAI_API_KEY never
    goes to a host that a user merely typed.
    """
    refuse_secret(name, source)
    address, _, model = name.partition("#")
    _check_url(address, source)
    url = address.strip().rstrip("/").removesuffix("/chat/completions")
    host = re.sub(r"[^A-Z0-9]", "_", (urlsplit(url).hostname or "").upper())
    key_names = (f"SAYSO_API_KEY_{host}", "SAYSO_API_KEY")
    key = next(filter(None, map(_key, key_names)), "")
    return Endpoint(f"{url}#{model}" if model else url, url, model, key, key_names)


def with_model(endpoint: Endpoint, model: str) -> Endpoint:
    """Return an endpoint that is asked for a model."""
    return replace(endpoint, name=f"{endpoint.url}#{model}", model=model)


def _check_url(url: str, source: str) -> None:
    """Refuse what is not a plain address; keys inside an address are not repeated."""
    refuse_secret(url, source)
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1)
        httpx2.URL(url.strip())  # some hosts and lengths are refused by this one alone
    except (ValueError, httpx2.InvalidURL):
        parts, usable = None, False
    if parts is not None and (parts.query or ";" in parts.path):
        raise secret_in(source)
    if not usable:
        raise InputError(
            f"{safe_line(url)!r} in {source} is not an address: expected http(s)://host[:port]/v1, "
            "then #model"
        )


def _key(variable: str) -> str:
    """Read a key; one that no header can hold is refused without being shown."""
    key = os.environ.get(variable, "").strip()
    if key and not (key.isascii() and key.isprintable()):
        raise InputError(f"the key in {variable} has characters that keys never have: set it again")
    return key


def short_model_name(model: str, version: str | None) -> str:
    """Return a readable name for signatures: the last part of the model's, 50 characters.

    Of a folder, as some servers name their model, the last two: many are called "checkpoint".
    """
    if model.startswith(("/", ".")):
        parts = [part for part in model.split("/") if part.strip(".")]
        short = "/".join(parts[-2:])[-50:] or model
    else:
        short = model.rstrip("/").rpartition("/")[2] or model
    return f"{short}@{version}"[:50] if version else short[:50]


# ---- what the user reads about an endpoint


def safe_line(text: str, secrets: tuple[str, ...] = (), limit: int = 200) -> str:
    """Return a server's text as one short printable line without keys."""
    for secret in secrets:  # before it is cut, which would leave the half of a key
        text = hide_key(text, secret)
    line = redact(" ".join(KEY_LIKE.sub("[key]", text[:4000]).split()))
    shown = "".join(c if unicodedata.category(c)[0] != "C" else " " for c in line)
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def fault_words(fault: Fault) -> str:
    """Return a fault in a few words that do not depend on what a server wrote."""
    if fault.reason.startswith("status "):
        return fault.reason.partition(":")[0]
    if fault.kind == "away":
        return "nobody listens"
    return "a web page" if fault.kind == "page" else safe_line(fault.reason, (), 40)


def explain(endpoint: Endpoint, fault: Fault, served: Sequence[str] | None = None) -> str:
    """Return the one line that ends a run: what came, from where, and what to do.

    ``served`` are the models that the endpoint lists.
    """
    reason = safe_line(fault.reason, endpoint.secrets)
    model, url = f"model {endpoint.name!r}", endpoint.url
    status = fault.reason.removeprefix("status ")[:3]
    if fault.kind == "late":
        return (
            f"{model}: {url} gives {reason}; the server may be busy: try again, or with fewer "
            "calls at once (--set concurrency=N)"
        )
    if fault.kind == "away":
        return f"{model}: nothing answers at {url} ({reason}); is it running, on this port?"
    if status == "401" or (status == "403" and ABOUT_KEY.search(fault.reason)):
        held = "refuses the key in" if endpoint.key else "wants a key; set"
        return f"{model}: {url} {held} {' or '.join(endpoint.key_names)} ({reason})"
    if status == "403":
        return f"{model}: {url} does not allow what was asked ({reason})"
    if status in ("402", "429"):
        return f"{model}: the account at {url} has no money left ({reason})"
    if served is not None and endpoint.model and endpoint.model not in served:
        names = ", ".join(safe_line(name, endpoint.secrets, 60) for name in served[:8]) or "none"
        return f"{model}: {url} does not serve {endpoint.model!r}; it lists: {names}"
    if status == "404" and endpoint.model and endpoint.model in fault.reason:
        return f"{model}: {url} does not have the model {endpoint.model!r} ({reason})"
    if len(status) == 3 and status[0] == "3":
        return (
            f"{model}: {url} redirects its calls ({reason}), and sayso follows no redirect, so "
            "that a key goes to no other host: pass the address to which it leads"
        )
    expected = "expected an OpenAI-compatible address, which usually ends in /v1"
    if fault.kind == "page" or fault.page:
        return f"{model}: {url} answers with something other than JSON ({reason}); {expected}"
    if fault.kind in ("first", "unable"):
        return f"{model}: {url} has no chat completions ({reason}); {expected}"
    if fault.kind == "refused":
        return f"{model}: {url} refuses every request so far ({reason})"
    return f"{model}: {url} does not list its models ({reason})"


def not_listed(endpoint: Endpoint, served: Sequence[str]) -> str:
    """Return the caution on a model that an endpoint does not list, and may answer for anyway."""
    shown = [safe_line(name, endpoint.secrets, 60) for name in served]
    near = get_close_matches(endpoint.model, shown, n=1)
    lists = f"lists only {shown[0]}" if len(shown) == 1 else f"lists {len(shown):,} models"
    hint = f" (did you mean {near[0]}?)" if near and len(shown) > 1 else ""
    return (
        f"the server at {endpoint.url} {lists}, not {safe_line(endpoint.model, (), 60)}{hint}; it "
        "may answer under any name"
    )


def models_notice(requested: str, named: Counter[str]) -> list[str]:
    """Return one sentence where a model with another name answered, or several did.

    ``named`` are the answers by the name in the reply; a date behind the name is the same model.
    """
    if len(named) > 1:
        counted = ", ".join(f"{name!r}: {count:,}" for name, count in named.most_common())
        return [f"the model behind {requested!r} changed during the run: answers by name {counted}"]
    (other,) = named or ("",)
    short, last = requested.rpartition("/")[2], other.rpartition("/")[2]
    if last.startswith(short) or short.startswith(last):
        return []
    return [f"requests name {requested!r}, but the endpoint says that {other!r} answers"]


def retry_notice(reasons: Counter[str]) -> list[str]:
    """Return one sentence on calls repeated for a fault, most frequent reasons first."""
    if not reasons:
        return []
    counted = ", ".join(f"{reason}: {count:,}" for reason, count in reasons.most_common(6))
    count = sum(reasons.values())
    were = "call to the endpoint was" if count == 1 else "calls to the endpoint were"
    return [f"{count:,} {were} repeated ({counted})"]

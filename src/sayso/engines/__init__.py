"""Engines: whatever answers requests, opened by name.

``engine`` holds the protocols, ``hf`` models in this process, ``openai`` models behind an endpoint,
``prices`` what tokens cost. torch and the client are imported on demand: nothing else needs them.
"""

from __future__ import annotations

import logging
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module, util
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sayso.addresses import redact
from sayso.engines.named import LOCAL_NAMES, PACKAGED, SHIPPED, NotHere
from sayso.engines.providers import PROVIDERS
from sayso.keys import holds_key
from sayso.later import Later
from sayso.plugins import Plugin, find_plugin, plugin_names
from sayso.processes import wait_passively
from sayso.records import InputError, refuse_secret

if TYPE_CHECKING:
    from sayso.engines import engine as contracts
    from sayso.engines.engine import Classifier, Engine
    from sayso.engines.hf.encoders import HfTokenVectors
else:
    contracts = Later("sayso.engines.engine")


#: what opens a model, by its name or by what stands before the colon
OPENERS = {
    **dict.fromkeys(SHIPPED, "sayso.engines.hf.engine:open_shipped"),
    **dict.fromkeys(PACKAGED, "sayso.engines.hf.engine:open_packaged"),
    "hf": "sayso.engines.hf.engine:open_hf",
    "gguf": "sayso.engines.gguf.engine:open_gguf",
    "vllm": "sayso.engines.vllm:open_vllm",
    "ollama": "sayso.engines.openai.engine:open_ollama",
    **dict.fromkeys(PROVIDERS, "sayso.engines.openai.engine:open_provider"),
    "inspect": "sayso.engines.inspect_models:open_inspect",
    "http": "sayso.engines.openai.engine:open_endpoint",
    "https": "sayso.engines.openai.engine:open_endpoint",
}
#: kinds of models that take torch, and those that are opened by their whole name
_OF_TORCH, _WHOLE = (*LOCAL_NAMES, "hf", "vllm"), (*LOCAL_NAMES, *PROVIDERS, "http", "https")
#: what a model may be called
NAMES = (
    "'builtin', 'builtin-trained', 'smollm2', 'hf:<folder or hub id>', "
    "'gguf:<GGUF file>', 'vllm:<folder or hub id>', 'ollama:<model>', '<provider>:<model>' (one of "
    f"{', '.join(PROVIDERS)}), 'inspect:<provider>/<model>', or the URL of an endpoint ('http://localhost:8000/v1#model')"
)


def open_model(name: str, **options: object) -> Engine:
    """Open a model by one of its :data:`NAMES`, or by a plug-in's, whose engine is checked.

    ``http(s)://host/v1#model`` is any server that speaks OpenAI's chat completions; without
    ``#model`` it must serve exactly one. Raises :class:`~sayso.records.InputError` for a name or
    folder that is not a model, and :class:`~sayso.engines.named.NotHere` for one whose files are
    not on this machine.
    """
    check_model_name(name)
    if brought := brought_model(name):
        engine: Engine = brought.open(**options)
        contracts.check_engine(engine, f"{brought.title}:", named=False)
        return engine
    kind, _, rest = name.partition(":")
    otherwise = f", or use gguf:{name}, which needs no torch" if name in PACKAGED else ""
    module, _, function = OPENERS[kind].partition(":")
    with _hf_extra(f"model {name!r}", otherwise) if kind in _OF_TORCH else nullcontext():
        opener = getattr(import_module(module), function)
    opened: Engine = opener(name if kind in _WHOLE else rest, **options)
    return opened


def brought_model(name: str) -> Plugin | None:
    """Return the plug-in that brings a model; ``None`` for a model of ours. Raises InputError."""
    return find_plugin("engines", name, OPENERS)


def check_model_name(name: str) -> None:
    """Refuse a name that is no model's, without opening anything. Raises InputError."""
    if not isinstance(name, str):
        raise InputError(f"model is {name!r:.80}; expected {NAMES}")
    refuse_secret(name, "the model name")
    if holds_key(name):
        raise InputError(
            "the model name contains a key: give the model's own name, and put the key into a "
            "variable such as OPENAI_API_KEY"
        )
    refuse_gone(name)
    kind, _, rest = name.partition(":")
    ours = name in LOCAL_NAMES or (rest and kind in OPENERS and kind not in LOCAL_NAMES)
    if not ours and brought_model(name) is None:
        raise _unknown(name)


def refuse_gone(name: str) -> None:
    """Refuse names that earlier versions took: several endpoints, and GGUF files as ``hf:``."""
    if name.startswith("@") or re.search(r",\s*https?://", name):
        raise InputError(
            f"model {name!r:.200}: sayso asks one endpoint; put a router before several (vLLM's, "
            "SGLang's or nginx) and pass its URL, or run the model with --set engine=ray"
        )
    if name.startswith("hf:") and name.lower().endswith(".gguf"):
        raise InputError(
            f"model {name!r:.200}: a GGUF file is run by llama.cpp; use gguf:{name[3:203]}"
        )


def _unknown(name: str) -> InputError:
    login, _, host = name.rpartition("@")
    if ":" in login and not host.isdecimal():  # of an address without its scheme; else a version
        name = redact(f"http://{name}").removeprefix("http://")
    return InputError(
        f"model {name!r} is not a name sayso can open: expected {NAMES}{plugin_names('engines')}"
    )


def open_classifier(name: str, device: str = "auto") -> Classifier:
    """Open a model for natural-language inference: a folder or a hub id.

    Raises :class:`~sayso.records.InputError` if it is not one, or the extra ``hf`` is missing.
    """
    with _hf_extra(f"--nli {name}", ", or use --nli rules"):
        from sayso.engines.hf.encoders import open_nli

    return open_nli(name, device)


def open_token_vectors(name: str, layer: int | None = None) -> HfTokenVectors:
    """Open an encoder for BERTScore: a folder or a hub id.

    Raises :class:`~sayso.records.InputError` if it is not one, or the extra ``hf`` is missing.
    """
    with _hf_extra("BERTScore"):
        from sayso.engines.hf import encoders

    return encoders.open_token_encoder(name, layer)


def check_proxies() -> None:
    """Refuse a proxy of the environment that no client here can use. Raises InputError."""
    from urllib.request import getproxies  # it takes long to load, and few commands need it

    proxies = getproxies()
    if "*" in (host.strip() for host in proxies.get("no", "").split(",")):
        return
    for kind in ("http", "https", "all"):
        address = proxies.get(kind, "")
        if not address:
            continue
        name = next((n for n in os.environ if n.lower() == f"{kind}_proxy"), f"the {kind} proxy")
        scheme, _, rest = address.rpartition("://")
        try:
            parts = urlsplit(f"http://{rest}")
            usable = bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if scheme.lower() not in ("", "http", "https", "socks5", "socks5h") or not usable:
            raise InputError(
                f"{name} is {address!r:.100}, not the address of a proxy: expected one such "
                "as http://proxy:8080 or socks5://proxy:1080; correct or unset it"
            )
        if scheme.lower().startswith("socks") and util.find_spec("socksio") is None:
            raise InputError(
                f"{name} is a SOCKS proxy, and socksio, which is needed for it, is not installed: "
                "pip install socksio, or unset it"
            )


def hub_answers() -> bool:
    """Whether the hub can be reached, found out in seconds: the library would try for a minute.

    Behind a proxy this cannot be known in advance. Raises InputError for one that is not usable.
    """
    from huggingface_hub import constants

    check_proxies()
    if any(name in os.environ for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY")):
        return True
    address = urlsplit(constants.ENDPOINT)
    try:
        socket.create_connection((address.hostname, address.port or 443), timeout=5).close()
    except OSError:
        return False
    return not constants.HF_HUB_OFFLINE


@contextmanager
def quiet_hub() -> Iterator[None]:
    """Keep the hub's library from telling each of its attempts: whoever called says what failed."""
    log = logging.getLogger("huggingface_hub")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


@contextmanager
def _hf_extra(what: str, otherwise: str = "") -> Iterator[None]:
    """Say in one line which package the extra ``hf`` lacks."""
    wait_passively()
    try:
        yield
    except ModuleNotFoundError as error:
        raise NotHere(
            f"{what} needs {error.name}, which is not installed: pip install 'sayso[hf]'{otherwise}"
        ) from None

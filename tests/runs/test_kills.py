"""A run killed at random moments resumes to the same tables and asks nothing twice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "reliability" / "kills.py"


def test_three_kills_leave_no_trace() -> None:
    """Twenty of them, on the built-in model: benchmarks/README.md."""
    command = [sys.executable, str(SCRIPT), "--kills", "3", "--model", "scripted", "--limit", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 kills, 0 requests asked again, 0 runs that differ" in done.stdout

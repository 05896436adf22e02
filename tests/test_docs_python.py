"""docs/python.md is true: its code runs from top to bottom, and prints what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TEXT = (Path(__file__).parent.parent / "docs" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("python")
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(BLOCKS)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SAYSO_CACHE": str(folder / "cache")},
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "runs" / "oracle" / "report.html").is_file()
    return done.stdout


def test_the_code_runs_and_prints_what_it_says(printed: str) -> None:
    for text in (
        "<Result: uncle, model builtin@1, data builtin, 5 entities; J short ",
        "runs/first/report.html",
        "<Comparison: B minus A, A = runs/first, B = runs/again; ",
        "setting 'prob.k' is unknown; did you mean probe.k?",
        "which J? This run has it with form='short'; form='long'; ",
        "uncertain hedged correct",
        "<Result: uncle, model oracle-1, data world, 3 entities; J short ",
        "<JudgeCheck: judge exact@1; ",
    ):
        assert text in printed, text


def test_an_engine_is_as_short_as_is_promised() -> None:
    (engine,) = (block for block in BLOCKS if "class Oracle" in block)
    lines = engine[engine.index("class") : engine.index("print")].splitlines()
    assert sum(bool(line.strip()) for line in lines) <= 20

"""docs/scoring.md is true: its commands run as printed, its code works, its columns exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sayso import cli
from sayso.datasets.columns import COLUMNS
from support.pages import blocks, commands, walk

DOC = (Path(__file__).parents[2] / "docs" / "scoring.md").read_text(encoding="utf-8")


def test_the_commands_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAYSO_CACHE", str(tmp_path / "cache"))
    (rows,) = blocks(DOC, "json")
    Path("answers.jsonl").write_text(rows, encoding="utf-8")
    assert len(commands(DOC)) == 6
    walk(commands(DOC), capsys)
    assert Path("answers.scored.jsonl").exists()
    assert '"tokens":["' in Path("with-tokens.jsonl").read_text(encoding="utf-8")


def test_the_python_runs(tmp_path: Path) -> None:
    (code,) = blocks(DOC, "python")
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SAYSO_CACHE": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("0.69")  # two meanings, once each: log 2
    assert "needs token_logprobs" in done.stdout


def test_every_column_and_flag_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    for name, column in COLUMNS.items():
        used = "score" in column.readers
        assert not used or name in ("id", "aliases") or f"`{name}`" in DOC, name
    cli.execute(["score", "--help"])
    flags = set(re.findall(r"--[a-z][a-z-]+", capsys.readouterr().out))
    known = {"--help", "--help-all", "--version", "--seed", "--set", "--format", "--config"}
    assert {flag for flag in flags if flag not in DOC} <= known

"""docs/knowledge.md is true: its commands and its code run as printed."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
from pathlib import Path

import pytest

from sayso import cli

TEXT = (Path(__file__).parent.parent.parent / "docs" / "knowledge.md").read_text(encoding="utf-8")


def test_the_commands_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    row = {"title": "Jane Austen", "text": "She wrote Emma."}
    Path("wiki.jsonl").write_text(json.dumps(row), encoding="utf-8")
    commands = re.findall(r"^    (sayso index .*)$", TEXT, flags=re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        assert cli.execute(shlex.split(command, comments=True)[1:]) == 0, command
    out = capsys.readouterr().out
    assert "1  Jane Austen" in out
    assert "1  Brondemy" in out


def test_the_code_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    lines = printed.getvalue().splitlines()
    assert all("place of birth of Brondemy" in line for line in lines[:2])
    assert lines[2] == "True"

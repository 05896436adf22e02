"""docs/training.md is true: what it says of running runs as printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sayso.train.report import ABOUT
from sayso.train.result import read_training
from support.pages import commands, walk

DOC = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")
SECTION = DOC.split("\n## Running\n")[1].split("\n## ")[0]


def test_commands_and_code_run_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAYSO_CACHE", str(tmp_path / "cache"))
    walk(commands(SECTION), capsys)
    rows = read_training("runs/rows")
    assert rows.entities["trained"] == 30
    assert rows.entities["measured"] == 20
    named = re.findall(r"`(sayso_\w+\.\w+)`", DOC.partition("| `llama-factory`")[0])
    assert {path.name for path in Path("runs/rows/export").iterdir()} == set(named)
    capsys.readouterr()
    (code,) = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)
    exec(compile(code, "docs/training.md", "exec"), {})
    assert "'trained': 30" in capsys.readouterr().out
    assert read_training("runs/more").settings["rows.xi"] == 0.5


def test_what_the_table_shows_is_explained() -> None:
    reading = DOC.split("\n## Reading the results\n")[1].split("\n## ")[0].lower()
    for head in ("J within", "unspoken", "forced", "skill", "wrong, sure", "unasked"):
        assert head in ABOUT
        assert f"*{head.lower()}*" in reading, head
